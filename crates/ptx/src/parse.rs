//! Parses tokens to a module: directives, declarations, functions and their statements.

use crate::qualifier::Qualifier;
use crate::shape::{Role, VariableShape};
use crate::version::FunctionKind as Kind;
use model::isa::{SpaceQualifier, Type};

use super::lex::{self, Flaw, Lexer, Token};
use super::symbols::Symbols;
use super::syntax::{
    BodyMark, BoundDirective, Function, ModuleSyntax, Range, Statement, Symbol, VariableDeclaration,
};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

pub(super) struct Parser<'a, 'r> {
    lexer: Lexer<'a>,
    pub(super) token: Token,
    /// The end of the token before.
    pub(super) last: ByteSpan,
    pub(super) report: &'r mut Diagnostics,
    pub(super) module: ModuleSyntax,
    pub(super) symbols: Symbols<'a>,
    /// One instruction without its module: names are declared elsewhere, and `;` may be missing.
    pub(super) alone: bool,
    /// Instructions without their module: those of other kinds are kept unread.
    pub(super) excerpt: bool,
    /// Of the function that is read: what stands between its statements.
    marks: Vec<(u32, BodyMark)>,
    /// How many statements of the function were read.
    statements: u32,
    /// How many blocks of its body are open.
    depth: usize,
    /// A comment that ends with a carriage return was reported.
    returned: bool,
    /// What makes the declaration that follows known to other modules.
    linkage: Option<ByteSpan>,
}

/// Marker: an error was already reported, and the statement is skipped.
pub(super) struct Lost;

pub(super) type ParseResult<T> = Result<T, Lost>;

/// Blocks may be nested so deep.
const DEEPEST: usize = 10_000;

impl<'a, 'r> Parser<'a, 'r> {
    pub(super) fn new(text: &'a str, report: &'r mut Diagnostics) -> Parser<'a, 'r> {
        let nowhere = ByteSpan::default();
        let token = Token { kind: lex::TokenKind::End, at: nowhere };
        let (module, symbols) = (ModuleSyntax::default(), Symbols::default());
        let lexer = Lexer::new(text);
        let mut parser = Parser {
            lexer,
            token,
            last: nowhere,
            report,
            module,
            symbols,
            alone: false,
            excerpt: false,
            marks: Vec::new(),
            statements: 0,
            depth: 0,
            returned: false,
            linkage: None,
        };
        parser.bump();
        parser
    }

    pub(super) fn text(&self) -> &'a str {
        self.lexer.text
    }

    /// What the current token says.
    pub(super) fn word(&self) -> &'a str {
        self.token.at.of(self.lexer.text)
    }

    pub(super) fn bump(&mut self) -> Token {
        let token = self.token;
        self.last = token.at;
        let (report, returned) = (&mut *self.report, &mut self.returned);
        self.token = self.lexer.next(&mut |flaw, at| {
            // Every comment of such a file is one.
            if flaw != Flaw::CommentReturn || !std::mem::replace(returned, true) {
                tell(report, flaw, at);
            }
        });
        token
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        // A sign is one character or `::`: its first byte and its length tell it.
        let ByteSpan { start, end } = self.token.at;
        self.token.kind == lex::TokenKind::Sign
            && (end - start) as usize == sign.len()
            && self.text().as_bytes().get(start as usize) == sign.as_bytes().first()
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.bump();
        }
        is
    }

    pub(super) fn at_end(&self) -> bool {
        self.token.kind == lex::TokenKind::End
    }

    /// Whether the current token follows the one before without a blank.
    pub(super) fn adjacent(&self) -> bool {
        self.token.at.start == self.last.end
    }

    /// Reports that something else is expected here.
    pub(super) fn expected(&mut self, what: &str) -> Lost {
        let message = if self.at_end() {
            let end = if self.alone { "instruction" } else { "file" };
            format!("{what} is missing at the end of the {end}")
        } else {
            format!("expected {what}, found `{}`", short(self.word()))
        };
        self.report.error("syntax", self.token.at, message);
        Lost
    }

    /// Goes past the next `;`, or to a brace that the statement does not contain.
    pub(super) fn give_up(&mut self) {
        let mut depth = 0_usize;
        while !self.at_end() {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                if depth == 0 {
                    return;
                }
                depth -= 1;
            } else if self.is(";") {
                // A `;` ends the statement, whatever is still open.
                self.bump();
                return;
            }
            self.bump();
        }
    }

    /// Goes past a balanced run that starts with `open`.
    fn skip_balanced(&mut self, open: &str, close: &str) {
        let mut depth = 0_usize;
        while !self.at_end() {
            if self.is(open) {
                depth += 1;
            } else if self.is(close) {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    self.bump();
                    return;
                }
            }
            self.bump();
        }
    }

    /// Goes past what ends with its line: `@@DWARF`, and `# 1 "kernel.cu"` of a preprocessor.
    fn skip_line(&mut self) {
        self.lexer.line();
        self.bump();
    }

    pub(super) fn module(mut self) -> ModuleSyntax {
        while !self.at_end() {
            if self.token.kind == lex::TokenKind::Dotted {
                self.directive();
            } else if self.is("@") || self.is("#") {
                // `@@DWARF`, and `# 1 "kernel.cu"` of a preprocessor.
                self.skip_line();
            } else if self.is("}") {
                self.report.error("syntax", self.token.at, "unmatched `}`");
                self.bump();
            } else if !self.eat(";") {
                self.report
                    .error(
                        "outside-function",
                        self.token.at,
                        format!("`{}` is outside any function", short(self.word())),
                    )
                    .help("write instructions inside a function: `.entry k() { … }`");
                self.give_up();
                self.eat("}");
            }
        }
        self.module
    }

    /// A directive outside of functions.
    fn directive(&mut self) {
        match self.word() {
            ".version" => self.version(),
            ".target" => self.target(),
            ".address_size" => self.address_size(),
            ".visible" | ".extern" | ".weak" | ".common" => {
                self.linkage = Some(self.bump().at);
                return;
            }
            ".managed" => {
                self.bump();
                return;
            }
            ".entry" => self.function(Kind::Kernel),
            ".func" => self.function(Kind::Device),
            ".section" => {
                self.bump();
                while !self.at_end() && !self.is("{") {
                    self.bump();
                }
                self.skip_balanced("{", "}");
            }
            _ => self.declaration_or_other(),
        }
        self.linkage = None;
    }

    /// `.alias f, g;`: calls of `f` are calls of `g`.
    fn alias(&mut self) {
        self.bump();
        let name = self.token;
        if name.kind == lex::TokenKind::Word {
            self.bump();
            let of = self.eat(",").then_some(self.token);
            if let Some(of) = of.filter(|of| of.kind == lex::TokenKind::Word) {
                self.module.aliases.push([name.at, of.at]);
                self.bump();
            }
        }
        self.eat(";");
    }

    /// What may stand in functions as well as outside of them.
    fn declaration_or_other(&mut self) {
        let space = match self.word() {
            ".reg" => None,
            ".global" => Some(SpaceQualifier::Global),
            ".const" => Some(SpaceQualifier::Const),
            ".shared" | ".shared::cta" | ".shared::cluster" => Some(SpaceQualifier::SharedCta),
            ".local" => Some(SpaceQualifier::Local),
            ".param" => Some(SpaceQualifier::ParamFunc),
            ".loc" | ".file" => return self.debug_line(),
            ".alias" => return self.alias(),
            _ => return self.other_directive(),
        };
        self.bump();
        if self.declaration(space).is_err() {
            self.give_up();
        }
    }

    /// What follows the state space: attributes, a type, and names up to `;`. `None` is `.reg`.
    fn declaration(&mut self, space: Option<SpaceQualifier>) -> ParseResult<()> {
        let mut what = Attributes::default();
        self.attributes(&mut what)?;
        loop {
            self.declared(space, what)?;
            if self.eat(";") {
                return Ok(());
            }
            if !self.eat(",") {
                return Err(self.expected("`,` or `;`"));
            }
        }
    }

    /// One name, with the extents and the value that follow it.
    fn declared(&mut self, space: Option<SpaceQualifier>, what: Attributes) -> ParseResult<()> {
        if self.token.kind != lex::TokenKind::Word {
            return Err(self.expected("a name"));
        }
        let name = self.bump().at;
        let symbol = what.symbol(space);
        if space.is_none() && self.eat("<") {
            let count = self.word().parse::<u32>();
            let Ok(count) = count else { return Err(self.expected("a number of registers")) };
            self.bump();
            if !self.eat(">") {
                return Err(self.expected("`>`"));
            }
            self.mark_inside(BodyMark::Register { name, count: Some(count) });
            self.symbols.declare_range(name.of(self.lexer.text), count, symbol);
            return Ok(());
        }
        let mut count = Some(u32::from(what.vector.unwrap_or(1)));
        let array = self.is("[") || what.vector.is_some();
        while self.is("[") {
            let open = self.token.at;
            self.skip_balanced("[", "]");
            let extent =
                &self.lexer.text[open.end as usize..self.last.start.max(open.end) as usize];
            let extent = extent.trim().parse::<u32>().ok();
            count = count.zip(extent).and_then(|(count, extent)| count.checked_mul(extent));
        }
        let mut value = None;
        if self.eat("=") {
            let start = self.token.at;
            let mut depth = 0_usize;
            while !self.at_end() && !self.is(";") && (depth > 0 || !self.is(",")) {
                depth += usize::from(self.is("{") || self.is("("));
                depth = depth.saturating_sub((self.is("}") || self.is(")")).into());
                self.bump();
            }
            value = Some(start.to(self.last));
        }
        self.symbols.declare(name.of(self.lexer.text), symbol);
        if space.is_none() {
            self.mark_inside(BodyMark::Register { name, count: None });
        }
        if let Some(space) = space {
            let bytes = count.zip(what.ty).and_then(|(count, ty)| count.checked_mul(ty.bytes()));
            let (points_to, pointee_alignment) = (what.points_to, what.pointee_alignment);
            let element = what.ty;
            self.mark_inside(BodyMark::Variable(self.module.variables.len()));
            self.module.variables.push(VariableDeclaration {
                name,
                space,
                bytes,
                element,
                array,
                alignment: what.alignment(),
                linked: self.linkage.is_some(),
                external: self
                    .linkage
                    .is_some_and(|linkage| linkage.of(self.lexer.text) == ".extern"),
                value,
                points_to,
                pointee_alignment,
            });
        }
        Ok(())
    }

    /// `.align 16 .attribute(.unified(1,2)) .v4 .f32`, in any order.
    fn attributes(&mut self, what: &mut Attributes) -> ParseResult<()> {
        let mut pointed = false;
        while self.token.kind == lex::TokenKind::Dotted {
            let name = &self.word()[1..];
            self.bump();
            match (name, Qualifier::named(name)) {
                ("align", _) => {
                    let Ok(bytes) = self.word().parse() else {
                        return Err(self.expected("a number of bytes"));
                    };
                    if pointed {
                        what.pointee_alignment = Some(bytes);
                    } else {
                        what.alignment = Some(bytes);
                    }
                    self.bump();
                }
                ("attribute", _) => {
                    let start = self.token.at;
                    self.skip_balanced("(", ")");
                    what.unified |= start.to(self.last).of(self.lexer.text).contains(".unified");
                }
                ("pred", _) => what.predicate = true,
                (_, Some(Qualifier::Type(ty))) => what.ty = Some(ty),
                (_, Some(Qualifier::Vector(count))) => what.vector = Some(count),
                // `.ptr .global .align 16` of a parameter speaks of what it points to.
                ("ptr", _) => {
                    pointed = true;
                    what.points_to = Some(SpaceQualifier::Generic);
                    // Without `.align`.
                    what.pointee_alignment = Some(4);
                }
                (_, Some(Qualifier::Space(space))) if pointed => what.points_to = Some(space),
                _ => {}
            }
        }
        Ok(())
    }

    fn function(&mut self, kind: Kind) {
        let linked = self.linkage.take().is_some();
        self.bump();
        self.symbols.open();
        let space = match kind {
            Kind::Kernel => SpaceQualifier::ParamEntry,
            Kind::Device | Kind::Unknown => SpaceQualifier::ParamFunc,
        };
        let mut name = None;
        let first = self.module.variables.len();
        let mut results = first;
        let bounds = self.signature(space, &mut name, &mut results);
        let name = name.unwrap_or(self.last);
        match bounds {
            Err(_) => self.give_up(),
            Ok(bounds) if self.is("{") => {
                let open = self.bump().at;
                let inside = self.module.variables.len();
                let reads = self.module.special_reads.len();
                self.marks.clear();
                let statements = self.body(open);
                self.module.functions.push(Function {
                    kind,
                    name,
                    linked,
                    results: Range::new(first, results),
                    parameters: Range::new(results, inside),
                    variables: Range::new(inside, self.module.variables.len()),
                    special_reads: Range::new(reads, self.module.special_reads.len()),
                    bounds,
                    marks: std::mem::take(&mut self.marks),
                    statements,
                });
            }
            Ok(_) if !self.eat(";") && kind == Kind::Kernel => {
                self.expected("`{` or `;`");
            }
            Ok(_) => {}
        }
        // ptxas takes the prototype of a `.func` without its `;`.
        self.symbols.close();
        // Its name is known after it, not only in it.
        self.symbols.declare(name.of(self.lexer.text), Symbol::Other);
    }

    /// Results, name, parameters, and the directives up to the body, of which those that a launch has to keep are returned.
    /// `results` is where those end among the variables.
    fn signature(
        &mut self,
        space: SpaceQualifier,
        name: &mut Option<ByteSpan>,
        results: &mut usize,
    ) -> ParseResult<Vec<BoundDirective>> {
        if self.is("(") {
            self.parameters(space, Role::Result)?;
        }
        *results = self.module.variables.len();
        while self.token.kind == lex::TokenKind::Dotted {
            // `.attribute(.unified(1, 2))`
            self.bump();
            if self.is("(") {
                self.skip_balanced("(", ")");
            }
        }
        if self.token.kind != lex::TokenKind::Word {
            return Err(self.expected("the name of a function"));
        }
        let at = self.bump().at;
        *name = Some(at);
        self.symbols.declare(at.of(self.lexer.text), Symbol::Other);
        if self.is("(") {
            self.parameters(space, Role::Input)?;
        }
        let requests = self.performance_directives();
        if requests.no_return {
            self.module.no_return.push(at);
        }
        if requests.cta_memory {
            self.module.cta_memory.push(at);
        }
        Ok(requests.bounds)
    }

    fn parameters(&mut self, space: SpaceQualifier, role: Role) -> ParseResult<()> {
        self.bump();
        while !self.eat(")") {
            let register = self.word() == ".reg";
            if self.token.kind != lex::TokenKind::Dotted {
                return Err(self.expected("a parameter or `)`"));
            }
            self.bump();
            let mut what = Attributes { role, ..Attributes::default() };
            self.attributes(&mut what)?;
            if self.is(",") || self.is(")") {
                // Without a name, in a prototype.
            } else {
                self.declared((!register).then_some(space), what)?;
            }
            if !self.eat(",") && !self.is(")") {
                return Err(self.expected("`,` or `)`"));
            }
        }
        Ok(())
    }

    /// The statements up to the `}` that closes the function.
    fn body(&mut self, open: ByteSpan) -> Vec<Statement> {
        let mut statements = Vec::new();
        self.depth = 0;
        loop {
            self.statements = u32::try_from(statements.len()).expect("a file has less than 4 GiB");
            match self.token.kind {
                lex::TokenKind::End => {
                    self.report
                        .error("function-end", open, "unterminated function")
                        .note("opened here")
                        .help("close it with `}`");
                    break;
                }
                lex::TokenKind::Dotted
                    if matches!(
                        self.word(),
                        ".entry" | ".func" | ".visible" | ".version" | ".target"
                    ) =>
                {
                    // The brace is missing, and another function begins.
                    self.report
                        .error("function-end", open, "unterminated function")
                        .note("opened here")
                        .help("close it with `}`");
                    break;
                }
                lex::TokenKind::Dotted if self.word() == ".branchtargets" => self.branch_targets(),
                lex::TokenKind::Dotted => self.declaration_or_other(),
                lex::TokenKind::Sign if self.is("{") => {
                    self.bump();
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        let message = format!("blocks are nested {DEEPEST} deep at most");
                        self.report.error("nesting", self.last, message);
                        self.depth -= 1;
                    } else {
                        self.symbols.open();
                        self.mark(BodyMark::Open);
                    }
                }
                lex::TokenKind::Sign if self.is("}") => {
                    self.bump();
                    if self.depth == 0 {
                        return statements;
                    }
                    self.depth -= 1;
                    self.symbols.close();
                    self.mark(BodyMark::Close);
                }
                lex::TokenKind::Sign if self.is(";") => drop(self.bump()),
                lex::TokenKind::Sign if self.is("#") => self.skip_line(),
                lex::TokenKind::Word
                | lex::TokenKind::Sign
                | lex::TokenKind::Number
                | lex::TokenKind::Text => match self.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Lost) => self.give_up(),
                },
            }
        }
        for _ in 0..std::mem::take(&mut self.depth) {
            self.symbols.close();
        }
        statements
    }

    fn mark(&mut self, mark: BodyMark) {
        self.marks.push((self.statements, mark));
    }

    /// Records a declaration in a block of a body.
    fn mark_inside(&mut self, mark: BodyMark) {
        if self.depth > 0 {
            self.mark(mark);
        }
    }

    /// `.branchtargets A, B;` after a label, for `brx.idx`.
    fn branch_targets(&mut self) {
        self.bump();
        let mut targets = Vec::new();
        while self.token.kind == lex::TokenKind::Word {
            targets.push(self.bump().at);
            if !self.eat(",") {
                break;
            }
        }
        self.mark(BodyMark::Targets(targets));
        if !self.eat(";") {
            self.expected("`,` or `;`");
            self.give_up();
        }
    }

    /// The next token, the current one not being taken.
    pub(super) fn peek(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.next(&mut |_, _| {})
    }
}

fn tell(report: &mut Diagnostics, flaw: Flaw, at: ByteSpan) {
    match flaw {
        Flaw::OpenComment => report
            .error("comment-end", at, "unterminated comment")
            .note("opened here")
            .help("close it with `*/`"),
        Flaw::OpenText => report
            .error("string-end", at, "unterminated string: it must end on its line")
            .note("opened here")
            .help("close it with `\"`"),
        Flaw::CommentReturn => report
            .error("comment-return", at, "a carriage return alone does not end a comment in ptxas")
            .note("ptxas reads everything up to the next line feed as part of this comment")
            .help("end lines with a line feed"),
        Flaw::Character => report.error("character", at, "unexpected character"),
    };
}

/// What a declaration says before the names.
#[derive(Clone, Copy, Default)]
struct Attributes {
    ty: Option<Type>,
    vector: Option<u8>,
    predicate: bool,
    alignment: Option<u32>,
    unified: bool,
    /// In the parentheses of a function, before or after its name.
    role: Role,
    /// Of a parameter that is an address.
    points_to: Option<SpaceQualifier>,
    /// The alignment in bytes of what is there.
    pointee_alignment: Option<u32>,
}

impl Attributes {
    /// What a name declared so stands for; without a state space, a register.
    fn symbol(self, space: Option<SpaceQualifier>) -> Symbol {
        let Some(space) = space else {
            return match (self.predicate, self.ty, self.vector) {
                (true, ..) => Symbol::Predicate,
                (false, Some(ty), None) => Symbol::Register(ty),
                (false, Some(ty), Some(count)) => Symbol::Vector(count, ty),
                (false, None, _) => Symbol::Other,
            };
        };
        let role = match (space, self.role) {
            (SpaceQualifier::ParamFunc, Role::Variable) => Role::Argument,
            (_, role) => role,
        };
        Symbol::Variable(VariableShape {
            space,
            unified: self.unified,
            role,
            alignment: self.alignment(),
        })
    }

    /// In bytes.
    fn alignment(self) -> u32 {
        let elements = u32::from(self.vector.unwrap_or(1));
        self.alignment.unwrap_or_else(|| self.ty.map_or(1, |ty| ty.bytes() * elements))
    }
}
