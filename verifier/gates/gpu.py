"""The GPU half of the sanitize gate: which kernels may run on a GPU, and what compute-sanitizer says of them.

Nothing that was refuted reaches a GPU, nor what was seen to fail in the simulator, nor a launch that nobody vouches for; what
is not proved only if the policy says so (``gpu-unknown``), and always under compute-sanitizer. Invariant: PASS only if all
four tools watched every launch of every contract, each proved by its seeded fault, and reported nothing.

Example::

    run(context, (simulated,)).detail      # "nvcc is missing: pip install 'verify-kernel[gpu]', or the CUDA toolkit"
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sanitizers.campaign import Plan
from sanitizers.gpu.campaign import GpuCampaign, GpuFault, explore
from sanitizers.gpu.records import TOOLS
from sanitizers.gpu.watch import GpuMissing, Machine, find
from specs.contract import Contract
from specs.policy import REQUIRED_PROPERTIES
from specs.results import Finding, GateResult, Outcome, Severity, ThreadAccess, Verdict, Witness
from verifier.gates.context import GateContext
from verifier.ir.nodes import Kernel
from verifier.isolation import Sandbox

GREEN = (Verdict.PROVED, Verdict.NOT_APPLICABLE)


@cache
def machine(sandbox: Sandbox, folder: Path | None) -> Machine:
    """This machine's GPU, asked once a process. Raises GpuMissing."""
    return find(sandbox=sandbox, cache=folder)


def run(context: GateContext, earlier: Sequence[GateResult], launches: int) -> GateResult:
    """Run every launch of the submission under the four tools. ``earlier``: all that is known of it so far."""
    start = time.monotonic()
    if reason := kept_away(context, earlier):
        return _result(start, Outcome.NOT_RUN, reason)
    try:
        gpu = machine(context.sandbox, context.cache)
    except GpuMissing as error:
        return _result(start, Outcome.NOT_RUN, str(error))
    findings: list[Finding] = []
    doubts: list[str] = []
    facts: list[dict[str, Any]] = []
    broken = ""
    for contract in context.contracts:
        kernel = _kernel(context, contract)
        assert kernel is not None, "kept_away looked"
        context.progress(f"{kernel.label} on the GPU")
        plan = Plan(launches, seed=context.seed, deadline=context.deadline)
        campaign = explore(gpu, context.submission.device, kernel, contract, plan, progress=context.progress)
        findings += [finding(f, gpu, kernel.label) for f in campaign.faults]
        facts.append(_facts(kernel.label, campaign))
        if campaign.trouble:
            doubts.append(f"{kernel.label}: {campaign.trouble}")
            broken = broken or (doubts[-1] if campaign.broken else "")
        elif tuple(campaign.clean) != TOOLS and not campaign.faults:
            doubts.append(f"{kernel.label}: only {', '.join(campaign.clean) or 'no tool'} ran")
        if campaign.faults or campaign.broken:
            break
    if findings:
        first = findings[0]
        outcome, detail = Outcome.FAIL, f"{first.kernel}: {first.id} at {first.span}: {first.message}"
    elif broken:
        outcome, detail = Outcome.ERROR, broken
    elif doubts:
        outcome, detail = Outcome.INCONCLUSIVE, doubts[0]
    else:
        outcome, detail = Outcome.PASS, ""
    return _result(start, outcome, detail, findings, {**gpu.versions(), "ran": True, "kernels": facts})


def kept_away(context: GateContext, earlier: Sequence[GateResult]) -> str:
    """Why nothing of this file may reach a GPU, or ""."""
    if not context.contracts:
        return "no launch with a contract: there is nothing to run"
    for contract in context.contracts:
        if _kernel(context, contract) is None:
            return f"{contract.kernel} could not be read"
        if contract.origin == "drafted" or contract.gaps:
            return f"{contract.kernel}: its launch is not known (draft or gaps), so it does not reach a GPU"
        if any(not c.accepted for c in (*contract.requires, *contract.no_alias)):
            return f"{contract.kernel}: its contract is not accepted, so it does not reach a GPU"
    for gate in earlier:
        if gate.outcome in (Outcome.FAIL, Outcome.ERROR):
            return f"{gate.gate} says {gate.outcome}, and nothing refuted reaches a GPU"
        for found in gate.findings:
            shown = found.witness is not None and found.witness.domain != "edge"
            if found.severity is Severity.ERROR or shown:
                return f"{gate.gate} shows {found.id} at {found.span}, and nothing refuted reaches a GPU"
    for gate in earlier:
        for kernel in gate.kernels:
            for property_ in kernel.properties:
                if property_.verdict in (Verdict.REFUTED, Verdict.ERROR):
                    said = f"{kernel.name}: {property_.id} {property_.verdict}"
                    return f"{said}, and nothing refuted reaches a GPU"
    unknown = "" if context.policy.gpu_unknown else not_proved(context, earlier)
    return (
        f"{unknown}; what is not proved reaches a GPU only by policy (gpu-unknown = true)" if unknown else ""
    )


def not_proved(context: GateContext, earlier: Sequence[GateResult]) -> str:
    """What no proof covers, or ""."""
    proved = [k for gate in earlier if gate.gate == "prove" for k in gate.kernels]
    if len(proved) < len(context.contracts):
        return "not every launch has a verdict of the prover"
    for kernel in proved:
        green = {p.id for p in kernel.properties if p.verdict in GREEN}
        for id_ in REQUIRED_PROPERTIES:
            if id_ not in green:
                return f"{kernel.name}: {id_} is not proved"
    return ""


def _kernel(context: GateContext, contract: Contract) -> Kernel | None:
    wanted = (contract.kernel, contract.instantiation)
    return next((k for k in context.module.kernels if (k.name, k.instantiation) == wanted), None)


def finding(fault: GpuFault, gpu: Machine, label: str, gate: str = "sanitize") -> Finding:
    """A record of the tool, or a failed launch, with the launch that shows it."""
    seen, launch = fault.finding, fault.launch
    threads = [ThreadAccess(seen.block, seen.thread, seen.action or seen.message, seen.span)]
    witness = Witness(
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        symbols=launch.symbols,
        scalars=launch.scalars,
        buffers={b.param: b.numel for b in launch.buffers},
        threads=() if fault.tool == "racecheck" else tuple(threads),  # it does not name threads
        replayed=True,
        replayed_by=f"compute-sanitizer ({fault.tool}) on {gpu.device}" if fault.tool else gpu.device,
    )
    return Finding(
        id=seen.property,
        severity=Severity.ERROR,
        span=seen.span,
        message=seen.message,
        kernel=label,
        witness=witness,
        why=f"compute-sanitizer's {fault.tool} reported it on a real GPU"
        if fault.tool
        else "it happened on a GPU",
        related=((seen.other.span, seen.other.action),) if seen.other is not None else (),
        gate=gate,
    )


def _facts(label: str, campaign: GpuCampaign) -> dict[str, Any]:
    return {
        "kernel": label,
        "launches": campaign.launches,
        "launches_made": campaign.made,
        "clean": campaign.clean,
        "seconds": campaign.seconds,
        "trouble": campaign.trouble,
    }


def _result(
    start: float,
    outcome: Outcome,
    detail: str,
    findings: Sequence[Finding] = (),
    facts: dict[str, Any] | None = None,
) -> GateResult:
    return GateResult(
        gate="sanitize",
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=tuple(findings),
        detail=f"GPU: {detail}" if detail else "",
        facts=facts or {"ran": False, "why": detail},
    )
