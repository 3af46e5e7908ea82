//! The placement of threads on SMs, and the division of memory into cells.

use super::{Cell, MemoryPlace, asynchronous};
use execution::layout::Layout;
use model::memory::{Home, Space};
use model::program::Program;

/// The SM of each thread, the GPU of each SM, and the first thread of each one's CTA and cluster.
pub(super) fn topology(program: &Program, one_sm: bool) -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) {
    let small = |n: usize| u8::try_from(n).expect("few threads");
    let (mut sm, mut gpu, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cta, mut cluster) = (Vec::new(), Vec::new());
    for (index, thread) in program.threads.iter().enumerate() {
        let here = thread.placement;
        let first =
            |same: &dyn Fn(usize) -> bool| small((0..index).find(|&t| same(t)).unwrap_or(index));
        cta.push(first(&|other| program.threads[other].placement.same_cta(here)));
        cluster.push(first(&|other| program.threads[other].placement.same_cluster(here)));
        let key = match here.sm {
            _ if one_sm => (here.gpu, None, None, 0),
            Some(sm) => (here.gpu, Some(sm), None, 0),
            None => (here.gpu, None, here.cluster, here.cta),
        };
        let known = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            keys.push(key);
            gpu.push(small(here.gpu as usize & 0xff));
            keys.len() - 1
        });
        sm.push(small(known));
    }
    (sm, gpu, cta, cluster)
}

/// Memory cut so that every access is some cells and no part of one: accesses are aligned, so the
/// smallest one decides. Reading R63.
pub(super) fn cells(
    program: &Program,
    layout: &Layout,
    home: Home,
    sm: &[u8],
) -> (Vec<Cell>, Vec<(u8, u32)>) {
    let lines = program.threads.iter().flat_map(|thread| &thread.lines);
    let sizes = lines.filter_map(|line| line.instruction.access());
    let sizes = sizes.map(|(_, ty, _)| ty.bytes()).chain(asynchronous::grain(program));
    let smallest = sizes.min().unwrap_or(1);
    let (mut cells, mut first) = (Vec::new(), Vec::new());
    for (location, of) in layout.locations.iter().enumerate() {
        let variable = &program.variables[usize::from(of.variable.0)];
        let place = match variable.space {
            Space::Global => MemoryPlace::Global(variable.home.unwrap_or(home)),
            Space::Shared => {
                MemoryPlace::Shared { sm: sm[usize::from(of.instance)], cta: of.instance }
            }
            Space::Const | Space::Local | Space::ParamEntry | Space::ParamFunc | Space::Tensor => {
                MemoryPlace::Private
            }
        };
        let size = u32::try_from(of.initial.len()).expect("variables are small");
        // A variable smaller than the smallest access has one cell, and faults.
        let length = smallest.min(size.max(1));
        first.push((u8::try_from(cells.len()).unwrap_or(u8::MAX), length));
        let mut start = 0;
        while start < size {
            let location = u16::try_from(location).expect("few variables");
            cells.push(Cell { location, start, length: length.min(size - start), place });
            start += length;
        }
    }
    (cells, first)
}
