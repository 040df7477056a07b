// Cooperative groups: the block, the grid, tiles of a warp and the lanes that happen to be together.
#pragma once
namespace cooperative_groups {
SIMT_INLINE unsigned simt_rank() {
    return simt_threadIdx.x + simt_blockDim.x * (simt_threadIdx.y + simt_blockDim.y * simt_threadIdx.z);
}
SIMT_INLINE unsigned simt_threads() { return simt_blockDim.x * simt_blockDim.y * simt_blockDim.z; }

struct thread_block {
    SIMT_INLINE static void sync(simt::Site site = SIMT_HERE) { simt_barrier(site); }
    SIMT_INLINE static unsigned thread_rank() { return simt_rank(); }
    SIMT_INLINE static unsigned size() { return simt_threads(); }
    SIMT_INLINE static unsigned num_threads() { return simt_threads(); }
    SIMT_INLINE static dim3 group_index() { return simt_blockIdx; }
    SIMT_INLINE static dim3 thread_index() { return simt_threadIdx; }
    SIMT_INLINE static dim3 group_dim() { return simt_blockDim; }
    SIMT_INLINE static dim3 dim_threads() { return simt_blockDim; }
};
struct grid_group {
    SIMT_INLINE void sync(simt::Site site = SIMT_HERE) const { simt_grid_barrier(site); }
    SIMT_INLINE bool is_valid() const { return true; }
    SIMT_INLINE unsigned long long block_rank() const {
        return simt_blockIdx.x + (unsigned long long)simt_gridDim.x * (simt_blockIdx.y + (unsigned long long)simt_gridDim.y * simt_blockIdx.z);
    }
    SIMT_INLINE unsigned long long num_blocks() const { return (unsigned long long)simt_gridDim.x * simt_gridDim.y * simt_gridDim.z; }
    SIMT_INLINE unsigned long long thread_rank() const { return block_rank() * simt_threads() + simt_rank(); }
    SIMT_INLINE unsigned long long size() const { return num_blocks() * simt_threads(); }
    SIMT_INLINE unsigned long long num_threads() const { return size(); }
    SIMT_INLINE dim3 group_dim() const { return simt_gridDim; }
    SIMT_INLINE dim3 dim_blocks() const { return simt_gridDim; }
    SIMT_INLINE dim3 block_index() const { return simt_blockIdx; }
};

// What tiles and coalesced groups share: a mask of lanes and a rank in it.
struct simt_lanes {
    unsigned mask_;
    SIMT_INLINE void sync(simt::Site site = SIMT_HERE) const { simt_warp_barrier(mask_, site); }
    SIMT_INLINE unsigned thread_rank() const { return unsigned(__builtin_popcount(mask_ & ((1u << simt_lane()) - 1u))); }
    SIMT_INLINE int simt_nth(unsigned rank) const {
        for (int lane = 0; lane < 32; lane++) {
            if (mask_ >> lane & 1u && rank-- == 0u) {
                return lane;
            }
        }
        return simt_lane();
    }
    template <class T>
    SIMT_INLINE T shfl(T value, int source, simt::Site site = SIMT_HERE) const {
        return simt::shuffled(mask_, value, simt_nth(unsigned(source) % unsigned(__builtin_popcount(mask_))), site);
    }
    template <class T>
    SIMT_INLINE T shfl_up(T value, unsigned delta, simt::Site site = SIMT_HERE) const {
        unsigned rank = thread_rank();
        return simt::shuffled(mask_, value, rank >= delta ? simt_nth(rank - delta) : simt_lane(), site);
    }
    template <class T>
    SIMT_INLINE T shfl_down(T value, unsigned delta, simt::Site site = SIMT_HERE) const {
        unsigned rank = thread_rank();
        bool inside = rank + delta < unsigned(__builtin_popcount(mask_));
        return simt::shuffled(mask_, value, inside ? simt_nth(rank + delta) : simt_lane(), site);
    }
    template <class T>
    SIMT_INLINE T shfl_xor(T value, unsigned lanes, simt::Site site = SIMT_HERE) const {
        return simt::shuffled(mask_, value, simt_nth(thread_rank() ^ lanes), site);
    }
    SIMT_INLINE unsigned ballot(int p, simt::Site site = SIMT_HERE) const {
        return simt_packed(simt_ballot(mask_, p, site));
    }
    SIMT_INLINE unsigned simt_packed(unsigned lanes) const {  // by rank instead of by lane
        unsigned packed = 0u, rank = 0u;
        for (int lane = 0; lane < 32; lane++) {
            if (mask_ >> lane & 1u) {
                packed |= (lanes >> lane & 1u) << rank++;
            }
        }
        return packed;
    }
    SIMT_INLINE int any(int p, simt::Site site = SIMT_HERE) const { return simt_ballot(mask_, p, site) != 0u; }
    SIMT_INLINE int all(int p, simt::Site site = SIMT_HERE) const { return simt_ballot(mask_, !p, site) == 0u; }
    template <class T>
    SIMT_INLINE unsigned match_any(T value, simt::Site site = SIMT_HERE) const {
        return simt_packed(__match_any_sync(mask_, value, site));
    }
    template <class T>
    SIMT_INLINE unsigned match_all(T value, int& same, simt::Site site = SIMT_HERE) const {
        return simt_packed(__match_all_sync(mask_, value, &same, site));
    }
};
template <unsigned SIZE, class Parent = void>
struct thread_block_tile : simt_lanes {
    static_assert(SIZE >= 1 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile of 1, 2, 4, 8, 16 or 32 threads");
    thread_block_tile() = default;
    SIMT_INLINE explicit thread_block_tile(simt_lanes lanes) : simt_lanes(lanes) {}
    template <class Other>
    SIMT_INLINE thread_block_tile(const thread_block_tile<SIZE, Other>& tile) : simt_lanes(tile) {}
    SIMT_INLINE unsigned size() const { return SIZE; }
    SIMT_INLINE unsigned num_threads() const { return SIZE; }
    SIMT_INLINE unsigned meta_group_rank() const { return simt_rank() / SIZE; }
    SIMT_INLINE unsigned meta_group_size() const { return (simt_threads() + SIZE - 1u) / SIZE; }
};
struct coalesced_group : simt_lanes {
    SIMT_INLINE unsigned size() const { return unsigned(__builtin_popcount(mask_)); }
    SIMT_INLINE unsigned num_threads() const { return size(); }
};
// Any group: the block or the grid, or a mask of lanes.
struct thread_group {
    enum Kind { BLOCK, GRID, LANES } kind_;
    unsigned mask_;
    SIMT_INLINE thread_group(const thread_block&) : kind_(BLOCK), mask_(0) {}
    SIMT_INLINE thread_group(const grid_group&) : kind_(GRID), mask_(0) {}
    SIMT_INLINE thread_group(const simt_lanes& lanes) : kind_(LANES), mask_(lanes.mask_) {}
    SIMT_INLINE void sync(simt::Site site = SIMT_HERE) const {
        if (kind_ == BLOCK) simt_barrier(site);
        else if (kind_ == GRID) simt_grid_barrier(site);
        else simt_warp_barrier(mask_, site);
    }
    SIMT_INLINE unsigned long long thread_rank() const {
        return kind_ == BLOCK ? simt_rank() : kind_ == GRID ? grid_group().thread_rank() : simt_lanes{mask_}.thread_rank();
    }
    SIMT_INLINE unsigned long long size() const {
        return kind_ == BLOCK ? simt_threads() : kind_ == GRID ? grid_group().size() : unsigned(__builtin_popcount(mask_));
    }
    SIMT_INLINE unsigned long long num_threads() const { return size(); }
};

SIMT_INLINE thread_block this_thread_block() { return {}; }
SIMT_INLINE grid_group this_grid() { return {}; }
SIMT_INLINE coalesced_group coalesced_threads(simt::Site site = SIMT_HERE) { return {{simt_converged(site)}}; }
template <unsigned SIZE, class Parent>
SIMT_INLINE thread_block_tile<SIZE, Parent> tiled_partition(const Parent&) {
    unsigned all = SIZE == 32u ? 0xffffffffu : (1u << (SIZE % 32u)) - 1u;
    return thread_block_tile<SIZE, Parent>(simt_lanes{all << (unsigned(simt_lane()) & ~(SIZE - 1u))});
}
SIMT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned size, simt::Site site = SIMT_HERE) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0 || parent.kind_ == thread_group::GRID) simt_trap(site);
    const unsigned first = parent.kind_ == thread_group::BLOCK ? simt_rank() & ~(size - 1) : 0;
    unsigned tile = (size == 32 ? 0xffffffffu : (1u << size % 32) - 1u) << (unsigned(simt_lane()) & ~(size - 1));
    if (parent.kind_ == thread_group::LANES) return simt_lanes{tile & parent.mask_};
    const unsigned there = simt_threads() - first;  // the last tile of a block may be smaller
    return simt_lanes{there < size ? tile & (((1u << there % 32) - 1u) << (unsigned(simt_lane()) & ~(size - 1))) : tile};
}
template <class Label>
SIMT_INLINE coalesced_group labeled_partition(const simt_lanes& group, Label label, simt::Site site = SIMT_HERE) {
    static_assert(std::is_integral<Label>::value, "a label is an integer");
    return {{__match_any_sync(group.mask_, label, site)}};
}
SIMT_INLINE coalesced_group binary_partition(const simt_lanes& group, bool label, simt::Site site = SIMT_HERE) {
    return {{__match_any_sync(group.mask_, int(label), site)}};
}
template <class Group>
SIMT_INLINE void sync(const Group& group, simt::Site site = SIMT_HERE) {
    group.sync(site);
}
template <class Group>
SIMT_INLINE void synchronize(const Group& group, simt::Site site = SIMT_HERE) {
    group.sync(site);
}
template <class T>
struct plus {
    SIMT_INLINE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    SIMT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    SIMT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    SIMT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    SIMT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    SIMT_INLINE T operator()(T a, T b) const { return a ^ b; }
};
template <class Group, class T, class Op>
SIMT_INLINE T reduce(const Group& group, T value, const Op& op, simt::Site site = SIMT_HERE) {
    return simt::reduced(group.mask_, value, site, [&](T a, T b) -> T { return op(a, b); });
}
template <class Group, class T, class Op = plus<T>>
SIMT_INLINE T inclusive_scan(const Group& group, T value, const Op& op = Op(), simt::Site site = SIMT_HERE) {
    const unsigned before = group.mask_ & (2u << simt_lane()) - 1u;
    return simt::reduced(group.mask_, value, site, [&](T a, T b) -> T { return op(a, b); }, before);
}
template <class Group, class T, class Op = plus<T>>
SIMT_INLINE T exclusive_scan(const Group& group, T value, const Op& op = Op(), simt::Site site = SIMT_HERE) {
    const unsigned before = group.mask_ & (1u << simt_lane()) - 1u;
    const T scanned = simt::reduced(group.mask_, value, site, [&](T a, T b) -> T { return op(a, b); }, before);
    return before != 0u ? scanned : T();
}
// The copy is done at once by the first thread, so another one that looks before the wait races with it.
template <class Group>
SIMT_INLINE void memcpy_async(const Group& group, void* to, const void* from, size_t bytes, simt::Site site = SIMT_HERE) {
    if (group.thread_rank() == 0) simt_copy(to, from, bytes, site);
}
template <class Group>
SIMT_INLINE void wait(const Group& group, simt::Site site = SIMT_HERE) {
    group.sync(site);
}
template <unsigned STAGES, class Group>
SIMT_INLINE void wait_prior(const Group& group, simt::Site site = SIMT_HERE) {
    group.sync(site);
}
}  // namespace cooperative_groups
