//! `causeway verify`: launches of PTX kernels.

pub mod args;
mod case;
pub(crate) mod json;
mod lines;
mod page;
mod report;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::exit::Exit;
use engine::interrupt;
use judge::Task;
use text::Diagnostic;
use text::escape::escaped;
use text::origin::Origins;
use verify::file::{Expected, LaunchFile};
use verify::{
    AdviceOptions, Dim3, KernelLaunch, KernelModule, LaunchArgument, LaunchError, LaunchQuestion,
    LaunchSpec, OtherLaunch, RepairEffort, ThreadChoice, Verification, VerifyError,
    VolatileMeaning,
};

use self::args::{LaunchArgs, Verify};
use self::case::{LaunchAnswer, UnreadLaunch, VerifySummary};
use self::lines::WrittenLaunch;
use self::page::VerifyPage;
use crate::complaints::{complain, complain_of};
use crate::input;
use crate::lower::drive::module::{module_name, module_text};
use crate::options::{EngineName, LimitArgs};
use crate::report::CommandRun;
use crate::report::finding::FilePosition;
use crate::selection::{self, SelectedModel, judging_model};
use crate::watch;

/// The time limit of a launch, where none is given.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A launch that was read: the module, and what is launched of it.
struct ReadLaunch {
    /// As messages name it.
    name: String,
    place: LaunchPlace,
    module: PathBuf,
    launch: LaunchSpec,
    expected: Option<Expected>,
}

/// Where a launch is given.
struct LaunchPlace {
    /// As messages name it.
    file: String,
    /// The line of a launch in a comment, and the text around it; another launch is a whole file, or a command line.
    line: Option<usize>,
    text: String,
}

impl LaunchPlace {
    fn is_launch_file(&self) -> bool {
        self.line.is_none() && Path::new(&self.file).extension().is_some_and(|its| its == "toml")
    }

    fn of_file(file: &str) -> LaunchPlace {
        LaunchPlace { file: file.to_owned(), line: None, text: String::new() }
    }

    fn position(&self) -> FilePosition {
        FilePosition::line(&*self.file, self.line)
    }

    /// An error of the launch, where it is.
    fn refused(&self, error: LaunchError) -> Vec<Diagnostic> {
        LaunchError { line: self.line, ..error }.in_file(LAUNCH, &self.file, &self.text)
    }
}

/// A launch that was judged, as it is reported.
struct JudgedLaunch<'j> {
    read: &'j ReadLaunch,
    limits: &'j LimitArgs,
    /// As messages name the module.
    module: &'j str,
    /// The text of the module.
    text: &'j str,
    origins: Origins,
    composed: &'j verify::Composed,
    verification: &'j Verification,
}

/// Judges the launches once, or after each change with `--watch`.
pub fn command(verify: &Verify, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if verify.watch {
        let model = verify.judging.model.as_deref().filter(|path| path.is_file());
        let modules = verify.paths.iter().filter_map(|path| module_of(path));
        let sources = verify.paths.iter().filter_map(|path| lines::file(path, &verify.launch));
        let read = verify.paths.iter().cloned().chain(modules).chain(sources);
        let files = read.chain(model.map(Path::to_path_buf));
        let watched: Vec<PathBuf> = files.collect();
        return watch::repeat(&watched, &mut |out, err| once(verify, out, err), out, err);
    }
    once(verify, out, err)
}

/// The module of a launch file that can be read.
fn module_of(path: &Path) -> Option<PathBuf> {
    let text =
        path.extension().filter(|its| *its == "toml").and_then(|_| input::text(path).ok())?;
    let read = verify::file::read(&input::shown(path), &text).ok()?;
    Some(path.with_file_name(read.ptx))
}

fn once(verify: &Verify, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let chosen = judging_model(&verify.judging, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    let Some(engines) = selection::engines(verify.engine, err)? else {
        return Ok(Exit::BadInput);
    };
    let task = Task {
        engines,
        bound: verify.judging.bound,
        timeout: verify.limits.timeout.or(Some(TIMEOUT)),
        memory: verify.limits.bytes(),
        counts: false,
        portfolio: verify.engine == EngineName::Auto,
        ..Task::new(&model)
    };
    engine::limit_solver(verify.limits.bytes());
    if verify.print_test {
        return print_tests(verify, out, err);
    }
    let start = Instant::now();
    let (mut report, mut summary) = (verify.format.report(), VerifySummary::default());
    let (mut worst, mut page) = (Exit::AsExpected, VerifyPage::default());
    let all: Vec<_> = verify.paths.iter().map(|path| (path, read(path, verify))).collect();
    let known: Vec<&ReadLaunch> = all.iter().flat_map(|(_, read)| read.iter().flatten()).collect();
    for (path, read) in &all {
        if interrupt::raised() {
            break;
        }
        let mut told = |answer: &LaunchAnswer<'_>, err: &mut dyn Write| {
            complain(answer.unread().as_ref(), report.as_ref(), out, err)?;
            report.one(answer, out)?;
            summary.add(answer.exit());
            if verify.page.is_some() {
                page.add(answer)?;
            }
            worst = worst.max(answer.exit());
            Ok(())
        };
        match read {
            Ok(launches) => launches.iter().try_for_each(|launch| {
                let others = launch.others(&known);
                one(launch, &others, verify, &task, &mut told, err)
            })?,
            Err(diagnostics) => {
                let diagnostics = diagnostics.clone();
                told(&LaunchAnswer::Unread(UnreadLaunch { path, diagnostics }), err)?;
            }
        }
    }
    verify.page.as_ref().map_or(Ok(()), |file| page.write(file))?;
    report.sum(&summary, out)?;
    let seconds = start.elapsed().as_secs_f64();
    report.end(&CommandRun { command: "verify", exit: worst, seconds }, out)?;
    Ok(worst)
}

/// The code of an error of a launch.
const LAUNCH: &str = "launch";

/// The launches of a file, or of the command line.
fn read(path: &Path, verify: &Verify) -> Result<Vec<ReadLaunch>, Vec<Diagnostic>> {
    let name = input::shown(path);
    let failed = |error: LaunchError| error.in_file(LAUNCH, &name, "");
    if path.extension().is_some_and(|extension| extension == "toml") {
        if verify.launch != LaunchArgs::default() {
            let why = "a launch file says all of its launch: options such as --grid and --arg are for a module";
            return Err(failed(LaunchError::new(why).help("change the file, or name the module")));
        }
        let text =
            input::text(path).map_err(|error| failed(LaunchError::new(error.to_string())))?;
        let read = verify::file::read(&name, &text)?;
        let LaunchFile { ptx, launch, expected, .. } = read;
        let module = path.with_file_name(ptx);
        let place = LaunchPlace::of_file(&name);
        return Ok(vec![ReadLaunch { name, place, module, launch, expected }]);
    }
    let module = path.to_owned();
    let written = lines::launches(path, &verify.launch)
        .map_err(|wrong| wrong.error.in_file(LAUNCH, &input::shown(&wrong.path), &wrong.text))?;
    if written.is_empty() {
        let launch = of_words(&verify.launch, path).map_err(failed)?;
        let place = LaunchPlace::of_file(&name);
        return Ok(vec![ReadLaunch { name, place, module, launch, expected: None }]);
    }
    let read = written.into_iter().map(|written| {
        let WrittenLaunch { path, line, text, launch } = written;
        let place = LaunchPlace { file: input::shown(&path), line: Some(line), text };
        let launch = of_words(&launch, &module).map_err(|error| place.refused(error))?;
        let name = format!("{}:{line}", place.file);
        Ok(ReadLaunch { name, place, module: module.clone(), launch, expected: None })
    });
    read.collect()
}

/// The launch of a command line, of a kernel of this module.
fn of_words(words: &LaunchArgs, module: &Path) -> Result<LaunchSpec, LaunchError> {
    let extent = |option: &str, text: &Option<String>| match text {
        Some(text) => Dim3::parse(text).map(Some).ok_or_else(|| {
            LaunchError::new(format!("`{option} {text}` is not one to three numbers from 1"))
                .help(format!("{option} 2 or {option} 2,2"))
        }),
        None => Ok(None),
    };
    let kernel = KernelLaunch { name: words.kernel.clone(), arguments: None };
    let grid = extent("--grid", &words.grid)?;
    let block = match extent("--block", &words.block)? {
        None if grid.is_some() => own_block(module, &kernel)?,
        given => given,
    };
    let (grid, block) = match (grid, block) {
        (Some(grid), Some(block)) => (grid, block),
        (Some(_), None) => {
            let why = "`--block` is missing, and the kernel does not say it with `.reqntid`";
            return Err(LaunchError::new(why).help("--block 32"));
        }
        (None, Some(_)) => {
            return Err(LaunchError::new("`--grid` is missing").help("--grid 2"));
        }
        (None, None) => {
            return Err(LaunchError::new("no launch is given").help(
                "causeway verify k.ptx --grid 2 --block 32 --arg out='u32[2]=0' --assert 'out[0]==4'",
            ));
        }
    };
    let threads = match words.lanes.as_deref() {
        None | Some("all") => ThreadChoice::All,
        Some(list) => {
            let lanes: Result<Vec<u32>, _> =
                list.split(',').map(|lane| lane.trim().parse()).collect();
            ThreadChoice::OfEachCta(lanes.map_err(|_| {
                LaunchError::new(format!("`--lanes {list}` is not a list of numbers"))
                    .help("--lanes 0,1")
            })?)
        }
    };
    let questions = match &words.check {
        Some(list) => list.split(',').map(LaunchQuestion::parse).collect::<Result<_, _>>()?,
        None => LaunchQuestion::ALL.into(),
    };
    Ok(LaunchSpec {
        kernels: vec![kernel],
        cluster: extent("--cluster", &words.cluster)?,
        threads,
        cooperative: words.cooperative,
        volatile: words
            .volatile
            .as_deref()
            .map(VolatileMeaning::parse)
            .transpose()?
            .unwrap_or_default(),
        shared: words.shared,
        resident: words.resident,
        arguments: words
            .arguments
            .iter()
            .map(|text| LaunchArgument::parse(text))
            .collect::<Result<_, _>>()?,
        assertions: words.assertions.clone(),
        questions,
        ..LaunchSpec::new(grid, block)
    })
}

/// The block that a kernel of a module says it is launched with. A source says nothing before it is compiled, and what is wrong with a
/// module is told where it is judged.
fn own_block(path: &Path, kernel: &KernelLaunch) -> Result<Option<Dim3>, LaunchError> {
    let Ok(text) = input::text(path) else { return Ok(None) };
    let Ok(module) = KernelModule::read("", &text) else { return Ok(None) };
    verify::required_block(&module, kernel)
}

impl ReadLaunch {
    /// Other launches of its module.
    fn others<'k>(&self, known: &[&'k ReadLaunch]) -> Vec<OtherLaunch<'k>> {
        let place = |of: &ReadLaunch| of.module.canonicalize().unwrap_or(of.module.clone());
        let own = place(self);
        let others = known.iter().filter(|of| of.launch != self.launch && place(of) == own);
        others.map(|of| OtherLaunch { name: &of.name, launch: &of.launch }).collect()
    }

    /// As messages name the module.
    fn module_name(&self) -> String {
        escaped(&module_name(&self.module)).into_owned()
    }

    /// The module, compiled if it is a source.
    fn text(&self, verify: &Verify, err: &mut dyn Write) -> Result<String, Vec<Diagnostic>> {
        module_text(&self.module, &verify.compilers, err).map_err(|error| {
            LaunchError::new(error.to_string()).in_file(LAUNCH, &input::shown(&self.module), "")
        })
    }

    /// The test of the launch.
    fn test(&self, verify: &Verify, err: &mut dyn Write) -> Result<String, Vec<Diagnostic>> {
        let text = self.text(verify, err)?;
        let path = self.module_name();
        let module = KernelModule::read(&path, &text)?;
        let composed = verify::compose(&module, &self.launch);
        Ok(composed.map_err(|errors| self.refused(errors, &module))?.text)
    }

    /// Errors of the launch, or in its module.
    fn refused(&self, errors: Vec<LaunchError>, module: &KernelModule<'_>) -> Vec<Diagnostic> {
        let one = |error| module.refused(LAUNCH, error, |error| self.place.refused(error));
        errors.into_iter().flat_map(one).collect()
    }
}

/// Prints the tests of launches.
fn print_tests(verify: &Verify, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let mut worst = Exit::AsExpected;
    for path in &verify.paths {
        let tests = read(path, verify).and_then(|launches| {
            launches
                .iter()
                .map(|launch| launch.test(verify, err))
                .collect::<Result<Vec<String>, _>>()
        });
        match tests {
            Ok(tests) => tests.iter().try_for_each(|test| write!(out, "{test}"))?,
            Err(diagnostics) => {
                complain_of(&diagnostics, err)?;
                worst = Exit::BadInput;
            }
        }
    }
    Ok(worst)
}

/// Judges one launch.
fn one(
    read: &ReadLaunch,
    others: &[OtherLaunch<'_>],
    verify: &Verify,
    task: &Task<'_>,
    told: &mut dyn FnMut(&LaunchAnswer<'_>, &mut dyn Write) -> io::Result<()>,
    err: &mut dyn Write,
) -> io::Result<()> {
    let path = read.module_name();
    let unread = |diagnostics| {
        LaunchAnswer::Unread(UnreadLaunch { path: Path::new(&read.name), diagnostics })
    };
    let text = match read.text(verify, err) {
        Ok(text) => text,
        Err(diagnostics) => return told(&unread(diagnostics), err),
    };
    let module = match KernelModule::read(&path, &text) {
        Ok(module) => module,
        Err(diagnostics) => return told(&unread(diagnostics), err),
    };
    let refused = |errors| unread(read.refused(errors, &module));
    let effort = if verify.repair { RepairEffort::FULL } else { RepairEffort::BRIEF };
    let executions = verify.page.is_some();
    let advice = AdviceOptions { effort, weaken: verify.weaken, executions, others };
    let (composed, verification) = match verify::verify(&module, &read.launch, task, &advice) {
        Ok(judged) => judged,
        Err(VerifyError::Launch(errors)) => return told(&refused(errors), err),
        Err(VerifyError::Test(diagnostics)) => return told(&unread(diagnostics), err),
    };
    let judged = JudgedLaunch {
        read,
        limits: &verify.limits,
        module: &path,
        text: &text,
        origins: ptx::origins(&text),
        composed: &composed,
        verification: &verification,
    };
    told(&LaunchAnswer::Judged(judged), err)
}
