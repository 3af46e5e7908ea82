//! The comparisons, masks and shifts of a thread, and the values of memory with which each has another result.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use execution::expr::{Expr, ExprId};
use execution::path::{Assumption, Path};
use execution::unfold::Unfolded;
use model::isa::alu::AluOp;
use model::isa::integer::IntegerOp;
use model::isa::{Instruction, Operand, TypeKind};
use model::memory::Space;
use model::program::{InitialValue, Program};
use model::value::{Value, little_endian, low_bytes, low64};

use super::inputs::as_float;
use super::partner::fresh;
use super::scan::{ByteRange, MemoryUse, ScanOptions};

/// The maximum number of values of a dictionary, of a place, and of paths that are looked at.
const WORDS: usize = 160;
const WANTED: usize = 5;
const PATHS: usize = 2_000;

/// The maximum number of paths whose selections, masks and shifts are looked at.
const SELECTING: usize = 16;

/// The maximum number of values with which partners show what is read.
const TELLING: usize = 4;

/// The addresses of the memory to which pointers lead that are read from memory, so far apart that a number at most this large
/// is an offset from one of them.
pub(super) const POINTEES: [u64; 2] = [0x10_0000, 0x20_0000];
const APART: u64 = 1 << 16;

/// What the comparisons of a thread depend on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DecisionScan {
    /// For each place that a branch depends on, or that strong accesses read for any comparison, mask or shift: values, the
    /// simplest first, with which each of them has another result, as far as the dictionary has them.
    pub wanted: BTreeMap<ByteRange, Vec<u64>>,
    /// The places of `wanted` on which no branch depends.
    pub selects: BTreeSet<ByteRange>,
    /// For places of weak accesses: values with which more comparisons, masks and shifts have other results than with what
    /// the place begins with, if a number that nobody expects does not change all of them.
    pub telling: BTreeMap<ByteRange, Vec<u64>>,
    /// The places of pointers: what is read there, and at most an offset, is an address. The addresses that the test
    /// determines are among their values in `wanted`.
    pub pointers: BTreeSet<ByteRange>,
    /// For each line that compares what other threads may write: whether it ever fails, and whether it ever holds, with
    /// a value that one of them writes.
    pub moved: BTreeMap<usize, [bool; 2]>,
    /// The same for the places on which only the conditions of selections depend. They decide no path.
    pub chosen: BTreeMap<ByteRange, Vec<u64>>,
    /// For each comparison and place: whether it holds with each word of the dictionary.
    pub held: BTreeSet<(ByteRange, Vec<bool>)>,
    /// For each line that decides something: whether it ever fails, and whether it ever holds.
    pub seen: BTreeMap<usize, [bool; 2]>,
}

/// Values that decide comparisons of these programs: their constants, arguments and masks, and their neighbours.
/// `with_floats`: also 2 as a float, where the programs compare floats, whose constants are words like any other.
pub fn dictionary(programs: [&Program; 2], with_floats: bool) -> Vec<u64> {
    let lines = programs.iter().flat_map(|program| &program.threads).flat_map(|one| &one.lines);
    let compares = |instruction: &Instruction| {
        matches!(instruction, Instruction::Alu(alu) if alu.ty.kind == TypeKind::Float
            && matches!(alu.op, AluOp::Setp(_) | AluOp::Float(_)))
    };
    let with_floats = with_floats && lines.map(|line| &line.instruction).any(compares);
    let mut constants: BTreeSet<u64> = BTreeSet::new();
    let mut shifts: BTreeSet<u32> = BTreeSet::new();
    let mut steps: BTreeSet<(AluOp, u32)> = BTreeSet::new();
    for thread in programs.iter().flat_map(|program| &program.threads) {
        constants.extend(thread.registers.iter().filter_map(|register| match register.initial {
            InitialValue::Value(value) => Some(low64(value)),
            InitialValue::Address { .. } => None,
        }));
        for line in &thread.lines {
            let shift = matches!(
                &line.instruction,
                Instruction::Alu(alu)
                    if matches!(alu.op, AluOp::Shl | AluOp::Shr | AluOp::Integer(IntegerOp::Bfe))
            );
            if let Instruction::Alu(alu) = &line.instruction
                && alu.ty.bits <= 32
                && alu.sources.len() == 1
            {
                steps.insert((alu.op, 0));
            }
            for operand in line.instruction.operands() {
                let Operand::Imm(value) = operand else { continue };
                if let (Instruction::Alu(alu), Ok(by)) = (&line.instruction, u32::try_from(value))
                    && alu.ty.bits <= 32
                {
                    steps.insert((alu.op, by));
                }
                match u32::try_from(value) {
                    Ok(amount) if shift => _ = shifts.insert(amount.min(63)),
                    _ => _ = constants.insert(value),
                }
            }
        }
    }
    let mut all = vec![0, 1];
    if with_floats {
        all.extend([16, 32, 64].map(|bits| as_float(2, bits, u32::from(bits) / 8)));
    }
    // Small numbers are likelier to be compared with than addresses.
    all.extend(constants.iter().copied());
    all.extend(constants.iter().flat_map(|value| [value.wrapping_add(1), value.wrapping_sub(1)]));
    let bits = |value: &u64| {
        let (low, high) = (value.trailing_zeros(), 63 - value.leading_zeros().min(63));
        [1_u64.checked_shl(low).unwrap_or(0), 1 << high, !value]
    };
    all.extend(constants.iter().filter(|value| **value != 0).flat_map(bits));
    all.extend(shifts.iter().map(|shift| 1 << shift));
    let shifted = |shift: &u32| constants.iter().map(|value| value << shift).collect::<Vec<_>>();
    all.extend(shifts.iter().flat_map(shifted));
    all.extend([2, 1 << 31, u32::MAX.into(), 1 << 63, u64::MAX]);
    // What is compared may be computed from what is read, in two steps as by `mad`.
    let words: BTreeSet<u32> = constants.iter().filter_map(|&word| word.try_into().ok()).collect();
    let undo = |words: &BTreeSet<u32>| -> BTreeSet<u32> {
        let pairs = steps.iter().flat_map(|step| words.iter().map(move |word| (step, *word)));
        pairs.flat_map(|(&(op, by), word)| operands_before(op, by, word)).collect()
    };
    let once = undo(&words);
    all.extend(once.iter().chain(&undo(&once)).map(|word| u64::from(*word)));
    let mut known = BTreeSet::new();
    all.retain(|value| known.insert(*value));
    all.truncate(WORDS);
    all
}

/// Operands of 32 bits with which an operation has this result, if it has one operand, or a constant beside it.
fn operands_before(op: AluOp, by: u32, result: u32) -> Vec<u32> {
    match op {
        AluOp::Add => vec![result.wrapping_sub(by)],
        AluOp::Sub => vec![result.wrapping_add(by), by.wrapping_sub(result)],
        AluOp::Mul => result
            .checked_rem(by)
            .filter(|rest| *rest == 0)
            .map(|_| result / by)
            .into_iter()
            .collect(),
        AluOp::Xor => vec![result ^ by],
        AluOp::Shl => result.checked_shr(by).into_iter().collect(),
        AluOp::Shr => result.checked_shl(by).into_iter().collect(),
        AluOp::Integer(IntegerOp::Div) => vec![result.wrapping_mul(by)],
        AluOp::Integer(IntegerOp::Brev) => vec![result.reverse_bits()],
        AluOp::Integer(IntegerOp::Neg) => vec![result.wrapping_neg()],
        AluOp::Integer(IntegerOp::Clz) => (1_u32 << 31).checked_shr(result).into_iter().collect(),
        AluOp::Integer(IntegerOp::Popc) => {
            u32::MAX.checked_shl(result).map(|rest| !rest).into_iter().collect()
        }
        // Its lowest byte.
        AluOp::Integer(IntegerOp::Prmt(_)) => {
            result.checked_shl(8 * (by & 7)).into_iter().collect()
        }
        AluOp::Mov
        | AluOp::And
        | AluOp::Or
        | AluOp::Selp
        | AluOp::Setp(_)
        | AluOp::Extract(_)
        | AluOp::Concat(_)
        | AluOp::Convert(..)
        | AluOp::Halves(_)
        | AluOp::Flush
        | AluOp::Float(_)
        | AluOp::Integer(_)
        | AluOp::Opaque(_) => Vec::new(),
    }
}

impl DecisionScan {
    /// Both: what another scan of the thread saw, and the values of the places that only that one has.
    pub(super) fn with(mut self, other: &DecisionScan) -> DecisionScan {
        for (line, seen) in &other.seen {
            let known = self.seen.entry(*line).or_default();
            *known = [known[0] | seen[0], known[1] | seen[1]];
        }
        for (place, values) in &other.wanted {
            self.wanted.entry(*place).or_insert_with(|| values.clone());
        }
        for (line, moved) in &other.moved {
            let known = self.moved.entry(*line).or_default();
            *known = [known[0] | moved[0], known[1] | moved[1]];
        }
        self.selects.extend(&other.selects);
        self.pointers.extend(&other.pointers);
        for (place, values) in &other.telling {
            self.telling.entry(*place).or_insert_with(|| values.clone());
        }
        self.held.extend(other.held.iter().cloned());
        for (place, values) in &other.chosen {
            self.chosen.entry(*place).or_insert_with(|| values.clone());
        }
        self
    }

    pub(super) fn new(
        program: &Program,
        unfolded: &Unfolded<'_>,
        uses: &[MemoryUse],
        ScanOptions { dictionary, is_over, .. }: ScanOptions<'_>,
    ) -> DecisionScan {
        let mut found = DecisionScan::default();
        // For each comparison and place: whether it holds with each word.
        let mut signatures: BTreeSet<(ByteRange, Vec<bool>)> = BTreeSet::new();
        // Many paths have a comparison in common.
        let mut known = HashSet::new();
        let paths = unfolded.paths[0].iter().chain(&unfolded.covered[0]);
        for path in paths.take(PATHS).take_while(|_| !is_over()) {
            for decision in &path.decisions {
                let seen = found.seen.entry(decision.line.into()).or_default();
                let check = decision.check.map(|check| &path.checks[usize::from(check)]);
                let Some(Assumption::Truth(expr, truth)) = check else {
                    seen[usize::from(decision.holds)] = true;
                    continue;
                };
                // Whether the decision holds when the expression is true.
                let same = *truth == decision.holds;
                let Some(sources) = sources(path, unfolded, *expr) else {
                    *seen = [true, true];
                    continue;
                };
                let (parts, reads) = path.exprs.standalone(*expr);
                let read: Vec<ByteRange> = reads.iter().map(|read| sources[read]).collect();
                if !known.insert((decision.line, same, parts, read)) {
                    continue;
                }
                let mut compare = |place: ByteRange, of: &dyn Fn(u16, ByteRange) -> bool| {
                    let held: Vec<bool> = dictionary
                        .iter()
                        .filter_map(|&word| truth_with(path, *expr, program, &sources, of, word))
                        .collect();
                    for holds in &held {
                        seen[usize::from(*holds == same)] = true;
                    }
                    if held.len() == dictionary.len() {
                        signatures.insert((place, held));
                    }
                };
                let places: BTreeSet<ByteRange> = sources.values().copied().collect();
                for &place in &places {
                    compare(place, &|_, at| at == place);
                }
                // Another thread may write between two reads of a place.
                if places.len() < sources.len() {
                    for (&read, &place) in &sources {
                        compare(place, &|other, _| other == read);
                    }
                }
            }
        }
        deciding(&mut found.wanted, &signatures, dictionary);
        let paths = unfolded.paths[0].iter().take(SELECTING).take_while(|_| !is_over());
        let chosen = paths.flat_map(|path| selections(path, unfolded, program, dictionary));
        let chosen: BTreeSet<(ByteRange, Vec<bool>)> = chosen.collect();
        deciding(&mut found.chosen, &chosen, dictionary);
        let results = Results { program, unfolded, uses, dictionary };
        let compared = results.compared(is_over);
        let masked = results.masked(is_over);
        let strong = |place: &ByteRange| results.use_of(*place).is_some_and(|one| !one.plain);
        let mut read: BTreeSet<(ByteRange, Vec<bool>)> =
            chosen.iter().filter(|(place, _)| strong(place)).cloned().collect();
        let all = compared.iter().map(|one| &one.result);
        let hidden = masked.iter().filter(|result| !result.fresh);
        let of_strong = all.chain(hidden).filter(|result| strong(&result.place));
        let of_strong = of_strong.filter(|result| result.differs.contains(&true));
        read.extend(of_strong.map(|result| (result.place, result.differs.clone())));
        deciding(&mut found.wanted, &read, dictionary);
        let decided: BTreeSet<ByteRange> = signatures.iter().map(|(place, _)| *place).collect();
        let selects = read.iter().map(|(place, _)| *place).filter(|place| !decided.contains(place));
        found.selects = selects.collect();
        let all = compared.iter().map(|one| &one.result).chain(&masked);
        found.lead(program, AddressReads::new(unfolded, is_over), &strong);
        found.telling = telling(all.filter(|result| !strong(&result.place)), dictionary);
        for ComparedRead { line, begun, result } in &compared {
            let place = result.place;
            let known = found.moved.entry((*line).into()).or_default();
            let Some(one) = results.use_of(place).filter(|one| !one.promised && !one.constant)
            else {
                *known = [true, true];
                continue;
            };
            let mask = low64(low_bytes(one.place.bytes));
            let written =
                [&found.wanted, &found.telling].into_iter().filter_map(|of| of.get(&place));
            let written: Vec<u64> = written.flatten().copied().collect();
            let initial = low64(results.begins(place).unwrap_or_default());
            let words = dictionary.iter().zip(&result.differs);
            let words = words
                .filter(|(word, _)| written.contains(&(**word & mask)) && **word & mask != initial);
            for differs in words.map(|(_, differs)| *differs).chain([result.fresh]) {
                known[usize::from(differs != *begun)] = true;
            }
        }
        for line in results.unknown() {
            found.moved.insert(line, [true, true]);
        }
        found.held = signatures.into_iter().chain(chosen).collect();
        found
    }

    /// Adds the values with which reads lead elsewhere: addresses for pointers, and small numbers for what is an index or an
    /// offset at an address that other threads hand over.
    fn lead(
        &mut self,
        program: &Program,
        AddressReads { pointers, offsets }: AddressReads,
        strong: &dyn Fn(&ByteRange) -> bool,
    ) {
        let addresses: Vec<u64> =
            program.variables.iter().filter_map(|variable| variable.absolute).collect();
        for place in pointers.iter().filter(|_| !addresses.is_empty()) {
            self.wanted.entry(*place).or_default().extend(&addresses);
        }
        for (place, unit) in offsets.into_iter().filter(|(place, _)| strong(place)) {
            self.wanted.entry(place).or_insert_with(|| vec![unit, 2 * unit]);
        }
        self.pointers = pointers;
    }
}

/// What the result of an operation is if one place has other values.
struct ChangedResult {
    place: ByteRange,
    /// For each word of the dictionary, whether it is another one than with what the place begins with.
    differs: Vec<bool>,
    /// The same for a number that nobody expects.
    fresh: bool,
}

/// The result of a comparison.
struct ComparedRead {
    line: u16,
    /// Whether it holds with what memory begins with.
    begun: bool,
    result: ChangedResult,
}

/// The operations of a thread whose results depend on what it reads.
struct Results<'a> {
    program: &'a Program,
    unfolded: &'a Unfolded<'a>,
    uses: &'a [MemoryUse],
    dictionary: &'a [u64],
}

impl Results<'_> {
    fn use_of(&self, place: ByteRange) -> Option<&MemoryUse> {
        self.uses.iter().find(|one| one.place == place)
    }

    fn begins(&self, place: ByteRange) -> Option<Value> {
        let initial = &self.program.variables[place.memory].initial;
        Some(little_endian(initial.get(place.offset as usize..place.end() as usize)?))
    }

    /// The comparisons, whether they decide a branch, select a value or are one.
    fn compared(&self, is_over: &dyn Fn() -> bool) -> Vec<ComparedRead> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        let paths = self.unfolded.paths[0].iter().chain(&self.unfolded.covered[0]);
        for path in paths.take(PATHS).take_while(|_| !is_over()) {
            for &(line, expr) in &path.compared {
                let Some(sources) = sources(path, self.unfolded, expr) else { continue };
                if !known.insert((line, identity(path, expr, &sources))) {
                    continue;
                }
                let Some(begun) = self.with(path, expr, &sources, &|_, _| None) else { continue };
                all.extend(
                    self.results(path, expr, &sources).into_iter().map(|result| ComparedRead {
                        line,
                        begun: begun != 0,
                        result,
                    }),
                );
            }
        }
        all
    }

    /// The lines of comparisons of which it is not known what they depend on.
    fn unknown(&self) -> BTreeSet<usize> {
        let paths = self.unfolded.paths[0].iter().chain(&self.unfolded.covered[0]);
        let compared = paths.take(PATHS).flat_map(|path| {
            path.compared.iter().map(move |&(line, expr)| (path, usize::from(line), expr))
        });
        let unknown = compared.filter(|(path, _, expr)| {
            let sources = sources(path, self.unfolded, *expr);
            sources
                .is_none_or(|sources| sources.values().any(|place| self.begins(*place).is_none()))
        });
        unknown.map(|(_, line, _)| line).collect()
    }

    /// The operations other than comparisons that have one result for many values.
    fn masked(&self, is_over: &dyn Fn() -> bool) -> Vec<ChangedResult> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        let paths = self.unfolded.paths[0].iter().take(SELECTING);
        for path in paths.take_while(|_| !is_over()) {
            for (expr, node) in (0..).map(ExprId).zip(path.exprs.all()) {
                if !merges(node) {
                    continue;
                }
                let Some(sources) = sources(path, self.unfolded, expr) else { continue };
                if known.insert(identity(path, expr, &sources)) {
                    all.extend(self.results(path, expr, &sources));
                }
            }
        }
        all
    }

    /// What becomes of the value of an expression with other values of each place; and of each read, where another thread
    /// may write between two reads of a place.
    fn results(
        &self,
        path: &Path,
        expr: ExprId,
        sources: &BTreeMap<u16, ByteRange>,
    ) -> Vec<ChangedResult> {
        let places: BTreeSet<ByteRange> = sources.values().copied().collect();
        let mut all = Vec::new();
        let begun = self.with(path, expr, sources, &|_, _| None);
        let mut add = |place: ByteRange, of: &dyn Fn(u16, ByteRange) -> bool| {
            let differs = |word: u64| {
                let value = Value::from(word) & low_bytes(place.bytes);
                let given = |read: u16, at: ByteRange| of(read, at).then_some(value);
                Some(self.with(path, expr, sources, &given)? != begun?)
            };
            let float = self.use_of(place).and_then(|one| one.float);
            let result = self.dictionary.iter().map(|word| differs(*word)).collect();
            let fresh = differs(fresh(0, float, place.bytes));
            if let (Some(differs), Some(fresh)) = (result, fresh) {
                all.push(ChangedResult { place, differs, fresh });
            }
        };
        for &place in &places {
            add(place, &|_, at| at == place);
        }
        if places.len() < sources.len() {
            for (&read, &place) in sources {
                add(place, &|other, _| other == read);
            }
        }
        all
    }

    /// The value of an expression if reads return what is given, and otherwise what their places begin with.
    fn with(
        &self,
        path: &Path,
        expr: ExprId,
        sources: &BTreeMap<u16, ByteRange>,
        given: &dyn Fn(u16, ByteRange) -> Option<Value>,
    ) -> Option<Value> {
        path.exprs.eval(expr, &mut |leaf| {
            let Expr::Read(read) = leaf else { return None };
            let at = *sources.get(&read)?;
            given(read, at).or_else(|| self.begins(at))
        })
    }
}

/// An expression with the places of its reads, which is the same on each path.
fn identity(
    path: &Path,
    expr: ExprId,
    sources: &BTreeMap<u16, ByteRange>,
) -> (Vec<Expr>, Vec<ByteRange>) {
    let (parts, reads) = path.exprs.standalone(expr);
    (parts, reads.iter().map(|read| sources[read]).collect())
}

/// Whether an operation has one result for many values, and is not a comparison: a mask, a shift, a part, a minimum.
fn merges(expr: &Expr) -> bool {
    let Expr::Alu { op, .. } = expr else { return matches!(expr, Expr::Extend { .. }) };
    let of_bits = matches!(op, AluOp::Mov | AluOp::And | AluOp::Or | AluOp::Shl | AluOp::Shr);
    let converts = matches!(op, AluOp::Extract(_) | AluOp::Convert(..));
    of_bits || converts || matches!(op, AluOp::Float(_) | AluOp::Integer(_))
}

/// For each place, the values that change most results, if a number that nobody expects changes fewer.
fn telling<'r>(
    results: impl Iterator<Item = &'r ChangedResult>,
    dictionary: &[u64],
) -> BTreeMap<ByteRange, Vec<u64>> {
    let mut by_place: BTreeMap<ByteRange, Vec<&ChangedResult>> = BTreeMap::new();
    for result in results {
        by_place.entry(result.place).or_default().push(result);
    }
    let mut all = BTreeMap::new();
    for (place, results) in by_place {
        let changed = |at: usize| results.iter().filter(|result| result.differs[at]).count();
        let most = (0..dictionary.len()).map(changed).max().unwrap_or(0);
        if most > results.iter().filter(|result| result.fresh).count() {
            let best = (0..dictionary.len()).filter(|at| changed(*at) == most);
            let mask = low64(low_bytes(place.bytes));
            let mut values: Vec<u64> = best.map(|at| dictionary[at] & mask).collect();
            values.dedup();
            values.truncate(TELLING);
            all.insert(place, values);
        }
    }
    all
}

/// Adds, for each place, the simplest values with which each comparison holds and fails.
fn deciding(
    all: &mut BTreeMap<ByteRange, Vec<u64>>,
    signatures: &BTreeSet<(ByteRange, Vec<bool>)>,
    dictionary: &[u64],
) {
    for (place, held) in signatures {
        let wanted = all.entry(*place).or_default();
        for truth in [false, true] {
            let mask = if place.bytes >= 8 { u64::MAX } else { low64(low_bytes(place.bytes)) };
            let word = |index: &usize| dictionary[*index] & mask;
            let with = |value: u64| dictionary.iter().position(|word| word & mask == value);
            let has = wanted.iter().any(|value| with(*value).is_some_and(|at| held[at] == truth));
            let first = (0..held.len()).find(|index| held[*index] == truth);
            if let Some(value) = first.as_ref().map(word)
                && !has
                && wanted.len() < WANTED
            {
                wanted.push(value);
            }
        }
    }
    for values in all.values_mut() {
        values.sort_unstable();
        values.dedup();
    }
}

/// For each selection and each place on which its condition depends: whether it holds with each word.
fn selections(
    path: &Path,
    unfolded: &Unfolded<'_>,
    program: &Program,
    dictionary: &[u64],
) -> Vec<(ByteRange, Vec<bool>)> {
    let conditions: BTreeSet<ExprId> = path
        .exprs
        .all()
        .iter()
        .filter_map(|expr| match expr {
            Expr::Alu { op: AluOp::Selp, c, .. } => Some(*c),
            Expr::Alu { .. }
            | Expr::Const(_)
            | Expr::Read(_)
            | Expr::Reduced(_)
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        })
        .collect();
    let mut all = Vec::new();
    for condition in conditions {
        let Some(sources) = sources(path, unfolded, condition) else { continue };
        for &place in &sources.values().copied().collect::<BTreeSet<ByteRange>>() {
            let truth = |&word: &u64| {
                let of: &dyn Fn(u16, ByteRange) -> bool = &|_, at| at == place;
                truth_with(path, condition, program, &sources, of, word)
            };
            if let Some(held) = dictionary.iter().map(truth).collect() {
                all.push((place, held));
            }
        }
    }
    all
}

/// The reads that an expression depends on, with their places; `None` if it depends on something else.
fn sources(path: &Path, unfolded: &Unfolded<'_>, expr: ExprId) -> Option<BTreeMap<u16, ByteRange>> {
    let mut all = BTreeMap::new();
    let mut known = true;
    path.exprs.leaves(expr, &mut |leaf| {
        let Expr::Read(read) = leaf else {
            known = false;
            return;
        };
        let access = path.events.get(usize::from(read)).and_then(|event| event.access);
        let place = access.and_then(|access| {
            let object = &unfolded.layout.virtuals[usize::from(access.va.object)];
            matches!(object.space, Space::Global | Space::Shared).then(|| ByteRange {
                memory: usize::from(object.variable.0),
                offset: access.va.start,
                bytes: access.va.length,
            })
        });
        match place {
            Some(place) => _ = all.insert(read, place),
            None => known = false,
        }
    });
    known.then_some(all)
}

/// The reads on which addresses depend.
#[derive(Default)]
struct AddressReads {
    pointers: BTreeSet<ByteRange>,
    /// For each place of an offset or an index: the least number that moves the address by a multiple of 8.
    offsets: BTreeMap<ByteRange, u64>,
}

impl AddressReads {
    fn new(unfolded: &Unfolded<'_>, is_over: &dyn Fn() -> bool) -> AddressReads {
        let mut all = AddressReads::default();
        let paths = unfolded.paths[0].iter().chain(&unfolded.covered[0]);
        for path in paths.take(PATHS).take_while(|_| !is_over()) {
            for check in &path.checks {
                let (Assumption::Equals(address, _) | Assumption::NoneOf(address, _)) = check
                else {
                    continue;
                };
                for (read, place) in sources(path, unfolded, *address).into_iter().flatten() {
                    // Most paths have the same ones.
                    if !all.pointers.contains(&place) && !all.offsets.contains_key(&place) {
                        all.add(path, *address, (read, place));
                    }
                }
            }
        }
        all
    }

    fn add(&mut self, path: &Path, address: ExprId, (read, place): (u16, ByteRange)) {
        let with = |number: u64| {
            let value = path.exprs.eval(address, &mut |leaf| {
                let Expr::Read(other) = leaf else { return None };
                Some(if other == read { number.into() } else { 0 })
            });
            value.map(low64)
        };
        let offset =
            |pointer: u64| Some(with(pointer)?.wrapping_sub(pointer).cast_signed().unsigned_abs());
        let [first, second] = POINTEES.map(offset);
        if place.bytes == 8 && first == second && first.is_some_and(|offset| offset < APART) {
            self.pointers.insert(place);
            return;
        }
        let step = with(2).zip(with(1)).map(|(two, one)| two.wrapping_sub(one));
        if let Some(step @ 1..=APART) = step {
            self.offsets.insert(place, 8_u64.div_ceil(step));
        }
    }
}

/// Whether an expression is true if these reads return this value and the others what their places begin with.
fn truth_with(
    path: &Path,
    expr: ExprId,
    program: &Program,
    sources: &BTreeMap<u16, ByteRange>,
    of: &dyn Fn(u16, ByteRange) -> bool,
    word: u64,
) -> Option<bool> {
    let value = path.exprs.eval(expr, &mut |leaf| {
        let Expr::Read(read) = leaf else { return None };
        let at = *sources.get(&read)?;
        if of(read, at) {
            return Some(Value::from(word) & low_bytes(at.bytes));
        }
        let initial = &program.variables[at.memory].initial;
        Some(little_endian(initial.get(at.offset as usize..at.end() as usize)?))
    });
    value.map(|value| value != 0)
}
