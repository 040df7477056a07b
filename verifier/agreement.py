"""The prover's verdicts in the light of what runs have shown: gate results -> gate results.

A finding with a replayed witness is a refutation: UNKNOWN becomes REFUTED. If the prover had PROVED that very property,
one of the two readers is wrong: the property becomes ERROR, and nothing that was proved of the kernel counts.
``overflow`` and ``arithmetic`` are the exception: the simulator sees every undefined operation, the proof is about
those that reach an address, condition or barrier, so there the finding simply stands.

Example: ``agree((prove_gate, sanitize_gate))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specs.results import Finding, GateResult, KernelResult, Outcome, PropertyResult, Severity, Verdict

WIDER_IN_THE_SIMULATOR = frozenset(("overflow", "arithmetic"))


def agree(gates: Sequence[GateResult]) -> tuple[GateResult, ...]:
    """The gates, with the prove gate's properties settled by what the simulator and the GPU saw."""
    seen = [
        f
        for g in gates
        if g.gate in ("sanitize", "fuzz")
        for f in g.findings
        if f.severity is Severity.ERROR and f.witness is not None and f.witness.replayed
    ]
    return tuple(_settle(g, seen) if g.gate == "prove" and seen else g for g in gates)


def _settle(gate: GateResult, seen: list[Finding]) -> GateResult:
    kernels = tuple(_kernel(k, [f for f in seen if _names(k, f.kernel)]) for k in gate.kernels)
    verdicts = [(k, p) for k in kernels for p in k.properties]
    for k, p in verdicts:
        if p.verdict is Verdict.ERROR:
            return replace(
                gate, kernels=kernels, outcome=Outcome.ERROR, detail=f"{k.name}: {p.id}: {p.detail}"
            )
    for k, p in verdicts:
        if p.verdict is Verdict.REFUTED:
            detail = f"{k.name}: {p.id} refuted at line {p.span.line}"
            return replace(gate, kernels=kernels, outcome=Outcome.FAIL, detail=detail)
    return replace(gate, kernels=kernels)


def _names(kernel: KernelResult, label: str) -> bool:
    full = f"{kernel.name}<{', '.join(kernel.instantiation)}>" if kernel.instantiation else kernel.name
    return label in (full, kernel.name, "")


def _kernel(kernel: KernelResult, seen: list[Finding]) -> KernelResult:
    by_id = {f.id: f for f in reversed(seen)}
    return replace(kernel, properties=tuple(_property(p, by_id.get(p.id)) for p in kernel.properties))


def _property(found: PropertyResult, seen: Finding | None) -> PropertyResult:
    if seen is None or found.verdict in (Verdict.REFUTED, Verdict.ERROR):
        return found
    if found.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE) and found.id not in WIDER_IN_THE_SIMULATOR:
        by = seen.witness.replayed_by if seen.witness is not None else "a run"
        detail = f"proved, but {by} shows a fault at {seen.span}: one of the two is wrong; please report it"
        return replace(found, verdict=Verdict.ERROR, detail=detail, span=seen.span)
    return replace(found, verdict=Verdict.REFUTED, reason=None, detail=seen.message, span=seen.span)
