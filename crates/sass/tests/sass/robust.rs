//! Text that is nearly SASS: it is read or rejected with a reason, and never brings the reader down.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sass::listing::listing;
use sass::{self, ReadOptions};

use crate::corpus;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("it has 31 bits") % most.max(1)
    }
}

/// What is put into a text that was sound.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ".",
    ",",
    ";",
    "@",
    "!",
    "-",
    "+",
    "|",
    "`(",
    "`",
    "&req={",
    "?",
    "/*",
    "//",
    "(*",
    "0x",
    "R300",
    "RZ",
    "PT",
    "R99999",
    "0xffffffffffffffff",
    "desc[",
    ".64",
    "é",
    "\"",
    "\n",
    "UR4",
    "P7",
    "LDG",
    "c[0x0]",
    "&wr=9",
    "18446744073709551616",
    ".E.E",
    "  ",
    "BRA",
    "L0:",
    "\u{feff}",
];

/// The text with a few pieces left out, put in, or put twice.
fn changed(text: &str, random: &mut Random) -> String {
    let mut all: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(all.len() + 1);
        match random.below(3) {
            0 => {
                let end = (at + random.below(6)).min(all.len());
                all.drain(at..end);
            }
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                all.splice(at..at, piece.chars());
            }
            _ => {
                let end = (at + random.below(12)).min(all.len());
                let twice: Vec<char> = all[at..end].to_vec();
                all.splice(at..at, twice);
            }
        }
    }
    all.into_iter().collect()
}

#[test]
fn changed_instructions_are_read_or_refused() {
    let mut random = Random(0x5a55);
    let (mut good, mut bad) = (0, 0);
    for line in corpus::lines() {
        for _ in 0..40 {
            let text = changed(line, &mut random);
            for sm in [None, Some(50), Some(90)] {
                let options = ReadOptions { sm, registers: Some(32) };
                match sass::instruction("i", &text, options) {
                    // What is printed is read again, as the same.
                    Ok(single) => {
                        let printed = single.instruction.to_string();
                        let again = sass::instruction("i", &printed, options);
                        let again = again.unwrap_or_else(|all| panic!("{printed:?}: {}", all[0]));
                        assert_eq!(again.instruction.to_string(), printed);
                        good += 1;
                    }
                    Err(all) => {
                        assert!(!all.is_empty(), "{text:?}");
                        assert!(all.iter().all(|one| one.help.is_some()), "{text:?}: {}", all[0]);
                        bad += 1;
                    }
                }
            }
            let listed = listing("l", &text, Some(90));
            assert!(listed.functions.len() <= 1);
        }
    }
    assert!(good > 5_000 && bad > 5_000, "{good} read, {bad} not");
}

#[test]
fn changed_tests_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/suite/sass");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "litmus"))
        .collect();
    files.sort();
    let mut random = Random(0x11);
    let (mut good, mut bad) = (0, 0);
    for file in files {
        let text = fs::read_to_string(file).expect("the file can be read");
        for _ in 0..200 {
            match litmus::parse("t", changed(&text, &mut random).as_bytes()) {
                Ok(read) => {
                    let lowered = read.sass.map(|sass| sass.lowered);
                    let lines = read.program.threads.iter().map(|thread| thread.lines.len());
                    let lines: Vec<usize> = lines.collect();
                    if let Some(lowered) = lowered {
                        assert_eq!(lines, lowered.iter().map(Vec::len).collect::<Vec<_>>());
                    }
                    good += 1;
                }
                Err(_) => bad += 1,
            }
        }
    }
    assert!(good > 500 && bad > 500, "{good} read, {bad} not");
}

#[test]
fn a_long_listing_takes_a_time_that_grows_with_its_length() {
    let mut text = String::from("\tcode for sm_90\n\t\tFunction : f\n");
    for line in 0..200_000 {
        let shown =
            if line % 3 == 0 { "LDG.E R0, desc[UR4][R2.64]" } else { "IADD3 R0, R1, [[, R2" };
        writeln!(text, "        /*{:04x}*/   {shown} ;  /* 0x0000000404047981 */", line * 16)
            .expect("strings can be written");
    }
    let start = Instant::now();
    let read = listing("l", &text, None);
    assert!(read.functions[0].lines.len() >= 66_666);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(!read.diagnostics.is_empty());
}
