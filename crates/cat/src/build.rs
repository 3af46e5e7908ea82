//! Builds a model from statements: resolves names, and checks that each expression is a set or a relation.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use model::cxx::{self, ReleaseSequence};
use model::given::{Chosen, Tag};
use model::ptx;
use model::reading::{AsyncRace, FailedCas, Readings};
use model::rel::{Builder, Constraint, Conventions, FlagMeaning, Model, Node, NodeId, Rel};
use model::render;

use super::expr::Evaluator;
use super::files::SourceFiles;
use super::names::{self, Vocabulary};
use super::recursion;
use super::scope::{Bindings, CatFunction, NameScope, Value};
use super::syntax::{AxiomTest, CatFile, Statement};
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

/// Leaves of one definition or axiom, other definitions being leaves: what is longer is of no use to a
/// reader, and functions can make it longer than memory.
const LONGEST: u64 = 10_000;

/// What the files that a model includes say of it.
struct Libraries {
    names: Vocabulary,
    conventions: Conventions,
    /// `co` is total, as in herd's library.
    total_co: bool,
}

/// Makes the model of the first file.
pub(super) fn model(
    files: &SourceFiles,
    parsed: &[CatFile<'_>],
    report: &mut Diagnostics,
) -> Model {
    let file = &parsed[0];
    let mut statements = Vec::new();
    let mut included = vec![FileState::Not; parsed.len()];
    flatten(files, parsed, 0, &mut included, &mut statements, report);
    let libraries = libraries(&statements);
    let stem = Path::new(&files.places[0].0).file_stem().and_then(|stem| stem.to_str());
    let name = file.title.filter(|title| !title.is_empty()).or(stem).unwrap_or("cat");
    let builder = Builder::new(name, libraries.conventions);
    let mut build = Build {
        m: &builder,
        evaluator: Evaluator::new(&builder, libraries.names, report),
        bound: BTreeMap::new(),
        time: 0,
        ordered: Vec::new(),
        axioms: 0,
        flags: 0,
    };
    for statement in statements {
        if !build.evaluator.spend(ByteSpan::default()) {
            break;
        }
        build.statement(statement);
    }
    // What relates events by an order is written as an axiom too.
    let stated = build.axioms + build.ordered.len() + usize::from(libraries.total_co);
    build.orders(&libraries);
    if report.count() == 0 && stated == 0 {
        report
            .error(
                "axiom",
                ByteSpan::default(),
                "this model has no axiom: it would allow everything",
            )
            .note("no `acyclic`, `irreflexive` or `empty` in the file")
            .help("acyclic po | rf | co | fr as sc");
    }
    let mut model = builder.finish();
    model.move_fixed_first();
    if report.count() == 0 && longest(&model) > LONGEST {
        report
            .error(
                "size",
                ByteSpan::default(),
                "with its functions expanded, this model is too large",
            )
            .help("name parts of it with `let` instead of calling functions");
    }
    model
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileState {
    Not,
    /// It is being read.
    Open,
    Done,
}

/// The statements of a file, with those of each file that it includes in the place where it is first included.
fn flatten<'t>(
    files: &SourceFiles,
    parsed: &'t [CatFile<'t>],
    file: usize,
    included: &mut [FileState],
    out: &mut Vec<&'t Statement<'t>>,
    report: &mut Diagnostics,
) {
    included[file] = FileState::Open;
    for statement in &parsed[file].statements {
        out.push(statement);
        let Statement::Include { file: name, at } = statement else { continue };
        let Some(other) = files.meant(file, name, *at, report) else { continue };
        match included[other] {
            FileState::Not => flatten(files, parsed, other, included, out, report),
            FileState::Open => {
                report
                    .error("include", *at, format!("`{}` includes itself", short(name)))
                    .note("this closes a cycle of files")
                    .help("move what both files need into a third one");
            }
            FileState::Done => {}
        }
    }
    included[file] = FileState::Done;
}

fn libraries(statements: &[&Statement<'_>]) -> Libraries {
    let includes = statements.iter().filter_map(|statement| match statement {
        Statement::Include { file, .. } => Some(*file),
        Statement::With { .. } => Some("cos.cat"),
        Statement::Let { .. }
        | Statement::Rec { .. }
        | Statement::Test { .. }
        | Statement::Lost { .. } => None,
    });
    let mut libraries = Libraries {
        names: Vocabulary::Peer,
        conventions: Conventions { failed_cas: FailedCas::Writes, ..Conventions::default() },
        total_co: false,
    };
    if includes.clone().any(|file| file == render::NAMES) {
        libraries.names = Vocabulary::Given;
        libraries.conventions = Conventions::default();
    }
    let given = &mut libraries.conventions;
    for file in includes {
        match file {
            "cos.cat" => libraries.total_co = true,
            render::TEARING => given.tearing = true,
            render::FAILED_CAS_RELEASES => given.failed_cas = FailedCas::Releases,
            render::FAILED_CAS_WRITES => given.failed_cas = FailedCas::Writes,
            render::SEMANTIC_DEPENDENCIES => given.semantic_dependencies = true,
            render::ELECTS_ANY_LANE => given.elects_any_lane = true,
            render::SILENT_ATOMICS => given.silent_atomics = true,
            _ => {}
        }
    }
    libraries
}

struct Build<'m, 't, 'r> {
    m: &'m Builder,
    evaluator: Evaluator<'m, 'r>,
    bound: Bindings<'m, 't>,
    /// Counts definitions: a function sees those before it.
    time: usize,
    /// What axioms say the chosen orders relate.
    ordered: Vec<(Chosen, Rel<'m>)>,
    axioms: usize,
    flags: usize,
}

impl<'m, 't> Build<'m, 't, '_> {
    fn bind(&mut self, name: &'t str, value: Value<'m, 't>) {
        self.bound.entry(name).or_default().push((self.time, value));
        self.time += 1;
    }

    fn statement(&mut self, statement: &'t Statement<'t>) {
        match statement {
            Statement::Include { .. } | Statement::With { base: None } => {}
            // The order contains it.
            Statement::With { base: Some(base) } => {
                let scope = NameScope::global(&self.bound, self.time);
                if let Some(base) = self.evaluator.relation(base, &scope) {
                    let co = self.m.chosen(Chosen::Co);
                    self.axioms += 1;
                    self.m.axiom(None, "co-extends", Constraint::Empty((base - co).id));
                }
            }
            Statement::Lost { name } => self.bind(name, Value::Bad),
            Statement::Let { name, at, parameters: Some(parameters), body } => {
                let repeated = parameters
                    .iter()
                    .enumerate()
                    .any(|(index, name)| parameters[..index].contains(name));
                if repeated {
                    self.evaluator.report.error(
                        "parameters",
                        *at,
                        "two parameters have the same name",
                    );
                }
                let scope = NameScope::global(&self.bound, self.time);
                self.evaluator.check_names(body, parameters, &scope);
                let function = CatFunction { parameters, body, sees: self.time };
                self.bind(name, Value::Function(Rc::new(function)));
            }
            Statement::Let { name, body, parameters: None, .. } => {
                let value = self.evaluator.value(body, &NameScope::global(&self.bound, self.time));
                self.define(name, value);
            }
            Statement::Rec { name, body } => {
                let scope = NameScope::global(&self.bound, self.time);
                let value = recursion::value(&mut self.evaluator, &scope, name, body);
                self.define(name, value);
            }
            Statement::Test { flag, negated, test, at, body, name } => {
                let scope = NameScope::global(&self.bound, self.time);
                let relation = match (test, self.evaluator.value(body, &scope)) {
                    // Sets may be tested for emptiness.
                    (AxiomTest::Empty, Value::Set(set)) => Some(set.id()),
                    (AxiomTest::Empty, Value::Ends(set)) => Some(set),
                    (_, value) => self.evaluator.relation_of(&value, body.at, "the axiom is about"),
                };
                if let Some(relation) = relation {
                    self.test(*flag, *negated, *test, *at, relation, *name);
                }
            }
        }
    }

    fn define(&mut self, name: &'t str, value: Value<'m, 't>) {
        let own = |node: Node| matches!(node, Node::Chosen(chosen) if chosen.name() == name);
        match &value {
            // `let co = co+` says what holds of co anyway.
            Value::Rel(rel) if own(self.m.look(|model| model.node(rel.id))) => {}
            Value::Rel(rel) | Value::Ends(rel) => {
                self.m.name_rel(None, name, *rel);
            }
            Value::Set(set) => {
                self.m.name_set(None, name, *set);
            }
            Value::Function(_) | Value::Builtin(_) | Value::Bad => {}
        }
        self.bind(name, value);
    }

    fn test(
        &mut self,
        flag: bool,
        negated: bool,
        test: AxiomTest,
        at: ByteSpan,
        relation: Rel<'m>,
        name: Option<&str>,
    ) {
        let all = self.m.tag(Tag::All).id();
        match (flag, negated) {
            (true, true) => {
                let raised = match test {
                    AxiomTest::Empty => relation,
                    AxiomTest::Irreflexive => relation & all,
                    AxiomTest::Acyclic => relation.plus() & all,
                };
                self.flags += 1;
                let name = name.map_or_else(|| format!("flag-{}", self.flags), str::to_owned);
                self.m.flag(None, &name, raised, meaning(&name));
            }
            (false, false) => {
                if let Some(ordered) = self.order_of(test, relation) {
                    self.ordered.push(ordered);
                    return;
                }
                self.axioms += 1;
                let name = name.map_or_else(|| format!("axiom-{}", self.axioms), str::to_owned);
                let relation = self.demanded_of_fences(test, relation).unwrap_or(relation);
                let constraint = match test {
                    AxiomTest::Empty => Constraint::Empty(relation.id),
                    AxiomTest::Irreflexive => Constraint::Irreflexive(relation.id),
                    AxiomTest::Acyclic => Constraint::Acyclic(relation.id),
                };
                self.m.axiom(None, &name, constraint);
            }
            (true, false) => {
                self.evaluator
                    .report
                    .error("flag", at, "a flag tests that a relation is not empty, and cannot test that it is empty")
                    .help("flag ~empty e as name");
            }
            (false, true) => {
                self.evaluator
                    .report
                    .error("axiom", at, "an axiom cannot require a relation to be non-empty")
                    .note("a negated test")
                    .help("write `flag` before it to report it, or leave out the `~`");
            }
        }
    }

    /// `empty X \ (co | co^-1)`, with X known from the program, says what co relates; and so for
    /// the order of fences, which the peer defines itself.
    fn order_of(&self, test: AxiomTest, relation: Rel<'m>) -> Option<(Chosen, Rel<'m>)> {
        let given = self.evaluator.names == Vocabulary::Given;
        let (chosen, relates) = self.m.look(|model| {
            let Node::Minus(relates, either) = model.node(relation.id) else { return None };
            let Node::Or(a, b) = model.node(either) else { return None };
            let (order, inverse) = match (model.node(a), model.node(b)) {
                (Node::Chosen(chosen), inverse) => ((chosen, a), inverse),
                (inverse, Node::Chosen(chosen)) => ((chosen, b), inverse),
                _ => return None,
            };
            let both = inverse == Node::Inverse(order.1) && model.is_fixed(relates);
            let may = order.0 == Chosen::Co || order.0 == Chosen::Fsc && given;
            (test == AxiomTest::Empty && both && may).then_some((order.0, relates))
        })?;
        Some((chosen, self.evaluator.rel(relates)))
    }

    /// `empty X \ sync_fence` is about the pairs that `sync_fence` has to relate. The peer leaves it
    /// free on other pairs of fences: there it has what such an axiom demands, and no more.
    fn demanded_of_fences(&self, test: AxiomTest, relation: Rel<'m>) -> Option<Rel<'m>> {
        if test != AxiomTest::Empty || self.evaluator.names != Vocabulary::Peer {
            return None;
        }
        let (demanded, order) = self.m.look(|model| {
            let Node::Minus(demanded, order) = model.node(relation.id) else { return None };
            let fences = model.node(order) == Node::Chosen(Chosen::Fsc);
            fences.then_some((demanded, order))
        })?;
        let [demanded, order] = [demanded, order].map(|id| self.evaluator.rel(id));
        Some((demanded - names::fences_left_free(self.m)) - order)
    }

    fn orders(&mut self, libraries: &Libraries) {
        let m = self.m;
        if libraries.total_co {
            let write = m.tag(Tag::Write);
            let same = m.fixed(model::given::Fixed::LocationOverlap);
            self.ordered.push((Chosen::Co, same & (write * write)));
        }
        let mentions = |chosen| m.look(|model| model.nodes.contains(&Node::Chosen(chosen)));
        if libraries.names == Vocabulary::Peer && mentions(Chosen::Fsc) {
            self.ordered.push((Chosen::Fsc, names::fences_to_order(m)));
        }
        let mut wanted: Vec<Chosen> = self.ordered.iter().map(|(chosen, _)| *chosen).collect();
        wanted.push(Chosen::Co);
        for (index, &chosen) in wanted.iter().enumerate() {
            if wanted[..index].contains(&chosen) {
                continue;
            }
            let each = self.ordered.iter().filter(|(of, _)| *of == chosen).map(|(_, rel)| *rel);
            let relates = each.reduce(|a, b| a | b).unwrap_or_else(|| m.no_event().id());
            m.order(None, chosen, both_ways(m, relates));
        }
    }
}

/// As an order relates: both ways, and no event with itself.
fn both_ways<'m>(m: &'m Builder, relates: Rel<'m>) -> Rel<'m> {
    let is = |test: fn(&Model, NodeId) -> bool, rel: Rel<'_>| m.look(|model| test(model, rel.id));
    let both = if is(Model::is_symmetric, relates) { relates } else { relates | relates.inverse() };
    if is(Model::is_irreflexive, both) { both } else { both - m.tag(Tag::All).id() }
}

/// A flag that is named as one of a built-in model's means what it means there.
fn meaning(name: &str) -> FlagMeaning {
    let races = Readings { async_race: AsyncRace::Allowed, ..Readings::default() };
    let built_in = [ptx::model(), ptx::under(races), cxx::model(ReleaseSequence::Cpp20)];
    let mut flags = built_in.into_iter().flat_map(|model| model.flags);
    let known = flags.find(|flag| flag.name == name);
    known.map_or(FlagMeaning::Report, |flag| flag.meaning)
}

/// The leaves of the longest definition or axiom.
fn longest(model: &Model) -> u64 {
    let mut sizes: Vec<u64> = Vec::with_capacity(model.nodes.len());
    let mut longest = 0;
    for (index, node) in model.nodes.iter().enumerate() {
        let at = |id: NodeId| sizes[usize::from(id.0)];
        let size = match *node {
            Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => 1,
            Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) | Node::Seq(a, b) => {
                at(a).saturating_add(at(b))
            }
            Node::Inverse(a) | Node::Plus(a) => at(a),
        };
        longest = longest.max(size);
        let id = NodeId(u16::try_from(index).expect("a model has few nodes"));
        sizes.push(if model.definition_of(id).is_some() { 1 } else { size });
    }
    longest
}
