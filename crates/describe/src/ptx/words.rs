//! Describes each qualifier: its meaning, or the hint that it gives to the caches.

use std::borrow::Cow;

use ::ptx::qualifier::{CacheOperator, OrderQualifier, Qualifier, QualifierKind};
use ::ptx::shape::Opcode;
use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::scope::Scope;
use model::section::{self, Section};

use super::CitedText;

pub(super) fn said(section: Section, text: impl Into<Cow<'static, str>>) -> CitedText {
    CitedText { text: text.into(), section }
}

/// The section that describes an instruction.
pub(super) fn page(opcode: Opcode, non_coherent: bool) -> Section {
    match opcode {
        Opcode::Ld if non_coherent => section::LD_GLOBAL_NC,
        Opcode::Ld => section::LD,
        Opcode::Ldu => section::LDU,
        Opcode::St => section::ST,
        Opcode::Atom => section::ATOM,
        Opcode::Red => section::RED,
        Opcode::Fence | Opcode::Membar => section::MEMBAR,
    }
}

/// What an access at a scope is, of this order if it is not relaxed; weak without a scope.
pub(super) fn strength(scope: Option<Scope>, order: Option<&str>) -> String {
    match scope {
        None => "weak".to_owned(),
        Some(scope) => format!("{}, scope `.{scope}`", order.unwrap_or("relaxed")),
    }
}

/// Whether a qualifier affects only performance.
pub(super) fn is_hint(kind: QualifierKind) -> bool {
    matches!(
        kind,
        QualifierKind::Cache
            | QualifierKind::Level1
            | QualifierKind::Level2
            | QualifierKind::Prefetch
            | QualifierKind::Policy
    )
}

/// The meaning of the qualifier `name` on this instruction.
pub(super) fn part(opcode: Opcode, name: &str, qualifier: Qualifier, page: Section) -> CitedText {
    match qualifier {
        Qualifier::Order(given) => order(opcode, given),
        Qualifier::Mmio => said(
            section::MMIO_OPERATION,
            "for registers of devices: each access is performed, none is combined with another",
        ),
        Qualifier::Scope(given) => said(section::SCOPE, format!("the scope: {}", threads(given))),
        Qualifier::GpuLevel => {
            said(page, format!("the level of scope `.gpu`: {}", threads(Scope::Gpu)))
        }
        Qualifier::Space(given) => said(section::STATE_SPACES, space(given)),
        Qualifier::Op(given) => said(page, operation(given)),
        Qualifier::Type(given) => said(page, format!("the type: {}", element(given))),
        Qualifier::Vector(count) => {
            said(section::VECTOR_TYPES, format!("{count} elements, next to each other in memory"))
        }
        Qualifier::NonCoherent => said(
            section::LD_GLOBAL_NC,
            "may be served from a read-only cache that no write of the kernel updates",
        ),
        Qualifier::Cache(given) => said(page, cache(opcode, given)),
        Qualifier::Level1 | Qualifier::Level2 => said(page, eviction(name)),
        Qualifier::Prefetch(32) => said(
            section::of_opcode("prefetch"),
            "of `prefetch`, not of a load: ptxas takes it for `.L2::64B`",
        ),
        Qualifier::Prefetch(bytes) => said(page, format!("prefetches {bytes} bytes into L2")),
        Qualifier::Policy => said(
            page,
            "the last operand is a policy, made by `createpolicy`, of what to keep in L2",
        ),
        Qualifier::Readonly => said(
            section::LD,
            "reads through the read-only proxy: the bytes must not be written while the kernel runs",
        ),
        Qualifier::NoFlush => said(page, "subnormal numbers are kept, not flushed to zero"),
        Qualifier::Outside(what) => said(page, format!("{what}: the model does not cover it")),
    }
}

fn order(opcode: Opcode, order: OrderQualifier) -> CitedText {
    let fence = matches!(opcode, Opcode::Fence | Opcode::Membar);
    let page = page(opcode, false);
    match order {
        OrderQualifier::Weak => said(section::OPERATION_TYPES, "weak: does not synchronize"),
        OrderQualifier::Volatile => said(
            section::VOLATILE_OPERATION,
            "relaxed at scope `.sys`, and the compiler keeps the number and the order of volatile \
             instructions",
        ),
        OrderQualifier::Relaxed => said(
            section::OPERATION_TYPES,
            "strong, and orders no other access: synchronizes only together with fences",
        ),
        OrderQualifier::Acquire if fence => {
            said(page, "what follows the fence is ordered after what is read before it")
        }
        OrderQualifier::Acquire => said(
            section::RELEASE_ACQUIRE_PATTERNS,
            "strong, and what follows it in program order sees what the release that it reads from \
             made visible",
        ),
        OrderQualifier::Release if fence => {
            said(page, "what precedes the fence is ordered before what is written after it")
        }
        OrderQualifier::Release => said(
            section::RELEASE_ACQUIRE_PATTERNS,
            "strong, and makes what precedes it in program order visible to a thread that acquires it",
        ),
        OrderQualifier::AcqRel if fence => said(page, "acquires and releases"),
        OrderQualifier::AcqRel => said(
            section::RELEASE_ACQUIRE_PATTERNS,
            "strong: its read acquires and its write releases",
        ),
        OrderQualifier::Sc => said(
            section::FENCE_SC_ORDER,
            "acquires and releases, and is in a single order with the other `.sc` fences",
        ),
    }
}

/// The threads that a scope includes.
pub(super) fn threads(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "the threads of this thread's CTA",
        Scope::Cluster => "the threads of this thread's cluster, which without clusters is its CTA",
        Scope::Gpu => "all threads of the program on this thread's GPU, of other kernels too",
        Scope::Sys => "all threads of the program, on all GPUs and on the host",
    }
}

pub(super) fn space(space: SpaceQualifier) -> &'static str {
    match space {
        SpaceQualifier::Generic => "a generic address: what it points to decides the state space",
        SpaceQualifier::Global => "global memory, which all threads share",
        SpaceQualifier::Shared => {
            "shared memory; without a sub-qualifier `::cta`, that of this thread's CTA"
        }
        SpaceQualifier::SharedCta => "the shared memory of this thread's CTA",
        SpaceQualifier::SharedCluster => "the shared memory of any CTA of this thread's cluster",
        SpaceQualifier::Const => "constant memory, which no kernel writes",
        SpaceQualifier::Local => "local memory, which only this thread can name",
        SpaceQualifier::Param => {
            "parameters: those of the kernel (`::entry`), or those of a function or a call (`::func`)"
        }
        SpaceQualifier::ParamEntry => "the parameters of the kernel, which are read-only",
        SpaceQualifier::ParamFunc => "the parameters and results of a function or of a call",
        SpaceQualifier::Tensor => "tensor memory",
    }
}

pub(super) fn operation(operation: AtomicOp) -> &'static str {
    match operation {
        AtomicOp::Add => "writes the sum of the old value and the operand",
        AtomicOp::Sub => "writes the difference; of the peer dialect only",
        AtomicOp::And => "writes the bitwise AND of the old value and the operand",
        AtomicOp::Or => "writes the bitwise OR of the old value and the operand",
        AtomicOp::Xor => "writes the bitwise XOR of the old value and the operand",
        AtomicOp::Min => "writes the minimum of the old value and the operand",
        AtomicOp::Max => "writes the maximum of the old value and the operand",
        AtomicOp::Inc => "adds one, and wraps to 0 when the old value reaches the operand",
        AtomicOp::Dec => {
            "subtracts one, and wraps to the operand when the old value is 0 or greater than the operand"
        }
        AtomicOp::Exch => "writes the operand",
        AtomicOp::Cas => {
            "compares with the first operand, and writes the second where they are equal; where \
             they differ, nothing is written"
        }
    }
}

fn cache(opcode: Opcode, operator: CacheOperator) -> &'static str {
    let store = opcode == Opcode::St;
    match operator {
        CacheOperator::Ca => "keep it in L1 and in L2, as data that is used again",
        CacheOperator::Cg if store => "keep it in L2, and not in L1",
        CacheOperator::Cg => "keep it in L2, and bypass L1",
        CacheOperator::Cs => "likely used once: evict it first",
        CacheOperator::Lu => "this is its last use: lines need not be written back",
        CacheOperator::Cv => "fetch it again even if it is cached",
        CacheOperator::Wb => "write it back when it is evicted, from all levels that are coherent",
        CacheOperator::Wt => "write it through L2 to memory",
    }
}

fn eviction(name: &str) -> String {
    let (level, priority) = name.split_once("::").unwrap_or(("the cache", name));
    let what = match priority {
        "evict_first" => "evicts it before other lines",
        "evict_last" => "keeps it longer than other lines",
        "evict_unchanged" => "leaves the priority of the line as it is",
        "no_allocate" => "does not keep it",
        _ => "gives it the usual priority",
    };
    format!("{level} {what}")
}

/// Describes a value of a type.
pub(super) fn element(ty: Type) -> String {
    let bytes = bytes(ty.bytes());
    match ty.kind {
        TypeKind::Unsigned => format!("an unsigned integer of {bytes}"),
        TypeKind::Signed => format!("a signed integer of {bytes}"),
        TypeKind::Bits => format!("{bytes} of any type"),
        TypeKind::Float => format!("a floating-point number of {bytes}"),
        TypeKind::FloatPair => "two floating-point numbers of 2 bytes each".to_owned(),
        TypeKind::BFloat => format!("a bfloat16 number, of {bytes}"),
        TypeKind::BFloatPair => "two bfloat16 numbers, of 2 bytes each".to_owned(),
    }
}

pub(super) fn bytes(count: u32) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::ptx::qualifier::QUALIFIERS;
    use ::ptx::rules;

    #[test]
    fn every_qualifier_is_explained_wherever_it_may_stand() {
        let mut explained = 0;
        for opcode in Opcode::ALL {
            let page = page(opcode, false);
            for &(name, qualifier) in QUALIFIERS {
                if rules::accepts(opcode).contains(&qualifier.kind()) {
                    let CitedText { text, .. } = part(opcode, name, qualifier, page);
                    assert!(text.len() > 10, "{}.{name}: `{text}`", opcode.name());
                    assert!(!text.ends_with('.') && !text.contains("  "), "`{text}`");
                    explained += 1;
                }
            }
        }
        assert!(explained > 200, "only {explained} were");
    }

    #[test]
    fn eviction_priorities_are_told_apart() {
        let of_level = |level: &str| {
            let names = QUALIFIERS.iter().filter(|(name, _)| name.starts_with(level));
            let names = names.filter(|(_, q)| matches!(q, Qualifier::Level1 | Qualifier::Level2));
            let all: Vec<String> = names.map(|(name, _)| eviction(name)).collect();
            let mut distinct = all.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(all.len(), distinct.len());
            all.len()
        };
        assert_eq!((of_level("L1::"), of_level("L2::")), (5, 3));
    }
}
