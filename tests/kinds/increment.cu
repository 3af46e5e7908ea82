// Adds one to each element.
#include <cstdint>

__global__ void increment(uint32_t *values) { values[threadIdx.x] += 1; }
