//! Laws of the importer of `.cat` files: what is printed is read back, what is read means the same.

use std::collections::BTreeMap;
use std::path::Path;

use litmus::cat::import;
use model::algebra::Algebra;
use model::bits::BitRel;
use model::given::{Chosen, Fixed, Tag};
use model::rel::{Body, Constraint, Model, Node, NodeId, SetId, SetNode};
use model::{ablation, ptx, render};
use proptest::prelude::*;

fn read(text: &str) -> Model {
    import("test.cat", text).unwrap_or_else(|errors| {
        let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"))
    })
}

/// Numbers for the sets and relations of several models: those that are written alike have one.
#[derive(Default)]
struct Written(BTreeMap<String, usize>);

impl Written {
    fn number(&mut self, key: String) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }

    fn model(&mut self, model: &Model) -> Vec<String> {
        let mut sets: Vec<usize> = Vec::new();
        for set in &model.sets {
            let at = |id: SetId| sets[usize::from(id.0)];
            let key = match *set {
                SetNode::Tag(tag) => format!("{tag}"),
                SetNode::Empty => "empty".to_owned(),
                SetNode::Or(a, b) if a == b => {
                    sets.push(at(a));
                    continue;
                }
                SetNode::Or(a, b) => format!("set {} | {}", at(a), at(b)),
                SetNode::And(a, b) => format!("set {} & {}", at(a), at(b)),
                SetNode::Minus(a, b) => format!("set {} \\ {}", at(a), at(b)),
            };
            sets.push(self.number(key));
        }
        let mut nodes: Vec<usize> = Vec::new();
        for node in &model.nodes {
            let at = |id: NodeId| nodes[usize::from(id.0)];
            let set = |id: SetId| sets[usize::from(id.0)];
            let key = match *node {
                Node::Fixed(fixed) => format!("{fixed}"),
                Node::Chosen(chosen) => format!("{chosen}"),
                Node::Identity(of) => format!("[{}]", set(of)),
                Node::Cross(a, b) => format!("{} * {}", set(a), set(b)),
                Node::Or(a, b) if a == b => {
                    nodes.push(at(a));
                    continue;
                }
                Node::Or(a, b) => format!("{} | {}", at(a), at(b)),
                Node::And(a, b) => format!("{} & {}", at(a), at(b)),
                Node::Minus(a, b) => format!("{} \\ {}", at(a), at(b)),
                Node::Seq(a, b) => format!("{} ; {}", at(a), at(b)),
                Node::Inverse(a) => format!("{}^-1", at(a)),
                Node::Plus(a) => format!("{}+", at(a)),
            };
            nodes.push(self.number(key));
        }
        let at = |id: NodeId| nodes[usize::from(id.0)];
        let mut lines = vec![format!("{} {:?}", model.name, model.conventions)];
        lines.extend(model.definitions.iter().map(|definition| match definition.body {
            Body::Set(set) => format!("{} = set {}", definition.name, sets[usize::from(set.0)]),
            Body::Rel(node) => format!("{} = {}", definition.name, at(node)),
        }));
        let orders = model.orders.iter();
        lines.extend(orders.map(|order| format!("{} relates {}", order.chosen, at(order.relates))));
        lines.extend(model.axioms.iter().map(|axiom| {
            let test = match axiom.constraint {
                Constraint::Empty(_) => "empty",
                Constraint::Irreflexive(_) => "irreflexive",
                Constraint::Acyclic(_) => "acyclic",
            };
            format!("{}: {test} {}", axiom.name, at(axiom.constraint.node()))
        }));
        lines.extend(
            model
                .flags
                .iter()
                .map(|flag| format!("{}: {:?} {}", flag.name, flag.meaning, at(flag.node))),
        );
        lines
    }
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

#[test]
fn the_models_of_the_peer_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/litmus/cat");
    if !folder.is_dir() {
        eprintln!("skipped: no models at {}", folder.display());
        return;
    }
    for (name, axioms) in [("ptx-v6.0", 6), ("ptx-v7.5", 5)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.cat")))
            .expect("the file can be read");
        let path = format!("{name}.cat");
        let model = import(&path, &text).expect("the model is read");
        assert_eq!(model.name, name);
        assert_eq!(model.axioms.len(), axioms);
        assert!(!model.conventions.tearing && model.conventions.failed_cas_writes);
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

/// Small relations for every given name.
struct World {
    events: usize,
    tags: Vec<u64>,
    fixed: Vec<BitRel<u64>>,
    chosen: Vec<BitRel<u64>>,
    sets: Vec<u64>,
}

impl World {
    fn random(events: usize, seed: &mut u64) -> World {
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *seed >> 33
        };
        let full = (1_u64 << events) - 1;
        let mut relation = || {
            let mut relation = BitRel::empty(events);
            for row in &mut relation.rows {
                *row = next() & next() & full;
            }
            relation
        };
        let fixed = Fixed::ALL.iter().map(|_| relation()).collect();
        let mut chosen: Vec<BitRel<u64>> = Chosen::ALL.iter().map(|_| relation()).collect();
        let co = Chosen::Co as usize;
        chosen[co] = chosen[co].plus();
        let tag = |tag: &Tag| if *tag == Tag::All { full } else { next() & full };
        let tags = Tag::ALL.iter().map(tag).collect();
        World { events, tags, fixed, chosen, sets: Vec::new() }
    }

    fn values(&self, model: &Model) -> Vec<BitRel<u64>> {
        let sets = model.eval_sets(|tag| self.tags[tag as usize]);
        let (tags, fixed, chosen) = (self.tags.clone(), self.fixed.clone(), self.chosen.clone());
        model.eval(&mut World { events: self.events, tags, fixed, chosen, sets })
    }

    /// The relations of all axioms and flags, by name.
    fn verdicts(&self, model: &Model) -> Vec<(String, BitRel<u64>)> {
        let values = self.values(model);
        let at = |node: NodeId| values[usize::from(node.0)].clone();
        let axioms = model.axioms.iter().map(|a| (a.name.clone(), at(a.constraint.node())));
        let flags = model.flags.iter().map(|flag| (flag.name.clone(), at(flag.node)));
        axioms.chain(flags).collect()
    }

    fn value_of(&self, model: &Model, name: &str) -> BitRel<u64> {
        let definition = model.definitions.iter().find(|definition| definition.name == name);
        match definition.expect("it is defined").body {
            Body::Rel(node) => self.values(model)[usize::from(node.0)].clone(),
            Body::Set(_) => panic!("a set"),
        }
    }
}

impl Algebra for World {
    type Rel = BitRel<u64>;

    fn fixed(&mut self, fixed: Fixed) -> Self::Rel {
        self.fixed[fixed as usize].clone()
    }
    fn chosen(&mut self, chosen: Chosen) -> Self::Rel {
        self.chosen[chosen as usize].clone()
    }
    fn identity(&mut self, set: SetId) -> Self::Rel {
        BitRel::identity(self.sets[usize::from(set.0)], self.events)
    }
    fn cross(&mut self, from: SetId, to: SetId) -> Self::Rel {
        let at = |set: SetId| self.sets[usize::from(set.0)];
        BitRel::cross(at(from), at(to), self.events)
    }
    fn or(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.or(b)
    }
    fn and(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.and(b)
    }
    fn minus(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.minus(b)
    }
    fn seq(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.seq(b)
    }
    fn inverse(&mut self, a: &Self::Rel) -> Self::Rel {
        a.inverse()
    }
    fn plus(&mut self, a: &Self::Rel) -> Self::Rel {
        a.plus()
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
    let model = read("flag ~empty po as mixed-size-race flag ~acyclic po as cyclic");
    let meanings: Vec<String> =
        model.flags.iter().map(|flag| format!("{} {:?}", flag.name, flag.meaning)).collect();
    assert_eq!(meanings, ["mixed-size-race Undefined(\"mixed-size-race\")", "cyclic Report"]);
}

/// The least fixed point of a body, by iteration.
fn least(world: &World, step: impl Fn(&World, &BitRel<u64>) -> BitRel<u64>) -> BitRel<u64> {
    let mut value = BitRel::empty(world.events);
    loop {
        let next = step(world, &value);
        if next == value {
            return value;
        }
        value = next;
    }
}

#[test]
fn recursion_is_the_least_fixed_point() {
    type Step = fn(&World, &BitRel<u64>) -> BitRel<u64>;
    fn po(world: &World) -> &BitRel<u64> {
        &world.fixed[Fixed::Po as usize]
    }
    fn rmw(world: &World) -> &BitRel<u64> {
        &world.fixed[Fixed::Rmw as usize]
    }
    fn addr(world: &World) -> &BitRel<u64> {
        &world.fixed[Fixed::Addr as usize]
    }
    fn data(world: &World) -> &BitRel<u64> {
        &world.fixed[Fixed::Data as usize]
    }
    let cases: [(&str, Step); 8] = [
        ("po | (r ; rmw ; r)", |w, r| po(w).or(&r.seq(rmw(w)).seq(r))),
        ("(r ; rmw ; addr ; r) | po", |w, r| po(w).or(&r.seq(rmw(w)).seq(addr(w)).seq(r))),
        ("po | r ; r", |w, r| po(w).or(&r.seq(r))),
        ("po | r ; rmw", |w, r| po(w).or(&r.seq(rmw(w)))),
        ("rmw ; r | po", |w, r| po(w).or(&rmw(w).seq(r))),
        ("po | r ; rmw | (addr ; r | data)", |w, r| {
            po(w).or(data(w)).or(&r.seq(rmw(w))).or(&addr(w).seq(r))
        }),
        ("po | r ; data | rmw ; r | r ; addr ; r", |w, r| {
            po(w).or(&r.seq(data(w))).or(&rmw(w).seq(r)).or(&r.seq(addr(w)).seq(r))
        }),
        ("po | r ; data ; r | r ; r | r", |w, r| po(w).or(&r.seq(data(w)).seq(r)).or(&r.seq(r))),
    ];
    let mut seed = 11;
    for (body, step) in cases {
        let model = read(&format!("let rec r = {body} acyclic r as x"));
        for _ in 0..50 {
            let world = World::random(5, &mut seed);
            assert_eq!(world.value_of(&model, "r"), least(&world, step), "let rec r = {body}");
        }
    }
}

#[test]
fn the_recursion_of_the_peer_is_the_closure_of_the_model() {
    let model = read("let a = po let rec r = a | (r; rmw; r) let s = a ; (rmw ; a)*");
    let bodies: Vec<Body> = model.definitions.iter().map(|definition| definition.body).collect();
    assert_eq!(bodies[1], bodies[2]);
}

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
        assert!(found[0].contains("`r` recurs in a way that is not read"), "{found:?}");
    }
    assert_eq!(
        errors("let rec r = r ; po"),
        ["1:13 recursion `r` is empty: it has no case without itself"]
    );
    assert_eq!(
        errors("let rec r = po | s and s = rf | r\nacyclic s | r"),
        ["1:20 recursion relations that are defined by each other"]
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
    assert_eq!(errors("let x = toid ; po"), ["1:9 type a function is no value"]);
    assert_eq!(errors("let x = po(rf)"), ["1:9 type `po` is no function"]);
    assert_eq!(errors("let f(x, y) = x let z = f(po)"), ["1:25 type `f` takes 2 operands, not 1"]);
}

#[test]
fn every_error_is_reported_once_with_what_was_meant() {
    let text = "let a = polo | rf\nlet b = a | morally\nlet f(x) = x | cau\nacyclic (a | b\n\
                empty domain(rf) as x\nlet z = polo procedure p() = call q end acyclic strong-red as y";
    assert_eq!(
        errors(text),
        [
            "1:9 unknown-name `polo` is not defined",
            "2:13 unknown-name `morally` is not defined",
            "3:16 unknown-name `cau` is not defined",
            "5:1 syntax `empty` where `)` is expected",
            "5:7 unsupported `domain` is not supported",
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
        ("~empty po as x", "an axiom cannot ask for something to be there"),
        ("flag empty po as x", "a flag is raised by what is there, not by what is missing"),
        ("include \"x.cat\"", "`x.cat` cannot be included"),
        ("let x = range(po)", "`range` is not supported"),
        ("let x = FW", "`FW` is not supported"),
        ("let x = R ++ W", "`++` is not supported"),
        ("let x = if po then rf else co", "`if` is not supported in an expression"),
        ("with co from generate_cos(co0)", "`with` is not supported"),
        ("undefined_unless empty po as x", "`undefined_unless` is not supported"),
        ("acyclic 'acq", "`'` has no place here"),
        ("(* x", "this comment has no end"),
        ("\"x", "this quote has no end"),
        ("let let = po", "`let` where the name of a set, a relation or a function is expected"),
        ("PTX po rf", "`rf` where a definition or an axiom is expected"),
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
