"""The fuzz gate: does the kernel compute what the reference computes? context -> GateResult.

Runs the kernel in the simulator on drawn sizes and values and compares with the reference in another process, within a
bound derived for each element. Without a reference it did not run, and says which one the kernel's name suggests.
Invariant: PASS only after the whole budget of compared examples; a mismatch is reported only after it failed
again in an unoptimised build.

Example::

    run(context).facts["kernels"][0]["examples"]     # 100
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzz import binding, problems, sizes
from fuzz import reference as references
from fuzz.case import Fault, Job
from fuzz.counterexample import save
from fuzz.executor import Executor, SimulatorExecutor
from fuzz.oracle import Oracle, OracleError
from fuzz.runner import Budget, Found, explore
from specs.clauses import ClauseError, ClauseUndefined
from specs.contract import Contract
from specs.results import Finding, GateResult, Outcome, Severity, Witness
from verifier.gates.context import GateContext
from verifier.ir.nodes import Kernel

EXAMPLES = {"low": 25, "default": 100, "high": 500}
WHY = "the reference was evaluated in float64; the bound is the rounding that a right kernel may show for these inputs"
UNSURE = "it differs under every shape that was tried, but the contract leaves the shapes open; state them"
MakeExecutor = Callable[[Kernel, str], Executor]


def run(context: GateContext) -> GateResult:
    """Fuzz every launch that has a contract."""
    start = time.monotonic()

    def executor(kernel: Kernel, opt: str) -> SimulatorExecutor:
        return SimulatorExecutor(
            context.submission.device, kernel, context.sandbox, opt=opt, cache=context.cache
        )

    from sanitizers.simulator import SimulatorMissing

    try:
        return judge(context, executor, start)
    except SimulatorMissing as error:
        return GateResult("fuzz", Outcome.NOT_RUN, time.monotonic() - start, detail=str(error))


def judge(context: GateContext, executor: MakeExecutor, start: float) -> GateResult:
    """The gate for any executor (tests bring their own)."""
    if context.reference is None and context.problem is None:
        return _not_run(context, start)
    findings: list[Finding] = []
    facts: list[dict[str, Any]] = []
    doubts: list[str] = []
    torch = ""
    with ExitStack() as stack:
        oracle = stack.enter_context(
            Oracle(context.sandbox, readable=references.files(context.reference or ""))
        )
        try:
            for contract in context.contracts:
                jobs, complete = _jobs(context, contract, oracle, doubts)
                if not jobs:
                    continue
                context.progress(f"fuzzing {jobs[0].kernel.label}")
                job, found = _best(context, jobs, complete, executor, oracle, stack)
                findings += _findings(context, job, found)
                facts.append(_facts(job, found))
                doubts += _doubts(context, job, found)
        except OracleError as error:
            doubts.append(str(error))
        torch = oracle.torch
    failed = any(f.severity is Severity.ERROR for f in findings)
    outcome = Outcome.FAIL if failed else Outcome.INCONCLUSIVE if doubts or not facts else Outcome.PASS
    special = any(f.id == "numerics-special" for f in findings)
    unchecked = [f"{k['kernel']}: {', '.join(k['side'])} (not in the reference)" for k in facts if k["side"]]
    unchecked += ["NaN and infinity in the inputs differ from the reference"] if special else []
    errors = [f.message for f in findings if f.severity is Severity.ERROR]
    return GateResult(
        gate="fuzz",
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=tuple(findings),
        not_checked=tuple(unchecked) if not failed else (),
        detail=(errors or doubts or [""])[0] if outcome is not Outcome.PASS else "",
        facts={
            "doubts": doubts,
            "seed": context.seed,
            "reference": _said(context),
            "torch": torch,
            "kernels": facts,
        },
    )


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


def _jobs(
    context: GateContext, contract: Contract, oracle: Oracle, doubts: list[str]
) -> tuple[list[Job], bool]:
    """Kernel, contract and each reading of the reference (and whether these are all), or a doubt why there is none."""
    mine = (contract.kernel, contract.instantiation)
    kernel = next((k for k in context.module.kernels if (k.name, k.instantiation) == mine), None)
    if kernel is None:
        doubts.append(f"{contract.kernel} could not be read")
        return [], True
    if contract.origin == "drafted":
        doubts.append(f"{kernel.label} has no contract (only a draft): the sizes to fuzz are not known")
        return [], True
    try:
        pool = sizes.pool(contract, seed=context.seed)
        if context.reference is not None:
            reference = references.parse(context.reference, [p.name for p in kernel.params])
            bound = binding.bind(kernel, contract, reference, pool)
        else:
            bound = _of_problem(context, contract, kernel, pool, oracle)
        forbidden = context.policy.nan == "forbidden"
        return [Job(kernel, contract, b, pool, forbidden) for b in bound.bindings], bound.complete
    except (binding.Unbound, references.BadReference, ClauseError, ClauseUndefined) as error:
        doubts.append(f"{kernel.label}: {error}")
        return [], True


def _of_problem(
    context: GateContext, contract: Contract, kernel: Kernel, pool: Sequence[dict[str, int]], oracle: Oracle
) -> binding.Readings:
    assert context.problem is not None
    if len(context.contracts) > 1:
        raise binding.Unbound(
            f"{len(context.contracts)} launches make the output together; one can be compared"
        )
    return problems.bind(kernel, contract, context.problem, context.submission, pool, oracle.describe)


def _best(
    context: GateContext,
    jobs: list[Job],
    complete: bool,
    executor: MakeExecutor,
    oracle: Oracle,
    stack: ExitStack,
) -> tuple[Job, Found]:
    """The first reading under which the kernel is right; if it is wrong under each, the first one's fault.

    There is more than one reading only where the contract does not say the order of dims.
    """
    made: dict[str, Executor] = {}

    def opened(opt: str) -> Executor:
        if opt not in made:
            made[opt] = executor(jobs[0].kernel, opt)
            close = getattr(made[opt], "close", None)
            if close is not None:
                stack.callback(close)
        return made[opt]

    budget = Budget(EXAMPLES.get(context.effort, EXAMPLES["default"]), context.seed, context.deadline)
    wrong: list[tuple[Job, Found]] = []
    impossible: OracleError | None = None
    for job in jobs:
        try:
            found = explore(job, opened("O1"), oracle, budget, confirm=lambda: opened("O0"))
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
            f"{label}: the simulator reports {found.seen.property} at {where}{found.seen.message} (see sanitize)"
        ]
    if found.cut:
        wanted = EXAMPLES.get(context.effort, EXAMPLES["default"])
        return [f"{label}: the time was over after {found.examples} of {wanted} examples; give it --timeout"]
    if not found.examples:
        why = found.unfit or f"{found.vacuous} had no usable bound"
        return [f"{label}: no example could be compared ({why})"]
    if gaps:
        return [f"{label}: missing contract: {gaps[0]}"]
    if any(not c.accepted for c in job.contract.requires):
        return [f"{label}: a clause that came with the submission counts only once it is accepted"]
    return []


def _findings(context: GateContext, job: Job, found: Found) -> list[Finding]:
    findings = []
    if found.fault is not None:
        severity = Severity.WARNING if job.contract.gaps else Severity.ERROR
        findings.append(_finding(context, job, found.fault, severity))
    elif found.edge is not None:
        severity = Severity.ERROR if context.policy.strict and not job.contract.gaps else Severity.WARNING
        findings.append(_finding(context, job, found.edge, severity, special=True))
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
    context: GateContext, job: Job, fault: Fault, severity: Severity, *, special: bool = False
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
        domain="edge" if special else "general",
    )
    fix = ""
    if severity is Severity.ERROR:
        folder = context.keep or Path(".verify-kernel")
        path = save(folder, Path(context.submission.path), job, fault)
        fix = f"pytest {path} shows it again"
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
    }
