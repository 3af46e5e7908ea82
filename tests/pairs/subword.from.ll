; Operations on bytes and halfwords that PTX has for words only.
define i8 @take(ptr addrspace(1) %p, i8 %expected, i8 %new) {
  %pair = cmpxchg ptr addrspace(1) %p, i8 %expected, i8 %new syncscope("device") acquire monotonic
  %old = extractvalue { i8, i1 } %pair, 0
  ret i8 %old
}

define void @publish(ptr addrspace(1) noalias %data, ptr addrspace(1) noalias align 4 %flag, i32 %n) {
  store i32 %n, ptr addrspace(1) %data
  %at = getelementptr i8, ptr addrspace(1) %flag, i64 2
  %old = atomicrmw or ptr addrspace(1) %at, i16 1 syncscope("device") release, align 2
  ret void
}

define i16 @again(ptr addrspace(1) %p, i16 %expected, i16 %new) {
  %pair = cmpxchg ptr addrspace(1) %p, i16 %expected, i16 %new syncscope("device") monotonic acquire
  ret i16 %new
}
