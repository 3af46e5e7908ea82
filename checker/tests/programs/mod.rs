//! Programs made without a parser.

use std::fmt::Write as _;

use model::isa::alu::{Alu, AluOp, Comparison};
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrier};
use model::isa::fence::{Fence, FenceOrder, ProxyFence};
use model::isa::ld::{Load, LoadOrder};
use model::isa::st::{Store, StoreOrder};
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Alias, Proxy, Space, Variable, VariableId};
use model::program::{Initial, Observed, Program, Register, Thread, ThreadId};
use model::scope::{Placement, Scope};

pub(crate) const X: u16 = 0;
pub(crate) const Y: u16 = 1;
/// A second virtual address of x.
pub(crate) const ALIAS: u16 = 2;

/// A program as far as it has been written.
#[derive(Default)]
pub(crate) struct Write {
    program: Program,
}

impl Write {
    /// Threads of one CTA each, on one GPU, over x, y and an alias of x.
    pub(crate) fn new(threads: usize) -> Write {
        Write::placed((0..threads).map(|thread| Placement {
            gpu: 0,
            cluster: None,
            cta: u32::try_from(thread).expect("few threads"),
        }))
    }

    pub(crate) fn placed(placements: impl IntoIterator<Item = Placement>) -> Write {
        let variable = |name: &str, alias: Option<Alias>| Variable {
            name: name.to_owned(),
            space: Space::Global,
            initial: if alias.is_some() { Vec::new() } else { vec![0; 4] },
            declared: true,
            alias,
        };
        let alias = Alias { of: VariableId(X), proxy: Proxy::Generic };
        let threads = placements.into_iter().enumerate().map(|(index, placement)| Thread {
            name: format!("P{index}"),
            placement,
            registers: Vec::new(),
            lines: Vec::new(),
        });
        Write {
            program: Program {
                threads: threads.collect(),
                variables: vec![
                    variable("x", None),
                    variable("y", None),
                    variable("z", Some(alias)),
                ],
                observed: Vec::new(),
                constants: Vec::new(),
            },
        }
    }

    pub(crate) fn register(&mut self, thread: usize, bits: u16) -> Reg {
        let registers = &mut self.program.threads[thread].registers;
        let index = u16::try_from(registers.len()).expect("few registers");
        registers.push(Register { name: format!("r{index}"), initial: Initial::Value(0), bits });
        Reg(index)
    }

    pub(crate) fn line(&mut self, thread: usize, guard: Option<Guard>, instruction: Instruction) {
        let text = format!("{guard:?} {instruction:?}");
        self.program.threads[thread].lines.push(Line { guard, instruction, text });
    }

    pub(crate) fn load(&mut self, thread: usize, order: LoadOrder, variable: u16) -> Reg {
        let register = self.register(thread, 32);
        self.line(thread, None, load(order, Type::U32, variable, 0, register));
        self.observe(thread, register);
        register
    }

    pub(crate) fn store(&mut self, thread: usize, order: StoreOrder, variable: u16, value: u64) {
        let instruction = store(order, Type::U32, variable, 0, Operand::Imm(value));
        self.line(thread, None, instruction);
    }

    pub(crate) fn atomic(&mut self, thread: usize, op: AtomicOp, variable: u16, operands: &[u64]) {
        let register = self.register(thread, 32);
        let operands = operands.iter().map(|&value| Operand::Imm(value)).collect();
        let atomic = atomic(
            (op, AtomicOrder::Relaxed, Scope::Gpu),
            Type::U32,
            (variable, 0),
            Some(register),
            operands,
        );
        self.line(thread, None, atomic);
        self.observe(thread, register);
    }

    pub(crate) fn fence(&mut self, thread: usize, order: FenceOrder, scope: Scope) {
        self.line(thread, None, Instruction::Fence(Fence { order, scope }));
    }

    pub(crate) fn barrier(&mut self, thread: usize) {
        self.line(thread, None, barrier(0));
    }

    pub(crate) fn observe(&mut self, thread: usize, register: Reg) {
        let thread = ThreadId(u8::try_from(thread).expect("few threads"));
        self.program.observed.push(Observed::Register { thread, register });
    }

    pub(crate) fn observe_memory(&mut self, variable: u16) {
        self.program.observed.push(Observed::Memory {
            variable: VariableId(variable),
            thread: ThreadId(0),
            offset: 0,
            length: 4,
        });
    }

    pub(crate) fn finish(self) -> Program {
        self.program
    }
}

fn address(variable: u16, offset: i64) -> Address {
    Address { base: Operand::Address(VariableId(variable)), offset }
}

fn load(order: LoadOrder, ty: Type, variable: u16, offset: i64, into: Reg) -> Instruction {
    Instruction::Load(Load {
        order,
        space: SpaceQualifier::Generic,
        proxy: Proxy::Generic,
        ty,
        destinations: vec![Some(into)],
        address: address(variable, offset),
    })
}

fn store(order: StoreOrder, ty: Type, variable: u16, offset: i64, value: Operand) -> Instruction {
    Instruction::Store(Store {
        order,
        space: SpaceQualifier::Generic,
        proxy: Proxy::Generic,
        ty,
        sources: vec![value],
        address: address(variable, offset),
    })
}

fn atomic(
    (op, order, scope): (AtomicOp, AtomicOrder, Scope),
    ty: Type,
    (variable, offset): (u16, i64),
    destination: Option<Reg>,
    operands: Vec<Operand>,
) -> Instruction {
    Instruction::Atomic(Atomic {
        order,
        scope,
        space: SpaceQualifier::Generic,
        op,
        ty,
        reduction: destination.is_none(),
        destination,
        address: address(variable, offset),
        operands,
    })
}

fn barrier(id: u64) -> Instruction {
    Instruction::Barrier(Barrier {
        kind: BarrierKind::Sync,
        id: Operand::Imm(id),
        count: None,
        instance: None,
    })
}

/// For a message.
pub(crate) fn text(program: &Program) -> String {
    let mut text = String::new();
    for thread in &program.threads {
        let _ = writeln!(text, "{} at {}", thread.name, thread.placement);
        for line in &thread.lines {
            let _ = writeln!(text, "    {}", line.text);
        }
    }
    text + &format!("observed {:?}\n", program.observed)
}

/// Store buffering with a fence between, on so many threads.
pub(crate) fn store_buffering(threads: usize, fence: Option<FenceOrder>) -> Program {
    let mut write = Write::new(threads);
    for thread in 3..threads {
        let mut more = write.program.variables[usize::from(Y)].clone();
        more.name = format!("y{thread}");
        write.program.variables.push(more);
    }
    let variable = |thread: usize| match thread % threads {
        0 => X,
        1 => Y,
        other => u16::try_from(other + 1).expect("few threads"),
    };
    if threads > 2 {
        let mut more = write.program.variables[usize::from(Y)].clone();
        more.name += "2";
        write.program.variables.push(more);
    }
    for thread in 0..threads {
        write.store(thread, StoreOrder::Relaxed(Scope::Gpu), variable(thread), 1);
        if let Some(order) = fence {
            write.fence(thread, order, Scope::Gpu);
        }
        write.load(thread, LoadOrder::Relaxed(Scope::Gpu), variable(thread + 1));
    }
    write.finish()
}

/// Two orders of the fences are consistent, and only one of them orders the writes.
pub(crate) fn fences_and_last_writes() -> Program {
    let mut write = Write::new(2);
    write.store(0, StoreOrder::Weak, X, 1);
    write.fence(0, FenceOrder::Sc, Scope::Sys);
    write.fence(1, FenceOrder::Sc, Scope::Sys);
    write.store(1, StoreOrder::Weak, X, 2);
    write.observe_memory(X);
    write.finish()
}

/// The classic shapes, weak and strong.
pub(crate) fn classics() -> Vec<(String, Program)> {
    use LoadOrder as L;
    use StoreOrder as S;
    let gpu = Scope::Gpu;
    let mut list = Vec::new();
    let orders = [
        ("weak", L::Weak, S::Weak),
        ("relaxed", L::Relaxed(gpu), S::Relaxed(gpu)),
        ("volatile", L::Volatile, S::Volatile),
        ("acquire", L::Acquire(gpu), S::Release(gpu)),
        ("cta", L::Acquire(Scope::Cta), S::Release(Scope::Cta)),
    ];
    for (order, ld, st) in orders {
        let mut add = |name: &str, write: Write| {
            list.push((format!("{name}+{order}"), write.finish()));
        };
        let mut mp = Write::new(2);
        mp.store(0, S::Weak, X, 1);
        mp.store(0, st, Y, 1);
        mp.load(1, ld, Y);
        mp.load(1, L::Weak, X);
        mp.observe_memory(X);
        add("MP", mp);
        let mut lb = Write::new(2);
        lb.load(0, ld, X);
        lb.store(0, st, Y, 1);
        lb.load(1, ld, Y);
        lb.store(1, st, X, 1);
        add("LB", lb);
        let mut corr = Write::new(2);
        corr.store(0, st, X, 1);
        corr.store(0, st, X, 2);
        corr.load(1, ld, X);
        corr.load(1, ld, X);
        corr.observe_memory(X);
        add("CoRR", corr);
        let mut iriw = Write::new(4);
        iriw.store(0, st, X, 1);
        iriw.store(1, st, Y, 1);
        iriw.load(2, ld, X);
        iriw.load(2, ld, Y);
        iriw.load(3, ld, Y);
        iriw.load(3, ld, X);
        add("IRIW", iriw);
        let mut twice = Write::new(2);
        twice.store(0, st, X, 1);
        twice.store(0, st, Y, 2);
        twice.store(1, st, Y, 1);
        twice.store(1, st, X, 2);
        twice.observe_memory(X);
        twice.observe_memory(Y);
        add("2+2W", twice);
        let mut shared = Write::placed([Placement::default(); 2]);
        shared.store(0, st, X, 1);
        shared.barrier(0);
        shared.barrier(1);
        shared.load(1, ld, X);
        add("bar", shared);
        let mut alias = Write::new(1);
        alias.store(0, st, X, 1);
        alias.load(0, ld, ALIAS);
        add("alias", alias);
    }
    for (name, op, operands) in [
        ("exch", AtomicOp::Exch, &[7][..]),
        ("cas", AtomicOp::Cas, &[0, 7]),
        ("add", AtomicOp::Add, &[3]),
        ("inc", AtomicOp::Inc, &[1]),
    ] {
        let mut write = Write::new(3);
        for thread in 0..3 {
            write.atomic(thread, op, X, operands);
        }
        write.observe_memory(X);
        list.push((name.to_owned(), write.finish()));
    }
    list.push(("fences and last writes".to_owned(), fences_and_last_writes()));
    for threads in 2..5 {
        for order in [FenceOrder::Sc, FenceOrder::AcqRel] {
            let name = format!("SB{threads}+fence {order:?}");
            list.push((name, store_buffering(threads, Some(order))));
        }
    }
    list
}

/// Xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let len = u64::try_from(from.len()).expect("short");
        from[usize::try_from(self.below(len)).expect("small")]
    }
}

/// A small random program; accesses are of one size, but for one program in three.
pub(crate) fn random(random: &mut Random) -> Program {
    let threads = usize::try_from(2 + random.below(2)).expect("small");
    let clusters = random.one_in(3);
    let placements: Vec<Placement> = (0..threads)
        .map(|_| Placement {
            gpu: u32::from(random.one_in(4)),
            cluster: clusters.then(|| u32::from(random.one_in(3))),
            cta: u32::from(random.one_in(2)),
        })
        .collect();
    let mut write = Write::placed(placements);
    let mut style = Style {
        mixed: random.one_in(3),
        variables: if random.one_in(6) { vec![X, ALIAS] } else { vec![X, X, Y] },
        barriers: random.one_in(4),
        strong: random.one_in(2),
        next: 0,
    };
    let most = if style.mixed { 3 } else { 4 };
    for thread in 0..threads {
        let mut registers = Vec::new();
        for _ in 0..=random.below(most) {
            instruction(random, &mut write, &mut style, thread, &mut registers);
        }
        let observed: Vec<Reg> = registers;
        for register in observed {
            if !random.one_in(5) {
                write.observe(thread, register);
            }
        }
    }
    for variable in [X, Y] {
        if random.one_in(2) {
            write.observe_memory(variable);
        }
    }
    write.finish()
}

struct Style {
    mixed: bool,
    variables: Vec<u16>,
    barriers: bool,
    strong: bool,
    next: u64,
}

fn scope(random: &mut Random) -> Scope {
    random.pick(&[Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Gpu, Scope::Sys, Scope::Sys])
}

fn place(random: &mut Random, style: &Style) -> (Type, u16, i64) {
    let kind = TypeKind::Unsigned;
    let bits = if style.mixed { random.pick(&[8, 16, 32, 32]) } else { 32 };
    let ty = Type { kind, bits };
    let variable = random.pick(&style.variables);
    let offset = i64::try_from(random.below(u64::from(4 / ty.bytes()).min(2))).expect("small");
    (ty, variable, offset * i64::from(ty.bytes()))
}

fn instruction(
    random: &mut Random,
    write: &mut Write,
    style: &mut Style,
    thread: usize,
    registers: &mut Vec<Reg>,
) {
    let mut guard = None;
    if let Some(&last) = registers.last()
        && random.one_in(4)
    {
        let predicate = write.register(thread, 1);
        let comparison = random.pick(&[Comparison::Eq, Comparison::Ne, Comparison::Lt]);
        let setp = Alu {
            op: AluOp::Setp(comparison),
            ty: Type::U32,
            destination: predicate,
            sources: vec![Operand::Reg(last), Operand::Imm(random.below(3))],
        };
        write.line(thread, None, Instruction::Alu(setp));
        guard = Some(Guard { predicate, negated: random.one_in(3) });
    }
    let scope = scope(random);
    let (ty, variable, offset) = place(random, style);
    style.next += 1;
    let value = match registers.last() {
        Some(&last) if random.one_in(4) => Operand::Reg(last),
        _ if random.one_in(4) => Operand::Imm(1),
        _ if style.mixed => Operand::Imm(style.next * 0x0101_0101),
        _ => Operand::Imm(style.next),
    };
    match random.below(20) {
        0..7 => {
            let orders = [
                LoadOrder::Weak,
                LoadOrder::Relaxed(scope),
                LoadOrder::Acquire(scope),
                LoadOrder::Volatile,
            ];
            let order = if style.strong { random.pick(&orders[1..]) } else { random.pick(&orders) };
            let into = write.register(thread, ty.bits);
            write.line(thread, guard, load(order, ty, variable, offset, into));
            registers.push(into);
        }
        7..13 => {
            let orders = [
                StoreOrder::Weak,
                StoreOrder::Relaxed(scope),
                StoreOrder::Release(scope),
                StoreOrder::Volatile,
            ];
            let order = if style.strong { random.pick(&orders[1..]) } else { random.pick(&orders) };
            write.line(thread, guard, store(order, ty, variable, offset, value));
        }
        13..16 => {
            let op = random.pick(&[
                AtomicOp::Add,
                AtomicOp::Exch,
                AtomicOp::Cas,
                AtomicOp::Cas,
                AtomicOp::Max,
                AtomicOp::Inc,
            ]);
            let order = random.pick(&[
                AtomicOrder::Relaxed,
                AtomicOrder::Acquire,
                AtomicOrder::Release,
                AtomicOrder::AcqRel,
            ]);
            let ty = if ty.bits < 32 { Type { bits: 16, ..ty } } else { ty };
            let offset = offset & !1;
            let mut operands = vec![value];
            let into = if op == AtomicOp::Cas {
                operands.insert(0, Operand::Imm(random.below(3)));
                Some(write.register(thread, ty.bits))
            } else {
                (!random.one_in(3)).then(|| write.register(thread, ty.bits))
            };
            let what = (op, order, scope);
            write.line(thread, guard, atomic(what, ty, (variable, offset), into, operands));
            registers.extend(into);
        }
        16..19 if style.barriers => {
            let instruction = match random.below(4) {
                0 => Instruction::ClusterBarrier(random.pick(&[
                    ClusterBarrier::ArriveRelease,
                    ClusterBarrier::ArriveRelaxed,
                    ClusterBarrier::Wait,
                ])),
                _ => barrier(0),
            };
            write.line(thread, None, instruction);
        }
        16..19 => {
            let order = random.pick(&[
                FenceOrder::Sc,
                FenceOrder::Sc,
                FenceOrder::AcqRel,
                FenceOrder::Acquire,
                FenceOrder::Release,
            ]);
            write.line(thread, guard, Instruction::Fence(Fence { order, scope }));
        }
        _ => write.line(thread, None, Instruction::ProxyFence(ProxyFence::Alias)),
    }
}
