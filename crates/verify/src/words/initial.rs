//! Initial values of memory: `data=7`, `a[3]=1`, `a={1,2}`, `s+8=5`, `u32 s+12=5`.

use crate::argument::ElementType;
use crate::launch::LaunchError;

const HELP: &str = "--init 'data=7', 'a[3]=1', 'a={1,2}', 's+8=5' or 'u32 s+12=5'";

/// An initial value as it is written.
pub(super) struct InitialEntry<'t> {
    text: &'t str,
    pub(super) name: &'t str,
    /// The type of what is at the place, if it is not an element.
    ty: Option<ElementType>,
    at: InitialAt,
    values: Vec<&'t str>,
    /// Whether the values are in braces.
    list: bool,
}

/// Where the first value is.
enum InitialAt {
    /// Everywhere in an array.
    Whole,
    Element(u32),
    Byte(u32),
}

/// What the memory looks like.
#[derive(Clone, Copy)]
pub(super) struct InitialPlace {
    pub(super) ty: ElementType,
    pub(super) count: u32,
    /// Whether a single value is that of every element.
    pub(super) is_array: bool,
}

impl<'t> InitialEntry<'t> {
    pub(super) fn read(text: &'t str) -> Result<InitialEntry<'t>, LaunchError> {
        let wrong = || LaunchError::new(format!("`{text}` is not an initial value")).help(HELP);
        let (place, values) = text.split_once('=').ok_or_else(wrong)?;
        let place = place.trim();
        let (ty, place) = match place.split_once(char::is_whitespace) {
            Some((ty, place)) if ElementType::parse(ty).is_some() => {
                (ElementType::parse(ty), place.trim())
            }
            _ => (None, place),
        };
        // `[data+8]=7`, as conditions have it.
        let inner = place.strip_prefix('[').and_then(|place| place.strip_suffix(']'));
        let place = inner.unwrap_or(place).trim();
        let number = |text: &str| -> Option<u32> {
            let bits = ElementType::unsigned(32).bits_of(text)?;
            u32::try_from(bits).ok()
        };
        let (name, at) = if let Some((name, offset)) = place.split_once('+') {
            (name, InitialAt::Byte(number(offset).ok_or_else(wrong)?))
        } else if let Some((name, index)) =
            place.strip_suffix(']').and_then(|place| place.split_once('['))
        {
            (name, InitialAt::Element(number(index).ok_or_else(wrong)?))
        } else {
            (place, InitialAt::Whole)
        };
        let name = name.trim();
        let values = values.trim();
        let list = values.strip_prefix('{').and_then(|list| list.strip_suffix('}'));
        let all: Vec<&str> = list.map_or_else(|| vec![values], |list| list.split(',').collect());
        if name.is_empty() || all.iter().any(|value| value.trim().is_empty()) {
            return Err(wrong());
        }
        Ok(InitialEntry { text, name, ty, at, values: all, list: list.is_some() })
    }

    /// How many elements are needed for the values.
    pub(super) fn end_in(&self, ty: ElementType) -> u32 {
        let size = u32::from(ty.bits / 8);
        let own = u32::from(self.ty.unwrap_or(ty).bits / 8);
        let values = u32::try_from(self.values.len()).unwrap_or(u32::MAX).saturating_mul(own);
        self.first_byte(ty).saturating_add(values).div_ceil(size)
    }

    fn first_byte(&self, ty: ElementType) -> u32 {
        match self.at {
            InitialAt::Whole => 0,
            InitialAt::Element(index) => index.saturating_mul(u32::from(ty.bits / 8)),
            InitialAt::Byte(byte) => byte,
        }
    }

    /// Writes the values into memory. An error without a help is one of its size.
    pub(super) fn write(
        &self,
        place: InitialPlace,
        memory: &mut Vec<u8>,
    ) -> Result<(), LaunchError> {
        let InitialPlace { ty, count, is_array } = place;
        let own = self.ty.unwrap_or(ty);
        let (size, name) = (u32::from(own.bits / 8), self.name);
        let first = self.first_byte(ty);
        if !first.is_multiple_of(size) {
            let why = format!("a value of {} bits cannot be at byte {first} of `{name}`", own.bits);
            return Err(LaunchError::new(why).help(HELP));
        }
        let bytes = count.saturating_mul(u32::from(ty.bits / 8));
        let everywhere = is_array && !self.list && matches!(self.at, InitialAt::Whole);
        let values: Vec<&str> = if everywhere {
            vec![self.values[0]; (bytes / size) as usize]
        } else {
            self.values.clone()
        };
        for (value, at) in values.into_iter().zip((first..).step_by(size as usize)) {
            let end = at.saturating_add(size);
            if end > bytes {
                let elements = if count == 1 { "1 element" } else { &format!("{count} elements") };
                return Err(LaunchError::new(format!(
                    "`{name}` has {elements} of {} bits, and `{}` is outside",
                    ty.bits, self.text
                )));
            }
            let bits = own.bits_of(value).ok_or_else(|| {
                let value = value.trim();
                let why = format!("`{value}` does not fit the {} bits of `{name}`", own.bits);
                LaunchError::new(why).help(format!("a value of {} bits", own.bits))
            })?;
            if memory.len() < bytes as usize {
                memory.resize(bytes as usize, 0);
            }
            memory[at as usize..end as usize].copy_from_slice(&bits.to_le_bytes()[..size as usize]);
        }
        Ok(())
    }
}
