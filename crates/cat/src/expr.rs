//! The values of expressions, and their errors.

use std::collections::BTreeSet;

use model::given::{Chosen, Tag};
use model::rel::{Builder, Node, NodeId, Rel, Set, SetNode};

use super::names::Vocabulary;
use super::scope::{NameScope, Value};
use super::syntax::{Expr, ExprKind, Infix, Postfix};
use text::report::{ByteSpan, Diagnostics};

/// Steps that the evaluation of one file may take: enough for any model, and too few for functions
/// of functions to fill the memory.
const STEPS: usize = 10_000;

/// How deep expressions and the functions they call may nest.
const DEEPEST: usize = 200;

pub(super) struct Evaluator<'m, 'r> {
    pub(super) m: &'m Builder,
    pub(super) names: Vocabulary,
    pub(super) report: &'r mut Diagnostics,
    /// Names that were reported once and are not again.
    pub(super) unknown: BTreeSet<String>,
    steps: usize,
    depth: usize,
}

impl<'m, 'r> Evaluator<'m, 'r> {
    pub(super) fn new(
        m: &'m Builder,
        names: Vocabulary,
        report: &'r mut Diagnostics,
    ) -> Evaluator<'m, 'r> {
        Evaluator { m, names, report, unknown: BTreeSet::new(), steps: 0, depth: 0 }
    }

    /// Counts a step; false when there have been too many.
    pub(super) fn spend(&mut self, at: ByteSpan) -> bool {
        self.steps += 1;
        if self.steps == STEPS {
            self.report
                .error("size", at, "this model is too large")
                .note(format!("a model has at most {STEPS} steps"));
        }
        self.steps < STEPS
    }

    pub(super) fn rel(&self, id: NodeId) -> Rel<'m> {
        self.m.rel_at(id)
    }

    pub(super) fn value<'t>(
        &mut self,
        expr: &'t Expr<'t>,
        scope: &NameScope<'_, 'm, 't>,
    ) -> Value<'m, 't> {
        if !self.spend(expr.at) {
            return Value::Bad;
        }
        if self.depth == DEEPEST {
            self.report
                .error("nesting", expr.at, "this is nested too deeply")
                .help("name a part of it with `let`");
            return Value::Bad;
        }
        self.depth += 1;
        let value = self.any(expr, scope);
        self.depth -= 1;
        value
    }

    fn any<'t>(&mut self, expr: &'t Expr<'t>, scope: &NameScope<'_, 'm, 't>) -> Value<'m, 't> {
        let wrap = |rel: Option<Rel<'m>>| rel.map_or(Value::Bad, Value::Rel);
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.at, scope),
            ExprKind::NoPair => Value::Rel(self.m.no_event().id()),
            ExprKind::NoEvent => Value::Set(self.m.no_event()),
            ExprKind::Chain(Infix::Seq, parts) => {
                let parts: Vec<&Expr<'t>> = parts.iter().collect();
                wrap(self.sequence(&parts, scope))
            }
            ExprKind::Chain(Infix::Cross, parts) => self.product(expr.at, parts, scope),
            ExprKind::Chain(infix, parts) => self.chain(*infix, parts, scope),
            ExprKind::Postfix(inner, postfix) => {
                let relation = self.relation(inner, scope);
                wrap(relation.map(|relation| self.postfix(relation, *postfix)))
            }
            ExprKind::Not(inner) => {
                let all = self.m.tag(Tag::All);
                let value = self.value(inner, scope);
                match value {
                    Value::Set(set) => return Value::Set(all - set),
                    Value::Ends(ends) => return Value::Ends(all.id() - ends),
                    Value::Rel(_) | Value::Function(_) | Value::Builtin(_) | Value::Bad => {}
                }
                let relation = self.relation_of(&value, inner.at, "`~` takes a set or");
                wrap(relation.map(|relation| all * all - relation))
            }
            ExprKind::ToId(inner) => {
                let set = self.events(inner, scope, "`[…]` takes");
                wrap(set.map(SetOrEnds::id))
            }
            ExprKind::Call(name, arguments) => self.call(name, expr.at, arguments, scope),
            ExprKind::Let(definitions, body) => {
                let own = definitions.iter().map(|(name, of)| (*name, self.value(of, scope)));
                let mut parameters: Vec<_> = own.collect();
                // The first of a name is the innermost.
                parameters.extend(scope.parameters.iter().cloned());
                self.value(body, &NameScope { parameters, ..*scope })
            }
        }
    }

    /// The relation that `expr` stands for, or a report.
    pub(super) fn relation<'t>(
        &mut self,
        expr: &'t Expr<'t>,
        scope: &NameScope<'_, 'm, 't>,
    ) -> Option<Rel<'m>> {
        let value = self.value(expr, scope);
        self.relation_of(&value, expr.at, "this place takes")
    }

    /// `taker` begins the sentence that ends with "a relation".
    pub(super) fn relation_of(
        &mut self,
        value: &Value<'m, '_>,
        at: ByteSpan,
        taker: &str,
    ) -> Option<Rel<'m>> {
        match value {
            Value::Rel(rel) => Some(*rel),
            Value::Set(_) | Value::Ends(_) => {
                self.report
                    .error("type", at, format!("{taker} a relation"))
                    .note("this is a set")
                    .help("`[S]` relates each event of a set to itself");
                None
            }
            Value::Function(_) | Value::Builtin(_) => self.uncalled(at),
            Value::Bad => None,
        }
    }

    pub(super) fn events<'t>(
        &mut self,
        expr: &'t Expr<'t>,
        scope: &NameScope<'_, 'm, 't>,
        taker: &str,
    ) -> Option<SetOrEnds<'m>> {
        match self.value(expr, scope) {
            Value::Set(set) => Some(SetOrEnds::Set(set)),
            Value::Ends(ends) => Some(SetOrEnds::Ends(ends)),
            Value::Rel(_) => {
                self.report
                    .error("type", expr.at, format!("{taker} a set"))
                    .note("this is a relation");
                None
            }
            Value::Function(_) | Value::Builtin(_) => self.uncalled(expr.at),
            Value::Bad => None,
        }
    }

    pub(super) fn uncalled<T>(&mut self, at: ByteSpan) -> Option<T> {
        self.report
            .error("type", at, "a function is not a value")
            .note("used without a call")
            .help("call it: `f(e)`");
        None
    }

    /// `r ; s ; …`.
    pub(super) fn sequence<'t>(
        &mut self,
        parts: &[&'t Expr<'t>],
        scope: &NameScope<'_, 'm, 't>,
    ) -> Option<Rel<'m>> {
        let mut relations: Vec<Option<Rel<'m>>> = Vec::with_capacity(parts.len());
        for part in parts {
            let value = self.value(part, scope);
            relations.push(self.relation_of(&value, part.at, "`;` composes relations: it takes"));
        }
        let relations: Vec<Rel<'m>> = relations.into_iter().collect::<Option<_>>()?;
        let mut joined: Vec<Rel<'m>> = Vec::with_capacity(relations.len());
        for next in relations {
            match joined.last_mut() {
                Some(last) if self.is_from_read(*last, next) => *last = self.m.chosen(Chosen::Fr),
                _ => joined.push(next),
            }
        }
        joined.into_iter().reduce(|a, b| a >> b)
    }

    /// `rf^-1 ; co`: the engines know it as fr. Where reads may be torn it is not the same, as fr
    /// goes byte by byte.
    fn is_from_read(&self, first: Rel<'m>, second: Rel<'m>) -> bool {
        self.m.look(|model| {
            let Node::Inverse(rf) = model.node(first.id) else { return false };
            !model.conventions.tearing
                && model.node(rf) == Node::Chosen(Chosen::Rf)
                && model.node(second.id) == Node::Chosen(Chosen::Co)
        })
    }

    fn product<'t>(
        &mut self,
        at: ByteSpan,
        parts: &'t [Expr<'t>],
        scope: &NameScope<'_, 'm, 't>,
    ) -> Value<'m, 't> {
        let sets: Vec<Option<SetOrEnds<'m>>> = parts
            .iter()
            .map(|part| self.events(part, scope, "`*` between two operands takes"))
            .collect();
        let all = self.m.tag(Tag::All);
        match sets.as_slice() {
            [Some(SetOrEnds::Set(from)), Some(SetOrEnds::Set(to))] => Value::Rel(*from * *to),
            [Some(SetOrEnds::Set(from)), Some(SetOrEnds::Ends(to))] => {
                Value::Rel((*from * all) >> *to)
            }
            [Some(SetOrEnds::Ends(from)), Some(to)] => Value::Rel(match to {
                SetOrEnds::Set(to) => *from >> (all * *to),
                SetOrEnds::Ends(to) => (*from >> (all * all)) >> *to,
            }),
            [_, _] => Value::Bad,
            _ => {
                self.report
                    .error("type", at, "`*` makes a relation of two sets")
                    .note("there are more")
                    .help("write `(r*)`, any number of steps, in parentheses here");
                Value::Bad
            }
        }
    }

    /// `|`, `\` and `&`, on sets or on relations.
    fn chain<'t>(
        &mut self,
        infix: Infix,
        parts: &'t [Expr<'t>],
        scope: &NameScope<'_, 'm, 't>,
    ) -> Value<'m, 't> {
        let mut result: Option<Value<'m, 't>> = None;
        let mut mixed = false;
        for part in parts {
            let value = self.value(part, scope);
            result = Some(match (result, value) {
                (_, Value::Function(_) | Value::Builtin(_)) => {
                    self.uncalled::<()>(part.at);
                    Value::Bad
                }
                (None, value) => value,
                (Some(Value::Set(a)), Value::Set(b)) => Value::Set(combine_sets(infix, a, b)),
                (Some(Value::Rel(a)), Value::Rel(b)) => Value::Rel(self.combine(infix, a, b)),
                (Some(Value::Ends(a)), Value::Ends(b)) => Value::Ends(self.combine(infix, a, b)),
                (Some(Value::Ends(a)), Value::Set(b)) => {
                    Value::Ends(self.combine(infix, a, b.id()))
                }
                (Some(Value::Set(a)), Value::Ends(b)) => {
                    Value::Ends(self.combine(infix, a.id(), b))
                }
                (Some(Value::Set(_) | Value::Ends(_)), Value::Rel(_)) if !mixed => {
                    mixed = true;
                    self.mixed(infix, parts[0].at, part.at, "a set", "a relation")
                }
                (Some(Value::Rel(_)), Value::Set(_) | Value::Ends(_)) if !mixed => {
                    mixed = true;
                    self.mixed(infix, parts[0].at, part.at, "a relation", "a set")
                }
                (Some(_), _) => Value::Bad,
            });
        }
        result.unwrap_or(Value::Bad)
    }

    fn mixed<'t>(
        &mut self,
        infix: Infix,
        first: ByteSpan,
        second: ByteSpan,
        is: &str,
        other: &str,
    ) -> Value<'m, 't> {
        let message = format!("`{}` joins two sets or two relations", infix.text());
        self.report
            .error("type", second, message)
            .note(format!("this is {other}"))
            .label(first, format!("this is {is}"))
            .help("`[S]` relates each event of a set to itself, `S * T` those of two sets");
        Value::Bad
    }

    fn combine(&self, infix: Infix, a: Rel<'m>, b: Rel<'m>) -> Rel<'m> {
        match infix {
            Infix::Minus => a - b,
            // A complement is seldom wanted whole.
            Infix::And => match (self.complement_of(a), self.complement_of(b)) {
                (_, Some(b)) => a - b,
                (Some(a), None) => b - a,
                (None, None) => a & b,
            },
            Infix::Or | Infix::Add | Infix::Seq | Infix::Cross => union(a, b),
        }
    }

    /// `r`, if the relation is `~r`.
    fn complement_of(&self, relation: Rel<'m>) -> Option<Rel<'m>> {
        let without = self.m.look(|model| {
            let Node::Minus(all, without) = model.node(relation.id) else { return None };
            let Node::Cross(from, to) = model.node(all) else { return None };
            let every = from == to && model.sets[usize::from(from.0)] == SetNode::Tag(Tag::All);
            every.then_some(without)
        })?;
        Some(self.rel(without))
    }

    fn postfix(&self, relation: Rel<'m>, postfix: Postfix) -> Rel<'m> {
        let node = self.m.look(|model| model.node(relation.id));
        // co is transitive as it is chosen.
        let transitive = matches!(node, Node::Chosen(Chosen::Co) | Node::Plus(_));
        match (postfix, node) {
            (Postfix::Plus, _) if transitive => relation,
            (Postfix::Plus, _) => relation.plus(),
            (Postfix::Star, _) if transitive => union(relation, self.m.tag(Tag::All).id()),
            (Postfix::Star, _) => relation.star(),
            (Postfix::Opt, _) => union(relation, self.m.tag(Tag::All).id()),
            (Postfix::Inverse, Node::Inverse(inner)) => self.rel(inner),
            (Postfix::Inverse, _) => relation.inverse(),
        }
    }
}

/// A set that the program fixes, or one that is known with the execution.
#[derive(Clone, Copy)]
pub(super) enum SetOrEnds<'m> {
    Set(Set<'m>),
    Ends(Rel<'m>),
}

impl<'m> SetOrEnds<'m> {
    pub(super) fn id(self) -> Rel<'m> {
        match self {
            SetOrEnds::Set(set) => set.id(),
            SetOrEnds::Ends(ends) => ends,
        }
    }
}

/// `a | a` is not a union that could lose a side.
fn union<'m>(a: Rel<'m>, b: Rel<'m>) -> Rel<'m> {
    if a.id == b.id { a } else { a | b }
}

fn combine_sets<'m>(infix: Infix, a: Set<'m>, b: Set<'m>) -> Set<'m> {
    match infix {
        Infix::Minus => a - b,
        Infix::And => a & b,
        Infix::Or if a.id == b.id => a,
        Infix::Or | Infix::Add | Infix::Seq | Infix::Cross => a | b,
    }
}
