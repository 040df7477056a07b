"""Several launches of one launcher as one: contracts and kernels -> Chain, which the fuzzer treats like a kernel.

Buffers of one storage id are the same memory, so the chain has a parameter for each storage that comes from outside or
is left behind; what one launch writes and only later launches read stays inside. Invariant: a chain is made only where
data flow from launch to launch links all of them; nothing is said about launches that do not meet.

Example::

    chain = link(contracts, kernels)      # partial sums, then their total
    chain.kernel.params                   # x, total  (``partial`` is inside)
    with ChainExecutor(chain, make) as executor: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuzz import dtypes
from fuzz.binding import filled
from fuzz.executor import Executor, Order, Ran
from fuzz.pointers import loaded, written
from specs import clauses
from specs.contract import Buffer, ConcreteBuffer, ConcreteLaunch, Contract
from specs.location import Span
from verifier.ir import nodes as ir

MakeExecutor = Callable[[ir.Kernel, str], Executor]


@dataclass(frozen=True, slots=True)
class Stage:
    """One launch. ``storages``: pointer parameter -> its memory's name in the chain. ``floats``: likewise for scalars."""

    kernel: ir.Kernel
    contract: Contract
    storages: dict[str, str]
    floats: dict[str, str]


@dataclass(frozen=True, slots=True)
class Chain:
    """``kernel`` and ``contract`` describe the whole from outside: what it reads and leaves behind."""

    kernel: ir.Kernel
    contract: Contract
    stages: tuple[Stage, ...]


def link(contracts: Sequence[Contract], kernels: Sequence[ir.Kernel]) -> Chain | None:
    """The chain of these launches in their order, or None when they are not one."""
    pairs = sorted(zip(contracts, kernels, strict=True), key=lambda pair: pair[0].launch.order)
    launches = {c.launch.order for c in contracts}
    if len(pairs) < 2 or len({c.launch.launcher for c in contracts}) > 1 or len(launches) < len(pairs):
        return None
    names = _names([c for c, _ in pairs])
    stages = tuple(_stage(kernel, contract, names) for contract, kernel in pairs)
    reads, writes = _uses(stages)
    if not _linked(stages, reads, writes):
        return None
    inside = {s for s in names.values() if _inside(s, stages, reads, writes)}
    return Chain(_kernel(stages, inside, reads, writes), _contract(stages, inside), stages)


def _names(contracts: Sequence[Contract]) -> dict[str, str]:
    """Storage id -> the parameter's name where only that storage has it, else the storage's own."""
    params: dict[str, set[str]] = {}
    owners: dict[str, str] = {}
    for contract in contracts:
        for buffer in contract.buffers:
            key = _key(contract, buffer.param, buffer.storage)
            params.setdefault(buffer.param, set()).add(key)
            owners.setdefault(key, buffer.param)
    names: dict[str, str] = {}
    for key, param in owners.items():
        name = param if len(params[param]) == 1 else "".join(c if c.isalnum() else "_" for c in key)
        while name in names.values():
            name += "_"
        names[key] = name
    return names


def _key(contract: Contract, param: str, storage: str) -> str:
    return storage or f"{param}_{contract.launch.order}"


def _stage(kernel: ir.Kernel, contract: Contract, names: Mapping[str, str]) -> Stage:
    storages = {b.param: names[_key(contract, b.param, b.storage)] for b in contract.buffers}
    floats = {p.name: p.name for p in kernel.params if isinstance(p.type, ir.Float)}
    return Stage(kernel, contract, storages, floats)


def _uses(stages: Sequence[Stage]) -> tuple[list[set[str]], list[set[str]]]:
    """Storages that each stage reads and writes."""
    reads = [{s.storages[p] for p in loaded(s.kernel) if p in s.storages} for s in stages]
    writes = [{s.storages[p] for p in written(s.kernel) if p in s.storages} for s in stages]
    return reads, writes


def _linked(stages: Sequence[Stage], reads: list[set[str]], writes: list[set[str]]) -> bool:
    """Whether every stage but the first reads what an earlier one wrote, and every one but the last is read later."""
    last = len(stages) - 1
    taken = [any(reads[j] & writes[i] for i in range(j)) for j in range(len(stages))]
    given = [any(reads[j] & writes[i] for j in range(i + 1, last + 1)) for i in range(len(stages))]
    return all(t or g for t, g in zip(taken, given, strict=True)) and taken[last]


def _inside(storage: str, stages: Sequence[Stage], reads: list[set[str]], writes: list[set[str]]) -> bool:
    """Fresh memory that is read after its last write, and is not what the launcher returns."""
    buffers = [b for s in stages for b in s.contract.buffers if s.storages[b.param] == storage]
    result = any(s.contract.result and s.storages.get(s.contract.result) == storage for s in stages)
    stores = [i for i, w in enumerate(writes) if storage in w]
    uses = [i for i, r in enumerate(reads) if storage in r]
    return (
        not result
        and all(b.fresh for b in buffers)
        and bool(stores)
        and bool(uses)
        and max(uses) > max(stores)
    )


def _kernel(
    stages: Sequence[Stage], inside: set[str], reads: list[set[str]], writes: list[set[str]]
) -> ir.Kernel:
    """A kernel in name only: its parameters, and one load or store for each use from outside."""
    params: dict[str, ir.Param] = {}
    body: list[ir.Stmt] = []
    seen: set[str] = set()
    for i, stage in enumerate(stages):
        for param in stage.kernel.params:
            name = stage.storages.get(param.name, param.name)
            if isinstance(param.type, ir.Pointer):
                if name in inside or param.name not in stage.storages:
                    continue
                params.setdefault(name, replace(param, name=name))
                place = ir.Deref(ir.Read(name, param.type), param.type.elem)
                if name in reads[i] and name not in seen:
                    body.append(ir.Load(f"load.{name}", place))
                if name in writes[i]:
                    body.append(ir.Store(place, ir.Undef(param.type.elem)))
                    seen.add(name)
            elif isinstance(param.type, ir.Float):
                params.setdefault(name, param)
    names = " + ".join(dict.fromkeys(s.kernel.name for s in stages))
    last = stages[-1].kernel
    types = {p.name: p.type for p in params.values()}
    return ir.Kernel(names, (), tuple(params.values()), (), types, tuple(body), last.span)


def _contract(stages: Sequence[Stage], inside: set[str]) -> Contract:
    last = stages[-1].contract
    buffers: dict[str, Buffer] = {}
    for stage in stages:
        for buffer in stage.contract.buffers:
            name = stage.storages[buffer.param]
            if name not in inside:
                buffers.setdefault(name, replace(buffer, param=name))
    result = next((s.storages[s.contract.result] for s in stages if s.contract.result in s.storages), "")
    contracts = [s.contract for s in stages]
    scalars = {s.param: s for c in contracts for s in c.scalars}
    return replace(
        last,
        kernel=" + ".join(dict.fromkeys(c.kernel for c in contracts)),
        instantiation=(),
        symbols=tuple({s.name: s for c in contracts for s in c.symbols}.values()),
        buffers=tuple(buffers.values()),
        scalars=tuple(scalars.values()),
        requires=tuple(dict.fromkeys(r for c in contracts for r in c.requires)),
        gaps=tuple(dict.fromkeys(g for c in contracts for g in c.gaps)),
        origin="drafted" if any(c.origin == "drafted" for c in contracts) else last.origin,
        result=result,
    )


class ChainExecutor:
    """Runs the stages in order on one set of memories."""

    def __init__(self, chain: Chain, make: MakeExecutor, opt: str) -> None:
        self._chain = chain
        self._executors = [make(s.kernel, opt) for s in chain.stages]

    def __enter__(self) -> ChainExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for executor in self._executors:
            close = getattr(executor, "close", None)
            if close is not None:
                close()

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: Order, keep: bool = False
    ) -> Ran:
        memory = dict(inputs)
        stored: set[str] = set()
        blocks: set[int] = set()
        for number, (stage, executor) in enumerate(zip(self._chain.stages, self._executors, strict=True)):
            own = clauses.instantiate(stage.contract, launch.symbols)
            given = {p: launch.scalars[n] for p, n in stage.floats.items() if n in launch.scalars}
            own = replace(own, scalars={**own.scalars, **given})
            data: dict[str, bytes] = {}
            for buffer in own.buffers:
                name = stage.storages[buffer.param]
                if filled(stage.contract, buffer.param) and (name not in memory or name in stored):
                    memory[name] = _fill(buffer)  # made, or filled again, by the launcher; never an input
                elif name not in memory:
                    if buffer.initialized:
                        return Ran(
                            refusal=f"the contents of {buffer.param} of {stage.kernel.name} are not known"
                        )
                    memory[name] = dtypes.poison(buffer.dtype, buffer.numel)
                data[buffer.param] = memory[name]
                if len(memory[name]) != buffer.numel * dtypes.size(buffer.dtype):
                    return Ran(refusal=f"{buffer.param} of {stage.kernel.name} has another size than before")
            ran = executor.execute(own, data, order, keep)
            if ran.seen or ran.refusal:
                return Ran({}, ran.seen, ran.refusal)
            blocks |= {_of_stage(number, block) for block in ran.blocks}
            after = {stage.storages[p]: raw for p, raw in ran.outputs.items() if p in stage.storages}
            stored |= {name for name, raw in after.items() if memory[name] != raw}
            memory.update(after)
        return Ran({name: memory[name] for name in inputs}, blocks=frozenset(blocks))

    def blocks(self) -> dict[int, Span]:
        """Every basic block of every stage, where the programs tell them."""
        found: dict[int, Span] = {}
        for number, executor in enumerate(self._executors):
            if (tell := getattr(executor, "blocks", None)) is not None:
                found |= {_of_stage(number, block): span for block, span in tell().items()}
        return found


def _of_stage(number: int, block: int) -> int:
    """Each stage is a program of its own, with its own addresses."""
    return number << 48 | block


def _fill(buffer: ConcreteBuffer) -> bytes:
    assert buffer.low is not None
    return dtypes.encode(np.full(buffer.numel, float(buffer.low)), buffer.dtype)
