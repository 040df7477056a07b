// The check of one access. The inline part is the common case; everything that may be a finding is in shadow.cpp.
#pragma once
#include "state.h"

namespace simt {

// By value: what is passed by reference has to lie in memory before the first branch.
void check_cell_slowly(Object&, size_t cell, Stamp mask, bool write, bool atomic, Place, uintptr_t address);
__attribute__((cold)) void out_of_bounds(Access);  // parks the thread, unless the launch is tolerant
[[noreturn]] void misaligned(Access);
void uninitialised(Object&, Access);
void check_cells(Object&, size_t offset, Access);  // several granules, or a part of one
void elsewhere(uintptr_t address, uint32_t size, bool write, uintptr_t pc, const void* frame, Site);  // not in the arena: own stack and constants are fine, the rest is not
uint64_t atomic_bits(const void* address, uint32_t size);

#define SIMT_LIKELY(x) __builtin_expect(!!(x), 1)
#define SIMT_UNLIKELY(x) __builtin_expect(!!(x), 0)

// No conflict possible: nobody, an earlier interval of this block, or this very thread.
inline bool quiet(Stamp stamp, uint32_t first) {
    return interval_of(stamp) - first < g.interval - first || (stamp ^ g.me) >> 22 == 0 || stamp == 0;
}

// A whole-granule reader of this warp, interval and clock.
inline bool same_lanes(Stamp read) {
    constexpr Stamp SAME = ~Stamp(0) << 27 | Stamp(CLOCK_LIMIT) << 8 | FLAG_MULTI | MASK_ALL;
    return ((read ^ (g.me | MASK_ALL)) & SAME) == 0;
}

inline __attribute__((always_inline)) void check_cell(Object& object, size_t index, Stamp mask, bool write, bool atomic, const Place& place,
                       uintptr_t address) {
    Cell& cell = object.cells[index];
    uint32_t first = object.first_interval;
    if (SIMT_LIKELY(mask == MASK_ALL && !atomic && (cell.write & FLAG_ATOMIC) == 0 && quiet(cell.write, first))) {
        Stamp read = cell.read;
        if (write) {
            if (quiet(read, first) && (read & (FLAG_LANES | FLAG_MULTI | FLAG_OTHER)) == 0) {
                cell.write = g.me | MASK_ALL;
                cell.write_pc = uint32_t(place.pc);
                return;
            }
        } else {
            if ((read ^ g.me) >> 8 == 0 || (interval_of(read) == g.interval && (read & FLAG_MULTI))) {
                return;  // nothing new
            }
            if (same_lanes(read)) {
                uint32_t lanes = read & FLAG_LANES ? cell.lanes : 1u << (thread_of(read) & 31);
                cell.lanes = lanes | 1u << (thread_of(g.me) & 31);
                cell.read = read | FLAG_LANES;
                return;
            }
            if (interval_of(read) - first < g.interval - first || read == 0) {
                cell.read = g.me | MASK_ALL | (read & FLAG_OTHER);
                cell.read_pc = uint32_t(place.pc);
                return;
            }
        }
    }
    check_cell_slowly(object, index, mask, write, atomic, place, address);
}

inline bool all_initialised(const uint8_t* init, uint32_t size) {
    switch (size) {
        case 4: return *reinterpret_cast<const uint32_t*>(init) == 0x01010101u;
        case 8: return *reinterpret_cast<const uint64_t*>(init) == 0x0101010101010101ull;
        default:
            for (uint32_t i = 0; i < size; i++) {
                if (!init[i]) {
                    return false;
                }
            }
            return true;
    }
}

inline __attribute__((always_inline)) void check_access(const Access& access) {
    if (SIMT_UNLIKELY(--g.slice <= 0)) {
        if (g.current == nullptr) {
            return;  // dynamic initialisation before the launch: its slice is always over
        }
        preempt(access);
    }
    uintptr_t slot = (access.address - ARENA) >> SLOT_BITS;
    if (SIMT_UNLIKELY(slot >= SLOTS)) {
        const Place& place = access.place;
        return elsewhere(access.address, access.size, access.write, place.pc, place.frame, place.site);
    }
    Object& object = objects[slot];
    size_t offset = access.address - object.base;
    if (SIMT_UNLIKELY(offset >= object.size || access.size > object.size - offset)) {
        return out_of_bounds(access);
    }
    if (SIMT_UNLIKELY(access.address & (access.size - 1)) && access.size <= 16 &&
        (access.size & (access.size - 1)) == 0) {
        misaligned(access);
    }
    if (SIMT_UNLIKELY(object.init != nullptr)) {
        if (!access.write || access.atomic) {
            if (!all_initialised(object.init + offset, access.size)) {
                uninitialised(object, access);
            }
        }
        if (access.write) {
            __builtin_memset(object.init + offset, 1, access.size);
        }
    }
    if (access.write) {
        g.wrote |= !access.atomic;
    }
    if (SIMT_UNLIKELY(access.size < 1u << object.shift) && object.kind == Kind::Shared) {
        refine(object, access.size);
    }
    uint32_t granule = 1u << object.shift;
    if (SIMT_LIKELY(access.size == granule)) {
        check_cell(object, offset >> object.shift, MASK_ALL, access.write, access.atomic, access.place, access.address);
    } else {
        check_cells(object, offset, access);
    }
}

}  // namespace simt
