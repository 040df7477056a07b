"""Inline assembly and warp matrix functions: addresses, sizes, participation; everything else is refused by name."""

from __future__ import annotations

import pytest

from tests.frontend.reading import body_of, kernel_of, statements, unsupported_in
from verifier.ir import nodes as n


def accesses(code: str) -> list[tuple[str, int, str]]:
    """(load or store, bytes, agent) of every access."""
    return [
        ("load" if isinstance(s, n.Load) else "store", n.size_of(s.place.type), s.agent)
        for s in statements(kernel_of(code).body)
        if isinstance(s, n.Load | n.Store)
    ]


SHARED = "__shared__ __align__(16) unsigned s[256]; unsigned a = (unsigned)__cvta_generic_to_shared(s); "


@pytest.mark.parametrize(
    ("asm", "expected"),
    [
        ('asm("ld.global.nc.L1::no_allocate.v4.s32 {%0, %0, %0, %0}, [%1];" : "=r"(k) : "l"(o));', [("load", 16, "thread")]),
        ('asm("ld.global.cs.b32 %0, [%1 + 8];" : "=r"(k) : "l"(o));', [("load", 4, "thread")]),
        ('asm("st.global.wt.u32 [%0], %1;" :: "l"(o), "r"(k));', [("store", 4, "thread")]),
        ('asm("st.shared.v2.b32 [%0], {%1, %1};" :: "r"(a), "r"(k));', [("store", 8, "thread")]),
        ('asm("ld.volatile.shared.u32 %0, [%1];" : "=r"(k) : "r"(a));', [("load", 4, "thread")]),
        ('asm("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(a), "l"(o));', [("load", 8, "async"), ("store", 8, "async")]),
        (
            'asm("cp.async.cg.shared::cta.global.L2::256B [%0], [%1], 16, %2;" :: "r"(a), "l"(o), "r"(k));',
            [("load", 16, "async"), ("store", 16, "async")],
        ),
        ('asm("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %0, %0, %0}, [%1];" : "=r"(k) : "r"(a));', [("load", 16, "warp")]),
        ('asm("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %1};" :: "r"(a), "r"(k));', [("store", 16, "warp")]),
        ('asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1}, {%1}, {%0};" : "+r"(k) : "r"(a));', []),
        ('asm("cvta.to.shared.u64 %%rd, %1; cvt.u32.u64 %0, %%rd;" : "=r"(k) : "l"(s));', []),
    ],
)  # fmt: skip
def test_memory_instructions(asm: str, expected: list[tuple[str, int, str]]) -> None:
    assert accesses(SHARED + asm) == expected


@pytest.mark.parametrize("count", [1, 2, 4])
def test_all_lanes_meet_for_a_matrix_and_some_of_them_read(count: int) -> None:
    registers = ", ".join(["%0"] * count)
    text = body_of(
        f'{SHARED} asm("ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{registers}}}, [%1];" : "=r"(k) : "r"(a));'
    )
    assert "warp ldmatrix" in text and "mask 4294967295" in text
    assert (f"% 32:u32) < {8 * count}:u32" in text) == (count < 4)


def test_a_copy_without_bytes_reads_nothing() -> None:
    text = body_of(SHARED + 'asm("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(a), "l"(o), "r"(k));')
    guard, load, store = text.index("!= 0"), text.index("load by async"), text.index("store by async")
    assert guard < load < store


def test_predicates_guard_what_they_guard() -> None:
    text = body_of(
        'asm("{ .reg .pred p; setp.eq.s32 p, %2, 0; @!p ld.global.s32 %0, [%1]; }" : "+r"(k) : "l"(o), "r"(k));'
    )
    assert "if (" in text and text.index("if (") < text.index("load")
    assert unsupported_in('asm("@q ld.global.s32 %0, [%1];" : "=r"(k) : "l"(o));')


def test_a_result_that_is_changed_again_is_any_value() -> None:
    text = body_of('asm("ld.global.s32 %0, [%1]; add.s32 %0, %0, 1;" : "=r"(k) : "l"(o)); o[1] = k;')
    assert text.index("load") < text.index("undef:i32 <inline assembly>") < text.index("store")


def test_register_arithmetic_of_floats_is_a_function_of_its_inputs() -> None:
    code = 'float y, z; asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(3.0f)); o[0] = (int)y;'
    assert "asm 0: ex2.approx.f32 %0, %1(3.0:f32)" in body_of(code)
    assert "undef" in body_of('float y; asm("mov.f32 %0, %%clock;" : "=f"(y)); o[0] = (int)y;')


def test_special_registers_have_their_meaning() -> None:
    assert "k = i32(" in body_of('asm("mov.u32 %0, %%laneid;" : "=r"(k));')
    assert "threadIdx.y" in body_of('unsigned v; asm("mov.u32 %0, %%tid.y;" : "=r"(v)); k = v;')


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.bulk.shared.global [%1], [%1], 16, [%1];",
        "red.global.add.u32 [%1], 1;",
        "bar.sync %0;",
        "bar.warp.sync 1;",
        "wgmma.fence.sync.aligned;",
        "ld.acquire.gpu.global.u32 %0, [%1];",
        "mov.u64 t, %1; ld.global.u32 %0, [t];",
        "bra L;",
        "cp.async.ca.shared.global [%1], [%1], 12;",
        "not an instruction",
    ],
)
def test_the_rest_is_refused_by_name(text: str) -> None:
    (found,) = unsupported_in(f'asm volatile("{text}" : "=r"(k) : "l"(o));')
    assert found.construct == "inline assembly"


WMMA = """
namespace { using namespace nvcuda; }
using namespace nvcuda;
"""


def test_a_matrix_load_reads_any_line_and_needs_the_warp() -> None:
    code = """wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> f;
    __shared__ __half s[16 * 24]; wmma::load_matrix_sync(f, s, 24);"""
    text = body_of(code, WMMA)
    assert "warp wmma" in text and "< 16:u32" in text and "*line32*" in text
    wide = """wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::row_major> f;
    __shared__ __half s[16 * 8]; wmma::load_matrix_sync(f, s, 8);"""
    assert "*line16*" in body_of(wide, WMMA)


def test_a_matrix_store_is_some_lane_s() -> None:
    code = """wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; wmma::fill_fragment(f, 0.0f);
    __shared__ float s[16 * 16]; wmma::store_matrix_sync(s, f, 16, wmma::mem_col_major);"""
    text = body_of(code, WMMA)
    assert "store by warp *line64*" in text
    assert unsupported_in(code.replace("wmma::mem_col_major", "(wmma::layout_t)k"), WMMA)
