//! The modifiers of instructions without rules: those that its productions have, so that others are errors.

use text::cursor::short;

pub use crate::production::is;
use crate::productions::{self, InstructionHead};

/// How a part of a name is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// An operation is to follow it, and nothing does.
    Bare,
    /// It stands in the place of the operation, and is not an operation.
    Operation,
    Modifier,
}

/// What is wrong with the name of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadModifier {
    /// Which part it is.
    pub position: usize,
    pub wrong: Wrong,
    /// How many parts, from the opcode on, say which instruction it is.
    pub head: usize,
    /// What may stand there, or after it where it is bare.
    pub known: Vec<&'static str>,
}

/// The most modifiers that an error lists.
const FEW: usize = 12;

impl BadModifier {
    /// What is wrong, in words; `parts` are those of the instruction.
    pub fn message(&self, parts: &[&str]) -> String {
        let (head, part) = (short(&parts[..self.head].join(".")), short(parts[self.position]));
        match self.wrong {
            Wrong::Bare => format!("an operation is missing after `{head}`"),
            Wrong::Operation => format!("unknown operation `.{part}` of `{head}`"),
            Wrong::Modifier => format!("unknown modifier `.{part}` of `{head}`"),
        }
    }

    /// The nearest one that is known, or all of them where they are few.
    pub fn help(&self, near: Option<&str>) -> Option<String> {
        if let Some(near) = near.filter(|_| self.wrong != Wrong::Bare) {
            return Some(format!("did you mean `.{near}`?"));
        }
        let few = self.wrong != Wrong::Modifier || self.known.len() <= FEW;
        (few && !self.known.is_empty()).then(|| {
            let known: Vec<String> = self.known.iter().map(|one| format!("`.{one}`")).collect();
            format!("the known ones are {}", known.join(", "))
        })
    }
}

/// The instructions that are known here, each with its modifiers: words in which `#` is any number, and `*` at the end any rest.
pub fn all() -> impl Iterator<Item = (String, Vec<&'static str>)> {
    let heads = productions::opcodes().filter_map(productions::of_opcode).flatten();
    heads.map(|head| (head.name(), sorted(head.words())))
}

fn sorted(words: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// How many of these parts, from the opcode on, say which instruction it is; `None` for one that is not known here.
pub fn head(parts: &[&str]) -> Option<usize> {
    productions::find(parts).map(|head| head.parts.len())
}

/// The first part that the instruction does not have, opcode first; `None` too for an opcode of which
/// the modifiers are not known here, and for a modifier that productions refuse.
pub fn fault(parts: &[&str]) -> Option<BadModifier> {
    first_fault(parts, InstructionHead::judges)
}

/// The first part that the instruction does not have in any form, opcode first.
pub fn own_fault(parts: &[&str]) -> Option<BadModifier> {
    first_fault(parts, InstructionHead::has)
}

fn first_fault(
    parts: &[&str],
    has: impl Fn(&InstructionHead, &str) -> bool,
) -> Option<BadModifier> {
    let heads = productions::of_opcode(parts.first()?)?;
    let shared =
        |head: &InstructionHead| head.parts.iter().zip(parts).take_while(|(a, b)| a == b).count();
    // What follows the heads that begin with this many of the parts.
    let next = |from: usize| {
        let longer = heads.iter().filter(move |head| shared(head) == from);
        longer.filter_map(move |head| head.parts.get(from).copied())
    };
    let Some(head) = productions::find(parts) else {
        let longest = heads.iter().map(shared).max()?;
        let known = sorted(next(longest));
        return Some(if longest < parts.len() {
            BadModifier { position: longest, wrong: Wrong::Operation, head: longest, known }
        } else {
            BadModifier { position: longest - 1, wrong: Wrong::Bare, head: longest, known }
        });
    };
    let after = head.parts.len();
    let at = parts[after..].iter().position(|part| !has(head, part))?;
    let words = head.words().filter(|word| !word.contains(['#', '*']));
    let more = next(after).filter(|_| at == 0);
    let known = sorted(words.chain(more));
    Some(BadModifier { position: after + at, wrong: Wrong::Modifier, head: after, known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode;
    use crate::shape::Opcode;

    fn of(name: &str) -> Option<BadModifier> {
        fault(&name.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn every_opcode_without_rules_has_its_modifiers() {
        let without: Vec<&str> = opcode::all()
            .filter(|opcode| Opcode::named(opcode).is_none())
            .filter(|opcode| of(&format!("{opcode}.no_such_modifier")).is_none())
            .collect();
        // The pages of these are not known here.
        assert_eq!(without, ["spcompress", "spdecompress"]);
        assert!(all().all(|(head, _)| of(&head).is_none()));
    }

    #[test]
    fn what_an_instruction_has_is_told_from_what_it_has_not() {
        for name in [
            "bar.sync",
            "bar.cta.red.popc.u32",
            "cp.async.bulk.wait_group.read",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
            "tcgen05.mma.cta_group::1.kind::f16.collector::b3::lastuse",
            "vote.all.pred",
            "vote.sync.all.pred",
            "fabric.try_put.async.multimem.shared::cta.mbarrier::complete_tx::16B.relaxed.sys",
            "spcompress.anything",
            "tcgen05.mma.cta_group::1.kind::f16.collector::b::fill",
            "prefetch.L1::32B.valid_addr",
            "applypriority.async.bulk.tensor.2d.bulk_group.L2::evict_normal",
            "cvt.rn.satfinite.scaled::n1::ue8m0.ue5m3x2.f32",
            "mbarrier.arrive.release.cluster.multicast::cluster::32b.shared::cluster.b64",
            "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::evict_last",
            "tcgen05.alloc.cta_group::1.exclusive.sync.aligned.shared::cta.b32",
            "no_such_opcode.x",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        for (name, position, wrong, known) in [
            ("bar.syncc", 1, Wrong::Operation, "sync"),
            ("fabric.anything", 1, Wrong::Operation, "submit"),
            ("fabric.submit.banana", 2, Wrong::Modifier, "commit_group"),
            ("trace.banana", 1, Wrong::Operation, "mark"),
            ("barrier.cluster", 1, Wrong::Bare, "arrive"),
            ("bar", 0, Wrong::Bare, "warp"),
            ("mbarrier.bogus", 1, Wrong::Operation, "init"),
            ("cp.bogus", 1, Wrong::Operation, "async"),
            ("cp.async.bulkk", 2, Wrong::Modifier, "bulk"),
            ("tcgen05.zzz", 1, Wrong::Operation, "alloc"),
            ("setp.zz.s32", 1, Wrong::Modifier, "lt"),
            ("add.rn.f32.bogus", 3, Wrong::Modifier, "sat"),
            ("ret.foo", 1, Wrong::Modifier, "uni"),
            ("mma.sync.aligned.m8nk4", 3, Wrong::Modifier, "row"),
        ] {
            let fault = of(name).unwrap_or_else(|| panic!("{name} is not an instruction"));
            assert_eq!((fault.position, fault.wrong), (position, wrong), "{name}");
            assert!(fault.known.contains(&known), "{name}: {fault:?}");
        }
    }
}
