//! The model as it is printed. `UPDATE=1` rewrites the page in `docs/`.

use std::path::Path;

use model::{ptx, render};

#[test]
fn the_page_in_docs_is_the_model() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ptx.cat");
    let printed = render::cat(&ptx::model());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &printed).expect("docs/ can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(printed == page, "docs/ptx.cat is not the model: run this test with UPDATE=1");
}

#[test]
fn no_line_is_too_long() {
    let model = ptx::model();
    for printed in [render::cat(&model), render::text(&model)] {
        for line in printed.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn markdown_links_each_section_into_the_document() {
    let printed = render::markdown(&ptx::model());
    assert!(printed.contains("## 8.10.6 [Causality](https://docs.nvidia.com/"));
    assert!(printed.contains("axiom Causality: irreflexive (rf | fr) ; causality\n"));
}
