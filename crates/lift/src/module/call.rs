//! Calls of functions of the module, and branches by a table.

use std::collections::{BTreeMap, BTreeSet};

use ptx::qualifier::Dialect;
use ptx::{Instruction, PrintedOperand, PrintedScalar};

use super::operand::constant_type;
use super::{Frame, FunctionReader, Purpose, ReadResult, callee, names};
use crate::external::{self, CallNames, ExternalFunction, PassedArgument, pieces};
use crate::written::{WrittenArg, WrittenGuard, WrittenInstruction, written};

/// The largest number of functions that call one another.
const DEEPEST: usize = 16;

/// The largest number of rows of a function with all that it calls.
const LONGEST: usize = 20_000;

/// The same of a function that a launch executes: a thread has fewer than 2^16 lines.
const LONGEST_OF_LAUNCH: usize = 60_000;

/// The results and the arguments of a call, by their names.
struct CallOperands {
    results: Vec<String>,
    arguments: Vec<String>,
}

impl<'a> FunctionReader<'_, 'a> {
    /// `call (result), f, (arguments)`: the body of `f` is read here.
    pub(super) fn call(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        let (results, rest) = match &instruction.operands[..] {
            [PrintedOperand::List(results), rest @ ..] => (texts(results), rest),
            all => (Vec::new(), all),
        };
        let (name, arguments) = match rest {
            [PrintedOperand::Scalar(name)] => (name.to_string(), Vec::new()),
            [PrintedOperand::Scalar(name), PrintedOperand::List(arguments), ..] => {
                (name.to_string(), texts(arguments))
            }
            [PrintedOperand::Scalar(name), PrintedOperand::Scalar(_)] => {
                (name.to_string(), Vec::new())
            }
            _ => return Err(format!("`{}` is not supported", instruction.text)),
        };
        let called = CallOperands { results, arguments };
        let launched = matches!(self.contents.purpose, Purpose::Launch(_));
        if let Some(register) = callee::indirect(instruction) {
            if !launched {
                return Err("an indirect call".to_owned());
            }
            return self.indirect_call(&register, &called, guard);
        }
        let name = self.contents.module.aliased(&name).unwrap_or(&name);
        let functions = &self.contents.functions;
        let Some(index) = functions.iter().position(|function| function.name == name) else {
            if launched {
                return self.runtime_call(name, &called, guard);
            }
            return self.external_call(name, &called.results, &called.arguments, guard);
        };
        self.inlined(index, &called, guard)
    }

    /// The body of a function of the module, read here.
    fn inlined(
        &mut self,
        index: usize,
        operands: &CallOperands,
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        let name = self.contents.functions[index].name;
        if self.frames.iter().any(|frame| frame.index == index) {
            return Err(format!("a recursive call of `{name}`"));
        }
        let launched = matches!(self.contents.purpose, Purpose::Launch(_));
        let longest = if launched { LONGEST_OF_LAUNCH } else { LONGEST };
        if self.frames.len() > DEEPEST || self.builder.len() > longest {
            let why = format!("a call of `{name}`: the functions that it calls are too long");
            return Err(if launched {
                format!("{why}: launch a kernel that calls fewer of them")
            } else {
                why
            });
        }
        let called = &self.contents.functions[index];
        let CallOperands { results, arguments } = operands;
        let lists = [(&called.parameters, arguments), (&called.results, results)];
        let mut memory = BTreeMap::new();
        for (declared, given) in lists {
            if given.len() != declared.len() {
                return Err(format!("a call of `{name}` with other arguments"));
            }
            for (parameter, argument) in declared.iter().zip(given) {
                let own = self.variable(argument)?;
                let own = own.ok_or("a call with arguments in registers")?;
                memory.insert(parameter.name, own);
            }
        }
        let line = self.line;
        let end = self.label("call.end");
        self.jump_unless(guard, &end);
        self.name_variables(index);
        if launched {
            self.names.open_called(index);
        } else {
            self.names.open_body();
        }
        let end_of_call = Some(end.clone());
        self.frames.push(Frame { index, arguments: memory, end: end_of_call, ..Frame::default() });
        self.body(index);
        self.frames.pop();
        self.names.close();
        self.line = line;
        self.push(&WrittenInstruction::label(end));
        Ok(())
    }

    /// A call of the function whose address a register holds: a switch over those that it may be. An address of none of them is a
    /// trap.
    fn indirect_call(
        &mut self,
        register: &str,
        operands: &CallOperands,
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        let frame = self.frame();
        let known = frame.callees.get(&frame.at).filter(|known| !known.is_empty());
        let functions = known.unwrap_or_else(|| self.contents.taken()).clone();
        let fits = |index: &usize| {
            let of = &self.contents.functions[*index];
            of.parameters.len() == operands.arguments.len()
                && of.results.len() == operands.results.len()
        };
        let functions: Vec<usize> = functions.into_iter().filter(fits).collect();
        if functions.is_empty() {
            let why = "a call of a function that has no body here: link it, or compile it inline";
            return Err(format!("`{register}`: {why}"));
        }
        let address = self.scalar(register, constant_type(&["b64"]))?;
        let end = self.label("call.end");
        self.jump_unless(guard, &end);
        let chosen = self.names.plain("callee.chosen");
        for function in functions {
            let next = self.label("callee.next");
            self.push(&written("setp.ne.u64", &[&chosen, &address, &callee::address(function)]));
            self.push(&written("bra", &[&next]).when(&chosen));
            self.inlined(function, operands, None)?;
            self.push(&written("bra", &[&end]));
            self.push(&WrittenInstruction::label(next));
        }
        self.trap(None);
        self.push(&WrittenInstruction::label(end));
        Ok(())
    }

    /// A jump that is taken where a guard does not hold; none without a guard.
    fn jump_unless(&mut self, guard: Option<&WrittenGuard>, label: &str) {
        if let Some(guard) = guard {
            let jump = written("bra", &[&label]);
            self.push(&jump.guarded(Some(&guard.inverted())));
        }
    }

    /// A call of a function whose body is in another module.
    fn external_call(
        &mut self,
        name: &str,
        results: &[String],
        arguments: &[String],
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        self.note(external::ASSUMED);
        let end = guard.map(|_| self.label("call.end"));
        if let Some(end) = &end {
            self.jump_unless(guard, end);
        }
        let (mut words, mut passed) = (Vec::new(), Vec::new());
        for argument in arguments {
            let (own, bytes) = self.memory_of_call(argument)?;
            let stored = self.passed.remove(&own).unwrap_or_default();
            let masks: Vec<u64> =
                (0..bytes).step_by(8).map(|begin| mask_of(&stored, begin)).collect();
            words.extend(self.words_of(argument, &masks)?);
            let declared = self.builder.variables().iter().find(|one| one.name == own);
            let alignment = declared.map_or(0, |one| one.alignment);
            passed.push(PassedArgument { bytes, alignment, masks });
        }
        let names = self.call_names(name)?;
        let mut memory = Vec::new();
        for result in results {
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
                self.push(&written("exit", &[]));
            }
            self.after_call(end);
            return Ok(());
        };
        self.rows_of_call(&names, &words, returned.1);
        let word = self.names.fresh("call_word");
        for (offset, bytes) in pieces(returned.1) {
            let (word, bits) = (format!("{word}{bytes}"), 8 * bytes);
            let from = i64::from(external::HEAD + offset);
            let from = WrittenArg::address(&names.place, from);
            let to = WrittenArg::address(&returned.0, offset.into());
            self.push(&written(format!("ld.global.u{bits}"), &[&word, &from]));
            self.push(&written(format!("st.local.u{bits}"), &[&to, &word]));
        }
        self.after_call(end);
        Ok(())
    }

    /// A call of a function of the CUDA runtime by a thread of a launch.
    fn runtime_call(
        &mut self,
        name: &str,
        operands: &CallOperands,
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        match (name, &operands.results[..], &operands.arguments[..]) {
            ("__assertfail" | "__assert_fail", ..) => self.trap(guard),
            // What it returns is not written, and its memory is 0. Memory that is free is not given again.
            ("vprintf" | "free", ..) => {}
            ("malloc", [place], [bytes]) => {
                let end = guard.map(|_| self.label("call.end"));
                if let Some(end) = &end {
                    self.jump_unless(guard, end);
                }
                self.allocated(place, bytes)?;
                self.after_call(end);
            }
            _ => {
                return Err(format!(
                    "a call of `{name}`, which has no body here: link it, or compile it inline"
                ));
            }
        }
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

    fn rows_of_call(&mut self, names: &CallNames, words: &[WrittenArg], returned: u32) {
        for row in names.rows(Dialect::Ptx, words, returned) {
            self.push(&row);
        }
    }

    fn after_call(&mut self, end: Option<String>) {
        if let Some(end) = end {
            self.push(&WrittenInstruction::label(end));
        }
    }

    /// The memory of an argument or a result, and its size.
    pub(super) fn memory_of_call(&mut self, name: &str) -> ReadResult<(String, u32)> {
        let own = self.variable(name)?.ok_or("a call with arguments in registers")?;
        let bytes = self.builder.variables().iter().find(|one| one.name == own);
        let bytes = bytes.map_or(0, |one| one.bytes);
        Ok((own, bytes))
    }

    /// An argument of a call in words of 64 bits.
    fn words_of(&mut self, argument: &str, masks: &[u64]) -> ReadResult<Vec<WrittenArg>> {
        let (own, bytes) = self.memory_of_call(argument)?;
        let mut words = Vec::new();
        for (number, begin) in (0..bytes).step_by(8).enumerate() {
            let word = self.names.fresh(&format!("call_word_{number}"));
            for (offset, size) in pieces((bytes - begin).min(8)) {
                let (bits, part) = (8 * size, format!("{word}_{size}"));
                let from = WrittenArg::address(&own, (begin + offset).into());
                self.push(&written(format!("ld.local.u{bits}"), &[&part, &from]));
                let widened = if size == 8 { "mov.u64" } else { &format!("cvt.u64.u{bits}") };
                if offset == 0 {
                    self.push(&written(widened, &[&word, &part]));
                    continue;
                }
                let (more, shift) = (format!("{word}_more"), 8 * offset);
                self.push(&written(widened, &[&more, &part]));
                self.push(&written("shl.b64", &[&more, &more, &shift]));
                self.push(&written("or.b64", &[&word, &word, &more]));
            }
            let whole = u64::MAX >> (64 - 8 * (bytes - begin).min(8));
            if masks[number] != whole {
                self.push(&written("and.b64", &[&word, &word, &masks[number]]));
            }
            words.push(WrittenArg::Name(word));
        }
        Ok(words)
    }

    /// `brx.idx r, TABLE`. An index beyond the table has no meaning: it counts as the last one.
    pub(super) fn branch_by_table(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
    ) -> ReadResult<()> {
        let [PrintedOperand::Scalar(index), PrintedOperand::Scalar(table)] =
            &instruction.operands[..]
        else {
            return Err("a branch without a table".into());
        };
        let targets = self.frame().tables.get(&table.to_string()[..]).cloned();
        let targets = targets.ok_or("a branch by a table that is not before it")?;
        let Some((last, others)) = targets.split_last() else {
            return Err("a branch by an empty table".into());
        };
        let index = self.scalar(&index.to_string(), constant_type(&["b32"]))?;
        let skip = guard.map(|_| self.label("table.end"));
        if let Some(skip) = &skip {
            self.jump_unless(guard, skip);
        }
        let chosen = self.names.plain("table.chosen");
        for (number, target) in (0_u32..).zip(others) {
            let target = self.names.plain(target);
            self.push(&written("setp.eq.u32", &[&chosen, &index, &number]));
            self.push(&written("bra", &[&target]).when(&chosen));
        }
        let last = self.names.plain(last);
        self.push(&written("bra", &[&last]));
        self.after_call(skip);
        Ok(())
    }
}

fn texts(list: &[PrintedScalar<'_>]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// The bits of the 8 bytes from here on that are among these.
fn mask_of(stored: &BTreeSet<u32>, begin: u32) -> u64 {
    let stored = (0..8).filter(|at| stored.contains(&(begin + at)));
    stored.map(|at| 0xff << (8 * at)).sum()
}
