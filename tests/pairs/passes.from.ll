; What passes of `opt` get.

define void @publish(ptr addrspace(1) noalias %data, ptr addrspace(1) %flag, i32 %v) {
  %slot = alloca i32, align 4
  store i32 %v, ptr %slot, align 4
  %x = load i32, ptr %slot, align 4
  store i32 %x, ptr addrspace(1) %data, align 4
  store atomic i32 1, ptr addrspace(1) %flag syncscope("device") release, align 4
  ret void
}

define i32 @consume(ptr addrspace(1) %data, ptr addrspace(1) %flag) {
entry:
  %f = load atomic i32, ptr addrspace(1) %flag syncscope("device") acquire, align 4
  %ready = icmp ne i32 %f, 0
  br i1 %ready, label %then, label %end
then:
  %a = load i32, ptr addrspace(1) %data, align 4
  %b = load i32, ptr addrspace(1) %data, align 4
  %s = add i32 %a, %b
  br label %end
end:
  %r = phi i32 [ %s, %then ], [ 0, %entry ]
  ret i32 %r
}

define i32 @reread(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  %f = load atomic i32, ptr addrspace(1) %q syncscope("device") acquire, align 4
  %b = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  %t = mul i32 %f, 256
  %r = add i32 %t, %b
  ret i32 %r
}

define i32 @polled(ptr addrspace(1) %p) {
  %unused = load volatile i32, ptr addrspace(1) %p, align 4
  %used = load volatile i32, ptr addrspace(1) %p, align 4
  ret i32 %used
}

define void @dead(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  store i32 1, ptr addrspace(1) %p, align 4
  store i32 2, ptr addrspace(1) %p, align 4
  store atomic i32 1, ptr addrspace(1) %q syncscope("device") release, align 4
  ret void
}

define void @critical(ptr addrspace(1) %lock, ptr addrspace(1) %count) {
entry:
  br label %spin
spin:
  %pair = cmpxchg ptr addrspace(1) %lock, i32 0, i32 1 syncscope("device") acquire monotonic
  %ok = extractvalue { i32, i1 } %pair, 1
  br i1 %ok, label %in, label %spin
in:
  %n = load i32, ptr addrspace(1) %count, align 4
  %m = add i32 %n, 1
  store i32 %m, ptr addrspace(1) %count, align 4
  store atomic i32 0, ptr addrspace(1) %lock syncscope("device") release, align 4
  ret void
}

define void @invariant(ptr addrspace(1) noalias %p, ptr addrspace(1) noalias %q, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %j, %body ]
  %v = load i32, ptr addrspace(1) %p, align 4
  %at = getelementptr i32, ptr addrspace(1) %q, i64 %i
  store i32 %v, ptr addrspace(1) %at, align 4
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %n
  br i1 %more, label %body, label %end
end:
  ret void
}

define i32 @generic(ptr addrspace(3) %p) {
  %g = addrspacecast ptr addrspace(3) %p to ptr
  %old = atomicrmw add ptr %g, i32 1 syncscope("block") acq_rel
  ret i32 %old
}

define i32 @expanded(ptr addrspace(1) %p, i32 %v) {
  %old = atomicrmw nand ptr addrspace(1) %p, i32 %v syncscope("device") acquire
  ret i32 %old
}

define float @difference(ptr addrspace(1) %p, float %v) {
  %old = atomicrmw fsub ptr addrspace(1) %p, float %v syncscope("device") release
  ret float %old
}

define i32 @sequential(ptr addrspace(1) %p, i32 %v) {
  %old = atomicrmw add ptr addrspace(1) %p, i32 %v seq_cst
  ret i32 %old
}
