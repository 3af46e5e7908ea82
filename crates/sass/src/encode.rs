//! `LDG` of SPA 5.0 as a word of 64 bits, and back.
//!
//! `docs/sass.md` lists the measured fields. `Ps` was not measured. It is known that it is stored inverted
//! (0 is `PT`, 7 is `P0`), and that it takes four bits of the offset. That bit 44 selects this form, and that
//! `Ps` is in the first three of those bits, is consistent with all measured words (reading R96).

use std::fmt::Write;

use super::ldg::{Cache, Ldg, Size};

const OPCODE: u64 = 0xeed0 >> 3;

/// The word. A predicate `Ps` that is `PT` makes the form with `Ps` all the same.
pub fn word(ldg: &Ldg) -> u64 {
    let Ldg { guard: (predicate, negated), extended, cache, size, .. } = *ldg;
    let low = u64::from(ldg.destination)
        | u64::from(ldg.base) << 8
        | u64::from(predicate) << 16
        | u64::from(negated) << 19
        | u64::from(ldg.offset) << 20
        | u64::from(extended) << 45
        | (cache as u64) << 46
        | (size as u64) << 48
        | OPCODE << 51;
    match ldg.status {
        None => low,
        Some(status) => low | u64::from(7 - status) << 40 | 1 << 44,
    }
}

/// The load of a word; `None` for a word with another opcode.
pub fn load(word: u64) -> Option<Ldg> {
    let at = |low: u32, width: u32| word >> low & ((1 << width) - 1);
    let small = |low, width| u8::try_from(at(low, width)).expect("the field is narrow");
    if at(51, 13) != OPCODE {
        return None;
    }
    // With a negative offset of 24 bits, bit 43 is set: what bit 44 means there nobody has seen, and
    // `nvdisasm` passes over it.
    let status = (at(44, 1) == 1 && at(43, 1) == 0).then(|| 7 - small(40, 3));
    let bits = if status.is_some() { 20 } else { 24 };
    Some(Ldg {
        guard: (small(16, 3), at(19, 1) == 1),
        extended: at(45, 1) == 1,
        cache: Cache::ALL[usize::from(small(46, 2))],
        size: Size::ALL[usize::from(small(48, 3))],
        status,
        destination: small(0, 8),
        base: small(8, 8),
        offset: u32::try_from(at(20, bits)).expect("the field is narrow"),
    })
}

/// As `nvdisasm` spells it; with a status other than `PT`, as the assembler does.
pub fn text(ldg: &Ldg) -> String {
    let mut out = String::new();
    let predicate = |number: u8| if number == 7 { "PT".to_owned() } else { format!("P{number}") };
    let register = |number: u8| if number == 255 { "RZ".to_owned() } else { format!("R{number}") };
    if ldg.guard != (7, false) {
        let (number, negated) = ldg.guard;
        push(&mut out, format_args!("@{}{} ", if negated { "!" } else { "" }, predicate(number)));
    }
    out.push_str("LDG");
    let extended = if ldg.extended { "E" } else { "" };
    for part in [extended, ldg.cache.name(), ldg.size.name()] {
        if !part.is_empty() {
            push(&mut out, format_args!(".{part}"));
        }
    }
    out.push(' ');
    if let Some(status) = ldg.status.filter(|status| *status != 7) {
        push(&mut out, format_args!("{}, ", predicate(status)));
    }
    push(&mut out, format_args!("{}, ", register(ldg.destination)));
    match (ldg.base, ldg.displacement()) {
        (255, 0) => out.push_str("[RZ]"),
        (255, absolute) => push(&mut out, format_args!("[0x{absolute:x}]")),
        (base, 0) => push(&mut out, format_args!("[R{base}]")),
        (base, bytes @ 1..) => push(&mut out, format_args!("[R{base}+0x{bytes:x}]")),
        (base, bytes) => push(&mut out, format_args!("[R{base}+-0x{:x}]", bytes.unsigned_abs())),
    }
    out
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing to a string succeeds");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_stored_inverted() {
        let plain = load(0xeed4_2000_0007_0400).expect("an LDG");
        let with = |status| word(&Ldg { status: Some(status), ..plain });
        // 0 is PT, and 7 is P0.
        assert_eq!(with(7) >> 40 & 7, 0);
        assert_eq!(with(0) >> 40 & 7, 7);
        assert_eq!(with(2) >> 40 & 7, 5);
        for status in 0..8 {
            let there = load(with(status)).expect("an LDG");
            assert_eq!(there.status, Some(status));
        }
        assert_eq!(text(&load(with(3)).expect("an LDG")), "LDG.E P3, R0, [R4]");
    }

    #[test]
    fn the_offset_beside_a_status_has_20_bits() {
        let status = Some(0);
        let plain = load(0xeed4_2000_0007_0400).expect("an LDG");
        let ldg = Ldg { status, offset: 0xf_fff0, ..plain };
        assert_eq!(ldg.displacement(), -16);
        assert_eq!(load(word(&ldg)), Some(ldg));
        assert_eq!(text(&ldg), "LDG.E P0, R0, [R4+-0x10]");
        // The same field without a status is a large positive one.
        assert_eq!(Ldg { status: None, ..ldg }.displacement(), 0xf_fff0);
    }
}
