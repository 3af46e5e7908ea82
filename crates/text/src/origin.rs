//! Lines of the program from which a compiler made a file.

use std::collections::BTreeMap;

/// A line of the program, as debugging information names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// The origin of each line of a file, if the file has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins {
    /// From each of these lines on, up to the next one.
    starts: BTreeMap<usize, Option<Origin>>,
}

impl Origins {
    /// Sets the origin of a line, from 1, and of those after it. A compiler's own code has line 0.
    pub fn begin(&mut self, line: usize, origin: Option<Origin>) {
        self.starts.insert(line, origin.filter(|origin| origin.line > 0));
    }

    /// The origin of a line.
    pub fn of(&self, line: usize) -> Option<&Origin> {
        self.starts.range(..=line).next_back()?.1.as_ref()
    }
}

/// Of an inlined instruction's places, the innermost first and each inlined at the next one: the innermost place in the file
/// of the outermost. What a library has is where the program calls it.
pub fn in_file_of_outermost<P: Clone, F: PartialEq>(
    places: impl Iterator<Item = P>,
    file: impl Fn(&P) -> F,
) -> Option<P> {
    let places: Vec<P> = places.take(DEEPEST).collect();
    let outermost = file(places.last()?);
    places.into_iter().find(|place| file(place) == outermost)
}

/// No program inlines so deep; the places of a damaged file may lead into themselves.
const DEEPEST: usize = 256;
