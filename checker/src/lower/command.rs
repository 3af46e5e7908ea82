//! Runs `causeway lower`: the compiler where one is requested, and the settings of the judge.

use std::io::{self, Write};
use std::time::Instant;

use engine::clock::Deadline;
use engine::exit::Exit;
use indicatif::ProgressBar;

use super::args::Lower;
use super::drive::llc;
use crate::complaints::complain_of;
use crate::{input, output, progress};

pub fn command(command: &Lower, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let (Some(llc), Some(from)) = (&command.llc, &command.from) else {
        return lowered(command, out, err);
    };
    // Also with `--to`: a compiler that fails may leave half of its output.
    let own = output::temporary()?;
    let made = own.path().join("made.ptx");
    if let Err(why) = llc::compile(llc, from, &made, command.arch.unwrap_or(LLC_ARCH)) {
        writeln!(err, "error: {}: {why}", input::shown(from))?;
        return Ok(Exit::BadInput);
    }
    if let Some(to) = &command.to {
        output::write(to, &input::read(&made)?)?;
    }
    let to = Some(command.to.clone().unwrap_or(made));
    let discards_target = command.to.is_none();
    lowered(&Lower { to, discards_target, ..command.clone() }, out, err)
}

/// The target of `llc` without `--arch`: the first one whose memory model PTX describes.
const LLC_ARCH: u16 = 70;

fn lowered(command: &Lower, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let models = refine::Models::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut contexts = Vec::new();
    let mut wrong = false;
    for text in &command.contexts {
        match refine::context::ContextShape::read(text) {
            Ok(context) => contexts.push(context),
            Err(errors) => {
                wrong = true;
                complain_of(&errors, err)?;
            }
        }
    }
    if wrong {
        return Ok(Exit::BadInput);
    }
    let setting = refine::JudgeSettings {
        refiner: refine::Refiner {
            tearing: !command.no_tearing,
            bound: command.bound,
            patience: refine::Patience::new(command.limits.timeout, command.limits.bytes()),
            deadline: command.total_timeout.map(|time| Deadline::at(Instant::now() + time)),
            contexts: &contexts,
            ..refine::Refiner::new(&models)
        },
        assumptions: refine::Assumptions { cas_only: command.cas_only },
        jobs: command.jobs.map_or(cores, usize::from),
    };
    let bar = |count: usize, what: &str| {
        if command.quiet { ProgressBar::hidden() } else { progress::of(count, what) }
    };
    super::judged(command, &setting, &bar, out, err)
}
