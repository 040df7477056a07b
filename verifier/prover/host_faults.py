"""Faults of the host's side of a launch, confirmed by evaluating its clauses with concrete sizes.

Contract x symbol values -> a sentence, or None. This is the replay of a host fault: no device code is involved, and
``specs.clauses`` computes with Python's integers, independently of the prover's terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specs.clauses import INT_TYPES, ClauseError, ClauseUndefined, evaluate, instantiate, wrap
from specs.contract import NULL_STORAGE, ConcreteLaunch, Contract
from specs.results import ThreadAccess, Witness

MAX_THREADS, MAX_BLOCK, SHARED_DEFAULT = 1024, (1024, 1024, 64), 48 * 1024


def overflow(contract: Contract, values: Mapping[str, int]) -> str | None:
    """What wraps in grid, block, shared size or an argument (unsigned 64-bit wrap may be meant and is no fault)."""
    launch = contract.launch
    named = [(f"gridDim.{a}", t) for a, t in zip("xyz", launch.grid, strict=True)]
    named += [(f"blockDim.{a}", t) for a, t in zip("xyz", launch.block, strict=True)]
    named += [("the shared size", launch.shared_bytes)]
    named += [(f"argument {s.param}", s.value) for s in contract.scalars if s.value is not None]
    for name, text in named:
        seen: list[tuple[str, int]] = []
        try:
            evaluate(text, values, lambda type_, exact, seen=seen: seen.append((type_, exact)))  # type: ignore[misc]
        except (ClauseError, ClauseUndefined):
            continue
        for type_, exact in seen:
            bits, signed = INT_TYPES[type_]
            if signed or bits <= 32:
                wrapped = wrap(exact, bits, signed)
                return f"{name} needs {exact:,} on the way, which {_c_name(type_)} wraps to {wrapped:,}"
    return None


def refused(
    contract: Contract,
    values: Mapping[str, int],
    static_shared: int,
    outputs: Sequence[str] = (),
    most: int = 0,
) -> str | None:
    """Why the device refuses this launch; an empty grid for ``outputs`` that are all empty is no fault.

    ``most``: the threads that the kernel's ``__launch_bounds__`` allow, 0 if it has none.
    """
    try:
        launch = instantiate(contract, values)
    except (ClauseError, ClauseUndefined):
        return None
    x, y, z = launch.block
    if x * y * z > MAX_THREADS:
        return f"a block of {x} x {y} x {z} = {x * y * z} threads; the limit is {MAX_THREADS}"
    if any(b > m for b, m in zip(launch.block, MAX_BLOCK, strict=True)) or min(launch.block) < 1:
        return f"a block of {x} x {y} x {z} threads is out of range by axis (1024 x 1024 x 64)"
    if most and x * y * z > most:
        return (
            f"a block of {x} x {y} x {z} = {x * y * z} threads; the kernel's __launch_bounds__ allow {most}"
        )
    lengths = {b.param: b.numel for b in launch.buffers}
    moot = bool(outputs) and all(lengths.get(name, 1) == 0 for name in outputs)
    if min(launch.grid) < 1 and not moot:
        return f"a grid of {' x '.join(map(str, launch.grid))} blocks is empty or negative"
    shared = launch.shared_bytes + static_shared
    if shared > SHARED_DEFAULT:
        return f"{shared:,} bytes of shared memory a block; {SHARED_DEFAULT:,} without opting in"
    return None


def witness(contract: Contract, values: Mapping[str, int], what: str, problem: bool) -> Witness | None:
    """A witness of a host fault; ``replayed`` because the evaluation above is its replay."""
    try:
        launch: ConcreteLaunch = instantiate(contract, values)
    except (ClauseError, ClauseUndefined):
        return None
    return Witness(
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        symbols=dict(values),
        scalars=dict(launch.scalars),
        buffers={b.param: b.numel for b in launch.buffers},
        threads=(ThreadAccess((0, 0, 0), (0, 0, 0), what, contract.launch.span),),
        replayed=True,
        replayed_by="evaluating the host's expressions",
        domain="problem" if problem else "general",
    )


def empty_input(contract: Contract, values: Mapping[str, int]) -> bool:
    """Whether a tensor that the caller passes is empty: such launches belong to the edge domain, where nothing fails."""
    for buffer in contract.buffers:
        if not buffer.fresh and buffer.storage != NULL_STORAGE:
            try:
                if evaluate(buffer.extent, values) <= 0:
                    return True
            except (ClauseError, ClauseUndefined):
                continue
    return False


def first(
    contract: Contract,
    assignments: Iterable[Mapping[str, int]],
    property_: str,
    static_shared: int,
    outputs: Sequence[str] = (),
    most: int = 0,
) -> tuple[str, Mapping[str, int]] | None:
    """The first assignment at which the host's side fails, with what is wrong."""
    for values in assignments:
        if empty_input(contract, values):
            continue
        told = (
            overflow(contract, values)
            if property_ == "overflow"
            else refused(contract, values, static_shared, outputs, most)
        )
        if told is not None:
            return told, values
    return None


def _c_name(type_: str) -> str:
    names = {"8": "char", "16": "short", "32": "int", "64": "long long"}
    return ("" if type_[0] == "i" else "unsigned ") + names[type_[1:]]
