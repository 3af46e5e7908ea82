//! Readings: docs/readings.md numbers them without gaps, and whatever cites one cites it by that number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::suite;
use crate::tidy::{Source, sources, walk, words};

/// Numbers that no reading ever had.
const UNUSED: [u32; 2] = [38, 39];

/// The numbers that readings had before there was one numbering: a letter, and the last number.
const ALIASES: [(&str, u32); 3] = [("C", 18), ("J", 27), ("S", 8)];

/// `letter` and a number.
fn number(word: &str, letter: &str) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']))
}

fn is_alias(word: &str) -> bool {
    let within = |(letter, last): &(&str, u32)| number(word, letter).is_some_and(|n| n <= *last);
    ALIASES.iter().any(within)
}

/// The rows of docs/readings.md: the number of each reading, and its alias.
fn listed() -> Vec<(u32, Option<String>)> {
    let text = fs::read_to_string(suite::root().join("docs/readings.md")).expect("it is there");
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let found = number(cells.next()?, "R")?;
        Some((found, cells.next().filter(|cell| is_alias(cell)).map(str::to_owned)))
    };
    text.lines().filter_map(row).collect()
}

/// Every number after the word `reading` or `readings`, in prose, comment or message: `R7`, also of
/// `R7a` and `R7=total`, all of `R51 to R68`, and numbers that are no longer in use.
fn cited(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lower = text.replace("Reading", "reading");
    for rest in lower.split("reading").skip(1) {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let (mut before, mut from) = (None, None);
        for word in rest.split([' ', ',', '\n', '/', '\\']) {
            let word = word.split('=').next().unwrap_or("");
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let whole = word.trim_end_matches(|c: char| matches!(c, 'a'..='c'));
            if let Some(number) = number(whole, "R") {
                let first = from.take().unwrap_or(number);
                found.extend((first..=number).map(|n| format!("R{n}")));
                before = Some(number);
            } else if is_alias(whole) {
                found.insert(whole.to_owned());
            } else {
                match word {
                    "to" => from = before,
                    "and" | "" => {}
                    _ => break,
                }
            }
        }
    }
    found
}

/// Sources, documents, tests of the suite and what is printed: everything that may cite a reading.
fn citing() -> Vec<Source> {
    let root = suite::root();
    let mut all = sources();
    let folders = [
        ("docs", "md"),
        ("docs/schema", "json"),
        ("litmus/suite", "litmus"),
        ("crates/sass/lowering", "table"),
        ("tests/broken", "litmus"),
        ("tests/snapshots", "txt"),
    ];
    for (folder, extension) in folders {
        let before = all.len();
        walk(&root.join(folder), extension, &mut |path| {
            let relative = path.strip_prefix(&root).expect("it is below the root");
            // Some broken tests are not UTF-8: that is what is wrong with them.
            let bytes = fs::read(path).expect("it can be read");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            all.push(Source { path: relative.to_string_lossy().replace('\\', "/"), text });
        });
        assert!(all.len() > before, "{folder} has no .{extension}");
    }
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(name)).expect("it is there");
        all.push(Source { path: name.to_owned(), text });
    }
    all.retain(|source| {
        source.path != "docs/readings.md" && source.path != "tests/reading_numbers.rs"
    });
    all
}

#[test]
fn readings_have_one_numbering() {
    let listed = listed();
    let last = listed.last().expect("there are readings").0;
    let numbers: Vec<u32> = listed.iter().map(|(number, _)| *number).collect();
    let all: Vec<u32> = (1..=last).filter(|number| !UNUSED.contains(number)).collect();
    assert_eq!(numbers, all, "docs/readings.md numbers its rows in order, without gaps");

    let mut aliases = BTreeMap::new();
    for (number, alias) in &listed {
        let Some(alias) = alias else { continue };
        let before = aliases.insert(alias.clone(), *number);
        assert_eq!(before, None, "{alias} is the alias of two readings");
    }
    for (letter, last) in ALIASES {
        for number in 1..=last {
            let alias = format!("{letter}{number}");
            assert!(aliases.contains_key(&alias), "{alias} is the alias of no reading");
        }
    }
}

#[test]
fn citations_of_readings_lead_somewhere() {
    let listed: BTreeSet<String> =
        listed().iter().map(|(number, _)| format!("R{number}")).collect();
    let mut decided = BTreeSet::new();
    for source in citing() {
        let cited = cited(&source.text);
        let unknown: Vec<&String> = cited.difference(&listed).collect();
        assert!(unknown.is_empty(), "{}: docs/readings.md has no reading {unknown:?}", source.path);
        if source.path.contains("/src/") {
            decided.extend(cited);
        }
        // `S8` is a size of SASS, too.
        let mut words = words(&source.text).filter(|word| is_alias(word) && *word != "S8");
        let old = (source.path.rsplit('.').next() == Some("md")).then(|| words.next()).flatten();
        assert_eq!(old, None, "{} names a reading by its alias", source.path);
    }
    let idle: Vec<&String> = listed.difference(&decided).collect();
    assert!(idle.is_empty(), "no source cites {idle:?} where it is decided");
}

#[test]
fn citations_are_found() {
    let found = |text| cited(text).into_iter().collect::<Vec<_>>();
    assert_eq!(
        found("(reading R7). Readings R1, R2b\n/// and R3, as R9"),
        ["R1", "R2", "R3", "R7"]
    );
    assert_eq!(found("--reading R13=none; readings R4 to R6"), ["R13", "R4", "R5", "R6"]);
    assert_eq!(found("reading C3, and of R9: rule R9"), ["C3"]);
}
