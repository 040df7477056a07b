"""Our own kernels against their own comments: folders -> one table of expected and found.

Safe files must PASS, faulty ones must FAIL with the marked property on the marked line and a replayed witness; a file
marked ``not proved`` only must not PASS. Good twins among the holes must not FAIL (to be undecided about them is
honest, and counted).

Example::

    python -m benchmarks.suites examples tests/soundness/unseen tests/soundness/holes --out .benchmarks/suites
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import corpus, tally
from benchmarks.expectations import Expectation, expectations

WELL = "as expected"


def lines_in(finding: Mapping[str, Any]) -> set[int]:
    """Every line that a finding of the JSON report points at."""
    places = [finding, *finding["related"], *(finding["witness"] or {"threads": ()})["threads"]]
    return {p["line"] for p in places}


def met(expected: Expectation, report: Mapping[str, Any]) -> bool:
    """A replayed refutation of the property at the line."""
    return any(
        f["id"] == expected.property
        and f["severity"] == "error"
        and expected.line in lines_in(f)
        and (f["witness"] is None or f["witness"]["replayed"])
        for f in report["findings"]
    )


def compare(expected: Sequence[Expectation], record: Mapping[str, Any], may_be_open: bool) -> str:
    """``as expected``, or what is wrong in a few words."""
    kind = tally.outcome(record)
    if not expected:
        fine = ("PASS", "INCONCLUSIVE") if may_be_open else ("PASS",)
        return WELL if kind in fine else f"{kind}, wanted PASS"
    if kind in ("PASS", "tool error", "cut off", "unreadable"):
        return f"{kind}, wanted FAIL"
    wanted = [e for e in expected if e.kind == "refuted"]
    missed = [e for e in wanted if not met(e, record["report"])]
    if missed:
        found = sorted(
            {(f["id"], f["line"]) for f in record["report"]["findings"] if f["severity"] == "error"}
        )
        seen = ", ".join(f"{i} (line {n})" for i, n in found) or "nothing refuted"
        return f"{kind}: {', '.join(f'{e.property} (line {e.line})' for e in missed)} not refuted; {seen}"
    return WELL


def sources(folder: Path) -> Iterator[Path]:
    yield from sorted(
        p for p in folder.rglob("*") if p.suffix in corpus.SUFFIXES and "__global__" in p.read_text()
    )


def run(folder: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    def one(path: Path) -> dict[str, Any]:
        record = corpus.measure(corpus.Item(str(path.relative_to(folder)), path), arguments)
        expected = expectations(path.read_text())
        record["expected"] = ", ".join(f"{e.kind} {e.property}" for e in expected) or "safe"
        record["judged"] = compare(expected, record, path.stem.endswith("_good"))
        print(f"{path.name}: {tally.outcome(record)}; {record['judged']}", file=sys.stderr)
        return record

    with ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(one, sources(folder)))


def table(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    seconds = [r["seconds"] for r in records]
    well = sum(r["judged"] == WELL for r in records)
    kinds = Counter(("safe" if r["expected"] == "safe" else "faulty", tally.outcome(r)) for r in records)
    lines = [
        f"## {name}",
        "",
        f"{well} of {len(records)} as expected; "
        + ", ".join(f"{count} {what} {kind}" for (what, kind), count in sorted(kinds.items()))
        + f". Wall time: median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s.",
        "",
        "| file | expected | verdict | seconds | |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{r['path']}` | {r['expected']} | {tally.outcome(r)} | {r['seconds']:.1f} | "
        f"{'' if r['judged'] == WELL else r['judged']} |"
        for r in records
    ]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("suites", description=(__doc__ or "").splitlines()[0])
    p.add_argument("folders", nargs="+", type=Path)
    p.add_argument("--out", type=Path, default=Path(".benchmarks/suites"))
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--timeout", type=float, default=120.0)
    p.add_argument("--memory", type=int, default=6000)
    arguments = p.parse_args(argv)
    arguments.tool_options = []
    texts, bad = [], 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    for folder in arguments.folders:
        records = run(folder, arguments)
        bad += sum(r["judged"] != WELL for r in records)
        texts.append(table(str(folder), records))
        file = arguments.out / f"{str(folder).replace('/', '-')}.json"
        file.write_text(json.dumps(records, indent=1) + "\n")
    (arguments.out / "tables.md").write_text("\n".join(texts))
    print("\n".join(texts))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
