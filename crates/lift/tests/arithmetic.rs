//! What instructions of PTX compute, operation by operation.

use std::collections::BTreeMap;

use lift::builder::FunctionBuilder;
use lift::function::EntryValue;
use lift::written::{AsOperand, WrittenArg, WrittenInstruction};
use model::isa::{Instruction, Operand, Reg};
use model::value::{Value, low_bits};
use ptx::qualifier::Dialect;

/// A number, a register, or two: `p|q`.
fn operand(text: &str) -> WrittenArg {
    match (text::lex::number(text), text.split_once('|')) {
        (Ok(number), _) => WrittenArg::Number(u64::try_from(number).expect("64 bits")),
        (Err(_), Some((first, second))) => WrittenArg::Joined(first.to_owned(), second.to_owned()),
        (Err(_), None) => text.operand(),
    }
}

/// The value of register `r` after these instructions, which are read in a function.
fn run(cells: &str) -> Value {
    let mut builder = FunctionBuilder::new(Dialect::Ptx);
    for register in ["a", "b", "c", "p"] {
        builder.entry(register, EntryValue::Value(0));
    }
    for cell in cells.split(';') {
        let (name, operands) = cell.trim().split_once(' ').expect("it has operands");
        let operands = operands.split(", ").map(operand).collect();
        let name = name.to_owned();
        builder.push(&WrittenInstruction { name, operands, ..WrittenInstruction::default() }, 1);
    }
    let lifted = builder.finish(Vec::new()).unwrap_or_else(|why| panic!("{cells}: {why:?}"));
    let (rows, registers) = (lifted.rows, lifted.registers);
    let mut values: BTreeMap<u16, Value> = BTreeMap::new();
    for step in rows.iter().flat_map(|row| &row.lines) {
        let Instruction::Alu(alu) = &step.line.instruction else {
            panic!("{cells}: {:?}", step.line.instruction)
        };
        let sources: Vec<Value> = alu
            .sources
            .iter()
            .map(|source| match source {
                Operand::Reg(Reg(register)) => values.get(register).copied().unwrap_or(0),
                Operand::Imm(value) => Value::from(*value),
                Operand::Address(_) => panic!("{cells}: an address"),
            })
            .collect();
        values.insert(alu.destination.0, alu.op.apply(alu.ty, &sources));
    }
    let (index, (_, bits)) =
        registers.iter().enumerate().find(|(_, (name, _))| name == "r").expect("it has an `r`");
    let value = values[&u16::try_from(index).expect("few registers")];
    value & low_bits(*bits)
}

/// The numbers as the operands `a`, `b` and `c`, then the instruction.
fn of(instruction: &str, operands: &[u64]) -> Value {
    let names = ["a", "b", "c"].iter().zip(operands);
    let mut cells: Vec<String> =
        names.map(|(name, value)| format!("mov.b64 {name}, {value}")).collect();
    cells.push(instruction.to_owned());
    run(&cells.join("; "))
}

fn single(instruction: &str, operands: &[f32]) -> f32 {
    let bits: Vec<u64> = operands.iter().map(|operand| operand.to_bits().into()).collect();
    f32::from_bits(u32::try_from(of(instruction, &bits)).expect("32 bits"))
}

fn double(instruction: &str, operands: &[f64]) -> f64 {
    let bits: Vec<u64> = operands.iter().map(|operand| operand.to_bits()).collect();
    f64::from_bits(u64::try_from(of(instruction, &bits)).expect("64 bits"))
}

#[test]
#[expect(clippy::float_cmp, reason = "results are exact")]
fn floats_are_computed() {
    let all = [
        ("add.rn.ftz.f32 r, a, b", 5.0),
        ("sub.f32 r, a, b", -1.0),
        ("mul.ftz.f32 r, a, b", 6.0),
        ("fma.rn.f32 r, a, b, c", 10.0),
        ("mad.rn.f32 r, a, b, c", 10.0),
        ("neg.f32 r, a", -2.0),
        ("abs.ftz.f32 r, c", 4.0),
        ("min.f32 r, a, b", 2.0),
        ("max.f32 r, a, b, c", 4.0),
        ("div.full.f32 r, c, a", 2.0),
        ("div.rn.f32 r, c, a", 2.0),
        ("rcp.approx.ftz.f32 r, a", 0.5),
        ("sqrt.approx.ftz.f32 r, c", 2.0),
        ("add.sat.f32 r, a, b", 1.0),
        ("fma.rn.relu.f32 r, a, 0xc0400000, c", 0.0),
        ("cvt.rmi.f32.f32 r, 0x40200000", 2.0),
        ("cvt.sat.f32.f32 r, a", 1.0),
        ("set.lt.ftz.f32.f32 r, a, b", 1.0),
        ("min.ftz.xorsign.abs.f32 r, a, 0xc0400000", -2.0),
    ];
    for (instruction, expected) in all {
        assert_eq!(single(instruction, &[2.0, 3.0, 4.0]), expected, "{instruction}");
    }
    assert_eq!(single("copysign.f32 r, a, b", &[-0.0, 7.0]), -7.0);
    assert_eq!(double("fma.rn.f64 r, a, b, c", &[2.0, 3.0, 4.0]), 10.0);
    assert_eq!(double("rcp.rn.f64 r, a", &[4.0]), 0.25);
    assert!(single("max.NaN.f32 r, a, b", &[1.0, f32::NAN]).is_nan());
    assert_eq!(single("max.f32 r, a, b", &[1.0, f32::NAN]), 1.0);
}

#[test]
fn halves_and_pairs_are_computed() {
    let all: [(&str, &[u64], Value); 16] = [
        ("fma.rn.f16 r, a, b, c", &[0x4000, 0x4200, 0x3c00], 0x4700),
        ("fma.rn.bf16 r, a, b, c", &[0x4000, 0x4040, 0x3f80], 0x40e0),
        ("add.bf16 r, a, b", &[0x3f80, 0x3f80], 0x4000),
        ("neg.bf16 r, a", &[0x3f80], 0xbf80),
        ("mul.f16x2 r, a, b", &[0x4200_4000, 0x4000_4000], 0x4600_4400),
        ("fma.rn.f16x2 r, a, b, c", &[0x4200_4000, 0x4000_4000, 0x3c00_0000], 0x4700_4400),
        ("max.bf16x2 r, a, b", &[0x3f80_4000, 0x4000_3f80], 0x4000_4000),
        ("neg.f16x2 r, a", &[0x0000_3c00], 0x8000_bc00),
        ("cvt.rn.f16x2.f32 r, a, b", &[0x3f80_0000, 0x4000_0000], 0x3c00_4000),
        ("cvt.rn.relu.bf16x2.f32 r, a, b", &[0xbf80_0000, 0x4000_0000], 0x0000_4000),
        ("cvt.f32.bf16 r, a", &[0x3f80], 0x3f80_0000),
        ("cvt.rn.bf16.f32 r, a", &[0x3f81_8000], 0x3f82),
        ("cvt.rzi.s32.bf16 r, a", &[0xc020], Value::from((-2_i32).cast_unsigned())),
        ("cvt.rn.bf16.s16 r, a", &[3], 0x4040),
        ("cvt.rn.f16.bf16 r, a", &[0x4000], 0x4000),
        ("cvt.rni.f16.f16 r, a", &[0x3e00], 0x4000),
    ];
    for (instruction, operands, expected) in all {
        assert_eq!(of(instruction, operands), expected, "{instruction}");
    }
}

#[test]
fn comparisons_know_what_is_not_a_number() {
    let compared = |name: &str, a: f32, b: f32| {
        let operands = [a, b].map(|operand| u64::from(operand.to_bits()));
        of(&format!("setp.{name}.f32 r, a, b"), &operands) == 1
    };
    for (a, b) in [(1.0, 2.0), (2.0, 1.0), (2.0, 2.0), (0.0, -0.0)] {
        assert_eq!(compared("lt.ftz", a, b), a < b);
        assert_eq!(compared("geu", a, b), a >= b);
        assert_eq!(compared("eq", a, b), a.partial_cmp(&b) == Some(std::cmp::Ordering::Equal));
        assert!(compared("num", a, b) && !compared("nan", a, b));
    }
    for name in ["eq", "ne", "lt", "le", "gt", "ge", "num"] {
        assert!(!compared(name, f32::NAN, 1.0), "{name}");
    }
    for name in ["equ", "neu", "ltu", "leu", "gtu", "geu", "nan"] {
        assert!(compared(name, f32::NAN, 1.0), "{name}");
    }
    let halves = [0x3c00_4000, 0x4000_3c00];
    assert_eq!(of("setp.lt.f16x2 p|r, a, b", &halves), 1);
    assert_eq!(of("setp.lt.f16x2 r|p, a, b", &halves), 0);
    assert_eq!(of("set.gt.u32.f32 r, a, b", &[0x4000_0000, 0x3f80_0000]), 0xffff_ffff);
    assert_eq!(of("set.eq.u32.s32 r, a, b", &[5, 6]), 0);
    assert_eq!(of("slct.b32.s32 r, a, b, c", &[5, 6, 0xffff_ffff]), 6);
    assert_eq!(of("slct.b32.f32 r, a, b, c", &[5, 6, 0x8000_0000]), 5);
}

#[test]
fn floats_are_classified() {
    let classes = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
    let cases: [(f32, [u8; 6]); 6] = [
        (1.5, [1, 0, 1, 0, 1, 0]),
        (0.0, [1, 0, 1, 0, 1, 0]),
        (-1e-40, [1, 0, 1, 0, 0, 1]),
        (f32::INFINITY, [0, 1, 1, 0, 0, 0]),
        (f32::NAN, [0, 0, 0, 1, 0, 0]),
        (f32::MIN_POSITIVE, [1, 0, 1, 0, 1, 0]),
    ];
    for (number, expected) in cases {
        let found =
            classes.map(|class| of(&format!("testp.{class}.f32 r, a"), &[number.to_bits().into()]));
        assert_eq!(found, expected.map(Value::from), "{number}");
    }
}

#[test]
fn integers_are_computed_in_several_operations() {
    let minus = |n: i64| u64::from(u32::try_from(n.cast_unsigned() & 0xffff_ffff).expect("low"));
    let all: [(&str, &[u64], u64); 21] = [
        ("div.s32 r, a, b", &[minus(-7), 2], minus(-3)),
        ("rem.s32 r, a, b", &[minus(-7), 2], minus(-1)),
        ("div.u32 r, a, b", &[7, 0], 0xffff_ffff),
        ("mul24.lo.s32 r, a, b", &[0xff_ffff, 3], minus(-3)),
        ("mul24.hi.u32 r, a, b", &[0xff_ffff, 0xff_ffff], 0xffff_fe00),
        ("mad24.lo.u32 r, a, b, c", &[0xff00_0003, 4, 5], 17),
        ("dp4a.s32.u32 r, a, b, c", &[0x0000_02ff, 0x0000_0304, 10], 12),
        ("dp2a.hi.u32.u32 r, a, b, c", &[0x0002_0003, 0x0504_0302, 1], 23),
        ("szext.wrap.s32 r, a, b", &[0x1f, 5], 0xffff_ffff),
        ("szext.clamp.u32 r, a, b", &[0xff, 4], 0xf),
        ("bmsk.clamp.b32 r, a, b", &[4, 8], 0xff0),
        ("bmsk.wrap.b32 r, a, b", &[36, 33], 0x10),
        ("add.sat.s32 r, a, b", &[0x7fff_ffff, 1], 0x7fff_ffff),
        ("sub.sat.s32 r, a, b", &[0x8000_0000, 1], 0x8000_0000),
        ("cvt.sat.u8.s32 r, a", &[minus(-5)], 0),
        ("cvt.sat.s8.u32 r, a", &[300], 127),
        ("cvt.sat.u32.s64 r, a", &[1 << 40], 0xffff_ffff),
        ("cvt.sat.u64.s32 r, a", &[minus(-1)], 0),
        ("max.relu.s32 r, a, b", &[minus(-1), minus(-2)], 0),
        ("add.u16x2 r, a, b", &[0xffff_0001, 0x0001_0002], 3),
        ("min.relu.s16x2 r, a, b", &[0xffff_0005, 0x0001_0002], 2),
    ];
    for (instruction, operands, expected) in all {
        assert_eq!(of(instruction, operands), expected.into(), "{instruction}");
    }
}

#[test]
fn carries_go_from_one_sum_to_the_next() {
    let sum = |low: u64, high: u64| {
        let cells = "mov.b64 c, a; add.cc.u32 p, a, b; addc.u32 r, 1, 2";
        assert_eq!(of(cells, &[low, high]), 3 + Value::from((low + high) >> 32 & 1));
    };
    sum(0xffff_ffff, 1);
    sum(0xffff_fffe, 1);
    assert_eq!(of("sub.cc.u64 p, a, b; subc.u64 r, 5, 0", &[0, 1]), 4);
    assert_eq!(of("sub.cc.u64 p, a, b; subc.cc.u64 r, 0, 0; subc.u64 r, 9, 0", &[0, 1]), 8);
    assert_eq!(of("mad.lo.cc.u32 p, a, b, 0xffffffff; madc.hi.u32 r, a, b, 0", &[3, 4]), 1);
}

#[test]
fn an_uninterpreted_function_depends_on_its_name() {
    let one = of("opaque.f32.ex2.approx.f32 r, a", &[5]);
    assert_eq!(one, of("opaque.f32.ex2.approx.f32 r, a", &[5]));
    assert_ne!(one, of("opaque.f32.lg2.approx.f32 r, a", &[5]));
    assert_ne!(one, of("opaque.f32.ex2.approx.f32 r, a", &[6]));
}
