//! Families of GPUs: a variant and a row of the table for each.

use std::fmt;
use std::ops::RangeInclusive;

/// GPUs whose ptxas lowers memory instructions alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// `sm_50` to `sm_62`: before the memory model (reading R61).
    Maxwell,
    Volta,
    Ampere,
    Hopper,
    Blackwell,
}

/// What distinguishes a family.
struct FamilyRow {
    family: Family,
    name: &'static str,
    /// The numbers after `sm_`.
    targets: RangeInclusive<u16>,
    /// Whether the memory model applies: operations have scopes.
    scopes: bool,
    /// Whether there are clusters of CTAs, and with them scope `.cluster` and fences of one direction.
    clusters: bool,
    abi: KernelAbi,
}

/// Where a kernel finds its environment: offsets in constant bank 0, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelAbi {
    /// The first parameter.
    pub parameters: u64,
    /// `%ntid.x`, followed by `.y` and `.z`.
    pub ntid: u64,
    /// `%nctaid.x`, followed by `.y` and `.z`.
    pub nctaid: u64,
    /// The stack pointer.
    pub stack: u64,
    /// The descriptor of global memory, 64 bits.
    pub descriptor: Option<u64>,
    /// The generic address of shared memory, 64 bits; later families have a special register.
    pub shared_window: Option<u64>,
    /// `%envreg1`, followed by `%envreg2`.
    pub environment: Option<u64>,
    /// The flag for a launch with clusters.
    pub cluster_launch: Option<u64>,
    /// The address of the first shared variable; the memory before it is the system's.
    pub shared: u64,
}

const FAMILIES: [FamilyRow; 5] = [
    FamilyRow {
        family: Family::Maxwell,
        name: "maxwell",
        targets: 50..=62,
        scopes: false,
        clusters: false,
        abi: KernelAbi {
            parameters: 0x140,
            ntid: 0x8,
            nctaid: 0x14,
            stack: 0x20,
            descriptor: None,
            shared_window: None,
            environment: None,
            cluster_launch: None,
            shared: 0,
        },
    },
    FamilyRow {
        family: Family::Volta,
        name: "volta",
        targets: 70..=75,
        scopes: true,
        clusters: false,
        abi: KernelAbi {
            parameters: 0x160,
            ntid: 0x0,
            nctaid: 0xc,
            stack: 0x28,
            descriptor: None,
            shared_window: Some(0x18),
            environment: None,
            cluster_launch: None,
            shared: 0,
        },
    },
    FamilyRow {
        family: Family::Ampere,
        name: "ampere",
        targets: 80..=89,
        scopes: true,
        clusters: false,
        abi: KernelAbi {
            parameters: 0x160,
            ntid: 0x0,
            nctaid: 0xc,
            stack: 0x28,
            descriptor: Some(0x118),
            shared_window: Some(0x18),
            environment: Some(0x8c),
            cluster_launch: None,
            shared: 0,
        },
    },
    FamilyRow {
        family: Family::Hopper,
        name: "hopper",
        targets: 90..=90,
        scopes: true,
        clusters: true,
        abi: KernelAbi {
            parameters: 0x210,
            ntid: 0x0,
            nctaid: 0xc,
            stack: 0x28,
            descriptor: Some(0x208),
            shared_window: None,
            environment: Some(0x44),
            cluster_launch: Some(0x140),
            shared: 0x400,
        },
    },
    FamilyRow {
        family: Family::Blackwell,
        name: "blackwell",
        targets: 100..=121,
        scopes: true,
        clusters: true,
        abi: KernelAbi {
            parameters: 0x380,
            ntid: 0x360,
            nctaid: 0x370,
            stack: 0x37c,
            descriptor: Some(0x358),
            shared_window: None,
            environment: None,
            cluster_launch: Some(0x36c),
            shared: 0x400,
        },
    },
];

impl Family {
    /// Every family, the oldest first.
    pub const ALL: [Family; FAMILIES.len()] = {
        let mut all = [Family::Maxwell; FAMILIES.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = FAMILIES[index].family;
            index += 1;
        }
        all
    };

    fn row(self) -> &'static FamilyRow {
        &FAMILIES[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The family of a target, `sm_90`.
    pub fn of(sm: u16) -> Option<Family> {
        FAMILIES.iter().find(|row| row.targets.contains(&sm)).map(|row| row.family)
    }

    /// The family of a target; for a number that no target has, that of the last target before it.
    pub fn of_or_before(sm: u16) -> Family {
        let known = FAMILIES.iter().rev().find(|row| *row.targets.start() <= sm);
        known.map_or(Family::Maxwell, |row| row.family)
    }

    /// The number of its first target.
    pub fn first(self) -> u16 {
        *self.row().targets.start()
    }

    /// Whether the words of its instructions name scoreboards.
    pub fn has_scoreboards(self) -> bool {
        self > Family::Maxwell
    }

    /// Whether there are clusters of CTAs, and with them scope `.cluster` and fences of one direction.
    pub fn has_clusters(self) -> bool {
        self.row().clusters
    }

    /// Whether the memory model applies: operations have scopes.
    pub fn has_scopes(self) -> bool {
        self.row().scopes
    }

    /// Where a kernel finds its environment.
    pub fn abi(self) -> KernelAbi {
        self.row().abi
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
    fn a_row_is_where_its_family_looks_for_it() {
        for (index, row) in FAMILIES.iter().enumerate() {
            assert_eq!(row.family as usize, index);
            assert_eq!(row.family.name(), row.name);
        }
    }

    #[test]
    fn a_number_that_no_target_has_is_of_the_family_before() {
        for sm in 0..200 {
            let before = (0..=sm).rev().find_map(Family::of).unwrap_or(Family::Maxwell);
            assert_eq!(Family::of_or_before(sm), before, "sm_{sm}");
        }
    }
}
