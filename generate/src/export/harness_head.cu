//
// nvcc -arch=sm_90 -o test test.cu && ./test [RUNS [SEED]]
//
// A warp runs 32 instances of a thread of the test. Threads that the test places on several GPUs run on one, and threads in
// different clusters or CTAs run in different ones; which of them share an SM is the choice of the GPU, and the order of the
// CTAs is drawn anew for each run.
typedef unsigned long long u64;
#if !defined(__CUDACC_RTC__)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <vector>
#endif

