"""Barriers, fences, and what ends or checks a kernel.

Example: ``__syncthreads()`` -> Barrier("block", site); ``__threadfence()`` -> Fence("device").
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare


def entries() -> Iterator[Intrinsic]:
    yield from declare("synchronization", "barrier", "block", "void __syncthreads()")
    yield from declare("synchronization", "barrier", "warp", "void __syncwarp(unsigned = 0xffffffffu)")
    yield from declare("synchronization", "barrier", "count", "int __syncthreads_count(int)")
    yield from declare("synchronization", "barrier", "and", "int __syncthreads_and(int)")
    yield from declare("synchronization", "barrier", "or", "int __syncthreads_or(int)")
    yield from declare("synchronization", "fence", "block", "void __threadfence_block()")
    yield from declare("synchronization", "fence", "device", "void __threadfence()")
    yield from declare("synchronization", "fence", "system", "void __threadfence_system()")
    yield from declare("synchronization", "trap", "trap", "void __trap(); void __brkpt()")
    yield from declare("synchronization", "assert", "", "void assert(bool)")
    yield from declare(
        "synchronization",
        "trap",
        "assert",
        "void __assert_fail(const char*, const char*, unsigned, const char*)",
    )
    yield from declare(
        "synchronization", "nothing", "", "void __nanosleep(unsigned); int printf(const char*, ...)"
    )
    yield from declare("synchronization", "nothing", "", "void __prof_trigger(int)")
    yield from declare(
        "synchronization", "nothing", "", "void cudaGraphSetConditional(unsigned long long, unsigned)"
    )
    yield from declare(
        "synchronization", "opaque", "",
        "long long clock64(); clock_t clock()",
    )  # fmt: skip
