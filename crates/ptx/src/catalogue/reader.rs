//! The codes of diagnostics that are not of a rule of [`crate::rules`]: of qualifiers, of other instructions, of fences that are
//! spelled out, and of the form of a module.

use model::section::{self, Section};

use super::{ExampleCode, ExampleFrame, LintExample, LintRule};
use crate::rule::Authority;
use crate::version::{PtxIsa, Target};

type ReaderRule = (&'static str, &'static str, Option<Section>, LintExample);

fn kernel(rejected: &'static str, accepted: &'static str) -> LintExample {
    LintExample::kernel(rejected, accepted)
}

fn module(rejected: &'static str, accepted: &'static str) -> LintExample {
    LintExample { frame: ExampleFrame::Module, ..LintExample::kernel(rejected, accepted) }
}

/// The same instruction for two versions.
fn versions(text: &'static str, [before, first]: [(u8, u8); 2]) -> LintExample {
    let of = |(major, minor)| ExampleCode {
        isa: PtxIsa::new(major, minor),
        ..ExampleCode::newest(text)
    };
    LintExample { frame: ExampleFrame::Kernel, rejected: of(before), accepted: Some(of(first)) }
}

/// The same instruction for two targets.
fn targets(text: &'static str, [before, first]: [u16; 2]) -> LintExample {
    let of = |sm| ExampleCode { target: Target { sm, variant: None }, ..ExampleCode::newest(text) };
    LintExample { frame: ExampleFrame::Kernel, rejected: of(before), accepted: Some(of(first)) }
}

/// What only the document says.
const OF_DOCUMENT: &[&str] =
    &["fence-acq-rel", "fence-document", "address-size-missing", "production-document"];

/// What is legal, and not what it seems to be.
const OF_NEITHER: &[&str] = &["production-deprecated", "production-trap"];

/// The limits of a file.
const LIMITS: &[(&str, &str)] = &[
    ("nesting", "blocks and constants are nested 50 deep at most"),
    ("size", "a file has at most 64 MiB"),
    ("binary", "a file is text in UTF-8, without bytes that are 0"),
    (
        "paths",
        "the rules of several instructions are checked on a limited number of paths of a function",
    ),
    ("too-many-errors", "of a file with very many errors, only the first are shown"),
];

pub(super) fn rules() -> impl Iterator<Item = LintRule> {
    let by = |code: &str| match code {
        _ if OF_DOCUMENT.contains(&code) => Authority::Document,
        _ if OF_NEITHER.contains(&code) => Authority::Neither,
        _ => Authority::Both,
    };
    let row = move |(code, text, section, example): ReaderRule| LintRule {
        code,
        text,
        section,
        by: by(code),
        example: Some(example),
    };
    let limit = |&(code, text): &(&'static str, &'static str)| LintRule {
        code,
        text,
        section: None,
        by: Authority::Both,
        example: None,
    };
    let rows = rows().into_iter().chain(productions()).chain(modules());
    rows.map(row).chain(LIMITS.iter().map(limit))
}

/// Of instructions that have productions.
#[rustfmt::skip]
fn productions() -> Vec<ReaderRule> {
    let none = None;
    vec![
        ("production-modifier", "a modifier of an asynchronous instruction goes with the others", none,
            kernel("mbarrier.try_wait.relaxed.shared.b64 p1, [a32], b64_1", "mbarrier.try_wait.shared.b64 p1, [a32], b64_1")),
        ("production-missing", "an asynchronous instruction has the modifiers that its form requires", none,
            kernel("cp.async.bulk.shared::cta.global [a32], [a], 1024, [a32]",
                "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [a32], [a], 1024, [a32]")),
        ("production-operands", "an asynchronous instruction has as many operands as its form requires", none,
            kernel("cp.async.wait_all 0", "cp.async.wait_all")),
        ("production-operand", "an operand of an asynchronous instruction is of the kind that its form requires", none,
            kernel("mbarrier.try_wait.shared::cta.b64 p1, [a32], b32_1", "mbarrier.try_wait.shared::cta.b64 p1, [a32], b64_1")),
        ("production-value", "an integer of an asynchronous instruction is in the range that its form allows", none,
            kernel("cp.async.cg.shared.global [a32], [a], 8", "cp.async.cg.shared.global [a32], [a], 16")),
        ("production-coordinates", "there are as many coordinates as a tensor has dimensions", none,
            kernel("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [a, {b32_1}], [a32]",
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [a, {b32_1, b32_2}], [a32]")),
        ("production-registers", "a vector of an asynchronous instruction has as many registers as its modifiers say", none,
            kernel("multimem.st.global.v2.f32 [a], {b32_1}", "multimem.st.global.v2.f32 [a], {b32_1, b32_2}")),
        ("production-isa", "an asynchronous instruction, a modifier or an operand requires a version of PTX", none,
            versions("mbarrier.try_wait.shared.b64 p1, [a32], b64_1", [(7, 7), (7, 8)])),
        ("production-target", "an asynchronous instruction, a modifier or an operand requires a target", none,
            targets("cp.async.wait_all", [75, 80])),
        ("production-document", "the document forbids some asynchronous instructions that ptxas takes", none,
            kernel("st.async.global.b32 [a], b32_1", "st.async.release.gpu.global.b32 [a], b32_1")),
        ("production-deprecated", "a form that a later version of PTX deprecates is written in the new way", none,
            kernel("fabric.wait.sync_restrict::reads", "fabric.wait.sync_restrict::read 0")),
        ("production-trap", "an instruction that ptxas makes a trap of for a target is not executed there", none,
            targets("fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [sh], [b32_1, b64_1], 16, [sh+64]", [120, 110])),
    ]
}

#[rustfmt::skip]
fn rows() -> Vec<ReaderRule> {
    let (membar, none) = (Some(section::MEMBAR), None);
    vec![
        ("unknown-qualifier", "each part of a memory instruction is a qualifier of PTX", none,
            kernel("ld.gloal.u32 u32_1, [gbl]", "")),
        ("qualifier", "a memory instruction has only qualifiers of the kinds that it takes", none,
            kernel("fence.sc.gpu.global", "")),
        ("qualifier-twice", "a memory instruction has at most one qualifier of each kind", none,
            kernel("ld.relaxed.gpu.gpu.global.u32 u32_1, [gbl]", "")),
        ("fence-spelling", "a fence of proxies, of a state space or of an operation is one of those of the page", membar,
            kernel("fence.proxy.asinc", "fence.proxy.async")),
        ("fence-acq-rel", "a fence of tensor maps is a release or an acquire", membar,
            kernel("fence.proxy.tensormap::generic.acq_rel.gpu", "fence.proxy.tensormap::generic.release.gpu")),
        ("fence-document", "a fence with `.sync_restrict` or of the fabric is a release or an acquire, of `.cluster` or `.sys` scope", membar,
            kernel("fence.proxy.async::generic.acq_rel.sync_restrict::shared::cta.cluster",
                "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster")),
        ("fence-size", "the size of a tensor map is 128 bytes", membar,
            kernel("fence.proxy.tensormap::generic.acquire.gpu [a], 64", "")),
        ("isa-fence-spelling", "each fence of proxies, of a state space or of an operation requires a version of PTX", membar,
            versions("fence.proxy.async", [(7, 8), (8, 0)])),
        ("target-fence-spelling", "each fence of proxies, of a state space or of an operation requires a target", membar,
            targets("fence.proxy.async", [89, 90])),
        ("opcode", "an instruction begins with an opcode of PTX", Some(section::INSTRUCTIONS),
            kernel("atm.add.u32 u32_1, [gbl], 1", "atom.add.u32 u32_1, [gbl], 1")),
        ("modifier", "an instruction has only modifiers of its opcode", none,
            kernel("bar.syncc 0", "bar.sync 0")),
        ("label", "a branch leads to a label of its function", Some(section::of_opcode("bra")),
            kernel("bra NOWHERE", "HERE: bra HERE")),
        ("label-twice", "a block has a label once", Some(section::of_opcode("bra")),
            kernel("HERE: bra HERE;\nHERE: membar.gl", "HERE: bra HERE;\nTHERE: membar.gl")),
        ("undeclared", "the names in a memory instruction are declared", none,
            kernel("ld.global.u32 u32_1, [nothing]", "ld.global.u32 u32_1, [gbl]")),
        ("guard", "the guard of a memory instruction is a predicate", Some(section::PREDICATED_EXECUTION),
            kernel("@u32_1 ld.global.u32 u32_2, [gbl]", "@p1 ld.global.u32 u32_2, [gbl]")),
        ("semicolon", "an instruction ends with `;`", none,
            kernel("ld.global.u32 u32_1, [gbl]\nmembar.gl", "")),
        ("syntax", "the text has the form of PTX; for example, an offset follows `+`", none,
            kernel("ld.global.u32 u32_1, [a-16]", "")),
        ("number", "an integer has at most 64 bits", none,
            kernel("ld.global.u32 u32_1, [a+99999999999999999999]", "ld.global.u32 u32_1, [a+4]")),
    ]
}

/// Of the rest of a module.
#[rustfmt::skip]
fn modules() -> Vec<ReaderRule> {
    let none = None;
    vec![
        ("version", "a module has one `.version`, and it is followed by a version of PTX", none,
            module(".version nine\n.target sm_90\n", ".version 9.4\n.target sm_90\n")),
        ("version-missing", "a module begins with `.version`", Some(section::VERSION),
            module(".target sm_90\n", ".version 9.4\n.target sm_90\n")),
        ("version-newer", "a module of a version that is not known here is checked by the rules of the newest that is", none,
            module(".version 9.9\n.target sm_90\n", ".version 9.4\n.target sm_90\n")),
        ("target", "`.target` is followed by a target", none,
            module(".version 9.4\n.target sm_ninety\n", ".version 9.4\n.target sm_90\n")),
        ("target-version", "a module is of a version of PTX that has its target", Some(section::TARGET),
            module(".version 7.7\n.target sm_90\n", ".version 7.8\n.target sm_90\n")),
        ("special-register", "special registers are read, and not written", Some(section::SPECIAL_REGISTERS),
            kernel("mov.u32 %tid.x, u32_1", "mov.u32 u32_1, %tid.x")),
        ("special-register-read", "special registers are read by `mov` and `cvt`", Some(section::SPECIAL_REGISTERS),
            kernel("add.u32 u32_1, %laneid, 1", "mov.u32 u32_1, %laneid;\nadd.u32 u32_1, u32_1, 1")),
        ("special-register-size", "`mov` reads a special register with a type of its size", Some(section::SPECIAL_REGISTERS),
            kernel("mov.u64 u64_1, %clock", "mov.u64 u64_1, %clock64")),
        ("special-register-isa", "some special registers require a version of PTX", Some(section::SPECIAL_REGISTERS),
            versions("mov.u32 u32_1, %locality_domain_id", [(9, 4), (9, 5)])),
        ("special-register-target", "some special registers require a target", Some(section::SPECIAL_REGISTERS),
            targets("mov.u32 u32_1, %locality_domain_id", [90, 100])),
        ("special-register-directive", "a kernel that reads the place and the size of the memory of its CTA asks for it", Some(section::SPECIAL_REGISTERS),
            module(".version 9.4\n.target sm_90\n.address_size 64\n.entry k()\n{\n    .reg .b32 r;\n    mov.u32 r, %perctamemorysize;\n}\n",
                ".version 9.4\n.target sm_90\n.address_size 64\n.entry k() .minperctamemory 2048\n{\n    .reg .b32 r;\n    mov.u32 r, %perctamemorysize;\n}\n")),
        ("address-size", "a module has one `.address_size`, and it is 32 or 64", none,
            module(".version 9.4\n.target sm_90\n.address_size 48\n", ".version 9.4\n.target sm_90\n.address_size 64\n")),
        ("address-size-missing", "without `.address_size`, addresses have 32 bits", Some(section::ADDRESS_SIZE),
            module(".version 9.4\n.target sm_90\n.entry k()\n{\n    .reg .b64 a; .reg .b32 r;\n    ld.u32 r, [a];\n}\n",
                ".version 9.4\n.target sm_90\n.address_size 64\n.entry k()\n{\n    .reg .b64 a; .reg .b32 r;\n    ld.u32 r, [a];\n}\n")),
        ("outside-function", "instructions are inside a function", none,
            module(".version 9.4\n.target sm_90\nmembar.gl;\n", ".version 9.4\n.target sm_90\n.entry k()\n{\n    membar.gl;\n}\n")),
        ("function-end", "a function ends with `}`", none,
            module(".version 9.4\n.target sm_90\n.entry k()\n{\n    membar.gl;\n", ".version 9.4\n.target sm_90\n.entry k()\n{\n    membar.gl;\n}\n")),
        ("comment-end", "a comment that begins with `/*` ends with `*/`", none,
            module(".version 9.4\n.target sm_90\n/* the end\n", ".version 9.4\n.target sm_90\n/* the end */\n")),
        ("comment-return", "a comment ends at a line feed; ptxas does not end it at a carriage return", none,
            module(".version 9.4\n// a comment\r.target sm_90\r\n", ".version 9.4\n// a comment\r\n.target sm_90\r\n")),
        ("string-end", "a string ends on its line", none,
            module(".version 9.4\n.target sm_90\n.file 1 \"a.cu\n", ".version 9.4\n.target sm_90\n.file 1 \"a.cu\"\n")),
        ("character", "the characters of a module are those of PTX", none,
            module(".version 9.4\n.target sm_90 §\n", ".version 9.4\n.target sm_90\n")),
    ]
}
