//! Notes of functions cite the reading that a verdict rests on, as those of rows do.

use refine::function::{PairReport, paired};
use refine::verdict::Verdict;

use crate::functions::{judge_pair, kernel, said};

/// The notes that cite a reading.
fn cited(said: &PairReport) -> Vec<&str> {
    let notes = said.finding.notes.iter().map(String::as_str);
    notes.filter(|note| note.contains("(reading R")).collect()
}

#[test]
fn a_red_before_a_fence_cites_that_it_does_not_acquire() {
    let body = |add: &str, fence: &str| {
        kernel(&format!(
            "{add}; {fence} st.relaxed.gpu.global.u32 [%y], 1; \
             ld.relaxed.gpu.global.u32 %r2, [%y+4]; st.global.u32 [%x+4], %r2"
        ))
    };
    let source = body("atom.relaxed.gpu.global.add.u32 %r1, [%x], 1", "fence.acq_rel.gpu;");
    let red = "red.relaxed.gpu.global.add.u32 [%x], 1";
    let judged = said(&source, &body(red, "fence.acq_rel.gpu;"));
    assert_eq!(judged.finding.verdict, Verdict::Weaker, "{:?}", judged.finding);
    let told = "`red` does not acquire for a fence after it. With `atom` no outcome is added in this context (reading R11)";
    assert_eq!(cited(&judged), [told]);
    // Without the fence, `atom` does not help.
    let judged = said(&source, &body(red, ""));
    assert_eq!(judged.finding.verdict, Verdict::Weaker, "{:?}", judged.finding);
    assert_eq!(cited(&judged), [""; 0]);
}

#[test]
fn a_load_of_read_only_data_cites_what_it_requires() {
    let body = |load: &str| {
        kernel(&format!(
            "L: ld.acquire.gpu.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p bra L; \
             {load}.u32 %r2, [%y]; st.global.u32 [%x+4], %r2"
        ))
    };
    let (plain, constant) = (body("ld.global"), body("ld.global.nc"));
    let judged = said(&plain, &constant);
    let finding = &judged.finding;
    assert_eq!(finding.verdict, Verdict::Outside, "{finding:?}");
    assert!(finding.why.contains("` requires memory that is never written"), "{finding:?}");
    assert!(finding.why.contains("(reading R12)"), "{finding:?}");
    let line = constant.lines().position(|line| line.contains(".nc")).map(|index| index + 1);
    assert_eq!((judged.target_line, judged.about_target), (line, true), "{finding:?}");
    let promised =
        "the source promises that `y` is not written while the kernel runs (reading R12)";
    for target in [&plain, &constant] {
        let judged = said(&constant, target);
        assert_eq!(judged.finding.verdict, Verdict::Preserved, "{:?}", judged.finding);
        assert_eq!(cited(&judged), [promised]);
    }
    let judged = said(&plain, &plain);
    assert_eq!(judged.finding.verdict, Verdict::Preserved, "{:?}", judged.finding);
    assert_eq!(cited(&judged), [""; 0]);
}

#[test]
fn a_generic_atomic_of_a_function_cites_that_it_is_not_in_local_memory() {
    for (kernel, pointer, is_told) in
        [("", "ptr", true), ("", "ptr addrspace(1)", false), ("ptx_kernel ", "ptr", false)]
    {
        let source = format!(
            "define {kernel}void @k({pointer} %p) {{\n  \
             %r = atomicrmw add {pointer} %p, i32 1 syncscope(\"device\") monotonic, align 4\n  \
             ret void\n}}\n"
        );
        let entry = if kernel.is_empty() { ".func" } else { ".entry" };
        let target = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible {entry} k(.param .b64 p)\n{{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [p];\natom.relaxed.gpu.add.u32 %r1, [%rd1], 1;\nret;\n}}\n"
        );
        let (module, diagnostics) = ::ptx::read("m.ptx", target.as_bytes());
        assert_eq!(diagnostics, [], "{target}");
        let target = lift::module::functions(&module.expect("a module"));
        let source = llvm::functions("f.ll", &source).expect("it can be read");
        let judged = judge_pair(&paired(source, target)[0]);
        assert_eq!(judged.finding.verdict, Verdict::Preserved, "{:?}", judged.finding);
        let told = cited(&judged).contains(&llvm::NOT_LOCAL);
        assert_eq!(told, is_told, "{kernel}{pointer}: {:?}", judged.finding.notes);
        assert!(llvm::NOT_LOCAL.ends_with("(reading R105)"));
    }
}
