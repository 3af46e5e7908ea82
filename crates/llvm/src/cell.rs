//! Scalar values, and the rows of the column, which compute them.

use super::function::Translator;
use lift::function::FunctionLine;
use lift::written::{
    AsOperand, WrittenArg, WrittenGuard, WrittenInstruction, WrittenScalar, written,
};

/// A register, or a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum CellValue {
    Register(String),
    Number(u64),
    /// Must get a value before it is used. Otherwise the use is refused.
    Undefined,
}

impl CellValue {
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            CellValue::Number(number) => Some(*number),
            CellValue::Register(_) | CellValue::Undefined => None,
        }
    }

    /// Whether it is the register with this name.
    pub(super) fn is_register(&self, name: &str) -> bool {
        matches!(self, CellValue::Register(own) if own == name)
    }
}

/// The sign for no result, which is no value either.
pub(super) const NONE: &str = "_";

impl From<&CellValue> for WrittenScalar {
    fn from(cell: &CellValue) -> WrittenScalar {
        match cell {
            CellValue::Register(name) => WrittenScalar::Name(name.clone()),
            CellValue::Number(number) => WrittenScalar::Number(*number),
            CellValue::Undefined => WrittenScalar::Name(NONE.to_owned()),
        }
    }
}

impl AsOperand for CellValue {
    fn operand(&self) -> WrittenArg {
        WrittenScalar::from(self).operand()
    }
}

impl From<u32> for CellValue {
    fn from(number: u32) -> CellValue {
        CellValue::Number(number.into())
    }
}

impl From<u64> for CellValue {
    fn from(number: u64) -> CellValue {
        CellValue::Number(number)
    }
}

/// Values as operands.
pub(super) fn operands<'c>(
    cells: impl IntoIterator<Item = &'c CellValue>,
) -> Vec<&'c dyn AsOperand> {
    cells.into_iter().map(|cell| cell as &dyn AsOperand).collect()
}

impl Translator<'_, '_> {
    /// A register that is not in use.
    pub(super) fn temporary(&mut self) -> CellValue {
        CellValue::Register(self.fresh("t"))
    }

    /// Adds a row to the column.
    pub(super) fn row(
        &mut self,
        name: impl Into<String>,
        operands: &[&dyn AsOperand],
    ) -> &mut FunctionLine {
        self.push(written(name, operands))
    }

    /// Adds a row that is executed if the predicate holds.
    pub(super) fn row_when(
        &mut self,
        predicate: &CellValue,
        name: impl Into<String>,
        operands: &[&dyn AsOperand],
    ) -> &mut FunctionLine {
        self.guarded(predicate, false, written(name, operands))
    }

    /// The same of an instruction, also for a predicate that is not to hold.
    pub(super) fn guarded(
        &mut self,
        predicate: &CellValue,
        negated: bool,
        instruction: WrittenInstruction,
    ) -> &mut FunctionLine {
        let predicate = match predicate {
            CellValue::Register(name) => name.clone(),
            CellValue::Number(_) | CellValue::Undefined => {
                let held = self.fresh("t");
                self.row("mov.pred", &[&held, predicate]);
                held
            }
        };
        self.push(instruction.guarded(Some(&WrittenGuard { predicate, negated })))
    }

    /// Adds a row with the labels that are pending.
    pub(super) fn push(&mut self, instruction: WrittenInstruction) -> &mut FunctionLine {
        let labels = self.pending.drain(..).chain(instruction.labels).collect();
        let line = self.line();
        self.builder.push(&WrittenInstruction { labels, ..instruction }, line)
    }

    /// A register with the result of an instruction of these operands.
    pub(super) fn made_by(
        &mut self,
        name: impl Into<String>,
        operands: &[&dyn AsOperand],
    ) -> CellValue {
        let result = self.temporary();
        self.row(name, &[&[&result as &dyn AsOperand], operands].concat());
        result
    }
}
