//! What is printed of a launch.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;

use engine::Limit;
use engine::exit::Exit;
use judge::Property;
use text::origin::Origin;
use verify::file::CLEAN;
use verify::verification::Undecided;
use verify::{
    FindingKind, FindingPlace, KernelEdit, KernelFinding, KernelRepair, KernelWeakening,
    LaunchQuestion, LaunchSpec, OtherAnswer, Verification,
};

use super::{JudgedLaunch, ReadLaunch};
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
    /// What was asked and is not decided, as the launch names it. Assertions are no question where there are none.
    pub(super) fn questions(&self, undecided: &Undecided) -> String {
        let is_open = |question: &&LaunchQuestion| {
            let of_assertion = **question == LaunchQuestion::Assert;
            let own = if undecided.of_assertion {
                of_assertion
            } else {
                !of_assertion || self.composed.asserts()
            };
            question.property() == undecided.property && own
        };
        let open: Vec<&str> =
            self.read.launch.questions.iter().filter(is_open).map(|of| of.name()).collect();
        if open.is_empty() {
            return LaunchQuestion::of(undecided.property).name().to_owned();
        }
        open.join(", ")
    }

    /// What is not decided, a line for each reason.
    fn undecided(&self) -> Vec<String> {
        let mut all: Vec<(&Undecided, Vec<String>)> = Vec::new();
        for undecided in &self.verification.undecided {
            let is_alike = |(of, _): &&mut (&Undecided, Vec<String>)| {
                (&of.why, of.limit) == (&undecided.why, undecided.limit)
            };
            let questions = self.questions(undecided);
            match all.iter_mut().find(is_alike) {
                Some((_, known)) => known.push(questions),
                None => all.push((undecided, vec![questions])),
            }
        }
        let line = |(of, questions): (&Undecided, Vec<String>)| {
            let remedy = of.limit.and_then(|limit| self.remedy(limit));
            let remedy = remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
            format!("bounded: {}: {}{remedy}", questions.join(", "), of.why)
        };
        all.into_iter().map(line).collect()
    }

    /// The option that raises a limit that was reached, or what else helps.
    fn remedy(&self, limit: Limit) -> Option<String> {
        let ReadLaunch { launch, place, .. } = self.read;
        let one_question = if launch.questions.len() == 1 {
            None
        } else if place.is_launch_file() {
            Some("check = [\"race\"]")
        } else {
            Some("--check race")
        };
        remedy(limit, self.limits, one_question)
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
            let split: String = repair.split_updates.iter().map(|line| self.split(*line)).collect();
            format!("{words} with these edits{but}{rest}{others}\n{edits}{split}")
        };
        self.verification.repairs.iter().map(repair).collect()
    }

    /// What a repair does not mend.
    fn split(&self, line: usize) -> String {
        format!(
            "  the update at {} is still a load and a store, between which another thread may store: `atomicAdd` (`atom.add`) or its like updates at once\n",
            self.lines(line)
        )
    }

    /// Changes of the module, with the lines of its source.
    fn diff(&self, edits: &[KernelEdit]) -> String {
        let mut text = String::new();
        for edit in edits {
            let KernelEdit { line, before, after } = edit;
            let place = if before.is_some() {
                format!("at {}", self.lines(*line))
            } else {
                self.insertion(*line)
            };
            text.extend(["  ", &place, "\n"]);
            for (sign, line) in [("-", before), ("+", after)] {
                text.extend(line.as_ref().map(|line| format!("  {sign}{line}\n")));
            }
        }
        text
    }

    /// Where a line is inserted. Compilers give the end of a loop the line of its head: what is inserted there stands behind its last
    /// line.
    fn insertion(&self, line: usize) -> String {
        let last = loop_around(self.text, line).and_then(|around| {
            let behind = self.origins.of(line)?;
            let of = |lines: Range<usize>| lines.filter_map(|line| self.origins.of(line));
            let is_end = of(line..around.end).all(|of| of == behind);
            let inside = of(around.start..line).filter(|of| of.file == behind.file);
            let last = inside.max_by_key(|of| of.line)?;
            Some(last).filter(|last| is_end && last.line > behind.line)
        });
        match last {
            Some(Origin { file, line: last }) => {
                let module = self.module;
                format!("after {file}:{last} (at the end of the loop), {module}:{line}")
            }
            None => format!("before {}", self.lines(line)),
        }
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
    for line in judged.undecided() {
        writeln!(out, "{line}")?;
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

/// The lines of a loop, from its label to the branch that goes back there, if no label is between a line and that branch.
fn loop_around(module: &str, line: usize) -> Option<Range<usize>> {
    let code = |text: &str| text.split("//").next().unwrap_or_default().trim().to_owned();
    let is_label = |text: &str| text.ends_with(':');
    let block = module.lines().map(code).zip(1..).skip(line - 1);
    let mut block = block.take_while(|(text, _)| !is_label(text));
    block.find_map(|(text, end)| {
        let (_, target) = text.split_once("bra")?;
        let label = target.trim_end_matches(';').split_whitespace().next_back()?.to_owned() + ":";
        let mut before = module.lines().map(code).zip(1..).take(line - 1);
        before.find(|(text, _)| *text == label).map(|(_, start)| start..end)
    })
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

/// `one_question`: how the launch asks a single one, if it asks several.
fn remedy(limit: Limit, given: &LimitArgs, one_question: Option<&str>) -> Option<String> {
    match limit {
        Limit::Time => {
            let seconds = given.timeout.unwrap_or(super::TIMEOUT).as_secs_f64() * 2.0;
            Some(format!("`--timeout {seconds}` gives more time"))
        }
        Limit::Memory => {
            let more = in_binary(given.memory.as_u64().saturating_mul(2));
            Some(format!("`--memory {more}` gives more memory"))
        }
        Limit::Events | Limit::Steps | Limit::Paths | Limit::Barriers | Limit::Mixtures => {
            Some(match one_question {
                Some(option) => format!(
                    "fewer threads, shorter loops or one question (`{option}`) are less work"
                ),
                None => "fewer threads or shorter loops are less work".to_owned(),
            })
        }
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
    fn a_loop_goes_back_to_its_label() {
        let module = "$A:\n\tadd;\n$L: // head\n\tld;\n\tbar.sync 0;\n\tsetp;\n\t@%p1 bra \t$L;\n\tst;\n\tbra.uni $E;\n$E:\n\tret;\n";
        assert_eq!([4, 6, 7].map(|line| loop_around(module, line)), [(); 3].map(|()| Some(3..7)));
        assert_eq!([2, 8, 11].map(|line| loop_around(module, line)), [(); 3].map(|()| None));
    }

    #[test]
    fn advice_repeats_nothing_that_was_given() {
        let given = LimitArgs { timeout: None, memory: ByteSize::gib(1) };
        let of = |one| remedy(Limit::Paths, &given, one).unwrap_or_default();
        assert!(of(Some("--check race")).contains("one question (`--check race`)"));
        assert_eq!(of(None), "fewer threads or shorter loops are less work");
    }

    #[test]
    fn a_remedy_is_more_than_what_was_given() {
        let of = |limit, timeout: Option<u64>, memory| {
            let timeout = timeout.map(std::time::Duration::from_secs);
            remedy(limit, &LimitArgs { timeout, memory }, None).unwrap_or_default()
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
