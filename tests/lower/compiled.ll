; What compilers make of functions that once were read wrongly.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@unread = addrspace(1) global f8E4M3 0x3
@half = addrspace(1) global [2 x half] [half 0xH3C00, half 0xH0000]

define i32 @constant(ptr addrspace(1) %p) {
  store i32 7, ptr addrspace(1) %p, align 4
  ret i32 42
}

define i32 @value_called_ret(ptr addrspace(1) %p) {
  %ret = load i32, ptr addrspace(1) %p, align 4
  ret i32 %ret
}

define zeroext i8 @part_of_a_word(ptr addrspace(1) %p) {
  %r = atomicrmw add ptr addrspace(1) %p, i8 1 syncscope("device") monotonic, align 1
  ret i8 %r
}

define void @stored_bit(ptr addrspace(1) %p, i1 %b) {
  store i1 %b, ptr addrspace(1) %p, align 1
  ret void
}

define i32 @branch_on_a_bit(ptr addrspace(1) %p, i1 %b) {
  br i1 %b, label %t, label %e
t:
  store i32 7, ptr addrspace(1) %p, align 4
  br label %e
e:
  ret i32 0
}

define i32 @of_the_unread() {
  %v = load i32, ptr addrspace(1) @unread, align 4
  ret i32 %v
}
