//! Instructions of PTX 9.4 that a comparison with ptxas 13.5 found, by what they have in common: those that ptxas takes,
//! those that it refuses, and those that it takes and the document does not have.

use ptx::LintOptions;
use text::diagnostic::Severity;

const DECLARED: &str = ".global .align 128 .b8 gbl[4096]; .const .align 128 .b8 cst[64];\n\
    .visible .entry k(.param .u64 prm) {\n\
    .reg .pred p<9>; .reg .b16 h<20>; .reg .f16 hf<3>; .reg .b32 r<40>; .reg .f32 f<40>; .reg .b64 d<9>;\n\
    .reg .f64 g<3>; .reg .u32 u<3>; .reg .b8 c<3>; .reg .v4 .b32 v4; .reg .v4 .f32 v4f;\n\
    .shared .align 128 .b8 shm[4096]; .shared .align 8 .b64 bar; .local .align 16 .b8 loc[64];\n";

/// The codes of what is said of an instruction, and how bad it is.
fn said(isa: &str, target: &str, instruction: &str) -> Vec<(&'static str, Severity)> {
    let text = format!(
        ".version {isa}\n.target {target}\n.address_size 64\n{DECLARED}{instruction};\nret; }}\n"
    );
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    linted.diagnostics.iter().map(|one| (one.code, one.severity)).collect()
}

/// Neither refuses these.
fn legal(isa: &str, target: &str, instructions: &[&str]) {
    for instruction in instructions {
        assert_eq!(said(isa, target, instruction), [], "{isa} {target} {instruction}");
    }
}

/// Each is an error with this code.
fn refused(isa: &str, target: &str, instructions: &[(&str, &str)]) {
    for (instruction, code) in instructions {
        let said = said(isa, target, instruction);
        let found = said.iter().any(|(of, severity)| of == code && *severity == Severity::Error);
        assert!(found, "{isa} {target} {instruction}: {said:?}");
    }
}

/// ptxas takes these, and the document does not have them.
fn warned(isa: &str, target: &str, instructions: &[(&str, &str)]) {
    for (instruction, code) in instructions {
        let expected = [(*code, Severity::Warning)];
        assert_eq!(said(isa, target, instruction), expected, "{isa} {target} {instruction}");
    }
}

#[test]
fn sm_107_has_masks_of_32_bits_and_reports() {
    let all = [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::32b [r1], [d1], r2, [r5], r7",
        "cp.async.bulk.relaxed.gpu.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::32b.L2::cache_hint.b128 [r1], [d1], r2, [r5], 3, d5",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::8000 [r1], [d1], r2, [r5]",
        "cp.async.bulk.weak.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::disabled.ignore_oob [r1], [d1], r2, r3, r4, [r5]",
        "cp.async.bulk.prefetch.L2.global.L2::evict_last [d1], r1",
        "cp.async.bulk.prefetch.tensor.1d.L2.global.L2::evict_last [d1, {r1}]",
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_element::ff [r1], [d1, {r2}], [bar]",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster::32b [r1], [d1, {r1,r2,r3}], [bar], {h1}, r7",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs::w.bulk_group [d1, {r1,r2,r3}], [r1]",
        "mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [r1], 0xa",
        "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 _, [r1], r2, r3",
        "mbarrier.expect_tx.relaxed.cta.shared::cluster.multicast::cluster::32b.b64 [r1], 512, 0x3",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a.shared::cluster.multicast::cluster::32b.b64 [r1], r7",
        "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse.collector::b::discard [r1], [r2], d3, r4, p1",
        "tcgen05.mma.cta_group::1.kind::f8f6f4.decompress::lut::b [r1], d2, d3, [r6], r4, p1",
        "applypriority.async.bulk.global.bulk_group.L2::evict_normal [d1], 128",
        "applypriority.async.bulk.tensor.2d.bulk_group.tile::gather4.L2::evict_normal [d1, {r1, r2, r3, r4, r5}]",
    ];
    legal("9.4", "sm_107f", &all);
    legal("9.4", "sm_107a", &all);
    for instruction in all {
        let said = said("9.4", "sm_107", instruction);
        assert!(
            said.iter().any(|(code, _)| *code == "production-target"),
            "{instruction}: {said:?}"
        );
    }
    refused(
        "9.4",
        "sm_107f",
        &[
            (
                "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::8.ignore_oob [r1], [d1], r2, r3, r4, [r5]",
                "production-modifier",
            ),
            (
                "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::enabled [r1], [d1], r2, [r5]",
                "production-modifier",
            ),
            (
                "tcgen05.mma.cta_group::1.kind::f16.decompress::lut::b [r1], d2, d3, [r6], r4, p1",
                "production-modifier",
            ),
            (
                "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [r1], [r2], d3, r4, p1",
                "production-modifier",
            ),
        ],
    );
}

#[test]
fn parts_of_a_tensor_map_are_overridden_in_brackets() {
    legal(
        "9.4",
        "sm_107f",
        &[
            "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address [r1], [d1, d4, {r10}], [bar]",
            "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address.override::global_dim [r1], [d1, d4, {h10}, {r10}], [bar]",
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.override::global_address.override::global_dim_stride [d1, d4, {h9,h10}, {r20}, h19, {r10,r11}], [r1]",
            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group.override::global_address [d1, d4, {r10}], [r1]",
            "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4.override::global_address [d1, d4, {r1,r2,r3,r4,r5}]",
        ],
    );
    refused(
        "9.4",
        "sm_107f",
        &[
            (
                "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address [r1], [d1, {r10}], [bar]",
                "production-operand",
            ),
            (
                "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1, d4, {r10}], [bar]",
                "production-operand",
            ),
            (
                "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address.override::global_dim [r1], [d1, d4, {h9,h10}, {r10,r11}], [bar]",
                "production-modifier",
            ),
            (
                "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.override::global_dim [d1, {h9}, {r11}], [r1]",
                "production-modifier",
            ),
        ],
    );
    refused(
        "9.4",
        "sm_100f",
        &[(
            "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address [r1], [d1, d4, {r10}], [bar]",
            "production-target",
        )],
    );
}

#[test]
fn sparse_loads_of_tensor_memory_are_read() {
    let load =
        "tcgen05.ld.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.f32.b2 {r9}, {r0,r1}, [r2]";
    let reduce = "tcgen05.ld.red.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.abs.NaN.f32.b2 {r9}, {r0,r1}, r8, [r2]";
    legal("9.4", "sm_107a", &[load, reduce]);
    refused(
        "9.4",
        "sm_107a",
        &[
            (&load.replace(".x4", ".x8"), "production-registers"),
            (&load.replace(".sp::2:4", ""), "production-missing"),
            (&load.replace(".min", ".min.NaN"), "production-modifier"),
            (&load.replace(".x4", ".x2"), "production-missing"),
        ],
    );
    refused("9.4", "sm_107f", &[(load, "production-target")]);
}

#[test]
fn single_floats_are_added_without_flushing_from_9_4_on() {
    let all = [
        "atom.global.add.noftz.f32 f1, [d1], f2",
        "red.shared.add.noftz.f32 [r1], f2",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32 [d1], [r2], r3",
        "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32 [d1], [r2], r3",
    ];
    legal("9.4", "sm_90", &all);
    refused(
        "9.3",
        "sm_90",
        &[
            (all[0], "isa-atom-noftz"),
            (all[1], "isa-red-noftz"),
            (all[2], "production-isa"),
            (all[3], "production-isa"),
        ],
    );
    refused("9.4", "sm_89", &[(all[0], "target-atom-noftz"), (all[1], "target-red-noftz")]);
    refused(
        "9.4",
        "sm_90",
        &[
            ("atom.global.add.noftz.f64 g1, [d1], g2", "atom-noftz"),
            ("red.global.add.noftz.u32 [d1], r2", "red-noftz"),
            (
                "cp.reduce.async.bulk.weak.global.shared::cta.bulk_group.add.u32 [d1], [r2], r3",
                "production-modifier",
            ),
        ],
    );
}

#[test]
fn a_load_through_the_read_only_proxy_has_its_own_border() {
    let vector = "ld.proxy::readonly.L2::evict_first.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8}, [d1]";
    legal("9.4", "sm_100", &[vector]);
    let coherent = "ld.proxy::readonly.global.nc.b32 r1, [gbl]";
    legal("9.4", "sm_90", &[coherent]);
    refused("9.3", "sm_90", &[(coherent, "isa-nc-readonly")]);
    refused("9.4", "sm_75", &[(coherent, "target-nc-readonly")]);
    refused(
        "9.4",
        "sm_100",
        &[
            (".reg .b128 q1; ld.proxy::readonly.global.b128 q1, [gbl]", "ld-readonly-b128"),
            ("ld.proxy::readonly.L1::evict_last.b32 r1, [d1]", "ld-readonly"),
        ],
    );
}

#[test]
fn a_store_to_a_multimem_address_may_be_asynchronous() {
    let all = [
        "multimem.st.async.release.gpu.global.b32 [d1], r1",
        "multimem.st.async.release.sys.f64 [d1], g1",
        "multimem.st.async.release.gpu.b8 [d1], c1",
    ];
    legal("9.3", "sm_100", &all);
    refused("9.2", "sm_100", &[(all[0], "production-isa")]);
    refused("9.3", "sm_90", &[(all[0], "production-target")]);
    refused(
        "9.4",
        "sm_100",
        &[
            ("multimem.st.async.relaxed.gpu.b32 [d1], r1", "production-modifier"),
            ("multimem.st.async.release.gpu.u32 [d1], f1", "production-operand"),
        ],
    );
}

#[test]
fn votes_and_shuffles_without_sync_are_for_old_versions_or_targets() {
    let all = ["shfl.up.b32 r1|p1, r2, r3, r4", "vote.all.pred p1, !p2", "vote.ballot.b32 r1, p2"];
    for (isa, target) in [("6.3", "sm_75"), ("6.0", "sm_70"), ("9.4", "sm_62")] {
        legal(isa, target, &all);
    }
    for (isa, target) in [("6.4", "sm_75"), ("9.4", "sm_90")] {
        refused(isa, target, &all.map(|one| (one, "production-target")));
    }
    legal(
        "9.4",
        "sm_90",
        &[
            "shfl.sync.idx.b32 f1, f2, r3, 0x1f, -1",
            "vote.sync.any.pred p1, 1, 5",
            "match.all.sync.b64 r2|p1, d3, r4",
            "activemask.b32 r1",
            "elect.sync _|p1, 0xff",
        ],
    );
    refused(
        "9.4",
        "sm_90",
        &[
            ("shfl.sync.idx.b32 r1, r2, r3, r4", "production-operands"),
            ("shfl.sync.idx.b64 d1, d2, r3, r4, r5", "production-modifier"),
            ("shfl.sync.idx.b32 _|p1, r2, r3, r4, r5", "production-operand"),
            ("vote.sync.ballot.b32 r1, p1, f1", "production-operand"),
            ("match.any.sync.b32 r2|p1, r3, 5", "production-operand"),
            ("elect.sync r1|_, 5", "production-operand"),
            ("elect.sync f1|p1, 5", "production-operand"),
            ("activemask.b32 d1", "production-operand"),
        ],
    );
    refused("5.0", "sm_60", &[("shfl.sync.idx.b32 r1, r2, r3, r4, r5", "production-isa")]);
    refused("6.1", "sm_70", &[("activemask.b32 r1", "production-isa")]);
}

#[test]
fn masks_and_new_values_may_be_numbers() {
    legal(
        "9.4",
        "sm_100a",
        &[
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r1], [d1], 16, [bar], 3",
            "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [d1], [r2], 16, 3",
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r1], [d1, {r1,r2}], [bar], 3",
            "tensormap.replace.tile.global_address.b1024.b64 [d1], 0x1000",
            "tensormap.replace.tile.global_stride.global.b1024.b64 [d1], 0, 5",
            "mbarrier.pending_count.b64 r1, 5",
            "cp.async.ca.shared.global [r1], [d1], 4, !p1",
            "redux.sync.min.f32 f1, 0f3f800000, r1",
            "cp.async.bulk.relaxed.cluster.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob.b128 [r1], [d1], r2, r3, r4, [r5]",
        ],
    );
    refused(
        "9.4",
        "sm_100a",
        &[
            (
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [d1], [r2], 16, 65536",
                "production-value",
            ),
            (
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [d1], [r2], 16, hf1",
                "production-operand",
            ),
        ],
    );
}

#[test]
fn what_ptxas_takes_beyond_the_document_is_a_warning() {
    let document = |instruction| (instruction, "production-document");
    warned(
        "9.4",
        "sm_100a",
        &[
            document("mapa.s32 r1, r2, r3"),
            document("getctarank.s64 r1, d2"),
            document("st.async.shared::cta.b32 [r1], r2"),
            document("st.async.shared.mbarrier::complete_tx::bytes.b32 [r1], r2, [r3]"),
            document(
                "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [r1], d5, [r2]",
            ),
            document(
                "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [d1, {r1,r2,r3,r4,r5}], [r1]",
            ),
            document("tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [r1], 544"),
            document(
                "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob.b128 [r1], [d1], r2, r3, r4, [r5]",
            ),
            ("fence.proxy.async::generic.acq_rel.sync_restrict::shared::cta.gpu", "fence-document"),
            (
                "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cta",
                "fence-document",
            ),
        ],
    );
    warned(
        "9.4",
        "sm_107f",
        &[document("mbarrier.arrive.multicast::cluster::32b.b64 d2, [d1], r7")],
    );
    warned("7.0", "sm_80", &[document("mbarrier.arrive_drop.shared.b64 _, [r1]")]);
    refused(
        "9.4",
        "sm_90",
        &[
            ("fence.proxy.tensormap::generic.acq_rel.gl", "fence-spelling"),
            (
                "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.gpu",
                "fence-spelling",
            ),
        ],
    );
}

#[test]
fn offsets_of_columns_have_targets_and_lengths() {
    let load = |mode: &str, offsets: &str| {
        format!(
            "cp.async.bulk.tensor.4d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes [r1], [d1, {{r1,r2,r3,r4}}], [bar], {offsets}"
        )
    };
    let own = |mode: &str| load(mode, "{h1,h2}").replace("shared::cluster", "shared::cta");
    legal("8.6", "sm_100a", &[&load("im2col::w", "{h1,h2}"), &own("im2col::w::128")]);
    legal("8.6", "sm_100", &[&own("im2col::w"), &load("im2col", "{h1,2}")]);
    refused(
        "8.6",
        "sm_100",
        &[
            (&load("im2col::w", "{h1,h2}"), "production-target"),
            (&own("im2col::w::128"), "production-target"),
            (&load("im2col", "{h1}"), "production-registers"),
            (&load("im2col", "{r1,r2}"), "production-operand"),
            (&load("im2col", "h1"), "production-operand"),
        ],
    );
    refused("8.5", "sm_90", &[(&own("im2col::w"), "production-isa")]);
}

#[test]
fn an_address_is_in_the_state_space_of_its_operand() {
    legal(
        "9.4",
        "sm_100a",
        &[
            "mbarrier.try_wait.parity.b64 p1, [bar], 1",
            "mbarrier.try_wait.parity.shared.b64 p1, [bar+8], 1",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shm], [gbl+16], 32, [bar]",
            "st.bulk [gbl], 64, 0",
            "mapa.u32 r1, shm, r3",
            "cp.async.bulk.tensor.4d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1, v4], [bar]",
            "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [gbl, {r1,-1}], [bar]",
        ],
    );
    let operand = |instruction| (instruction, "production-operand");
    refused(
        "9.4",
        "sm_100a",
        &[
            operand("mbarrier.try_wait.parity.shared.b64 p1, [gbl], 1"),
            operand("mbarrier.try_wait.parity.b64 p1, [loc], 1"),
            operand("mbarrier.try_wait.parity.b64 p1, [r1], 1"),
            operand("mbarrier.try_wait.parity.shared.b64 p1, [0], 1"),
            operand("mbarrier.try_wait.parity.shared.b64 p1, [f1], 1"),
            operand("cp.async.ca.shared.global [gbl], [d1], 4"),
            operand("cp.async.ca.shared.global [64], [d1], 4"),
            operand("cp.async.ca.shared.global [shm[2]], [gbl], 4"),
            operand(
                "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1], 32, [gbl]",
            ),
            operand("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [gbl], r1, [bar]"),
            operand("st.bulk.shared::cta [gbl], 64, 0"),
            operand("multimem.st.global.b32 [shm], r1"),
            operand("mapa.u32 r1, gbl, 1"),
            operand("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r1}, [5]"),
            operand("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r1}, [d1]"),
            operand(
                "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [prm, {r1,-1}], [bar]",
            ),
            operand(
                "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1+128, {r1,r2}], [bar]",
            ),
            operand(
                "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1, r1], [bar]",
            ),
            operand(
                "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1, {f1,f2}], [bar]",
            ),
            (
                "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d1, v4], [bar]",
                "production-coordinates",
            ),
        ],
    );
}

#[test]
fn registers_are_of_the_kind_that_an_operand_takes() {
    let operand = |instruction| (instruction, "production-operand");
    refused(
        "9.4",
        "sm_100a",
        &[
            operand("mbarrier.init.b64 [d1], f1"),
            operand("mbarrier.init.b64 [d1], %ntid.x"),
            operand("mbarrier.arrive.b64 g1, [d2]"),
            operand("mbarrier.test_wait.phase_type::primary.b64 _|p2, [d1], d3"),
            operand("cp.async.ca.shared.global [r1], [d1], 4, f1"),
            operand("cp.async.ca.shared.global [r1], [d1], 4, %laneid"),
            ("cp.async.cg.shared.global [r1], [d1], 16, WARP_SZ", "production-value"),
            operand("cp.async.bulk.global.shared::cta.bulk_group [d1], [r3], f3"),
            operand("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [r1], d1, [r2]"),
            operand(
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [r1], {r1,_}, [r2]",
            ),
            operand("multimem.st.global.v4.f32 [d1], v4f"),
            operand("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p1, d1"),
            ("st.bulk [d1], 16777224, 0", "production-value"),
            ("st.bulk [d1], -8, 0", "production-value"),
            operand("st.bulk [d1], f3, 0"),
            ("st.bulk [d1], 64, 1", "production-value"),
            operand("redux.sync.add.u32 f1, f2, 0xff"),
        ],
    );
    legal(
        "9.4",
        "sm_100a",
        &[
            "redux.sync.min.f32 r1, f2, 0xff",
            "tcgen05.st.sync.aligned.32x32b.x2.b32 [r2], {r1,2}",
            "st.async.release.gpu.global.f32 [d1], 1.0",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [r1], v4, [r2]",
            "mbarrier.test_wait.phase_type::primary.b64 p1, c1, [d1], d3",
        ],
    );
}

#[test]
fn each_version_has_its_own_forms() {
    refused("7.4", "sm_80", &[("cp.async.ca.shared.global [r2], [d1], 4, p1", "production-isa")]);
    refused(
        "7.3",
        "sm_80",
        &[("cp.async.ca.shared.global.L2::cache_hint [r1], [d1], 4, d2", "production-isa")],
    );
    legal("7.4", "sm_80", &["cp.async.ca.shared.global.L2::cache_hint [r1], [d1], 4, d2"]);
    let mixed = "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {r0,r1,r2,r3}, d1, d2, p1";
    let sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {f0,f1,f2,f3}, d1, d2, r9, 0, p1, 1, 1, 0, 0";
    legal("8.4", "sm_90a", &[mixed, sparse]);
    refused("8.3", "sm_90a", &[(mixed, "production-isa")]);
    refused("8.1", "sm_90a", &[(sparse, "production-isa")]);
    refused("9.4", "sm_90a", &[("wgmma.wait_group.sync.aligned -1", "production-value")]);
}

#[test]
fn fields_of_a_tensor_map_have_ranges() {
    let replace =
        |field: &str, value: u8| format!("tensormap.replace.tile.{field}.b1024.b32 [d1], {value}");
    for (field, last) in
        [("interleave_layout", 2), ("swizzle_mode", 3), ("fill_mode", 1), ("elemtype", 12)]
    {
        legal("8.3", "sm_90a", &[&replace(field, last)]);
        refused("9.4", "sm_90a", &[(&replace(field, last + 1), "production-value")]);
    }
    legal("8.7", "sm_100a", &[&replace("elemtype", 15), &replace("swizzle_atomicity", 3)]);
    refused("8.6", "sm_100a", &[(&replace("elemtype", 13), "production-value")]);
    refused("9.4", "sm_90a", &[(&replace("swizzle_atomicity", 0), "production-target")]);
    legal("8.8", "sm_103a", &[&replace("swizzle_mode", 4)]);
    refused("9.4", "sm_100a", &[(&replace("swizzle_mode", 4), "production-value")]);
}

#[test]
fn names_are_declared_and_special_registers_only_read() {
    refused(
        "9.4",
        "sm_90",
        &[
            ("elect.sync r1|p99, 5", "undeclared"),
            ("mov.u32 r1, %nothing", "undeclared"),
            ("add.u32 r1, r2, %r3", "undeclared"),
            ("mov.u32 %tid.x, r1", "special-register"),
            ("add.u32 %clock, r1, 1", "special-register"),
            ("add.u32 r1, %laneid, 1", "special-register-read"),
            ("setp.eq.u32 p1, r1, %smid", "special-register-read"),
            ("mov.u64 d1, %clock", "special-register-size"),
            ("mov.u32 r1, %clock64", "special-register-size"),
            ("mov.f32 f1, %laneid", "special-register-size"),
        ],
    );
    legal("9.4", "sm_90", &["mov.u32 r1, %tid.x", "mov.u64 d1, gbl", "cvt.u64.u32 d1, %laneid"]);
}

#[test]
fn a_version_has_the_target_of_its_module() {
    for (isa, target) in
        [("7.8", "sm_90"), ("8.0", "sm_90a"), ("8.8", "sm_100f"), ("9.4", "sm_107")]
    {
        legal(isa, target, &["ld.global.b32 r1, [d1]"]);
    }
    for (isa, target) in
        [("7.7", "sm_90"), ("7.8", "sm_90a"), ("8.7", "sm_100f"), ("9.3", "sm_107")]
    {
        refused(isa, target, &[("ld.global.b32 r1, [d1]", "target-version")]);
    }
    let text = ".version 7.0\n.target sm_90\n.address_size 64\n";
    let fixed = ptx::fix("m.ptx", text.as_bytes(), LintOptions::default(), ptx::FixChoice::All);
    assert_eq!(fixed.text.as_deref(), Some(".version 7.8\n.target sm_90\n.address_size 64\n"));
}
