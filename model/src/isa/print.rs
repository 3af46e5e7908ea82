//! Prints instructions as PTX.
//!
//! What is printed reads back as the same instruction. An instruction of PTX has more than its meaning: hints for caches,
//! shapes of matrices, coordinates of tensors. One that may have had such a part is not printed, nor is a step that PTX
//! has no instruction for.

mod arithmetic;
mod asynchronous;

use super::alu::{Alu, AluOp};
use super::atom::Atomic;
use super::bar::{Barrier, BarrierKind, ClusterBarrier, ClusterBarrierKind, Reduction};
use super::cvta::{AddressOp, Cvta};
use super::cxx::Cxx;
use super::fence::ProxyFence;
use super::integer::IntegerOp;
use super::ld::{Load, LoadOrder};
use super::st::{Store, StoreOrder};
use super::warp::{Exchange, ExchangeOp, FloatReduction, LaneReduction, Shuffle};
use super::{Address, Guard, Instruction, Operand, Reg, SpaceQualifier};
use crate::memory::{Proxy, VariableId};
use crate::scope::Scope;

/// What the operands of the instructions of a thread are called.
pub trait OperandNames {
    fn register(&self, register: Reg) -> String;

    /// How many bits a register has.
    fn bits(&self, register: Reg) -> u16;

    fn variable(&self, variable: VariableId) -> String;

    /// The label of a line; `None` where the thread ends.
    fn label(&self, line: usize) -> Option<String>;
}

/// An instruction as PTX, or the untyped dialect, writes it, without a guard; `None` if this does not say all of it.
pub fn print(instruction: &Instruction, names: &dyn OperandNames) -> Option<String> {
    let of = Printer { names };
    match instruction {
        Instruction::Load(load) => of.load(load),
        Instruction::Store(store) => of.store(store),
        Instruction::Atomic(atomic) => of.atomic(atomic),
        Instruction::Fence(fence) => {
            let alias = if fence.aliases { "proxy.alias." } else { "" };
            Some(format!("fence.{alias}{}.{}", fence.order.name(), fence.scope))
        }
        Instruction::ProxyFence(ProxyFence::Alias) => Some("fence.proxy.alias".to_owned()),
        Instruction::ProxyFence(ProxyFence::Proxy(proxy)) => Some(format!("fence.proxy.{proxy}")),
        Instruction::Barrier(barrier) => Some(of.barrier(barrier)),
        Instruction::ClusterBarrier(barrier) => Some(cluster_barrier(*barrier)),
        Instruction::Asynchronous(asynchronous) => of.asynchronous(asynchronous),
        Instruction::Alu(alu) => of.alu(alu),
        Instruction::Cvta(cvta) => Some(of.cvta(cvta)),
        // That of the untyped dialect has a condition.
        Instruction::Branch(branch) => {
            let label = names.label(branch.target);
            let text = label.map_or("ret".to_owned(), |label| format!("bra {label}"));
            branch.condition.is_none().then_some(text)
        }
        Instruction::Unsupported(_) => None,
    }
}

/// The same with the guard before it.
pub fn print_guarded(
    guard: Option<Guard>,
    instruction: &Instruction,
    names: &dyn OperandNames,
) -> Option<String> {
    let text = print(instruction, names)?;
    Some(match guard {
        None => text,
        Some(Guard { predicate, negated }) => {
            let not = if negated { "!" } else { "" };
            format!("@{not}{} {text}", names.register(predicate))
        }
    })
}

/// An operand, other than an address in memory.
pub fn operand(of: Operand, names: &dyn OperandNames) -> String {
    Printer { names }.operand(of)
}

/// An address in memory, in brackets.
pub fn address(of: Address, names: &dyn OperandNames) -> String {
    Printer { names }.address(of)
}

struct Printer<'n> {
    names: &'n dyn OperandNames,
}

/// The parts of a name that are there, each after a dot.
fn dotted<const N: usize>(parts: [&str; N]) -> String {
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(".")
}

/// A state space, if it is not generic.
fn named(space: SpaceQualifier) -> &'static str {
    if space == SpaceQualifier::Generic { "" } else { space.name() }
}

fn scoped(order: &str, scope: Scope) -> String {
    format!("{order}.{scope}")
}

fn load_order(order: LoadOrder) -> String {
    match order {
        LoadOrder::Weak => "weak".to_owned(),
        LoadOrder::Volatile => "volatile".to_owned(),
        LoadOrder::Relaxed(scope) => scoped("relaxed", scope),
        LoadOrder::Acquire(scope) => scoped("acquire", scope),
        LoadOrder::MmioRelaxed => "mmio.relaxed.sys".to_owned(),
        LoadOrder::MmioAcquire => "mmio.acquire.sys".to_owned(),
        LoadOrder::Readonly => "proxy::readonly".to_owned(),
        // The opcode, or a word after the state space.
        LoadOrder::NonCoherent | LoadOrder::Uniform => String::new(),
    }
}

fn store_order(order: StoreOrder) -> String {
    match order {
        StoreOrder::Weak => "weak".to_owned(),
        StoreOrder::Volatile => "volatile".to_owned(),
        StoreOrder::Relaxed(scope) => scoped("relaxed", scope),
        StoreOrder::Release(scope) => scoped("release", scope),
        StoreOrder::MmioRelaxed => "mmio.relaxed.sys".to_owned(),
        StoreOrder::MmioRelease => "mmio.release.sys".to_owned(),
    }
}

fn cluster_barrier(of: ClusterBarrier) -> String {
    let kind = match of.kind {
        ClusterBarrierKind::ArriveRelease => "arrive",
        ClusterBarrierKind::ArriveRelaxed => "arrive.relaxed",
        ClusterBarrierKind::Wait => "wait",
    };
    dotted(["barrier.cluster", kind, if of.aligned { "aligned" } else { "" }])
}

impl Printer<'_> {
    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(register) => self.names.register(register),
            // A negative number has the bits of a large one.
            Operand::Imm(value) if value > i64::MAX as u64 => value.cast_signed().to_string(),
            Operand::Imm(value) => value.to_string(),
            Operand::Address(variable) => self.names.variable(variable),
        }
    }

    fn result(&self, register: Option<Reg>) -> String {
        register.map_or("_".to_owned(), |register| self.names.register(register))
    }

    fn address(&self, address: Address) -> String {
        let base = self.operand(address.base);
        let offset = address.offset;
        if offset == 0 { format!("[{base}]") } else { format!("[{base}+{offset}]") }
    }

    /// A predicate, which may be negated.
    fn predicate(&self, operand: Operand, negated: bool) -> String {
        format!("{}{}", if negated { "!" } else { "" }, self.operand(operand))
    }

    fn list(&self, operands: &[Operand]) -> Vec<String> {
        operands.iter().map(|&operand| self.operand(operand)).collect()
    }

    fn load(&self, load: &Load) -> Option<String> {
        let opcode = match (load.order, load.proxy) {
            (LoadOrder::Uniform, _) => "ldu",
            (_, Proxy::Generic) => "ld",
            (_, Proxy::Texture) => "tld",
            (_, Proxy::Surface) => "suld",
            (_, Proxy::Constant) => "cold",
        };
        let coherent = if load.order == LoadOrder::NonCoherent { "nc" } else { "" };
        let registers: Vec<String> = load.destinations.iter().map(|&to| self.result(to)).collect();
        let (count, registers) = vector(&registers);
        let order = load_order(load.order);
        let name = dotted([opcode, &order, named(load.space), coherent, &count, load.ty.name()]);
        let text = format!("{name} {registers}, {}", self.address(load.address));
        (!load.prefetches && !load.global_only && load.cxx == Cxx::default()).then_some(text)
    }

    fn store(&self, store: &Store) -> Option<String> {
        let opcode = if store.proxy == Proxy::Generic { "st" } else { "sust" };
        let (count, sources) = vector(&self.list(&store.sources));
        let order = store_order(store.order);
        let name = dotted([opcode, &order, named(store.space), &count, store.ty.name()]);
        let text = format!("{name} {}, {sources}", self.address(store.address));
        (!store.global_only && store.cxx == Cxx::default()).then_some(text)
    }

    fn atomic(&self, atomic: &Atomic) -> Option<String> {
        let opcode = if atomic.reduction { "red" } else { "atom" };
        let order = atomic.order.name();
        let (space, op, ty) = (named(atomic.space), atomic.op.name(), atomic.ty.name());
        let name = dotted([opcode, order, atomic.scope.name(), space, op, ty]);
        let result = (!atomic.reduction).then(|| self.result(atomic.destination));
        let address = self.address(atomic.address);
        let operands = result.into_iter().chain([address]).chain(self.list(&atomic.operands));
        let text = format!("{name} {}", operands.collect::<Vec<String>>().join(", "));
        (atomic.cxx == Cxx::default()).then_some(text)
    }

    fn barrier(&self, barrier: &Barrier) -> String {
        let Barrier { kind, id, count, instance, aligned, warp } = barrier;
        let opcode = if *aligned || instance.is_some() { "bar" } else { "barrier" };
        // The untyped dialect has the number of the instruction first, and may leave the others out.
        let id = match instance {
            Some(instance) if *id == Operand::Imm(0) && count.is_none() => instance.to_string(),
            Some(instance) => format!("{instance}, {}", self.operand(*id)),
            None => self.operand(*id),
        };
        let count = count.map_or(String::new(), |count| format!(", {}", self.operand(count)));
        match kind {
            BarrierKind::Exchange(exchange) => self.exchange(exchange, &id),
            BarrierKind::Sync if *warp => format!("bar.warp.sync {id}"),
            BarrierKind::Sync => format!("{opcode}.sync {id}{count}"),
            BarrierKind::Arrive => format!("{opcode}.arrive {id}{count}"),
            BarrierKind::Reduce { op, destination, source, negated } => {
                let op = match op {
                    Reduction::Popc => "popc.u32",
                    Reduction::And => "and.pred",
                    Reduction::Or => "or.pred",
                };
                let to = self.names.register(*destination);
                let source = self.predicate(Operand::Reg(*source), *negated);
                format!("{opcode}.red.{op} {to}, {id}{count}, {source}")
            }
        }
    }

    fn exchange(&self, of: &Exchange, mask: &str) -> String {
        let (to, source) = (self.result(of.result), self.predicate(of.source, of.negated));
        let both = match of.predicate {
            Some(predicate) => format!("{to}|{}", self.names.register(predicate)),
            None => to.clone(),
        };
        let vote = |how: &str| format!("vote.sync.{how} {to}, {source}, {mask}");
        match of.op {
            ExchangeOp::Shuffle(shuffle) => {
                let mode = match shuffle {
                    Shuffle::Up => "up",
                    Shuffle::Down => "down",
                    Shuffle::Butterfly => "bfly",
                    Shuffle::Index => "idx",
                };
                let (lane, clamp) = (self.operand(of.lane), self.operand(of.clamp));
                format!("shfl.sync.{mode}.b32 {both}, {source}, {lane}, {clamp}, {mask}")
            }
            ExchangeOp::All => vote("all.pred"),
            ExchangeOp::Any => vote("any.pred"),
            ExchangeOp::Uniform => vote("uni.pred"),
            ExchangeOp::Ballot => vote("ballot.b32"),
            ExchangeOp::MatchAny(bits) => format!("match.any.sync.b{bits} {to}, {source}, {mask}"),
            ExchangeOp::MatchAll(bits) => {
                format!("match.all.sync.b{bits} {both}, {source}, {mask}")
            }
            ExchangeOp::Reduce(reduction) => {
                format!("redux.sync.{} {to}, {source}, {mask}", lane_reduction(reduction))
            }
            ExchangeOp::Elect => format!("elect.sync {to}|{}, {mask}", self.result(of.predicate)),
            ExchangeOp::Active => format!("activemask.b32 {to}"),
        }
    }

    fn cvta(&self, cvta: &Cvta) -> String {
        let (space, ty) = (named(cvta.space), cvta.ty.name());
        let (to, source) = (self.names.register(cvta.destination), self.operand(cvta.source));
        match cvta.op {
            AddressOp::ToGeneric => format!("cvta.{space}.{ty} {to}, {source}"),
            AddressOp::FromGeneric => format!("cvta.to.{space}.{ty} {to}, {source}"),
            AddressOp::IsIn => format!("isspacep.{space} {to}, {source}"),
            AddressOp::InCta { rank } => {
                let name = dotted(["mapa", space, ty]);
                format!("{name} {to}, {source}, {}", self.operand(rank))
            }
            AddressOp::RankOf => format!("{} {to}, {source}", dotted(["getctarank", space, ty])),
        }
    }

    fn alu(&self, alu: &Alu) -> Option<String> {
        let bits = self.names.bits(alu.destination);
        let first = alu.sources.first().and_then(|operand| operand.register());
        let narrows = first.is_some_and(|of| self.names.bits(of) > alu.ty.bits);
        let (to, mut sources) = (self.names.register(alu.destination), self.list(&alu.sources));
        let name = match (alu.op, &alu.sources[..]) {
            (AluOp::Concat(at), _) if u16::from(at) * 2 == alu.ty.bits => {
                sources = vec![format!("{{{}}}", sources.join(", "))];
                format!("mov.b{}", alu.ty.bits)
            }
            (AluOp::Xor, [_, Operand::Imm(u64::MAX)]) => {
                sources.pop();
                dotted(["not", &arithmetic::logical(alu.ty)])
            }
            (AluOp::Integer(IntegerOp::Lop3(table)), _) => {
                sources.push(table.to_string());
                "lop3.b32".to_owned()
            }
            (AluOp::Mov, _) => arithmetic::moved(alu.ty, bits, narrows)?,
            (op, _) => arithmetic::operation(op, alu.ty)?,
        };
        Some(format!("{name} {to}, {}", sources.join(", ")))
    }
}

/// The qualifier and the operand of several elements, or of one.
fn vector(elements: &[String]) -> (String, String) {
    match elements {
        [one] => (String::new(), one.clone()),
        _ => (format!("v{}", elements.len()), format!("{{{}}}", elements.join(", "))),
    }
}

/// The operation on the values of lanes, and its type.
fn lane_reduction(of: LaneReduction) -> String {
    let name = match of {
        LaneReduction::Add => "add.u32",
        LaneReduction::MinUnsigned => "min.u32",
        LaneReduction::MaxUnsigned => "max.u32",
        LaneReduction::MinSigned => "min.s32",
        LaneReduction::MaxSigned => "max.s32",
        LaneReduction::And => "and.b32",
        LaneReduction::Or => "or.b32",
        LaneReduction::Xor => "xor.b32",
        LaneReduction::Float(FloatReduction { greatest, abs, nan }) => {
            let op = if greatest { "max" } else { "min" };
            let (abs, nan) = (if abs { "abs" } else { "" }, if nan { "NaN" } else { "" });
            return dotted([op, abs, nan, "f32"]);
        }
    };
    name.to_owned()
}
