//! The beginnings of executions, where paths are too many, or too long, to list them all soon.
//!
//! Some execution goes on as each of them does: reads that come later may return what was written last, and order nothing before them.
//! So what makes a program undefined in a beginning does so in an execution. Of outcomes, and of what there is besides, beginnings
//! say nothing.

use super::{Ends, PathCut, UnfoldLimit, Unfolded, Unfolding};
use crate::path::{LoopRule, Path, PathEnd};
use model::program::Program;
use model::rel::Conventions;

/// The most combinations of paths that are visited.
const MOST_COMBINATIONS: usize = 1024;

impl<'p> Unfolded<'p> {
    /// The paths up to the caller's limits and to where they are cut. `None` where what a thread does later may say more of a
    /// beginning.
    pub fn beginnings(
        program: &'p Program,
        conventions: Conventions,
        bound: u32,
        cut: PathCut,
        ends: Ends<'p>,
    ) -> Result<Option<Unfolded<'p>>, UnfoldLimit> {
        let mut lines = program.threads.iter().flat_map(|thread| &thread.lines);
        if conventions.semantic_dependencies
            || program.omits_covered
            || !program.launches.is_empty()
            || lines.any(|line| line.instruction.as_asynchronous().is_some())
        {
            return Ok(None);
        }
        let rule = LoopRule { cut: Some(cut), ..LoopRule::of(program, conventions, bound) };
        let facts = Unfolded::facts(program, conventions, ends)?;
        let unfolded = Unfolded::by_rule(program, conventions, rule, ends, &facts)?;
        let known = (0..program.threads.len())
            .all(|thread| unfolded.every(thread).all(super::beyond::waits_for_all));
        Ok(known.then_some(unfolded))
    }

    /// Visits the unfoldings of some beginnings, until `visit` returns false.
    pub fn visit_beginnings<'u>(
        &'u self,
        visit: &mut dyn FnMut(&Unfolding<'_>) -> bool,
    ) -> Result<(), UnfoldLimit> {
        // Short ones take little, and what is wrong often shows in them.
        let shortest_first = |(paths, cut): (&'u Vec<Path>, &'u Vec<Path>)| {
            let mut all: Vec<&Path> = paths.iter().chain(cut).collect();
            all.sort_by_key(|path| path.events.len());
            all
        };
        let lists: Vec<Vec<&Path>> = self.paths.iter().zip(&self.cut).map(shortest_first).collect();
        let mut combinations = 0;
        self.join(&lists, &mut |paths, placements| {
            combinations += 1;
            Ok(combinations <= MOST_COMBINATIONS && self.grouped(paths, placements, visit)?)
        })?;
        Ok(())
    }
}

/// Whether a thread of these goes on after its path.
pub(super) fn goes_on(paths: &[&Path]) -> bool {
    paths.iter().any(|path| path.end == PathEnd::Cut)
}
