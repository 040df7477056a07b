"""Loads and stores with cache hints, prefetches and address conversions.

Invariant: a hint changes no value; ``__ldg`` adds the obligation that the kernel does not write the object.

An asynchronous copy is two accesses of agent ``async`` and part of a group that is waited for.

Example: ``__ldg(&x[i])`` -> Load(t, x[i], readonly=True).
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare


def entries() -> Iterator[Intrinsic]:
    yield from declare("memory", "load", "readonly", "template<class T> T __ldg(const T*)")
    yield from declare(
        "memory",
        "load",
        "plain",
        *(f"template<class T> T __ld{hint}(const T*)" for hint in ("cg", "ca", "cs", "lu")),
    )
    yield from declare("memory", "load", "volatile", "template<class T> T __ldcv(const T*)")
    yield from declare(
        "memory", "store", "",
        *(f"template<class T> void __st{hint}(T*, typename vk::same<T>::type)" for hint in ("wb", "cg", "cs", "wt")),
    )  # fmt: skip
    yield from declare(
        "memory", "address", "",
        "unsigned long __cvta_generic_to_shared(const void*); unsigned long __cvta_generic_to_global(const void*)",
    )  # fmt: skip
    yield from declare(
        "memory", "async-copy", "",
        "void __pipeline_memcpy_async(void*, const void*, unsigned long, unsigned long = 0)",
    )  # fmt: skip
    yield from declare("memory", "copy-group", "commit", "void __pipeline_commit()")
    yield from declare("memory", "copy-group", "wait", "void __pipeline_wait_prior(unsigned long)")
    yield from declare(
        "memory", "unknown", "",
        "void* __cvta_shared_to_generic(unsigned long); unsigned __isShared(const void*);",
        "unsigned __isGlobal(const void*)",
        "void* malloc(unsigned long); void free(void*); void* memcpy(void*, const void*, unsigned long)",
        "void* memset(void*, int, unsigned long)",
    )  # fmt: skip
