"""Does the prover see faults? Mutants of safe kernels, judged by the simulator first and by the prover second.

A mutant counts when the simulator, built at -O0, finds a fault of a required property. The prover is then asked, without
knowing: it must not prove that property (``proved`` must be 0) and should refute it at the place that the simulator saw
(``right``). Each operator gets mutants until ``--per-operator`` of them are confirmed, drawn with a seed and spread over
the kernels. A kernel that is not clean itself, in the simulator and for the prover, is left out with all its mutants.
Records are JSON lines in ``--out``, written one by one; a second run goes on where the first stopped.

Example::

    python -m benchmarks.mutants examples --out .benchmarks/mutants --jobs 2
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.expectations import lines_of
from benchmarks.mutant_oracle import Watch, watch
from benchmarks.mutation import NARROWING, OPERATORS, WIDENED, Mutant, mutants
from specs.policy import Policy, default_policy

ROOT = Path(__file__).resolve().parent.parent
CLASSES = ("right", "refuted elsewhere", "unknown", "proved", "no verdict")
_TOO_MUCH = ("PROVED", "NOT_APPLICABLE")
_WRAPS = {"signed char": ((1 << 7) - 1,), "short": ((1 << 15) - 1,), "int": ((1 << 31) - 1, (1 << 32) - 1)}
"""The largest values of a type, and of its unsigned twin where a dropped cast makes one."""
Record = dict[str, Any]


def ask(path: Path, timeout: float, what: Watch) -> Record:
    """What the prover alone says: verdicts of each contract, and findings with their lines."""
    from verifier.judge import findings_of
    from verifier.pipeline import Options, audit

    policy = Policy.model_validate({"required_gates": ("static", "prove"), "size_cap": what.cap})
    options = Options(
        policy=policy, gates=("static", "prove"), timeout=timeout, sandbox=what.sandbox, cache=what.cache
    )
    result = audit(path, options)
    return {
        "verdict": str(result.verdict),
        "message": result.message,
        "verdicts": [
            {p.id: [str(p.verdict), str(p.reason or ""), p.detail] for p in k.properties}
            for g in result.gates
            if g.gate == "prove"
            for k in g.kernels
        ],
        "findings": [
            {
                "property": f.id,
                "lines": sorted(lines_of(f)),
                "replayed": bool(f.witness and f.witness.replayed),
                "severity": str(f.severity),
            }
            for f in findings_of(result.gates)
        ],
        "seconds": round(result.seconds, 2),
    }


def confirmed(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The simulator's faults of required properties."""
    required = default_policy().required_properties
    return [f for f in (record["simulator"] or {"faults": ()})["faults"] if f["property"] in required]


def _family(name: str) -> str:
    """An index before a local array may lie in another thread's, or in shared memory: all bounds are one kind."""
    return "bounds" if name.startswith("bounds-") else name


def classify(record: Mapping[str, Any]) -> str:
    """One of CLASSES for a mutant that the simulator confirmed."""
    faults, answer = confirmed(record), record["prover"]
    if answer is None or answer["verdict"] == "ERROR":
        return "no verdict"
    if answer["verdict"] == "PASS":
        return "proved"
    places = {(_family(f["property"]), f["line"]) for f in faults}
    refuted = [f for f in answer["findings"] if f["severity"] == "error"]
    if any(
        (_family(f["property"]), line) in places and f["replayed"] for f in refuted for line in f["lines"]
    ):
        return "right"
    if all(
        f["contract"] < len(answer["verdicts"])
        and answer["verdicts"][f["contract"]].get(f["property"], ["UNKNOWN"])[0] in _TOO_MUCH
        for f in faults
    ):
        return "proved"
    return "refuted elsewhere" if refuted else "unknown"


def judge(path: Path, timeout: float, what: Watch, whole: bool = False) -> Record:
    """Simulator first; the prover only where the simulator saw something (``whole``: in any case)."""
    began = time.monotonic()
    record: Record = {"simulator": watch(path, what), "prover": None}
    record["watched"] = round(time.monotonic() - began, 1)
    if whole or confirmed(record):
        record["prover"] = ask(path, timeout, what)
    return record


def clean(record: Mapping[str, Any]) -> str:
    """Why an original is no basis for mutants, or nothing."""
    if record["simulator"] is None or record["prover"] is None:
        return "not judged"
    if faults := confirmed(record):
        return f"the simulator sees {faults[0]['property']} at line {faults[0]['line']}"
    if not record["simulator"]["runs"]:
        return "no launch to run"
    if notes := [n for n in record["simulator"]["notes"] if not n.startswith("resources")]:
        return f"the simulator: {notes[0]}"
    if record["prover"]["verdict"] in ("FAIL", "ERROR"):
        return f"the prover: {record['prover']['verdict']} {record['prover']['message']}"
    return ""


def measure(name: str, text: str, arguments: argparse.Namespace, *options: str) -> Record:
    """Judge one text in a process of its own."""
    path = (arguments.scratch or arguments.out) / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    argv = [sys.executable, "-m", "benchmarks.mutants", "--judge", str(path.resolve()), *options]
    argv += ["--timeout", str(arguments.timeout), "--sandbox", arguments.sandbox]
    argv += ["--scratch", str((arguments.scratch or arguments.out).resolve())]
    ended = processes.run(argv, wall_seconds=2.5 * arguments.timeout, memory_mb=6000, cwd=ROOT)
    judged: Record = {"simulator": None, "prover": None}
    if ended.returncode == 0 and not ended.stopped:
        judged = json.loads(ended.stdout.splitlines()[-1])
    trouble = ended.stderr.decode(errors="replace")[-1500:] if ended.returncode else ""
    return {"seconds": round(ended.seconds, 1), "trouble": ended.stopped or trouble, **judged}


def sources(paths: Sequence[Path]) -> Iterator[Path]:
    """Files as given; of folders the direct children that hold a kernel and do not say that they are faulty."""
    for path in paths:
        if path.is_file():
            yield path
        else:
            for child in sorted(path.iterdir()):
                if child.suffix in (".cu", ".py") and "__global__" in child.read_text():
                    if "//!" not in child.read_text():
                        yield child


def queues(
    paths: Sequence[Path], operators: Sequence[str], seed: int
) -> dict[str, deque[tuple[Path, Mutant]]]:
    """For each operator its mutants: a random one of each file in random order, then a second one of each, and so on."""
    found: dict[str, dict[Path, list[Mutant]]] = {o: {} for o in operators}
    for path in sources(paths):
        for mutant in mutants(path.read_text()):
            if mutant.operator in found:
                found[mutant.operator].setdefault(path, []).append(mutant)
    drawn: dict[str, deque[tuple[Path, Mutant]]] = {}
    for operator, files in found.items():
        rng = random.Random(f"{seed} {operator}")
        rounds: list[tuple[int, float, Path, Mutant]] = []
        for path, of_file in files.items():
            rng.shuffle(of_file)
            rounds += [(turn, rng.random(), path, m) for turn, m in enumerate(of_file)]
        drawn[operator] = deque((p, m) for _, _, p, m in sorted(rounds, key=lambda r: r[:2]))
    return drawn


@dataclass
class Run:
    """The records of ``--out``, and originals judged once each."""

    arguments: argparse.Namespace
    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    originals: dict[tuple[str, str], threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    def __post_init__(self) -> None:
        self.arguments.out.mkdir(parents=True, exist_ok=True)
        self.file = self.arguments.out / "records.jsonl"
        if self.arguments.fresh:
            self.file.unlink(missing_ok=True)
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            record = json.loads(line)
            self.records[record["file"], record["key"]] = record

    def keep(self, record: Record) -> Record:
        with self.lock, self.file.open("a") as lines:
            lines.write(json.dumps(record) + "\n")
            self.records[record["file"], record["key"]] = record
        return record

    def original(self, path: Path, wide: bool) -> Record:
        key = "original-wide" if wide else "original"
        with self.lock:
            own = self.originals[path.name, key]
        with own:
            if (path.name, key) not in self.records:
                sizes = _WRAPS["int"] if wide else (*_WRAPS["signed char"], *_WRAPS["short"])
                options = ["--whole", "--wraps", *map(str, sizes)]
                name = f"{path.stem}-{key}{path.suffix}"
                judged = measure(name, path.read_text(), self.arguments, *options)
                self.keep({"file": path.name, "key": key, **judged})
            return self.records[path.name, key]

    def mutant(self, path: Path, mutant: Mutant) -> Record:
        """The mutant's record; a mutant of an original with findings is not judged."""
        record: Record = {
            "file": path.name,
            "key": mutant.key,
            "operator": mutant.operator,
            "line": mutant.line,
            "before": mutant.before,
            "after": mutant.after,
        }
        original = self.original(path, mutant.operator in WIDENED)
        if why := clean(original):
            return self.keep({**record, "dropped": why, "trouble": "", "simulator": None, "prover": None})
        options = ["--line", str(mutant.line)]
        if wraps := wrapping(mutant):
            options += ["--wraps", *map(str, wraps)]
        name = f"{path.stem}-{mutant.key}{path.suffix}"
        return self.keep({**record, **measure(name, mutant.text, self.arguments, *options)})


def wrapping(mutant: Mutant) -> tuple[int, ...]:
    """The largest value of the type that a mutant narrows to."""
    if mutant.operator in WIDENED:
        return _WRAPS["int"]
    return next(
        (w for n, w in _WRAPS.items() if mutant.operator in NARROWING and f"{n} " in mutant.after), ()
    )


def run(arguments: argparse.Namespace) -> tuple[list[Record], list[Record]]:
    """Records of the mutants drawn, and of their originals."""
    work = Run(arguments)
    waiting = queues(arguments.paths, arguments.operators or list(OPERATORS), arguments.seed)
    end = time.monotonic() + arguments.seconds if arguments.seconds else float("inf")
    count = dict.fromkeys(waiting, 0)  # confirmed, or asked about and not known yet
    running: dict[Future[Record], str] = {}
    taken: list[Record] = []

    def told(operator: str, record: Record) -> None:
        taken.append(record)
        count[operator] += bool(confirmed(record))
        said = classify(record) if confirmed(record) else record.get("dropped") or "not confirmed"
        said = record["trouble"].strip()[-60:] or said
        print(
            f"{len(taken)} {record['file']} {record['key']}: {said} ({record.get('seconds', 0)} s)",
            file=sys.stderr,
        )

    with ThreadPoolExecutor(arguments.jobs) as pool:
        while True:
            while len(running) < arguments.jobs and time.monotonic() < end:
                open_ = [o for o, queue in waiting.items() if queue and count[o] < arguments.per_operator]
                if not open_:
                    break
                operator = min(open_, key=lambda o: count[o])
                path, mutant = waiting[operator].popleft()
                if (path.name, mutant.key) in work.records:
                    told(operator, work.records[path.name, mutant.key])
                    continue
                count[operator] += 1
                running[pool.submit(work.mutant, path, mutant)] = operator
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                operator = running.pop(future)
                count[operator] -= 1
                told(operator, future.result())
    keys = {(r["file"], k) for r in taken for k in ("original", "original-wide")}
    return taken, [work.records[k] for k in sorted(keys) if k in work.records]


def kept(arguments: argparse.Namespace) -> tuple[list[Record], list[Record]]:
    """What an earlier run measured."""
    records = list(Run(arguments).records.values())
    return [r for r in records if "operator" in r], [r for r in records if "operator" not in r]


def table(records: Sequence[Mapping[str, Any]], originals: Sequence[Mapping[str, Any]]) -> str:
    """The figures as Markdown."""
    judged = [r for r in records if not r.get("dropped")]
    wrong = [r for r in judged if confirmed(r)]
    classes = {(r["file"], r["key"]): classify(r) for r in wrong}
    total = Counter(classes.values())
    by_operator: dict[str, Counter[str]] = {r["operator"]: Counter() for r in records}
    by_property: dict[str, Counter[str]] = defaultdict(Counter)
    for r in wrong:
        said = classes[r["file"], r["key"]]
        by_operator[r["operator"]][said] += 1
        for name in {f["property"] for f in confirmed(r)}:
            by_property[name][said] += 1
    share = f"{100 * total['right'] / len(wrong):.0f} %" if wrong else "-"
    dropped: dict[str, str] = {}
    for r in originals:
        if why := clean(r):
            only = " (for 64-bit indices only)" if r["key"] == "original-wide" else ""
            dropped[r["file"]] = f"{why}{only}" if only or r["file"] not in dropped else dropped[r["file"]]
    lines = [
        "## Mutants",
        "",
        f"{len(judged)} mutants of {len({r['file'] for r in judged})} safe kernels; {len(wrong)}, of "
        f"{len({r['file'] for r in wrong})} kernels, confirmed wrong by the simulator (-O0), "
        f"{sum(bool(r['trouble']) for r in judged)} not judged. "
        f"Proved: {total['proved']}. Refuted at the right property and line: {total['right']} ({share}).",
        "",
        f"Left out, because the original is not clean: {len(dropped)} kernels.",
        "",
        *(f"- `{name}`: {why}" for name, why in sorted(dropped.items())),
        "",
    ]
    for head, rows in (("operator", by_operator), ("property", by_property)):
        lines += [
            f"| {head} | confirmed | {' | '.join(CLASSES)} |",
            "| --- |" + " --- |" * (len(CLASSES) + 1),
        ]
        lines += [
            f"| {name} | {sum(row.values())} | {' | '.join(str(row[c]) for c in CLASSES)} |"
            for name, row in sorted(rows.items())
        ]
        lines.append("")
    for kind in ("proved", "no verdict", "refuted elsewhere", "unknown"):
        of_kind = [r for r in wrong if classes[r["file"], r["key"]] == kind]
        if of_kind:
            lines += [f"### {kind}", ""]
            lines += [
                f"- `{r['file']}:{r['line']}` {r['operator']}: `{r['after']}`{_why(r)}" for r in of_kind
            ]
            lines.append("")
    return "\n".join(lines)


def _why(record: Mapping[str, Any]) -> str:
    seen = sorted({f["property"] for f in confirmed(record)})
    said = sorted(
        {
            f"{name} {v[0]} ({v[1]})"
            for kernel in (record["prover"] or {"verdicts": ()})["verdicts"]
            for name, v in kernel.items()
            if name in seen and v[0] != "REFUTED"
        }
    )
    return f" - simulator: {', '.join(seen)}" + (f"; prover: {', '.join(said)}" if said else "")


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("mutants", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="*", type=Path, help="safe kernels: files or folders")
    p.add_argument("--out", type=Path, default=Path(".benchmarks/mutants"))
    p.add_argument("--scratch", type=Path, help="where mutants and caches are kept (--out)")
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument(
        "--timeout", type=float, default=40.0, help="seconds for the prover, of 2.5 times as many in all"
    )
    p.add_argument(
        "--per-operator", type=int, default=1 << 30, help="stop an operator at so many confirmed mutants"
    )
    p.add_argument("--operators", nargs="*", choices=sorted(OPERATORS), help="only these")
    p.add_argument("--seed", type=int, default=0, help="which mutants are drawn")
    p.add_argument("--seconds", type=float, default=0.0, help="draw no more after so long")
    p.add_argument(
        "--tables", action="store_true", help="run nothing, only write the tables of what is in --out"
    )
    p.add_argument("--fresh", action="store_true", help="forget what an earlier run measured")
    p.add_argument("--sandbox", default="auto", help="how mutants are isolated: auto, bwrap, landlock, none")
    p.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    p.add_argument("--whole", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--line", type=int, default=0, help=argparse.SUPPRESS)
    p.add_argument("--wraps", type=int, nargs="*", default=(), help=argparse.SUPPRESS)
    arguments = p.parse_args(argv)
    if arguments.judge:
        cache = (arguments.scratch or arguments.out) / "cache"
        what = Watch(arguments.sandbox, cache, arguments.line, tuple(arguments.wraps))
        print(json.dumps(judge(arguments.judge, arguments.timeout, what, arguments.whole)))
        return 0
    records, originals = kept(arguments) if arguments.tables else run(arguments)
    text = table(records, originals)
    (arguments.out / "tables.md").write_text(text + "\n")
    print(text)
    return 1 if any(classify(r) == "proved" for r in records if confirmed(r)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
