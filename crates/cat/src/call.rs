//! Names and calls in expressions.

use model::given::{Fixed, Tag};
use model::rel::{Node, Rel};

use super::expr::{Evaluator, SetOrEnds};
use super::names::{self, BuiltinFunction, Given};
use super::scope::{NameScope, Value};
use super::syntax::{Expr, ExprKind};
use text::cursor::short;
use text::report::ByteSpan;

impl<'m> Evaluator<'m, '_> {
    pub(super) fn name<'t>(
        &mut self,
        name: &'t str,
        at: ByteSpan,
        scope: &NameScope<'_, 'm, 't>,
    ) -> Value<'m, 't> {
        if let Some(value) = scope.find(name) {
            return value;
        }
        if let Some(function) = names::function(name) {
            return Value::Builtin(function);
        }
        match names::given(self.m, self.names, name) {
            Some(Given::Set(set)) => Value::Set(set),
            Some(Given::Rel(rel)) => {
                self.name_composed(name, rel);
                Value::Rel(rel)
            }
            None => {
                self.unknown(name, at, scope);
                Value::Bad
            }
        }
    }

    /// What a built-in name stands for is shown under that name, unless it is a relation of its own.
    fn name_composed(&self, name: &str, rel: Rel<'m>) {
        let composed = self.m.look(|model| {
            let given = matches!(model.node(rel.id), Node::Fixed(_) | Node::Chosen(_));
            !given && !model.is_identity(rel.id) && model.definition_of(rel.id).is_none()
        });
        if composed {
            self.m.name_rel(None, name, rel);
        }
    }

    /// Reports unknown names in the body of a function, which may never be called.
    pub(super) fn check_names<'t>(
        &mut self,
        expr: &'t Expr<'t>,
        parameters: &[&str],
        scope: &NameScope<'_, 'm, 't>,
    ) {
        let mut known = |name: &'t str, at: ByteSpan| {
            let there = parameters.contains(&name)
                || scope.find(name).is_some()
                || names::all().any(|of| of == name);
            if !there {
                self.unknown(name, at, scope);
            }
        };
        match &expr.kind {
            ExprKind::Name(name) => known(name, expr.at),
            ExprKind::NoPair | ExprKind::NoEvent => {}
            ExprKind::Chain(_, parts) => {
                for part in parts {
                    self.check_names(part, parameters, scope);
                }
            }
            ExprKind::Postfix(inner, _) | ExprKind::Not(inner) | ExprKind::ToId(inner) => {
                self.check_names(inner, parameters, scope);
            }
            ExprKind::Let(definitions, body) => {
                let inner: Vec<&str> = definitions.iter().map(|(name, _)| *name).collect();
                for (_, expr) in definitions {
                    self.check_names(expr, parameters, scope);
                }
                self.check_names(body, &[parameters, &inner].concat(), scope);
            }
            ExprKind::Call(name, arguments) => {
                known(name, first(expr.at, name));
                for argument in arguments {
                    self.check_names(argument, parameters, scope);
                }
            }
        }
    }

    fn unknown(&mut self, name: &str, at: ByteSpan, scope: &NameScope<'_, 'm, '_>) {
        if !self.unknown.insert(name.to_owned()) {
            return;
        }
        let shown = short(name);
        if let Some(why) = names::refused(name) {
            self.report
                .error("unsupported", at, format!("`{shown}` is not supported"))
                .note("this part of cat is not supported")
                .help(why);
            return;
        }
        let near = self.report.nearest(name, scope.names()).map(str::to_owned);
        self.report
            .error("unknown-name", at, format!("`{shown}` is not defined"))
            .note("unknown up to here")
            .help_if(near.map(|near| format!("`{near}` is")));
    }

    pub(super) fn call<'t>(
        &mut self,
        name: &'t str,
        at: ByteSpan,
        arguments: &'t [Expr<'t>],
        scope: &NameScope<'_, 'm, 't>,
    ) -> Value<'m, 't> {
        let name_at = first(at, name);
        let function = self.name(name, name_at, scope);
        let wanted = match &function {
            Value::Function(function) => function.parameters.len(),
            Value::Builtin(_) => 1,
            Value::Bad => return Value::Bad,
            Value::Set(_) | Value::Ends(_) | Value::Rel(_) => {
                self.report
                    .error("type", name_at, format!("`{}` is not a function", short(name)))
                    .note("cannot be called")
                    .help("an operator is missing, or the name of a function is shadowed");
                return Value::Bad;
            }
        };
        if arguments.len() != wanted {
            let message =
                format!("`{}` takes {wanted} operands, not {}", short(name), arguments.len());
            self.report.error("type", at, message);
            return Value::Bad;
        }
        match function {
            Value::Builtin(function) => {
                let taker = format!("`{name}` takes");
                self.builtin(function, &arguments[0], scope, &taker).unwrap_or(Value::Bad)
            }
            Value::Function(function) => {
                let values: Vec<Value<'m, 't>> =
                    arguments.iter().map(|argument| self.value(argument, scope)).collect();
                if values.iter().any(|value| matches!(value, Value::Bad)) {
                    return Value::Bad;
                }
                let inner = NameScope {
                    bound: scope.bound,
                    sees: function.sees,
                    parameters: function.parameters.iter().copied().zip(values).collect(),
                };
                self.value(function.body, &inner)
            }
            Value::Set(_) | Value::Ends(_) | Value::Rel(_) | Value::Bad => Value::Bad,
        }
    }
}

impl<'m> Evaluator<'m, '_> {
    fn builtin<'t>(
        &mut self,
        function: BuiltinFunction,
        argument: &'t Expr<'t>,
        scope: &NameScope<'_, 'm, 't>,
        taker: &str,
    ) -> Option<Value<'m, 't>> {
        let id = self.m.tag(Tag::All).id();
        Some(match function {
            BuiltinFunction::ToId => Value::Rel(self.events(argument, scope, taker)?.id()),
            BuiltinFunction::FenceRel => {
                let po = self.m.fixed(Fixed::Po);
                Value::Rel(match self.events(argument, scope, taker)? {
                    SetOrEnds::Set(set) => (po & (self.m.tag(Tag::All) * set)) >> po,
                    SetOrEnds::Ends(ends) => (po >> ends) >> po,
                })
            }
            BuiltinFunction::Domain => {
                let of = self.relation(argument, scope)?;
                Value::Ends((of >> of.inverse()) & id)
            }
            BuiltinFunction::Range => {
                let of = self.relation(argument, scope)?;
                Value::Ends((of.inverse() >> of) & id)
            }
        })
    }
}

/// The name that a call begins with.
fn first(call: ByteSpan, name: &str) -> ByteSpan {
    let length = u32::try_from(name.len()).unwrap_or(0);
    ByteSpan { start: call.start, end: call.start + length }
}
