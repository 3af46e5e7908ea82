//! Fixes: each removes its diagnostic and adds none, and one that keeps the meaning changes nothing that has one.

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;
use ptx::{FixChoice, LintOptions};
use text::Diagnostic;

use crate::help;
use crate::laws::law;
use crate::measured;
use crate::mutation::MUTATIONS;
use crate::written::{NEWEST, Setting, codes, module, options, said};

fn lint(text: &str, strict: bool) -> Vec<Diagnostic> {
    ptx::lint("m.ptx", text.as_bytes(), options(strict)).diagnostics
}

fn counts(diagnostics: &[Diagnostic]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for one in diagnostics {
        *counts.entry(one.code).or_insert(0) += 1;
    }
    counts
}

/// What is wrong with the fix of a diagnostic of this text, applied alone.
fn wrong(text: &str, said: &[Diagnostic], one: &Diagnostic, strict: bool) -> Option<String> {
    let fix = one.fix.as_ref()?;
    let fixed = text::fix::apply(text, [fix]);
    let after = lint(&fixed, strict);
    let (mut left, after) = (counts(said), counts(&after));
    *left.get_mut(one.code).expect("it was said") -= 1;
    let more = |(code, count): (&&str, &usize)| *count > left.get(code).copied().unwrap_or(0);
    let more = after.iter().any(more);
    (more || fixed == text).then(|| format!("{} in {text}: then {after:?} in {fixed}", one.code))
}

/// The dot-separated parts of the instruction with this number of dots or more.
fn parts(instruction: &str) -> Vec<&str> {
    let name = instruction.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
    name.trim_end_matches(';').split('.').collect()
}

/// Hints, and what is written where there is no choice.
const WITHOUT_MEANING: &[&str] =
    &["ca", "cg", "cs", "lu", "cv", "wb", "wt", "noftz", "weak", "global", "gpu", "gl", "cluster"];

/// Whether a fix that keeps the meaning may change these parts.
fn keeps(before: &[&str], after: &[&str]) -> bool {
    let hint = |part: &str| part.starts_with("L1::") || part.starts_with("L2::");
    let without = |one: &[&str], other: &[&str]| {
        one.iter().all(|part| {
            let twice = one.iter().filter(|same| *same == part).count() > 1;
            let space = part.split("::").next().is_some_and(|space| {
                matches!(space, "const" | "param" | "shared" | "local" | "global")
            });
            let of_mmio = one.contains(&"mmio") && matches!(*part, "cta" | "sys");
            let volatile = one.contains(&"volatile") && *part == "sys";
            let fence = matches!(*part, "membar" | "fence" | "sc") && one.len() <= 3;
            other.contains(part)
                || hint(part)
                || twice
                || space
                || of_mmio
                || volatile
                || fence
                || WITHOUT_MEANING.contains(part)
        })
    };
    without(before, after) && without(after, before)
}

#[test]
fn the_fix_of_one_change_leaves_nothing_to_be_said() {
    let met = Mutex::new(BTreeMap::new());
    law(1_500, |written| {
        let setting = Setting { device: written.device, ..NEWEST };
        if !said(&written.to_string(), &setting, true).is_empty() {
            return Ok(());
        }
        for (name, mutation) in MUTATIONS {
            let Some((changed, _)) = mutation(written) else { continue };
            let instruction = changed.to_string();
            let text = module(&instruction, &setting);
            let said = lint(&text, true);
            let [one] = &said[..] else {
                prop_assert!(false, "{name}: {said:?}");
                continue;
            };
            let help = one.help.as_deref().unwrap_or_default();
            let Some(fix) = &one.fix else {
                prop_assert!(!help::is_instruction(help), "{}: {}: no fix", instruction, help);
                continue;
            };
            let fixed = text::fix::apply(&text, [fix]);
            prop_assert_eq!(codes(&lint(&fixed, true)), [""; 0], "{}: {}", instruction, fixed);
            if help::is_instruction(help) {
                prop_assert!(
                    fixed.contains(&format!("{help};")),
                    "{}: {}: {}",
                    instruction,
                    help,
                    fixed
                );
                if fix.safe {
                    prop_assert!(
                        keeps(&parts(&instruction), &parts(help)),
                        "{}: {}",
                        instruction,
                        help
                    );
                }
            }
            let whole = ptx::fix("m.ptx", text.as_bytes(), options(true), FixChoice::All);
            prop_assert_eq!(whole.text.as_deref(), Some(&*fixed));
            prop_assert_eq!(whole.fixed, 1);
            let safe = ptx::fix("m.ptx", text.as_bytes(), options(true), FixChoice::Safe);
            prop_assert_eq!(safe.text.is_some(), fix.safe);
            *met.lock().expect("no thread panicked").entry((one.code, fix.safe)).or_insert(0) += 1;
        }
        Ok(())
    });
    let met = met.into_inner().expect("no thread panicked");
    let of = |safe: bool| met.keys().filter(|(_, is)| *is == safe).count();
    assert!(of(true) > 20 && of(false) > 20, "hardly any fix was met: {met:?}");
}

/// Of instructions with two errors, and in an old version: each fix removes its diagnostic, and the fixes together
/// leave only what has no fix.
#[test]
fn fixes_of_several_errors_are_applied_one_after_another() {
    let fixed = Mutex::new(0);
    law(1_000, |written| {
        for (first, (_, one)) in MUTATIONS.iter().enumerate() {
            let Some((changed, _)) = one(written) else { continue };
            let other = (first * 31 + written.to_string().len() * 7) % MUTATIONS.len();
            let Some((changed, _)) = MUTATIONS[other].1(&changed) else { continue };
            let setting = Setting { isa: "7.0", target: "sm_75", device: written.device };
            let text = module(&changed.to_string(), &setting);
            let said = lint(&text, true);
            for one in &said {
                prop_assert_eq!(wrong(&text, &said, one, true), None);
            }
            let whole = ptx::fix("m.ptx", text.as_bytes(), options(true), FixChoice::All);
            let left = counts(&whole.linted.diagnostics);
            let before = counts(&said);
            for (code, count) in &left {
                prop_assert!(*count <= before.get(code).copied().unwrap_or(0), "{code}: {text}");
            }
            *fixed.lock().expect("no thread panicked") += whole.fixed;
        }
        Ok(())
    });
    let fixed = fixed.into_inner().expect("no thread panicked");
    assert!(fixed > 4_000, "only {fixed} fixes");
}

/// The same of everything that ptxas rejected.
#[test]
fn fixes_of_what_ptxas_rejects_are_accepted() {
    let rows = ::measured::rows("ptxas-accept");
    let (mut rejected, mut offered, mut safe, mut legal) = (0, 0, 0, 0);
    for row in rows.iter().filter(|row| row[5] == "reject") {
        rejected += 1;
        let text = measured::module(&row[1], &row[2], row[3] == "func", &row[4]);
        let said = lint(&text, false);
        for one in &said {
            assert_eq!(wrong(&text, &said, one, false), None);
            offered += usize::from(one.fix.is_some());
            safe += usize::from(one.fix.as_ref().is_some_and(|fix| fix.safe));
        }
        let whole = ptx::fix("m.ptx", text.as_bytes(), LintOptions::default(), FixChoice::All);
        legal += usize::from(whole.linted.errors() == 0);
    }
    eprintln!(
        "{rejected} rejected: {offered} fixes, {safe} of them safe; {legal} are legal after all fixes"
    );
    assert!(rejected > 1_000, "only {rejected} rows");
    assert!(legal * 2 > rejected, "only {legal} of {rejected}");
}

fn fixed(text: &str, choice: FixChoice) -> (Option<String>, Vec<&'static str>) {
    let fixed = ptx::fix("m.ptx", text.as_bytes(), LintOptions::default(), choice);
    (fixed.text, codes(&fixed.linted.diagnostics))
}

/// Comments, blanks and everything else that a fix is not about stay as they are.
#[test]
fn a_fix_changes_only_its_words() {
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g;\n.entry k() {\n.reg .b32 r<3>; .reg .b64 a;\n";
    let text = format!(
        "{head}  /* one */ ld.relaxed.sys.cg.global.u32 r1 , [ g ] ; // two\n\
         \tst.global.u32 [a-4], r1\n membar.gpu; membar.cluster ;\n ld.acquire.u32 r2, [a];\n ret;\n}}\n"
    );
    let expected = format!(
        "{head}  /* one */ ld.relaxed.sys.global.u32 r1 , [ g ] ; // two\n\
         \tst.global.u32 [a+-4], r1;\n membar.gl; fence.sc.cluster ;\n ld.acquire.u32 r2, [a];\n ret;\n}}\n"
    );
    assert_eq!(fixed(&text, FixChoice::Safe), (Some(expected.clone()), vec!["ld-scope-missing"]));
    let all = expected.replace("ld.acquire.u32", "ld.acquire.gpu.u32");
    assert_eq!(fixed(&text, FixChoice::All), (Some(all.clone()), vec![]));
    assert_eq!(fixed(&all, FixChoice::All), (None, vec![]));
}

/// A word that is not text is not a module, and a fix that would break another rule is not applied.
#[test]
fn what_cannot_be_fixed_is_left_as_it_is() {
    assert_eq!(fixed("\0", FixChoice::All), (None, vec!["binary"]));
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g;\n.entry k() {\n.reg .b32 r<3>;\n";
    // The order that is near has no scope either.
    let text = format!("{head}ld.relaxd.global.u32 r1, [g];\n}}\n");
    assert_eq!(fixed(&text, FixChoice::All), (None, vec!["unknown-qualifier"]));
}
