// The functions that the compiler's instrumentation calls: -fsanitize=thread and -fsanitize=bounds,alignment,shift,….
#include <cstdio>
#include <cstring>

#include "shadow.h"

using namespace simt;

#define PLACE (Place{uintptr_t(__builtin_return_address(0)), __builtin_frame_address(0), nullptr})
#define PC uint32_t(uintptr_t(__builtin_return_address(0)))
#define ADDRESS(p) (reinterpret_cast<uintptr_t>(p))
// A volatile access to global memory is a relaxed atomic; in shared memory it is as racy as any other.
static bool strong(const void* p) {
    uintptr_t slot = (ADDRESS(p) - ARENA) >> SLOT_BITS;
    return slot < SLOTS && objects[slot].kind != Kind::Shared;
}

static void volatile_access(const void* p, uint32_t size, bool write, const Place& place) {
    bool atomic = strong(p);
    g.scope = SYSTEM_SCOPE;
    check_access({ADDRESS(p), size, write, atomic, place});
    if (atomic && g.current != nullptr) {
        if (write) {
            release(ADDRESS(p), SYSTEM_SCOPE);
            g.wrote = 1;
        } else {
            acquire(ADDRESS(p), SYSTEM_SCOPE);
        }
    }
}

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}

// What is left over is called last, so it stands in the caller's place and finds the kernel's return address and frame.
#define SIMT_REST __attribute__((noinline)) static void
#define SIMT_SLOWLY(n)                                                                                        \
    SIMT_REST read_slowly##n(void* p) {                                                                       \
        g.slice++;                                                                                            \
        check_access({ADDRESS(p), n, false, false, PLACE});                                                   \
    }                                                                                                         \
    SIMT_REST write_slowly##n(void* p) {                                                                      \
        g.slice++;                                                                                            \
        check_access({ADDRESS(p), n, true, false, PLACE});                                                    \
    }
#define SIMT_NARROW(n)                                                                                        \
    SIMT_SLOWLY(n)                                                                                            \
    SIMT_REST read_first##n(void* p, Object* object, size_t index) {                                          \
        if (!read_first<n>(*object, index, PC)) read_slowly##n(p);                                            \
    }                                                                                                         \
    void __tsan_read##n(void* p) {                                                                            \
        Granule at;                                                                                           \
        if (SIMT_UNLIKELY(!find_granule<n>(ADDRESS(p), at))) return read_slowly##n(p);                        \
        if (!read_again(*at.object, at.index)) return read_first##n(p, at.object, at.index);                  \
    }                                                                                                         \
    void __tsan_write##n(void* p) {                                                                           \
        Granule at;                                                                                           \
        if (SIMT_UNLIKELY(!find_granule<n>(ADDRESS(p), at))) return write_slowly##n(p);                       \
        if (!write_quickly<n>(*at.object, at.index, PC)) return write_slowly##n(p);                           \
    }
#define SIMT_WIDE(n)                                                                                          \
    SIMT_SLOWLY(n)                                                                                            \
    void __tsan_read##n(void* p) {                                                                            \
        Granule at;                                                                                           \
        if (SIMT_UNLIKELY(!find_granules<n>(ADDRESS(p), at))) return read_slowly##n(p);                       \
        for (size_t i = at.index; i < at.index + n / 4; i++) {                                                \
            if (!read_again(*at.object, i) && !read_first<4>(*at.object, i, PC)) return read_slowly##n(p);    \
        }                                                                                                     \
    }                                                                                                         \
    void __tsan_write##n(void* p) {                                                                           \
        Granule at;                                                                                           \
        if (SIMT_UNLIKELY(!find_granules<n>(ADDRESS(p), at))) return write_slowly##n(p);                      \
        for (size_t i = at.index; i < at.index + n / 4; i++) {                                                \
            if (!write_quickly<4>(*at.object, i, PC)) return write_slowly##n(p);                              \
        }                                                                                                     \
    }
SIMT_NARROW(1)
SIMT_NARROW(2)
SIMT_NARROW(4)
SIMT_WIDE(8)
SIMT_WIDE(16)

#define SIMT_ACCESS(n)                                                                                        \
    void __tsan_unaligned_read##n(void* p) { check_access({ADDRESS(p), n, false, false, PLACE}); }            \
    void __tsan_unaligned_write##n(void* p) { check_access({ADDRESS(p), n, true, false, PLACE}); }            \
    void __tsan_volatile_read##n(void* p) { volatile_access(p, n, false, PLACE); }                            \
    void __tsan_volatile_write##n(void* p) { volatile_access(p, n, true, PLACE); }                            \
    void __tsan_unaligned_volatile_read##n(void* p) { volatile_access(p, n, false, PLACE); }                  \
    void __tsan_unaligned_volatile_write##n(void* p) { volatile_access(p, n, true, PLACE); }
SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)

void __tsan_read_range(void* p, size_t n) { check_access({ADDRESS(p), uint32_t(n), false, false, PLACE}); }
void __tsan_write_range(void* p, size_t n) { check_access({ADDRESS(p), uint32_t(n), true, false, PLACE}); }

void simt_check(const void* p, size_t n, int write, Site site) {
    Place place = PLACE;
    place.site = site;
    check_access({ADDRESS(p), uint32_t(n), write != 0, false, place});
}

void simt_copy(void* to, const void* from, size_t n, Site site) {
    Place place = PLACE;
    place.site = site;
    if (n > 0) {
        check_access({ADDRESS(from), uint32_t(n), false, false, place});
        check_access({ADDRESS(to), uint32_t(n), true, false, place});
        memmove(to, from, n);
    }
}

void simt_fill(void* to, int value, size_t n, Site site) {
    Place place = PLACE;
    place.site = site;
    if (n > 0) {
        check_access({ADDRESS(to), uint32_t(n), true, false, place});
        memset(to, value, n);
    }
}

constexpr int32_t ATOMIC_STEP = 1 << 20;

uint64_t simt_atomic_begin(void* p, uint32_t size, int scope, Site site) {
    Place place = PLACE;
    place.site = site;
    g.scope = scope;
    check_access({ADDRESS(p), size, true, true, place});
    if (g.knowledge) {
        acquire(ADDRESS(p), scope);
        release(ADDRESS(p), scope);
    }
    g.slice += ATOMIC_STEP;  // what computes the new value may be watched code: nobody else may run in between
    g.slice_start += ATOMIC_STEP;
    return atomic_bits(p, size);
}

void simt_atomic_end(void* p, uint32_t size, uint64_t bits) {
    g.slice -= ATOMIC_STEP;
    g.slice_start -= ATOMIC_STEP;
    if (memcmp(p, &bits, size) != 0) {
        memcpy(p, &bits, size);
        g.wrote = 1;
    }
}

// --- undefined behaviour ---------------------------------------------------------------------------------------

struct SourceLocation {
    const char* file;
    uint32_t line, column;
};
struct TypeDescriptor {
    uint16_t kind, info;
    char name[1];
};
struct WithTypes {
    SourceLocation location;
    TypeDescriptor *first, *second;
};
struct Mismatch {
    SourceLocation location;
    TypeDescriptor* type;
    unsigned char log_alignment, kind;
};

static std::source_location::__impl here;

static Place place_of(const SourceLocation& location, uintptr_t pc, const void* frame) {
    here = {location.file, "", location.line, location.column};
    return {pc, frame, &here};
}

#define UB_PLACE(data) place_of((data)->location, uintptr_t(__builtin_return_address(0)), __builtin_frame_address(0))

// An operand is the value itself up to 64 bits; wider ones do not occur in device code.
static __int128 operand(const TypeDescriptor* type, uintptr_t value) {
    unsigned bits = 1u << (type->info >> 1);
    bool is_signed = type->info & 1;
    if (bits >= 64) {
        return is_signed ? __int128(int64_t(value)) : __int128(uint64_t(value));
    }
    uint64_t low = value & ((uint64_t(1) << bits) - 1);
    return is_signed && low >> (bits - 1) ? __int128(low) - (__int128(1) << bits) : __int128(low);
}

static std::string decimal(__int128 value) { return std::to_string(int64_t(value)); }

static void overflow(const WithTypes* data, uintptr_t a, uintptr_t b, const char* sign, Place place) {
    if (g.current == nullptr) {
        return;
    }
    report(Property::Overflow, place,
           "signed overflow: " + decimal(operand(data->first, a)) + sign + decimal(operand(data->first, b)) +
               " does not fit " + data->first->name,
           -1, 0, "computes", nullptr);
}

void __ubsan_handle_add_overflow(WithTypes* d, uintptr_t a, uintptr_t b) { overflow(d, a, b, " + ", UB_PLACE(d)); }
void __ubsan_handle_sub_overflow(WithTypes* d, uintptr_t a, uintptr_t b) { overflow(d, a, b, " - ", UB_PLACE(d)); }
void __ubsan_handle_mul_overflow(WithTypes* d, uintptr_t a, uintptr_t b) { overflow(d, a, b, " * ", UB_PLACE(d)); }
void __ubsan_handle_negate_overflow(WithTypes* d, uintptr_t a) {
    if (g.current != nullptr) {
        report(Property::Overflow, UB_PLACE(d),
               "signed overflow: -(" + decimal(operand(d->first, a)) + ") does not fit " + d->first->name, -1, 0, "computes", nullptr);
    }
}

void __ubsan_handle_divrem_overflow(WithTypes* d, uintptr_t a, uintptr_t b) {
    if (g.current != nullptr) {
        bool zero = operand(d->first, b) == 0;
        report(Property::Arithmetic, UB_PLACE(d),
               zero ? std::string("division by zero")
                    : decimal(operand(d->first, a)) + " / -1 does not fit " + d->first->name,
               -1, 0, "computes", nullptr);
        park();
    }
}

void __ubsan_handle_shift_out_of_bounds(WithTypes* d, uintptr_t a, uintptr_t b) {
    if (g.current == nullptr) {
        return;
    }
    __int128 value = operand(d->first, a), count = operand(d->second, b);
    int bits = 1 << (d->first->info >> 1);
    if (count < 0 || count >= bits) {
        report(Property::Arithmetic, UB_PLACE(d),
               "shift of a " + std::to_string(bits) + "-bit value by " + decimal(count), -1, 0, "computes", nullptr);
        return;
    }
    __int128 shifted = value * (__int128(1) << int(count));  // a negative left operand is fine where the value fits
    __int128 low = -(__int128(1) << (bits - 1)), high = (__int128(1) << bits) - 1;  // 1 << 31 is a mask, not a fault
    if (shifted < low || shifted > high) {
        report(Property::Overflow, UB_PLACE(d),
               "shift overflow: " + decimal(value) + " << " + decimal(count) + " does not fit " + d->first->name, -1, 0, "computes", nullptr);
    }
}

void __ubsan_handle_out_of_bounds(WithTypes* d, uintptr_t index) {
    if (g.current != nullptr) {
        report(Property::BoundsArray, UB_PLACE(d),
               "index " + decimal(operand(d->second, index)) + " is outside " + d->first->name, -1,
               int64_t(operand(d->second, index)), "accesses", nullptr);
        park();
    }
}

void __ubsan_handle_type_mismatch_v1(Mismatch* d, uintptr_t pointer) {
    uintptr_t align = uintptr_t(1) << d->log_alignment;
    if (g.current != nullptr && (pointer & (align - 1)) != 0) {
        int object = nearest_object(pointer);
        int64_t offset = object < 0 ? 0 : int64_t(pointer - objects[object].base);
        report(Property::Alignment, UB_PLACE(d),
               std::string("access as ") + d->type->name + " at an address that is not a multiple of " +
                   std::to_string(align),
               object, offset, "accesses", nullptr);
        park();
    }
}

void __ubsan_handle_builtin_unreachable(SourceLocation* location) {
    if (g.current != nullptr) {
        report(Property::Assert, place_of(*location, 0, nullptr), "a path that the program calls unreachable is reached",
               -1, 0, "computes", nullptr);
        park();
    }
}

// --- control -----------------------------------------------------------------------------------------------------

void simt_assert_failed(const char* text, Site site) {
    report(Property::Assert, {0, nullptr, site}, std::string("assertion fails: ") + text, -1, 0, "computes", nullptr);
    park();
}

void simt_lost(int64_t high, uint64_t low, const char* type, Site site) {
    if (g.current != nullptr) {
        std::string value = high == 0 ? std::to_string(low) : high == -1 ? std::to_string(int64_t(low)) : "the value";
        report(Property::Overflow, {0, nullptr, site}, "conversion overflow: " + value + " does not fit " + type, -1, 0,
               "computes", nullptr);
    }
}

void simt_trap(Site site) {
    report(Property::Assert, {0, nullptr, site}, "__trap is reached", -1, 0, "computes", nullptr);
    park();
}

void simt_unsupported(const char* what, Site site) {
    if (g.unsupported.empty()) {
        g.unsupported = std::string(what) + " (" + (site ? site->_M_file_name : "?") + ":" +
                        std::to_string(site ? site->_M_line : 0) + ")";
    }
    park();
}

}  // extern "C"
