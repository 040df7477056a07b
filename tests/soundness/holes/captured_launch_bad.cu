// What a stream records runs when its graph is launched, here after a free.
#include <cuda_runtime.h>

__global__ void gather(const float* table, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[index[i]];  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float *table, *y;
    int* index;
    cudaMalloc(&table, 100 * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    cudaMemset(table, 0, 100 * sizeof(float));
    cudaMemset(index, 0, n * sizeof(int));
    cudaStream_t side;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&side);
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
    gather<<<(n + 255) / 256, 256, 0, side>>>(table, index, y, n);
    cudaStreamEndCapture(side, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaFree(y);
    cudaGraphLaunch(ready, side);
    return cudaDeviceSynchronize();
}
