//! Turns cells into instructions: resolves names, and checks the rules of `model::isa`.

mod alu;
mod asynchronous;
mod barrier;
mod branch;
mod cancel;
mod compare;
mod convert;
mod cxx;
mod extended;
mod fence;
mod float;
mod integer;
mod lanes;
mod memory;
mod multimem;
mod plan;
mod tensor;
mod tensor_memory;

use model::isa::alu::{Alu, AluOp};
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, Type};
use model::memory::VariableId;
use model::program::ThreadId;
use ptx::opcode;
use ptx::qualifier::{Dialect, QualifierKind, Qualifiers};
use ptx::rule::{Authority, Edit, Rule};
use ptx::rules;
use ptx::shape::{self, AddressShape, InstructionForm, Lanes, Opcode, OperandShape, ValueShape};
use ptx::version::RuleContext;

use crate::cell::{Arg, InstructionCell, WrittenBase};
use crate::draft::ProgramBuilder;
use ptx::bad_qualifier;
use ptx::correction::{InstructionPieces, OperandPiece, PieceShape};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

/// Reads the instructions of one thread.
pub struct InstructionReader<'r> {
    pub draft: &'r mut ProgramBuilder,
    pub report: &'r mut Diagnostics,
    pub thread: ThreadId,
}

impl<'a> InstructionReader<'_> {
    /// Reads one cell: its labels, and its instruction if there is one.
    pub fn cell(&mut self, cell: &InstructionCell<'a>) {
        let line = self.draft.thread(self.thread).lines.len();
        for &(name, at) in &cell.labels {
            let labels = &mut self.draft.thread(self.thread).labels;
            if let Some(&(_, first)) = labels.get(name) {
                self.report
                    .error(
                        "duplicate-label",
                        at,
                        format!("the label `{}` is defined twice", short(name)),
                    )
                    .label(first, "first here");
            } else {
                labels.insert(name.to_owned(), (line, at));
            }
        }
        if cell.parts.is_empty() {
            return;
        }
        let guard = cell
            .guard
            .map(|(name, at, negated)| Guard { predicate: self.register(name, at), negated });
        for instruction in self.instruction(cell) {
            let line = Line { guard, instruction, text: cell.text() };
            self.draft.thread(self.thread).lines.push(line);
        }
    }

    /// The instructions of a cell: none after an error, several for what is several operations.
    fn instruction(&mut self, cell: &InstructionCell<'a>) -> Vec<Instruction> {
        let peer = self.draft.dialect == Dialect::Peer;
        let cxx = self.draft.dialect == Dialect::Cxx;
        if let Some(name) = cell.special_register() {
            let why = format!(
                "the special register `{name}`, which a test gives no value: instead, read a register that the initial \
                 state sets, such as `P0:tid=1`"
            );
            return vec![Self::unsupported(cell, &why)];
        }
        let mut modifiers = cell.parts.iter().skip(1).map(|part| part.text);
        let inexact = modifiers.find(|part| matches!(*part, "ftz" | "approx" | "full"));
        if let Some(inexact) = inexact.filter(|_| !self.draft.rounds_freely) {
            let why = format!("the result of `.{inexact}`, which is not that of IEEE 754");
            return vec![Self::unsupported(cell, &why)];
        }
        let one = match cell.opcode() {
            name if cxx && cxx::is_opcode(name) => self.cxx(cell),
            "ld" | "ldu" | "st" | "atom" | "red" | "membar" if cxx => self.no_cxx(cell),
            "mbarrier"
            | "cp"
            | "wgmma"
            | "tcgen05"
            | "griddepcontrol"
            | "tensormap"
            | "multimem"
            | "clusterlaunchcontrol" => {
                return self.asynchronous(cell);
            }
            "st" | "red" if matches!(cell.part(1), "async" | "bulk") => {
                return self.asynchronous(cell);
            }
            "ld" => self.load(cell, Opcode::Ld),
            "ldu" => self.load(cell, Opcode::Ldu),
            "st" => self.store(cell),
            "atom" => self.atomic(cell, false),
            "red" => self.atomic(cell, true),
            "fence" => self.fence(cell),
            "membar" => self.membar(cell),
            "bar" | "barrier" => self.barrier(cell),
            "bra" | "ret" | "exit" => self.branch(cell),
            "tld" | "suld" | "cold" if peer => self.load(cell, Opcode::Ld),
            "sust" if peer => self.store(cell),
            "goto" | "beq" | "bne" | "blt" | "ble" | "bgt" | "bge" if peer => {
                self.peer_branch(cell)
            }
            _ if Self::exchanges(cell) => self.exchange(cell),
            "activemask" => self.active_lanes(cell),
            name if opcode::is_without_effect(name) => return Vec::new(),
            "createpolicy" => self.policy(cell),
            "opaque" => return self.opaque(cell).unwrap_or_default(),
            _ if float::is_float(cell) => return self.float(cell).unwrap_or_default(),
            _ if extended::is_extended(cell) => return self.extended(cell).unwrap_or_default(),
            "mad" => return self.mad(cell).unwrap_or_default(),
            "mul" if matches!(cell.part(1), "wide" | "hi") => {
                return self.mad(cell).unwrap_or_default();
            }
            "cvt" => return self.convert(cell).unwrap_or_default(),
            "mov" if Self::moves_vector(cell) => {
                return self.vector_move(cell).unwrap_or_default();
            }
            "mapa" | "getctarank" => self.of_cluster(cell),
            "cvta" | "isspacep" => self.cvta(cell),
            "setp" if Self::combines(cell) => return self.compare(cell).unwrap_or_default(),
            "set" => return self.compare(cell).unwrap_or_default(),
            "slct" => return self.select(cell).unwrap_or_default(),
            name if integer::OPCODES.contains(&name) => {
                return self.integer(cell).unwrap_or_default();
            }
            "mov" | "add" | "sub" | "mul" | "and" | "or" | "xor" | "not" | "shl" | "shr"
            | "setp" | "selp" => self.alu(cell),
            _ => self.other(cell),
        };
        one.into_iter().collect()
    }

    /// `createpolicy`: writes a register whose value affects no outcome.
    fn policy(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let args = self.args(cell)?;
        let Some(first) = args.first() else {
            self.count(cell, &args, "policy, 1.0");
            return None;
        };
        let nothing = Operand::Imm(0);
        let destination = self.alu_destination(first, 64, AluOp::Mov, &[nothing])?;
        let ty = Type::U64;
        Some(Instruction::Alu(Alu { op: AluOp::Mov, ty, destination, sources: vec![nothing] }))
    }

    /// An opcode that the model does not have: an instruction of PTX, one of the peer dialect, or an unknown
    /// word.
    fn other(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let name = cell.opcode();
        let peers = opcode::PEER.contains(&name)
            && !(matches!(name, "suld" | "sust") && matches!(cell.part(1), "b" | "p"));
        if !peers && let Some(what) = opcode::outside(name) {
            return Some(Self::unsupported(cell, what));
        }
        if peers {
            self.report
                .error("peer-dialect", cell.name_at(), format!("`{name}` is not a PTX instruction"))
                .help(
                    "it exists in the untyped dialect: add the line `Dialect=peer`, and write all instructions in that dialect",
                );
            return None;
        }
        let peer: &[&str] = if self.draft.dialect == Dialect::Peer { opcode::PEER } else { &[] };
        let known = opcode::all().chain(peer.iter().copied());
        let near = self.report.nearest(name, known);
        let help = near.map_or("ld.relaxed.gpu.u32 r0, [x]".to_owned(), |near| {
            let mut parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
            parts[0] = near;
            cell.with_parts(&parts)
        });
        self.report
            .error(
                "unknown-instruction",
                cell.part_at(0),
                format!("unknown instruction `{}`", short(name)),
            )
            .help(help);
        None
    }

    fn unsupported(cell: &InstructionCell<'a>, what: &str) -> Instruction {
        let name = short(cell.name());
        Instruction::Unsupported(format!("`{name}`: {what}"))
    }

    /// The qualifiers of a cell; `None` after an error. The inner `Err` is an instruction that the model does
    /// not support.
    fn qualifiers(
        &mut self,
        cell: &InstructionCell<'a>,
        accepts: &[QualifierKind],
    ) -> Option<Result<Qualifiers, Instruction>> {
        let parts = cell.parts.iter().skip(1).map(|part| part.text);
        let (qualifiers, faults) = Qualifiers::read(parts, accepts);
        if let Some(outside) = qualifiers.outside {
            let part = cell.part(outside.position);
            let name = short(cell.name());
            let why = format!("`{name}`: `.{part}` is {}", outside.value);
            return Some(Err(Instruction::Unsupported(why)));
        }
        let ok = faults.is_empty();
        if !ok {
            let written = unread(cell);
            for fault in faults {
                bad_qualifier::tell(self.report, &written, fault, accepts);
            }
        }
        ok.then_some(Ok(qualifiers))
    }

    /// Checks the rules of a memory instruction; `None` if it breaks one. A rule of only the document or only
    /// the assembler is not an error in a test, because the meaning is clear.
    fn ruled(
        &mut self,
        cell: &InstructionCell<'a>,
        opcode: Opcode,
        qualifiers: &Qualifiers,
        args: &[Arg<'a>],
    ) -> Option<()> {
        let operands: Vec<OperandShape> = args.iter().map(Self::shape).collect();
        let predicated = cell.guard.is_some();
        let form = InstructionForm { opcode, q: qualifiers, predicated, operands: &operands };
        let ProgramBuilder { dialect, isa, target, .. } = *self.draft;
        let setting = RuleContext { dialect, isa, target, ..RuleContext::NEWEST };
        let mut broken = Vec::new();
        rules::check(&form, &setting, |rule, breach| {
            if rule.by == Authority::Both {
                broken.push((rule, breach));
            }
        });
        if !broken.is_empty() {
            let written = written(cell, args);
            for (rule, breach) in &broken {
                let help = match &breach.fix[..] {
                    // The PTX version of a test is in its header.
                    [Edit::Version(isa)] => Some(format!("PTX-ISA={isa}")),
                    _ => written.help(breach),
                };
                self.report
                    .error(rule.code, written.place(breach.spot), rule.text)
                    .note(breach.note.clone())
                    .section(rule.section)
                    .help_if(help);
            }
        }
        broken.is_empty().then_some(())
    }

    /// The form of an operand for the rules. Registers of a test have no declared type, and its variables are
    /// known only at the end.
    fn shape(arg: &Arg<'a>) -> OperandShape {
        let value = |arg: &Arg<'a>| match *arg {
            Arg::Name("_", _) => ValueShape::Sink,
            Arg::Name(..) => ValueShape::Register(None),
            // A number in a test is a bit pattern, also of a float.
            Arg::Number(..)
            | Arg::Address(..)
            | Arg::Vector(..)
            | Arg::Negated(..)
            | Arg::Joined(..) => ValueShape::Other,
        };
        match arg {
            Arg::Address(written, _) => {
                let base = match written.base {
                    WrittenBase::Number(_) => shape::AddressBase::Number,
                    WrittenBase::Name(..) => shape::AddressBase::Other,
                };
                let unified = written.unified.is_some();
                OperandShape::Place(AddressShape { base, offset: written.offset, unified })
            }
            Arg::Vector(elements, _) => OperandShape::Lanes(Lanes::new(elements.iter().map(value))),
            Arg::Name(..) | Arg::Number(..) | Arg::Negated(..) | Arg::Joined(..) => {
                OperandShape::Value(value(arg))
            }
        }
    }

    fn broken(&mut self, rule: &Rule, at: ByteSpan, note: String, help: String) {
        self.report.error(rule.code, at, rule.text).note(note).section(rule.section).help(help);
    }

    fn args(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Arg<'a>>> {
        let float = match cell.parts.last().map(|part| part.text) {
            Some("f32") => Some(32),
            Some("f64") => Some(64),
            // The fraction of a policy.
            Some("b64") if cell.opcode() == "createpolicy" => Some(64),
            _ => None,
        };
        cell.args(float, self.report)
    }

    /// Reports a wrong number of operands; `form` shows the correct operands.
    fn count(&mut self, cell: &InstructionCell<'a>, args: &[Arg<'a>], form: &str) {
        let name = cell.name();
        let what = match args.len() {
            0 => "no operand".to_owned(),
            1 => "1 operand".to_owned(),
            n => format!("{n} operands"),
        };
        let at = args
            .first()
            .zip(args.last())
            .map_or(cell.name_at().after(), |(first, last)| first.at().to(last.at()));
        self.report
            .error("operands", at, format!("wrong operands for `{}`", short(name)))
            .note(format!("{what} here"))
            .help(cell.with_operands(form));
    }

    fn register(&mut self, name: &str, at: ByteSpan) -> Reg {
        self.draft.thread(self.thread).register(name, at, self.report)
    }

    /// The destination register, or `None` for `_`; `bits` is the width of the value.
    fn destination(&mut self, arg: &Arg<'a>, bits: u16) -> Result<Option<Reg>, ErrorReported> {
        match *arg {
            Arg::Name("_", _) => Ok(None),
            Arg::Name(name, at) if self.draft.known_variable(name).is_none() => {
                let register = self.register(name, at);
                let thread = self.draft.thread(self.thread);
                thread.write(register, bits);
                Ok(Some(register))
            }
            Arg::Name(name, at) => {
                self.report
                    .error(
                        "destination",
                        at,
                        format!(
                            "`{}` is a variable, but the destination is a register",
                            short(name)
                        ),
                    )
                    .note("expected a register")
                    .help(format!("write `%{}` for a register of that name", short(name)));
                Err(ErrorReported)
            }
            Arg::Number(..)
            | Arg::Address(..)
            | Arg::Vector(..)
            | Arg::Negated(..)
            | Arg::Joined(..) => {
                self.report
                    .error("destination", arg.at(), "the first operand is the destination register")
                    .note("expected a register");
                Err(ErrorReported)
            }
        }
    }

    /// Like [`Self::destination`], and records that nothing is known of the value.
    fn plain_destination(
        &mut self,
        arg: &Arg<'a>,
        bits: u16,
    ) -> Result<Option<Reg>, ErrorReported> {
        let written = self.destination(arg, bits)?;
        if let Some(register) = written {
            self.draft.thread(self.thread).draft(register).given(None);
        }
        Ok(written)
    }

    /// A source operand: a register, a number, or a variable, which stands for its address.
    fn operand(&mut self, arg: &Arg<'a>) -> Option<Operand> {
        match *arg {
            Arg::Number(value, _) => Some(Operand::Imm(value)),
            Arg::Name("_", at) => {
                self.report
                    .error("operand", at, "`_` discards a result, but this is a source operand")
                    .note("expected a register or a number");
                None
            }
            Arg::Name(name, at) => Some(match self.draft.known_variable(name) {
                Some(variable) => Operand::Address(variable),
                None => Operand::Reg(self.register(name, at)),
            }),
            Arg::Address(_, at) => {
                self.report
                    .error("operand", at, "only `ld` and `atom` read memory")
                    .note("expected a register or a number");
                None
            }
            Arg::Vector(..) | Arg::Negated(..) | Arg::Joined(..) => {
                self.report
                    .error("operand", arg.at(), "this operand is not a value")
                    .note("expected a register or a number");
                None
            }
        }
    }

    /// The same of an operand of this type: a number has at most its bits.
    fn sized(&mut self, arg: &Arg<'a>, ty: Type) -> Option<Operand> {
        self.fits(arg, ty);
        self.operand(arg)
    }

    /// The address of an access. In the peer dialect, addresses have no brackets.
    fn address(&mut self, cell: &InstructionCell<'a>, arg: &Arg<'a>) -> Option<Address> {
        let (base, offset) = match *arg {
            Arg::Address(written, _) => {
                if let Some(at) = written.coordinates
                    && !cell.parts.iter().any(|part| part.text == "tensor")
                {
                    self.report
                        .error("address", at, "only copies of tensors have coordinates")
                        .note("expected an address");
                    return None;
                }
                (written.base, written.offset)
            }
            Arg::Name(name, at) if self.draft.dialect == Dialect::Peer => {
                (WrittenBase::Name(name, at), 0)
            }
            Arg::Name(..)
            | Arg::Number(..)
            | Arg::Vector(..)
            | Arg::Negated(..)
            | Arg::Joined(..) => {
                let written = arg.at().of(cell.source);
                let replaced = cell.operand_text().replacen(written, &format!("[{written}]"), 1);
                self.report
                    .error("address", arg.at(), "an address is written in brackets")
                    .note("expected an address")
                    .help(cell.with_operands(&replaced));
                return None;
            }
        };
        let base = match base {
            WrittenBase::Number(value) => Operand::Imm(value),
            WrittenBase::Name(name, at) => match self.base(name, at)? {
                Ok(variable) => Operand::Address(variable),
                Err(register) => Operand::Reg(register),
            },
        };
        Some(Address { base, offset })
    }

    /// A declared name is a variable. Any other name is a register if the thread has it.
    fn base(&mut self, name: &str, at: ByteSpan) -> Option<Result<VariableId, Reg>> {
        if name.starts_with('%') {
            return Some(Err(self.register(name, at)));
        }
        if let Some(variable) = self.draft.known_variable(name) {
            return Some(Ok(variable));
        }
        let ptx = self.draft.dialect != Dialect::Peer;
        let declares_all = self.draft.declares_all;
        let thread = self.draft.thread(self.thread);
        if thread.known_register(name).is_some()
            || thread.defined.contains(name)
            || declares_all
            || ptx && memory::looks_like_register(name)
        {
            return Some(Err(self.register(name, at)));
        }
        self.draft.location(name, at, self.report).map(Ok)
    }

    fn no_operands(&mut self, cell: &InstructionCell<'a>) -> Option<()> {
        if !cell.has_operands() {
            return Some(());
        }
        self.report
            .error("operands", cell.operands_at(), format!("`{}` takes no operands", cell.opcode()))
            .help(short(cell.name()));
        None
    }
}

/// The pieces of an instruction whose operands were not split.
fn unread<'a>(cell: &InstructionCell<'a>) -> InstructionPieces<'a> {
    let at = cell.operands_at();
    let rest = (at.start < at.end).then_some(OperandPiece { at, shape: PieceShape::Scalar });
    InstructionPieces { operands: rest.into_iter().collect(), ..written(cell, &[]) }
}

/// The pieces of an instruction, from which a suggestion is put together.
fn written<'a>(cell: &InstructionCell<'a>, args: &[Arg<'a>]) -> InstructionPieces<'a> {
    let piece = |arg: &Arg<'a>| {
        let shape = match arg {
            Arg::Address(written, _) => PieceShape::Address { unified: written.unified },
            Arg::Vector(elements, _) => PieceShape::Lanes(elements.iter().map(Arg::at).collect()),
            Arg::Name(..) | Arg::Number(..) | Arg::Negated(..) | Arg::Joined(..) => {
                PieceShape::Scalar
            }
        };
        OperandPiece { at: arg.at(), shape }
    };
    InstructionPieces {
        text: cell.source,
        at: cell.at,
        guard: cell.guard.map(|(_, name, _)| ByteSpan { start: cell.at.start, ..name }),
        parts: cell.parts.iter().map(|part| part.at).collect(),
        operands: args.iter().map(piece).collect(),
    }
}
