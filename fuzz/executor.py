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
from typing import Protocol

from specs.contract import ConcreteLaunch
from specs.location import Span

Order = tuple[str, int]
"""(kind, seed) of a schedule."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What the simulator saw go wrong: a property id, where, and in words."""

    property: str
    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Ran:
    """``outputs``: every buffer after the run. ``refusal``: why there is none."""

    outputs: dict[str, bytes] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    refusal: str = ""


class Executor(Protocol):
    """Anything that can run launches of one kernel."""

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: Order, keep: bool = False
    ) -> Ran:
        """``keep``: device variables and addresses stay as the previous run left them."""
        ...
