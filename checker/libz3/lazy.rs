//! A stand-in for libz3 that the checker is linked with: it loads the real one at the first call.
//!
//! So that what never asks Z3 starts without it, and an installed program does not need the folder of
//! its build. `lazy.c` says where the library is looked for.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{OLDEST, Version, output};

/// The functions that crate `z3-sys` declares, in order. A linker that misses one asks for it here.
const FUNCTIONS: &str = include_str!("functions.txt");

/// What the checker is linked with.
pub(crate) struct StandIn {
    /// Where the linker finds it under the name of Z3.
    pub(crate) folder: PathBuf,
    /// For the command only: the library itself, packed.
    pub(crate) embedded: Option<PathBuf>,
}

/// The targets that there is an assembly file for.
pub(crate) fn assembly(target: &str) -> Option<&'static str> {
    match target {
        "x86_64-unknown-linux-gnu" => Some("x86_64.S"),
        "aarch64-unknown-linux-gnu" => Some("aarch64.S"),
        _ => None,
    }
}

pub(crate) fn build(
    out: &Path,
    assembly: &str,
    library: &Path,
    version: Version,
    packed: Option<&Path>,
) -> Result<StandIn, String> {
    let folder = out.join("stand-in");
    // Removed first: `ar` adds to an archive that is there.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
    let package = std::env::current_dir().map_err(|why| why.to_string())?;
    for file in ["lazy.rs", "lazy.c", "inflate.h", "functions.txt", assembly] {
        println!("cargo::rerun-if-changed={file}");
    }

    write(&out.join("found.h"), &found(library, version)?)?;
    write(&out.join("functions.S"), &functions(assembly))?;
    let object = |name: &str| out.join(name).with_extension("o");
    let compile = |source: &Path, object: &Path| {
        let mut cc = Command::new("cc");
        cc.args(["-c", "-O2", "-fPIC", "-Wall"]).arg("-I").arg(&package).arg("-I").arg(out);
        output(cc.arg(source).arg("-o").arg(object))
    };
    compile(&package.join("lazy.c"), &object("lazy"))?;
    compile(&out.join("functions.S"), &object("functions"))?;
    let mut ar = Command::new("ar");
    ar.arg("crs").arg(folder.join("libz3.a")).args([object("lazy"), object("functions")]);
    output(&mut ar)?;
    // `z3-sys` asks for the C++ library that Z3 needs. Nothing here does.
    write(&folder.join("libstdc++.a"), "!<arch>\n")?;

    let embedded = object("library");
    if let Some(packed) = packed {
        write(&out.join("library.S"), &incbin(packed))?;
        compile(&out.join("library.S"), &embedded)?;
    }
    Ok(StandIn { folder, embedded: packed.map(|_| embedded) })
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|why| format!("{}: {why}", path.display()))
}

/// What `lazy.c` has to know of this build.
fn found(library: &Path, version: Version) -> Result<String, String> {
    let bytes = fs::read(library).map_err(|why| format!("{}: {why}", library.display()))?;
    let hash = hash(&bytes);
    let (path, length) = (quoted(library), bytes.len());
    Ok(format!(
        "#define BUILD_LIBRARY {path}\n\
         #define CACHED_NAME \"libz3-{version}-{hash:016x}.so\"\n\
         #define LIBRARY_HASH 0x{hash:016x}u\n\
         #define LIBRARY_LENGTH {length}u\n\
         #define OLDEST_MAJOR {}\n\
         #define OLDEST_MINOR {}\n\
         #define OLDEST_PATCH {}\n",
        OLDEST.0, OLDEST.1, OLDEST.2
    ))
}

/// The hash of a library, word by word, as `lazy.c` computes it again: it tells a damaged file, and is no protection against
/// a forged one.
fn hash(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).rotate_left(23).wrapping_mul(0x100_0000_01b3)
    })
}

/// A path as a string of C or assembly.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "\\{byte:03o}").expect("strings can be written");
        }
    }
    text.push('"');
    text
}

/// A function for each of Z3's, and the table that they go through.
fn functions(assembly: &str) -> String {
    let mut calls = String::new();
    let mut names = String::new();
    let mut table = String::new();
    for (index, name) in FUNCTIONS.lines().enumerate() {
        writeln!(calls, "    FUNCTION {name}, {index}").expect("strings can be written");
        writeln!(names, "    .asciz \"{name}\"").expect("strings can be written");
        table.push_str("    .quad first\n");
    }
    format!(
        "#include \"{assembly}\"\n{calls}\n\
         .section .rodata\n\
         .globl causeway_z3_names\n.hidden causeway_z3_names\n\
         causeway_z3_names:\n{names}\n\
         .data\n.balign 8\n\
         .globl causeway_z3_table\n.hidden causeway_z3_table\n\
         causeway_z3_table:\n{table}\n\
         .section .note.GNU-stack,\"\",%progbits\n"
    )
}

fn incbin(packed: &Path) -> String {
    format!(
        ".section .rodata.causeway_z3,\"a\"\n\
         .globl causeway_z3_begin, causeway_z3_end\n\
         .hidden causeway_z3_begin, causeway_z3_end\n\
         .balign 16\n\
         causeway_z3_begin:\n\
         .incbin {}\n\
         causeway_z3_end:\n\
         .section .note.GNU-stack,\"\",%progbits\n",
        quoted(packed)
    )
}
