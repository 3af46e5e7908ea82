//! The first row: the threads and their placement.

use model::program::ThreadId;
use model::scope::Placement;

use crate::frame::TableRow;
use lift::draft::{ProgramBuilder, ThreadDraft};
use text::cursor::{Cursor, short};
use text::report::{ByteSpan, Diagnostics};

/// A [`ThreadId`] has 8 bits.
const MOST_THREADS: usize = 250;

pub(crate) fn threads(row: &TableRow<'_>, draft: &mut ProgramBuilder, report: &mut Diagnostics) {
    let mut places: Vec<ByteSpan> = Vec::new();
    for (column, cell) in row.cells.iter().enumerate() {
        if column == MOST_THREADS {
            let message = format!("a test has at most {MOST_THREADS} threads");
            report.error("too-many", cell.here(), message);
            return;
        }
        let mut cursor = *cell;
        let (name, at) = match cursor.word() {
            Some((name, at)) => (name.to_owned(), at),
            None if cursor.at_end() => {
                report
                    .error("thread-name", cursor.here(), "this column has no thread name")
                    .help(format!("P{column}@cta {column},gpu 0"));
                (format!("P{column}"), cursor.here())
            }
            None => {
                cursor.expected("the name of a thread", report);
                (format!("P{column}"), cursor.here())
            }
        };
        if !is_thread_name(&name) {
            report
                .error(
                    "thread-name",
                    at,
                    format!("threads are named `P0`, `P1`, …, not `{}`", short(&name)),
                )
                .help(format!("P{column}@cta {column},gpu 0"));
        }
        let placement = placement(&name, at, &mut cursor, report);
        let id = ThreadId(u8::try_from(column).expect("fewer than MOST_THREADS"));
        let mut thread = ThreadDraft::new(name.clone(), placement);
        if let Some(earlier) = draft.thread_by_name.get(&name) {
            let first = places[usize::from(earlier.0)];
            let free = (0..=MOST_THREADS)
                .map(|n| format!("P{n}"))
                .find(|n| !draft.thread_by_name.contains_key(n));
            report
                .error("duplicate-thread", at, format!("duplicate column `{}`", short(&name)))
                .label(first, "first here")
                .help_if(free.clone());
            thread.name = free.unwrap_or_default();
        }
        draft.thread_by_name.insert(thread.name.clone(), id);
        draft.threads.push(thread);
        places.push(at);
    }
    together(draft, &places, report);
}

/// A CTA is on one SM: one thread's word is that of all, and two threads say the same.
fn together(draft: &mut ProgramBuilder, places: &[ByteSpan], report: &mut Diagnostics) {
    for thread in 0..draft.threads.len() {
        let here = draft.threads[thread].placement;
        let Some(sm) = here.sm else { continue };
        for other in 0..draft.threads.len() {
            let there = &mut draft.threads[other].placement;
            if !there.same_cta(here) {
                continue;
            }
            if there.sm.is_none_or(|other| other == sm) {
                there.sm = Some(sm);
            } else if thread < other {
                let mate = &draft.threads[other].name;
                report
                    .error("placement-sm", places[other], "all threads of a CTA are on the same SM")
                    .note(format!("`{mate}` is in the CTA of `{}`", draft.threads[thread].name))
                    .label(places[thread], format!("on SM {sm}"))
                    .help(format!("sm {sm}"));
            }
        }
    }
}

fn is_thread_name(name: &str) -> bool {
    name.strip_prefix('P')
        .is_some_and(|n| !n.is_empty() && n.len() < 6 && n.chars().all(|c| c.is_ascii_digit()))
}

/// What a thread is placed by.
const LEVELS: [&str; 6] = ["warp", "cta", "cluster", "gpu", "kernel", "sm"];

/// The levels in words.
const LEVEL_WORDS: &str = "`warp`, `cta`, `cluster`, `gpu`, `kernel` or `sm`";

/// `@warp 0,cta 0,cluster 0,gpu 0,kernel 0,sm 0`; without a GPU or a kernel it is number 0.
fn placement(
    name: &str,
    at: ByteSpan,
    cursor: &mut Cursor<'_>,
    report: &mut Diagnostics,
) -> Placement {
    let mut placement = Placement::default();
    let whole = at.to(cursor.rest_at());
    if cursor.at_end() {
        report
            .error("placement", at, format!("the placement of `{}` is missing", short(name)))
            .note("the placement is missing")
            .help(format!("{}@cta 0,gpu 0", short(name)));
        return placement;
    }
    if cursor.eat("@").is_none() {
        cursor.expected("`@`", report).help(format!("{}@cta 0,gpu 0", short(name)));
        return placement;
    }
    let (mut warp, mut cta, mut cluster, mut gpu, mut sm) = (None, None, None, None, None);
    let mut kernel = None;
    let errors = report.count();
    loop {
        let Some((level, level_at)) = cursor.word() else {
            cursor.expected(LEVEL_WORDS, report);
            return placement;
        };
        let slot = match level {
            "warp" => &mut warp,
            "cta" => &mut cta,
            "cluster" => &mut cluster,
            "gpu" => &mut gpu,
            "kernel" => &mut kernel,
            "sm" => &mut sm,
            _ => {
                let near = report.nearest(level, LEVELS).unwrap_or("cta");
                report
                    .error(
                        "placement-level",
                        level_at,
                        format!("unknown level of placement `{}`", short(level)),
                    )
                    .note(LEVEL_WORDS)
                    .help(format!("{near} 0"));
                &mut None
            }
        };
        if slot.is_some() {
            report.error("placement-twice", level_at, format!("duplicate level `{level}`"));
        }
        let number_at = cursor.here();
        let Some((value, _)) = cursor.number(report) else {
            cursor.expected("a number", report);
            return placement;
        };
        *slot = u32::try_from(value).ok().or_else(|| {
            report.error("number", number_at, "invalid number");
            Some(0)
        });
        if cursor.at_end() {
            break;
        }
        if cursor.eat(",").is_none() {
            cursor.expected("`,` or `|`", report);
            break;
        }
    }
    placement.warp = warp;
    placement.cluster = cluster;
    placement.gpu = gpu.unwrap_or(0);
    placement.kernel = kernel.unwrap_or(0);
    placement.sm = sm;
    match cta {
        Some(cta) => placement.cta = cta,
        None if report.count() > errors => {}
        None => {
            report
                .error("placement", whole, format!("`{}` has no CTA", short(name)))
                .help(format!("{}@cta 0,gpu {}", short(name), placement.gpu));
        }
    }
    placement
}
