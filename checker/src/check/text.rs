//! The terminal format of test results: failures with their reason, and with `-v` every test.

use std::io::{self, Write};

use engine::exit::Exit;
use judge::headline::Headline;
use judge::words::{race_text, undefined_places, with_threads};
use judge::{CLUSTER_EXITED, Judgement, LargerBound, Observation, Property, Resting, read_text};
use litmus::Test;
use model::program::Thread;
use text::escape::escaped;

use crate::input::shown;
use crate::report::{colour, count_of};
use crate::suite::SuiteItem;

pub(super) fn judged(
    item: &SuiteItem,
    test: &Test,
    judgement: &Judgement,
    help: Option<&str>,
    verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (path, exit) = (&item.path, judgement.exit());
    if exit == Exit::AsExpected && !verbose {
        return Ok(());
    }
    let label = match exit {
        Exit::AsExpected => " ok  ",
        Exit::Differs => " FAIL",
        Exit::Undecided => " ?   ",
        Exit::BadInput => " BAD ",
        Exit::Disagreement => " BUG ",
    };
    let style = colour::of(exit);
    write!(out, "{style}{label}{style:#} {}", shown(path))?;
    if !item.has_path() {
        write!(out, " {}", escaped(&test.name))?;
    }
    let headline = Headline::new(test, judgement);
    let style = colour::of_answer(headline.answer);
    writeln!(out, "   {style}{}{style:#}", escaped(&headline.to_string()))?;
    if let Some(complaint) = judgement.complaint.as_ref().filter(|_| !judgement.is_plain()) {
        writeln!(out, "      {complaint}")?;
    }
    if verbose {
        test.doc.iter().try_for_each(|line| writeln!(out, "      \"{}\"", escaped(line)))?;
        counts(judgement, out)?;
        for line in judgement.resting.iter().flat_map(Resting::lines) {
            writeln!(out, "      {line}")?;
        }
    }
    for note in judgement.notes.iter().filter(|note| verbose || note.code != CLUSTER_EXITED) {
        writeln!(out, "      note: {}", note.text)?;
    }
    if let Some(disagreement) = &judgement.disagreement {
        writeln!(out, "      engines disagree: {disagreement}")?;
    }
    if exit == Exit::Undecided && judgement.found.seen.bound_reached {
        bound(test, judgement, out)?;
    }
    if exit == Exit::Differs || exit == Exit::Disagreement {
        reason(test, judgement, out)?;
        if let Some(help) = help {
            writeln!(out, "      {}", escaped(help))?;
        }
    }
    if verbose || judgement.property == Property::NoDataRace {
        for race in &judgement.found.seen.races {
            writeln!(out, "      data race: {}", race_text(test, *race))?;
        }
    }
    for &read in &judgement.found.seen.uninitialised {
        writeln!(out, "      uninitialised read: {}", read_text(test, read))?;
    }
    Ok(())
}

/// Whether a larger bound decides a test whose loop was cut at its bound.
fn bound(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    let barrier = || test.program.threads.iter().any(Thread::repeats_barrier);
    match judgement.larger {
        Some(LargerBound::Decides(bound)) => writeln!(out, "      --bound {bound} decides it"),
        Some(LargerBound::Leaves(last)) => {
            writeln!(out, "      no --bound up to {last} decides it")?;
            if barrier() {
                writeln!(
                    out,
                    "      a loop with a barrier, or an exchange between lanes, is followed --bound times unless it changes nothing: where it \
                     waits for another thread at a barrier, wait in a loop before the barrier"
                )?;
            }
            Ok(())
        }
        Some(LargerBound::Unknown) => {
            writeln!(out, "      whether a larger --bound decides it is not known")
        }
        None if judgement.found.seen.is_endless() => writeln!(
            out,
            "      no value of --bound is large enough for a loop that is repeated for ever; `causeway explore` shows whether some \
             run ends"
        ),
        None => Ok(()),
    }
}

/// The outcomes, a line for each; those with which the condition is true have a star. Where executions are counted,
/// each line begins with their number.
pub(super) fn outcomes(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    let counted = judgement.found.seen.executions.is_some();
    for (outcome, executions) in &judgement.found.outcomes {
        let holds = test.proposition.holds(&test.program, outcome);
        let mark = if holds { '*' } else { ' ' };
        let shown = test.display_outcome(outcome);
        let count = if counted { format!("{executions:>6} ") } else { String::new() };
        writeln!(out, "    {count}{mark} {}", with_threads(shown.trim_end_matches([';', ' '])))?;
    }
    Ok(())
}

fn counts(judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    if judgement.engines.is_empty() {
        return Ok(());
    }
    let observation = judgement.observation.map_or(judgement.verdict.name(), Observation::name);
    write!(out, "      {}", judgement.with_counts(observation))?;
    if judgement.found.directed {
        return writeln!(out, ", verdict only, {}", duration(judgement.seconds));
    }
    write!(out, ", {}", count_of(judgement.found.outcomes.len(), "outcome"))?;
    if let Some(executions) = judgement.found.seen.executions {
        write!(out, ", {}", count_of(executions, "execution"))?;
    }
    writeln!(out, ", {}", duration(judgement.seconds))
}

fn reason(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    if let Some(undefined) = &judgement.found.seen.undefined {
        return writeln!(out, "      {}", undefined_places(test, undefined).join(" and "));
    }
    if let Some(witness) = &judgement.found.witness {
        let outcome = test.display_outcome(&witness.outcome);
        let outcome = with_threads(outcome.trim_end_matches([';', ' ']));
        return writeln!(out, "      an execution ends with {outcome}");
    }
    Ok(())
}

fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_loop_with_a_barrier_is_told_from_one_that_only_waits() {
        let repeats = |first: &str, second: &str| {
            let text = format!(
                "PTX wait\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n {first} ;\n setp.ne.u32 q, r0, 1 ;\n {second} ;\n @p bra L ;\nexists (P0:r0=1)\n"
            );
            let parsed = litmus::parse("wait", text.as_bytes()).expect("it is a test");
            parsed.program.threads[0].repeats_barrier()
        };
        let load = "ld.acquire.gpu.u32 r0, [x]";
        assert!(repeats(&format!("L: {load}"), "bar.red.and.pred p, 0, q"));
        assert!(!repeats(&format!("bar.sync 0 ;\n L: {load}"), "not.pred p, q"));
    }
}
