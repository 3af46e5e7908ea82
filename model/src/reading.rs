//! Readings that can be switched: the points that the document leaves open, the choices, and the passages
//! that support each choice. `docs/readings.md` explains them; its table of choices is generated here.

use std::fmt;
use std::fmt::Write as _;

use crate::section::{self, Section};

/// One answer to the question of a reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// As it is chosen: `semantic` of `R13=semantic`.
    pub name: &'static str,
    pub meaning: &'static str,
    /// What the document says for it, to follow `by reading R13; `. `None` where the document excludes
    /// it: it is there to be compared with, and no verdict rests on its absence.
    pub grounds: Option<&'static str>,
}

/// A question that the document leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// `R13`, as in `docs/readings.md`.
    pub name: &'static str,
    pub section: Section,
    pub question: &'static str,
    /// The first is what holds unless another is chosen.
    pub choices: &'static [Choice],
}

macro_rules! readings {
    ($(
        $(#[$outer:meta])*
        $field:ident: $type:ident = $name:literal, $section:expr, $question:literal {
            $($variant:ident = $choice:literal, $meaning:literal, $grounds:expr;)+
        }
    )+) => {
        $(
            $(#[$outer])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub enum $type {
                $($variant,)+
            }

            impl $type {
                const ALL: &[$type] = &[$($type::$variant),+];
            }

            impl Default for $type {
                fn default() -> $type {
                    $type::ALL[0]
                }
            }
        )+

        /// A choice for each reading.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Readings {
            $(pub $field: $type,)+
        }

        /// Every reading that can be switched, in order of number.
        pub const ALL: &[Reading] = &[
            $(Reading {
                name: $name,
                section: $section,
                question: $question,
                choices: &[
                    $(Choice { name: $choice, meaning: $meaning, grounds: $grounds },)+
                ],
            },)+
        ];

        impl Readings {
            /// For each reading, the index of its choice.
            fn chosen(&self) -> Vec<usize> {
                vec![$(self.$field as usize,)+]
            }

            /// The same with another choice for one reading: their indices in [`ALL`].
            #[must_use]
            pub fn with(mut self, reading: usize, choice: usize) -> Readings {
                let mut at = 0;
                $(
                    if at == reading {
                        self.$field = $type::ALL[choice];
                    }
                    at += 1;
                )+
                debug_assert!(reading < at);
                self
            }
        }
    };
}

readings! {
    /// Reading R6.
    pattern_location: PatternLocation = "R6", section::RELEASE_ACQUIRE_PATTERNS,
        "\"on a location M\" in a release or acquire pattern" {
        Virtual = "virtual", "the same bytes at the same virtual address",
            Some("the text lets operations overlap by their virtual addresses");
        Physical = "physical", "the same bytes of memory, through whatever address",
            Some("the text calls a memory location physical");
    }
    /// Reading R7.
    coherence: Coherence = "R7", section::COHERENCE_ORDER,
        "which racing writes coherence order relates" {
        Transitive = "transitive", "those between which a chain of related writes leads",
            Some("the text calls coherence order transitive");
        Unrelated = "unrelated", "none: a read from one never precedes the other in communication order",
            Some("the text calls writes in a data race unrelated");
        Total = "total", "all, one way or the other, as herd's models do", None;
    }
    /// Reading R13.
    dependencies: Dependencies = "R13", section::NO_THIN_AIR, "what a dependency is" {
        Syntactic = "syntactic", "through registers, predicates and branches, whatever the values",
            Some("the text speaks of chains of instruction dependencies");
        Semantic = "semantic", "of those, the ones that what is written really depends on",
            Some("the text allows any chain of reasoning");
        None = "none", "nothing is one: values may come out of thin air", None;
    }
    /// Reading R23.
    failed_cas: FailedCas = "R23", section::ATOM, "what a failing `cas` with release is" {
        Nothing = "nothing", "it writes nothing and releases nothing",
            Some("the text calls an atomic a write only if it results in one");
        Releases = "releases", "it writes nothing, and is a release operation that a later strong write \
            on its location makes a pattern",
            Some("the text calls every memory operation with .release a release operation");
        Writes = "writes", "it writes its old value back, and releases",
            Some("the text lets every cas write its result");
    }
    /// Reading R49.
    exits: Exits = "R49", section::NO_THIN_AIR,
        "what an exit, or an arrival that releases nothing, is for those that wait for it" {
        Dependency = "dependency", "what waits depends on what the thread had read before its exit, and on what \
            decided that it arrives",
            Some("the text has no speculation that satisfies itself, and what waits is not executed without the other");
        Nothing = "nothing", "it orders nothing",
            Some("the text orders nothing after an exit, or after such an arrival");
    }
    /// Reading B4.
    completion_scope: CompletionScope = "B4", section::MBARRIER,
        "to whom the completion of an asynchronous operation on an mbarrier object makes it visible" {
        Any = "any", "to every thread that acquires the phase, at whatever scope",
            Some("the text lets all threads that take part access the result");
        Inclusive = "strict", "to a thread whose wait has a scope that includes the issuing thread",
            Some("the text gives the completion release semantics at cluster scope");
    }
    /// Reading B5.
    async_fence: AsyncFencePlace = "B5", section::ASYNC_PROXY,
        "where a `fence.proxy.async` has to stand between a generic and an asynchronous access" {
        Anywhere = "anywhere", "in any thread, if it is between them in base causality order",
            Some("the text composes the effects of fences along base causality order");
        Writer = "writer-only", "in the thread of the generic access",
            Some("the text lets a proxy fence take effect within a single thread");
        Cta = "cta-only", "in the CTA of the asynchronous access",
            Some("the text has the proxies of a CTA");
    }
    /// Reading B6.
    fence_halves: FenceHalves = "B6", section::ASYNC_PROXY,
        "which halves of `fence.proxy.async::generic` and of `fence.proxy.alias` order" {
        Both = "both", "a release and an acquire, in this order",
            Some("the text gives each of the two an effect");
        Release = "release", "the release alone",
            Some("the text lets each of the two establish ordering");
    }
    /// Reading B7.
    initialization_proxy: InitializationProxy = "B7", section::MBARRIER,
        "whether an asynchronous copy needs a proxy fence after the initialization of its mbarrier object" {
        Generic = "none", "none: the completion accesses the object through the generic proxy",
            Some("the text says that the operand is accessed through the generic proxy");
        Fence = "fence", "a `fence.proxy.async` between the two",
            Some("the text has copies in the async proxy");
    }
    /// Reading B9.
    async_race: AsyncRace = "B9", section::ASYNC_OPERATIONS,
        "what an access that races with an asynchronous operation does" {
        Undefined = "undefined", "the program is undefined",
            Some("the text calls the behavior undefined");
        Allowed = "allowed", "it reads or leaves any value that the axioms allow", None;
    }
    /// Reading B13.
    implicit_trigger: ImplicitTrigger = "B13", section::GRIDDEPCONTROL,
        "what the end of a kernel that launches no dependents orders, without `griddepcontrol.wait`" {
        Nothing = "nothing", "nothing: a dependent kernel has to wait",
            Some("the text makes memory operations visible by the wait alone");
        Stream = "stream", "all of it comes before the dependent kernel",
            Some("the text demands the wait only of those whose prerequisite launches dependents");
    }
    /// Reading B15.
    tensor_fences: TensorFences = "B15", section::TENSOR_SYNCHRONIZATION,
        "which accesses of tensor memory need a `tcgen05.fence` between threads" {
        Standard = "standard", "none that release and acquire patterns order; a completed operation needs none before",
            Some("the text applies the standard mechanisms of synchronization to these instructions, too");
        Required = "fences-required", "all: one before and one after the synchronization",
            Some("the text orders asynchronous operations of two threads by fences");
    }
    /// Reading B16.
    elected_lane: ElectedLane = "B16", section::ELECT, "which lane `elect.sync` elects" {
        Lowest = "lowest", "the lowest lane of the mask",
            Some("the text calls the choice deterministic");
        Any = "any-lane", "any lane of the mask that takes part, the same one each time that these lanes elect",
            Some("the text does not say which lane is elected");
    }
    /// Reading B22.
    multimem_addresses: MultimemAddresses = "B22", section::MULTIMEM_ADDRESSES,
        "whether a multimem address is an alias of the addresses of its locations" {
        Locations = "locations", "no: an operation on it accesses each location as if by the location's own address",
            Some("the text has such an operation access the locations that the address points to");
        AliasFence = "alias-fence", "yes: between an access through it and another access of the location \
            in causality order there is a `fence.proxy.alias`",
            Some("the text calls distinct virtual addresses of one location aliases");
    }
    /// Reading B24.
    multicast_completion: MulticastCompletion = "B24", section::MBARRIER,
        "what the completion of a multicast on the mbarrier object of one CTA makes visible" {
        OneCta = "one-cta", "what the operation reads, and what it writes in that CTA",
            Some("the text has the operation signal the object of each destination CTA");
        AllCtas = "all-ctas", "all of the operation, in every CTA",
            Some("the text makes the completion one of the operation");
    }
    /// Reading B28.
    aliased_proxies: AliasedProxies = "B28", section::CAUSALITY_ORDER,
        "what orders accesses of one location by two addresses, of which one is not through the generic proxy" {
        EachFence = "each-fence", "a `fence.proxy.alias`, and what orders such accesses by one address",
            Some("the text asks for a proxy fence between distinct proxies, and calls two addresses such");
        AliasFence = "alias-fence", "a `fence.proxy.alias` alone",
            Some("the text asks for an alias fence between aliases, whatever their proxies");
        Generic = "generic", "no fence",
            Some("the text has virtual aliases use the generic method of access");
    }
    /// Reading B29.
    alias_reads: AliasReads = "B29", section::MEMBAR,
        "which accesses by another address `fence.alias.sync_restrict::read.release` orders its thread's reads with" {
        Alone = "alone", "all that come after it, as accesses by the same address",
            Some("the text that is public does not have the fence, whose name has aliases and which is a release alone");
        WithAcquire = "with-acquire", "those after a `fence.proxy.alias.acquire`",
            Some("the text gives each half of `fence.proxy.alias` an effect");
        OneAddress = "one-address", "none",
            Some("the text asks for a `fence.proxy.alias` between accesses by two addresses");
    }
    /// Reading B30.
    async_wait: AsyncWait = "B30", section::ASYNC_OPERATIONS,
        "what `cp.async.bulk.wait_group.sync_restrict::proxy::async` orders before generic accesses" {
        Reads = "reads", "what the groups have read",
            Some("the text has a group complete when its sources are read, its destinations written, and the writes made visible");
        AsyncOnly = "async-only", "nothing",
            Some("the text that is public does not have the modifier, which names the async proxy alone");
        Fence = "fence", "what the groups have read; and what they wrote, after a `fence.proxy.async`",
            Some("the text orders accesses across the two proxies by that fence");
    }
}

impl Reading {
    /// The choice in the document's own terms or ours that holds unless another is made.
    pub fn default_choice(&self) -> &'static Choice {
        &self.choices[0]
    }
}

impl Readings {
    /// The readings whose choice is not the default.
    pub fn switched(&self) -> impl Iterator<Item = (&'static Reading, &'static Choice)> {
        ALL.iter().zip(self.chosen()).filter(|(_, choice)| *choice != 0).map(of)
    }

    /// The same with one reading chosen otherwise, for each other choice that the document admits.
    pub fn others(self) -> impl Iterator<Item = (&'static Reading, &'static Choice, Readings)> {
        ALL.iter().enumerate().zip(self.chosen()).flat_map(move |((at, reading), chosen)| {
            let other =
                move |(choice, of): &(usize, &Choice)| *choice != chosen && of.grounds.is_some();
            reading
                .choices
                .iter()
                .enumerate()
                .filter(other)
                .map(move |(choice, of)| (reading, of, self.with(at, choice)))
        })
    }

    /// Each reading that is chosen otherwise in `other`, and these readings with only that one chosen as there.
    pub fn differing(self, other: &Readings) -> impl Iterator<Item = (&'static Reading, Readings)> {
        let chosen = self.chosen().into_iter().zip(other.chosen());
        let differs = move |(at, (own, there)): (usize, (usize, usize))| {
            (own != there).then(|| (&ALL[at], self.with(at, there)))
        };
        chosen.enumerate().filter_map(differs)
    }

    /// The readings after a choice such as `R13=semantic`; `None` if the reading or choice does not exist.
    #[must_use]
    pub fn switch(self, text: &str) -> Option<Readings> {
        let (name, value) = text.split_once('=')?;
        let reading = ALL.iter().position(|reading| reading.name == name)?;
        let choice = ALL[reading].choices.iter().position(|choice| choice.name == value)?;
        Some(self.with(reading, choice))
    }
}

fn of((reading, choice): (&'static Reading, usize)) -> (&'static Reading, &'static Choice) {
    (reading, &reading.choices[choice])
}

/// `R6=physical, R13=none`: the choices that are not the default.
impl fmt::Display for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (reading, choice)) in self.switched().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", reading.name, choice.name)?;
        }
        Ok(())
    }
}

/// The table of `docs/readings.md`.
pub fn markdown() -> String {
    let mut out =
        "| Choice | Meaning | What the document says for it |\n|---|---|---|\n".to_owned();
    for reading in ALL {
        for (index, choice) in reading.choices.iter().enumerate() {
            let default = if index == 0 { ", the default" } else { "" };
            let grounds = choice.grounds.unwrap_or("the text excludes it");
            let row = format!(
                "| `{}={}`{default} | {} | {}: {grounds} |",
                reading.name, choice.name, choice.meaning, reading.section.number
            );
            writeln!(out, "{row}").expect("writing to a string succeeds");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_switched_by_its_name() {
        let semantic = Readings::default().switch("R13=semantic").expect("there is one");
        assert_eq!(semantic.dependencies, Dependencies::Semantic);
        assert_eq!(semantic.to_string(), "R13=semantic");
        let both = semantic.switch("R6=physical").expect("there is one");
        assert_eq!(both.to_string(), "R6=physical, R13=semantic");
        assert_eq!(both.switch("R13=syntactic").expect("it is").to_string(), "R6=physical");
        for wrong in ["R13", "R13=", "R13=physical", "R99=none", "r13=none"] {
            assert_eq!(Readings::default().switch(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn others_differ_in_one_reading_and_are_admitted() {
        let names = |readings: Readings| -> Vec<String> {
            readings.others().map(|(_, _, other)| other.to_string()).collect()
        };
        let admitted = [
            "R6=physical",
            "R7=unrelated",
            "R13=semantic",
            "R23=releases",
            "R23=writes",
            "R49=nothing",
            "B4=strict",
            "B5=writer-only",
            "B5=cta-only",
            "B6=release",
            "B7=fence",
            "B13=stream",
            "B15=fences-required",
            "B16=any-lane",
            "B22=alias-fence",
            "B24=all-ctas",
            "B28=alias-fence",
            "B28=generic",
            "B29=with-acquire",
            "B29=one-address",
            "B30=async-only",
            "B30=fence",
        ];
        assert_eq!(names(Readings::default()), admitted);
        let none = Readings::default().switch("R13=none").expect("there is one");
        assert!(
            names(none).contains(&String::new()) && names(none).contains(&"R13=semantic".into())
        );
    }

    #[test]
    fn what_holds_by_default_is_admitted() {
        for reading in ALL {
            assert!(reading.default_choice().grounds.is_some(), "{}", reading.name);
        }
    }
}
