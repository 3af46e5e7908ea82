; Copies of memory, memory that is set, values that are undefined in part, and arguments that a call copies.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

%pair = type { i32, i64 }

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @copied(ptr %to, ptr %from) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr align 8 %from, i64 10, i1 false)
  ret void
}

define void @published(ptr noalias %to, ptr noalias %from, ptr noalias %flag) {
  call void @llvm.memcpy.p0.p0.i64(ptr align(4) %to, ptr align 4 %from, i64 8, i1 false)
  store atomic i32 1, ptr %flag syncscope("device") release, align 4
  ret void
}

define void @moved(ptr %p) {
  %to = getelementptr i8, ptr %p, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %p, i64 2, i1 false)
  ret void
}

define void @filled(ptr %p, i8 %n) {
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 %n, i64 12, i1 false)
  ret void
}

define void @cleared(ptr %p) {
  call void @llvm.memset.p0.i64(ptr align 2 %p, i8 7, i64 5, i1 false)
  ret void
}

define void @partly(ptr %p, i32 %n) {
  %v = insertelement <2 x i32> poison, i32 %n, i32 1
  %frozen = freeze <2 x i32> %v
  store <2 x i32> %frozen, ptr %p, align 8
  ret void
}

define internal i64 @sum(ptr byval(%pair) %p) noinline {
  %one = load i32, ptr %p, align 8
  store i32 5, ptr %p, align 8
  %at = getelementptr %pair, ptr %p, i64 0, i32 1
  %two = load i64, ptr %at, align 8
  %wide = zext i32 %one to i64
  %sum = add i64 %wide, %two
  ret i64 %sum
}

define i64 @kept(ptr byval(%pair) %p) {
  %one = load i32, ptr %p, align 8
  store i32 6, ptr %p, align 8
  %again = load volatile i32, ptr %p, align 8
  %sum = add i32 %one, %again
  %at = getelementptr %pair, ptr %p, i64 0, i32 1
  %two = load i64, ptr %at, align 8
  %wide = zext i32 %sum to i64
  %all = sub i64 %wide, %two
  ret i64 %all
}

define i64 @summed(ptr %p) {
  %a = call i64 @sum(ptr byval(%pair) align 8 %p)
  %b = load i32, ptr %p, align 8
  %c = zext i32 %b to i64
  %d = add i64 %a, %c
  ret i64 %d
}

define internal void @gives(ptr sret(i32) align 4 %to, i32 %n) noinline {
  store i32 %n, ptr %to, align 4
  ret void
}

define i32 @given(i32 %n) {
  %to = alloca i32, align 4
  call void @gives(ptr sret(i32) align 4 %to, i32 %n)
  %got = load i32, ptr %to, align 4
  %one = add i32 %got, 1
  ret i32 %one
}

define void @shifted(ptr %p, ptr %q) {
  %to = getelementptr i8, ptr %p, i64 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %q, i64 8, i1 false)
  ret void
}

define void @chosen(ptr %p, i32 %at, i32 %n) {
  %v = insertelement <4 x i32> poison, i32 %n, i32 %at
  %w = insertelement <4 x i32> %v, i32 7, i32 0
  store <4 x i32> %w, ptr %p, align 16
  ret void
}
