//! Lets the programs of this package find the Z3 they were linked with, however they are started.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Both come from `libz3`; there is none without the feature `smt`.
    if let Ok(folder) = env::var("DEP_CAUSEWAY_LIBZ3_DIR") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
    if let Ok(version) = env::var("DEP_CAUSEWAY_LIBZ3_VERSION") {
        println!("cargo::rustc-env=LIBZ3_VERSION={version}");
    }
}
