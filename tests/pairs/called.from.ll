; What is accessed before a call of a function of another module stays before it, and what is accessed after it behind it
; (reading R107).
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

declare void @told(i16 signext, i8)

define void @told_twice(ptr %p, i16 %n) {
  %low = trunc i16 %n to i8
  store i32 3, ptr %p
  call void @told(i16 signext %n, i8 %low)
  store i32 2, ptr %p
  ret void
}
