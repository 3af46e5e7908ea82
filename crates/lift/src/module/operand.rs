//! Operands of PTX as a column writes them.

use model::isa::{SpaceQualifier, Type, TypeKind};
use model::memory::Space;
use ptx::{MemoryDeclaration, is_special};

use super::names::BlockName;
use super::{FunctionReader, ReadResult};
use crate::function::{EntryValue, FunctionVariable, Place};

/// Splits a list at the commas outside of brackets and braces.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let parts = parts.iter().map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// The elements of a vector, or the operand itself.
pub(super) fn elements(operand: &str) -> Vec<String> {
    let inside = operand.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inside.map_or_else(|| vec![operand.to_owned()], split)
}

/// Whether an operand begins a number.
fn starts_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '~' | '('))
}

/// The type of the constants of an instruction: of its sources.
fn constant_type(parts: &[&str]) -> Type {
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
    pub(super) fn operands(&mut self, text: &str, parts: &[&str]) -> ReadResult<Vec<String>> {
        let ty = constant_type(parts);
        split(text).iter().map(|operand| self.operand(operand, ty)).collect()
    }

    fn operand(&mut self, text: &str, ty: Type) -> ReadResult<String> {
        if let Some(inside) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let elements: ReadResult<Vec<String>> =
                split(inside).iter().map(|element| self.operand(element, ty)).collect();
            return Ok(format!("{{{}}}", elements?.join(", ")));
        }
        if let Some((first, second)) = text.split_once('|') {
            let [first, second] = [first, second].map(|name| self.scalar(name.trim(), ty));
            return Ok(format!("{}|{}", first?, second?));
        }
        if let Some(address) = text.strip_prefix('[') {
            let (inside, after) = address.split_once(']').ok_or("its address has no end")?;
            if !after.is_empty() && after != ".unified" {
                return Err("an element of an array is not supported".into());
            }
            return Ok(format!("[{}]{after}", self.address(inside.trim())?));
        }
        if text.contains('[') {
            return Err("an element of an array is not supported".into());
        }
        if let Some(name) = text.strip_prefix('!') {
            return Ok(format!("!{}", self.scalar(name.trim(), ty)?));
        }
        self.scalar(text, ty)
    }

    /// What is in the brackets of an address: a name, a number, or both.
    fn address(&mut self, text: &str) -> ReadResult<String> {
        let integer = Type { kind: TypeKind::Bits, bits: 64 };
        let Some((base, offset)) = text.split_once('+').filter(|_| !starts_number(text)) else {
            return self.scalar(text, integer);
        };
        let base = self.scalar(base.trim(), integer)?;
        let offset = number(offset.trim(), integer)?;
        Ok(match offset.strip_prefix('-') {
            _ if offset == "0" => base,
            Some(_) => format!("{base}{offset}"),
            None => format!("{base}+{offset}"),
        })
    }

    fn scalar(&mut self, text: &str, ty: Type) -> ReadResult<String> {
        if text == "_" {
            return Ok("_".to_owned());
        }
        if starts_number(text) {
            return number(text, ty);
        }
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let (name, after) = text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()));
        if is_special(name) {
            let special = text.trim_start_matches('%');
            let register = self.names.plain(&format!("special.{special}"));
            self.builder.entry(&register, EntryValue::Special(special.to_owned()));
            return Ok(register);
        }
        // `variable+4`
        let offset = after.trim().strip_prefix('+');
        if let Some(variable) = self.variable(name)? {
            return match offset {
                None if after.is_empty() => Ok(variable),
                _ => Err(format!("`{text}`: a sum of an address is not supported here")),
            };
        }
        if after.starts_with('.') {
            return Err(format!("an element of the vector `{name}` is not supported"));
        }
        if !after.is_empty() {
            return Err(format!("`{text}` is not supported"));
        }
        Ok(self.names.plain(name))
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
                } else if let Some(global) = self.contents.globals.get(name) {
                    let declared = global.declared;
                    let (hidden, at) = (!declared.linked, declared.at);
                    (global.own.clone(), declared, Place { hidden, of_function: false, at })
                } else {
                    return Ok(None);
                }
            }
        };
        self.remember(&own, &found, place)?;
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
        let initial = found.initial();
        let initial =
            initial.ok_or_else(|| format!("`{name}` is initialized with more than numbers"))?;
        let variable = FunctionVariable {
            name: own.to_owned(),
            space,
            bytes: found.bytes.unwrap_or(0),
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

/// A constant as a column writes it: a decimal number, or the bits of a float.
fn number(text: &str, ty: Type) -> ReadResult<String> {
    // The value of a constant that does not fit its instruction, such as a part of a policy, changes nothing.
    let single = Type { kind: TypeKind::Float, bits: 32 };
    let bits = ptx::constant_bits(text, ty).or_else(|| ptx::constant_bits(text, single));
    let bits = bits.ok_or_else(|| format!("the constant `{text}` is not supported"))?;
    let float = ty.kind == TypeKind::Float || text.contains("0f") || text.contains("0d");
    let digits = text.strip_suffix('U').unwrap_or(text);
    let digits = digits.strip_prefix('-').map_or(digits, str::trim_start);
    // A leading 0 means an octal number.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
        || digits.starts_with("0x");
    Ok(if float {
        format!("{bits:#x}")
    } else if plain {
        let sign = if text.starts_with('-') { "-" } else { "" };
        format!("{sign}{digits}")
    } else {
        bits.cast_signed().to_string()
    })
}
