//! Ends of blocks: branches, and their assignments to the phis of the next block.

use std::collections::{BTreeMap, BTreeSet};

use super::cell::CellValue;
use super::function::{LoweringResult, Root, Translator};
use super::operand::Value;
use super::step::{Block, InstructionKind, Terminator, Typed};
use super::ty::{ScalarType, Ty};
use lift::function::ReturnedWord;
use lift::written::written;
use text::cursor::short;

/// An assignment to a register on the edge between two blocks.
struct PhiMove {
    to: CellValue,
    from: CellValue,
    scalar: ScalarType,
}

/// The largest size of a returned value in bytes.
const MOST_RETURNED: u64 = 1024;

/// The note of a function with an undefined value in a phi.
const UNDEFINED_PHI: &str = "an undefined value of a phi is the earlier value of its register";

type Blocks<'a, 'm> = BTreeMap<&'a str, &'m Block<'a>>;

impl<'a, 'm> Translator<'a, 'm> {
    /// Translates the end of the block `here`. `next` is the next block of the column.
    pub(super) fn control(
        &mut self,
        end: &'m Terminator<'a>,
        here: &'a str,
        next: Option<&'a str>,
        blocks: &Blocks<'a, 'm>,
    ) -> LoweringResult<()> {
        match end {
            Terminator::Jump(target) => {
                let moves = self.moves(here, target, blocks)?;
                self.jump(&moves, target, next)
            }
            Terminator::Branch { condition, then, otherwise } => {
                self.branch(condition, then, otherwise, here, next, blocks)
            }
            Terminator::Switch { on, default, cases } => {
                self.switch(on, default, cases, here, next, blocks)
            }
            Terminator::Return(value) => self.returns(value.as_ref(), next.is_none()),
            Terminator::Unreachable => {
                let before = blocks.get(here).map_or(&[][..], |block| &block.instructions);
                let last = before.iter().rev().nth(1).map(|instruction| &instruction.step);
                match last {
                    // The callee ends the thread.
                    Some(InstructionKind::Call { callee, .. }) if self.is_external(callee) => {
                        self.row("exit", &[]);
                        Ok(())
                    }
                    _ => self.no("`unreachable` can be reached"),
                }
            }
        }
    }

    /// The assignments to the phis of `to` on the edge from `from`.
    fn moves(
        &mut self,
        from: &str,
        to: &str,
        blocks: &Blocks<'a, 'm>,
    ) -> LoweringResult<Vec<PhiMove>> {
        let mut moves = Vec::new();
        let instructions = blocks.get(to).map_or(&[][..], |block| &block.instructions);
        for instruction in instructions {
            let (InstructionKind::Phi { ty, incoming }, Some(name)) =
                (&instruction.step, instruction.result)
            else {
                continue;
            };
            let Some((value, _)) = incoming.iter().find(|(_, block)| *block == from) else {
                let message = format!("this phi has no value for the block `%{}`", short(from));
                return self.wrong("llvm-phi", message);
            };
            if self.unread.contains(name) || self.is_unread_value(value) {
                continue;
            }
            let sources = self.cells(ty, value)?;
            let targets = self.values[name].parts.clone();
            for ((scalar, to), from) in targets.into_iter().zip(sources) {
                if from == CellValue::Undefined {
                    self.note(UNDEFINED_PHI.to_owned());
                } else if to != from {
                    moves.push(PhiMove { to, from, scalar });
                }
            }
        }
        Ok(moves)
    }

    /// Performs the assignments in parallel. A value that is still needed is saved before it is overwritten.
    fn assign(&mut self, moves: &[PhiMove]) -> LoweringResult<()> {
        let written: BTreeSet<&CellValue> = moves.iter().map(|one| &one.to).collect();
        let conflict = moves.len() > 1 && moves.iter().any(|one| written.contains(&one.from));
        let mut aside = Vec::new();
        for one in moves {
            if let Some(predicate) = self.poison.get(&one.from).cloned() {
                self.undefined_if(&predicate);
            }
            if conflict {
                let kept = self.temporary();
                self.mov(one.scalar, &kept, &one.from)?;
                aside.push(kept);
            } else {
                self.mov(one.scalar, &one.to, &one.from)?;
            }
        }
        for (one, kept) in moves.iter().zip(aside) {
            self.mov(one.scalar, &one.to, &kept)?;
        }
        // No execution goes on in which one of them is poison.
        for one in moves {
            self.poison.remove(&one.to);
        }
        Ok(())
    }

    fn jump(&mut self, moves: &[PhiMove], target: &str, next: Option<&str>) -> LoweringResult<()> {
        self.assign(moves)?;
        if next != Some(target) {
            let label = self.label(target);
            self.row("bra", &[&label]);
        }
        Ok(())
    }

    fn branch(
        &mut self,
        condition: &'m Typed<'a>,
        then: &'a str,
        otherwise: &'a str,
        here: &'a str,
        next: Option<&'a str>,
        blocks: &Blocks<'a, 'm>,
    ) -> LoweringResult<()> {
        let cell = self.cell(condition)?;
        let (yes, no) = (self.moves(here, then, blocks)?, self.moves(here, otherwise, blocks)?);
        if then == otherwise || cell.number() == Some(1) {
            return self.jump(&yes, then, next);
        }
        if cell.number().is_some() {
            return self.jump(&no, otherwise, next);
        }
        if yes.is_empty() {
            let label = self.label(then);
            self.row_when(&cell, "bra", &[&label]);
            return self.jump(&no, otherwise, next);
        }
        if no.is_empty() {
            let label = self.label(otherwise);
            self.guarded(&cell, true, written("bra", &[&label]));
            return self.jump(&yes, then, next);
        }
        let edge = self.fresh("edge");
        self.row_when(&cell, "bra", &[&edge]);
        self.jump(&no, otherwise, None)?;
        self.place(edge);
        self.jump(&yes, then, next)
    }

    fn switch(
        &mut self,
        on: &'m Typed<'a>,
        default: &'a str,
        cases: &'m [(Typed<'a>, &'a str)],
        here: &'a str,
        next: Option<&'a str>,
        blocks: &Blocks<'a, 'm>,
    ) -> LoweringResult<()> {
        let cell = self.cell(on)?;
        let mut edges = Vec::new();
        for (case, target) in cases {
            let wanted = self.cell(case)?;
            let equal = self.equal(&on.0, &cell, &wanted)?;
            let moves = self.moves(here, target, blocks)?;
            if moves.is_empty() {
                let label = self.label(target);
                self.row_when(&equal, "bra", &[&label]);
            } else {
                let edge = self.fresh("edge");
                self.row_when(&equal, "bra", &[&edge]);
                edges.push((edge, moves, *target));
            }
        }
        let moves = self.moves(here, default, blocks)?;
        self.jump(&moves, default, if edges.is_empty() { next } else { None })?;
        for (edge, moves, target) in edges {
            self.place(edge);
            self.jump(&moves, target, None)?;
        }
        Ok(())
    }

    fn returns(&mut self, value: Option<&'m Typed<'a>>, last: bool) -> LoweringResult<()> {
        let ty = value.map_or(&Ty::Void, |value| &value.0);
        let definition = self.inlined.as_ref().map_or(self.definition, |call| call.definition);
        let result = &definition.result;
        let pointers = matches!((ty, result), (Ty::Ptr(_), Ty::Ptr(_)));
        if ty != result && !pointers {
            return self.wrong("llvm-type", "the returned value has a different type".to_owned());
        }
        if self.inlined.is_some() {
            return self.returns_to_call(value, last);
        }
        if let Some(value) = value {
            self.kept_inside(&value.1)?;
            let (words, wide) = self.words(value)?;
            if self.result.is_empty() {
                for (_, mask) in &words {
                    let register = self.fresh("result");
                    self.result.push(ReturnedWord { register, mask: *mask });
                }
            }
            for (index, (from, mask)) in words.into_iter().enumerate() {
                let held = &mut self.result[index];
                // What one path leaves undefined is not compared.
                held.mask &= mask;
                let to = held.register.clone();
                self.row(format!("mov.b{wide}"), &[&to, &from]);
            }
        }
        if !last {
            self.row("ret", &[]);
        }
        Ok(())
    }

    /// A returned value in words of 64 bits, as it is in memory, the bits of each that have a value, and the width of
    /// their registers.
    pub(super) fn words(
        &mut self,
        (ty, value): &Typed<'a>,
    ) -> LoweringResult<(Vec<(CellValue, u64)>, u32)> {
        let cells = self.cells(ty, value)?;
        let types = &self.module.types;
        let short = matches!(ty, Ty::Ptr(space) if types.is_short(*space));
        let scalars = ty.parts(types).unwrap_or_default();
        let places = match scalars[..] {
            [scalar] => {
                self.container(scalar)?;
                Some(vec![(scalar, 0)])
            }
            _ => ty.places(types),
        };
        let bytes = ty.stride(types).filter(|bytes| *bytes <= MOST_RETURNED);
        let (Some(places), Some(bytes)) = (places, bytes) else {
            return self.no("a result of this type is not supported");
        };
        let wide = if bytes > 4 || short { 64 } else { 32 };
        let mut words = Vec::new();
        for begin in (0..bytes).step_by(8) {
            let (mut parts, mut mask) = (Vec::new(), 0);
            for ((scalar, offset), cell) in places.iter().zip(&cells) {
                // A part has its place in one word, or begins one and has another.
                let Some(more) = begin.checked_sub(offset - offset % 8) else { continue };
                let all = if short { 32 } else { scalar.bits() };
                let bits = all.saturating_sub(if more == 0 { 0 } else { 64 }).min(64);
                if more > 8 || bits == 0 || *cell == CellValue::Undefined {
                    continue;
                }
                let at = u32::try_from(8 * (offset % 8)).unwrap_or(0);
                if at + bits > 64 {
                    return self.no("a result with parts that no register holds is not supported");
                }
                let (low, high) = self.halves(*scalar, cell);
                let part = if more == 0 { low } else { high };
                // A pointer of 32 bits is in a register of 64 bits.
                let scalar = if all <= 64 { *scalar } else { ScalarType::Int(bits) };
                parts.push(((scalar, part), at));
                mask |= (u64::MAX >> (64 - bits)) << at;
            }
            words.push((self.packed_at(&parts, wide), mask));
        }
        Ok((words, wide))
    }

    /// Refuses a use that passes on the address of a local variable.
    pub(super) fn kept_inside(&self, value: &Value<'a>) -> LoweringResult<()> {
        if let Root::Alloca(name) = self.root(value) {
            let name = short(name);
            return self.no(format!("the address of the local variable `%{name}` is passed on"));
        }
        Ok(())
    }
}
