; No LLVM IR: a store has no order of a load.
define void @wrong(ptr %p) {
  store atomic i32 1, ptr %p acquire, align 4
  ret void
}
