//! Rules that instructions can break, and what would be right instead.

use super::qualifier::{At, Order, Qualifiers};
use crate::scope::Scope;
use crate::section::Section;

/// A sentence of the document that an instruction can contradict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    pub code: &'static str,
    pub section: Section,
    pub text: &'static str,
}

impl Rule {
    pub fn broken_by(&'static self, position: usize, note: impl Into<String>) -> Invalid {
        Invalid { rule: self, position, note: note.into(), fix: Vec::new() }
    }
}

/// An instruction that breaks a rule: where, what is there, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    pub rule: &'static Rule,
    pub position: usize,
    pub note: String,
    pub fix: Vec<Edit>,
}

impl Invalid {
    #[must_use]
    pub fn fixed_by(mut self, fix: impl IntoIterator<Item = Edit>) -> Invalid {
        self.fix.extend(fix);
        self
    }
}

/// A change to one part; positions are those of the instruction as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    Replace(usize, &'static str),
    /// Before the part at this position.
    Insert(usize, &'static str),
    Remove(usize),
}

impl Qualifiers {
    /// `ld` and `st` share the shape of their rules: `strongest` is the order that only one has.
    pub(super) fn wrong_order(
        &self,
        order: &'static Rule,
        scope_missing: &'static Rule,
        scope_unused: &'static Rule,
        strongest: Order,
    ) -> Invalid {
        match (self.order, self.scope) {
            (Some(o), None) if o.value == Order::Relaxed || o.value == strongest => scope_missing
                .broken_by(o.position, "no scope is named")
                .fixed_by([Edit::Insert(o.position + 1, "gpu")]),
            (Some(o), Some(s)) if o.value == Order::Weak => scope_unused
                .broken_by(s.position, "a weak access has no scope")
                .fixed_by([Edit::Replace(o.position, Order::Relaxed.name())]),
            (Some(o), Some(s)) if o.value == Order::Volatile => scope_unused
                .broken_by(s.position, "a volatile access has the scope `.sys`")
                .fixed_by([Edit::Remove(s.position)]),
            (None, Some(s)) => scope_unused
                .broken_by(s.position, "without an order, the access is weak")
                .fixed_by([Edit::Insert(s.position, Order::Relaxed.name())]),
            (Some(o), scope) => {
                let fix = [Edit::Replace(o.position, strongest.name())];
                let more = scope.is_none().then_some(Edit::Insert(o.position + 1, "gpu"));
                order
                    .broken_by(o.position, format!("the order is `.{}`", o.value.name()))
                    .fixed_by(fix.into_iter().chain(more))
            }
            (None, None) => unreachable!("no order and no scope is a weak access"),
        }
    }

    pub(super) fn mmio_without_sys(
        &self,
        rule: &'static Rule,
        mmio: At<()>,
        strongest: Order,
    ) -> Invalid {
        let mut fix = Vec::new();
        let order_fits = |o: Order| o == Order::Relaxed || o == strongest;
        match self.order {
            Some(order) if order_fits(order.value) => {}
            Some(order) => fix.push(Edit::Replace(order.position, Order::Relaxed.name())),
            None => fix.push(Edit::Insert(mmio.position + 1, Order::Relaxed.name())),
        }
        match self.scope {
            Some(scope) if scope.value == Scope::Sys => {}
            Some(scope) => fix.push(Edit::Replace(scope.position, "sys")),
            None => fix.push(Edit::Insert(
                self.order.map_or(mmio.position, |order| order.position) + 1,
                "sys",
            )),
        }
        let invalid = match (self.scope, self.order) {
            (Some(scope), _) if scope.value != Scope::Sys => {
                rule.broken_by(scope.position, format!("the scope is `.{}`", scope.value))
            }
            (_, Some(order)) if !order_fits(order.value) => {
                rule.broken_by(order.position, format!("the order is `.{}`", order.value.name()))
            }
            (None, Some(order)) => rule.broken_by(order.position, "no scope is named"),
            (_, None) | (Some(_), Some(_)) => rule.broken_by(mmio.position, "no order is named"),
        };
        invalid.fixed_by(fix)
    }
}
