//! Instructions that are not computed: what the hardware approximates, operations of a warp, and matrices.
//!
//! The thread is the first of its warp, and the only one that is active. What other lanes contribute, and what is
//! approximated, is an uninterpreted function of the operands of this lane.

use super::{FunctionReader, Purpose, ReadResult};
use crate::opaque::{HASH, LONE_LANE, MATRICES, OTHER_LANES, chained};
use crate::written::{AsOperand, WrittenArg, WrittenGuard, WrittenInstruction, written};

/// The instructions with an approximated result.
const APPROXIMATED: &[&str] = &["ex2", "lg2", "sin", "cos", "tanh", "rsqrt"];

/// The instructions with which the lanes of a warp exchange values.
const OF_WARP: &[&str] = &["shfl", "vote", "activemask", "elect", "match", "redux"];

/// Whether lanes of a warp exchange values with an opcode.
pub(super) fn is_of_warp(opcode: &str) -> bool {
    OF_WARP.contains(&opcode)
}

/// Whether an opcode that the model leaves out is read.
pub(super) fn is_read(opcode: &str) -> bool {
    let others = ["mma", "ldmatrix", "stmatrix", "createpolicy"];
    APPROXIMATED.contains(&opcode) || is_of_warp(opcode) || others.contains(&opcode)
}

/// An instruction that may be one of these.
pub(super) struct Uncomputed<'w> {
    pub(super) guard: Option<&'w WrittenGuard>,
    /// The opcode and its modifiers.
    pub(super) parts: &'w [&'w str],
    /// With the names of the column.
    pub(super) operands: &'w [WrittenArg],
}

impl Uncomputed<'_> {
    fn is_shared(&self) -> bool {
        self.parts.iter().any(|part| part.starts_with("shared"))
    }

    /// The name of an uninterpreted function: without what does not change its meaning.
    fn name(&self) -> String {
        let plain = ["ftz", "sat", "rn", "sync", "aligned"];
        let parts = self.parts.iter().filter(|part| !plain.contains(part));
        parts.copied().collect::<Vec<&str>>().join(".")
    }

    fn has(&self, part: &str) -> bool {
        self.parts[1..].contains(&part)
    }
}

/// A destination, and the predicate after `|`.
fn with_predicate(operand: &WrittenArg) -> (WrittenArg, Option<&str>) {
    if let WrittenArg::Joined(value, predicate) = operand {
        return (value.operand(), Some(predicate));
    }
    (operand.clone(), None)
}

impl FunctionReader<'_, '_> {
    /// Whether the instruction was one of these.
    pub(super) fn not_computed(&mut self, read: &Uncomputed<'_>) -> ReadResult<bool> {
        let opcode = read.parts[0];
        let small_float = |part: &str| {
            let small = ["e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0", "tf32"];
            small.iter().any(|name| part.starts_with(name))
        };
        if APPROXIMATED.contains(&opcode)
            || opcode == "cvt" && read.parts[1..].iter().any(|part| small_float(part))
        {
            self.approximated(read)?;
            return Ok(true);
        }
        match opcode {
            "shfl" => self.shuffle(read)?,
            "vote" => self.vote(read)?,
            "activemask" => {
                self.note(LONE_LANE);
                let to = read.operands.first().ok_or("it has no operand")?;
                let all = written("mov.b32", &[to, &1]);
                self.push(&all.guarded(read.guard));
            }
            "elect" => self.elect(read)?,
            "match" => self.matched(read)?,
            "redux" => {
                let operands = read.operands.get(..2).ok_or("it has fewer than two operands")?;
                self.lanes();
                self.opaque(read.guard, "b32", &read.name(), operands.to_vec());
            }
            "mma" => self.multiplied(read)?,
            "ldmatrix" => self.matrix(read)?,
            "stmatrix" => self.stored_matrix(read)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An uninterpreted function of a destination and its operands.
    fn opaque(
        &mut self,
        guard: Option<&WrittenGuard>,
        ty: &str,
        name: &str,
        operands: Vec<WrittenArg>,
    ) {
        let name = format!("opaque.{ty}.{name}");
        let plain = WrittenInstruction { name, operands, ..WrittenInstruction::default() };
        self.push(&plain.guarded(guard));
    }

    fn approximated(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let ty = if read.parts[0] == "cvt" {
            read.parts[read.parts.len() - 2]
        } else {
            *read.parts.last().expect("an opcode")
        };
        let ty = match ty {
            "f32" | "tf32" => "f32",
            "f64" => "f64",
            "f16" => "f16",
            "bf16" => "b16",
            _ if ty.ends_with("x2") && !ty.starts_with('f') && !ty.starts_with("bf") => "b16",
            _ => "b32",
        };
        let mut operands: Vec<WrittenArg> =
            read.operands.iter().flat_map(WrittenArg::elements).cloned().collect();
        if operands.len() > 4 {
            let hash = self.hashed(read.guard, &operands[1..])?;
            operands.truncate(1);
            operands.push(hash);
        }
        self.opaque(read.guard, ty, &read.name(), operands);
        Ok(())
    }

    /// Of a launch, other lanes are there, too.
    fn alone(&mut self) {
        if !matches!(self.contents.purpose, Purpose::Launch(_)) {
            self.note(LONE_LANE);
        }
    }

    fn lanes(&mut self) {
        self.note(LONE_LANE);
        self.note(OTHER_LANES);
    }

    /// The result of a predicate that is true.
    fn holds(&mut self, guard: Option<&WrittenGuard>, predicate: Option<&str>) {
        if let Some(predicate) = predicate.filter(|name| *name != "_") {
            let holds = written("mov.pred", &[&predicate, &1]);
            self.push(&holds.guarded(guard));
        }
    }

    fn shuffle(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let sync = usize::from(read.has("sync"));
        let [to, sources @ ..] = read.operands else { return Err("it has no operands".into()) };
        if sources.len() != 3 + sync {
            return Err("it has another number of operands than `shfl.sync`".into());
        }
        self.lanes();
        let (to, predicate) = with_predicate(to);
        // The predicate may be read as the guard, so it is written last.
        if !to.is_sink() {
            let operands = [&[to], &sources[..3]].concat();
            self.opaque(read.guard, "b32", &read.name(), operands);
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    fn vote(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let [to, from, ..] = read.operands else { return Err("it has no operands".into()) };
        self.note(LONE_LANE);
        let (negated, predicate) = if let WrittenArg::Negated(name) = from {
            (true, &name.operand())
        } else {
            (false, from)
        };
        let vote = if read.has("ballot") {
            let (yes, no) = if negated { (0, 1) } else { (1, 0) };
            written("selp.b32", &[to, &yes, &no, predicate])
        } else if read.has("uni") {
            written("mov.pred", &[to, &1])
        } else {
            let name = if negated { "not.pred" } else { "mov.pred" };
            written(name, &[to, predicate])
        };
        self.push(&vote.guarded(read.guard));
        Ok(())
    }

    fn elect(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let (to, predicate) = with_predicate(read.operands.first().ok_or("it has no operand")?);
        self.note(LONE_LANE);
        if !to.is_sink() {
            let first = written("mov.b32", &[&to, &0]);
            self.push(&first.guarded(read.guard));
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    fn matched(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let [to, from, ..] = read.operands else { return Err("it has no operands".into()) };
        self.lanes();
        let (to, predicate) = with_predicate(to);
        if !to.is_sink() {
            self.opaque(read.guard, "b32", &read.name(), vec![to, from.clone()]);
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    /// All operands as one number in a register of its own.
    fn hashed(
        &mut self,
        guard: Option<&WrittenGuard>,
        operands: &[WrittenArg],
    ) -> ReadResult<WrittenArg> {
        let register = self.names.plain("matrix hash").operand();
        let hash = chained(operands, |sources| {
            let all = [std::slice::from_ref(&register), sources].concat();
            self.opaque(guard, "u64", HASH, all);
            register.clone()
        });
        hash.ok_or_else(|| "it has no operands".into())
    }

    fn multiplied(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let [to, sources @ ..] = read.operands else { return Err("it has no operands".into()) };
        self.alone();
        self.note(MATRICES);
        let all: Vec<WrittenArg> = sources.iter().flat_map(WrittenArg::elements).cloned().collect();
        let hash = self.hashed(read.guard, &all)?;
        // The result has the type of the accumulator, which is named before the types of the factors.
        let shape = read.parts.iter().position(|part| *part == "row" || *part == "col");
        let types = shape.map_or(&[][..], |at| &read.parts[at + 1..]);
        let ty = types.iter().find(|part| matches!(**part, "f16" | "f32" | "f64" | "s32"));
        let ty = match ty.copied() {
            Some("f32") => "f32",
            Some("f64") => "f64",
            _ => "b32",
        };
        for (index, register) in to.elements().iter().enumerate() {
            let name = format!("{}.d{index}", read.name());
            self.opaque(read.guard, ty, &name, vec![register.clone(), hash.clone()]);
        }
        Ok(())
    }

    /// `ldmatrix` reads the row of 16 bytes whose address this thread has.
    fn matrix(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let [to, address] = read.operands else { return Err("it has no operands".into()) };
        if !read.has("b16") {
            return Err("it has elements of another size than 16 bits".into());
        }
        self.alone();
        self.note(MATRICES);
        let words = self.words_of_row();
        let name = if read.is_shared() { "ld.shared.v4.b32" } else { "ld.v4.b32" };
        let vector = WrittenArg::Vector(words.clone());
        let load = written(name, &[&vector, address]);
        self.push(&load.guarded(read.guard));
        let hash = self.hashed(read.guard, &words)?;
        let count = read.parts.iter().find(|part| matches!(**part, "x1" | "x2" | "x4"));
        let trans = if read.has("trans") { ".trans" } else { "" };
        for (index, register) in to.elements().iter().enumerate() {
            let name = format!("ldmatrix.{}{trans}.d{index}", count.copied().unwrap_or("x1"));
            self.opaque(read.guard, "b32", &name, vec![register.clone(), hash.clone()]);
        }
        Ok(())
    }

    /// `stmatrix` writes the row of 16 bytes whose address this thread has: with four matrices, each lane has one.
    fn stored_matrix(&mut self, read: &Uncomputed<'_>) -> ReadResult<()> {
        let [address, from] = read.operands else { return Err("it has no operands".into()) };
        if !read.has("b16") || !read.has("x4") {
            return Err("it is no `stmatrix.x4` of elements of 16 bits".into());
        }
        self.alone();
        self.note(MATRICES);
        let hash = self.hashed(read.guard, from.elements())?;
        let words = self.words_of_row();
        let trans = if read.has("trans") { ".trans" } else { "" };
        for (index, word) in words.iter().enumerate() {
            let name = format!("stmatrix.x4{trans}.d{index}");
            self.opaque(read.guard, "b32", &name, vec![word.clone(), hash.clone()]);
        }
        let name = if read.is_shared() { "st.shared.v4.b32" } else { "st.v4.b32" };
        let store = written(name, &[address, &WrittenArg::Vector(words)]);
        self.push(&store.guarded(read.guard));
        Ok(())
    }

    fn words_of_row(&mut self) -> Vec<WrittenArg> {
        let name = |index| format!("matrix word {index}");
        (0..4).map(|index| self.names.plain(&name(index)).operand()).collect()
    }
}
