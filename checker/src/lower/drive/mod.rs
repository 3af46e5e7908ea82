//! `causeway lower --ptxas PATH --nvdisasm PATH TEST…`: compiles the threads of litmus tests with `ptxas`, as
//! kernels of one module.

mod kernel;
pub(crate) mod llc;
pub(crate) mod module;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lift::function::{Functions, Refused};
use text::Diagnostic;

use self::kernel::{NAME, kernel};
use super::files::{self, FunctionsError, ListingSource};
use crate::input;
use crate::kind::FileKind;
use crate::output;

/// The programs to run, and the folder for their files.
pub struct Tools<'a> {
    pub ptxas: &'a Path,
    pub nvdisasm: &'a Path,
    pub folder: &'a Path,
    /// The number after `sm_`.
    pub arch: u16,
}

/// A thread, or several threads with the same text.
pub struct ThreadGroup {
    /// The name of the kernel.
    pub symbol: String,
    /// The name of the first thread, such as `MP.litmus P0`.
    pub name: String,
    /// The path of the test that contains the thread.
    pub test: PathBuf,
    /// The number of threads with this text.
    pub count: usize,
    text: String,
    /// The reason for which its kernel is not judged.
    refused: Option<String>,
    /// Whether the disassembler does not know an instruction that the assembler emitted.
    pub illegal: bool,
}

/// The source and the target of a compilation.
pub struct Sides {
    pub module: PathBuf,
    pub listing: PathBuf,
    pub source: Functions,
    pub target: Functions,
}

/// The path and the diagnostics of a rejected test.
pub type Rejected = (PathBuf, Vec<Diagnostic>);

/// The distinct threads of the tests below these paths, and the tests that could not be read.
pub fn threads(paths: &[PathBuf]) -> std::io::Result<(Vec<ThreadGroup>, Vec<Rejected>)> {
    let mut all: Vec<ThreadGroup> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut errors = Vec::new();
    for path in input::find(paths, "litmus")? {
        let bytes = input::read_kind(&path, FileKind::Litmus)?;
        let shown = path.display().to_string();
        let litmus = match litmus::parse(&shown, &bytes) {
            Ok(litmus) => litmus,
            Err(diagnostics) => {
                errors.push((path, diagnostics));
                continue;
            }
        };
        for (index, thread) in litmus.program.threads.iter().enumerate() {
            let (kernel, refused) = match kernel(&litmus, index) {
                Ok(kernel) => (kernel, None),
                Err(why) => (String::new(), Some(why)),
            };
            if let Some(&same) = known.get(&kernel).filter(|_| refused.is_none()) {
                all[same].count += 1;
                continue;
            }
            known.insert(kernel.clone(), all.len());
            all.push(ThreadGroup {
                symbol: format!("thread_{}", all.len()),
                name: format!("{shown} {}", thread.name),
                test: path.clone(),
                count: 1,
                text: kernel,
                refused,
                illegal: false,
            });
        }
    }
    Ok((all, errors))
}

/// The files of one run of the assembler.
struct AssemblerFiles {
    module: PathBuf,
    cubin: PathBuf,
    listing: PathBuf,
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    output::write(path, text.as_bytes()).map_err(|error| error.to_string())
}

/// Compiles the threads and reads the result. A kernel that the PTX reader or the assembler rejects is left
/// out, and the reason is recorded. `Err` means that a program failed, not that a kernel was rejected.
pub fn compile(all: &mut [ThreadGroup], tools: &Tools<'_>) -> Result<Sides, String> {
    let version = version(tools.ptxas)?;
    let own = |name: &str| tools.folder.join(name);
    let files = AssemblerFiles {
        module: own("threads.ptx"),
        cubin: own("threads.cubin"),
        listing: own("threads.sass"),
    };
    let every: Vec<usize> = (0..all.len()).collect();
    let mut source = assemble(all, &every, version, tools, &files)?;
    let mut text = disassemble(tools, &files)?;
    if text.is_err() {
        illegal(all, &every, version, tools, &files)?;
        source = assemble(all, &every, version, tools, &files)?;
        text = disassemble(tools, &files)?;
    }
    let text = text.map_err(|said| format!("{}: {said}", tools.nvdisasm.display()))?;
    write(&files.listing, &text)?;
    let made = ListingSource { source: &source, arch: Some(tools.arch) };
    let target = files::functions(&files.listing, made).map_err(|unread| match unread {
        FunctionsError::Path(error) => format!("{}: {error}", files.listing.display()),
        FunctionsError::Line(line, why) => format!("{}:{line}: {why}", files.listing.display()),
        FunctionsError::Diagnostics(all) => all.first().map_or(String::new(), ToString::to_string),
    })?;
    let mut target = target.functions;
    for driven in all.iter() {
        if let Some(why) = &driven.refused {
            let refused = || Err(Refused { line: 1, why: why.clone() }.into());
            source.push((driven.symbol.clone(), refused()));
            target.push((driven.symbol.clone(), refused()));
        }
    }
    Ok(Sides { module: files.module, listing: files.listing, source, target })
}

/// Compiles these threads. Rejected kernels are marked as refused.
fn assemble(
    all: &mut [ThreadGroup],
    these: &[usize],
    version: (u16, u16),
    tools: &Tools<'_>,
    files: &AssemblerFiles,
) -> Result<Functions, String> {
    let target = format!("sm_{}", tools.arch);
    loop {
        let (text, lines) = module(all, these, version, tools.arch);
        write(&files.module, &text)?;
        let shown = files.module.display().to_string();
        let (read, diagnostics) = ptx::read(&shown, text.as_bytes());
        let found: Vec<(usize, String)> =
            diagnostics.iter().map(|one| (one.span.line, one.message.clone())).collect();
        if refuse(all, &lines, &found) {
            continue;
        }
        let Some(read) = read.filter(|_| diagnostics.is_empty()) else {
            return Err(diagnostics.first().map_or(String::new(), ToString::to_string));
        };
        let mut command = Command::new(tools.ptxas);
        command.args(["-arch", &target]).arg(&files.module).arg("-o").arg(&files.cubin);
        let (done, said) = run(&mut command)?;
        if done {
            return Ok(lift::module::functions(&read));
        }
        let found: Vec<(usize, String)> = said.lines().filter_map(complaint).collect();
        if !refuse(all, &lines, &found) {
            return Err(format!("{}: {}", tools.ptxas.display(), said.trim()));
        }
    }
}

/// The listing, or the error text of the disassembler.
fn disassemble(
    tools: &Tools<'_>,
    files: &AssemblerFiles,
) -> Result<Result<String, String>, String> {
    let (done, text) = run(Command::new(tools.nvdisasm).arg("-hex").arg(&files.cubin))?;
    Ok(if done { Ok(text) } else { Err(text.trim().to_owned()) })
}

/// Finds by bisection the kernels that the disassembler rejects: one such kernel suffices for it to print no
/// listing.
fn illegal(
    all: &mut [ThreadGroup],
    these: &[usize],
    version: (u16, u16),
    tools: &Tools<'_>,
    files: &AssemblerFiles,
) -> Result<(), String> {
    assemble(all, these, version, tools, files)?;
    let Err(said) = disassemble(tools, files)? else { return Ok(()) };
    let left: Vec<usize> =
        these.iter().copied().filter(|&index| all[index].refused.is_none()).collect();
    if let [one] = left[..] {
        let why = said.lines().next().unwrap_or("it prints no version");
        all[one].refused = Some(format!("nvdisasm: {why}"));
        all[one].illegal = true;
        return Ok(());
    }
    let (first, second) = left.split_at(left.len() / 2);
    illegal(all, first, version, tools, files)?;
    illegal(all, second, version, tools, files)
}

/// Marks the kernels at these lines as refused; returns whether any kernel was newly marked.
fn refuse(all: &mut [ThreadGroup], lines: &[(usize, usize)], found: &[(usize, String)]) -> bool {
    let mut some = false;
    for (line, why) in found {
        // `lines` has the first line of each kernel, in ascending order.
        let index = lines.partition_point(|(first, _)| first <= line).checked_sub(1);
        let Some(driven) = index.map(|index| &mut all[lines[index].1]) else { continue };
        if driven.refused.is_none() {
            driven.refused = Some(why.clone());
            some = true;
        }
    }
    some
}

/// The text of the module, and the line at which each kernel begins.
fn module(
    all: &[ThreadGroup],
    these: &[usize],
    version: (u16, u16),
    sm: u16,
) -> (String, Vec<(usize, usize)>) {
    let mut text =
        format!(".version {}.{}\n.target sm_{sm}\n.address_size 64\n", version.0, version.1);
    let mut lines = Vec::new();
    let mut line = 4;
    for &index in these {
        let driven = &all[index];
        if driven.refused.is_some() {
            continue;
        }
        let kernel = driven.text.replace(NAME, &driven.symbol);
        lines.push((line, index));
        line += kernel.lines().count() + 1;
        writeln!(text, "{kernel}").expect("strings can be written");
    }
    (text, lines)
}

/// Parses `ptxas threads.ptx, line 20; error   : …` and `ptxas warning : … on line '20' …`.
fn complaint(line: &str) -> Option<(usize, String)> {
    if let Some((place, message)) = line.split_once("; error") {
        let (_, number) = place.rsplit_once("line ")?;
        let message = message.trim_start_matches([' ', ':']);
        return Some((number.trim().parse().ok()?, format!("ptxas: {message}")));
    }
    let (message, rest) = line.split_once(" on line '")?;
    let number = rest.split_once('\'')?.0.parse().ok()?;
    let message = message.split_once(" : ").map_or(message, |(_, message)| message);
    Some((number, format!("ptxas: {message}")))
}

/// Runs a program. Returns whether it succeeded, with its standard output, or on failure its standard error and
/// output.
fn run(command: &mut Command) -> Result<(bool, String), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let success = done.status.success();
    let said = if success { text(&done.stdout) } else { text(&done.stderr) + &text(&done.stdout) };
    Ok((success, said))
}

/// The PTX version that belongs to a release of the assembler: release 12.9 has PTX 8.8.
fn version(ptxas: &Path) -> Result<(u16, u16), String> {
    let (done, said) = run(Command::new(ptxas).arg("--version"))?;
    let release = said.split("release ").nth(1).and_then(|rest| {
        let (major, rest) = rest.split_once('.')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((major.trim().parse().ok()?, digits.parse().ok()?))
    });
    let version = release.filter(|_| done).and_then(|release: (u16, u16)| match release {
        (11, minor) => Some((7, minor)),
        // Releases 12.5 and 12.6 have the same PTX version.
        (12, minor) => Some((8, if minor > 5 { minor - 1 } else { minor })),
        (13.., minor) => Some((release.0 - 4, minor)),
        _ => None,
    });
    version.ok_or_else(|| format!("{}: it does not name a release from 11.0 on", ptxas.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_an_assembler_name_their_line() {
        let line = "ptxas threads.ptx, line 20; error   : Unexpected instruction types";
        let expected = (20, "ptxas: Unexpected instruction types".to_owned());
        assert_eq!(complaint(line), Some(expected));
        let line = "ptxas warning : Program uses 32-bit address on line '6025' which conflicts";
        let expected = (6025, "ptxas: Program uses 32-bit address".to_owned());
        assert_eq!(complaint(line), Some(expected));
        assert_eq!(complaint("ptxas fatal   : Ptx assembly aborted due to errors"), None);
    }
}
