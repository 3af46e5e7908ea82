//! Labels, and the branches that name them: what ptxas 13.5 takes, beside what it refuses.

use ptx::LintOptions;

/// The codes of what is said of the body of a kernel.
fn codes(body: &str) -> Vec<&'static str> {
    let text = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 G;\n.func f()\n{{\nret;\n}}\n\
         .entry k()\n{{\n.reg .pred %p<3>; .reg .u32 %r<5>; .reg .f32 %f<5>; .reg .u64 %rd<5>;\n{body}\n}}\n"
    );
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    assert!(!linted.unreadable || linted.errors() > 0, "{body}");
    linted.diagnostics.iter().map(|one| one.code).collect()
}

#[test]
fn a_label_may_begin_with_a_percent_sign() {
    for body in [
        "bra %L; %L: ret;",
        "@%p1 bra.uni %L; %L: ret;",
        "{ %L: bra %L; } ret;",
        "{ bra %L; } %L: ret;",
        "%r1: ret;",
        "%T: .branchtargets %A, %B; brx.idx %r1, %T; %A: ret; %B: ret;",
        "%P: .callprototype _ (.param .u32 _); call %rd1, (%r1), %P; ret;",
        "%P: .calltargets f; call %rd1, %P; ret;",
    ] {
        assert_eq!(codes(body), [] as [&str; 0], "{body}");
    }
    for body in ["bra %L; ret;", "bra %M; %L: ret;", "L: bra %L;", "bra %tid; %tid: ret;"] {
        assert_eq!(codes(body), ["label"], "{body}");
    }
    assert_eq!(codes("mov.u64 %rd1, %L; %L: ret;"), ["undeclared"]);
}

#[test]
fn a_block_has_its_labels_and_those_around_it() {
    for body in [
        "{ L: ret; } { L: bra L; }",
        "{ bra L; L: ret; } L: ret;",
        "A: { B: { bra A; bra B; } } ret;",
    ] {
        assert_eq!(codes(body), [] as [&str; 0], "{body}");
    }
    assert_eq!(codes("bra L; { L: ret; }"), ["label"]);
    assert_eq!(codes("{ L: ret; } { bra L; }"), ["label"]);
    assert_eq!(codes("L: ret; L: bra L;"), ["label-twice"]);
}

#[test]
fn a_name_that_is_declared_is_no_label() {
    assert_eq!(codes("bra %r1; ret;"), ["label"]);
    assert_eq!(codes("bra %r1; %r1: ret;"), ["label"]);
    assert_eq!(codes("bra G; G: ret;"), ["label"]);
    // A label hides what is declared outside of its block, once it was written.
    assert_eq!(codes("G: bra G;"), [] as [&str; 0]);
    assert_eq!(codes("{ %r1: bra %r1; } ret;"), [] as [&str; 0]);
}

#[test]
fn an_indexed_branch_names_a_list_of_targets() {
    for body in [
        "T: .branchtargets A; A: brx.idx 5, T;",
        "A: ret; { T: .branchtargets A; brx.idx.uni %r1, T; } ret;",
        "{ T: .branchtargets A; } T: .branchtargets A; A: brx.idx %r1, T;",
    ] {
        assert_eq!(codes(body), [] as [&str; 0], "{body}");
    }
    for body in [
        "brx.idx %r1, T; ret;",
        "A: brx.idx %r1, A;",
        "brx.idx %r1, T; A: ret; T: .branchtargets A; ret;",
        "{ T: .branchtargets A; } A: brx.idx %r1, T;",
        "T: .branchtargets A; A: bra T;",
        "T: .branchtargets A, %C; A: brx.idx %r1, T;",
        "T: .branchtargets A; { A: brx.idx %r1, T; }",
        "T: .branchtargets %r1; ret;",
    ] {
        assert_eq!(codes(body), ["label"], "{body}");
    }
    for index in ["%rd1", "%f1", "%p1", "%tid.x"] {
        let body = format!("T: .branchtargets A; A: brx.idx {index}, T;");
        assert_eq!(codes(&body), ["production-operand"], "{body}");
    }
    assert_eq!(codes("L: bra L, L;"), ["production-operands"]);
    assert_eq!(codes("bra; ret;"), ["production-operands"]);
}
