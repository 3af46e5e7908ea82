; What each function returns stands behind its name. `opt` says the same.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"

%pair = type { i8, i32, [2 x i16] }
%tight = type <{ i8, i32, i16 }>

; add_wraps = 4
define i8 @add_wraps() {
  %a = add i8 250, 10
  ret i8 %a
}
; sub_wraps = 65535
define i16 @sub_wraps() {
  %a = sub i16 3, 4
  ret i16 %a
}
; mul_wraps = 254
define i32 @mul_wraps() {
  %a = mul i8 127, 2
  %w = zext i8 %a to i32
  ret i32 %w
}
; odd_width = 3
define i32 @odd_width() {
  %a = add i5 30, 5
  %w = zext i5 %a to i32
  ret i32 %w
}
; wide_odd = 1
define i64 @wide_odd() {
  %a = add i40 1099511627775, 2
  %w = zext i40 %a to i64
  ret i64 %w
}
; shifts_left = 128
define i8 @shifts_left() {
  %a = shl i8 3, 7
  ret i8 %a
}
; shifts_right = 64
define i8 @shifts_right() {
  %a = add i8 100, 28
  %b = lshr i8 %a, 1
  ret i8 %b
}
; shifts_sign = 192
define i8 @shifts_sign() {
  %a = add i8 100, 28
  %b = ashr i8 %a, 1
  ret i8 %b
}
; shifts_sign_64 = 18446744073709551615
define i64 @shifts_sign_64() {
  %a = sub i64 0, 5
  %b = ashr i64 %a, 40
  ret i64 %b
}
; sign_extends = 4294967280
define i32 @sign_extends() {
  %a = sub i8 0, 16
  %w = sext i8 %a to i32
  ret i32 %w
}
; sign_extends_to_64 = 18446744073709551600
define i64 @sign_extends_to_64() {
  %a = sub i16 0, 16
  %w = sext i16 %a to i64
  ret i64 %w
}
; sign_extends_a_little = 4080
define i32 @sign_extends_a_little() {
  %a = sub i8 0, 16
  %m = sext i8 %a to i12
  %w = zext i12 %m to i32
  ret i32 %w
}
; zero_extends = 240
define i64 @zero_extends() {
  %a = sub i8 0, 16
  %w = zext i8 %a to i64
  ret i64 %w
}
; truncates = 52
define i8 @truncates() {
  %a = trunc i64 4660 to i8
  ret i8 %a
}
; bit_of_a_number = 1
define i32 @bit_of_a_number() {
  %a = trunc i32 7 to i1
  %w = zext i1 %a to i32
  ret i32 %w
}
; sign_of_a_bit = 4294967295
define i32 @sign_of_a_bit() {
  %a = icmp ult i32 1, 2
  %w = sext i1 %a to i32
  ret i32 %w
}
; compares_signed = 5
define i32 @compares_signed() {
  %a = sub i8 0, 1
  %c = icmp slt i8 %a, 1
  %d = icmp ugt i8 %a, 1
  %b = and i1 %c, %d
  %r = select i1 %b, i32 5, i32 6
  ret i32 %r
}
; compares_bits = 9
define i32 @compares_bits() {
  %a = icmp eq i32 1, 1
  %b = icmp sgt i1 false, %a
  %c = xor i1 %b, true
  %d = select i1 %c, i1 true, i1 %a
  %e = icmp eq i1 %d, %a
  %r = select i1 %e, i32 9, i32 8
  ret i32 %r
}
; compares_64 = 1
define i1 @compares_64() {
  %a = sub i64 0, 1
  %c = icmp sle i64 %a, 0
  ret i1 %c
}
; divides = 21
define i32 @divides() {
  %a = add i32 80, 3
  %b = udiv i32 %a, 8
  %c = urem i32 %a, 16
  %s = mul i32 %b, %c
  %t = sub i32 %s, 9
  ret i32 %t
}
; smallest = 249
define i8 @smallest() {
  %a = sub i8 0, 7
  %b = call i8 @llvm.smin.i8(i8 %a, i8 3)
  ret i8 %b
}
; largest = 250
define i8 @largest() {
  %a = sub i8 0, 7
  %b = call i8 @llvm.umax.i8(i8 %a, i8 3)
  %c = call i8 @llvm.abs.i8(i8 %a, i1 false)
  %d = sub i8 %b, %c
  %e = add i8 %d, 8
  ret i8 %e
}
; swaps = 12
define i32 @swaps() {
entry:
  br label %again
again:
  %x = phi i32 [ 1, %entry ], [ %y, %again ]
  %y = phi i32 [ 2, %entry ], [ %x, %again ]
  %n = phi i32 [ 0, %entry ], [ %next, %again ]
  %next = add i32 %n, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %again, label %done
done:
  %tens = mul i32 %x, 10
  %r = add i32 %tens, %y
  ret i32 %r
}
; value_of_the_last_time = 3
define i32 @value_of_the_last_time() {
  br label %again
again:
  %x = phi i32 [ 0, %0 ], [ %next, %again ]
  %next = add i32 %x, 1
  %more = icmp ult i32 %x, 3
  br i1 %more, label %again, label %done
done:
  ret i32 %x
}
; switches = 41
define i32 @switches() {
entry:
  %a = add i32 1, 1
  switch i32 %a, label %other [
    i32 0, label %zero
    i32 2, label %join
    i32 3, label %join
  ]
zero:
  br label %join
other:
  br label %join
join:
  %r = phi i32 [ 40, %zero ], [ 41, %entry ], [ 41, %entry ], [ 42, %other ]
  ret i32 %r
}
; local_slot = 7
define i32 @local_slot() {
  %s = alloca i32, align 4
  store i32 3, i32* %s, align 4
  %a = load i32, i32* %s
  %b = add i32 %a, 4
  store i32 %b, i32* %s
  %r = load i32, i32* %s
  ret i32 %r
}
; local_array = 513
define i32 @local_array() {
  %s = alloca [4 x i8], align 4
  %a = getelementptr [4 x i8], [4 x i8]* %s, i64 0, i64 0
  %b = getelementptr i8, i8* %a, i32 1
  store i8 1, i8* %a
  store i8 2, i8* %b
  %p = bitcast [4 x i8]* %s to i16*
  %r = load i16, i16* %p
  %w = zext i16 %r to i32
  ret i32 %w
}
; fields = 19
define i64 @fields() {
  %p = getelementptr %pair, %pair* null, i64 1, i32 2, i64 1
  %q = ptrtoint i16* %p to i64
  %t = getelementptr %tight, %tight* null, i64 0, i32 2
  %u = ptrtoint i16* %t to i64
  %d = add i64 %q, %u
  %e = sub i64 %d, 8
  ret i64 %e
}
; backwards = 4
define i64 @backwards() {
  %n = sub i32 0, 3
  %p = getelementptr i32, i32* null, i64 4
  %q = getelementptr i32, i32* %p, i32 %n
  %r = ptrtoint i32* %q to i64
  ret i64 %r
}
; parts = 31
define i32 @parts() {
  %a = insertvalue { i32, i1 } undef, i32 30, 0
  %b = insertvalue { i32, i1 } %a, i1 true, 1
  %x = extractvalue { i32, i1 } %b, 0
  %y = extractvalue { i32, i1 } %b, 1
  %z = zext i1 %y to i32
  %r = add i32 %x, %z
  ret i32 %r
}
; elements = 11
define i32 @elements() {
  %a = insertelement <2 x i32> undef, i32 4, i32 0
  %b = insertelement <2 x i32> %a, i32 5, i32 1
  %c = add <2 x i32> %b, <i32 1, i32 1>
  %x = extractelement <2 x i32> %c, i32 0
  %y = extractelement <2 x i32> %c, i32 1
  %r = add i32 %x, %y
  ret i32 %r
}
; shuffled = 54
define i32 @shuffled() {
  %a = insertelement <2 x i32> undef, i32 4, i32 0
  %b = insertelement <2 x i32> %a, i32 5, i32 1
  %c = shufflevector <2 x i32> %b, <2 x i32> undef, <3 x i32> <i32 1, i32 undef, i32 0>
  %x = extractelement <3 x i32> %c, i32 0
  %y = extractelement <3 x i32> %c, i32 2
  %t = mul i32 %x, 10
  %r = add i32 %t, %y
  ret i32 %r
}
; bits_in_memory = 1
define i32 @bits_in_memory() {
  %s = alloca [1 x i1], align 1
  %p = getelementptr [1 x i1], [1 x i1]* %s, i64 0, i64 0
  %c = icmp eq i32 1, 1
  store i1 %c, i1* %p
  %b = load i1, i1* %p
  %w = zext i1 %b to i32
  ret i32 %w
}
; of_floats = 1084227584
define i32 @of_floats() {
  %a = fadd float 2.5, 2.5
  %b = bitcast float %a to i32
  ret i32 %b
}
; of_doubles = 4611686018427387904
define i64 @of_doubles() {
  %a = fmul double 0x3FF8000000000000, 2.0
  %c = fsub double %a, 1.0
  %b = bitcast double %c to i64
  ret i64 %b
}

declare i8 @llvm.smin.i8(i8, i8)
declare i8 @llvm.umax.i8(i8, i8)
declare i8 @llvm.abs.i8(i8, i1)
