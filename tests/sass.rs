//! Tests in SASS: what the machine does with each is recorded beside them.
//!
//! `UPDATE=1 cargo test` rewrites the record; read what changed.

use std::fmt::Write as _;
use std::fs;

use checker::explore::{Limits, explore};
use litmus::sass::lower::Lowering;
use model::machine::Options;

use crate::suite;

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
