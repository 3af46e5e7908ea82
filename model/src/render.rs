//! Prints a model: as plain text, as Markdown, and in the language cat of the tool herd.
//!
//! The importer of `.cat` files parses the output of [`cat()`] to the same model; sections become comments
//! there.

mod glossary;
mod names;
mod tree;

use std::fmt::Write;

use crate::given::{Chosen, Fixed, Tag};
use crate::reading::FailedCas;
use crate::rel::{Constraint, DefinitionBody, FlagMeaning, Model, Node, SetNode};
use crate::section::{REVISION, Section};

pub(crate) use names::CatNames;
use names::identifier;
use tree::{OperandPosition, Sign, Tree};

/// No line of a printed model is longer, names permitting.
const WIDTH: usize = 100;

/// The file that a printed model includes: the names of [`crate::given`] mean what they mean here.
pub const NAMES: &str = "causeway.cat";
/// It is included by models whose reads may be torn.
pub const TEARING: &str = "causeway-tearing.cat";
/// It is included by models in which a failing `cas` writes.
pub const FAILED_CAS_WRITES: &str = "causeway-failed-cas-writes.cat";
/// It is included by models in which the read of a failing `cas` with release is tagged so.
pub const FAILED_CAS_RELEASES: &str = "causeway-failed-cas-releases.cat";
/// It is included by models whose dependencies are those of values.
pub const SEMANTIC_DEPENDENCIES: &str = "causeway-semantic-dependencies.cat";
/// It is included by models in which `elect.sync` may elect any lane.
pub const ELECTS_ANY_LANE: &str = "causeway-elects-any-lane.cat";
/// It is included by models whose axioms let iterations be left out that write what is there.
pub const SILENT_ATOMICS: &str = "causeway-silent-atomics.cat";

/// In cat, with the names of [`crate::given`].
pub fn cat(model: &Model) -> String {
    let mut out = format!("\"{}\"\n", model.name.replace(['"', '\n'], " "));
    line(&mut out, format_args!("// Printed by `causeway model --format cat`."));
    if model.statements().any(|(section, _)| section.is_some()) {
        line(&mut out, format_args!("// Numbers and anchors are those of {REVISION}."));
    }
    line(&mut out, format_args!("\ninclude \"{NAMES}\""));
    if model.conventions.tearing {
        line(&mut out, format_args!("include \"{TEARING}\""));
    }
    match model.conventions.failed_cas {
        FailedCas::Nothing => {}
        FailedCas::Releases => line(&mut out, format_args!("include \"{FAILED_CAS_RELEASES}\"")),
        FailedCas::Writes => line(&mut out, format_args!("include \"{FAILED_CAS_WRITES}\"")),
    }
    if model.conventions.semantic_dependencies {
        line(&mut out, format_args!("include \"{SEMANTIC_DEPENDENCIES}\""));
    }
    if model.conventions.elects_any_lane {
        line(&mut out, format_args!("include \"{ELECTS_ANY_LANE}\""));
    }
    if model.conventions.silent_atomics {
        line(&mut out, format_args!("include \"{SILENT_ATOMICS}\""));
    }
    let given = model.given();
    let width = given.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    out.push('\n');
    for (name, meaning) in given {
        line(&mut out, format_args!("// {name:width$}  {meaning}"));
    }
    for (section, statements) in model.by_section() {
        out.push('\n');
        if let Some(Section { number, title, anchor }) = section {
            let long = number.len() + title.len() + anchor.len() + 6 > WIDTH;
            let apart = if long { "\n//" } else { "" };
            let heading = format!("// {number} {title}");
            let heading =
                if heading.len() > WIDTH { heading.replacen(": ", ":\n// ", 1) } else { heading };
            line(&mut out, format_args!("{heading}{apart} #{anchor}"));
        }
        for statement in statements {
            line(&mut out, format_args!("{}", statement.in_cat(WIDTH)));
        }
    }
    out
}

/// For a terminal: sections as headings, what they define below.
pub fn text(model: &Model) -> String {
    let mut out = format!("{}\n\nGiven\n", model.name);
    let given = model.given();
    let width = given.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, meaning) in given {
        line(&mut out, format_args!("  {name:width$}  {meaning}"));
    }
    for (section, statements) in model.by_section() {
        out.push('\n');
        if let Some(Section { number, title, .. }) = section {
            line(&mut out, format_args!("{number} {title}"));
        }
        for statement in statements {
            for row in statement.in_words(WIDTH - 2).lines() {
                line(&mut out, format_args!("  {row}"));
            }
        }
    }
    out
}

/// With links into the document.
pub fn markdown(model: &Model) -> String {
    let mut out = format!("# {}\n\n## Given\n\n| name | meaning |\n| --- | --- |\n", model.name);
    for (name, meaning) in model.given() {
        line(&mut out, format_args!("| `{name}` | {meaning} |"));
    }
    for (section, statements) in model.by_section() {
        match section {
            Some(of) => line(
                &mut out,
                format_args!("\n## {} [{}]({})\n\n```", of.number, of.title, of.url()),
            ),
            None => line(&mut out, format_args!("\n```")),
        }
        for statement in statements {
            line(&mut out, format_args!("{}", statement.in_words(WIDTH)));
        }
        line(&mut out, format_args!("```"));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string succeeds");
}

enum CatStatementKind {
    Let(String),
    Order(Chosen),
    /// The test, and the name of the axiom.
    Axiom(&'static str, String),
    Flag(String, FlagMeaning),
}

struct CatStatement {
    kind: CatStatementKind,
    tree: Tree,
}

impl CatStatement {
    fn in_cat(&self, width: usize) -> String {
        let free =
            |head: &str, tail: &str| self.tree.statement(OperandPosition::Free, head, tail, width);
        match &self.kind {
            CatStatementKind::Let(name) => free(&format!("let {name} ="), ""),
            CatStatementKind::Order(chosen) => {
                let tail = format!(" \\ ({chosen} | {chosen}^-1) as {chosen}-relates");
                self.tree.statement(OperandPosition::Left(Sign::Minus), "empty", &tail, width)
            }
            CatStatementKind::Axiom(test, name) => free(test, &format!(" as {name}")),
            CatStatementKind::Flag(name, _) => free("flag ~empty", &format!(" as {name}")),
        }
    }

    fn in_words(&self, width: usize) -> String {
        let free = |head: &str| self.tree.statement(OperandPosition::Free, head, "", width);
        match &self.kind {
            CatStatementKind::Let(name) => free(&format!("{name} =")),
            CatStatementKind::Order(chosen) => {
                free(&format!("order {chosen} relates, one way or the other,"))
            }
            CatStatementKind::Axiom(test, name) => free(&format!("axiom {name}: {test}")),
            CatStatementKind::Flag(name, FlagMeaning::Race | FlagMeaning::Report) => {
                free(&format!("report {name}: not empty"))
            }
            CatStatementKind::Flag(name, FlagMeaning::Undefined(_)) => {
                free(&format!("undefined, {name}: not empty"))
            }
            CatStatementKind::Flag(name, FlagMeaning::Warning(_)) => {
                free(&format!("warning, {name}: not empty"))
            }
        }
    }
}

impl Tree {
    /// As part of a sentence.
    pub(crate) fn inline(&self) -> String {
        self.flat(OperandPosition::Free)
    }
}

impl Model {
    /// Everything that the model says, in an order in which every name is defined before its use.
    fn statements(&self) -> impl Iterator<Item = (Option<Section>, CatStatement)> {
        let mut names = CatNames::new(self);
        let mut all = Vec::new();
        for definition in &self.definitions {
            let tree = match definition.body {
                DefinitionBody::Set(set) if names.sets.contains_key(&set) => names.set(set),
                DefinitionBody::Set(set) => names.opened_set(set),
                DefinitionBody::Rel(node) if names.nodes.contains_key(&node) => names.node(node),
                DefinitionBody::Rel(node) => names.opened_node(node),
            };
            let name = names.define(&definition.name, definition.body);
            all.push((
                definition.section,
                CatStatement { kind: CatStatementKind::Let(name), tree },
            ));
        }
        let nothing = |node| {
            matches!(self.node(node), Node::Identity(set)
            if self.sets[usize::from(set.0)] == SetNode::Empty)
        };
        for order in self.orders.iter().filter(|order| !nothing(order.relates)) {
            let kind = CatStatementKind::Order(order.chosen);
            all.push((order.section, CatStatement { kind, tree: names.node(order.relates) }));
        }
        for axiom in &self.axioms {
            let test = match axiom.constraint {
                Constraint::Empty(_) => "empty",
                Constraint::Irreflexive(_) => "irreflexive",
                Constraint::Acyclic(_) => "acyclic",
            };
            let kind = CatStatementKind::Axiom(test, identifier(&axiom.name));
            let tree = names.node(axiom.constraint.node());
            all.push((axiom.section, CatStatement { kind, tree }));
        }
        for flag in &self.flags {
            let kind = CatStatementKind::Flag(identifier(&flag.name), flag.meaning);
            all.push((flag.section, CatStatement { kind, tree: names.node(flag.node) }));
        }
        all.into_iter()
    }

    /// The statements, those of one section that follow each other together.
    fn by_section(&self) -> Vec<(Option<Section>, Vec<CatStatement>)> {
        let mut groups: Vec<(Option<Section>, Vec<CatStatement>)> = Vec::new();
        for (section, statement) in self.statements() {
            match groups.last_mut() {
                Some((last, group)) if *last == section => group.push(statement),
                _ => groups.push((section, vec![statement])),
            }
        }
        groups
    }

    /// The given sets and relations that the model mentions, and what they are.
    fn given(&self) -> Vec<(&'static str, &'static str)> {
        let tags = Tag::ALL.iter().filter(|&&tag| self.sets.contains(&SetNode::Tag(tag)));
        let fixed = Fixed::ALL.iter().filter(|&&fixed| self.nodes.contains(&Node::Fixed(fixed)));
        let chosen =
            Chosen::ALL.iter().filter(|&&chosen| self.nodes.contains(&Node::Chosen(chosen)));
        tags.map(|&tag| (tag.name(), glossary::tag(tag)))
            .chain(fixed.map(|&fixed| (fixed.name(), glossary::fixed(fixed))))
            .chain(chosen.map(|&chosen| (chosen.name(), glossary::chosen(chosen))))
            .collect()
    }
}
