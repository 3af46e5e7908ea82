//! What ptxas says of instructions, measured; and the instructions that people write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ptx::LintOptions;
use ptx::version::{PtxIsa, Target};
use text::diagnostic::Severity;

/// The codes of the errors in a module, as ptxas would see it.
fn errors(text: &str) -> Vec<&'static str> {
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    let errors = linted.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    errors.map(|one| one.code).collect()
}

fn version(text: &str) -> PtxIsa {
    PtxIsa::parse(text).expect("the measurements name versions")
}

fn target(text: &str) -> u16 {
    Target::parse(text).expect("the measurements name targets").sm
}

/// The module that each row of `accept-train.csv` and `gates.csv` was measured in.
pub(crate) fn module(isa: &str, sm: &str, device: bool, instruction: &str) -> String {
    let (version, number) = (version(isa), target(sm));
    let since = |major, minor, sm| version >= PtxIsa::new(major, minor) && number >= sm;
    let unified = instruction.contains("ugbl") && since(8, 0, 90);
    let unified = if unified {
        ".visible .global .attribute(.unified(1,2)) .align 32 .b8 ugbl[64];\n"
    } else {
        ""
    };
    let wide = if since(8, 3, 70) { " .reg .b128 x<10>;\n" } else { "" };
    let head = if device { ".func" } else { ".entry" };
    format!(
        ".version {isa}\n.target {sm}\n.address_size 64\n\
         .visible .global .align 32 .b8 gbl[64];\n.const .align 32 .b8 cst[64];\n{unified}\
         .visible {head} k(.param .align 32 .b8 prm[64]) {{\n \
         .reg .b64 a,pol,d<10>; .reg .b32 a32,r<10>; .reg .b16 h<10>; .reg .f32 f<10>; \
         .reg .f64 g<10>; .reg .pred q<10>;\n{wide} \
         .shared .align 32 .b8 sh[64]; .local .align 32 .b8 lcl[64];\n{instruction}\n ret; }}\n"
    )
}

/// Where we differ from the measurement on purpose: `docs/ptxas-differences.md` has each.
fn known_difference(ptxas: &str, instruction: &str, device: bool) -> Option<&'static str> {
    // 12.9 accepts what 13.1 rejects.
    (instruction.contains(".param::func") && !device && ptxas.starts_with("12."))
        .then_some("param::func in a kernel")
}

#[test]
fn what_ptxas_accepts_is_accepted() {
    let rows = ::measured::rows("ptxas-accept");
    let (mut judged, mut known, mut wrong) = (0, BTreeMap::new(), Vec::new());
    for row in &rows {
        let [ptxas, isa, sm, context, instruction, verdict, diagnostic] = &row[..] else {
            panic!("{row:?} has not seven fields")
        };
        // A ptxas that crashed said nothing.
        if verdict != "accept" && verdict != "reject" {
            continue;
        }
        judged += 1;
        let device = context == "func";
        let errors = errors(&module(isa, sm, device, instruction));
        if errors.is_empty() == (verdict == "accept") {
            continue;
        }
        match known_difference(ptxas, instruction, device) {
            Some(class) => *known.entry(class).or_insert(0) += 1,
            None => wrong.push(format!(
                "{isa} {sm} {context} {instruction}: {verdict} by {ptxas} ({diagnostic}), here {errors:?}"
            )),
        }
    }
    eprintln!("{judged} rows judged; listed differences: {known:?}; others: {}", wrong.len());
    assert!(judged > 10_000, "only {judged} rows");
    let different = wrong.len() + known.values().sum::<usize>();
    assert!(different * 200 <= judged, "{different} of {judged} rows differ");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(!known.is_empty(), "no row shows the listed difference");
    // The page says both numbers.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptxas-differences.md");
    let page = fs::read_to_string(path).expect("the page is there");
    for number in [judged, judged - different] {
        let number = format!("{},{:03}", number / 1000, number % 1000);
        assert!(page.contains(&number), "docs/ptxas-differences.md does not say {number}");
    }
}

#[test]
fn each_measured_border_is_where_ptxas_has_it() {
    let rows = ::measured::rows("ptxas-gates");
    let mut wrong = Vec::new();
    for row in &rows {
        let [instruction, context, isa, sm, isa_below, sm_below] = &row[..] else {
            panic!("{row:?} has not six fields")
        };
        let device = context == "func";
        // The least version was measured with a target of its time or later, and so was the target.
        let mut ask = |isa: &str, sm: &str, wanted: bool| {
            let mut errors = errors(&module(isa, &format!("sm_{sm}"), device, instruction));
            errors.retain(|code| *code != "target-version");
            if errors.is_empty() != wanted {
                wrong.push(format!(
                    "{instruction} at {isa} sm_{sm}: {errors:?}, accepted: {wanted}"
                ));
            }
        };
        ask(isa, sm, true);
        ask("9.1", sm, true);
        ask(isa, "120", true);
        if isa_below != "-" {
            ask(isa_below, "120", false);
        }
        // The ptxas that knows 9.1 has no target before sm_75: there is no border to measure.
        let gone = version(isa) >= PtxIsa::new(9, 0) && sm == "75";
        if sm_below != "-" && !gone {
            ask("9.1", sm_below, false);
        }
    }
    assert!(rows.len() >= 60, "only {} borders", rows.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// All of these were compiled: none is an error. The address is in a register, or names a variable.
#[test]
fn what_was_compiled_is_accepted() {
    let rows = ::measured::rows("ptxas-lowering");
    let mut wrong = BTreeMap::new();
    let mut memory = 0;
    for row in &rows {
        let [_, sm, isa, instruction, _, _, group, ..] = &row[..] else {
            panic!("{row:?} has not seven fields")
        };
        let text = format!(
            ".version {isa}\n.target {sm}\n.address_size 64\n.global .align 32 .b8 gg[64];\n\
             .const .align 32 .b8 cc[64];\n.visible .entry k(.param .align 32 .b8 pp[64]) {{\n\
             .reg .b64 a,ua,pol,d<9>,vd<9>; .reg .b32 s,r<9>,vr<9>; .reg .b16 h<9>,vh<9>;\n\
             .reg .f32 f<9>,vf<9>; .reg .f64 g<9>,vg<9>; .reg .b128 x<9>,vx<9>; .reg .pred pp1;\n\
             .shared .align 32 .b8 sh[64]; .local .align 32 .b8 lo[64];\n{instruction}\n ret; }}\n"
        );
        memory += usize::from(
            ptx::lint("m.ptx", text.as_bytes(), LintOptions::default()).instructions > 0,
        );
        let errors = errors(&text);
        if !errors.is_empty() {
            let first = (isa.clone(), sm.clone(), instruction.clone());
            wrong.entry((group.clone(), errors)).or_insert((0, first)).0 += 1;
        }
    }
    eprintln!("{} instructions, {memory} of memory", rows.len());
    assert!(memory > 30_000, "only {memory} instructions");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What people write in `asm` statements: each name is known. Where a name was cut from its source
/// text it may lack its type or its scope, and words of comments are not instructions.
#[test]
fn spellings_in_the_wild_are_known() {
    // Ends of other names, names of files, lists in braces that were written out, and slips of the pen.
    const NO_INSTRUCTIONS: &[&str] = &[
        "fence.proxy.async.global::cta",
        "ld.sync.aligned",
        "st.sync.aligned",
        "st.cuh",
        "red.py",
        "red.global.v",
        "atom.shared.arrive.b64",
    ];
    let rows = ::measured::rows("names-in-the-wild");
    let (mut memory, mut wrong) = (0, Vec::new());
    for row in &rows {
        let name = &row[0];
        let text = format!(
            ".version 9.4\n.target sm_120a\n.entry k() {{\n.reg .b64 a; .reg .b32 r;\n{name} ;\n}}\n"
        );
        let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
        memory += linted.instructions;
        let strange = linted.diagnostics.iter().filter(|one| {
            matches!(
                one.code,
                "unknown-qualifier" | "qualifier" | "qualifier-twice" | "fence-spelling"
            )
        });
        let strange: Vec<&str> = strange.map(|one| one.code).collect();
        if strange.is_empty() == NO_INSTRUCTIONS.contains(&name.as_str()) {
            wrong.push(format!("{name}: {strange:?}"));
        }
    }
    assert!(memory > 500, "only {memory} of memory");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The instructions of the rows, one a line of a module; which of them have a name that is unknown.
fn unknown_names<'a>(instructions: impl Iterator<Item = &'a str>) -> (usize, Vec<String>) {
    let head = ".version 9.4\n.target sm_120a\n.entry k() {\n";
    let lines: Vec<String> =
        instructions.map(|one| one.trim().trim_end_matches(';').replace('\n', " ")).collect();
    let text = format!("{head}{} ;\n}}\n", lines.join(" ;\n"));
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    let unknown = linted
        .diagnostics
        .iter()
        .filter(|one| matches!(one.code, "modifier" | "opcode"))
        .map(|one| format!("{}: {}", lines[one.span.line - 4], one.message));
    (lines.len(), unknown.collect())
}

/// Whatever was accepted, compiled or written has a name that is known: no false alarm for any.
#[test]
fn no_name_that_occurs_is_unknown() {
    let mut all = 0;
    let mut unknown = Vec::new();
    let mut ask = |names: (usize, Vec<String>)| {
        all += names.0;
        unknown.extend(names.1);
    };
    let rows = ::measured::rows("asynchronous-accept");
    ask(unknown_names(rows.iter().filter(|row| row[4] == "accept").map(|row| &row[1][..])));
    let rows = ::measured::rows("ptxas-lowering");
    ask(unknown_names(rows.iter().map(|row| &row[3][..])));
    let rows = ::measured::rows("llvm-lowering");
    let made = rows.iter().filter(|row| row[6] == "OK").map(|row| &row[4][..]);
    let one_by_one = made.flat_map(|made| made.split([';', '\n']));
    ask(unknown_names(one_by_one.filter(|one| {
        let one = one.trim();
        one.starts_with(|c: char| c.is_ascii_lowercase()) && !one.ends_with([',', '('])
    })));
    assert!(all > 40_000, "only {all} names");
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Nor any of a whole kernel.
#[test]
#[ignore = "needs kernels of others: CAUSEWAY_ORACLE"]
fn no_name_of_a_kernel_is_unknown() {
    let mut unknown: Vec<String> = Vec::new();
    let kernels = fs::read_dir(::measured::of_others("kernels/ptx")).expect("it is a folder");
    for kernel in kernels {
        let path = kernel.expect("a file").path();
        let name = path.display().to_string();
        let linted = ptx::lint(&name, &fs::read(&path).expect("a kernel"), LintOptions::default());
        let names = linted
            .diagnostics
            .iter()
            .filter(|one| matches!(one.code, "modifier" | "opcode" | "label"));
        unknown.extend(names.map(|one| format!("{name}:{}: {}", one.span.line, one.message)));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Of the names that people write, all are known but those that a search cut short, and two that
/// the document does not have.
#[test]
fn names_in_the_wild_are_known() {
    const NO_INSTRUCTIONS: &[&str] = &[
        "bar.cubin",
        "bar.h",
        "barrier.cluster.sync",
        "barrier.cuh",
        "barrier.h",
        "barrier.hpp",
        "cp.async.arrive.shared.b64",
        "cp.async.cg.16",
        "mbarrier.arrive.no",
        "multimem.cuh",
    ];
    let rows = ::measured::rows("names-in-the-wild");
    let names = rows.iter().map(|row| &row[0][..]).filter(|name| {
        // Names of which a part was put in by the source.
        !name.ends_with([':', '.'])
    });
    let (all, unknown) = unknown_names(names);
    assert!(all > 1_500, "only {all} names");
    let mut unknown: Vec<&str> =
        unknown.iter().filter_map(|one| one.split_once(": ").map(|(name, _)| name)).collect();
    unknown.sort_unstable();
    assert_eq!(unknown, NO_INSTRUCTIONS);
}
