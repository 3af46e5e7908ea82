//! `ld`, `st`, `atom`, `red`, and accesses through other proxies in the peer dialect.

use model::isa::alu::{Alu, AluOp};
use model::isa::atom::AtomicOp;
use model::isa::cxx::Cxx;
use model::isa::ld::{Load, LoadOrder};
use model::isa::st::Store;
use model::isa::{Instruction, Reg, Type, TypeKind};
use model::memory::Proxy;
use ptx::qualifier::{Dialect, Qualifiers};
use ptx::rules;
use ptx::rules::atomic::{ATOM_SUB, RED_SUB};
use ptx::shape::Opcode;

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};
use crate::draft::DraftAccess;
use text::report::ErrorReported;

/// A memory instruction that keeps the rules, or an unsupported instruction.
type Checked<'a> = Result<(Qualifiers, Vec<Arg<'a>>), Instruction>;

impl<'a> InstructionReader<'_> {
    pub(super) fn load(
        &mut self,
        cell: &InstructionCell<'a>,
        opcode: Opcode,
    ) -> Option<Instruction> {
        let (qualifiers, args) = match self.checked(cell, opcode)? {
            Ok(checked) => checked,
            Err(unsupported) => return Some(unsupported),
        };
        let order = if opcode == Opcode::Ldu {
            LoadOrder::Uniform
        } else {
            ptx::meaning::load_order(&qualifiers)?
        };
        let ty = qualifiers.ty.map_or(Type::U64, |ty| ty.value);
        let [destination, address] = self.exactly(cell, &qualifiers, args, "r0, [x]")?;
        if let Some(plain) = self.peer_move(cell, &destination, &address) {
            return plain.ok();
        }
        let destinations = self.destinations(&destination, ty, &qualifiers)?;
        let at = address.at();
        let unified = matches!(&address, Arg::Address(written, _) if written.unified.is_some());
        let address = self.address(cell, &address)?;
        let load = Load {
            order,
            cxx: Cxx::default(),
            space: qualifiers.space(),
            proxy: proxy(cell.opcode()),
            ty,
            prefetches: qualifiers.prefetch.is_some(),
            global_only: qualifiers.policy.is_some() || unified,
            destinations,
            address,
        };
        let elements = u32::try_from(load.destinations.len()).unwrap_or(u32::MAX);
        let (size, reach) = (ty.bytes(), load.reach());
        let access = DraftAccess::of(address, size, elements, load.space, reach, at);
        self.access(cell, access, &qualifiers);
        Some(Instruction::Load(load))
    }

    /// In the peer dialect, `ld r0, 1` and `ld r0, r1` are moves.
    fn peer_move(
        &mut self,
        cell: &InstructionCell<'a>,
        destination: &Arg<'a>,
        source: &Arg<'a>,
    ) -> Option<Result<Instruction, ErrorReported>> {
        if self.draft.dialect != Dialect::Peer || cell.parts.len() > 1 {
            return None;
        }
        let moves = match source {
            Arg::Number(..) => true,
            Arg::Name(name, _) => {
                self.draft.known_variable(name).is_none()
                    && (self.draft.thread(self.thread).known_register(name).is_some()
                        || looks_like_register(name))
            }
            Arg::Address(..) | Arg::Vector(..) | Arg::Negated(..) | Arg::Joined(..) => false,
        };
        moves.then(|| {
            let source = self.operand(source).ok_or(ErrorReported)?;
            let ty = Type::U64;
            let destination = self.alu_destination(destination, ty.bits, AluOp::Mov, &[source]);
            Ok(Instruction::Alu(Alu {
                op: AluOp::Mov,
                ty,
                destination: destination.ok_or(ErrorReported)?,
                sources: vec![source],
            }))
        })
    }

    pub(super) fn store(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let (qualifiers, args) = match self.checked(cell, Opcode::St)? {
            Ok(checked) => checked,
            Err(unsupported) => return Some(unsupported),
        };
        let order = ptx::meaning::store_order(&qualifiers)?;
        let ty = qualifiers.ty.map_or(Type::U64, |ty| ty.value);
        let [address, value] = self.exactly(cell, &qualifiers, args, "[x], 1")?;
        let at = address.at();
        let address = self.address(cell, &address);
        let values = self.elements(&value, &qualifiers)?;
        let mut sources = Vec::with_capacity(values.len());
        for value in values {
            sources.push(self.sized(value, ty)?);
        }
        let address = address?;
        let store = Store {
            order,
            cxx: Cxx::default(),
            space: qualifiers.space(),
            proxy: proxy(cell.opcode()),
            ty,
            global_only: qualifiers.policy.is_some(),
            sources,
            address,
        };
        let elements = u32::try_from(store.sources.len()).unwrap_or(u32::MAX);
        let (size, reach) = (ty.bytes(), store.reach());
        let access = DraftAccess::of(address, size, elements, store.space, reach, at);
        self.access(cell, access, &qualifiers);
        Some(Instruction::Store(store))
    }

    pub(super) fn atomic(
        &mut self,
        cell: &InstructionCell<'a>,
        reduction: bool,
    ) -> Option<Instruction> {
        let opcode = if reduction { Opcode::Red } else { Opcode::Atom };
        if self.draft.dialect == Dialect::Ptx
            && let Some(position) = cell.parts.iter().position(|part| part.text == "sub")
        {
            let rule = if reduction { &RED_SUB } else { &ATOM_SUB };
            let note = "add the negated value instead".into();
            self.broken(rule, cell.part_at(position), note, negated(cell, position));
            return None;
        }
        let (qualifiers, mut args) = match self.checked(cell, opcode)? {
            Ok(checked) => checked,
            Err(unsupported) => return Some(unsupported),
        };
        let (op, order, scope) = ptx::meaning::atomic(&qualifiers)?;
        let ty = qualifiers.ty.map_or(Type::U64, |ty| ty.value);
        let float = ty.kind == TypeKind::Float && ty.bits >= 32;
        let integer = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
        if !float && !integer || qualifiers.vector.is_some() {
            // Reading R26 covers the elements of vectors and packed types, but these are not modelled.
            let what = "atomics on halves, packed types and vectors are not modelled";
            return Some(Self::unsupported(cell, what));
        }
        if qualifiers.policy.is_some() {
            args.pop();
        }
        let operands = 1 + usize::from(op == AtomicOp::Cas);
        if args.len() != operands + 1 + usize::from(!reduction) {
            let form = match (reduction, op) {
                (true, _) => "[x], 1",
                (false, AtomicOp::Cas) => "r0, [x], 0, 1",
                (false, _) => "r0, [x], 1",
            };
            self.count(cell, &args, &self.form(form));
            return None;
        }
        let (destination, rest) =
            if reduction { (None, &args[..]) } else { (args.first(), &args[1..]) };
        let destination = match destination {
            Some(arg) => self.plain_destination(arg, ty.bits).ok()?,
            None => None,
        };
        let address = self.address(cell, &rest[0]);
        let mut operands = Vec::with_capacity(rest.len() - 1);
        for arg in &rest[1..] {
            operands.push(self.sized(arg, ty)?);
        }
        let address = address?;
        let space = qualifiers.space();
        let atomic = model::isa::atom::Atomic {
            order,
            cxx: Cxx::default(),
            scope,
            space,
            op,
            ty,
            reduction,
            destination,
            address,
            operands,
        };
        let (reach, at) = (atomic.reach(), rest[0].at());
        let access = DraftAccess::of(address, ty.bytes(), 1, space, reach, at);
        self.access(cell, access, &qualifiers);
        Some(Instruction::Atomic(atomic))
    }

    /// The operands in `form`, with the brackets of the dialect.
    fn form(&self, form: &str) -> String {
        match self.draft.dialect {
            Dialect::Ptx | Dialect::Cxx => form.to_owned(),
            Dialect::Peer => form.replace(['[', ']'], ""),
        }
    }

    /// Two operands, followed by the cache policy if a qualifier requires it.
    fn exactly(
        &mut self,
        cell: &InstructionCell<'a>,
        qualifiers: &Qualifiers,
        mut args: Vec<Arg<'a>>,
        form: &str,
    ) -> Option<[Arg<'a>; 2]> {
        if qualifiers.policy.is_some() && args.len() == 3 {
            args.pop();
        }
        match <[Arg<'a>; 2]>::try_from(args) {
            Ok(two) => Some(two),
            Err(args) => {
                let form = self.form(form);
                self.count(cell, &args, &form);
                None
            }
        }
    }

    /// The qualifiers and operands, after the rules were checked. The inner `Err` is an instruction that the
    /// model does not support.
    fn checked(&mut self, cell: &InstructionCell<'a>, opcode: Opcode) -> Option<Checked<'a>> {
        let qualifiers = match self.qualifiers(cell, rules::accepts(opcode))? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(Err(unsupported)),
        };
        let args = self.args(cell)?;
        self.ruled(cell, opcode, &qualifiers, &args)?;
        Some(Ok((qualifiers, args)))
    }

    /// The operand, or the elements of a vector.
    fn elements<'v>(
        &mut self,
        arg: &'v Arg<'a>,
        qualifiers: &Qualifiers,
    ) -> Option<Vec<&'v Arg<'a>>> {
        let length = qualifiers.vector.map_or(1, |vector| usize::from(vector.value));
        match (arg, qualifiers.vector) {
            (Arg::Vector(elements, _), _) if elements.len() == length => {
                Some(elements.iter().collect())
            }
            // Only the peer dialect reaches this: a rule checks it for PTX.
            (Arg::Vector(elements, at), _) => {
                let count = elements.len();
                let message = format!("{count} elements do not fit the qualifiers");
                self.report.error("vector", *at, message).note(format!("expected {length}"));
                None
            }
            (_, Some(vector)) => {
                let names: Vec<String> = (0..vector.value).map(|n| format!("r{n}")).collect();
                self.report
                    .error("vector", arg.at(), format!("expected {length} elements in braces"))
                    .help(format!("{{{}}}", names.join(", ")));
                None
            }
            (_, None) => Some(vec![arg]),
        }
    }

    fn destinations(
        &mut self,
        arg: &Arg<'a>,
        ty: Type,
        qualifiers: &Qualifiers,
    ) -> Option<Vec<Option<Reg>>> {
        let elements = self.elements(arg, qualifiers)?;
        elements.into_iter().map(|arg| self.plain_destination(arg, ty.bits).ok()).collect()
    }

    /// Records an access, which is checked against its variable when all accesses are known.
    pub(super) fn access(
        &mut self,
        cell: &InstructionCell<'a>,
        access: DraftAccess,
        qualifiers: &Qualifiers,
    ) {
        let space_at = cell.part_at(qualifiers.space.map_or(0, |space| space.position));
        self.draft.thread(self.thread).accesses.push(DraftAccess { space_at, ..access });
    }

    /// Reports a constant that has more bits than the type.
    pub(super) fn fits(&mut self, arg: &Arg<'a>, ty: Type) {
        if let Arg::Number(_, at) = *arg
            && ty.bits > 64
        {
            let message = format!("a constant has 64 bits, and the type {}", ty.bits);
            self.report.error("constant", at, message).help("mov.b128 q, {r0, r1}");
            return;
        }
        if let Arg::Number(value, at) = *arg
            && !crate::program::fits(value, ty.bits.into())
        {
            let value = value.cast_signed();
            let message = format!("{value} does not fit in the {} bits of the type", ty.bits);
            self.report.error("constant", at, message).help("a wider type, or a smaller number");
        }
    }
}

/// The corresponding addition. The sign of a constant operand is changed.
fn negated(cell: &InstructionCell<'_>, position: usize) -> String {
    let mut parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
    parts[position] = "add";
    let add = cell.with_parts(&parts);
    match add.rsplit_once(", ") {
        Some((before, value)) if value.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{before}, -{value}")
        }
        Some((before, value)) if value.starts_with('-') => format!("{before}, {}", &value[1..]),
        _ => add,
    }
}

fn proxy(opcode: &str) -> Proxy {
    match opcode {
        "tld" => Proxy::Texture,
        "suld" | "sust" => Proxy::Surface,
        "cold" => Proxy::Constant,
        _ => Proxy::Generic,
    }
}

pub(super) fn looks_like_register(name: &str) -> bool {
    name.starts_with('%')
        || name
            .strip_prefix('r')
            .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}
