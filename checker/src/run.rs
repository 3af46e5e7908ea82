//! Runs each command.

use std::io::{self, IsTerminal, Write};
use std::path::{Component, Path};
use std::time::Instant;

use answer::explain::ExplainedTest;
use engine::clock::Deadline;
use engine::exit::Exit;
use engine::interrupt;
use engine::{self, Engine};
use indicatif::{ProgressBar, ProgressStyle};
use judge::explain::SHOWN_RELATIONS;
use judge::{alternatives, explain};
use litmus::Dialect;
use model::cxx::ReleaseSequence;
use model::reading::Readings;
use model::rel::{Model, NodeId};
use model::{cxx, ptx, render};
use text::Diagnostic;
use text::escape::escaped;
use text::report::nearest;

use crate::check;
use crate::cli::{self, Cli, Command, EngineName, PrintedKind};
use crate::diff;
use crate::explain as explanations;
use crate::kind::FileKind;
use crate::report::ReportWriter;
use crate::report::finding::UnreadInput;
use crate::terminal::TerminalText;
use crate::{
    explore, fix, format, fuzz, generation, input, lint, lower, output, ptx_explain, sass, schema,
    serve,
};

/// The models that `--model` knows by name, except `ptx`.
fn built_in(name: &Path) -> Option<Model> {
    match name.to_str() {
        Some("cxx") => Some(cxx::model(ReleaseSequence::Cpp20)),
        Some("cxx11") => Some(cxx::model(ReleaseSequence::Cpp11)),
        _ => None,
    }
}

/// Runs a command. Results go to `out`, escaped if people read them; errors and warnings go to `err`.
pub fn run(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let at_terminal = cli.output.is_none() && io::stdout().is_terminal();
    match cli.printed() {
        PrintedKind::Text => {}
        PrintedKind::File if at_terminal => {}
        PrintedKind::File | PrintedKind::Data => return dispatch(cli, out, err),
    }
    let mut shown = TerminalText::new(out);
    let exit = dispatch(cli, &mut shown, err)?;
    shown.flush()?;
    Ok(exit)
}

fn dispatch(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match &cli.command {
        Command::Check(check) => check::command::command(check, out, err),
        Command::Explain(explain) => explain_command(explain, out, err),
        Command::Fix(command) => fix_command(command, out, err),
        Command::Fmt(command) => format::command(command, out, err),
        Command::Gen(command) => gen_command(command, out, err),
        Command::Diff(command) => {
            diff::command::command(command, |tests| progress(tests, "answers"), out, err)
        }
        Command::Export(command) => {
            let Some(model) = model(None, &command.readings, err)? else {
                return Ok(Exit::BadInput);
            };
            generation::export::command(command, &model.model, out, err)
        }
        Command::Compare(command) => {
            let path = command.judging.model.as_deref();
            let chosen = model(path, &command.judging.readings, err)?;
            let (Some(model), Some(engines)) = (chosen, engines(command.engine, err)?) else {
                return Ok(Exit::BadInput);
            };
            generation::compare::command(command, &model.model, &engines, out, err)
        }
        Command::Fuzz(command) => fuzz::command(command, fuzz_progress, out, err),
        Command::Merge(command) => fuzz::merge(command, out, err),
        Command::Model(command) => model_command(command, out, err),
        Command::Readings => cli::readings(out).map(|()| Exit::AsExpected),
        Command::Lint(command) => lint::command(command, out, err),
        Command::Lower(command) => lower_command(command, out, err),
        Command::Explore(command) => explore_command(command, out, err),
        Command::Serve(command) => serve_command(command, out, err),
        Command::Schema(command) => schema::command(command, out),
        Command::Ptx(cli::Ptx::Explain(command)) => ptx_explain::command(command, out),
        Command::Sass(cli::Sass::Decode(decode)) => {
            sass::decode(decode, &mut io::stdin().lock(), out)
        }
        Command::Sass(cli::Sass::Explain(command)) => sass::explain::command(command, out),
        Command::Sass(cli::Sass::Read(command)) => sass::read::command(command, out, err),
    }
}

/// A model, with its readings if it is the built-in PTX model.
pub(crate) struct SelectedModel {
    pub(crate) model: Model,
    pub(crate) readings: Option<Readings>,
}

/// The model to use: a built-in model by its name, the PTX model if none is named, or the model in a file.
/// `None` after an error was printed.
pub(crate) fn model(
    path: Option<&Path>,
    switched: &cli::ReadingArgs,
    err: &mut dyn Write,
) -> io::Result<Option<SelectedModel>> {
    let Some(readings) = readings(switched, err)? else { return Ok(None) };
    let Some(path) = path.filter(|path| *path != Path::new("ptx")) else {
        return Ok(Some(SelectedModel { model: ptx::under(readings), readings: Some(readings) }));
    };
    if switched.choices().next().is_some() {
        writeln!(err, "error: the readings of `{}` cannot be switched", path.display())?;
        writeln!(
            err,
            "help: `--reading` and `--async-races` are for the built-in model of PTX, without `--model`"
        )?;
        return Ok(None);
    }
    Ok(other_model(path, err)?.map(|model| SelectedModel { model, readings: None }))
}

/// The readings that `--reading` selects. Each reading may be selected only once.
fn readings(switched: &cli::ReadingArgs, err: &mut dyn Write) -> io::Result<Option<Readings>> {
    let mut readings = Readings::default();
    let mut chosen: Vec<&str> = Vec::new();
    for text in switched.choices() {
        let name = text.split('=').next().unwrap_or_default();
        if chosen.contains(&name) {
            writeln!(err, "error: reading {name} is switched twice")?;
            return Ok(None);
        }
        chosen.push(name);
        readings = readings.switch(text).expect("clap lets only what there is pass");
    }
    Ok(Some(readings))
}

pub(crate) fn other_model(path: &Path, err: &mut dyn Write) -> io::Result<Option<Model>> {
    if let Some(model) = built_in(path) {
        return Ok(Some(model));
    }
    let text = match input::text_of_kind(path, FileKind::Cat) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "error: {}: {error}", input::shown(path))?;
            return Ok(None);
        }
    };
    let mut read = |path: &Path| {
        input::text_of_kind(path, FileKind::Cat)
            .map_err(|error| format!("{}: {error}", input::shown(path)))
    };
    match cat::import_with(&path.to_string_lossy(), &text, &mut read) {
        Ok(model) => {
            if model.leaves_co_open() {
                writeln!(
                    err,
                    "warning: {}: no axiom demands that `co` orders two writes, so `co` and `fr` forbid next to nothing\n  = help: \
                     `include \"cos.cat\"` makes `co` total on each location",
                    input::shown(path)
                )?;
            }
            Ok(Some(model))
        }
        Err(diagnostics) => {
            complain_of(&diagnostics, err)?;
            Ok(None)
        }
    }
}

pub(crate) fn complain_of(diagnostics: &[Diagnostic], err: &mut dyn Write) -> io::Result<()> {
    diagnostics.iter().try_for_each(|diagnostic| writeln!(err, "{diagnostic:#}"))
}

fn model_command(
    command: &cli::ModelArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.model.as_deref(), &command.readings, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    let text = match command.format {
        cli::ModelFormat::Text => render::text(&model),
        cli::ModelFormat::Cat => render::cat(&model),
        cli::ModelFormat::Markdown => render::markdown(&model),
    };
    write!(out, "{text}")?;
    Ok(Exit::AsExpected)
}

/// The path of a file below the current folder, from there.
pub(crate) fn below(path: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let path = if path.is_absolute() { path.strip_prefix(here).ok()? } else { path };
    let inside = path.components().all(|part| !matches!(part, Component::ParentDir));
    inside.then(|| path.to_string_lossy().into_owned())
}

/// Prints how many files or functions an interrupted run has judged.
pub(crate) fn interrupted(
    (done, of): (usize, usize),
    what: &str,
    err: &mut dyn Write,
) -> io::Result<()> {
    if interrupt::raised() {
        writeln!(err, "interrupted: {done} of {of} {what} are judged")?;
    }
    Ok(())
}

fn lower_command(
    command: &cli::Lower,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let (Some(llc), Some(from)) = (&command.llc, &command.from) else {
        return lowered(command, out, err);
    };
    // Also with `--to`: a compiler that fails may leave half of its output.
    let own = output::temporary()?;
    let made = own.path().join("made.ptx");
    if let Err(why) = compile(llc, from, &made, command.arch.unwrap_or(LLC_ARCH)) {
        writeln!(err, "error: {}: {why}", input::shown(from))?;
        return Ok(Exit::BadInput);
    }
    if let Some(to) = &command.to {
        output::write(to, &input::read(&made)?)?;
    }
    let to = Some(command.to.clone().unwrap_or(made));
    let discards_target = command.to.is_none();
    lowered(&cli::Lower { to, discards_target, ..command.clone() }, out, err)
}

/// The target of `llc` without `--arch`: the first one whose memory model PTX describes.
const LLC_ARCH: u16 = 70;

/// Compiles LLVM IR. On failure, returns the first error of the compiler.
fn compile(llc: &Path, from: &Path, to: &Path, arch: u16) -> Result<(), String> {
    if from.extension().is_none_or(|ending| ending != "ll") {
        return Err("`--llc` requires LLVM IR, a file with the extension .ll".to_owned());
    }
    let output = std::process::Command::new(llc)
        .args(["-march=nvptx64", &format!("-mcpu=sm_{arch}"), "-o"])
        .args([to, from])
        .output()
        .map_err(|error| format!("{}: {error}", llc.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let telling = said.lines().find(|line| line.to_lowercase().contains("error"));
    let said = telling.or(said.lines().next()).unwrap_or("it printed no message");
    Err(format!("{} does not compile it: {said}", llc.display()))
}

fn lowered(command: &cli::Lower, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let models = refine::Models::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut contexts = Vec::new();
    let mut wrong = false;
    for text in &command.contexts {
        match refine::context::ContextShape::read(text) {
            Ok(context) => contexts.push(context),
            Err(errors) => {
                wrong = true;
                complain_of(&errors, err)?;
            }
        }
    }
    if wrong {
        return Ok(Exit::BadInput);
    }
    let setting = refine::JudgeSettings {
        refiner: refine::Refiner {
            tearing: !command.no_tearing,
            bound: command.bound,
            patience: refine::Patience::new(command.limits.timeout, command.limits.bytes()),
            deadline: command.total_timeout.map(|time| Deadline::at(Instant::now() + time)),
            contexts: &contexts,
            ..refine::Refiner::new(&models)
        },
        assumptions: refine::Assumptions { cas_only: command.cas_only },
        jobs: command.jobs.map_or(cores, usize::from),
    };
    let bar = |count: usize, what: &str| {
        if command.quiet { ProgressBar::hidden() } else { progress(count, what) }
    };
    lower::command(command, &setting, &bar, out, err)
}

fn explore_command(
    command: &cli::Explore,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.judging.model.as_deref(), &command.judging.readings, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    explore::command::command(command, &model, |files| progress(files, "tests"), out, err)
}

fn gen_command(
    command: &generation::args::Gen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.judging.model.as_deref(), &command.judging.readings, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    let judges = command.check || command.frontier;
    // Generated tests are small.
    let engine = match command.engine {
        EngineName::Auto | EngineName::Enumerate => EngineName::Enumerate,
        named @ (EngineName::Solve | EngineName::All) => named,
    };
    let engines = if judges { engines(engine, err)? } else { Some(Vec::new()) };
    let Some(engines) = engines else { return Ok(Exit::BadInput) };
    generation::command(command, &model, &engines, |tests| progress(tests, "tests"), out, err)
}

/// The relations of a model with these names, or what is wrong with one.
fn shown_relations(
    model: &mut Model,
    names: &[String],
) -> Result<[Option<NodeId>; SHOWN_RELATIONS], String> {
    let mut show = [None; SHOWN_RELATIONS];
    let repeated = |&(at, name): &(usize, &String)| !names[..at].contains(name);
    let names: Vec<&String> = names.iter().enumerate().filter(repeated).map(|of| of.1).collect();
    if names.len() > show.len() {
        return Err(format!("error: --show takes at most {SHOWN_RELATIONS} relations"));
    }
    for (shown, name) in show.iter_mut().zip(names) {
        *shown = model.relation_named(name).or_else(|| model.add_fixed(name));
        if shown.is_none() {
            let near = nearest(name, model.relation_names());
            let help = near.map_or_else(
                || "`causeway model` lists the relations".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let name = escaped(name);
            return Err(format!("error: the model has no relation `{name}`\n  = help: {help}"));
        }
    }
    Ok(show)
}

fn explain_command(
    explain: &cli::Explain,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(explain.judging.model.as_deref(), &explain.judging.readings, err)?;
    let Some(SelectedModel { model, readings }) = chosen else { return Ok(Exit::BadInput) };
    let path = input::shown(&explain.path);
    let bytes = match input::read_kind(&explain.path, FileKind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    let name = explain.path.to_string_lossy();
    let read = match &explain.ask {
        Some(question) => litmus::parse_question(&name, &bytes, question),
        None => litmus::parse(&name, &bytes),
    };
    let test = match read {
        Ok(test) => test,
        Err(diagnostics) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let cxx = test.dialect == Dialect::Cxx && explain.judging.model.is_none();
    let (mut model, readings) =
        if cxx { (cxx::model(ReleaseSequence::Cpp20), None) } else { (model, readings) };
    let show = match shown_relations(&mut model, &explain.show) {
        Ok(show) => show,
        Err(error) => {
            writeln!(err, "{error}")?;
            return Ok(Exit::BadInput);
        }
    };
    // Whatever is said of the test is found within the limit.
    let until = explain.limits.timeout.map(Deadline::after);
    let options = explain::ExplainOptions {
        bound: explain.judging.bound,
        until,
        memory: explain.limits.bytes(),
        work: None,
        deep: explain.deep,
        show,
        readings,
        property: explain.property.property(),
        asked: explain.ask.is_some(),
    };
    let explanation = explain::explanation(&test, &model, options)?;
    let explained = ExplainedTest {
        path: &path,
        test: &test,
        source: &String::from_utf8_lossy(&bytes),
        model: &model.name,
        explanation: &explanation,
    };
    let advise = &|out: &mut dyn Write| {
        let alternatives = readings.map_or(Vec::new(), alternatives);
        let judged = (&model, explain.judging.bound, &*alternatives);
        let of = (&*explain.path, &*bytes, explain.ask.as_deref());
        let limits = (until, explain.limits.bytes());
        fix::advise(of, judged, explain.property, limits, explain.weaken, out)
    };
    explanations::write(&explained, advise, explain.format, out)?;
    Ok(explanation.exit)
}

fn serve_command(
    command: &serve::args::Serve,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.judging.model.as_deref(), &command.judging.readings, err)?;
    let Some(selected) = chosen else { return Ok(Exit::BadInput) };
    serve::command(command, selected, out, err)
}

fn fix_command(
    command: &fix::args::Fix,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.judging.model.as_deref(), &command.judging.readings, err)?;
    let Some(SelectedModel { model, readings }) = chosen else { return Ok(Exit::BadInput) };
    let Some(engines) = engines(command.engine, err)? else { return Ok(Exit::BadInput) };
    let alternatives = readings.map_or(Vec::new(), alternatives);
    fix::command(command, &model, (engines, &alternatives), out, err)
}

/// Prints the errors of an input that was not judged to standard error, after the output so far, if the format
/// cannot represent them.
pub(crate) fn complain(
    unread: Option<&UnreadInput<'_>>,
    report: &dyn ReportWriter,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    if report.has_errors() {
        return Ok(());
    }
    out.flush()?;
    unread.map_or(Ok(()), |unread| unread.complain(err))
}

/// The engines of a run, in the order in which they are tried; `None` after an error, if the named engine is not available.
///
/// With all engines, an engine that is not available is left out with a warning: the verdicts are those of a
/// build without it.
pub(crate) fn engines(
    name: EngineName,
    err: &mut dyn Write,
) -> io::Result<Option<Vec<&'static dyn Engine>>> {
    let named = match name {
        // Whether one is missing shows when it is tried.
        EngineName::Auto => return Ok(Some(engine::ENGINES.to_vec())),
        EngineName::All => None,
        EngineName::Enumerate => Some("enumerate"),
        EngineName::Solve => Some("solve"),
    };
    let wanted = |engine: &&dyn Engine| named.is_none_or(|name| engine.name() == name);
    let mut there = Vec::new();
    for engine in engine::ENGINES.iter().copied().filter(wanted) {
        let Some(why) = engine.missing() else {
            there.push(engine);
            continue;
        };
        let name = engine.name();
        if named.is_some() {
            writeln!(
                err,
                "error: the engine `{name}` needs libz3, which could not be loaded: {why}"
            )?;
        } else {
            writeln!(
                err,
                "warning: the engine `{name}` is not run, so the verdicts are not cross-checked"
            )?;
            writeln!(err, "note: it needs libz3, which could not be loaded: {why}")?;
        }
        let alone = "use `--engine enumerate` to run only the other engine";
        writeln!(err, "help: set CAUSEWAY_LIBZ3 to a shared libz3 or to its folder; {alone}")?;
        if named.is_some() {
            return Ok(None);
        }
    }
    if there.is_empty() {
        writeln!(err, "error: this build has no z3, so it has no engine `solve`")?;
        writeln!(err, "help: build with the feature `smt`, which is on by default")?;
        return Ok(None);
    }
    Ok(Some(there))
}

/// A progress bar on standard error, if that is a terminal and there are several items.
pub(crate) fn progress(count: usize, what: &str) -> ProgressBar {
    if count < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what}  {{elapsed}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// The same for the blocks of a campaign, which may have no end.
fn fuzz_progress(blocks: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = blocks.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let end =
        if blocks.is_some() { "{bar:20} {pos}/{len} blocks" } else { "{spinner} {pos} blocks" };
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{end} ({{per_sec}})  {{msg}}  {{elapsed}}"))
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

/// Writes above a progress bar, which is not drawn meanwhile: what is buffered would be written when it is there again.
pub(crate) fn above(
    bar: &ProgressBar,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if bar.is_hidden() {
        return write(out);
    }
    bar.suspend(|| write(out).and_then(|()| out.flush()))
}

/// A line above a progress bar; nothing if it is hidden.
pub(crate) fn notice(bar: &ProgressBar, text: &str) {
    bar.println(text);
}
