//! Integers of 65 to 128 bits. Each is in one register of 128 bits, and computed in two halves.

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::ty::ScalarType;

/// The width of a half.
const HALF: ScalarType = ScalarType::Int(64);

/// The low and the high half of a value.
type WideInteger = (CellValue, CellValue);

impl Translator<'_, '_> {
    /// An operation with two operands.
    pub(super) fn wide_binary(
        &mut self,
        op: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let (left, right) = (self.halves(scalar, a), self.halves(scalar, b));
        let (low, high) = match op {
            "and" | "or" | "xor" => {
                let op = format!("{op}.b64");
                (self.made_by(&op, &[&left.0, &right.0]), self.made_by(&op, &[&left.1, &right.1]))
            }
            "add" => {
                let low = self.made_by("add.u64", &[&left.0, &right.0]);
                let carry = self.made_by("setp.lt.u64", &[&low, &left.0]);
                let high = self.made_by("add.u64", &[&left.1, &right.1]);
                let carry = self.made_by("selp.b64", &[&1, &0, &carry]);
                (low, self.made_by("add.u64", &[&high, &carry]))
            }
            "sub" => {
                let low = self.made_by("sub.u64", &[&left.0, &right.0]);
                let borrow = self.made_by("setp.lt.u64", &[&left.0, &right.0]);
                let high = self.made_by("sub.u64", &[&left.1, &right.1]);
                let borrow = self.made_by("selp.b64", &[&1, &0, &borrow]);
                (low, self.made_by("sub.u64", &[&high, &borrow]))
            }
            "mul" => {
                let low = self.made_by("mul.lo.u64", &[&left.0, &right.0]);
                let carried = self.made_by("mul.hi.u64", &[&left.0, &right.0]);
                let one = self.made_by("mul.lo.u64", &[&left.0, &right.1]);
                let other = self.made_by("mul.lo.u64", &[&left.1, &right.0]);
                let sum = self.made_by("add.u64", &[&one, &other]);
                (low, self.made_by("add.u64", &[&carried, &sum]))
            }
            "shl" | "lshr" => self.shifted(op == "shl", &left, &right.0),
            "ashr" => {
                let a = self.signed(scalar, a)?;
                let of = self.halves(scalar, &a);
                self.shifted_signed(&of, &right.0)
            }
            _ => return self.no(format!("`{op}` of {scalar} is not supported")),
        };
        self.put(&low, &high, to);
        self.mask(scalar, to);
        Ok(())
    }

    /// A shift to the left, or a logical one to the right. A shift of a half by 64 or more gives 0.
    fn shifted(
        &mut self,
        left: bool,
        (low, high): &WideInteger,
        amount: &CellValue,
    ) -> WideInteger {
        let (to, back) = if left { ("shl.b64", "shr.u64") } else { ("shr.u64", "shl.b64") };
        let (from, into) = if left { (low, high) } else { (high, low) };
        let (amount, rest, beyond) = self.amounts(amount);
        let outer = self.made_by(to, &[from, &amount]);
        let kept = self.made_by(to, &[into, &amount]);
        let crossed = self.made_by(back, &[from, &rest]);
        let moved = self.made_by(to, &[from, &beyond]);
        let inner = self.made_by("or.b64", &[&kept, &crossed]);
        let inner = self.made_by("or.b64", &[&inner, &moved]);
        if left { (outer, inner) } else { (inner, outer) }
    }

    /// An arithmetic shift to the right.
    fn shifted_signed(&mut self, (low, high): &WideInteger, amount: &CellValue) -> WideInteger {
        let (amount, rest, beyond) = self.amounts(amount);
        let kept = self.made_by("shr.u64", &[low, &amount]);
        let crossed = self.made_by("shl.b64", &[high, &rest]);
        let near = self.made_by("or.b64", &[&kept, &crossed]);
        let far = self.made_by("shr.s64", &[high, &beyond]);
        let is_far = self.made_by("setp.ge.u32", &[&amount, &64]);
        let low = self.made_by("selp.b64", &[&far, &near, &is_far]);
        (low, self.made_by("shr.s64", &[high, &amount]))
    }

    /// An amount `n` of a shift, `64 - n` and `n - 64`, which are large numbers if they are negative.
    fn amounts(&mut self, amount: &CellValue) -> (CellValue, CellValue, CellValue) {
        let is_number = amount.number().is_some();
        let amount = self.made_by(if is_number { "mov.b32" } else { "cvt.u32.u64" }, &[amount]);
        let rest = self.made_by("sub.u32", &[&64, &amount]);
        let beyond = self.made_by("sub.u32", &[&amount, &64]);
        (amount, rest, beyond)
    }

    /// A comparison. `name` is that of PTX.
    pub(super) fn wide_compare(
        &mut self,
        name: &str,
        signed: bool,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let (mut a, mut b) = (a.clone(), b.clone());
        if signed {
            (a, b) = (self.signed(scalar, &a)?, self.signed(scalar, &b)?);
        }
        let (left, right) = (self.halves(scalar, &a), self.halves(scalar, &b));
        if matches!(name, "eq" | "ne") {
            let low = self.made_by("xor.b64", &[&left.0, &right.0]);
            let high = self.made_by("xor.b64", &[&left.1, &right.1]);
            let all = self.made_by("or.b64", &[&low, &high]);
            self.row(format!("setp.{name}.u64"), &[to, &all, &0]);
            return Ok(());
        }
        let sign = if signed { 's' } else { 'u' };
        // The high halves decide, unless they are equal.
        let strict = &name[..1];
        let decided = self.made_by(format!("setp.{strict}t.{sign}64"), &[&left.1, &right.1]);
        let equal = self.made_by("setp.eq.u64", &[&left.1, &right.1]);
        let lower = self.made_by(format!("setp.{name}.u64"), &[&left.0, &right.0]);
        let both = self.made_by("and.pred", &[&equal, &lower]);
        self.row("or.pred", &[to, &decided, &both]);
        Ok(())
    }

    pub(super) fn wide_select(
        &mut self,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
        condition: &CellValue,
    ) {
        let (a, b) = (self.halves(scalar, a), self.halves(scalar, b));
        let low = self.made_by("selp.b64", &[&a.0, &b.0, condition]);
        let high = self.made_by("selp.b64", &[&a.1, &b.1, condition]);
        self.put(&low, &high, to);
    }

    /// A conversion from or to a wide integer.
    pub(super) fn wide_cast(
        &mut self,
        op: &str,
        old: ScalarType,
        from: &CellValue,
        new: ScalarType,
        to: &CellValue,
    ) -> LoweringResult<()> {
        match (op, old.bits() > 64, new.bits() > 64) {
            ("trunc", true, true) => {
                self.mov(new, to, from)?;
                self.mask(new, to);
                Ok(())
            }
            ("zext", true, true) => self.mov(new, to, from),
            ("sext", true, true) => {
                let signed = self.signed(old, from)?;
                self.mov(new, to, &signed)?;
                self.mask(new, to);
                Ok(())
            }
            ("trunc" | "inttoptr", true, false) => {
                let (low, _) = self.halves(old, from);
                if new.bits() == 64 {
                    return self.mov(new, to, &low);
                }
                self.cast(op, HALF, &low, new, to)
            }
            ("zext" | "sext" | "ptrtoint", false, true) => {
                let low = self.temporary();
                if old.bits() == 64 {
                    self.mov(HALF, &low, from)?;
                } else {
                    self.cast(op, old, from, HALF, &low)?;
                }
                let high = match op {
                    "sext" => self.made_by("shr.s64", &[&low, &63]),
                    _ => CellValue::Number(0),
                };
                self.put(&low, &high, to);
                self.mask(new, to);
                Ok(())
            }
            _ => self.no(format!("`{op}` from {old} to {new} is not supported")),
        }
    }

    /// A value in a register of 128 bits, sign-extended.
    pub(super) fn wide_signed(&mut self, scalar: ScalarType, cell: &CellValue) -> CellValue {
        let missing = 128 - scalar.bits();
        if missing == 0 {
            return cell.clone();
        }
        let (low, high) = self.halves(scalar, cell);
        let up = self.made_by("shl.b64", &[&high, &missing]);
        let high = self.made_by("shr.s64", &[&up, &missing]);
        self.made_of(&low, &high)
    }

    /// Clears the bits above those of the type.
    pub(super) fn wide_mask(&mut self, scalar: ScalarType, cell: &CellValue) {
        let missing = 128 - scalar.bits();
        if missing > 0 {
            let (low, high) = self.halves(scalar, cell);
            let high = self.made_by("and.b64", &[&high, &(u64::MAX >> missing)]);
            self.put(&low, &high, cell);
        }
    }
}
