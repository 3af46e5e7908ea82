//! What is known of the accesses of a program before its paths are listed.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::accessed::Accessed;
use crate::agreed::Agreed;
use crate::apart::ApartBytes;
use crate::constants::Constants;
use crate::exchanges;
use crate::layout::Layout;
use crate::live::{AccessSizes, Liveness};
use crate::written::Written;
use model::program::{AccessEvents, Program, Thread, ThreadId};
use model::rel::Conventions;

/// What is known of the accesses of a program before paths are listed, where loops or exchanges between lanes ask for that, or nobody
/// looks at events. Its copies share all but what paths add to.
#[derive(Clone, Debug, Default)]
pub struct LoopFacts<'p> {
    pub accessed: Rc<Accessed<'p>>,
    pub agreed: Rc<Agreed>,
    pub sizes: Rc<AccessSizes>,
    pub written: Written,
    pub apart: Rc<ApartBytes>,
    /// Of each thread whose paths were listed.
    live: Rc<Vec<OnceCell<Rc<Liveness>>>>,
    /// Bytes that the constants take.
    held: usize,
}

impl<'p> LoopFacts<'p> {
    pub fn new(program: &'p Program, layout: &Layout, conventions: Conventions) -> LoopFacts<'p> {
        let loops = program.threads.iter().any(Thread::loops);
        let counts = loops || program.omits_covered;
        // It takes the axioms of chapter 8, and dependencies that pass through memory.
        let hides_apart = program.access_events == AccessEvents::OfInterest
            && conventions.silent_atomics
            && !conventions.counts_iterations
            && !conventions.semantic_dependencies;
        let exchanges = !conventions.semantic_dependencies && exchanges::exchanges(program);
        let live = Rc::new(vec![OnceCell::new(); program.threads.len()]);
        if !counts && !hides_apart && !exchanges {
            return LoopFacts { live, ..LoopFacts::default() };
        }
        let accessed = Rc::new(Accessed::new(program, layout));
        let held = accessed.constants.iter().map(Constants::taken).sum();
        let apart = Rc::new(if hides_apart {
            ApartBytes::new(program, layout, &accessed)
        } else {
            ApartBytes::default()
        });
        if !counts {
            return LoopFacts { accessed, apart, live, held, ..LoopFacts::default() };
        }
        let agreed = Rc::new(if loops && conventions.silent_atomics {
            Agreed::new(program, layout, &accessed)
        } else {
            Agreed::default()
        });
        let written = if loops && conventions.silent_atomics {
            Written::new(program, layout, &accessed, conventions)
        } else {
            Written::default()
        };
        let sizes = Rc::new(AccessSizes::of(program, &accessed));
        LoopFacts { accessed, agreed, sizes, written, apart, live, held }
    }

    /// What is live in a thread, computed once: of a long one it takes long.
    pub fn liveness(&self, program: &Program, layout: &Layout, id: ThreadId) -> Rc<Liveness> {
        let of = &self.live[usize::from(id.0)];
        Rc::clone(of.get_or_init(|| Rc::new(Liveness::new(program, layout, self, id))))
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        let live = self.live.iter().filter_map(OnceCell::get).map(|live| live.bytes());
        self.held + live.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use model::scope::Placement;

    use super::*;

    #[test]
    fn copies_share_what_is_live() {
        let (placement, registers, lines) = (Placement::default(), Vec::new(), Vec::new());
        let thread = Thread { name: "P0".to_owned(), placement, registers, lines };
        let program = Program { threads: vec![thread], ..Program::default() };
        let layout = Layout::new(&program);
        let facts = LoopFacts::new(&program, &layout, Conventions::default());
        let live = |of: &LoopFacts<'_>| of.liveness(&program, &layout, ThreadId(0));
        assert!(Rc::ptr_eq(&live(&facts.clone()), &live(&facts)));
    }
}
