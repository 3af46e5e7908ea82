//! One lowering judged: LLVM IR and the PTX that a compiler made of it.

use std::fmt::Write;

use litmus::llvm::{self, Kind};
use litmus::ptx::{self, Options};
use litmus::{Diagnostic, diagnostic};
use model::isa::version::Target;
use model::scope::Scope;

use super::context::Reach;
use super::inclusion::{Answer, Judge, Language, Question, Tally, widest};
use super::mapping::weakenings;
use super::program::Width;
use super::source::{Meaning, Source, Space, source};
use super::step::{Act, Order, Step, line};
use super::target::{Done, Item, items, steps};
use super::value;
use super::verdict::{Finding, Verdict};

/// What one row says.
#[derive(Clone, Debug)]
pub struct Row {
    pub source: String,
    pub target: String,
    pub arch: String,
}

/// What is assumed of programs, beyond what the models say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Assumptions {
    /// A part of a word that is exchanged as a word is accessed by such exchanges only.
    pub cas_only: bool,
}

/// A row as far as it can be judged without an engine: a finding, or a question with its notes.
pub enum Prepared {
    Found(Finding),
    Asks(Box<Asked>),
}

/// A question, and what makes of its answer a finding.
pub struct Asked {
    pub question: Question,
    notes: Vec<String>,
    /// Whether fences of one direction and clusters are there.
    cluster: bool,
    part_of_word: bool,
    unordered: bool,
}

fn first(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or(String::new(), |d| {
        let diagnostic::Span { line, column, .. } = d.span;
        format!("{} (line {line}, column {column})", d.message)
    })
}

/// `Err` is a finding that nothing can change.
type Read<T> = Result<T, Box<Finding>>;

/// Reads both sides and compares what needs no context.
pub fn prepare(row: &Row, assumptions: Assumptions) -> Prepared {
    read(row, assumptions).unwrap_or_else(|finding| Prepared::Found(*finding))
}

fn read(row: &Row, assumptions: Assumptions) -> Read<Prepared> {
    let found = |verdict: Verdict, why: String| Box::new(Finding::new(verdict, why));
    let arch = Target::parse(row.arch.trim()).ok_or_else(|| {
        let arch = row.arch.trim();
        found(
            Verdict::Unsupported,
            format!("`{arch}` is no architecture: write `sm_` and a number"),
        )
    })?;
    if row.target.trim_start().starts_with("ERROR") {
        return Err(found(
            Verdict::Invalid,
            format!("the compiler rejected it: {}", short(&row.target)),
        ));
    }
    let instructions = llvm::read("source", &row.source)
        .map_err(|d| found(Verdict::Invalid, format!("the source is no LLVM IR: {}", first(&d))))?;
    let options = Options { target: Some(arch), ..Options::default() };
    let (pieces, diagnostics) = ptx::excerpt("target", &row.target, options)
        .map_err(|d| found(Verdict::Invalid, format!("the target is no PTX: {}", first(&d))))?;
    let broken = diagnostics.iter().filter(|d| d.severity == diagnostic::Severity::Error);
    let broken: Vec<Diagnostic> = broken.cloned().collect();
    if !broken.is_empty() {
        return Err(found(
            Verdict::Invalid,
            format!("the target breaks a rule: {}", first(&broken)),
        ));
    }
    let source = source(&instructions).map_err(|why| found(Verdict::Unsupported, why))?;
    let items = items(&pieces).map_err(|why| found(Verdict::Unsupported, why.0))?;
    compared(&source, items, arch, assumptions)
}

fn short(text: &str) -> String {
    let text = text.trim_start().trim_start_matches("ERROR").trim_start_matches(':').trim();
    let end = text.char_indices().nth(100).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

/// Accesses in pairs; then what is left is order.
fn compared(
    source: &Source,
    mut items: Vec<Item>,
    arch: Target,
    assumptions: Assumptions,
) -> Read<Prepared> {
    let mut notes = source.notes.clone();
    hand_out(source, &mut items, &mut notes);
    let done: Vec<&Done> = items
        .iter()
        .filter_map(|item| if let Item::Access(done) = item { Some(&**done) } else { None })
        .collect();
    if let Some(space) =
        source.accesses.first().map(|access| access.space).filter(|s| s.is_private())
    {
        return private(source, &done, space, notes);
    }
    if done.len() != source.accesses.len() {
        return Err(Box::new(unmatched(source, &done)));
    }
    if let Some(other) = done.iter().find(|access| access.base != done[0].base) {
        let why = format!("`{}` is at another address than `{}`", other.text, done[0].text);
        return Err(Box::new(Finding::new(Verdict::WrongValue, why)));
    }
    let mut part_of_word = false;
    for (access, target) in source.accesses.iter().zip(&done) {
        let agreed = value::compare(access, target).map_err(|why| {
            let finding = Finding::new(Verdict::WrongValue, why);
            Box::new(Finding { notes: notes.clone(), ..finding })
        })?;
        part_of_word |= agreed.part_of_word;
        notes.extend(agreed.notes.into_iter().map(str::to_owned));
    }
    for (access, target) in source.accesses.iter().zip(&done) {
        if target.read_only {
            read_only(access, target, &mut notes)?;
        }
    }
    let target = steps(&items, |done, index| match (source.accesses[index].kind, done.act) {
        (Kind::Rmw(_), Act::CompareExchange(_)) => Act::Swap,
        (Kind::Store, _) if done.act != Act::Store => Act::Overwrite,
        (Kind::Load, Act::CompareExchange(_)) => Act::Probe,
        (_, act) => act,
    });
    let cluster = arch.sm >= 90;
    let shared = source.accesses.iter().any(|access| access.space == Space::Shared);
    let reached = if cluster { Scope::Cluster } else { Scope::Cta };
    let within = if source.alone { Scope::Sys } else { widest(&source.steps) };
    let within = if shared { within.min(reached) } else { within };
    let orders = |wanted: Order| {
        source.steps.iter().any(|s| matches!(s, Step::Access { order, .. } if *order == wanted))
    };
    let unordered = orders(Order::Unordered);
    let width = if source.accesses.iter().any(|access| access.bytes == 1) {
        Width::Byte
    } else {
        Width::Word
    };
    Ok(Prepared::Asks(Box::new(Asked {
        question: Question {
            language: Language::Cxx,
            source: source.steps.clone(),
            target,
            width,
            reach: Reach { within, alone: source.alone },
        },
        notes,
        cluster,
        part_of_word: part_of_word && !assumptions.cas_only,
        unordered,
    })))
}

/// A kernel that hands the loaded value to another address is shown with that store.
fn hand_out(source: &Source, items: &mut Vec<Item>, notes: &mut Vec<String>) {
    if !source.accesses.iter().any(|access| access.argument) {
        return;
    }
    let defined: Vec<(String, String)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Access(done) => Some((done.defines.clone(), done.base.clone())),
            Item::Step(_) | Item::Label(_) | Item::Branch { .. } => None,
        })
        .collect();
    let hands_out = |item: &Item| match item {
        Item::Access(done) => {
            done.act == Act::Store
                && done.order == Order::Weak
                && defined.iter().any(|(value, base)| *value == done.stores && *base != done.base)
        }
        Item::Step(_) | Item::Label(_) | Item::Branch { .. } => false,
    };
    let before = items.len();
    items.retain(|item| !hands_out(item));
    if items.len() != before {
        notes.push(
            "a store of the loaded value to another address is the kernel's use of it".to_owned(),
        );
    }
}

fn unmatched(source: &Source, done: &[&Done]) -> Finding {
    let (wanted, found) = (source.accesses.len(), done.len());
    let volatile = source.accesses.iter().any(|access| access.volatile);
    if volatile {
        let why = format!("progress: {wanted} accesses, some volatile, became {found}");
        return Finding::new(Verdict::Weaker, why);
    }
    if found == 0 {
        return Finding::new(Verdict::WrongValue, "the access is gone");
    }
    if wanted == 0 {
        let why = format!("`{}` has no counterpart in the source", done[0].text);
        return Finding::new(Verdict::WrongValue, why);
    }
    Finding::new(
        Verdict::Unsupported,
        format!("{wanted} accesses became {found}, and none is matched"),
    )
}

/// Memory of one thread, or that nobody writes: values are all there is.
fn private(
    source: &Source,
    done: &[&Done],
    space: Space,
    mut notes: Vec<String>,
) -> Read<Prepared> {
    if done.is_empty() {
        return Err(Box::new(Finding::new(Verdict::WrongValue, "the access is gone")));
    }
    let access = &source.accesses[0];
    for target in done {
        value::space(access, target)
            .map_err(|why| Box::new(Finding::new(Verdict::WrongValue, why)))?;
        if target.bytes != access.bytes {
            let why = format!(
                "{} has {} bytes, and `{}` accesses {}",
                access.ty, access.bytes, target.text, target.bytes
            );
            return Err(Box::new(Finding::new(Verdict::WrongValue, why)));
        }
    }
    if source.accesses.iter().any(|access| access.volatile || access.atomic) {
        notes.push("no order or count is kept where no other thread can tell".to_owned());
    }
    let why = match space {
        Space::Local => "local memory: no other thread can see it",
        Space::Const | Space::Param => "nobody writes this memory",
        Space::Generic | Space::Global | Space::Shared | Space::SharedCluster => "",
    };
    Ok(Prepared::Found(Finding { notes, ..Finding::new(Verdict::Preserved, why) }))
}

/// A load of memory that nobody writes, where the source has this access.
fn read_only(access: &Meaning, target: &Done, notes: &mut Vec<String>) -> Read<()> {
    if access.volatile || access.atomic {
        let contrary = if access.read_only {
            "; its promise that nobody writes the memory is contrary to that"
        } else {
            ""
        };
        let why = format!(
            "`{}` may return any old value, and the source is volatile or atomic: others write what it reads{contrary}",
            target.text
        );
        let context = "[ROW] || st.relaxed.sys y, 1, anywhere".to_owned();
        let finding = Finding::new(Verdict::Weaker, why);
        return Err(Box::new(Finding { context: Some(context), ..finding }));
    }
    if access.read_only {
        notes.push(
            "under the source's promise that nobody writes this memory while the kernel runs"
                .to_owned(),
        );
        return Ok(());
    }
    let why = format!(
        "`{}` is of memory that nobody writes, and the source does not promise it",
        target.text
    );
    Err(Box::new(Finding::new(Verdict::Outside, why)))
}

impl Asked {
    /// Asks, and what the answer means for the row.
    pub fn finding(&self, judge: &mut Judge<'_>) -> Finding {
        let mut finding = match judge.judge(&self.question) {
            Answer::Refuted(refutation) => {
                let blamed = match refutation.axioms.len() {
                    _ if refutation.torn => "single-copy atomicity: an access is torn".to_owned(),
                    0 => "several axioms of the source's model together".to_owned(),
                    _ => refutation.axioms.join(", and alone by "),
                };
                let (source, target) = (line(&self.question.source), line(&self.question.target));
                let why =
                    format!("{source} became {target}, which allows what is forbidden by {blamed}");
                Finding {
                    context: Some(refutation.context),
                    outcome: Some(refutation.outcome),
                    axioms: refutation.axioms,
                    ..Finding::new(Verdict::Weaker, why)
                }
            }
            Answer::Undecided(why) => Finding::new(Verdict::Undecided, why),
            Answer::Included(_) if self.part_of_word => Finding::new(
                Verdict::Outside,
                "another thread may access the part of the word by itself, which is of another size",
            ),
            Answer::Included(Tally { told, silent, withdrawn }) => {
                let mut why = format!("no outcome is added in {told} contexts");
                if silent > 0 {
                    write!(why, "; in {silent} the source races").expect("a string takes it");
                }
                if withdrawn > 0 {
                    let text = "withdrawn, where the published mapping adds one too";
                    write!(why, "; {withdrawn} {text}").expect("a string takes it");
                }
                match self.sufficient(judge) {
                    Some(less) => Finding {
                        sufficient: Some(line(&less)),
                        ..Finding::new(Verdict::Stronger, why)
                    },
                    None => Finding::new(Verdict::Preserved, why),
                }
            }
        };
        finding.notes.clone_from(&self.notes);
        let weak = |step: &Step| matches!(step, Step::Access { order: Order::Weak, .. });
        if self.unordered && self.question.target.iter().any(weak) {
            finding.notes.push("`unordered` became weak".to_owned());
        }
        finding
    }

    /// A weaker target that keeps the source too, found by small steps; none where each adds an outcome.
    fn sufficient(&self, judge: &mut Judge<'_>) -> Option<Vec<Step>> {
        let mut least: Option<Vec<Step>> = None;
        loop {
            let from = least.as_ref().unwrap_or(&self.question.target);
            let kept = weakenings(from, self.cluster).into_iter().find(|target| {
                let question = Question { target: target.clone(), ..self.question.clone() };
                matches!(judge.judge(&question), Answer::Included(Tally { told: 1.., .. }))
            });
            match kept {
                Some(target) => least = Some(target),
                None => return least,
            }
        }
    }
}
