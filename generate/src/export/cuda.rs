//! A program of CUDA that runs a test many times, and prints a histogram in the words of litmus7.
//!
//! Each thread of the test is one block of inline PTX. A warp runs 32 instances of it, and a group of CTAs the warps of all
//! threads of the test. Groups begin together, in another order of CTAs each time, beside CTAs that stress the memory.

use std::fmt::Write;

use litmus::{Comparand, Prop, Quantifier, Test, proposition};
use model::isa::alu::Comparison;
use model::program::Observed;

use super::kernel::{self, Roles};
use super::{ExportedLine, Inexpressible, kernel::ThreadText, refuse_variable};

const HEAD: &str = include_str!("harness_head.cu");
const TAIL: &str = include_str!("harness_tail.cu");

/// Bytes between the variables of an instance.
const STRIDE: usize = 256;

pub(super) fn program(test: &Test) -> Result<String, Inexpressible> {
    let variables = kernel::variables(test)?;
    if let Some(index) = variables.iter().position(|(_, initial)| initial.len() > STRIDE) {
        return refuse_variable(test, index, &format!("an array of more than {STRIDE} bytes"));
    }
    if let Some(filter) = &test.filter {
        let what = format!("a filter: {}", filter.text(&test.program));
        return Err(Inexpressible { line: test.condition_line, what });
    }
    // Nothing says that all CTAs of an instance run at once.
    for number in 0..test.program.threads.len() {
        let loops =
            |line: &ExportedLine<'_>| line.thread.back_branches().any(|(at, _)| at == line.at.1);
        if let Some(line) = ExportedLine::all(test, number).find(loops) {
            return line.refuse("a loop");
        }
    }
    let Roles { places, cluster, ctas, warps } = kernel::roles(test);
    let w = "writing to a string succeeds";
    let mut out = String::new();
    writeln!(out, "// {}\n// {}", test.name, test.condition_text).expect(w);
    out += HEAD;
    let constants = [
        ("VARIABLES", variables.len()),
        ("OBSERVED", test.program.observed.len()),
        ("CTAS", ctas),
        ("CLUSTER", cluster),
        ("WARPS", warps),
        ("STRIDE", STRIDE),
    ];
    for (name, value) in constants {
        writeln!(out, "#define {name} {value}").expect(w);
    }
    writeln!(out, "\nstatic __device__ void role(int cta, int warp, char *at, u64 *out) {{")
        .expect(w);
    for (number, place) in places.iter().enumerate() {
        let outputs = observed_registers(test, number).len();
        let address = |variable: usize| format!("%{}", outputs + variable);
        let block = kernel::thread(test, number, &address)?;
        role(test, number, *place, &block, variables.len(), &mut out);
    }
    out += "}\n\n";
    out += &host(test, &variables);
    out += TAIL;
    Ok(out)
}

/// The indices of the observed values that are registers of a thread.
fn observed_registers(test: &Test, number: usize) -> Vec<usize> {
    let of = |observed: &Observed| matches!(observed, Observed::Register { thread, .. } if usize::from(thread.0) == number);
    let all = test.program.observed.iter().enumerate();
    all.filter(|(_, observed)| of(observed)).map(|(index, _)| index).collect()
}

/// A thread of the test as a block of PTX.
fn role(
    test: &Test,
    number: usize,
    (cta, warp): (usize, usize),
    block: &ThreadText,
    variables: usize,
    out: &mut String,
) {
    let w = "writing to a string succeeds";
    writeln!(out, "    if (cta == {cta} && warp == {warp}) {{").expect(w);
    let mut outputs = Vec::new();
    for (index, (_, ty)) in block.observed.iter().enumerate() {
        let (c, letter) = match *ty {
            ".b64" => ("u64", 'l'),
            ".b16" => ("unsigned short", 'h'),
            _ => ("unsigned", 'r'),
        };
        writeln!(out, "        {c} o{index};").expect(w);
        outputs.push(format!("\"={letter}\"(o{index})"));
    }
    writeln!(out, "        asm volatile(\"{{\\n\"").expect(w);
    let moves = block
        .observed
        .iter()
        .enumerate()
        .map(|(index, (register, ty))| format!("mov{ty} %{index}, {register};"));
    let lines = block.declarations.iter().chain(&block.instructions).cloned().chain(moves);
    for line in lines {
        writeln!(out, "            \"{line}\\n\"").expect(w);
    }
    let inputs: Vec<String> =
        (0..variables).map(|variable| format!("\"l\"(at + {variable} * STRIDE)")).collect();
    writeln!(
        out,
        "            \"}}\" : {} : {} : \"memory\");",
        outputs.join(", "),
        inputs.join(", ")
    )
    .expect(w);
    for (index, observed) in observed_registers(test, number).into_iter().enumerate() {
        writeln!(out, "        out[{observed}] = o{index};").expect(w);
    }
    writeln!(out, "    }}").expect(w);
}

/// What the host knows of the test.
fn host(test: &Test, variables: &[(String, Vec<u8>)]) -> String {
    let w = "writing to a string succeeds";
    let mut out = String::from("#if !defined(__CUDACC_RTC__)\n");
    writeln!(out, "static const char NAME[] = {};", quoted(&test.name)).expect(w);
    writeln!(out, "static const char CONDITION[] = {};", quoted(&test.condition_text)).expect(w);
    let (kind, wanted) = match test.quantifier {
        Quantifier::Exists => ("Allowed", "positive > 0"),
        Quantifier::NotExists => ("Forbidden", "positive == 0"),
        Quantifier::ForAll => ("Required", "negative == 0"),
    };
    writeln!(out, "static const char KIND[] = \"{kind}\";").expect(w);
    writeln!(
        out,
        "static bool holds(u64 positive, u64 negative) {{ (void)positive; (void)negative; return {wanted}; }}"
    )
    .expect(w);
    writeln!(out, "static void initial(char *at) {{").expect(w);
    for (index, (_, bytes)) in variables.iter().enumerate() {
        for (byte, value) in bytes.iter().enumerate().filter(|(_, value)| **value != 0) {
            writeln!(out, "    at[{index} * STRIDE + {byte}] = (char){value};").expect(w);
        }
    }
    writeln!(out, "    (void)at;\n}}\nstatic void final(const char *at, u64 *out) {{").expect(w);
    for (index, observed) in test.program.observed.iter().enumerate() {
        if let Observed::Memory { variable, offset, length, .. } = *observed {
            writeln!(
                out,
                "    memcpy(&out[{index}], at + {} * STRIDE + {offset}, {length});",
                variable.0
            )
            .expect(w);
        }
    }
    writeln!(out, "    (void)at; (void)out;\n}}\nstatic void show(const u64 *v) {{").expect(w);
    for (index, &observed) in test.program.observed.iter().enumerate() {
        let name = proposition::name(&test.program, observed);
        let separator = if index == 0 { "" } else { " " };
        writeln!(out, "    printf(\"{separator}{name}=%llu;\", v[{index}]);").expect(w);
    }
    let condition = expression(test, &test.proposition);
    writeln!(
        out,
        "}}\nstatic bool satisfied(const u64 *v) {{ (void)v; return {condition}; }}\n#endif\n"
    )
    .expect(w);
    out
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
