"""The fuzz gate: does the kernel compute what the reference computes? context -> GateResult.

Runs the kernel in the simulator, or on a GPU (fuzz_gpu.py), on drawn sizes and values and compares with the reference in
another process, within a bound derived for each element. Without a reference it did not run, and says which one the
kernel's name suggests.
Invariant: PASS only after the whole budget of compared examples; a mismatch is reported only after it failed
again in an unoptimised build, or in another process of the GPU.

Example::

    run(context).facts["kernels"][0]["examples"]     # 100
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fuzz import binding, problems, sizes
from fuzz import chain as chains
from fuzz import reference as references
from fuzz.case import Fault, Job
from fuzz.counterexample import save
from fuzz.executor import Executor, SimulatorExecutor
from fuzz.landmarks import branches_on_data, landmarks
from fuzz.oracle import Oracle, OracleError
from fuzz.runner import Budget, Found, explore
from fuzz.thresholds import elsewhere, widened
from fuzz.whole import explore as explore_whole
from specs.clauses import ClauseError, ClauseUndefined
from specs.contract import Contract
from specs.location import Span
from specs.results import Finding, GateResult, Outcome, Severity, Witness
from verifier.contracts.problem import Problem
from verifier.gates.backends import together
from verifier.gates.context import GateContext
from verifier.ir.nodes import Kernel

EXAMPLES = {"low": 25, "default": 100, "high": 500}
WHOLE_EXAMPLES = {"low": 8, "default": 20, "high": 100}
WRAPPER = "--run-wrapper runs ModelNew as a whole, in the sandbox"
WHY = "the reference was evaluated in float64; the bound is the rounding that a right kernel may show for these inputs"
NEVER = "which is true at no size that can be run"
UNSURE = "it differs under every shape that was tried, but the contract leaves the shapes open; state them"
MakeExecutor = Callable[[Kernel, str], Executor]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the launches run, in the words of reports. ``second``: what else a fault must fail in."""

    name: str = "simulator"
    second: str = "an unoptimised build"
    witness: str = "the simulator"
    again: str = "shows it again"
    """What the saved test of a fault does."""
    whole: bool = True
    """Whether whole models can be run there."""


SIMULATOR = Place()


def run(context: GateContext) -> GateResult:
    """Fuzz every launch that has a contract, on each backend that was asked for."""
    if context.backend == "sim" or (context.reference is None and context.problem is None):
        return _simulated(context)
    from verifier.gates import fuzz_gpu

    parts = [_simulated(context)] if context.backend == "both" else []
    parts.append(fuzz_gpu.run(context, (*context.earlier, *parts)))
    facts = {**parts[0].facts, "backend": ", ".join(str(p.facts["backend"]) for p in parts)}
    if len(parts) > 1:
        facts["gpu_kernels"] = parts[1].facts.get("kernels", [])
    facts["device"] = parts[-1].facts["device"]
    return together("fuzz", context, parts, facts, "numbers not compared in the simulator")


def _simulated(context: GateContext) -> GateResult:
    start = time.monotonic()

    def executor(kernel: Kernel, opt: str) -> SimulatorExecutor:
        device, blocks = context.submission.device, opt == "O1" and branches_on_data(kernel)
        return SimulatorExecutor(device, kernel, context.sandbox, opt=opt, cache=context.cache, blocks=blocks)

    from sanitizers.simulator import SimulatorMissing

    try:
        return judge(context, executor, start)
    except SimulatorMissing as error:
        facts = {"backend": SIMULATOR.name}
        return GateResult("fuzz", Outcome.NOT_RUN, time.monotonic() - start, detail=str(error), facts=facts)


def judge(context: GateContext, executor: MakeExecutor, start: float, place: Place = SIMULATOR) -> GateResult:
    """The gate for any executor (tests bring their own)."""
    if context.reference is None and context.problem is None:
        return _not_run(context, start)
    findings: list[Finding] = []
    facts: list[dict[str, Any]] = []
    doubts: list[str] = []
    unseen: list[str] = []
    torch = ""
    with ExitStack() as stack:
        oracle = stack.enter_context(
            Oracle(
                context.sandbox,
                readable=references.files(context.reference or ""),
                deadline=context.deadline,
            )
        )
        try:
            units = _units(context, executor, doubts)
            unseen = [f"{u.kernel.label} looks at {text}, {NEVER}" for u in units for text in u.unreached]
            for unit in units:
                alone = len(units) == 1 or _alternatives(units)
                jobs, complete = _jobs(context, unit, alone, oracle, doubts)
                if not jobs:
                    continue
                context.progress(f"fuzzing {unit.kernel.label}")
                job, found = _best(context, jobs, complete, unit.open, oracle, stack, place)
                findings += _findings(context, job, found, place)
                facts.append(_facts(job, found))
                doubts += _doubts(context, job, found)
        except OracleError as error:
            doubts.append(str(error))
        failed = any(f.severity is Severity.ERROR for f in findings)
        if context.problem is not None and context.reference is None and not failed and (doubts or not facts):
            if not place.whole:
                doubts = doubts or [f"{_said(context)} is compared in the simulator only"]
            elif context.run_wrapper:
                extra = tuple(sizes for u in units for sizes in u.extra)
                whole = _whole(context, context.problem, oracle, extra)
                findings += _whole_findings(context, whole)
                facts.append(_whole_facts(context, whole))
                doubts = [whole.doubt] if whole.doubt else []
                unseen = explore_whole.unseen(context.contracts, context.module.kernels, whole)
            elif doubts and context.submission.python:
                doubts[0] += f"; {WRAPPER}"
        torch = oracle.torch
    doubts += unseen
    if context.problem is not None and context.reference is None and elsewhere(context.contracts):
        doubts.append("the problem's own sizes take a way on which no launch was found")
    failed = any(f.severity is Severity.ERROR for f in findings)
    outcome = Outcome.FAIL if failed else Outcome.INCONCLUSIVE if doubts or not facts else Outcome.PASS
    unchecked = [f"{k['kernel']}: line {n} was never run" for k in facts for n in k.get("not_run", ())[:3]]
    special = any(f.id == "numerics-special" for f in findings)
    unchecked += [f"{k['kernel']}: {', '.join(k['side'])} (not in the reference)" for k in facts if k["side"]]
    unchecked += [
        f"{k['kernel']}: NaN or infinity in the inputs makes the simulator report {k['edge_seen']}"
        for k in facts
        if k.get("edge_seen")
    ]
    unchecked += ["NaN, infinity or far values in the inputs differ from the reference"] if special else []
    errors = [f.message for f in findings if f.severity is Severity.ERROR]
    return GateResult(
        gate="fuzz",
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=tuple(findings),
        not_checked=tuple(unchecked) if not failed else (),
        detail=(errors or doubts or [""])[0] if outcome is not Outcome.PASS else "",
        facts={
            "backend": place.name,
            "doubts": doubts,
            "seed": context.seed,
            "reference": _said(context),
            "torch": torch,
            "kernels": facts,
        },
    )


def _whole(
    context: GateContext, problem: Problem, oracle: Oracle, extra: tuple[dict[str, int], ...]
) -> explore_whole.Outcome:
    """ModelNew as a whole, which needs the submission's host code to be compiled and run: only where that was asked for."""
    if context.sandbox.kind == "none":
        return explore_whole.Outcome(
            doubt="--run-wrapper runs the submission's host code, which needs a sandbox"
        )
    if not context.submission.python or not problem.has_model:
        return explore_whole.Outcome(
            doubt="a whole model needs a Python file with ModelNew, and a problem with Model"
        )
    context.progress("running ModelNew")
    task = explore_whole.Task(
        submission=context.submission,
        kernels=context.module.kernels,
        problem=problem,
        sandbox=context.sandbox,
        structured=problems.structured(problem.text),
        cache=context.cache,
        extra=extra,
    )
    wanted = WHOLE_EXAMPLES.get(context.effort, WHOLE_EXAMPLES["default"])
    return explore_whole.explore(task, oracle, Budget(wanted, context.seed, context.deadline))


def _whole_findings(context: GateContext, whole: explore_whole.Outcome) -> list[Finding]:
    span = Span(context.submission.path, 1)
    findings = []
    if whole.wrong:
        findings.append(Finding("numerics", Severity.ERROR, span, whole.wrong, why=WHY, gate="fuzz"))
    elif whole.edge:
        severity = Severity.ERROR if context.policy.strict else Severity.WARNING
        findings.append(Finding("numerics-special", severity, span, whole.edge, why=WHY, gate="fuzz"))
    if whole.changed and not whole.wrong:
        severity = Severity.ERROR if context.policy.strict else Severity.WARNING
        words = f"{whole.changed} is changed in place; Model leaves its arguments alone"
        findings.append(Finding("argument-changed", severity, span, words, gate="fuzz"))
    return findings


def _whole_facts(context: GateContext, whole: explore_whole.Outcome) -> dict[str, Any]:
    return {
        "kernel": ", ".join(whole.launched) or "ModelNew",
        "compared": f"ModelNew as a whole = {_said(context)} (parameters set by {whole.set_by or 'nothing yet'})",
        "examples": whole.examples,
        "without_bound": whole.vacuous,
        "unfit": whole.unfit,
        "launched": whole.launched,
        "width": whole.width if math.isfinite(whole.width) else None,
        "seconds": round(whole.seconds, 3),
        "sizes": whole.sizes,
        "side": [],
    }


def _said(context: GateContext) -> str:
    return context.reference or (f"Model of {context.problem.path}" if context.problem is not None else "")


def _not_run(context: GateContext, start: float) -> GateResult:
    names = [c.kernel for c in context.contracts] or [name for name, _ in context.submission.device.kernels]
    hints = {name: references.suggest(name) for name in names}
    hint = next((f"; {name} looks like --reference {dotted}" for name, dotted in hints.items() if dotted), "")
    return GateResult(
        gate="fuzz",
        outcome=Outcome.NOT_RUN,
        seconds=time.monotonic() - start,
        not_checked=("numerics (no --reference)",),
        detail=f"no reference given{hint}",
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is compared as one: a launch, or the linked launches of one launcher. ``open`` makes its executor."""

    kernel: Kernel
    contract: Contract
    pool: tuple[dict[str, int], ...]
    open: Callable[[str], Executor]
    stages: tuple[Contract, ...] = ()
    landmarks: tuple[float, ...] = ()
    unreached: tuple[str, ...] = ()
    """Conditions on sizes of which no launch that can be run shows this side."""
    extra: tuple[dict[str, int], ...] = ()
    """Sizes of the pool that are there for such conditions."""


def _units(context: GateContext, executor: MakeExecutor, doubts: list[str]) -> list[_Unit]:
    """Launches that data flow links are one unit; every other launch is one by itself."""
    known = {(k.name, k.instantiation): k for k in context.module.kernels}
    launchers: dict[str, list[Contract]] = {}
    for contract in _distinct(context.contracts):
        if (contract.kernel, contract.instantiation) not in known:
            doubts.append(f"{contract.kernel} could not be read")
        elif contract.origin == "drafted":
            doubts.append(
                f"{contract.kernel} has no contract (only a draft): the sizes to fuzz are not known"
            )
        else:
            launchers.setdefault(contract.launch.launcher, []).append(contract)
    units: list[_Unit] = []
    for contracts in launchers.values():
        kernels = [known[c.kernel, c.instantiation] for c in contracts]
        chain = chains.link(contracts, kernels)
        pool = sizes.pool(chain.contract, seed=context.seed) if chain is not None else ()
        if chain is not None and pool:
            whole = partial(chains.ChainExecutor, chain, executor)
            stages = tuple(s.contract for s in chain.stages)
            unit = _Unit(chain.kernel, chain.contract, pool, whole, stages, landmarks(*kernels))
            units.append(_wider(unit, kernels, [s.contract for s in chain.stages], context.seed))
            continue
        for contract, kernel in zip(contracts, kernels, strict=True):
            own = sizes.pool(contract, seed=context.seed)
            unit = _Unit(kernel, contract, own, partial(executor, kernel), (), landmarks(kernel))
            units.append(_wider(unit, [kernel], [contract], context.seed))
    return units


def _wider(unit: _Unit, kernels: Sequence[Kernel], contracts: Sequence[Contract], seed: int) -> _Unit:
    """The unit with sizes on both sides of the conditions in its kernels."""
    for kernel, contract in zip(kernels, contracts, strict=True):
        own = replace(unit.contract, scalars=contract.scalars, launch=contract.launch)
        pool, unreached = widened(unit.pool, own, kernel, seed=seed)
        extra = tuple(s for s in pool if s not in unit.pool)
        unit = replace(unit, pool=pool, extra=(*unit.extra, *extra), unreached=(*unit.unreached, *unreached))
    return unit


def _distinct(contracts: Sequence[Contract]) -> list[Contract]:
    """Without contracts that differ only in which storage is whose (``x`` and ``x.contiguous()``)."""
    found: dict[object, Contract] = {}
    for contract in contracts:
        buffers = tuple(replace(b, storage="", fresh=False, align=0) for b in contract.buffers)
        clauses = tuple(sorted(r.text for r in contract.requires))
        key = (contract.launch, buffers, contract.scalars, contract.symbols, clauses, contract.result)
        found.setdefault(key, contract)
    return list(found.values())


def _alternatives(units: Sequence[_Unit]) -> bool:
    """Whether each unit alone makes the model's output: the one launch of its way through the launcher."""
    return all(not u.stages and u.contract.launch.order == 0 and u.contract.result for u in units)


def _jobs(
    context: GateContext, unit: _Unit, only: bool, oracle: Oracle, doubts: list[str]
) -> tuple[list[Job], bool]:
    """Each reading of the reference for this unit (and whether these are all), or a doubt why there is none."""
    kernel, contract, pool = unit.kernel, unit.contract, unit.pool
    try:
        if context.reference is not None:
            reference = references.parse(context.reference, [p.name for p in kernel.params])
            bound = binding.bind(kernel, contract, reference, pool)
        elif not only:
            raise binding.Unbound(
                "several launches make the model's output, and data flow does not link them"
            )
        else:
            assert context.problem is not None
            bound = problems.bind(
                kernel, contract, context.problem, context.submission, pool, oracle.describe
            )
        forbidden = context.policy.nan == "forbidden"
        jobs = [
            Job(kernel, contract, b, pool, forbidden, unit.stages, unit.landmarks) for b in bound.bindings
        ]
        return jobs, bound.complete
    except (binding.Unbound, references.BadReference, ClauseError, ClauseUndefined) as error:
        doubts.append(f"{kernel.label}: {error}")
        return [], True


def _best(
    context: GateContext,
    jobs: list[Job],
    complete: bool,
    open_: Callable[[str], Executor],
    oracle: Oracle,
    stack: ExitStack,
    place: Place,
) -> tuple[Job, Found]:
    """The first reading under which the kernel is right; if it is wrong under each, the first one's fault.

    There is more than one reading only where the contract does not say the order of dims.
    """
    made: dict[str, Executor] = {}

    def opened(opt: str) -> Executor:
        if opt not in made:
            made[opt] = open_(opt)
            close = getattr(made[opt], "close", None)
            if close is not None:
                stack.callback(close)
        return made[opt]

    wanted = EXAMPLES.get(context.effort, EXAMPLES["default"])
    kept = context.cache / "counterexamples" if context.cache is not None else None
    budget = Budget(wanted, context.seed, context.deadline, kept)
    wrong: list[tuple[Job, Found]] = []
    impossible: OracleError | None = None
    for job in jobs:
        try:
            found = explore(
                job, opened("O1"), oracle, budget, confirm=lambda: opened("O0"), second=place.second
            )
        except OracleError as error:
            if error.missing or len(jobs) == 1:
                raise
            impossible = error  # the reference does not take these shapes
            continue
        if found.fault is None:
            return job, found
        wrong.append((job, found))
    if not wrong:
        raise impossible or OracleError("the reference takes none of the shapes that the buffers may have")
    job, found = wrong[0]
    if complete or found.fault is None:
        return job, found
    return job, replace(found, fault=None, refusal=f"{UNSURE}: {found.fault.message}")


def _doubts(context: GateContext, job: Job, found: Found) -> list[str]:
    """Why this kernel is not passed although no wrong number was found."""
    label, gaps = job.kernel.label, job.contract.gaps
    if found.fault is not None:
        return [f"{label}: missing contract: {gaps[0]}"] if gaps else []
    if found.refusal:
        return [f"{label}: {found.refusal}"]
    if found.seen is not None:
        where = f"{found.seen.span}: " if found.seen.span.line else ""
        return [
            f"{label}: {found.seen.by} reports {found.seen.property} at {where}{found.seen.message} (see sanitize)"
        ]
    wanted = EXAMPLES.get(context.effort, EXAMPLES["default"])
    if found.cut:
        return [f"{label}: the time was over after {found.examples} of {wanted} examples; give it --timeout"]
    if not found.examples:
        why = found.unfit or f"{found.vacuous} had no usable bound"
        return [f"{label}: no example could be compared ({why})"]
    if 4 * found.examples < wanted:
        why = found.unfit or f"{found.vacuous} had no usable bound"
        return [f"{label}: only {found.examples} of {wanted} examples could be compared ({why})"]
    if gaps:
        return [f"{label}: missing contract: {gaps[0]}"]
    if any(not c.accepted for c in job.contract.requires):
        return [f"{label}: a clause that came with the submission counts only once it is accepted"]
    return []


def _findings(context: GateContext, job: Job, found: Found, place: Place) -> list[Finding]:
    findings = []
    if found.fault is not None:
        severity = Severity.WARNING if job.contract.gaps else Severity.ERROR
        findings.append(_finding(context, job, found.fault, severity, place))
    elif found.edge is not None:
        severity = Severity.ERROR if context.policy.strict and not job.contract.gaps else Severity.WARNING
        findings.append(_finding(context, job, found.edge, severity, place, special=True))
    for param in job.binding.outputs:
        buffer = job.contract.buffer(param)
        if found.fault is None and buffer is not None and buffer.source.startswith("argument"):
            severity = Severity.ERROR if context.policy.strict else Severity.WARNING
            words = f"{param} is the model's own argument and is changed in place; Model leaves its arguments alone"
            findings.append(
                Finding("argument-changed", severity, job.kernel.span, words, job.kernel.label, gate="fuzz")
            )
    if not found.deterministic and found.fault is None:
        findings.append(
            Finding(
                id="nondeterministic",
                severity=Severity.NOTE,
                span=job.kernel.span,
                message="another order of the threads gives other bits (within the bound)",
                kernel=job.kernel.label,
                gate="fuzz",
            )
        )
    return findings


def _finding(
    context: GateContext, job: Job, fault: Fault, severity: Severity, place: Place, *, special: bool = False
) -> Finding:
    launch = fault.launch
    witness = Witness(
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        symbols=dict(launch.symbols),
        scalars=dict(launch.scalars),
        buffers={b.param: b.numel for b in launch.buffers},
        threads=(),
        replayed=True,
        replayed_by=place.witness,
        domain="edge" if special else "general",
    )
    fix = ""
    if severity is Severity.ERROR:
        folder = context.keep or Path(".verify-kernel")
        path = save(folder, Path(context.submission.path), job, fault)
        fix = f"pytest {path} {place.again}"
    kinds = ", ".join(
        f"{p}: {r.kind}" for (_, p), r in zip(job.binding.inputs, fault.case.recipes, strict=True)
    )
    return Finding(
        id="numerics-special" if special else "numerics",
        severity=severity,
        span=job.kernel.span,
        message=fault.message,
        kernel=job.kernel.label,
        witness=witness,
        why=f"{WHY} ({kinds})" if fault.mismatch is not None else f"values: {kinds}",
        fix=fix,
        gate="fuzz",
    )


def _facts(job: Job, found: Found) -> dict[str, Any]:
    return {
        "kernel": job.kernel.label,
        "compared": job.binding.text(),
        "examples": found.examples,
        "without_bound": found.vacuous,
        "unfit": found.unfit,
        "runs": found.runs,
        "seconds": round(found.seconds, 3),
        "deterministic": found.deterministic,
        "side": list(job.binding.side),
        "sizes": list(found.sizes),
        "not_run": [s.line for s in found.not_run],
        "edge_seen": ""
        if found.edge_seen is None
        else f"{found.edge_seen.property}: {found.edge_seen.message}",
    }
