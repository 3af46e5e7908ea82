//! Listings as `nvdisasm` and `cuobjdump -sass` print them: functions, labels, instructions.
//!
//! Everything else in a listing is ignored: data sections, line tables, headers. A file that has only
//! instructions, one per line, is a listing of one function without a name.

use super::parse;
use super::single::{self, ReadOptions};
use super::syntax::Instruction;
use text::diagnostic::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// What a file lists.
#[derive(Debug, Default)]
pub struct Listing<'a> {
    /// The number after `sm_`, if the listing has it.
    pub sm: Option<u16>,
    pub functions: Vec<Function<'a>>,
    /// Instructions that cannot be read, or break a rule.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of these could not be read.
    pub unread: usize,
}

#[derive(Debug, Default)]
pub struct Function<'a> {
    /// Empty in a file of instructions alone.
    pub name: &'a str,
    /// Where it begins in the file, from 1.
    pub line: usize,
    pub lines: Vec<ListingLine<'a>>,
}

#[derive(Debug)]
pub struct ListingLine<'a> {
    /// In the file, from 1.
    pub number: usize,
    /// In the function, if the listing shows it.
    pub address: Option<u64>,
    pub labels: Vec<&'a str>,
    pub instruction: Instruction<'a>,
    /// The words of the instruction, the lower first, if the listing shows them.
    pub words: Vec<u64>,
}

/// Reads a listing; `path` is for the messages. With an architecture, its rules are checked.
pub fn listing<'a>(path: &str, text: &'a str, arch: Option<u16>) -> Listing<'a> {
    let mut reader = ListingReader {
        text,
        report: Diagnostics::of_many(),
        listing: Listing::default(),
        labels: Vec::new(),
        bare: is_bare(text),
        code: false,
        data: false,
        arch,
    };
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        reader.line(index + 1, ByteSpan::new(start, start + line.len()));
        start += line.len();
    }
    let ListingReader { report, mut listing, .. } = reader;
    listing.functions.retain(|function| !function.lines.is_empty());
    listing.diagnostics = report.finish(path, text);
    listing
}

/// Whether no line is what only a disassembler prints.
fn is_bare(text: &str) -> bool {
    !text.lines().any(|line| {
        let line = line.trim_start();
        let heading = ["Function :", ".section", ".headerflags", "code for sm_"];
        heading.iter().any(|start| line.starts_with(start)) || address(line).is_some()
    })
}

/// `/*0010*/` at the beginning, and the bytes that it takes.
fn address(line: &str) -> Option<(u64, usize)> {
    let digits = line.strip_prefix("/*")?.split_once("*/")?.0;
    let plain = digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let address = u64::from_str_radix(digits, 16).ok().filter(|_| plain)?;
    Some((address, digits.len() + 4))
}

/// The words in comments, as `/* 0x000fe20000000800 */`.
fn words(line: &str) -> impl Iterator<Item = u64> + '_ {
    let comments = line.split("/*").skip(1).filter_map(|rest| rest.split("*/").next());
    comments.filter_map(|inside| u64::from_str_radix(inside.trim().strip_prefix("0x")?, 16).ok())
}

struct ListingReader<'a> {
    text: &'a str,
    report: Diagnostics,
    listing: Listing<'a>,
    /// In front of the next instruction.
    labels: Vec<&'a str>,
    /// Whether there is nothing but instructions.
    bare: bool,
    /// Whether this is a part of a function.
    code: bool,
    /// Whether this is a section of something else.
    data: bool,
    arch: Option<u16>,
}

impl<'a> ListingReader<'a> {
    fn line(&mut self, number: usize, at: ByteSpan) {
        let whole = at.of(self.text);
        let line = whole.trim();
        let start = at.start as usize + (whole.len() - whole.trim_start().len());
        let here = ByteSpan::new(start, start + line.len());
        if line.is_empty() || self.heading(number, line) || self.data {
            return;
        }
        if let Some(label) = label(line) {
            let of_function = self.listing.functions.last().map_or("", |function| function.name);
            if label.strip_prefix(".text.").unwrap_or(label) != of_function {
                self.labels.push(label);
            }
            return;
        }
        if let Some((address, length)) = address(line) {
            self.code = true;
            self.instructions(number, Some(address), here, length);
        } else if line.starts_with("/*") {
            let all = self.listing.functions.last_mut();
            let last = all.and_then(|function| function.lines.last_mut());
            if let Some(last) = last {
                last.words.extend(words(line));
            }
        } else if self.bare && !line.starts_with("//") || self.code && looks_like_code(line) {
            self.instructions(number, None, here, 0);
        }
    }

    /// A line that starts a section or a function.
    fn heading(&mut self, at: usize, line: &'a str) -> bool {
        let name = |rest: &'a str| rest.trim_start_matches([' ', ':', '\t']);
        if let Some(rest) = line.strip_prefix("Function :") {
            self.begin(at, name(rest));
        } else if let Some(rest) = line.strip_prefix(".section")
            && rest.starts_with([' ', '\t'])
        {
            let section = name(rest).split([',', ' ', '\t']).next().unwrap_or("");
            (self.code, self.data) = (false, true);
            if let Some(function) = section.strip_prefix(".text.") {
                self.begin(at, function);
            }
        } else if let Some(rest) =
            line.strip_prefix("code for sm_").or_else(|| line.strip_prefix("arch = sm_"))
        {
            self.listing.sm = number(rest);
        } else if let Some((_, rest)) = line.split_once("EF_CUDA_SM") {
            self.listing.sm = number(rest);
        } else if let Some(rest) = line.strip_prefix(".target").map(name)
            && let Some(digits) = rest.strip_prefix("sm_")
        {
            self.listing.sm = number(digits);
        } else {
            // Directives begin with a dot, as labels do that end with a colon.
            return line.starts_with('.') && !line.ends_with(':');
        }
        true
    }

    fn begin(&mut self, line: usize, name: &'a str) {
        (self.code, self.data) = (true, false);
        self.labels.clear();
        self.listing.functions.push(Function { name, line, lines: Vec::new() });
    }

    /// The instructions of a line: one, or two in braces where two are issued at once.
    fn instructions(&mut self, number: usize, address: Option<u64>, at: ByteSpan, skip: usize) {
        let mut part = ByteSpan { start: at.start + u32::try_from(skip).unwrap_or(0), ..at };
        let body = part.of(self.text);
        let inside = parse::inside_pair(body);
        part.start += u32::try_from(body.len() - inside.len()).unwrap_or(0);
        if let Some(close) = parse::unopened(inside) {
            part.end = part.start + u32::try_from(close).unwrap_or(0);
        }
        let before = self.report.count();
        let all = parse::read(self.text, part, &mut self.report);
        self.listing.unread += self.report.count() - before;
        if self.arch.is_some() {
            let options = ReadOptions { sm: self.arch, registers: None };
            for instruction in &all {
                single::check(instruction, options, &mut self.report);
            }
        }
        if self.listing.functions.is_empty() {
            self.listing.functions.push(Function::default());
        }
        let found: Vec<u64> = words(at.of(self.text)).collect();
        let function = self.listing.functions.last_mut().expect("there is one");
        for instruction in all {
            let labels = std::mem::take(&mut self.labels);
            let words = found.clone();
            function.lines.push(ListingLine { number, address, labels, instruction, words });
        }
    }
}

/// `.L_x_1:`, `_Z3fooPi:`
fn label(line: &str) -> Option<&str> {
    let name = line.split("//").next().unwrap_or(line).trim_end().strip_suffix(':')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

fn number(text: &str) -> Option<u16> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

/// A line without an address that is an instruction all the same.
fn looks_like_code(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_uppercase() || c == '@' || c == '{') && line.contains(';')
}
