//! Right tests of the patterns that kernels have: threads of equal text, whose addresses and roles are in registers.

use std::fmt::Write;

/// How the rounds of a pattern are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// One round after the other.
    Straight,
    /// A loop of two rounds.
    Loop,
    /// A loop that a branch in front leaves.
    WayOut,
    /// What one thread does is under a guard.
    Guarded,
    /// What one thread does is in an arm of a branch.
    Arms,
    /// Addresses are computed, and a parity is in a register.
    Registers,
}

pub(crate) const FORMS: [Form; 6] =
    [Form::Straight, Form::Loop, Form::WayOut, Form::Guarded, Form::Arms, Form::Registers];

/// A test that is right.
pub(crate) struct Pattern {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A test of `threads` threads with equal text, while it is written.
struct Draft {
    threads: usize,
    /// Whether each thread is a CTA.
    apart: bool,
    arch: &'static str,
    variables: String,
    /// The initial values of registers.
    registers: String,
    body: Vec<String>,
}

const ROUNDS: usize = 2;

impl Draft {
    fn new(threads: usize, apart: bool, variables: &str) -> Draft {
        let variables = variables.to_owned();
        let (registers, body) = (String::new(), Vec::new());
        Draft { threads, apart, arch: "", variables, registers, body }
    }

    /// Gives a register a value in each thread.
    fn given(&mut self, register: &str, value: impl Fn(usize) -> String) {
        for thread in 0..self.threads {
            let value = value(thread);
            write!(self.registers, " P{thread}:{register}={value};").expect("a string takes it");
        }
    }

    /// The address of the own element of an array, and that of the next thread.
    fn neighbours(&mut self, array: &str) {
        let threads = self.threads;
        self.given("own", |thread| format!("{array}+{}", 4 * thread));
        self.given("next", |thread| format!("{array}+{}", 4 * ((thread + 1) % threads)));
    }

    fn push(&mut self, lines: &[&str]) {
        self.body.extend(lines.iter().map(|line| (*line).to_owned()));
    }

    /// The rounds of a pattern in a form. `round` gives the instructions of one; `@w ` before one is what one thread does.
    fn rounds(&mut self, form: Form, round: &dyn Fn(usize) -> Vec<String>) {
        match form {
            Form::Straight | Form::Guarded | Form::Arms => {
                for number in 0..ROUNDS {
                    self.round(form, &number.to_string(), round(number));
                    self.push(&["add.u32 k, k, 1"]);
                }
            }
            Form::Loop | Form::Registers => {
                self.push(&["N: mov.u32 z, 0"]);
                self.round(form, "", round(0));
                self.push(&["add.u32 k, k, 1", "setp.lt.u32 more, k, 2", "@more bra N"]);
            }
            Form::WayOut => {
                self.push(&["N: setp.ge.u32 done, k, 2", "@done bra E"]);
                self.round(form, "", round(0));
                self.push(&["add.u32 k, k, 1", "bra N", "E: mov.u32 z, 1"]);
            }
        }
    }

    /// One round: what one thread does is under a guard, or in an arm.
    fn round(&mut self, form: Form, suffix: &str, lines: Vec<String>) {
        let mut lines = lines.into_iter().peekable();
        let mut arms = 0;
        while let Some(line) = lines.next() {
            let Some(own) = line.strip_prefix("@w ").filter(|_| form == Form::Arms) else {
                self.body.push(line);
                continue;
            };
            let (arm, join) = (format!("A{suffix}x{arms}"), format!("J{suffix}x{arms}"));
            arms += 1;
            self.push(&[&format!("@w bra {arm}"), "add.u32 y, y, 1", &format!("bra {join}")]);
            self.body.push(format!("{arm}: {own}"));
            while let Some(next) = lines.next_if(|next| next.starts_with("@w ")) {
                self.body.push(next["@w ".len()..].to_owned());
            }
            self.body.push(format!("{join}: mov.u32 z, 0"));
        }
    }

    fn finish(self, name: &str, condition: &str) -> Pattern {
        let mut text =
            format!("PTX {name}\n{}{{\n{}{}\n}}\n", self.arch, self.variables, self.registers);
        let all = |cell: &dyn Fn(usize) -> String| {
            (0..self.threads).map(cell).collect::<Vec<_>>().join(" | ")
        };
        let place = |thread: usize| {
            let cta = if self.apart { thread } else { 0 };
            format!("P{thread}@cta {cta},gpu 0")
        };
        writeln!(text, " {} ;", all(&place)).expect("a string takes it");
        for line in &self.body {
            writeln!(text, " {} ;", all(&|_| line.clone())).expect("a string takes it");
        }
        writeln!(text, "{condition}").expect("a string takes it");
        Pattern { name: name.to_owned(), text }
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// A condition about each thread.
fn each(threads: usize, of: impl Fn(usize) -> String) -> String {
    (0..threads).map(of).collect::<Vec<_>>().join(" /\\ ")
}

fn role(draft: &mut Draft) {
    draft.given("i", |thread| thread.to_string());
    draft.push(&["setp.eq.u32 w, i, 0"]);
}

/// Each thread adds its neighbour's cell to its own, in place.
fn relaxation(threads: usize, form: Form) -> Pattern {
    let mut draft =
        Draft::new(threads, false, &format!(".shared .u32 s[{threads}]={{{}}};", numbers(threads)));
    draft.neighbours("s");
    draft.given("v", |thread| (thread + 1).to_string());
    draft.given("k", |_| "0".to_owned());
    role(&mut draft);
    let round = |_| {
        owned(&[
            "ld.u32 a, [next]",
            "bar.sync 0",
            "add.u32 v, v, a",
            "st.u32 [own], v",
            "bar.sync 0",
        ])
    };
    draft.rounds(form, &round);
    let mut values: Vec<usize> = (1..=threads).collect();
    for _ in 0..ROUNDS {
        values = (0..threads).map(|at| values[at] + values[(at + 1) % threads]).collect();
    }
    let condition = each(threads, |thread| format!("P{thread}:v={}", values[thread]));
    draft.finish("relaxation", &format!("forall ({condition})"))
}

fn numbers(count: usize) -> String {
    (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// One thread fills a tile, all use it, and it is filled again.
fn tile(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(threads, false, ".shared .u32 s[2];");
    draft.given("tile", |_| "s".to_owned());
    draft.given("k", |_| "0".to_owned());
    role(&mut draft);
    let round = |_| {
        let mut all = owned(&["add.u32 t, k, 5", "@w st.u32 [tile], t"]);
        if form == Form::Registers {
            all = owned(&["add.u64 at, tile, 4", "add.u32 t, k, 5", "@w st.u32 [at], t"]);
        }
        let load = if form == Form::Registers { "ld.u32 a, [at]" } else { "ld.u32 a, [tile]" };
        all.extend(owned(&["bar.sync 0", load, "add.u32 sum, sum, a", "bar.sync 0"]));
        all
    };
    draft.rounds(form, &round);
    let condition = each(threads, |thread| format!("P{thread}:sum=11"));
    draft.finish("tile", &format!("forall ({condition})"))
}

/// Each thread writes its part of a tile, and reads that of its neighbour.
fn exchange(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(threads, false, &format!(".shared .u32 s[{threads}];"));
    draft.neighbours("s");
    draft.given("k", |_| "0".to_owned());
    role(&mut draft);
    let round = |_| {
        owned(&[
            "add.u32 t, k, 5",
            "st.u32 [own], t",
            "bar.sync 0",
            "ld.u32 a, [next]",
            "add.u32 sum, sum, a",
            "bar.sync 0",
        ])
    };
    draft.rounds(form, &round);
    let condition = each(threads, |thread| format!("P{thread}:sum=11"));
    draft.finish("exchange", &format!("forall ({condition})"))
}

/// A sum in a tree.
fn tree(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(threads, false, &format!(".shared .u32 s[{threads}];"));
    draft.given("own", |thread| format!("s+{}", 4 * thread));
    draft.given("v", |thread| (thread + 1).to_string());
    draft.given("i", |thread| thread.to_string());
    draft.push(&["st.u32 [own], v", "bar.sync 0"]);
    let mut step = threads / 2;
    while step > 0 {
        draft.push(&[&format!("setp.lt.u32 p, i, {step}")]);
        let lines = [
            format!("ld.u32 a, [own+{}]", 4 * step),
            "add.u32 v, v, a".to_owned(),
            "st.u32 [own], v".to_owned(),
        ];
        if form == Form::Arms {
            draft.push(&[&format!("@!p bra J{step}")]);
            draft.body.extend(lines);
            draft.push(&[&format!("J{step}: mov.u32 z, 0")]);
        } else {
            draft.body.extend(lines.iter().map(|line| format!("@p {line}")));
        }
        draft.push(&["bar.sync 0"]);
        step /= 2;
    }
    draft.push(&["ld.shared.u32 total, [s]"]);
    let sum: usize = (1..=threads).sum();
    let condition = each(threads, |thread| format!("P{thread}:total={sum}"));
    draft.finish("tree", &format!("forall ({condition})"))
}

/// A lock around a sum.
fn lock(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(threads, true, ".global .u32 l; .global .u32 x;");
    let fenced = form == Form::Guarded;
    draft.push(&[
        if fenced {
            "L: atom.relaxed.gpu.global.cas.b32 o, [l], 0, 1"
        } else {
            "L: atom.acquire.gpu.global.cas.b32 o, [l], 0, 1"
        },
        "setp.ne.u32 p, o, 0",
        "@p bra L",
    ]);
    if fenced {
        draft.push(&["fence.acq_rel.gpu"]);
    }
    draft.push(&["ld.global.u32 v, [x]", "add.u32 v, v, 1", "st.global.u32 [x], v"]);
    if fenced {
        draft.push(&["fence.acq_rel.gpu", "st.relaxed.gpu.global.u32 [l], 0"]);
    } else if form == Form::Straight {
        draft.push(&["atom.release.gpu.global.exch.b32 u, [l], 0"]);
    } else {
        draft.push(&["st.release.gpu.global.u32 [l], 0"]);
    }
    draft.finish("lock", &format!("forall (x={threads})"))
}

/// One thread writes data and raises a flag; the others wait for it.
fn flag(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(threads, true, ".global .u32 d; .global .u32 f;");
    let fenced = matches!(form, Form::Guarded | Form::Loop);
    role(&mut draft);
    draft.push(&["@!w bra C", "st.global.u32 [d], 1"]);
    if fenced {
        draft.push(&["fence.acq_rel.gpu", "st.relaxed.gpu.global.u32 [f], 1"]);
    } else {
        draft.push(&["st.release.gpu.global.u32 [f], 1"]);
    }
    let load = if fenced { "relaxed" } else { "acquire" };
    draft.push(&[
        "bra E",
        &format!("C: ld.{load}.gpu.global.u32 r, [f]"),
        "setp.eq.u32 q, r, 0",
        "@q bra C",
    ]);
    if fenced {
        draft.push(&["fence.acq_rel.gpu"]);
    }
    draft.push(&["ld.global.u32 a, [d]", "E: mov.u32 z, 1"]);
    let condition =
        (1..threads).map(|thread| format!("P{thread}:a=1")).collect::<Vec<_>>().join(" /\\ ");
    draft.finish("flag", &format!("forall ({condition})"))
}

/// A producer that takes slots of a queue, and consumers that wait for theirs.
fn queue(threads: usize, form: Form) -> Pattern {
    let mut draft = Draft::new(
        threads,
        true,
        &format!(".global .u32 q[{threads}]; .global .u32 full[{threads}];"),
    );
    let last = threads - 1;
    draft.given("slot", |thread| format!("q+{}", 4 * (thread.max(1) - 1)));
    draft.given("ready", |thread| format!("full+{}", 4 * (thread.max(1) - 1)));
    role(&mut draft);
    draft.push(&["@!w bra C"]);
    if form == Form::Loop {
        draft.push(&[
            "P: mov.u32 z, 0",
            "st.u32 [slot], 7",
            "st.release.gpu.u32 [ready], 1",
            "add.u64 slot, slot, 4",
            "add.u64 ready, ready, 4",
            "add.u32 k, k, 1",
            &format!("setp.lt.u32 m, k, {last}"),
            "@m bra P",
        ]);
    } else {
        for at in 0..last {
            draft.push(&[
                &format!("st.u32 [slot+{}], 7", 4 * at),
                &format!("st.release.gpu.u32 [ready+{}], 1", 4 * at),
            ]);
        }
    }
    draft.push(&[
        "bra E",
        "C: ld.acquire.gpu.u32 r, [ready]",
        "setp.eq.u32 n, r, 0",
        "@n bra C",
        "ld.u32 a, [slot]",
        "E: mov.u32 z, 1",
    ]);
    let condition =
        (1..threads).map(|thread| format!("P{thread}:a=7")).collect::<Vec<_>>().join(" /\\ ");
    draft.finish("queue", &format!("forall ({condition})"))
}

/// The last block sums what all have written.
fn last_block(threads: usize, form: Form) -> Pattern {
    let mut draft =
        Draft::new(threads, true, &format!(".global .u32 p[{threads}]; .global .u32 c;"));
    draft.given("own", |thread| format!("p+{}", 4 * thread));
    draft.push(&["st.u32 [own], 1"]);
    if matches!(form, Form::Guarded | Form::Loop) {
        draft.push(&[
            "fence.acq_rel.gpu",
            "atom.relaxed.gpu.global.add.u32 t, [c], 1",
            "fence.acq_rel.gpu",
        ]);
    } else {
        draft.push(&["atom.acq_rel.gpu.global.add.u32 t, [c], 1"]);
    }
    draft.push(&[&format!("setp.ne.u32 q, t, {}", threads - 1)]);
    let guarded = form == Form::Guarded || form == Form::Straight;
    if !guarded {
        draft.push(&["@q bra E"]);
    }
    for at in 0..threads {
        let load = format!("ld.global.u32 a, [p+{}]", 4 * at);
        let add = "add.u32 sum, sum, a";
        if guarded {
            draft.push(&[&format!("@!q {load}"), &format!("@!q {add}")]);
        } else {
            draft.push(&[&load, add]);
        }
    }
    if !guarded {
        draft.push(&["E: mov.u32 z, 1"]);
    }
    let bad = |thread: usize| format!("P{thread}:t={} /\\ P{thread}:sum!={threads}", threads - 1);
    let bad: Vec<String> = (0..threads).map(bad).collect();
    draft.finish("last-block", &format!("~exists ({})", bad.join(" \\/ ")))
}

/// A barrier of all blocks, by a counter.
fn grid(threads: usize, form: Form) -> Pattern {
    let mut draft =
        Draft::new(threads, true, &format!(".global .u32 p[{threads}]; .global .u32 c;"));
    draft.neighbours("p");
    draft.push(&["st.u32 [own], 1"]);
    let fenced = matches!(form, Form::Guarded | Form::Loop);
    if fenced {
        draft.push(&["fence.acq_rel.gpu", "red.relaxed.gpu.global.add.u32 [c], 1"]);
        draft.push(&["W: ld.relaxed.gpu.global.u32 r, [c]"]);
    } else {
        draft.push(&[
            "red.release.gpu.global.add.u32 [c], 1",
            "W: ld.acquire.gpu.global.u32 r, [c]",
        ]);
    }
    draft.push(&[&format!("setp.lt.u32 q, r, {threads}"), "@q bra W"]);
    if fenced {
        draft.push(&["fence.acq_rel.gpu"]);
    }
    draft.push(&["ld.u32 a, [next]"]);
    let condition = each(threads, |thread| format!("P{thread}:a=1"));
    draft.finish("grid-barrier", &format!("forall ({condition})"))
}

/// A producer and consumers with an mbarrier object for what is full, and one for what is empty.
fn ring(threads: usize, form: Form) -> Pattern {
    let consumers = threads - 1;
    let objects = format!(
        ".shared .mbarrier full={{1}}; .shared .mbarrier empty={{{consumers}}}; .shared .u32 s;"
    );
    let mut draft = Draft::new(threads, false, &objects);
    draft.arch = "Arch=sm_90\n";
    role(&mut draft);
    let wait = |label: &str, object: &str, parity: &str| {
        owned(&[
            &format!("{label}: mbarrier.try_wait.parity.shared::cta.b64 p, [{object}], {parity}"),
            &format!("@!p bra {label}"),
        ])
    };
    draft.push(&["@!w bra C"]);
    if matches!(form, Form::Loop | Form::WayOut | Form::Registers) {
        draft.push(&["mov.u32 ph, 1", "P: mov.u32 z, 0"]);
        draft.body.extend(wait("PW", "empty", "ph"));
        draft.push(&[
            "add.u32 t, k, 5",
            "st.shared.u32 [s], t",
            "mbarrier.arrive.shared::cta.b64 _, [full]",
        ]);
        draft.push(&[
            "xor.b32 ph, ph, 1",
            "add.u32 k, k, 1",
            "setp.lt.u32 m, k, 2",
            "@m bra P",
            "bra E",
        ]);
        draft.push(&["C: mov.u32 ph, 0", "D: mov.u32 z, 0"]);
        draft.body.extend(wait("CW", "full", "ph"));
        draft.push(&[
            "ld.shared.u32 a, [s]",
            "add.u32 sum, sum, a",
            "mbarrier.arrive.shared::cta.b64 _, [empty]",
        ]);
        draft.push(&["xor.b32 ph, ph, 1", "add.u32 k, k, 1", "setp.lt.u32 m, k, 2", "@m bra D"]);
    } else {
        for number in 0..ROUNDS {
            if number > 0 {
                draft.body.extend(wait(
                    &format!("PW{number}"),
                    "empty",
                    &(1 - number % 2).to_string(),
                ));
            }
            draft.push(&[
                &format!("st.shared.u32 [s], {}", 5 + number),
                "mbarrier.arrive.shared::cta.b64 _, [full]",
            ]);
        }
        draft.push(&["bra E", "C: mov.u32 z, 0"]);
        for number in 0..ROUNDS {
            draft.body.extend(wait(&format!("CW{number}"), "full", &(number % 2).to_string()));
            draft.push(&[
                "ld.shared.u32 a, [s]",
                "add.u32 sum, sum, a",
                "mbarrier.arrive.shared::cta.b64 _, [empty]",
            ]);
        }
    }
    draft.push(&["E: mov.u32 z, 1"]);
    let condition =
        (1..threads).map(|thread| format!("P{thread}:sum=11")).collect::<Vec<_>>().join(" /\\ ");
    draft.finish("ring", &format!("forall ({condition})"))
}

/// A tile that `cp.async` loads.
fn copied(threads: usize, form: Form) -> Pattern {
    let variables = format!(
        ".shared .align 16 .b32 s[{threads}]; .global .align 16 .b32 g[{}]={{{}}};",
        2 * threads,
        numbers(2 * threads)
    );
    let mut draft = Draft::new(threads, false, &variables);
    draft.arch = "Arch=sm_80\n";
    draft.neighbours("s");
    draft.given("from", |thread| format!("g+{}", 4 * thread));
    draft.given("k", |_| "0".to_owned());
    role(&mut draft);
    draft.push(&["cvta.to.shared.u64 to, own", "cvta.to.global.u64 src, from"]);
    let round = |_| {
        owned(&[
            "cp.async.ca.shared.global [to], [src], 4",
            "cp.async.commit_group",
            "cp.async.wait_group 0",
            "bar.sync 0",
            "ld.u32 a, [next]",
            "add.u32 sum, sum, a",
            "bar.sync 0",
            &format!("add.u64 src, src, {}", 4 * threads),
        ])
    };
    draft.rounds(form, &round);
    let sum = |thread: usize| {
        let first = (thread + 1) % threads + 1;
        2 * first + threads
    };
    let condition = each(threads, |thread| format!("P{thread}:sum={}", sum(thread)));
    draft.finish("copied-tile", &format!("forall ({condition})"))
}

/// Threads fill a tile that one of them stores by a bulk copy.
fn stored(threads: usize, form: Form) -> Pattern {
    let variables = format!(".shared .align 16 .b32 s[4]; .global .align 16 .b32 g[{}];", 8);
    let mut draft = Draft::new(threads, false, &variables);
    draft.arch = "Arch=sm_90\n";
    draft.given("own", |thread| format!("s+{}", 4 * thread));
    draft.given("to", |_| "g".to_owned());
    draft.given("k", |_| "0".to_owned());
    role(&mut draft);
    draft.push(&["cvta.to.global.u64 dst, to"]);
    let round = |_| {
        owned(&[
            "add.u32 t, k, 5",
            "st.u32 [own], t",
            "fence.proxy.async.shared::cta",
            "bar.sync 0",
            "@w cp.async.bulk.global.shared::cta.bulk_group [dst], [s], 16",
            "@w cp.async.bulk.commit_group",
            "@w cp.async.bulk.wait_group.read 0",
            "bar.sync 0",
            "add.u64 dst, dst, 16",
        ])
    };
    draft.rounds(form, &round);
    draft.push(&["cp.async.bulk.wait_group 0"]);
    let first = (0..threads)
        .map(|at| format!("g[{at}]=5 /\\ g[{}]=6", 4 + at))
        .collect::<Vec<_>>()
        .join(" /\\ ");
    draft.finish("stored-tile", &format!("forall ({first})"))
}

/// The same test with other words for the same things: scopes of the system, barriers with a count or without `.aligned`, data
/// that is accessed by relaxed instructions.
fn variants(Pattern { name, text }: &Pattern, threads: usize) -> Vec<Pattern> {
    let counted = format!("bar.sync 1, {threads}");
    let barriers: &[(&str, &str)] =
        &[("", "bar.sync 0"), ("+counted", &counted), ("+unaligned", "barrier.sync 0")];
    let (scopes, barriers): (&[(&str, &str)], _) = if text.contains("bar.sync 0") {
        (&[("", ".gpu.")], barriers)
    } else {
        (&[("", ".gpu."), ("+sys", ".sys.")], &barriers[..1])
    };
    let within = if text.contains("@cta 1") { "gpu" } else { "cta" };
    let relaxed = |word: &str| format!("{word}.relaxed.{within}");
    let mut all = Vec::new();
    for (scope, of) in scopes {
        for (barrier, with) in barriers {
            let text = text.replace(".gpu.", of).replace("bar.sync 0", with);
            let name = format!("{name}{scope}{barrier}");
            let mut data = text.clone();
            for access in ["ld", "st"] {
                for rest in [".u32", ".global.u32", ".shared.u32"] {
                    let plain = format!(" {access}{rest} ");
                    data = data.replace(&plain, &format!(" {}{rest} ", relaxed(access)));
                }
            }
            if data != text {
                all.push(Pattern { name: format!("{name}+relaxed"), text: data });
            }
            all.push(Pattern { name, text });
        }
    }
    all
}

/// Every pattern in every form, of two to four threads.
pub(crate) fn patterns() -> Vec<Pattern> {
    type Written = fn(usize, Form) -> Pattern;
    const ALL: [Written; 12] = [
        relaxation, tile, exchange, tree, lock, flag, queue, last_block, grid, ring, copied, stored,
    ];
    let mut all: Vec<Pattern> = Vec::new();
    for write in ALL {
        for threads in 2..=4 {
            for form in FORMS {
                let Pattern { name, text } = write(threads, form);
                if name == "tree" && threads == 3 {
                    continue;
                }
                let name = format!("{name}-{form:?}-{threads}").to_lowercase();
                for variant in variants(&Pattern { name, text }, threads) {
                    if !all.iter().any(|known| known.text == variant.text) {
                        all.push(variant);
                    }
                }
            }
        }
    }
    all
}
