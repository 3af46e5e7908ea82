//! `LDG` of SPA 5.0, `sm_50` to `sm_62`: its fields, and the address that it accesses.
//!
//! `{@{!}Pg} LDG{.E}{.cop}{.sz} {Ps,} Rd, [Ra ± Imm]`: the offset has 24 bits, or 20 with `Ps`. It is signed
//! with a register, and unsigned without one.

/// Where data may be found on the way, as the hardware has it: `.CS` is `.CA`, and `.LU` is `.CG`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cache {
    /// `.CA`, `.CS`, or nothing: in L1 too.
    All,
    /// `.CG`, `.LU`: in L2 and below.
    Global,
    /// `.CI`: through the read-only path.
    Inconsistent,
    /// `.CV`: fetched again.
    Volatile,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    U8,
    S8,
    U16,
    S16,
    B32,
    B64,
    B128,
    /// `.U.128`: 128 bits, probably at one address in all threads, which is a hint.
    Uniform128,
}

/// An `LDG` that keeps the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ldg {
    /// The number of a predicate, 7 for `PT`, and whether it is negated.
    pub guard: (u8, bool),
    /// `.E`: the address is in `{Ra+1, Ra}`.
    pub extended: bool,
    pub cache: Cache,
    pub size: Size,
    /// `Ps`: the predicate that is set if the page is marked as sparse; 7 is `PT`.
    pub status: Option<u8>,
    /// 255 is `RZ`, here and for the base.
    pub destination: u8,
    pub base: u8,
    /// The field of 24 bits, or of 20 with `Ps`.
    pub offset: u32,
}

impl Size {
    pub const ALL: [Size; 8] = [
        Size::U8,
        Size::S8,
        Size::U16,
        Size::S16,
        Size::B32,
        Size::B64,
        Size::B128,
        Size::Uniform128,
    ];

    /// As the opcode has it, without the first dot; nothing for 32 bits, which `.32` may name.
    pub fn name(self) -> &'static str {
        ["U8", "S8", "U16", "S16", "", "64", "128", "U.128"][self as usize]
    }

    pub fn bytes(self) -> u8 {
        [1, 1, 2, 2, 4, 8, 16, 16][self as usize]
    }

    /// How many registers it fills.
    pub fn registers(self) -> u8 {
        self.bytes().div_ceil(4)
    }
}

impl Cache {
    pub const ALL: [Cache; 4] = [Cache::All, Cache::Global, Cache::Inconsistent, Cache::Volatile];

    /// As disassembled: the one that a name is mapped to.
    pub fn name(self) -> &'static str {
        ["", "CG", "CI", "CV"][self as usize]
    }

    pub fn named(name: &str) -> Option<Cache> {
        Some(match name {
            "CA" | "CS" => Cache::All,
            "CG" | "LU" => Cache::Global,
            "CI" => Cache::Inconsistent,
            "CV" => Cache::Volatile,
            _ => return None,
        })
    }
}

impl Ldg {
    /// The bits of the offset.
    pub fn offset_bits(self) -> u32 {
        if self.status.is_some() { 20 } else { 24 }
    }

    /// Whether it names a base register that a shader with this number of registers does not have.
    pub fn is_beyond(self, limit: u8) -> bool {
        self.base != 255 && self.base >= limit
    }

    /// The offset that is added to the base, or the address itself if there is no base.
    pub fn displacement(self) -> i64 {
        let (bits, field) = (self.offset_bits(), i64::from(self.offset));
        if self.base != 255 && field >> (bits - 1) & 1 == 1 { field - (1 << bits) } else { field }
    }

    /// The address that is accessed: forced to a multiple of the size, without a notice. `base` is
    /// what `Ra`, or `{Ra+1, Ra}`, has; `limit` is how many registers the shader has.
    pub fn address(self, base: u64, limit: u8) -> u64 {
        let field = u64::from(self.offset);
        let sum = if self.base >= limit {
            field
        } else if self.extended {
            base.wrapping_add_signed(self.displacement())
        } else {
            base.wrapping_add_signed(self.displacement()) & 0xffff_ffff
        };
        sum & !(u64::from(self.size.bytes()) - 1)
    }
}
