//! What `nvdisasm` printed, and what `ptxas` made.

use ptx::version::Target;
use sass::{self, ReadOptions, decode, encode};

fn prints_back(text: &str) {
    let printed: Vec<String> = match sass::instructions("row", text) {
        Ok(all) => all.iter().map(ToString::to_string).collect(),
        Err(all) => panic!("{text}: {}", all[0]),
    };
    assert_eq!(printed.join(" ; "), text);
}

#[test]
fn what_nvdisasm_printed_is_read_and_printed_back() {
    for (name, column, fewest) in [("sass-encodings", 1, 18_000), ("sass-ldg-fields", 5, 500)] {
        let rows = measured::rows(name);
        assert!(rows.len() > fewest, "only {} rows of {name}", rows.len());
        for row in &rows {
            prints_back(&row[column]);
        }
    }
    let text = measured::text("sass-maxwell-ldg.txt");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    for line in samples {
        let text = line.split("0xeed").next().unwrap_or(line);
        prints_back(text.trim());
    }
}

#[test]
fn what_ptxas_made_is_read_and_printed_back() {
    let rows = ::measured::rows("ptxas-lowering");
    let mut read = 0;
    for row in rows.iter().filter(|row| row[4] != "(none)") {
        prints_back(&row[4]);
        read += 1;
    }
    assert!(read > 30_000, "only {read} cells");
}

/// Each word of `sm_50` is the encoding of what it decodes to, and of its text where `ptxas` made it.
#[test]
fn measured_words_are_encoded_back() {
    let rows = ::measured::rows("sass-encodings");
    let (mut words, mut texts) = (0, 0);
    for row in rows.iter().filter(|row| matches!(&*row[0], "sm_50" | "sm_60")) {
        let digits = row[2].trim_start_matches("0x");
        let word = u64::from_str_radix(digits, 16).expect("words are hexadecimal");
        let Some(ldg) = encode::load(word) else { continue };
        assert_eq!(encode::word(&ldg), word, "{}", row[1]);
        words += 1;
        if row[3] == "ptxas" {
            let options = ReadOptions { sm: Some(50), registers: None };
            let single = sass::instruction("row", &row[1], options).expect("it can be read");
            assert_eq!(single.diagnostics, [], "{}", row[1]);
            assert_eq!(single.ldg, Some(ldg), "{}", row[1]);
            texts += 1;
        }
    }
    assert!(words > 1_500 && texts > 50, "{words} words, {texts} texts");
}

/// No name that was seen breaks a rule of names.
#[test]
fn what_ptxas_made_keeps_the_rules() {
    let rows = ::measured::rows("ptxas-lowering");
    for row in rows.iter().filter(|row| row[4] != "(none)") {
        let sm = row[1].trim_start_matches("sm_").parse().ok();
        for name in row[4].split(" ; ") {
            let options = ReadOptions { sm, registers: None };
            let single = sass::instruction("row", name, options).expect("it can be read");
            assert_eq!(single.diagnostics, [], "{name} on {}", row[1]);
        }
    }
}

/// Nor does one that `nvdisasm` printed say two things at once, though some of these words are not instructions.
#[test]
fn what_nvdisasm_printed_does_not_contradict_itself() {
    for (name, column) in [("sass-encodings", 1), ("asynchronous-sass", 3)] {
        for row in measured::rows(name) {
            for text in row[column].split(" ; ").filter(|text| !text.is_empty()) {
                let Ok(single) = sass::instruction("row", text, ReadOptions::default()) else {
                    continue;
                };
                let clash = single.diagnostics.iter().find(|one| {
                    one.message.contains("contradicts") || one.message.contains("twice")
                });
                assert_eq!(clash, None, "{text}");
            }
        }
    }
}

#[test]
fn every_word_of_ldg_has_its_text() {
    let rows = ::measured::rows("sass-encodings");
    let mut words = 0;
    for row in rows {
        let [sm, text, hex, ..] = &row[..] else { panic!("{row:?} has too few fields") };
        let target = Target::parse(sm).expect("the measurements name targets");
        let plain = text.split_once("LDG").is_some_and(|(guard, rest)| {
            guard.chars().all(|c| "@!PT0123456789 ".contains(c)) && rest.starts_with(['.', ' '])
        });
        let decoded = decode::line(hex, target);
        if plain {
            assert_eq!(decoded.as_deref(), Ok(text.as_str()), "{sm} {hex}");
            words += 1;
        } else {
            assert!(decoded.is_err(), "{sm} {hex}: {text}, decoded as {decoded:?}");
        }
    }
    assert!(words > 16_000, "{words} words");
}
