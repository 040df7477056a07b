"""Textures, surfaces and random numbers: what a call touches, and that nothing is known of what it gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from specs.contract import Buffer, Clause, Contract, Launch
from tests.frontend.reading import read, statements
from verifier.checks import find
from verifier.frontend.device_random import RANDOM_FUNCTIONS
from verifier.frontend.device_shim import shim_text
from verifier.frontend.device_textures import TEXTURE_FUNCTIONS
from verifier.ir import nodes as n
from verifier.symex.claims import Claims, Obligation
from verifier.symex.execute import summarize
from verifier.symex.summary import Summary

TEXTURE = "cudaTextureObject_t t"
SIZES = {
    "curandState": (48, 8),
    "curandStateXORWOW_t": (48, 8),
    "curandStatePhilox4_32_10_t": (64, 16),
    "curandStateMRG32k3a": (48, 8),
    "curandStateSobol32": (140, 4),
    "curandStateScrambledSobol32": (140, 4),
    "curandStateSobol64": (536, 8),
    "curandStateScrambledSobol64": (536, 8),
}
"""As cuRAND's headers have them."""


def summary(kernel: str, *no_alias: str) -> Summary:
    module = read(kernel)
    assert module.diagnostics == () and not [
        s for s in statements(module.kernels[0].body) if isinstance(s, n.Unsupported)
    ]
    pointers = [p for p in module.kernels[0].params if isinstance(p.type, n.Pointer)]
    buffers = tuple(Buffer(p.name, "f32", "1024", ("1024",), fresh=True, storage=p.name) for p in pointers)
    launch = Launch(module.kernels[0].name, (), ("4", "1", "1"), ("256", "1", "1"))
    clauses = tuple(Clause(text, "stated", accepted=True) for text in no_alias)
    contract = Contract(module.kernels[0].name, (), launch, (), buffers, (), (), "stated", no_alias=clauses)
    return summarize(module.kernels[0], contract, cap=1 << 20)


def obligations(made: Summary, property_: str) -> list[Obligation]:
    out: list[Obligation] = []
    for item in find()[property_].claims(Claims(made)):
        out += item if isinstance(item, tuple) else [item]
    return out


def notes(made: Summary, property_: str) -> list[str]:
    return [o.note for o in obligations(made, property_) if o.note]


def test_a_fetch_is_a_read_of_memory_that_the_launch_may_write() -> None:
    kernel = (
        f"__global__ void k({TEXTURE}, float *y) {{ y[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }}"
    )
    made = summary(kernel)
    assert [(a.kind, a.obj.name, a.obj.space) for a in made.accesses] == [
        ("read", "t", "texture"),
        ("write", "y", "global"),
    ]
    assert made.gaps == [] and made.approximations == []
    assert notes(made, "race-global") == ["disjoint(t, y)"]
    assert notes(summary(kernel, "disjoint(t, y)"), "race-global") == []
    assert notes(summary(kernel, "disjoint(u, y)"), "race-global") == ["disjoint(t, y)"]
    assert len(obligations(made, "bounds-global")) == 1  # that of y


def test_a_handle_that_is_no_parameter_has_no_clause() -> None:
    made = summary(
        "__global__ void k(cudaTextureObject_t *all, float *y) { y[0] = tex2D<float>(all[0], 0.5f, 0.5f); }",
        "disjoint(texture object, y)",
        "disjoint(all, y)",
    )
    assert notes(made, "race-global") == ["disjoint(texture object, y)"]
    assert [a.obj.name for a in made.accesses if a.obj.space == "texture"] == ["texture object"]


def test_two_fetches_are_two_unknowns_of_the_thread() -> None:
    made = summary(
        f"__global__ void k({TEXTURE}, int *y) {{ y[0] = tex1Dfetch<int>(t, 0); y[1] = tex1Dfetch<int>(t, 0); }}"
    )
    first, second = (a.value for a in made.accesses if a.kind == "write")
    assert first is not None and second is not None and first is not second
    assert first.level == second.level == 2


def test_surfaces_are_undecided_by_name() -> None:
    kernel = """__global__ void k(cudaSurfaceObject_t s, cudaTextureObject_t t, float *y) {
        surf2Dwrite(tex2D<float>(t, 0.5f, 0.5f), s, threadIdx.x * 4, 0); y[blockIdx.x * 256 + threadIdx.x] = 1.0f; }"""
    made = summary(kernel, "disjoint(t, y)")
    assert made.gaps == []
    for property_, count in (("bounds-global", 1), ("alignment", 1), ("race-global", 2)):
        found = notes(made, property_)
        assert len(found) == count and all(re.match("unsupported: .*surface s", f) for f in found), found


@pytest.mark.parametrize("kind", ["texture", "surface"])
def test_references_are_refused(kind: str) -> None:
    """The language has them no more."""
    call = "y[0] = tex2D(r, 0.5f, 0.5f)" if kind == "texture" else "surf2Dwrite(1.0f, r, 0, 0)"
    module = read(f"{kind}<float, 2> r; __global__ void k(float *y) {{ {call}; }}")
    assert module.kernels == () and [d.severity for d in module.diagnostics] == ["error"]
    module = read(f"__device__ {kind}<float, 2> r; __global__ void k(float *y) {{ {call}; }}")
    found = [s for s in statements(module.kernels[0].body) if isinstance(s, n.Unsupported)]
    assert [s.construct for s in found] == [f"{kind} reference"]


def test_every_texture_function_is_read() -> None:
    calls = [
        f"float f{i} = {name}<float>(t{', ' + rest if rest else ''});"
        for i, (name, rest) in enumerate(declared("VK_TEXTURE"))
    ]
    calls += [
        f"float s{i} = {name}read<float>(s, {rest});" for i, (name, rest) in enumerate(declared("VK_SURFACE"))
    ]
    calls += [f"{name}write(1.0f, s, {rest});" for name, rest in declared("VK_SURFACE")]
    module = read(
        f"__global__ void k({TEXTURE}, cudaSurfaceObject_t s) {{ float2 a = {{}}; float4 b = {{}}; {' '.join(calls)} }}"
    )
    assert module.diagnostics == () and module.notes == ()
    assert not [s for s in statements(module.kernels[0].body) if isinstance(s, n.Unsupported)]
    assert {re.match(r"[^;]*?(\w+)(<float>)?\(", c)[1] for c in calls} == TEXTURE_FUNCTIONS  # type: ignore[index]


def declared(macro: str) -> Iterable[tuple[str, str]]:
    """(name, arguments) of each declaration that a macro of the shim makes."""
    values = {"int": "0", "float": "0.5f", "float2": "a", "float4": "b", "int = 0": "0"}
    for name, types in re.findall(rf"^{macro}\((\w+), (.*)\)$", shim_text(), re.M):
        yield name, ", ".join(values[t.strip()] for t in types.split(","))


@pytest.mark.parametrize("state", SIZES)
def test_states_are_as_large_as_the_librarys(state: str) -> None:
    module = read(
        f"__global__ void k(int *o) {{ __shared__ {state} s; o[0] = sizeof(s); o[1] = alignof({state}); }}"
    )
    (decl,) = (o for o in module.kernels[0].objects if o.space == "shared")
    assert isinstance(decl.type, n.Struct) and (decl.type.size, decl.type.align) == SIZES[state]


def test_random_calls_read_and_write_the_whole_state() -> None:
    made = summary(
        """__global__ void k(float *y) { __shared__ curandState s[4]; curand_init(1, 2, 3, &s[0]);
        y[0] = curand_uniform(&s[1]); unsigned u = curand(&s[2]); y[u & 1] = 0; }"""
    )
    shared = [(a.kind, a.size, made.t.poly(a.offset)) for a in made.accesses if a.obj.space == "shared"]
    assert [(kind, size) for kind, size, _ in shared] == [
        ("write", 48), ("read", 48), ("write", 48), ("read", 48), ("write", 48),
    ]  # fmt: skip
    assert made.gaps == [] and made.approximations == []


def test_every_random_function_is_read() -> None:
    text = re.sub(r"\\\n", " ", shim_text())
    named = set(re.findall(r"\b(curand\w*|skipahead\w*)\(", text)) - {"curand_state"}
    assert named == RANDOM_FUNCTIONS
    calls = """
        curandStateXORWOW a; curandStatePhilox4_32_10_t p; curandStateMRG32k3a m; curandStateSobol32 q;
        curandStateScrambledSobol32 r; curand_init(1, 2, 3, &a); curand_init(1, 2, 3, &p); curand_init(1, 2, 3, &m);
        curand_init(d[0], 1, &q); curand_init(d[0], 7, 1, &r); skipahead(3, &a); skipahead_sequence(3, &p);
        skipahead_subsequence(3, &m); uint4 u = curand4(&p); u = curand_poisson4(&p, 1.0); float4 f = curand_uniform4(&p);
        f = curand_normal4(&p); f = curand_log_normal4(&p, 0.0f, 1.0f); double2 e = curand_uniform2_double(&p);
        e = curand_normal2_double(&a); e = curand_log_normal2_double(&a, 0.0, 1.0); double4 g = curand_uniform4_double(&p);
        g = curand_normal4_double(&p); g = curand_log_normal4_double(&p, 0.0, 1.0); float2 h = curand_normal2(&m);
        h = curand_log_normal2(&m, 0.0f, 1.0f); o[0] = curand(&q) + curand_poisson(&r, 2.0) + u.x;
        y[0] = curand_uniform(&r) + curand_normal(&q) + curand_log_normal(&a, 0.0f, 1.0f) + f.x + h.x;
        y[1] = curand_uniform_double(&r) + curand_normal_double(&q) + curand_log_normal_double(&a, 0.0, 1.0) + e.x + g.x;"""
    module = read(f"__global__ void k(curandDirectionVectors32_t *d, unsigned *o, float *y) {{ {calls} }}")
    assert module.diagnostics == () and module.notes == ()
    assert not [s for s in statements(module.kernels[0].body) if isinstance(s, n.Unsupported)]
    assert named - set(re.findall(r"\b(curand\w*|skipahead\w*)\(", calls)) == set()
