//! Where the threads of a cycle run: every placement up to names, and the words for one.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::scope::{Placement, Scope};

/// The narrowest scope that includes both.
pub fn distance(here: Placement, there: Placement) -> Scope {
    Scope::narrowest(&[here, there])
}

/// Placements of the threads of a test. GPUs, clusters and CTAs have numbers in the order of the threads that
/// are there first, so equal arrangements are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arrangement(Vec<[u8; 3]>);

impl Arrangement {
    /// Every arrangement in which two threads have one of these distances.
    pub fn all(threads: usize, distances: &[Scope]) -> Vec<Arrangement> {
        let mut all = vec![Arrangement(Vec::new())];
        for _ in 0..threads {
            all = all.iter().flat_map(|one| one.with_one_more(distances)).collect();
        }
        all.sort_unstable();
        all
    }

    /// All threads at one distance from each other.
    pub fn uniform(threads: usize, distance: Scope) -> Arrangement {
        let numbers = (0..u8::try_from(threads).unwrap_or(u8::MAX)).map(|n| match distance {
            Scope::Cta => [0, 0, 0],
            Scope::Cluster => [0, 0, n],
            Scope::Gpu => [0, n, n],
            Scope::Sys => [n, n, n],
        });
        Arrangement(numbers.collect())
    }

    fn with_one_more(&self, distances: &[Scope]) -> Vec<Arrangement> {
        let next = |part: usize| self.0.iter().map(|numbers| numbers[part] + 1).max().unwrap_or(0);
        let fresh = [next(0), next(1), next(2)];
        let mut ways: Vec<[u8; 3]> = self.0.clone();
        ways.extend(self.0.iter().map(|&[gpu, cluster, _]| [gpu, cluster, fresh[2]]));
        ways.extend(self.0.iter().map(|&[gpu, ..]| [gpu, fresh[1], fresh[2]]));
        ways.push(fresh);
        ways.sort_unstable();
        ways.dedup();
        let mut all = Vec::new();
        for way in ways {
            let near = |&other: &[u8; 3]| distances.contains(&distance_of(way, other));
            if self.0.iter().all(near) {
                let mut numbers = self.0.clone();
                numbers.push(way);
                all.push(Arrangement(numbers));
            }
        }
        all
    }

    #[expect(clippy::len_without_is_empty, reason = "no arrangement is empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The arrangement of the same threads, of which thread `first` is now the first one.
    pub fn rotated(&self, first: usize) -> Arrangement {
        let mut numbers = self.0.clone();
        numbers.rotate_left(first);
        for part in 0..3 {
            let mut seen: Vec<u8> = Vec::new();
            for numbers in &mut numbers {
                let at = seen.iter().position(|&known| known == numbers[part]);
                let at = at.unwrap_or_else(|| {
                    seen.push(numbers[part]);
                    seen.len() - 1
                });
                numbers[part] = u8::try_from(at).unwrap_or(u8::MAX);
            }
        }
        Arrangement(numbers)
    }

    /// As a test has them.
    pub fn placements(&self) -> impl Iterator<Item = Placement> + '_ {
        self.0.iter().map(|&[gpu, cluster, cta]| Placement {
            gpu: gpu.into(),
            kernel: 0,
            cluster: Some(cluster.into()),
            cta: cta.into(),
            warp: None,
            sm: None,
        })
    }

    /// The distance in words if all threads have one, and otherwise the threads in groups: `01-gpu-2` has threads 0
    /// and 1 in one CTA, and 2 in another cluster of their GPU.
    pub fn word(&self) -> String {
        let n = self.0.len();
        if n == 1 {
            return Scope::Cta.name().to_owned();
        }
        for scope in Scope::ALL {
            if *self == Arrangement::uniform(n, scope) {
                return scope.name().to_owned();
            }
        }
        let mut groups: BTreeMap<u8, BTreeMap<u8, BTreeMap<u8, Vec<usize>>>> = BTreeMap::new();
        for (thread, &[gpu, cluster, cta]) in self.0.iter().enumerate() {
            let of_gpu = groups.entry(gpu).or_default();
            of_gpu.entry(cluster).or_default().entry(cta).or_default().push(thread);
        }
        let mut out = String::new();
        let mut separator = None;
        for of_gpu in groups.values() {
            for of_cluster in of_gpu.values() {
                for cta in of_cluster.values() {
                    if let Some(scope) = separator.replace(Scope::Cluster) {
                        write!(out, "-{scope}-").expect("writing to a string succeeds");
                    }
                    for thread in cta {
                        write!(out, "{thread}").expect("writing to a string succeeds");
                    }
                }
                separator = Some(Scope::Gpu);
            }
            separator = Some(Scope::Sys);
        }
        out
    }

    /// The arrangement of this many threads that these words name, without `@`.
    pub fn named(word: &str, threads: usize) -> Option<Arrangement> {
        if let Some(&scope) = Scope::ALL.iter().find(|scope| scope.name() == word) {
            return Some(Arrangement::uniform(threads, scope));
        }
        let mut numbers = vec![None; threads];
        let mut here = [0_u8; 3];
        for part in word.split('-') {
            match Scope::ALL.iter().find(|scope| scope.name() == part) {
                None => {
                    for c in part.chars() {
                        let thread = c.to_digit(10)? as usize;
                        let place = numbers.get_mut(thread)?;
                        if place.replace(here).is_some() {
                            return None;
                        }
                    }
                }
                Some(Scope::Cta) => return None,
                Some(Scope::Cluster) => here[2] += 1,
                Some(Scope::Gpu) => here = [here[0], here[1] + 1, here[2] + 1],
                Some(Scope::Sys) => here = [here[0] + 1, here[1] + 1, here[2] + 1],
            }
        }
        let numbers: Option<Vec<[u8; 3]>> = numbers.into_iter().collect();
        Some(Arrangement(numbers?).rotated(0))
    }
}

fn distance_of(here: [u8; 3], there: [u8; 3]) -> Scope {
    if here[0] != there[0] {
        Scope::Sys
    } else if here[1] != there[1] {
        Scope::Gpu
    } else if here[2] != there[2] {
        Scope::Cluster
    } else {
        Scope::Cta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_are_as_many_as_there_are_nested_partitions() {
        let count = |threads, distances: &[Scope]| Arrangement::all(threads, distances).len();
        assert_eq!([2, 3, 4].map(|n| count(n, &[Scope::Cta, Scope::Sys])), [2, 5, 15]);
        assert_eq!([1, 2, 3, 4].map(|n| count(n, &Scope::ALL)), [1, 4, 22, 154]);
        assert_eq!(count(3, &[Scope::Gpu]), 1);
    }

    #[test]
    fn the_words_of_an_arrangement_name_it() {
        for threads in 2..=4 {
            for one in Arrangement::all(threads, &Scope::ALL) {
                let word = one.word();
                assert_eq!(Arrangement::named(&word, threads), Some(one), "{word}");
            }
        }
        for wrong in ["", "0", "01-cta-2", "01-gpu-3", "012-gpu-2", "0-gpu-x", "gpus"] {
            assert_eq!(Arrangement::named(wrong, 3), None, "{wrong}");
        }
        let two = Arrangement::all(3, &[Scope::Cta, Scope::Gpu]);
        let words: Vec<String> = two.iter().map(Arrangement::word).collect();
        assert_eq!(words, ["cta", "01-gpu-2", "02-gpu-1", "0-gpu-12", "gpu"]);
    }

    #[test]
    fn distances_are_the_narrowest_scopes() {
        for one in Arrangement::all(3, &Scope::ALL) {
            let places: Vec<Placement> = one.placements().collect();
            for a in 0..3 {
                for b in 0..3 {
                    assert_eq!(distance(places[a], places[b]), distance_of(one.0[a], one.0[b]));
                }
            }
        }
    }
}
