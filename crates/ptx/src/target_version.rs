//! The version of PTX that brought each target.

use model::section;

use super::lint::Linter;
use crate::version::{PtxIsa, Target};
use text::report::FixBuilder;

/// The targets of each version, from the table of its history; without a letter, and with one.
const FIRST: &[(u8, u8, &[&str])] = &[
    (1, 0, &["sm_10", "sm_11"]),
    (1, 2, &["sm_12", "sm_13"]),
    (2, 0, &["sm_20", "sm_21"]),
    (3, 0, &["sm_30"]),
    (3, 1, &["sm_35"]),
    (4, 0, &["sm_32", "sm_50"]),
    (4, 1, &["sm_37", "sm_52"]),
    (4, 2, &["sm_53"]),
    (5, 0, &["sm_60", "sm_61", "sm_62"]),
    (6, 0, &["sm_70"]),
    (6, 1, &["sm_72"]),
    (6, 3, &["sm_75"]),
    (7, 0, &["sm_80"]),
    (7, 1, &["sm_86"]),
    (7, 4, &["sm_87"]),
    (7, 8, &["sm_89", "sm_90"]),
    (8, 0, &["sm_90a"]),
    (8, 6, &["sm_100", "sm_100a", "sm_101", "sm_101a"]),
    (8, 7, &["sm_120", "sm_120a"]),
    (
        8,
        8,
        &[
            "sm_100f", "sm_101f", "sm_103", "sm_103a", "sm_103f", "sm_120f", "sm_121", "sm_121a",
            "sm_121f",
        ],
    ),
    (9, 0, &["sm_88", "sm_110", "sm_110a", "sm_110f"]),
    (9, 4, &["sm_107", "sm_107a", "sm_107f"]),
];

/// Every target of the document.
pub fn targets() -> impl Iterator<Item = Target> {
    FIRST.iter().flat_map(|(_, _, names)| *names).filter_map(|name| Target::parse(name))
}

/// The first version that has a target; `None` for a target that is not known here.
fn first(target: Target) -> Option<PtxIsa> {
    let name = target.to_string();
    let found = FIRST.iter().find(|(_, _, targets)| targets.contains(&name.as_str()));
    found.map(|(major, minor, _)| PtxIsa::new(*major, *minor))
}

impl Linter<'_, '_> {
    /// A module has a version of PTX that knows its target. Options stand for directives that are changed together.
    pub(super) fn version_of_target(&mut self) {
        let ((Some((isa, version)), Some((target, at))), None, None) =
            ((self.module.isa, self.module.target), self.options.isa, self.options.target)
        else {
            return;
        };
        let Some(least) = first(target).filter(|least| isa < *least) else { return };
        self.report
            .error("target-version", at, format!("`{target}` requires PTX ISA {least}"))
            .note(format!("this module is of PTX ISA {isa}"))
            .section(section::TARGET)
            .help(format!(".version {least}"))
            .fix_if(Some(FixBuilder::one(false, version, format!(".version {least}"))));
    }

    /// Another target in the place of that of the module, with a version that has it.
    pub(super) fn with_target(&self, target: Target) -> Option<FixBuilder> {
        let (_, at) = self.module.target?;
        let mut fix = FixBuilder::one(false, at, format!(".target {target}"));
        if let Some((isa, version)) = self.module.isa.filter(|_| self.options.isa.is_none())
            && let Some(least) = first(target).filter(|least| isa < *least)
            && version.end <= at.start
        {
            fix.edits.push((version, format!(".version {least}")));
            fix.unit = version.to(at);
        }
        Some(fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_came_with_a_version() {
        let of =
            |name: &str| first(Target::parse(name).expect("a target")).map(|isa| isa.to_string());
        assert_eq!(of("sm_90"), Some("7.8".into()));
        assert_eq!(of("sm_90a"), Some("8.0".into()));
        assert_eq!(of("sm_88"), Some("9.0".into()));
        assert_eq!(of("sm_107f"), Some("9.4".into()));
        assert_eq!(of("sm_200"), None);
    }
}
