//! Calls of functions that the module defines: their instructions, in place of the call.

use std::collections::BTreeMap;
use std::mem;

use super::bits::{ScalarPart, WIDEST};
use super::cell::CellValue;
use super::function::{
    FunctionBody, LoweredValue, LoweringResult, Root, Translator, parameter_names,
};
use super::module::FunctionDefinition;
use super::parameter::MOST_PARTS;
use super::step::Typed;
use super::ty::{ScalarType, Ty};
use lift::function::{EntryValue, FunctionVariable};
use lift::written::WrittenArg;
use model::memory::Space;
use text::cursor::short;

/// The maximum number of calls inside each other.
const DEEPEST: usize = 32;

/// The number of rows from which on no call is replaced: calls in calls may double the rows each time.
const LONGEST: usize = 20_000;

/// A call while its function is translated in its place.
pub(super) struct InlinedCall<'a, 'm> {
    pub(super) definition: &'m FunctionDefinition<'a>,
    /// The functions of this call and of those around it.
    callers: Vec<&'a str>,
    /// The registers of the result.
    result: Vec<ScalarPart>,
    /// The label after the call.
    end: String,
    /// Where the parameters that are pointers lead.
    pub(super) roots: BTreeMap<&'a str, Root<'a>>,
}

impl<'a, 'm> Translator<'a, 'm> {
    /// Translates a function in place of a call.
    pub(super) fn inline(
        &mut self,
        body: &'m FunctionBody<'a, 'm>,
        arguments: &'m [Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let definition = body.definition;
        let name = short(definition.name);
        let mut callers =
            self.inlined.as_ref().map_or(vec![self.definition.name], |call| call.callers.clone());
        if callers.contains(&definition.name) {
            return self.no(format!("a recursive call of `@{name}` is not supported"));
        }
        if callers.len() >= DEEPEST || self.builder.len() > LONGEST {
            return self.no(format!("the call of `@{name}` makes the function too long"));
        }
        if definition.variadic {
            return self.no(format!("a call of `@{name}`, which has `...`, is not supported"));
        }
        if definition.parameters.len() != arguments.len() {
            let message = format!("`@{name}` has a different number of parameters");
            return self.wrong("llvm-call", message);
        }
        callers.push(definition.name);
        let (mut values, mut roots) = (BTreeMap::new(), BTreeMap::new());
        let names = parameter_names(definition);
        for ((parameter, name_of), argument) in
            definition.parameters.iter().zip(names).zip(arguments)
        {
            let (ty, value) = argument;
            if parameter.attributes.contains(&"byref") {
                return self.no(format!("a call of `@{name}` with `byref` is not supported"));
            }
            if let Some(copied) = &parameter.copied {
                let parts = vec![(ScalarType::Ptr, self.copy_for_call(name_of, argument, copied)?)];
                roots.insert(name_of, Root::Alloca(name_of));
                values.insert(name_of, LoweredValue { ty: parameter.ty.clone(), parts });
                continue;
            }
            let Some(scalars) = ty.parts(&self.module.types) else {
                return self.no("an argument of this type is not supported");
            };
            let cells = self.cells(ty, value)?;
            let parts = scalars.into_iter().zip(cells).collect();
            roots.insert(name_of, self.root(value));
            values.insert(name_of, LoweredValue { ty: parameter.ty.clone(), parts });
        }
        let end = self.fresh("after");
        let call =
            InlinedCall { definition, callers, result: result.to_vec(), end: end.clone(), roots };
        let outer = (
            self.inlined.replace(call),
            mem::replace(&mut self.values, values),
            mem::take(&mut self.steps),
            mem::take(&mut self.slots),
            mem::take(&mut self.labels),
            mem::take(&mut self.unread),
        );
        let at = self.at;
        let done = self.names_of(&body.blocks).and_then(|()| self.blocks(&body.blocks));
        (self.inlined, self.values, self.steps, self.slots, self.labels, self.unread) = outer;
        self.at = at;
        self.place(end);
        done
    }

    /// The address of the copy that a call makes for a parameter with `byval`.
    fn copy_for_call(
        &mut self,
        parameter: &'a str,
        argument: &Typed<'a>,
        ty: &Ty,
    ) -> LoweringResult<CellValue> {
        let types = &self.module.types;
        let bytes = ty.stride(types).and_then(|bytes| u32::try_from(bytes).ok());
        let (Some(places), Some(bytes)) = (ty.places(types), bytes) else {
            return self.no("an argument with `byval` of this type is not supported");
        };
        if places.len() > MOST_PARTS {
            return self.no("an argument with `byval` of this size is not supported");
        }
        if let Some(space) = argument.0.address_space() {
            self.space(space)?;
        }
        let (base, offset) = self.constant_address(&argument.1)?;
        let variable = self.fresh(&format!("copy_{parameter}"));
        self.variable(FunctionVariable {
            name: variable.clone(),
            space: Space::Local,
            bytes,
            ..FunctionVariable::default()
        });
        let copy = self.fresh(parameter);
        self.entry(&copy, EntryValue::Address(variable));
        for (scalar, at) in places {
            let words = if scalar.bits() == WIDEST {
                vec![("u64", 0), ("u64", 8)]
            } else {
                vec![(self.width(scalar)?.0, 0)]
            };
            for (ty, more) in words {
                let at = at + more;
                let cell = self.temporary();
                let from = WrittenArg::address(&base, offset.wrapping_add_unsigned(at));
                self.row(format!("load.{ty}"), &[&cell, &from]).element = true;
                let to = WrittenArg::address(&copy, at.cast_signed());
                self.row(format!("store.{ty}"), &[&to, &cell]);
            }
        }
        Ok(CellValue::Register(copy))
    }

    /// A return of a function that stands in place of its call. `last`: nothing of it follows.
    pub(super) fn returns_to_call(
        &mut self,
        value: Option<&'m Typed<'a>>,
        last: bool,
    ) -> LoweringResult<()> {
        let Some(call) = &self.inlined else { return Ok(()) };
        let (result, end) = (call.result.clone(), call.end.clone());
        if let Some(value) = value
            && !result.is_empty()
        {
            self.kept_inside(&value.1)?;
            let cells = self.cells(&value.0, &value.1)?;
            for ((scalar, to), from) in result.iter().zip(&cells) {
                self.mov(*scalar, to, from)?;
            }
        }
        if !last {
            self.row("bra", &[&end]);
        }
        Ok(())
    }
}
