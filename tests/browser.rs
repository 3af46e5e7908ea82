//! The page of `causeway serve` in Chromium: typed, clicked, by keyboard, narrow, dark. `tests/browser/pages.py` does it, and also
//! opens the playground.

use std::process::Command;

use crate::suite;

#[test]
fn the_page_of_the_server_works_in_chromium() {
    let script = suite::root().join("tests/browser/pages.py");
    let output = match Command::new("python3")
        .arg(script)
        .args(["--causeway", env!("CARGO_BIN_EXE_causeway")])
        .output()
    {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: python3 does not start, so no page is opened: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "a page is not as expected");
    assert!(
        said.starts_with("SKIPPED") || said.matches(": ok\n").count() == 10,
        "a test is left out"
    );
}
