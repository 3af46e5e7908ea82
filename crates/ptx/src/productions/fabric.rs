//! The productions of the fabric: copies from and to the memory of other devices.

/// How a copy from the fabric is complete.
macro_rules! fetched {
    () => {
        "mbarrier::complete_tx::bytes mbarrier::report::fabric"
    };
}

/// How a copy to the fabric is complete.
macro_rules! sent {
    () => {
        "mbarrier::complete_tx::16B mbarrier::report::fabric"
    };
}

/// An order that has a default for ptxas.
macro_rules! default_order {
    () => {
        "{sys}"
    };
}

/// Where an order is left out.
macro_rules! ordered {
    () => {
        " ! the syntax lines have `.relaxed.sys`"
    };
}

/// A number of bytes, which is a multiple of 16.
macro_rules! bytes {
    () => {
        "#32(*16)"
    };
}

/// The note on a size that is not a multiple of 16.
macro_rules! odd {
    () => {
        " ! the behaviour is undefined if the size is not a multiple of 16"
    };
}

/// Targets without a fabric.
macro_rules! trap {
    () => {
        " !trap@/120 this target has no fabric: the instruction that ptxas emits is `BPT.TRAP`"
    };
}

/// What a reduction does with elements of which type.
macro_rules! reductions {
    () => {
        "<(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64/f16/bf16), add+(u32/u64/f16/bf16/f32/f64)>"
    };
}

/// The same where the elements of all devices are read.
macro_rules! pulled {
    () => {
        "<(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64/f16/bf16), (min/max)+(e4m3/e5m2)@/100f|120f, add+(u32/u64/f16/bf16/f32), add+acc::f16+(e4m3/e5m2)@/100f|120f, add+acc::f32+(f16/bf16)@/100f|120f>"
    };
}

/// The same where the document does not have the type.
macro_rules! undocumented {
    () => {
        "<add+acc::f32+(e4m3/e5m2)@/100f|120f>"
    };
}

/// What an atomic operation does with elements of which type.
macro_rules! atomics {
    () => {
        "<(and/or/xor)+(b32/b64), (min/max)+(u32/s32/u64/s64/f16x2/bf16x2), add+(u32/u64/f32/f64/f16x2/bf16x2), (exch/cas)+(b32/b64/b128)>"
    };
}

/// A mask of all lanes.
macro_rules! lanes {
    () => {
        "i(-1,4294967295)"
    };
}

#[rustfmt::skip]
pub(super) const PRODUCTIONS: &[&str] = &[
    concat!("fabric.try_get.async@9.3/100 shared::cta ", fetched!(), " relaxed+sys b128 [L2::cache_hint] : ms, h, ", bytes!(), ", ms (L2::cache_hint: #64)", trap!()),
    concat!("fabric.try_get.async@9.3/100 shared::cta ", fetched!(), " relaxed+sys b128 [L2::cache_hint] : ms, h, i, ms (L2::cache_hint: #64)", odd!(), trap!()),
    concat!("fabric.try_get.async@9.3/100 shared::cta ", fetched!(), " ", default_order!(), " b128 [L2::cache_hint] : ms, h, #32, ms (L2::cache_hint: #64)", ordered!(), trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " relaxed+sys b128 {cp_mask} [L2::cache_hint] : h, ms, ", bytes!(), ", ms (cp_mask: #16) (L2::cache_hint: #64)", trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " relaxed+sys b128 {cp_mask} [L2::cache_hint] : h, ms, i, ms (cp_mask: #16) (L2::cache_hint: #64)", odd!(), trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " ", default_order!(), " b128 {cp_mask} [L2::cache_hint] : h, ms, #32, ms (cp_mask: #16) (L2::cache_hint: #64)", ordered!(), trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes relaxed+sys b128 [L2::cache_hint] : hc, ms, ", bytes!(), ", ms (L2::cache_hint: #64)", trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes relaxed+sys b128 [L2::cache_hint] : hc, ms, i, ms (L2::cache_hint: #64)", odd!(), trap!()),
    concat!("fabric.try_put.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes ", default_order!(), " b128 [L2::cache_hint] : hc, ms, #32, ms (L2::cache_hint: #64)", ordered!(), trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " relaxed+sys ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : h, ms, ", bytes!(), ", ms (L2::cache_hint: #64)", trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " relaxed+sys ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : h, ms, i, ms (L2::cache_hint: #64)", odd!(), trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " ", default_order!(), " ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : h, ms, #32, ms (L2::cache_hint: #64)", ordered!(), trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes relaxed+sys ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : hc, ms, ", bytes!(), ", ms (L2::cache_hint: #64)", trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes relaxed+sys ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : hc, ms, i, ms (L2::cache_hint: #64)", odd!(), trap!()),
    concat!("fabric.try_red.async@9.3/100 {multimem} shared::cta ", sent!(), " counted::bytes ", default_order!(), " ", reductions!(), " [acc::f16, acc::f32] [L2::cache_hint] : hc, ms, #32, ms (L2::cache_hint: #64)", ordered!(), trap!()),
    concat!("fabric.try_pullred.async@9.3/100 multimem shared::cta ", fetched!(), " relaxed+sys ", pulled!(), " sync : ms, h, ", bytes!(), ", ms, ", lanes!(), trap!()),
    concat!("fabric.try_pullred.async@9.3/100 multimem shared::cta ", fetched!(), " relaxed+sys ", undocumented!(), " sync : ms, h, #32, ms, ", lanes!(), " ! `.acc::f32` is for `.f16` and `.bf16`", trap!()),
    concat!("fabric.try_pullred.async@9.3/100 multimem shared::cta ", fetched!(), " relaxed+sys ", pulled!(), " sync : ms, h, i, ms, ", lanes!(), odd!(), trap!()),
    concat!("fabric.try_pullred.async@9.3/100 multimem shared::cta ", fetched!(), " ", default_order!(), " ", pulled!(), " sync : ms, h, #32, ms, ", lanes!(), ordered!(), trap!()),
    concat!("fabric.try_atom.async@9.4/100 shared::cta ", sent!(), " relaxed+sys ", atomics!(), " [acc::f16, acc::f32] [L2::cache_hint] : h, ms, ms, ms (L2::cache_hint: #64)", trap!()),
    // What copies of tensors look like was not measured.
    concat!("fabric.try_get.async.tensor@9.3/100 ... : ...", trap!()),
    concat!("fabric.try_put.async.tensor@9.3/100 ... : ...", trap!()),
    concat!("fabric.try_red.async.tensor@9.3/100 ... : ...", trap!()),
    "fabric.submit@9.3/100 {op_restrict::fetching} :",
    "fabric.submit.commit_group@9.5/100 :",
    "fabric.wait@9.5/100 sync_restrict::read : i",
    "fabric.wait@9.3/100 sync_restrict::reads : !deprecated@9.5 write `fabric.wait.sync_restrict::read 0`",
    "fabric.wait@9.3/100 sync_restrict::reads : i ! `.sync_restrict::reads` has no number of groups !deprecated@9.5 write `fabric.wait.sync_restrict::read`",
];
