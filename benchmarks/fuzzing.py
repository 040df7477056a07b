"""How fast the fuzz gate is, how many wrong kernels it finds, and whether both executors say the same.

``speed`` and ``mutants`` (``benchmarks.fuzz_mutants``) run the kernels of ``benchmarks.fuzz_kernels``, ``gpu``
(``benchmarks.fuzz_gpu``) those of ``benchmarks.gpu_kernels``.

Example::

    python -m benchmarks.fuzzing speed gelu
    python -m benchmarks.fuzzing mutants --examples 200 --jobs 16 --out .benchmarks/fuzz
    python -m benchmarks.fuzzing gpu --jobs 8
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks import fuzz_gpu, fuzz_mutants
from benchmarks.fuzz_kernels import EXAMPLES, job_of
from fuzz.executor import Executor, SimulatorExecutor
from fuzz.gpu import GpuProcess
from fuzz.oracle import Oracle
from fuzz.runner import Budget, explore
from sanitizers.gpu.watch import find
from verifier.isolation import probe


def run_speed(arguments: argparse.Namespace) -> int:
    """Examples a second, the program being there; and the CPU time of all processes, which a busy machine does not change."""
    name, sandbox = arguments.kernel, probe(arguments.sandbox)
    with tempfile.TemporaryDirectory() as folder, Oracle(sandbox) as oracle, ExitStack() as stack:
        (Path(folder) / f"{name}.cu").write_text(EXAMPLES[name].text)
        job, device = job_of(name, Path(folder), sandbox=sandbox)
        executor: Executor
        if arguments.gpu:
            machine = find(sandbox=sandbox, cache=None)
            executor = stack.enter_context(GpuProcess(machine, device)).executor(job.kernel)
        else:
            executor = stack.enter_context(SimulatorExecutor(device, job.kernel, sandbox, cache=Path(folder)))
        explore(job, executor, oracle, Budget(20))
        began, before = time.monotonic(), _cpu()
        found = explore(job, executor, oracle, Budget(arguments.examples))
        seconds, cpu = time.monotonic() - began, _cpu() - before
    edge = max(5, arguments.examples // 10)
    done = found.examples + found.vacuous + edge
    print(f"{name}: {done} examples ({edge} of the edge domain) in {found.runs} and more runs")
    print(f"{done / seconds:.0f} examples/s; {done / cpu:.0f} for each second of CPU time of all processes")
    return 0


def _cpu() -> float:
    """CPU seconds of this process and everything below it."""
    ticks, todo = 0, [os.getpid()]
    while todo:
        process = Path(f"/proc/{todo.pop()}")
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
        for task in (process / "task").iterdir():
            todo += [int(p) for p in (task / "children").read_text().split()]
    return ticks / os.sysconf("SC_CLK_TCK")


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("fuzzing", description=(__doc__ or "").splitlines()[0])
    commands = p.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    speed.add_argument("kernel", nargs="?", default="gelu", choices=sorted(EXAMPLES))
    speed.add_argument("--examples", type=int, default=500)
    speed.add_argument("--gpu", action="store_true", help="on the GPU instead of in the simulator")
    speed.add_argument("--sandbox", default="auto")
    wrong = commands.add_parser("mutants")
    wrong.add_argument("--examples", type=int, default=200)
    wrong.add_argument("--sample", type=int, default=0, help="only about N mutants, evenly spread")
    wrong.add_argument("--out", type=Path, default=Path(".benchmarks/fuzz"))
    wrong.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    wrong.add_argument("--fresh", action="store_true", help="forget what an earlier run measured")
    fuzz_gpu.add(commands.add_parser("gpu"))
    arguments = p.parse_args(argv)
    return {"speed": run_speed, "mutants": fuzz_mutants.run, "gpu": fuzz_gpu.run}[arguments.command](
        arguments
    )


if __name__ == "__main__":
    sys.exit(main())
