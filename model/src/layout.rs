//! Where the variables of a program lie: virtual addresses, physical locations.
//!
//! A `.shared` variable is one location for each CTA; an alias has a virtual address of its own and
//! no location. The numbers that registers hold are virtual addresses.

use crate::memory::{Extent, Proxy, Space, VariableId};
use crate::program::{Program, ThreadId};

/// One virtual object: a variable, or a `.shared` variable of one CTA.
#[derive(Clone, Debug)]
pub struct Virtual {
    pub variable: VariableId,
    /// The first thread of the CTA whose object this is; 0 unless shared.
    pub instance: u8,
    /// Index into [`Layout::locations`].
    pub location: u16,
    /// In bytes.
    pub extent: u32,
}

/// One run of physical bytes.
#[derive(Clone, Debug)]
pub struct Location {
    /// The variable that declares it, never an alias.
    pub variable: VariableId,
    pub instance: u8,
    pub initial: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub virtuals: Vec<Virtual>,
    pub locations: Vec<Location>,
    /// For each variable and thread, the virtual object that the name stands for.
    names: Vec<Vec<u16>>,
}

/// Objects start so far apart that no address of one can be mistaken for another's.
const STRIDE_BITS: u32 = 20;

impl Layout {
    pub fn new(program: &Program) -> Layout {
        let mut layout = Layout::default();
        for index in 0..program.variables.len() {
            let variable = VariableId(small(index));
            let names =
                (0..program.threads.len()).map(|thread| layout.place(program, variable, thread));
            let names = names.collect();
            layout.names.push(names);
        }
        layout
    }

    fn place(&mut self, program: &Program, variable: VariableId, thread: usize) -> u16 {
        let named = address_of(program, variable);
        let root = root_of(program, variable);
        let declared = &program.variables[usize::from(root.0)];
        let placement = program.threads[thread].placement;
        let instance = match declared.space {
            Space::Global => 0,
            Space::Shared => program
                .threads
                .iter()
                .position(|other| other.placement.same_cta(placement))
                .unwrap_or(thread),
        };
        let instance = u8::try_from(instance).expect("a test has few threads");
        let known = |v: &Virtual| v.variable == named && v.instance == instance;
        if let Some(object) = self.virtuals.iter().position(known) {
            return small(object);
        }
        let there = |l: &Location| l.variable == root && l.instance == instance;
        let location = self.locations.iter().position(there).unwrap_or_else(|| {
            let initial = declared.initial.clone();
            self.locations.push(Location { variable: root, instance, initial });
            self.locations.len() - 1
        });
        let extent = u32::try_from(declared.initial.len()).expect("locations are small");
        let location = small(location);
        self.virtuals.push(Virtual { variable: named, instance, location, extent });
        small(self.virtuals.len() - 1)
    }

    /// The virtual object that `variable` names in `thread`.
    pub fn object(&self, variable: VariableId, thread: ThreadId) -> u16 {
        self.names[usize::from(variable.0)][usize::from(thread.0)]
    }

    /// The virtual address of `variable` as `thread` sees it.
    pub fn address(&self, variable: VariableId, thread: ThreadId) -> u64 {
        base(self.object(variable, thread))
    }

    /// The virtual byte range of `length` bytes at an address; `None` outside every object.
    pub fn resolve(&self, address: u64, length: u32) -> Option<Extent> {
        let object = (address >> STRIDE_BITS).checked_sub(1)?;
        let object = u16::try_from(object).ok()?;
        let extent = self.virtuals.get(usize::from(object))?.extent;
        let start = u32::try_from(address & ((1 << STRIDE_BITS) - 1)).ok()?;
        (start.checked_add(length)? <= extent).then_some(Extent { object, start, length })
    }

    /// The physical byte range behind a virtual one.
    pub fn physical(&self, va: Extent) -> Extent {
        Extent { object: self.virtuals[usize::from(va.object)].location, ..va }
    }

    /// Every naturally aligned address of `length` bytes.
    pub fn addresses(&self, length: u32) -> impl Iterator<Item = u64> + '_ {
        self.virtuals.iter().enumerate().flat_map(move |(object, v)| {
            (0..v.extent / length).map(move |i| base(small(object)) + u64::from(i * length))
        })
    }
}

/// The address of the first byte of a virtual object.
fn base(object: u16) -> u64 {
    (u64::from(object) + 1) << STRIDE_BITS
}

/// The variable whose virtual address `variable` names: itself, but for other proxies' names.
fn address_of(program: &Program, variable: VariableId) -> VariableId {
    match program.variables[usize::from(variable.0)].alias {
        Some(alias) if alias.proxy != Proxy::Generic => address_of(program, alias.of),
        Some(_) | None => variable,
    }
}

/// The variable whose bytes `variable` names.
pub fn root_of(program: &Program, variable: VariableId) -> VariableId {
    match program.variables[usize::from(variable.0)].alias {
        Some(alias) => root_of(program, alias.of),
        None => variable,
    }
}

fn small(index: usize) -> u16 {
    u16::try_from(index).expect("a test has few variables")
}
