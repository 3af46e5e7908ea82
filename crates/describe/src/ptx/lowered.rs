//! The lowering of an instruction, for each GPU family: the machine instructions, or the reason why ptxas
//! rejects it.

use ::ptx::ParsedInstruction;
use ::ptx::rule::Authority;
use ::ptx::rules::gate;
use sass::lowering::{self, LoweringTable};

use super::CitedText;
use super::words::{page, said};

/// The lowering of an instruction on some targets of one family.
pub struct FamilyLowering {
    pub family: &'static str,
    /// The targets, as `sm_` numbers.
    pub targets: Vec<u16>,
    pub becomes: LoweringEntry,
}

#[derive(Clone, PartialEq, Eq)]
pub enum LoweringEntry {
    /// The instructions, separated by ` ; `; empty if the instruction is removed. With the versions of ptxas
    /// that were measured to emit them.
    Sass(String, &'static [String]),
    Rejected(CitedText),
    /// The lowering table has no row for it.
    Unmeasured,
}

/// The lowering of an instruction that no memory instruction is, with its opcode in front of its parts. `rejected`
/// says why ptxas rejects it on a target.
pub fn of_parts(
    parts: &[&str],
    rejected: &dyn Fn(u16) -> Option<CitedText>,
) -> Vec<FamilyLowering> {
    let (opcode, parts) = parts.split_first().unwrap_or((&"", &[]));
    each_target(&|table, sm| {
        rejected(sm).map_or_else(|| measured(table, sm, opcode, parts), LoweringEntry::Rejected)
    })
}

/// The lowering of a memory instruction.
pub fn families(single: &ParsedInstruction<'_>) -> Vec<FamilyLowering> {
    each_target(&|table, sm| {
        rejected(single, sm)
            .unwrap_or_else(|| measured(table, sm, single.opcode.name(), &single.parts))
    })
}

fn measured(table: &'static LoweringTable, sm: u16, opcode: &str, parts: &[&str]) -> LoweringEntry {
    table
        .measured(sm, opcode, parts)
        .map_or(LoweringEntry::Unmeasured, |found| LoweringEntry::Sass(found.text, found.by))
}

/// The targets of each family, together where they agree.
fn each_target(
    becomes: &dyn Fn(&'static LoweringTable, u16) -> LoweringEntry,
) -> Vec<FamilyLowering> {
    let mut all: Vec<FamilyLowering> = Vec::new();
    for family in lowering::families() {
        for &sm in &family.table.targets {
            let becomes = becomes(&family.table, sm);
            match all.last_mut() {
                Some(last) if last.family == family.title && last.becomes == becomes => {
                    last.targets.push(sm);
                }
                _ => all.push(FamilyLowering { family: family.title, targets: vec![sm], becomes }),
            }
        }
    }
    all
}

/// The version rule by which ptxas rejects the instruction on a target.
fn rejected(single: &ParsedInstruction<'_>, sm: u16) -> Option<LoweringEntry> {
    if let Some(spelling) = single.spelling {
        let text = format!("this fence requires `sm_{}` or higher", spelling.sm);
        return (spelling.sm > sm)
            .then(|| LoweringEntry::Rejected(said(page(single.opcode, false), text)));
    }
    let needs = gate::needs(&single.form());
    let missing =
        needs.iter().filter(|need| need.sm > sm && need.sm_rule.by != Authority::Document);
    let worst = missing.max_by_key(|need| need.sm)?;
    Some(LoweringEntry::Rejected(said(worst.sm_rule.section, worst.sm_rule.text)))
}
