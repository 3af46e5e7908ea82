//! The operations of SASS instructions, with the level of memory that they access; and the families of GPUs.

pub use crate::family::{Family, KernelAbi};

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
    /// What waits for an acquire at cta scope, or is all there is of some fences, which no text shows (reading R60).
    AcquireWait,
    /// `BAR`: what the PTX instruction asks for.
    Bar,
    /// `UCGABAR_ARV`, `UCGABAR_WAIT`
    ClusterArrive,
    ClusterWait,
    /// A part of an asynchronous operation, or of one on an mbarrier object.
    Asynchronous(AsyncOp),
}

/// What SASS has for asynchronous operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AsyncOp {
    /// `LDGSTS`, whose load is at this level, and `UBLKCP`.
    Copy(AccessLevel),
    /// `LDGDEPBAR`, `UTMACMDFLUSH`
    Commit,
    /// `DEPBAR.LE`
    GroupWait,
    /// `SYNCS`; before `sm_90`, an access to the word of the object.
    Object,
    /// `ARRIVES.LDGSTSBAR`
    Track,
    /// What a releasing arrival without a fence waits for, which no text shows (reading R60).
    ReleaseWait,
    /// `FENCE.VIEW.ASYNC.G`
    View,
    /// `FENCE.VIEW.ASYNC.S`
    SharedView,
}

/// What one PTX instruction becomes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoweredInstruction {
    pub forms: Vec<MachineOp>,
    /// An `acq_rel` atomic that is one unit with its `MEMBAR` and `CCTL` (reading R66): how far.
    pub fused: Option<MembarScope>,
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
