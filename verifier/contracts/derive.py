"""From a submission to its contracts. See the package's docstring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from specs.contract import Contract
from verifier.contracts.problem import Problem
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import Submission


@dataclass(frozen=True, slots=True)
class ContractSet:
    """``instantiations``: (kernel, template arguments) that launches or contracts name, for the device front end.

    ``unlaunched``: kernels without any contract. ``problems``: what could not be read or lifted, one line each.
    ``reference``: the reference op that a person stated. ``draft``: contract text to review for what is missing.
    """

    contracts: tuple[Contract, ...]
    instantiations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unlaunched: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    reference: str | None = None
    draft: str = ""


def derive(
    submission: Submission,
    *,
    contract_file: Path | None,
    problem: Problem | None,
    lock: Path | None,
    sandbox: Sandbox,
    cap: int = 1 << 30,
) -> ContractSet:
    """The contracts of every launch of ``submission``. Raises ContractError for a broken stated contract."""
    raise NotImplementedError
