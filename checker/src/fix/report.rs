//! What `causeway fix` prints.

use std::io::{self, Write};

use judge::words::with_threads;
use judge::{Note, Property, Resting};
use litmus::Quantifier;
use litmus::revise::SourceTest;
use repair::{
    EditCost, ProgramEdit, Proposal, RepairState, Repairs, SuperfluousEdit, Tried, Weakening,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{EditOrigins, FixResult};
use crate::format::diff::unified;
use crate::report::count_of;

/// What edits do to a test, of one and of several.
fn does(repairs: &Repairs) -> [&'static str; 2] {
    let undefined = matches!(repairs.state, RepairState::Undefined(_));
    match repairs.property {
        _ if matches!(repairs.state, RepairState::Stuck(_)) => ["lets it finish", "let it finish"],
        Property::ProgramSpec if undefined => {
            ["defines it and forbids its outcome", "define it and forbid its outcome"]
        }
        Property::ProgramSpec => ["forbids it", "forbid it"],
        Property::NoDataRace if undefined => {
            ["defines it and leaves no data race", "define it and leave no data race"]
        }
        Property::NoDataRace => ["leaves no data race", "leave no data race"],
        Property::NoUninitialisedRead if undefined => [
            "defines it and leaves no uninitialised read",
            "define it and leave no uninitialised read",
        ],
        Property::NoUninitialisedRead => {
            ["leaves no uninitialised read", "leave no uninitialised read"]
        }
        Property::Termination if undefined => [
            "defines it and lets every execution finish",
            "define it and let every execution finish",
        ],
        Property::Termination => ["lets every execution finish", "let every execution finish"],
    }
}

/// Whether a test has a property other than that of its condition.
fn has(property: Property, has: bool) -> &'static str {
    match (property, has) {
        (Property::NoDataRace, true) => "has no data race",
        (Property::NoDataRace, false) => "has a data race",
        (Property::NoUninitialisedRead, true) => "has no uninitialised read",
        (Property::NoUninitialisedRead, false) => "has an uninitialised read",
        (Property::Termination | Property::ProgramSpec, true) => "finishes in every execution",
        (Property::Termination | Property::ProgramSpec, false) => {
            "never finishes in some execution"
        }
    }
}

/// Said where nothing suffices of what was tried, and what that was.
fn nothing(repairs: &Repairs) -> String {
    // Nothing names the test before this.
    let named = |of: &str| {
        of.replacen("define it", "define the test", 1).replacen("defines it", "defines the test", 1)
    };
    let [one, several] = does(repairs).map(named);
    let Tried { places, barriers, waits, combined, moves, sets } = &repairs.tried;
    if repairs.possible == Some(false) && *moves == 0 {
        return format!("No change of orders, scopes and fences {one}, nor do all together");
    }
    let mut kinds = Vec::new();
    if *places > 0 {
        kinds.push(format!("orders, scopes and fences at {}", count_of(*places, "place")));
    }
    let counted = [(barriers, "barriers"), (waits, "waits"), (moves, "the order of instructions")];
    for (count, what) in counted.into_iter().filter(|(count, _)| **count > 0) {
        kinds.push(format!("{} of {what}", count_of(*count, "change")));
    }
    if kinds.is_empty() {
        return format!("`fix` has no edit for this test that could {several}");
    }
    let how = match (combined, sets) {
        (false, _) => String::new(),
        (true, 0) => ", alone and in pairs".to_owned(),
        (true, sets) => {
            format!(", alone, in pairs and in {}", count_of(*sets, "larger set"))
        }
    };
    format!("Nothing that was tried {one}: {}{how}", kinds.join(", "))
}

/// Whether nothing suffices of what is ever tried.
fn is_exhausted(repairs: &Repairs) -> bool {
    let searched = !matches!(
        repairs.state,
        RepairState::Excluded(_) | RepairState::Forbidden | RepairState::Keeps(_)
    );
    let found = !repairs.proposals.is_empty() || repairs.possible == Some(true);
    searched && repairs.limit.is_none() && !found
}

/// Prints a result as text.
pub(super) fn text(
    source: &SourceTest,
    origins: &EditOrigins<'_>,
    result: &FixResult,
    most: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    match result {
        FixResult::Stronger(repairs) => stronger(source, origins, repairs, most, out),
        FixResult::Weaker(weakening) => weaker(source, origins, weakening, out),
    }
}

fn stronger(
    source: &SourceTest,
    origins: &EditOrigins<'_>,
    repairs: &Repairs,
    most: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = origins.path;
    let condition = with_threads(&source.test.condition_text);
    let subject = subject(source);
    match &repairs.state {
        RepairState::Excluded(why) => return writeln!(out, "{path}: not searched: {why}"),
        RepairState::Forbidden => {
            writeln!(out, "{path}: {subject} `{condition}` is already forbidden")?;
            if repairs.sometimes_stuck {
                let file = origins.command_line();
                writeln!(
                    out,
                    "note: some executions never finish: see `causeway check --property termination {file}`"
                )?;
            }
            return notes(&repairs.notes, "", out);
        }
        RepairState::Allowed => {
            writeln!(out, "{path}: {subject} `{condition}` is allowed")?;
        }
        RepairState::Undefined(why) => writeln!(out, "{path}: the test is undefined: {why}")?,
        RepairState::Stuck(why) => writeln!(out, "{path}: {why}")?,
        RepairState::Keeps(property) => {
            writeln!(out, "{path}: the test {}", has(*property, true))?;
            return notes(&repairs.notes, "", out);
        }
        RepairState::Violates(property) => {
            writeln!(out, "{path}: the test {}", has(*property, false))?;
        }
    }
    if let Some(why) = &repairs.disagreement {
        writeln!(
            out,
            "error: engines disagree on a changed test, which is a bug in causeway: {why}"
        )?;
    }
    let Some((first, others)) = repairs.proposals.split_first() else {
        return none(repairs, most, out);
    };
    let [one, several] = does(repairs);
    match first.cost.edits {
        1 => writeln!(out, "1 edit {one}:")?,
        edits => writeln!(out, "{edits} edits {several}:")?,
    }
    lines(&first.edits, "  ", origins, out)?;
    writeln!(out, "{}", account(first))?;
    rests(&first.resting, "", out)?;
    notes(&first.notes, "", out)?;
    writeln!(out)?;
    write!(out, "{}", unified(&origins.name(), "fixed", source.text(), &first.text))?;
    if !others.is_empty() {
        writeln!(out, "\nOther proposals, by cost:")?;
    }
    for (number, proposal) in others.iter().enumerate() {
        writeln!(out, "{}. {}", number + 2, account(proposal))?;
        rests(&proposal.resting, "   ", out)?;
        notes(&proposal.notes, "   ", out)?;
        lines(&proposal.edits, "     ", origins, out)?;
    }
    let more = repairs.found - repairs.proposals.len();
    if more > 0 {
        writeln!(out, "\n{more} more, which --all shows")?;
    }
    limited(repairs.limit.as_ref(), out)
}

/// Prints the first proposal in a few lines, for `explain`; nothing where there is none.
pub(super) fn brief(
    subject: &str,
    origins: &EditOrigins<'_>,
    repairs: &Repairs,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = repairs.proposals.first() else {
        if is_exhausted(repairs) {
            writeln!(out, "\n{}.", nothing(repairs))?;
        } else if repairs.limit.is_some() {
            let [_, several] = does(repairs);
            writeln!(
                out,
                "\nNo changes that {several} were found soon: `causeway fix {subject}` searches longer."
            )?;
        }
        return Ok(());
    };
    let aim = match &repairs.state {
        RepairState::Undefined(_) => "To define the test and forbid its outcome",
        RepairState::Stuck(_) => "To let it finish",
        RepairState::Violates(Property::NoDataRace) => "To leave no data race",
        RepairState::Violates(Property::NoUninitialisedRead) => "To leave no uninitialised read",
        RepairState::Violates(_) | RepairState::Keeps(_) => "To let every execution finish",
        RepairState::Allowed | RepairState::Forbidden | RepairState::Excluded(_) => "To forbid it",
    };
    writeln!(out, "\n{aim}, see also `causeway fix {subject}`:")?;
    lines(&first.edits, "  ", origins, out)?;
    rests(&first.resting, "  ", out)?;
    notes(&first.notes, "  ", out)
}

/// Prints what the test does not need in a few lines, for `explain --weaken`.
pub(super) fn brief_weaker(
    subject: &str,
    origins: &EditOrigins<'_>,
    weakening: &Weakening,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(why) = &weakening.excluded {
        return writeln!(out, "\nNot searched for what is superfluous: {why}.");
    }
    if weakening.superfluous.is_empty() {
        writeln!(out, "\nIt needs every order, scope, fence and wait for groups that it has.")?;
    } else {
        writeln!(out, "\nSuperfluous, each alone; see also `causeway fix --weaken {subject}`:")?;
        superfluous(weakening, origins, out)?;
    }
    limited(weakening.limit.as_ref(), out)
}

/// Each edit that alone keeps the outcome forbidden, with the readings that this rests on.
fn superfluous(
    weakening: &Weakening,
    origins: &EditOrigins<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for SuperfluousEdit { edit, resting } in &weakening.superfluous {
        lines(std::slice::from_ref(edit), "  ", origins, out)?;
        rests(resting, "    ", out)?;
    }
    Ok(())
}

/// What is forbidden or not.
fn subject(source: &SourceTest) -> &'static str {
    match source.test.quantifier {
        Quantifier::Exists | Quantifier::NotExists => "the outcome of",
        Quantifier::ForAll => "what violates",
    }
}

/// That nothing was found, and why.
fn none(repairs: &Repairs, most: u32, out: &mut dyn Write) -> io::Result<()> {
    if let Some(limit) = &repairs.limit {
        return writeln!(out, "no proposal was found before a limit was reached: {}", limit.text());
    }
    if is_exhausted(repairs) {
        writeln!(out, "{}", nothing(repairs))?;
        if repairs.tried.moves == 0 {
            writeln!(out, "help: `--moves` also moves instructions, `--edits` allows more edits")?;
        }
        return Ok(());
    }
    // More than so many orders, scopes and fences suffice.
    let set = if most == 1 { "edit".to_owned() } else { format!("set of at most {most} edits") };
    let [one, _] = does(repairs);
    writeln!(out, "no {set} that was tried {one}; --edits raises the limit")
}

fn weaker(
    source: &SourceTest,
    origins: &EditOrigins<'_>,
    weakening: &Weakening,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = origins.path;
    if let Some(why) = &weakening.excluded {
        return writeln!(out, "{path}: not searched: {why}");
    }
    let condition = with_threads(&source.test.condition_text);
    writeln!(out, "{path}: {} `{condition}` is forbidden", subject(source))?;
    if let Some(why) = &weakening.disagreement {
        writeln!(
            out,
            "error: engines disagree on a changed test, which is a bug in causeway: {why}"
        )?;
    }
    if weakening.superfluous.is_empty() && weakening.together.is_empty() {
        writeln!(out, "it needs every order, scope, fence and wait for groups that it has")?;
        return limited(weakening.limit.as_ref(), out);
    }
    writeln!(out, "each of these alone keeps it forbidden:")?;
    superfluous(weakening, origins, out)?;
    if !weakening.together.is_empty() {
        writeln!(out, "these together keep it forbidden{}:", checked(&weakening.engines))?;
        lines(&weakening.together, "  ", origins, out)?;
        rests(&weakening.resting, "  ", out)?;
        writeln!(out)?;
        write!(out, "{}", unified(&origins.name(), "weakened", source.text(), &weakening.text))?;
    }
    limited(weakening.limit.as_ref(), out)
}

/// One line for each change, also where it is of several instructions: of several threads, or several times in one.
fn lines(
    edits: &[ProgramEdit],
    indent: &str,
    origins: &EditOrigins<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    struct Printed<'e> {
        text: String,
        threads: Vec<&'e str>,
        times: usize,
        places: Vec<String>,
    }
    let all = edits.iter().flat_map(|edit| &edit.lines);
    let mut printed: Vec<Printed<'_>> = Vec::new();
    for line in all {
        let text = line.change();
        let place = origins.module_line(&line.thread, line.line);
        let place = place.map(|line| format!("{}:{line}", origins.module()));
        match printed.iter_mut().find(|known| known.text == text) {
            Some(known) => {
                if known.threads.contains(&&*line.thread) {
                    known.times += 1;
                } else {
                    known.threads.push(&line.thread);
                }
                known.places.extend(place.filter(|place| !known.places.contains(place)));
            }
            None => printed.push(Printed {
                text,
                threads: vec![&line.thread],
                times: 1,
                places: place.into_iter().collect(),
            }),
        }
    }
    printed.into_iter().try_for_each(|Printed { text, threads, times, places }| {
        let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
        let places =
            if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        writeln!(out, "{indent}{}: {text}{times}{places}", threads.join(", "))
    })
}

fn limited(limit: Option<&repair::RepairLimit>, out: &mut dyn Write) -> io::Result<()> {
    let said =
        |limit: &repair::RepairLimit| format!("note: not everything was tried: {}", limit.text());
    limit.map_or(Ok(()), |limit| writeln!(out, "{}", said(limit)))
}

fn edits_of(cost: EditCost) -> String {
    if cost.edits == 1 { "1 edit".to_owned() } else { format!("{} edits", cost.edits) }
}

fn checked(engines: &[&str]) -> String {
    format!(" (checked by {})", engines.join(" and "))
}

/// The readings by which an outcome is forbidden, or may be, a line for each.
fn rests(resting: &Resting, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    resting.lines().iter().try_for_each(|line| writeln!(out, "{indent}{line}"))
}

fn notes(notes: &[Note], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "{indent}note: {}", note.text))
}

/// The cost of a proposal, and what the test keeps.
fn account(proposal: &Proposal) -> String {
    let EditCost { weight, .. } = proposal.cost;
    let kept = match (proposal.kept, proposal.lost.as_slice()) {
        (None, _) | (Some(0), []) => String::new(),
        (Some(1), []) => "; the other outcome remains".to_owned(),
        (Some(kept), []) => format!("; all {kept} other outcomes remain"),
        (Some(kept), lost) => {
            format!("; {kept} of {} other outcomes remain", kept + lost.len())
        }
    };
    let new = match proposal.new.as_deref().unwrap_or_default() {
        [] => String::new(),
        new => format!("; new: {}", count_of(new.len(), "outcome")),
    };
    let idle = if proposal.idle { "; a wait is then over before anything has arrived" } else { "" };
    let holds = match proposal.holds {
        Some(true) => "; its condition holds",
        Some(false) => "; its condition does not hold",
        None => "",
    };
    let stuck = match proposal.stuck {
        Some(true) => "; some executions still never finish",
        Some(false) | None => "",
    };
    format!(
        "{}, weight {weight}{}{kept}{new}{idle}{stuck}{holds}",
        edits_of(proposal.cost),
        checked(&proposal.engines)
    )
}

/// The changes of a test that forbid its outcome, or those that it does not need.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FixObject<'a> {
    file: &'a str,
    name: &'a str,
    /// The condition with its quantifier.
    condition: &'a str,
    /// What is known of the outcome: `allowed`, `forbidden`, `undefined`, `stuck` or `not-searched`; of another property `kept`
    /// or `violated`.
    outcome: &'static str,
    /// Why the test is undefined, or was not searched.
    reason: Option<&'a str>,
    /// Sets of edits after which the outcome is forbidden, cheaper ones first. Empty with `--weaken`.
    proposals: Vec<FixProposal<'a>>,
    /// The number of sets of edits that were found.
    found: usize,
    /// Whether all edits together forbid the outcome; `null` if that is not known, or was not examined.
    possible: Option<bool>,
    /// With `--weaken`, edits of which each alone keeps the outcome forbidden.
    superfluous: Vec<FixEdit<'a>>,
    /// With `--weaken`, edits that all together keep it forbidden, and the changed test.
    together: Option<FixProposal<'a>>,
    /// Of a test that needs no change: the barriers that do not wait for a thread, since it may have exited.
    notes: Vec<&'a str>,
    /// The number of changed tests that were judged.
    questions: usize,
    /// The limit that was reached.
    limit: Option<String>,
    /// How engines differ on a changed test.
    disagreement: Option<&'a str>,
}

/// A set of edits, each of which is needed.
#[derive(Serialize, JsonSchema)]
struct FixProposal<'a> {
    edits: Vec<FixEdit<'a>>,
    /// What proposals are ordered by: the number of instructions, then whether the verdict rests on no reading, then
    /// their weight, then the widths of their scopes.
    cost: FixCost,
    /// The engines that found the outcome forbidden.
    checked_by: &'a [&'static str],
    /// The readings by which the outcome is forbidden: `B5`.
    readings: Vec<&'static str>,
    /// The number of other outcomes that remain; `null` if they are not known.
    kept: Option<usize>,
    /// Other outcomes that are lost.
    lost: &'a [String],
    /// Outcomes that the test did not have; `null` if they are not known, or if it was undefined or never finished.
    new: Option<&'a [String]>,
    /// Whether some executions still never finish; `null` if that is not known.
    stuck: Option<bool>,
    /// Whether a wait for a phase of an mbarrier object is then over before anything has arrived.
    idle: bool,
    /// With another `--property`, whether the condition holds, too; `null` if that is not known, or not asked.
    holds: Option<bool>,
    /// The barriers that do not wait for a thread, since it may have exited.
    notes: Vec<&'a str>,
    /// The changed file.
    text: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct FixCost {
    edits: u32,
    weight: u32,
    width: u32,
}

/// One change.
#[derive(Serialize, JsonSchema)]
struct FixEdit<'a> {
    /// `scope`, `order`, `plain-load`, `fence`, `proxy-fence`, `grid-wait`, `fence-sc`, `parity`, `expected-bytes`,
    /// `count`, `object`, `wgmma-fence`, `group-wait`, `commit`, `init-fence`, `tensor-fence`, `phase-wait`, `arrival`, `barrier`,
    /// `barrier-form`, `state-space`, `move` or `removal`.
    kind: &'static str,
    lines: Vec<FixLine<'a>>,
    /// With `--weaken`, the readings by which the outcome stays forbidden, beside those of the test as it is.
    readings: Vec<&'static str>,
}

/// An instruction that is changed, inserted or removed.
#[derive(Serialize, JsonSchema)]
struct FixLine<'a> {
    thread: &'a str,
    /// The line in the file, from 1: that of the instruction before, or of the one that it is inserted before.
    line: usize,
    /// The line of the instruction in the changed file, `text`; `null` if it is removed, and in `superfluous`, which has no
    /// changed file.
    new_line: Option<usize>,
    /// Of a test that was made of functions: the line in their module.
    module_line: Option<usize>,
    /// The instruction before; `null` if it is inserted.
    before: Option<&'a str>,
    /// The instruction after; `null` if it is removed, as before if it is moved.
    after: Option<&'a str>,
    /// The instruction that it is inserted, or moved, before.
    next: Option<&'a str>,
}

fn edit<'a>(edit: &'a ProgramEdit, origins: &EditOrigins<'_>) -> FixEdit<'a> {
    FixEdit {
        kind: edit.kind.name(),
        lines: edit
            .lines
            .iter()
            .map(|line| FixLine {
                thread: &line.thread,
                line: line.line,
                new_line: line.new_line,
                module_line: origins.module_line(&line.thread, line.line),
                before: line.before.as_deref(),
                after: line.after.as_deref(),
                next: line.next.as_deref(),
            })
            .collect(),
        readings: Vec::new(),
    }
}

fn cost(cost: EditCost) -> FixCost {
    FixCost { edits: cost.edits, weight: cost.weight, width: cost.width }
}

/// A result as an object.
pub(super) fn object<'a>(
    source: &'a SourceTest,
    origins: &EditOrigins<'a>,
    result: &'a FixResult,
) -> FixObject<'a> {
    let mut object = FixObject {
        file: origins.path,
        name: &source.test.name,
        condition: &source.test.condition_text,
        outcome: "forbidden",
        reason: None,
        proposals: Vec::new(),
        found: 0,
        possible: None,
        superfluous: Vec::new(),
        together: None,
        notes: Vec::new(),
        questions: 0,
        limit: result.limit().map(repair::RepairLimit::text),
        disagreement: result.disagreement().map(String::as_str),
    };
    match result {
        FixResult::Stronger(repairs) => {
            (object.outcome, object.reason) = match &repairs.state {
                RepairState::Excluded(why) => ("not-searched", Some(why.as_str())),
                RepairState::Forbidden => ("forbidden", None),
                RepairState::Allowed => ("allowed", None),
                RepairState::Undefined(why) => ("undefined", Some(why.as_str())),
                RepairState::Stuck(why) => ("stuck", Some(why.as_str())),
                RepairState::Keeps(_) => ("kept", None),
                RepairState::Violates(_) => ("violated", None),
            };
            object.found = repairs.found;
            object.possible = repairs.possible;
            object.questions = repairs.asked;
            object.notes = texts(&repairs.notes);
            object.proposals = repairs.proposals.iter().map(|of| proposal(of, origins)).collect();
        }
        FixResult::Weaker(weakening) => {
            if let Some(why) = &weakening.excluded {
                (object.outcome, object.reason) = ("not-searched", Some(why.as_str()));
            }
            object.questions = weakening.asked;
            let superfluous = |of: &'a SuperfluousEdit| FixEdit {
                readings: of.resting.names(),
                ..edit(&of.edit, origins)
            };
            object.superfluous = weakening.superfluous.iter().map(superfluous).collect();
            let edits = &weakening.together;
            object.together = (!edits.is_empty()).then(|| FixProposal {
                edits: edits.iter().map(|of| edit(of, origins)).collect(),
                cost: cost(edits.iter().fold(EditCost::default(), |all, edit| all + edit.cost)),
                checked_by: &weakening.engines,
                readings: weakening.resting.names(),
                kept: None,
                lost: &[],
                new: None,
                stuck: None,
                idle: false,
                holds: None,
                notes: Vec::new(),
                text: &weakening.text,
            });
        }
    }
    object
}

fn texts(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

fn proposal<'a>(proposal: &'a Proposal, origins: &EditOrigins<'_>) -> FixProposal<'a> {
    FixProposal {
        edits: proposal.edits.iter().map(|of| edit(of, origins)).collect(),
        cost: cost(proposal.cost),
        checked_by: &proposal.engines,
        readings: proposal.resting.names(),
        kept: proposal.kept,
        lost: &proposal.lost,
        new: proposal.new.as_deref(),
        stuck: proposal.stuck,
        idle: proposal.idle,
        holds: proposal.holds,
        notes: texts(&proposal.notes),
        text: &proposal.text,
    }
}
