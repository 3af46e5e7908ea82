//! One judged test as a part of a page: answer, condition, outcomes, races, pictures, explanation.

use engine::exit::Exit;
use judge::explain::Explanation;
use judge::headline::Headline;
use judge::words::{race_text, with_threads};
use judge::{Judgement, Observation};
use litmus::Test;
use picture::{page, xml};

/// Candidates that are looked at for one explanation; a test that needs more has none. Counted and not timed, so that a page is the
/// same on every machine.
pub const WORK: u64 = 20_000;
/// Outcomes that a page lists.
const OUTCOMES: usize = 64;

/// What a page says of one test.
pub struct TestedPart<'a> {
    pub test: &'a Test,
    pub judgement: &'a Judgement,
    /// With at most [`WORK`] candidates.
    pub explanation: &'a Explanation,
}

impl TestedPart<'_> {
    /// Whether the explanation ended at a limit. The judgement may come from an engine that needs less; the explanation lists
    /// candidates.
    pub fn is_limited(&self) -> bool {
        self.explanation.exit == Exit::Undecided
    }

    pub fn headline(&self) -> Headline {
        Headline::new(self.test, self.judgement)
    }

    /// What was observed, with counts, as in `Never 0/3`; the verdict where nothing was.
    fn observed(&self) -> String {
        let seen = self.judgement.observation;
        seen.map_or(self.judgement.verdict.name().to_owned(), |seen| {
            self.judgement.with_counts(Observation::name(seen))
        })
    }

    /// The markup, without a heading.
    pub fn write(&self, out: &mut String) {
        let TestedPart { test, judgement, .. } = self;
        headline(out, &self.headline());
        for line in &test.doc {
            xml::element(out, "p", &[("class", "doc")], line);
        }
        if let Some(complaint) = &judgement.complaint {
            xml::element(out, "p", &[("class", "complaint")], complaint);
        }
        for note in &judgement.notes {
            xml::element(out, "p", &[], &format!("Note: {}", note.text));
        }
        let condition = with_threads(&test.condition_text);
        let condition = format!("Condition: {condition} ({})", self.observed());
        xml::element(out, "p", &[("class", "code")], &condition);
        self.outcomes(out);
        self.explained(out);
    }

    fn outcomes(&self, out: &mut String) {
        let TestedPart { test, judgement, .. } = self;
        let found = &judgement.found.outcomes;
        if found.is_empty() {
            return;
        }
        out.push_str("<h2>Outcomes</h2>\n<ul class=\"code\">\n");
        for outcome in found.keys().take(OUTCOMES) {
            let words = test.display_outcome(outcome);
            xml::element(out, "li", &[], &with_threads(words.trim_end_matches([';', ' '])));
            out.push('\n');
        }
        out.push_str("</ul>\n");
        if found.len() > OUTCOMES {
            let more = format!("{} more are not listed.", found.len() - OUTCOMES);
            xml::element(out, "p", &[], &more);
        }
        let races = &judgement.found.seen.races;
        if !races.is_empty() {
            out.push_str("<h2>Data races</h2>\n<ul class=\"code\">\n");
            for race in races {
                xml::element(out, "li", &[], &race_text(test, *race));
                out.push('\n');
            }
            out.push_str("</ul>\n");
        }
    }

    fn explained(&self, out: &mut String) {
        for (index, graph) in self.explanation.graphs.iter().enumerate() {
            out.push_str(&page::figure(graph, &format!("g{index}")));
        }
        if self.is_limited() {
            let words = format!(
                "The explanation is left out or in part: it is limited to {WORK} candidates. \
                 `causeway explain` has no such limit."
            );
            xml::element(out, "p", &[], &words);
        }
        page::text(out, "Explanation", &self.explanation.text);
    }
}

/// The line with the answer, in its colour, and the line with what the test expects.
pub fn headline(out: &mut String, headline: &Headline) {
    let class = format!("verdict {}", headline.answer.tone().name());
    xml::element(out, "p", &[("class", &class)], &headline.to_string());
    xml::element(out, "p", &[("class", "expectation")], headline.expectation());
    out.push('\n');
}

/// The line with the answer on what is not a test.
pub fn verdict(out: &mut String, words: &str) {
    xml::element(out, "p", &[("class", "verdict wrong")], words);
    out.push('\n');
}
