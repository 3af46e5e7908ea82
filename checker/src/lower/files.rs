//! Reads files with functions: LLVM IR, PTX and listings.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lift::function::{Function, Functions, Refusals, Refused};
use lift::listing::Signature;
use text::Diagnostic;
use text::origin::Origins;

use crate::input;
use crate::kind::FileKind;
use crate::report::finding::UnreadReason;

/// The reason for which no functions could be read from a file.
pub enum FunctionsError {
    /// The file does not exist or has an unsupported kind.
    Path(io::Error),
    Diagnostics(Vec<Diagnostic>),
    /// A line and what is wrong with it.
    Line(usize, String),
}

impl FunctionsError {
    pub fn why(&self) -> UnreadReason<'_> {
        match self {
            FunctionsError::Path(error) => UnreadReason::Unreadable(error),
            FunctionsError::Diagnostics(diagnostics) => UnreadReason::Rejected(diagnostics),
            FunctionsError::Line(line, why) => UnreadReason::Line(*line, why),
        }
    }
}

/// What the reader of a listing also needs: the functions that it was compiled from, and the architecture if
/// the listing does not contain it.
#[derive(Clone, Copy, Default)]
pub struct ListingSource<'a> {
    pub source: &'a [(String, Result<Function, Refusals>)],
    pub arch: Option<u16>,
}

/// The functions of a file, and the lines of the program that it was made from.
pub struct FunctionsFile {
    pub kind: FileKind,
    pub functions: Functions,
    pub origins: Origins,
}

/// Whether an error concerns one function alone: the rest of the module is read as if it were not there.
fn is_of_function(found: &Diagnostic) -> bool {
    found.code == "undeclared"
}

/// Reads the functions of a file. The extension determines its kind; for standard input, the beginning of the
/// text does.
pub fn functions(path: &Path, listing: ListingSource<'_>) -> Result<FunctionsFile, FunctionsError> {
    let shown = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let kind = match ending {
        // Triton names its LLVM IR `.llir`.
        Some("ll" | "llir") => Some(FileKind::Llvm),
        Some("ptx") => Some(FileKind::Ptx),
        Some("sass") => Some(FileKind::Sass),
        Some(_) | None => None,
    };
    let text = match kind {
        Some(kind) => input::read_kind(path, kind),
        None => input::read(path),
    };
    let text = text.map_err(FunctionsError::Path)?;
    let kind = if input::is_standard(path) { FileKind::of(path, &text) } else { kind };
    let utf8 = || {
        let none = |_| FunctionsError::Path(io::Error::other("not valid UTF-8"));
        std::str::from_utf8(&text).map_err(none)
    };
    let (kind, functions, origins) = match kind {
        Some(kind @ FileKind::Llvm) => {
            let text = utf8()?;
            (kind, llvm::functions(&shown, text), llvm::origins(text))
        }
        Some(kind @ FileKind::Ptx) => {
            let (module, diagnostics) = ptx::read(&shown, &text);
            match module {
                Some(module) if diagnostics.iter().all(is_of_function) => {
                    let faults = diagnostics.into_iter().map(|found| Refused {
                        line: found.span.line,
                        why: format!("{}, which no assembler accepts", found.message),
                    });
                    let faults: Vec<Refused> = faults.collect();
                    let functions = lift::module::functions_besides(&module, &faults);
                    (kind, Ok(functions), ptx::origins(utf8()?))
                }
                _ => (kind, Err(diagnostics), Origins::default()),
            }
        }
        Some(kind @ FileKind::Sass) => {
            let signature = |name: &str| {
                let mut source = listing.source.iter();
                let function = source.find(|(known, _)| known == name)?.1.as_ref().ok()?;
                Some(Signature::of(function))
            };
            let text = utf8()?;
            let functions = lift::listing::functions(&shown, text, listing.arch, &signature);
            (kind, functions, sass::origin::origins(text))
        }
        Some(_) | None => {
            // Kinds that other commands read, or that no command reads.
            let other = FileKind::of(path, &text)
                .filter(|kind| !matches!(kind, FileKind::Llvm | FileKind::Ptx | FileKind::Sass));
            let why = match other {
                Some(kind) => kind.refused(),
                None => "unknown file type: expected .ll, .ptx or .sass".into(),
            };
            return Err(FunctionsError::Path(io::Error::other(why)));
        }
    };
    let functions = functions.map_err(FunctionsError::Diagnostics)?;
    // The reader of LLVM IR has looked.
    if kind != FileKind::Llvm {
        named_once(&functions)?;
    }
    Ok(FunctionsFile { kind, functions, origins })
}

/// Refuses a file in which a name does not say which function is meant, such as a listing for two architectures.
fn named_once(functions: &Functions) -> Result<(), FunctionsError> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, function) in functions {
        let line = match function {
            Ok(function) => function.line,
            Err(refused) => refused.first().line,
        };
        if let Some(first) = lines.insert(name, line) {
            let why = format!("a second function `{name}`; the first one is at line {first}");
            return Err(FunctionsError::Line(line, why));
        }
    }
    Ok(())
}
