// The check of one access. The inline part is the common case; everything that may be a finding is in shadow.cpp.
#pragma once
#include "state.h"

namespace simt {

void check_object(Object&, const Access&);
bool read_by_many(Object&, size_t index, uint32_t pc);
void elsewhere(uintptr_t address, uint32_t size, bool write, uintptr_t pc, const void* frame, Site);  // not in the arena: own stack and constants are fine, the rest is not
uint64_t atomic_bits(const void* address, uint32_t size);

#define SIMT_LIKELY(x) __builtin_expect(!!(x), 1)
#define SIMT_UNLIKELY(x) __builtin_expect(!!(x), 0)

// An earlier interval of this block. False for what nobody has done, unless it is shared memory.
inline bool earlier(const Object& object, Stamp stamp) { return stamp - object.first < g.now - object.first; }

// No conflict possible: nobody, an earlier interval of this block, or this very thread. False where an atomic wrote.
inline bool quiet(const Object& object, Stamp stamp) {
    return earlier(object, stamp) || stamp == 0 || (stamp ^ g.me) >> 22 == 0;
}

// A whole-granule reader of this warp, interval and clock.
inline bool same_lanes(Stamp read) {
    constexpr Stamp SAME = ~Stamp(0) << 27 | Stamp(CLOCK_LIMIT) << 8 | FLAG_MULTI | FLAG_DIRTY | MASK_ALL;
    return ((read ^ (g.me | MASK_ALL)) & SAME) == 0;
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

// A plain read of a whole granule that this interval has read before. False: it has to be recorded, or looked at.
inline __attribute__((always_inline)) bool read_again(Object& object, size_t index) {
    Stamp read = object.read[index], change = read ^ g.me;
    // A reader of this interval has looked at the writers, and nobody has written since.
    if (change >> 32 != 0 || (read & (FLAG_DIRTY | MASK_ALL)) != MASK_ALL) {
        return false;
    }
    if (read & FLAG_MULTI || change >> 8 == 0) {
        return true;
    }
    if ((read & FLAG_LANES) == 0 || !same_lanes(read)) {
        return false;
    }
    object.others[index].lanes |= g.lane;
    return true;
}

// The first plain read of a granule by this thread. False: nothing was done.
template <uint32_t SIZE>
inline __attribute__((always_inline)) bool read_first(Object& object, size_t index, uint32_t pc) {
    Stamp read = object.read[index], write = object.write[index], dirty = 0;
    if (!earlier(object, write) && write != 0) {
        if ((write ^ g.me) >> 22 != 0) {
            return false;
        }
        dirty = FLAG_DIRTY;
    }
    if (earlier(object, read) || read == 0) {
        if (object.init != nullptr && !all_initialised(object.init + index * SIZE, SIZE)) {
            return false;
        }
        object.read[index] = g.me | MASK_ALL | dirty | (read & FLAG_OTHER);
        object.read_pc[index] = pc;
        return true;
    }
    if (dirty) {
        return false;
    }
    if (same_lanes(read)) {
        object.others[index].lanes = 1u << (thread_of(read) & 31) | g.lane;
        object.read[index] = read | FLAG_LANES;
        return true;
    }
    return read_by_many(object, index, pc);
}

// A plain write of a whole granule that can be no finding. False: nothing was done.
template <uint32_t SIZE>
inline __attribute__((always_inline)) bool write_quickly(Object& object, size_t index, uint32_t pc) {
    Stamp read = object.read[index];
    bool readers = earlier(object, read) ? read & FLAG_OTHER
                                         : read != 0 && ((read ^ g.me) >> 22 != 0 || read & (FLAG_LANES | FLAG_MULTI | FLAG_OTHER));
    if (SIMT_UNLIKELY(readers || !quiet(object, object.write[index]))) {
        return false;
    }
    if (read >= g.now) {
        object.read[index] = read | FLAG_DIRTY;
    }
    object.write[index] = g.me | MASK_ALL;
    object.write_pc[index] = pc;
    if (object.init != nullptr) {
        __builtin_memset(object.init + index * SIZE, 1, SIZE);
    }
    g.wrote = 1;
    return true;
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
    check_object(objects[slot], access);
}

// Where the shadow of a plain access is, if it is of the object's own granule. Counts the access.
struct Granule {
    Object* object;
    size_t index;
};
template <uint32_t SIZE>
inline __attribute__((always_inline)) bool find_granule(uintptr_t address, Granule& found) {
    constexpr int SHIFT = SIZE == 4 ? 2 : SIZE == 2 ? 1 : 0;
    uintptr_t slot = (address - ARENA) >> SLOT_BITS;
    if (SIMT_UNLIKELY(--g.slice <= 0 || slot >= SLOTS)) {
        return false;
    }
    Object& object = objects[slot];
    size_t offset = address - object.base, index = offset >> SHIFT | (SHIFT ? offset << (64 - SHIFT) : 0);  // misaligned: huge
    found = {&object, index};
    return index < object.quick[SHIFT];
}

// The same for an access of several granules of 4 bytes.
template <uint32_t SIZE>
inline __attribute__((always_inline)) bool find_granules(uintptr_t address, Granule& found) {
    uintptr_t slot = (address - ARENA) >> SLOT_BITS;
    if (SIMT_UNLIKELY(--g.slice <= 0 || slot >= SLOTS || address % SIZE != 0)) {
        return false;
    }
    Object& object = objects[slot];
    found = {&object, (address - object.base) / 4};
    return found.index < object.quick[2] && object.quick[2] - found.index >= SIZE / 4;
}

}  // namespace simt
