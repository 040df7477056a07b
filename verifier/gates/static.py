"""The static gate: rules that read the text alone. FAIL if there is a finding of severity error, else PASS.

A policy may say another severity for a rule about a submission's behaviour, or switch it off. A key of the policy that
names no such rule is INCONCLUSIVE, never ignored.

Example::

    run(context).outcome        # Outcome.PASS
"""

from __future__ import annotations

import time

from specs.results import Finding, GateResult, Outcome, Severity
from verifier.gates.context import GateContext
from verifier.source.reading import Reading
from verifier.static_rules import rules

GATE = "static"
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def run(context: GateContext) -> GateResult:
    """Every rule over the submission."""
    start = time.monotonic()
    reference = context.problem.text if context.problem is not None else ""
    reading = Reading.of(
        context.submission, context.policy.archs, context.module, context.contracts, reference
    )
    said = context.policy.severities
    unknown = sorted(set(said) - {r.id for r in rules() if r.switchable})
    severities = {
        r.id: Severity(said.get(r.id, r.severity.value)) for r in rules() if said.get(r.id) != "off"
    }
    findings = tuple(
        sorted(
            (
                Finding(
                    id=rule.id,
                    severity=severities[rule.id],
                    span=hit.span,
                    message=hit.message,
                    kernel=hit.kernel,
                    why=rule.why,
                    fix=hit.fix or rule.fix,
                    gate=GATE,
                )
                for rule in rules()
                if rule.id in severities
                for hit in dict.fromkeys(rule.check(reading))
            ),
            key=lambda f: (_ORDER[f.severity], f.span.path, f.span.line, f.span.column, f.id),
        )
    )
    errors = [f for f in findings if f.severity is Severity.ERROR]
    outcome, detail = Outcome.PASS, ""
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        outcome, detail = Outcome.FAIL, f"{errors[0].id} at {errors[0].span}{more}"
    elif unknown:
        outcome, detail = (
            Outcome.INCONCLUSIVE,
            f"the policy's severities name {unknown[0]}, which cannot be switched",
        )
    return GateResult(
        gate=GATE,
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=findings,
        detail=detail,
        facts={"rules": len(severities), "severities": dict(sorted(said.items()))},
    )
