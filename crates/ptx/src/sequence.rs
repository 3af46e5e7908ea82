//! Rules of several instructions of a function: legal ones that do less together than they seem to.
//!
//! A rule follows the paths of the control flow from one instruction to another, and addresses through the definitions of
//! registers. What it cannot follow it takes for right: a call may have any effect, a guarded instruction counts as done,
//! and an instruction that is missing must be missing on each path. So nothing is said of many functions that are wrong.

mod completion;
mod examples;
mod flow;
mod proxy;
mod scope;

use model::section::Section;

use crate::lint::{Linter, severity};
use crate::rule::Authority;
use crate::syntax::{Function, ModuleSyntax, Statement};
use crate::version::FunctionKind;
use flow::{Flow, FlowStep};
use text::diagnostic::Severity;
use text::report::{ByteSpan, DiagnosticBuilder};

pub(crate) use examples::EXAMPLES;

/// A rule of several instructions; a function that breaks it has a warning.
pub(crate) struct SequenceRule {
    pub(crate) code: &'static str,
    /// One sentence.
    pub(crate) text: &'static str,
    /// Who forbids what breaks it.
    pub(crate) by: Authority,
    pub(crate) section: fn() -> Section,
}

/// All of them, in the order of [`crate::catalogue`].
pub(crate) const RULES: &[&SequenceRule] = &[
    &scope::REMOTE_SCOPE,
    &scope::REMOTE_WAIT,
    &scope::REMOTE_STATE,
    &scope::RELAXED_WAIT,
    &scope::INIT_FENCE,
    &completion::TX_UNIT,
    &completion::BULK_SIZE,
    &completion::READ_WAIT,
    &completion::UNCOMMITTED,
    &completion::EARLY_READ,
    &proxy::FENCE_MISSING,
    &proxy::FENCE_SPACE,
];

/// What a rule says of a function.
struct SequenceFinding {
    rule: &'static SequenceRule,
    at: ByteSpan,
    message: String,
    /// Of the place.
    note: String,
    /// The other instruction.
    other: Option<(ByteSpan, String)>,
    help: String,
}

/// A function as the rules see it.
struct Subject<'a> {
    flow: Flow<'a>,
    is_kernel: bool,
    /// Whether it calls functions, which may do anything.
    calls: bool,
    /// The names of its variables in shared memory.
    shared: Vec<&'a str>,
    /// Of these, those without a size, in which a kernel has all that it shares.
    unsized_shared: Vec<&'a str>,
    found: Vec<SequenceFinding>,
}

impl<'a> Subject<'a> {
    fn of(text: &'a str, module: &ModuleSyntax, function: &Function) -> Subject<'a> {
        let flow = Flow::of(text, module, function);
        let calls = flow.any(FlowStep::is_call);
        let shared = module.variables.iter().filter(|variable| {
            use model::isa::SpaceQualifier::{Shared, SharedCluster, SharedCta};
            matches!(variable.space, Shared | SharedCluster | SharedCta)
        });
        let unsized_shared = shared.clone().filter(|variable| variable.external);
        Subject {
            flow,
            is_kernel: function.kind == FunctionKind::Kernel,
            calls,
            unsized_shared: unsized_shared.map(|variable| variable.name.of(text)).collect(),
            shared: shared.map(|variable| variable.name.of(text)).collect(),
            found: Vec::new(),
        }
    }

    /// The instruction at this index breaks a rule together with another one, of which something is said.
    fn warn(
        &mut self,
        rule: &'static SequenceRule,
        at: usize,
        message: impl Into<String>,
        other: Option<(usize, &str)>,
        [note, help]: [&str; 2],
    ) {
        let other = other.map(|(at, text)| (self.flow.steps[at].at, text.to_owned()));
        let (note, help) = (note.to_owned(), help.to_owned());
        let at = self.flow.steps[at].at;
        self.found.push(SequenceFinding { rule, at, message: message.into(), note, other, help });
    }

    fn check(&mut self) {
        scope::check(self);
        completion::check(self);
        proxy::check(self);
    }
}

/// Whether a function has an instruction that the rules are about.
fn concerns(text: &str, module: &ModuleSyntax, function: &Function) -> bool {
    function.statements.iter().any(|statement| {
        let Statement::Opaque(opaque) = statement else { return false };
        let first = opaque.parts.of(&module.parts).first().map_or("", |part| part.of(text));
        matches!(first, "mbarrier" | "cp" | "wgmma" | "tcgen05" | "griddepcontrol")
    })
}

impl Linter<'_, '_> {
    /// Checks the rules of several instructions of each function.
    pub(super) fn sequences(&mut self) {
        for function in &self.module.functions {
            if !concerns(self.text, self.module, function) {
                continue;
            }
            let mut subject = Subject::of(self.text, self.module, function);
            subject.check();
            for found in &subject.found {
                let draft = self.report.error(found.rule.code, found.at, found.message.clone());
                said(draft, found, severity(found.rule.by, self.options.strict));
            }
            if subject.flow.is_cut_off() {
                let message =
                    "the function has too many paths for the rules of several instructions";
                self.report
                    .error("paths", function.name, message)
                    .severity(Severity::Note)
                    .note("they are checked in part");
            }
        }
    }
}

fn said(draft: &mut DiagnosticBuilder, found: &SequenceFinding, severity: Severity) {
    draft.severity(severity).section((found.rule.section)()).note(found.note.clone());
    if let Some((at, text)) = &found.other {
        draft.label(*at, text.clone());
    }
    draft.help(found.help.clone());
}
