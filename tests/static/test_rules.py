"""What the pages do not show: near misses, macros, headers, targets, and the gate itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from specs.architectures import ARCHITECTURES, FEATURES, architecture
from specs.contract import Contract, Launch
from specs.location import Span
from specs.policy import default_policy
from specs.results import Outcome, Severity
from verifier.gates import static
from verifier.ir.nodes import F32, Array, Kernel, Module, ObjectDecl, Param, Pointer
from verifier.isolation import SandboxMissing, probe
from verifier.source import Submission, load
from verifier.source.reading import Reading
from verifier.static_rules import Hit, rules

Read = Callable[..., Submission]
K = "__global__ void k(int* p) { *p = 1; }\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    try:
        sandbox = probe()
    except SandboxMissing:
        sandbox = probe("none")

    def read_text(text: str, name: str = "k.cu", **options: Any) -> Submission:
        (tmp_path / name).write_text(text)
        return load(tmp_path / name, sandbox=sandbox, **options)

    return read_text


def hits(rule_id: str, submission: Submission, *archs: str, **ir: Any) -> list[Hit]:
    [rule] = [r for r in rules() if r.id == rule_id]
    return list(rule.check(Reading.of(submission, archs or ("sm_80",), **ir)))


def places(found: list[Hit]) -> list[tuple[int, int]]:
    return [(h.span.line, h.span.column) for h in found]


def test_a_rule_sees_through_macros(read: Read) -> None:
    code = "#define NOW clock##64()\n__global__ void k(long* p) {\n    *p = NOW;\n}\n"
    assert places(hits("clock-read", read(code))) == [(3, 10)]


def test_names_that_only_look_alike(read: Read) -> None:
    code = "struct T { __device__ int clock() { return 1; } };\n"
    code += "__global__ void k(int* p) { T t; int clock = t.clock(); *p = clock; }\n"
    assert not hits("clock-read", read(code))
    assert not hits("host-escape", read(K + "void f(A a) { a.system(1); int fork = 2; g(fork); }\n"))
    assert not hits(
        "host-escape", read(K + "static int clone(int a) { return a; }\nint f() { return clone(1); }\n")
    )


def test_places_are_exact(read: Read) -> None:
    code = "__global__ void k(unsigned* p) {\n    if (threadIdx.x) p[0] = __ballot(1);\n}\n"
    assert places(hits("legacy-warp-intrinsic", read(code))) == [(2, 29)]


def test_python_places(read: Read) -> None:
    code = 'from torch.utils.cpp_extension import load_inline\nsrc = """\n__global__ void k(long* p) {\n'
    code += '    *p = clock64();\n}\n"""\nm = load_inline("m", "", src)\n# \u200b\n'
    submission = read(code, "op.py")
    assert places(hits("clock-read", submission)) == [(4, 10)]
    assert places(hits("bidirectional-text", submission)) == [(8, 3)]


def test_headers_are_read_too(read: Read, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#ifdef __clang__\n#endif\n#pragma GCC poison x\n#line 3\n")
    submission = read('#include "own.h"\n' + K)
    for rule in ("conditional-on-tool-macro", "unknown-pragma", "forbidden-directive"):
        [hit] = hits(rule, submission)
        assert hit.span.path.endswith("own.h")


@pytest.mark.parametrize(
    "line",
    [
        "#include_next <math.h>",
        "#import <math.h>",
        "#line 3",
        '# 3 "x.cu"',
        "#include MACRO",
        "%:line 7",
        "#li\\\nne 9",
        "#if __has_include(<a.h>)\n#endif",
        "#/**/line 4",
    ],
)
def test_forbidden_directives(line: str, read: Read) -> None:
    assert places(hits("forbidden-directive", read(f"\n{line}\n" + K))) == [(2, 1)]


@pytest.mark.parametrize("line", ["#include <math.h>", "#if 1\n#endif", "#pragma once", "#"])
def test_allowed_directives(line: str, read: Read) -> None:
    assert not hits("forbidden-directive", read(f"\n{line}\n" + K))


@pytest.mark.parametrize(
    "pragma",
    [
        "GCC optimize(3)",
        'push_macro("x")',
        "weak k",
        "clang fp contract(fast)",
        'GCC target("avx")',
        "STDC x",
    ],
)
def test_unknown_pragmas(pragma: str, read: Read) -> None:
    assert hits("unknown-pragma", read(f"#pragma {pragma}\n" + K))
    escaped = pragma.replace('"', '\\"')
    assert hits("unknown-pragma", read(f'_Pragma("{escaped}")\n' + K))


@pytest.mark.parametrize(
    "pragma", ["unroll", "unroll 4", "nounroll", "once", "nv_diag_suppress 177", "omp parallel for"]
)
def test_known_pragmas(pragma: str, read: Read) -> None:
    assert not hits("unknown-pragma", read(f"#pragma {pragma}\n" + K))


@pytest.mark.parametrize(
    ("line", "fires"),
    [
        ("#define float double", True),
        ("#undef __CUDA_ARCH__", True),
        ("#define __GNUC__ 3", True),
        ("#define threadIdx blockIdx", True),
        ("#define _GNU_SOURCE", False),
        ("#define NDEBUG", False),
        ("#undef __CUDA_NO_HALF_OPERATORS__", False),
        ("#define __STDC_FORMAT_MACROS", False),
        ("#define TILE 4", False),
        ("#define __MY_GUARD_H__", False),
    ],
)
def test_redefined_macros(line: str, fires: bool, read: Read) -> None:
    assert bool(hits("redefined-macro", read(f"{line}\n__global__ void k() {{}}\n"))) == fires


@pytest.mark.parametrize(
    ("template", "rule"),
    [
        ("mov.u32 %0, %%smid;", "environment-probe"),
        ("mov.u64 %0, %%globaltimer;", "clock-read"),
        ("{ .reg .pred q; @q bra DONE; }", "assembly-control-flow"),
        ("trap;", "assembly-control-flow"),
    ],
)
def test_assembly(template: str, rule: str, read: Read) -> None:
    code = f'__global__ void k(unsigned* p) {{\n  unsigned v;\n  asm volatile("{template}" : "=r"(v));\n  *p = v;\n}}\n'
    assert places(hits(rule, read(code))) == [(3, 3)]
    for harmless in ("mov.u32 %0, %%laneid;", "cvta.to.shared.u32 %0, 1;", "mov.u32 %0, %%lanemask_lt;"):
        assert not hits(rule, read(code.replace(template, harmless)))


def test_host_assembly_inside_functions_and_types(read: Read) -> None:
    assert places(hits("host-assembly", read(K + 'void f() { asm("nop"); }\n'))) == [(2, 12)]
    assert hits("host-assembly", read(K + 'struct S { void f() { __asm__("nop"); } };\n'))
    unused = '__device__ void unused() { asm("membar.gl;"); }\n'
    assert not hits("host-assembly", read(K + unused))


@pytest.mark.parametrize(
    "line",
    [
        "__attribute__((constructor)) void f() {}",
        "void __attribute__((used, constructor(101))) f() {}",
        "[[gnu::constructor]] void f() {}",
        '__attribute__((section(".init_array"))) void (*f)() = g;',
    ],
)
def test_constructors(line: str, read: Read) -> None:
    assert hits("host-constructor", read(K + line + "\n"))
    assert not hits(
        "host-constructor", read(K + "struct A { int constructor; };\nvoid f(int constructor) {}\n")
    )


@pytest.mark.parametrize(
    ("line", "fires"),
    [
        ("static int a = f();", True),
        ("auto r = torch::RegisterOperators(x);", True),
        ("int a = [] { return 1; }();", True),
        ("static const int b = 4 * sizeof(int);", False),
        ("constexpr int c = up(4);", False),
        ("__constant__ float w[2] = {1, 2};", False),
        ('const char* name = "f(x)";', False),
    ],
)
def test_dynamic_initializers(line: str, fires: bool, read: Read) -> None:
    assert bool(hits("dynamic-initializer", read(K + line + "\n"))) == fires


def test_warp_synchronous(read: Read) -> None:
    def body(text: str) -> list[Hit]:
        start = (
            "__global__ void k(float* x, int n) { extern __shared__ volatile float s[]; int t = threadIdx.x;"
        )
        kernel = f"{start}\n{text}\n}}"
        return hits("warp-synchronous", read(kernel))

    assert body("s[t] += s[t + 32]; s[t] += s[t + 16];")
    assert body("if (n >= 64) s[t] += s[t + 32];\nif (n >= 32) { s[t] += s[t + 16]; }")
    assert body("s[t] = s[t] + s[t + 8];\ns[t] = s[t] + s[t + 4];")
    assert body("s[t] = fmaxf(s[t], s[t + 8]);\ns[t] = fmaxf(s[t], s[t + 4]);")
    assert not body("s[t] += s[t + 32]; __syncwarp(); s[t] += s[t + 16]; __syncwarp();")
    assert not body("float a[4] = {}; a[0] += a[1]; a[0] += a[2]; x[t] += a[0];")
    assert not body("x[t] += s[t + 1]; x[t] += s[t + 2];")
    assert not body("for (int d = 16; d > 0; d /= 2) { s[t] += s[t + d]; __syncthreads(); }")


def test_features_follow_the_targets(read: Read) -> None:
    code = '__global__ void k(float* p) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(0), "l"(p)); }'
    submission = read(code)
    [hit] = hits("arch-feature", submission, "sm_75", "sm_80")
    assert "sm_75" in hit.message and "sm_80" not in hit.message
    assert not hits("arch-feature", submission, "sm_80", "sm_90")
    wgmma = read('__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }')
    assert not hits("arch-feature", wgmma, "sm_90") and not hits("arch-feature", wgmma, "sm_90a")
    assert hits("arch-feature", wgmma, "sm_100") and hits("arch-feature", wgmma, "sm_80")


def test_architectures() -> None:
    assert [a.shared_optin >> 10 for a in map(ARCHITECTURES.__getitem__, ("sm_75", "sm_80", "sm_90"))] == [
        64,
        163,
        227,
    ]
    assert architecture("sm_90a") is ARCHITECTURES["sm_90"] and architecture("sm_13") is None
    assert all(a.features <= FEATURES for a in ARCHITECTURES.values())
    assert set(default_policy().archs) <= set(ARCHITECTURES)


def contract(block: tuple[str, str, str] = ("256", "1", "1"), shared: str = "0") -> Contract:
    launch = Launch("k", (), ("1", "1", "1"), block, shared, Span("k.cu", 9))
    return Contract("k", (), launch, (), (), (), (), "lifted")


def kernel(shared: int = 0, bounds: tuple[int, ...] = (), restrict: bool = False) -> Module:
    objects = (ObjectDecl("s", Array(F32, shared // 4), "shared", span=Span("k.cu", 3)),) if shared else ()
    pointers = tuple(Param(n, Pointer(F32), restrict and n == "a") for n in "ab")
    return Module((Kernel("k", (), pointers, objects, {}, (), Span("k.cu", 2), bounds),))


def test_shared_memory_limits(read: Read) -> None:
    submission = read(K)
    assert not hits("arch-static-shared", submission, module=kernel(49152))
    [hit] = hits("arch-static-shared", submission, module=kernel(49156))
    assert hit.span.line == 3 and "49156 bytes" in hit.message

    def dynamic(shared: int, static_bytes: int, *archs: str, opted: str = "") -> list[Hit]:
        code = K + opted
        return hits(
            "arch-dynamic-shared",
            read(code),
            *archs,
            module=kernel(static_bytes),
            contracts=[contract(shared=str(shared))],
        )

    opted = "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); }\n"
    assert not dynamic(40000, 0, "sm_80")
    assert dynamic(40000, 16384, "sm_80")
    assert not dynamic(65536, 0, "sm_80", opted=opted)
    [hit] = dynamic(200_000, 0, "sm_80", "sm_90", opted=opted)
    assert "sm_80 has 166912" in hit.message


def test_block_limits(read: Read) -> None:
    def block(x: str, y: str, z: str, bounds: tuple[int, ...] = ()) -> list[Hit]:
        return hits("arch-block-size", read(K), module=kernel(bounds=bounds), contracts=[contract((x, y, z))])

    assert not block("1024", "1", "1") and not block("n", "4096", "1") and not block("4", "4", "64")
    assert block("32", "33", "1") and block("1", "1", "128") and block("512", "1", "1", (256,))
    assert not block("256", "1", "1", (256, 2))


def test_lints_with_ir(read: Read) -> None:
    assert hits("missing-restrict", read(K), module=kernel())
    assert not hits("missing-restrict", read(K), module=kernel(restrict=True))
    large = [contract(("32", "32", "1"))]
    assert hits("missing-launch-bounds", read(K), module=kernel(), contracts=large)
    assert not hits("missing-launch-bounds", read(K), module=kernel(bounds=(1024,)), contracts=large)
    assert not hits("missing-launch-bounds", read(K), module=kernel(), contracts=[contract()])


def context(submission: Submission) -> Any:
    return SimpleNamespace(
        submission=submission, module=Module(()), contracts=(), policy=default_policy(), problem=None
    )


def test_gate(read: Read) -> None:
    good = static.run(context(read(K)))
    assert good.outcome is Outcome.PASS and good.gate == "static" and not good.findings
    bad = static.run(context(read("#ifdef __clang__\n#endif\n" + K + "static int a = f();\n")))
    assert bad.outcome is Outcome.FAIL
    assert [(f.id, f.severity) for f in bad.findings] == [
        ("conditional-on-tool-macro", Severity.ERROR),
        ("dynamic-initializer", Severity.WARNING),
    ]
    first = bad.findings[0]
    assert first.why and first.fix and first.gate == "static" and "conditional-on-tool-macro at" in bad.detail
    only_notes = static.run(context(read(K + "void f(int* p) { k<<<1, 1>>>(p); }\n")))
    assert only_notes.outcome is Outcome.PASS and [f.severity for f in only_notes.findings] == [Severity.NOTE]


def test_every_rule_is_complete() -> None:
    found = rules()
    assert len(found) >= 27 and len({r.id for r in found}) == len(found)
    for rule in found:
        assert rule.summary[0].islower() and not rule.summary.endswith(".")
        assert rule.why.endswith(".") and rule.fix and isinstance(rule.severity, Severity)


def test_many_findings_stay_cheap(read: Read) -> None:
    body = "".join(f"    p[{i}] = clock64() + p[{i} + 1];\n" for i in range(3000))
    begin = time.process_time()
    result = static.run(context(cast(Submission, read(f"__global__ void k(long* p) {{\n{body}}}\n"))))
    assert len([f for f in result.findings if f.id == "clock-read"]) == 3000
    assert time.process_time() - begin < 5
