//! Functions with values that are not defined, such as `poison`.
//!
//! A target that has no outcome but those of a source in which some of these values are chosen has none but those of the
//! source. Any other finding may be due to the choice.

use lift::function::{Function, UndefinedValues};

use super::fault::FaultLines;
use super::judge::{self, LocatedFinding};
use crate::refiner::Refiner;
use crate::verdict::{Finding, Verdict};

/// Judges a lowering of a function. Returns the finding, and the lines at fault, if any.
pub(super) fn judge(source: &Function, target: &Function, refiner: Refiner<'_>) -> LocatedFinding {
    if target.undefined != UndefinedValues::Absent {
        let why = "values of the target that are not defined are not supported";
        return (Finding::new(Verdict::Unsupported, why), FaultLines::default());
    }
    let (finding, at) = judge::judge(source, target, refiner);
    match &source.undefined {
        UndefinedValues::LeftOut(Some(zero)) if finding.verdict == Verdict::Outside => {
            let (other, at_other) = judge::judge(zero, target, refiner);
            let preserves = matches!(other.verdict, Verdict::Preserved | Verdict::Stronger);
            if preserves { (other, at_other) } else { (finding, at) }
        }
        UndefinedValues::Zero
            if matches!(
                finding.verdict,
                Verdict::Weaker | Verdict::WrongValue | Verdict::Outside
            ) =>
        {
            let (verdict, why) = (finding.verdict.name(), &finding.why);
            let why = format!("with 0 for what the source does not define, {verdict}: {why}");
            (Finding { notes: finding.notes, ..Finding::new(Verdict::Outside, why) }, at)
        }
        UndefinedValues::Absent | UndefinedValues::LeftOut(_) | UndefinedValues::Zero => {
            (finding, at)
        }
    }
}
