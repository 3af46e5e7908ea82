//! What is known of the accesses of a program before its paths are listed.

use crate::accessed::Accessed;
use crate::agreed::Agreed;
use crate::apart::ApartBytes;
use crate::exchanges;
use crate::layout::Layout;
use crate::live::AccessSizes;
use crate::written::Written;
use model::program::{AccessEvents, Program, Thread};
use model::rel::Conventions;

/// What is known of the accesses of a program before paths are listed, where loops or exchanges between lanes ask for that, or nobody
/// looks at events.
#[derive(Debug, Default)]
pub struct LoopFacts<'p> {
    pub accessed: Accessed<'p>,
    pub agreed: Agreed,
    pub sizes: AccessSizes,
    pub written: Written,
    pub apart: ApartBytes,
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
        if !counts && !hides_apart && !exchanges {
            return LoopFacts::default();
        }
        let accessed = Accessed::new(program, layout);
        let apart = if hides_apart {
            ApartBytes::new(program, layout, &accessed)
        } else {
            ApartBytes::default()
        };
        if !counts {
            return LoopFacts { accessed, apart, ..LoopFacts::default() };
        }
        let agreed = if loops && conventions.silent_atomics {
            Agreed::new(program, layout, &accessed)
        } else {
            Agreed::default()
        };
        let written = if loops && conventions.silent_atomics {
            Written::new(program, layout, &accessed, conventions)
        } else {
            Written::default()
        };
        let sizes = AccessSizes::of(program, &accessed);
        LoopFacts { accessed, agreed, sizes, written, apart }
    }
}
