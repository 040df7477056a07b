// Loads and stores with cache hints are loads and stores; memcpy and memset are checked as a whole.
#pragma once
#define SIMT_LOAD(NAME)                                                                                        \
    template <class T>                                                                                         \
    SIMT_INLINE T NAME(const T* p) {                                                                           \
        return *p;                                                                                             \
    }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#define SIMT_STORE(NAME)                                                                                       \
    template <class T>                                                                                         \
    SIMT_INLINE void NAME(T* p, simt::same_t<T> value) {                                                       \
        *p = value;                                                                                            \
    }
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
SIMT_INLINE void* simt_memcpy(void* to, const void* from, size_t size, simt::Site site = SIMT_HERE) {
    simt_copy(to, from, size, site);
    return to;
}
SIMT_INLINE void* simt_memset(void* to, int value, size_t size, simt::Site site = SIMT_HERE) {
    simt_fill(to, value, size, site);
    return to;
}
// The copy engine is modelled as done at once: what a missing wait would break is not seen here.
SIMT_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0, simt::Site site = SIMT_HERE) {
    simt_copy(to, from, size - zeros, site);
    simt_fill(static_cast<char*>(to) + (size - zeros), 0, zeros, site);
}
SIMT_INLINE void __pipeline_commit() {}
SIMT_INLINE void __pipeline_wait_prior(size_t) {}
SIMT_INLINE size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
namespace std {
using ::simt_memcpy;
using ::simt_memset;
}  // namespace std
// Handles can be passed on; a fetch or a surface access is refused, since nobody knows what it would touch.
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t, CUtexObject, CUsurfObject;
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
// The condition of a graph's node is no memory of the kernel.
typedef unsigned long long cudaGraphConditionalHandle;
SIMT_INLINE void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned) {}
