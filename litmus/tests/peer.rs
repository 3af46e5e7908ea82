//! Every test of the peer's corpus is read, where the corpus is at hand.

use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs tests of others: CAUSEWAY_ORACLE"]
fn every_test_of_the_peer_is_read() {
    let corpus = measured::of_others("litmus/dat3m");
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    paths.sort();
    assert!(paths.len() > 300, "only {} tests", paths.len());
    for path in paths {
        let bytes = fs::read(&path).expect("the file can be read");
        match litmus::parse(&path.display().to_string(), &bytes) {
            Ok(test) => {
                let uses_memory = !test.program.variables.is_empty();
                assert!(uses_memory, "{}: no variables", path.display());
                assert_eq!(test.dialect, litmus::Dialect::Peer, "{}", path.display());
            }
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                panic!("{}", errors.join("\n"));
            }
        }
    }
}
