//! A program of CUDA that runs tests many times, and prints histograms in the words of litmus7.
//!
//! Each thread of a test is one block of inline PTX. A warp runs 32 instances of it, and a group of CTAs the warps of all
//! threads of the test. Groups begin together, beside CTAs that stress the memory; in turn, the CTAs of a group run in a
//! drawn order, on one SM, or on different ones. Each instance has its own part of the shared memory of its CTAs.

use std::fmt::Write;

use litmus::{Comparand, Prop, Quantifier, Test, proposition};
use model::isa::alu::Comparison;
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::{Instruction, Operand};
use model::memory::MBARRIER_BYTES;
use model::program::Observed;

use super::kernel::{self, ExportedVariable, LANES, Loops, MOST_ITERATIONS, Roles, ThreadText};
use super::{ExportedLine, Inexpressible, module, refuse_variable};

const HEAD: &str = include_str!("harness_head.cu");
const TAIL: &str = include_str!("harness_tail.cu");

/// Bytes between the global variables of an instance.
const STRIDE: usize = 256;
/// What the addresses of variables in shared memory are multiples of.
const SHARED_ALIGNMENT: usize = 16;
/// Bytes of shared memory of an instance: a CTA of 32 has 224 KiB.
const MOST_SHARED: usize = 7168;

/// Warps of a CTA, and CTAs of a cluster, that each GPU runs.
const MOST_WARPS: usize = 32;
const MOST_CTAS: usize = 8;

/// The barrier at which the threads of a CTA meet before and after the test.
const OWN_BARRIER: u64 = 15;

/// The keys of tests that expect an execution which never finishes: the GPU would hang.
const WAITS: [&str; 3] = ["Stuck", "Sometimes-stuck", "Hang"];

/// A program of CUDA with some tests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CudaProgram {
    /// What each test is in the program.
    tests: Vec<String>,
    /// The targets that tests need, each once.
    targets: Vec<String>,
}

impl CudaProgram {
    /// Adds a test, or says what of it the program cannot express.
    pub fn add(&mut self, test: &Test) -> Result<(), Inexpressible> {
        super::check_expressible(test)?;
        let waits = WAITS.iter().find(|key| test.meta(key).is_some_and(|value| value != "no"));
        if let Some(key) = waits {
            let what = format!("threads that wait for ever, as `{key}=` says");
            return Err(Inexpressible { line: 1, what });
        }
        let written = self.text_of(test)?;
        self.tests.push(written);
        let target = module::needed_target(test)?;
        if !self.targets.contains(&target) {
            self.targets.push(target);
        }
        Ok(())
    }

    /// The text of the program.
    pub fn text(&self) -> String {
        // The newest one runs all tests, unless one is for a family of its own: `sm_90a`.
        let order = |target: &&String| {
            let number: u32 = target
                .chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
                .parse()
                .unwrap_or_default();
            (number, target.len())
        };
        let target = self.targets.iter().max_by_key(order).map_or("sm_90", String::as_str);
        let mut out = HEAD.to_owned();
        for (name, value) in [
            ("@TARGET@", target.to_owned()),
            ("@ITERATIONS@", MOST_ITERATIONS.to_string()),
            ("@BARRIER@", OWN_BARRIER.to_string()),
        ] {
            out = out.replace(name, &value);
        }
        for text in &self.tests {
            out += text;
        }
        out += "\nstatic const Entry TESTS[] = {\n";
        for index in 0..self.tests.len() {
            writeln!(out, "    {{Test{index}::name(), run<Test{index}>}},")
                .expect("writing to a string succeeds");
        }
        out + "};\n" + TAIL
    }

    /// A test as a struct with the next number.
    fn text_of(&self, test: &Test) -> Result<String, Inexpressible> {
        let variables = kernel::variables(test)?;
        if let Some(index) = variables.iter().position(|of| !of.shared && of.initial.len() > STRIDE)
        {
            let what = format!("an array of more than {STRIDE} bytes in global memory");
            return refuse_variable(test, index, &what);
        }
        refuse_what_instances_share(test)?;
        refuse_open_arrivals(test)?;
        let long = |of: &Observed| matches!(of, Observed::Memory { length, .. } if *length > 8);
        if test.program.observed.iter().any(long) {
            let what = "the value of more than 64 bits of memory".to_owned();
            return Err(Inexpressible { line: test.condition_line, what });
        }
        let offsets = Offsets::of(&variables);
        let asynchronous = test.program.is_asynchronous();
        // Then threads meet after the test, and do not exit before.
        if offsets.shared > 0 || asynchronous {
            refuse_exits(test)?;
        }
        if let Some(last) = variables.iter().rposition(|of| of.shared)
            && offsets.shared > MOST_SHARED
        {
            let what = format!("more than {MOST_SHARED} bytes of shared memory");
            return refuse_variable(test, last, &what);
        }
        let roles = kernel::roles(test);
        if roles.warps > MOST_WARPS || roles.cluster > MOST_CTAS {
            let what = format!(
                "more than {MOST_WARPS} threads of a CTA, or {MOST_CTAS} CTAs of a cluster"
            );
            return Err(Inexpressible { line: 1, what });
        }
        let Roles { places, cluster, ctas, warps } = &roles;
        let w = "writing to a string succeeds";
        let mut out = String::new();
        writeln!(out, "\n// {}\n// {}", test.name, test.condition_text).expect(w);
        writeln!(out, "struct Test{} {{", self.tests.len()).expect(w);
        let constants = [
            ("OBSERVED", test.program.observed.len()),
            ("GLOBAL", offsets.global),
            ("SHARED", offsets.shared),
            ("CTAS", *ctas),
            ("CLUSTER", *cluster),
            ("WARPS", *warps),
            ("THREADS", places.len()),
            ("ASYNCHRONOUS", usize::from(asynchronous)),
        ];
        for (name, value) in constants {
            writeln!(out, "    static constexpr int {name} = {value};").expect(w);
        }
        let mut used = vec![0; *ctas];
        for (cta, warp) in places {
            used[*cta] = used[*cta].max(warp + 1);
        }
        let used: Vec<String> =
            used.iter().enumerate().map(|(cta, n)| format!("cta == {cta} ? {n} : ")).collect();
        writeln!(out, "    static __device__ int warps(int cta) {{ return {}0; }}", used.concat())
            .expect(w);
        writeln!(
            out,
            "    static __device__ void role(int cta, int warp, char *at, unsigned own, u64 *out) {{"
        )
        .expect(w);
        for (number, place) in places.iter().enumerate() {
            let block = kernel::thread(test, number, Loops::Limited)?;
            let prelude = prelude(test, &block, &variables, &offsets, &roles);
            role(test, number, *place, &block, &prelude, &mut out)?;
        }
        out += "    }\n";
        begin(&variables, &offsets, asynchronous, &mut out);
        end(test, &variables, &offsets, &roles, &mut out);
        host(test, &variables, &offsets, &mut out);
        out += "};\n";
        Ok(out)
    }
}

/// Where the variables of an instance are.
struct Offsets {
    /// Of each variable: in the global memory of the instance, or in its part of the shared memory of a CTA.
    all: Vec<usize>,
    /// Bytes of global memory of an instance.
    global: usize,
    /// Bytes of shared memory of an instance in one CTA.
    shared: usize,
}

impl Offsets {
    fn of(variables: &[ExportedVariable]) -> Offsets {
        let mut offsets = Offsets { all: Vec::new(), global: 0, shared: 0 };
        for variable in variables {
            let (end, length) = if variable.shared {
                let length = variable.initial.len().next_multiple_of(SHARED_ALIGNMENT);
                (&mut offsets.shared, length)
            } else {
                (&mut offsets.global, STRIDE)
            };
            offsets.all.push(*end);
            *end += length;
        }
        offsets
    }
}

/// At the barrier of the cluster, threads of the test meet before the program does: each arrival is waited for.
fn refuse_open_arrivals(test: &Test) -> Result<(), Inexpressible> {
    for number in 0..test.program.threads.len() {
        let mut open = None;
        for line in ExportedLine::all(test, number) {
            if let Instruction::ClusterBarrier(of) = &line.line.instruction {
                open = (of.kind != ClusterBarrierKind::Wait).then_some(line);
            }
        }
        if let Some(line) = open {
            return line.refuse("an arrival that its thread does not wait for");
        }
    }
    Ok(())
}

/// A barrier without a thread count completes if the threads that do not arrive have exited.
fn refuse_exits(test: &Test) -> Result<(), Inexpressible> {
    let threads = &test.program.threads;
    // The barriers of a thread without a count, by number: no thread skips one.
    let uncounted = |thread: usize, id: u64| {
        ExportedLine::all(test, thread).filter(move |line| {
            let Instruction::Barrier(of) = &line.line.instruction else { return false };
            of.count.is_none() && of.id == Operand::Imm(id)
        })
    };
    for thread in 0..threads.len() {
        for line in ExportedLine::all(test, thread) {
            let Instruction::Barrier(Barrier { id: Operand::Imm(id), count: None, .. }) =
                line.line.instruction
            else {
                continue;
            };
            let same_cta =
                |other: &usize| threads[*other].placement.same_cta(threads[thread].placement);
            let arrivals = uncounted(thread, id).count();
            if (0..threads.len()).filter(same_cta).any(|of| uncounted(of, id).count() < arrivals) {
                return line.refuse("a barrier that completes because a thread exits");
            }
        }
    }
    Ok(())
}

/// The instances of a warp and of a CTA meet at one barrier.
fn refuse_what_instances_share(test: &Test) -> Result<(), Inexpressible> {
    let threads = 0..test.program.threads.len();
    let lines = || threads.clone().flat_map(|number| ExportedLine::all(test, number));
    let meets = |line: &ExportedLine<'_>| {
        matches!(&line.line.instruction, Instruction::Barrier(_) | Instruction::ClusterBarrier(_))
    };
    for line in lines() {
        if let Instruction::Barrier(barrier) = &line.line.instruction {
            if barrier.warp {
                return line.refuse(LANES);
            }
            if matches!(barrier.kind, BarrierKind::Reduce { .. }) {
                return line
                    .refuse("a reduction, which all instances of the test would take part in");
            }
            match barrier.id {
                Operand::Imm(OWN_BARRIER) => {
                    let what = format!("barrier {OWN_BARRIER}, which the program uses itself");
                    return line.refuse(&what);
                }
                Operand::Imm(_) => {}
                Operand::Reg(_) | Operand::Address(_) => {
                    return line.refuse("a barrier whose number is in a register");
                }
            }
        }
        let passes_over = line.line.instruction.as_branch().is_some_and(|branch| {
            let (at, to) = (line.at.1.min(branch.target), line.at.1.max(branch.target));
            ExportedLine::all(test, line.at.0)
                .any(|other| (at..to).contains(&other.at.1) && meets(&other))
        });
        if passes_over || meets(&line) && line.line.guard.is_some() {
            return line.refuse("a barrier that some instances of the test may not arrive at");
        }
    }
    Ok(())
}

/// The indices of the observed values that are registers of a thread.
fn observed_registers(test: &Test, number: usize) -> Vec<usize> {
    let of = |observed: &Observed| matches!(observed, Observed::Register { thread, .. } if usize::from(thread.0) == number);
    let all = test.program.observed.iter().enumerate();
    all.filter(|(_, observed)| of(observed)).map(|(index, _)| index).collect()
}

/// What sets the registers of addresses, from `at_` and `own_`.
fn prelude(
    test: &Test,
    block: &ThreadText,
    variables: &[ExportedVariable],
    offsets: &Offsets,
    roles: &Roles,
) -> Vec<String> {
    let mut lines = Vec::new();
    for &address in &block.addresses {
        let (index, register) = (address.index(), address.register(test));
        let offset = offsets.all[index];
        if variables[index].shared {
            let own = format!("own_{register}");
            lines.push(format!(".reg .b32 {own};"));
            lines.push(format!("add.u32 {own}, own_, {offset};"));
            lines.extend(address.of_shared(test, &own, roles.rank(address.of)));
        } else {
            lines.push(format!(".reg .b64 {register};"));
            lines.push(format!("add.u64 {register}, at_, {offset};"));
        }
    }
    lines
}

/// A thread of the test as a block of PTX.
fn role(
    test: &Test,
    number: usize,
    (cta, warp): (usize, usize),
    block: &ThreadText,
    prelude: &[String],
    out: &mut String,
) -> Result<(), Inexpressible> {
    let w = "writing to a string succeeds";
    writeln!(out, "        if (cta == {cta} && warp == {warp}) {{").expect(w);
    let limited = test.program.threads[number].loops();
    let (mut outputs, mut moves) = (Vec::new(), Vec::new());
    for (index, (register, ty)) in block.observed.iter().enumerate() {
        let (c, letter) = match *ty {
            ".b64" => ("u64", 'l'),
            ".b16" => ("unsigned short", 'h'),
            ".b32" | ".pred" => ("unsigned", 'r'),
            _ => {
                let what = format!("the value of a register of 128 bits: `{register}`");
                return Err(Inexpressible { line: test.condition_line, what });
            }
        };
        writeln!(out, "            {c} o{index};").expect(w);
        outputs.push(format!("\"={letter}\"(o{index})"));
        moves.push(if *ty == ".pred" {
            format!("selp.b32 %{index}, 1, 0, {register};")
        } else {
            format!("mov{ty} %{index}, {register};")
        });
    }
    if limited {
        writeln!(out, "            unsigned spent;").expect(w);
        moves.push(format!("mov.b32 %{}, spent_;", outputs.len()));
        outputs.push("\"=r\"(spent)".to_owned());
    }
    writeln!(out, "            asm volatile(\"{{\\n\"").expect(w);
    let inputs = [
        ".reg .b64 at_;".to_owned(),
        ".reg .b32 own_;".to_owned(),
        format!("mov.b64 at_, %{};", outputs.len()),
        format!("mov.b32 own_, %{};", outputs.len() + 1),
    ];
    // A percent sign begins an operand.
    let block = block.declarations.iter().chain(prelude).chain(&block.instructions);
    let block = block.map(|line| line.replace('%', "%%"));
    for line in inputs.into_iter().chain(block).chain(moves) {
        writeln!(out, "                \"{line}\\n\"").expect(w);
    }
    writeln!(
        out,
        "                \"}}\" : {} : \"l\"(at), \"r\"(own) : \"memory\");",
        outputs.join(", ")
    )
    .expect(w);
    for (index, observed) in observed_registers(test, number).into_iter().enumerate() {
        // A register of 8 bits is one of 16 in PTX.
        let bits = Comparand::Observed(observed).bits(&test.program);
        let mask = if bits == 8 { " & 0xff" } else { "" };
        writeln!(out, "            out[{observed}] = o{index}{mask};").expect(w);
    }
    if limited {
        writeln!(out, "            if (spent > ITERATIONS) out[OBSERVED] = 1;").expect(w);
    }
    writeln!(out, "        }}").expect(w);
    Ok(())
}

/// What a CTA writes to the part of an instance in its shared memory, before all threads.
fn begin(variables: &[ExportedVariable], offsets: &Offsets, asynchronous: bool, out: &mut String) {
    let w = "writing to a string succeeds";
    writeln!(out, "    static __device__ void begin(char *part, unsigned own) {{").expect(w);
    writeln!(out, "        for (int i = 0; i < SHARED; i++) part[i] = 0;").expect(w);
    for (variable, offset) in variables.iter().zip(&offsets.all).filter(|(of, _)| of.shared) {
        for (byte, value) in variable.initial.iter().enumerate().filter(|(_, value)| **value != 0) {
            writeln!(out, "        part[{}] = (char){value};", offset + byte).expect(w);
        }
        for (element, state) in variable.mbarriers.iter().enumerate() {
            let at = offset + element * MBARRIER_BYTES as usize;
            writeln!(
                out,
                "        object(own + {at}, {}, {}, {});",
                state.count, state.phase, state.tx
            )
            .expect(w);
        }
    }
    if asynchronous {
        writeln!(out, "        publish();").expect(w);
    }
    writeln!(out, "        (void)part; (void)own;\n    }}").expect(w);
}

/// What a CTA reports of the part of an instance in its shared memory, after all threads.
fn end(
    test: &Test,
    variables: &[ExportedVariable],
    offsets: &Offsets,
    roles: &Roles,
    out: &mut String,
) {
    let w = "writing to a string succeeds";
    writeln!(out, "    static __device__ void end(int cta, const char *part, u64 *out) {{")
        .expect(w);
    for (index, observed) in test.program.observed.iter().enumerate() {
        if let Observed::Memory { variable, offset, length, thread } = *observed {
            let variable = usize::from(variable.0);
            if variables[variable].shared {
                let cta = roles.places[usize::from(thread.0)].0;
                let at = offsets.all[variable] + offset as usize;
                writeln!(
                    out,
                    "        if (cta == {cta}) out[{index}] = bytes(part + {at}, {length});"
                )
                .expect(w);
            }
        }
    }
    writeln!(out, "        (void)cta; (void)part; (void)out;\n    }}").expect(w);
}

/// What the host knows of the test.
fn host(test: &Test, variables: &[ExportedVariable], offsets: &Offsets, out: &mut String) {
    let w = "writing to a string succeeds";
    let constant = |name: &str, value: &str| {
        format!("    static const char *{name}() {{ return {}; }}\n", quoted(value))
    };
    *out += &constant("name", &test.name);
    *out += &constant("condition", &test.condition_text);
    let (kind, wanted) = match test.quantifier {
        Quantifier::Exists => ("Allowed", "positive > 0"),
        Quantifier::NotExists => ("Forbidden", "positive == 0"),
        Quantifier::ForAll => ("Required", "negative == 0"),
    };
    *out += &constant("kind", kind);
    writeln!(
        out,
        "    static bool holds(u64 positive, u64 negative) {{ (void)positive; (void)negative; return {wanted}; }}"
    )
    .expect(w);
    let global = || variables.iter().zip(&offsets.all).filter(|(of, _)| !of.shared);
    writeln!(out, "    static void initial(char *at) {{").expect(w);
    for (variable, offset) in global() {
        for (byte, value) in variable.initial.iter().enumerate().filter(|(_, value)| **value != 0) {
            writeln!(out, "        at[{}] = (char){value};", offset + byte).expect(w);
        }
    }
    writeln!(out, "        (void)at;\n    }}\n    static void final(const char *at, u64 *out) {{")
        .expect(w);
    for (index, observed) in test.program.observed.iter().enumerate() {
        if let Observed::Memory { variable, offset, length, .. } = *observed {
            let variable = usize::from(variable.0);
            if !variables[variable].shared {
                let at = offsets.all[variable] + offset as usize;
                writeln!(out, "        out[{index}] = bytes(at + {at}, {length});").expect(w);
            }
        }
    }
    writeln!(out, "        (void)at; (void)out;\n    }}\n    static void show(const u64 *v) {{")
        .expect(w);
    for (index, &observed) in test.program.observed.iter().enumerate() {
        let name = proposition::name(&test.program, observed);
        let separator = if index == 0 { "" } else { " " };
        writeln!(out, "        printf(\"{separator}{name}=%llu;\", v[{index}]);").expect(w);
    }
    let condition = expression(test, &test.proposition);
    let filter = test.filter.as_ref().map_or_else(|| "true".to_owned(), |of| expression(test, of));
    writeln!(
        out,
        "        (void)v;\n    }}\n    static bool satisfied(const u64 *v) {{ (void)v; return {condition}; }}\n    \
         static bool counts(const u64 *v) {{ (void)v; return {filter}; }}"
    )
    .expect(w);
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A proposition in C.
fn expression(test: &Test, prop: &Prop) -> String {
    let list = |props: &[Prop], sign: &str| {
        let all: Vec<String> = props.iter().map(|prop| expression(test, prop)).collect();
        format!("({})", all.join(sign))
    };
    match prop {
        Prop::True => "true".to_owned(),
        Prop::False => "false".to_owned(),
        Prop::Not(prop) => format!("!{}", expression(test, prop)),
        Prop::And(props) => list(props, " && "),
        Prop::Or(props) => list(props, " || "),
        Prop::Implies(left, right) => {
            format!("(!{} || {})", expression(test, left), expression(test, right))
        }
        Prop::Atom(comparison, left, right) => {
            let sign = match comparison {
                Comparison::Eq => "==",
                Comparison::Ne => "!=",
                Comparison::Lt => "<",
                Comparison::Le => "<=",
                Comparison::Gt => ">",
                Comparison::Ge => ">=",
            };
            let bits = proposition::width(&test.program, *left, *right).min(64);
            let side = |term: &Comparand| {
                let value = match term {
                    Comparand::Observed(index) => format!("v[{index}]"),
                    Comparand::Constant(value) => format!("{}ull", *value & u128::from(u64::MAX)),
                };
                format!("({value} & {:#x}ull)", u64::MAX >> (64 - bits))
            };
            format!("({} {sign} {})", side(left), side(right))
        }
    }
}
