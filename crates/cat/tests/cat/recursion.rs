//! Recursion means its least fixed point.

use model::bits::BitRel;
use model::given::Fixed;
use model::rel::DefinitionBody;

use crate::read;
use crate::world::World;

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
    let model = read("let a = po let rec r = a | (r; rmw; r) let s = a ; (rmw ; a)* acyclic s");
    let bodies: Vec<DefinitionBody> =
        model.definitions.iter().map(|definition| definition.body).collect();
    assert_eq!(bodies[1], bodies[2]);
}
