"""Corpus records -> figures and tables. Pure: dicts in, dict and Markdown out.

A record is one line of ``corpus.py``'s JSON lines file: ``{"path", "seconds", "exit", "stopped", "crash", "report"}``
with ``report`` the file's part of the tool's JSON report, or None.

*Decided* (the measure of all corpora): every launch x instantiation x required property is PROVED, or REFUTED with a
replayed witness in the problem or general domain. A launch that could not be read leaves its file undecided.

Example::

    figures = summarize(records)
    print(markdown(figures, title="My kernels"))
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specs.policy import REQUIRED_PROPERTIES

Record = Mapping[str, Any]
OUTCOMES = ("PASS", "FAIL", "INCONCLUSIVE", "unreadable", "cut off", "tool error")
_DOMAINS = ("problem", "general")


def outcome(record: Record) -> str:
    """One of OUTCOMES for a file."""
    if record["stopped"]:
        return "cut off"
    report = record["report"]
    if record["crash"] or report is None:
        return "tool error"
    if report["verdict"] == "ERROR":
        return "unreadable" if report["bad_input"] else "tool error"
    return str(report["verdict"])


def confirmed(report: Mapping[str, Any], property_id: str, kernel: str) -> bool:
    """Whether a refutation stands on a replayed witness outside the edge domain."""
    return any(
        f["id"] == property_id
        and f["kernel"].partition("<")[0] in (kernel, "")
        and f["severity"] == "error"
        and f["witness"]
        and f["witness"]["replayed"]
        and f["witness"]["domain"] in _DOMAINS
        for f in report["findings"]
    )


def state(report: Mapping[str, Any], kernel: Mapping[str, Any], property_id: str) -> str:
    """PROVED | REFUTED | NOT_APPLICABLE | UNKNOWN | ERROR | unconfirmed (refuted, not replayed) | missing."""
    result = kernel["properties"].get(property_id)
    if result is None:
        return "missing"
    verdict = str(result["verdict"])
    if verdict == "REFUTED" and not confirmed(report, property_id, kernel["name"]):
        return "unconfirmed"
    return verdict


def decided_launch(
    report: Mapping[str, Any], kernel: Mapping[str, Any], required: Sequence[str] = REQUIRED_PROPERTIES
) -> bool:
    return all(state(report, kernel, p) in ("PROVED", "REFUTED", "NOT_APPLICABLE") for p in required)


def decided(record: Record, required: Sequence[str] = REQUIRED_PROPERTIES) -> bool:
    """See the module's docstring."""
    if outcome(record) not in ("PASS", "FAIL", "INCONCLUSIVE"):
        return False
    report = record["report"]
    return (
        report["gates"]["prove"]["result"] in ("PASS", "FAIL")
        and bool(report["kernels"])
        and all(decided_launch(report, k, required) for k in report["kernels"])
    )


def _general(text: str) -> str:
    """A detail without the names and numbers of its file, so that equal reasons add up."""
    text = re.sub(r" ?\(?[\w./+-]+\.(?:cu|py|cuh|h|toml)(?::\d+)*\)?:?", "", text)
    text = re.sub(r"\bline \d+\b", "line N", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)
    return re.sub(r"\b\d+(?:\.\d+)?\b", "N", text).strip()[:140]


def _unknowns(records: Iterable[Record]) -> Iterable[tuple[str, str, str, str]]:
    """(property, reason, generalised detail, path) of each UNKNOWN required property."""
    for record in records:
        report = record["report"]
        for kernel in (report or {}).get("kernels", ()):
            for name in REQUIRED_PROPERTIES:
                result = kernel["properties"].get(name)
                if result and result["verdict"] == "UNKNOWN":
                    yield name, result["reason"] or "none given", _general(result["detail"]), record["path"]


def _counted(rows: Iterable[tuple[str, str]], most: int) -> list[dict[str, Any]]:
    """Rows (text, path) -> most frequent texts with launches, files and an example."""
    launches: Counter[str] = Counter()
    files: dict[str, list[str]] = defaultdict(list)
    for text, path in rows:
        launches[text] += 1
        if path not in files[text]:
            files[text].append(path)
    return [
        {"text": text, "count": count, "files": len(files[text]), "example": files[text][0]}
        for text, count in launches.most_common(most)
    ]


def _percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100) * len(ordered) // 100) - 1))]


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    """All figures of a corpus, JSON-able."""
    outcomes = Counter(outcome(r) for r in records)
    launches = [(r, k) for r in records if r["report"] for k in r["report"]["kernels"]]
    properties = {
        name: Counter(state(r["report"], k, name) for r, k in launches) for name in REQUIRED_PROPERTIES
    }
    unknowns = list(_unknowns(records))
    seconds = [r["seconds"] for r in records]
    slowest = sorted(records, key=lambda r: -r["seconds"])[:10]
    return {
        "files": len(records),
        "outcomes": {name: outcomes[name] for name in OUTCOMES},
        "decided_files": sum(decided(r) for r in records),
        "launches": len(launches),
        "decided_launches": sum(decided_launch(r["report"], k) for r, k in launches),
        "properties": {name: dict(counts) for name, counts in properties.items()},
        "undecided_alone": dict(_only_blocker(records)),
        "reasons": _counted(((reason, path) for _, reason, _, path in unknowns), 20),
        "details": _counted(((f"{reason}: {detail}", path) for _, reason, detail, path in unknowns), 40),
        "other": _counted(_other_reasons(records), 30),
        "findings": dict(
            Counter(
                f["id"]
                for r in records
                if outcome(r) == "FAIL"
                for f in {
                    (x["id"], x["kernel"]): x for x in r["report"]["findings"] if x["severity"] == "error"
                }.values()
            )
        ),
        "seconds": {
            "median": statistics.median(seconds),
            "p95": _percentile(seconds, 0.95),
            "max": max(seconds),
        }
        if seconds
        else {},
        "peak_mb": max((r["peak_mb"] for r in records), default=0),
        "slowest": [{"path": r["path"], "seconds": r["seconds"], "outcome": outcome(r)} for r in slowest],
        "labels": _confusion(records),
    }


def _only_blocker(records: Iterable[Record]) -> Counter[str]:
    """For files that one property alone keeps undecided: that property."""
    count: Counter[str] = Counter()
    for record in records:
        if record["report"] and record["report"]["kernels"] and not decided(record):
            report = record["report"]
            open_ones = {
                p
                for k in report["kernels"]
                for p in REQUIRED_PROPERTIES
                if state(report, k, p) not in ("PROVED", "REFUTED", "NOT_APPLICABLE")
            }
            if len(open_ones) == 1:
                count[open_ones.pop()] += 1
    return count


def _other_reasons(records: Iterable[Record]) -> Iterable[tuple[str, str]]:
    """Why files are unreadable, broke the tool or have no launch to judge."""
    for record in records:
        kind, report = outcome(record), record["report"]
        if kind in ("PASS", "FAIL"):
            continue
        if kind == "cut off":
            yield f"cut off: {record['stopped']}", record["path"]
        elif report is None:
            yield (
                f"no report: {_general(record['stderr'].strip().splitlines()[-1] if record['stderr'].strip() else '')}",
                record["path"],
            )
        elif kind in ("unreadable", "tool error"):
            yield f"{kind}: {_general(report['message'])}", record["path"]
        else:
            for gate, result in report["gates"].items():
                if result["result"] in ("INCONCLUSIVE", "ERROR", "NOT_RUN") and (
                    gate != "fuzz" or result["result"] != "NOT_RUN"
                ):
                    yield f"gate {gate} {result['result']}: {_general(result['detail'])}", record["path"]


_LABELLED = ("race-shared", "race-global", "barrier-divergence")


def _confusion(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """Labels speak of races and divergence alone, so they are compared with these properties alone."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.get("label"):
            table[record["label"]][_ordered(record)] += 1
    return {label: dict(row) for label, row in sorted(table.items())}


def _ordered(record: Record) -> str:
    """``refuted``, ``proved``, ``open``, or the outcome of a file without verdicts."""
    report = record["report"]
    if not report or not report["kernels"]:
        return outcome(record) if outcome(record) not in ("PASS", "FAIL", "INCONCLUSIVE") else "open"
    states = {state(report, k, p) for k in report["kernels"] for p in _LABELLED}
    if "REFUTED" in states:
        return "refuted"
    return "proved" if states <= {"PROVED", "NOT_APPLICABLE"} else "open"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    def line(cells: Iterable[object]) -> str:
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return [line(head), line("---" for _ in head), *(line(r) for r in rows), ""]


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def markdown(figures: Mapping[str, Any], title: str, command: str = "", told: str = "") -> str:
    """The tables of a corpus. ``told``: a sentence to say with the launches."""
    files, launches = figures["files"], figures["launches"]
    lines = [f"## {title}", ""]
    if command:
        lines += ["```console", f"$ {command}", "```", ""]
    lines += _table(
        ("files", *OUTCOMES, "decided"),
        [
            (
                files,
                *(_share(figures["outcomes"][o], files) for o in OUTCOMES),
                _share(figures["decided_files"], files),
            )
        ],
    )
    lines += [
        f"Launches × instantiations: {launches}, decided {_share(figures['decided_launches'], launches)}. {told}".strip(),
        "",
    ]
    if figures["seconds"]:
        s = figures["seconds"]
        lines += [
            f"Wall time a file: median {s['median']:.1f} s, p95 {s['p95']:.1f} s, longest {s['max']:.1f} s; "
            f"peak memory {figures['peak_mb']} MB.",
            "",
        ]
    states = ("PROVED", "REFUTED", "NOT_APPLICABLE", "UNKNOWN", "unconfirmed", "ERROR", "missing")
    lines += _table(
        ("property", *states, "alone undecided (files)"),
        (
            (f"`{name}`", *(counts.get(s, 0) for s in states), figures["undecided_alone"].get(name, 0))
            for name, counts in figures["properties"].items()
        ),
    )
    if figures["labels"]:
        kinds = ("proved", "refuted", "open", "unreadable", "cut off", "tool error")
        lines += ["Labels against races and divergence:", ""]
        lines += _table(
            ("label", *kinds),
            ((label, *(row.get(k, 0) for k in kinds)) for label, row in figures["labels"].items()),
        )
    if figures["findings"]:
        lines += ["Faults reported in files that FAIL (one a kernel and property):", ""]
        lines += _table(("fault", "count"), Counter(figures["findings"]).most_common())
    for head, key in (
        ("Reasons for UNKNOWN", "reasons"),
        ("Most frequent details", "details"),
        ("Not judged", "other"),
    ):
        if figures[key]:
            lines += [f"### {head}", ""]
            lines += _table(
                ("what", "verdicts", "files", "for example"),
                ((r["text"], r["count"], r["files"], f"`{r['example']}`") for r in figures[key]),
            )
    lines += ["### Slowest files", ""]
    lines += _table(
        ("file", "seconds", "outcome"),
        ((f"`{r['path']}`", f"{r['seconds']:.1f}", r["outcome"]) for r in figures["slowest"]),
    )
    return "\n".join(lines)
