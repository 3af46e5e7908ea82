//! The folder of a campaign: its state as JSON, and a litmus test for each failure.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fs4::{FileExt, TryLockError};
use fuzz::campaign::{CampaignState, FORMAT, FoundFailure};
use serde_json::Value;

use crate::input::shown;
use crate::output;

/// The name of the file in the folder.
const STATE: &str = "state.json";

/// The name of the empty file that a run keeps locked.
const LOCK: &str = "lock";

fn failed(path: &Path, error: &impl ToString) -> String {
    format!("{}: {}", shown(path), error.to_string())
}

/// Makes the folder, and locks it until the result is dropped: two runs would each save their own state over the other's.
/// The system unlocks the folder of a run that is killed. A file system that cannot lock files is used without a lock.
pub(super) fn lock(folder: &Path) -> Result<File, String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| failed(&path, &error))?;
    match FileExt::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(&path, &error)),
        Err(TryLockError::WouldBlock) => {
            let other = "another run uses this folder: wait for its end, or choose another folder";
            Err(failed(folder, &other))
        }
    }
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

/// Writes the state to a folder that is locked, and the failures that have no file. A state is replaced at once, so that a run that is killed
/// leaves the one before.
pub(super) fn save(folder: &Path, state: &CampaignState) -> Result<(), String> {
    for failure in &state.failures {
        let path = file(folder, state.seed, failure);
        if !path.exists() {
            output::write(&path, failure.test.as_bytes()).map_err(|error| error.to_string())?;
        }
    }
    let path = folder.join(STATE);
    let text = serde_json::to_string(state).map_err(|error| failed(&path, &error))?;
    output::write(&path, (text + "\n").as_bytes()).map_err(|error| error.to_string())
}
