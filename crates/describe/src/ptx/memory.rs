//! Describes loads, stores and atomics: their events, and what they promise and do not promise.

use ::ptx::qualifier::CacheOperator;
use ::ptx::shape::{InstructionForm, Opcode, OperandShape, ValueShape};
use ::ptx::version::PtxIsa;
use model::isa::SpaceQualifier;
use model::isa::atom::{AtomicOp, AtomicOrder};
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::isa::{Type, TypeKind};
use model::scope::Scope;
use model::section::{self, Section};

use super::promises::{
    acquires, mmio, morally_strong, of_one_thread, read_only, relaxed_read, relaxed_write,
    releases, volatile, weak, weak_read,
};
use super::words::{bytes, element, page, said, threads};
use super::{CitedText, InstructionMeaning, address};

/// The meaning of a load, store, atomic or reduction; `None` if its qualifiers break a rule.
pub(super) fn meaning(form: &InstructionForm<'_>, isa: PtxIsa) -> Option<InstructionMeaning> {
    let access = ExplainedAccess::of(form)?;
    let mut meaning = match form.opcode {
        Opcode::Ld => load(&access, ptx::meaning::load_order(form.q)?),
        Opcode::Ldu => load(&access, LoadOrder::Uniform),
        Opcode::St => store(&access, ptx::meaning::store_order(form.q)?),
        Opcode::Atom | Opcode::Red => {
            let (op, order, scope) = ptx::meaning::atomic(form.q)?;
            atomic(form, &access, op, order, scope)
        }
        Opcode::Fence | Opcode::Membar => return None,
    };
    defaults(form, isa, &mut meaning);
    address::duties(form, &mut meaning);
    shape(form, &access, &mut meaning);
    Some(meaning)
}

/// The memory that an instruction accesses.
pub(super) struct ExplainedAccess {
    ty: Type,
    elements: u32,
    /// The number of elements whose register is `_`.
    sinks: u32,
    pub(super) space: SpaceQualifier,
    pub(super) page: Section,
}

impl ExplainedAccess {
    fn of(form: &InstructionForm<'_>) -> Option<ExplainedAccess> {
        let sink =
            |lanes: &[ValueShape]| lanes.iter().filter(|lane| **lane == ValueShape::Sink).count();
        let sinks = form.data().map(|(_, shape)| match shape {
            OperandShape::Lanes(lanes) => sink(lanes.values()),
            OperandShape::Value(_) | OperandShape::Place(_) => 0,
        });
        Some(ExplainedAccess {
            ty: form.q.ty?.value,
            elements: form.q.vector.map_or(1, |vector| u32::from(vector.value)),
            sinks: u32::try_from(sinks.sum::<usize>()).unwrap_or(0),
            space: form.q.space(),
            page: page(form.opcode, form.is_non_coherent()),
        })
    }

    fn thing(&self) -> String {
        match self.elements {
            1 => element(self.ty),
            n => format!("a vector of {n} elements, each {},", element(self.ty)),
        }
    }

    /// The events: one for each element, or two if the element is packed. `kind` is the singular and the
    /// plural.
    fn events(&self, what: &str, kind: (&str, &str)) -> CitedText {
        let packed = u32::from(self.is_packed());
        let size = bytes(self.ty.bytes() >> packed);
        let text = match (self.elements - self.sinks) << packed {
            1 => format!("one {} of {size}: {what}", kind.0),
            n => format!("{n} {} of {size} each: {what}", kind.1),
        };
        said(section::OPERATION_TYPES, text)
    }

    /// Whether the accessed memory belongs to one thread.
    pub(super) fn is_own(&self) -> bool {
        matches!(
            self.space,
            SpaceQualifier::Local | SpaceQualifier::Param | SpaceQualifier::ParamFunc
        )
    }

    /// Whether an element consists of two numbers.
    fn is_packed(&self) -> bool {
        matches!(self.ty.kind, TypeKind::FloatPair | TypeKind::BFloatPair)
    }
}

pub(super) fn place(space: SpaceQualifier) -> &'static str {
    match space {
        SpaceQualifier::Generic => "a generic address",
        SpaceQualifier::Global => "global memory",
        SpaceQualifier::Shared | SpaceQualifier::SharedCta => "the shared memory of its CTA",
        SpaceQualifier::SharedCluster => "the shared memory of a CTA of its cluster",
        SpaceQualifier::Const => "constant memory",
        SpaceQualifier::Local => "local memory",
        SpaceQualifier::Param => "a parameter",
        SpaceQualifier::ParamEntry => "a parameter of the kernel",
        SpaceQualifier::ParamFunc => "a parameter or result of a function",
        SpaceQualifier::Tensor => "tensor memory",
    }
}

/// `strong, acquire, scope .gpu`, through the generic proxy.
fn strong(order: &str, scope: Scope) -> String {
    format!("strong, {order}, scope `.{scope}` ({}), generic proxy", threads(scope))
}

const WEAK: &str = "weak, without a scope, generic proxy";

fn load(access: &ExplainedAccess, order: LoadOrder) -> InstructionMeaning {
    let name = match order {
        LoadOrder::Weak => "a weak load".to_owned(),
        LoadOrder::Volatile => "a volatile load".to_owned(),
        LoadOrder::Relaxed(scope) => format!("a relaxed load at scope `.{scope}`"),
        LoadOrder::Acquire(scope) => format!("an acquire load at scope `.{scope}`"),
        LoadOrder::MmioRelaxed => "an MMIO load".to_owned(),
        LoadOrder::MmioAcquire => "an MMIO load that acquires".to_owned(),
        LoadOrder::NonCoherent => "a non-coherent load".to_owned(),
        LoadOrder::Uniform => "a load, by all threads of a warp from one address,".to_owned(),
        LoadOrder::Readonly => "a load through the read-only proxy".to_owned(),
    };
    let is = format!("{name} of {} from {}", access.thing(), place(access.space));
    let mut meaning = InstructionMeaning::new(said(access.page, is));
    let event = match order {
        LoadOrder::Weak => WEAK.to_owned(),
        LoadOrder::Volatile => strong("treated as relaxed", Scope::Sys),
        LoadOrder::Relaxed(scope) => strong("relaxed", scope),
        LoadOrder::Acquire(scope) => strong("acquire", scope),
        LoadOrder::MmioRelaxed => strong("relaxed, mmio", Scope::Sys),
        LoadOrder::MmioAcquire => strong("acquire, mmio", Scope::Sys),
        LoadOrder::NonCoherent => {
            "outside the memory model; weak, if the program does not write the bytes".to_owned()
        }
        LoadOrder::Uniform => format!("{WEAK}; of data that must not be written"),
        LoadOrder::Readonly => "weak, without a scope, read-only proxy".to_owned(),
    };
    meaning.events.push(access.events(&event, ("read", "reads")));
    match order {
        LoadOrder::Weak => weak_read(access, &mut meaning),
        LoadOrder::Volatile | LoadOrder::MmioRelaxed => {
            morally_strong(Scope::Sys, access, &mut meaning);
            relaxed_read(access, &mut meaning);
        }
        LoadOrder::Relaxed(scope) => {
            morally_strong(scope, access, &mut meaning);
            relaxed_read(access, &mut meaning);
        }
        LoadOrder::Acquire(scope) => {
            morally_strong(scope, access, &mut meaning);
            acquires("this load", &mut meaning);
        }
        LoadOrder::MmioAcquire => {
            morally_strong(Scope::Sys, access, &mut meaning);
            acquires("this load", &mut meaning);
        }
        LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly => {
            read_only(access, &mut meaning);
        }
    }
    match order {
        LoadOrder::NonCoherent => meaning.limits.push(said(
            section::APPLICABILITY,
            "the memory model does not define it: the model treats it as a texture access",
        )),
        LoadOrder::Volatile => volatile(&mut meaning),
        LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire => {
            meaning.promises.push(said(
                section::MMIO_OPERATION,
                "the read is performed: never left out, repeated, combined with another, forwarded \
                 from a write or served from a cache",
            ));
            meaning.limits.push(said(
                section::MMIO_OPERATION,
                "it may also read adjacent bytes: 32 to 128 bytes on some GPUs",
            ));
            mmio(&mut meaning);
        }
        LoadOrder::Uniform => meaning.limits.push(said(
            section::LDU,
            "all threads of the warp must use the same address; otherwise the behaviour is undefined",
        )),
        LoadOrder::Weak | LoadOrder::Relaxed(_) | LoadOrder::Acquire(_) | LoadOrder::Readonly => {}
    }
    meaning
}

fn store(access: &ExplainedAccess, order: StoreOrder) -> InstructionMeaning {
    let (name, event) = match order {
        StoreOrder::Weak => ("a weak store".to_owned(), WEAK.to_owned()),
        StoreOrder::Volatile => {
            ("a volatile store".to_owned(), strong("treated as relaxed", Scope::Sys))
        }
        StoreOrder::Relaxed(scope) => {
            (format!("a relaxed store at scope `.{scope}`"), strong("relaxed", scope))
        }
        StoreOrder::Release(scope) => {
            (format!("a release store at scope `.{scope}`"), strong("release", scope))
        }
        StoreOrder::MmioRelaxed => {
            ("an MMIO store".to_owned(), strong("relaxed, mmio", Scope::Sys))
        }
        StoreOrder::MmioRelease => {
            ("an MMIO store that releases".to_owned(), strong("release, mmio", Scope::Sys))
        }
    };
    let is = format!("{name} of {} to {}", access.thing(), place(access.space));
    let mut meaning = InstructionMeaning::new(said(section::ST, is));
    meaning.events.push(access.events(&event, ("write", "writes")));
    if let Some(scope) = order.scope() {
        morally_strong(scope, access, &mut meaning);
    }
    if order.is_release() {
        releases("this store", &mut meaning);
    }
    match order {
        StoreOrder::Weak => {
            if of_one_thread(access, &mut meaning) {
                return meaning;
            }
            meaning.promises.push(said(
                section::CAUSALITY,
                "a read that it precedes in causality order returns it or a later write",
            ));
            meaning.limits.push(said(
                section::MEMORY_SYNCHRONIZATION,
                "it synchronizes with nothing: a thread that reads it does not see what came before",
            ));
            weak("an access", &mut meaning);
        }
        StoreOrder::Relaxed(_) => relaxed_write(access, &mut meaning),
        StoreOrder::Volatile => {
            relaxed_write(access, &mut meaning);
            volatile(&mut meaning);
        }
        StoreOrder::Release(_) => {}
        StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => {
            if order == StoreOrder::MmioRelaxed {
                relaxed_write(access, &mut meaning);
            }
            meaning.promises.push(said(
                section::MMIO_OPERATION,
                "the write is performed: never left out, repeated or combined with another",
            ));
            mmio(&mut meaning);
        }
    }
    meaning
}

fn atomic(
    form: &InstructionForm<'_>,
    access: &ExplainedAccess,
    op: AtomicOp,
    order: AtomicOrder,
    scope: Scope,
) -> InstructionMeaning {
    let reduction = form.opcode == Opcode::Red;
    let page = access.page;
    let (name, adjective) = match order {
        AtomicOrder::Relaxed => ("relaxed", "a relaxed"),
        AtomicOrder::Acquire => ("acquire", "an acquire"),
        AtomicOrder::Release => ("release", "a release"),
        AtomicOrder::AcqRel => ("acquire and release", "an acquire-release"),
    };
    let what = if reduction { "reduction" } else { "atomic operation" };
    let result = if reduction { ", without a result" } else { ", which returns the old value" };
    let is = format!(
        "{adjective} {what} at scope `.{scope}` on {} {} {}{result}",
        access.thing(),
        if access.space == SpaceQualifier::Generic { "at" } else { "in" },
        place(access.space)
    );
    let mut meaning = InstructionMeaning::new(said(page, is));
    let (read, write) = match order {
        AtomicOrder::Relaxed => ("relaxed", "relaxed"),
        AtomicOrder::Acquire => ("acquire", "relaxed"),
        AtomicOrder::Release => ("relaxed", "release"),
        AtomicOrder::AcqRel => ("acquire", "release"),
    };
    let conditional = if op == AtomicOp::Cas { ", if the comparison succeeds" } else { "" };
    meaning.events.push(access.events(
        &format!("{} (the read {read}, the write {write}{conditional})", strong(name, scope)),
        ("read and write", "reads and writes"),
    ));
    morally_strong(scope, access, &mut meaning);
    meaning.promises.push(said(
        section::ATOMICITY,
        "no write that is morally strong with it comes between its read and its write",
    ));
    meaning.promises.push(said(
        section::OBSERVATION_ORDER,
        "a read of what it wrote observes what it read too: it continues the release pattern that \
         it reads from",
    ));
    match order {
        AtomicOrder::Relaxed => {
            if !reduction {
                relaxed_read(access, &mut meaning);
            }
            relaxed_write(access, &mut meaning);
        }
        AtomicOrder::Acquire => acquires("its read", &mut meaning),
        AtomicOrder::Release => releases("its write", &mut meaning),
        AtomicOrder::AcqRel => {
            acquires("its read", &mut meaning);
            releases("its write", &mut meaning);
        }
    }
    meaning.limits.push(said(
        page,
        "two atomics are atomic to each other only if the scope of each includes the other's thread; \
         a weak store may come between the read and the write",
    ));
    if reduction {
        meaning.limits.push(said(
            section::REDUCTIONS,
            "its read ends no acquire pattern, even with a fence after it: that requires `atom`",
        ));
    }
    if op == AtomicOp::Cas {
        meaning.limits.push(said(
            page,
            "where the comparison fails, nothing is written and so nothing is released",
        ));
    }
    if access.elements > 1 || access.is_packed() {
        meaning.limits.push(said(page, "each element is atomic by itself, the whole is not"));
    }
    meaning
}

/// The defaults of qualifiers that are not written.
fn defaults(form: &InstructionForm<'_>, isa: PtxIsa, meaning: &mut InstructionMeaning) {
    let q = form.q;
    let page = page(form.opcode, form.is_non_coherent());
    let mut says = |section, what: &str| meaning.defaults.push(said(section, what.to_owned()));
    let default_weak = q.order.is_none() && q.non_coherent.is_none() && q.mmio.is_none();
    match form.opcode {
        Opcode::Ld | Opcode::St if default_weak => says(page, "no order: `.weak`"),
        Opcode::Atom | Opcode::Red => {
            if q.order.is_none() {
                says(page, "no order: `.relaxed`");
            }
            if q.scope.is_none() {
                says(page, &format!("no scope: `.gpu`, {}", threads(Scope::Gpu)));
            }
        }
        Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Fence | Opcode::Membar => {}
    }
    match q.space() {
        SpaceQualifier::Generic => says(page, &address::generic(form, isa)),
        SpaceQualifier::Shared => says(page, "`.shared` without a sub-qualifier: `.shared::cta`"),
        SpaceQualifier::Param => says(
            section::PARAMETER_STATE_SPACE,
            "`.param` without a sub-qualifier: `::func` in functions, and for what a kernel passes \
             to them; `::entry` for the parameters of a kernel",
        ),
        SpaceQualifier::Global
        | SpaceQualifier::SharedCta
        | SpaceQualifier::SharedCluster
        | SpaceQualifier::Const
        | SpaceQualifier::Local
        | SpaceQualifier::ParamEntry
        | SpaceQualifier::ParamFunc
        | SpaceQualifier::Tensor => {}
    }
    if let Some(text) = address::not_unified(form, isa) {
        says(page, text);
    }
}

/// The effects of sizes: alignment, vectors, sinks and wider registers.
fn shape(form: &InstructionForm<'_>, access: &ExplainedAccess, meaning: &mut InstructionMeaning) {
    let whole = access.ty.bytes() * access.elements;
    if whole > 1 {
        meaning.limits.push(said(
            section::ADDRESSES_AS_OPERANDS,
            format!(
                "the address must be a multiple of {whole}; otherwise the behaviour is undefined"
            ),
        ));
    }
    if access.elements > 1 && !form.opcode.is_atomic() {
        meaning.limits.push(said(
            section::VECTOR_TYPES,
            "the elements are accesses of their own, in no order: another thread may see some of \
             them and not the others",
        ));
    }
    if access.sinks > 0 {
        let count = access.sinks;
        let are = if count == 1 { "element is" } else { "elements are" };
        meaning.promises.push(said(
            section::VECTORS_AS_OPERANDS,
            format!("{count} {are} not read: the register is `_`"),
        ));
    }
    if access.ty.bits == 128 {
        meaning.promises.push(said(access.page, "the 16 bytes are one access, not two"));
    }
    let extended = matches!(form.opcode, Opcode::Ld | Opcode::Ldu);
    let narrow = access.ty.bits < 64;
    match access.ty.kind {
        TypeKind::Signed if extended && narrow => meaning.promises.push(said(
            section::OPERAND_SIZE,
            "a register wider than the type receives the value with its sign extended",
        )),
        TypeKind::Unsigned | TypeKind::Bits if extended && narrow => meaning.promises.push(said(
            section::OPERAND_SIZE,
            "a register wider than the type receives the value with zeros in front",
        )),
        TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits
            if form.opcode == Opcode::St && narrow =>
        {
            meaning.promises.push(said(
                section::OPERAND_SIZE,
                "of a register wider than the type, the lowest bits are stored",
            ));
        }
        TypeKind::Signed
        | TypeKind::Unsigned
        | TypeKind::Bits
        | TypeKind::Float
        | TypeKind::FloatPair
        | TypeKind::BFloat
        | TypeKind::BFloatPair => {}
    }
    if matches!(form.q.cache.map(|cache| cache.value), Some(CacheOperator::Cv | CacheOperator::Wt))
    {
        meaning.limits.push(said(
            access.page,
            "its cache operator makes it no stronger: to the model it stays weak",
        ));
    }
}
