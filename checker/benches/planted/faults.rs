//! What can be taken away from a right test.

use litmus::revise::{Revision, SourceTest};

/// One thing that is taken away or weakened, in all threads with the same text.
pub(crate) struct Fault {
    pub(crate) kind: &'static str,
    /// What, in words.
    pub(crate) what: String,
    /// How many instructions a repair may change.
    pub(crate) edits: u32,
    pub(crate) revisions: Vec<Revision>,
}

/// Every fault of a test.
pub(crate) fn faults(source: &SourceTest) -> Vec<Fault> {
    let mut all = Vec::new();
    let texts = |thread: usize| source.cells[thread].iter().map(|cell| &cell.text);
    for thread in 0..source.cells.len() {
        let copies: Vec<usize> =
            (0..source.cells.len()).filter(|&other| texts(other).eq(texts(thread))).collect();
        if copies[0] != thread {
            continue;
        }
        for cell in 0..source.cells[thread].len() {
            of_cell(source, &copies, cell, &mut all);
        }
    }
    barriers(source, &mut all);
    all
}

/// The faults of an instruction that these threads have.
fn of_cell(source: &SourceTest, copies: &[usize], cell: usize, all: &mut Vec<Fault>) {
    let of = &source.cells[copies[0]][cell];
    let (name, text) = (of.name.as_str(), of.text.as_str());
    let mut add = |kind, what: String, edits, revise: &dyn Fn(usize) -> Vec<Revision>| {
        let revisions = copies.iter().flat_map(|&thread| revise(thread)).collect();
        all.push(Fault { kind, what, edits, revisions });
    };
    let remove = |thread: usize| vec![Revision::Remove { thread, cell }];
    let renamed = |name: String| {
        move |thread: usize| vec![Revision::Rename { thread, cell, name: name.clone() }]
    };
    if name.starts_with("fence.proxy") {
        add("proxy fence", format!("`{text}`"), 1, &remove);
    } else if name.starts_with("fence") || name.starts_with("membar") {
        add("fence", format!("`{text}`"), 1, &remove);
        if name.starts_with("fence.sc") {
            let weak = name.replacen(".sc", ".acq_rel", 1);
            add("order", format!("`{text}` to `{weak}`"), 1, &renamed(weak));
        }
    }
    for order in [".acquire", ".release", ".acq_rel"] {
        if name.contains(order) && !name.starts_with("fence") && !name.starts_with("barrier") {
            let weak = name.replacen(order, ".relaxed", 1);
            add("order", format!("`{text}` to `{weak}`"), 1, &renamed(weak));
        }
    }
    for scope in [".gpu", ".sys", ".cluster"] {
        if name.contains(scope) && !name.contains("::cluster") && !name.starts_with("barrier") {
            let narrow = name.replacen(scope, ".cta", 1);
            add("scope", format!("`{text}` to `{narrow}`"), 1, &renamed(narrow));
        }
    }
    let last = |to: String| {
        let rest = text.rsplit_once(',').map_or("", |(rest, _)| rest);
        let rest = rest.find(name).map_or(rest, |at| &rest[at..]);
        let text = format!("{rest}, {to}");
        move |thread: usize| vec![Revision::Replace { thread, cell, text: text.clone() }]
    };
    if name.contains("_wait.parity") {
        let branch = source.cells[copies[0]].get(cell + 1);
        if branch.is_some_and(|branch| branch.text.contains("bra ")) {
            add("wait", format!("`{text}` and its loop"), 2, &|thread| {
                vec![Revision::Remove { thread, cell }, Revision::Remove { thread, cell: cell + 1 }]
            });
        }
        for (now, wrong) in [(", 0", "1"), (", 1", "0")] {
            if text.ends_with(now) {
                add("parity", format!("`{text}`"), 1, &last(wrong.to_owned()));
            }
        }
    }
    if name.starts_with("mov") && (text.contains("ph,")) {
        for (now, wrong) in [(", 0", "1"), (", 1", "0")] {
            if text.ends_with(now) {
                add("parity", format!("`{text}`"), 1, &last(wrong.to_owned()));
            }
        }
    }
    if name.starts_with("mbarrier.init")
        && let Some(count) = text.rsplit_once(", ").and_then(|(_, count)| count.parse::<u64>().ok())
    {
        for wrong in [count + 1, count * 32] {
            add("count", format!("`{text}` to {wrong}"), 1, &last(wrong.to_string()));
        }
    }
    if name.contains("wait_group") {
        add("wait for groups", format!("`{text}`"), 1, &remove);
        let more = text.replacen("wait_group 0", "wait_group 1", 1);
        let more = more.replacen("wait_group.read 0", "wait_group.read 1", 1);
        if more != text {
            let more = more.find(name).map_or(String::new(), |at| more[at..].to_owned());
            add("groups in flight", format!("`{text}`"), 1, &|thread| {
                vec![Revision::Replace { thread, cell, text: more.clone() }]
            });
        }
    }
    if name.contains("expect_tx")
        && let Some(bytes) = text.rsplit_once(", ").and_then(|(_, bytes)| bytes.parse::<u64>().ok())
        && bytes > 0
    {
        add("bytes", format!("`{text}`"), 1, &last((2 * bytes).to_string()));
    }
}

/// A barrier that all threads of a CTA have, with the same number among those of each thread.
fn barriers(source: &SourceTest, all: &mut Vec<Fault>) {
    let threads = &source.test.program.threads;
    for first in 0..threads.len() {
        let place = threads[first].placement;
        let cta: Vec<usize> =
            (0..threads.len()).filter(|&one| threads[one].placement.same_cta(place)).collect();
        if cta[0] != first || cta.len() < 2 {
            continue;
        }
        let of = |thread: usize| -> Vec<usize> {
            let cells = source.cells[thread].iter().enumerate();
            let barriers = cells.filter(|(_, cell)| {
                ["bar.sync", "bar.warp.sync", "barrier.sync"]
                    .iter()
                    .any(|name| cell.name.starts_with(name))
            });
            barriers.map(|(at, _)| at).collect()
        };
        let mut texts: Vec<Vec<&String>> = cta
            .iter()
            .map(|&thread| source.cells[thread].iter().map(|cell| &cell.text).collect())
            .collect();
        texts.sort();
        texts.dedup();
        let edits = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let count = of(first).len();
        if cta.iter().any(|&thread| of(thread).len() != count) {
            continue;
        }
        for number in 0..count {
            let revisions =
                cta.iter().map(|&thread| Revision::Remove { thread, cell: of(thread)[number] });
            let what = format!("barrier {number} of CTA {}", place.cta);
            all.push(Fault { kind: "barrier", what, edits, revisions: revisions.collect() });
        }
    }
}
