//! The values of special registers in a launch. Reading R111.

use crate::launch::{Dim3, LaunchSpec, ThreadPlace};

/// The number of lanes of a warp.
pub(crate) const LANES: u32 = 32;

/// Whether nothing is known of a special register, named without its `%`: it may hold any number at each read.
pub(crate) fn is_any_number(name: &str) -> bool {
    is_time(name) || matches!(name, "smid" | "nsmid" | "warpid" | "nwarpid" | "gridid")
}

/// Whether a special register counts the time.
pub(crate) fn is_time(name: &str) -> bool {
    name.starts_with("clock") || name.starts_with("globaltimer")
}

/// The value that a special register, named without its `%`, has in a thread of a test; `None` if it has none there.
pub(crate) fn value(name: &str, launch: &LaunchSpec, place: ThreadPlace) -> Option<u64> {
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
    let value = match register {
        "tid" => in_direction(thread)?,
        "ntid" => in_direction(launch.block)?,
        "ctaid" => in_direction(cta)?,
        "nctaid" => in_direction(grid)?,
        "clusterid" => in_direction(around)?,
        "nclusterid" => in_direction(cluster.parts_of(grid)?)?,
        "cluster_ctaid" => in_direction(within)?,
        "cluster_nctaid" => in_direction(cluster)?,
        "cluster_ctarank" => u64::from(cluster.number(within)),
        "cluster_nctarank" => cluster.count(),
        "is_explicit_cluster" => u64::from(launch.cluster.is_some()),
        "laneid" => lane.into(),
        "WARP_SZ" => LANES.into(),
        "warpid" => (place.thread / LANES).into(),
        "nwarpid" => launch.block.count().div_ceil(LANES.into()),
        "lanemask_eq" => 1 << lane,
        "lanemask_lt" => (1 << lane) - 1,
        "lanemask_le" => (2 << lane) - 1,
        "lanemask_gt" => u64::from(u32::MAX) & !((2 << lane) - 1),
        "lanemask_ge" => u64::from(u32::MAX) & !((1 << lane) - 1),
        "dynamic_smem_size" => shared.into(),
        "envreg1" if launch.cooperative => 0,
        "smid" => place.cta.into(),
        "nsmid" => grid.count(),
        "gridid" | "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo"
        | "globaltimer_hi" => 0,
        _ => return None,
    };
    Some(value)
}
