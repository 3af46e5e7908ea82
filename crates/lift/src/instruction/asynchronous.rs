//! Asynchronous operations: `mbarrier`, `cp.async`, `st.async`, `red.async`, `wgmma`, and their fences.

use model::isa::alu::{Alu, AluOp};
use model::isa::asynchronous::{
    AsyncFence, AsyncStore, Asynchronous, AwaitedPhase, Copy, FILL_BYTES, FenceWindow, Fill,
    GridControl, GroupCompletion, GroupKind, Mbarrier, MbarrierLayout, MbarrierOp, Multiply,
    MultiplyShape, PendingCount, Track, WaitGroup,
};
use model::isa::atom::AtomicOp;
use model::isa::reach::{COPIED, IN_SHARED};
use model::isa::{Address, Instruction, Operand, SpaceQualifier, Type};
use model::memory::MBARRIER_BYTES;
use model::scope::Scope;
use ptx::fences;
use ptx::modifier;
use ptx::production_check;
use ptx::qualifier::Qualifier;

use super::{InstructionReader, plan};
use crate::cell::{Arg, InstructionCell};
use crate::draft::DraftAccess;
use crate::draft::WarpLanes;
use text::report::ByteSpan;

/// What a function or a row of a comparison says of such an instruction.
const NOT_COMPARED: &str = "asynchronous operations and mbarriers";

/// The bytes that are assumed where a register gives the size.
const UNKNOWN_SIZE: u32 = 4;

impl<'a> InstructionReader<'_> {
    /// An instruction about asynchronous operations; `None` after an error, or where it does nothing in the model.
    pub(super) fn asynchronous(&mut self, cell: &InstructionCell<'a>) -> Vec<Instruction> {
        if self.draft.lanes == WarpLanes::Lone {
            return vec![Self::unsupported(cell, NOT_COMPARED)];
        }
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if !self.is_written_as_produced(cell, &parts) {
            return Vec::new();
        }
        if !self.has_known_modifiers(cell, &parts) {
            return Vec::new();
        }
        let errors = self.report.count();
        if let ["clusterlaunchcontrol", "query_cancel", ..] = parts[..] {
            return self.query_cancel(cell, &parts).unwrap_or_default();
        }
        let read = match parts[..] {
            ["mbarrier", ..] if cell.writes_two() => {
                return self.reporting_wait(cell, &parts).unwrap_or_default();
            }
            ["mbarrier", ..] => self.args(cell).and_then(|args| self.mbarrier(cell, &parts, &args)),
            ["cp", "async", "commit_group"] => one(Asynchronous::Commit(GroupKind::Copies)),
            ["cp", "async", "bulk", "commit_group"] => {
                one(Asynchronous::Commit(GroupKind::BulkCopies))
            }
            ["wgmma", "commit_group", ..] => one(Asynchronous::Commit(GroupKind::Multiplications)),
            ["cp", "async", "wait_all"] => one(Asynchronous::WaitGroup(WaitGroup {
                of: GroupKind::Copies,
                pending: 0,
                until: GroupCompletion::Complete,
                commits: true,
            })),
            ["cp", "async", "wait_group"] => self.wait_group(cell, GroupKind::Copies),
            ["cp", "async", "bulk", "wait_group", ..] => {
                self.wait_group(cell, GroupKind::BulkCopies)
            }
            ["wgmma", "wait_group", ..] => self.wait_group(cell, GroupKind::Multiplications),
            ["wgmma", "fence", ..] => one(Asynchronous::MultiplyFence),
            ["wgmma", "mma_async", ..] => self.multiply(cell, &parts),
            ["cp", "async", "mbarrier", "arrive", ..] => self.track(cell, &parts),
            // Reading B14: a prefetch has no events.
            ["cp", "async", "bulk", "prefetch", ..] => Some(None),
            ["cp", "async", "ca" | "cg", ..] => self.element_copy(cell, &parts),
            ["cp", "async", "bulk", "tensor", ..]
            | ["cp", "reduce", "async", "bulk", "tensor", ..] => self.tensor_copy(cell, &parts),
            ["tensormap", ..] => self.tensormap(cell, &parts),
            ["tcgen05", ..] => self.tensor_memory(cell, &parts),
            ["multimem", ..] => self.multimem(cell, &parts),
            ["cp", "async", "bulk", ..] => self.bulk_copy(cell, &parts, None),
            ["cp", "reduce", "async", "bulk", ..] => self.reducing_copy(cell, &parts),
            ["griddepcontrol", "launch_dependents"] => {
                one(Asynchronous::Grid(GridControl::LaunchDependents))
            }
            ["griddepcontrol", ..] => one(Asynchronous::Grid(GridControl::Wait)),
            ["clusterlaunchcontrol", ..] => self.try_cancel(cell, &parts),
            ["st" | "red", "async", ..] => self.async_store(cell, &parts),
            ["st", "bulk", ..] => self.fill(cell, &parts),
            _ => return vec![Self::unsupported(cell, NOT_COMPARED)],
        };
        if read.is_none() && self.report.count() == errors {
            return vec![Self::unsupported(cell, "this form")];
        }
        let instruction = read.flatten().map(Instruction::Asynchronous);
        instruction.into_iter().collect()
    }

    /// Whether the instruction has each of its modifiers; otherwise an error says which it does not have.
    pub(super) fn has_known_modifiers(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> bool {
        let Some(fault) = modifier::own_fault(parts) else { return true };
        let near = self.report.nearest(parts[fault.position], fault.known.iter().copied());
        self.report
            .error("modifier", cell.part_at(fault.position), fault.message(parts))
            .section(model::section::of_parts(parts))
            .help_if(fault.help(near));
        false
    }

    /// Whether some production has the instruction; otherwise an error says what is wrong.
    pub(super) fn is_written_as_produced(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> bool {
        let Some(fault) =
            production_check::fault(parts, cell.operand_text(), self.draft.isa, self.draft.target)
        else {
            return true;
        };
        let at = match fault.modifier {
            Some(index) => cell.part_at(index),
            None => cell.name_at(),
        };
        self.report
            .error(fault.code, at, fault.message)
            .note(fault.note)
            .section(model::section::of_parts(parts))
            .help_if(Some(fault.help).filter(|help| !help.is_empty()));
        false
    }

    /// `mbarrier.test_wait.phase_type::primary.b64 p|q, v, [b], state`: no operation of the model reports, so that the
    /// report is 0.
    fn reporting_wait(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> Option<Vec<Instruction>> {
        let (names, mut args) = self.joined_destinations(cell, "a predicate")?;
        let mut names = names.into_iter().map(|(name, at)| Arg::Name(name, at));
        let done = names.next()?;
        let mut reports: Vec<(Arg<'a>, u16)> = names.map(|name| (name, 1)).collect();
        if matches!(args.first(), Some(Arg::Name(..))) {
            reports.push((args.remove(0), 8));
        }
        args.insert(0, done);
        let mut instructions = Vec::new();
        for (to, bits) in &reports {
            if let Some(destination) = self.plain_destination(to, *bits).ok()? {
                let (op, ty) = (AluOp::Mov, plan::bits(*bits));
                let sources = vec![Operand::Imm(0)];
                instructions.push(Instruction::Alu(Alu { op, ty, destination, sources }));
            }
        }
        let wait = self.mbarrier(cell, parts, &args)??;
        instructions.push(Instruction::Asynchronous(wait));
        Some(instructions)
    }

    fn mbarrier(&mut self, cell: &InstructionCell<'a>, parts: &[&str], args: &[Arg<'a>]) -> Read {
        let has = |word: &str| parts.contains(&word);
        let layout = if has("layout::v1") { MbarrierLayout::V1 } else { MbarrierLayout::V0 };
        let op = parts.get(1).copied().unwrap_or_default();
        if op == "pending_count" {
            let count = self.plain_destination(args.first()?, 32).ok()?;
            let state = self.operand(args.get(1)?)?;
            return one(Asynchronous::PendingCount(PendingCount { state, count }));
        }
        let results =
            matches!(op, "arrive" | "arrive_drop" | "test_wait" | "try_wait" | "check_layout");
        let object_at = usize::from(results);
        let space = space_of(parts);
        let object = self.object(cell, args.get(object_at)?, space)?;
        let number = |reader: &mut Self, index: usize| {
            args.get(index).map_or(Some(Operand::Imm(1)), |arg| reader.sized(arg, Type::U32))
        };
        let op = match op {
            "init" => MbarrierOp::Init { count: number(self, 1)?, layout },
            "check_layout" => {
                MbarrierOp::CheckLayout { layout, holds: self.plain_destination(&args[0], 1).ok()? }
            }
            "inval" => MbarrierOp::Invalidate,
            "expect_tx" => MbarrierOp::ExpectTx { bytes: number(self, 1)? },
            "complete_tx" => MbarrierOp::CompleteTx { bytes: number(self, 1)? },
            "arrive" | "arrive_drop" => {
                let state = self.plain_destination(&args[0], 64).ok()?;
                let (count, expected) = if has("expect_tx") {
                    (Operand::Imm(1), Some(number(self, 2)?))
                } else {
                    (number(self, 2)?, None)
                };
                let (drops, completes) = (op == "arrive_drop", !has("noComplete"));
                MbarrierOp::Arrive { count, expected, drops, completes, state }
            }
            "test_wait" | "try_wait" => {
                let done = self.plain_destination(&args[0], 1).ok()?;
                let awaited = args.get(2)?;
                let phase = if has("parity") {
                    AwaitedPhase::Parity(self.sized(awaited, Type::U32)?)
                } else {
                    AwaitedPhase::State(self.operand(awaited)?)
                };
                MbarrierOp::Wait { phase, tries: op == "try_wait", done }
            }
            _ => {
                self.later(cell, NOT_COMPARED);
                return Some(None);
            }
        };
        let counts = matches!(op, MbarrierOp::ExpectTx { .. } | MbarrierOp::CompleteTx { .. });
        let synchronizes = !has("relaxed") && !counts;
        let scope = scope_of(parts).unwrap_or(Scope::Cta);
        one(Asynchronous::Mbarrier(Mbarrier { op, space, object, synchronizes, scope }))
    }

    /// Notes an instruction that the model does not cover yet.
    pub(super) fn later(&mut self, cell: &InstructionCell<'a>, what: &str) -> bool {
        let instruction = Self::unsupported(cell, what);
        let line = model::isa::Line { guard: None, instruction, text: cell.text() };
        self.draft.thread(self.thread).lines.push(line);
        true
    }

    fn track(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let space = space_of(parts);
        let object = self.object(cell, args.first()?, space)?;
        let increments = !parts.contains(&"noinc");
        one(Asynchronous::Track(Track { object, space, increments }))
    }

    fn wait_group(&mut self, cell: &InstructionCell<'a>, of: GroupKind) -> Read {
        let args = self.args(cell)?;
        let [Arg::Number(pending, _)] = args[..] else {
            self.count(cell, &args, "0");
            return None;
        };
        self.fits(&args[0], Type::U32);
        let has = |word: &str| cell.parts.iter().any(|part| part.text == word);
        let until = match (has("read"), has("sync_restrict::proxy::async")) {
            (true, _) => GroupCompletion::Read,
            (_, true) => GroupCompletion::AsyncProxy,
            (false, false) => GroupCompletion::Complete,
        };
        one(Asynchronous::WaitGroup(WaitGroup { of, pending, until, commits: false }))
    }

    fn multiply(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let mut accumulator = Vec::new();
        if let Some(Arg::Vector(elements, _)) = args.first() {
            for element in elements {
                accumulator.extend(self.plain_destination(element, 32).ok()?);
            }
        }
        let mut fragment = Vec::new();
        if let Some(Arg::Vector(elements, _)) = args.get(1) {
            for element in elements {
                if let Some(Operand::Reg(register)) = self.operand(element) {
                    fragment.push(register);
                }
            }
        }
        let shape = parts.iter().find_map(|part| multiply_shape(part)).unwrap_or_default();
        // The descriptors of the matrices in shared memory: an address, or a register that holds one.
        let mut sources = Vec::new();
        for arg in args.iter().skip(1).take(2) {
            match *arg {
                Arg::Address(..) => {
                    sources.push(self.touched(cell, arg, SpaceQualifier::Shared, 4, 4)?);
                }
                Arg::Name(name, at) => sources.push(self.register_address(cell, name, at)),
                Arg::Number(..) | Arg::Vector(..) | Arg::Negated(..) | Arg::Joined(..) => {}
            }
        }
        let shape = MultiplyShape(shape);
        let accumulates = match args.get(3) {
            Some(Arg::Negated(name, at)) => (Operand::Reg(self.register(name, *at)), true),
            Some(input) => (self.operand(input)?, false),
            // Without `scale-d` the accumulator is an input.
            None => (Operand::Imm(1), false),
        };
        one(Asynchronous::Multiply(Multiply { accumulator, fragment, shape, sources, accumulates }))
    }

    /// `cp.async.ca.shared.global [s], [g], 16, 8;`.
    fn element_copy(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let (Some(to), Some(from), Some(size)) = (args.first(), args.get(1), args.get(2)) else {
            self.count(cell, &args, "[s], [g], 16");
            return None;
        };
        let bytes = self.sized(size, Type::U32)?;
        let length = constant(bytes).unwrap_or(UNKNOWN_SIZE);
        let to_space = space_of(parts);
        let to = self.touched(cell, to, to_space, 4, length / 4)?;
        let policy = usize::from(parts.contains(&"L2::cache_hint"));
        let (mut source_bytes, mut ignores_source) = (None, None);
        let mut read = length;
        if args.len() > 3 + policy {
            let (of, negated) = match args[3] {
                Arg::Number(..) => (self.sized(&args[3], Type::U32)?, None),
                Arg::Name(name, at) => {
                    let register = self.register(name, at);
                    let bits = self.draft.thread(self.thread).draft(register).bits;
                    (Operand::Reg(register), (bits == 1).then_some(false))
                }
                Arg::Negated(name, at) => (Operand::Reg(self.register(name, at)), Some(true)),
                Arg::Address(..) | Arg::Vector(..) | Arg::Joined(..) => return None,
            };
            match (of, negated) {
                (Operand::Reg(of), Some(negated)) => ignores_source = Some((of, negated)),
                (of, _) => {
                    read = constant(of).unwrap_or(UNKNOWN_SIZE);
                    source_bytes = Some(of);
                }
            }
        }
        let may_be_none = read == 0
            || ignores_source.is_some()
            || source_bytes.is_some_and(|of| constant(of).is_none());
        let (at, space) = (from.at(), SpaceQualifier::Global);
        let from = self.address(cell, from)?;
        let access = DraftAccess::of(from, 4, (read / 4).max(1), space, COPIED, at);
        self.touch(cell, DraftAccess { may_be_none, ..access });
        one(Asynchronous::Copy(Copy {
            bulk: false,
            to,
            to_space,
            from,
            from_space: SpaceQualifier::Global,
            bytes: Some(bytes),
            tensor: None,
            source_bytes,
            ignores_source,
            byte_mask: None,
            mbarrier: None,
            multicast: None,
            scope: None,
            reduction: None,
            multimem: false,
        }))
    }

    pub(super) fn bulk_copy(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
        reduction: Option<(AtomicOp, Type)>,
    ) -> Read {
        let args = self.args(cell)?;
        let mut spaces = parts.iter().filter_map(|part| space(part));
        let (to_space, from_space) = (spaces.next()?, spaces.next()?);
        let tracked = parts.contains(&"mbarrier::complete_tx::bytes");
        let (Some(to), Some(from), Some(size)) = (args.first(), args.get(1), args.get(2)) else {
            self.count(cell, &args, "[s], [g], 16, [b]");
            return None;
        };
        let bytes = self.sized(size, Type::U32)?;
        let length = constant(bytes).unwrap_or(16);
        let to = self.touched(cell, to, to_space, 4, length / 4)?;
        let from = self.touched(cell, from, from_space, 4, length / 4)?;
        let mbarrier = match args.get(3).filter(|_| tracked) {
            Some(object) => Some(self.object(cell, object, to_space)?),
            None => None,
        };
        let multicast = match args.get(4).filter(|_| parts.contains(&"multicast::cluster")) {
            Some(mask) => Some(self.sized(mask, plan::bits(16))?),
            None => None,
        };
        let byte_mask = match args.last().filter(|_| parts.contains(&"cp_mask")) {
            Some(mask) => Some(self.sized(mask, plan::bits(16))?),
            None => None,
        };
        one(Asynchronous::Copy(Copy {
            bulk: true,
            to,
            to_space,
            from,
            from_space,
            bytes: Some(bytes),
            tensor: None,
            source_bytes: None,
            ignores_source: None,
            byte_mask,
            mbarrier,
            multicast,
            scope: scope_of(parts),
            reduction,
            multimem: parts[0] == "multimem",
        }))
    }

    pub(super) fn reducing_copy(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let op = parts.iter().find_map(|part| atomic_op(part));
        let ty = parts.iter().rev().find_map(|part| type_of(part));
        let (Some(op), Some(ty)) = (op, ty) else {
            self.later(cell, "reductions of this type");
            return Some(None);
        };
        self.bulk_copy(cell, parts, Some((op, ty)))
    }

    /// `st.bulk.weak.shared::cta [s], 16, 0`.
    fn fill(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let [to, size, _zero] = &args[..] else {
            self.count(cell, &args, "[s], 16, 0");
            return None;
        };
        let bytes = self.operand(size)?;
        let space = space_of(parts);
        let length = constant(bytes).unwrap_or(FILL_BYTES);
        let to = self.touched(cell, to, space, FILL_BYTES, length / FILL_BYTES)?;
        one(Asynchronous::Fill(Fill { to, space, bytes }))
    }

    fn async_store(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let reduces = parts[0] == "red";
        let releases = parts.contains(&"release");
        let Some(ty) = parts.iter().rev().find_map(|part| type_of(part)) else {
            self.later(cell, "stores of this type");
            return Some(None);
        };
        let reduction = if reduces { parts.iter().find_map(|part| atomic_op(part)) } else { None };
        if reduces && reduction.is_none() {
            self.later(cell, "reductions of this operation");
            return Some(None);
        }
        let space = if parts.iter().any(|part| space(part).is_some()) {
            space_of(parts)
        } else if releases {
            SpaceQualifier::Global
        } else {
            SpaceQualifier::SharedCluster
        };
        let (Some(to), Some(value)) = (args.first(), args.get(1)) else {
            self.count(cell, &args, "[s], r0, [b]");
            return None;
        };
        let elements = value.elements().iter();
        let sources = elements.map(|arg| self.sized(arg, ty)).collect::<Option<Vec<_>>>()?;
        let count = u32::try_from(sources.len()).unwrap_or(1);
        let to = self.touched(cell, to, space, ty.bytes(), count)?;
        let mbarrier = match args.get(2) {
            Some(object) => Some(self.object(cell, object, space)?),
            None => None,
        };
        let scope = scope_of(parts);
        one(Asynchronous::Store(AsyncStore {
            to,
            space,
            ty,
            sources,
            mbarrier,
            scope,
            releases,
            reduction,
            multimem: false,
        }))
    }

    /// The fences of the async proxy, and those of some objects only.
    pub(super) fn async_fence(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let mut parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if let Some(spelling) = fences::spelled(&parts[1..]) {
            parts.splice(1.., spelling.parts.iter().copied());
        }
        let of_reads = ["alias", "sync_restrict::read", "release", "sys"];
        if self.draft.lanes == WarpLanes::Lone && parts[1..] != of_reads {
            return Some(Self::unsupported(cell, "this proxy is not modelled"));
        }
        let fence = match parts[1..] {
            ["proxy", "async"] => AsyncFence::Proxy(FenceWindow::Everything),
            ["proxy", "async", of] => {
                let is = |window: &FenceWindow| window.qualifier().strip_prefix('.') == Some(of);
                AsyncFence::Proxy(FenceWindow::ALL.into_iter().find(is)?)
            }
            ["mbarrier_init", "release", "cluster"] => AsyncFence::MbarrierInit,
            ["proxy", "async::generic", "release", "sync_restrict::shared::cta", "cluster"] => {
                AsyncFence::ProxyRelease
            }
            ["proxy", "async::generic", "acquire", "sync_restrict::shared::cluster", "cluster"] => {
                AsyncFence::ProxyAcquire
            }
            [
                "proxy",
                "async::generic",
                "release",
                "sync_restrict::shared::cluster::read",
                "cluster",
            ] => AsyncFence::ProxyReleaseOfReads,
            ["proxy", "tensormap::generic", ..] => return self.tensormap_fence(cell, &parts),
            ["release", "sync_restrict::shared::cta", "cluster"] => AsyncFence::Release,
            ["acquire", "sync_restrict::shared::cluster", "cluster"] => AsyncFence::Acquire,
            _ if parts[1..] == of_reads => AsyncFence::AliasReleaseOfReads,
            _ => return Some(Self::unsupported(cell, "this proxy is not modelled")),
        };
        if !self.is_written_as_produced(cell, &parts) {
            return None;
        }
        self.no_operands(cell)?;
        Some(Instruction::Asynchronous(Asynchronous::Fence(fence)))
    }

    pub(super) fn object(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        space: SpaceQualifier,
    ) -> Option<Address> {
        self.in_shared(cell, arg, space, MBARRIER_BYTES)
    }

    /// The address of shared memory that a register holds without brackets, with the access recorded.
    pub(super) fn register_address(
        &mut self,
        cell: &InstructionCell<'a>,
        name: &'a str,
        at: ByteSpan,
    ) -> Address {
        let address = Address { base: Operand::Reg(self.register(name, at)), offset: 0 };
        let space = SpaceQualifier::Shared;
        self.touch(cell, DraftAccess::of(address, 4, 1, space, COPIED, at));
        address
    }

    /// An address, with the access recorded.
    pub(super) fn touched(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        space: SpaceQualifier,
        scalar: u32,
        elements: u32,
    ) -> Option<Address> {
        let address = self.address(cell, arg)?;
        let elements = elements.max(1);
        self.touch(cell, DraftAccess::of(address, scalar, elements, space, COPIED, arg.at()));
        Some(address)
    }

    /// The address of this many bytes that are in shared memory, with the access recorded.
    pub(super) fn in_shared(
        &mut self,
        cell: &InstructionCell<'a>,
        arg: &Arg<'a>,
        space: SpaceQualifier,
        bytes: u32,
    ) -> Option<Address> {
        let address = self.address(cell, arg)?;
        self.touch(cell, DraftAccess::of(address, bytes, 1, space, IN_SHARED, arg.at()));
        Some(address)
    }

    /// Records an access in parts of at most 16 bytes.
    fn touch(&mut self, cell: &InstructionCell<'a>, access: DraftAccess) {
        let (align, space_at) = (access.align.min(16), cell.part_at(0));
        self.draft.thread(self.thread).accesses.push(DraftAccess { align, space_at, ..access });
    }
}

/// `None` after an error; the inner `None` where there is nothing to add.
pub(super) type Read = Option<Option<Asynchronous>>;

#[expect(clippy::unnecessary_wraps, reason = "the type that all readers have")]
pub(super) fn one(of: Asynchronous) -> Read {
    Some(Some(of))
}

fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Imm(value) => u32::try_from(value).ok(),
        Operand::Reg(_) | Operand::Address(_) => None,
    }
}

pub(super) fn space(part: &str) -> Option<SpaceQualifier> {
    match part {
        "global" => Some(SpaceQualifier::Global),
        "shared" => Some(SpaceQualifier::Shared),
        "shared::cta" => Some(SpaceQualifier::SharedCta),
        "shared::cluster" => Some(SpaceQualifier::SharedCluster),
        _ => None,
    }
}

pub(super) fn space_of(parts: &[&str]) -> SpaceQualifier {
    parts.iter().find_map(|part| space(part)).unwrap_or_default()
}

pub(super) fn scope_of(parts: &[&str]) -> Option<Scope> {
    Scope::ALL.into_iter().find(|scope| parts.contains(&scope.name()))
}

pub(super) fn atomic_op(part: &str) -> Option<AtomicOp> {
    Some(match part {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        _ => return None,
    })
}

pub(super) fn type_of(part: &str) -> Option<Type> {
    match Qualifier::named(part) {
        Some(Qualifier::Type(ty)) => Some(ty),
        _ => None,
    }
}

/// The numbers of `m64n8k16`.
fn multiply_shape(part: &str) -> Option<[u16; 3]> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}
