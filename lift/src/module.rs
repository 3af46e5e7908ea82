//! Translates the functions of a PTX module.
//!
//! Characters that a column does not allow are replaced in names. Loads of parameters become moves, and the
//! store of a result becomes the return value.

use std::collections::{BTreeMap, BTreeSet};

use model::isa::SpaceQualifier;
use model::memory::Space;
use ptx::qualifier::Dialect;
use ptx::{
    FunctionDeclaration, Instruction, MemoryDeclaration, Module, PrintedOperand, is_special,
};

use crate::builder::FunctionBuilder;
use crate::function::{
    EntryValue, Function, FunctionVariable, Functions, Language, Parameter, Refused, is_reserved,
};

/// Opcodes without an effect on memory, values or control flow.
const NOTHING: &[&str] = &["nanosleep", "pragma", "prefetch", "prefetchu", "discard", "pmevent"];

/// The assumed size in bytes of an array without a declared size, such as dynamic shared memory.
const UNSIZED: u32 = 128;

/// A function that is being read.
struct FunctionReader<'m, 'a> {
    function: &'m FunctionDeclaration<'a>,
    globals: &'m BTreeMap<&'a str, MemoryDeclaration<'a>>,
    names: Names<'m>,
    notes: Vec<String>,
    parameters: Vec<Parameter>,
    /// The result: its name and its width in bits.
    result: Option<(&'a str, u16)>,
    returned: bool,
    variables: Vec<FunctionVariable>,
    initial: BTreeMap<String, EntryValue>,
    builder: FunctionBuilder,
    /// The line of the current instruction.
    line: usize,
}

/// A PTX name with the characters that a column allows.
fn plain(name: &str) -> String {
    let name = name.strip_prefix('%').unwrap_or(name);
    let first = name.starts_with(|c: char| c.is_ascii_digit());
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    first.then_some('_').into_iter().chain(letters).collect()
}

/// Maps PTX names to names of a column. Different names stay different: `%r`, `r`, `$r` and `_r` are four
/// names.
#[derive(Default)]
struct Names<'m> {
    /// The names of the variables of the module, which are the same in all of its functions.
    outer: Option<&'m Names<'m>>,
    of: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl Names<'_> {
    fn known(&self, name: &str) -> Option<&String> {
        self.of.get(name).or_else(|| self.outer.and_then(|outer| outer.known(name)))
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name) || self.outer.is_some_and(|outer| outer.is_taken(name))
    }

    fn plain(&mut self, name: &str) -> String {
        if let Some(known) = self.known(name) {
            return known.clone();
        }
        let base = plain(name);
        let mut own = base.clone();
        let mut next = 2;
        while is_reserved(&own) || self.is_taken(&own) {
            own = format!("{base}_{next}");
            next += 1;
        }
        self.taken.insert(own.clone());
        self.of.insert(name.to_owned(), own.clone());
        own
    }
}

/// The functions of a module that have a body.
pub fn functions(module: &Module<'_>) -> Functions {
    let mut names = Names::default();
    let globals = module.globals().into_iter();
    let globals = globals
        .map(|global| {
            names.plain(global.name);
            (global.name, global)
        })
        .collect();
    let functions = module.declared_functions().into_iter().enumerate();
    functions
        .map(|(index, declared)| {
            let read = function(module, index, &declared, (&globals, &names));
            (declared.name.to_owned(), read)
        })
        .collect()
}

fn function<'a>(
    module: &Module<'a>,
    index: usize,
    declared: &FunctionDeclaration<'a>,
    (globals, outer): (&BTreeMap<&'a str, MemoryDeclaration<'a>>, &Names<'_>),
) -> Result<Function, Refused> {
    let line = declared.line;
    if let Some((register, line)) = declared.shadowed {
        let why = format!("two registers are called `{register}`");
        return Err(Refused { line, why });
    }
    if module.address_bits() == Some(32) {
        return Err(Refused { line, why: "32-bit addresses are not supported".to_owned() });
    }
    let mut reader = FunctionReader {
        function: declared,
        globals,
        names: Names { outer: Some(outer), ..Names::default() },
        notes: Vec::new(),
        parameters: Vec::new(),
        result: None,
        returned: false,
        variables: Vec::new(),
        initial: BTreeMap::new(),
        builder: FunctionBuilder::new(Dialect::Ptx),
        line,
    };
    let refuse = |line: usize| move |why: String| Refused { line, why };
    reader.signature().map_err(refuse(line))?;
    let labels = module.labels(index);
    let mut labels = labels.iter().peekable();
    let mut before = |reader: &mut FunctionReader<'_, '_>, index: usize| {
        while let Some((label, _)) = labels.next_if(|(_, at)| *at <= index) {
            let label = reader.names.plain(label);
            reader.push(&format!("{label}:"));
        }
    };
    let mut count = 0;
    for (index, instruction) in module.instructions(index).enumerate() {
        reader.line = module.line_of(&instruction);
        before(&mut reader, index);
        reader.instruction(&instruction).map_err(refuse(reader.line))?;
        count = index + 1;
    }
    before(&mut reader, count);
    let result = reader.result.filter(|_| reader.returned);
    let result = result.map(|(name, bits)| (reader.names.plain(name), bits));
    let (rows, registers) = reader.builder.finish()?;
    Ok(Function {
        name: declared.name.to_owned(),
        line,
        language: Language::Ptx,
        kernel: declared.kernel,
        parameters: reader.parameters,
        variables: reader.variables,
        registers,
        rows,
        initial: reader.initial.into_iter().collect(),
        result,
        notes: reader.notes,
    })
}

impl<'a> FunctionReader<'_, 'a> {
    fn signature(&mut self) -> Result<(), String> {
        // Variables are named before registers, so that they have the same name in source and target.
        for variable in &self.function.variables {
            self.names.plain(variable.name);
        }
        for parameter in &self.function.parameters {
            let name = parameter.name;
            let bytes = parameter.bytes.filter(|bytes| *bytes <= 8);
            let bytes = bytes.ok_or_else(|| format!("the parameter `{name}` is not a scalar"))?;
            self.parameters.push(Parameter {
                name: self.names.plain(name),
                bits: u16::try_from(8 * bytes).expect("eight bytes at most"),
                points_to: parameter.points_to.map(|to| to.space().unwrap_or(Space::Global)),
                no_alias: false,
            });
        }
        let results = &self.function.results;
        if let Some(result) = results.first() {
            let one = results.len() == 1 && !self.function.kernel;
            let bytes = result.bytes.filter(|bytes| *bytes <= 8 && one);
            let bytes = bytes.ok_or("the function returns more than one scalar")?;
            let bits = u16::try_from(8 * bytes).expect("eight bytes at most");
            self.result = Some((result.name, bits));
        }
        Ok(())
    }

    fn push(&mut self, cell: &str) {
        self.builder.instruction(cell, self.line);
    }

    /// Records the initial value of a register.
    fn entry(&mut self, register: &str, value: EntryValue) {
        self.builder.entry(register, &value);
        self.initial.insert(register.to_owned(), value);
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), String> {
        let parts: Vec<&str> = instruction.name.split('.').collect();
        let opcode = parts[0];
        if NOTHING.contains(&opcode) {
            return Ok(());
        }
        if matches!(opcode, "call" | "brx" | "trap" | "brkpt") {
            return Err(format!("`{opcode}` is not supported"));
        }
        let guard = instruction.guard.map_or(String::new(), |guard| {
            let negated = if instruction.negated { "!" } else { "" };
            format!("@{negated}{} ", self.names.plain(guard))
        });
        let part = |name: &str| parts[1..].contains(&name);
        if instruction.memory && parts[1..].iter().any(|part| part.starts_with("param")) {
            return self.parameter(instruction, &guard, &parts);
        }
        let operands = instruction.operands_text();
        let operands = self.renamed(&operands, instruction.memory)?;
        // A negation is a subtraction from 0.
        if let ("neg", Some((to, from)), [_, ty]) = (opcode, operands.split_once(", "), &parts[..])
        {
            self.push(&format!("{guard}sub.{ty} {to}, 0, {from}"));
            return Ok(());
        }
        let blank = if operands.is_empty() { "" } else { " " };
        let name = if opcode == "ret" { "ret".to_owned() } else { instruction.name.clone() };
        let row = self.builder.instruction(&format!("{guard}{name}{blank}{operands}"), self.line);
        row.volatile = instruction.memory && (part("volatile") || part("mmio"));
        Ok(())
    }

    /// `ld.param` of a parameter, or `st.param` of the result.
    fn parameter(
        &mut self,
        instruction: &Instruction<'a>,
        guard: &str,
        parts: &[&str],
    ) -> Result<(), String> {
        let refused = || format!("`{}` is not supported", instruction.text);
        let address = instruction.operands.iter().find_map(|operand| match operand {
            PrintedOperand::Address { base: Some(base), offset: 0, .. } => Some(base.to_string()),
            PrintedOperand::Address { .. }
            | PrintedOperand::Scalar(_)
            | PrintedOperand::Vector(_) => None,
        });
        let address = address.ok_or_else(refused)?;
        let value = instruction.operands.iter().find_map(|operand| match operand {
            PrintedOperand::Scalar(scalar) => Some(scalar.to_string()),
            PrintedOperand::Address { .. } | PrintedOperand::Vector(_) => None,
        });
        let value = value.ok_or_else(refused)?;
        // A constant is stored as written, without the suffix `U`.
        let number = value.strip_prefix('-').unwrap_or(&value);
        let value = if number.starts_with(|c: char| c.is_ascii_digit()) {
            value.trim_end_matches('U').to_owned()
        } else {
            self.names.plain(&value)
        };
        let ty = parts.last().copied().unwrap_or("");
        let bits: u16 =
            ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(0);
        if parts[0] == "st" {
            let (name, declared) =
                self.result.filter(|(name, _)| *name == address).ok_or_else(refused)?;
            if bits != declared {
                return Err(refused());
            }
            self.returned = true;
            let moves = if bits == 8 { "and.b32".to_owned() } else { format!("mov.b{bits}") };
            let mask = if bits == 8 { ", 255" } else { "" };
            let name = self.names.plain(name);
            self.push(&format!("{guard}{moves} {name}, {value}{mask}"));
            return Ok(());
        }
        let mut parameters = self.function.parameters.iter();
        let index = parameters.position(|p| p.name == address).ok_or_else(refused)?;
        if bits == 0 || bits > self.parameters[index].bits {
            return Err(refused());
        }
        let from = self.names.plain(&format!("param.{index}"));
        self.entry(&from, EntryValue::Parameter(index));
        let cell = match (ty.chars().next(), bits) {
            (Some('s'), 8) => format!("cvt.s16.s8 {value}, {from}"),
            (_, 8) => format!("cvt.u16.u8 {value}, {from}"),
            _ => format!("mov.{ty} {value}, {from}"),
        };
        self.push(&format!("{guard}{cell}"));
        Ok(())
    }

    /// The operands with names that a column allows. Variables and special registers are recorded.
    fn renamed(&mut self, text: &str, memory: bool) -> Result<String, String> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let starts = first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '%');
            let digits = first.is_ascii_digit();
            if !starts && !digits {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            rest = behind;
            if digits {
                out.push_str(name.trim_end_matches('U'));
                continue;
            }
            if name == "_" {
                out.push('_');
                continue;
            }
            if is_special(name) {
                let part = rest.strip_prefix('.').map(|rest| {
                    let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                    &rest[..end]
                });
                rest = part.map_or(rest, |part| &rest[1 + part.len()..]);
                let special = name.trim_start_matches('%');
                let full = part.map_or(special.to_owned(), |part| format!("{special}.{part}"));
                let register = self.names.plain(&format!("special.{full}"));
                self.entry(&register, EntryValue::Special(full));
                out.push_str(&register);
                continue;
            }
            if let Some(variable) = self.variable(name)? {
                out.push_str(&variable);
                continue;
            }
            if rest.starts_with('.') {
                return Err(format!("an element of the vector `{name}` is not supported"));
            }
            if rest.starts_with('[') && memory {
                return Err("an element of an array is not supported".to_owned());
            }
            out.push_str(&self.names.plain(name));
        }
        Ok(out)
    }

    /// The name of this variable in the test, if it is a variable.
    fn variable(&mut self, name: &str) -> Result<Option<String>, String> {
        let mut inside = self.function.variables.iter();
        let found = inside.find(|v| v.name == name).or_else(|| self.globals.get(name));
        let Some(found) = found.copied() else { return Ok(None) };
        let space = found.space.space().unwrap_or(Space::Global);
        if found.initialized {
            return Err(format!("`{name}` has a value, which is not supported"));
        }
        if found.space == SpaceQualifier::ParamFunc {
            return Err(format!("`{name}` holds an argument of a call"));
        }
        let own = self.names.plain(name);
        let known = self.variables.iter().any(|variable| variable.name == own);
        if !known {
            let bytes = found.bytes.unwrap_or(UNSIZED);
            if found.bytes.is_none() {
                self.notes.push(format!("`{name}` is assumed to have {UNSIZED} bytes"));
            }
            let variable = FunctionVariable { name: own.clone(), space, bytes };
            self.builder.variable(&variable);
            self.variables.push(variable);
        }
        Ok(Some(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::FunctionLine;

    const MODULE: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .global .align 4 .u32 flag;\n.shared .align 4 .b8 buffer[64];\n\
        .visible .func (.param .b32 func_retval0) f(.param .b64 f_param_0, .param .b32 f_param_1)\n{\n\
        .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
        ld.param.u64 %rd1, [f_param_0];\n\
        ld.param.u32 %r1, [f_param_1];\n\
        mov.u32 %r3, %tid.x;\n\
        mul.wide.s32 %rd2, %r1, 4;\n\
        $L_1:\n\
        ld.volatile.global.u32 %r2, [flag+0];\n\
        setp.eq.s32 %p1, %r2, 0U;\n\
        @%p1 bra $L_1;\n\
        st.shared.u32 [buffer+4], %r2;\n\
        st.param.b32 [func_retval0+0], %r2;\n\
        ret;\n}\n";

    fn columns(text: &str) -> Functions {
        let (module, diagnostics) = ptx::read("m.ptx", text.as_bytes());
        assert_eq!(diagnostics, []);
        functions(&module.expect("a module"))
    }

    #[test]
    fn a_function_is_a_column() {
        let (_, function) = columns(MODULE).remove(0);
        let function = function.expect("it is covered");
        let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
        assert_eq!(
            cells,
            [
                "mov.u64 rd1, param_0",
                "mov.u32 r1, param_1",
                "mov.u32 r3, special_tid_x",
                "mul.wide.s32 rd2, r1, 4",
                "_L_1:",
                "ld.volatile.global.u32 r2, [flag]",
                "setp.eq.s32 p1, r2, 0",
                "@p1 bra _L_1",
                "st.shared.u32 [buffer+4], r2",
                "mov.b32 func_retval0, r2",
                "ret"
            ]
        );
        assert_eq!(function.result, Some(("func_retval0".to_owned(), 32)));
        assert_eq!(function.rows[5].line, 14);
        assert!(function.rows[5].volatile && !function.rows[8].volatile);
        let names: Vec<&str> = function.variables.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["flag", "buffer"]);
        assert_eq!(function.variables[1].bytes, 64);
        assert!(!function.kernel && function.parameters[1].bits == 32);
    }

    #[test]
    fn different_names_stay_different() {
        let text = ".version 8.7\n.target sm_90\n.address_size 64\n\
            .global .u32 $v, _v, x;\n.func f()\n{\n.reg .b32 %x, $t, _t, %t, %before0, %special_tid_x;\n\
            mov.u32 %x, 1;\nmov.u32 $t, 2;\nmov.u32 _t, 3;\nmov.u32 %t, 4;\nmov.u32 %before0, 5;\n\
            mov.u32 %special_tid_x, %tid.x;\nst.u32 [x], %x;\nst.u32 [$v], $t;\nst.u32 [_v], _t;\nret;\n}\n";
        let function = columns(text).remove(0).1.expect("it is covered");
        let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
        assert_eq!(
            cells,
            [
                "mov.u32 x_2, 1",
                "mov.u32 _t, 2",
                "mov.u32 _t_2, 3",
                "mov.u32 t, 4",
                "mov.u32 before0_2, 5",
                "mov.u32 special_tid_x, special_tid_x_2",
                "st.u32 [x], x_2",
                "st.u32 [_v], _t",
                "st.u32 [_v_2], _t_2",
                "ret"
            ]
        );
    }

    #[test]
    fn what_is_not_covered_refuses_the_function_with_its_line() {
        let body = |body: &str| {
            let text = format!(
                ".version 8.7\n.target sm_90\n.address_size 64\n.global .u32 g = 1;\n\
                 .entry k(.param .u64 a)\n{{\n.reg .b32 r<4>;\n{body}\nret;\n}}\n"
            );
            let refused = columns(&text).remove(0).1.expect_err(&text);
            format!("{}: {}", refused.line, refused.why)
        };
        assert_eq!(body("call f, (r1);"), "8: `call` is not supported");
        assert_eq!(body("\nld.u32 r1, [g];"), "9: `g` has a value, which is not supported");
        assert_eq!(body("{ .reg .b32 r2; mov.u32 r2, 1; }"), "8: two registers are called `r2`");
        assert_eq!(body("ld.param.u32 r1, [a+4];"), "8: `ld.param.u32 r1, [a+4]` is not supported");
    }
}
