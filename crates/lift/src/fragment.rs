//! PTX inside another language: the text of inline assembly, as instructions of a column of C++ operations.
//!
//! An access or a fence becomes its C++ counterpart, so that the whole function has one model: an access with
//! an order and a scope becomes the atomic operation with that order and scope, and a weak access a plain one.
//! Other instructions are those of PTX.

use std::collections::BTreeSet;

use crate::module::names::Names;
use crate::module::operand::{constant_type, register, renamed};
use crate::written::{
    AsOperand, WrittenArg, WrittenGuard, WrittenInstruction, WrittenScalar, written,
};
use model::isa::Type;
use model::isa::atom::{AtomicOp, AtomicOrder};
use model::isa::fence::FenceOrder;
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::scope::Scope;
use ptx::opcode;
use ptx::qualifier::{QualifierKind, Qualifiers};
use ptx::shape::Opcode;
use ptx::{BodyItem, Instruction, PrintedOperand, is_special, rules};

/// The text around a fragment, which knows the names of the column.
pub trait Surroundings {
    /// The register, label or number that a name of the fragment denotes.
    fn name(&mut self, name: &str) -> Result<WrittenScalar, String>;
    /// The register with the value of a special register, by its name without `%`.
    fn special(&mut self, name: &str) -> Result<String, String>;
    /// A register that is not in use.
    fn temporary(&mut self) -> String;
}

/// An instruction of the column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FragmentRow {
    pub instruction: WrittenInstruction,
    /// Whether it is a volatile access.
    pub volatile: bool,
    /// Whether it is a load of memory that the program promises not to write.
    pub read_only: bool,
    /// What the first access of a vector requires of its address.
    pub alignment: Option<VectorAlignment>,
}

/// The address of a vector, which is undefined if it is not a multiple of its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorAlignment {
    /// The guard of the access.
    pub guard: Option<WrittenGuard>,
    pub base: WrittenScalar,
    pub offset: i64,
    pub bytes: u32,
}

/// The instructions of a fragment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fragment {
    pub rows: Vec<FragmentRow>,
    /// Whether it accesses memory, or orders the accesses of this thread and of others.
    pub touches_memory: bool,
}

/// Opcodes that leave the fragment, or whose effect is not known.
const OUTSIDE: &[&str] = &["call", "brx", "trap", "brkpt", "ret", "exit"];

/// A register that the surroundings of a fragment declare.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FragmentRegister {
    pub name: String,
    pub predicate: bool,
}

/// Reads a fragment. `registers` are the ones of its surroundings. Returns the reason for which it is not
/// supported.
pub fn read(
    text: &str,
    registers: &[FragmentRegister],
    surroundings: &mut dyn Surroundings,
) -> Result<Fragment, String> {
    let declared = registers.iter().map(|FragmentRegister { name, predicate }| {
        format!(".reg .{} {name};", if *predicate { "pred" } else { "b64" })
    });
    let declared: String = declared.collect();
    let module = format!(
        ".version 9.1\n.target sm_120a\n.address_size 64\n.func f()\n{{{declared}\n{text}\n}}\n"
    );
    let (module, errors) = ptx::read("", module.as_bytes());
    if let Some(error) = errors.first() {
        return Err(error.message.clone());
    }
    let module = module.ok_or("it is not text")?;
    let declared = module.declared_functions();
    let [function] = &declared[..] else { return Err("its braces are not balanced".to_owned()) };
    if let Some(variable) = function.variables.first() {
        return Err(format!("the variable `{}` is not supported", variable.name));
    }
    let mut known: BTreeSet<&str> = registers.iter().map(|one| one.name.as_str()).collect();
    known.extend(module.labels(0).iter().map(|(label, _)| *label));
    known.extend(module.instructions(0).flat_map(|instruction| instruction.defines));
    let mut names = Names::default();
    names.open_body();
    // The registers of the surroundings keep their names.
    for register in registers {
        names.plain(&register.name);
    }
    let mut reader = FragmentReader { fragment: Fragment::default(), known, names, surroundings };
    let items = module.body(0);
    for (at, item) in items.iter().enumerate() {
        match item {
            BodyItem::Open => reader.names.open(&items[at + 1..]),
            BodyItem::Close => reader.names.close(),
            BodyItem::Register { name, count } => reader.names.register(name, *count),
            BodyItem::Variable(variable) => {
                return Err(format!("the variable `{}` is not supported", variable.name));
            }
            BodyItem::Targets(_) => return Err("a table of labels is not supported".to_owned()),
            BodyItem::Label(label) => {
                let label = reader.named(label)?;
                reader.row(WrittenInstruction::label(label));
            }
            BodyItem::Instruction(instruction) => reader.instruction(instruction)?,
        }
    }
    Ok(reader.fragment)
}

/// An order and a scope as parts of a cell.
fn strong(order: &str, of: Scope) -> String {
    format!(".{order}.{}", of.cxx_name())
}

/// The operands of an access of a fragment, in the names of the column.
struct FragmentAccess {
    guard: Option<WrittenGuard>,
    ty: Type,
    base: WrittenScalar,
    offset: i64,
    values: Vec<WrittenArg>,
    /// The number of elements.
    count: usize,
}

impl FragmentAccess {
    /// The address of an element.
    fn place(&self, index: i64) -> WrittenArg {
        let offset = self.offset + index * i64::from(self.ty.bytes());
        WrittenArg::address(self.base.clone(), offset)
    }

    /// What a vector requires of its address.
    fn alignment(&self) -> Option<VectorAlignment> {
        let count = u32::try_from(self.count).expect("a vector has few elements");
        let (guard, base, offset) = (self.guard.clone(), self.base.clone(), self.offset);
        let bytes = count * self.ty.bytes();
        (count > 1).then_some(VectorAlignment { guard, base, offset, bytes })
    }

    /// The values of a vector, each with its address; `None` if there are more or fewer.
    fn elements(&self) -> Option<Vec<(&WrittenArg, WrittenArg)>> {
        let places = (0..).map(|index| self.place(index));
        (self.values.len() == self.count).then(|| self.values.iter().zip(places).collect())
    }
}

struct FragmentReader<'s> {
    fragment: Fragment,
    /// Labels, and registers that have a value.
    known: BTreeSet<&'s str>,
    /// The names of the fragment, by the block that declares them.
    names: Names<'s>,
    surroundings: &'s mut dyn Surroundings,
}

impl FragmentReader<'_> {
    fn row(&mut self, instruction: WrittenInstruction) -> &mut FragmentRow {
        let row = FragmentRow { instruction, volatile: false, read_only: false, alignment: None };
        self.fragment.rows.push(row);
        self.fragment.rows.last_mut().expect("one was pushed")
    }

    /// What a name is in the column.
    fn name(&mut self, name: &str) -> Result<WrittenScalar, String> {
        let own = self.names.plain(name);
        self.surroundings.name(&own)
    }

    /// The same of a register or a label.
    fn named(&mut self, name: &str) -> Result<String, String> {
        register(name, &mut |name| self.value(name))
    }

    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<(), String> {
        let parts: Vec<&str> = instruction.name.split('.').collect();
        let opcode = parts[0];
        if opcode::is_without_effect(opcode) || opcode == "discard" {
            return Ok(());
        }
        if OUTSIDE.contains(&opcode) {
            return Err(format!("`{opcode}` is not supported"));
        }
        let guard = match instruction.guard {
            Some(guard) => {
                let predicate = self.named(guard)?;
                Some(WrittenGuard { predicate, negated: instruction.negated })
            }
            None => None,
        };
        let guard = guard.as_ref();
        self.fragment.touches_memory |= instruction.memory || matches!(opcode, "bar" | "barrier");
        if !instruction.memory {
            let ty = constant_type(&parts);
            let operands = renamed(&instruction.operands, ty, &mut |name| self.value(name))?;
            let name = instruction.name.clone();
            let plain = WrittenInstruction { name, operands, ..WrittenInstruction::default() };
            self.row(plain.guarded(guard));
            return Ok(());
        }
        let not = || format!("`{}` is not supported", instruction.name);
        let qualifiers = |opcode| {
            let accepts: &[QualifierKind] = rules::accepts(opcode);
            let (qualifiers, faults) = Qualifiers::read(parts[1..].iter().copied(), accepts);
            (qualifiers.outside.is_none() && faults.is_empty())
                .then_some(qualifiers)
                .ok_or_else(not)
        };
        let fence = match opcode {
            "fence" => ptx::meaning::fence(&qualifiers(Opcode::Fence)?).ok_or_else(not)?,
            "membar" => ptx::meaning::membar(&qualifiers(Opcode::Membar)?).ok_or_else(not)?,
            _ => {
                let opcode = match opcode {
                    "ld" => Opcode::Ld,
                    "ldu" => Opcode::Ldu,
                    "st" => Opcode::St,
                    "atom" => Opcode::Atom,
                    _ => Opcode::Red,
                };
                let qualifiers = qualifiers(opcode)?;
                let access = self.access(instruction, &qualifiers, guard)?;
                let done = match opcode {
                    Opcode::Ld => ptx::meaning::load_order(&qualifiers)
                        .and_then(|order| self.load(&access, order)),
                    Opcode::Ldu => self.load(&access, LoadOrder::Uniform),
                    Opcode::St => ptx::meaning::store_order(&qualifiers)
                        .and_then(|order| self.store(&access, order)),
                    Opcode::Atom | Opcode::Red | Opcode::Fence | Opcode::Membar => {
                        self.atomic(&access, &qualifiers, &parts)
                    }
                };
                return done.ok_or_else(not);
            }
        };
        let order = match fence.order {
            FenceOrder::Sc => "seq_cst",
            order @ (FenceOrder::Acquire | FenceOrder::Release | FenceOrder::AcqRel) => {
                order.name()
            }
        };
        let name = format!("fence.{order}.{}", fence.scope.cxx_name());
        self.row(written(name, &[]).guarded(guard));
        Ok(())
    }

    /// The operands of an access.
    fn access(
        &mut self,
        instruction: &Instruction<'_>,
        q: &Qualifiers,
        guard: Option<&WrittenGuard>,
    ) -> Result<FragmentAccess, String> {
        let not = || format!("`{}` is not supported", instruction.name);
        let space = q.space();
        let ty = q.ty.filter(|_| !space.is_param()).ok_or_else(not)?.value;
        let (constants, mut place, mut values) = (constant_type(&[ty.name()]), None, Vec::new());
        for operand in &instruction.operands {
            match operand {
                PrintedOperand::Address { base: Some(base), offset, .. } => {
                    place = Some((self.value(&base.to_string())?, *offset));
                }
                PrintedOperand::Address { .. } => {}
                PrintedOperand::Scalar(_) | PrintedOperand::Vector(_) => {
                    let these = std::slice::from_ref(operand);
                    let these = renamed(these, constants, &mut |name| self.value(name))?;
                    values.extend(these.iter().flat_map(WrittenArg::elements).cloned());
                }
                PrintedOperand::Joined(_) | PrintedOperand::List(_) => return Err(not()),
            }
        }
        if q.policy.is_some() {
            values.pop();
        }
        let (mut base, offset) = place.ok_or_else(not)?;
        // A number may be an offset in the window of its state space. C++ has generic addresses only.
        if !space.may_be_global() {
            let generic = self.surroundings.temporary();
            let name = if space.is_shared() { "shared" } else { space.name() };
            self.row(written(format!("cvta.{name}.u64"), &[&generic, &base]));
            base = WrittenScalar::Name(generic);
        }
        let count = q.vector.map_or(1, |vector| usize::from(vector.value));
        Ok(FragmentAccess { guard: guard.cloned(), ty, base, offset, values, count })
    }

    fn load(&mut self, access: &FragmentAccess, order: LoadOrder) -> Option<()> {
        let how = match order {
            LoadOrder::Volatile | LoadOrder::MmioRelaxed => strong("relaxed", Scope::Sys),
            LoadOrder::MmioAcquire => strong("acquire", Scope::Sys),
            LoadOrder::Relaxed(of) => strong("relaxed", of),
            LoadOrder::Acquire(of) => strong("acquire", of),
            LoadOrder::Weak | LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly => {
                String::new()
            }
        };
        let volatile =
            matches!(order, LoadOrder::Volatile | LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire);
        let FragmentAccess { guard, ty, .. } = access;
        let mut alignment = access.alignment();
        for (value, at) in access.elements()? {
            let load = written(format!("load{how}.{}", ty.name()), &[value, &at]);
            let row = self.row(load.guarded(guard.as_ref()));
            row.alignment = alignment.take();
            row.volatile = volatile;
            row.read_only = order.is_of_read_only_data();
        }
        Some(())
    }

    fn store(&mut self, access: &FragmentAccess, order: StoreOrder) -> Option<()> {
        let how = match order {
            StoreOrder::Volatile | StoreOrder::MmioRelaxed => strong("relaxed", Scope::Sys),
            StoreOrder::MmioRelease => strong("release", Scope::Sys),
            StoreOrder::Relaxed(of) => strong("relaxed", of),
            StoreOrder::Release(of) => strong("release", of),
            StoreOrder::Weak => String::new(),
        };
        let volatile = matches!(
            order,
            StoreOrder::Volatile | StoreOrder::MmioRelaxed | StoreOrder::MmioRelease
        );
        let FragmentAccess { guard, ty, .. } = access;
        let mut alignment = access.alignment();
        for (value, at) in access.elements()? {
            let store = written(format!("store{how}.{}", ty.name()), &[&at, value]);
            let row = self.row(store.guarded(guard.as_ref()));
            row.alignment = alignment.take();
            row.volatile = volatile;
        }
        Some(())
    }

    /// An `atom`, or a `red`, which has no result.
    fn atomic(&mut self, access: &FragmentAccess, q: &Qualifiers, parts: &[&str]) -> Option<()> {
        if access.count != 1 {
            return None;
        }
        let (op, order, of) = ptx::meaning::atomic(q)?;
        let (success, failure) = match order {
            AtomicOrder::Relaxed => ("relaxed", "relaxed"),
            AtomicOrder::Acquire => ("acquire", "acquire"),
            AtomicOrder::Release => ("release", "relaxed"),
            AtomicOrder::AcqRel => ("acq_rel", "acquire"),
        };
        let none = "_".operand();
        let (result, values) = if parts[0] == "red" {
            (&none, &access.values[..])
        } else {
            access.values.split_first()?
        };
        let (ty, at, of) = (access.ty.name(), access.place(0), of.cxx_name());
        let atomic = match (op, values) {
            (AtomicOp::Cas, [expected, value]) => {
                let name = format!("cmpxchg.{success}.{failure}.{of}.{ty}");
                written(name, &[result, &at, expected, value])
            }
            (_, [value]) if op != AtomicOp::Cas => {
                let operation = parts.get(q.op?.position)?;
                let name = format!("rmw.{operation}.{success}.{of}.{ty}");
                written(name, &[result, &at, value])
            }
            _ => return None,
        };
        self.row(atomic.guarded(access.guard.as_ref()));
        Some(())
    }

    /// What a name, a special register or `_` stands for.
    fn value(&mut self, text: &str) -> Result<WrittenScalar, String> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let (name, after) = text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()));
        if name == "_" && after.is_empty() {
            return Ok("_".into());
        }
        if is_special(name) {
            return Ok(WrittenScalar::Name(
                self.surroundings.special(text.trim_start_matches('%'))?,
            ));
        }
        if after.starts_with('.') {
            return Err(format!("an element of the vector `{name}` is not supported"));
        }
        if !self.known.contains(name) {
            return Err(format!("`{name}` has no value"));
        }
        if !after.is_empty() {
            return Err(format!("`{text}` is not supported"));
        }
        self.name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::report::Diagnostics;

    struct Plain(usize);

    impl Surroundings for Plain {
        fn name(&mut self, name: &str) -> Result<WrittenScalar, String> {
            Ok(name.trim_start_matches('%').into())
        }

        fn special(&mut self, name: &str) -> Result<String, String> {
            Ok(name.replace('.', "_"))
        }

        fn temporary(&mut self) -> String {
            self.0 += 1;
            format!("t{}", self.0)
        }
    }

    fn cells(text: &str) -> Result<Vec<String>, String> {
        let registers = ["a", "b", "q"]
            .map(|name| FragmentRegister { name: name.to_owned(), predicate: name == "q" });
        let fragment = read(text, &registers, &mut Plain(0))?;
        let shown = |row: &FragmentRow| {
            let mut text = String::new();
            row.instruction.cell(&mut text, &mut Diagnostics::default());
            text.trim_end().to_owned()
        };
        Ok(fragment.rows.iter().map(shown).collect())
    }

    #[test]
    fn blocks_have_their_own_registers_and_labels() {
        let text = "{ .reg .pred q; setp.eq.u32 q, a, 0; @q bra L; L: } @q bra M; { L: bra L; } M:";
        let expected =
            ["setp.eq.u32 q_2, a, 0", "@q_2 bra L", "L:", "@q bra M", "L_2:", "bra L_2", "M:"];
        assert_eq!(cells(text).expect(text), expected);
    }

    #[test]
    fn accesses_become_operations_of_c() {
        let of = |text: &str| cells(text).expect(text);
        assert_eq!(
            of("@!q ld.global.v2.b32 {a, b}, [a + 8];"),
            ["@!q load.b32 a, [a+8]", "@!q load.b32 b, [a+12]"]
        );
        assert_eq!(of("ld.global.gpu.acquire.b64 a, [b];"), ["load.acquire.device.b64 a, [b]"]);
        assert_eq!(of("ld.volatile.u8 a, [b+-1];"), ["load.relaxed.system.u8 a, [b-1]"]);
        assert_eq!(
            of("st.release.cta.shared.u32 [a], 1;"),
            ["cvta.shared.u64 t1, a", "store.release.block.u32 [t1], 1"]
        );
        assert_eq!(
            of("atom.global.release.gpu.cas.b32 a, [b], 0, 1;"),
            ["cmpxchg.release.relaxed.device.b32 a, [b], 0, 1"]
        );
        assert_eq!(of("red.add.u32 [a], b;"), ["rmw.add.relaxed.device.u32 _, [a], b"]);
        assert_eq!(
            of("membar.gl; fence.acq_rel.cta;"),
            ["fence.seq_cst.device", "fence.acq_rel.block"]
        );
    }

    #[test]
    fn other_instructions_are_kept() {
        let text = "{ .reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; setp.ne.b32 %p, a, %t; @%p bra DONE; mov.u32 a, 0x1; DONE: }";
        let rows = cells(text).expect("it is supported");
        assert_eq!(
            cells("and.b32 a, b, 017;").as_deref(),
            Ok(&["and.b32 a, b, 15".to_owned()][..])
        );
        // An integer stays one where the instruction has a float, too.
        assert_eq!(
            cells("cvt.rn.f32.s32 a, 5;").as_deref(),
            Ok(&["cvt.rn.f32.s32 a, 5".to_owned()][..])
        );
        let float = "fma.rn.f32 a, b, 0f3F800000, 0.5;";
        let bits = "fma.rn.f32 a, b, 0x3f800000, 0x3f000000".to_owned();
        assert_eq!(cells(float).as_deref(), Ok(&[bits][..]));
        let expected =
            ["mov.u32 t, tid_x", "setp.ne.b32 p, a, t", "@p bra DONE", "mov.u32 a, 1", "DONE:"];
        assert_eq!(rows, expected);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let why = |text: &str| cells(text).expect_err(text);
        assert_eq!(why("trap;"), "`trap` is not supported");
        assert_eq!(why("ld.param.u32 a, [b];"), "`ld.param.u32` is not supported");
        assert_eq!(why("add.u32 a, b, c;"), "`c` has no value");
        assert_eq!(why("fence.proxy.async;"), "`fence.proxy.async` is not supported");
        assert_eq!(why("{ .shared .u32 s; }"), "the variable `s` is not supported");
    }
}
