//! For every rule an instruction that breaks it and no other, and for every version and target the
//! first that has what the instruction needs.

use std::collections::BTreeSet;

use ptx::rule::{Authority, Rule};
use ptx::rules;
use text::diagnostic::Severity;

use crate::help;
use crate::written::{NEWEST, Setting, codes, said};

/// Codes of rules that are not of versions or targets; a `*` before the instruction puts it into a
/// device function.
#[rustfmt::skip]
const BREAKS: &[(&str, &str)] = &[
    ("ld-order", "ld.release.gpu.global.u32 u32_1, [gbl]"),
    ("ld-scope-missing", "ld.acquire.global.u32 u32_1, [gbl]"),
    ("ld-scope-unused", "ld.weak.gpu.global.u32 u32_1, [gbl]"),
    ("ld-mmio", "ld.mmio.relaxed.gpu.global.u32 u32_1, [gbl]"),
    ("ld-mmio-space", "ld.mmio.relaxed.sys.shared.u32 u32_1, [sh]"),
    ("ld-mmio-vector", "ld.mmio.relaxed.sys.global.v2.u32 {u32_1, u32_2}, [gbl]"),
    ("ld-mmio-hint", "ld.mmio.relaxed.sys.global.cv.u32 u32_1, [gbl]"),
    ("ld-strong-space", "ld.relaxed.cta.const.u32 u32_1, [cst]"),
    ("ld-volatile-space", "ld.volatile.const.u32 u32_1, [cst]"),
    ("ld-volatile-hint", "ld.volatile.global.L1::evict_first.u32 u32_1, [gbl]"),
    ("ld-volatile-level2", "ld.volatile.global.L2::evict_first.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("st-volatile-level2", "st.volatile.global.L2::evict_first.v4.u64 [gbl], {u64_1, u64_2, u64_3, u64_4}"),
    ("st-unified", "st.global.u32 [a].unified, u32_1"),
    ("vector-elements", "ld.global.v2.b32 {b32_1, b64_1}, [gbl]"),
    ("ld-nc", "ld.nc.u32 u32_1, [gbl]"),
    ("ld-nc-weak", "ld.acquire.gpu.global.nc.u32 u32_1, [gbl]"),
    ("ld-nc-cache", "ld.global.cv.nc.u32 u32_1, [gbl]"),
    ("ld-readonly", "ld.proxy::readonly.global.ca.u32 u32_1, [gbl]"),
    ("ld-cache", "ld.relaxed.gpu.global.cg.u32 u32_1, [gbl]"),
    ("ld-cache-operator", "ld.global.wb.u32 u32_1, [gbl]"),
    ("ld-cache-level1", "ld.global.ca.L1::no_allocate.u32 u32_1, [gbl]"),
    ("ld-cache-level2", "ld.global.ca.L2::evict_last.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("ld-level1-space", "ld.shared.L1::evict_last.u32 u32_1, [sh]"),
    ("ld-prefetch-space", "ld.const.L2::64B.u32 u32_1, [cst]"),
    ("ld-policy-space", "ld.local.L2::cache_hint.u32 u32_1, [lcl], pol"),
    ("address", "ld.global.u32 u32_1, a"),
    ("address-register", "ld.global.u32 u32_1, [a32]"),
    ("address-space", "ld.shared.u32 u32_1, [gbl]"),
    ("address-generic", "ld.u32 u32_1, [cst]"),
    ("address-immediate", "ld.global.u32 u32_1, [240]"),
    ("address-alignment", "ld.local.u64 u64_1, [lcl+12]"),
    ("ld-unified-space", "ld.shared.u32 u32_1, [sh].unified"),
    ("ld-unified-variable", "ld.global.u32 u32_1, [gbl].unified"),
    ("ld-unified-missing", "ld.global.u32 u32_1, [ugbl]"),
    ("ld-unified-strong", "ld.volatile.global.u32 u32_1, [ugbl].unified"),
    ("ld-unified-strong", "ld.relaxed.gpu.u32 u32_1, [a].unified"),
    ("ld-unified-strong", "ld.acquire.sys.global.u32 u32_1, [ugbl+4].unified"),
    ("ld-unified-strong", "ld.mmio.relaxed.sys.global.u32 u32_1, [a].unified"),
    ("nc-unified", "ld.global.nc.u32 u32_1, [ugbl].unified"),
    ("ldu-unified", "ldu.global.u32 u32_1, [ugbl].unified"),
    ("ldu-unified", "ldu.u32 u32_1, [a].unified"),
    ("ld-generic-strong", "ld.relaxed.gpu.u32 u32_1, [lcl]"),
    ("ld-generic-global", "ld.L2::128B.u32 u32_1, [sh]"),
    ("ld-param-entry", "*ld.param::entry.u32 u32_1, [prm]"),
    ("ld-param-func", "ld.param::func.u32 u32_1, [a]"),
    ("ld-param-kernel", "ld.param::func.u32 u32_1, [prm]"),
    ("ld-param-guard", "@p0 ld.param.u32 u32_1, [arg]"),
    ("type-missing", "ld.global u32_1, [gbl]"),
    ("ld-type", "ld.global.f16 b16_1, [gbl]"),
    ("ld-vector-bits", "ld.global.v2.b128 {b128_1, b128_2}, [gbl]"),
    ("ld-vector-v8", "ld.global.v8.b16 {b16_1, b16_2, b16_3, b16_4, b16_5, b16_6, b16_7, b16_8}, [gbl]"),
    ("ld-vector-space", "ld.shared.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [sh]"),
    ("ld-level2-vector", "ld.global.L2::evict_first.u32 u32_1, [gbl]"),
    ("ld-sink", "ld.global.v4.u32 {u32_1, _, u32_3, u32_4}, [gbl]"),
    ("ld-sink-scalar", "ld.global.u32 _, [gbl]"),
    ("ld-sink-all", "ld.global.v4.u64 {_, _, _, _}, [gbl]"),
    ("operands", "ld.global.u32 u32_1"),
    ("vector", "ld.global.v4.u32 {u32_1, u32_2}, [gbl]"),
    ("vector-of-one", "ld.global.u32 {u32_1}, [gbl]"),
    ("ld-destination", "ld.global.u32 f64_1, [gbl]"),
    ("ld-destination-float", "ld.global.b32 f64_1, [gbl]"),
    ("policy-missing", "ld.global.L2::cache_hint.u32 u32_1, [gbl]"),
    ("policy-unused", "ld.global.u32 u32_1, [gbl], pol"),
    ("policy-type", "ld.global.L2::cache_hint.u32 u32_1, [gbl], u32_2"),
    ("ldu-space", "ldu.const.u32 u32_1, [cst]"),
    ("ldu-vector", "ldu.global.v8.u32 {u32_1, u32_2, u32_3, u32_4, u32_5, u32_6, u32_7, u32_8}, [gbl]"),
    ("st-order", "st.acquire.gpu.global.u32 [gbl], u32_1"),
    ("st-scope-missing", "st.release.global.u32 [gbl], u32_1"),
    ("st-scope-unused", "st.gpu.global.u32 [gbl], u32_1"),
    ("st-mmio", "st.mmio.relaxed.global.u32 [gbl], u32_1"),
    ("st-mmio-space", "st.mmio.relaxed.sys.local.u32 [lcl], u32_1"),
    ("st-mmio-vector", "st.mmio.release.sys.global.v2.u32 [gbl], {u32_1, u32_2}"),
    ("st-mmio-hint", "st.mmio.relaxed.sys.global.L2::cache_hint.u32 [gbl], u32_1, pol"),
    ("st-strong-space", "st.release.gpu.local.u32 [lcl], u32_1"),
    ("st-volatile-space", "st.volatile.param.u32 [arg], u32_1"),
    ("st-volatile-hint", "st.volatile.global.L1::evict_last.u32 [gbl], u32_1"),
    ("st-read-only-space", "st.const.u32 [cst], u32_1"),
    ("st-cache", "st.release.gpu.global.wt.u32 [gbl], u32_1"),
    ("st-cache-operator", "st.global.ca.u32 [gbl], u32_1"),
    ("st-cache-level1", "st.global.wb.L1::evict_first.u32 [gbl], u32_1"),
    ("st-cache-level2", "st.global.cg.L2::evict_first.v4.u64 [gbl], {u64_1, u64_2, u64_3, u64_4}"),
    ("st-level1-space", "st.shared.L1::evict_first.u32 [sh], u32_1"),
    ("st-policy-space", "st.shared.L2::cache_hint.u32 [sh], u32_1, pol"),
    ("st-param-guard", "@!p1 st.param.u32 [arg], u32_1"),
    ("ld-param-result", "*ld.param.u32 u32_1, [res]"),
    ("st-param-input", "*st.param.u32 [prm], u32_1"),
    ("st-generic-strong", "st.relaxed.gpu.u32 [lcl], u32_1"),
    ("st-type-missing", "st.global [gbl], u32_1"),
    ("st-type", "st.global.f16x2 [gbl], b32_1"),
    ("st-vector-bits", "st.global.v8.u64 [gbl], {0, 1, 2, 3, 4, 5, 6, 7}"),
    ("st-vector-v8", "st.global.v8.u8 [gbl], {0, 1, 2, 3, 4, 5, 6, 7}"),
    ("st-vector-space", "st.shared.v8.u32 [sh], {0, 1, 2, 3, 4, 5, 6, 7}"),
    ("st-level2-vector", "st.global.L2::evict_normal.v4.u32 [gbl], {0, 1, 2, 3}"),
    ("st-sink", "st.global.v2.u32 [gbl], {u32_1, _}"),
    ("st-source", "st.global.u64 [gbl], u32_1"),
    ("atom-order", "atom.sc.gpu.global.add.u32 u32_1, [gbl], u32_2"),
    ("atom-operation", "atom.global.u32 u32_1, [gbl], u32_2"),
    ("atom-sub", "atom.global.sub.u32 u32_1, [gbl], u32_2"),
    ("atom-type-missing", "atom.global.add u32_1, [gbl], u32_2"),
    ("atom-type", "atom.global.exch.b16 b16_1, [gbl], b16_2"),
    ("atom-kind", "atom.global.exch.u32 u32_1, [gbl], u32_2"),
    ("atom-noftz", "atom.global.add.f16 f16_1, [gbl], f16_2"),
    ("atom-vector", "atom.global.v2.exch.b32 {b32_1, b32_2}, [gbl], {b32_3, b32_4}"),
    ("atom-vector-space", "atom.shared.v2.add.f32 {f32_1, f32_2}, [sh], {f32_3, f32_4}"),
    ("atom-policy", "atom.global.cas.L2::cache_hint.b32 b32_1, [gbl], b32_2, b32_3, pol"),
    ("atom-space", "atom.const.add.u32 u32_1, [cst], u32_2"),
    ("atom-operand", "atom.global.add.u32 u32_1, [gbl], u64_2"),
    ("red-order", "red.acq_rel.gpu.global.add.u32 [gbl], u32_2"),
    ("red-operation", "red.global.u32 [gbl], u32_2"),
    ("red-returns", "red.global.cas.b32 [gbl], b32_2, b32_3"),
    ("red-sub", "red.global.sub.u32 [gbl], u32_2"),
    ("red-type-missing", "red.global.inc [gbl], u32_2"),
    ("red-type", "red.global.inc.u64 [gbl], u64_2"),
    ("red-kind", "red.global.or.s32 [gbl], s32_2"),
    ("red-noftz", "red.global.add.noftz.u32 [gbl], u32_2"),
    ("red-vector", "red.global.v2.min.u32 [gbl], {u32_1, u32_2}"),
    ("red-vector-space", "red.shared::cta.v4.add.f32 [sh], {f32_1, f32_2, f32_3, f32_4}"),
    ("red-policy", "red.shared.add.L2::cache_hint.u32 [sh], u32_1, pol"),
    ("fence-order", "fence.weak.gpu"),
    ("fence-scope-missing", "fence.sc"),
    ("fence-operands", "fence.sc.gpu u32_1"),
    ("membar-level", "membar.cluster"),
];

/// Of each note about versions and targets: the ends of its codes, the first version and target that
/// have it (none of them: every one), and an instruction that needs that and nothing later.
#[rustfmt::skip]
const NEEDS: &[(&str, &str, u16, &str)] = &[
    ("ld-f64", "1.0", 13, "ld.global.f64 f64_1, [gbl]"),
    ("ld-volatile", "1.1", 0, "ld.volatile.global.u32 u32_1, [gbl]"),
    ("ld-generic", "2.0", 20, "ld.u32 u32_1, [a]"),
    ("ld-cache", "2.0", 20, "ld.global.cg.u32 u32_1, [gbl]"),
    ("ld-weak", "6.0", 70, "ld.weak.global.u32 u32_1, [gbl]"),
    ("ld-relaxed", "6.0", 70, "ld.relaxed.gpu.global.u32 u32_1, [gbl]"),
    ("ld-acquire", "6.0", 70, "ld.acquire.gpu.global.u32 u32_1, [gbl]"),
    ("ld-level1", "7.4", 70, "ld.global.L1::evict_last.u32 u32_1, [gbl]"),
    ("ld-prefetch", "7.4", 75, "ld.global.L2::128B.u32 u32_1, [gbl]"),
    ("ld-prefetch-256", "", 80, "ld.global.L2::256B.u32 u32_1, [gbl]"),
    ("ld-policy", "7.4", 80, "ld.global.L2::cache_hint.u32 u32_1, [gbl], pol"),
    ("ld-cluster", "7.8", 90, "ld.relaxed.cluster.global.u32 u32_1, [gbl]"),
    ("ld-shared-cta", "7.8", 30, "ld.shared::cta.u32 u32_1, [sh]"),
    ("ld-shared-cluster", "7.8", 90, "ld.shared::cluster.u32 u32_1, [sh]"),
    ("ld-unified", "8.0", 90, "ld.global.u32 u32_1, [a].unified"),
    ("ld-mmio", "8.2", 70, "ld.mmio.relaxed.sys.global.u32 u32_1, [gbl]"),
    ("ld-mmio-acquire", "9.3", 70, "ld.mmio.acquire.sys.global.u32 u32_1, [gbl]"),
    ("ld-param-sub", "8.3", 0, "ld.param::entry.u32 u32_1, [prm]"),
    ("ld-b128", "8.3", 70, "ld.global.b128 b128_1, [gbl]"),
    ("ld-b128-sys", "8.4", 70, "ld.relaxed.sys.global.b128 b128_1, [gbl]"),
    ("ld-level2", "8.8", 100, "ld.global.L2::evict_last.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("ld-256", "8.8", 100, "ld.global.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("ld-volatile-local", "9.1", 0, "ld.volatile.local.u32 u32_1, [lcl]"),
    ("ld-volatile-generic", "9.1", 0, "ld.volatile.u32 u32_1, [lcl]"),
    ("ld-readonly", "9.4", 90, "ld.proxy::readonly.global.u32 u32_1, [gbl]"),
    ("nc", "3.1", 32, "ld.global.nc.u32 u32_1, [gbl]"),
    ("nc-level1", "7.4", 70, "ld.global.nc.L1::evict_last.u32 u32_1, [gbl]"),
    ("nc-prefetch", "7.4", 75, "ld.global.nc.L2::64B.u32 u32_1, [gbl]"),
    ("nc-prefetch-256", "", 80, "ld.global.nc.L2::256B.u32 u32_1, [gbl]"),
    ("nc-policy", "7.4", 80, "ld.global.nc.L2::cache_hint.u32 u32_1, [gbl], pol"),
    ("nc-b128", "8.3", 70, "ld.global.nc.b128 b128_1, [gbl]"),
    ("nc-level2", "8.8", 100, "ld.global.nc.L2::evict_last.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("nc-256", "8.8", 100, "ld.global.nc.v4.u64 {u64_1, u64_2, u64_3, u64_4}, [gbl]"),
    ("ldu", "2.0", 0, "ldu.global.u32 u32_1, [gbl]"),
    ("ldu-f64", "", 13, "ldu.global.f64 f64_1, [gbl]"),
    ("ldu-b128", "8.3", 70, "ldu.global.b128 b128_1, [gbl]"),
    ("st-f64", "1.0", 13, "st.global.f64 [gbl], f64_1"),
    ("st-volatile", "1.1", 0, "st.volatile.global.u32 [gbl], u32_1"),
    ("st-generic", "2.0", 20, "st.u32 [a], u32_1"),
    ("st-cache", "2.0", 20, "st.global.wb.u32 [gbl], u32_1"),
    ("st-weak", "6.0", 70, "st.weak.global.u32 [gbl], u32_1"),
    ("st-relaxed", "6.0", 70, "st.relaxed.gpu.global.u32 [gbl], u32_1"),
    ("st-release", "6.0", 70, "st.release.gpu.global.u32 [gbl], u32_1"),
    ("st-level1", "7.4", 70, "st.global.L1::no_allocate.u32 [gbl], u32_1"),
    ("st-policy", "7.4", 80, "st.global.L2::cache_hint.u32 [gbl], u32_1, pol"),
    ("st-cluster", "7.8", 90, "st.release.cluster.global.u32 [gbl], u32_1"),
    ("st-shared-cta", "7.8", 30, "st.shared::cta.u32 [sh], u32_1"),
    ("st-shared-cluster", "7.8", 90, "st.shared::cluster.u32 [sh], u32_1"),
    ("st-mmio", "8.2", 70, "st.mmio.relaxed.sys.global.u32 [gbl], u32_1"),
    ("st-mmio-release", "9.3", 70, "st.mmio.release.sys.global.u32 [gbl], u32_1"),
    ("st-param-sub", "8.3", 0, "st.param::func.u32 [arg], u32_1"),
    ("st-b128", "8.3", 70, "st.global.b128 [gbl], b128_1"),
    ("st-b128-sys", "8.4", 70, "st.release.sys.global.b128 [gbl], b128_1"),
    ("st-level2", "8.8", 100, "st.global.L2::evict_last.v8.u32 [gbl], {0, 1, 2, 3, 4, 5, 6, 7}"),
    ("st-256", "8.8", 100, "st.global.v8.u32 [gbl], {0, 1, 2, 3, 4, 5, 6, 7}"),
    ("st-volatile-local", "9.1", 0, "st.volatile.local.u32 [lcl], u32_1"),
    ("st-volatile-generic", "9.1", 0, "st.volatile.u32 [lcl], u32_1"),
    ("atom", "1.1", 11, "atom.global.add.u32 u32_1, [gbl], u32_2"),
    ("atom-generic", "2.0", 20, "atom.add.u32 u32_1, [a], u32_2"),
    ("atom-scope", "5.0", 60, "atom.gpu.global.add.u32 u32_1, [gbl], u32_2"),
    ("atom-f64", "5.0", 60, "atom.global.add.f64 f64_1, [gbl], f64_2"),
    ("atom-order", "6.0", 70, "atom.acquire.global.add.u32 u32_1, [gbl], u32_2"),
    ("atom-f16x2", "6.2", 60, "atom.global.add.noftz.f16x2 b32_1, [gbl], b32_2"),
    ("atom-f16", "6.3", 70, "atom.global.add.noftz.f16 b16_1, [gbl], b16_2"),
    ("atom-b16", "6.3", 70, "atom.global.cas.b16 b16_1, [gbl], b16_2, b16_3"),
    ("atom-policy", "7.4", 80, "atom.global.add.L2::cache_hint.u32 u32_1, [gbl], u32_2, pol"),
    ("atom-bf16", "7.8", 90, "atom.global.add.noftz.bf16 b16_1, [gbl], b16_2"),
    ("atom-bf16x2", "7.8", 90, "atom.global.add.noftz.bf16x2 b32_1, [gbl], b32_2"),
    ("atom-cluster", "7.8", 90, "atom.cluster.global.add.u32 u32_1, [gbl], u32_2"),
    ("atom-shared-cta", "7.8", 30, "atom.shared::cta.add.u32 u32_1, [sh], u32_2"),
    ("atom-shared-cluster", "7.8", 90, "atom.shared::cluster.add.u32 u32_1, [sh], u32_2"),
    ("atom-vector", "8.1", 90, "atom.global.v2.add.f32 {f32_1, f32_2}, [gbl], {f32_3, f32_4}"),
    ("atom-b128", "8.3", 90, "atom.global.exch.b128 b128_1, [gbl], b128_2"),
    ("atom-b128-sys", "8.4", 90, "atom.sys.global.exch.b128 b128_1, [gbl], b128_2"),
    ("red", "1.2", 11, "red.global.add.u32 [gbl], u32_2"),
    ("red-generic", "2.0", 20, "red.add.u32 [a], u32_2"),
    ("red-scope", "5.0", 60, "red.gpu.global.add.u32 [gbl], u32_2"),
    ("red-f64", "5.0", 60, "red.global.add.f64 [gbl], f64_2"),
    ("red-order", "6.0", 70, "red.release.global.add.u32 [gbl], u32_2"),
    ("red-f16x2", "6.2", 60, "red.global.add.noftz.f16x2 [gbl], b32_2"),
    ("red-f16", "6.3", 70, "red.global.add.noftz.f16 [gbl], b16_2"),
    ("red-policy", "7.4", 80, "red.global.add.L2::cache_hint.u32 [gbl], u32_2, pol"),
    ("red-bf16", "7.8", 90, "red.global.add.noftz.bf16 [gbl], b16_2"),
    ("red-bf16x2", "7.8", 90, "red.global.add.noftz.bf16x2 [gbl], b32_2"),
    ("red-cluster", "7.8", 90, "red.cluster.global.add.u32 [gbl], u32_2"),
    ("red-shared-cta", "7.8", 30, "red.shared::cta.add.u32 [sh], u32_2"),
    ("red-shared-cluster", "7.8", 90, "red.shared::cluster.add.u32 [sh], u32_2"),
    ("red-vector", "8.1", 90, "red.global.v2.add.f32 [gbl], {f32_3, f32_4}"),
    ("membar", "1.4", 0, "membar.gl"),
    ("membar-sys", "2.0", 20, "membar.sys"),
    ("fence", "6.0", 70, "fence.sc.gpu"),
    ("fence-cluster", "7.8", 90, "fence.sc.cluster"),
    ("fence-acquire", "8.6", 90, "fence.acquire.gpu"),
    ("fence-release", "8.6", 90, "fence.release.gpu"),
];

/// The versions there are, up to the newest.
const VERSIONS: &[&str] = &[
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0", "2.1", "2.2", "2.3", "3.0", "3.1", "3.2",
    "4.0", "4.1", "4.2", "4.3", "5.0", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0", "7.1",
    "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5",
    "8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4",
];

const TARGETS: &[u16] = &[
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89,
    90, 100, 101, 103, 110, 120, 121,
];

/// Whether the mode in which a rule is an error is the strict one; `None` if it is in both.
fn strict(rule: &Rule) -> Option<bool> {
    match rule.by {
        Authority::Both => None,
        Authority::Document => Some(true),
        Authority::Ptxas => Some(false),
    }
}

/// The one diagnostic of a rule: an error where the rule counts, else a warning; and its help helps.
fn is_broken(rule: &Rule, instruction: &str, setting: &Setting<'_>) {
    for mode in [true, false] {
        let said = said(instruction, setting, mode);
        let context = format!("{instruction}, {setting:?}, strict: {mode}");
        assert_eq!(codes(&said), [rule.code], "{context}");
        let error = strict(rule).is_none_or(|strict| strict == mode);
        let wanted = if error { Severity::Error } else { Severity::Warning };
        assert_eq!(said[0].severity, wanted, "{context}");
        assert_eq!(said[0].section, Some(rule.section), "{context}");
        if let Err(error) = help::cures(instruction, setting, mode, &said[0]) {
            panic!("{context}: {error}");
        }
    }
}

#[test]
fn every_rule_is_broken_by_an_instruction_that_breaks_no_other() {
    let of_needs =
        |rule: &&Rule| ["isa-", "target-"].iter().any(|start| rule.code.starts_with(start));
    let all: Vec<&Rule> = rules::all().into_iter().filter(|rule| !of_needs(rule)).collect();
    for rule in &all {
        let mut listed = BREAKS.iter().filter(|(code, _)| *code == rule.code).peekable();
        assert!(listed.peek().is_some(), "no instruction breaks {}", rule.code);
        for (_, instruction) in listed {
            let (device, instruction) =
                instruction.strip_prefix('*').map_or((false, *instruction), |rest| (true, rest));
            is_broken(rule, instruction, &Setting { device, ..NEWEST });
        }
    }
    for (code, _) in BREAKS {
        assert!(all.iter().any(|rule| rule.code == *code), "{code} is no rule");
    }
}

#[test]
fn every_need_begins_where_its_page_says() {
    let all = rules::all();
    let mut met = BTreeSet::new();
    for (name, isa, sm, instruction) in NEEDS {
        let rule = |start: &str| {
            let code = format!("{start}-{name}");
            all.iter().find(|rule| rule.code == code).unwrap_or_else(|| panic!("{code} is no rule"))
        };
        // What is needed is enough, in both modes, with a version and a target of the border.
        let first = if isa.is_empty() { "7.4" } else { isa };
        let lowest = match sm {
            // A generic address needs a target of its own.
            0 if name.ends_with("-generic") => 20,
            0 => 10,
            _ => *sm,
        };
        let target = format!("sm_{lowest}");
        for (isa, target) in [(first, target.as_str()), (first, "sm_121"), ("9.4", &target)] {
            for strict in [true, false] {
                let setting = Setting { isa, target, device: false };
                let said = said(instruction, &setting, strict);
                assert_eq!(codes(&said), [""; 0], "{instruction} {setting:?} {strict}");
            }
        }
        let before =
            VERSIONS.iter().position(|version| version == isa).and_then(|at| at.checked_sub(1));
        if let Some(before) = before {
            let rule = rule("isa");
            is_broken(rule, instruction, &Setting { isa: VERSIONS[before], ..NEWEST });
            met.insert(rule.code);
        }
        if *sm > 0 {
            let rule = rule("target");
            let at = TARGETS.iter().position(|target| target == sm).expect("it is a target");
            let target = format!("sm_{}", TARGETS[at - 1]);
            is_broken(rule, instruction, &Setting { target: &target, ..NEWEST });
            met.insert(rule.code);
        }
    }
    // `the_generic_address_of_a_constant_needs_3_1`
    met.insert("isa-ld-generic-const");
    let idle =
        all.iter().filter(|rule| rule.code.starts_with("isa-") || rule.code.starts_with("target-"));
    let idle: Vec<&str> = idle.map(|rule| rule.code).filter(|code| !met.contains(code)).collect();
    assert_eq!(idle, [""; 0], "no instruction needs these");
}

/// ptxas rejects a constant that a generic access names, whatever the version: the strict mode says
/// that as a warning beside.
#[test]
fn the_generic_address_of_a_constant_needs_3_1() {
    let instruction = "ld.u32 u32_1, [cst]";
    let strict = |isa| {
        let said = said(instruction, &Setting { isa, ..NEWEST }, true);
        let errors = said.into_iter().filter(|one| one.severity == Severity::Error);
        codes(&errors.collect::<Vec<_>>())
    };
    assert_eq!(strict("3.0"), ["isa-ld-generic-const"]);
    assert_eq!(strict("3.1"), [""; 0]);
}

/// Reading R48: what the syntax has no `.unified` for is not asked for it.
#[test]
fn only_weak_loads_ask_for_unified() {
    for (instruction, missing) in [
        ("ld.global.u32 u32_1, [ugbl]", true),
        ("ld.weak.u32 u32_1, [ugbl]", true),
        ("ld.volatile.global.u32 u32_1, [ugbl]", false),
        ("ld.relaxed.gpu.u32 u32_1, [ugbl]", false),
        ("ld.acquire.gpu.global.u32 u32_1, [ugbl]", false),
        ("ld.mmio.relaxed.sys.u32 u32_1, [ugbl]", false),
        ("ld.global.nc.u32 u32_1, [ugbl]", false),
        ("ldu.global.u32 u32_1, [ugbl]", false),
    ] {
        let expected: &[&str] = if missing { &["ld-unified-missing"] } else { &[] };
        assert_eq!(codes(&said(instruction, &NEWEST, true)), expected, "{instruction}");
    }
}
