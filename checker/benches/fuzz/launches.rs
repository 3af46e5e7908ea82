//! Modules and launch files that are damaged: launches are read, composed, and judged under small limits.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use judge::Task;
use verify::file::{self, LaunchFile};
use verify::{KernelModule, LaunchError, LaunchSpec, RepairEffort, VerifyError};

use crate::targets::{errors, inside};

const TIME: Duration = Duration::from_millis(50);

/// A launch takes at most so long; advice after it has a time of its own.
const MOST: Duration = Duration::from_secs(5);

/// The files of the examples with this ending, by their names.
fn examples(ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels");
    let entries = fs::read_dir(folder).expect("the repository is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let of = paths.filter(|path| path.extension().is_some_and(|own| own == ending));
    let named = of.map(|path| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("it is text"))
    });
    let mut all: Vec<(String, String)> = named.collect();
    all.sort();
    all
}

/// A module, launched as each example is.
pub(crate) fn module(bytes: &[u8]) -> Result<(), String> {
    static LAUNCHES: OnceLock<Vec<LaunchSpec>> = OnceLock::new();
    let launches = LAUNCHES.get_or_init(|| {
        let read = examples("toml").into_iter().map(|(name, text)| file::read(&name, &text));
        read.map(|file| file.expect("the examples are right").launch).collect()
    });
    let text = String::from_utf8_lossy(bytes).into_owned();
    launches.iter().try_for_each(|launch| judged(&text, launch))
}

/// A launch file, of the module that it names among the examples, or else of the first one.
pub(crate) fn launch_file(bytes: &[u8]) -> Result<(), String> {
    static MODULES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let modules = MODULES.get_or_init(|| examples("ptx"));
    let text = String::from_utf8_lossy(bytes).into_owned();
    let LaunchFile { ptx, launch, .. } = match file::read("k.toml", &text) {
        Ok(read) => read,
        Err(all) => return errors(&all, text.as_bytes()),
    };
    let named = modules.iter().find(|(name, _)| *name == ptx);
    judged(&named.unwrap_or(&modules[0]).1, &launch)
}

fn judged(text: &str, launch: &LaunchSpec) -> Result<(), String> {
    let module = match KernelModule::read("k.ptx", text) {
        Ok(module) => module,
        Err(all) => return errors(&all, text.as_bytes()),
    };
    let model = model::ptx::model();
    let task = Task {
        timeout: Some(TIME),
        memory: 16 << 20,
        bound: 2,
        counts: false,
        ..Task::new(&model)
    };
    let effort = RepairEffort { questions: 0, ..RepairEffort::BRIEF };
    let start = Instant::now();
    let result = verify::verify(&module, launch, &task, &effort.into());
    let took = start.elapsed();
    if took > MOST {
        return Err(format!("the launch takes {took:.1?} of {TIME:?}"));
    }
    match result {
        Ok((composed, _)) => {
            let read = litmus::parse("k.litmus", composed.text.as_bytes());
            read.map(|_| ()).map_err(|all| format!("its test is not read: {}", all[0]))
        }
        Err(VerifyError::Launch(all)) if all.is_empty() => Err("there is no error".to_owned()),
        Err(VerifyError::Launch(all)) => all.into_iter().try_for_each(|error| {
            let of_launch = |error: LaunchError| error.in_file("launch", "k.toml", "");
            inside(&module.refused("launch", error, of_launch), text.as_bytes())
        }),
        Err(VerifyError::Test(all)) => Err(format!("its test is not read: {}", all[0])),
    }
}
