//! The version of PTX and the target of a module, and the authority that decides.

use std::fmt;

use crate::qualifier::Dialect;

/// A version of PTX, as `.version` names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PtxIsa {
    pub major: u8,
    pub minor: u8,
}

impl PtxIsa {
    /// The newest version that is known: the document this project follows is that of 9.4, and what 9.5 brought is what
    /// ptxas 13.5 takes of it.
    pub const NEWEST: PtxIsa = PtxIsa::new(9, 5);

    pub const fn new(major: u8, minor: u8) -> PtxIsa {
        PtxIsa { major, minor }
    }

    /// Each number from this one to another one; some are of no document.
    pub fn to(self, last: PtxIsa) -> impl Iterator<Item = PtxIsa> {
        let all = (self.major..=last.major)
            .flat_map(|major| (0..=PtxIsa::MOST_MINOR).map(move |minor| PtxIsa { major, minor }));
        all.filter(move |isa| (self..=last).contains(isa))
    }

    /// The largest second number.
    const MOST_MINOR: u8 = 9;

    /// Reads `8.7`.
    pub fn parse(text: &str) -> Option<PtxIsa> {
        let (major, minor) = text.split_once('.')?;
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(major) || !digits(minor) {
            return None;
        }
        Some(PtxIsa { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for PtxIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A target architecture, as `.target` names it: `sm_90`, `sm_90a`, `sm_100f`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Target {
    pub sm: u16,
    /// `a` of `sm_90a`, `f` of `sm_100f`.
    pub variant: Option<char>,
}

/// The numbers that the document has (11.1.2), and `sm_107`, which `ptxas` has.
const KNOWN: &[u16] = &[
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89,
    90, 100, 101, 103, 107, 110, 120, 121,
];

impl Target {
    /// Whether there is such a target, or may be a later one.
    pub fn exists(self) -> bool {
        KNOWN.contains(&self.sm) || KNOWN.last().is_some_and(|last| self.sm > *last)
    }

    pub fn parse(text: &str) -> Option<Target> {
        let rest = text.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let variant = match &rest[digits.len()..] {
            "" => None,
            "a" => Some('a'),
            "f" => Some('f'),
            _ => return None,
        };
        let numeric = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        numeric.then(|| digits.parse().ok()).flatten().map(|sm| Target { sm, variant })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.sm)?;
        self.variant.map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

/// What an instruction stands in, as far as rules ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleContext {
    pub isa: PtxIsa,
    /// `None` where no target is named: then no rule asks for one.
    pub target: Option<Target>,
    pub function: FunctionKind,
    /// 32 or 64, as `.address_size` says; `None` where the module does not say.
    pub address_bits: Option<u16>,
    pub dialect: Dialect,
}

impl RuleContext {
    /// The newest document, and no target.
    pub const NEWEST: RuleContext = RuleContext {
        isa: PtxIsa::NEWEST,
        target: None,
        function: FunctionKind::Unknown,
        address_bits: Some(64),
        dialect: Dialect::Ptx,
    };
}

/// What kind of function an instruction is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// `.entry`
    Kernel,
    /// `.func`
    Device,
    /// A line by itself.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let parse = |text| PtxIsa::parse(text).expect("a version");
        assert!(parse("8.10") > parse("8.9"));
        assert!(PtxIsa::parse("8").is_none() && PtxIsa::parse("8.x").is_none());
        assert_eq!(parse("9.1").to_string(), "9.1");
    }

    #[test]
    fn targets_have_a_number_and_perhaps_a_letter() {
        assert_eq!(Target::parse("sm_90a"), Some(Target { sm: 90, variant: Some('a') }));
        assert_eq!(Target::parse("sm_100f").map(|t| t.to_string()), Some("sm_100f".into()));
        assert!(Target::parse("compute_90").is_none() && Target::parse("sm_").is_none());
    }
}
