//! The machine's instructions by what they promise, as operations of PTX: what NVIDIA's own lowering
//! implies that each form of an instruction does.
//!
//! The text shows no waits, so each load is granted that its value is there before what follows
//! (reading C10 of the machine). It is a claim about instructions, not a run of the machine.

use litmus::lowering;
use litmus::sass::form;
use model::isa::atom::AtomicOp;
use model::isa::fence::FenceOrder;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::machine::form::{Form, Level, Reach};
use model::scope::Scope;

use super::item::{Done, Item};
use super::ptx::Uncovered;
use super::step::{Act, Order, Place, Step};

/// An instruction, as far as order asks.
enum Token {
    Access(Box<Done>),
    /// Whether it is of all threads' order (`.SC`), and how far it reaches.
    Membar {
        sc: bool,
        scope: Scope,
    },
    Invalidate,
    Step(Step),
}

/// Reads names separated by `;`, operands or not, as the items that they promise.
pub fn items(text: &str) -> Result<Vec<Item>, Uncovered> {
    let tokens = tokens(text)?;
    let mut items = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            Token::Step(step) => items.push(Item::Step(step)),
            Token::Invalidate => items.push(fence(FenceOrder::Acquire, Scope::Sys)),
            Token::Access(done) => access(*done, &mut items),
            Token::Membar { sc, scope: Scope::Cta } => {
                items.push(fence(if sc { FenceOrder::Sc } else { FenceOrder::AcqRel }, Scope::Cta));
            }
            Token::Membar { sc, scope } => match rest.peek() {
                Some(Token::Invalidate) => {
                    rest.next();
                    items.push(fence(if sc { FenceOrder::Sc } else { FenceOrder::AcqRel }, scope));
                }
                Some(Token::Access(done)) if done.op.is_some() && !sc => {
                    let Some(Token::Access(mut done)) = rest.next() else { continue };
                    if matches!(rest.peek(), Some(Token::Invalidate)) {
                        rest.next();
                        // Reading C16 of the machine: one unit.
                        (done.order, done.scope) = (Order::AcqRel, done.scope.min(scope));
                    } else {
                        releases(scope, &mut items);
                    }
                    access(*done, &mut items);
                }
                _ => releases(scope, &mut items),
            },
        }
    }
    Ok(items)
}

fn fence(order: FenceOrder, scope: Scope) -> Item {
    Item::Step(Step::Fence { order, scope })
}

/// A barrier of memory that drops no lines.
fn releases(scope: Scope, items: &mut Vec<Item>) {
    items.push(fence(FenceOrder::Release, scope));
    items.push(fence(FenceOrder::AcqRel, Scope::Cta));
}

fn access(done: Done, items: &mut Vec<Item>) {
    let waits = done.act.shows();
    items.push(Item::Access(Box::new(done)));
    if waits {
        items.push(fence(FenceOrder::Acquire, Scope::Cta));
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Uncovered> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut other_spaces = false;
    for instruction in text.split(';').map(str::trim) {
        let mut words = instruction.split_whitespace();
        // Reading J15 of the design: of one thread, the guard is taken.
        let name = words.find(|word| !word.starts_with('@')).unwrap_or("");
        if name.is_empty() || name == "(none)" {
            continue;
        }
        // The accesses that follow are for addresses of other spaces.
        if name.starts_with("QSPC") {
            other_spaces = true;
            continue;
        }
        let form = form::form(name)
            .map_err(|unknown| Uncovered(format!("`{}` is not covered", unknown.0)))?;
        let scope = |reach: Reach| match reach {
            Reach::Cta => Scope::Cta,
            Reach::Gpu => Scope::Gpu,
            Reach::Sys => Scope::Sys,
        };
        match form {
            // No text shows a wait.
            None | Some(Form::AcquireWait) => {}
            Some(Form::Access(level)) => {
                let done = done(name, level)?;
                let atomic =
                    |token: &Token| matches!(token, Token::Access(done) if done.op.is_some());
                // The path of a generic atomic for local memory.
                let other = done.op.is_none() && tokens.iter().any(atomic);
                if !other && !other_spaces {
                    tokens.push(Token::Access(Box::new(done)));
                }
            }
            Some(Form::Membar(reach)) => {
                tokens.push(Token::Membar { sc: true, scope: scope(reach) });
                if name.ends_with("IVALLD") {
                    tokens.push(Token::Invalidate);
                }
            }
            Some(Form::MembarAll(reach)) => {
                tokens.push(Token::Membar { sc: false, scope: scope(reach) });
            }
            Some(Form::Invalidate) => tokens.push(Token::Invalidate),
            Some(Form::Bar) => tokens.push(Token::Step(Step::Barrier)),
            Some(Form::ClusterArrive) => {
                tokens.push(Token::Step(Step::ClusterArrive { relaxed: true }));
            }
            Some(Form::ClusterWait) => tokens.push(Token::Step(Step::ClusterWait)),
        }
    }
    Ok(begin_of_loops(tokens))
}

/// A load before a compare-exchange is what the loop around it begins with.
fn begin_of_loops(mut tokens: Vec<Token>) -> Vec<Token> {
    let accesses: Vec<usize> =
        (0..tokens.len()).filter(|&index| matches!(tokens[index], Token::Access(_))).collect();
    if let [first, second] = accesses[..] {
        let (Token::Access(load), Token::Access(cas)) = (&tokens[first], &tokens[second]) else {
            return tokens;
        };
        if load.act == Act::Load && cas.op == Some(AtomicOp::Cas) {
            let weak = load.order == Order::Weak;
            if let Token::Access(cas) = &mut tokens[second] {
                cas.looped = Some(weak);
            }
            tokens.remove(first);
        }
    }
    tokens
}

fn done(name: &str, level: Level) -> Result<Done, Uncovered> {
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
    let (order, scope) = match level {
        Level::Weak | Level::ReadOnly => (Order::Weak, Scope::Sys),
        Level::Own if space == SpaceQualifier::Local => (Order::Weak, Scope::Sys),
        Level::Own | Level::Sys => (Order::Relaxed, Scope::Sys),
        Level::Gpu => (Order::Relaxed, Scope::Gpu),
        Level::Sm => (Order::Relaxed, Scope::Cta),
    };
    let atomic = matches!(opcode, "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG");
    let op = atomic.then(|| operation(&modifiers)).flatten();
    if atomic && op.is_none() {
        return Err(Uncovered(format!("the operation of `{name}` is not covered")));
    }
    let (kind, bits) = value(&modifiers);
    let act = match (opcode, op) {
        (_, Some(AtomicOp::Cas)) => Act::CompareExchange(None),
        ("RED" | "REDG", _) => Act::Reduce,
        (_, Some(_)) => Act::Swap,
        _ if opcode.starts_with("ST") => Act::Store,
        _ => Act::Load,
    };
    Ok(Done {
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
        defines: String::new(),
        stores: String::new(),
        read_only: level == Level::ReadOnly && space != SpaceQualifier::Const,
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

/// The kind of the values and their bits, of all elements together.
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
    // `F32x2` and the like: a width beside the element.
    let bits = all.iter().map(|one| one.1).max();
    all.last().map_or((TypeKind::Unsigned, 32), |one| (one.0, bits.unwrap_or(one.1)))
}

/// What the table of a target makes of a step of PTX, by its promises; `None` where it has no row.
pub fn reference(step: Step, sm: u16, shared: bool) -> Option<Vec<Step>> {
    let families = lowering::families().iter();
    let family = families.clone().find(|family| family.table.targets.contains(&sm))?;
    let (opcode, parts): (&str, Vec<&str>) = match step {
        Step::Access { act, at, order, scope } => {
            let space = if shared && at == Place::Y { "shared" } else { "global" };
            let (opcode, operation): (&str, &[&str]) = match act {
                Act::Load => ("ld", &[]),
                Act::Store => ("st", &[]),
                Act::Swap | Act::Overwrite | Act::Reduce => ("atom", &["exch"]),
                Act::CompareExchange(_) | Act::Probe => ("atom", &["cas"]),
            };
            let order: &[&str] = match order {
                Order::Weak | Order::Unordered => &[],
                Order::Relaxed => &["relaxed", scope.name()],
                Order::Acquire => &["acquire", scope.name()],
                Order::Release => &["release", scope.name()],
                Order::AcqRel | Order::SeqCst => &["acq_rel", scope.name()],
            };
            (opcode, [order, &[space], operation, &["b32"]].concat())
        }
        Step::Fence { order, scope } => {
            let order = match order {
                FenceOrder::Acquire => "acquire",
                FenceOrder::Release => "release",
                FenceOrder::AcqRel => "acq_rel",
                FenceOrder::Sc => "sc",
            };
            ("fence", vec![order, scope.name()])
        }
        Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
            return Some(vec![step]);
        }
    };
    let text = family.table.find(sm, opcode, &parts)?;
    let place =
        if let Step::Access { at, act, .. } = step { (at, act) } else { (Place::Y, Act::Load) };
    let items = items(&text).ok()?;
    let steps = items.into_iter().map(|item| match item {
        Item::Access(done) => Step::access(place.1, place.0, done.order, done.scope),
        Item::Step(step) => step,
        Item::Label(_) | Item::Branch { .. } => Step::Guard,
    });
    Some(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::item::steps;
    use crate::lower::step::line;

    fn lifted(text: &str) -> String {
        let items = items(text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        line(&steps(&items, |done, _| done.act))
    }

    #[test]
    fn sequences_promise_what_their_fences_do_together() {
        assert_eq!(
            lifted("LDG.E.STRONG.GPU ; CCTL.IVALL"),
            "ld.relaxed.gpu y; fence.acquire.cta; fence.acquire.sys"
        );
        assert_eq!(lifted("MEMBAR.SC.GPU ; ERRBAR ; CGAERRBAR ; CCTL.IVALL"), "fence.sc.gpu");
        assert_eq!(
            lifted("MEMBAR.ALL.SYS ; ERRBAR ; STG.E.STRONG.SYS"),
            "fence.release.sys; fence.acq_rel.cta; st.relaxed.sys y"
        );
        assert_eq!(
            lifted("MEMBAR.ALL.GPU ; ERRBAR ; ATOMG.E.ADD.STRONG.GPU ; CCTL.IVALL"),
            "swap.acq_rel.gpu y; fence.acquire.cta"
        );
        assert_eq!(lifted("LDS ; ATOMS.CAST.SPIN"), "cas.relaxed.sys y; fence.acquire.cta");
        assert_eq!(
            lifted("@P0 MEMBAR.ALL.CTA; @P0 REDG.E.ADD.STRONG.SM desc[UR4][R2.64], R5"),
            "fence.acq_rel.cta; red.relaxed.cta y"
        );
        assert_eq!(lifted("(none)"), "nothing");
    }

    #[test]
    fn the_tables_lower_what_contexts_are_made_of() {
        let load = Step::access(Act::Load, Place::X, Order::Acquire, Scope::Gpu);
        let steps = reference(load, 90, false).expect("the table has it");
        assert_eq!(line(&steps), "ld.relaxed.gpu x; fence.acquire.cta; fence.acquire.sys");
        let narrow = Step::access(Act::Store, Place::X, Order::Release, Scope::Cluster);
        assert!(reference(narrow, 70, false).is_none());
        for family in lowering::families().iter().filter(|family| family.name != "maxwell") {
            let first = family.table.targets[0];
            // What a question of one target says is said of its family.
            for &sm in &family.table.targets {
                for scope in Scope::ALL {
                    for order in [Order::Weak, Order::Relaxed, Order::Acquire, Order::Release] {
                        for act in [Act::Load, Act::Store, Act::Swap] {
                            let step = Step::access(act, Place::Y, order, scope);
                            assert_eq!(
                                reference(step, sm, false),
                                reference(step, first, false),
                                "{step} on sm_{sm}"
                            );
                        }
                    }
                }
            }
        }
        for sm in [70, 75, 80, 86, 89, 90, 100, 103, 120] {
            for scope in [Scope::Cta, Scope::Gpu, Scope::Sys] {
                for act in [Act::Load, Act::Store, Act::Swap] {
                    let step = Step::access(act, Place::Y, Order::Relaxed, scope);
                    assert!(reference(step, sm, true).is_some(), "{step} on sm_{sm}");
                }
            }
        }
    }
}
