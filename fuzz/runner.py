"""The differential search: draw cases, run and judge them, shrink what fails.

``explore(job, …)`` -> Found. Hypothesis draws and shrinks :class:`fuzz.case.Case` values, and looks for ones that enter
more of the kernel (``target``) where the executor tells what ran. One example in four runs
under a second schedule as well. Invariant: a fault is reported only if the same case fails again in a second
executor (an unoptimised build; on a GPU a process of its own); a case whose bounds check nothing is no example; where the
executor itself saw a fault, nothing is said about the numbers.

Example::

    found = explore(Job(kernel, contract, binding, sizes), executor, oracle, Budget(100, seed=0))
    found.fault or found.examples
"""

from __future__ import annotations

import atexit
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from hypothesis import HealthCheck, Phase, Verbosity, example, given, seed, settings, target
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import HypothesisException

from fuzz import dtypes, remembered, values
from fuzz.case import Case, Fault, Job, Judged, Refused, run_case
from fuzz.executor import Executor, Seen
from fuzz.oracle import Oracle, OracleError
from fuzz.values import Recipe
from specs.location import Span
from verifier.ir import nodes as ir

ORDERS: tuple[Literal["forward", "reverse", "random", "interleaved"], ...] = (
    "forward",
    "reverse",
    "random",
    "interleaved",
)
SHRINK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Budget:
    """``examples`` to check, a tenth as many again in the edge domain; ``deadline`` in time.monotonic() seconds."""

    examples: int
    seed: int = 0
    deadline: float = float("inf")
    remembered: Path | None = None
    """The folder of counterexamples of earlier runs (``fuzz.remembered``)."""


@dataclass(frozen=True, slots=True)
class Found:
    """``examples``: runs that were compared; ``vacuous``: runs whose bounds checked no element.

    ``edge``: a fault where inputs, or the reference itself, are NaN or infinite. ``seen``: what the executor itself reported.
    ``unfit``: what the reference raised at sizes that are not its domain (these runs do not count).
    ``refusal``: why there is no answer. ``cut``: the deadline came first.
    ``deterministic``: all schedules gave the same bits.
    """

    examples: int = 0
    vacuous: int = 0
    runs: int = 0
    fault: Fault | None = None
    edge: Fault | None = None
    seen: Seen | None = None
    edge_seen: Seen | None = None
    """What the simulator reported for inputs with NaN or infinities only."""
    unfit: str = ""
    deterministic: bool = True
    refusal: str = ""
    cut: bool = False
    seconds: float = 0.0
    sizes: tuple[dict[str, int], ...] = ()
    not_run: tuple[Span, ...] = ()
    """Lines of the kernel that no example entered, where that is known."""


class _Failed(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class _Tally:
    examples: int = 0
    vacuous: int = 0
    runs: int = 0
    seen: Seen | None = None
    unfit: str = ""
    edge: Fault | None = None
    deterministic: bool = True
    cut: bool = False
    sizes: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)
    blocks: set[int] = field(default_factory=set)

    def add(self, case: Case, judged: Judged) -> None:
        self.runs += judged.runs
        self.blocks |= judged.blocks
        self.seen = self.seen or judged.seen
        self.unfit = self.unfit or judged.unfit
        self.edge = self.edge or judged.edge
        self.deterministic = self.deterministic and judged.same_bits is not False
        if judged.fault is None and judged.seen is None and not judged.unfit:
            self.examples += judged.checked > 0
            self.vacuous += judged.checked == 0
            if judged.checked:
                self.sizes.setdefault(case.sizes)


def explore(
    job: Job,
    executor: Executor,
    oracle: Oracle,
    budget: Budget,
    *,
    confirm: Callable[[], Executor] | None = None,
    second: str = "an unoptimised build",
) -> Found:
    """Run the budget. ``confirm`` makes the second executor, called ``second``, that a fault must fail in too."""
    start = time.monotonic()
    tally, special = _Tally(), _Tally()
    fault = edge = None
    refusal = ""
    try:
        fault = _again(job, executor, oracle, budget, tally)
        if fault is None:
            fault = _search(job, executor, oracle, budget, tally, values.ORDINARY, budget.examples)
        if fault is not None and confirm is not None:
            again = run_case(job, confirm(), oracle, fault.case).fault
            if again is None:
                refusal = f"not reproduced in {second}: {fault.message}"
            fault = again
        if fault is not None and budget.remembered is not None:
            remembered.store(budget.remembered, job, fault.case)
        if fault is None and not refusal and any(b.dtype in dtypes.FLOATS for b in job.contract.buffers):
            count = max(5, budget.examples // 10)
            edge = _search(job, executor, oracle, budget, special, values.SPECIAL, count)
    except Refused as error:
        refusal = str(error)
    return Found(
        examples=tally.examples,
        vacuous=tally.vacuous,
        runs=tally.runs,
        fault=fault,
        edge=edge or tally.edge,
        seen=tally.seen,
        edge_seen=special.seen,
        unfit=tally.unfit,
        deterministic=tally.deterministic,
        refusal=refusal,
        cut=tally.cut,
        seconds=time.monotonic() - start,
        sizes=tuple(dict(s) for s in list(tally.sizes)[:50]),
        not_run=_not_run(executor, tally) if fault is None and not refusal else (),
    )


def _again(job: Job, executor: Executor, oracle: Oracle, budget: Budget, tally: _Tally) -> Fault | None:
    """What was wrong in an earlier run, if it still is. These runs do not count as examples."""
    for case in remembered.fetch(budget.remembered, job) if budget.remembered is not None else ():
        if time.monotonic() > budget.deadline:
            break
        try:
            judged = run_case(job, executor, oracle, case)
        except (Refused, OracleError):
            continue
        tally.runs += judged.runs
        tally.seen = tally.seen or judged.seen
        if judged.fault is not None:
            return judged.fault
    return None


def _not_run(executor: Executor, tally: _Tally) -> tuple[Span, ...]:
    """Lines none of whose basic blocks ran."""
    tell = getattr(executor, "blocks", None)
    known: dict[int, Span] = tell() if tally.blocks and tell is not None else {}
    ran = {known[b] for b in tally.blocks if b in known}
    return tuple(sorted({*known.values()} - ran, key=lambda s: (s.path, s.line)))


def _search(
    job: Job,
    executor: Executor,
    oracle: Oracle,
    budget: Budget,
    tally: _Tally,
    kinds: Sequence[str],
    count: int,
) -> Fault | None:
    """The smallest failing case of ``count`` drawn ones."""
    set_hypothesis_home_dir(_home())
    judged: dict[Case, Judged] = {}
    patience = [budget.deadline]
    abort: list[Refused | OracleError] = []

    first = _first(job, kinds, budget.seed)[: max(count - 5, count // 2)]

    @seed(budget.seed)
    @settings(
        max_examples=count - len(first),
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.explicit, Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(_cases(job, kinds))
    def body(case: Case) -> None:
        if abort:
            return
        if case not in judged:
            if time.monotonic() > patience[0]:
                tally.cut = tally.cut or not any(j.fault for j in judged.values())
                return
            try:
                judged[case] = run_case(job, executor, oracle, case, twice=tally.examples % 4 == 0)
            except (Refused, OracleError) as error:
                abort.append(error)  # not a failing example: nothing to shrink
                return
            tally.add(case, judged[case])
        if judged[case].blocks:
            target(float(len(judged[case].blocks)), label="basic blocks")
        fault = judged[case].fault
        if fault is not None:
            if patience[0] == budget.deadline:  # the first one: shrinking has its own time
                patience[0] = min(patience[0], time.monotonic() + SHRINK_SECONDS)
            raise _Failed(fault)

    for case in first:
        body = example(case)(body)
    try:
        body()
    except _Failed as failed:
        return _smaller(job, executor, oracle, failed.fault, kinds)
    except (HypothesisException, BaseExceptionGroup):
        faults = [j.fault for j in judged.values() if j.fault is not None]
        if not faults:
            raise
        return min(faults, key=lambda f: sum(b.numel for b in f.launch.buffers))
    if abort:
        raise abort[0]
    return None


def _smaller(job: Job, executor: Executor, oracle: Oracle, fault: Fault, kinds: Sequence[str]) -> Fault:
    """The same fault at the smallest sizes where a few other values show it (Hypothesis keeps the values' seeds)."""
    deadline = time.monotonic() + SHRINK_SECONDS / 2
    own = [r.kind for r in fault.case.recipes]
    tries = [own, *([kind] * len(own) for kind in ("uniform", "normal") if kind in kinds)]
    for sizes in job.pool:
        key = tuple(sorted(sizes.items()))
        if key == fault.case.sizes:
            break
        for recipes in [tuple(Recipe(k, s) for k in t) for t in tries for s in range(3)]:
            if time.monotonic() > deadline:
                return fault
            try:
                again = run_case(job, executor, oracle, replace(fault.case, sizes=key, recipes=recipes)).fault
            except (Refused, OracleError):
                return fault
            if again is not None:
                return again
    return fault


@cache
def _home() -> str:
    """Hypothesis keeps files beside the user's own unless it is told where."""
    folder = tempfile.TemporaryDirectory(prefix="verify-kernel-")
    atexit.register(folder.cleanup)
    return folder.name


def _first(job: Job, kinds: Sequence[str], seed: int) -> list[Case]:
    """Each kind of values once, at sizes from large to small: what no run leaves to chance. The kernel's own constants first."""
    own = _kinds(job, kinds)
    scalars = tuple((param, draws[0]) for param, draws in _draws(job))
    found = []
    for index, kind in enumerate(sorted(kinds, key=lambda k: k != "points")):
        sizes = job.pool[-1 - index * len(job.pool) // len(kinds)]
        recipes = tuple(
            Recipe(kind if kind in each else each[index % len(each)], seed + 101 * place + index)
            for place, each in enumerate(own)
        )
        order = (ORDERS[index % len(ORDERS)], index)
        found.append(Case(tuple(sorted(sizes.items())), recipes, scalars, order))
    return found


def _cases(job: Job, kinds: Sequence[str]) -> st.SearchStrategy[Case]:
    recipes = [st.builds(Recipe, st.sampled_from(own), st.integers(0, 1 << 16)) for own in _kinds(job, kinds)]
    scalars = [st.tuples(st.just(param), st.sampled_from(draws)) for param, draws in _draws(job)]
    return st.builds(
        Case,
        st.sampled_from([tuple(sorted(s.items())) for s in job.pool]),
        st.tuples(*recipes),
        st.tuples(*scalars),
        st.tuples(st.sampled_from(ORDERS), st.integers(0, 255)),
        st.sampled_from((False, False, False, True)),
    )


def _kinds(job: Job, kinds: Sequence[str]) -> list[Sequence[str]]:
    """What each input may hold."""
    found: list[Sequence[str]] = []
    for operand, param in job.binding.inputs:
        buffer = job.contract.buffer(param)
        assert buffer is not None
        own = kinds if buffer.dtype in dtypes.FLOATS else values.INTEGERS
        found.append(("problem",) if job.binding.structured and operand.name.startswith("argument") else own)
    return found


def _draws(job: Job) -> list[tuple[str, list[float]]]:
    """The values of each floating-point scalar."""
    op, found = job.binding.reference.op, []
    for name, param in sorted(job.binding.drawn.items()):
        option = op.option(name) if op is not None else None
        draws = option.draws if option is not None and option.draws else (1.0, 0.5, -2.0, 0.1)
        scalar = job.contract.scalar(param)
        if scalar is not None and scalar.real is not None:
            draws = (scalar.real,)
        dtype = _scalar_dtype(job.kernel, param)
        found.append((param, [dtypes.rounded(float(d), dtype) for d in draws]))
    return found


def _scalar_dtype(kernel: ir.Kernel, param: str) -> str:
    type_ = next(p.type for p in kernel.params if p.name == param)
    assert isinstance(type_, ir.Float)
    return type_.name
