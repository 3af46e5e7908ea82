//! Laws of instructions that are right: nothing is said of them, and printing them loses nothing.

use std::collections::BTreeSet;
use std::sync::Mutex;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ptx::Instruction;
use ptx::qualifier::QUALIFIERS;
use ptx::rules;
use ptx::shape::Opcode;

use crate::valid;
use crate::written::{NEWEST, Setting, Written, codes, module, said};

/// Runs a law over random instructions that are right, always the same ones.
pub(crate) fn law(cases: u32, check: impl Fn(&Written) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&valid::instruction(), |written| check(&written));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// What only ptxas objects to, and the document allows.
const PTXAS_ONLY: &[&str] = &[
    "ld-readonly-b128",
    "ld-level1-space",
    "st-level1-space",
    "address-generic",
    "address-immediate",
    "ld-sink-all",
];

#[test]
fn nothing_is_said_of_what_is_right() {
    let met = Mutex::new(BTreeSet::new());
    law(6_000, |written| {
        let setting = Setting { device: written.device, ..NEWEST };
        for strict in [true, false] {
            let said = said(&written.to_string(), &setting, strict);
            let errors: Vec<&str> = said
                .iter()
                .filter(|one| !PTXAS_ONLY.contains(&one.code))
                .map(|one| one.code)
                .collect();
            prop_assert!(errors.is_empty(), "{written}: {errors:?}, strict: {strict}");
            met.lock().expect("no thread panicked").extend(codes(&said));
        }
        Ok(())
    });
    let met = met.into_inner().expect("no thread panicked");
    assert_eq!(met, PTXAS_ONLY.iter().copied().collect(), "met, and listed");
}

/// The instructions of the one function of a module, and how each is printed.
fn instructions(text: &str) -> Result<Vec<(Instruction<'_>, String)>, TestCaseError> {
    let (module, diagnostics) = ptx::read("m.ptx", text.as_bytes());
    prop_assert!(diagnostics.is_empty(), "{}\n{text}", diagnostics[0]);
    let module = module.expect("nothing is wrong with it");
    let instructions = module.instructions(0);
    Ok(instructions.map(|one| (one.clone(), one.to_string())).collect())
}

/// Everything of an instruction but the places where it stands.
fn meaning<'a>(one: &'a Instruction<'a>) -> impl PartialEq + std::fmt::Debug + 'a {
    (&one.name, one.guard, one.negated, one.memory, &one.defines, &one.uses, &one.operands)
}

/// Blanks and comments wherever tokens may be apart.
fn spread(written: &str) -> String {
    let wide = |c| matches!(c, ',' | '[' | '{' | '}' | '+' | '@' | '!');
    let spread: String =
        written.chars().flat_map(|c| if wide(c) { vec![c, ' ', '\t'] } else { vec![c] }).collect();
    spread.replace(", ", " /* a, b */ , // c;\n")
}

#[test]
fn what_is_printed_reads_the_same() {
    law(4_000, |written| {
        let text = written.to_string();
        let [plain, wide] = [text.clone(), spread(&text)]
            .map(|text| module(&text, &Setting { device: written.device, ..NEWEST }));
        let before = instructions(&plain)?;
        prop_assert_eq!(before[0].1.clone(), text.replace("+0]", "]"));
        let after = instructions(&wide)?;
        prop_assert_eq!(meaning(&after[0].0), meaning(&before[0].0));
        prop_assert_eq!(&after[0].1, &before[0].1);
        Ok(())
    });
}

/// The generator of what is right leaves out no qualifier that some instruction takes.
#[test]
fn every_qualifier_is_written() {
    let met = Mutex::new(BTreeSet::new());
    law(6_000, |written| {
        let mut met = met.lock().expect("no thread panicked");
        met.extend(written.parts.iter().map(|part| (written.opcode, *part)));
        Ok(())
    });
    let met = met.into_inner().expect("no thread panicked");
    let mut idle = Vec::new();
    for opcode in Opcode::ALL {
        let accepted = rules::accepts(opcode);
        for (name, qualifier) in QUALIFIERS {
            if accepted.contains(&qualifier.kind()) && !met.contains(&(opcode.name(), *name)) {
                idle.push((opcode.name(), *name));
            }
        }
    }
    let by = |opcode: Opcode| -> String {
        let of = idle.iter().filter(|(of, _)| *of == opcode.name()).map(|(_, name)| *name);
        of.collect::<Vec<_>>().join(" ")
    };
    // What is left is what a rule of its own forbids.
    assert_eq!(
        Opcode::ALL.map(by),
        [
            "release acq_rel sc f16 f16x2 bf16 bf16x2 wb wt L1::32B",
            "shared shared::cta shared::cluster f16 f16x2 bf16 bf16x2 v8 const param param::entry \
             param::func local",
            "acquire acq_rel sc f16 f16x2 bf16 bf16x2 ca lu cv const param::entry",
            "weak volatile sc u8 u16 s8 s16 b8 sub const param param::entry param::func local",
            "weak volatile acquire acq_rel sc u8 u16 s8 s16 b8 b16 b128 sub exch cas const param \
             param::entry param::func local",
            "weak volatile relaxed",
            "cluster gpu",
        ]
    );
}
