//! Copies of tensors whose tensormaps a launch gives: `causeway verify`.

use verify::file;
use verify::{FindingKind, LaunchArgument, LaunchQuestion, LaunchSpec, Verification, VerifyError};

use crate::launches::{judged, kernel, kinds, launch};

/// A tile of 4 x 2 elements is loaded, and the element `[1][1]` stored. `map`: how the address of the map comes to `%rd2`; `y`: the
/// row of each CTA.
fn loading(map: &str, x: &str, y: &str) -> String {
    let body = format!(
        ".shared .align 128 .b8 tile[32]; .shared .align 8 .b64 bar;\n{map}\nld.param.u64 %rd3, [out]; mov.u32 %r1, tile; mov.u32 %r2, bar;\n\
         mov.u32 %r5, %ctaid.x; {x} {y}\n\
         mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [%r2], 32;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {{%r7, %r6}}], [%r2];\n\
         $L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra $L; ld.shared.u32 %r8, [%r1+20];\n\
         mul.wide.u32 %rd6, %r5, 4; add.s64 %rd7, %rd3, %rd6; st.global.u32 [%rd7], %r8; ret;"
    );
    let wide = ".param .align 64 .b8 map[128]";
    kernel(&["map", "out"], &body)
        .replace(".param .u64 map", if map.starts_with("ld") { ".param .u64 map" } else { wide })
}

const BY_VALUE: &str = "mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1;";
const ROW_OF_CTA: &str = "shl.b32 %r6, %r5, 1;";
const FIRST: &str = "mov.u32 %r7, 0;";
const BUFFER: &str = "a=u32[16]={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}";

fn of(module: &str, tensor: &str, asserted: &str) -> Verification {
    let map = format!("map=tensor({tensor})");
    let launch = launch(2, 1, &[BUFFER, &map, "out=u32[2]"], &[asserted]);
    judged(module, &launch).expect("it is judged")
}

#[test]
fn a_tile_is_loaded_from_its_coordinates() {
    for map in [BY_VALUE, "ld.param.u64 %rd1, [map]; cvta.to.global.u64 %rd2, %rd1;"] {
        let module = loading(map, FIRST, ROW_OF_CTA);
        let right = of(&module, "@a, u32, 4x4, box 4x2", "out[0]==6 && out[1]==14");
        assert_eq!((kinds(&right), right.undecided), (vec![], vec![]));
    }
    let module = loading(BY_VALUE, FIRST, ROW_OF_CTA);
    for (tensor, values) in [
        // Behind the tensor there are zeros.
        ("@a, u32, 4x3, box 4x2", [6, 0]),
        // It begins at another row, and has gaps.
        ("@a+16, u32, 4x3, box 4x2", [10, 0]),
        ("@a, u32, 4x2, box 4x2, strides 32", [10, 0]),
    ] {
        let asserted = format!("out[0]=={} && out[1]=={}", values[0], values[1]);
        let found = of(&module, tensor, &asserted);
        assert_eq!((kinds(&found), found.undecided), (vec![], vec![]), "{tensor}");
        let asserted = format!("out[0]=={} && out[1]!={}", values[0], values[1]);
        assert_eq!(kinds(&of(&module, tensor, &asserted)), [FindingKind::Assert], "{tensor}");
    }
    // Another tile has other bytes than the kernel expects.
    assert_eq!(kinds(&of(&module, "@a, u32, 4x4, box 4x1", "true")), [FindingKind::Hang]);
}

#[test]
fn a_tile_may_begin_before_the_tensor_and_end_behind_its_rows() {
    let up = loading(BY_VALUE, FIRST, "sub.u32 %r6, %r5, 1;");
    let found = of(&up, "@a, u32, 4x4, box 4x2", "out[0]==2 && out[1]==6");
    assert_eq!((kinds(&found), found.undecided), (vec![], vec![]));
    // Rows of 8, of which a tile has 4: the second half, and what is behind it.
    let right = |x: &str| loading(BY_VALUE, x, "mov.u32 %r6, 0;");
    let found =
        of(&right("shl.b32 %r7, %r5, 2;"), "@a, u32, 8x2, box 4x2", "out[0]==10 && out[1]==14");
    assert_eq!((kinds(&found), found.undecided), (vec![], vec![]));
    let found = of(&right("mov.u32 %r7, 8;"), "@a, u32, 8x2, box 4x2", "out[0]==0 && out[1]==0");
    assert_eq!((kinds(&found), found.undecided), (vec![], vec![]));
    // What begins between is not followed.
    for (x, tensor) in
        [("mov.u32 %r7, 1;", "@a, u32, 8x2, box 4x2"), ("mov.u32 %r7, 2;", "@a, u32, 4x4, box 8x1")]
    {
        let found = of(&right(x), tensor, "out[0]==0");
        assert_eq!(kinds(&found), [], "{found:?}");
        assert!(
            found.undecided[0].why.starts_with("a tile of a tensor begins at no multiple"),
            "{found:?}"
        );
    }
}

/// A tile is stored, with or without the fence of the async proxy.
fn storing(fence: &str, copy: &str, y: u32) -> String {
    let body = format!(
        ".shared .align 128 .b8 tile[32];\n{BY_VALUE}\nmov.u32 %r1, tile; mov.u32 %r6, {y};\n\
         st.shared.u32 [%r1+4], 7; st.shared.u32 [%r1+16], 8; {fence}\n\
         {copy} [%rd2, {{0, %r6}}], [%r1]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"
    );
    kernel(&["map"], &body).replace(".param .u64 map", ".param .align 64 .b8 map[128]")
}

#[test]
fn a_tile_is_stored_within_its_tensor() {
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";
    let of = |fence: &str, copy: &str, y: u32, asserted: &str| {
        let map = "map=tensor(@a, u32, 4x4, box 4x2)";
        // The tile is not written as a whole.
        let mut launch = launch(1, 1, &[BUFFER, map], &[asserted]);
        launch.questions.remove(&LaunchQuestion::Uninitialised);
        let found = judged(&storing(fence, copy, y), &launch).expect("it is judged");
        assert_eq!(found.undecided, []);
        kinds(&found)
    };
    let fence = "fence.proxy.async;";
    assert_eq!(of(fence, store, 0, "a[1]==7 && a[4]==8 && a[8]==9"), []);
    assert_eq!(of(fence, store, 3, "a[13]==7 && a[4]==5"), []);
    assert_eq!(of(fence, store, 4, "a[13]==14 && a[4]==5"), []);
    assert_eq!(of("", store, 0, "true"), [FindingKind::DataRace]);
    let add = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group";
    assert_eq!(of(fence, add, 1, "a[5]==13 && a[8]==17"), []);
}

#[test]
fn what_is_not_followed_of_a_tensormap_is_refused_with_its_line() {
    let refused =
        |module: &str, arguments: &[&str]| match judged(module, &launch(1, 1, arguments, &[])) {
            Err(VerifyError::Launch(mut errors)) => errors.remove(0),
            other => panic!("{other:?}"),
        };
    let (map, out) = ("map=tensor(@a, u32, 4x4, box 4x2)", "out=u32[2]");
    let module = loading(BY_VALUE, FIRST, ROW_OF_CTA);
    for (from, to, why) in [
        (".tile.", ".im2col.", "`.im2col` is not supported"),
        ("tensor.2d", "tensor.3d", "has 2 dimensions"),
        ("add.s64 %rd7", "ld.u32 %r9, [%rd2]; add.s64 %rd7", "in another instruction than a copy"),
        ("add.s64 %rd7", "st.u64 [%rd2], 0; add.s64 %rd7", "a change of a tensormap"),
        ("[%rd2, {", "[%rd3, {", "none of the arguments of the launch"),
    ] {
        let changed = module.replace(from, to).replace("3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r7, %r6}]", "3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r7, %r6, %r6}]");
        let changed = changed.replace(
            "{%r7, %r6}], [%r2];",
            if to == ".im2col." { "{%r7, %r6}], [%r2], {%r9};" } else { "{%r7, %r6}], [%r2];" },
        );
        let error = refused(&changed, &[BUFFER, map, out]);
        assert!(error.message.contains(why), "{to}: {error:?}");
        assert!(error.line.is_some() && error.help.is_some(), "{to}: {error:?}");
    }
    let narrow = kernel(&["map"], "ret;").replace(".param .u64 map", ".param .u32 map");
    assert!(refused(&narrow, &[BUFFER, map]).message.contains("a tensormap of 128 bytes"));
    let large = refused(&module, &[BUFFER, "map=tensor(@a, u32, 4x5, box 4x2)", out]);
    assert_eq!(large.message, "the tensor of `map` ends at byte 80 of `a`, which has 64");
    for wrong in [
        "tensor(@a, u32, 4x4)",
        "tensor(a, u32, 4x4, box 4x2)",
        "tensor(@a, u7, 4x4, box 4x2)",
        "tensor(@a, u32, 4x4, box 4)",
        "tensor(@a, u32, 4x4, box 0x2)",
        "tensor(@a+4, u32, 4x4, box 4x2)",
        "tensor(@a, u32, 4x4, box 2x2)",
        "tensor(@a, u32, 4x4, box 4x2, swizzle 128B)",
        "tensor(@a, u32, 4x4, box 4x2, strides 8)",
        "tensor(@a, u32, 4x4, box 4x2",
    ] {
        let error = LaunchArgument::parse(&format!("map={wrong}")).expect_err(wrong);
        assert!(error.help.is_some(), "{wrong}: {error:?}");
    }
}

#[test]
fn a_launch_file_has_tensormaps() {
    let text = |keys: &str| {
        format!(
            "ptx = \"k.ptx\"\n[launch]\ngrid = 2\nblock = 1\n[[arg]]\nname = \"a\"\ntype = \"u32[16]\"\ninit = [0, 0, 0, 0, 0, 5]\n\
             [[arg]]\nname = \"map\"\n{keys}\n[[arg]]\nname = \"out\"\ntype = \"u32[2]\"\n[[assert]]\nfinal = \"out[0]==5\"\n"
        )
    };
    let keys =
        "type = \"tensormap\"\nbase = \"@a\"\nelement = \"u32\"\nextents = [4, 4]\nbox = [4, 2]";
    let launch: LaunchSpec = file::read("launch.toml", &text(keys)).expect("it is read").launch;
    let found = judged(&loading(BY_VALUE, FIRST, ROW_OF_CTA), &launch).expect("it is judged");
    assert_eq!((kinds(&found), found.undecided), (vec![], vec![]));
    for (wrong, why) in [
        (keys.replace("box = [4, 2]", ""), "has 2 dimensions, and its tile 0"),
        (keys.replace("tensormap", "u32"), "`map` has a tensor, and is no tensormap"),
    ] {
        let error = file::read("launch.toml", &text(&wrong)).expect_err("it is wrong").remove(0);
        assert!(error.message.contains(why) && error.help.is_some(), "{error}");
    }
}
