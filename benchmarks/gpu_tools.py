"""Three readers on the same kernels: prover, simulator, compute-sanitizer. DIR|FILE… -> who sees which defect, who disagrees.

``table``: for each defect that a file's own lines name (``//! refuted: …``), which of the simulator and the four tools report
that property, with times. ``agree``: what the prover proves against what the two dynamic readers see; a property that is
PROVED and seen broken, or that only compute-sanitizer sees, is printed and gives exit status 1. Without a GPU its columns are
empty.

These commands run faulty kernels on the GPU, each in a process of its own under the tools, which the gate never does: only for
kernels that you trust.

Example::

    python -m benchmarks.gpu_tools table tests/soundness/holes examples/faulty --jobs 8 --out tools.json
    python -m benchmarks.gpu_tools agree examples
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks import corpus
from benchmarks.expectations import expectations
from sanitizers import campaign as simulated
from sanitizers.gpu import campaign as on_gpu
from sanitizers.gpu.records import SEES, TOOLS
from sanitizers.gpu.watch import GpuMissing, Machine, find
from specs.policy import default_policy
from specs.results import Severity, Verdict
from verifier import contracts, frontend
from verifier.isolation.sandbox import Sandbox, probe
from verifier.pipeline import Options, audit
from verifier.source import load

READERS = ("simulator", *TOOLS)
_PLAN_SECONDS = 60.0
_TOOL_SECONDS = 30.0


@dataclass(slots=True)
class Seen:
    """What the readers say of one file: property -> lines. ``silent``: why a reader said nothing."""

    name: str
    expected: list[tuple[str, int]] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)
    refuted: dict[str, list[int]] = field(default_factory=dict)
    found: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)
    trouble: str = ""

    def ran(self, reader: str) -> bool:
        return reader in self.found and reader not in self.silent

    def add(self, reader: str, property_: str, line: int) -> None:
        lines = self.found[reader].setdefault(property_, [])
        if line not in lines:
            lines.append(line)


def look(
    name: str, path: Path, gpu: Machine | None, sandbox: Sandbox, cache: Path | None, prove: bool, sizes: int
) -> Seen:
    """All readers on one file; what they throw is the file's trouble."""
    seen = Seen(name, expected(path))
    try:
        if prove:
            _prover(seen, path, cache, sandbox.kind)
        _runs(seen, path, gpu, sandbox, cache, sizes)
    except Exception as error:
        seen.trouble = f"{type(error).__name__}: {error}"[:300]
    return seen


def expected(path: Path) -> list[tuple[str, int]]:
    """The defects that the file's own lines name."""
    found = expectations(path.read_text(errors="replace"))
    return [(e.property, e.line) for e in found if e.kind == "refuted"]


def _prover(seen: Seen, path: Path, cache: Path | None, box: str) -> None:
    start = time.monotonic()
    result = audit(
        path, Options(policy=default_policy(), gates=("static", "prove"), cache=cache, sandbox=box)
    )
    seen.seconds["prover"] = round(time.monotonic() - start, 2)
    verdicts: dict[str, list[Verdict]] = {}
    for kernel in (k for g in result.gates for k in g.kernels):
        for p in kernel.properties:
            verdicts.setdefault(p.id, []).append(p.verdict)
    good = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    seen.proved = [p for p, found in verdicts.items() if all(v in good for v in found)]
    for finding in (f for g in result.gates for f in g.findings):
        if finding.severity is Severity.ERROR and finding.witness is not None:
            seen.refuted.setdefault(finding.id, []).append(finding.span.line)


def _runs(
    seen: Seen, path: Path, gpu: Machine | None, sandbox: Sandbox, cache: Path | None, sizes: int
) -> None:
    submission = load(path, root=None, sandbox=sandbox)
    derived = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=sandbox)
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    kernels = {(k.name, k.instantiation): k for k in module.kernels}
    launches = [(kernels.get((c.kernel, c.instantiation)), c) for c in derived.contracts]
    for kernel, contract in launches:
        if kernel is None or contract.origin == "drafted":
            continue
        plan = simulated.Plan(sizes, deadline=time.monotonic() + _PLAN_SECONDS)
        start = time.monotonic()
        campaign = simulated.explore(submission.device, kernel, contract, plan, sandbox=sandbox, cache=cache)
        _add(
            seen,
            "simulator",
            time.monotonic() - start,
            campaign.unsupported or ("" if campaign.runs else "no run"),
        )
        for fault in campaign.faults:
            seen.add("simulator", fault.finding.property, fault.finding.span.line)
        for tool in TOOLS if gpu is not None else ():
            assert gpu is not None
            plan = simulated.Plan(sizes, deadline=time.monotonic() + _TOOL_SECONDS)
            run = on_gpu.explore(gpu, submission.device, kernel, contract, plan, tools=(tool,))
            _add(seen, tool, sum(run.seconds.values()), run.trouble)
            for shown in run.faults:
                seen.add(tool, shown.finding.property, shown.finding.span.line)
    if not launches:
        seen.trouble = "no launch with a contract"


def _add(seen: Seen, reader: str, seconds: float, silent: str) -> None:
    seen.found.setdefault(reader, {})
    seen.seconds[reader] = round(seen.seconds.get(reader, 0.0) + seconds, 2)
    if silent:
        seen.silent[reader] = silent


def table(results: Sequence[Seen]) -> list[str]:
    """A line a defect: who reports its property; then the totals of each property."""
    rows, found, total = [], Counter[tuple[str, str]](), Counter[str]()
    for seen in results:
        for property_, line in dict(seen.expected).items():
            total[property_] += 1
            marks = []
            for reader in READERS:
                hit = property_ in seen.found.get(reader, {})
                found[property_, reader] += hit
                seconds = seen.seconds.get(reader)
                word = (
                    "found"
                    if hit
                    else "silent"
                    if reader in seen.silent
                    else "no"
                    if reader in seen.found
                    else "-"
                )
                marks.append(f"{word:>6} {seconds:5.1f}" if seconds is not None else f"{word:>6}      ")
            rows.append(f"{seen.name[-44:]:44} {property_:18} {line:4} " + " ".join(marks))
    head = f"{'file':44} {'defect':18} line " + " ".join(f"{r:>12}" for r in READERS)
    sums = [
        f"{p:63} {n:4} " + " ".join(f"{found[p, r]:12}" for r in READERS) for p, n in sorted(total.items())
    ]
    return [head, *rows, "", "found, of so many defects", *sums]


def disagreements(seen: Seen) -> list[str]:
    """Where two of the three say different things of one property."""
    rows = []
    for reader, properties in seen.found.items():
        for property_, lines in properties.items():
            where = f"{seen.name}: {property_} (line {', '.join(map(str, lines))})"
            if property_ in seen.proved:
                rows.append(f"CONTRADICTION {where}: proved, but seen by {reader}")
            if reader in TOOLS and seen.ran("simulator") and property_ not in seen.found["simulator"]:
                rows.append(f"ONLY-GPU {where}: seen by {reader}, not by the simulator")
    for property_ in seen.found.get("simulator", {}):
        tools = [t for t in TOOLS if property_ in SEES[t] and seen.ran(t)]
        if tools and not any(property_ in seen.found[t] for t in tools):
            rows.append(f"only-simulator {seen.name}: {property_}: not seen by {', '.join(tools)}")
    for property_, lines in seen.refuted.items():
        if seen.found and not any(property_ in found for found in seen.found.values()):
            where = ", ".join(map(str, sorted(set(lines))))
            rows.append(
                f"only-prover {seen.name}: {property_} (line {where}): no run shows it at small sizes"
            )
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("gpu_tools", description=(__doc__ or "").splitlines()[0])
    p.add_argument("command", choices=("table", "agree"))
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--launches", type=int, default=5, help="sizes of each contract")
    p.add_argument("--match", default="", help="only files with this in their name")
    p.add_argument("--out", type=Path, help="everything as JSON")
    p.add_argument("--cache", type=Path)
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    sandbox = probe(arguments.sandbox)
    gpu: Machine | None = None
    try:
        gpu = find(sandbox=sandbox, cache=arguments.cache)
        print(", ".join(f"{k} {v}" for k, v in gpu.versions().items()))
    except GpuMissing as error:
        print(f"no GPU: {error}")
    files = [
        (n, f)
        for n, f in corpus.find(arguments.paths)
        if arguments.match in n and (arguments.command == "agree" or expected(f))
    ]

    def one(item: tuple[str, Path]) -> Seen:
        return look(*item, gpu, sandbox, arguments.cache, arguments.command == "agree", arguments.launches)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(one, files))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps([asdict(r) for r in results], indent=1))
    rows = [row for seen in results for row in disagreements(seen)]
    if arguments.command == "table":
        print("\n".join(table(results)))
    else:
        print("\n".join(rows) or "no disagreement")
    for seen in results:
        said = [f"{r}: {why}" for r, why in seen.silent.items()] + ([seen.trouble] if seen.trouble else [])
        for why in said:
            print(f"{seen.name}: says nothing: {why}")
    print(f"{len(results)} files, {sum(s.ran('simulator') for s in results)} simulated, "
          f"{sum(s.ran('memcheck') for s in results)} on a GPU")  # fmt: skip
    return int(arguments.command == "agree" and any(r.startswith(("CONTRA", "ONLY-GPU")) for r in rows))


if __name__ == "__main__":
    raise SystemExit(main())
