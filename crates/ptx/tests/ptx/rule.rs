//! For every rule an instruction that breaks it and no other, and for every version and target the
//! first that has what the instruction needs.

use std::collections::BTreeSet;

use ptx::catalogue::{ExampleFrame, LintExample, LintRule};
use ptx::rule::{Authority, Rule};
use ptx::rules;
use text::diagnostic::Severity;

use crate::help;
use crate::written::{NEWEST, Setting, codes, said};

/// Further instructions that break a rule, besides its example.
#[rustfmt::skip]
const ALSO: &[(&str, &str)] = &[
    ("ld-unified-strong", "ld.relaxed.gpu.u32 u32_1, [a].unified"),
    ("ld-unified-strong", "ld.acquire.sys.global.u32 u32_1, [ugbl+4].unified"),
    ("ld-unified-strong", "ld.mmio.relaxed.sys.global.u32 u32_1, [a].unified"),
    ("ldu-unified", "ldu.u32 u32_1, [a].unified"),
];

/// Of each note about versions and targets: the end of its codes, and the first version and target that have it (none of them: every
/// one). The example of the catalogue needs that and nothing later.
#[rustfmt::skip]
const NEEDS: &[(&str, &str, u16)] = &[
    ("ld-f64", "1.0", 13),
    ("ld-volatile", "1.1", 0),
    ("ld-generic", "2.0", 20),
    ("ld-cache", "2.0", 20),
    ("ld-weak", "6.0", 70),
    ("ld-relaxed", "6.0", 70),
    ("ld-acquire", "6.0", 70),
    ("ld-level1", "7.4", 70),
    ("ld-prefetch", "7.4", 75),
    ("ld-prefetch-256", "", 80),
    ("ld-policy", "7.4", 80),
    ("ld-cluster", "7.8", 90),
    ("ld-shared-cta", "7.8", 30),
    ("ld-shared-cluster", "7.8", 90),
    ("ld-unified", "8.0", 90),
    ("ld-mmio", "8.2", 70),
    ("ld-mmio-acquire", "9.3", 70),
    ("ld-param-sub", "8.3", 0),
    ("ld-b128", "8.3", 70),
    ("ld-b128-sys", "8.4", 70),
    ("ld-level2", "8.8", 100),
    ("ld-256", "8.8", 100),
    ("ld-volatile-local", "9.1", 0),
    ("ld-volatile-generic", "9.1", 0),
    ("ld-readonly", "9.4", 90),
    ("nc", "3.1", 32),
    ("nc-level1", "7.4", 70),
    ("nc-prefetch", "7.4", 75),
    ("nc-prefetch-256", "", 80),
    ("nc-policy", "7.4", 80),
    ("nc-b128", "8.3", 70),
    ("nc-level2", "8.8", 100),
    ("nc-256", "8.8", 100),
    ("nc-readonly", "9.4", 90),
    ("ldu", "2.0", 0),
    ("ldu-f64", "", 13),
    ("ldu-b128", "8.3", 70),
    ("st-f64", "1.0", 13),
    ("st-volatile", "1.1", 0),
    ("st-generic", "2.0", 20),
    ("st-cache", "2.0", 20),
    ("st-weak", "6.0", 70),
    ("st-relaxed", "6.0", 70),
    ("st-release", "6.0", 70),
    ("st-level1", "7.4", 70),
    ("st-policy", "7.4", 80),
    ("st-cluster", "7.8", 90),
    ("st-shared-cta", "7.8", 30),
    ("st-shared-cluster", "7.8", 90),
    ("st-mmio", "8.2", 70),
    ("st-mmio-release", "9.3", 70),
    ("st-param-sub", "8.3", 0),
    ("st-b128", "8.3", 70),
    ("st-b128-sys", "8.4", 70),
    ("st-level2", "8.8", 100),
    ("st-256", "8.8", 100),
    ("st-volatile-local", "9.1", 0),
    ("st-volatile-generic", "9.1", 0),
    ("atom", "1.1", 11),
    ("atom-generic", "2.0", 20),
    ("atom-scope", "5.0", 60),
    ("atom-f64", "5.0", 60),
    ("atom-order", "6.0", 70),
    ("atom-f16x2", "6.2", 60),
    ("atom-f16", "6.3", 70),
    ("atom-b16", "6.3", 70),
    ("atom-policy", "7.4", 80),
    ("atom-bf16", "7.8", 90),
    ("atom-bf16x2", "7.8", 90),
    ("atom-cluster", "7.8", 90),
    ("atom-shared-cta", "7.8", 30),
    ("atom-shared-cluster", "7.8", 90),
    ("atom-vector", "8.1", 90),
    ("atom-b128", "8.3", 90),
    ("atom-b128-sys", "8.4", 90),
    ("atom-noftz", "9.4", 90),
    ("red", "1.2", 11),
    ("red-generic", "2.0", 20),
    ("red-scope", "5.0", 60),
    ("red-f64", "5.0", 60),
    ("red-order", "6.0", 70),
    ("red-f16x2", "6.2", 60),
    ("red-f16", "6.3", 70),
    ("red-policy", "7.4", 80),
    ("red-bf16", "7.8", 90),
    ("red-bf16x2", "7.8", 90),
    ("red-cluster", "7.8", 90),
    ("red-shared-cta", "7.8", 30),
    ("red-shared-cluster", "7.8", 90),
    ("red-vector", "8.1", 90),
    ("red-noftz", "9.4", 90),
    ("membar", "1.4", 0),
    ("membar-sys", "2.0", 20),
    ("fence", "6.0", 70),
    ("fence-cluster", "7.8", 90),
    ("fence-acquire", "8.6", 90),
    ("fence-release", "8.6", 90),
];

/// The versions there are, up to the newest.
const VERSIONS: &[&str] = &[
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0", "2.1", "2.2", "2.3", "3.0", "3.1", "3.2",
    "4.0", "4.1", "4.2", "4.3", "5.0", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0", "7.1",
    "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5",
    "8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4",
];

const TARGETS: &[u16] = &[
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89,
    90, 100, 101, 103, 110, 120, 121,
];

/// Whether the mode in which a rule is an error is the strict one; `None` if it is in both.
fn strict(rule: &Rule) -> Option<bool> {
    match rule.by {
        Authority::Both | Authority::Neither => None,
        Authority::Document => Some(true),
        Authority::Ptxas => Some(false),
    }
}

/// The one diagnostic of a rule: an error where the rule counts, else a warning; and its help helps.
fn is_broken(rule: &Rule, instruction: &str, setting: &Setting<'_>) {
    for mode in [true, false] {
        let said = said(instruction, setting, mode);
        let context = format!("{instruction}, {setting:?}, strict: {mode}");
        assert_eq!(codes(&said), [rule.code], "{context}");
        let error = strict(rule).is_none_or(|strict| strict == mode);
        let wanted = if error { Severity::Error } else { Severity::Warning };
        assert_eq!(said[0].severity, wanted, "{context}");
        assert_eq!(said[0].section, Some(rule.section), "{context}");
        if let Err(error) = help::cures(instruction, setting, mode, &said[0]) {
            panic!("{context}: {error}");
        }
    }
}

/// The example of a rule.
fn example(code: &str) -> &'static LintExample {
    let rule = LintRule::named(code).unwrap_or_else(|| panic!("{code} is not a rule"));
    rule.example.as_ref().unwrap_or_else(|| panic!("{code} has no example"))
}

#[test]
fn every_rule_is_broken_by_an_instruction_that_breaks_no_other() {
    let of_needs =
        |rule: &&Rule| ["isa-", "target-"].iter().any(|start| rule.code.starts_with(start));
    let all: Vec<&Rule> = rules::all().into_iter().filter(|rule| !of_needs(rule)).collect();
    for rule in &all {
        let example = example(rule.code);
        let setting = Setting { device: example.frame == ExampleFrame::Function, ..NEWEST };
        is_broken(rule, example.rejected.text, &setting);
        for (_, instruction) in ALSO.iter().filter(|(code, _)| *code == rule.code) {
            is_broken(rule, instruction, &NEWEST);
        }
    }
    for (code, _) in ALSO {
        assert!(all.iter().any(|rule| rule.code == *code), "{code} is not a rule");
    }
}

#[test]
fn every_need_begins_where_its_page_says() {
    let all = rules::all();
    let mut met = BTreeSet::new();
    for (name, isa, sm) in NEEDS {
        let code = if isa.is_empty() { format!("target-{name}") } else { format!("isa-{name}") };
        let code = if *isa == "1.0" { format!("target-{name}") } else { code };
        let instruction = example(&code).rejected.text;
        let rule = |start: &str| {
            let code = format!("{start}-{name}");
            all.iter()
                .find(|rule| rule.code == code)
                .unwrap_or_else(|| panic!("{code} is not a rule"))
        };
        // What is needed is enough, in both modes, with a version and a target of the border.
        let first = if isa.is_empty() { "7.4" } else { isa };
        let lowest = match sm {
            // A generic address needs a target of its own.
            0 if name.ends_with("-generic") => 20,
            0 => 10,
            _ => *sm,
        };
        let target = format!("sm_{lowest}");
        for (isa, target) in [(first, target.as_str()), (first, "sm_121"), ("9.4", &target)] {
            for strict in [true, false] {
                let setting = Setting { isa, target, device: false };
                let said = said(instruction, &setting, strict);
                assert_eq!(codes(&said), [""; 0], "{instruction} {setting:?} {strict}");
            }
        }
        let before =
            VERSIONS.iter().position(|version| version == isa).and_then(|at| at.checked_sub(1));
        if let Some(before) = before {
            let rule = rule("isa");
            is_broken(rule, instruction, &Setting { isa: VERSIONS[before], ..NEWEST });
            met.insert(rule.code);
        }
        if *sm > 0 {
            let rule = rule("target");
            let at = TARGETS.iter().position(|target| target == sm).expect("it is a target");
            let target = format!("sm_{}", TARGETS[at - 1]);
            is_broken(rule, instruction, &Setting { target: &target, ..NEWEST });
            met.insert(rule.code);
        }
    }
    // `the_generic_address_of_a_constant_needs_3_1`
    met.insert("isa-ld-generic-const");
    let idle =
        all.iter().filter(|rule| rule.code.starts_with("isa-") || rule.code.starts_with("target-"));
    let idle: Vec<&str> = idle.map(|rule| rule.code).filter(|code| !met.contains(code)).collect();
    assert_eq!(idle, [""; 0], "no instruction needs these");
}

/// ptxas rejects a constant that a generic access names, whatever the version: the strict mode says
/// that as a warning beside.
#[test]
fn the_generic_address_of_a_constant_needs_3_1() {
    let instruction = "ld.u32 u32_1, [cst]";
    let strict = |isa| {
        let said = said(instruction, &Setting { isa, ..NEWEST }, true);
        let errors = said.into_iter().filter(|one| one.severity == Severity::Error);
        codes(&errors.collect::<Vec<_>>())
    };
    assert_eq!(strict("3.0"), ["isa-ld-generic-const"]);
    assert_eq!(strict("3.1"), [""; 0]);
}

/// Reading R48: `.unified` is not required where the syntax lacks it.
#[test]
fn only_weak_loads_ask_for_unified() {
    for (instruction, missing) in [
        ("ld.global.u32 u32_1, [ugbl]", true),
        ("ld.weak.u32 u32_1, [ugbl]", true),
        ("ld.volatile.global.u32 u32_1, [ugbl]", false),
        ("ld.relaxed.gpu.u32 u32_1, [ugbl]", false),
        ("ld.acquire.gpu.global.u32 u32_1, [ugbl]", false),
        ("ld.mmio.relaxed.sys.u32 u32_1, [ugbl]", false),
        ("ld.global.nc.u32 u32_1, [ugbl]", false),
        ("ldu.global.u32 u32_1, [ugbl]", false),
    ] {
        let expected: &[&str] = if missing { &["ld-unified-missing"] } else { &[] };
        assert_eq!(codes(&said(instruction, &NEWEST, true)), expected, "{instruction}");
    }
}
