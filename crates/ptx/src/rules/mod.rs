//! The rules of the memory instructions, as data: the text of each, its authority, and its check.
//!
//! Each file is in document order. If a part of an instruction is unknown, not allowed or repeated,
//! only this is reported, and no rule is checked.

pub mod address;
pub mod atomic;
pub mod barrier;
pub mod cache;
pub mod fence;
pub mod gate;
pub mod operand;
pub mod order;
pub mod vector;

use crate::qualifier::{Dialect, QualifierKind};
use crate::rule::{Breach, Rule, RuleCheck};
use crate::shape::{InstructionForm, Opcode};
use crate::version::RuleContext;

/// What qualifiers an instruction has a use for.
pub fn accepts(opcode: Opcode) -> &'static [QualifierKind] {
    use QualifierKind::{
        Cache, GpuLevel, Level1, Level2, Mmio, NoFlush, NonCoherent, Op, Order, Policy, Prefetch,
        Readonly, Scope, Space, Type, Vector,
    };
    match opcode {
        Opcode::Ld => &[
            Order,
            Mmio,
            Scope,
            Space,
            Type,
            Vector,
            NonCoherent,
            Cache,
            Level1,
            Level2,
            Prefetch,
            Policy,
            Readonly,
        ],
        Opcode::Ldu => &[Space, Type, Vector],
        Opcode::St => &[Order, Mmio, Scope, Space, Type, Vector, Cache, Level1, Level2, Policy],
        Opcode::Atom | Opcode::Red => &[Order, Scope, Space, Op, Type, Vector, NoFlush, Policy],
        Opcode::Fence => &[Order, Scope],
        Opcode::Membar => &[GpuLevel, Scope],
    }
}

/// The rules that apply to an instruction, in order.
pub fn checks(opcode: Opcode) -> &'static [&'static [RuleCheck]] {
    // Constants, so that the lists live for ever.
    match opcode {
        Opcode::Ld => &[order::LD, cache::LD, address::LD, vector::LD, operand::LD],
        Opcode::Ldu => &[address::LDU, vector::LDU, operand::LDU],
        Opcode::St => &[order::ST, cache::ST, address::ST, vector::ST, operand::ST],
        Opcode::Atom => &[atomic::ATOM, address::ATOM, operand::ATOM],
        Opcode::Red => &[atomic::RED, address::ATOM, operand::ATOM],
        Opcode::Fence => &[fence::FENCE],
        Opcode::Membar => &[fence::MEMBAR],
    }
}

/// Hands each rule that the instruction breaks to `broken`, versions and targets last.
pub fn check(
    form: &InstructionForm<'_>,
    setting: &RuleContext,
    mut broken: impl FnMut(&'static Rule, Breach),
) {
    for check in checks(form.opcode).iter().copied().flatten() {
        if setting.dialect == Dialect::Peer && !PEER.contains(&check.rule.code) {
            continue;
        }
        if let Some(breach) = (check.broken)(form, setting) {
            broken(check.rule, breach);
        }
    }
    if setting.dialect == Dialect::Ptx {
        gate::check(form, setting, &mut broken);
    }
}

/// The rules that the untyped instructions of the peer's tests keep too.
const PEER: &[&str] = &[
    "ld-order",
    "ld-scope-missing",
    "ld-scope-unused",
    "ld-mmio",
    "ld-mmio-space",
    "ld-cache",
    "ld-nc",
    "ld-nc-weak",
    "st-order",
    "st-scope-missing",
    "st-scope-unused",
    "st-mmio",
    "st-mmio-space",
    "st-cache",
    "atom-operation",
    "red-operation",
    "fence-order",
    "fence-scope-missing",
    "membar-level",
    "fence-operands",
];

/// Every rule there is, each once.
pub fn all() -> Vec<&'static Rule> {
    let mut all: Vec<&'static Rule> = Vec::new();
    let asked = Opcode::ALL.into_iter().flat_map(checks).copied().flatten().map(|check| check.rule);
    for rule in asked.chain(gate::rules()) {
        if !all.iter().any(|known| known.code == rule.code) {
            all.push(rule);
        }
    }
    all
}

/// Declares a [`Rule`]: name, code, section, who says so, text.
macro_rules! rule {
    ($name:ident, $code:literal, $section:ident, $by:ident, $text:literal) => {
        pub static $name: $crate::rule::Rule = $crate::rule::Rule {
            code: $code,
            section: model::section::$section,
            text: $text,
            by: $crate::rule::Authority::$by,
        };
    };
}
pub(crate) use rule;
