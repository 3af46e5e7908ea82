//! What is not supported refuses its function, and what is not LLVM IR is an error: each with its line.

use lift::function::UndefinedValues;

use crate::column;

/// The reason and the line of the first function of a module.
fn refused(text: &str) -> (usize, String) {
    match column::read(text).remove(0).1 {
        Ok(function) => panic!("{text}{}", column::cells(&function)),
        Err(refused) => (refused.first().line, refused.first().why.clone()),
    }
}

fn body(lines: &str) -> String {
    format!("define void @f(ptr %p, i32 %n) {{\nentry:\n{lines}\n  ret void\n}}\n")
}

#[test]
fn what_is_not_defined_is_left_out_or_zero() {
    let read = |lines: &str| {
        let function = column::read(&body(lines)).remove(0).1.expect("it is read");
        let text = column::cells(&function);
        let stores = text.lines().filter(|line| line.contains("store")).count();
        let zero = match function.undefined {
            UndefinedValues::Absent => panic!("{lines}"),
            UndefinedValues::LeftOut(zero) => Some(column::cells(&zero.expect("it is read"))),
            UndefinedValues::Zero => None,
        };
        (stores, zero.map(|text| text.lines().filter(|line| line.contains("store")).count()))
    };
    let shuffled = "  %v = shufflevector <2 x i32> zeroinitializer, <2 x i32> undef, <2 x i32> <i32 0, i32 undef>\n  \
                    store <2 x i32> %v, ptr %p";
    let masked =
        "  call void @llvm.masked.store.v2i32.p0(<2 x i32> undef, ptr %p, <2 x i1> <i1 1, i1 0>)";
    assert_eq!(read("  store i32 undef, ptr %p"), (0, Some(1)));
    assert_eq!(read(shuffled), (1, Some(2)));
    assert_eq!(read(masked), (0, Some(1)));
    assert_eq!(read("  store atomic i32 undef, ptr %p release, align 4"), (1, None));
    assert_eq!(read("  %v = add i32 %n, poison\n  store i32 %v, ptr %p"), (1, None));
}

#[test]
fn what_is_not_covered_is_named_with_its_line() {
    let cases = [
        ("  call void @g(ptr %p)", "a call of `@g`, which this module does not declare"),
        (
            "  call void asm sideeffect \"trap;\", \"\"()",
            "inline assembly: `trap` is not supported",
        ),
        (
            "  call void asm sideeffect \"st.u32 [$0], $2;\", \"l,r\"(ptr %p, i32 %n)",
            "inline assembly: the template has no operand `$2`",
        ),
        (
            "  call void asm sideeffect \"st.u32 [$0], x;\", \"l\"(ptr %p)",
            "inline assembly: `x` is not declared",
        ),
        (
            "  call void asm sideeffect \"add.u32 x, x, y;\", \"\"()",
            "inline assembly: `y` has no value",
        ),
        (
            "  call void @llvm.nvvm.cp.async.wait.all()",
            "`@llvm.nvvm.cp.async.wait.all`: asynchronous copies are not modelled",
        ),
        ("  %v = frem float 0.0, 1.0", "`frem` of float is not supported"),
        ("  %v = fdiv arcp float 0.0, 1.0", "`fdiv arcp` is not supported"),
        ("  %v = add i129 1, 2", "values of type i129 are not supported"),
        ("  %v = udiv i128 1, 2", "`udiv` of i128 is not supported"),
        ("  %v = sitofp i128 1 to float", "`sitofp` from i128 to float is not supported"),
        ("  %v = call afn float @llvm.sqrt.f32(float 0.0)", "`llvm.sqrt afn` is not supported"),
        ("  store volatile i24 1, ptr %p", "an access of type i24 is not supported"),
        (
            "  %v = atomicrmw add ptr %p, i128 1 seq_cst",
            "this `atomicrmw` of i128 is not supported",
        ),
        (
            "  call void @llvm.masked.store.v2i4.p0(<2 x i4> zeroinitializer, ptr %p, <2 x i1> <i1 1, i1 0>)",
            "a masked access to this vector is not supported",
        ),
        ("  %v = load { i32, i32 }, ptr %p", "`{ i32, i32 }` is not supported"),
        ("  %v = load i32, ptr inttoptr (i64 8 to ptr)", "the constant `inttoptr`"),
        ("  %v = load i32, ptr null", "an address that is a number is not supported"),
        ("  %v = load i32, ptr @g", "`@g` is not a variable of this module"),
        ("  %v = load i32, ptr addrspace(9) null", "address space 9 is not supported"),
        ("  %v = call i64 @llvm.nvvm.read.ptx.sreg.clock64()", "the special register `clock64`"),
        (
            "  call void @llvm.nvvm.bar.warp.sync(i32 -1)",
            "`@llvm.nvvm.bar.warp.sync` is not supported",
        ),
        ("  %a = alloca i32\n  store ptr %a, ptr %p", "the address of the local variable `%a`"),
        ("  br label %no\nno:\n  unreachable\nlast:", "`unreachable` can be reached"),
    ];
    for (lines, why) in cases {
        let (line, said) = refused(&body(lines));
        assert!(said.starts_with(why), "{lines}: {said}");
        assert!((3..=2 + lines.lines().count()).contains(&line), "{lines}: line {line}");
    }
    let signatures = [
        ("define void @f(ptr byref(i32) %p) {\n  ret void\n}\n", "a parameter with `byref`"),
        ("define void @f(i32 %n, ...) {\n  ret void\n}\n", "`...` is not supported"),
        (
            "@t = thread_local global i32 0\ndefine i32 @f() {\n  %v = load i32, ptr @t\n  ret i32 %v\n}\n",
            "`@t`: a thread-local variable",
        ),
        (
            "@c = constant i32 5\ndefine i32 @f() {\n  %v = load i32, ptr @c\n  ret i32 %v\n}\n",
            "the value of the constant `@c`",
        ),
    ];
    for (text, why) in signatures {
        let (_, said) = refused(text);
        assert!(said.starts_with(why), "{text}: {said}");
    }
}

#[test]
fn a_refused_function_refuses_no_other() {
    let text =
        "define void @a() {\n  call void @c()\n  ret void\n}\ndefine void @b() {\n  ret void\n}\n";
    let functions = column::read(text);
    let names: Vec<(&str, bool)> =
        functions.iter().map(|(name, made)| (name.as_str(), made.is_ok())).collect();
    assert_eq!(names, [("a", false), ("b", true)]);
}

/// The codes and lines of what is wrong with a module.
fn wrong(text: &str) -> Vec<(&'static str, usize)> {
    let errors = llvm::functions("f.ll", text).expect_err(text);
    errors.iter().map(|error| (error.code, error.span.line)).collect()
}

#[test]
fn what_is_no_module_is_told() {
    let cases: &[(&str, &[(&str, usize)])] = &[
        ("  %v = load atomic i32, ptr %p release, align 4", &[("llvm-order", 3)]),
        ("  store i32 %v, ptr %p", &[("llvm-value", 3)]),
        ("  store i32 %x, ptr %p\n  store i32 %y, ptr %p", &[("llvm-value", 3), ("llvm-value", 4)]),
        ("  store i64 %n, ptr %p", &[("llvm-type", 3)]),
        ("  %n = add i32 1, 2", &[("llvm-value", 3)]),
        ("  %v = ad i32 %n, 1", &[("llvm-opcode", 3)]),
        ("  %v = ad i32 %n, 1\n  store i32 %v, ptr %p", &[("llvm-opcode", 3)]),
        ("  %v = icmp lt i32 %n, 1", &[("llvm-comparison", 3)]),
        ("  %v = zext i32 %n to i16", &[("llvm-type", 3)]),
        ("  br label %nowhere\nb:", &[("llvm-label", 3)]),
        ("  %v = add i32 %n,\n  %w = add i32 1", &[("syntax", 3), ("syntax", 4)]),
        ("  store i32 4294967296, ptr %p", &[("llvm-value", 3)]),
        ("  br label %entry\nentry:", &[("llvm-label", 4)]),
        ("  br label %b\nb:\n  %v = phi i32 [ 0, %c ]", &[("llvm-phi", 3)]),
        ("  ret i32 %n\nb:", &[("llvm-type", 3)]),
        ("  %s = alloca", &[("syntax", 3)]),
    ];
    for (lines, codes) in cases {
        assert_eq!(&wrong(&body(lines)), codes, "{lines}");
    }
    assert_eq!(wrong("define void @f() {\n  ret void\n"), [("llvm-define", 1)]);
    assert_eq!(wrong("deine void @f()\n"), [("llvm-module", 1)]);
    assert_eq!(wrong("define @f() {\n  ret void\n}\n"), [("syntax", 1)]);
    assert_eq!(wrong("define void @f() {\n}\n"), [("llvm-block", 1)]);
    assert_eq!(wrong("define void @f() {\n  %v = add i32 1, 2\n}\n"), [("llvm-block", 2)]);
    assert_eq!(wrong("@x = globl i32 0\n"), [("syntax", 1)]);
    assert_eq!(wrong("source_filename = \"x\n"), [("llvm-string", 1)]);
}

#[test]
fn a_variable_that_cannot_be_read_refuses_the_functions_that_use_it() {
    let module = "@a = global f8E4M3 0x3\n@\"b c\" = global [2 x f8E4M3] zeroinitializer, align 4\n\
        define void @f(ptr %p) {\n  store i32 1, ptr %p\n  ret void\n}\n\
        define i32 @g() {\n  %v = load i32, ptr @\"b c\"\n  ret i32 %v\n}\n";
    let functions = column::read(module);
    assert!(functions[0].1.is_ok());
    let refused = functions[1].1.as_ref().expect_err("it uses one of them");
    assert_eq!(
        refused.first().why,
        "`@b c`: a variable of this type or with this value is not supported"
    );
}
