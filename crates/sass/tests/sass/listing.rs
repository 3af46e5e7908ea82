//! Whole listings, as the two disassemblers print them.

use sass::listing::{Listing, listing};

fn names(listing: &Listing<'_>) -> Vec<(String, Vec<String>)> {
    let functions = listing.functions.iter();
    functions
        .map(|function| {
            let lines = function.lines.iter().map(|line| line.instruction.to_string());
            (function.name.to_owned(), lines.collect())
        })
        .collect()
}

const NVDISASM: &str = r#"	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
	.elftype	@"ET_EXEC"

//--------------------- .nv.info                  --------------------------
	.section	.nv.info,"",@"SHT_CUDA_INFO"
	.align	4
	.byte	0x04, 0x2f

//--------------------- .text._Z3fooPi            --------------------------
	.section	.text._Z3fooPi,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=8"
	.align	128
        .global         _Z3fooPi
        .size           _Z3fooPi,(.L_x_2 - _Z3fooPi)
_Z3fooPi:
.text._Z3fooPi:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   ULDC.64 UR4, c[0x0][0x208] ;
.L_x_1:
        /*0020*/                   LDG.E.STRONG.GPU R0, desc[UR4][R2.64] ;
        /*0030*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0040*/              @!P0 BRA `(.L_x_1) ;
        /*0050*/                   BRX R2 -0x60 (*"BRANCH_TARGETS .L_x_1"*) ;
        /*0060*/                   EXIT ;
.L_x_2:

//--------------------- .nv.constant0._Z3fooPi    --------------------------
	.section	.nv.constant0._Z3fooPi,"a",@progbits
	.zero		536
"#;

const CUOBJDUMP: &str = r#"
Fatbin elf code:
================
arch = sm_52
code version = [1,7]
host = linux

	code for sm_52
		Function : _Z1aPi
	.headerflags	@"EF_CUDA_SM52 EF_CUDA_PTX_SM(EF_CUDA_SM52)"
                                                             /* 0x001c4400fe0007f6 */
        /*0008*/                   MOV R1, c[0x0][0x20] ;    /* 0x4c98078000870001 */
        /*0010*/         {         MOV R2, c[0x0][0x140] ;   /* 0x4c98078005070002 */
        /*0018*/                   S2R R0, SR_TID.X         }
                                                             /* 0xf0c8000002170000 */
        /*0028*/                   LDG.E R0, [R2] ;          /* 0xeed4200000070200 */
		..........


		Function : _Z1bPi
        /*0000*/                   LDG.E.64 R4, desc[UR4][R2.64] ;   /* 0x0000000402047981 */
                                                                     /* 0x000ea8000c1e1b00 */
        /*0010*/                   EXIT ;                            /* 0x000000000000794d */
"#;

#[test]
fn functions_are_found_and_the_rest_is_passed_over() {
    let read = listing("l", NVDISASM, None);
    assert_eq!(read.diagnostics, []);
    assert_eq!(read.sm, Some(90));
    let expected = [
        "LDC R1, c[0x0][0x28]",
        "ULDC.64 UR4, c[0x0][0x208]",
        "LDG.E.STRONG.GPU R0, desc[UR4][R2.64]",
        "ISETP.NE.AND P0, PT, R0, RZ, PT",
        "@!P0 BRA `(.L_x_1)",
        "BRX R2 -0x60",
        "EXIT",
    ];
    assert_eq!(names(&read), [("_Z3fooPi".to_owned(), expected.map(str::to_owned).to_vec())]);
    let third = &read.functions[0].lines[2];
    assert_eq!((third.address, third.number), (Some(0x20), 20));
    assert_eq!(third.labels, [".L_x_1"]);
}

#[test]
fn words_beside_instructions_are_kept() {
    let read = listing("l", CUOBJDUMP, None);
    assert_eq!(read.diagnostics, []);
    assert_eq!(read.sm, Some(52));
    let names = names(&read);
    assert_eq!(names[0].0, "_Z1aPi");
    assert_eq!(names[0].1[1..3], ["MOV R2, c[0x0][0x140]", "S2R R0, SR_TID.X"]);
    assert_eq!(names[1].0, "_Z1bPi");
    assert_eq!(read.functions[0].lines[3].words, [0xeed4_2000_0007_0200]);
    assert_eq!(read.functions[1].lines[0].words, [0x4_0204_7981, 0x000e_a800_0c1e_1b00]);
}

#[test]
fn instructions_alone_are_a_listing() {
    let read = listing("l", "// by hand\nLDG.E R0, [R2] ;\nL0:\nEXIT ; // done\n", None);
    assert_eq!(names(&read), [(String::new(), vec!["LDG.E R0, [R2]".into(), "EXIT".into()])]);
    assert_eq!(read.functions[0].lines[1].labels, ["L0"]);
    assert_eq!(listing("l", "", None).functions.len(), 0);
}

#[test]
fn an_instruction_that_cannot_be_read_is_told_where_it_stands() {
    let broken = NVDISASM.replace("desc[UR4][R2.64]", "desc[UR4][R2.64");
    let read = listing("l", &broken, None);
    assert_eq!(read.diagnostics.len(), 1);
    let first = &read.diagnostics[0];
    assert_eq!((first.code, first.span.line, first.path.as_str()), ("syntax", 20, "l"));
    assert_eq!(read.functions[0].lines.len(), 6);
}

#[test]
fn rules_are_asked_with_an_architecture() {
    let text = "LDG.E R0, [R3]\nLDG.CG R1, [R2]\nLDG R2, [R2";
    let read = listing("l", text, Some(50));
    let found: Vec<_> = read.diagnostics.iter().map(|one| (one.code, one.span.line)).collect();
    assert_eq!(found, [("ldg-pair", 1), ("syntax", 3)]);
    assert_eq!(read.unread, 1);
    assert_eq!(listing("l", text, Some(90)).diagnostics[0].code, "sass-target");
}
