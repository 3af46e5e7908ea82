//! Calls of functions of the module, and branches by a table.

use std::collections::BTreeMap;

use ptx::Instruction;

use super::operand::split;
use super::{Frame, FunctionReader, ReadResult};

/// The largest number of functions that call one another.
const DEEPEST: usize = 16;

/// The largest number of rows of a function with all that it calls.
const LONGEST: usize = 20_000;

impl<'a> FunctionReader<'_, 'a> {
    /// `call (result), f, (arguments)`: the body of `f` is read here.
    pub(super) fn call(&mut self, instruction: &Instruction<'a>, guard: &str) -> ReadResult<()> {
        let operands = split(&instruction.operands_text());
        let (results, rest) = match &operands[..] {
            [first, rest @ ..] if first.starts_with('(') => (Self::listed(first), rest),
            all => (Some(Vec::new()), all),
        };
        let (name, arguments) = match rest {
            [name] => (name, Some(Vec::new())),
            [name, arguments] if arguments.starts_with('(') => (name, Self::listed(arguments)),
            _ => return Err("an indirect call".to_owned()),
        };
        let functions = &self.contents.functions;
        let Some(index) = functions.iter().position(|function| function.name == name) else {
            let register = name.starts_with('%');
            return Err(if register {
                "an indirect call".to_owned()
            } else {
                format!("a call of `{name}`, which has no body in this module")
            });
        };
        if self.frames.iter().any(|frame| frame.index == index) {
            return Err(format!("a recursive call of `{name}`"));
        }
        if self.frames.len() > DEEPEST || self.builder.len() > LONGEST {
            return Err(format!("a call of `{name}`: the functions that it calls are too long"));
        }
        let called = &self.contents.functions[index];
        let lists = [(&called.parameters, arguments), (&called.results, results)];
        let mut memory = BTreeMap::new();
        for (declared, given) in lists {
            let given = given.filter(|given| given.len() == declared.len());
            let given = given.ok_or_else(|| format!("a call of `{name}` with other arguments"))?;
            for (parameter, argument) in declared.iter().zip(given) {
                let own = self.variable(&argument)?;
                let own = own.ok_or("a call with arguments in registers")?;
                memory.insert(parameter.name, own);
            }
        }
        let line = self.line;
        let end = self.label("call.end");
        if let Some(guard) = guard.strip_prefix('@') {
            let skipped =
                guard.strip_prefix('!').map_or_else(|| format!("!{guard}"), str::to_owned);
            self.push(&format!("@{skipped}bra {end}"));
        }
        self.name_variables(index);
        self.names.open_body();
        self.frames.push(Frame {
            index,
            arguments: memory,
            end: Some(end.clone()),
            tables: BTreeMap::new(),
        });
        self.body(index);
        self.frames.pop();
        self.names.close();
        self.line = line;
        self.push(&format!("{end}:"));
        Ok(())
    }

    /// `brx.idx r, TABLE`. An index beyond the table has no meaning: it counts as the last one.
    pub(super) fn branch_by_table(
        &mut self,
        instruction: &Instruction<'a>,
        guard: &str,
    ) -> ReadResult<()> {
        let operands = split(&instruction.operands_text());
        let [index, table] = &operands[..] else { return Err("a branch without a table".into()) };
        let targets = self.frame().tables.get(&table[..]).cloned();
        let targets = targets.ok_or("a branch by a table that is not before it")?;
        let Some((last, others)) = targets.split_last() else {
            return Err("a branch by an empty table".into());
        };
        let index = self.operands(index, &["b32"])?.join(", ");
        let skip = (!guard.is_empty()).then(|| self.label("table.end"));
        if let (Some(skip), Some(guard)) = (&skip, guard.strip_prefix('@')) {
            let skipped =
                guard.strip_prefix('!').map_or_else(|| format!("!{guard}"), str::to_owned);
            self.push(&format!("@{skipped}bra {skip}"));
        }
        let chosen = self.names.plain("table.chosen");
        for (number, target) in others.iter().enumerate() {
            let target = self.names.plain(target);
            self.push(&format!("setp.eq.u32 {chosen}, {index}, {number}"));
            self.push(&format!("@{chosen} bra {target}"));
        }
        let last = self.names.plain(last);
        self.push(&format!("bra {last}"));
        if let Some(skip) = skip {
            self.push(&format!("{skip}:"));
        }
        Ok(())
    }
}
