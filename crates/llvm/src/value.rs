//! Operands as registers and numbers.

use super::cell::CellValue;
use super::function::{LoweringResult, Root, Translator, word};
use super::operand::Value;
use super::step::Typed;
use super::ty::{ScalarType, Ty};
use lift::function::{EntryValue, FunctionVariable};
use model::isa::float::{self, Rounding};
use model::isa::{Type, TypeKind};
use model::memory::Space;
use text::cursor::short;

impl<'a> Translator<'a, '_> {
    /// The scalars of an operand.
    pub(super) fn cells(&mut self, ty: &Ty, value: &Value<'a>) -> LoweringResult<Vec<CellValue>> {
        match value {
            Value::Local(name) => {
                let Some(held) = self.values.get(name) else {
                    let message = format!("`%{}` is not defined", short(name));
                    return self.wrong("llvm-value", message);
                };
                let types = &self.module.types;
                if !alike(&held.ty, ty) && held.ty.parts(types) != ty.parts(types) {
                    let message = format!(
                        "`%{}` has a different type here than at its definition",
                        short(name)
                    );
                    return self.wrong("llvm-type", message);
                }
                Ok(held.parts.iter().map(|(_, cell)| cell.clone()).collect())
            }
            Value::Cast { op, from, to }
                if !matches!((*op, to), ("bitcast" | "addrspacecast", Ty::Ptr(_))) =>
            {
                let Some(scalars) = to.parts(&self.module.types) else {
                    return self.no("a value of this type is not supported");
                };
                let parts: Vec<_> =
                    scalars.into_iter().map(|scalar| (scalar, self.temporary())).collect();
                self.converts(op, from, to, &parts)?;
                Ok(parts.into_iter().map(|(_, cell)| cell).collect())
            }
            Value::Binary { op, operands } => {
                let (a, b) = &**operands;
                let scalars = a.0.parts(&self.module.types).unwrap_or_default();
                let (left, right) = (self.defined(&a.0, &a.1)?, self.defined(&b.0, &b.1)?);
                let mut cells = Vec::new();
                for (scalar, (a, b)) in scalars.into_iter().zip(left.iter().zip(&right)) {
                    let cell = self.temporary();
                    self.binary(op, scalar, &cell, a, b)?;
                    cells.push(cell);
                }
                Ok(cells)
            }
            Value::Splat(element) => {
                let cell = self.one(&element.0, &element.1)?;
                let parts = ty.parts(&self.module.types).map_or(0, |parts| parts.len());
                Ok(vec![cell; parts])
            }
            Value::Global(_) | Value::Address { .. } | Value::Cast { .. } => {
                let (base, offset) = self.constant_address(value)?;
                if offset == 0 {
                    return Ok(vec![base]);
                }
                Ok(vec![self.made_by("add.u64", &[&base, &offset])])
            }
            Value::Aggregate(elements) => {
                let mut cells = Vec::new();
                for (ty, element) in elements {
                    cells.extend(self.cells(ty, element)?);
                }
                let parts = ty.parts(&self.module.types).map(|parts| parts.len());
                if parts != Some(cells.len()) {
                    return self
                        .wrong("llvm-type", "this constant has a different type".to_owned());
                }
                Ok(cells)
            }
            Value::Literal(literal) => {
                let Some(scalars) = ty.parts(&self.module.types) else {
                    return self.no("a value of this type is not supported");
                };
                let is_undefined = matches!(*literal, "undef" | "poison");
                let is_zero = is_undefined && self.zero;
                if is_zero {
                    self.note(TAKEN_FOR_ZERO.to_owned());
                }
                let literal = if is_zero { "zeroinitializer" } else { *literal };
                // Each undefined part must get a value before it is used. Otherwise the use is refused.
                if matches!(literal, "undef" | "poison") {
                    return Ok(vec![CellValue::Undefined; scalars.len()]);
                }
                if scalars.len() > 1 {
                    return match literal {
                        "zeroinitializer" => scalars
                            .into_iter()
                            .map(|scalar| self.literal(scalar, literal))
                            .collect(),
                        _ => self.no("a constant of this form is not supported"),
                    };
                }
                match scalars.first() {
                    Some(scalar) => Ok(vec![self.literal(*scalar, literal)?]),
                    None => Ok(Vec::new()),
                }
            }
            Value::Text(_) => self.no("a string as a value is not supported"),
            Value::Other(what) => {
                self.no(format!("the constant `{}` is not supported", short(what)))
            }
        }
    }

    /// A scalar operand.
    pub(super) fn cell(&mut self, (ty, value): &Typed<'a>) -> LoweringResult<CellValue> {
        self.one(ty, value)
    }

    pub(super) fn one(&mut self, ty: &Ty, value: &Value<'a>) -> LoweringResult<CellValue> {
        let mut cells = self.cells(ty, value)?;
        match (cells.pop(), cells.is_empty()) {
            (Some(CellValue::Undefined), true) => self.no("`undef` is not supported"),
            (Some(cell), true) => Ok(cell),
            _ => self.no("a value of several parts is not supported here"),
        }
    }

    /// The bits of a constant.
    fn literal(&mut self, scalar: ScalarType, text: &str) -> LoweringResult<CellValue> {
        let bits = match (scalar, text) {
            (_, _) if scalar.is_float() && text.starts_with("f0x") => {
                text.strip_prefix("f0x").and_then(hexadecimal)
            }
            (_, "+inf" | "-inf" | "+qnan" | "-qnan") if scalar.is_float() => {
                Some(special_float(scalar, text))
            }
            (_, "zeroinitializer") | (ScalarType::Ptr, "null") | (ScalarType::Int(1), "false") => {
                Some(0)
            }
            (ScalarType::Int(1), "true") => Some(1),
            (ScalarType::Int(width @ 1..=64), _) => integer(text, width),
            (ScalarType::Half | ScalarType::BFloat, _) if !text.starts_with("0x") => {
                decimal(text).and_then(|value| half(scalar, value))
            }
            (ScalarType::Float, _) => decimal(text).map(|value| {
                #[expect(clippy::cast_possible_truncation, reason = "LLVM writes one that fits")]
                let narrow = value as f32;
                u64::from(narrow.to_bits())
            }),
            (ScalarType::Double, _) => decimal(text).map(f64::to_bits),
            (ScalarType::Half, _) => text.strip_prefix("0xH").and_then(hexadecimal),
            (ScalarType::BFloat, _) => text.strip_prefix("0xR").and_then(hexadecimal),
            _ => None,
        };
        if scalar.bits() > 64 {
            self.container(scalar)?;
            let value = wide_integer(text, scalar.bits());
            let Some(value) = value else {
                return self.no(format!("the constant `{}` is not supported", short(text)));
            };
            let half = |value: u128| {
                CellValue::Number(u64::try_from(value & u128::from(u64::MAX)).expect("64 bits"))
            };
            return Ok(self.made_of(&half(value), &half(value >> 64)));
        }
        let Some(bits) = bits else {
            let message = format!("`{}` is not a value of type {scalar}", short(text));
            return self.wrong("llvm-value", message);
        };
        Ok(CellValue::Number(bits))
    }

    /// A constant address: a register and an offset.
    pub(super) fn constant_address(
        &mut self,
        value: &Value<'a>,
    ) -> LoweringResult<(CellValue, i64)> {
        match value {
            Value::Global(name) => Ok((self.global(name)?, 0)),
            Value::Local(_) => Ok((self.one(&Ty::Ptr(0), value)?, 0)),
            Value::Address { source, base, indices } => {
                let (register, offset) = self.constant_address(&base.1)?;
                let (more, variable) = self.offsets(source, indices)?;
                if !variable.is_empty() {
                    return self.no("a constant with an invalid index");
                }
                Ok((register, offset.wrapping_add(more)))
            }
            Value::Cast { op: "bitcast" | "addrspacecast", from, .. } => {
                self.constant_address(&from.1)
            }
            Value::Cast { op, .. } => self.no(format!("the constant `{op}` is not supported")),
            Value::Literal(_)
            | Value::Aggregate(_)
            | Value::Binary { .. }
            | Value::Splat(_)
            | Value::Text(_)
            | Value::Other(_) => self.no("an address that is a number is not supported"),
        }
    }

    /// The offset that indices add to an address: constant bytes, and indices that are values, each with its
    /// stride.
    pub(super) fn offsets(
        &mut self,
        source: &Ty,
        indices: &[Typed<'a>],
    ) -> LoweringResult<(i64, Vec<(Typed<'a>, u64)>)> {
        let types = &self.module.types;
        let mut ty = source;
        let mut total = 0_i64;
        let mut variable = Vec::new();
        for (position, index) in indices.iter().enumerate() {
            let constant = match index {
                (Ty::Scalar(ScalarType::Int(_)), Value::Literal("zeroinitializer" | "false")) => {
                    Some(0)
                }
                (Ty::Scalar(ScalarType::Int(_)), Value::Literal(text)) => text.parse::<i64>().ok(),
                _ => None,
            };
            let element = if position == 0 {
                ty
            } else {
                match ty.resolved(types) {
                    Some(Ty::Struct { .. }) => {
                        let field = constant.and_then(|index| u64::try_from(index).ok());
                        let Some((offset, field)) = field.and_then(|index| ty.field(index, types))
                        else {
                            return self.no("an index of this structure is not supported");
                        };
                        total = total.wrapping_add_unsigned(offset);
                        ty = field;
                        continue;
                    }
                    Some(Ty::Array(_, element) | Ty::Vector(_, element)) => element,
                    _ => return self.wrong("llvm-index", "this type has no elements".to_owned()),
                }
            };
            let Some(stride) = element.stride(types) else {
                return self.no("an address in this type is not supported");
            };
            match constant {
                Some(index) => {
                    let stride = stride.cast_signed();
                    total = total.wrapping_add(index.wrapping_mul(stride));
                }
                None => variable.push((index.clone(), stride)),
            }
            ty = element;
        }
        Ok((total, variable))
    }

    /// The register that holds the address of a variable of the module.
    fn global(&mut self, name: &'a str) -> LoweringResult<CellValue> {
        let Some(global) = self.module.globals.get(name) else {
            return self.no(format!("`@{}` is not a variable of this module", short(name)));
        };
        if let Some(what) = global.unusual {
            return self.no(format!("`@{}`: {what} is not supported", short(name)));
        }
        if global.constant && global.initialized {
            return self
                .no(format!("the value of the constant `@{}` is not supported", short(name)));
        }
        let space = self.space(global.space)?;
        let held = word(name);
        if self.module.ambiguous.contains(&held) {
            return self
                .no(format!("`@{}` and another variable are both `{held}` in PTX", short(name)));
        }
        let address = |initial: &(String, EntryValue)| {
            matches!(&initial.1, EntryValue::Address(of) if *of == held).then(|| initial.0.clone())
        };
        if let Some(known) = self.builder.initial().iter().find_map(address) {
            return Ok(CellValue::Register(known));
        }
        let Some(bytes) = global.ty.stride(&self.module.types).and_then(|n| u32::try_from(n).ok())
        else {
            return self.no(format!("the type of `@{}` is not supported", short(name)));
        };
        self.variable(FunctionVariable {
            name: held.clone(),
            space,
            bytes,
            grows: bytes == 0 || global.external && space == Space::Global,
            ..FunctionVariable::default()
        });
        let register = self.fresh(name);
        self.entry(&register, EntryValue::Address(held));
        Ok(CellValue::Register(register))
    }

    /// Whether no thread writes the memory at this address while the kernel runs.
    pub(super) fn never_written(&self, pointer: &Value<'a>, space: u32) -> bool {
        space == 4
            || match self.root(pointer) {
                Root::Parameter(index) => {
                    let attributes = &self.definition.parameters[index].attributes;
                    self.definition.kernel
                        && ["noalias", "readonly"].iter().all(|a| attributes.contains(a))
                }
                Root::Global(name) => {
                    self.module.globals.get(name).is_some_and(|global| global.constant)
                }
                Root::Alloca(_) | Root::Unknown => false,
            }
    }
}

/// The note of a function with values that are not defined.
const TAKEN_FOR_ZERO: &str = "`undef` and `poison` are taken for 0, which they may be";

/// Whether two types are equal, or both are pointers.
fn alike(a: &Ty, b: &Ty) -> bool {
    a == b || matches!((a, b), (Ty::Ptr(_), Ty::Ptr(_)))
}

/// A decimal integer with this number of bits, as an unsigned number.
fn integer(text: &str, bits: u32) -> Option<u64> {
    let hexadecimal = |digits| i128::from_str_radix(digits, 16).ok();
    let value = match (text.strip_prefix("u0x"), text.strip_prefix("s0x")) {
        (Some(digits), _) | (_, Some(digits)) => hexadecimal(digits)?,
        (None, None) => text.parse().ok()?,
    };
    let most = 1_i128 << bits;
    if !(-(most >> 1)..most).contains(&value) {
        return None;
    }
    u64::try_from(value.rem_euclid(most)).ok()
}

/// The same for 65 to 128 bits.
fn wide_integer(text: &str, bits: u32) -> Option<u128> {
    if text == "zeroinitializer" {
        return Some(0);
    }
    let value = match text.strip_prefix('-') {
        Some(_) => text.parse::<i128>().ok()?.cast_unsigned(),
        None => text.parse().ok()?,
    };
    Some(value & (u128::MAX >> (128 - bits)))
}

/// `1.5e+00`, or the bits of a double.
fn decimal(text: &str) -> Option<f64> {
    match text.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits).map(f64::from_bits),
        None if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') => {
            text.parse().ok()
        }
        None => None,
    }
}

/// A decimal number as the bits of a half; `None` if it is not one exactly.
fn half(scalar: ScalarType, value: f64) -> Option<u64> {
    let double = Type { kind: TypeKind::Float, bits: 64 };
    let convert = |to, from, value| float::convert(to, from, Rounding::Nearest, value);
    let single = convert(Type::F32, double, value.to_bits().into());
    let bits = if scalar == ScalarType::BFloat {
        single >> 16
    } else {
        convert(Type { kind: TypeKind::Float, bits: 16 }, Type::F32, single)
    };
    u64::try_from(bits).ok()
}

/// An infinity or a NaN, by its name.
fn special_float(scalar: ScalarType, name: &str) -> u64 {
    let (bits, fraction) = match scalar {
        ScalarType::Half => (16, 10),
        ScalarType::BFloat => (16, 7),
        ScalarType::Float => (32, 23),
        ScalarType::Double | ScalarType::Int(_) | ScalarType::Ptr => (64, 52),
    };
    let sign = u64::from(name.starts_with('-')) << (bits - 1);
    let infinity = ((1_u64 << (bits - 1)) - 1) >> fraction << fraction;
    let quiet = u64::from(name.ends_with("qnan")) << (fraction - 1);
    sign | infinity | quiet
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}
