//! Translates the functions of a SASS listing to columns of a test: each instruction becomes a cell, unchanged.
//!
//! The initial state has values that the listing does not show: the constant of each parameter, the address of
//! shared memory, the values of special registers. A column is one lane, alone in its warp (reading R101).
//! Each loaded value is assumed to be available to the instructions that follow, but for a `CCTL.IVALL` that
//! does not wait for the last strong load, where the listing shows what waits.

mod call;
mod environment;
mod layout;
mod vectors;
mod waits;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use machine::form::Family;
use model::isa::alu::{Alu, AluOp};
use model::isa::opaque::OpaqueOp;

use crate::builder::FunctionBuilder;
use crate::column::{self, ColumnCell};
use crate::external::{ASSUMED, ExternalFunction};
use crate::function::{
    EntryValue, Function, FunctionLine, FunctionVariable, Functions, Language, Parameter, Refusals,
    Refused, ReturnedWord, UndefinedValues,
};
use crate::written::WrittenInstruction;
use call::{CalledCode, Linker};
use ptx::qualifier::Dialect;
use sass::listing::{self, Listing, ListingLine};
use sass::opcode::{Class, class};
use sass::syntax::{Annotation, AnnotationKind, Atom, Instruction, Name, OperandKind};
use text::diagnostic::Diagnostic;
use text::report::{ByteSpan, Diagnostics};
use vectors::AccessShapes;

/// Properties of a function that its listing does not show, taken from the PTX module that it was compiled
/// from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    pub parameters: Vec<Parameter>,
    pub variables: Vec<FunctionVariable>,
    pub accesses: AccessShapes,
    /// Operations without a definition.
    pub functions: BTreeSet<OpaqueOp>,
    /// The functions of other modules that it calls.
    pub external: Vec<ExternalFunction>,
    /// What a device function returns; `None` for a kernel.
    pub returned: Option<Vec<ReturnedWord>>,
}

impl Signature {
    /// The signature of a PTX function.
    pub fn of(function: &Function) -> Signature {
        let steps = function.rows.iter().flat_map(|row| &row.lines);
        let functions = steps.filter_map(|step| {
            let Alu { op: AluOp::Opaque(op), .. } = step.line.instruction.as_alu()? else {
                return None;
            };
            Some(*op)
        });
        let functions = functions.collect();
        Signature {
            parameters: function.parameters.clone(),
            variables: function.variables.clone(),
            accesses: AccessShapes::of(function),
            functions,
            external: function.external.clone(),
            returned: (!function.kernel).then(|| function.result.clone()),
        }
    }
}

/// The functions of a listing. `arch` is the `sm_` number, for a listing that does not contain it; `path` is
/// for error messages. A function without a signature is refused.
pub fn functions(
    path: &str,
    text: &str,
    arch: Option<u16>,
    signature: &dyn Fn(&str) -> Option<Signature>,
) -> Result<Functions, Vec<Diagnostic>> {
    let listing = listing::listing(path, text, None);
    let mut report = Diagnostics::default();
    let nothing = ByteSpan::default();
    let sm = listing.sm.or(arch);
    if listing.functions.is_empty() {
        report
            .error("listing", nothing, "this listing has no functions")
            .help("nvdisasm FILE.cubin, or cuobjdump -sass FILE.cubin");
        return Err(report.finish(path, text));
    }
    let Some((sm, family)) = sm.and_then(|sm| Some((sm, Family::of(sm)?))) else {
        let found = sm.map_or("the listing does not name it".to_owned(), |sm| format!("`sm_{sm}`"));
        report
            .error("arch", nothing, "the architecture of this listing is not known")
            .note(found)
            .help("--arch sm_90");
        return Err(report.finish(path, text));
    };
    let addresses = addresses(text);
    let read = |function: &listing::Function<'_>| {
        let signature = signature(function.name);
        let external = signature.as_ref().map_or(&[][..], |one| &one.external);
        let code = CalledCode::of(&listing, function, external);
        let called = listing.functions.iter().filter(|one| code.names().contains(&one.name));
        for called in called {
            let next = listing.functions.iter().map(|other| other.line);
            let end = next.filter(|&line| line > called.line).min().unwrap_or(usize::MAX);
            if let Some(unread) = unread(&listing, called.line..end) {
                let (line, why) = (unread.span.line, unread.message.clone());
                return Err(Refused { line, why }.into());
            }
        }
        let Some(signature) = signature else {
            let why = "the source has no function of this name that can be read".to_owned();
            return Err(Refused { line: function.line, why }.into());
        };
        ListedFunctionReader {
            text,
            sm,
            family,
            signature,
            addresses: addresses.clone(),
            shared: layout::bytes(text, function.name),
            initial: BTreeMap::new(),
            notes: BTreeSet::new(),
        }
        .function(function, code)
    };
    Ok(listing.functions.iter().map(|one| (one.name.to_owned(), read(one))).collect())
}

/// The first diagnostic of an instruction in these lines.
fn unread<'l>(listing: &'l Listing<'_>, lines: std::ops::Range<usize>) -> Option<&'l Diagnostic> {
    listing.diagnostics.iter().find(|one| lines.contains(&one.span.line))
}

/// The variables whose addresses are in bank 4, by offset: `.dword x` in the section of the bank.
fn addresses(text: &str) -> BTreeMap<u64, &str> {
    let mut all = BTreeMap::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = section(line) {
            inside = name.starts_with(".nv.constant4");
        } else if let (true, Some((at, name))) = (inside, line.split_once(".dword")) {
            let digits = at.trim().trim_start_matches("/*").trim_end_matches("*/");
            if let Ok(offset) = u64::from_str_radix(digits, 16) {
                all.insert(offset, name.trim());
            }
        }
    }
    all
}

/// The name of the section that begins at a line.
fn section(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix(".section").filter(|rest| rest.starts_with([' ', '\t']))?;
    rest.split(',').next().map(str::trim)
}

struct ListedFunctionReader<'l> {
    text: &'l str,
    sm: u16,
    family: Family,
    signature: Signature,
    /// What the words of bank 4 are the addresses of.
    addresses: BTreeMap<u64, &'l str>,
    /// The size of the function's shared memory, if the listing shows it.
    shared: Option<u64>,
    initial: BTreeMap<String, EntryValue>,
    notes: BTreeSet<String>,
}

/// The text of an instruction, or the reason why it cannot be printed.
type TextResult<T> = Result<T, String>;

impl<'l> ListedFunctionReader<'l> {
    fn function(
        mut self,
        function: &listing::Function<'l>,
        mut code: CalledCode<'l>,
    ) -> Result<Function, Refusals> {
        let mut cells = Vec::new();
        let mut refused = self.entered(function.line, &mut code);
        let device = self.signature.returned.is_some();
        let reached = reached(&code.lines);
        let mut lines: Vec<&ListingLine<'_>> = Vec::new();
        let mut returns = Vec::new();
        for (index, line) in code.lines.iter().enumerate().filter(|(index, _)| reached[*index]) {
            lines.push(line);
            let is_return = line.instruction.opcode.text == "RET";
            returns.push(if is_return { code.returns(index, device) } else { Vec::new() });
        }
        let mut targets: BTreeSet<String> =
            lines.iter().filter_map(|line| target(&line.instruction)).collect();
        targets.extend(returns.iter().flatten().map(|(_, label)| label.clone()));
        let mut rows: Vec<FunctionLine> = Vec::new();
        let branches: Vec<Option<String>> =
            lines.iter().map(|line| target(&line.instruction)).collect();
        let wait = wait();
        self.unset(function.line, &lines, &mut rows, &mut cells);
        let unordered = self.unordered(&lines);
        let elements = self.signature.accesses.elements(&lines);
        if elements.iter().any(Option::is_some) {
            self.note("accesses of several elements are the vectors of the source");
        }
        for (index, (((line, target), element), returns)) in
            lines.iter().copied().zip(&branches).zip(elements).zip(returns).enumerate()
        {
            let names = line.labels.iter().map(|label| plain(label));
            let labels: Vec<String> = names
                .chain(line.address.map(at_address))
                .filter(|label| targets.contains(label))
                .collect();
            if let Err(why) = self.beside(&line.instruction) {
                refused.push(Refused { line: line.number, why });
            }
            let (waits, at) = (self.waits(&line.instruction), line.instruction.at);
            let mut instruction = line.instruction.clone();
            instruction.annotations.clear();
            if let (Some(target), Some(last)) = (target, instruction.operands.last_mut()) {
                last.kind = OperandKind::Value(call::value(Atom::Name(target)));
            }
            if waits {
                instruction.annotations.push(Annotation { at, ..WRITE });
            }
            let row = |text, labels: Vec<String>| FunctionLine {
                labels,
                text,
                line: line.number,
                volatile: line.instruction.has("MMIO"),
                ..FunctionLine::default()
            };
            rows.push(row(column::text(&instruction), labels.clone()));
            let labels = labels.into_iter().map(|label| (Cow::from(label), at)).collect();
            let ptx = self.asks(line, &code, cells.len()).unwrap_or_else(|why| {
                refused.push(Refused { line: line.number, why });
                Vec::new()
            });
            let instruction = Some(instruction);
            cells.push(ColumnCell {
                labels,
                instruction,
                returns,
                element,
                ptx,
                at,
                unordered: unordered.contains(&index),
                ..ColumnCell::default()
            });
            if waits {
                let wait = Instruction { at, ..wait.clone() };
                rows.push(FunctionLine { volatile: false, ..row(column::text(&wait), Vec::new()) });
                cells.push(ColumnCell { instruction: Some(wait), at, ..ColumnCell::default() });
            }
        }
        let result = self.result(function.line, &mut rows, &mut cells);
        let variables = self.variables(&lines).unwrap_or_else(|why| {
            refused.push(Refused { line: function.line, why });
            self.signature.variables.clone()
        });
        let builder = self.builder(variables);
        let lifted = builder.listing(self.text, &cells, rows, self.sm, self.family, refused)?;
        Ok(Function {
            name: function.name.to_owned(),
            line: function.line,
            language: Language::Sass(self.sm),
            clusters: Family::of_or_before(self.sm).has_clusters(),
            kernel: !device,
            parameters: self.signature.parameters,
            variables: lifted.variables,
            registers: lifted.registers,
            rows: lifted.rows,
            initial: lifted.initial,
            result,
            checked: None,
            external: self.signature.external,
            undefined: UndefinedValues::Absent,
            notes: self.notes.into_iter().collect(),
        })
    }

    /// The state in which the function is entered, and its operands as the linker completes them.
    fn entered(&mut self, line: usize, code: &mut CalledCode<'l>) -> Vec<Refused> {
        let mut refused = Vec::new();
        let mut linker = Linker::of(code);
        for line in &mut code.lines {
            if let Err(why) = linker.complete(&mut line.instruction) {
                refused.push(Refused { line: line.number, why });
            }
        }
        self.addresses.extend(linker.symbols());
        if let Some(result) = &self.signature.returned {
            match call::entry(&self.signature.parameters, result.len()) {
                Ok(entry) => self.initial.extend(entry),
                Err(why) => refused.push(Refused { line, why }),
            }
            self.note("parameters of 64 bits have zeros in their high half");
        }
        if !self.signature.external.is_empty() {
            self.initial.extend(call::external_registers(&self.signature.external));
            self.note(ASSUMED);
        }
        refused
    }

    fn builder(&self, variables: Vec<FunctionVariable>) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new(Dialect::Ptx);
        for variable in variables {
            builder.variable(variable);
        }
        for (register, value) in &self.initial {
            builder.entry(register, value.clone());
        }
        builder
    }

    /// What registers hold that nothing has set when the function is entered: any value.
    fn unset(
        &mut self,
        line: usize,
        lines: &[&ListingLine<'_>],
        rows: &mut Vec<FunctionLine>,
        cells: &mut Vec<ColumnCell<'_>>,
    ) {
        if self.signature.returned.is_some() {
            let ptx = call::upper_bits(&self.signature.parameters, &self.initial);
            rows.push(FunctionLine { line, ..FunctionLine::default() });
            cells.push(ColumnCell { ptx, ..ColumnCell::default() });
        }
        let used: Vec<_> = lines.iter().filter_map(|line| line.instruction.registers()).collect();
        let written: BTreeSet<_> = used.iter().flat_map(|all| &all.writes).copied().collect();
        let kept = call::kept().filter(|register| written.contains(register));
        for register in used.iter().flat_map(|all| &all.reads).copied().chain(kept) {
            if register.number.is_some() {
                let value = EntryValue::Value(call::unset(register));
                self.initial.entry(register.to_string()).or_insert(value);
            }
        }
    }

    /// The instructions of PTX for a call of a function of another module; none for another instruction.
    fn asks(
        &self,
        line: &ListingLine<'_>,
        code: &CalledCode<'_>,
        number: usize,
    ) -> TextResult<Vec<WrittenInstruction>> {
        let Some(name) = call::called(&line.instruction) else { return Ok(Vec::new()) };
        let of_name = self.signature.external.iter().filter(|one| one.name == name);
        match of_name.collect::<Vec<_>>()[..] {
            [callee] => call::external(callee, number, line.address.unwrap_or(0) + 16),
            [_, _, ..] => Err(format!("calls of `{name}` with arguments of several kinds")),
            [] if code.has(name) => Ok(Vec::new()),
            [] => Err(format!("a call of `{name}`, which the source does not call")),
        }
    }

    /// The end of a device function: its result in words, from the registers that hold it.
    fn result(
        &self,
        line: usize,
        rows: &mut Vec<FunctionLine>,
        cells: &mut Vec<ColumnCell<'_>>,
    ) -> Vec<ReturnedWord> {
        let Some(words) = &self.signature.returned else { return Vec::new() };
        let labels = vec![call::RETURNED.to_owned()];
        rows.push(FunctionLine { labels, line, ..FunctionLine::default() });
        let labels = vec![(Cow::from(call::RETURNED), ByteSpan::default())];
        let bits = words.iter().map(|word| u64::BITS - word.mask.leading_zeros());
        let results: Vec<u32> = bits.collect();
        let ptx = call::check_kept(&self.initial);
        cells.push(ColumnCell { labels, ptx, results, ..ColumnCell::default() });
        let word = |(index, word): (usize, &ReturnedWord)| ReturnedWord {
            register: column::register_of_result(index),
            ..word.clone()
        };
        words.iter().enumerate().map(word).collect()
    }

    /// The fences that do not wait for the last strong load before them, with notes on each.
    fn unordered(&mut self, lines: &[&ListingLine<'_>]) -> BTreeSet<usize> {
        let all = waits::unordered(lines, self.sm);
        for (&fence, &load) in &all {
            let (fence, load) = (lines[fence], lines[load]);
            self.notes.insert(format!(
                "`CCTL.IVALL` at line {} of the target does not wait for `{}` at line {}, and orders nothing (reading R108)",
                fence.number,
                column::text(&load.instruction),
                load.number
            ));
        }
        all.into_keys().collect()
    }

    /// Whether the instructions that follow wait for this one. The text does not show that.
    fn waits(&mut self, instruction: &Instruction<'_>) -> bool {
        let constant = matches!(instruction.opcode.text, "LDC" | "LDCU" | "ULDC");
        let waits = column::loads(instruction) && !constant;
        if waits {
            self.note(
                "each loaded value is assumed to be available to the instructions that follow",
            );
        }
        waits
    }
}

/// A label with the characters that a test allows.
fn plain(label: &str) -> String {
    label.trim_start_matches('.').replace(['.', '@'], "_")
}

/// The label for the target address of a branch.
fn at_address(address: u64) -> String {
    format!("A{address:x}")
}

/// The label of the target of a branch.
fn target(instruction: &Instruction<'_>) -> Option<String> {
    if class(instruction.opcode.text) != Some(Class::Branch) {
        return None;
    }
    if instruction.opcode.text == "RET" {
        return None;
    }
    match &instruction.operands.last()?.kind {
        OperandKind::Label(label) => Some(plain(label)),
        OperandKind::Value(value) => match value.atom {
            Atom::Number(number) => number.value.map(at_address),
            Atom::Register(_) | Atom::Indexed(_) | Atom::Name(_) => None,
        },
        OperandKind::List(_) | OperandKind::Opaque(_) => None,
    }
}

/// Whether each line may be reached from the first one.
fn reached(lines: &[ListingLine<'_>]) -> Vec<bool> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        let labels = line.labels.iter().map(|label| plain(label));
        for label in labels.chain(line.address.map(at_address)) {
            places.entry(label).or_insert(index);
        }
    }
    let mut reached = vec![false; lines.len()];
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        let Some(line) = lines.get(index).filter(|_| !reached[index]) else { continue };
        reached[index] = true;
        let instruction = &line.instruction;
        let divides = instruction.opcode.text == "BRA" && instruction.has("DIV");
        let target = target(instruction).filter(|_| !divides);
        open.extend(target.and_then(|label| places.get(&label)));
        let always = instruction.guard.is_none_or(|guard| guard.predicate.number.is_none());
        let ends = match instruction.opcode.text {
            "EXIT" => instruction.operands.is_empty(),
            "BRA" => instruction.has("CONV") || !divides && instruction.operands.len() == 1,
            "RET" => true,
            _ => false,
        };
        let never = instruction.guard.is_some_and(|guard| guard.negated && always);
        if !(ends && always) || never {
            open.push(index + 1);
        }
    }
    reached
}

/// `&wr=0x0`: the scoreboard that a load clears when it is done.
const WRITE: Annotation<'static> = Annotation {
    kind: AnnotationKind::Write(0),
    text: "&wr=0x0",
    braced: false,
    at: ByteSpan { start: 0, end: 0 },
};

/// `NOP &req={0}`: waits for that scoreboard.
fn wait() -> Instruction<'static> {
    let nothing = ByteSpan::default();
    let text = "&req={0}";
    let kind = AnnotationKind::Require(1);
    Instruction {
        guard: None,
        opcode: Name { text: "NOP", at: nothing },
        modifiers: Vec::new(),
        operands: Vec::new(),
        annotations: vec![Annotation { kind, text, braced: false, at: nothing }],
        at: nothing,
    }
}

/// The lines without the padding that a compiler adds at the end: a branch to itself, and `NOP`.
fn without_padding<'l, 'a>(lines: &'l [ListingLine<'a>]) -> &'l [ListingLine<'a>] {
    let named: BTreeSet<(usize, String)> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| Some((index, target(&line.instruction)?)))
        .collect();
    let mut end = lines.len();
    let mut branches = 0;
    while end > 0 {
        let last = &lines[end - 1];
        let labels: Vec<String> =
            last.labels.iter().map(|l| plain(l)).chain(last.address.map(at_address)).collect();
        let elsewhere = named.iter().any(|(from, to)| *from < end - 1 && labels.contains(to));
        let itself = target(&last.instruction).is_some_and(|to| labels.contains(&to));
        // A second branch to itself is an endless loop of the function.
        branches += usize::from(itself);
        let idle = class(last.instruction.opcode.text) == Some(Class::Nothing)
            || itself && last.instruction.guard.is_none() && branches == 1;
        if !idle || elsewhere {
            break;
        }
        end -= 1;
    }
    &lines[..end]
}
