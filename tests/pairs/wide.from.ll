; Integers of 128 bits, and results of several words.
%mixed = type { i8, i32, i64 }

define i128 @sum(ptr addrspace(1) %p, i128 %n) {
  %a = load i128, ptr addrspace(1) %p, align 16
  %b = add i128 %a, %n
  store i128 %b, ptr addrspace(1) %p, align 16
  ret i128 %b
}

define i128 @publish(ptr addrspace(1) %p, i128 %n) {
  %old = atomicrmw xchg ptr addrspace(1) %p, i128 %n syncscope("device") release, align 16
  ret i128 %old
}

define i128 @take(ptr addrspace(1) %p, i128 %expected, i128 %new) {
  %pair = cmpxchg ptr addrspace(1) %p, i128 %expected, i128 %new syncscope("device") acquire monotonic, align 16
  %old = extractvalue { i128, i1 } %pair, 0
  ret i128 %old
}

define %mixed @parts(ptr addrspace(1) %p, i8 %n) {
  %a = load i32, ptr addrspace(1) %p, align 4
  %first = insertvalue %mixed poison, i8 %n, 0
  %second = insertvalue %mixed %first, i32 %a, 1
  %third = insertvalue %mixed %second, i64 7, 2
  ret %mixed %third
}

define <4 x float> @vector(ptr addrspace(1) %p) {
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  ret <4 x float> %v
}

define <4 x i32> @undefined(ptr addrspace(1) %p) {
  %a = load i32, ptr addrspace(1) %p, align 4
  %v = insertelement <4 x i32> poison, i32 %a, i32 2
  ret <4 x i32> %v
}
