//! `causeway schema`: prints the JSON Schema of the objects of `--format json`.
//!
//! The schema is derived from the structs that are printed and from their comments, so it cannot differ from
//! the output.

use std::io::{self, Write};

use answer::check::CheckObject;
use answer::explain::ExplainObject;
use clap::{Args, ValueEnum};
use engine::exit::Exit;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::diff;
use crate::explore;
use crate::fix;
use crate::fuzz;
use crate::lines::LineKind;
use crate::lint;
use crate::lower;
use crate::ptx_explain;
use crate::sass;
use crate::verify;
use crate::words;

#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The command whose objects to describe; without it, list the names
    #[arg(value_enum)]
    pub name: Option<LineKind>,
}

/// Prints one schema. Without a name, lists the names.
pub fn command(command: &SchemaArgs, out: &mut dyn Write) -> io::Result<Exit> {
    if let Some(name) = command.name {
        serde_json::to_writer_pretty(&mut *out, &schema(name))?;
        writeln!(out)?;
    } else {
        let names = LineKind::value_variants().iter().filter_map(LineKind::to_possible_value);
        for name in names {
            writeln!(out, "{}", name.get_name())?;
        }
    }
    Ok(Exit::AsExpected)
}

/// The schema of the lines of this kind.
fn schema(kind: LineKind) -> Value {
    match kind {
        LineKind::Check => line::<CheckObject<'_>>(kind),
        LineKind::Diff => line::<diff::report::DiffObject<'_>>(kind),
        LineKind::DiffSummary => line::<diff::report::DiffSummaryObject<'_>>(kind),
        LineKind::Explain => line::<ExplainObject<'_>>(kind),
        LineKind::Explore => line::<explore::report::ExploreObject<'_>>(kind),
        LineKind::Fix => line::<fix::report::FixObject<'_>>(kind),
        LineKind::Fuzz => line::<fuzz::report::FuzzObject<'_>>(kind),
        LineKind::Lint => line::<lint::LintObject<'_>>(kind),
        LineKind::LintSummary => line::<lint::LintSummary>(kind),
        LineKind::Litmus => line::<words::litmus::LitmusObject<'_>>(kind),
        LineKind::Lower => line::<lower::report::LowerObject<'_>>(kind),
        LineKind::PtxExplain => line::<ptx_explain::PtxExplainObject<'_>>(kind),
        LineKind::SassExplain => line::<sass::explain::SassExplainObject<'_>>(kind),
        LineKind::Verify => line::<verify::json::VerifyObject<'_>>(kind),
    }
}

/// The schema of an object of this type, with the field `format` first.
fn line<T: JsonSchema>(kind: LineKind) -> Value {
    // The schema describes the output: a field that may be `null` is always present.
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let mut take = |name: &str| schema.remove(name);
    let format = json!(kind);
    let mut properties = Map::new();
    properties.insert("format".to_owned(), json!({ "const": format }));
    if let Some(Value::Object(own)) = take("properties") {
        properties.extend(own);
    }
    let mut required = vec![json!("format")];
    if let Some(Value::Array(own)) = take("required") {
        required.extend(own);
    }
    let mut line = Map::new();
    // The order in which people read a schema.
    for (name, value) in [
        ("$schema", take("$schema")),
        ("title", Some(format)),
        ("description", take("description")),
        ("type", Some(json!("object"))),
        ("properties", Some(properties.into())),
        ("required", Some(required.into())),
    ] {
        line.extend(value.map(|value| (name.to_owned(), value)));
    }
    drop(take("type"));
    drop(take("title"));
    if let Value::Object(rest) = schema.to_value() {
        line.extend(rest);
    }
    line.into()
}
