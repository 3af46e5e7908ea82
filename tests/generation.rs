//! What `gen`, `export` and `compare` print, as `cli` records it.

/// The name of each snapshot, and the arguments.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("gen-unknown-edge", &["gen", "PodWW Rfe PodRR Fer"]),
    ("gen-direction", &["gen", "PodWW Rfe PodWR Fre"]),
    ("gen-unknown-choice", &["gen", "MP", "--accesses", "weak,relased.gpu"]),
    ("gen-twice", &["gen", "MP", "Rfe PodRR Fre PodWW"]),
    ("gen-none", &["gen", "MP", "--accesses", "acquire.gpu"]),
    ("gen-too-many", &["gen", "--threads", "4", "--accesses", "all", "--place", "all"]),
    ("gen-check", &["gen", "CoRR @cta", "--po", "po,ctrl,bar.sync", "--check", "--list"]),
    ("gen-frontier", &["gen", "SB", "--po", "po,ctrl,fence.sc.gpu", "--frontier"]),
    ("diff-reading", &["diff", "ptx", "ptx:R13=none", "LB", "MP", "--limit=1"]),
    ("diff-list", &["diff", "ptx", "tests/cli/coherent.cat", "--threads=2", "--all", "--list"]),
    ("diff-none", &["diff", "ptx", "ptx:R7=total", "--threads=2", "--format=json"]),
    (
        "diff-json",
        &["diff", "ptx", "ptx:R13=none", "LB", "--po=addr", "--accesses=weak", "--format=json"],
    ),
    (
        "diff-tests",
        &[
            "diff",
            "ptx",
            "ptx:R6=physical",
            "--tests",
            "litmus/suite/release-and-acquire-patterns/MP+alias-second-store.litmus",
        ],
    ),
    ("diff-machine", &["diff", "ptx", "sm_90", "CoRR", "--po=po", "--limit=1"]),
    (
        "diff-table",
        &[
            "diff",
            "sm_90",
            "sm_90:tests/cli/leaky.table",
            "MP",
            "--accesses=acquire.gpu,release.gpu,weak",
            "--po=po",
            "--limit=1",
        ],
    ),
    ("diff-unknown-side", &["diff", "ptx", "ptz"]),
    ("diff-unfinished-reading", &["diff", "ptx:", "ptx"]),
    ("diff-unfinished-table", &["diff", "ptx", "sm_90:"]),
    ("diff-standard-input", &["diff", "ptx", "-"]),
    ("diff-memory", &["diff", "ptx", "ptx:R13=none", "--memory", "foo"]),
    ("gen-kinds-of-a-family", &["gen", "MP", "--kinds", "critical"]),
    ("diff-unknown-reading", &["diff", "ptx", "ptx:R13=semantics"]),
    ("diff-twice", &["diff", "ptx", "ptx:R13=none,R13=semantic"]),
    ("diff-unknown-machine", &["diff", "sm_10", "ptx"]),
    ("diff-broken-cat", &["diff", "ptx", "tests/cli/broken.cat"]),
    ("diff-cxx", &["diff", "cxx", "cxx-rc11"]),
    ("help-diff", &["diff", "--help"]),
    ("help-gen", &["gen", "--help"]),
    ("help-export", &["export", "--help"]),
    ("help-compare", &["compare", "--help"]),
    (
        "export-refused",
        &[
            "export",
            "--format",
            "dat3m",
            "litmus/suite/release-and-acquire-patterns/MP+alias-second-store.litmus",
        ],
    ),
    ("export-many", &["export", "--format", "ptx", "litmus/suite"]),
    (
        "compare-forbidden",
        &["compare", "--engine", "enumerate", "tests/cli/forbidden.log", "tests/cli/holds.litmus"],
    ),
    (
        "compare-complete",
        &[
            "compare",
            "--engine=enumerate",
            "--complete",
            "tests/cli/missing.log",
            "tests/cli/holds.litmus",
        ],
    ),
    (
        "compare-missing-term",
        &["compare", "--engine=enumerate", "tests/cli/missing-term.log", "tests/cli/holds.litmus"],
    ),
    (
        "compare-cut-off",
        &["compare", "--engine=enumerate", "tests/cli/cut-off.log", "tests/cli/holds.litmus"],
    ),
    (
        "compare-no-log",
        &["compare", "--engine", "enumerate", "tests/cli/holds.litmus", "tests/cli/holds.litmus"],
    ),
    (
        "compare-other-term",
        &["compare", "--engine=enumerate", "tests/cli/other-term.log", "tests/cli/holds.litmus"],
    ),
];
