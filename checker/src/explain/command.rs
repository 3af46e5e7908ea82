//! Runs `causeway explain`.

use std::io::{self, Write};

use answer::explain::ExplainedTest;
use engine::clock::Deadline;
use engine::exit::Exit;
use judge::alternatives;
use judge::explain::{self, SHOWN_RELATIONS};
use litmus::Dialect;
use model::cxx::{self, ReleaseSequence};
use model::rel::{Model, NodeId};
use repair::RepairOptions;
use text::escape::escaped;
use text::report::nearest;

use super::args::Explain;
use crate::complaints::complain_of;
use crate::selection::{SelectedModel, judging_model};
use crate::words::{self, TestSource};
use crate::{fix, input};

/// The relations of a model with these names, or what is wrong with one.
fn shown_relations(
    model: &mut Model,
    names: &[String],
) -> Result<[Option<NodeId>; SHOWN_RELATIONS], String> {
    let mut show = [None; SHOWN_RELATIONS];
    let repeated = |&(at, name): &(usize, &String)| !names[..at].contains(name);
    let names: Vec<&String> = names.iter().enumerate().filter(repeated).map(|of| of.1).collect();
    if names.len() > show.len() {
        return Err(format!("error: --show takes at most {SHOWN_RELATIONS} relations"));
    }
    for (shown, name) in show.iter_mut().zip(names) {
        *shown = model.relation_named(name).or_else(|| model.add_fixed(name));
        if shown.is_none() {
            let near = nearest(name, model.relation_names());
            let help = near.map_or_else(
                || "`causeway model` lists the relations".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let name = escaped(name);
            return Err(format!("error: the model has no relation `{name}`\n  = help: {help}"));
        }
    }
    Ok(show)
}

pub fn command(explain: &Explain, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let chosen = judging_model(&explain.judging, err)?;
    let Some(SelectedModel { model, readings }) = chosen else { return Ok(Exit::BadInput) };
    let path = input::shown(&explain.path);
    let words = explain.words.as_deref();
    let TestSource { bytes, made } =
        match words::source(&explain.path, words, &explain.asked, "explain", err) {
            Ok(source) => source,
            Err(unread) => return words::litmus::complain(&path, &unread, err),
        };
    made.iter().try_for_each(|made| words::print_notes(made, err))?;
    let name = explain.path.to_string_lossy();
    let read = match &explain.ask {
        Some(question) => litmus::parse_question(&name, &bytes, question),
        None => litmus::parse(&name, &bytes),
    };
    let test = match read {
        Ok(test) => test,
        Err(diagnostics) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let cxx = test.dialect == Dialect::Cxx && explain.judging.model.is_none();
    let (mut model, readings) =
        if cxx { (cxx::model(ReleaseSequence::Cpp20), None) } else { (model, readings) };
    let show = match shown_relations(&mut model, &explain.show) {
        Ok(show) => show,
        Err(error) => {
            writeln!(err, "{error}")?;
            return Ok(Exit::BadInput);
        }
    };
    // Whatever is said of the test is found within the limit.
    let until = explain.limits.timeout.map(Deadline::after);
    let options = explain::ExplainOptions {
        bound: explain.judging.bound,
        until,
        memory: explain.limits.bytes(),
        work: None,
        deep: explain.deep,
        show,
        readings,
        property: explain.property.property(),
        asked: explain.ask.is_some(),
    };
    let explanation = explain::explanation(&test, &model, options)?;
    let explained = ExplainedTest {
        path: &path,
        test: &test,
        source: &String::from_utf8_lossy(&bytes),
        model: &model.name,
        explanation: &explanation,
    };
    let advise = &|out: &mut dyn Write| {
        let alternatives = readings.map_or(Vec::new(), alternatives);
        let options = RepairOptions {
            bound: explain.judging.bound,
            until,
            memory: explain.limits.bytes(),
            alternatives: &alternatives,
            property: explain.property.property(),
            ..RepairOptions::new(&model)
        };
        let ask = explain.ask.as_deref();
        let advised =
            fix::AdvisedTest { path: &explain.path, bytes: &bytes, made: made.as_deref() };
        fix::advise(&advised, ask, explain.property, options, explain.weaken, out)
    };
    super::write(&explained, advise, explain.format, out)?;
    Ok(explanation.exit)
}
