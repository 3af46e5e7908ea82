//! Variables whose accesses never race, in any execution.
//!
//! An atomic that writes to such a variable the value that it reads can be omitted (reading R50). By Atomicity its
//! write directly follows the write that it reads in coherence order. A read from it can read from that
//! write instead: the value is the same, and so are the later writes. A write that was observed through the atomic is
//! still observed. No relation gains an edge that the execution did not imply, and every axiom is antitone in them.

use std::collections::BTreeSet;

use crate::layout::Layout;
use model::isa::{Instruction, Operand, Type, TypeKind};
use model::memory::{Proxy, VariableId};
use model::program::{Program, ThreadId};
use model::scope::{Placement, Scope};
use model::value::{Value, little_endian, low_bits};

/// Values beyond which those of a variable are not listed.
const MOST_VALUES: usize = 16;

/// A variable all accesses to which are morally strong, of the same bytes.
#[derive(Clone, Debug)]
pub struct RaceFreeVariable {
    /// All values that it may hold, if the program determines them.
    pub values: Option<BTreeSet<Value>>,
}

/// For each variable, what its accesses agree on; `None` where they may race or differ in their bytes, or where
/// the text does not say what some access of the program is to.
pub fn agreed(program: &Program, layout: &Layout) -> Vec<Option<RaceFreeVariable>> {
    let count = program.variables.len();
    let Some(accesses) = accesses(program) else { return vec![None; count] };
    let mut all = Vec::with_capacity(count);
    for variable in 0..count {
        let here: Vec<&VariableAccess<'_>> =
            accesses.iter().filter(|access| usize::from(access.variable.0) == variable).collect();
        let agree = here.iter().all(|one| here.iter().all(|other| one.agrees_with(other)));
        let of = |location: &&crate::layout::Location| usize::from(location.variable.0) == variable;
        let location = layout.locations.iter().find(of);
        all.push(
            location
                .filter(|_| agree)
                .map(|location| RaceFreeVariable { values: values(&location.initial, &here) }),
        );
    }
    all
}

/// An access of the program to a variable that it names.
struct VariableAccess<'p> {
    thread: usize,
    placement: Placement,
    variable: VariableId,
    offset: i64,
    ty: Type,
    /// `None` where it is weak.
    scope: Option<Scope>,
    instruction: &'p Instruction,
}

impl VariableAccess<'_> {
    /// Whether two accesses to one variable are of the same bytes and morally strong.
    fn agrees_with(&self, other: &VariableAccess<'_>) -> bool {
        let includes = |here: &VariableAccess<'_>, there: &VariableAccess<'_>| {
            here.scope.is_some_and(|scope| scope.includes(here.placement, there.placement))
        };
        self.offset == other.offset
            && self.ty.bits == other.ty.bits
            && (self.thread == other.thread || includes(self, other) && includes(other, self))
    }
}

/// Every access of the program; `None` where the text does not say of some access what it accesses.
fn accesses(program: &Program) -> Option<Vec<VariableAccess<'_>>> {
    let plain = |variable: &model::memory::Variable| {
        variable.alias.is_none() && variable.absolute.is_none()
    };
    if !program.variables.iter().all(plain) || program.is_asynchronous() {
        return None;
    }
    let mut all = Vec::new();
    for (thread, of) in program.threads.iter().enumerate() {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        for line in &of.lines {
            let instruction = &line.instruction;
            let Some((address, ty, elements)) = instruction.access() else { continue };
            let (variable, _) = program.variable_of(id, address)?;
            let proxied = matches!(instruction, Instruction::Load(of) if of.proxy != Proxy::Generic)
                || matches!(instruction, Instruction::Store(of) if of.proxy != Proxy::Generic);
            if proxied || elements != 1 {
                return None;
            }
            let scope = instruction.scope();
            let (placement, offset) = (of.placement, address.offset);
            all.push(VariableAccess {
                thread,
                placement,
                variable,
                offset,
                ty,
                scope,
                instruction,
            });
        }
    }
    Some(all)
}

/// All values that a location ever holds, where each write says its own or makes it of the one before.
fn values(initial: &[u8], accesses: &[&VariableAccess<'_>]) -> Option<BTreeSet<Value>> {
    let first = accesses.first()?;
    let start = usize::try_from(first.offset).ok()?;
    let bytes = initial.get(start..start + usize::from(first.ty.bits / 8))?;
    let mut all = BTreeSet::from([little_endian(bytes)]);
    loop {
        let before = all.len();
        for access in accesses {
            let immediates: Option<Vec<Value>> =
                access.instruction.operands().map(immediate).collect();
            let immediates = immediates?;
            // A load has none.
            let Some(&first) = immediates.first() else { continue };
            let second = immediates.get(1).copied().unwrap_or(0);
            let mask = low_bits(access.ty.bits);
            if let Some(atomic) = access.instruction.as_atomic() {
                let integer = [TypeKind::Unsigned, TypeKind::Signed, TypeKind::Bits];
                if !integer.contains(&atomic.ty.kind) {
                    return None;
                }
                let new = |&old: &Value| atomic.op.apply(atomic.ty, old, first, second);
                let more: Vec<Value> = all.iter().filter_map(new).collect();
                all.extend(more);
            } else {
                all.insert(first & mask);
            }
        }
        if all.len() > MOST_VALUES {
            return None;
        }
        if all.len() == before {
            return Some(all);
        }
    }
}

fn immediate(operand: Operand) -> Option<Value> {
    match operand {
        Operand::Imm(value) => Some(value.into()),
        Operand::Reg(_) | Operand::Address(_) => None,
    }
}
