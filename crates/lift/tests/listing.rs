//! Functions of listings as columns.

use lift::function::{
    EntryValue, Function, FunctionLine, FunctionVariable, Language, Parameter, Refusals,
};
use lift::listing::{Signature, functions};
use model::memory::Space;

fn signature() -> Signature {
    let parameter = |name: &str, bits: u16, points_to: Option<Space>| Parameter {
        name: name.to_owned(),
        bits,
        points_to,
        ..Parameter::default()
    };
    let variable = |name: &str, space| FunctionVariable {
        name: name.to_owned(),
        space,
        bytes: 4,
        ..FunctionVariable::default()
    };
    Signature {
        parameters: vec![
            parameter("n", 32, None),
            parameter("x", 64, Some(Space::Global)),
            parameter("flag", 64, Some(Space::Global)),
        ],
        variables: vec![variable("s", Space::Shared), variable("g", Space::Global)],
        ..Signature::default()
    }
}

fn read(text: &str) -> Vec<(String, Result<Function, Refusals>)> {
    functions("f.sass", text, None, &|name| (name != "unknown").then(signature))
        .unwrap_or_else(|all| panic!("{}", all[0]))
}

/// The listing of one function with these instructions.
fn listed(sm: u16, instructions: &[&str]) -> String {
    let mut text = format!(".headerflags @\"EF_CUDA_SM{sm}\"\n.section .text.f,\"ax\"\nf:\n");
    for (index, one) in instructions.iter().enumerate() {
        let line = match one.strip_suffix(':') {
            Some(_) => format!("{one}\n"),
            None => format!("        /*{:04x}*/ {one} ;\n", 16 * index),
        };
        text.push_str(&line);
    }
    text + "\t.section .nv.constant4,\"a\"\n        /*0008*/ .dword g\n"
}

fn one(sm: u16, instructions: &[&str]) -> Result<Function, Refusals> {
    read(&listed(sm, instructions)).pop().expect("there is one").1
}

fn cells(function: &Function) -> Vec<String> {
    function.rows.iter().map(FunctionLine::cell).collect()
}

fn initial(function: &Function, name: &str) -> Option<EntryValue> {
    let found = function.initial.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

#[test]
fn constants_are_the_parameters_of_the_signature() {
    let spellings: [(u16, &[&str], u64); 5] = [
        (52, &["MOV R2, c[0x0][0x148]", "MOV R3, c[0x0][0x14c]"], 0x148),
        (70, &["MOV R2, c[0x0][0x168]", "MOV R3, c[0x0][0x16c]"], 0x168),
        (80, &["ULDC.64 UR4, c[0x0][0x168]"], 0x168),
        (90, &["LDC.64 R2, c[0x0][0x218]"], 0x218),
        (100, &["LDC R1, c[0x0][0x37c]", "LDCU.64 UR4, c[0x0][0x388]"], 0x388),
    ];
    for (sm, instructions, x) in spellings {
        let function = one(sm, &[instructions, &["EXIT"]].concat()).expect("it is covered");
        assert_eq!(function.language, Language::Sass(sm));
        let (low, high) = (format!("c[0x0][{x:#x}]"), format!("c[0x0][{:#x}]", x + 4));
        assert_eq!(initial(&function, &low), Some(EntryValue::Parameter(1)), "sm_{sm}");
        assert_eq!(initial(&function, &high), Some(EntryValue::Value(0)), "sm_{sm}");
    }
}

#[test]
fn what_is_loaded_is_waited_for_and_padding_is_left_out() {
    let function = one(
        90,
        &[
            "LDC.64 R2, c[0x0][0x218]",
            "ULDC.64 UR4, c[0x0][0x208]",
            ".L_x_0:",
            "LDG.E.MMIO.SYS R0, desc[UR4][R2.64] &wr=0x3 ?trans1",
            "ISETP.NE.AND P0, PT, R0, RZ, PT",
            "@!P0 BRA `(.L_x_0)",
            "EXIT",
            ".L_x_1:",
            "BRA `(.L_x_1)",
            "NOP",
        ],
    )
    .expect("it is covered");
    assert_eq!(
        cells(&function),
        [
            "LDC.64 R2, c[0x0][0x218]",
            "ULDC.64 UR4, c[0x0][0x208]",
            "L_x_0: LDG.E.MMIO.SYS R0, desc[UR4][R2.64] &wr=0x0",
            "NOP &req={0}",
            "ISETP.NE.AND P0, PT, R0, RZ, PT",
            "@!P0 BRA L_x_0",
            "EXIT",
        ]
    );
    assert_eq!(function.rows.iter().filter(|row| row.volatile).count(), 1);
    assert!(function.notes.iter().any(|note| note.contains("available")), "{:?}", function.notes);
}

#[test]
fn branches_of_cuobjdump_are_to_addresses() {
    let text = "code for sm_80\n\t\tFunction : f\n\
        /*0000*/ MOV R0, c[0x0][0x160] ; /* 0x00005800ff027624 */\n\
                                         /* 0x000fe200078e00ff */\n\
        /*0010*/ IADD3 R0, R0, -0x1, RZ ;\n\
        /*0020*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;\n\
        /*0030*/ @P0 BRA 0x10 ;\n\
        /*0040*/ EXIT ;\n\
        /*0050*/ BRA 0x50 ;\n\t\tFunction : unknown\n/*0000*/ EXIT ;\n";
    let all = read(text);
    let function = all[0].1.as_ref().expect("it is covered");
    assert_eq!(cells(function)[1], "A10: IADD3 R0, R0, -0x1, RZ");
    assert_eq!(cells(function)[3], "@P0 BRA A10");
    assert_eq!(function.rows.len(), 5);
    let refused = all[1].1.as_ref().expect_err("nobody knows it");
    assert_eq!(
        (refused.first().line, refused.first().why.as_str()),
        (10, "the source has no function of this name that can be read")
    );
}

#[test]
fn addresses_of_variables_are_in_bank_4_and_shared_memory_begins_somewhere() {
    let function = one(90, &["LDC.64 R2, c[0x4][0x8]", "STS [0x400], R2", "EXIT"]);
    let function = function.expect("it is covered");
    assert_eq!(initial(&function, "c[0x4][0x8]"), Some(EntryValue::Address("g".to_owned())));
    assert_eq!(initial(&function, "shared[0x400]"), Some(EntryValue::Address("s".to_owned())));
    let function = one(70, &["STS [RZ], R2", "EXIT"]).expect("it is covered");
    assert_eq!(initial(&function, "shared[0x0]"), Some(EntryValue::Address("s".to_owned())));
}

/// The elements that the accesses of a listing have if it was compiled from a kernel with these instructions.
fn elements(source: &str, instructions: &[&str]) -> Vec<(u16, usize)> {
    let text = format!(
        ".version 8.7\n.target sm_80\n.address_size 64\n.global .align 32 .b8 x[64];\n.entry f()\n{{\n\
         .reg .b16 h<5>; .reg .b32 r<5>; .reg .b64 d<5>;\n{source}\nret;\n}}\n"
    );
    let (module, _) = ptx::read("f.ptx", text.as_bytes());
    let source = lift::module::functions(&module.expect("a module")).remove(0).1;
    let signature = Signature::of(&source.expect("it is covered"));
    let listing = listed(80, instructions);
    let all = functions("f.sass", &listing, None, &|_| Some(signature.clone()));
    let function = all.expect("a listing").remove(0).1.expect("it is covered");
    let lines = function.rows.iter().flat_map(|row| &row.lines);
    let accesses = lines.filter_map(|step| step.line.instruction.access());
    accesses.map(|(_, ty, count)| (ty.bits, count)).collect()
}

#[test]
fn vectors_of_the_source_have_elements_in_the_listing() {
    let wide = ["LDG.E.64 R4, [R2.64]", "EXIT"];
    assert_eq!(elements("ld.global.v2.b32 {r1, r2}, [x];", &wide), [(32, 2)]);
    assert_eq!(elements("ld.global.v4.b16 {h1, h2, h3, h4}, [x];", &wide), [(16, 4)]);
    assert_eq!(elements("ld.global.b64 d1, [x];", &wide), [(64, 1)]);
    // Both may be the one access.
    let both = "ld.global.b64 d1, [x];\nld.global.v2.b32 {r1, r2}, [x+8];";
    assert_eq!(elements(both, &wide), [(64, 1)]);
    // One is weak, the other is not.
    let both = "ld.relaxed.gpu.global.b64 d1, [x];\nld.global.v2.b32 {r1, r2}, [x+8];";
    let strong = ["LDG.E.64.STRONG.GPU R4, [R2.64]", "LDG.E.64 R6, [R2.64+0x8]", "EXIT"];
    assert_eq!(elements(both, &strong), [(64, 1), (32, 2)]);
    // A barrier is between them.
    let both = "st.global.b32 [x], r1;\nbar.sync 0;\nst.global.v2.b16 [x], {h1, h2};";
    let parted = ["STG.E [R2.64], R4", "BAR.SYNC 0x0", "STG.E [R2.64], R5", "EXIT"];
    assert_eq!(elements(both, &parted), [(32, 1), (16, 2)]);
    assert_eq!(elements(both, &["STG.E [R2.64], R4", "EXIT"]), [(32, 1)]);
    // Two elements that nothing reads are not loaded.
    let four = "ld.global.v4.b32 {r1, r2, r3, r4}, [x];";
    assert_eq!(elements(four, &wide), [(32, 2)]);
    let four = "ld.global.v4.b64 {d1, d2, d3, d4}, [x];";
    assert_eq!(elements(four, &["LDG.E.128 R4, [R2.64]", "EXIT"]), [(64, 2)]);
}

#[test]
fn what_is_not_covered_refuses_the_function_where_it_stands() {
    for (instructions, line, why) in [
        (&["NOP", "FADD R0, R1, R2.H0", "I2IP R0, R1"][..], 5, "`FADD`: a part of a register"),
        (&["LDC R0, c[0x0][0x1f8]"], 4, "the value of `c[0x0][0x1f8]` is not known"),
        (&["LDC R0, c[0x0][R2+0x218]"], 4, "`c[0x0][R2+0x218]`: an address that is computed"),
        (
            &["NOP", "S2R R0, SR_SMID"],
            5,
            "the value of the special register `SR_SMID` is not known",
        ),
        (&["LDG.E R0, [R2.64", "EXIT"], 4, "expected `+`, `-` or `]`"),
        (&["CALL.ABS.NOINC `(g)"], 4, "a call of `g`, which the source does not call"),
        (
            &["RET.REL.NODEC R2 `(f)"],
            4,
            "`RET.REL.NODEC`: a return to a place that the listing does not show",
        ),
        (&["UTMALDG.2D [UR4], [UR6]"], 4, "`UTMALDG.2D`: another unit than the caches' own"),
        (&["QUUX R0"], 4, "`QUUX`: not known"),
    ] {
        let refused = one(90, instructions).expect_err("it is not supported");
        assert_eq!(
            (refused.first().line, refused.first().why.as_str()),
            (line, why),
            "{instructions:?}"
        );
    }
}

#[test]
fn a_file_without_functions_or_without_a_machine_is_an_error() {
    let none = |_: &str| None;
    let all = functions("f.sass", "// nothing\n", None, &none);
    assert!(all.is_err_and(|all| all[0].message.contains("no function")));
    let text = "\t\tFunction : f\n/*0000*/ EXIT ;\n";
    let all = functions("f.sass", text, None, &none);
    assert!(all.is_err_and(|all| all[0].message.contains("not known")));
    assert!(functions("f.sass", text, Some(90), &none).is_ok());
}

#[test]
fn a_call_returns_behind_the_calls_and_what_is_not_reached_is_left_out() {
    let function = one(
        90,
        &[
            "MOV R2, 0x30",
            "@P0 CALL.REL.NOINC `(.L_x_1)",
            "MOV R2, 0x50",
            "CALL.REL.NOINC `(.L_x_1)",
            "BRA.CONV ~URZ, `(.L_x_0)",
            "UTMALDG.2D [UR4], [UR6]",
            ".L_x_0:",
            "EXIT",
            ".L_x_1:",
            "RET.REL.NODEC R2 `(f)",
        ],
    )
    .expect("it is covered");
    assert_eq!(
        cells(&function),
        [
            "MOV R2, 0x30",
            "@P0 CALL.REL.NOINC L_x_1",
            "A20: MOV R2, 0x50",
            "CALL.REL.NOINC L_x_1",
            "A40: BRA.CONV ~URZ, L_x_0",
            "L_x_0: EXIT",
            "L_x_1: RET.REL.NODEC R2 `(f)",
        ]
    );
    // Compares with both addresses; any other one is a fault.
    let branches = function.rows[6].lines.iter().filter_map(|step| {
        let model::isa::Instruction::Branch(branch) = &step.line.instruction else { return None };
        Some((step.line.guard.is_some(), branch.target))
    });
    let of_row = |row: usize| function.rows[..row].iter().map(|row| row.lines.len()).sum();
    assert_eq!(branches.collect::<Vec<_>>(), [(true, of_row(2)), (true, of_row(4))]);
    let last = function.rows[6].lines.last().expect("it is covered");
    assert!(last.line.text.ends_with("[nowhere]"), "{}", last.line.text);
}

#[test]
fn local_memory_is_a_frame_and_clocks_stand_still() {
    let function = one(
        90,
        &["LDC R1, c[0x0][0x28]", "STL [R1+-0x10], R0", "CS2R R2, SR_GLOBALTIMERLO", "EXIT"],
    );
    let function = function.expect("it is covered");
    let frame = function.variables.iter().find(|one| one.space == Space::Local);
    assert_eq!(frame.map(|one| one.name.as_str()), Some("frame"));
    let place = Some(EntryValue::Address("frame".to_owned()));
    assert_eq!(initial(&function, "local[0xfffff000]"), place);
    let clock = Some(EntryValue::Special("globaltimer".to_owned()));
    assert_eq!(initial(&function, "SR_GLOBALTIMERLO"), clock);
    assert!(function.notes.iter().any(|note| note.contains("clock")), "{:?}", function.notes);
}

#[test]
fn several_parameters_stand_in_one_word() {
    let small = |name: &str| Parameter { name: name.to_owned(), bits: 16, ..Parameter::default() };
    let signature =
        Signature { parameters: vec![small("a"), small("b"), small("c")], ..Signature::default() };
    let text = listed(90, &["LDC R2, c[0x0][0x210]", "ULDC.U16 UR4, c[0x0][0x214]", "EXIT"]);
    let all = functions("f.sass", &text, None, &|_| Some(signature.clone()));
    let function = all.expect("it is a listing").remove(0).1.expect("it is covered");
    for (name, index) in [("c[0x0][0x210]", 0), ("c[0x0][0x212]", 1), ("c[0x0][0x214]", 2)] {
        assert_eq!(initial(&function, name), Some(EntryValue::Parameter(index)), "{name}");
    }
}

#[test]
fn words_of_a_structure_are_parts_of_it() {
    let small = Parameter { bits: 32, ..Parameter::default() };
    let structure = Parameter { bits: 96, alignment: Some(8), ..Parameter::default() };
    let signature =
        Signature { parameters: vec![small.clone(), structure, small], ..Signature::default() };
    let text = listed(90, &["LDC.64 R2, c[0x0][0x218]", "ULDC UR4, c[0x0][0x220]", "EXIT"]);
    let text = text.replace("EXIT", "LDC R4, c[0x0][0x224] ;\n        /*0030*/ EXIT");
    let all = functions("f.sass", &text, None, &|_| Some(signature.clone()));
    let function = all.expect("it is a listing").remove(0).1.expect("it is covered");
    let piece = |offset| EntryValue::Piece { parameter: 1, offset, bits: 32 };
    for (name, value) in [
        ("c[0x0][0x218]", piece(0)),
        ("c[0x0][0x21c]", piece(4)),
        ("c[0x0][0x220]", piece(8)),
        ("c[0x0][0x224]", EntryValue::Parameter(2)),
    ] {
        assert_eq!(initial(&function, name), Some(value), "{name}");
    }
}

#[test]
fn all_that_is_not_covered_is_listed() {
    let instructions = ["NOP", "FADD R0, R1, R2.H0", "I2IP R0, R1", "I2IP R0, R2", "MUFU.X R0, R1"];
    let refusals = one(90, &instructions).expect_err("it is not supported");
    let all: Vec<(usize, &str)> =
        refusals.all().iter().map(|one| (one.line, one.why.as_str())).collect();
    assert_eq!(
        all,
        [
            (5, "`FADD`: a part of a register"),
            (6, "`I2IP`: arithmetic of this form"),
            (7, "`I2IP`: arithmetic of this form"),
            (8, "`MUFU.X`: a function of this form"),
        ]
    );
}
