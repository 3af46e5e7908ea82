//! The files that a command line names.

use std::path::{Path, PathBuf};

use std::io;

use super::{Check, Cli, Command, Ptx, Sass};
use crate::options::{CompilerArgs, Judging};
use crate::output::{self, InputPath};
use crate::words;
use crate::words::args::WordsArgs;

/// Where an option or an argument has files to read.
struct NamedInputs<'a>(Vec<InputPath<'a>>);

impl<'a> NamedInputs<'a> {
    fn add(&mut self, path: &'a Path) {
        self.below(std::iter::once(path), "");
    }

    fn maybe(&mut self, path: Option<&'a PathBuf>) {
        self.below(path.into_iter().map(PathBuf::as_path), "");
    }

    fn model(&mut self, judging: &'a Judging) {
        self.maybe(judging.model.as_ref());
    }

    /// Files, and those with an extension below folders.
    fn below(&mut self, paths: impl IntoIterator<Item = &'a Path>, extension: &'a str) {
        self.0.extend(paths.into_iter().map(|path| InputPath { path, extension }));
    }

    fn tests(&mut self, paths: &'a [PathBuf]) {
        self.below(paths.iter().map(PathBuf::as_path), "litmus");
    }

    fn programs(&mut self, compilers: &'a CompilerArgs) {
        self.below(compilers.programs().map(PathBuf::as_path), "");
    }

    /// Tests, or a module with functions of it.
    fn words_or_tests(&mut self, paths: &'a [PathBuf], asked: &'a WordsArgs) {
        self.programs(&asked.compilers);
        match words::in_paths(paths, asked) {
            Some((module, _)) => self.add(module),
            None => self.tests(paths),
        }
    }
}

impl Cli {
    /// Refuses an output that is an input, or another output.
    pub fn check_outputs(&self) -> io::Result<()> {
        output::check(&self.inputs(), self.outputs())
    }

    /// What is read.
    fn inputs(&self) -> Vec<InputPath<'_>> {
        let mut all = NamedInputs(Vec::new());
        all.maybe(self.config.as_ref());
        match &self.command {
            Command::Check(check) => {
                all.words_or_tests(&check.paths, &check.asked);
                all.model(&check.judging);
            }
            Command::Explain(explain) => {
                all.add(&explain.path);
                all.programs(&explain.asked.compilers);
                all.model(&explain.judging);
            }
            Command::Fix(fix) => {
                all.add(&fix.path);
                all.programs(&fix.asked.compilers);
                all.model(&fix.judging);
            }
            Command::Verify(verify) => {
                all.below(verify.paths.iter().map(PathBuf::as_path), "");
                all.programs(&verify.compilers);
                all.model(&verify.judging);
            }
            Command::Litmus(litmus) => {
                all.add(&litmus.path);
                all.programs(&litmus.asked.compilers);
            }
            Command::Fmt(fmt) => all.tests(&fmt.paths),
            Command::Gen(generated) => all.model(&generated.judging),
            Command::Diff(diff) => {
                all.tests(&diff.tests);
                for side in [&diff.one, &diff.other] {
                    let model = side.split('@').next().unwrap_or_default();
                    let table = side.split_once(':').map(|(_, table)| table);
                    all.below([model, table.unwrap_or_default()].map(Path::new), "");
                }
            }
            Command::Export(export) => all.tests(&export.paths),
            Command::Compare(compare) => {
                all.add(&compare.log);
                all.tests(&compare.paths);
                all.model(&compare.judging);
            }
            // A campaign goes on from the state that it saved.
            Command::Fuzz(fuzz) => all.below(fuzz.out.as_deref(), "json"),
            Command::Merge(merge) => all.below(merge.folders.iter().map(PathBuf::as_path), "json"),
            Command::Model(model) => all.maybe(model.model.as_ref()),
            Command::Lint(lint) => all.below(lint.paths.iter().map(PathBuf::as_path), "ptx"),
            Command::Lower(lower) => {
                let made = lower.to.as_ref().filter(|_| lower.llc.is_none());
                for path in [&lower.rows, &lower.table, &lower.from, &lower.baseline] {
                    all.maybe(path.as_ref());
                }
                for path in [&lower.llc, &lower.ptxas, &lower.nvdisasm] {
                    all.maybe(path.as_ref());
                }
                all.maybe(made);
                all.tests(&lower.tests);
            }
            Command::Explore(explore) => {
                all.words_or_tests(&explore.paths, &explore.asked);
                all.maybe(explore.table.as_ref());
                all.maybe(explore.seen.as_ref());
                all.model(&explore.judging);
            }
            Command::Serve(serve) => {
                all.maybe(serve.path.as_ref());
                all.programs(&serve.asked.compilers);
                all.model(&serve.judging);
            }
            Command::Sass(Sass::Read(read)) => {
                all.below(read.paths.iter().map(PathBuf::as_path), "sass");
            }
            Command::Readings
            | Command::Schema(_)
            | Command::Ptx(Ptx::Explain(_))
            | Command::Sass(Sass::Decode(_) | Sass::Explain(_)) => {}
        }
        all.0
    }

    /// The files that are written.
    fn outputs(&self) -> Vec<&Path> {
        let mut all = vec![&self.output];
        if let Command::Explore(explore) = &self.command {
            all.push(&explore.timeline);
        } else if let Command::Verify(verify) = &self.command {
            all.push(&verify.page);
        } else if let Command::Lower(lower) = &self.command {
            all.push(&lower.page);
            all.extend(lower.llc.is_some().then_some(&lower.to));
        }
        all.into_iter().filter_map(|path| path.as_deref()).collect()
    }

    /// Whether only a signal ends the run.
    pub fn is_endless(&self) -> bool {
        matches!(&self.command, Command::Serve(_) | Command::Check(Check { watch: true, .. }))
    }
}
