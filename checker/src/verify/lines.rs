//! Launches in the comments of a source: `//! causeway: --grid 2 --block 32 --arg out='u32[2]'`.
//!
//! Such a line is a launch with the options of the command line; lines with `//!` after it go on with them. They are in the module, or in a file that its
//! `.loc` directives name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Parser;
use verify::LaunchError;

use super::args::LaunchArgs;
use crate::input;

/// A launch, and where it is.
pub(super) struct WrittenLaunch {
    pub(super) path: PathBuf,
    pub(super) line: usize,
    /// The whole file.
    pub(super) text: String,
    pub(super) launch: LaunchArgs,
}

/// The options of a line.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct LaunchLine {
    #[command(flatten)]
    launch: LaunchArgs,
}

/// What a launch begins with in a comment.
const BEGIN: &str = "causeway:";

/// An error in a line: the file with its text, and what is wrong.
pub(super) struct WrongLine {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) error: LaunchError,
}

/// The launches that a module or its source has; none where the options already give one. Standard input has none, since it is read once.
pub(super) fn launches(path: &Path, given: &LaunchArgs) -> Result<Vec<WrittenLaunch>, WrongLine> {
    if *given != LaunchArgs::default() || input::is_standard(path) {
        return Ok(Vec::new());
    }
    let Some(text) = text_of(path) else { return Ok(Vec::new()) };
    let own = in_text(path, &text)?;
    if !own.is_empty() {
        return Ok(own);
    }
    let origins = ptx::origins(&text);
    let files = (1..=text.lines().count()).filter_map(|line| origins.of(line));
    let mut looked_at = BTreeSet::new();
    for file in files.map(|origin| &origin.file[..]) {
        if !looked_at.insert(file) {
            continue;
        }
        for (source, text) in sources(path, file) {
            let found = in_text(&source, &text)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Ok(Vec::new())
}

/// The file that has the launches of a module.
pub(super) fn file(path: &Path, given: &LaunchArgs) -> Option<PathBuf> {
    match launches(path, given) {
        Ok(all) => all.into_iter().next().map(|launch| launch.path),
        Err(wrong) => Some(wrong.path),
    }
}

/// The files that a source may be, with their texts: beside the module, and where the module says.
pub(super) fn sources(module: &Path, file: &str) -> impl Iterator<Item = (PathBuf, String)> {
    let file = Path::new(file);
    let beside = file.file_name().map(|name| module.with_file_name(name));
    let places = beside.into_iter().chain([file.to_owned()]);
    places.filter_map(|source| text_of(&source).map(|text| (source, text)))
}

/// The text of a file; not of a pipe, which is read once.
fn text_of(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    input::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn in_text(path: &Path, text: &str) -> Result<Vec<WrittenLaunch>, WrongLine> {
    let mut all = Vec::new();
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        let wrong = |error: LaunchError| WrongLine {
            path: path.to_owned(),
            text: text.to_owned(),
            error: error.at(number),
        };
        let Some(comment_words) = comment(line).map(str::trim_start) else { continue };
        let Some(first) = comment_words.strip_prefix(BEGIN) else {
            if is_option(comment_words) {
                let error =
                    LaunchError::new("options of a launch go on here, and no launch begins above");
                return Err(wrong(error.help("a launch begins with `//! causeway:`, and the lines with `//!` right below it go on with it")));
            }
            continue;
        };
        let mut words = first.to_owned();
        let goes_on = |words: &&str| !words.trim_start().starts_with(BEGIN);
        while let Some(next) = lines.peek().and_then(|(line, _)| comment(line)).filter(goes_on) {
            words.push('\n');
            words.push_str(next);
            lines.next();
        }
        let words = shlex::split(&words).ok_or_else(|| {
            wrong(LaunchError::new("a quote is not closed, or a `\\` is the last sign"))
        })?;
        let read = LaunchLine::try_parse_from(words).map_err(|error| wrong(told(&error)))?;
        all.push(WrittenLaunch {
            path: path.to_owned(),
            line: number,
            text: text.to_owned(),
            launch: read.launch,
        });
    }
    Ok(all)
}

/// What is behind `//!`.
fn comment(line: &str) -> Option<&str> {
    line.trim().strip_prefix("//!")
}

/// Whether a comment begins with an option, and not with a line of hyphens.
fn is_option(words: &str) -> bool {
    let name = words.strip_prefix("--");
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// The first line of an error of options, and what it proposes.
fn told(error: &clap::Error) -> LaunchError {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let tip = lines.find_map(|line| line.strip_prefix("tip: "));
    let wrong = LaunchError::new(first.trim_start_matches("error: "));
    wrong.help(
        tip.unwrap_or("//! causeway: --grid 2 --block 1 --arg out='u32[1]' --assert 'out[0]==1'"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_goes_on_in_further_comments() {
        let text = "// k\n//! causeway: --grid 2 --block 1\n  //!   --arg n=4\n//! causeway: --grid 1 --block 1\nint x;\n//! other\n";
        let found = in_text(Path::new("k.cu"), text).ok().expect("they are right");
        let lines: Vec<usize> = found.iter().map(|launch| launch.line).collect();
        assert_eq!(lines, [2, 4]);
        assert_eq!(found[0].launch.arguments, ["n=4"]);
        let wrong =
            in_text(Path::new("k.cu"), "\n//! causeway: --gird 2\n").err().expect("it is wrong");
        assert_eq!(wrong.error.line, Some(2));
        assert!(wrong.error.message.contains("--gird"), "{}", wrong.error.message);
    }

    #[test]
    fn options_without_a_launch_above_are_an_error() {
        let of = |text: &str| in_text(Path::new("k.cu"), text);
        for text in [
            "// ! causeway: --grid 2 --block 1\n//!   --arg n=4\n",
            "//! causeway: --grid 2 --block 1\nint x;\n//! --arg n=4\n",
        ] {
            let wrong = of(text).err().expect("no launch has the option").error;
            assert_eq!(wrong.line, Some(text.lines().count()), "{text}");
            assert!(wrong.help.is_some_and(|help| help.contains("//! causeway:")), "{text}");
        }
        assert!(of("//! --------\n//! a -- b\n").is_ok_and(|found| found.is_empty()));
    }
}
