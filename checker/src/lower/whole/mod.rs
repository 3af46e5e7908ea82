//! Whole functions: `causeway lower --from f.ll --to f.ptx`, `--from f.ptx --to f.sass`.
//!
//! A function is its own frame; one that others may call has a frame besides. Both sides become the
//! first thread of a program, branches and all (reading J24), and are put in the same [`partner`]s'
//! contexts. What cannot be read refuses its function (reading J27).

pub mod ask;
pub mod bind;
pub mod judge;
mod lessen;
mod mend;
pub mod partner;
mod progress;
pub mod report;
mod run;
pub mod scan;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use litmus::listing::Signature;
use model::function::{Function, Functions, Refused};
use text::Diagnostic;

use self::ask::Asker;
use crate::input;
use crate::kind::Kind;
use crate::lower::verdict::{Finding, Verdict};
use crate::report::finding::Why;

/// A function of the source and what became of it.
pub struct Pair {
    pub name: String,
    /// The litmus test that it was made of, if it was.
    pub test: Option<PathBuf>,
    pub source: Option<Result<Function, Refused>>,
    pub target: Option<Result<Function, Refused>>,
}

/// What is said of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub name: String,
    /// The litmus test that a function was made of, if it was.
    pub test: Option<PathBuf>,
    /// Where it begins in the source, and where in the target the fault is, or it begins.
    pub source_line: Option<usize>,
    pub target_line: Option<usize>,
    pub finding: Finding,
}

/// Why a file gives no functions.
pub enum Unread {
    /// No such file, or no kind of file that is read.
    Path(io::Error),
    Diagnostics(Vec<Diagnostic>),
}

impl Unread {
    pub fn why(&self) -> Why<'_> {
        match self {
            Unread::Path(error) => Why::Unreadable(error),
            Unread::Diagnostics(diagnostics) => Why::Rejected(diagnostics),
        }
    }
}

/// What a listing is read with: what it was made of, and its architecture where it does not say it.
#[derive(Clone, Copy, Default)]
pub struct Listing<'a> {
    pub source: &'a [(String, Result<Function, Refused>)],
    pub arch: Option<u16>,
}

/// Reads the functions of a file, by its ending; of standard input, by how it begins.
pub fn functions(path: &Path, listing: Listing<'_>) -> Result<Functions, Unread> {
    let shown = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let kind = match ending {
        Some("ll") => Some(Kind::Llvm),
        Some("ptx") => Some(Kind::Ptx),
        Some("sass") => Some(Kind::Sass),
        Some(_) | None => None,
    };
    let text = match kind {
        Some(kind) => input::read_kind(path, kind),
        None => input::read(path),
    };
    let text = text.map_err(Unread::Path)?;
    let kind = if input::is_standard(path) { Kind::of(path, &text) } else { kind };
    let utf8 = || {
        let none = |_| Unread::Path(io::Error::other("this file is no text in UTF-8"));
        std::str::from_utf8(&text).map_err(none)
    };
    match kind {
        Some(Kind::Llvm) => llvm::functions(&shown, utf8()?).map_err(Unread::Diagnostics),
        Some(Kind::Ptx) => {
            let (module, diagnostics) = ptx::read(&shown, &text);
            match module {
                Some(module) if diagnostics.is_empty() => Ok(module.columns()),
                _ => Err(Unread::Diagnostics(diagnostics)),
            }
        }
        Some(Kind::Sass) => {
            let signature = |name: &str| {
                let mut source = listing.source.iter();
                let function = source.find(|(known, _)| known == name)?.1.as_ref().ok()?;
                Some(Signature::of(function))
            };
            litmus::listing::functions(&shown, utf8()?, listing.arch, &signature)
                .map_err(Unread::Diagnostics)
        }
        Some(_) | None => {
            // Those that are read elsewhere, or by no command.
            let other = Kind::of(path, &text)
                .filter(|kind| !matches!(kind, Kind::Llvm | Kind::Ptx | Kind::Sass));
            let why = match other {
                Some(kind) => kind.refused(),
                None => "unknown file type: expected .ll, .ptx or .sass".into(),
            };
            Err(Unread::Path(io::Error::other(why)))
        }
    }
}

/// Functions of two files by their names, in the order of the source.
pub fn paired(source: Functions, target: Functions) -> Vec<Pair> {
    let mut theirs: BTreeMap<String, Result<Function, Refused>> = BTreeMap::new();
    let mut order = Vec::new();
    for (name, function) in target {
        order.push(name.clone());
        theirs.insert(name, function);
    }
    let mut all: Vec<Pair> = source
        .into_iter()
        .map(|(name, function)| {
            let target = theirs.remove(&name);
            Pair { name, test: None, source: Some(function), target }
        })
        .collect();
    all.extend(order.into_iter().filter_map(|name| {
        let target = theirs.remove(&name)?;
        Some(Pair { name, test: None, source: None, target: Some(target) })
    }));
    all
}

/// Judges one pair.
pub fn judge(pair: &Pair, asker: Asker<'_>) -> Said {
    let refused = |side: &str, refused: &Refused| {
        let why = format!("line {} of the {side}: {}", refused.line, refused.why);
        (Finding::new(Verdict::Unsupported, why), None)
    };
    let absent = |side: &str| {
        let why = format!("the {side} has no function of this name");
        (Finding::new(Verdict::Unsupported, why), None)
    };
    let line = |side: &Option<Result<Function, Refused>>| {
        side.as_ref().map(|side| match side {
            Ok(function) => function.line,
            Err(refused) => refused.line,
        })
    };
    let (finding, at) = match (&pair.source, &pair.target) {
        (None, _) => absent("source"),
        (_, None) => absent("target"),
        (Some(Err(why)), _) => refused("source", why),
        (_, Some(Err(why))) => refused("target", why),
        (Some(Ok(source)), Some(Ok(target))) => judge::judge(source, target, asker),
    };
    Said {
        name: pair.name.clone(),
        test: pair.test.clone(),
        source_line: line(&pair.source),
        target_line: at.or(line(&pair.target)),
        finding,
    }
}

/// Judges all pairs, so many at once; the answers are in the order of the pairs.
pub fn judge_all(
    pairs: &[Pair],
    asker: Asker<'_>,
    jobs: usize,
    progress: &ProgressBar,
) -> Vec<Said> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Said>>> = Mutex::new(vec![None; pairs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pairs.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(pair) = pairs.get(index) else { break };
                    let said = judge(pair, asker);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(said);
                    progress.inc(1);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().flatten().collect()
}
