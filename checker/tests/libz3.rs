//! The link with Z3.

#![cfg(feature = "smt")]

use z3::ast::Bool;
use z3::{SatResult, Solver};

#[test]
fn the_library_is_the_chosen_one() {
    let Some(chosen) = option_env!("LIBZ3_VERSION") else { return };
    let version = z3::full_version();
    assert!(version.contains(&format!("{chosen}.")), "{version} is not {chosen}");
}

#[test]
fn an_assumption_is_answered_with_a_model() {
    let solver = Solver::new_for_logic("QF_FD").expect("z3 knows the logic");
    let (a, b) = (Bool::new_const("a"), Bool::new_const("b"));
    solver.assert(Bool::or(&[&a, &b]));
    solver.assert(a.implies(b.not()));

    assert_eq!(solver.check_assumptions(&[a.clone(), b.clone()]), SatResult::Unsat);
    assert_eq!(solver.check_assumptions(std::slice::from_ref(&a)), SatResult::Sat);
    let model = solver.get_model().expect("sat has a model");
    let value = |x: &Bool| model.eval(x, true).and_then(|x| x.as_bool());
    assert_eq!((value(&a), value(&b)), (Some(true), Some(false)));
}
