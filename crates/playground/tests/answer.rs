//! The function that a page calls, where it is not WebAssembly.

use litmus::example::{DOCUMENT, GALLERY};
use serde_json::Value;

fn answer(test: &str) -> Value {
    serde_json::from_str(&playground::answer(test)).expect("it is an object")
}

#[test]
fn each_example_has_its_verdict_and_most_have_a_picture() {
    let mut pictures = 0;
    for test in DOCUMENT.iter().chain(GALLERY) {
        let answer = answer(test.text);
        assert_eq!(answer["expected"], true, "{}: {}", test.name, answer["summary"]);
        let html = answer["html"].as_str().expect("it has markup");
        assert!(html.contains("<h2>Explanation</h2>"), "{}", test.name);
        pictures += usize::from(html.contains("<svg"));
    }
    // Some conditions hold in each candidate, and one example is undefined.
    let all = DOCUMENT.len() + GALLERY.len();
    assert!(pictures * 10 > all * 7, "{pictures} of {all}");
}

#[test]
fn what_is_no_test_has_errors_or_is_refused() {
    let wrong =
        answer("PTX MP\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weka.u32 [x], 1 ;\nexists (x=1)\n");
    assert_eq!(
        (&wrong["errors"][0]["line"], &wrong["errors"][0]["column"]),
        (&4.into(), &5.into())
    );
    assert!(answer(&"x".repeat(200_000))["error"].is_string());
}
