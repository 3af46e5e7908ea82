//! Every single mutation of the table of `sm_90`: who catches it, and where.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use model::scope::Scope;
use model::strength::{self, AccessOrder, KnownForms, OperationKind, Strength};
use refine::inclusion::Judge;
use refine::row::prepare;
use refine::row_question::PreparedRow;
use refine::run::MachineAnswer;
use refine::verdict::Refuter;
use refine::{Answer, Assumptions, Finding, Models, Refiner, Row, RowTable};
use sass::lowering;

use crate::lower::judged;
use crate::suite;

/// An instruction of PTX, and what it becomes: names of the machine's, waits shown.
struct Tabled {
    ptx: String,
    names: Vec<String>,
    global: bool,
}

/// The rows that can be mutated: loads, stores, atomics and reductions in global and in shared
/// memory, fences, barriers.
fn tabled(table: &lowering::LoweringTable, sm: u16) -> Vec<Tabled> {
    let mut all = Vec::new();
    let mut add = |opcode: &str, parts: &[&str], operands: &str| {
        // Older families have no clusters, and no fences of one direction.
        let Some(text) = table.find(sm, opcode, parts) else { return };
        let names = text.split(" ; ").filter(|name| !name.is_empty());
        // Error barriers order nothing.
        let mut names: Vec<String> =
            names.filter(|name| !name.ends_with("ERRBAR")).map(str::to_owned).collect();
        // Reading R60: what no text shows.
        let acquires = ["acquire", "acq_rel"].iter().any(|one| parts.contains(one));
        let only_fence = opcode != "fence" || parts[0] == "acquire";
        if acquires && only_fence && !names.iter().any(|name| name == "CCTL.IVALL") {
            names.push(WAIT.to_owned());
        }
        let ptx = format!("{opcode}.{}{operands};", parts.join("."));
        all.push(Tabled { ptx, names, global: parts.contains(&"global") });
    };
    for space in ["global", "shared"] {
        add("ld", &[space, "b32"], " r1, [a]");
        add("st", &[space, "b32"], " [a], r1");
        for scope in Scope::ALL.map(Scope::name) {
            for order in ["relaxed", "acquire"] {
                add("ld", &[order, scope, space, "b32"], " r1, [a]");
            }
            for order in ["relaxed", "release"] {
                add("st", &[order, scope, space, "b32"], " [a], r1");
                add("red", &[order, scope, space, "add", "u32"], " [a], r1");
            }
            for order in ["relaxed", "acquire", "release", "acq_rel"] {
                add("atom", &[order, scope, space, "exch", "b32"], " r1, [a], r2");
            }
        }
    }
    for scope in Scope::ALL.map(Scope::name) {
        for order in ["acquire", "release", "acq_rel", "sc"] {
            add("fence", &[order, scope], "");
        }
    }
    let barrier = |ptx: &str, names: &[&str]| Tabled {
        ptx: ptx.to_owned(),
        names: names.iter().map(|&name| name.to_owned()).collect(),
        global: false,
    };
    all.push(barrier("bar.sync 0;", &["BAR.SYNC.DEFER_BLOCKING"]));
    if sm < 90 {
        return all;
    }
    all.push(barrier(
        "barrier.cluster.arrive; barrier.cluster.wait;",
        &["MEMBAR.ALL.GPU", "UCGABAR_ARV", "UCGABAR_WAIT", "CCTL.IVALL"],
    ));
    all
}

const WAIT: &str = "NOP &req={0}";

fn is_access(name: &str) -> bool {
    ["LD", "ST", "ATOM", "RED"].iter().any(|start| name.starts_with(start))
}

/// What a `MEMBAR` may be.
const FORMS: KnownForms = KnownForms { clusters: false, one_way_fences: false, weak: false };

/// A `MEMBAR` as the fence that it promises.
fn fence(name: &str) -> Strength {
    let order = if name.contains(".SC") { AccessOrder::SeqCst } else { AccessOrder::AcqRel };
    let named = |scope: &Scope| name.ends_with(&scope.name().to_uppercase());
    let scope =
        Scope::ALL.into_iter().find(named).expect("a `MEMBAR` of the tables names its scope");
    Strength::new(OperationKind::Fence, order, scope)
}

fn text_of_fence(Strength { order, scope, .. }: Strength) -> String {
    let kind = if order == AccessOrder::SeqCst { "SC" } else { "ALL" };
    format!("MEMBAR.{kind}.{}", scope.name().to_uppercase())
}

/// The levels below one, by how the names end.
fn narrower(name: &str) -> Vec<String> {
    let atomic = name.starts_with("ATOM") || name.starts_with("RED");
    let level = |scope| match scope {
        Scope::Cta => ".STRONG.SM",
        Scope::Cluster => ".STRONG.CLUSTER",
        Scope::Gpu => ".STRONG.GPU",
        Scope::Sys => ".STRONG.SYS",
    };
    let Some(scope) = Scope::ALL.into_iter().find(|&scope| name.contains(level(scope))) else {
        return Vec::new();
    };
    let below = strength::narrower(scope, FORMS).map(level).chain((!atomic).then_some(""));
    below.map(|lower| name.replace(level(scope), lower)).collect()
}

/// Each sequence that differs in one thing, and what was done.
fn mutants(row: &Tabled) -> Vec<(&'static str, Vec<String>)> {
    let mut all: Vec<(&'static str, Vec<String>)> = Vec::new();
    let names = &row.names;
    let access = names.iter().position(|name| is_access(name));
    let at = |start: &str| names.iter().position(|name| name.starts_with(start));
    let without = |at: usize| [&names[..at], &names[at + 1..]].concat();
    let with = |at: usize, name: String| {
        let mut changed = names.clone();
        changed[at] = name;
        changed
    };
    let swapped = |one: usize, other: usize| {
        let mut changed = names.clone();
        changed.swap(one, other);
        changed
    };
    let barrier = at("UCGABAR_ARV").is_some();
    if let Some(membar) = at("MEMBAR") {
        all.push(("MEMBAR left out", without(membar)));
        let now = fence(&names[membar]);
        for scope in strength::narrower(now.scope, FORMS) {
            all.push(("MEMBAR narrowed", with(membar, text_of_fence(Strength { scope, ..now }))));
        }
        if let Some(access) = access {
            all.push(("MEMBAR after the access", swapped(membar, access)));
        }
        if names[membar].contains(".SC") {
            all.push((
                "MEMBAR.ALL for MEMBAR.SC",
                with(membar, names[membar].replace(".SC", ".ALL")),
            ));
        }
    }
    if let Some(cctl) = at("CCTL") {
        all.push(("CCTL left out", without(cctl)));
        if let Some(access) = access {
            all.push(("CCTL before the access", swapped(cctl, access)));
        } else if let (Some(membar), false) = (at("MEMBAR"), barrier) {
            all.push(("CCTL before the MEMBAR", swapped(cctl, membar)));
        }
    }
    if let Some(wait) = at("NOP") {
        all.push(("wait left out", without(wait)));
        if let Some(access) = access {
            all.push(("wait before the access", swapped(wait, access)));
        }
    }
    if let Some(access) = access.filter(|_| row.global) {
        for narrow in narrower(&names[access]) {
            all.push(("access level narrowed", with(access, narrow)));
        }
        if names[access].starts_with("LDG") {
            let level = names[access].find(".STRONG").unwrap_or(names[access].len());
            let constant = format!("{}.CONSTANT", &names[access][..level]);
            all.push(("load by the read-only path", with(access, constant)));
        }
    }
    if let Some(bar) = at("BAR") {
        all.push(("BAR left out", without(bar)));
    }
    if let (Some(arrive), Some(wait)) = (at("UCGABAR_ARV"), at("UCGABAR_WAIT")) {
        all.push(("swapped in a barrier of the cluster", swapped(arrive - 1, arrive)));
        all.push(("swapped in a barrier of the cluster", swapped(wait, wait + 1)));
    }
    all
}

/// The text, with annotations: a load's scoreboard, or that there is none to wait for.
fn text(names: &[String]) -> String {
    let marked = names.iter().map(|name| {
        let loads = name.starts_with("LD") || name.starts_with("ATOM");
        if name == WAIT {
            name.clone()
        } else {
            format!("{name} {}", if loads { "&wr=0" } else { "?WAIT1" })
        }
    });
    let all: Vec<String> = marked.collect();
    if all.is_empty() { "NOP ?WAIT1".to_owned() } else { all.join(" ; ") }
}

fn judge(rows: impl Iterator<Item = (String, String)>) -> Vec<Finding> {
    let row = |(source, target)| Row { source, target, arch: "sm_90".to_owned() };
    let rows = rows.map(|pair| (row(pair), serde_json::Map::new())).collect();
    judged(&RowTable { rows, ..RowTable::default() })
}

/// Mutants that nothing can tell from what they were.
fn equivalent(kind: &str, ptx: &str, names: &[String]) -> Option<&'static str> {
    let shared = ptx.contains(".sys.shared");
    if kind == "MEMBAR narrowed" && shared && names[0] == "MEMBAR.ALL.GPU" {
        return Some(
            "whoever carries a value out of the cluster that shares the memory does a `MEMBAR.SYS` itself",
        );
    }
    if kind == "CCTL before the MEMBAR" && ptx.starts_with("fence.acq_rel") {
        return Some(
            "`CCTL.IVALL` waits for the thread's loads, and the `MEMBAR` is still before its stores",
        );
    }
    None
}

#[derive(Default)]
struct Count {
    all: usize,
    contract: usize,
    machine: usize,
    rule: usize,
    equivalent: usize,
}

#[test]
fn every_mutant_of_the_table_is_caught_or_has_a_reason() {
    let families = lowering::families().iter();
    let hopper = families.clone().find(|family| family.name == "hopper");
    let rows = tabled(&hopper.expect("there is a table of sm_90").table, 90);
    assert_eq!(rows.len(), 102);
    let kept = judge(rows.iter().map(|row| (row.ptx.clone(), text(&row.names))));
    for (row, finding) in rows.iter().zip(&kept) {
        assert_eq!(finding.verdict.name(), "preserved", "{}: {finding:?}", row.ptx);
    }
    let all: Vec<(&Tabled, &str, Vec<String>)> = rows
        .iter()
        .flat_map(|row| mutants(row).into_iter().map(move |(kind, names)| (row, kind, names)))
        .collect();
    let findings = judge(all.iter().map(|(row, _, names)| (row.ptx.clone(), text(names))));
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut lines = String::new();
    let mut missed = Vec::new();
    for ((row, kind, names), finding) in all.iter().zip(&findings) {
        assert!(!finding.racy, "{finding:?}");
        let count = counts.entry(kind).or_default();
        count.all += 1;
        let sass = if names.is_empty() { "nothing".to_owned() } else { names.join(" ; ") };
        let by = match (finding.verdict.name(), finding.by) {
            ("weaker", Some(by)) => {
                count.contract += 1;
                count.machine += usize::from(by == Refuter::ContractAndMachine);
                by.name().to_owned()
            }
            ("outside", _) => {
                count.rule += 1;
                "by rule: outside".to_owned()
            }
            (verdict, _) => {
                let why = equivalent(kind, &row.ptx, names).unwrap_or_else(|| {
                    missed.push(format!("{kind}: {} became {sass}: {verdict}", row.ptx));
                    "no reason"
                });
                count.equivalent += 1;
                format!("equivalent: {why}")
            }
        };
        let cell = |text: &str| text.replace("||", "‖").replace('|', "/");
        let context = finding.context.as_deref().map_or(String::new(), cell);
        let run = finding.run.as_deref().and_then(|run| run.lines().next());
        let ptx = row.ptx.split(' ').next().unwrap_or("").trim_end_matches(';');
        let ptx = if row.ptx.starts_with("barrier") { "barrier.cluster" } else { ptx };
        writeln!(
            lines,
            "| {kind} | `{ptx}` | `{sass}` | {by} | {context} | {} |",
            run.map_or(String::new(), cell)
        )
        .expect("a string takes it");
    }
    assert!(missed.is_empty(), "{missed:#?}");
    let total = |of: &dyn Fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
    let (n, machine) = (total(&|count| count.all), total(&|count| count.machine));
    assert!(n > 250 && machine >= 170, "{machine} of {n}");
    let mut table = String::new();
    for (kind, count) in &counts {
        let Count { all, contract, machine, rule, equivalent } = count;
        writeln!(table, "| {kind} | {all} | {contract} | {machine} | {rule} | {equivalent} |")
            .expect("a string takes it");
    }
    let (contract, rule) = (total(&|count| count.contract), total(&|count| count.rule));
    let equivalent = total(&|count| count.equivalent);
    let page = format!(
        "# Mutants of the table of `sm_90`\n\n\
        Generated by `UPDATE=1 cargo test --release -p causeway --test workspace -- mutants`, and checked by it.\n\n\
        Every single mutation of the rows of `crates/sass/lowering/hopper.table` for loads, stores, atomics and reductions of\n\
        global and of shared memory, fences and barriers, judged as rows of `causeway lower` with their waits shown. The axioms\n\
        refute a mutant by the promises of its instructions (*contract*), and the machine has a run that shows it or has none.\n\n\
        | Mutation | | contract | machine | by rule | equivalent |\n|---|---|---|---|---|---|\n\
        {table}| all | {n} | {contract} | {machine} | {rule} | {equivalent} |\n\n\
        The machine has no run for accesses to a lower level, which it performs at the same place (readings R54 and R59),\n\
        and for orders that the axioms require and that its caches always keep.\n\n\
        ## Each mutant\n\n\
        `[ROW]` stands for the mutant, whose error barriers are omitted; `NOP &req={{0}}` waits for its loads.\n\n\
        | Mutation | PTX | SASS | Who | Contract's context | Context of the run |\n|---|---|---|---|---|---|\n\
        {lines}"
    );
    let path = suite::root().join("docs/lowering-mutants.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/lowering-mutants.md differs: run with UPDATE=1");
}

/// Code as the tables have it, of each family, and of each of its targets if they differ: the machine
/// has no run that the source forbids.
#[test]
fn the_machine_refutes_no_row_of_a_table() {
    let models = Models::default();
    let mut contexts = 0;
    let mut judged = 0;
    for family in lowering::families() {
        let sm = family.table.targets[0];
        let mut judge = Judge::new(Refiner::new(&models));
        for row in tabled(&family.table, sm) {
            let target = text(&row.names);
            let row = Row { source: row.ptx, target, arch: format!("sm_{sm}") };
            let PreparedRow::NeedsEngine(asked) = prepare(&row, Assumptions::default()) else {
                assert!(sm < 70, "{row:?} is not asked");
                continue;
            };
            let code = asked.code.as_ref().expect("the accesses of a table's row are matched");
            let answer = judge.judge(&asked.question);
            assert!(matches!(answer, Answer::Included(_)), "{row:?}: {answer:?}");
            match judge.run(&asked.question, code) {
                MachineAnswer::Included(checked) => contexts += checked,
                other @ (MachineAnswer::Refuted(_) | MachineAnswer::Undecided(_)) => {
                    panic!("{row:?}: {other:?}")
                }
            }
            judged += 1;
            judge.forget();
        }
    }
    assert!(judged > 300 && contexts > 20_000, "{judged} rows in {contexts} contexts");
    eprintln!("{judged} rows, each in {} contexts of the machine", contexts / judged);
}

/// The text of a row with one word more, or with a wider `MEMBAR`.
fn strengthened(names: &[String]) -> Vec<Vec<String>> {
    let least = Strength::new(OperationKind::Fence, AccessOrder::AcqRel, Scope::Cta);
    let membars = std::iter::once(least).chain(least.all_stronger(FORMS)).map(text_of_fence);
    let membars: Vec<String> = membars.collect();
    let more = membars.iter().map(String::as_str).chain(["CCTL.IVALL", "ERRBAR"]);
    let mut all = Vec::new();
    for at in 0..=names.len() {
        for name in more.clone() {
            let mut longer = names.to_vec();
            longer.insert(at, name.to_owned());
            all.push(longer);
        }
    }
    for (at, name) in names.iter().enumerate().filter(|(_, name)| name.starts_with("MEMBAR")) {
        for stronger in fence(name).all_stronger(FORMS) {
            let mut changed = names.to_vec();
            changed[at] = text_of_fence(stronger);
            all.push(changed);
        }
    }
    all
}

/// More fences, and wider ones, never weaken what a row keeps.
#[test]
fn more_and_wider_fences_weaken_no_row() {
    let family = lowering::families().iter().find(|family| family.name == "hopper");
    let rows = tabled(&family.expect("it is there").table, 90);
    let mut all = Vec::new();
    for row in rows.iter().filter(|row| row.global || row.ptx.starts_with("fence")) {
        // Waits are granted, as nothing shows them.
        let shown: Vec<String> = row.names.iter().filter(|name| *name != WAIT).cloned().collect();
        let joined = |names: &[String]| match names {
            [] => "(none)".to_owned(),
            names => names.join(" ; "),
        };
        all.push((row.ptx.clone(), joined(&shown)));
        all.extend(strengthened(&shown).iter().map(|names| (row.ptx.clone(), joined(names))));
    }
    let findings = judge(all.iter().cloned());
    let weaker = all
        .iter()
        .zip(&findings)
        .filter(|(_, finding)| finding.verdict != refine::verdict::Verdict::Preserved);
    let weaker: Vec<String> = weaker
        .map(|((ptx, sass), finding)| {
            format!("{ptx} => {sass}: {} {}", finding.verdict.name(), finding.why)
        })
        .collect();
    assert!(weaker.is_empty(), "{} of {}:\n{}", weaker.len(), all.len(), weaker.join("\n"));
    assert!(all.len() > 1_200, "{} rows", all.len());
}
