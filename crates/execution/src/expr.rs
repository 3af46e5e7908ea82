//! Symbolic values of one thread: the values of its registers and writes, as functions of its reads.

use std::collections::HashMap;

use model::isa::alu::{self, AluOp, Comparison};
use model::isa::atom::AtomicOp;
use model::isa::float::FloatOp;
use model::isa::integer::IntegerOp;
use model::isa::{Type, TypeKind};
use model::value::{self, Value, low_bits};

/// Index into [`Exprs`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Const(Value),
    /// The bytes a read event of this thread returns, as an unsigned number; the event's index in
    /// its path.
    Read(u16),
    /// The result of the `bar.red` whose wait is this event of the path.
    Reduced(u16),
    Alu {
        op: AluOp,
        ty: Type,
        a: ExprId,
        b: ExprId,
        c: ExprId,
    },
    /// What an atomic other than `cas` writes over `old`.
    Atomic {
        op: AtomicOp,
        ty: Type,
        old: ExprId,
        operand: ExprId,
    },
    /// A value of a narrow type in a wider register.
    Extend {
        ty: Type,
        of: ExprId,
    },
}

/// Hash-consed, so that equal ids mean equal values.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Vec<Expr>,
    /// How many operations each is, written out; a part that occurs twice counts twice.
    sizes: Vec<u32>,
    known: HashMap<Expr, ExprId>,
}

/// Up to this size a value is computed operation by operation as it is written out, beyond it each part once.
const WRITTEN_OUT: u32 = 64;

/// The most values that are tried for one that is computed from `selp`.
const CANDIDATES: usize = 8;

impl Exprs {
    /// About how many bytes they take: each is listed, and looked up in a table with free places.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * (3 * size_of::<Expr>() + 3 * size_of::<ExprId>())
    }

    pub fn get(&self, id: ExprId) -> Expr {
        self.nodes[id.0 as usize]
    }

    /// Every value; operands stand before what is computed of them.
    pub fn all(&self) -> &[Expr] {
        &self.nodes
    }

    pub fn as_const(&self, id: ExprId) -> Option<Value> {
        match self.get(id) {
            Expr::Const(value) => Some(value),
            Expr::Read(_)
            | Expr::Reduced(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        }
    }

    /// The read that the value is, unchanged.
    pub fn as_read(&self, id: ExprId) -> Option<u16> {
        match self.get(id) {
            Expr::Read(read) => Some(read),
            Expr::Const(_)
            | Expr::Reduced(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        }
    }

    pub fn constant(&mut self, value: Value) -> ExprId {
        self.intern(Expr::Const(value))
    }

    pub fn intern(&mut self, expr: Expr) -> ExprId {
        // Few nodes: a scan is cheaper than hashing until there are some dozens.
        if self.nodes.len() < 32 {
            if let Some(at) = self.nodes.iter().position(|&node| node == expr) {
                return id(at);
            }
            self.push(expr);
            if self.nodes.len() == 32 {
                self.known = self.nodes.iter().enumerate().map(|(i, &e)| (e, id(i))).collect();
            }
            return id(self.nodes.len() - 1);
        }
        let next = id(self.nodes.len());
        let found = *self.known.entry(expr).or_insert(next);
        if found == next {
            self.push(expr);
        }
        found
    }

    fn push(&mut self, expr: Expr) {
        let parts = operands(expr).into_iter().flatten();
        let size = parts.fold(1, |all: u32, part| all.saturating_add(self.size(part)));
        self.nodes.push(expr);
        self.sizes.push(size);
    }

    fn size(&self, id: ExprId) -> u32 {
        self.sizes[id.0 as usize]
    }

    /// All that a value is computed of, and itself; operands stand before what is computed of them.
    pub fn parts(&self, id: ExprId) -> Vec<ExprId> {
        let mut needed = vec![false; id.0 as usize + 1];
        needed[id.0 as usize] = true;
        for index in (0..needed.len()).rev() {
            if needed[index] {
                for part in operands(self.nodes[index]).into_iter().flatten() {
                    needed[part.0 as usize] = true;
                }
            }
        }
        let needed = needed.into_iter().enumerate().filter(|(_, needed)| *needed);
        needed.map(|(index, _)| self::id(index)).collect()
    }

    /// A value by itself: its parts, operands before what is computed of them, with positions for their ids and
    /// numbers for the reads in the order of their parts, and those reads. Equal values of different paths are equal.
    pub fn standalone(&self, id: ExprId) -> (Vec<Expr>, Vec<u16>) {
        let parts = self.parts(id);
        let mut reads: Vec<u16> = Vec::new();
        let at = |part: ExprId| self::id(parts.binary_search(&part).expect("an operand is a part"));
        let standalone = parts.iter().map(|&part| match self.get(part) {
            Expr::Read(read) => {
                let number = reads.len();
                reads.push(read);
                Expr::Read(u16::try_from(number).expect("a path has few reads"))
            }
            Expr::Alu { op, ty, a, b, c } => Expr::Alu { op, ty, a: at(a), b: at(b), c: at(c) },
            Expr::Atomic { op, ty, old, operand } => {
                Expr::Atomic { op, ty, old: at(old), operand: at(operand) }
            }
            Expr::Extend { ty, of } => Expr::Extend { ty, of: at(of) },
            leaf @ (Expr::Const(_) | Expr::Reduced(_)) => leaf,
        });
        (standalone.collect(), reads)
    }

    /// What an atomic other than `cas` writes; the old value itself where it leaves each as it is.
    pub fn atomic(&mut self, op: AtomicOp, ty: Type, old: ExprId, operand: ExprId) -> ExprId {
        let nothing = |value: Value| {
            let value = value & low_bits(ty.bits);
            match op {
                AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor => value == 0,
                AtomicOp::And => value == low_bits(ty.bits),
                AtomicOp::Min
                | AtomicOp::Max
                | AtomicOp::Inc
                | AtomicOp::Dec
                | AtomicOp::Exch
                | AtomicOp::Cas => false,
            }
        };
        let integer = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
        if integer && self.as_const(operand).is_some_and(nothing) {
            return old;
        }
        self.intern(Expr::Atomic { op, ty, old, operand })
    }

    /// An operation, folded where its value does not depend on a read. That a value folds away
    /// leaves the dependency, which is syntactic and kept elsewhere.
    pub fn alu(&mut self, op: AluOp, ty: Type, sources: &[ExprId]) -> ExprId {
        let (a, b, c) = (
            sources[0],
            sources.get(1).copied().unwrap_or(sources[0]),
            sources.get(2).copied().unwrap_or(sources[0]),
        );
        let constants: Option<Vec<Value>> = sources.iter().map(|&s| self.as_const(s)).collect();
        if let Some(values) = constants {
            return self.constant(op.apply(ty, &values));
        }
        if op == AluOp::Mov && ty.bits >= 64 {
            return a;
        }
        if let Some(value) = self.absorbed(op, ty, a, b, sources.len()) {
            return self.constant(value);
        }
        if op == AluOp::Selp && a == b {
            return self.extend(ty, a);
        }
        if let (AluOp::Selp, Some(predicate)) = (op, self.as_const(c)) {
            let taken = if predicate == 0 { b } else { a };
            return self.extend(ty, taken);
        }
        if let Some((op, of)) = self.part(op, ty, a) {
            return self.alu(op, ty, &[of]);
        }
        if let Some(left) = self.undone(op, ty, a, b, sources.len()) {
            return self.alu(AluOp::Mov, ty, &[left]);
        }
        let arity = sources.len();
        if let Some(value) = (arity == 2).then(|| self.bounded(op, ty, a, b)).flatten() {
            return self.constant(value);
        }
        self.intern(Expr::Alu { op, ty, a, b, c })
    }

    /// For a part of two values side by side: the one of them that has it, and the operation that takes it from there.
    fn part(&self, op: AluOp, ty: Type, a: ExprId) -> Option<(AluOp, ExprId)> {
        let from = if let AluOp::Extract(from) = op {
            from
        } else if op == AluOp::Mov && ty.kind != TypeKind::Float {
            0
        } else {
            return None;
        };
        let Expr::Alu { op: AluOp::Concat(at), a: low, b: high, .. } = self.get(a) else {
            return None;
        };
        if u16::from(from) + ty.bits <= u16::from(at) {
            return Some((op, low));
        }
        let from = from.checked_sub(at)?;
        Some((if from == 0 { AluOp::Mov } else { AluOp::Extract(from) }, high))
    }

    /// What an operation takes back: `x` of `x + y - y`, `x - y + y`, `x ^ y ^ y`.
    fn undone(&self, op: AluOp, ty: Type, a: ExprId, b: ExprId, arity: usize) -> Option<ExprId> {
        let integer = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
        let pairs = [(AluOp::Add, AluOp::Sub), (AluOp::Sub, AluOp::Add), (AluOp::Xor, AluOp::Xor)];
        let (_, inverse) = pairs.into_iter().find(|&(of, _)| of == op)?;
        let of = |of: ExprId, taken: ExprId| match self.get(of) {
            Expr::Alu { op: inner, ty: inner_ty, a, b, .. }
                if inner == inverse && inner_ty == ty =>
            {
                let commutes = inverse != AluOp::Sub;
                if b == taken { Some(a) } else { (commutes && a == taken).then_some(b) }
            }
            Expr::Alu { .. }
            | Expr::Const(_)
            | Expr::Read(_)
            | Expr::Reduced(_)
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => None,
        };
        // `y + (x - y)` and `y ^ (x ^ y)`, too.
        let commutes = op != AluOp::Sub;
        let found = of(a, b).or_else(|| if commutes { of(b, a) } else { None });
        found.filter(|_| integer && arity == 2)
    }

    /// The value of an operation on numbers without a sign that the bits which its operands may have
    /// set decide.
    fn bounded(&self, op: AluOp, ty: Type, a: ExprId, b: ExprId) -> Option<Value> {
        if !matches!(ty.kind, TypeKind::Unsigned | TypeKind::Bits) {
            return None;
        }
        let decides = matches!(
            op,
            AluOp::Setp(_) | AluOp::And | AluOp::Shl | AluOp::Shr | AluOp::Integer(IntegerOp::Min)
        );
        if !decides || self.size(a).saturating_add(self.size(b)) > 256 {
            return None;
        }
        let mask = low_bits(ty.bits);
        let bits = [a, b].map(|of| self.may_set(of, &mut |_| Value::MAX) & mask);
        let AluOp::Setp(comparison) = op else {
            return (self.alu_may_set(op, ty, bits[0], bits[1], b) == 0).then_some(0);
        };
        // The greatest that each can be, and a constant is the least, too.
        let least = |of: ExprId| self.as_const(of).map_or(0, |value| value & mask);
        let (first, second) = ((least(a), bits[0]), (least(b), bits[1]));
        let below = |less: (Value, Value), more: (Value, Value)| less.1 < more.0;
        let not_above = |less: (Value, Value), more: (Value, Value)| less.1 <= more.0;
        let apart = below(first, second)
            || below(second, first)
            || least(a) & !bits[1] != 0
            || least(b) & !bits[0] != 0;
        let holds = match comparison {
            Comparison::Eq => apart.then_some(false),
            Comparison::Ne => apart.then_some(true),
            Comparison::Lt if below(first, second) => Some(true),
            Comparison::Lt => not_above(second, first).then_some(false),
            Comparison::Le if not_above(first, second) => Some(true),
            Comparison::Le => below(second, first).then_some(false),
            Comparison::Gt if below(second, first) => Some(true),
            Comparison::Gt => not_above(first, second).then_some(false),
            Comparison::Ge if not_above(second, first) => Some(true),
            Comparison::Ge => below(first, second).then_some(false),
        };
        holds.map(Value::from)
    }

    /// The value of an operation that one operand, or their equality, decides.
    fn absorbed(&self, op: AluOp, ty: Type, a: ExprId, b: ExprId, arity: usize) -> Option<Value> {
        let zero = |e: ExprId| self.as_const(e).is_some_and(|v| v & low_bits(ty.bits) == 0);
        let ones = |e: ExprId| self.as_const(e).is_some_and(|v| !v & low_bits(ty.bits) == 0);
        match op {
            // No law of integers holds of floats.
            _ if ty.kind == TypeKind::Float => None,
            AluOp::Xor | AluOp::Sub if arity == 2 && a == b => Some(0),
            AluOp::And | AluOp::Mul if zero(a) || zero(b) => Some(0),
            AluOp::Or if ones(a) || ones(b) => Some(alu::extend(ty, low_bits(ty.bits))),
            AluOp::Setp(comparison) if a == b => Some(Value::from(matches!(
                comparison,
                Comparison::Eq | Comparison::Le | Comparison::Ge
            ))),
            AluOp::Mov
            | AluOp::Add
            | AluOp::Sub
            | AluOp::Mul
            | AluOp::And
            | AluOp::Or
            | AluOp::Xor
            | AluOp::Shl
            | AluOp::Shr
            | AluOp::Selp
            | AluOp::Setp(_)
            | AluOp::Extract(_)
            | AluOp::Concat(_)
            | AluOp::Convert(..)
            | AluOp::Halves(_)
            | AluOp::Flush
            | AluOp::Float(_)
            | AluOp::Integer(_)
            | AluOp::Opaque(_) => None,
        }
    }

    pub fn extend(&mut self, ty: Type, of: ExprId) -> ExprId {
        match self.as_const(of) {
            Some(value) => self.constant(alu::extend(ty, value)),
            None => self.intern(Expr::Extend { ty, of }),
        }
    }

    /// What a register holds after `raw`, the bytes of a `ty`, were loaded into it.
    pub fn extend_signed(&mut self, ty: Type, raw: ExprId) -> ExprId {
        if ty.kind == TypeKind::Signed && ty.bits < value::BITS {
            self.extend(ty, raw)
        } else {
            raw
        }
    }

    /// The values among which a value is whatever reads return: constants that `selp` selects, and what is computed from
    /// them. `None` if reads say more of it than which of few it is.
    pub fn candidates(&self, id: ExprId) -> Option<Vec<Value>> {
        let mut values = match self.get(id) {
            Expr::Const(value) => vec![value],
            Expr::Alu { op: AluOp::Selp, ty, a, b, .. } => {
                let all = self.candidates(a)?.into_iter().chain(self.candidates(b)?);
                all.map(|value| alu::extend(ty, value)).collect()
            }
            Expr::Alu { op, ty, a, b, c } => {
                let [a, b, c] = [self.candidates(a)?, self.candidates(b)?, self.candidates(c)?];
                let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
                let triples = pairs.flat_map(|(a, b)| c.iter().map(move |&c| [a, b, c]));
                triples.map(|values| op.apply(ty, &values)).collect()
            }
            Expr::Extend { ty, of } => {
                let narrow = self.candidates(of)?;
                narrow.into_iter().map(|value| alu::extend(ty, value)).collect()
            }
            Expr::Read(_) | Expr::Reduced(_) | Expr::Atomic { .. } => return None,
        };
        values.sort_unstable();
        values.dedup();
        (values.len() <= CANDIDATES).then_some(values)
    }

    /// The value of `id`, given the values of reads and reductions; `None` as soon as one is
    /// unknown that the value needs.
    pub fn eval(&self, id: ExprId, leaf: &mut dyn FnMut(Expr) -> Option<Value>) -> Option<Value> {
        if self.size(id) <= WRITTEN_OUT {
            return self.eval_written_out(id, leaf);
        }
        let mut values = vec![0; id.0 as usize + 1];
        for part in self.parts(id) {
            values[part.0 as usize] = match self.get(part) {
                Expr::Const(value) => value,
                expr @ (Expr::Read(_) | Expr::Reduced(_)) => leaf(expr)?,
                expr @ (Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. }) => {
                    computed(expr, |of| values[of.0 as usize])
                }
            };
        }
        values.last().copied()
    }

    fn eval_written_out(
        &self,
        id: ExprId,
        leaf: &mut dyn FnMut(Expr) -> Option<Value>,
    ) -> Option<Value> {
        Some(match self.get(id) {
            Expr::Const(value) => value,
            expr @ (Expr::Read(_) | Expr::Reduced(_)) => leaf(expr)?,
            expr @ (Expr::Alu { .. } | Expr::Atomic { .. } | Expr::Extend { .. }) => {
                let mut values = [0; 3];
                let parts = operands(expr);
                for (value, part) in values.iter_mut().zip(parts) {
                    if let Some(part) = part {
                        *value = self.eval_written_out(part, leaf)?;
                    }
                }
                computed(expr, |of| {
                    let at = parts.iter().position(|part| *part == Some(of));
                    values[at.expect("it is an operand")]
                })
            }
        })
    }

    /// The bits that a value may have set, given those of the reads.
    pub fn may_set(&self, id: ExprId, reads: &mut dyn FnMut(u16) -> Value) -> Value {
        if let Expr::Read(index) = self.get(id) {
            return reads(index);
        }
        if self.size(id) <= WRITTEN_OUT {
            return self.computed_may_set(self.get(id), &mut |of| self.may_set(of, reads));
        }
        let mut bits = vec![0; id.0 as usize + 1];
        for part in self.parts(id) {
            bits[part.0 as usize] = if let Expr::Read(index) = self.get(part) {
                reads(index)
            } else {
                self.computed_may_set(self.get(part), &mut |of| bits[of.0 as usize])
            };
        }
        bits[id.0 as usize]
    }

    /// The same, given those of its operands; all of a read.
    fn computed_may_set(&self, expr: Expr, of: &mut dyn FnMut(ExprId) -> Value) -> Value {
        match expr {
            Expr::Const(value) => value,
            Expr::Reduced(_) => low_bits(32),
            Expr::Read(_) => Value::MAX,
            Expr::Alu { op, ty, a, b, .. } => {
                let first = of(a);
                let second = if a == b { first } else { of(b) };
                self.alu_may_set(op, ty, first, second, b)
            }
            Expr::Atomic { ty, .. } if ty.kind == TypeKind::Float => Value::MAX,
            Expr::Atomic { op, old, operand, .. } => {
                let (old, operand) = (of(old), of(operand));
                match op {
                    AtomicOp::Exch => operand,
                    AtomicOp::Or | AtomicOp::Xor | AtomicOp::Min | AtomicOp::Max => old | operand,
                    AtomicOp::And => old & operand,
                    AtomicOp::Inc | AtomicOp::Dec => smear(old | operand),
                    AtomicOp::Add => sum(old, operand),
                    AtomicOp::Sub | AtomicOp::Cas => Value::MAX,
                }
            }
            Expr::Extend { ty, of: narrow } => extended(ty, of(narrow)),
        }
    }

    /// The same of an operation, given those of its operands.
    fn alu_may_set(&self, op: AluOp, ty: Type, a: Value, b: Value, by: ExprId) -> Value {
        let unsigned = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Bits);
        let (mask, float) = (low_bits(ty.bits), ty.kind == TypeKind::Float);
        match op {
            AluOp::Mov => extended(ty, a),
            AluOp::Or | AluOp::Xor | AluOp::Selp => extended(ty, a | b),
            AluOp::And => extended(ty, a & b),
            AluOp::Setp(_) | AluOp::Float(FloatOp::Compare { .. } | FloatOp::Unordered) => 1,
            AluOp::Add if !float => extended(ty, sum(a, b)),
            AluOp::Extract(at) => extended(ty, a >> at),
            AluOp::Concat(at) => extended(ty, a & low_bits(at.into()) | b << at),
            // By a constant, each bit moves as in a value of its own.
            AluOp::Shl | AluOp::Shr if unsigned && self.as_const(by).is_some() => {
                op.apply(ty, &[a, b, a])
            }
            // No more than the lesser.
            AluOp::Integer(IntegerOp::Min) if unsigned => smear((a & mask).min(b & mask)),
            AluOp::Add
            | AluOp::Sub
            | AluOp::Mul
            | AluOp::Shl
            | AluOp::Shr
            | AluOp::Convert(..)
            | AluOp::Halves(_)
            | AluOp::Flush
            | AluOp::Float(_)
            | AluOp::Integer(_)
            | AluOp::Opaque(_) => Value::MAX,
        }
    }

    /// Calls `leaf` for each read or reduction that the value is a function of.
    pub fn leaves(&self, id: ExprId, leaf: &mut dyn FnMut(Expr)) {
        if self.size(id) > WRITTEN_OUT {
            let parts = self.parts(id).into_iter().map(|part| self.get(part));
            parts.filter(|part| matches!(part, Expr::Read(_) | Expr::Reduced(_))).for_each(leaf);
            return;
        }
        match self.get(id) {
            expr @ (Expr::Read(_) | Expr::Reduced(_)) => leaf(expr),
            expr @ (Expr::Const(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. }) => {
                operands(expr).into_iter().flatten().for_each(|of| self.leaves(of, leaf));
            }
        }
    }
}

/// The operands of an operation, each once.
fn operands(expr: Expr) -> [Option<ExprId>; 3] {
    match expr {
        Expr::Const(_) | Expr::Read(_) | Expr::Reduced(_) => [None; 3],
        Expr::Alu { a, b, c, .. } => {
            [Some(a), (b != a).then_some(b), (c != a && c != b).then_some(c)]
        }
        Expr::Atomic { old, operand, .. } => [Some(old), (operand != old).then_some(operand), None],
        Expr::Extend { of, .. } => [Some(of), None, None],
    }
}

/// The value of an operation, given those of its operands.
fn computed(expr: Expr, of: impl Fn(ExprId) -> Value) -> Value {
    match expr {
        Expr::Const(value) => value,
        Expr::Read(_) | Expr::Reduced(_) => unreachable!("it is not an operation"),
        Expr::Alu { op, ty, a, b, c } => op.apply(ty, &[of(a), of(b), of(c)]),
        Expr::Atomic { op, ty, old, operand } => {
            let old = of(old);
            op.apply(ty, old, of(operand), 0).unwrap_or(old)
        }
        Expr::Extend { ty, of: narrow } => alu::extend(ty, of(narrow)),
    }
}

/// What a register holds after `raw`, the bytes of a `ty`, were loaded into it.
pub fn widened(ty: Type, raw: Value) -> Value {
    if ty.kind == TypeKind::Signed { alu::extend(ty, raw) } else { raw }
}

/// Bits of a value of type `ty` in a register: a sign bit may be repeated.
fn extended(ty: Type, bits: Value) -> Value {
    let bits = bits & low_bits(ty.bits);
    if ty.kind == TypeKind::Signed && bits >> (ty.bits - 1) & 1 == 1 { Value::MAX } else { bits }
}

fn sum(a: Value, b: Value) -> Value {
    let bits = smear(a | b);
    if bits == 0 { 0 } else { bits << 1 | 1 }
}

/// Every bit up to the highest one set.
fn smear(bits: Value) -> Value {
    if bits == 0 { 0 } else { Value::MAX >> bits.leading_zeros() }
}

fn id(index: usize) -> ExprId {
    ExprId(u32::try_from(index).expect("a path has few values"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ones_decide_a_disjunction() {
        let mut exprs = Exprs::default();
        let read = exprs.intern(Expr::Read(0));
        let (one, bit) = (exprs.constant(1), Type { kind: TypeKind::Bits, bits: 1 });
        let holds = exprs.alu(AluOp::Or, bit, &[read, one]);
        assert_eq!(exprs.as_const(holds), Some(1));
        let open = exprs.alu(AluOp::Or, Type::U32, &[read, one]);
        assert_eq!(exprs.as_const(open), None);
    }

    #[test]
    fn a_fake_dependency_folds_to_its_value() {
        let mut exprs = Exprs::default();
        let read = exprs.intern(Expr::Read(0));
        assert_eq!(exprs.alu(AluOp::Xor, Type::U32, &[read, read]), exprs.constant(0));
        let sum = exprs.alu(AluOp::Add, Type::U32, &[read, read]);
        assert_eq!(exprs.eval(sum, &mut |_| Some(21)), Some(42));
        assert_eq!(exprs.eval(sum, &mut |_| None), None);
    }

    #[test]
    fn a_part_of_two_values_side_by_side_is_that_of_one_of_them() {
        let mut exprs = Exprs::default();
        let (low, high) = (exprs.intern(Expr::Read(0)), exprs.intern(Expr::Read(1)));
        let both = exprs.alu(AluOp::Concat(16), Type::U32, &[low, high]);
        let half = Type { kind: TypeKind::Bits, bits: 16 };
        for (op, of) in [(AluOp::Mov, 0), (AluOp::Extract(0), 0), (AluOp::Extract(16), 1)] {
            let part = exprs.alu(op, half, &[both]);
            let mut leaves = Vec::new();
            exprs.leaves(part, &mut |leaf| leaves.push(leaf));
            assert_eq!(leaves, [Expr::Read(of)]);
            assert_eq!(exprs.eval(part, &mut |_| Some(0x1234)), Some(0x1234));
        }
        let across = exprs.alu(AluOp::Extract(8), half, &[both]);
        assert_eq!(exprs.eval(across, &mut |_| Some(0x1234)), Some(0x3412));
    }

    #[test]
    fn a_part_that_occurs_often_is_computed_once() {
        let mut exprs = Exprs::default();
        let read = exprs.intern(Expr::Read(3));
        let mut sum = read;
        for _ in 0..200 {
            let one = exprs.constant(1);
            let more = exprs.alu(AluOp::Add, Type::U32, &[sum, one]);
            sum = exprs.alu(AluOp::Add, Type::U32, &[sum, more]);
        }
        let expected = (0..200).fold(5u32, |sum, _| sum.wrapping_mul(2).wrapping_add(1));
        assert_eq!(exprs.eval(sum, &mut |_| Some(5)), Some(expected.into()));
        assert_eq!(exprs.eval(sum, &mut |_| None), None);
        let mut leaves = Vec::new();
        exprs.leaves(sum, &mut |leaf| leaves.push(leaf));
        assert_eq!(leaves, [Expr::Read(3)]);
        assert_eq!(exprs.may_set(sum, &mut |_| 0), low_bits(32));
    }

    #[test]
    fn equal_values_share_an_id_however_many() {
        let mut exprs = Exprs::default();
        let first: Vec<ExprId> = (0..100).map(|v| exprs.constant(v)).collect();
        let again: Vec<ExprId> = (0..100).map(|v| exprs.constant(v)).collect();
        assert_eq!(first, again);
    }
}
