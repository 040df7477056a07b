"""What the model learns of a failed attempt: a ``FileResult`` -> JSON-able feedback.

Built from rule ids, lines, witnesses, missing clauses and our own messages. Invariant: of the submitted text only
identifiers and short expressions get in; whatever quotes one of its comments or strings is masked, every text is one
bounded printable line, and the number of entries is bounded.

Example::

    build(result, candidate)["findings"][0]
    # {"id": "bounds-global", "line": 12, "kernel": "scale", "message": "...", "witness": {"threads": [...], ...}}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from generator.answers import MALFORMED, Candidate, Malformed
from generator.stripping import clean, mask, plain_name, quoted_prose
from specs.contract import Clause
from specs.location import Span
from specs.results import FileResult, Finding, GateResult, Outcome, Severity, Verdict, Witness
from verifier.judge import findings_of

_PLACE = re.compile(r"(?:[\w.~-]*/)*([\w.-]+\.(?:py|cu|cuh|h|hpp|toml))(?::(\d+))?(?::\d+)?")
"""A path (and line) in a message: folders of this machine are nobody's business."""
MAX_FINDINGS = 8
MAX_UNDECIDED = 8
MAX_CHECKS = 8
MAX_REASONS = 6

Feedback = dict[str, Any]
_Say = Callable[[str], str]


def build(result: FileResult, candidate: Candidate) -> Feedback:
    """Feedback on a candidate that the gates have judged."""
    masked = mask(quoted_prose(candidate))

    def say(text: str) -> str:
        return masked(
            _PLACE.sub(lambda m: f"line {m[2]}" if m[2] and m[1] == candidate.file_name else m[1], text)
        )

    findings = [f for f in findings_of(result.gates) if f.severity is not Severity.NOTE]
    undecided = [_undecided(g, say, candidate) for g in result.gates]
    feedback: Feedback = {
        "verdict": result.verdict.value,
        "gates": {_slug(g.gate): _gate(g, say) for g in result.gates},
        "findings": [_finding(f, say, candidate) for f in findings[:MAX_FINDINGS]],
        "undecided": [entry for entries in undecided for entry in entries][:MAX_UNDECIDED],
        "missing_checks": _missing_checks(result, say),
    }
    if result.verdict is not Outcome.PASS and result.reasons:
        feedback["reasons"] = [say(r) for r in result.reasons[:MAX_REASONS]]
    if result.bad_input:
        feedback["error"] = say(result.message)
    elif result.verdict is Outcome.ERROR:
        feedback["error"] = "the verifier failed on this file; write the same computation in a plainer way"
    if len(findings) > MAX_FINDINGS:
        feedback["more_findings"] = len(findings) - MAX_FINDINGS
    return feedback


def of_malformed(malformed: Malformed) -> Feedback:
    """Feedback on an answer without a usable candidate."""
    return {"verdict": "NO CANDIDATE", "error_code": malformed.code, "error": MALFORMED[malformed.code]}


def headline(feedback: Feedback) -> str:
    """A few words for the list of earlier attempts and for the terminal."""
    if "error_code" in feedback:
        return f"{feedback['verdict']} ({feedback['error_code']})"
    ids = [f"{f['id']} line {f['line']}" if f.get("line") else str(f["id"]) for f in feedback["findings"]]
    ids = ids or [f"{u['property']} undecided" for u in feedback["undecided"]]
    return f"{feedback['verdict']} ({', '.join(dict.fromkeys(ids))})" if ids else str(feedback["verdict"])


def _gate(gate: GateResult, say: _Say) -> str:
    return f"{gate.outcome.value}: {say(gate.detail)}" if gate.detail else gate.outcome.value


def _finding(finding: Finding, say: _Say, candidate: Candidate) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": _slug(finding.id),
        "line": _line(finding.span, candidate),
        "kernel": plain_name(finding.kernel),
        "severity": finding.severity.value,
        "message": say(finding.message),
    }
    if finding.why:
        entry["why"] = say(finding.why)
    if finding.fix:
        entry["fix"] = say(finding.fix)
    if finding.witness is not None:
        entry["witness"] = _witness(finding.witness, say, candidate)
    if finding.related:
        entry["related"] = [
            {"line": _line(span, candidate), "message": say(text)} for span, text in finding.related[:4]
        ]
    return {k: v for k, v in entry.items() if v not in (None, "")}


def _witness(witness: Witness, say: _Say, candidate: Candidate) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "grid": list(witness.grid),
        "block": list(witness.block),
        "shared_bytes": witness.shared_bytes,
        "sizes": _numbers(witness.symbols),
        "arguments": _numbers(witness.scalars),
        "elements": _numbers(witness.buffers),
        "threads": [
            {
                "thread": list(t.thread),
                "block": list(t.block),
                "does": say(t.action),
                "line": _line(t.span, candidate),
            }
            for t in witness.threads[:2]
        ],
        "replayed": witness.replayed,
    }
    data = {
        plain_name(p): {str(i): v for i, v in sorted(d.items())[:8]} for p, d in sorted(witness.data.items())
    }
    if data:
        entry["contents"] = dict(list(data.items())[:8])
    return {k: v for k, v in entry.items() if v not in ({}, [])}


def _numbers(values: dict[str, int] | dict[str, int | float | None]) -> dict[str, int | float | str | None]:
    """JSON has no NaN: other than finite floats are sent as text."""
    finite = {
        plain_name(n): v if v is None or isinstance(v, int) or abs(v) < float("inf") else str(v)
        for n, v in values.items()
    }
    return dict(list(finite.items())[:24])


def _undecided(gate: GateResult, say: _Say, candidate: Candidate) -> list[dict[str, Any]]:
    entries = [
        {
            "property": _slug(p.id),
            "kernel": plain_name(kernel.name),
            "reason": p.reason.value if p.reason else p.verdict.value,
            "line": _line(p.span, candidate),
            "detail": say(p.detail),
        }
        for kernel in gate.kernels
        for p in kernel.properties
        if p.verdict in (Verdict.UNKNOWN, Verdict.ERROR)
    ]
    return [{k: v for k, v in e.items() if v not in (None, "")} for e in entries]


def _missing_checks(result: FileResult, say: _Say) -> list[str]:
    """Host checks that would turn an assumption into a fact, as ready lines."""
    clauses: list[Clause] = [c for g in result.gates for c in g.assumptions]
    for gate in result.gates:
        for kernel in gate.kernels:
            if kernel.contract is not None:
                clauses += [
                    *kernel.contract.requires,
                    *kernel.contract.assumptions,
                    *kernel.contract.no_alias,
                ]
    fixes = [c.fix or c.text for c in clauses if c.origin == "assumed"]
    gaps = [gap for g in result.gates for k in g.kernels if k.contract is not None for gap in k.contract.gaps]
    return list(dict.fromkeys(say(text) for text in [*fixes, *gaps]))[:MAX_CHECKS]


def _line(span: Span, candidate: Candidate) -> int | None:
    """A line of the candidate; None for other files (headers) and unknown places."""
    return span.line if span.line > 0 and PurePath(span.path).name == candidate.file_name else None


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", clean(text, 60))
