//! Classifies SASS opcodes by their effect on memory.

use machine::form::{AccessLevel, MachineOp};
use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::scope::Scope;
use sass::form;
use sass::promise::{self, OrderingWord, WordAccess};

use super::item::TargetAccess;
use super::operand::AccessOperands;
use super::ptx_items::UncoveredInstruction;
use super::step::{AccessKind, AccessOrder};

/// An instruction, reduced to the properties that affect order.
pub(super) struct OrderToken {
    pub(super) word: OrderingWord,
    /// The effect of an access, and its promises.
    pub(super) access: Option<Box<TargetAccess>>,
}

impl From<OrderingWord> for OrderToken {
    fn from(word: OrderingWord) -> OrderToken {
        OrderToken { word, access: None }
    }
}

impl OrderToken {
    fn of_access(level: AccessLevel, done: TargetAccess) -> OrderToken {
        let access = if done.op.is_none() {
            WordAccess::Single
        } else if done.act == AccessKind::Reduce {
            WordAccess::Reduction
        } else {
            WordAccess::Atomic
        };
        let word = OrderingWord::Access { level, access };
        OrderToken { word, access: Some(Box::new(done)) }
    }

    /// The text, as a run of the machine shows it.
    pub(super) fn text(&self) -> String {
        let text = match self.word {
            OrderingWord::Access { .. } => self.access.as_ref().map_or("", |done| &done.text),
            OrderingWord::Membar { sc, reach } => {
                let kind = if sc { "SC" } else { "ALL" };
                let scope = promise::reach(reach).name().to_uppercase();
                return format!("MEMBAR.{kind}.{scope}");
            }
            OrderingWord::Invalidate => "CCTL.IVALL",
            OrderingWord::Wait => "a wait for its loads",
            OrderingWord::Bar => "BAR.SYNC",
            OrderingWord::ClusterArrive => "UCGABAR_ARV",
            OrderingWord::ClusterWait => "UCGABAR_WAIT",
        };
        text.to_owned()
    }
}

/// Whether the text shows which instruction waits for which load, as annotations (`&wr=0`, `?WAIT1`) do.
/// Otherwise the value of each load is assumed to be available before the instructions that follow (reading
/// R60).
pub(super) fn shows_waits(text: &str) -> bool {
    text.contains(['&', '?'])
}

/// A guard, as far as it determines whether its instruction executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConstantGuard<'a> {
    /// `@PT`, or no guard.
    Always,
    /// `@!PT`: in no thread.
    Never,
    /// `@!P0`, without its `@`.
    Of(&'a str),
}

impl<'a> ConstantGuard<'a> {
    /// Splits an instruction into its guard and the rest.
    fn split(instruction: &'a str) -> (ConstantGuard<'a>, &'a str) {
        let Some(text) = instruction.strip_prefix('@') else {
            return (ConstantGuard::Always, instruction);
        };
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let guard = match &text[..end] {
            "PT" | "UPT" => ConstantGuard::Always,
            "!PT" | "!UPT" => ConstantGuard::Never,
            other => ConstantGuard::Of(other),
        };
        (guard, text[end..].trim_start())
    }

    /// Whether an operand is the predicate of the guard. Such an instruction may change the predicate.
    fn is_named_in(self, operands: &str) -> bool {
        let ConstantGuard::Of(guard) = self else { return false };
        let predicate = guard.trim_start_matches('!');
        let mut operands = operands.split(|c: char| c == ',' || c.is_whitespace());
        operands.any(|operand| operand.trim_start_matches('!') == predicate)
    }
}

/// The alternative of a generic atomic for an address in local memory, without a `QSPC` test: a plain generic
/// load and a plain generic store of its width, as in the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LocalAtomic<'a> {
    None,
    Loaded(&'a str),
    Stored,
}

impl<'a> LocalAtomic<'a> {
    /// Whether an access belongs to the alternative that follows the preceding atomic.
    fn takes(
        &mut self,
        name: &'a str,
        level: AccessLevel,
        done: &TargetAccess,
        before: &[OrderToken],
    ) -> bool {
        let mut accesses = before.iter().rev().filter_map(|token| token.access.as_ref());
        let atomic = accesses.find(|done| done.op.is_some());
        let generic = |done: &TargetAccess| done.space == SpaceQualifier::Generic;
        let alike = atomic.is_some_and(|atomic| {
            generic(atomic)
                && generic(done)
                && level == AccessLevel::Weak
                && atomic.bytes == done.bytes
        });
        *self = match (*self, done.act) {
            (LocalAtomic::None, AccessKind::Load) if alike => LocalAtomic::Loaded(name),
            (LocalAtomic::Loaded(_), AccessKind::Store) if alike => LocalAtomic::Stored,
            _ => return false,
        };
        true
    }
}

/// Reads instruction names separated by `;`, with or without operands.
pub(super) fn tokens(text: &str) -> Result<Vec<OrderToken>, UncoveredInstruction> {
    read(text).map(|(tokens, _)| tokens)
}

/// The same, and whether accesses for addresses of other state spaces were omitted.
pub(super) fn read(text: &str) -> Result<(Vec<OrderToken>, bool), UncoveredInstruction> {
    let mut tokens: Vec<OrderToken> = Vec::new();
    let (mut other_spaces, mut local, mut left_out) = (false, LocalAtomic::None, false);
    let mut taken: Option<ConstantGuard<'_>> = None;
    for instruction in text.split(';').map(str::trim) {
        let (guard, rest) = ConstantGuard::split(instruction);
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or("");
        if name.is_empty() || name == "(none)" || guard == ConstantGuard::Never {
            continue;
        }
        let before = tokens.len();
        // The accesses that follow are for addresses of other spaces.
        if name.starts_with("QSPC") {
            other_spaces = true;
            continue;
        }
        let forms = form::forms(name)
            .map_err(|unknown| UncoveredInstruction(format!("`{}` is not supported", unknown.0)))?;
        if words.any(|word| word.starts_with("&req=")) {
            tokens.push(OrderingWord::Wait.into());
        }
        for form in forms {
            if form == MachineOp::Bar && !is_barrier_of_all(rest) {
                return Err(UncoveredInstruction(format!(
                    "`{rest}` is not supported: only `BAR.SYNC` of all threads at barrier 0 is"
                )));
            }
            let MachineOp::Access(level) = form else {
                tokens.extend(OrderingWord::of(form, WordAccess::Single).map(OrderToken::from));
                continue;
            };
            let done = done(name, level)?;
            if other_spaces || local.takes(name, level, &done, &tokens) {
                left_out = true;
            } else {
                tokens.push(OrderToken::of_access(level, done));
            }
        }
        // Reading R83: for a single thread the guard is taken, so only one guard can be judged.
        if tokens.len() > before
            && (*taken.get_or_insert(guard) != guard || guard.is_named_in(&rest[name.len()..]))
        {
            return Err(UncoveredInstruction(format!(
                "`{instruction}`: a guarded access is not supported"
            )));
        }
    }
    if let LocalAtomic::Loaded(name) = local {
        return Err(UncoveredInstruction(format!("`{name}` after an atomic is not supported")));
    }
    Ok((begin_of_loops(tokens), left_out))
}

/// Whether a `BAR` waits, at barrier 0 and for all threads, as far as the text shows it.
fn is_barrier_of_all(instruction: &str) -> bool {
    let (name, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
    let operands = operands.split(['&', '?']).next().unwrap_or("").trim();
    let waits = !name.split('.').any(|part| part == "ARV");
    waits && (name.contains(".RED") || matches!(operands, "" | "0x0" | "0"))
}

/// A load before a compare-exchange begins the loop around it.
fn begin_of_loops(mut tokens: Vec<OrderToken>) -> Vec<OrderToken> {
    let mut accesses = tokens.iter_mut().enumerate();
    let mut accesses =
        accesses.by_ref().filter_map(|(at, token)| Some((at, token.access.as_mut()?)));
    let (first, second, more) = (accesses.next(), accesses.next(), accesses.next());
    if let (Some((at, load)), Some((_, cas)), None) = (first, second, more)
        && load.act == AccessKind::Load
        && cas.op == Some(AtomicOp::Cas)
    {
        cas.looped = Some(load.order == AccessOrder::Weak);
        tokens.remove(at);
    }
    tokens
}

fn done(name: &str, level: AccessLevel) -> Result<TargetAccess, UncoveredInstruction> {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap_or("");
    let modifiers: Vec<&str> = parts.collect();
    let has = |wanted: &str| modifiers.contains(&wanted);
    let space = match opcode {
        "LDG" | "STG" | "ATOMG" | "REDG" | "RED" => SpaceQualifier::Global,
        "LDS" | "STS" | "ATOMS" => SpaceQualifier::Shared,
        "LDL" | "STL" => SpaceQualifier::Local,
        "LDC" => SpaceQualifier::Const,
        _ => SpaceQualifier::Generic,
    };
    let atomic = matches!(opcode, "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG");
    let strong = if atomic { promise::scope(level) } else { promise::scope_of_access(level, has) };
    let strong = strong.filter(|_| space != SpaceQualifier::Local);
    let (order, scope) =
        strong.map_or((AccessOrder::Weak, Scope::Sys), |scope| (AccessOrder::Relaxed, scope));
    let op = atomic.then(|| operation(&modifiers)).flatten();
    if atomic && op.is_none() {
        return Err(UncoveredInstruction(format!("the operation of `{name}` is not supported")));
    }
    let (kind, bits) = value(&modifiers);
    let act = match (opcode, op) {
        (_, Some(AtomicOp::Cas)) => AccessKind::CompareExchange(None),
        ("RED" | "REDG", _) => AccessKind::Reduce,
        (_, Some(_)) => AccessKind::Swap,
        _ if opcode.starts_with("ST") => AccessKind::Store,
        _ => AccessKind::Load,
    };
    Ok(TargetAccess {
        text: name.to_owned(),
        act,
        order,
        scope,
        op,
        ty: Type { kind, bits },
        bytes: u32::from(bits) / 8,
        space,
        base: String::new(),
        offset: 0,
        operands: AccessOperands::default(),
        read_only: level == AccessLevel::ReadOnly && space != SpaceQualifier::Const,
        looped: has("SPIN").then_some(true),
    })
}

fn operation(modifiers: &[&str]) -> Option<AtomicOp> {
    modifiers.iter().find_map(|name| {
        Some(match *name {
            "ADD" => AtomicOp::Add,
            "AND" => AtomicOp::And,
            "OR" => AtomicOp::Or,
            "XOR" => AtomicOp::Xor,
            "MIN" => AtomicOp::Min,
            "MAX" => AtomicOp::Max,
            "INC" => AtomicOp::Inc,
            "DEC" => AtomicOp::Dec,
            "EXCH" => AtomicOp::Exch,
            "CAS" | "CAST" => AtomicOp::Cas,
            _ => return None,
        })
    })
}

/// The kind of the values, and the bits of all elements together.
fn value(modifiers: &[&str]) -> (TypeKind, u16) {
    let known = |name: &&str| {
        Some(match *name {
            "U8" => (TypeKind::Unsigned, 8),
            "S8" => (TypeKind::Signed, 8),
            "U16" => (TypeKind::Unsigned, 16),
            "S16" => (TypeKind::Signed, 16),
            "S32" => (TypeKind::Signed, 32),
            "S64" => (TypeKind::Signed, 64),
            "64" | "U64" => (TypeKind::Unsigned, 64),
            "128" => (TypeKind::Unsigned, 128),
            "256" => (TypeKind::Unsigned, 256),
            "F32" => (TypeKind::Float, 32),
            "F64" => (TypeKind::Float, 64),
            "F16x2" | "F16X2" => (TypeKind::FloatPair, 32),
            "BF16_V2" => (TypeKind::BFloatPair, 32),
            _ => return None,
        })
    };
    let all: Vec<(TypeKind, u16)> = modifiers.iter().filter_map(known).collect();
    // `F32x2` and similar modifiers give a width in addition to the element.
    let bits = all.iter().map(|one| one.1).max();
    all.last().map_or((TypeKind::Unsigned, 32), |one| (one.0, bits.unwrap_or(one.1)))
}
