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

/// Numbers of 8 bits in a multimem access.
macro_rules! multimem_narrow {
    () => {
        "(v4/v8)+(e4m3/e5m2)@/100f|120f, (v2/v4/v8)+(e4m3x2/e5m2x2)@/100f|120f, e4m3x4@/100f|120f, e5m2x4@/100f|120f, (v2/v4)+(e4m3x4/e5m2x4)@/100f|120f"
    };
}

/// The shapes of `wgmma.mma_async` with so many columns of A.
macro_rules! shapes {
    ($k:literal) => {
        concat!(
            "<m64n8",
            $k,
            ", m64n16",
            $k,
            ", m64n24",
            $k,
            ", m64n32",
            $k,
            ", m64n40",
            $k,
            ", m64n48",
            $k,
            ", m64n56",
            $k,
            ", m64n64",
            $k,
            ", m64n72",
            $k,
            ", m64n80",
            $k,
            ", m64n88",
            $k,
            ", m64n96",
            $k,
            ", m64n104",
            $k,
            ", m64n112",
            $k,
            ", m64n120",
            $k,
            ", m64n128",
            $k,
            ", m64n136",
            $k,
            ", m64n144",
            $k,
            ", m64n152",
            $k,
            ", m64n160",
            $k,
            ", m64n168",
            $k,
            ", m64n176",
            $k,
            ", m64n184",
            $k,
            ", m64n192",
            $k,
            ", m64n200",
            $k,
            ", m64n208",
            $k,
            ", m64n216",
            $k,
            ", m64n224",
            $k,
            ", m64n232",
            $k,
            ", m64n240",
            $k,
            ", m64n248",
            $k,
            ", m64n256",
            $k,
            ">"
        )
    };
}

/// The same for integers, which have fewer.
macro_rules! integer_shapes {
    ($k:literal) => {
        concat!(
            "<m64n8",
            $k,
            ", m64n16",
            $k,
            ", m64n24",
            $k,
            ", m64n32",
            $k,
            ", m64n48",
            $k,
            ", m64n64",
            $k,
            ", m64n80",
            $k,
            ", m64n96",
            $k,
            ", m64n112",
            $k,
            ", m64n128",
            $k,
            ", m64n144",
            $k,
            ", m64n160",
            $k,
            ", m64n176",
            $k,
            ", m64n192",
            $k,
            ", m64n208",
            $k,
            ", m64n224",
            $k,
            ", m64n240",
            $k,
            ", m64n256",
            $k,
            ">"
        )
    };
}

/// Results and matrices of 8 bits of `wgmma.mma_async`.
macro_rules! narrow_matrices {
    () => {
        "{row} {col} <(f16/f32)+e4m3+e4m3, (f16/f32)+e4m3+e5m2, (f16/f32)+e5m2+e5m2>"
    };
}

macro_rules! integer_matrices {
    () => {
        "{row} {col} {satfinite} <s32+s8+s8, s32+s8+u8, s32+u8+u8>"
    };
}

/// The shapes of accesses to tensor memory, each with how often it may be repeated.
macro_rules! tensor_shapes {
    () => {
        "<(16x64b/32x32b)+(x1/x2/x4/x8/x16/x32/x64/x128), 16x128b+(x1/x2/x4/x8/x16/x32/x64), 16x256b+(x1/x2/x4/x8/x16/x32)>"
    };
}

macro_rules! repeated {
    () => {
        "<x1, x2, x4, x8, x16, x32, x64, x128>"
    };
}

macro_rules! groups {
    () => {
        "<cta_group::1, cta_group::2>"
    };
}

/// What `tcgen05.mma` does with the buffer for matrix A.
macro_rules! collector {
    () => {
        "{collector::a::fill, collector::a::use, collector::a::lastuse, collector::a::discard} {collector::b::fill@9.4/107f, collector::b::use@9.4/107f, collector::b::lastuse@9.4/107f, collector::b::discard@9.4/107f}"
    };
}

/// The same where its rows are shifted.
macro_rules! shifted {
    () => {
        "ashift {collector::a::lastuse, collector::a::discard}"
    };
}

/// What `tcgen05.mma.ws` does with the buffers for matrix B.
macro_rules! kept {
    () => {
        "{collector::b0::fill, collector::b0::use, collector::b0::lastuse, collector::b0::discard, collector::b1::fill, collector::b1::use, collector::b1::lastuse, collector::b1::discard, collector::b2::fill, collector::b2::use, collector::b2::lastuse, collector::b2::discard, collector::b3::fill, collector::b3::use, collector::b3::lastuse, collector::b3::discard}"
    };
}

/// The kinds of `tcgen05.mma` without scales.
macro_rules! kinds {
    () => {
        "<kind::f16, kind::tf32, kind::f8f6f4, kind::i8@/110a, kind::ti16@9.4/107f>"
    };
}

/// Those that may scale their accumulator.
macro_rules! scaling_kinds {
    () => {
        "<kind::f16, kind::tf32>"
    };
}

/// Those with scales.
macro_rules! scaled_kinds {
    () => {
        "block_scale <kind::mxf8f6f4, kind::mxf8f6f4+scale_vec::1X@/100a, kind::mxf8f6f4+block32@8.8, kind::mxf4, kind::mxf4+scale_vec::2X@/100a, kind::mxf4+block32@8.8, kind::mxf4nvf4+(scale_vec::2X/scale_vec::4X)@8.7/100a, kind::mxf4nvf4+(block16/block32)@8.8>"
    };
}

/// The same for sparse matrices.
macro_rules! sparse_scaled_kinds {
    () => {
        "block_scale <kind::mxf8f6f4, kind::mxf8f6f4+scale_vec::1X@/100a, kind::mxf8f6f4+block32@8.8, kind::mxf4@/100a, kind::mxf4+scale_vec::2X@/100a, kind::mxf4+block32@8.8/100a, kind::mxf4nvf4+(scale_vec::2X/scale_vec::4X)@8.7/100a, kind::mxf4nvf4+(block16/block32)@8.8/100a>"
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
    "mbarrier.arrive@7.1/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : _, m, #32(1..)",
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : 64, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@7.1/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, m {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@8.0/90 ", release!(), " shared::cluster b64 : _, m {, #32(1..)}"),
    concat!("mbarrier.arrive_drop@9.4/later ", release!(), " shared::cluster multicast::cluster::32b b64 : _, m, 32"),
    "mbarrier.arrive_drop@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : 64, m, #32(1..)",
    "mbarrier.arrive_drop@7.1/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : _, m, #32(1..)",
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, m, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.test_wait@7.0/80 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta@7.8} b64 : p, m, 64"),
    concat!("mbarrier.test_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, 64"),
    concat!("mbarrier.test_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, 8, m, 64"),
    concat!("mbarrier.test_wait@7.1/80 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta@7.8} b64 : p, m, #32(0,1)"),
    concat!("mbarrier.test_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, #32(0,1)"),
    concat!("mbarrier.test_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, 8, m, #32(0,1)"),
    concat!("mbarrier.try_wait@7.8/90 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta} b64 : p, m, 64 {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, 64 {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, 8, m, 64 {, #32}"),
    concat!("mbarrier.try_wait@7.8/90 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta} b64 : p, m, #32(0,1) {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, m, #32(0,1) {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p, 8, m, #32(0,1) {, #32}"),
    "mbarrier.pending_count@7.0/80 {layout::v0@9.3/90} b64 : 32, 64",
    "mbarrier.check_layout@9.3/90 <layout::v0, layout::v1> {shared, shared::cta} b64 : p, m",
    // cp.async.bulk
    concat!("cp.async.bulk@8.6/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} : m, m, ", bulk!(), ", m (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.6/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} : m, m, ", bulk!(), ", m (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.6/90 b128 shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint} : m, m, ", bulk!(), ", m (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@9.2/90 {weak@9.3/90a|100f} shared::cta global mbarrier::complete_tx::bytes ignore_oob {L2::cache_hint} : m, m, ", bulk!(), ", #32(0..15), #32(0..15), m (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@9.2/90 weak@9.3 shared::cta global mbarrier::complete_tx::bytes ignore_oob {L2::cache_hint} : m, m, ", bulk!(), ", #32(0..15), #32(0..15), m (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 weak@9.3 shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster global mbarrier::complete_tx::bytes {multicast::cluster, multicast::cluster::16b@9.4} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@9.4/later {weak} shared::cluster global mbarrier::complete_tx::bytes multicast::cluster::32b {L2::cache_hint} : m, m, ", bulk!(), ", m, 32 (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@9.4/later {weak} <shared::cta, shared::cluster> global mbarrier::complete_tx::bytes mbarrier::report::* {multicast::cluster, multicast::cluster::16b} {L2::cache_hint} : m, m, ", bulk!(), ", m (multicast: 16) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+(cta/cluster)+b128@9.3/90a|100f} shared::cluster shared::cta mbarrier::complete_tx::bytes : m, m, ", bulk!(), ", m"),
    concat!("cp.async.bulk@8.0/90 <weak@9.3, relaxed+(cta/cluster)+b128@9.3> shared::cluster shared::cta mbarrier::complete_tx::bytes : m, m, ", bulk!(), ", m ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster shared::cta mbarrier::complete_tx::bytes : m, m, ", bulk!(), ", m ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : m, m, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: 16)"),
    concat!("cp.async.bulk@8.0/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : m, m, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: 16) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
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
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <add+(u32/s32/u64/s64)> : m, x",
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <(min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory is `.add`; ptxas emits `.add` for this one",
    "red.async@8.7/100 relaxed+(gpu/sys) global <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory requires `.release`",
    "red.async@8.1/100 relaxed+(gpu/sys) <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : m, x ! a reduction in global memory requires `.release`",
    "st.bulk@8.6/100 {weak} {shared::cta} : m, #64(*8), i(0)",
    "st.bulk@9.0/100 {weak} {shared::cta} : m, 32, i(0)",
    // multimem
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64), add+(u32/s32/u64/f32/f64), add+(v2/v4)+f32> : y, m"),
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <add, min, max> <(v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : y, m"),
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} add+acc::f32@8.2 <(v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : y, m"),
    concat!("multimem.ld_reduce@8.6/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <add, min, max, add+acc::f16> <", multimem_narrow!(), "> : y, m"),
    concat!("multimem.st@8.1/90 {weak, (relaxed/release)+", scopes!(), "} {global} <u32, s32, b32, u64, s64, b64, f32, f64, (v2/v4)+f32, (v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : m, y"),
    concat!("multimem.st@8.6/90 {weak, (relaxed/release)+", scopes!(), "} {global} <", multimem_narrow!(), "> : m, y"),
    concat!("multimem.red@8.1/90 {(relaxed/release)+", scopes!(), "} {global} <(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64), add+(u32/s32/u64/f32/f64/f16x2/bf16x2), add+(v2/v4)+f32, (add/min/max)+(v2/v4/v8)+(f16/bf16), (add/min/max)+(v2/v4)+(f16x2/bf16x2)> : m, y"),
    "multimem.red@9.3/100 async <release+(gpu/sys)> {global} <add+(u32/s32/u64)> : m, x",
    concat!("multimem.cp.async.bulk@9.1/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} global shared::cta bulk_group {cp_mask@9.1/100} : m, m, ", bulk!(), " (cp_mask: 16)"),
    concat!("multimem.cp.async.bulk@9.1/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> global shared::cta bulk_group {cp_mask@9.1/100} : m, m, ", bulk!(), " (cp_mask: 16) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
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
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, v4i, #64, s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} f16+f16+f16", " : v*i, #64, #64, s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} f16+f16+f16", " : v*i, v4i, #64, s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k8"), " {row} {col} f32+tf32+tf32", " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k8"), " {row} {col} f32+tf32+tf32", " : v*, v4i, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k32"), " ", narrow_matrices!(), " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k32"), " ", narrow_matrices!(), " : v*, v4i, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k32"), " ", integer_matrices!(), " : v*i, #64, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k32"), " ", integer_matrices!(), " : v*i, v4i, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k32"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k32"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, v4i, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k32"), " {row} {col} f16+f16+f16", " : v*i, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k32"), " {row} {col} f16+f16+f16", " : v*i, v4i, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k16"), " {row} {col} f32+tf32+tf32", " : v*, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k16"), " {row} {col} f32+tf32+tf32", " : v*, v4i, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k64"), " ", narrow_matrices!(), " : v*, #64, #64, 32, i(0), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", shapes!("k64"), " ", narrow_matrices!(), " : v*, v4i, #64, 32, i(0), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", integer_shapes!("k64"), " ", integer_matrices!(), " : v*i, #64, #64, 32, i(0), s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sp sync aligned ", integer_shapes!("k64"), " ", integer_matrices!(), " : v*i, v4i, #64, 32, i(0), s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k256"), " {row} {col} s32+b1+b1 and popc", " : v*i, #64, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k256"), " {row} {col} s32+b1+b1 and popc", " : v*i, v4i, #64, s(0,1)"),
    // tcgen05
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", kinds!(), " ", collector!(), " : m, #64/m, #64, #32 {, v*}, s"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaling_kinds!(), " ", collector!(), " : m, #64/m, #64, #32 {, v*}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", "kind::i8@/110a ", collector!(), " : m, #64/m, #64, #32 {, v*}, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", kinds!(), " ", shifted!(), " : m, m, #64, #32 {, v*}, s"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaling_kinds!(), " ", shifted!(), " : m, m, #64, #32 {, v*}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", "kind::i8@/110a ", shifted!(), " : m, m, #64, #32 {, v*}, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaled_kinds!(), " ", collector!(), " : m, #64/m, #64, #32, m, m, s"),
    concat!("tcgen05.mma@8.6/100f ws cta_group::1 ", kinds!(), " ", kept!(), " : m, #64/m, #64, #32, s {, #64}"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", kinds!(), " ", collector!(), " : m, #64/m, #64, m, #32 {, v*}, s"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", scaling_kinds!(), " ", collector!(), " : m, #64/m, #64, m, #32 {, v*}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", "kind::i8@/110a ", collector!(), " : m, #64/m, #64, m, #32, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", kinds!(), " ", shifted!(), " : m, m, #64, m, #32 {, v*}, s"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", scaling_kinds!(), " ", shifted!(), " : m, m, #64, m, #32 {, v*}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", "kind::i8@/110a ", shifted!(), " : m, m, #64, m, #32, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", sparse_scaled_kinds!(), " ", collector!(), " : m, #64/m, #64, m, #32, m, m, s"),
    concat!("tcgen05.mma@8.6/100f ws sp cta_group::1 ", kinds!(), " ", kept!(), " : m, #64/m, #64, m, #32, s {, #64}"),
    concat!("tcgen05.mma@9.4/107f decompress::lut::b ", groups!(), " ... : ..."),
    concat!("tcgen05.cp@8.6/100f ", groups!(), " <128x256b, 4x256b, 128x128b, 64x128b+(warpx2::02_13/warpx2::01_23), 32x128b+warpx4> {b8x16+(b6x16_p32/b4x16_p64)} : m, #64"),
    concat!("tcgen05.ld@8.6/100f sync aligned ", tensor_shapes!(), " {pack::16b} b32 : v*, m"),
    concat!("tcgen05.ld@8.6/100f sync aligned 16x32bx2 ", repeated!(), " {pack::16b} b32 : v*, m, i"),
    "tcgen05.ld@8.8/101f red sync aligned 32x32b <x2, x4, x8, x16, x32, x64, x128> <min, max> <u32, s32> : v*, 32, m",
    "tcgen05.ld@8.8/101f red sync aligned 16x32bx2 <x2, x4, x8, x16, x32, x64, x128> <min, max> <u32, s32> : v*, 32, m, i",
    "tcgen05.ld@8.8/101f red sync aligned 32x32b <x2, x4, x8, x16, x32, x64, x128> <min, max> {abs} {NaN} f32 : v*, 32, m",
    "tcgen05.ld@8.8/101f red sync aligned 16x32bx2 <x2, x4, x8, x16, x32, x64, x128> <min, max> {abs} {NaN} f32 : v*, 32, m, i",
    "tcgen05.ld@9.4/107f spcompress sync aligned ... : ...",
    concat!("tcgen05.st@8.6/100f sync aligned ", tensor_shapes!(), " {unpack::16b} b32 : m, v*"),
    concat!("tcgen05.st@8.6/100f sync aligned 16x32bx2 ", repeated!(), " {unpack::16b} b32 : m, i, v*"),
    "tcgen05.alloc@8.6/100f <cta_group::1, cta_group::2> sync aligned {shared::cta} b32 : m, #32(32,64,128,256,512)",
    "tcgen05.alloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned {shared::cta} b32 : m, #32(32..512,*32)",
    "tcgen05.dealloc@8.6/100f <cta_group::1, cta_group::2> sync aligned b32 : #32, #32(32,64,128,256,512)",
    "tcgen05.dealloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned b32 : #32, #32(32..512,*32)",
    "tcgen05.relinquish_alloc_permit@8.6/100f <cta_group::1, cta_group::2> sync aligned :",
    "tcgen05.commit@8.6/100f <cta_group::1, cta_group::2> mbarrier::arrive::one {shared::cluster} {multicast::cluster, multicast::cluster::16b@9.4} b64 : m (multicast: 16/i)",
    "tcgen05.shift@8.6/100a <cta_group::1, cta_group::2> down : m",
    "tcgen05.fence::before_thread_sync@8.6/100f :",
    "tcgen05.fence::after_thread_sync@8.6/100f :",
    "tcgen05.wait::ld@8.6/100f sync aligned :",
    "tcgen05.wait::st@8.6/100f sync aligned :",
];
