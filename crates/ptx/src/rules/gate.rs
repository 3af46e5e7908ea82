//! The version and the target that each feature requires: the notes at the end of each page,
//! one line for each. If `ptxas` requires another target than the page, both are listed.

use crate::qualifier::OrderQualifier;
use crate::rule::{Authority, Breach, Edit, Rule, Spot};
use crate::shape::{InstructionForm, Opcode};
use crate::version::{PtxIsa, RuleContext};
use model::isa::{SpaceQualifier, TypeKind};
use model::scope::Scope;
use model::section;

/// Something that not every version and target has.
pub struct Gate {
    uses: fn(&InstructionForm<'_>) -> Option<Spot>,
    isa: PtxIsa,
    isa_rule: Rule,
    /// `sm_`, where the page names one.
    sm: u16,
    sm_rule: Rule,
}

macro_rules! gates {
    ($($(#[$doc:meta])* $page:ident $section:ident {
        $($by:ident $code:literal $text:literal $isa:literal . $minor:literal sm_ $sm:literal $uses:expr;)*
    })*) => {
        $($(#[$doc])* static $page: &[Gate] = &[$(Gate {
            uses: $uses,
            isa: PtxIsa::new($isa, $minor),
            isa_rule: Rule {
                code: concat!("isa-", $code),
                section: section::$section,
                text: concat!($text, " requires PTX ISA ", stringify!($isa), ".", stringify!($minor), " or later"),
                by: Authority::$by,
            },
            sm: $sm,
            sm_rule: Rule {
                code: concat!("target-", $code),
                section: section::$section,
                text: concat!($text, " requires `sm_", stringify!($sm), "` or higher"),
                by: Authority::$by,
            },
        }),*];)*
    };
}

// By page. `1 . 0` and `sm_ 0`: every version and target that has the rest of it.
gates! {
    LD LD {
        Both "ld-f64" "`ld.f64`" 1 . 0 sm_ 13 double;
        Both "ld-volatile" "`ld.volatile`" 1 . 1 sm_ 0 |f| order(f, OrderQualifier::Volatile);
        Both "ld-generic" "generic addressing" 2 . 0 sm_ 20 generic;
        Both "ld-cache" "a cache operator" 2 . 0 sm_ 20 |f| part(f.q.cache.as_ref());
        Document "ld-generic-const" "generic addressing of `.const`" 3 . 1 sm_ 0 generic_const;
        Both "ld-weak" "`.weak`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Weak);
        Both "ld-relaxed" "`.relaxed`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Relaxed);
        Both "ld-acquire" "`.acquire`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Acquire);
        Both "ld-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
        Both "ld-prefetch" "a prefetch size" 7 . 4 sm_ 75 |f| part(f.q.prefetch.as_ref());
        Both "ld-prefetch-256" "`.L2::256B`" 1 . 0 sm_ 80 prefetch_256;
        Both "ld-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
        Both "ld-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
        Both "ld-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
        Both "ld-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
        Document "ld-unified" "`.unified`" 8 . 0 sm_ 90 unified;
        Both "ld-mmio" "`.mmio`" 8 . 2 sm_ 70 |f| part(f.q.mmio.as_ref());
        Both "ld-mmio-acquire" "`.mmio.acquire`" 9 . 3 sm_ 70 mmio_acquire;
        Both "ld-param-sub" "`::entry` or `::func`" 8 . 3 sm_ 0 sub_param;
        Both "ld-b128" "`.b128`" 8 . 3 sm_ 70 wide;
        Both "ld-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 70 wide_sys;
        Both "ld-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
        Both "ld-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
        Both "ld-volatile-local" "`.volatile` with `.local`" 9 . 1 sm_ 0 volatile_local;
        Document "ld-volatile-generic" "`.volatile` at a generic address of `.local`" 9 . 1 sm_ 0 volatile_generic;
        Both "ld-readonly" "`.proxy::readonly`" 9 . 4 sm_ 90 |f| part(f.q.readonly.as_ref());
    }
    /// `ld.global.nc`.
    NC LD_GLOBAL_NC {
        Both "nc" "`ld.global.nc`" 3 . 1 sm_ 32 |f| part(f.q.non_coherent.as_ref());
        Both "nc-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
        Both "nc-prefetch" "a prefetch size" 7 . 4 sm_ 75 |f| part(f.q.prefetch.as_ref());
        Ptxas "nc-prefetch-256" "`.L2::256B`" 1 . 0 sm_ 80 prefetch_256;
        Both "nc-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
        Both "nc-b128" "`.b128`" 8 . 3 sm_ 70 wide;
        Both "nc-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
        Both "nc-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
        Both "nc-readonly" "`.proxy::readonly`" 9 . 4 sm_ 90 |f| part(f.q.readonly.as_ref());
    }
    LDU LDU {
        Both "ldu" "`ldu`" 2 . 0 sm_ 0 |_| Some(Spot::Part(0));
        Both "ldu-f64" "`ldu.f64`" 1 . 0 sm_ 13 double;
        Both "ldu-b128" "`.b128`" 8 . 3 sm_ 70 wide;
    }
    ST ST {
        Both "st-f64" "`st.f64`" 1 . 0 sm_ 13 double;
        Both "st-volatile" "`st.volatile`" 1 . 1 sm_ 0 |f| order(f, OrderQualifier::Volatile);
        Both "st-generic" "generic addressing" 2 . 0 sm_ 20 generic;
        Both "st-cache" "a cache operator" 2 . 0 sm_ 20 |f| part(f.q.cache.as_ref());
        Both "st-weak" "`.weak`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Weak);
        Both "st-relaxed" "`.relaxed`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Relaxed);
        Both "st-release" "`.release`" 6 . 0 sm_ 70 |f| order(f, OrderQualifier::Release);
        Both "st-level1" "an L1 eviction priority" 7 . 4 sm_ 70 |f| part(f.q.level1.as_ref());
        Both "st-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
        Both "st-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
        Both "st-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
        Both "st-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
        Both "st-mmio" "`.mmio`" 8 . 2 sm_ 70 |f| part(f.q.mmio.as_ref());
        Both "st-mmio-release" "`.mmio.release`" 9 . 3 sm_ 70 mmio_release;
        Both "st-param-sub" "`::func`" 8 . 3 sm_ 0 sub_param;
        Both "st-b128" "`.b128`" 8 . 3 sm_ 70 wide;
        Both "st-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 70 wide_sys;
        Both "st-256" "a vector of 256 bits" 8 . 8 sm_ 100 very_wide;
        Both "st-level2" "an L2 eviction priority" 8 . 8 sm_ 100 |f| part(f.q.level2.as_ref());
        Both "st-volatile-local" "`.volatile` with `.local`" 9 . 1 sm_ 0 volatile_local;
        Document "st-volatile-generic" "`.volatile` at a generic address of `.local`" 9 . 1 sm_ 0 volatile_generic;
    }
    ATOM ATOM {
        Both "atom" "`atom`" 1 . 1 sm_ 11 |_| Some(Spot::Part(0));
        Both "atom-generic" "generic addressing" 2 . 0 sm_ 20 generic;
        Both "atom-scope" "a scope" 5 . 0 sm_ 60 |f| part(f.q.scope.as_ref());
        Both "atom-f64" "`atom.add.f64`" 5 . 0 sm_ 60 double;
        Both "atom-order" "a memory order" 6 . 0 sm_ 70 |f| part(f.q.order.as_ref());
        Both "atom-f16x2" "`.f16x2`" 6 . 2 sm_ 60 |f| kind(f, TypeKind::FloatPair, 32);
        Both "atom-f16" "`.f16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Float, 16);
        Both "atom-b16" "`.cas.b16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Bits, 16);
        Both "atom-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
        Both "atom-bf16" "`.bf16`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloat, 16);
        Both "atom-bf16x2" "`.bf16x2`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloatPair, 32);
        Both "atom-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
        Both "atom-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
        Both "atom-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
        Both "atom-vector" "a vector" 8 . 1 sm_ 90 |f| part(f.q.vector.as_ref());
        Both "atom-b128" "`.b128`" 8 . 3 sm_ 90 wide;
        Both "atom-b128-sys" "`.b128` at the scope `.sys`" 8 . 4 sm_ 90 wide_sys;
        Both "atom-noftz" "`.noftz` with `.f32`" 9 . 4 sm_ 90 single_no_flush;
    }
    RED RED {
        Both "red" "`red`" 1 . 2 sm_ 11 |_| Some(Spot::Part(0));
        Both "red-generic" "generic addressing" 2 . 0 sm_ 20 generic;
        Both "red-scope" "a scope" 5 . 0 sm_ 60 |f| part(f.q.scope.as_ref());
        Both "red-f64" "`red.add.f64`" 5 . 0 sm_ 60 double;
        Both "red-order" "a memory order" 6 . 0 sm_ 70 |f| part(f.q.order.as_ref());
        Both "red-f16x2" "`.f16x2`" 6 . 2 sm_ 60 |f| kind(f, TypeKind::FloatPair, 32);
        Both "red-f16" "`.f16`" 6 . 3 sm_ 70 |f| kind(f, TypeKind::Float, 16);
        Both "red-policy" "`.L2::cache_hint`" 7 . 4 sm_ 80 |f| part(f.q.policy.as_ref());
        Both "red-bf16" "`.bf16`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloat, 16);
        Both "red-bf16x2" "`.bf16x2`" 7 . 8 sm_ 90 |f| kind(f, TypeKind::BFloatPair, 32);
        Both "red-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
        Both "red-shared-cta" "`::cta`" 7 . 8 sm_ 30 |f| space(f, SpaceQualifier::SharedCta);
        Both "red-shared-cluster" "`::cluster`" 7 . 8 sm_ 90 |f| space(f, SpaceQualifier::SharedCluster);
        Both "red-vector" "a vector" 8 . 1 sm_ 90 |f| part(f.q.vector.as_ref());
        Both "red-noftz" "`.noftz` with `.f32`" 9 . 4 sm_ 90 single_no_flush;
    }
    MEMBAR MEMBAR {
        Both "membar" "`membar`" 1 . 4 sm_ 0 membar;
        Both "membar-sys" "`membar.sys`" 2 . 0 sm_ 20 membar_sys;
        Both "fence" "`fence`" 6 . 0 sm_ 70 fence;
        Both "fence-cluster" "the scope `.cluster`" 7 . 8 sm_ 90 cluster;
        Both "fence-acquire" "`fence.acquire`" 8 . 6 sm_ 90 |f| order(f, OrderQualifier::Acquire);
        Both "fence-release" "`fence.release`" 8 . 6 sm_ 90 |f| order(f, OrderQualifier::Release);
    }
}

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
    for gate in of_page(form) {
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
    let older = one_way(form);
    for (gate, spot) in versions.into_iter().flatten() {
        let breach = Breach::at(spot, format!("this is PTX ISA {}", setting.isa));
        broken(&gate.isa_rule, breach.fixed_by([older.clone().unwrap_or(Edit::Version(gate.isa))]));
    }
    let Some(target) = setting.target else { return };
    for (gate, spot) in targets.into_iter().flatten() {
        let breach = Breach::at(spot, format!("the target is `{target}`"));
        broken(&gate.sm_rule, breach.fixed_by([older.clone().unwrap_or(Edit::Target(gate.sm))]));
    }
}

/// Of a fence of one direction: the older one of both directions, which orders more.
fn one_way(form: &InstructionForm<'_>) -> Option<Edit> {
    let order = form.q.order.filter(|order| {
        form.opcode == Opcode::Fence
            && matches!(order.value, OrderQualifier::Acquire | OrderQualifier::Release)
    })?;
    Some(Edit::Replace(order.position, OrderQualifier::AcqRel.name()))
}

/// The notes of the page of an instruction.
fn of_page(form: &InstructionForm<'_>) -> &'static [Gate] {
    match form.opcode {
        Opcode::Ld if form.is_non_coherent() => NC,
        Opcode::Ld => LD,
        Opcode::Ldu => LDU,
        Opcode::St => ST,
        Opcode::Atom => ATOM,
        Opcode::Red => RED,
        Opcode::Fence | Opcode::Membar => MEMBAR,
    }
}

/// In the order of the pages.
fn every_gate() -> impl Iterator<Item = &'static Gate> {
    [LD, NC, LDU, ST, ATOM, RED, MEMBAR].into_iter().flatten()
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
    of_page(form).iter().filter(|gate| (gate.uses)(form).is_some()).map(Gate::need).collect()
}

/// What there is to need.
pub(crate) fn all() -> impl Iterator<Item = Need> {
    every_gate().map(Gate::need)
}

/// The rules of all gates: those of versions, and of targets where there is one.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    every_gate().flat_map(|gate| {
        let version = (gate.isa > PtxIsa::new(1, 0)).then_some(&gate.isa_rule);
        version.into_iter().chain((gate.sm > 0).then_some(&gate.sm_rule))
    })
}
