//! Parameters and results: `ld.param` and `st.param`.

use std::collections::BTreeSet;

use ptx::{BodyItem, Instruction, PrintedOperand};

use super::operand::{constant_type, is_named};
use super::{FunctionReader, Purpose, ReadResult};
use crate::external::pieces;
use crate::function::{EntryValue, FunctionVariable, ReturnedWord};
use crate::written::{WrittenArg, WrittenGuard, WrittenInstruction, written};
use model::memory::Space;

/// The width of a type in bits; 0 if it does not have one.
pub(super) fn width(ty: &str) -> u16 {
    ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(0)
}

impl<'a> FunctionReader<'_, 'a> {
    /// `ld.param` of a parameter, `st.param` of the result, or an access to an argument of a call.
    pub(super) fn parameter(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
        parts: &[&str],
    ) -> ReadResult<()> {
        let refused = || format!("`{}` is not supported", instruction.text);
        let place = instruction.operands.iter().find_map(|operand| match operand {
            PrintedOperand::Address { base: Some(base), offset, .. } => {
                Some((base.to_string(), *offset))
            }
            PrintedOperand::Address { .. }
            | PrintedOperand::Scalar(_)
            | PrintedOperand::Vector(_)
            | PrintedOperand::Joined(_)
            | PrintedOperand::List(_) => None,
        });
        let (base, offset) = place.ok_or_else(refused)?;
        let outermost = self.frames.len() == 1;
        let result = self.result.filter(|(name, _)| outermost && *name == base);
        let own = self.declared(self.frame().index).parameters.iter();
        let index = own.into_iter().position(|parameter| parameter.name == base);
        let index = index.filter(|_| outermost);
        let results = &self.declared(self.frame().index).results;
        if outermost && result.is_none() && results.iter().any(|one| one.name == base) {
            // The function is refused for its results.
            return Ok(());
        }
        let in_memory = self.frame().arguments.contains_key(&base[..])
            || outermost && !self.frame().arguments.is_empty() && index.is_none();
        if result.is_none() && (index.is_none() || in_memory) {
            if !in_memory && self.variable(&base)?.is_none() {
                let text = instruction.text;
                return Err(format!("`{text}`: an address in the parameters that is computed"));
            }
            return self.argument(instruction, guard, parts);
        }
        let values = instruction.operands.iter().find_map(|operand| match operand {
            PrintedOperand::Scalar(scalar) => Some(std::slice::from_ref(scalar)),
            PrintedOperand::Vector(all) => Some(&all[..]),
            PrintedOperand::Address { .. }
            | PrintedOperand::Joined(_)
            | PrintedOperand::List(_) => None,
        });
        let values = values.ok_or_else(refused)?;
        let ty = parts.last().copied().unwrap_or("");
        let bits = width(ty);
        if bits == 0 || bits > 64 {
            return Err(refused());
        }
        let mut offset = u32::try_from(offset).map_err(|_| refused())?;
        for value in values {
            let value = self.scalar(&value.to_string(), constant_type(parts))?;
            if !value.is_sink() {
                let done = match (result, index) {
                    (Some(result), _) => self.piece_of_result(guard, result, offset, bits, &value),
                    (None, Some(index)) => {
                        self.piece_of_parameter(guard, index, offset, ty, &value)
                    }
                    (None, None) => None,
                };
                done.ok_or_else(|| {
                    format!("`{}` is outside the declared parameter", instruction.text)
                })?;
            }
            offset += u32::from(bits) / 8;
        }
        Ok(())
    }

    /// Copies each parameter whose address the function takes to local memory, where it is then.
    pub(super) fn addressed_parameters(&mut self, index: usize) {
        let own = self.declared(index).parameters.iter().map(|parameter| parameter.name);
        let own: Vec<&str> = own.collect();
        let body = self.contents.module.body(index);
        // A register, or memory of the body, may have the name of a parameter: an operand is that one then. Only a
        // register is written.
        let hides = |item: &BodyItem<'_>, parameter: &str| match item {
            BodyItem::Instruction(instruction) => {
                instruction.operands.first().is_some_and(|one| is_named(one, parameter))
            }
            BodyItem::Variable(variable) => variable.name == parameter,
            BodyItem::Register { .. }
            | BodyItem::Label(_)
            | BodyItem::Open
            | BodyItem::Close
            | BodyItem::Targets(_) => false,
        };
        let hidden = |parameter: &&str| body.iter().any(|item| hides(item, parameter));
        let mut addressed = BTreeSet::new();
        for item in &body {
            let BodyItem::Instruction(instruction) = item else { continue };
            if !instruction.memory {
                let operands = &instruction.operands;
                let named = |own: &&str| operands.iter().any(|one| is_named(one, own));
                addressed.extend(own.iter().position(named));
            }
        }
        addressed.retain(|number| !hidden(&own[*number]) && !self.is_tensormap(*number));
        for number in addressed {
            let Some(bits) = self.parameters.get(number).map(|parameter| parameter.bits) else {
                continue;
            };
            let (name, bytes) = (own[number], u32::from(bits) / 8);
            let memory = self.names.fresh(&format!("param.{number}.memory"));
            self.builder.variable(FunctionVariable {
                name: memory.clone(),
                space: Space::Local,
                bytes,
                ..FunctionVariable::default()
            });
            let whole = self.parameters[number].alignment.is_none();
            for (offset, bytes) in pieces(bytes) {
                let bits = u16::try_from(8 * bytes).expect("eight bytes at most");
                let (part, initial) = if whole {
                    (String::new(), EntryValue::Parameter(number))
                } else {
                    let piece = EntryValue::Piece { parameter: number, offset, bits };
                    (format!(".{offset}.whole"), piece)
                };
                let value = self.parameter_register(number, &part);
                self.builder.entry(&value, initial);
                let place = WrittenArg::address(&memory, offset.into());
                let store = format!("st.local.u{bits}");
                self.push(&written(store, &[&place, &value]));
            }
            let frame = self.frames.last_mut().expect("a function is being read");
            frame.arguments.insert(name, memory);
        }
    }

    /// The register of the word of the result that begins at a byte, and its bits.
    fn word_of_result(&mut self, name: &str, bytes: u32, begin: u32) -> (String, u16) {
        let bits = u16::try_from(8 * (bytes - begin).min(8)).expect("eight bytes at most");
        let register = match begin {
            0 => self.names.plain(name),
            _ => self.names.plain(&format!("{name}.{begin}")),
        };
        (register, bits)
    }

    /// The words of the result; none if nothing is stored there. A byte to which nothing is stored has no value.
    pub(super) fn returned_words(&mut self) -> Vec<ReturnedWord> {
        let Some(result) = self.result.filter(|_| self.returned) else { return Vec::new() };
        let mut words = Vec::new();
        for begin in (0..result.1).step_by(8) {
            let (register, bits) = self.word_of_result(result.0, result.1, begin);
            let stored = (0..u32::from(bits) / 8).filter(|at| self.stored.contains(&(begin + at)));
            let mask = stored.map(|at| 0xff << (8 * at)).sum();
            if mask == 0 {
                self.builder.entry(&register, EntryValue::Value(0));
            }
            words.push(ReturnedWord { register, mask });
        }
        words
    }

    /// Stores a part of the result.
    fn piece_of_result(
        &mut self,
        guard: Option<&WrittenGuard>,
        result: (&'a str, u32),
        offset: u32,
        bits: u16,
        value: &WrittenArg,
    ) -> Option<()> {
        if offset.checked_add(u32::from(bits) / 8).is_none_or(|end| end > result.1) {
            return None;
        }
        self.returned = true;
        let begin = offset - offset % 8;
        self.stored.extend(offset..offset + u32::from(bits) / 8);
        let (name, declared) = self.word_of_result(result.0, result.1, begin);
        let at = u16::try_from(8 * (offset - begin)).ok()?;
        if at + bits > declared {
            return None;
        }
        let moved = if (at, bits) == (0, declared) {
            match bits {
                8 => written("and.b32", &[&name, value, &255]),
                _ => written(format!("mov.b{bits}"), &[&name, value]),
            }
        } else {
            self.builder.entry(&name, EntryValue::Value(0));
            let insert = if declared <= 32 { "bfi.b32" } else { "bfi.b64" };
            let (at, bits) = (u32::from(at), u32::from(bits));
            written(insert, &[&name, value, &name, &at, &bits])
        };
        self.push(&moved.guarded(guard));
        Some(())
    }

    /// The register of a parameter, or of a part of it, which is called as the argument of a launch.
    fn parameter_register(&mut self, index: usize, part: &str) -> String {
        let number = format!("param.{index}{part}");
        let called = match self.contents.purpose {
            Purpose::Launch(launched) => launched.names.get(&index),
            Purpose::Lowering => None,
        };
        let wanted = called.map(|name| format!("{name}{part}"));
        self.names.called(&number, wanted.as_ref().unwrap_or(&number))
    }

    /// Loads a part of a parameter.
    fn piece_of_parameter(
        &mut self,
        guard: Option<&WrittenGuard>,
        index: usize,
        offset: u32,
        ty: &str,
        value: &WrittenArg,
    ) -> Option<()> {
        let parameter = self.parameters.get(index)?;
        let (whole, aggregate) = (parameter.bits, parameter.alignment.is_some());
        let bits = width(ty);
        if 8 * offset + u32::from(bits) > u32::from(whole) {
            return None;
        }
        let mut from = if aggregate {
            let from = self.parameter_register(index, &format!(".{offset}.b{bits}"));
            self.builder.entry(&from, EntryValue::Piece { parameter: index, offset, bits });
            from
        } else {
            let from = self.parameter_register(index, "");
            self.builder.entry(&from, EntryValue::Parameter(index));
            from
        };
        if !aggregate && offset > 0 {
            let piece = self.parameter_register(index, &format!(".{offset}"));
            let shift = written("shr.u64", &[&piece, &from, &(8 * offset)]);
            self.push(&shift.guarded(guard));
            from = piece;
        }
        let name = match (ty.chars().next(), bits) {
            (Some('s'), 8) => "cvt.s16.s8",
            (_, 8) => "cvt.u16.u8",
            _ if ty == "f16" || ty == "bf16" => "mov.b16",
            _ => &format!("mov.{ty}"),
        };
        self.push(&written(name, &[value, &from]).guarded(guard));
        Some(())
    }

    /// An access to an argument or a result of a call, which is memory of the thread.
    fn argument(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
        parts: &[&str],
    ) -> ReadResult<()> {
        let operands = self.operands(&instruction.operands, parts)?;
        let name: Vec<&str> = parts
            .iter()
            .map(|part| if part.starts_with("param") { "local" } else { part })
            .collect();
        if parts[0] == "st" {
            self.passes(instruction, parts)?;
        }
        let (name, guard) = (name.join("."), guard.cloned());
        self.push(&WrittenInstruction { labels: Vec::new(), guard, name, operands });
        Ok(())
    }

    /// Records the bytes of an argument that are stored.
    fn passes(&mut self, instruction: &Instruction<'a>, parts: &[&str]) -> ReadResult<()> {
        let lanes = instruction.operands.iter().map(|operand| match operand {
            PrintedOperand::Vector(all) => all.len(),
            PrintedOperand::Scalar(_)
            | PrintedOperand::Address { .. }
            | PrintedOperand::Joined(_)
            | PrintedOperand::List(_) => 1,
        });
        let lanes = u32::try_from(lanes.max().unwrap_or(1)).expect("a vector is short");
        let bytes = lanes * u32::from(width(parts.last().copied().unwrap_or(""))) / 8;
        for operand in &instruction.operands {
            if let PrintedOperand::Address { base: Some(base), offset, .. } = operand
                && let Ok(begin) = u32::try_from(*offset)
                && let Some(own) = self.variable(&base.to_string())?
            {
                self.passed.entry(own).or_default().extend(begin..begin + bytes);
            }
        }
        Ok(())
    }
}
