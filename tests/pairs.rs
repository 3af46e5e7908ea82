//! Pairs of functions in `tests/pairs`, `X.from.ll` or `X.from.ptx`, and `X.to.ptx` or `X.to.ll`: the target is right, and each mistake
//! that its comments list is found.
//!
//! `VERDICT: OLD => NEW` in a comment of the target: with NEW instead of OLD, one function has this verdict. `\n` is the
//! end of a line.

use std::fs;
use std::path::{Path, PathBuf};

use lift::function::Functions;
use refine::function::paired;
use refine::verdict::Verdict;

use crate::functions::judge_pair;
use crate::suite;

pub(crate) fn functions(path: &Path, text: &str) -> Functions {
    let shown = path.display().to_string();
    if path.extension().is_some_and(|ending| ending == "ll") {
        return llvm::functions(&shown, text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    }
    let (module, diagnostics) = ::ptx::read(&shown, text.as_bytes());
    assert_eq!(diagnostics, [], "{text}");
    lift::module::functions(&module.expect("a module"))
}

/// The verdicts that are neither `preserved` nor `stronger`, each with its function and the reason.
fn failures(paths: [&Path; 2], texts: [&str; 2]) -> Vec<(Verdict, String)> {
    let pairs = paired(functions(paths[0], texts[0]), functions(paths[1], texts[1]));
    assert!(!pairs.is_empty(), "{} has no function", paths[0].display());
    let said = pairs.iter().map(judge_pair);
    let failed =
        said.filter(|said| !matches!(said.finding.verdict, Verdict::Preserved | Verdict::Stronger));
    failed
        .map(|said| (said.finding.verdict, format!("{}: {}", said.name, said.finding.why)))
        .collect()
}

/// The mistakes of a target, and its text without them.
pub(crate) fn mistakes(text: &str) -> (Vec<(&str, String, String)>, String) {
    let mut found = Vec::new();
    let mut rest = String::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("// ").or(line.strip_prefix("; ")) {
            let mistake = comment.split_once(": ").and_then(|(verdict, change)| {
                let (old, new) = change.split_once(" => ")?;
                Some((verdict, old.replace("\\n", "\n"), new.replace("\\n", "\n")))
            });
            found.extend(mistake);
            // Lines keep their numbers.
            rest.push('\n');
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    (found, rest)
}

#[test]
fn targets_are_right_and_their_mistakes_are_found() {
    let folder = suite::root().join("tests/pairs");
    let all = fs::read_dir(&folder).expect("the folder is there");
    let mut targets: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    targets.retain(|path| path.to_string_lossy().contains(".to."));
    targets.sort();
    assert!(!targets.is_empty());
    for target in &targets {
        let name = target.file_name().expect("a name").to_string_lossy().into_owned();
        let stem = name.split('.').next().expect("a name");
        let sources = ["ll", "ptx"].map(|ending| folder.join(format!("{stem}.from.{ending}")));
        let source = sources.into_iter().find(|path| path.exists()).expect("it has a source");
        let text = fs::read_to_string(target).expect("it can be read");
        let (mistakes, right) = mistakes(&text);
        assert!(!mistakes.is_empty(), "{name} lists no mistake");
        let before = fs::read_to_string(&source).expect("it can be read");
        let judged = |after: &str| failures([&source, target], [&before, after]);
        assert_eq!(judged(&right), [], "{name}");
        for (verdict, old, new) in mistakes {
            let count = right.matches(&*old).count();
            assert_eq!(count, 1, "{name}: `{old}` occurs {count} times");
            let found = judged(&right.replace(&*old, &new));
            let verdicts: Vec<&str> = found.iter().map(|(verdict, _)| verdict.name()).collect();
            assert_eq!(verdicts, [verdict], "{name}: {old} => {new}: {found:?}");
        }
    }
}
