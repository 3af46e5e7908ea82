//! Instructions that are not computed: what the hardware approximates, operations of a warp, and matrices.
//!
//! The thread is the first of its warp, and the only one that is active. What other lanes contribute, and what is
//! approximated, is an uninterpreted function of the operands of this lane.

use super::operand::elements;
use super::{FunctionReader, ReadResult};
use crate::opaque::{HASH, LONE_LANE, MATRICES, OTHER_LANES, chained};

/// The instructions with an approximated result.
const APPROXIMATED: &[&str] = &["ex2", "lg2", "sin", "cos", "tanh", "rsqrt"];

/// Whether an opcode that the model leaves out is read.
pub(super) fn is_read(opcode: &str) -> bool {
    let others = ["shfl", "vote", "activemask", "elect", "match", "redux", "mma", "ldmatrix"];
    APPROXIMATED.contains(&opcode) || others.contains(&opcode) || opcode == "createpolicy"
}

/// An instruction with its operands as a column writes them.
pub(super) struct WrittenInstruction<'w> {
    /// `@p `, or nothing.
    pub(super) guard: &'w str,
    /// The opcode and its modifiers.
    pub(super) parts: &'w [&'w str],
    pub(super) operands: &'w [String],
}

impl WrittenInstruction<'_> {
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
fn with_predicate(operand: &str) -> (&str, Option<&str>) {
    operand.split_once('|').map_or((operand, None), |(value, predicate)| (value, Some(predicate)))
}

impl FunctionReader<'_, '_> {
    /// Whether the instruction was one of these.
    pub(super) fn not_computed(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<bool> {
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
            "activemask" => self.lone(read, |to| format!("mov.b32 {to}, 1"))?,
            "elect" => self.elect(read)?,
            "match" => self.matched(read)?,
            "redux" => {
                let operands = read.operands.get(..2).ok_or("it has fewer than two operands")?;
                self.lanes();
                self.opaque(read.guard, "b32", &read.name(), operands);
            }
            "mma" => self.multiplied(read)?,
            "ldmatrix" => self.matrix(read)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An uninterpreted function of a destination and its operands.
    fn opaque(&mut self, guard: &str, ty: &str, name: &str, operands: &[String]) {
        self.push(&format!("{guard}opaque.{ty}.{name} {}", operands.join(", ")));
    }

    fn approximated(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
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
        let mut operands: Vec<String> =
            read.operands.iter().flat_map(|operand| elements(operand)).collect();
        if operands.len() > 4 {
            let hash = self.hashed(read.guard, &operands[1..])?;
            operands.truncate(1);
            operands.push(hash);
        }
        self.opaque(read.guard, ty, &read.name(), &operands);
        Ok(())
    }

    fn lanes(&mut self) {
        self.note(LONE_LANE);
        self.note(OTHER_LANES);
    }

    /// One cell with the first operand.
    fn lone(
        &mut self,
        read: &WrittenInstruction<'_>,
        cell: impl FnOnce(&str) -> String,
    ) -> ReadResult<()> {
        self.note(LONE_LANE);
        let to = read.operands.first().ok_or("it has no operand")?;
        let cell = cell(to);
        self.push(&format!("{}{cell}", read.guard));
        Ok(())
    }

    /// The result of a predicate that is true.
    fn holds(&mut self, guard: &str, predicate: Option<&str>) {
        if let Some(predicate) = predicate.filter(|name| *name != "_") {
            self.push(&format!("{guard}mov.pred {predicate}, 1"));
        }
    }

    fn shuffle(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let sync = usize::from(read.has("sync"));
        let [to, sources @ ..] = read.operands else { return Err("it has no operands".into()) };
        if sources.len() != 3 + sync {
            return Err("it has another number of operands than `shfl.sync`".into());
        }
        self.lanes();
        let (to, predicate) = with_predicate(to);
        // The predicate may be read as the guard, so it is written last.
        if to != "_" {
            let mut operands = vec![to.to_owned()];
            operands.extend_from_slice(&sources[..3]);
            self.opaque(read.guard, "b32", &read.name(), &operands);
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    fn vote(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let [to, from, ..] = read.operands else { return Err("it has no operands".into()) };
        self.note(LONE_LANE);
        let (negated, predicate) =
            from.strip_prefix('!').map_or((false, &from[..]), |name| (true, name));
        let guard = read.guard;
        let cell = if read.has("ballot") {
            let (yes, no) = if negated { (0, 1) } else { (1, 0) };
            format!("{guard}selp.b32 {to}, {yes}, {no}, {predicate}")
        } else if read.has("uni") {
            format!("{guard}mov.pred {to}, 1")
        } else if negated {
            format!("{guard}not.pred {to}, {predicate}")
        } else {
            format!("{guard}mov.pred {to}, {predicate}")
        };
        self.push(&cell);
        Ok(())
    }

    fn elect(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let (to, predicate) = with_predicate(read.operands.first().ok_or("it has no operand")?);
        self.note(LONE_LANE);
        if to != "_" {
            self.push(&format!("{}mov.b32 {to}, 0", read.guard));
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    fn matched(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let [to, from, ..] = read.operands else { return Err("it has no operands".into()) };
        self.lanes();
        let (to, predicate) = with_predicate(to);
        if to != "_" {
            let operands = [to.to_owned(), from.clone()];
            self.opaque(read.guard, "b32", &read.name(), &operands);
        }
        self.holds(read.guard, predicate);
        Ok(())
    }

    /// All operands as one number in a register of its own.
    fn hashed(&mut self, guard: &str, operands: &[String]) -> ReadResult<String> {
        let register = self.names.plain("matrix hash");
        let hash = chained(operands, |sources| {
            let mut all = vec![register.clone()];
            all.extend_from_slice(sources);
            self.opaque(guard, "u64", HASH, &all);
            register.clone()
        });
        hash.ok_or_else(|| "it has no operands".into())
    }

    fn multiplied(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let [to, sources @ ..] = read.operands else { return Err("it has no operands".into()) };
        self.note(LONE_LANE);
        self.note(MATRICES);
        let mut all = Vec::new();
        for source in sources {
            all.extend(elements(source));
        }
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
        for (index, register) in elements(to).into_iter().enumerate() {
            let name = format!("{}.d{index}", read.name());
            self.opaque(read.guard, ty, &name, &[register, hash.clone()]);
        }
        Ok(())
    }

    /// `ldmatrix` reads the row of 16 bytes whose address this thread has.
    fn matrix(&mut self, read: &WrittenInstruction<'_>) -> ReadResult<()> {
        let [to, address] = read.operands else { return Err("it has no operands".into()) };
        if !read.has("b16") {
            return Err("it has elements of another size than 16 bits".into());
        }
        self.note(LONE_LANE);
        self.note(MATRICES);
        let words: Vec<String> =
            (0..4).map(|index| self.names.plain(&format!("matrix word {index}"))).collect();
        let space =
            if read.parts.iter().any(|part| part.starts_with("shared")) { ".shared" } else { "" };
        self.push(&format!("{}ld{space}.v4.b32 {{{}}}, {address}", read.guard, words.join(", ")));
        let hash = self.hashed(read.guard, &words)?;
        let count = read.parts.iter().find(|part| matches!(**part, "x1" | "x2" | "x4"));
        let trans = if read.has("trans") { ".trans" } else { "" };
        for (index, register) in elements(to).into_iter().enumerate() {
            let name = format!("ldmatrix.{}{trans}.d{index}", count.copied().unwrap_or("x1"));
            self.opaque(read.guard, "b32", &name, &[register, hash.clone()]);
        }
        Ok(())
    }
}
