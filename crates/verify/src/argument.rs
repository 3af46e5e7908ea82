//! Arguments of a launch: `f='u32[2]=0'`, `n=4`, `b=@a+16`.

use lift::function::Parameter;
use model::isa::float;
use model::value::Value;

use crate::launch::LaunchError;
use crate::tensor::TensorArgument;

/// An argument with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchArgument {
    pub name: String,
    pub value: ArgumentValue,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgumentValue {
    /// The address of global memory.
    Buffer(Buffer),
    /// Bits that are passed by value, with the type that the launch gives them.
    Number { bits: u64, ty: ElementType },
    /// A number as it is written, which has the type of its parameter.
    Untyped(String),
    /// A number or an address for each GPU.
    OfGpu(Vec<ArgumentValue>),
    /// An address in the buffer of another argument, or in a variable of the module.
    Inside {
        buffer: String,
        /// In bytes.
        offset: u64,
    },
    /// The fields of a structure, each with its offset in bytes.
    Fields(Vec<ArgumentField>),
    /// A tensormap that the host has made.
    Tensor(TensorArgument),
}

/// A field of an argument that is a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentField {
    /// In bytes.
    pub offset: u32,
    /// Not fields again.
    pub value: ArgumentValue,
}

/// Memory that the host allocates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    pub element: ElementType,
    pub count: u32,
    /// The bits of the elements, the first ones; the others are 0. `None` if nobody has given the memory a value.
    pub initial: Option<Vec<u64>>,
}

/// The type of an element: `u32`, `f32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType {
    pub kind: ElementKind,
    pub bits: u16,
}

/// What the bits of an element are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementKind {
    Float,
    Signed,
    Unsigned,
    /// What they are is not said.
    Bits,
}

impl ElementType {
    pub fn parse(name: &str) -> Option<ElementType> {
        let kind = match name.chars().next()? {
            'f' => ElementKind::Float,
            's' | 'i' => ElementKind::Signed,
            'u' => ElementKind::Unsigned,
            'b' => ElementKind::Bits,
            _ => return None,
        };
        let bits: u16 = name.get(1..)?.parse().ok()?;
        let narrow = kind != ElementKind::Float && matches!(bits, 8 | 16);
        (narrow || matches!(bits, 32 | 64)).then_some(ElementType { kind, bits })
    }

    pub(crate) fn unsigned(bits: u16) -> ElementType {
        ElementType { kind: ElementKind::Unsigned, bits }
    }

    /// Of a parameter, which is a float or an integer.
    pub(crate) fn of_parameter(parameter: &Parameter) -> ElementType {
        let &Parameter { float, bits, .. } = parameter;
        if float { ElementType { kind: ElementKind::Float, bits } } else { Self::unsigned(bits) }
    }

    pub fn is_float(self) -> bool {
        self.kind == ElementKind::Float
    }

    /// `u32`, as words have it.
    pub(crate) fn name(self) -> String {
        let kind = match self.kind {
            ElementKind::Float => 'f',
            ElementKind::Signed => 's',
            ElementKind::Unsigned => 'u',
            ElementKind::Bits => 'b',
        };
        format!("{kind}{}", self.bits)
    }

    /// The bits of a number: in decimal, with a fraction if it is a float, or in hexadecimal, which is bits of a float.
    pub fn bits_of(self, text: &str) -> Option<u64> {
        let text = text.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if let Some(hex) = digits.strip_prefix("0x") {
            return self.integer(negative, u64::from_str_radix(hex, 16).ok()?);
        }
        if !self.is_float() && !is_fraction(text) {
            return self.integer(negative, digits.parse().ok()?);
        }
        float::bits_of(self.bits.into(), Self::parse_float(text)?)
    }

    /// The number that bits are, if it is another one than that of the bits.
    pub(crate) fn decimal(self, bits: Value) -> Option<String> {
        let sign = 1 << (self.bits - 1);
        match self.kind {
            ElementKind::Float => float::decimal(self.bits, bits),
            ElementKind::Signed if bits >= sign => Some(format!("-{}", 2 * sign - bits)),
            ElementKind::Signed | ElementKind::Unsigned | ElementKind::Bits => None,
        }
    }

    /// A float in decimal, as C has it.
    pub(crate) fn parse_float(text: &str) -> Option<f64> {
        text.strip_suffix(['f', 'F']).unwrap_or(text).parse().ok()
    }

    /// The bits of a value of an argument that has this type.
    ///
    /// # Errors
    /// If it is not one of this type.
    pub(crate) fn read(self, name: &str, text: &str) -> Result<u64, LaunchError> {
        let (ty, text) = (self.name(), text.trim());
        if !self.is_float() && is_fraction(text) {
            let why = format!("`{text}` is a float, and the type of `{name}` is `{ty}`");
            return Err(LaunchError::new(why).help("f32 or f64 in its place, or a whole number"));
        }
        self.bits_of(text).ok_or_else(|| {
            if !is_number(text) {
                return not_read(name, text);
            }
            let error = LaunchError::new(format!("`{text}`, of `{name}`, does not fit `{ty}`"));
            let least = 1_u64 << (self.bits - 1);
            let most = u64::MAX >> (64 - self.bits);
            if self.is_float() { error } else { error.help(format!("from -{least} to {most}")) }
        })
    }

    /// In two's complement.
    fn integer(self, negative: bool, value: u64) -> Option<u64> {
        let mask = u64::MAX >> (64 - self.bits);
        if negative {
            let least = 1_u64 << (self.bits - 1);
            return (value <= least).then_some(value.wrapping_neg() & mask);
        }
        (value <= mask).then_some(value)
    }
}

/// Whether a number has a point or an exponent: it then is a float.
pub(crate) fn is_fraction(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    let hex = digits.starts_with("0x");
    !hex && digits.contains(['.', 'e', 'E']) && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a text is a number of some type.
pub(crate) fn is_number(text: &str) -> bool {
    let bits = ElementType::unsigned(64);
    let float = ElementType { kind: ElementKind::Float, bits: 64 };
    text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
        && (bits.bits_of(text).is_some() || float.bits_of(text).is_some())
}

impl LaunchArgument {
    /// What is wrong with it as the value of a parameter.
    pub(crate) fn misfit(&self, parameter: &Parameter) -> Option<LaunchError> {
        let name = &self.name;
        let bytes = parameter.bits / 8;
        let pointer = parameter.points_to.is_some();
        let wrong = |why: String| LaunchError::new(format!("the argument `{name}` is {why}"));
        let narrow = bytes < ADDRESS_BYTES;
        match &self.value {
            value if narrow && value.is_address() => {
                let error = wrong(format!("an address, and its parameter has {bytes} bytes"));
                Some(error.help(format!("--arg {name}=4")))
            }
            ArgumentValue::Untyped(text) if is_fraction(text) && parameter.integer => {
                let error = wrong("a float, and its parameter an integer".to_owned());
                Some(error.help(format!("--arg {name}=4; --arg {name}=f32={text} passes the bits")))
            }
            // A structure is as wide as its parts.
            ArgumentValue::Number { bits, ty }
                if ty.bits != parameter.bits && parameter.alignment.is_none() =>
            {
                let own = ty.bits / 8;
                let error = wrong(format!(
                    "a `{}` of {own} bytes, and its parameter has {bytes}",
                    ty.name()
                ));
                let right = ElementType { bits: parameter.bits, ..*ty }.name();
                let value = if ty.is_float() { "1.5".to_owned() } else { bits.to_string() };
                Some(error.help(format!("--arg {name}={value}, or --arg {name}={right}={value}")))
            }
            ArgumentValue::Untyped(text) if pointer && !is_zero(text) => {
                let error = wrong("a number, and its parameter a pointer".to_owned());
                Some(error.help(format!("--arg {name}='u32[4]=0', or --arg {name}=0")))
            }
            ArgumentValue::Tensor(_) if !matches!(bytes, ADDRESS_BYTES | TENSORMAP_BYTES) => {
                let error = wrong(format!(
                    "a tensormap of {TENSORMAP_BYTES} bytes, and its parameter has {bytes}"
                ));
                Some(
                    error.help(
                        "a tensormap is a `__grid_constant__` parameter, or behind a pointer",
                    ),
                )
            }
            ArgumentValue::Buffer(_)
            | ArgumentValue::Inside { .. }
            | ArgumentValue::Tensor(_)
            | ArgumentValue::Untyped(_)
            | ArgumentValue::Number { .. }
            | ArgumentValue::OfGpu(_)
            | ArgumentValue::Fields(_) => None,
        }
    }
}

/// The sizes of an address and of a tensormap.
const ADDRESS_BYTES: u16 = 8;
const TENSORMAP_BYTES: u16 = 128;

/// Whether a number is 0, a pointer to nothing.
fn is_zero(text: &str) -> bool {
    ElementType::unsigned(64).bits_of(text) == Some(0)
}

/// What a buffer has in the place of values that nobody has given it, as a test has it, too.
pub(crate) const NO_VALUE: &str = "?";

/// What an argument may be, for messages.
const FORMS: &str =
    "--arg n=4, --arg a='u32[4]=0', --arg a='f32[2]={1.5,2}', --arg a='u32[4]=?', --arg b=@a+16";

/// The largest number of elements of a buffer, as in a litmus test.
const MOST_ELEMENTS: u32 = 1 << 16;

impl LaunchArgument {
    /// Reads `name=value`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<LaunchArgument, LaunchError> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(
                LaunchError::new(format!("`{text}` is not an argument with a value")).help(FORMS)
            );
        };
        let (name, value) = (name.trim(), value.trim());
        check_name(name)?;
        Ok(LaunchArgument { name: name.to_owned(), value: ArgumentValue::parse(name, value)? })
    }
}

/// A name of an argument is one of a variable of a test.
pub(crate) fn check_name(name: &str) -> Result<(), LaunchError> {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let thread = name.strip_prefix('P').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if first && word && !thread {
        return Ok(());
    }
    Err(LaunchError::new(format!("`{name}` is not a name of an argument"))
        .help("a name has letters, digits and `_`, and is not one of a thread, such as `P0`"))
}

impl ArgumentValue {
    /// Whether it is an address, on some GPU.
    fn is_address(&self) -> bool {
        match self {
            ArgumentValue::Buffer(_) | ArgumentValue::Inside { .. } => true,
            ArgumentValue::OfGpu(values) => values.iter().any(ArgumentValue::is_address),
            ArgumentValue::Number { .. }
            | ArgumentValue::Untyped(_)
            | ArgumentValue::Tensor(_)
            | ArgumentValue::Fields(_) => false,
        }
    }

    pub(crate) fn as_tensor(&self) -> Option<&TensorArgument> {
        if let ArgumentValue::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// Whether a tensor is in this buffer, or a field has an address in it.
    pub(crate) fn has_part(&self, name: &str) -> bool {
        let is_part = !matches!(self, ArgumentValue::Inside { .. });
        is_part && self.addresses().iter().any(|address| address.buffer == name)
    }

    /// The addresses that it has, or its fields.
    pub(crate) fn addresses(&self) -> Vec<PassedAddress<'_>> {
        match self {
            ArgumentValue::Inside { buffer, offset } => {
                vec![PassedAddress { buffer, offset: *offset, last: *offset }]
            }
            ArgumentValue::Tensor(tensor) => {
                let TensorArgument { buffer, offset, .. } = tensor;
                vec![PassedAddress { buffer, offset: *offset, last: tensor.last_byte() }]
            }
            ArgumentValue::Fields(fields) => {
                fields.iter().flat_map(|field| field.value.addresses()).collect()
            }
            ArgumentValue::OfGpu(values) => {
                values.iter().flat_map(ArgumentValue::addresses).collect()
            }
            ArgumentValue::Buffer(_) | ArgumentValue::Number { .. } | ArgumentValue::Untyped(_) => {
                Vec::new()
            }
        }
    }

    /// Reads `4`, `u32[4]=0`, `@a+16`.
    pub(crate) fn parse(name: &str, value: &str) -> Result<ArgumentValue, LaunchError> {
        if value.starts_with('@') {
            let inside = Inside::parse(value).ok_or_else(|| not_read(name, value))?;
            let Inside { buffer, offset } = inside;
            return Ok(ArgumentValue::Inside { buffer, offset });
        }
        if let Some(tensor) = value.strip_prefix("tensor(") {
            return TensorArgument::parse(name, tensor).map(ArgumentValue::Tensor);
        }
        if let Some(list) = value.strip_prefix('{') {
            let list = list.strip_suffix('}').ok_or_else(|| not_read(name, value))?;
            return fields(name, list);
        }
        let (ty, init) = match value.split_once('=') {
            Some((ty, init)) => (ty.trim(), Some(init.trim())),
            None => (value, None),
        };
        if let Some((element, count)) = ty.strip_suffix(']').and_then(|ty| ty.split_once('[')) {
            let element = ElementType::parse(element.trim());
            let element = element.ok_or_else(|| unknown_type(name, ty))?;
            let count: u32 = count.trim().parse().map_err(|_| not_read(name, value))?;
            let initial = match init {
                Some(NO_VALUE) => None,
                Some(init) => Some(elements(name, element, count, init)?),
                None => Some(Vec::new()),
            };
            return buffer(name, element, count, initial);
        }
        if let Some(init) = init {
            let ty = ElementType::parse(ty).ok_or_else(|| unknown_type(name, ty))?;
            return Ok(ArgumentValue::Number { bits: ty.read(name, init)?, ty });
        }
        if is_number(value) {
            return Ok(ArgumentValue::Untyped(value.to_owned()));
        }
        Err(not_read(name, value))
    }
}

/// An address that an argument passes.
pub(crate) struct PassedAddress<'v> {
    /// A buffer of the launch, or a variable of the module.
    pub(crate) buffer: &'v str,
    /// In bytes.
    pub(crate) offset: u64,
    /// The last byte of what begins there.
    pub(crate) last: u64,
}

/// An address in a buffer.
pub(crate) struct Inside {
    pub(crate) buffer: String,
    pub(crate) offset: u64,
}

impl Inside {
    /// Reads `@a+16`.
    pub(crate) fn parse(text: &str) -> Option<Inside> {
        let inside = text.trim().strip_prefix('@')?;
        let (buffer, offset) = inside.split_once('+').unwrap_or((inside, "0"));
        let offset = ElementType::unsigned(64).bits_of(offset)?;
        Some(Inside { buffer: buffer.trim().to_owned(), offset })
    }
}

/// A buffer of this size, if a test can have it.
pub(crate) fn buffer(
    name: &str,
    element: ElementType,
    count: u32,
    initial: Option<Vec<u64>>,
) -> Result<ArgumentValue, LaunchError> {
    if count == 0 || count > MOST_ELEMENTS {
        let why =
            format!("the buffer `{name}` has {count} elements: 1 to {MOST_ELEMENTS} are possible");
        return Err(LaunchError::new(why));
    }
    Ok(ArgumentValue::Buffer(Buffer { element, count, initial }))
}

/// A field of the structure `name`. A buffer is no field: others name it, and assertions do.
pub(crate) fn field(name: &str, offset: u32, value: &str) -> Result<ArgumentField, LaunchError> {
    let ty = value.split('=').next().unwrap_or_default().trim();
    if ty.ends_with(']') {
        let error = LaunchError::new(format!("the field at {offset} of `{name}` is a buffer"));
        return Err(error.help(format!(
            "the buffer is an argument of its own, --arg a='{value}', and the field its address: {offset}: @a"
        )));
    }
    Ok(ArgumentField { offset, value: ArgumentValue::parse(name, value)? })
}

/// `0: u64=5, 8: @a`
fn fields(name: &str, list: &str) -> Result<ArgumentValue, LaunchError> {
    let one = |text: &str| {
        let (offset, value) = text.split_once(':').ok_or_else(|| not_read(name, text))?;
        let offset = offset.trim().parse().map_err(|_| not_read(name, text))?;
        field(name, offset, value.trim())
    };
    list.split(',').map(one).collect::<Result<_, _>>().map(ArgumentValue::Fields)
}

/// `0` for all elements, or `{1,2}` for the first ones; the rest is 0.
fn elements(
    name: &str,
    element: ElementType,
    count: u32,
    init: &str,
) -> Result<Vec<u64>, LaunchError> {
    let bits = |text: &str| element.read(name, text);
    let Some(list) = init.strip_prefix('{').and_then(|list| list.strip_suffix('}')) else {
        return Ok(vec![bits(init)?; count.min(MOST_ELEMENTS) as usize]);
    };
    let all = list.split(',').map(bits).collect::<Result<Vec<u64>, _>>()?;
    if all.len() > count as usize {
        let why = format!("`{name}` has {count} elements, with {} values", all.len());
        return Err(LaunchError::new(why));
    }
    Ok(all)
}

fn not_read(name: &str, value: &str) -> LaunchError {
    LaunchError::new(format!("the value `{value}` of the argument `{name}` is not understood"))
        .help(FORMS)
}

pub(crate) fn unknown_type(name: &str, ty: &str) -> LaunchError {
    let error = LaunchError::new(format!("the argument `{name}` has the unknown type `{ty}`"));
    let element = ty.split('[').next().unwrap_or_default().trim();
    if matches!(element, "f16" | "bf16" | "half") {
        let own = ty.replacen(element, "u16", 1);
        return error.help(format!("{own}: `u16` has the bits of a float of 16 bits"));
    }
    error.help("u8, u16, u32 or u64, the same with `s`, `i` or `b`, f32 or f64, and `[N]` for a buffer of N elements")
}
