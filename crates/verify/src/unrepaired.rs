//! Why there is no repair: none was looked for, or none was found.

use judge::Property;

use crate::finding::KernelFinding;

/// What a search for repairs came to that found none.
#[derive(Debug, Default)]
pub(crate) struct FruitlessSearch {
    /// The first limit that was reached, in words.
    limit: Option<String>,
    /// Why nothing can be changed.
    excluded: Option<String>,
    /// Whether edits of the test could not be written in the module.
    unwritten: bool,
    /// Whether the module with edits was not known to have what it lacks.
    refused: bool,
}

impl FruitlessSearch {
    pub(crate) fn reach(&mut self, limit: String) {
        self.limit.get_or_insert(limit);
    }

    pub(crate) fn exclude(&mut self, why: String) {
        self.excluded.get_or_insert(why);
    }

    pub(crate) fn note_unwritten(&mut self) {
        self.unwritten = true;
    }

    pub(crate) fn note_refused(&mut self) {
        self.refused = true;
    }

    /// `brief`: whether another search would be longer.
    fn in_words(&self, brief: bool) -> String {
        let why = if let Some(limit) = &self.limit {
            format!("the search ended at a limit: {limit}")
        } else if let Some(why) = &self.excluded {
            format!("edits were not tried: {why}")
        } else if self.refused {
            "the module with the edits that suffice in its test is not known to have what it lacks"
                .to_owned()
        } else if self.unwritten {
            "the edits that suffice cannot be written in the lines of the module".to_owned()
        } else {
            "no edit of orders, scopes, fences, barriers and waits that was tried suffices"
                .to_owned()
        };
        let longer = if brief && self.excluded.is_none() { LONGER } else { "" };
        format!("none was found: {why}{longer}")
    }
}

/// What looks for more than a search that nobody asked for.
const LONGER: &str = "; `--repair` looks for longer";

/// Why a launch with these findings has no repair. `lacking`: what a search was for; `None` if the kernel has no meaning. `brief`: whether
/// nobody asked for repairs; then that none was looked for is not said.
pub(crate) fn reason(
    findings: &[KernelFinding],
    lacking: Option<&[Property]>,
    search: &FruitlessSearch,
    brief: bool,
) -> Option<String> {
    let kind = |of: &dyn Fn(&&KernelFinding) -> bool| {
        findings.iter().find(of).map_or("undefined", |finding| finding.kind.name())
    };
    let not_looked_for = match lacking {
        None => format!(
            "none was looked for: with `{}` the kernel has no meaning, and edits of orders, fences and barriers are not looked for then",
            kind(&|finding| finding.kind.takes_meaning())
        ),
        Some([]) => format!(
            "none was looked for: there are repairs of races, assertions and hangs that show in all executions of the test, and `{}` is none of these here",
            kind(&|_| true)
        ),
        Some(_) => return Some(search.in_words(brief)),
    };
    (!brief).then_some(not_looked_for)
}
