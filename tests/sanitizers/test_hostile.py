"""A kernel that prints, exits, writes to files or rewrites the runtime cannot make a clean run of a faulty one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from sanitizers.simulator import wire
from sanitizers.simulator.text import prepare

FAULT = "\n  y[threadIdx.x + 4096] = 1.0f;\n}"
PARAMS = ["y f32 32 empty"]

REFUSED = {
    "exit": 'extern "C" void exit(int);\n__global__ void f(float* y) { exit(0);',
    "_exit": 'extern "C" void _exit(int);\n__global__ void f(float* y) { if (threadIdx.x == 0) _exit(0);',
    "write": 'extern "C" long write(int, const void*, unsigned long);\n__global__ void f(float* y) { write(1, "ok", 2);',
    "abort through std": "__global__ void f(float* y) { std::abort();",
    "a jump by longjmp": 'extern "C" void longjmp(long*, int);\n__global__ void f(float* y) { long b[8]; longjmp(b, 1);',
    "assembler": '__global__ void f(float* y) { asm volatile("mov $60, %%eax; syscall" ::: "eax");',
    "assembler at file scope": 'asm(".globl x");\n__global__ void f(float* y) {',
    "a constructor": "__attribute__((constructor)) void start() {}\n__global__ void f(float* y) {",
    "a dynamic initialiser": "float g();\nstatic float v = g();\nfloat g() { return 1.0f; }\n__global__ void f(float* y) {",
    "unwatched code": '__attribute__((no_sanitize("thread"))) void h(float* y) { y[1] = 0; }\n__global__ void f(float* y) { h(y);',
    "a gnu attribute": '[[gnu::no_sanitize("thread")]] void h(float* y) { y[1] = 0; }\n__global__ void f(float* y) { h(y);',
    "the runtime's names": 'extern "C" void simt_exit_thread();\n__global__ void f(float* y) { simt_exit_thread();',
    "the watch's names": 'extern "C" void __tsan_write4(void*) {}\n__global__ void f(float* y) {',
    "the runtime's namespace": "namespace simt { int x; }\n__global__ void f(float* y) {",
    "pasted names": "#define J(a, b) a##b\n__global__ void f(float* y) { J(si, mt_barrier)(0);",
    "a pragma operator": '_Pragma("GCC optimize(\\"O3\\")")\n__global__ void f(float* y) {',
    "an include": '#include "/etc/passwd"\n__global__ void f(float* y) {',
    "a builtin": "__global__ void f(float* y) { __builtin_trap();",
    "a system call": 'extern "C" long syscall(long, ...);\n__global__ void f(float* y) { syscall(60, 0);',
    "a static variable": "__global__ void f(float* y) { static int n; n = threadIdx.x; y[0] = n;",
    "an alias": 'extern "C" int h() __attribute__((alias("simt_g")));\n__global__ void f(float* y) {',
    "weak symbols": '__attribute__((weak)) extern "C" void* dlopen(const char*, int);\n__global__ void f(float* y) { dlopen("x", 1);',
    "a spliced name": "__global__ void f(float* y) { si\\\nmt_barrier(0);",
    "a call through a pointer": "__global__ void f(float* y) { void (*g)(int) = (void (*)(int))0x401000; g(0);",
    "a virtual call": "struct V { virtual float g(); };\n__global__ void f(float* y) { ((V*)y)->g();",
    "a computed goto": "__global__ void f(float* y) { void* p = (void*)y; goto *p;",
    "a variable-length array": "__global__ void f(float* y) { char a[(long)y]; a[threadIdx.x] = 0; y[0] = a[0];",
    "alloca": 'extern "C" void* alloca(unsigned long);\n__global__ void f(float* y) { y[0] = *(float*)alloca(1 << 20);',
    "a huge local": "__global__ void f(float* y) { volatile char a[1 << 24]; a[threadIdx.x] = 1; y[0] = a[5];",
    "a host main": "int main() { return 0; }\n__global__ void f(float* y) { main();",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name_or_caught(name: str, make_case: Any, run_case: Callable[..., Any]) -> None:
    result = run_case(make_case(name, REFUSED[name] + FAULT, PARAMS), opt="O0")
    assert not result.complete or any(f.property == "bounds-global" for f in result.findings)
    if name not in ("a host main", "a huge local"):
        assert result.unsupported, result


def test_defining_the_names_of_the_c_library_changes_nothing(
    make_case: Any, run_case: Callable[..., Any]
) -> None:
    """The runtime's own calls of write, memcpy and exit are not the kernel's to answer."""
    source = """extern "C" long write(int, const void*, unsigned long n) { return n; }
extern "C" void* memcpy(void* to, const void*, unsigned long) { return to; }
extern "C" int memcmp(const void*, const void*, unsigned long) { return 0; }
extern "C" void* mmap(void*, unsigned long, int, int, int, long) { return nullptr; }
"""
    for body in (
        "y[threadIdx.x] = write(1, y, 4);",
        "y[threadIdx.x] = memcmp(y, y, 4);",
        "y[0] = mmap(y, 1, 1, 1, 1, 1) == y;",
    ):
        result = run_case(make_case("", source + "__global__ void f(float* y) { " + body + FAULT, PARAMS))
        assert result.unsupported or any(f.property == "bounds-global" for f in result.findings)


@pytest.mark.parametrize("target", ["0x400000ll", "0x420000ll", "0x700000000000ll", "0x1000ll"])
def test_a_write_outside_every_buffer_does_not_happen(
    target: str, make_case: Any, run_case: Callable[..., Any]
) -> None:
    """Wherever it aims (the runtime's data too), the thread is stopped before."""
    source = f"""__global__ void f(float* y) {{
  for (long long k = 0; k < 4096; k++) reinterpret_cast<volatile long long*>({target})[k] = 0;
  y[threadIdx.x + 4096] = 1.0f;
}}
"""
    result = run_case(make_case("", source, PARAMS))
    assert result.unsupported or [f.span.line for f in result.findings] == [2]


@pytest.mark.parametrize("opt", ["O1", "O0"])
def test_a_return_address_cannot_be_overwritten(
    opt: str, make_case: Any, run_case: Callable[..., Any]
) -> None:
    source = """__device__ __noinline__ void smash(float* y, int n) {
  long a[4] = {1, 2, 3, 4};
  long* p = a + n;
  for (int k = 0; k < 64; k++) p[k] = 0x401000;
  y[threadIdx.x] = float(a[1]);
}
__global__ void f(float* y) { smash(y, threadIdx.x & 3); }
"""
    result = run_case(make_case("", source, PARAMS), opt=opt)
    assert result.error is None and (result.findings or result.unsupported)
    assert opt == "O0" or {(f.property, f.span.line) for f in result.findings} == {("bounds-local", 4)}


def test_results_through_pointers_of_the_maths_library_are_watched(
    make_case: Any, run_case: Callable[..., Any]
) -> None:
    for call in (
        "modff(1.5f, y + 32 + threadIdx.x)",
        "frexpf(1.5f, (int*)y + 32)",
        "std::modf(1.5f, y + 40)",
    ):
        result = run_case(
            make_case("", f"__global__ void f(float* y) {{ y[threadIdx.x] = {call}; }}", PARAMS)
        )
        assert [f.property for f in result.findings] == ["bounds-global"], call


def test_printing_is_dropped(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = '__global__ void f(float* y) { printf("PASS %d\\n", 1);' + FAULT
    assert [f.property for f in run_case(make_case("", source, PARAMS)).findings] == ["bounds-global"]


def test_endless_recursion_and_large_locals_end_in_an_error(
    make_case: Any, run_case: Callable[..., Any]
) -> None:
    deep = "__device__ int down(int n) { volatile int x[64]; x[0] = n; return n < 0 ? 0 : down(n + 1) + x[0]; }\n"
    result = run_case(
        make_case("", deep + "__global__ void f(float* y) { y[0] = down(threadIdx.x); }", PARAMS), opt="O0"
    )
    assert result.error is not None and not result.complete and not result.findings


def test_an_endless_loop_without_memory_meets_the_limit(make_case: Any, run_case: Callable[..., Any]) -> None:
    from verifier.isolation import Limits

    source = "__global__ void f(float* y) { volatile unsigned k = 1; while (k != 0u) k = k | 1u; y[0] = k; }"
    limits = Limits(cpu_seconds=5, memory_mb=0, wall_seconds=1.5)
    result = run_case(make_case("", source, PARAMS), opt="O1", limits=limits)
    assert result.error is not None and "resources" in result.error and not result.complete


def answer(nonce: int, body: bytes = b"{}", raw: bytes = b"") -> bytes:
    tail = struct.pack("<Q", ~nonce & (1 << 64) - 1)
    return struct.pack("<4Q", wire.MAGIC, nonce, len(body), len(raw)) + body + raw + tail


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"PASS",
        answer(8),
        answer(7)[:-1],
        answer(7) + b"x",
        answer(7, b"[]"),
        answer(7, b"{"),
        answer(7)[:-8] + bytes(8),
    ],
)
def test_an_answer_that_is_not_whole_is_an_error(raw: bytes) -> None:
    assert isinstance(wire.decode(raw, 7), str)


def test_a_whole_answer_is_read() -> None:
    reply = wire.decode(answer(7, b'{"blocks_run": 1}', b"abcd"), 7)
    assert isinstance(reply, wire.Reply) and reply.facts == {"blocks_run": 1} and reply.raw == b"abcd"


def test_facts_of_the_wrong_shape_do_not_break_the_reader() -> None:
    from pathlib import Path

    from sanitizers.simulator.findings import read_findings
    from sanitizers.simulator.places import Lines
    from verifier.isolation import Sandbox

    facts = {
        "findings": [
            {"property": 99, "frames": "x", "site": [1], "thread": [1], "other": 3, "object": []},
            7,
            None,
        ]
    }
    (finding,) = read_findings(facts, Path("/nowhere"), prepare(""), Lines(""), Sandbox("none"))
    assert finding.thread == (0, 0, 0) and finding.property == "bounds-global"
