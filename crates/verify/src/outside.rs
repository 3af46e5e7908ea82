//! How far outside of which variable an access is.

use execution::constants::Constants;
use execution::layout::{Layout, Virtual};
use lift::module::{HEAP, TRAP};
use model::program::{Program, ThreadId};

/// The bytes that an access reads or writes, as addresses of its thread.
#[derive(Clone, Copy)]
struct AccessedRange {
    start: u64,
    bytes: u64,
}

/// Where an access outside of memory leads, in words, if its address is a constant: which variable is nearest.
pub(crate) fn outside(program: &Program, thread: ThreadId, line: u16) -> Option<String> {
    let layout = Layout::new(program);
    let constants = Constants::new(program, &layout, thread);
    let line = usize::from(line);
    let instruction = &program.threads[usize::from(thread.0)].lines[line].instruction;
    let (address, ty, elements) = instruction.access()?;
    let start = constants.address(&layout, thread, line, address)?;
    let start = layout.generic(instruction.space().space(), start);
    let bytes = u64::from(ty.bytes()) * u64::try_from(elements).expect("a vector has few elements");
    let access = AccessedRange { start, bytes };
    let visible = layout.virtuals.iter().filter(|of| is_visible(program, of, thread));
    let nearest = visible.min_by_key(|of| distance(of, access))?;
    (distance(nearest, access) < FARTHEST).then(|| said(program, nearest, access))
}

/// Variables are farther than this from each other in a test, and in no order of a GPU.
const FARTHEST: u64 = 1 << 18;

fn is_visible(program: &Program, of: &Virtual, thread: ThreadId) -> bool {
    let own = of.space.is_shared_by_threads() || of.instance == thread.0;
    let name = &program.variables[usize::from(of.variable.0)].name;
    own && ![TRAP, HEAP].contains(&&name[..])
}

fn distance(of: &Virtual, access: AccessedRange) -> u64 {
    let end = of.address + u64::from(of.extent);
    if access.start < of.address {
        of.address - access.start
    } else {
        access.start.saturating_sub(end)
    }
}

fn said(program: &Program, of: &Virtual, access: AccessedRange) -> String {
    let name = &program.variables[usize::from(of.variable.0)].name;
    let extent = u64::from(of.extent);
    let size = format!("`{name}`, which has {}", in_bytes(extent));
    if access.start < of.address {
        return format!("{} before {size}", in_bytes(of.address - access.start));
    }
    let start = access.start - of.address;
    match start.checked_sub(extent) {
        Some(0) => format!("directly behind {size}"),
        Some(behind) => format!("{} behind {size}", in_bytes(behind)),
        None => format!("from byte {start} to byte {} of {size}", start + access.bytes - 1),
    }
}

fn in_bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}
