//! `causeway lower --page FILE`: a page of lowerings, with source, target and context side by side.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use judge::explain::{ExplainOptions, explanation};
use judge::words::with_threads;
use litmus::{Dialect, Test};
use model::cxx::{self, ReleaseSequence};
use model::ptx;
use model::rel::Model;
use model::scope::Scope;
use picture::graph::ExecutionGraph;
use picture::{page, xml};
use refine::verdict::Finding;

use crate::output;

/// The rules of the table, after those of pages.
const STYLE: &str = include_str!("page.css");

/// What stands between the threads of a context.
const THREADS: &str = " || ";

/// Orders, as PTX names them; of other names [`strength`] makes these.
const ORDERS: [&str; 8] =
    ["weak", "volatile", "mmio", "relaxed", "acquire", "release", "acq_rel", "sc"];

/// A word of an instruction, and whether the other side lacks it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct MarkedWord<'a> {
    text: &'a str,
    lacking: bool,
}

/// An instruction: its words, and its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SideLine<'a> {
    words: Vec<MarkedWord<'a>>,
    operands: &'a str,
}

/// The lines of a thread on both sides; one side has none where the other has another instruction more.
type SideBySide<'a> = Vec<(Option<SideLine<'a>>, Option<SideLine<'a>>)>;

/// The findings that are shown, and how many others there are.
#[derive(Default)]
pub(super) struct LoweringPage {
    shown: Vec<ShownFinding>,
    others: usize,
}

/// A finding with the tests that show it: the source, and the target, in a context.
struct ShownFinding {
    title: String,
    finding: Finding,
    source: Test,
    target: Test,
}

impl LoweringPage {
    /// Takes a finding; those with an outcome that the source forbids are shown.
    pub(super) fn add(&mut self, who: &str, finding: &Finding) {
        let test = |text: &Option<String>| {
            litmus::parse("lowering.litmus", text.as_deref()?.as_bytes()).ok()
        };
        let (Some(source), Some(target)) = (test(&finding.forbidden), test(&finding.allowed))
        else {
            self.others += 1;
            return;
        };
        let row = who.bytes().all(|byte| byte.is_ascii_digit());
        let title = if row { format!("row {who}") } else { who.to_owned() };
        self.shown.push(ShownFinding { title, finding: finding.clone(), source, target });
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let mut out =
            String::from("<main>\n<h1>Lowerings that are weaker than their source</h1>\n");
        let (shown, others) = (self.shown.len(), self.others);
        let of = shown + others;
        xml::element(&mut out, "p", &[], &format!("{shown} of {of} findings are shown."));
        out.push('\n');
        let models = [ptx::model(), cxx::model(ReleaseSequence::Cpp20)];
        for (index, shown) in self.shown.iter().enumerate() {
            section(&mut out, &format!("l{index}"), shown, &models);
        }
        out.push_str("</main>\n");
        let parts = page::PageParts { style: STYLE, ..page::PageParts::default() };
        output::write(file, page::whole("Lowerings", &out, parts).as_bytes())
    }
}

fn section(out: &mut String, prefix: &str, shown: &ShownFinding, models: &[Model; 2]) {
    let ShownFinding { title, finding, source, target } = shown;
    xml::open(out, "section", &[("class", "lowering"), ("id", prefix)]);
    xml::element(out, "h2", &[], &format!("{title}: {}", finding.verdict.name()));
    xml::element(out, "p", &[("class", "complaint")], &finding.why);
    out.push('\n');
    let context = finding.context.as_deref().unwrap_or_default();
    table(out, judged_thread(source, target, context), source, target);
    let condition = target.condition_text.trim_start_matches("exists ");
    let outcome = with_threads(condition.trim_matches(['(', ')']));
    let axioms = finding.axioms.join(", ");
    let by = if axioms.is_empty() { String::new() } else { format!(" by {axioms}") };
    let words = format!("The target allows {outcome}; the source forbids it{by}.");
    xml::element(out, "p", &[("class", "verdict")], &words);
    out.push('\n');
    let sides = [
        ("Why the source forbids it", source, "source"),
        ("How the target allows it", target, "target"),
    ];
    for (heading, test, side) in sides {
        if let Some(graph) = graph(test, models) {
            xml::element(out, "h3", &[], heading);
            out.push_str(&page::figure(&graph, &format!("{prefix}-{side}")));
        }
    }
    if let Some(run) = &finding.run {
        page::text(out, "A run of the machine", run);
    }
    out.push_str("</section>\n");
}

/// The first candidate of the explanation of a test.
fn graph(test: &Test, [ptx, cxx]: &[Model; 2]) -> Option<ExecutionGraph> {
    let is_cxx = test.dialect == Dialect::Cxx;
    let options = ExplainOptions {
        work: Some(answer::tested::WORK),
        readings: ExplainOptions::default().readings.filter(|_| !is_cxx),
        ..ExplainOptions::default()
    };
    let of = explanation(test, if is_cxx { cxx } else { ptx }, options).ok()?;
    of.graphs.into_iter().next()
}

/// The thread with the code that is judged: it stands in brackets in the context, or its strengths differ.
fn judged_thread(source: &Test, target: &Test, context: &str) -> usize {
    let marked = context.split(THREADS).position(|thread| thread.contains('['));
    let differs = |thread: &usize| {
        let words = |test: &Test| -> Vec<BTreeSet<&'static str>> {
            let cells = test.columns.get(*thread).into_iter().flatten();
            cells.map(|cell| line(cell).strengths().collect()).collect()
        };
        words(source) != words(target)
    };
    marked.or_else(|| (0..source.columns.len()).find(differs)).unwrap_or(0)
}

fn table(out: &mut String, judged: usize, source: &Test, target: &Test) {
    let name = |thread: usize| &source.program.threads[thread].name;
    let others: Vec<usize> = (0..source.columns.len()).filter(|&of| of != judged).collect();
    let label = "source, target and context";
    let region = [("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    xml::open(out, "div", &region);
    out.push_str("\n<table class=\"sides\">\n<tr>");
    let sides = ["source", "target"].map(|side| format!("{side}: {}", name(judged)));
    let contexts = others.iter().map(|&thread| format!("context: {}", name(thread)));
    for heading in sides.into_iter().chain(contexts) {
        xml::element(out, "th", &[("scope", "col")], &heading);
    }
    out.push_str("</tr>\n");
    let lines = side_by_side(&source.columns[judged], &target.columns[judged]);
    let rows = others.iter().map(|&thread| source.columns[thread].len());
    let rows = rows.chain([lines.len()]).max().unwrap_or(0);
    for row in 0..rows {
        out.push_str("<tr>");
        let (from, to) = lines.get(row).cloned().unwrap_or((None, None));
        for (side, class) in [(from, "lacking"), (to, "instead")] {
            out.push_str("<td>");
            if let Some(side) = side {
                side.write(out, class);
            }
            out.push_str("</td>");
        }
        for &thread in &others {
            let cell = source.columns[thread].get(row).map_or("", String::as_str);
            xml::element(out, "td", &[], cell);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n</div>\n");
}

/// An instruction as words, none of which is marked.
fn line(cell: &str) -> SideLine<'_> {
    let (head, operands) = cell.split_at(cell.find(' ').unwrap_or(cell.len()));
    SideLine {
        words: head.split('.').map(|text| MarkedWord { text, lacking: false }).collect(),
        operands,
    }
}

impl<'a> SideLine<'a> {
    fn strengths(&self) -> impl Iterator<Item = &'static str> + use<'a, '_> {
        self.words.iter().filter_map(|word| strength(word.text))
    }

    /// What the instruction does, where it says it in a word of its own: a load, a store, a fence.
    fn opcode(&self) -> &str {
        match self.words[0].text {
            "load" => "ld",
            "store" => "st",
            other => other,
        }
    }

    fn write(&self, out: &mut String, class: &str) {
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                out.push('.');
            }
            if word.lacking {
                xml::element(out, "mark", &[("class", class)], word.text);
            } else {
                out.push_str(&xml::escape(word.text));
            }
        }
        out.push_str(&xml::escape(self.operands));
    }
}

/// The order or the scope that a word is, as PTX names it.
fn strength(word: &str) -> Option<&'static str> {
    let scope = Scope::of_cxx(word).map(Scope::name);
    let word = scope.or((word == "seq_cst").then_some("sc")).unwrap_or(word);
    let scopes = Scope::ALL.into_iter().map(Scope::name);
    ORDERS.into_iter().chain(scopes).find(|name| *name == word)
}

/// The instructions of both sides, those that do the same beside each other, with the strengths marked that the other
/// side does not have. An instruction without a counterpart is marked as a whole.
fn side_by_side<'a>(source: &'a [String], target: &'a [String]) -> SideBySide<'a> {
    let [source, target] = [source, target]
        .map(|cells| cells.iter().map(|cell| line(cell)).collect::<Vec<SideLine<'a>>>());
    let mut lines = Vec::new();
    let (mut at, mut to) = (0, 0);
    for (from, mate) in common(&source, &target) {
        lines.extend(source[at..from].iter().map(|line| (Some(marked(line, None)), None)));
        lines.extend(target[to..mate].iter().map(|line| (None, Some(marked(line, None)))));
        let pair = (&source[from], &target[mate]);
        lines.push((Some(marked(pair.0, Some(pair.1))), Some(marked(pair.1, Some(pair.0)))));
        (at, to) = (from + 1, mate + 1);
    }
    lines.extend(source[at..].iter().map(|line| (Some(marked(line, None)), None)));
    lines.extend(target[to..].iter().map(|line| (None, Some(marked(line, None)))));
    lines
}

/// A longest common subsequence of instructions that do the same.
fn common(source: &[SideLine<'_>], target: &[SideLine<'_>]) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0; target.len() + 1]; source.len() + 1];
    for from in (0..source.len()).rev() {
        for to in (0..target.len()).rev() {
            let same = source[from].opcode() == target[to].opcode();
            let with = if same { best[from + 1][to + 1] + 1 } else { 0 };
            best[from][to] = with.max(best[from + 1][to]).max(best[from][to + 1]);
        }
    }
    let (mut from, mut to, mut pairs) = (0, 0, Vec::new());
    while from < source.len() && to < target.len() {
        let same = source[from].opcode() == target[to].opcode();
        if same && best[from][to] == best[from + 1][to + 1] + 1 {
            pairs.push((from, to));
            (from, to) = (from + 1, to + 1);
        } else if best[from + 1][to] >= best[from][to + 1] {
            from += 1;
        } else {
            to += 1;
        }
    }
    pairs
}

/// A line with the strengths marked that its counterpart does not have.
fn marked<'a>(line: &SideLine<'a>, mate: Option<&SideLine<'a>>) -> SideLine<'a> {
    let has: BTreeSet<&str> = mate.into_iter().flat_map(SideLine::strengths).collect();
    let mut line = line.clone();
    for word in &mut line.words {
        let strength = strength(word.text);
        word.lacking = match mate {
            Some(_) => strength.is_some_and(|strength| !has.contains(strength)),
            None => true,
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &[&str], target: &[&str]) -> Vec<(String, String)> {
        let owned = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let (source, target) = (owned(source), owned(target));
        let text = |side: &Option<SideLine<'_>>| {
            side.as_ref().map_or(String::new(), |side| {
                let word = |word: &MarkedWord<'_>| {
                    if word.lacking { format!("<{}>", word.text) } else { word.text.to_owned() }
                };
                side.words.iter().map(word).collect::<Vec<_>>().join(".") + side.operands
            })
        };
        let lines = side_by_side(&source, &target);
        lines.iter().map(|(from, to)| (text(from), text(to))).collect()
    }

    #[test]
    fn what_the_target_lacks_is_marked() {
        let lines = shown(
            &["store.relaxed.system [x], 1", "store.release.system [y], 64"],
            &["st.relaxed.sys.u32 [x], 1", "st.relaxed.sys.u32 [y], 64"],
        );
        assert_eq!(
            lines[0],
            ("store.relaxed.system [x], 1".into(), "st.relaxed.sys.u32 [x], 1".into())
        );
        assert_eq!(
            lines[1],
            ("store.<release>.system [y], 64".into(), "st.<relaxed>.sys.u32 [y], 64".into())
        );
    }

    #[test]
    fn an_instruction_without_a_counterpart_is_marked() {
        let lines = shown(
            &["fence.sc.sys", "ld.acquire.gpu.u32 r0, [y]"],
            &["ld.acquire.gpu.u32 r0, [y]", "fence.acquire.cta"],
        );
        let text = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        let same = "ld.acquire.gpu.u32 r0, [y]";
        let expected =
            [text("<fence>.<sc>.<sys>", ""), text(same, same), text("", "<fence>.<acquire>.<cta>")];
        assert_eq!(lines, expected);
    }
}
