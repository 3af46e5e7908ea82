//! Static properties of a thread's code.

use fixedbitset::FixedBitSet;

use super::form::{AccessLevel, AsyncOp, LoweredInstruction, MachineOp, MembarScope};
use super::{Cell, MemoryPlace};
use execution::constants::Constants;
use execution::layout::Layout;
use execution::live;
use model::isa::asynchronous::Asynchronous;
use model::isa::{Address, Instruction, Operand, Reg, Type, TypeKind};
use model::program::{Program, ThreadId};

/// What an access does when it performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SiteKind {
    Read,
    Write,
    Atomic,
}

/// One access of a thread's code: a scalar, or an element of a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) kind: SiteKind,
    pub(super) level: AccessLevel,
    /// How far an `acq_rel` atomic is one unit with its fences.
    pub(super) unit: Option<MembarScope>,
    pub(super) ty: Type,
    /// How many cells it has.
    pub(super) cells: u8,
    /// Whether a value comes back.
    pub(super) returns: bool,
    pub(super) register: Option<Reg>,
    /// Whether it is of a copy, or of an arrival after copies.
    pub(super) copies: bool,
}

impl Site {
    pub(super) fn is_store(&self) -> bool {
        self.kind != SiteKind::Read
    }

    pub(super) fn is_cached(&self) -> bool {
        self.kind == SiteKind::Read && matches!(self.level, AccessLevel::Weak | AccessLevel::Sm)
    }
}

/// Cells that code may still access; a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Future {
    /// By loads that may find a line of L1.
    pub(super) cached: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    /// By loads of the read-only path, which wait in no queue.
    pub(super) loose: u64,
    /// By bulk copies, which wait in no queue of their SM.
    pub(super) direct: u64,
}

impl Future {
    fn or(self, other: Future) -> Future {
        Future {
            cached: self.cached | other.cached,
            read: self.read | other.read,
            written: self.written | other.written,
            loose: self.loose | other.loose,
            direct: self.direct | other.direct,
        }
    }

    pub(super) fn touched(self) -> u64 {
        self.read | self.written | self.loose
    }
}

/// A thread's code, looked through.
#[derive(Clone, Debug)]
pub(super) struct ThreadCode {
    pub(super) sites: Vec<Site>,
    /// By line: its first site.
    pub(super) first: Vec<u16>,
    /// By line: what it and all that may follow access; and one more for the end.
    pub(super) ahead: Vec<Future>,
    /// The same without the line itself.
    pub(super) after: Vec<Future>,
    /// By line, and one more: registers whose value matters.
    pub(super) live: Vec<FixedBitSet>,
    /// Whether some branch goes back.
    pub(super) loops: bool,
}

impl ThreadCode {
    pub(super) fn new(
        program: &Program,
        layout: &Layout,
        cells: &[Cell],
        thread: ThreadId,
        lowered: &[LoweredInstruction],
        units: bool,
    ) -> ThreadCode {
        let code = &program.threads[usize::from(thread.0)].lines;
        let (mut sites, mut first) = (Vec::new(), Vec::new());
        let mut own = Vec::new();
        for (index, line) in code.iter().enumerate() {
            first.push(u16::try_from(sites.len()).unwrap_or(u16::MAX));
            let level = lowered[index].forms.iter().find_map(|form| {
                if let MachineOp::Access(level) = form { Some(*level) } else { None }
            });
            let level = level.unwrap_or(AccessLevel::Weak);
            let grain = cells.iter().map(|cell| cell.length).max().unwrap_or(1);
            let before = sites.len();
            let unit = lowered[index].fused.filter(|_| units);
            if line.instruction.as_asynchronous().is_some() {
                let mask = |address| mask(program, layout, cells, thread, address);
                own.push(push_asynchronous(
                    &line.instruction,
                    &lowered[index],
                    grain,
                    &mut sites,
                    mask,
                ));
                continue;
            }
            push_sites(&line.instruction, level, unit, grain, &mut sites);
            let address = line.instruction.access().map(|(address, ..)| address);
            let where_ = address.map_or(0, |address| mask(program, layout, cells, thread, address));
            own.push(sites[before..].iter().fold(Future::default(), |all, site| {
                all.or(Future {
                    cached: if site.is_cached() { where_ } else { 0 },
                    read: if site.kind == SiteKind::Write { 0 } else { where_ },
                    written: if site.is_store() { where_ } else { 0 },
                    loose: if site.level == AccessLevel::ReadOnly { where_ } else { 0 },
                    direct: 0,
                })
            }));
        }
        let next = |index: usize| -> [Option<usize>; 2] {
            if let Instruction::Branch(branch) = &code[index].instruction {
                let always = branch.condition.is_none() && code[index].guard.is_none();
                [Some(branch.target.min(code.len())), (!always).then_some(index + 1)]
            } else {
                [Some(index + 1), None]
            }
        };
        let loops = (0..code.len()).any(|i| next(i).iter().flatten().any(|target| *target <= i));
        let (ahead, after) = futures(&own, next);
        let live = live::before(program, &Constants::new(program, layout, thread), thread);
        ThreadCode { sites, first, ahead, after, live, loops }
    }

    /// What a thread at this line may still access, having done with its access or not.
    pub(super) fn future(&self, line: u16, done: bool) -> Future {
        let line = usize::from(line).min(self.after.len());
        if done && line < self.after.len() { self.after[line] } else { self.ahead[line] }
    }

    pub(super) fn sites_of(&self, line: u16) -> std::ops::Range<usize> {
        let line = usize::from(line);
        let end = self.first.get(line + 1).map_or(self.sites.len(), |next| usize::from(*next));
        usize::from(self.first[line])..end
    }
}

fn push_sites(
    instruction: &Instruction,
    level: AccessLevel,
    unit: Option<MembarScope>,
    grain: u32,
    sites: &mut Vec<Site>,
) {
    let Some((_, ty, elements)) = instruction.access() else { return };
    let cells = u8::try_from(ty.bytes() / grain).unwrap_or(1).max(1);
    for element in 0..elements {
        let (kind, returns, register) = if let Instruction::Load(load) = instruction {
            (SiteKind::Read, true, load.destinations[element])
        } else if let Instruction::Atomic(atomic) = instruction {
            (SiteKind::Atomic, !atomic.reduction, atomic.destination)
        } else {
            (SiteKind::Write, false, None)
        };
        let copies = false;
        sites.push(Site { kind, level, unit, ty, cells, returns, register, copies });
    }
}

/// The site of a copy or of an arrival after copies, and the cells that it accesses.
fn push_asynchronous(
    of: &Instruction,
    lowered: &LoweredInstruction,
    grain: u32,
    sites: &mut Vec<Site>,
    mask: impl Fn(Address) -> u64,
) -> Future {
    let level = lowered.forms.iter().find_map(|form| {
        if let MachineOp::Asynchronous(AsyncOp::Copy(level)) = form { Some(*level) } else { None }
    });
    let level = level.unwrap_or(AccessLevel::Gpu);
    let ty = |bytes: u64| Type {
        kind: TypeKind::Bits,
        bits: u16::try_from(8 * bytes.min(16)).unwrap_or(128),
    };
    let mut push = |ty: Type| {
        let cells = u8::try_from(ty.bytes() / grain).unwrap_or(1).max(1);
        let (kind, unit, register) = (SiteKind::Read, None, None);
        let (returns, copies) = (false, true);
        sites.push(Site { kind, level, unit, ty, cells, returns, register, copies });
    };
    let Some(copy) = of.copy() else {
        if let Some(Asynchronous::Track(_)) = of.as_asynchronous() {
            push(ty(4));
        }
        return Future::default();
    };
    let bytes = if let Some(Operand::Imm(bytes)) = copy.bytes { bytes } else { 16 };
    push(ty(bytes));
    let (read, written) = (mask(copy.from), mask(copy.to));
    let cached = if level == AccessLevel::Weak { read } else { 0 };
    let direct = if copy.bulk { read | written } else { 0 };
    Future { cached, read, written, loose: 0, direct }
}

/// The cells that an access at an address may have: those of its variable if it names one, else any.
fn mask(
    program: &Program,
    layout: &Layout,
    cells: &[Cell],
    thread: ThreadId,
    address: Address,
) -> u64 {
    let object = program.variable_of(thread, address);
    let object = object.map(|(variable, thread)| layout.object(variable, thread));
    // An offset may lead to another variable.
    let object = object.filter(|&object| {
        let object = &layout.virtuals[usize::from(object)];
        u32::try_from(address.offset).is_ok_and(|offset| offset < object.extent)
    });
    let location = object.map(|object| layout.virtuals[usize::from(object)].location);
    let all = cells.iter().enumerate().filter(|(_, cell)| {
        cell.place != MemoryPlace::Private
            && location.is_none_or(|location| cell.location == location)
    });
    all.fold(0, |all, (index, _)| all | 1 << index)
}

/// What may be accessed from each line on, with the line and without.
fn futures(
    own: &[Future],
    next: impl Fn(usize) -> [Option<usize>; 2],
) -> (Vec<Future>, Vec<Future>) {
    let mut ahead = vec![Future::default(); own.len() + 1];
    let mut after = vec![Future::default(); own.len()];
    loop {
        let before = ahead.clone();
        for index in (0..own.len()).rev() {
            let all = next(index).into_iter().flatten();
            after[index] = all.fold(Future::default(), |all, target| all.or(ahead[target]));
            ahead[index] = own[index].or(after[index]);
        }
        if before == ahead {
            return (ahead, after);
        }
    }
}
