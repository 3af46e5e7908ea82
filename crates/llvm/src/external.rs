//! Calls of functions that another module defines.

use super::bits::{ScalarPart, WIDEST};
use super::cell::CellValue;
use super::function::{LoweringResult, Translator, word};
use super::step::{CallAttributes, Typed};
use super::ty::{ScalarType, Ty};
use lift::Dialect;
use lift::external::{self, CallNames};
use lift::written::{AsOperand, WrittenArg};
use text::cursor::short;

/// Attributes that promise something of the accesses of a callee: its calls may be moved or deleted.
const PROMISES: &[&str] = &[
    "argmemonly",
    "inaccessiblemem_or_argmemonly",
    "inaccessiblememonly",
    "memory",
    "nosync",
    "readnone",
    "readonly",
    "speculatable",
    "writeonly",
];

impl<'a, 'm> Translator<'a, 'm> {
    /// Whether only another module can have the body of this function.
    pub(super) fn is_external(&self, callee: &str) -> bool {
        !callee.starts_with("llvm.")
            && callee != "__nvvm_reflect"
            && !self.bodies.contains_key(callee)
    }

    /// A call of such a function (reading R107).
    pub(super) fn external_call(
        &mut self,
        callee: &'a str,
        arguments: &'m [Typed<'a>],
        how: &'m CallAttributes<'a>,
        ty: &Ty,
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let name = short(callee);
        let declared = self.module.declared.get(callee);
        if declared.is_none() {
            return self.no(format!("a call of `@{name}`, which this module does not declare"));
        }
        let words = how.words.iter().chain(declared.into_iter().flatten());
        let groups = words.clone().filter_map(|word| self.module.attributes.get(word)).flatten();
        let words_said: Vec<&str> = words.clone().copied().collect();
        let promise = words.chain(groups).find(|word| PROMISES.contains(*word));
        if let Some(promise) = promise {
            return self.no(format!(
                "a call of `@{name}`, whose body is not in this module, with `{promise}`"
            ));
        }
        let own = word(&external::memory_of(callee));
        if self.module.words.contains(&own) {
            return self.no(format!("a call of `@{name}`: `{own}` is a variable, too"));
        }
        let mut words: Vec<CellValue> = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let signed = how.signed.contains(&index);
            match how.copied.iter().find(|(at, _)| *at == index) {
                Some((_, ty)) => words.extend(self.copied_words(argument, ty)?),
                None => words.extend(self.passed_words(argument, signed)?),
            }
        }
        let places = self.places_of(ty)?;
        let returned = if result.is_empty() { Some(0) } else { ty.stride(&self.module.types) };
        let returned = returned.and_then(|bytes| u32::try_from(bytes).ok());
        let Some(returned) = returned else {
            return self.no(format!("a call of `@{name}` with a result of this type"));
        };
        self.note(external::ASSUMED.to_owned());
        self.variable(external::variable(&own));
        let names = self.call_names(&own);
        for (register, value) in names.initial(&own) {
            self.entry(register, value);
        }
        let words: Vec<WrittenArg> = words.iter().map(AsOperand::operand).collect();
        for row in names.rows(Dialect::Cxx, &words, returned) {
            self.push(row);
        }
        let extended = ["signext", "zeroext"].into_iter().find(|how| words_said.contains(how));
        if let ([(scalar @ ScalarType::Int(1..=31), to)], Some(extended)) = (result, extended) {
            let from = WrittenArg::address(&names.place, i64::from(external::HEAD));
            return self.loaded_extended(*scalar, to, &from, extended == "signext");
        }
        for ((scalar, to), (_, offset)) in result.iter().zip(places) {
            let from = |more: u64| {
                let offset = i64::from(external::HEAD) + (offset + more).cast_signed();
                WrittenArg::address(&names.place, offset)
            };
            self.loaded(*scalar, to, &from)?;
        }
        Ok(())
    }

    /// Loads an integer that the callee extends to 32 bits. A callee that does not is undefined.
    fn loaded_extended(
        &mut self,
        scalar: ScalarType,
        to: &CellValue,
        from: &WrittenArg,
        signed: bool,
    ) -> LoweringResult<()> {
        let whole = self.made_by("load.u32", &[from]);
        let ones = (1_u32 << scalar.bits()) - 1;
        let low = self.made_by("and.b32", &[&whole, &ones]);
        let again = if signed && scalar.bits() == 1 {
            self.made_by("neg.s32", &[&low])
        } else if signed {
            self.signed(scalar, &low)?
        } else {
            low.clone()
        };
        let other = self.made_by("setp.ne.u32", &[&again, &whole]);
        self.undefined_if(&other);
        if scalar.bits() == 1 {
            self.row("setp.ne.u32", &[to, &low, &0]);
            return Ok(());
        }
        self.mov(scalar, to, &low)
    }

    /// Loads a scalar from consecutive bytes.
    fn loaded(
        &mut self,
        scalar: ScalarType,
        to: &CellValue,
        from: &dyn Fn(u64) -> WrittenArg,
    ) -> LoweringResult<()> {
        match scalar.bits() {
            1 => {
                let byte = self.made_by("load.u8", &[&from(0)]);
                let low = self.made_by("and.b32", &[&byte, &1]);
                self.row("setp.ne.u32", &[to, &low, &0]);
            }
            WIDEST => {
                let halves = [0, 8].map(|at| self.made_by("load.u64", &[&from(at)]));
                self.put(&halves[0], &halves[1], to);
            }
            _ => {
                let (ty, _) = self.width(scalar)?;
                self.row(format!("load.{ty}"), &[to, &from(0)]);
            }
        }
        Ok(())
    }

    /// The places of the parts of a value in memory.
    fn places_of(&self, ty: &Ty) -> LoweringResult<Vec<(ScalarType, u64)>> {
        let types = &self.module.types;
        match ty.parts(types).as_deref() {
            None | Some([]) => Ok(Vec::new()),
            Some([scalar]) => Ok(vec![(*scalar, 0)]),
            Some(_) => match ty.places(types) {
                Some(places) => Ok(places),
                None => self.no("a value of this type in a call is not supported"),
            },
        }
    }

    /// The words of an argument. An integer of less than 32 bits is passed with 32.
    fn passed_words(
        &mut self,
        argument: &Typed<'a>,
        signed: bool,
    ) -> LoweringResult<Vec<CellValue>> {
        self.kept_inside(&argument.1)?;
        let (words, _) = self.words(argument)?;
        let scalars = argument.0.parts(&self.module.types).unwrap_or_default();
        if let ([(cell, _)], [scalar @ ScalarType::Int(2..=31)], true) =
            (&words[..], &scalars[..], signed)
        {
            return Ok(vec![self.signed(*scalar, cell)?]);
        }
        // Bytes between the parts are 0 in the memory of an argument, and what is undefined is not known.
        let known = self.defined(&argument.0, &argument.1);
        known.map(|_| words.into_iter().map(|(cell, _)| cell).collect())
    }

    /// The words of an argument that is copied from memory.
    fn copied_words(&mut self, argument: &Typed<'a>, ty: &Ty) -> LoweringResult<Vec<CellValue>> {
        let types = &self.module.types;
        let (Some(places), Some(bytes)) = (ty.places(types), ty.stride(types)) else {
            return self.no("an argument with `byval` of this type is not supported");
        };
        if let Some(space) = argument.0.address_space() {
            self.space(space)?;
        }
        let (base, offset) = self.constant_address(&argument.1)?;
        let mut parts = Vec::new();
        for (scalar, at) in places {
            let cell = self.temporary();
            let from =
                |more: u64| WrittenArg::address(&base, offset.wrapping_add_unsigned(at + more));
            let done = self.builder.len();
            self.loaded(scalar, &cell, &from)?;
            self.builder.mark_accesses(done, |row| row.element = true);
            if scalar.bits() == WIDEST {
                let (low, high) = self.halves(scalar, &cell);
                let half = ScalarType::Int(64);
                parts.extend([((half, low), at), ((half, high), at + 8)]);
            } else {
                parts.push(((scalar, cell), at));
            }
        }
        let words = (0..bytes).step_by(8).map(|begin| {
            let of_word = parts.iter().filter(|(_, at)| (begin..begin + 8).contains(at));
            let shifted = of_word
                .map(|(part, at)| (part.clone(), u32::try_from(8 * (at - begin)).unwrap_or(0)));
            let shifted: Vec<(ScalarPart, u32)> = shifted.collect();
            self.packed_at(&shifted, 64)
        });
        Ok(words.collect())
    }

    fn call_names(&mut self, own: &str) -> CallNames {
        let known = self.calls.iter().find(|(memory, _)| memory == own);
        let memory = known.map(|(_, register)| register.clone());
        let memory = memory.unwrap_or_else(|| {
            let register = self.fresh("callee");
            self.calls.push((own.to_owned(), register.clone()));
            register
        });
        let shared = self.shared_call.clone();
        let used = shared.unwrap_or_else(|| self.fresh("calls"));
        self.shared_call = Some(used.clone());
        CallNames {
            memory,
            used,
            place: self.fresh("call"),
            passed: self.fresh("passed"),
            answer: self.fresh("answer"),
            waits: self.fresh("waits"),
            again: self.fresh("again"),
        }
    }
}
