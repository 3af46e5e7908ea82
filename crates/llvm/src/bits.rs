//! Values as bits: several scalars in one register, and the scalars in a register.

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::ty::ScalarType;
use lift::written::{AsOperand, WrittenArg};

/// A scalar of a value, and its register or number.
pub(super) type ScalarPart = (ScalarType, CellValue);

/// The width in bits of the widest register.
pub(super) const WIDEST: u32 = 128;

/// The width in bits of a register that holds this many bits.
fn register_bits(bits: u32) -> u32 {
    if bits <= 32 { 32 } else { 64 }
}

fn total(parts: &[ScalarPart]) -> u32 {
    parts.iter().map(|(scalar, _)| scalar.bits()).sum()
}

/// Parts one after the other, each with its lowest bit.
fn in_sequence(parts: &[ScalarPart]) -> Vec<(ScalarPart, u32)> {
    let mut at = 0;
    let place = |part: &ScalarPart| {
        at += part.0.bits();
        (part.clone(), at - part.0.bits())
    };
    parts.iter().map(place).collect()
}

impl Translator<'_, '_> {
    /// One register with all parts, the first one in the lowest bits.
    pub(super) fn packed(&mut self, parts: &[ScalarPart]) -> LoweringResult<CellValue> {
        let width = total(parts);
        if width > WIDEST {
            return self.no(format!("a value of {width} bits in one register is not supported"));
        }
        if parts.iter().any(|(_, cell)| *cell == CellValue::Undefined) {
            return self.no("`undef` is not supported");
        }
        if let ([(_, cell)], 65..) = (parts, width) {
            return Ok(cell.clone());
        }
        if width > 64 {
            let (low, high) = self.packed_halves(parts)?;
            return Ok(self.made_of(&low, &high));
        }
        Ok(self.packed_at(&in_sequence(parts), register_bits(width)))
    }

    /// The same for more than 64 bits: two registers of 64 bits.
    fn packed_halves(&mut self, parts: &[ScalarPart]) -> LoweringResult<(CellValue, CellValue)> {
        let mut low = 0;
        let count = parts.iter().take_while(|part| {
            low += part.0.bits();
            low <= 64
        });
        let (low, high) = parts.split_at(count.count());
        if total(low) != 64 {
            return self.no("this cast of a vector is not supported");
        }
        Ok((self.packed_at(&in_sequence(low), 64), self.packed_at(&in_sequence(high), 64)))
    }

    /// One register of `wide` bits with parts, each with its lowest bit in it. The other bits are 0.
    pub(super) fn packed_at(&mut self, parts: &[(ScalarPart, u32)], wide: u32) -> CellValue {
        let mut sum: Option<CellValue> = None;
        for ((scalar, cell), at) in parts {
            let mut cell = if scalar.bits() == 1 { self.number_of(cell) } else { cell.clone() };
            if wide == 64 && scalar.bits() <= 32 {
                cell = self.made_by("cvt.u64.u32", &[&cell]);
            }
            if *at > 0 {
                cell = self.made_by(format!("shl.b{wide}"), &[&cell, at]);
            }
            sum = Some(match sum {
                None => cell,
                Some(low) => self.made_by(format!("or.b{wide}"), &[&low, &cell]),
            });
        }
        sum.unwrap_or(CellValue::Number(0))
    }

    /// The low and the high 64 bits of a value. A value of at most 64 bits is its low half.
    pub(super) fn halves(
        &mut self,
        scalar: ScalarType,
        cell: &CellValue,
    ) -> (CellValue, CellValue) {
        if scalar.bits() <= 64 {
            return (cell.clone(), CellValue::Number(0));
        }
        let (low, high) = (self.temporary(), self.temporary());
        let both = WrittenArg::Vector(vec![low.operand(), high.operand()]);
        self.row("mov.b128", &[&both, cell]);
        (low, high)
    }

    /// A register of 128 bits with these halves.
    pub(super) fn made_of(&mut self, low: &CellValue, high: &CellValue) -> CellValue {
        let whole = self.temporary();
        self.put(low, high, &whole);
        whole
    }

    /// Assigns two halves to a register of 128 bits.
    pub(super) fn put(&mut self, low: &CellValue, high: &CellValue, to: &CellValue) {
        // Both halves are registers.
        let halves = [low, high].map(|half| match half {
            CellValue::Number(_) => self.made_by("mov.b64", &[half]).operand(),
            CellValue::Register(_) | CellValue::Undefined => half.operand(),
        });
        self.row("mov.b128", &[to, &WrittenArg::Vector(halves.into())]);
    }

    /// Assigns the bits of a register to parts, the lowest bits to the first one.
    pub(super) fn unpacked(&mut self, from: &CellValue, to: &[ScalarPart]) -> LoweringResult<()> {
        let width = total(to);
        if width > WIDEST {
            return self.no(format!("a value of {width} bits in one register is not supported"));
        }
        if let ([(scalar, to)], 65..) = (to, width) {
            return self.mov(*scalar, to, from);
        }
        if width > 64 {
            let (low, high) = self.halves(ScalarType::Int(width), from);
            let mut bits = 0;
            let first = to.iter().take_while(|part| {
                bits += part.0.bits();
                bits <= 64
            });
            let (first, second) = to.split_at(first.count());
            if total(first) != 64 {
                return self.no("this cast of a vector is not supported");
            }
            self.unpacked(&low, first)?;
            return self.unpacked(&high, second);
        }
        let wide = register_bits(width);
        let mut at = 0;
        for (scalar, to) in to {
            let mut cell = from.clone();
            if at > 0 {
                cell = self.made_by(format!("shr.u{wide}"), &[&cell, &at]);
            }
            at += scalar.bits();
            if wide == 64 && scalar.bits() <= 32 {
                cell = self.made_by("cvt.u32.u64", &[&cell]);
            }
            if scalar.bits() == 1 {
                let low = self.made_by("and.b32", &[&cell, &1]);
                self.row("setp.ne.u32", &[to, &low, &0]);
                continue;
            }
            let cell = self.masked(*scalar, cell);
            self.mov(*scalar, to, &cell)?;
        }
        Ok(())
    }

    /// Assigns the bits of some parts to other parts: a cast between vectors, or of a vector.
    pub(super) fn repacked(
        &mut self,
        from: &[ScalarPart],
        to: &[ScalarPart],
    ) -> LoweringResult<()> {
        let same = from.len() == to.len()
            && from.iter().zip(to).all(|(from, to)| from.0.bits() == to.0.bits());
        if same {
            return from
                .iter()
                .zip(to)
                .try_for_each(|((_, from), (scalar, to))| self.mov(*scalar, to, from));
        }
        // The bits up to which both sides have whole parts, one piece after the other.
        let (mut from, mut to) = (from, to);
        while !from.is_empty() || !to.is_empty() {
            let mut taken = (1, 1);
            loop {
                let (Some(a), Some(b)) = (from.get(..taken.0), to.get(..taken.1)) else {
                    return self.no("this cast of a vector is not supported");
                };
                match total(a).cmp(&total(b)) {
                    std::cmp::Ordering::Less => taken.0 += 1,
                    std::cmp::Ordering::Greater => taken.1 += 1,
                    std::cmp::Ordering::Equal => break,
                }
            }
            let bits = self.packed(&from[..taken.0])?;
            self.unpacked(&bits, &to[..taken.1])?;
            (from, to) = (&from[taken.0..], &to[taken.1..]);
        }
        Ok(())
    }
}
