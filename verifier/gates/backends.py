"""What the simulator and a GPU say of one gate, as one result: parts -> GateResult.

Invariant: PASS only if each backend that was asked for passed, and the policy asks for no other.

Example::

    together("sanitize", context, [simulated, on_gpu])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from specs.results import Finding, GateResult, Outcome
from verifier.gates.context import GateContext

ORDER = (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.PASS)
"""What decides first."""


def together(
    gate: str, context: GateContext, parts: Sequence[GateResult], facts: dict[str, Any], unseen: str
) -> GateResult:
    """``unseen``: what is not checked where only the GPU was asked."""
    worst = min(parts, key=lambda p: ORDER.index(p.outcome))
    outcome, detail = worst.outcome, worst.detail
    lacking = context.backend not in ("both", context.policy.sanitize)
    if lacking and outcome is Outcome.PASS:
        outcome = Outcome.INCONCLUSIVE
        detail = (
            f"the policy asks for the backend {context.policy.sanitize}; only {context.backend} was chosen"
        )
    elif outcome is Outcome.NOT_RUN and len(parts) > 1:
        outcome = Outcome.INCONCLUSIVE
    alone = (unseen,) if context.backend == "gpu" else ()
    return GateResult(
        gate=gate,
        outcome=outcome,
        seconds=sum(p.seconds for p in parts),
        findings=tuple(_distinct(parts)),
        not_checked=tuple(dict.fromkeys((*alone, *(n for p in parts for n in p.not_checked)))),
        detail=detail,
        facts=facts,
    )


def _distinct(parts: Sequence[GateResult]) -> Iterator[Finding]:
    said: set[object] = set()
    for finding in (f for p in parts for f in p.findings):
        key = (finding.id, finding.kernel, finding.span, finding.message)
        if key not in said:
            said.add(key)
            yield finding
