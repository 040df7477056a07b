// The driver loop: one request on stdin -> one launch -> one response on stdout, until stdin ends.
// The response is raw facts. A crash ends the process.
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "state.h"

namespace simt {
namespace {

constexpr size_t MOST_COUNTED = 64 << 20;
constexpr uint32_t MAGIC = 0x544d4953, CRASH = 0x48535243;

struct Header {
    uint32_t magic, schedule;
    uint64_t nonce, seed;
    uint32_t grid[3], block[3];
    uint64_t shared_bytes, budget;
    uint32_t buffers, parameters, blocks, flags;
};
struct BufferHeader {
    uint64_t size, data, patches;
    uint32_t element, flags;
    char name[64];
};
struct Patch {
    uint64_t offset, size;
    unsigned char bytes[8];
};
struct Pointer {
    uint32_t offset, buffer;
};
struct Parameter {  // one argument of the kernel, its pointers still to be filled in
    alignas(16) unsigned char bytes[256];
    uint32_t pointers;
    Pointer at[15];
    uint32_t padding;
};
enum Flag : uint32_t { KEEP_GLOBALS = 1, CALL_PATHS = 2, TOLERANT = 4, REQUESTS = 8 };
enum BufferFlag : uint32_t { INITIALISED = 1, WANTED = 2, RESERVED = 4 };

bool take(void* to, size_t size) {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
        ssize_t got = read(0, at, size);
        if (got <= 0) {
            return false;
        }
        at += got;
        size -= size_t(got);
    }
    return true;
}

void give(const void* from, size_t size) {
    auto* at = static_cast<const char*>(from);
    while (size > 0) {
        ssize_t put = write(1, at, size);
        if (put <= 0) {
            _exit(3);
        }
        at += put;
        size -= size_t(put);
    }
}

template <class T>
T want() {
    T item;
    if (!take(&item, sizeof item)) {
        _exit(2);
    }
    return item;
}

struct Buffer {
    BufferHeader header;
    uint32_t slot;
};

double cpu_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void respond(const Header& header, const Ran& ran, const std::vector<Buffer>& buffers) {
    uint64_t raw = 0;
    std::string json = "{\"findings\":" + findings_json() + ",\"objects\":{";
    bool first = true;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const Object& object = objects[slot];
        if (object.kind != Kind::None) {
            json += (first ? "\"" : ",\"") + std::to_string(slot) + "\":[" + quoted(object.name) + "," +
                    std::to_string(object.size) + "," + std::to_string(object.element) + "," +
                    std::to_string(int(object.kind)) + "]";
            first = false;
        }
    }
    for (const Buffer& buffer : buffers) {
        raw += buffer.slot != 0 && buffer.header.flags & WANTED ? buffer.header.size : 0;
    }
    json += "},\"unwritten\":{";
    first = true;
    for (const Buffer& buffer : buffers) {
        const Object& object = objects[buffer.slot];
        size_t at = 0;
        size_t count = object.init == nullptr || buffer.header.size > MOST_COUNTED ? 0 : unwritten(object, &at);
        if (count > 0) {
            json += (first ? "" : ",") + quoted(buffer.header.name) + ":[" + std::to_string(count) + "," + std::to_string(at) + "]";
            first = false;
        }
    }
    json += "},\"cpu\":" + std::to_string(ran.cpu_seconds) + ",\"blocks_run\":" + std::to_string(ran.blocks_run) + ",\"blocks_launched\":" +
            std::to_string(ran.blocks_launched) + ",\"accesses\":" + std::to_string(g.accesses) +
            ",\"switches\":" + std::to_string(g.switches) + ",\"unsupported\":" + quoted(g.unsupported.c_str()) +
            ",\"stopped\":" + quoted(g.stopped.c_str()) + (g.recording ? ",\"requests\":" + requests_json() : "") + ",\"blocks\":" + blocks_json() + "}";
    uint64_t head[4] = {MAGIC, header.nonce, json.size(), raw};
    give(head, sizeof head);
    give(json.data(), json.size());
    for (const Buffer& buffer : buffers) {
        if (buffer.slot != 0 && buffer.header.flags & WANTED) {
            give(reinterpret_cast<const void*>(objects[buffer.slot].base), buffer.header.size);
        }
    }
    uint64_t tail = ~header.nonce;
    give(&tail, sizeof tail);
}

// Static, since the kernel's entry reads its arguments under watch: constants of the image may be read.
constexpr uint32_t MOST_PARAMETERS = 256;
Parameter parameters[MOST_PARAMETERS];
void* argv[MOST_PARAMETERS];

bool serve() {
    Header header;
    if (!take(&header, sizeof header) || header.magic != MAGIC) {
        return false;
    }
    g.unsupported.clear();
    g.stopped.clear();
    g.accesses = g.switches = 0;
    g.budget = header.budget;
    g.call_paths = header.flags & CALL_PATHS;
    g.tolerant = header.flags & TOLERANT;
    g.recording = header.flags & REQUESTS;
    start_requests();
    clear_findings();
    forget_blocks();
    drop_buffers();
    forget_accesses();
    if (!(header.flags & KEEP_GLOBALS)) {
        reset_device();
    }
    std::vector<Buffer> buffers(header.buffers);
    for (Buffer& buffer : buffers) {
        buffer.header = want<BufferHeader>();
        buffer.header.name[63] = 0;
        bool initialised = buffer.header.flags & INITIALISED;
        buffer.slot = add_object(Kind::Global, buffer.header.size, buffer.header.size, buffer.header.element, initialised,
                                 buffer.header.name);
        auto* base = reinterpret_cast<char*>(objects[buffer.slot].base);
        std::vector<char> skipped;
        if (buffer.slot == 0) {
            skipped.resize(buffer.header.data);
            base = skipped.data();
        } else if (!initialised && !(buffer.header.flags & RESERVED)) {
            memset(base, 0xff, buffer.header.size);
        }
        if (buffer.header.data > buffer.header.size || !take(base, buffer.header.data)) {
            return false;
        }
        for (uint64_t i = 0; i < buffer.header.patches; i++) {
            Patch patch = want<Patch>();
            if (buffer.slot != 0 && patch.size <= 8 && patch.offset + patch.size <= buffer.header.size) {
                memcpy(base + patch.offset, patch.bytes, patch.size);
            }
        }
    }
    if (header.parameters > MOST_PARAMETERS) {
        g.unsupported = "more than 256 parameters";
        header.parameters = 0;
    }
    for (uint32_t i = 0; i < header.parameters; i++) {
        Parameter& parameter = parameters[i];
        parameter = want<Parameter>();
        for (uint32_t k = 0; k < parameter.pointers && k < 15; k++) {
            const Pointer& pointer = parameter.at[k];
            if (pointer.buffer < buffers.size() && pointer.offset <= sizeof parameter.bytes - 8) {
                uintptr_t address = objects[buffers[pointer.buffer].slot].base;
                memcpy(parameter.bytes + pointer.offset, &address, sizeof address);
            }
        }
        argv[i] = parameter.bytes;
    }
    std::vector<uint64_t> chosen(header.blocks);
    for (uint64_t& block : chosen) {
        block = want<uint64_t>();
    }
    Ran ran{0, uint64_t(header.grid[0]) * header.grid[1] * header.grid[2], 0.0};
    if (g.stopped.empty() && g.unsupported.empty()) {
        double start = cpu_time();
        ran = launch({header.grid[0], header.grid[1], header.grid[2]}, {header.block[0], header.block[1], header.block[2]},
                     header.shared_bytes, {header.schedule & 255, header.seed, header.schedule >> 8}, chosen, argv);
        ran.cpu_seconds = cpu_time() - start;
    }
    respond(header, ran, buffers);
    return true;
}

void crashed(int, siginfo_t* info, void*) {
    const char* text = in_guard(reinterpret_cast<uintptr_t>(info->si_addr))
                           ? "a thread needs more than 250 KB of local memory, or recurses without end"
                           : "the program crashed";
    uint64_t head[4] = {CRASH, 0, strlen(text), 0};
    give(head, sizeof head);
    give(text, strlen(text));
    _exit(4);
}

void catch_crashes() {
    static char stack[1 << 16];
    stack_t alternative{stack, 0, sizeof stack};
    sigaltstack(&alternative, nullptr);
    struct sigaction action{};
    action.sa_sigaction = crashed;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace
}  // namespace simt

int main() {
    simt::catch_crashes();
    simt::place_declarations();
    while (simt::serve()) {
    }
    return 0;
}
