//! SARIF 2.1.0, a format of findings that code scanning and editors read.
//!
//! Each finding is a result, including findings that pass: readers that ignore passes recognize them by their
//! `kind`. Columns count characters.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::finding::{FilePosition, Level, ReportCase, ReportFinding};
use super::{CommandRun, ReportWriter, Reportable};
use engine::exit::Exit;
use text::fix::{TextEdit, TextFix};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Default)]
pub(super) struct Sarif {
    results: Vec<Res>,
    /// The rules, by name.
    rules: BTreeMap<&'static str, SarifRule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [RunObject; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunObject {
    tool: Tool,
    automation_details: AutomationDetails,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Vec<Res>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    information_uri: Option<&'static str>,
    rules: Vec<SarifRule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: &'static str,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
}

/// Distinguishes the commands, so that a run of one command does not replace the results of another.
#[derive(Serialize)]
struct AutomationDetails {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Res {
    rule_id: &'static str,
    rule_index: usize,
    kind: &'static str,
    level: &'static str,
    message: Message,
    locations: [SarifLocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<SarifLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
struct SarifLocation {
    #[serde(rename = "physicalLocation")]
    physical: PhysicalLocation,
    #[serde(rename = "logicalLocations", skip_serializing_if = "Option::is_none")]
    logical: Option<[LogicalLocation; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
    /// The column after the last character.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
}

/// Edits that repair what a result is about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    description: Message,
    artifact_changes: [ArtifactChange; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: Vec<SarifReplacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifReplacement {
    deleted_region: DeletedRegion,
    inserted_content: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletedRegion {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    /// The column after the last character.
    end_column: usize,
}

/// The reason for which a result is hidden.
#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    justification: &'static str,
}

impl ReportWriter for Sarif {
    fn has_errors(&self) -> bool {
        true
    }

    fn one(&mut self, one: &dyn Reportable, _: &mut dyn Write) -> io::Result<()> {
        let case = one.case();
        for finding in &case.findings {
            let rule = self.rules.entry(finding.rule.id).or_insert_with(|| SarifRule {
                id: finding.rule.id,
                short_description: Message { text: finding.rule.text.to_owned() },
                help_uri: None,
            });
            if rule.help_uri.is_none() {
                rule.help_uri = finding.rule.section.map(|section| section.url());
            }
            self.results.push(result(&case, finding));
        }
        Ok(())
    }

    fn end(&mut self, run: &CommandRun<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut results = std::mem::take(&mut self.results);
        let ids: Vec<&str> = self.rules.keys().copied().collect();
        for result in &mut results {
            // The number of rules is known only now.
            result.rule_index = ids.partition_point(|id| *id < result.rule_id);
        }
        let repository = env!("CARGO_PKG_REPOSITORY");
        let driver = Driver {
            name: "causeway",
            version: env!("CARGO_PKG_VERSION"),
            information_uri: Some(repository).filter(|uri| !uri.is_empty()),
            rules: std::mem::take(&mut self.rules).into_values().collect(),
        };
        let invocation = Invocation {
            execution_successful: !matches!(run.exit, Exit::BadInput | Exit::Disagreement),
            exit_code: run.exit.code(),
        };
        let run = RunObject {
            tool: Tool { driver },
            automation_details: AutomationDetails { id: format!("causeway/{}/", run.command) },
            invocations: [invocation],
            column_kind: "unicodeCodePoints",
            results,
        };
        let log = Log { schema: SCHEMA, version: version(), runs: [run] };
        serde_json::to_writer_pretty(&mut *out, &log)?;
        writeln!(out)
    }
}

/// The version of the format, taken from the name of its schema.
fn version() -> &'static str {
    let name = SCHEMA.rsplit('-').next().unwrap_or_default();
    name.trim_end_matches(".json")
}

fn result(case: &ReportCase, finding: &ReportFinding) -> Res {
    // Only failures have a level other than `none`.
    let (kind, level) = match finding.level {
        Level::Pass => ("pass", "none"),
        Level::Skipped => ("notApplicable", "none"),
        Level::Undecided => ("open", "none"),
        Level::Note => ("fail", "note"),
        Level::Warning => ("fail", "warning"),
        Level::Error => ("fail", "error"),
    };
    let related = finding.related.iter().map(|related| SarifLocation {
        message: Some(Message { text: related.text.clone() }),
        ..location(&related.place)
    });
    let name = LogicalLocation { fully_qualified_name: case.subject.clone() };
    let suppression = Suppression { kind: "external", justification: "it is in the baseline" };
    Res {
        rule_id: finding.rule.id,
        rule_index: 0,
        kind,
        level,
        message: Message { text: case.message(finding) },
        locations: [SarifLocation { logical: Some([name]), ..location(&finding.place) }],
        related_locations: related.collect(),
        suppressions: if finding.known { vec![suppression] } else { Vec::new() },
        fixes: finding.fix.iter().map(|fix| repair(finding, fix)).collect(),
        properties: finding.facts.iter().cloned().collect(),
    }
}

fn repair(finding: &ReportFinding, fix: &TextFix) -> SarifFix {
    let replacement = |edit: &TextEdit| SarifReplacement {
        deleted_region: DeletedRegion {
            start_line: edit.start.line,
            start_column: edit.start.column,
            end_line: edit.end.line,
            end_column: edit.end.column,
        },
        inserted_content: Message { text: edit.text.clone() },
    };
    let help = finding.remarks.iter().find(|(name, _)| *name == "help");
    let description = help.map_or("correct it", |(_, help)| help);
    let description =
        if fix.safe { description.to_owned() } else { format!("perhaps {description}") };
    SarifFix {
        description: Message { text: description },
        artifact_changes: [ArtifactChange {
            artifact_location: ArtifactLocation { uri: uri(&finding.place.file) },
            replacements: fix.edits.iter().map(replacement).collect(),
        }],
    }
}

fn location(place: &FilePosition) -> SarifLocation {
    let region = place.line.map(|start_line| Region {
        start_line,
        start_column: place.column,
        end_column: place.column.zip(place.length).map(|(column, length)| column + length),
    });
    let artifact_location = ArtifactLocation { uri: uri(&place.file) };
    SarifLocation {
        physical: PhysicalLocation { artifact_location, region },
        logical: None,
        message: None,
    }
}

/// A path as a URI: relative where it is relative.
fn uri(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for (index, byte) in path.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            // A Windows drive.
            b':' if cfg!(windows) && index == 1 => {
                uri.insert_str(0, "file:///");
                uri.push(':');
            }
            other => uri.extend([format!("%{other:02X}")]),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_is_a_uri_whatever_its_characters() {
        assert_eq!(uri("litmus/suite/a+b.litmus"), "litmus/suite/a%2Bb.litmus");
        assert_eq!(uri("/tmp/a b%é.ptx"), "file:///tmp/a%20b%25%C3%A9.ptx");
        assert_eq!(uri("-"), "-");
    }
}
