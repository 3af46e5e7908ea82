//! `causeway verify`: launches of PTX kernels.

pub mod args;
mod lines;
pub mod report;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::exit::Exit;
use judge::Task;
use text::origin::Origins;
use verify::file::{Expected, LaunchFile};
use verify::{
    Dim3, KernelLaunch, KernelModule, LaunchArgument, LaunchError, LaunchSpec, RepairEffort,
    ThreadChoice, Verification, VerifyError,
};

use self::args::{LaunchArgs, Verify, VerifyFormat};
use crate::complaints::complain_of;
use crate::input;
use crate::lower::drive::module::module_text;
use crate::options::EngineName;
use crate::selection::{self, SelectedModel, judging_model};

/// The time limit of a property, where none is given.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A launch that was read: the module, and what is launched of it.
struct ReadLaunch {
    /// As messages name it.
    name: String,
    module: PathBuf,
    launch: LaunchSpec,
    expected: Option<Expected>,
}

/// A launch that was judged, as it is reported.
struct JudgedLaunch<'j> {
    name: &'j str,
    module: &'j str,
    origins: Origins,
    /// Of the module.
    text: &'j str,
    composed: &'j verify::Composed,
    verification: &'j Verification,
    expected: Option<&'j Expected>,
}

pub fn command(verify: &Verify, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
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
    let mut worst = Exit::AsExpected;
    for path in &verify.paths {
        let launches = match read(path, verify) {
            Ok(launches) => launches,
            Err(complaint) => {
                complaint.print(err)?;
                worst = report::worse(worst, Exit::BadInput);
                continue;
            }
        };
        for launch in &launches {
            let exit = one(launch, verify, &task, out, err)?;
            worst = report::worse(worst, exit);
        }
    }
    Ok(worst)
}

/// Why a launch is not judged.
enum Unjudged {
    Launch { path: String, error: LaunchError },
    Diagnostics(Vec<text::Diagnostic>),
}

impl Unjudged {
    fn print(&self, err: &mut dyn Write) -> io::Result<()> {
        match self {
            Unjudged::Launch { path, error } => print_error(path, error, err),
            Unjudged::Diagnostics(all) => complain_of(all, err),
        }
    }
}

fn print_error(path: &str, error: &LaunchError, err: &mut dyn Write) -> io::Result<()> {
    let at = error.line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
    writeln!(err, "error: {at}: {}", error.message)?;
    match &error.help {
        Some(help) => writeln!(err, "  = help: {help}"),
        None => Ok(()),
    }
}

/// The launches of a file, or of the command line.
fn read(path: &Path, verify: &Verify) -> Result<Vec<ReadLaunch>, Unjudged> {
    let name = input::shown(path);
    let failed = |error: LaunchError| Unjudged::Launch { path: name.clone(), error };
    if path.extension().is_some_and(|extension| extension == "toml") {
        let text =
            input::text(path).map_err(|error| failed(LaunchError::new(error.to_string())))?;
        let read = verify::file::read(&name, &text).map_err(Unjudged::Diagnostics)?;
        let LaunchFile { ptx, launch, expected, .. } = read;
        let module = path.with_file_name(ptx);
        return Ok(vec![ReadLaunch { name, module, launch, expected }]);
    }
    let module = path.to_owned();
    let written = lines::launches(path, &verify.launch)
        .map_err(|wrong| Unjudged::Launch { path: wrong.path, error: wrong.error })?;
    if written.is_empty() {
        let launch = of_words(&verify.launch).map_err(failed)?;
        return Ok(vec![ReadLaunch { name, module, launch, expected: None }]);
    }
    let read = written.into_iter().map(|written| {
        let launch = of_words(&written.launch);
        let launch =
            launch.map_err(|error| Unjudged::Launch { path: written.name.clone(), error })?;
        Ok(ReadLaunch { name: written.name, module: module.clone(), launch, expected: None })
    });
    read.collect()
}

/// The launch of a command line.
fn of_words(words: &LaunchArgs) -> Result<LaunchSpec, LaunchError> {
    let extent = |option: &str, text: &Option<String>| match text {
        Some(text) => Dim3::parse(text).map(Some).ok_or_else(|| {
            LaunchError::new(format!("`{option} {text}` is not one to three numbers from 1"))
                .help(format!("{option} 2 or {option} 2,2"))
        }),
        None => Ok(None),
    };
    let needed = |option: &str, text: &Option<String>| {
        extent(option, text)?.ok_or_else(|| {
            LaunchError::new("no launch is given").help(
                "causeway verify k.ptx --grid 2 --block 32 --arg out='u32[2]=0' --assert 'out[0]==4'",
            )
        })
    };
    let (grid, block) = (needed("--grid", &words.grid)?, needed("--block", &words.block)?);
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
    Ok(LaunchSpec {
        kernels: vec![KernelLaunch { name: words.kernel.clone(), arguments: None }],
        cluster: extent("--cluster", &words.cluster)?,
        threads,
        cooperative: words.cooperative,
        shared: words.shared,
        resident: words.resident,
        arguments: words
            .arguments
            .iter()
            .map(|text| LaunchArgument::parse(text))
            .collect::<Result<_, _>>()?,
        assertions: words.assertions.clone(),
        ..LaunchSpec::new(grid, block)
    })
}

fn one(
    read: &ReadLaunch,
    verify: &Verify,
    task: &Task<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let path = input::shown(&read.module);
    let text = match module_text(&read.module, &verify.compilers, err) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    let module = match KernelModule::read(&path, &text) {
        Ok(module) => module,
        Err(diagnostics) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let refused = |errors: &[LaunchError], err: &mut dyn Write| {
        for error in errors {
            print_error(if error.line.is_some() { &path } else { &read.name }, error, err)?;
        }
        Ok(Exit::BadInput)
    };
    if verify.print_test {
        let composed = match verify::compose(&module, &read.launch) {
            Ok(composed) => composed,
            Err(errors) => return refused(&errors, err),
        };
        write!(out, "{}", composed.text)?;
        return Ok(Exit::AsExpected);
    }
    let effort = if verify.repair { RepairEffort::FULL } else { RepairEffort::BRIEF };
    let (composed, verification) = match verify::verify(&module, &read.launch, task, effort) {
        Ok(judged) => judged,
        Err(VerifyError::Launch(errors)) => return refused(&errors, err),
        Err(VerifyError::Test(diagnostics)) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let judged = JudgedLaunch {
        name: &read.name,
        module: &path,
        origins: ptx::origins(&text),
        text: &text,
        composed: &composed,
        verification: &verification,
        expected: read.expected.as_ref(),
    };
    match verify.format {
        VerifyFormat::Text => report::text(&judged, out)?,
        VerifyFormat::Json => report::json(&judged, out)?,
    }
    Ok(report::exit(&judged))
}
