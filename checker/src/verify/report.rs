//! What is printed of a launch.

use std::collections::BTreeSet;
use std::io::{self, Write};

use engine::Limit;
use engine::exit::Exit;
use judge::Property;
use verify::file::CLEAN;
use verify::{
    FindingKind, FindingPlace, KernelEdit, KernelFinding, KernelRepair, KernelWeakening,
    LaunchQuestion, LaunchSpec, OtherAnswer, Verification,
};

use super::JudgedLaunch;
use crate::options::LimitArgs;
use crate::report::count_of;

/// The exit code of a launch.
pub(super) fn exit(judged: &JudgedLaunch<'_>) -> Exit {
    let verification = judged.verification;
    let undecided = !verification.undecided.is_empty();
    if verification.disagreement.is_some() {
        return Exit::Disagreement;
    }
    let Some(unmet) = judged.unmet() else {
        return match (verification.findings.is_empty(), undecided) {
            (false, _) => Exit::Differs,
            (true, true) => Exit::Undecided,
            (true, false) => Exit::AsExpected,
        };
    };
    if !unmet.spare.is_empty() {
        return Exit::Differs;
    }
    match (unmet.missing.is_empty(), undecided) {
        (false, true) => Exit::Undecided,
        (false, false) => Exit::Differs,
        (true, true) if verification.findings.is_empty() => Exit::Undecided,
        (true, _) => Exit::AsExpected,
    }
}

/// What is not as a launch file expects it, by the names of kinds.
pub(super) struct UnmetExpectation {
    /// Found, and not expected.
    pub(super) spare: BTreeSet<&'static str>,
    /// Expected, and not found.
    pub(super) missing: BTreeSet<String>,
}

impl JudgedLaunch<'_> {
    /// `None` where nothing is expected.
    pub(super) fn unmet(&self) -> Option<UnmetExpectation> {
        let expected = self.read.expected.as_ref()?;
        let kinds: BTreeSet<FindingKind> =
            self.verification.findings.iter().map(|finding| finding.kind).collect();
        let found: BTreeSet<&'static str> = kinds.iter().map(|kind| kind.name()).collect();
        let wanted = expected.findings.iter().map(String::as_str).filter(|kind| *kind != CLEAN);
        let wanted: BTreeSet<&str> = wanted.collect();
        let spare =
            |kind: &&str| !wanted.contains(kind) && !expected.may.iter().any(|may| may == kind);
        // Of a kernel without a meaning nothing else is found.
        let has_meaning =
            !kinds.iter().any(|kind| kind.takes_meaning() && wanted.contains(kind.name()));
        let missing = wanted.iter().filter(|kind| has_meaning && !found.contains(*kind));
        Some(UnmetExpectation {
            missing: missing.map(|kind| (*kind).to_owned()).collect(),
            spare: found.iter().copied().filter(spare).collect(),
        })
    }
}

impl JudgedLaunch<'_> {
    /// What was asked that a property answers, as the launch names it.
    pub(super) fn question(&self, property: Property) -> &'static str {
        let mut asked = self.read.launch.questions.iter();
        let asked = asked.find(|question| question.property() == property);
        asked.copied().unwrap_or(LaunchQuestion::of(property)).name()
    }

    /// An instruction with its thread.
    pub(super) fn in_words(&self, place: &FindingPlace) -> String {
        match place.column {
            Some(column) => format!("{}: `{}`", self.composed.thread_name(column), place.text),
            None => format!("`{}`", place.text),
        }
    }

    /// The instructions of a finding with their lines. Threads that never finish are together where they are at one.
    fn places(&self, finding: &KernelFinding) -> Vec<String> {
        let is_hang = finding.kind == FindingKind::Hang;
        let alike = |one: &FindingPlace, other: &FindingPlace| {
            is_hang && (one.line, &one.text) == (other.line, &other.text)
        };
        let group = |places: &[FindingPlace]| {
            let columns: Vec<usize> = places.iter().filter_map(|place| place.column).collect();
            let instruction = if columns.len() > 1 {
                format!("{}: `{}`", self.composed.thread_names(&columns), places[0].text)
            } else {
                self.in_words(&places[0])
            };
            format!("{instruction} ({})", self.lines(places[0].line))
        };
        finding.places.chunk_by(alike).map(group).collect()
    }

    /// The repairs, each with its edits, a line each.
    pub(super) fn repairs(&self) -> Vec<String> {
        let repair = |repair: &KernelRepair| {
            let mut words: Vec<&str> =
                repair.properties.iter().map(|of| repaired(*of, self.verification)).collect();
            words.dedup();
            let rest = repair.lacking.iter().map(|of| still(*of));
            let mut rest: Vec<&str> = rest.collect();
            rest.dedup();
            let but = if rest.is_empty() { "" } else { "; but " };
            let (words, rest) = (words.join(", and "), rest.join(", and "));
            let others: String = repair.elsewhere.iter().map(elsewhere).collect();
            let edits = self.diff(&repair.edits);
            format!("{words} with these edits{but}{rest}{others}\n{edits}")
        };
        self.verification.repairs.iter().map(repair).collect()
    }

    /// Changes of the module, with the lines of its source.
    fn diff(&self, edits: &[KernelEdit]) -> String {
        let mut text = String::new();
        for edit in edits {
            let KernelEdit { before, after, .. } = edit;
            let what = if before.is_some() { "at" } else { "before" };
            text.extend(["  ", what, " ", &self.lines(edit.line), "\n"]);
            for (sign, line) in [("-", before), ("+", after)] {
                text.extend(line.as_ref().map(|line| format!("  {sign}{line}\n")));
            }
        }
        text
    }

    /// What the launch does not need, a paragraph each; none where that was not asked.
    pub(super) fn weaker(&self) -> Vec<String> {
        let Some(weaker) = &self.verification.weaker else { return Vec::new() };
        let KernelWeakening { excluded, alone, together, others, limit } = weaker;
        if let Some(why) = excluded {
            return vec![format!("not searched: {why}\n")];
        }
        let clean = match others {
            0 => "the launch clean".to_owned(),
            1 => "the launch clean, and another one as it is".to_owned(),
            others => format!("the launch clean, and {others} others as they are"),
        };
        let mut all = match (&alone[..], limit) {
            ([], None) => {
                vec![
                    "the launch needs every order, scope, fence and barrier that it has\n"
                        .to_owned(),
                ]
            }
            ([], Some(_)) => vec!["nothing was found\n".to_owned()],
            ([edit], _) => {
                vec![format!("this edit leaves {clean}\n{}", self.diff(std::slice::from_ref(edit)))]
            }
            (edits, _) if edits == together => {
                let edits = self.diff(edits);
                vec![format!("these edits, each alone and all together, leave {clean}\n{edits}")]
            }
            (edits, _) => {
                vec![format!("each of these edits alone leaves {clean}\n{}", self.diff(edits))]
            }
        };
        if !together.is_empty() && together != alone {
            all.push(format!("these edits together leave {clean}\n{}", self.diff(together)));
        }
        if let Some(last) = all.last_mut() {
            last.extend(limit.iter().map(|limit| format!("  not everything was tried: {limit}\n")));
            if !alone.is_empty() {
                last.push_str(&self.alone_of_launch());
            }
        }
        all
    }

    /// What a launch cannot say of weaker forms.
    fn alone_of_launch(&self) -> String {
        let LaunchSpec { grid, block, gpus, .. } = &self.read.launch;
        let gpus = count_of(gpus.iter().collect::<BTreeSet<_>>().len().max(1), "GPU");
        format!(
            "  this is of {} of {} on {gpus}: whether more of them, or other arguments, need what is left out is a question for another launch\n",
            count_of(grid.count(), "CTA"),
            count_of(block.count(), "thread"),
        )
    }

    /// `k.cu:11, k.ptx:50`
    fn lines(&self, line: usize) -> String {
        let source = self.origins.of(line);
        let source = source.map_or(String::new(), |of| format!("{}:{}, ", of.file, of.line));
        format!("{source}{}:{line}", self.module)
    }
}

pub(super) fn text(judged: &JudgedLaunch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let verification = judged.verification;
    let word = word(verification);
    let threads = count_of(judged.composed.threads.len(), "thread");
    writeln!(out, "{}: {word}   ({threads}; {:.1} s)", judged.read.name, verification.seconds)?;
    for finding in &verification.findings {
        writeln!(out, "\n{}: {}", finding.kind.name(), finding.message)?;
        for place in judged.places(finding) {
            writeln!(out, "  {place}")?;
        }
        match finding.like {
            0 => {}
            1 => writeln!(out, "  and once more, in other threads")?,
            count => writeln!(out, "  and {count} times more, in other threads")?,
        }
    }
    if !verification.reasons.is_empty() {
        writeln!(out)?;
    }
    for reason in &verification.reasons {
        writeln!(out, "why: {reason}")?;
    }
    for repair in judged.repairs() {
        write!(out, "\nrepair: {repair}")?;
    }
    if let Some(why) = &verification.unrepaired {
        writeln!(out, "\nrepair: {why}")?;
    }
    for weaker in judged.weaker() {
        write!(out, "\nweaker: {weaker}")?;
    }
    if !verification.undecided.is_empty() {
        writeln!(out)?;
    }
    for undecided in &verification.undecided {
        let question = judged.question(undecided.property);
        let remedy = undecided.limit.and_then(|limit| remedy(limit, judged.limits));
        let remedy = remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
        writeln!(out, "bounded: {question}: {}{remedy}", undecided.why)?;
    }
    if let Some(disagreement) = &verification.disagreement {
        writeln!(out, "engines disagree, which is a bug of the checker: {disagreement}")?;
    }
    if let Some(unmet) = judged.unmet() {
        for kind in &unmet.spare {
            writeln!(out, "not expected: {kind}")?;
        }
        for kind in &unmet.missing {
            writeln!(out, "expected, and not found: {kind}")?;
        }
    }
    for note in &judged.composed.notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

/// The answer, or how many findings there are.
pub(super) fn word(verification: &Verification) -> String {
    match verification.findings.len() {
        0 => verdict(verification).to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    }
}

/// The answer in one word.
pub(super) fn verdict(verification: &Verification) -> &'static str {
    match (verification.findings.is_empty(), verification.undecided.is_empty()) {
        (true, true) => CLEAN,
        (true, false) => "bounded",
        (false, _) => "findings",
    }
}

/// What a repair does.
fn repaired(property: Property, of: &Verification) -> &'static str {
    let asserted = of.findings.iter().any(|finding| finding.kind == FindingKind::Assert);
    match property {
        Property::ProgramSpec if asserted => "the assertion holds",
        // An asynchronous operation that races leaves the kernel without a meaning.
        Property::ProgramSpec | Property::NoDataRace => "no race is left",
        Property::Termination => "every execution finishes",
        Property::NoUninitialisedRead => "no read returns what nobody has written",
    }
}

/// What a repair leaves.
fn still(property: Property) -> &'static str {
    match property {
        Property::ProgramSpec => "the assertion may still be false",
        Property::NoDataRace => "a race is left",
        Property::Termination => "an execution may still not finish",
        Property::NoUninitialisedRead => "a read may return what nobody has written",
    }
}

/// What a repair of one launch does to another one.
fn elsewhere(other: &OtherAnswer) -> String {
    let OtherAnswer { launch, findings, breaks, open } = other;
    let kinds: Vec<&str> = findings.iter().map(|kind| kind.name()).collect();
    match (open, breaks) {
        (Some(why), _) if kinds.is_empty() => {
            format!("; whether {launch} is clean then is not decided: {why}")
        }
        (_, true) => format!("; but {launch} then has findings: {}", kinds.join(", ")),
        (_, false) => format!("; but {launch} still has findings: {}", kinds.join(", ")),
    }
}

/// The option that raises a limit that was reached, or what else helps.
fn remedy(limit: Limit, given: &LimitArgs) -> Option<String> {
    match limit {
        Limit::Time => {
            let seconds = given.timeout.unwrap_or(super::TIMEOUT).as_secs_f64() * 2.0;
            Some(format!("`--timeout {seconds}` gives more time"))
        }
        Limit::Memory => {
            let more = in_binary(given.memory.as_u64().saturating_mul(2));
            Some(format!("`--memory {more}` gives more memory"))
        }
        Limit::Events | Limit::Steps | Limit::Paths | Limit::Barriers | Limit::Mixtures => Some(
            "fewer threads, shorter loops or one question (`--check race`) are less work"
                .to_owned(),
        ),
        Limit::Interrupted
        | Limit::PhaseState
        | Limit::Number
        | Limit::TensorLane
        | Limit::ThinAir
        | Limit::Solver
        | Limit::Work
        | Limit::Model => None,
    }
}

/// A size as `--memory` takes it, in the largest unit of which it is a multiple.
fn in_binary(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = |(shift, _): &(u32, &str)| bytes.trailing_zeros() >= *shift;
    match units.into_iter().find(whole) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use bytesize::ByteSize;

    use super::*;

    #[test]
    fn a_remedy_is_more_than_what_was_given() {
        let of = |limit, timeout: Option<u64>, memory| {
            let timeout = timeout.map(std::time::Duration::from_secs);
            remedy(limit, &LimitArgs { timeout, memory }).unwrap_or_default()
        };
        let memory = ByteSize::gib(1);
        assert_eq!(of(Limit::Time, None, memory), "`--timeout 60` gives more time");
        assert_eq!(of(Limit::Time, Some(120), memory), "`--timeout 240` gives more time");
        assert_eq!(of(Limit::Memory, None, memory), "`--memory 2GiB` gives more memory");
        let small = ByteSize::mib(768);
        assert_eq!(of(Limit::Memory, None, small), "`--memory 1536MiB` gives more memory");
        assert_eq!(in_binary(1001), "1001B");
    }
}
