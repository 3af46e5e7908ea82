//! The tables of what ptxas makes of instructions, against what it made of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptx::version::{PtxIsa, Target};
use ptx::{self, LintOptions};
use sass::lowering;

/// The rows that are judged where the file is present, at least.
const FEWEST: usize = 30_000;

/// Why a table could not have a row: the table is for one instruction by itself.
fn left_out(version: &str, instruction: &str, space: &str, context: &str) -> Option<&'static str> {
    let opcode = instruction.split(['.', ' ', ';']).next().unwrap_or("");
    let asynchronous = ["st.async", "red.async"].iter().any(|name| instruction.starts_with(name));
    if asynchronous || !["ld", "ldu", "st", "atom", "red", "fence", "membar"].contains(&opcode) {
        Some("no memory instruction of the model")
    } else if context != "alone" {
        Some("other instructions around it, or the same address for all threads")
    } else if space == "static"
        && [".const", ".param", ".local"].iter().any(|part| instruction.contains(part))
    {
        Some("a constant address that ptxas folds into another instruction, or leaves out")
    } else if instruction.starts_with("fence.proxy.tensormap::generic.acquire")
        && version.starts_with("12.")
    {
        Some("12.9 and 13.1 differ, and the table follows 13.1")
    } else {
        None
    }
}

#[test]
fn the_tables_say_what_ptxas_makes() {
    let (mut judged, mut wrong, mut missing) = (0_usize, 0_usize, 0_usize);
    let mut out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut shown = String::new();
    for row in measured::rows("ptxas-lowering") {
        let [version, target, _, instruction, sass, opt, _, space, context] = &row[..] else {
            panic!("{row:?} has not nine fields")
        };
        assert_eq!(opt, "O3");
        if let Some(why) = left_out(version, instruction, space, context) {
            *out.entry(why).or_default() += 1;
            continue;
        }
        judged += 1;
        let sm: u16 = target.trim_start_matches("sm_").parse().expect("a target is a number");
        let families = lowering::families().iter();
        let family = families.clone().find(|family| family.table.targets.contains(&sm));
        let family = family.unwrap_or_else(|| panic!("no table has {target}"));
        let single = ptx::instruction("row", instruction, LintOptions::default());
        let single = single.unwrap_or_else(|errors| panic!("{instruction}: {}", errors[0]));
        let found = family.table.find(sm, single.opcode.name(), &single.parts);
        let expected = if sass == "(none)" { "" } else { sass };
        match found {
            Some(found) if found == *expected => {}
            Some(found) => {
                wrong += 1;
                let line =
                    format!("{version} {target} {instruction}\n  is   {expected}\n  here {found}");
                writeln!(shown, "{line}").expect("strings can be written");
            }
            None => {
                missing += 1;
                writeln!(
                    shown,
                    "{version} {target} {instruction}\n  is   {expected}\n  has no row"
                )
                .expect("strings can be written");
            }
        }
    }
    eprintln!("{judged} rows judged, {wrong} differ, {missing} have no row; left out: {out:#?}");
    let some: Vec<&str> = shown.lines().take(60).collect();
    assert!(judged >= FEWEST, "only {judged} rows were judged");
    assert!(
        wrong + missing == 0,
        "{wrong} of {judged} rows differ, {missing} have no row:\n{}",
        some.join("\n")
    );
}

/// Types, and vectors of them.
const TYPES: &[&str] = &[
    "b8", "u16", "b32", "u32", "f32", "b64", "s64", "b128", "v2.b32", "v4.f32", "v2.u64", "v8.b32",
];

/// What can be written of an order and a scope.
const ORDERS: &[&str] = &[
    "",
    "weak",
    "volatile",
    "relaxed.cta",
    "relaxed.cluster",
    "relaxed.gpu",
    "relaxed.sys",
    "acquire.cta",
    "acquire.cluster",
    "acquire.gpu",
    "acquire.sys",
    "release.cta",
    "release.cluster",
    "release.gpu",
    "release.sys",
    "acq_rel.cluster",
    "acq_rel.gpu",
    "mmio.relaxed.sys",
    "acquire",
    "release",
    "cta",
    "sc.cta",
    "sc.cluster",
    "sc.gpu",
    "sc.sys",
];

const SPACES: &[&str] =
    &["", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"];

const HINTS: &[&str] = &[
    "",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "nc.cs",
    "L1::evict_normal",
    "L1::evict_last",
    "L2::evict_first",
    "L2::64B",
    "L2::256B",
    "L1::no_allocate.L2::evict_last",
    "nc.L1::evict_first.L2::128B",
];

/// The operands of an instruction of an opcode and a type.
fn operands(opcode: &str, ty: &str) -> String {
    let lanes = match ty.split('.').next() {
        Some("v2") => "{a, b}",
        Some("v4") => "{a, b, c, d}",
        Some("v8") => "{a, b, c, d, e, f, g, h}",
        _ => "a",
    };
    match opcode {
        "st" => format!("[p], {lanes}"),
        "atom" => format!("{lanes}, [p], 1"),
        "red" => "[p], 1".to_owned(),
        "fence" | "membar" => String::new(),
        _ => format!("{lanes}, [p]"),
    }
}

/// A table has a row for each instruction that keeps all rules, of the shapes that were measured.
#[test]
fn the_tables_have_no_gaps() {
    let (mut found, mut gaps) = (0_usize, Vec::new());
    let mut ask = |opcode: &str, qualifiers: &[&str], ty: &str| {
        let written = qualifiers.iter().copied().chain([ty]).filter(|part| !part.is_empty());
        let name: Vec<&str> = std::iter::once(opcode).chain(written).collect();
        let text = format!("{} {}", name.join("."), operands(opcode, ty));
        for family in lowering::families() {
            for &sm in &family.table.targets {
                let target = Some(Target { sm, variant: None });
                let isa = PtxIsa::parse("9.1");
                let options = LintOptions { target, isa, ..LintOptions::default() };
                let single = ptx::instruction("gap", &text, options).expect("it can be read");
                if !single.diagnostics.is_empty() {
                    continue;
                }
                match family.table.find(sm, opcode, &single.parts) {
                    Some(_) => found += 1,
                    None => gaps.push(format!("sm_{sm} {text}")),
                }
            }
        }
    };
    for order in ORDERS {
        ask("fence", &[order], "");
        for space in SPACES {
            for operation in ["add.u32", "and.b32", "exch.b64", "add.f64"] {
                ask("atom", &[order, space], operation);
                ask("red", &[order, space], operation);
            }
            for opcode in ["ld", "st"] {
                if (opcode, *space) == ("st", "param") {
                    // Arguments of calls stay in registers.
                    continue;
                }
                for ty in TYPES {
                    ask(opcode, &[order, space], ty);
                }
                for hint in HINTS {
                    ask(opcode, &[order, space, hint], "b32");
                    ask(opcode, &[order, space, hint], "v8.b32");
                }
            }
        }
    }
    for ty in TYPES {
        ask("ldu", &["global"], ty);
        ask("ldu", &[], ty);
    }
    for level in ["cta", "gl", "sys"] {
        ask("membar", &[level], "");
    }
    assert!(found > 5_000, "only {found} were asked");
    let some: Vec<&String> = gaps.iter().take(40).collect();
    assert!(gaps.is_empty(), "{} have no row: {some:#?}", gaps.len());
}

/// Groups of measured asynchronous instructions that the tables have rows for.
const ASYNCHRONOUS: &[&str] = &[
    "cp.async",
    "cp.async.bulk",
    "cp.async.mbarrier",
    "cp.reduce.async.bulk",
    "fence",
    "fence.proxy",
    "mbarrier.arrive",
    "mbarrier.arrive_drop",
    "mbarrier.complete_tx",
    "mbarrier.expect_tx",
    "mbarrier.init",
    "mbarrier.inval",
    "mbarrier.test_wait",
    "mbarrier.try_wait",
    "red.async",
    "st.async",
];

/// Instructions that compute operands, or choose a thread.
const SET_UP: &[&str] = &[
    "ELECT", "FLO", "IADD3", "IMAD", "LEA", "POPC", "SHF", "UFLO", "USHF", "VIADD", "VOTE", "VOTEU",
];

/// The names of a sequence, without operands, without what computes these, and without what is never executed.
fn bare(sass: &str) -> String {
    let names = sass.split(" ; ").filter_map(|text| {
        let mut words = text.split_whitespace();
        let first = words.next().filter(|first| *first != "@!PT")?;
        let name = if first.starts_with('@') { words.next()? } else { first };
        let opcode = name.split('.').next().unwrap_or("");
        (!SET_UP.contains(&opcode)).then_some(name)
    });
    names.collect::<Vec<_>>().join(" ; ")
}

/// The operands that rows name, of an instruction as it was measured.
fn named_operands(name: &str, operands: &[&str]) -> Vec<&'static str> {
    if name.starts_with("cp.async.ca") || name.starts_with("cp.async.cg") {
        let bytes = match operands.get(2) {
            Some(&"4") => "(4)",
            Some(&"8") => "(8)",
            _ => "(16)",
        };
        let more = operands.get(3).filter(|_| !name.ends_with("cache_hint"));
        let more = more.map(|of| if of.starts_with("%p") { "(ignore-src)" } else { "(src-size)" });
        return std::iter::once(bytes).chain(more).collect();
    }
    let arrives = name.starts_with("mbarrier.arrive") && !name.contains("expect_tx");
    if arrives && operands.len() > 2 { vec!["(count)"] } else { Vec::new() }
}

/// Why a table does not have a measured instruction.
fn not_in_a_table(name: &str, operands: &[&str], sass: &str) -> Option<&'static str> {
    let has = |part: &str| name.split('.').any(|one| one == part);
    if name.contains("fence") || name.starts_with("membar") {
        let ours = ["proxy.async", "mbarrier_init", "sync_restrict"];
        let told = ours.iter().any(|part| name.contains(part));
        let later = name.starts_with("membar");
        return (!told || later).then_some("other fences");
    }
    if name.contains("layout::") || name.contains("phase_type::") {
        Some("layouts of objects")
    } else if has("multicast::cluster::16b") || has("ignore_oob") || has("cp_mask") {
        Some("qualifiers that the model does not have")
    } else if sass.is_empty() && has("relaxed") {
        Some("a relaxed wait whose result nothing uses")
    } else if operands.contains(&"-1")
        || operands.contains(&"0") && name.starts_with("cp.async.bulk.sh")
    {
        Some("an operand that the document does not allow")
    } else if (name.starts_with("red.async") || name.starts_with("st.async"))
        && (!has("add") && name.contains("global") && has("red")
            || has("relaxed") && has("global")
            || has("shared::cta")
            || !has("release") && !name.contains("mbarrier")
            || has("release") && !has("global"))
    {
        Some("an instruction that the document does not have, which ptxas accepts")
    } else {
        None
    }
}

#[test]
fn the_tables_say_what_ptxas_makes_of_asynchronous_operations() {
    let (mut judged, mut wrong) = (0_usize, String::new());
    let mut out: BTreeMap<&str, usize> = BTreeMap::new();
    for row in measured::rows("asynchronous-sass") {
        let [group, instruction, target, sass] = &row[..] else {
            panic!("{row:?} has not four fields")
        };
        if !ASYNCHRONOUS.contains(&group.as_str()) {
            *out.entry("other instructions").or_default() += 1;
            continue;
        }
        let (name, operands) =
            instruction.trim_end_matches(';').split_once(' ').unwrap_or((instruction, ""));
        let name = name.trim_end_matches(';');
        let operands: Vec<&str> = operands.split(',').filter(|one| !one.is_empty()).collect();
        if let Some(why) = not_in_a_table(name, &operands, sass) {
            *out.entry(why).or_default() += 1;
            continue;
        }
        judged += 1;
        let sm: u16 = target.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number");
        let mut families = lowering::families().iter();
        let family = families.find(|family| family.table.targets.contains(&sm));
        let mut parts: Vec<&str> = name.split('.').collect();
        let opcode = parts.remove(0);
        parts.extend(named_operands(name, &operands));
        let found = family.expect("a table has it").table.find(sm, opcode, &parts);
        let expected = bare(sass);
        if found.as_ref() != Some(&expected) {
            writeln!(wrong, "{target} {instruction}\n  is   {expected}\n  here {found:?}")
                .expect("strings can be written");
        }
    }
    eprintln!("{judged} rows judged; left out: {out:#?}");
    assert!(wrong.is_empty(), "rows differ:\n{wrong}");
    assert!(judged > 400, "only {judged} rows were judged");
}
