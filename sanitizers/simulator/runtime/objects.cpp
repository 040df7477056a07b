// Memory objects and their shadow: launch buffers, __device__ variables, shared arrays.
// Shared arrays have one address for all blocks; a block that is set aside takes its contents with it.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "state.h"

extern "C" {
extern const simt::Placed __start_simt_objects[] __attribute__((weak));
extern const simt::Placed __stop_simt_objects[] __attribute__((weak));
}

namespace simt {

Object objects[SLOTS];

namespace {

uint32_t next_declaration = FIRST_DECLARATION, next_buffer = FIRST_BUFFER;  // slot 0 stays empty
std::vector<uint32_t> shared_objects, global_objects;
Block* occupant = nullptr;  // whose shared memory is in place

void* reserve(uintptr_t at, size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void* memory = mmap(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

size_t pages(size_t size) { return (size + 4095) & ~size_t(4095); }
size_t data_bytes(const Object& object) { return pages(object.capacity + 8192); }
// The arrays of a shadow: one stretch of address space, the arrays not all at one page offset (cache sets).
template <class Visit>
size_t each_array(Object& object, const Visit& visit) {
    size_t count = (object.capacity >> (object.kind == Kind::Shared ? 0 : object.shift)) + 16, offset = 0;
    auto place = [&](auto*& array) {
        visit(array, offset);
        offset = pages(offset + count * sizeof *array) + 9 * 64;
    };
    place(object.write);
    place(object.read);
    place(object.write_pc);
    place(object.read_pc);
    place(object.others);
    place(object.block_read);
    place(object.block_read_pc);
    place(object.extras);
    return pages(offset);
}

size_t shadow_bytes(Object& object) {
    return each_array(object, [](auto*&, size_t) {});
}

size_t granules(const Object& object) { return object.size >> object.shift; }

void count_granules(Object& object) {
    for (int shift = 0; shift < 3; shift++) {
        object.quick[shift] = object.shift == shift ? granules(object) : 0;
    }
}

uintptr_t middle(size_t slot) { return ARENA + (slot << SLOT_BITS) + (uintptr_t(1) << (SLOT_BITS - 1)); }

template <class Visit>
void each_part(Object& object, const Visit& visit) {  // what makes up a shared object
    visit(reinterpret_cast<char*>(&object.shift), sizeof object.shift);
    count_granules(object);
    visit(reinterpret_cast<char*>(object.base), object.size);
    visit(reinterpret_cast<char*>(object.init), object.size);
    each_array(object, [&](auto*& array, size_t) {
        visit(reinterpret_cast<char*>(array), (granules(object) + 1) * sizeof *array);
    });
}

void place_arrays(Object& object) {
    each_array(object, [&](auto*& array, size_t offset) {
        array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(object.shadow + offset);
    });
}

constexpr size_t STRETCH = 1 << 20;  // cells

bool untouched(const void* from, size_t size) {
    static unsigned char resident[STRETCH * sizeof(Stamp) / 4096 + 2];
    uintptr_t first = reinterpret_cast<uintptr_t>(from) & ~uintptr_t(4095);
    size_t count = (pages(reinterpret_cast<uintptr_t>(from) + size) - first) / 4096;
    return mincore(reinterpret_cast<void*>(first), count * 4096, resident) == 0 && memchr(resident, 1, count) == nullptr;
}

// The cell of one granule becomes those of its parts. From the last to the first, since both may lie in the same arrays.
void split(const Object& from, Object& to, size_t index, size_t parts) {
    Cell large = Object(from).cell(index);
    if (large.write == 0 && large.read == 0 && from.shadow != to.shadow) {
        return;
    }
    const Stamp write = large.write, read = large.read, block_read = large.block_read;
    const uint32_t write_pc = large.write_pc, read_pc = large.read_pc, block_read_pc = large.block_read_pc;
    const Others others = large.others;
    const Extra extra = from.extras[index];
    for (size_t part = parts; part-- > 0;) {
        Stamp bits = ((Stamp(1) << (1u << to.shift)) - 1) << (part << to.shift);
        auto piece = [&](Stamp stamp) { return stamp & bits ? stamp | MASK_ALL : stamp & ~MASK_ALL; };
        Cell small = to.cell(index * parts + part);
        small.write = piece(write);
        small.read = piece(read);
        small.block_read = piece(block_read);
        small.write_pc = write_pc;
        small.read_pc = read_pc;
        small.block_read_pc = block_read_pc;
        small.others = others;
        to.extras[index * parts + part] = extra;
        to.extras[index * parts + part].atomic = piece(extra.atomic);
    }
}

void name_dynamic(size_t element, const char* name) {
    objects[DYNAMIC_SLOT].element = uint32_t(element);
    objects[DYNAMIC_SLOT].name = name;
}

void undefine(Object& object) {
    memset(object.init, 0, object.size);
    memset(reinterpret_cast<void*>(object.base), 0xff, object.size);
}

}  // namespace

uint32_t add_object(Kind kind, size_t size, size_t capacity, uint32_t element, bool initialised, const char* name,
                    uint32_t placed) {
    bool buffer = kind == Kind::Global;
    uint32_t slot = placed ? placed : buffer ? next_buffer : next_declaration;
    if (slot >= (buffer ? SLOTS : FIRST_BUFFER) || capacity >= (size_t(1) << (SLOT_BITS - 1)) - 8192) {
        g.unsupported = "more buffers than slots, or a buffer of 32 GB or more";
        return 0;
    }
    Object object{};
    object.element = element ? element : 1;
    uint32_t granule = object.element & -object.element;
    object.shift = granule >= 4 || kind == Kind::Shared ? 2 : granule == 2 ? 1 : 0;
    object.size = size;
    object.capacity = capacity;
    object.kind = kind;
    object.name = name;
    object.base = middle(slot) + (placed ? 0 : slot % 13 * 256);  // not all at one page offset: cache sets
    bool there = reserve(middle(slot), data_bytes(object)) != nullptr;
    object.shadow = static_cast<char*>(reserve(0, shadow_bytes(object)));
    object.init = initialised ? nullptr : static_cast<uint8_t*>(reserve(0, pages(capacity + 16)));
    if (!there || object.shadow == nullptr || (!initialised && object.init == nullptr)) {
        g.stopped = "the address space";
        return 0;
    }
    place_arrays(object);
    count_granules(object);
    objects[slot] = object;
    if (placed == 0) {
        (buffer ? next_buffer : next_declaration)++;
    }
    (kind == Kind::Shared ? shared_objects : global_objects).push_back(slot);
    return slot;
}

void place_declarations() {
    add_object(Kind::Shared, 0, SHARED_CAPACITY, 1, false, "shared memory", DYNAMIC_SLOT);
    for (const Placed* item = __start_simt_objects; item < __stop_simt_objects; item++) {
        if (item->kind == Placed::Dynamic) {
            name_dynamic(item->element, item->name);
        } else if (item->slot != 0 && item->slot < DYNAMIC_SLOT && objects[item->slot].kind == Kind::None) {
            Kind kind = item->kind == Placed::Device ? Kind::Device : Kind::Shared;
            uint32_t slot = add_object(kind, item->size, item->size, uint32_t(item->element), kind == Kind::Device,
                                       item->name, item->slot);
            objects[slot].initial = item->initial;
        }
    }
}

// Cells of an object that is accessed in smaller pieces than its granule: from now on each piece has its own.
void refine(Object& object, uint32_t bytes) {
    const Object old = object;
    uint8_t shift = bytes >= 2 ? 1 : 0;
    object.shift = shift;
    count_granules(object);
    if (object.kind != Kind::Shared) {  // which has room for them
        object.shadow = static_cast<char*>(reserve(0, shadow_bytes(object)));
        if (object.shadow == nullptr) {
            object = old;
            simt_unsupported("a buffer that is accessed in pieces of its elements, for which there is no address space", nullptr);
        }
        place_arrays(object);
    }
    size_t parts = size_t(1) << (old.shift - shift), cells = ((old.size - 1) >> old.shift) + 1;
    for (size_t stretch = (cells - 1) / STRETCH + 1; stretch-- > 0;) {
        size_t first = stretch * STRETCH, last = std::min(cells, first + STRETCH);
        if (untouched(old.write + first, (last - first) * sizeof(Stamp)) && untouched(old.read + first, (last - first) * sizeof(Stamp))) {
            continue;
        }
        for (size_t i = last; i-- > first;) {
            split(old, object, i, parts);
        }
    }
    if (object.kind != Kind::Shared) {
        Object gone = old;
        munmap(gone.shadow, shadow_bytes(gone));
    }
}

int nearest_object(uintptr_t address) {
    uintptr_t slot = (address - ARENA) >> SLOT_BITS;
    return slot < SLOTS && objects[slot].kind != Kind::None ? int(slot) : -1;
}

// Memory for an access outside every object, so that the thread can go on. False where nothing can be put.
bool spare_page(uintptr_t address, size_t size) {
    for (uintptr_t page = address & ~uintptr_t(4095); page < address + size; page += 4096) {
        if (nearest_object(page) < 0 || (reserve(page, 4096) == nullptr && errno != EEXIST)) {
            return false;
        }
    }
    return true;
}

size_t unwritten(const Object& object, size_t* first) {
    size_t count = 0;
    for (size_t i = object.size / object.element; i-- > 0;) {
        if (memchr(object.init + i * object.element, 0, object.element) != nullptr) {
            *first = i;
            count++;
        }
    }
    return count;
}

void begin_run(const Block& block) {
    for (uint32_t slot : global_objects) {
        objects[slot].first = Stamp(block.run) << 32;
    }
}

void enter_block(Block& block) {
    begin_run(block);
    if (occupant == &block) {
        return;
    }
    if (occupant != nullptr) {
        occupant->shared.clear();
        for (uint32_t slot : shared_objects) {
            each_part(objects[slot], [](char* part, size_t size) {
                occupant->shared.insert(occupant->shared.end(), part, part + size);
            });
        }
    }
    if (!block.shared.empty()) {
        const char* from = block.shared.data();
        const char* last = from + block.shared.size();
        for (uint32_t slot : shared_objects) {  // an object that is newer than the copy was not used by this block
            each_part(objects[slot], [&](char* part, size_t size) {
                if (size_t(last - from) >= size) {
                    memcpy(part, from, size);
                    from += size;
                }
            });
        }
    }
    occupant = &block;
}

void leave_block(Block& block) {
    block.shared.clear();
    if (occupant == &block) {
        occupant = nullptr;
    }
}

// A block starts with undefined shared memory.
void reset_shared() {
    objects[DYNAMIC_SLOT].size = g.dynamic_bytes;
    count_granules(objects[DYNAMIC_SLOT]);
    for (uint32_t slot : shared_objects) {
        undefine(objects[slot]);
    }
}

void reset_device() {
    for (uint32_t slot : global_objects) {
        Object& object = objects[slot];
        if (object.kind == Kind::Device) {
            if (object.initial != nullptr) {
                memcpy(reinterpret_cast<void*>(object.base), object.initial, object.size);
            } else {
                memset(reinterpret_cast<void*>(object.base), 0, object.size);
            }
        }
    }
}

// A launch boundary orders everything.
void forget_accesses() {
    for (Object& object : objects) {
        if (object.kind != Kind::None) {
            madvise(object.shadow, shadow_bytes(object), MADV_DONTNEED);
        }
    }
}

void drop_buffers() {
    for (uint32_t slot = FIRST_BUFFER; slot < next_buffer; slot++) {
        Object& object = objects[slot];
        munmap(reinterpret_cast<void*>(middle(slot)), data_bytes(object));
        munmap(object.shadow, shadow_bytes(object));
        if (object.init != nullptr) {
            munmap(object.init, pages(object.capacity + 16));
        }
        object = Object{};
    }
    next_buffer = FIRST_BUFFER;
    global_objects.erase(std::remove_if(global_objects.begin(), global_objects.end(),
                                        [](uint32_t slot) { return slot >= FIRST_BUFFER; }),
                         global_objects.end());
}

}  // namespace simt

using namespace simt;

extern "C" {

void* simt_shared(Declaration* declaration, size_t size, size_t element, const char* name) {
    if (declaration->object == 0) {
        declaration->object = add_object(Kind::Shared, size, size, uint32_t(element), false, name);
        if (declaration->object == 0) {
            simt_unsupported("shared memory", nullptr);
        }
        undefine(objects[declaration->object]);
    }
    return reinterpret_cast<void*>(objects[declaration->object].base);
}

// Slot and distance from the slot's middle, so that arithmetic within 8 MB stays in the slot.
constexpr uint32_t NUMBER_BITS = 24, NUMBER_MIDDLE = 1 << (NUMBER_BITS - 1);

uint32_t simt_shared_number(const void* p, Site site) {
    int slot = nearest_object(reinterpret_cast<uintptr_t>(p));
    if (slot < 0 || objects[slot].kind != Kind::Shared) {
        simt_unsupported("the number of an address outside shared memory", site);
    }
    uintptr_t distance = reinterpret_cast<uintptr_t>(p) - middle(size_t(slot)) + NUMBER_MIDDLE;
    if (distance >> NUMBER_BITS) {
        simt_unsupported("the number of an address far outside shared memory", site);
    }
    return uint32_t(slot) << NUMBER_BITS | uint32_t(distance);
}

void* simt_shared_pointer(uint32_t number) {
    uintptr_t distance = number & (2 * NUMBER_MIDDLE - 1);
    return reinterpret_cast<void*>(middle(number >> NUMBER_BITS) + distance - NUMBER_MIDDLE);
}

void* simt_dynamic_shared(size_t element, const char* name) {
    name_dynamic(element, name);
    return reinterpret_cast<void*>(objects[DYNAMIC_SLOT].base);
}

}  // extern "C"
