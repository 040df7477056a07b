// One fault a kernel, for every kind of record that compute-sanitizer writes; each is launched with one block of 64 threads
// and `n` = 64 ints at x: zeros, but for uninit_global, where nobody wrote them. The comment says what must be found.

#include <cassert>

extern "C" __global__ void clean(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }  // nothing

extern "C" __global__ void write_past(int* x, int n) { x[threadIdx.x + 1] = n; }  // memcheck bounds-global

extern "C" __global__ void read_far(int* x, int n) { x[threadIdx.x] = x[threadIdx.x + n * 1000]; }  // memcheck bounds-global

extern "C" __global__ void atomic_past(int* x, int n) { atomicAdd(&x[threadIdx.x + n - 63], 1); }  // memcheck bounds-global

extern "C" __global__ void null_write(int* x, int n) { (x - (unsigned long long)x / 4)[n + threadIdx.x] = 1; }  // memcheck bounds-global

extern "C" __global__ void misaligned(int* x, int n) { *(long long*)(x + 1 + threadIdx.x / n) = 1; }  // memcheck alignment

extern "C" __global__ void shared_past(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x + n * 1000];  // memcheck bounds-shared
}

extern "C" __global__ void local_past(int* x, int n) {
  int local[16];
  for (int i = 0; i < 16; ++i) local[i] = x[i];
  x[threadIdx.x] = local[threadIdx.x * n * 4096];  // no tool sees it
}

extern "C" __global__ void asserts(int* x, int n) { assert(threadIdx.x < n - 1); x[threadIdx.x] = 1; }  // memcheck assert

extern "C" __global__ void traps(int* x, int n) { if (threadIdx.x == n - 1) __trap(); x[threadIdx.x] = 1; }  // memcheck assert

extern "C" __global__ void race_store_load(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[n - 1 - threadIdx.x];  // racecheck race-shared
}

extern "C" __global__ void race_store_store(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x / 2] = x[threadIdx.x] + threadIdx.x;  // racecheck race-shared
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x / 2];
}

extern "C" __global__ void race_load_store(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  int other = s[(threadIdx.x + 32) % n];
  s[threadIdx.x] = other;  // racecheck race-shared
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void race_in_warp(int* x, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[threadIdx.x ^ 1];  // racecheck race-shared
}

extern "C" __global__ void race_atomic(int* x, int n) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  atomicAdd(&s, x[threadIdx.x]);  // no tool sees it
  __syncthreads();
  x[threadIdx.x] = s;
}

extern "C" __global__ void uninit_global(int* x, int n) { x[threadIdx.x] += n; }  // initcheck uninitialized

extern "C" __global__ void uninit_shared(int* x, int n) {
  __shared__ int s[64];
  if (threadIdx.x < n - 1) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];  // initcheck uninitialized
}

extern "C" __global__ void barrier_in_branch(int* x, int n) {
  if (threadIdx.x < n - 8) __syncthreads();  // synccheck barrier-divergence
  x[threadIdx.x] = 1;
}

extern "C" __global__ void barrier_half_block(int* x, int n) {
  if (threadIdx.x < n / 2) __syncthreads();  // no tool sees it
  x[threadIdx.x] = 1;
}

extern "C" __global__ void barrier_after_return(int* x, int n) {
  if (threadIdx.x >= n - 4) return;
  x[threadIdx.x] = 1;
  __syncthreads();  // no tool sees it
  x[threadIdx.x] += x[0];
}

extern "C" __global__ void two_barriers(int* x, int n) {
  if (threadIdx.x % 2 == 0) __syncthreads();  // synccheck barrier-divergence
  else __syncthreads();
  x[threadIdx.x] = 1;
}

extern "C" __global__ void warp_wrong_mask(int* x, int n) {
  if (threadIdx.x % 32 < 16) __syncwarp(0xffff0000u);  // synccheck barrier-divergence
  x[threadIdx.x] = n;
}

extern "C" __global__ void warp_absent_lane(int* x, int n) {
  if (threadIdx.x % 32 < 16) __syncwarp();  // no tool sees it
  x[threadIdx.x] = n;
}

extern "C" __global__ void shuffle_wrong_mask(int* x, int n) {
  if (threadIdx.x % 32 < 16) x[threadIdx.x] = __shfl_xor_sync(0xffff0000u, n, 1);  // no tool sees it
}

extern "C" __global__ void spins(int* x, int n) {
  volatile int* flag = x;
  while (flag[0] < n) {}  // termination
}
