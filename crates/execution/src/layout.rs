//! The memory layout of a program: virtual addresses and physical locations of its variables.
//!
//! A `.shared` variable is one location for each CTA, a `.local` variable one for each thread. An alias has
//! its own virtual address, but no location. Each state space has a window of the generic
//! addresses. Addresses of a state space are offsets in its window; addresses of global memory are generic
//! (`#generic-addressing`).

use crate::event::Access;
use model::isa::SpaceQualifier;
use model::memory::MbarrierState;
use model::memory::{Extent, Proxy, Space, VariableId};
use model::program::{InitialValue, Observed, Program, ThreadId};
use model::value::Value;

/// One virtual object: a variable, or that of one CTA or thread.
#[derive(Clone, Debug)]
pub struct Virtual {
    pub variable: VariableId,
    pub space: Space,
    /// The first thread of the CTA, or the thread, whose object this is; else 0.
    pub instance: u8,
    /// Index into [`Layout::locations`].
    pub location: u16,
    /// In bytes.
    pub extent: u32,
    /// The generic address of the first byte. That of a thread's own object means another one to
    /// each thread.
    pub address: u64,
    /// Whether the test says the address: others may lie near.
    absolute: bool,
}

impl Virtual {
    /// Whether it is another thread's own: the address is that of the thread's.
    fn hidden_from(&self, thread: ThreadId) -> bool {
        !self.space.is_shared_by_threads() && self.instance != thread.0
    }
}

/// One run of physical bytes.
#[derive(Clone, Debug)]
pub struct Location {
    /// The variable that declares it, never an alias.
    pub variable: VariableId,
    pub instance: u8,
    pub initial: Vec<u8>,
    /// The states in which its elements are mbarrier objects before all threads; none if it is not such an object.
    pub mbarriers: Vec<MbarrierState>,
    /// Whether it is tensor memory that is allocated before all threads.
    pub allocated: bool,
}

/// Generic addresses that belong to one state space, or to one CTA's part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub base: u64,
    pub size: u64,
}

impl Window {
    fn contains(self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size
    }
}

/// Why an address is that of no bytes of the space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideMemory {
    /// A generic address in no window, or in another thread's part of one.
    NoWindow,
    /// An address of another space than the instruction names.
    OtherSpace,
    /// In the right window, and outside every variable.
    NoVariable,
    /// An address of tensor memory with a lane in its upper 16 bits.
    Lane,
}

#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub virtuals: Vec<Virtual>,
    pub locations: Vec<Location>,
    /// For each variable and thread, the virtual object that the name stands for.
    names: Vec<Vec<u16>>,
    /// For each thread, the first thread of its CTA, and of its cluster.
    groups: Vec<(u8, u8)>,
    /// For each thread, the first thread of each CTA of its cluster, by number.
    ranks: Vec<Vec<u8>>,
    /// The bytes of one space's window.
    window_bits: u32,
    /// The bytes of one CTA's part of the shared window, a power of two.
    cta_bytes: u64,
    /// Whether the test puts variables at addresses: those of global memory begin at 0 then.
    absolute: bool,
}

/// Objects start so far apart that no address of one can be mistaken for another's.
const STRIDE_BITS: u32 = 20;

/// The same of tensor memory, whose addresses count columns, of which a CTA has 512. An address has the lane in its upper
/// 16 bits (9.7.18.1). After 64 variables, addresses have a lane, which is [`OutsideMemory::Lane`].
const TENSOR_STRIDE_BITS: u32 = 10;
const LANE_SHIFT: u32 = 16;

/// Windows are this large, and more where a test has many variables: generic addresses have 32
/// bits, and so does what a test keeps of them in 32-bit registers.
const WINDOW_BITS: u32 = 28;

impl Layout {
    /// Whether nobody has given these physical bytes a value when threads begin.
    pub fn is_uninitialised(&self, program: &Program, bytes: Extent) -> bool {
        let variable = self.locations[usize::from(bytes.object)].variable;
        program.variables[usize::from(variable.0)].uninitialised
    }

    pub fn new(program: &Program) -> Layout {
        let absolute = program.variables.iter().any(|variable| variable.absolute.is_some());
        let mut layout = Layout {
            groups: groups(program),
            ranks: ranks(program),
            absolute,
            ..Layout::default()
        };
        let threads = program.threads.len().max(1);
        let most = u64::try_from(program.variables.len().next_power_of_two() * threads)
            .expect("few objects");
        layout.window_bits =
            WINDOW_BITS.max(STRIDE_BITS + most.next_power_of_two().trailing_zeros());
        let mut ranks = [0; Space::ALL.len()];
        let ranks: Vec<u64> = program
            .variables
            .iter()
            .map(|variable| {
                let rank = &mut ranks[variable.space as usize];
                *rank += 1;
                *rank - 1
            })
            .collect();
        let shared = program.variables.iter().filter(|v| v.space == Space::Shared).count();
        let shared = u64::try_from(shared.next_power_of_two()).expect("few variables");
        layout.cta_bytes = shared << STRIDE_BITS;
        for index in 0..program.variables.len() {
            let variable = VariableId(small(index));
            let names = (0..program.threads.len())
                .map(|thread| layout.place(program, variable, thread, &ranks));
            let names = names.collect();
            layout.names.push(names);
        }
        layout
    }

    fn place(
        &mut self,
        program: &Program,
        variable: VariableId,
        thread: usize,
        ranks: &[u64],
    ) -> u16 {
        let named = address_of(program, variable);
        let root = program.root(variable);
        let declared = &program.variables[usize::from(root.0)];
        let space = declared.space;
        let instance = self.owner(space, thread);
        let known = |v: &Virtual| v.variable == named && v.instance == instance;
        if let Some(object) = self.virtuals.iter().position(known) {
            return small(object);
        }
        let there = |l: &Location| l.variable == root && l.instance == instance;
        let location = self.locations.iter().position(there).unwrap_or_else(|| {
            let initial = declared.initial.clone();
            let mbarriers = declared.mbarriers.clone();
            let thread = ThreadId(u8::try_from(thread).expect("a test has few threads"));
            let allocated = space == Space::Tensor && !program.is_allocated(root, thread);
            let of = Location { variable: root, instance, initial, mbarriers, allocated };
            self.locations.push(of);
            self.locations.len() - 1
        });
        let extent = u32::try_from(declared.initial.len()).expect("locations are small");
        let location = small(location);
        let part = match space {
            Space::Shared => u64::from(instance) * self.cta_bytes,
            // Each CTA has the same addresses.
            Space::Tensor
            | Space::Global
            | Space::Const
            | Space::Local
            | Space::ParamEntry
            | Space::ParamFunc => 0,
        };
        let absolute = program.variables[usize::from(named.0)].absolute;
        let address = absolute.unwrap_or_else(|| {
            self.base(space) + part + (ranks[usize::from(named.0)] << stride_bits(space))
        });
        let absolute = absolute.is_some();
        let object =
            Virtual { variable: named, space, instance, location, extent, address, absolute };
        self.virtuals.push(object);
        small(self.virtuals.len() - 1)
    }

    /// The thread that stands for all those that a variable of this space is one location for.
    fn owner(&self, space: Space, thread: usize) -> u8 {
        match space {
            Space::Global | Space::Const | Space::ParamEntry => 0,
            Space::Shared | Space::Tensor => self.groups[thread].0,
            Space::Local | Space::ParamFunc => u8::try_from(thread).expect("few threads"),
        }
    }

    /// The generic addresses of a state space.
    pub fn window(&self, space: Space) -> Window {
        let (base, size) = (self.base(space), 1 << self.window_bits);
        if space == Space::Global && self.absolute {
            return Window { base: 0, size: base + size };
        }
        Window { base, size }
    }

    /// The first address that is given to variables of a space.
    fn base(&self, space: Space) -> u64 {
        // Nothing lies in the first window, unless a test puts it there: an offset is not a generic
        // address by mistake.
        (space as u64 + 1) << self.window_bits
    }

    /// The generic addresses that `thread` can name as those of a space; none without a name.
    pub fn named_window(&self, space: SpaceQualifier, thread: ThreadId) -> Option<Window> {
        let cta = self.groups[usize::from(thread.0)].0;
        let shared = self.window(Space::Shared).base + u64::from(cta) * self.cta_bytes;
        Some(match space {
            SpaceQualifier::Generic => return None,
            SpaceQualifier::Shared | SpaceQualifier::SharedCta => {
                Window { base: shared, size: self.cta_bytes }
            }
            SpaceQualifier::Global
            | SpaceQualifier::SharedCluster
            | SpaceQualifier::Const
            | SpaceQualifier::Local
            | SpaceQualifier::Param
            | SpaceQualifier::ParamEntry
            | SpaceQualifier::ParamFunc
            | SpaceQualifier::Tensor => self.window(space.space()?),
        })
    }

    /// The virtual object that `variable` names in `thread`.
    pub fn object(&self, variable: VariableId, thread: ThreadId) -> u16 {
        self.names[usize::from(variable.0)][usize::from(thread.0)]
    }

    /// Whether the bytes of a location have one virtual address.
    pub fn has_one_name(&self, location: u16) -> bool {
        self.virtuals.iter().filter(|of| of.location == location).count() == 1
    }

    /// Whether a thread names a location by its variable; shared memory of another CTA has another address.
    pub fn is_named_by(&self, location: u16, thread: ThreadId) -> bool {
        let variable = self.locations[usize::from(location)].variable;
        self.virtuals[usize::from(self.object(variable, thread))].location == location
    }

    /// The generic address of `variable` as `thread` sees it.
    pub fn address(&self, variable: VariableId, thread: ThreadId) -> u64 {
        self.virtuals[usize::from(self.object(variable, thread))].address
    }

    /// What a register holds at the start of its thread.
    pub fn initial(&self, of: InitialValue) -> Value {
        match of {
            InitialValue::Value(value) => value,
            InitialValue::Address { variable, thread, offset } => {
                self.address(variable, thread).wrapping_add(offset).into()
            }
        }
    }

    /// The address of `variable` in its own space, as `mov` takes it.
    pub fn offset(&self, variable: VariableId, thread: ThreadId) -> u64 {
        let object = &self.virtuals[usize::from(self.object(variable, thread))];
        object.address - self.origin(object.space)
    }

    /// What is added to an address of a space to make it generic.
    pub fn origin(&self, space: Space) -> u64 {
        if space == Space::Global { 0 } else { self.base(space) }
    }

    /// The generic address that an instruction means by a number, where it names a space. Reading
    /// R32: that is an offset in the space's window, or a generic address in the window.
    pub fn generic(&self, space: Option<Space>, address: u64) -> u64 {
        match space {
            Some(space) if address >> self.window_bits == 0 => address + self.origin(space),
            Some(_) | None => address,
        }
    }

    /// The virtual byte range of `length` bytes at an address, as `thread` accesses it.
    pub fn resolve(
        &self,
        thread: ThreadId,
        space: SpaceQualifier,
        address: u64,
        length: u32,
    ) -> Result<Extent, OutsideMemory> {
        if space == SpaceQualifier::Param {
            // Reading R37: of a kernel where the address is its parameter's, else of a function.
            let of = |space| self.resolve(thread, space, address, length);
            return of(SpaceQualifier::ParamEntry).or_else(|_| of(SpaceQualifier::ParamFunc));
        }
        let address = self.generic(space.space(), address);
        if space == SpaceQualifier::Tensor
            && let Some(start) = address.checked_sub(self.base(Space::Tensor))
            && start >> LANE_SHIFT != 0
            && start >> self.window_bits == 0
        {
            return Err(OutsideMemory::Lane);
        }
        for (index, object) in self.virtuals.iter().enumerate() {
            let start = address.wrapping_sub(object.address);
            let far = if object.absolute {
                start >= object.extent.into()
            } else {
                start >> stride_bits(object.space) != 0
            };
            let other_cta = object.space == Space::Tensor && !self.reaches(thread, object);
            if far || other_cta || object.hidden_from(thread) {
                continue;
            }
            if !self.reaches(thread, object) || !self.names(thread, space, object) {
                let generic = space == SpaceQualifier::Generic;
                return Err(if generic {
                    OutsideMemory::NoWindow
                } else {
                    OutsideMemory::OtherSpace
                });
            }
            let unit = object.space.address_unit();
            let start = u32::try_from(start).expect("it is below the stride") * unit;
            let inside = start.checked_add(length).is_some_and(|end| end <= object.extent);
            let extent = Extent { object: small(index), start, length };
            return inside.then_some(extent).ok_or(OutsideMemory::NoVariable);
        }
        let mine = match self.named_window(space, thread) {
            Some(window) => window.contains(address),
            None => GENERIC.iter().any(|&space| self.window(space).contains(address)),
        };
        Err(match (mine, space) {
            (true, _) => OutsideMemory::NoVariable,
            (false, SpaceQualifier::Generic) => OutsideMemory::NoWindow,
            (false, _) => OutsideMemory::OtherSpace,
        })
    }

    /// Whether the object is in memory that the thread can access at all.
    fn reaches(&self, thread: ThreadId, object: &Virtual) -> bool {
        let (_, cluster) = self.groups[usize::from(thread.0)];
        match object.space {
            Space::Global | Space::Const | Space::ParamEntry => true,
            // Reading R33: the shared memory of another cluster is out of reach.
            Space::Shared => self.groups[usize::from(object.instance)].1 == cluster,
            Space::Local | Space::ParamFunc => !object.hidden_from(thread),
            Space::Tensor => object.instance == self.groups[usize::from(thread.0)].0,
        }
    }

    /// Whether an object is in the space that an instruction of `thread` names.
    fn names(&self, thread: ThreadId, space: SpaceQualifier, object: &Virtual) -> bool {
        match space {
            SpaceQualifier::Generic => GENERIC.contains(&object.space),
            SpaceQualifier::Shared | SpaceQualifier::SharedCta => {
                object.space == Space::Shared
                    && object.instance == self.groups[usize::from(thread.0)].0
            }
            SpaceQualifier::Param => {
                matches!(object.space, Space::ParamEntry | Space::ParamFunc)
            }
            SpaceQualifier::Global
            | SpaceQualifier::SharedCluster
            | SpaceQualifier::Const
            | SpaceQualifier::Local
            | SpaceQualifier::ParamEntry
            | SpaceQualifier::ParamFunc
            | SpaceQualifier::Tensor => space.space() == Some(object.space),
        }
    }

    /// The same bytes of the shared variable in the CTA with this rank in the cluster of `thread`, if the test has that
    /// CTA. CTAs have ranks in the order of their numbers.
    pub fn in_cta(&self, va: Extent, thread: ThreadId, rank: usize) -> Option<Extent> {
        let variable = self.virtuals[usize::from(va.object)].variable;
        let &cta = self.ranks[usize::from(thread.0)].get(rank)?;
        let there = |v: &Virtual| v.variable == variable && v.instance == cta;
        let object = self.virtuals.iter().position(there)?;
        Some(Extent { object: small(object), ..va })
    }

    /// The bits of an address in the shared window that are the same for a variable in each CTA, and those that tell
    /// the CTA, too.
    pub fn shared_bits(&self) -> (u64, u64) {
        (self.cta_bytes - 1, (1 << self.window_bits) - 1)
    }

    /// For each CTA in the cluster of a thread, in the order of ranks, where its part of the shared window begins.
    pub fn shared_parts(&self, thread: ThreadId) -> Vec<u64> {
        let ctas = self.ranks[usize::from(thread.0)].iter();
        ctas.map(|&cta| u64::from(cta) * self.cta_bytes).collect()
    }

    /// The physical byte range of a virtual one.
    pub fn physical(&self, va: Extent) -> Extent {
        Extent { object: self.virtuals[usize::from(va.object)].location, ..va }
    }

    /// The locations and bytes that an observed piece of memory is.
    pub fn observed(&self, observed: Observed) -> Option<Extent> {
        match observed {
            Observed::Register { .. } => None,
            Observed::Memory { variable, thread, offset, length } => {
                let object = self.object(variable, thread);
                Some(self.physical(Extent { object, start: offset, length }))
            }
        }
    }

    /// The same bytes at each location of a multimem address.
    pub fn behind(
        &self,
        program: &Program,
        thread: ThreadId,
        accesses: &[Access],
    ) -> Vec<Vec<Access>> {
        let object = accesses.first().map_or(0, |access| access.va.object);
        let multimem = self.virtuals[usize::from(object)].variable;
        let locations = &program.variables[usize::from(multimem.0)].multimem;
        let at = |&location| {
            let object = self.object(location, thread);
            let moved = |access: &Access| {
                let va = Extent { object, ..access.va };
                Access { va, pa: self.physical(va) }
            };
            accesses.iter().map(moved).collect()
        };
        locations.iter().map(at).collect()
    }

    /// The numbers that `thread` can access `length` bytes by, naturally aligned, in the space: `most` of each variable.
    pub fn addresses(
        &self,
        thread: ThreadId,
        space: SpaceQualifier,
        length: u32,
        most: u32,
    ) -> Vec<u64> {
        let mut all = Vec::new();
        let objects = self.virtuals.iter();
        for object in objects.filter(|o| self.reaches(thread, o) && self.names(thread, space, o)) {
            let bases = [object.address, object.address - self.origin(object.space)];
            let forms =
                if space == SpaceQualifier::Generic || bases[0] == bases[1] { 1 } else { 2 };
            for base in &bases[..forms] {
                let count = (object.extent / length).min(most);
                let apart = length / object.space.address_unit();
                all.extend((0..count).map(|i| base + u64::from(i * apart)));
            }
        }
        all
    }
}

/// The distance between two objects of a space, in addresses: its binary logarithm.
fn stride_bits(space: Space) -> u32 {
    if space == Space::Tensor { TENSOR_STRIDE_BITS } else { STRIDE_BITS }
}

/// The spaces that generic addresses reach. Reading R33.
const GENERIC: [Space; 5] =
    [Space::Global, Space::Shared, Space::Const, Space::Local, Space::ParamEntry];

/// For each thread, the first of its CTA and of its cluster.
fn groups(program: &Program) -> Vec<(u8, u8)> {
    let threads = &program.threads;
    let first = |same: &dyn Fn(usize) -> bool| {
        u8::try_from((0..threads.len()).find(|&t| same(t)).unwrap_or(0)).expect("few threads")
    };
    threads
        .iter()
        .map(|thread| {
            let here = thread.placement;
            (
                first(&|other| threads[other].placement.same_cta(here)),
                first(&|other| threads[other].placement.same_cluster(here)),
            )
        })
        .collect()
}

/// For each thread, the first thread of each CTA of its cluster, in the order of the numbers of CTAs.
fn ranks(program: &Program) -> Vec<Vec<u8>> {
    let groups = groups(program);
    let all = (0..program.threads.len()).map(|thread| {
        let cluster = groups[thread].1;
        let mut ctas: Vec<(u32, u8)> = groups
            .iter()
            .filter(|(_, of)| *of == cluster)
            .map(|(cta, _)| (program.threads[usize::from(*cta)].placement.cta, *cta))
            .collect();
        ctas.sort_unstable();
        ctas.dedup();
        ctas.into_iter().map(|(_, cta)| cta).collect()
    });
    all.collect()
}

/// The variable whose virtual address `variable` names: itself, but for other proxies' names.
fn address_of(program: &Program, variable: VariableId) -> VariableId {
    match program.variables[usize::from(variable.0)].alias {
        Some(alias) if alias.proxy != Proxy::Generic => address_of(program, alias.of),
        Some(_) | None => variable,
    }
}

fn small(index: usize) -> u16 {
    u16::try_from(index).expect("a test has few variables")
}
