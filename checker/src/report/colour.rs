//! The colours of labels. They are always written; an output stream removes them if colour is off.

use anstyle::{AnsiColor, Style};
use engine::exit::Exit;
use judge::headline::{HeadlineKind, Tone};

/// The colour for the result of one test.
pub(crate) fn of(exit: Exit) -> Style {
    let colour = match exit {
        Exit::AsExpected => AnsiColor::Green,
        Exit::Undecided => AnsiColor::Yellow,
        Exit::Differs | Exit::BadInput | Exit::Disagreement => AnsiColor::Red,
    };
    colour.on_default().bold()
}

/// The colour of an answer, whatever the test expects.
pub(crate) fn of_answer(answer: HeadlineKind) -> Style {
    let colour = match answer.tone() {
        Tone::Safe => AnsiColor::Green,
        Tone::Possible => AnsiColor::Cyan,
        Tone::Wrong => AnsiColor::Red,
        Tone::Open => AnsiColor::Yellow,
    };
    colour.on_default()
}
