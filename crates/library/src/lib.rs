//! Litmus tests of the memory model of NVIDIA GPUs, judged from Rust.
//!
//! This is the interface for other programs; the other crates of Causeway are internal and may change in any release.
//!
//! ```
//! use causeway::{Model, ParseError, Test, Verdict};
//!
//! const MP: &str = r"PTX MP
//! {
//! x=0; flag=0;
//! }
//!  P0@cta 0,gpu 0               | P1@cta 1,gpu 0                ;
//!  st.weak.u32 [x], 1           | ld.acquire.gpu.u32 r0, [flag] ;
//!  st.release.gpu.u32 [flag], 1 | ld.weak.u32 r1, [x]           ;
//! exists (1:r0=1 /\ 1:r1=0)
//! ";
//!
//! fn main() -> Result<(), ParseError> {
//!     let test = Test::parse(MP)?;
//!     let answer = test.judge(&Model::ptx());
//!     assert_eq!(answer.verdict(), Verdict::Fails);
//!     for outcome in answer.outcomes() {
//!         println!("flag was {}, x was {}", outcome["1:r0"], outcome["1:r1"]);
//!     }
//!     assert_eq!(answer.outcomes().len(), 3);
//!     Ok(())
//! }
//! ```

mod answer;
mod error;

use judge::{Task, judge};
use model::cxx::ReleaseSequence;

pub use answer::{Answer, Outcome, Outcomes, Verdict};
pub use engine::exit::Exit;
pub use error::{Mistake, ParseError};
/// A value of a register or of memory, not extended: its type is that of the test.
pub use model::value::Value;

/// A memory model.
#[derive(Clone, Debug)]
pub struct Model {
    model: model::rel::Model,
    /// What tests of C++ are judged by.
    cxx: Option<model::rel::Model>,
}

impl Model {
    /// The memory model of PTX, by which SASS is judged, too; a test of C++ by that of C++20 with scopes.
    pub fn ptx() -> Model {
        let cxx = Some(model::cxx::model(ReleaseSequence::Cpp20));
        Model { model: model::ptx::model(), cxx }
    }

    /// The model of a text in cat, the language of herd. Built-in files may be included, such as `cos.cat`.
    ///
    /// # Errors
    /// All mistakes of the text.
    pub fn from_cat(text: &str) -> Result<Model, ParseError> {
        let model = cat::import("model.cat", text).map_err(ParseError::new)?;
        Ok(Model { model, cxx: None })
    }

    /// `ptx` or, of a text, the name that it gives itself.
    pub fn name(&self) -> &str {
        &self.model.name
    }
}

/// A litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test(litmus::Test);

impl Test {
    /// Reads a test: `docs/litmus-format.md`.
    ///
    /// # Errors
    /// All mistakes of the text.
    pub fn parse(text: &str) -> Result<Test, ParseError> {
        litmus::parse("test.litmus", text.as_bytes()).map(Test).map_err(ParseError::new)
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The condition with its quantifier; names are those of [`Test::observed`].
    pub fn condition(&self) -> &str {
        &self.0.condition_text
    }

    /// What is observed of an execution, in the order of an [`Outcome`]: `1:r0`, `[x]`.
    pub fn observed(&self) -> Vec<String> {
        answer::names(&self.0)
    }

    /// Judges the test by the engine `enumerate`, without a limit of time. What the test states of axioms and readings
    /// (`Forbidden-by=`, `Readings=`) is not checked.
    pub fn judge(&self, model: &Model) -> Answer<'_> {
        self.judge_within(model, &Limits::default())
    }

    /// The same within limits. Where one is reached the verdict may be [`Verdict::Undecided`].
    pub fn judge_within(&self, model: &Model, limits: &Limits) -> Answer<'_> {
        let task = Task {
            cxx: model.cxx.as_ref(),
            bound: limits.bound,
            timeout: limits.timeout,
            memory: limits.memory,
            counts: false,
            ..Task::new(&model.model)
        };
        Answer::new(&self.0, judge(&self.0, &task))
    }
}

/// How far a test is followed.
///
/// ```
/// let mut limits = causeway::Limits::default();
/// limits.bound = 3;
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many times a loop body is executed at most.
    pub bound: u32,
    /// Processor time; `None`: no limit.
    pub timeout: Option<std::time::Duration>,
    /// In bytes.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bound: judge::BOUND, timeout: None, memory: engine::MEMORY }
    }
}
