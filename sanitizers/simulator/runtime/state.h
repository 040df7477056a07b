// The runtime's state: threads (fibers), blocks, memory objects and their shadow. One process, one OS thread.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "abi.h"

namespace simt {

struct Dim {
    uint32_t x, y, z;
};

// A stamp says who did it and when: interval(31 below FLAG_ATOMIC) | thread(10) | clock(14) | flags(4) | byte mask(4).
// An interval is one stretch between two barriers of one block; its number is unique over the launch.
using Stamp = uint64_t;
constexpr Stamp MASK_ALL = 15;
constexpr Stamp FLAG_LANES = 1 << 4;   // readers: the lanes of one warp in Cell::others, at one clock
constexpr Stamp FLAG_MULTI = 2 << 4;   // readers: several warps, one more in Cell::others
constexpr Stamp FLAG_OTHER = 4 << 4;   // readers: Cell::block_read holds one of another block
constexpr Stamp FLAG_DIRTY = 8 << 4;   // readers: somebody wrote in an interval that is not over for all
constexpr Stamp FLAG_ATOMIC = Stamp(1) << 63;  // writer: Extra::atomic holds an atomic; above all intervals, so never quiet
constexpr uint32_t CLOCK_LIMIT = (1 << 14) - 1;
inline uint32_t interval_of(Stamp s) { return uint32_t(s >> 32) & 0x7fffffff; }
inline uint32_t thread_of(Stamp s) { return uint32_t(s >> 22) & 1023; }
inline uint32_t clock_of(Stamp s) { return uint32_t(s >> 8) & CLOCK_LIMIT; }

// Shadow of one granule (1, 2 or 4 bytes, by the object's element). Plain and atomic writers are kept apart. Each part
// is an array of its own, so that only what is used takes memory.
struct Others {
    uint32_t lanes;  // that read, with FLAG_LANES; with FLAG_MULTI a thread that read as well, at this pc
    uint32_t pc;
};
struct Cell {
    Stamp &write, &read, &block_read;
    uint32_t &write_pc, &read_pc, &block_read_pc;
    Others& others;
};
struct Extra {
    Stamp atomic, narrow;  // narrow: the last atomic of block scope
    uint32_t atomic_pc, narrow_pc;
};

enum class Kind : uint8_t { None, Global, Shared, Device };

struct alignas(128) Object {  // what every access needs is in one cache line
    uintptr_t base;
    size_t quick[3];  // whole granules, at the granule's own log2; else 0
    Stamp *write, *read;
    Stamp first;  // from here to the current interval every stamp is this block's
    // second line
    uint8_t* init;  // one byte a byte; null: everything is initialised
    uint32_t *read_pc, *write_pc;
    uint32_t element;
    Kind kind;
    uint8_t shift;  // log2 of the granule
    Stamp* block_read;
    uint32_t* block_read_pc;
    Others* others;
    Extra* extras;
    size_t size, capacity;
    char* shadow;         // where the arrays lie
    const char* name;
    const void* initial;  // of a __device__ variable
    Cell cell(size_t index) {
        return {write[index],   read[index],          block_read[index], write_pc[index],
                read_pc[index], block_read_pc[index], others[index]};
    }
};

// The arena: SLOTS objects, each in the middle of its own 2^SLOT_BITS bytes, so that no 32-bit index error of one
// object can land in another.
constexpr int SLOT_BITS = 36;
constexpr uint32_t SLOTS = 192;
constexpr uintptr_t ARENA = 0x100000000000;
constexpr uint32_t DYNAMIC_SLOT = 47;  // all `extern __shared__` declarations are one
constexpr uint32_t FIRST_DECLARATION = 48;  // slots below: placed by the rewriter
constexpr uint32_t FIRST_BUFFER = 96;       // slots below: declarations, which stay from launch to launch
constexpr size_t SHARED_CAPACITY = 1 << 18;

// What a thread knows to have happened in other blocks (and, through flags, in its own): release and acquire.
struct Known {
    uint32_t block, interval;       // everything of the block before `interval` …
    std::vector<uint16_t> clocks;   // … and, within it, each thread's events up to this clock
};
using Knowledge = std::vector<Known>;

enum class State : uint8_t { New, Ready, Barrier, Warp, Grid, Converge, Done, Parked };
enum class WarpKind : uint8_t { Barrier, Shuffle, Ballot, Gather, Collect };

struct Place {  // where in the program: a return address inside the kernel, or a site constant
    uintptr_t pc;
    const void* frame;
    Site site;
};

struct Access {
    uintptr_t address;
    uint32_t size;
    bool write;
    bool atomic;
    Place place;
};

struct Block;

struct Fiber {
    void* stack_pointer;
    char* stack;
    Dim index;
    uint32_t thread;
    State state;
    WarpKind warp_kind;
    uint16_t clock;
    uint16_t lane_clocks[32];
    uint32_t mask;
    int source;
    int predicate;
    int reduction;  // of the barrier: -1 for none
    uint64_t value;
    uint64_t* values;
    const char* offered;  // to be collected: `source` bytes
    Site site;
    Place place;    // where it was preempted
    bool spinning;  // reads the same few places over and over
    uint32_t path;  // hash of the call path of a barrier (only in builds without inlining)
    Block* block;
    Knowledge* known;
    Knowledge* released[2];  // what a fence has made ready to be passed on, by the scope of the fence
    Knowledge* seen[2];      // what atomics have brought, from the own block and from others: a fence makes it known
};

struct Block {
    Dim index;
    uint32_t number, interval, first_interval;
    uint32_t run;  // every interval from here to the current one is this block's
    std::vector<Fiber> fibers;
    std::vector<uint32_t> order;
    uint32_t next;       // next thread in `order` that has not started
    uint32_t waiting;    // threads in a warp operation
    bool started, finished, tainted, grid_waiting;
    Knowledge known, released;
    std::vector<char> shared;  // contents and shadow of shared memory while another block runs
};

struct Machine {
    // hot
    Fiber* current;
    Stamp me, now;  // now: the first stamp of this interval
    uint32_t lane;  // one bit of 32
    uint32_t interval;
    int32_t slice;
    uint8_t wrote;
    int scope;  // of the atomic that is being checked
    Block* block;
    // the launch
    Dim grid, block_dim;
    uint32_t threads;
    size_t dynamic_bytes;
    std::vector<Dim> block_index;  // by block number
    std::vector<uint32_t> interval_block;
    uint32_t grid_base;  // a grid barrier orders every interval before this one
    bool knowledge;      // some thread has used a fence
    bool tolerant;       // go on after an access outside its buffer, on a spare page
    bool call_paths;     // nothing is inlined, so a barrier's call path can be read off the stack
    // the schedule
    int32_t slice_start, slice_length;
    bool interleaved, probing, progress;
    bool recording;  // requests of the warps
    uintptr_t probe[16];
    uint32_t probe_count, probe_left;
    uint64_t accesses, switches, budget, random;
    // why it ended early: a construct without a meaning here; a limit
    std::string unsupported, stopped;
};

extern Machine g;
extern Object objects[SLOTS];

// fibers.cpp
void prepare(Fiber&);
void drop_stack(Fiber&);
void switch_to(Fiber&);
void yield_to_scheduler();
bool owns_stack(uintptr_t address);
constexpr size_t STACK_BYTES = 256 << 10;
bool in_guard(uintptr_t address);
// schedule.cpp
struct Schedule {
    uint32_t kind;  // 0 forward, 1 reverse, 2 random, 3 interleaved
    uint64_t seed;
    uint32_t first;  // 1 + the thread of each block that starts before the others; 0: as the kind says
};
struct Ran {
    uint64_t blocks_run, blocks_launched;
    double cpu_seconds;
};
Ran launch(Dim grid, Dim block, size_t shared, const Schedule&, const std::vector<uint64_t>& chosen, void* const*);
[[noreturn]] void park();
__attribute__((cold)) void preempt(Access);
Fiber* start_next();
void run_thread();
void stamp_current();
uint32_t pick(uint32_t below);
// warp.cpp
bool release_warps(Block&);
void report_absent(Block&);
// order.cpp
bool ordered(Stamp);
bool known_before(const Knowledge*, uint32_t block, Stamp);
void acquire(uintptr_t address, int scope);
void release(uintptr_t address, int scope);
void drop_knowledge(Fiber&);
void share_knowledge_of_block(Block&);
void share_knowledge_of_lanes(Block&, uint32_t first, uint32_t lanes);
void forget_knowledge();
// objects.cpp
uint32_t add_object(Kind, size_t size, size_t capacity, uint32_t element, bool initialised, const char* name,
                    uint32_t placed = 0);
void place_declarations();
void refine(Object&, uint32_t bytes);
void enter_block(Block&);
void begin_run(const Block&);
void leave_block(Block&);  // for good
void reset_shared();
void reset_device();
void drop_buffers();
void forget_accesses();
int nearest_object(uintptr_t address);
bool spare_page(uintptr_t address, size_t size);
size_t unwritten(const Object&, size_t* first);
// requests.cpp
void start_requests();
void note_request(const Access&);
std::string requests_json();
// report.cpp
enum class Property : uint8_t {
    BoundsGlobal, BoundsShared, BoundsLocal, BoundsArray, Alignment, RaceShared, RaceGlobal, BarrierDivergence,
    Overflow, Arithmetic, Uninitialized, Assert, Termination,
};
struct Other {
    bool there;
    Dim block, thread;
    uint32_t pc;
    const char* action;
    Site site;
};
void report(Property, const Place&, const std::string& message, int object, int64_t offset, const char* verb,
            const Other* other);
Other other_of(Stamp, uint32_t pc, const char* action);
Other other_fiber(const Fiber&, const char* action);
std::string findings_json();
std::string blocks_json();
void forget_blocks();
void clear_findings();
bool findings_full();
std::string quoted(const char*);

inline Property bounds_of(Kind kind) { return kind == Kind::Shared ? Property::BoundsShared : Property::BoundsGlobal; }

}  // namespace simt
