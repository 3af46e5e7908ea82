//! A PTX module with one kernel that runs each thread of a test.

use std::fmt::Write;

use litmus::Test;
use ptx::LintOptions;
use ptx::version::{PtxIsa, Target};
use text::Diagnostic;
use text::diagnostic::Severity;

use super::kernel::{Loops, Roles, roles, thread, variables};
use super::operands::parts;
use super::{ExportedLine, Inexpressible};

/// A module whose kernel runs the threads of the test: each where its CTA is, in a warp of its own. The first parameters
/// are the addresses of the variables in global memory, the last one of the observed registers, 16 bytes each. Shared memory
/// has no values at the start.
pub(super) fn text(test: &Test) -> Result<String, Inexpressible> {
    let body = body(test)?;
    let (version, target) = needed(test, &body);
    let out = module(test, &body, version, &target);
    refuse_what_is_no_ptx(test, &out)?;
    Ok(out)
}

/// A module of a version and for a target with this function.
fn module(test: &Test, body: &str, version: PtxIsa, target: &str) -> String {
    let Roles { cluster, ctas, warps, .. } = roles(test);
    format!(
        "// A grid of {ctas} CTAs of {} threads, in clusters of {cluster}: each thread of the test is the first one of a warp\n\
         // {}\n// {}\n.version {version}\n.target {target}\n.address_size 64\n\n{body}",
        32 * warps,
        test.name,
        test.condition_text
    )
}

/// The function that runs the threads.
fn body(test: &Test) -> Result<String, Inexpressible> {
    let variables = variables(test)?;
    let roles = roles(test);
    let mut out = String::new();
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
    Ok(out)
}

/// What is wrong with a module.
fn errors(module: &str) -> Vec<Diagnostic> {
    let linted = ptx::lint("module", module.as_bytes(), LintOptions::default());
    let errors = linted.diagnostics.into_iter();
    errors.filter(|of| of.severity == Severity::Error).collect()
}

/// The text of a test may be no PTX where the module has it: other widths of registers, another target.
fn refuse_what_is_no_ptx(test: &Test, module: &str) -> Result<(), Inexpressible> {
    let errors = errors(module);
    let Some(error) = errors.first() else { return Ok(()) };
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

/// The version of PTX and the target of a module: the oldest ones with all that is in its function, by the rules of `ptx`.
fn needed(test: &Test, body: &str) -> (PtxIsa, String) {
    let target = target(test, body);
    let versions = OLDEST_ISA.to(PtxIsa::NEWEST);
    let least = fewest_errors(versions, |isa| module(test, body, *isa, &target));
    (least.unwrap_or(PtxIsa::NEWEST), target)
}

/// The first choice with which a module has no errors, or else the fewest.
fn fewest_errors<T>(choices: impl Iterator<Item = T>, module: impl Fn(&T) -> String) -> Option<T> {
    let mut best = None;
    for choice in choices {
        let count = errors(&module(&choice)).len();
        if best.as_ref().is_none_or(|(_, least)| count < *least) {
            best = Some((choice, count));
        }
        if count == 0 {
            break;
        }
    }
    best.map(|(choice, _)| choice)
}

/// The oldest version and target of modules that are written: ptxas 13 has no older target.
const OLDEST_ISA: PtxIsa = PtxIsa::new(8, 0);
const OLDEST_SM: u16 = 75;

/// The target that the instructions of a test need.
pub(super) fn needed_target(test: &Test) -> Result<String, Inexpressible> {
    Ok(target(test, &body(test)?))
}

/// The target that a test names, or the oldest one that has what is in a function; one for a family or for a single chip
/// only where no other one has it.
fn target(test: &Test, body: &str) -> String {
    if let Some(target) = test.meta("Arch") {
        return target.to_owned();
    }
    let mut targets: Vec<Target> = ptx::targets().filter(|of| of.sm >= OLDEST_SM).collect();
    targets.sort_by_key(|of| (of.variant, of.sm));
    let names = targets.iter().map(ToString::to_string);
    let least = fewest_errors(names, |name| module(test, body, PtxIsa::NEWEST, name));
    least.unwrap_or_else(|| format!("sm_{OLDEST_SM}"))
}
