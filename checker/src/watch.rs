//! `--watch`: runs a command again when its files change.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use engine::exit::Exit;
use engine::interrupt;
use notify::{EventKind, RecursiveMode, Watcher};

use crate::input;

/// How often to look whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(200);
/// Editors write a file in several steps: they end when nothing changes for so long.
const QUIET: Duration = Duration::from_millis(100);

type Run<'r> = &'r mut dyn FnMut(&mut dyn Write, &mut dyn Write) -> io::Result<Exit>;

/// Runs, then again after each change below the paths, until the run is interrupted; the exit is the last run's.
pub fn repeat(
    paths: &[PathBuf],
    run: Run<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    if paths.iter().any(|path| input::is_standard(path)) {
        writeln!(err, "error: standard input cannot be watched")?;
        writeln!(err, "help: name a file or a folder")?;
        return Ok(Exit::BadInput);
    }
    let (sender, changes) = mpsc::channel();
    let named: Vec<OsString> =
        paths.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
    let send = move |event: notify::Result<notify::Event>| {
        let changes = |event: notify::Event| {
            let read = event.paths.is_empty() || event.paths.iter().any(|of| is_read(of, &named));
            read && !matches!(event.kind, EventKind::Access(_))
        };
        if event.is_ok_and(changes) {
            // The run is over if nobody listens.
            let _ = sender.send(());
        }
    };
    let mut watcher = notify::recommended_watcher(send).map_err(io::Error::other)?;
    for path in paths {
        // Editors replace a file by another one of its name: its folder is watched.
        let (folder, mode) = match path.parent().filter(|_| !path.is_dir()) {
            Some(parent) if parent == Path::new("") => {
                (Path::new("."), RecursiveMode::NonRecursive)
            }
            Some(parent) => (parent, RecursiveMode::NonRecursive),
            None => (path.as_path(), RecursiveMode::Recursive),
        };
        if let Err(error) = watcher.watch(folder, mode) {
            writeln!(err, "error: {}: {error}", input::shown(folder))?;
            return Ok(Exit::BadInput);
        }
    }
    loop {
        let exit = run(out, err)?;
        writeln!(out, "watching for changes; Ctrl-C ends")?;
        out.flush()?;
        if !waited(&changes) {
            return Ok(exit);
        }
    }
}

/// Whether a run may read a file: what it prints may be written into the same folder.
fn is_read(path: &Path, named: &[OsString]) -> bool {
    let kinds = ["litmus", "cat", "toml"];
    let is_kind = path.extension().is_some_and(|ending| kinds.iter().any(|kind| ending == *kind));
    is_kind || path.file_name().is_some_and(|name| named.iter().any(|one| one == name))
}

/// Waits for a change; `false` if the run was interrupted.
fn waited(changes: &Receiver<()>) -> bool {
    while !interrupt::raised() {
        match changes.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
            Ok(()) => {
                while changes.recv_timeout(QUIET).is_ok() {}
                return true;
            }
        }
    }
    false
}
