//! Leaves out rows of a function that have no effect on the test: copies of parameters, what nobody reads, and labels
//! that nobody names.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{EntryValue, Function, FunctionLine};
use model::isa::alu::{Alu, AluOp};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::{Instruction, Line, Operand, Reg, SpaceQualifier};

use crate::special;

/// A function with the cells of its column.
pub(crate) struct ShortFunction {
    pub(crate) function: Function,
    /// Each with its line in the module.
    pub(crate) cells: Vec<(String, usize)>,
    /// The registers that a row reads, and their values at the start.
    pub(crate) initial: Vec<(String, EntryValue)>,
    /// Those of them that begin with a number of which nothing is known.
    pub(crate) any_numbers: BTreeMap<String, SpecialRead>,
}

/// A read of a special register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SpecialRead {
    /// Without its `%`.
    pub(crate) name: String,
    /// The line of the module, from 1.
    pub(crate) line: usize,
}

impl ShortFunction {
    /// `kept`: names of registers that the condition may observe.
    pub(crate) fn new(function: Function, kept: &BTreeSet<String>) -> ShortFunction {
        let rows = Rows::new(&function, kept).shortened();
        let cells = cells(&function.rows, &rows.left_out);
        let used = rows.used();
        let entries = rows.entries.iter();
        let mut initial: Vec<(String, EntryValue)> = entries
            .filter(|(register, _)| used.contains(*register))
            .map(|(register, value)| (rows.name(*register).to_owned(), (*value).clone()))
            .collect();
        // In the order of parameters.
        initial.sort_by_key(|(_, value)| match value {
            EntryValue::Parameter(parameter) => (*parameter, 0),
            EntryValue::Piece { parameter, offset, .. } => (*parameter, *offset),
            EntryValue::Value(_) | EntryValue::Address(_) | EntryValue::Special(_) => {
                (usize::MAX, 0)
            }
        });
        let any_numbers = any_numbers(&function, &initial);
        ShortFunction { function, cells, initial, any_numbers }
    }

    /// Adds the offsets of constant addresses in these cells in instructions of their own: whether such an access is
    /// outside all buffers then depends on whether a thread executes it.
    pub(crate) fn compute_addresses(&mut self, cells: &BTreeSet<usize>) {
        let mut computed = Vec::new();
        for (at, (cell, line)) in std::mem::take(&mut self.cells).into_iter().enumerate() {
            match ConstantAddress::of(&cell).filter(|_| cells.contains(&at)) {
                Some(address) => {
                    let rows = self.computed(&cell, &address);
                    computed.extend(rows.into_iter().map(|row| (row, line)));
                }
                None => computed.push((cell, line)),
            }
        }
        self.cells = computed;
    }

    fn computed(&self, cell: &str, address: &ConstantAddress<'_>) -> Vec<String> {
        let ConstantAddress { base, offset, .. } = *address;
        let registers = &self.function.registers;
        let bits = registers.iter().find(|(name, _)| name == base).map(|(_, bits)| *bits);
        let sign = if offset < 0 { "minus" } else { "plus" };
        let mut sum = format!("{base}_{sign}_{}", offset.unsigned_abs());
        while registers.iter().any(|(name, _)| *name == sum) {
            sum.push('_');
        }
        let ty = bits.unwrap_or(64);
        let (labels, instruction) = match cell.rfind(": ") {
            Some(end) => cell.split_at(end + 2),
            None => ("", cell),
        };
        let add = |from: &str| format!("add.u{ty} {sum}, {from}, {offset}");
        // Addresses in the other cell are where they were before the labels.
        let shift = labels.len();
        let (before, behind) = (address.start - shift, address.end - shift);
        let access = format!("{}[{sum}]{}", &instruction[..before], &instruction[behind..]);
        match bits {
            Some(_) => vec![labels.to_owned() + &add(base), access],
            None => vec![format!("{labels}mov.u64 {sum}, {base}"), add(&sum), access],
        }
    }
}

/// The registers at the start of the test that hold a number of which nothing is known.
fn any_numbers(
    function: &Function,
    initial: &[(String, EntryValue)],
) -> BTreeMap<String, SpecialRead> {
    let named = |register: Reg| &function.registers[usize::from(register.0)].0;
    let line_of = |register: &String, special: &String| {
        let mut rows = function.rows.iter().filter(|row| {
            let mut reads = row.lines.iter().flat_map(|step| step.line.instruction.sources());
            reads.any(|read| named(read) == special)
        });
        let writes = |row: &&FunctionLine| {
            let mut writes = row.lines.iter().flat_map(|step| step.line.instruction.destinations());
            register == special || writes.any(|written| named(written) == register)
        };
        rows.find(writes).map_or(0, |row| row.line)
    };
    let read = |(register, value): &(String, EntryValue)| {
        let EntryValue::Special(name) = value else { return None };
        let is_own = |(_, of): &&(String, EntryValue)| of == value;
        let (special, _) = function.initial.iter().find(is_own)?;
        let read = SpecialRead { name: name.clone(), line: line_of(register, special) };
        special::is_any_number(name).then(|| (register.clone(), read))
    };
    initial.iter().filter_map(read).collect()
}

/// The rows of a function, and which of them are left out.
struct Rows<'f> {
    function: &'f Function,
    left_out: Vec<bool>,
    /// How many instructions write each register.
    written: Vec<usize>,
    entries: BTreeMap<Reg, &'f EntryValue>,
    /// Registers that something other than a row reads.
    observed: BTreeSet<Reg>,
}

impl<'f> Rows<'f> {
    fn new(function: &'f Function, kept: &BTreeSet<String>) -> Rows<'f> {
        let number = |name: &String| {
            let at = function.registers.iter().position(|(known, _)| known == name)?;
            u16::try_from(at).ok().map(Reg)
        };
        let results = function.result.iter().map(|word| &word.register);
        let mut written = vec![0; function.registers.len()];
        for line in function.rows.iter().flat_map(|row| &row.lines) {
            for register in line.line.instruction.destinations() {
                written[usize::from(register.0)] += 1;
            }
        }
        Rows {
            function,
            left_out: vec![false; function.rows.len()],
            written,
            entries: function
                .initial
                .iter()
                .filter_map(|(name, value)| Some((number(name)?, value)))
                .collect(),
            observed: results.chain(kept).filter_map(number).collect(),
        }
    }

    fn name(&self, register: Reg) -> &'f str {
        &self.function.registers[usize::from(register.0)].0
    }

    fn bits(&self, register: Reg) -> u16 {
        self.function.registers[usize::from(register.0)].1
    }

    fn shortened(mut self) -> Rows<'f> {
        self.delays();
        self.copies();
        while self.unread() {}
        self.end();
        self
    }

    /// Leaves out branches that repeat a loop until some time has passed. Reading R111.
    fn delays(&mut self) {
        let rows = &self.function.rows;
        // The row that has the line of an index.
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.lines.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        for (at, row) in rows.iter().enumerate() {
            let [step] = &row.lines[..] else { continue };
            let Some(branch) = step.line.instruction.as_branch() else { continue };
            let first = ends.partition_point(|end| *end <= branch.target);
            if first < at
                && let Some(guard) = step.line.guard
                && self.only_waits_for_time(&rows[first..at], guard.predicate)
            {
                self.left_out[at] = true;
            }
        }
    }

    /// Whether rows only compute numbers, and a number that the clock decides tells whether they are executed again. Their
    /// other numbers are the same each time.
    fn only_waits_for_time(&self, rows: &[FunctionLine], decides: Reg) -> bool {
        let is_time = |register: &Reg| {
            let entry = self.entries.get(register);
            matches!(entry, Some(EntryValue::Special(name)) if special::is_time(name))
        };
        let lines = || rows.iter().flat_map(|row| &row.lines).map(|step| &step.line);
        let mut of_time: BTreeSet<Reg> =
            self.entries.keys().filter(|of| is_time(of)).copied().collect();
        let (mut written, mut carried) = (BTreeSet::new(), BTreeSet::new());
        for line in lines() {
            let computes = matches!(line.instruction, Instruction::Alu(_)) && line.guard.is_none();
            if !computes && copied(line).is_none() {
                return false;
            }
            let before = |read: &Reg| !written.contains(read);
            carried.extend(line.instruction.sources().filter(before));
            let from_time = line.instruction.sources().any(|read| of_time.contains(&read));
            let writes: Vec<Reg> = line.instruction.destinations().collect();
            if from_time {
                of_time.extend(&writes);
            } else {
                of_time.retain(|register| !writes.contains(register));
            }
            written.extend(writes);
        }
        let changes = written.intersection(&carried).any(|register| !of_time.contains(register));
        of_time.contains(&decides) && !changes
    }

    /// A register that only a copy of an initial value writes has this value from the start: no register is read before
    /// it is written.
    fn copies(&mut self) {
        for (at, row) in self.function.rows.iter().enumerate() {
            let [step] = &row.lines[..] else { continue };
            let Some((to, from, bits)) = copied(&step.line) else { continue };
            let once = |register: Reg| self.written[usize::from(register.0)];
            let fits = self.bits(to) == bits && once(to) == 1 && once(from) == 0;
            if let Some(&value) = self.entries.get(&from).filter(|_| fits)
                && !self.entries.contains_key(&to)
                && (self.bits(from) == bits || is_narrow(value, bits))
            {
                self.entries.insert(to, value);
                self.written[usize::from(to.0)] = 0;
                self.left_out[at] = true;
            }
        }
    }

    /// The registers that something reads.
    fn used(&self) -> BTreeSet<Reg> {
        let mut used = self.observed.clone();
        for (row, _) in self.function.rows.iter().zip(&self.left_out).filter(|(_, out)| !**out) {
            for step in &row.lines {
                used.extend(step.line.instruction.sources());
                used.extend(step.line.guard.map(|guard| guard.predicate));
                // Under a guard, a register may keep its value from the start.
                let keeps = step.line.guard.is_some();
                used.extend(step.line.instruction.destinations().filter(|_| keeps));
            }
        }
        used
    }

    /// Leaves out rows that only compute what nobody reads.
    fn unread(&mut self) -> bool {
        let used = self.used();
        let mut changed = false;
        for (at, row) in self.function.rows.iter().enumerate() {
            let idle = |line: &Line| {
                let computes =
                    matches!(line.instruction, Instruction::Alu(_)) || copied(line).is_some();
                computes
                    && !line.instruction.destinations().any(|register| used.contains(&register))
            };
            if !self.left_out[at]
                && !row.lines.is_empty()
                && row.lines.iter().all(|step| idle(&step.line))
            {
                self.left_out[at] = true;
                changed = true;
            }
        }
        changed
    }

    /// A thread also ends after its last row.
    fn end(&mut self) {
        let rows = &self.function.rows;
        let last =
            (0..rows.len()).rev().find(|&at| !self.left_out[at] && !rows[at].lines.is_empty());
        if let Some(last) = last
            && matches!(&rows[last].text[..], "ret" | "exit")
        {
            self.left_out[last] = true;
        }
    }
}

/// An address in a cell, `[rd1+16]`.
struct ConstantAddress<'c> {
    base: &'c str,
    offset: i64,
    /// Where it begins and ends in the cell, with its brackets.
    start: usize,
    end: usize,
}

impl ConstantAddress<'_> {
    fn of(cell: &str) -> Option<ConstantAddress<'_>> {
        let start = cell.find('[')?;
        let end = start + cell[start..].find(']')? + 1;
        let address = &cell[start + 1..end - 1];
        let (base, offset) = match address.find(['+', '-']) {
            Some(at) => (&address[..at], address[at..].trim_start_matches('+').parse().ok()?),
            None => (address, 0),
        };
        Some(ConstantAddress { base, offset, start, end })
    }
}

/// Whether a value has no more bits than this. Special registers that are not have a type of their width.
fn is_narrow(value: &EntryValue, bits: u16) -> bool {
    match value {
        EntryValue::Value(value) => value.checked_shr(bits.into()).unwrap_or(0) == 0,
        // The halves of an address.
        EntryValue::Special(name) => bits >= 32 && !name.starts_with("envreg"),
        EntryValue::Parameter(_) | EntryValue::Piece { .. } | EntryValue::Address(_) => false,
    }
}

/// The registers that an instruction copies to and from, and the bits of its type: addresses of global memory are generic
/// addresses.
fn copied(line: &Line) -> Option<(Reg, Reg, u16)> {
    if line.guard.is_some() {
        return None;
    }
    if let Instruction::Alu(Alu { op: AluOp::Mov, ty, destination, sources }) = &line.instruction
        && let [Operand::Reg(from)] = sources[..]
    {
        return Some((*destination, from, ty.bits));
    }
    if let Instruction::Cvta(Cvta { op, space, ty, destination, source }) = &line.instruction
        && matches!(op, AddressOp::FromGeneric | AddressOp::ToGeneric)
        && *space == SpaceQualifier::Global
        && let Operand::Reg(from) = source
    {
        return Some((*destination, *from, ty.bits));
    }
    None
}

/// The cells of the rows that are left: each with the labels before it that a row names.
fn cells(rows: &[FunctionLine], left_out: &[bool]) -> Vec<(String, usize)> {
    let kept = rows.iter().zip(left_out).filter(|(_, out)| !**out);
    let words =
        kept.flat_map(|(row, _)| row.text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let named: BTreeSet<&str> = words.collect();
    let mut cells = Vec::new();
    let mut labels = String::new();
    for (row, out) in rows.iter().zip(left_out) {
        for label in row.labels.iter().filter(|label| named.contains(&label[..])) {
            labels.push_str(label);
            labels.push_str(": ");
        }
        if !out && !row.lines.is_empty() {
            // A row may be several instructions.
            for text in row.text.lines() {
                cells.push((std::mem::take(&mut labels) + text, row.line));
            }
        }
    }
    if !labels.is_empty() {
        let line = rows.last().map_or(0, |row| row.line);
        cells.push((labels.trim_end().to_owned(), line));
    }
    cells
}

#[cfg(test)]
mod tests {
    use lift::module::LaunchedArguments;

    use super::*;

    fn short(body: &str, kept: &[&str]) -> (Vec<String>, Vec<String>) {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.entry k(.param .u64 a, .param .u64 n)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n{body}\n}}\n"
        );
        let (module, _) = ptx::read("k", text.as_bytes());
        let module = module.expect("it is a module");
        let function = lift::module::launched(&module, "k", &LaunchedArguments::default(), &[]);
        let function = function.expect("it is there").expect("it is read");
        let kept = kept.iter().map(|name| (*name).to_owned()).collect();
        let short = ShortFunction::new(function, &kept);
        let cells = short.cells.into_iter().map(|(cell, _)| cell).collect();
        (cells, short.initial.into_iter().map(|(register, _)| register).collect())
    }

    #[test]
    fn copies_of_parameters_are_left_out() {
        let copies = "ld.param.u64 %d1, [a];\ncvta.to.global.u64 %d2, %d1;\nL:\n";
        let store = "st.global.u32 [%d2], 1;\nret;";
        let (cells, initial) = short(&format!("{copies}{store}"), &[]);
        assert_eq!(cells, ["st.global.u32 [d2], 1"]);
        assert_eq!(initial, ["d2"]);
        // A register that something else writes, too, is no copy.
        let (cells, _) = short(&format!("{copies}{store} add.u64 %d2, %d2, 4; bra L;"), &[]);
        assert!(cells.iter().any(|cell| cell.starts_with("cvta")), "{cells:?}");
        // Nor is one that is written under a condition.
        let guarded = "ld.param.u64 %d1, [a];\nsetp.eq.u64 %p1, %d1, 0;\n@%p1 mov.u64 %d2, %d1;\n@!%p1 mov.u64 %d2, 64;\n";
        let (cells, _) = short(&format!("{guarded}{store}"), &[]);
        assert_eq!(cells.iter().filter(|cell| cell.contains("mov.u64 d2")).count(), 2, "{cells:?}");
    }

    #[test]
    fn a_loop_that_waits_for_time_to_pass_is_left_out() {
        let of = |more: &str| {
            let body = format!(
                "ld.param.u64 %d1, [a];\nmov.u64 %d2, %clock64;\nmov.u64 %d5, 0;\nL:\nmov.u64 %d3, %clock64;\n{more}\nsub.s64 %d4, %d3, %d2;\nsetp.lt.s64 %p1, %d4, 9;\n@%p1 bra L;\nst.global.u64 [%d1], %d5;\nret;"
            );
            short(&body, &[]).0.iter().any(|cell| cell.contains("bra"))
        };
        assert!(!of(""));
        // It counts, it reads memory, or something else decides.
        assert!(of("add.u64 %d5, %d5, 1;"));
        assert!(of("ld.global.u64 %d5, [%d1];"));
        assert!(of("mov.u64 %d3, %d1; mov.u64 %d2, %d1;"));
    }

    #[test]
    fn what_nobody_reads_is_left_out() {
        let body = "ld.param.u64 %d1, [a];\nmov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;\nld.global.u32 %r3, [%d1];\nret;";
        assert_eq!(short(body, &[]).0, ["ld.global.u32 r3, [d1]"]);
        let kept = ["mov.u32 r1, 5", "add.u32 r2, r1, 1", "ld.global.u32 r3, [d1]"];
        assert_eq!(short(body, &["r2"]).0, kept);
    }
}
