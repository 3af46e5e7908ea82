//! A function and its lowering as the judging loop asks them.

use lift::function::Refused;
use model::program::Program;
use model::value::Value;

use super::ask::RefinementCase;
use super::partner::FunctionContext;
use super::repair;
use crate::judgement::Refinement;
use crate::language::SourceId;
use crate::refiner::Refiner;

impl<'a> Refinement<'a> for RefinementCase<'a> {
    type Context = FunctionContext;
    type Error = Refused;

    fn refiner(&self) -> Refiner<'a> {
        self.refiner
    }

    fn language(&self) -> SourceId {
        SourceId::of(self.source.language)
    }

    fn set_torn(&mut self, torn: bool) {
        self.torn = torn;
    }

    fn torn(&self) -> bool {
        self.torn
    }

    fn program(
        &mut self,
        context: &FunctionContext,
        lowered: bool,
    ) -> Result<Option<Program>, Refused> {
        RefinementCase::program(self, context, lowered)
    }

    fn masks(&self, program: &Program) -> Vec<Value> {
        RefinementCase::masks(self, program)
    }

    fn is_alone(&self, context: &FunctionContext) -> bool {
        context.is_alone()
    }

    fn words(&self, context: &FunctionContext) -> String {
        RefinementCase::words(self, context)
    }

    fn outcome(&self, program: &Program, outcome: &[Value]) -> String {
        RefinementCase::outcome(self, program, outcome)
    }

    fn test(
        &mut self,
        context: &FunctionContext,
        lowered: bool,
        outcome: &[Value],
    ) -> Option<String> {
        RefinementCase::test(self, context, lowered, outcome)
    }

    fn missing(
        &mut self,
        context: &FunctionContext,
        [source, target]: [&Program; 2],
    ) -> Option<(usize, String)> {
        repair::missing(self, context, source, target)
    }
}
