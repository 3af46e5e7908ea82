//! Decodes instruction words of `LDG` to the text that `nvdisasm` prints.
//!
//! The layouts were found by changing single bits of words that `ptxas` produced
//! (`docs/sass.md` lists the fields). Bits without a field print nothing: scheduling, and bits that were
//! never observed in use.

use std::fmt::Write;

use ptx::version::Target;

use super::encode;

/// Why a word has no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// Not one or two hexadecimal numbers of 64 bits.
    NotHexadecimal,
    /// This many 64-bit words, where the target's instructions have another number.
    Length(usize),
    /// An opcode other than those of `LDG`.
    OtherOpcode,
    /// Bits that no valid word has.
    Illegal,
    /// A target whose encoding is not supported.
    Target,
}

impl DecodeError {
    pub fn reason(self) -> &'static str {
        match self {
            DecodeError::NotHexadecimal => "not one or two hexadecimal words of 64 bits",
            DecodeError::Length(1) => "one word, where the target has two for an instruction",
            DecodeError::Length(_) => "two words, where the target has one for an instruction",
            DecodeError::OtherOpcode => "not the opcode of LDG",
            DecodeError::Illegal => "no valid instruction of the target",
            DecodeError::Target => "the encodings of this target are not known",
        }
    }
}

/// Reads `0xeed4…`, or two words, the lower one first.
fn words(line: &str) -> Result<Vec<u64>, DecodeError> {
    let word = |text: &str| {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let fits =
            (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if fits {
            u64::from_str_radix(digits, 16).map_err(|_| DecodeError::NotHexadecimal)
        } else {
            Err(DecodeError::NotHexadecimal)
        }
    };
    let words: Vec<u64> = line.split_whitespace().map(word).collect::<Result<_, _>>()?;
    if matches!(words.len(), 1 | 2) { Ok(words) } else { Err(DecodeError::NotHexadecimal) }
}

/// The text of one `LDG`, given as its words in hexadecimal.
pub fn line(line: &str, target: Target) -> Result<String, DecodeError> {
    let words = words(line)?;
    let short = match target.sm {
        50 | 52 | 53 | 60..=62 => true,
        70 | 72 | 75 | 80 | 86..=90 | 100..=121 => false,
        _ => return Err(DecodeError::Target),
    };
    match (&words[..], short) {
        (&[word], true) => maxwell(Bits(word.into())),
        (&[low, high], false) => {
            let bits = Bits(u128::from(low) | u128::from(high) << 64);
            let text =
                if target.sm < 80 { volta(bits, target.sm) } else { ampere(bits, target.sm) };
            text.and_then(|text| is_scheduled(bits).then_some(text).ok_or(DecodeError::Illegal))
        }
        (words, _) => Err(DecodeError::Length(words.len())),
    }
}

#[derive(Clone, Copy)]
struct Bits(u128);

impl Bits {
    /// The field of `width` bits from bit `low` on.
    fn at(self, low: u32, width: u32) -> usize {
        usize::try_from(self.0 >> low & ((1 << width) - 1)).expect("fields are narrow")
    }

    fn is_set(self, bit: u32) -> bool {
        self.at(bit, 1) == 1
    }

    /// The same as a number in two's complement.
    fn signed(self, low: u32, width: u32) -> i64 {
        let value = i64::try_from(self.at(low, width)).expect("fields are narrow");
        if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
    }
}

const SIZES: [&str; 8] = ["U8", "S8", "U16", "S16", "", "64", "128", "U.128"];
const EVICT: [&str; 8] = ["EF", "", "EL", "LU", "EU", "NA", "INVALID6", "INVALID7"];

/// `@!P0 `; nothing for `@PT`.
fn guard(field: usize) -> String {
    match field {
        7 => String::new(),
        _ => format!("@{} ", predicate(field)),
    }
}

/// Three bits of number and one of negation.
fn predicate(field: usize) -> String {
    let not = if field >> 3 == 1 { "!" } else { "" };
    match field & 7 {
        7 => format!("{not}PT"),
        number => format!("{not}P{number}"),
    }
}

fn register(field: usize) -> String {
    if field == 255 { "RZ".to_owned() } else { format!("R{field}") }
}

/// `+0x10`, `+-0x10`; nothing for 0.
fn offset(bytes: i64) -> String {
    match bytes {
        0 => String::new(),
        1.. => format!("+0x{bytes:x}"),
        _ => format!("+-0x{:x}", bytes.unsigned_abs()),
    }
}

/// `[R4+0x10]`; without a register, an absolute address, which has no sign.
fn address(bits: Bits, register_at: u32, offset_at: u32) -> String {
    match bits.at(register_at, 8) {
        255 => match bits.at(offset_at, 24) {
            0 => "[RZ]".to_owned(),
            absolute => format!("[0x{absolute:x}]"),
        },
        number => format!("[R{number}{}]", offset(bits.signed(offset_at, 24))),
    }
}

/// `LDG.E.64`, of the parts that are not empty.
fn name(parts: &[&str]) -> String {
    let mut name = "LDG".to_owned();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        write!(name, ".{part}").expect("writing to a string succeeds");
    }
    name
}

/// The sparse status, where the stored value 7 means none.
fn sparse(bits: Bits) -> String {
    match bits.at(81, 3) {
        7 => String::new(),
        number => format!("P{number}, "),
    }
}

/// The source predicate, `, P6`: its number is stored inverted, and 0 means none.
fn source(field: usize) -> String {
    if field == 0 { String::new() } else { format!(", {}", predicate(field ^ 7)) }
}

/// `sm_50` to `sm_62`: words of 64 bits.
fn maxwell(bits: Bits) -> Result<String, DecodeError> {
    let word = u64::try_from(bits.0).expect("one word has 64 bits");
    encode::load(word).map(|ldg| encode::text(&ldg)).ok_or(DecodeError::OtherOpcode)
}

/// The address of a load, and whether it is extended.
struct DecodedAddress {
    /// `E`, or nothing; `???0` where the registers of the address make a pair all the same.
    extended: &'static str,
    place: String,
}

impl DecodedAddress {
    /// Of the form without a uniform register: bit 72 alone says whether a register is a pair.
    fn general(bits: Bits) -> DecodedAddress {
        let extended = if bits.is_set(72) { "E" } else { "" };
        DecodedAddress { extended, place: address(bits, 24, 40) }
    }

    /// `[R2.64+UR4+0x10]`: bit 90 is the width of the index, 64 or 32 bits. Up to `sm_89`, no index is left out.
    fn sum(bits: Bits, sm: u16) -> DecodedAddress {
        let (wide, index) = (bits.is_set(90), bits.at(24, 8));
        let width = if wide { "64" } else { "U32" };
        let index = match index {
            255 if sm < 90 => None,
            // A pair of registers cannot begin with `RZ`.
            255 if wide => Some("???255".to_owned()),
            field => Some(register(field)),
        };
        let extended = extended(bits, wide && index.is_some());
        let index = index.map_or(String::new(), |name| format!("{name}.{width}+"));
        let (uniform, bytes) = (uniform_register(bits, sm), offset(bits.signed(40, 24)));
        DecodedAddress { extended, place: format!("[{index}{uniform}{bytes}]") }
    }

    /// `desc[UR4][R2.64+0x10]`: the register is a pair. Up to `sm_89`, bit 101 says whether the descriptor is printed.
    fn described(bits: Bits, sm: u16) -> Result<DecodedAddress, DecodeError> {
        if !bits.is_set(90) {
            return Err(DecodeError::Illegal);
        }
        let (base, bytes) = (register(bits.at(24, 8)), offset(bits.signed(40, 24)));
        let descriptor = if sm >= 90 || bits.is_set(101) {
            format!("desc[{}]", uniform_register(bits, sm))
        } else {
            String::new()
        };
        let place = format!("{descriptor}[{base}.64{bytes}]");
        Ok(DecodedAddress { extended: extended(bits, true), place })
    }

    /// Of the form with 256 bits: bit 75 is the width of the index, and only a sum may have none.
    fn of_256(bits: Bits, sm: u16) -> Result<DecodedAddress, DecodeError> {
        let (uniform, bytes) = (uniform_register(bits, sm), offset(bits.signed(40, 17) * 32));
        let place = match (bits.at(24, 8), bits.is_set(76), bits.is_set(75)) {
            (255, true, _) | (_, true, false) => return Err(DecodeError::Illegal),
            (255, false, _) => format!("[{uniform}{bytes}]"),
            (number, true, true) => format!("desc[{uniform}][R{number}.64{bytes}]"),
            (number, false, true) => format!("[R{number}.64+{uniform}{bytes}]"),
            (number, false, false) => format!("[R{number}.U32+{uniform}{bytes}]"),
        };
        Ok(DecodedAddress { extended: "E", place })
    }
}

/// `.E`, which an address with a pair of registers needs.
fn extended(bits: Bits, pair: bool) -> &'static str {
    match (bits.is_set(72), pair) {
        (true, _) => "E",
        (false, true) => "???0",
        (false, false) => "",
    }
}

fn uniform_register(bits: Bits, sm: u16) -> String {
    let (width, none) = if sm >= 100 { (8, 255) } else { (6, 63) };
    match bits.at(32, width) {
        field if field == none => "URZ".to_owned(),
        field => format!("UR{field}"),
    }
}

/// Whether the scheduling bits have a meaning: 105 to 109 are the cycles to wait and how, 110 to 115 the two scoreboards
/// that are set (7: not any), 122 to 124 what is reused.
fn is_scheduled(bits: Bits) -> bool {
    let (cycles, set, reuse) = (bits.at(105, 5), bits.at(110, 6), bits.at(122, 3));
    match cycles {
        // It waits until all is done, which something has to tell.
        0 => set != 0x3f && reuse == 0,
        16 | 28.. => false,
        _ => reuse < 6,
    }
}

/// `sm_70`, `sm_72` and `sm_75`.
fn volta(bits: Bits, sm: u16) -> Result<String, DecodeError> {
    let turing = sm >= 75;
    let uniform = match bits.at(0, 12) {
        0x381 => false,
        0x981 if turing => true,
        _ => return Err(DecodeError::OtherOpcode),
    };
    if turing && bits.is_set(91) != uniform {
        return Err(DecodeError::Illegal);
    }
    let DecodedAddress { extended, place } =
        if uniform { DecodedAddress::sum(bits, sm) } else { DecodedAddress::general(bits) };
    let prefetch = if turing { ["", "LTC64B", "LTC128B", "INVALID3"][bits.at(68, 2)] } else { "" };
    let order = ["CONSTANT", "", "STRONG", "MMIO"][bits.at(79, 2)];
    let scope = ["CTA", "SM", "GPU", "SYS"][bits.at(77, 2)];
    let private = if bits.is_set(76) { "PRIVATE" } else { "" };
    let zero = bits.is_set(87);
    let zero_name = if zero { "ZD" } else { "" };
    let (size, evict) = (SIZES[bits.at(73, 3)], EVICT[bits.at(84, 3)]);
    let name = name(&[extended, evict, prefetch, size, order, scope, private, zero_name]);
    let status = if zero && bits.at(81, 3) == 7 { "PT, ".to_owned() } else { sparse(bits) };
    let (guard, to) = (guard(bits.at(12, 4)), register(bits.at(16, 8)));
    let source = if turing { source(bits.at(64, 4)) } else { String::new() };
    Ok(format!("{guard}{name} {status}{to}, {place}{source}"))
}

/// What bits 77 to 80 say from `sm_80` on.
const ORDERS: [&str; 16] = [
    "",
    "CONSTANT.PRIVATE",
    "CONSTANT.CTA",
    "CONSTANT.CTA.PRIVATE",
    "CONSTANT",
    "STRONG.SM",
    "STRONG.GPU.PRIVATE",
    "STRONG.GPU",
    "MMIO.GPU",
    "CONSTANT.SM",
    "STRONG.SYS",
    "CONSTANT.SM.PRIVATE",
    "MMIO.SYS",
    "CONSTANT.VC",
    "CONSTANT.VC.PRIVATE",
    "CONSTANT.GPU",
];
/// The same beside `.RML2`, which is of `.STRONG.GPU` only.
const ORDERS_OF_RML2: [&str; 16] = [
    "???1.???0",
    "???0.???0.PRIVATE",
    "???0.???1",
    "???0.???1.PRIVATE",
    "STRONG.???2.PRIVATE",
    "STRONG.???2",
    "STRONG.GPU.PRIVATE",
    "STRONG.GPU",
    "???3.GPU",
    "???0.???2",
    "STRONG.???5",
    "???0.???2.PRIVATE",
    "???3.???5",
    "???0.???3",
    "???0.???3.PRIVATE",
    "???0.GPU",
];

const PREFETCH: [&str; 4] = ["", "LTC64B", "LTC128B", "LTC256B"];

/// `sm_80` on.
fn ampere(bits: Bits, sm: u16) -> Result<String, DecodeError> {
    let guard = guard(bits.at(12, 4));
    let to = register(bits.at(16, 8));
    let evict = EVICT[bits.at(84, 3)];
    let order = ORDERS[bits.at(77, 4)];
    let described = bits.is_set(76);
    let DecodedAddress { extended, place } = match bits.at(0, 12) {
        0x381 if bits.is_set(91) => return Err(DecodeError::Illegal),
        0x381 => DecodedAddress::general(bits),
        0x981 if !bits.is_set(91) => return Err(DecodeError::Illegal),
        0x981 if described => DecodedAddress::described(bits, sm)?,
        0x981 => DecodedAddress::sum(bits, sm),
        0x97e if sm < 100 => return Err(DecodeError::OtherOpcode),
        0x97e if !bits.is_set(91) => return Err(DecodeError::Illegal),
        // 256 bits to two groups of registers; the size field holds the prefetch size here.
        0x97e => {
            let (level2, order) = match bits.at(81, 2) {
                3 if sm >= 120 => ("RML2", ORDERS_OF_RML2[bits.at(77, 4)]),
                level2 => (["EFL2", "ENL2", "ELL2", "INVALID3"][level2], order),
            };
            let prefetch = PREFETCH[bits.at(73, 2)];
            let DecodedAddress { extended, place } = DecodedAddress::of_256(bits, sm)?;
            let name = name(&[extended, evict, level2, prefetch, "256", order]);
            let more = register(bits.at(64, 8));
            let lanes = match bits.at(57, 7) | bits.at(72, 1) << 7 {
                0xff => String::new(),
                mask => format!(", 0x{mask:x}"),
            };
            return Ok(format!(
                "{guard}{name} {more}, {to}, {place}{lanes}{}",
                source(bits.at(87, 4))
            ));
        }
        _ => return Err(DecodeError::OtherOpcode),
    };
    let size = if bits.at(73, 3) == 7 { "INVALID7" } else { SIZES[bits.at(73, 3)] };
    let name = name(&[extended, evict, PREFETCH[bits.at(68, 2)], size, order]);
    Ok(format!("{guard}{name} {}{to}, {place}{}", sparse(bits), source(bits.at(64, 4))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(sm: u16, words: &str) -> Result<String, DecodeError> {
        line(words, Target { sm, variant: None })
    }

    #[test]
    fn fields_are_where_they_are() {
        for (sm, words, text) in [
            (50, "0xeed4200001070202", "LDG.E R2, [R2+0x10]"),
            (50, "0xeed420010007ff00", "LDG.E R0, [0x1000]"),
            (60, "0xeed36ffffc0f0404", "@!PT LDG.E.CG.S16 R4, [R4+-0x40]"),
            (50, "0xeed4370001070402", "LDG.E P0, R2, [R4+0x10]"),
            (50, "0xeed4300001070402", "LDG.E R2, [R4+0x10]"),
            (70, "0x0000000004047381 0x000ea800001e6d00", "LDG.E.128.CONSTANT.SYS R4, [R4]"),
            (75, "0x0000000002027381 0x000ea400004f4920", "LDG.E.EU.LTC128B.STRONG.GPU R2, [R2]"),
            (75, "0x00004004ff007981 0x000ea2000c1f6900", "LDG.E.STRONG.SYS R0, [UR4+0x40]"),
            (80, "0x0000000404047981 0x000ea4000c1ebb00", "LDG.E.64.STRONG.SM R4, [R4.64]"),
            (90, "0xfffffc0404057981 0x000e28000c1e1900", "LDG.E R5, desc[UR4][R4.64+-0x4]"),
            (
                90,
                "0x0000000404057981 0x000ea2000c1e9901",
                "LDG.E.CONSTANT R5, desc[UR4][R4.64], P6",
            ),
            (
                100,
                "0xfe0000040404797e 0x001ea8000854f908",
                "LDG.E.NA.ELL2.256.STRONG.GPU R8, R4, desc[UR4][R4.64]",
            ),
            (
                100,
                "0xee0001040404797e 0x001ea20008135f08",
                "LDG.E.ENL2.LTC256B.256.STRONG.SYS R8, R4, desc[UR4][R4.64+0x20], 0xf7",
            ),
        ] {
            assert_eq!(decoded(sm, words).as_deref(), Ok(text), "sm_{sm} {words}");
        }
    }

    #[test]
    fn what_is_no_load_has_a_reason() {
        assert_eq!(decoded(50, "0xee55e00004070204"), Err(DecodeError::OtherOpcode));
        assert_eq!(decoded(90, "0x0000000404057981 0x000e2200045ef910"), Err(DecodeError::Illegal));
        assert_eq!(decoded(90, "0x0000000404057981"), Err(DecodeError::Length(1)));
        assert_eq!(decoded(90, "LDG"), Err(DecodeError::NotHexadecimal));
        assert_eq!(decoded(90, ""), Err(DecodeError::NotHexadecimal));
        assert_eq!(decoded(30, "0x0"), Err(DecodeError::Target));
    }
}
