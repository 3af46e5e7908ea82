//! Types: those of loads and stores, and all others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScalarType {
    /// `i32`; at most 2^23 bits.
    Int(u32),
    Half,
    BFloat,
    Float,
    Double,
    Ptr,
}

/// A scalar, or a vector of scalars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    pub scalar: ScalarType,
    /// `None` for a scalar.
    pub lanes: Option<u32>,
}

impl ScalarType {
    /// Reads `i32`, `float`, `ptr`; `None` for any other word.
    pub(super) fn named(name: &str) -> Option<ScalarType> {
        Some(match name {
            "half" => ScalarType::Half,
            "bfloat" => ScalarType::BFloat,
            "float" => ScalarType::Float,
            "double" => ScalarType::Double,
            "ptr" => ScalarType::Ptr,
            _ => {
                let bits: u32 = name.strip_prefix('i')?.parse().ok()?;
                return (1..1 << 23).contains(&bits).then_some(ScalarType::Int(bits));
            }
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            ScalarType::Int(bits) => bits,
            ScalarType::Half | ScalarType::BFloat => 16,
            ScalarType::Float => 32,
            ScalarType::Double | ScalarType::Ptr => 64,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(
            self,
            ScalarType::Half | ScalarType::BFloat | ScalarType::Float | ScalarType::Double
        )
    }
}

impl Type {
    /// The size in bytes in memory, if a scalar fills whole bytes; `None` for a vector whose scalars do not.
    pub fn bytes(self) -> Option<u32> {
        let Some(lanes) = self.lanes else { return Some(self.scalar.bits().div_ceil(8)) };
        let bits = self.scalar.bits().checked_mul(lanes)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            Some(lanes) => write!(f, "<{lanes} x {}>", self.scalar),
            None => self.scalar.fmt(f),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarType::Int(bits) => write!(f, "i{bits}"),
            ScalarType::Half => f.write_str("half"),
            ScalarType::BFloat => f.write_str("bfloat"),
            ScalarType::Float => f.write_str("float"),
            ScalarType::Double => f.write_str("double"),
            ScalarType::Ptr => f.write_str("ptr"),
        }
    }
}

/// The type of any value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Void,
    /// A scalar that is not an address.
    Scalar(ScalarType),
    /// A pointer, with the number of its address space.
    Ptr(u32),
    Vector(u32, Box<Ty>),
    Array(u64, Box<Ty>),
    Struct {
        packed: bool,
        fields: Vec<Ty>,
    },
    /// `%name`, without its prefix.
    Named(String),
    /// A function, a label, metadata, or a type that no GPU has.
    Other,
}

/// The named types of a module, and what its data layout says of pointers.
#[derive(Debug, Default)]
pub(super) struct Types<'a> {
    /// `None` for an opaque type.
    named: BTreeMap<&'a str, Option<Ty>>,
    /// The address spaces whose pointers have 32 bits, except for the generic one.
    short: BTreeSet<u32>,
    /// Whether the layout gives generic pointers 32 bits: it is that of nvptx, and not of nvptx64.
    pub(super) of_nvptx: bool,
}

impl<'a> Types<'a> {
    pub(super) fn define(&mut self, name: &'a str, ty: Option<Ty>) {
        self.named.insert(name, ty);
    }

    fn get(&self, name: &str) -> Option<&Ty> {
        self.named.get(name)?.as_ref()
    }

    /// Records the pointers of 32 bits of a layout: `p:32:32`, `p3:32:32`.
    pub(super) fn lay_out(&mut self, layout: &str) {
        for part in layout.split('-') {
            let Some((space, rest)) = part.strip_prefix('p').and_then(|part| part.split_once(':'))
            else {
                continue;
            };
            let space = if space.is_empty() { Ok(0) } else { space.parse() };
            match (space, rest.split(':').next()) {
                (Ok(0), Some("32")) => self.of_nvptx = true,
                (Ok(space), Some("32")) => drop(self.short.insert(space)),
                _ => {}
            }
        }
    }

    /// Whether pointers of this address space have 32 bits.
    pub(super) fn is_short(&self, space: u32) -> bool {
        self.short.contains(&space)
    }
}

/// The maximum length of a chain of named types.
const DEEPEST: u32 = 100;

/// The maximum number of parts of a type that are examined, the type itself included. Types in practice have
/// fewer parts, and named types may form a cycle.
const PATIENCE: u32 = 2000;

impl Ty {
    pub(super) const BIT: Ty = Ty::Scalar(ScalarType::Int(1));

    /// A type of one word, except for pointers.
    pub(super) fn named(name: &str) -> Option<Ty> {
        Some(match name {
            "void" => Ty::Void,
            "label" | "metadata" | "token" | "x86_fp80" | "fp128" | "ppc_fp128" | "x86_mmx"
            | "x86_amx" | "opaque" | "target" => Ty::Other,
            "ptr" => return None,
            _ => Ty::Scalar(ScalarType::named(name)?),
        })
    }

    /// The number of the address space of a pointer.
    pub(super) fn address_space(&self) -> Option<u32> {
        if let Ty::Ptr(space) = self { Some(*space) } else { None }
    }

    /// The number of elements of a vector.
    pub(super) fn lanes(&self) -> Option<u32> {
        if let Ty::Vector(lanes, _) = self { Some(*lanes) } else { None }
    }

    /// The type of the elements of a vector.
    pub(super) fn one_of_vector(&self) -> Option<&Ty> {
        if let Ty::Vector(_, element) = self { Some(element) } else { None }
    }

    /// The type of the value in memory, if it is a scalar or a vector of scalars.
    pub(super) fn loaded(&self) -> Option<Type> {
        let scalar = |ty: &Ty| match ty {
            Ty::Scalar(scalar) => Some(*scalar),
            Ty::Ptr(_) => Some(ScalarType::Ptr),
            Ty::Void
            | Ty::Vector(..)
            | Ty::Array(..)
            | Ty::Struct { .. }
            | Ty::Named(_)
            | Ty::Other => None,
        };
        if let Ty::Vector(lanes, element) = self {
            return Some(Type { scalar: scalar(element)?, lanes: Some(*lanes) });
        }
        Some(Type { scalar: scalar(self)?, lanes: None })
    }

    /// The scalars of the type, in order; `None` if there are too many, or if the type has no scalars.
    pub(super) fn parts(&self, types: &Types<'_>) -> Option<Vec<ScalarType>> {
        let mut parts = Vec::new();
        self.collect(types, &mut { PATIENCE }, &mut parts)?;
        Some(parts)
    }

    fn collect(
        &self,
        types: &Types<'_>,
        patience: &mut u32,
        parts: &mut Vec<ScalarType>,
    ) -> Option<()> {
        *patience = patience.checked_sub(1)?;
        let mut repeat = |count: u64, element: &Ty| {
            (0..count).try_for_each(|_| element.collect(types, patience, parts))
        };
        match self {
            Ty::Void | Ty::Other => None,
            Ty::Scalar(scalar) => {
                parts.push(*scalar);
                Some(())
            }
            Ty::Ptr(_) => {
                parts.push(ScalarType::Ptr);
                Some(())
            }
            Ty::Vector(count, element) => repeat((*count).into(), element),
            Ty::Array(count, element) => repeat(*count, element),
            Ty::Struct { fields, .. } => fields.iter().try_for_each(|field| repeat(1, field)),
            Ty::Named(name) => repeat(1, types.get(name)?),
        }
    }

    /// The element with this index, and the number of parts before it.
    pub(super) fn element<'t>(
        &'t self,
        index: u64,
        types: &'t Types<'_>,
    ) -> Option<(&'t Ty, usize)> {
        match self.resolved(types)? {
            Ty::Vector(count, element) if index < u64::from(*count) => {
                Some((element, element.parts(types)?.len() * usize::try_from(index).ok()?))
            }
            Ty::Array(count, element) if index < *count => {
                let before = usize::try_from(index).ok()?;
                Some((element, element.parts(types)?.len().checked_mul(before)?))
            }
            Ty::Struct { fields, .. } => {
                let index = usize::try_from(index).ok()?;
                let field = fields.get(index)?;
                let before =
                    fields[..index].iter().map(|field| field.parts(types).map(|p| p.len()));
                Some((field, before.sum::<Option<usize>>()?))
            }
            Ty::Void
            | Ty::Scalar(_)
            | Ty::Ptr(_)
            | Ty::Vector(..)
            | Ty::Array(..)
            | Ty::Named(_)
            | Ty::Other => None,
        }
    }

    /// The type that a name denotes.
    pub(super) fn resolved<'t>(&'t self, types: &'t Types<'_>) -> Option<&'t Ty> {
        let mut ty = self;
        for _ in 0..DEEPEST {
            let Ty::Named(name) = ty else { return Some(ty) };
            ty = types.get(name)?;
        }
        None
    }

    /// Whether it is a vector, an array or a structure.
    pub(super) fn is_aggregate(&self, types: &Types<'_>) -> bool {
        let resolved = self.resolved(types);
        matches!(resolved, Some(Ty::Vector(..) | Ty::Array(..) | Ty::Struct { .. }))
    }

    /// The scalars of the type with their offsets in memory; `None` if there are too many, or if some part has no
    /// place of its own.
    pub(super) fn places(&self, types: &Types<'_>) -> Option<Vec<(ScalarType, u64)>> {
        // The number of parts is limited here.
        let count = self.parts(types)?.len();
        let mut places = Vec::with_capacity(count);
        self.place(types, 0, &mut places)?;
        Some(places)
    }

    fn place(&self, types: &Types<'_>, at: u64, places: &mut Vec<(ScalarType, u64)>) -> Option<()> {
        match self.resolved(types)? {
            Ty::Void | Ty::Other | Ty::Named(_) => None,
            Ty::Scalar(scalar) => {
                places.push((*scalar, at));
                Some(())
            }
            Ty::Ptr(space) if types.is_short(*space) => None,
            Ty::Ptr(_) => {
                places.push((ScalarType::Ptr, at));
                Some(())
            }
            Ty::Vector(lanes, element) => {
                let scalar = element.loaded()?.scalar;
                let bytes = u64::from(scalar.bits().is_multiple_of(8).then(|| scalar.bits() / 8)?);
                places.extend((0..u64::from(*lanes)).map(|lane| (scalar, at + lane * bytes)));
                Some(())
            }
            Ty::Array(count, element) => {
                let stride = element.stride(types)?;
                (0..*count).try_for_each(|index| element.place(types, at + index * stride, places))
            }
            Ty::Struct { fields, .. } => (0..fields.len()).try_for_each(|index| {
                let (offset, field) = self.field(u64::try_from(index).ok()?, types)?;
                field.place(types, at + offset, places)
            }),
        }
    }

    /// The size in bytes in memory without trailing padding, and the alignment.
    pub(super) fn layout(&self, types: &Types<'_>) -> Option<(u64, u64)> {
        self.laid_out(types, &mut { PATIENCE })
    }

    fn laid_out(&self, types: &Types<'_>, patience: &mut u32) -> Option<(u64, u64)> {
        *patience = patience.checked_sub(1)?;
        let own = |bits: u64| {
            let bytes = bits.div_ceil(8);
            Some((bytes, bytes.checked_next_power_of_two()?.min(16)))
        };
        match self {
            Ty::Void | Ty::Other => None,
            Ty::Scalar(scalar) => own(scalar.bits().into()),
            Ty::Ptr(space) if types.is_short(*space) => Some((4, 4)),
            Ty::Ptr(_) => Some((8, 8)),
            Ty::Vector(lanes, element) => {
                let bits = u64::from(element.loaded()?.scalar.bits()) * u64::from(*lanes);
                let bytes = bits.div_ceil(8);
                Some((bytes, bytes.checked_next_power_of_two()?))
            }
            Ty::Array(count, element) => {
                let (bytes, align) = element.laid_out(types, patience)?;
                Some((bytes.checked_next_multiple_of(align)?.checked_mul(*count)?, align))
            }
            Ty::Struct { packed, fields } => {
                let (mut end, mut most) = (0_u64, 1);
                for field in fields {
                    let (bytes, natural) = field.laid_out(types, patience)?;
                    let align = if *packed { 1 } else { natural };
                    end = end.checked_next_multiple_of(align)?;
                    end = end.checked_add(bytes.checked_next_multiple_of(natural)?)?;
                    most = most.max(align);
                }
                Some((end.checked_next_multiple_of(most)?, most))
            }
            Ty::Named(name) => types.get(name)?.laid_out(types, patience),
        }
    }

    /// The distance between adjacent elements of an array of this type.
    pub(super) fn stride(&self, types: &Types<'_>) -> Option<u64> {
        let (bytes, align) = self.layout(types)?;
        bytes.checked_next_multiple_of(align)
    }

    /// The offset of a field of a structure, and its type.
    pub(super) fn field<'t>(&'t self, index: u64, types: &'t Types<'_>) -> Option<(u64, &'t Ty)> {
        let Ty::Struct { packed, fields } = self.resolved(types)? else { return None };
        let index = usize::try_from(index).ok()?;
        let mut at = 0_u64;
        for (here, field) in fields.iter().enumerate() {
            let (bytes, natural) = field.layout(types)?;
            at = at.checked_next_multiple_of(if *packed { 1 } else { natural })?;
            if here == index {
                return Some((at, field));
            }
            at = at.checked_add(bytes.checked_next_multiple_of(natural)?)?;
        }
        None
    }
}
