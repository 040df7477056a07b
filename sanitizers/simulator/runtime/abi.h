// What a kernel's translation unit and the runtime share. Everything here has C linkage and plain types.
#pragma once
#include <cstddef>
#include <cstdint>

// The shape that the compiler's __builtin_source_location() fills: one constant a place (file, function, line, column).
namespace std {
struct source_location {
    struct __impl {
        const char* _M_file_name;
        const char* _M_function_name;
        unsigned _M_line;
        unsigned _M_column;
    };
};
}  // namespace std

namespace simt {
using Site = const std::source_location::__impl*;

enum Scope : int { BLOCK_SCOPE = 0, DEVICE_SCOPE = 1, SYSTEM_SCOPE = 2 };
enum BarrierReduction : int { REDUCE_COUNT = 0, REDUCE_AND = 1, REDUCE_OR = 2 };

// A __shared__ array of a function (one a template instantiation); the runtime numbers it at first use.
struct Declaration {
    uint32_t object;  // 0: not registered yet
};
// A __shared__ or __device__ variable of namespace scope; its slot, and so its address, is chosen by the rewriter.
struct alignas(64) Placed {  // 64: so that the entries of the section lie without gaps
    enum Kind : uint32_t { Shared, Dynamic, Device };
    uint32_t slot;
    Kind kind;
    size_t size, element;
    const void* initial;
    const char* name;
};
}  // namespace simt

#define SIMT_HERE ((simt::Site)__builtin_source_location())

extern "C" {
// barriers
void simt_barrier(simt::Site);
int simt_barrier_reduce(int predicate, int reduction, simt::Site);
void simt_grid_barrier(simt::Site);
// the warp
void simt_warp_barrier(uint32_t mask, simt::Site);
uint64_t simt_shuffle(uint32_t mask, uint64_t value, int source, simt::Site);
uint32_t simt_ballot(uint32_t mask, int predicate, simt::Site);
uint32_t simt_gather(uint32_t mask, uint64_t value, uint64_t* values, simt::Site);  // returns who took part
// Every lane's `size` bytes, one lane after another.
void simt_collect(uint32_t mask, const void* mine, size_t size, void* all, simt::Site);
uint32_t simt_converged(simt::Site);
int simt_lane() __attribute__((const));
// memory
uint64_t simt_atomic_begin(void* address, uint32_t size, int scope, simt::Site);  // checks, returns the bits
void simt_atomic_end(void* address, uint32_t size, uint64_t bits);
void simt_fence(int scope);
void simt_check(const void* address, size_t size, int write, simt::Site);
void simt_copy(void* to, const void* from, size_t size, simt::Site);
void simt_fill(void* to, int value, size_t size, simt::Site);
void* simt_shared(simt::Declaration*, size_t size, size_t element, const char* name);
void* simt_dynamic_shared(size_t element, const char* name);
uint32_t simt_dynamic_shared_size();
uint32_t simt_shared_number(const void*, simt::Site);  // an address of shared memory in 32 bits, as PTX has it
void* simt_shared_pointer(uint32_t);
uint64_t simt_clock();
// control
void simt_assert_failed(const char* text, simt::Site);
void simt_trap(simt::Site);
void simt_lost(int64_t high, uint64_t low, const char* type, simt::Site);  // a value that its type cannot hold
void simt_unsupported(const char* what, simt::Site);
void simt_exit_thread();
// made by the driver text that is appended to the kernel
void simt_entry(void* const* arguments);
}
