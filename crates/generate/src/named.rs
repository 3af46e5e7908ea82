//! Reads the names of tests, `MP+po-release.gpu+acquire.gpu-po+at-gpu`: the inverse of [`Cycle::name`](crate::cycle::Cycle::name).
//!
//! A name becomes the words of a cycle, and is the name of that cycle again.

use model::scope::Scope;

use crate::access::{AccessForm, CycleAccess};
use crate::family::{self, FAMILIES};
use crate::notation::{self, WrittenCycle};
use crate::space::{Pattern, Ranges};
use crate::word::{Communication, CycleAnnotation, Direction, Link, Via};

/// Where the placement begins.
const PLACE: &str = "+at-";

/// Whether a text may be the name of a test: one word with what its threads have.
pub(crate) fn is_name(text: &str) -> bool {
    text.contains('+') && !text.contains(char::is_whitespace) && family::cycle(text).is_none()
}

/// The cycle of a name.
pub(crate) fn read(text: &str) -> Option<WrittenCycle> {
    let (head, place) = match text.rsplit_once(PLACE) {
        Some((head, place)) => (head, Some(place)),
        None => (text, None),
    };
    let families = FAMILIES
        .iter()
        .filter_map(|(name, cycle)| Some((rest_of(head, name)?, NamedShape::of_family(cycle))));
    let parts: Vec<&str> = head.split('+').collect();
    let spelled = parts.iter().take_while(|part| NamedShape::directions(part).is_some()).count();
    let systematic = (1..=spelled).filter_map(|count| {
        let name = parts[..count].join("+");
        Some((rest_of(head, &name)?, NamedShape::of_threads(&parts[..count])?))
    });
    let shapes: Vec<(&str, NamedShape)> = families.chain(systematic).collect();
    shapes.iter().find_map(|(rest, shape)| {
        let all = shape.suffixes(rest);
        all.iter().find_map(|threads| {
            let words = shape.words(threads)?;
            let place = place.map_or(String::new(), |place| format!(" @{place}"));
            let written = notation::read(&format!("{words}{place}")).ok()?;
            (name(&written)?.as_str() == text || name(&written)?.split(PLACE).next() == Some(text))
                .then_some(written)
        })
    })
}

/// What follows a name at the beginning: nothing, or more parts.
fn rest_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('+'))
}

/// The name of the only test of a cycle that leaves nothing but its placement open.
fn name(written: &WrittenCycle) -> Option<String> {
    let ranges = Ranges {
        annotations: vec![CycleAnnotation::Weak],
        forms: vec![AccessForm::Word],
        vias: vec![Via::Plain],
        distances: vec![Scope::Gpu],
    };
    let pattern = Pattern::of(written, &ranges);
    (pattern.labelled() > 0).then(|| pattern.cycle(0).name())
}

/// What the accesses of each thread do, and what leads to the next thread.
struct NamedShape {
    threads: Vec<Vec<Direction>>,
    leads: Vec<Communication>,
}

impl NamedShape {
    fn of_family(cycle: &str) -> NamedShape {
        let shape = notation::read(cycle).expect("the families are cycles").shape;
        let ranges = shape.threads();
        let lead = |last: usize| match shape.links[last] {
            Link::Communicates { how, .. } => how,
            Link::Order { .. } | Link::Rmw | Link::InvRmw => Communication::Rf,
        };
        NamedShape {
            leads: ranges.iter().map(|range| lead(range.end - 1)).collect(),
            threads: ranges.into_iter().map(|range| shape.directions[range].to_vec()).collect(),
        }
    }

    /// `RW`
    fn directions(part: &str) -> Option<Vec<Direction>> {
        let direction = |letter: char| match letter {
            'R' => Some(Direction::Read),
            'W' => Some(Direction::Write),
            _ => None,
        };
        let all: Option<Vec<Direction>> = part.chars().map(direction).collect();
        all.filter(|all| !all.is_empty())
    }

    fn of_threads(parts: &[&str]) -> Option<NamedShape> {
        let threads: Option<Vec<Vec<Direction>>> =
            parts.iter().map(|part| NamedShape::directions(part)).collect();
        let threads = threads?;
        let lead = |at: usize| {
            let next = &threads[(at + 1) % threads.len()];
            Communication::between(*threads[at].last()?, next[0])
        };
        let leads: Option<Vec<Communication>> = (0..threads.len()).map(lead).collect();
        Some(NamedShape { leads: leads?, threads })
    }

    /// The parts of each thread, in every way in which the end of a name may mean them: a thread with one plain access has none,
    /// and an `s` at the end says that all are alike.
    fn suffixes(&self, rest: &str) -> Vec<Vec<String>> {
        let count = self.threads.len();
        let parts: Vec<&str> = rest.split('+').skip(1).collect();
        let mut all = Vec::new();
        if let ([part], true) = (&parts[..], count > 1)
            && let Some(part) = part.strip_suffix('s')
        {
            all.push(vec![part.to_owned(); count]);
        }
        // Which of the threads have a part.
        for chosen in 0..1_usize << count {
            let has = |thread: usize| chosen >> thread & 1 == 1;
            let fits = (0..count).all(|thread| has(thread) || self.threads[thread].len() == 1);
            if chosen.count_ones() as usize != parts.len() || !fits {
                continue;
            }
            let mut given = parts.iter();
            let mut part = |thread: usize| {
                let part = if has(thread) { given.next() } else { None };
                part.map_or(String::new(), |part| (*part).to_owned())
            };
            all.push((0..count).map(&mut part).collect());
        }
        all
    }

    /// The words of the cycle, whose threads have these parts.
    fn words(&self, parts: &[String]) -> Option<String> {
        let mut words = Vec::new();
        for ((directions, lead), part) in self.threads.iter().zip(&self.leads).zip(parts) {
            thread(directions, *lead, part, &mut words)?;
        }
        Some(words.join(" "))
    }
}

/// Adds the words of a thread.
fn thread(
    directions: &[Direction],
    lead: Communication,
    part: &str,
    words: &mut Vec<String>,
) -> Option<()> {
    let mut tokens = part.split('-').filter(|token| !token.is_empty()).peekable();
    let mut in_atomic = false;
    for (at, &from) in directions.iter().enumerate() {
        let access = tokens.peek().and_then(|token| access(token));
        if access.is_some() {
            tokens.next();
        }
        let atomic = tokens.peek().is_some_and(|token| ["rmw", "invrmw"].contains(token));
        match access {
            Some(CycleAccess { annotation, form }) => {
                words.extend([annotation.word(), form.word()]);
            }
            None if in_atomic || atomic => {}
            None => words.extend([CycleAnnotation::Weak.word(), AccessForm::Word.word()]),
        }
        in_atomic = atomic;
        let Some(&to) = directions.get(at + 1) else { break };
        let token = tokens.next()?;
        let inside = |how| Link::Communicates { how, external: false };
        words.push(match token {
            "rmw" => Link::Rmw.word(from, to),
            "invrmw" => Link::InvRmw.word(from, to),
            "rfi" => inside(Communication::Rf).word(from, to),
            "fri" => inside(Communication::Fr).word(from, to),
            "coi" => inside(Communication::Co).word(from, to),
            _ => {
                let (name, same) =
                    token.strip_suffix(".loc").map_or((token, false), |name| (name, true));
                let via = notation::via(name).filter(|via| via.fits(from, to))?;
                Link::Order { same, via }.word(from, to)
            }
        });
    }
    let inverse = tokens.next_if_eq(&"invrfe").is_some();
    let how = if inverse { Communication::InvRf } else { lead };
    let ((from, to), external) = (how.ends(), true);
    words.push(Link::Communicates { how, external }.word(from, to));
    tokens.next().is_none().then_some(())
}

/// An access by its part of a name.
fn access(token: &str) -> Option<CycleAccess> {
    let all = CycleAnnotation::all()
        .flat_map(|annotation| AccessForm::all().map(move |form| CycleAccess { annotation, form }));
    all.into_iter().find(|access| *access != CycleAccess::PLAIN && access.name() == token)
}
