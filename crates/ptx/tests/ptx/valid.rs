//! Instructions that are right, from the syntax lines and the prose of their pages: nothing here looks
//! at the rules that are tested.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::choices::Choices;
use crate::written::{Data, Place, Written};

const SCOPES: &[&str] = &["cta", "cluster", "gpu", "sys"];
const ORDERS: &[&str] = &["sc", "acq_rel", "acquire", "release"];
const LEVEL1: &[&str] = &[
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
];
const LEVEL2: &[&str] = &["L2::evict_normal", "L2::evict_first", "L2::evict_last"];
const PREFETCH: &[&str] = &["L2::64B", "L2::128B", "L2::256B"];
const SHARED: &[&str] = &["shared", "shared::cta", "shared::cluster"];
/// The types of `ld`, `ldu`, `ld.global.nc` and `st`, with their widths.
const TYPES: &[(&str, usize)] = &[
    ("b32", 32),
    ("b8", 8),
    ("b16", 16),
    ("b64", 64),
    ("b128", 128),
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("u64", 64),
    ("s8", 8),
    ("s16", 16),
    ("s32", 32),
    ("s64", 64),
    ("f32", 32),
    ("f64", 64),
];

/// An instruction that its page allows.
pub(crate) fn instruction() -> impl Strategy<Value = Written> {
    vec(any::<u16>(), 48).prop_map(|numbers| make(&mut Choices::new(&numbers)))
}

pub(crate) fn make(c: &mut Choices<'_>) -> Written {
    let mut made = match c.below(16) {
        0..=4 => load(c),
        5 | 6 => non_coherent(c),
        7 => uniform(c),
        8..=10 => store(c),
        11 | 12 => atomic(c),
        13 => reduction(c),
        14 => fence(c),
        _ => bare("membar", vec![c.of(&["cta", "gl", "sys"])]),
    };
    // The parts of a fence of proxies name it, and are not qualifiers in any order.
    if made.opcode != "fence"
        || made.parts.iter().all(|part| SCOPES.contains(part) || ORDERS.contains(part))
    {
        shuffle(c, &mut made.parts);
    }
    // The results and arguments of calls are not accessed under a guard.
    let of_call = made.place.as_ref().is_some_and(|place| place.base == "arg");
    if !of_call && c.once_in(4) {
        made.guard = Some(c.of(&["@p0", "@!p1"]));
    }
    made
}

fn maybe<T: Copy>(c: &mut Choices<'_>, list: &[T]) -> Option<T> {
    c.once_in(2).then(|| c.of(list))
}

fn shuffle<T>(c: &mut Choices<'_>, list: &mut [T]) {
    for end in (1..list.len()).rev() {
        // The first choice leaves things as they are.
        list.swap(end, end - c.below(end + 1));
    }
}

fn bare(opcode: &'static str, parts: Vec<&'static str>) -> Written {
    Written {
        opcode,
        guard: None,
        parts,
        destination: None,
        place: None,
        sources: Vec::new(),
        policy: None,
        device: false,
    }
}

/// The hints that weak and strong accesses have in common.
fn hints(c: &mut Choices<'_>, made: &mut Written, wide: bool, level1: bool, global: bool) {
    if level1 {
        made.parts.extend(maybe(c, LEVEL1));
    }
    if wide {
        made.parts.extend(maybe(c, LEVEL2));
    }
    if global && c.once_in(4) {
        made.parts.push("L2::cache_hint");
        made.policy = Some("pol".to_owned());
    }
    if global && made.opcode == "ld" && c.once_in(3) {
        made.parts.push(c.of(PREFETCH));
    }
}

/// A type, and how many elements: 128 bits at most, and 256 where `wide`.
fn shape(c: &mut Choices<'_>, vector: bool, wide: bool) -> (&'static str, usize, usize) {
    let (ty, bits) = c.of(TYPES);
    let mut counts = vec![1];
    if vector {
        counts.extend([2, 4].into_iter().filter(|count| count * bits <= 128));
    }
    if wide {
        counts.extend([(8, 32), (4, 64)].iter().filter(|of| of.1 == bits).map(|of| of.0));
    }
    (ty, bits, c.of(&counts))
}

fn vector_name(count: usize) -> Option<&'static str> {
    match count {
        2 => Some("v2"),
        4 => Some("v4"),
        8 => Some("v8"),
        _ => None,
    }
}

/// A register that data of a type fits: of its kind, or of integers or bits and as wide at least.
fn register(c: &mut Choices<'_>, ty: &str, bits: usize, exact: bool) -> String {
    let mut names: Vec<String> = Vec::new();
    let widths = [16, 32, 64].into_iter();
    for width in widths.filter(|width| if exact { *width == bits } else { *width >= bits }) {
        // A float goes into a register of floats or of bits, and of no integers.
        let kinds: &[&str] =
            if ty.starts_with('f') || ty.starts_with("bf") { &["b"] } else { &["b", "u", "s"] };
        names.extend(kinds.iter().map(|kind| format!("{kind}{width}_")));
    }
    if bits == 128 || !exact {
        names.push("b128_".to_owned());
    }
    if matches!(ty, "f16" | "f32" | "f64" | "f16x2") {
        names.insert(0, format!("{ty}_"));
    }
    if ty.starts_with('b') && matches!(bits, 16 | 32 | 64) && !ty.starts_with("bf") {
        names.push(format!("f{bits}_"));
    }
    let index = c.below(9);
    let name = &names[c.below(names.len())];
    format!("{name}{index}")
}

/// A register of a vector: all of them have one width.
fn element(c: &mut Choices<'_>, ty: &str, bits: usize) -> String {
    let ty = if bits == 8 { "u8" } else { ty };
    register(c, ty, bits.max(16), true)
}

fn destination(c: &mut Choices<'_>, ty: &str, bits: usize, count: usize, wide: bool) -> Data {
    if count == 1 {
        return Data::One(register(c, ty, bits, false));
    }
    let sink = |c: &mut Choices<'_>| wide && c.once_in(4);
    let one = |c: &mut Choices<'_>| {
        if sink(c) { "_".to_owned() } else { element(c, ty, bits) }
    };
    Data::Vector((0..count).map(|_| one(c)).collect())
}

/// What is stored may be a constant.
fn source(c: &mut Choices<'_>, ty: &str, bits: usize, exact: bool) -> String {
    match c.below(6) {
        4 if !ty.contains('f') && bits < 128 => {
            c.of(&["0", "1", "-1", "0x7f", "07", "0b1"]).to_owned()
        }
        4 if ty == "f32" => "0f3F800000".to_owned(),
        5 if ty == "f64" => "0d3FF0000000000000".to_owned(),
        _ => register(c, ty, bits, exact),
    }
}

fn sources(c: &mut Choices<'_>, ty: &str, bits: usize, count: usize, exact: bool) -> Data {
    if count == 1 {
        Data::One(source(c, ty, bits, exact))
    } else {
        Data::Vector((0..count).map(|_| element(c, ty, bits)).collect())
    }
}

/// An address for accesses of this many bytes. `generic` is what a generic access may name.
fn place(c: &mut Choices<'_>, space: Option<&str>, bytes: usize, generic: &[&str]) -> Place {
    let variables: &[&str] = match space {
        None => generic,
        Some("global") => &["gbl"],
        Some("const") => &["cst"],
        Some("local") => &["lcl"],
        Some("param" | "param::entry" | "param::func") => &["prm"],
        Some(_) => &["sh"],
    };
    let may_be_global = matches!(space, None | Some("global"));
    let of_param = space.is_some_and(|space| space.starts_with("param"));
    let bytes = i64::try_from(bytes).expect("an access is small");
    let steps = |c: &mut Choices<'_>| i64::try_from(c.below(4)).expect("it is small") * bytes;
    match c.below(if of_param { 2 } else { 5 }) {
        0 => Place { base: c.of(variables).to_owned(), offset: None, unified: false },
        1 => Place { base: c.of(variables).to_owned(), offset: Some(steps(c)), unified: false },
        2 => {
            let mut registers = vec!["a", "u64_1", "s64_2", "b64_8"];
            if !may_be_global {
                registers.extend(["a32", "u32_1", "s32_2"]);
            }
            Place { base: c.of(&registers).to_owned(), offset: None, unified: false }
        }
        3 => {
            let far = [4, -4, 0, 3, -1, 4096, -65536];
            Place { base: "a".to_owned(), offset: Some(c.of(&far)), unified: false }
        }
        _ => Place { base: (16 * bytes + steps(c)).to_string(), offset: None, unified: false },
    }
}

fn load(c: &mut Choices<'_>) -> Written {
    let mut made = bare("ld", Vec::new());
    let order = c.below(6);
    let strong_spaces =
        [Some("global"), None, Some("shared"), Some("shared::cta"), Some("shared::cluster")];
    let (mut space, vector) = match order {
        // `ld{.weak}{.ss}…`
        0..=2 => {
            let all = [
                Some("global"),
                None,
                Some("shared"),
                Some("shared::cta"),
                Some("shared::cluster"),
                Some("const"),
                Some("local"),
                Some("param"),
                Some("param::entry"),
                Some("param::func"),
            ];
            made.parts.extend(maybe(c, &["weak"]));
            (c.of(&all), true)
        }
        3 => {
            made.parts.push("volatile");
            (
                c.of(&[
                    Some("global"),
                    None,
                    Some("shared"),
                    Some("shared::cluster"),
                    Some("local"),
                ]),
                true,
            )
        }
        4 => {
            made.parts.extend([c.of(&["relaxed", "acquire"]), c.of(SCOPES)]);
            (c.of(&strong_spaces), true)
        }
        // `ld.mmio.relaxed.sys{.global}.type`
        _ => {
            made.parts.extend(["mmio", c.of(&["relaxed", "acquire"]), "sys"]);
            (c.of(&[Some("global"), None]), false)
        }
    };
    let weak = order < 3;
    let may_be_global = matches!(space, None | Some("global"));
    let (ty, bits, count) = shape(c, vector, vector && may_be_global);
    let wide = bits * count == 256;
    let before = made.parts.len();
    match order {
        0 | 1 if weak && c.once_in(4) => made.parts.push(c.of(&["ca", "cg", "cs", "lu", "cv"])),
        2 if weak && may_be_global && !made.has("weak") && c.once_in(6) => {
            made.parts.push("proxy::readonly");
        }
        3 => made.parts.extend(maybe(c, PREFETCH).filter(|_| may_be_global)),
        0..=2 | 4 => {
            // An eviction priority for L1 has no state space of its own on the page.
            hints(c, &mut made, wide, true, may_be_global);
        }
        _ => {}
    }
    let for_global = made.parts.len() > before
        && !made.any(&["ca", "cg", "cs", "lu", "cv"])
        && !made.parts[before..].iter().all(|part| LEVEL1.contains(part));
    let generic: &[&str] = match order {
        _ if wide || for_global => &["gbl"],
        0..=2 => &["gbl", "sh", "lcl", "cst"],
        3 => &["gbl", "sh", "lcl"],
        4 => &["gbl", "sh"],
        _ => &["gbl"],
    };
    let mut at = place(c, space, bits / 8 * count, generic);
    match space {
        Some("param::func") => {
            // A parameter of a function, or the result of a call.
            made.device = c.once_in(2);
            if !made.device {
                at = Place { base: "arg".to_owned(), ..at };
            }
        }
        Some("param") => {
            made.device = c.once_in(2);
            if c.once_in(3) {
                "arg".clone_into(&mut at.base);
            }
        }
        _ => {}
    }
    if weak && may_be_global && !made.has("proxy::readonly") && c.once_in(5) {
        if at.base == "gbl" {
            at = Place { base: "ugbl".to_owned(), unified: true, ..at };
        } else if at.base == "a" {
            at.unified = true;
        }
    }
    made.parts.extend(space.take());
    made.parts.extend(vector_name(count));
    made.parts.push(ty);
    made.destination = Some(destination(c, ty, bits, count, wide));
    made.place = Some(at);
    without_unified(c, &mut made, !weak);
    made
}

/// `ld.global{.cop}.nc…`, `ld.global.nc…`
fn non_coherent(c: &mut Choices<'_>) -> Written {
    let mut made = bare("ld", vec!["global", "nc"]);
    let (ty, bits, count) = shape(c, true, true);
    let wide = bits * count == 256;
    let operator = maybe(c, &["ca", "cg", "cs"]);
    made.parts.extend(operator);
    hints(c, &mut made, wide && operator.is_none(), operator.is_none(), true);
    made.place = Some(place(c, Some("global"), bits / 8 * count, &[]));
    without_unified(c, &mut made, true);
    made.parts.extend(vector_name(count));
    made.parts.push(ty);
    made.destination = Some(destination(c, ty, bits, count, wide));
    made
}

/// A unified variable, where the syntax has no `.unified`, which is `none`.
fn without_unified(c: &mut Choices<'_>, made: &mut Written, none: bool) {
    if let Some(at) = made.place.as_mut().filter(|at| none && at.base == "gbl")
        && c.once_in(5)
    {
        "ugbl".clone_into(&mut at.base);
    }
}

/// `ldu{.ss}{.vec}.type`
fn uniform(c: &mut Choices<'_>) -> Written {
    let mut made = bare("ldu", Vec::new());
    let space = c.of(&[Some("global"), None]);
    let (ty, bits, count) = shape(c, true, false);
    made.parts.extend(space);
    made.parts.extend(vector_name(count));
    made.parts.push(ty);
    made.place = Some(place(c, space, bits / 8 * count, &["gbl"]));
    without_unified(c, &mut made, true);
    made.destination = Some(destination(c, ty, bits, count, false));
    made
}

fn store(c: &mut Choices<'_>) -> Written {
    let mut made = bare("st", Vec::new());
    let order = c.below(6);
    let spaces: &[Option<&'static str>] = match order {
        0..=2 => &[
            Some("global"),
            None,
            Some("shared"),
            Some("shared::cta"),
            Some("shared::cluster"),
            Some("local"),
            Some("param"),
            Some("param::func"),
        ],
        3 => &[Some("global"), None, Some("shared"), Some("shared::cta"), Some("local")],
        4 => &[Some("global"), None, Some("shared"), Some("shared::cluster")],
        _ => &[Some("global"), None],
    };
    match order {
        0..=2 => made.parts.extend(maybe(c, &["weak"])),
        3 => made.parts.push("volatile"),
        4 => made.parts.extend([c.of(&["relaxed", "release"]), c.of(SCOPES)]),
        _ => made.parts.extend(["mmio", c.of(&["relaxed", "release"]), "sys"]),
    }
    let space = c.of(spaces);
    let may_be_global = matches!(space, None | Some("global"));
    let (ty, bits, count) = shape(c, order != 5, order != 5 && may_be_global);
    let wide = bits * count == 256;
    match order {
        0 if c.once_in(2) => made.parts.push(c.of(&["wb", "cg", "cs", "wt"])),
        0..=2 | 4 => hints(c, &mut made, wide, true, may_be_global),
        _ => {}
    }
    let for_global = wide || order == 5 || made.policy.is_some();
    let generic: &[&str] = match order {
        _ if for_global => &["gbl"],
        0..=3 => &["gbl", "sh", "lcl"],
        _ => &["gbl", "sh"],
    };
    let mut at = place(c, space, bits / 8 * count, generic);
    if space.is_some_and(|space| space.starts_with("param")) {
        // The argument of a call.
        "arg".clone_into(&mut at.base);
        made.device = c.once_in(2);
    }
    made.parts.extend(space);
    made.parts.extend(vector_name(count));
    made.parts.push(ty);
    made.place = Some(at);
    made.sources.push(sources(c, ty, bits, count, false));
    made
}

/// What `atom` and `red` share: an operation, its type and the number of elements.
fn operation(
    c: &mut Choices<'_>,
    made: &mut Written,
    returns: bool,
) -> (&'static str, usize, usize) {
    const HALVES: &[(&str, usize)] = &[("f16", 16), ("bf16", 16), ("f16x2", 32), ("bf16x2", 32)];
    let global = !made.any(SHARED);
    let scalar: &[(&str, &[(&str, usize)])] = &[
        ("add", &[("u32", 32), ("s32", 32), ("u64", 64), ("f32", 32), ("f64", 64)]),
        ("min", &[("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64)]),
        ("max", &[("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64)]),
        ("inc", &[("u32", 32)]),
        ("dec", &[("u32", 32)]),
        ("and", &[("b32", 32), ("b64", 64)]),
        ("or", &[("b32", 32), ("b64", 64)]),
        ("xor", &[("b32", 32), ("b64", 64)]),
        ("exch", &[("b32", 32), ("b64", 64), ("b128", 128)]),
        ("cas", &[("b32", 32), ("b64", 64), ("b16", 16), ("b128", 128)]),
    ];
    match c.below(8) {
        // `.add.noftz.f16`
        5 => {
            made.parts.extend(["add", "noftz"]);
            let (ty, bits) = c.of(HALVES);
            (ty, bits, 1)
        }
        6 if global => {
            made.parts.push("add");
            ("f32", 32, c.of(&[2, 4]))
        }
        7 if global => {
            made.parts.extend([c.of(&["add", "min", "max"]), "noftz"]);
            let (ty, bits) = c.of(HALVES);
            (ty, bits, if bits == 16 { c.of(&[2, 4, 8]) } else { c.of(&[2, 4]) })
        }
        _ => {
            let (op, types) = c.of(&scalar[..if returns { scalar.len() } else { 8 }]);
            let (ty, bits) = c.of(types);
            made.parts.push(op);
            (ty, bits, 1)
        }
    }
}

fn atomic(c: &mut Choices<'_>) -> Written {
    let mut made = bare("atom", Vec::new());
    made.parts.extend(maybe(c, &["relaxed", "acquire", "release", "acq_rel"]));
    made.parts.extend(maybe(c, SCOPES));
    let space =
        c.of(&[Some("global"), None, Some("shared"), Some("shared::cta"), Some("shared::cluster")]);
    made.parts.extend(space);
    let (ty, bits, count) = operation(c, &mut made, true);
    finish_atomic(c, &mut made, space, ty, bits, count);
    let one = |c: &mut Choices<'_>| register(c, ty, bits, true);
    made.destination = Some(if count == 1 {
        Data::One(if c.once_in(6) { "_".to_owned() } else { one(c) })
    } else {
        Data::Vector((0..count).map(|_| one(c)).collect())
    });
    if made.has("cas") {
        made.sources.push(sources(c, ty, bits, 1, true));
    }
    made
}

fn reduction(c: &mut Choices<'_>) -> Written {
    let mut made = bare("red", Vec::new());
    made.parts.extend(maybe(c, &["relaxed", "release"]));
    made.parts.extend(maybe(c, SCOPES));
    let space =
        c.of(&[Some("global"), None, Some("shared"), Some("shared::cta"), Some("shared::cluster")]);
    made.parts.extend(space);
    let (ty, bits, count) = operation(c, &mut made, false);
    finish_atomic(c, &mut made, space, ty, bits, count);
    made
}

/// The policy, the vector, the type, the address and the first source.
fn finish_atomic(
    c: &mut Choices<'_>,
    made: &mut Written,
    space: Option<&'static str>,
    ty: &'static str,
    bits: usize,
    count: usize,
) {
    if !made.has("cas") && !made.any(SHARED) && c.once_in(4) {
        made.parts.push("L2::cache_hint");
        made.policy = Some("pol".to_owned());
    }
    let generic: &[&str] =
        if made.policy.is_some() || count > 1 { &["gbl"] } else { &["gbl", "sh"] };
    made.place = Some(place(c, space, bits / 8 * count, generic));
    made.parts.extend(vector_name(count));
    made.parts.push(ty);
    made.sources.push(sources(c, ty, bits, count, true));
}

fn fence(c: &mut Choices<'_>) -> Written {
    match c.below(5) {
        0 | 1 => {
            let order = maybe(c, ORDERS);
            bare("fence", order.into_iter().chain([c.of(SCOPES)]).collect())
        }
        2 => bare(
            "fence",
            c.of(&[
                &["mbarrier_init", "release", "cluster"][..],
                &["acquire", "sync_restrict::shared::cluster", "cluster"],
                &["release", "sync_restrict::shared::cta", "cluster"],
                &[
                    "proxy",
                    "async::generic",
                    "acquire",
                    "sync_restrict::shared::cluster",
                    "cluster",
                ],
                &[
                    "proxy",
                    "async::generic",
                    "release",
                    "sync_restrict::shared::cluster::read",
                    "cluster",
                ],
            ])
            .to_vec(),
        ),
        3 => bare(
            "fence",
            c.of(&[
                &["proxy", "alias"][..],
                &["proxy", "async"],
                &["proxy", "async", "global"],
                &["proxy", "async", "shared::cta"],
                &["proxy", "async", "shared::cluster"],
            ])
            .to_vec(),
        ),
        _ => {
            let to = c.of(SCOPES);
            if c.once_in(2) {
                let mut made = bare("fence", vec!["proxy", "tensormap::generic", "acquire", to]);
                let base = c.of(&["a", "gbl"]).to_owned();
                made.place = Some(Place { base, offset: None, unified: false });
                made.sources.push(Data::One("128".to_owned()));
                made
            } else {
                bare("fence", vec!["proxy", "tensormap::generic", "release", to])
            }
        }
    }
}
