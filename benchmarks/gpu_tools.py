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
from concurrent.futures import ThreadPoolExecutor, as_completed
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


@dataclass(frozen=True, slots=True)
class Setting:
    """``readers``: those that run. ``sizes``: of each contract. ``gpu`` is there if a tool is among the readers."""

    readers: tuple[str, ...]
    gpu: Machine | None
    sandbox: Sandbox
    cache: Path | None
    prove: bool
    sizes: int


def look(name: str, path: Path, setting: Setting) -> Seen:
    """All readers on one file; what they throw is the file's trouble."""
    seen = Seen(name, expected(path))
    try:
        if setting.prove:
            _prover(seen, path, setting.cache, setting.sandbox.kind)
        _runs(seen, path, setting)
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


def _runs(seen: Seen, path: Path, setting: Setting) -> None:
    sandbox = setting.sandbox
    submission = load(path, root=None, sandbox=sandbox)
    derived = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=sandbox)
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    kernels = {(k.name, k.instantiation): k for k in module.kernels}
    launches = [(kernels.get((c.kernel, c.instantiation)), c) for c in derived.contracts]
    for kernel, contract in launches:
        if kernel is None or contract.origin == "drafted":
            continue
        for reader in setting.readers:
            start = time.monotonic()
            if reader == "simulator":
                plan = simulated.Plan(setting.sizes, deadline=start + _PLAN_SECONDS)
                campaign = simulated.explore(
                    submission.device, kernel, contract, plan, sandbox=sandbox, cache=setting.cache
                )
                found = [f.finding for f in campaign.faults]
                silent = campaign.unsupported or ("" if campaign.runs else "no run")
            else:
                assert setting.gpu is not None
                plan = simulated.Plan(setting.sizes, deadline=start + _TOOL_SECONDS)
                run = on_gpu.explore(setting.gpu, submission.device, kernel, contract, plan, tools=(reader,))
                found, silent = [f.finding for f in run.faults], run.trouble
            _add(seen, reader, time.monotonic() - start, silent)
            for finding in found:
                seen.add(reader, finding.property, finding.span.line)
    if not launches:
        seen.trouble = "no launch with a contract"


def _add(seen: Seen, reader: str, seconds: float, silent: str) -> None:
    seen.found.setdefault(reader, {})
    seen.seconds[reader] = round(seen.seconds.get(reader, 0.0) + seconds, 2)
    if silent:
        seen.silent[reader] = silent


def merged(earlier: Seen, now: Seen) -> Seen:
    """Two runs of one file with different readers as one."""
    earlier.found |= now.found
    earlier.seconds |= now.seconds
    earlier.silent |= now.silent
    earlier.trouble = earlier.trouble or now.trouble
    return earlier


HEAD = f"{'file':44} {'defect':18} line " + " ".join(f"{r:>12}" for r in READERS)


def rows(seen: Seen) -> list[str]:
    """A line a defect: who reports its property, and how long it took."""
    found = []
    for property_, line in dict(seen.expected).items():
        marks = []
        for reader in READERS:
            seconds = seen.seconds.get(reader)
            marks.append(
                f"{_word(seen, reader, property_):>6} "
                + (f"{seconds:5.1f}" if seconds is not None else " " * 5)
            )
        found.append(f"{seen.name[-44:]:44} {property_:18} {line:4} " + " ".join(marks))
    return found


def _word(seen: Seen, reader: str, property_: str) -> str:
    if reader not in seen.found:
        return "-"
    return "found" if property_ in seen.found[reader] else "silent" if reader in seen.silent else "no"


def totals(results: Sequence[Seen]) -> list[str]:
    """A line a property: how many of its defects each reader reports."""
    found, total = Counter[tuple[str, str]](), Counter[str]()
    for seen in results:
        for property_ in dict(seen.expected):
            total[property_] += 1
            for reader in READERS:
                found[property_, reader] += property_ in seen.found.get(reader, {})
    return [
        f"{p:63} {n:4} " + " ".join(f"{found[p, r]:12}" for r in READERS) for p, n in sorted(total.items())
    ]


def disagreements(seen: Seen) -> list[str]:
    """Where two of the three say different things of one property."""
    said = []
    for reader, properties in seen.found.items():
        for property_, lines in properties.items():
            where = f"{seen.name}: {property_} (line {', '.join(map(str, lines))})"
            if property_ in seen.proved:
                said.append(f"CONTRADICTION {where}: proved, but seen by {reader}")
            if reader in TOOLS and seen.ran("simulator") and property_ not in seen.found["simulator"]:
                said.append(f"ONLY-GPU {where}: seen by {reader}, not by the simulator")
    for property_ in seen.found.get("simulator", {}):
        tools = [t for t in TOOLS if property_ in SEES[t] and seen.ran(t)]
        if tools and not any(property_ in seen.found[t] for t in tools):
            said.append(f"only-simulator {seen.name}: {property_}: not seen by {', '.join(tools)}")
    for property_, lines in seen.refuted.items():
        if seen.found and not any(property_ in found for found in seen.found.values()):
            where = ", ".join(map(str, sorted(set(lines))))
            said.append(
                f"only-prover {seen.name}: {property_} (line {where}): no run shows it at small sizes"
            )
    return said


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("gpu_tools", description=(__doc__ or "").splitlines()[0])
    p.add_argument("command", choices=("table", "agree"))
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--launches", type=int, default=5, help="sizes of each contract")
    p.add_argument("--match", default="", help="only files with this in their name")
    p.add_argument("--skip", action="append", default=[], choices=READERS, help="a reader to leave out")
    p.add_argument("--out", type=Path, help="everything as JSON")
    p.add_argument(
        "--merge", action="append", default=[], type=Path, help="--out of a run with other readers"
    )
    p.add_argument("--cache", type=Path)
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    sandbox = probe(arguments.sandbox)
    readers = tuple(r for r in READERS if r not in arguments.skip)
    gpu: Machine | None = None
    try:
        gpu = find(sandbox=sandbox, cache=arguments.cache)
        print(", ".join(f"{k} {v}" for k, v in gpu.versions().items()))
    except GpuMissing as error:
        print(f"no GPU: {error}")
        readers = tuple(r for r in readers if r not in TOOLS)
    tables = arguments.command == "table"
    setting = Setting(readers, gpu, sandbox, arguments.cache, not tables, arguments.launches)
    earlier = {
        item["name"]: Seen(**item) for path in arguments.merge for item in json.loads(path.read_text())
    }
    files = [
        (n, f)
        for n, f in corpus.find(arguments.paths)
        if arguments.match in n and (not tables or expected(f))
    ]
    results: list[Seen] = []
    print(HEAD if tables else "")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(look, name, path, setting) for name, path in files]):
            seen = done.result()
            results.append(merged(earlier[seen.name], seen) if seen.name in earlier else seen)
            print("\n".join(rows(results[-1]) if tables else disagreements(results[-1])), flush=True)
            if arguments.out is not None:
                arguments.out.write_text(json.dumps([asdict(r) for r in results], indent=1))
    if tables:
        print("\nfound, of so many defects", *totals(results), sep="\n")
    for seen in results:
        said = [f"{r}: {why}" for r, why in seen.silent.items()] + ([seen.trouble] if seen.trouble else [])
        for why in said:
            print(f"{seen.name}: says nothing: {why}")
    print(f"{len(results)} files, {sum(s.ran('simulator') for s in results)} simulated, "
          f"{sum(s.ran('memcheck') for s in results)} on a GPU")  # fmt: skip
    wrong = [r for seen in results for r in disagreements(seen) if r.startswith(("CONTRA", "ONLY-GPU"))]
    return int(not tables and bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
