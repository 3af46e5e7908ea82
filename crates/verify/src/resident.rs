//! Launches of which only some CTAs run at once. Reading R113.
//!
//! A CTA that is not resident starts when another one ends. So an execution hangs if as many CTAs as can be resident never
//! end, whatever others have ended before: those are the CTAs of a smaller launch, in which the rest has not started.

use std::collections::BTreeSet;

use engine::MOST_TOGETHER;
use itertools::Itertools;
use judge::{Property, Task, judge};
use model::program::{Stuck, ThreadId};

use crate::compose::{ComposedLaunch, launched};
use crate::finding::KernelFinding;
use crate::launch::{LaunchError, LaunchSpec, ThreadChoice, ThreadPlace};
use crate::module::KernelModule;
use crate::unknown::UncomputedValues;
use crate::verification::Reader;

/// The most sets of CTAs that are tried.
const MOST: usize = 64;

/// A hang of CTAs that wait for one that is not resident, and whether all sets of CTAs were tried.
pub(crate) struct ResidentHang {
    pub(crate) hang: Option<KernelFinding>,
    pub(crate) complete: bool,
}

/// Looks for a set of CTAs that never end while the rest has not started.
pub(crate) fn hang(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
    resident: u32,
    task: &Task<'_>,
) -> Result<ResidentHang, Vec<LaunchError>> {
    let places = launch.places().map_err(|error| vec![error])?;
    let ctas: BTreeSet<u32> = places.iter().map(|place| place.cta).collect();
    let mut all = ResidentHang { hang: None, complete: true };
    let least = (resident as usize).max(1);
    let sets = (least..ctas.len()).flat_map(|size| ctas.iter().copied().combinations(size));
    for (tried, started) in sets.enumerate() {
        if tried == MOST || task.until.is_some_and(|until| until.is_over()) {
            all.complete = false;
            break;
        }
        let part = StartedCtas { places: &places, started: &started, resident };
        match part.hang(module, launch, task)? {
            Some(judged) if judged.hang.is_some() => return Ok(judged),
            Some(judged) => all.complete &= judged.complete,
            None => all.complete = false,
        }
    }
    Ok(all)
}

/// Some CTAs of a launch, while the others have not started.
struct StartedCtas<'s> {
    /// All threads of the launch that are in its test.
    places: &'s [ThreadPlace],
    started: &'s [u32],
    resident: u32,
}

impl StartedCtas<'_> {
    /// Looks for an execution in which as many of them as can be resident never end; `None` if they have no test.
    fn hang(
        &self,
        module: &KernelModule<'_>,
        launch: &LaunchSpec,
        task: &Task<'_>,
    ) -> Result<Option<ResidentHang>, Vec<LaunchError>> {
        let StartedCtas { places, started, resident } = *self;
        let own = places.iter().filter(|place| started.contains(&place.cta));
        let part = LaunchSpec {
            threads: ThreadChoice::Pairs(own.copied().collect()),
            assertions: Vec::new(),
            resident: None,
            ..launch.clone()
        };
        let ComposedLaunch { composed, test } = launched(module, &part)?;
        let Ok(test) = test else { return Ok(None) };
        let task = Task { property: Property::Termination, verdict_only: false, ..task.clone() };
        let found = judge(&test, &task).found;
        let seen = &found.seen;
        let cta = |thread: &ThreadId| composed.threads[usize::from(thread.0)].place.cta;
        let fill = |threads: &&BTreeSet<ThreadId>| {
            let waiting: BTreeSet<u32> = threads.iter().map(cta).collect();
            waiting.len() >= resident as usize
        };
        let complete = found.is_complete() && seen.stuck_together.len() < MOST_TOGETHER;
        let Some(waiting) = seen.stuck_together.iter().find(fill) else {
            return Ok(Some(ResidentHang { hang: None, complete }));
        };
        let stuck = seen.stuck.iter().flatten().filter(|stuck| waiting.contains(&stuck.thread));
        let stuck: Vec<Stuck> = stuck.copied().collect();
        let uncomputed = UncomputedValues::default();
        let reader = Reader { composed: &composed, test: &test, uncomputed: &uncomputed };
        let Ok(mut finding) = reader.hang(&stuck) else {
            return Ok(Some(ResidentHang { hang: None, complete: false }));
        };
        // Places name threads of the whole launch.
        for place in &mut finding.places {
            let of = place.column.map(|column| composed.threads[column].place);
            place.column = places.iter().position(|known| Some(*known) == of);
        }
        let all: BTreeSet<u32> = places.iter().map(|place| place.cta).collect();
        let others: Vec<String> =
            all.iter().filter(|cta| !started.contains(cta)).map(u32::to_string).collect();
        finding.message = format!(
            "with {resident} resident CTAs, CTA {} does not start: {}",
            others.join(", "),
            finding.message
        );
        Ok(Some(ResidentHang { hang: Some(finding), complete }))
    }
}
