//! Applies the fixes of diagnostics to a module.

use std::collections::BTreeMap;

use text::Diagnostic;
use text::fix::{self, TextFix};

use super::{LintOptions, Linted, lint};

/// Which fixes are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FixChoice {
    /// Those that keep the meaning.
    Safe,
    /// Also those that are a guess.
    All,
}

impl FixChoice {
    /// The fix of a diagnostic, if it has one of these.
    pub fn of(self, diagnostic: &Diagnostic) -> Option<&TextFix> {
        diagnostic.fix.as_ref().filter(|fix| fix.safe || self == FixChoice::All)
    }
}

/// A module after fixes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FixedModule {
    /// The module; `None` if no fix was applied.
    pub text: Option<String>,
    /// The number of fixes that were applied.
    pub fixed: usize,
    /// What is said of the module now.
    pub linted: Linted,
}

/// A fix may make another one possible, or the same one again: two scopes that are too many. The module is checked
/// this many times at most after all of its fixes were applied at once.
const ROUNDS: usize = 20;

/// Reads a module and applies the fixes of its diagnostics. After each step the module is checked again: a fix is
/// kept only if its diagnostic is gone and there are no more diagnostics of any rule than before.
pub fn fix(path: &str, bytes: &[u8], options: LintOptions, choice: FixChoice) -> FixedModule {
    let linted = lint(path, bytes, options);
    let mut state = FixedModule { text: None, fixed: 0, linted };
    let Ok(original) = text::decode(path, bytes) else { return state };
    for _ in 0..ROUNDS {
        let before = state.fixed;
        // By the start of the unit.
        let mut chosen: BTreeMap<usize, (&'static str, TextFix)> = BTreeMap::new();
        for diagnostic in &state.linted.diagnostics {
            let Some(fix) = choice.of(diagnostic) else { continue };
            let following = chosen.range(fix.unit.start..).next();
            let apart = chosen
                .range(..fix.unit.start)
                .next_back()
                .is_none_or(|(_, (_, other))| other.unit.end <= fix.unit.start)
                && following
                    .is_none_or(|(&start, _)| start >= fix.unit.end && start != fix.unit.start);
            if apart {
                chosen.insert(fix.unit.start, (diagnostic.code, fix.clone()));
            }
        }
        let chosen: Vec<(&'static str, TextFix)> = chosen.into_values().collect();
        apply(&mut state, original, &chosen, &|text| lint(path, text.as_bytes(), options));
        if state.fixed == before {
            break;
        }
    }
    state
}

/// Applies as many of the fixes as can be kept: all at once or, if that cannot be, each half by itself. The latter
/// half is first, so that the places of the other stay what they are.
fn apply(
    state: &mut FixedModule,
    original: &str,
    fixes: &[(&'static str, TextFix)],
    lint: &impl Fn(&str) -> Linted,
) {
    if fixes.is_empty() {
        return;
    }
    let text = state.text.as_deref().unwrap_or(original);
    let text = fix::apply(text, fixes.iter().map(|(_, fix)| fix));
    let linted = lint(&text);
    let codes: Vec<&str> = fixes.iter().map(|(code, _)| *code).collect();
    if is_better(&state.linted, &linted, &codes) {
        *state = FixedModule { text: Some(text), fixed: state.fixed + fixes.len(), linted };
    } else if fixes.len() > 1 {
        let (first, last) = fixes.split_at(fixes.len() / 2);
        apply(state, original, last, lint);
        apply(state, original, first, lint);
    }
}

/// Whether the diagnostics with these codes are gone, and none was added.
fn is_better(before: &Linted, after: &Linted, fixed: &[&str]) -> bool {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for diagnostic in &before.diagnostics {
        *left.entry(diagnostic.code).or_default() += 1;
    }
    let mut take = |code: &str| {
        left.get_mut(code)
            .is_some_and(|left| left.checked_sub(1).map(|less| *left = less).is_some())
    };
    fixed.iter().all(|code| take(code)) && after.diagnostics.iter().all(|one| take(one.code))
}
