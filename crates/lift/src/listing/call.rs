//! Calls of functions of the listing, as relocatable code makes them, and the state that a device function is
//! called in.
//!
//! `CALL.ABS.NOINC` enters a function whose instructions are a section of their own. It finds the address to return to in
//! `R20`. The linker completes operands such as `32@lo(x)`. Parameters are in the registers from `R4` to `R15`, in their
//! order: each in the first free ones, with as many as it needs and at a number that is a multiple of its alignment
//! in words. What does not fit is on the stack. The result is in the registers from `R4`. This is what `ptxas` 13.5 does for
//! `sm_80`, `sm_90` and `sm_100`.

use std::collections::BTreeMap;

use super::{TextResult, target, without_padding};
use crate::column::FIRST_PASSED;
use crate::external::{self, CallNames, ExternalFunction, pieces};
use crate::function::{EntryValue, Parameter};
use crate::written::{WrittenArg, WrittenInstruction, written};
use ptx::qualifier::Dialect;
use sass::listing::{Function, Listing, ListingLine};
use sass::syntax::{
    AddressTerm, Atom, Indexed, Instruction, NumberLiteral, OperandKind, Register, RegisterFile,
    Value,
};
use text::report::ByteSpan;

/// The instructions of a function and of those that it calls, in one space of addresses.
pub(super) struct CalledCode<'a> {
    pub(super) lines: Vec<ListingLine<'a>>,
    /// Of each line the function that it is of: an index into `names`.
    owners: Vec<usize>,
    names: Vec<&'a str>,
}

/// The distance in bytes of the first instructions of two functions.
const APART: u64 = 1 << 24;

/// The address of the first instruction of a function, by its number.
fn base(owner: usize) -> u64 {
    APART * u64::try_from(owner).expect("a listing has few functions")
}

/// The address to which a device function returns, when its caller is not known.
const CALLER: u64 = 0xffff_0000;

/// The label where it returns to.
pub(super) const RETURNED: &str = "returned";

/// The first register of parameters and results, and the number of registers that hold them.
const FIRST: usize = FIRST_PASSED as usize;
const COUNT: usize = 12;

impl<'a> CalledCode<'a> {
    /// `external`: the functions that the source does not have, so their code is not followed either.
    pub(super) fn of(
        listing: &Listing<'a>,
        function: &Function<'a>,
        external: &[ExternalFunction],
    ) -> CalledCode<'a> {
        let mut code =
            CalledCode { lines: Vec::new(), owners: Vec::new(), names: vec![function.name] };
        code.add(function, 0);
        let mut next = 0;
        while next < code.lines.len() {
            let called = called(&code.lines[next].instruction);
            let known = |name: &&str| {
                code.names.contains(name) || external.iter().any(|one| one.name == *name)
            };
            let called = called.filter(|name| !known(name));
            let found = called
                .and_then(|name| listing.functions.iter().find(|function| function.name == name));
            if let Some(found) = found {
                code.names.push(found.name);
                code.add(found, code.names.len() - 1);
            }
            next += 1;
        }
        code
    }

    fn add(&mut self, function: &Function<'a>, owner: usize) {
        let base = base(owner);
        for (index, line) in without_padding(&function.lines).iter().enumerate() {
            let mut instruction = line.instruction.clone();
            if owner > 0
                && target(&instruction).is_some()
                && let Some(to) = instruction.operands.last_mut()
                && let OperandKind::Value(Value { atom: Atom::Number(number), .. }) = &mut to.kind
            {
                number.value = number.value.map(|value| value + base);
            }
            let name = (index == 0 && owner > 0).then_some(function.name);
            self.lines.push(ListingLine {
                number: line.number,
                address: line.address.map(|address| address + base),
                labels: line.labels.iter().copied().chain(name).collect(),
                instruction,
                words: line.words.clone(),
            });
            self.owners.push(owner);
        }
    }

    /// The names of the functions that it calls, itself included.
    pub(super) fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Where a `RET` of this line may lead: addresses, as its register has them, and labels. `device`: nobody in the
    /// listing calls the function.
    pub(super) fn returns(&self, index: usize, device: bool) -> Vec<(u64, String)> {
        let owner = self.owners[index];
        let calls = self.lines.iter().zip(&self.owners).filter(|(line, of)| {
            line.instruction.opcode.text == "CALL"
                && called(&line.instruction)
                    .and_then(|name| self.names.iter().position(|known| *known == name))
                    .unwrap_or(**of)
                    == owner
        });
        let relative = self.lines[index].instruction.has("REL");
        let base = if relative { base(owner) } else { 0 };
        let after = calls.filter_map(|(line, _)| line.address).map(|at| at + 16);
        let after = after.filter(|address| *address >= base);
        let mut all: Vec<(u64, String)> =
            after.map(|address| (address - base, super::at_address(address))).collect();
        if device && owner == 0 && !relative {
            all.push((CALLER, RETURNED.to_owned()));
        }
        all
    }

    /// Whether a line has this label.
    pub(super) fn has(&self, label: &str) -> bool {
        self.lines.iter().any(|line| line.labels.contains(&label))
    }

    /// The addresses of the labels of all lines.
    fn labels(&self) -> BTreeMap<&'a str, u64> {
        let named = self.lines.iter().filter_map(|line| Some((&line.labels, line.address?)));
        named.flat_map(|(labels, at)| labels.iter().map(move |label| (*label, at))).collect()
    }
}

/// The name that a call has as its target.
pub(super) fn called<'a>(instruction: &Instruction<'a>) -> Option<&'a str> {
    if instruction.opcode.text != "CALL" {
        return None;
    }
    match instruction.operands.last()?.kind {
        OperandKind::Label(name) => Some(name),
        OperandKind::Value(_) | OperandKind::List(_) | OperandKind::Opaque(_) => None,
    }
}

/// What the linker puts in the place of `32@lo(x)`, `32@hi(x)`.
enum Relocated<'a> {
    /// The address of the instruction after this label.
    Label(&'a str),
    /// The address of this symbol.
    Symbol(&'a str),
}

/// An operand that the linker completes, and whether it is the upper half of an address.
fn relocated(text: &str) -> Option<(Relocated<'_>, bool)> {
    let inner = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix(')');
    let (inner, high) =
        inner("32@lo(").map(|inner| (inner, false)).or_else(|| Some((inner("32@hi(")?, true)))?;
    // `(f + .L_x_1@srel)`: the label is in the section of `f`.
    let sum = inner.strip_prefix('(').and_then(|sum| sum.strip_suffix(')'));
    let found = match sum {
        Some(sum) => {
            let (_, label) = sum.split_once(" + ")?;
            Relocated::Label(label.strip_suffix("@srel")?)
        }
        None => Relocated::Symbol(inner),
    };
    Some((found, high))
}

/// The addresses that the linker puts into operands. A symbol is put where the words of bank 4 are that the listing does
/// not have.
pub(super) struct Linker<'a> {
    labels: BTreeMap<&'a str, u64>,
    symbols: Vec<&'a str>,
}

/// The offset in bank 4 of the first symbol.
const SYMBOLS: u64 = 1 << 32;

impl<'a> Linker<'a> {
    pub(super) fn of(code: &CalledCode<'a>) -> Linker<'a> {
        Linker { labels: code.labels(), symbols: Vec::new() }
    }

    /// Completes the operands of an instruction.
    pub(super) fn complete(&mut self, instruction: &mut Instruction<'a>) -> TextResult<()> {
        for operand in &mut instruction.operands {
            let OperandKind::Opaque(text) = operand.kind else { continue };
            let Some((found, high)) = relocated(text) else { continue };
            let atom = match found {
                Relocated::Label(label) => {
                    let address = self.labels.get(label).copied();
                    let address = address
                        .ok_or_else(|| format!("the label `{label}` is not in this code"))?;
                    let value = if high { address >> 32 } else { address };
                    Atom::Number(NumberLiteral { text, value: Some(value) })
                }
                Relocated::Symbol(name) => {
                    let known = self.symbols.iter().position(|known| *known == name);
                    let index = known.unwrap_or_else(|| {
                        self.symbols.push(name);
                        self.symbols.len() - 1
                    });
                    let index = u64::try_from(index).expect("there are few symbols");
                    constant(text, SYMBOLS + 8 * index + if high { 4 } else { 0 }, operand.at)
                }
            };
            operand.kind = OperandKind::Value(value(atom));
        }
        Ok(())
    }

    /// The symbols with their offsets in bank 4.
    pub(super) fn symbols(&self) -> impl Iterator<Item = (u64, &'a str)> {
        (SYMBOLS..).step_by(8).zip(self.symbols.iter().copied())
    }
}

/// An operand that is this atom alone.
pub(super) fn value(atom: Atom<'_>) -> Value<'_> {
    Value { signs: "", absolute: false, atom, suffixes: Vec::new(), outer: Vec::new() }
}

/// `c[0x4][offset]`, printed as `text`.
fn constant(text: &str, offset: u64, at: ByteSpan) -> Atom<'_> {
    let term = |text, number| {
        let atom = Atom::Number(NumberLiteral { text, value: Some(number) });
        vec![AddressTerm { negative: false, value: value(atom), at }]
    };
    Atom::Indexed(Indexed { name: "c", brackets: vec![term("0x4", 4), term(text, offset)] })
}

/// The registers of a device function when it is called, with its parameters; the reason if they, or a result of this many
/// words of 64 bits, are not only in registers.
pub(super) fn entry(
    parameters: &[Parameter],
    result: usize,
) -> TextResult<Vec<(String, EntryValue)>> {
    if 2 * result > COUNT {
        return Err("a device function with a result on the stack".to_owned());
    }
    let named = |register: usize, value| (format!("R{register}"), value);
    let mut all = vec![
        ("R1".to_owned(), EntryValue::Value(0)),
        ("R20".to_owned(), EntryValue::Value(CALLER)),
        ("R21".to_owned(), EntryValue::Value(0)),
    ];
    let sizes = parameters.iter().map(|parameter| {
        let bytes = u32::from(parameter.bits).div_ceil(8);
        (bytes, parameter.alignment.unwrap_or(bytes))
    });
    for ((index, parameter), first) in parameters.iter().enumerate().zip(places(sizes)?) {
        let words = usize::from(parameter.bits).div_ceil(32);
        if parameter.alignment.is_none() {
            all.push(named(first, EntryValue::Parameter(index)));
            all.extend((1..words).map(|word| named(first + word, EntryValue::Value(0))));
            continue;
        }
        for word in 0..words {
            let offset = u32::try_from(4 * word).expect("a parameter is short");
            let bits = parameter.bits - u16::try_from(8 * offset).expect("a parameter is short");
            let piece = EntryValue::Piece { parameter: index, offset, bits: bits.min(32) };
            all.push(named(first + word, piece));
        }
    }
    Ok(all)
}

/// What a register holds that nothing has set: any value, so one that no other register holds.
pub(super) fn unset(register: Register) -> u64 {
    let number = u64::from(register.number.unwrap_or(0));
    match register.file {
        RegisterFile::General => 0x7e00_0000 + 0x0101 * number,
        RegisterFile::Uniform => 0x7d00_0000 + 0x0101 * number,
        RegisterFile::Predicate
        | RegisterFile::UniformPredicate
        | RegisterFile::Barrier
        | RegisterFile::Scoreboard => (number + 1) % 2,
    }
}

/// The instructions of PTX that give the upper bits of registers with parameters of 8 and 16 bits any value.
pub(super) fn upper_bits(
    parameters: &[Parameter],
    entry: &BTreeMap<String, EntryValue>,
) -> Vec<WrittenInstruction> {
    let short = |value: &EntryValue| match value {
        EntryValue::Parameter(index) => Some(parameters[*index].bits).filter(|bits| *bits < 32),
        EntryValue::Piece { .. }
        | EntryValue::Value(_)
        | EntryValue::Address(_)
        | EntryValue::Special(_) => None,
    };
    let rows = entry.iter().filter(|(register, _)| register.starts_with('R'));
    let rows = rows.filter_map(|(register, value)| {
        let upper = 0x7e7e_7e7e_u32 & u32::MAX << short(value)?;
        Some(written("or.b32", &[register, register, &upper]))
    });
    rows.collect()
}

fn general(numbers: impl Iterator<Item = usize>) -> impl Iterator<Item = Register> {
    let numbers = numbers.map(|number| u16::try_from(number).expect("there are few registers"));
    numbers.map(|number| Register { file: RegisterFile::General, number: Some(number) })
}

/// The registers that a function leaves as they are; those of results and arguments, R0 and R3 are for its use.
/// ptxas 13.5 saves them before it writes to them.
pub(super) fn kept() -> impl Iterator<Item = Register> {
    general([1, 2].into_iter().chain(16..20))
}

/// The instructions of PTX at the end of a function, which fail if it has changed registers that it has to keep.
pub(super) fn check_kept(entry: &BTreeMap<String, EntryValue>) -> Vec<WrittenInstruction> {
    let nowhere = WrittenArg::address("nowhere", 0);
    let mut rows = vec![written("mov.u64", &[&"nowhere", &0])];
    for register in kept() {
        let register = register.to_string();
        if let Some(EntryValue::Value(value)) = entry.get(&register) {
            rows.push(written("setp.ne.u32", &[&"changed", &register, value]));
            let fails = written("ld.global.u32", &[&"lost", &nowhere]);
            rows.push(fails.when("changed"));
        }
    }
    rows
}

/// The first register of each parameter, from their sizes and alignments in bytes.
fn places(parameters: impl Iterator<Item = (u32, u32)>) -> TextResult<Vec<usize>> {
    let mut used = [false; COUNT];
    let mut all = Vec::new();
    for (bytes, alignment) in parameters {
        let words = bytes.div_ceil(4) as usize;
        let aligned = alignment.div_ceil(4).max(1) as usize;
        let free = (0..COUNT).step_by(aligned).find(|&first| {
            used.get(first..first + words).is_some_and(|these| these.iter().all(|used| !used))
        });
        let first = free.ok_or("a device function with parameters on the stack")?;
        used[first..first + words].fill(true);
        all.push(FIRST + first);
    }
    Ok(all)
}

/// The instructions of PTX for a call of a function of another module (reading R107), with its arguments in registers.
/// `number`: of this call among those of the function. It returns `after` the call, or the call is a fault.
pub(super) fn external(
    function: &ExternalFunction,
    number: usize,
    after: u64,
) -> TextResult<Vec<WrittenInstruction>> {
    let name = |of: &str| format!("call_{number}_{of}");
    let [lost, back, nowhere] = ["lost", "back", "nowhere"].map(name);
    let mut rows = Vec::new();
    if function.returns {
        let at = WrittenArg::address(&nowhere, 0);
        rows.extend([
            written("cvt.u64.u32", &[&back, &"R21"]),
            written("shl.b64", &[&back, &back, &32]),
            written("cvt.u64.u32", &[&nowhere, &"R20"]),
            written("or.b64", &[&back, &back, &nowhere]),
            written("setp.ne.u64", &[&lost, &back, &after]),
            written("mov.u64", &[&nowhere, &0]),
            written("ld.global.u32", &[&format!("{back}_value"), &at]).when(lost),
        ]);
    }
    let mut words = Vec::new();
    let sizes = function
        .arguments
        .iter()
        .map(|one| (one.bytes, if one.alignment == 0 { one.bytes } else { one.alignment }));
    for (argument, first) in function.arguments.iter().zip(places(sizes)?) {
        for (&mask, begin) in argument.masks.iter().zip((0..argument.bytes).step_by(8)) {
            let (size, register) = ((argument.bytes - begin).min(8), first + begin as usize / 4);
            let word = name(&format!("word_{}", words.len()));
            let high = format!("{word}_high");
            rows.push(written("cvt.u64.u32", &[&word, &format!("R{register}")]));
            if size > 4 {
                rows.push(written("cvt.u64.u32", &[&high, &format!("R{}", register + 1)]));
                rows.push(written("shl.b64", &[&high, &high, &32]));
                rows.push(written("or.b64", &[&word, &word, &high]));
            }
            if mask != u64::MAX {
                rows.push(written("and.b64", &[&word, &word, &mask]));
            }
            words.push(WrittenArg::Name(word));
        }
    }
    let names = CallNames {
        memory: memory_register(&function.memory),
        used: USED.to_owned(),
        place: name("place"),
        passed: name("passed"),
        answer: name("answer"),
        waits: name("waits"),
        again: name("again"),
    };
    rows.extend(names.rows(Dialect::Ptx, &words, function.returned));
    if function.returned as usize > 4 * COUNT {
        return Err("a call with a result on the stack".to_owned());
    }
    for (offset, bytes) in pieces(function.returned) {
        let (at, register) = (external::HEAD + offset, FIRST + offset as usize / 4);
        let (word, bits) = (name(&format!("result_{offset}")), 8 * bytes);
        let high = format!("{word}_high");
        if offset % 4 != 0 {
            return Err("a call with a result of this size".to_owned());
        }
        let place = WrittenArg::address(&names.place, at.into());
        rows.push(written(format!("ld.global.u{bits}"), &[&word, &place]));
        rows.push(written(format!("cvt.u32.u{bits}"), &[&format!("R{register}"), &word]));
        if bytes == 8 {
            rows.push(written("shr.u64", &[&high, &word, &32]));
            rows.push(written("cvt.u32.u64", &[&format!("R{}", register + 1), &high]));
        }
    }
    if !function.returns {
        rows.push(written("exit", &[]));
        return Ok(rows);
    }
    let words = FIRST + function.returned.div_ceil(4) as usize;
    for register in general([0, 3].into_iter().chain(words..FIRST + COUNT)) {
        let any = !unset(register) & u64::from(u32::MAX);
        rows.push(written("mov.u32", &[&register.to_string(), &any]));
    }
    Ok(rows)
}

/// The registers with the addresses of the memory of external functions, and the one that all calls share.
pub(super) fn external_registers(functions: &[ExternalFunction]) -> Vec<(String, EntryValue)> {
    let memory = functions.iter().map(|function| {
        (memory_register(&function.memory), EntryValue::Address(function.memory.clone()))
    });
    memory.chain([(USED.to_owned(), EntryValue::Value(0))]).collect()
}

fn memory_register(memory: &str) -> String {
    format!("at_{memory}")
}

const USED: &str = "calls";
