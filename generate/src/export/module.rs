//! A PTX module with one kernel that runs each thread of a test.

use std::fmt::Write;

use litmus::Test;
use ptx::LintOptions;
use text::diagnostic::Severity;

use super::kernel::{Loops, roles, thread, variables};
use super::operands::parts;
use super::{ExportedLine, Inexpressible};

/// A module whose kernel runs the threads of the test: each where its CTA is, in a warp of its own. The first parameters
/// are the addresses of the variables in global memory, the last one of the observed registers, 16 bytes each. Shared memory
/// has no values at the start.
pub(super) fn text(test: &Test) -> Result<String, Inexpressible> {
    let variables = variables(test)?;
    let roles = roles(test);
    let (version, target) = needed(test);
    let mut out = format!(
        "// {}\n// {}\n.version {version}\n.target {target}\n.address_size 64\n\n",
        test.name, test.condition_text
    );
    let shape = format!(
        "// A grid of {} CTAs of {} threads, in clusters of {}: {}\n",
        roles.ctas,
        32 * roles.warps,
        roles.cluster,
        "each thread of the test is the first one of a warp"
    );
    out.insert_str(0, &shape);
    let global = || variables.iter().filter(|of| !of.shared).map(|of| &of.name);
    let mut parameters: Vec<String> =
        global().map(|name| format!("    .param .u64 param_{name}")).collect();
    parameters.push("    .param .u64 observed".to_owned());
    let w = "writing to a string succeeds";
    writeln!(out, ".visible .entry litmus(\n{}\n)\n{{", parameters.join(",\n")).expect(w);
    writeln!(out, "    .reg .u32 cta_, lane_;\n    .reg .pred here_;\n    .reg .u64 out_;")
        .expect(w);
    for variable in &variables {
        let name = &variable.name;
        if variable.shared {
            let bytes = variable.initial.len();
            writeln!(out, "    .shared .align 128 .b8 memory_{name}_[{bytes}];").expect(w);
        } else {
            writeln!(out, "    .reg .u64 at_{name}_;").expect(w);
            writeln!(out, "    ld.param.u64 at_{name}_, [param_{name}];").expect(w);
        }
    }
    writeln!(out, "    ld.param.u64 out_, [observed];").expect(w);
    writeln!(out, "    mov.u32 cta_, %ctaid.x;\n    mov.u32 lane_, %tid.x;").expect(w);
    let mut slot = 0;
    for (number, (cta, warp)) in roles.places.iter().enumerate() {
        let body = thread(test, number, Loops::AsWritten)?;
        let of_shared = body.addresses.iter().filter(|of| variables[of.index()].shared);
        let prelude = of_shared.flat_map(|address| {
            let own = format!("memory_{}_", variables[address.index()].name);
            address.of_shared(test, &own, roles.rank(address.of))
        });
        writeln!(out, "    setp.ne.u32 here_, cta_, {cta};\n    @here_ bra AFTER_{number};")
            .expect(w);
        writeln!(out, "    setp.ne.u32 here_, lane_, {};", 32 * warp).expect(w);
        writeln!(out, "    @here_ bra AFTER_{number};\n    {{").expect(w);
        let lines = body.declarations.into_iter().chain(prelude).chain(body.instructions);
        for line in lines {
            writeln!(out, "        {line}").expect(w);
        }
        for (register, ty) in &body.observed {
            let at = 16 * slot;
            if *ty == ".pred" {
                writeln!(out, "        selp.b32 lane_, 1, 0, {register};").expect(w);
                writeln!(out, "        st.global.b32 [out_+{at}], lane_;").expect(w);
            } else {
                writeln!(out, "        st.global{ty} [out_+{at}], {register};").expect(w);
            }
            slot += 1;
        }
        writeln!(out, "    }}\nAFTER_{number}:").expect(w);
    }
    out += "    ret;\n}\n";
    refuse_what_is_no_ptx(test, &out)?;
    Ok(out)
}

/// The text of a test may be no PTX where the module has it: other widths of registers, another target.
fn refuse_what_is_no_ptx(test: &Test, module: &str) -> Result<(), Inexpressible> {
    let linted = ptx::lint("module", module.as_bytes(), LintOptions::default());
    let mut errors = linted.diagnostics.iter();
    let Some(error) = errors.find(|of| of.severity == Severity::Error) else {
        return Ok(());
    };
    let written = module.lines().nth(error.span.line.saturating_sub(1)).unwrap_or_default().trim();
    let what = format!("an instruction that is an error in a module ({})", error.message);
    let lines = || (0..test.program.threads.len()).flat_map(|of| ExportedLine::all(test, of));
    let same = |line: &ExportedLine<'_>| written.strip_suffix(';') == Some(&line.line.text);
    let alike = |line: &ExportedLine<'_>| parts(&line.line.text).1 == parts(written).1;
    let of = lines().find(same).or_else(|| lines().find(alike));
    Err(of.map_or_else(
        || Inexpressible { line: 1, what: what.clone() },
        |line| line.inexpressible(&what),
    ))
}

/// The version of PTX and the target that have all instructions of the test.
fn needed(test: &Test) -> (&'static str, String) {
    let version = VERSIONS.iter().find(|(_, words)| has(test, words));
    let mut registers = test.program.threads.iter().flat_map(|thread| &thread.registers);
    let oldest = if registers.any(|of| of.bits == 128) { "8.3" } else { "8.0" };
    let version = version.map_or(oldest, |(version, _)| version);
    (version, target(test).unwrap_or_else(|| OLDEST.to_owned()))
}

/// The oldest target that ptxas 13 has.
pub(super) const OLDEST: &str = "sm_75";

/// Whether an instruction of a test has one of these words.
fn has(test: &Test, words: &[&str]) -> bool {
    let mut lines = test.program.threads.iter().flat_map(|thread| &thread.lines);
    lines.any(|line| words.iter().any(|word| line.text.contains(word)))
}

/// The types of accesses of 256 bits.
const WIDE: &[&str] =
    &[".v8.b32", ".v8.u32", ".v8.s32", ".v8.f32", ".v4.b64", ".v4.u64", ".v4.s64", ".v4.f64"];

/// The versions of PTX that have qualifiers which older ones lack, newest first.
const VERSIONS: [(&str, &[&str]); 7] = [
    ("9.4", &["proxy::readonly", "layout::", "phase_type", "shared::cluster::read"]),
    ("9.3", &["mmio.acquire", "mmio.release"]),
    ("8.8", WIDE),
    ("8.7", &["st.async.release", "st.async.mmio", "red.async.release", "red.async.mmio"]),
    (
        "8.6",
        &[
            "fence.acquire",
            "fence.release",
            "st.bulk",
            "cp_mask",
            "fence.proxy.async::generic",
            ".b128",
            "bulk.shared::cta",
            "mbarrier.arrive.relaxed",
            "wait.relaxed",
            "wait.parity.relaxed",
            "drop.relaxed",
            "expect_tx.relaxed",
        ],
    ),
    ("8.3", &["mmio", ".b128"]),
    ("8.1", &["st.async", "red.async"]),
];

/// Words of instructions that `sm_90` has, and older targets lack.
const NEWER: &[&str] = &[
    "fence.acquire",
    "fence.release",
    "cluster",
    "proxy::",
    "proxy.async",
    "cas.b128",
    "exch.b128",
];

/// The target that the instructions of a test need, where it is not any.
pub(super) fn target(test: &Test) -> Option<String> {
    let least = || {
        if has(test, WIDE) {
            Some("sm_100")
        } else {
            let newer = test.program.has_remote_shared_memory() || has(test, NEWER);
            newer.then_some("sm_90")
        }
    };
    test.meta("Arch").or_else(least).map(str::to_owned)
}
