// What orders two accesses: barriers, __syncwarp, and release/acquire through fences and atomics.
#include <algorithm>

#include "state.h"

namespace simt {
namespace {

// What one block has released at an address: to its own threads, and to those of other blocks.
struct Left {
    uint32_t block;
    Knowledge near, far;
};
std::unordered_map<uintptr_t, std::vector<Left>> released_at;

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

void learn(Knowledge*& into, const Knowledge& what) {
    if (into == nullptr) {
        into = new Knowledge;
    }
    join(*into, what);
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

void acquire(uintptr_t address, int scope) {
    auto at = released_at.find(address);
    if (at == released_at.end()) {
        return;
    }
    for (const Left& left : at->second) {
        if (left.block == g.block->number) {
            learn(g.current->seen[0], left.near);
        }
        if (scope != BLOCK_SCOPE) {
            learn(g.current->seen[1], left.far);
        }
    }
}

void release(uintptr_t address, int scope) {
    const Fiber& self = *g.current;
    if (self.released[0] == nullptr && g.block->released.empty()) {
        return;
    }
    std::vector<Left>& all = released_at[address];
    auto at = std::find_if(all.begin(), all.end(), [](const Left& left) { return left.block == g.block->number; });
    if (at == all.end()) {
        at = all.insert(all.end(), {g.block->number, {}, {}});
    }
    const Knowledge* const all_of_it[] = {self.released[0], self.released[1], &g.block->released};
    for (const Knowledge* what : all_of_it) {
        if (what != nullptr) {
            join(at->near, *what);
            if (scope != BLOCK_SCOPE && what != self.released[0]) {
                join(at->far, *what);
            }
        }
    }
}

void drop_knowledge(Fiber& fiber) {
    for (Knowledge** what : {&fiber.known, &fiber.released[0], &fiber.released[1], &fiber.seen[0], &fiber.seen[1]}) {
        delete *what;
        *what = nullptr;
    }
}

// A block barrier passes on what its threads have seen and what their fences have covered.
void share_knowledge_of_block(Block& block) {
    if (!g.knowledge) {
        return;
    }
    for (Fiber& fiber : block.fibers) {
        if (fiber.state == State::Barrier) {
            for (const Knowledge* what : {fiber.known, fiber.seen[0], fiber.seen[1]}) {
                if (what != nullptr) {
                    join(block.known, *what);
                }
            }
            if (fiber.released[1] != nullptr) {
                join(block.released, *fiber.released[1]);
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
        if (lanes >> lane & 1) {
            const Fiber& fiber = block.fibers[first + lane];
            for (const Knowledge* what : {fiber.known, fiber.seen[0], fiber.seen[1]}) {
                if (what != nullptr) {
                    join(all, *what);
                }
            }
        }
    }
    if (!all.empty()) {
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (lanes >> lane & 1) {
                learn(block.fibers[first + lane].known, all);
            }
        }
    }
}

void forget_knowledge() { released_at.clear(); }

}  // namespace simt

// What strong reads have seen becomes known, and what is known is ready to be released: both in the fence's scope.
extern "C" void simt_fence(int scope) {
    using namespace simt;
    Fiber& self = *g.current;
    g.knowledge = true;
    for (int from = 0; from <= int(scope != BLOCK_SCOPE); from++) {
        if (self.seen[from] != nullptr) {
            learn(self.known, *self.seen[from]);
        }
    }
    Known own{g.block->number, g.interval, {}};
    uint32_t first = self.thread & ~31u;
    own.clocks.resize(first + 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        own.clocks[first + lane] = self.lane_clocks[lane];
    }
    own.clocks[self.thread] = self.clock;
    for (int to = 0; to <= int(scope != BLOCK_SCOPE); to++) {
        learn(self.released[to], g.block->known);
        if (self.known != nullptr) {
            learn(self.released[to], *self.known);
        }
        learn(self.released[to], {own});
    }
    if (self.clock == CLOCK_LIMIT) {
        g.unsupported = "more than 16383 fences between two block barriers";
    } else {
        self.clock++;
    }
    stamp_current();
}
