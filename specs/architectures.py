"""What each GPU architecture has: limits of a block and instruction families.

The numbers are those of the CUDA programming guide and the PTX ISA.

Example::

    ARCHITECTURES["sm_90"].shared_optin        # 232448
    "cp.async" in ARCHITECTURES["sm_75"].features    # False
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THREADS_PER_BLOCK = 1024
BLOCK_DIMS = (1024, 1024, 64)
STATIC_SHARED = 48 << 10
"""Bytes of ``__shared__`` that a kernel may declare statically, and use without opting in, everywhere."""
REGISTERS_PER_BLOCK = 65536


@dataclass(frozen=True, slots=True)
class Architecture:
    """``shared_optin``: most bytes of shared memory of a block (cudaFuncAttributeMaxDynamicSharedMemorySize)."""

    name: str
    shared_optin: int
    threads_per_sm: int
    features: frozenset[str]


_SINCE: Mapping[str, int] = {
    "warp-sync intrinsics": 70,
    "half atomics": 70,
    "wmma": 70,
    "mma.sync": 70,
    "ldmatrix": 75,
    "cp.async": 80,
    "mbarrier": 80,
    "bf16 arithmetic": 80,
    "redux.sync": 80,
    "fp8 conversion": 89,
    "stmatrix": 90,
    "TMA": 90,
    "thread block clusters": 90,
    "programmatic dependent launch": 90,
    "fp4 conversion": 100,
}
_ONLY: Mapping[str, frozenset[int]] = {
    "wgmma": frozenset((90,)),
    "setmaxnreg": frozenset((90, 100, 101, 103, 120, 121)),
    "tcgen05": frozenset((100, 101, 103)),
}
FEATURES = frozenset(_SINCE) | frozenset(_ONLY)


def _architecture(number: int, shared_kib: int, threads: int) -> Architecture:
    features = {f for f, since in _SINCE.items() if number >= since}
    features |= {f for f, only in _ONLY.items() if number in only}
    return Architecture(f"sm_{number}", shared_kib << 10, threads, frozenset(features))


ARCHITECTURES: Mapping[str, Architecture] = {
    a.name: a
    for a in (
        _architecture(70, 96, 2048),
        _architecture(72, 96, 2048),
        _architecture(75, 64, 1024),
        _architecture(80, 163, 2048),
        _architecture(86, 99, 1536),
        _architecture(87, 163, 1536),
        _architecture(89, 99, 1536),
        _architecture(90, 227, 2048),
        _architecture(100, 227, 2048),
        _architecture(101, 227, 1536),
        _architecture(103, 227, 2048),
        _architecture(120, 99, 1536),
        _architecture(121, 99, 1536),
    )
}


def architecture(name: str) -> Architecture | None:
    """``sm_90`` and ``sm_90a`` alike; None for an architecture that is not in the table."""
    return ARCHITECTURES.get(name.rstrip("af"))
