//! Scopes and placements: which threads an operation can directly synchronize with.

use std::fmt;

/// The set of threads that a strong operation names (`#scope`), from narrow to wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];

    /// As PTX spells them, in the order of [`Scope::ALL`].
    pub const NAMES: [&'static str; 4] =
        [Scope::Cta.name(), Scope::Cluster.name(), Scope::Gpu.name(), Scope::Sys.name()];

    /// Whether the scope of a thread placed `here` includes a thread placed `there`.
    pub fn includes(self, here: Placement, there: Placement) -> bool {
        match self {
            Scope::Cta => here.same_cta(there),
            Scope::Cluster => here.same_cluster(there),
            Scope::Gpu => here.gpu == there.gpu,
            Scope::Sys => true,
        }
    }

    /// The narrowest scope of each of these threads that includes all of them.
    pub fn narrowest(threads: &[Placement]) -> Scope {
        let all = |scope: &Scope| {
            threads.iter().all(|&here| threads.iter().all(|&there| scope.includes(here, there)))
        };
        Scope::ALL.into_iter().find(all).unwrap_or(Scope::Sys)
    }

    /// As PTX spells it, without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Cta => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::Sys => "sys",
        }
    }

    /// As LLVM's `syncscope` for NVPTX spells it, and the tests in C++ operations. LLVM itself has no word for
    /// `system`, which is its default (reading R44).
    pub const fn cxx_name(self) -> &'static str {
        match self {
            Scope::Cta => "block",
            Scope::Cluster => "cluster",
            Scope::Gpu => "device",
            Scope::Sys => "system",
        }
    }

    /// The scope with this C++ name.
    pub fn of_cxx(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.cxx_name() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a thread runs. The numbers nest: equal CTA numbers on two GPUs are two CTAs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Placement {
    pub gpu: u32,
    /// The kernel that the thread is part of; no two kernels have a CTA in common.
    pub kernel: u32,
    /// `None`: the kernel is launched without clusters, so each CTA is its own cluster.
    pub cluster: Option<u32>,
    pub cta: u32,
    /// `None`: a warp of its own. No scope is that narrow; some instructions speak of warps.
    pub warp: Option<u32>,
    /// The SM that the CTA is on, numbered in its GPU; `None`: one of its own. The axioms know
    /// nothing of it, the machine does.
    pub sm: Option<u32>,
}

impl Placement {
    pub fn same_cta(self, other: Placement) -> bool {
        (self.gpu, self.kernel, self.cluster, self.cta)
            == (other.gpu, other.kernel, other.cluster, other.cta)
    }

    /// Whether two threads are of one warp; a thread without a number is a warp of its own.
    pub fn same_warp(self, other: Placement) -> bool {
        self.same_cta(other) && self.warp.is_some() && self.warp == other.warp
    }

    /// The lane of a thread placed here: how many of the threads before it are of its warp.
    pub fn lane(self, before: impl IntoIterator<Item = Placement>) -> usize {
        before.into_iter().filter(|other| other.same_warp(self)).count()
    }

    pub fn same_cluster(self, other: Placement) -> bool {
        match (self.cluster, other.cluster) {
            (Some(mine), Some(theirs)) => {
                (self.gpu, self.kernel, mine) == (other.gpu, other.kernel, theirs)
            }
            (None, None) => self.same_cta(other),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(warp) = self.warp {
            write!(f, "warp {warp},")?;
        }
        write!(f, "cta {}", self.cta)?;
        if let Some(cluster) = self.cluster {
            write!(f, ",cluster {cluster}")?;
        }
        write!(f, ",gpu {}", self.gpu)?;
        if self.kernel != 0 {
            write!(f, ",kernel {}", self.kernel)?;
        }
        match self.sm {
            Some(sm) => write!(f, ",sm {sm}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(gpu: u32, cluster: Option<u32>, cta: u32) -> Placement {
        Placement { gpu, cluster, cta, ..Placement::default() }
    }

    #[test]
    fn equal_cta_numbers_on_two_gpus_are_two_ctas() {
        assert!(!Scope::Cta.includes(at(0, None, 0), at(1, None, 0)));
        assert!(!Scope::Gpu.includes(at(0, None, 0), at(1, None, 0)));
        assert!(Scope::Sys.includes(at(0, None, 0), at(1, None, 0)));
    }

    #[test]
    fn equal_cta_numbers_in_two_kernels_are_two_ctas() {
        let (first, second) = (at(0, Some(0), 0), Placement { kernel: 1, ..at(0, Some(0), 0) });
        assert!(!Scope::Cluster.includes(first, second));
        assert!(Scope::Gpu.includes(first, second));
        assert_eq!(second.to_string(), "cta 0,cluster 0,gpu 0,kernel 1");
    }

    #[test]
    fn the_narrowest_scope_includes_every_thread() {
        let (first, near, far) = (at(0, Some(0), 0), at(0, Some(0), 1), at(0, Some(1), 2));
        assert_eq!(Scope::narrowest(&[first]), Scope::Cta);
        assert_eq!(Scope::narrowest(&[first, near]), Scope::Cluster);
        assert_eq!(Scope::narrowest(&[first, near, far]), Scope::Gpu);
        assert_eq!(Scope::narrowest(&[near, at(1, Some(0), 1)]), Scope::Sys);
    }

    #[test]
    fn without_clusters_a_cluster_is_a_cta() {
        assert!(Scope::Cluster.includes(at(0, None, 1), at(0, None, 1)));
        assert!(!Scope::Cluster.includes(at(0, None, 0), at(0, None, 1)));
        assert!(Scope::Cluster.includes(at(0, Some(2), 0), at(0, Some(2), 1)));
    }
}
