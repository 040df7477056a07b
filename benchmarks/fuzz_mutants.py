"""Wrong kernels made of right ones, and how many of them the fuzz gate finds: rules of text over ``benchmarks.fuzz_kernels``.

A mutant is one changed place in a right kernel: a constant, a term, an axis, a comparison, a scale, a window, an accumulator
without a first value, sums in half precision. It is caught if a number is wrong or the simulator sees a fault, within the
budget of examples, and not passed if a run does not end. What survives is run beside the right kernel at *every* small size
and on all kinds of values: the same numbers everywhere (zeros of either sign), or a proof written down here, count as equivalent,
anything else as missed. A finished mutant is a line of ``OUT/mutants.jsonl``; a second run goes on where the first stopped.

Example::

    python -m benchmarks.fuzzing mutants --examples 200 --jobs 16 --out .benchmarks/fuzz
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.fuzz_kernels import EXAMPLES, job_of
from fuzz import dtypes, values
from fuzz.case import Case, Job, inputs_of, launch_of
from fuzz.executor import Order, SimulatorExecutor
from fuzz.oracle import Oracle
from fuzz.runner import Budget, Found, explore
from fuzz.values import Recipe
from specs import clauses
from specs.contract import Buffer
from verifier.frontend import FrontEndFailed
from verifier.isolation import probe
from verifier.source import SourceError

RESULTS = ("caught", "missed", "equivalent", "not passed", "not compiled")


@dataclass(frozen=True, slots=True)
class Mutant:
    kernel: str
    operator: str
    old: str
    new: str
    text: str
    line: int

    @property
    def key(self) -> str:
        return f"{self.kernel}:{self.line}: {self.old} -> {self.new}"


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
                    line = example.text.count("\n", 0, match.start()) + 1
                    yield Mutant(name, operator, match[0], match.expand(new), text, line)


def fuzz(text: str, name: str, oracle: Oracle, folder: Path, budget: Budget) -> Found:
    (folder / f"{name}.cu").write_text(text)
    job, device = job_of(name, folder)
    with SimulatorExecutor(device, job.kernel, probe()) as executor:
        return explore(job, executor, oracle, budget)


_PROOFS = {
    ("(in[c] + mean) * (in[c] - mean)", "(in[c] - mean) * (in[c] + mean)"): (
        "the sum over a row of (x + m)(x - m) = x² - m² is that of (x - m)² = x² - 2xm + m², since m is the row's mean"
    )
}
"""Texts that one of these stands in are equal over the reals."""


def equivalent(mutant: Mutant, folder: Path) -> str:
    """Why the mutant is no other kernel; empty if it is one."""
    proof = next((why for texts, why in _PROOFS.items() if any(t in mutant.text for t in texts)), "")
    if proof:
        return proof
    jobs: list[Job] = []
    runs = 0
    with ExitStack() as stack:
        executors = []
        for text in (EXAMPLES[mutant.kernel].text, mutant.text):
            (folder / f"{mutant.kernel}.cu").write_text(text)
            job, device = job_of(mutant.kernel, folder)
            jobs.append(job)
            executors.append(stack.enter_context(SimulatorExecutor(device, job.kernel, probe())))
        for drawn in jobs:  # values may come from the constants of a kernel's text
            for case in small_cases(drawn):
                launch = launch_of(drawn, case)
                inputs = inputs_of(drawn, case, launch)
                seen = []
                for executor in executors:
                    ran = executor.execute(launch, inputs, case.order)
                    outputs = drawn.binding.outputs
                    numbers = [_numbers(drawn.contract.buffer(o), ran.outputs.get(o)) for o in outputs]
                    seen.append((ran.refusal, len(ran.seen), numbers))
                runs += 1
                if seen[0] != seen[1]:
                    return ""
    return f"the same numbers in {runs} runs at every small size"


def small_cases(job: Job) -> Iterator[Case]:
    """Every size up to 70 (one dim), 9 (two) or 4 (three) and those of the pool, on every kind of values."""
    names = [s.name for s in job.contract.symbols]
    most = {1: 70, 2: 9}.get(len(names), 4)
    every = (
        dict(zip(names, v, strict=True)) for v in itertools.product(range(1, most + 1), repeat=len(names))
    )
    allowed = [s for s in (*job.pool, *every) if clauses.holds(job.contract, s)]
    orders: tuple[Order, ...] = (("forward", 0), ("random", 1), ("interleaved", 2))
    for number, sizes in enumerate(allowed):
        for seed, kind in enumerate((*values.ORDINARY, *values.SPECIAL)):
            recipes = tuple(Recipe(kind, seed + 7 * i) for i in range(len(job.binding.inputs)))
            scalars = tuple((p, 0.5) for p in job.binding.drawn.values())
            yield Case(tuple(sorted(sizes.items())), recipes, scalars, orders[(number + seed) % 3])


def _numbers(buffer: Buffer | None, raw: bytes | None) -> list[object]:
    """The elements, comparable."""
    if buffer is None or raw is None:
        return []
    return ["nan" if n != n else n for n in dtypes.decode(raw, buffer.dtype).tolist()]


_oracle: list[Oracle] = []


def judge(mutant: Mutant, examples: int) -> dict[str, object]:
    """One mutant, in a process that keeps its oracle."""
    if not _oracle:
        _oracle.append(Oracle(probe()))
    record: dict[str, object] = {
        "key": mutant.key,
        "kernel": mutant.kernel,
        "operator": mutant.operator,
        "old": mutant.old,
        "new": mutant.new,
    }
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = fuzz(mutant.text, mutant.kernel, _oracle[0], Path(folder), Budget(examples))
        except (FrontEndFailed, SourceError, StopIteration) as error:
            return record | {"result": "not compiled", "why": str(error)[:120]}
        if found.fault is not None or found.seen is not None:
            how = (
                found.fault.message if found.fault is not None else found.seen.property if found.seen else ""
            )
            return record | {"result": "caught", "why": how, "examples": found.examples}
        if found.refusal:
            return record | {"result": "not passed", "why": found.refusal}
        why = equivalent(mutant, Path(folder))
    return record | {"result": "equivalent" if why else "missed", "why": why, "examples": found.examples}


def _resume(file: Path) -> dict[str, dict[str, object]]:
    done = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:  # a half-written last line
            continue
        done[record["key"]] = record
    return done


def run(arguments: argparse.Namespace) -> int:
    todo = list(mutants())
    step = max(1, len(todo) // arguments.sample) if arguments.sample else 1
    todo = todo[::step]
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "mutants.jsonl"
    if arguments.fresh:
        file.unlink(missing_ok=True)
    done = _resume(file)
    missing = [m for m in todo if m.key not in done]
    with (
        file.open("a") as lines,
        ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool,
    ):
        for future in as_completed([pool.submit(judge, m, arguments.examples) for m in missing]):
            record = future.result()
            done[str(record["key"])] = record
            lines.write(json.dumps(record) + "\n")
            lines.flush()
    records = [done[m.key] for m in todo]
    print(f"| operator | {' | '.join(RESULTS)} |\n| --- |{' ---: |' * len(RESULTS)}")
    for operator in [*dict.fromkeys(m.operator for m in todo), "all"]:
        own = [r["result"] for r in records if operator in (r["operator"], "all")]
        print(f"| {operator} | {' | '.join(str(own.count(r)) for r in RESULTS)} |")
    for record in records:
        if record["result"] in ("missed", "equivalent", "not passed"):
            print(f"{record['result']}: {record['key']}: {record.get('why', '')}")
    missed = sum(r["result"] == "missed" for r in records)
    caught = sum(r["result"] == "caught" for r in records)
    return 0 if caught and missed <= 0.02 * (caught + missed) else 1
