//! Describes the fields of an instruction: guard, modifiers, operands and annotations.

use ::sass::ldg::Ldg;
use ::sass::opcode::{Class, class, is_understood};
use ::sass::syntax::{
    AddressTerm, AnnotationKind, Atom, Guard, Indexed, Instruction, Operand, OperandKind,
    RegisterFile, Value,
};
use machine::form::Family;

/// A field as written, and its meaning.
pub struct OperandMeaning {
    pub name: String,
    pub text: String,
    /// Whether it affects only performance.
    pub hint: bool,
}

/// All fields but the opcode, in order.
pub fn parts(
    instruction: &Instruction<'_>,
    family: Option<Family>,
    ldg: Option<&Ldg>,
    limit: Option<u8>,
) -> Vec<OperandMeaning> {
    let mut all = Vec::new();
    if let Some(guard) = instruction.guard {
        all.push(OperandMeaning { name: guard.to_string(), text: guarded(guard), hint: false });
    }
    let understood = is_understood(instruction.opcode.text);
    for word in &instruction.modifiers {
        let (text, hint) = if understood {
            modifier(instruction, word.text, family)
        } else {
            ("not explained".to_owned(), false)
        };
        all.push(OperandMeaning { name: format!(".{}", word.text), text, hint });
    }
    let count = registers(instruction);
    let mut destination = writes_first(instruction);
    // A 256-bit access has two groups of registers with their lanes; the upper group is first.
    let halves = instruction.halves();
    let mut groups = halves.into_iter().flatten().zip(["16 to 31", "0 to 15"]);
    for (index, operand) in instruction.operands.iter().enumerate().filter(|_| understood) {
        if computes(instruction) && operand.register().is_some() {
            let text = match instruction.result_count() {
                None => "not known",
                Some(results) if index < results => "receives a result",
                Some(_) => "is read",
            };
            all.push(OperandMeaning {
                name: operand.to_string(),
                text: text.to_owned(),
                hint: false,
            });
            continue;
        }
        let predicate = operand.register().is_some_and(|r| r.file.is_of_predicates());
        let text = if predicate && destination && reads_memory(instruction) {
            status(instruction, family)
        } else if halves.is_some() && operand.number().is_some() {
            mask(halves.into_iter().flatten().fold(0, |all, lanes| all | lanes))
        } else if halves.is_some()
            && operand.register().is_some()
            && let Some((lanes, bytes)) = groups.next()
        {
            group(operand, lanes, bytes)
        } else if destination && operand.register().is_some() {
            destination = false;
            format!("receives the result: {}", fills(operand, count))
        } else {
            let at = match (operand.indexed(), ldg, limit) {
                (Some(_), Some(ldg), Some(limit)) if ldg.is_beyond(limit) => Some(beyond(ldg)),
                _ => None,
            };
            at.unwrap_or_else(|| self::operand(instruction, operand, count, ldg))
        };
        all.push(OperandMeaning { name: operand.to_string(), text, hint: false });
    }
    for annotation in &instruction.annotations {
        let text = match annotation.kind {
            AnnotationKind::Require(mask) => {
                let set = (0..6).filter(|bit| mask >> bit & 1 == 1);
                let set: Vec<String> = set.map(|bit| bit.to_string()).collect();
                match &set[..] {
                    [] => "waits for no scoreboard".to_owned(),
                    [one] => format!("is not issued before scoreboard {one} is clear"),
                    _ => format!("is not issued before scoreboards {} are clear", set.join(", ")),
                }
            }
            AnnotationKind::Read(one) => {
                format!("scoreboard {one} is clear when its registers have been read")
            }
            AnnotationKind::Write(one) => {
                format!("scoreboard {one} is clear when its result is available")
            }
            AnnotationKind::Schedule => "how it is issued relative to its neighbours".to_owned(),
        };
        let hint = annotation.kind == AnnotationKind::Schedule;
        all.push(OperandMeaning { name: annotation.to_string(), text, hint });
    }
    all
}

fn guarded(guard: Guard) -> String {
    let Guard { negated, predicate, .. } = guard;
    match (predicate.number, negated) {
        (None, false) => "in all threads".to_owned(),
        (None, true) => "in no thread".to_owned(),
        (Some(_), false) => format!("only in threads where {predicate} is true"),
        (Some(_), true) => format!("only in threads where {predicate} is false"),
    }
}

fn reads_memory(instruction: &Instruction<'_>) -> bool {
    matches!(class(instruction.opcode.text), Some(Class::Load | Class::Atomic))
}

/// Whether only the positions of its operands determine their roles.
fn computes(instruction: &Instruction<'_>) -> bool {
    matches!(class(instruction.opcode.text), Some(Class::Arithmetic | Class::Special))
}

fn writes_first(instruction: &Instruction<'_>) -> bool {
    matches!(class(instruction.opcode.text), Some(Class::Load | Class::Atomic))
}

fn status(instruction: &Instruction<'_>, family: Option<Family>) -> String {
    if class(instruction.opcode.text) == Some(Class::Atomic) {
        return "receives whether the operation was done".to_owned();
    }
    let stored =
        if family == Some(Family::Maxwell) { "; stored inverted, 0 being PT and 7 P0" } else { "" };
    format!("receives whether the page is marked as sparse: nothing valid is there then{stored}")
}

/// The number of registers that hold the loaded or stored value.
fn registers(instruction: &Instruction<'_>) -> u16 {
    let has = |names: &[&str]| names.iter().any(|name| instruction.has(name));
    if has(&["256", "128"]) {
        4
    } else if has(&["64", "U64", "F64", "S64"]) {
        2
    } else {
        1
    }
}

/// The registers, such as `R4` or `R4 and R5`.
fn fills(operand: &Operand<'_>, count: u16) -> String {
    let Some(register) = operand.register() else { return operand.to_string() };
    match (register.number, register.file) {
        (None, RegisterFile::General) => "RZ, which discards it".to_owned(),
        (None, _) => "none, which discards it".to_owned(),
        (Some(first), RegisterFile::General | RegisterFile::Uniform) if count > 1 => {
            let prefix = register.file.names().0;
            let all = (first..first.saturating_add(count)).map(|n| format!("{prefix}{n}"));
            all.collect::<Vec<_>>().join(", ")
        }
        _ => register.to_string(),
    }
}

/// The address of an `LDG` whose base register is not allocated to the shader.
fn beyond(ldg: &Ldg) -> String {
    let (base, offset) = (ldg.base, ldg.offset);
    let mut text =
        format!("the address: 0x{offset:x} alone; the shader has no R{base}, which reads as RZ");
    text.push_str(&number(ldg, true));
    text
}

/// The part of a 256-bit value that a group of registers receives.
fn group(operand: &Operand<'_>, lanes: u8, bytes: &str) -> String {
    match u16::try_from(lanes.count_ones()) {
        Ok(count @ 1..) => {
            format!("receives the result, of bytes {bytes}: {}", fills(operand, count))
        }
        _ => format!("receives nothing: no lane of bytes {bytes} is loaded"),
    }
}

fn mask(lanes: u8) -> String {
    let loaded: Vec<String> =
        (0..8).filter(|bit| lanes >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    let loaded = if loaded.is_empty() { "none".to_owned() } else { loaded.join(", ") };
    format!(
        "the mask of the lanes that are loaded, of 4 bytes each: {loaded}; their registers follow \
         one another"
    )
}

fn operand(
    instruction: &Instruction<'_>,
    operand: &Operand<'_>,
    count: u16,
    ldg: Option<&Ldg>,
) -> String {
    match &operand.kind {
        OperandKind::Label(_) => "a place in the code".to_owned(),
        OperandKind::List(_) => "a list".to_owned(),
        OperandKind::Opaque(_) => "not known".to_owned(),
        OperandKind::Value(value) => match &value.atom {
            Atom::Indexed(indexed) => address(instruction, indexed, ldg),
            Atom::Register(register) if register.file.is_of_predicates() => {
                "a predicate that is read".to_owned()
            }
            Atom::Register(register) if register.number.is_none() => "zero".to_owned(),
            Atom::Register(register)
                if matches!(register.file, RegisterFile::Barrier | RegisterFile::Scoreboard) =>
            {
                "a barrier or a scoreboard".to_owned()
            }
            Atom::Register(_) => format!("read: {}", fills(operand, count)),
            Atom::Number(_) => "a number".to_owned(),
            Atom::Name(name) if name.starts_with("SR") => "a special register".to_owned(),
            Atom::Name(_) => "a name".to_owned(),
        },
    }
}

fn address(instruction: &Instruction<'_>, indexed: &Indexed<'_>, ldg: Option<&Ldg>) -> String {
    match indexed.name {
        "c" => return "a constant: bank, then offset in bytes".to_owned(),
        "cx" => return "a constant, whose bank is in a uniform register".to_owned(),
        "" | "desc" => {}
        name => return format!("`{name}`: not known"),
    }
    let mut text = String::from("the address: ");
    let last = indexed.brackets.last().map_or(&[][..], |terms| &terms[..]);
    let terms: Vec<String> = last.iter().map(|term| summand(instruction, term)).collect();
    text.push_str(&terms.join(", "));
    if indexed.name == "desc" {
        text.push_str("; the descriptor `desc` describes the memory and its cache policy");
    }
    if let Some(ldg) = ldg {
        text.push_str(&number(ldg, ldg.base == 255));
    }
    text
}

/// Describes the number in an address, and the bits that are dropped.
fn number(ldg: &Ldg, absolute: bool) -> String {
    let (bits, signed) = (ldg.offset_bits(), if absolute { "unsigned" } else { "signed" });
    let mut text = format!("; the number is {signed}, of {bits} bits");
    if absolute {
        text.push_str(", and extended with zeros");
    }
    if ldg.size.bytes() > 1 {
        let low = ldg.size.bytes().trailing_zeros();
        let bits = if low == 1 { "lowest bit".to_owned() } else { format!("lowest {low} bits") };
        text.push_str(&["; the ", &bits, " of the sum are dropped"].concat());
    }
    text
}

fn summand(instruction: &Instruction<'_>, term: &AddressTerm<'_>) -> String {
    let Value { atom, .. } = &term.value;
    let minus = if term.negative { "minus " } else { "" };
    match atom {
        Atom::Register(register) => {
            let Some(number) = register.number else { return "zero".to_owned() };
            let prefix = register.file.names().0;
            if instruction.is_pair(&term.value) {
                format!("{{{prefix}{}, {prefix}{number}}}, the first above the second", number + 1)
            } else {
                register.to_string()
            }
        }
        Atom::Number(number) => match number.value {
            Some(value) => format!("{minus}{value} byte{}", if value == 1 { "" } else { "s" }),
            None => number.text.to_owned(),
        },
        Atom::Indexed(_) | Atom::Name(_) => term.value.to_string(),
    }
}

/// The meaning of a modifier, and whether it is a hint.
fn modifier(instruction: &Instruction<'_>, name: &str, family: Option<Family>) -> (String, bool) {
    let old = family == Some(Family::Maxwell);
    let kind = class(instruction.opcode.text);
    let access =
        matches!(kind, Some(Class::Load | Class::Store | Class::Atomic | Class::Reduction));
    let said = |text: &str| (text.to_owned(), false);
    let hint = |text: &str| (text.to_owned(), true);
    if kind == Some(Class::Membar) {
        return match name {
            "SC" => said("for an order that all such fences agree on, and else as `.ALL`"),
            "ALL" => said("releases, and with a `CCTL.IVALL` after it acquires"),
            "CTA" | "SM" => said("for threads of the CTA, which share an L1"),
            "GPU" | "GL" => said("for threads of the GPU"),
            "SYS" => said("for all threads, of other GPUs and the host too"),
            "MMIO" => said("of accesses to devices; its effect is not known"),
            "IVALLD" => said("also invalidates all lines of the L1"),
            _ => said("not known"),
        };
    }
    if !access {
        let other = ["C", "I", "U"].iter().any(|cache| instruction.has(cache));
        return match (kind, name) {
            (Some(Class::Cache), "IVALL") if other => said("all lines are invalidated"),
            (Some(Class::Cache), "IVALL") => said("all lines of the L1 of the SM are invalidated"),
            (Some(Class::Cache), "C") => said("of the cache of constants"),
            (Some(Class::Cache), "I") => said("of the cache of instructions"),
            (Some(Class::Cache), "U") => said("of the cache of uniform data"),
            (Some(Class::Cache), "PF1" | "PF2") => hint("fetches ahead"),
            (Some(Class::Cache), "E") => said("the address has 64 bits, in two registers"),
            (Some(Class::Barrier), "SYNC") => said("arrives and waits"),
            (Some(Class::Barrier), "ARV") => said("arrives and does not wait"),
            (Some(Class::Barrier), "RED") => said("arrives, waits, and counts or joins predicates"),
            (Some(Class::Barrier), "DEFER_BLOCKING") => {
                hint("lets the warp do more before it waits")
            }
            (Some(Class::Cache) | None, _) => said("not known"),
            (Some(Class::Arithmetic), _) => said("part of what is computed; not explained here"),
            _ => said("it has no effect on memory"),
        };
    }
    match name {
        "E" if old => said("extended: the address has 40 bits, in two registers"),
        "E" => said("the address has 64 bits, in two registers"),
        "CA" if old => said("in all caches, which is the default"),
        "CS" if old => said("streaming: the hardware treats it as `.CA`, in all caches"),
        "CG" => said("in L2 and below, not in L1"),
        "LU" if old => {
            said("last use: the hardware treats it as `.CG`, in L2 and below, not in L1")
        }
        "CV" => {
            said("volatile: cached lines of system memory count as stale, and are fetched again")
        }
        "CI" => said("inconsistent: through the read-only path, for data that does not change"),
        "WT" => said("written through to the home of the memory"),
        "STRONG" => {
            said("takes part in the memory model as a relaxed access of the scope that follows")
        }
        "MMIO" => said("an access of a device: done exactly once, where the device is"),
        "CONSTANT" => said("through the read-only path, for data that does not change"),
        "CTA" | "SM" => said("the scope: threads of the CTA, on one SM"),
        "GPU" => said("the scope: threads of the GPU"),
        "SYS" if instruction.has("STRONG") || instruction.has("MMIO") => {
            said("the scope: all threads, of other GPUs and the host too")
        }
        "SYS" => said("on sm_70 and sm_75 without `.STRONG`: weak"),
        "EF" => hint("L1 eviction priority: evict first"),
        "EL" => hint("L1 eviction priority: evict last"),
        "EU" => hint("L1 eviction priority: unchanged"),
        "LU" => hint("L1 eviction priority: last use, the line is not needed again"),
        "NA" => hint("no allocation: takes no new line in L1; one that is there still answers"),
        "EFL2" => hint("L2 eviction priority: evict first"),
        "ENL2" => hint("L2 eviction priority: normal"),
        "ELL2" => hint("L2 eviction priority: evict last"),
        "LTC64B" => hint("64 bytes are prefetched into L2"),
        "LTC128B" => hint("128 bytes are prefetched into L2"),
        "LTC256B" => hint("256 bytes are prefetched into L2"),
        "FTZ" => said("subnormal numbers count as zero"),
        "RN" => said("rounds to the nearest number, to the even one of two"),
        "F16" | "BF16" => said("a floating-point number of 2 bytes"),
        "F16x2" | "BF16x2" | "BF16_V2" => said("two floating-point numbers of 2 bytes each"),
        "U" if instruction.has("128") => hint("uniform: all threads probably have one address"),
        "U8" => said("1 byte, extended with zeros"),
        "S8" => said("1 byte, extended with its sign"),
        "U16" => said("2 bytes, extended with zeros"),
        "S16" => said("2 bytes, extended with its sign"),
        "32" | "U32" | "S32" | "F32" => said("4 bytes"),
        "64" | "U64" | "S64" | "F64" => said("8 bytes, in two registers"),
        "128" => said("16 bytes, in four registers"),
        "256" => said("32 bytes, in eight registers"),
        "CAS" => said("writes the second value if the first is there"),
        "EXCH" => said("writes the value"),
        "ADD" | "MIN" | "MAX" | "INC" | "DEC" | "AND" | "OR" | "XOR" => {
            said("what is written of the old value and the operand")
        }
        _ => said("not known, or it has no effect on memory"),
    }
}
