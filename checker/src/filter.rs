//! `--filter`: which tests of a run are judged.
//!
//! A filter is made of terms such as `name(MP)`, joined by `&`, `|`, `!` and parentheses. A pattern is a part of what it
//! matches, `=` and all of it, `#` and a glob of it (`*`, `?`), or a regular expression between slashes.

use litmus::Test;
use regex::{Regex, RegexBuilder};
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

/// Which tests are wanted.
#[derive(Debug)]
pub enum TestFilter {
    Term(FilterTerm),
    Not(Box<TestFilter>),
    All(Vec<TestFilter>),
    Any(Vec<TestFilter>),
}

#[derive(Debug)]
pub enum FilterTerm {
    Name(TextPattern),
    Path(TextPattern),
    Doc(TextPattern),
    /// Some instruction, with its guard and labels.
    Instruction(TextPattern),
    Condition(TextPattern),
    /// The number of threads.
    Threads(usize),
}

/// What a text is compared with.
#[derive(Debug)]
pub enum TextPattern {
    Part(String),
    Whole(String),
    /// A glob or a regular expression.
    Expression(Regex),
}

impl TextPattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            TextPattern::Part(part) => text.contains(part.as_str()),
            TextPattern::Whole(whole) => text == whole,
            TextPattern::Expression(expression) => expression.is_match(text),
        }
    }
}

const EXAMPLE: &str = "name(MP) & !instruction(fence) & threads(2)";
const TERMS: [&str; 6] = ["name", "path", "doc", "instruction", "condition", "threads"];
/// Parentheses and negations that are inside of each other, at most.
const DEEPEST: usize = 100;
/// Bytes of a compiled pattern, at most.
const LARGEST: usize = 1 << 20;

impl TestFilter {
    /// Reads a filter.
    ///
    /// # Errors
    /// The first error, whose path is `--filter`.
    pub fn read(text: &str) -> Result<TestFilter, Vec<Diagnostic>> {
        let mut reader = FilterReader { text, at: 0, depth: 0, report: Diagnostics::default() };
        let read = reader.any().and_then(|filter| {
            reader.blank();
            if reader.at == text.len() {
                Ok(filter)
            } else {
                Err(reader.expected("`&`, `|` or the end"))
            }
        });
        read.map_err(|ErrorReported| reader.report.finish("--filter", text))
    }

    /// Whether the filter excludes every test of a file with this path.
    pub fn excludes_path(&self, path: &str) -> bool {
        self.holds(path, None) == Some(false)
    }

    pub fn includes(&self, path: &str, test: &Test) -> bool {
        self.holds(path, Some(test)) == Some(true)
    }

    /// `None` if it depends on the test, which is not known.
    fn holds(&self, path: &str, test: Option<&Test>) -> Option<bool> {
        match self {
            TestFilter::Term(term) => term.holds(path, test),
            TestFilter::Not(inner) => inner.holds(path, test).map(|holds| !holds),
            TestFilter::All(all) => joined(all, false, path, test),
            TestFilter::Any(any) => joined(any, true, path, test),
        }
    }
}

/// One part that is `decisive` decides.
fn joined(parts: &[TestFilter], decisive: bool, path: &str, test: Option<&Test>) -> Option<bool> {
    let mut open = false;
    for part in parts {
        match part.holds(path, test) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => open = true,
        }
    }
    (!open).then_some(!decisive)
}

impl FilterTerm {
    fn holds(&self, path: &str, test: Option<&Test>) -> Option<bool> {
        if let FilterTerm::Path(pattern) = self {
            return Some(pattern.matches(path));
        }
        let test = test?;
        Some(match self {
            FilterTerm::Name(pattern) => pattern.matches(&test.name),
            FilterTerm::Path(pattern) => pattern.matches(path),
            FilterTerm::Doc(pattern) => test.doc.iter().any(|doc| pattern.matches(doc)),
            FilterTerm::Instruction(pattern) => {
                test.columns.iter().flatten().any(|cell| pattern.matches(cell))
            }
            FilterTerm::Condition(pattern) => pattern.matches(&test.condition_text),
            FilterTerm::Threads(count) => test.program.threads.len() == *count,
        })
    }
}

struct FilterReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    report: Diagnostics,
}

impl<'a> FilterReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, sign: char) -> bool {
        self.blank();
        let there = self.rest().starts_with(sign);
        if there {
            self.at += sign.len_utf8();
        }
        there
    }

    fn here(&self) -> ByteSpan {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        ByteSpan::new(self.at, self.at + length)
    }

    fn expected(&mut self, what: &str) -> ErrorReported {
        self.blank();
        self.report.error("filter", self.here(), format!("expected {what}")).help(EXAMPLE);
        ErrorReported
    }

    fn any(&mut self) -> Result<TestFilter, ErrorReported> {
        let mut parts = vec![self.all()?];
        while self.eat('|') {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, TestFilter::Any))
    }

    fn all(&mut self) -> Result<TestFilter, ErrorReported> {
        let mut parts = vec![self.one()?];
        while self.eat('&') {
            parts.push(self.one()?);
        }
        Ok(one_or(parts, TestFilter::All))
    }

    fn one(&mut self) -> Result<TestFilter, ErrorReported> {
        if self.depth == DEEPEST {
            return Err(self.expected("at most 100 parentheses and negations inside of each other"));
        }
        self.depth += 1;
        let read = if self.eat('!') {
            self.one().map(|inner| TestFilter::Not(Box::new(inner)))
        } else if self.eat('(') {
            self.any().and_then(|inner| {
                if self.eat(')') { Ok(inner) } else { Err(self.expected("`)`, `&` or `|`")) }
            })
        } else {
            self.term().map(TestFilter::Term)
        };
        self.depth -= 1;
        read
    }

    fn term(&mut self) -> Result<FilterTerm, ErrorReported> {
        self.blank();
        let start = self.at;
        let length =
            self.rest().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let at = ByteSpan::new(start, start + length);
        if word.is_empty() {
            return Err(self.expected("a term, such as `name(MP)`"));
        }
        if !TERMS.contains(&word) {
            let near = self
                .report
                .nearest(word, TERMS)
                .map_or(EXAMPLE.to_owned(), |near| format!("{near}(…)"));
            self.report
                .error("filter", at, format!("unknown term `{word}`"))
                .note(format!("the terms are {}", TERMS.join(", ")))
                .help(near);
            return Err(ErrorReported);
        }
        self.at += length;
        if !self.eat('(') {
            return Err(self.expected("`(` and a pattern"));
        }
        if word == "threads" {
            return self.threads();
        }
        let pattern = self.pattern()?;
        Ok(match word {
            "name" => FilterTerm::Name(pattern),
            "path" => FilterTerm::Path(pattern),
            "doc" => FilterTerm::Doc(pattern),
            "instruction" => FilterTerm::Instruction(pattern),
            _ => FilterTerm::Condition(pattern),
        })
    }

    fn threads(&mut self) -> Result<FilterTerm, ErrorReported> {
        self.blank();
        let length = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let Ok(count) = self.rest()[..length].parse() else {
            return Err(self.expected("a number of threads"));
        };
        self.at += length;
        if self.eat(')') { Ok(FilterTerm::Threads(count)) } else { Err(self.expected("`)`")) }
    }

    /// A pattern, and the parenthesis after it.
    fn pattern(&mut self) -> Result<TextPattern, ErrorReported> {
        self.blank();
        if self.eat('/') {
            let (start, length) = (self.at, regular(self.rest()));
            let Some(length) = length else {
                return Err(self.expected("`/` at the end of the regular expression"));
            };
            let written = &self.rest()[..length];
            self.at += length + 1;
            let expression = self.expression(written, ByteSpan::new(start, start + length))?;
            return if self.eat(')') { Ok(expression) } else { Err(self.expected("`)`")) };
        }
        let (whole, glob) = (self.eat('='), self.eat('#'));
        let start = self.at;
        let Some(length) = closing(self.rest()) else {
            self.at = self.text.len();
            return Err(self.expected("`)` at the end of the pattern"));
        };
        let written = self.rest()[..length].trim();
        self.at += length + 1;
        if written.is_empty() {
            self.at = start;
            return Err(self.expected("a pattern"));
        }
        Ok(if glob {
            let part = |c: char| match c {
                '*' => ".*".to_owned(),
                '?' => ".".to_owned(),
                other => regex::escape(&other.to_string()),
            };
            let text: String = written.chars().map(part).collect();
            self.expression(&format!("^(?s:{text})$"), ByteSpan::new(start, start + length))?
        } else if whole {
            TextPattern::Whole(written.to_owned())
        } else {
            TextPattern::Part(written.to_owned())
        })
    }

    fn expression(&mut self, text: &str, at: ByteSpan) -> Result<TextPattern, ErrorReported> {
        let built = RegexBuilder::new(text).size_limit(LARGEST).build();
        built.map(TextPattern::Expression).map_err(|error| {
            let why = error.to_string();
            let why =
                why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let message = "this is not a regular expression that can be used";
            self.report
                .error("filter", at, message)
                .note(why)
                .help("instruction(/ld\\.(acquire|relaxed)/)");
            ErrorReported
        })
    }
}

/// The length of a regular expression before the slash that ends it.
fn regular(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '/' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// The length of a pattern before its closing parenthesis; those that it opens are a part of it.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return Some(at),
            ')' => open -= 1,
            _ => {}
        }
        None
    })
}

fn one_or(
    mut parts: Vec<TestFilter>,
    join: impl FnOnce(Vec<TestFilter>) -> TestFilter,
) -> TestFilter {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test() -> Test {
        let text = "PTX MP+rel\n\"Message passing.\"\n{\nx=0;\n}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
                    st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [x] ;\nexists (1:r0=1)\n";
        litmus::parse("a/mp.litmus", text.as_bytes()).expect("it is a test")
    }

    #[test]
    fn terms_are_joined() {
        let test = test();
        for (text, wanted) in [
            ("name(MP)", true),
            ("name(=MP)", false),
            ("name(=MP+rel)", true),
            ("name(#MP*)", true),
            ("name(#P*)", false),
            ("name(#MP?rel)", true),
            ("name(/^M.*l$/)", true),
            ("path(a/) & threads(2)", true),
            ("path(b/) | threads(3)", false),
            ("doc(passing)", true),
            ("!instruction(ld.acquire)", false),
            ("instruction(fence) | !(name(SB) | path(b))", true),
            ("condition(1:r0=1)", true),
            ("condition(exists (1:r0=1))", true),
            ("path(b) & name(MP) | doc(Message)", true),
        ] {
            let filter = TestFilter::read(text).unwrap_or_else(|all| panic!("{text}: {}", all[0]));
            assert_eq!(filter.includes("a/mp.litmus", &test), wanted, "{text}");
        }
    }

    #[test]
    fn a_path_may_decide_alone() {
        let filter = |text| TestFilter::read(text).expect("it is a filter");
        assert!(filter("path(b) & name(MP)").excludes_path("a/mp.litmus"));
        assert!(!filter("path(b) | name(MP)").excludes_path("a/mp.litmus"));
        assert!(!filter("path(a) & name(MP)").excludes_path("a/mp.litmus"));
        assert!(filter("!(path(a) | name(MP))").excludes_path("a/mp.litmus"));
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_suggestion() {
        for (text, place, message) in [
            ("", "1:1", "a term"),
            ("nam(MP)", "1:1", "unknown term `nam`"),
            ("name", "1:5", "`(`"),
            ("name(MP", "1:8", "`)`"),
            ("name()", "1:6", "a pattern"),
            ("name(MP) name(SB)", "1:10", "`&`, `|` or the end"),
            ("name(/(/)", "1:7", "not a regular expression"),
            ("name(/a)", "1:7", "`/` at the end"),
            ("threads(two)", "1:9", "a number"),
            ("(name(MP)", "1:10", "`)`, `&` or `|`"),
        ] {
            let errors = TestFilter::read(text).expect_err(text);
            let shown = format!("{:#}", errors[0]);
            assert!(shown.contains(&format!("--filter:{place}")), "{text}: {shown}");
            assert!(shown.contains(message) && shown.contains("help"), "{text}: {shown}");
        }
        let deep = "!".repeat(500);
        assert!(
            TestFilter::read(&deep).expect_err("it is too deep")[0]
                .to_string()
                .contains("at most 100")
        );
    }
}
