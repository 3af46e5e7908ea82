//! The terminal: failures with their reason, a summary, and with `-v` every test.

use std::io::{self, Write};

use litmus::Test;
use text::diagnostic::escaped;

use super::{Report, Summary, colour, exit_of};
use crate::engine::Race;
use crate::exit::Exit;
use crate::input::shown;
use crate::judge::{Judgement, Observation};
use crate::resting::Resting;
use crate::stuck;
use crate::suite::{Item, Outcome};

pub struct Text {
    pub verbose: bool,
}

impl Report for Text {
    fn item(&mut self, item: &Item, out: &mut dyn Write) -> io::Result<()> {
        match &item.outcome {
            Outcome::Judged { test, judgement } => self.judged(item, test, judgement, out),
            // Of inputs it is complained on the other stream.
            Outcome::Rejected(_) | Outcome::Unreadable(_) => Ok(()),
        }
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let total = summary.total();
        write!(out, "{total} {}: {} ok", if total == 1 { "test" } else { "tests" }, summary.ok)?;
        if summary.sometimes_stuck > 0 {
            let stuck = summary.sometimes_stuck;
            write!(out, " ({stuck} with executions that never finish: see -v)")?;
        }
        for (count, what) in [
            (summary.failed, "failed"),
            (summary.undecided, "undecided"),
            (summary.rejected, "not understood"),
            (summary.disagreements, "on which engines disagree"),
        ] {
            if count > 0 {
                write!(out, ", {count} {what}")?;
            }
        }
        let engines = summary.engines.join(", ");
        let agree = match (summary.engines.len(), summary.disagreements) {
            (2.., 0) if total > summary.rejected + summary.undecided => " agree",
            (2.., 1..) => " disagree",
            _ => "",
        };
        writeln!(out, "   ({engines}{agree}; {:.1} s)", summary.seconds)
    }
}

impl Text {
    fn judged(
        &self,
        item: &Item,
        test: &Test,
        judgement: &Judgement,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let exit = exit_of(item);
        if exit == Exit::AsExpected && !self.verbose {
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
        write!(out, "{style}{label}{style:#} {}", shown(&item.path))?;
        if let Some(complaint) = &judgement.complaint {
            write!(out, "   {complaint}")?;
        }
        writeln!(out)?;
        if self.verbose {
            verbose(judgement, out)?;
            for line in judgement.resting.iter().flat_map(Resting::lines) {
                writeln!(out, "      {line}")?;
            }
        }
        for note in &judgement.notes {
            writeln!(out, "      note: {}", note.text)?;
        }
        if let Some(disagreement) = &judgement.disagreement {
            writeln!(out, "      engines disagree: {disagreement}")?;
        }
        if exit == Exit::Undecided && judgement.found.seen.bound_reached {
            let advice = if stuck::is_endless(&judgement.found.seen) {
                "no --bound is enough for a loop that is repeated for ever; `causeway explore` shows whether some run ends"
            } else {
                "a larger --bound may decide it"
            };
            writeln!(out, "      {advice}")?;
        }
        if exit == Exit::Differs || exit == Exit::Disagreement {
            reason(test, judgement, out)?;
            writeln!(
                out,
                "      causeway explain {}",
                escaped(&quoted(&item.path.to_string_lossy()))
            )?;
        }
        if self.verbose {
            for race in &judgement.found.seen.races {
                writeln!(out, "      data race: {}", race_text(test, *race))?;
            }
        }
        Ok(())
    }
}

fn verbose(judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    if judgement.engines.is_empty() {
        return Ok(());
    }
    let observation = judgement.observation.map_or(judgement.verdict.name(), Observation::name);
    write!(
        out,
        "      {observation} {}/{}",
        judgement.positive,
        judgement.positive + judgement.negative
    )?;
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let outcomes = judgement.found.outcomes.len() as u64;
    write!(out, ", {outcomes} outcome{}", plural(outcomes))?;
    if let Some(executions) = judgement.found.seen.executions {
        write!(out, ", {executions} execution{}", plural(executions))?;
    }
    writeln!(out, ", {}", duration(judgement.seconds))
}

fn reason(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    if let Some(undefined) = &judgement.found.seen.undefined {
        let lines: Vec<String> = undefined
            .where_
            .iter()
            .map(|&(thread, line)| {
                let of = &test.program.threads[usize::from(thread.0)];
                format!("{}: `{}`", of.name, of.lines[usize::from(line)].text)
            })
            .collect();
        return writeln!(out, "      {}", lines.join(" and "));
    }
    if let Some(witness) = &judgement.found.witness {
        let outcome = test.display_outcome(&witness.outcome);
        let outcome = with_threads(outcome.trim_end_matches([';', ' ']));
        return writeln!(out, "      an execution ends with {outcome}");
    }
    Ok(())
}

/// herd names threads by number in conditions, `0:r1`; here they are named as in the table, `P0:r1`.
pub fn with_threads(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if c == ':' && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) {
            out.push('P');
        }
        out.push_str(&std::mem::take(&mut word));
        out.push(c);
    }
    out.pop();
    out
}

/// `P0: st.weak [x], 1  and  P1: ld.weak r0, [x]`.
pub fn race_text(test: &Test, race: Race) -> String {
    let show = |(thread, line): (model::program::ThreadId, u16)| {
        let of = &test.program.threads[usize::from(thread.0)];
        format!("{}: `{}`", of.name, of.lines[usize::from(line)].text)
    };
    format!("{} and {}", show(race.first), show(race.second))
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

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
