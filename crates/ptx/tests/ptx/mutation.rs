//! Instructions that are right but for one thing: each says which rule it breaks, and that is all
//! that is said of it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use crate::help;
use crate::laws::law;
use crate::written::{Data, NEWEST, Setting, Written, codes, said};

/// A change, and the code of what it breaks; `None` where there is nothing to change.
pub(crate) type Mutation = fn(&Written) -> Option<(Written, &'static str)>;

const SCOPES: &[&str] = &["cta", "cluster", "gpu", "sys"];
const ORDERS: &[&str] = &["weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc"];
const STRONG: &[&str] = &["relaxed", "acquire", "release"];
const OPERATORS: &[&str] = &["ca", "cg", "cs", "lu", "cv", "wb", "wt"];
const VECTORS: &[&str] = &["v2", "v4", "v8"];
const SPACES: &[&str] = &[
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "const",
    "local",
    "param",
    "param::entry",
    "param::func",
];
const TYPES: &[&str] = &[
    "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32",
    "f64", "f16", "bf16", "f16x2", "bf16x2",
];

/// The parts of a list that the instruction has.
fn find(w: &Written, list: &[&str]) -> Option<&'static str> {
    w.parts.iter().copied().find(|part| list.contains(part))
}

fn bits(w: &Written) -> Option<usize> {
    let ty = find(w, TYPES)?;
    if ty.ends_with("x2") {
        return Some(32);
    }
    ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

fn lanes(w: &Written) -> usize {
    find(w, VECTORS).map_or(1, |vector| usize::from(vector.as_bytes()[1] - b'0'))
}

fn wide(w: &Written) -> bool {
    bits(w).unwrap_or(0) * lanes(w) == 256
}

fn is(w: &Written, opcodes: &[&str]) -> bool {
    opcodes.contains(&w.opcode)
}

fn hints(w: &Written) -> bool {
    w.parts.iter().any(|part| part.starts_with("L1::") || part.starts_with("L2::"))
}

fn level2(w: &Written) -> bool {
    w.parts.iter().any(|part| part.starts_with("L2::evict"))
}

/// A fence whose parts are its name.
fn named(w: &Written) -> bool {
    w.opcode == "fence"
        && w.parts.iter().any(|part| !SCOPES.contains(part) && !ORDERS.contains(part))
}

fn may_be_global(w: &Written) -> bool {
    matches!(find(w, SPACES), None | Some("global"))
}

/// An `ld` or `st` that is weak.
fn weak(w: &Written) -> bool {
    is(w, &["ld", "st"]) && matches!(find(w, ORDERS), None | Some("weak")) && !w.has("mmio")
}

fn strong(w: &Written) -> bool {
    is(w, &["ld", "st"]) && w.any(STRONG) && !w.has("mmio")
}

/// Of a load or of a store.
fn of(w: &Written, load: &'static str, store: &'static str) -> &'static str {
    if w.opcode == "st" { store } else { load }
}

/// The same access in another state space, through a register.
fn moved(w: &Written, to: &'static str) -> Option<Written> {
    let mut w = match find(w, SPACES) {
        Some(space) => w.clone().replaced(space, to),
        None => w.clone().with(to),
    };
    let place = w.place.as_mut()?;
    (place.base, place.unified) = ("a".to_owned(), false);
    Some(w)
}

/// What is read into or stored.
fn data(w: &mut Written) -> Option<&mut Data> {
    w.destination.as_mut().or(w.sources.first_mut())
}

fn with_data(w: &Written, data: Data) -> Option<Written> {
    let mut w = w.clone();
    *self::data(&mut w)? = data;
    Some(w)
}

fn one(w: &Written) -> Option<&str> {
    match w.destination.as_ref().or(w.sources.first())? {
        Data::One(one) => Some(one),
        Data::Vector(_) => None,
    }
}

fn elements(w: &Written) -> Option<&[String]> {
    match w.destination.as_ref().or(w.sources.first())? {
        Data::One(_) => None,
        Data::Vector(elements) => Some(elements),
    }
}

fn is_register(name: &str) -> bool {
    name.contains('_') && name.len() > 1
}

fn at(w: &Written, base: &str, offset: Option<i64>) -> Option<Written> {
    let mut w = w.clone();
    // In a kernel, that is for the results of calls alone.
    (w.device || !w.has("param::func")).then_some(())?;
    let place = w.place.as_mut()?;
    (place.base, place.offset, place.unified) = (base.to_owned(), offset, false);
    Some(w)
}

/// Each with a name for the count of how often it applied.
#[rustfmt::skip]
pub(crate) const MUTATIONS: &[(&str, Mutation)] = &[
    ("the scope is dropped", |w| {
        let scope = find(w, SCOPES).filter(|_| !named(w))?;
        let code = match w.opcode {
            "ld" if w.has("mmio") => "ld-mmio",
            "st" if w.has("mmio") => "st-mmio",
            "ld" => "ld-scope-missing",
            "st" => "st-scope-missing",
            "fence" => "fence-scope-missing",
            "membar" => "membar-level",
            _ => return None,
        };
        Some((w.clone().without(scope), code))
    }),
    ("a scope is added", |w| {
        (weak(w) || w.has("volatile")).then_some(())?;
        let code = if w.has("nc") { "ld-nc-weak" } else { of(w, "ld-scope-unused", "st-scope-unused") };
        Some((w.clone().with("gpu"), code))
    }),
    ("another scope", |w| {
        let scope = find(w, SCOPES).filter(|_| w.opcode != "membar" && !named(w))?;
        Some((w.clone().with(if scope == "gpu" { "sys" } else { "gpu" }), "qualifier-twice"))
    }),
    ("another scope of mmio", |w| {
        w.has("mmio").then(|| (w.clone().replaced("sys", "gpu"), of(w, "ld-mmio", "st-mmio")))
    }),
    ("a part twice", |w| {
        (!named(w)).then_some(())?;
        Some((w.clone().with(w.parts.get(w.parts.len() / 2)?), "qualifier-twice"))
    }),
    ("a word that means nothing", |w| (!named(w)).then(|| (w.clone().with("sideways"), "unknown-qualifier"))),
    ("a part that is misspelt", |w| {
        let part = find(w, &["global", "relaxed", "volatile", "acquire"])?;
        let wrong = match part { "global" => "gloal", "relaxed" => "relaxd", "volatile" => "volatil", _ => "aquire" };
        (!named(w)).then(|| (w.clone().replaced(part, wrong), "unknown-qualifier"))
    }),
    ("a part of other instructions", |w| {
        let other = match w.opcode { "ld" | "ldu" | "st" => "add", "atom" | "red" => "nc", _ => "global" };
        (!named(w)).then(|| (w.clone().with(other), "qualifier"))
    }),
    ("a fence that does not exist", |w| named(w).then(|| (w.clone().with("cta"), "fence-spelling"))),
    ("a strong access of local memory", |w| {
        (strong(w) && !hints(w) && !wide(w)).then_some(())?;
        Some((moved(w, "local")?, of(w, "ld-strong-space", "st-strong-space")))
    }),
    ("a volatile access of parameters", |w| {
        (is(w, &["ld", "st"]) && w.has("volatile") && !hints(w) && !wide(w)).then_some(())?;
        Some((moved(w, "param")?, of(w, "ld-volatile-space", "st-volatile-space")))
    }),
    ("mmio of shared memory", |w| {
        w.has("mmio").then_some(())?;
        Some((moved(w, "shared")?, of(w, "ld-mmio-space", "st-mmio-space")))
    }),
    ("a vector of mmio", |w| {
        (w.has("mmio") && bits(w)? <= 64).then_some(())?;
        let one = one(w).filter(|one| is_register(one))?.to_owned();
        let w = with_data(w, Data::Vector(vec![one.clone(), one]))?.with("v2");
        let place = w.place.clone().filter(|place| !place.base.ends_with("gbl") && place.base.parse::<u64>().is_err())?;
        let _ = place;
        let code = of(&w, "ld-mmio-vector", "st-mmio-vector");
        Some((w, code))
    }),
    ("a hint of mmio", |w| {
        w.has("mmio").then(|| (w.clone().with("L1::evict_first"), of(w, "ld-mmio-hint", "st-mmio-hint")))
    }),
    ("a weak mmio", |w| {
        let order = find(w, STRONG).filter(|_| w.has("mmio"))?;
        Some((w.clone().replaced(order, "weak"), of(w, "ld-mmio", "st-mmio")))
    }),
    ("the order of mmio is dropped", |w| {
        let order = find(w, STRONG).filter(|_| w.has("mmio"))?;
        Some((w.clone().without(order), of(w, "ld-mmio", "st-mmio")))
    }),
    ("an operator and an L1 priority", |w| {
        (w.any(OPERATORS) && may_be_global(w)).then_some(())?;
        Some((w.clone().with("L1::evict_last"), of(w, "ld-cache-level1", "st-cache-level1")))
    }),
    ("an operator and an L2 priority", |w| {
        (w.any(OPERATORS) && may_be_global(w) && wide(w)).then_some(())?;
        Some((w.clone().with("L2::evict_last"), of(w, "ld-cache-level2", "st-cache-level2")))
    }),
    ("an operator of a strong access", |w| {
        ((strong(w) || w.has("volatile")) && !w.any(OPERATORS)).then_some(())?;
        w.parts.iter().all(|part| !part.contains("::evict") && !part.contains("no_allocate")).then_some(())?;
        Some((w.clone().with("cg"), of(w, "ld-cache", "st-cache")))
    }),
    ("an operator of the others", |w| {
        let operator = find(w, OPERATORS)?;
        let (wrong, code) = if w.opcode == "st" { ("ca", "st-cache-operator") } else { ("wb", "ld-cache-operator") };
        Some((w.clone().replaced(operator, wrong), code))
    }),
    ("an operator of coherent loads", |w| {
        let operator = find(w, OPERATORS).filter(|_| w.has("nc"))?;
        Some((w.clone().replaced(operator, "lu"), "ld-nc-cache"))
    }),
    ("a hint of a volatile access", |w| {
        (w.has("volatile") && may_be_global(w)).then_some(())?;
        Some((w.clone().with("L1::no_allocate"), of(w, "ld-volatile-hint", "st-volatile-hint")))
    }),
    ("nc says that it is weak", |w| w.has("nc").then(|| (w.clone().with("weak"), "ld-nc-weak"))),
    ("nc without a state space", |w| w.has("nc").then(|| (w.clone().without("global"), "ld-nc"))),
    ("nc of shared memory", |w| {
        (w.has("nc") && !hints(w) && !wide(w)).then_some(())?;
        Some((moved(w, "shared")?, "ld-nc"))
    }),
    ("readonly and strong", |w| {
        (w.opcode == "ld" && (strong(w) || w.has("volatile") || w.has("mmio"))).then_some(())?;
        Some((w.clone().with("proxy::readonly"), "ld-readonly"))
    }),
    ("a store that acquires, a load that releases", |w| {
        let order = find(w, STRONG).filter(|_| strong(w))?;
        Some((w.clone().replaced(order, of(w, "release", "acquire")), of(w, "ld-order", "st-order")))
    }),
    ("a store to constants", |w| {
        (w.opcode == "st" && weak(w) && !hints(w) && !wide(w)).then_some(())?;
        Some((moved(w, "const")?, "st-read-only-space"))
    }),
    ("an L2 priority of a narrow access", |w| {
        let coherent = weak(w) || strong(w);
        (coherent && !wide(w) && !w.any(OPERATORS) && !w.has("proxy::readonly") && !level2(w)).then_some(())?;
        Some((w.clone().with("L2::evict_first"), of(w, "ld-level2-vector", "st-level2-vector")))
    }),
    ("an L1 priority of shared memory", |w| {
        (find(w, SPACES) == Some("shared") && (weak(w) || strong(w)) && !w.any(OPERATORS) && !hints(w)).then_some(())?;
        Some((w.clone().with("L1::evict_last"), of(w, "ld-level1-space", "st-level1-space")))
    }),
    ("a prefetch size of shared memory", |w| {
        (w.opcode == "ld" && find(w, SPACES) == Some("shared")).then_some(())?;
        Some((w.clone().with("L2::64B"), "ld-prefetch-space"))
    }),
    ("a policy of shared memory", |w| {
        (find(w, SPACES) == Some("shared") && !w.has("volatile")).then_some(())?;
        let code = match w.opcode { "ld" => "ld-policy-space", "st" => "st-policy-space", "atom" => "atom-policy", _ => "red-policy" };
        let mut w = w.clone().with("L2::cache_hint");
        w.policy = Some("pol".to_owned());
        Some((w, code))
    }),
    ("a policy of cas", |w| {
        (w.has("cas") && may_be_global(w)).then_some(())?;
        let mut w = w.clone().with("L2::cache_hint");
        w.policy = Some("pol".to_owned());
        at(&w, "a", None).map(|w| (w, "atom-policy"))
    }),
    ("256 bits of shared memory", |w| {
        (wide(w) && !hints(w)).then_some(())?;
        (is(w, &["ld", "st"]) && !w.has("nc") && !w.has("proxy::readonly")).then_some(())?;
        Some((moved(w, "shared")?, of(w, "ld-vector-space", "st-vector-space")))
    }),
    ("eight times 64 bits", |w| {
        (bits(w)? == 64 && is(w, &["ld", "st", "ldu"]) && !level2(w)).then_some(())?;
        let vector = find(w, VECTORS)?;
        let register = elements(w)?.iter().find(|one| is_register(one))?.clone();
        let code = if w.opcode == "ldu" { "ldu-vector" } else { of(w, "ld-vector-bits", "st-vector-bits") };
        let w = with_data(&w.clone().replaced(vector, "v8"), Data::Vector(vec![register; 8]))?;
        Some((at(&w, "a", None)?, code))
    }),
    ("eight times 16 bits", |w| {
        (bits(w)? == 16 && is(w, &["ld", "st"])).then_some(())?;
        let vector = find(w, VECTORS)?;
        let register = elements(w)?.iter().find(|one| is_register(one))?.clone();
        let w = with_data(&w.clone().replaced(vector, "v8"), Data::Vector(vec![register; 8]))?;
        let code = of(&w, "ld-vector-v8", "st-vector-v8");
        Some((at(&w, "a", None)?, code))
    }),
    ("128 bits in a vector", |w| {
        (is(w, &["ld", "st"]) && !level2(w) && lanes(w) == 4).then_some(())?;
        let w = w.clone().replaced(find(w, TYPES)?, "b128");
        let w = with_data(&w, Data::Vector(vec!["b128_1".to_owned(); 4]))?;
        let code = of(&w, "ld-vector-bits", "st-vector-bits");
        Some((at(&w, "a", None)?, code))
    }),
    ("a register that is too narrow", |w| {
        (bits(w)? == 64).then_some(())?;
        one(w).filter(|one| is_register(one))?;
        let code = match w.opcode { "ld" | "ldu" => "ld-destination", "st" => "st-source", _ => "atom-operand" };
        Some((with_data(w, Data::One("b32_3".to_owned()))?, code))
    }),
    ("an element that is too narrow", |w| {
        (bits(w)? == 32 && !w.any(&["f16x2", "bf16x2"])).then_some(())?;
        let mut elements = elements(w)?.to_vec();
        "u16_3".clone_into(elements.last_mut()?);
        let code = match w.opcode { "ld" | "ldu" => "ld-destination", "st" => "st-source", _ => "atom-operand" };
        Some((with_data(w, Data::Vector(elements))?, code))
    }),
    ("a predicate as destination", |w| {
        one(w).filter(|_| is(w, &["ld", "ldu", "atom"]))?;
        let code = if w.opcode == "atom" { "atom-operand" } else { "ld-destination" };
        Some((with_data(w, Data::One("p2".to_owned()))?, code))
    }),
    ("a number as destination", |w| {
        one(w).filter(|_| is(w, &["ld", "ldu"]))?;
        Some((with_data(w, Data::One("1".to_owned()))?, "ld-destination"))
    }),
    ("bits into a wider float", |w| {
        (w.has("b32") && is(w, &["ld", "ldu"])).then_some(())?;
        one(w)?;
        Some((with_data(w, Data::One("f64_2".to_owned()))?, "ld-destination-float"))
    }),
    ("the policy is dropped", |w| {
        let mut w = w.clone();
        w.policy.take()?;
        Some((w, "policy-missing"))
    }),
    ("the policy without its qualifier", |w| {
        w.policy.as_ref()?;
        Some((w.clone().without("L2::cache_hint"), "policy-unused"))
    }),
    ("one operand more", |w| {
        w.policy.is_none().then_some(())?;
        let code = match w.opcode { "ldu" => "operands", "fence" | "membar" => "fence-operands", _ => "policy-unused" };
        let mut w = w.clone();
        w.policy = Some("pol".to_owned());
        Some((w, code))
    }),
    ("a policy of 32 bits", |w| {
        let mut w = w.clone();
        w.policy.as_mut()?.replace_range(.., "u32_2");
        Some((w, "policy-type"))
    }),
    ("one operand less", |w| {
        let mut w = w.clone();
        (w.policy.is_none() && is(&w, &["st", "atom", "red"])).then_some(())?;
        w.sources.pop()?;
        Some((w, "operands"))
    }),
    ("the type is dropped", |w| {
        let code = match w.opcode { "ld" | "ldu" => "type-missing", "st" => "st-type-missing", "atom" => "atom-type-missing", _ => "red-type-missing" };
        Some((w.clone().without(find(w, TYPES)?), code))
    }),
    ("a half as type", |w| {
        (bits(w)? == 16 && is(w, &["ld", "ldu", "st"])).then_some(())?;
        let w = w.clone().replaced(find(w, TYPES)?, "f16");
        let data = if elements(&w).is_some() { Data::Vector(vec!["f16_1".to_owned(); lanes(&w)]) } else { Data::One("f16_1".to_owned()) };
        let code = of(&w, "ld-type", "st-type");
        Some((with_data(&w, data)?, code))
    }),
    ("a sink alone", |w| {
        one(w).filter(|_| is(w, &["ld", "ldu", "st"]))?;
        Some((with_data(w, Data::One("_".to_owned()))?, of(w, "ld-sink-scalar", "st-sink")))
    }),
    ("a sink in a narrow vector", |w| {
        (!wide(w) && is(w, &["ld", "ldu", "st"])).then_some(())?;
        let mut elements = elements(w)?.to_vec();
        "_".clone_into(elements.first_mut()?);
        Some((with_data(w, Data::Vector(elements))?, of(w, "ld-sink", "st-sink")))
    }),
    ("nothing but sinks", |w| {
        (wide(w) && w.opcode == "ld").then_some(())?;
        Some((with_data(w, Data::Vector(vec!["_".to_owned(); lanes(w)]))?, "ld-sink-all"))
    }),
    ("one element more", |w| {
        let mut elements = elements(w)?.to_vec();
        let last = elements.iter().find(|one| is_register(one))?.clone();
        elements.push(last);
        Some((with_data(w, Data::Vector(elements))?, "vector"))
    }),
    ("a register where a vector is said", |w| {
        let register = elements(w)?.iter().find(|one| is_register(one))?.clone();
        Some((with_data(w, Data::One(register))?, "vector"))
    }),
    ("the vector is not said", |w| {
        (!w.any(&["min", "max"]) && !level2(w)).then_some(())?;
        elements(w)?.iter().all(|one| is_register(one)).then_some(())?;
        Some((w.clone().without(find(w, VECTORS)?), "vector"))
    }),
    ("a vector of one", |w| {
        is(w, &["ld", "ldu", "st"]).then_some(())?;
        Some((with_data(w, Data::Vector(vec![one(w)?.to_owned()]))?, "vector-of-one"))
    }),
    ("a number as address", |w| {
        (!named(w) && !w.any(&["local", "param::func"]) && find(w, TYPES).is_some()).then_some(())?;
        Some((at(w, "256", None)?, "address-immediate"))
    }),
    ("an odd address", |w| {
        (bits(w)? > 8 || lanes(w) > 1).then_some(())?;
        let base = w.place.as_ref().filter(|place| ["gbl", "sh", "lcl", "cst", "prm"].contains(&place.base.as_str()))?;
        Some((at(w, &base.base, Some(1))?, "address-alignment"))
    }),
    ("an address in a float", |w| {
        find(w, TYPES)?;
        Some((at(w, "f64_1", None)?, "address-register"))
    }),
    ("a short address of global memory", |w| {
        find(w, TYPES).filter(|_| may_be_global(w))?;
        Some((at(w, "a32", None)?, "address-register"))
    }),
    ("a variable of another state space", |w| {
        let base = &w.place.as_ref()?.base;
        let other = match (base.as_str(), find(w, SPACES)?) { ("gbl", "global") => "sh", ("sh", _) => "lcl", ("lcl", _) => "gbl", _ => return None };
        Some((at(w, other, None)?, "address-space"))
    }),
    ("a name that is not declared", |w| {
        (!named(w)).then_some(())?;
        Some((at(w, "elsewhere", None)?, "undeclared"))
    }),
    ("unified shared memory", |w| {
        (w.opcode == "ld" && w.any(&["shared", "local", "const"])).then_some(())?;
        let mut w = w.clone();
        w.place.as_mut()?.unified = true;
        Some((w, "ld-unified-space"))
    }),
    ("unified is not said", |w| {
        let mut w = w.clone();
        let place = w.place.as_mut().filter(|place| place.base == "ugbl" && place.unified)?;
        place.unified = false;
        Some((w, "ld-unified-missing"))
    }),
    ("unified of another variable", |w| {
        let mut w = w.clone();
        let place = w.place.as_mut().filter(|place| place.base == "gbl")?;
        place.unified = true;
        (weak(&w) && w.opcode == "ld" && !w.has("nc")).then_some((w, "ld-unified-variable"))
    }),
    ("unified where the syntax has none", |w| {
        let code = match w.opcode {
            "ldu" => "ldu-unified",
            "ld" if w.has("nc") => "nc-unified",
            "ld" if !weak(w) => "ld-unified-strong",
            _ => return None,
        };
        let mut w = w.clone();
        let place = w.place.as_mut().filter(|place| place.base == "a")?;
        place.unified = true;
        may_be_global(&w).then_some((w, code))
    }),
    ("the result or argument of a call, guarded", |w| {
        let mut w = w.clone();
        w.place.as_ref().filter(|place| place.base == "arg")?;
        w.guard = Some("@p0");
        let code = of(&w, "ld-param-guard", "st-param-guard");
        Some((w, code))
    }),
    ("ldu of shared memory", |w| {
        (w.opcode == "ldu").then_some(())?;
        Some((moved(w, "shared")?, "ldu-space"))
    }),
    ("an atomic operation of local memory", |w| {
        (is(w, &["atom", "red"])).then_some(())?;
        Some((moved(w, "local")?, "atom-space"))
    }),
    ("an atomic vector of shared memory", |w| {
        (is(w, &["atom", "red"]) && find(w, VECTORS).is_some() && w.policy.is_none()).then_some(())?;
        let code = if w.opcode == "atom" { "atom-vector-space" } else { "red-vector-space" };
        Some((moved(w, "shared")?, code))
    }),
    ("an atomic vector of integers", |w| {
        (is(w, &["atom", "red"]) && w.has("f32") && find(w, VECTORS).is_some()).then_some(())?;
        let register = Data::Vector(vec!["b32_1".to_owned(); lanes(w)]);
        let mut w = w.clone().replaced("f32", "u32");
        w.destination = w.destination.map(|_| register.clone());
        w.sources = vec![register];
        let code = if w.opcode == "atom" { "atom-vector" } else { "red-vector" };
        Some((w, code))
    }),
    ("a weak atomic operation", |w| {
        let order = find(w, ORDERS).filter(|_| is(w, &["atom", "red"]))?;
        Some((w.clone().replaced(order, "weak"), if w.opcode == "atom" { "atom-order" } else { "red-order" }))
    }),
    ("a reduction that acquires", |w| {
        let order = find(w, ORDERS).filter(|_| w.opcode == "red")?;
        Some((w.clone().replaced(order, "acquire"), "red-order"))
    }),
    ("the operation is dropped", |w| {
        let op = find(w, &["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"])?;
        Some((w.clone().without(op), if w.opcode == "atom" { "atom-operation" } else { "red-operation" }))
    }),
    ("sub", |w| {
        (w.has("add") && !w.has("noftz") && find(w, VECTORS).is_none()).then_some(())?;
        Some((w.clone().replaced("add", "sub"), if w.opcode == "atom" { "atom-sub" } else { "red-sub" }))
    }),
    ("a reduction that returns", |w| {
        let op = find(w, &["and", "or", "xor"]).filter(|_| w.opcode == "red")?;
        Some((w.clone().replaced(op, "exch"), "red-returns"))
    }),
    ("bits as numbers", |w| {
        let op = find(w, &["and", "or", "xor"])?;
        let _ = op;
        let w = w.clone().replaced("b32", "u32").replaced("b64", "u64");
        let one = if bits(&w)? == 32 { "b32_1" } else { "b64_1" };
        let mut w = with_data(&w, Data::One(one.to_owned()))?;
        w.sources = vec![Data::One(one.to_owned())];
        let code = if w.opcode == "atom" { "atom-kind" } else { "red-kind" };
        Some((w, code))
    }),
    ("noftz is dropped", |w| {
        (w.has("noftz")).then(|| (w.clone().without("noftz"), if w.opcode == "atom" { "atom-noftz" } else { "red-noftz" }))
    }),
    ("noftz of integers", |w| {
        (is(w, &["atom", "red"]) && w.any(&["u32", "s32", "b32", "u64", "f64", "b128"])).then_some(())?;
        Some((w.clone().with("noftz"), if w.opcode == "atom" { "atom-noftz" } else { "red-noftz" }))
    }),
    ("a relaxed fence", |w| {
        (w.opcode == "fence" && !named(w)).then_some(())?;
        let w = find(w, ORDERS).map_or_else(|| w.clone().with("relaxed"), |order| w.clone().replaced(order, "relaxed"));
        Some((w, "fence-order"))
    }),
    ("membar.gpu", |w| {
        (w.opcode == "membar").then(|| {
            let mut w = w.clone();
            w.parts = vec!["gpu"];
            (w, "membar-level")
        })
    }),
];

#[test]
fn one_change_is_one_diagnostic() {
    let hits = Mutex::new(BTreeMap::new());
    law(2_500, |written| {
        let setting = Setting { device: written.device, ..NEWEST };
        if !said(&written.to_string(), &setting, true).is_empty() {
            // It has the warning of a rule of ptxas already.
            return Ok(());
        }
        for (name, mutation) in MUTATIONS {
            let Some((changed, code)) = mutation(written) else { continue };
            let text = changed.to_string();
            for strict in [true, false] {
                let said = said(&text, &setting, strict);
                prop_assert_eq!(codes(&said), vec![code], "{}: {} from {}", name, text, written);
                help::cures(&text, &setting, strict, &said[0])?;
            }
            *hits.lock().expect("no thread panicked").entry(*name).or_insert(0) += 1;
        }
        Ok(())
    });
    let hits = hits.into_inner().expect("no thread panicked");
    for (name, _) in MUTATIONS {
        let count = hits.get(name).copied().unwrap_or(0);
        assert!(count >= 3, "{name} applied {count} times");
    }
}

/// Qualifiers that were not understood hide what the rules would say.
const HIDING: &[&str] = &["unknown-qualifier", "qualifier", "qualifier-twice"];

/// Of an instruction with several errors: following one help takes its diagnostic away, and adds none.
#[test]
fn one_help_takes_one_diagnostic_away() {
    let followed = AtomicUsize::new(0);
    law(2_500, |written| {
        for (first, (_, one)) in MUTATIONS.iter().enumerate() {
            let Some((changed, _)) = one(written) else { continue };
            // Another change for each, so that all pairs are met and not all for each instruction.
            let other = (first * 31 + written.to_string().len() * 7) % MUTATIONS.len();
            let Some((changed, _)) = MUTATIONS[other].1(&changed) else { continue };
            let setting = Setting { isa: "7.0", target: "sm_75", device: written.device };
            let text = changed.to_string();
            let said = said(&text, &setting, true);
            let before = codes(&said);
            for one in said.iter().filter(|one| !HIDING.contains(&one.code)) {
                let help = one.help.as_deref().unwrap_or("");
                let Some(after) = help::followed(&text, &setting, true, help) else { continue };
                followed.fetch_add(1, Ordering::Relaxed);
                let left: Vec<&str> =
                    before.iter().copied().filter(|code| *code != one.code).collect();
                let gone =
                    after.iter().all(|code| left.contains(code)) && after.len() <= left.len();
                prop_assert!(
                    gone,
                    "{}: {}: {}: {:?}, then {:?}",
                    text,
                    one.code,
                    help,
                    before,
                    after
                );
            }
        }
        Ok(())
    });
    assert!(followed.into_inner() > 5_000, "hardly any help was followed");
}
