//! Checks the rules of the memory instructions of a module.

use std::collections::BTreeMap;

use crate::fences::{self, FenceAdvice, Spelling};
use crate::modifier;
use crate::opcode;
use crate::productions::{self, InstructionHead};
use crate::qualifier::{BadQualifier, QualifierKind, Qualifiers};
use crate::rule::{Authority, Breach, Edit, Rule};
use crate::rules;
use crate::shape::{
    AddressBase, AddressShape, InstructionForm, Lanes, Opcode, OperandShape, ValueShape,
};
use crate::version::{FunctionKind, PtxIsa, RuleContext, Target};
use model::isa::{Type, TypeKind};
use model::section;

use super::constant;
use super::syntax::{
    MemoryInstruction, ModuleSyntax, Opaque, Operand, OperandKind, Scalar, Statement, Symbol,
};
use crate::bad_qualifier;
use crate::correction::{InstructionPieces, OperandPiece, PieceShape};
use text::cursor::short;
use text::diagnostic::Severity;
use text::report::{ByteSpan, Diagnostics, FixBuilder};

/// Which authority decides, and for which version and target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LintOptions {
    /// In the place of the file's `.version`.
    pub isa: Option<PtxIsa>,
    /// In the place of the file's `.target`.
    pub target: Option<Target>,
    /// The document decides; without this, `ptxas` does where the two differ.
    pub strict: bool,
}

/// How bad it is to break a rule. What only one of the two says is a warning where the other counts.
pub(super) fn severity(by: Authority, strict: bool) -> Severity {
    match (by, strict) {
        (Authority::Both, _) | (Authority::Ptxas, false) | (Authority::Document, true) => {
            Severity::Error
        }
        (Authority::Document, false) | (Authority::Ptxas, true) | (Authority::Neither, _) => {
            Severity::Warning
        }
    }
}

/// What is said of a rule that only one of the two has.
fn who(by: Authority) -> Option<&'static str> {
    match by {
        Authority::Both | Authority::Neither => None,
        Authority::Document => Some("the document requires this; ptxas does not"),
        Authority::Ptxas => Some("ptxas requires this; the document does not"),
    }
}

/// What is said of a word that is not known, in a module of a later version than the newest that is.
const LATER: &str = "it may exist in a later version of PTX";

/// Stands for any bad qualifier among the codes of what is wrong.
const BAD_QUALIFIER: &str = "qualifier";

pub(super) struct Linter<'a, 'r> {
    pub(super) text: &'a str,
    pub(super) module: &'r ModuleSyntax,
    pub(super) report: &'r mut Diagnostics,
    pub(super) options: LintOptions,
    /// The operands of one instruction after the other.
    pub(super) buffer: Vec<OperandShape>,
}

impl<'a> Linter<'a, '_> {
    /// How many memory instructions there are.
    pub(super) fn module(&mut self) -> usize {
        let mut count = 0;
        self.version();
        self.version_of_target();
        self.address_size();
        for function in &self.module.functions {
            let setting = setting(self.module, self.options, function.kind);
            for statement in &function.statements {
                match statement {
                    Statement::Memory(memory) => {
                        self.memory(memory, &setting);
                        count += 1;
                    }
                    Statement::Opaque(opaque) => {
                        count += usize::from(self.opcode(opaque, &setting));
                    }
                    Statement::Label(_) => {}
                }
            }
            self.labels(function);
            self.special_registers(function, &setting);
        }
        count
    }

    /// A module says its version; rules that came with a later one are not known.
    fn version(&mut self) {
        if !self.module.versioned && self.options.isa.is_none() {
            let message = "a module begins with `.version`";
            self.report
                .error("version-missing", ByteSpan::default(), message)
                .note("this module has none")
                .section(section::VERSION)
                .help(format!(
                    "write `.version {}` and a `.target`, or pass `--ptx-isa {0}`",
                    PtxIsa::NEWEST
                ));
        }
        let Some((isa, at)) = self.module.isa.filter(|_| self.options.isa.is_none()) else {
            return;
        };
        if isa > PtxIsa::NEWEST {
            self.report
                .error(
                    "version-newer",
                    at,
                    format!("the module is checked by the rules of PTX ISA {}", PtxIsa::NEWEST),
                )
                .note(format!("this module requires PTX ISA {isa}"))
                .severity(Severity::Note);
        }
    }

    /// Without `.address_size`, addresses have 32 bits; ptxas takes 64 where registers have them.
    fn address_size(&mut self) {
        if self.module.address_bits.is_some() {
            return;
        }
        let wide = |operand: &Operand| match operand.kind {
            OperandKind::Address(address) => {
                matches!(address.base, Scalar::Symbol(Symbol::Register(ty)) if ty.bits == 64)
            }
            OperandKind::Scalar(_) | OperandKind::Sum(_) | OperandKind::Vector(_) => false,
        };
        if let Some(operand) = self.module.operands.iter().find(|operand| wide(operand)) {
            self.report
                .error(
                    "address-size-missing",
                    operand.at,
                    "without `.address_size`, addresses have 32 bits",
                )
                .note(who(Authority::Document).unwrap_or_default())
                .severity(severity(Authority::Document, self.options.strict))
                .section(section::ADDRESS_SIZE)
                .help("write `.address_size 64` after `.target`");
        }
    }

    /// An opcode that PTX does not have, or an instruction that its productions do not allow. Whether it is a memory
    /// instruction that was checked.
    pub(super) fn opcode(&mut self, opaque: &Opaque, setting: &RuleContext) -> bool {
        let Some(&at) = opaque.parts.of(&self.module.parts).first() else { return false };
        let name = at.of(self.text);
        if opcode::is_known(name) {
            return self.modifiers(opaque, setting);
        }
        let near = self.report.nearest(name, opcode::all());
        let newer = setting.isa > PtxIsa::NEWEST && near.is_none();
        self.report
            .error("opcode", at, format!("PTX has no instruction `{}`", short(name)))
            .note(if newer { LATER } else { "" })
            .severity(if newer { Severity::Warning } else { Severity::Error })
            .section(section::INSTRUCTIONS)
            .help_if(near.map(|near| format!("did you mean `{near}`?")));
        false
    }

    /// A modifier that the instruction does not have. Whether the instruction was checked by productions.
    fn modifiers(&mut self, opaque: &Opaque, setting: &RuleContext) -> bool {
        let places = opaque.parts.of(&self.module.parts);
        let parts: Vec<&str> = places.iter().map(|part| part.of(self.text)).collect();
        // A later version may have given the instruction what others have.
        let later = setting.isa > PtxIsa::NEWEST;
        let fault = if later { modifier::own_fault } else { modifier::fault };
        let Some(fault) = fault(&parts) else {
            return self.productions(opaque, &parts, setting);
        };
        let part = parts[fault.position];
        let near = self.report.nearest(part, fault.known.iter().copied());
        let newer = later && near.is_none();
        self.report
            .error("modifier", places[fault.position], fault.message(&parts))
            .note(if newer { LATER } else { "" })
            .severity(if newer { Severity::Warning } else { Severity::Error })
            .section(section::of_parts(&parts))
            .help_if(fault.help(near));
        false
    }

    /// Instructions that access memory or synchronize threads, and that are not judged: their names,
    /// and how many there are.
    pub(super) fn not_judged(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for statement in self.module.functions.iter().flat_map(|function| &function.statements) {
            let Statement::Opaque(opaque) = statement else { continue };
            let parts = opaque.parts.of(&self.module.parts);
            let part = |index: usize| parts.get(index).map_or("", |part| part.of(self.text));
            let (name, form) = (part(0), part(1));
            let names: Vec<&str> = parts.iter().map(|part| part.of(self.text)).collect();
            let head = productions::find(&names);
            let judged = |head: &InstructionHead| !head.memory || head.is_checked();
            // One whose name is wrong has its error.
            if head.is_none_or(judged) || modifier::fault(&names).is_some() {
                continue;
            }
            let own = opcode::has_own_rules(name, form) || name == "cp";
            let name = if own { format!("{name}.{form}") } else { name.to_owned() };
            *all.entry(name).or_insert(0) += 1;
        }
        all
    }

    fn part(&self, memory: &MemoryInstruction, index: usize) -> &'a str {
        memory.parts.of(&self.module.parts).get(index).map_or("", |part| part.of(self.text))
    }

    pub(super) fn qualifiers(&self, memory: &MemoryInstruction) -> (Qualifiers, Vec<BadQualifier>) {
        let parts = memory.parts.of(&self.module.parts);
        let text = self.text;
        Qualifiers::read(parts[1..].iter().map(|part| part.of(text)), rules::accepts(memory.opcode))
    }

    /// The operands as rules see them.
    pub(super) fn shapes(&self, memory: &MemoryInstruction) -> impl Iterator<Item = OperandShape> {
        let operands = memory.operands.of(&self.module.operands);
        operands.iter().map(|operand| match operand.kind {
            // The address of a variable with a number is a value; ptxas takes it only so.
            OperandKind::Sum(Scalar::Symbol(Symbol::Variable(_))) => {
                OperandShape::Value(ValueShape::Register(None))
            }
            OperandKind::Scalar(scalar) | OperandKind::Sum(scalar) => {
                OperandShape::Value(value(scalar))
            }
            OperandKind::Vector(range) => {
                let elements = range.of(&self.module.elements);
                OperandShape::Lanes(Lanes::new(elements.iter().map(|element| value(element.value))))
            }
            OperandKind::Address(address) => OperandShape::Place(AddressShape {
                base: base(address.base),
                offset: address.offset,
                unified: address.unified.is_some(),
            }),
        })
    }

    pub(super) fn memory(&mut self, memory: &MemoryInstruction, setting: &RuleContext) {
        if matches!(memory.opcode, Opcode::Fence | Opcode::Membar)
            && self.other_fence(memory, setting)
        {
            return;
        }
        let (qualifiers, faults) = self.qualifiers(memory);
        let outside = qualifiers.outside.map(|at| at.position);
        if !faults.is_empty() || outside.is_some() {
            let written = self.written(memory);
            let foreign = outside
                .map(|position| BadQualifier::Foreign { position, kind: QualifierKind::Outside });
            let left = faults.len().saturating_sub(1);
            for fault in faults.into_iter().chain(foreign) {
                let other = self.other_way(memory, &written, fault, setting);
                let accepts = rules::accepts(memory.opcode);
                let first = bad_qualifier::correction(self.report, &written, fault, accepts);
                let chosen = other.clone().map(|edit| (edit, false)).or(first);
                let fix = chosen.and_then(|(edit, safe)| {
                    let after =
                        self.broken_by(memory, &written, std::slice::from_ref(&edit), setting)?;
                    let legal =
                        after.len() <= left && after.iter().all(|code| *code == BAD_QUALIFIER);
                    legal.then(|| written.fix(&[edit], safe)).flatten()
                });
                let newer = setting.isa > PtxIsa::NEWEST
                    && matches!(fault, BadQualifier::Unknown { .. })
                    && bad_qualifier::correction(self.report, &written, fault, accepts).is_none();
                let draft = bad_qualifier::tell(self.report, &written, fault, accepts);
                if newer {
                    draft.severity(Severity::Warning).note(LATER);
                }
                draft.fix_if(fix);
                if let Some(other) = other {
                    draft.help(written.corrected(&[other]));
                }
            }
            return;
        }
        let mut shapes = std::mem::take(&mut self.buffer);
        shapes.clear();
        shapes.extend(self.shapes(memory));
        let form = InstructionForm {
            opcode: memory.opcode,
            q: &qualifiers,
            predicated: memory.guard.is_some(),
            operands: &shapes,
        };
        let mut broken = Vec::new();
        rules::check(&form, setting, |rule, breach| broken.push((rule, breach)));
        self.buffer = shapes;
        if !broken.is_empty() {
            self.broken(memory, &broken, setting);
        }
    }

    /// Of two qualifiers of a kind, the second is taken away, unless that breaks more rules than to
    /// take the first away.
    fn other_way(
        &self,
        memory: &MemoryInstruction,
        written: &InstructionPieces<'_>,
        fault: BadQualifier,
        setting: &RuleContext,
    ) -> Option<Edit> {
        let BadQualifier::Repeated { first, second, .. } = fault else { return None };
        let [first, second] = [first, second].map(|position| [Edit::Remove(position)]);
        let breaches = |fix| Some(self.broken_by(memory, written, fix, setting)?.len());
        let [edit] = first.clone();
        (breaches(&first)? < breaches(&second)?).then_some(edit)
    }

    /// The codes of what is wrong with an instruction once it is corrected; `None` where that is not
    /// known.
    fn broken_by(
        &self,
        memory: &MemoryInstruction,
        written: &InstructionPieces<'_>,
        fix: &[Edit],
        setting: &RuleContext,
    ) -> Option<Vec<&'static str>> {
        let parts = written.corrected_parts(fix);
        let opcode = Opcode::named(parts.first()?)?;
        let (q, faults) = Qualifiers::read(parts[1..].iter().copied(), rules::accepts(opcode));
        let written_operands = memory.operands.of(&self.module.operands);
        let mut operands = Vec::new();
        for (index, shape) in self.shapes(memory).enumerate() {
            let shape = match shape {
                OperandShape::Place(mut place) => {
                    for edit in fix {
                        if let Edit::SetUnified(unified) = edit {
                            place.unified = *unified;
                        }
                    }
                    OperandShape::Place(place)
                }
                OperandShape::Value(_) | OperandShape::Lanes(_) => {
                    match written_operands[index].kind {
                        OperandKind::Scalar(scalar) if fix.contains(&Edit::Bracket(index)) => {
                            OperandShape::Place(AddressShape {
                                base: base(scalar),
                                offset: 0,
                                unified: false,
                            })
                        }
                        OperandKind::Scalar(_)
                        | OperandKind::Sum(_)
                        | OperandKind::Vector(_)
                        | OperandKind::Address(_) => shape,
                    }
                }
            };
            if !fix.contains(&Edit::RemoveOperand(index)) {
                operands.push(shape);
            }
        }
        let predicated = memory.guard.is_some() && !fix.contains(&Edit::RemoveGuard);
        let form = InstructionForm { opcode, q: &q, predicated, operands: &operands };
        let mut broken: Vec<&str> = faults.iter().map(|_| BAD_QUALIFIER).collect();
        rules::check(&form, setting, |rule, _| broken.push(rule.code));
        Some(broken)
    }

    /// All the rules that an instruction breaks.
    #[cold]
    fn broken(
        &mut self,
        memory: &MemoryInstruction,
        all: &[(&'static Rule, Breach)],
        setting: &RuleContext,
    ) {
        let written = self.written(memory);
        for (rule, breach) in all {
            // What is said to be right must be: it breaks no rule that is kept so far, and not this one.
            let cures = |codes: Vec<&str>| {
                let others = || all.iter().filter(|(other, _)| other.code != rule.code);
                codes.iter().all(|code| others().any(|(other, _)| other.code == *code))
            };
            let elsewhere =
                breach.fix.iter().any(|edit| matches!(edit, Edit::Version(_) | Edit::Target(_)));
            let sound = elsewhere
                || self.broken_by(memory, &written, &breach.fix, setting).is_some_and(cures);
            let help = if sound {
                written.help(breach)
            } else {
                breach.advice.as_deref().map(str::to_owned)
            };
            let fix = sound.then(|| self.fix(&written, breach)).flatten();
            let note = match who(rule.by) {
                Some(who) if breach.note.is_empty() => who.to_owned(),
                Some(who) => format!("{}; {who}", breach.note),
                None => breach.note.to_string(),
            };
            self.report
                .error(rule.code, written.place(breach.spot), rule.text)
                .severity(severity(rule.by, self.options.strict))
                .note(note)
                .section(rule.section)
                .help_if(help)
                .fix_if(fix);
        }
    }

    /// The edits of the file that repair a breach: of the instruction, or of the directive at its begin.
    fn fix(&self, written: &InstructionPieces<'_>, breach: &Breach) -> Option<FixBuilder> {
        let directive =
            |at: Option<ByteSpan>, text: String| Some(FixBuilder::one(false, at?, text));
        for edit in &breach.fix {
            // An option that is given in the place of a directive is not for a file to change.
            if let Edit::Version(isa) = *edit {
                let at = self.module.isa.filter(|_| self.options.isa.is_none());
                return directive(at.map(|(_, at)| at), format!(".version {isa}"));
            }
            if let Edit::Target(sm) = *edit {
                let target = Target { sm, variant: None };
                if self.options.target.is_some() {
                    return None;
                }
                return self.with_target(target);
            }
        }
        written.fix(&breach.fix, breach.safe)
    }

    /// Fences of proxies, spaces and operations: whether this is one, or was meant to be.
    fn other_fence(&mut self, memory: &MemoryInstruction, setting: &RuleContext) -> bool {
        let parts = memory.parts.of(&self.module.parts);
        let section = rules::fence::FENCE_PROXY.section;
        let written: Vec<&str> = parts[1..].iter().map(|part| part.of(self.text)).collect();
        if let Some(at) = fences::ignored(&written, setting.isa, setting.target)
            && memory.opcode == Opcode::Fence
            && self.is_fence_without(memory, at + 1, setting)
        {
            let help = self.written(memory).corrected(&[Edit::Remove(1 + at)]);
            self.report
                .error("fence-document", parts[1 + at], "this fence has no such word")
                .severity(severity(Authority::Document, self.options.strict))
                .note(format!(
                    "ptxas does not look at it; {}",
                    who(Authority::Document).unwrap_or_default()
                ))
                .section(section)
                .help(help);
            return true;
        }
        let marks = |name: &str| {
            matches!(name, "proxy" | "mbarrier_init" | "alias") || name.starts_with("sync_restrict")
        };
        if !written.iter().any(|name| marks(name)) {
            return false;
        }
        if let Some((fence, at)) = fences::undocumented(&written)
            && memory.opcode == Opcode::Fence
            && setting.isa >= fence.isa
            && setting.target.is_none_or(|target| target.sm >= fence.sm)
        {
            let FenceAdvice { code, ptxas, help } = fence.advice();
            self.report
                .error(code, parts[1 + at], fence.why)
                .severity(severity(Authority::Document, self.options.strict))
                .note(format!("{ptxas}; {}", who(Authority::Document).unwrap_or_default()))
                .section(section)
                .help(help);
            return true;
        }
        let proxy_of_membar = memory.opcode == Opcode::Membar
            && !(self.part(memory, 1) == "proxy"
                && matches!(self.part(memory, 2), "alias" | "async")
                && parts.len() == 3);
        let Some(spelling) = fences::spelled(&written).filter(|_| !proxy_of_membar) else {
            let at = parts[0].to(*parts.last().unwrap_or(&parts[0]));
            let unknown = |name: &&&str| !fences::is_word(name);
            let near = |name: &&str| {
                let words = fences::all().iter().flat_map(|one| &one.parts);
                self.report.nearest(name, words.copied())
            };
            let newer = written.iter().find(unknown).is_some_and(|name| near(name).is_none())
                && setting.isa > PtxIsa::NEWEST;
            self.report
                .error("fence-spelling", at, fences::UNKNOWN)
                .note(if newer { LATER } else { fences::EXPECTED })
                .severity(if newer { Severity::Warning } else { Severity::Error })
                .section(section)
                .help(
                    "fence.proxy.alias, fence.proxy.async, fence.mbarrier_init.release.cluster, …",
                );
            return true;
        };
        let written = self.written(memory);
        self.fence_operands(memory, spelling);
        let at = parts[0];
        if setting.isa < spelling.isa {
            let fix = self.fix(&written, &breach(Edit::Version(spelling.isa)));
            self.report
                .error("isa-fence-spelling", at, "this fence requires a later version of PTX")
                .note(format!("this is PTX ISA {}", setting.isa))
                .section(section)
                .help_if(written.help(&breach(Edit::Version(spelling.isa))))
                .fix_if(fix);
        }
        if let Some(target) = setting.target.filter(|target| target.sm < spelling.sm) {
            let fix = self.fix(&written, &breach(Edit::Target(spelling.sm)));
            self.report
                .error("target-fence-spelling", at, "this fence requires a later target")
                .note(format!("the target is `{target}`"))
                .section(section)
                .help_if(written.help(&breach(Edit::Target(spelling.sm))))
                .fix_if(fix);
        }
        true
    }

    /// Whether a fence is legal without the part at this position.
    fn is_fence_without(
        &self,
        memory: &MemoryInstruction,
        position: usize,
        setting: &RuleContext,
    ) -> bool {
        let written = self.written(memory);
        let edit = [Edit::Remove(position)];
        let parts = written.corrected_parts(&edit);
        let admits = |spelling: &Spelling| {
            setting.isa >= spelling.isa
                && setting.target.is_none_or(|target| target.sm >= spelling.sm)
        };
        fences::spelled(&parts[1..]).is_some_and(admits)
            || self
                .broken_by(memory, &written, &edit, setting)
                .is_some_and(|codes| codes.is_empty())
    }

    /// A fence of a tensor map names its address and its size, which is 128 bytes.
    fn fence_operands(&mut self, memory: &MemoryInstruction, spelling: &Spelling) {
        let operands = memory.operands.of(&self.module.operands);
        let section = rules::fence::FENCE_PROXY.section;
        let is_placeholder = |operand: &Operand| constant::is_placeholder(operand.at.of(self.text));
        let kinds = match (operands, spelling.operands) {
            ([], false) => return,
            ([address, size], true) => {
                // The size may be an operand of inline assembly.
                let number = match size.kind {
                    OperandKind::Scalar(Scalar::Number) => true,
                    OperandKind::Scalar(Scalar::Foreign) => is_placeholder(size),
                    OperandKind::Scalar(_)
                    | OperandKind::Sum(_)
                    | OperandKind::Vector(_)
                    | OperandKind::Address(_) => false,
                };
                matches!(address.kind, OperandKind::Address(_)) && number
            }
            (_, _) => false,
        };
        if !kinds {
            let help = if spelling.operands { "[a], 128" } else { "it takes no operands" };
            self.report
                .error("fence-operands", memory.at, "wrong operands for this fence")
                .note(format!("{} here", operands.len()))
                .section(section)
                .help(help);
        } else if let [_, size] = operands
            && !is_placeholder(size)
            && constant::value(size.at.of(self.text)) != Some(128)
        {
            self.report
                .error("fence-size", size.at, "the size of a tensor map is 128 bytes")
                .section(section)
                .help("128")
                .fix_if(Some(FixBuilder::one(true, size.at, "128")));
        }
    }

    pub(super) fn written(&self, memory: &MemoryInstruction) -> InstructionPieces<'a> {
        let operands = memory.operands.of(&self.module.operands);
        let piece = |operand: &Operand| {
            let shape = match operand.kind {
                OperandKind::Scalar(_) | OperandKind::Sum(_) => PieceShape::Scalar,
                OperandKind::Vector(range) => {
                    let elements = range.of(&self.module.elements);
                    PieceShape::Lanes(elements.iter().map(|element| element.at).collect())
                }
                OperandKind::Address(address) => PieceShape::Address { unified: address.unified },
            };
            OperandPiece { at: operand.at, shape }
        };
        InstructionPieces {
            text: self.text,
            at: memory.at,
            guard: memory.guard.map(|guard| guard.at),
            parts: memory.parts.of(&self.module.parts).to_vec(),
            operands: operands.iter().map(piece).collect(),
        }
    }
}

fn breach(edit: Edit) -> Breach {
    Breach::part(0, "").fixed_by([edit])
}

/// What the instructions of a function stand in.
pub(super) fn setting(
    module: &ModuleSyntax,
    options: LintOptions,
    function: FunctionKind,
) -> RuleContext {
    RuleContext {
        isa: options.isa.or(module.isa.map(|(isa, _)| isa)).unwrap_or(PtxIsa::NEWEST),
        target: options.target.or(module.target.map(|(target, _)| target)),
        function,
        address_bits: module.address_bits,
        ..RuleContext::NEWEST
    }
}

fn value(scalar: Scalar) -> ValueShape {
    match scalar {
        Scalar::Sink => ValueShape::Sink,
        Scalar::Number => ValueShape::Number,
        Scalar::Float => ValueShape::Float,
        Scalar::Special => ValueShape::Special,
        Scalar::Foreign => ValueShape::Register(None),
        Scalar::Symbol(Symbol::Register(ty)) => ValueShape::Register(Some(ty)),
        Scalar::Symbol(Symbol::Vector(count, ty)) => ValueShape::Vector(count, ty),
        Scalar::Symbol(Symbol::Predicate) => ValueShape::Predicate,
        Scalar::Symbol(Symbol::Variable(_)) => ValueShape::Variable,
        Scalar::Symbol(Symbol::Other) | Scalar::Unknown => ValueShape::Other,
    }
}

fn base(scalar: Scalar) -> AddressBase {
    match scalar {
        Scalar::Number => AddressBase::Number,
        Scalar::Foreign => AddressBase::Register(None),
        Scalar::Symbol(Symbol::Register(ty)) => AddressBase::Register(Some(ty)),
        Scalar::Symbol(Symbol::Variable(variable)) => AddressBase::Variable(variable),
        // A predicate is not an address, whatever its width.
        Scalar::Symbol(Symbol::Predicate) | Scalar::Special | Scalar::Float => {
            AddressBase::Register(Some(Type { kind: TypeKind::Bits, bits: 1 }))
        }
        Scalar::Symbol(Symbol::Vector(..) | Symbol::Other) | Scalar::Sink | Scalar::Unknown => {
            AddressBase::Other
        }
    }
}
