"""Report -> the machine report ``verify-kernel/1``; its JSON Schema is ``schema.json`` beside this file.

Invariant: stable; fields are added, never renamed or removed. Every string that came from a submission is cleaned.

Example::

    data = to_data(report)
    data["files"][0]["verdict"]      # "PASS"
    render(report)                   # the same as indented text
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from specs.contract import Clause, Contract
from specs.results import (
    FileResult,
    Finding,
    GateResult,
    KernelResult,
    Outcome,
    Report,
    ThreadAccess,
    Witness,
)
from verifier.judge import findings_of
from verifier.report.clean import clean

SCHEMA = "verify-kernel/1"
GATES = ("static", "prove", "sanitize", "fuzz")


def render(report: Report) -> str:
    return json.dumps(to_data(report), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def to_data(report: Report) -> dict[str, Any]:
    """The report as JSON-able data."""
    data = {
        "schema": SCHEMA,
        "tool": report.tool,
        "files": [_file(f) for f in report.files],
        "notes": list(report.notes),
        "complete": report.complete,
        "exit": report.exit,
    }
    cleaned: dict[str, Any] = _clean(data)
    return cleaned


def _file(file: FileResult) -> dict[str, Any]:
    kernels = [k for g in file.gates if g.gate == "prove" for k in g.kernels]
    assumptions = {(a.text, a.origin): a for g in file.gates for a in g.assumptions}
    return {
        "path": file.path,
        "sha256": file.sha256,
        "verdict": str(Outcome.ERROR if file.verdict is Outcome.NOT_RUN else file.verdict),
        "seconds": round(file.seconds, 3),
        "headline": file.headline,
        "message": file.message,
        "bad_input": file.bad_input,
        "reasons": list(file.reasons),
        "not_checked": list(file.not_checked),
        "gates": {g: {"result": "NOT_RUN", "seconds": 0.0, "detail": "", "facts": {}} for g in GATES}
        | {g.gate: _gate(g) for g in file.gates},
        "kernels": [_kernel(k) for k in kernels],
        "findings": [_finding(f) for f in findings_of(file.gates)],
        "assumptions": [_clause(a) for a in assumptions.values()],
        "draft": file.draft,
    }


def _gate(gate: GateResult) -> dict[str, Any]:
    return {
        "result": str(gate.outcome),
        "seconds": round(gate.seconds, 3),
        "detail": gate.detail,
        "facts": gate.facts,
    }


def _kernel(kernel: KernelResult) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "instantiation": list(kernel.instantiation),
        "line": kernel.span.line,
        "contract": _contract(kernel.contract) if kernel.contract else None,
        "properties": {
            p.id: {
                "verdict": str(p.verdict),
                "reason": str(p.reason) if p.reason else None,
                "detail": p.detail,
                "line": p.span.line,
                "obligations": p.obligations,
                "proved": p.proved,
                "seconds": round(p.seconds, 3),
                "frontier": p.frontier,
                "safe_for": p.safe_for,
                "depends": list(p.depends),
            }
            for p in kernel.properties
        },
    }


def _contract(contract: Contract) -> dict[str, Any]:
    launch = contract.launch
    return {
        "origin": contract.origin,
        "launch": {
            "grid": list(launch.grid),
            "block": list(launch.block),
            "shared_bytes": launch.shared_bytes,
            "line": launch.span.line,
        },
        "clauses": [_clause(c) for c in (*contract.requires, *contract.no_alias)],
        "gaps": list(contract.gaps),
    }


def _clause(clause: Clause) -> dict[str, Any]:
    return {
        "text": clause.text,
        "origin": clause.origin,
        "accepted": clause.accepted,
        "path": clause.span.path,
        "line": clause.span.line,
        "note": clause.note,
        "fix": clause.fix,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": str(finding.severity),
        "path": finding.span.path,
        "line": finding.span.line,
        "column": finding.span.column,
        "message": finding.message,
        "kernel": finding.kernel,
        "gate": finding.gate,
        "why": finding.why,
        "witness": _witness(finding.witness) if finding.witness else None,
        "related": [
            {"path": s.path, "line": s.line, "column": s.column, "message": text}
            for s, text in finding.related
        ],
        "fix": finding.fix,
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "grid": list(witness.grid),
        "block": list(witness.block),
        "shared_bytes": witness.shared_bytes,
        "symbols": witness.symbols,
        "scalars": witness.scalars,
        "buffers": witness.buffers,
        "data": {p: {str(i): v for i, v in elements.items()} for p, elements in witness.data.items()},
        "threads": [_thread(t) for t in witness.threads],
        "replayed": witness.replayed,
        "replayed_by": witness.replayed_by if witness.replayed else "",
        "domain": witness.domain,
    }


def _thread(access: ThreadAccess) -> dict[str, Any]:
    return {
        "block": list(access.block),
        "thread": list(access.thread),
        "action": access.action,
        "path": access.span.path,
        "line": access.span.line,
    }


def _clean(value: Any) -> Any:
    """JSON-able and harmless: strings cleaned, floats finite, everything else by its text."""
    match value:
        case str():
            return clean(str(value))
        case bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {clean(str(k)): _clean(v) for k, v in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_clean(v) for v in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _clean(dataclasses.asdict(value))
        case _:
            return clean(str(value))
