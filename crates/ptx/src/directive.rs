//! Directives without declarations: version and target of a module, source lines, and requests to
//! the compiler. They do not end at the end of a line.

use crate::version::{PtxIsa, Target};

use super::declared::LaunchBoundKind;
use super::lex;
use super::parse::Parser;
use super::symbols::CTA_MEMORY;
use super::syntax::BoundDirective;
use text::cursor::short;

/// What the directives before a body ask for.
#[derive(Default)]
pub(super) struct FunctionRequests {
    /// `.noreturn`
    pub(super) no_return: bool,
    /// `.minperctamemory`
    pub(super) cta_memory: bool,
    /// `.reqntid` and others
    pub(super) bounds: Vec<BoundDirective>,
}

impl Parser<'_, '_> {
    pub(super) fn version(&mut self) {
        let start = self.bump().at;
        if std::mem::replace(&mut self.module.versioned, true) {
            self.report
                .error("version", start, "a module has one `.version`")
                .note("this is another one")
                .section(model::section::VERSION)
                .help("remove it; link modules instead of joining their text");
        }
        let at = self.token.at;
        let isa = PtxIsa::parse(self.word()).filter(|_| self.token.kind == lex::TokenKind::Number);
        if let Some(isa) = isa {
            self.module.isa.get_or_insert((isa, start.to(at)));
            self.bump();
        } else {
            self.report
                .error("version", at, "expected a version of PTX")
                .help(format!(".version {}", PtxIsa::NEWEST));
            self.skip_to_directive();
        }
    }

    pub(super) fn target(&mut self) {
        let start = self.bump().at;
        loop {
            let at = self.token.at;
            match Target::parse(self.word()) {
                Some(target) if target.exists() => {
                    self.module.target.get_or_insert((target, start.to(at)));
                }
                Some(target) => {
                    self.report
                        .error("target", at, format!("there is no target `{target}`"))
                        .section(model::section::TARGET)
                        .help(".target sm_90");
                }
                None if self.word().starts_with("sm_")
                    || self.token.kind != lex::TokenKind::Word =>
                {
                    self.report
                        .error("target", at, format!("unknown target `{}`", short(self.word())))
                        .help(".target sm_90");
                }
                // `texmode_independent`, `debug`
                None => {}
            }
            if self.token.kind != lex::TokenKind::Word {
                return self.skip_to_directive();
            }
            self.bump();
            if !self.eat(",") {
                return;
            }
        }
    }

    pub(super) fn address_size(&mut self) {
        let start = self.bump().at;
        if self.module.address_bits.is_some() {
            self.report
                .error("address-size", start, "a module has one `.address_size`")
                .note("this is another one")
                .section(model::section::ADDRESS_SIZE)
                .help("remove it");
        }
        match self.word() {
            "32" => self.module.address_bits = Some(32),
            "64" => self.module.address_bits = Some(64),
            _ => {
                let at = self.token.at;
                self.report
                    .error("address-size", at, "addresses have 32 or 64 bits")
                    .help(".address_size 64");
                return self.skip_to_directive();
            }
        }
        self.bump();
    }

    /// `.file 1 "a.cu", 0, 0` and `.loc 1 2 3, function_name f+4, inlined_at 1 2 3`: neither ends
    /// with a `;` or with its line (`#debugging-directives-loc`).
    pub(super) fn debug_line(&mut self) {
        self.bump();
        self.debug_values();
        while self.is(",") {
            self.bump();
            // `function_name` and `inlined_at`.
            if self.token.kind == lex::TokenKind::Word {
                let attribute = self.word();
                self.bump();
                if attribute == "function_name" && self.token.kind == lex::TokenKind::Word {
                    self.bump();
                    if self.eat("+") {
                        self.bump();
                    }
                    continue;
                }
            }
            self.debug_values();
        }
    }

    fn debug_values(&mut self) {
        while matches!(self.token.kind, lex::TokenKind::Number | lex::TokenKind::Text) {
            self.bump();
        }
    }

    /// `.maxntid 128, 1, 1 .pragma "nounroll";`, up to a body or to what follows a prototype.
    pub(super) fn performance_directives(&mut self) -> FunctionRequests {
        let mut requests = FunctionRequests::default();
        while self.token.kind == lex::TokenKind::Dotted && !begins_declaration(self.word()) {
            let pragma = self.word() == ".pragma";
            requests.no_return |= self.word() == ".noreturn";
            requests.cta_memory |= self.word() == CTA_MEMORY;
            let kind = LaunchBoundKind::of_directive(self.word());
            let at = self.bump().at;
            let mut extent = [1; 3];
            let mut directions = extent.iter_mut();
            while matches!(self.token.kind, lex::TokenKind::Number | lex::TokenKind::Text)
                || self.is(",")
            {
                if let Ok(number) = self.word().parse() {
                    match (directions.next(), kind) {
                        (Some(direction), _) => *direction = number,
                        (None, Some(kind)) => self.fourth_extent(kind),
                        (None, None) => {}
                    }
                }
                self.bump();
            }
            requests.bounds.extend(kind.map(|kind| BoundDirective { kind, extent, at }));
            if pragma {
                self.eat(";");
            }
        }
        requests
    }

    fn fourth_extent(&mut self, kind: LaunchBoundKind) {
        let directive = kind.directive();
        self.report
            .error("syntax", self.token.at, format!("`{directive}` has three extents at most"))
            .note("a launch has no further direction")
            .help(format!("{directive} 32, 1, 1"));
    }

    /// `.pragma "nounroll";`, `.alias f, g;`, or one that is not known: up to its `;`, but never
    /// past the next declaration.
    pub(super) fn other_directive(&mut self) {
        self.bump();
        let mut depth = 0_usize;
        while !self.at_end() && !self.is("}") && !self.eat(";") {
            // `.callprototype ()_ (.param .b64 _)` has parameters.
            if self.is("(") {
                depth += 1;
            } else if self.is(")") {
                depth = depth.saturating_sub(1);
            } else if depth == 0
                && self.token.kind == lex::TokenKind::Dotted
                && begins_declaration(self.word())
            {
                return;
            }
            self.bump();
        }
    }

    /// Goes past what is left of a directive that could not be read.
    fn skip_to_directive(&mut self) {
        while !self.at_end() && self.token.kind != lex::TokenKind::Dotted {
            self.bump();
        }
    }
}

/// Whether a directive begins a declaration of the module, and so ends whatever is before it.
fn begins_declaration(directive: &str) -> bool {
    matches!(
        directive,
        ".version"
            | ".target"
            | ".address_size"
            | ".visible"
            | ".extern"
            | ".weak"
            | ".common"
            | ".managed"
            | ".entry"
            | ".func"
            | ".file"
            | ".loc"
            | ".section"
            | ".global"
            | ".const"
            | ".shared"
            | ".shared::cta"
            | ".shared::cluster"
            | ".local"
            | ".param"
            | ".reg"
            | ".tex"
            | ".alias"
    )
}
