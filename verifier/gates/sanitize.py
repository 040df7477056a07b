"""The sanitize gate: every contract's launch at small sizes in the simulator, under several schedules; or on a GPU (gpu.py).

PASS only if, for each launch, at least one run was complete and no run showed a fault; FAIL on a fault; INCONCLUSIVE
where something has no meaning in the simulator, no launch can be made, or one missing clause explains the fault.
'No fault in these runs' is never called a proof.

Example::

    run(context).facts["runs"]     # 16
"""

from __future__ import annotations

import time
from typing import Any

from sanitizers.campaign import Campaign, Fault, Plan, explore
from sanitizers.selftest import selftest
from sanitizers.simulator import SCHEDULES, SimulatorMissing
from specs.contract import Contract
from specs.results import Finding, GateResult, Outcome, Severity, ThreadAccess, Verdict, Witness
from verifier.gates.backends import together
from verifier.gates.context import GateContext
from verifier.ir.nodes import Kernel
from verifier.prover.wording import why

PLANS = {"low": (2, 1), "default": (5, 1), "high": (12, 3)}
"""effort -> launches, rounds of schedules."""
WHY = {
    "bounds-global": "the access lies outside its buffer: it reads or overwrites memory of somebody else",
    "bounds-shared": "the access lies outside its shared array: it reads or overwrites another array of the block",
    "bounds-local": "the access lies outside its local array",
    "alignment": "an access must be aligned to its own size; the hardware faults otherwise",
    "race-shared": "nothing orders the two accesses, so either may come first on a GPU",
    "race-global": "nothing orders the two accesses, so either may come first on a GPU",
    "barrier-divergence": "every thread that a barrier names must reach it, or the kernel hangs or goes on undefined",
    "overflow": "signed overflow is undefined, and the value is wrong wherever it is used",
    "arithmetic": "the operation is undefined for these operands",
    "uninitialized": "the value is whatever was in memory before",
    "assert": "the program's own check fails",
    "termination": "the kernel does not end",
}


def run(context: GateContext) -> GateResult:
    """Run every launch of the submission at small sizes, on each backend that was asked for."""
    if context.backend == "sim" and context.policy.sanitize == "sim":
        return _simulated(context)
    from verifier.gates import gpu

    parts = [_simulated(context)] if context.backend != "gpu" else []
    if context.backend != "sim":
        launches = PLANS.get(context.effort, PLANS["default"])[0]
        parts.append(gpu.run(context, (*context.earlier, *parts), launches))
    return _together(context, parts)


def _together(context: GateContext, parts: list[GateResult]) -> GateResult:
    facts = parts[0].facts if context.backend != "gpu" else {}
    on_gpu = {"gpu": parts[-1].facts} if context.backend != "sim" else {}
    names = {"sim": "simulator", "gpu": "compute-sanitizer", "both": "simulator, compute-sanitizer"}
    facts = {**facts, **on_gpu, "backend": names[context.backend]}
    return together("sanitize", context, parts, facts, "not run in the simulator")


def _simulated(context: GateContext) -> GateResult:
    start = time.monotonic()
    try:
        broken = selftest(sandbox=context.sandbox, cache=context.cache)
        if broken is not None:
            return _result(context, start, Outcome.ERROR, broken)
        return _run(context, start)
    except SimulatorMissing as error:
        return _result(context, start, Outcome.NOT_RUN, str(error))


def _run(context: GateContext, start: float) -> GateResult:
    findings: list[Finding] = []
    doubts: list[str] = []
    limits: list[str] = []
    facts: list[dict[str, Any]] = []
    for contract in context.contracts:
        label = _label(contract)
        kernel = _find(context, contract)
        if kernel is None:
            doubts.append(f"{label} could not be read")
            continue
        context.progress(f"running {label}")
        launches, rounds = PLANS.get(context.effort, PLANS["default"])
        plan = Plan(
            launches, rounds, seed=context.seed, deadline=context.deadline, archs=context.policy.archs
        )
        campaign = explore(
            context.submission.device, kernel, contract, plan, sandbox=context.sandbox, cache=context.cache
        )
        doubt = _doubt(contract, campaign)
        findings += [_finding(f, contract, _benign(context, contract, f)) for f in campaign.faults]
        doubts += [f"{label}: {doubt}"] if doubt else []
        limits += [f"{label}: {limit}" for limit in campaign.limits]
        facts.append(_facts(label, campaign))
    errors = [f for f in findings if f.severity is Severity.ERROR]
    if not context.contracts:
        doubts.append("no launch with a contract: there is nothing to run")
    if errors:
        outcome, detail = (
            Outcome.FAIL,
            f"{errors[0].kernel}: {errors[0].id} at {errors[0].span}: {errors[0].message}",
        )
    elif doubts:
        outcome, detail = Outcome.INCONCLUSIVE, doubts[0]
    else:
        outcome, detail = Outcome.PASS, ""
    return _result(context, start, outcome, detail, findings, facts, limits)


def _label(contract: Contract) -> str:
    arguments = ", ".join(contract.instantiation)
    return f"{contract.kernel}<{arguments}>" if arguments else contract.kernel


def _find(context: GateContext, contract: Contract) -> Kernel | None:
    kernels = context.module.kernels
    return next(
        (k for k in kernels if (k.name, k.instantiation) == (contract.kernel, contract.instantiation)), None
    )


def _doubt(contract: Contract, campaign: Campaign) -> str:
    """Why this launch's runs cannot count as clean, or ""."""
    if campaign.unsupported:
        return f"not supported by the simulator: {campaign.unsupported}"
    if missing := [f.missing for f in campaign.faults if f.missing]:
        return f"missing contract: a fault is gone with {missing[0]}"
    if contract.origin == "drafted":
        return "the contract is only a draft"
    if contract.gaps:
        return f"missing contract: {contract.gaps[0]}"
    if not campaign.launches:
        return "no small launch satisfies the contract"
    if campaign.complete == 0:
        limit = campaign.limits[0] if campaign.limits else "resources: the time for this file is over"
        return f"no run was complete ({limit})"
    if any(not c.accepted for c in contract.requires):
        return "a clause that came with the submission counts only once it is accepted"
    return ""


def _benign(context: GateContext, contract: Contract, fault: Fault) -> bool:
    """Two stores to one place that the policy allows if they are equal, and that the prover has shown to be equal."""
    seen = fault.finding
    if not (context.policy.benign_same_value and seen.property.startswith("race") and seen.other is not None):
        return False
    if not (seen.action.startswith("writes") and seen.other.action.startswith("writes")):
        return False
    mine = (contract.kernel, contract.instantiation)
    verdicts = [
        p.verdict
        for gate in context.earlier
        if gate.gate == "prove"
        for k in gate.kernels
        if (k.name, k.instantiation) == mine
        for p in k.properties
        if p.id == seen.property
    ]
    return bool(verdicts) and all(v is Verdict.PROVED for v in verdicts)


def _finding(fault: Fault, contract: Contract, benign: bool = False) -> Finding:
    seen, launch = fault.finding, fault.launch
    counts = not fault.missing and contract.origin != "drafted" and not contract.gaps
    own = ThreadAccess(seen.block, seen.thread, seen.action or seen.message, seen.span)
    threads = (own, seen.other) if seen.other is not None else (own,)
    values = {s.name: s.value for s in contract.symbols}
    problem = bool(values) and all(v is not None and launch.symbols.get(n) == v for n, v in values.items())
    witness = Witness(
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        symbols=launch.symbols,
        scalars=fault.scalars,
        buffers={b.param: b.numel for b in launch.buffers},
        threads=threads,
        replayed=True,
        domain="problem" if problem else "general",
    )
    related = (
        ((seen.other.span, seen.other.action),) if seen.other is not None and seen.other.span.line else ()
    )
    return Finding(
        id=seen.property,
        severity=Severity.NOTE if benign else Severity.ERROR if counts else Severity.WARNING,
        span=seen.span,
        message=f"{seen.message} (the same value, which the policy allows)" if benign else seen.message,
        kernel=_label(contract),
        witness=witness,
        why=why(seen.property, threads, WHY),
        fix=f"state in the contract, or check on the host: {fault.missing}" if fault.missing else "",
        related=related,
        gate="sanitize",
    )


def _facts(label: str, campaign: Campaign) -> dict[str, Any]:
    return {
        "kernel": label,
        "launches": campaign.launches,
        "runs": campaign.runs,
        "complete": campaign.complete,
        "blocks_run": campaign.blocks_run,
        "blocks_launched": campaign.blocks_launched,
        "accesses": campaign.accesses,
        "lines": len(campaign.lines),
        "not_run": sorted(str(s) for s in campaign.not_run),
        "unsupported": campaign.unsupported,
        "missing": sorted({f.missing for f in campaign.faults} - {""}),
        "predicted": campaign.predicted,
    }


def _result(
    context: GateContext,
    start: float,
    outcome: Outcome,
    detail: str,
    findings: list[Finding] | None = None,
    facts: list[dict[str, Any]] | None = None,
    limits: list[str] | None = None,
) -> GateResult:
    kernels = facts or []
    return GateResult(
        gate="sanitize",
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=tuple(findings or ()),
        not_checked=tuple(f"simulator: {limit}" for limit in limits or ()),
        detail=detail,
        facts={
            "backend": "simulator",
            "seed": context.seed,
            "schedules": list(SCHEDULES),
            "sandbox": context.sandbox.kind,
            "runs": sum(k["runs"] for k in kernels),
            "blocks_run": sum(k["blocks_run"] for k in kernels),
            "blocks_launched": sum(k["blocks_launched"] for k in kernels),
            "lines": sum(k["lines"] for k in kernels),
            "not_run": sorted({n for k in kernels for n in k["not_run"]}),
            "kernels": kernels,
        },
    )
