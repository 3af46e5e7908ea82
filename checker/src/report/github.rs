//! GitHub annotations, as workflow commands: one line for each finding that is not a success.

use std::io::{self, Write};

use text::escape;

use super::finding::{Level, ReportCase, ReportFinding};
use super::{ReportWriter, Reportable};

pub(super) struct Github;

impl ReportWriter for Github {
    fn one(&mut self, one: &dyn Reportable, out: &mut dyn Write) -> io::Result<()> {
        let case = one.case();
        case.findings.iter().try_for_each(|finding| annotation(&case, finding, out))
    }
}

fn annotation(case: &ReportCase, finding: &ReportFinding, out: &mut dyn Write) -> io::Result<()> {
    let command = match finding.level {
        Level::Pass | Level::Skipped => return Ok(()),
        Level::Note => "notice",
        Level::Warning | Level::Undecided => "warning",
        Level::Error => "error",
    };
    let place = &finding.place;
    write!(out, "::{command} file={}", property(&place.file))?;
    if let Some(line) = place.line {
        write!(out, ",line={line}")?;
    }
    if let (Some(_), Some(column)) = (place.line, place.column) {
        write!(out, ",col={column}")?;
        if let Some(length) = place.length {
            write!(out, ",endColumn={}", column + length - 1)?;
        }
    }
    let mut message = case.message(finding);
    for related in &finding.related {
        let place = &related.place;
        message.extend(["\n", &related.text, ": ", &place.file]);
        message.extend(place.line.map(|line| format!(":{line}")));
    }
    if let Some(section) = finding.rule.section {
        message.extend(["\n", &section.to_string(), "\n", &section.url()]);
    }
    writeln!(out, ",title={}::{}", property(finding.rule.id), escaped(&message))
}

/// Escapes the characters that a workflow command cannot contain; of those that give a log's reader orders, all but line ends.
fn escaped(text: &str) -> String {
    escape::escaped_lines(text).replace('%', "%25").replace('\n', "%0A")
}

/// Also escapes the comma and the colon, which end a property.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::finding::{FilePosition, ReportRule};
    use super::*;
    use engine::exit::Exit;

    #[test]
    fn what_ends_a_command_or_a_property_is_escaped() {
        let rule = ReportRule { id: "a:b", text: "", section: None };
        let place = FilePosition {
            column: Some(3),
            length: Some(2),
            ..FilePosition::line("a,b:c%.ptx", Some(7))
        };
        let finding = ReportFinding::new(rule, Level::Error, "100%, really:\nno\u{202e}", place);
        let case = ReportCase {
            subject: "f".to_owned(),
            file: "a".to_owned(),
            exit: Exit::Differs,
            seconds: None,
            findings: Vec::new(),
            notes: Vec::new(),
        };
        let mut out = Vec::new();
        annotation(&case, &finding, &mut out).expect("memory can be written");
        assert_eq!(
            String::from_utf8(out).expect("it is text"),
            "::error file=a%2Cb%3Ac%25.ptx,line=7,col=3,endColumn=4,title=a%3Ab\
             ::f: 100%25, really:%0Ano\\u{202e}\n"
        );
    }
}
