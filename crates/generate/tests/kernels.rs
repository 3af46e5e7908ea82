//! Tests as kernels: modules that ptxas assembles, and programs of CUDA.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use generate::export::{CudaProgram, ExportFormat, export};
use litmus::Test;
use text::diagnostic::Severity;

fn parsed(text: &str) -> Test {
    litmus::parse("t.litmus", text.as_bytes()).unwrap_or_else(|errors| panic!("{:#}", errors[0]))
}

/// The tests of the suite.
fn suite() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/suite");
    let folders = fs::read_dir(root).expect("the suite is a folder");
    let files = folders.filter_map(|folder| fs::read_dir(folder.ok()?.path()).ok()).flatten();
    let mut all: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    all.sort();
    all
}

/// What ptxas takes otherwise than the format of tests does: the width of a register in `cvt`, `mov` of a vector of another
/// width, a report of a byte, `cvta` of 32 bits.
const REJECTED: [&str; 8] = [
    "cvt.rn.f16.f32",
    "cvta.shared.u32",
    "getctarank-values",
    "layout-v1+report",
    "ld.global.nc+examples",
    "mov.b128+unpack",
    "mov.b32+bytes",
    "mov.b64+unpack+swap",
];

#[test]
fn the_tests_of_the_suite_are_modules() {
    let (mut modules, mut asynchronous) = (0, 0);
    for path in suite() {
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let bytes = fs::read(&path).expect("the file can be read");
        let Ok(test) = litmus::parse(&stem, &bytes) else { panic!("{stem} is not a test") };
        let Ok(module) = export(&test, ExportFormat::Ptx) else { continue };
        if test.metadata.iter().any(|(key, _)| key == "Undefined") || REJECTED.contains(&&*stem) {
            continue;
        }
        modules += 1;
        asynchronous += usize::from(test.program.is_asynchronous());
        let linted = ::ptx::lint("m.ptx", module.as_bytes(), ::ptx::LintOptions::default());
        // The tests of what can go wrong have warnings.
        let error = linted.diagnostics.iter().find(|of| of.severity == Severity::Error);
        assert!(error.is_none(), "{stem}\n{module}\n{:#}", error.expect("there is one"));
    }
    assert!(modules > 1100, "only {modules} are modules");
    assert!(asynchronous > 120, "only {asynchronous} are asynchronous");
}

const PIPELINE: &str = "PTX pipeline\nArch=sm_90a\n{\n.shared .mbarrier b={1,1,16};\n.shared .b32 s[4]={0,5};\n\
    .global .b32 g[4]={7};\nP1:rs=s@P0;\n}\n P0@cta 0,cluster 0 | P1@cta 1,cluster 0 ;\n \
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g+0], 16, [b] | barrier.cluster.arrive ;\n \
    L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 1 | barrier.cluster.wait ;\n @!p bra L | \
    ld.shared::cluster.u32 r1, [rs+4] ;\n ld.weak.u32 r0, [s] | ;\n barrier.cluster.arrive | ;\n barrier.cluster.wait | ;\n\
    exists (P0:p=1 /\\ P0:r0=7 /\\ [s@P1]=0)\n";

/// The version and the target are those of the rules of instructions, whatever names a test has.
#[test]
fn a_module_is_of_the_oldest_version_and_target_that_have_its_instructions() {
    for (initial, line, version, target) in [
        ("x=0; .shared s=0;", "cp.async.ca.shared.global [s], [x], 4", "8.0", "sm_80"),
        ("cluster=0;", "ld.weak.u32 phase_type, [cluster]", "8.0", "sm_75"),
        ("x=0;", "ld.relaxed.gpu.b128 r0, [x]", "8.3", "sm_75"),
        ("x=0;", "fence.acq_rel.cluster", "8.0", "sm_90"),
        ("x=0;", "fence.acquire.gpu", "8.6", "sm_90"),
        ("x=0;", "ld.weak.v8.b32 {a, b, c, d, e, f, g, h}, [x]", "8.8", "sm_100"),
    ] {
        let test =
            parsed(&format!("PTX t\n{{ {initial} }}\n P0@cta 0 ;\n {line} ;\nexists (true)\n"));
        let module = export(&test, ExportFormat::Ptx).unwrap_or_else(|no| panic!("{line}: {no:?}"));
        let expected = format!("\n.version {version}\n.target {target}\n");
        assert!(module.contains(&expected), "{line}: {expected}{module}");
    }
    // What no module can say: 32 times the count is more than a CTA has.
    let bar = "PTX t\n{ x=0; }\n P0@cta 0 ;\n bar.sync 0, COUNT ;\nexists (true)\n";
    for (count, written) in [("1", true), ("32", true), ("33", false), ("1024", false)] {
        let test = parsed(&bar.replace("COUNT", count));
        assert_eq!(export(&test, ExportFormat::Ptx).is_ok(), written, "{count}");
    }
}

#[test]
fn a_program_has_shared_memory_and_objects() {
    let mut program = CudaProgram::default();
    program.add(&parsed(PIPELINE)).expect("a program has it");
    let text = program.text();
    for part in [
        "nvcc -arch=sm_90a",
        "static constexpr int SHARED = 32;",
        "static constexpr int GLOBAL = 256;",
        "static constexpr int CLUSTER = 2;",
        // The object, and the initial value of the second element.
        "object(own + 0, 1, 1, 16);",
        "part[20] = (char)5;",
        // An access in `.shared`, a generic one, and one to the other CTA.
        "[shared_s_], [at_g_+0], 16, [shared_b_];",
        "ld.weak.u32 r0, [at_s_];",
        "mapa.shared::cluster.u32 narrow_wide_s_of_0_, narrow_wide_s_of_0_, 0;",
        "ld.shared::cluster.u32 r1, [rs+4];",
        // A loop ends, and tells of it.
        "@over_ bra AFTER_2_;",
        "if (spent > ITERATIONS) out[OBSERVED] = 1;",
        // What is observed.
        "selp.b32 %0, 1, 0, p;",
        "if (cta == 1) out[2] = bytes(part + 16, 4);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('@') || !text.contains("@TARGET@"), "{text}");
}

#[test]
fn a_program_has_several_tests() {
    let mut program = CudaProgram::default();
    let plain = "PTX plain\n{ x=0; }\n P0@cta 0 ;\n st.weak.u32 [x], 1 ;\nexists (x=1)\n";
    for text in [PIPELINE, plain] {
        program.add(&parsed(text)).expect("a program has it");
    }
    let text = program.text();
    for part in
        ["{Test0::name(), run<Test0>},", "{Test1::name(), run<Test1>},", "nvcc -arch=sm_90a"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("struct Test").count(), 2);
    assert_eq!(
        export(&parsed(plain), ExportFormat::Cuda).map(|of| of.matches("struct Test").count()),
        Ok(1)
    );
}

/// All instances of a test in a warp are at one barrier together.
#[test]
fn what_instances_share_is_refused() {
    let head = "PTX t\nArch=sm_90a\n{ x=0; }\n P0@cta 0 | P1@cta 0 ;\n";
    let tail = "exists (x=1)\n";
    for (rows, line, reason) in [
        (" bar.red.popc.u32 r0, 0, p | bar.red.popc.u32 r0, 0, p ;\n", 5, "a reduction"),
        (
            " ld.u32 r0, [x] | ;\n setp.eq.u32 p, r0, 0 | ;\n @p barrier.arrive 0, 64 | ;\n",
            7,
            "may not arrive",
        ),
        (
            " ld.u32 r0, [x] | ;\n setp.eq.u32 p, r0, 0 | ;\n @p exit | ;\n bar.sync 0 | bar.sync 0 ;\n",
            7,
            "may not arrive",
        ),
        (
            " L: bar.sync 0 | ;\n ld.u32 r0, [x] | ;\n setp.eq.u32 p, r0, 0 | ;\n @p bra L | ;\n",
            8,
            "may not arrive",
        ),
        (
            " ld.u32 r0, [x] | ;\n xor.b32 r1, r0, r0 | ;\n cvt.u64.u32 r1, r1 | ;\n",
            6,
            "another width",
        ),
    ] {
        let test = parsed(&format!("{head}{rows}{tail}"));
        let no = CudaProgram::default().add(&test).expect_err(rows);
        assert_eq!((no.line, no.what.contains(reason)), (line, true), "{rows}\n{no:?}");
    }
    let stuck = parsed(
        "PTX t\nStuck=P0\n{ x=0; }\n P0@cta 0 | P1@cta 0 ;\n bar.sync 0, 3 | ;\nexists (x=1)\n",
    );
    let no = CudaProgram::default().add(&stuck).expect_err("it hangs");
    assert!(no.what.contains("wait for ever"), "{no:?}");
}

fn of_cuda(text: &str) -> String {
    let mut program = CudaProgram::default();
    program.add(&parsed(text)).unwrap_or_else(|no| panic!("{no:?}"));
    program.text()
}

/// What the reader of tests makes several steps of is one instruction.
#[test]
fn each_instruction_is_written_once() {
    for instruction in
        ["mad.lo.u32 r0, r0, 3, 1", "add.cc.u32 r0, r0, r0", "mul24.lo.u32 r0, r0, r0"]
    {
        let text = format!(
            "PTX t\n{{ x=5; }}\n P0@cta 0 ;\n ld.weak.u32 r0, [x] ;\n {instruction} ;\n {instruction} ;\nexists (P0:r0=49)\n"
        );
        let module = export(&parsed(&text), ExportFormat::Ptx).expect("it is a module");
        for written in [of_cuda(&text), module] {
            assert_eq!(written.matches(instruction).count(), 2, "{written}");
        }
    }
}

#[test]
fn addresses_are_what_instructions_take() {
    let head = "PTX t\nArch=sm_90a\n{ .shared .u32 s=7; P0:g=s; }\n P0@cta 0,cluster 0 ;\n";
    let generic = of_cuda(&format!(
        "{head} cvta.to.shared.u64 r, g ;\n ld.shared.u32 r0, [r] ;\n isspacep.shared p, g ;\nexists (P0:r0=7)\n"
    ));
    assert!(generic.contains("mov.b64 g, at_s_;"), "{generic}");
    let computed =
        parsed(&format!("{head} mov.u64 r, g ;\n ld.shared.u32 r0, [r] ;\nexists (P0:r0=7)\n"));
    let no = CudaProgram::default().add(&computed).expect_err("it is another address");
    assert_eq!((no.line, no.what.contains("computed address")), (6, true), "{no:?}");
}

#[test]
fn what_would_hang_or_be_cut_off_is_refused() {
    let head = "PTX t\nArch=sm_90a\n{ x=0; .shared .u32 s; .b128 q=0; }\n P0@cta 0,cluster 0 | P1@cta 1,cluster 0 ;\n";
    for (rows, condition, line, reason) in [
        (" st.u32 [s], 1 | ;\n barrier.cluster.arrive | ;\n", "x=0", 6, "does not wait for"),
        (" bar.sync 15 | ;\n", "x=0", 5, "uses itself"),
        (" ld.u32 r0, [x] | ;\n bar.sync r0, 32 | ;\n", "x=0", 6, "in a register"),
        (" st.u32 [x], 1 | ;\n", "q=1", 6, "more than 64 bits"),
        (" ld.u32 out_, [x] | ;\n", "x=0", 1, "ends with"),
    ] {
        let test = parsed(&format!("{head}{rows}exists ({condition})\n"));
        let no = CudaProgram::default().add(&test).expect_err(rows);
        assert_eq!((no.line, no.what.contains(reason)), (line, true), "{rows}\n{no:?}");
    }
}

#[test]
fn branches_and_bytes_are_those_of_each_instance() {
    let text = of_cuda(
        "PTX t\n{ x=0; L=0; .u8 y=255; }\n P0@cta 0 ;\n L: ld.weak.u32 r0, [x] ;\n setp.eq.u32 p, r0, 1 ;\n \
         @p bra.uni L ;\n ld.s8 r1, [y] ;\n st.u32 [L], 1 ;\nexists (P0:r1=-1)\n",
    );
    for part in ["\"@p bra L;", "= o0 & 0xff;", "st.u32 [at_L_], 1;"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Tests without a GPU: one that ends, and others that do not.
const TESTS: &str = r#"
#include <stdlib.h>
#include <unistd.h>
#include <stdio.h>
typedef struct { const char *name; void (*run)(long, unsigned); } Entry;
static void ends(long runs, unsigned seed) { printf("Test ends Allowed\nHistogram (1 states)\n%ld :>x=%u;\n\n", runs, seed); }
static void traps(long runs, unsigned seed) { (void)runs; (void)seed; printf("Faulted traps: a fault\n\n"); exit(2); }
static void crashes(long runs, unsigned seed) { (void)runs; (void)seed; abort(); }
static void hangs(long runs, unsigned seed) { (void)runs; (void)seed; for (;;) pause(); }
static const Entry TESTS[] = {{"traps", traps}, {"crashes", crashes}, {"hangs", hangs}, {"ends", ends}};
"#;

#[test]
#[cfg(target_os = "linux")]
fn a_test_that_does_not_end_costs_no_other_test() {
    let mut program = CudaProgram::default();
    let plain = "PTX plain\n{ x=0; }\n P0@cta 0 ;\n st.weak.u32 [x], 1 ;\nexists (x=1)\n";
    program.add(&parsed(plain)).expect("a program has it");
    let text = program.text();
    let start = text.find("// Each test runs in a process of its own, so").expect("it is there");
    let folder = std::env::temp_dir().join(format!("causeway-harness-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder can be made");
    let (source, binary) = (folder.join("tests.c"), folder.join("tests"));
    fs::write(&source, format!("{TESTS}{}", &text[start..])).expect("the file can be written");
    let compiled = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&binary, &source])
        .status();
    assert!(compiled.expect("there is a C compiler").success());
    let run = |arguments: &[&str]| {
        let output = Command::new(&binary).args(arguments).output().expect("it starts");
        let said = String::from_utf8(output.stdout).expect("it is text");
        let lines = said.lines().filter(|line| !line.is_empty()).map(str::to_owned);
        (lines.collect::<Vec<String>>(), output.status.code())
    };
    let ended = ["Test ends Allowed", "Histogram (1 states)", "5 :>x=7;"];
    let (lines, code) = run(&["--deadline", "0.2", "5", "7"]);
    let failed =
        ["Faulted traps: a fault", "Faulted crashes: signal 6", "Hung hangs: no end within 0 s"];
    assert_eq!(lines, [&failed[..], &ended[..]].concat());
    assert_eq!(code, Some(1));
    assert_eq!(run(&["5", "7", "ends"]), (ended.map(str::to_owned).to_vec(), Some(0)));
    let (lines, _) = run(&["--total", "0.3", "5", "7", "hangs", "ends"]);
    assert_eq!(lines[1], "Not run ends: the time of all tests is over");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn a_barrier_that_an_exit_completes_is_refused() {
    let test = |third: &str| {
        format!(
            "PTX t\nArch=sm_90a\n{{ .shared .b32 s; }}\n P0@cta 0 | P1@cta 0 | P2@cta 0 ;\n \
             bar.sync 0 | bar.sync 0 | {third} ;\n st.weak.shared.u32 [s], 1 | | ;\nexists (s@P0=1)\n"
        )
    };
    let refused = CudaProgram::default().add(&parsed(&test("st.weak.shared.u32 [s], 2")));
    let error = refused.expect_err("P2 exits");
    assert_eq!(error.line, 5);
    assert!(
        error.what.starts_with("a barrier that completes because a thread exits"),
        "{}",
        error.what
    );
    let kept = CudaProgram::default().add(&parsed(&test("bar.sync 0")));
    kept.expect("all threads arrive");
}
