//! The productions of asynchronous instructions and of those of warps, in the notation of [`crate::production`].
//!
//! They follow the pages of the document, with what ptxas 13.5 was measured to take and to refuse
//! (`docs/ptxas-differences.md`).

mod fabric;

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

/// How the bytes that a copy wrote are reported to its mbarrier object.
macro_rules! report {
    () => {
        "{mbarrier::report::disabled@9.4/107f, mbarrier::report::validity::per_element::ff@9.4/107f, mbarrier::report::validity::per_16bytes::80000000@9.4/107f, mbarrier::report::validity::per_16bytes::8000@9.4/107f, mbarrier::report::validity::per_16bytes::80@9.4/107f, mbarrier::report::validity::per_16bytes::8@9.4/107f}"
    };
}

/// Where a copy multicasts to, with a mask of 16 bits.
macro_rules! multicast {
    () => {
        "{multicast::cluster, multicast::cluster::16b@9.4}"
    };
}

macro_rules! wide_multicast {
    () => {
        "multicast::cluster::32b@9.4/107f"
    };
}

/// Tensors in tiles, with what is put in the place of the sizes in their map: with strides where there are several dimensions.
macro_rules! tiles {
    () => {
        "<1d, 2d, 3d, 4d, 5d, (1d/2d/3d/4d/5d)+tile, override::global_dim+override::global_address+1d@9.4/107f, override::global_dim+override::global_address+1d+tile@9.4/107f, override::global_dim_stride+override::global_address+(2d/3d/4d/5d)@9.4/107f, override::global_dim_stride+override::global_address+(2d/3d/4d/5d)+tile@9.4/107f"
    };
}

/// The dimensions of a tensor, and how it is read: as `im2col` it has three at least.
macro_rules! tensor_load {
    () => {
        concat!(
            tiles!(),
            ", (3d/4d/5d)+im2col, (im2col::w/im2col::w::128)+(3d/4d/5d)@8.6/100f> {override::global_address@9.4/107f}"
        )
    };
}

/// The same into the shared memory of the CTA.
macro_rules! tensor_load_cta {
    () => {
        concat!(
            tiles!(),
            ", (3d/4d/5d)+im2col, im2col::w+(3d/4d/5d)@8.6/100, im2col::w::128+(3d/4d/5d)@8.6/100f> {override::global_address@9.4/107f}"
        )
    };
}

/// The same for several CTAs: only their addresses may be put in the place of those of the map.
macro_rules! tensor_multicast {
    () => {
        "<1d, 2d, 3d, 4d, 5d, (1d/2d/3d/4d/5d)+tile, (3d/4d/5d)+im2col, (im2col::w/im2col::w::128)+(3d/4d/5d)@8.6/100f> {override::global_address@9.4/107f}"
    };
}

/// The same where it is written.
macro_rules! tensor_store {
    () => {
        concat!(
            tiles!(),
            ", (3d/4d/5d)+im2col_no_offs, im2col_no_offs::w+(3d/4d/5d)@9.4/107f> {override::global_address@9.4/107f}"
        )
    };
}

/// A barrier of the CTA.
macro_rules! barrier {
    () => {
        "#32(0..15)"
    };
}

/// How many threads arrive at a barrier, which is not 0; ptxas takes the number without its sign.
macro_rules! threads {
    () => {
        "#32(-2147483648..-1,1..,*32)"
    };
}

/// The priorities of a cache policy: the first one, and that of what it leaves out.
macro_rules! policies {
    () => {
        "<L2::evict_first, L2::evict_unchanged, L2::evict_normal, L2::evict_last> {L2::evict_first, L2::evict_unchanged}"
    };
}

/// State spaces with a window in generic addresses.
macro_rules! windows {
    () => {
        "<global, local, shared, const@3.1, shared::cta@7.8/30, shared::cluster@7.8/90, param@7.7/70, param::entry@8.3/70>"
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

/// The shapes of `wgmma.mma_async` with this many columns of A.
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
        "{row} {col} {satfinite} <s32+s8+s8, s32+s8+u8@8.4, s32+u8+u8>"
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
        "ashift {collector::a::lastuse, collector::a::discard} {collector::b::fill@9.4/107f, collector::b::use@9.4/107f, collector::b::lastuse@9.4/107f, collector::b::discard@9.4/107f}"
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
pub(crate) fn all() -> impl Iterator<Item = &'static &'static str> {
    PRODUCTIONS.iter().chain(fabric::PRODUCTIONS)
}

#[rustfmt::skip]
const PRODUCTIONS: &[&str] = &[
    // cp.async
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(4) {, #32(0..4)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(8) {, #32(0..8)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(16) {, #32(0..16)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 ca <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(4,8,16), n@7.5 (L2::cache_hint: #64)",
    "cp.async@7.0/80 cg <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(16) {, #32(0..16)} (L2::cache_hint: #64)",
    "cp.async@7.0/80 cg <shared, shared::cta> global {L2::cache_hint@7.4} {L2::64B@7.4, L2::128B@7.4, L2::256B@7.4} [L1::32B@7.4] : ms, mg, i(16), n@7.5 (L2::cache_hint: #64)",
    "cp.async.commit_group@7.0/80 :",
    "cp.async.wait_all@7.0/80 :",
    "cp.async.wait_group@7.0/80 : i(0..)",
    "cp.async.wait_group@7.0/80 : i(-2147483648..-1) ! the number of groups is not negative; the instruction of ptxas waits for no group",
    "cp.async.mbarrier.arrive@7.0/80 {noinc} b64 : mw",
    "cp.async.mbarrier.arrive@7.0/80 {noinc} <shared, shared::cta@7.8> b64 : m",
    // mbarrier
    "mbarrier.init@7.0/80 {layout::v0@9.3/90} {shared, shared::cta@7.8} b64 : ms, #32(1..1048575)",
    "mbarrier.init@9.3/90 layout::v1 {shared, shared::cta} b64 : ms, #32(1..511)",
    "mbarrier.init@9.3/90 layout::v1 {shared, shared::cta} b64 : ms, #32(512..1048575) ! the count of an object of layout v1 is 511 at most",
    "mbarrier.inval@7.0/80 {shared, shared::cta@7.8} b64 : ms",
    concat!("mbarrier.expect_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : ms, #32(-1048575..1048575)"),
    concat!("mbarrier.expect_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.expect_tx@9.4/107f ", relaxed!(), " shared::cluster multicast::cluster::32b b64 : ms, #32(-1048575..1048575), #32"),
    concat!("mbarrier.expect_tx@9.4/107f ", relaxed!(), " multicast::cluster::32b b64 : ms, #32(-1048575..1048575), #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`"),
    concat!("mbarrier.complete_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : ms, #32(-1048575..1048575)"),
    concat!("mbarrier.complete_tx@8.0/90 ", relaxed!(), " {shared, shared::cta, shared::cluster} b64 : ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.complete_tx@9.4/107f ", relaxed!(), " shared::cluster multicast::cluster::32b b64 : ms, #32(-1048575..1048575), #32"),
    concat!("mbarrier.complete_tx@9.4/107f ", relaxed!(), " multicast::cluster::32b b64 : ms, #32(-1048575..1048575), #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`"),
    concat!("mbarrier.arrive@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : 64, ms {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive@7.1/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, ms {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive@8.0/90 ", release!(), " shared::cluster b64 : _, ms {, #32(1..)}"),
    concat!("mbarrier.arrive@9.4/107f ", release!(), " shared::cluster multicast::cluster::32b b64 : _, ms {, #32(1..)}, #32"),
    concat!("mbarrier.arrive@9.4/107f expect_tx ", release!(), " shared::cluster multicast::cluster::32b b64 : _, ms, #32(-1048575..1048575), #32"),
    concat!("mbarrier.arrive@9.4/107f ", release!(), " multicast::cluster::32b b64 : 64/_, ms {, #32(1..)}, #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`, and returns no state"),
    concat!("mbarrier.arrive@9.4/107f expect_tx ", release!(), " multicast::cluster::32b b64 : 64/_, ms, #32(-1048575..1048575), #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`, and returns no state"),
    "mbarrier.arrive@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : 64, ms, #32(1..)",
    "mbarrier.arrive@7.1/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : _, ms, #32(1..)",
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, ms, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, ms, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : 64, ms {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@7.1/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, ms {, #32(1..)@7.8/90}"),
    concat!("mbarrier.arrive_drop@7.0/80 ", release!(), " {shared, shared::cta@7.8} b64 : _, ms {, #32(1..)@7.8/90} ! `_` is of PTX ISA 7.1"),
    concat!("mbarrier.arrive_drop@8.0/90 ", release!(), " shared::cluster b64 : _, ms {, #32(1..)}"),
    concat!("mbarrier.arrive_drop@9.4/107f ", release!(), " shared::cluster multicast::cluster::32b b64 : _, ms {, #32(1..)}, #32"),
    concat!("mbarrier.arrive_drop@9.4/107f expect_tx ", release!(), " shared::cluster multicast::cluster::32b b64 : _, ms, #32(-1048575..1048575), #32"),
    concat!("mbarrier.arrive_drop@9.4/107f ", release!(), " multicast::cluster::32b b64 : 64/_, ms {, #32(1..)}, #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`, and returns no state"),
    concat!("mbarrier.arrive_drop@9.4/107f expect_tx ", release!(), " multicast::cluster::32b b64 : 64/_, ms, #32(-1048575..1048575), #32 ! `.multicast::cluster::32b` goes with `.shared::cluster`, and returns no state"),
    "mbarrier.arrive_drop@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : 64, ms, #32(1..)",
    "mbarrier.arrive_drop@7.1/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : _, ms, #32(1..)",
    "mbarrier.arrive_drop@7.0/80 noComplete {release+cta@8.0} {shared, shared::cta@7.8} b64 : _, ms, #32(1..) ! `_` is of PTX ISA 7.1",
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, ms, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " {shared, shared::cta} b64 : 64/_, ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, ms, #32(-1048575..1048575)"),
    concat!("mbarrier.arrive_drop@8.0/90 expect_tx ", release!(), " shared::cluster b64 : _, ms, #32(1048576..) ! the bytes of one phase are 1048575 at most"),
    concat!("mbarrier.test_wait@7.0/80 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta@7.8} b64 : p, ms, #64"),
    concat!("mbarrier.test_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_, ms, #64"),
    concat!("mbarrier.test_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_/p, 8, ms, #64"),
    concat!("mbarrier.test_wait@7.1/80 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta@7.8} b64 : p, ms, #32(0,1)"),
    concat!("mbarrier.test_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_, ms, #32(0,1)"),
    concat!("mbarrier.test_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_/p, 8, ms, #32(0,1)"),
    concat!("mbarrier.try_wait@7.8/90 ", acquire!(), " {phase_type::primary@9.3/90} {shared, shared::cta} b64 : p, ms, #64 {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_, ms, #64 {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_/p, 8, ms, #64 {, #32}"),
    concat!("mbarrier.try_wait@7.8/90 parity ", acquire!(), " {phase_type::primary@9.3/90, phase_type::conditional@9.3/90} {shared, shared::cta} b64 : p, ms, #32(0,1) {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_, ms, #32(0,1) {, #32}"),
    concat!("mbarrier.try_wait@9.3/90 parity ", acquire!(), " phase_type::primary {shared, shared::cta} b64 : p|p/p|_/p, 8, ms, #32(0,1) {, #32}"),
    "mbarrier.pending_count@7.0/80 {layout::v0@9.3/90} b64 : 32, #64",
    "mbarrier.check_layout@9.3/90 <layout::v0, layout::v1> {shared, shared::cta} [cta, cluster, gpu, sys] b64 : p, ms",
    // cp.async.bulk
    concat!("cp.async.bulk@8.6/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cta global mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.6/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> shared::cta global mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.6/90 b128 shared::cta global mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@9.2/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cta global mbarrier::complete_tx::bytes {mbarrier::report::disabled@9.4/107f} ignore_oob {L2::cache_hint} : ms, mg, ", bulk!(), ", #32(0..15), #32(0..15), ms (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@9.2/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> shared::cta global mbarrier::complete_tx::bytes {mbarrier::report::disabled@9.4/107f} ignore_oob {L2::cache_hint} : ms, mg, ", bulk!(), ", #32(0..15), #32(0..15), ms (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@9.2/90 b128 shared::cta global mbarrier::complete_tx::bytes {mbarrier::report::disabled@9.4/107f} ignore_oob {L2::cache_hint} : ms, mg, ", bulk!(), ", #32(0..15), #32(0..15), ms (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (multicast: #16(0..65535)) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", wide_multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms, #32 (L2::cache_hint: #64)"),
    concat!("cp.async.bulk@8.0/90 weak@9.3 shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (multicast: #16(0..65535)) (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 weak@9.3 shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", wide_multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms, #32 (L2::cache_hint: #64) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms (multicast: #16(0..65535)) (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", wide_multicast!(), " {L2::cache_hint} : ms, mg, ", bulk!(), ", ms, #32 (L2::cache_hint: #64) ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+(cta/cluster)+b128@9.3/90a|100f} shared::cluster shared::cta mbarrier::complete_tx::bytes : ms, ms, ", bulk!(), ", ms"),
    concat!("cp.async.bulk@8.0/90 <weak@9.3, relaxed+(cta/cluster)+b128@9.3> shared::cluster shared::cta mbarrier::complete_tx::bytes : ms, ms, ", bulk!(), ", ms ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 b128 shared::cluster shared::cta mbarrier::complete_tx::bytes : ms, ms, ", bulk!(), ", ms ! `.b128` is the type of a relaxed copy"),
    concat!("cp.async.bulk@8.0/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : mg, ms, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: #16(0..65535))"),
    concat!("cp.async.bulk@8.0/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : mg, ms, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: #16(0..65535)) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("cp.async.bulk@8.0/90 b128 global shared::cta bulk_group {L2::cache_hint} {cp_mask@8.6/100} : mg, ms, ", bulk!(), " (L2::cache_hint: #64) (cp_mask: #16(0..65535)) ! `.b128` is the type of a relaxed copy"),
    "cp.async.bulk.commit_group@8.0/90 :",
    "cp.async.bulk.wait_group@8.0/90 {read} [sync_restrict::shared::cta@8.6, sync_restrict::shared::cluster@8.6] : i",
    "cp.async.bulk.wait_group@9.5/90 sync_restrict::proxy::async : i",
    concat!("cp.async.bulk.prefetch@8.0/90 L2 global {L2::cache_hint, L2::evict_last@9.4/107f} : mg, ", bulk!(), " (L2::cache_hint: #64)"),
    concat!("cp.reduce.async.bulk@8.0/90 {relaxed+(cta/cluster)@9.3} shared::cluster shared::cta mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : ms, ms, ", bulk!(), ", ms"),
    concat!("cp.reduce.async.bulk@8.0/90 {relaxed+", scopes!(), "@9.3} global shared::cta bulk_group {L2::cache_hint} <add+(u32/s32/u64/f32/f64), add+noftz+(f16/bf16), add+noftz+f32@9.4, (min/max)+(u32/s32/u64/s64/f16/bf16), (inc/dec)+u32, (and/or/xor)+(b32/b64)> : mg, ms, ", bulk!(), " (L2::cache_hint: #64)"),
    // cp.async.bulk.tensor
    concat!("cp.async.bulk.tensor@8.6/90 ", tensor_load_cta!(), " shared::cta global mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : ms, t, ms (im2col: o) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_load!(), " shared::cluster global mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : ms, t, ms (im2col: o) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_multicast!(), " shared::cluster global mbarrier::complete_tx::bytes ", report!(), " <multicast::cluster, multicast::cluster::16b@9.4> {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : ms, t, ms (im2col: o) (multicast: #16(0..65535)) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_load!(), " shared::cluster global mbarrier::complete_tx::bytes ", report!(), " ", wide_multicast!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1@8.6/100f, cta_group::2@8.6/100f} : ms, t, ms (im2col: o) #32 (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.6/100 2d shared::cta global tile::gather4 {override::global_address@9.4/107f} mbarrier::complete_tx::bytes ", report!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1@/100f, cta_group::2@/100f} : ms, t, ms (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.6/100f 2d shared::cluster global tile::gather4 {override::global_address@9.4/107f} mbarrier::complete_tx::bytes ", report!(), " ", multicast!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1, cta_group::2} : ms, t, ms (multicast: #16(0..65535)) (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.6/100f 2d shared::cluster global tile::gather4 {override::global_address@9.4/107f} mbarrier::complete_tx::bytes ", report!(), " ", wide_multicast!(), " {L2::cache_hint} [cta, cluster, gpu, sys] {cta_group::1, cta_group::2} : ms, t, ms, #32 (L2::cache_hint: #64)"),
    concat!("cp.async.bulk.tensor@8.0/90 ", tensor_store!(), " global shared::cta bulk_group {L2::cache_hint} [cta, cluster, gpu, sys] : t, ms (L2::cache_hint: #64)"),
    "cp.async.bulk.tensor@8.6/100f 2d global shared::cta tile::scatter4 {override::global_address@9.4/107f} bulk_group {L2::cache_hint} [cta, cluster, gpu, sys] : t, ms (L2::cache_hint: #64)",
    concat!("cp.async.bulk.prefetch.tensor@8.0/90 ", tensor_load!(), " L2 global {L2::cache_hint, L2::evict_last@9.4/107f} : t (im2col: o) (L2::cache_hint: #64)"),
    "cp.async.bulk.prefetch.tensor@8.6/100f 2d L2 global tile::gather4 {override::global_address@9.4/107f} {L2::cache_hint, L2::evict_last@9.4/107f} : t (L2::cache_hint: #64)",
    concat!("cp.reduce.async.bulk.tensor@8.0/90 ", tensor_store!(), " global shared::cta <add, min, max, inc, dec, and, or, xor> bulk_group {L2::cache_hint} [cta, cluster, gpu, sys] : t, ms (L2::cache_hint: #64)"),
    "cp.reduce.async.bulk.tensor@8.6/100f 2d global shared::cta tile::scatter4 {override::global_address@9.4/107f} <add, min, max, inc, dec, and, or, xor> bulk_group {L2::cache_hint} [cta, cluster, gpu, sys] : t, ms (L2::cache_hint: #64) ! the document has no reductions of scattered rows",
    concat!("applypriority.async.bulk@9.4/107f bulk_group {global} L2::evict_normal : mg, ", bulk!()),
    concat!("applypriority.async.bulk.tensor@9.4/107f ", tensor_load!(), " bulk_group {global} L2::evict_normal : t (im2col: o)"),
    "applypriority.async.bulk.tensor@9.4/107f 2d tile::gather4 {override::global_address} bulk_group {global} L2::evict_normal : t",
    // st.async, red.async, st.bulk
    "st.async@8.1/90 {weak} {shared::cluster} mbarrier::complete_tx::bytes <b32, u32, s32, f32, b64, u64, s64, f64, b128@9.2, (v2/v4)+(b32/u32/s32/f32), v2+(b64/u64/s64/f64)> : mw, yv, m",
    "st.async@8.1/90 cluster {shared::cluster} mbarrier::complete_tx::bytes <b32, u32, s32, f32, b64, u64, s64, f64, b128@9.2, (v2/v4)+(b32/u32/s32/f32), v2+(b64/u64/s64/f64)> : mw, yv, m ! a weak store has no scope",
    "st.async@8.1/90 {weak} <shared, shared::cta> mbarrier::complete_tx::bytes <b32, u32, s32, f32, b64, u64, s64, f64, b128@9.2, (v2/v4)+(b32/u32/s32/f32), v2+(b64/u64/s64/f64)> : mw, yv, m ! the document has `.shared::cluster` only",
    "st.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <b8, u8, s8> : mw, 8/i",
    "st.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : mw, y",
    "st.async@8.7/100 {weak} global <b8, u8, s8> : mw, 8/i ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.7/100 {weak} global <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : mw, y ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.1/90 {weak} <b8, u8, s8> : mw, 8/i ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.1/90 {weak} <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : mw, y ! a store to global memory requires `.release`; ptxas emits no instruction for this one",
    "st.async@8.1/90 {weak} <shared, shared::cta> <b8, u8, s8> : mw, 8/i ! a store to shared memory has an mbarrier object, and is to `.shared::cluster`",
    "st.async@8.1/90 {weak} <shared, shared::cta> <b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64> : mw, y ! a store to shared memory has an mbarrier object, and is to `.shared::cluster`",
    "red.async@8.1/90 relaxed+cluster {shared::cluster} mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : mw, y, m",
    "red.async@8.1/90 relaxed+cluster {shared::cluster} mbarrier::complete_tx::bytes <add+(u32/s32/u64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : mw, y ! an mbarrier object is missing",
    "red.async@8.1/90 relaxed+cluster {shared::cluster} mbarrier::complete_tx::bytes add+s64 : mw, y, m ! `.s64` is for reductions in global memory",
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <add+(u32/s32/u64/s64)> : mw, y",
    "red.async@8.7/100 <release+(gpu/sys), mmio+release+sys> {global} <(min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : mw, y ! a reduction in global memory is `.add`; ptxas emits `.add` for this one",
    "red.async@8.7/100 relaxed+(gpu/sys) global <add+(u32/s32/u64/s64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : mw, y ! a reduction in global memory requires `.release`",
    "red.async@8.1/100 relaxed+(gpu/sys) <add+(u32/s32/u64/s64), (min/max)+(u32/s32), (inc/dec)+u32, (and/or/xor)+b32> : mw, y ! a reduction in global memory requires `.release`",
    "st.bulk@8.6/100 {weak} {shared::cta} : mw, #64(0..16777216,*8), i(0)",
    "st.bulk@9.0/100 {weak} {shared::cta} : mw, 32, i(0)",
    // multimem
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64), add+(u32/s32/u64/f32/f64), add+(v2/v4)+f32> : y, m"),
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <add, min, max> <(v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : y, m"),
    concat!("multimem.ld_reduce@8.1/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} add+acc::f32@8.2 <(v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : y, m"),
    concat!("multimem.ld_reduce@8.6/90 {weak, (relaxed/acquire)+", scopes!(), "} {global} <add, min, max, add+acc::f16> <", multimem_narrow!(), "> : y, m"),
    concat!("multimem.st@8.1/90 {weak, (relaxed/release)+", scopes!(), "} {global} <u32, s32, b32, u64, s64, b64, f32, f64, (v2/v4)+f32, (v2/v4/v8)+(f16/bf16), f16x2, bf16x2, (v2/v4)+(f16x2/bf16x2)> : m, y"),
    concat!("multimem.st@8.6/90 {weak, (relaxed/release)+", scopes!(), "} {global} <", multimem_narrow!(), "> : m, y"),
    "multimem.st@9.3/100 async release+(gpu/sys) {global} <b8, u8, s8> : m, 8/16/32/i",
    "multimem.st@9.3/100 async release+(gpu/sys) {global} <b16, u16, s16> : m, 16/32/i",
    "multimem.st@9.3/100 async release+(gpu/sys) {global} <b32, u32, s32, b64, u64, s64, f32, f64> : m, y",
    concat!("multimem.red@8.1/90 {(relaxed/release)+", scopes!(), "} {global} <(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64), add+(u32/s32/u64/f32/f64/f16x2/bf16x2), add+(v2/v4)+f32, (add/min/max)+(v2/v4/v8)+(f16/bf16), (add/min/max)+(v2/v4)+(f16x2/bf16x2)> : ml, y"),
    "multimem.red@9.3/100 async <release+(gpu/sys)> {global} <add+(u32/s32/u64)> : ml, y",
    concat!("multimem.cp.async.bulk@9.1/90 {weak@9.3/90a|100f, relaxed+", scopes!(), "+b128@9.3/90a|100f} global shared::cta bulk_group {cp_mask@9.1/100} : mg, ms, ", bulk!(), " (cp_mask: #16(0..65535))"),
    concat!("multimem.cp.async.bulk@9.1/90 <weak@9.3, relaxed+", scopes!(), "+b128@9.3> global shared::cta bulk_group {cp_mask@9.1/100} : mg, ms, ", bulk!(), " (cp_mask: #16(0..65535)) ! `.weak` and `.relaxed` are for sm_90a, and for targets with `f` or `a` of 100 to 119"),
    concat!("multimem.cp.async.bulk@9.1/90 b128 global shared::cta bulk_group {cp_mask@9.1/100} : mg, ms, ", bulk!(), " (cp_mask: #16(0..65535)) ! `.b128` is the type of a relaxed copy"),
    concat!("multimem.cp.reduce.async.bulk@9.1/90 {relaxed+", scopes!(), "@9.3} global shared::cta bulk_group <add+(u32/s32/u64/f32/f64), add+noftz+(f16/bf16), add+noftz+f32@9.4, (min/max)+(u32/s32/u64/s64/f16/bf16), (inc/dec)+u32, (and/or/xor)+(b32/b64)> : mg, ms, ", bulk!()),
    // Tensor maps
    "tensormap.replace@8.3/90a|100f|120f tile global_address {global, shared::cta} b1024 b64 : mw, #w64",
    "tensormap.replace@8.3/90a|100f|120f tile rank {global, shared::cta} b1024 b32 : mw, #w32",
    "tensormap.replace@8.3/90a|100f|120f tile <box_dim, global_dim, element_stride> {global, shared::cta} b1024 b32 : mw, i(0..4), #w32",
    "tensormap.replace@8.3/90a|100f|120f tile global_stride {global, shared::cta} b1024 b64 : mw, i(0..4), #w64",
    "tensormap.replace@8.3/90a|100f|120f tile elemtype {global, shared::cta} b1024 b32 : mw, i(0..12)",
    "tensormap.replace@8.7/100f|120f tile elemtype {global, shared::cta} b1024 b32 : mw, i(13..15)",
    "tensormap.replace@8.3/90a|100f|120f tile interleave_layout {global, shared::cta} b1024 b32 : mw, i(0..2)",
    "tensormap.replace@8.3/90a|100f|120f tile swizzle_mode {global, shared::cta} b1024 b32 : mw, i(0..3)",
    "tensormap.replace@8.8/103a|107a tile swizzle_mode {global, shared::cta} b1024 b32 : mw, i(4)",
    "tensormap.replace@8.6/100f|120f tile swizzle_atomicity {global, shared::cta} b1024 b32 : mw, i(0..3)",
    "tensormap.replace@8.3/90a|100f|120f tile fill_mode {global, shared::cta} b1024 b32 : mw, i(0,1)",
    "tensormap.replace@9.5/90a|100f|120f tile global_address <alloc_large, alloc_small, alloc_same> {global, shared::cta} b1024 b64 : mw, #w64",
    "tensormap.replace@9.5/90a|100f|120f tile <alloc_large, alloc_small> {global, shared::cta} b1024 : mw",
    "tensormap.query.alloc_class_large@9.5/90a|100f|120f {global, const, param} b1024 : p, ml",
    "tensormap.query.alloc_class_large@9.5/90a|100f|120f shared::cta b1024 : p, ml ! the map is in `.global`, `.const` or `.param`",
    concat!("tensormap.cp_fenceproxy@8.3/90 global shared::cta tensormap::generic release+", scopes!(), " sync aligned : mg, ms, i(128)"),
    // Barriers
    concat!("bar.sync@1.0 : ", barrier!(), " {, #32(*32)}"),
    concat!("bar.cta.sync@7.8/30 : ", barrier!(), " {, #32(*32)}"),
    concat!("bar.arrive@2.0/20 : ", barrier!(), ", ", threads!()),
    concat!("bar.cta.arrive@7.8/30 : ", barrier!(), ", ", threads!()),
    concat!("bar.red@2.0/20 popc u32 : u32, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("bar.red@2.0/20 <and, or> pred : p, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("bar.cta.red@7.8/30 popc u32 : u32, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("bar.cta.red@7.8/30 <and, or> pred : p, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("barrier.sync@6.0/30 {aligned} : ", barrier!(), " {, #32(*32)}"),
    concat!("barrier.cta.sync@7.8/30 {aligned} : ", barrier!(), " {, #32(*32)}"),
    concat!("barrier.arrive@6.0/30 {aligned} : ", barrier!(), ", ", threads!()),
    concat!("barrier.cta.arrive@7.8/30 {aligned} : ", barrier!(), ", ", threads!()),
    concat!("barrier.red@6.0/30 {aligned} popc u32 : u32, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("barrier.red@6.0/30 {aligned} <and, or> pred : p, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("barrier.cta.red@7.8/30 {aligned} popc u32 : u32, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    concat!("barrier.cta.red@7.8/30 {aligned} <and, or> pred : p, ", barrier!(), " {, #32(*32)}, s(0,1)"),
    "bar.warp.sync@6.0/30 : #32",
    // Caches
    "prefetch@2.0/20 {global} <L1, L2> : mp",
    "prefetch@2.0/20 local <L1, L2> : mo",
    "prefetch@7.4/80 {global} <L2::evict_last, L2::evict_normal> : mp",
    "prefetch@9.4/90 {global} L1::32B valid_addr [L1, L2::evict_last, L2::evict_normal] : m",
    "prefetch@8.0/90 {const, param} tensormap : mw",
    "prefetchu@2.0/20 L1 : mp",
    "applypriority@7.4/80 {global} L2::evict_normal : ml, i(128)",
    "discard@7.4/80 {global} L2 : ml, i(128)",
    concat!("createpolicy.fractional@7.4/80 ", policies!(), " b64 : 64 {, f32/r/i(1)}"),
    concat!("createpolicy.range@7.4/80 {global} ", policies!(), " b64 : 64, ml, #32, #32"),
    concat!("createpolicy.range@9.4/100 fabric [global] ", policies!(), " b64 : 64, h, #32, #32"),
    "createpolicy.cvt@7.4/80 L2 b64 : 64, #64",
    // Conversions of addresses
    concat!("isspacep@2.0/20 ", windows!(), " : p, #32/#64/e"),
    concat!("cvta@2.0/20 ", windows!(), " u64 : 64, #64/g"),
    concat!("cvta@2.0/20 ", windows!(), " u32 : 32, #32/g"),
    concat!("cvta@2.0/20 to ", windows!(), " u64 : 64, #64/e"),
    concat!("cvta@2.0/20 to ", windows!(), " u32 : 32, #32/e"),
    // Grids, clusters and warps
    "griddepcontrol@7.8/90 <launch_dependents, wait> :",
    "barrier.cluster.arrive@7.8/90 {release@8.0, relaxed@8.0} {aligned} :",
    "barrier.cluster.wait@7.8/90 {acquire@8.0} {aligned} :",
    "mapa@7.8/90 {shared::cluster} u32 : u32, a32/i, #32",
    "mapa@7.8/90 {shared::cluster} u64 : 64, a64/i, #32",
    "mapa@7.8/90 {shared::cluster} s32 : u32, a32/i, #32 ! the types of the document are `.u32` and `.u64`",
    "mapa@7.8/90 {shared::cluster} s64 : 64, a64/i, #32 ! the types of the document are `.u32` and `.u64`",
    "getctarank@7.8/90 {shared::cluster} u32 : 32, a32/i",
    "getctarank@7.8/90 {shared::cluster} u64 : 32, a64/i",
    "getctarank@7.8/90 {shared::cluster} s32 : 32, a32/i ! the types of the document are `.u32` and `.u64`",
    "getctarank@7.8/90 {shared::cluster} s64 : 32, a64/i ! the types of the document are `.u32` and `.u64`",
    "elect@8.0/90 sync : 32|p/_|p, #32",
    "clusterlaunchcontrol.try_cancel@8.6/100 async {shared::cta} mbarrier::complete_tx::bytes {multicast::cluster::all@8.6/100f|120f} b128 : m, m",
    "clusterlaunchcontrol.query_cancel@8.6/100 is_canceled pred b128 : p, q",
    "clusterlaunchcontrol.query_cancel@8.6/100 <get_first_ctaid::x, get_first_ctaid::y, get_first_ctaid::z> b32 b128 : w32, q",
    "clusterlaunchcontrol.query_cancel@8.6/100 get_first_ctaid v4 b32 b128 : v4, q",
    "setmaxnreg.inc@8.0/90a|100f|120f sync aligned u32 : i(24..256,*8)",
    "setmaxnreg.dec@8.0/90a|100f|120f sync aligned u32 : i(24..256,*8)",
    "redux@7.0/80 sync <add, min, max> <u32, s32> : 32, #32, #32",
    "redux@7.0/80 sync <and, or, xor> b32 : 32, #32, #32",
    "redux@8.6/103f sync <min, max> {abs} {NaN} f32 : f32, f32/d, #32",
    "match.any@6.0/70 sync b32 : 32/32|_, #w32, #32",
    "match.any@6.0/70 sync b64 : 32/32|_, #w64, #32",
    "match.all@6.0/70 sync b32 : 32/_/32|p/32|_/_|p, #w32, #32",
    "match.all@6.0/70 sync b64 : 32/_/32|p/32|_/_|p, #w64, #32",
    "activemask@6.2/30 b32 : w32",
    "shfl@6.0/30 sync <up, down, bfly, idx> b32 : w32/w32|p/w32|_, #w32, #w32, #w32, #32",
    "shfl@3.0/pre70 <up, down, bfly, idx> b32 : w32/w32|p/w32|_, #w32, #w32, #w32",
    "vote@6.0/30 sync <all, any, uni> pred : p, s, #32",
    "vote@6.0/30 sync ballot b32 : w32, s, #32",
    "vote@1.2/pre70 <all, any, uni> pred : p, s",
    "vote@2.0/pre70 ballot b32 : w32, s",
    "trace.mark@9.5/107f : i(0..4095)",
    // Arithmetic
    "sin {approx} {ftz} f32 : ...",
    "sin@9.5 approx ftz 2pi f32 : ...",
    "cos {approx} {ftz} f32 : ...",
    "cos@9.5 approx ftz 2pi f32 : ...",
    // Branches
    "bra {uni} : l",
    "brx.idx@6.0/30 {uni} : #32, l",
    // wgmma
    "wgmma.fence@8.0/90a sync aligned :",
    "wgmma.commit_group@8.0/90a sync aligned :",
    "wgmma.wait_group@8.0/90a sync aligned : i(0..)",
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, va, #64, s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} f16+f16+f16", " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k16"), " {row} {col} f16+f16+f16", " : v*, va, #64, s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k8"), " {row} {col} f32+tf32+tf32", " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k8"), " {row} {col} f32+tf32+tf32", " : v*, va, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k32"), " ", narrow_matrices!(), " : v*, #64, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", shapes!("k32"), " ", narrow_matrices!(), " : v*, va, #64, s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k32"), " ", integer_matrices!(), " : v*, #64, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k32"), " ", integer_matrices!(), " : v*, va, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k32"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k32"), " {row} {col} <f32+f16+f16, f32+bf16+bf16>", " : v*, va, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k32"), " {row} {col} f16+f16+f16", " : v*, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1), i(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k32"), " {row} {col} f16+f16+f16", " : v*, va, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1), i(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k16"), " {row} {col} f32+tf32+tf32", " : v*, #64, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k16"), " {row} {col} f32+tf32+tf32", " : v*, va, #64, 32, i(0,1), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k64"), " ", narrow_matrices!(), " : v*, #64, #64, 32, i(0), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", shapes!("k64"), " ", narrow_matrices!(), " : v*, va, #64, 32, i(0), s(0,1), i(-1,1), i(-1,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", integer_shapes!("k64"), " ", integer_matrices!(), " : v*, #64, #64, 32, i(0), s(0,1)"),
    concat!("wgmma.mma_async@8.2/90a sp sync aligned ", integer_shapes!("k64"), " ", integer_matrices!(), " : v*, va, #64, 32, i(0), s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k256"), " {row} {col} s32+b1+b1 and popc", " : v*, #64, #64, s(0,1)"),
    concat!("wgmma.mma_async@8.0/90a sync aligned ", integer_shapes!("k256"), " {row} {col} s32+b1+b1 and popc", " : v*, va, #64, s(0,1)"),
    // tcgen05
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", kinds!(), " ", collector!(), " : mb, #64/mb, #64, #32 {, vl}, s"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaling_kinds!(), " ", collector!(), " : mb, #64/mb, #64, #32 {, vl}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", "kind::i8@/110a ", collector!(), " : mb, #64/mb, #64, #32 {, vl}, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", kinds!(), " ", shifted!(), " : mb, mb, #64, #32 {, vl}, s"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaling_kinds!(), " ", shifted!(), " : mb, mb, #64, #32 {, vl}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", "kind::i8@/110a ", shifted!(), " : mb, mb, #64, #32 {, vl}, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f ", groups!(), " ", scaled_kinds!(), " ", collector!(), " : mb, #64/mb, #64, #32, mb, mb, s"),
    concat!("tcgen05.mma@8.6/100f ws cta_group::1 ", kinds!(), " ", kept!(), " : mb, #64/mb, #64, #32, s {, #64}"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", kinds!(), " ", collector!(), " : mb, #64/mb, #64, mb, #32 {, vl}, s"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", scaling_kinds!(), " ", collector!(), " : mb, #64/mb, #64, mb, #32 {, vl}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", "kind::i8@/110a ", collector!(), " : mb, #64/mb, #64, mb, #32, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", kinds!(), " ", shifted!(), " : mb, mb, #64, mb, #32 {, vl}, s"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", scaling_kinds!(), " ", shifted!(), " : mb, mb, #64, mb, #32 {, vl}, s, i(0..15)@/103f"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", "kind::i8@/110a ", shifted!(), " : mb, mb, #64, mb, #32, s, s ! only `.kind::f16` and `.kind::tf32` scale their accumulator"),
    concat!("tcgen05.mma@8.6/100f sp ", groups!(), " ", sparse_scaled_kinds!(), " ", collector!(), " : mb, #64/mb, #64, mb, #32, mb, mb, s"),
    concat!("tcgen05.mma@8.6/100f ws sp cta_group::1 ", kinds!(), " ", kept!(), " : mb, #64/mb, #64, mb, #32, s {, #64}"),
    concat!("tcgen05.mma@9.4/107f ", groups!(), " kind::f8f6f4 decompress::lut::b ", collector!(), " : mb, #64/mb, #64, mb, #32 {, vl}, s"),
    concat!("tcgen05.mma@9.4/107f ", groups!(), " block_scale <kind::mxf8f6f4, kind::mxf8f6f4+scale_vec::1X@/100a, kind::mxf8f6f4+block32> decompress::lut::b ", collector!(), " : mb, #64/mb, #64, mb, #32, mb, mb, s"),
    concat!("tcgen05.cp@8.6/100f ", groups!(), " <128x256b, 4x256b, 128x128b, 64x128b+(warpx2::02_13/warpx2::01_23), 32x128b+warpx4> {b8x16+(b6x16_p32/b4x16_p64)} : mc, #64"),
    concat!("tcgen05.ld@8.6/100f sync aligned ", tensor_shapes!(), " {pack::16b} b32 : v*, ma"),
    concat!("tcgen05.ld@8.6/100f sync aligned 16x32bx2 ", repeated!(), " {pack::16b} b32 : v*, ma, i"),
    "tcgen05.ld@8.8/101f red sync aligned 32x32b <x2, x4, x8, x16, x32, x64, x128> <min, max> <u32, s32> : v*, w32, ma",
    "tcgen05.ld@8.8/101f red sync aligned 16x32bx2 <x2, x4, x8, x16, x32, x64, x128> <min, max> <u32, s32> : v*, w32, ma, i",
    "tcgen05.ld@8.8/101f red sync aligned 32x32b <x2, x4, x8, x16, x32, x64, x128> <min, max> {abs} {NaN} f32 : v*, w32, ma",
    "tcgen05.ld@8.8/101f red sync aligned 16x32bx2 <x2, x4, x8, x16, x32, x64, x128> <min, max> {abs} {NaN} f32 : v*, w32, ma, i",
    "tcgen05.ld@9.4/107a spcompress sync aligned 32x32b <x4, x8, x16, x32, x64, x128> <min, max> sp::2:4 {abs} f32 b2 : vm, vh, ma",
    "tcgen05.ld@9.4/107a red spcompress sync aligned 32x32b <x4, x8, x16, x32, x64, x128> <min, max> sp::2:4 {abs} {NaN} f32 b2 : vm, vh, w32, ma",
    concat!("tcgen05.st@8.6/100f sync aligned ", tensor_shapes!(), " {unpack::16b} b32 : ma, v*"),
    concat!("tcgen05.st@8.6/100f sync aligned 16x32bx2 ", repeated!(), " {unpack::16b} b32 : ma, i, v*"),
    "tcgen05.alloc@8.6/100f <cta_group::1, cta_group::2> sync aligned {shared::cta} b32 : mw, #32(32,64,128,256,512)",
    "tcgen05.alloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned {shared::cta} b32 : mw, #32(32..512,*32)",
    "tcgen05.alloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned {shared::cta} b32 : mw, i(544..,*32) ! an allocation has 512 columns at most",
    "tcgen05.dealloc@8.6/100f <cta_group::1, cta_group::2> sync aligned b32 : #32, #32(32,64,128,256,512)",
    "tcgen05.dealloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned b32 : #32, #32(32..512,*32)",
    "tcgen05.dealloc@9.4/100f <cta_group::1, cta_group::2> exclusive sync aligned b32 : #32, i(544..,*32) ! an allocation has 512 columns at most",
    "tcgen05.relinquish_alloc_permit@8.6/100f <cta_group::1, cta_group::2> sync aligned :",
    concat!("tcgen05.commit@8.6/100f <cta_group::1, cta_group::2> mbarrier::arrive::one {sync_restrict::shared::read::mma::a@9.4/107f} [sync_restrict::shared::cta, sync_restrict::shared::cluster] {shared::cluster} ", multicast!(), " b64 : mw (multicast: #16(0..65535))"),
    concat!("tcgen05.commit@8.6/100f <cta_group::1, cta_group::2> mbarrier::arrive::one {sync_restrict::shared::read::mma::a@9.4/107f} [sync_restrict::shared::cta, sync_restrict::shared::cluster] {shared::cluster} ", wide_multicast!(), " b64 : mw, #32"),
    "tcgen05.shift@8.6/100a <cta_group::1, cta_group::2> down : mc",
    "tcgen05.fence::before_thread_sync@8.6/100f :",
    "tcgen05.fence::after_thread_sync@8.6/100f :",
    "tcgen05.wait::ld@8.6/100f sync aligned :",
    "tcgen05.wait::st@8.6/100f sync aligned :",
];
