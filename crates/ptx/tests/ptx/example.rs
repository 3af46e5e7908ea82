//! The examples of the pages of `ld`, `ldu` and `ld.global.nc`, each with the declarations that it
//! leaves out.

use std::fs;
use std::path::Path;

use ptx::LintOptions;
use ptx::version::PtxIsa;

/// Declarations outside and inside of the function, and the example.
type Example = (&'static str, &'static str, &'static str);

const LD: &[Example] = &[
    (".global .f32 a;", ".reg .f32 d;", "ld.global.f32    d,[a];"),
    ("", ".shared .v4 .b32 p; .reg .v4 .b32 Q;", "ld.shared.v4.b32 Q,[p];"),
    (".const .s32 p[4];", ".reg .s32 d;", "ld.const.s32     d,[p+4];"),
    ("", ".reg .b32 p, x;", "ld.local.b32     x,[p+-8]; // negative offset"),
    ("", ".reg .b64 x;", "ld.local.b64     x,[240];  // immediate address"),
    (
        ".global .b16 fs;",
        ".reg .b32 %r;",
        "ld.global.b16    %r,[fs];  // load .f16 data into 32-bit reg",
    ),
    ("", ".reg .b32 %r;", "cvt.f32.f16      %r,%r;    // up-convert f16 data to f32"),
    (
        ".global .b32 fs[2];",
        ".reg .b32 %r<2>;",
        "ld.global.b32    %r0, [fs];     // load .f16x2 data in 32-bit reg",
    ),
    (
        ".global .b32 fs[2];",
        ".reg .b32 %r<2>;",
        "ld.global.b32    %r1, [fs + 4]; // load .f16x2 data in 32-bit reg",
    ),
    ("", ".reg .b32 %r<2>, %d0;", "add.rn.f16x2     %d0, %r0, %r1; // addition of f16x2 data"),
    (".global .u32 gbl;", ".reg .u32 %r<5>;", "ld.global.relaxed.gpu.u32 %r0, [gbl];"),
    ("", ".shared .u32 sh[4]; .reg .u32 %r<5>;", "ld.shared.acquire.gpu.u32 %r1, [sh];"),
    (".global .u32 gbl;", ".reg .u32 %r<5>;", "ld.global.relaxed.cluster.u32 %r2, [gbl];"),
    ("", ".shared .u32 sh[4]; .reg .u32 %r<5>;", "ld.shared::cta.acquire.gpu.u32 %r2, [sh + 4];"),
    ("", ".shared .u32 sh[4]; .reg .u32 %r<5>;", "ld.shared::cluster.u32 %r3, [sh + 8];"),
    (".global .u32 gbl;", ".reg .u32 %r<5>;", "ld.global.mmio.relaxed.sys.u32 %r3, [gbl];"),
    (
        ".global .attribute(.unified(19, 95)) .f32 ugbl;",
        ".reg .f32 d;",
        "ld.global.f32    d,[ugbl].unified;",
    ),
    ("", ".reg .b32 %r0; .reg .b64 %r1;", "ld.b32           %r0, [%r1].unified;"),
    ("", ".reg .u32 d; .reg .u64 p;", "ld.global.L1::evict_last.u32  d, [p];"),
    (
        ".global .b32 gbl;",
        ".reg .b32 %r<2>;",
        "ld.global.L2::64B.b32   %r0, [gbl]; // Prefetch 64B to L2",
    ),
    (
        ".global .f64 gbl;",
        ".reg .f64 %r<2>;",
        "ld.L2::128B.f64         %r1, [gbl]; // Prefetch 128B to L2",
    ),
    (
        ".global .f64 gbl;",
        ".reg .f64 %r<3>;",
        "ld.global.L2::256B.f64  %r2, [gbl]; // Prefetch 256B to L2",
    ),
    (
        "",
        ".reg .b64 policy;",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 policy, 1;",
    ),
    ("", ".reg .b64 x, p, policy;", "ld.global.L2::cache_hint.b64  x, [p], policy;"),
    ("", ".reg .b32 %rp<2>;", "ld.param::entry.b32 %rp1, [kparam1];"),
    (".global .b128 gbl;", ".reg .b128 %r<1>;", "ld.global.b128   %r0, [gbl];   // 128-bit load"),
    (
        "",
        ".reg .f32 %reg<8>; .reg .b64 addr;",
        "ld.global.L2::evict_last.v8.f32 { %reg0, _, %reg2, %reg3, %reg4, %reg5, %reg6, %reg7}, [addr];",
    ),
    (
        "",
        ".reg .u64 %reg<4>, addr;",
        "ld.global.L2::evict_last.L1::evict_last.v4.u64 { %reg0, %reg1, %reg2, %reg3}, [addr];",
    ),
];

/// In the newer revision of the page only.
const LD_SINCE_9_1: Example =
    ("", ".local .u32 lcl; .reg .u32 %r<5>;", "ld.local.volatile.u32 %r4, [lcl];");

const LDU: &[Example] = &[
    (".global .f32 a;", ".reg .f32 d;", "ldu.global.f32    d,[a];"),
    (".global .b32 p[2];", ".reg .b32 d;", "ldu.global.b32    d,[p+4];"),
    (".global .v4 .f32 p;", ".reg .v4 .f32 Q;", "ldu.global.v4.f32 Q,[p];"),
    (".global .b128 a;", ".reg .b128 d;", "ldu.global.b128   d,[a];"),
];

const NC: &[Example] = &[
    (".global .f32 a;", ".reg .f32 d;", "ld.global.nc.f32           d, [a];"),
    ("", ".reg .b64 policy;", "createpolicy.fractional.L2::evict_last.b64 policy, 0.5;"),
    (
        ".global .f32 a;",
        ".reg .f32 d; .reg .b64 policy;",
        "ld.global.nc.L2::cache_hint.f32  d, [a], policy;",
    ),
    (
        ".global .b32 a;",
        ".reg .b32 d;",
        "ld.global.nc.L2::64B.b32      d,  [a];     // Prefetch 64B to L2",
    ),
    (
        ".global .f64 a;",
        ".reg .f64 d;",
        "ld.global.nc.L2::256B.f64     d,  [a];     // Prefetch 256B to L2",
    ),
    (".global .b128 a;", ".reg .b128 d;", "ld.global.nc.b128             d,  [a];"),
];

fn module((outside, inside, line): Example) -> String {
    format!(
        ".version 9.4\n.target sm_120\n.address_size 64\n{outside}\n\
         .entry k(.param .b32 kparam1) {{\n{inside}\n{line}\nret;\n}}\n"
    )
}

/// All that is said of an example, as it is printed.
fn said(example: Example, options: LintOptions) -> String {
    let linted = ptx::lint("example.ptx", module(example).as_bytes(), options);
    linted.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn modes() -> [LintOptions; 2] {
    [false, true].map(|strict| LintOptions { strict, ..LintOptions::default() })
}

#[test]
fn the_examples_of_the_pages_are_right() {
    for &example in [LD, LDU, NC, &[LD_SINCE_9_1]].into_iter().flatten() {
        for options in modes() {
            assert_eq!(said(example, options), "", "{}", module(example));
        }
    }
}

#[test]
fn volatile_local_loads_are_of_the_newer_revision() {
    let older = LintOptions { isa: Some(PtxIsa::new(9, 0)), ..LintOptions::default() };
    snapshot("volatile-local", &said(LD_SINCE_9_1, older));
    let newer = LintOptions { isa: Some(PtxIsa::new(9, 1)), ..LintOptions::default() };
    assert_eq!(said(LD_SINCE_9_1, newer), "");
}

/// The page of `ld.global.nc` misspells a qualifier, and writes points where it means commas; that of
/// `ld` names an operand as its syntax lines do, with a sign that no name has.
#[test]
fn what_the_pages_misspell_is_explained() {
    let misspelt = [
        (".global .u32 a;", ".reg .u32 d;", "ld.gloal.nc.L1::evict_last.u32 d, [a];"),
        (
            ".global .f64 a[4];",
            ".reg .f64 %reg<4>;",
            "ld.global.nc.L2::evict_first.v4.f64 {%reg0, %reg1. %reg2, %reg3}. [a]; // 256-bit load",
        ),
        (
            ".global .f64 a[4];",
            ".reg .f64 %reg<4>;",
            "ld.global.nc.L2::evict_first.v4.f64 {%reg0, %reg1, %reg2, %reg3}. [a]; // 256-bit load",
        ),
        ("", ".reg .b64 x, p;", "ld.global.L2::cache_hint.b64  x, [p], cache-policy;"),
    ];
    for options in modes() {
        let said: Vec<String> = misspelt.iter().map(|&example| said(example, options)).collect();
        snapshot("misspelt", &said.join("\n"));
    }
}

/// `UPDATE=1 cargo test` rewrites the snapshots; read what changed.
fn snapshot(name: &str, now: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/snapshots");
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, now).expect("the snapshot can be written");
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, before, "UPDATE=1 rewrites {}", path.display());
}
