//! A module of kernels, with what is wrong in it.

use lift::function::{Function, Refused};
use lift::module::LaunchedArguments;
use ptx::Module;
use ptx::version::Target;
use text::diagnostic::{Diagnostic, Severity};

use crate::launch::LaunchError;

/// A module that was read. A fault in it only matters to the functions that have it, or call one that has it.
pub struct KernelModule<'a> {
    /// For messages.
    pub path: &'a str,
    pub text: &'a str,
    pub(crate) module: Module<'a>,
    /// What no assembler accepts.
    pub(crate) faults: Vec<Diagnostic>,
}

impl<'a> KernelModule<'a> {
    /// Reads a module.
    ///
    /// # Errors
    /// If the text is no module at all.
    pub fn read(path: &'a str, text: &'a str) -> Result<KernelModule<'a>, Vec<Diagnostic>> {
        let (module, mut faults) = ptx::read(path, text.as_bytes());
        let Some(module) = module else { return Err(faults) };
        faults.retain(|fault| fault.severity == Severity::Error);
        Ok(KernelModule { path, text, module, faults })
    }

    /// The function of this name, which the module has, as each thread of a test executes it.
    pub(crate) fn function(
        &self,
        name: &str,
        arguments: &LaunchedArguments,
    ) -> Result<Function, Vec<LaunchError>> {
        let refused =
            |fault: &Diagnostic| Refused { line: fault.span.line, why: fault.message.clone() };
        let faults: Vec<Refused> = self.faults.iter().map(refused).collect();
        let function = lift::module::launched(&self.module, name, arguments, &faults);
        let function = function.expect("the name is that of a function of the module");
        function.map_err(|refusals| refusals.all().iter().map(|of| self.told(of)).collect())
    }

    /// What is assumed of a module that says less of itself than the model needs.
    pub(crate) fn assumed(&self) -> Vec<String> {
        let before = |target: &Target| target.sm < FIRST_TARGET;
        let old = self.module.target().filter(before).map(|target| {
            format!("`{target}` is taken for `sm_{FIRST_TARGET}`, the first target with the memory model")
        });
        let version = (!self.module.has_version())
            .then(|| "the module has no `.version`, and is taken for one of the newest".to_owned());
        old.into_iter().chain(version).collect()
    }

    /// Why a launch has no test: an error of the module where it has a line, or else `of_launch`, of what describes the launch.
    pub fn refused(
        &self,
        code: &'static str,
        error: LaunchError,
        of_launch: impl FnOnce(LaunchError) -> Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        match error.line {
            Some(_) => self.error(code, error),
            None => of_launch(error),
        }
    }

    /// An error as one of the module, with the line of the source that a compiler made its line of.
    pub fn error(&self, code: &'static str, error: LaunchError) -> Vec<Diagnostic> {
        let origin = error.line.and_then(|line| ptx::origins(self.text).of(line).cloned());
        let mut all = error.in_file(code, self.path, self.text);
        for diagnostic in &mut all {
            diagnostic.origin.clone_from(&origin);
        }
        all
    }

    /// Why a function is not judged. What the reader of modules has a remedy for keeps it.
    fn told(&self, refused: &Refused) -> LaunchError {
        let error = LaunchError::new(&refused.why).at(refused.line);
        let own =
            |fault: &&Diagnostic| fault.span.line == refused.line && fault.message == refused.why;
        match self.faults.iter().find(own) {
            Some(fault) => LaunchError { help: fault.help.clone(), ..error },
            None if refused.why.starts_with("32-bit addresses") => {
                error.help("compile for 64-bit addresses")
            }
            None if refused.why.contains("has no label") => {
                error.help("a branch leads to a label of its own function")
            }
            None if refused.why.contains("tensormap") => error.help(TENSORMAP),
            None => error.help(LEAVE_OUT),
        }
    }
}

/// 8: the memory model is that of `sm_70` and later.
const FIRST_TARGET: u16 = 70;

/// What helps where a tensormap is not that of an argument.
const TENSORMAP: &str = "give the parameter its tensor, --arg map='tensor(@a, u32, 8x4, box 8x2)', and copy tiles of it as `cp.async.bulk.tensor` of that parameter";

/// What helps where a part of a kernel cannot be read.
const LEAVE_OUT: &str =
    "compile the kernel without it: keep the accesses, barriers and branches whose order matters";
