//! Expressions of cat, with herd's precedences.

use super::lex::TokenKind;
use super::parse::Parser;
use super::syntax::{Expr, ExprKind, Infix, Postfix};
use text::report::ByteSpan;

/// How deep parentheses and the like may nest.
const DEEPEST: usize = 100;

impl<'t> Parser<'t, '_> {
    pub(super) fn expression(&mut self) -> Option<Expr<'t>> {
        self.chain(0)
    }

    fn chain(&mut self, level: usize) -> Option<Expr<'t>> {
        let Some(&infix) = Infix::ALL.get(level) else { return self.postfix() };
        let first = self.chain(level + 1)?;
        let mut parts = vec![first];
        while self.is(infix.text()) && (infix != Infix::Cross || self.operand_follows()) {
            let sign = self.here();
            self.next += 1;
            if infix == Infix::Add {
                self.report
                    .error("unsupported", sign, "`++` is not supported")
                    .note("adds an element to a set of sets")
                    .help("a union is written `|`");
            }
            parts.push(self.chain(level + 1)?);
        }
        if parts.len() == 1 {
            return parts.pop();
        }
        let at = parts[0].at.to(parts[parts.len() - 1].at);
        Some(Expr { at, kind: ExprKind::Chain(infix, parts) })
    }

    /// Whether the `*` that stands next has a right side: a closure has none.
    fn operand_follows(&self) -> bool {
        let text_at = |ahead: usize| self.tokens.get(self.next + ahead);
        text_at(1).is_some_and(|token| match token.kind {
            TokenKind::Name => true,
            TokenKind::Keyword | TokenKind::Text => false,
            TokenKind::Sign => match token.text {
                "(" | "[" | "{" | "0" => true,
                // The next statement may be a negated test.
                "~" => text_at(2).is_none_or(|after| after.kind != TokenKind::Keyword),
                _ => false,
            },
        })
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth <= DEEPEST {
            return Some(());
        }
        self.report
            .error("nesting", self.here(), "this is nested too deeply")
            .note(format!("at most {DEEPEST} levels are supported"))
            .help("name a part of it with `let`");
        None
    }

    fn postfix(&mut self) -> Option<Expr<'t>> {
        let depth = self.depth;
        let result = self.prefix_and_postfix();
        self.depth = depth;
        result
    }

    fn prefix_and_postfix(&mut self) -> Option<Expr<'t>> {
        self.deeper()?;
        if let Some(sign) = self.eat("~") {
            let inner = self.postfix()?;
            let at = sign.to(inner.at);
            return Some(Expr { at, kind: ExprKind::Not(Box::new(inner)) });
        }
        let mut expr = self.operand()?;
        while let Some(token) = self.peek() {
            let raised = token.text == "^";
            let sign = if raised { self.tokens.get(self.next + 1).copied() } else { Some(token) };
            let postfix = match sign.map(|sign| sign.text) {
                Some("+") => Postfix::Plus,
                Some("*") if raised || !self.operand_follows() => Postfix::Star,
                Some("?") => Postfix::Opt,
                Some("^-1") => Postfix::Inverse,
                _ => break,
            };
            self.deeper()?;
            self.next += 1 + usize::from(raised);
            let at = expr.at.to(self.tokens[self.next - 1].at);
            expr = Expr { at, kind: ExprKind::Postfix(Box::new(expr), postfix) };
        }
        Some(expr)
    }

    fn operand(&mut self) -> Option<Expr<'t>> {
        let Some(token) = self.peek() else {
            self.expected("an expression");
            return None;
        };
        let at = token.at;
        let made = |at: ByteSpan, kind: ExprKind<'t>| Some(Expr { at, kind });
        match (token.kind, token.text) {
            (TokenKind::Name, name) => {
                self.next += 1;
                self.application(name, at)
            }
            (TokenKind::Sign, "0") => {
                self.next += 1;
                made(at, ExprKind::NoPair)
            }
            (TokenKind::Sign, "{") => {
                self.next += 1;
                let close = self.demand("}")?;
                made(at.to(close), ExprKind::NoEvent)
            }
            (TokenKind::Sign, "(") => {
                self.next += 1;
                let inner = self.expression()?;
                let close = self.demand(")")?;
                made(at.to(close), inner.kind)
            }
            (TokenKind::Sign, "[") => {
                self.next += 1;
                let inner = self.expression()?;
                let close = self.demand("]")?;
                made(at.to(close), ExprKind::ToId(Box::new(inner)))
            }
            (TokenKind::Keyword, "let") => {
                self.next += 1;
                self.local(at)
            }
            (TokenKind::Keyword, what @ ("fun" | "try" | "if" | "match" | "begin")) => {
                self.report
                    .error("unsupported", at, format!("`{what}` is not supported in an expression"))
                    .note("an expression consists of names and operators");
                self.next += 1;
                None
            }
            (TokenKind::Keyword | TokenKind::Text | TokenKind::Sign, _) => {
                self.expected("an expression");
                None
            }
        }
    }

    /// `x = e and y = f in g`, after `let`.
    fn local(&mut self, start: ByteSpan) -> Option<Expr<'t>> {
        let mut definitions = Vec::new();
        loop {
            let recursion = self.eat("rec");
            let (name, at) = self.name("the name of a set or a relation")?;
            let defined = self.eat("=").filter(|_| recursion.is_none());
            if defined.is_none() {
                self.report
                    .error("unsupported", at, "a function or a recursion inside an expression")
                    .help("define it before, by `let`");
                return None;
            }
            definitions.push((name, self.expression()?));
            if self.eat("and").is_none() {
                break;
            }
        }
        self.demand("in")?;
        let body = self.expression()?;
        let at = start.to(body.at);
        Some(Expr { at, kind: ExprKind::Let(definitions, Box::new(body)) })
    }

    /// A name, or `f(x, y)`, or `f x`.
    fn application(&mut self, name: &'t str, at: ByteSpan) -> Option<Expr<'t>> {
        if name == "_" {
            return Some(Expr { at, kind: ExprKind::Name(name) });
        }
        if self.eat("(").is_some() {
            let mut arguments = Vec::new();
            while !self.is(")") {
                arguments.push(self.expression()?);
                if self.eat(",").is_none() {
                    break;
                }
            }
            let close = self.demand(")")?;
            return Some(Expr { at: at.to(close), kind: ExprKind::Call(name, arguments) });
        }
        if let Some(argument) = self.peek().filter(|token| token.kind == TokenKind::Name) {
            self.next += 1;
            let inner = Expr { at: argument.at, kind: ExprKind::Name(argument.text) };
            let at = at.to(argument.at);
            return Some(Expr { at, kind: ExprKind::Call(name, vec![inner]) });
        }
        Some(Expr { at, kind: ExprKind::Name(name) })
    }
}
