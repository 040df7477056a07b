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
namespace std {
using ::simt_memcpy;
using ::simt_memset;
}  // namespace std
