//! Parses a file of cat to statements; anything else is reported and skipped.

use super::lex::{Token, TokenKind};
use super::syntax::{AxiomTest, CatFile, Expr, ExprKind, Statement};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

pub(super) fn file<'t>(
    tokens: &'t [Token<'t>],
    end: ByteSpan,
    report: &mut Diagnostics,
) -> CatFile<'t> {
    let mut parser = Parser { tokens, next: 0, end, depth: 0, report };
    let title = parser.title();
    let mut statements = Vec::new();
    while parser.peek().is_some() {
        let before = parser.next;
        if parser.statement(&mut statements).is_none() {
            // Every statement begins with a keyword that stands nowhere else.
            parser.next = parser.next.max(before + 1);
            while parser.peek().is_some_and(|token| !begins_statement(token)) {
                parser.next += 1;
            }
        }
    }
    CatFile { title, statements }
}

const STATEMENTS: &[&str] = &[
    "let",
    "acyclic",
    "irreflexive",
    "empty",
    "flag",
    "include",
    "show",
    "unshow",
    "procedure",
    "call",
    "with",
    "enum",
    "instructions",
    "default",
    "match",
    "forall",
    "debug",
    "undefined_unless",
    "if",
];

fn begins_statement(token: Token<'_>) -> bool {
    token.kind == TokenKind::Keyword && STATEMENTS.contains(&token.text)
}

pub(super) struct Parser<'t, 'r> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) next: usize,
    end: ByteSpan,
    pub(super) depth: usize,
    pub(super) report: &'r mut Diagnostics,
}

impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.next).copied()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text)
    }

    pub(super) fn eat(&mut self, text: &str) -> Option<ByteSpan> {
        let token = self.peek().filter(|token| token.text == text)?;
        self.next += 1;
        Some(token.at)
    }

    pub(super) fn here(&self) -> ByteSpan {
        self.peek().map_or(self.end, |token| token.at)
    }

    pub(super) fn expected(&mut self, what: &str) {
        let message = match self.peek() {
            Some(token) => format!("expected {what}, found `{}`", short(token.text)),
            None => format!("{what} is missing"),
        };
        self.report.error("syntax", self.here(), message).note(format!("expected {what}"));
    }

    pub(super) fn demand(&mut self, text: &str) -> Option<ByteSpan> {
        let found = self.eat(text);
        if found.is_none() {
            self.expected(&format!("`{text}`"));
        }
        found
    }

    pub(super) fn name(&mut self, what: &str) -> Option<(&'t str, ByteSpan)> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Name && token.text != "_" => {
                self.next += 1;
                Some((token.text, token.at))
            }
            _ => {
                self.expected(what);
                None
            }
        }
    }

    /// An architecture, a title, both or nothing; herd knows a model by the title.
    fn title(&mut self) -> Option<&'t str> {
        let architecture = self.peek().filter(|token| token.kind == TokenKind::Name);
        self.next += usize::from(architecture.is_some());
        let title = self.peek()?;
        match title.kind {
            TokenKind::Text => {
                self.next += 1;
                Some(title.text.trim_matches('"'))
            }
            TokenKind::Name if architecture.is_some() => {
                self.next += 1;
                Some(title.text)
            }
            TokenKind::Name | TokenKind::Keyword | TokenKind::Sign => None,
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement<'t>>) -> Option<()> {
        let start = self.here();
        if self.eat("let").is_some() {
            if self.eat("rec").is_some() {
                self.recursion(out)?;
            } else {
                self.binding(out)?;
            }
            self.eat("in");
            return Some(());
        }
        if self.eat("include").is_some() {
            let file = self.peek().filter(|token| token.kind == TokenKind::Text);
            let Some(file) = file else {
                self.expected("a file name in quotes");
                return None;
            };
            self.next += 1;
            out.push(Statement::Include { file: file.text.trim_matches('"'), at: file.at });
            return Some(());
        }
        if let Some(with) = self.eat("with") {
            return self.with(with, out);
        }
        if self.eat("show").is_some() || self.eat("unshow").is_some() {
            // What a drawing shows is not a part of a model.
            while self.peek().is_some_and(|token| !begins_statement(token) && token.text != "~") {
                self.next += 1;
            }
            return Some(());
        }
        let flag = self.eat("flag").is_some();
        let negated = self.eat("~").is_some();
        let test = match self.peek().map(|token| token.text) {
            Some("empty") => AxiomTest::Empty,
            Some("irreflexive") => AxiomTest::Irreflexive,
            Some("acyclic") => AxiomTest::Acyclic,
            _ if flag || negated => {
                self.expected("`empty`, `irreflexive` or `acyclic`");
                return None;
            }
            _ => return self.unsupported(out),
        };
        self.next += 1;
        let at = start.to(self.tokens[self.next - 1].at);
        let body = self.expression()?;
        let name = match self.eat("as") {
            Some(_) => Some(self.name("the name of the axiom")?.0),
            None => None,
        };
        out.push(Statement::Test { flag, negated, test, at, body, name });
        Some(())
    }

    /// `co from generate_cos(e)`: what the files of herd do with `co`, and nothing else.
    fn with(&mut self, with: ByteSpan, out: &mut Vec<Statement<'t>>) -> Option<()> {
        let (name, _) = self.name("`co`")?;
        self.demand("from")?;
        let from = self.expression()?;
        let base = match from.kind {
            ExprKind::Name("cos") => Some(None),
            ExprKind::Call("generate_cos", mut arguments) if arguments.len() == 1 => {
                arguments.pop().map(Some)
            }
            ExprKind::Call("generate_orders", mut arguments)
                if arguments.len() == 2 && matches!(arguments[0].kind, ExprKind::Name("W")) =>
            {
                arguments.pop().map(Some)
            }
            ExprKind::Name(_)
            | ExprKind::NoPair
            | ExprKind::NoEvent
            | ExprKind::Chain(..)
            | ExprKind::Postfix(..)
            | ExprKind::Not(_)
            | ExprKind::ToId(_)
            | ExprKind::Call(..)
            | ExprKind::Let(..) => None,
        };
        let Some(base) = base.filter(|_| name == "co") else {
            self.report
                .error("unsupported", with.to(from.at), "a model cannot choose this order")
                .note("only `co` is chosen, a total order on each location")
                .help("with co from generate_cos(co0)");
            out.push(Statement::Lost { name });
            return Some(());
        };
        // Each order has these.
        let base =
            base.filter(|base| !matches!(base.kind, ExprKind::Name("co0") | ExprKind::NoPair));
        out.push(Statement::With { base });
        Some(())
    }

    /// `f = e`, `f(x, y) = e`, `f x = e`.
    fn binding(&mut self, out: &mut Vec<Statement<'t>>) -> Option<()> {
        loop {
            let (name, at) = self.name("the name of a set, a relation or a function")?;
            let parameters = if self.eat("(").is_some() {
                let mut parameters = Vec::new();
                while !self.is(")") {
                    parameters.push(self.name("the name of a parameter")?.0);
                    if self.eat(",").is_none() {
                        break;
                    }
                }
                self.demand(")")?;
                Some(parameters)
            } else if self.is("=") {
                None
            } else {
                Some(vec![self.name("`=`")?.0])
            };
            self.demand("=")?;
            let body = self.body(name, out)?;
            out.push(Statement::Let { name, at, parameters, body });
            if self.eat("and").is_none() {
                return Some(());
            }
        }
    }

    fn recursion(&mut self, out: &mut Vec<Statement<'t>>) -> Option<()> {
        let (name, at) = self.name("the name of a relation")?;
        if self.is("(") {
            self.report
                .error("recursion", at, format!("the function `{}` is recursive", short(name)))
                .help("functions are expanded at each call: write `let`");
            out.push(Statement::Lost { name });
            return None;
        }
        self.demand("=")?;
        let body = self.body(name, out)?;
        if !self.is("and") && !self.is("when") {
            out.push(Statement::Rec { name, body });
            return Some(());
        }
        out.push(Statement::Lost { name });
        self.report
            .error("recursion", self.here(), "mutually recursive relations")
            .note("a second one")
            .help("the only supported recursion is `let rec r = a | (r ; b ; r)`");
        while self.eat("and").is_some() {
            let (name, _) = self.name("the name of a relation")?;
            out.push(Statement::Lost { name });
            self.demand("=")?;
            self.expression()?;
        }
        Some(())
    }

    /// The right side of a definition; `name` is known even if the side is wrong.
    fn body(&mut self, name: &'t str, out: &mut Vec<Statement<'t>>) -> Option<Expr<'t>> {
        let body = self.expression();
        if body.is_none() {
            out.push(Statement::Lost { name });
        }
        body
    }

    /// Reports what stands where a statement should, and the names it would define.
    fn unsupported(&mut self, out: &mut Vec<Statement<'t>>) -> Option<()> {
        let token = self.peek()?;
        if !begins_statement(token) {
            self.expected("a definition or an axiom");
            return None;
        }
        self.next += 1;
        let what = token.text;
        self.report
            .error("unsupported", token.at, format!("`{what}` is not supported"))
            .note("this part of cat is not supported")
            .help("a model consists of `let`, `acyclic`, `irreflexive`, `empty` and `flag`");
        if let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Name) {
            out.push(Statement::Lost { name: token.text });
        }
        if matches!(what, "procedure" | "match" | "forall") {
            // What is inside belongs to it.
            while self.peek().is_some_and(|token| token.text != "end") {
                self.next += 1;
            }
        }
        None
    }
}
