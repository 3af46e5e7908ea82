//! `causeway litmus`: tests made of functions of a module, and what a module has.

use std::fmt::Write as _;
use std::io::{self, Write};

use engine::exit::Exit;
use schemars::JsonSchema;
use serde::Serialize;
use text::escape::escaped;
use verify::{ModuleSurvey, ProposedTest, SurveyedFunction};

use super::args::{Litmus, LitmusFormat};
use super::{TestSource, Unread, print_notes, source};
use crate::complaints::complain_of;
use crate::input::{self, quoted};
use crate::lines::{self, LineKind};
use crate::lower::drive::module::{module_name, module_text};

pub(crate) fn command(
    litmus: &Litmus,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let path = input::shown(&litmus.path);
    let Some(words) = &litmus.words else { return list(litmus, &path, out, err) };
    let made = match source(&litmus.path, Some(words), &litmus.asked, "litmus", err) {
        Ok(TestSource { made: Some(made), .. }) => made,
        Ok(TestSource { made: None, .. }) => return Ok(Exit::BadInput),
        Err(unread) => return complain(&path, &unread, err),
    };
    print_notes(&made, err)?;
    let composed = &made.composed;
    match litmus.format {
        LitmusFormat::Text => write!(out, "{}", composed.text)?,
        LitmusFormat::Json => {
            let threads = (0..composed.threads.len()).map(|column| ColumnObject {
                function: &composed.kernels[composed.threads[column].kernel],
                lines: (1..=composed.text.lines().count())
                    .filter_map(|line| {
                        let module_line = composed.module_line(column, line)?;
                        Some(RowObject { line, module_line })
                    })
                    .collect(),
            });
            let object = LitmusObject {
                file: &path,
                test: Some(TestObject {
                    text: &composed.text,
                    threads: threads.collect(),
                    notes: &composed.notes,
                }),
                functions: Vec::new(),
                proposals: Vec::new(),
            };
            lines::write(LineKind::Litmus, object, out)?;
        }
    }
    Ok(Exit::AsExpected)
}

/// Says why there is no test.
pub(crate) fn complain(path: &str, unread: &Unread, err: &mut dyn Write) -> io::Result<Exit> {
    match unread {
        Unread::Io(error) => writeln!(err, "error: {path}: {error}")?,
        Unread::Diagnostics(all) => complain_of(all, err)?,
    }
    Ok(Exit::BadInput)
}

/// Lists the functions of a module.
fn list(litmus: &Litmus, path: &str, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(option) = litmus.asked.first_option() {
        writeln!(err, "error: `{option}` is about functions, and none are given")?;
        writeln!(err, "  = help: causeway litmus {} 'f(x) || g(x)' {option} …", quoted(path))?;
        return Ok(Exit::BadInput);
    }
    let text = match module_text(&litmus.path, &litmus.asked.compilers, err) {
        Ok(text) => text,
        Err(error) => return complain(path, &Unread::Io(error), err),
    };
    let module = module_name(&litmus.path);
    let survey = match verify::survey(&module, &text) {
        Ok(survey) => survey,
        Err(diagnostics) => return complain(path, &Unread::Diagnostics(diagnostics), err),
    };
    if survey.functions.is_empty() {
        writeln!(err, "error: {path}: the module has no function with a body")?;
        writeln!(err, "  = help: a module of PTX has kernels, `.entry`, or functions, `.func`")?;
        return Ok(Exit::BadInput);
    }
    let commands: Vec<String> =
        survey.proposals.iter().map(|test| proposed_command(path, litmus, test)).collect();
    match litmus.format {
        LitmusFormat::Text => print_survey(&escaped(&module), &survey, &commands, out)?,
        LitmusFormat::Json => {
            let object = LitmusObject {
                file: path,
                test: None,
                functions: survey.functions.iter().map(FunctionObject::new).collect(),
                proposals: commands,
            };
            lines::write(LineKind::Litmus, object, out)?;
        }
    }
    Ok(Exit::AsExpected)
}

/// The command that judges a proposal.
fn proposed_command(path: &str, litmus: &Litmus, test: &ProposedTest) -> String {
    let mut command = "causeway check".to_owned();
    if test.question.is_none() {
        command += " --property no-data-race";
    }
    write!(command, " {} {}", quoted(path), quoted(&test.words)).expect("strings can be written");
    if let Some((question, text)) = &test.question {
        write!(command, " {} {}", question.option(), quoted(text)).expect("strings can be written");
    }
    for word in litmus.asked.compilers.words() {
        command += " ";
        command += &word;
    }
    command
}

fn print_survey(
    path: &str,
    survey: &ModuleSurvey,
    commands: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    for function in &survey.functions {
        let SurveyedFunction { name, parameters, .. } = function;
        let kind = if name.kernel { "kernel" } else { "function" };
        let own =
            if name.plain() == name.name { String::new() } else { format!(", {}", name.name) };
        writeln!(out, "{path}:{}: {kind} `{}`{own}", name.line, name.plain())?;
        let prefix = format!("{}_", name.name);
        let parameter = |(name, bytes): &(String, Option<u32>)| {
            let bytes = match bytes {
                Some(1) => "1 byte".to_owned(),
                Some(bytes) => format!("{bytes} bytes"),
                None => "? bytes".to_owned(),
            };
            format!("{} ({bytes})", name.strip_prefix(&prefix).unwrap_or(name))
        };
        let all: Vec<String> = parameters.iter().map(parameter).collect();
        writeln!(
            out,
            "  parameters: {}",
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        )?;
        for (what, lines) in [
            ("strong accesses", &function.strong),
            ("fences", &function.fences),
            ("barriers", &function.barriers),
        ] {
            if !lines.is_empty() {
                writeln!(out, "  {what}: {} ({})", lines.len(), in_lines(lines))?;
            }
        }
        if let Some((line, why)) = &function.refused {
            writeln!(out, "  no test has it: {path}:{line}: {why}")?;
        }
    }
    if commands.is_empty() {
        return writeln!(
            out,
            "\nNo two functions signal each other through parameters; `causeway verify` judges launches of one kernel."
        );
    }
    writeln!(out, "\nTests of functions that may signal each other:")?;
    commands.iter().try_for_each(|command| writeln!(out, "  {command}"))
}

/// `lines 3, 7, 9 and 4 more`
fn in_lines(lines: &[usize]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = lines.iter().take(MOST).map(ToString::to_string).collect();
    let more = lines.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} {}{more}", if lines.len() == 1 { "line" } else { "lines" }, shown.join(", "))
}

/// A test that was made of functions, or the functions of a module.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LitmusObject<'a> {
    file: &'a str,
    /// The test, if functions are given.
    test: Option<TestObject<'a>>,
    /// Those of the module, if none are given.
    functions: Vec<FunctionObject<'a>>,
    /// Commands that judge functions that may signal each other.
    proposals: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct TestObject<'a> {
    text: &'a str,
    /// In the order of columns.
    threads: Vec<ColumnObject<'a>>,
    /// Assumptions about the functions.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct ColumnObject<'a> {
    /// Its name in the module.
    function: &'a str,
    lines: Vec<RowObject>,
}

/// A row with an instruction in this column.
#[derive(Serialize, JsonSchema)]
struct RowObject {
    /// Of the test, from 1.
    line: usize,
    /// Of the module, from 1.
    module_line: usize,
}

#[derive(Serialize, JsonSchema)]
struct FunctionObject<'a> {
    /// In the module.
    name: &'a str,
    /// With its parameters; `null` if it is not mangled.
    demangled: Option<&'a str>,
    kernel: bool,
    line: usize,
    parameters: Vec<ParameterObject<'a>>,
    /// The lines of strong accesses.
    strong: &'a [usize],
    fences: &'a [usize],
    barriers: &'a [usize],
    /// Why no test has it.
    refused: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct ParameterObject<'a> {
    name: &'a str,
    /// `null` if the module does not write it as a number.
    bytes: Option<u32>,
}

impl<'a> FunctionObject<'a> {
    fn new(function: &'a SurveyedFunction) -> FunctionObject<'a> {
        let parameters = function.parameters.iter();
        FunctionObject {
            name: &function.name.name,
            demangled: function.name.demangled.as_deref(),
            kernel: function.name.kernel,
            line: function.name.line,
            parameters: parameters
                .map(|(name, bytes)| ParameterObject { name, bytes: *bytes })
                .collect(),
            strong: &function.strong,
            fences: &function.fences,
            barriers: &function.barriers,
            refused: function.refused.as_ref().map(|(_, why)| &why[..]),
        }
    }
}
