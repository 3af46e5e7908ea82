//! The files of a model: the first one, and those that it includes, found before any of them is read as a model.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use model::render;
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

use super::LARGEST;
use super::lex::{self, TokenKind};

/// Files that a model may consist of.
const MOST: usize = 64;

/// Their definitions are known from the start.
const BUILT_IN: [&str; 11] = [
    "stdlib.cat",
    "cos.cat",
    "cross.cat",
    "fences.cat",
    render::NAMES,
    render::TEARING,
    render::FAILED_CAS_RELEASES,
    render::FAILED_CAS_WRITES,
    render::SEMANTIC_DEPENDENCIES,
    render::ELECTS_ANY_LANE,
    render::SILENT_ATOMICS,
];

pub(super) fn is_built_in(file: &str) -> bool {
    BUILT_IN.contains(&file)
}

/// The texts of all files, one after another.
pub(super) struct SourceFiles {
    pub(super) text: String,
    /// The path of each, and where its text begins and ends.
    pub(super) places: Vec<(String, usize, usize)>,
    /// For a file and the name that it includes: the file that is meant, or why there is none.
    found: BTreeMap<(usize, String), Result<usize, String>>,
}

impl SourceFiles {
    /// Reads what is included, and what that includes. `read` has the text of a path.
    pub(super) fn load(
        path: &str,
        text: &str,
        read: &mut dyn FnMut(&Path) -> Result<String, String>,
    ) -> SourceFiles {
        let mut files = SourceFiles {
            text: text.to_owned(),
            places: vec![(path.to_owned(), 0, text.len())],
            found: BTreeMap::new(),
        };
        let mut next = 0;
        while next < files.places.len() {
            for name in files.included(next) {
                let found = files.find(next, &name, read);
                files.found.insert((next, name), found);
            }
            next += 1;
        }
        files
    }

    /// The names that a file includes, apart from those that are built in.
    fn included(&self, file: usize) -> Vec<String> {
        let (_, start, end) = self.places[file];
        let tokens = lex::tokens(&self.text[..end], start, &mut Diagnostics::default());
        let pairs = tokens.iter().zip(tokens.iter().skip(1));
        let names =
            pairs.filter(|(before, name)| before.text == "include" && name.kind == TokenKind::Text);
        let names = names.map(|(_, name)| name.text.trim_matches('"').to_owned());
        names.filter(|name| !is_built_in(name)).collect()
    }

    fn find(
        &mut self,
        from: usize,
        name: &str,
        read: &mut dyn FnMut(&Path) -> Result<String, String>,
    ) -> Result<usize, String> {
        let folder = Path::new(&self.places[from].0).parent().unwrap_or(Path::new(""));
        let path = plain(&folder.join(name));
        let known = |(of, _, _): &(String, usize, usize)| plain(Path::new(of)) == path;
        if let Some(known) = self.places.iter().position(known) {
            return Ok(known);
        }
        if self.places.len() == MOST {
            return Err(format!("a model consists of at most {MOST} files"));
        }
        let text = read(&path)?;
        if self.text.len() + text.len() > LARGEST {
            return Err(format!("together, its files are larger than {} MiB", LARGEST >> 20));
        }
        let start = self.text.len();
        self.text.push_str(&text);
        self.places.push((path.to_string_lossy().into_owned(), start, self.text.len()));
        Ok(self.places.len() - 1)
    }

    /// The file that is included, or `None` after a report.
    pub(super) fn meant(
        &self,
        from: usize,
        name: &str,
        at: ByteSpan,
        report: &mut Diagnostics,
    ) -> Option<usize> {
        match self.found.get(&(from, name.to_owned()))? {
            Ok(file) => Some(*file),
            Err(why) => {
                report
                    .error("include", at, format!("`{}` cannot be included", short(name)))
                    .note(why.as_str())
                    .help("a file is looked for in the folder of the file that includes it; `stdlib.cat`, `cos.cat`, `cross.cat` and `fences.cat` are built in");
                None
            }
        }
    }
}

/// Without `.`, and without the folders that `..` leaves.
fn plain(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if all.file_name().is_some() => {
                all.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => {
                all.push(part);
            }
        }
    }
    all
}
