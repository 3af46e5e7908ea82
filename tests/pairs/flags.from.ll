; A result that breaks a promise of its flags is poison: what then happens is not compared. All other numbers are, also
; negative ones.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

define i32 @exactly(i32 %a) {
  %r = sdiv exact i32 %a, 4
  ret i32 %r
}

define i64 @positive(i32 %a) {
  %r = zext nneg i32 %a to i64
  ret i64 %r
}

define i64 @guarded(i32 %a) {
  %n = icmp slt i32 %a, 0
  %z = zext nneg i32 %a to i64
  %r = select i1 %n, i64 7, i64 %z
  ret i64 %r
}

define i64 @widened(i32 %a, i32 %b) {
  %s = add nsw i32 %a, %b
  %r = sext i32 %s to i64
  ret i64 %r
}

define i32 @half(i32 %a) {
  %r = sdiv i32 %a, 2
  ret i32 %r
}
