//! `llvm.masked.load` and `llvm.masked.store`: accesses to the elements of a vector for which a mask holds.

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::operand::Value;
use super::step::{CallAttributes, Typed};
use super::ty::ScalarType;
use lift::written::{WrittenArg, WrittenInstruction, written};

/// The alignment of the place that the argument with this number points to: an attribute, or the argument after it.
fn alignment_of(arguments: &[Typed<'_>], pointer: usize, how: &CallAttributes<'_>) -> Option<u64> {
    if arguments.len() == 4
        && let (_, Value::Literal(text)) = &arguments[pointer + 1]
    {
        return text.parse().ok();
    }
    how.aligned.iter().find(|(at, _)| *at == pointer).map(|one| one.1)
}

impl<'a> Translator<'a, '_> {
    /// `(pointer, mask, otherwise)`; before LLVM 22 the alignment is after the pointer.
    pub(super) fn masked_load(
        &mut self,
        arguments: &[Typed<'a>],
        how: &CallAttributes<'a>,
        result: Option<&'a str>,
    ) -> LoweringResult<()> {
        self.promise(alignment_of(arguments, 0, how));
        let [pointer, .., mask, otherwise] = arguments else {
            return self.no("a masked load of this form is not supported");
        };
        let scalars = otherwise.0.parts(&self.module.types).unwrap_or_default();
        let (at, masks) = self.masked_places(pointer, mask, &scalars)?;
        let read_only = how.invariant
            || self.never_written(&pointer.1, pointer.0.address_space().unwrap_or_default());
        let mut cells = self.cells(&otherwise.0, &otherwise.1)?;
        let done = self.builder.len();
        for (lane, (scalar, cell)) in scalars.into_iter().zip(&mut cells).enumerate() {
            if masks[lane].number() == Some(0) {
                continue;
            }
            let to = self.temporary();
            if masks[lane].number().is_none() {
                self.mov(scalar, &to, cell)?;
            }
            let (ty, _) = self.width(scalar)?;
            self.masked_row(&masks[lane], written(format!("load.{ty}"), &[&to, &at[lane]]));
            *cell = to;
        }
        self.builder.mark_accesses(done, |row| {
            row.element = true;
            row.read_only = read_only;
        });
        self.given(result, &cells)
    }

    /// `(value, pointer, mask)`; before LLVM 22 the alignment is after the pointer.
    pub(super) fn masked_store(
        &mut self,
        arguments: &[Typed<'a>],
        how: &CallAttributes<'a>,
    ) -> LoweringResult<()> {
        self.promise(alignment_of(arguments, 1, how));
        let [value, pointer, .., mask] = arguments else {
            return self.no("a masked store of this form is not supported");
        };
        self.kept_inside(&value.1)?;
        let scalars = value.0.parts(&self.module.types).unwrap_or_default();
        let (at, masks) = self.masked_places(pointer, mask, &scalars)?;
        let cells = self.cells(&value.0, &value.1)?;
        let done = self.builder.len();
        for (lane, (scalar, cell)) in scalars.into_iter().zip(&cells).enumerate() {
            if masks[lane].number() == Some(0) {
                continue;
            }
            if *cell == CellValue::Undefined {
                self.leaves_undefined();
                continue;
            }
            let (ty, _) = self.width(scalar)?;
            self.masked_row(&masks[lane], written(format!("store.{ty}"), &[&at[lane], cell]));
        }
        self.builder.mark_accesses(done, |row| row.element = true);
        Ok(())
    }

    /// An access that a mask guards, unless it always holds.
    fn masked_row(&mut self, mask: &CellValue, access: WrittenInstruction) {
        match mask.number() {
            Some(_) => self.push(access),
            None => self.guarded(mask, false, access),
        };
    }

    /// The address of each element, and whether it is accessed.
    fn masked_places(
        &mut self,
        pointer: &Typed<'a>,
        mask: &Typed<'a>,
        scalars: &[ScalarType],
    ) -> LoweringResult<(Vec<WrittenArg>, Vec<CellValue>)> {
        let masks = self.defined(&mask.0, &mask.1)?;
        let whole = |scalar: &ScalarType| matches!(scalar.bits(), 8 | 16 | 32 | 64);
        if scalars.len() != masks.len() || !scalars.iter().all(whole) {
            return self.no("a masked access to this vector is not supported");
        }
        if let Some(space) = pointer.0.address_space() {
            self.space(space)?;
        }
        let (base, mut offset) = self.constant_address(&pointer.1)?;
        let mut at = Vec::new();
        for scalar in scalars {
            at.push(WrittenArg::address(&base, offset));
            offset = offset.wrapping_add(i64::from(scalar.bits() / 8));
        }
        Ok((at, masks))
    }
}
