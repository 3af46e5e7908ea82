//! Conditions as users write them, in the words of a litmus test.
//!
//! A test already takes `out[0]==4` and `[out]=4`, `&&` and `/\`, `||` and `\/`, `!` and `not`. What a function returns
//! has a name only here: `P0:return`.

use std::collections::BTreeSet;

use lift::function::Function;
use text::Diagnostic;
use text::diagnostic::Span;
use text::report::{ByteSpan, Diagnostics};

use crate::compared::{self, ElementTypes, MistypedComparison, RewrittenWords};
use crate::launch::LaunchError;

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

    /// The condition with its quantifier.
    pub(crate) fn quantified(self, condition: &str, scope: ConditionScope<'_>) -> String {
        format!("{} {}", self.quantifier(), in_words_of_tests(condition, scope))
    }
}

/// What the names of a condition mean.
#[derive(Clone, Copy)]
pub(crate) struct ConditionScope<'s> {
    /// That of each column.
    pub(crate) functions: &'s [&'s Function],
    pub(crate) types: &'s ElementTypes,
}

/// A condition in parentheses, with registers in the place of results, and comparisons of bits in that of typed ones.
pub(crate) fn in_words_of_tests(condition: &str, scope: ConditionScope<'_>) -> String {
    RewrittenCondition::new("", condition.trim(), scope).text
}

/// Reads a condition of a test, whose text has another one. The errors point into the words of the user.
pub(crate) fn check(
    test: &str,
    question: WordsQuestion,
    condition: &str,
    scope: ConditionScope<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let path = question.option();
    let empty = condition.trim().is_empty().then_some((0, 0, "there is no condition"));
    let closes = closes_nothing(condition);
    let closes = closes.map(|at| (at, at + 1, "this parenthesis closes nothing"));
    if let Some((start, end, why)) = empty.or(closes) {
        let mut report = Diagnostics::default();
        report.error("syntax", ByteSpan::new(start, end), why).help("out[0]=1 && flag!=0");
        return Err(report.finish(path, condition));
    }
    if let Err(MistypedComparison { at, error }) = compared::typed(condition, scope.types) {
        let mut report = Diagnostics::default();
        let at = ByteSpan::new(at.start, at.end);
        report.error("type", at, error.message).help_if(error.help);
        return Err(report.finish(path, condition));
    }
    let rewritten =
        RewrittenCondition::new(&format!("{} ", question.quantifier()), condition, scope);
    let read = litmus::parse_question(path, test.as_bytes(), &rewritten.text);
    read.map(|_| ()).map_err(|diagnostics| {
        let moved = |of: Diagnostic| {
            let mut of = of.moved(path, condition, |span| rewritten.place(span));
            // Where a function has a result, its register stands here.
            if of.code == "unknown-register" && of.message.ends_with("`return`") {
                let why = "only a `.func` with a result returns something";
                of.help = Some(why.to_owned());
            }
            // Nobody writes an initial state here.
            if of.code == "undeclared" {
                "no argument and no variable has this name".clone_into(&mut of.note);
                let near = of.help.as_deref().and_then(|help| help.split_once('?'));
                of.help = near.map(|(near, _)| format!("{near}?"));
            }
            of
        };
        diagnostics.into_iter().map(moved).collect()
    })
}

/// Checks assertions of a launch whose test cannot be read.
pub(crate) fn asserted(
    test: &str,
    assertions: &[String],
    scope: ConditionScope<'_>,
) -> Result<(), Vec<LaunchError>> {
    let mut errors = Vec::new();
    for assertion in assertions {
        let checked = check(test, WordsQuestion::Always, assertion, scope);
        errors.extend(checked.err().unwrap_or_default().into_iter().map(|of| {
            let why = format!("the assertion `{assertion}`: {}", of.message);
            LaunchError { message: why, line: None, help: of.help }
        }));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks what the assertions of a launch compare.
pub(crate) fn compared(
    assertions: &[String],
    types: &ElementTypes,
) -> Result<(), Vec<LaunchError>> {
    let wrong = |assertion: &String| {
        let MistypedComparison { error, .. } = compared::typed(assertion, types).err()?;
        let message = format!("the assertion `{assertion}`: {}", error.message);
        Some(LaunchError { message, ..error })
    };
    let errors: Vec<LaunchError> = assertions.iter().filter_map(wrong).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The place of a parenthesis before which none is open.
fn closes_nothing(condition: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in condition.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A condition in the words of tests, and where its parts are in the words of the user.
struct RewrittenCondition {
    text: String,
    parts: Vec<RewrittenPart>,
}

/// A part that is the same in both texts, or the name of a register in the place of `:return`.
struct RewrittenPart {
    start: usize,
    of_user: ByteSpan,
}

impl RewrittenCondition {
    /// `before`: what comes before the parenthesis.
    fn new(before: &str, condition: &str, scope: ConditionScope<'_>) -> RewrittenCondition {
        let mut text = format!("{before}(");
        let mut parts = Vec::new();
        let mut at = 0;
        let mut part = |text: &mut String, written: &str, end: usize| {
            parts.push(RewrittenPart { start: text.len(), of_user: ByteSpan::new(at, end) });
            text.push_str(written);
            at = end;
        };
        let typed = compared::typed(condition, scope.types).unwrap_or_default();
        let mut changed = results(condition, scope.functions);
        changed.extend(typed);
        changed.sort_by_key(|of| of.at.start);
        let mut from = 0;
        for RewrittenWords { at, text: new } in changed {
            part(&mut text, &condition[from..at.start], at.start);
            part(&mut text, &new, at.end);
            from = at.end;
        }
        part(&mut text, &condition[from..], condition.len());
        text.push(')');
        RewrittenCondition { text, parts }
    }

    /// Where a span of the text is in the words of the user; `None` before them.
    fn place(&self, span: Span) -> Option<ByteSpan> {
        let end = ByteSpan::new(self.text.len(), self.text.len());
        let line = ByteSpan::of_line(&self.text, span.line).unwrap_or(end);
        let offset = |column: usize| {
            let inside = line.of(&self.text);
            let found = inside.char_indices().nth(column - 1);
            line.start as usize + found.map_or(inside.len(), |(at, _)| at)
        };
        let of_user = |offset: usize| {
            let part = self.parts.iter().rfind(|part| part.start <= offset)?;
            let of = part.of_user;
            Some((of.start as usize + offset - part.start).min(of.end as usize))
        };
        let start = of_user(offset(span.column))?;
        let end = of_user(offset(span.column + span.length))?;
        Some(ByteSpan::new(start, end.max(start)))
    }
}

const RESULT: &str = ":return";

/// What functions return, as registers. `functions`: that of each column.
fn results(condition: &str, functions: &[&Function]) -> Vec<RewrittenWords> {
    let register = |(start, _): (usize, &str)| {
        let end = start + RESULT.len();
        let before = &condition[..start];
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let column: Option<usize> = before[start - digits..].parse().ok();
        let rest = &condition[end..];
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let function = functions.get(column.filter(|_| ends)?)?;
        let word = function.result.first()?;
        Some(RewrittenWords { at: start..end, text: format!(":{}", word.register) })
    };
    condition.match_indices(RESULT).filter_map(register).collect()
}

/// The words of conditions, which may be names of registers.
pub(crate) fn words_of<'c>(conditions: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = conditions.into_iter().flat_map(|text| text.split(move |c| !is_word(c)));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
