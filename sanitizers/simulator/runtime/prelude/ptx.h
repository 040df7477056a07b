// The few instructions of inline assembler that have a meaning here, and shared addresses as numbers of 32 bits.
#pragma once
SIMT_INLINE size_t __cvta_generic_to_shared(const void* p, simt::Site site = SIMT_HERE) { return simt_shared_number(p, site); }
namespace simt {
template <class A>
SIMT_INLINE char* ptx_shared(A address) {
    if constexpr (std::is_pointer_v<A>) {
        return (char*)(address);
    } else {
        return static_cast<char*>(simt_shared_pointer(uint32_t(address)));
    }
}
// Done at once, as __pipeline_memcpy_async is.
template <class To, class From>
SIMT_INLINE void ptx_copy(To to, From from, int size, int present, Site site = SIMT_HERE) {
    const int kept = present < size ? present : size;
    simt_copy(ptx_shared(to), (const void*)(from), size_t(kept), site);
    simt_fill(ptx_shared(to) + kept, 0, size_t(size - kept), site);
}
// Lane 8 i + r gives the place of row r of matrix i; each lane gets two neighbours of a row (or, transposed, of a column).
template <bool TRANSPOSED, class A, class... R>
SIMT_INLINE void ptx_ldmatrix(A address, R&... registers) {
    constexpr int COUNT = int(sizeof...(R));
    const Site site = SIMT_HERE;
    struct Row {
        unsigned short item[8];
    } mine = {}, rows[32];
    if (simt_lane() < 8 * COUNT) {
        simt_copy(&mine, ptx_shared(address), sizeof mine, site);
    }
    simt_collect(0xffffffffu, &mine, sizeof mine, rows, site);
    const int group = simt_lane() >> 2, pair = 2 * (simt_lane() & 3);
    int first = 0;
    auto pick = [&](auto& to) {
        unsigned low = TRANSPOSED ? rows[first + pair].item[group] : rows[first + group].item[pair];
        unsigned high = TRANSPOSED ? rows[first + pair + 1].item[group] : rows[first + group].item[pair + 1];
        to = low | high << 16;
        first += 8;
    };
    (pick(registers), ...);
}
template <class T>
SIMT_INLINE float ptx_half(unsigned pair, int which) {
    unsigned short bits = (unsigned short)(pair >> (16 * which));
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof bits);
    return float(value);
}
// m16n8k(8 HALVES): the lane's group has rows g and g + 8 of A and C and column g of B; its place in the group two columns.
template <class T, int HALVES>
SIMT_INLINE void ptx_multiply(float& d0, float& d1, float& d2, float& d3, const unsigned (&a)[2 * HALVES],
                              const unsigned (&b)[HALVES], float c0, float c1, float c2, float c3, Site site = SIMT_HERE) {
    unsigned all_a[32][2 * HALVES], all_b[32][HALVES];
    simt_collect(0xffffffffu, a, sizeof a, all_a, site);
    simt_collect(0xffffffffu, b, sizeof b, all_b, site);
    const int group = simt_lane() >> 2, column = 2 * (simt_lane() & 3);
    float sums[4] = {c0, c1, c2, c3};
    for (int which = 0; which < 4; which++) {
        const int below = which >> 1, n = column + (which & 1);
        for (int k = 0; k < 8 * HALVES; k++) {
            const int half = k / 8, t = k % 8 / 2;
            sums[which] += ptx_half<T>(all_a[group * 4 + t][2 * half + below], k & 1) *
                           ptx_half<T>(all_b[n * 4 + t][half], k & 1);
        }
    }
    d0 = sums[0], d1 = sums[1], d2 = sums[2], d3 = sums[3];
}
}  // namespace simt
