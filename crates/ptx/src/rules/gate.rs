//! The version and the target that each feature requires: the notes at the end of each page,
//! one line for each. If `ptxas` requires another target than the page, both are listed.

use std::ops::Range;
use std::sync::LazyLock;

use crate::qualifier::OrderQualifier;
use crate::rule::{Authority, Breach, Edit, Rule, Spot};
use crate::shape::{InstructionForm, Opcode};
use crate::version::{PtxIsa, RuleContext};
use model::isa::{SpaceQualifier, TypeKind};
use model::scope::Scope;
use model::section::Section;

/// Something that not every version and target has.
pub struct Gate {
    /// The instructions whose page has the note; `nc` is `ld.global.nc`.
    page: GatePage,
    uses: fn(&InstructionForm<'_>) -> Option<Spot>,
    isa: PtxIsa,
    isa_rule: Rule,
    /// `sm_`, where the page names one.
    sm: u16,
    sm_rule: Rule,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GatePage {
    Ld,
    Nc,
    Ldu,
    St,
    Atom,
    Red,
    Membar,
}

impl GatePage {
    const ALL: [GatePage; 7] = [
        GatePage::Ld,
        GatePage::Nc,
        GatePage::Ldu,
        GatePage::St,
        GatePage::Atom,
        GatePage::Red,
        GatePage::Membar,
    ];

    fn of(form: &InstructionForm<'_>) -> GatePage {
        match form.opcode {
            Opcode::Ld if form.is_non_coherent() => GatePage::Nc,
            Opcode::Ld => GatePage::Ld,
            Opcode::Ldu => GatePage::Ldu,
            Opcode::St => GatePage::St,
            Opcode::Atom => GatePage::Atom,
            Opcode::Red => GatePage::Red,
            Opcode::Fence | Opcode::Membar => GatePage::Membar,
        }
    }

    const fn section(self) -> Section {
        use model::section::{ATOM, LD, LD_GLOBAL_NC, LDU, MEMBAR, RED, ST};
        match self {
            GatePage::Ld => LD,
            GatePage::Nc => LD_GLOBAL_NC,
            GatePage::Ldu => LDU,
            GatePage::St => ST,
            GatePage::Atom => ATOM,
            GatePage::Red => RED,
            GatePage::Membar => MEMBAR,
        }
    }
}

macro_rules! gates {
    ($($page:ident $by:ident $code:literal $text:literal $isa:literal . $minor:literal sm_ $sm:literal $uses:expr;)*) => {
        &[$(Gate {
            page: GatePage::$page,
            uses: $uses,
            isa: PtxIsa::new($isa, $minor),
            isa_rule: Rule {
                code: concat!("isa-", $code),
                section: GatePage::$page.section(),
                text: concat!($text, " requires PTX ISA ", stringify!($isa), ".", stringify!($minor), " or later"),
                by: Authority::$by,
            },
            sm: $sm,
            sm_rule: Rule {
                code: concat!("target-", $code),
                section: GatePage::$page.section(),
                text: concat!($text, " requires `sm_", stringify!($sm), "` or higher"),
                by: Authority::$by,
            },
        }),*]
    };
}

/// In the order of the pages. `1 . 0` and `sm_ 0`: every version and target that has the rest of it.
static GATES: &[Gate] = gates! {
    Ld Both "ld-f64" "`ld.f64`" 1 . 0 sm_ 13 double;
    Ld Both "ld-volatile" "`ld.volatile`" 1 . 1 sm_ 0 |f| order(f, OrderQualifier::Volatile);
    Ld Both "ld-generic" "generic addressing" 2 . 0 sm_ 20 generic;
    Ld Both "ld-cache" "a cache operator" 2 . 0 sm_ 20 |f| part(f.q.cache.as_ref());
    Ld Document "ld-generic-const" "generic addressing of `.const`" 3 . 1 sm_ 0 generic_const;
    Ld Both "ld-weak" "`.weak`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Weak);
    Ld Both "ld-relaxed" "`.relaxed`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Relaxed);
    Ld Both "ld-acquire" "`.acquire`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Acquire);
    Ld Both "ld-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
    Ld Both "ld-prefetch" "a prefetch size" 7 . 4 sm_ 75 |f| part(f.q.prefetch.as_ref());
    Ld Both "ld-prefetch-256" "`.L2::256B`" 1 . 0 sm_ 80 prefetch_256;
    Ld Both "ld-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
    Ld Both "ld-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
    Ld Both "ld-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
    Ld Both "ld-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
    Ld Document "ld-unified" "`.unified`" 8 . 0 sm_ 90 unified;
    Ld Both "ld-mmio" "`.mmio`" 8 . 2 sm_ 70 |f| part(f.q.mmio.as_ref());
    Ld Both "ld-mmio-acquire" "`.mmio.acquire`" 9 . 3 sm_ 70 mmio_acquire;
    Ld Both "ld-param-sub" "`::entry` or `::func`" 8 . 3 sm_ 0 sub_param;
    Ld Both "ld-b128" "`.b128`" 8 . 3 sm_ 70 wide;
    Ld Both "ld-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 70 wide_sys;
    Ld Both "ld-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
    Ld Both "ld-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
    Ld Both "ld-volatile-local" "`.volatile` with `.local`" 9 . 1 sm_ 0 volatile_local;
    Ld Document "ld-volatile-generic" "`.volatile` at a generic address of `.local`" 9 . 1 sm_ 0 volatile_generic;
    Ld Both "ld-readonly" "`.proxy::readonly`" 9 . 4 sm_ 90 |f| part(f.q.readonly.as_ref());

    Nc Both "nc" "`ld.global.nc`" 3 . 1 sm_ 32 |f| part(f.q.non_coherent.as_ref());
    Nc Both "nc-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
    Nc Both "nc-prefetch" "a prefetch size" 7 . 4 sm_ 75 |f| part(f.q.prefetch.as_ref());
    Nc Ptxas "nc-prefetch-256" "`.L2::256B`" 1 . 0 sm_ 80 prefetch_256;
    Nc Both "nc-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
    Nc Both "nc-b128" "`.b128`" 8 . 3 sm_ 70 wide;
    Nc Both "nc-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
    Nc Both "nc-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
    Nc Both "nc-readonly" "`.proxy::readonly`" 9 . 4 sm_ 90 |f| part(f.q.readonly.as_ref());

    Ldu Both "ldu" "`ldu`" 2 . 0 sm_ 0 |_| Some(Spot::Part(0));
    Ldu Both "ldu-f64" "`ldu.f64`" 1 . 0 sm_ 13 double;
    Ldu Both "ldu-b128" "`.b128`" 8 . 3 sm_ 70 wide;

    St Both "st-f64" "`st.f64`" 1 . 0 sm_ 13 double;
    St Both "st-volatile" "`st.volatile`" 1 . 1 sm_ 0 |f| order(f, OrderQualifier::Volatile);
    St Both "st-generic" "generic addressing" 2 . 0 sm_ 20 generic;
    St Both "st-cache" "a cache operator" 2 . 0 sm_ 20 |f| part(f.q.cache.as_ref());
    St Both "st-weak" "`.weak`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Weak);
    St Both "st-relaxed" "`.relaxed`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Relaxed);
    St Both "st-release" "`.release`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Release);
    St Both "st-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
    St Both "st-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
    St Both "st-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
    St Both "st-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
    St Both "st-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
    St Both "st-mmio" "`.mmio`" 8 . 2 sm_ 70 |f| part(f.q.mmio.as_ref());
    St Both "st-mmio-release" "`.mmio.release`" 9 . 3 sm_ 70 mmio_release;
    St Both "st-param-sub" "`::func`" 8 . 3 sm_ 0 sub_param;
    St Both "st-b128" "`.b128`" 8 . 3 sm_ 70 wide;
    St Both "st-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 70 wide_sys;
    St Both "st-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
    St Both "st-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
    St Both "st-volatile-local" "`.volatile` with `.local`" 9 . 1 sm_ 0 volatile_local;
    St Document "st-volatile-generic" "`.volatile` at a generic address of `.local`" 9 . 1 sm_ 0 volatile_generic;

    Atom Both "atom" "`atom`" 1 . 1 sm_ 11 |_| Some(Spot::Part(0));
    Atom Both "atom-generic" "generic addressing" 2 . 0 sm_ 20 generic;
    Atom Both "atom-scope" "a scope" 5 . 0 sm_ 60 |f| part(f.q.scope.as_ref());
    Atom Both "atom-f64" "`atom.add.f64`" 5 . 0 sm_ 60 double;
    Atom Both "atom-order" "a memory order" 6 . 0 sm_ 70 |f| part(f.q.order.as_ref());
    Atom Both "atom-f16x2" "`.f16x2`" 6 . 2 sm_ 60 |f| kind(f, TypeKind::FloatPair, 32);
    Atom Both "atom-f16" "`.f16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Float, 16);
    Atom Both "atom-b16" "`.cas.b16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Bits, 16);
    Atom Both "atom-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
    Atom Both "atom-bf16" "`.bf16`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloat, 16);
    Atom Both "atom-bf16x2" "`.bf16x2`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloatPair, 32);
    Atom Both "atom-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
    Atom Both "atom-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
    Atom Both "atom-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
    Atom Both "atom-vector" "a vector" 8 . 1 sm_ 90 |f| part(f.q.vector.as_ref());
    Atom Both "atom-b128" "`.b128`" 8 . 3 sm_ 90 wide;
    Atom Both "atom-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 90 wide_sys;
    Atom Both "atom-noftz" "`.noftz` with `.f32`" 9 . 4 sm_ 90 single_no_flush;

    Red Both "red" "`red`" 1 . 2 sm_ 11 |_| Some(Spot::Part(0));
    Red Both "red-generic" "generic addressing" 2 . 0 sm_ 20 generic;
    Red Both "red-scope" "a scope" 5 . 0 sm_ 60 |f| part(f.q.scope.as_ref());
    Red Both "red-f64" "`red.add.f64`" 5 . 0 sm_ 60 double;
    Red Both "red-order" "a memory order" 6 . 0 sm_ 70 |f| part(f.q.order.as_ref());
    Red Both "red-f16x2" "`.f16x2`" 6 . 2 sm_ 60 |f| kind(f, TypeKind::FloatPair, 32);
    Red Both "red-f16" "`.f16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Float, 16);
    Red Both "red-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
    Red Both "red-bf16" "`.bf16`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloat, 16);
    Red Both "red-bf16x2" "`.bf16x2`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloatPair, 32);
    Red Both "red-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
    Red Both "red-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
    Red Both "red-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
    Red Both "red-vector" "a vector" 8 . 1 sm_ 90 |f| part(f.q.vector.as_ref());
    Red Both "red-noftz" "`.noftz` with `.f32`" 9 . 4 sm_ 90 single_no_flush;

    Membar Both "membar" "`membar`" 1 . 4 sm_ 0 membar;
    Membar Both "membar-sys" "`membar.sys`" 2 . 0 sm_ 20 membar_sys;
    Membar Both "fence" "`fence`" 6 . 0 sm_ 70 fence;
    Membar Both "fence-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
    Membar Both "fence-acquire" "`fence.acquire`" 8 . 6 sm_ 90 |f| order(f, OrderQualifier::Acquire);
    Membar Both "fence-release" "`fence.release`" 8 . 6 sm_ 90 |f| order(f, OrderQualifier::Release);
};

fn part<T>(at: Option<&crate::qualifier::Positioned<T>>) -> Option<Spot> {
    at.map(|at| Spot::Part(at.position))
}

fn order(form: &InstructionForm<'_>, order: OrderQualifier) -> Option<Spot> {
    part(form.q.order.filter(|at| at.value == order).as_ref())
}

fn space(form: &InstructionForm<'_>, space: SpaceQualifier) -> Option<Spot> {
    part(form.q.space.filter(|at| at.value == space).as_ref())
}

fn kind(form: &InstructionForm<'_>, kind: TypeKind, bits: u16) -> Option<Spot> {
    part(form.q.ty.filter(|at| at.value.kind == kind && at.value.bits == bits).as_ref())
}

fn double(form: &InstructionForm<'_>) -> Option<Spot> {
    kind(form, TypeKind::Float, 64)
}

fn single_no_flush(form: &InstructionForm<'_>) -> Option<Spot> {
    kind(form, TypeKind::Float, 32)?;
    part(form.q.no_flush.as_ref())
}

fn wide(form: &InstructionForm<'_>) -> Option<Spot> {
    kind(form, TypeKind::Bits, 128)
}

fn cluster(form: &InstructionForm<'_>) -> Option<Spot> {
    part(form.q.scope.filter(|at| at.value == Scope::Cluster).as_ref())
}

fn generic(form: &InstructionForm<'_>) -> Option<Spot> {
    form.q.space.is_none().then_some(Spot::Operand(form.place_index()))
}

/// A generic address of a variable of this state space.
fn generic_of(form: &InstructionForm<'_>, space: SpaceQualifier) -> Option<Spot> {
    let spot = generic(form)?;
    (form.variable()?.space == space).then_some(spot)
}

fn generic_const(form: &InstructionForm<'_>) -> Option<Spot> {
    generic_of(form, SpaceQualifier::Const)
}

fn volatile_generic(form: &InstructionForm<'_>) -> Option<Spot> {
    order(form, OrderQualifier::Volatile)?;
    generic_of(form, SpaceQualifier::Local)
}

fn prefetch_256(form: &InstructionForm<'_>) -> Option<Spot> {
    part(form.q.prefetch.filter(|at| at.value == 256).as_ref())
}

fn wide_sys(form: &InstructionForm<'_>) -> Option<Spot> {
    wide(form)?;
    part(form.q.scope.filter(|at| at.value == Scope::Sys).as_ref())
}

fn very_wide(form: &InstructionForm<'_>) -> Option<Spot> {
    form.is_256_bits().then(|| part(form.q.vector.as_ref())).flatten()
}

/// Strong loads have no `.unified` in any version: a rule of its own says so.
fn unified(form: &InstructionForm<'_>) -> Option<Spot> {
    (form.place()?.unified && !form.is_strong()).then_some(Spot::Unified)
}

fn mmio_acquire(form: &InstructionForm<'_>) -> Option<Spot> {
    form.q.mmio?;
    order(form, OrderQualifier::Acquire)
}

fn mmio_release(form: &InstructionForm<'_>) -> Option<Spot> {
    form.q.mmio?;
    order(form, OrderQualifier::Release)
}

fn sub_param(form: &InstructionForm<'_>) -> Option<Spot> {
    space(form, SpaceQualifier::ParamEntry).or_else(|| space(form, SpaceQualifier::ParamFunc))
}

fn volatile_local(form: &InstructionForm<'_>) -> Option<Spot> {
    order(form, OrderQualifier::Volatile)?;
    space(form, SpaceQualifier::Local)
}

fn membar(form: &InstructionForm<'_>) -> Option<Spot> {
    (form.opcode == Opcode::Membar).then_some(Spot::Part(0))
}

fn membar_sys(form: &InstructionForm<'_>) -> Option<Spot> {
    membar(form)?;
    part(form.q.scope.filter(|at| at.value == Scope::Sys).as_ref())
}

fn fence(form: &InstructionForm<'_>) -> Option<Spot> {
    (form.opcode == Opcode::Fence).then_some(Spot::Part(0))
}

/// Hands the latest version and the latest target that the instruction needs and has not to
/// `broken`. Of what came at the same time, the last of the table is the most particular.
pub(super) fn check(
    form: &InstructionForm<'_>,
    setting: &RuleContext,
    broken: &mut impl FnMut(&'static Rule, Breach),
) {
    // What only some demand hides nothing that others do: each has its own.
    let (mut versions, mut targets) = ([None; 3], [None; 3]);
    for gate in of_page(GatePage::of(form)) {
        let old = setting.isa < gate.isa;
        let low = setting.target.is_some_and(|target| target.sm < gate.sm);
        let Some(spot) = (old || low).then(|| (gate.uses)(form)).flatten() else { continue };
        let by = gate.isa_rule.by as usize;
        if old && versions[by].is_none_or(|(known, _): (&Gate, _)| known.isa <= gate.isa) {
            versions[by] = Some((gate, spot));
        }
        if low && targets[by].is_none_or(|(known, _): (&Gate, _)| known.sm <= gate.sm) {
            targets[by] = Some((gate, spot));
        }
    }
    for (gate, spot) in versions.into_iter().flatten() {
        let breach = Breach::at(spot, format!("this is PTX ISA {}", setting.isa));
        broken(&gate.isa_rule, breach.fixed_by([Edit::Version(gate.isa)]));
    }
    let Some(target) = setting.target else { return };
    for (gate, spot) in targets.into_iter().flatten() {
        let breach = Breach::at(spot, format!("the target is `{target}`"));
        broken(&gate.sm_rule, breach.fixed_by([Edit::Target(gate.sm)]));
    }
}

/// The notes of one page.
fn of_page(page: GatePage) -> &'static [Gate] {
    static PAGES: LazyLock<[Range<usize>; 7]> = LazyLock::new(|| {
        GatePage::ALL.map(|page| {
            let start = GATES.iter().position(|gate| gate.page == page).unwrap_or(0);
            start..start + GATES[start..].iter().take_while(|gate| gate.page == page).count()
        })
    });
    &GATES[PAGES[page as usize].clone()]
}

impl Gate {
    fn need(&'static self) -> Need {
        Need { isa: self.isa, isa_rule: &self.isa_rule, sm: self.sm, sm_rule: &self.sm_rule }
    }
}

/// A version and a target that an instruction needs, and the rules that ask for them.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub isa: PtxIsa,
    pub isa_rule: &'static Rule,
    /// `sm_`; 0 if no target is required.
    pub sm: u16,
    pub sm_rule: &'static Rule,
}

/// What the instruction needs: the least version and the least target of each of its parts.
pub fn needs(form: &InstructionForm<'_>) -> Vec<Need> {
    of_page(GatePage::of(form))
        .iter()
        .filter(|gate| (gate.uses)(form).is_some())
        .map(Gate::need)
        .collect()
}

/// What there is to need.
pub(crate) fn all() -> impl Iterator<Item = Need> {
    GATES.iter().map(Gate::need)
}

/// The rules of all gates: those of versions, and of targets where there is one.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    GATES.iter().flat_map(|gate| {
        let version = (gate.isa > PtxIsa::new(1, 0)).then_some(&gate.isa_rule);
        version.into_iter().chain((gate.sm > 0).then_some(&gate.sm_rule))
    })
}
