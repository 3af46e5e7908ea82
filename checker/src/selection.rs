//! The model, the readings and the engines that a command line selects.

use std::io::{self, Write};
use std::path::Path;

use engine::{ENGINES, Engine};
use model::cxx::{self, ReleaseSequence};
use model::ptx;
use model::reading::Readings;
use model::rel::Model;

use crate::complaints::complain_of;
use crate::input;
use crate::kind::FileKind;
use crate::options::{EngineName, Judging, ReadingArgs};

/// A model, with its readings if it is the built-in PTX model.
pub(crate) struct SelectedModel {
    pub(crate) model: Model,
    pub(crate) readings: Option<Readings>,
}

/// The model to use: a built-in model by its name, the PTX model if none is named, or the model in a file.
/// `None` after an error was printed.
pub(crate) fn model(
    path: Option<&Path>,
    switched: &ReadingArgs,
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

/// The model that decides verdicts.
pub(crate) fn judging_model(
    judging: &Judging,
    err: &mut dyn Write,
) -> io::Result<Option<SelectedModel>> {
    model(judging.model.as_deref(), &judging.readings, err)
}

/// The readings that `--reading` selects. Each reading may be selected only once.
fn readings(switched: &ReadingArgs, err: &mut dyn Write) -> io::Result<Option<Readings>> {
    let mut readings = Readings::default();
    let mut chosen: Vec<&str> = Vec::new();
    for text in switched.choices() {
        let name = text.split('=').next().unwrap_or_default();
        if chosen.contains(&name) {
            writeln!(err, "error: reading {name} is switched twice")?;
            return Ok(None);
        }
        chosen.push(name);
        readings = readings.switch(text).expect("clap has checked the choices");
    }
    Ok(Some(readings))
}

/// The models that `--model` knows by name, except `ptx`.
fn built_in(name: &Path) -> Option<Model> {
    match name.to_str() {
        Some("cxx") => Some(cxx::model(ReleaseSequence::Cpp20)),
        Some("cxx11") => Some(cxx::model(ReleaseSequence::Cpp11)),
        _ => None,
    }
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
                    "warning: {}: no axiom constrains `co`, so `co` and `fr` rule out almost nothing\n  = help: \
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
        EngineName::Auto => return Ok(Some(ENGINES.to_vec())),
        EngineName::All => None,
        EngineName::Enumerate => Some("enumerate"),
        EngineName::Solve => Some("solve"),
    };
    let wanted = |engine: &&dyn Engine| named.is_none_or(|name| engine.name() == name);
    let mut there = Vec::new();
    for engine in ENGINES.iter().copied().filter(wanted) {
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
