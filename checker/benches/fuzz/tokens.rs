//! Tests and modules whose tokens changed, and all that commands do with what can still be read.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use ::explore::ExploreLimits;
use answer::{AnswerLimits, AnswerSettings};
use engine::clock::Deadline;
use generate::export::{ExportFormat, export};
use litmus::revise::SourceTest;
use litmus::{Dialect, Test};
use model::reading::Readings;
use reach::one::{self, ExploreQuestion};
use refine::function::{judge, paired};
use refine::refiner::{Models, Patience, Refiner};
use repair::{RepairOptions, repair};
use sass::lower::Lowering;

use crate::choices::Choices;

/// What each step may take: so little that most cases end by themselves.
const TIME: Duration = Duration::from_millis(100);
const MEMORY: usize = 16 << 20;
const BOUND: u32 = 2;

/// Numbers at the ends of widths, and a little beyond.
const EDGES: &[&str] = &[
    "0",
    "-1",
    "1",
    "31",
    "32",
    "255",
    "256",
    "65536",
    "1048576",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967298",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
];

/// A text as words, numbers, signs and blanks.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '%' | '$');
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let alike =
            |c: char| is_word(first) && is_word(c) || first.is_whitespace() && c.is_whitespace();
        let end = rest.find(|c| !alike(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, tail) = rest.split_at(end);
        all.push(token);
        rest = tail;
    }
    all
}

/// Deletes, doubles and exchanges tokens, and replaces them by others of the corpus or by numbers.
pub(crate) fn changed(text: &str, other: &str, c: &mut Choices<'_>) -> Vec<u8> {
    let (mut all, others) = (tokens(text), tokens(other));
    let is_blank = |token: &str| token.starts_with(char::is_whitespace);
    let is_number = |token: &str| token.starts_with(|c: char| c.is_ascii_digit());
    for _ in 0..=c.below(3) {
        let places: Vec<usize> = (0..all.len()).filter(|at| !is_blank(all[*at])).collect();
        let numbers: Vec<usize> = places.iter().copied().filter(|at| is_number(all[*at])).collect();
        if places.is_empty() {
            break;
        }
        let (at, to) = (c.of(&places), c.of(&places));
        match c.below(8) {
            0 => drop(all.remove(at)),
            1 => all.insert(at, all[to]),
            2 => all.swap(at, to),
            3 => all[at] = all[to],
            4 if !others.is_empty() => all[at] = c.of(&others),
            // A part of an instruction or of a list, once more.
            5 => {
                let end = all.len().min(at + 1 + c.below(12));
                let piece: Vec<&str> = all[at..end].to_vec();
                all.splice(to..to, piece);
            }
            _ if !numbers.is_empty() => all[c.of(&numbers)] = c.of(EDGES),
            _ => all[at] = c.of(EDGES),
        }
    }
    all.concat().into_bytes()
}

/// A step that ends soon, whatever its input.
fn within<T>(name: &dyn Debug, steps: u32, step: impl FnOnce() -> T) -> Result<T, String> {
    let start = Instant::now();
    let result = step();
    let (took, most) = (start.elapsed(), 20 * steps * TIME);
    if took > most {
        Err(format!("{name:?} takes {took:.1?}, more than {most:.1?}"))
    } else {
        Ok(result)
    }
}

/// A test: `check` and `explain` with their page, `explore` with runs and a comparison, `fix`, `export`, and `lower` of the
/// kernel against itself.
pub(crate) fn test(bytes: &[u8]) -> Result<(), String> {
    let Ok(test) = litmus::parse("f.litmus", bytes) else { return Ok(()) };
    let model = model::ptx::model();
    let limits = AnswerLimits { bound: BOUND, timeout: TIME, memory: MEMORY };
    let settings = AnswerSettings::new(model.clone(), Some(Readings::default()), limits);
    within(&"check and explain", 4, || settings.answer(bytes))?;
    for format in
        [ExportFormat::Dat3m, ExportFormat::HerdLisa, ExportFormat::Cuda, ExportFormat::Ptx]
    {
        let written = within(&format, 1, || export(&test, format))?;
        if let (ExportFormat::Ptx, Ok(written)) = (format, written) {
            functions(written.as_bytes())?;
        }
    }
    if test.dialect == Dialect::Cxx || test.program.unsupported().is_some() {
        return Ok(());
    }
    runs(&test, &model)?;
    let Ok(source) = SourceTest::read("f.litmus", bytes) else {
        return Err("it is read, and then it is not".to_owned());
    };
    let until = Some(Deadline::after(TIME));
    let options = RepairOptions {
        bound: BOUND,
        questions: 30,
        until,
        memory: MEMORY,
        ..RepairOptions::new(&model)
    };
    within(&"fix", 2, || repair(&source, &options)).map(drop)
}

fn runs(test: &Test, model: &model::rel::Model) -> Result<(), String> {
    let own = test.sass.as_ref().and_then(litmus::SassTarget::lowering);
    for lowering in [own, Lowering::of(90), Lowering::of(50)].into_iter().flatten() {
        let limits = ExploreLimits { memory: MEMORY, ..ExploreLimits::states(20_000) };
        let question = ExploreQuestion {
            model,
            check: true,
            bound: BOUND,
            options: machine::Options::default(),
            limits,
            walks: None,
            runs: true,
        };
        within(&"explore", 4, || {
            let until = Some(Deadline::after(TIME));
            let judged = one::axioms(test, &question, until);
            for judged in [None, judged.as_ref()] {
                let ran = one::run(test, judged, lowering, &question, until);
                ran.notes(test);
                ran.verdict(test);
            }
        })?;
    }
    Ok(())
}

/// A module, each of whose functions is its own lowering.
pub(crate) fn functions(bytes: &[u8]) -> Result<(), String> {
    let (Some(module), _) = ptx::read("f.ptx", bytes) else { return Ok(()) };
    let models = Models::default();
    let patience = Patience::new(Some(TIME), MEMORY);
    for pair in paired(lift::module::functions(&module), lift::module::functions(&module)) {
        let deadline = Some(Deadline::after(TIME));
        let refiner = Refiner { patience, deadline, ..Refiner::new(&models) };
        within(&"lower", 4, || judge(&pair, refiner))?;
    }
    Ok(())
}
