"""The fuzz gate's two executors on the same kernels: right ones and mutants -> a table, and whether the verdicts agree.

A kernel in which the simulator itself sees a fault (a race, an access outside a buffer) does not go to the GPU. What is run there
runs without a proof: only for kernels that you trust, as these are.

Example::

    python -m benchmarks.fuzzing gpu --jobs 8 --mutants 2
    python -m benchmarks.fuzzing gpu --kernel gelu --examples 500
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.gpu_kernels import MUTANTS, TEXTS, Case, Make, case_of
from fuzz.executor import SimulatorExecutor
from fuzz.gpu import GpuProcess
from fuzz.oracle import Oracle
from fuzz.runner import Budget, Found, explore
from sanitizers.gpu.watch import GpuMissing, Machine, find
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox, probe


@dataclass(frozen=True, slots=True)
class Row:
    """``change``: of the mutant, "" for the right kernel. Seconds and examples are of the search, without compilation."""

    kernel: str
    op: str
    change: str
    simulator: str
    gpu: str
    agree: bool
    seconds: tuple[float, float]
    examples: tuple[int, int]
    words: tuple[str, str]
    special: tuple[bool, bool]
    """Whether NaN, infinities or far values differ from the reference: a warning of the gate, in the same words."""


class Worker:
    """What one process needs: its oracle, its folder, the machine. ``gpu`` None: the simulator stands in for it (for tests)."""

    def __init__(self, gpu: Machine | None, sandbox: Sandbox) -> None:
        self.gpu, self.sandbox = gpu, sandbox
        self.oracle = Oracle(sandbox)
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")

    def row(self, name: str, change: tuple[str, str] | None, examples: int) -> Row:
        text = TEXTS[name] if change is None else TEXTS[name].replace(*change)
        case = case_of(name, text, Path(self.folder.name), self.sandbox)

        def simulator(kernel: Kernel, opt: str) -> SimulatorExecutor:
            return SimulatorExecutor(case.device, kernel, self.sandbox, opt=opt)

        first = self._search(case, simulator, examples)
        words = (_words(first[0]), "")
        if first[0].seen is not None:
            second, verdict = (Found(), 0.0), "kept away"
        elif self.gpu is None:
            second = self._search(case, simulator, examples)
            verdict, words = _verdict(second[0]), (words[0], _words(second[0]))
        else:
            with GpuProcess(self.gpu, case.device) as process:
                second = self._search(case, lambda kernel, _: process.executor(kernel), examples)
            verdict, words = _verdict(second[0]), (words[0], _words(second[0]))
        special = (first[0].edge is not None, second[0].edge is not None)
        return Row(
            kernel=name,
            op=case.job.binding.text(),
            change="" if change is None else f"{change[0]} → {change[1] or '(nothing)'}",
            simulator=_verdict(first[0]),
            gpu=verdict,
            agree=verdict in (_verdict(first[0]), "kept away"),
            seconds=(round(first[1], 2), round(second[1], 2)),
            examples=(first[0].examples, second[0].examples),
            words=words,
            special=special,
        )

    def _search(self, case: Case, make: Make, examples: int) -> tuple[Found, float]:
        with case.open(make) as executor:
            warm = replace(case.job, pool=case.job.pool[:1])
            explore(warm, executor, self.oracle, Budget(2, seed=99))
            start = time.monotonic()
            found = explore(case.job, executor, self.oracle, Budget(examples))
            return found, time.monotonic() - start


def _verdict(found: Found) -> str:
    if found.seen is not None:
        return f"FAULT ({found.seen.property})"
    if found.fault is not None:
        return "FAIL"
    return "INCONCLUSIVE" if found.refusal or found.cut or not found.examples else "PASS"


def _words(found: Found) -> str:
    if found.seen is not None:
        return found.seen.message
    return found.fault.message if found.fault is not None else found.refusal or found.unfit


_worker: list[Worker] = []


def _begin(gpu: Machine | None, sandbox: Sandbox) -> None:
    _worker.append(Worker(gpu, sandbox))


def _one(task: tuple[str, tuple[str, str] | None, int]) -> Row | str:
    try:
        return _worker[0].row(*task)
    except Exception as error:  # one kernel that cannot be read does not stop the others
        return f"{task[0]}: {type(error).__name__}: {error}"


def tasks(
    kernels: Sequence[str], mutants: int, examples: int
) -> list[tuple[str, tuple[str, str] | None, int]]:
    return [(name, change, examples) for name in kernels for change in (None, *MUTANTS[name][:mutants])]


def table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| kernel | compared | change | simulator | GPU | examples/s simulator | examples/s GPU | agree |",
        "| --- | --- | --- | --- | --- | ---: | ---: | --- |",
    ]
    for row in rows:
        rates = [f"{n / s:.0f}" if n and s else "–" for n, s in zip(row.examples, row.seconds, strict=True)]
        change = f"`{row.change}`" if row.change else "right"
        cells = (
            row.kernel,
            f"`{row.op}`",
            change,
            row.simulator,
            row.gpu,
            *rates,
            "yes" if row.agree else "NO",
        )
        lines.append(f"| {' | '.join(c.replace('|', '¦') for c in cells)} |")
    return lines


def run(arguments: Namespace) -> int:
    """0: the same verdict for every kernel. 1: not. 3: no GPU."""
    sandbox = probe(arguments.sandbox)
    with tempfile.TemporaryDirectory(prefix="cubins-") as folder:
        try:
            gpu = find(sandbox=sandbox, cache=Path(folder))
        except GpuMissing as error:
            print(f"GPU: {error}")
            return 3
        print(f"{gpu.versions()}")
        todo = tasks(arguments.kernel or list(TEXTS), arguments.mutants, arguments.examples)
        with ProcessPoolExecutor(arguments.jobs, initializer=_begin, initargs=(gpu, sandbox)) as pool:
            told = list(pool.map(_one, todo))
    rows = [r for r in told if isinstance(r, Row)]
    print("\n".join(table(rows)))
    broken = [r for r in told if isinstance(r, str)]
    differ = [r for r in rows if not r.agree]
    for row in differ:
        print(
            f"DIFFERENT {row.kernel} {row.change}: {row.words[0] or row.simulator} / {row.words[1] or row.gpu}"
        )
    for row in (r for r in rows if r.special[0] != r.special[1] and r.gpu != "kept away"):
        print(f"edge domain differs: {row.kernel} {row.change}: {row.special}")
    if broken:
        print("\n".join(broken))
    if arguments.out is not None:
        arguments.out.write_text("".join(json.dumps(asdict(r)) + "\n" for r in rows))
    right = sum(r.simulator == r.gpu == "PASS" for r in rows)
    wrong = sum(r.simulator == r.gpu == "FAIL" for r in rows)
    kept = sum(r.gpu == "kept away" for r in rows)
    print(f"{right} PASS on both, {wrong} FAIL on both, {kept} kept away from the GPU, {len(differ)} differ")
    return 1 if differ or broken or not rows else 0


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--kernel", action="append", choices=sorted(TEXTS))
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=1, help="of each kernel")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--sandbox", default="auto")
    parser.add_argument("--out", type=Path)
