//! Tests in SASS: what the machine does with each is recorded beside them.
//!
//! `UPDATE=1 cargo test` rewrites the record; read what changed.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use checker::explore::inclusion::{Inclusion, compare};
use checker::explore::{Limits, explore};
use litmus::sass::lower::Lowering;
use model::machine::{Home, Options};
use model::ptx;

use crate::{machine, suite};

#[test]
fn what_the_machine_does_is_recorded() {
    let mut now = String::new();
    let folder = suite::folder().join("sass");
    for suite::Entry { path, test, .. } in suite::load(&folder) {
        let lowering = Lowering::of_test(&test);
        let lowering = lowering.unwrap_or_else(|| panic!("{} is in PTX", path.display()));
        writeln!(now, "{} on sm_{}", test.name, lowering.sm).expect("strings can be written");
        match explore(&test.program, lowering, Options::default(), Limits::states(100_000)) {
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
                _ => format!("ATOMG.E.ADD.STRONG.GPU PT, R{index}, [{at}], R{value}"),
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

/// What an instruction promises is what the machine keeps.
#[test]
fn no_random_column_leaves_what_it_promises() {
    const LIMITS: Limits = Limits::states(20_000);
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
        let axioms = machine::allowed(&test, &model, Some(Duration::from_secs(2)));
        let lowering = Lowering::of_test(&test).expect("it is in SASS");
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
