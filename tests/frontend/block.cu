__global__ void shuffles(const int *x, int *y) { int t = threadIdx.x, v = x[t]; unsigned all = 0xffffffffu;
    int r = __shfl_sync(all, v, t * 5) + 3 * __shfl_sync(all, v, t + 1, 8) + 5 * __shfl_up_sync(all, v, 3u, 16);
    r += 7 * __shfl_down_sync(all, v, 5u) + 11 * __shfl_down_sync(all, v, 2u, 4) + 13 * __shfl_xor_sync(all, v, 9);
    y[t] = r + 17 * __shfl_xor_sync(all, v, 20, 16); }
__global__ void votes(const int *x, int *y) { int t = threadIdx.x, v = x[t], all; unsigned m = 0xffffffffu;
    unsigned b = __ballot_sync(m, v > 3); int r = __any_sync(m, v == 1000) + 2 * __all_sync(m, v < 5000);
    r += 4 * __any_sync(m, v > 5) + 8 * __all_sync(m, v > 0) + 16 * (int)(__match_any_sync(m, v & 3) & 0xfffffu) + __uni_sync(m, v > 9);
    r ^= (int)__match_all_sync(m, t >> 5, &all); r += all; r ^= (int)__match_all_sync(m, v, &all);
    y[t] = r ^ (int)b ^ all; __syncwarp(); }
__global__ void reductions(const int *x, int *y) { int t = threadIdx.x, v = x[t]; unsigned m = 0xffffffffu, u = v;
    int r = __reduce_add_sync(m, v) ^ __reduce_min_sync(m, v) ^ __reduce_max_sync(m, v);
    unsigned s = __reduce_add_sync(m, u) ^ __reduce_min_sync(m, u) ^ __reduce_max_sync(m, u);
    y[t] = r + (int)(s ^ __reduce_and_sync(m, u | 5u) ^ __reduce_or_sync(m, u) ^ __reduce_xor_sync(m, u)); }
__global__ void barriers(const int *x, int *y) { __shared__ int s[64]; int t = threadIdx.x; s[t] = x[t];
    __syncthreads(); int v = s[63 - t]; int c = __syncthreads_count(v > 2); int a = __syncthreads_and(v < 4000);
    int o = __syncthreads_or(v == 77777); __threadfence(); __threadfence_block(); assert(t >= 0);
    if (t < 0) __trap(); y[t] = v + 100 * c + 3 * a + 5 * o + (int)blockDim.x + warpSize; }
__device__ int counters[12] = {0};
__global__ void atomics(const int *x, int *y) { __shared__ int s[12]; __shared__ unsigned u[2]; int t = threadIdx.x;
    if (t < 12) s[t] = t == 8 ? -1 : 100; if (t < 2) u[t] = 0u; __syncthreads(); int v = x[t];
    atomicAdd(&s[0], v); atomicSub(&s[1], v); atomicMin(&s[2], v); atomicMax(&s[3], v); atomicAnd(&s[4], v | 64);
    atomicOr(&s[5], v); atomicXor(&s[6], v); if (t == 5) atomicExch(&s[7], v); atomicCAS(&s[8], -1, 7);
    atomicCAS(&s[9], 3, v); atomicInc(&u[0], 40u); atomicDec(&u[1], 50u); atomicAdd_block(&s[10], 1); __syncthreads();
    y[t] = t < 12 ? s[t] : t < 14 ? (int)u[t - 12] : v; }
__global__ void copies(const int *x, int *y) { __shared__ __align__(16) int s[64]; int t = threadIdx.x;
    if (t < 16) __pipeline_memcpy_async(&s[4 * t], &x[4 * t], 16); __pipeline_commit(); __pipeline_wait_prior(0);
    __syncthreads(); int v = s[63 - t]; __syncthreads(); __pipeline_memcpy_async(&s[t], &x[t ^ 1], 4); __pipeline_commit();
    __pipeline_wait_prior(0); y[t] = v * 2 + s[t]; }
