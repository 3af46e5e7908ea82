// One thread adds what it should; two of them race.
//! causeway: --grid 1 --block 1 --arg sum='u32[1]=0'
//!   --arg n=3 --assert 'sum == 3'
//! causeway: --grid 2 --block 1 --arg sum=u32[1] --arg n=1

extern "C" __global__ void add(unsigned *sum, unsigned n) {
  *sum += n;
}
