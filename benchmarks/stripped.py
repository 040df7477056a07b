"""Kernels without their host code: what the prover finds that a launch has to promise, against the real launches.

PATH… -> one line a kernel. Each kernel (instantiation) of which every launch is PROVED with its host code is given to the
prover alone. What it then proposes counts as *found* if, shown by the prover, (1) the proof goes through under it, (2) it
allows a launch of at least two blocks that reaches an access, and (3) the contract lifted from each real launch implies
every clause of it. Template arguments are kept: without them a template is no kernel.

Example::

    python -m benchmarks.stripped examples tests/soundness/ordinary --out .benchmarks/stripped
    python -m benchmarks.stripped solutions --problems problems --pairs data.json --sample 40 --seed 7
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpus, processes

OUTCOMES = ("found", "not implied", "one block", "proof open", "no time")
"""What became of a kernel that is proved with its host code."""


def one(item: corpus.Item, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A line for each kernel instantiation of a file."""
    from specs.policy import REQUIRED_PROPERTIES
    from verifier import contracts, frontend, source
    from verifier.contracts import problem as problems
    from verifier.isolation.sandbox import probe
    from verifier.prover.engine import Settings
    from verifier.smt.solver import SolverPool

    sandbox = probe(arguments.sandbox)
    submission = source.load(
        item.path, root=None, include_dirs=tuple(arguments.include), defines={}, arch="sm_80", sandbox=sandbox
    )
    problem = problems.load(item.problem, sandbox=sandbox) if item.problem else None
    derived = contracts.derive(
        submission, contract_file=None, problem=problem, lock=None, sandbox=sandbox, cap=1 << 30
    )
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox, arch="sm_80")
    end = time.monotonic() + arguments.timeout
    lines = []
    with SolverPool("default", deadline=end) as pool:
        for kernel in module.kernels:
            launches = [
                c
                for c in derived.contracts
                if (c.kernel, c.instantiation) == (kernel.name, kernel.instantiation) and not c.gaps
            ]
            share = min(end, time.monotonic() + arguments.seconds)
            settings = Settings(pool, REQUIRED_PROPERTIES, 1 << 30, deadline=share)
            line = {"path": item.name, "kernel": kernel.label, "launches": len(launches)}
            lines.append(line | _judged(kernel, launches, settings, arguments.seconds))
    return lines


def _judged(kernel: Any, launches: Sequence[Any], settings: Any, seconds: float) -> dict[str, Any]:
    from dataclasses import replace

    from specs.results import Verdict
    from verifier.prover.abduction import precondition, two_blocks
    from verifier.prover.implied import not_implied
    from verifier.prover.verify import verify

    fine = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    real = []
    for contract in launches:
        made = verify(kernel, contract, settings)
        open_ = [p for p in made.properties if p.verdict not in fine]
        if open_:
            return {"with_host": f"{open_[0].id}: {open_[0].detail}", "outcome": ""}
        derived = tuple(c for c in made.clauses if c.origin == "derived")
        real.append(replace(contract, requires=(*contract.requires, *derived)))
    if not real:
        return {"with_host": "no launch with a whole contract", "outcome": ""}
    late = replace(settings, deadline=time.monotonic() + seconds)
    found = precondition(kernel, late)
    line: dict[str, Any] = {
        "with_host": "PROVED",
        "clauses": [c.text for c in found.clauses],
        "seconds": round(found.seconds, 2),
        "why": found.open,
    }
    checks = replace(settings, deadline=float("inf"))
    missed = [text for contract in real for text in not_implied(found, kernel, contract, checks)]
    line["not_implied"] = list(dict.fromkeys(missed))
    if not found.complete:
        late_ = "the time" in found.open
        return line | {"outcome": "no time" if late_ else "proof open"}
    if missed:
        return line | {"outcome": "not implied", "why": "; ".join(line["not_implied"])}
    if not two_blocks(found, kernel, checks):
        return line | {"outcome": "one block", "why": "no launch of two blocks meets it"}
    return line | {"outcome": "found"}


def measure(item: corpus.Item, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The lines of one file, made by a process of its own."""
    argv = [sys.executable, "-m", "benchmarks.stripped", "--worker", str(item.path.resolve())]
    argv += ["--timeout", str(arguments.timeout), "--seconds", str(arguments.seconds)]
    argv += ["--sandbox", arguments.sandbox]
    argv += [w for i in arguments.include for w in ("-I", str(i.resolve()))]
    if item.problem:
        argv += ["--worker-problem", str(item.problem.resolve())]
    ended = processes.run(
        argv, wall_seconds=arguments.timeout * 1.5 + 30, memory_mb=4000, cwd=corpus.ROOT, env={**os.environ}
    )
    try:
        lines: list[dict[str, Any]] = json.loads(ended.stdout)
    except ValueError:
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or [ended.stopped])[-1]
        lines = [{"kernel": "", "launches": 0, "with_host": f"not read: {last[:200]}", "outcome": ""}]
    return [{**line, "path": item.name} for line in lines]


def table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Figures and one row a kernel."""
    proved = [x for x in lines if x["with_host"] == "PROVED"]
    count = Counter(x["outcome"] for x in proved)
    share = f"{100 * count['found'] / len(proved):.1f} %" if proved else "–"
    seconds = sorted(x["seconds"] for x in proved) or [0.0]
    rows = [
        f"{len(lines)} kernels, {len(proved)} PROVED with their host code; for {count['found']} of these ({share}) the"
        " missing precondition was found: "
        + ", ".join(f"{name} {count[name]}" for name in OUTCOMES)
        + f". Seconds a kernel: median {statistics.median(seconds):.1f}, longest {seconds[-1]:.1f}.",
        "",
        "| file | kernel | outcome | seconds | why not, or what was found |",
        "| --- | --- | --- | --- | --- |",
    ]
    for x in proved:
        what = x["why"] if x["outcome"] != "found" else ", ".join(x["clauses"])
        rows.append(f"| `{x['path']}` | `{x['kernel']}` | {x['outcome']} | {x['seconds']} | {what[:400]} |")
    return "\n".join(rows) + "\n"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("stripped", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="*", type=Path)
    p.add_argument("--out", type=Path, default=Path(".benchmarks/stripped"))
    p.add_argument("--problems", type=Path, help="folder of problem files l<level>_p<number>.py")
    p.add_argument("--pairs", type=Path, help="JSON table of solutions for each problem")
    p.add_argument("--sample", type=int, default=0, help="only N files, drawn with --seed")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--timeout", type=float, default=240.0, help="seconds a file")
    p.add_argument(
        "--seconds", type=float, default=40.0, help="seconds a kernel, for each of proof and search"
    )
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--sandbox", default="auto")
    p.add_argument("-I", dest="include", action="append", type=Path, default=[])
    p.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    p.add_argument("--worker-problem", type=Path, help=argparse.SUPPRESS)
    return p


def chosen(arguments: argparse.Namespace) -> list[corpus.Item]:
    """The files, drawn with the seed."""
    pairs = corpus.pairs(arguments.pairs, arguments.problems) if arguments.pairs else {}
    found = [corpus.Item(name, path, pairs.get(path.stem)) for name, path in corpus.find(arguments.paths)]
    if arguments.pairs:
        found = [i for i in found if i.problem is not None]
    if arguments.sample:
        found = sorted(
            random.Random(arguments.seed).sample(found, min(arguments.sample, len(found))),
            key=lambda i: i.name,
        )
    return found


def main(argv: Sequence[str] | None = None) -> int:
    from concurrent.futures import ThreadPoolExecutor

    arguments = parser().parse_args(argv)
    if arguments.worker:
        item = corpus.Item(arguments.worker.name, arguments.worker, arguments.worker_problem)
        print(json.dumps(one(item, arguments)))
        return 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    with ThreadPoolExecutor(arguments.jobs) as pool, (arguments.out / "records.jsonl").open("w") as file:
        for made in pool.map(lambda i: measure(i, arguments), chosen(arguments)):
            for line in made:
                print(
                    f"{line['path']} {line['kernel']}: {line['outcome'] or line['with_host'][:120]}",
                    file=sys.stderr,
                )
                file.write(json.dumps(line) + "\n")
                file.flush()
            lines += made
    (arguments.out / "table.md").write_text(table(lines))
    print(table(lines).splitlines()[0])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
