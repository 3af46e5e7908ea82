//! Every format of every command that finds something: well-formed, and all of them say the same.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use checker::report::ReportFormat;
use clap::ValueEnum;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::Value;

use crate::suite;

const MESSAGE: &str = "tests/lower/message.ptx";
const MADE: &str = "tests/lower/message.made.ptx";
const LINES: &str = "tests/lower/lines.ll";
const LINES_MADE: &str = "tests/lower/lines.ptx";
const KERNEL: &str = "tests/lower/lines.kernel.ptx";
const LISTING: &str = "tests/lower/lines.sass";
const KNOWN: &str = "tests/lower/message.known.json";
const LEAKY: &str = "tests/cli/leaky.table";

const MISSPELT: &str = "tests/ptx/misspelt.ptx";
const UNJUDGED: &str = "tests/ptx/unjudged.ptx";
const FINE: &str = "tests/ptx/fine.ptx";

/// Snapshots as those of `cli`: each format that programs read, of each command.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("lower-functions-github", &["lower", "--from", MESSAGE, "--to", MADE, "--format=github"]),
    ("lower-functions-junit", &["lower", "--from", MESSAGE, "--to", MADE, "--format=junit"]),
    ("lower-functions-sarif", &["lower", "--from", MESSAGE, "--to", MADE, "--format=sarif"]),
    (
        "lower-functions-known-sarif",
        &["lower", "--from", MESSAGE, "--to", MADE, "--baseline", KNOWN, "--format=sarif"],
    ),
    ("lower-lines-sarif", &["lower", "--from", LINES, "--to", LINES_MADE, "--format=sarif"]),
    ("lower-lines-github", &["lower", "--from", LINES, "--to", LINES_MADE, "--format=github"]),
    ("lower-lines-listing", &["lower", "--from", KERNEL, "--to", LISTING, "--format=github"]),
    ("lower-rows-junit", &["lower", "--rows", "tests/lower/few.csv", "--format=junit"]),
    ("lower-rows-sarif", &["lower", "--rows", "tests/lower/few.csv", "--format=sarif"]),
    ("lower-rows-github", &["lower", "--rows", "tests/lower/few.csv", "--format=github"]),
    ("lower-short-row-junit", &["lower", "--rows", "tests/lower/short-row.csv", "--format=junit"]),
    ("lower-table-junit", &["lower", "--table", LEAKY, "tests/cli", "--format=junit"]),
    ("lower-table-sarif", &["lower", "--table", LEAKY, "tests/cli", "--format=sarif"]),
    ("lower-table-github", &["lower", "--table", LEAKY, "tests/cli", "--format=github"]),
    ("all-junit", &["check", "--engine=enumerate", "--format=junit", "tests/cli"]),
    ("all-sarif", &["check", "--engine=enumerate", "--format=sarif", "tests/cli"]),
    ("all-github", &["check", "--engine=enumerate", "--format=github", "tests/cli"]),
    ("lint-junit", &["lint", "--format=junit", MISSPELT, UNJUDGED, FINE, "tests/cli/absent.ptx"]),
    ("lint-sarif", &["lint", "--format=sarif", MISSPELT, UNJUDGED, FINE, "tests/cli/absent.ptx"]),
    ("lint-github", &["lint", "--format=github", MISSPELT, UNJUDGED, FINE, "tests/cli/absent.ptx"]),
    ("lint-herd", &["lint", "--format=herd", FINE]),
    (
        "explore-difference-junit",
        &[
            "explore",
            "--check",
            "--format=junit",
            "--table=tests/cli/leaky.table",
            "tests/cli/holds.litmus",
        ],
    ),
    (
        "explore-difference-sarif",
        &["explore", "--check", "--format=sarif", "--table", LEAKY, "tests/cli/holds.litmus"],
    ),
    (
        "explore-difference-github",
        &["explore", "--check", "--format=github", "--table", LEAKY, "tests/cli/holds.litmus"],
    ),
    ("explore-all-sarif", &["explore", "--check", "--format=sarif", "tests/cli"]),
    ("explore-all-github", &["explore", "--check", "--format=github", "tests/cli"]),
    ("explore-all-junit", &["explore", "--check", "--format=junit", "tests/cli"]),
];

/// Runs that have, between them, what holds and fails, is not decided, not covered, not understood, not there.
const RUNS: &[&[&str]] = &[
    &["check", "--engine=enumerate", "tests/cli", "tests/cli/absent.litmus", "tests/ptx/fine.ptx"],
    &["check", "--engine=enumerate", "tests/cli/holds.litmus"],
    &["explore", "--check", "--arch=all", "tests/cli", "tests/cli/absent.litmus"],
    &["explore", "--check", "--table=tests/cli/leaky.table", "tests/cli/holds.litmus"],
    &["explore", "tests/cli"],
    &["lint", "tests/ptx", "tests/cli/absent.ptx", "tests/cli/holds.litmus"],
    &["lint", "tests/ptx/fine.ptx"],
    &["lower", "--rows", "tests/lower/few.csv"],
    &["lower", "--rows", "tests/lower/short-row.csv"],
    &["lower", "--rows", "tests/lower/absent.csv"],
    &["lower", "--from", MESSAGE, "--to", MADE],
    &["lower", "--from", MESSAGE, "--to", MADE, "--baseline", KNOWN],
    &["lower", "--from", LINES, "--to", LINES_MADE],
    &["lower", "--from", KERNEL, "--to", LISTING],
    &["lower", "--from", MESSAGE, "--to", "tests/lower/absent.ptx"],
    &["lower", "--from", "tests/llvm/wrong.ll", "--to", "tests/ptx/broken.ptx"],
    &["lower", "--table", LEAKY, "tests/cli", "tests/cli/absent.litmus"],
    &["lower", "--table", "tests/cli/listing.sass"],
    &["lower", "--table", LEAKY, "tests/absent"],
    &[
        "lower",
        "--ptxas=false",
        "--nvdisasm=false",
        "tests/cli/rejected.litmus",
        "tests/cli/holds.litmus",
    ],
    &["lower", "--ptxas=false", "--nvdisasm=false", "tests/snapshots"],
];

/// The names of all formats that `check` and `explore` have.
pub(crate) fn formats() -> Vec<String> {
    let values = ReportFormat::value_variants().iter().filter_map(ReportFormat::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

struct Printed {
    out: String,
    err: String,
    code: i32,
}

fn run(arguments: &[&str], format: &str) -> Printed {
    let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments)
        .args(["--format", format])
        .current_dir(suite::root())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Printed {
        out: String::from_utf8(output.stdout).expect("output is text"),
        err: String::from_utf8(output.stderr).expect("complaints are text"),
        code: output.status.code().expect("it is not killed"),
    }
}

/// The cases of a report, each with what it is besides a success.
fn junit(xml: &str) -> Vec<(String, Option<String>)> {
    let attribute = |of: &BytesStart<'_>, name: &str| {
        let found = of.try_get_attribute(name).expect("attributes are well-formed")?;
        let value =
            found.normalized_value(XmlVersion::Implicit1_0).expect("values are well-formed");
        Some(value.into_owned())
    };
    let mut cases: Vec<(String, Option<String>)> = Vec::new();
    let mut counted = None;
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut open = 0;
    loop {
        let event = reader.read_event().expect("it is XML");
        match event {
            Event::Eof => break,
            Event::End(_) => open -= 1,
            Event::Start(_) => open += 1,
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        let (Event::Start(tag) | Event::Empty(tag)) = &event else { continue };
        let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
        match &*name {
            "testsuites" => counted = attribute(tag, "tests"),
            "testcase" => cases.push((attribute(tag, "name").expect("a name"), None)),
            "failure" | "error" | "skipped" => {
                let message = attribute(tag, "message").expect("it says why");
                assert!(!message.is_empty());
                cases.last_mut().expect("it is in a case").1 = Some(name);
            }
            _ => {}
        }
    }
    assert_eq!(open, 0, "what begins ends");
    assert_eq!(counted, Some(cases.len().to_string()));
    cases
}

/// The results of a log, after what SARIF asks of one.
fn sarif(text: &str, code: i32) -> Vec<Value> {
    let log: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], code);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(), ids.len());
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
    }
    let results = run["results"].as_array().expect("a list");
    let mut used = BTreeSet::new();
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("a number");
        let index = usize::try_from(index).expect("it is small");
        assert_eq!(ids.get(index), Some(&&result["ruleId"]), "{result}");
        used.insert(index);
        let fails = result["kind"] == "fail";
        assert_eq!(fails, result["level"] != "none", "a level is for a failure: {result}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        // Code scanning takes no result without one.
        let places = result["locations"].as_array().expect("a list");
        let related = result["relatedLocations"].as_array();
        assert_eq!(places.len(), 1, "{result}");
        for place in related.into_iter().flatten() {
            let text = place["message"]["text"].as_str();
            assert!(text.is_some_and(|text| !text.is_empty()), "what is it? {place}");
        }
        for place in places.iter().chain(related.into_iter().flatten()) {
            let place = &place["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("text");
            assert!(!uri.is_empty() && !uri.contains([' ', '\\', '#']), "{uri}");
            let region = &place["region"];
            for number in ["startLine", "startColumn", "endColumn"] {
                assert!(region[number].is_null() || region[number].as_u64() > Some(0), "{result}");
            }
        }
    }
    assert_eq!(used.len(), rules.len(), "a rule that no result names");
    results.clone()
}

/// The annotations: of which kind, and of which rule.
fn github(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for line in text.lines() {
        let rest = line.strip_prefix("::").expect("a workflow command");
        let (command, rest) = rest.split_once(' ').expect("it has properties");
        assert!(["error", "warning", "notice"].contains(&command), "{line}");
        let (properties, message) = rest.split_once("::").expect("it has a message");
        let properties: Vec<(&str, &str)> =
            properties.split(',').map(|one| one.split_once('=').expect("a value")).collect();
        assert_eq!(properties[0].0, "file", "{line}");
        let (last, title) = properties[properties.len() - 1];
        assert_eq!(last, "title", "{line}");
        for (name, value) in &properties[1..properties.len() - 1] {
            assert!(["line", "col", "endColumn"].contains(name), "{line}");
            assert!(value.parse::<u32>().is_ok_and(|value| value > 0), "{line}");
        }
        assert!(!message.is_empty() && !message.contains('\r'), "{line}");
        all.push((command.to_owned(), title.to_owned()));
    }
    all
}

#[test]
fn every_format_of_every_command_is_well_formed_and_says_the_same() {
    let mut kinds = BTreeSet::new();
    for arguments in RUNS {
        let text = run(arguments, "text");
        let [json, xml, annotations, log] =
            ["json", "junit", "github", "sarif"].map(|format| run(arguments, format));
        for other in [&json, &xml, &annotations, &log] {
            assert_eq!(other.code, text.code, "{arguments:?}: {}", other.err);
        }
        for line in json.out.lines() {
            let object: Value = serde_json::from_str(line).expect("a line is an object");
            assert!(object["format"].is_string(), "{line}");
        }
        let cases = junit(&xml.out);
        let results = sarif(&log.out, log.code);
        // A finding, whatever shows it.
        let subject = |result: &Value| {
            let name = &result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
            name.as_str().expect("text").to_owned()
        };
        let mut subjects: Vec<String> = results.iter().map(subject).collect();
        subjects.dedup();
        let names: Vec<&String> = cases.iter().map(|(name, _)| name).collect();
        assert_eq!(subjects.iter().collect::<Vec<_>>(), names, "{arguments:?}");
        let shown = results.iter().filter_map(|result| {
            let command = match (result["kind"].as_str()?, result["level"].as_str()?) {
                ("fail", "note") => "notice",
                ("fail", "warning") | ("open", _) => "warning",
                ("fail", _) => "error",
                _ => return None,
            };
            Some((command.to_owned(), result["ruleId"].as_str()?.to_owned()))
        });
        assert_eq!(github(&annotations.out), shown.collect::<Vec<_>>(), "{arguments:?}");
        // What a success is does not depend on the format either.
        let failed = cases
            .iter()
            .any(|(_, status)| status.as_ref().is_some_and(|status| status != "skipped"));
        assert_eq!(failed, text.code != 0, "{arguments:?}");
        kinds.extend(results.iter().map(|one| format!("{} {}", one["kind"], one["level"])));
        kinds.extend(cases.into_iter().filter_map(|(_, status)| status));
    }
    let all = [
        "\"fail\" \"error\"",
        "\"fail\" \"note\"",
        "\"fail\" \"warning\"",
        "\"notApplicable\" \"none\"",
        "\"open\" \"none\"",
        "\"pass\" \"none\"",
        "error",
        "failure",
        "skipped",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all, "something is not tried");
}

#[test]
fn a_format_that_a_command_has_no_sense_for_is_refused() {
    for arguments in RUNS {
        let has_outcomes = ["check", "explore"].contains(&arguments[0]);
        let herd = run(arguments, "herd");
        if has_outcomes {
            assert!(herd.code == 0 || !herd.err.contains("invalid value"), "{}", herd.err);
            continue;
        }
        assert_eq!((herd.code, &*herd.out), (2, ""));
        let names = formats().into_iter().filter(|format| format != "herd");
        let names = names.collect::<Vec<_>>().join(", ");
        assert!(herd.err.contains(&format!("[possible values: {names}]")), "{}", herd.err);
    }
}
