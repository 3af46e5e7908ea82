//! What is not PTX is reported, and soon, and nothing else happens.

use proptest::collection::vec;
use proptest::prelude::*;
use ptx::LintOptions;

use crate::checked::check;
use crate::choices::Choices;
use crate::{compiled, fuzz_input};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(check(&bytes), Ok(()));
    }

    #[test]
    fn any_words_are_read(numbers in vec(any::<u16>(), 0..200)) {
        let text = fuzz_input::words(&mut Choices::new(&numbers), numbers.len() / 2);
        prop_assert_eq!(check(text.as_bytes()), Ok(()), "{}", text);
    }

    #[test]
    fn a_damaged_module_is_read(numbers in vec(any::<u16>(), 0..40)) {
        let module = compiled::module(60, false);
        let bytes = fuzz_input::damaged(&module, &mut Choices::new(&numbers));
        prop_assert_eq!(check(&bytes), Ok(()), "{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_compiled_module_has_no_errors() {
    for memory_only in [false, true] {
        let text = compiled::module(5_000, memory_only);
        let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
        assert_eq!(linted.diagnostics, []);
        let least = if memory_only { 5_000 } else { 1_600 };
        assert!(linted.instructions >= least, "{}", linted.instructions);
        assert_eq!(check(text.as_bytes()), Ok(()));
    }
}
