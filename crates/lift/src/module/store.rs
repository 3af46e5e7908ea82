//! Stores of some elements of a vector: `st.v4.b32 [a], {r1, _, r3, _}`.

use super::operand::elements;
use super::parameter::width;
use super::{FunctionReader, ReadResult};

impl FunctionReader<'_, '_> {
    /// A store of some elements of a vector, as a store of each of them. Returns whether it is one.
    pub(super) fn stores_some(
        &mut self,
        guard: &str,
        parts: &[&str],
        operands: &[String],
    ) -> ReadResult<bool> {
        let [address, vector] = operands else { return Ok(false) };
        let elements = elements(vector);
        if elements.len() < 2 || elements.iter().all(|element| element != "_") {
            return Ok(false);
        }
        let refused = || "a store of some elements of a vector".to_owned();
        let width = parts.last().map_or(0, |ty| width(ty));
        let inside = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.filter(|_| width > 0).ok_or_else(refused)?;
        let (base, begin) = match inside.rfind(['+', '-']) {
            Some(at) => {
                let digits = inside[at..].trim_start_matches('+');
                (&inside[..at], digits.parse::<i64>().map_err(|_| refused())?)
            }
            None => (inside, 0),
        };
        let vector = |part: &&&str| !matches!(**part, "v2" | "v4" | "v8");
        let name: Vec<&str> = parts.iter().filter(vector).copied().collect();
        let volatile = parts[1..].iter().any(|part| matches!(*part, "volatile" | "mmio"));
        for (at, element) in (begin..).step_by(usize::from(width / 8)).zip(&elements) {
            if element != "_" {
                let cell = format!("{guard}{} [{base}{at:+}], {element}", name.join("."));
                let row = self.builder.instruction(&cell, self.line);
                (row.element, row.volatile) = (true, volatile);
            }
        }
        Ok(true)
    }
}
