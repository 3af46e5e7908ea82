//! Tests in SASS: what the machine does with each is recorded beside them.
//!
//! `UPDATE=1 cargo test` rewrites the record; read what changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use ::explore::{ExploreLimits, explore};
use machine::{Home, Options};
use model::isa::Instruction;
use model::isa::atom::AtomicOrder;
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::ptx;
use reach::{Inclusion, compare};
use refine::step::{AccessKind, AccessOrder, Step};
use refine::{contract, item};

use crate::suite;

#[test]
fn what_the_machine_does_is_recorded() {
    let mut now = String::new();
    let folder = suite::folder().join("sass");
    for suite::Entry { path, test, .. } in suite::load(&folder) {
        let lowering = test.sass.as_ref().and_then(litmus::SassTarget::lowering);
        let lowering = lowering.unwrap_or_else(|| panic!("{} is in PTX", path.display()));
        writeln!(now, "{} on sm_{}", test.name, lowering.sm).expect("strings can be written");
        match explore(&test.program, lowering, Options::default(), ExploreLimits::states(100_000)) {
            Ok(explored) => {
                assert_eq!(explored.limit, None, "{}", path.display());
                for outcome in explored.outcomes.keys() {
                    writeln!(now, "  {}", test.display_outcome(outcome))
                        .expect("strings can be written");
                }
            }
            Err(_) => writeln!(now, "  refused").expect("strings can be written"),
        }
    }
    let file = folder.join("machine");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &now).expect("the record can be written");
    }
    let before = fs::read_to_string(&file).unwrap_or_default();
    assert!(before == now, "UPDATE=1 rewrites {}", file.display());
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("it has 31 bits") % most
    }

    fn of<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }
}

const STRENGTHS: &[&str] = &["", "", ".STRONG.SM", ".STRONG.GPU", ".STRONG.GPU", ".STRONG.SYS"];
const FENCES: &[&str] = &[
    "MEMBAR.ALL.GPU",
    "MEMBAR.SC.GPU",
    "MEMBAR.SC.SYS",
    "MEMBAR.ALL.CTA",
    "MEMBAR.SC.GPU ; ERRBAR ; CGAERRBAR ; CCTL.IVALL",
    "MEMBAR.ALL.GPU ; ERRBAR ; CCTL.IVALL",
    "MEMBAR.ALL.SYS ; CCTL.IVALL",
    "MEMBAR.SC.GPU ; MEMBAR.ALL.SYS ; CCTL.IVALL",
    "CCTL.IVALL",
    "CCTL.IVALL",
];

/// Two or three threads, each of a few accesses of two locations, with fences between.
fn random(random: &mut Random) -> String {
    let threads = 2 + random.below(2);
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut placed = Vec::new();
    for thread in 0..threads {
        let (cta, gpu) = (random.below(threads), 0);
        placed.push(format!("P{thread}@cta {cta},cluster 0,gpu {gpu}"));
        let mut column = Vec::new();
        for index in 0..2 + random.below(2) {
            if index > 0 && random.below(3) > 0 {
                column.extend(random.of(FENCES).split(" ; ").map(str::to_owned));
            }
            let (at, strength) = (random.of(&["R20", "R22"]), random.of(STRENGTHS));
            let value = 10 + random.below(2);
            column.push(match random.below(7) {
                0..3 => format!("LDG.E{strength} R{index}, [{at}]"),
                3..6 => format!("STG.E{strength} [{at}], R{value}"),
                _ => {
                    let strength = random.of(&[".STRONG.GPU", ".STRONG.GPU", ".STRONG.SYS"]);
                    format!("ATOMG.E.ADD{strength} PT, R{index}, [{at}], R{value}")
                }
            });
        }
        columns.push(column);
    }
    let mut text = "SASS random\n\"By chance.\"\nArch=sm_90\n{\nx=0; y=0;\n".to_owned();
    for thread in 0..threads {
        writeln!(text, "P{thread}:R20=x; P{thread}:R22=y; P{thread}:R10=1; P{thread}:R11=2;")
            .expect("strings can be written");
        writeln!(text, "P{thread}:R0=0; P{thread}:R1=0; P{thread}:R2=0;")
            .expect("strings can be written");
    }
    writeln!(text, "}}\n{} ;", placed.join(" | ")).expect("strings can be written");
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns.iter().map(|column| column.get(row).map_or("", String::as_str));
        writeln!(text, "{} ;", cells.collect::<Vec<_>>().join(" | "))
            .expect("strings can be written");
    }
    let observed = (0..threads).flat_map(|t| (0..3).map(move |r| format!("P{t}:R{r};")));
    writeln!(text, "locations [x; y; {}]\nexists (x=0)", observed.collect::<String>())
        .expect("strings can be written");
    text
}

/// A name with operands, in a column.
fn with_operands(name: &str) -> String {
    let opcode = name.split('.').next().unwrap_or("");
    let operands = match opcode {
        "LDG" | "LD" => " R0, [R20.64]",
        "STG" | "ST" | "REDG" | "RED" => " [R20.64], R10",
        "ATOMG" | "ATOM" if name.contains(".CAS") => " PT, R0, [R20.64], R10, R11",
        "ATOMG" | "ATOM" => " PT, R0, [R20.64], R10",
        "LDS" => " R0, [R22]",
        "STS" => " [R22], R10",
        "ATOMS" if name.contains(".CAS") => " R0, [R22], R10, R11",
        "ATOMS" => " R0, [R22], R10",
        _ => "",
    };
    format!("{name}{operands}")
}

fn is_access(name: &str) -> bool {
    ["LD", "ST", "AT", "RED"].iter().any(|start| name.starts_with(start))
}

/// What each of these words promises in a column; `None` where columns do not have one of them.
fn promised_in_a_column(names: &[&str], sm: u16) -> Option<Vec<String>> {
    let mut source = format!(
        "SASS words\n\"By their names.\"\nArch=sm_{sm}\n{{\n.global .u32 x[8]; .shared .u32 s[8];\n\
        P0:R10=1; P0:R20=x; P0:R22=s;\n}}\nP0@cta 0 ;\n"
    );
    for name in names {
        writeln!(source, "{} ;", with_operands(name)).expect("strings can be written");
    }
    source += "forall (P0:R10=0)\n";
    let test = litmus::parse("words", source.as_bytes()).ok()?;
    let mut all = Vec::new();
    for line in &test.program.threads[0].lines {
        all.push(match &line.instruction {
            Instruction::Load(load) => match load.order.scope() {
                _ if load.order == LoadOrder::Weak => "ld.weak".to_owned(),
                scope => format!("ld.relaxed.{}", scope?.name()),
            },
            Instruction::Store(store) => match store.order.scope() {
                _ if store.order == StoreOrder::Weak => "st.weak".to_owned(),
                scope => format!("st.relaxed.{}", scope?.name()),
            },
            Instruction::Atomic(of) => {
                let order = if of.order == AtomicOrder::AcqRel { "acq_rel" } else { "relaxed" };
                format!("atomic.{order}.{}", of.scope.name())
            }
            Instruction::Fence(of) => format!("fence.{:?}.{}", of.order, of.scope.name()),
            Instruction::Barrier(_) => "barrier".to_owned(),
            Instruction::ClusterBarrier(of) => format!("{:?}", of.kind),
            Instruction::Unsupported(_) | Instruction::Asynchronous(_) => return None,
            Instruction::ProxyFence(_)
            | Instruction::Alu(_)
            | Instruction::Cvta(_)
            | Instruction::Branch(_) => continue,
        });
    }
    Some(all)
}

/// What they promise in a row that shows its waits; `None` where rows do not have one of them.
fn promised_in_a_row(names: &[&str]) -> Option<Vec<String>> {
    let shown: Vec<String> = names.iter().map(|name| format!("{name} ?WAIT1")).collect();
    let items = contract::items(&shown.join(" ; ")).ok()?;
    let step = |step: Step| match step {
        Step::Access { act, order, scope, .. } => {
            let name = match act {
                AccessKind::Load => "ld",
                AccessKind::Store => "st",
                AccessKind::Swap
                | AccessKind::Reduce
                | AccessKind::Overwrite
                | AccessKind::Probe
                | AccessKind::CompareExchange(_) => "atomic",
            };
            match order {
                AccessOrder::Weak | AccessOrder::Unordered => format!("{name}.weak"),
                AccessOrder::AcqRel => format!("{name}.acq_rel.{}", scope.name()),
                AccessOrder::Relaxed
                | AccessOrder::Acquire
                | AccessOrder::Release
                | AccessOrder::SeqCst => {
                    format!("{name}.relaxed.{}", scope.name())
                }
            }
        }
        Step::Fence { order, scope } => format!("fence.{order:?}.{}", scope.name()),
        Step::Barrier { .. } | Step::Guard => "barrier".to_owned(),
        Step::ClusterArrive { .. } => "ArriveRelaxed".to_owned(),
        Step::ClusterWait => "Wait".to_owned(),
    };
    let steps = item::steps(&items, |done, _| done.act);
    Some(steps.into_iter().map(step).collect())
}

/// The same words promise the same in a row and in a column, in what the tables make of instructions and by
/// chance.
#[test]
fn a_row_and_a_column_promise_the_same() {
    // Rows take several accesses for the ways that one goes, by its address or its size.
    let is_one = |text: &String| text.split(" ; ").filter(|name| is_access(name)).count() <= 1;
    let mut sequences: BTreeSet<(u16, String)> = BTreeSet::new();
    for family in sass::lowering::families() {
        for row in family.table.rows() {
            for one in &row.all {
                let names: Vec<&str> = one.qualifiers.iter().map(String::as_str).collect();
                let sm = one.only.unwrap_or(family.table.targets[0]);
                let found = family.table.find(sm, &one.opcode, &names);
                sequences.extend(found.filter(is_one).map(|text| (sm, text)));
            }
        }
    }
    let mut numbers = Random(0x5eed_0001);
    let accesses = [
        "LDG.E",
        "LDG.E.STRONG.SYS",
        "STG.E.STRONG.GPU",
        "ATOMG.E.ADD.STRONG.GPU",
        "ATOMG.E.EXCH.STRONG.SYS",
        "REDG.E.ADD.STRONG.GPU",
        "ATOMS.EXCH",
        "UCGABAR_ARV",
        "UCGABAR_WAIT",
    ];
    for _ in 0..3_000 {
        let one = |numbers: &mut Random| -> String {
            if numbers.below(3) == 0 { numbers.of(&accesses) } else { numbers.of(FENCES) }
                .to_owned()
        };
        let words: Vec<String> = (0..=numbers.below(6)).map(|_| one(&mut numbers)).collect();
        sequences.extend(Some(words.join(" ; ")).filter(is_one).map(|text| (90, text)));
    }
    let (mut compared, mut left) = (0, BTreeSet::new());
    for (sm, text) in &sequences {
        let names: Vec<&str> = text.split(" ; ").filter(|name| !name.is_empty()).collect();
        let (Some(row), Some(column)) =
            (promised_in_a_row(&names), promised_in_a_column(&names, *sm))
        else {
            left.insert(text);
            continue;
        };
        // A full fence of the system has what its `CCTL.IVALL` adds.
        let mut needed: Vec<String> = Vec::new();
        for one in column {
            let full = needed
                .last()
                .is_some_and(|last| ["fence.AcqRel.sys", "fence.Sc.sys"].contains(&last.as_str()));
            if !(full && one == "fence.Acquire.sys") {
                needed.push(one);
            }
        }
        assert_eq!(row, needed, "{text} on sm_{sm}");
        compared += 1;
    }
    assert!(compared > 8 * left.len(), "{compared} compared, {} left: {left:?}", left.len());
}

/// What an instruction promises is what the machine keeps.
#[test]
fn no_random_column_leaves_what_it_promises() {
    const LIMITS: ExploreLimits = ExploreLimits::states(20_000);
    let model = ptx::model();
    let default = Options::default();
    let machines = [
        default,
        Options { one_sm: true, ..default },
        Options { home: Some(Home::Host), store_buffers: true, ..default },
        Options { lazy_all: !default.lazy_all, ..default },
    ];
    let mut numbers = Random(0x5eed_5a55);
    let mut included = 0;
    for _ in 0..150 {
        let columns = random(&mut numbers);
        let test = litmus::parse("random", columns.as_bytes())
            .unwrap_or_else(|all| panic!("{columns}\n{}", all[0]));
        let axioms = crate::machine::allowed(&test, &model, Some(Duration::from_secs(2)));
        let lowering =
            test.sass.as_ref().and_then(litmus::SassTarget::lowering).expect("it is in SASS");
        for options in machines {
            match compare(&test, &axioms, lowering, options, LIMITS).0 {
                Inclusion::Extra(extra) => {
                    let outcome = test.display_outcome(&extra[0].0);
                    panic!("{columns}\n{options:?}: the axioms forbid {outcome}");
                }
                Inclusion::Included { .. } => included += 1,
                Inclusion::Undefined(_)
                | Inclusion::Unsupported(_)
                | Inclusion::Refused(_)
                | Inclusion::Stuck { .. }
                | Inclusion::Limited(_) => {}
            }
        }
    }
    assert!(included > 400, "only {included} were compared");
}

#[test]
fn the_page_has_the_promises() {
    let path = suite::root().join("docs/sass.md");
    let page = fs::read_to_string(&path).expect("it is there");
    let table = sass::promise::table().expect("each word is known");
    let start = page.find("| SASS | promises |").expect("the page has the table");
    let end = page[start..].find("\n\n").map_or(page.len(), |length| start + length + 1);
    if page[start..end] == table {
        return;
    }
    let new = [&page[..start], &table, &page[end..]].concat();
    assert!(std::env::var_os("UPDATE").is_some(), "UPDATE=1 rewrites {}", path.display());
    fs::write(path, new).expect("it can be written");
}
