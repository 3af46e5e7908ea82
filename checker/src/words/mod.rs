//! Functions of a module in the place of a litmus test: every command that reads tests reads them here.

pub mod args;
pub(crate) mod litmus;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::litmus::Test;
use model::program::ThreadId;
use text::Diagnostic;
use verify::{Composed, WordsTest};

use self::args::WordsArgs;
use crate::input::{self, quoted};
use crate::kind::FileKind;
use crate::lower::drive::module::{module_name, module_text};

/// The text of a litmus test.
pub(crate) struct TestSource {
    pub(crate) bytes: Vec<u8>,
    /// What it was made of, if it is no file.
    pub(crate) made: Option<Arc<MadeTest>>,
}

/// A test that was made of functions of a module.
#[derive(Debug)]
pub(crate) struct MadeTest {
    pub(crate) composed: Composed,
    /// As messages name it.
    pub(crate) module: String,
    /// What stands for the path of a test on a command line: the module, the functions and the condition.
    pub(crate) command_line: String,
}

impl MadeTest {
    /// The line of the module of a line of a thread.
    pub(crate) fn module_line(&self, test: &Test, thread: ThreadId, line: u16) -> Option<usize> {
        let of_test = test.line_number(thread, line)?;
        self.composed.module_line(usize::from(thread.0), of_test)
    }
}

/// Why there is no text.
pub(crate) enum Unread {
    Io(io::Error),
    Diagnostics(Vec<Diagnostic>),
}

/// Of the paths of a command, a module and functions of it: two arguments, the second of which is no path.
pub(crate) fn in_paths<'p>(paths: &'p [PathBuf], asked: &WordsArgs) -> Option<(&'p Path, &'p str)> {
    let [path, words] = paths else { return None };
    let text = words.to_str()?;
    let is_words = text.contains(['(', '@', ' ']) || asked.first_option().is_some();
    (is_words && !words.exists()).then_some((path, text))
}

/// Said of an option about functions of a module where there are none.
pub(crate) fn without_functions(option: &str, path: &str, command: &str) -> String {
    format!(
        "`{option}` is about functions of a module, and none are given\n  = help: causeway {command} {path} 'f(x) || g(x)' {option} …; `causeway litmus {path}` lists the functions"
    )
}

/// The text of a test: of a file, or made of functions of a module. `command`: the name of the command.
pub(crate) fn source(
    path: &Path,
    words: Option<&str>,
    asked: &WordsArgs,
    command: &str,
    err: &mut dyn Write,
) -> Result<TestSource, Unread> {
    let Some(words) = words else {
        if let Some(option) = asked.first_option() {
            let path = quoted(&input::shown(path));
            let why = without_functions(option, &path, command);
            return Err(Unread::Io(io::Error::other(why)));
        }
        let bytes = input::read_kind(path, FileKind::Litmus).map_err(Unread::Io)?;
        return Ok(TestSource { bytes, made: None });
    };
    let text = module_text(path, &asked.compilers, err).map_err(Unread::Io)?;
    let request =
        WordsTest { words, question: asked.question(), initial: &asked.init, shared: asked.shared };
    let composed = verify::words::compose(&module_name(path), &text, &request);
    let composed = composed.map_err(Unread::Diagnostics)?;
    let bytes = composed.text.clone().into_bytes();
    let command_line = command_line(path, words, asked);
    Ok(TestSource {
        bytes,
        made: Some(Arc::new(MadeTest { composed, module: module_name(path), command_line })),
    })
}

/// A module, functions, and the options about them, as a shell takes them.
fn command_line(path: &Path, words: &str, asked: &WordsArgs) -> String {
    let mut all = vec![quoted(&input::shown(path)), quoted(words)];
    let mut option = |name: &str, value: &str| all.extend([name.to_owned(), quoted(value)]);
    if let Some((question, text)) = asked.question() {
        option(question.option(), text);
    }
    asked.init.iter().for_each(|value| option("--init", value));
    if let Some(bytes) = asked.shared {
        option("--shared", &bytes.to_string());
    }
    all.extend(asked.compilers.words());
    all.join(" ")
}

/// Prints assumptions about the functions.
pub(crate) fn print_notes(made: &MadeTest, err: &mut dyn Write) -> io::Result<()> {
    made.composed.notes.iter().try_for_each(|note| writeln!(err, "note: {note}"))
}
