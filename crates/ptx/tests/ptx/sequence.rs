//! Rules of several instructions: what they say of functions, and what they do not say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ptx::LintOptions;
use text::Diagnostic;
use text::diagnostic::Severity;

/// Of rules of several instructions, all that is said of a kernel with this body.
fn said(body: &str) -> Vec<Diagnostic> {
    let text = format!(
        ".version 9.4\n.target sm_100a\n.address_size 64\n\
         .func other ();\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n\
         .reg .b64 %rd<12>; .reg .b32 %r<40>; .reg .pred %p<8>;\n\
         .shared .align 128 .b8 s[4096]; .shared .align 128 .b8 t[4096]; .shared .align 8 .b64 bar;\n\
         {body}\nret;\n}}\n"
    );
    let mut all = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default()).diagnostics;
    all.retain(|one| one.severity != Severity::Error);
    all
}

fn codes(body: &str) -> Vec<&'static str> {
    said(body).iter().map(|one| one.code).collect()
}

/// Each row has a rule, instructions that break it, and a change that keeps it: a text, and what replaces it.
fn flips(rows: &[(&str, &str, [&str; 2])]) {
    for (code, body, [from, to]) in rows {
        assert_eq!(codes(body), [*code], "{body}");
        assert!(body.contains(from), "{from}: {body}");
        assert_eq!(codes(&body.replacen(from, to, 1)), [""; 0], "{body}: {from} for {to}");
    }
}

const STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;\n\
    cp.async.bulk.commit_group;\n";

#[test]
fn fences_of_the_async_proxy() {
    let code = "proxy-fence-missing";
    let body = format!("st.shared.u32 [s+16], %r1;\nbar.sync 0;\n{STORE}");
    // Another variable, bytes after those that are copied, an order of instructions, a call, and a fence.
    for change in [
        ["[s+16]", "[t+16]"],
        ["[s+16]", "[s+64]"],
        ["bar.sync 0;", "fence.proxy.async; bar.sync 0;"],
        ["bar.sync 0;", "fence.proxy.async.shared::cta; bar.sync 0;"],
        ["bar.sync 0;", "call other; bar.sync 0;"],
    ] {
        flips(&[(code, &body, change)]);
    }
    // A fence of another space, or one before the write, does not count; and a register leads to a variable.
    assert_eq!(codes(&body.replace("bar.sync 0", "fence.proxy.async.global")), [code]);
    assert_eq!(codes(&format!("fence.proxy.async;\n{body}")), [code]);
    let through =
        format!("mov.u32 %r2, s;\nadd.s32 %r3, %r2, 16;\n{}", body.replace("[s+16]", "[%r3]"));
    flips(&[(code, &through, ["add.s32 %r3, %r2, 16", "add.s32 %r3, %r2, 128"])]);
    // A copy that fills an array does not hide what a thread writes there, as one into memory without a size does.
    let indexed = "mov.u32 %r2, s;\nmov.u32 %r3, %tid.x;\nadd.s32 %r4, %r2, %r3;\n\
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd2], 64, [bar];\n\
        st.shared.u32 [%r4], %r1;\nbar.sync 0;\n";
    let indexed = format!("{indexed}{STORE}");
    flips(&[(code, &indexed, ["bar.sync 0;", "fence.proxy.async.shared::cta;\nbar.sync 0;"])]);
    // A fence on one of the paths is enough, and so is one in another role of the kernel.
    let roles = format!(
        "@%p1 bra COPY;\nst.shared.u32 [s], %r1;\nbar.sync 0;\nret;\nCOPY:\nbar.sync 0;\n{STORE}"
    );
    flips(&[
        (code, &roles, ["bar.sync 0;\nret", "fence.proxy.async;\nbar.sync 0;\nret"]),
        (code, &roles, ["COPY:\nbar.sync 0;", "COPY:\nbar.sync 0; fence.proxy.async;"]),
    ]);
    let branch = format!(
        "st.shared.u32 [s], %r1;\n@%p1 bra ON;\nfence.proxy.async;\nON:\nbar.sync 0;\n{STORE}"
    );
    flips(&[(
        code,
        &branch.replace("fence.proxy.async;\n", ""),
        ["@%p1 bra", "fence.proxy.async;\n@%p1 bra"],
    )]);
    assert_eq!(codes(&branch), [""; 0]);
    // A write after the copy alone is not read by it, and in a loop it is.
    let after = format!("{STORE}st.shared.u32 [s], %r1;\n");
    assert_eq!(codes(&after), [""; 0]);
    assert_eq!(codes(&format!("TOP:\n{after}@%p1 bra TOP;\n")), [code]);
    // A tile that bulk copies fill may be what is read.
    let filled = "mov.u32 %r2, s;\nadd.s32 %r3, %r2, %r4;\nst.shared.u32 [%r3], %r1;\nadd.s32 %r6, %r2, %r5;\n\
        cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r6], 64;\n";
    assert_eq!(codes(filled), [code]);
    let load =
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 64, [bar];\n";
    assert_eq!(codes(&format!("{load}{filled}")), [""; 0]);

    let copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [t], 64, [%r2];";
    let space = format!("fence.proxy.async.global;\n{copy}");
    flips(&[
        ("proxy-fence-space", &space, [".global", ""]),
        ("proxy-fence-space", &space, [copy, STORE]),
    ]);
}

#[test]
fn scopes_and_orders_of_mbarrier_objects() {
    let arrive = "mapa.shared::cluster.u32 %r1, %r2, 1;\nmbarrier.arrive.release.cta.shared::cluster.b64 _, [%r1];";
    let code = "mbarrier-remote-cta-scope";
    flips(&[
        (code, arrive, [".release.cta", ".release.cluster"]),
        (code, arrive, [".release.cta", ".relaxed.cta"]),
        (code, arrive, ["mapa.shared::cluster.u32 %r1, %r2, 1", "mov.u32 %r1, bar"]),
        (
            code,
            &arrive.replace(".release.cta", ""),
            ["mbarrier.arrive.shared::cluster", "mbarrier.arrive.shared::cta"],
        ),
    ]);
    let wait = "mov.u32 %r2, bar;\nmapa.shared::cluster.u32 %r1, %r2, 1;\n\
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];\n\
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;";
    let code = "mbarrier-remote-cta-wait";
    flips(&[
        (code, wait, ["parity", "parity.acquire.cluster"]),
        (code, wait, ["[bar]", "[bar+8]"]),
        (code, wait, ["mapa.shared::cluster.u32 %r1, %r2, 1", "mov.u32 %r1, %r2"]),
    ]);
    let state = "mapa.u64 %rd1, %rd2, 1;\nmbarrier.arrive.release.cluster.b64 %rd3, [%rd1];";
    flips(&[
        ("mbarrier-remote-state", state, ["%rd3", "_"]),
        ("mbarrier-remote-state", state, ["mapa.u64 %rd1, %rd2, 1", "mov.u64 %rd1, %rd2"]),
    ]);
    let relaxed = "{\nL: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra L;\n}\n\
        {\nL: ld.shared.u32 %r1, [s];\n@!%p1 bra L;\n}";
    let code = "mbarrier-relaxed-wait";
    flips(&[
        (code, relaxed, ["relaxed", "acquire"]),
        (code, relaxed, ["ld.shared", "fence.acquire.cta; ld.shared"]),
        (code, relaxed, ["ld.shared", "bar.sync 0; ld.shared"]),
        (code, relaxed, ["ld.shared.u32 %r1, [s]", "ld.global.u32 %r1, [%rd1]"]),
    ]);
    // A release does not order what is after it.
    assert_eq!(codes(&relaxed.replace("ld.shared", "fence.release.cta; ld.shared")), [code]);
    let init = "mbarrier.init.shared::cta.b64 [bar], 1;\nfence.proxy.async;\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n\
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];";
    let code = "mbarrier-init-fence";
    flips(&[
        (code, init, ["fence.proxy.async", "fence.mbarrier_init.release.cluster"]),
        (code, init, ["fence.proxy.async", "fence.acq_rel.cluster"]),
        (code, init, [".relaxed", ".release"]),
        // No other CTA uses the object.
        (code, init, ["shared::cluster", "shared::cta"]),
    ]);
    assert_eq!(codes(&init.replace("fence.proxy.async", "fence.acq_rel.cta")), [code]);
}

#[test]
fn what_tells_that_a_copy_is_complete() {
    let load = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n\
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 64, [bar];\n\
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [t], [%rd1], 64, [bar];\n";
    assert_eq!(codes(load), [""; 0]);
    let code = "mbarrier-tx-unit";
    for (wrong, right) in [
        (load.replace("[bar], 128", "[bar], 120"), ["120", "128"]),
        (load.replace("[bar], 128", "[bar], 64"), ["[bar], 64;\n", "[bar], 128;\n"]),
        // A second object, a branch, a copy of a size that is not known, and one for other CTAs.
        (load.replace("[bar], 128", "[bar], 64"), ["64, [bar];\ncp", "64, [s+512];\ncp"]),
        (
            load.replace("[bar], 128", "[bar], 64"),
            ["[bar], 64;\n", "[bar], 64;\n@%p1 bra ON;\nON:\n"],
        ),
        (load.replace("[bar], 128", "[bar], 64"), ["64, [bar];\ncp", "%r1, [bar];\ncp"]),
        (load.replace("[bar], 128", "[bar], 64"), ["64, [bar];\ncp", "64, [%r1];\ncp"]),
    ] {
        flips(&[(code, &wrong, right)]);
    }
    let read = format!(
        "{STORE}cp.async.bulk.wait_group.read 0;\nred.release.gpu.global.add.u32 [%rd2], 1;"
    );
    let code = "bulk-read-wait";
    flips(&[
        (code, &read, [".read", ""]),
        (code, &read, [".release.gpu", ".relaxed.gpu"]),
        (code, &read, ["red.", "cp.async.bulk.wait_group 0;\nred."]),
    ]);
    let fence = read.replace("red.release.gpu", "fence.acq_rel.gpu;\nred.relaxed.gpu");
    flips(&[(code, &fence, ["acq_rel.gpu", "acq_rel.cta"])]);
    let load = format!("{STORE}cp.async.bulk.wait_group.read 0;\nld.global.u32 %r1, [%rd1];");
    flips(&[(code, &load, ["ld.global.u32 %r1, [%rd1]", "ld.global.u32 %r1, [%rd2]"])]);

    let copy = "cp.async.cg.shared.global [s], [%rd1], 16;\ncp.async.wait_group 0;";
    let code = "cpasync-uncommitted";
    flips(&[
        (code, copy, ["cp.async.wait_group", "cp.async.commit_group;\ncp.async.wait_group"]),
        (code, copy, ["cp.async.wait_group 0", "cp.async.wait_all"]),
        (
            code,
            copy,
            [
                "cp.async.wait_group",
                "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\ncp.async.wait_group",
            ],
        ),
        (code, copy, ["cp.async.wait_group 0;", "cp.async.wait_group 0;\ncp.async.commit_group;"]),
    ]);
    let bulk =
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;\ncp.async.bulk.wait_group 0;";
    flips(&[(
        code,
        bulk,
        ["cp.async.bulk.wait", "cp.async.bulk.commit_group;\ncp.async.bulk.wait"],
    )]);
}

#[test]
fn reads_before_the_kernel_before_is_complete() {
    let code = "pdl-early-read";
    let body = "ld.param.u64 %rd1, [in];\nld.global.u32 %r1, [%rd1];\ngriddepcontrol.wait;\nld.global.u32 %r2, [%rd1+4];";
    flips(&[
        (code, body, ["griddepcontrol.wait", "griddepcontrol.launch_dependents"]),
        // What is read before the wait alone may be what no kernel writes.
        (
            code,
            body,
            ["ld.global.u32 %r2, [%rd1+4]", "ld.param.u64 %rd2, [out];\nld.global.u32 %r2, [%rd2]"],
        ),
    ]);
    // One index into two parameters is not the same data.
    let indexed = "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r3, %tid.x;\nmul.wide.u32 %rd3, %r3, 4;\n\
        add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nld.global.u32 %r1, [%rd4];\ngriddepcontrol.wait;\n\
        ld.global.u32 %r2, [%rd4];";
    flips(&[(code, indexed, ["%r2, [%rd4]", "%r2, [%rd5]"])]);
    // With nothing after the wait, it is for what is before it.
    assert_eq!(codes(&body.replace("ld.global.u32 %r2, [%rd1+4];", "")), [code]);
}

#[test]
fn both_instructions_are_shown() {
    let body = format!("st.shared.u32 [s], %r1;\nbar.sync 0;\n{STORE}");
    let [one] = &said(&body)[..] else { panic!("one warning") };
    assert_eq!((one.severity, one.labels.len()), (Severity::Warning, 1));
    assert_eq!(one.span.line, one.labels[0].span.line + 2);
    assert_eq!(one.section.map(|section| section.anchor), Some("async-proxy"));
    // Of a module that cannot be read in full, something may be missing.
    assert_eq!(codes(&body.replace("bar.sync 0;", "ld.u32 %r1, [s-4];")), [""; 0]);
}

/// A litmus test as a module: each kernel is a function, and each of its columns a branch.
fn module(text: &str) -> String {
    let (head, rest) = text.split_once("\n{").expect("declarations");
    let (declarations, rows) = rest.split_once("\n}").expect("rows");
    let target = head.lines().find_map(|line| line.strip_prefix("Arch=")).unwrap_or("sm_90a");
    let mut module = format!(".version 9.4\n.target {target}\n.address_size 64\n");
    let mut addresses: BTreeMap<&str, String> = BTreeMap::new();
    for one in declarations.split(';').map(str::trim) {
        if let Some((thread, (register, place))) =
            one.split_once(':').and_then(|(thread, rest)| Some((thread, rest.split_once('=')?)))
            && let Some((name, _)) = place.split_once('@').filter(|_| thread.starts_with('P'))
        {
            let line = format!("mapa.shared::cluster.u32 {register}, {name}, 1;\n");
            addresses.entry(thread).or_default().push_str(&line);
        } else if one.starts_with(".shared") || one.starts_with(".global") {
            let one = one.split('=').next().unwrap_or(one);
            writeln!(module, "{};", one.replace(".mbarrier", ".align 8 .b64")).expect("a string");
        }
    }
    let mut rows = rows.lines().map(str::trim).filter(|row| row.ends_with(';'));
    let cells = |row: &str| {
        row.trim_end_matches(';').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let names: Vec<String> = rows.next().map(cells).expect("the threads");
    let columns: Vec<Vec<String>> = rows.map(cells).collect();
    let kernel =
        |name: &String| name.split_once("kernel ").map_or(0, |(_, rest)| rest.as_bytes()[0] - b'0');
    for of in 0..4 {
        let threads = || names.iter().enumerate().filter(|(_, name)| kernel(name) == of);
        if threads().next().is_none() {
            continue;
        }
        writeln!(module, ".visible .entry k{of}() {{\n.reg .pred p; .reg .pred q;")
            .expect("a string");
        for (index, _) in threads() {
            writeln!(module, "@q bra T{index};").expect("a string");
        }
        for (index, name) in threads() {
            let thread = name.split('@').next().unwrap_or(name);
            let addresses = addresses.get(thread).map_or("", String::as_str);
            writeln!(module, "ret;\nT{index}:\n{{\n{addresses}").expect("a string");
            for row in &columns {
                if let Some(cell) = row.get(index).filter(|cell| !cell.is_empty()) {
                    writeln!(module, "{};", cell.trim_end_matches(';')).expect("a string");
                }
            }
            module.push_str("}\n");
        }
        module.push_str("ret;\n}\n");
    }
    module
}

/// The litmus tests of asynchronous operations of which something is said, and what.
#[test]
fn litmus_tests_of_asynchronous_operations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/measured/asynchronous");
    let entries = fs::read_dir(&folder).expect("it is a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("it is text");
        let module = module(&text);
        let linted = ptx::lint("m.ptx", module.as_bytes(), LintOptions::default());
        assert!(!linted.unreadable, "{}: {:?}\n{module}", path.display(), linted.diagnostics);
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.split('-').next().unwrap_or(name).to_owned();
        let warnings = linted.diagnostics.iter().filter(|one| one.severity == Severity::Warning);
        found.extend(warnings.map(|one| format!("{name} {}", one.code)));
    }
    found.dedup();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for code in found.iter().filter_map(|one| one.split(' ').nth(1)) {
        *counts.entry(code).or_default() += 1;
    }
    eprintln!("{} litmus tests: {counts:?}", paths.len());
    assert_eq!(
        found,
        [
            "A3 mbarrier-relaxed-wait",
            "A9 mbarrier-tx-unit",
            "C10 bulk-read-wait",
            "C14 cpasync-uncommitted",
            "C2 proxy-fence-missing",
            "C4 proxy-fence-missing",
            "C6 proxy-fence-missing",
            "E16 proxy-fence-missing",
            "E7 cpasync-uncommitted",
            "F4 mbarrier-init-fence",
            "G1 mbarrier-remote-cta-scope",
            "G2 mbarrier-remote-cta-wait",
            "J2 pdl-early-read",
        ]
    );
}

/// Nothing is said of kernels that work.
#[test]
#[ignore = "needs kernels of others: CAUSEWAY_ORACLE"]
fn compiled_kernels_have_no_such_warnings() {
    let folder = ::measured::of_others("kernels/ptx");
    let entries = fs::read_dir(&folder).expect("it is a folder");
    let rules: Vec<&str> = ptx::catalogue::all()
        .iter()
        .filter(|rule| {
            rule.by == ptx::rule::Authority::Neither || rule.code == "mbarrier-remote-state"
        })
        .map(|rule| rule.code)
        .collect();
    assert_eq!(rules.len(), 14);
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("it can be read");
        let linted = ptx::lint("m.ptx", &bytes, LintOptions::default());
        assert!(!linted.unreadable, "{}", path.display());
        let mut said = linted.diagnostics;
        said.retain(|one| rules.contains(&one.code));
        assert_eq!(said, [], "{}", path.display());
        count += 1;
    }
    eprintln!("{count} kernels");
}
