// Warp collectives with an explicit mask. The forms without _sync are gone from the language and stay undefined here.
#pragma once
namespace simt {
template <class T>
SIMT_INLINE T shuffled(unsigned mask, T value, int source, Site site) {
    return from_bits<T>(simt_shuffle(mask, bits_of<T>(value), source, site));
}
template <class T, class F>
SIMT_INLINE T reduced(unsigned mask, T value, Site site, F combine, unsigned lanes = ~0u) {
    uint64_t values[32];
    unsigned there = simt_gather(mask, bits_of<T>(value), values, site);
    bool first = true;
    T result = value;
    for (int lane = 0; lane < 32; lane++) {
        if (there & lanes & 1u << lane) {
            T item = from_bits<T>(values[lane]);
            result = first ? item : combine(result, item);
            first = false;
        }
    }
    return result;
}
}  // namespace simt

template <class T>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32, simt::Site site = SIMT_HERE) {
    int lane = simt_lane();
    return simt::shuffled(mask, value, (lane & ~(width - 1)) | (source & (width - 1)), site);
}
template <class T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, simt::Site site = SIMT_HERE) {
    int lane = simt_lane();
    bool inside = unsigned(lane & (width - 1)) >= delta;
    return simt::shuffled(mask, value, inside ? lane - int(delta) : lane, site);
}
template <class T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, simt::Site site = SIMT_HERE) {
    int lane = simt_lane();
    bool inside = unsigned(lane & (width - 1)) + delta < unsigned(width);
    return simt::shuffled(mask, value, inside ? lane + int(delta) : lane, site);
}
template <class T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int xor_mask, int width = 32, simt::Site site = SIMT_HERE) {
    int lane = simt_lane();
    int source = lane ^ xor_mask;
    bool inside = source < (lane & ~(width - 1)) + width;
    return simt::shuffled(mask, value, inside ? source : lane, site);
}
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, simt::Site site = SIMT_HERE) { simt_warp_barrier(mask, site); }
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int p, simt::Site site = SIMT_HERE) { return simt_ballot(mask, p, site); }
SIMT_INLINE int __any_sync(unsigned mask, int p, simt::Site site = SIMT_HERE) { return simt_ballot(mask, p, site) != 0u; }
SIMT_INLINE int __all_sync(unsigned mask, int p, simt::Site site = SIMT_HERE) { return simt_ballot(mask, !p, site) == 0u; }
SIMT_INLINE int __uni_sync(unsigned mask, int p, simt::Site site = SIMT_HERE) {
    unsigned votes = simt_ballot(mask, p, site);
    return votes == 0u || votes == mask;
}
SIMT_INLINE unsigned __activemask(simt::Site site = SIMT_HERE) { return simt_converged(site); }
template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value, simt::Site site = SIMT_HERE) {
    uint64_t values[32], mine = simt::bits_of<T>(value);
    unsigned there = simt_gather(mask, mine, values, site), same = 0;
    for (int lane = 0; lane < 32; lane++) {
        same |= unsigned(there >> lane & 1u && values[lane] == mine) << lane;
    }
    return same;
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all, simt::Site site = SIMT_HERE) {
    unsigned same = __match_any_sync(mask, value, site);
    *all = same == mask;
    return same == mask ? mask : 0u;
}
#define SIMT_REDUCE(NAME, E)                                                                                   \
    SIMT_INLINE unsigned __reduce_##NAME##_sync(unsigned mask, unsigned value, simt::Site site = SIMT_HERE) {  \
        return simt::reduced(mask, value, site, [](unsigned a, unsigned b) -> unsigned { return E; });         \
    }
#define SIMT_REDUCE_SIGNED(NAME, E)                                                                            \
    SIMT_INLINE int __reduce_##NAME##_sync(unsigned mask, int value, simt::Site site = SIMT_HERE) {            \
        return simt::reduced(mask, value, site, [](int a, int b) -> int { return E; });                        \
    }
SIMT_REDUCE(add, a + b)
SIMT_REDUCE(min, a < b ? a : b)
SIMT_REDUCE(max, a < b ? b : a)
SIMT_REDUCE(and, a& b)
SIMT_REDUCE(or, a | b)
SIMT_REDUCE(xor, a ^ b)
SIMT_REDUCE_SIGNED(add, int(unsigned(a) + unsigned(b)))
SIMT_REDUCE_SIGNED(min, a < b ? a : b)
SIMT_REDUCE_SIGNED(max, a < b ? b : a)
