// Fibers: one stack a started thread, a hand-written switch, guard pages. A thread that never blocks costs no switch.
#include <sys/mman.h>

#include <cstring>

#include "state.h"

namespace simt {
namespace {

constexpr size_t STACK = STACK_BYTES, GUARD = 4096, CHUNK = 256;
std::vector<char*> new_stacks, free_stacks;  // without and with their guard page
std::vector<char*> chunks;
Fiber scheduler;

void entry() {
    for (;;) {
        run_thread();
        // What the kernel's frames have saved for us may have been overwritten: keep nothing in registers.
        asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15", "memory");
        g.current->state = State::Done;
        if (Fiber* next = start_next()) {  // the next thread runs on this very stack
            next->stack = g.current->stack;
            g.current->stack = nullptr;
            g.current = next;
            stamp_current();
            continue;
        }
        yield_to_scheduler();
    }
}

char* new_stack() {
    if (!free_stacks.empty()) {
        char* stack = free_stacks.back();
        free_stacks.pop_back();
        return stack;
    }
    if (new_stacks.empty()) {
        void* chunk = mmap(nullptr, STACK * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (chunk == MAP_FAILED) {
            return nullptr;
        }
        chunks.push_back(static_cast<char*>(chunk));
        for (size_t i = CHUNK; i-- > 0;) {
            new_stacks.push_back(static_cast<char*>(chunk) + i * STACK);
        }
    }
    char* stack = new_stacks.back();
    new_stacks.pop_back();
    mprotect(stack, GUARD, PROT_NONE);
    return stack;
}

}  // namespace

extern "C" void simt_switch(void** save, void* load);
asm(R"(
.text
.globl simt_switch
.type simt_switch, @function
simt_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    pop %rdx
    jmp *%rdx
.size simt_switch, .-simt_switch
)");

void prepare(Fiber& fiber) {
    if (fiber.stack == nullptr) {
        fiber.stack = new_stack();
    }
    if (fiber.stack == nullptr) {
        g.unsupported = "more thread stacks than this machine's address space holds";
        fiber.state = State::Done;
        return;
    }
    // Staggered tops: stacks that all start at one page offset fight for the same cache sets.
    size_t colour = (reinterpret_cast<uintptr_t>(fiber.stack) / STACK % 61) * 192;
    auto** top = reinterpret_cast<void**>((reinterpret_cast<uintptr_t>(fiber.stack) + STACK - 64 - colour) & ~uintptr_t(63));
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&entry);
    for (int i = 0; i < 6; i++) {
        *--top = nullptr;
    }
    fiber.stack_pointer = top;
}

void drop_stack(Fiber& fiber) {
    if (fiber.stack != nullptr) {
        free_stacks.push_back(fiber.stack);
        fiber.stack = nullptr;
    }
}

void switch_to(Fiber& fiber) {
    g.current = &fiber;
    stamp_current();
    g.switches++;
    g.accesses += uint32_t(g.slice_start - g.slice);
    if (g.accesses + g.switches > g.budget && g.stopped.empty()) {  // a warp that only shuffles accesses nothing
        g.stopped = "the step budget";
    }
    g.slice_start = g.slice = g.interleaved ? int32_t(1 + pick(64)) : g.slice_length;
    simt_switch(&scheduler.stack_pointer, fiber.stack_pointer);
}

void yield_to_scheduler() {
    Fiber* self = g.current;
    g.switches++;
    g.current = nullptr;
    simt_switch(&self->stack_pointer, scheduler.stack_pointer);
}

bool owns_stack(uintptr_t address) {
    for (char* chunk : chunks) {
        if (address - reinterpret_cast<uintptr_t>(chunk) < STACK * CHUNK) {
            return true;
        }
    }
    return false;
}

bool in_guard(uintptr_t address) {
    for (char* chunk : chunks) {
        uintptr_t offset = address - reinterpret_cast<uintptr_t>(chunk);
        if (offset < STACK * CHUNK) {
            return offset % STACK < GUARD;
        }
    }
    return false;
}

}  // namespace simt
