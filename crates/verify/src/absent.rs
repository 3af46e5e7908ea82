//! Exchanges with lanes that are left out of the test of a launch: the lanes of the test wait for one another, and what they get
//! is not computed.

use std::collections::BTreeSet;

use lift::function::{Function, FunctionLine};
use model::isa::bar::{Barrier, BarrierKind, Reduction};
use model::isa::warp::{Exchange, ExchangeOp, Shuffle};
use model::isa::{Instruction, Line, Operand};

use crate::regions::BranchRegions;
use crate::special::LANES;

/// The name of a value of lanes that are left out, as the test writes it.
const VALUE: &str = "opaque.b32.left_out.";

/// A number that a row has in the place of an operand: readers of functions write constants as such.
pub(crate) fn number(operand: Operand) -> Option<u64> {
    if let Operand::Imm(value) = operand { Some(value) } else { None }
}

/// A lane whose value a lane of the test takes, and which is left out; `None` if there is none, or where it cannot be told.
/// `lanes`: those that are left out, of each warp, which are the last ones.
pub(crate) fn absent_source<'l>(
    shuffle: Shuffle,
    exchange: &Exchange,
    mask: Option<u64>,
    lanes: impl Iterator<Item = &'l BTreeSet<u32>>,
) -> Option<u32> {
    let by = u32::try_from(number(exchange.lane)? % u64::from(LANES)).ok()?;
    let clamp = number(exchange.clamp)?;
    let named = |lane: u32| mask.is_none_or(|mask| mask >> lane & 1 == 1);
    let mut first = None;
    for missing in lanes {
        let of_test = 0..missing.first().copied().unwrap_or(LANES);
        for from in of_test.clone().map(|own| shuffle.source(own, by, clamp).0) {
            // One that the kernel has not, either, has no value.
            let is_known = of_test.contains(&from) || missing.contains(&from) && named(from);
            if !is_known {
                return None;
            }
            if missing.contains(&from) && first.is_none() {
                first = Some(from);
            }
        }
    }
    first
}

/// Whether the source of a shuffle is in range, where that is the same for all lanes of the test.
fn in_range(shuffle: Shuffle, exchange: &Exchange, of_test: u32) -> Option<bool> {
    let by = u32::try_from(number(exchange.lane)? % u64::from(LANES)).ok()?;
    let clamp = number(exchange.clamp)?;
    let found: BTreeSet<bool> = (0..of_test).map(|own| shuffle.source(own, by, clamp).1).collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// An instruction with results in parts, as a row writes it.
struct ExchangeRow<'r> {
    /// `@p1 `
    guard: &'r str,
    name: &'r str,
    destination: &'r str,
    /// The predicate after `|`.
    predicate: Option<&'r str>,
    sources: Vec<&'r str>,
}

impl<'r> ExchangeRow<'r> {
    fn of(text: &'r str) -> Option<ExchangeRow<'r>> {
        let begin = if text.starts_with('@') { text.find(' ')? + 1 } else { 0 };
        let (guard, instruction) = text.split_at(begin);
        let (name, operands) = instruction.split_once(' ')?;
        let mut operands = operands.split(',').map(str::trim);
        let results = operands.next()?;
        let (destination, predicate) = match results.split_once('|') {
            Some((destination, predicate)) => (destination.trim(), Some(predicate.trim())),
            None => (results, None),
        };
        let predicate = predicate.filter(|name| *name != "_");
        Some(ExchangeRow { guard, name, destination, predicate, sources: operands.collect() })
    }
}

/// What a row is instead where lanes, or threads, are left out: what the threads of the test do together, and values of which
/// nothing is known. `of`: `lane16`.
pub(crate) struct ForgottenValue<'f> {
    pub(crate) of: String,
    /// A register that the function has not.
    pub(crate) spare: &'f str,
    /// The most lanes of a warp that are in the test.
    pub(crate) of_test: u32,
    /// Whether each thread comes to the row once, whatever happens: lanes that only take their own values there need not wait for one
    /// another.
    pub(crate) always: bool,
}

impl ForgottenValue<'_> {
    /// The rows, joined by line breaks; `None` if the row is not understood. What may be the guard is written last.
    pub(crate) fn rows(&self, row: &FunctionLine, barrier: &Barrier) -> Option<String> {
        let ExchangeRow { guard, name, destination, predicate, sources } =
            ExchangeRow::of(&row.text)?;
        let spare = self.spare;
        let of_lanes = name.split('.').next()?.to_owned() + ".sync";
        let value = if destination == "_" { spare } else { destination };
        let sources = |from: usize| sources.get(from..).map(|all| all.join(", "));
        let (together, kind, value, predicate) = match &barrier.kind {
            BarrierKind::Exchange(exchange) => match exchange.op {
                ExchangeOp::Shuffle(_) => {
                    // Its own value.
                    let (own, mask) = (sources(0)?, sources(3)?);
                    let own = own.split(',').next()?;
                    let together = format!("shfl.sync.bfly.b32 {value}, {own}, 0, 31, {mask}");
                    (together, of_lanes, value, predicate)
                }
                ExchangeOp::All | ExchangeOp::Any | ExchangeOp::Uniform => {
                    let together = format!("vote.sync.ballot.b32 {spare}, {}", sources(0)?);
                    (together, of_lanes, spare, Some(destination))
                }
                ExchangeOp::Ballot
                | ExchangeOp::MatchAny(_)
                | ExchangeOp::MatchAll(_)
                | ExchangeOp::Reduce(_) => {
                    let together = format!("{name} {value}, {}", sources(0)?);
                    (together, of_lanes, value, predicate)
                }
                ExchangeOp::Elect | ExchangeOp::Active => return None,
            },
            BarrierKind::Reduce { op, .. } => {
                let first = name.split('.').next()?;
                let (value, predicate) = match op {
                    Reduction::Popc => (value, None),
                    Reduction::And | Reduction::Or => (spare, Some(destination)),
                };
                let name = name.replace(".and.pred", ".popc.u32").replace(".or.pred", ".popc.u32");
                let together = format!("{name} {value}, {}", sources(0)?);
                (together, format!("{first}.red"), value, predicate)
            }
            BarrierKind::Arrive | BarrierKind::Sync => return None,
        };
        let uncomputed = |from: &str| format!("{VALUE}{}.{kind} {value}, {from}", self.of);
        let is_shuffle = matches!(
            &barrier.kind,
            BarrierKind::Exchange(Exchange { op: ExchangeOp::Shuffle(_), .. })
        );
        let all = (1_u64 << self.of_test.min(LANES)) - 1;
        let in_mask = number(barrier.id).is_some_and(|mask| mask & all == all);
        let mut rows = if is_shuffle && self.always && in_mask {
            vec![uncomputed(sources(0)?.split(',').next()?)]
        } else {
            vec![together, uncomputed(value)]
        };
        rows.extend(predicate.map(|predicate| match self.range_of(barrier) {
            Some(in_range) => format!("mov.pred {predicate}, {}", u8::from(in_range)),
            None => format!("setp.ne.u32 {predicate}, {value}, 0"),
        }));
        Some(rows.iter().map(|row| format!("{guard}{row}")).collect::<Vec<String>>().join("\n"))
    }

    fn range_of(&self, barrier: &Barrier) -> Option<bool> {
        let BarrierKind::Exchange(exchange) = &barrier.kind else { return None };
        let ExchangeOp::Shuffle(shuffle) = exchange.op else { return None };
        in_range(shuffle, exchange, self.of_test)
    }
}

/// For each row of a function, whether each thread comes to it once, whatever happens.
pub(crate) fn always_executed(function: &Function) -> Vec<bool> {
    let lines: Vec<Line> =
        function.rows.iter().flat_map(|row| &row.lines).map(|step| step.line.clone()).collect();
    let always = BranchRegions::new(&lines).always(&lines);
    let mut next = 0;
    let is_always = |row: &FunctionLine| {
        let own = next..next + row.lines.len();
        next = own.end;
        own.clone().all(|line| always.contains(&line) && lines[line].guard.is_none())
    };
    function.rows.iter().map(is_always).collect()
}

/// The name for a register that the function has not.
pub(crate) fn spare_register(function: &Function) -> String {
    let mut name = "left_out".to_owned();
    while function.registers.iter().any(|(known, _)| *known == name) {
        name.push('_');
    }
    name
}

/// The barriers of a row.
pub(crate) fn barriers(row: &FunctionLine) -> Vec<Barrier> {
    let of = |instruction: &Instruction| {
        if let Instruction::Barrier(barrier) = instruction { Some(barrier.clone()) } else { None }
    };
    row.lines.iter().filter_map(|step| of(&step.line.instruction)).collect()
}

/// Of the name of a value of lanes that are left out, which one is, and the instruction: `lane 16` and `shfl.sync`.
pub(crate) fn left_out_value(name: &str) -> Option<(String, &str)> {
    let (of, instruction) = name.strip_prefix(VALUE)?.split_once('.')?;
    let digits = of.find(|c: char| c.is_ascii_digit())?;
    Some((format!("{} {}", &of[..digits], &of[digits..]), instruction))
}
