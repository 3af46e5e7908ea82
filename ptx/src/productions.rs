//! The productions of asynchronous instructions and of those of warps, in the notation of [`crate::production`].
//!
//! They follow the pages of the document, with what ptxas 13.5 was measured to take and to refuse
//! (`docs/ptxas-differences.md`).

macro_rules! release {
    () => {
        "{release+cta@8.0, release+cluster@8.0/90, relaxed+(cta/cluster)@8.6/90}"
    };
}

macro_rules! acquire {
    () => {
        "{acquire+cta@8.0, acquire+cluster@8.0/90, relaxed+(cta/cluster)@8.6/90}"
    };
}

macro_rules! relaxed {
    () => {
        "{relaxed+(cta/cluster)@8.0}"
    };
}

/// The bytes of a bulk copy.
macro_rules! bulk {
    () => {
        "#32(0..1048560,*16)"
    };
}

/// The dimensions of a tensor, and how it is read: as `im2col` it has three at least.
macro_rules! tensor_load {
    () => {
        "<1d, 2d, 3d, 4d, 5d, (1d/2d/3d/4d/5d)+tile, (3d/4d/5d)+im2col, (3d/4d/5d)+(im2col::w/im2col::w::128)@8.6/100>"
    };
}

/// The same where it is written.
macro_rules! tensor_store {
    () => {
        "<1d, 2d, 3d, 4d, 5d, (1d/2d/3d/4d/5d)+tile, (3d/4d/5d)+im2col_no_offs>"
    };
}

macro_rules! scopes {
    () => {
        "(cta/cluster/gpu/sys)"
    };
}

/// Of a multimem access: vectors and types, which are not checked together.
macro_rules! multimem_type {
    () => {
        "{v2, v4, v8} <u32, s32, b32, u64, s64, b64, f16, f16x2, bf16, bf16x2, f32, f64, e4m3, e5m2, e4m3x4, e5m2x4>"
    };
}

/// Each instruction that has a production may be written only as one of them.
#[rustfmt::skip]
pub(crate) const PRODUCTIONS: &[&str] = &[
    // cp.async
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(4) {, #(0..4)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(8) {, #(0..8)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(16) {, #(0..16)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(4,8,16), p (L2::cache_hint: #64)",
    "cp.async@7.0/80 cg <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(16) {, #(0..16)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 cg <shared, shared::cta> global {L2::cache_hint} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} : m, m, i(16), p (L2::cache_hint: #64)",
    "cp.async.commit_group@7.0/80 :",
    "cp.async.wait_all@7.0/80 :",
    "cp.async.wait_group@7.0/80 : i(0..)",
    "cp.async.wait_group@7.0/80 : i(-2147483648..-1) ! the number of groups is not negative; the instruction of ptxas waits for no group",
    "cp.async.mbarrier.arrive@7.0/80 {noinc} {shared, shared::cta@7.8} b64 : m",
    // mbarrier
    "mbarrier.init@7.0/80 {layout::v0@9.3/90} {shared, shared::cta@7.8} b64 : m, #32(1..1048575)",
    "mbarrier.init@9.3/90 layout::v1 {shared, shared::cta} b64 : m, #32(1..511)",
    "mbarrier.init@9.3/90 layout::v1 {shared, shared::cta} b64 : m, #32(512..1048575) ! the count of an object of layout v1 is 511 at most",
    "mbarrier.inval@7.0/80 {shared, shared::cta@7.8} b64 : m",
    concat!("mbarrier.expect_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : m, #32(-1048575..1048575)"),
    concat!("mbarrier.expect_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    "mbarrier.expect_tx@9.4/later relaxed+(cta/cluster) shared::cluster multicast::cluster::32b b64 : m, #32, 32",
    concat!("mbarrier.complete_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : m, #32(-1048575..1048575)"),
    concat!("mbarrier.complete_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    "mbarrier.complete_tx@9.4/later relaxed+(cta/cluster) shared::cluster multicast::cluster::32b b64 : m, #32, 32",
    concat!("mbarrier.arrive@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : 64, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive@7.1/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive@8.0/90 ", release!(), " shared::cluster b64 : _, m {, #32(1..)}"),
    concat!("mbarrier.arrive@9.4/later ", release!(), " shared::cluster multicast::cluster::32b b64 : _, m, 32"),
    "mbarrier.arrive@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : 64, m, #32(1..)",
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : 64, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@7.1/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@8.0/90 ", release!(), " shared::cluster b64 : _, m {, #32(1..)}"),
    concat!("mbarrier.arrive_drop@9.4/later ", release!(), " shared::cluster multicast::cluster::32b b64 : _, m, 32"),
    "mbarrier.arrive_drop@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : 64, m, #32(1..)",
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.test_wait@7.0/80 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta@7.8} b64 : p, m, 64"),
    concat!("mbarrier.test_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, 64"),
    concat!("mbarrier.test_wait@7.1/80 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta@7.8} b64 : p, m, #32(0,1)"),
    concat!("mbarrier.test_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, #32(0,1)"),
    concat!("mbarrier.try_wait@7.8/90 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta} b64 : p, m, 64 {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, 64 {, #32}"),
    concat!("mbarrier.try_wait@7.8/90 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta} b64 : p, m, #32(0,1) {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, #32(0,1) {, #32}"),
    "mbarrier.pending_count@7.0/80 {layout::v0@9.3/90} b64 : 32, 64",
    "mbarrier.check_layout@9.3/90 <layout::v0, layout::v1> {shared, shared::cta} b64 : p, m",
    // cp.async.bulk
    concat!("cp.async.bulk@8.6/90 {weak@9.3, relaxed+", scopes!(), "+b128@9.3} shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} : m, m, ", bulk!(), ", m (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.6/90 b128 shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} : m, m, ", bulk!(), ", m (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@9.2/90 {weak@9.3} shared::cta global mbarrier::complete_tx::bytes ignore_oob {L2::cache_hint} : m, m, ", bulk!(), ", #32(0..15), #32(0..15), m (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@9.4/later {weak} shared::cluster global mbarrier::complete_tx::bytes multicast::cluster::32b {L2::cache_hint} : m, m, ", bulk!(), ", m, 32 (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@9.4/later {weak} <shared::cta, shared::cluster> global mbarrier::complete_tx::bytes mbarrier::report::* {multicast::cluster, multicast::cluster::16b} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3, relaxed+(cta/cluster)+b128@9.3} shared::cluster shared::cta mbarrier::complete_tx::bytes : m, m, ", bulk!(), ", m"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster shared::cta mbarrier::complete_tx::bytes : m, m, ", bulk!(), ", m ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3, relaxed+", scopes!(), "+b128@9.3} global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : m, m, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: 16)"),
    concat!("cp.async.bulk@8.0/90 b128 global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : m, m, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: 16) ! `.b128` is the type of a relaxed copy"),
    "cp.async.bulk.commit_group@8.0/90 :",
    "cp.async.bulk.wait_group@8.0/90 {read} : i",
    concat!("cp.async.bulk.prefetch@8.0/90 L2 global {L2::cache_hint} : m, ", bulk!(), " (L2::cache_hint: #64)"),
    concat!("cp.reduce.async.bulk@8.0/90 {relaxed+(cta/cluster)@9.3} shared::cluster shared::cta mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, m, ", bulk!(), ", m"),
    concat!("cp.reduce.async.bulk@8.0/90 {weak@9.3, relaxed+", scopes!(), "@9.3} global shared::cta bulk_group {L2::cache_hint} <add+(u32/s32/u64/f32/f64), add+noftz+(f16/bf16), (min/max)+(u32/s32/u64/s64/f16/bf16), (inc/dec)+u32, (and/or/xor)+(b32/b64)> : m, m, ", bulk!(), " (L2::cache_hint: #64)"),
    // cp.async.bulk.tensor
    concat!("cp.async.bulk.tensor@8.6/90 ", tensor_load!(), " shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : m, t, m (im2col: v) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_load!(), " shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : m, t, m (im2col: v) (multicast: 16) (L2::cache_hint: #64)"),
    "cp.async.bulk.tensor@8.6/100 2d shared::cta global tile::gather4 mbarrier::complete_tx::bytes {L2::cache_hint} {cta_group::1@/100f, cta_group::2@/100f} : m, t, m (L2::cache_hint: #64)",
    "cp.async.bulk.tensor@8.6/100f 2d shared::cluster global tile::gather4 mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} {cta_group::1, cta_group::2} : m, t, m (multicast: 16) (L2::cache_hint: #64)",
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_store!(), " global shared::cta bulk_group {L2::cache_hint} : t, m (L2::cache_hint: #64)"),
    "cp.async.bulk.tensor@8.6/100f 2d global shared::cta tile::scatter4 bulk_group {L2::cache_hint} : t, m (L2::cache_hint: #64)",
    concat!("cp.async.bulk.prefetch.tensor@8.0/90 ", tensor_load!(), " L2 global {L2::cache_hint} : t (im2col: v) (L2::cache_hint: #64)"),
    "cp.async.bulk.prefetch.tensor@8.6/100f 2d L2 global tile::gather4 {L2::cache_hint} : t (L2::cache_hint: #64)",
    concat!("cp.reduce.async.bulk.tensor@8.0/90 ", tensor_store!(), " global shared::cta <add, min, max, inc, dec, and, or, xor> bulk_group {L2::cache_hint} : t, m (L2::cache_hint: #64)"),
    // st.async, red.async, st.bulk
    "st.async@8.1/90 {weak} {shared::cluster} mbarrier::complete_tx::bytes <b32, u32, s32, f32, b64, u64, s64, f64, b128@9.2, (v2/v4)+(b32/u32/s32/f32), v2+(b64/u64/s64/f64)> : m, x, m",
    "st.async@8.1/90 {weak} shared::cta mbarrier::complete_tx::bytes <b32, u32, s32, f32, b64, u64, s64, f64, b128@9.2, (v2/v4)+(b32/u32/s32/f32), v2+(b64/u64/s64/f64)> : m, x, m ! the document has `.shared::cluster` only",
    "st.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <b8, u8, s8> : m, 8",
    "st.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : m, x",
    "st.async@8.7/100 {weak} global <b8, u8, s8> : m, 8 ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.7/100 {weak} global <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : m, x ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.1/90 {weak} <b8, u8, s8> : m, 8 ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.1/90 {weak} <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : m, x ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "red.async@8.1/90 relaxed+cluster {shared::cluster} mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x, m",
    "red.async@8.1/90 relaxed+cluster {shared::cluster} mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! an mbarrier object is missing",
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <add+(u32/s32/u64)> : m, x",
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <(min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory is `.add`; ptxas emits `.add` for this one",
    "red.async@8.7/100 relaxed+(gpu/sys) global <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory requires `.release`",
    "red.async@8.1/100 relaxed+(gpu/sys) <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory requires `.release`",
    "st.bulk@8.6/100 {weak} {shared::cta} : m, #64(*8), i(0)",
    "st.bulk@9.0/100 {weak} {shared::cta} : m, 32, i(0)",
    // multimem
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <add, min, max, and, or, xor> {acc::f32, acc::f16} ", multimem_type!(), " : x, m"),
    concat!("multimem.st@8.1/90 {weak, (relaxed/release)+", scopes!(), "} {global} ", multimem_type!(), " : m, x"),
    concat!("multimem.red@8.1/90 {(relaxed/release)+", scopes!(), "} {global} <add, min, max, and, or, xor> ", multimem_type!(), " : m, x"),
    "multimem.red@9.3/100 async <release+(gpu/sys)> {global} <add+(u32/s32/u64)> : m, x",
    concat!("multimem.cp.async.bulk@9.1/90 {weak@9.3, relaxed+", scopes!(), "+b128@9.3} global shared::cta bulk_group {cp_mask@9.1/100} : m, m, ", bulk!(), " (cp_mask: 16)"),
    concat!("multimem.cp.async.bulk@9.1/90 b128 global shared::cta bulk_group {cp_mask@9.1/100} : m, m, ", bulk!(), " (cp_mask: 16) ! `.b128` is the type of a relaxed copy"),
    concat!("multimem.cp.reduce.async.bulk@9.1/90 {weak@9.3, relaxed+", scopes!(), "@9.3} global shared::cta bulk_group <add+(u32/s32/u64/f32/f64), add+noftz+(f16/bf16), (min/max)+(u32/s32/u64/s64/f16/bf16), (inc/dec)+u32, (and/or/xor)+(b32/b64)> : m, m, ", bulk!()),
    // Tensor maps
    "tensormap.replace@8.3/90a|100f|120f tile global_address {global, shared::cta} b1024 b64 : m, 64",
    "tensormap.replace@8.3/90a|100f|120f tile rank {global, shared::cta} b1024 b32 : m, #32",
    "tensormap.replace@8.3/90a|100f|120f tile <box_dim, global_dim, element_stride> {global, shared::cta} b1024 b32 : m, i(0..4), #32",
    "tensormap.replace@8.3/90a|100f|120f tile global_stride {global, shared::cta} b1024 b64 : m, i(0..4), 64",
    "tensormap.replace@8.3/90a|100f|120f tile <elemtype, interleave_layout, swizzle_mode, fill_mode, swizzle_atomicity> {global, shared::cta} b1024 b32 : m, i(0..15)",
    concat!("tensormap.cp_fenceproxy@8.3/90 global shared::cta tensormap::generic release+", scopes!(), " sync aligned : m, m, i(128)"),
    // Grids, clusters and warps
    "griddepcontrol@7.8/90 <launch_dependents, wait> :",
    "barrier.cluster.arrive@7.8/90 {release@8.0, relaxed@8.0} {aligned} :",
    "barrier.cluster.wait@7.8/90 {acquire@8.0} {aligned} :",
    "mapa@7.8/90 {shared::cluster} u32 : 32, x, #32",
    "mapa@7.8/90 {shared::cluster} u64 : 64, x, #32",
    "elect@8.0/90 sync : 32|p, #32",
    "clusterlaunchcontrol.try_cancel@8.6/100 async {shared::cta} mbarrier::complete_tx::bytes {multicast::cluster::all@8.6/100f|120f} b128 : m, m",
    "clusterlaunchcontrol.query_cancel@8.6/100 is_canceled pred b128 : p, q",
    "clusterlaunchcontrol.query_cancel@8.6/100 <get_first_ctaid::x, get_first_ctaid::y, get_first_ctaid::z> b32 b128 : 32, q",
    "clusterlaunchcontrol.query_cancel@8.6/100 get_first_ctaid v4 b32 b128 : v, q",
    "setmaxnreg.inc@8.0/90a|100f|120f sync aligned u32 : i(24..256,*8)",
    "setmaxnreg.dec@8.0/90a|100f|120f sync aligned u32 : i(24..256,*8)",
    "redux@7.0/80 sync <add, min, max> <u32, s32> : 32, #32, #32",
    "redux@7.0/80 sync <and, or, xor> b32 : 32, #32, #32",
    "redux@8.6/103f sync <min, max> {abs} {NaN} f32 : 32, 32, #32",
    "shfl sync ... : ...",
    "shfl@/pre70 ... : ...",
    "vote sync ... : ...",
    "vote@/pre70 ... : ...",
    // wgmma
    "wgmma.fence@8.0/90a sync aligned :",
    "wgmma.commit_group@8.0/90a sync aligned :",
    "wgmma.wait_group@8.0/90a sync aligned : i",
    "wgmma.mma_async@8.0/90a sync aligned ... : ...",
    // tcgen05
    "tcgen05.mma@8.6/100f <cta_group::1, cta_group::2> ... : ...",
    "tcgen05.cp@8.6/100f <cta_group::1, cta_group::2> ... : ...",
    "tcgen05.ld@8.6/100f sync aligned ... : ...",
    "tcgen05.st@8.6/100f sync aligned ... : ...",
    "tcgen05.alloc@8.6/100f <cta_group::1, cta_group::2> {exclusive@9.4} sync aligned {shared::cta} b32 : m, #32(32..512,*32)",
    "tcgen05.dealloc@8.6/100f <cta_group::1, cta_group::2> sync aligned b32 : 32, #32(32..512,*32)",
    "tcgen05.relinquish_alloc_permit@8.6/100f <cta_group::1, cta_group::2> sync aligned :",
    "tcgen05.commit@8.6/100f <cta_group::1, cta_group::2> mbarrier::arrive::one {shared::cluster} {multicast::cluster, multicast::cluster::16b@9.4} b64 : m (multicast: 16)",
    "tcgen05.shift@8.6/100a <cta_group::1, cta_group::2> down : m",
    "tcgen05.fence::before_thread_sync@8.6/100f :",
    "tcgen05.fence::after_thread_sync@8.6/100f :",
    "tcgen05.wait::ld@8.6/100f sync aligned :",
    "tcgen05.wait::st@8.6/100f sync aligned :",
];
