// Which thread runs when: blocks one after another, threads in the schedule's order, barriers, the end of a launch.
// A block whose threads only wait for memory is set aside and the next one starts: blocks are co-resident when needed.
#include <algorithm>
#include <memory>

#include "state.h"

extern "C" {
simt::Dim simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
}

namespace simt {

Machine g;

namespace {

enum class Outcome { Finished, Spinning, AtGrid };

constexpr int32_t LONG_SLICE = 1 << 16, SHORT_SLICE = 1 << 11;
constexpr uint32_t PROBE = 4096, PATIENCE = 1 << 17;  // accesses without any effect, a thread
void* const* arguments;
std::vector<std::unique_ptr<Block>> spare;

uint64_t next_random() {
    g.random ^= g.random << 13;
    g.random ^= g.random >> 7;
    g.random ^= g.random << 17;
    return g.random;
}

template <class T>
void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; i--) {
        std::swap(items[i - 1], items[next_random() % i]);
    }
}

bool halted() { return !g.stopped.empty() || !g.unsupported.empty() || findings_full(); }

void new_interval(Block& block) {
    auto number = uint32_t(g.interval_block.size());
    bool others = number != block.interval + 1;  // another block has run since
    block.interval = number;
    block.run = others ? number : block.run;
    g.interval_block.push_back(block.number);
    if (g.block == &block) {
        g.interval = number;
        if (others) {
            begin_run(block);
        }
    }
}

std::unique_ptr<Block> new_block(uint64_t id, const Schedule& schedule) {
    std::unique_ptr<Block> block;
    if (spare.empty()) {
        block = std::make_unique<Block>();
    } else {
        block = std::move(spare.back());
        spare.pop_back();
    }
    block->index = {uint32_t(id % g.grid.x), uint32_t(id / g.grid.x % g.grid.y), uint32_t(id / g.grid.x / g.grid.y)};
    block->number = uint32_t(g.block_index.size());
    g.block_index.push_back(block->index);
    block->next = block->waiting = 0;
    block->started = block->finished = block->tainted = block->grid_waiting = false;
    block->known.clear();
    block->released.clear();
    block->interval = 0;
    new_interval(*block);
    block->run = block->first_interval = block->interval;
    block->fibers.resize(g.threads);
    block->order.resize(g.threads);
    for (uint32_t t = 0; t < g.threads; t++) {
        Fiber& fiber = block->fibers[t];
        fiber.index = {t % g.block_dim.x, t / g.block_dim.x % g.block_dim.y, t / (g.block_dim.x * g.block_dim.y)};
        fiber.thread = t;
        fiber.state = State::New;
        fiber.clock = 1;
        fiber.spinning = false;
        fiber.block = block.get();
        std::fill(fiber.lane_clocks, fiber.lane_clocks + 32, 0);
        block->order[t] = schedule.kind == 1 ? g.threads - 1 - t : t;
    }
    if (schedule.kind == 3) {  // lane by lane over all warps
        std::stable_sort(block->order.begin(), block->order.end(),
                         [](uint32_t a, uint32_t b) { return (a & 31) < (b & 31); });
    }
    if (schedule.first > 0 && schedule.first <= g.threads) {
        auto first = std::find(block->order.begin(), block->order.end(), schedule.first - 1);
        std::rotate(block->order.begin(), first, first + 1);
    }
    return block;
}

void retire(std::unique_ptr<Block> block) {
    for (Fiber& fiber : block->fibers) {
        drop_stack(fiber);
        drop_knowledge(fiber);
    }
    leave_block(*block);
    g.block = nullptr;
    spare.push_back(std::move(block));
}

struct Census {
    uint32_t ready = 0, barrier = 0, warp = 0, grid = 0, converge = 0, done = 0, parked = 0;
    explicit Census(const Block& block) {
        for (const Fiber& fiber : block.fibers) {
            switch (fiber.state) {
                case State::New: break;
                case State::Ready: ready++; break;
                case State::Barrier: barrier++; break;
                case State::Warp: warp++; break;
                case State::Grid: grid++; break;
                case State::Converge: converge++; break;
                case State::Done: done++; break;
                case State::Parked: parked++; break;
            }
        }
    }
    uint32_t live(const Block& block) const { return uint32_t(block.fibers.size()) - done - parked; }
};

const Fiber* first_in(const Block& block, State state) {
    for (const Fiber& fiber : block.fibers) {
        if (fiber.state == state) {
            return &fiber;
        }
    }
    return nullptr;
}

void report_as(const Fiber& fiber, Property property, const Place& place, const std::string& message,
               const Other* other) {
    g.current = const_cast<Fiber*>(&fiber);
    report(property, place, message, -1, 0, "waits", other);
    g.current = nullptr;
}

void check_barrier(const Block& block, State state) {
    const Fiber* first = first_in(block, state);
    if (const Fiber* gone = first_in(block, State::Done)) {
        Other other = other_fiber(*gone, "has left the kernel");
        report_as(*first, Property::BarrierDivergence, {0, nullptr, first->site},
                  "early exit: this thread waits at a barrier that another thread of its block never reaches", &other);
    }
    for (const Fiber& fiber : block.fibers) {
        if (fiber.state == state && (fiber.site != first->site || fiber.path != first->path)) {
            Other other = other_fiber(fiber, "waits at another barrier");
            report_as(*first, Property::BarrierDivergence, {0, nullptr, first->site},
                      "threads of one block wait at different barriers", &other);
            break;
        }
    }
}

void open_barrier(Block& block) {
    check_barrier(block, State::Barrier);
    int count = 0, members = 0;
    for (const Fiber& fiber : block.fibers) {
        if (fiber.state == State::Barrier) {
            members++;
            count += fiber.predicate != 0;
        }
    }
    share_knowledge_of_block(block);
    new_interval(block);
    for (Fiber& fiber : block.fibers) {
        if (fiber.state == State::Barrier) {
            fiber.value = uint64_t(fiber.reduction == REDUCE_AND  ? count == members
                                   : fiber.reduction == REDUCE_OR ? count != 0
                                                                  : count);
            fiber.state = State::Ready;
            fiber.clock = 1;
            std::fill(fiber.lane_clocks, fiber.lane_clocks + 32, 0);
        }
    }
}

// Lanes that asked who is with them: those of one warp that wait at one place.
bool open_converged(Block& block) {
    bool any = false;
    for (uint32_t first = 0; first < g.threads; first += 32) {
        uint32_t last = std::min(first + 32, g.threads);
        for (uint32_t t = first; t < last; t++) {
            if (block.fibers[t].state != State::Converge) {
                continue;
            }
            Site site = block.fibers[t].site;
            uint32_t mask = 0;
            for (uint32_t u = t; u < last; u++) {
                Fiber& fiber = block.fibers[u];
                if (fiber.state == State::Converge && fiber.site == site) {
                    mask |= 1u << (u - first);
                }
            }
            for (uint32_t u = t; u < last; u++) {
                Fiber& fiber = block.fibers[u];
                if (mask >> (u - first) & 1 && fiber.state == State::Converge && fiber.site == site) {
                    fiber.value = mask;
                    fiber.state = State::Ready;
                }
            }
            any = true;
        }
    }
    return any;
}

void enter(Block& block) {
    g.block = &block;
    g.interval = block.interval;
    simt_blockIdx = block.index;
    enter_block(block);
}

// Start every thread; each runs until it blocks.
void start(Block& block, const Schedule& schedule) {
    block.started = true;
    reset_shared();
    if (schedule.kind == 2) {
        shuffle(block.order);
    }
    while (Fiber* fiber = start_next()) {
        prepare(*fiber);
        if (fiber->state == State::Ready) {
            switch_to(*fiber);
        }
    }
}

// Run every thread that can run, once. True if anything but reading came of it.
bool run_ready(Block& block, const Schedule& schedule) {
    bool progress = false;
    g.wrote = 0;
    if (schedule.kind == 2) {
        shuffle(block.order);
    }
    for (uint32_t t : block.order) {
        Fiber& fiber = block.fibers[t];
        if (fiber.state == State::Ready && !halted()) {
            switch_to(fiber);
            progress |= fiber.state != State::Ready;
        }
    }
    return progress || g.wrote;
}

Outcome advance(Block& block, const Schedule& schedule) {
    enter(block);
    bool progress = true;
    if (block.started) {
        progress = run_ready(block, schedule);
    } else {
        start(block, schedule);
    }
    for (;; progress = run_ready(block, schedule)) {
        if (halted()) {
            return Outcome::Finished;
        }
        while (release_warps(block)) {
            progress = true;
        }
        g.progress |= progress;
        Census census(block);
        uint32_t live = census.live(block);
        if (census.ready > 0) {
            if (!progress && !open_converged(block)) {
                return Outcome::Spinning;
            }
        } else if (census.converge > 0) {
            open_converged(block);
        } else if (live == 0 || census.parked > 0 || block.tainted) {
            return Outcome::Finished;  // after a parked thread, what would follow is only a consequence
        } else if (census.barrier == live) {
            open_barrier(block);
        } else if (census.grid == live) {
            block.grid_waiting = true;
            return Outcome::AtGrid;
        } else {
            report_absent(block);
            return Outcome::Finished;
        }
    }
}

void open_grid_barrier(std::vector<std::unique_ptr<Block>>& resident, bool all_there) {
    for (auto& block : resident) {
        g.block = block.get();
        check_barrier(*block, State::Grid);
        const Fiber* waiting = first_in(*block, State::Grid);
        if (!all_there && waiting != nullptr) {
            report_as(*waiting, Property::BarrierDivergence, {0, nullptr, waiting->site},
                      "a block waits at a grid barrier that another block never reaches", nullptr);
            all_there = true;
        }
    }
    g.grid_base = uint32_t(g.interval_block.size());
    for (auto& block : resident) {
        block->grid_waiting = false;
        block->known.clear();
        new_interval(*block);
        for (Fiber& fiber : block->fibers) {
            if (fiber.state == State::Grid) {
                fiber.state = State::Ready;
                fiber.clock = 1;
                std::fill(fiber.lane_clocks, fiber.lane_clocks + 32, 0);
            }
        }
    }
    forget_knowledge();
}

uint64_t ready_threads(const std::vector<std::unique_ptr<Block>>& resident) {
    uint64_t count = 0;
    for (const auto& block : resident) {
        count += Census(*block).ready;
    }
    return count;
}

// Every thread that could run only waits for memory: is it spinning for good, or reading a lot?
bool all_spin(std::vector<std::unique_ptr<Block>>& resident) {
    bool spin = true;
    g.probing = true;
    for (auto& block : resident) {
        enter(*block);
        for (Fiber& fiber : block->fibers) {
            if (fiber.state == State::Ready) {
                g.probe_count = 0;
                g.probe_left = PROBE;
                g.wrote = 0;
                int32_t length = g.slice_length;
                bool interleaved = g.interleaved;
                g.slice_length = 1;
                g.interleaved = false;
                switch_to(fiber);
                g.slice_length = length;
                g.interleaved = interleaved;
                fiber.spinning = fiber.state == State::Ready && g.wrote == 0 && g.probe_count <= 16;
                spin &= fiber.spinning;
            }
        }
    }
    g.probing = false;
    return spin;
}

void report_livelock(std::vector<std::unique_ptr<Block>>& resident) {
    for (auto& block : resident) {
        if (Census(*block).parked > 0) {
            return;  // it may be waiting for the thread that was stopped
        }
    }
    for (auto& block : resident) {
        g.block = block.get();
        if (const Fiber* fiber = first_in(*block, State::Ready)) {
            report_as(*fiber, Property::Termination, fiber->place,
                      "livelock: this thread waits for a change of memory that no thread can make", nullptr);
            return;
        }
    }
}

}  // namespace

uint32_t pick(uint32_t below) { return uint32_t(next_random() % below); }

Fiber* start_next() {
    Block& block = *g.block;
    if (block.next >= g.threads || halted()) {
        return nullptr;
    }
    Fiber* fiber = &block.fibers[block.order[block.next++]];
    fiber->state = State::Ready;
    return fiber;
}

void run_thread() { simt_entry(arguments); }

void stamp_current() {
    const Fiber& fiber = *g.current;
    g.now = Stamp(g.interval) << 32;
    g.lane = 1u << (fiber.thread & 31);
    g.me = g.now | Stamp(fiber.thread) << 22 | Stamp(fiber.clock) << 8;
    simt_threadIdx = fiber.index;
}

void park() {
    if (g.current == nullptr) {
        g.stopped = "a fault before the launch";
        abort();
    }
    g.current->state = State::Parked;
    yield_to_scheduler();
    abort();
}

void preempt(Access access) {
    const uintptr_t address = access.address;
    if (g.recording && !g.probing) {
        note_request(access);
        g.accesses++;
        if (g.accesses % LONG_SLICE != 0) {
            g.slice = g.slice_start = 1;
            return;
        }
    }
    if (g.probing) {
        bool seen = std::find(g.probe, g.probe + std::min(g.probe_count, 16u), address) !=
                    g.probe + std::min(g.probe_count, 16u);
        if (!seen) {
            if (g.probe_count < 16) {
                g.probe[g.probe_count] = address;
            }
            g.probe_count++;
        }
        if (--g.probe_left > 0) {
            g.slice = 1;
            return;
        }
    }
    if (g.accesses > g.budget && g.stopped.empty()) {
        g.stopped = "the step budget";
    }
    g.current->place = access.place;
    yield_to_scheduler();
}

Ran launch(Dim grid, Dim block_dim, size_t shared, const Schedule& schedule, const std::vector<uint64_t>& chosen,
           void* const* argv) {
    g.grid = grid;
    g.block_dim = block_dim;
    g.threads = block_dim.x * block_dim.y * block_dim.z;
    g.dynamic_bytes = shared;
    g.random = schedule.seed * 0x9e3779b97f4a7c15ull | 1;
    g.interleaved = schedule.kind == 3;
    g.block_index.clear();
    g.interval_block.assign(1, ~0u);
    g.grid_base = 1;
    g.slice_length = LONG_SLICE;
    g.slice_start = g.slice = 0;
    g.probing = g.knowledge = false;
    forget_knowledge();
    simt_blockDim = block_dim;
    simt_gridDim = grid;
    arguments = argv;
    uint64_t total = uint64_t(grid.x) * grid.y * grid.z;
    std::vector<uint64_t> ids = chosen;
    if (ids.empty()) {
        if (total > (1u << 22)) {
            g.stopped = "more than 2^22 blocks";
            return {0, total, 0.0};
        }
        for (uint64_t id = 0; id < total; id++) {
            ids.push_back(id);
        }
    }
    if (schedule.kind == 1) {
        std::reverse(ids.begin(), ids.end());
    } else if (schedule.kind == 2) {
        shuffle(ids);
    }
    std::vector<std::unique_ptr<Block>> resident;
    uint64_t finished = 0, next = 0;
    uint64_t moved_at = 0;

    while ((next < ids.size() || !resident.empty()) && !halted()) {
        bool moved = false;
        uint64_t before = finished;
        if (next < ids.size()) {
            resident.push_back(new_block(ids[next++], schedule));
            moved = true;
        }
        uint32_t at_grid = 0;
        for (size_t i = resident.size(); i-- > 0 && !halted();) {
            if (resident[i]->grid_waiting) {
                at_grid++;
                continue;
            }
            bool fresh = !resident[i]->started;
            g.slice_length = g.recording ? 1 : fresh ? LONG_SLICE : SHORT_SLICE;
            g.progress = false;
            switch (advance(*resident[i], schedule)) {
                case Outcome::Finished:
                    retire(std::move(resident[i]));
                    resident.erase(resident.begin() + long(i));
                    finished += !halted();
                    break;
                case Outcome::AtGrid:
                    at_grid++;
                    moved = true;
                    break;
                case Outcome::Spinning:
                    moved |= g.progress;
                    break;
            }
        }
        moved |= finished != before;
        if (!resident.empty() && at_grid == resident.size() && next == ids.size()) {
            open_grid_barrier(resident, resident.size() == ids.size());
            moved = true;
        }
        if (moved || next < ids.size()) {
            moved_at = g.accesses;
        } else if (g.accesses - moved_at > PATIENCE * ready_threads(resident)) {
            if (all_spin(resident)) {
                report_livelock(resident);
                break;
            }
            moved_at = g.accesses;
        }
    }
    g.accesses += uint32_t(g.slice_start - g.slice);
    g.slice_start = g.slice = 0;
    for (auto& block : resident) {
        retire(std::move(block));
    }
    return {finished, total, 0.0};
}

}  // namespace simt

extern "C" {

static void wait_at(simt::State state, simt::Site site, const void* frame) {
    using namespace simt;
    g.current->site = site;
    g.current->path = 0;
    if (g.call_paths) {
        auto* link = static_cast<const uintptr_t*>(frame);
        uintptr_t low = reinterpret_cast<uintptr_t>(g.current->stack);
        uint32_t last = 0, before = 0;  // the two outermost frames are the runtime's own
        while (reinterpret_cast<uintptr_t>(link) - low < STACK_BYTES - 16) {
            g.current->path = g.current->path * 31 + before;
            before = last;
            last = uint32_t(link[1]);
            link = reinterpret_cast<const uintptr_t*>(link[0]);
        }
    }
    g.current->state = state;
    yield_to_scheduler();
}

void simt_barrier(simt::Site site) {
    simt::g.current->reduction = -1;
    wait_at(simt::State::Barrier, site, __builtin_frame_address(0));
}

int simt_barrier_reduce(int predicate, int reduction, simt::Site site) {
    simt::g.current->predicate = predicate;
    simt::g.current->reduction = reduction;
    wait_at(simt::State::Barrier, site, __builtin_frame_address(0));
    return int(simt::g.current->value);
}

void simt_grid_barrier(simt::Site site) { wait_at(simt::State::Grid, site, __builtin_frame_address(0)); }

uint32_t simt_converged(simt::Site site) {
    wait_at(simt::State::Converge, site, __builtin_frame_address(0));
    return uint32_t(simt::g.current->value);
}

int simt_lane() { return int(simt::g.current->thread & 31); }

void simt_exit_thread() {
    simt::g.current->state = simt::State::Done;
    simt::yield_to_scheduler();
    abort();
}

uint64_t simt_clock() { return simt::g.accesses + uint64_t(simt::g.slice_start - simt::g.slice); }

uint32_t simt_dynamic_shared_size() { return uint32_t(simt::g.dynamic_bytes); }

}  // extern "C"
