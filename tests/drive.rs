//! Assemblers that are driven: one that prints a listing of ours, and the real one where it is present.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::suite;

/// Standard output and error, and the exit code, of a command line in a folder.
fn run_in(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Registers with a `%`, also as a guard.
const TEST: &str = "PTX MP\n{\nx=0; y=0;\n}\n \
    P0@cta 0,gpu 0            | P1@cta 1,gpu 0                  ;\n \
    st.weak.u32 [x], 1        | ld.acquire.gpu.u32 r0, [y]      ;\n \
    st.release.gpu.u32 [y], 1 | setp.eq.u32 %p, %r0, 0          ;\n                           \
    | @%p bra END                     ;\n                           \
    | ld.weak.u32 %r1, [x]            ;\n                           \
    | END:                            ;\n~exists (P1:r0=1 /\\ P1:r1=0)\n";

/// What an assembler of `sm_90` makes of the first thread; the second one has no `CCTL`.
const LISTING: &str = "\t.target sm_90\n\t.section .nv.constant4,\"a\"\n\
    /*0000*/ .dword thread_0_x\n/*0008*/ .dword thread_0_y\n\
    /*0010*/ .dword thread_1_x\n/*0018*/ .dword thread_1_y\n\
    \t.section .text.thread_0,\"ax\"\n\
    /*0000*/ LDC.64 R2, c[0x4][RZ] ;\n/*0010*/ LDC.64 R4, c[0x4][0x8] ;\n\
    /*0020*/ MOV R7, 0x1 ;\n/*0030*/ ULDC.64 UR4, c[0x0][0x208] ;\n\
    /*0040*/ STG.E desc[UR4][R2.64], R7 ;\n/*0050*/ MEMBAR.ALL.GPU ;\n\
    /*0060*/ STG.E.STRONG.GPU desc[UR4][R4.64], R7 ;\n/*0070*/ EXIT ;\n\
    \t.section .text.thread_1,\"ax\"\n\
    /*0000*/ LDC.64 R2, c[0x4][0x10] ;\n/*0010*/ LDC.64 R4, c[0x4][0x18] ;\n\
    /*0020*/ LDC.64 R6, c[0x0][0x210] ;\n/*0030*/ ULDC.64 UR4, c[0x0][0x208] ;\n\
    /*0040*/ LDG.E.STRONG.GPU R0, desc[UR4][R4.64] ;\n\
    /*0050*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;\n/*0060*/ MOV R1, RZ ;\n\
    /*0070*/ @P0 LDG.E R1, desc[UR4][R2.64] ;\n\
    /*0080*/ STG.E desc[UR4][R6.64], R0 ;\n/*0090*/ STG.E desc[UR4][R6.64+0x8], R1 ;\n\
    /*00a0*/ EXIT ;\n";

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("causeway-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

#[cfg(unix)]
fn script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{body}\n")).expect("a script can be written");
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, all).expect("a script can be made executable");
}

#[cfg(unix)]
#[test]
fn threads_are_compiled_and_judged_by_what_came_back() {
    let folder = folder("drive");
    fs::write(folder.join("MP.litmus"), TEST).expect("a test can be written");
    fs::write(folder.join("listing"), LISTING).expect("a listing can be written");
    script(&folder.join("ptxas"), "echo 'Cuda compilation tools, release 12.9, V12.9.86'");
    script(&folder.join("nvdisasm"), "cat listing");
    let arguments = "lower --ptxas ./ptxas --nvdisasm ./nvdisasm --keep kept -j1 MP.litmus";
    let (code, out, err) = run_in(&folder, arguments);
    assert_eq!(err, "");
    assert!(out.contains("MP.litmus P0 on sm_90, thread_0: preserved"), "{out}");
    assert!(out.contains("MP.litmus P1 on sm_90, thread_1: weaker"), "{out}");
    assert!(out.contains("lacks a `CCTL.IVALL` after it"), "{out}");
    assert_eq!(code, 1);
    let module = fs::read_to_string(folder.join("kept/threads.ptx")).expect("it was kept");
    assert!(module.starts_with(".version 8.8\n.target sm_90\n"), "{module}");
    assert!(module.contains("\t@p bra thread_1_end;"), "{module}");
    assert!(module.contains("ld.weak.u32 r1, [thread_1_x];"), "{module}");
    let kept = "lower --from kept/threads.ptx --to kept/threads.sass -j1";
    let (code, out, _) = run_in(&folder, kept);
    assert!(out.contains("thread_1: weaker"), "{out}");
    assert_eq!(code, 1);
    fs::remove_dir_all(&folder).expect("it is ours");
}

#[cfg(unix)]
#[test]
fn a_kernel_that_is_not_taken_is_left_out_and_a_program_that_fails_is_an_error() {
    let folder = folder("refuse");
    fs::write(folder.join("MP.litmus"), TEST).expect("a test can be written");
    fs::write(folder.join("listing"), LISTING).expect("a listing can be written");
    // The first kernel's line 12, as long as it is there.
    let mut complain =
        "if [ \"$1\" = --version ]; then echo release 12.9, V; exit 0; fi\n".to_owned();
    complain.push_str("grep -q thread_0 kept/threads.ptx || exit 0\n");
    complain
        .push_str("echo 'ptxas threads.ptx, line 12; error   : Nobody knows this' >&2; exit 255");
    script(&folder.join("ptxas"), &complain);
    script(&folder.join("nvdisasm"), "cat listing");
    let arguments = "lower --ptxas ./ptxas --nvdisasm ./nvdisasm --keep kept -j1 MP.litmus";
    let (code, out, _) = run_in(&folder, arguments);
    assert!(out.contains("unsupported: line 1 of the source: ptxas: Nobody knows this"), "{out}");
    assert_eq!(code, 1, "{out}");
    // What it stumbles over are the kernels with loads.
    let stumble =
        "grep -q ld.acquire kept/threads.ptx && { echo unknown >&2; exit 3; }; cat listing";
    script(&folder.join("nvdisasm"), stumble);
    let (code, out, _) = run_in(&folder, arguments);
    assert!(out.contains("thread_1: invalid: the assembler emitted an instruction"), "{out}");
    assert_eq!(code, 1, "{out}");
    script(&folder.join("ptxas"), "echo hello");
    let (code, _, err) = run_in(&folder, arguments);
    assert_eq!(code, 2);
    assert!(err.contains("does not name a release"), "{err}");
    fs::remove_dir_all(&folder).expect("it is ours");
}

/// A program by the variable that names it, else on the path.
fn tool(variable: &str, name: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    named.or_else(|| env::split_paths(&paths).map(|folder| folder.join(name)).find(|p| p.is_file()))
}

/// Reading R73: what is racy is reported, and fails only with `--racy`.
#[test]
#[ignore = "needs ptxas and nvdisasm: on the path, or CAUSEWAY_PTXAS and CAUSEWAY_NVDISASM"]
fn no_assembler_weakens_a_test_of_the_suite() {
    let named = |variable: &str, name: &str| {
        tool(variable, name).unwrap_or_else(|| panic!("{variable} names {name}"))
    };
    let ptxas = named("CAUSEWAY_PTXAS", "ptxas");
    let nvdisasm = named("CAUSEWAY_NVDISASM", "nvdisasm");
    for folder in ["causality-axiom", "document", "atomicity-axiom", "fence-sc-axiom"] {
        for arch in ["sm_80", "sm_90", "sm_100"] {
            let mut arguments = "lower --format json --arch ".to_owned();
            let (ptxas, nvdisasm) = (ptxas.display(), nvdisasm.display());
            write!(arguments, "{arch} --ptxas {ptxas} --nvdisasm {nvdisasm} litmus/suite/{folder}")
                .expect("strings can be written");
            let (_, out, err) = run_in(&suite::root(), &arguments);
            assert_eq!(err, "");
            let (mut preserved, mut weaker) = (0, Vec::new());
            for line in out.lines() {
                let said: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
                let racy = said["racy"] == true;
                match said["verdict"].as_str() {
                    Some("preserved") => preserved += 1,
                    Some("weaker" | "wrong-value") if !racy => weaker.push(line),
                    _ => {}
                }
            }
            assert_eq!(weaker, Vec::<&str>::new(), "{folder} on {arch}");
            assert!(preserved > 0, "{folder} on {arch}: {out}");
        }
    }
}
