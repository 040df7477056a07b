"""The printer: every node has a form, and the form shows what C hides."""

from __future__ import annotations

from tests.ir.samples import KERNEL, MODULE
from verifier.ir import nodes as n
from verifier.ir.printer import show_expr, show_kernel, show_module, show_type


def test_the_sample_prints_every_statement() -> None:
    text = show_kernel(KERNEL)
    assert text.splitlines()[:7] == [
        "kernel k<float, 16>(f32* restrict x)",
        "  launch_bounds 256, 2",
        "  object local f32[4] a align 16",
        "  object local float4 v",
        "  object shared dynamic f32[] s",
        "  object constant i32[2] t = [1, -2]",
        "  object device i32 n",
    ]
    for line in (
        "  i = i32(threadIdx.x)",
        "  c = (((i < 4) && !false) || true)",
        "  f = load x[i64(i)]",
        "  {f:.y, g:.z} = load volatile readonly *const float4*(x)",
        "  store a[i64(i)] = expf(f)",
        "  store volatile *float4*(x) = {.x=f}",
        "  i = atomic cas.block n (0, i)",
        "  barrier warp @3:1 mask 4294967295:u32",
        "  f = warp shfl_down @3:3 mask 4294967295:u32 (f, j, 32)",
        "  k = (&a[i64(i)] -< x)",
        "  unsupported 'goto' 'goto end' at k.cu:3:7",
        "  leave kernel",
    ):
        assert line in text.splitlines()


def test_module_parts() -> None:
    text = show_module(MODULE)
    for line in ("error k.cu:3:7: no", "template generic at k.cu:3:7", "note a note", "kernel v(void* p)"):
        assert line in text.splitlines()


def test_nested_arrays_read_as_in_c() -> None:
    assert show_type(n.Array(n.Array(n.F32, 5), 4)) == "f32[4][5]"


def test_constants_show_their_type() -> None:
    assert [show_expr(n.IntConst(1, t)) for t in (n.I32, n.U64)] == ["1", "1:u64"]
