//! The rules of `causeway lint`: the explanation of one, and the page of all.

use std::fmt::Write as _;
use std::io::{self, Write};

use engine::exit::Exit;
use ptx::catalogue::{self, ExampleCode, ExampleFrame, LintExample, LintRule};
use ptx::rule::Authority;
use text::cursor::short;
use text::report::nearest;

/// Explains the rule with this code.
pub(crate) fn explain(code: &str, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Some(rule) = LintRule::named(code) else {
        writeln!(err, "error: no rule has the code `{}`", short(code))?;
        let near = nearest(code, catalogue::all().iter().map(|rule| rule.code));
        if let Some(near) = near {
            writeln!(err, "help: did you mean `{near}`?")?;
        }
        return Ok(Exit::BadInput);
    };
    write!(out, "{}", text(rule))?;
    Ok(Exit::AsExpected)
}

/// Who requires a rule, and what that means for `lint`.
fn authority(by: Authority) -> &'static str {
    match by {
        Authority::Both => "Required by the document and by ptxas.",
        Authority::Document => {
            "Required by the document; ptxas accepts what breaks it. A warning; with --strict, an error."
        }
        Authority::Neither => {
            "The instructions are legal, and do less than they seem to. A warning."
        }
        Authority::Ptxas => {
            "Required by ptxas; the document does not forbid what breaks it. An error; with --strict, a warning."
        }
    }
}

/// Said of a limit in the place of its authority.
const LIMIT: &str = "A limit of causeway, not a rule of PTX.";

fn is_limit(rule: &LintRule) -> bool {
    rule.example.is_none() && rule.section.is_none()
}

/// What is accepted instead of an example, and how it is corrected.
struct Remedy {
    accepted: ExampleCode,
    /// What the correction makes, where it is not an example of its own.
    corrected: Option<String>,
    /// The options that make a correction, if there is one.
    options: Option<&'static str>,
}

fn remedy(example: &LintExample) -> Remedy {
    let judged = example.judge(&example.rejected);
    let options = judged
        .corrected
        .as_ref()
        .map(|(_, safe)| if *safe { "--fix" } else { "--fix --unsafe-fixes" });
    Remedy {
        accepted: example.accepted.unwrap_or(example.rejected),
        corrected: judged.corrected.map(|(text, _)| text).filter(|_| example.accepted.is_none()),
        options,
    }
}

impl Remedy {
    fn text(&self) -> &str {
        self.corrected.as_deref().unwrap_or(self.accepted.text)
    }
}

/// The version and the target of an example whose rule is about them.
fn settings(example: &LintExample) -> Option<[String; 2]> {
    let accepted = example.accepted.filter(|accepted| accepted.text == example.rejected.text)?;
    let of = |code: &ExampleCode| {
        if example.rejected.isa == accepted.isa {
            code.target.to_string()
        } else {
            format!("PTX ISA {}", code.isa)
        }
    };
    Some([of(&example.rejected), of(&accepted)])
}

/// The lines of an example; control characters are escaped.
fn lines(code: &str) -> impl Iterator<Item = String> + '_ {
    code.split_terminator('\n').map(|line| {
        line.chars()
            .map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() })
            .collect()
    })
}

/// A rule as text.
fn text(rule: &LintRule) -> String {
    let mut out = format!("{}: {}\n", rule.code, rule.text);
    let mut put =
        |line: std::fmt::Arguments<'_>| writeln!(out, "{line}").expect("strings can be written");
    if let Some(section) = rule.section {
        put(format_args!("\n{section}\n{}", section.url()));
    }
    put(format_args!("\n{}", if is_limit(rule) { LIMIT } else { authority(rule.by) }));
    let Some(example) = &rule.example else {
        return out;
    };
    let remedy = remedy(example);
    let kind = match example.frame {
        ExampleFrame::Kernel | ExampleFrame::Module => "",
        ExampleFrame::Function => ", in a device function",
    };
    let [of_rejected, of_accepted] = settings(example)
        .map_or([String::new(), String::new()], |both| both.map(|one| format!(" for {one}")));
    put(format_args!("\nRejected{of_rejected}{kind}:"));
    lines(example.rejected.text).for_each(|line| put(format_args!("  {line}")));
    put(format_args!("Accepted{of_accepted}{kind}:"));
    lines(remedy.text()).for_each(|line| put(format_args!("  {line}")));
    match remedy.options {
        Some("--fix") => {
            put(format_args!("\n--fix makes this correction, which keeps the meaning."));
        }
        Some(options) => put(format_args!(
            "\n{options} makes a correction that chooses for you: read it with --diff first."
        )),
        None => {
            put(format_args!("\nThere is no correction: what to write depends on what is meant."));
        }
    }
    out
}

/// The page of all rules, in Markdown.
pub fn page() -> String {
    let mut out = String::from(
        "# Rules of `causeway lint`\n\n\
         `UPDATE=1 cargo test -p causeway --test workspace lint_rules` writes this page from `crates/ptx/src/catalogue.rs`; the tests run every example.\n\
         `causeway lint --explain CODE` prints one of these rules. *Correction* is what makes the second example of the first: `--fix`\n\
         where the correction keeps the meaning, and with `--unsafe-fixes` where it chooses ([ptx.md](ptx.md#corrections)).\n\n\
         A rule without a remark is of the document and of ptxas. *Document* means that ptxas accepts what breaks the rule: this is a\n\
         warning, and an error with `--strict`. *Ptxas* means that the document does not forbid it: this is an error, and a warning with\n\
         `--strict` ([ptxas-differences.md](ptxas-differences.md)). *Legal* means that neither forbids what breaks the rule, and that the\n\
         instructions do less together than they seem to: this is a warning ([ptx.md](ptx.md#several-instructions)).\n\n\
         The examples are in a function with these names, for the newest version and `sm_120`:\n\n```\n",
    );
    out.push_str(catalogue::GLOBALS);
    out.push_str(catalogue::LOCALS);
    out.push_str("```\n");
    let mut put =
        |line: std::fmt::Arguments<'_>| writeln!(out, "{line}").expect("strings can be written");
    let of_setting =
        |rule: &&LintRule| rule.example.as_ref().is_some_and(|one| settings(one).is_some());
    let (settled, others): (Vec<&LintRule>, Vec<&LintRule>) =
        catalogue::all().iter().partition(of_setting);
    let mut sections = Vec::new();
    for rule in others.iter().filter_map(|rule| rule.section) {
        if !sections.contains(&rule) {
            sections.push(rule);
        }
    }
    sections.sort_by_key(|section| numbers(section.number));
    for section in sections.into_iter().map(Some).chain([None]) {
        match section {
            Some(section) => put(format_args!(
                "\n## {} {}\n\n[In the document]({}).\n",
                section.number,
                section.title,
                section.url()
            )),
            None => {
                put(format_args!(
                    "\n## Qualifiers, other instructions, and the form of a module\n"
                ));
            }
        }
        put(format_args!(
            "| Code | Rule | Rejected | Accepted | Correction |\n|---|---|---|---|---|"
        ));
        for rule in others.iter().filter(|rule| rule.section == section) {
            put(format_args!("{}", row(rule)));
        }
    }
    put(format_args!(
        "\n## Versions and targets\n\nEach note of a page (\"introduced in PTX ISA version …\", \"requires `sm_…`\") is a rule.\n\
         `--fix --unsafe-fixes` raises `.version` or `.target`.\n\n\
         | Code | Rule | Instruction | Rejected for | Accepted for |\n|---|---|---|---|---|"
    ));
    for rule in settled {
        let Some((example, [rejected, accepted])) =
            rule.example.as_ref().and_then(|one| Some((one, settings(one)?)))
        else {
            continue;
        };
        let code = cell(example.rejected.text);
        put(format_args!(
            "| `{}` | {} | {code} | {rejected} | {accepted} |",
            rule.code,
            sentence(rule)
        ));
    }
    out
}

fn numbers(number: &str) -> Vec<u32> {
    number.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn sentence(rule: &LintRule) -> String {
    let remark = match rule.by {
        Authority::Both if is_limit(rule) => " *Limit of causeway.*",
        Authority::Both => "",
        Authority::Document => " *Document.*",
        Authority::Ptxas => " *Ptxas.*",
        Authority::Neither => " *Legal.*",
    };
    format!("{}{remark}", rule.text.replace('|', "\\|"))
}

fn row(rule: &LintRule) -> String {
    let (rejected, accepted, options) = match &rule.example {
        Some(example) => {
            let remedy = remedy(example);
            let options = remedy.options.map_or(String::new(), |options| format!("`{options}`"));
            (cell(example.rejected.text), cell(remedy.text()), options)
        }
        None => (String::new(), String::new(), String::new()),
    };
    format!("| `{}` | {} | {rejected} | {accepted} | {options} |", rule.code, sentence(rule))
}

/// Code in a cell of a table.
fn cell(code: &str) -> String {
    let lines: Vec<String> =
        lines(code).map(|line| format!("`{}`", line.trim_start().replace('|', "\\|"))).collect();
    lines.join("<br>")
}
