"""The kernels of the corpus `libcudacxx` of benches/corpus: CUDA C++ that uses <cuda/atomic>, barriers and fences.

`OPERATIONS` has one kernel for each operation of cuda::atomic_ref, order, scope and type. `KERNELS` are synchronisations
as people write them.

Usage: corpus_cuda.py DIR NVRTC PTXAS NVDISASM ARCH INCLUDE…

Compiles all of them, which needs no GPU, to DIR/NAME.ptx and .sass. NVRTC is the library.
"""
import ctypes, os, re, subprocess, sys

HEADERS = """
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_acquire;
using cuda::std::memory_order_release;
using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_seq_cst;
template <class T> using on_device = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <class T> using on_system = cuda::atomic_ref<T, cuda::thread_scope_system>;
template <class T> using on_block = cuda::atomic_ref<T, cuda::thread_scope_block>;
"""

ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
SCOPES = ["system", "device", "block"]
TYPES = {"u32": "unsigned", "i32": "int", "u64": "unsigned long long", "i64": "long long", "f32": "float", "f64": "double",
         "u8": "unsigned char", "u16": "unsigned short"}
ACTIONS = {
    "load": ("*out = at.load({order});", ["relaxed", "acquire", "seq_cst"]),
    "store": ("at.store(value, {order});", ["relaxed", "release", "seq_cst"]),
    "exchange": ("*out = at.exchange(value, {order});", ORDERS),
    "compare_exchange": ("T old = expected; *won = at.compare_exchange_strong(old, value, {order}); *out = old;", ORDERS),
    "fetch_add": ("*out = at.fetch_add(value, {order});", ORDERS),
    "fetch_sub": ("*out = at.fetch_sub(value, {order});", ["acq_rel"]),
    "fetch_and": ("*out = at.fetch_and(value, {order});", ["acq_rel"]),
    "fetch_or": ("*out = at.fetch_or(value, {order});", ["release"]),
    "fetch_xor": ("*out = at.fetch_xor(value, {order});", ["relaxed"]),
    "fetch_min": ("*out = at.fetch_min(value, {order});", ["acquire"]),
    "fetch_max": ("*out = at.fetch_max(value, {order});", ["seq_cst"]),
    "add_unused": ("at.fetch_add(value, {order});", ["relaxed", "release"]),
}


def operation(kind, action, order, scope):
    body = ACTIONS[action][0].format(order="memory_order_" + order)
    return f"""extern "C" __global__ void {action}_{kind}_{order}_{scope}({TYPES[kind]}* x, {TYPES[kind]} value, {TYPES[kind]} expected,
    {TYPES[kind]}* out, bool* won) {{
  using T = {TYPES[kind]};
  cuda::atomic_ref<T, cuda::thread_scope_{scope}> at(*x);
  {body}
}}
"""


def operations():
    common = ["load", "store", "exchange", "compare_exchange", "fetch_add"]
    for kind in TYPES:
        for action, (_, orders) in ACTIONS.items():
            bits = action in ("fetch_and", "fetch_or", "fetch_xor")
            if kind[0] == "f" and bits or kind[0] == "i" and action not in ("fetch_min", "fetch_max"):
                continue
            full = kind in ("u32", "u64")
            for scope in SCOPES if full and action in common else ["device"]:
                for order in orders:
                    if kind in ("f64", "u16") and order in ("acquire", "release") and action in common[2:]:
                        continue
                    yield f"{action}_{kind}_{order}_{scope}", operation(kind, action, order, scope)
    for order in ["acquire", "release", "acq_rel", "seq_cst"]:
        for scope in SCOPES:
            yield f"fence_{order}_{scope}", f"""extern "C" __global__ void fence_{order}_{scope}(int* x, int* y) {{
  on_device<int>(*x).store(1, memory_order_relaxed);
  cuda::atomic_thread_fence(memory_order_{order}, cuda::thread_scope_{scope});
  on_device<int>(*y).store(1, memory_order_relaxed);
}}
"""


# Each kernel ends with a line `}`. Its name is that of the function.
KERNELS = r"""
extern "C" __global__ void counter(int* count) {
  on_device<int>(*count).fetch_add(1, memory_order_relaxed);
}
extern "C" __global__ void counter_long(unsigned long long* count, unsigned long long* mine) {
  *mine = on_device<unsigned long long>(*count).fetch_add(1, memory_order_relaxed);
}
extern "C" __global__ void counter_of_group(int* count, int* place) {
  auto group = cg::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) first = on_device<int>(*count).fetch_add(group.size(), memory_order_relaxed);
  place[threadIdx.x] = group.shfl(first, 0) + group.thread_rank();
}
extern "C" __global__ void publish(int* data, int* flag, int value) {
  *data = value;
  on_device<int>(*flag).store(1, memory_order_release);
}
extern "C" __global__ void consume(int* data, int* flag, int* out) {
  while (on_device<int>(*flag).load(memory_order_acquire) == 0) {}
  *out = *data;
}
extern "C" __global__ void consume_once(int* data, int* flag, int* out) {
  if (on_device<int>(*flag).load(memory_order_acquire)) *out = *data;
}
extern "C" __global__ void publish_fence(int* data, int* flag, int value) {
  *data = value;
  __threadfence();
  on_device<int>(*flag).store(1, memory_order_relaxed);
}
extern "C" __global__ void consume_fence(int* data, int* flag, int* out) {
  while (on_device<int>(*flag).load(memory_order_relaxed) == 0) {}
  cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
  *out = *data;
}
extern "C" __global__ void publish_volatile(int* data, volatile int* flag, int value) {
  *data = value;
  __threadfence_system();
  *flag = 1;
}
extern "C" __global__ void consume_volatile(int* data, volatile int* flag, int* out) {
  while (*flag == 0) {}
  __threadfence_system();
  *out = *data;
}
extern "C" __global__ void wait_and_read(int* data, int* flag, int* out) {
  on_device<int>(*flag).wait(0, memory_order_acquire);
  *out = *data;
}
extern "C" __global__ void notify(int* data, int* flag) {
  *data = 1;
  on_device<int> at(*flag);
  at.store(1, memory_order_release);
  at.notify_all();
}
extern "C" __global__ void spin_lock_exchange(int* lock, int* data) {
  on_device<int> at(*lock);
  while (at.exchange(1, memory_order_acquire)) {}
  *data += 1;
  at.store(0, memory_order_release);
}
extern "C" __global__ void spin_lock_cas(int* lock, int* data) {
  on_device<int> at(*lock);
  int free = 0;
  while (!at.compare_exchange_weak(free, 1, memory_order_acquire, memory_order_relaxed)) free = 0;
  *data += 1;
  at.store(0, memory_order_release);
}
extern "C" __global__ void spin_lock_test_first(int* lock, int* data) {
  on_device<int> at(*lock);
  do {
    while (at.load(memory_order_relaxed)) {}
  } while (at.exchange(1, memory_order_acquire));
  *data += 1;
  at.store(0, memory_order_release);
}
extern "C" __global__ void spin_lock_intrinsics(int* lock, int* data) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *data += 1;
  __threadfence();
  atomicExch(lock, 0);
}
extern "C" __global__ void spin_lock_back_off(int* lock, int* data) {
  on_device<int> at(*lock);
  unsigned pause = 8;
  while (at.exchange(1, memory_order_acquire)) {
    __nanosleep(pause);
    if (pause < 256) pause *= 2;
  }
  *data += 1;
  at.store(0, memory_order_release);
}
extern "C" __global__ void try_lock(int* lock, int* data, int* out) {
  on_device<int> at(*lock);
  int free = 0;
  if (at.compare_exchange_strong(free, 1, memory_order_acquire, memory_order_relaxed)) {
    *out = *data;
    at.store(0, memory_order_release);
  }
}
extern "C" __global__ void ticket_lock(unsigned* next, unsigned* serving, int* data) {
  unsigned mine = on_device<unsigned>(*next).fetch_add(1, memory_order_relaxed);
  while (on_device<unsigned>(*serving).load(memory_order_acquire) != mine) {}
  *data += 1;
  on_device<unsigned>(*serving).store(mine + 1, memory_order_release);
}
extern "C" __global__ void lock_for_readers(int* state, int* data, int* out) {
  on_device<int> at(*state);
  int seen = at.load(memory_order_relaxed);
  do {
    while (seen < 0) seen = at.load(memory_order_relaxed);
  } while (!at.compare_exchange_weak(seen, seen + 1, memory_order_acquire, memory_order_relaxed));
  *out = *data;
  at.fetch_sub(1, memory_order_release);
}
extern "C" __global__ void lock_for_writers(int* state, int* data) {
  on_device<int> at(*state);
  int none = 0;
  while (!at.compare_exchange_weak(none, -1, memory_order_acquire, memory_order_relaxed)) none = 0;
  *data = 7;
  at.store(0, memory_order_release);
}
extern "C" __global__ void sequence_write(unsigned* sequence, int* data) {
  on_device<unsigned> at(*sequence);
  unsigned before = at.load(memory_order_relaxed);
  at.store(before + 1, memory_order_relaxed);
  cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
  on_device<int>(data[0]).store(3, memory_order_relaxed);
  on_device<int>(data[1]).store(3, memory_order_relaxed);
  at.store(before + 2, memory_order_release);
}
extern "C" __global__ void sequence_read(unsigned* sequence, int* data, int* out) {
  on_device<unsigned> at(*sequence);
  unsigned before, after;
  int a, b;
  do {
    before = at.load(memory_order_acquire);
    a = on_device<int>(data[0]).load(memory_order_relaxed);
    b = on_device<int>(data[1]).load(memory_order_relaxed);
    cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    after = at.load(memory_order_relaxed);
  } while (before != after || (before & 1));
  out[0] = a;
  out[1] = b;
}
extern "C" __global__ void ring_push(unsigned* head, unsigned* tail, int* slots, int value) {
  unsigned at = on_device<unsigned>(*tail).load(memory_order_relaxed);
  while (at - on_device<unsigned>(*head).load(memory_order_acquire) == 4) {}
  slots[at % 4] = value;
  on_device<unsigned>(*tail).store(at + 1, memory_order_release);
}
extern "C" __global__ void ring_pop(unsigned* head, unsigned* tail, int* slots, int* out) {
  unsigned at = on_device<unsigned>(*head).load(memory_order_relaxed);
  while (at == on_device<unsigned>(*tail).load(memory_order_acquire)) {}
  *out = slots[at % 4];
  on_device<unsigned>(*head).store(at + 1, memory_order_release);
}
extern "C" __global__ void ring_push_shared_by_many(unsigned* tail, unsigned* turns, int* slots, int value) {
  unsigned at = on_device<unsigned>(*tail).fetch_add(1, memory_order_relaxed);
  on_device<unsigned> turn(turns[at % 4]);
  while (turn.load(memory_order_acquire) != at) {}
  slots[at % 4] = value;
  turn.store(at + 1, memory_order_release);
}
extern "C" __global__ void stack_push(unsigned long long* top, unsigned long long* node) {
  on_device<unsigned long long> at(*top);
  unsigned long long old = at.load(memory_order_relaxed);
  do {
    *node = old;
  } while (!at.compare_exchange_weak(old, reinterpret_cast<unsigned long long>(node), memory_order_release, memory_order_relaxed));
}
extern "C" __global__ void stack_push_index(unsigned* top, unsigned* next, unsigned node) {
  on_device<unsigned> at(*top);
  unsigned old = at.load(memory_order_relaxed);
  do {
    next[node] = old;
  } while (!at.compare_exchange_weak(old, node, memory_order_release, memory_order_relaxed));
}
extern "C" __global__ void last_block(unsigned* count, int* partial, int* out) {
  partial[blockIdx.x] = 1;
  if (on_device<unsigned>(*count).fetch_add(1, memory_order_acq_rel) + 1 == gridDim.x) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *out = sum;
  }
}
extern "C" __global__ void last_block_fence(unsigned* count, int* partial, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) out[threadIdx.x] = partial[threadIdx.x];
}
extern "C" __global__ void last_of_two(unsigned* count, int* partial, int* out) {
  partial[blockIdx.x] = 1;
  if (on_device<unsigned>(*count).fetch_add(1, memory_order_acq_rel) == 1) *out = partial[0] + partial[1];
}
extern "C" __global__ void reference_count(int* count, int* data, int* out) {
  if (on_device<int>(*count).fetch_sub(1, memory_order_acq_rel) == 1) *out = *data;
}
extern "C" __global__ void reference_count_fence(int* count, int* data, int* out) {
  if (on_device<int>(*count).fetch_sub(1, memory_order_release) == 1) {
    cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    *out = *data;
  }
}
extern "C" __global__ void grid_barrier(unsigned* count, int* data) {
  data[blockIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    on_device<unsigned> at(*count);
    at.fetch_add(1, memory_order_release);
    while (at.load(memory_order_acquire) < gridDim.x) {}
  }
  __syncthreads();
  data[gridDim.x + blockIdx.x] = data[0];
}
extern "C" __global__ void grid_sync(int* data, int* out) {
  data[blockIdx.x] = 1;
  cg::this_grid().sync();
  *out = data[0];
}
extern "C" __global__ void block_sync(int* data, int* out) {
  data[threadIdx.x] = 1;
  cg::this_thread_block().sync();
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}
extern "C" __global__ void warp_sync(int* data, int* out) {
  data[threadIdx.x] = 1;
  __syncwarp();
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}
extern "C" __global__ void reduce_tile(int* data, int* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int sum = data[threadIdx.x];
  for (int i = 16; i > 0; i /= 2) sum += tile.shfl_down(sum, i);
  if (tile.thread_rank() == 0) on_device<int>(*out).fetch_add(sum, memory_order_relaxed);
}
extern "C" __global__ void block_barrier(int* data, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  data[threadIdx.x] = 1;
  bar.arrive_and_wait();
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}
extern "C" __global__ void device_barrier(cuda::barrier<cuda::thread_scope_device>* bar, int* data, int* out) {
  data[threadIdx.x] = 1;
  bar->arrive_and_wait();
  *out = data[0];
}
extern "C" __global__ void device_latch(cuda::latch<cuda::thread_scope_device>* gate, int* data, int* out) {
  data[threadIdx.x] = 1;
  gate->arrive_and_wait();
  *out = data[0];
}
extern "C" __global__ void latch_count_down(cuda::latch<cuda::thread_scope_device>* gate, int* data) {
  *data = 1;
  gate->count_down();
}
extern "C" __global__ void semaphore(cuda::counting_semaphore<cuda::thread_scope_device>* free, int* data) {
  free->acquire();
  *data += 1;
  free->release();
}
extern "C" __global__ void semaphore_try(cuda::binary_semaphore<cuda::thread_scope_device>* free, int* data) {
  if (free->try_acquire()) {
    *data += 1;
    free->release();
  }
}
extern "C" __global__ void hazard_protect(unsigned long long* hazard, unsigned long long* source, int* out) {
  on_device<unsigned long long> mine(*hazard), from(*source);
  unsigned long long seen = from.load(memory_order_relaxed), before;
  do {
    before = seen;
    mine.store(before, memory_order_seq_cst);
    seen = from.load(memory_order_seq_cst);
  } while (seen != before);
  *out = *reinterpret_cast<int*>(seen);
}
extern "C" __global__ void hazard_flag(int* mine, int* other, int* data, int* out) {
  on_device<int>(*mine).store(1, memory_order_relaxed);
  cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
  if (on_device<int>(*other).load(memory_order_relaxed) == 0) *out = *data;
}
extern "C" __global__ void two_flags(int* mine, int* other, int* data) {
  on_device<int>(*mine).store(1, memory_order_seq_cst);
  if (on_device<int>(*other).load(memory_order_seq_cst) == 0) *data += 1;
  on_device<int>(*mine).store(0, memory_order_release);
}
extern "C" __global__ void turns(int* mine, int* other, int* turn, int* data) {
  on_device<int>(*mine).store(1, memory_order_seq_cst);
  on_device<int>(*turn).store(1, memory_order_seq_cst);
  while (on_device<int>(*other).load(memory_order_seq_cst) && on_device<int>(*turn).load(memory_order_seq_cst) == 1) {}
  *data += 1;
  on_device<int>(*mine).store(0, memory_order_release);
}
extern "C" __global__ void initialise_once(int* state, int* data, int* out) {
  on_device<int> at(*state);
  if (at.load(memory_order_acquire) != 2) {
    int none = 0;
    if (at.compare_exchange_strong(none, 1, memory_order_acquire)) {
      *data = 5;
      at.store(2, memory_order_release);
    } else {
      while (at.load(memory_order_acquire) != 2) {}
    }
  }
  *out = *data;
}
extern "C" __global__ void look_back(unsigned long long* states, int* data, int* out) {
  unsigned prefix = 0;
  if (blockIdx.x > 0) {
    on_device<unsigned long long> before(states[blockIdx.x - 1]);
    unsigned long long word;
    do word = before.load(memory_order_acquire); while ((word >> 32) == 0);
    prefix = static_cast<unsigned>(word);
  }
  unsigned sum = prefix + data[blockIdx.x];
  on_device<unsigned long long>(states[blockIdx.x]).store((1ull << 32) | sum, memory_order_release);
  out[blockIdx.x] = sum;
}
extern "C" __global__ void look_back_plain(unsigned* flags, int* sums, int* out) {
  int prefix = 0;
  if (blockIdx.x > 0) {
    while (on_device<unsigned>(flags[blockIdx.x - 1]).load(memory_order_acquire) == 0) {}
    prefix = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = prefix + 1;
  on_device<unsigned>(flags[blockIdx.x]).store(1, memory_order_release);
  *out = prefix;
}
extern "C" __global__ void signal_peer(int* data, int* peer, int* mine, int* out) {
  *data = 1;
  on_system<int>(*peer).store(1, memory_order_release);
  while (on_system<int>(*mine).load(memory_order_acquire) == 0) {}
  *out = *data;
}
extern "C" __global__ void take_work(unsigned* next, unsigned last, int* queue, int* out) {
  for (unsigned i; (i = on_device<unsigned>(*next).fetch_add(1, memory_order_relaxed)) < last;) out[i] = queue[i] + 1;
}
extern "C" __global__ void largest_float(float* best, float value) {
  on_device<float> at(*best);
  float old = at.load(memory_order_relaxed);
  while (old < value && !at.compare_exchange_weak(old, value, memory_order_relaxed)) {}
}
extern "C" __global__ void saturating_add(unsigned* count, unsigned limit) {
  on_device<unsigned> at(*count);
  unsigned old = at.load(memory_order_relaxed);
  while (old < limit && !at.compare_exchange_weak(old, old + 1, memory_order_relaxed)) {}
}
extern "C" __global__ void histogram(int* bins, int* data) {
  __shared__ int counts[32];
  counts[threadIdx.x] = 0;
  __syncthreads();
  on_block<int>(counts[data[threadIdx.x] & 31]).fetch_add(1, memory_order_relaxed);
  __syncthreads();
  on_device<int>(bins[threadIdx.x]).fetch_add(counts[threadIdx.x], memory_order_relaxed);
}
extern "C" __global__ void flag_in_shared(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) {
    flag = 0;
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 4;
    on_block<int>(flag).store(1, memory_order_release);
  } else if (threadIdx.x == 0) {
    while (on_block<int>(flag).load(memory_order_acquire) == 0) {}
    *out = data;
  }
}
extern "C" __global__ void intrinsics(int* x, int* out) {
  out[0] = atomicAdd(x, 1);
  out[1] = atomicAdd_block(x, 1);
  out[2] = atomicAdd_system(x, 1);
  out[3] = atomicCAS(x, 0, 1);
  out[4] = atomicMax(x, 3);
}
extern "C" __global__ void sub_word_flag(unsigned char* flag, int* data, int* out) {
  if (on_device<unsigned char>(*flag).exchange(1, memory_order_acq_rel) == 0) *out = *data;
}
"""


def kernels():
    for text in re.findall(r'extern "C" .*?\n}\n', KERNELS, re.DOTALL):
        yield re.search(r"void (\w+)\(", text)[1], text


class Nvrtc:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)

    def ptx(self, source, options):
        """The PTX, or None with a message."""
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"corpus.cu", 0, None, None)
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        failed = self.library.nvrtcCompileProgram(program, len(options), words)
        text = self.text(program, "ProgramLog" if failed else "PTX")
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        if failed:
            print(next((line for line in text.splitlines() if "error" in line), text[:200]), flush=True)
        return None if failed else text

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.value.decode()


def alone(ptx):
    """Each entry of a module with everything that is not an entry: one file for each function."""
    entries, shared, at = [], "", 0
    for found in re.finditer(r"^(\t// \.globl[^\n]*\n\n?)?(\.visible )?\.entry (\w+)\(", ptx, re.MULTILINE):
        depth, end = 1, ptx.index("{", found.end()) + 1
        while depth:
            end = re.compile("[{}]").search(ptx, end).end()
            depth += 1 if ptx[end - 1] == "{" else -1
        shared += ptx[at:found.start()]
        entries.append((found[3], ptx[found.start():end] + "\n"))
        at = end
    for name, text in entries:
        yield name, shared + ptx[at:] + text


def main():
    folder, library, ptxas, nvdisasm, arch, *includes = sys.argv[1:]
    nvrtc = Nvrtc(library)
    options = [f"--gpu-architecture=compute_{arch[3:]}", "--std=c++17", *[f"-I{path}" for path in includes]]
    os.makedirs(folder, exist_ok=True)
    everything = [*operations(), *kernels()]
    assert len(dict(everything)) == len(everything), "two kernels of the same name"
    # The headers take seconds, so that many kernels share them; where one is rejected, each is compiled alone.
    for first in range(0, len(everything), 25):
        group = everything[first:first + 25]
        whole = nvrtc.ptx(HEADERS + "".join(text for _, text in group), options)
        texts = [whole] if whole else [nvrtc.ptx(HEADERS + text, options) for _, text in group]
        for name, text in (one for ptx in texts if ptx for one in alone(ptx)):
            path = os.path.join(folder, name)
            with open(path + ".ptx", "w") as out:
                out.write(text)
            if subprocess.run([ptxas, f"-arch={arch}", path + ".ptx", "-o", path + ".cubin"]).returncode:
                continue
            with open(path + ".sass", "w") as out:
                subprocess.run([nvdisasm, path + ".cubin"], stdout=out, stderr=subprocess.DEVNULL, check=True)
            os.remove(path + ".cubin")


if __name__ == "__main__":
    main()
