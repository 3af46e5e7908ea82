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
; wide_add_low = 18446744073709551614
define i64 @wide_add_low() {
  %a = add i128 36893488147419103229, 18446744073709551617
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_sub_low = 4
define i64 @wide_sub_low() {
  %a = sub i128 18446744073709551617, 36893488147419103229
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_mul_low = 10731721071278562664
define i64 @wide_mul_low() {
  %a = mul i128 -98765432109876543210987654321098765432, 36893488147419103229
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_xor_low = 15875069739565888631
define i64 @wide_xor_low() {
  %a = xor i128 -98765432109876543210987654321098765432, 170141183460469231731687303715884105727
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_5_low = 8506602397759009024
define i64 @wide_shl_5_low() {
  %a = shl i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_5_low = 15644805135134423644
define i64 @wide_lshr_5_low() {
  %a = lshr i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_5_low = 15644805135134423644
define i64 @wide_ashr_5_low() {
  %a = ashr i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_64_low = 0
define i64 @wide_shl_64_low() {
  %a = shl i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_64_low = 13092659270709664315
define i64 @wide_lshr_64_low() {
  %a = lshr i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_64_low = 13092659270709664315
define i64 @wide_ashr_64_low() {
  %a = ashr i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_100_low = 0
define i64 @wide_shl_100_low() {
  %a = shl i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_100_low = 190523267
define i64 @wide_lshr_100_low() {
  %a = lshr i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_100_low = 18446744073631639427
define i64 @wide_ashr_100_low() {
  %a = ashr i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 0
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_add_high = 2
define i64 @wide_add_high() {
  %a = add i128 36893488147419103229, 18446744073709551617
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_sub_high = 18446744073709551615
define i64 @wide_sub_high() {
  %a = sub i128 18446744073709551617, 36893488147419103229
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_mul_high = 2758859003577436254
define i64 @wide_mul_high() {
  %a = mul i128 -98765432109876543210987654321098765432, 36893488147419103229
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_xor_high = 14577456839854663108
define i64 @wide_xor_high() {
  %a = xor i128 -98765432109876543210987654321098765432, 170141183460469231731687303715884105727
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_5_high = 13136727041099122532
define i64 @wide_shl_5_high() {
  %a = shl i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_5_high = 409145602209677009
define i64 @wide_lshr_5_high() {
  %a = lshr i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_5_high = 18279428923615805137
define i64 @wide_ashr_5_high() {
  %a = ashr i128 -98765432109876543210987654321098765432, 5
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_64_high = 2571674334143662984
define i64 @wide_shl_64_high() {
  %a = shl i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_64_high = 0
define i64 @wide_lshr_64_high() {
  %a = lshr i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_64_high = 18446744073709551615
define i64 @wide_ashr_64_high() {
  %a = ashr i128 -98765432109876543210987654321098765432, 64
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_shl_100_high = 14552459155836239872
define i64 @wide_shl_100_high() {
  %a = shl i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_lshr_100_high = 0
define i64 @wide_lshr_100_high() {
  %a = lshr i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_ashr_100_high = 18446744073709551615
define i64 @wide_ashr_100_high() {
  %a = ashr i128 -98765432109876543210987654321098765432, 100
  %s = lshr i128 %a, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_slt = 1
define i64 @wide_slt() {
  %c = icmp slt i128 -98765432109876543210987654321098765432, 170141183460469231731687303715884105727
  %d = icmp ult i128 -98765432109876543210987654321098765432, 170141183460469231731687303715884105727
  %e = icmp uge i128 18446744073709551617, 36893488147419103229
  %x = zext i1 %c to i64
  %y = zext i1 %d to i64
  %z = zext i1 %e to i64
  %y2 = shl i64 %y, 1
  %z2 = shl i64 %z, 2
  %xy = or i64 %x, %y2
  %r = or i64 %xy, %z2
  ret i64 %r
}
; wide_equal = 18446744073709551613
define i64 @wide_equal() {
  %n = add i128 18446744073709551617, 1
  %c = icmp eq i128 %n, 18446744073709551618
  %d = icmp ne i128 %n, 2
  %b = and i1 %c, %d
  %s = select i1 %b, i128 36893488147419103229, i128 18446744073709551617
  %r = trunc i128 %s to i64
  ret i64 %r
}
; wide_sext = 18446744073709551615
define i64 @wide_sext() {
  %a = sub i32 3, 8
  %w = sext i32 %a to i128
  %s = ashr i128 %w, 1
  %h = lshr i128 %s, 60
  %r = trunc i128 %h to i64
  ret i64 %r
}
; odd_wide = 18446744073709551615
define i64 @odd_wide() {
  %a = sub i72 3, 8
  %w = zext i72 %a to i128
  %h = lshr i128 %w, 8
  %r = trunc i128 %h to i64
  ret i64 %r
}
; odd_wide_signed = 0
define i32 @odd_wide_signed() {
  %a = sub i72 3, 1000
  %s = ashr i72 %a, 4
  %c = icmp slt i72 %s, -60
  %w = sext i72 %s to i128
  %h = lshr i128 %w, 70
  %t = trunc i128 %h to i32
  %z = zext i1 %c to i32
  %r = add i32 %t, %z
  ret i32 %r
}
; wide_bits = 13092659271308428905
define i64 @wide_bits() {
  %v = bitcast i128 -98765432109876543210987654321098765432 to <4 x i32>
  %w = bitcast <4 x i32> %v to <2 x i64>
  %x = extractelement <2 x i64> %w, i32 1
  %h = extractelement <4 x i32> %v, i32 1
  %z = zext i32 %h to i64
  %r = add i64 %x, %z
  ret i64 %r
}
; wide_memory = 13092659270709664315
define i64 @wide_memory() {
  %p = alloca [2 x i128], align 16
  %q = getelementptr [2 x i128], [2 x i128]* %p, i64 0, i64 1
  store i128 -98765432109876543210987654321098765432, i128* %q, align 16
  %b = bitcast i128* %q to i64*
  %h = getelementptr i64, i64* %b, i64 1
  %r = load i64, i64* %h, align 8
  ret i64 %r
}
