//! The properties of the language of a source. Each language has a file here and an entry in `ALL`.

mod cxx;
mod ptx;

use std::ops::Deref;

use ::ptx::version::Target;
use lift::function::Language;
use model::isa::fence::FenceOrder;
use model::rel::Model;
use model::scope::Scope;
use sass::lowering::LoweringTable;

use crate::refiner::Models;
use crate::row::{Assumptions, LoweredRow, RowResult};
use crate::row_question::PreparedRow;
use crate::step::Step;
use crate::witness::WitnessAccess;

/// The language of a lowering's source. A target, which has the PTX model, uses this trait too.
pub trait SourceLanguage: Sync {
    /// The first word of a litmus test in the language, which identifies it.
    fn name(&self) -> &'static str;

    /// The model of the language. With `torn`, scalars may tear in PTX.
    fn model<'m>(&self, models: &'m Models, torn: bool) -> &'m Model;

    /// Whether scalars may tear in a race.
    fn tears(&self) -> bool;

    /// Whether accesses may be `seq_cst`.
    fn has_seq_cst(&self) -> bool;

    /// Whether the type of a value shows that it is an address.
    fn has_pointers(&self) -> bool;

    /// An axiom that forbids outcomes by syntactic dependencies. A branch that decides nothing creates such a
    /// dependency, and a compiler may omit the branch.
    fn syntactic_axiom(&self) -> Option<&'static str>;

    /// Whether the source of a row is in the language.
    fn fits(&self, text: &str) -> bool;

    /// Reads the source of a row and its lowered target, and makes the comparisons that need no context.
    fn prepare(
        &self,
        source: &str,
        target: &dyn Fn() -> RowResult<LoweredRow>,
        arch: Target,
        assumptions: Assumptions,
    ) -> RowResult<PreparedRow>;

    /// The PTX lowering of a step, by a table or by the published mapping.
    fn to_ptx(&self, step: Step, table: Option<&LoweringTable>) -> Vec<Step>;

    /// An access as an instruction of a litmus test; `None` if no single instruction performs it.
    fn access(&self, access: &WitnessAccess<'_>) -> Option<String>;

    /// A fence as an instruction of a litmus test.
    fn fence(&self, order: FenceOrder, scope: Scope) -> String;
}

/// All languages. The last one takes a text that is in none; its reader reports the errors.
const ALL: [&dyn SourceLanguage; 2] = [&ptx::PtxSource, &cxx::CxxSource];

/// A language, as an index into `ALL`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(usize);

pub const PTX: SourceId = SourceId(0);
pub const CXX: SourceId = SourceId(1);

impl SourceId {
    /// The language in which a function is judged. A listing is PTX, by its promises.
    pub fn of(language: Language) -> SourceId {
        match language {
            Language::Cxx => CXX,
            Language::Ptx | Language::Sass(_) => PTX,
        }
    }

    /// The language of a row's source.
    pub(crate) fn of_row(text: &str) -> SourceId {
        SourceId(ALL.iter().position(|one| one.fits(text)).unwrap_or(ALL.len() - 1))
    }
}

impl Deref for SourceId {
    type Target = dyn SourceLanguage;

    fn deref(&self) -> &Self::Target {
        ALL[self.0]
    }
}

#[cfg(test)]
mod tests {
    use litmus::print::TestText;
    use model::strength::{AccessOrder, OperationKind, Strength};

    use super::*;
    use crate::step::AccessKind;

    /// The only instruction of a test with this cell.
    fn read(language: SourceId, cell: String) -> model::isa::Instruction {
        let mut one = TestText::new(language.name(), "one");
        one.declare(["uint32_t y=0".to_owned()]);
        one.columns(&[vec!["P0@cta 0,cluster 0,gpu 0".to_owned(), cell]]);
        one.end("exists (y=0)".to_owned());
        let test = litmus::parse("one", one.to_string().as_bytes());
        let test = test.unwrap_or_else(|all| panic!("{}\n{one}", all[0]));
        test.program.threads[0].lines[0].instruction.clone()
    }

    #[test]
    fn what_a_language_writes_is_read_as_strong_as_it_is() {
        use AccessOrder as O;
        let mut read_back = 0;
        assert_eq!((PTX.name(), CXX.name()), ("PTX", "CXX"));
        for language in (0..ALL.len()).map(SourceId) {
            for scope in Scope::ALL {
                let mut is = |kind, order, cell: String| {
                    let instruction = read(language, cell);
                    let strength = Strength::new(kind, order, scope);
                    assert_eq!(strength.applied(&instruction), Some(instruction), "{strength:?}");
                    read_back += 1;
                };
                for order in
                    [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::Sc]
                {
                    is(OperationKind::Fence, order.into(), language.fence(order, scope));
                }
                let seq_cst = language.has_seq_cst().then_some(O::SeqCst);
                for (act, kind, orders) in [
                    (AccessKind::Load, OperationKind::Load, &[O::Weak, O::Relaxed, O::Acquire][..]),
                    (AccessKind::Store, OperationKind::Store, &[O::Weak, O::Relaxed, O::Release]),
                    (
                        AccessKind::Swap,
                        OperationKind::Atomic,
                        &[O::Relaxed, O::Acquire, O::Release, O::AcqRel],
                    ),
                    (AccessKind::CompareExchange(None), OperationKind::Atomic, &[O::AcqRel]),
                ] {
                    for order in orders.iter().copied().chain(seq_cst) {
                        let destination = act.shows().then(|| "r0, ".to_owned());
                        let (value, expects) = ("1".to_owned(), "0".to_owned());
                        let access = WitnessAccess {
                            act,
                            at: "y",
                            bits: 32,
                            order,
                            scope,
                            destination,
                            value,
                            expects,
                        };
                        is(kind, order, language.access(&access).expect("it has such an access"));
                    }
                }
            }
        }
        assert_eq!(read_back, 4 * (15 + 19));
    }
}
