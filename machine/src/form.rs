//! The operations of SASS instructions, with the level of memory that they access; and the families of GPUs.

use std::fmt;

/// How far from its SM an access goes, and what it may find on the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessLevel {
    /// Without `STRONG`: L1, and whatever line is there.
    Weak,
    /// `STRONG.SM`, `STRONG.CTA`: L1 too.
    Sm,
    /// `STRONG.GPU`: bypassing L1, at L2.
    Gpu,
    /// `STRONG.SYS`, `MMIO.SYS`: at the home of the memory.
    Sys,
    /// `CONSTANT`, `.CI`, `LDC`: the read-only path (reading R56).
    ReadOnly,
    /// `LDS`, `LDL` and their stores: the SM's own memory, at once.
    Own,
}

/// Whom a `MEMBAR` waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MembarScope {
    Cta,
    Gpu,
    Sys,
}

/// One instruction of the machine, as far as memory goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MachineOp {
    /// The load, store or atomic that the PTX instruction asks for.
    Access(AccessLevel),
    /// `MEMBAR.SC`
    Membar(MembarScope),
    /// `MEMBAR.ALL`: the same, but for reading R53.
    MembarAll(MembarScope),
    /// `CCTL.IVALL`
    Invalidate,
    /// What waits for an acquire at cta scope, which no text shows (reading R60).
    AcquireWait,
    /// `BAR`: what the PTX instruction asks for.
    Bar,
    /// `UCGABAR_ARV`, `UCGABAR_WAIT`
    ClusterArrive,
    ClusterWait,
}

/// What one PTX instruction becomes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoweredInstruction {
    pub forms: Vec<MachineOp>,
    /// An `acq_rel` atomic that is one unit with its `MEMBAR` and `CCTL` (reading R66): how far.
    pub fused: Option<MembarScope>,
}

/// Machines with one lowering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// `sm_50` to `sm_62`: before the memory model (reading R61).
    Maxwell,
    Volta,
    Ampere,
    Hopper,
    Blackwell,
}

impl Family {
    pub const ALL: [Family; 5] =
        [Family::Maxwell, Family::Volta, Family::Ampere, Family::Hopper, Family::Blackwell];

    pub fn name(self) -> &'static str {
        match self {
            Family::Maxwell => "maxwell",
            Family::Volta => "volta",
            Family::Ampere => "ampere",
            Family::Hopper => "hopper",
            Family::Blackwell => "blackwell",
        }
    }

    /// The family of a target, `sm_90`.
    pub fn of(sm: u16) -> Option<Family> {
        match sm {
            50..=62 => Some(Family::Maxwell),
            70..=75 => Some(Family::Volta),
            80..=89 => Some(Family::Ampere),
            90 => Some(Family::Hopper),
            100..=121 => Some(Family::Blackwell),
            _ => None,
        }
    }

    /// The family of a target; for a number that no target has, that of the last target before it.
    pub fn of_or_before(sm: u16) -> Family {
        let known = (0..=sm).rev().find_map(Family::of);
        known.unwrap_or(Family::Maxwell)
    }

    /// Whether there are clusters of CTAs, and with them scope `.cluster` and fences of one direction.
    pub fn has_clusters(self) -> bool {
        match self {
            Family::Maxwell | Family::Volta | Family::Ampere => false,
            Family::Hopper | Family::Blackwell => true,
        }
    }

    /// Whether the memory model is for it: operations have scopes.
    pub fn has_scopes(self) -> bool {
        self != Family::Maxwell
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_target_has_is_of_the_family_before_it() {
        for sm in 50..=130 {
            let family = Family::of_or_before(sm);
            assert!(Family::of(sm).is_none_or(|known| known == family), "sm_{sm}");
            assert_eq!(
                (family.has_scopes(), family.has_clusters()),
                (sm >= 70, sm >= 90),
                "sm_{sm}"
            );
        }
    }
}
