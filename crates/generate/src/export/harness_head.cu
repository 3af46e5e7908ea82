// nvcc -arch=@TARGET@ -o tests tests.cu && ./tests [--deadline SECONDS] [--total SECONDS] [RUNS [SEED [NAME...]]]
//
// Each test runs in a process of its own, for 60 s unless `--deadline` says otherwise; `--total` limits the time of all. A test that
// does not come to its end has a line `Faulted NAME: why`, `Hung NAME: why` or `Not run NAME: why`, and the exit code is 1.
// A warp runs 32 instances of a thread of a test, and 64 warps each thread. Threads that the test places on several GPUs run on
// one, and threads in different clusters or CTAs run in different ones. Which of these share an SM differs from run to run: the
// order of the CTAs is drawn, or the CTAs of a group run on one SM, or each on another one. Clusters are placed in a drawn order
// only. Each instance has a part of its own of the shared memory of its CTAs.
// A loop ends after @ITERATIONS@ iterations; the instance is not counted then.
typedef unsigned long long u64;
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#define GROUPS 64
#define STRESS 32
#define SCRATCH 65536
#define INSTANCES (GROUPS * 32)
#define ITERATIONS @ITERATIONS@
// Polls until the other warps of a group are awaited no more: they may not run at the same time.
#define PATIENCE 2048

// So many bytes as a number.
[[maybe_unused]] static inline __host__ __device__ u64 bytes(const char *at, int length) {
    u64 value = 0;
    for (int i = 0; i < length && i < 8; i++) value |= (u64)(unsigned char)at[i] << (8 * i);
    return value;
}

// Brings an mbarrier object to its state before all threads.
[[maybe_unused]] static inline __device__ void object(unsigned at, unsigned count, unsigned phase, int tx) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at), "r"(count) : "memory");
    for (unsigned i = 0; i < count * phase; i++)
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" : : "r"(at) : "memory");
#endif
#if __CUDA_ARCH__ >= 900
    if (tx > 0) asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" : : "r"(at), "r"(tx) : "memory");
    if (tx < 0) asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" : : "r"(at), "r"(-tx) : "memory");
#endif
}

// Orders the initial values of shared memory before asynchronous operations.
[[maybe_unused]] static inline __device__ void publish() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" : : : "memory");
#endif
}

// All threads of the CTA, or of its cluster, that have not exited meet.
template <class Test> static __device__ void meet() {
#if __CUDA_ARCH__ >= 900
    if (Test::CLUSTER > 1) {
        asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" : : : "memory");
        return;
    }
#endif
    asm volatile("barrier.sync @BARRIER@;" : : : "memory");
}

// Where the CTAs of a group run: in a drawn order, all on one SM, each on another one.
enum Affinity : unsigned { DRAWN, ONE_SM, SEVERAL_SMS, AFFINITIES };

// The SM of this block, and how many numbers SMs may have.
static inline __device__ unsigned sm() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
static inline __device__ unsigned sms() {
    unsigned count;
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    return count;
}

// What a block that began on an SM is: CTA `% CTAS` of group `/ CTAS`, or one that stresses the memory. On an SM, each CTAS blocks
// that begin there one after another are a group. On several ones, the SM says which CTA of a group the block is, and the next group
// that lacks this CTA is its own.
template <class Test> static __device__ unsigned seat(Affinity affinity, unsigned *begun) {
    const unsigned ctas = Test::CTAS, none = GROUPS * ctas;
    const unsigned here = sm();
    if (affinity == ONE_SM) {
        unsigned before = atomicAdd(&begun[here], 1);
        unsigned group = before / ctas * sms() + here;
        return group < GROUPS ? group * ctas + before % ctas : none;
    }
    unsigned cta = here % ctas;
    unsigned group = atomicAdd(&begun[cta], 1);
    return group < GROUPS ? group * ctas + cta : none;
}

// The host draws the place of each block where `affinity` is DRAWN: blocks of a cluster stay together. `begun` is 0 everywhere.
template <class Test> static __global__ void
litmus(char *memory, u64 *observed, unsigned *arrived, const unsigned *place, unsigned *begun, unsigned *scratch, Affinity affinity,
       unsigned stress) {
    extern __shared__ __align__(128) char shared[];
    unsigned block = affinity == DRAWN ? place[blockIdx.x] : 0;
    if (affinity != DRAWN) {
        unsigned *seated = (unsigned *)shared;
        if (threadIdx.x == 0) *seated = seat<Test>(affinity, begun);
        meet<Test>();
        block = *seated;
        meet<Test>();
    }
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (block >= GROUPS * Test::CTAS) {
        block = blockIdx.x;
        volatile unsigned *line = scratch + (block * 4099u + threadIdx.x * 64u) % SCRATCH;
        for (unsigned i = 0; i < stress; i++) {
            if ((block + i) & 1) *line = i;
            else (void)*line;
        }
        return;
    }
    unsigned group = block / Test::CTAS, cta = block % Test::CTAS;
    // Each role has the instances of its group in an order of its own.
    unsigned instance = (5 * lane + 7 * (cta * Test::WARPS + warp)) % 32;
    char *part = shared + instance * Test::SHARED;
    if (Test::SHARED > 0) {
        if (warp == 0) Test::begin(part, (unsigned)__cvta_generic_to_shared(part));
        meet<Test>();
    }
    if (warp >= Test::warps(cta)) return;
    if (lane == 0) {
        atomicAdd(&arrived[group], 1);
        for (int i = 0; i < PATIENCE && *(volatile unsigned *)&arrived[group] < Test::THREADS; i++) {}
    }
    __syncwarp();
    size_t number = group * 32 + instance;
    u64 *out = observed + number * (Test::OBSERVED + 1);
    Test::role(cta, warp, memory + number * Test::GLOBAL, (unsigned)__cvta_generic_to_shared(part), out);
    if (Test::SHARED > 0 || Test::ASYNCHRONOUS) {
        __syncwarp();
        meet<Test>();
#if __CUDA_ARCH__ >= 700
        // Copies that nobody waits for end before their shared memory does.
        if (Test::ASYNCHRONOUS) {
            for (int i = 0; i < 16; i++) __nanosleep(1000);
        }
#endif
        if (warp == 0) Test::end(cta, part, out);
    }
}

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t error = (call);                                                        \
        if (error != cudaSuccess) {                                                        \
            printf("Faulted %s: %s: %s\n\n", Test::name(), #call, cudaGetErrorString(error)); \
            fflush(stdout);                                                                \
            exit(2);                                                                       \
        }                                                                                  \
    } while (0)

template <class Test> static void run(long runs, unsigned seed) {
    std::mt19937 random(seed);
    const size_t bytes = (size_t)INSTANCES * Test::GLOBAL;
    const unsigned blocks = (GROUPS * Test::CTAS + STRESS + Test::CLUSTER - 1) / Test::CLUSTER * Test::CLUSTER;
    // With a CTA alone, or in clusters, there is nothing to choose.
    const unsigned affinities = Test::CTAS > 1 && Test::CLUSTER == 1 ? AFFINITIES : 1;
    const size_t values = Test::OBSERVED + 1;
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    // SMs may have larger numbers than there are SMs.
    const size_t counters = std::max(4096, 4 * processors);
    // So that each SM runs a whole group, and a rest stresses the memory.
    const unsigned chosen_blocks = std::max(blocks, (unsigned)processors * Test::CTAS + STRESS);
    char *memory;
    u64 *observed;
    unsigned *arrived, *place, *begun, *scratch;
    CHECK(cudaMalloc(&memory, bytes + 1));
    CHECK(cudaMalloc(&observed, INSTANCES * values * sizeof(u64)));
    CHECK(cudaMalloc(&arrived, GROUPS * sizeof(unsigned)));
    CHECK(cudaMalloc(&place, blocks * sizeof(unsigned)));
    CHECK(cudaMalloc(&begun, counters * sizeof(unsigned)));
    CHECK(cudaMalloc(&scratch, SCRATCH * sizeof(unsigned)));
    const int shared = std::max(32 * Test::SHARED, (int)sizeof(unsigned));
    CHECK(cudaFuncSetAttribute(litmus<Test>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = Test::CLUSTER;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.blockDim = dim3(32 * Test::WARPS);
    launch.dynamicSmemBytes = shared;
    launch.attrs = &attribute;
    launch.numAttrs = Test::CLUSTER > 1 ? 1 : 0;
    std::vector<char> begin(bytes, 0), end(bytes);
    for (size_t i = 0; i < INSTANCES; i++) Test::initial(begin.data() + i * Test::GLOBAL);
    std::vector<u64> seen(INSTANCES * values);
    std::vector<unsigned> complete(GROUPS);
    std::vector<unsigned> clusters(blocks / Test::CLUSTER), order(blocks);
    std::iota(clusters.begin(), clusters.end(), 0u);
    std::map<std::vector<u64>, u64> histogram;
    u64 cut = 0, counted[AFFINITIES] = {};
    auto start = std::chrono::steady_clock::now();
    for (long run = 0; run < runs; run++) {
        const Affinity affinity = (Affinity)(run % affinities);
        launch.gridDim = dim3(affinity == DRAWN ? blocks : chosen_blocks);
        std::shuffle(clusters.begin(), clusters.end(), random);
        for (unsigned i = 0; i < blocks; i++) order[i] = clusters[i / Test::CLUSTER] * Test::CLUSTER + i % Test::CLUSTER;
        if (bytes > 0) CHECK(cudaMemcpy(memory, begin.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(place, order.data(), blocks * sizeof(unsigned), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(arrived, 0, GROUPS * sizeof(unsigned)));
        CHECK(cudaMemset(begun, 0, counters * sizeof(unsigned)));
        CHECK(cudaMemset(observed, 0, seen.size() * sizeof(u64)));
        CHECK(cudaLaunchKernelEx(&launch, litmus<Test>, memory, observed, arrived, (const unsigned *)place, begun, scratch, affinity,
                                 (unsigned)(random() % 512)));
        CHECK(cudaDeviceSynchronize());
        if (bytes > 0) CHECK(cudaMemcpy(end.data(), memory, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(seen.data(), observed, seen.size() * sizeof(u64), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(complete.data(), arrived, GROUPS * sizeof(unsigned), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < INSTANCES; i++) {
            // Of the last group of an SM, some CTAs may have no block.
            if (complete[i / 32] != Test::THREADS) continue;
            counted[affinity]++;
            u64 *values_of = &seen[i * values];
            Test::final(end.data() + i * Test::GLOBAL, values_of);
            if (values_of[Test::OBSERVED] != 0) cut++;
            else if (Test::counts(values_of)) histogram[std::vector<u64>(values_of, values_of + Test::OBSERVED)]++;
        }
    }
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    u64 positive = 0, negative = 0;
    printf("Test %s %s\nHistogram (%zu states)\n", Test::name(), Test::kind(), histogram.size());
    for (const auto &state : histogram) {
        bool is = Test::satisfied(state.first.data());
        (is ? positive : negative) += state.second;
        printf("%-8llu%s>", state.second, is ? "*" : ":");
        Test::show(state.first.data());
        printf("\n");
    }
    bool holds = Test::holds(positive, negative);
    printf("%s\n\nWitnesses\n", holds ? "Ok" : "No");
    printf("Positive: %llu, Negative: %llu\n", positive, negative);
    printf("Condition %s is %svalidated\n", Test::condition(), holds ? "" : "NOT ");
    printf("Observation %s %s %llu %llu\n", Test::name(),
           positive == 0 ? "Never" : negative == 0 ? "Always" : "Sometimes", positive, negative);
    if (cut > 0) printf("Not counted %s %llu: a loop was left after %d iterations\n", Test::name(), cut, ITERATIONS);
    if (affinities > 1) {
        printf("Affinity %s %llu in a drawn order, %llu on one SM, %llu on several SMs\n", Test::name(), counted[DRAWN],
               counted[ONE_SM], counted[SEVERAL_SMS]);
    }
    printf("Time %s %.2f\n\n", Test::name(), time.count());
    fflush(stdout);
    for (void *part : {(void *)memory, (void *)observed, (void *)arrived, (void *)place, (void *)begun, (void *)scratch}) CHECK(cudaFree(part));
}

struct Entry {
    const char *name;
    void (*run)(long, unsigned);
};
