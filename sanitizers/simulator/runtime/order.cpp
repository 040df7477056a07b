// What orders two accesses: barriers, __syncwarp, and release/acquire through fences and atomics.
#include <algorithm>

#include "state.h"

namespace simt {
namespace {

std::unordered_map<uintptr_t, Knowledge> released_at;  // what a release left at an address

void join(Knowledge& into, const Knowledge& from) {
    for (const Known& item : from) {
        auto at = std::find_if(into.begin(), into.end(), [&](const Known& k) { return k.block == item.block; });
        if (at == into.end()) {
            into.push_back(item);
        } else if (at->interval < item.interval) {
            *at = item;
        } else if (at->interval == item.interval) {
            if (at->clocks.size() < item.clocks.size()) {
                at->clocks.resize(item.clocks.size());
            }
            for (size_t i = 0; i < item.clocks.size(); i++) {
                at->clocks[i] = std::max(at->clocks[i], item.clocks[i]);
            }
        }
    }
}

void learn(Fiber& fiber, const Knowledge& what) {
    if (fiber.known == nullptr) {
        fiber.known = new Knowledge;
    }
    join(*fiber.known, what);
}

}  // namespace

bool known_before(const Knowledge* known, uint32_t block, Stamp stamp) {
    if (known == nullptr) {
        return false;
    }
    for (const Known& item : *known) {
        if (item.block == block) {
            uint32_t interval = interval_of(stamp), thread = thread_of(stamp);
            return interval < item.interval ||
                   (interval == item.interval && thread < item.clocks.size() && item.clocks[thread] >= clock_of(stamp));
        }
    }
    return false;
}

// Whether the stamped access happens before what the current thread does now.
bool ordered(Stamp stamp) {
    if ((stamp ^ g.me) >> 22 == 0 || interval_of(stamp) < g.grid_base) {
        return true;
    }
    const Fiber& self = *g.current;
    uint32_t interval = interval_of(stamp), thread = thread_of(stamp);
    uint32_t block = g.interval_block[interval];
    if (block == g.block->number) {
        if (interval != g.interval) {
            return true;
        }
        if (thread >> 5 == self.thread >> 5 && self.lane_clocks[thread & 31] >= clock_of(stamp)) {
            return true;
        }
    }
    return g.knowledge && (known_before(self.known, block, stamp) || known_before(&g.block->known, block, stamp));
}

void acquire(uintptr_t address) {
    auto at = released_at.find(address);
    if (at != released_at.end()) {
        learn(*g.current, at->second);
    }
}

void release(uintptr_t address) {
    if (g.current->released != nullptr) {
        join(released_at[address], *g.current->released);
    }
}

void share_knowledge_of_block(Block& block) {
    if (g.knowledge) {
        for (Fiber& fiber : block.fibers) {
            if (fiber.known != nullptr && fiber.state == State::Barrier) {
                join(block.known, *fiber.known);
            }
        }
    }
}

void share_knowledge_of_lanes(Block& block, uint32_t first, uint32_t lanes) {
    if (!g.knowledge) {
        return;
    }
    Knowledge all;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (lanes >> lane & 1 && block.fibers[first + lane].known != nullptr) {
            join(all, *block.fibers[first + lane].known);
        }
    }
    if (!all.empty()) {
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (lanes >> lane & 1) {
                learn(block.fibers[first + lane], all);
            }
        }
    }
}

void forget_knowledge() { released_at.clear(); }

}  // namespace simt

extern "C" void simt_fence(int) {
    using namespace simt;
    Fiber& self = *g.current;
    g.knowledge = true;
    if (self.released == nullptr) {
        self.released = new Knowledge;
    }
    join(*self.released, g.block->known);
    if (self.known != nullptr) {
        join(*self.released, *self.known);
    }
    Known own{g.block->number, g.interval, {}};
    uint32_t first = self.thread & ~31u;
    own.clocks.resize(self.thread + 1 > first + 32 ? self.thread + 1 : first + 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        own.clocks[first + lane] = self.lane_clocks[lane];
    }
    own.clocks[self.thread] = self.clock;
    join(*self.released, {own});
    if (self.clock == CLOCK_LIMIT) {
        g.unsupported = "more than 16383 fences between two block barriers";
    } else {
        self.clock++;
    }
    stamp_current();
}
