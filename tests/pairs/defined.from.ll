; The data layout is that of nvptx, with generic pointers of 32 bits; `llc` compiles it for nvptx64. What is not defined
; is not compared: the bits of an `i1` in memory, and the zeros of 0 where these are poison.
target datalayout = "e-p:32:32:32-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-n16:32:64"

@flag = addrspace(1) global i1 true, align 1

define void @number(ptr %out) {
  %bit = load i1, ptr addrspace(1) @flag
  %n = zext i1 %bit to i32
  store i32 %n, ptr %out
  ret void
}

define i16 @zeros(i16 %n) {
  %r = call i16 @llvm.ctlz.i16(i16 %n, i1 true)
  ret i16 %r
}
