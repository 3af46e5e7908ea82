//! Conditions as users write them, in the words of a litmus test.
//!
//! A test already takes `out[0]==4` and `[out]=4`, `&&` and `/\`, `||` and `\/`, `!` and `not`. What a function returns
//! has a name only here: `P0:return`.

use std::collections::BTreeSet;

use lift::function::Function;

/// What a condition says of outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordsQuestion {
    /// `~exists`
    Never,
    /// `forall`
    Always,
    /// `exists`
    Sometimes,
}

impl WordsQuestion {
    pub fn option(self) -> &'static str {
        match self {
            WordsQuestion::Never => "--never",
            WordsQuestion::Always => "--always",
            WordsQuestion::Sometimes => "--sometimes",
        }
    }

    fn quantifier(self) -> &'static str {
        match self {
            WordsQuestion::Never => "~exists",
            WordsQuestion::Always => "forall",
            WordsQuestion::Sometimes => "exists",
        }
    }

    /// The condition with its quantifier. `functions`: that of each column.
    pub(crate) fn quantified(self, condition: &str, functions: &[&Function]) -> String {
        format!("{} {}", self.quantifier(), in_words_of_tests(condition, functions))
    }
}

/// A condition in parentheses, with registers in the place of results. `functions`: that of each column.
pub(crate) fn in_words_of_tests(condition: &str, functions: &[&Function]) -> String {
    let mut out = String::from("(");
    let mut rest = condition.trim();
    while let Some(at) = rest.find(RESULT) {
        let (before, after) = rest.split_at(at);
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let column: Option<usize> = before[before.len() - digits..].parse().ok();
        let rest_of_word = &after[RESULT.len()..];
        let ends = !rest_of_word.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let function = column.filter(|_| ends).and_then(|column| functions.get(column));
        let register = function.and_then(|function| function.result.first());
        out.push_str(before);
        match register {
            Some(word) => {
                out.push(':');
                out.push_str(&word.register);
            }
            None => out.push_str(RESULT),
        }
        rest = rest_of_word;
    }
    out + rest + ")"
}

const RESULT: &str = ":return";

/// The words of conditions, which may be names of registers.
pub(crate) fn words_of<'c>(conditions: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = conditions.into_iter().flat_map(|text| text.split(move |c| !is_word(c)));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
