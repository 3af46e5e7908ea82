//! Gives the programs of this package the Z3 that `libz3` found.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // All come from `libz3`; there is none without the feature `smt`.
    let found = |name: &str| env::var(format!("DEP_CAUSEWAY_LIBZ3_{name}"));
    // Where it is linked: the folder, so that the programs start.
    if let Ok(folder) = found("DIR") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
    // Where it is loaded when it is needed: the library, inside the command.
    if let Ok(object) = found("EMBEDDED") {
        println!("cargo::rustc-link-arg-bins={object}");
        println!("cargo::rustc-env=LIBZ3_EMBEDDED=1");
    }
    // What is installed is small. `strip` in the profile has no effect on a package with an `opt-level` of its own.
    let of_build = |name: &str| env::var(name).unwrap_or_default();
    if of_build("DEBUG") == "false" && of_build("CARGO_CFG_TARGET_OS") == "linux" {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    if let Ok(version) = found("VERSION") {
        println!("cargo::rustc-env=LIBZ3_VERSION={version}");
    }
}
