//! The folder of a campaign: its state as JSON, and a litmus test for each failure.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::campaign::{CampaignState, FORMAT, FoundFailure};
use serde_json::Value;

use crate::input::shown;

/// The name of the file in the folder.
const STATE: &str = "state.json";

fn failed(path: &Path, error: &impl ToString) -> String {
    format!("{}: {}", shown(path), error.to_string())
}

/// The state in a folder, if it has one.
pub(super) fn load(folder: &Path) -> Result<Option<CampaignState>, String> {
    let path = folder.join(STATE);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| failed(&path, &error))?;
    if value["format"] != FORMAT {
        return Err(failed(&path, &format!("the format is not `{FORMAT}`")));
    }
    let state: CampaignState =
        serde_json::from_value(value).map_err(|error| failed(&path, &error))?;
    match state.fault() {
        Some(fault) => Err(failed(&path, &fault)),
        None => Ok(Some(state)),
    }
}

/// The file of a failure.
pub(super) fn file(folder: &Path, seed: u64, failure: &FoundFailure) -> PathBuf {
    folder.join(format!("{}-{seed}-{}.litmus", failure.law, failure.case))
}

/// Writes the state, and the failures that have no file. A state is replaced at once, so that a run that is killed
/// leaves the one before.
pub(super) fn save(folder: &Path, state: &CampaignState) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for failure in &state.failures {
        let path = file(folder, state.seed, failure);
        if !path.exists() {
            fs::write(&path, &failure.test).map_err(|error| failed(&path, &error))?;
        }
    }
    let (path, new) = (folder.join(STATE), folder.join(format!("{STATE}.new")));
    let text = serde_json::to_string(state).map_err(|error| failed(&path, &error))?;
    fs::write(&new, text + "\n").map_err(|error| failed(&new, &error))?;
    fs::rename(&new, &path).map_err(|error| failed(&path, &error))
}
