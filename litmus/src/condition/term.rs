//! The sides of comparisons: registers, memory, numbers.

use model::isa::alu::Comparison;
use model::isa::float;
use model::memory::VariableId;
use model::program::{Observed, ThreadId};
use ptx::qualifier::Dialect;

use super::ConditionReader;
use crate::proposition::Comparand;
use lift::program::{self, number};
use text::cursor::{Cursor, short};
use text::lex::TokenKind;
use text::report::{ByteSpan, ErrorReported};

/// A side of a comparison as it is read.
pub(super) enum ConditionSide {
    Term(Comparand),
    /// Its bits depend on the width of the other side.
    Float(f64),
}

impl ConditionReader<'_> {
    /// One side of a comparison, as [`Self::term`] reads it, or a float.
    pub(super) fn side(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Option<Result<ConditionSide, ErrorReported>> {
        if let Some((value, _)) = cursor.float() {
            return Some(Ok(ConditionSide::Float(value)));
        }
        Some(self.term(cursor)?.map(ConditionSide::Term))
    }

    /// A float with the width of what it is compared with.
    pub(super) fn float(
        &mut self,
        with: Comparand,
        value: f64,
        comparison: Comparison,
        at: ByteSpan,
    ) -> Result<Comparand, ErrorReported> {
        // Orders are those of unsigned numbers.
        if !matches!(comparison, Comparison::Eq | Comparison::Ne) {
            self.report
                .error("float", at, "floats are compared by `=` and `!=` only")
                .help("[x]=1.5");
            return Err(ErrorReported);
        }
        let Comparand::Observed(index) = with else { return Err(self.not_a_float(at)) };
        let bits = self.bits_of(self.observed[index]);
        let Some(value) = float::bits_of(bits, value) else {
            self.report
                .error("float", at, "a float has 32 or 64 bits")
                .note(format!("what it is compared with has {bits} bits"));
            return Err(ErrorReported);
        };
        let bits = value.into();
        self.constants.push(bits);
        Ok(Comparand::Constant(bits))
    }

    /// Two constants are compared, one of which is a float.
    pub(super) fn not_a_float(&mut self, at: ByteSpan) -> ErrorReported {
        self.report
            .error("float", at, "a float is compared with a register or a location")
            .help("[x]=1.5");
        ErrorReported
    }

    fn bits_of(&mut self, observed: Observed) -> u32 {
        match observed {
            Observed::Register { thread, register } => {
                self.draft.thread(thread).draft(register).width().into()
            }
            Observed::Memory { length, .. } => 8 * length,
        }
    }

    /// Reports a constant, at `at`, that what it is compared with never has.
    pub(super) fn constant(&mut self, with: Comparand, term: Comparand, at: ByteSpan) {
        if let (Comparand::Observed(index), Comparand::Constant(value)) = (with, term) {
            let with = self.observed[index];
            let bits = self.bits_of(with);
            if !program::fits_value(value, bits) {
                let message = format!("{} is never equal to this", number(value));
                let name = match with {
                    Observed::Register { .. } => "register",
                    Observed::Memory { .. } => "variable",
                };
                self.report
                    .error("constant", at, message)
                    .note(format!("the {name} has {bits} bits"))
                    .help(format!("a number of at most {bits} bits"));
            }
        }
    }

    /// One side of a comparison. `None` is an error of syntax; `ErrorReported` is a name that is wrong,
    /// and reported.
    pub(super) fn term(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Option<Result<Comparand, ErrorReported>> {
        if cursor.text_at(1) == ":" && cursor.peek().is_some() {
            return self.register(cursor);
        }
        if let Some((value, _)) = cursor.value(self.report) {
            self.constants.push(value);
            return Some(Ok(Comparand::Constant(value)));
        }
        let bracket = cursor.eat("[").is_some();
        let Some((name, at)) = cursor.word() else {
            cursor
                .expected("a register, a variable or a number", self.report)
                .help("P0:r0=1 /\\ [x]=2");
            return None;
        };
        let mut copy_of = None;
        if cursor.eat("@").is_some() {
            let Some(token) = cursor.advance() else {
                cursor.expected("the thread that owns the copy", self.report);
                return None;
            };
            let named = self.draft.thread_named(token.at.of(cursor.text), token.at, self.report);
            copy_of = Some(named.ok_or(ErrorReported));
        }
        let mut offset = None;
        let mut index = None;
        if bracket {
            if cursor.eat("+").is_some() {
                let Some(number) = cursor.number_value(self.report) else {
                    cursor.expected("a number of bytes", self.report);
                    return None;
                };
                offset = Some(number);
            }
            if cursor.eat("]").is_none() {
                cursor.expected("`]`", self.report);
                return None;
            }
        } else if cursor.is("[") && cursor.kind_at(1) == Some(TokenKind::Number) {
            cursor.advance();
            index = cursor.number_value(self.report);
            if cursor.eat("]").is_none() {
                cursor.expected("`]`", self.report);
                return None;
            }
        }
        let Some(variable) = self.variable(name, at) else { return Some(Err(ErrorReported)) };
        let element = u64::from(program::element(self.draft, variable));
        let offset = offset.or(index.map(|index| index.saturating_mul(element))).unwrap_or(0);
        Some(self.memory(variable, at, copy_of, offset))
    }

    fn register(&mut self, cursor: &mut Cursor<'_>) -> Option<Result<Comparand, ErrorReported>> {
        let token = cursor.advance()?;
        cursor.eat(":")?;
        let Some((name, at)) = cursor.word() else {
            cursor.expected("a register", self.report);
            return None;
        };
        let text = token.at.of(cursor.text);
        let Some(thread) = self.draft.thread_named(text, token.at, self.report) else {
            return Some(Err(ErrorReported));
        };
        let peer = self.draft.dialect == Dialect::Peer;
        let owner = self.draft.thread(thread);
        let bare = name.strip_prefix('%').unwrap_or(name);
        let known = owner.known_register(name).is_some() || owner.defined.contains(bare);
        if !known && !peer {
            let near = self.report.nearest(name, owner.register_names());
            let help = near.map(|near| format!("{}:{near}", owner.name));
            self.report
                .error(
                    "unknown-register",
                    token.at.to(at),
                    format!("`{}` has no register `{}`", owner.name, short(name)),
                )
                .note("it occurs in no instruction and not in the initial state")
                .help_if(help);
            return Some(Err(ErrorReported));
        }
        let register = owner.register(name, at, self.report);
        Some(Ok(self.observe(Observed::Register { thread, register })))
    }

    fn variable(&mut self, name: &str, at: ByteSpan) -> Option<VariableId> {
        if self.draft.known_variable(name).is_none() {
            let owner =
                self.draft.threads.iter().find(|thread| thread.known_register(name).is_some());
            if let Some(owner) = owner {
                let bare = name.strip_prefix('%').unwrap_or(name);
                let help = format!("{}:{}", owner.name, short(bare));
                self.report
                    .error(
                        "register-thread",
                        at,
                        format!("`{}` is a register of a thread", short(name)),
                    )
                    .note("the thread is missing")
                    .help(help);
                return None;
            }
        }
        self.draft.location(name, at, self.report)
    }

    fn memory(
        &mut self,
        variable: VariableId,
        at: ByteSpan,
        copy_of: Option<Result<ThreadId, ErrorReported>>,
        offset: u64,
    ) -> Result<Comparand, ErrorReported> {
        let name = short(&self.draft.variable(variable).name);
        let copy_of = copy_of.transpose()?;
        if let Some(&(location, _)) = self.draft.variable(variable).multimem.first() {
            let location = short(&self.draft.variable(location).name);
            let message = format!("`{name}` is a multimem address, which has no value of its own");
            self.report
                .error("multimem", at, message)
                .section(model::section::MULTIMEM_ADDRESSES)
                .help(location);
            return Err(ErrorReported);
        }
        if copy_of.is_none() && !program::one_copy(self.draft, variable) {
            let own = program::space(self.draft, variable).is_shared_by_threads();
            let owner = if own { "CTA" } else { "thread" };
            self.report
                .error("which-copy", at, format!("each {owner} has its own `{name}`"))
                .note("the owner is missing")
                .help(format!("[{name}@P0]"));
            return Err(ErrorReported);
        }
        let extent = u64::from(program::extent(self.draft, variable));
        let length = u64::from(program::element(self.draft, variable)).min(16);
        if offset.saturating_add(length) > extent {
            self.report
                .error("out-of-bounds", at, format!("this is outside `{name}`"))
                .note(format!("`{name}` has {extent} bytes"));
            return Err(ErrorReported);
        }
        let thread = program::owner(self.draft, variable, copy_of);
        let narrow = |n: u64| u32::try_from(n).expect("an extent has 32 bits");
        let (offset, length) = (narrow(offset), narrow(length));
        Ok(self.observe(Observed::Memory { variable, thread, offset, length }))
    }

    fn observe(&mut self, observed: Observed) -> Comparand {
        self.observed.push(observed);
        Comparand::Observed(self.observed.len() - 1)
    }
}
