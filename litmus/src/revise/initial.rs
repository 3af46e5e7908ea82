//! The numbers that the braces of a test give: to registers, and as counts of mbarrier objects.

use text::cursor::Cursor;
use text::lex::{Token, TokenKind};
use text::report::ByteSpan;

use crate::Test;

/// A number in the braces of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitialNumber {
    pub of: NumberOf,
    pub number: u64,
    pub(super) at: ByteSpan,
}

/// What a number is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NumberOf {
    /// What a register begins with.
    Register { thread: usize, name: String },
    /// How many arrivals an mbarrier object expects, or one in an array.
    Arrivals { object: String, element: usize, array: bool },
}

/// The numbers between the braces.
pub(super) fn numbers(init: Cursor<'_>, test: &Test) -> Vec<InitialNumber> {
    let written = init.text;
    let mut all = Vec::new();
    for entry in init.rest().split(|token| token.is(written, ";")) {
        let number = |token: &Token| {
            let digits = (token.kind == TokenKind::Number).then(|| token.at.of(written))?;
            Some((digits.parse::<u64>().ok()?, token.at))
        };
        if let [thread, colon, name, equals, value] = entry
            && colon.is(written, ":")
            && equals.is(written, "=")
            && let Some((number, at)) = number(value)
        {
            let thread = thread.at.of(written);
            let threads = test.program.threads.iter();
            let found = threads
                .enumerate()
                .find(|(index, of)| of.name == thread || index.to_string() == thread);
            if let Some((thread, _)) = found {
                let name = name.at.of(written).trim_start_matches('%').to_owned();
                all.push(InitialNumber { of: NumberOf::Register { thread, name }, number, at });
            }
        }
        let equals = entry.iter().position(|token| token.is(written, "="));
        let Some((declared, values)) = equals.map(|at| entry.split_at(at)) else { continue };
        let mut words = declared.iter().filter(|token| token.kind == TokenKind::Word);
        let of = |token: &&Token| {
            let variables = test.declarations.variables.iter().zip(&test.program.variables);
            let name = token.at.of(written);
            variables.into_iter().any(|(of, variable)| of.mbarrier && variable.name == name)
        };
        let Some(object) = words.find(of).map(|token| token.at.of(written).to_owned()) else {
            continue;
        };
        // Of `{{1}, {2}}`, each number after a brace.
        let pairs = values.windows(2).filter(|pair| pair[0].is(written, "{"));
        let counts = pairs.filter_map(|pair| number(&pair[1]));
        let array = declared.iter().any(|token| token.is(written, "["));
        all.extend(counts.enumerate().map(|(element, (number, at))| InitialNumber {
            of: NumberOf::Arrivals { object: object.clone(), element, array },
            number,
            at,
        }));
    }
    all
}
