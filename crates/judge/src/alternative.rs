//! The built-in model under other choices of readings.

use std::sync::OnceLock;

use model::ptx;
use model::reading::{Choice, Reading, Readings};
use model::rel::Model;

/// The built-in model with another choice for one reading.
pub struct Alternative {
    pub reading: &'static Reading,
    pub choice: &'static Choice,
    pub(crate) chosen: Readings,
    pub(crate) other: Readings,
    model: OnceLock<Model>,
}

impl Alternative {
    /// The model with this choice. It is built at its first use: most programs use few of them.
    pub fn model(&self) -> &Model {
        self.model.get_or_init(|| ptx::under(self.other))
    }
}

/// What to compare the model under these readings with.
pub fn alternatives(chosen: Readings) -> Vec<Alternative> {
    let with = |(reading, choice, other)| Alternative {
        reading,
        choice,
        chosen,
        other,
        model: OnceLock::new(),
    };
    chosen.others().map(with).collect()
}
