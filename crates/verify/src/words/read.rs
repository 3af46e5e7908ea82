//! Reads `producer(data, flag) @cta 0 || consumer(data, flag, n=4) @cta 1`.

use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

use crate::argument::is_number;

/// The functions that a test consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionWords {
    pub(crate) columns: Vec<WordsColumn>,
}

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WordsColumn {
    pub(crate) function: String,
    pub(crate) function_at: ByteSpan,
    pub(crate) arguments: Vec<WordsArgument>,
    /// `%tid.x=1`, without the `%`.
    pub(crate) specials: Vec<(String, u64)>,
    pub(crate) place: WordsPlace,
    pub(crate) place_at: ByteSpan,
}

/// `@cta 0,gpu 1`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct WordsPlace {
    pub(crate) warp: Option<u32>,
    pub(crate) cta: Option<u32>,
    pub(crate) cluster: Option<u32>,
    pub(crate) gpu: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WordsArgument {
    /// The parameter, if it is named.
    pub(crate) name: Option<String>,
    pub(crate) value: WordsValue,
    pub(crate) at: ByteSpan,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WordsValue {
    /// `4`, `-1`, `0x10`, `1.5`
    Number(String),
    /// `data`, `data[64]`, `u64 data[64]`, `&data+16`
    Location { name: String, ty: Option<String>, count: Option<u32>, offset: u64 },
    /// `{0: 5, 8: &data}`
    Fields(Vec<WordsField>),
}

/// A field of a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WordsField {
    /// In bytes.
    pub(crate) offset: u32,
    /// Not fields again.
    pub(crate) value: WordsValue,
    pub(crate) at: ByteSpan,
}

/// Reads words. `path` is for the messages.
pub(crate) fn read(path: &str, text: &str) -> Result<FunctionWords, Vec<Diagnostic>> {
    let mut reader = WordsReader { text, at: 0, report: Diagnostics::default() };
    let read = reader.words();
    read.map_err(|ErrorReported| reader.report.finish(path, text))
}

struct WordsReader<'w> {
    text: &'w str,
    at: usize,
    report: Diagnostics,
}

type WordsResult<T> = Result<T, ErrorReported>;

const EXAMPLE: &str = "'producer(data, flag) @cta 0 || consumer(data, flag, out) @cta 1'";

impl<'w> WordsReader<'w> {
    fn rest(&self) -> &'w str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn is(&mut self, sign: &str) -> bool {
        self.blank();
        self.rest().starts_with(sign)
    }

    /// The longest run of such characters.
    fn run(&mut self, is: impl Fn(char) -> bool) -> (&'w str, ByteSpan) {
        self.blank();
        let rest = self.rest();
        let end = rest.find(|c: char| !is(c)).unwrap_or(rest.len());
        let start = self.at;
        self.at += end;
        (&rest[..end], ByteSpan::new(start, self.at))
    }

    fn word(&mut self) -> Option<(&'w str, ByteSpan)> {
        self.blank();
        let starts =
            self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
        starts.then(|| self.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$'))
    }

    fn expected(&mut self, what: &str, help: &str) -> ErrorReported {
        self.blank();
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        let at = ByteSpan::new(self.at, self.at + next);
        let found = if next == 0 { ", found the end" } else { "" };
        self.report.error("words", at, format!("expected {what}{found}")).help(help);
        ErrorReported
    }

    fn words(&mut self) -> WordsResult<FunctionWords> {
        let mut columns = vec![self.column()?];
        while self.eat("||") {
            columns.push(self.column()?);
        }
        self.blank();
        if self.rest().is_empty() {
            return Ok(FunctionWords { columns });
        }
        Err(self.expected("`||`, `@` or the end", EXAMPLE))
    }

    fn column(&mut self) -> WordsResult<WordsColumn> {
        let (function, function_at) = self.function()?;
        let (mut arguments, mut specials) = (Vec::new(), Vec::new());
        if self.eat("(") && !self.eat(")") {
            loop {
                if self.is("%") {
                    specials.push(self.special()?);
                } else {
                    arguments.push(self.argument()?);
                }
                if self.eat(")") {
                    break;
                }
                if !self.eat(",") {
                    return Err(self.expected("`,` or `)`", EXAMPLE));
                }
            }
        }
        self.blank();
        let start = self.at;
        let place = if self.eat("@") { self.place()? } else { WordsPlace::default() };
        let place_at = ByteSpan::new(start, self.at);
        Ok(WordsColumn { function, function_at, arguments, specials, place, place_at })
    }

    /// A name may be demangled: it then may have blanks and `<…>`, and its parameters in parentheses.
    fn function(&mut self) -> WordsResult<(String, ByteSpan)> {
        self.blank();
        let start = self.at;
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                '(' | '@' | '|' | ',' | ')' if depth == 0 => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        // Two pairs of parentheses: the first has the types of parameters.
        if let Some(first) = closed(&rest[end..])
            && rest[end + first..].trim_start().starts_with('(')
        {
            end += first;
        }
        let name = rest[..end].trim_end();
        if name.is_empty() {
            return Err(self.expected("the name of a function", EXAMPLE));
        }
        self.at += end;
        Ok((name.to_owned(), ByteSpan::new(start, start + name.len())))
    }

    fn argument(&mut self) -> WordsResult<WordsArgument> {
        self.blank();
        let start = self.at;
        let mut name = None;
        if let Some((word, _)) = self.word() {
            if self.eat("=") {
                name = Some(word.to_owned());
            } else {
                self.at = start;
            }
        }
        let value = self.value()?;
        Ok(WordsArgument { name, value, at: ByteSpan::new(start, self.at) })
    }

    fn value(&mut self) -> WordsResult<WordsValue> {
        if self.is("{") { self.fields() } else { self.plain_value() }
    }

    /// `{0: 5, 8: &data}`
    fn fields(&mut self) -> WordsResult<WordsValue> {
        const HELP: &str = "{0: 5, 8: &data}";
        let mut all: Vec<WordsField> = Vec::new();
        self.eat("{");
        loop {
            self.blank();
            let start = self.at;
            let offset = self.number("the offset of a field in bytes", HELP)?;
            if !self.eat(":") {
                return Err(self.expected("`:`", HELP));
            }
            let value = self.plain_value()?;
            let at = ByteSpan::new(start, self.at);
            if all.iter().any(|field| field.offset == offset) {
                let why = format!("the field at {offset} is given twice");
                self.report.error("words", at, why).help(HELP);
                return Err(ErrorReported);
            }
            all.push(WordsField { offset, value, at });
            if self.eat("}") {
                return Ok(WordsValue::Fields(all));
            }
            if !self.eat(",") {
                return Err(self.expected("`,` or `}`", HELP));
            }
        }
    }

    fn plain_value(&mut self) -> WordsResult<WordsValue> {
        const HELP: &str = "a location: data, data[64], u64 data[64], &data+16; or a number";
        let is_address = self.eat("&") || self.eat("@");
        let negative = !is_address && self.is("-");
        let digit = self.rest().starts_with(|c: char| c.is_ascii_digit());
        if !is_address && (negative || digit) {
            let (number, at) = self.run(|c| c.is_ascii_alphanumeric() || "-+.".contains(c));
            if !is_number(number) {
                self.report.error("words", at, format!("`{number}` is not a number")).help("-1");
                return Err(ErrorReported);
            }
            return Ok(WordsValue::Number(number.to_owned()));
        }
        let Some((first, _)) = self.word() else {
            return Err(self.expected("an argument", HELP));
        };
        let (name, ty) = match self.word().filter(|_| !is_address) {
            Some((name, _)) => (name, Some(first.to_owned())),
            None => (first, None),
        };
        let mut count = None;
        if !is_address && self.eat("[") {
            count = Some(self.number("a number of elements", "data[64]")?);
            if !self.eat("]") {
                return Err(self.expected("`]`", "data[64]"));
            }
        }
        let offset =
            if self.eat("+") { self.number("a number of bytes", "&data+16")?.into() } else { 0 };
        Ok(WordsValue::Location { name: name.to_owned(), ty, count, offset })
    }

    fn number(&mut self, what: &str, help: &str) -> WordsResult<u32> {
        self.blank();
        let start = self.at;
        let (digits, _) = self.run(|c| c.is_ascii_alphanumeric());
        let read = match digits.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        read.map_err(|_| {
            self.at = start;
            self.expected(what, help)
        })
    }

    /// `%tid.x=1`
    fn special(&mut self) -> WordsResult<(String, u64)> {
        const HELP: &str = "%tid.x=1";
        self.eat("%");
        let (name, _) = self.run(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
        if name.is_empty() || !self.eat("=") {
            return Err(self.expected("a special register and its value", HELP));
        }
        Ok((name.to_owned(), self.number("a number", HELP)?.into()))
    }

    fn place(&mut self) -> WordsResult<WordsPlace> {
        const HELP: &str = "@cta 0 or @warp 0,cta 0,cluster 0,gpu 0";
        let mut place = WordsPlace::default();
        loop {
            let word = self.word();
            let level = match word.map(|(word, _)| word) {
                Some("warp") => &mut place.warp,
                Some("cta") => &mut place.cta,
                Some("cluster") => &mut place.cluster,
                Some("gpu") => &mut place.gpu,
                Some(_) | None => {
                    if let Some((_, at)) = word {
                        self.at = at.start as usize;
                    }
                    return Err(self.expected("`cta`, `gpu`, `warp` or `cluster`", HELP));
                }
            };
            let number = self.number("a number", HELP)?;
            if level.replace(number).is_some() {
                return Err(self.expected("each of `cta`, `gpu`, `warp` and `cluster` once", HELP));
            }
            if !self.eat(",") {
                return Ok(place);
            }
        }
    }
}

/// The length of what begins with a parenthesis, up to the one that closes it.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_functions_arguments_and_places() {
        let text = "f(data, u64 a[4], &a+8, n=-1, %tid.x=1) @cta 1,gpu 2 || ns::g<int>(int*, int)(data, 2) || h";
        let words = read("words", text).expect("it is right");
        let [f, g, h] = &words.columns[..] else { panic!("{words:?}") };
        assert_eq!((&f.function[..], f.arguments.len()), ("f", 4));
        assert_eq!((f.place.cta, f.place.gpu, f.place.warp), (Some(1), Some(2), None));
        assert_eq!(f.specials, [("tid.x".to_owned(), 1)]);
        assert_eq!((&g.function[..], g.arguments.len()), ("ns::g<int>(int*, int)", 2));
        assert_eq!((&h.function[..], h.arguments.len()), ("h", 0));
    }

    #[test]
    fn an_error_has_its_place() {
        for (text, column, what) in [
            ("", 1, "the name of a function, found the end"),
            ("f(data", 7, "`,` or `)`, found the end"),
            ("f(data) @block 0", 10, "`cta`, `gpu`, `warp` or `cluster`"),
            ("f(data) @cta x", 14, "a number"),
            ("f(data) | g", 9, "`||`, `@` or the end"),
            ("f(data[x])", 8, "a number of elements"),
            ("f(,)", 3, "an argument"),
            ("f(data) ||", 11, "the name of a function, found the end"),
        ] {
            let errors = read("words", text).expect_err(text);
            let first = &errors[0];
            assert_eq!(first.span.column, column, "{text}: {}", first.message);
            assert_eq!(first.message, format!("expected {what}"), "{text}");
            assert!(first.help.is_some(), "{text}");
        }
    }
}
