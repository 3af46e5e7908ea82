//! Values of several parts: structures and vectors in registers.

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::operand::Value;
use super::step::{AggregateAccess, Typed};
use super::ty::{ScalarType, Ty};

/// Whether an index is a number.
fn is_constant(index: &Typed<'_>) -> bool {
    matches!(index.1, Value::Literal(_))
}

impl<'a> Translator<'a, '_> {
    /// Extracts or inserts a part.
    pub(super) fn part(
        &mut self,
        part: &AggregateAccess<'a>,
        result: Option<&'a str>,
        to: &[(ScalarType, CellValue)],
    ) -> LoweringResult<()> {
        match part {
            AggregateAccess::Extract { from, path } => {
                let cells = self.cells(&from.0, &from.1)?;
                let before = self.before(&from.0, path)?;
                let parts = cells.get(before..).unwrap_or_default().to_vec();
                to.iter()
                    .zip(&parts)
                    .try_for_each(|((scalar, to), from)| self.mov(*scalar, to, from))
            }
            AggregateAccess::Insert { into, element, path } => {
                let at = self.before(&into.0, path)?;
                self.kept_inside(&element.1)?;
                self.insert(result, into, element, at)
            }
            AggregateAccess::ExtractElement { from, index } if !is_constant(index) => {
                let cells = self.defined(&from.0, &from.1)?;
                let Some((scalar, to)) = to.first() else { return Ok(()) };
                let here = self.inside(index, cells.len())?;
                let mut found = cells.first().cloned().unwrap_or(CellValue::Undefined);
                for (number, cell) in (0_u32..).zip(&cells).skip(1) {
                    let equal = self.equal(&index.0, &here, &number.into())?;
                    let next = self.temporary();
                    self.select(*scalar, &next, cell, &found, &equal)?;
                    found = next;
                }
                self.mov(*scalar, to, &found)
            }
            AggregateAccess::InsertElement { into, element, index } if !is_constant(index) => {
                self.kept_inside(&element.1)?;
                let cells = self.defined(&into.0, &into.1)?;
                let new = self.cell(element)?;
                let here = self.inside(index, cells.len())?;
                for (number, ((scalar, to), old)) in (0_u32..).zip(to.iter().zip(&cells)) {
                    let equal = self.equal(&index.0, &here, &number.into())?;
                    self.select(*scalar, to, &new, old, &equal)?;
                }
                Ok(())
            }
            AggregateAccess::ExtractElement { from, index } => {
                let at = self.index(&from.0, index)?;
                let cells = self.cells(&from.0, &from.1)?;
                match (to.first(), cells.get(at)) {
                    (Some((scalar, to)), Some(from)) => self.mov(*scalar, to, from),
                    _ => self.no("this element of a vector is not supported"),
                }
            }
            AggregateAccess::InsertElement { into, element, index } => {
                let at = self.index(&into.0, index)?;
                self.kept_inside(&element.1)?;
                self.insert(result, into, element, at)
            }
            AggregateAccess::Shuffle { operands: (a, b), mask } => {
                let mut cells = self.cells(&a.0, &a.1)?;
                cells.extend(self.cells(&b.0, &b.1)?);
                let mut chosen = Vec::new();
                for number in self.cells(&mask.0, &mask.1)? {
                    chosen.push(match number.number() {
                        Some(number) => match usize::try_from(number).map(|at| cells.get(at)) {
                            Ok(Some(cell)) => cell.clone(),
                            _ => return self.no("this element of a vector is not supported"),
                        },
                        None => CellValue::Undefined,
                    });
                }
                self.given(result, &chosen)
            }
        }
    }

    /// An index of an element, which is undefined if there is no such element.
    fn inside(&mut self, index: &Typed<'a>, count: usize) -> LoweringResult<CellValue> {
        let here = self.cell(index)?;
        if let Some([scalar]) = index.0.parts(&self.module.types).as_deref() {
            let outside = self.temporary();
            self.compare("uge", *scalar, &outside, &here, &CellValue::from(count as u64))?;
            self.undefined_if(&outside);
        }
        Ok(here)
    }

    /// The number of parts before the one that a path leads to.
    fn before(&self, ty: &Ty, path: &[u64]) -> LoweringResult<usize> {
        let (mut ty, mut before) = (ty, 0);
        for index in path {
            let Some((element, more)) = ty.element(*index, &self.module.types) else {
                return self.no("an index of this value is not supported");
            };
            (ty, before) = (element, before + more);
        }
        Ok(before)
    }

    /// The constant index of an element of a vector.
    fn index(&self, ty: &Ty, index: &Typed<'a>) -> LoweringResult<usize> {
        let number =
            if let Value::Literal(text) = &index.1 { text.parse::<usize>().ok() } else { None };
        match (number, ty.resolved(&self.module.types)) {
            (Some(number), Some(Ty::Vector(lanes, _))) if u64::from(*lanes) > number as u64 => {
                Ok(number)
            }
            _ => self.no("an element of a vector at an index that is not constant"),
        }
    }

    fn insert(
        &mut self,
        result: Option<&'a str>,
        into: &Typed<'a>,
        element: &Typed<'a>,
        at: usize,
    ) -> LoweringResult<()> {
        let mut cells = self.cells(&into.0, &into.1)?;
        let new = self.cells(&element.0, &element.1)?;
        for (cell, new) in cells.iter_mut().skip(at).zip(new) {
            *cell = new;
        }
        self.given(result, &cells)
    }

    /// Assigns values to the parts of a result. Some parts may have no value.
    pub(super) fn given(
        &mut self,
        result: Option<&'a str>,
        cells: &[CellValue],
    ) -> LoweringResult<()> {
        let Some(name) = result else { return Ok(()) };
        let mut parts = self.values[name].parts.clone();
        for ((scalar, to), from) in parts.iter_mut().zip(cells) {
            // A number stays one: a mask of constants is not a condition.
            let number = scalar.bits() <= 64 && from.number().is_some();
            if *from == CellValue::Undefined || number {
                from.clone_into(to);
            } else {
                self.mov(*scalar, to, from)?;
            }
        }
        if let Some(held) = self.values.get_mut(name) {
            held.parts = parts;
        }
        Ok(())
    }
}
