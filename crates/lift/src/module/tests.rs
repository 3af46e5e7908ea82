//! Functions of modules as columns.

use super::*;
use crate::function::{EntryValue, FunctionLine, ReturnedWord};

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
    let word = ReturnedWord { register: "func_retval0".to_owned(), mask: u64::from(u32::MAX) };
    assert_eq!(function.result, [word]);
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
fn elements_without_a_value_are_not_stored() {
    let stores = "ld.param.u64 d1, [a];\n@p1 st.global.v4.b32 [d1+16], {r1, _, 7, _};\n\
        st.v2.b64 [d1+-8], {_, d2};";
    assert_eq!(
        cells("", stores)[1..],
        ["@p1 st.global.b32 [d1+16], r1", "@p1 st.global.b32 [d1+24], 7", "st.b64 [d1], d2"]
    );
}

#[test]
fn a_result_has_words_of_64_bits() {
    let text = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .func (.param .align 8 .b8 out[20]) f()\n{\n.reg .b32 r<4>; .reg .b64 d<4>;\n\
        st.param.b64 [out], d1;\nst.param.v2.b32 [out+8], {r1, r2};\nret;\n}\n";
    let function = columns(text).remove(0).1.expect("it is covered");
    let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
    assert_eq!(
        cells,
        [
            "mov.b64 out, d1",
            "bfi.b64 out_8, r1, out_8, 0, 32",
            "bfi.b64 out_8, r2, out_8, 32, 32",
            "ret",
        ]
    );
    let words: Vec<(&str, u64)> =
        function.result.iter().map(|word| (word.register.as_str(), word.mask)).collect();
    // Nothing is stored to the last word: it has no value.
    assert_eq!(words, [("out", u64::MAX), ("out_8", u64::MAX), ("out_16", 0)]);
    assert!(function.initial.iter().any(|(name, _)| name == "out_16"));
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
    let guarded = format!("{}\n{}", cells(".func f()\n{\nret;\n}", "@!p1 call f;").join("; "), "");
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
    let stored = cells(
        ".shared .align 16 .b8 s[64];",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [s+16], {r1, r2, r1, r2};",
    );
    assert_eq!(
        stored[2..],
        [
            "opaque.b32.stmatrix.x4.d0 matrix_word_0, matrix_hash",
            "opaque.b32.stmatrix.x4.d1 matrix_word_1, matrix_hash",
            "opaque.b32.stmatrix.x4.d2 matrix_word_2, matrix_hash",
            "opaque.b32.stmatrix.x4.d3 matrix_word_3, matrix_hash",
            "st.shared.v4.b32 [s+16], {matrix_word_0, matrix_word_1, matrix_word_2, matrix_word_3}",
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
        refused("", "call f, (r1);\ndiv.rz.f32 r1, r2, r3;\ncp.async.wait_all;\nadd.u32 r1, r2;"),
        [
            "8: a call with arguments in registers",
            "9: `div.rz.f32`: rounding other than to nearest, of what is no sum or product",
            "10: `cp.async.wait_all`: asynchronous operations and mbarriers",
            "11: `add.u32 r1, r2`: wrong operands for `add.u32`",
        ]
    );
    assert_eq!(
        refused(".global .u64 g = a;", "ld.u64 d, [g];"),
        ["8: `g` is initialized with more than numbers"]
    );
    assert_eq!(
        refused("", "ld.param.u32 r1, [d+4];"),
        ["8: `ld.param.u32 r1, [d+4]`: an address in the parameters that is computed"]
    );
    let wide = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .func (.param .b32 out[400]) f()\n{\n.reg .b32 r;\nst.param.b32 [out], r;\nret;\n}\n";
    let refusals = columns(wide).remove(0).1.expect_err("it is wide");
    assert_eq!(refusals.all().len(), 1);
    assert_eq!(refusals.first().why, "the size of the returned value is not supported");
    let rows = refused("", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [r3], {r1, r2};");
    assert!(rows.len() == 1 && rows[0].contains("no `stmatrix.x4`"), "{rows:?}");
    assert_eq!(
        refused("", "ld.param.u32 r1, [a+8];"),
        ["8: `ld.param.u32 r1, [a+8]` is outside the declared parameter"]
    );
    assert_eq!(
        refused(".func f()\n{\ncall f;\nret;\n}", "call f;\ncall d, (r1), P;"),
        ["6: a recursive call of `f`", "13: an indirect call"]
    );
    assert_eq!(
        refused(
            ".extern .func f(.param .b64 p);",
            ".local .align 8 .b8 v[8]; .param .b64 q; mov.u64 d, v; cvta.local.u64 d, d;\n\
             st.param.b64 [q], d;\ncall f, (q);"
        ),
        ["5: a call of a function without a body, which may have the address of local memory"]
    );
    assert_eq!(
        refused(".global .u32 g[4];", "ld.u32 r1, g[2];"),
        ["8: an element of an array is not supported"]
    );
}

#[test]
fn a_parameter_whose_address_is_taken_is_memory() {
    let text = MODULE.replace(
        "ld.param.u32 %r1, [f_param_1];",
        "mov.b64 %rd3, f_param_1; ld.param.u32 %r1, [%rd3]; ld.param.u32 %r1, [f_param_1];",
    );
    let function = columns(&text).remove(0).1.expect("it is covered");
    let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
    assert_eq!(
        cells[..5],
        [
            "st.local.u32 [param_1_memory], param_1",
            "mov.u64 rd1, param_0",
            "mov.b64 rd3, param_1_memory",
            "ld.local.u32 r1, [rd3]",
            "ld.local.u32 r1, [param_1_memory]",
        ]
    );
    assert!(function.initial.contains(&("param_1".to_owned(), EntryValue::Parameter(1))));
    // A register with the name of the parameter is not an address of it.
    for register in ["n", "n<2>"] {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u32 n1, .param .u32 n)\n{{\n\
             .reg .b32 {register}, r;\nld.param.u32 r, [n{0}];\nadd.u32 n{0}, r, r;\nadd.u32 r, n{0}, r;\nret;\n}}\n",
            if register == "n" { "" } else { "1" }
        );
        let function = columns(&text).remove(0).1.expect("it is covered");
        let cells: Vec<String> = function.rows.iter().map(FunctionLine::cell).collect();
        assert!(cells.iter().all(|cell| !cell.contains("local")), "{cells:?}");
    }
}

#[test]
fn what_is_not_declared_refuses_its_function_and_its_callers() {
    let text = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .func f()\n{\n.reg .b32 r;\nst.param.b32 [result], r;\nret;\n}\n\
        .func g()\n{\ncall f;\nret;\n}\n.func h()\n{\nret;\n}\n";
    let (module, diagnostics) = ptx::read("m.ptx", text.as_bytes());
    let found: Vec<_> = diagnostics.iter().map(|one| (one.code, one.span.line)).collect();
    assert_eq!(found, [("undeclared", 7)]);
    let fault = Refused { line: 7, why: "no".to_owned() };
    let read = functions_besides(&module.expect("a module"), &[fault]);
    let lines: Vec<Option<usize>> =
        read.iter().map(|(_, one)| one.as_ref().err().map(|why| why.first().line)).collect();
    assert_eq!(lines, [Some(7), Some(7), None]);
}

/// The rows of the only kernel of a module, as a launch executes it, and its variables.
fn launched_rows(text: &str) -> (Vec<String>, Vec<FunctionVariable>) {
    let text = format!(".version 8.7\n.target sm_90\n.address_size 64\n{text}");
    let (module, diagnostics) = ptx::read("m.ptx", text.as_bytes());
    assert_eq!(diagnostics, []);
    let module = module.expect("a module");
    let function = launched(&module, "k", &LaunchedArguments::default(), &[]).expect("it is there");
    let function = function.expect("it is read");
    (function.rows.iter().map(FunctionLine::cell).collect(), function.variables)
}

/// Three functions of the same form, and a kernel.
fn three_functions(kernel: &str) -> String {
    let function = |name: &str, op: &str| {
        format!(
            ".func (.param .b32 {name}_result) {name}(.param .b32 {name}_0)\n{{\n.reg .b32 %r<3>;\n\
             ld.param.u32 %r1, [{name}_0];\n{op}\nst.param.b32 [{name}_result+0], %r2;\nret;\n}}\n"
        )
    };
    let (f, g) = (function("f", "add.u32 %r2, %r1, 1;"), function("g", "shl.b32 %r2, %r1, 1;"));
    format!("{f}{g}{}{kernel}", function("h", "not.b32 %r2, %r1;"))
}

const INDIRECT: &str = "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n.param .b32 retval0;\n\
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);\n\
    call (retval0), %rd8, (param0), prototype_0;\nld.param.b32 %r2, [retval0+0];\n}\n";

#[test]
fn an_indirect_call_is_a_switch_over_the_functions_of_a_table() {
    let (rows, variables) = launched_rows(&three_functions(&format!(
        ".global .align 8 .u64 t[2] = {{f, g}};\n.visible .entry k(.param .u32 n)\n{{\n.reg .b32 %r<4>; .reg .b64 %rd<9>;\n\
         ld.param.u32 %r1, [n];\nmov.u64 %rd6, t;\nld.global.u64 %rd8, [%rd6+8];\n{INDIRECT}ret;\n}}\n"
    )));
    let table = variables.iter().find(|variable| variable.name == "t").expect("it is declared");
    assert_eq!(table.initial, [16_u64.to_le_bytes(), 32_u64.to_le_bytes()].concat());
    let calls: Vec<&String> = rows.iter().filter(|row| row.starts_with("setp.ne.u64")).collect();
    assert_eq!(calls, ["setp.ne.u64 callee_chosen, rd8, 16", "setp.ne.u64 callee_chosen, rd8, 32"]);
    assert!(rows.iter().any(|row| row == "shl.b32 r2_2, r1_3, 1"), "{rows:#?}");
    // Another address is a trap with the line of the call.
    assert!(rows.iter().any(|row| row == "st.relaxed.sys.global.u32 [trap_line], 40"), "{rows:#?}");
}

#[test]
fn an_indirect_call_is_one_of_what_local_memory_holds_there() {
    let kernel = |more: &str| {
        three_functions(&format!(
            ".visible .entry k(.param .u32 n)\n{{\n.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<9>;\n.local .align 8 .b8 v[16];\n\
             ld.param.u32 %r1, [n];\nmov.u64 %rd1, v;\nmov.u64 %rd2, f;\nmov.u64 %rd3, g;\nmov.u64 %rd4, h;\n\
             st.local.v2.u64 [%rd1], {{%rd2, %rd2}};\n{more}st.local.v2.u64 [%rd1], {{%rd3, %rd4}};\n$L_1:\n\
             ld.local.u64 %rd8, [%rd1+8];\n{INDIRECT}ret;\n}}\n"
        ))
    };
    let called = |text: &str| {
        let rows = launched_rows(text).0;
        let chosen = rows.into_iter().filter_map(|row| {
            row.strip_prefix("setp.ne.u64 callee_chosen, rd8, ").map(str::to_owned)
        });
        chosen.collect::<Vec<String>>()
    };
    assert_eq!(called(&kernel("")), ["32", "48"]);
    // Where a jump passes over the second store, the first one stays.
    let jumps = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L_1;\n";
    assert_eq!(called(&kernel(jumps)), ["16", "32", "48"]);
    // Another value of its address makes it other memory.
    assert_eq!(called(&kernel("add.u64 %rd1, %rd1, 8;\n")), ["16", "32", "48"]);
}

#[test]
fn a_function_that_is_called_twice_keeps_its_registers() {
    let call = "{\n.param .b32 a;\nst.param.b32 [a+0], %r1;\n.param .b32 b;\ncall (b), f, (a);\nld.param.b32 %r1, [b+0];\n}\n";
    let (rows, _) = launched_rows(&format!(
        ".func (.param .b32 f_result) f(.param .b32 f_0)\n{{\n.reg .pred %p<2>; .reg .b32 %r<3>;\nld.param.u32 %r1, [f_0];\n\
         setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L_1;\nadd.u32 %r1, %r1, 2;\n$L_1:\nst.param.b32 [f_result+0], %r1;\nret;\n}}\n\
         .visible .entry k(.param .u32 n)\n{{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [n];\n{call}{call}ret;\n}}\n"
    ));
    let sums: Vec<&String> = rows.iter().filter(|row| row.starts_with("add.u32")).collect();
    assert_eq!(sums, ["add.u32 r1_2, r1_2, 2"; 2]);
    let labels: Vec<&String> = rows.iter().filter(|row| row.starts_with("_L_1")).collect();
    assert_eq!(labels, ["_L_1:", "_L_1_2:"]);
}

#[test]
fn arrays_of_dynamic_shared_memory_are_one() {
    let (rows, variables) = launched_rows(
        ".extern .shared .align 4 .b8 a[];\n.extern .shared .align 16 .b8 b[];\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n\
         mov.u32 %r1, 1;\nst.shared.u32 [a], %r1;\nld.shared.u32 %r1, [b];\nret;\n}\n",
    );
    assert_eq!(rows[1..3], ["st.shared.u32 [a], r1", "ld.shared.u32 r1, [a]"]);
    assert_eq!(variables.len(), 1);
}

#[test]
fn malloc_gives_memory_of_the_heap_of_the_thread() {
    let (rows, variables) = launched_rows(
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.visible .entry k()\n{\n.reg .b64 %rd<3>;\n\
         {\n.param .b64 a;\nst.param.b64 [a+0], 24;\n.param .b64 b;\ncall (b), malloc, (a);\nld.param.b64 %rd1, [b+0];\n}\nret;\n}\n",
    );
    assert_eq!(
        rows[2..10],
        [
            "sub.u64 heap_left, 2048, heap_used",
            "setp.gt.u64 heap_full, heap_bytes, heap_left",
            "selp.b64 heap_bytes, 0, heap_bytes, heap_full",
            "add.u64 heap_place, heap_base, heap_used",
            "selp.b64 heap_place, 0, heap_place, heap_full",
            "add.u64 heap_bytes, heap_bytes, 15",
            "and.b64 heap_bytes, heap_bytes, -16",
            "add.u64 heap_used, heap_used, heap_bytes",
        ]
    );
    assert!(variables.iter().any(|variable| variable.name == HEAP));
}
