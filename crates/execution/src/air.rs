//! Values out of thin air: those of reads that depend on themselves, where no axiom forbids it (`R13=none`).
//!
//! A read of a write that depends on this read may return any value consistent with that. If the
//! values are only copied, and compared for equality, then the values that the program mentions or computes, and some
//! others, represent all values. Otherwise not all values are tried, which is reported.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::accessed::Accessed;
use crate::agreed::Agreed;
use crate::expr::{Expr, ExprId, Exprs};
use crate::path::Assumption;
use crate::unfold::Unfolding;
use crate::values::{Source, ValueVisitor, Values};
use model::bits::BitRow;
use model::isa::alu::{AluOp, Comparison};
use model::program::{Observed, Program, ThreadId};
use model::rel::Conventions;
use model::value::{Value, low_bytes};

/// How many values that occur nowhere are tried: one for each read that depends on itself and not on another such
/// read.
const FRESH: usize = 3;

/// Where the values that occur nowhere begin: the smallest ones are the likeliest to be written tomorrow.
const FIRST: Value = 0x5a;

/// The values that are tried, and what became of it.
#[derive(Debug)]
pub struct Air {
    constants: Vec<Value>,
    /// Whether a read may take its bytes from several writes.
    tearing: bool,
    /// The bytes to which all accesses are morally strong; once a candidate asks.
    agreed: OnceCell<Agreed>,
    has_cycles: Cell<bool>,
    left_out: Cell<bool>,
}

/// Whether values came out of thin air.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum ThinAir {
    #[default]
    None,
    /// Those tried stand for all others, as long as they are only compared for equality.
    Some,
    /// There are others, which may lead elsewhere.
    More,
}

impl Air {
    pub fn of(program: &Program, conventions: Conventions) -> Air {
        let (constants, tearing) = (program.mentioned_constants(), conventions.tearing);
        let (has_cycles, left_out) = (Cell::new(false), Cell::new(false));
        Air { constants, tearing, agreed: OnceCell::new(), has_cycles, left_out }
    }

    /// What became of the candidates since the last call.
    pub fn take(&self) -> ThinAir {
        let (has_cycles, left_out) = (self.has_cycles.take(), self.left_out.take());
        match (has_cycles, left_out) {
            (_, true) => ThinAir::More,
            (true, false) => ThinAir::Some,
            (false, false) => ThinAir::None,
        }
    }

    pub fn leaves_out(&self) {
        self.left_out.set(true);
    }

    /// Calls `visit` for each way the values of `cyclic`, the reads that depend on themselves, can be.
    pub fn visit_cyclic<R: BitRow>(
        &self,
        u: &Unfolding<'_>,
        sources: &[Source<R>],
        cyclic: &[usize],
        visit: &mut ValueVisitor<'_, R>,
    ) -> ControlFlow<()> {
        self.has_cycles.set(true);
        let mut known = self.known(u, sources);
        let mut copies = Copies { u, cyclic, compared: &mut known };
        if !copies.are_all(sources) || self.tearing && self.may_tear(u, cyclic) {
            self.leaves_out();
        }
        let fresh: Vec<Value> =
            (FIRST..).filter(|value| !known.contains(value)).take(FRESH).collect();
        let tried: Vec<Value> = known.into_iter().chain(fresh).collect();
        let mut supposed = Vec::new();
        self.suppose(u, sources, cyclic, &tried, &mut supposed, visit)
    }

    /// Whether one of these reads may mix what it returns with the bytes of another write: it has several,
    /// and not all accesses to them are morally strong.
    fn may_tear(&self, u: &Unfolding<'_>, reads: &[usize]) -> bool {
        let found = || Agreed::new(u.program, u.layout, &Accessed::new(u.program, u.layout));
        let agreed = self.agreed.get_or_init(found);
        reads.iter().any(|&read| {
            let bytes = u.events[read].bytes();
            bytes.length > 1 && agreed.of(bytes).is_none()
        })
    }

    /// The values that occur, apart from what depends on itself.
    fn known<R: BitRow>(&self, u: &Unfolding<'_>, sources: &[Source<R>]) -> BTreeSet<Value> {
        let mut values = Values::new(u, sources);
        let mut known: BTreeSet<Value> = self.constants.iter().copied().collect();
        for (event, of) in u.events.iter().enumerate() {
            if of.is_read() {
                known.extend(values.read(event));
            } else if let Some((thread, value)) = of.thread.zip(of.of.and_then(|of| of.value)) {
                known.extend(values.eval(thread, value));
            } else if of.is_write() {
                known.extend(values.written(event, of.bytes()));
            }
        }
        // A path that ends early has no registers at its end.
        if !u.is_stuck() && u.fault().is_none() {
            known.extend(u.program.observed.iter().filter_map(|&of| values.register(of)));
        }
        known
    }

    fn suppose<R: BitRow>(
        &self,
        u: &Unfolding<'_>,
        sources: &[Source<R>],
        cyclic: &[usize],
        tried: &[Value],
        supposed: &mut Vec<(usize, Value)>,
        visit: &mut ValueVisitor<'_, R>,
    ) -> ControlFlow<()> {
        let mut values = Values::new(u, sources);
        for &(read, value) in supposed.iter() {
            values.suppose(read, value);
        }
        let open = cyclic.iter().copied().find(|&read| values.read(read).is_none());
        if let Some(read) = open {
            if supposed.len() >= FRESH {
                self.leaves_out();
            }
            // Which of those that occur nowhere is which makes no difference.
            let needless = FRESH.saturating_sub(supposed.len() + 1);
            let tried_here = &tried[..tried.len() - needless];
            let mask = low_bytes(u.events[read].bytes().length);
            let fitting: BTreeSet<Value> = tried_here.iter().map(|value| value & mask).collect();
            for value in fitting {
                supposed.push((read, value));
                self.suppose(u, sources, cyclic, tried, supposed, visit)?;
                supposed.pop();
            }
            return ControlFlow::Continue(());
        }
        let holds = supposed.iter().all(|&(read, v)| values.read_from_sources(read) == Some(v))
            && u.checks().all(|(thread, check)| values.check(thread, check) == Some(true));
        if holds { visit(sources, &mut values) } else { ControlFlow::Continue(()) }
    }
}

/// Whether values that depend on themselves are copied and compared, and no more.
struct Copies<'u, 'k> {
    u: &'u Unfolding<'u>,
    cyclic: &'u [usize],
    /// What they are compared with is added.
    compared: &'k mut BTreeSet<Value>,
}

impl Copies<'_, '_> {
    fn are_all<R: BitRow>(&mut self, sources: &[Source<R>]) -> bool {
        let u = self.u;
        let whole = self.cyclic.iter().all(|&read| {
            let (slot, end) = u.slots_of[read];
            let writes = sources[slot].writes;
            end == slot + 1
                && writes.count() == 1
                && u.events[writes.first()].bytes() == u.events[read].bytes()
        });
        whole
            && (0u8..).zip(&u.paths).all(|(thread, path)| {
                let thread = ThreadId(thread);
                path.events.iter().all(|event| {
                    let used = event.barrier.and_then(|used| used.reduce);
                    event.value.is_none_or(|value| self.is_copy(thread, &path.exprs, value))
                        && event.address.is_none_or(|at| self.is_plain(thread, &path.exprs, at))
                        && used.is_none_or(|(_, of, _)| self.is_plain(thread, &path.exprs, of))
                }) && path.checks.iter().all(|check| self.is_checked(thread, &path.exprs, check))
            })
            && u.program.observed.iter().all(|&of| match of {
                Observed::Memory { .. } => true,
                Observed::Register { thread, register } => {
                    let path = u.paths[usize::from(thread.0)];
                    let value = path.registers[usize::from(register.0)];
                    self.is_copy(thread, &path.exprs, value)
                }
            })
    }

    fn is_checked(&mut self, thread: ThreadId, exprs: &Exprs, check: &Assumption) -> bool {
        match check {
            Assumption::Truth(..) => {
                self.compared.insert(0);
            }
            Assumption::Equals(_, value) => {
                self.compared.insert(*value);
            }
            Assumption::NoneOf(_, values) => self.compared.extend(values),
        }
        self.is_copy(thread, exprs, check.expr())
    }

    /// A value of a read as it is, or one that is plain.
    fn is_copy(&mut self, thread: ThreadId, exprs: &Exprs, expr: ExprId) -> bool {
        let copied = match exprs.get(expr) {
            Expr::Extend { of, .. } => of,
            Expr::Const(_)
            | Expr::Read(_)
            | Expr::Reduced(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. } => expr,
        };
        exprs.as_read(copied).is_some() || self.is_plain(thread, exprs, expr)
    }

    /// Whether it is a function of no such read, but by comparing it for equality.
    fn is_plain(&mut self, thread: ThreadId, exprs: &Exprs, expr: ExprId) -> bool {
        let mut free = true;
        exprs.leaves(expr, &mut |leaf| {
            if let Expr::Read(index) = leaf {
                free &= !self.cyclic.contains(&self.u.event_of(thread, index));
            }
        });
        if free {
            return true;
        }
        match exprs.get(expr) {
            Expr::Alu { op: AluOp::Setp(Comparison::Eq | Comparison::Ne), ty, a, b, .. } => {
                [a, b].into_iter().all(|side| {
                    if let Some(value) = exprs.as_const(side) {
                        self.compared.insert(value);
                        return true;
                    }
                    let whole = |read: u16| {
                        let bytes = self.u.events[self.u.event_of(thread, read)].bytes();
                        u32::from(ty.bits) >= 8 * bytes.length
                    };
                    exprs.as_read(side).is_some_and(whole)
                })
            }
            Expr::Alu { a, b, c, .. } => {
                [a, b, c].iter().all(|&of| self.is_plain(thread, exprs, of))
            }
            Expr::Atomic { old, operand, .. } => {
                self.is_plain(thread, exprs, old) && self.is_plain(thread, exprs, operand)
            }
            Expr::Extend { of, .. } => self.is_plain(thread, exprs, of),
            Expr::Const(_) | Expr::Read(_) | Expr::Reduced(_) => false,
        }
    }
}
