//! Operands of instructions that have productions, and whether one is of a kind, in the notation of [`crate::production`].

use crate::registers::{self, RegisterClass};
use model::isa::{SpaceQualifier, Type, TypeKind};

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WrittenOperand<'a> {
    pub(crate) text: &'a str,
    pub(crate) ty: WrittenType,
}

/// What the name of an operand is declared as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WrittenType {
    Register(Type),
    Predicate,
    /// A special register: it is not an operand of any of these instructions.
    Special,
    /// A variable of a state space: its address.
    Variable(SpaceQualifier),
    /// A register that is declared as a vector.
    VectorRegister,
    /// A vector in braces.
    Vector(RegisterVector),
    /// What is in brackets.
    Address(TypedAddress),
    /// Two results, `a|b`.
    Pair(WrittenResult, WrittenResult),
    /// Not a register, or one whose declaration is not known.
    Unknown,
}

impl WrittenType {
    /// The type of a register.
    fn register(self) -> Option<Type> {
        if let WrittenType::Register(ty) = self { Some(ty) } else { None }
    }

    /// Whether the name may be that of anything: its declaration is not known, or it is the address of a variable.
    fn is_open(self) -> bool {
        matches!(self, WrittenType::Unknown | WrittenType::Variable(_))
    }

    fn address(self) -> Option<TypedAddress> {
        if let WrittenType::Address(address) = self { Some(address) } else { None }
    }
}

/// The registers of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterVector {
    /// Of 0 bits if they do not go together; `None` if none of them is known.
    pub(crate) ty: Option<Type>,
    /// Whether one is a special register.
    pub(crate) special: bool,
}

/// An address in brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TypedAddress {
    pub(crate) base: TypedBase,
    /// Whether it is in a register that is narrower than the addresses of the module.
    pub(crate) narrow: bool,
    /// Whether a number is added to it.
    pub(crate) offset: bool,
    /// The registers of its coordinates.
    pub(crate) coordinates: RegisterVector,
    /// The registers of all that follows its base.
    pub(crate) after: RegisterVector,
    /// How many coordinates there are, if they are a register that is declared as a vector.
    pub(crate) lanes: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypedBase {
    Variable(SpaceQualifier),
    Register(Type),
    Number,
    /// A predicate, a special register, an element of an array.
    Other,
    Unknown,
}

/// One of two results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WrittenResult {
    Register(Type),
    Predicate,
    /// A special register or a variable.
    Other,
    Unknown,
}

impl WrittenResult {
    fn as_type(self) -> WrittenType {
        match self {
            WrittenResult::Register(ty) => WrittenType::Register(ty),
            WrittenResult::Predicate => WrittenType::Predicate,
            WrittenResult::Other => WrittenType::Special,
            WrittenResult::Unknown => WrittenType::Unknown,
        }
    }
}

/// The registers in which `tcgen05.mma` takes the address of a matrix.
const B32: Type = Type { kind: TypeKind::Bits, bits: 32 };

/// Whether registers of this type hold integers or bits.
pub(crate) fn is_integer(ty: Type) -> bool {
    matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits)
}

/// Whether an operand is of a kind.
pub(crate) fn fits(kind: &str, operand: &WrittenOperand<'_>, modifiers: &[&str]) -> bool {
    let text = operand.text;
    let placeholder = operand.ty == WrittenType::Unknown && crate::constant::is_placeholder(text);
    let number = || placeholder || crate::constant::value(text).is_some();
    let register = |fits: fn(Type) -> bool, wanted: u16| match operand.ty.register() {
        Some(ty) => ty.bits == wanted && fits(ty),
        None => operand.ty == WrittenType::Unknown && is_name(text),
    };
    let bits = |wanted| register(is_integer, wanted);
    let any = |wanted| register(|_| true, wanted);
    let integer_or_pair = || register(|ty| RegisterClass::IntegerOrPair.admits(ty), 32);
    match kind {
        "m" | "mg" | "ms" | "ma" | "mc" | "mb" | "mw" | "ml" | "mp" | "mo" | "t" => {
            is_address(kind, operand, modifiers)
        }
        "h" => is_handle(operand, 2),
        "hc" => is_handle(operand, 3),
        "v4" => is_vector(operand, 32, RegisterClass::Any),
        "o" => {
            is_vector(operand, 16, RegisterClass::Integer)
                && text.starts_with('{')
                && !has_sink(text)
        }
        "vl" => is_vector(operand, 32, RegisterClass::Any) && !has_sink(text),
        "v*" | "vm" | "vh" => {
            let class =
                if kind == "v*" { registers::of(modifiers).class } else { RegisterClass::Any };
            is_vector(operand, 32, class) && !has_sink(text) && !has_special(operand)
        }
        "va" => is_vector(operand, 32, registers::of_rows(modifiers)) && !has_sink(text),
        "y" | "yv" => is_value(kind, operand, modifiers),
        "s" | "n" => {
            let name = text.strip_prefix('!').unwrap_or(text);
            kind == "s" && number()
                || operand.ty == WrittenType::Predicate
                || operand.ty == WrittenType::Unknown && is_name(name.trim_start())
        }
        "l" => is_name(text),
        "_" => text == "_",
        "p" => {
            operand.ty == WrittenType::Predicate && !text.starts_with('!')
                || operand.ty == WrittenType::Unknown && is_name(text)
        }
        "i" => number(),
        "#16" => number() || bits(16),
        "#32" => number() || bits(32),
        "#64" => number() || bits(64),
        "#w32" => number() || is_float_of(text, 32) || any(32),
        "#w64" => number() || is_float_of(text, 64) || any(64),
        "w32" => any(32),
        "f32" => register(|ty| matches!(ty.kind, TypeKind::Float | TypeKind::Bits), 32),
        "d" => placeholder || is_float(text),
        "r" => placeholder || is_fraction(text),
        "a32" | "a64" => {
            if let WrittenType::Variable(space) = operand.ty {
                space.is_shared()
            } else if kind == "a32" {
                integer_or_pair()
            } else {
                bits(64)
            }
        }
        "u32" => integer_or_pair(),
        "e" => matches!(operand.ty, WrittenType::Variable(_)) && text.contains('+'),
        "g" => {
            matches!(operand.ty, WrittenType::Variable(space) if is_in_window(space, modifiers))
        }
        "8" => bits(8),
        "16" => bits(16),
        "32" => bits(32),
        "64" => bits(64),
        "q" => bits(128),
        _ => kind
            .split_once('|')
            .is_some_and(|(first, second)| is_pair(first, second, operand, modifiers)),
    }
}

/// `[endpoint, offset]`, or with the offset of a counter: registers, to which nothing is added.
fn is_handle(operand: &WrittenOperand<'_>, length: usize) -> bool {
    let inner = operand.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let Some(pieces) = inner.map(crate::production::split) else { return false };
    let names = pieces.iter().all(|piece| is_name(piece.trim()) && !piece.contains('+'));
    let Some(address) = operand.ty.address() else { return pieces.len() == length && names };
    let endpoint = match address.base {
        TypedBase::Register(ty) => ty.bits == 32 && is_integer(ty),
        TypedBase::Unknown => true,
        TypedBase::Variable(_) | TypedBase::Number | TypedBase::Other => false,
    };
    let offsets = has_elements(address.after, 64, RegisterClass::Integer) && !address.after.special;
    pieces.len() == length && names && endpoint && offsets
}

/// Whether the address of a tensor map names neither `.const` nor `.param`.
fn generic_map(modifiers: &[&str]) -> bool {
    !modifiers.iter().any(|one| matches!(*one, "const" | "param"))
}

/// Whether a variable is in the state space of the modifiers.
fn is_in_window(space: SpaceQualifier, modifiers: &[&str]) -> bool {
    let has = |start: &str| modifiers.iter().any(|one| one.starts_with(start));
    match space {
        SpaceQualifier::Global => has("global"),
        SpaceQualifier::Local => has("local"),
        SpaceQualifier::Const => has("const"),
        SpaceQualifier::Param | SpaceQualifier::ParamEntry | SpaceQualifier::ParamFunc => {
            has("param")
        }
        SpaceQualifier::Shared | SpaceQualifier::SharedCta | SpaceQualifier::SharedCluster => {
            has("shared")
        }
        SpaceQualifier::Generic | SpaceQualifier::Tensor => false,
    }
}

/// Two results, each of its kind.
fn is_pair(first: &str, second: &str, operand: &WrittenOperand<'_>, all: &[&str]) -> bool {
    let Some((left, right)) = operand.text.split_once('|') else { return false };
    let (left_type, right_type) = if let WrittenType::Pair(left, right) = operand.ty {
        (left.as_type(), right.as_type())
    } else {
        (WrittenType::Unknown, WrittenType::Unknown)
    };
    let one = |kind, text: &str, ty| fits(kind, &WrittenOperand { text: text.trim(), ty }, all);
    one(first, left, left_type) && one(second, right, right_type)
}

/// Whether a modifier is a state space of which there may be two.
pub(crate) fn is_space(modifier: &str) -> bool {
    modifier == "global" || modifier == "shared" || modifier.starts_with("shared::")
}

/// An address in the state space of the kind: `ms` shared, `mg` global, `ma`, `mb` and `mc` tensor memory, the others that of the
/// modifiers.
fn is_address(kind: &str, operand: &WrittenOperand<'_>, modifiers: &[&str]) -> bool {
    if !operand.text.starts_with('[') {
        return false;
    }
    let Some(address) = operand.ty.address() else { return true };
    let generic = !modifiers.iter().any(|one| is_space(one));
    // Without a state space, a store with an mbarrier object is to shared memory.
    let completes = modifiers.contains(&"mbarrier::complete_tx::bytes");
    let of_modifiers = matches!(kind, "m" | "mw" | "ml" | "mp");
    let shared =
        kind == "ms" || of_modifiers && modifiers.iter().any(|one| one.starts_with("shared"));
    let global = matches!(kind, "mg" | "t") || of_modifiers && !generic && !shared;
    let tensor = matches!(kind, "ma" | "mb" | "mc");
    match address.base {
        TypedBase::Unknown => true,
        TypedBase::Number => kind == "mo",
        TypedBase::Other => false,
        // ptxas does not look at the register that has a tensor map.
        TypedBase::Register(_) if kind == "t" => !address.offset,
        TypedBase::Register(ty) => match kind {
            "ma" => ty.bits == 32 && is_integer(ty),
            "mb" => ty == B32,
            "mc" => ty.bits == 32 && (is_integer(ty) || ty.kind == TypeKind::FloatPair),
            "mw" => matches!(ty.bits, 32 | 64) && is_integer(ty),
            "ml" | "mp" => ty.bits == 64 && is_integer(ty),
            // Shorter registers are extended with zeros; without a state space, ptxas takes 32 bits for a sign of a module
            // with such addresses.
            _ => {
                let half = generic && kind != "mo" && !completes && address.narrow && ty.bits == 32;
                is_integer(ty) && ty.bits <= 64 && !half
            }
        },
        TypedBase::Variable(space) if kind == "mo" => space == SpaceQualifier::Local,
        TypedBase::Variable(space) if kind == "mp" => space == SpaceQualifier::Global,
        TypedBase::Variable(space) if !generic_map(modifiers) => is_in_window(space, modifiers),
        TypedBase::Variable(space) if shared => space.is_shared(),
        TypedBase::Variable(space) if global => space == SpaceQualifier::Global,
        TypedBase::Variable(space) => {
            !tensor
                && (space.is_shared()
                    || matches!(space, SpaceQualifier::Global | SpaceQualifier::Local))
        }
    }
}

/// What a store or a reduction takes, or what a load returns: registers of the type of the instruction, as many as it says.
fn is_value(kind: &str, operand: &WrittenOperand<'_>, modifiers: &[&str]) -> bool {
    let registers = registers::of(modifiers);
    if registers.count > 1 {
        return is_vector(operand, registers.bits, registers.class)
            && (kind == "yv" && operand.ty == WrittenType::VectorRegister
                || operand.ty != WrittenType::VectorRegister)
            && !(kind == "yv" && has_sink(operand.text));
    }
    let number = || match registers.class {
        RegisterClass::Float => is_float(operand.text),
        RegisterClass::Any => {
            crate::constant::value(operand.text).is_some()
                || is_float_of(operand.text, registers.bits)
        }
        RegisterClass::Integer | RegisterClass::IntegerOrPair => {
            crate::constant::value(operand.text).is_some()
        }
        RegisterClass::Number | RegisterClass::Pair | RegisterClass::Bits => false,
    };
    match operand.ty.register() {
        Some(ty) => ty.bits == registers.bits && registers.class.admits(ty),
        None => number() || operand.ty.is_open() && is_name(operand.text),
    }
}

/// A number of floating point that stands for this many bits: `0f3F800000` for 32, `0d3FF0000000000000` and `1.5` for 64.
fn is_float_of(text: &str, bits: u16) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let single = digits.starts_with("0f") || digits.starts_with("0F");
    is_float(text) && if bits == 32 { single } else { bits == 64 && !single }
}

/// `1.5`, `0f3F800000`
fn is_float(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let exact = ["0f", "0F", "0d", "0D"].iter().any(|prefix| digits.starts_with(prefix));
    let number = digits.starts_with(|c: char| c.is_ascii_digit());
    number && (exact || digits.contains('.') && text.parse::<f64>().is_ok())
}

/// Whether a number is greater than 0, and at most 1.
fn is_fraction(text: &str) -> bool {
    let single = Type { kind: TypeKind::Float, bits: 32 };
    let bits = crate::constant::bits(text, single).and_then(|bits| u32::try_from(bits).ok());
    is_float(text) && bits.map(f32::from_bits).is_some_and(|value| value > 0.0 && value <= 1.0)
}

/// Whether a register of a vector is discarded.
fn has_sink(text: &str) -> bool {
    text.split([',', '{', '}']).any(|element| element.trim() == "_")
}

/// Whether a register of a vector is a special one.
fn has_special(operand: &WrittenOperand<'_>) -> bool {
    matches!(operand.ty, WrittenType::Vector(vector) if vector.special)
}

/// Whether an operand is a vector of registers of a class with this many bits, or may be one.
fn is_vector(operand: &WrittenOperand<'_>, wanted: u16, class: RegisterClass) -> bool {
    if let WrittenType::Vector(vector) = operand.ty {
        return has_elements(vector, wanted, class);
    }
    operand.ty == WrittenType::VectorRegister
        || operand.ty == WrittenType::Unknown
            && (operand.text.starts_with('{') || is_name(operand.text))
}

fn has_elements(vector: RegisterVector, wanted: u16, class: RegisterClass) -> bool {
    vector.ty.is_none_or(|ty| ty.bits == wanted && class.admits(ty))
}

/// How many registers an operand of this kind has, if it is a vector.
pub(crate) fn vector_length(kind: &str, modifiers: &[&str]) -> Option<usize> {
    match kind {
        "v*" | "vl" | "y" | "yv" => Some(registers::of(modifiers).count),
        "v4" | "va" => Some(4),
        // Two of four numbers are kept, and two bits of each say where they were.
        "vh" => Some(registers::of(modifiers).count / 2),
        "vm" => Some(registers::of(modifiers).count.div_ceil(32)),
        "o" if modifiers.iter().any(|one| one.starts_with("im2col::w")) => Some(2),
        "o" => Some(dimensions(modifiers)?.saturating_sub(2)),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    text != "_"
        && text != "WARP_SZ"
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '%' | '_' | '$'))
        && !text.contains('|')
}

/// The dimensions of a tensor: 3 of `.3d`.
fn dimensions(modifiers: &[&str]) -> Option<usize> {
    let dimension = |one: &&&str| one.len() == 2 && one.ends_with('d');
    modifiers.iter().find(dimension)?[..1].parse().ok()
}

/// How an address of a tensor is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TensorFault {
    /// There are to be this many coordinates.
    Coordinates(usize),
    /// It is not `[a, {…}]`, or not what the modifiers put between the two.
    Form,
}

/// `[map, {x, y}]` has a coordinate for each dimension; rows that are gathered or scattered have five. What overrides a part of the
/// map is between the two: an address, the sizes of the dimensions, and the strides.
pub(crate) fn tensor_fault(
    operand: &WrittenOperand<'_>,
    modifiers: &[&str],
) -> Option<TensorFault> {
    let inner = operand.text.strip_prefix('[')?.strip_suffix(']')?;
    let pieces: Vec<&str> = crate::production::split(inner).into_iter().map(str::trim).collect();
    let lengths = |piece: &str| {
        let inner = piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        inner.map(|inner| crate::production::split(inner).len())
    };
    let dimensions = dimensions(modifiers);
    let rows = modifiers.iter().any(|one| matches!(*one, "tile::gather4" | "tile::scatter4"));
    // `None` is a scalar.
    let mut between = Vec::new();
    for part in modifiers.iter().filter_map(|one| one.strip_prefix("override::")) {
        let of = dimensions.unwrap_or(0);
        match part {
            "global_address" => between.insert(0, None),
            "global_dim" => between.push(Some(of)),
            _ => between.extend([Some(of), Some(of.saturating_sub(1)), None]),
        }
    }
    let [_, others @ .., last] = &pieces[..] else { return Some(TensorFault::Form) };
    let address = operand.ty.address();
    let kinds = others.iter().map(|piece| lengths(piece)).eq(between);
    let count = lengths(last).or(address.and_then(|address| address.lanes).map(usize::from));
    if !kinds || address.is_some_and(|address| address.offset) {
        return Some(TensorFault::Form);
    }
    // What a register has that is not known cannot be counted.
    let Some(count) = count else {
        return address.is_some().then_some(TensorFault::Form);
    };
    let wanted = if rows { 5 } else { dimensions? };
    if count != wanted {
        return Some(TensorFault::Coordinates(wanted));
    }
    let registers =
        address.is_none_or(|address| has_elements(address.coordinates, 32, RegisterClass::Integer));
    (!registers || has_sink(last)).then_some(TensorFault::Form)
}
