"""One run: a case names sizes, values, scalars and schedule completely; ``run_case`` runs and judges it.

Guards on every run: outputs start as a NaN pattern and must be written, inputs must not change (nor what the caller gave, if the
kernel writes it besides its output; running means are an exception), a case with ``reuse``
keeps addresses and device variables of a run before with other data. Invariant: what could not be run or compared is
``Refused`` or an OracleError, what the simulator saw go wrong is ``seen``; neither is a mismatch, and neither is right.

Example::

    run_case(job, executor, oracle, case).fault      # None, or what is wrong
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz import dtypes, values
from fuzz.binding import Binding, core, filled
from fuzz.compare import Mismatch, compare
from fuzz.dtypes import Array
from fuzz.executor import Executor, Order, Ran, Seen
from fuzz.oracle import Oracle, OracleError, Question, Tensor
from fuzz.values import Recipe
from specs import clauses
from specs.contract import ConcreteBuffer, ConcreteLaunch, Contract
from verifier.ir import nodes as ir

Sizes = Mapping[str, int]


class Refused(RuntimeError):
    """A run that the executor or the reference cannot do; the message names why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run, named completely."""

    sizes: tuple[tuple[str, int], ...]
    recipes: tuple[Recipe, ...]
    scalars: tuple[tuple[str, float], ...]
    order: Order
    reuse: bool = False

    @property
    def special(self) -> bool:
        """Whether the inputs hold NaN or infinities."""
        return any(r.kind in values.SPECIAL for r in self.recipes)


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel against one reference. ``pool``: sizes that the contract allows, smallest first.

    ``stages``: the launches, where the kernel stands for several (``fuzz.chain``).
    ``nan_forbidden``: a NaN in an output is a fault even where the reference has one, unless the inputs are special.
    """

    kernel: ir.Kernel
    contract: Contract
    binding: Binding
    pool: tuple[Sizes, ...]
    nan_forbidden: bool = False
    stages: tuple[Contract, ...] = ()
    landmarks: tuple[float, ...] = ()
    """Values at which the kernel may change its rule (``fuzz.landmarks``)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A run whose result is not the reference's. ``nonfinite``: a NaN or infinity in the wrong place."""

    case: Case
    launch: ConcreteLaunch
    message: str
    output: str = ""
    mismatch: Mismatch | None = None
    nonfinite: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """``checked``: elements whose bounds said something. ``seen``: the simulator's own finding (then no more).

    ``unfit``: the reference raised at these sizes, so they are not its domain.
    ``edge``: a fault where the reference itself is NaN or infinite for finite inputs.
    ``same_bits``: whether a second schedule gave the same bits; None if there was none.
    """

    fault: Fault | None = None
    checked: int = 0
    runs: int = 1
    seen: Seen | None = None
    unfit: str = ""
    edge: Fault | None = None
    same_bits: bool | None = None
    blocks: frozenset[int] = frozenset()
    """Which parts of the text ran, where the executor knows."""


def launch_of(job: Job, case: Case) -> ConcreteLaunch:
    """The concrete launch of a case."""
    launch = clauses.instantiate(job.contract, dict(case.sizes))
    return replace(launch, scalars={**launch.scalars, **job.binding.stated, **dict(case.scalars)})


def inputs_of(job: Job, case: Case, launch: ConcreteLaunch, *, turn: int = 0) -> dict[str, bytes]:
    """Raw bytes of every buffer at launch. ``turn`` gives other data of the same kinds."""
    data: dict[str, bytes] = {}
    recipes = {
        param: (operand, r) for (operand, param), r in zip(job.binding.inputs, case.recipes, strict=True)
    }
    for buffer in launch.buffers:
        if buffer.param in recipes and recipes[buffer.param][1].kind != "problem":
            operand, recipe = recipes[buffer.param]
            operand = replace(operand, points=(*operand.points, *job.landmarks))
            drawn = Recipe(recipe.kind, recipe.seed + turn)
            array = values.fill(drawn, buffer.numel, buffer.dtype, operand, buffer.low, buffer.high)
            data[buffer.param] = dtypes.encode(array, buffer.dtype)
        elif filled(job.contract, buffer.param):
            assert buffer.low is not None
            data[buffer.param] = dtypes.encode(np.full(buffer.numel, float(buffer.low)), buffer.dtype)
        else:
            flip = case.order[1] if buffer.dtype == "bool" else 0  # any value of a bool may be written
            data[buffer.param] = dtypes.poison(buffer.dtype, buffer.numel, (turn + flip) & 1)
    return data


def run_case(
    job: Job,
    executor: Executor,
    oracle: Oracle,
    case: Case,
    *,
    twice: bool = False,
    data: Mapping[str, bytes] | None = None,
) -> Judged:
    """Run and judge one case (``data``: these bytes instead of drawn ones; ``twice``: under a second schedule too)."""
    launch = launch_of(job, case)
    if case.reuse:
        before = inputs_of(job, case, launch, turn=1) | _own_inputs(job, oracle, case, launch, 1)
        executor.execute(launch, before, case.order)
    data = dict(data or inputs_of(job, case, launch) | _own_inputs(job, oracle, case, launch, 0))
    if not _judges_itself(job):
        oracle.begin(_question(job, case, launch, data, None)[0])
    ran = executor.execute(launch, data, case.order, case.reuse)
    runs = 1 + case.reuse
    chance = _by_chance(job, executor, case, launch, data, ran)
    first = replace(_judge(job, oracle, case, launch, data, ran, chance), blocks=ran.blocks)
    if first.fault is not None or first.seen is not None or not first.checked or not twice:
        return replace(first, runs=runs)
    other = replace(
        case, order=("reverse", 0) if case.order[0] == "random" else ("random", case.order[1] + 1)
    )
    again = executor.execute(launch, data, other.order)
    if all(again.outputs.get(p) == ran.outputs[p] for p in job.binding.outputs):
        return replace(first, runs=runs + 1, same_bits=True)
    second = _judge(job, oracle, other, launch, data, again)
    return replace(second, runs=runs + 1, same_bits=False, blocks=ran.blocks | again.blocks)


def _own_inputs(job: Job, oracle: Oracle, case: Case, launch: ConcreteLaunch, turn: int) -> dict[str, bytes]:
    """The problem's own inputs, where their structure is part of its domain (kind ``problem``)."""
    wire, binding = job.binding.reference.wire, job.binding
    drawn = [r for r in case.recipes if r.kind == "problem"]
    if not drawn:
        return {}
    arrays = oracle.draw(wire | {"sizes": _problem_sizes(wire, case)}, drawn[0].seed + turn)
    places = [i for i, entry in enumerate(wire["arguments"]) if entry.get("tensor")]
    buffers = {b.param: b for b in launch.buffers}
    data = {}
    for (operand, param), recipe in zip(binding.inputs, case.recipes, strict=True):
        if recipe.kind == "problem":
            array = arrays[places.index(int(operand.name.split()[1]))]
            if array.size != buffers[param].numel:
                raise Refused("the problem's inputs have a structure and sizes that cannot be scaled down")
            data[param] = dtypes.encode(array, buffers[param].dtype)
    return data


def _problem_sizes(wire: dict[str, Any], case: Case) -> dict[str, int]:
    return {k: clauses.evaluate(t, dict(case.sizes)) for k, t in wire["sizes_from"].items()}


def _left(buffer: ConcreteBuffer, ran: Ran, turn: int) -> Array:
    return dtypes.untouched(ran.outputs.get(buffer.param, b""), buffer.dtype, turn)


def _by_chance(
    job: Job, executor: Executor, case: Case, launch: ConcreteLaunch, data: Mapping[str, bytes], ran: Ran
) -> frozenset[str]:
    """Integer outputs in which the kernel wrote the very number that stands for unwritten memory."""
    suspects = [
        b
        for b in launch.buffers
        if b.param in job.binding.outputs
        and b.dtype not in (*dtypes.FLOATS, "bool")
        and len(ran.outputs.get(b.param, b"")) == len(data[b.param])
        and _left(b, ran, 0).any()
    ]
    if not suspects or ran.seen or ran.refusal:
        return frozenset()
    other = {b.param: dtypes.poison(b.dtype, b.numel, 1) for b in suspects}
    again = executor.execute(launch, {**data, **other}, case.order)
    return frozenset(
        b.param
        for b in suspects
        if b.param in again.outputs and not (_left(b, ran, 0) & _left(b, again, 1)).any()
    )


def _judge(
    job: Job,
    oracle: Oracle,
    case: Case,
    launch: ConcreteLaunch,
    data: Mapping[str, bytes],
    ran: Ran,
    chance: Collection[str] = (),
) -> Judged:
    if ran.seen:
        return Judged(seen=ran.seen[0])
    if ran.refusal:
        raise Refused(ran.refusal)
    binding = job.binding
    kept = {p for operand, p in binding.inputs if not operand.name.rpartition(".")[2].startswith("running_")}
    kept -= {b.param for b in job.contract.buffers if b.fresh}
    for param in data:
        written = param in binding.outputs or (param in binding.side and param not in kept)
        if not written and ran.outputs.get(param, data[param]) != data[param]:
            return Judged(Fault(case, launch, f"the kernel changes its input {param}", param))
    operands = {p for _, p in binding.inputs}
    for buffer in launch.buffers:
        param, raw = buffer.param, ran.outputs.get(buffer.param, b"")
        if param not in binding.outputs:
            continue
        if len(raw) != len(data[param]):
            raise Refused(f"the run gave {len(raw)} bytes of {param} instead of {len(data[param])}")
        drawn = param in operands or filled(job.contract, param) or param in chance
        if not drawn and buffer.dtype != "bool":
            left = np.flatnonzero(dtypes.untouched(raw, buffer.dtype))
            if left.size:
                words = f"{param}[{int(left[0])}] is never written ({left.size} of {buffer.numel} elements)"
                return Judged(Fault(case, launch, words, param))
    return _numbers(job, oracle, case, launch, data, ran)


def _numbers(
    job: Job, oracle: Oracle, case: Case, launch: ConcreteLaunch, data: Mapping[str, bytes], ran: Ran
) -> Judged:
    """Compare every output with the reference."""
    binding, sizes = job.binding, dict(case.sizes)
    buffers = {b.param: b for b in launch.buffers}
    question, said = _question(job, case, launch, data, ran if _judges_itself(job) else None)
    try:
        answers = oracle.expect(question)
    except OracleError as error:
        if error.raised:
            return Judged(unfit=str(error))
        raise
    if len(answers) != len(binding.outputs):
        raise Refused(
            f"the reference gives {len(answers)} outputs, the kernel writes {', '.join(binding.outputs)}"
        )
    checked, edge = 0, None
    for param, expected in zip(binding.outputs, answers, strict=True):
        buffer, have = buffers[param], binding.shape(param, sizes)
        unlike = binding.reference.op is None and have is not None and core(have) != core(expected.shape)
        exact = binding.reference.wire.get("kind") == "model" and have is not None
        if exact and expected.value.size == buffer.numel and have != expected.shape:
            words = f"{said}: what is returned has shape {have}, not {expected.shape}"
            return Judged(Fault(case, launch, words, param))
        if expected.value.size != buffer.numel or unlike:
            raise Refused(
                f"{param} has shape {have or (buffer.numel,)}, the reference gives {expected.shape}"
            )
        got = dtypes.decode(ran.outputs[param], buffer.dtype)
        comparison = compare(got, expected, buffer.dtype, special=case.special)
        checked += comparison.checked
        m = comparison.mismatch
        if m is not None:
            fault = Fault(case, launch, _words(said, param, m, buffer.numel), param, m, m.nonfinite)
            if case.special or math.isfinite(m.expected):
                return Judged(fault, checked)
            edge = edge or fault
        if job.nan_forbidden and not case.special and buffer.dtype in dtypes.FLOATS and np.isnan(got).any():
            words = f"{param}[{int(np.flatnonzero(np.isnan(got))[0])}] is NaN, which the policy forbids"
            return Judged(Fault(case, launch, words, param, None, True), checked)
    return Judged(None, checked, edge=edge)


def _judges_itself(job: Job) -> bool:
    """Whether the oracle must see what the kernel gave: arg-reductions, integer outputs of anything but a plain op."""
    op = job.binding.reference.op
    if op is not None:
        return op.accepts is not None
    outputs = [job.contract.buffer(p) for p in job.binding.outputs]
    return any(b is None or b.dtype not in dtypes.FLOATS for b in outputs)


def _question(
    job: Job, case: Case, launch: ConcreteLaunch, data: Mapping[str, bytes], ran: Ran | None
) -> tuple[Question, str]:
    """What the oracle is asked, and the comparison in words. ``ran``: only where the oracle judges by itself."""
    binding, sizes = job.binding, dict(case.sizes)
    buffers = {b.param: b for b in launch.buffers}
    shapes = binding.input_shapes(sizes)
    names = [p for _, p in binding.inputs]
    tensors = [Tensor(buffers[p].dtype, shape, data[p]) for p, shape in zip(names, shapes, strict=True)]
    outputs = [buffers[p] for p in binding.outputs]
    got: list[Tensor] = []
    op, wire, said = binding.reference.op, binding.reference.wire, binding.text()
    if op is not None:
        options = binding.options(shapes, launch.scalars)
        said = binding.text(options)
        operands = [operand.name for operand, _ in binding.inputs]
        wire = {"kind": "op", "op": op.name, "operands": operands, "options": options}
        outputs = outputs[:1]
    else:
        if wire["kind"] == "model":
            wire = wire | {"sizes": _problem_sizes(wire, case)}
        for param in binding.drawn.values():
            names.append(param)
            scalar: Any = np.array([launch.scalars[param]], dtype=np.float64)
            tensors.append(Tensor("f64", (), scalar.tobytes()))
    if ran is not None:
        got = [Tensor(b.dtype, (b.numel,), ran.outputs[b.param]) for b in outputs]
    dtype = buffers[binding.outputs[0]].dtype
    format_ = (
        dtype
        if dtype in dtypes.FLOATS
        else next((t.dtype for t in tensors if t.dtype in dtypes.FLOATS), "int")
    )
    return Question(wire, format_, tuple(tensors), tuple(names), tuple(got)), said


def _words(said: str, param: str, m: Mismatch, count: int) -> str:
    allowed = "" if m.low == m.high else f" (allowed {m.low:.9g} to {m.high:.9g})"
    wrong = "" if m.count == 1 else f"; {m.count} of {count} elements are wrong"
    return f"{param}[{m.index}] is {m.got:.9g}, not {m.expected:.9g}{allowed}, in {said}{wrong}"
