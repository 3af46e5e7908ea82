//! The values of special registers in a launch. Reading R111.

use crate::launch::{Dim3, LaunchSpec, ThreadPlace};

/// The number of lanes of a warp.
pub(crate) const LANES: u32 = 32;

/// What is assumed of a special register whose value a launch does not determine.
pub(crate) struct SpecialValue {
    pub(crate) value: u64,
    pub(crate) assumed: bool,
}

/// The value that a special register, named without its `%`, has in a thread; `None` if it is not known.
pub(crate) fn value(name: &str, launch: &LaunchSpec, place: ThreadPlace) -> Option<SpecialValue> {
    let (register, direction) = name.split_once('.').unwrap_or((name, ""));
    // Where each CTA is on a GPU of its own, it is a launch of its own.
    let alone = !launch.gpus.is_empty();
    let (grid, cta) = if alone {
        (Dim3::ONE, Dim3 { x: 0, y: 0, z: 0 })
    } else {
        (launch.grid, launch.grid.index(place.cta))
    };
    let thread = launch.block.index(place.thread);
    let cluster = launch.cluster.unwrap_or(Dim3::ONE);
    let within = Dim3 { x: cta.x % cluster.x, y: cta.y % cluster.y, z: cta.z % cluster.z };
    let around = Dim3 { x: cta.x / cluster.x, y: cta.y / cluster.y, z: cta.z / cluster.z };
    let in_direction = |of: Dim3| match direction {
        "x" => Some(u64::from(of.x)),
        "y" => Some(u64::from(of.y)),
        "z" => Some(u64::from(of.z)),
        _ => None,
    };
    let lane = place.thread % LANES;
    let shared = launch.shared.unwrap_or(0);
    let (value, assumed) = match register {
        "tid" => (in_direction(thread)?, false),
        "ntid" => (in_direction(launch.block)?, false),
        "ctaid" => (in_direction(cta)?, false),
        "nctaid" => (in_direction(grid)?, false),
        "clusterid" => (in_direction(around)?, false),
        "nclusterid" => (in_direction(cluster.parts_of(grid)?)?, false),
        "cluster_ctaid" => (in_direction(within)?, false),
        "cluster_nctaid" => (in_direction(cluster)?, false),
        "cluster_ctarank" => (u64::from(cluster.number(within)), false),
        "cluster_nctarank" => (cluster.count(), false),
        "is_explicit_cluster" => (u64::from(launch.cluster.is_some()), false),
        "laneid" => (lane.into(), false),
        "warpid" => ((place.thread / LANES).into(), false),
        "nwarpid" => (launch.block.count().div_ceil(LANES.into()), false),
        "lanemask_eq" => (1 << lane, false),
        "lanemask_lt" => ((1 << lane) - 1, false),
        "lanemask_le" => ((2 << lane) - 1, false),
        "lanemask_gt" => (u64::from(u32::MAX) & !((2 << lane) - 1), false),
        "lanemask_ge" => (u64::from(u32::MAX) & !((1 << lane) - 1), false),
        "dynamic_smem_size" => (shared.into(), false),
        "envreg1" if launch.cooperative => (0, false),
        "smid" => (place.cta.into(), true),
        "nsmid" => (grid.count(), true),
        "gridid" | "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo"
        | "globaltimer_hi" => (0, true),
        _ => return None,
    };
    Some(SpecialValue { value, assumed })
}
