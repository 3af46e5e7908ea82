//! Inline assembly. The template is read as PTX, and its accesses and fences become the operations of C++ with
//! the same order and scope ([`lift::fragment`]).

use std::collections::BTreeMap;

use super::cell::CellValue;
use super::function::{LoweringResult, Translator};
use super::step::{InlineAssembly, Typed};
use super::ty::{ScalarType, Ty};
use lift::fragment::{self, FragmentRegister, Surroundings, VectorAlignment};
use lift::written::{WrittenGuard, WrittenScalar};
use text::cursor::short;

/// The prefix of the names that stand for operands in a template.
const OPERAND: &str = "inline_operand_";

/// The note of each function with inline assembly that accesses memory.
const MEANING: &str = "accesses and fences of inline assembly are judged as the operations of C++ with \
                       their order and scope";

/// An operand of a template.
struct AsmOperand {
    /// The register, or for a constant its number.
    cell: CellValue,
    constant: bool,
    predicate: bool,
}

/// The constraints by their kind.
#[derive(Default)]
struct Constraints<'a> {
    /// The number of results.
    outputs: usize,
    inputs: Vec<&'a str>,
    clobbers_memory: bool,
}

/// The names of a template in the column.
struct TemplateNames<'t, 'a, 'm> {
    translator: &'t mut Translator<'a, 'm>,
    operands: &'t [AsmOperand],
    known: BTreeMap<String, String>,
}

impl Surroundings for TemplateNames<'_, '_, '_> {
    fn name(&mut self, name: &str) -> Result<WrittenScalar, String> {
        if let Some(index) = name.strip_prefix(OPERAND) {
            let operand = index.parse::<usize>().ok().and_then(|index| self.operands.get(index));
            return operand
                .map(|operand| (&operand.cell).into())
                .ok_or_else(|| format!("the template has no operand `${}`", short(index)));
        }
        if let Some(known) = self.known.get(name) {
            return Ok(known.into());
        }
        let own = self.translator.fresh(name.trim_start_matches('%'));
        self.known.insert(name.to_owned(), own.clone());
        Ok(WrittenScalar::Name(own))
    }

    fn special(&mut self, name: &str) -> Result<String, String> {
        Ok(self.translator.special_register(name))
    }

    fn temporary(&mut self) -> String {
        self.translator.fresh("t")
    }
}

/// The bytes of a string of LLVM IR: `\0A` is a byte in hexadecimal.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(u8::is_ascii) {
            out.push(code.into());
            rest = &rest[2..];
        } else {
            out.push('\\');
            rest = rest.strip_prefix('\\').unwrap_or(rest);
        }
    }
    out + rest
}

/// The template with names for its operands, or why it is not supported. `uid` is the number that
/// `${:uid}` stands for.
fn expanded(template: &str, operands: &[AsmOperand], uid: usize) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let index = if let Some(inside) = rest.strip_prefix('{') {
            let end = inside.find('}').ok_or("unbalanced `${`")?;
            let (name, modifier) = match inside[..end].split_once(':') {
                Some((name, modifier)) => (name, modifier),
                None => (&inside[..end], ""),
            };
            rest = &inside[end + 1..];
            match (name, modifier) {
                ("", "uid") => {
                    out.push_str(&uid.to_string());
                    continue;
                }
                (_, "" | "c") => name,
                _ => {
                    return Err(format!(
                        "`${{{}}}` in a template is not supported",
                        short(&inside[..end])
                    ));
                }
            }
        } else {
            let end = digits(rest);
            let (index, after) = rest.split_at(end);
            rest = after;
            index
        };
        let operand = index.parse::<usize>().ok().and_then(|index| operands.get(index));
        let operand =
            operand.ok_or_else(|| format!("the template has no operand `${}`", short(index)))?;
        if let (true, Some(number)) = (operand.constant, operand.cell.number()) {
            out.push_str(&number.cast_signed().to_string());
        } else {
            out.push_str(OPERAND);
            out.push_str(index);
        }
    }
    Ok(out + rest)
}

impl<'a> Translator<'a, '_> {
    fn constraints(&self, text: &'a str) -> LoweringResult<Constraints<'a>> {
        let mut constraints = Constraints::default();
        for one in text.split(',').filter(|one| !one.is_empty()) {
            if let Some(clobber) = one.strip_prefix('~') {
                constraints.clobbers_memory |= clobber == "{memory}";
            } else if let Some(output) = one.strip_prefix('=') {
                if output.contains('*') {
                    return self.no("a result of inline assembly in memory is not supported");
                }
                constraints.outputs += 1;
            } else if one.starts_with('!') || one.contains('*') {
                return self.no(format!("the constraint `{}` is not supported", short(one)));
            } else {
                constraints.inputs.push(one);
            }
        }
        Ok(constraints)
    }

    /// Translates a call of inline assembly.
    pub(super) fn assembly(
        &mut self,
        assembly: &InlineAssembly<'a>,
        result: &[(ScalarType, CellValue)],
    ) -> LoweringResult<()> {
        let constraints = self.constraints(assembly.constraints)?;
        let outputs: Vec<Ty> = match assembly.result.resolved(&self.module.types) {
            _ if constraints.outputs == 0 => Vec::new(),
            Some(Ty::Struct { fields, .. }) if constraints.outputs > 1 => fields.clone(),
            _ => vec![assembly.result.clone()],
        };
        if outputs.len() != constraints.outputs
            || constraints.inputs.len() != assembly.arguments.len()
        {
            return self.wrong(
                "llvm-asm",
                "the constraints do not fit the operands of the inline assembly".to_owned(),
            );
        }
        let mut operands = Vec::new();
        for ty in &outputs {
            let cell = self.temporary();
            operands.push(AsmOperand { cell, constant: false, predicate: *ty == Ty::BIT });
        }
        for (constraint, argument) in constraints.inputs.iter().zip(&assembly.arguments) {
            let operand = self.input(constraint, argument, &operands)?;
            operands.push(operand);
        }
        let template = unescaped(assembly.template);
        let template = match expanded(&template, &operands, self.builder.len()) {
            Ok(template) => template,
            Err(why) => return self.no(format!("inline assembly: {why}")),
        };
        let registers = operands.iter().enumerate().map(|(index, operand)| FragmentRegister {
            name: format!("{OPERAND}{index}"),
            predicate: operand.predicate,
        });
        let registers: Vec<FragmentRegister> = registers.collect();
        let mut names =
            TemplateNames { translator: self, operands: &operands, known: BTreeMap::new() };
        let fragment = match fragment::read(&template, &registers, &mut names) {
            Ok(fragment) => fragment,
            Err(why) => return self.no(format!("inline assembly: {why}")),
        };
        for row in fragment.rows {
            if let Some(alignment) = &row.alignment {
                self.promise(Some(alignment.bytes.into()));
                if self.checked {
                    self.undefined_unless_aligned(alignment);
                }
            }
            let line = self.push(row.instruction);
            (line.volatile, line.read_only) = (row.volatile, row.read_only);
        }
        if fragment.touches_memory {
            self.note(MEANING.to_owned());
            if !constraints.clobbers_memory && !assembly.volatile {
                let line = self.line();
                self.note(format!(
                    "line {line}: this inline assembly accesses or orders memory, and says neither \
                     `sideeffect` nor `~{{memory}}`: a compiler may move or delete it"
                ));
            }
        }
        let mut rest = result;
        for (ty, operand) in outputs.iter().zip(&operands) {
            let count = ty.parts(&self.module.types).map_or(0, |parts| parts.len());
            let Some((these, others)) = rest.split_at_checked(count) else { break };
            rest = others;
            match these {
                [(scalar @ ScalarType::Int(1), to)] => self.mov(*scalar, to, &operand.cell)?,
                _ => self.unpacked(&operand.cell, these)?,
            }
        }
        Ok(())
    }

    /// A vector at an address that is not a multiple of its size is undefined, as in PTX.
    fn undefined_unless_aligned(&mut self, vector: &VectorAlignment) {
        let VectorAlignment { guard, base, offset, bytes } = vector;
        let place = self.made_by("add.u64", &[base, offset]);
        let rest = self.made_by("and.b64", &[&place, &(bytes - 1)]);
        let mut misaligned = self.made_by("setp.ne.u64", &[&rest, &0]);
        if let Some(WrittenGuard { predicate, negated }) = guard {
            let executed = if *negated {
                self.made_by("not.pred", &[predicate])
            } else {
                CellValue::Register(predicate.clone())
            };
            misaligned = self.made_by("and.pred", &[&misaligned, &executed]);
        }
        self.undefined_if(&misaligned);
    }

    /// An operand that the template reads. A tied one is moved to the register of its result.
    fn input(
        &mut self,
        constraint: &str,
        argument: &Typed<'a>,
        results: &[AsmOperand],
    ) -> LoweringResult<AsmOperand> {
        self.kept_inside(&argument.1)?;
        let Some(scalars) = argument.0.parts(&self.module.types) else {
            return self.no("an operand of this type is not supported");
        };
        let cells = self.cells(&argument.0, &argument.1)?;
        let parts: Vec<_> = scalars.into_iter().zip(cells).collect();
        let predicate = matches!(parts[..], [(ScalarType::Int(1), _)]);
        let cell = match &parts[..] {
            [(ScalarType::Int(1), cell)]
                if constraint != "b" && constraint.parse::<usize>().is_err() =>
            {
                let number = self.number_of(cell);
                return Ok(AsmOperand {
                    constant: constraint == "n",
                    cell: number,
                    predicate: false,
                });
            }
            [(_, cell)] if *cell != CellValue::Undefined => cell.clone(),
            _ => self.packed(&parts)?,
        };
        if constraint == "n" || constraint == "i" {
            let Some(number) = cell.number() else {
                return self.no("an immediate of inline assembly that is not a number");
            };
            // LLVM writes the number with its sign, whatever the width of the instruction.
            let unused = match &parts[..] {
                [(ScalarType::Int(bits), _)] => 64_u32.saturating_sub(*bits),
                _ => 0,
            };
            let signed = (number << unused).cast_signed() >> unused;
            let cell = CellValue::Number(signed.cast_unsigned());
            return Ok(AsmOperand { cell, constant: true, predicate: false });
        }
        let scalar = match &parts[..] {
            [(scalar, _)] => *scalar,
            _ => ScalarType::Int(if parts.iter().map(|p| p.0.bits()).sum::<u32>() > 32 {
                64
            } else {
                32
            }),
        };
        if let Ok(index) = constraint.parse::<usize>() {
            let Some(result) = results.get(index) else {
                return self.no(format!("the constraint `{}` is not supported", short(constraint)));
            };
            let to = result.cell.clone();
            self.mov(scalar, &to, &cell)?;
            return Ok(AsmOperand { cell: to, constant: false, predicate });
        }
        // A template may name an operand where PTX allows no number.
        let cell = if cell.number().is_some() {
            let held = self.temporary();
            self.mov(scalar, &held, &cell)?;
            held
        } else {
            cell
        };
        Ok(AsmOperand { cell, constant: false, predicate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(name: &str) -> AsmOperand {
        let cell = CellValue::Register(name.to_owned());
        AsmOperand { cell, constant: false, predicate: false }
    }

    #[test]
    fn strings_have_bytes_in_hexadecimal() {
        assert_eq!(unescaped("a;\\0A\\09b \\22c\\22 \\\\"), "a;\n\tb \"c\" \\");
    }

    #[test]
    fn operands_of_templates_are_numbers_behind_a_sign() {
        let four = AsmOperand { cell: CellValue::Number(4), constant: true, predicate: false };
        let operands = [register("x"), four];
        let of = |template: &str| expanded(template, &operands, 7);
        assert_eq!(
            of("ld.u32 $0, [${0}+$1]; L_${:uid}: bra $$L;").as_deref(),
            Ok("ld.u32 inline_operand_0, [inline_operand_0+4]; L_7: bra $L;")
        );
        assert_eq!(of("mov.u32 $2, 0;"), Err("the template has no operand `$2`".to_owned()));
        assert!(of("mov.u32 ${0:x}, 0;").is_err());
    }
}
