//! How an access of a cycle reaches its location: its order, its bytes, its address and its instruction.

use std::fmt;

use model::memory::Proxy;

use crate::word::{CycleAnnotation, Direction, capitalized};

/// Which bytes of its location an access has, through which address, and by which instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum AccessForm {
    /// The first 32 bits.
    #[default]
    Word,
    /// So many bytes at an offset.
    Part { bytes: u8, offset: u8 },
    /// A number of elements of a number of bytes each, from the first byte on.
    Vector { elements: u8, bytes: u8 },
    /// The first 32 bits, through a second address of the location.
    Alias,
    /// `red`, which writes 32 bits and has no result.
    Reduction,
    /// The first 32 bits, through the texture, surface or constant proxy.
    Through(Proxy),
    /// `ld.global.nc`
    NonCoherent,
    /// `ldu`
    Uniform,
    /// `ld.proxy::readonly`
    Readonly,
}

impl AccessForm {
    /// Every form.
    pub fn all() -> impl Iterator<Item = AccessForm> {
        let part = |bytes: u8| {
            (0..8 / bytes).map(move |at| AccessForm::Part { bytes, offset: at * bytes })
        };
        let parts = part(1).chain(part(2)).chain(part(4).skip(1)).chain(part(8));
        let vectors = [(2, 2), (4, 1), (2, 4), (4, 2)]
            .map(|(elements, bytes)| AccessForm::Vector { elements, bytes });
        let others = [
            AccessForm::Alias,
            AccessForm::Reduction,
            AccessForm::Through(Proxy::Texture),
            AccessForm::Through(Proxy::Surface),
            AccessForm::Through(Proxy::Constant),
            AccessForm::NonCoherent,
            AccessForm::Uniform,
            AccessForm::Readonly,
        ];
        [AccessForm::Word].into_iter().chain(parts).chain(vectors).chain(others)
    }

    /// How many elements it has, and of how many bytes each is.
    pub fn elements(self) -> (u8, u8) {
        if let AccessForm::Part { bytes, .. } = self {
            (1, bytes)
        } else if let AccessForm::Vector { elements, bytes } = self {
            (elements, bytes)
        } else {
            (1, 4)
        }
    }

    /// Where it begins in its location.
    pub fn offset(self) -> u8 {
        if let AccessForm::Part { offset, .. } = self { offset } else { 0 }
    }

    /// Its bytes of the eight that a location has: a bit for each.
    pub fn bytes(self) -> u8 {
        let (elements, bytes) = self.elements();
        let count = elements * bytes;
        (u8::MAX >> (8 - count)) << self.offset()
    }

    /// Whether the program must not write what is read.
    pub fn is_of_read_only_data(self) -> bool {
        matches!(self, AccessForm::NonCoherent | AccessForm::Uniform | AccessForm::Readonly)
    }

    /// Whether its bytes are the 32 bits that a location has by default.
    pub fn is_word(self) -> bool {
        !matches!(self, AccessForm::Part { .. } | AccessForm::Vector { .. })
    }

    /// The part of the name of a test; ranges have the same.
    pub fn name(self) -> String {
        match self {
            AccessForm::Word => "u32".to_owned(),
            AccessForm::Part { bytes, offset: 0 } => format!("u{}", 8 * bytes),
            AccessForm::Part { bytes, offset } => format!("u{}.at{offset}", 8 * bytes),
            AccessForm::Vector { elements, bytes } => format!("v{elements}.u{}", 8 * bytes),
            AccessForm::Alias => "alias".to_owned(),
            AccessForm::Reduction => "red".to_owned(),
            AccessForm::Through(proxy) => proxy.name().to_owned(),
            AccessForm::NonCoherent => "nc".to_owned(),
            AccessForm::Uniform => "ldu".to_owned(),
            AccessForm::Readonly => "readonly".to_owned(),
        }
    }

    /// The word in a cycle: `U8At1` of `u8.at1`.
    pub fn word(self) -> String {
        capitalized(&self.name())
    }
}

impl fmt::Display for AccessForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// An access of a cycle, but for its direction and its location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CycleAccess {
    pub annotation: CycleAnnotation,
    pub form: AccessForm,
}

impl From<CycleAnnotation> for CycleAccess {
    fn from(annotation: CycleAnnotation) -> CycleAccess {
        CycleAccess { annotation, form: AccessForm::Word }
    }
}

impl CycleAccess {
    /// The one that has no words in a cycle, and no part in a name.
    pub const PLAIN: CycleAccess =
        CycleAccess { annotation: CycleAnnotation::Weak, form: AccessForm::Word };

    /// Whether there is such an access in this direction.
    pub fn fits(self, direction: Direction) -> bool {
        let is_weak = self.annotation == CycleAnnotation::Weak;
        self.annotation.fits(direction)
            && match self.form {
                AccessForm::Word | AccessForm::Part { .. } | AccessForm::Alias => true,
                AccessForm::Vector { .. } => !self.annotation.is_mmio(),
                AccessForm::Reduction => {
                    direction == Direction::Write && self.annotation.fits_atomic()
                }
                AccessForm::Through(proxy) => {
                    is_weak && (direction == Direction::Read || proxy == Proxy::Surface)
                }
                AccessForm::NonCoherent | AccessForm::Uniform | AccessForm::Readonly => {
                    is_weak && direction == Direction::Read
                }
            }
    }

    /// Whether there is such an atomic exchange.
    pub fn fits_atomic(self) -> bool {
        let (elements, bytes) = self.form.elements();
        let is_wide = elements == 1 && bytes >= 4;
        let is_generic =
            matches!(self.form, AccessForm::Word | AccessForm::Part { .. } | AccessForm::Alias);
        self.annotation.fits_atomic() && is_wide && is_generic
    }

    /// Whether it promises all that the other does, for accesses in one direction.
    pub fn includes(self, other: CycleAccess, direction: Direction) -> bool {
        self.form == other.form && self.annotation.includes(other.annotation, direction)
    }

    /// Its part of the name of a test; empty if it has none.
    pub fn name(self) -> String {
        match (self.annotation, self.form) {
            (CycleAnnotation::Weak, AccessForm::Word) => String::new(),
            (annotation, AccessForm::Word) => annotation.name(),
            (CycleAnnotation::Weak, form) => form.name(),
            (annotation, form) => format!("{annotation}.{form}"),
        }
    }

    /// Its words in a cycle.
    pub fn words(self) -> Vec<String> {
        let mut words = Vec::new();
        if self.annotation != CycleAnnotation::Weak {
            words.push(self.annotation.word());
        }
        if self.form != AccessForm::Word {
            words.push(self.form.word());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_different_names_and_the_bytes_of_a_location() {
        let names: std::collections::BTreeSet<String> =
            AccessForm::all().flat_map(|form| [form.name(), form.word()]).collect();
        assert_eq!(names.len(), 2 * AccessForm::all().count());
        assert_eq!(AccessForm::Part { bytes: 2, offset: 2 }.bytes(), 0b1100);
        assert_eq!(AccessForm::Vector { elements: 2, bytes: 4 }.bytes(), 0b1111_1111);
        assert_eq!(AccessForm::Part { bytes: 1, offset: 1 }.word(), "U8At1");
        assert_eq!(AccessForm::Vector { elements: 4, bytes: 1 }.word(), "V4U8");
    }
}
