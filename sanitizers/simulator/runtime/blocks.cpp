// Which basic blocks of the kernel ran: programs built with -fsanitize-coverage=trace-pc call this at the start of each.
#include <cstdint>
#include <vector>

#include "state.h"

namespace simt {
namespace {

constexpr uintptr_t SPAN = 1 << 20;  // programs are smaller, so places do not share an entry
unsigned char hit[SPAN];
std::vector<uintptr_t> places;

}  // namespace

std::string blocks_json() {
    std::string text = "[";
    for (uintptr_t place : places) {
        text += (text.size() > 1 ? "," : "") + std::to_string(place);
    }
    return text + "]";
}

void forget_blocks() {
    for (uintptr_t place : places) {
        hit[place & (SPAN - 1)] = 0;
    }
    places.clear();
}

}  // namespace simt

extern "C" void __sanitizer_cov_trace_pc() {
    auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    if (simt::hit[place & (simt::SPAN - 1)] == 0) {
        simt::hit[place & (simt::SPAN - 1)] = 1;
        simt::places.push_back(place);
    }
}
