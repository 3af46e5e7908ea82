//! The command line as its users see it: what each command prints, on which stream, and the code it
//! exits with.
//!
//! `UPDATE=1 cargo test` rewrites the snapshots; read what changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};

use crate::formats::{self, formats};
use crate::{fix, fmt, generation, lower, run_options, suite, termination, words};

const MESSAGE: &str = "tests/lower/message.ptx";
const MADE: &str = "tests/lower/message.made.ptx";

/// Forbidden by reading R13 alone.
pub(crate) const FAKE: &str = "litmus/suite/no-thin-air-axiom/LB+fake+fake.litmus";
/// Allowed by reading R6 alone.
pub(crate) const ALIAS: &str =
    "litmus/suite/release-and-acquire-patterns/MP+alias-second-store.litmus";

/// The name of each snapshot, and the arguments; paths are from the root of the repository.
///
/// One engine, so that a build without z3 prints the same.
const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("help", &["--help"]),
    ("help-check", &["check", "--help"]),
    ("help-explain", &["explain", "--help"]),
    ("help-model", &["model", "--help"]),
    ("help-lint", &["lint", "--help"]),
    ("help-lower", &["lower", "--help"]),
    ("check-cxx", &["check", "--engine=enumerate", "-v", "litmus/cxx/SB+seq_cst.litmus"]),
    ("model-cxx", &["model", "--model", "cxx"]),
    ("explore-cxx", &["explore", "litmus/cxx/SB+seq_cst.litmus"]),
    ("help-explore", &["explore", "--help"]),
    ("help-fuzz", &["fuzz", "--help"]),
    ("help-merge", &["merge", "--help"]),
    ("fuzz-unknown-fault", &["fuzz", "--plant=machine-without-R99"]),
    ("fuzz-unknown-shard", &["fuzz", "--shard=3/2"]),
    ("merge-nothing", &["merge", "tests/cli"]),
    ("help-schema", &["schema", "--help"]),
    ("schema", &["schema"]),
    ("schema-lint-summary", &["schema", "lint-summary"]),
    ("help-sass-decode", &["sass", "decode", "--help"]),
    ("help-sass-explain", &["sass", "explain", "--help"]),
    ("help-sass-read", &["sass", "read", "--help"]),
    (
        "ptx-explain-parameters",
        &["ptx", "explain", "ld.param::entry.u32 r, [k]", "@p ld.param::func.u32 r, [a]"],
    ),
    (
        "ptx-explain-unified",
        &[
            "ptx",
            "explain",
            "--strict",
            "ld.global.f32 d, [u].unified",
            "ld.volatile.u32 r, [u].unified",
        ],
    ),
    (
        "ptx-explain-old",
        &["ptx", "explain", "--ptx-isa=9.0", "ld.volatile.u32 r, [a]", "st.volatile.u32 [a], r"],
    ),
    ("ptx-explain-oldest", &["ptx", "explain", "--ptx-isa=3.0", "ld.u32 r, [a]"]),
    (
        "ptx-explain-wide",
        &[
            "ptx",
            "explain",
            "ld.acquire.gpu.global.v8.b32 {a, b, c, d, e, f, g, h}, [x]",
            "ld.relaxed.cluster.global.v4.b64 {a, b, c, d}, [x]",
        ],
    ),
    (
        "sass-explain",
        &[
            "sass",
            "explain",
            "--arch=sm_90",
            "@!P0 LDG.E.EL.64.STRONG.GPU R2, desc[UR4][R4.64+0x10]",
        ],
    ),
    (
        "sass-explain-old",
        &[
            "sass",
            "explain",
            "LDG.E.LU.U16 P0, R2, [R4-0x10] &req={0,2} &wr=1",
            "MEMBAR.SYS.IVALLD",
        ],
    ),
    (
        "sass-explain-beyond",
        &[
            "sass",
            "explain",
            "--registers=32",
            "LDG.E.CG R2, [R40-0x10]",
            "LDG.E.CG P0, R2, [R40-0x10]",
            "LDG.E.CG.64 R2, [R40]",
        ],
    ),
    (
        "sass-explain-registers",
        &[
            "sass",
            "explain",
            "LDG.E R256, [R2]",
            "@P9 LDG.E R0, [R2]",
            "STG.E desc[UR255][R4.64], R255",
            "LDG.E.CG R256, [R2]",
            "@P7 LDG.E.CG R0, [R2]",
            "DEPBAR.LE SB6, 0x0",
        ],
    ),
    (
        "sass-explain-operands",
        &["sass", "explain", "LDG.E R0", "IADD3 R0, R1", "MOV R0", "@P0 STG.E [R2]", "IADD3"],
    ),
    (
        "sass-explain-of-ptx",
        &["sass", "explain", "ld.u32 r, [a]", "@%p1 st.global.u32 [%rd1], %r1;", "LGD.E R0, [R2]"],
    ),
    (
        "sass-explain-contradiction",
        &[
            "sass",
            "explain",
            "--arch=sm_90",
            "MEMBAR.SC.CTA.GPU",
            "STG.E.STRONG.GPU.STRONG.SM [R2], R0",
            "ERRBAR.FOO",
        ],
    ),
    ("sass-read-contradiction", &["sass", "read", "--arch=sm_90", "tests/cli/contradiction.sass"]),
    ("ptx-explain-of-sass", &["ptx", "explain", "LDG.E R0, [R2]", "@P0 STG.E [R2], R0"]),
    ("sass-explain-twice", &["sass", "explain", "LDG.E R0, [R2] &req={0} &wr=1 &wr=2 &req={3}"]),
    (
        "sass-explain-wide",
        &[
            "sass",
            "explain",
            "--arch=sm_100",
            "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]",
            "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64], 0x7b",
            "LDG.E.ENL2.256 RZ, R3, desc[UR4][R2.64], 0x1",
        ],
    ),
    (
        "sass-explain-json",
        &[
            "sass",
            "explain",
            "--format=json",
            "STG.E.MMIO.SYS [R2], R4",
            "MEMBAR.SC.VC",
            "IADD R0, R1, R2",
        ],
    ),
    (
        "sass-explain-broken",
        &[
            "sass",
            "explain",
            "--arch=sm_52",
            "LDG.CG.E.64 P0, R3, [R2+0x80000]",
            "LDG.E R0, [R2",
            "FOO R1",
        ],
    ),
    (
        "sass-explain-unknown",
        &[
            "sass",
            "explain",
            "--arch=sm_90",
            "LDSM.16.M88.4 R4, [R2]",
            "@P1 SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R4",
            "LDGSTS.E.BYPASS.128 [R2], desc[UR4][R4.64]",
            "FENCE.VIEW.ASYNC.S",
            "QSPC.E.S P0, RZ, [R2]",
            "SHFL.BFLY PT, R4, R2, 0x1, 0x1f",
            "HMMA.16816.F32 R4, R8, R12, R4",
            "FOO.BAR R1, R2",
        ],
    ),
    (
        "ptx-explain-others",
        &[
            "ptx",
            "explain",
            "mbarrier.try_wait.parity.shared::cta.b64 p, [a], r;",
            "@p cp.async.ca.shared::cta.global [%0], [%1], 16, %2",
            "@p bar.sync 0, 64;",
            "bar.warp.sync -1",
            "multimem.st.weak.global.u32 [a], r",
            "add.u32 r, a, b",
            "bra L",
            "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 32",
            "atm.add.u32 r, [a], 1",
        ],
    ),
    (
        "ptx-explain-template",
        &[
            "ptx",
            "explain",
            "asm volatile(\"ld.acquire.gpu.global.u32 %0, [%1];\\n\\t\" : \"=r\"(v) : \"l\"(p) : \"memory\");",
            "st.release.gpu.global.u32 [$0], $1;",
            "red.relaxed.gpu.global.add.u32 [{counter}], {one};",
        ],
    ),
    (
        "ptx-explain-raw-strings",
        &[
            "ptx",
            "explain",
            "asm volatile(R\"(ld.global.u32 %0, [%1];)\" : \"=r\"(v) : \"l\"(p));",
            "asm!(r#\"st.weak.u32 [{p}], {v};\"#, p = in(reg64) p, v = in(reg32) v)",
            "\"membar.gl;\"",
        ],
    ),
    (
        "ptx-explain-misspelt",
        &[
            "ptx",
            "explain",
            "bar.syncc 0",
            "mov.u32 %0, %tid.x",
            "@p bra.unii $L1",
            "nanosleep.u32 100",
            "mbarrier [a], 1",
            "add.s32 r, a, b; ret",
        ],
    ),
    ("ptx-explain-other-json", &["ptx", "explain", "--format=json", "bar.arrive 1, 64"]),
    ("sass-read", &["sass", "read", "tests/cli/listing.sass"]),
    ("sass-read-verbose", &["sass", "read", "-v", "--arch=sm_50", "tests/cli/listing.sass"]),
    ("sass-read-none", &["sass", "read", "tests/cli/empty.sass"]),
    ("no-command", &[]),
    ("unknown-flag", &["check", "--fast", "tests/cli/holds.litmus"]),
    ("bad-timeout", &["check", "--timeout", "0", "tests/cli/holds.litmus"]),
    ("no-such-file", &["check", "--engine=enumerate", "tests/cli/none.litmus"]),
    ("no-litmus-file", &["check", "tests/snapshots"]),
    ("no-such-model", &["check", "--model", "tests/cli/none.cat", "tests/cli/holds.litmus"]),
    ("holds", &["check", "--engine=enumerate", "tests/cli/holds.litmus"]),
    ("fails", &["check", "--engine=enumerate", "tests/cli/fails.litmus"]),
    ("undefined", &["check", "--engine=enumerate", "tests/cli/undefined.litmus"]),
    ("unsupported", &["check", "--engine=enumerate", "tests/cli/unsupported.litmus"]),
    ("undecided", &["check", "--engine=enumerate", "tests/cli/undecided.litmus"]),
    ("decided", &["check", "--engine=enumerate", "--bound=5", "tests/cli/undecided.litmus"]),
    ("rejected", &["check", "--engine=enumerate", "tests/cli/rejected.litmus"]),
    ("all", &["check", "--engine=enumerate", "tests/cli"]),
    ("all-verbose", &["check", "--engine=enumerate", "-v", "tests/cli"]),
    ("all-json", &["check", "--engine=enumerate", "--format=json", "tests/cli"]),
    ("all-herd", &["check", "--engine=enumerate", "--format=herd", "tests/cli"]),
    ("counted", &["check", "--count-executions", "-v", "tests/cli"]),
    ("solve-counts", &["check", "--engine=solve", "--count-executions", "tests/cli/holds.litmus"]),
    (
        "verdict-only",
        &["check", "--engine=enumerate", "--verdict-only", "-v", "tests/cli/fails.litmus"],
    ),
    (
        "other-model",
        &["check", "--engine=enumerate", "--model", "tests/cli/coherent.cat", "tests/cli"],
    ),
    ("model-included", &["check", "--model", "tests/cli/included.cat", "tests/cli/holds.litmus"]),
    ("model-cycle", &["model", "--model", "tests/cli/includes-a-cycle.cat"]),
    ("broken-model", &["check", "--model", "tests/cli/broken.cat", "tests/cli/holds.litmus"]),
    ("explain-holds", &["explain", "tests/cli/holds.litmus"]),
    ("explain-deep", &["explain", "--deep", "tests/cli/holds.litmus"]),
    ("explain-fails", &["explain", "tests/cli/fails.litmus"]),
    ("explain-undefined", &["explain", "tests/cli/undefined.litmus"]),
    ("explain-unsupported", &["explain", "tests/cli/unsupported.litmus"]),
    ("explain-undecided", &["explain", "tests/cli/undecided.litmus"]),
    ("endless", &["check", "--engine=enumerate", "tests/cli/endless.litmus"]),
    ("explain-endless", &["explain", "tests/cli/endless.litmus"]),
    ("explain-stuck", &["explain", "tests/cli/stuck.litmus"]),
    ("explain-sometimes-stuck", &["explain", "tests/cli/sometimes-stuck.litmus"]),
    ("explore-stuck", &["explore", "--check", "tests/cli/stuck.litmus"]),
    ("explore-sometimes-stuck", &["explore", "tests/cli/sometimes-stuck.litmus"]),
    ("explore-exit-shows-nothing", &["explore", "--check", "tests/cli/exit-shows-nothing.litmus"]),
    ("explain-rejected", &["explain", "tests/cli/rejected.litmus"]),
    ("explain-dot", &["explain", "--format=dot", "tests/cli/holds.litmus"]),
    ("explain-dot-allowed", &["explain", "--format=dot", "tests/cli/fails.litmus"]),
    ("explain-svg", &["explain", "--format=svg", "tests/cli/holds.litmus"]),
    ("explain-svg-nothing", &["explain", "--format=svg", "tests/cli/stuck.litmus"]),
    ("explain-html", &["explain", "--format=html", "tests/cli/fails.litmus"]),
    ("explain-json", &["explain", "--format=json", "tests/cli/holds.litmus"]),
    (
        "explain-other-model",
        &["explain", "--model", "tests/cli/coherent.cat", "tests/cli/holds.litmus"],
    ),
    ("explain-coherence", &["explain", "litmus/suite/coherence-axiom/CoWW+transitive.litmus"]),
    (
        "explain-coherence-against",
        &[
            "explain",
            "litmus/suite/coherence-axiom/CoWW+st.release.gpu+ld.acquire.gpu+strong.litmus",
        ],
    ),
    (
        "explain-fence-sc",
        &["explain", "litmus/suite/fence-sc-order/R+fence.sc.gpu+fence.sc.gpu.litmus"],
    ),
    (
        "explain-atomicity",
        &["explain", "litmus/suite/atomicity-axiom/atom.relaxed.gpu.add+st.relaxed.gpu.litmus"],
    ),
    (
        "explain-single-copy",
        &[
            "explain",
            "litmus/suite/atomicity-axiom/tearing+st.relaxed.gpu.b32+ld.relaxed.gpu.b32.litmus",
        ],
    ),
    ("explain-no-thin-air", &["explain", "litmus/suite/no-thin-air-axiom/LB+selp+selp.litmus"]),
    (
        "explain-sc-per-location",
        &[
            "explain",
            "litmus/suite/sc-per-loc-axiom/CoRR+st.relaxed.gpu+ld.relaxed.gpu+ld.relaxed.gpu.litmus",
        ],
    ),
    (
        "explain-causality",
        &["explain", "litmus/suite/observation-order/MP+release-sequence+cas-succeeds.litmus"],
    ),
    (
        "readings",
        &[
            "check",
            "--engine=enumerate",
            "-v",
            FAKE,
            ALIAS,
            "litmus/suite/papers/D6.litmus",
            "litmus/suite/coherence-order/CoWR+racing+transitive.litmus",
            "litmus/suite/control-flow-instructions-bra/spin-lock+acquire+release.litmus",
            "litmus/suite/control-flow-instructions-bra/spin-lock+weak-release.litmus",
            "litmus/suite/no-thin-air-axiom/LB+data+data.litmus",
        ],
    ),
    ("readings-json", &["check", "--engine=enumerate", "--format=json", FAKE, ALIAS]),
    (
        "readings-switched",
        &[
            "check",
            "--engine=enumerate",
            "-v",
            "--reading=R13=semantic",
            "--reading=R6=physical",
            FAKE,
            ALIAS,
        ],
    ),
    (
        "readings-switched-json",
        &["check", "--engine=enumerate", "--format=json", "--reading=R13=semantic", FAKE],
    ),
    ("readings-misstated", &["check", "--engine=enumerate", "tests/readings"]),
    ("reading-no-such-choice", &["check", "--reading=R13=maybe", FAKE]),
    ("reading-no-such-reading", &["explain", "--reading=R99=none", FAKE]),
    ("reading-twice", &["check", "--reading=R13=none", "--reading=R13=semantic", FAKE]),
    (
        "reading-of-another-model",
        &["check", "--reading=R13=none", "--model=tests/cli/coherent.cat", FAKE],
    ),
    ("explain-reading", &["explain", FAKE]),
    ("explain-reading-allowed", &["explain", ALIAS]),
    ("explain-reading-switched", &["explain", "--reading=R13=semantic", FAKE]),
    ("lint-broken", &["lint", "tests/ptx/broken.ptx"]),
    ("lint-misspelt", &["lint", "tests/ptx/misspelt.ptx"]),
    ("lint-asynchronous", &["lint", "tests/ptx/asynchronous.ptx"]),
    ("lint-unjudged", &["lint", "tests/ptx/unjudged.ptx"]),
    ("lint-empty", &["lint", "tests/cli/empty.sass"]),
    ("lint-empty-as", &["lint", "--ptx-isa=8.7", "tests/cli/empty.sass"]),
    ("lint-absent", &["lint", "tests/cli/absent.ptx"]),
    ("lint-absent-json", &["lint", "--format=json", "tests/cli/absent.ptx"]),
    ("lint-absent-among", &["lint", "tests/cli/absent.ptx", "tests/ptx/fine.ptx"]),
    ("lint-of-litmus", &["lint", "tests/cli/holds.litmus", "tests/cli/absent.ptx"]),
    ("lint-unjudged-json", &["lint", "--format=json", "tests/ptx/unjudged.ptx"]),
    (
        "wrong-kind-check",
        &[
            "check",
            "--engine=enumerate",
            "tests/ptx/fine.ptx",
            "tests/cli/listing.sass",
            "tests/cli/coherent.cat",
            "tests/kinds/increment.cu",
            "tests/llvm/values.ll",
        ],
    ),
    ("wrong-kind-explain", &["explain", "tests/ptx/fine.ptx"]),
    ("wrong-kind-explore", &["explore", "tests/ptx/fine.ptx"]),
    ("wrong-kind-lint", &["lint", "tests/cli/holds.litmus", "tests/cli/listing.sass", MESSAGE]),
    ("wrong-kind-lower", &["lower", "--from", "tests/cli/holds.litmus", "--to", MADE]),
    ("wrong-kind-lower-rows", &["lower", "--rows", "tests/ptx/fine.ptx"]),
    ("wrong-kind-lower-rows-ir", &["lower", "--rows", "tests/lower/compiled.ll"]),
    ("wrong-kind-lower-table", &["lower", "--table", "tests/cli/listing.sass"]),
    (
        "wrong-kind-explore-table",
        &["explore", "--table", "tests/cli/coherent.cat", "tests/cli/holds.litmus"],
    ),
    ("wrong-kind-model", &["model", "--model", "tests/cli/holds.litmus"]),
    ("wrong-kind-sass", &["sass", "read", "tests/ptx/fine.ptx"]),
    ("lint-strict", &["lint", "--strict", "tests/ptx/broken.ptx"]),
    ("lint-json", &["lint", "--format=json", "tests/ptx"]),
    ("lint-fine", &["lint", "tests/ptx/fine.ptx"]),
    ("lint-too-new", &["lint", "--ptx-isa=99.9", "tests/ptx/fine.ptx"]),
    ("lint-for-another-target", &["lint", "--ptx-isa=7.8", "--target=sm_90", "tests/ptx/fine.ptx"]),
    ("explore-runs", &["explore", "--runs", "--stats", "tests/cli/holds.litmus"]),
    ("explore-check", &["explore", "--check", "--arch=all", "--stats", "tests/cli/fails.litmus"]),
    (
        "explore-difference",
        &["explore", "--check", "--table=tests/cli/leaky.table", "tests/cli/holds.litmus"],
    ),
    (
        "explore-difference-json",
        &[
            "explore",
            "--check",
            "--format=json",
            "--table=tests/cli/leaky.table",
            "tests/cli/holds.litmus",
        ],
    ),
    ("explore-all", &["explore", "tests/cli"]),
    ("explore-all-check", &["explore", "--check", "-v", "--arch=all", "tests/cli"]),
    ("explore-all-json", &["explore", "--check", "--format=json", "tests/cli"]),
    ("explore-all-herd", &["explore", "--format=herd", "tests/cli"]),
    ("explore-random", &["explore", "--random=200", "--seed=7", "tests/cli/holds.litmus"]),
    (
        "explore-random-herd",
        &["explore", "--random=200", "--format=herd", "tests/cli/holds.litmus"],
    ),
    ("explore-other-model", &["explore", "--check", "--model=tests/cli/coherent.cat", "tests/cli"]),
    ("explore-machine", &["explore", "tests/ends"]),
    ("explore-machine-check", &["explore", "--check", "-v", "tests/ends"]),
    ("check-machine", &["check", "--engine=enumerate", "-v", "tests/ends"]),
    ("explore-bad-arch", &["explore", "--arch=sm_20", "tests/cli/holds.litmus"]),
    ("lint-nothing", &["lint", "tests/cli"]),
    ("lint-bad-target", &["lint", "--target=90", "tests/ptx/fine.ptx"]),
    ("help-ptx", &["ptx", "explain", "--help"]),
    ("ptx-explain-ld-weak", &["ptx", "explain", "ld.b32 r, [a]"]),
    ("ptx-explain-ld-acquire", &["ptx", "explain", "ld.acquire.gpu.global.u32 r, [a];"]),
    ("ptx-explain-ld-volatile", &["ptx", "explain", "ld.volatile.global.L2::64B.u32 r, [a]"]),
    ("ptx-explain-ld-mmio", &["ptx", "explain", "ld.mmio.relaxed.sys.global.u32 r, [a]"]),
    (
        "ptx-explain-ld-nc",
        &[
            "ptx",
            "explain",
            "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.b32 r, [a], policy",
        ],
    ),
    ("ptx-explain-ldu", &["ptx", "explain", "ldu.global.v2.f32 {r, s}, [a]"]),
    (
        "ptx-explain-ld-vector",
        &["ptx", "explain", "ld.global.v8.b32 {a, _, b, c, _, d, e, f}, [p]"],
    ),
    ("ptx-explain-ld-shared", &["ptx", "explain", "ld.relaxed.gpu.shared.s8 r, [x+4]"]),
    ("ptx-explain-ld-const", &["ptx", "explain", "ld.const.b128 r, [c]"]),
    ("ptx-explain-st", &["ptx", "explain", "@p st.wt.u16 [a], r", "st.release.cta.b32 [a], r"]),
    ("ptx-explain-atom", &["ptx", "explain", "atom.acq_rel.global.cas.b32 r, [a], 0, 1"]),
    ("ptx-explain-red", &["ptx", "explain", "red.shared::cluster.add.noftz.f16x2 [a], r"]),
    ("ptx-explain-fence", &["ptx", "explain", "fence.sc.gpu"]),
    ("ptx-explain-fence-acquire", &["ptx", "explain", "fence.acquire.cluster"]),
    ("ptx-explain-membar", &["ptx", "explain", "membar.gl"]),
    (
        "ptx-explain-fence-proxy",
        &[
            "ptx",
            "explain",
            "fence.proxy.alias",
            "fence.proxy.async",
            "fence.proxy.tensormap::generic.acquire.gpu [a], 128",
        ],
    ),
    ("ptx-explain-broken", &["ptx", "explain", "ld.relaxed.u32 r, [a]", "ld.b32 r, [a]"]),
    (
        "ptx-explain-too-new",
        &["ptx", "explain", "--target=sm_60", "--ptx-isa=5.0", "st.relaxed.gpu.u32 [a], 1"],
    ),
    ("ptx-explain-strict", &["ptx", "explain", "--strict", "ld.global.v2.b32 {a, _}, [p]"]),
    (
        "ptx-explain-unreadable",
        &["ptx", "explain", "ld.u32 r, [a-4]", "mov.u32 r, 1", "ld.u32 r, [a]; ret"],
    ),
    (
        "ptx-explain-json",
        &["ptx", "explain", "--format=json", "atom.add.u32 r, [a], 1", "ld.gpu.u32 r, [a]"],
    ),
];

fn causeway(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments)
        .current_dir(suite::root())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Both streams and the exit code, with times masked.
fn shown(arguments: &[&str]) -> String {
    let output = causeway(arguments);
    let mut all = format!("$ causeway {}\n", arguments.join(" "));
    all.push_str(&masked(&String::from_utf8(output.stdout).expect("output is text")));
    let errors = String::from_utf8(output.stderr).expect("complaints are text");
    if !errors.is_empty() {
        all.push_str("--- standard error\n");
        all.push_str(&masked(&errors));
    }
    let code = output.status.code().expect("it is not killed");
    writeln!(all, "--- exit {code}").expect("strings can be written");
    all
}

/// Times as `…`: they are what differs from run to run.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for (before, after) in [
            ("\"seconds\":", ","),
            (" time=\"", "\""),
            ("; ", " s)"),
            ("executions, ", ""),
            ("execution, ", ""),
            ("verdict only, ", ""),
        ] {
            line = mask(&line, before, after);
        }
        if !line.contains("execution") {
            line = mask(&mask(&line, "outcomes, ", ""), "outcome, ", "");
        }
        if line.starts_with("Time ") {
            let end = line.rfind(' ').expect("there is one");
            line.truncate(end + 1);
            line.push('…');
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Masks what stands between `before` and `after` if it is a time.
fn mask(line: &str, before: &str, after: &str) -> String {
    let Some(at) = line.rfind(before) else { return line.to_owned() };
    let (head, tail) = line.split_at(at + before.len());
    let end = if after.is_empty() { Some(tail.len()) } else { tail.find(after) };
    match end {
        Some(end) if tail.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{head}…{}", &tail[end..])
        }
        _ => line.to_owned(),
    }
}

#[test]
fn what_users_see_is_as_recorded() {
    let folder = suite::root().join("tests/snapshots/cli");
    let update = std::env::var_os("UPDATE").is_some();
    let (mut wrong, mut names) = (String::new(), BTreeSet::new());
    let all = SNAPSHOTS.iter().chain(lower::SNAPSHOTS).chain(formats::SNAPSHOTS);
    for &(name, arguments) in all
        .chain(fix::SNAPSHOTS)
        .chain(fmt::SNAPSHOTS)
        .chain(generation::SNAPSHOTS)
        .chain(crate::lint_fix::SNAPSHOTS)
        .chain(run_options::SNAPSHOTS)
        .chain(words::SNAPSHOTS)
        .chain(termination::SNAPSHOTS)
    {
        assert!(names.insert(format!("{name}.txt")), "two snapshots are called {name}");
        let now = shown(arguments);
        let file = folder.join(format!("{name}.txt"));
        if update {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&file, &now).expect("the snapshot can be written");
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        if now != before {
            writeln!(wrong, "--- {name}, before:\n{before}--- now:\n{now}")
                .expect("strings can be written");
        }
    }
    for entry in fs::read_dir(&folder).expect("the snapshots are there") {
        let name = entry.expect("the folder can be read").file_name();
        let name = name.to_string_lossy().into_owned();
        assert!(names.contains(&name), "{name} is a snapshot of nothing");
    }
    assert!(wrong.is_empty(), "{wrong}\nUPDATE=1 rewrites the snapshots");
}

#[test]
fn exit_codes() {
    for (code, test) in [
        (0, "holds"),
        (1, "fails"),
        (1, "undefined"),
        (1, "unsupported"),
        (2, "rejected"),
        (2, "absent"),
        (4, "undecided"),
    ] {
        for format in formats() {
            let path = format!("tests/cli/{test}.litmus");
            let output = causeway(&["check", "--format", &format, &path]);
            assert_eq!(output.status.code(), Some(code), "{test}, {format}");
        }
    }
    for (code, test) in [
        (0, "holds"),
        (0, "fails"),
        (1, "undefined"),
        (0, "unsupported"),
        (2, "rejected"),
        (2, "absent"),
        (4, "undecided"),
    ] {
        for format in formats() {
            let path = format!("tests/cli/{test}.litmus");
            let output = causeway(&["explore", "--check", "--format", &format, &path]);
            assert_eq!(output.status.code(), Some(code), "explore {test}, {format}");
        }
    }
    let leaky = ["explore", "--check", "--table=tests/cli/leaky.table", "tests/cli/holds.litmus"];
    assert_eq!(causeway(&leaky).status.code(), Some(1));
    // The worst of several.
    assert_eq!(causeway(&["check", "tests/cli"]).status.code(), Some(2));
}

#[test]
fn the_version_names_the_document_and_z3() {
    let output = causeway(&["--version"]);
    let text = String::from_utf8(output.stdout).expect("it is text");
    let version = concat!("causeway ", env!("CARGO_PKG_VERSION"), " (");
    let rest = text.strip_prefix(version).expect("it begins with the version");
    let document = format!("{}; forms of PTX up to 9.5; ", model::section::REVISION);
    let z3 = rest.trim_end().strip_prefix(&document).expect("it names both versions");
    assert!(z3 == "no z3)" || z3.starts_with("z3 ") && z3.ends_with(')'), "{z3}");
}

#[test]
fn the_number_of_jobs_does_not_show() {
    for format in formats() {
        let [one, two] = ["1", "2"].map(|jobs| {
            let folder = "litmus/suite/causality-axiom";
            let output =
                causeway(&["check", "-v", "-j", jobs, "--format", &format, folder, "tests/cli"]);
            masked(&String::from_utf8(output.stdout).expect("output is text"))
        });
        assert!(one.lines().count() > 5, "{format}: little was printed");
        assert_eq!(one, two, "{format}");
        let [one, two] = ["1", "2"].map(|jobs| {
            let folder = "litmus/suite/machine";
            let arguments =
                ["explore", "--check", "-v", "-j", jobs, "--format", &format, folder, "tests/cli"];
            masked(&String::from_utf8(causeway(&arguments).stdout).expect("output is text"))
        });
        assert!(one.lines().count() > 5, "{format}: little was printed of the machine");
        assert_eq!(one, two, "{format}");
    }
}

#[test]
fn a_closed_pipe_ends_the_run() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["check", "-v", "--format=json", "litmus/suite"])
        .current_dir(suite::root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut some = [0; 100];
    child.stdout.take().expect("it is piped").read_exact(&mut some).expect("something comes");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(141));
}

#[test]
fn a_printed_model_begins_with_its_name() {
    for (format, first) in [("text", "ptx-9.4"), ("cat", "\"ptx-9.4\""), ("markdown", "# ptx-9.4")]
    {
        let output = causeway(&["model", "--format", format]);
        let text = String::from_utf8(output.stdout).expect("it is text");
        assert_eq!(text.lines().next(), Some(first));
    }
    let cat = causeway(&["model", "--format", "cat"]).stdout;
    let kept = fs::read(suite::root().join("docs/ptx.cat")).expect("it is there");
    assert!(cat == kept, "docs/ptx.cat is not the model: UPDATE=1 cargo test -p causeway-model");
}
