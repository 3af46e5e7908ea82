//! A module of LLVM IR: its types, its variables, and its functions.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

use super::body;
use super::function;
use super::lex::{self, Token};
use super::operand::Value;
use super::parse::{LineError, LineResult, Parser};
use super::step::Block;
use super::ty::{Ty, Types};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

/// A variable of the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Global<'a> {
    pub(super) ty: Ty,
    pub(super) space: u32,
    pub(super) constant: bool,
    /// Whether its initial value is other than zeros.
    pub(super) initialized: bool,
    /// The string that it holds, as it is written.
    pub(super) text: Option<&'a str>,
    /// Whether another module defines it, so that it may be larger than its type.
    pub(super) external: bool,
    /// Its unsupported property, if any: an alias, or thread-local storage.
    pub(super) unusual: Option<&'static str>,
}

/// A parameter of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SignatureParameter<'a> {
    pub(super) ty: Ty,
    /// The name without its prefix; empty if its number is implicit.
    pub(super) name: &'a str,
    pub(super) attributes: Vec<&'a str>,
    /// The type of the memory that the caller copies for it: `byval(T)`.
    pub(super) copied: Option<Ty>,
    /// The alignment in bytes of what it points to.
    pub(super) alignment: Option<u64>,
}

/// A function that the module defines.
#[derive(Clone, Debug)]
pub(super) struct FunctionDefinition<'a> {
    pub(super) name: &'a str,
    pub(super) at: ByteSpan,
    pub(super) kernel: bool,
    pub(super) variadic: bool,
    /// Whether no other module can refer to it.
    internal: bool,
    pub(super) result: Ty,
    pub(super) parameters: Vec<SignatureParameter<'a>>,
    /// The words after the parameters: attributes, and names of groups of attributes.
    attributes: Vec<&'a str>,
    /// The lines between its braces.
    body: Vec<Vec<Token>>,
}

#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    pub(super) types: Types<'a>,
    pub(super) globals: BTreeMap<&'a str, Global<'a>>,
    /// The words that denote these variables.
    pub(super) words: BTreeSet<String>,
    /// The words that denote several variables.
    pub(super) ambiguous: BTreeSet<String>,
    pub(super) functions: Vec<FunctionDefinition<'a>>,
    /// Whether the module is compiled so that subnormal floats are flushed: the flag `nvvm-reflect-ftz`.
    pub(super) flushes: bool,
    /// The words before the name and after the parameters of each function that it declares.
    pub(super) declared: BTreeMap<&'a str, Vec<&'a str>>,
    /// The groups of attributes, by name: `#0`.
    pub(super) attributes: BTreeMap<&'a str, Vec<&'a str>>,
    /// Functions that annotations declare as kernels.
    kernels: BTreeSet<&'a str>,
}

/// First words of lines of a module that do not affect the behaviour of its functions.
const IGNORED: &[&str] = &["source_filename", "declare", "attributes", "module", "uselistorder"];

/// The tokens of the next definition or declaration, which may span several lines. Of a function only the first
/// line.
fn entry(text: &str, lines: &mut Peekable<impl Iterator<Item = Vec<Token>>>) -> Option<Vec<Token>> {
    let mut tokens = lines.next()?;
    while body::depth(text, &tokens) > 0 && tokens[0].at.of(text) != "define" {
        let Some(more) = lines.next() else { break };
        tokens.extend(more);
    }
    if tokens[0].at.of(text).starts_with('@') {
        // The value of a variable may begin on the next line.
        while let Some(more) = lines.next_if(|more| !begins(text, more)) {
            tokens.extend(more);
        }
    }
    Some(tokens)
}

/// Whether a line of a module begins a definition or a declaration.
fn begins(text: &str, line: &[Token]) -> bool {
    let first = line[0].at.of(text);
    IGNORED.contains(&first)
        || matches!(first, "define" | "target")
        || first.starts_with(['@', '%', '!', '$', '^'])
        || first.starts_with("uselistorder")
}

/// Calling conventions of kernels, by name and number.
const KERNEL: &[&str] = &["ptx_kernel", "71"];

/// Reads everything but the bodies of functions.
pub(super) fn read<'a>(text: &'a str, report: &mut Diagnostics) -> Module<'a> {
    let lines = lex::lines(text, report);
    let mut module = Module::default();
    let mut annotations = Vec::new();
    let mut nodes: BTreeMap<&'a str, &'a str> = BTreeMap::new();
    let mut parser = Parser::new(text, report);
    let mut lines = lines.into_iter().peekable();
    while let Some(tokens) = entry(text, &mut lines) {
        parser.begin(tokens);
        let first = parser.text_at(0);
        let second = parser.text_at(1);
        let read = match first {
            "define" => {
                let (header, body, closed) =
                    parts(text, std::mem::take(&mut parser.tokens), &mut lines);
                if !closed {
                    let at = header.first().map_or(ByteSpan::default(), |token| token.at);
                    parser.report.error("llvm-define", at, "unterminated function").help("}");
                }
                parser.begin(header);
                parser.define(body).map(|function| module.functions.push(function))
            }
            "target" => {
                let layout = parser.tokens.last().map_or("", |token| token.at.of(text));
                if second == "datalayout" {
                    module.types.lay_out(layout.trim_matches('"'));
                }
                Ok(())
            }
            "!nvvm.annotations" => {
                annotations.extend(parser.tokens.iter().map(|token| token.at.of(text)));
                Ok(())
            }
            _ if IGNORED.contains(&first)
                || first.starts_with(['!', '$', '^'])
                || first.starts_with("uselistorder") =>
            {
                let word = |token: &Token| token.at.of(text);
                if parser.tokens.iter().any(|token| word(token) == "\"nvvm-reflect-ftz\"") {
                    module.flushes = parser.tokens.iter().rev().any(|token| word(token) == "1")
                        && !parser.tokens.iter().rev().any(|token| word(token) == "0");
                }
                parser.declares(first, &mut module);
                if first.starts_with('!') && parser.tokens.iter().any(|t| word(t) == "\"kernel\"") {
                    let named = parser.tokens.iter().find(|token| word(token).starts_with('@'));
                    nodes.extend(named.map(|token| (first, quoted(text, token.at))));
                }
                Ok(())
            }
            _ if first.starts_with('%') => parser.type_definition(&mut module),
            _ if first.starts_with('@') => {
                let before = parser.report.count();
                let read = parser.global(&mut module);
                // A variable that cannot be read refuses only the functions that use it.
                let has = |word: &str| parser.tokens.iter().any(|token| token.at.of(text) == word);
                let whole = (has("global") || has("constant")) && !has("define");
                if whole && (read.is_err() || parser.report.count() > before) {
                    parser.report.forget(before);
                    let (ty, unusual) =
                        (Ty::Other, Some("a variable of this type or with this value"));
                    let global = Global {
                        ty,
                        space: 0,
                        constant: false,
                        initialized: true,
                        text: None,
                        external: false,
                        unusual,
                    };
                    parser.next = 0;
                    parser.name().map(|name| drop(module.globals.insert(name, global)))
                } else {
                    read
                }
            }
            _ => {
                let known = ["define", "declare", "target", "attributes", "source_filename"];
                let near = parser.report.nearest(first, known);
                let message = format!("unexpected `{}` at the top level of a module", short(first));
                let at = parser.here();
                parser.report.error("llvm-module", at, message).help_if(near.map(str::to_owned));
                Ok(())
            }
        };
        if let Err(LineError::Uncovered(what)) = read {
            let at = parser.here();
            parser.report.error("llvm-module", at, format!("`{}` is not supported", short(what)));
        }
    }
    defined_once(&mut module, report);
    for name in module.globals.keys() {
        let word = function::word(name);
        if !module.words.insert(word.clone()) {
            module.ambiguous.insert(word);
        }
    }
    module.kernels = annotations.iter().filter_map(|node| nodes.get(node).copied()).collect();
    for function in &mut module.functions {
        function.kernel |= module.kernels.contains(function.name);
    }
    module
}

/// Reports further definitions of a function, and removes them.
fn defined_once(module: &mut Module<'_>, report: &mut Diagnostics) {
    let mut names = BTreeSet::new();
    module.functions.retain(|FunctionDefinition { name, at, .. }| {
        let first = names.insert(*name);
        if !first {
            let message = format!("a second definition of `@{}`", short(name));
            report.error("llvm-define", *at, message);
        }
        first
    });
}

impl Module<'_> {
    /// Whether a function may take subnormal singles as zeros: by `denormal-fp-math`, by its form for singles, which decides
    /// if there is one, or by `denormal_fpenv`.
    pub(super) fn flushes_singles(&self, function: &FunctionDefinition<'_>) -> bool {
        let mut words: Vec<&str> = Vec::new();
        for word in &function.attributes {
            match self.attributes.get(word) {
                Some(group) => words.extend(group),
                None => words.push(word),
            }
        }
        let after = |name: &str| {
            let at = words.iter().position(|word| word.trim_matches('"') == name)?;
            Some(&words[at + 1..])
        };
        let flushes = |word: &str| {
            ["preserve-sign", "positive-zero", "preservesign", "positivezero", "dynamic"]
                .iter()
                .any(|mode| word.contains(mode))
        };
        let named = ["denormal-fp-math-f32", "denormal-fp-math"].into_iter().find_map(after);
        if let Some(rest) = named {
            return rest.iter().find(|word| **word != "=").is_some_and(|mode| flushes(mode));
        }
        let Some(rest) = after("denormal_fpenv") else { return false };
        let end = rest.iter().position(|word| *word == ")").unwrap_or(rest.len());
        let modes = &rest[..end];
        let singles = modes.iter().position(|word| word.starts_with("float"));
        modes[singles.unwrap_or(0)..].iter().any(|mode| flushes(mode))
    }
}

impl<'a> FunctionDefinition<'a> {
    /// The name that `llc` gives it. Names in PTX have no dots.
    pub(super) fn symbol(&self) -> String {
        if self.internal { self.name.replace(['.', '@'], "_$_") } else { self.name.to_owned() }
    }

    pub(super) fn blocks(&self, text: &'a str, report: &mut Diagnostics) -> Vec<Block<'a>> {
        body::read(text, &self.body, report)
    }
}

/// The name of a global at a token. If the name is quoted, it follows the token.
fn quoted(text: &str, at: ByteSpan) -> &str {
    let word = at.of(text);
    if word.len() > 1 {
        return &word[1..];
    }
    let rest = text[at.end as usize..].strip_prefix('"').unwrap_or("");
    &rest[..rest.find('"').unwrap_or(0)]
}

/// The header and the lines of the function that begins with these tokens, and whether it is closed.
fn parts(
    text: &str,
    first: Vec<Token>,
    lines: &mut impl Iterator<Item = Vec<Token>>,
) -> (Vec<Token>, Vec<Vec<Token>>, bool) {
    let sign =
        |token: &Token, sign: &str| token.kind == lex::TokenKind::Sign && token.at.of(text) == sign;
    let mut header = first;
    // The brace that opens the body is the one that is not closed.
    let open = |tokens: &[Token]| {
        let mut depth = 0_i64;
        let mut last = None;
        for (index, token) in tokens.iter().enumerate() {
            match token.at.of(text) {
                "{" if token.kind == lex::TokenKind::Sign => {
                    if depth == 0 {
                        last = Some(index);
                    }
                    depth += 1;
                }
                "(" if token.kind == lex::TokenKind::Sign => depth += 1,
                "}" | ")" if token.kind == lex::TokenKind::Sign => depth -= 1,
                _ => {}
            }
        }
        let closed = depth == 0 && tokens.last().is_some_and(|token| sign(token, "}"));
        last.filter(|_| depth > 0 || closed)
    };
    let mut body = Vec::new();
    let begin = loop {
        if let Some(begin) = open(&header) {
            break begin;
        }
        match lines.next() {
            Some(more) if more[0].at.of(text) != "define" => header.extend(more),
            _ => return (header, body, false),
        }
    };
    let mut line = header.split_off(begin);
    line.remove(0);
    let mut depth = 1;
    loop {
        let change: i64 = line
            .iter()
            .map(|token| i64::from(sign(token, "{")) - i64::from(sign(token, "}")))
            .sum();
        depth += change;
        let closed = depth <= 0;
        if closed && line.last().is_some_and(|token| sign(token, "}")) {
            line.pop();
        }
        if !line.is_empty() {
            body.push(line);
        }
        if closed {
            return (header, body, true);
        }
        match lines.next() {
            Some(next) => line = next,
            None => return (header, body, false),
        }
    }
}

impl<'a> Parser<'a, '_> {
    /// `declare i32 @f(ptr) #0` or `attributes #0 = { nosync }`.
    fn declares(&mut self, first: &str, module: &mut Module<'a>) {
        let words: Vec<&'a str> = self.tokens.iter().map(|token| token.at.of(self.text)).collect();
        if first == "attributes" {
            let name = words.get(1).copied().unwrap_or_default();
            module.attributes.insert(name, words[2.min(words.len())..].to_vec());
        }
        let name = words.iter().position(|word| word.starts_with('@'));
        if let (Some(at), true) = (name, first == "declare") {
            self.next = at;
            if let Ok(name) = self.name() {
                let end = words.iter().rposition(|word| *word == ")").unwrap_or(at);
                // The parenthesis of `memory(none)` is not the end of the parameters.
                let open = words.iter().enumerate().skip(at).find(|(_, word)| **word == "(");
                let mut depth = 0;
                let closed = words.iter().enumerate().skip(open.map_or(end, |(at, _)| at)).find(
                    |(_, word)| {
                        depth += i32::from(**word == "(") - i32::from(**word == ")");
                        depth == 0
                    },
                );
                let after = closed.map_or(end, |(at, _)| at);
                let words = words[..at].iter().chain(&words[after..]);
                module.declared.insert(name, words.copied().collect());
            }
        }
    }

    /// `%pair = type { i32, i32 }`
    fn type_definition(&mut self, module: &mut Module<'a>) -> LineResult<'a, ()> {
        let name = self.name()?;
        self.expect("=")?;
        self.expect("type")?;
        let ty = if self.eat("opaque") { None } else { Some(self.any_type()?) };
        module.types.define(name, ty);
        self.end()
    }

    /// `@x = internal addrspace(3) global i32 undef, align 4`
    fn global(&mut self, module: &mut Module<'a>) -> LineResult<'a, ()> {
        let name = self.name()?;
        self.expect("=")?;
        let mut global = Global {
            ty: Ty::Other,
            space: 0,
            constant: false,
            initialized: false,
            text: None,
            external: false,
            unusual: None,
        };
        loop {
            match self.text_at(0) {
                "" => {
                    self.expected("`global` or `constant`").help("@x = global i32 0");
                    return Err(LineError::Reported);
                }
                "addrspace" => {
                    global.space = self.space()?;
                    continue;
                }
                "external" | "extern_weak" => global.external = true,
                "thread_local" => global.unusual = Some("a thread-local variable"),
                "alias" | "ifunc" => {
                    global.unusual = Some("an alias of a variable");
                    module.globals.insert(name, global);
                    return Ok(());
                }
                "(" => {
                    self.group()?;
                    continue;
                }
                word @ ("global" | "constant") => {
                    global.constant = word == "constant";
                    self.next += 1;
                    break;
                }
                _ => {}
            }
            self.next += 1;
        }
        global.ty = self.any_type()?;
        if !matches!(self.text_at(0), "," | "") {
            let value = self.operand()?;
            let zeros =
                ["0", "zeroinitializer", "null", "undef", "poison", "false", "0.000000e+00"];
            if let Value::Text(text) = value {
                global.text = Some(text);
            }
            global.initialized = !matches!(value, Value::Literal(word) if zeros.contains(&word));
        }
        module.globals.insert(name, global);
        Ok(())
    }

    /// The line of a `define` up to its brace.
    fn define(&mut self, body: Vec<Vec<Token>>) -> LineResult<'a, FunctionDefinition<'a>> {
        let at = self.here();
        self.expect("define")?;
        let (mut kernel, mut internal) = (false, false);
        while !self.at_type() {
            let word = self.text_at(0);
            if word.is_empty() {
                self.expected("the type of the result").help("define void @f() {");
                return Err(LineError::Reported);
            }
            kernel |= KERNEL.contains(&word);
            internal |= matches!(word, "internal" | "private");
            self.next += 1;
            if self.text_at(0) == "(" {
                self.group()?;
            }
        }
        let result = self.any_type()?;
        if !self.text_at(0).starts_with('@') {
            self.expected("the name of the function").help("define void @f() {");
            return Err(LineError::Reported);
        }
        let name = self.name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        let mut variadic = false;
        while !self.eat(")") {
            if !parameters.is_empty() || variadic {
                self.expect(",")?;
            }
            if self.eat("...") {
                variadic = true;
                continue;
            }
            let ty = self.any_type()?;
            let (mut attributes, mut copied, mut alignment) = (Vec::new(), None, None);
            while !matches!(self.text_at(0), "," | ")" | "") && !self.text_at(0).starts_with('%') {
                let attribute = self.text_at(0);
                attributes.push(attribute);
                self.next += 1;
                if attribute == "align" {
                    // `align 8` or `align(8)`.
                    let number = self.text_at(usize::from(self.text_at(0) == "("));
                    alignment = number.parse().ok();
                }
                if attribute == "byval" && self.eat("(") {
                    copied = Some(self.any_type()?);
                    self.expect(")")?;
                } else if self.text_at(0) == "(" {
                    self.group()?;
                }
            }
            let name = if self.text_at(0).starts_with('%') { self.name()? } else { "" };
            parameters.push(SignatureParameter { ty, name, attributes, copied, alignment });
        }
        let rest = self.tokens[self.next.min(self.tokens.len())..].iter();
        let attributes = rest.map(|token| token.at.of(self.text)).collect();
        Ok(FunctionDefinition {
            name,
            at,
            kernel,
            variadic,
            internal,
            result,
            parameters,
            attributes,
            body,
        })
    }
}
