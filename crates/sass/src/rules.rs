//! The rules of SASS instructions: known modifiers, an order with a scope, and modifiers that the target has.

use machine::form::Family;

use super::modifier::{self, Clash};
use super::opcode::{Class, class};
use super::syntax::{Atom, Instruction, Name, Operand, OperandKind, Register, RegisterFile};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

const SCOPES: &[&str] = &["CTA", "SM", "GPU", "SYS", "VC"];

/// Reports all errors of a memory instruction; other instructions are not checked.
pub(super) fn check(
    instruction: &Instruction<'_>,
    family: Option<Family>,
    report: &mut Diagnostics,
) {
    registers(instruction, report);
    let Some(class) = class(instruction.opcode.text) else {
        misspelt(instruction, report);
        return;
    };
    if matches!(class, Class::Arithmetic | Class::Special) {
        return sources(instruction, report);
    }
    let Some(known) = modifier::known(class) else { return };
    let mut rules = RuleChecker { instruction, family, report };
    if rules.modifiers(known) && rules.one_of_each() {
        rules.scope(class);
    }
    rules.operands(class);
}

/// Registers that no machine has.
fn registers(instruction: &Instruction<'_>, report: &mut Diagnostics) {
    if let Some(guard) = instruction.guard {
        register(guard.predicate, guard.at, report);
    }
    for operand in &instruction.operands {
        let all = match &operand.kind {
            OperandKind::List(list) => &list[..],
            OperandKind::Value(_) | OperandKind::Label(_) | OperandKind::Opaque(_) => {
                std::slice::from_ref(operand)
            }
        };
        for one in all {
            one_operand(one, report);
        }
    }
}

fn one_operand(operand: &Operand<'_>, report: &mut Diagnostics) {
    if let Some(one) = operand.register() {
        register(one, operand.at, report);
    }
    let brackets = operand.indexed().map_or(&[][..], |indexed| &indexed.brackets);
    for term in brackets.iter().flatten() {
        if let Atom::Register(one) = term.value.atom {
            register(one, term.at, report);
        }
    }
}

fn register(register: Register, at: ByteSpan, report: &mut Diagnostics) {
    let last = register.file.last();
    if register.number <= Some(last) {
        return;
    }
    let (prefix, none) = register.file.names();
    let rest = if none.is_empty() { String::new() } else { format!(", and {none}") };
    report
        .error("sass-register", at, format!("unknown register `{register}`"))
        .note(format!("expected {prefix}0 to {prefix}{last}{rest}"))
        .help(format!("{prefix}{last} is the last one"));
}

/// What arithmetic reads: it has a destination and a source at the least, and more where it is known
/// to.
fn sources(instruction: &Instruction<'_>, report: &mut Diagnostics) {
    let (opcode, all) = (instruction.opcode, &instruction.operands);
    let (fewest, form) = match opcode.text {
        "VOTE" | "VOTEU" => return,
        "FFMA" | "DFMA" | "HFMA2" | "IADD3" | "IMAD" | "XMAD" | "SHF" | "PRMT" | "SEL" | "FSEL"
        | "LOP3" => (4, "R0, R1, R2, R3"),
        "UIADD3" | "UIMAD" | "USHF" | "UPRMT" | "USEL" | "ULOP3" => (4, "UR4, UR5, UR6, UR7"),
        "FADD" | "DADD" | "HADD2" | "FMUL" | "DMUL" | "HMUL2" | "IADD" | "IMUL" | "SHL" | "SHR"
        | "LOP" => (3, "R0, R1, R2"),
        "S2R" => (2, "R0, SR_TID.X"),
        _ => (2, "R0, R1"),
    };
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
    if all.len() < fewest {
        report
            .error(
                "sass-operands",
                first.at.to(last.at),
                format!("wrong operands for `{}`", opcode.text),
            )
            .note(format!("{} here, and {fewest} at the least", all.len()))
            .help(format!("{} {form}", instruction.name()));
    }
}

/// An unknown opcode with the letters of a known one.
fn misspelt(instruction: &Instruction<'_>, report: &mut Diagnostics) {
    let letters = |name: &str| {
        let mut all = name.to_ascii_uppercase().into_bytes();
        all.sort_unstable();
        all
    };
    let word = instruction.opcode;
    let written = letters(word.text);
    if let Some(known) = super::opcode::MEMORY.iter().find(|known| letters(known) == written) {
        report
            .error("sass-opcode", word.at, format!("unknown opcode `{}`", short(word.text)))
            .note("not an opcode that a disassembler prints")
            .help(instruction.name().replacen(word.text, known, 1));
    }
}

struct RuleChecker<'r, 'a> {
    instruction: &'r Instruction<'a>,
    family: Option<Family>,
    report: &'r mut Diagnostics,
}

impl RuleChecker<'_, '_> {
    fn with(&self, index: usize, name: &str) -> String {
        let mut names: Vec<&str> = self.instruction.modifiers.iter().map(|m| m.text).collect();
        names[index] = name;
        format!("{}.{}", self.instruction.opcode.text, names.join("."))
    }

    /// Whether all are known.
    fn modifiers(&mut self, known: &[&[&str]]) -> bool {
        let mut good = true;
        let opcode = self.instruction.opcode.text;
        for (index, word) in self.instruction.modifiers.iter().enumerate() {
            let invalid = modifier::is_of_no_instruction(word.text);
            if invalid || known.iter().any(|list| list.contains(&word.text)) {
                self.target(word);
                continue;
            }
            good = false;
            let near =
                self.report.nearest(word.text, known.iter().flat_map(|list| list.iter().copied()));
            let help = near.map(|near| self.with(index, near));
            let message = format!("`{opcode}` has no modifier `.{}`", short(word.text));
            self.report
                .error("sass-modifier", word.at, message)
                .note("not one that a disassembler prints")
                .help(help.unwrap_or_else(|| format!("remove `.{}`", short(word.text))));
        }
        good
    }

    /// Whether no modifier contradicts or repeats another one.
    fn one_of_each(&mut self) -> bool {
        let modifiers = &self.instruction.modifiers;
        let mut names: Vec<&str> = modifiers.iter().map(|word| word.text).collect();
        let Some(Clash { first, second, field }) = modifier::clash(&names) else { return true };
        let (earlier, later) = (names[first], names[second]);
        while let Some(more) = modifier::clash(&names) {
            names.remove(more.second);
        }
        let message = match field {
            None => format!("duplicate modifier `.{later}`"),
            Some(_) => format!("`.{later}` contradicts `.{earlier}`"),
        };
        let note =
            field.map_or("once is enough".to_owned(), |field| format!("both say the {field}"));
        self.report.error("sass-modifier", modifiers[second].at, message).note(note).help(format!(
            "{}.{}",
            self.instruction.opcode.text,
            names.join(".")
        ));
        false
    }

    /// Whether the target has a modifier.
    fn target(&mut self, word: &Name<'_>) {
        let Some(family) = self.family else { return };
        let old = matches!(word.text, "CA" | "CG" | "CI" | "CS" | "CV" | "WT" | "GL" | "IVALLD");
        let new = matches!(word.text, "STRONG" | "MMIO" | "CONSTANT" | "EF" | "EL" | "EU" | "NA");
        let maxwell = family == Family::Maxwell;
        let membar = class(self.instruction.opcode.text) == Some(Class::Membar);
        if !(old && !maxwell || new && maxwell || membar && maxwell && word.text == "GPU") {
            return;
        }
        let (message, help) = if old {
            (format!("`.{}` exists only on sm_50 to sm_62", word.text), old_as_new(word.text))
        } else {
            (format!("`.{}` exists only on sm_70 and later", word.text), new_as_old(word.text))
        };
        self.report.error("sass-target", word.at, message).note(family.name()).help(help);
    }

    /// An order has a scope, and a scope an order.
    fn scope(&mut self, class: Class) {
        let one = self.instruction;
        let find = |names: &[&str]| one.modifiers.iter().find(|m| names.contains(&m.text));
        let scope = find(SCOPES);
        let name = one.name();
        if one.modifiers.iter().any(|word| modifier::is_of_no_instruction(word.text)) {
            return;
        }
        if class == Class::Membar {
            let reach = scope.or_else(|| find(&["GL"]));
            let end = one.modifiers.last().map_or(one.opcode.at, |last| last.at).after();
            if reach.is_none() {
                self.report
                    .error("sass-scope", end, "a `MEMBAR` requires a scope")
                    .note("expected a scope")
                    .help(format!("{name}.GPU"));
            }
            let old = self.family == Some(Family::Maxwell);
            let order = find(&["SC", "ALL"]);
            if let (Some(order), true) = (order, old) {
                self.report
                    .error(
                        "sass-target",
                        order.at,
                        format!("`.{}` exists only on sm_70 and later", order.text),
                    )
                    .note("maxwell")
                    .help("MEMBAR.GL");
            }
            return;
        }
        let order = find(&["STRONG", "MMIO"]);
        match (order, scope) {
            (Some(order), None) => {
                self.report
                    .error("sass-scope", order.at, format!("`.{}` requires a scope", order.text))
                    .note("no scope after it")
                    .help(name.replacen(order.text, &format!("{}.GPU", order.text), 1));
            }
            // On sm_70 and sm_75, `nvdisasm` prints the scope of a weak access, too.
            (None, Some(scope))
                if scope.text != "SYS"
                    && find(&["CONSTANT"]).is_none()
                    && self.family != Some(Family::Volta) =>
            {
                self.report
                    .error(
                        "sass-scope",
                        scope.at,
                        format!("the scope `.{}` has no order", scope.text),
                    )
                    .note("expected `.STRONG` before it")
                    .help(name.replacen(
                        &format!(".{}", scope.text),
                        &format!(".STRONG.{}", scope.text),
                        1,
                    ));
            }
            _ => {}
        }
    }

    /// An address where there has to be one, and a register.
    fn operands(&mut self, class: Class) {
        let (opcode, all) = (self.instruction.opcode, &self.instruction.operands);
        let constants = matches!(opcode.text, "LDC" | "LDCU" | "ULDC");
        let (form, fits): (&str, bool) = if class == Class::Load && constants {
            ("R2, c[0x0][0x160]", constant(all))
        } else if class == Class::Load {
            ("R2, [R4]", load(all))
        } else if matches!(class, Class::Store | Class::Reduction) {
            ("[R4], R2", store(all))
        } else if class == Class::Atomic {
            ("PT, R2, [R4], R6", atomic(all))
        } else if class == Class::Membar {
            ("", all.is_empty())
        } else {
            return;
        };
        if fits || all.is_empty() && class != Class::Membar && self.is_name_alone() {
            return;
        }
        let at: ByteSpan = match (all.first(), all.last()) {
            (Some(first), Some(last)) => first.at.to(last.at),
            _ => opcode.at,
        };
        let name = self.instruction.name();
        self.report
            .error("sass-operands", at, format!("wrong operands for `{}`", opcode.text))
            .note(format!("{} here", all.len()))
            .help(format!("{name} {form}").trim_end().to_owned());
    }

    /// `LDG.E`: without operands, only the opcode is explained.
    fn is_name_alone(&self) -> bool {
        self.instruction.annotations.is_empty() && self.instruction.guard.is_none()
    }
}

fn old_as_new(name: &str) -> &'static str {
    match name {
        "CG" => "from sm_70 on, `.STRONG.GPU` bypasses L1",
        "CI" => "from sm_70 on, `.CONSTANT` is the read-only path",
        "CV" | "WT" => "from sm_70 on, `.STRONG.SYS` goes to the home of the memory",
        "GL" | "IVALLD" => "MEMBAR.SC.GPU, and CCTL.IVALL after it",
        _ => "remove it",
    }
}

fn new_as_old(name: &str) -> &'static str {
    match name {
        "CONSTANT" => "on sm_50 to sm_62, `.CI` is the read-only path",
        "STRONG" => "on sm_50 to sm_62, `.CG` bypasses L1 and `.CV` fetches again",
        "MMIO" => "on sm_50 to sm_62, `.CV` fetches again",
        "GPU" => "MEMBAR.GL",
        _ => "remove it",
    }
}

fn is_of(operand: &Operand<'_>, files: &[RegisterFile]) -> bool {
    operand.register().is_some_and(|register| files.contains(&register.file))
}

fn is_address(operand: &Operand<'_>) -> bool {
    operand.indexed().is_some_and(super::syntax::Indexed::is_memory)
}

const PREDICATES: &[RegisterFile] = &[RegisterFile::Predicate, RegisterFile::UniformPredicate];

/// `{Ps,} Rd, {Rd2,} [address] {, P} {, lanes}`
fn load(all: &[Operand<'_>]) -> bool {
    let Some(place) = all.iter().position(is_address) else { return false };
    let (to, rest) = (&all[..place], &all[place + 1..]);
    let status = to.first().is_some_and(|first| is_of(first, PREDICATES));
    let to = &to[usize::from(status)..];
    (1..=2).contains(&to.len())
        && to.iter().all(|one| is_of(one, &[RegisterFile::General]))
        && rest.len() <= 2
}

fn store(all: &[Operand<'_>]) -> bool {
    let Some((first, rest)) = all.split_first() else { return false };
    is_address(first) && (1..=3).contains(&rest.len()) && is_of(&rest[0], &[RegisterFile::General])
}

fn atomic(all: &[Operand<'_>]) -> bool {
    let Some(place) = all.iter().position(is_address) else { return false };
    (1..=2).contains(&place) && is_of(&all[place - 1], &[RegisterFile::General])
}

/// `Rd, c[0x0][0x160]`
fn constant(all: &[Operand<'_>]) -> bool {
    let [to, from] = all else { return false };
    let place = from.indexed().is_some_and(|indexed| matches!(indexed.name, "c" | "cx"));
    place && is_of(to, &[RegisterFile::General, RegisterFile::Uniform])
}
