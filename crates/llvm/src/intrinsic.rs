//! Intrinsics that compute a value: those of LLVM, and those that are one instruction of PTX.

use super::bits::ScalarPart;
use super::cell::{CellValue, operands};
use super::float::float_name;
use super::function::{LoweringResult, Translator};
use super::step::Typed;
use super::ty::ScalarType;
use lift::opaque::{LONE_LANE, OTHER_LANES};

/// Functions that PTX approximates, by their name in LLVM.
const APPROXIMATED: &[(&str, &str)] =
    &[("exp2", "ex2"), ("log2", "lg2"), ("sin", "sin"), ("cos", "cos"), ("tanh", "tanh")];

/// The names in LLVM of operations that change a float to a whole number, with the rounding of `cvt`.
const ROUNDED: &[(&str, &str)] = &[
    ("floor", "rmi"),
    ("ceil", "rpi"),
    ("trunc", "rzi"),
    ("rint", "rni"),
    ("nearbyint", "rni"),
    ("roundeven", "rni"),
];

/// The type of PTX that a suffix of an intrinsic denotes.
fn type_of_suffix(suffix: &str) -> Option<&'static str> {
    Some(match suffix {
        "f" | "f32" => "f32",
        "d" | "f64" => "f64",
        "f16" => "f16",
        "f16x2" => "f16x2",
        "bf16" => "bf16",
        "bf16x2" => "bf16x2",
        _ => return None,
    })
}

/// An intrinsic of NVVM whose operands are those of one instruction of PTX: that instruction.
fn instruction_of(name: &str) -> Option<String> {
    let fixed = match name {
        "mulhi.s" => "mul.hi.s16",
        "mulhi.us" => "mul.hi.u16",
        "mulhi.i" => "mul.hi.s32",
        "mulhi.ui" => "mul.hi.u32",
        "mulhi.ll" => "mul.hi.s64",
        "mulhi.ull" => "mul.hi.u64",
        "mul24.i" => "mul24.lo.s32",
        "mul24.ui" => "mul24.lo.u32",
        "sad.s" => "sad.s16",
        "sad.us" => "sad.u16",
        "sad.i" => "sad.s32",
        "sad.ui" => "sad.u32",
        "sad.ll" => "sad.s64",
        "sad.ull" => "sad.u64",
        "prmt" => "prmt.b32",
        "prmt.f4e" => "prmt.b32.f4e",
        "prmt.b4e" => "prmt.b32.b4e",
        "prmt.rc8" => "prmt.b32.rc8",
        "prmt.ecl" => "prmt.b32.ecl",
        "prmt.ecr" => "prmt.b32.ecr",
        "prmt.rc16" => "prmt.b32.rc16",
        "popc.i" => "popc.b32",
        "clz.i" => "clz.b32",
        "brev32" => "brev.b32",
        "brev64" => "brev.b64",
        "abs.i" => "abs.s32",
        "abs.ll" => "abs.s64",
        "min.i" => "min.s32",
        "min.ui" => "min.u32",
        "min.ll" => "min.s64",
        "min.ull" => "min.u64",
        "max.i" => "max.s32",
        "max.ui" => "max.u32",
        "max.ll" => "max.s64",
        "max.ull" => "max.u64",
        "idp4a.s.s" => "dp4a.s32.s32",
        "idp4a.s.u" => "dp4a.s32.u32",
        "idp4a.u.s" => "dp4a.u32.s32",
        "idp4a.u.u" => "dp4a.u32.u32",
        "div.full" => "div.full.f32",
        "div.full.ftz" => "div.full.ftz.f32",
        "sqrt.f" => "sqrt.rn.f32",
        "ff2bf16x2.rn" => "cvt.rn.bf16x2.f32",
        "ff2bf16x2.rn.relu" => "cvt.rn.relu.bf16x2.f32",
        "ff2f16x2.rn" => "cvt.rn.f16x2.f32",
        "ff2f16x2.rn.relu" => "cvt.rn.relu.f16x2.f32",
        "f2bf16.rn" => "cvt.rn.bf16.f32",
        "f2bf16.rn.relu" => "cvt.rn.relu.bf16.f32",
        "f2f16.rn" => "cvt.rn.f16.f32",
        "bmsk.clamp" => "bmsk.clamp.b32",
        "bmsk.wrap" => "bmsk.wrap.b32",
        "szext.clamp.s" => "szext.clamp.s32",
        "szext.clamp.u" => "szext.clamp.u32",
        "szext.wrap.s" => "szext.wrap.s32",
        "szext.wrap.u" => "szext.wrap.u32",
        "bitcast.f2i" | "bitcast.i2f" => "mov.b32",
        "bitcast.d2ll" | "bitcast.ll2d" => "mov.b64",
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    let parts: Vec<&str> = name.split('.').collect();
    // `f2i.rz.ftz`: a conversion between the types of two letters.
    if let Some((from, to)) = parts[0].split_once('2') {
        let ty = |letter: &str| {
            Some(match letter {
                "f" => "f32",
                "d" => "f64",
                "i" => "s32",
                "ui" => "u32",
                "ll" => "s64",
                "ull" => "u64",
                _ => return None,
            })
        };
        let (to, from) = (ty(to)?, ty(from)?);
        let rounding = *parts.get(1)?;
        let ftz = if parts.get(2) == Some(&"ftz") { ".ftz" } else { "" };
        let whole = if to.starts_with('f') { "" } else { "i" };
        return Some(format!("cvt.{rounding}{whole}{ftz}.{to}.{from}"));
    }
    let (ty, modifiers) = (type_of_suffix(parts.last()?)?, &parts[1..parts.len() - 1]);
    let (opcode, modifiers): (&str, Vec<&str>) = match parts[0] {
        "fmin" => ("min", modifiers.to_vec()),
        "fmax" => ("max", modifiers.to_vec()),
        "fabs" => ("abs", modifiers.to_vec()),
        "ceil" | "floor" | "trunc" => {
            let (_, rounding) = ROUNDED.iter().find(|(llvm, _)| *llvm == parts[0])?;
            return Some(format!("cvt.{rounding}.{ty}.{ty}"));
        }
        "saturate" => return Some(format!("cvt.sat.{ty}.{ty}")),
        opcode @ ("add" | "sub" | "mul" | "fma" | "div" | "rcp" | "sqrt" | "neg") => {
            (opcode, modifiers.to_vec())
        }
        _ => return None,
    };
    let modifiers = modifiers.into_iter().map(|part| if part == "nan" { "NaN" } else { part });
    let all: Vec<&str> = std::iter::once(opcode).chain(modifiers).chain([ty]).collect();
    Some(all.join("."))
}

/// An intrinsic that PTX approximates, without its modifier `.ftz`: `ex2.approx.f32`, and its type.
fn approximation(name: &str) -> Option<(String, &'static str)> {
    let parts: Vec<&str> = name.split('.').filter(|part| *part != "ftz").collect();
    let [opcode @ ("ex2" | "lg2" | "sin" | "cos" | "tanh" | "rsqrt"), "approx", suffix] = parts[..]
    else {
        return None;
    };
    let ty = type_of_suffix(suffix)?;
    Some((format!("{opcode}.approx.{ty}"), ty))
}

impl<'a> Translator<'a, '_> {
    /// The operands of an instruction of PTX, each in one register.
    fn whole_operands(&mut self, arguments: &[Typed<'a>]) -> LoweringResult<Vec<CellValue>> {
        let mut operands = Vec::new();
        for (ty, value) in arguments {
            let cells = self.cells(ty, value)?;
            let Some(scalars) = ty.parts(&self.module.types) else {
                return self.no("an operand of this type is not supported");
            };
            let parts: Vec<ScalarPart> = scalars.into_iter().zip(cells).collect();
            operands.push(match &parts[..] {
                [(_, cell)] if *cell != CellValue::Undefined => cell.clone(),
                _ => self.packed(&parts)?,
            });
        }
        Ok(operands)
    }

    /// An instruction of PTX with one result.
    fn instruction(
        &mut self,
        instruction: &str,
        sources: &[CellValue],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let made = self.made_by(instruction, &operands(sources));
        self.unpacked(&made, result)
    }

    /// An intrinsic of NVVM.
    pub(super) fn of_ptx(
        &mut self,
        callee: &str,
        name: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        if name.starts_with("cp.async") {
            return self.no(format!(
                "`@{}`: asynchronous copies are not modelled",
                text::cursor::short(callee)
            ));
        }
        if let Some(name) = name.strip_prefix("shfl.sync.") {
            return self.shuffle(callee, name, arguments, result);
        }
        if let Some(name) = name.strip_prefix("redux.sync.") {
            return self.redux(callee, name, arguments, result);
        }
        if self.lanes(name, arguments, result)? {
            return Ok(());
        }
        if let Some((function, ty)) = approximation(name) {
            let pair = ty.ends_with("x2") || ty == "bf16";
            let ty = match (pair, ty) {
                (true, "bf16") => "b16",
                (true, _) => "b32",
                (false, ty) => ty,
            };
            let operands = self.whole_operands(arguments)?;
            return self.instruction(&format!("opaque.{ty}.{function}"), &operands, result);
        }
        let Some(instruction) = instruction_of(name) else { return self.no_call(callee) };
        let operands = self.whole_operands(arguments)?;
        self.instruction(&instruction, &operands, result)
    }

    /// `shfl.sync.bfly.i32(mask, value, lane, clamp)`, with `p` also whether the lane is in range.
    fn shuffle(
        &mut self,
        callee: &str,
        name: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let Some((mode @ ("idx" | "up" | "down" | "bfly"), "i32" | "f32" | "i32p" | "f32p")) =
            name.split_once('.')
        else {
            return self.no_call(callee);
        };
        let operands = self.whole_operands(arguments)?;
        let ([_, value, lane, clamp], [first, rest @ ..]) = (&operands[..], result) else {
            return self.no_call(callee);
        };
        self.note(OTHER_LANES.to_owned());
        let operands = [value.clone(), lane.clone(), clamp.clone()];
        self.instruction(
            &format!("opaque.b32.shfl.{mode}.b32"),
            &operands,
            std::slice::from_ref(first),
        )?;
        rest.iter()
            .try_for_each(|(scalar, inside)| self.mov(*scalar, inside, &CellValue::Number(1)))
    }

    /// `redux.sync.add(value, mask)`.
    fn redux(
        &mut self,
        callee: &str,
        name: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let function = match name {
            "add" => "add.s32",
            "min" => "min.s32",
            "max" => "max.s32",
            "umin" => "min.u32",
            "umax" => "max.u32",
            "and" | "or" | "xor" => &format!("{name}.b32"),
            _ => return self.no_call(callee),
        };
        let operands = self.whole_operands(arguments)?;
        let Some((value, _)) = operands.split_first() else { return self.no_call(callee) };
        self.note(OTHER_LANES.to_owned());
        let value = std::slice::from_ref(value);
        self.instruction(&format!("opaque.b32.redux.{function}"), value, result)
    }

    /// Questions about the lanes of the warp, of which the thread is the only one. Returns whether it is one.
    fn lanes(
        &mut self,
        name: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<bool> {
        match (name, result, arguments) {
            ("activemask", [(scalar, to)], []) | ("vote.uni.sync", [(scalar, to)], [_, _]) => {
                self.mov(*scalar, to, &CellValue::Number(1))?;
            }
            ("vote.all.sync" | "vote.any.sync", [(scalar, to)], [_, predicate]) => {
                let own = self.cell(predicate)?;
                self.mov(*scalar, to, &own)?;
            }
            ("vote.ballot.sync", [(scalar, to)], [_, predicate]) => {
                let own = self.cell(predicate)?;
                let own = self.number_of(&own);
                self.mov(*scalar, to, &own)?;
            }
            ("elect.sync", [(scalar, lane), (bit, elected)], [_]) => {
                self.mov(*scalar, lane, &CellValue::Number(0))?;
                self.mov(*bit, elected, &CellValue::Number(1))?;
            }
            _ => return Ok(false),
        }
        self.note(LONE_LANE.to_owned());
        Ok(true)
    }

    /// An intrinsic of LLVM: of vectors each element by itself.
    pub(super) fn of_llvm(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let mut columns = Vec::new();
        for (ty, value) in arguments {
            columns.push((ty.parts(&self.module.types), self.defined(ty, value)?));
        }
        let name = callee.strip_prefix("llvm.").unwrap_or(callee);
        if let (Some(name), [(scalar, to)]) = (name.strip_prefix("vector.reduce."), result) {
            let cells: Vec<CellValue> = columns.into_iter().flat_map(|(_, cells)| cells).collect();
            let name = name.split('.').next().unwrap_or("");
            return self.reduced(callee, name, *scalar, &cells, to);
        }
        if let ("sadd" | "uadd" | "ssub" | "usub" | "smul" | "umul", true) =
            (name.split('.').next().unwrap_or(""), name.contains(".with.overflow."))
        {
            return self.overflow(callee, name, &columns, result);
        }
        for (lane, (scalar, to)) in result.iter().enumerate() {
            let mut cells = Vec::new();
            let mut of = *scalar;
            for (index, (scalars, column)) in columns.iter().enumerate() {
                let at = if column.len() == 1 { 0 } else { lane };
                let Some(cell) = column.get(at) else { return self.no_call(callee) };
                cells.push(cell);
                if let (0, Some(scalars)) = (index, scalars) {
                    of = scalars.get(at).copied().unwrap_or(of);
                }
            }
            let name = name.split('.').next().unwrap_or("");
            self.function(callee, name, of, *scalar, &cells, to)?;
        }
        if result.is_empty() { self.no_call(callee) } else { Ok(()) }
    }

    /// An intrinsic of LLVM on scalars: of operands of the type `of`, with a result of the type `scalar`.
    fn function(
        &mut self,
        callee: &str,
        name: &str,
        of: ScalarType,
        scalar: ScalarType,
        cells: &[&CellValue],
        to: &CellValue,
    ) -> LoweringResult<()> {
        if let Some(ty) = float_name(of) {
            return self.float_function(callee, name, of, ty, cells, to);
        }
        let bits = of.bits();
        let wide = if bits <= 32 { 32 } else { 64 };
        if bits > 64 {
            return self.no(format!("`@{}` of {of} is not supported", text::cursor::short(callee)));
        }
        if let ("ctlz" | "cttz", [a, CellValue::Number(1)]) = (name, cells) {
            let zero = self.temporary();
            self.compare("eq", scalar, &zero, a, &CellValue::Number(0))?;
            self.undefined_if(&zero);
        }
        match (name, cells) {
            ("umax" | "umin" | "smax" | "smin", [a, b]) => self.chosen(name, scalar, to, a, b),
            ("abs", [a, rest @ ..]) => {
                if self.checked && rest == [&CellValue::Number(1)] {
                    let least = self.temporary();
                    self.compare("eq", scalar, &least, a, &(1_u64 << (bits - 1)).into())?;
                    self.undefined_if(&least);
                }
                let (negative, negated) = (self.temporary(), self.temporary());
                self.compare("slt", scalar, &negative, a, &CellValue::Number(0))?;
                self.binary("sub", scalar, &negated, &CellValue::Number(0), a)?;
                self.select(scalar, to, &negated, a, &negative)
            }
            ("expect" | "ssa", [a, ..]) => self.mov(scalar, to, a),
            ("ctpop", [a]) => {
                let count = self.made_by(format!("popc.b{wide}"), &[a]);
                self.resized(&count, wide, to);
                Ok(())
            }
            ("ctlz", [a, ..]) => {
                let count = self.made_by(format!("clz.b{wide}"), &[a]);
                let count = self.made_by("sub.u32", &[&count, &(wide - bits)]);
                self.resized(&count, wide, to);
                Ok(())
            }
            ("cttz", [a, ..]) => {
                // The number of bits for 0: a bit above all others is found.
                let mut value = (*a).clone();
                if bits < wide {
                    value = self.made_by(format!("or.b{wide}"), &[a, &(1_u64 << bits)]);
                }
                let value = self.made_by(format!("brev.b{wide}"), &[&value]);
                let count = self.made_by(format!("clz.b{wide}"), &[&value]);
                self.resized(&count, wide, to);
                Ok(())
            }
            ("bitreverse", [a]) => {
                let reversed = self.made_by(format!("brev.b{wide}"), &[a]);
                self.row(format!("shr.u{wide}"), &[to, &reversed, &(wide - bits)]);
                Ok(())
            }
            ("bswap", [a]) => self.swapped(bits, a, to),
            ("fshl" | "fshr", [high, low, amount]) => {
                self.funnel(name == "fshr", of, high, low, amount, to)
            }
            _ => self.no_call(callee),
        }
    }

    /// A count of bits, which has 32 bits, in a register of `wide` bits.
    fn resized(&mut self, count: &CellValue, wide: u32, to: &CellValue) {
        if wide == 32 {
            self.row("mov.b32", &[to, count]);
        } else {
            self.row("cvt.u64.u32", &[to, count]);
        }
    }

    /// The greater or lesser of two integers.
    fn chosen(
        &mut self,
        name: &str,
        scalar: ScalarType,
        to: &CellValue,
        a: &CellValue,
        b: &CellValue,
    ) -> LoweringResult<()> {
        let relation = match name {
            "umax" => "ugt",
            "umin" => "ult",
            "smax" => "sgt",
            _ => "slt",
        };
        let first = self.temporary();
        self.compare(relation, scalar, &first, a, b)?;
        self.select(scalar, to, a, b, &first)
    }

    /// The bytes in the opposite order.
    fn swapped(&mut self, bits: u32, a: &CellValue, to: &CellValue) -> LoweringResult<()> {
        match bits {
            16 => {
                self.row("prmt.b32", &[to, a, &0, &0x4401]);
            }
            32 => {
                self.row("prmt.b32", &[to, a, &0, &0x0123]);
            }
            64 => {
                let low = self.made_by("cvt.u32.u64", &[a]);
                let high = self.made_by("shr.u64", &[a, &32]);
                let high = self.made_by("cvt.u32.u64", &[&high]);
                let first = self.made_by("prmt.b32", &[&low, &0, &0x0123]);
                let second = self.made_by("prmt.b32", &[&high, &0, &0x0123]);
                let int = ScalarType::Int(32);
                let both = self.packed(&[(int, second), (int, first)])?;
                self.row("mov.b64", &[to, &both]);
            }
            _ => return self.no(format!("`bswap` of {bits} bits is not supported")),
        }
        Ok(())
    }

    /// The bits of two values side by side, shifted by an amount modulo the width.
    fn funnel(
        &mut self,
        right: bool,
        scalar: ScalarType,
        high: &CellValue,
        low: &CellValue,
        amount: &CellValue,
        to: &CellValue,
    ) -> LoweringResult<()> {
        let bits = scalar.bits();
        if !bits.is_power_of_two() || bits == 1 {
            return self.no(format!("a funnel shift of {scalar} is not supported"));
        }
        let wide = bits.max(32);
        let amount = self.made_by(format!("and.b{wide}"), &[amount, &(bits - 1)]);
        let rest = self.made_by(format!("sub.u{wide}"), &[&bits, &amount]);
        let (up, down) = if right { (&rest, &amount) } else { (&amount, &rest) };
        // A shift by the width gives 0.
        let upper = self.made_by(format!("shl.b{wide}"), &[high, up]);
        let lower = self.made_by(format!("shr.u{wide}"), &[low, down]);
        self.row(format!("or.b{wide}"), &[to, &upper, &lower]);
        self.mask(scalar, to);
        Ok(())
    }

    /// An intrinsic on floats of the type `ty`.
    fn float_function(
        &mut self,
        callee: &str,
        name: &str,
        scalar: ScalarType,
        ty: &'static str,
        cells: &[&CellValue],
        to: &CellValue,
    ) -> LoweringResult<()> {
        let instruction = match (name, cells) {
            ("fma" | "fmuladd", [_, _, _]) => format!("fma.rn.{ty}"),
            ("minnum" | "minimumnum", [_, _]) => format!("min.{ty}"),
            ("maxnum" | "maximumnum", [_, _]) => format!("max.{ty}"),
            ("minimum", [_, _]) => format!("min.NaN.{ty}"),
            ("maximum", [_, _]) => format!("max.NaN.{ty}"),
            ("sqrt", [_]) if matches!(ty, "f32" | "f64") => format!("sqrt.rn.{ty}"),
            ("fabs", [from]) => return self.float_sign("abs", scalar, to, from),
            ("copysign", [value, sign]) => {
                let bit = 1_u64 << (scalar.bits() - 1);
                let wide = scalar.bits().max(32);
                let value = self.made_by(format!("and.b{wide}"), &[value, &(bit - 1)]);
                let sign = self.made_by(format!("and.b{wide}"), &[sign, &bit]);
                self.row(format!("or.b{wide}"), &[to, &value, &sign]);
                return Ok(());
            }
            (_, [_]) if ty == "f32" && APPROXIMATED.iter().any(|(llvm, _)| *llvm == name) => {
                let found = APPROXIMATED.iter().find(|(llvm, _)| *llvm == name);
                let ptx = found.map_or("", |(_, ptx)| ptx);
                format!("opaque.f32.{ptx}.approx.f32")
            }
            (_, [_])
                if ROUNDED.iter().any(|(llvm, _)| *llvm == name)
                    && scalar != ScalarType::BFloat =>
            {
                let found = ROUNDED.iter().find(|(llvm, _)| *llvm == name);
                let rounding = found.map_or("", |(_, rounding)| rounding);
                format!("cvt.{rounding}.{ty}.{ty}")
            }
            _ => return self.no_call(callee),
        };
        self.row(instruction, &operands([to].into_iter().chain(cells.iter().copied())));
        Ok(())
    }

    /// `vector.reduce.add`: all elements, and before them the initial value of a float.
    fn reduced(
        &mut self,
        callee: &str,
        name: &str,
        scalar: ScalarType,
        cells: &[CellValue],
        to: &CellValue,
    ) -> LoweringResult<()> {
        let Some((first, rest)) = cells.split_first() else { return self.no_call(callee) };
        let mut sum = first.clone();
        for next in rest {
            let all = self.temporary();
            match name {
                "add" | "mul" | "and" | "or" | "xor" => {
                    self.binary(name, scalar, &all, &sum, next)?;
                }
                "fadd" | "fmul" => self.float_binary(name, scalar, &all, &sum, next)?,
                "smax" | "smin" | "umax" | "umin" => {
                    self.chosen(name, scalar, &all, &sum, next)?;
                }
                "fmax" | "fmin" | "fmaximum" | "fminimum" => {
                    let function = match name {
                        "fmax" => "maxnum",
                        "fmin" => "minnum",
                        "fmaximum" => "maximum",
                        _ => "minimum",
                    };
                    let ty = self.float_type(scalar)?;
                    self.float_function(callee, function, scalar, ty, &[&sum, next], &all)?;
                }
                _ => return self.no_call(callee),
            }
            sum = all;
        }
        self.mov(scalar, to, &sum)
    }

    /// `uadd.with.overflow`: a result, and whether it is wrong.
    fn overflow(
        &mut self,
        callee: &str,
        name: &str,
        columns: &[(Option<Vec<ScalarType>>, Vec<CellValue>)],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let ([(_, a), (_, b)], [(scalar, to), (_, wrong)]) = (columns, result) else {
            return self.no_call(callee);
        };
        let ([a], [b]) = (&a[..], &b[..]) else { return self.no_call(callee) };
        match name.split('.').next().unwrap_or("") {
            "uadd" => {
                self.binary("add", *scalar, to, a, b)?;
                self.compare("ult", *scalar, wrong, to, a)
            }
            "usub" => {
                self.binary("sub", *scalar, to, a, b)?;
                self.compare("ult", *scalar, wrong, a, b)
            }
            _ => self.no_call(callee),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_are_instructions_of_ptx() {
        let of = |name: &str| instruction_of(name).unwrap_or_default();
        assert_eq!(of("fma.rn.ftz.f"), "fma.rn.ftz.f32");
        assert_eq!(of("fmax.ftz.nan.f16x2"), "max.ftz.NaN.f16x2");
        assert_eq!(of("rcp.approx.ftz.d"), "rcp.approx.ftz.f64");
        assert_eq!(of("fabs.f32"), "abs.f32");
        assert_eq!(of("f2i.rz.ftz"), "cvt.rzi.ftz.s32.f32");
        assert_eq!(of("ll2f.rn"), "cvt.rn.f32.s64");
        assert_eq!(of("d2f.rn"), "cvt.rn.f32.f64");
        assert_eq!(of("floor.f"), "cvt.rmi.f32.f32");
        assert_eq!(of("div.full"), "div.full.f32");
        assert_eq!(of("ex2.approx.f"), "");
        assert_eq!(approximation("ex2.approx.ftz.f"), Some(("ex2.approx.f32".to_owned(), "f32")));
        assert_eq!(approximation("ex2.exact.f"), None);
    }
}
