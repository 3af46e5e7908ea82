//! Files that a run writes: beside their place first, and renamed when they are whole.
//!
//! A run that fails, and a full disk, leave what was there before. A file that the run reads is not an output.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempDir};

use crate::input::{self, shown};

/// Where files and folders that are not whole begin with.
const UNFINISHED: &str = ".causeway-";

/// Files and folders that are not kept if the process ends now.
fn not_whole() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is not whole, before the process ends without an end of its functions.
pub fn discard_unfinished() {
    for path in std::mem::take(&mut *not_whole()) {
        // Nobody is left to hear of an error.
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}

/// An error with the path that it is about.
fn about(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = shown(path);
    move |error| io::Error::new(error.kind(), format!("{path}: {error}"))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

const IS_INPUT: &str = "the run reads this file, so the output is not written to it";

/// Refuses outputs that are inputs, two outputs of one name, and one whose folder does not exist, before the run begins.
pub(crate) fn check(inputs: &[InputPath<'_>], outputs: Vec<&Path>) -> io::Result<()> {
    let mut places = Vec::new();
    for output in outputs {
        let place = place(output).map_err(about(output))?;
        if inputs.iter().any(|input| input.has(&place)) || input::was_read(&place) {
            return Err(about(output)(refused(IS_INPUT)));
        }
        if places.contains(&place) {
            return Err(about(output)(refused("two output options name this file")));
        }
        let folder = place.parent().filter(|folder| *folder != Path::new(""));
        folder.map_or(Ok(()), |folder| fs::metadata(folder).map(drop)).map_err(about(output))?;
        places.push(place);
    }
    Ok(())
}

/// What the command line names to be read.
pub(crate) struct InputPath<'a> {
    pub(crate) path: &'a Path,
    /// The extension of the files that are read if it is a folder.
    pub(crate) extension: &'a str,
}

impl InputPath<'_> {
    /// Whether a file is this one, or below this folder.
    fn has(&self, file: &Path) -> bool {
        if input::is_standard(self.path) {
            return same_file::Handle::stdin()
                .and_then(|standard| Ok(standard == same_file::Handle::from_path(file)?))
                .unwrap_or(false);
        }
        let Ok(path) = fs::canonicalize(self.path) else { return false };
        let is_below = || file.extension().is_some_and(|its| its == self.extension);
        path == file || path.is_dir() && file.starts_with(&path) && is_below()
    }
}

/// Symbolic links that are followed to a file that does not exist.
const LINKS: usize = 40;

/// The file that a path names, without links; it need not exist.
fn place(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        if let Ok(whole) = fs::canonicalize(&path) {
            return Ok(whole);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        match fs::read_link(&path) {
            Ok(link) => path = folder.join(link),
            Err(_) if folder == Path::new("") => return Ok(fs::canonicalize(".")?.join(path)),
            Err(_) => {
                return Ok(fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default()));
            }
        }
    }
    Err(refused("too many symbolic links"))
}

/// Where the bytes of an output go until it is whole.
enum Destination {
    /// A new file beside the place of the output.
    Beside { unfinished: NamedTempFile, place: PathBuf },
    /// A pipe or a device, or a file that has its place.
    Direct(File),
}

/// A file that has its place when it is whole.
pub struct OutputFile {
    /// As the user named it.
    path: PathBuf,
    target: Destination,
    /// Whether anything was written.
    written: bool,
    /// Whether each flush is an end: nobody knows the last one.
    endless: bool,
    /// Whether it is an input that gets a new content.
    in_place: bool,
}

impl OutputFile {
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        Self::new(path, false).map_err(about(path))
    }

    fn new(path: &Path, in_place: bool) -> io::Result<OutputFile> {
        let place = place(path)?;
        if !in_place && input::was_read(&place) {
            return Err(refused(IS_INPUT));
        }
        let old = fs::metadata(&place).ok();
        let target = match &old {
            Some(old) if old.is_dir() => return Err(refused("it is a folder")),
            Some(old) if in_place && !old.is_file() => {
                return Err(refused("it cannot be written in place"));
            }
            Some(old) if !old.is_file() => {
                Destination::Direct(File::options().write(true).open(&place)?)
            }
            Some(old) if old.permissions().readonly() => {
                return Err(refused("it is read-only, so it is not written"));
            }
            _ => {
                let folder = place.parent().unwrap_or(Path::new("."));
                let mut builder = tempfile::Builder::new();
                builder.prefix(UNFINISHED);
                // Those of a file that was there are kept.
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
                let unfinished = builder.tempfile_in(folder)?;
                if let Some(old) = old {
                    unfinished.as_file().set_permissions(old.permissions())?;
                }
                not_whole().insert(unfinished.path().to_path_buf());
                Destination::Beside { unfinished, place }
            }
        };
        let path = path.to_path_buf();
        Ok(OutputFile { path, target, written: false, endless: false, in_place })
    }

    /// The output of a command that only a signal ends: it has its place at the first flush.
    #[must_use]
    pub fn endless(mut self) -> OutputFile {
        self.endless = true;
        self
    }

    /// Whether anything was written.
    pub fn is_written(&self) -> bool {
        self.written
    }

    /// Puts the file into its place; what is written later goes there.
    pub fn commit(&mut self) -> io::Result<()> {
        self.put().map_err(about(&self.path))
    }

    fn put(&mut self) -> io::Result<()> {
        let Destination::Beside { unfinished, place } = &self.target else { return Ok(()) };
        if !self.in_place && input::was_read(place) {
            return Err(refused(IS_INPUT));
        }
        // A disk may say only now that it is full.
        unfinished.as_file().sync_all()?;
        let file = unfinished.as_file().try_clone()?;
        let ended = std::mem::replace(&mut self.target, Destination::Direct(file));
        if let Destination::Beside { unfinished, place } = ended {
            let name = unfinished.path().to_path_buf();
            let renamed = unfinished.persist(place);
            not_whole().remove(&name);
            renamed?;
        }
        Ok(())
    }

    fn file(&mut self) -> &mut File {
        match &mut self.target {
            Destination::Beside { unfinished, .. } => unfinished.as_file_mut(),
            Destination::Direct(file) => file,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written = true;
        let written = self.file().write(bytes);
        // The one who reads a pipe may have gone.
        let plain = [io::ErrorKind::BrokenPipe, io::ErrorKind::Interrupted];
        written.map_err(|error| {
            if plain.contains(&error.kind()) { error } else { about(&self.path)(error) }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.endless { self.commit() } else { self.file().flush() }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Destination::Beside { unfinished, .. } = &self.target {
            not_whole().remove(unfinished.path());
        }
    }
}

/// An output that the thread which ends a run can put into its place, too.
#[derive(Clone)]
pub struct SharedOutput(Arc<Mutex<OutputFile>>);

impl SharedOutput {
    pub fn new(file: OutputFile) -> SharedOutput {
        SharedOutput(Arc::new(Mutex::new(file)))
    }

    pub fn lock(&self) -> MutexGuard<'_, OutputFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    whole(path, content, false).map_err(about(path))
}

/// Writes a new content to a file that was read. The error does not name it.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    whole(path, content, true)
}

fn whole(path: &Path, content: &[u8], in_place: bool) -> io::Result<()> {
    let mut file = OutputFile::new(path, in_place)?;
    file.file().write_all(content)?;
    file.put()
}

/// A new folder for files that are not kept: nobody knows its name before, or reads it.
pub(crate) fn temporary() -> io::Result<Temporary> {
    Temporary::new(None)
}

/// A folder that is removed with all that is in it.
pub(crate) struct Temporary(TempDir);

impl Temporary {
    fn new(below: Option<&Path>) -> io::Result<Temporary> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(if below.is_some() { UNFINISHED } else { "causeway-" });
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = match below {
            Some(folder) => builder.tempdir_in(folder),
            None => builder.tempdir(),
        };
        // An error of the crate has its path.
        let folder = made?;
        not_whole().insert(folder.path().to_path_buf());
        Ok(Temporary(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        not_whole().remove(self.0.path());
    }
}

/// Files of one folder, all of which have their places when all are whole. Other files there are kept.
///
/// They are not written through to the disk: there may be a million.
pub(crate) struct OutputFolder {
    folder: PathBuf,
    staged: Option<Temporary>,
    names: Vec<String>,
    /// Folders that did not exist, the outermost first.
    made: Vec<PathBuf>,
}

impl OutputFolder {
    pub(crate) fn create(folder: &Path) -> io::Result<OutputFolder> {
        let missing = folder.ancestors().take_while(|path| !path.as_os_str().is_empty());
        let missing = missing.take_while(|path| !path.exists()).map(Path::to_path_buf);
        let mut made: Vec<PathBuf> = missing.collect();
        made.reverse();
        let folder = folder.to_path_buf();
        fs::create_dir_all(&folder).map_err(about(&folder))?;
        let mut output = OutputFolder { folder, staged: None, names: Vec::new(), made };
        output.staged = Some(Temporary::new(Some(&output.folder))?);
        Ok(output)
    }

    /// Where a file is to be; an error if the run reads it.
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        // A link of this name is replaced, not what it names.
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let place = folder.map(|folder| folder.join(path.file_name().unwrap_or_default()));
        if place.is_some_and(|place| input::was_read(&place)) {
            return Err(about(&path)(refused(IS_INPUT)));
        }
        Ok(path)
    }

    /// Adds a file, whose name may be one below a folder of the folder.
    pub(crate) fn write(&mut self, name: String, content: &[u8]) -> io::Result<()> {
        let path = self.place(&name)?;
        let Some(staged) = &self.staged else { return Ok(()) };
        let file = staged.path().join(&name);
        if let Some(folder) = file.parent().filter(|_| name.contains('/')) {
            fs::create_dir_all(folder).map_err(about(&path))?;
        }
        fs::write(&file, content).map_err(about(&path))?;
        self.names.push(name);
        Ok(())
    }

    /// Puts all files into their places, in the order in which they were written.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        let Some(staged) = self.staged.take() else { return Ok(()) };
        let places: io::Result<Vec<PathBuf>> =
            self.names.iter().map(|name| self.place(name)).collect();
        for (name, path) in self.names.iter().zip(places?) {
            if let Some(folder) = path.parent().filter(|_| name.contains('/')) {
                fs::create_dir_all(folder).map_err(about(&path))?;
            }
            fs::rename(staged.path().join(name), &path).map_err(about(&path))?;
        }
        self.made.clear();
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        self.staged = None;
        for folder in self.made.iter().rev() {
            // One with files of somebody else is kept.
            let _ = fs::remove_dir(folder);
        }
    }
}
