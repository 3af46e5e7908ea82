//! Calls of functions of the module, and branches by a table.

use std::collections::{BTreeMap, BTreeSet};

use ptx::Instruction;
use ptx::qualifier::Dialect;

use super::operand::split;
use super::{Frame, FunctionReader, ReadResult, names};
use crate::external::{self, CallNames, ExternalFunction, PassedArgument, pieces};

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
        let name = self.contents.module.aliased(name).unwrap_or(name);
        let functions = &self.contents.functions;
        let Some(index) = functions.iter().position(|function| function.name == name) else {
            let register = name.starts_with('%');
            if register {
                return Err("an indirect call".to_owned());
            }
            let lists = results.zip(arguments).ok_or("an argument that is not in memory")?;
            return self.external_call(name, lists, guard);
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

    /// A call of a function whose body is in another module.
    fn external_call(
        &mut self,
        name: &str,
        (results, arguments): (Vec<String>, Vec<String>),
        guard: &str,
    ) -> ReadResult<()> {
        self.note(external::ASSUMED);
        let end = self.skipped(guard);
        let (mut words, mut passed) = (Vec::new(), Vec::new());
        for argument in arguments {
            let (own, bytes) = self.memory_of_call(&argument)?;
            let stored = self.passed.remove(&own).unwrap_or_default();
            let masks: Vec<u64> =
                (0..bytes).step_by(8).map(|begin| mask_of(&stored, begin)).collect();
            words.extend(self.words_of(&argument, &masks)?);
            let declared = self.builder.variables().iter().find(|one| one.name == own);
            let alignment = declared.map_or(0, |one| one.alignment);
            passed.push(PassedArgument { bytes, alignment, masks });
        }
        let names = self.call_names(name)?;
        let mut memory = Vec::new();
        for result in &results {
            memory.push(self.memory_of_call(result)?);
        }
        let function = ExternalFunction {
            name: name.to_owned(),
            memory: names::plain(&external::memory_of(name)),
            arguments: passed,
            returned: memory.first().map_or(0, |one| one.1),
            returns: self.contents.module.returns(name),
        };
        let returns = function.returns;
        if !self.external.contains(&function) {
            self.external.push(function);
        }
        let [returned] = &memory[..] else {
            if !memory.is_empty() {
                return Err(format!("a call of `{name}` with several results"));
            }
            self.rows_of_call(&names, &words, 0);
            if !returns {
                self.push("exit");
            }
            self.behind_call(end);
            return Ok(());
        };
        self.rows_of_call(&names, &words, returned.1);
        let word = self.names.fresh("call_word");
        for (offset, bytes) in pieces(returned.1) {
            let (from, bits) = (external::HEAD + offset, 8 * bytes);
            self.push(&format!("ld.global.u{bits} {word}{bytes}, [{}+{from}]", names.place));
            self.push(&format!("st.local.u{bits} [{}+{offset}], {word}{bytes}", returned.0));
        }
        self.behind_call(end);
        Ok(())
    }

    fn call_names(&mut self, callee: &str) -> ReadResult<CallNames> {
        let own = names::plain(&external::memory_of(callee));
        if !self.called.contains_key(callee) {
            if self.names.fresh(&own) != own {
                return Err(format!("a call of `{callee}`: `{own}` is another name, too"));
            }
            self.builder.variable(external::variable(&own));
            let register = self.names.fresh("callee");
            self.called.insert(callee.to_owned(), register);
        }
        let used = self.calls.take().unwrap_or_else(|| self.names.fresh("calls"));
        self.calls = Some(used.clone());
        let names = CallNames {
            memory: self.called[callee].clone(),
            used,
            place: self.names.fresh("call"),
            passed: self.names.fresh("passed"),
            answer: self.names.fresh("answer"),
            waits: self.names.fresh("waits"),
            again: self.label("again"),
        };
        for (register, value) in names.initial(&own) {
            self.builder.entry(register, value);
        }
        Ok(names)
    }

    fn rows_of_call(&mut self, names: &CallNames, words: &[String], returned: u32) {
        for row in names.rows(Dialect::Ptx, words, returned) {
            self.push(&row);
        }
    }

    /// A jump over a call that a guard skips, and the label after it.
    fn skipped(&mut self, guard: &str) -> Option<String> {
        let guard = guard.trim_end().strip_prefix('@')?;
        let skipped = guard.strip_prefix('!').map_or_else(|| format!("!{guard}"), str::to_owned);
        let end = self.label("call.end");
        self.push(&format!("@{skipped} bra {end}"));
        Some(end)
    }

    fn behind_call(&mut self, end: Option<String>) {
        if let Some(end) = end {
            self.push(&format!("{end}:"));
        }
    }

    /// The memory of an argument or a result, and its size.
    fn memory_of_call(&mut self, name: &str) -> ReadResult<(String, u32)> {
        let own = self.variable(name)?.ok_or("a call with arguments in registers")?;
        let bytes = self.builder.variables().iter().find(|one| one.name == own);
        let bytes = bytes.map_or(0, |one| one.bytes);
        Ok((own, bytes))
    }

    /// An argument of a call in words of 64 bits.
    fn words_of(&mut self, argument: &str, masks: &[u64]) -> ReadResult<Vec<String>> {
        let (own, bytes) = self.memory_of_call(argument)?;
        let mut words = Vec::new();
        for (number, begin) in (0..bytes).step_by(8).enumerate() {
            let word = self.names.fresh(&format!("call_word_{number}"));
            for (offset, size) in pieces((bytes - begin).min(8)) {
                let (bits, at) = (8 * size, begin + offset);
                if offset == 0 {
                    self.push(&format!("ld.local.u{bits} {word}_{size}, [{own}+{at}]"));
                    let wide = format!("cvt.u64.u{bits} {word}, {word}_{size}");
                    self.push(&if size == 8 { format!("mov.u64 {word}, {word}_8") } else { wide });
                    continue;
                }
                let shift = 8 * offset;
                self.push(&format!("ld.local.u{bits} {word}_{size}, [{own}+{at}]"));
                self.push(&format!("cvt.u64.u{bits} {word}_more, {word}_{size}"));
                self.push(&format!("shl.b64 {word}_more, {word}_more, {shift}"));
                self.push(&format!("or.b64 {word}, {word}, {word}_more"));
            }
            let whole = u64::MAX >> (64 - 8 * (bytes - begin).min(8));
            if masks[number] != whole {
                self.push(&format!("and.b64 {word}, {word}, {}", masks[number]));
            }
            words.push(word);
        }
        Ok(words)
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

/// The bits of the 8 bytes from here on that are among these.
fn mask_of(stored: &BTreeSet<u32>, begin: u32) -> u64 {
    let stored = (0..8).filter(|at| stored.contains(&(begin + at)));
    stored.map(|at| 0xff << (8 * at)).sum()
}
