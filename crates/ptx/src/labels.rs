//! Branches, and the labels and tables that they name.
//!
//! A label is known in its block and in the blocks inside of it; a label that begins with `%` is one like any other.

use rustc_hash::FxHashMap;

use super::lint::Linter;
use super::symbols::is_special;
use super::syntax::{BodyMark, Function, Opaque, Statement};
use model::section;
use text::cursor::short;
use text::report::ByteSpan;

/// A label of a function.
struct LabelPlace {
    /// The block that it is in.
    block: usize,
    /// Its index among the statements.
    index: usize,
    /// Whether it names a list of targets for `brx.idx`.
    table: bool,
}

/// The labels of a function, and the block of each statement.
struct FunctionLabels<'a> {
    /// The block around each block; the first one is the body.
    parents: Vec<usize>,
    blocks: Vec<usize>,
    places: FxHashMap<&'a str, Vec<LabelPlace>>,
    /// Lists of targets: the block, the statement after them, and their names.
    lists: Vec<(usize, usize, &'a [ByteSpan])>,
    /// Labels that their block has already.
    repeated: Vec<ByteSpan>,
}

impl<'a> FunctionLabels<'a> {
    fn new(text: &'a str, function: &'a Function) -> FunctionLabels<'a> {
        let mut all = FunctionLabels {
            parents: vec![0],
            blocks: Vec::with_capacity(function.statements.len()),
            places: FxHashMap::default(),
            lists: Vec::new(),
            repeated: Vec::new(),
        };
        let mut marks = function.marks.iter().peekable();
        let mut block = 0;
        for index in 0..=function.statements.len() {
            while let Some((_, mark)) = marks.next_if(|(before, _)| *before as usize <= index) {
                match mark {
                    BodyMark::Open => {
                        all.parents.push(block);
                        block = all.parents.len() - 1;
                    }
                    BodyMark::Close => block = all.parents[block],
                    BodyMark::Targets(targets) => {
                        all.lists.push((block, index, targets));
                        all.make_table(text, function, index);
                    }
                    BodyMark::Register { .. } | BodyMark::Variable(_) => {}
                }
            }
            all.blocks.push(block);
            let Some(Statement::Label(at)) = function.statements.get(index) else { continue };
            let places = all.places.entry(at.of(text)).or_default();
            if places.iter().any(|place| place.block == block) {
                all.repeated.push(*at);
            }
            places.push(LabelPlace { block, index, table: false });
        }
        all
    }

    /// The label before this statement names a list of targets.
    fn make_table(&mut self, text: &'a str, function: &'a Function, index: usize) {
        let before = index.checked_sub(1).and_then(|before| function.statements.get(before));
        let Some(Statement::Label(at)) = before else { return };
        if let Some(place) = self.places.get_mut(at.of(text)).and_then(|places| places.last_mut()) {
            place.table = true;
        }
    }

    /// The label that a name stands for in a block: that of the nearest block around it.
    fn find(&self, name: &str, mut block: usize) -> Option<&LabelPlace> {
        let places = self.places.get(name)?;
        loop {
            if let Some(place) = places.iter().find(|place| place.block == block) {
                return Some(place);
            }
            if block == 0 {
                return None;
            }
            block = self.parents[block];
        }
    }
}

impl Linter<'_, '_> {
    /// The labels of a function, and what its branches name.
    pub(super) fn labels(&mut self, function: &Function) {
        let text = self.text;
        let labels = FunctionLabels::new(text, function);
        for at in &labels.repeated {
            let message = format!("its block has the label `{}` already", short(at.of(text)));
            self.report
                .error("label-twice", *at, message)
                .section(section::of_opcode("bra"))
                .help("rename one of the two");
        }
        for &(block, index, targets) in &labels.lists {
            for target in targets {
                self.branch_target(&labels, *target, block, index, false);
            }
        }
        for (index, statement) in function.statements.iter().enumerate() {
            if let Statement::Opaque(opaque) = statement {
                self.branch(&labels, opaque, labels.blocks[index], index);
            }
        }
    }

    fn branch(&mut self, labels: &FunctionLabels<'_>, opaque: &Opaque, block: usize, index: usize) {
        let opcode = opaque.parts.of(&self.module.parts).first().map(|at| at.of(self.text));
        let indexed = match opcode {
            Some("bra") => false,
            Some("brx") => true,
            Some(_) | None => return,
        };
        // The index of a table is before its name, if it is a register.
        let Some(target) = opaque.names.of(&self.module.names).last() else { return };
        // A name that is declared is not a label, unless a label hides the declaration.
        let name = target.at.of(self.text);
        let hides = labels.find(name, block).is_some_and(|place| place.index < index);
        if is_special(name) || target.symbol.is_some() && !hides {
            self.report
                .error("label", target.at, format!("`{}` is a register or a variable", short(name)))
                .section(section::of_opcode("bra"))
                .help("branch to a label of this function");
            return;
        }
        self.branch_target(labels, target.at, block, index, indexed);
    }

    /// A name that is to be that of a label, or of a table of labels.
    fn branch_target(
        &mut self,
        labels: &FunctionLabels<'_>,
        target: ByteSpan,
        block: usize,
        index: usize,
        indexed: bool,
    ) {
        let name = target.of(self.text);
        let short = short(name);
        let (message, help) = match labels.find(name, block) {
            Some(place) if place.table && !indexed => (
                format!("`{short}` is a list of targets, and no label to branch to"),
                Some("`brx.idx` takes one of a list of targets".to_owned()),
            ),
            Some(place) if !place.table && indexed => (
                format!("`{short}` is not a list of targets"),
                Some(format!("write `.branchtargets` after a label: `T: .branchtargets {short};`")),
            ),
            Some(place) if indexed && place.index > index => (
                format!("the list of targets `{short}` is after this branch"),
                Some("write the list before the branch".to_owned()),
            ),
            Some(_) => return,
            None if labels.places.contains_key(name) => (
                format!("the label `{short}` is in another block"),
                Some("a block knows its labels, and those of the blocks around it".to_owned()),
            ),
            None => {
                let worth = self.report.is_worth(labels.places.len());
                let known = || {
                    let mut known: Vec<&str> = labels.places.keys().copied().collect();
                    known.sort_unstable();
                    known
                };
                let near = worth.then(|| self.report.nearest(name, known())).flatten();
                let help = near.map(|near| format!("did you mean `{near}`?"));
                (format!("this function has no label `{short}`"), help)
            }
        };
        self.report
            .error("label", target, message)
            .section(section::of_opcode(if indexed { "brx" } else { "bra" }))
            .help_if(help);
    }
}
