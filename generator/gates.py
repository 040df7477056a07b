"""The gate chain as the generator uses it: settings -> a ``Judge``, and what this machine lacks for it.

The problem file alone gives reference and shapes; policy, seed and sandbox are fixed when the run begins. Each
candidate is judged in a process of its own that can be killed. ``verifier.pipeline`` is imported when it is used.

Example::

    lacking(sandbox="auto")                                   # None, or "g++ is missing: apt-get install g++"
    judge = judge_with(GateSettings(policy={}, problem=Path("runs/a/problem.py")))
    judge(Path("runs/a/attempts/001/candidate/candidate.py")).verdict
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specs.results import FileResult


@dataclass(frozen=True, slots=True)
class GateSettings:
    """``policy``: the fields of a ``specs.policy.Policy``. ``seconds``: the gates' time for one candidate."""

    policy: dict[str, Any]
    problem: Path
    seconds: float = 120.0
    seed: int = 0
    effort: str = "default"
    sandbox: str = "auto"
    jobs: int = 1
    cache: Path | None = None


def policy_from(file: Path | None, archs: tuple[str, ...]) -> dict[str, Any]:
    """The policy of ``--policy``, of the working folder's configuration, or the default. Raises PolicyError."""
    from specs.policy import Policy, PolicyError, default_policy, find, load

    place = file or find(Path.cwd())
    policy = load(place) if place else default_policy()
    fields: dict[str, Any] = policy.model_dump(mode="json")
    if archs:
        fields["archs"] = list(archs)
    try:
        Policy.model_validate(fields)
    except ValueError as error:
        raise PolicyError(f"--arch: {' '.join(str(error).split())}") from error
    return fields


def cache_folder() -> Path:
    """The cache that ``verify-kernel`` uses, too: content-addressed builds and proofs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "verify-kernel"


def lacking(sandbox: str) -> str | None:
    """What no candidate could be verified without, with the line that installs it; asked before money is spent."""
    from verifier.isolation.sandbox import SandboxMissing, probe

    try:
        probe(sandbox)
    except SandboxMissing as error:
        return str(error)
    if shutil.which("g++") is None:
        return "g++ is missing: apt-get install g++"
    if importlib.util.find_spec("torch") is None:
        return (
            "torch is missing, and outputs are compared with the problem's reference: "
            "pip install torch --index-url https://download.pytorch.org/whl/cpu"
        )
    return None


def refused(problem: Path, sandbox: str) -> str | None:
    """Why the gates cannot use a problem file; None if they can. Its code runs in a sandboxed child only."""
    from verifier.contracts import ContractError
    from verifier.contracts.problem import load
    from verifier.isolation.sandbox import probe

    try:
        load(problem, sandbox=probe(sandbox))
    except ContractError as error:
        return f"{error}; {error.fix}" if error.fix else str(error)
    return None


def judge_with(settings: GateSettings) -> Callable[[Path], FileResult]:
    """The judge of a run."""

    def judge(path: Path) -> FileResult:
        from specs.policy import Policy
        from verifier import batch
        from verifier.pipeline import Options

        options = Options(
            policy=Policy.model_validate(settings.policy),
            problem=settings.problem,
            root=path.parent,
            effort=settings.effort,
            timeout=settings.seconds,
            seed=settings.seed,
            jobs=settings.jobs,
            cache=settings.cache,
            sandbox=settings.sandbox,
        )
        ((_, result),) = batch.run([path], options, 1)
        return result

    return judge
