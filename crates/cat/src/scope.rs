//! Values, and the scopes of names.

use std::collections::BTreeMap;
use std::rc::Rc;

use model::rel::{Rel, Set};

use super::names;
use super::syntax::Expr;

#[derive(Clone)]
pub(super) enum Value<'m, 't> {
    Set(Set<'m>),
    Rel(Rel<'m>),
    /// A set that is known with the execution only, such as `domain(rf)`: the identity on it.
    Ends(Rel<'m>),
    Function(Rc<CatFunction<'t>>),
    Builtin(names::BuiltinFunction),
    /// Was reported.
    Bad,
}

/// A function is written out where it is called.
pub(super) struct CatFunction<'t> {
    pub(super) parameters: &'t [&'t str],
    pub(super) body: &'t Expr<'t>,
    /// How many definitions were there when it was defined.
    pub(super) sees: usize,
}

pub(super) type Bindings<'m, 't> = BTreeMap<&'t str, Vec<(usize, Value<'m, 't>)>>;

/// Where names are looked up.
pub(super) struct NameScope<'s, 'm, 't> {
    pub(super) bound: &'s Bindings<'m, 't>,
    pub(super) sees: usize,
    pub(super) parameters: Vec<(&'t str, Value<'m, 't>)>,
}

impl<'s, 'm, 't> NameScope<'s, 'm, 't> {
    pub(super) fn global(bound: &'s Bindings<'m, 't>, sees: usize) -> NameScope<'s, 'm, 't> {
        NameScope { bound, sees, parameters: Vec::new() }
    }

    pub(super) fn find(&self, name: &str) -> Option<Value<'m, 't>> {
        let parameter = self.parameters.iter().find(|(of, _)| *of == name);
        let global = || {
            let values = self.bound.get(name)?;
            values.iter().rev().find(|(time, _)| *time < self.sees)
        };
        parameter.map(|(_, value)| value).or_else(|| global().map(|(_, value)| value)).cloned()
    }

    pub(super) fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = names::all().collect();
        all.extend(self.parameters.iter().map(|(name, _)| *name));
        all.extend(self.bound.keys());
        all
    }
}
