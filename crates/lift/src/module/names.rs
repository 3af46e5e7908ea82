//! Names of PTX as names that a column allows, and the blocks in which they are declared.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{BodyItem, MemoryDeclaration};

use crate::function::is_reserved;

/// A PTX name with the characters that a column allows.
pub(super) fn plain(name: &str) -> String {
    let name = name.strip_prefix('%').unwrap_or(name);
    let first = name.starts_with(|c: char| c.is_ascii_digit());
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    first.then_some('_').into_iter().chain(letters).collect()
}

/// A block of a body, or the whole body of a function.
#[derive(Default)]
struct NameBlock<'a> {
    /// Whether it is a whole body: names that no inner block declares are its own.
    body: bool,
    /// Registers and labels of the block.
    names: BTreeSet<&'a str>,
    /// Registers with numbers at the end of their names.
    ranges: Vec<(&'a str, u32)>,
    variables: BTreeMap<&'a str, MemoryDeclaration<'a>>,
    /// The names in the column.
    of: BTreeMap<String, String>,
    labels: BTreeSet<&'a str>,
    /// Under which its names are kept for the next time that its body is read.
    key: Option<BlockKey>,
    /// Of a whole body: how many blocks it has opened.
    opened: usize,
}

/// A block of the body of a function: the index of the function, and the number of blocks that open before it.
type BlockKey = (usize, usize);

impl NameBlock<'_> {
    fn declares(&self, name: &str) -> bool {
        let in_range = |(prefix, count): &(&str, u32)| {
            let number = name.strip_prefix(prefix).unwrap_or("");
            let canonical = number == "0" || !number.starts_with('0');
            canonical && number.parse::<u32>().is_ok_and(|number| number < *count)
        };
        self.names.contains(name)
            || self.variables.contains_key(name)
            || self.ranges.iter().any(in_range)
    }
}

/// What a name denotes in the innermost block that declares it.
pub(crate) enum BlockName<'a> {
    /// A register or a label.
    Register,
    Memory(MemoryDeclaration<'a>),
    /// No block declares it.
    Undeclared,
}

/// The names of a function while it is read. Different names stay different: `%r`, `r`, `$r` and `_r` are four
/// names, and so are those of two blocks.
#[derive(Default)]
pub(crate) struct Names<'a> {
    taken: BTreeSet<String>,
    blocks: Vec<NameBlock<'a>>,
    /// The names of registers and memory of bodies that are read in the place of each call.
    kept: BTreeMap<BlockKey, BTreeMap<String, String>>,
}

impl<'a> Names<'a> {
    /// A name in the column that no other name has.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let base = plain(name);
        let mut own = base.clone();
        let mut next = 2;
        while is_reserved(&own) || !self.taken.insert(own.clone()) {
            own = format!("{base}_{next}");
            next += 1;
        }
        own
    }

    /// Marks a name of the column as used.
    pub(crate) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// Opens the body of a function.
    pub(crate) fn open_body(&mut self) {
        self.blocks.push(NameBlock { body: true, ..NameBlock::default() });
    }

    /// Opens the body of the function at an index. Its registers and memory, which have no value before a call, have the
    /// same names in each call.
    pub(crate) fn open_called(&mut self, function: usize) {
        let key = (function, 0);
        let of = self.kept.remove(&key).unwrap_or_default();
        self.blocks.push(NameBlock { body: true, of, key: Some(key), ..NameBlock::default() });
    }

    /// The labels of the body that was opened last, which are those of one call.
    pub(crate) fn labels_of_body(&mut self, items: &[BodyItem<'a>]) {
        if let Some(block) = self.blocks.last_mut() {
            block.labels = labels(items);
        }
    }

    /// Opens a block; `after` is the part of the body after its brace. Labels may be used before them.
    pub(crate) fn open(&mut self, after: &[BodyItem<'a>]) {
        let labels = labels(after);
        let body = self.blocks.iter_mut().rfind(|block| block.body);
        let key = body.and_then(|body| {
            body.opened += 1;
            Some((body.key?.0, body.opened))
        });
        let of = key.and_then(|key| self.kept.remove(&key)).unwrap_or_default();
        let names = labels.clone();
        self.blocks.push(NameBlock { names, of, labels, key, ..NameBlock::default() });
    }

    pub(crate) fn close(&mut self) {
        let Some(mut block) = self.blocks.pop() else { return };
        if let Some(key) = block.key {
            block.of.retain(|name, _| !block.labels.contains(&name[..]));
            self.kept.insert(key, block.of);
        }
    }

    /// Declares a register of the innermost block, or as many with numbers.
    pub(crate) fn register(&mut self, name: &'a str, count: Option<u32>) {
        let Some(block) = self.blocks.last_mut() else { return };
        match count {
            Some(count) => block.ranges.push((name, count)),
            None => drop(block.names.insert(name)),
        }
    }

    /// Declares memory of the innermost block.
    pub(crate) fn declare(&mut self, variable: MemoryDeclaration<'a>) {
        if let Some(block) = self.blocks.last_mut() {
            block.variables.insert(variable.name, variable);
        }
    }

    /// The index of the block whose name this is.
    fn home(&self, name: &str) -> usize {
        let block = self.blocks.iter().rposition(|block| block.body || block.declares(name));
        block.expect("a body is open")
    }

    /// What a name denotes if a block declares it.
    pub(crate) fn of_block(&self, name: &str) -> BlockName<'a> {
        let block = &self.blocks[self.home(name)];
        match block.variables.get(name) {
            Some(variable) => BlockName::Memory(*variable),
            None if block.declares(name) => BlockName::Register,
            None => BlockName::Undeclared,
        }
    }

    /// The name in the column.
    pub(crate) fn plain(&mut self, name: &str) -> String {
        self.called(name, name)
    }

    /// The name in the column, which is this one if no other name has that.
    pub(crate) fn called(&mut self, name: &str, wanted: &str) -> String {
        let home = self.home(name);
        if let Some(known) = self.blocks[home].of.get(name) {
            return known.clone();
        }
        let own = self.fresh(wanted);
        self.blocks[home].of.insert(name.to_owned(), own.clone());
        own
    }
}

/// The labels of a block, of which this is the part after its brace, or of a whole body.
fn labels<'a>(after: &[BodyItem<'a>]) -> BTreeSet<&'a str> {
    let mut labels = BTreeSet::new();
    let mut depth = 0_usize;
    for item in after {
        match item {
            BodyItem::Open => depth += 1,
            BodyItem::Close if depth == 0 => break,
            BodyItem::Close => depth -= 1,
            BodyItem::Label(label) if depth == 0 => drop(labels.insert(*label)),
            BodyItem::Label(_)
            | BodyItem::Instruction(_)
            | BodyItem::Register { .. }
            | BodyItem::Variable(_)
            | BodyItem::Targets(_) => {}
        }
    }
    labels
}
