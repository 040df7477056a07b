"""Cooperative groups: ranks, masks and collectives of every kind of group; the rest is refused by name."""

from __future__ import annotations

import re

import pytest

from tests.frontend.reading import body_of, kernel_of, statements, unsupported_in
from verifier.ir import nodes as n
from verifier.ir.printer import show_body

CG = "namespace cg = cooperative_groups;"
BLOCK = "auto block = cg::this_thread_block(); "
TILE = BLOCK + "auto tile = cg::tiled_partition<8>(block); "


def collectives(code: str, prefix: str = CG) -> list[str]:
    return [s.op for s in statements(kernel_of(code, prefix).body) if isinstance(s, n.WarpOp)]


@pytest.mark.parametrize(
    ("call", "op"),
    [
        ("k = tile.any(k);", "any"),
        ("k = tile.all(k);", "all"),
        ("k = tile.ballot(k);", "ballot"),
        ("k = tile.shfl_xor(k, 1);", "shfl_xor"),
        ("k = cg::reduce(tile, k, cg::plus<int>());", "reduce_add"),
        ("k = cg::reduce(tile, k, cg::bit_xor<int>());", "reduce_xor"),
        ("k = cg::inclusive_scan(tile, k);", "group_inclusive_scan"),
        ("k = cg::labeled_partition(tile, k).size();", "match_any"),
        ("k = cg::binary_partition(tile, k > 2).thread_rank();", "match_any"),
    ],
)
def test_a_small_tile_takes_part_with_its_own_lanes(call: str, op: str) -> None:
    assert collectives(TILE + call) == [op]
    assert "mask (255:u32 << " in body_of(TILE + call, CG)


def test_the_ballot_of_a_tile_starts_at_its_first_lane() -> None:
    assert ">>" in body_of(TILE + "k = tile.ballot(k);", CG)


def test_a_coalesced_group_holds_its_mask() -> None:
    code = "auto g = cg::coalesced_threads(); k = g.size() + g.thread_rank(); g.sync(); k = g.shfl(k, 0);"
    assert collectives(code) == ["activemask", "group_shfl"]
    text = body_of(code, CG)
    assert "barrier warp" in text and "mask g.mask_" in text and "__popc((g.mask_ & " in text


def test_the_rank_in_the_grid_is_64_bits() -> None:
    text = body_of("unsigned long long r = cg::this_grid().thread_rank(); k = r > 5;", CG)
    assert "u64(gridDim.y)" in text and "u64(((blockDim.x * blockDim.y) * blockDim.z))" in text


def test_members_of_a_class_are_exchanged_one_by_one() -> None:
    functor = """struct Pair { float top; int at; };
    struct Best { __device__ Pair operator()(Pair a, Pair b) const { return a.top > b.top ? a : b; } };"""
    code = (
        BLOCK
        + "auto w = cg::tiled_partition<32>(block); Pair p{1.0f, k}; p = cg::reduce(w, p, Best{}); k = p.at;"
    )
    assert collectives(code, CG + functor) == ["group_reduce", "group_reduce"]


def test_lambdas_and_functions_that_only_compute_are_functors() -> None:
    helper = (
        CG
        + """struct P { int s, m; };
        __device__ int larger(int a, int b) { return a > b ? a : b; }
        __device__ P join(P a, P b) { P r; r.m = larger(a.m, b.m); r.s = a.s + b.s; return r; }"""
    )
    code = (
        TILE
        + """k = cg::reduce(tile, k, [](int a, int b) { return a + 2 * b; }); k = cg::reduce(tile, k, larger);
        auto f = [](int a, int b) { return larger(a, b); }; k = cg::reduce(tile, k, f); P p = {k, k};
        p = cg::reduce(tile, p, join); p = cg::reduce(tile, p, &join);"""
    )
    assert unsupported_in(code, helper) == []
    assert collectives(code, helper) == ["group_reduce"] * 7


@pytest.mark.parametrize(
    "functor",
    ["[=](int a, int b) { return a + c * b; }", "[&](int a, int b) { o[0] = a; return b; }", "counting", "&counting",
     "[](int a, int b) { return counting(a, b); }"],
)  # fmt: skip
def test_lambdas_and_functions_that_do_more_are_refused(functor: str) -> None:
    helper = CG + "__device__ int seen; __device__ int counting(int a, int b) { seen += a; return b; }"
    (found,) = unsupported_in(TILE + f"int c = 3; k = cg::reduce(tile, k, {functor});", helper)
    assert found.construct == "cooperative group"


@pytest.mark.parametrize(
    "functor",
    [
        "__device__ int seen[4]; struct F { __device__ int operator()(int a, int b) const { seen[0] = a; return b; } };",
        "struct F { int *p; __device__ int operator()(int a, int b) const { return a; } };",
        "__device__ int f(int *p); struct F { __device__ int operator()(int a, int b) const { return f(&a); } };",
        "struct F { __device__ int operator()(int a, int b) const { __syncthreads(); return b; } };",
    ],
)
def test_a_functor_that_does_more_than_compute_is_refused(functor: str) -> None:
    (found,) = unsupported_in(TILE + "k = cg::reduce(tile, k, F{});", CG + functor)
    assert found.construct == "cooperative group" and "F" in found.detail


@pytest.mark.parametrize(
    "code",
    [
        "auto g = cg::labeled_partition(cg::coalesced_threads(), k * 0.5f);",
        "auto t = cg::tiled_partition<4>(cg::coalesced_threads());",
        "auto t = cg::tiled_partition(cg::this_thread_block(), k);",
        "auto t = cg::tiled_partition(cg::this_thread_block(), 3);",
        "auto t = cg::tiled_partition(cg::tiled_partition(cg::this_thread_block(), 4), 8);",
        "auto t = cg::tiled_partition(cg::this_grid(), 4);",
        "__shared__ int s[4]; cg::memcpy_async(cg::this_thread_block(), s, o, 16);",
        "cg::wait(cg::this_thread_block());",
    ],
)
def test_groups_whose_lanes_are_not_known_are_refused(code: str) -> None:
    assert "cooperative group" in {found.construct for found in unsupported_in(code, CG)}


@pytest.mark.parametrize(
    "code",
    [
        "cg::thread_group g = k ? cg::thread_group(cg::this_grid()) : cg::thread_group(cg::this_thread_block()); g.sync();",
        "struct Held { cg::thread_group g; }; Held h = {cg::this_thread_block()}; h.g.sync();",
        "struct Held { cg::thread_group g; __device__ Held(cg::thread_group x) : g(x) {} }; Held h(cg::this_thread_block()); h.g.sync();",
    ],
)
def test_a_thread_group_of_several_is_refused(code: str) -> None:
    assert unsupported_in(code, CG) and not any(
        isinstance(s, n.Barrier) for s in statements(kernel_of(code, CG).body)
    )


def test_a_thread_group_is_the_group_that_it_was_made_of() -> None:
    helper = (
        CG + "__device__ unsigned long long rank(cg::thread_group g) { g.sync(); return g.thread_rank(); }"
    )
    code = """cg::thread_group b = cg::this_thread_block(); cg::thread_group t = cg::tiled_partition(b, 8);
        cg::thread_group s = cg::tiled_partition(t, 4); const cg::thread_group &again = b; cg::sync(again);
        o[0] = rank(b); o[1] = rank(t); o[2] = t.size(); o[3] = s.num_threads(); s.sync();
        o[4] = rank(cg::tiled_partition<16>(cg::this_thread_block())); auto f = [=]() { b.sync(); }; f();
        { auto c = cg::coalesced_threads(); o[5] = rank(c); cg::thread_group g = c; o[6] = g.size(); cg::sync(g); }"""
    assert unsupported_in(code, helper) == []
    barriers = [s for s in statements(kernel_of(code, helper).body) if isinstance(s, n.Barrier)]
    masks = [re.search(r"(\d+):u32 <<", show_body((s,))) for s in barriers]
    assert [s.kind for s in barriers] == ["block", "block", "warp", "warp", "warp", "block", "warp", "warp"]
    assert [m[1] if m else "" for m in masks] == ["", "", "255", "15", "65535", "", "", ""]


def test_match_all_tells_whether_all_are_equal() -> None:
    code = "int all; unsigned m = __match_all_sync(0xffffffffu, k, &all); o[0] = all + m;"
    assert collectives(code, "") == ["match_all"]
    assert "!= 0:u32" in body_of(code)
