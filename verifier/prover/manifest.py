"""``--keep-obligations``: everything that was proved, as SMT-LIB files and a manifest, for ``verify-kernel recheck``.

Verdicts and evidence of a file's launches -> a folder. Invariant: only new files are written; the manifest comes last,
so that a folder with one is whole. Equal statements are one file.

Example: ``saxpy.cu-1f0c…/manifest.json``, ``saxpy.cu-1f0c…/0001-saxpy-bounds-global-12.smt2``
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from specs.results import KernelResult
from specs.version import VERSION
from verifier.prover.evidence import Evidence, Statement
from verifier.source.device_text import Submission

SCHEMA = "verify-kernel-obligations/1"
MANIFEST = "manifest.json"


def write(
    folder: Path, submission: Submission, kernels: Sequence[KernelResult], evidence: Sequence[Evidence]
) -> None:
    """One file for each different statement, and what it belongs to."""
    folder.mkdir(parents=True, exist_ok=False)
    entries: dict[str, dict[str, Any]] = {}
    done: dict[int, list[dict[str, Any]]] = {}
    launches = []
    for i, (kernel, found) in enumerate(zip(kernels, evidence, strict=True)):
        launches.append(_launch(kernel))
        if id(found) in done:  # a launch of the same shape
            for entry in done[id(found)]:
                entry["launches"].append(i)
            continue
        own = done[id(found)] = []
        for s in found.statements(kernel.contract) if kernel.contract is not None else ():
            digest = hashlib.sha256(_without_comment(s.text).encode()).hexdigest()
            if digest not in entries:
                entries[digest] = _entry(folder, len(entries) + 1, kernel, s)
            entry = entries[digest]
            claim = {"property": s.property, "line": s.line, "claim": s.claim}
            if claim not in entry["claims"]:
                entry["claims"].append(claim)
            if i not in entry["launches"]:
                entry["launches"].append(i)
                own.append(entry)
    content = {
        "schema": SCHEMA,
        "tool": {"verify-kernel": VERSION, "z3-solver": metadata.version("z3-solver")},
        "source": {"path": submission.path, "sha256": submission.sha256},
        "launches": launches,
        "obligations": list(entries.values()),
    }
    text = json.dumps(content, indent=1, ensure_ascii=True) + "\n"
    with (folder / MANIFEST).open("x", encoding="utf-8") as file:
        file.write(text)


def _launch(kernel: KernelResult) -> dict[str, Any]:
    contract = kernel.contract
    clauses = [*contract.requires, *contract.no_alias, *contract.assumptions] if contract else []
    return {
        "kernel": kernel.name,
        "instantiation": list(kernel.instantiation),
        "line": contract.launch.span.line if contract else 0,
        "clauses": [{"text": c.text, "origin": c.origin} for c in clauses],
        "properties": {p.id: str(p.verdict) for p in kernel.properties},
    }


def _entry(folder: Path, number: int, kernel: KernelResult, s: Statement) -> dict[str, Any]:
    what = s.kind if s.kind == "simplification" else f"{s.property}-{s.line}"
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{number:04}-{kernel.name[:60]}-{what}.smt2")
    entry = _file(folder, name, s.text, s.checks)
    if s.steps is not None:
        entry["steps"] = _file(folder, name.removesuffix(".smt2") + ".steps.smt2", *s.steps)
    return entry | {"kind": s.kind, "launches": [], "claims": [], "verdict": "PROVED", "by": s.by}


def _file(folder: Path, name: str, text: str, checks: int) -> dict[str, Any]:
    data = text.encode()
    with (folder / name).open("xb") as file:
        file.write(data)
    return {"file": name, "sha256": hashlib.sha256(data).hexdigest(), "checks": checks}


def _without_comment(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith(";"))
