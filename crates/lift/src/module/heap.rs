//! The device heap in a launch: `malloc` gives each thread memory of its own.
//!
//! Memory that is free is not given again, and `malloc` fails where a thread has used all of its memory.

use super::{FunctionReader, ReadResult};
use crate::function::{EntryValue, FunctionVariable};
use crate::written::{WrittenArg, written};
use model::memory::Space;

/// The variable of a launched function with the memory that `malloc` gives to its threads, [`HEAP_BYTES`] each. The special
/// register of this name has the address of those of a thread.
pub const HEAP: &str = "device_heap";

/// The bytes that `malloc` can give to a thread.
pub const HEAP_BYTES: u32 = 2048;

/// What is written of it.
const NOTE: &str = "`malloc` gives each thread 2048 bytes in all, and never the same twice";

/// The registers of the heap of a thread.
#[derive(Clone)]
pub(super) struct HeapRegisters {
    /// The address of its memory.
    base: String,
    /// How many bytes were given.
    used: String,
    left: String,
    full: String,
    bytes: String,
    place: String,
}

impl FunctionReader<'_, '_> {
    fn heap(&mut self) -> HeapRegisters {
        if let Some(known) = &self.heap {
            return known.clone();
        }
        self.note(NOTE);
        self.builder.variable(FunctionVariable {
            name: HEAP.to_owned(),
            space: Space::Global,
            bytes: HEAP_BYTES,
            alignment: 16,
            ..FunctionVariable::default()
        });
        let mut name = |part: &str| self.names.fresh(&format!("heap.{part}"));
        let heap = HeapRegisters {
            base: name("base"),
            used: name("used"),
            left: name("left"),
            full: name("full"),
            bytes: name("bytes"),
            place: name("place"),
        };
        self.builder.entry(&heap.base, EntryValue::Special(HEAP.to_owned()));
        self.builder.entry(&heap.used, EntryValue::Value(0));
        self.heap = Some(heap.clone());
        heap
    }

    /// `malloc`: both operands are memory of the call.
    pub(super) fn allocated(&mut self, place: &str, bytes: &str) -> ReadResult<()> {
        let (to, from) = (self.memory_of_call(place)?.0, self.memory_of_call(bytes)?.0);
        let heap = self.heap();
        let HeapRegisters { base, used, left, full, bytes, place } = &heap;
        self.push(&written("ld.local.u64", &[bytes, &WrittenArg::address(&from, 0)]));
        // What does not fit takes nothing. What is left is a multiple of 16: what fits does so after it is rounded up.
        self.push(&written("sub.u64", &[left, &HEAP_BYTES, used]));
        self.push(&written("setp.gt.u64", &[full, bytes, left]));
        self.push(&written("selp.b64", &[bytes, &0, bytes, full]));
        self.push(&written("add.u64", &[place, base, used]));
        self.push(&written("selp.b64", &[place, &0, place, full]));
        self.push(&written("add.u64", &[bytes, bytes, &15]));
        self.push(&written("and.b64", &[bytes, bytes, &!15_u64]));
        self.push(&written("add.u64", &[used, used, bytes]));
        self.push(&written("st.local.u64", &[&WrittenArg::address(&to, 0), place]));
        Ok(())
    }
}
