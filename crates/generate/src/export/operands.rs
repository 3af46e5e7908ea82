//! The text of an instruction in parts, and what its operands must be for ptxas.

use model::isa::Line;
use model::program::{InitialValue, Thread};

/// Whether an instruction is `ret` or `exit`.
pub(super) fn leaves(text: &str) -> bool {
    matches!(parts(text).1.trim_end_matches(".uni"), "ret" | "exit")
}

/// The guard, the opcode and the operands.
pub(super) fn parts(text: &str) -> (&str, &str, &str) {
    let text = text.trim();
    let (guard, text) = match text.split_once(char::is_whitespace) {
        Some((guard, rest)) if guard.starts_with('@') => (guard, rest.trim_start()),
        _ => ("", text),
    };
    let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (guard, opcode, operands)
}

/// The words of operands that may be names, with the byte where each begins.
pub fn words(operands: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    let mut at = 0;
    operands.split(move |c: char| !is_part(c)).filter_map(move |word| {
        let begin = at;
        at += word.len() + 1;
        (!word.is_empty()).then_some((begin, word))
    })
}

/// An instruction with other words in the place of some of its operands: what is given for the opcode, the operands before a
/// word, and the word.
pub fn replaced(text: &str, mut word: impl FnMut(&str, &str, &str) -> Option<String>) -> String {
    let text = text.trim();
    let (guard, opcode, operands) = parts(text);
    // `%p` and `p` name the same register.
    let mut out = guard.replace('%', "") + &text[guard.len()..text.len() - operands.len()];
    let mut done = 0;
    for (begin, old) in words(operands) {
        if let Some(new) = word(opcode, &operands[..begin], old) {
            out += &operands[done..begin];
            out += &new;
            done = begin + old.len();
        }
    }
    out + &operands[done..]
}

/// The bits of the type that an opcode ends with: `.f16x2` has 32.
fn bits_of_type(opcode: &str) -> Option<u16> {
    let ty = opcode.rsplit('.').next()?;
    let ty = ty.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let (bits, count) = ty.split_once('x').unwrap_or((ty, "1"));
    Some(bits.parse::<u16>().ok()? * count.parse::<u16>().ok()?)
}

/// The bits of a register in PTX: of what writes it, or, if nothing does, of what an instruction takes that reads it.
pub fn width(thread: &Thread, register: usize) -> u16 {
    let of = &thread.registers[register];
    let writes =
        |line: &Line| line.instruction.destinations().any(|to| usize::from(to.0) == register);
    let address = matches!(of.initial, InitialValue::Address { .. });
    if address || thread.lines.iter().any(writes) {
        return of.bits;
    }
    thread.lines.iter().find_map(|line| read_width(&line.text, &of.name)).unwrap_or(of.bits)
}

/// The bits of a register that an instruction reads.
fn read_width(text: &str, register: &str) -> Option<u16> {
    let (guard, opcode, operands) = parts(text);
    if guard.trim_start_matches(['@', '!']) == register {
        return Some(1);
    }
    let (begin, _) = words(operands).find(|(_, word)| *word == register)?;
    let (before, after) = (&operands[..begin], &operands[begin + register.len()..]);
    if before.rfind('[') > before.rfind(']') {
        return None;
    }
    let is_last = !after.contains(',');
    let begins = |words: &[&str]| words.iter().any(|word| opcode.starts_with(word));
    if begins(&["bar.", "barrier."]) && opcode.contains(".red") && is_last {
        return Some(1);
    }
    let masked = opcode.contains("multicast") || opcode.contains("cp_mask");
    if begins(&["cp."]) && masked && is_last {
        return Some(16);
    }
    let shifts = begins(&["shl", "shr", "bfe", "bfi"]) && before.matches(',').count() > 1;
    if shifts || begins(&["bar.", "barrier.", "cp.", "mbarrier.", "mapa", "st.bulk"]) {
        return Some(32);
    }
    let whole = bits_of_type(opcode)?;
    // `mov.b64 r, {a, b}` packs.
    let packs = opcode.starts_with("mov") && before.contains('{');
    let elements = if packs { operands.split_once('{')?.1.split(',').count() } else { 1 };
    Some(whole / u16::try_from(elements).ok()?)
}

/// A register whose width is another one than the instruction takes, which ptxas refuses. Only instructions whose operands are
/// all of one width are looked at.
pub(super) fn misfit<'t>(thread: &Thread, opcode: &str, operands: &'t str) -> Option<&'t str> {
    const EQUAL: [&str; 11] =
        ["add.", "sub.", "xor.", "and.", "or.", "not.", "mov.", "min.", "max.", "mul.lo.", "atom."];
    let compares = opcode.starts_with("setp.");
    if !compares && !EQUAL.iter().any(|word| opcode.starts_with(word)) || operands.contains('{') {
        return None;
    }
    let expected = bits_of_type(opcode)?.max(16);
    let bits = |word: &str| {
        let index = thread.registers.iter().position(|of| of.name == word)?;
        Some(width(thread, index))
    };
    let first = operands.split([',', '|']).next().unwrap_or_default().trim();
    let mut read = words(operands).filter(|(begin, word)| {
        let before = &operands[..*begin];
        !(before.rfind('[') > before.rfind(']') || compares && *word == first)
    });
    read.find(|(_, word)| bits(word).is_some_and(|bits| bits != 1 && bits.max(16) != expected))
        .map(|(_, word)| word)
}

/// A number that is the bits of a float, as PTX has it, where the instruction takes a float.
pub(super) fn float(opcode: &str, before: &str, word: &str) -> Option<String> {
    // Only its condition is a float.
    if opcode.starts_with("slct") {
        return None;
    }
    let bits = match opcode.rsplit('.').next()? {
        "f32" => 32,
        "f64" => 64,
        _ => return None,
    };
    let digits = word.strip_prefix("0x");
    let value = digits.map_or_else(|| word.parse(), |hex| u64::from_str_radix(hex, 16)).ok()?;
    if before.trim_end().ends_with('-') {
        return None;
    }
    Some(if bits == 32 { format!("0f{value:08X}") } else { format!("0d{value:016X}") })
}
