#define GROUPS 64
#define STRESS 32
#define SCRATCH 65536
#define INSTANCES (GROUPS * 32)
// Polls until the other warps of a group are awaited no more: they may not run at the same time.
#define PATIENCE 2048

// The place of each block is drawn by the host: blocks of a cluster stay together.
extern "C" __global__ void
#if CLUSTER > 1
__cluster_dims__(CLUSTER, 1, 1)
#endif
litmus(char *memory, u64 *observed, unsigned *arrived, const unsigned *place, unsigned *scratch, unsigned stress) {
    unsigned block = place[blockIdx.x];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (block >= GROUPS * CTAS) {
        volatile unsigned *line = scratch + (block * 4099u + threadIdx.x * 64u) % SCRATCH;
        for (unsigned i = 0; i < stress; i++) {
            if ((block + i) & 1) *line = i;
            else (void)*line;
        }
        return;
    }
    unsigned group = block / CTAS, cta = block % CTAS;
    // Each role has the instances of its group in an order of its own.
    unsigned instance = group * 32 + (5 * lane + 7 * (cta * WARPS + warp)) % 32;
    if (lane == 0) {
        atomicAdd(&arrived[group], 1);
        for (int i = 0; i < PATIENCE && *(volatile unsigned *)&arrived[group] < CTAS * WARPS; i++) {}
    }
    __syncwarp();
    role(cta, warp, memory + (size_t)instance * VARIABLES * STRIDE, observed + (size_t)instance * OBSERVED);
}

#if !defined(__CUDACC_RTC__)
#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t error = (call);                                                        \
        if (error != cudaSuccess) {                                                        \
            fprintf(stderr, "error: %s: %s\n", #call, cudaGetErrorString(error));          \
            exit(2);                                                                       \
        }                                                                                  \
    } while (0)

int main(int count, char **arguments) {
    long runs = count > 1 ? atol(arguments[1]) : 1000;
    std::mt19937 random(count > 2 ? (unsigned)atol(arguments[2]) : 1);
    const size_t bytes = (size_t)INSTANCES * VARIABLES * STRIDE;
    const unsigned blocks = (GROUPS * CTAS + STRESS + CLUSTER - 1) / CLUSTER * CLUSTER;
    char *memory;
    u64 *observed;
    unsigned *arrived, *place, *scratch;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMalloc(&observed, (size_t)INSTANCES * OBSERVED * sizeof(u64)));
    CHECK(cudaMalloc(&arrived, GROUPS * sizeof(unsigned)));
    CHECK(cudaMalloc(&place, blocks * sizeof(unsigned)));
    CHECK(cudaMalloc(&scratch, SCRATCH * sizeof(unsigned)));
    std::vector<char> begin(bytes, 0), end(bytes);
    for (size_t i = 0; i < INSTANCES; i++) initial(&begin[i * VARIABLES * STRIDE]);
    std::vector<u64> seen((size_t)INSTANCES * OBSERVED);
    std::vector<unsigned> clusters(blocks / CLUSTER), order(blocks);
    std::iota(clusters.begin(), clusters.end(), 0u);
    std::map<std::vector<u64>, u64> histogram;
    auto start = std::chrono::steady_clock::now();
    for (long run = 0; run < runs; run++) {
        std::shuffle(clusters.begin(), clusters.end(), random);
        for (unsigned i = 0; i < blocks; i++) order[i] = clusters[i / CLUSTER] * CLUSTER + i % CLUSTER;
        CHECK(cudaMemcpy(memory, begin.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(place, order.data(), blocks * sizeof(unsigned), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(arrived, 0, GROUPS * sizeof(unsigned)));
        CHECK(cudaMemset(observed, 0, (size_t)INSTANCES * OBSERVED * sizeof(u64)));
        litmus<<<blocks, 32 * WARPS>>>(memory, observed, arrived, place, scratch, random() % 512);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(end.data(), memory, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(seen.data(), observed, seen.size() * sizeof(u64), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < INSTANCES; i++) {
            final(&end[i * VARIABLES * STRIDE], &seen[i * OBSERVED]);
            histogram[std::vector<u64>(&seen[i * OBSERVED], &seen[i * OBSERVED] + OBSERVED)]++;
        }
    }
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    u64 positive = 0, negative = 0;
    printf("Test %s %s\nHistogram (%zu states)\n", NAME, KIND, histogram.size());
    for (const auto &state : histogram) {
        bool is = satisfied(state.first.data());
        (is ? positive : negative) += state.second;
        printf("%-8llu%s>", state.second, is ? "*" : ":");
        show(state.first.data());
        printf("\n");
    }
    printf("%s\n\nWitnesses\n", holds(positive, negative) ? "Ok" : "No");
    printf("Positive: %llu, Negative: %llu\n", positive, negative);
    printf("Condition %s is %svalidated\n", CONDITION, holds(positive, negative) ? "" : "NOT ");
    printf("Observation %s %s %llu %llu\n", NAME,
           positive == 0 ? "Never" : negative == 0 ? "Always" : "Sometimes", positive, negative);
    printf("Time %s %.2f\n", NAME, time.count());
    return 0;
}
#endif
