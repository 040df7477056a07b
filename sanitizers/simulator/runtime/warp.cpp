// Warp collectives: the lanes that a mask names meet; shuffles and votes exchange values, only __syncwarp orders memory.
#include <algorithm>
#include <cstring>

#include "state.h"

namespace simt {
namespace {

struct Lanes {
    Block& block;
    uint32_t first, count;
    Fiber& operator[](uint32_t lane) const { return block.fibers[first + lane]; }
    uint32_t in(State state) const {
        uint32_t mask = 0;
        for (uint32_t lane = 0; lane < count; lane++) {
            mask |= uint32_t((*this)[lane].state == state) << lane;
        }
        return mask;
    }
};

std::string hex(uint32_t mask) {
    char text[16];
    snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

// `action`: what the thread does, where it is more than waiting at a barrier.
void complain(Fiber& fiber, const std::string& message, const std::string& action, const Other* other) {
    g.current = &fiber;
    report(Property::BarrierDivergence, {0, nullptr, fiber.site}, message, -1, 0, action.c_str(), other);
    g.current = nullptr;
}

// Missing lanes are reported once a place; the operation then goes on with those that are there, as hardware does.
void check_members(const Lanes& lanes, uint32_t lane, uint32_t members) {
    Fiber& fiber = lanes[lane];
    uint32_t absent = fiber.mask & ~members;
    if (!(fiber.mask >> lane & 1)) {
        complain(fiber, "the calling lane " + std::to_string(lane) + " is not in its own mask " + hex(fiber.mask),
                 "calls a warp operation with a mask that leaves out its own lane", nullptr);
    } else if (absent != 0) {
        uint32_t who = uint32_t(__builtin_ctz(absent));
        if (who >= lanes.count) {
            complain(fiber, "the mask " + hex(fiber.mask) + " names lane " + std::to_string(who) +
                                ", but this warp has " + std::to_string(lanes.count) + " threads",
                     "names lane " + std::to_string(who) + " in its mask, which this warp does not have", nullptr);
        } else if (lanes[who].state != State::Parked) {
            Other other = other_fiber(lanes[who], "has left the kernel");
            complain(fiber, "the mask " + hex(fiber.mask) + " names lane " + std::to_string(who) +
                                ", which never takes part",
                     "names lane " + std::to_string(who) + " in its mask, which never takes part", &other);
        }
    }
    for (uint32_t other = 0; other < lanes.count; other++) {
        Fiber& that = lanes[other];
        bool differs = that.mask != fiber.mask || that.warp_kind != fiber.warp_kind ||
                       (that.site != fiber.site && fiber.warp_kind != WarpKind::Barrier);
        if (members >> other & 1 && differs) {
            Other by = other_fiber(that, that.mask != fiber.mask ? "names another mask" : "is at another warp operation");
            complain(fiber, "lanes of one warp operation do not agree on mask or place",
                     "does not agree with the other lanes on mask or place", &by);
            return;
        }
    }
}

void exchange(const Lanes& lanes, uint32_t members) {
    uint64_t values[32] = {};
    uint32_t votes = 0, memory = 0;
    uint16_t clocks[32] = {};
    for (uint32_t lane = 0; lane < lanes.count; lane++) {
        if (members >> lane & 1) {
            Fiber& fiber = lanes[lane];
            values[lane] = fiber.value;
            votes |= uint32_t(fiber.predicate != 0) << lane;
            memory |= uint32_t(fiber.warp_kind == WarpKind::Barrier) << lane;
        }
    }
    if (memory != 0) {
        uint16_t latest = 0;  // of all that meet: they go on from one clock, so that readers of several clocks can be one set
        for (uint32_t lane = 0; lane < lanes.count; lane++) {
            if (memory >> lane & 1) {
                latest = std::max(latest, uint16_t(lanes[lane].clock));
                for (int i = 0; i < 32; i++) {
                    clocks[i] = std::max(clocks[i], lanes[lane].lane_clocks[i]);
                }
            }
        }
        for (uint32_t lane = 0; lane < lanes.count; lane++) {
            if (memory >> lane & 1) {
                clocks[lane] = lanes[lane].clock = latest;
            }
        }
        share_knowledge_of_lanes(lanes.block, lanes.first, memory);
    }
    for (uint32_t lane = 0; lane < lanes.count; lane++) {
        if (!(members >> lane & 1)) {
            continue;
        }
        Fiber& fiber = lanes[lane];
        switch (fiber.warp_kind) {
            case WarpKind::Barrier:
                memcpy(fiber.lane_clocks, clocks, sizeof clocks);
                if (fiber.clock == CLOCK_LIMIT) {
                    g.unsupported = "more than 16383 warp barriers between two block barriers";
                } else {
                    fiber.clock++;
                }
                break;
            case WarpKind::Shuffle: {
                uint32_t source = uint32_t(fiber.source) & 31;
                if (!(members >> source & 1)) {
                    if (source >= lanes.count || lanes[source].state != State::Parked) {
                        std::string what = "lane " + std::to_string(source) + ", which does not take part: the value is undefined";
                        complain(fiber, "a shuffle reads " + what, "reads " + what, nullptr);
                    }
                    fiber.value = 0xdeadbeefdeadbeefull;
                } else {
                    fiber.value = values[source];
                }
                break;
            }
            case WarpKind::Ballot: fiber.value = votes; break;
            case WarpKind::Collect:
                for (uint32_t other = 0; other < 32; other++) {
                    char* place = reinterpret_cast<char*>(fiber.values) + other * size_t(fiber.source);
                    if (members >> other & 1 && lanes[other].warp_kind == WarpKind::Collect && lanes[other].source == fiber.source) {
                        memcpy(place, lanes[other].offered, size_t(fiber.source));
                    } else {
                        memset(place, 0xff, size_t(fiber.source));
                    }
                }
                break;
            case WarpKind::Gather:
                memcpy(fiber.values, values, sizeof values);
                fiber.value = members;
                break;
        }
        fiber.state = State::Ready;
        lanes.block.waiting--;
    }
}

bool release_warp(const Lanes& lanes) {
    uint32_t waiting = lanes.in(State::Warp);
    uint32_t gone = lanes.in(State::Done) | lanes.in(State::Parked);
    bool any = false;
    for (uint32_t lane = 0; lane < lanes.count; lane++) {
        if (!(waiting >> lane & 1)) {
            continue;
        }
        uint32_t mask = lanes[lane].mask | 1u << lane;
        uint32_t there = lanes.count == 32 ? ~0u : (1u << lanes.count) - 1;
        if ((mask & there & ~gone & ~waiting) != 0) {
            continue;  // somebody is still on the way
        }
        uint32_t members = mask & waiting;
        check_members(lanes, lane, members);
        exchange(lanes, members);
        waiting &= ~members;
        any = true;
    }
    return any;
}

}  // namespace

bool release_warps(Block& block) {
    if (block.waiting == 0) {
        return false;
    }
    bool any = false;
    for (uint32_t first = 0; first < g.threads; first += 32) {
        any |= release_warp({block, first, std::min(32u, g.threads - first)});
    }
    return any;
}

// Nobody can run and the block is not at one barrier: say who waits for whom.
void report_absent(Block& block) {
    Fiber* waiting = nullptr;
    Fiber* other = nullptr;
    for (Fiber& fiber : block.fibers) {
        if (fiber.state == State::Warp && waiting == nullptr) {
            waiting = &fiber;
        }
    }
    for (Fiber& fiber : block.fibers) {
        if (waiting == nullptr && (fiber.state == State::Barrier || fiber.state == State::Grid)) {
            waiting = &fiber;
        } else if (waiting != nullptr && &fiber != waiting && fiber.state != waiting->state &&
                   fiber.state != State::Done && other == nullptr) {
            bool named = waiting->state != State::Warp ||
                         (fiber.thread >> 5 == waiting->thread >> 5 && waiting->mask >> (fiber.thread & 31) & 1);
            other = named ? &fiber : nullptr;
        }
    }
    if (waiting == nullptr) {
        return;
    }
    if (other == nullptr) {
        complain(*waiting, "deadlock: this thread waits for threads that never come", "waits", nullptr);
        return;
    }
    Other by = other_fiber(*other, other->state == State::Barrier ? "waits at a block barrier"
                                   : other->state == State::Grid  ? "waits at a grid barrier"
                                                                  : "waits at another warp operation");
    complain(*waiting, "deadlock: two threads wait for each other at different barriers", "waits", &by);
}

static void meet(WarpKind kind, uint32_t mask, Site site) {
    Fiber& self = *g.current;
    self.warp_kind = kind;
    self.mask = mask;
    self.site = site;
    self.state = State::Warp;
    self.block->waiting++;
    yield_to_scheduler();
}

}  // namespace simt

using namespace simt;

extern "C" {

void simt_warp_barrier(uint32_t mask, Site site) {
    meet(WarpKind::Barrier, mask, site);
}

uint64_t simt_shuffle(uint32_t mask, uint64_t value, int source, Site site) {
    g.current->value = value;
    g.current->source = source;
    meet(WarpKind::Shuffle, mask, site);
    return g.current->value;
}

uint32_t simt_ballot(uint32_t mask, int predicate, Site site) {
    g.current->predicate = predicate;
    meet(WarpKind::Ballot, mask, site);
    return uint32_t(g.current->value);
}

void simt_collect(uint32_t mask, const void* mine, size_t size, void* all, Site site) {
    simt_check(mine, size, 0, site);  // the runtime copies unwatched
    g.current->offered = static_cast<const char*>(mine);
    g.current->source = int(size);
    g.current->values = static_cast<uint64_t*>(all);
    meet(WarpKind::Collect, mask, site);
}

uint32_t simt_gather(uint32_t mask, uint64_t value, uint64_t* values, Site site) {
    g.current->value = value;
    g.current->values = values;
    meet(WarpKind::Gather, mask, site);
    return uint32_t(g.current->value);
}

}  // extern "C"
