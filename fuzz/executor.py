"""Runs one launch of one kernel: the simulator's session behind the small interface that the runner needs.

``execute(launch, inputs, schedule, keep)`` -> Ran. Invariant: what could not be run is ``refusal`` (named), never empty
outputs that look like a result.

Example::

    with SimulatorExecutor(device, kernel, sandbox) as executor:
        executor.execute(launch, {"x": raw, "y": poison}, ("forward", 0)).outputs["y"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from specs.contract import ConcreteLaunch
from specs.location import Span
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import DeviceText

Order = tuple[Literal["forward", "reverse", "random", "interleaved"], int]
"""(kind, seed) of a schedule."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the executor saw go wrong: a property id, where, and in words. ``by``: who saw it."""

    property: str
    span: Span
    message: str
    by: str = "the simulator"


@dataclass(frozen=True, slots=True)
class Ran:
    """``outputs``: every buffer after the run. ``refusal``: why there is none. ``blocks``: which parts of the text ran."""

    outputs: dict[str, bytes] = field(default_factory=dict)
    seen: tuple[Seen, ...] = ()
    refusal: str = ""
    blocks: frozenset[int] = frozenset()


class Executor(Protocol):
    """Anything that can run launches of one kernel."""

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: Order, keep: bool = False
    ) -> Ran:
        """``keep``: device variables and addresses stay as the previous run left them."""
        ...


class SimulatorExecutor:
    """The simulator's session: compiled once, one sandboxed process."""

    def __init__(
        self,
        device: DeviceText,
        kernel: Kernel,
        sandbox: Sandbox,
        *,
        opt: str = "O1",
        cache: Path | None = None,
        blocks: bool = False,
    ) -> None:
        """``blocks``: the program tells which of its basic blocks run (another program than the sanitize gate's)."""
        from sanitizers import simulator

        self._schedule = simulator.Schedule
        opt += "+blocks" * blocks
        self._session = simulator.Session(device, kernel, opt=opt, sandbox=sandbox, cache=cache)

    def __enter__(self) -> SimulatorExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: Order, keep: bool = False
    ) -> Ran:
        result = self._session.run(launch, inputs, self._schedule(*order), keep_globals=keep)
        refusal = result.unsupported or result.error or ""
        if not refusal and result.blocks_run != result.blocks_launched:
            refusal = f"only {result.blocks_run} of {result.blocks_launched} blocks were run"
        seen = tuple(Seen(f.property, f.span, f.message) for f in result.findings)
        return Ran(dict(result.outputs), seen, "" if seen else refusal, result.blocks)

    def blocks(self) -> dict[int, Span]:
        """Every basic block of the text, where the program tells them."""
        return self._session.blocks()
