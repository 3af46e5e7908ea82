//! What no GPU launches, and what a module says of its launches: `causeway verify`.

use verify::file;
use verify::{
    Dim3, FindingKind, KernelLaunch, KernelModule, LaunchError, LaunchQuestion, LaunchSpec,
    ThreadChoice, VerifyError, required_block,
};

use crate::launches::{judged, kernel, kinds, launch};

/// What is wrong with a launch.
fn refused(module: &str, launch: &LaunchSpec) -> Vec<LaunchError> {
    match judged(module, launch) {
        Err(VerifyError::Launch(errors)) => errors,
        other => panic!("{other:?}"),
    }
}

fn with_directives(directives: &str, body: &str) -> String {
    kernel(&["a"], body).replace("a)\n{", &format!("a)\n{directives}\n{{"))
}

fn clustered(grid: u32, cluster: Option<u32>) -> LaunchSpec {
    let cluster = cluster.map(|x| Dim3 { x, ..Dim3::ONE });
    LaunchSpec { cluster, ..launch(grid, 1, &["a=u32[2]=0"], &["a[0]==2"]) }
}

#[test]
fn a_kernel_says_how_large_its_clusters_are() {
    let body = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %cluster_nctarank;\n\
                st.relaxed.gpu.global.u32 [%rd1], %r1; ret;";
    let module = with_directives(".explicitcluster\n.reqnctapercluster 2, 1, 1", body);
    for cluster in [None, Some(2)] {
        let found = judged(&module, &clustered(2, cluster)).expect("it is judged");
        assert_eq!(kinds(&found), []);
    }
    for (grid, cluster, wanted) in [
        (4, Some(4), "the kernel has `.reqnctapercluster 2`, and the launch clusters of 4"),
        (3, None, "clusters of 2 do not divide a grid of 3"),
    ] {
        let errors = refused(&module, &clustered(grid, cluster));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!((&errors[0].message[..], errors[0].line), (wanted, Some(6)), "{errors:?}");
        assert!(errors[0].help.is_some(), "{errors:?}");
    }
    let explicit = with_directives(".explicitcluster", body);
    assert!(judged(&explicit, &clustered(2, Some(2))).is_ok());
    let errors = refused(&explicit, &clustered(2, None));
    assert_eq!(errors[0].message, "the kernel has `.explicitcluster`, and the launch no clusters");
    let most = with_directives(".maxclusterrank 2", body);
    assert!(judged(&most, &clustered(4, Some(2))).is_ok());
    let errors = refused(&most, &clustered(4, Some(4)));
    let wanted = "the kernel has `.maxclusterrank 2`, and the launch clusters of 4";
    assert_eq!(errors[0].message, wanted);
}

#[test]
fn a_kernel_says_how_many_threads_it_takes() {
    let of = |directive: &str, block: Dim3| {
        let module = with_directives(directive, "ret;");
        let launch = LaunchSpec { block, ..launch(1, 1, &["a=u32[1]"], &[]) };
        judged(&module, &launch).map(|_| ()).map_err(|error| match error {
            VerifyError::Launch(errors) => errors[0].message.clone(),
            VerifyError::Test(_) => panic!("{error:?}"),
        })
    };
    let flat = |x| Dim3 { x, ..Dim3::ONE };
    assert_eq!(of(".reqntid 32", flat(32)), Ok(()));
    for (directive, block) in
        [(".reqntid 32", "16"), (".reqntid 8, 4", "32"), (".maxntid 8, 2", "5,4")]
    {
        let wanted = format!(
            "the kernel has `{}`, and the launch blocks of {block}",
            directive.replace(", ", ",")
        );
        assert_eq!(of(directive, Dim3::parse(block).expect("a block")), Err(wanted));
    }
    // Only the product counts.
    assert_eq!(of(".maxntid 8, 4", flat(32)), Ok(()));
    assert_eq!(of(".minnctapersm 1 .maxnreg 32", flat(32)), Ok(()));
}

#[test]
fn a_kernel_says_how_large_its_blocks_are() {
    let block = |directive: &str| {
        let text = with_directives(directive, "ret;");
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let kernel = KernelLaunch { name: None, arguments: None };
        required_block(&module, &kernel).expect("there is one kernel")
    };
    assert_eq!(block(".reqntid 8, 4"), Some(Dim3 { x: 8, y: 4, z: 1 }));
    assert_eq!(block(".maxntid 8, 4"), None);
}

#[test]
fn too_many_threads_are_told_with_what_makes_them_fewer() {
    let module = kernel(&["a"], "ret;");
    let help = |grid, block, lanes: &[u32]| {
        let threads = if lanes.is_empty() {
            ThreadChoice::All
        } else {
            ThreadChoice::OfEachCta(lanes.to_vec())
        };
        let launch = LaunchSpec { threads, ..launch(grid, block, &["a=u32[1]"], &[]) };
        refused(&module, &launch)[0].help.clone().unwrap_or_default()
    };
    let lanes = "name the lanes whose memory accesses matter: --lanes 0,1";
    let grid = "judge a smaller grid: --grid 2";
    let warps = "compile the kernel for fewer warps: `num_warps=1` in Triton";
    assert_eq!(help(2, 128, &[]), format!("{lanes}; or {warps}"));
    assert_eq!(help(16, 32, &[]), format!("{lanes}; or {grid}"));
    assert_eq!(help(200, 32, &[0, 1]), grid);
}

/// The lanes of each warp add up a row, and store it without a mask: the rows of two CTAs overlap.
#[test]
fn what_a_cta_lacks_alone_is_found_where_both_are_too_much() {
    let step =
        |by: u32| format!("shfl.sync.bfly.b32 %r4, %r3, {by}, 31, -1; add.u32 %r3, %r3, %r4;");
    let steps = [1, 2, 4, 8, 16].map(step).concat().repeat(2);
    let body = format!(
        "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [x]; mov.u32 %r1, %tid.x; \
         mov.u32 %r2, %ctaid.x; ld.global.u32 %r3, [%rd2]; {steps} \
         mad.lo.u32 %r5, %r2, 20, %r1; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd1, %rd1, %rd3; \
         st.global.u32 [%rd1], %r3; ret;"
    );
    let of = |elements: u32| {
        let rows = format!("a=u32[{elements}]");
        let launch = launch(2, 32, &[&rows, "x=u32[1]=1"], &[]);
        judged(&kernel(&["a", "x"], &body), &launch).expect("it is judged")
    };
    let found = of(40);
    assert_eq!(kinds(&found), [FindingKind::OutOfBounds]);
    let place = found.findings[0].places[0].column.expect("it is one thread");
    assert_eq!(place, 52, "the first lane of the second CTA behind the buffer");
    // There is room for the lanes that have no column, and the race of both CTAs has too many events.
    let open = of(52);
    assert_eq!(kinds(&open), []);
    assert!(!open.undecided.is_empty());
}

#[test]
fn an_argument_fits_its_parameter() {
    let module =
        |ty: &str| kernel(&["a"], "ret;").replace(".param .u64 a", &format!(".param .{ty} a"));
    let of = |ty: &str, argument: &str| {
        let launch = launch(1, 1, &["b=u32[4]", argument], &[]);
        let two = module(ty).replace("k(", "k(.param .u64 b, ");
        judged(&two, &launch).map(|_| ()).map_err(|error| match error {
            VerifyError::Launch(errors) => errors[0].message.clone(),
            VerifyError::Test(_) => panic!("{error:?}"),
        })
    };
    let address = "the argument `a` is an address, and its parameter has 4 bytes";
    let float = "the argument `a` is a float, and its parameter an integer";
    let number = "the argument `a` is a number, and its parameter a pointer";
    let pointer = "u64 .ptr .global .align 4";
    for (ty, argument, wanted) in [
        ("u32", "a=u32[1]", Err(address)),
        ("u32", "a=@b+4", Err(address)),
        ("u64", "a=@b+4", Ok(())),
        ("b64", "a=u32[1]", Ok(())),
        ("u32", "a=1.5", Err(float)),
        ("s32", "a=1.5", Err(float)),
        ("u64", "a=1.5", Err(float)),
        ("b32", "a=1.5", Ok(())),
        ("f32", "a=1.5", Ok(())),
        ("u32", "a=f32=1.5", Ok(())),
        ("u64", "a=5", Ok(())),
        (pointer, "a=5", Err(number)),
        (pointer, "a=0", Ok(())),
        (pointer, "a=u32[1]", Ok(())),
        ("u32", "a=u64=5", Err("the argument `a` is a `u64` of 8 bytes, and its parameter has 4")),
        ("u64", "a=u32=5", Err("the argument `a` is a `u32` of 4 bytes, and its parameter has 8")),
        ("s32", "a=u32=5", Ok(())),
    ] {
        assert_eq!(of(ty, argument), wanted.map_err(str::to_owned), "{ty} {argument}");
    }
}

#[test]
fn a_launch_has_three_directions() {
    for directive in [".reqntid", ".maxntid", ".reqnctapercluster"] {
        let module = with_directives(&format!("{directive} 1, 1, 1, 1"), "ret;");
        let errors = refused(&module, &launch(1, 1, &["a=u32[1]"], &[]));
        let [error] = &errors[..] else { panic!("{errors:?}") };
        assert_eq!(error.message, format!("`{directive}` has three extents at most"));
        assert_eq!((error.line, error.help.is_some()), (Some(5), true), "{error:?}");
    }
}

#[test]
fn a_field_has_the_address_of_a_buffer_without_a_parameter() {
    let module = kernel(
        &["p"],
        "ld.param.u64 %rd1, [p+8]; ld.param.u32 %r1, [p];\n\
                                 st.global.u32 [%rd1], %r1; ret;",
    );
    let module = module.replace(".param .u64 p", ".param .align 8 .b8 p[16]");
    let of = |p: &str| judged(&module, &launch(1, 1, &[p, "a=u32[2]=0"], &["a[1]==2"]));
    assert_eq!(kinds(&of("p={0: 2, 8: @a+4}").expect("it is judged")), []);
    assert!(matches!(of("p={0: 2, 8: 0}"), Err(VerifyError::Launch(_))), "`a` is of no parameter");
}

#[test]
fn parameters_have_the_names_of_the_module() {
    let module = kernel(&["k_param_0", "n"], "ret;");
    for arguments in [&["n=1"][..], &["k_param_0=1"], &["n=1", "k_param_0=1", "x=1"]] {
        let errors = refused(&module, &launch(1, 1, arguments, &[]));
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert!(help.ends_with("`param_0` (8 bytes), `n` (8 bytes)"), "{help}");
    }
}

#[test]
fn an_access_outside_says_how_far() {
    let of = |access: &str| {
        let body = format!(
            "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; add.u64 %rd3, %rd1, %rd2; {access}; ret;"
        );
        let arguments = ["a=u32[3]", "n=12"];
        let found = judged(&kernel(&["a", "n"], &body), &launch(1, 1, &arguments, &[]));
        let found = found.expect("it is judged");
        assert_eq!(kinds(&found), [FindingKind::OutOfBounds], "{access}");
        found.findings[0].message.clone()
    };
    for (access, wanted) in [
        ("st.global.u32 [%rd3], 1", ": directly behind `a`, which has 12 bytes"),
        ("st.global.u32 [%rd3+8], 1", ": 8 bytes behind `a`, which has 12 bytes"),
        ("ld.global.u32 %r1, [%rd1+-4]", ": 4 bytes before `a`, which has 12 bytes"),
        ("st.global.u64 [%rd1+8], 1", ": from byte 8 to byte 15 of `a`, which has 12 bytes"),
    ] {
        let message = of(access);
        assert!(message.ends_with(wanted), "{message}");
    }
}

#[test]
fn a_float_in_memory_is_told_as_one() {
    let body = "ld.param.u64 %rd1, [a]; st.global.f32 [%rd1+4], 0f3fc00000; ret;";
    let told = |buffer: &str, asserted: &str| {
        let found = judged(&kernel(&["a"], body), &launch(1, 1, &[buffer], &[asserted]));
        found.expect("it is judged").findings.remove(0).message
    };
    let float = told("a=f32[2]", "a[1]==2.0");
    assert_eq!(float, "the assertion can be false: an execution ends with a[1]=1.5;");
    let bits = told("a=u32[2]", "a[1]==2.0");
    assert_eq!(bits, "the assertion can be false: an execution ends with a[1]=1069547520;");
}

#[test]
fn shared_memory_is_that_of_a_multiprocessor() {
    let module = kernel(&[], "ret;");
    let of = |bytes| LaunchSpec { shared: Some(bytes), ..launch(1, 1, &[], &[]) };
    assert!(judged(&module, &of(232_448)).is_ok());
    let errors = refused(&module, &of(232_449));
    let wanted = "a CTA has at most 232448 bytes of shared memory, and this is 232449";
    assert_eq!(errors[0].message, wanted);
}

/// The line, the column and the message of what is wrong with a launch file.
fn wrong_file(argument: &str) -> (usize, usize, String) {
    let text = format!(
        "ptx = \"k.ptx\"\n[launch]\ngrid = 1\nblock = 1\n[[arg]]\nname = \"a\"\n{argument}\n"
    );
    let error = file::read("launch.toml", &text).expect_err(argument).remove(0);
    (error.span.line, error.span.column, error.message)
}

#[test]
fn an_argument_of_a_file_is_wrong_at_its_value() {
    for (argument, line, column, wanted) in [
        (
            "type = \"u32[2]\"\ninit = [\"x\"]",
            8,
            8,
            "the value `x` of the argument `a` is not understood",
        ),
        ("type = \"u8[2]\"\ninit = [1, 256]", 8, 8, "`256`, of `a`, does not fit `u8`"),
        ("type = \"u32[2]\"\ninit = [1.5]", 8, 8, "`1.5` is a float, and the type of `a` is `u32`"),
        ("value = 3\ntype = \"u32[2]\"", 7, 9, "two values: a buffer by its `type` and `value`"),
        ("value = 3\nfields = { 0 = 1 }", 8, 10, "two values: `value` and `fields`"),
        ("type = \"u33\"\nvalue = 1", 7, 8, "the unknown type `u33`"),
        ("type = \"u32[0]\"", 7, 8, "the buffer `a` has 0 elements"),
        ("", 6, 8, "the argument `a` has no value"),
    ] {
        let found = wrong_file(argument);
        assert_eq!((found.0, found.1), (line, column), "{argument}: {found:?}");
        assert!(found.2.contains(wanted), "{argument}: {found:?}");
    }
}

/// A kernel of one thread that stores the result of an instruction, `%r3`, and then more.
fn uncomputed(instruction: &str, more: &str) -> String {
    let start = "ld.param.u64 %rd1, [a]; mov.u32 %r1, 0; mov.u32 %r2, 0x3f800000; mov.u32 %r4, 0;";
    kernel(&["a"], &format!("{start}\n{instruction};\nst.global.u32 [%rd1], %r3;\n{more}ret;"))
}

#[test]
fn an_assertion_on_what_is_not_computed_is_open() {
    let multiplied = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r3,%r5,%r6,%r7}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1}";
    for (instruction, opcode) in [("ex2.approx.f32 %r3, %r2", "ex2"), (multiplied, "mma")] {
        let module = uncomputed(instruction, "");
        let buffers = ["a=u32[1]=0"];
        for asserted in ["a[0]==0", "a[0]!=12345", "a[0]>=1 || a[0]<1"] {
            let found = judged(&module, &launch(1, 1, &buffers, &[asserted])).expect("judged");
            assert_eq!(kinds(&found), [], "{instruction}: {asserted}");
            let why = format!(
                "`{opcode}` (line 8) is not computed: its results are any numbers, and the assertion depends on that"
            );
            let told: Vec<&str> = found.undecided.iter().map(|open| &open.why[..]).collect();
            assert_eq!(told, [why], "{instruction}: {asserted}");
        }
        let without = judged(&module, &launch(1, 1, &buffers, &[])).expect("it is judged");
        assert_eq!((kinds(&without), without.undecided), (vec![], vec![]));
    }
    // What is computed has its own answer.
    let module = uncomputed("add.u32 %r3, %r2, 1", "");
    let found = judged(&module, &launch(1, 1, &["a=u32[1]=0"], &["a[0]==1"])).expect("judged");
    assert_eq!(kinds(&found), [FindingKind::Assert]);
}

#[test]
fn what_does_not_depend_on_it_is_decided() {
    let of = |more: &str, asserted: &str| {
        let module = uncomputed("ex2.approx.f32 %r3, %r2", more);
        let module = module.replace("k(", "k(.param .u64 b, ");
        let found = judged(&module, &launch(1, 1, &["b=u32[2]=0", "a=u32[1]"], &[asserted]));
        let found = found.expect("it is judged");
        (kinds(&found), found.undecided.len())
    };
    let to_b = "ld.param.u64 %rd2, [b];\n";
    let plain = format!("{to_b}st.global.u32 [%rd2], 3;\n");
    assert_eq!(of(&plain, "b[0]==3"), (vec![], 0));
    assert_eq!(of(&plain, "b[0]==4"), (vec![FindingKind::Assert], 0));
    assert_eq!(of(&plain, "b[0]==3 && a[0]==1"), (vec![], 1));
    assert_eq!(of(&plain, "b[0]==4 && a[0]==1"), (vec![FindingKind::Assert], 0));
    assert_eq!(of(&plain, "b[0]==3 || a[0]==1"), (vec![], 1));
    // Through arithmetic, memory, an address, a guard and a branch.
    for more in [
        "add.u32 %r5, %r3, 1;\nst.global.u32 [%rd2], %r5;\n",
        "ld.global.u32 %r5, [%rd1];\nst.global.u32 [%rd2], %r5;\n",
        "and.b32 %r5, %r3, 4; cvt.u64.u32 %rd3, %r5; add.u64 %rd3, %rd2, %rd3;\nst.global.u32 [%rd3], 1;\n",
        "setp.eq.u32 %p1, %r3, 77;\n@%p1 st.global.u32 [%rd2], 1;\n",
        "setp.eq.u32 %p1, %r3, 77;\n@%p1 bra $E;\nst.global.u32 [%rd2], 1;\n$E:\n",
        "setp.eq.u32 %p1, %r3, 77;\n@!%p1 ret;\nst.global.u32 [%rd2], 1;\n",
    ] {
        assert_eq!(of(&format!("{to_b}{more}"), "b[0]==0"), (vec![], 1), "{more}");
    }
    // Before it, nothing is changed.
    let trap = "setp.eq.u32 %p1, %r3, 77;\n@%p1 trap;\n";
    assert_eq!(of(&format!("{plain}{trap}"), "b[0]==3"), (vec![], 1));
    assert_eq!(of(&format!("{plain}{trap}"), "b[0]==4"), (vec![FindingKind::Assert], 0));
}

#[test]
fn what_the_threads_do_is_open_where_it_depends_on_what_is_not_computed() {
    let of = |instruction: &str, then: &str, grid: u32| {
        let more = format!("ld.param.u64 %rd2, [b];\n{then}\n");
        let module = uncomputed(instruction, &more).replace("st.global.u32 [%rd1], %r3;\n", "");
        let module = module.replace("k(", "k(.param .u64 b, ");
        let found = judged(&module, &launch(grid, 1, &["b=u32[2]=0", "a=u32[1]"], &[]));
        let found = found.expect("it is judged");
        let open: Vec<&str> = found.undecided.iter().map(|open| open.property.name()).collect();
        (kinds(&found), open)
    };
    let guard = "setp.gt.u32 %p1, %r3, 77;";
    let racing = format!("{guard}\n@%p1 st.global.u32 [%rd2], 1;");
    let outside = "cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd2, %rd3;\nst.global.u32 [%rd3], 1;";
    let endless = format!("{guard}\n$L: @%p1 bra $L;");
    let (computed, not) = ("add.u32 %r3, %r2, 1", "ex2.approx.f32 %r3, %r2");
    assert_eq!(of(computed, &racing, 2), (vec![FindingKind::DataRace], vec![]));
    assert_eq!(of(not, &racing, 2), (vec![], vec!["program_spec", "no-data-race"]));
    // One thread alone has no race.
    assert_eq!(of(not, &racing, 1), (vec![], vec!["program_spec"]));
    assert_eq!(of(computed, outside, 1).0.len(), 1);
    // The other questions are not looked at then.
    assert_eq!(of(not, outside, 1), (vec![], vec!["program_spec", "termination"]));
    assert_eq!(of(computed, &endless, 1), (vec![FindingKind::Hang], vec![]));
    assert_eq!(of(not, &endless, 1), (vec![], vec!["termination"]));
    // What comes before does not depend on it.
    let before = format!("st.global.u32 [%rd2], 1;\n{racing}");
    assert_eq!(of(not, &before, 2).0, [FindingKind::DataRace]);
}

/// A kernel of one thread that reads a special register twice, as `%rd2` and `%rd3`, and then does more with `%rd4`, their
/// difference.
fn reading(register: &str, more: &str) -> String {
    let read = if register.ends_with("64") || register == "%globaltimer" {
        format!("mov.u64 %rd2, {register};\nmov.u64 %rd3, {register};\n")
    } else {
        format!(
            "mov.u32 %r2, {register}; cvt.u64.u32 %rd2, %r2;\nmov.u32 %r3, {register}; cvt.u64.u32 %rd3, %r3;\n"
        )
    };
    let body = format!("ld.param.u64 %rd1, [a];\n{read}sub.u64 %rd4, %rd3, %rd2;\n{more}\nret;");
    kernel(&["a"], &body)
}

/// The findings, and what is open.
fn answer(module: &str, grid: u32, asserted: &[&str]) -> (Vec<FindingKind>, Vec<String>) {
    let found = judged(module, &launch(grid, 1, &["a=u64[2]=0"], asserted)).expect("it is judged");
    (kinds(&found), found.undecided.into_iter().map(|open| open.why).collect())
}

#[test]
fn a_special_register_of_which_nothing_is_known_is_any_number_at_each_read() {
    for register in ["%clock", "%clock64", "%globaltimer", "%smid", "%warpid", "%nsmid", "%gridid"]
    {
        let stored = reading(register, "st.global.u64 [%rd1], %rd4;");
        // Two reads need not return the same.
        let (found, open) = answer(&stored, 1, &["a[0]==0"]);
        assert_eq!((found.len(), open.len()), (0, 1), "{register}: {open:?}");
        let why = format!(
            "`{register}` (line 9) is any number at each read, and the assertion depends on that"
        );
        assert_eq!(open, [why], "{register}");
        assert_eq!(answer(&stored, 1, &[]), (vec![], vec![]), "{register}");
        let branch = "setp.gt.u64 %p1, %rd4, 99;\n@%p1 st.global.u64 [%rd1], 1;";
        let (found, open) = answer(&reading(register, branch), 2, &[]);
        assert_eq!((found.len(), open.len()), (0, 2), "{register}: {open:?}");
    }
    // What the launch gives is known.
    let stored = reading("%laneid", "st.global.u64 [%rd1], %rd4;");
    assert_eq!(answer(&stored, 1, &["a[0]==0"]), (vec![], vec![]));
}

#[test]
fn what_only_takes_time_decides_nothing() {
    // A delay, and a wait with a delay that grows.
    let delay = "$L: mov.u64 %rd5, %clock64; sub.u64 %rd6, %rd5, %rd2; setp.lt.u64 %p1, %rd6, 1000;\n\
                 @%p1 bra $L;\nst.global.u64 [%rd1], 1;";
    assert_eq!(answer(&reading("%clock64", delay), 1, &["a[0]==1"]), (vec![], vec![]));
    assert_eq!(answer(&reading("%clock64", delay), 1, &["a[0]==0"]).0, [FindingKind::Assert]);
    let wait = |out: &str| {
        format!(
            "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $S;\n\
             $L: ld.relaxed.gpu.global.u64 %rd5, [%rd1]; setp.ne.u64 %p2, %rd5, 0;\n@%p2 bra $E;\n\
             mov.u64 %rd6, %globaltimer; sub.u64 %rd7, %rd6, %rd2; setp.lt.u64 %p3, %rd7, 1000;\n\
             @%p3 bra {out};\nshr.u64 %rd8, %rd7, 2; cvt.u32.u64 %r5, %rd8; nanosleep.u32 %r5; bra $L;\n\
             $S: st.relaxed.gpu.global.u64 [%rd1], 1;\n$E: st.relaxed.gpu.global.u64 [%rd1+8], 1;"
        )
    };
    let asserted = ["a[1]==1"];
    assert_eq!(answer(&reading("%globaltimer", &wait("$L")), 2, &asserted), (vec![], vec![]));
    // It gives up.
    let (found, open) = answer(&reading("%globaltimer", &wait("$E")), 2, &asserted);
    assert_eq!((found, open.is_empty()), (vec![], false));
}

#[test]
fn findings_before_and_behind_a_timeout_count() {
    let more = "setp.gt.u64 %p1, %rd4, 99;\n@%p1 trap;\nmov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd5, %r1; st.global.u64 [%rd1], %rd5;";
    let (found, open) = answer(&reading("%clock64", more), 2, &[]);
    assert_eq!(found, [FindingKind::DataRace]);
    // It may trap, too.
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].starts_with("`%clock64` (line 9) is any number"), "{open:?}");
}

#[test]
fn a_constant_predicate_votes() {
    let body = "ld.param.u64 %rd1, [a]; mov.pred %p1, -1; mov.u32 %r1, 15; vote.sync.ballot.b32 %r2, %p1, %r1;\n\
                mov.u32 %r3, %tid.x; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n\
                st.global.u32 [%rd1], %r2; ret;";
    let all = launch(1, 4, &["a=u32[4]"], &["a[0]==15 && a[3]==15"]);
    let found = judged(&kernel(&["a"], body), &all).expect("it is judged");
    assert_eq!((kinds(&found), found.undecided), (vec![], vec![]));
}

#[test]
fn sums_and_products_are_rounded_in_each_direction() {
    // 1 and the least number above it; 2^-30; 1 + 2^-23.
    let (tiny, least) = ("0x30800000", "0x3f800001");
    for (instruction, wanted) in [
        ("add.rp.f32 %r3, %r2, %r5", 0x3f80_0001_u32),
        ("add.rm.f32 %r3, %r2, %r5", 0x3f80_0000),
        ("sub.rz.f32 %r3, %r2, %r5", 0x3f7f_ffff),
        ("sub.rp.f32 %r3, %r2, %r5", 0x3f80_0000),
        ("mul.rp.f32 %r3, %r6, %r6", 0x3f80_0003),
        ("mul.rz.f32 %r3, %r6, %r6", 0x3f80_0002),
        ("mul.rm.f32 %r3, %r4, %r2", 0),
        ("sub.rm.f32 %r3, %r2, %r2", 0x8000_0000),
        ("fma.rm.f32 %r3, %r6, %r6, %r5", 0x3f80_0002),
        ("fma.rp.f32 %r3, %r6, %r6, %r5", 0x3f80_0003),
    ] {
        let operands = format!("mov.u32 %r5, {tiny}; mov.u32 %r6, {least}; {instruction}");
        let asserted = format!("a[0]=={wanted}");
        let launch = launch(1, 1, &["a=u32[1]"], &[&asserted]);
        let found = judged(&uncomputed(&operands, ""), &launch).expect("it is judged");
        assert_eq!((kinds(&found), found.undecided), (vec![], vec![]), "{instruction}");
    }
}

#[test]
fn a_module_that_the_model_does_not_know_is_judged_with_a_note() {
    let notes = |module: &str| {
        let read = KernelModule::read("k.ptx", module).expect("a module");
        verify::compose(&read, &launch(1, 1, &[], &[])).expect("it is composed").notes
    };
    let module = kernel(&[], "ret;");
    assert_eq!(notes(&module), [""; 0]);
    let old = notes(&module.replace("sm_90", "sm_50"));
    assert_eq!(old.len(), 1, "{old:?}");
    assert!(old[0].starts_with("`sm_50` is taken for `sm_70`"), "{old:?}");
    let unversioned = notes(&module.replace(".version 8.7\n", ""));
    assert_eq!(unversioned.len(), 1, "{unversioned:?}");
}

#[test]
fn every_question_that_is_not_decided_is_told() {
    // From which lane a value is shows in executions.
    let body = "ld.param.u64 %rd1, [a]; mov.u32 %r1, 1; mov.u32 %r3, %tid.x; xor.b32 %r3, %r3, 1;\n\
                shfl.sync.bfly.b32 %r2, %r1, %r3, 0x1f, -1;\nst.global.u32 [%rd1], %r2; ret;";
    let asked = |questions: &[LaunchQuestion]| {
        let launch = LaunchSpec {
            threads: ThreadChoice::OfEachCta(vec![0]),
            questions: questions.iter().copied().collect(),
            ..launch(2, 32, &["a=u32[1]=0"], &[])
        };
        let found = judged(&kernel(&["a"], body), &launch).expect("it is judged");
        assert_eq!(kinds(&found), []);
        assert!(found.undecided.iter().all(|open| open.why.contains("left out")), "{found:?}");
        let open = found.undecided.iter().map(|open| LaunchQuestion::of(open.property));
        open.collect::<Vec<LaunchQuestion>>()
    };
    let most = [LaunchQuestion::Assert, LaunchQuestion::Race, LaunchQuestion::Hang];
    assert_eq!(asked(&LaunchQuestion::ALL), most);
    let some = [LaunchQuestion::Race, LaunchQuestion::Hang];
    assert_eq!(asked(&some), some);
    assert_eq!(asked(&[LaunchQuestion::Hang]), [LaunchQuestion::Hang]);
}

#[test]
fn a_refusal_says_what_helps() {
    let help = |body: &str| refused(&kernel(&[], body), &launch(1, 1, &[], &[])).remove(0).help;
    let cooperative =
        help("mov.u32 %r1, %envreg2; setp.eq.u32 %p1, %r1, 0; @%p1 trap; ret;").expect("it helps");
    assert!(cooperative.starts_with("--cooperative"), "{cooperative}");
    let label = help("bra $L; ret;").expect("it helps");
    assert_eq!(label, "a branch leads to a label of its own function");
}

/// Blocks draw items until there are none left. Three iterations are enough for two items, which is more than the loop bound.
#[test]
fn a_loop_is_followed_as_far_as_its_paths_go_together() {
    let queue = |second: &str| {
        let body = format!(
            ".shared .align 4 .b32 item; .reg .pred %q<3>;\nld.param.u64 %rd1, [n];\n\
             ld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nsetp.ne.u32 %q1, %r1, 0;\nbra.uni DRAW;\n\
             WORK:\nshl.b32 %r3, %r2, 1;\nadd.u32 %r3, %r3, %r1;\nmul.wide.u32 %rd3, %r3, 4;\n\
             add.s64 %rd3, %rd2, %rd3;\nld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, %r2;\n\
             add.u32 %r4, %r4, 1;\nst.global.u32 [%rd3], %r4;\nDRAW:\n@%q1 bra TOLD;\n\
             atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;\nst.shared.u32 [item], %r4;\nTOLD:\n\
             bar.sync 0;\nld.shared.u32 %r2, [item];\n{second}setp.lt.u32 %q2, %r2, 2;\n\
             @%q2 bra WORK;\nret;"
        );
        let module = kernel(&["n", "out"], &body);
        let args = ["n=u32[1]=0", "out=u32[4]=0"];
        let asserts = ["out[0]==1", "out[1]==1", "out[2]==2", "out[3]==2"];
        judged(&module, &launch(2, 2, &args, &asserts)).expect("it is judged")
    };
    let right = queue("bar.sync 0;\n");
    assert!(right.findings.is_empty() && right.undecided.is_empty(), "{right:?}");
    assert!(!queue("").findings.is_empty(), "an item is overwritten while a thread reads it");
}

/// A copy reads as many bytes as it says, and fills the rest with zeros: where it reads none, its source need not be memory.
#[test]
fn a_copy_that_reads_nothing_has_no_source() {
    let of = |place: u32, bytes: &str| {
        kernel(
            &["src", "out", "n"],
            &format!(
                ".shared .align 16 .b8 s[16];\nld.param.u64 %rd1, [src];\nld.param.u64 %rd2, [out];\n\
                 ld.param.u32 %r2, [n];\nmov.u32 %r1, s;\n\
                 cp.async.cg.shared.global [%r1], [%rd1+{place}], 16, {bytes};\n\
                 cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r3, [%r1];\n\
                 st.global.u32 [%rd2], %r3;\nret;"
            ),
        )
    };
    let found = |place: u32, bytes: &str, n: u32, result: u32| {
        let n = format!("n={n}");
        let arguments = ["src=u32[4]=7", "out=u32[1]=9", &n];
        let asserted = format!("out[0]=={result}");
        let launch = launch(1, 1, &arguments, &[&asserted]);
        kinds(&judged(&of(place, bytes), &launch).expect("it has a test"))
    };
    let outside = [FindingKind::OutOfBounds];
    for bytes in ["%r2", "0"] {
        assert_eq!(found(0, bytes, 0, 0), []);
        assert_eq!(found(16, bytes, 0, 0), []);
    }
    assert_eq!(found(0, "%r2", 4, 7), []);
    assert_eq!(found(0, "%r2", 4, 0), [FindingKind::Assert]);
    assert_eq!(found(16, "%r2", 4, 0), outside);
    assert_eq!(found(16, "%r2", 16, 0), outside);
}
