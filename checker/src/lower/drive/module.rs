//! PTX of files in other languages, by a program that the command line names.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use text::escape::escaped;

use super::llc;
use crate::input::{self, quoted};
use crate::kind::FileKind;
use crate::options::CompilerArgs;

/// The text of a PTX module, compiled if the command line names a program for the file.
pub(crate) fn module_text(
    path: &Path,
    compilers: &CompilerArgs,
    err: &mut dyn Write,
) -> io::Result<String> {
    if let Some(ending) = compiled_ending(path) {
        let made = MadeFile::new();
        let command = command(path, ending, compilers, &made.path).map_err(io::Error::other)?;
        return compiled(command, &made, err);
    }
    match input::read(path) {
        Ok(bytes) => match FileKind::of(path, &bytes) {
            Some(FileKind::Ptx) | None => {
                let text = String::from_utf8(bytes);
                text.map_err(|_| io::Error::other("not valid UTF-8"))
            }
            Some(FileKind::Cuda) => Err(io::Error::other(NEEDS_CUDA)),
            Some(FileKind::Llvm) => Err(io::Error::other(NEEDS_LLC)),
            Some(kind) => Err(io::Error::other(kind.refused())),
        },
        Err(error) => Err(error),
    }
}

/// The ending of a file that is compiled.
fn compiled_ending(path: &Path) -> Option<&str> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.filter(|ending| matches!(*ending, "cu" | "cuh" | "ll"))
}

/// What messages call the module of a file: what a compiler makes of it has lines of its own.
pub(crate) fn module_name(path: &Path) -> String {
    let made = if compiled_ending(path).is_some() { " (PTX)" } else { "" };
    format!("{}{made}", path.to_string_lossy())
}

const NEEDS_CUDA: &str =
    "this is CUDA C++: name a file .cu, and its compiler with `--nvcc PATH` or `--clang PATH`";
const NEEDS_LLC: &str = "this is LLVM IR: name a file .ll, and its compiler with `--llc PATH`";

/// The command that compiles a file.
fn command(
    path: &Path,
    ending: &str,
    compilers: &CompilerArgs,
    to: &Path,
) -> Result<Command, String> {
    let sm = compilers.target.unwrap_or(90);
    let mut command = match (ending, &compilers.nvcc, &compilers.clang, &compilers.llc) {
        ("ll", _, _, Some(program)) => llc::command(program, path, to, sm),
        ("ll", ..) => return Err(NEEDS_LLC.to_owned()),
        (_, Some(program), ..) => {
            let mut command = Command::new(program);
            command.args(["-ptx", "-lineinfo", &format!("-arch=sm_{sm}")]);
            command.arg("-o").args([to, path]);
            command
        }
        (_, None, Some(program), _) => {
            let mut command = Command::new(program);
            command.args(["-x", "cuda", "--cuda-device-only", "-S", "-O2", "-gline-tables-only"]);
            command.arg(format!("--cuda-gpu-arch=sm_{sm}"));
            command.arg("-o").args([to, path]);
            command
        }
        (_, None, None, _) => return Err(NEEDS_CUDA.to_owned()),
    };
    command.args(&compilers.compiler_arg);
    Ok(command)
}

/// Runs the command, which is printed.
fn compiled(mut command: Command, made: &MadeFile, err: &mut dyn Write) -> io::Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    writeln!(err, "{}", words.join(" "))?;
    let output =
        command.output().map_err(|error| io::Error::other(format!("{program}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        return Err(io::Error::other(format!("{program} does not compile it{}", shown(&said))));
    }
    input::text(&made.path)
        .map_err(|error| io::Error::other(format!("{program} has written no module: {error}")))
}

/// The first lines of what a compiler says, which may go on with all of its stack.
fn shown(said: &str) -> String {
    const MOST: usize = 20;
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let mut text = String::new();
    for line in lines.iter().take(MOST) {
        text += "\n";
        text += &escaped(line);
    }
    let more = lines.len().saturating_sub(MOST);
    if more > 0 {
        text.extend(["\n… and ", &more.to_string(), " lines more"]);
    }
    text
}

/// A file that is removed at the end.
struct MadeFile {
    path: PathBuf,
}

impl MadeFile {
    fn new() -> MadeFile {
        let name = format!("causeway-{}.ptx", std::process::id());
        MadeFile { path: std::env::temp_dir().join(name) }
    }
}

impl Drop for MadeFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
