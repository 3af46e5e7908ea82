//! The forms of instructions, and what is wrong with wrong ones.

use sass::syntax::OperandKind;

/// The instructions of the corpus.
pub(crate) fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("corpus.sass").lines().filter(|line| !line.starts_with("//"))
}

fn one(text: &str) -> sass::syntax::Instruction<'_> {
    let all = sass::instructions("i", text).unwrap_or_else(|all| panic!("{text}: {}", all[0]));
    assert_eq!(all.len(), 1, "{text}");
    all.into_iter().next().expect("there is one")
}

#[test]
fn every_form_prints_as_it_stands() {
    let mut count = 0;
    for line in lines() {
        let read = one(line);
        assert_eq!(read.to_string(), line);
        let opaque = |kind: &OperandKind<'_>| matches!(kind, OperandKind::Opaque(_));
        let branch = matches!(read.opcode.text, "BRX" | "RET");
        let understood = branch || !read.operands.iter().any(|operand| opaque(&operand.kind));
        assert!(understood, "{line}: {:?}", read.operands);
        count += 1;
    }
    assert!(count > 250, "only {count} forms");
}

#[test]
fn blanks_comments_and_ends_are_free() {
    for (text, printed) in [
        ("  LDG.32      R3, [R1];      // load", "LDG.32 R3, [R1]"),
        ("/*0010*/ @!P0  LDG.E R0,[R2] ;  /* 0x0000 */", "@!P0 LDG.E R0, [R2]"),
        ("LDG R0, [ R2 - 0x10 ]", "LDG R0, [R2+-0x10]"),
        ("LDG R0, [R2 + -16]", "LDG R0, [R2+-16]"),
        ("@ P0 LDG R0, [R2]", ""),
        ("LDG.E R0, [R2]\r\n", "LDG.E R0, [R2]"),
        ("DEPBAR.LE SB0, 0x0, { 1, 0 }", "DEPBAR.LE SB0, 0x0, {1,0}"),
        ("BRX R2 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)", "BRX R2 -0x10"),
    ] {
        match sass::instructions("i", text) {
            Ok(all) => assert_eq!(all[0].to_string(), printed, "{text}"),
            Err(all) => assert!(printed.is_empty(), "{text}: {}", all[0]),
        }
    }
    let several =
        sass::instructions("i", "MEMBAR.ALL.GPU ; ERRBAR ;\n\n;CCTL.IVALL").expect("good");
    let names: Vec<String> = several.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["MEMBAR.ALL.GPU", "ERRBAR", "CCTL.IVALL"]);
}

#[test]
fn what_cannot_be_read_says_where_and_what_would() {
    for (text, code, column, message) in [
        ("LDG.E R0, [R2", "syntax", 14, "expected `+`, `-` or `]`"),
        ("LDG.E R0, R2]", "syntax", 13, "expected `,` or the end of the instruction"),
        ("LDG.E R0, []", "syntax", 13, "expected an address in the brackets"),
        ("LDG.E R0, , [R2]", "syntax", 11, "expected an operand"),
        ("LDG.E R0,", "syntax", 10, "expected an operand"),
        ("LDG. R0, [R2]", "syntax", 5, "expected a modifier after the dot"),
        ("LDG.E R0 [R2]", "syntax", 10, "expected `,` or the end of the instruction"),
        ("@R0 LDG.E R0, [R2]", "guard", 2, "`R0` is not a predicate"),
        ("@P9", "syntax", 4, "expected an opcode"),
        ("0x10", "syntax", 1, "expected an opcode"),
        ("LDG R0, [R2] &req=64", "annotation", 19, "`64` is not a mask of six scoreboards"),
        ("LDG R0, [R2] &wr=6", "annotation", 18, "`6` is not the number of a scoreboard, 0 to 5"),
        ("LDG R0, [R2] &foo=1", "annotation", 14, "unknown annotation `&foo`"),
        ("LDG R0, [R2] &req={0 1}", "syntax", 22, "expected `,` or `}`"),
        ("LDG R0, [R2] {&rd=0", "syntax", 20, "expected `}` after the annotation"),
        ("LDG R0, [R2] ?", "syntax", 15, "expected a name after `?`"),
        ("LDG R0, |[R2]", "syntax", 9, "expected a second `|`"),
        ("LDG R0, [R2.]", "syntax", 13, "expected a name after the dot"),
        ("MOV R0, )", "syntax", 9, "expected an operand"),
    ] {
        let Err(all) = sass::instructions("i", text) else { panic!("{text} is read") };
        assert_eq!((all[0].code, all[0].span.column), (code, column), "{text}: {}", all[0]);
        assert_eq!(all[0].message, message, "{text}");
        assert!(all[0].help.is_some(), "{text}");
    }
    let all = sass::instructions("i", "LDG R0,\nLDG R1,\nLDG R2, [R4]").expect_err("two are wrong");
    assert_eq!(all.iter().map(|one| one.span.line).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_opcode_that_nobody_knows_keeps_its_operands() {
    for text in ["FOO.BAR R0, [[, {x}, a@b(c)", "UTC2MMA gdesc[UR4], tmem[UR6+0x10], 32@lo(f)"] {
        match sass::instructions("i", text) {
            Ok(all) => assert_eq!(all[0].to_string(), text),
            Err(all) => {
                assert_eq!(all[0].message, "a bracket of this operand is not closed", "{text}");
                assert!(text.contains("[["), "{text}");
            }
        }
    }
}

#[test]
fn every_form_keeps_the_rules_of_its_machine() {
    for line in lines() {
        let single =
            sass::instruction("i", line, sass::ReadOptions::default()).expect("it can be read");
        assert_eq!(single.diagnostics, [], "{line}");
    }
}

#[test]
fn rules_of_later_machines_point_and_help() {
    let at = |sm: u16, text: &str| {
        let options = sass::ReadOptions { sm: Some(sm), registers: None };
        let single = sass::instruction("i", text, options).expect("it can be read");
        assert_eq!(single.diagnostics.len(), 1, "{text}: {:?}", single.diagnostics);
        let one = &single.diagnostics[0];
        (one.code, one.span.column, one.help.clone().unwrap_or_default())
    };
    let expected = |code, column, help: &str| (code, column, help.to_owned());
    for (sm, text, code, column, help) in [
        (90, "LDG.E.STRON.GPU R0, [R2]", "sass-modifier", 7, "LDG.E.STRONG.GPU"),
        (90, "MEMBAR.SC.CTA.GPU", "sass-modifier", 15, "MEMBAR.SC.CTA"),
        (90, "MEMBAR.SC.ALL.GPU", "sass-modifier", 11, "MEMBAR.SC.GPU"),
        (90, "MEMBAR.ALL.GPU.GPU", "sass-modifier", 16, "MEMBAR.ALL.GPU"),
        (90, "LDG.E.64.128 R0, [R2]", "sass-modifier", 10, "LDG.E.64"),
        (90, "STG.E.U8.S8 [R2], R0", "sass-modifier", 10, "STG.E.U8"),
        (90, "STG.E.STRONG.GPU.STRONG.SM [R2], R0", "sass-modifier", 18, "STG.E.STRONG.GPU"),
        (90, "ATOMG.E.ADD.EXCH PT, R0, [R2], R4", "sass-modifier", 13, "ATOMG.E.ADD"),
        (90, "ERRBAR.FOO", "sass-modifier", 8, "remove `.FOO`"),
        (90, "LGD.E.64 R0, [R2]", "sass-opcode", 1, "LDG.E.64"),
        (90, "membar.SC.GPU", "sass-opcode", 1, "MEMBAR.SC.GPU"),
        (90, "LDG.E.STRONG R0, [R2]", "sass-scope", 7, "LDG.E.STRONG.GPU"),
        (90, "STG.E.GPU [R2], R0", "sass-scope", 7, "STG.E.STRONG.GPU"),
        (90, "LDG.E R0", "sass-operands", 7, "LDG.E R2, [R4]"),
        (90, "STG.E R0, [R2]", "sass-operands", 7, "STG.E [R4], R2"),
        (90, "LDC R0, [R2]", "sass-operands", 5, "LDC R2, c[0x0][0x160]"),
        (90, "MEMBAR.SC", "sass-scope", 10, "MEMBAR.SC.GPU"),
        (50, "MEMBAR.SC.CTA", "sass-target", 8, "MEMBAR.GL"),
        (
            50,
            "LD.E.CONSTANT R0, [R2]",
            "sass-target",
            6,
            "on sm_50 to sm_62, `.CI` is the read-only path",
        ),
        (
            80,
            "LDG.E.CV R0, [R2]",
            "sass-target",
            7,
            "from sm_70 on, `.STRONG.SYS` goes to the home of the memory",
        ),
    ] {
        let found = at(sm, text);
        // A name that is wrong in one way may be so in another.
        assert_eq!(found, expected(code, column, help), "{text}");
    }
}
