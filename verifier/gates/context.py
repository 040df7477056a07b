"""What every gate gets. A gate is one file with one function ``run(context) -> GateResult``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from specs.contract import Contract
from specs.policy import Backend, Policy
from specs.results import GateResult
from verifier.ir.nodes import Module
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import Submission

if TYPE_CHECKING:
    from verifier.contracts.problem import Problem


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class GateContext:
    """``deadline`` is in time.monotonic() seconds; a gate that would pass it stops and says UNKNOWN(resources).

    ``reference`` is the dotted name the user gave; ``problem`` the parsed problem file. ``keep`` is the folder for
    ``--keep`` (text, IR, SMT), already made, or None.
    """

    submission: Submission
    module: Module
    contracts: tuple[Contract, ...]
    policy: Policy
    sandbox: Sandbox
    problem: Problem | None = None
    reference: str | None = None
    seed: int = 0
    effort: str = "default"
    jobs: int = 1
    keep: Path | None = None
    obligations: Path | None = None
    """The folder for ``--keep-obligations`` of this file, or None."""
    deadline: float = float("inf")
    cache: Path | None = None
    run_wrapper: bool = False
    """Whether the submission's host code may be compiled and run, in the sandbox (the fuzz gate's whole models)."""
    required: tuple[str, ...] | None = None
    """The properties without which the policy has no PASS; None: all that ``policy`` names, which is what is looked at."""
    backend: Backend = "sim"
    """Where the gates sanitize and fuzz run kernels."""
    earlier: tuple[GateResult, ...] = ()
    """What the gates before this one said."""
    progress: Callable[[str], None] = field(default=_silent)
