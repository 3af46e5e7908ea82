//! The smallest sets with a property that a larger set never loses.
//!
//! A set without the property is made as large as it may be without it. Every set with the property then has a member
//! outside it, so few sets are tried.

/// The smallest sets of the numbers below `count` with a property, those of fewer members first, with at most `most`
/// members; `None` if not even all numbers together have it. Sets larger than the smallest one are looked for only if
/// `every_size`. Where `holds` gives no answer, the search ends with what it has.
pub(crate) fn minimal_sets(
    count: usize,
    most: usize,
    every_size: bool,
    holds: &mut dyn FnMut(&[usize]) -> Option<bool>,
) -> Option<Vec<Vec<usize>>> {
    let all: Vec<usize> = (0..count).collect();
    if holds(&all) == Some(false) {
        return None;
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    // Each of these has a member in every set with the property.
    let mut hit: Vec<Vec<usize>> = Vec::new();
    for size in 1..=most.min(count) {
        let mut set: Vec<usize> = (0..size).collect();
        loop {
            let hits = |of: &Vec<usize>| of.iter().any(|member| set.contains(member));
            let contains = |of: &Vec<usize>| of.iter().all(|member| set.contains(member));
            if hit.iter().all(hits) && !found.iter().any(contains) {
                match holds(&set) {
                    Some(true) => found.push(set.clone()),
                    Some(false) => hit.push(outside(&all, &set, holds)),
                    None => return Some(found),
                }
            }
            if !advance(&mut set, count) {
                break;
            }
        }
        if !every_size && !found.is_empty() {
            break;
        }
    }
    Some(found)
}

/// What a largest set around this one leaves out, all without the property.
fn outside(
    all: &[usize],
    set: &[usize],
    holds: &mut dyn FnMut(&[usize]) -> Option<bool>,
) -> Vec<usize> {
    let mut inside = set.to_vec();
    let mut left = Vec::new();
    for &member in all {
        if inside.contains(&member) {
            continue;
        }
        inside.push(member);
        inside.sort_unstable();
        if holds(&inside) != Some(false) {
            inside.retain(|other| *other != member);
            left.push(member);
        }
    }
    left
}

/// The next set of the same size, in lexicographic order.
fn advance(set: &mut [usize], count: usize) -> bool {
    let size = set.len();
    for at in (0..size).rev() {
        if set[at] < count - (size - at) {
            set[at] += 1;
            for after in at + 1..size {
                set[after] = set[after - 1] + 1;
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every property of five numbers that larger sets keep and that few sets generate.
    #[test]
    fn the_sets_are_those_that_every_set_is_compared_with() {
        let number = |set: &[usize]| set.iter().fold(0_usize, |all, member| all | 1 << member);
        for first in 1..32_usize {
            for second in first..32 {
                let is = |set: usize| set & first == first || set & second == second;
                let mut wanted: Vec<usize> = (1..32_usize)
                    .filter(|&set| is(set))
                    .filter(|&set| (0..5).all(|at| set >> at & 1 == 0 || !is(set & !(1 << at))))
                    .collect();
                let mut found: Vec<usize> =
                    minimal_sets(5, 5, true, &mut |set| Some(is(number(set))))
                        .expect("all have it")
                        .iter()
                        .map(|set| number(set))
                        .collect();
                wanted.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, wanted, "{first} {second}");
            }
        }
        assert_eq!(minimal_sets(3, 3, true, &mut |_| Some(false)), None);
    }
}
