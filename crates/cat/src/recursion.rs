//! Recursion that can be written as a closure.
//!
//! The least relation with `r = a | (r ; b ; r) | (r ; x) | (y ; r)` is `e ; (x | b ; e)*` with
//! `e = y* ; a`: a chain of a's, with b's between them, x's after and y's before each.

use model::rel::Rel;

use super::expr::Evaluator;
use super::scope::{NameScope, Value};
use super::syntax::{Expr, ExprKind, Infix};
use text::cursor::short;
use text::report::ByteSpan;

/// The alternatives of one recursive definition, by form; parts in order.
#[derive(Default)]
struct Forms<'e, 't> {
    base: Vec<&'e Expr<'t>>,
    between: Vec<Vec<&'e Expr<'t>>>,
    after: Vec<Vec<&'e Expr<'t>>>,
    before: Vec<Vec<&'e Expr<'t>>>,
    /// `r ; r`.
    twice: bool,
}

pub(super) fn value<'m, 't>(
    evaluator: &mut Evaluator<'m, '_>,
    scope: &NameScope<'_, 'm, 't>,
    name: &str,
    body: &'t Expr<'t>,
) -> Value<'m, 't> {
    if !mentions(body, name) {
        return evaluator.value(body, scope);
    }
    let mut alternatives = Vec::new();
    flatten(body, Infix::Or, &mut alternatives);
    let mut forms = Forms::default();
    let mut refused = false;
    for alternative in alternatives {
        refused |= forms.sort(alternative, name).is_err_and(|at| {
            let shown = short(name);
            evaluator
                .report
                .error("recursion", at, format!("this recursion of `{shown}` is not supported"))
                .note("it is not a transitive closure")
                .help(format!("let rec {shown} = a | ({shown} ; b ; {shown})"));
            true
        });
    }
    if refused {
        return Value::Bad;
    }
    if forms.base.is_empty() {
        let message = format!("`{}` is empty: every case of it is recursive", short(name));
        evaluator
            .report
            .error("recursion", body.at, message)
            .help("add a case that is not recursive: `a | …`");
        return Value::Bad;
    }
    closure(evaluator, scope, &forms).map_or(Value::Bad, Value::Rel)
}

impl<'e, 't> Forms<'e, 't> {
    /// Sorts one alternative in, or says where the name stands that has no business there.
    fn sort(&mut self, alternative: &'e Expr<'t>, name: &str) -> Result<(), ByteSpan> {
        let mut parts = Vec::new();
        flatten(alternative, Infix::Seq, &mut parts);
        let own = |part: &&Expr<'_>| matches!(part.kind, ExprKind::Name(of) if of == name);
        let first = parts.first().is_some_and(own);
        let last = parts.len() > 1 && parts.last().is_some_and(own);
        let inner = parts[usize::from(first)..parts.len() - usize::from(last)].to_vec();
        if let Some(part) = inner.iter().find(|part| mentions(part, name)) {
            return Err(part.at);
        }
        match (first, last) {
            (false, false) => self.base.push(alternative),
            // `r = r` adds nothing.
            (true, false) if inner.is_empty() => {}
            (true, false) => self.after.push(inner),
            (false, true) => self.before.push(inner),
            (true, true) if inner.is_empty() => self.twice = true,
            (true, true) => self.between.push(inner),
        }
        Ok(())
    }
}

fn closure<'m, 't>(
    evaluator: &mut Evaluator<'m, '_>,
    scope: &NameScope<'_, 'm, 't>,
    forms: &Forms<'t, 't>,
) -> Option<Rel<'m>> {
    let base = forms.base.iter().map(|expr| evaluator.relation(expr, scope));
    let base = union(base.collect());
    let mut chains = |chains: &[Vec<&'t Expr<'t>>]| {
        union(chains.iter().map(|parts| evaluator.sequence(parts, scope)).collect())
    };
    let (between, after) = (chains(&forms.between), chains(&forms.after));
    let before = chains(&forms.before);
    // Errors were reported for all parts before any is given up.
    let (base, between, after, before) = (base?, between?, after?, before?);
    let mut each = base?;
    if let Some(before) = before {
        each = before.star() >> each;
    }
    let mut next = between.map(|between| between >> each);
    if forms.twice {
        next = Some(next.map_or(each, |next| next | each));
    }
    if let Some(after) = after {
        next = Some(next.map_or(after, |next| after | next));
    }
    Some(match next {
        Some(next) if next.id == each.id => each.plus(),
        Some(next) => each >> next.star(),
        None => each,
    })
}

/// The union of what there is; `None` if a part is wrong.
#[expect(clippy::option_option, reason = "no relation is not an error")]
fn union(relations: Vec<Option<Rel<'_>>>) -> Option<Option<Rel<'_>>> {
    let relations: Option<Vec<Rel<'_>>> = relations.into_iter().collect();
    Some(relations?.into_iter().reduce(|a, b| a | b))
}

/// The operands of a chain, and of the chains of the same sign among them.
fn flatten<'e, 't>(expr: &'e Expr<'t>, sign: Infix, out: &mut Vec<&'e Expr<'t>>) {
    let parts =
        if let ExprKind::Chain(infix, parts) = &expr.kind { Some((infix, parts)) } else { None };
    let Some((_, parts)) = parts.filter(|(infix, _)| **infix == sign) else {
        return out.push(expr);
    };
    for part in parts {
        flatten(part, sign, out);
    }
}

fn mentions(expr: &Expr<'_>, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(of) => *of == name,
        ExprKind::NoPair | ExprKind::NoEvent => false,
        ExprKind::Chain(_, parts) => parts.iter().any(|part| mentions(part, name)),
        ExprKind::Postfix(inner, _) | ExprKind::Not(inner) | ExprKind::ToId(inner) => {
            mentions(inner, name)
        }
        ExprKind::Let(definitions, body) => {
            definitions.iter().any(|(_, expr)| mentions(expr, name))
                || definitions.iter().all(|(of, _)| *of != name) && mentions(body, name)
        }
        ExprKind::Call(of, arguments) => {
            *of == name || arguments.iter().any(|argument| mentions(argument, name))
        }
    }
}
