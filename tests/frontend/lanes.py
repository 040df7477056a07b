"""The evaluator of ``interpreter`` for all threads of one block, which meet at barriers and warp operations.

Input -> output: ``run_block(kernel, arguments, threads)`` changes the buffers. Full masks only; what a warp operation
with another name exchanges is not known here.
"""

from __future__ import annotations

import struct
import threading
from typing import Any

from tests.frontend.interpreter import Machine, Ptr, wrap
from verifier.ir import nodes as n


class Meeting:
    """Threads that wait for each other and see what each of them brought."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count)
        self.brought: dict[int, Any] = {}

    def meet(self, who: int, what: Any) -> dict[int, Any]:
        self.brought[who] = what
        self.barrier.wait(20)
        seen = dict(self.brought)
        self.barrier.wait(20)
        return seen


class Thread(Machine):
    def __init__(self, kernel: n.Kernel, arguments: dict[str, Any], number: int, threads: int) -> None:
        builtins = {
            f"{name}.{axis}": 1 if "Dim" in name else 0
            for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
            for axis in "xyz"
        }
        super().__init__(kernel, arguments, {**builtins, "threadIdx.x": number, "blockDim.x": threads})
        self.number = number
        self.block: Meeting
        self.warp: Meeting
        self.lock: threading.Lock

    def stmt(self, stmt: n.Stmt) -> None:
        match stmt:
            case n.Barrier(kind=kind):
                (self.warp if kind == "warp" else self.block).meet(self.number, None)
            case n.BarrierReduce(op=op, var=var, pred=pred):
                votes = [bool(v) for v in self.block.meet(self.number, self.value(pred)).values()]
                self.locals[var] = {"count": sum(votes), "and": int(all(votes)), "or": int(any(votes))}[op]
            case n.WarpOp(op=op, var=var, args=args, type=type_):
                mine = [self.value(arg) for arg in args]
                seen = {who % 32: what for who, what in self.warp.meet(self.number, mine).items()}
                self.locals[var] = self.exchanged(op, mine, seen, type_)
            case n.Atomic(op=op, var=var, place=place, args=args):
                given = [self.value(arg) for arg in args]
                with self.lock:
                    at = self.address(place)
                    old = self.locals[var] = self.load(at, place.type)
                    self.store(at, place.type, self.modified(op, old, given, place.type))
            case _:
                super().stmt(stmt)

    def modified(self, op: str, old: Any, given: list[Any], type_: n.Type) -> Any:
        value = given[0]
        match op:
            case "add" | "sub" | "and" | "or" | "xor":
                return self.binary(op, old, value, type_)
            case "min" | "max":
                return min(old, value) if op == "min" else max(old, value)
            case "exch":
                return value
            case "cas":
                return given[1] if old == value else old
            case "inc":
                return 0 if old >= value else old + 1
            case "dec":
                return value if old == 0 or old > value else old - 1
        raise AssertionError(op)

    def exchanged(self, op: str, mine: list[Any], seen: dict[int, list[Any]], type_: n.Type) -> Any:
        lane = self.number % 32
        if op.startswith("shfl"):
            value, number, width = mine
            first = lane & ~(width - 1)
            source = {
                "shfl": first | (number & (width - 1)),
                "shfl_up": lane - number if lane - first >= number else lane,
                "shfl_down": lane + number if lane - first + number < width else lane,
                "shfl_xor": lane ^ number if (lane ^ number) < first + width else lane,
            }[op]
            return seen[source][0]
        values = [seen[other][0] for other in sorted(seen)]
        match op:
            case "ballot":
                return sum(bool(v) << k for k, v in enumerate(values))
            case "any" | "all":
                return int(any(values) if op == "any" else all(values))
            case "uni":
                return int(len(set(map(bool, values))) == 1)
            case "match_any":
                return sum((v == mine[0]) << k for k, v in enumerate(values))
            case "match_all":
                return (1 << len(values)) - 1 if len(set(values)) == 1 else 0
            case "reduce_min" | "reduce_max":
                return min(values) if op == "reduce_min" else max(values)
        assert op.startswith("reduce_") and isinstance(type_, n.Int), op
        total = values[0]
        for value in values[1:]:
            total = self.binary(op.removeprefix("reduce_"), total, value, type_)
        return wrap(total, type_)


def run_block(kernel: n.Kernel, arguments: dict[str, Ptr], threads: int) -> None:
    machines = [Thread(kernel, dict(arguments), number, threads) for number in range(threads)]
    block, lock = Meeting(threads), threading.Lock()
    warps = [Meeting(min(32, threads - first)) for first in range(0, threads, 32)]
    shared = {d.name: machines[0].objects[d.name] for d in kernel.objects if d.space != "local"}
    failed: list[BaseException] = []

    def work(machine: Thread) -> None:
        try:
            machine.run()
        except BaseException as error:
            failed.append(error)
            block.barrier.abort()
            machine.warp.barrier.abort()

    workers = []
    for machine in machines:
        machine.block, machine.warp, machine.lock = block, warps[machine.number // 32], lock
        machine.objects.update(shared)
        workers.append(threading.Thread(target=work, args=(machine,)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise failed[0]


def words(buffer: bytearray) -> list[int]:
    return [v for (v,) in struct.iter_unpack("<i", bytes(buffer))]
