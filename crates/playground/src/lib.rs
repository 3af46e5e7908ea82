//! The checker for browsers: one function from the text of a test to its answer.
//!
//! `playground/build` makes WebAssembly of it, and the page around that.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

use std::sync::LazyLock;

use answer::{AnswerLimits, AnswerSettings, LARGEST};
use model::ptx;
use model::reading::Readings;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::wasm_bindgen;

static SETTINGS: LazyLock<AnswerSettings> = LazyLock::new(|| {
    let readings = Readings::default();
    AnswerSettings::new(ptx::under(readings), Some(readings), AnswerLimits::default())
});

/// The answer to a test, as `causeway serve` gives it: JSON in one line.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
pub fn answer(test: &str) -> String {
    if test.len() > LARGEST {
        return "{\"error\":\"the test is larger than 128 KiB\"}".to_owned();
    }
    SETTINGS.answer(test.as_bytes())
}
