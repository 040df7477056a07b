"""Warp collectives: shuffles, votes, reductions, matches.

Invariant: a collective is participation of the lanes in its mask and a value; it orders no memory. IR arguments:
``shfl``, ``shfl_up``, ``shfl_down``, ``shfl_xor``: (value, lane or delta or lane mask, width: i32) with the second as
C declares it (i32 for shfl and shfl_xor, u32 for up and down); ``ballot``, ``any``, ``all``: (predicate: bool);
``match_any``, ``match_all``, ``reduce_*``: (value). Results: value type; ballot u32; any, all i32; match_any u32; activemask u32.

Example: ``__shfl_down_sync(m, v, 16)`` -> WarpOp("shfl_down", t, m, (v, 16:u32, 32), f32, site).
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

_VALUES = ["int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "float", "double",
           "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"]  # fmt: skip


def entries() -> Iterator[Intrinsic]:
    for name, op, lane in (
        ("__shfl_sync", "shfl", "int"),
        ("__shfl_up_sync", "shfl_up", "unsigned"),
        ("__shfl_down_sync", "shfl_down", "unsigned"),
        ("__shfl_xor_sync", "shfl_xor", "int"),
    ):
        yield from declare(
            "warp", "warp", op, *(f"{t} {name}(unsigned, {t}, {lane}, int = 32)" for t in _VALUES)
        )
    yield from declare("warp", "warp", "ballot", "unsigned __ballot_sync(unsigned, int)")
    yield from declare("warp", "warp", "any", "int __any_sync(unsigned, int)")
    yield from declare("warp", "warp", "all", "int __all_sync(unsigned, int)")
    yield from declare("warp", "warp", "uni", "int __uni_sync(unsigned, int)")
    yield from declare("warp", "warp", "activemask", "unsigned __activemask()")
    yield from declare(
        "warp", "warp", "match_any", *(f"unsigned __match_any_sync(unsigned, {t})" for t in _VALUES[:8])
    )
    yield from declare(
        "warp", "warp", "match_all", *(f"unsigned __match_all_sync(unsigned, {t}, int*)" for t in _VALUES[:8])
    )
    for op in ("add", "min", "max"):
        yield from declare(
            "warp", "warp", f"reduce_{op}",
            f"int __reduce_{op}_sync(unsigned, int); unsigned __reduce_{op}_sync(unsigned, unsigned)",
        )  # fmt: skip
    for op in ("and", "or", "xor"):
        yield from declare("warp", "warp", f"reduce_{op}", f"unsigned __reduce_{op}_sync(unsigned, unsigned)")
    yield from declare(
        "warp", "unknown", "",
        "unsigned __ballot(int); int __any(int); int __all(int)",
        *(f"{t} {n}({t}, {lane}, int = 32)" for t in _VALUES[:8]
          for n, lane in (("__shfl", "int"), ("__shfl_up", "unsigned"), ("__shfl_down", "unsigned"),
                          ("__shfl_xor", "int"))),
    )  # fmt: skip
