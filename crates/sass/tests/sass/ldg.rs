//! `LDG` of SPA 5.0, sentence by sentence, and its word.

use sass::ldg::{Cache, Ldg, Size};
use sass::{ReadOptions, encode, instruction};
use text::diagnostic::Severity;

const OLD: ReadOptions = ReadOptions { sm: Some(50), registers: None };

fn read(text: &str) -> Ldg {
    let single = instruction("i", text, OLD).unwrap_or_else(|all| panic!("{text}: {}", all[0]));
    assert_eq!(single.diagnostics, [], "{text}");
    single.ldg.unwrap_or_else(|| panic!("{text} is not an LDG"))
}

/// The code, the column and the help of what is wrong, all of it.
fn wrong(text: &str) -> Vec<(&'static str, usize, String)> {
    let all = match instruction("i", text, OLD) {
        Ok(single) => {
            assert_eq!(single.ldg, None, "{text}");
            single.diagnostics
        }
        Err(all) => all,
    };
    assert!(!all.is_empty(), "{text} is right");
    all.into_iter().map(|one| (one.code, one.span.column, one.help.unwrap_or_default())).collect()
}

fn breaks(text: &str, code: &str, column: usize, help: &str) {
    assert_eq!(wrong(text), [(code, column, help.to_owned())], "{text}");
}

#[test]
fn the_examples_of_the_document() {
    let narrow = read("LDG.32      R3, [R1];      // load 32 bits into R3 from byte address in R1");
    assert_eq!(
        (narrow.extended, narrow.size, narrow.destination, narrow.base),
        (false, Size::B32, 3, 1)
    );
    let wide = read("LDG.E       R0, [R2];      // from 40-bit extended address in {R2, R3}");
    assert_eq!((wide.extended, wide.destination, wide.base), (true, 0, 2));
}

#[test]
fn a_guard_is_a_predicate_perhaps_negated() {
    assert_eq!(read("LDG R0, [R2]").guard, (7, false));
    assert_eq!(read("@P3 LDG R0, [R2]").guard, (3, false));
    assert_eq!(read("@!P0 LDG R0, [R2]").guard, (0, true));
    assert_eq!(read("@!PT LDG R0, [R2]").guard, (7, true));
    breaks("@UP0 LDG R0, [R2]", "ldg-guard", 1, "@!P0");
    breaks("@P7 LDG R0, [R2]", "ldg-guard", 1, "@!P0");
}

#[test]
fn all_cache_operators_and_what_they_map_to() {
    for (name, cache) in [
        ("", Cache::All),
        (".CA", Cache::All),
        (".CG", Cache::Global),
        (".CS", Cache::All),
        (".LU", Cache::Global),
        (".CV", Cache::Volatile),
        (".CI", Cache::Inconsistent),
    ] {
        assert_eq!(read(&format!("LDG.E{name} R0, [R2]")).cache, cache, "{name}");
    }
}

#[test]
fn all_sizes_and_32_without_one() {
    for (name, size, bytes) in [
        (".U8", Size::U8, 1),
        (".S8", Size::S8, 1),
        (".U16", Size::U16, 2),
        (".S16", Size::S16, 2),
        (".32", Size::B32, 4),
        ("", Size::B32, 4),
        (".64", Size::B64, 8),
        (".128", Size::B128, 16),
        (".U.128", Size::Uniform128, 16),
    ] {
        let ldg = read(&format!("LDG.E.CG{name} R4, [R2]"));
        assert_eq!((ldg.size, ldg.size.bytes()), (size, bytes), "{name}");
    }
}

#[test]
fn modifiers_are_known_in_order_and_once() {
    breaks("LDG.CG.E R0, [R2]", "ldg-order", 8, "LDG.E.CG");
    breaks("LDG.64.CV R0, [R2]", "ldg-order", 8, "LDG.CV.64");
    breaks("LDG.U8.E R0, [R2]", "ldg-order", 8, "LDG.E.U8");
    breaks("LDG.E.CA.CG R0, [R2]", "ldg-twice", 10, "LDG.E.CA");
    breaks("LDG.U8.S8 R0, [R2]", "ldg-twice", 8, "LDG.U8");
    breaks("LDG.E.E R0, [R2]", "ldg-twice", 7, "LDG.E");
    breaks("LDG.E.U R0, [R2]", "ldg-uniform", 7, "LDG.E.U.128");
    breaks("LDG.E.U.64 R0, [R2]", "ldg-uniform", 7, "LDG.E.U.128");
    breaks("LDG.E.U32 R0, [R2]", "ldg-modifier", 7, "LDG.E.32");
    breaks("LDG.E.WIDE R0, [R2]", "ldg-modifier", 7, "LDG.E");
    // Of later machines.
    assert_eq!(wrong("LDG.E.STRONG.GPU R0, [R2]").len(), 2);
}

#[test]
fn an_offset_has_24_bits_and_a_sign() {
    assert_eq!(read("LDG R0, [R2]").displacement(), 0);
    assert_eq!(read("LDG R0, [R2+0x7fffff]").displacement(), 0x7f_ffff);
    assert_eq!(read("LDG R0, [R2-0x800000]").displacement(), -0x80_0000);
    assert_eq!(read("LDG R0, [R2 + -16]").displacement(), -16);
    assert_eq!(read("LDG R0, [R2 - 16]"), read("LDG R0, [R2+-0x10]"));
    let far = |nearest: &str| format!("the nearest is {nearest}; add the rest to the register");
    breaks("LDG R0, [R2+0x800000]", "ldg-offset", 12, &far("0x7fffff"));
    breaks("LDG R0, [R2-0x800001]", "ldg-offset", 12, &far("-0x800000"));
}

#[test]
fn an_absolute_address_has_24_bits_and_no_sign() {
    for text in ["LDG R0, [0xffffff]", "LDG R0, [RZ+0xffffff]", "LDG R0, [RZ + 16777215]"] {
        let ldg = read(text);
        assert_eq!((ldg.base, ldg.displacement()), (255, 0xff_ffff), "{text}");
    }
    // A register that is left out is `RZ`, an offset that is left out 0.
    assert_eq!(read("LDG R0, [0x0]"), read("LDG R0, [RZ]"));
    let far = |nearest: &str| format!("the nearest is {nearest}; add the rest to the register");
    breaks("LDG R0, [0x1000000]", "ldg-offset", 10, &far("0xffffff"));
    breaks("LDG R0, [-0x10]", "ldg-offset", 10, &far("0x0"));
    breaks("LDG R0, [RZ-0x10]", "ldg-offset", 12, &far("0x0"));
}

#[test]
fn a_status_leaves_the_offset_20_bits() {
    let ldg = read("LDG.E.CV.U8 P0, R4, [R6+0x7ffff]");
    assert_eq!((ldg.status, ldg.displacement()), (Some(0), 0x7_ffff));
    assert_eq!(read("LDG P2, R4, [R6-0x80000]").displacement(), -0x8_0000);
    assert_eq!(read("LDG PT, R4, [0xfffff]").displacement(), 0xf_ffff);
    assert_eq!(read("LDG PT, R4, [0xfffff]").status, Some(7));
    let far = |nearest: &str| format!("the nearest is {nearest}; add the rest to the register");
    breaks("LDG P0, R4, [R6+0x80000]", "ldg-offset", 16, &far("0x7ffff"));
    breaks("LDG P0, R4, [R6-0x80001]", "ldg-offset", 16, &far("-0x80000"));
    breaks("LDG P0, R4, [0x100000]", "ldg-offset", 14, &far("0xfffff"));
    // Without one, all of these are in reach.
    assert_eq!(read("LDG R4, [R6+0x80000]").displacement(), 0x8_0000);
    breaks("LDG !P0, R4, [R6]", "ldg-status", 5, "LDG.E P0, R2, [R4]");
    breaks("LDG P7, R4, [R6]", "ldg-status", 5, "LDG.E P0, R2, [R4]");
}

#[test]
fn registers_are_there_and_begin_where_they_can() {
    breaks("LDG.64 R3, [R2]", "ldg-aligned", 8, "R2");
    breaks("LDG.128 R6, [R2]", "ldg-aligned", 9, "R4");
    breaks("LDG.U.128 R254, [R2]", "ldg-aligned", 11, "R248");
    breaks("LDG.E R0, [R3]", "ldg-pair", 12, "R2");
    breaks("LDG.E R0, [R254]", "ldg-pair", 12, "R252");
    breaks("LDG R255, [R2]", "ldg-register", 5, "RZ is the register that is always zero");
    assert_eq!(read("LDG R0, [R3]").base, 3);
    assert_eq!(read("LDG.64 RZ, [R2]").destination, 255);
    breaks("LDG UR0, [R2]", "ldg-destination", 5, "LDG R2, [R4]");
    breaks("LDG -R0, [R2]", "ldg-destination", 5, "LDG R2, [R4]");
}

#[test]
fn an_address_is_a_register_and_an_offset() {
    for (text, column) in [
        ("LDG R0, R2", 9),
        ("LDG R0, c[0x0][0x140]", 9),
        ("LDG R0, [R2+R4]", 12),
        ("LDG R0, [R2+0x10+0x10]", 9),
        ("LDG R0, [-R2]", 10),
        ("LDG.E R0, [R2.64]", 12),
        ("LDG.E R0, desc[UR4][R2]", 11),
        ("LDG R0, [UR2]", 10),
        ("LDG R0, [1.5]", 10),
    ] {
        let found = wrong(text);
        assert_eq!((found[0].0, found[0].1), ("ldg-address", column), "{text}");
    }
    breaks("LDG R0", "ldg-operands", 5, "LDG R2, [R4]");
    breaks("LDG R0, R1, [R2]", "ldg-operands", 5, "LDG R2, [R4]");
}

#[test]
fn all_that_is_wrong_is_told() {
    let codes: Vec<_> = wrong("@UP0 LDG.64.CG R3, [RZ-0x1]").into_iter().map(|one| one.0).collect();
    assert_eq!(codes, ["ldg-guard", "ldg-order", "ldg-aligned", "ldg-offset"]);
}

#[test]
fn addresses_are_sums_or_absolute_and_aligned() {
    let all = 255;
    // The sum with an offset that is extended by its sign.
    assert_eq!(read("LDG.E R0, [R2-0x10]").address(0x12_3456_7890, all), 0x12_3456_7880);
    assert_eq!(read("LDG R0, [R2-0x10]").address(0x8, all), 0xffff_fff8);
    // Without a register, the offset is extended by zeros.
    assert_eq!(read("LDG.E R0, [0xfffff0]").address(77, all), 0xff_fff0);
    // A register that the shader does not have is as none, and the field has no sign then.
    assert_eq!(read("LDG R0, [R40-0x10]").address(77, 32), 0xff_fff0);
    assert_eq!(read("LDG P0, R0, [R40-0x10]").address(77, 32), 0xf_fff0);
    // Forced to natural alignment, with no notification.
    for (size, address) in [("U8", 0x1007), ("S16", 0x1006), ("32", 0x1004), ("64", 0x1000)] {
        assert_eq!(read(&format!("LDG.{size} R4, [R2+7]")).address(0x1000, all), address);
    }
    assert_eq!(read("LDG.U.128 R4, [R2]").address(0x101f, all), 0x1010);
}

#[test]
fn a_register_beyond_the_shader_is_a_warning() {
    let options = ReadOptions { registers: Some(32), ..OLD };
    let single = instruction("i", "LDG R0, [R40-0x10]", options).expect("it can be read");
    assert!(single.ldg.is_some());
    let found: Vec<_> = single.diagnostics.iter().map(|one| (one.code, one.severity)).collect();
    assert_eq!(found, [("ldg-beyond", Severity::Warning)]);
    assert_eq!(instruction("i", "LDG R0, [R31]", options).expect("fine").diagnostics, []);
}

#[test]
fn a_word_and_its_text_are_one_instruction() {
    for (text, word) in [
        ("LDG.E R2, [R2+0x10]", 0xeed4_2000_0107_0202),
        ("LDG.E R0, [0x1000]", 0xeed4_2001_0007_ff00),
        ("@!PT LDG.E.CG.S16 R4, [R4+-0x40]", 0xeed3_6fff_fc0f_0404),
        ("LDG.E.CV.U.128 R4, [R4]", 0xeed7_e000_0007_0404),
        ("LDG.CI.U8 R4, [R4]", 0xeed0_8000_0007_0404),
    ] {
        let ldg = read(text);
        assert_eq!(encode::word(&ldg), word, "{text}");
        assert_eq!(encode::load(word), Some(ldg), "{text}");
        assert_eq!(encode::text(&ldg), text);
    }
    // What is mapped has one word.
    let word = |text| encode::word(&read(text));
    assert_eq!(word("LDG.E.CS.32 R0, [R2]"), word("LDG.E R0, [R2]"));
    assert_eq!(word("LDG.E.LU R0, [R2]"), word("LDG.E.CG R0, [R2]"));
    assert_eq!(word("LDG R0, [R2]") >> 44 & 1, 0);
    let sparse = encode::load(word("@P1 LDG.E P4, R0, [R2-0x8]")).expect("an LDG");
    assert_eq!(encode::text(&sparse), "@P1 LDG.E P4, R0, [R2+-0x8]");
}
