//! A thread in the dialect of Dartagnan.
//!
//! Guards become branches, and so does the dependency of an address: the dialect has locations only by their names.

use std::cell::RefCell;
use std::collections::BTreeSet;

use litmus::Test;
use model::isa::alu::{Alu, AluOp, Branch, Comparison};
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::fence::{FenceOrder, ProxyFence};
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::isa::{Guard, Instruction, Line, Operand, Reg, TypeKind};
use model::memory::Proxy;
use model::program::Thread;
use model::scope::Scope;

use crate::export::{ExportedLine, Inexpressible};

/// The text of a column, while it is made.
pub(super) struct ThreadColumn<'t> {
    test: &'t Test,
    number: usize,
    thread: &'t Thread,
    /// The bits of each access.
    pub(super) width: u16,
    /// The registers as the dialect names them.
    pub(super) names: Vec<String>,
    /// A register that nothing reads.
    unread: String,
    /// Lines that compute an address, which the cells of its accesses stand for.
    omitted: BTreeSet<usize>,
    /// The registers that occur in cells.
    written: RefCell<BTreeSet<usize>>,
}

/// Where an access is.
struct PlaceOfAccess {
    location: String,
    /// The register that the address depends on, and the bit of its value that would make it another address.
    depends: Option<(Reg, u64)>,
}

/// The lines that compute an address from a value that has a bit or not: `and t, r, bit`, `mov u, t`, `add a, base, u`.
struct AddressChain {
    lines: [usize; 3],
    base: Reg,
    read: Reg,
    bit: u64,
}

impl<'t> ThreadColumn<'t> {
    pub(super) fn new(test: &'t Test, number: usize, width: u16) -> ThreadColumn<'t> {
        let thread = &test.program.threads[number];
        let known = |name: &str| {
            let digits =
                name.strip_prefix('r').filter(|of| of.bytes().all(|of| of.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u32>().ok())
        };
        let taken: BTreeSet<u32> =
            thread.registers.iter().filter_map(|of| known(&of.name)).collect();
        let mut free = (0..).filter(|number| !taken.contains(number)).map(|of| format!("r{of}"));
        let mut next = || free.next().expect("there are more numbers than registers");
        let names = thread.registers.iter().map(|register| match known(&register.name) {
            Some(_) => register.name.clone(),
            None => next(),
        });
        let names = names.collect();
        let unread = next();
        let written = RefCell::default();
        let mut column = ThreadColumn {
            test,
            number,
            thread,
            width,
            names,
            unread,
            omitted: BTreeSet::new(),
            written,
        };
        let chains = (0..thread.lines.len()).filter_map(|index| column.address_chain(index));
        column.omitted = chains.flat_map(|chain| chain.lines).collect();
        column
    }

    /// Whether a cell names a register.
    pub(super) fn is_named(&self, register: usize) -> bool {
        self.written.borrow().contains(&register)
    }

    /// Whether the lines that write a register have no cells.
    pub(super) fn is_omitted(&self, register: usize) -> bool {
        let writes = |&line: &usize| self.writes(line, register);
        self.omitted.iter().any(writes)
    }

    fn writes(&self, line: usize, register: usize) -> bool {
        let mut written = self.thread.lines[line].instruction.destinations();
        written.any(|of| usize::from(of.0) == register)
    }

    /// The cells below the placement.
    pub(super) fn cells(&self) -> Result<Vec<String>, Inexpressible> {
        let mut labels: BTreeSet<usize> = self.targets().collect();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in ExportedLine::all(self.test, self.number) {
            let mut cells = Vec::new();
            self.line(&line, &mut labels, &mut cells)?;
            rows.push(cells);
        }
        let mut column = Vec::new();
        for (index, cells) in rows.into_iter().chain([Vec::new()]).enumerate() {
            if labels.contains(&index) {
                column.push(format!("{}:", self.label(index)));
            }
            column.extend(cells);
        }
        Ok(column)
    }

    /// The lines that branches lead to.
    fn targets(&self) -> impl Iterator<Item = usize> + '_ {
        self.thread.branches().map(|(_, target)| target.min(self.thread.lines.len()))
    }

    fn label(&self, line: usize) -> String {
        format!("LC{}{line}", self.number)
    }

    /// Adds the cells of a line; `labels` are the lines that need one.
    fn line(
        &self,
        line: &ExportedLine<'_>,
        labels: &mut BTreeSet<usize>,
        cells: &mut Vec<String>,
    ) -> Result<(), Inexpressible> {
        let index = line.at.1;
        // The branches that take its place say it.
        let compares =
            matches!(line.line.instruction, Instruction::Alu(Alu { op: AluOp::Setp(_), .. }));
        if compares || self.omitted.contains(&index) {
            return Ok(());
        }
        let mut skip =
            |condition: (Comparison, String, String), what: &str, cells: &mut Vec<String>| {
                // What is after the branch would depend on it, too.
                if self.goes_on(index) {
                    return line.refuse(&format!("{what} before another access of its thread"));
                }
                let (comparison, left, right) = condition;
                labels.insert(index + 1);
                cells.push(format!(
                    "{} {left}, {right}, {}",
                    mnemonic(comparison),
                    self.label(index + 1)
                ));
                Ok(())
            };
        if let Instruction::Branch(branch) = &line.line.instruction {
            cells.push(self.branch(line, branch)?);
            return Ok(());
        }
        if let Some(guard) = line.line.guard {
            let (comparison, left, right) = self.guarded_by(line, guard)?;
            skip((negated(comparison), left, right), "a guard of an access", cells)?;
        }
        if line.line.instruction.access().is_none() {
            cells.push(self.cell(line, "")?);
            return Ok(());
        }
        let place = self.place(line)?;
        if let Some((register, bit)) = place.depends {
            let condition = (Comparison::Eq, self.register(line, register)?, bit.to_string());
            skip(condition, "an address that depends on a read,", cells)?;
        }
        cells.push(self.cell(line, &place.location)?);
        Ok(())
    }

    /// Whether another access may come after this line: what is after a branch depends on it.
    fn goes_on(&self, index: usize) -> bool {
        let mut after = self.thread.lines[index + 1..].iter();
        after.any(|line| line.instruction.access().is_some())
            || self.thread.branches().any(|(at, target)| at > index && target <= index)
    }

    fn branch(&self, line: &ExportedLine<'_>, branch: &Branch) -> Result<String, Inexpressible> {
        let label = self.label(branch.target.min(self.thread.lines.len()));
        let (comparison, left, right) = match (line.line.guard, branch.condition) {
            (None, None) => return Ok(format!("goto {label}")),
            (Some(guard), None) => self.guarded_by(line, guard)?,
            (None, Some((comparison, left, right))) => {
                (comparison, self.operand(line, left)?, self.operand(line, right)?)
            }
            (Some(_), Some(_)) => return line.refuse("a branch with two conditions"),
        };
        Ok(format!("{} {left}, {right}, {label}", mnemonic(comparison)))
    }

    /// The line that wrote a register, if it is the same however `index` is reached.
    fn written_by(&self, register: Reg, index: usize) -> Option<usize> {
        let is_target = |line: usize| self.targets().any(|target| target == line);
        for at in (0..index).rev() {
            if is_target(at + 1) {
                return None;
            }
            if self.writes(at, register.0.into()) {
                return self.thread.lines[at].guard.is_none().then_some(at);
            }
        }
        None
    }

    /// Whether a register has the same value at two lines, of which the second follows the first.
    fn keeps(&self, operand: Operand, from: usize, to: usize) -> bool {
        let Operand::Reg(register) = operand else { return true };
        !(from + 1..to).any(|line| self.writes(line, register.0.into()))
    }

    /// The comparison under which a guard holds.
    fn guarded_by(
        &self,
        line: &ExportedLine<'_>,
        guard: Guard,
    ) -> Result<(Comparison, String, String), Inexpressible> {
        let no_comparison = "a guard that is not one comparison of registers before it";
        let Some(at) = self.written_by(guard.predicate, line.at.1) else {
            return line.refuse(no_comparison);
        };
        let Instruction::Alu(Alu { op: AluOp::Setp(comparison), ty, sources, .. }) =
            &self.thread.lines[at].instruction
        else {
            return line.refuse(no_comparison);
        };
        if !sources.iter().all(|&source| self.keeps(source, at, line.at.1)) {
            return line.refuse("a guard by values that have changed since");
        }
        let of_equality = matches!(comparison, Comparison::Eq | Comparison::Ne);
        // Branches compare numbers of 64 bits, of which smaller ones are unsigned.
        let fits = ty.kind != TypeKind::Float
            && (ty.bits == self.width || ty.bits == 64)
            && (of_equality || ty.kind != TypeKind::Signed);
        if !fits {
            return line.refuse("a guard by a comparison of another type than the accesses have");
        }
        let here = ExportedLine { at: (self.number, at), line: &self.thread.lines[at], ..*line };
        let (left, right) = (self.operand(&here, sources[0])?, self.operand(&here, sources[1])?);
        let comparison = if guard.negated { negated(*comparison) } else { *comparison };
        Ok((comparison, left, right))
    }

    /// How the address of an access is computed, if it is the address of one variable unless a value has a bit.
    fn address_chain(&self, index: usize) -> Option<AddressChain> {
        let (address, _, _) = self.thread.lines[index].instruction.access()?;
        let alu = |line: usize| self.thread.lines[line].instruction.as_alu();
        let Operand::Reg(whole) = address.base else { return None };
        let third = self.written_by(whole, index)?;
        let Alu { op: AluOp::Add, ty, sources, .. } = alu(third)? else { return None };
        let &[Operand::Reg(base), Operand::Reg(wide)] = &sources[..] else { return None };
        let second = self.written_by(wide, third)?;
        let Alu { op: AluOp::Mov, sources, .. } = alu(second)? else { return None };
        let &[Operand::Reg(zero)] = &sources[..] else { return None };
        let first = self.written_by(zero, second)?;
        let Alu { op: AluOp::And, sources, .. } = alu(first)? else { return None };
        let &[read @ Operand::Reg(register), Operand::Imm(bit)] = &sources[..] else { return None };
        let kept = self.keeps(read, first, index) && self.holds_address(base);
        (ty.bits == 64 && address.offset == 0 && bit.is_power_of_two() && kept)
            .then_some(AddressChain { lines: [first, second, third], base, read: register, bit })
    }

    /// Whether a register always holds the address that it has at the start.
    fn holds_address(&self, register: Reg) -> bool {
        let line = 0..self.thread.lines.len();
        self.initially(register).is_some()
            && !line.into_iter().any(|line| self.writes(line, register.0.into()))
    }

    fn initially(&self, register: Reg) -> Option<&str> {
        crate::export::initially(self.test, self.thread, register)
    }

    fn place(&self, line: &ExportedLine<'_>) -> Result<PlaceOfAccess, Inexpressible> {
        let Some((address, ..)) = line.line.instruction.access() else {
            return line.refuse("an instruction without an address");
        };
        if address.offset != 0 {
            return line.refuse("an address with an offset");
        }
        if let Some(AddressChain { base, read, bit, .. }) = self.address_chain(line.at.1) {
            let location = self.initially(base).unwrap_or_default().to_owned();
            return Ok(PlaceOfAccess { location, depends: Some((read, bit)) });
        }
        let location = match address.base {
            Operand::Address(_) => line.operand(address.base),
            Operand::Reg(register) if self.holds_address(register) => {
                self.initially(register).unwrap_or_default().to_owned()
            }
            Operand::Reg(_) | Operand::Imm(_) => {
                return line.refuse("an address that is not the name of a variable");
            }
        };
        Ok(PlaceOfAccess { location, depends: None })
    }

    fn register(&self, line: &ExportedLine<'_>, register: Reg) -> Result<String, Inexpressible> {
        let index = usize::from(register.0);
        if self.is_omitted(index) {
            return line.refuse("a computed address as a value");
        }
        if self.thread.registers[index].bits == 1 {
            return line.refuse("a predicate as a value");
        }
        self.written.borrow_mut().insert(index);
        Ok(self.names[index].clone())
    }

    fn operand(&self, line: &ExportedLine<'_>, operand: Operand) -> Result<String, Inexpressible> {
        match operand {
            Operand::Reg(register) => self.register(line, register),
            Operand::Imm(value) if self.width == 64 => Ok(super::number(value, 64)),
            Operand::Imm(_) => Ok(line.operand(operand)),
            Operand::Address(_) => line.refuse("the address of a variable as a value"),
        }
    }

    fn list(&self, line: &ExportedLine<'_>, operands: &[Operand]) -> Result<String, Inexpressible> {
        let all: Result<Vec<String>, _> =
            operands.iter().map(|&of| self.operand(line, of)).collect();
        Ok(all?.join(", "))
    }

    /// A scope of the dialect that includes the same threads.
    fn scope(&self, line: &ExportedLine<'_>, scope: Scope) -> Result<&'static str, Inexpressible> {
        if scope != Scope::Cluster {
            return Ok(scope.name());
        }
        let all = || self.test.program.threads.iter().map(|of| of.placement);
        let here = self.thread.placement;
        let alike =
            |of: &Scope| all().all(|there| of.includes(here, there) == scope.includes(here, there));
        match [Scope::Cta, Scope::Gpu, Scope::Sys].iter().find(|&of| alike(of)) {
            Some(scope) => Ok(scope.name()),
            None => line.refuse("the scope `.cluster`, where no other one has the same threads"),
        }
    }

    /// An instruction without its guard; `location` is where it accesses memory.
    fn cell(&self, line: &ExportedLine<'_>, location: &str) -> Result<String, Inexpressible> {
        Ok(match &line.line.instruction {
            Instruction::Load(load) => {
                let order = match load.order {
                    LoadOrder::Weak => "weak".to_owned(),
                    LoadOrder::Relaxed(of) => format!("relaxed.{}", self.scope(line, of)?),
                    LoadOrder::Acquire(of) => format!("acquire.{}", self.scope(line, of)?),
                    LoadOrder::Volatile
                    | LoadOrder::MmioRelaxed
                    | LoadOrder::MmioAcquire
                    | LoadOrder::NonCoherent
                    | LoadOrder::Uniform
                    | LoadOrder::Readonly => return line.refuse("this kind of load"),
                };
                let opcode = match load.proxy {
                    Proxy::Generic => "ld",
                    Proxy::Texture => "tld",
                    Proxy::Surface => "suld",
                    Proxy::Constant => "cold",
                };
                let register = match load.destinations.first().copied().flatten() {
                    Some(register) => self.register(line, register)?,
                    None => self.unread.clone(),
                };
                format!("{opcode}.{order} {register}, {location}")
            }
            Instruction::Store(store) => {
                let order = match store.order {
                    StoreOrder::Weak => "weak".to_owned(),
                    StoreOrder::Relaxed(of) => format!("relaxed.{}", self.scope(line, of)?),
                    StoreOrder::Release(of) => format!("release.{}", self.scope(line, of)?),
                    StoreOrder::Volatile | StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => {
                        return line.refuse("this kind of store");
                    }
                };
                let opcode = match store.proxy {
                    Proxy::Generic => "st",
                    Proxy::Surface => "sust",
                    Proxy::Texture | Proxy::Constant => {
                        return line.refuse("this proxy");
                    }
                };
                format!("{opcode}.{order} {location}, {}", self.list(line, &store.sources)?)
            }
            Instruction::Atomic(atomic) => self.atomic(line, atomic, location)?,
            Instruction::Fence(fence) => match fence.order {
                FenceOrder::AcqRel | FenceOrder::Sc => {
                    format!("fence.{}.{}", fence.order.name(), self.scope(line, fence.scope)?)
                }
                FenceOrder::Acquire | FenceOrder::Release => return line.refuse("a one-way fence"),
            },
            Instruction::ProxyFence(ProxyFence::Alias) => "fence.proxy.alias".to_owned(),
            Instruction::ProxyFence(ProxyFence::Proxy(proxy)) => format!("fence.proxy.{proxy}"),
            Instruction::Barrier(barrier) => self.barrier(line, barrier)?,
            Instruction::Alu(alu) => self.arithmetic(line, alu)?,
            Instruction::ClusterBarrier(_)
            | Instruction::Asynchronous(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_)
            | Instruction::Unsupported(_) => return line.refuse("this instruction"),
        })
    }

    fn atomic(
        &self,
        line: &ExportedLine<'_>,
        atomic: &Atomic,
        location: &str,
    ) -> Result<String, Inexpressible> {
        let order = match atomic.order {
            AtomicOrder::Relaxed => "relaxed",
            AtomicOrder::Acquire => "acquire",
            AtomicOrder::Release => "release",
            AtomicOrder::AcqRel => "acq_rel",
        };
        let mut operands = atomic.operands.clone();
        let op = match atomic.op {
            AtomicOp::Add => self.sum(&mut operands, ("add", "sub")),
            AtomicOp::Sub => self.sum(&mut operands, ("sub", "add")),
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Exch if !atomic.reduction => "exch",
            AtomicOp::Cas if !atomic.reduction => "cas",
            AtomicOp::Exch
            | AtomicOp::Cas
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::Inc
            | AtomicOp::Dec => return line.refuse("this operation of an atomic"),
        };
        if atomic.ty.kind == TypeKind::Float {
            return line.refuse("an atomic of floats");
        }
        let (scope, operands) = (self.scope(line, atomic.scope)?, self.list(line, &operands)?);
        if atomic.reduction {
            return Ok(format!("red.{order}.{scope}.{op} {location}, {operands}"));
        }
        let register = match atomic.destination {
            Some(register) => self.register(line, register)?,
            None => self.unread.clone(),
        };
        Ok(format!("atom.{order}.{scope}.{op} {register}, {location}, {operands}"))
    }

    /// The name of an addition or subtraction: one of a large number is the other of its complement, since numbers of the
    /// dialect do not wrap at 32 bits.
    fn sum(
        &self,
        operands: &mut [Operand],
        (same, other): (&'static str, &'static str),
    ) -> &'static str {
        if self.width == 32
            && let Some(Operand::Imm(last)) = operands.last_mut()
        {
            let low = *last & u64::from(u32::MAX);
            if low > u64::from(u32::MAX / 2) {
                *last = (1 << 32) - low;
                return other;
            }
        }
        same
    }

    fn barrier(&self, line: &ExportedLine<'_>, barrier: &Barrier) -> Result<String, Inexpressible> {
        let mode = match barrier.kind {
            BarrierKind::Sync => "sync",
            BarrierKind::Arrive => "arrive",
            BarrierKind::Reduce { .. } | BarrierKind::Exchange(_) => {
                return line.refuse("this instruction");
            }
        };
        let here = self.thread.placement;
        let others = self.test.program.threads.iter().enumerate();
        let mut others = others.filter(|&(number, _)| number != self.number);
        if barrier.warp || barrier.aligned && others.any(|(_, of)| of.placement.same_warp(here)) {
            return line.refuse("threads of one warp at a barrier");
        }
        let Some(instance) = barrier.instance else {
            // Of a number the barrier itself: all instructions with it meet.
            return match (barrier.id, barrier.count) {
                (Operand::Imm(id), None) if self.all_meet(id) => Ok(format!("bar.cta.{mode} {id}")),
                (Operand::Imm(_), None) => {
                    line.refuse("a barrier that not all threads of the CTA execute equally often")
                }
                (_, None) => line.refuse("a barrier with its number in a register"),
                (_, Some(_)) => line.refuse("a barrier with a number of threads"),
            };
        };
        let mut operands = vec![instance.to_string()];
        if barrier.id != Operand::Imm(0) || barrier.count.is_some() {
            operands.push(self.operand(line, barrier.id)?);
        }
        if let Some(count) = barrier.count {
            operands.push(self.operand(line, count)?);
        }
        Ok(format!("bar.cta.{mode} {}", operands.join(", ")))
    }

    /// Whether all threads of the CTA execute a barrier equally often. The barriers of the dialect wait for the threads that
    /// execute them, and those of PTX for all threads of the CTA that have not exited.
    fn all_meet(&self, id: u64) -> bool {
        let executes = |thread: &Thread| {
            let is_it = |line: &&Line| matches!(&line.instruction, Instruction::Barrier(of) if of.id == Operand::Imm(id));
            let lines: Vec<&Line> = thread.lines.iter().filter(is_it).collect();
            let always =
                thread.branches().next().is_none() && lines.iter().all(|of| of.guard.is_none());
            always.then_some(lines.len())
        };
        let own = executes(self.thread);
        let here = self.thread.placement;
        let mut others = self.test.program.threads.iter().filter(|of| of.placement.same_cta(here));
        own.is_some() && others.all(|of| executes(of) == own)
    }

    fn arithmetic(&self, line: &ExportedLine<'_>, alu: &Alu) -> Result<String, Inexpressible> {
        let Alu { op, ty, destination, sources } = alu;
        if ty.kind == TypeKind::Float || ty.bits != self.width && ty.bits != 64 {
            return line.refuse("this arithmetic");
        }
        let mut sources = sources.clone();
        let opcode = if *op == AluOp::Mov {
            "ld"
        } else if *op == AluOp::Add {
            self.sum(&mut sources, ("add", "sub"))
        } else if *op == AluOp::Sub {
            self.sum(&mut sources, ("sub", "add"))
        } else if *op == AluOp::Xor && sources[0] == sources[1] {
            // It cancels out in the same way.
            "sub"
        } else {
            return line.refuse("this arithmetic");
        };
        let sources = self.list(line, &sources)?;
        Ok(format!("{opcode} {}, {sources}", self.register(line, *destination)?))
    }
}

/// The branch with a comparison.
fn mnemonic(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "beq",
        Comparison::Ne => "bne",
        Comparison::Lt => "blt",
        Comparison::Le => "ble",
        Comparison::Gt => "bgt",
        Comparison::Ge => "bge",
    }
}

fn negated(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Eq => Comparison::Ne,
        Comparison::Ne => Comparison::Eq,
        Comparison::Lt => Comparison::Ge,
        Comparison::Le => Comparison::Gt,
        Comparison::Gt => Comparison::Le,
        Comparison::Ge => Comparison::Lt,
    }
}
