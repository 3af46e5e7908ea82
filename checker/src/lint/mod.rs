//! `causeway lint`: checks each memory instruction of PTX modules against the rules.

pub mod args;

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use ptx::{self, FixChoice, LintOptions, Linted};
use schemars::JsonSchema;
use serde::Serialize;
use text::Diagnostic;
use text::diagnostic::Severity;
use text::fix::{TextEdit, TextFix};
use text::origin::Origin;

use crate::complaints;
use crate::format::diff::unified;
use crate::input;
use crate::kind::FileKind;
use crate::lines::{self, LineKind};
use crate::lint::args::Lint;
use crate::lint_rules;
use crate::output::replace;
use crate::report::finding::{
    FilePosition, Level, ReportCase, ReportFinding, ReportRule, UnreadInput, UnreadReason,
};
use crate::report::{CommandRun, ReportWriter, Reportable, RunSummary, count_of};
use engine::exit::Exit;
use engine::interrupt;

/// One line of `--format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Object")]
pub(crate) struct LintObject<'a> {
    file: Cow<'a, str>,
    /// From 1; 0 if the file cannot be opened.
    line: usize,
    column: usize,
    severity: &'static str,
    /// The rule that is broken, as `ld-scope-missing`.
    code: &'static str,
    /// The number of the section that has the rule.
    section: Option<&'static str>,
    message: Cow<'a, str>,
    /// What stands at that place.
    note: &'a str,
    /// What to write instead.
    help: Option<&'a str>,
    /// The line of the program that the module was compiled from, `kernel.cu:24`, if it has debugging information.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Edits of the file that repair it.
    fix: Option<LintFix<'a>>,
}

/// Edits that together repair one error.
#[derive(Serialize, JsonSchema)]
struct LintFix<'a> {
    /// Whether the edits keep the meaning, so that `--fix` makes them without `--unsafe-fixes`.
    safe: bool,
    edits: Vec<LintEdit<'a>>,
}

/// A part of the file, and what to write instead of it.
#[derive(Serialize, JsonSchema)]
struct LintEdit<'a> {
    /// From 1, as the columns, which count characters.
    line: usize,
    column: usize,
    end_line: usize,
    /// The column after the last character.
    end_column: usize,
    text: &'a str,
}

impl<'a> From<&'a TextFix> for LintFix<'a> {
    fn from(fix: &'a TextFix) -> LintFix<'a> {
        let edit = |edit: &'a TextEdit| LintEdit {
            line: edit.start.line,
            column: edit.start.column,
            end_line: edit.end.line,
            end_column: edit.end.column,
            text: &edit.text,
        };
        LintFix { safe: fix.safe, edits: fix.edits.iter().map(edit).collect() }
    }
}

impl<'a> From<&'a Diagnostic> for LintObject<'a> {
    fn from(diagnostic: &'a Diagnostic) -> LintObject<'a> {
        LintObject {
            file: (&*diagnostic.path).into(),
            line: diagnostic.span.line,
            column: diagnostic.span.column,
            severity: diagnostic.severity.name(),
            code: diagnostic.code,
            section: diagnostic.section.map(|section| section.number),
            message: (&*diagnostic.message).into(),
            note: &diagnostic.note,
            help: diagnostic.help.as_deref(),
            source: diagnostic
                .origin
                .as_ref()
                .map(|Origin { file, line }| format!("{file}:{line}")),
            fix: diagnostic.fix.as_ref().map(LintFix::from),
        }
    }
}

impl LintObject<'_> {
    fn unreadable(file: String, error: &io::Error) -> LintObject<'static> {
        LintObject {
            file: file.into(),
            line: 0,
            column: 0,
            severity: Severity::Error.name(),
            code: "unreadable",
            section: None,
            message: error.to_string().into(),
            note: "",
            help: None,
            source: None,
            fix: None,
        }
    }
}

/// The result of one file.
struct LintedModule<'a> {
    path: &'a Path,
    linted: io::Result<Linted>,
}

impl LintedModule<'_> {
    /// The reason for which nothing was judged, if the file cannot be read.
    fn unread(&self) -> Option<UnreadInput<'_>> {
        let error = self.linted.as_ref().err()?;
        Some(UnreadInput { path: self.path, why: UnreadReason::Unreadable(error) })
    }

    fn exit(&self) -> Exit {
        match &self.linted {
            Ok(linted) if linted.unreadable => Exit::BadInput,
            Ok(linted) if linted.errors() > 0 => Exit::Differs,
            Ok(_) => Exit::AsExpected,
            Err(_) => Exit::BadInput,
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        self.linted.as_ref().map_or(&[], |linted| &linted.diagnostics)
    }

    fn found(&self, linted: &Linted) -> ReportCase {
        let file = self.path.to_string_lossy().into_owned();
        let mut findings: Vec<ReportFinding> =
            linted.diagnostics.iter().map(ReportFinding::from).collect();
        if findings.is_empty() {
            let (level, message) = match linted.instructions {
                0 => (Level::Skipped, "it has no memory instructions that lint checks".to_owned()),
                count => (Level::Pass, format!("{}: legal", count_of(count, "memory instruction"))),
            };
            findings.push(ReportFinding::new(LEGAL, level, message, FilePosition::file(&*file)));
        }
        let warnings = linted.diagnostics.iter().filter(|one| one.severity != Severity::Error);
        let notes = warnings.map(|one| {
            format!("{}: {} (line {})", one.severity.name(), one.message, one.span.line)
        });
        let exit = self.exit();
        ReportCase {
            subject: file.clone(),
            file,
            exit,
            seconds: None,
            findings,
            notes: notes.collect(),
        }
    }
}

/// What is the same in all copies that a compiler makes of one instruction: numbers of registers and offsets are not.
fn copied(diagnostic: &Diagnostic) -> String {
    let here = diagnostic.excerpts.iter().find(|excerpt| excerpt.line == diagnostic.span.line);
    let written = here.map_or("", |excerpt| &excerpt.text);
    let mut text = match &diagnostic.origin {
        Some(origin) => format!("{}:{} ", origin.file, origin.line),
        None => String::new(),
    };
    for part in [written, &diagnostic.message] {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.%$".contains(c);
        let mut first = None;
        for c in part.chars() {
            first = if is_name(c) { first.or(Some(c)) } else { None };
            let numbered =
                first.is_some_and(|first| first.is_ascii_digit() || "%$".contains(first));
            if !(numbered && c.is_ascii_digit()) {
                text.push(c);
            }
        }
        text.push('\n');
    }
    text
}

const LEGAL: ReportRule = ReportRule {
    id: "legal",
    text: "memory instructions are legal, by the document and by ptxas",
    section: None,
};

impl Reportable for LintedModule<'_> {
    fn case(&self) -> ReportCase {
        match &self.linted {
            Ok(linted) => self.found(linted),
            Err(error) => {
                UnreadInput { path: self.path, why: UnreadReason::Unreadable(error) }.case()
            }
        }
    }

    /// Of the copies of one instruction, as a loop is unrolled, the first one is shown; and of warnings of one kind, which a compiler
    /// earns wherever it writes such an instruction.
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut shown: Vec<Diagnostic> = Vec::new();
        let mut by_code: HashMap<(&str, String), usize> = HashMap::new();
        for diagnostic in self.diagnostics() {
            let one = match diagnostic.severity {
                Severity::Error => copied(diagnostic),
                Severity::Warning | Severity::Note => diagnostic.message.clone(),
            };
            let key = (diagnostic.code, one);
            match by_code.entry(key) {
                Entry::Occupied(first) => shown[*first.get()].repeated.push(diagnostic.span.line),
                Entry::Vacant(free) => {
                    free.insert(shown.len());
                    shown.push(diagnostic.clone());
                }
            }
        }
        shown.iter().try_for_each(|diagnostic| writeln!(out, "{diagnostic:#}"))
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.unread() {
            Some(unread) => unread.complain(out),
            None => self.text(out),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Err(error) = &self.linted {
            let file = self.path.to_string_lossy().into_owned();
            return lines::write(LineKind::Lint, LintObject::unreadable(file, error), out);
        }
        let mut objects = self.diagnostics().iter().map(LintObject::from);
        objects.try_for_each(|object| lines::write(LineKind::Lint, object, out))
    }
}

/// The last line of `--format json`: what was judged, and what was not.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LintSummary {
    files: usize,
    /// Of these, how many could not be read.
    unread: usize,
    /// And how many have something in them that could not.
    read_in_part: usize,
    /// How many memory instructions were judged.
    judged: usize,
    errors: usize,
    warnings: usize,
    /// Corrections that were made with `--fix`.
    fixed: usize,
    /// Corrections that can be made of what is left: those that keep the meaning, and the others.
    safe_fixes: usize,
    unsafe_fixes: usize,
    /// The corrections that were tried.
    #[serde(skip)]
    tried: Option<FixChoice>,
    /// Instructions that access memory or synchronize threads and were not judged, by name.
    not_judged: BTreeMap<String, usize>,
}

/// Judges all files. The worst result determines the exit code.
pub fn command(lint: &Lint, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(code) = &lint.explain {
        return lint_rules::explain(code, out, err);
    }
    let start = Instant::now();
    let files = match input::find(&lint.paths, "ptx") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() {
        writeln!(err, "error: no .ptx file found in the given paths")?;
        return Ok(Exit::BadInput);
    }
    let options = LintOptions { isa: lint.ptx_isa, target: lint.target, strict: lint.strict };
    let choice = if lint.unsafe_fixes { FixChoice::All } else { FixChoice::Safe };
    let mut summary = LintSummary {
        files: files.len(),
        unread: 0,
        read_in_part: 0,
        judged: 0,
        errors: 0,
        warnings: 0,
        fixed: 0,
        safe_fixes: 0,
        unsafe_fixes: 0,
        tried: (lint.fix || lint.diff).then_some(choice),
        not_judged: BTreeMap::new(),
    };
    let (mut report, mut exit) = (lint.format.report(), Exit::AsExpected);
    let mut printed = false;
    for path in files.iter().take_while(|_| !interrupt::raised()) {
        let bytes = input::read_kind(path, FileKind::Ptx);
        if lint.fix || lint.diff {
            let fixed = bytes.map(|bytes| FixedFile::new(path, bytes, options, choice));
            if lint.diff {
                exit = exit.max(diff(path, fixed, &mut summary, out, err)?);
                continue;
            }
            if input::is_standard(path)
                && let Ok(fixed) = &fixed
            {
                // What is left goes to the other stream.
                write!(out, "{}", String::from_utf8_lossy(fixed.text()))?;
                let module = LintedModule { path, linted: Ok(fixed.linted.clone()) };
                module.text(err)?;
                exit = exit.max(module.exit());
                printed = true;
                continue;
            }
            let linted = fixed.and_then(|fixed| {
                if let Some(text) = &fixed.changed {
                    replace(path, text.as_bytes())?;
                    summary.fixed += fixed.count;
                }
                Ok(fixed.linted)
            });
            exit = exit.max(one(
                &LintedModule { path, linted },
                report.as_mut(),
                &mut summary,
                out,
                err,
            )?);
            continue;
        }
        let linted = bytes.map(|bytes| ptx::lint(&path.to_string_lossy(), &bytes, options));
        exit =
            exit.max(one(&LintedModule { path, linted }, report.as_mut(), &mut summary, out, err)?);
    }
    if printed && files.len() == 1 {
        return Ok(exit);
    }
    if lint.diff {
        out.flush()?;
        summary.text(err)?;
        return Ok(exit);
    }
    report.sum(&summary, out)?;
    if lint.deny_warnings && summary.warnings > 0 {
        exit = exit.max(Exit::Differs);
    }
    let seconds = start.elapsed().as_secs_f64();
    report.end(&CommandRun { command: "lint", exit, seconds }, out)?;
    Ok(exit)
}

/// Reports one module.
fn one(
    module: &LintedModule<'_>,
    report: &mut dyn ReportWriter,
    summary: &mut LintSummary,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    complaints::complain(module.unread().as_ref(), report, out, err)?;
    report.one(module, out)?;
    summary.add(module);
    Ok(module.exit())
}

/// A module with its corrections.
struct FixedFile {
    before: Vec<u8>,
    /// The corrected module, if there is something to correct.
    changed: Option<String>,
    count: usize,
    /// What is said of the corrected module.
    linted: Linted,
}

impl FixedFile {
    fn new(path: &Path, before: Vec<u8>, options: LintOptions, choice: FixChoice) -> FixedFile {
        let fixed = ptx::fix(&path.to_string_lossy(), &before, options, choice);
        FixedFile { before, changed: fixed.text, count: fixed.fixed, linted: fixed.linted }
    }

    fn text(&self) -> &[u8] {
        self.changed.as_ref().map_or(&self.before, |text| text.as_bytes())
    }
}

/// Prints the corrections of a file.
fn diff(
    path: &Path,
    fixed: io::Result<FixedFile>,
    summary: &mut LintSummary,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let changes = match &fixed {
        Ok(FixedFile { before, changed: Some(text), .. }) => {
            unified(&input::shown(path), "fixed", &String::from_utf8_lossy(before), text)
        }
        Ok(_) | Err(_) => String::new(),
    };
    write!(out, "{changes}")?;
    summary.fixed += fixed.as_ref().map_or(0, |fixed| fixed.count);
    let module = LintedModule { path, linted: fixed.map(|fixed| fixed.linted) };
    if let Some(unread) = module.unread() {
        unread.complain(err)?;
    }
    summary.add(&module);
    let exit = if changes.is_empty() { Exit::AsExpected } else { Exit::Differs };
    Ok(exit.max(module.exit()))
}

impl LintSummary {
    fn add(&mut self, module: &LintedModule<'_>) {
        let Ok(linted) = &module.linted else {
            self.unread += 1;
            return;
        };
        self.unread += usize::from(linted.unread);
        self.read_in_part += usize::from(linted.unreadable && !linted.unread);
        self.judged += linted.instructions;
        self.errors += linted.errors();
        self.warnings += linted.warnings();
        let fixes = || linted.diagnostics.iter().filter_map(|one| one.fix.as_ref());
        self.safe_fixes += fixes().filter(|fix| fix.safe).count();
        self.unsafe_fixes += fixes().filter(|fix| !fix.safe).count();
        for (name, count) in &linted.not_judged {
            *self.not_judged.entry(name.clone()).or_insert(0) += count;
        }
    }
}

impl RunSummary for LintSummary {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        lines::write(LineKind::LintSummary, self, out)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = count_of(self.files, "file");
        let judged = count_of(self.judged, "memory instruction");
        let (errors, warnings) =
            (count_of(self.errors, "error"), count_of(self.warnings, "warning"));
        if self.unread == self.files {
            return writeln!(
                out,
                "{files}, {}",
                if self.files == 1 { "not read" } else { "none read" }
            );
        }
        write!(out, "{files}")?;
        for (count, how) in [(self.unread, "not read"), (self.read_in_part, "read in part")] {
            match (count, self.files) {
                (0, _) => {}
                (_, 1) => write!(out, ", {how}")?,
                (count, _) => write!(out, ", {count} of them {how}")?,
            }
        }
        write!(out, ", {judged}: ")?;
        // A count of no errors would suggest that something was checked.
        if (self.judged, self.errors, self.warnings) == (0, 0, 0) {
            write!(out, "nothing was judged")?;
        } else {
            write!(out, "{errors}, {warnings}")?;
        }
        if self.fixed > 0 {
            write!(out, "; {} corrected", self.fixed)?;
        }
        if !self.not_judged.is_empty() {
            let count: usize = self.not_judged.values().sum();
            let names: Vec<&str> = self.not_judged.keys().map(String::as_str).collect();
            write!(out, "; {count} not judged: {}", names.join(", "))?;
        }
        writeln!(out)?;
        let corrections = |count| count_of(count, "correction");
        // What is left of the corrections that were tried was not kept.
        let (tried, safe, other) = match self.tried {
            Some(FixChoice::All) => (self.safe_fixes + self.unsafe_fixes, 0, 0),
            Some(FixChoice::Safe) => (self.safe_fixes, 0, self.unsafe_fixes),
            None => (0, self.safe_fixes, self.unsafe_fixes),
        };
        match tried {
            0 => {}
            1 => writeln!(out, "1 correction is not made: another rule would be broken")?,
            tried => {
                writeln!(out, "{tried} corrections are not made: other rules would be broken")?;
            }
        }
        match (safe, other) {
            (0, 0) => {}
            (safe, 0) => writeln!(out, "--fix makes {}", corrections(safe))?,
            (0, other) => writeln!(out, "--fix --unsafe-fixes makes {}", corrections(other))?,
            (safe, other) => {
                writeln!(out, "--fix makes {}, --unsafe-fixes {other} more", corrections(safe))?;
            }
        }
        writeln!(
            out,
            "lint checks that memory instructions are legal, not that the program is correct"
        )
    }
}
