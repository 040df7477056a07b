"""How fast the fuzz gate is, and how many wrong kernels it finds: ``speed`` and ``mutants`` over ``benchmarks.fuzz_kernels``;
``gpu`` compares its two executors (``benchmarks.fuzz_gpu``).

A mutant is one changed place in a right kernel: a constant, a term, an axis, a comparison, a scale, a window, an accumulator
without a first value, sums in half precision. It is caught if a number is wrong or the simulator sees a fault, within the
budget of examples, and not passed if a run does not end. What survives is compared with the right kernel, at all sizes and on
all kinds of values: the same numbers everywhere (zeros of either sign) count as equivalent, anything else as missed.

Example::

    python -m benchmarks.fuzzing speed gelu
    python -m benchmarks.fuzzing mutants --examples 200 --sample 120 --out .benchmarks/fuzz
    python -m benchmarks.fuzzing gpu --jobs 8
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import fuzz_gpu
from benchmarks.fuzz_kernels import EXAMPLES, job_of
from fuzz import dtypes, values
from fuzz.case import Case, inputs_of, launch_of
from fuzz.executor import Executor, SimulatorExecutor
from fuzz.gpu import GpuProcess
from fuzz.oracle import Oracle
from fuzz.runner import Budget, Found, explore
from fuzz.values import Recipe
from sanitizers.gpu.watch import find
from specs.contract import Buffer
from verifier.frontend import FrontEndFailed
from verifier.isolation import probe
from verifier.source import SourceError


@dataclass(frozen=True, slots=True)
class Mutant:
    kernel: str
    operator: str
    old: str
    new: str
    text: str


_RULES: tuple[tuple[str, str, str], ...] = (
    ("constant", r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?)f", r"(\1f * 1.01f + 0.01f)"),
    ("constant", r"-INFINITY", "-1.0f"),
    ("term", r" \+ (?=[a-z]\w*(\[[^\]]*\])?;)", " - "),
    ("term", r" - (?=mean|best)", " + "),
    ("term", r" \* (?=[a-z]\w*\[)", " + "),
    ("comparison", r"(?<![<>-])<(?![<=])", "<="),
    ("comparison", r"(?<![<>-])>(?![>=])", ">="),
    ("comparison", r">=", ">"),
    ("extremum", r"fmaxf", "fminf"),
    ("extremum", r">=", "<="),
    ("scale", r" / (cols|box\[0\])", ""),
    ("scale", r" \* (scale|0\.70710678f)", ""),
    ("scale", r"0\.5f \* ", ""),
    ("window", r"\bk - 2\b", "k - 1"),
    ("window", r"(?<=< )([58])\b", "(\\1 - 1)"),
    ("window", r"(?<=< )(cols|n|2)(?=[;)])", "\\1 - 1"),
    ("window", r"int c = (\d)", "int c = \\1 + 1"),
    ("window", r"= threadIdx\.x; c", "= threadIdx.x + 1; c"),
    ("axis", r"\* cols \+", "* (cols + 1) +"),
    ("axis", r"\[(\w+) \* (n|k|rows|cols) \+ (\w+)\]", r"[\3 * \2 + \1]"),
    ("axis", r"\[(t[xy])\]\[(t[xy])\]", r"[\2][\1]"),
    ("accumulator", r"float (sum|square) = 0\.0f", r"float \1"),
    ("accumulator", r"(sum|square) \+= ", r"\1 = "),
    ("precision", r"(sum|square) \+= ([^;]+);", r"\1 = __half2float(__float2half(\1 + \2));"),
    ("precision", r"y\[([^\]]+)\] = ([^;]+);", r"y[\1] = __half2float(__float2half(\2));"),
    ("barrier", r"__syncthreads\(\);", ""),
)


def mutants() -> Iterator[Mutant]:
    """Every place of every kernel that a rule changes, once."""
    for name, example in EXAMPLES.items():
        seen = {example.text}
        for operator, pattern, new in _RULES:
            for match in re.finditer(pattern, example.text):
                text = example.text[: match.start()] + match.expand(new) + example.text[match.end() :]
                if operator == "precision":
                    text = "#include <cuda_fp16.h>\n" + text
                if text not in seen:
                    seen.add(text)
                    yield Mutant(name, operator, match[0], match.expand(new), text)


def fuzz(text: str, name: str, oracle: Oracle, folder: Path, budget: Budget) -> Found:
    (folder / f"{name}.cu").write_text(text)
    job, device = job_of(name, folder)
    with SimulatorExecutor(device, job.kernel, probe()) as executor:
        return explore(job, executor, oracle, budget)


_EQUAL_OVER_THE_REALS = ("(in[c] + mean) * (in[c] - mean)", "(in[c] - mean) * (in[c] + mean)")
"""The sums of these over a row with this mean are those of the squares of ``in[c] - mean``."""


def same_numbers(mutant: Mutant, folder: Path) -> bool:
    """Whether the mutant gives the numbers of the right kernel at all sizes, on all kinds of values."""
    if any(words in mutant.text for words in _EQUAL_OVER_THE_REALS):
        return True
    outputs = []
    for text in (EXAMPLES[mutant.kernel].text, mutant.text):
        (folder / f"{mutant.kernel}.cu").write_text(text)
        job, device = job_of(mutant.kernel, folder)
        found: list[object] = []
        with SimulatorExecutor(device, job.kernel, probe()) as executor:
            for sizes in job.pool:
                for kind in (*values.ORDINARY, *values.SPECIAL):
                    for seed in range(3):
                        recipes = tuple(Recipe(kind, seed + 7 * i) for i in range(len(job.binding.inputs)))
                        scalars = tuple((p, 0.5) for p in job.binding.drawn.values())
                        case = Case(tuple(sorted(sizes.items())), recipes, scalars, ("random", seed))
                        launch = launch_of(job, case)
                        ran = executor.execute(launch, inputs_of(job, case, launch), case.order)
                        numbers = [
                            _numbers(job.contract.buffer(o), ran.outputs.get(o)) for o in job.binding.outputs
                        ]
                        found.append((ran.refusal, len(ran.seen), numbers))
        outputs.append(found)
    return outputs[0] == outputs[1]


def _numbers(buffer: Buffer | None, raw: bytes | None) -> list[object]:
    """The elements, comparable."""
    if buffer is None or raw is None:
        return []
    return ["nan" if n != n else n for n in dtypes.decode(raw, buffer.dtype).tolist()]


def judge(mutant: Mutant, oracle: Oracle, folder: Path, examples: int) -> dict[str, object]:
    record: dict[str, object] = {
        "kernel": mutant.kernel,
        "operator": mutant.operator,
        "old": mutant.old,
        "new": mutant.new,
    }
    try:
        found = fuzz(mutant.text, mutant.kernel, oracle, folder, Budget(examples))
    except (FrontEndFailed, SourceError, StopIteration) as error:
        return record | {"result": "not compiled", "why": str(error)[:120]}
    if found.fault is not None or found.seen is not None:
        how = found.fault.message if found.fault is not None else found.seen.property if found.seen else ""
        return record | {"result": "caught", "why": how, "examples": found.examples}
    if found.refusal:
        return record | {"result": "not passed", "why": found.refusal}
    return record | {
        "result": "equivalent" if same_numbers(mutant, folder) else "missed",
        "examples": found.examples,
    }


def run_mutants(arguments: argparse.Namespace) -> int:
    todo = list(mutants())
    step = max(1, len(todo) // arguments.sample) if arguments.sample else 1
    todo = todo[::step]
    arguments.out.mkdir(parents=True, exist_ok=True)
    records = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Oracle(probe()) as oracle,
        (arguments.out / "mutants.jsonl").open("w") as lines,
    ):
        for mutant in todo:
            records.append(judge(mutant, oracle, Path(folder), arguments.examples))
            lines.write(json.dumps(records[-1]) + "\n")
            lines.flush()
    results = ("caught", "missed", "equivalent", "not passed", "not compiled")
    print(f"| operator | {' | '.join(results)} |\n| --- |{' ---: |' * len(results)}")
    for operator in [*dict.fromkeys(m.operator for m in todo), "all"]:
        own = [r["result"] for r in records if operator in (r["operator"], "all")]
        print(f"| {operator} | {' | '.join(str(own.count(r)) for r in results)} |")
    for record in records:
        if record["result"] in ("missed", "equivalent", "not passed"):
            print(json.dumps(record))
    missed = sum(r["result"] == "missed" for r in records)
    caught = sum(r["result"] == "caught" for r in records)
    return 0 if caught and missed <= 0.02 * (caught + missed) else 1


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
    fuzz_gpu.add(commands.add_parser("gpu"))
    arguments = p.parse_args(argv)
    return {"speed": run_speed, "mutants": run_mutants, "gpu": fuzz_gpu.run}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
