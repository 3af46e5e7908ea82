; What mem2reg, gvn, dse, licm, infer-address-spaces and atomic-expand make of it, and mistakes of such passes.
;
; The order of the flag is lost:
; weaker: store atomic i32 1, ptr addrspace(1) %flag syncscope("device") release, align 4 => store atomic i32 1, ptr addrspace(1) %flag syncscope("device") monotonic, align 4
; The store is moved over the release:
; weaker: store i32 %v, ptr addrspace(1) %data, align 4\n  store atomic i32 1, ptr addrspace(1) %flag syncscope("device") release, align 4 => store atomic i32 1, ptr addrspace(1) %flag syncscope("device") release, align 4\n  store i32 %v, ptr addrspace(1) %data, align 4
; The load is hoisted over the acquire:
; weaker: %f = load atomic i32, ptr addrspace(1) %flag syncscope("device") acquire, align 4\n  %ready = icmp eq i32 %f, 0\n  br i1 %ready, label %end, label %then\nthen:\n  %a = load i32, ptr addrspace(1) %data, align 4 => %a = load i32, ptr addrspace(1) %data, align 4\n  %f = load atomic i32, ptr addrspace(1) %flag syncscope("device") acquire, align 4\n  %ready = icmp eq i32 %f, 0\n  br i1 %ready, label %end, label %then\nthen:
; The second load is merged with the one before the acquire:
; weaker: %b = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4 => %b = add i32 %a, 0
; A volatile load is deleted because its result is not used:
; weaker: %unused = load volatile i32, ptr addrspace(1) %p, align 4 => %unused = add i32 0, 0
; The store is deleted because another one follows, or the wrong one of the two is:
; wrong-value: store i32 2, ptr addrspace(1) %p, align 4 => store i32 1, ptr addrspace(1) %p, align 4
; The order of an atomic of all is lost:
; weaker: atomicrmw add ptr addrspace(1) %p, i32 %v seq_cst => atomicrmw add ptr addrspace(1) %p, i32 %v acq_rel
; The critical section has no beginning, or no end:
; weaker: syncscope("device") acquire monotonic ; lock => syncscope("device") monotonic monotonic
; weaker: store atomic i32 0, ptr addrspace(1) %lock syncscope("device") release, align 4 => store atomic i32 0, ptr addrspace(1) %lock syncscope("device") monotonic, align 4
; The loaded value is taken from another place, or the loop stops early:
; wrong-value: %v = load i32, ptr addrspace(1) %from, align 4 => %v = load i32, ptr addrspace(1) %q, align 4
; wrong-value: icmp ult i64 %j, %n => icmp ule i64 %j, %n
; The scope or the order is lost with the address space:
; weaker: atomicrmw add ptr addrspace(3) %p, i32 1 syncscope("block") acq_rel => atomicrmw add ptr addrspace(3) %p, i32 1 syncscope("block") acquire
; The expansion computes something else, or loses the order:
; wrong-value: %new = xor i32 %both, -1 => %new = xor i32 %both, 0
; weaker: syncscope("device") acquire acquire ; nand => syncscope("device") monotonic monotonic
; wrong-value: %less = fsub float %held, %v => %less = fsub float %v, %held
; weaker: syncscope("device") release monotonic ; fsub => syncscope("device") monotonic monotonic

define void @publish(ptr addrspace(1) noalias %data, ptr addrspace(1) %flag, i32 %v) {
  store i32 %v, ptr addrspace(1) %data, align 4
  store atomic i32 1, ptr addrspace(1) %flag syncscope("device") release, align 4
  ret void
}

define i32 @consume(ptr addrspace(1) %data, ptr addrspace(1) %flag) {
entry:
  %f = load atomic i32, ptr addrspace(1) %flag syncscope("device") acquire, align 4
  %ready = icmp eq i32 %f, 0
  br i1 %ready, label %end, label %then
then:
  %a = load i32, ptr addrspace(1) %data, align 4
  %s = shl i32 %a, 1
  br label %end
end:
  %r = phi i32 [ %s, %then ], [ 0, %entry ]
  ret i32 %r
}

define i32 @reread(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  %f = load atomic i32, ptr addrspace(1) %q syncscope("device") acquire, align 4
  %b = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  %t = shl i32 %f, 8
  %r = add i32 %t, %b
  ret i32 %r
}

define i32 @polled(ptr addrspace(1) %p) {
  %unused = load volatile i32, ptr addrspace(1) %p, align 4
  %used = load volatile i32, ptr addrspace(1) %p, align 4
  ret i32 %used
}

define void @dead(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  store i32 2, ptr addrspace(1) %p, align 4
  store atomic i32 1, ptr addrspace(1) %q syncscope("device") release, align 4
  ret void
}

define void @critical(ptr addrspace(1) %lock, ptr addrspace(1) %count) {
entry:
  br label %spin
spin:
  %pair = cmpxchg ptr addrspace(1) %lock, i32 0, i32 1 syncscope("device") acquire monotonic ; lock
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
  %from = getelementptr i32, ptr addrspace(1) %p, i64 0
  %v = load i32, ptr addrspace(1) %from, align 4
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %j, %body ]
  %at = getelementptr i32, ptr addrspace(1) %q, i64 %i
  store i32 %v, ptr addrspace(1) %at, align 4
  %j = add nuw i64 %i, 1
  %more = icmp ult i64 %j, %n
  br i1 %more, label %body, label %end
end:
  ret void
}

define i32 @generic(ptr addrspace(3) %p) {
  %old = atomicrmw add ptr addrspace(3) %p, i32 1 syncscope("block") acq_rel
  ret i32 %old
}

define i32 @expanded(ptr addrspace(1) %p, i32 %v) {
entry:
  %first = load i32, ptr addrspace(1) %p, align 4
  br label %start
start:
  %held = phi i32 [ %first, %entry ], [ %found, %start ]
  %both = and i32 %held, %v
  %new = xor i32 %both, -1
  %pair = cmpxchg ptr addrspace(1) %p, i32 %held, i32 %new syncscope("device") acquire acquire ; nand
  %ok = extractvalue { i32, i1 } %pair, 1
  %found = extractvalue { i32, i1 } %pair, 0
  br i1 %ok, label %end, label %start
end:
  ret i32 %found
}

define float @difference(ptr addrspace(1) %p, float %v) {
entry:
  %first = load atomic i32, ptr addrspace(1) %p syncscope("device") monotonic, align 4
  br label %start
start:
  %bits = phi i32 [ %first, %entry ], [ %found, %start ]
  %held = bitcast i32 %bits to float
  %less = fsub float %held, %v
  %new = bitcast float %less to i32
  %pair = cmpxchg ptr addrspace(1) %p, i32 %bits, i32 %new syncscope("device") release monotonic ; fsub
  %ok = extractvalue { i32, i1 } %pair, 1
  %found = extractvalue { i32, i1 } %pair, 0
  br i1 %ok, label %end, label %start
end:
  %old = bitcast i32 %found to float
  ret float %old
}

define i32 @sequential(ptr addrspace(1) %p, i32 %v) {
  %old = atomicrmw add ptr addrspace(1) %p, i32 %v seq_cst
  ret i32 %old
}
