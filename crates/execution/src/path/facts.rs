//! What is known of the accesses of a program before its paths are listed.

use crate::accessed::Accessed;
use crate::agreed::Agreed;
use crate::layout::Layout;
use crate::live::AccessSizes;
use crate::written::Written;
use model::program::{Program, Thread};
use model::rel::Conventions;

/// What is known of the accesses of a program before paths are listed, where loops ask for that.
#[derive(Debug, Default)]
pub struct LoopFacts<'p> {
    pub accessed: Accessed<'p>,
    pub agreed: Agreed,
    pub sizes: AccessSizes,
    pub written: Written,
}

impl<'p> LoopFacts<'p> {
    pub fn new(program: &'p Program, layout: &Layout, conventions: Conventions) -> LoopFacts<'p> {
        let loops = program.threads.iter().any(Thread::loops);
        if !loops && !program.omits_covered {
            return LoopFacts::default();
        }
        let accessed = Accessed::new(program, layout);
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
        LoopFacts { agreed, sizes: AccessSizes::of(program, &accessed), written, accessed }
    }
}
