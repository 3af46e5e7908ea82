//! Floating-point instructions, as those of PTX.

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::ty::ScalarType;
use text::cursor::short;

/// The type of a float in PTX; `None` for any other scalar.
pub(super) fn float_name(scalar: ScalarType) -> Option<&'static str> {
    match scalar {
        ScalarType::Half => Some("f16"),
        ScalarType::BFloat => Some("bf16"),
        ScalarType::Float => Some("f32"),
        ScalarType::Double => Some("f64"),
        ScalarType::Int(_) | ScalarType::Ptr => None,
    }
}

/// The comparison of PTX for one of `fcmp`.
fn relation_name(relation: &str) -> Option<&'static str> {
    Some(match relation {
        "oeq" => "eq",
        "one" => "ne",
        "olt" => "lt",
        "ole" => "le",
        "ogt" => "gt",
        "oge" => "ge",
        "ueq" => "equ",
        "une" => "neu",
        "ult" => "ltu",
        "ule" => "leu",
        "ugt" => "gtu",
        "uge" => "geu",
        "ord" => "num",
        "uno" => "nan",
        _ => return None,
    })
}

impl Translator<'_, '_> {
    /// The type of a float in PTX.
    pub(super) fn float_type(&self, scalar: ScalarType) -> LoweringResult<&'static str> {
        match float_name(scalar) {
            Some(name) => Ok(name),
            None => self.no(format!("floating-point arithmetic on {scalar} is not supported")),
        }
    }

    pub(super) fn float_binary(
        &mut self,
        op: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let ty = self.float_type(scalar)?;
        match op {
            "fadd" | "fsub" | "fmul" => {
                self.row(format!("{}.rn.{ty}", &op[1..]), &[to, a, b]);
            }
            "fdiv" if scalar.bits() == 16 => {
                // PTX divides no halves. A quotient of halves in an `.f32` is rounded to the same half.
                let (a, b) = (self.single(scalar, a), self.single(scalar, b));
                let quotient = self.made_by("div.rn.f32", &[&a, &b]);
                self.row(format!("cvt.rn.{ty}.f32"), &[to, &quotient]);
            }
            "fdiv" => {
                self.row(format!("div.rn.{ty}"), &[to, a, b]);
            }
            _ => return self.no(format!("`{op}` of {scalar} is not supported")),
        }
        Ok(())
    }

    /// A half as an `.f32`.
    fn single(&mut self, scalar: ScalarType, cell: &CellValue) -> CellValue {
        if scalar == ScalarType::BFloat {
            return self.made_by("shl.b32", &[cell, &16]);
        }
        self.made_by("cvt.f32.f16", &[cell])
    }

    pub(super) fn float_compare(
        &mut self,
        relation: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let ty = self.float_type(scalar)?;
        match (relation, relation_name(relation)) {
            ("true" | "false", _) => {
                self.row("mov.pred", &[to, &u32::from(relation == "true")]);
            }
            (_, Some(name)) => {
                self.row(format!("setp.{name}.{ty}"), &[to, a, b]);
            }
            (_, None) => {
                let message = format!("unknown comparison `{}`", short(relation));
                return self.wrong("llvm-comparison", message);
            }
        }
        Ok(())
    }

    /// `neg` or `abs`, which change the sign alone.
    pub(super) fn float_sign(
        &mut self,
        op: &str,
        scalar: ScalarType,
        to: &CellValue,
        from: &CellValue,
    ) -> LoweringResult<()> {
        self.float_type(scalar)?;
        let sign = 1_u64 << (scalar.bits() - 1);
        let width = scalar.bits().max(32);
        if op == "neg" {
            self.row(format!("xor.b{width}"), &[to, from, &sign]);
        } else {
            self.row(format!("and.b{width}"), &[to, from, &(sign - 1)]);
        }
        Ok(())
    }

    pub(super) fn float_cast(
        &mut self,
        op: &str,
        old: ScalarType,
        from: &CellValue,
        new: ScalarType,
        to: &CellValue,
    ) -> LoweringResult<()> {
        let refused = || format!("`{op}` from {old} to {new} is not supported");
        match op {
            "fpext" | "fptrunc" => {
                let (narrow, wide) = (self.float_type(old)?, self.float_type(new)?);
                if op == "fpext" {
                    match (old, new) {
                        (ScalarType::BFloat, ScalarType::Float) => {
                            self.row("shl.b32", &[to, from, &16]);
                        }
                        (ScalarType::BFloat, ScalarType::Double) => {
                            let single = self.single(old, from);
                            self.row("cvt.f64.f32", &[to, &single]);
                        }
                        _ => {
                            self.row(format!("cvt.{wide}.{narrow}"), &[to, from]);
                        }
                    }
                } else {
                    self.row(format!("cvt.rn.{wide}.{narrow}"), &[to, from]);
                }
            }
            "sitofp" | "uitofp" => {
                let ty = self.float_type(new)?;
                let signed = op == "sitofp";
                let width = self.container(old)?.max(32);
                let from = match (signed, old) {
                    (true, _) => self.signed(old, from)?,
                    (false, ScalarType::Int(1)) => self.number_of(from),
                    (false, _) => from.clone(),
                };
                let sign = if signed { 's' } else { 'u' };
                if new == ScalarType::BFloat {
                    if old.bits() > 24 {
                        return self.no(refused());
                    }
                    let single = self.made_by(format!("cvt.rn.f32.{sign}{width}"), &[&from]);
                    self.row("cvt.rn.bf16.f32", &[to, &single]);
                } else {
                    self.row(format!("cvt.rn.{ty}.{sign}{width}"), &[to, &from]);
                }
            }
            _ => {
                let mut ty = self.float_type(old)?;
                let width = self.container(new)?;
                if width == 1 {
                    return self.no(refused());
                }
                let sign = if op == "fptosi" { 's' } else { 'u' };
                let mut from = from.clone();
                if old == ScalarType::BFloat {
                    from = self.single(old, &from);
                    ty = "f32";
                }
                self.row(format!("cvt.rzi.{sign}{width}.{ty}"), &[to, &from]);
                self.mask(new, to);
            }
        }
        Ok(())
    }
}
