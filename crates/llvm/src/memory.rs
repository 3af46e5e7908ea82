//! `load store atomicrmw cmpxchg fence`, with the errors that LLVM itself would report.

use super::lex::{Token, TokenKind};
use super::parse::{LineError, LineResult, Parser};
use super::{Access, AtomicOrdering, MemoryOp, Operation, RmwOp, Type};
use text::cursor::short;

const ORDERS: &[(&str, AtomicOrdering)] = &[
    ("unordered", AtomicOrdering::Unordered),
    ("monotonic", AtomicOrdering::Monotonic),
    ("acquire", AtomicOrdering::Acquire),
    ("release", AtomicOrdering::Release),
    ("acq_rel", AtomicOrdering::AcqRel),
    ("seq_cst", AtomicOrdering::SeqCst),
];

const OPERATIONS: &[(&str, RmwOp)] = &[
    ("xchg", RmwOp::Xchg),
    ("add", RmwOp::Add),
    ("sub", RmwOp::Sub),
    ("and", RmwOp::And),
    ("nand", RmwOp::Nand),
    ("or", RmwOp::Or),
    ("xor", RmwOp::Xor),
    ("max", RmwOp::Max),
    ("min", RmwOp::Min),
    ("umax", RmwOp::UMax),
    ("umin", RmwOp::UMin),
    ("fadd", RmwOp::FAdd),
    ("fsub", RmwOp::FSub),
    ("fmax", RmwOp::FMax),
    ("fmin", RmwOp::FMin),
    ("uinc_wrap", RmwOp::UIncWrap),
    ("udec_wrap", RmwOp::UDecWrap),
    ("usub_cond", RmwOp::USubCond),
    ("usub_sat", RmwOp::USubSat),
];

impl<'a> Parser<'a, '_> {
    /// Parses the operands of one of the five opcodes.
    pub(super) fn memory(&mut self, opcode: &str) -> LineResult<'a, Operation<'a>> {
        match opcode {
            "load" => self.load(),
            "store" => self.store(),
            "atomicrmw" => self.rmw(),
            "cmpxchg" => self.cmpxchg(),
            _ => self.fence(),
        }
    }

    /// `syncscope("device")`; empty if there is none.
    fn syncscope(&mut self) -> LineResult<'a, &'a str> {
        if !self.eat("syncscope") {
            return Ok("");
        }
        self.expect("(")?;
        let Some(&Token { kind: TokenKind::String, at }) = self.tokens.get(self.next) else {
            self.expected("the name of a scope").help("syncscope(\"device\")");
            return Err(LineError::Reported);
        };
        self.next += 1;
        self.expect(")")?;
        Ok(at.of(self.text).trim_matches('"'))
    }

    /// Parses one of the `allowed` orderings, and reports any other.
    fn order(&mut self, of: &str, allowed: &[AtomicOrdering]) -> LineResult<'a, AtomicOrdering> {
        let (name, at) = self.word("an ordering")?;
        let known = ORDERS.iter().find(|(known, _)| *known == name).map(|known| known.1);
        if let Some(order) = known.filter(|order| allowed.contains(order)) {
            return Ok(order);
        }
        let list: Vec<&str> = allowed.iter().map(|order| order.name()).collect();
        let message = match known {
            Some(_) => format!("{of} cannot be `{name}`"),
            None => format!("unknown ordering `{}`", short(name)),
        };
        self.report.error("llvm-order", at, message).note(format!("one of {}", list.join(", ")));
        Err(LineError::Reported)
    }

    /// Parses what follows the operands: alignment, metadata, attributes of the pointer.
    fn tail(&mut self, access: &mut Access<'a>) -> LineResult<'a, ()> {
        while self.eat(",") {
            if self.eat("align") {
                let (number, at) = self.word("an alignment")?;
                let align = number.parse().ok().filter(|align: &u64| align.is_power_of_two());
                if align.is_none() {
                    self.report
                        .error("llvm-align", at, "an alignment is a power of two")
                        .help("align 4");
                    return Err(LineError::Reported);
                }
                access.align = align;
            } else if let Some(name) = self.text_at(0).strip_prefix('!') {
                access.metadata.push(name);
                self.next += 1;
                self.node()?;
            } else {
                self.expected("`align` or metadata");
                return Err(LineError::Reported);
            }
        }
        if self.eat("[") {
            self.expect("kernel")?;
            self.expect("arg")?;
            let (name, at) = self.word("a pointer")?;
            self.expect(":")?;
            let mut attributes = Vec::new();
            while !self.eat("]") {
                attributes.push(self.word("an attribute or `]`")?.0);
            }
            if name != access.pointer {
                let message = format!("`{}` is not the pointer of this access", short(name));
                self.report
                    .error("llvm-argument", at, message)
                    .help(format!("[kernel arg {}: …]", access.pointer));
                return Err(LineError::Reported);
            }
            access.argument = Some(attributes);
        }
        self.end()
    }

    pub(super) fn end(&mut self) -> LineResult<'a, ()> {
        if self.next >= self.tokens.len() {
            return Ok(());
        }
        self.expected("the end of the line");
        Err(LineError::Reported)
    }

    fn load(&mut self) -> LineResult<'a, Operation<'a>> {
        let (atomic, volatile) = (self.eat("atomic"), self.eat("volatile"));
        let ty = self.ty()?;
        self.expect(",")?;
        let (space, pointer) = self.pointer()?;
        let access = Access { volatile, space, ..plain(MemoryOp::Load, ty, pointer) };
        let orders = [
            AtomicOrdering::Unordered,
            AtomicOrdering::Monotonic,
            AtomicOrdering::Acquire,
            AtomicOrdering::SeqCst,
        ];
        self.plain_or_atomic(access, atomic, "a load", &orders)
    }

    fn store(&mut self) -> LineResult<'a, Operation<'a>> {
        let (atomic, volatile) = (self.eat("atomic"), self.eat("volatile"));
        let ty = self.ty()?;
        let value = self.value()?;
        self.expect(",")?;
        let (space, pointer) = self.pointer()?;
        let access =
            Access { volatile, space, values: vec![value], ..plain(MemoryOp::Store, ty, pointer) };
        let orders = [
            AtomicOrdering::Unordered,
            AtomicOrdering::Monotonic,
            AtomicOrdering::Release,
            AtomicOrdering::SeqCst,
        ];
        self.plain_or_atomic(access, atomic, "a store", &orders)
    }

    fn plain_or_atomic(
        &mut self,
        mut access: Access<'a>,
        atomic: bool,
        of: &str,
        orders: &[AtomicOrdering],
    ) -> LineResult<'a, Operation<'a>> {
        let from = self.here();
        access.scope = self.syncscope()?;
        let named = ORDERS.iter().any(|(name, _)| *name == self.text_at(0));
        if atomic {
            access.order = Some(self.order(of, orders)?);
        } else if named || !access.scope.is_empty() {
            let message = format!("{of} with an ordering or a scope must be `atomic`");
            self.report
                .error("llvm-atomic", from, message)
                .help("load atomic i32, ptr %p monotonic, align 4");
            return Err(LineError::Reported);
        }
        self.tail(&mut access)?;
        if atomic && access.align.is_none() {
            let here = self.here();
            let align = access.ty.bytes().unwrap_or(4);
            self.report
                .error("llvm-align", here, format!("{of} that is atomic requires an alignment"))
                .help(format!(", align {align}"));
            return Err(LineError::Reported);
        }
        Ok(Operation::Access(access))
    }

    fn rmw(&mut self) -> LineResult<'a, Operation<'a>> {
        let volatile = self.eat("volatile");
        let (name, at) = self.word("an operation")?;
        let Some(&(_, op)) = OPERATIONS.iter().find(|(known, _)| *known == name) else {
            let near = self.report.nearest(name, OPERATIONS.iter().map(|(name, _)| *name));
            let message = format!("unknown operation `{}` of `atomicrmw`", short(name));
            self.report
                .error("llvm-operation", at, message)
                .help_if(near.map(|near| format!("`{near}`")));
            return Err(LineError::Reported);
        };
        let (space, pointer) = self.pointer()?;
        self.expect(",")?;
        let ty = self.ty()?;
        let value = self.value()?;
        let mut access = Access {
            volatile,
            space,
            values: vec![value],
            ..plain(MemoryOp::Rmw(op), ty, pointer)
        };
        access.scope = self.syncscope()?;
        let orders = [
            AtomicOrdering::Monotonic,
            AtomicOrdering::Acquire,
            AtomicOrdering::Release,
            AtomicOrdering::AcqRel,
            AtomicOrdering::SeqCst,
        ];
        access.order = Some(self.order("an `atomicrmw`", &orders)?);
        self.tail(&mut access)?;
        Ok(Operation::Access(access))
    }

    fn cmpxchg(&mut self) -> LineResult<'a, Operation<'a>> {
        let (weak, volatile) = (self.eat("weak"), self.eat("volatile"));
        let (space, pointer) = self.pointer()?;
        self.expect(",")?;
        let ty = self.ty()?;
        let expected = self.value()?;
        self.expect(",")?;
        let at = self.here();
        let other = self.ty()?;
        if other != ty {
            let message = format!(
                "the operands of a `cmpxchg` must have the same type, not {ty} and {other}"
            );
            self.report.error("llvm-type", at, message).help(ty.to_string());
            return Err(LineError::Reported);
        }
        let value = self.value()?;
        let scope = self.syncscope()?;
        let orders = [
            AtomicOrdering::Monotonic,
            AtomicOrdering::Acquire,
            AtomicOrdering::Release,
            AtomicOrdering::AcqRel,
            AtomicOrdering::SeqCst,
        ];
        let order = self.order("a `cmpxchg`", &orders)?;
        let failure = self.order(
            "a `cmpxchg` that fails",
            &[AtomicOrdering::Monotonic, AtomicOrdering::Acquire, AtomicOrdering::SeqCst],
        )?;
        let mut access = Access {
            volatile,
            space,
            scope,
            order: Some(order),
            values: vec![expected, value],
            ..plain(MemoryOp::CmpXchg { weak, failure }, ty, pointer)
        };
        self.tail(&mut access)?;
        Ok(Operation::Access(access))
    }

    fn fence(&mut self) -> LineResult<'a, Operation<'a>> {
        let scope = self.syncscope()?;
        let orders = [
            AtomicOrdering::Acquire,
            AtomicOrdering::Release,
            AtomicOrdering::AcqRel,
            AtomicOrdering::SeqCst,
        ];
        let order = self.order("a fence", &orders)?;
        self.metadata()?;
        Ok(Operation::Fence { order, scope })
    }
}

/// An access of the generic space that is neither volatile nor atomic.
fn plain(kind: MemoryOp, ty: Type, pointer: &str) -> Access<'_> {
    Access {
        kind,
        volatile: false,
        order: None,
        scope: "",
        ty,
        space: 0,
        pointer,
        align: None,
        values: Vec::new(),
        metadata: Vec::new(),
        argument: None,
    }
}
