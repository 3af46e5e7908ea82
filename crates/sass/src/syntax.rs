//! The syntax tree of a SASS instruction: guard, opcode with modifiers, operands, annotations.
//!
//! It does not depend on the meaning of the opcode. An operand of an unknown form
//! is kept as text.

use std::fmt;

use text::report::ByteSpan;

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    pub guard: Option<Guard>,
    /// `LDG`
    pub opcode: Name<'a>,
    /// `E`, `64`, `STRONG`, `GPU`
    pub modifiers: Vec<Name<'a>>,
    pub operands: Vec<Operand<'a>>,
    pub annotations: Vec<Annotation<'a>>,
    /// From the guard to the last annotation.
    pub at: ByteSpan,
}

/// A name, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    pub text: &'a str,
    pub at: ByteSpan,
}

/// `@P0`, `@!UP1`, `@!PT`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    pub negated: bool,
    pub predicate: Register,
    pub at: ByteSpan,
}

/// Which registers a number counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RegisterFile {
    /// `R0`, `RZ`
    General,
    /// `UR0`, `URZ`
    Uniform,
    /// `P0`, `PT`
    Predicate,
    /// `UP0`, `UPT`
    UniformPredicate,
    /// `B0`: convergence barriers.
    Barrier,
    /// `SB0`: scoreboards.
    Scoreboard,
}

/// A register; without a number, the one that is always zero, or true.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register {
    pub file: RegisterFile,
    pub number: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand<'a> {
    pub kind: OperandKind<'a>,
    pub at: ByteSpan,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperandKind<'a> {
    Value(Value<'a>),
    /// `` `(.L_x_1) ``, with the text in the parentheses.
    Label(&'a str),
    /// `{5,4}`
    List(Vec<Operand<'a>>),
    /// A form that is not known.
    Opaque(&'a str),
}

/// `-|R4|.reuse`, `!P0`, `c[0x0][0x160]`, `desc[UR4][R2.64+0x10]`, `0x10`, `SR_TID.X`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value<'a> {
    /// Of `-`, `+`, `~` and `!`, as written.
    pub signs: &'a str,
    /// Whether it is between bars.
    pub absolute: bool,
    pub atom: Atom<'a>,
    /// Names after dots, without them; between bars, those before the second bar.
    pub suffixes: Vec<&'a str>,
    /// Those after the second bar.
    pub outer: Vec<&'a str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Atom<'a> {
    Register(Register),
    Number(NumberLiteral<'a>),
    Indexed(Indexed<'a>),
    /// `SR_TID`, `2D`, `PR`: a name that is not a register.
    Name(&'a str),
}

/// A number as it is written, and as an integer if it is one that has 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumberLiteral<'a> {
    pub text: &'a str,
    pub value: Option<u64>,
}

/// An operand with brackets, and its prefix: `[R2]`, `c[0x0][0x160]`, `desc[UR4][R2.64]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indexed<'a> {
    pub name: &'a str,
    pub brackets: Vec<Vec<AddressTerm<'a>>>,
}

/// A summand of an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressTerm<'a> {
    pub negative: bool,
    pub value: Value<'a>,
    pub at: ByteSpan,
}

/// What an instruction waits for, sets, and how it is scheduled, as text of SPA 5.0 has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation<'a> {
    pub kind: AnnotationKind,
    /// As written, without braces around the whole.
    pub text: &'a str,
    pub braced: bool,
    pub at: ByteSpan,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnnotationKind {
    /// `&req={0,1}`: waits for these scoreboards, a bit each.
    Require(u8),
    /// `&rd=0`: the scoreboard that is cleared when its sources were read.
    Read(u8),
    /// `&wr=0`: the scoreboard that is cleared when its result is available.
    Write(u8),
    /// `?WAIT5_END_GROUP`
    Schedule,
}

impl Instruction<'_> {
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|word| word.text == modifier)
    }

    /// The opcode with its modifiers, as `LDG.E.64`.
    pub fn name(&self) -> String {
        let modifiers = self.modifiers.iter().map(|word| word.text);
        std::iter::once(self.opcode.text).chain(modifiers).collect::<Vec<_>>().join(".")
    }
}

impl<'a> Operand<'a> {
    /// The register that the operand is, whatever signs and suffixes it has.
    pub fn register(&self) -> Option<Register> {
        match &self.kind {
            OperandKind::Value(Value { atom: Atom::Register(register), .. }) => Some(*register),
            OperandKind::Value(_)
            | OperandKind::Label(_)
            | OperandKind::List(_)
            | OperandKind::Opaque(_) => None,
        }
    }

    /// The number that the operand is, where it is one.
    pub fn number(&self) -> Option<&NumberLiteral<'a>> {
        match &self.kind {
            OperandKind::Value(Value { atom: Atom::Number(number), .. }) => Some(number),
            OperandKind::Value(_)
            | OperandKind::Label(_)
            | OperandKind::List(_)
            | OperandKind::Opaque(_) => None,
        }
    }

    /// What is in brackets.
    pub fn indexed(&self) -> Option<&Indexed<'a>> {
        match &self.kind {
            OperandKind::Value(Value { atom: Atom::Indexed(indexed), .. }) => Some(indexed),
            OperandKind::Value(_)
            | OperandKind::Label(_)
            | OperandKind::List(_)
            | OperandKind::Opaque(_) => None,
        }
    }
}

impl Indexed<'_> {
    /// Whether it is an address in memory, and no constant, attribute or descriptor.
    pub fn is_memory(&self) -> bool {
        matches!((self.name, self.brackets.len()), ("", 1) | ("desc", 2))
    }
}

impl RegisterFile {
    /// What its registers begin with, and the one without a number.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            RegisterFile::General => ("R", "RZ"),
            RegisterFile::Uniform => ("UR", "URZ"),
            RegisterFile::Predicate => ("P", "PT"),
            RegisterFile::UniformPredicate => ("UP", "UPT"),
            RegisterFile::Barrier => ("B", ""),
            RegisterFile::Scoreboard => ("SB", ""),
        }
    }

    /// The number of the last register that some machine has.
    pub fn last(self) -> u16 {
        match self {
            // Before sm_100 there are 63 of the uniform ones.
            RegisterFile::General | RegisterFile::Uniform => 254,
            RegisterFile::Predicate | RegisterFile::UniformPredicate => 6,
            RegisterFile::Barrier => 15,
            RegisterFile::Scoreboard => 5,
        }
    }

    const ALL: [RegisterFile; 6] = [
        RegisterFile::General,
        RegisterFile::Uniform,
        RegisterFile::Predicate,
        RegisterFile::UniformPredicate,
        RegisterFile::Barrier,
        RegisterFile::Scoreboard,
    ];

    pub fn is_of_predicates(self) -> bool {
        matches!(self, RegisterFile::Predicate | RegisterFile::UniformPredicate)
    }
}

impl Register {
    /// The register of this name.
    pub fn named(name: &str) -> Option<Register> {
        RegisterFile::ALL.into_iter().find_map(|file| {
            let (prefix, none) = file.names();
            if name == none && !none.is_empty() {
                return Some(Register { file, number: None });
            }
            let digits = name.strip_prefix(prefix)?;
            let plain = digits == "0" || !digits.starts_with('0');
            let number = digits.parse().ok().filter(|_| plain && !digits.starts_with('+'))?;
            Some(Register { file, number: Some(number) })
        })
    }

    /// The register this many places after it. Each one after `RZ` is `RZ`.
    #[must_use]
    pub fn ahead(self, places: u16) -> Register {
        Register { number: self.number.map(|number| number.saturating_add(places)), ..self }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, none) = self.file.names();
        match self.number {
            Some(number) => write!(f, "{prefix}{number}"),
            None => f.write_str(none),
        }
    }
}
