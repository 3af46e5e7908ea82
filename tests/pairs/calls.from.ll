; Calls of a function that another module defines: each is made once, with the same arguments, and its result is used.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

declare i32 @next(i32 signext, ptr)

define i32 @twice(ptr %p, i32 %n) {
  store i32 1, ptr %p
  %a = call i32 @next(i32 %n, ptr %p)
  %x = load i32, ptr %p
  %b = call i32 @next(i32 %a, ptr %p)
  %s = sub i32 %b, %x
  ret i32 %s
}
