//! Translates the functions of a PTX module.
//!
//! Characters that a column does not allow are replaced in names. Loads of parameters become moves, and the
//! store of a result becomes the return value. Functions of the module that a function calls are read in its
//! place; their arguments are memory of the thread.

mod call;
pub(crate) mod names;
mod operand;
mod parameter;
mod warp;

use std::collections::BTreeMap;

use model::memory::Space;
use ptx::qualifier::Dialect;
use ptx::{BodyItem, FunctionDeclaration, Instruction, MemoryDeclaration, Module};

use crate::builder::FunctionBuilder;
use crate::function::{Function, Functions, Language, Parameter, Refusals, Refused};
use crate::opaque::LONE_LANE;
use names::Names;
use warp::WrittenInstruction;

/// Opcodes without an effect on memory, values or control flow.
const NOTHING: &[&str] = &[
    "nanosleep",
    "pragma",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "pmevent",
    "brkpt",
    "setmaxnreg",
];

/// The reason why a part cannot be read.
type ReadResult<T> = Result<T, String>;

/// A variable of the module, and its name in columns.
struct GlobalVariable<'a> {
    declared: MemoryDeclaration<'a>,
    own: String,
}

/// The functions and variables of a module.
struct ModuleContents<'m, 'a> {
    module: &'m Module<'a>,
    functions: Vec<FunctionDeclaration<'a>>,
    globals: BTreeMap<&'a str, GlobalVariable<'a>>,
}

/// A function whose body is being read: the function itself, or one that it calls.
struct Frame<'a> {
    index: usize,
    /// Of a called function: the memory of its parameters and results.
    arguments: BTreeMap<&'a str, String>,
    /// Of a called function: the label behind it.
    end: Option<String>,
    /// The tables of `brx.idx`.
    tables: BTreeMap<&'a str, Vec<&'a str>>,
}

/// A function that is being read.
struct FunctionReader<'m, 'a> {
    contents: &'m ModuleContents<'m, 'a>,
    names: Names<'a>,
    frames: Vec<Frame<'a>>,
    /// The names of the memory that bodies of functions declare.
    variables: BTreeMap<(usize, &'a str), String>,
    notes: Vec<String>,
    parameters: Vec<Parameter>,
    /// The result: its name and its width in bits.
    result: Option<(&'a str, u16)>,
    returned: bool,
    builder: FunctionBuilder,
    refused: Vec<Refused>,
    /// The line of the current instruction.
    line: usize,
}

/// The functions of a module that have a body.
pub fn functions(module: &Module<'_>) -> Functions {
    let mut names = Names::default();
    let globals = module.globals().into_iter().map(|declared| {
        let own = names.fresh(declared.name);
        (declared.name, GlobalVariable { declared, own })
    });
    let globals = globals.collect();
    let contents = ModuleContents { module, functions: module.declared_functions(), globals };
    let all = contents.functions.iter().enumerate();
    all.map(|(index, declared)| (declared.name.to_owned(), function(&contents, index))).collect()
}

fn function(contents: &ModuleContents<'_, '_>, index: usize) -> Result<Function, Refusals> {
    let declared = &contents.functions[index];
    let line = declared.line;
    if contents.module.address_bits() == Some(32) {
        let why = "32-bit addresses are not supported".to_owned();
        return Err(Refused { line, why }.into());
    }
    let mut names = Names::default();
    for global in contents.globals.values() {
        names.take(&global.own);
    }
    names.open_body();
    let mut reader = FunctionReader {
        contents,
        names,
        frames: vec![Frame {
            index,
            arguments: BTreeMap::new(),
            end: None,
            tables: BTreeMap::new(),
        }],
        variables: BTreeMap::new(),
        notes: Vec::new(),
        parameters: Vec::new(),
        result: None,
        returned: false,
        builder: FunctionBuilder::new(Dialect::Ptx),
        refused: Vec::new(),
        line,
    };
    // Variables are named before registers, so that they have the same name in source and target.
    reader.name_variables(index);
    if let Err(why) = reader.signature(declared) {
        reader.refused.push(Refused { line, why });
    }
    reader.body(index);
    let result = reader.result.filter(|_| reader.returned);
    let result = result.map(|(name, bits)| (reader.names.plain(name), bits));
    let lifted = reader.builder.finish(reader.refused)?;
    Ok(Function {
        name: declared.name.to_owned(),
        line,
        language: Language::Ptx,
        kernel: declared.kernel,
        parameters: reader.parameters,
        variables: lifted.variables,
        registers: lifted.registers,
        rows: lifted.rows,
        initial: lifted.initial,
        result,
        notes: reader.notes,
    })
}

impl<'a> FunctionReader<'_, 'a> {
    /// The function whose body is being read.
    fn frame(&self) -> &Frame<'a> {
        self.frames.last().expect("a function is being read")
    }

    fn declared(&self, index: usize) -> &FunctionDeclaration<'a> {
        &self.contents.functions[index]
    }

    fn name_variables(&mut self, index: usize) {
        for variable in &self.contents.functions[index].variables {
            let name = variable.name;
            if !self.variables.contains_key(&(index, name)) {
                let own = self.names.fresh(name);
                self.variables.insert((index, name), own);
            }
        }
    }

    fn signature(&mut self, function: &FunctionDeclaration<'a>) -> ReadResult<()> {
        for parameter in &function.parameters {
            let name = parameter.name;
            let bytes = parameter.bytes.filter(|bytes| *bytes <= MOST_BYTES);
            let bytes =
                bytes.ok_or_else(|| format!("the size of the parameter `{name}` is not known"))?;
            let scalar = bytes <= 8 && !parameter.array;
            self.parameters.push(Parameter {
                name: self.names.plain(name),
                bits: u16::try_from(8 * bytes).expect("few bytes"),
                alignment: (!scalar).then_some(parameter.alignment),
                points_to: parameter.points_to.map(|to| to.space().unwrap_or(Space::Global)),
                no_alias: false,
            });
        }
        let results = &function.results;
        if let Some(result) = results.first() {
            let one = results.len() == 1 && !function.kernel;
            let bytes = result.bytes.filter(|bytes| *bytes <= 8 && one);
            let bytes = bytes.ok_or("the function returns more than 64 bits")?;
            let bits = u16::try_from(8 * bytes).expect("eight bytes at most");
            self.result = Some((result.name, bits));
        }
        Ok(())
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    fn push(&mut self, cell: &str) {
        self.builder.instruction(cell, self.line);
    }

    /// A label that the function does not have.
    fn label(&mut self, name: &str) -> String {
        self.names.fresh(name)
    }

    /// Reads the body of a function. What cannot be read is recorded.
    fn body(&mut self, index: usize) {
        let items = self.contents.module.body(index);
        let mut label = None;
        for (at, item) in items.iter().enumerate() {
            match item {
                BodyItem::Open => self.names.open(&items[at + 1..]),
                BodyItem::Close => self.names.close(),
                BodyItem::Register { name, count } => self.names.register(name, *count),
                BodyItem::Variable(variable) => self.names.declare(*variable),
                BodyItem::Targets(targets) => {
                    let frame = self.frames.last_mut().expect("a function is being read");
                    frame.tables.extend(label.map(|label| (label, targets.clone())));
                }
                BodyItem::Label(name) => {
                    label = Some(*name);
                    let name = self.names.plain(name);
                    self.push(&format!("{name}:"));
                }
                BodyItem::Instruction(instruction) => {
                    self.line = self.contents.module.line_of(instruction);
                    if let Err(why) = self.instruction(instruction) {
                        self.refused.push(Refused { line: self.line, why });
                    }
                }
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> ReadResult<()> {
        let parts: Vec<&str> = instruction.name.split('.').collect();
        let opcode = parts[0];
        if NOTHING.contains(&opcode) {
            return Ok(());
        }
        if opcode == "bar" && parts.get(1) == Some(&"warp") {
            self.note(LONE_LANE);
            return Ok(());
        }
        let guard = instruction.guard.map_or(String::new(), |guard| {
            let negated = if instruction.negated { "!" } else { "" };
            format!("@{negated}{} ", self.names.plain(guard))
        });
        let part = |name: &str| parts[1..].contains(&name);
        if instruction.memory && parts[1..].iter().any(|part| part.starts_with("param")) {
            return self.parameter(instruction, &guard, &parts);
        }
        match opcode {
            "ret" => {
                let end = self.frame().end.clone();
                self.push(&end.map_or(format!("{guard}ret"), |end| format!("{guard}bra {end}")));
                return Ok(());
            }
            // The thread ends, also in a function that is called.
            "exit" | "trap" => {
                self.push(&format!("{guard}exit"));
                return Ok(());
            }
            "call" => return self.call(instruction, &guard),
            "brx" => return self.branch_by_table(instruction, &guard),
            _ => {}
        }
        // Its operands may have forms of their own.
        if let Some(what) = ptx::opcode::outside(opcode).filter(|_| !warp::is_read(opcode)) {
            return Err(format!("`{}`: {what}", instruction.name));
        }
        let operands = self.operands(&instruction.operands_text(), &parts)?;
        let read = WrittenInstruction { guard: &guard, parts: &parts, operands: &operands };
        let described = |why| format!("`{}`: {why}", instruction.text);
        if self.not_computed(&read).map_err(described)? {
            return Ok(());
        }
        let operands = operands.join(", ");
        let blank = if operands.is_empty() { "" } else { " " };
        let name = &instruction.name;
        let row = self.builder.instruction(&format!("{guard}{name}{blank}{operands}"), self.line);
        row.volatile = instruction.memory && (part("volatile") || part("mmio"));
        Ok(())
    }
}

/// The largest size of a parameter in bytes that the width of a [`Parameter`] can express.
const MOST_BYTES: u32 = 8191;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{EntryValue, FunctionLine};

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

    /// The cells of the first function of a module with these variables and functions before a kernel `k` with
    /// the parameters `a`, a pointer, and `n`.
    fn cells(before: &str, body: &str) -> Vec<String> {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n{before}\n\
             .entry k(.param .u64 a, .param .u32 n)\n{{\n.reg .pred p<4>; .reg .b16 h<4>;\n\
             .reg .b32 r<9>; .reg .b64 d<4>;\n{body}\nret;\n}}\n"
        );
        let function = columns(&text).pop().expect("a function").1;
        let function = function.unwrap_or_else(|why| panic!("{text}{why:?}"));
        let mut cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
        assert_eq!(cells.pop().as_deref(), Some("ret"));
        cells
    }

    #[test]
    fn blocks_have_their_own_registers_and_labels() {
        let found = cells(
            "",
            "setp.eq.u32 p1, r1, 0;\n\
             { .reg .pred p1; .reg .b32 r<2>; setp.ne.u32 p1, r1, r2;\n\
             L: @p1 bra L; { .reg .b32 r1; mov.b32 r1, 1; } mov.b32 r1, 2; }\n\
             { L: @p1 bra L; }\nL: bra L;",
        );
        assert_eq!(
            found,
            [
                "setp.eq.u32 p1, r1, 0",
                "setp.ne.u32 p1_2, r1_2, r2",
                "L:",
                "@p1_2 bra L",
                "mov.b32 r1_3, 1",
                "mov.b32 r1_2, 2",
                "L_2:",
                "@p1 bra L_2",
                "L_3:",
                "bra L_3",
            ]
        );
    }

    #[test]
    fn parts_of_parameters_are_read_one_by_one() {
        let text = ".version 8.7\n.target sm_90\n.address_size 64\n\
            .func (.param .b32 out) f(.param .align 8 .b8 s[16], .param .u64 wide)\n{\n\
            .reg .b32 r<4>; .reg .b64 d<4>; .reg .b16 h<4>;\n\
            ld.param.u64 d1, [s+8];\nld.param.v2.u32 {r1, _}, [s];\nld.param.u8 h1, [s+4];\n\
            ld.param.u32 r2, [wide+4];\nst.param.b16 [out], h1;\nst.param.b16 [out+2], 7;\nret;\n}\n";
        let function = columns(text).remove(0).1.expect("it is covered");
        let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
        assert_eq!(
            cells,
            [
                "mov.u64 d1, param_0_8_b64",
                "mov.u32 r1, param_0_0_b32",
                "cvt.u16.u8 h1, param_0_4_b8",
                "shr.u64 param_1_4, param_1, 32",
                "mov.u32 r2, param_1_4",
                "bfi.b32 out, h1, out, 0, 16",
                "bfi.b32 out, 7, out, 16, 16",
                "ret",
            ]
        );
        let piece = |offset, bits| EntryValue::Piece { parameter: 0, offset, bits };
        assert_eq!(function.initial[0], ("param_0_8_b64".to_owned(), piece(8, 64)));
        assert_eq!(function.initial[2], ("param_0_4_b8".to_owned(), piece(4, 8)));
        assert_eq!(function.parameters[0].alignment, Some(8));
        assert_eq!((function.parameters[0].bits, function.parameters[1].alignment), (128, None));
    }

    #[test]
    fn functions_that_are_called_are_read_in_their_place() {
        let called = ".func (.param .b32 out) twice(.param .b32 of)\n{\n.reg .b32 r<3>; .reg .pred p;\n\
            ld.param.b32 r1, [of];\nsetp.eq.u32 p, r1, 0;\n@p bra L;\nadd.u32 r1, r1, r1;\nL:\n\
            st.param.b32 [out], r1;\nret;\n}";
        let call = "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], r1;\n\
            call.uni (q0), twice, (p0);\nld.param.b32 r2, [q0]; }";
        assert_eq!(
            cells(called, call),
            [
                "st.local.b32 [p0], r1",
                "ld.local.b32 r1_2, [p0]",
                "setp.eq.u32 p, r1_2, 0",
                "@p bra L",
                "add.u32 r1_2, r1_2, r1_2",
                "L:",
                "st.local.b32 [q0], r1_2",
                "bra call_end",
                "call_end:",
                "ld.local.b32 r2, [q0]",
            ]
        );
        let guarded =
            format!("{}\n{}", cells(".func f()\n{\nret;\n}", "@!p1 call f;").join("; "), "");
        assert_eq!(guarded, "@p1 bra call_end; bra call_end; call_end:\n");
    }

    #[test]
    fn a_table_is_compared_with() {
        assert_eq!(
            cells("", "T: .branchtargets A, B, C;\n@p1 brx.idx r1, T;\nA:\nB:\nC:"),
            [
                "T:",
                "@!p1 bra table_end",
                "setp.eq.u32 table_chosen, r1, 0",
                "@table_chosen bra A",
                "setp.eq.u32 table_chosen, r1, 1",
                "@table_chosen bra B",
                "bra C",
                "table_end:",
                "A:",
                "B:",
                "C:",
            ]
        );
    }

    #[test]
    fn what_is_not_computed_is_a_function_of_its_name() {
        assert_eq!(
            cells(
                "",
                "@p1 ex2.approx.ftz.f32 r1, r2;\ntanh.approx.bf16x2 r1, r2;\ncvt.rna.tf32.f32 r1, r2;"
            ),
            [
                "@p1 opaque.f32.ex2.approx.f32 r1, r2",
                "opaque.b32.tanh.approx.bf16x2 r1, r2",
                "opaque.f32.cvt.rna.tf32.f32 r1, r2",
            ]
        );
        assert_eq!(
            cells(
                "",
                "shfl.sync.bfly.b32 r1|p1, r2, 16, 31, -1;\nvote.sync.ballot.b32 r1, !p1, -1;\n\
                 vote.sync.any.pred p2, p1, -1;\nelect.sync _|p1, -1;\nredux.sync.add.s32 r1, r2, -1;\n\
                 bar.warp.sync -1;\nactivemask.b32 r1;"
            ),
            [
                "opaque.b32.shfl.bfly.b32 r1, r2, 16, 31",
                "mov.pred p1, 1",
                "selp.b32 r1, 0, 1, p1",
                "mov.pred p2, p1",
                "mov.pred p1, 1",
                "opaque.b32.redux.add.s32 r1, r2",
                "mov.b32 r1, 1",
            ]
        );
        let matrices = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {r1, r2, r3, r4}, {r5, r6}, {r7}, \
             {r1, r2, r3, r4};\nldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r1, r2}, [r3+16];";
        let found = cells("", matrices);
        assert_eq!(
            found[..5],
            [
                "opaque.u64.mma.hash matrix_hash, r5, r6, r7",
                "opaque.u64.mma.hash matrix_hash, matrix_hash, r1, r2",
                "opaque.u64.mma.hash matrix_hash, matrix_hash, r3, r4",
                "opaque.f32.mma.m16n8k8.row.col.f32.f16.f16.f32.d0 r1, matrix_hash",
                "opaque.f32.mma.m16n8k8.row.col.f32.f16.f16.f32.d1 r2, matrix_hash",
            ]
        );
        assert_eq!(
            found[7..],
            [
                "ld.shared.v4.b32 {matrix_word_0, matrix_word_1, matrix_word_2, matrix_word_3}, [r3+16]",
                "opaque.u64.mma.hash matrix_hash, matrix_word_0, matrix_word_1, matrix_word_2",
                "opaque.u64.mma.hash matrix_hash, matrix_hash, matrix_word_3",
                "opaque.b32.ldmatrix.x2.trans.d0 r1, matrix_hash",
                "opaque.b32.ldmatrix.x2.trans.d1 r2, matrix_hash",
            ]
        );
    }

    #[test]
    fn constants_and_initial_values_are_read() {
        let before = ".global .align 4 .f32 t[3] = {0f3F800000, 2.0};\n.const .b8 c[4] = {1, 0x2};";
        let found = cells(
            before,
            "ld.global.f32 r1, [t+4];\nld.const.u8 h1, [c];\nmov.f32 r1, 1.5;\nmov.b32 r2, 017;\n\
             fma.rn.f32 r1, r2, 0fBF800000, 0.5;\nmov.f64 d1, 0d3FF0000000000000;\nexit;\n@p1 trap;",
        );
        assert_eq!(
            found,
            [
                "ld.global.f32 r1, [t+4]",
                "ld.const.u8 h1, [c]",
                "mov.f32 r1, 0x3fc00000",
                "mov.b32 r2, 15",
                "fma.rn.f32 r1, r2, 0xbf800000, 0x3f000000",
                "mov.f64 d1, 0x3ff0000000000000",
                "exit",
                "@p1 exit",
            ]
        );
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n{before}\n.extern .shared .b8 s[];\n\
             .func f()\n{{\n.reg .b32 r;\nld.global.u32 r, [t];\nst.shared.u32 [s+400], r;\n\
             ld.const.u32 r, [c];\nret;\n}}\n"
        );
        let function = columns(&text).remove(0).1.expect("it is covered");
        let variables = &function.variables;
        assert_eq!(variables[0].initial, [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
        assert!(variables[1].grows && !variables[0].grows);
        assert_eq!((&variables[2].initial[..], variables[2].space), (&[1, 2][..], Space::Const));
    }

    #[test]
    fn all_that_is_not_covered_is_listed_with_its_line() {
        let refused = |before: &str, body: &str| {
            let text = format!(
                ".version 8.7\n.target sm_90\n.address_size 64\n{before}\n\
                 .entry k(.param .u64 a)\n{{\n.reg .b32 r<4>; .reg .b64 d;\n{body}\nret;\n}}\n"
            );
            let refusals = columns(&text).pop().expect("a function").1.expect_err(&text);
            let all = refusals.all().iter();
            all.map(|one| format!("{}: {}", one.line, one.why)).collect::<Vec<_>>()
        };
        assert_eq!(
            refused(
                "",
                "call f, (r1);\nadd.rz.f32 r1, r2, r3;\ncp.async.wait_all;\nadd.u32 r1, r2;"
            ),
            [
                "8: a call of `f`, which has no body in this module",
                "9: `add.rz.f32`: rounding other than to nearest",
                "10: `cp.async.wait_all`: asynchronous operations and mbarriers",
                "11: `add.u32 r1, r2`: wrong operands for `add.u32`",
            ]
        );
        assert_eq!(
            refused(".global .u64 g = a;", "ld.u64 d, [g];"),
            ["8: `g` is initialized with more than numbers"]
        );
        assert_eq!(
            refused("", "mov.b64 d, a;\nld.param.u32 r1, [d+4];"),
            ["9: `ld.param.u32 r1, [d+4]`: an address in the parameters that is computed"]
        );
        let wide = ".version 8.7\n.target sm_90\n.address_size 64\n\
            .func (.param .b32 out[4]) f()\n{\n.reg .b32 r;\nst.param.b32 [out], r;\nret;\n}\n";
        let refusals = columns(wide).remove(0).1.expect_err("it is wide");
        assert_eq!(refusals.all().len(), 1);
        assert_eq!(refusals.first().why, "the function returns more than 64 bits");
        assert_eq!(
            refused("", "ld.param.u32 r1, [a+8];"),
            ["8: `ld.param.u32 r1, [a+8]` is outside the declared parameter"]
        );
        assert_eq!(
            refused(".func f()\n{\ncall f;\nret;\n}", "call f;\ncall d, (r1), P;"),
            ["6: a recursive call of `f`", "13: an indirect call"]
        );
        assert_eq!(
            refused(".global .u32 g[4];", "ld.u32 r1, g[2];"),
            ["8: an element of an array is not supported"]
        );
    }
}
