//! Models of several files, ends of relations, and the choice of `co`.

use std::collections::BTreeMap;
use std::path::Path;

use cat::import_with;
use model::given::Chosen;
use model::rel::Model;
use text::Diagnostic;

use crate::world::World;
use crate::{assert_same, read, same};

/// Reads `main.cat` in a folder of these files.
fn import(files: &[(&str, &str)]) -> Result<Model, Vec<Diagnostic>> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    import_with("m/main.cat", files["m/main.cat"], &mut |path: &Path| {
        let path = path.to_str().expect("a path of this test");
        files.get(path).map(|text| (*text).to_owned()).ok_or_else(|| format!("{path}: not there"))
    })
}

/// The errors, as `path:line:column code message; note`.
fn errors(files: &[(&str, &str)]) -> Vec<String> {
    let shown = |e: &Diagnostic| {
        let span = e.span;
        format!("{}:{}:{} {} {}; {}", e.path, span.line, span.column, e.code, e.message, e.note)
    };
    import(files).expect_err("there is an error").iter().map(shown).collect()
}

#[test]
fn an_included_file_stands_where_it_is_included() {
    let model = import(&[
        ("m/main.cat", "let a = po\ninclude \"parts/b.cat\" let c = b | rf\nacyclic c as x"),
        ("m/parts/b.cat", "include \"../first.cat\" let b = a | first"),
        ("m/first.cat", "let first = co let a = fr"),
    ]);
    let model = model.unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_same(
        &model,
        &read(
            "\"main\" let a = po let first = co let a = fr let b = a | first let c = b | rf acyclic c as x",
        ),
    );
}

#[test]
fn a_file_is_read_once() {
    let model = import(&[
        ("m/main.cat", "include \"a.cat\" include \"b.cat\" include \"./a.cat\""),
        ("m/a.cat", "acyclic po | rf as a"),
        ("m/b.cat", "include \"a.cat\" acyclic po | co as b"),
    ]);
    let axioms = model.unwrap_or_else(|errors| panic!("{}", errors[0])).axioms;
    let names: Vec<&str> = axioms.iter().map(|axiom| axiom.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn errors_of_included_files_name_their_file() {
    let files = [
        ("m/main.cat", "(* é *) let a = qo\ninclude \"a.cat\"\nacyclic pp as x"),
        ("m/a.cat", "// a comment\nlet b = poo (* é *) let c = [W\n"),
    ];
    assert_eq!(
        errors(&files),
        [
            "m/main.cat:1:17 unknown-name `qo` is not defined; unknown up to here",
            "m/main.cat:3:9 unknown-name `pp` is not defined; unknown up to here",
            "m/a.cat:2:9 unknown-name `poo` is not defined; unknown up to here",
            "m/a.cat:3:1 syntax `]` is missing; expected `]`",
        ]
    );
}

#[test]
fn missing_files_and_cycles_are_errors_at_the_include() {
    assert_eq!(
        errors(&[("m/main.cat", "acyclic po as x\n  include \"gone.cat\"")]),
        ["m/main.cat:2:11 include `gone.cat` cannot be included; m/gone.cat: not there"]
    );
    assert_eq!(
        errors(&[
            ("m/main.cat", "include \"a.cat\" acyclic po as x"),
            ("m/a.cat", "let a = po\ninclude \"main.cat\""),
        ]),
        ["m/a.cat:2:9 include `main.cat` includes itself; this closes a cycle of files"]
    );
    let endless = import_with("m.cat", "include \"1.cat\" acyclic po as x", &mut |path: &Path| {
        let number: usize =
            path.file_stem().and_then(|s| s.to_str()).unwrap_or("0").parse().unwrap_or(0);
        Ok(format!("include \"{}.cat\"", number + 1))
    });
    let error = &endless.expect_err("it does not end")[0];
    assert_eq!(error.note, "a model consists of at most 64 files");
}

#[test]
fn ends_of_relations_are_sets() {
    let id = "let d = (rmw ; rmw^-1) & id let r = (rmw^-1 ; rmw) & id ";
    for (ends, written) in [
        ("acyclic [domain(rmw)] ; po as x", "acyclic ((rmw ; rmw^-1) & id) ; po as x"),
        ("acyclic po ; [range(rmw)] as x", "acyclic po ; ((rmw^-1 ; rmw) & id) as x"),
        ("empty domain rmw as x", "empty (rmw ; rmw^-1) & id as x"),
        ("empty range(rmw) \\ W as x", "empty ((rmw^-1 ; rmw) & id) \\ [W] as x"),
    ] {
        same(ends, written);
    }
    // Each pair of models has the same value in random worlds.
    for (ends, written) in [
        ("domain(rmw) * W", "d ; (_ * W)"),
        ("W * domain(rmw)", "(W * _) ; d"),
        ("domain(rf) * range(rmw)", "((rf ; rf^-1) & id) ; (_ * _) ; r"),
        ("[R & domain(rmw)] ; po", "[R] ; d ; po"),
        ("[W | domain(rmw)] ; po", "([W] | d) ; po"),
        ("[~range(rmw)] ; po", "(id \\ r) ; po"),
        ("[domain(rmw) | range(rmw)] ; po", "(d | r) ; po"),
        ("[R \\ domain(rmw)] ; po", "([R] \\ d) ; po"),
        ("fencerel(range(rmw))", "po ; r ; po"),
        ("toid(domain(rmw)) ; po", "d ; po"),
    ] {
        let value = |text: &str, seed: u64| {
            let model = read(&format!("{id}acyclic {text} as x"));
            let mut seed = seed;
            let world = World::random(5, &mut seed);
            world.values(&model)[usize::from(model.axioms[0].constraint.node().0)].clone()
        };
        for seed in 0..40 {
            assert_eq!(value(ends, seed), value(written, seed), "{ends}");
        }
    }
}

#[test]
fn co_is_chosen_as_the_library_chooses_it() {
    let total = read("\"test\" include \"cos.cat\" acyclic po-loc | rf | co | fr as x");
    for with in ["generate_cos(co0)", "generate_orders(W,co0)", "cos", "generate_cos(0)"] {
        let text = format!("\"test\" with co from {with} acyclic po-loc | rf | co | fr as x");
        assert_same(&total, &read(&text));
    }
    let model = read("with co from generate_cos(po & loc & (W * W)) acyclic rf | co as x");
    assert!(model.order(Chosen::Co).is_some());
    let names: Vec<&str> = model.axioms.iter().map(|axiom| axiom.name.as_str()).collect();
    assert_eq!(names, ["co-extends", "x"]);
    // A model that orders writes and says no more.
    let model = read("with co from generate_cos(co0) let fr = (rf^-1 ; co) \\ id show co,fr");
    assert!(model.axioms.is_empty() && model.order(Chosen::Co).is_some());
}
