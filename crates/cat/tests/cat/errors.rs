//! What is wrong with a model, as it is said.

use cat::import;
use model::render;

use crate::{assert_same, read};

/// The errors, as `line:column code message`.
fn errors(text: &str) -> Vec<String> {
    let errors = import("test.cat", text).expect_err("there is an error");
    errors
        .iter()
        .map(|e| format!("{}:{} {} {}", e.span.line, e.span.column, e.code, e.message))
        .collect()
}

#[test]
fn other_recursion_is_refused() {
    for body in ["a | r & b", "a | (r+)", "a | (r ; b)+", "a | b ; r ; b", "a | ~r", "a | f(r)"] {
        let text = format!("let a = po let b = rf let f(x) = x\nlet rec r = {body}\nacyclic r");
        let found = errors(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("this recursion of `r` is not supported"), "{found:?}");
    }
    assert_eq!(
        errors("let rec r = r ; po"),
        ["1:13 recursion `r` is empty: every case of it is recursive"]
    );
    assert_eq!(
        errors("let rec r = po | s and s = rf | r\nacyclic s | r"),
        ["1:20 recursion mutually recursive relations"]
    );
    assert_eq!(errors("let rec f(x) = f(x)"), ["1:9 recursion the function `f` is recursive"]);
}

#[test]
fn sets_and_relations_are_told_apart() {
    assert_eq!(errors("acyclic W"), ["1:9 type the axiom is about a relation"]);
    assert_eq!(errors("let x = W | po"), ["1:13 type `|` joins two sets or two relations"]);
    assert_eq!(errors("let x = po ; W"), ["1:14 type `;` composes relations: it takes a relation"]);
    assert_eq!(errors("let x = po * W"), ["1:9 type `*` between two operands takes a set"]);
    assert_eq!(errors("let x = [po]"), ["1:10 type `[…]` takes a set"]);
    assert_eq!(errors("let x = W+"), ["1:9 type this place takes a relation"]);
    assert_eq!(errors("let x = R * W * R"), ["1:9 type `*` makes a relation of two sets"]);
    assert_eq!(errors("let x = toid ; po"), ["1:9 type a function is not a value"]);
    assert_eq!(errors("let x = po(rf)"), ["1:9 type `po` is not a function"]);
    assert_eq!(errors("let f(x, y) = x let z = f(po)"), ["1:25 type `f` takes 2 operands, not 1"]);
}

#[test]
fn every_error_is_reported_once_with_what_was_meant() {
    let text = "let a = polo | rf\nlet b = a | morally\nlet f(x) = x | cau\nacyclic (a | b\n\
                empty FW as x\nlet z = polo procedure p() = call q end acyclic strong-red as y";
    assert_eq!(
        errors(text),
        [
            "1:9 unknown-name `polo` is not defined",
            "2:13 unknown-name `morally` is not defined",
            "3:16 unknown-name `cau` is not defined",
            "5:1 syntax expected `)`, found `empty`",
            "5:7 unsupported `FW` is not supported",
            "6:14 unsupported `procedure` is not supported",
            "6:49 unknown-name `strong-red` is not defined",
        ]
    );
    let error =
        &import("m.cat", "let strong-read = R\nacyclic [strong-red]").expect_err("an error")[0];
    assert_eq!(
        error.to_string(),
        "error[unknown-name]: `strong-red` is not defined\n  --> m.cat:2:10\n   |\n \
         2 | acyclic [strong-red]\n   |          ^^^^^^^^^^ unknown up to here\n   |\n   = help: `strong-read` is\n"
    );
}

#[test]
fn what_is_not_supported_is_named() {
    for (text, message) in [
        ("acyclic po as", "the name of the axiom is missing"),
        ("~empty po as x", "an axiom cannot require a relation to be non-empty"),
        (
            "flag empty po as x",
            "a flag tests that a relation is not empty, and cannot test that it is empty",
        ),
        ("include \"x.cat\"", "`x.cat` cannot be included"),
        ("let x = range(W)", "this place takes a relation"),
        ("let x = FW", "`FW` is not supported"),
        ("let x = R ++ W", "`++` is not supported"),
        ("let x = if po then rf else co", "`if` is not supported in an expression"),
        ("let x = let f(y) = y in f", "a function or a recursion inside an expression"),
        ("let x = let rec r = po in r", "a function or a recursion inside an expression"),
        ("with po from generate_cos(co0)", "a model cannot choose this order"),
        ("with co from generate_orders(R,co0)", "a model cannot choose this order"),
        ("undefined_unless empty po as x", "`undefined_unless` is not supported"),
        ("acyclic 'acq", "unexpected `'`"),
        ("(* x", "unterminated comment"),
        ("\"x", "unterminated quote"),
        ("let let = po", "expected the name of a set, a relation or a function, found `let`"),
        ("PTX po rf", "expected a definition or an axiom, found `rf`"),
    ] {
        let found = import("test.cat", text).expect_err(text);
        assert!(found.iter().any(|error| error.message == message), "{text}: {:?}", errors(text));
    }
}

#[test]
fn hostile_sizes_are_refused() {
    let deep = "(".repeat(5000);
    let chain = |last: usize, body: &dyn Fn(usize) -> String| {
        (1..=last).fold(
            "let f0(x) = x ; x
"
            .to_owned(),
            |text, i| {
                format!(
                    "{text}let f{i}(x) = {}
",
                    body(i - 1)
                )
            },
        )
    };
    let nested = |before: usize| format!("f{before}(f{before}(x))");
    let doubled = |before: usize| format!("f{before}(x) ; f{before}(x)");
    for text in [
        format!("acyclic {deep}"),
        format!("acyclic {}po", "~".repeat(5000)),
        format!("acyclic po{}", "?^-1+".repeat(5000)),
        format!("{}acyclic f39(po)", chain(39, &nested)),
        format!("{}acyclic f19(po)", chain(19, &doubled)),
        format!("{}acyclic f5(po)", chain(5, &nested)),
        "let a = po ".repeat(20_000),
        format!("acyclic po{}", " | po".repeat(20_000)),
        "x".repeat(2 << 20),
    ] {
        let errors = import("test.cat", &text).expect_err("it is too much");
        assert!(errors.iter().any(|e| matches!(e.code, "nesting" | "size")), "{}", errors[0]);
    }
    // As long as a model may be.
    let long = read(&format!("acyclic po{}", " | rf | po".repeat(4_500)));
    assert_same(&long, &read(&render::cat(&long)));
}
