// What the inline check leaves over: conflicts, many readers, partial granules, and accesses outside every object.
#include "shadow.h"

#include <cstdio>
#include <cstring>

extern "C" char __executable_start, end;

namespace simt {
namespace {

constexpr Stamp ALL_FLAGS = FLAG_LANES | FLAG_MULTI | FLAG_OTHER;

const char* verb_of(const Access& access) {
    return access.atomic ? "updates" : access.write ? "writes" : "reads";
}

std::string bytes_text(uint32_t size) { return std::to_string(size) + (size == 1 ? " byte" : " bytes"); }

bool meets(Stamp stamp, Stamp mask) { return (stamp & mask & MASK_ALL) != 0 && interval_of(stamp) != 0; }

bool same_thread(Stamp stamp) { return (stamp ^ g.me) >> 22 == 0; }

void race(Object& object, uintptr_t address, const Place& place, bool write, bool atomic, Stamp other, uint32_t pc,
          bool other_writes, bool other_atomic, const char* why = "") {
    static const char* const ACTIONS[] = {"reads", "writes", "atomically reads", "atomically updates"};
    Other by = other_of(other, pc, ACTIONS[other_writes + 2 * other_atomic]);
    const char* kind = write && other_writes ? "write/write" : write ? "read/write" : "write/read";
    std::string message = std::string(kind) + " race: this thread " + ACTIONS[write + 2 * atomic] +
                          " what another thread " + ACTIONS[other_writes + 2 * other_atomic] +
                          ", and nothing orders the two" + why;
    Property property = object.kind == Kind::Shared ? Property::RaceShared : Property::RaceGlobal;
    report(property, place, message, int(&object - objects), int64_t(address - object.base), ACTIONS[write + 2 * atomic], &by);
}

bool lanes_ordered(Stamp read, uint32_t lanes) {
    const Fiber& self = *g.current;
    if (interval_of(read) != g.interval) {
        return ordered(read);
    }
    if (thread_of(read) >> 5 != self.thread >> 5) {
        return false;
    }
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (lanes >> lane & 1 && lane != (self.thread & 31) && self.lane_clocks[lane] < clock_of(read)) {
            return false;
        }
    }
    return true;
}

// A reader that is not this thread, to name it.
struct Reader {
    Stamp stamp;
    uint32_t pc;
};
Reader other_reader(const Cell& cell) {
    if (!same_thread(cell.read)) {
        return {cell.read, cell.read_pc};
    }
    auto by = [&](Stamp thread, uint32_t pc) { return Reader{(cell.read & ~(Stamp(1023) << 22)) | thread << 22, pc}; };
    if (cell.read & FLAG_MULTI) {
        return by(cell.others.lanes, cell.others.pc);
    }
    uint32_t lanes = cell.others.lanes & ~(1u << (g.current->thread & 31));
    if (cell.read & FLAG_LANES && lanes != 0) {
        return by((g.current->thread & ~31u) | uint32_t(__builtin_ctz(lanes)), cell.read_pc);
    }
    return {cell.read, cell.read_pc};
}

void check_readers(Object& object, const Cell& cell, const Access& access, Stamp mask) {
    Stamp read = cell.read;
    if (meets(read, mask)) {
        bool fine = ordered(read);
        if (interval_of(read) == g.interval) {
            fine = read & FLAG_MULTI ? false : read & FLAG_LANES ? lanes_ordered(read, cell.others.lanes) : fine;
        }
        if (!fine) {
            Reader other = other_reader(cell);
            race(object, access.address, access.place, true, access.atomic, other.stamp, other.pc, false, false);
        }
    }
    if (read & FLAG_OTHER && meets(cell.block_read, mask) && !ordered(cell.block_read)) {
        race(object, access.address, access.place, true, access.atomic, cell.block_read, cell.block_read_pc, false,
             false);
    }
}

bool of_another_block(Stamp stamp) {
    return interval_of(stamp) >= g.grid_base && g.interval_block[interval_of(stamp)] != g.block->number;
}

// An atomic of block scope is one for the threads of its own block only. Expects and keeps Extra::narrow.
void check_scopes(Object& object, Extra& extra, const Access& access, Stamp mask, bool has_atomic) {
    constexpr const char* WHY = " (an atomic of block scope is none for another block)";
    bool narrow = g.scope == BLOCK_SCOPE && object.kind != Kind::Shared;
    if (!has_atomic) {
        extra.narrow = 0;
    } else if (narrow && meets(extra.atomic, mask) && of_another_block(extra.atomic) && !ordered(extra.atomic)) {
        race(object, access.address, access.place, true, true, extra.atomic, extra.atomic_pc, true, true, WHY);
    } else if (meets(extra.narrow, mask) && of_another_block(extra.narrow) && !ordered(extra.narrow)) {
        race(object, access.address, access.place, true, true, extra.narrow, extra.narrow_pc, true, true, WHY);
    }
    if (narrow) {
        extra.narrow = g.me | mask;
        extra.narrow_pc = uint32_t(access.place.pc);
    }
}

// What the inline check does not record: several warps, several clocks, parts of a granule, other blocks.
void note_reader(Cell& cell, Stamp mask, uint32_t pc) {
    Stamp read = cell.read, mine = g.me | mask;
    bool same_interval = read != 0 && interval_of(read) == g.interval;
    if (same_interval && (read & MASK_ALL & ~mask) == 0 && !(read & FLAG_MULTI) &&
        (read & FLAG_LANES ? lanes_ordered(read, cell.others.lanes) : ordered(read))) {
        mine |= read & FLAG_OTHER;  // what is ordered after this read is ordered after the earlier ones
    } else if (same_interval) {
        if (same_thread(read)) {
            mine |= read & (ALL_FLAGS | MASK_ALL);
        } else {
            if (thread_of(read) >> 5 == thread_of(mine) >> 5 && !(read & FLAG_MULTI)) {
                cell.others.lanes = (read & FLAG_LANES ? cell.others.lanes : 1u << (thread_of(read) & 31)) |
                                    1u << (thread_of(mine) & 31);
                mine |= FLAG_LANES;
            } else {
                mine |= FLAG_MULTI;
                cell.others = {thread_of(read), cell.read_pc};
            }
            mine |= read & (MASK_ALL | FLAG_OTHER);
        }
        if (clock_of(read) > clock_of(mine)) {  // keep the latest clock of all
            mine = (mine & ~(Stamp(CLOCK_LIMIT) << 8)) | Stamp(clock_of(read)) << 8;
        }
    } else if (read != 0) {
        mine |= read & FLAG_OTHER;
        uint32_t from = interval_of(read) < g.grid_base ? ~0u : g.interval_block[interval_of(read)];
        if (from != ~0u && from != g.block->number && !ordered(read)) {
            bool keep = read & FLAG_OTHER && interval_of(cell.block_read) >= g.grid_base &&
                        g.interval_block[interval_of(cell.block_read)] != g.block->number;
            if (!keep) {
                cell.block_read = read;
                cell.block_read_pc = cell.read_pc;
            }
            mine |= FLAG_OTHER;
        }
    }
    cell.read = mine;
    cell.read_pc = pc;
}

}  // namespace

static void check_cell_slowly(Object& object, size_t index, Stamp mask, const Access& access) {
    const bool write = access.write, atomic = access.atomic;
    const Place& place = access.place;
    const uintptr_t address = access.address;
    Cell cell = object.cell(index);
    Extra& extra = object.extras[index];
    bool has_atomic = cell.write & FLAG_ATOMIC;
    if (has_atomic) cell.write &= ~FLAG_ATOMIC;
    if (object.kind == Kind::Shared) {  // left over from an earlier block
        uint32_t first = g.block->first_interval;
        has_atomic = has_atomic && interval_of(extra.atomic) >= first;
        if (interval_of(cell.write) < first) cell.write = 0;
        if (interval_of(cell.read) < first) cell.read = 0;
    }
    uint32_t pc = uint32_t(place.pc);
    if (meets(cell.write, mask) && !ordered(cell.write)) {
        race(object, address, place, write, atomic, cell.write, cell.write_pc, true, false);
    }
    // Every atomic has seen those before it, so what comes after the last one comes after all.
    if (!atomic && has_atomic && meets(extra.atomic, mask) && !ordered(extra.atomic)) {
        race(object, address, place, write, false, extra.atomic, extra.atomic_pc, true, true);
    }
    if (write) {
        check_readers(object, cell, access, mask);
        if (atomic) {
            check_scopes(object, extra, access, mask, has_atomic);
            extra.atomic = g.me | mask | (has_atomic ? extra.atomic & MASK_ALL : 0);
            extra.atomic_pc = pc;
            has_atomic = true;
        } else {
            cell.write = g.me | mask | (same_thread(cell.write) ? cell.write & MASK_ALL : 0);
            cell.write_pc = pc;
        }
    } else if (!atomic) {
        note_reader(cell, mask, pc);
    }
    if (cell.read != 0 && (has_atomic || (cell.write != 0 && !earlier(object, cell.write)))) {
        cell.read |= FLAG_DIRTY;
    }
    if (has_atomic) {
        cell.write |= FLAG_ATOMIC;
    }
}

template <uint32_t SIZE>
static inline bool checked_quickly(Object& object, size_t index, const Access& access) {
    uint32_t pc = uint32_t(access.place.pc);
    return access.write ? write_quickly<SIZE>(object, index, pc) : read_again(object, index) || read_first<SIZE>(object, index, pc);
}

static void check_cells(Object& object, size_t offset, const Access& access) {
    uint32_t granule = 1u << object.shift;
    for (uint32_t done = 0; done < access.size;) {
        uint32_t skip = (offset + done) & (granule - 1);
        uint32_t bytes = granule - skip < access.size - done ? granule - skip : access.size - done;
        Stamp mask = bytes == granule ? MASK_ALL : ((Stamp(1) << bytes) - 1) << skip;
        size_t index = (offset + done) >> object.shift;
        bool plain = mask == MASK_ALL && !access.atomic;
        if (!plain || !(object.shift == 2   ? checked_quickly<4>(object, index, access)
                        : object.shift == 1 ? checked_quickly<2>(object, index, access)
                                            : checked_quickly<1>(object, index, access))) {
            check_cell_slowly(object, index, mask, access);
        }
        done += bytes;
    }
}

static void out_of_bounds(const Access& access) {  // parks the thread, unless the launch is tolerant
    int slot = nearest_object(access.address);
    const char* verb = access.atomic ? "atomic update" : access.write ? "write" : "read";
    if (slot < 0) {
        report(Property::BoundsGlobal, access.place, std::string(verb) + " outside every buffer", -1,
               int64_t(access.address), verb_of(access), nullptr);
        park();
    }
    const Object& object = objects[slot];
    int64_t offset = int64_t(access.address - object.base);
    int64_t length = int64_t(object.size / object.element);
    int64_t index = offset < 0 ? -((-offset + object.element - 1) / object.element) : offset / object.element;
    std::string message = std::string(verb) + " of " + bytes_text(access.size) + " at " + object.name + "[" +
                          std::to_string(index) + "], which has " + std::to_string(length) + " elements";
    report(bounds_of(object.kind), access.place, message, slot, offset, verb_of(access), nullptr);
    if (!g.tolerant || !spare_page(access.address, access.size)) {
        park();
    }
    g.accesses += 64;  // telling takes its time, and the budget stands for time
}

static void misaligned(const Access& access) {
    Object& object = objects[(access.address - ARENA) >> SLOT_BITS];
    report(Property::Alignment, access.place,
           "access of " + bytes_text(access.size) + " at an address that is not a multiple of " +
               std::to_string(access.size),
           int(&object - objects), int64_t(access.address - object.base), verb_of(access), nullptr);
    park();
}

static void uninitialised(Object& object, const Access& access) {
    size_t offset = access.address - object.base;
    report(Property::Uninitialized, access.place,
           std::string("read of ") + object.name + "[" + std::to_string(offset / object.element) +
               "], which nothing has written",
           int(&object - objects), int64_t(offset), verb_of(access), nullptr);
    memset(object.init + offset, 1, access.size);  // once a place is enough
}

// A reader beside those of other warps, or after those of other blocks, where nothing can have ordered them.
bool read_by_many(Object& object, size_t index, uint32_t pc) {
    Stamp read = object.read[index], change = read ^ g.me;
    if (g.knowledge || (read & MASK_ALL) != MASK_ALL) {
        return false;
    }
    if (change >> 32 == 0) {
        if ((change >> 27 & 31) == 0) {
            return false;
        }
        object.others[index] = {thread_of(read), object.read_pc[index]};
        object.read[index] = g.me | MASK_ALL | FLAG_MULTI | (read & FLAG_OTHER);
    } else {
        const uint32_t *block_of = g.interval_block.data(), self = g.block->number;
        if (interval_of(read) < g.grid_base || block_of[interval_of(read)] == self) {
            return false;
        }
        uint32_t kept = read & FLAG_OTHER ? interval_of(object.block_read[index]) : 0;
        if (kept < g.grid_base || block_of[kept] == self) {
            object.block_read[index] = read;
            object.block_read_pc[index] = object.read_pc[index];
        }
        object.read[index] = g.me | MASK_ALL | FLAG_OTHER;
    }
    object.read_pc[index] = pc;
    return true;
}

void check_object(Object& object, const Access& access) {
    size_t offset = access.address - object.base;
    if (SIMT_UNLIKELY(offset >= object.size || access.size > object.size - offset)) {
        return out_of_bounds(access);
    }
    if (SIMT_UNLIKELY(access.address & (access.size - 1)) && access.size <= 16 &&
        (access.size & (access.size - 1)) == 0) {
        misaligned(access);
    }
    if (object.init != nullptr) {
        if (!access.write || access.atomic) {
            if (!all_initialised(object.init + offset, access.size)) {
                uninitialised(object, access);
            }
        }
        if (access.write) {
            __builtin_memset(object.init + offset, 1, access.size);
        }
    }
    g.wrote |= access.write && !access.atomic;
    if (SIMT_UNLIKELY(access.size < 1u << object.shift)) {
        refine(object, access.size);
    }
    check_cells(object, offset, access);
}

// Whether an access to the thread's own stack stays clear of every call's saved frame pointer and return address, and
// below the runtime's own frames.
static bool within_locals(const Access& access) {
    uintptr_t low = reinterpret_cast<uintptr_t>(g.current->stack), last = access.address + access.size;
    auto* link = static_cast<const uintptr_t*>(access.place.frame);
    uintptr_t outer = 0, outermost = 0;  // the frames of the kernel's entry and of the runtime's loop
    while (reinterpret_cast<uintptr_t>(link) - low < STACK_BYTES - 16) {
        uintptr_t frame = reinterpret_cast<uintptr_t>(link);
        if (access.address < frame + 16 && last > frame) {
            return false;
        }
        outer = outermost;
        outermost = frame;
        link = reinterpret_cast<const uintptr_t*>(link[0]);
    }
    return last <= outer;
}

void elsewhere(uintptr_t address, uint32_t size, bool write, uintptr_t pc, const void* frame, Site site) {
    uintptr_t image = reinterpret_cast<uintptr_t>(&__executable_start);
    if (!write && address - image < uintptr_t(&end) - image) {
        return;  // constants, literals, the kernel's parameters
    }
    const Access access{address, size, write, false, {pc, frame, site}};
    uintptr_t own = reinterpret_cast<uintptr_t>(g.current->stack);
    if (access.address - own < STACK_BYTES) {
        if (within_locals(access)) {
            return;
        }
        report(Property::BoundsLocal, access.place,
               std::string(access.write ? "write" : "read") + " outside a local array, over the data of a function call", -1,
               0, verb_of(access), nullptr);
        park();
    }
    const char* verb = access.write ? "write" : "read";
    if (access.address - image < uintptr_t(&end) - image) {
        simt_unsupported("a variable with static storage that is neither __shared__ nor __device__", nullptr);
    }
    if (owns_stack(access.address)) {
        report(Property::BoundsLocal, access.place, std::string(verb) + " in another thread's local memory", -1, 0,
               verb_of(access), nullptr);
    } else if (access.address < 65536) {
        report(Property::BoundsGlobal, access.place, std::string(verb) + " through a null pointer", -1,
               int64_t(access.address), verb_of(access), nullptr);
    } else {
        report(Property::BoundsGlobal, access.place, std::string(verb) + " outside every buffer", -1,
               int64_t(access.address), verb_of(access), nullptr);
    }
    park();
}

uint64_t atomic_bits(const void* address, uint32_t size) {
    uint64_t bits = 0;
    memcpy(&bits, address, size);
    return bits;
}

}  // namespace simt
