//! Random contexts against functions that the lists of contexts preserve:
//! `cargo bench -p causeway --bench attack -- --contexts 1000 --from ENDING --to ENDING FOLDER`, such as `ll` and `ptx`.
//!
//! Each pair of files of the folder with these endings is read as `causeway lower` reads it. A function that is preserved
//! and refuted by a random context is printed with the finding. The same `--seed` gives the same contexts.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use checker::lower::files::{ListingSource, functions};
use engine::MEMORY;
use refine::function::{Attack, FunctionPair, attack, judge, paired};
use refine::verdict::Verdict;
use refine::{Models, Patience, Refiner};

fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str, default: u64) -> u64 {
    option(name).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The functions of two files by name; none if a file cannot be read.
fn pairs(from: &Path, to: &Path) -> Vec<FunctionPair> {
    let nothing = Vec::new();
    let Ok(source) = functions(from, ListingSource { source: &nothing, arch: None }) else {
        return Vec::new();
    };
    let listing = ListingSource { source: &source.functions, arch: None };
    let Ok(target) = functions(to, listing) else { return Vec::new() };
    paired(source.functions, target.functions)
}

fn main() -> ExitCode {
    let [from, to] =
        ["--from", "--to"].map(|name| option(name).unwrap_or_else(|| "ptx".to_owned()));
    let Some(folder) = std::env::args().next_back().map(PathBuf::from).filter(|path| path.is_dir())
    else {
        println!("give a folder of compiled functions, such as one of benches/corpus");
        return ExitCode::from(2);
    };
    let (seed, contexts) = (number("--seed", 1), number("--contexts", 200));
    let contexts = usize::try_from(contexts).expect("a count");
    let named = option("--only").unwrap_or_default();
    let models = Models::default();
    let patience = Patience::new(Some(Duration::from_secs(number("--limit", 10))), MEMORY);
    let refiner = Refiner { patience, ..Refiner::new(&models) };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("a folder that can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| *ending == *from))
        .filter(|path| path.to_string_lossy().contains(&named))
        .collect();
    files.sort();
    let started = Instant::now();
    let (mut judged, mut checked, mut withdrawn, mut undecided, mut refuted) = (0, 0, 0, 0, 0);
    for file in files {
        for pair in pairs(&file, &file.with_extension(&to)) {
            let verdict = judge(&pair, refiner).finding.verdict;
            if !matches!(verdict, Verdict::Preserved | Verdict::Stronger) {
                continue;
            }
            let how = Attack { seed, contexts, judged: &|_| true };
            let Some(Ok(attacked)) = attack(&pair, refiner, how) else { continue };
            judged += 1;
            checked += attacked.checked;
            withdrawn += attacked.withdrawn;
            undecided += attacked.undecided;
            if let Some(found) = attacked.refutation {
                refuted += 1;
                let race = if found.racy { ", where the source races" } else { "" };
                println!("{}: {verdict:?}, and refuted{race}: {}", pair.name, found.why);
                let parts = [found.context, found.outcome, found.forbidden, found.allowed];
                for part in parts.iter().flatten() {
                    println!("{part}");
                }
            }
        }
    }
    println!(
        "{judged} functions attacked in {:.0} s: {checked} contexts add no outcome, {withdrawn} say nothing, \
         {undecided} are undecided; {refuted} functions refuted",
        started.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(refuted > 0))
}
