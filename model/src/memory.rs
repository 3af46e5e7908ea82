//! State spaces, proxies and the variables of a program: virtual addresses and physical locations.

use std::fmt;

/// An addressable state space (`#state-spaces`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Space {
    /// One location for all threads; also what a generic address names unless declared otherwise.
    #[default]
    Global,
    /// One location for each CTA.
    Shared,
    /// One location for all threads, which no instruction may write.
    Const,
    /// One location for each thread.
    Local,
    /// A kernel's parameter: one location for the grid, which no instruction may write.
    ParamEntry,
    /// A parameter of a device function: one location for each thread.
    ParamFunc,
    /// Tensor memory: one location for each CTA, which only `tcgen05` instructions access.
    Tensor,
}

impl Space {
    pub const ALL: [Space; 7] = [
        Space::Global,
        Space::Shared,
        Space::Const,
        Space::Local,
        Space::ParamEntry,
        Space::ParamFunc,
        Space::Tensor,
    ];

    /// As PTX spells it, without the dot; tensor memory as a test declares it.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Const => "const",
            Space::Local => "local",
            Space::ParamEntry => "param::entry",
            Space::ParamFunc => "param::func",
            Space::Tensor => "tmem",
        }
    }

    /// As messages name its memory: `shared` memory.
    pub fn word(self) -> &'static str {
        if self == Space::Tensor { "tensor" } else { self.name() }
    }

    /// The bytes that two addresses are apart that differ by 1: tensor memory has columns of 32 bits.
    pub fn address_unit(self) -> u32 {
        if self == Space::Tensor { TENSOR_COLUMN_BYTES } else { 1 }
    }

    /// Whether no instruction can write to it.
    pub fn is_read_only(self) -> bool {
        matches!(self, Space::Const | Space::ParamEntry)
    }

    /// Whether it is `.param`, of a kernel or of a function.
    pub fn is_parameter(self) -> bool {
        matches!(self, Space::ParamEntry | Space::ParamFunc)
    }

    /// Whether two threads can access one location of it.
    pub fn is_shared_by_threads(self) -> bool {
        !matches!(self, Space::Local | Space::ParamFunc)
    }
}

/// The path an access takes to memory (`#proxies`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Proxy {
    #[default]
    Generic,
    /// Of the peer dialect only, as are surface and constant.
    Texture,
    Surface,
    Constant,
}

impl Proxy {
    pub fn name(self) -> &'static str {
        match self {
            Proxy::Generic => "generic",
            Proxy::Texture => "texture",
            Proxy::Surface => "surface",
            Proxy::Constant => "constant",
        }
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The memory that holds a variable; the axioms know nothing of it, the machine does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Home {
    /// That of a GPU.
    Gpu(u8),
    Host,
}

/// Index of a [`Variable`] in [`crate::program::Program::variables`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u16);

/// The end of the addresses that a test can give to variables.
pub const ABSOLUTE: u64 = 1 << 24;

/// The state in which a test declares an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MbarrierState {
    /// Expected arrivals of each phase, and those pending of the current one.
    pub count: u32,
    pub phase: u32,
    pub tx: i32,
}

/// The bytes of an mbarrier object, and its alignment.
pub const MBARRIER_BYTES: u32 = 8;

/// The bytes of a tensormap: the descriptor of a tensor.
pub const TENSORMAP_BYTES: u32 = 128;

/// The bytes of a column of tensor memory in one lane.
pub const TENSOR_COLUMN_BYTES: u32 = 4;

/// A name for memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    /// Initial bytes, little-endian; their number is the extent. Empty for an alias.
    pub initial: Vec<u8>,
    /// Whether nobody has given its bytes a value: they are 0, and a read of them before a write is something to tell.
    /// Reading R117.
    pub uninitialised: bool,
    /// Whether declared with a type in the test, as opposed to inferred from its accesses.
    pub declared: bool,
    pub alias: Option<Alias>,
    /// Where global memory is homed, if the test says.
    pub home: Option<Home>,
    /// The generic address of its first byte, where the test says it: of global memory, and below
    /// [`ABSOLUTE`].
    pub absolute: Option<u64>,
    /// The states in which its elements are mbarrier objects before all threads; none if the test does not say so.
    pub mbarriers: Vec<MbarrierState>,
    /// The tensor that its bytes are a tensormap of: `t @tensormap g`.
    pub tensormap: Option<VariableId>,
    /// Its locations if it is a multimem address: `m @multimem x, y`. It has no memory of its own then.
    pub multimem: Vec<VariableId>,
}

/// `y @ generic aliases x`, `s @ surface aliases x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    pub of: VariableId,
    /// Generic: a second virtual address of the same bytes. Any other: the virtual address of `of`,
    /// accessed through that proxy.
    pub proxy: Proxy,
}

/// A run of bytes of one object. Objects are numbered by whoever makes the extent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Extent {
    pub object: u16,
    pub start: u32,
    /// In bytes, at least 1.
    pub length: u32,
}

impl Extent {
    pub fn end(self) -> u32 {
        self.start + self.length
    }

    /// Whether the two share a byte.
    pub fn overlaps(self, other: Extent) -> bool {
        self.object == other.object && self.start < other.end() && other.start < self.end()
    }

    pub fn contains(self, other: Extent) -> bool {
        self.object == other.object && self.start <= other.start && other.end() <= self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_that_only_touch_do_not_overlap() {
        let low = Extent { object: 0, start: 0, length: 4 };
        let high = Extent { object: 0, start: 4, length: 4 };
        assert!(!low.overlaps(high));
        assert!(low.overlaps(Extent { object: 0, start: 3, length: 4 }));
        assert!(!low.overlaps(Extent { object: 1, start: 0, length: 4 }));
    }
}
