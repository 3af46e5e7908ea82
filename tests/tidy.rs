//! What holds of the sources themselves: imports point one way, citations lead somewhere, files
//! begin with what they hold and stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use model::section;
use toml::de::DeTable;

use crate::suite;

/// Lines of a file at most.
const LONGEST: usize = 700;

pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// The text without comments and without unit tests.
    fn code(&self) -> String {
        let text = self.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(&self.text);
        let bare = |line: &str| line.split("//").next().unwrap_or("").to_owned() + "\n";
        text.lines().map(bare).collect()
    }

    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

pub(crate) fn walk(below: &Path, extension: &str, visit: &mut dyn FnMut(&Path)) {
    let mut entries: Vec<_> = fs::read_dir(below)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            walk(&entry, extension, visit);
        } else if entry.extension().is_some_and(|found| found == extension) {
            visit(&entry);
        }
    }
}

/// The folders of the crates, as the workspace lists them.
fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(suite::root().join("Cargo.toml")).expect("it is there");
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next());
    let members = members.expect("the workspace has members").split('"').skip(1).step_by(2);
    let is_crate = |member: &&str| member.starts_with("crates/") || !member.contains('/');
    members.filter(is_crate).map(str::to_owned).collect()
}

pub(crate) fn sources() -> Vec<Source> {
    let root = suite::root();
    let mut all = Vec::new();
    for folder in crates().iter().map(String::as_str).chain(["tests"]) {
        walk(&root.join(folder), "rs", &mut |path| {
            let relative = path.strip_prefix(&root).expect("it is below the root");
            let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
            let text = fs::read_to_string(path).expect("sources are text");
            all.push(Source { path: names.join("/"), text });
        });
    }
    assert!(all.len() > 50, "only {} sources", all.len());
    all
}

/// The words of a text: names, and paths of names.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn names(code: &str, wanted: &str) -> bool {
    words(code).any(|word| word == wanted)
}

/// What follows `crate::` or `super::`, wherever it stands.
fn imports(code: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for start in ["crate::", "super::"] {
        for rest in code.split(start).skip(1) {
            match rest.strip_prefix('{') {
                Some(list) => {
                    let list = list.split('}').next().unwrap_or("");
                    found.extend(list.split(',').filter_map(|item| words(item).next()));
                }
                None => found.extend(words(rest).next()),
            }
        }
    }
    found
}

/// Modules of `model` that may name few others.
const NARROW: &[(&str, &[&str])] = &[
    ("section", &[]),
    ("scope", &[]),
    ("memory", &[]),
    ("value", &[]),
    ("bits", &[]),
    ("given", &[]),
    ("reading", &["section"]),
    ("rel", &["given", "reading", "section"]),
    ("ptx/mod", &["given", "reading", "rel"]),
    ("ptx/base", &["Primitives", "given", "reading", "rel", "section"]),
    ("ptx/asynchronous", &["Primitives", "base", "given", "reading", "rel", "section"]),
    ("ptx/tensor", &["Primitives", "asynchronous", "base", "given", "reading", "rel", "section"]),
    (
        "ptx/flags",
        &["Primitives", "asynchronous", "base", "given", "reading", "rel", "section", "tensor"],
    ),
    ("cxx", &["given", "rel"]),
    ("algebra", &["bits", "given", "rel"]),
    ("ablation", &["given", "rel", "render"]),
    ("relation_properties", &["given", "rel"]),
];

/// Words that the files below a folder do not name.
const BANNED: &[(&str, &[&str])] = &[
    // Instructions and events know no rule of the model, and the model nothing of them.
    ("model/src/isa/", &["ptx", "rel", "given"]),
    ("crates/execution/src/unfold", &["ptx", "structure"]),
    // Engines do not name each other.
    ("crates/engine/src/enumerate", &["solve", "smt", "Solve", "z3"]),
    ("crates/engine/src/solve", &["Enumerate"]),
    ("checker/src/report/", &["Enumerate", "Solve", "ENGINES", "z3"]),
    // A second account of memory, which has not read the first.
    (
        "crates/machine/src/",
        &["ptx", "rel", "algebra", "given", "structure", "unfold", "event", "render"],
    ),
];

/// Crates that do input or output, each with what it may name of [`OUTSIDE`].
const OUTER: &[(&str, &[&str])] =
    &[("crates/engine/", &["z3", "io"]), ("crates/judge/", &["io"]), ("checker/", OUTSIDE)];

/// What the other crates do not name: they do no input or output.
const OUTSIDE: &[&str] = &["z3", "fs", "io", "env", "process"];

/// What only the files that speak with the process may name.
const PROCESS: [&str; 6] =
    ["std::env", "std::process", "stdout", "stderr", "println", "::enumerate::"];

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for source in sources() {
        let (code, path) = (source.code(), &source.path);
        for (folder, words) in BANNED.iter().filter(|(folder, _)| source.is_in(folder)) {
            let named = words.iter().filter(|word| names(&code, word));
            wrong.extend(named.map(|word| format!("{path}, in {folder}, names `{word}`")));
        }
        let outer = OUTER.iter().find(|(folder, _)| source.is_in(folder));
        let allowed = outer.map_or(&[][..], |(_, allowed)| allowed);
        if path.contains("/src/") {
            let outside = OUTSIDE.iter().filter(|word| !allowed.contains(word));
            let outside = outside.filter(|word| names(&code, word));
            wrong.extend(outside.map(|word| format!("{path} names `{word}`")));
        }
        let speaks =
            ["main", "run", "input", "progress"].map(|name| format!("checker/src/{name}.rs"));
        // The account of an execution is made by the engine that lists executions.
        let explains = source.is_in("crates/judge/src/explain/");
        if outer.is_some()
            && path.contains("/src/")
            && !source.is_in("checker/libz3/")
            && !speaks.contains(path)
        {
            let named = PROCESS.iter().filter(|word| code.contains(**word));
            // Compilers are run by what drives them.
            let drives = source.is_in("checker/src/lower/drive/");
            let process = ["std::env", "std::process", "stdout", "stderr"];
            let named = named.filter(|word| !(drives && process.contains(word)));
            let named = named.filter(|word| !(explains && **word == "::enumerate::"));
            wrong.extend(named.map(|word| format!("{path} names `{word}`")));
        }
        for (module, allowed) in NARROW {
            if *path == format!("model/src/{module}.rs") {
                let other = imports(&code).into_iter().filter(|import| !allowed.contains(import));
                wrong.extend(other.map(|import| format!("{path} imports `{import}`")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The crate that other programs use; the page of every other one says that it is internal.
const PUBLIC: &str = "crates/library/";

#[test]
fn one_crate_is_for_other_programs() {
    for folder in crates().iter().filter(|folder| !PUBLIC.starts_with(*folder)) {
        let page = ["src/lib.rs", "lib.rs"].map(|file| suite::root().join(folder).join(file));
        let page = page.iter().find_map(|path| fs::read_to_string(path).ok());
        let page = page.unwrap_or_else(|| panic!("{folder} has a library"));
        assert!(page.contains("\n//! Internal: "), "{folder} does not say that it is internal");
    }
}

/// Crates whose rooms (files and folders below `src`) use each other in one direction only.
const LAYERED: [&str; 2] = ["checker/src/", "crates/judge/src/"];

#[test]
fn rooms_of_a_crate_use_each_other_one_way() {
    for folder in LAYERED {
        let room = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources().iter().filter(|source| source.is_in(folder)) {
            let own = room(source.path[folder.len()..].trim_end_matches(".rs"));
            if ["lib", "main", "tests"].contains(&own.as_str()) {
                continue;
            }
            let code = source.code().replace("super::", "");
            let named = imports(&code).into_iter().map(str::to_owned);
            uses.entry(own.clone()).or_default().extend(named.filter(|name| *name != own));
        }
        // Rooms that use none of those left are taken away, until none is left.
        while !uses.is_empty() {
            let left: BTreeSet<String> = uses.keys().cloned().collect();
            uses.retain(|_, named| !named.is_disjoint(&left));
            assert!(
                uses.len() < left.len(),
                "{folder}: rooms in a circle, or above one: {uses:#?}"
            );
        }
    }
}

/// The names below a `section` of a crate's manifest, such as `dependencies`, also of those for one target.
fn dependencies(folder: &str, section: &str) -> BTreeSet<String> {
    let path = suite::root().join(folder).join("Cargo.toml");
    let manifest = fs::read_to_string(&path).expect("a crate has a manifest");
    let manifest = DeTable::parse(&manifest).expect("it is read by Cargo").into_inner();
    let of_targets = manifest.get("target").and_then(|of| of.get_ref().as_table());
    let of_targets = of_targets.into_iter().flatten();
    let tables = of_targets.filter_map(|(_, of)| of.get_ref().as_table()).chain([&manifest]);
    let sections = tables.filter_map(|of| of.get(section)?.get_ref().as_table());
    sections.flatten().map(|(name, _)| name.get_ref().to_string()).collect()
}

/// Dependencies that a crate needs although its sources do not name them.
const UNNAMED: [(&str, &str); 4] = [
    // Its library is `causeway`.
    ("checker", "causeway-library"),
    // Its build script finds the library that `z3` links.
    ("crates/engine", "causeway-libz3"),
    ("checker", "causeway-libz3"),
    // Its library is `md5`.
    ("checker", "md-5"),
];

/// A dependency that nothing names costs every build.
#[test]
fn every_dependency_is_used() {
    let all = sources();
    let mut unused = Vec::new();
    for folder in crates() {
        let (built, own) = (format!("{folder}/src/"), format!("{folder}/"));
        let codes: Vec<String> =
            all.iter().filter(|source| source.is_in(&built)).map(Source::code).collect();
        let in_code: BTreeSet<&str> = codes.iter().flat_map(|code| words(code)).collect();
        // Tests of the whole are in a folder of their own.
        let tests = all.iter().filter(|source| source.is_in(&own) || source.is_in("tests/"));
        let in_tests: BTreeSet<&str> = tests.flat_map(|source| words(&source.text)).collect();
        for (section, used) in [("dependencies", &in_code), ("dev-dependencies", &in_tests)] {
            for name in dependencies(&folder, section) {
                let is_used = used.contains(name.replace('-', "_").as_str());
                if !is_used && !UNNAMED.contains(&(folder.as_str(), name.as_str())) {
                    unused.push(format!("{folder}: {name}, in {section}"));
                }
            }
        }
    }
    assert!(unused.is_empty(), "{unused:#?}");
}

/// Whether a crate uses another one, directly or not. Cargo accepts no cycles.
fn reaches(uses: &BTreeMap<String, Vec<String>>, from: &str, to: &str) -> bool {
    uses[from].iter().any(|next| next == to || reaches(uses, next, to))
}

/// The crates that each crate uses directly, without those that it reaches through another one.
fn arrows() -> Vec<(String, Vec<String>)> {
    let name = |folder: &str| folder.rsplit('/').next().unwrap_or(folder).to_owned();
    let all: Vec<String> = crates().iter().map(|folder| name(folder)).collect();
    let uses: BTreeMap<String, Vec<String>> = crates()
        .iter()
        .map(|folder| {
            let named = dependencies(folder, "dependencies");
            (name(folder), all.iter().filter(|of| named.contains(*of)).cloned().collect())
        })
        .collect();
    let direct = |of: &String| {
        let named = &uses[of];
        let is_direct = |to: &&String| !named.iter().any(|over| reaches(&uses, over, to));
        named.iter().filter(is_direct).cloned().collect()
    };
    all.iter().rev().map(|of| (of.clone(), direct(of))).collect()
}

/// The picture of `docs/architecture.md` is that of the manifests, and each crate has a row below it. `UPDATE=1` draws it again.
#[test]
fn the_picture_of_the_crates_is_that_of_their_manifests() {
    let path = suite::root().join("docs/architecture.md");
    let page = fs::read_to_string(&path).expect("it is there");
    let start = "```mermaid\nflowchart TD\n";
    let (before, rest) = page.split_once(start).expect("there is a picture");
    let (shown, after) = rest.split_once("```\n").expect("the picture ends");
    let arrows: Vec<String> = arrows()
        .into_iter()
        .filter(|(_, to)| !to.is_empty())
        .map(|(from, to)| format!("    {from} --> {}\n", to.join(" & ")))
        .collect();
    assert!(arrows.len() > 15, "only {} crates use others", arrows.len());
    let drawn = arrows.concat();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{start}{drawn}```\n{after}")).expect("it can be written");
    }
    assert!(drawn == shown, "UPDATE=1 draws the crates again");
    for folder in crates() {
        assert!(after.contains(&format!("\n| `{folder}/` (`")), "no row says what {folder} holds");
    }
}

/// Where the number of a target is compared with numbers: the table of families, the names of targets in PTX, and the encodings of
/// machine words.
const OF_TARGETS: [&str; 3] = [
    "crates/machine/src/family.rs",
    "crates/ptx/src/production/gate.rs",
    "crates/sass/src/decode.rs",
];

#[test]
fn targets_are_compared_with_numbers_in_one_place() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|of| of.path.contains("/src/")) {
        let code = source.code();
        let words: Vec<&str> = code.split_whitespace().collect();
        let compared = words.windows(3).filter(|of| {
            let is_target = |word: &str| word.rsplit('.').next().is_some_and(|last| last == "sm");
            let is_number = |word: &str| word.starts_with(|c: char| ('1'..='9').contains(&c));
            ["<", "<=", ">", ">=", "==", "!="].contains(&of[1])
                && is_target(of[0].trim_start_matches(['(', '!']))
                && is_number(of[2])
        });
        if !OF_TARGETS.contains(&source.path.as_str()) {
            wrong.extend(compared.map(|of| format!("{}: `{}`", source.path, of.join(" "))));
        }
    }
    assert!(wrong.is_empty(), "ask `Family`: {wrong:#?}");
}

/// Files of `ptx` and `describe` that list words of instructions beside the table, with what they say of them.
const LISTS: [(&str, &str); 2] = [
    ("crates/describe/src/ptx/modifiers.rs", "what each word means"),
    ("crates/ptx/src/registers.rs", "which registers a type fits"),
];

/// The words in strings with only `,` and `|` between them, list by list.
fn lists(code: &str) -> Vec<Vec<&str>> {
    let mut lists = vec![Vec::new()];
    for (index, piece) in code.split('"').enumerate() {
        if index % 2 == 1 {
            lists.last_mut().expect("there is one").extend(piece.split_whitespace());
        } else if !piece.trim_matches([',', '|', ' ', '\n']).is_empty() {
            lists.push(Vec::new());
        }
    }
    lists
}

#[test]
fn words_of_instructions_are_listed_in_their_table_alone() {
    const FEW: usize = 5;
    let mut words: BTreeSet<String> = ptx::opcode::all().map(str::to_owned).collect();
    for (head, modifiers) in ptx::modifier::all() {
        words.extend(head.split('.').chain(modifiers).map(str::to_owned));
    }
    let mut found = BTreeSet::new();
    for source in sources() {
        if source.is_in("crates/ptx/src/") || source.is_in("crates/describe/src/") {
            let is_list =
                |all: &Vec<&str>| all.len() > FEW && all.iter().all(|word| words.contains(*word));
            let code = source.code().replace("'\"'", "").replace("\\\"", "");
            let any = lists(&code).iter().any(is_list);
            found.extend(any.then_some(source.path));
        }
    }
    let known: BTreeSet<String> = LISTS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, known);
}

#[test]
fn every_section_is_cited() {
    let sources = sources();
    let table = sources.iter().find(|s| s.path == "model/src/section.rs").expect("it is there");
    let folder = suite::folder();
    for section in section::ALL {
        let row = table.text.lines().find(|line| line.contains(&format!("\"{}\"", section.anchor)));
        let name = words(row.expect("each section has a row")).next().expect("a row has a name");
        let cited = sources
            .iter()
            .filter(|source| source.path != table.path && !source.is_in("tests/"))
            .any(|source| names(&source.code(), name));
        let tested = folder.join(section.anchor).is_dir();
        assert!(
            cited || tested,
            "nothing cites section::{name}, and the suite has no folder of it"
        );
    }
}

/// A number as sections have them: three parts, or two in parentheses.
fn section_number(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    for (start, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
        let before = start.checked_sub(1).map(|at| bytes[at]);
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_') {
            continue;
        }
        let rest = &text[start..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        let parts: Vec<&str> = number.split('.').collect();
        // The argument of a call is not a section.
        let called = start > 1 && bytes[start - 2].is_ascii_alphanumeric();
        let in_parentheses = before == Some(b'(') && !called && rest[end..].starts_with(')');
        // The address of this computer is not one.
        let address = parts.len() == 4 && parts[0] == "127";
        if parts.iter().all(|part| !part.is_empty())
            && !address
            && (parts.len() > 2 || parts.len() == 2 && in_parentheses)
        {
            return Some(number.to_owned());
        }
    }
    None
}

#[test]
fn section_numbers_are_in_one_place() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.path.contains("/src/") || source.path == "model/src/section.rs" {
            continue;
        }
        for line in source.code().lines() {
            if let Some(number) = section_number(line) {
                wrong.push(format!("{}: {number} in `{}`", source.path, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "use model::section: {wrong:#?}");
}

#[test]
fn a_file_says_what_it_holds_and_is_short() {
    for source in sources() {
        let path = &source.path;
        assert!(source.text.starts_with("//! "), "{path} begins with what it holds");
        let lines = source.text.lines().count();
        assert!(lines <= LONGEST, "{path} has {lines} lines");
        for word in [["TO", "DO"].concat(), ["FIX", "ME"].concat()] {
            assert!(!names(&source.text, &word), "{path} has a {word}: open an issue");
        }
    }
}

/// The repository paths that a text names in code quotes, outside of fenced blocks: below one of the
/// `folders`, with `/src/` or the extension of a file.
fn paths<'t>(text: &'t str, folders: &[String]) -> Vec<&'t str> {
    let prose = text.split("\n```").step_by(2);
    let quoted = prose.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let words = quoted.flat_map(str::split_whitespace);
    let is_path = |word: &&str| {
        let Some((folder, rest)) = word.split_once('/') else { return false };
        let file = rest.rsplit('/').next().unwrap_or("");
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let placeholder = word.contains(['*', '<', '{', '…']) || word.contains("NAME");
        let is_file = EXTENSIONS.contains(&extension) || word.contains("/src/");
        folders.iter().any(|known| known == folder) && is_file && !placeholder
    };
    words.filter(is_path).collect()
}

/// Of the files that pages name.
const EXTENSIONS: [&str; 13] =
    ["c", "cat", "csv", "json", "litmus", "ll", "md", "ptx", "rs", "sh", "table", "toml", "yml"];

/// A link of a document leads to a file, and a path that it names is one of the repository.
#[test]
fn links_lead_somewhere() {
    let root = suite::root();
    let mut documents = Vec::new();
    walk(&root.join("docs"), "md", &mut |path| documents.push(path.to_path_buf()));
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        documents.push(root.join(name));
    }
    let more =
        [".ci", ".github", "benches", "crates", "docs", "examples", "tests"].map(str::to_owned);
    let folders: Vec<String> = crates().into_iter().chain(more).collect();
    let mut named = 0;
    for document in documents {
        let text = fs::read_to_string(&document).expect("the document can be read");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or("");
            let near = document.parent().expect("it is in a folder").join(file);
            let there = target.contains("://") || near.exists();
            assert!(there, "{}: {target} is not there", document.display());
        }
        // The changelog names files of its time.
        if document.ends_with("CHANGELOG.md") {
            continue;
        }
        for path in paths(&text, &folders) {
            let there = root.join(path).exists();
            assert!(there, "{}: `{path}` is not there", document.display());
            named += 1;
        }
    }
    assert!(named > 50, "only {named} paths are named");
}

#[test]
fn paths_are_found() {
    let text =
        "`cargo x model/src/a.rs` `model/src/` `model::b`\n```\n`docs/c.md`\n```\n`docs/<d>.md`";
    assert_eq!(
        paths(text, &["model".to_owned(), "docs".to_owned()]),
        ["model/src/a.rs", "model/src/"]
    );
}

/// What `docs/glossary.md` explains as a verdict or as the code of a note.
fn explained() -> BTreeSet<String> {
    let text = fs::read_to_string(suite::root().join("docs/glossary.md")).expect("it is there");
    let terms = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    terms.map(|(term, _)| term.to_owned()).collect()
}

/// The strings in `text` between `before` and a quotation mark.
fn quoted<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Each verdict and each code of a note is in the glossary, and the glossary has no other.
#[test]
fn verdicts_and_notes_are_in_the_glossary() {
    let mut named: BTreeSet<String> =
        refine::verdict::Verdict::ALL.iter().map(|verdict| verdict.name().to_owned()).collect();
    let judges =
        |source: &&Source| source.is_in("crates/judge/src/") || source.is_in("crates/reach/src/");
    for source in sources().iter().filter(judges) {
        let code = source.code().split_whitespace().collect::<Vec<_>>().join(" ");
        let mut found = quoted(&code, "Note { code: \"");
        // A verdict of the machine is given with its reason; one of a test is the name of a variant.
        if source.path == "crates/reach/src/one.rs" {
            found.extend(quoted(&code, "=> (\""));
            found.extend(quoted(&code, "=> { (\""));
        }
        found.extend(code.split("Verdict::").filter_map(|arm| {
            let (variant, name) = arm.split_once(" => \"")?;
            (!variant.contains(' ')).then(|| name.split('"').next().unwrap_or(""))
        }));
        named.extend(found.into_iter().map(str::to_owned));
    }
    for known in ["holds", "stuck", "not-explored", "refused", "preserved"] {
        assert!(named.contains(known), "`{known}` is not found in the sources");
    }
    let explained = explained();
    for name in &named {
        assert!(explained.contains(name), "docs/glossary.md does not explain `{name}`");
    }
    let unknown: Vec<_> = explained.difference(&named).collect();
    assert!(
        unknown.is_empty(),
        "docs/glossary.md explains {unknown:?}, which the sources do not name"
    );
}

/// The tests that the architecture says hold its invariants are there.
#[test]
fn the_tests_that_hold_the_invariants_exist() {
    let document =
        fs::read_to_string(suite::root().join("docs/architecture.md")).expect("it is there");
    let sources = sources();
    let mut named = 0;
    let invariants: Vec<&str> = document.lines().filter(|line| line.starts_with("- **")).collect();
    for quoted in invariants.iter().flat_map(|line| line.split('`').skip(1).step_by(2)) {
        let Some((file, test)) = quoted.split_once("::") else { continue };
        let path = format!("tests/{file}.rs");
        let Some(source) = sources.iter().find(|source| source.path == path) else { continue };
        named += 1;
        assert!(source.text.contains(&format!("fn {test}(")), "{quoted} is not a test");
    }
    assert!(named > 5, "only {named} tests are named");
}

/// Names of types that several crates define, at most.
const SHARED: usize = 20;

/// The types that a text defines. A `type` within a trait or an `impl` is not one: it names another.
fn defined(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let mut words = words(line).skip_while(|word| matches!(*word, "pub" | "crate" | "super"));
        let name = match words.next()? {
            "struct" | "enum" | "trait" | "union" => words.next(),
            "type" if !line.starts_with(' ') => words.next(),
            _ => None,
        };
        // Macros define what a parameter names.
        name.filter(|name| name.starts_with(char::is_uppercase))
    })
}

/// For each name of a type, the files below `src/` that define it.
fn types() -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // The types for other programs have the names of those that they stand for.
    let internal = |source: &Source| source.path.contains("/src/") && !source.is_in(PUBLIC);
    for source in sources().into_iter().filter(internal) {
        for name in defined(&source.code()) {
            all.entry(name.to_owned()).or_default().push(source.path.clone());
        }
    }
    assert!(all.len() > 500, "only {} types", all.len());
    all
}

/// The name of the folder of the crate that a file belongs to.
fn folder(path: &str) -> &str {
    let folder = path.split("/src/").next().unwrap_or(path);
    folder.rsplit('/').next().unwrap_or(folder)
}

#[test]
fn no_type_name_is_defined_twice_in_a_crate() {
    let mut wrong = Vec::new();
    for (name, paths) in types() {
        let crates: BTreeSet<&str> = paths.iter().map(|path| folder(path)).collect();
        if crates.len() < paths.len() {
            wrong.push(format!("{name}: {}", paths.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "name each by what it is: {wrong:#?}");
}

/// The table of `docs/architecture.md` lists each of them with its crates, and no other name.
#[test]
fn a_type_name_of_several_crates_is_listed_with_its_reason() {
    let document =
        fs::read_to_string(suite::root().join("docs/architecture.md")).expect("it is there");
    let section = document.split("\n## Names in several crates\n").nth(1).expect("it is there");
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut listed = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(cells.len() == 5 && !cells[3].is_empty(), "name, crates, reason: {row}");
        let crates: BTreeSet<String> = words(cells[2]).map(str::to_owned).collect();
        listed.insert(cells[1].trim_matches('`').to_owned(), crates);
    }
    let mut shared = BTreeMap::new();
    for (name, paths) in types() {
        let crates: BTreeSet<String> = paths.iter().map(|path| folder(path).to_owned()).collect();
        if crates.len() > 1 {
            shared.insert(name, crates);
        }
    }
    assert_eq!(listed, shared, "listed in docs/architecture.md, and defined");
    assert!(shared.len() <= SHARED, "{} names of types stand in several crates", shared.len());
}
