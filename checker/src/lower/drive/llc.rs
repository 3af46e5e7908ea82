//! Compiles LLVM IR with `llc`.

use std::path::Path;
use std::process::Command;

/// The command that compiles LLVM IR to PTX.
pub(crate) fn command(llc: &Path, from: &Path, to: &Path, arch: u16) -> Command {
    let mut command = Command::new(llc);
    command.args(["-march=nvptx64", &format!("-mcpu=sm_{arch}"), "-o"]).args([to, from]);
    command
}

/// Compiles LLVM IR. On failure, returns the first error of the compiler.
pub(crate) fn compile(llc: &Path, from: &Path, to: &Path, arch: u16) -> Result<(), String> {
    if from.extension().is_none_or(|ending| ending != "ll") {
        return Err("`--llc` requires LLVM IR, a file with the extension .ll".to_owned());
    }
    let output = command(llc, from, to, arch)
        .output()
        .map_err(|error| format!("{}: {error}", llc.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let telling = said.lines().find(|line| line.to_lowercase().contains("error"));
    let said = telling.or(said.lines().next()).unwrap_or("it printed no message");
    Err(format!("{} does not compile it: {said}", llc.display()))
}
