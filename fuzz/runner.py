"""The differential loop: draw sizes, values, options and a schedule; run; ask the oracle; compare; shrink what fails.

``explore(job, …)`` -> Found. Hypothesis draws and shrinks :class:`Case` values; a case names everything, so it replays
exactly. Guards on every run: outputs start as a NaN pattern and must be written, inputs must not change, one run in
four reuses addresses and device variables with new data, and another schedule must give a right result too.

Invariant: a fault is reported only if the same case fails again in a second, unoptimised executor; a case whose bounds
check nothing is not counted as an example.

Example::

    found = explore(Job(kernel, contract, binding, sizes), executor, oracle, Budget(100, seed=0))
    found.fault or found.examples
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from fuzz import dtypes, values
from fuzz.binding import Binding, core, filled
from fuzz.compare import Mismatch, compare
from fuzz.executor import Executor, Order, Ran
from fuzz.oracle import Oracle, OracleError, Question, Tensor
from fuzz.values import Recipe
from specs import clauses
from specs.contract import ConcreteLaunch, Contract
from specs.location import Span
from verifier.ir import nodes as ir

Sizes = Mapping[str, int]
ORDERS: tuple[Literal["forward", "reverse", "random", "interleaved"], ...] = (
    "forward",
    "reverse",
    "random",
    "interleaved",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One run, named completely."""

    sizes: tuple[tuple[str, int], ...]
    recipes: tuple[Recipe, ...]
    scalars: tuple[tuple[str, float], ...]
    order: Order
    reuse: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel against one reference. ``pool``: sizes that the contract allows, smallest first."""

    kernel: ir.Kernel
    contract: Contract
    binding: Binding
    pool: tuple[Sizes, ...]
    nan_forbidden: bool = False
    """A NaN in an output is a fault even where the reference has one (policy), unless the inputs are special."""


@dataclass(frozen=True, slots=True)
class Budget:
    """``examples`` to check, a tenth as many again in the edge domain; ``deadline`` in time.monotonic() seconds."""

    examples: int
    seed: int = 0
    deadline: float = float("inf")


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong run. ``id``: numerics, or the property the simulator reported."""

    id: str
    case: Case
    launch: ConcreteLaunch
    message: str
    span: Span
    output: str = ""
    mismatch: Mismatch | None = None
    nonfinite: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """``examples``: runs that were compared; ``vacuous``: runs whose bounds checked no element; ``refusal``: why none.

    ``edge``: a fault on inputs with infinities or NaN only. ``deterministic``: every schedule gave the same bits.
    """

    examples: int = 0
    vacuous: int = 0
    runs: int = 0
    fault: Fault | None = None
    edge: Fault | None = None
    deterministic: bool = True
    refusal: str = ""
    cut: bool = False
    seconds: float = 0.0
    sizes: tuple[dict[str, int], ...] = ()


class _Failed(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Refused(RuntimeError):
    """A run that the executor cannot do; the message names why."""


@dataclass(slots=True)
class _Tally:
    examples: int = 0
    vacuous: int = 0
    runs: int = 0
    deterministic: bool = True
    cut: bool = False
    sizes: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)


def explore(
    job: Job,
    executor: Executor,
    oracle: Oracle,
    budget: Budget,
    *,
    confirm: Callable[[], Executor] | None = None,
) -> Found:
    """Run the budget. ``confirm`` makes the second executor that a fault must fail in too."""
    start = time.monotonic()
    tally = _Tally()
    fault = edge = None
    refusal = ""
    try:
        fault = _search(job, executor, oracle, budget, tally, values.ORDINARY, budget.examples)
        if fault is not None and confirm is not None:
            again = run_case(job, confirm(), oracle, fault.case, tally)
            if again is None or again.id != fault.id:
                refusal = f"not reproduced in an unoptimised build: {fault.message}"
                fault = None
        if fault is None and not refusal and _floats(job):
            count = max(5, budget.examples // 10)
            edge = _search(job, executor, oracle, budget, _Tally(), values.SPECIAL, count)
    except Refused as error:
        refusal = str(error)
    sizes = tuple(dict(s) for s in list(tally.sizes)[:50])
    seconds = time.monotonic() - start
    return Found(
        tally.examples,
        tally.vacuous,
        tally.runs,
        fault,
        edge,
        tally.deterministic,
        refusal,
        tally.cut,
        seconds,
        sizes,
    )


def _floats(job: Job) -> bool:
    return any(b.dtype in dtypes.FLOATS for b in job.contract.buffers)


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
    seen: dict[Case, Fault | None] = {}
    patience = [budget.deadline]
    abort: list[Refused | OracleError] = []

    @seed(budget.seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(_cases(job, kinds))
    def body(case: Case) -> None:
        if abort:
            return
        if case not in seen:
            if time.monotonic() > patience[0]:
                tally.cut = tally.cut or not any(seen.values())
                return
            try:
                seen[case] = run_case(job, executor, oracle, case, tally)
            except (Refused, OracleError) as error:
                abort.append(error)  # not a failing example: nothing to shrink
                return
        fault = seen[case]
        if fault is not None:
            # Shrinking gets ten seconds; after that the best case so far stands.
            patience[0] = (
                min(patience[0], time.monotonic() + 10.0) if patience[0] == budget.deadline else patience[0]
            )
            raise _Failed(fault)

    try:
        body()
    except _Failed as failed:
        return _smaller(job, executor, oracle, failed.fault, kinds)
    except (HypothesisException, BaseExceptionGroup):
        faults = [f for f in seen.values() if f is not None]
        if not faults:
            raise
        return min(faults, key=lambda f: sum(b.numel for b in f.launch.buffers))
    if abort:
        raise abort[0]
    return None


def _smaller(job: Job, executor: Executor, oracle: Oracle, fault: Fault, kinds: Sequence[str]) -> Fault:
    """The same fault at the smallest sizes where a few other values show it (Hypothesis keeps the values' seeds)."""
    deadline = time.monotonic() + 5.0
    own = [r.kind for r in fault.case.recipes]
    tries = [own, *([kind] * len(own) for kind in ("uniform", "normal") if kind in kinds)]
    for sizes in job.pool:
        key = tuple(sorted(sizes.items()))
        if key == fault.case.sizes:
            break
        for recipe in [[Recipe(k, s) for k in t] for t in tries for s in range(3)]:
            if time.monotonic() > deadline:
                return fault
            again = run_case(job, executor, oracle, replace(fault.case, sizes=key, recipes=tuple(recipe)))
            if again is not None and again.id == fault.id:
                return again
    return fault


def _cases(job: Job, kinds: Sequence[str]) -> st.SearchStrategy[Case]:
    op = job.binding.reference.op
    recipes = []
    for _, param in job.binding.inputs:
        buffer = job.contract.buffer(param)
        assert buffer is not None
        own = kinds if buffer.dtype in dtypes.FLOATS else values.INTEGERS
        recipes.append(st.builds(Recipe, st.sampled_from(own), st.integers(0, 1 << 16)))
    scalars = []
    for name, param in sorted(job.binding.drawn.items()):
        option = op.option(name) if op is not None else None
        draws = option.draws if option is not None and option.draws else (1.0, 0.5, -2.0, 0.1)
        dtype = _scalar_dtype(job.kernel, param)
        scalars.append(
            st.tuples(st.just(param), st.sampled_from([dtypes.rounded(float(d), dtype) for d in draws]))
        )
    return st.builds(
        Case,
        st.sampled_from([tuple(sorted(s.items())) for s in job.pool]),
        st.tuples(*recipes),
        st.tuples(*scalars),
        st.tuples(st.sampled_from(ORDERS), st.integers(0, 255)),
        st.sampled_from((False, False, False, True)),
    )


def _scalar_dtype(kernel: ir.Kernel, param: str) -> str:
    type_ = next(p.type for p in kernel.params if p.name == param)
    assert isinstance(type_, ir.Float)
    return type_.name


def launch_of(job: Job, case: Case) -> ConcreteLaunch:
    """The concrete launch of a case."""
    launch = clauses.instantiate(job.contract, dict(case.sizes))
    stated = job.binding.stated
    return replace(launch, scalars={**launch.scalars, **stated, **dict(case.scalars)})


def inputs_of(job: Job, case: Case, launch: ConcreteLaunch, *, turn: int = 0) -> dict[str, bytes]:
    """Raw bytes of every buffer at launch. ``turn`` gives other data of the same kinds."""
    data: dict[str, bytes] = {}
    recipes = {
        param: (operand, r) for (operand, param), r in zip(job.binding.inputs, case.recipes, strict=True)
    }
    for buffer in launch.buffers:
        if buffer.param in recipes:
            operand, recipe = recipes[buffer.param]
            drawn = Recipe(recipe.kind, recipe.seed + turn)
            array = values.fill(drawn, buffer.numel, buffer.dtype, operand, buffer.low, buffer.high)
            data[buffer.param] = dtypes.encode(array, buffer.dtype)
        elif filled(job.contract, buffer.param):
            assert buffer.low is not None
            data[buffer.param] = dtypes.encode(np.full(buffer.numel, float(buffer.low)), buffer.dtype)
        else:
            data[buffer.param] = dtypes.poison(buffer.dtype, buffer.numel, turn & 1)
    return data


def run_case(
    job: Job,
    executor: Executor,
    oracle: Oracle,
    case: Case,
    tally: _Tally | None = None,
    data: Mapping[str, bytes] | None = None,
) -> Fault | None:
    """Run and judge one case (``data``: these bytes instead of drawn ones). Raises Refused or OracleError."""
    tally = tally if tally is not None else _Tally()
    launch = launch_of(job, case)
    if case.reuse:
        tally.runs += 1
        executor.execute(launch, inputs_of(job, case, launch, turn=1), case.order)
    data = inputs_of(job, case, launch) | dict(data or {})
    ran = executor.execute(launch, data, case.order, case.reuse)
    tally.runs += 1
    fault, checked = _judge(job, oracle, case, launch, data, ran)
    if fault is not None:
        return fault
    if not checked:
        tally.vacuous += 1
        return None
    tally.examples += 1
    tally.sizes.setdefault(case.sizes)
    if tally.examples % 4 == 1:  # the same data under another schedule
        other = replace(
            case, order=("random", case.order[1] + 1) if case.order[0] != "random" else ("reverse", 0)
        )
        again = executor.execute(launch, data, other.order)
        tally.runs += 1
        same = all(again.outputs.get(p) == ran.outputs[p] for p in job.binding.outputs)
        if not same:
            tally.deterministic = False
            return _judge(job, oracle, other, launch, data, again)[0]
    return None


def _judge(
    job: Job, oracle: Oracle, case: Case, launch: ConcreteLaunch, data: Mapping[str, bytes], ran: Ran
) -> tuple[Fault | None, int]:
    """(fault, elements checked) of one run."""
    if ran.refusal:
        raise Refused(ran.refusal)
    span = job.kernel.span

    def fault(id_: str, message: str, **more: Any) -> tuple[Fault, int]:
        return Fault(id_, case, launch, message, more.pop("span", span), **more), 0

    if ran.faults:
        first = ran.faults[0]
        return fault(first.property, first.message, span=first.span)
    for param in data:
        if param not in job.binding.outputs and ran.outputs.get(param, data[param]) != data[param]:
            return fault("numerics", f"the kernel changes its input {param}", output=param)
    buffers = {b.param: b for b in launch.buffers}
    for param in job.binding.outputs:
        raw = ran.outputs.get(param, b"")
        buffer = buffers[param]
        if len(raw) != len(data[param]):
            raise Refused(f"the run gave {len(raw)} bytes of {param} instead of {len(data[param])}")
        operands = {p for _, p in job.binding.inputs}
        if param not in operands and not filled(job.contract, param):
            left = np.flatnonzero(dtypes.untouched(raw, buffer.dtype))
            if left.size and buffer.dtype != "bool":
                what = f"{param}[{int(left[0])}] is never written ({left.size} of {buffer.numel} elements)"
                return fault("numerics", what, output=param)
    return _numbers(job, oracle, case, launch, data, ran)


def _numbers(
    job: Job, oracle: Oracle, case: Case, launch: ConcreteLaunch, data: Mapping[str, bytes], ran: Ran
) -> tuple[Fault | None, int]:
    binding, sizes = job.binding, dict(case.sizes)
    buffers = {b.param: b for b in launch.buffers}
    shapes = binding.input_shapes(sizes)
    tensors = [
        Tensor(buffers[p].dtype, shape, data[p]) for (_, p), shape in zip(binding.inputs, shapes, strict=True)
    ]
    names = [p for _, p in binding.inputs]
    op = binding.reference.op
    got: list[Tensor] = []
    if op is not None:
        wire: dict[str, Any] = {
            "kind": "op",
            "op": op.name,
            "operands": [operand.name for operand, _ in binding.inputs],
            "options": binding.options(shapes, launch.scalars),
        }
        if op.accepts is not None:
            param = binding.outputs[0]
            got = [Tensor(buffers[param].dtype, (buffers[param].numel,), ran.outputs[param])]
    else:
        wire = binding.reference.wire
        if wire["kind"] == "model":
            wire = wire | {"sizes": {k: v for k, v in sizes.items() if k in wire["values"]}}
        for param in binding.drawn.values():
            names.append(param)
            scalar = np.array([launch.scalars[param]], dtype=np.float64)
            tensors.append(Tensor("f64", (), scalar.tobytes()))
    dtype = buffers[binding.outputs[0]].dtype
    format_ = (
        dtype
        if dtype in dtypes.FLOATS
        else next((t.dtype for t in tensors if t.dtype in dtypes.FLOATS), "int")
    )
    answers = oracle.expect(Question(wire, format_, tuple(tensors), tuple(names), tuple(got)))
    if len(answers) != len(binding.outputs):
        raise Refused(
            f"the reference gives {len(answers)} outputs, the kernel writes {', '.join(binding.outputs)}"
        )
    checked = 0
    for param, expected in zip(binding.outputs, answers, strict=True):
        buffer = buffers[param]
        have = binding.shape(param, sizes)
        unlike = op is None and have is not None and core(have) != core(expected.shape)
        if expected.value.size != buffer.numel or unlike:
            raise Refused(
                f"{param} has shape {have or (buffer.numel,)}, the reference gives {expected.shape}"
            )
        got_values = dtypes.decode(ran.outputs[param], buffer.dtype)
        special = any(r.kind in values.SPECIAL for r in case.recipes)
        comparison = compare(got_values, expected, buffer.dtype, special=special)
        checked += comparison.checked
        if job.nan_forbidden and not special and buffer.dtype in dtypes.FLOATS and np.isnan(got_values).any():
            words = (
                f"{param}[{int(np.flatnonzero(np.isnan(got_values))[0])}] is NaN, which the policy forbids"
            )
            return Fault("numerics", case, launch, words, job.kernel.span, param, None, True), checked
        if comparison.mismatch is not None:
            m = comparison.mismatch
            return Fault(
                "numerics",
                case,
                launch,
                _words(job, param, m, buffer.numel),
                job.kernel.span,
                param,
                m,
                m.nonfinite,
            ), checked
    return None, checked


def _words(job: Job, param: str, m: Mismatch, count: int) -> str:
    exact = m.low == m.high
    allowed = "" if exact else f" (allowed {m.low:.9g} to {m.high:.9g})"
    wrong = "" if m.count == 1 else f"; {m.count} of {count} elements are wrong"
    return f"{param}[{m.index}] is {m.got:.9g}, not {m.expected:.9g}{allowed}, in {job.binding.text()}{wrong}"
