"""``verify-kernel recheck``: the obligations that an audit kept, asked again of another solver.

Folder of ``--keep-obligations`` -> what the other solver says of each: confirmed, unknown, or CONTRADICTED. Invariant:
nothing that was not looked at counts as confirmed; a file that differs from its manifest is not judged.

Example::

    recheck(Path("kept"), Request("cvc5", seconds=10))   # Outcome(rows=…, …).status == 0
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifier.prover.manifest import MANIFEST, SCHEMA
from verifier.report.clean import line
from verifier.report.style import plural
from verifier.smt.second import BadScript, Reply, Second

CONFIRMED, UNKNOWN, CONTRADICTED = "confirmed", "unknown", "CONTRADICTED"
_MOST = 64 << 20
_MOMENT = 2.0


class BadFolder(Exception):
    """The folder cannot be rechecked; the message is one line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One obligation: what was claimed (``entry`` of the manifest in ``folder``), and what the other solver says.

    ``checks``: of a file of many claims, how many were confirmed, unknown, contradicted.
    """

    folder: Path
    entry: dict[str, Any]
    kernel: str
    status: str
    seconds: float
    core: tuple[str, ...] = ()
    why: str = ""
    checks: tuple[int, int, int] = (0, 0, 0)
    by_steps: bool = False

    @property
    def what(self) -> str:
        """In words."""
        e = self.entry
        first, more = e["claims"][0], len(e["claims"]) - 1
        claim = f"{first['property']}  line {first['line']}  {first['claim']}" + (
            f" (and {more} more)" if more else ""
        )
        return f"{self.kernel}  {claim}  [{e['by']}]  {self.folder / e['file']}"


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that was rechecked."""

    solver: str
    rows: tuple[Row, ...]
    seconds: float

    @property
    def status(self) -> int:
        """Exit status: 1 if one is contradicted, 3 if one is unknown (or there is none), else 0."""
        states = {r.status for r in self.rows}
        return 1 if CONTRADICTED in states else 3 if UNKNOWN in states or not states else 0


def recheck(
    folder: Path,
    solver: str,
    seconds: float,
    core: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Result:
    """Ask again. Raises BadFolder and SolverMissing."""
    start = time.monotonic()
    todo = [(place, manifest, e) for place, manifest in manifests(folder) for e in manifest["obligations"]]
    texts = [
        tuple(_text(place, x) for x in (entry, entry.get("steps")) if x is not None)
        for place, _, entry in todo
    ]
    rows: list[Row] = []
    with Second(solver, seconds, core) as second:
        for (place, manifest, entry), text in zip(todo, texts, strict=True):
            progress(len(rows), len(todo))
            begun = time.monotonic()
            try:
                replies = list(_asked(second, *text))
            except BadScript as error:
                raise BadFolder(f"{place / entry['file']}: {error}") from None
            rows.append(_row(place, manifest, entry, replies, time.monotonic() - begun))
    return Result(solver, tuple(rows), time.monotonic() - start)


def _asked(second: Second, claim: str, steps: str = "") -> Iterator[Reply]:
    """The claim as it stands, for a moment; if that leaves it open, by the steps of its proof; then again for longer."""
    yield (first := second.ask(claim, _MOMENT if steps else None))
    if steps and "unknown" in first.results:
        yield (by_steps := second.ask(steps))
        if "unknown" in by_steps.results and second.seconds > _MOMENT:
            yield second.ask(claim)


def manifests(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The manifests in the folder and those one below it."""
    found = [p for p in (folder / MANIFEST, *sorted(folder.glob(f"*/{MANIFEST}"))) if p.is_file()]
    if not folder.is_dir():
        raise BadFolder(f"{folder}: no such folder; check the path")
    if not found:
        raise BadFolder(f"{folder}: no {MANIFEST} in it; verify-kernel --keep-obligations DIR writes one")
    for path in found:
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            assert manifest["schema"] == SCHEMA
            for e in manifest["obligations"]:
                for x in (e, e.get("steps", e)):
                    assert x["file"] == Path(x["file"]).name and isinstance(x["sha256"], str)
                    assert isinstance(x["checks"], int)
                assert all(isinstance(e[k], t) for k, t in _FIELDS.items())
                assert all(isinstance(manifest["launches"][i]["kernel"], str) for i in e["launches"])
                assert e["claims"] and all(
                    isinstance(c[k], t) for c in e["claims"] for k, t in _CLAIM.items()
                )
        except (OSError, ValueError, LookupError, TypeError, AssertionError):
            raise BadFolder(f"{path}: not a manifest of {SCHEMA}") from None
        yield path.parent, manifest


_FIELDS = {"by": str, "kind": str, "launches": list, "claims": list}
_CLAIM = {"property": str, "line": int, "claim": str}


def _text(place: Path, entry: dict[str, Any]) -> str:
    path = place / entry["file"]
    try:
        with path.open("rb") as file:
            data = file.read(_MOST)
    except OSError as error:
        raise BadFolder(f"{path}: {error.strerror}; keep the folder as it was written") from None
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise BadFolder(f"{path}: its text is not the one of the manifest (sha256); nothing was rechecked")
    text = str(data, "utf-8", "replace")
    if text.count("(check-sat)") != entry["checks"]:
        raise BadFolder(f"{path}: it does not ask what the manifest says; nothing was rechecked")
    return text


def _row(
    place: Path, manifest: dict[str, Any], entry: dict[str, Any], replies: list[Reply], seconds: float
) -> Row:
    """Confirmed if one way of asking is answered unsat throughout, and no answer is sat."""
    reply = next((r for r in replies if set(r.results) == {"unsat"}), replies[-1])
    kernels = dict.fromkeys(manifest["launches"][i]["kernel"] for i in entry["launches"])
    if any("sat" in r.results for r in replies):
        status, reply = CONTRADICTED, next(r for r in replies if "sat" in r.results)
    else:
        status = CONFIRMED if set(reply.results) == {"unsat"} else UNKNOWN
    if entry["kind"] == "simplification":
        checks = reply.results.count("unsat"), reply.results.count("unknown"), reply.results.count("sat")
    else:
        checks = int(status == CONFIRMED), int(status == UNKNOWN), int(status == CONTRADICTED)
    return Row(
        place, entry, ", ".join(kernels), status, seconds, reply.core, reply.why, checks, len(replies) > 1
    )


def as_text(result: Result, verbose: bool = False) -> str:
    """For people: contradictions first, then what is open, then a table by property."""
    rows = []
    for status in (CONTRADICTED, UNKNOWN):
        chosen = [r for r in result.rows if r.status == status]
        for r in chosen if verbose or status == CONTRADICTED else chosen[:10]:
            more = f" ({r.checks[0]} of {r.entry['checks']} confirmed)" if r.entry["checks"] > 1 else ""
            rows.append(f"{status}  {r.what}{more}" + (f"  ({r.why})" if r.why else ""))
        if status == UNKNOWN and len(chosen) > 10 and not verbose:
            rows.append(f"and {len(chosen) - 10} more unknown (-v shows them)")
    if verbose:
        for r in result.rows:
            if r.status == CONFIRMED:
                rows += [f"{r.status}  {r.what}", *(f"    rests on  {name}" for name in _used(r))]
    rows += ["", *_table(result), "", *_rests(result), _verdict(result)]
    return "\n".join(line(text) for text in rows).lstrip("\n")


def _table(result: Result) -> Iterator[str]:
    names = dict.fromkeys(_group(r) for r in result.rows)
    width = max((len(n) for n in names), default=0)
    yield f"{'':{width}}  confirmed  unknown  contradicted"
    for name in names:
        group = [r for r in result.rows if _group(r) == name]
        n = [sum(r.checks[i] for r in group) for i in range(3)]
        yield f"{name:{width}}  {n[0]:9}  {n[1]:7}  {n[2]:12}"


def _group(row: Row) -> str:
    kind: str = row.entry["kind"]
    return str(row.entry["claims"][0]["property"]) if kind == "claim" else kind


def _rests(result: Result) -> Iterator[str]:
    """Preconditions that proofs really used, with how many claims each; only where cores are known."""
    used = Counter(
        name.split(" ", 1)[1] for r in result.rows for name in set(_used(r)) if " contract: " in name
    )
    if used:
        yield "preconditions that proofs used (unsat cores), and in how many"
        yield from (f"  {count:5}  {name.removeprefix('contract: ')}" for name, count in used.most_common(12))
        yield ""


def _used(row: Row) -> Iterator[str]:
    """Assumptions of the core, without its definitions and the claim itself."""
    return (n for n in row.core if n[:1].isdigit() and ": " in n)


def _verdict(result: Result) -> str:
    counts = Counter(r.status for r in result.rows)
    said = [f"{counts[s]} {s}" for s in (CONFIRMED, UNKNOWN, CONTRADICTED) if counts[s] or s == CONFIRMED]
    text = f"{plural(len(result.rows), 'file')} asked of {result.solver}: {', '.join(said)} in {result.seconds:.1f} s"
    if counts[CONTRADICTED]:
        return f"{text}\nCONTRADICTED: what was proved does not hold; trust none of these verdicts, and report this"
    return text


def as_json(result: Result) -> str:
    """For machines."""
    rows = [
        {
            "folder": str(r.folder),
            **{k: r.entry[k] for k in ("file", "sha256", "kind", "claims", "by")},
            "kernel": r.kernel,
            "status": r.status,
            "seconds": round(r.seconds, 3),
            "by_steps": r.by_steps,
            "checks": dict(zip((CONFIRMED, UNKNOWN, CONTRADICTED), r.checks, strict=True)),
            "used": list(_used(r)),
            "why": r.why,
        }
        for r in result.rows
    ]
    data = {
        "schema": "verify-kernel-recheck/1",
        "solver": result.solver,
        "obligations": rows,
        "exit": result.status,
    }
    return json.dumps(data, indent=1, ensure_ascii=True)
