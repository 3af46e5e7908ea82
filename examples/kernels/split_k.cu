// Blocks add their part of a tile one after the other. Block 0 signals before its other threads have stored.
__device__ unsigned load_acquire(unsigned *from) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ void store_release(unsigned *to, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

extern "C" __global__ void split_k(unsigned *tile, unsigned *semaphore) {
  if (threadIdx.x == 0) {
    while (load_acquire(semaphore) != blockIdx.x) {
    }
  }
  __syncthreads();
  tile[threadIdx.x] += blockIdx.x + 1;
#ifdef FIXED
  __syncthreads();
#endif
  if (threadIdx.x == 0) store_release(semaphore, blockIdx.x + 1);
}
