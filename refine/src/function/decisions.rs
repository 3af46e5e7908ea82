//! The comparisons of a thread, and the values of memory with which each holds and fails.

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
use super::scan::{ByteRange, ScanOptions};

/// The maximum number of values of a dictionary, of a place, and of paths that are looked at.
const WORDS: usize = 160;
const WANTED: usize = 5;
const PATHS: usize = 2_000;

/// The maximum number of paths whose selections are looked at.
const SELECTING: usize = 16;

/// What the comparisons of a thread depend on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DecisionScan {
    /// For each place that a comparison depends on: values, the simplest first, with which each such comparison
    /// holds and fails, as far as the dictionary has them.
    pub wanted: BTreeMap<ByteRange, Vec<u64>>,
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
            for operand in line.instruction.operands() {
                let Operand::Imm(value) = operand else { continue };
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
    let mut known = BTreeSet::new();
    all.retain(|value| known.insert(*value));
    all.truncate(WORDS);
    all
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
        self.held.extend(other.held.iter().cloned());
        for (place, values) in &other.chosen {
            self.chosen.entry(*place).or_insert_with(|| values.clone());
        }
        self
    }

    pub(super) fn new(
        program: &Program,
        unfolded: &Unfolded<'_>,
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
                        .filter_map(|&word| truth_with(path, *expr, program, &sources, (of, word)))
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
        found.wanted = deciding(&signatures, dictionary);
        let paths = unfolded.paths[0].iter().take(SELECTING).take_while(|_| !is_over());
        let chosen = paths.flat_map(|path| selections(path, unfolded, program, dictionary));
        let chosen: BTreeSet<(ByteRange, Vec<bool>)> = chosen.collect();
        found.chosen = deciding(&chosen, dictionary);
        found.held = signatures.into_iter().chain(chosen).collect();
        found
    }
}

/// For each place, the simplest values with which each comparison holds and fails.
fn deciding(
    signatures: &BTreeSet<(ByteRange, Vec<bool>)>,
    dictionary: &[u64],
) -> BTreeMap<ByteRange, Vec<u64>> {
    let mut all: BTreeMap<ByteRange, Vec<u64>> = BTreeMap::new();
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
    all
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
                truth_with(path, condition, program, &sources, (of, word))
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
        let access = path.events[usize::from(read)].access;
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

/// Whether an expression is true if these reads return this value and the others what their places begin with.
fn truth_with(
    path: &Path,
    expr: ExprId,
    program: &Program,
    sources: &BTreeMap<u16, ByteRange>,
    (of, word): (&dyn Fn(u16, ByteRange) -> bool, u64),
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
