//! How much of what the axioms allow the machine does: `docs/machine-reach.md`.
//!
//! `UPDATE=1 cargo test` rewrites the page; read what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use ::explore::ExploreLimits;
use ::machine::Options;
use model::ptx;
use reach::{Inclusion, compare};
use sass::lower::Lowering;

use crate::suite::{self, Entry};

/// One target of each family.
const TARGETS: [u16; 5] = [50, 70, 80, 90, 100];

const LIMITS: ExploreLimits = ExploreLimits::states(50_000);

/// What became of a test on each target.
struct Row {
    folder: String,
    name: String,
    answers: Vec<Inclusion>,
}

/// Sums over tests, of one target.
#[derive(Default, Clone, Copy)]
struct Sum {
    tests: usize,
    complete: usize,
    reached: usize,
    allowed: usize,
    undefined: usize,
    unsupported: usize,
    refused: usize,
    limited: usize,
}

impl Sum {
    fn add(&mut self, answer: &Inclusion) {
        match answer {
            Inclusion::Included { reached, allowed } => {
                self.tests += 1;
                self.complete += usize::from(reached == allowed);
                self.reached += reached;
                self.allowed += allowed;
            }
            Inclusion::Undefined(_) => self.undefined += 1,
            Inclusion::Unsupported(_) => self.unsupported += 1,
            Inclusion::Refused(_) => self.refused += 1,
            Inclusion::Limited(_) => self.limited += 1,
            // Neither the axioms nor the machine have an outcome.
            Inclusion::Stuck { .. } => {}
            Inclusion::Extra(_) => panic!("the machine does what the axioms forbid"),
        }
    }
}

fn rows() -> Vec<Row> {
    let model = ptx::model();
    // A test in SASS is of one machine: what that does is recorded beside it.
    let mut entries = suite::load(&suite::folder());
    entries.retain(|entry| entry.test.sass.is_none());
    let work = |index: usize| {
        let Entry { folder, test, .. } = &entries[index];
        let axioms = crate::machine::allowed(test, &model, None);
        let answer = |sm: &u16| {
            let lowering = Lowering::of(*sm).expect("there is a table");
            compare(test, &axioms, lowering, Options::default(), LIMITS).0
        };
        let answers = TARGETS.iter().map(answer).collect();
        Row { folder: folder.clone(), name: test.name.clone(), answers }
    };
    let mut rows = Vec::new();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    engine::parallel::in_order(entries.len(), jobs, &work, &mut |done| {
        rows.extend(done.map(|(_, row)| row));
        Ok(())
    })
    .expect("nothing is written");
    rows
}

/// A line of the first table: what it counts.
type Line = (&'static str, fn(&Sum) -> usize);

fn header(first: &str, columns: &[String]) -> String {
    let rule: String = columns.iter().map(|_| "---:|").collect();
    format!("| {first} | {} |\n|---|{rule}\n", columns.join(" | "))
}

fn page(rows: &[Row]) -> String {
    let targets: Vec<String> = TARGETS.iter().map(|sm| format!("`sm_{sm}`")).collect();
    let sum = |of: &dyn Fn(&Row) -> bool| -> Vec<Sum> {
        let mut sums = vec![Sum::default(); TARGETS.len()];
        for row in rows.iter().filter(|row| of(row)) {
            sums.iter_mut().zip(&row.answers).for_each(|(sum, answer)| sum.add(answer));
        }
        sums
    };
    let all = sum(&|_| true);
    let mut page = String::from(
        "# How much the machine reaches\n\n\
         This page counts which of the outcomes that the axioms allow for the tests of `litmus/suite/` [the machine](machine.md)\n\
         reaches with its default choices: each CTA on an SM of its own unless the test places it. `causeway explore --check`\n\
         checks that it reaches no others; an outcome that it does not reach is not an error.\n\
         `UPDATE=1 cargo test -p causeway --test workspace reach` writes this page.\n\n## Families\n\n",
    );
    page += &header("", &targets);
    let lines: [Line; 8] = [
        ("allowed outcomes", |sum| sum.allowed),
        ("of these reached", |sum| sum.reached),
        ("tests compared", |sum| sum.tests),
        ("of these with all outcomes reached", |sum| sum.complete),
        ("undefined tests", |sum| sum.undefined),
        ("tests that the axioms do not cover", |sum| sum.unsupported),
        ("tests that do not run on the family", |sum| sum.refused),
        ("tests searched only in part, or with a loop", |sum| sum.limited),
    ];
    for (what, of) in lines {
        let cells: Vec<String> = all.iter().map(|sum| of(sum).to_string()).collect();
        writeln!(page, "| {what} | {} |", cells.join(" | ")).expect("strings can be written");
    }
    page += "\n## Folders\n\nOutcomes reached / allowed.\n\n";
    page += &header("", &targets);
    let mut folders: Vec<&str> = rows.iter().map(|row| row.folder.as_str()).collect();
    folders.dedup();
    for folder in folders {
        let cells: Vec<String> = sum(&|row| row.folder == folder)
            .iter()
            .map(|sum| match sum.allowed {
                0 => "–".to_owned(),
                allowed => format!("{}/{allowed}", sum.reached),
            })
            .collect();
        writeln!(page, "| `{folder}` | {} |", cells.join(" | ")).expect("strings can be written");
    }
    page += "\n## Tests\n\nTests with outcomes that are not reached: reached / allowed, and the targets.\n";
    let mut last = "";
    for row in rows {
        let mut groups: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
        for (answer, target) in row.answers.iter().zip(&targets) {
            if let Inclusion::Included { reached, allowed } = *answer
                && reached < allowed
            {
                groups.entry((reached, allowed)).or_default().push(target);
            }
        }
        if groups.is_empty() {
            continue;
        }
        if row.folder != last {
            last = &row.folder;
            write!(page, "\n`{last}`\n\n").expect("strings can be written");
        }
        let compared = row.answers.iter().filter(|a| matches!(a, Inclusion::Included { .. }));
        let compared = compared.count();
        let groups: Vec<String> = groups
            .iter()
            .map(|((reached, allowed), on)| {
                let on =
                    if on.len() == compared { String::new() } else { format!(" {}", on.join(" ")) };
                format!("{reached}/{allowed}{on}")
            })
            .collect();
        writeln!(page, "- {}: {}", row.name, groups.join(", ")).expect("strings can be written");
    }
    page
}

#[test]
fn the_page_says_what_the_machine_reaches() {
    let now = page(&rows());
    let path = suite::root().join("docs/machine-reach.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).expect("the page can be written");
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    let differ = now.lines().zip(before.lines()).find(|(now, before)| now != before);
    assert!(now == before, "{differ:?}: UPDATE=1 rewrites {}", path.display());
}
