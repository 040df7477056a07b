// Seeded faults of ours: the last launch of every run under compute-sanitizer. A tool that does not report its own is not
// watching, and nothing that it says of the kernel before counts.

extern "C" __global__ void vk_control_clean(int* x) { x[threadIdx.x] = int(threadIdx.x); }

extern "C" __global__ void vk_control_memcheck(int* x) { x[threadIdx.x + 1] = 1; }

extern "C" __global__ void vk_control_racecheck(int* x) {
  __shared__ int seen[64];
  seen[threadIdx.x] = x[0] + int(threadIdx.x);
  x[threadIdx.x] = seen[63 - threadIdx.x];
}

extern "C" __global__ void vk_control_initcheck(int* x) { x[threadIdx.x] += 1; }

extern "C" __global__ void vk_control_synccheck(int* x) {
  if (threadIdx.x < 56) __syncthreads();
  x[threadIdx.x] = 1;
}

// No fault: it leaves a pattern in the shared memory of a multiprocessor, so that a kernel which reads it uninitialised shows.
extern "C" __global__ void vk_control_spoil(unsigned pattern, unsigned words) {
  extern __shared__ volatile unsigned box[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) box[i] = pattern;
}
