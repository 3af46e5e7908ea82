//! The colours of labels. They are always written; streams take them away where they are not wanted.

use anstyle::{AnsiColor, Style};

use engine::exit::Exit;

/// Of what is said of one test.
pub(crate) fn of(exit: Exit) -> Style {
    let colour = match exit {
        Exit::AsExpected => AnsiColor::Green,
        Exit::Undecided => AnsiColor::Yellow,
        Exit::Differs | Exit::BadInput | Exit::Disagreement => AnsiColor::Red,
    };
    colour.on_default().bold()
}
