"""What compute-sanitizer says of each seeded fault, recorded: FOLDER -> the fixtures of tests/sanitizers/gpu.

Runs every kernel of tests/sanitizers/gpu/faults.cu under each tool on this machine's GPU, each in a process of its own, and
writes the reports, what the child said and a table. The kernels are faulty on purpose: they never pass the gate.

Example::

    python -m benchmarks.gpu_record recorded --jobs 8
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from sanitizers.gpu import watch as gpu
from sanitizers.gpu.compile import compile_text
from sanitizers.gpu.job import Work
from sanitizers.gpu.records import TOOLS
from specs.contract import ConcreteLaunch
from verifier.isolation import probe

FAULTS = Path(__file__).parents[1] / "tests" / "sanitizers" / "gpu" / "faults.cu"
THREADS = 64


def kernels(text: str) -> list[str]:
    return re.findall(r"__global__ void (\w+)\(", text)


def work(cubin: bytes, kernel: str) -> Work:
    launch = ConcreteLaunch(kernel, (), (1, 1, 1), (THREADS, 1, 1), 0, (), {})
    return Work(
        program=cubin,
        entry=kernel,
        cooperative=False,
        launch=launch,
        sizes=(4 * THREADS,),
        names=("x",),
        contents=(None,),
        zeroed=(kernel != "uninit_global",),
        params=((bytes(8), ((0, 0),)), (THREADS.to_bytes(4, "little"), ())),
    )


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("gpu_record", description=(__doc__ or "").splitlines()[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--match", default="", help="only kernels in whose names this expression is found")
    p.add_argument("--sandbox", default="auto")
    p.add_argument("--seconds", type=float, default=30.0)
    arguments = p.parse_args(argv)
    machine = gpu.find(sandbox=probe(arguments.sandbox), cache=None)
    assert machine.toolkit.nvcc is not None and machine.toolkit.sanitizer is not None
    print(machine.versions())
    text = FAULTS.read_text()
    cubin, _ = compile_text(
        machine.toolkit.nvcc,
        f'# 1 "faults.cu"\n{text}',
        arch=machine.arch,
        sandbox=machine.sandbox,
        cache=None,
    )
    arguments.folder.mkdir(parents=True, exist_ok=True)
    options = subprocess.run(
        [machine.toolkit.sanitizer, "--help"], capture_output=True, text=True, check=False
    )
    (arguments.folder / "options.txt").write_text(options.stdout)

    def one(case: tuple[str, str]) -> tuple[str, str, gpu.Watched]:
        kernel, tool = case
        seen = gpu.watch(machine, tool, [work(cubin, kernel)], paths={"faults.cu"}, seconds=arguments.seconds)
        (arguments.folder / f"{kernel}.{tool}.xml").write_bytes(seen.xml)
        facts = {
            "findings": [asdict(f) for f in seen.findings],
            "trouble": seen.trouble,
            "control": seen.control,
            "seconds": round(seen.seconds, 2),
            "exit": seen.exit,
            "events": list(seen.said.raw),
        }
        (arguments.folder / f"{kernel}.{tool}.json").write_text(json.dumps(facts, indent=1, default=str))
        return kernel, tool, seen

    names = [k for k in kernels(text) if k != "spins" and re.search(arguments.match, k)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for kernel, tool, seen in pool.map(one, [(k, t) for k in names for t in TOOLS]):
            found = ", ".join(f"{f.property}:{f.span.line}x{f.count}" for f in seen.findings)
            end = seen.trouble or found or ("clean" if seen.control else "?")
            print(f"{kernel:22} {tool:10} {seen.seconds:5.1f} s  {end}", flush=True)
    if re.search(arguments.match, "spins"):
        print(f"spins: {one(('spins', 'memcheck'))[2].trouble}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
