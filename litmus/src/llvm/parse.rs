//! Lines of LLVM IR become instructions; what LLVM itself would reject is told.

use super::lex::{self, Kind as TokenKind, Token};
use super::{Access, Barrier, Instruction, Kind, Operation, Order, RmwOp, Scalar, Type};
use crate::cursor::short;
use crate::report::{Bytes, Draft, Report, Reported};

const ORDERS: &[(&str, Order)] = &[
    ("unordered", Order::Unordered),
    ("monotonic", Order::Monotonic),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
    ("seq_cst", Order::SeqCst),
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

/// Opcodes that compute from registers alone.
const PURE: &[&str] = &[
    "add",
    "sub",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "icmp",
    "fcmp",
    "select",
    "zext",
    "sext",
    "trunc",
    "bitcast",
    "ptrtoint",
    "inttoptr",
    "addrspacecast",
    "getelementptr",
    "extractvalue",
    "insertvalue",
    "extractelement",
    "insertelement",
    "shufflevector",
    "freeze",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fneg",
    "fpext",
    "fptrunc",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
];

/// Real opcodes that a straight line has not, or that nothing is known of.
const OTHER: &[&str] = &[
    "br",
    "ret",
    "switch",
    "phi",
    "alloca",
    "invoke",
    "unreachable",
    "va_arg",
    "indirectbr",
    "resume",
];

type Read<T> = Result<T, Reported>;

pub(super) struct Parser<'a, 'r> {
    text: &'a str,
    report: &'r mut Report,
    tokens: Vec<Token>,
    next: usize,
}

impl<'a, 'r> Parser<'a, 'r> {
    pub(super) fn new(text: &'a str, report: &'r mut Report) -> Parser<'a, 'r> {
        Parser { text, report, tokens: Vec::new(), next: 0 }
    }

    pub(super) fn instructions(mut self) -> Vec<Instruction<'a>> {
        let mut instructions = Vec::new();
        for tokens in lex::lines(self.text, self.report) {
            let all = tokens[0].at.to(tokens[tokens.len() - 1].at);
            (self.tokens, self.next) = (tokens, 0);
            if let Ok((result, operation)) = self.line() {
                instructions.push(Instruction { text: all.of(self.text), result, operation });
            }
        }
        instructions
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.next + ahead).map_or("", |token| token.at.of(self.text))
    }

    fn here(&self) -> Bytes {
        let end = || self.tokens.last().map_or(Bytes::default(), |token| token.at.after());
        self.tokens.get(self.next).map_or_else(end, |token| token.at)
    }

    fn eat(&mut self, text: &str) -> bool {
        let there = self.text_at(0) == text;
        self.next += usize::from(there);
        there
    }

    fn expected(&mut self, what: &str) -> &mut Draft {
        let found = self.text_at(0);
        let message = if found.is_empty() {
            format!("{what} is missing")
        } else {
            format!("`{}` where {what} is expected", short(found))
        };
        let here = self.here();
        self.report.error("syntax", here, message)
    }

    fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) {
            return Ok(());
        }
        self.expected(&format!("`{text}`"));
        Err(Reported)
    }

    fn word(&mut self, what: &str) -> Read<(&'a str, Bytes)> {
        let Some(&Token { kind: TokenKind::Word, at }) = self.tokens.get(self.next) else {
            self.expected(what);
            return Err(Reported);
        };
        self.next += 1;
        Ok((at.of(self.text), at))
    }

    fn line(&mut self) -> Read<(Option<&'a str>, Operation<'a>)> {
        let mut result = None;
        if self.text_at(1) == "=" {
            let (name, at) = self.word("a register")?;
            if !name.starts_with('%') {
                self.report.error("syntax", at, "a result begins with `%`").help("%r = …");
                return Err(Reported);
            }
            result = Some(name);
            self.next += 1;
        }
        while matches!(self.text_at(0), "tail" | "musttail" | "notail") {
            self.next += 1;
        }
        let (opcode, at) = self.word("an instruction")?;
        let operation = match opcode {
            "load" => self.load()?,
            "store" => self.store()?,
            "atomicrmw" => self.rmw()?,
            "cmpxchg" => self.cmpxchg()?,
            "fence" => self.fence()?,
            "call" => self.call()?,
            _ if PURE.contains(&opcode) => Operation::Pure,
            _ if OTHER.contains(&opcode) => Operation::Unsupported(opcode),
            _ => {
                let known = ["load", "store", "atomicrmw", "cmpxchg", "fence", "call"];
                let near =
                    self.report.nearest(opcode, known.into_iter().chain(PURE.iter().copied()));
                let message = format!("there is no instruction `{}`", short(opcode));
                self.report
                    .error("llvm-opcode", at, message)
                    .help_if(near.map(|near| format!("`{near}`")));
                return Err(Reported);
            }
        };
        Ok((result, operation))
    }

    /// A type that a value of memory may have.
    fn ty(&mut self) -> Read<Type> {
        if self.eat("<") {
            let (count, at) = self.word("a number of elements")?;
            let Ok(lanes @ 1..=1024) = count.parse::<u32>() else {
                self.report.error("llvm-type", at, "a vector has 1 to 1024 elements");
                return Err(Reported);
            };
            self.expect("x")?;
            let scalar = self.scalar()?;
            self.expect(">")?;
            return Ok(Type { scalar, lanes: Some(lanes) });
        }
        Ok(Type { scalar: self.scalar()?, lanes: None })
    }

    fn scalar(&mut self) -> Read<Scalar> {
        let (name, at) = self.word("a type")?;
        if let Some(scalar) = Scalar::named(name) {
            return Ok(scalar);
        }
        let message = format!("`{}` is no type of what is loaded or stored", short(name));
        self.report.error("llvm-type", at, message).help("i32");
        Err(Reported)
    }

    /// `ptr addrspace(1) %p`, or as it was before LLVM 15, `i32 addrspace(1)* %p`.
    fn pointer(&mut self) -> Read<(u32, &'a str)> {
        let (name, at) = self.word("`ptr`")?;
        if Scalar::named(name).is_none() {
            self.report
                .error("syntax", at, format!("`{}` where `ptr` is expected", short(name)))
                .help("ptr %p");
            return Err(Reported);
        }
        let space = if self.eat("addrspace") {
            self.expect("(")?;
            let (number, at) = self.word("the number of an address space")?;
            let Ok(space) = number.parse() else {
                self.report.error("llvm-space", at, "an address space is a number");
                return Err(Reported);
            };
            self.expect(")")?;
            space
        } else {
            0
        };
        if name != "ptr" {
            self.expect("*")?;
        }
        Ok((space, self.word("a pointer")?.0))
    }

    /// `syncscope("device")`; empty where there is none.
    fn syncscope(&mut self) -> Read<&'a str> {
        if !self.eat("syncscope") {
            return Ok("");
        }
        self.expect("(")?;
        let Some(&Token { kind: TokenKind::String, at }) = self.tokens.get(self.next) else {
            self.expected("the name of a scope").help("syncscope(\"device\")");
            return Err(Reported);
        };
        self.next += 1;
        self.expect(")")?;
        Ok(at.of(self.text).trim_matches('"'))
    }

    /// One of `allowed`, or what is wrong with what is there.
    fn order(&mut self, of: &str, allowed: &[Order]) -> Read<Order> {
        let (name, at) = self.word("an ordering")?;
        let known = ORDERS.iter().find(|(known, _)| *known == name).map(|known| known.1);
        if let Some(order) = known.filter(|order| allowed.contains(order)) {
            return Ok(order);
        }
        let list: Vec<&str> = allowed.iter().map(|order| order.name()).collect();
        let message = match known {
            Some(_) => format!("{of} is not `{name}`"),
            None => format!("`{}` is no ordering", short(name)),
        };
        self.report.error("llvm-order", at, message).note(format!("one of {}", list.join(", ")));
        Err(Reported)
    }

    /// What stands behind the operands: alignment, metadata, what is known of the pointer.
    fn tail(&mut self, access: &mut Access<'a>) -> Read<()> {
        while self.eat(",") {
            if self.eat("align") {
                let (number, at) = self.word("an alignment")?;
                let align = number.parse().ok().filter(|align: &u64| align.is_power_of_two());
                if align.is_none() {
                    self.report
                        .error("llvm-align", at, "an alignment is a power of two")
                        .help("align 4");
                    return Err(Reported);
                }
                access.align = align;
            } else if let Some(name) = self.text_at(0).strip_prefix('!') {
                access.metadata.push(name);
                self.next += 1;
                self.word("a node of metadata")?;
            } else {
                self.expected("`align` or metadata");
                return Err(Reported);
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
                return Err(Reported);
            }
            access.argument = Some(attributes);
        }
        self.end()
    }

    fn end(&mut self) -> Read<()> {
        if self.next >= self.tokens.len() {
            return Ok(());
        }
        self.expected("the end of the line");
        Err(Reported)
    }

    fn load(&mut self) -> Read<Operation<'a>> {
        let (atomic, volatile) = (self.eat("atomic"), self.eat("volatile"));
        let ty = self.ty()?;
        self.expect(",")?;
        let (space, pointer) = self.pointer()?;
        let access = Access { volatile, space, ..plain(Kind::Load, ty, pointer) };
        let orders = [Order::Unordered, Order::Monotonic, Order::Acquire, Order::SeqCst];
        self.plain_or_atomic(access, atomic, "a load", &orders)
    }

    fn store(&mut self) -> Read<Operation<'a>> {
        let (atomic, volatile) = (self.eat("atomic"), self.eat("volatile"));
        let ty = self.ty()?;
        let value = self.word("a value")?.0;
        self.expect(",")?;
        let (space, pointer) = self.pointer()?;
        let access =
            Access { volatile, space, values: vec![value], ..plain(Kind::Store, ty, pointer) };
        let orders = [Order::Unordered, Order::Monotonic, Order::Release, Order::SeqCst];
        self.plain_or_atomic(access, atomic, "a store", &orders)
    }

    fn plain_or_atomic(
        &mut self,
        mut access: Access<'a>,
        atomic: bool,
        of: &str,
        orders: &[Order],
    ) -> Read<Operation<'a>> {
        let from = self.here();
        access.scope = self.syncscope()?;
        let named = ORDERS.iter().any(|(name, _)| *name == self.text_at(0));
        if atomic {
            access.order = Some(self.order(of, orders)?);
        } else if named || !access.scope.is_empty() {
            let message = format!("{of} with an ordering or a scope is `atomic`");
            self.report
                .error("llvm-atomic", from, message)
                .help("load atomic i32, ptr %p monotonic, align 4");
            return Err(Reported);
        }
        self.tail(&mut access)?;
        if atomic && access.align.is_none() {
            let here = self.here();
            let align = access.ty.bytes().unwrap_or(4);
            self.report
                .error("llvm-align", here, format!("{of} that is atomic says its alignment"))
                .help(format!(", align {align}"));
            return Err(Reported);
        }
        Ok(Operation::Access(access))
    }

    fn rmw(&mut self) -> Read<Operation<'a>> {
        let volatile = self.eat("volatile");
        let (name, at) = self.word("an operation")?;
        let Some(&(_, op)) = OPERATIONS.iter().find(|(known, _)| *known == name) else {
            let near = self.report.nearest(name, OPERATIONS.iter().map(|(name, _)| *name));
            let message = format!("`{}` is no operation of `atomicrmw`", short(name));
            self.report
                .error("llvm-operation", at, message)
                .help_if(near.map(|near| format!("`{near}`")));
            return Err(Reported);
        };
        let (space, pointer) = self.pointer()?;
        self.expect(",")?;
        let ty = self.ty()?;
        let value = self.word("a value")?.0;
        let mut access =
            Access { volatile, space, values: vec![value], ..plain(Kind::Rmw(op), ty, pointer) };
        access.scope = self.syncscope()?;
        let orders =
            [Order::Monotonic, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        access.order = Some(self.order("an `atomicrmw`", &orders)?);
        self.tail(&mut access)?;
        Ok(Operation::Access(access))
    }

    fn cmpxchg(&mut self) -> Read<Operation<'a>> {
        let (weak, volatile) = (self.eat("weak"), self.eat("volatile"));
        let (space, pointer) = self.pointer()?;
        self.expect(",")?;
        let ty = self.ty()?;
        let expected = self.word("a value")?.0;
        self.expect(",")?;
        let at = self.here();
        let other = self.ty()?;
        if other != ty {
            let message = format!("a `cmpxchg` is of one type: {ty} and {other}");
            self.report.error("llvm-type", at, message).help(ty.to_string());
            return Err(Reported);
        }
        let value = self.word("a value")?.0;
        let scope = self.syncscope()?;
        let orders =
            [Order::Monotonic, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        let order = self.order("a `cmpxchg`", &orders)?;
        let failure = self
            .order("a `cmpxchg` that fails", &[Order::Monotonic, Order::Acquire, Order::SeqCst])?;
        let mut access = Access {
            volatile,
            space,
            scope,
            order: Some(order),
            values: vec![expected, value],
            ..plain(Kind::CmpXchg { weak, failure }, ty, pointer)
        };
        self.tail(&mut access)?;
        Ok(Operation::Access(access))
    }

    fn fence(&mut self) -> Read<Operation<'a>> {
        let scope = self.syncscope()?;
        let orders = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        let order = self.order("a fence", &orders)?;
        self.end()?;
        Ok(Operation::Fence { order, scope })
    }

    /// A barrier, or something that nothing is known of.
    fn call(&mut self) -> Read<Operation<'a>> {
        let callee = (self.next..self.tokens.len())
            .map(|token| self.tokens[token].at.of(self.text))
            .find(|word| word.starts_with(['@', '%']));
        let Some(callee) = callee else {
            self.next = self.tokens.len();
            self.expected("whom to call").help("call void @llvm.nvvm.barrier0()");
            return Err(Reported);
        };
        let bare = callee.strip_suffix(".aligned").unwrap_or(callee);
        Ok(match bare {
            "@llvm.nvvm.barrier0"
            | "@llvm.nvvm.barrier.cta.sync.all"
            | "@llvm.nvvm.barrier.cta.sync.aligned.all" => Operation::Barrier(Barrier::Cta),
            "@llvm.nvvm.barrier.cluster.arrive" => Operation::Barrier(Barrier::ClusterArrive),
            "@llvm.nvvm.barrier.cluster.arrive.relaxed" => {
                Operation::Barrier(Barrier::ClusterArriveRelaxed)
            }
            "@llvm.nvvm.barrier.cluster.wait" => Operation::Barrier(Barrier::ClusterWait),
            _ => Operation::Unsupported(callee),
        })
    }
}

/// An access that is neither volatile nor atomic, of the generic space.
fn plain(kind: Kind, ty: Type, pointer: &str) -> Access<'_> {
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
