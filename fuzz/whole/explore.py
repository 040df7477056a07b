"""A whole model against its reference: ModelNew as it is, with equal parameters and inputs -> Outcome.

The reference runs in the oracle's process, ModelNew in another one (``fuzz.whole.session``); only raw bytes come here.
Parameters are set by name where ModelNew has the model's own ones; else both models are made with the same seed, as
KernelBench does. Invariant: ``right`` only after the whole budget, and only if garbage in place of what each launched
kernel writes is noticed by the same comparison; whatever else ends in ``doubt``, by name.

Example::

    outcome = explore(Task(submission, kernels, problem, sandbox), oracle, Budget(20, seed=0))
    outcome.right or outcome.wrong or outcome.doubt
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fuzz import dtypes, thresholds, values
from fuzz.compare import compare
from fuzz.dtypes import NAMES
from fuzz.executor import Order
from fuzz.oracle import Expected, Oracle, OracleError, Question, Tensor
from fuzz.runner import Budget
from fuzz.values import Recipe
from fuzz.whole.host import Unrunnable, build
from fuzz.whole.scales import beyond, candidates, steps
from fuzz.whole.session import Array, Result, Session, Stopped
from specs.contract import Contract
from specs.reference_ops import Operand
from verifier.contracts.problem import Problem
from verifier.ir import nodes as ir
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import Submission

KINDS = ("uniform", "normal", "ones", "uniform", "sorted", "one-hot", "normal", "ramp", "descending", "zeros")
FAR = ("shifted", "large")
"""Values that no layer of the model is meant for: the edge domain."""
SIZES = 5
"""Assignments of sizes that are used; up to ``TRIES`` are tried."""
TRIES = 40
SECONDS = 6.0
"""A run that takes longer is too large."""
TELLING = 0.01
"""An example counts if half of its bounds are within this part of the largest value: KernelBench's own tolerance."""
CALLS = 12
"""Calls before one of the examples, after which nothing may have changed."""
QUICK = 1.0
"""Sizes at which an example takes longer are used once."""


@dataclass(frozen=True, slots=True)
class Task:
    submission: Submission
    kernels: tuple[ir.Kernel, ...]
    problem: Problem
    sandbox: Sandbox
    structured: bool
    cache: Path | None = None
    extra: tuple[dict[str, int], ...] = ()
    """Sizes at which some kernel takes another way than at small ones."""


@dataclass(slots=True)
class Outcome:
    """``wrong``: in words, shown twice. ``edge``: wrong for far values only. ``changed``: an argument that ModelNew
    changes. ``set_by``: name, order or seed.

    ``vacuous``: examples whose bounds were too wide to count. ``width``: the sharpest, as part of the largest value.
    """

    right: bool = False
    wrong: str = ""
    edge: str = ""
    doubt: str = ""
    changed: str = ""
    set_by: str = ""
    examples: int = 0
    vacuous: int = 0
    launched: dict[str, int] = field(default_factory=dict)
    sizes: list[dict[str, int]] = field(default_factory=list)
    decided: set[tuple[str, int, bool]] = field(default_factory=set)
    """(kernel, its comparison, outcome) of what the launches' integers decided (``fuzz.thresholds``)."""
    unfit: str = ""
    width: float = math.inf
    seconds: float = 0.0


class Undecided(RuntimeError):
    """Why there is no answer."""


@dataclass(frozen=True, slots=True)
class Made:
    """Both models at one assignment of sizes with one seed. ``mapping``: ModelNew's tensor -> the model's.

    ``equal``: ModelNew starts with the numbers of every parameter of the model, so the seed made them equal.
    """

    sizes: tuple[tuple[str, int], ...]
    seed: int
    facts: dict[str, Any]
    first: dict[str, Array]
    later: dict[str, Array]
    inputs: tuple[Array | None, ...]
    mapping: dict[str, str]
    mode: Literal["name", "order", "seed"]
    equal: bool


@dataclass(frozen=True, slots=True)
class Example:
    made: Made
    recipe: Recipe | None
    """None: the problem's own inputs."""
    order: Order
    before: int = 0
    """Calls of the same model that come first, each with other data at the same addresses."""

    def text(self) -> str:
        sizes = ", ".join(f"{k}={v}" for k, v in self.made.sizes)
        kind = "the problem's own" if self.recipe is None else self.recipe.kind
        again = f"; after {self.before} other calls" if self.before else ""
        return f"{sizes or 'the sizes of the problem'}; inputs: {kind}{again}"


@dataclass(frozen=True, slots=True)
class Compared:
    fault: str = ""
    checked: int = 0
    changed: str = ""
    launched: frozenset[str] = frozenset()


def explore(task: Task, oracle: Oracle, budget: Budget) -> Outcome:
    """Decide, or say why not."""
    start = time.monotonic()
    outcome = Outcome()
    try:
        with tempfile.TemporaryDirectory() as folder:
            _Search(task, oracle, budget, Path(folder), outcome).run()
    except (Undecided, Unrunnable, Stopped, OracleError) as error:
        outcome.doubt = outcome.doubt or str(error)
    outcome.right = not (outcome.wrong or outcome.doubt)
    outcome.seconds = time.monotonic() - start
    return outcome


class _Search:
    def __init__(self, task: Task, oracle: Oracle, budget: Budget, folder: Path, outcome: Outcome) -> None:
        self.task, self.oracle, self.budget, self.folder = task, oracle, budget, folder
        self.outcome = outcome
        self.wire: dict[str, Any] = {
            "kind": "model",
            "whole": True,
            "path": task.problem.path,
            "text": task.problem.text,
            "values": task.problem.values,
        }
        self.made: dict[tuple[Any, ...], Made] = {}
        self.slow: set[tuple[tuple[str, int], ...]] = set()
        self.drawn: dict[tuple[Any, ...], list[Array]] = {}

    def session(self, opt: str) -> Session:
        task = self.task
        return Session(
            self.folder,
            task.submission,
            task.kernels,
            task.sandbox,
            cache=task.cache,
            opt=opt,
            deadline=self.budget.deadline,
        )

    def run(self) -> None:
        with self.session("O1") as session:
            self.shared_object = build(self.task.submission, self.folder, self.task.sandbox)
            session.load(self.shared_object)
            pool = self.pool(session)
            self.outcome.set_by = pool[0].mode
            self.outcome.sizes = [dict(m.sizes) for m in pool]
            good: list[tuple[Example, frozenset[str]]] = []
            for example in self.examples(pool, session):
                if time.monotonic() > self.budget.deadline:
                    wanted = self.budget.examples
                    raise Undecided(
                        f"the time was over after {self.outcome.examples} of {wanted} examples; give it --timeout"
                    )
                compared = self.one(session, example)
                self.outcome.changed = self.outcome.changed or compared.changed
                if compared.fault:
                    self.confirm(example, compared, known=any(e.made.mode == "name" for e, _ in good))
                    return
                self.outcome.examples += compared.checked > 0
                self.outcome.vacuous += compared.checked == 0
                good += [(example, compared.launched)] if compared.checked else []
            if 4 * len(good) < self.budget.examples:
                raise Undecided(
                    f"only {len(good)} of {self.budget.examples} examples tell anything: the bounds of the model are too wide"
                )
            self.noticed(session, good)
            self.outcome.edge = self.far(session, good[0][0])

    # --- sizes and parameters ---

    def pool(self, session: Session) -> list[Made]:
        """Assignments at which both models run."""
        found: list[Made] = []
        python = steps(self.task.submission.python, self.task.problem)
        extra = [*beyond(python, self.task.problem), *self.task.extra]
        why = "the problem's sizes cannot be scaled down"
        late = time.monotonic() + max(10.0, (self.budget.deadline - time.monotonic()) * 0.4)
        for tries, sizes in enumerate(candidates(self.task.problem, seed=self.budget.seed, extra=extra)):
            wanted = min(SIZES, max(2, self.budget.examples // 4)) + min(len(extra), SIZES)
            if len(found) >= wanted or tries >= TRIES or time.monotonic() > min(late, self.budget.deadline):
                break
            try:
                made = self.make(session, sizes, self.budget.seed)
                if not self.outcome.launched:
                    self.once(session, Example(made, None, ("forward", 0)))  # compiles the kernels
                began = time.monotonic()
                self.one(session, Example(made, None, ("forward", 0)))
                taken = time.monotonic() - began
                if taken > SECONDS:
                    why = "a run in the simulator takes too long"
                    continue
                found.append(made)
                if taken > QUICK:
                    self.slow.add(made.sizes)
            except OracleError as error:
                if error.missing or not error.raised:
                    raise
                self.outcome.unfit = self.outcome.unfit or str(error)
            except Stopped as error:
                if error.seen is not None or not (error.raised or error.unfit):
                    raise
                why = f"ModelNew does not run at {_said(sizes)}: {error}"
        if not found:
            raise Undecided(f"no sizes to compare at ({why})")
        dims = max([0, *(n for a in self.task.problem.inputs for n in a.sizes or ())])
        for step in python:
            shapes = [a.shape for m in found for a in m.inputs if a is not None]
            if not any((max(s, default=0) if dims > step else math.prod(s)) > step for s in shapes):
                raise Undecided(f"ModelNew compares with {step}, which no size that was run exceeds")
        return sorted(found, key=lambda m: sum(len(a.data) for a in m.inputs if a is not None))

    def make(self, session: Session, sizes: dict[str, int], seed: int) -> Made:
        """Both models with this seed. The session's ModelNew is this one afterwards."""
        facts, blobs = self.oracle.sample({**self.wire, "sizes": sizes}, seed)
        entries = facts["state"]
        count = len(entries)
        first = {n: Array(d, tuple(s), b) for (n, d, s, _), b in zip(entries, blobs, strict=False)}
        later = {n: Array(d, tuple(s), b) for (n, d, s, _), b in zip(entries, blobs[count:], strict=False)}
        rest = iter(blobs[2 * count :])
        inputs = tuple(
            Array(entry["tensor"][0], tuple(entry["tensor"][1]), next(rest)) if "tensor" in entry else None
            for entry in facts["inputs"]
        )
        own = session.build(sizes, facts["init"], seed)
        learned = {n for n, _, _, is_parameter in entries if is_parameter}
        mapping, guessed = matched(own, first)
        whole = set(mapping) == {n for n, a in own.items() if _float(a)} and learned <= set(mapping.values())
        if not whole:
            for name in sorted(learned - set(mapping.values())):
                data = np.frombuffer(first[name].data, dtype=np.uint8).reshape(
                    len(first[name].data) // 4 or 1, -1
                )
                if len(np.unique(data, axis=0)) == 1 and first[name].data:
                    raise Undecided(
                        f"{name} of Model is constant at first, and ModelNew has no parameter for it that could be moved"
                    )
        mode: Literal["name", "order", "seed"] = "seed" if not whole else "order" if guessed else "name"
        have = {_sorted(a) for a in own.values()}
        equal = all(_sorted(first[name]) in have for name in learned)
        key = tuple(sorted(sizes.items()))
        return Made(key, seed, facts, first, later, inputs, mapping, mode, equal)

    def examples(self, pool: Sequence[Made], session: Session) -> Iterator[Example]:
        orders: tuple[Literal["forward", "reverse", "random", "interleaved"], ...] = (
            "forward", "random", "reverse", "interleaved",
        )  # fmt: skip
        quick = [m for m in pool if m.sizes not in self.slow] or pool[:1]
        slow = [m for m in pool if m not in quick]
        for index in range(self.budget.examples):
            base = slow.pop() if slow and index % 4 == 2 else quick[index % len(quick)]
            seed = self.budget.seed + (index // len(quick)) % (3 if base.mode != "seed" else 1000)
            made = base if seed == base.seed else self.again(session, base, seed)
            own = self.task.structured or index % 4 == 0 or not any(a and _float(a) for a in made.inputs)
            recipe = None if own else Recipe(KINDS[index % len(KINDS)], self.budget.seed + index)
            before = CALLS if index == 1 else int(index % 3 == 1)
            yield Example(made, recipe, (orders[index % 4], index), before)

    def again(self, session: Session, base: Made, seed: int) -> Made:
        key = (base.sizes, seed)
        if key not in self.made:
            self.made[key] = self.make(session, dict(base.sizes), seed)
        return self.made[key]

    def others(self, made: Made, recipe: Recipe | None, call: int) -> list[Array]:
        """Inputs of the same kind with other numbers."""
        if recipe is not None:
            return _inputs(made, Recipe(recipe.kind, recipe.seed + 7 * (call + 1)))
        key = (made.sizes, made.seed, call % 2)
        if key not in self.drawn:
            facts, blobs = self.oracle.sample(
                {**self.wire, "sizes": dict(made.sizes)}, made.seed + 1000 + call % 2
            )
            rest = iter(blobs[2 * len(facts["state"]) :])
            self.drawn[key] = [
                Array(e["tensor"][0], tuple(e["tensor"][1]), next(rest))
                for e in facts["inputs"]
                if "tensor" in e
            ]
        return self.drawn[key]

    # --- one example ---

    def once(
        self, session: Session, example: Example, garbage: str | None = None, seeded: bool = False
    ) -> tuple[Result, list[Array], dict[str, Array]]:
        """Run ModelNew. Its result, the inputs, and the model's state that goes with it."""
        made = example.made
        inputs = _inputs(made, example.recipe)
        count = iter(range(len(inputs)))
        arguments = [
            {"tensor": next(count)} if "tensor" in entry else {"value": entry["value"]}
            for entry in made.facts["inputs"]
        ]
        session.build(dict(made.sizes), made.facts["init"], made.seed)
        held: list[Array] = []
        state: dict[str, int] = {}
        by_name = made.mode != "seed" and not seeded
        if by_name:
            for own, name in made.mapping.items():
                state[own] = len(inputs) + len(held)
                held.append(made.later[name])
        for call in range(example.before):
            others = self.others(made, example.recipe, call)
            session.run(state, arguments, [*others, *held], seed=made.seed, order=example.order, keep=True)
        result = session.run(
            state,
            arguments,
            [*inputs, *held],
            seed=made.seed,
            order=example.order,
            garbage=garbage,
            keep=example.before > 0,
        )
        self.outcome.decided |= session.decided
        for label, n in result.launched.items():
            self.outcome.launched[label] = self.outcome.launched.get(label, 0) + n
        return result, inputs, made.later if by_name else made.first

    def one(
        self, session: Session, example: Example, garbage: str | None = None, seeded: bool = False
    ) -> Compared:
        result, inputs, state = self.once(session, example, garbage, seeded)
        changed = next(
            (i for i, (a, b) in enumerate(zip(inputs, result.inputs, strict=True)) if a.data != b), None
        )
        words = f"argument {changed} of forward" if changed is not None else ""
        compared = self.compare(example, result, inputs, state)
        return Compared(compared.fault, compared.checked, words, frozenset(result.launched))

    def compare(
        self, example: Example, result: Result, inputs: list[Array], state: dict[str, Array]
    ) -> Compared:
        made = example.made
        floats = {n: a for n, a in state.items() if _float(a)}
        places = [i for i, a in enumerate(made.inputs) if a is not None]
        operands = [f"argument {i}" for i in places] + [f"parameter {n}" for n in floats]
        arguments = [
            {"tensor": True, "value": None} if "tensor" in e else {"value": e["value"]}
            for e in made.facts["inputs"]
        ]
        wire = {**self.wire, "sizes": dict(made.sizes), "operands": operands, "arguments": arguments}
        tensors = tuple(_tensor(a) for a in [*inputs, *floats.values()])
        outputs = [NAMES[o.dtype] for o in result.outputs]
        got = (
            tuple(_tensor(o) for o in result.outputs) if any(d not in dtypes.FLOATS for d in outputs) else ()
        )
        format_ = next((d for d in outputs if d in dtypes.FLOATS), "f32")
        answers = self.oracle.expect(Question(wire, format_, tensors, got=got))
        if len(answers) != len(result.outputs):
            return Compared(f"ModelNew gives {len(result.outputs)} tensors, Model {len(answers)}")
        if made.facts["outputs"] is None:
            raise Undecided(
                "the type of what Model gives is not known: it does not run in its own types here"
            )
        for number, (output, dtype) in enumerate(zip(result.outputs, made.facts["outputs"], strict=True)):
            if output.dtype != dtype:
                return Compared(f"output {number} holds {output.dtype}, not {dtype}; {example.text()}")
        checked = 0
        for number, (output, expected) in enumerate(zip(result.outputs, answers, strict=True)):
            if output.shape != expected.shape:
                return Compared(f"the output has shape {output.shape}, not {expected.shape}")
            dtype = NAMES[output.dtype]
            comparison = compare(dtypes.decode(output.data, dtype), expected, dtype)
            m = comparison.mismatch
            if m is not None:
                which = f" {number}" if len(answers) > 1 else ""
                wrong = "" if m.count == 1 else f"; {m.count} of {expected.value.size} elements are wrong"
                allowed = "" if m.low == m.high else f" (allowed {m.low:.9g} to {m.high:.9g})"
                return Compared(
                    f"output{which}[{m.index}] of ModelNew is {m.got:.9g}, not {m.expected:.9g}{allowed}{wrong}; "
                    f"{example.text()}",
                    1,
                )
            width = _width(expected)
            self.outcome.width = min(self.outcome.width, width)
            checked += comparison.checked if width <= TELLING else 0
        return Compared("", checked)

    # --- verdicts ---

    def confirm(self, example: Example, compared: Compared, known: bool) -> None:
        """A mismatch counts if it comes again in an unoptimised build, and is not due to parameters that were set.

        ``known``: ModelNew was right with set parameters before, so it uses them.
        """
        with self.session("O0") as session:
            session.load(self.shared_object)
            again = self.one(session, example)
            if not again.fault:
                raise Undecided(f"not reproduced in an unoptimised build: {compared.fault}")
            mode = example.made.mode
            if mode == "seed" and not example.made.equal:
                raise Undecided(
                    f"the same seed does not give ModelNew the parameters of Model: {compared.fault}"
                )
            if mode == "order" or (mode == "name" and not known):
                first = self.one(session, example, seeded=True)
                if mode == "order" and not (first.fault and example.made.equal):
                    raise Undecided(
                        f"which parameter of ModelNew is which of Model's is a guess, by order: {compared.fault}"
                    )
                if not first.fault:
                    raise Undecided(
                        f"right for the parameters of the start, not for others (ModelNew copies them?): {compared.fault}"
                    )
                again = first if mode == "order" else again
        self.outcome.wrong = again.fault

    def far(self, session: Session, example: Example) -> str:
        """What is wrong for values far from the problem's own, if anything is."""
        if self.task.structured or not any(a is not None and _float(a) for a in example.made.inputs):
            return ""
        for kind in FAR:
            try:
                fault = self.one(session, replace(example, recipe=Recipe(kind, self.budget.seed))).fault
            except (Stopped, OracleError):
                continue
            if fault:
                return fault
        return ""

    def noticed(self, session: Session, good: list[tuple[Example, frozenset[str]]]) -> None:
        """Garbage in place of what a kernel writes must show, or the comparison says nothing about the kernel."""
        if not self.outcome.launched:
            raise Undecided("ModelNew.forward launches no kernel of the submission")
        for label in list(self.outcome.launched):
            for example in [e for e, labels in good if label in labels][:4]:
                try:
                    if self.one(session, example, garbage=label).fault:
                        break
                except (
                    Stopped
                ) as error:  # an exception of the submission's own compares what it should compute
                    if not error.raised:
                        raise
            else:
                raise Undecided(
                    f"garbage in place of what {label} writes is not noticed: the output does not depend on it, "
                    "or the bounds of the model are too wide"
                )


def unseen(contracts: Sequence[Contract], kernels: Sequence[ir.Kernel], outcome: Outcome) -> list[str]:
    """What the problem's own sizes launch, or decide in a kernel, and no run did."""
    found: dict[str, None] = {}
    known = {(k.name, k.instantiation): k for k in kernels}
    names = {label.partition("<")[0] for label in outcome.launched}
    for contract in contracts if not (outcome.doubt or outcome.wrong) else ():
        own = thresholds.own_sizes(contract)
        kernel = known.get((contract.kernel, contract.instantiation))
        if own is None or kernel is None or contract.origin == "drafted":
            continue
        if kernel.label not in outcome.launched:
            if kernel.name in names:  # of another element type
                continue
            found[f"{kernel.label} is launched at the problem's own sizes, and at no size that was run"] = (
                None
            )
            continue
        for place, text in thresholds.conditions(thresholds.compares(kernel), contract).items():
            said = thresholds.holds(text, own)
            if (kernel.label, place, said) not in outcome.decided:
                side = text if said else f"(not {text})"
                found[f"{kernel.label} looks at {side}, which is true at no size that was run"] = None
    return list(found)


def matched(own: dict[str, Array], model: dict[str, Array]) -> tuple[dict[str, str], bool]:
    """ModelNew's floating-point tensors -> the model's, and whether that is a guess.

    By name; then those of equal contents, which the same seed gave; then those of one shape. Several of equal contents,
    or of one shape, are taken in order, which is a guess; groups that are not equally many are left alone.
    """
    found = {n: n for n, a in own.items() if n in model and model[n].shape == a.shape and _float(a)}

    guessed = False
    for by_contents in (True, False):
        groups: dict[object, tuple[list[str], list[str]]] = {}
        for side, arrays, taken in ((0, own, set(found)), (1, model, set(found.values()))):
            for name, array in arrays.items():
                if name not in taken and _float(array):
                    key = array.shape, array.data if by_contents else b""
                    groups.setdefault(key, ([], []))[side].append(name)
        for ours, theirs in groups.values():
            if ours and len(ours) == len(theirs):
                found.update(zip(ours, theirs, strict=True))
                guessed = guessed or not by_contents or len(ours) > 1
    return found, guessed


def _inputs(made: Made, recipe: Recipe | None) -> list[Array]:
    inputs = [a for a in made.inputs if a is not None]
    return inputs if recipe is None else [_drawn(a, i, recipe) for i, a in enumerate(inputs)]


def _sorted(array: Array) -> bytes:
    """The numbers of a tensor, in whatever order and shape it holds them."""
    if not _float(array):
        return b""
    return np.sort(dtypes.decode(array.data, NAMES[array.dtype])).tobytes()


def _float(array: Array) -> bool:
    return NAMES.get(array.dtype, "") in dtypes.FLOATS


def _tensor(array: Array) -> Tensor:
    return Tensor(NAMES[array.dtype], array.shape, array.data)


def _drawn(array: Array, index: int, recipe: Recipe) -> Array:
    """Other values for a floating-point input."""
    if not _float(array):
        return array
    dtype = NAMES[array.dtype]
    count = len(array.data) // dtypes.size(dtype)
    drawn = values.fill(Recipe(recipe.kind, recipe.seed + 1000 * index), count, dtype, Operand("x"))
    return Array(array.dtype, array.shape, dtypes.encode(drawn, dtype))


def _width(expected: Expected) -> float:
    """Half the width of the middle bound, as part of the largest value."""
    if expected.accepted is not None or not expected.value.size:
        return 0.0
    with np.errstate(all="ignore"):
        half = np.nan_to_num((expected.high - expected.low) / 2, nan=math.inf, posinf=math.inf)
        finite = expected.value[np.isfinite(expected.value)]
    middle, largest = float(np.median(half)), float(np.abs(finite).max()) if finite.size else 0.0
    return middle / largest if largest else (0.0 if middle == 0 else math.inf)


def _said(sizes: dict[str, int]) -> str:
    return ", ".join(f"{k}={v}" for k, v in sizes.items()) or "the problem's sizes"
