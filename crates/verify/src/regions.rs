//! Which lines of a thread a branch decides.

use std::collections::BTreeSet;

use model::isa::Line;

/// The ways of a thread through its lines. The end is the line behind the last one.
pub(crate) struct BranchRegions {
    next: Vec<Vec<usize>>,
    /// Of each line, the first one through which all ways from it to the end come; `None` if no way ends.
    meets: Vec<Option<usize>>,
}

impl BranchRegions {
    pub(crate) fn new(lines: &[Line]) -> BranchRegions {
        let end = lines.len();
        let next = lines.iter().enumerate().map(|(at, line)| {
            let Some(branch) = line.instruction.as_branch() else { return vec![at + 1] };
            let target = branch.target.min(end);
            let goes_on = line.guard.is_some() || branch.condition.is_some();
            if goes_on { vec![target, at + 1] } else { vec![target] }
        });
        let next: Vec<Vec<usize>> = next.chain([Vec::new()]).collect();
        let meets = meets(&next);
        BranchRegions { next, meets }
    }

    /// The lines of which a branch decides whether the thread comes to them: those before its ways meet again. Where it
    /// decides how long the thread stays in a loop, which may be for ever, they are all that come after it.
    pub(crate) fn decided_by(&self, branch: usize) -> BTreeSet<usize> {
        let until = self.meets[branch];
        let before = self.reached(branch, until);
        if before.contains(&branch) { self.reached(branch, None) } else { before }
    }

    fn reached(&self, from: usize, until: Option<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut pending = self.next[from].clone();
        while let Some(line) = pending.pop() {
            if Some(line) != until && reached.insert(line) {
                pending.extend(&self.next[line]);
            }
        }
        reached
    }
}

/// The immediate postdominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
fn meets(next: &[Vec<usize>]) -> Vec<Option<usize>> {
    let end = next.len() - 1;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for (line, next) in next.iter().enumerate() {
        for &to in next {
            before[to].push(line);
        }
    }
    let order = postorder(&before, end);
    let mut number = vec![0; next.len()];
    for (at, &line) in order.iter().enumerate() {
        number[line] = at;
    }
    let mut meets: Vec<Option<usize>> = vec![None; next.len()];
    meets[end] = Some(end);
    let mut changed = true;
    while changed {
        changed = false;
        for &line in order.iter().rev().filter(|line| **line != end) {
            let mut met: Option<usize> = None;
            for &way in next[line].iter().filter(|way| meets[**way].is_some()) {
                met = Some(met.map_or(way, |met| joined(&meets, &number, met, way)));
            }
            if meets[line] != met {
                meets[line] = met;
                changed = true;
            }
        }
    }
    meets
}

/// The first line through which the ways from two lines come.
fn joined(meets: &[Option<usize>], number: &[usize], mut first: usize, mut second: usize) -> usize {
    while first != second {
        let earlier = if number[first] < number[second] { &mut first } else { &mut second };
        *earlier = meets[*earlier].expect("a line that ends has one");
    }
    first
}

/// The lines from which a way leads to the end, each before the last one that leads to it.
fn postorder(before: &[Vec<usize>], end: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; before.len()];
    seen[end] = true;
    let mut pending = vec![(end, 0)];
    while let Some((line, at)) = pending.pop() {
        match before[line].get(at) {
            Some(&from) => {
                pending.push((line, at + 1));
                if !std::mem::replace(&mut seen[from], true) {
                    pending.push((from, 0));
                }
            }
            None => order.push(line),
        }
    }
    order
}
