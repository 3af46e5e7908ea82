//! Operands of PTX as a column writes them.

use model::isa::{SpaceQualifier, Type, TypeKind};
use model::memory::Space;
use ptx::{MemoryDeclaration, PrintedOperand, is_special};

use super::names::BlockName;
use super::{FunctionReader, ReadResult, callee};
use crate::function::{EntryValue, FunctionVariable, Place};
use crate::written::{AddressArg, AsOperand, WrittenArg, WrittenScalar};

/// The scalars of an operand as they are written: itself, or the elements of a vector.
pub(super) fn scalars(operand: &PrintedOperand<'_>) -> Vec<String> {
    match operand {
        PrintedOperand::Scalar(scalar) => vec![scalar.to_string()],
        PrintedOperand::Vector(elements) => elements.iter().map(ToString::to_string).collect(),
        PrintedOperand::Address { .. } | PrintedOperand::Joined(_) | PrintedOperand::List(_) => {
            Vec::new()
        }
    }
}

/// Whether an operand is this name alone.
pub(super) fn is_named(operand: &PrintedOperand<'_>, name: &str) -> bool {
    matches!(operand, PrintedOperand::Scalar(scalar) if scalar.to_string() == name)
}

/// Whether an operand is a number.
pub(super) fn is_number(operand: &PrintedOperand<'_>) -> bool {
    matches!(operand, PrintedOperand::Scalar(scalar) if starts_number(&scalar.to_string()))
}

/// Whether an operand begins a number.
fn starts_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '~' | '('))
}

/// The type of the constants of an instruction: of its sources.
pub(crate) fn constant_type(parts: &[&str]) -> Type {
    let float = |name: &&&str| match **name {
        "f64" => Some(64),
        "f32" | "f32x2" => Some(32),
        "f16" => Some(16),
        _ => None,
    };
    let bits = parts.iter().rev().find_map(|name| float(&name));
    match bits {
        Some(bits) => Type { kind: TypeKind::Float, bits },
        None => Type { kind: TypeKind::Bits, bits: 64 },
    }
}

impl<'a> FunctionReader<'_, 'a> {
    /// The operands with names that a column allows. Variables and special registers are recorded.
    pub(super) fn operands(
        &mut self,
        operands: &[PrintedOperand<'_>],
        parts: &[&str],
    ) -> ReadResult<Vec<WrittenArg>> {
        let ty = constant_type(parts);
        renamed(operands, ty, &mut |name| self.named(name))
    }

    pub(super) fn scalar(&mut self, text: &str, ty: Type) -> ReadResult<WrittenArg> {
        scalar(text, ty, &mut |name| self.named(name))
    }

    /// The name in the column of a register, a variable or a label.
    fn named(&mut self, text: &str) -> ReadResult<WrittenScalar> {
        if text == "_" {
            return Ok("_".into());
        }
        if text.find('[').is_some_and(|at| at > 0) {
            return Err("an element of an array is not supported".into());
        }
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let (name, after) = text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()));
        if is_special(name) {
            let special = text.trim_start_matches('%');
            let register = self.names.plain(&format!("special.{special}"));
            self.builder.entry(&register, EntryValue::Special(special.to_owned()));
            return Ok(WrittenScalar::Name(register));
        }
        // `variable+4`
        let offset = after.trim().strip_prefix('+');
        if let Some(variable) = self.variable(name)? {
            return match offset {
                None if after.is_empty() => Ok(WrittenScalar::Name(variable)),
                _ => Err(format!("`{text}`: a sum of an address is not supported here")),
            };
        }
        if after.is_empty()
            && matches!(self.names.of_block(name), BlockName::Undeclared)
            && let Some(function) = self.contents.addressed(name)
        {
            return Ok(WrittenScalar::Number(callee::address(function)));
        }
        if after.starts_with('.') {
            return Err(format!("an element of the vector `{name}` is not supported"));
        }
        if !after.is_empty() {
            return Err(format!("`{text}` is not supported"));
        }
        Ok(WrittenScalar::Name(self.names.plain(name)))
    }

    /// The name in the column, if it is that of memory.
    pub(super) fn variable(&mut self, name: &str) -> ReadResult<Option<String>> {
        let index = self.frame().index;
        let hidden = !self.declared(index).linked;
        let inside =
            |found: &MemoryDeclaration<'_>| Place { hidden, of_function: true, at: found.at };
        let (own, found, place) = match self.names.of_block(name) {
            BlockName::Register => return Ok(None),
            BlockName::Memory(variable) => (self.names.plain(name), variable, inside(&variable)),
            BlockName::Undeclared => {
                if let Some(own) = self.frame().arguments.get(name) {
                    return Ok(Some(own.clone()));
                }
                let mut all = self.declared(index).variables.iter();
                if let Some(variable) = all.find(|variable| variable.name == name).copied() {
                    let own = self.variables[&(index, variable.name)].clone();
                    (own, variable, inside(&variable))
                } else {
                    return self.global(name);
                }
            }
        };
        self.remember(&own, &found, place)?;
        Ok(Some(own))
    }

    /// The same, if it is that of a variable of the module.
    pub(super) fn global(&mut self, name: &str) -> ReadResult<Option<String>> {
        let Some(global) = self.contents.globals.get(name) else { return Ok(None) };
        let (declared, own) = (global.declared, global.own.clone());
        let (hidden, at) = (!declared.linked, declared.at);
        self.remember(&own, &declared, Place { hidden, of_function: false, at })?;
        Ok(Some(own))
    }

    /// Declares memory to the builder when it is first used.
    fn remember(
        &mut self,
        own: &str,
        found: &MemoryDeclaration<'a>,
        place: Place,
    ) -> ReadResult<()> {
        let name = found.name;
        // The memory of an argument is private to the thread.
        let argument = found.space == SpaceQualifier::ParamFunc;
        let declared = found.space.space().unwrap_or(Space::Global);
        let space = if argument { Space::Local } else { declared };
        let function = |word: &str| self.contents.addressed(word).map(callee::address);
        let initial = found.initial(&function);
        let initial =
            initial.ok_or_else(|| format!("`{name}` is initialized with more than numbers"))?;
        let variable = FunctionVariable {
            name: own.to_owned(),
            space,
            bytes: found.bytes.unwrap_or(0),
            element: found.element,
            // The definition in another module may be larger.
            grows: found.bytes.is_none() || found.external && space == Space::Global,
            initial,
            alignment: found.alignment,
            place,
        };
        self.builder.variable(variable);
        Ok(())
    }
}

/// What the names of an instruction stand for: registers, variables, labels and `_`.
type Renaming<'r> = dyn FnMut(&str) -> ReadResult<WrittenScalar> + 'r;

/// Operands with other names. Their constants have this type.
pub(crate) fn renamed(
    operands: &[PrintedOperand<'_>],
    ty: Type,
    name: &mut Renaming<'_>,
) -> ReadResult<Vec<WrittenArg>> {
    let all = operands.iter().map(|operand| {
        Ok(match operand {
            PrintedOperand::Scalar(one) => scalar(&one.to_string(), ty, name)?,
            PrintedOperand::Vector(all) => {
                let all = all.iter().map(|one| scalar(&one.to_string(), ty, name));
                WrittenArg::Vector(all.collect::<ReadResult<_>>()?)
            }
            PrintedOperand::Address { base, offset, unified } => {
                let (base, offset) = match base {
                    Some(base) => (name(&base.to_string())?, *offset),
                    None => (WrittenScalar::Number(offset.cast_unsigned()), 0),
                };
                WrittenArg::Address(AddressArg { base, offset, unified: *unified })
            }
            PrintedOperand::Joined([first, second]) => WrittenArg::Joined(
                register(&first.to_string(), name)?,
                register(&second.to_string(), name)?,
            ),
            PrintedOperand::List(_) => return Err(format!("`{operand}` is not supported")),
        })
    });
    all.collect()
}

fn scalar(text: &str, ty: Type, name: &mut Renaming<'_>) -> ReadResult<WrittenArg> {
    if starts_number(text) {
        return constant(text, ty);
    }
    match text.strip_prefix('!') {
        Some(negated) => Ok(WrittenArg::Negated(register(negated, name)?)),
        None => Ok(name(text)?.operand()),
    }
}

/// What a name stands for where a number cannot be.
pub(crate) fn register(text: &str, name: &mut Renaming<'_>) -> ReadResult<String> {
    match name(text)? {
        WrittenScalar::Name(own) => Ok(own),
        WrittenScalar::Number(_) => Err(format!("`{text}` is a number")),
    }
}

/// A constant: an integer, or the bits of a float. Operands of one instruction may have several types (`cvt.rn.f32.s32`), so
/// that its own spelling says which it is.
fn constant(text: &str, ty: Type) -> ReadResult<WrittenArg> {
    let digits = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let exact = digits.starts_with("0f") || digits.starts_with("0d");
    let float = exact || digits.contains('.') || digits.contains('e') && !digits.contains("0x");
    let ty = if float { ty } else { Type { kind: TypeKind::Bits, bits: 64 } };
    // The value of a constant that does not fit its instruction, such as a part of a policy, changes nothing.
    let single = Type { kind: TypeKind::Float, bits: 32 };
    let bits = ptx::constant_bits(text, ty).or_else(|| ptx::constant_bits(text, single));
    let bits = bits.ok_or_else(|| format!("the constant `{text}` is not supported"))?;
    let bits_of_float = ty.kind == TypeKind::Float || exact;
    Ok(if bits_of_float { WrittenArg::Bits(bits) } else { WrittenArg::Number(bits) })
}
