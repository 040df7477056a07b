// Findings: raw facts with return addresses and site constants. The parent turns them into spans and verdicts.
#include <algorithm>
#include <cstdio>

#include "state.h"

namespace simt {
namespace {

constexpr size_t MOST = 24, FRAMES = 8;

struct Seen {
    Property property;
    std::string key, json;
    uint64_t count;
};
std::vector<Seen> findings;

std::string dim(Dim d) {
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string site_json(Site site) {
    if (site == nullptr) {
        return "null";
    }
    return "[" + quoted(site->_M_file_name) + "," + std::to_string(site->_M_line) + "," +
           std::to_string(site->_M_column) + "]";
}

// The return addresses up the fiber's stack, innermost first.
std::string frames_json(const Place& place) {
    std::string text = "[" + std::to_string(place.pc);
    uintptr_t low = g.current ? reinterpret_cast<uintptr_t>(g.current->stack) : 0;
    auto* link = static_cast<const uintptr_t*>(place.frame);
    for (size_t i = 1; low != 0 && i < FRAMES; i++) {
        if (link == nullptr || reinterpret_cast<uintptr_t>(link) - low > STACK_BYTES - 32) {
            break;
        }
        link = reinterpret_cast<const uintptr_t*>(link[0]);
        if (link == nullptr || reinterpret_cast<uintptr_t>(link) - low > STACK_BYTES - 32 || link[1] == 0) {
            break;
        }
        text += "," + std::to_string(link[1]);
    }
    return text + "]";
}

}  // namespace

std::string quoted(const char* text) {
    std::string out = "\"";
    for (; text != nullptr && *text; text++) {
        unsigned char c = static_cast<unsigned char>(*text);
        if (c == '"' || c == '\\' || c < 32 || c > 126) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", c);
            out += escape;
        } else {
            out += char(c);
        }
    }
    return out + "\"";
}

Other other_of(Stamp stamp, uint32_t pc, const char* action) {
    uint32_t thread = thread_of(stamp);
    Dim d = g.block_dim;
    return {true, g.block_index[g.interval_block[interval_of(stamp)]],
            {thread % d.x, thread / d.x % d.y, thread / (d.x * d.y)}, pc, action, nullptr};
}

Other other_fiber(const Fiber& fiber, const char* action) {
    bool waits = fiber.state != State::Done;
    return {true, fiber.block->index, fiber.index, 0, action, waits ? fiber.site : nullptr};
}

void report(Property property, const Place& place, const std::string& message, int object, int64_t offset,
            const char* verb, const Other* other) {
    std::string key = std::to_string(int(property)) + "@";
    key += place.site ? site_json(place.site) : std::to_string(place.pc);
    if (property == Property::RaceShared || property == Property::RaceGlobal) {
        key += "/" + std::to_string(other ? other->pc : 0);
    }
    for (Seen& seen : findings) {
        if (seen.key == key) {
            seen.count++;
            return;
        }
    }
    if (findings.size() >= MOST || g.current == nullptr) {
        return;
    }
    const Fiber& self = *g.current;
    std::string json = "\"property\":" + std::to_string(int(property)) + ",\"block\":" + dim(self.block->index) +
                       ",\"thread\":" + dim(self.index) + ",\"message\":" + quoted(message.c_str()) +
                       ",\"frames\":" + frames_json(place) + ",\"site\":" + site_json(place.site) +
                       ",\"object\":" + std::to_string(object) + ",\"offset\":" + std::to_string(offset) +
                       ",\"verb\":" + quoted(verb);
    if (other != nullptr && other->there) {
        json += ",\"other\":{\"block\":" + dim(other->block) + ",\"thread\":" + dim(other->thread) +
                ",\"pc\":" + std::to_string(other->pc) + ",\"action\":" + quoted(other->action) +
                ",\"site\":" + site_json(other->site) + "}";
    }
    findings.push_back({property, key, json, 1});
}

std::string findings_json() {
    std::string text = "[";
    for (const Seen& seen : findings) {
        text += (text.size() > 1 ? ",{" : "{") + seen.json + ",\"count\":" + std::to_string(seen.count) + "}";
    }
    return text + "]";
}

void clear_findings() { findings.clear(); }

bool findings_full() { return findings.size() >= MOST; }

}  // namespace simt
