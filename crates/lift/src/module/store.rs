//! Stores of some elements of a vector: `st.v4.b32 [a], {r1, _, r3, _}`.

use super::parameter::width;
use super::{FunctionReader, ReadResult};
use crate::written::{AddressArg, WrittenArg, WrittenGuard, written};

impl FunctionReader<'_, '_> {
    /// A store of some elements of a vector, as a store of each of them. Returns whether it is one.
    pub(super) fn stores_some(
        &mut self,
        guard: Option<&WrittenGuard>,
        parts: &[&str],
        operands: &[WrittenArg],
    ) -> ReadResult<bool> {
        let [address, WrittenArg::Vector(elements)] = operands else { return Ok(false) };
        if elements.len() < 2 || !elements.iter().any(WrittenArg::is_sink) {
            return Ok(false);
        }
        let width = parts.last().map_or(0, |ty| width(ty));
        let (WrittenArg::Address(AddressArg { base, offset, unified: false }), 8..) =
            (address, width)
        else {
            return Err("a store of some elements of a vector".to_owned());
        };
        let vector = |part: &&&str| !matches!(**part, "v2" | "v4" | "v8");
        let name: Vec<&str> = parts.iter().filter(vector).copied().collect();
        let volatile = parts[1..].iter().any(|part| matches!(*part, "volatile" | "mmio"));
        for (at, element) in (*offset..).step_by(usize::from(width / 8)).zip(elements) {
            if !element.is_sink() {
                let place = WrittenArg::address(base.clone(), at);
                let store = written(name.join("."), &[&place, element]);
                let row = self.builder.push(&store.guarded(guard), self.line);
                (row.element, row.volatile) = (true, volatile);
            }
        }
        Ok(true)
    }
}
