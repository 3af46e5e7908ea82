//! The rules of `LDG` of SPA 5.0.
//!
//! The offset has 24 bits, or 20 with `Ps`. It is signed with a register, and unsigned without
//! one. The rule that a pair of registers begins with an even number, and four with a multiple of
//! four, is not documented: `ptxas` produces no others.

use super::ldg::{Cache, Ldg, Size};
use super::syntax::{
    AddressTerm, Atom, Indexed, Instruction, Operand, OperandKind, Register, RegisterFile, Value,
};
use text::cursor::short;
use text::diagnostic::Severity;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

/// The position of a modifier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Extended,
    Cache,
    Uniform,
    Size,
}

const MODIFIERS: &[(&str, Rank)] = &[
    ("E", Rank::Extended),
    ("CA", Rank::Cache),
    ("CG", Rank::Cache),
    ("CS", Rank::Cache),
    ("LU", Rank::Cache),
    ("CV", Rank::Cache),
    ("CI", Rank::Cache),
    ("U", Rank::Uniform),
    ("U8", Rank::Size),
    ("S8", Rank::Size),
    ("U16", Rank::Size),
    ("S16", Rank::Size),
    ("32", Rank::Size),
    ("64", Rank::Size),
    ("128", Rank::Size),
];

/// Reads an `LDG` of SPA 5.0; `None` if it breaks a rule. All that it breaks is reported.
pub(crate) fn read(
    instruction: &Instruction<'_>,
    registers: Option<u8>,
    report: &mut Diagnostics,
) -> Option<Ldg> {
    let before = report.count();
    let mut rules = Spa5Checker { instruction, report };
    let guard = rules.guard();
    let (extended, cache, size) = rules.modifiers();
    let (status, rest) = rules.status();
    let (destination, base, offset) = rules.operands(rest, extended, size, status.is_some());
    let broken = rules.report.count() > before;
    let ldg = Ldg { guard, extended, cache, size, status, destination, base, offset };
    if let Some(limit) = registers {
        rules.beyond(rest, ldg, limit);
    }
    (!broken).then_some(ldg)
}

struct Spa5Checker<'r, 'a> {
    instruction: &'r Instruction<'a>,
    report: &'r mut Diagnostics,
}

impl<'r, 'a> Spa5Checker<'r, 'a> {
    fn guard(&mut self) -> (u8, bool) {
        let Some(guard) = self.instruction.guard else { return (7, false) };
        if guard.predicate.file != RegisterFile::Predicate || guard.predicate.number > Some(6) {
            let shown = guard.predicate;
            self.report
                .error("ldg-guard", guard.at, format!("the guard is P0 to P6, or PT, not {shown}"))
                .help("@!P0");
        }
        (number(guard.predicate, 7), guard.negated)
    }

    fn modifiers(&mut self) -> (bool, Cache, Size) {
        let (mut extended, mut cache, mut size) = (false, Cache::All, Size::B32);
        let mut seen: Vec<(Rank, usize)> = Vec::new();
        let all = &self.instruction.modifiers;
        for (index, word) in all.iter().enumerate() {
            let Some(&(_, rank)) = MODIFIERS.iter().find(|(name, _)| *name == word.text) else {
                self.unknown(index);
                continue;
            };
            if let Some((_, first)) = seen.iter().find(|(known, _)| *known == rank) {
                let what = match rank {
                    Rank::Extended | Rank::Uniform => "modifier",
                    Rank::Cache => "cache operator",
                    Rank::Size => "size",
                };
                let first_at = all[*first].at;
                self.report
                    .error("ldg-twice", word.at, format!("an `LDG` has one {what}"))
                    .note("the second")
                    .label(first_at, "the first")
                    .help(without(self.instruction, index));
                continue;
            }
            seen.push((rank, index));
            match rank {
                Rank::Extended => extended = true,
                Rank::Cache => cache = Cache::named(word.text).unwrap_or(Cache::All),
                Rank::Uniform => {}
                Rank::Size => {
                    size = Size::ALL
                        .into_iter()
                        .find(|size| size.name() == word.text)
                        .unwrap_or(Size::B32);
                }
            }
        }
        if let Some(pair) = seen.windows(2).find(|pair| pair[0].0 > pair[1].0) {
            let mut ordered = seen.clone();
            ordered.sort_by_key(|(rank, _)| *rank);
            let names = ordered.iter().map(|(_, index)| all[*index].text);
            let names: Vec<&str> = std::iter::once("LDG").chain(names).collect();
            self.report
                .error(
                    "ldg-order",
                    all[pair[1].1].at,
                    "modifiers are `.E`, cache operator, size, in this order",
                )
                .help(names.join("."));
        }
        if let Some((_, index)) = seen.iter().find(|(rank, _)| *rank == Rank::Uniform) {
            if size == Size::B128 {
                size = Size::Uniform128;
            } else {
                let at = all[*index].at;
                let mut names = vec!["LDG"];
                names.extend(all[..*index].iter().map(|word| word.text));
                names.extend(["U", "128"]);
                self.report
                    .error("ldg-uniform", at, "`.U` is a part of `.U.128`, and of no other size")
                    .help(names.join("."));
            }
        }
        (extended, cache, size)
    }

    fn unknown(&mut self, index: usize) {
        let word = self.instruction.modifiers[index];
        let near = self.report.nearest(word.text, MODIFIERS.iter().map(|(name, _)| *name));
        let help = known(self.instruction, near.map(|near| (index, near)));
        let message = format!("`LDG` of SPA 5.0 has no modifier `.{}`", short(word.text));
        self.report.error("ldg-modifier", word.at, message).help(help);
    }

    /// `Ps`, and the operands after it.
    fn status(&mut self) -> (Option<u8>, &'r [Operand<'a>]) {
        let all = &self.instruction.operands;
        let Some((first, rest)) = all.split_first() else { return (None, all) };
        match first.register() {
            Some(register) if register.file.is_of_predicates() => {
                if !is_plain(first)
                    || register.file != RegisterFile::Predicate
                    || register.number > Some(6)
                {
                    self.report
                        .error("ldg-status", first.at, "the status is P0 to P6, or PT")
                        .note("written by the load, without a sign")
                        .help("LDG.E P0, R2, [R4]");
                }
                (Some(number(register, 7)), rest)
            }
            _ => (None, all),
        }
    }

    fn operands(
        &mut self,
        operands: &'r [Operand<'a>],
        extended: bool,
        size: Size,
        sparse: bool,
    ) -> (u8, u8, u32) {
        let [to, from] = operands else {
            let at = match (operands.first(), operands.last()) {
                (Some(first), Some(last)) => first.at.to(last.at),
                _ => self.instruction.opcode.at,
            };
            let message = "an `LDG` has a register and an address, and perhaps a predicate first";
            self.report
                .error("ldg-operands", at, message)
                .note(format!("{} here", operands.len()))
                .help(format!("{} R2, [R4]", known(self.instruction, None)));
            return (255, 255, 0);
        };
        let destination = self.destination(to, size);
        let Some(indexed) = from.indexed().filter(|indexed| indexed.is_memory()) else {
            self.address_form(from.at, "expected an address in brackets");
            return (destination, 255, 0);
        };
        let (base, offset) = self.address(indexed, from.at, extended, sparse);
        (destination, base, offset)
    }

    fn destination(&mut self, to: &Operand<'_>, size: Size) -> u8 {
        let register = to.register().filter(|register| register.file == RegisterFile::General);
        let Some(register) = register.filter(|_| is_plain(to)) else {
            self.report
                .error("ldg-destination", to.at, "the destination of a load is a register")
                .note("expected R0 to R254, or RZ")
                .help(format!("{} R2, [R4]", known(self.instruction, None)));
            return 255;
        };
        let number = self.general(register, to.at);
        let count = size.registers();
        if number != 255
            && (!number.is_multiple_of(count) || u16::from(number) + u16::from(count) > 255)
        {
            let first = (number - number % count).min(255 / count * count - count);
            let bits = 8 * u16::from(size.bytes());
            self.report
                .error(
                    "ldg-aligned",
                    to.at,
                    format!("{bits} bits go to {count} registers, the first a multiple of {count}"),
                )
                .note(format!("R{number} here"))
                .help(format!("R{first}"));
        }
        number
    }

    /// The number of a register, 255 for `RZ`.
    fn general(&mut self, register: Register, at: ByteSpan) -> u8 {
        if register.number > Some(254) {
            self.report
                .error(
                    "ldg-register",
                    at,
                    format!("the registers are R0 to R254; there is no {register}"),
                )
                .help("RZ is the register that is always zero");
        }
        number(register, 255)
    }

    fn address_form(&mut self, at: ByteSpan, note: &str) {
        self.report
            .error("ldg-address", at, "an address is [Ra + offset], [Ra - offset] or [address]")
            .note(note)
            .help(format!("{} R2, [R4+0x10]", known(self.instruction, None)));
    }

    fn address(
        &mut self,
        indexed: &Indexed<'_>,
        at: ByteSpan,
        extended: bool,
        sparse: bool,
    ) -> (u8, u32) {
        let [terms] = &indexed.brackets[..] else {
            self.address_form(at, "descriptors exist only on sm_90 and later");
            return (255, 0);
        };
        let (base, offset) = match &terms[..] {
            [one] if matches!(one.value.atom, Atom::Register(_)) => (Some(one), None),
            [one] => (None, Some(one)),
            [base, offset] => (Some(base), Some(offset)),
            _ => {
                self.address_form(at, "more than a register and an offset");
                return (255, 0);
            }
        };
        let base = base.map_or(Ok(None), |base| self.base(base, extended).map(Some));
        let Ok(base) = base else { return (255, 0) };
        let absolute = base.is_none_or(|base| base == 255);
        let offset = offset.map_or(0, |offset| self.offset(offset, absolute, sparse));
        (base.unwrap_or(255), offset)
    }

    fn base(&mut self, base: &AddressTerm<'_>, extended: bool) -> Result<u8, ErrorReported> {
        let plain = |value: &Value<'_>| value.signs.is_empty() && !value.absolute;
        let register = match base.value.atom {
            Atom::Register(register) if register.file == RegisterFile::General => register,
            Atom::Register(_) | Atom::Number(_) | Atom::Indexed(_) | Atom::Name(_) => {
                self.address_form(base.at, "expected R0 to R254, or RZ");
                return Err(ErrorReported);
            }
        };
        if base.negative || !plain(&base.value) || !base.value.suffixes.is_empty() {
            let note = if base.value.suffixes.is_empty() {
                "the register has no sign"
            } else {
                "`.E` means that the address is in two registers, but nothing follows the first"
            };
            self.address_form(base.at, note);
            return Err(ErrorReported);
        }
        let number = self.general(register, base.at);
        if extended && number != 255 && (!number.is_multiple_of(2) || number == 254) {
            let message = "an extended address is in two registers, the first an even one";
            self.report
                .error("ldg-pair", base.at, message)
                .note(format!("R{number} here"))
                .help(format!("R{}", (number & !1).min(252)));
        }
        Ok(number)
    }

    fn offset(&mut self, offset: &AddressTerm<'_>, absolute: bool, sparse: bool) -> u32 {
        let value = match (&offset.value.atom, offset.value.signs) {
            (Atom::Number(number), "" | "-") if offset.value.suffixes.is_empty() => number.value,
            _ => None,
        };
        let Some(value) = value.and_then(|value| i64::try_from(value).ok()) else {
            self.address_form(offset.at, "expected a number of bytes");
            return 0;
        };
        let negative = offset.negative != (offset.value.signs == "-");
        let value = if negative { -value } else { value };
        let bits = if sparse { 20 } else { 24 };
        let (least, most) = if absolute {
            (0, (1 << bits) - 1)
        } else {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        };
        if value < least || value > most {
            let signed = if absolute { "unsigned" } else { "signed" };
            let with = if sparse { " with a status" } else { "" };
            let what = if absolute { "an absolute address" } else { "an offset" };
            let hexadecimal =
                |n: i64| format!("{}0x{:x}", if n < 0 { "-" } else { "" }, n.unsigned_abs());
            let (lowest, highest) = (hexadecimal(least), hexadecimal(most));
            let nearest = hexadecimal(value.clamp(least, most));
            self.report
                .error(
                    "ldg-offset",
                    offset.at,
                    format!("{what}{with} has {bits} bits, {signed}: {lowest} to {highest}"),
                )
                .note(format!("{} here", hexadecimal(value)))
                .help(format!("the nearest is {nearest}; add the rest to the register"));
            return 0;
        }
        let field = value.rem_euclid(1 << bits);
        u32::try_from(field).unwrap_or(0)
    }

    /// A register that the shader does not have is as `RZ`, and the offset has no sign then.
    fn beyond(&mut self, operands: &[Operand<'_>], ldg: Ldg, limit: u8) {
        if let [_, from] = operands
            && ldg.is_beyond(limit)
        {
            let (base, offset) = (ldg.base, ldg.offset);
            let message = format!("the shader has {limit} registers, which do not include R{base}");
            self.report
                .error("ldg-beyond", from.at, message)
                .severity(Severity::Warning)
                .note(format!("the address is the offset alone, without a sign: 0x{offset:x}"))
                .help(match offset {
                    0 => "write [RZ] instead".to_owned(),
                    _ => format!("write [RZ+0x{offset:x}] instead"),
                });
        }
    }
}

/// The number of a register, or the value that encodes none.
fn number(register: Register, none: u8) -> u8 {
    register.number.and_then(|number| u8::try_from(number).ok()).unwrap_or(none)
}

/// A register without sign, bars and suffixes.
fn is_plain(operand: &Operand<'_>) -> bool {
    match &operand.kind {
        OperandKind::Value(value) => {
            value.signs.is_empty() && !value.absolute && value.suffixes.is_empty()
        }
        OperandKind::Label(_) | OperandKind::List(_) | OperandKind::Opaque(_) => false,
    }
}

/// The name without one of its modifiers.
fn without(instruction: &Instruction<'_>, index: usize) -> String {
    let kept = instruction.modifiers.iter().enumerate().filter(|(at, _)| *at != index);
    let names = kept.map(|(_, word)| word.text);
    std::iter::once(instruction.opcode.text).chain(names).collect::<Vec<_>>().join(".")
}

/// The name without modifiers that are not known, one of them replaced.
fn known(instruction: &Instruction<'_>, replaced: Option<(usize, &str)>) -> String {
    let mut name = "LDG".to_owned();
    for (index, word) in instruction.modifiers.iter().enumerate() {
        let known = MODIFIERS.iter().any(|(known, _)| *known == word.text);
        let instead = replaced.filter(|(at, _)| *at == index).map(|(_, name)| name);
        if let Some(text) = instead.or(known.then_some(word.text)) {
            name.push('.');
            name.push_str(text);
        }
    }
    name
}
