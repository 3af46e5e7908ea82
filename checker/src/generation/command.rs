//! Reads the cycles of the command line, and prints, writes, counts or judges their tests.

use std::io::{self, Write};
use std::time::Instant;

use engine::clock::Deadline;
use engine::exit::Exit;
use engine::{Engine, Limits, interrupt};
use generate::question::AnswerTally;
use model::rel::Model;

use super::args::Gen;
use super::frontiers::{self, FrontierJob};
use super::work::{ComparedEngines, CycleSource, DonePiece, GeneratedTest, Job};
use crate::input::shown;
use crate::output::OutputFolder;
use crate::progress;
use crate::report::count_of;

/// The number of choices of each frontier that are judged again under a model of one's own.
const SPOT_CHECKS: usize = 64;

/// Tests that are written or printed, at most.
const MOST_WRITTEN: u128 = 1_000_000;

/// Generates tests. Undecided tests and disagreeing engines determine the exit code.
pub fn command(
    command: &Gen,
    model: &Model,
    engines: &[&'static dyn Engine],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let Some(space) = command.requested.space(err)? else { return Ok(Exit::BadInput) };
    if command.count {
        writeln!(out, "{}", space.count())?;
        return Ok(Exit::AsExpected);
    }
    let bound = command.judging.bound;
    let limits = || Limits {
        bound,
        deadline: command.limits.timeout.map(Deadline::after),
        memory: command.limits.bytes(),
        unending: false,
        work: None,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = command.jobs.map_or(cores, usize::from);
    if command.frontier {
        let checks = if command.judging.model.is_some() { SPOT_CHECKS } else { 0 };
        let asked = FrontierJob { model, engines, limits: &limits, jobs, checks };
        return frontiers::print(&space, &asked, out, err);
    }
    let source = match command.sample {
        Some(count) => CycleSource::Drawn(space.sample(count as usize, command.seed)),
        None => CycleSource::All(&space),
    };
    let text = command.out.is_some() || command.list || !command.check;
    if text && command.sample.is_none() && space.count() > MOST_WRITTEN {
        writeln!(
            err,
            "error: there are {} tests, and at most {MOST_WRITTEN} are printed",
            space.count()
        )?;
        writeln!(err, "help: --count counts them, --check judges them, --sample 1000 draws some")?;
        return Ok(Exit::BadInput);
    }
    let job = Job {
        model,
        engines: if command.check { engines } else { &[] },
        limits: &limits,
        text,
        jobs,
    };
    let folder = command.out.as_deref().map(OutputFolder::create).transpose()?;
    let start = Instant::now();
    let mut written = WrittenTests { command, folder, names: Vec::new(), first: true };
    let mut tally = AnswerTally::default();
    let mut disagreement = None;
    let mut compared = ComparedEngines::default();
    let judged = usize::try_from(space.labelled()).unwrap_or(usize::MAX);
    let bar = progress::of(if command.check { judged } else { 0 }, "tests");
    source.run(&job, &mut |piece| {
        let Some(DonePiece { tests, tally: more, disagreement: other, compared: answers }) = piece
        else {
            return Ok(());
        };
        bar.inc(more.total());
        tally.join(&more);
        compared.join(&answers);
        disagreement = disagreement.take().or(other);
        progress::above(&bar, out, |out| tests.iter().try_for_each(|test| written.one(test, out)))
    })?;
    bar.finish_and_clear();
    written.end(out)?;
    if command.check {
        let seconds = start.elapsed().as_secs_f64();
        sum(&tally, &compared.text(engines, disagreement.is_some()), seconds, out)?;
    }
    if interrupt::raised() {
        writeln!(err, "interrupted: not every test is generated")?;
    }
    Ok(match disagreement {
        Some(words) => {
            writeln!(err, "error: engines disagree: {words}")?;
            Exit::Disagreement
        }
        None if tally.undecided > 0 => Exit::Undecided,
        None => Exit::AsExpected,
    })
}

/// What is done with the text of tests.
struct WrittenTests<'a> {
    command: &'a Gen,
    folder: Option<OutputFolder>,
    /// Of the files.
    names: Vec<String>,
    first: bool,
}

impl WrittenTests<'_> {
    fn one(&mut self, test: &GeneratedTest, out: &mut dyn Write) -> io::Result<()> {
        let answer = test.answer.as_ref().map_or(String::new(), |answer| format!(": {answer}"));
        if let Some(folder) = &mut self.folder {
            let name = file_name(&test.name, self.names.len());
            folder.write(name.clone(), test.text.as_bytes())?;
            self.names.push(name);
        } else if self.command.list {
            writeln!(out, "{}{answer}\t{}", test.name, test.words)?;
        } else {
            let separator = if self.first { "" } else { "\n" };
            write!(out, "{separator}{}", test.text)?;
        }
        self.first = false;
        Ok(())
    }

    /// Writes the index of the files.
    fn end(self, out: &mut dyn Write) -> io::Result<()> {
        let (Some(folder), Some(mut written)) = (&self.command.out, self.folder) else {
            return Ok(());
        };
        written.write("@all".to_owned(), (self.names.join("\n") + "\n").as_bytes())?;
        written.commit()?;
        writeln!(out, "{} written to {}", count_of(self.names.len() as u64, "test"), shown(folder))
    }
}

/// The name of a file. What is too long for a file system is cut, and has the number of the test.
fn file_name(test: &str, number: usize) -> String {
    const LONGEST: usize = 240;
    const KEPT: usize = 200;
    if test.len() <= LONGEST {
        return format!("{test}.litmus");
    }
    let kept: String = test.chars().take(KEPT).collect();
    format!("{kept}+and-more-{number}.litmus")
}

/// How many tests are allowed and forbidden.
fn sum(tally: &AnswerTally, engines: &str, seconds: f64, out: &mut dyn Write) -> io::Result<()> {
    let mut parts =
        vec![format!("{} allowed", tally.allowed), format!("{} forbidden", tally.forbidden)];
    for (count, what) in
        [(tally.stuck, "stuck"), (tally.undefined, "undefined"), (tally.undecided, "undecided")]
    {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    let (total, parts) = (count_of(tally.total(), "test"), parts.join(", "));
    writeln!(out, "{total}: {parts}   ({engines}; {seconds:.1} s)")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_files_are_not_too_long() {
        assert_eq!(file_name("MP+pos+at-gpu", 7), "MP+pos+at-gpu.litmus");
        let long = "WR+".repeat(100);
        let [one, other] = [7, 8].map(|number| file_name(&long, number));
        assert!(one.len() < 255 && one != other, "{one}");
    }
}
