//! How many choices of bytes have a byte in common with the next one around a cycle.

use std::collections::BTreeMap;

/// The choices of one access.
pub(crate) struct ChosenBytes {
    /// The bytes of each choice: a bit for each byte.
    pub(crate) of: Vec<u8>,
    /// Whether it has the bytes of the access before it, whatever is chosen.
    pub(crate) as_before: bool,
    /// Whether the next access is to another location.
    pub(crate) leads_away: bool,
}

/// How many choices there are in which each access has a byte in common with the next one, unless that is to another
/// location. The last access is followed by the first one, which does not have the bytes of the access before it.
pub(crate) fn count_overlapping(accesses: &[ChosenBytes]) -> u128 {
    // A location may begin anywhere, so that the count begins there.
    let begins = accesses.iter().position(|access| access.leads_away);
    let mut turned: Vec<&ChosenBytes> = accesses.iter().collect();
    if let Some(last) = begins {
        turned.rotate_left((last + 1) % accesses.len());
        let locations = turned.split_inclusive(|access| access.leads_away);
        return locations.map(|of| chains(of, None).values().sum::<u128>()).product();
    }
    let Some(first) = turned.first() else { return 1 };
    let ends = first.of.iter().map(|&bytes| {
        let chains = chains(&turned, Some(bytes));
        chains.iter().filter(|&(last, _)| last & bytes != 0).map(|(_, count)| count).sum::<u128>()
    });
    ends.sum()
}

/// How many choices of accesses to one location there are, by the bytes of the last one.
fn chains(accesses: &[&ChosenBytes], first: Option<u8>) -> BTreeMap<u8, u128> {
    let mut counts: BTreeMap<u8, u128> = BTreeMap::new();
    for (at, access) in accesses.iter().enumerate() {
        if at == 0 {
            for &bytes in &first.map_or_else(|| access.of.clone(), |bytes| vec![bytes]) {
                *counts.entry(bytes).or_default() += 1;
            }
        } else if !access.as_before {
            let mut next: BTreeMap<u8, u128> = BTreeMap::new();
            for &bytes in &access.of {
                let before = counts.iter().filter(|&(before, _)| before & bytes != 0);
                *next.entry(bytes).or_default() += before.map(|(_, count)| count).sum::<u128>();
            }
            counts = next;
        }
    }
    counts
}
