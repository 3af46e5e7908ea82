//! Words with changed bits, as `nvdisasm` 13.5 printed them: `benches/sass-words` repeats the measurement.

use std::fmt::Write as _;

use ptx::version::Target;
use sass::{ReadOptions, decode};

/// The target of a line, and the rest of it.
fn target(line: &'static str) -> (Target, &'static str) {
    let (name, rest) = line.split_once(' ').expect("a line begins with a target");
    (Target::parse(name).expect("it is known"), rest)
}

/// The text of a word, or `?`.
fn text(word: u128, target: Target) -> String {
    let (low, high) = (word & u128::from(u64::MAX), word >> 64);
    decode::line(&format!("{low:#018x} {high:#018x}"), target).unwrap_or_else(|_| "?".to_owned())
}

/// FNV-1a with 64 bits.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// A line has a word of one form, and the sum of the texts of 339 words: this one, each one that differs in one bit, and each
/// one that differs in two of bits 72 to 92.
#[test]
fn each_changed_bit_is_read_as_nvdisasm_reads_it() {
    let mut forms = 0;
    for line in include_str!("ldg-words.txt").lines() {
        let (target, rest) = target(line);
        let fields: Vec<&str> = rest.splitn(4, ' ').collect();
        let [low, high, expected, printed] = fields[..] else { panic!("{line}") };
        let half = |text: &str| {
            u128::from_str_radix(text.trim_start_matches("0x"), 16).expect("it is hexadecimal")
        };
        let word = half(low) | half(high) << 64;
        assert_eq!(text(word, target), printed, "{line}");
        let pairs = (72..93).flat_map(|one| (one + 1..93).map(move |two| 1 << one | 1 << two));
        let changes = std::iter::once(0).chain((0..128).map(|bit| 1_u128 << bit)).chain(pairs);
        let mut all = String::new();
        for change in changes {
            writeln!(all, "{}", text(word ^ change, target)).expect("strings can be written");
        }
        assert_eq!(format!("{:016x}", sum(&all)), expected, "{line}\n{all}");
        forms += 1;
    }
    assert!(forms >= 30, "{forms} forms");
}

#[test]
fn a_uniform_register_stands_beside_an_index_of_32_or_64_bits_or_alone() {
    for (sm, words, printed) in [
        (80, "0x0000000402057981 0x00000000081e0900", "LDG.E R5, [R2.U32+UR4]"),
        (90, "0x0000000402057981 0x00000000081e0900", "LDG.E R5, [R2.U32+UR4]"),
        (80, "0x0000000402057981 0x00000000081e0800", "LDG R5, [R2.U32+UR4]"),
        (89, "0x00000004ff057981 0x000000000c1e0900", "LDG.E R5, [UR4]"),
        (80, "0x00000004ff057981 0x00000000081e0800", "LDG R5, [UR4]"),
        (90, "0x00000004ff057981 0x00000000081e0800", "LDG R5, [RZ.U32+UR4]"),
        (75, "0x0000000402057981 0x000000000c1e0900", "LDG.E.CONSTANT.CTA R5, [R2.64+UR4]"),
        (75, "0x0000000402057981 0x000000000c1e1900", "LDG.E.CONSTANT.CTA.PRIVATE R5, [R2.64+UR4]"),
        (
            120,
            "0xfe0000040404797e 0x000ea2000856f908",
            "LDG.E.NA.RML2.256.STRONG.GPU R8, R4, desc[UR4][R4.64]",
        ),
        (
            100,
            "0xfe0000040404797e 0x000ea2000854e108",
            "LDG.E.NA.ELL2.256.STRONG.GPU R8, R4, [R4.U32+UR4]",
        ),
    ] {
        let decoded = decode::line(words, Target { sm, variant: None });
        assert_eq!(decoded.as_deref(), Ok(printed), "sm_{sm} {words}");
    }
    // Cycles to wait that no instruction has.
    for high in
        ["0x000fe0000c1e1900", "0x000fe2000c1e1900", "0x000ff8000c1e1900", "0x180fe2000c1e1900"]
    {
        let decoded =
            decode::line(&format!("0x0000000402057981 {high}"), Target { sm: 80, variant: None });
        let is_good = high == "0x000fe2000c1e1900";
        assert_eq!(decoded.is_ok(), is_good, "{high}: {decoded:?}");
    }
}

/// Each modifier, each two of them, and each form of the operands of these opcodes breaks no rule of its target, and is
/// printed as it stands.
#[test]
fn the_names_of_other_memory_instructions_are_read() {
    let mut count = 0;
    for line in include_str!("names.txt").lines() {
        let (target, name) = target(line);
        let options = ReadOptions { sm: Some(target.sm), registers: None };
        let single = sass::instruction("row", name, options)
            .unwrap_or_else(|all| panic!("{line}: {}", all[0]));
        assert_eq!(single.diagnostics, [], "{line}");
        assert_eq!(single.instruction.to_string(), name);
        count += 1;
    }
    assert!(count > 600, "{count} names");
}
