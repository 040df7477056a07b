"""The GPU half of the fuzz gate: the same cases, references and bounds, with the launches on a real GPU.

What may reach the GPU is what may reach it in the sanitize gate (gpu.py): nothing refuted, nothing that nobody vouches for. What
is proved runs between guard bytes; what is not, only by policy, and then every launch of it under memcheck, whose silence
counts only with its seeded fault. Invariant: PASS only after the whole budget on the device; a fault of memory is a finding of
its own, never a note about the numbers.

Example::

    run(context, earlier).facts["device"]["device"]      # "NVIDIA H200"
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from fuzz.executor import Executor
from fuzz.gpu import GpuProcess
from sanitizers.gpu.watch import GpuMissing
from specs.results import GateResult, Outcome
from verifier.gates import gpu as gpus
from verifier.gates.context import GateContext
from verifier.gates.fuzz import Place, judge
from verifier.ir.nodes import Kernel


def run(context: GateContext, earlier: Sequence[GateResult]) -> GateResult:
    """``earlier``: all that is known of the submission so far."""
    start = time.monotonic()
    if reason := gpus.kept_away(context, earlier):
        return _not_run(start, reason)
    try:
        machine = gpus.machine(context.sandbox, context.cache)
    except GpuMissing as error:
        return _not_run(start, str(error))
    watched = bool(gpus.not_proved(context, earlier))
    place = Place(
        name=f"GPU ({machine.device})",
        second="another process on the GPU",
        witness=machine.device,
        again="runs it in the simulator",
        whole=False,
    )
    processes: dict[str, GpuProcess] = {}
    with ExitStack() as stack:

        def executor(kernel: Kernel, opt: str) -> Executor:
            if opt not in processes:
                device = context.submission.device
                processes[opt] = stack.enter_context(GpuProcess(machine, device, watched=watched))
            return processes[opt].executor(kernel)

        judged = judge(context, executor, start, place)
        ends = [process.finish() for process in processes.values()]
    faults = [fault for process in processes.values() for fault in process.faults]
    broken = next((p.broken for p in processes.values() if p.broken), "")
    doubt = next((end.refusal for end in ends if end.refusal), "")
    facts: dict[str, Any] = {
        **machine.versions(),
        "ran": True,
        "launches": sum(p.launches for p in processes.values()),
        "watched": "memcheck" if watched else "guard bytes",
    }
    findings = [*judged.findings, *(gpus.finding(f, machine, k.label, "fuzz") for k, f in faults)]
    outcome, detail = judged.outcome, judged.detail
    if faults:
        shown = findings[-1]
        outcome, detail = Outcome.FAIL, f"{shown.kernel}: {shown.id} at {shown.span}: {shown.message}"
    elif broken and outcome is not Outcome.FAIL:
        outcome, detail = Outcome.ERROR, broken
    elif doubt and outcome is Outcome.PASS:
        outcome, detail = Outcome.INCONCLUSIVE, doubt
    return replace(
        judged,
        outcome=outcome,
        detail=f"GPU: {detail}" if detail else "",
        findings=tuple(findings),
        facts={**judged.facts, "device": facts},
        seconds=time.monotonic() - start,
    )


def _not_run(start: float, why: str) -> GateResult:
    facts = {"backend": "GPU", "device": {"ran": False, "why": why}}
    return GateResult("fuzz", Outcome.NOT_RUN, time.monotonic() - start, detail=f"GPU: {why}", facts=facts)
