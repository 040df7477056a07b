// What a warp's accesses would cost: the n-th time that each lane executes one load or store is one request of the warp.
// Recorded only in runs that ask for it; addresses of buffers and of shared memory, no local memory.
#include <algorithm>

#include "shadow.h"

namespace simt {
namespace {

constexpr size_t MOST_REQUESTS = 1 << 18;

struct Request {
    uint32_t pc, lanes, size;
    bool write, atomic, shared;
    uint32_t slot;
    uintptr_t at[32];
};
std::vector<Request> requests;
std::unordered_map<uint64_t, uint32_t> executed;                     // (place, thread) -> how often
std::unordered_map<uint64_t, std::vector<uint32_t>> requests_of;     // (place, warp) -> request by occurrence, plus one
bool cut_off;

uint32_t distinct(std::vector<uintptr_t>& items) {
    std::sort(items.begin(), items.end());
    return uint32_t(std::unique(items.begin(), items.end()) - items.begin());
}

// 32-byte sectors that the request touches.
uint32_t sectors(const Request& request) {
    std::vector<uintptr_t> touched;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (request.lanes >> lane & 1) {
            for (uintptr_t s = request.at[lane] >> 5; s <= (request.at[lane] + request.size - 1) >> 5; s++) {
                touched.push_back(s);
            }
        }
    }
    return distinct(touched);
}

// Rounds that the banks need: lanes of 8 and 16 bytes go in two and four groups; equal words are one access.
uint32_t wavefronts(const Request& request) {
    uint32_t group = request.size <= 4 ? 32 : request.size <= 8 ? 16 : 8, rounds = 0;
    for (uint32_t first = 0; first < 32; first += group) {
        std::vector<uintptr_t> words;
        for (uint32_t lane = first; lane < first + group; lane++) {
            if (request.lanes >> lane & 1) {
                for (uintptr_t w = request.at[lane] >> 2; w <= (request.at[lane] + request.size - 1) >> 2; w++) {
                    words.push_back(w);
                }
            }
        }
        words.resize(distinct(words));
        uint32_t banks[32] = {}, most = 0;
        for (uintptr_t word : words) {
            most = std::max(most, ++banks[word & 31]);
        }
        rounds += most;
    }
    return rounds;
}

struct Sum {
    Request sample;
    uint64_t requests, lanes, sectors, least, wavefronts, least_wavefronts;
};

}  // namespace

void start_requests() {
    requests.clear();
    executed.clear();
    requests_of.clear();
    cut_off = false;
}

void note_request(const Access& access) {
    uintptr_t slot = (access.address - ARENA) >> SLOT_BITS;
    if (slot >= SLOTS || objects[slot].kind == Kind::None || access.size > 16) {
        return;
    }
    const Fiber& self = *g.current;
    uint64_t pc = uint32_t(access.place.pc);
    uint32_t turn = executed[pc << 32 | uint64_t(g.block->number) << 10 | self.thread]++;
    std::vector<uint32_t>& known = requests_of[pc << 32 | uint64_t(g.block->number) << 5 | self.thread >> 5];
    if (known.size() <= turn) {
        known.resize(turn + 1);
    }
    if (known[turn] == 0) {
        if (requests.size() >= MOST_REQUESTS) {
            cut_off = true;
            return;
        }
        requests.push_back({uint32_t(pc), 0, access.size, access.write, access.atomic, objects[slot].kind == Kind::Shared,
                            uint32_t(slot), {}});
        known[turn] = uint32_t(requests.size());
    }
    Request& request = requests[known[turn] - 1];
    request.lanes |= 1u << (self.thread & 31);
    request.at[self.thread & 31] = access.address;
}

// One row a place: [pc, object, size, write, atomic, requests, lanes, sectors, least sectors, wavefronts, least wavefronts].
std::string requests_json() {
    std::unordered_map<uint32_t, Sum> sums;
    for (const Request& request : requests) {
        Sum& sum = sums[request.pc];
        sum.sample = request;
        uint32_t lanes = uint32_t(__builtin_popcount(request.lanes));
        sum.requests++;
        sum.lanes += lanes;
        if (request.shared) {
            sum.wavefronts += wavefronts(request);
            sum.least_wavefronts += (lanes * request.size + 127) / 128;
        } else {
            sum.sectors += sectors(request);
            sum.least += (lanes * request.size + 31) / 32;
        }
    }
    std::string text = cut_off ? "{\"whole\":false,\"rows\":[" : "{\"whole\":true,\"rows\":[";
    bool first = true;
    for (const auto& [pc, sum] : sums) {
        text += first ? "[" : ",[";
        first = false;
        for (uint64_t number : {uint64_t(pc), uint64_t(sum.sample.slot), uint64_t(sum.sample.size), uint64_t(sum.sample.write),
                                uint64_t(sum.sample.atomic), sum.requests, sum.lanes, sum.sectors, sum.least, sum.wavefronts}) {
            text += std::to_string(number) + ",";
        }
        text += std::to_string(sum.least_wavefronts) + "]";
    }
    return text + "]}";
}

}  // namespace simt
