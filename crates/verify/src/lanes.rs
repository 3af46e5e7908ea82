//! Lanes of warps that are left out of the test of a launch.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::Function;

use crate::launch::{LaunchError, LaunchSpec, ThreadPlace};
use crate::special::LANES;

/// The opcode of a row with its modifiers.
pub(crate) fn opcode(text: &str) -> &str {
    let mut words = text.split_whitespace();
    words.find(|word| !word.starts_with('@')).unwrap_or("")
}

/// A warp: its CTA, and its number in it.
type Warp = (u32, u32);

/// The warps of which the test has some lanes, and not all.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    /// The lanes that are left out.
    lanes: BTreeMap<Warp, BTreeSet<u32>>,
    /// A warp whose first lanes are not those of the test, in this order.
    gap: Option<Warp>,
}

/// What helps.
const REMEDY: &str =
    "name all lanes of the warp, without --lanes, or launch a block with fewer threads";

impl LeftOut {
    pub(crate) fn of(launch: &LaunchSpec, places: &[ThreadPlace]) -> LeftOut {
        let threads = u32::try_from(launch.block.count()).unwrap_or(u32::MAX);
        let mut chosen: BTreeMap<Warp, Vec<u32>> = BTreeMap::new();
        for place in places {
            let warp = (place.cta, place.thread / LANES);
            chosen.entry(warp).or_default().push(place.thread % LANES);
        }
        let mut left_out = LeftOut { lanes: BTreeMap::new(), gap: None };
        for (warp, lanes) in chosen {
            let all = LANES.min(threads - LANES * warp.1);
            let missing: BTreeSet<u32> = (0..all).filter(|lane| !lanes.contains(lane)).collect();
            if !lanes.iter().copied().eq(0..all - u32::try_from(missing.len()).unwrap_or(all)) {
                left_out.gap = Some(warp);
            }
            if !missing.is_empty() {
                left_out.lanes.insert(warp, missing);
            }
        }
        left_out
    }

    /// Whether lanes of the warp of a thread are left out.
    pub(crate) fn of_warp(&self, place: ThreadPlace) -> bool {
        self.lanes.contains_key(&(place.cta, place.thread / LANES))
    }

    /// Whether a kernel does not ask lanes that are left out. From which lane a shuffle takes its value shows later.
    pub(crate) fn check(&self, function: &Function) -> Result<(), Vec<LaunchError>> {
        let mut errors = Vec::new();
        for row in &function.rows {
            let name = opcode(&row.text);
            let kind = name.split('.').next().unwrap_or("");
            let exchanges = ["shfl", "vote", "match", "redux", "elect", "activemask"];
            if let Some((cta, warp)) = self.gap.filter(|_| exchanges.contains(&kind)) {
                let why = format!(
                    "`{name}`: the lanes of the test are not the first ones of warp {warp} of CTA {cta}, in their order"
                );
                errors.push(LaunchError::new(why).at(row.line).help("--lanes 0,1"));
                continue;
            }
            if !["vote", "match", "redux"].contains(&kind) {
                continue;
            }
            let mask = row.text.rsplit(',').next().and_then(|mask| mask_of(mask.trim()));
            let asked = |lane: &&u32| mask.is_some_and(|mask| mask >> **lane & 1 == 1);
            if let Some(lane) = self.lanes.values().flatten().find(asked) {
                let why = format!("`{name}` asks lane {lane}, which is left out");
                errors.push(LaunchError::new(why).at(row.line).help(REMEDY));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Why nothing is known of what a shuffle takes from a lane that is left out.
    pub(crate) fn unknown(text: &str) -> String {
        format!("`{text}` takes the value of a lane that is left out: {REMEDY}")
    }
}

/// The lanes of a mask that is written as a number.
fn mask_of(text: &str) -> Option<u64> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => match text.strip_prefix('-') {
            Some(digits) => digits.parse::<u64>().ok()?.wrapping_neg(),
            None => text.parse().ok()?,
        },
    };
    Some(number & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use crate::{Dim3, KernelModule, LaunchSpec, ThreadChoice, compose};

    /// What is said of a launch of four lanes, of which the test has some, of a kernel with this instruction.
    fn said(instruction: &str, lanes: &[u32]) -> Vec<String> {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<2>; .reg .b32 %r<4>;\nmov.u32 %r2, -1;\n{instruction};\nret;\n}}\n"
        );
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let block = Dim3 { x: 4, ..Dim3::ONE };
        let threads = ThreadChoice::OfEachCta(lanes.to_vec());
        let launch = LaunchSpec { threads, ..LaunchSpec::new(Dim3::ONE, block) };
        match compose(&module, &launch) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.into_iter().map(|error| error.message).collect(),
        }
    }

    #[test]
    fn a_vote_names_lanes_of_the_test() {
        let vote = "vote.sync.ballot.b32 %r1, %p1, %r2";
        assert_eq!(said(vote, &[0, 1, 2, 3]), [""; 0]);
        let asks = "`vote.sync.ballot.b32` asks lane 2, which is left out";
        assert_eq!(said(vote, &[0, 1]), [asks]);
        assert_eq!(said("vote.sync.ballot.b32 %r1, %p1, 3", &[0, 1]), [""; 0]);
    }

    #[test]
    fn lanes_that_exchange_are_the_first_ones() {
        let shuffle = "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1";
        assert_eq!(said(shuffle, &[0, 1]), [""; 0]);
        assert_eq!(said(shuffle, &[1, 2]).len(), 1);
        assert_eq!(said(shuffle, &[1, 0]).len(), 1);
        assert_eq!(said("bar.sync 0", &[1, 2]), [""; 0]);
    }
}
