"""The kernels of the corpus `triton` of benches/corpus, which imports this file where Triton is installed.

Each kernel is what people write in Triton, or a synchronisation that Triton's atomics allow. `CASES` is the list of what
to compile: name, function, types of the parameters, constants and options.

Usage: corpus_triton.py DIR NVDISASM ARCH…

Compiles all of them, which needs no GPU, to DIR/ARCH/NAME.ll, .ptx and .sass.
"""
import os, subprocess, sys

import triton
import triton.language as tl

CASES = []


def case(types, name=None, warps=4, stages=2, arch=None, **constants):
    """Compiles the kernel with parameters of these types; `warps`, `stages` and `arch` are options of the compiler."""
    def add(kernel):
        CASES.append({"name": name or kernel.__name__, "kernel": kernel, "types": types.split(), "constants": constants,
                      "warps": warps, "stages": stages, "arch": arch})
        return kernel
    return add


def each(types, name, options, **constants):
    """The same for each entry of `options`: the end of a name, and more constants."""
    def add(kernel):
        for end, more in options:
            case(types, f"{name}_{end}", **constants, **more)(kernel)
        return kernel
    return add


# Elementwise


@case("*fp16 *fp16 *fp16 i32", name="add_half", BLOCK=1024)
@case("*fp32 *fp32 *fp32 i32", name="add_float", BLOCK=1024)
@case("*bf16 *bf16 *bf16 i32", name="add_bfloat", BLOCK=1024)
@case("*i32 *i32 *i32 i32", name="add_int", BLOCK=1024)
@case("*i8 *i8 *i8 i32", name="add_byte", BLOCK=1024)
@case("*i64 *i64 *i64 i64", name="add_long", BLOCK=512)
@case("*fp64 *fp64 *fp64 i32", name="add_double", BLOCK=256)
@case("*i32 *i32 *i32 i32", name="add_one_warp", BLOCK=32, warps=1)
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@case("*i32 *i32", BLOCK=128)
@triton.jit
def copy_unmasked(a, b, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + at, tl.load(a + at))


@case("*fp32 *fp32 i32", BLOCK=512)
@triton.jit
def relu_default(a, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0.0)
    tl.store(b + at, tl.maximum(x, 0.0), mask=at < n)


@case("*fp16 *fp16 i32", BLOCK=512)
@triton.jit
def gelu(a, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0.0).to(tl.float32)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(b + at, y.to(tl.float16), mask=at < n)


@case("*bf16 *bf16 *bf16 i32", BLOCK=512)
@triton.jit
def swiglu(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0.0).to(tl.float32)
    y = tl.load(b + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(c + at, (x * tl.sigmoid(x) * y).to(tl.bfloat16), mask=at < n)


@case("*fp32 *i8 fp32 i32", BLOCK=512)
@triton.jit
def quantise(a, b, scale, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0.0) * scale
    x = tl.minimum(tl.maximum(x, -128.0), 127.0)
    tl.store(b + at, x.to(tl.int8), mask=at < n)


@case("*i8 *fp16 *fp16 i32", BLOCK=512)
@triton.jit
def dequantise(a, scales, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0)
    tl.store(b + at, x.to(tl.float16) * tl.load(scales + at // 64, mask=at < n, other=0.0), mask=at < n)


@case("*i32 *i8 i32", BLOCK=256)
@triton.jit
def unpack_nibbles(a, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(a + at // 8, mask=at < n, other=0)
    tl.store(b + at, ((word >> ((at % 8) * 4)) & 15).to(tl.int8), mask=at < n)


@case("*fp32 *fp32 i32 i32", BLOCK=512)
@triton.jit
def dropout(a, b, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > 0.1
    x = tl.load(a + at, mask=at < n, other=0.0)
    tl.store(b + at, tl.where(keep, x / 0.9, 0.0), mask=at < n)


@case("*i32 *i32 i32", BLOCK=256)
@triton.jit
def hash_bits(a, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0).to(tl.uint32)
    x = (x ^ (x >> 16)) * 0x45D9F3B
    x = (x ^ (x >> 16)) * 0x45D9F3B
    tl.store(b + at, (x ^ (x >> 16)).to(tl.int32), mask=at < n)


@case("*i32 *i32 *i32 i32", BLOCK=256)
@triton.jit
def divide(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, other=0)
    y = tl.load(b + at, mask=at < n, other=1)
    tl.store(c + at, x // y + x % y, mask=at < n)


@case("*fp32 *i32 *fp32 i32", BLOCK=256)
@triton.jit
def gather(a, index, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(index + at, mask=at < n, other=0)
    tl.store(b + at, tl.load(a + where, mask=at < n), mask=at < n)


@case("*i32 *i64 *i32 i32", BLOCK=256)
@triton.jit
def scatter_long(a, index, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(index + at, mask=at < n, other=0)
    tl.store(b + where, tl.load(a + at, mask=at < n), mask=at < n)


@case("*i32 *i32 i64 i32", BLOCK=256)
@triton.jit
def rows_long(a, b, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    tl.store(b + row * stride + at, tl.load(a + row * stride + at, mask=at < n) * 3, mask=at < n)


@case("*fp32 *fp32 i32 i32", X=32, Y=32)
@triton.jit
def transpose(a, b, rows, columns, X: tl.constexpr, Y: tl.constexpr):
    x = tl.program_id(0) * X + tl.arange(0, X)
    y = tl.program_id(1) * Y + tl.arange(0, Y)
    inside = (x[:, None] < rows) & (y[None, :] < columns)
    tile = tl.load(a + x[:, None] * columns + y[None, :], mask=inside)
    tl.store(b + y[:, None] * rows + x[None, :], tl.trans(tile), mask=tl.trans(inside))


@each("*i32 *i32 i32", "load", [
    (name, {"CACHE": cache, "POLICY": policy, "VOLATILE": name == "volatile"})
    for name, cache, policy in [("plain", "", ""), ("ca", ".ca", ""), ("cg", ".cg", ""), ("cv", ".cv", ""), ("volatile", "", ""),
                                ("evict_first", "", "evict_first"), ("evict_last", "", "evict_last")]], BLOCK=128)
@triton.jit
def cached(a, b, n, BLOCK: tl.constexpr, CACHE: tl.constexpr, POLICY: tl.constexpr, VOLATILE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at, mask=at < n, cache_modifier=CACHE, eviction_policy=POLICY, volatile=VOLATILE)
    tl.store(b + at, x, mask=at < n)


@each("*i32 i32", "store", [(cache[1:], {"CACHE": cache}) for cache in [".wb", ".cg", ".cs", ".wt"]], BLOCK=128)
@triton.jit
def fill(a, value, BLOCK: tl.constexpr, CACHE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(a + at, value + tl.zeros([BLOCK], tl.int32), cache_modifier=CACHE)


# Reductions and scans


@case("*fp32 *fp32 i32", name="sum_float", BLOCK=1024)
@case("*i32 *i32 i32", name="sum_int", BLOCK=1024)
@case("*i32 *i32 i32", name="sum_int_one_warp", BLOCK=32, warps=1)
@case("*i64 *i64 i32", name="sum_long", BLOCK=256)
@triton.jit
def total(a, b, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(a + row * n + at, mask=at < n, other=0)
    tl.store(b + row, tl.sum(x, axis=0))


@case("*i32 *i32 i32", BLOCK=256)
@triton.jit
def largest_at(a, b, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(a + row * n + at, mask=at < n, other=-2147483648)
    tl.store(b + row, tl.argmax(x, axis=0))


@case("*i32 *i32", BLOCK=128)
@triton.jit
def parity(a, b, BLOCK: tl.constexpr):
    tl.store(b + tl.program_id(0), tl.xor_sum(tl.load(a + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0))


@case("*fp32 *fp32 i32 i32", X=16, Y=64)
@triton.jit
def sum_columns(a, b, rows, columns, X: tl.constexpr, Y: tl.constexpr):
    y = tl.program_id(0) * Y + tl.arange(0, Y)
    acc = tl.zeros([Y], tl.float32)
    for start in range(0, rows, X):
        x = start + tl.arange(0, X)
        tile = tl.load(a + x[:, None] * columns + y[None, :], mask=(x[:, None] < rows) & (y[None, :] < columns), other=0.0)
        acc += tl.sum(tile, axis=0)
    tl.store(b + y, acc, mask=y < columns)


@case("*fp32 *fp32 i32", BLOCK=1024)
@triton.jit
def softmax(a, b, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    x = tl.load(a + row + at, mask=at < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(b + row + at, e / tl.sum(e, axis=0), mask=at < n)


@case("*fp16 *fp16 *fp16 *fp16 i32 fp32", BLOCK=512)
@triton.jit
def layer_norm(a, weight, bias, b, n, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    x = tl.load(a + row + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(at < n, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    y = centred * scale * tl.load(weight + at, mask=at < n, other=0.0) + tl.load(bias + at, mask=at < n, other=0.0)
    tl.store(b + row + at, y.to(tl.float16), mask=at < n)


@case("*bf16 *bf16 *bf16 i32 fp32", BLOCK=512)
@triton.jit
def rms_norm(a, weight, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(a + row + at, mask=at < n, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(a + row + at, mask=at < n, other=0.0).to(tl.float32)
        w = tl.load(weight + at, mask=at < n, other=0.0).to(tl.float32)
        tl.store(b + row + at, (x * scale * w).to(tl.bfloat16), mask=at < n)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def recurrence(decay, value, next_decay, next_value):
    return decay * next_decay, value * next_decay + next_value


@case("*i32 *i32", name="scan_int", BLOCK=256)
@case("*i32 *i32", name="scan_int_one_warp", BLOCK=32, warps=1)
@case("*fp32 *fp32", name="scan_float", BLOCK=256)
@triton.jit
def scan(a, b, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + at, tl.associative_scan(tl.load(a + at), 0, plus))


@case("*fp32 *fp32 *fp32", BLOCK=128)
@triton.jit
def scan_pair(decay, value, b, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _, out = tl.associative_scan((tl.load(decay + at), tl.load(value + at)), 0, recurrence)
    tl.store(b + at, out)


@case("*i32 *i32", BLOCK=64, warps=2)
@triton.jit
def sort(a, b, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + at, tl.sort(tl.load(a + at)))


@case("*i32 *i32 i32", BLOCK=256, BINS=64)
@triton.jit
def histogram(a, b, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(a + at), BINS)
    tl.atomic_add(b + tl.arange(0, BINS), counts, sem="relaxed")


@case("*fp32 *i32 *fp32 i32", BLOCK=128)
@triton.jit
def cross_entropy(logits, labels, loss, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    at = tl.arange(0, BLOCK)
    x = tl.load(logits + row * n + at, mask=at < n, other=-float("inf"))
    top = tl.max(x, axis=0)
    log_sum = tl.log(tl.sum(tl.exp(x - top), axis=0)) + top
    if label != -100:
        tl.store(loss + row, log_sum - tl.load(logits + row * n + label))
    else:
        tl.store(loss + row, 0.0)


# Matrix products


@case("*fp16 *fp16 *fp16 i32 i32 i32", name="matmul_half", X=64, Y=64, Z=32, stages=3)
@case("*bf16 *bf16 *bf16 i32 i32 i32", name="matmul_bfloat_one_stage", X=32, Y=32, Z=32, stages=1)
@case("*fp32 *fp32 *fp32 i32 i32 i32", name="matmul_tf32", X=32, Y=32, Z=32)
@case("*fp16 *fp16 *fp16 i32 i32 i32", name="matmul_half_wide", X=128, Y=128, Z=64, warps=8, stages=3)
@triton.jit
def matmul(a, b, c, m, n, k, X: tl.constexpr, Y: tl.constexpr, Z: tl.constexpr):
    x = tl.program_id(0) * X + tl.arange(0, X)
    y = tl.program_id(1) * Y + tl.arange(0, Y)
    z = tl.arange(0, Z)
    acc = tl.zeros((X, Y), tl.float32)
    for start in range(0, k, Z):
        left = tl.load(a + x[:, None] * k + (start + z)[None, :], mask=(start + z)[None, :] < k, other=0.0)
        right = tl.load(b + (start + z)[:, None] * n + y[None, :], mask=(start + z)[:, None] < k, other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + x[:, None] * n + y[None, :], acc.to(c.dtype.element_ty), mask=(x[:, None] < m) & (y[None, :] < n))


@case("*i8 *i8 *i32 i32", X=32, Y=32, Z=32)
@triton.jit
def matmul_byte(a, b, c, k, X: tl.constexpr, Y: tl.constexpr, Z: tl.constexpr):
    x, y, z = tl.arange(0, X), tl.arange(0, Y), tl.arange(0, Z)
    acc = tl.zeros((X, Y), tl.int32)
    for start in range(0, k, Z):
        left = tl.load(a + x[:, None] * k + (start + z)[None, :])
        right = tl.load(b + (start + z)[:, None] * Y + y[None, :])
        acc += tl.dot(left, right)
    tl.store(c + x[:, None] * Y + y[None, :], acc)


@case("*fp16 *fp16 *fp32 i32 i32 i32", X=32, Y=32, Z=32)
@triton.jit
def split_k_atomic(a, b, c, m, n, k, X: tl.constexpr, Y: tl.constexpr, Z: tl.constexpr):
    x = tl.program_id(0) * X + tl.arange(0, X)
    y = tl.program_id(1) * Y + tl.arange(0, Y)
    z = tl.program_id(2) * Z + tl.arange(0, Z)
    acc = tl.dot(tl.load(a + x[:, None] * k + z[None, :]), tl.load(b + z[:, None] * n + y[None, :]))
    tl.atomic_add(c + x[:, None] * n + y[None, :], acc, sem="relaxed")


@case("*fp16 *fp16 *fp32 *i32 i32 i32 i32", X=32, Y=32, Z=32)
@triton.jit
def split_k_lock(a, b, c, locks, m, n, k, X: tl.constexpr, Y: tl.constexpr, Z: tl.constexpr):
    x = tl.program_id(0) * X + tl.arange(0, X)
    y = tl.program_id(1) * Y + tl.arange(0, Y)
    z = tl.program_id(2) * Z + tl.arange(0, Z)
    acc = tl.dot(tl.load(a + x[:, None] * k + z[None, :]), tl.load(b + z[:, None] * n + y[None, :]))
    lock = locks + tl.program_id(0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    where = c + x[:, None] * n + y[None, :]
    tl.store(where, tl.load(where) + acc)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case("*fp16 *fp16 *fp16 i32 i32 i32 i32", X=32, Y=32, Z=32)
@triton.jit
def matmul_persistent(a, b, c, m, n, k, programs, X: tl.constexpr, Y: tl.constexpr, Z: tl.constexpr):
    wide = tl.cdiv(n, Y)
    z = tl.arange(0, Z)
    for tile in range(tl.program_id(0), tl.cdiv(m, X) * wide, programs):
        x = (tile // wide) * X + tl.arange(0, X)
        y = (tile % wide) * Y + tl.arange(0, Y)
        acc = tl.zeros((X, Y), tl.float32)
        for start in range(0, k, Z):
            left = tl.load(a + x[:, None] * k + (start + z)[None, :])
            right = tl.load(b + (start + z)[:, None] * n + y[None, :])
            acc = tl.dot(left, right, acc)
        tl.store(c + x[:, None] * n + y[None, :], acc.to(tl.float16))


@case("*fp16 *fp16 *fp16 *fp16 i32 fp32", X=64, Y=64, D=64)
@triton.jit
def attention(q, k, v, o, n, scale, X: tl.constexpr, Y: tl.constexpr, D: tl.constexpr):
    x = tl.program_id(0) * X + tl.arange(0, X)
    d = tl.arange(0, D)
    query = tl.load(q + x[:, None] * D + d[None, :])
    top = tl.full([X], -float("inf"), tl.float32)
    bottom = tl.zeros([X], tl.float32)
    acc = tl.zeros([X, D], tl.float32)
    for start in range(0, n, Y):
        y = start + tl.arange(0, Y)
        s = tl.dot(query, tl.trans(tl.load(k + y[:, None] * D + d[None, :]))) * scale
        s = tl.where(x[:, None] >= y[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(top - new)
        bottom = bottom * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p.to(tl.float16), tl.load(v + y[:, None] * D + d[None, :]))
        top = new
    tl.store(o + x[:, None] * D + d[None, :], (acc / bottom[:, None]).to(tl.float16))


# Atomics: every order and scope

ORDERS = [(f"{sem}_{scope}", {"SEM": sem, "SCOPE": scope})
          for sem in ["relaxed", "acquire", "release", "acq_rel"] for scope in ["cta", "gpu", "sys"]]


@each("*i32 *i32", "atomic_add", ORDERS)
@each("*i64 *i64", "atomic_add_long", ORDERS[9:])
@triton.jit
def atomic_add(a, b, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.store(b + tl.program_id(0), tl.atomic_add(a, 1, sem=SEM, scope=SCOPE))


@each("*i32", "atomic_add_unused", ORDERS[::2])
@triton.jit
def atomic_add_unused(a, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.atomic_add(a, 1, sem=SEM, scope=SCOPE)


@each("*i32 *i32", "atomic_cas", ORDERS)
@each("*i64 *i64", "atomic_cas_long", ORDERS[9:])
@triton.jit
def atomic_cas(a, b, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.store(b + tl.program_id(0), tl.atomic_cas(a, tl.cast(0, a.dtype.element_ty), tl.cast(1, a.dtype.element_ty), sem=SEM,
                                                   scope=SCOPE))


@each("*i32 *i32", "atomic_xchg", ORDERS[1::3])
@triton.jit
def atomic_xchg(a, b, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.store(b + tl.program_id(0), tl.atomic_xchg(a, 7, sem=SEM, scope=SCOPE))


@each("*i32 *i32", "atomic_bits", [("and", {"OP": 0}), ("or", {"OP": 1}), ("xor", {"OP": 2}), ("max", {"OP": 3}), ("min", {"OP": 4})])
@triton.jit
def atomic_bits(a, b, OP: tl.constexpr):
    if OP == 0:
        old = tl.atomic_and(a, 6)
    elif OP == 1:
        old = tl.atomic_or(a, 6)
    elif OP == 2:
        old = tl.atomic_xor(a, 6)
    elif OP == 3:
        old = tl.atomic_max(a, 6)
    else:
        old = tl.atomic_min(a, 6)
    tl.store(b + tl.program_id(0), old)


@case("*fp32 *fp32 i32", name="atomic_add_float_block", BLOCK=128)
@case("*fp16 *fp16 i32", name="atomic_add_half_block", BLOCK=128)
@case("*i32 *i32 i32", name="atomic_add_int_block", BLOCK=128)
@triton.jit
def atomic_add_block(a, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(b + at, tl.load(a + at, mask=at < n), mask=at < n, sem="relaxed")


@case("*fp32 *i32 *fp32 i32", BLOCK=128)
@triton.jit
def scatter_add(a, index, b, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(index + at, mask=at < n, other=0)
    tl.atomic_add(b + where, tl.load(a + at, mask=at < n), mask=at < n, sem="relaxed", scope="gpu")


# Synchronisation


@case("*i32 *i32", name="spin_lock")
@case("*i32 *i32", name="spin_lock_one_warp", warps=1)
@triton.jit
def spin_lock(lock, counter):
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.store(counter, tl.load(counter) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release", scope="gpu")


@case("*i32 *i32")
@triton.jit
def spin_lock_relaxed(lock, counter):
    while tl.atomic_cas(lock, 0, 1, sem="relaxed") == 1:
        pass
    tl.store(counter, tl.load(counter) + 1)
    tl.atomic_xchg(lock, 0, sem="relaxed")


@case("*i32 *fp32 *fp32 i32", BLOCK=128)
@triton.jit
def lock_row(lock, partial, x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(lock + 1)
    if count == 0:
        tl.atomic_xchg(lock + 1, 1)
    else:
        value += tl.load(partial + at, mask=at < n)
    tl.store(partial + at, value, mask=at < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case("*i32 *i32 *i32")
@triton.jit
def ticket_lock(tickets, serving, counter):
    mine = tl.atomic_add(tickets, 1, sem="relaxed")
    while tl.atomic_add(serving, 0, sem="acquire") != mine:
        pass
    tl.store(counter, tl.load(counter) + 1)
    tl.debug_barrier()
    tl.atomic_add(serving, 1, sem="release")


@case("*i32 *i32 *i32 i32", BLOCK=128)
@triton.jit
def last_block(count, partial, out, programs, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    tl.store(partial + me, me + 1)
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel", scope="gpu") == programs - 1:
        at = tl.arange(0, BLOCK)
        tl.store(out, tl.sum(tl.load(partial + at, mask=at < programs, other=0), axis=0))


@case("*i32 *i32 *i32", name="last_block_of_two")
@triton.jit
def last_of_two(count, partial, out):
    me = tl.program_id(0)
    tl.store(partial + me, 1)
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel", scope="gpu") == 1:
        tl.store(out, tl.load(partial) + tl.load(partial + 1))


@case("*i32 *i32 i32")
@triton.jit
def grid_barrier(count, data, programs):
    me = tl.program_id(0)
    tl.store(data + me, 1)
    tl.debug_barrier()
    tl.atomic_add(count, 1, sem="release", scope="gpu")
    while tl.atomic_add(count, 0, sem="acquire", scope="gpu") < programs:
        pass
    tl.debug_barrier()
    tl.store(data + programs + me, tl.load(data + (me + 1) % programs))


@case("*i32 *i32 i32")
@triton.jit
def publish(flag, data, value):
    tl.store(data, value)
    tl.debug_barrier()
    tl.atomic_xchg(flag, 1, sem="release", scope="gpu")


@case("*i32 *i32 *i32")
@triton.jit
def consume(flag, data, out):
    while tl.atomic_cas(flag, 1, 1, sem="acquire", scope="gpu") != 1:
        pass
    tl.store(out, tl.load(data))


@case("*i32 *i32 *i32")
@triton.jit
def consume_volatile(flag, data, out):
    while tl.load(flag, volatile=True) != 1:
        pass
    tl.store(out, tl.load(data))


@case("*i32 *i32 *i32 i32")
@triton.jit
def signal_peers(flags, data, out, world):
    me = tl.program_id(0)
    tl.store(data, me)
    tl.debug_barrier()
    for peer in range(world):
        tl.atomic_cas(flags + peer, 0, 1, sem="release", scope="sys")
    while tl.atomic_cas(flags + me, 1, 0, sem="acquire", scope="sys") != 1:
        pass
    tl.store(out, tl.load(data))


@case("*i64 *i32 *i32")
@triton.jit
def look_back(state, data, out):
    me = tl.program_id(0)
    local = tl.load(data + me)
    prefix = 0
    if me > 0:
        word = tl.atomic_add(state + me - 1, 0, sem="acquire", scope="gpu")
        while (word & 1) == 0:
            word = tl.atomic_add(state + me - 1, 0, sem="acquire", scope="gpu")
        prefix = (word >> 1).to(tl.int32)
    tl.atomic_xchg(state + me, ((prefix + local).to(tl.int64) << 1) | 1, sem="release", scope="gpu")
    tl.store(out + me, prefix + local)


@case("*i32 *i32 *i32")
@triton.jit
def take_work(next, queue, out):
    item = tl.atomic_add(next, 1, sem="relaxed", scope="gpu")
    while item < 4:
        tl.store(out + item, tl.load(queue + item) + 1)
        item = tl.atomic_add(next, 1, sem="relaxed", scope="gpu")


@case("*i32 *i32 *i32")
@triton.jit
def ring_push(head, ring, tail):
    at = tl.atomic_add(head, 1, sem="acq_rel")
    tl.store(ring + at % 4, at)
    tl.debug_barrier()
    while tl.atomic_cas(tail, at, at + 1, sem="release") != at:
        pass


@case("*i32 *i32 *i32")
@triton.jit
def claim_once(done, data, out):
    if tl.atomic_cas(done, 0, 1, sem="acq_rel", scope="gpu") == 0:
        tl.store(data, 5)
    tl.store(out + tl.program_id(0), tl.load(data))


@case("*i32 *i32", BLOCK=64)
@triton.jit
def barrier_between(a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(a + at, at)
    tl.debug_barrier()
    tl.store(b + at, tl.load(a + (BLOCK - 1 - at)))


# Inline assembly


@case("*i32 *i32", BLOCK=128)
@triton.jit
def asm_add(a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("add.s32 $0, $1, 5;", "=r,r", [tl.load(a + at)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(b + at, x)


@case("*i8 *i8", BLOCK=512)
@triton.jit
def asm_bytes(a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("lop3.b32 $0, $1, 0x0f0f0f0f, 0, 0xc0;", "=r,r", [tl.load(a + at)], dtype=tl.int8,
                                  is_pure=True, pack=4)
    tl.store(b + at, x)


@case("*i32 *i32")
@triton.jit
def asm_fence(flag, data):
    tl.store(data, 1)
    tl.inline_asm_elementwise("fence.acq_rel.gpu; mov.u32 $0, 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(flag, 1)


@case("*i32 *i32 *i32")
@triton.jit
def asm_load_acquire(flag, data, out):
    seen = tl.inline_asm_elementwise("ld.global.acquire.gpu.b32 $0, [$1];", "=r,l", [flag], dtype=tl.int32,
                                     is_pure=False, pack=1)
    if seen == 1:
        tl.store(out, tl.load(data))


@case("*i32 *i32", name="asm_store_release")
@triton.jit
def asm_store_release(flag, data):
    tl.store(data, 1)
    tl.debug_barrier()
    tl.inline_asm_elementwise("st.global.release.gpu.b32 [$1], 1; mov.u32 $0, 0;", "=r,l", [flag], dtype=tl.int32,
                              is_pure=False, pack=1)


@case("*i64")
@triton.jit
def asm_clock(out):
    now = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    tl.store(out + tl.program_id(0), now)


def compiled(one, arch):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = one["kernel"]
    names = [name for name in kernel.arg_names if name not in one["constants"]]
    assert len(names) == len(one["types"]), f"{one['name']}: {len(one['types'])} types for {names}"
    signature = dict(zip(names, one["types"])) | {name: "constexpr" for name in one["constants"]}
    signature = {name: signature[name] for name in kernel.arg_names}
    # As at a launch: allocations are aligned to 16 bytes.
    aligned = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in names if signature[name][0] == "*"}
    source = ASTSource(fn=kernel, signature=signature, constexprs=one["constants"], attrs=aligned)
    options = {"num_warps": one["warps"], "num_stages": one["stages"]}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options).asm


def main():
    folder, nvdisasm, *archs = sys.argv[1:]
    for arch in archs:
        at = os.path.join(folder, arch)
        os.makedirs(at, exist_ok=True)
        for one in CASES:
            path = os.path.join(at, one["name"])
            try:
                asm = compiled(one, int(arch[3:]))
            except Exception as error:
                print(f"{one['name']} {arch}: {str(error).strip().splitlines()[-1][:150]}", flush=True)
                continue
            with open(path + ".cubin", "wb") as out:
                out.write(asm["cubin"])
            for key, ending in [("llir", ".ll"), ("ptx", ".ptx")]:
                with open(path + ending, "w") as out:
                    out.write(asm[key])
            with open(path + ".sass", "w") as out:
                subprocess.run([nvdisasm, path + ".cubin"], stdout=out, stderr=subprocess.DEVNULL, check=True)
            os.remove(path + ".cubin")


if __name__ == "__main__":
    main()
