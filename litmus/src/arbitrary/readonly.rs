//! Random programs of reads through the paths for read-only data, and of writes, which make some of them undefined.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::placed::place;
use super::{RandomProgram, RandomThread};

/// What a thread may do. `%` is the number of the line.
const STEPS: &[&str] = &[
    "ld.global.nc.u32 r%, [x]",
    "ld.global.nc.u32 r%, [y]",
    "ldu.global.u32 r%, [x]",
    "ldu.global.u32 r%, [y]",
    "ld.proxy::readonly.u32 r%, [x]",
    "ld.proxy::readonly.u32 r%, [y]",
    "ld.weak.u32 r%, [x]",
    "ld.acquire.gpu.u32 r%, [y]",
    "st.release.gpu.u32 [y], 1",
    "st.weak.u32 [x], 2",
    "st.weak.u32 [w], 3",
    "fence.acq_rel.gpu",
];

/// Programs in which `w` is another address of `x`.
pub fn readonly() -> impl Strategy<Value = RandomProgram> {
    let thread = (place(), vec(select(STEPS), 1..4));
    vec(thread, 1..3).prop_map(|threads| {
        let names = ["x=0", "y=0", "w @ generic aliases x"].map(str::to_owned);
        let cells = |steps: Vec<&str>| {
            let numbered = steps.iter().enumerate();
            numbered.map(|(line, step)| step.replace('%', &line.to_string())).collect()
        };
        RandomProgram {
            language: "PTX",
            declarations: names.into(),
            threads: (threads.into_iter())
                .map(|(place, steps)| RandomThread {
                    placement: place.to_owned(),
                    cells: cells(steps),
                })
                .collect(),
            observed: ["x", "y"].map(str::to_owned).into(),
        }
    })
}
