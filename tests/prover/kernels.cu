// Small kernels with what must not be proved of them. Format of the line before a kernel:
//! grid=<clause> block=<n> x=<elements> y=<elements> [fixed=<n's value>] : <properties that must not be PROVED> | all
// "none" means that every property must be PROVED or not apply.

//! grid=ceil_div(n,256) block=256 x=n y=n : none
__global__ void copy(const float* x, float* y, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) y[i] = x[i]; }
//! grid=ceil_div(n,256) block=256 x=n y=n : bounds-global
__global__ void off_by_one(const float* x, float* y, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; if (i <= n) y[i] = x[i]; }
//! grid=ceil_div(n,256) block=256 x=n y=n : bounds-global
__global__ void no_guard(const float* x, float* y, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; y[i] = x[i]; }
//! grid=ceil_div(n,256) block=256 x=n y=n : none
__global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x*blockDim.x+threadIdx.x; i < n; i += blockDim.x*gridDim.x) y[i] = 2.0f * x[i];
}
//! grid=ceil_div(n,256) block=256 x=n y=n : race-global
__global__ void wrong_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x*blockDim.x+threadIdx.x; i < n; i += blockDim.x) y[i] = 2.0f * x[i];
}
//! grid=1 block=256 x=256 y=256 : none
__global__ void tree(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
  for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += s[t+o]; __syncthreads(); }
  if (t == 0) y[0] = s[0];
}
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void tree_without_barrier(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
  for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += s[t+o]; }
  if (t == 0) y[0] = s[0];
}
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void warp_synchronous(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
  for (int o = 128; o > 16; o >>= 1) { if (t < o) s[t] += s[t+o]; __syncthreads(); }
  if (t < 16) { s[t] += s[t+16]; s[t] += s[t+8]; s[t] += s[t+4]; }
  if (t == 0) y[0] = s[0];
}
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void double_buffer_missing_barrier(const float* x, float* y, int n) {
  __shared__ float s[2][256]; int t = threadIdx.x; int b = 0;
  s[0][t] = x[t];
  for (int k = 0; k < n; ++k) { if (k == 0) __syncthreads(); s[b^1][t] = s[b][255-t]; b ^= 1; }
  y[t] = s[b][t];
}
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void no_barrier_at_the_end_of_the_loop(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x;
  for (int k = 0; k < n; ++k) { s[t] = x[t]; __syncthreads(); y[t] = s[255-t]; }
}
//! grid=1 block=256 x=256 y=256 : none
__global__ void barrier_at_both_ends(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x;
  for (int k = 0; k < n; ++k) { s[t] = x[t]; __syncthreads(); y[t] = s[255-t]; __syncthreads(); }
}
//! grid=1 block=256 x=256 y=256 : barrier-divergence race-global
__global__ void barrier_in_branch(const float* x, float* y, int n) {
  int t = threadIdx.x; if (t < n) { __syncthreads(); y[t] = x[t]; }
}
//! grid=1 block=256 x=256 y=256 : barrier-divergence
__global__ void early_return(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x; if (t >= n) return; s[t] = x[t]; __syncthreads(); y[t] = s[t];
}
//! grid=1 block=256 x=256 y=256 : barrier-divergence
__global__ void loop_test_that_is_not_monotone(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x;
  for (int i = 0; i != t + 1; ++i) { __syncthreads(); s[t] = 1; }
  y[t] = s[t];
}
//! grid=1 block=256 x=256 y=256 : barrier-divergence
__global__ void break_before_barrier(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x;
  for (int i = 0; i < n; ++i) { if (x[t] > i) break; __syncthreads(); s[t] = 1; }
  y[t] = t;
}
//! grid=4 block=256 x=256 y=256 : race-global
__global__ void across_blocks(const float* x, float* y, int n) {
  int b = blockIdx.x; if (threadIdx.x == 0) y[b] = 1; __syncthreads();
  if (threadIdx.x == 0) { float v = y[(b+1)%gridDim.x]; y[100 + b] = v; }
}
//! grid=1 block=256 x=256 y=256 : uninitialized
__global__ void shared_tail_unwritten(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x; if (t < 255) s[t] = 1; __syncthreads(); y[t] = s[t];
}
//! grid=1 block=256 x=256 y=256 : uninitialized
__global__ void written_only_if_the_loop_runs_that_far(const float* x, float* y, int n) {
  __shared__ float s[256]; int t = threadIdx.x;
  for (int i = t; i != 200; i += 1) { if (i < 256) s[i & 255] = 1; if (i > 300) break; }
  __syncthreads(); y[t] = s[t];
}
//! grid=1 block=256 x=256 y=256 : none
__global__ void strided_fill(const float* x, float* y, int n) {
  __shared__ float s[1000]; int t = threadIdx.x;
  for (int i = t; i < 1000; i += 256) s[i] = x[i % 256];
  __syncthreads(); y[t] = s[999 - t];
}
//! grid=1 block=256 x=256 y=256 : bounds-global
__global__ void negative_remainder(const float* x, float* y, int n) { int t = threadIdx.x; y[t] = x[(t-1)%256]; }
//! grid=ceil_div(n,256) block=256 x=n y=n : overflow bounds-global
__global__ void wrapped_guard(const float* x, float* y, int n) {
  int i = blockIdx.x*blockDim.x+threadIdx.x; if (i * 65536 < n) y[i & 255] = x[i*65536];
}
//! grid=1 block=256 x=256 y=256 : bounds-global
__global__ void code_after_an_endless_loop_of_one_branch(const float* x, float* y, int n) {
  int i; int z = 0; float* p = y; if (n > 1000000) { for (i = 0; i < 256; i += n-n) { z++; } } p[z + 300] = 1;
}
//! grid=1 block=256 x=256 y=256 : bounds-shared
__global__ void outside_its_row(const float* x, float* y, int n) {
  __shared__ float s[8][8]; int t = threadIdx.x; if (t < 64) s[0][t] = 1;
}
//! grid=1 block=48 x=256 y=256 : barrier-divergence
__global__ void full_mask_in_half_a_warp(const float* x, float* y, int n) {
  float v = x[threadIdx.x]; v += __shfl_xor_sync(0xffffffffu, v, 1); y[threadIdx.x] = v;
}
//! grid=1 block=64 x=256 y=256 : none
__global__ void full_mask(const float* x, float* y, int n) {
  float v = x[threadIdx.x]; v += __shfl_xor_sync(0xffffffffu, v, 1); y[threadIdx.x] = v;
}
//! grid=1 block=64 x=256 y=256 : barrier-divergence
__global__ void full_mask_in_a_branch(const float* x, float* y, int n) {
  float v = x[threadIdx.x]; if (threadIdx.x < 40) v += __shfl_down_sync(0xffffffffu, v, 1); y[threadIdx.x] = v;
}
//! grid=1 block=256 x=256 y=256 : race-global
__global__ void atomic_against_plain(const float* x, float* y, int n) {
  atomicAdd(&y[0], x[threadIdx.x]); if (threadIdx.x == 3) y[0] = 0;
}
//! grid=4 block=256 x=256 y=256 : none
__global__ void atomics(const float* x, float* y, int n) { atomicAdd(&y[0], x[threadIdx.x]); }
//! grid=1 block=256 x=256 y=256 : arithmetic
__global__ void zero_divisor(const float* x, float* y, int n) { int t = threadIdx.x; y[t % (n - 1)  > 3 ? t : t] = x[t / (n - 1) > 300 ? 0 : t]; }
//! grid=1 block=32 x=256 y=256 : bounds-local
__global__ void local_array(const float* x, float* y, int n) { float a[4]; for (int i = 0; i <= 4; ++i) a[i] = x[i]; y[threadIdx.x] = a[2]; }
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void flag_in_shared_memory(const float* x, float* y, int n) {
  __shared__ int flag; int t = threadIdx.x; if (t == 0) flag = 1; __syncthreads(); if (flag) { if (t == 0) flag = 0; } y[t] = flag;
}
//! grid=1 block=256 x=256 y=256 : bounds-global
__global__ void unsigned_underflow(const float* x, float* y, int n) {
  unsigned t = threadIdx.x; unsigned m = (unsigned)n - 2u; if (t < m) y[t + 1] = x[t + 1];
}
//! grid=1 block=256 x=256 y=256 : none
__global__ void last_of_each_warp(const float* x, float* y, int n) {
  __shared__ float s[8]; int t = threadIdx.x; if (t % 32 == 0) s[t / 32] = x[t]; __syncthreads();
  if (t < 8) y[t] = s[t];
}
//! grid=1 block=256 x=256 y=256 : race-shared
__global__ void overlapping_vectors(const float* x, float* y, int n) {
  __shared__ float s[1024]; int t = threadIdx.x; *(float4*)(&s[4*(t/2)]) = make_float4(0,0,0,0); s[1023] = x[0]; y[t] = 0;
}
