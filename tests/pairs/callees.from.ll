; What callees of other modules are passed and return: structures, small integers, copies. One ends the thread.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
%pair = type { i32, i64 }

declare %pair @both()
declare void @copied(ptr byval(%pair) align 8)
declare void @fails(i32) noreturn
declare zeroext i8 @small()

define i64 @part(ptr %p) {
  %r = call %pair @both()
  %a = extractvalue %pair %r, 0
  %b = extractvalue %pair %r, 1
  store i32 %a, ptr %p
  ret i64 %b
}

define i32 @widened() {
  %r = call zeroext i8 @small()
  %w = zext i8 %r to i32
  ret i32 %w
}

define void @by_value(ptr %p) {
  call void @copied(ptr byval(%pair) align 8 %p)
  ret void
}

define i32 @checked(ptr %p, i32 %n) {
  %bad = icmp ugt i32 %n, 7
  br i1 %bad, label %fail, label %good
fail:
  call void @fails(i32 %n)
  unreachable
good:
  %x = load i32, ptr %p
  ret i32 %x
}
