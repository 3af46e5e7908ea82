//! Laws of the importer of `.cat` files: what is printed is read back, what is read means the same.

mod errors;
mod include;
mod recursion;
mod world;
mod written;

use cat::import;
use model::given::Chosen;
use model::reading::{self, FailedCas, Readings};
use model::rel::{Model, Node};
use model::{ablation, ptx, render};
use proptest::prelude::*;

use world::World;
use written::Written;

fn read(text: &str) -> Model {
    import("test.cat", text).unwrap_or_else(|errors| {
        let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"))
    })
}

fn assert_same(a: &Model, b: &Model) {
    let mut written = Written::default();
    assert_eq!(written.model(a), written.model(b));
}

/// Both texts make one model.
fn same(a: &str, b: &str) {
    assert_same(&read(a), &read(b));
}

#[test]
fn the_printed_model_is_read_back() {
    let model = ptx::model();
    assert_same(&model, &read(&render::cat(&model)));
}

#[test]
fn the_model_is_read_back_under_every_reading() {
    for reading in reading::ALL {
        for choice in reading.choices {
            let switched = format!("{}={}", reading.name, choice.name);
            let readings = Readings::default().switch(&switched).expect("there is one");
            let model = ptx::under(readings);
            let again = read(&render::cat(&model));
            assert_same(&model, &again);
            assert_eq!(model.name, again.name);
            assert_eq!(model.conventions, again.conventions, "{switched}");
        }
    }
}

#[test]
fn ablated_models_are_read_back_with_the_same_meaning() {
    let all = ablation::ablations(&ptx::model());
    let mut seed = 1;
    for (missing, model) in &all {
        let again = read(&render::cat(model));
        for _ in 0..8 {
            let world = World::random(5, &mut seed);
            assert_eq!(world.verdicts(model), world.verdicts(&again), "without {missing}");
        }
    }
}

/// The files of conventions count with the names of the peer, too.
#[test]
fn conventions_are_included_with_either_names() {
    for names in ["", "include \"causeway.cat\"\n"] {
        let model = |file: &str| {
            let text =
                format!("\"x\"\n{names}include \"{file}\"\nacyclic po | rf | co | fr as c\n");
            import("x.cat", &text).expect("the model is read").conventions
        };
        let plain = model("stdlib.cat");
        assert_eq!(
            plain.failed_cas == FailedCas::Writes,
            names.is_empty(),
            "a failing cas of the peer writes"
        );
        assert!(!plain.tearing && !plain.semantic_dependencies && !plain.silent_atomics);
        assert!(!plain.elects_any_lane);
        assert!(model(render::TEARING).tearing);
        assert!(model(render::SEMANTIC_DEPENDENCIES).semantic_dependencies);
        assert!(model(render::ELECTS_ANY_LANE).elects_any_lane);
        assert!(model(render::SILENT_ATOMICS).silent_atomics);
        assert_eq!(model(render::FAILED_CAS_RELEASES).failed_cas, FailedCas::Releases);
        assert_eq!(model(render::FAILED_CAS_WRITES).failed_cas, FailedCas::Writes);
    }
}

#[test]
fn sc_has_the_accesses_of_cxx() {
    let text = "\"x\"\nlet s = SC\nlet r = [SC]\nacyclic r ; po as c\n";
    let printed = render::cat(&import("x.cat", text).expect("the model is read"));
    assert!(printed.contains("F-SC") && printed.contains("SEQ"), "{printed}");
}

#[test]
#[ignore = "needs models of others: CAUSEWAY_ORACLE"]
fn the_models_of_the_peer_are_read() {
    let folder = measured::of_others("litmus/cat");
    for (name, axioms) in [("ptx-v6.0", 6), ("ptx-v7.5", 5)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.cat")))
            .expect("the file can be read");
        let path = format!("{name}.cat");
        let model = import(&path, &text).expect("the model is read");
        assert_eq!(model.name, name);
        assert_eq!(model.axioms.len(), axioms);
        assert!(!model.conventions.tearing);
        assert_eq!(model.conventions.failed_cas, FailedCas::Writes);
        let orders: Vec<Chosen> = model.orders.iter().map(|order| order.chosen).collect();
        assert_eq!(orders, [Chosen::Co, Chosen::Fsc]);
        for order in &model.orders {
            let chosen = Node::Chosen(order.chosen);
            let chosen = model.nodes.iter().position(|&node| node == chosen).expect("it is used");
            assert!(usize::from(order.relates.0) < chosen);
            assert!(model.is_fixed(order.relates));
            assert!(model.is_symmetric(order.relates) && model.is_irreflexive(order.relates));
        }
        assert!(model.nodes.contains(&Node::Chosen(Chosen::Fr)));
        assert!(!model.nodes.iter().any(|node| matches!(node, Node::Inverse(rf)
            if model.node(*rf) == Node::Chosen(Chosen::Rf))
            && !model.nodes.contains(&Node::Chosen(Chosen::Fr))));
        for axiom in ["axiom-Coherence", "axiom-FenceSC"] {
            let node = model.axiom(axiom).expect("the model has it").constraint.node();
            assert!(matches!(model.node(node), Node::Minus(_, order)
                if matches!(model.node(order), Node::Chosen(Chosen::Co | Chosen::Fsc))));
        }
        assert_same(&model, &read(&render::cat(&model)));
    }
}

#[test]
fn operators_bind_as_in_herd() {
    for (plain, grouped) in [
        ("po | rf ; co \\ fr & rmw", "po | (rf ; (co \\ (fr & rmw)))"),
        ("po \\ rf \\ co", "(po \\ rf) \\ co"),
        ("po ; rf+ ; co", "(po ; (rf+)) ; co"),
        ("R * W & po", "(R * W) & po"),
        ("R * W | W * R", "(R * W) | (W * R)"),
        ("~po & rf", "rf & (~po)"),
        ("~po^-1+", "~((po^-1)+)"),
        ("po & loc?", "po & (loc?)"),
        ("[R] ; po* ; [W]", "[R] ; (po*) ; [W]"),
        ("po^+ | po^* | po^?", "po+ | po* | po?"),
        ("toid(R) ; fencerel(SC)", "[R] ; ((po & (_ * SC)) ; po)"),
        ("0 | loc", "[emptyset] | loc"),
    ] {
        same(
            &format!("let a = {plain} acyclic a as x"),
            &format!("let a = {grouped} acyclic a as x"),
        );
    }
}

#[test]
fn a_star_before_the_next_statement_is_a_closure() {
    same("acyclic po*\nflag ~empty rf* as x", "acyclic (po*) flag ~empty (rf*) as x");
}

#[test]
fn a_definition_may_shadow_one_before_it() {
    let model = read("let x = po? let x = x | rf let y(po) = po ; x let x = 0 acyclic y(co) as z");
    let plain = read("let a = co ; (po? | rf) acyclic a as z");
    let mut seed = 7;
    let world = World::random(5, &mut seed);
    assert_eq!(world.verdicts(&model), world.verdicts(&plain));
    // Printed, every definition has a name of its own.
    let printed = render::cat(&model);
    assert!(printed.contains("let x-2 = x | rf"), "{printed}");
    let again = read(&printed);
    assert_eq!(world.verdicts(&model), world.verdicts(&again));
}

#[test]
fn coherence_is_transitive_as_it_is_chosen() {
    let model = read("let co = co+ let fr = rf^-1; co acyclic po ; fr | po ; rf^-1 ; co as x");
    assert_eq!(model.definitions, []);
    assert!(model.nodes.contains(&Node::Chosen(Chosen::Fr)));
    assert!(!model.nodes.iter().any(|node| matches!(node, Node::Plus(_))));
}

#[test]
fn a_built_in_name_that_is_composed_is_kept() {
    let model = read("acyclic po-loc | rfe");
    let names: Vec<&str> = model.definitions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["po-loc", "rfe"]);
    assert_same(&model, &read(&render::cat(&model)));
}

#[test]
fn what_co_relates_is_an_order_if_the_program_fixes_it() {
    let model = read("empty (po & (W * W)) \\ (co | co^-1) as a empty po \\ co as b");
    assert_eq!(model.axioms.len(), 1);
    let order = model.order(Chosen::Co).expect("there is an order");
    assert!(model.is_symmetric(order.relates) && model.is_irreflexive(order.relates));

    let model = read("empty rf \\ (co^-1 | co) as a");
    assert_eq!(model.axioms.len(), 1);
    let order = model.order(Chosen::Co).expect("there is an order");
    let mut seed = 3;
    let world = World::random(4, &mut seed);
    assert!(world.values(&model)[usize::from(order.relates.0)].is_empty());
}

#[test]
fn the_library_makes_co_total() {
    let model = read("include \"cos.cat\" acyclic po-loc | rf | co | fr as x");
    let total =
        read("empty loc & (W * W) \\ id \\ (co | co^-1) acyclic po-loc | rf | co | fr as x");
    let relates = |model: &Model| {
        let mut seed = 5;
        let world = World::random(4, &mut seed);
        let order = model.order(Chosen::Co).expect("there is an order");
        world.values(model)[usize::from(order.relates.0)].clone()
    };
    assert_eq!(relates(&model), relates(&total));
}

#[test]
fn fences_are_ordered_by_the_peer_only() {
    assert!(read("acyclic sync_fence").order(Chosen::Fsc).is_some());
    assert!(read("acyclic rf").order(Chosen::Fsc).is_none());
    let given = "include \"causeway.cat\" empty F-SC * F-SC \\ (fence-sc | fence-sc^-1) as x";
    assert!(read(given).order(Chosen::Fsc).is_some());
    assert!(read("include \"causeway.cat\" acyclic fence-sc").order(Chosen::Fsc).is_none());
}

#[test]
fn a_flag_means_what_it_means_in_the_document() {
    let model = read("acyclic po flag ~empty po as mixed-size-race flag ~acyclic po as cyclic");
    let meanings: Vec<String> =
        model.flags.iter().map(|flag| format!("{} {:?}", flag.name, flag.meaning)).collect();
    assert_eq!(meanings, ["mixed-size-race Undefined(\"mixed-size-race\")", "cyclic Report"]);
}

const WORDS: &[&str] = &[
    "let",
    "rec",
    "and",
    "acyclic",
    "empty",
    "irreflexive",
    "flag",
    "~",
    "as",
    "include",
    "\"cos.cat\"",
    "\"causeway.cat\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    ";",
    "\\",
    "&",
    "*",
    "+",
    "?",
    "^-1",
    "^",
    "0",
    "_",
    "=",
    ",",
    "x",
    "y",
    "f",
    "po",
    "rf",
    "co",
    "W",
    "R",
    "F",
    "show",
    "procedure",
    "end",
    "in",
    "//",
    "(*",
    "*)",
    "\n",
    "sync_fence",
    "domain",
    "++",
    "\u{e9}",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_bad(text in any::<String>()) {
        let _ = import("test.cat", &text);
    }

    #[test]
    fn no_bytes_are_too_bad(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = import("test.cat", &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_words_are_too_bad(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let text = words.join(" ");
        if let Ok(model) = import("test.cat", &text) {
            let printed = render::cat(&model);
            prop_assert!(import("test.cat", &printed).is_ok(), "{}", printed);
        }
    }

    /// What is read of an expression is what is printed of it, and that is read alike.
    #[test]
    fn printing_then_reading_changes_nothing(expr in expression()) {
        let model = read(&format!("\"m\" let a = {expr} acyclic a | po as x"));
        let printed = render::cat(&model);
        let mut written = Written::default();
        prop_assert_eq!(written.model(&model), written.model(&read(&printed)), "{}", printed);
    }
}

/// Relations, parenthesised everywhere.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(vec!["po", "rf", "co", "fr", "rmw", "id", "[R]", "(W * R)", "loc"]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["|", ";", "\\", "&"]), inner.clone())
                .prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            (inner, prop::sample::select(vec!["+", "*", "?", "^-1"]))
                .prop_map(|(a, sign)| format!("({a}{sign})")),
        ]
    })
}

#[test]
fn co_that_nothing_orders_is_noticed() {
    let coherent = "acyclic (po & loc) | rf | co | fr as x";
    let open = |text: &str| read(text).leaves_co_open();
    assert!(open(coherent));
    assert!(open("empty rmw & (fr ; co) as x"));
    // `co` is demanded, chosen, or not used.
    assert!(!open(&format!("empty (po & loc & (W * W)) \\ co as y {coherent}")));
    assert!(!open(&format!("include \"cos.cat\" {coherent}")));
    assert!(!open(&format!("with co from generate_cos(co0) {coherent}")));
    assert!(!open("acyclic po | rf as x"));
    assert!(!ptx::model().leaves_co_open());
}

#[test]
fn names_inside_an_expression_are_those_of_its_definitions() {
    same(
        "let ordered(r) = let seen = r | co in let both = seen ; seen in both+ acyclic ordered(rf) as x",
        "acyclic ((rf | co) ; (rf | co))+ as x",
    );
    // Definitions with `and` do not see each other, and inner ones hide outer ones.
    same(
        "let r = rf acyclic (let r = co and s = r in r ; s) | r as x",
        "let r = rf acyclic (co ; r) | r as x",
    );
}
