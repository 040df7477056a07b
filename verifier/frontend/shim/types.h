/* Index variables; after the vector types. */
struct dim3 {
  unsigned x, y, z;
  VK_HD constexpr dim3(unsigned = 1, unsigned = 1, unsigned = 1);
  VK_HD constexpr dim3(uint3);
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

/* What the host passes to kernels by value. */
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
typedef unsigned long long cudaGraphConditionalHandle;

/* Complex numbers of the libraries are pairs. */
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cuFloatComplex, cuComplex, cufftComplex;
typedef double2 cuDoubleComplex, cufftDoubleComplex;

/* Names that a text may open or alias, whatever else is declared. */
namespace std {}
namespace cooperative_groups {}
