//! Modules that are large in one direction: each is read in a time that grows with its length.

use std::time::{Duration, Instant};

use ptx::LintOptions;

const LARGE: usize = 10 << 20;

/// In a function with a few registers.
fn body(text: &str) -> String {
    format!(
        ".version 9.4\n.target sm_120\n.global .u32 gbl;\n.entry k() {{\n\
         .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{text}\nret;\n}}\n"
    )
}

fn many(text: &str) -> String {
    text.repeat(LARGE / text.len())
}

fn numbered(count: usize, make: impl Fn(usize) -> String) -> String {
    (0..count).map(make).collect()
}

/// What it is called, and what makes it.
type Input = (&'static str, fn() -> String);

/// Of few words: the shape of the text alone.
const SHAPES: &[Input] = &[
    ("one word", || many("x")),
    ("one word in a function", || body(&many("x"))),
    ("one comment", || format!("/*{}", many("* "))),
    ("open comments", || many("/*")),
    ("open strings", || many("\"\n")),
    ("line comments", || many("//\n")),
    ("braces", || many("{")),
    ("closing braces", || many("}")),
    ("braces in a function", || body(&many("{"))),
    ("closing braces in a function", || body(&many("}"))),
    ("nested blocks", || body(&format!("{}{}", many("{ "), many("} ")))),
    ("blocks side by side", || body(&many("{ .reg .u32 x; ld.global.u32 x, [gbl]; } "))),
    ("brackets", || body(&format!("ld.global.u32 {}", many("[")))),
    ("dots", || body(&format!("ld{}", many(".")))),
    ("signs", || body(&many(";,:@!"))),
    ("blank lines", || many("\n")),
    ("a line of instructions", || body(&many("ld.global.u32 %r1, [gbl]; "))),
    ("qualifiers", || body(&format!("ld{} %r1, [gbl];", many(".weak")))),
    ("unknown qualifiers", || body(&format!("ld{} %r1, [gbl];", many(".w")))),
    ("qualifiers of others", || body(&format!("ld{} %r1, [gbl];", many(".add")))),
    ("qualifiers of an opaque one", || body(&format!("mov{} %r1, %r2;", many(".u32")))),
    ("one qualifier", || body(&format!("ld.{} %r1, [gbl];", many("u")))),
    ("operands", || body(&format!("ld.u32 %r1{};", many(", %r1")))),
    ("operands of an opaque one", || body(&format!("mov.u32 %r1{};", many(", %r1")))),
    ("elements", || body(&format!("ld.u32 {{%r1{}}}, [gbl];", many(", %r1")))),
    ("digits", || body(&format!("ld.u32 %r1, [gbl+{}];", many("1")))),
    ("a name of digits", || body(&format!("ld.u32 %r{}, [gbl];", many("1")))),
    ("names of digits", || body(&many("ld.u32 %r1, [x00000000000000000001]; "))),
    ("points in a number", || body(&format!("ld.u32 %r1, [{}];", many("1.")))),
    ("exponents", || body(&format!("mov.f32 %r1, {};", many("1e+")))),
];

/// Of many names, declarations and errors.
const NAMES: &[Input] = &[
    ("undeclared names", || body(&numbered(400_000, |n| format!("ld.u32 %r1, [y{n}];\n")))),
    ("undeclared names beside declared ones", || {
        let declared = numbered(200_000, |n| format!(".reg .b64 x{n};\n"));
        let named = numbered(200_000, |n| format!("ld.u32 %r1, [xx{n}];\n"));
        body(&(declared + &named))
    }),
    ("declarations", || body(&numbered(1_000_000, |n| format!(".reg .b32 x{n};")))),
    ("declarations of one line", || {
        body(&format!(".reg .b32 x{};", numbered(1_000_000, |n| format!(", x{n}"))))
    }),
    ("one name declared often", || body(&many(".reg .b32 x; "))),
    ("many registers", || body(".reg .b32 %q<4000000000>; ld.u32 %q3999999999, [gbl];")),
    ("ranges", || body(&numbered(300_000, |n| format!(".reg .b32 %q{n}_<4000000000>;\n")))),
    ("initial values", || format!(".global .u32 x[] = {{ 0{} }};", many(", 0"))),
    ("initial braces", || format!(".global .u32 x[] = {};", many("{ 0, "))),
    ("extents", || format!(".global .u32 x{};", many("[1]"))),
    ("attributes", || format!(".global {} .u32 x;", many(".ptr "))),
    ("functions", || numbered(200_000, |n| format!(".entry k{n}() {{ membar.gl; ret; }}\n"))),
    ("functions without an end", || many(".entry k() { ret; ")),
    ("parameters", || {
        format!(
            ".entry k(.param .u32 a{})\n{{ ret; }}",
            numbered(300_000, |n| format!(", .param .u32 a{n}"))
        )
    }),
    ("prototypes", || many(".extern .func f(.param .b32 a); ")),
    ("directives", || many(".version 9.4\n")),
    ("versions that are words", || many(".version x\n")),
    ("targets", || format!(".target {}", many("sm_9x, "))),
    ("labels", || body(&numbered(700_000, |n| format!("L{n}:\n")))),
    ("guards", || body(&many("@"))),
    ("guards of what is not a name", || body(&many("@!; "))),
    ("broken rules", || body(&many("ld.relaxed.u32 %r1, [gbl]; "))),
    ("broken rules on lines", || body(&many("ld.relaxed.u32 %r1, [gbl];\n"))),
    ("warnings on one line", || body(&many("ld.global.u32 {%r1}, [gbl]; "))),
    ("sections", || many(".section .debug { .b8 0 } ")),
    ("calls", || body(&format!("call (%r1), f, ({});", many("%r1, ")))),
    ("letters outside ASCII", || many("é ")),
    ("bytes that are not text", || many("\u{0}")),
    ("hyphens", || body(&format!("ld.u32 %r1, [gbl], a-{};", many("b-")))),
    ("missing signs", || body(&many("ld.u32 %r1, [gbl]\n"))),
    ("fences of proxies", || body(&format!("fence.proxy{};", many(".alias")))),
];

#[test]
fn texts_of_any_shape_are_read_soon() {
    are_read_soon(SHAPES);
}

#[test]
fn any_number_of_names_and_errors_is_read_soon() {
    are_read_soon(NAMES);
}

fn are_read_soon(inputs: &[Input]) {
    for (name, input) in inputs {
        let input = input();
        assert!(input.len() < 3 * LARGE, "{name}: {} bytes", input.len());
        let start = Instant::now();

        let linted = ptx::lint("large.ptx", input.as_bytes(), LintOptions::default());
        let most = linted.diagnostics.iter().map(|one| one.to_string().len()).max().unwrap_or(0);
        let took = start.elapsed();

        assert!(most < 4_000, "{name}: a diagnostic of {most} bytes");
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
    }
}
