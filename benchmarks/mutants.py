"""Does the prover see faults? Mutants of safe kernels, judged by the simulator first and by the prover second.

A mutant counts when the simulator, built at -O0, finds a fault of a required property on small launches. The prover is
then asked, without knowing: it must not prove that property (``proved`` must be 0) and should refute it at the place
that the simulator saw (``right``). Records are JSON lines in ``--out``; a second run goes on where the first stopped.

Example::

    python -m benchmarks.mutants examples --out .benchmarks/mutants --jobs 2
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.expectations import lines_of
from benchmarks.mutation import Mutant, mutants
from specs.policy import Policy, default_policy

ROOT = Path(__file__).resolve().parent.parent
CLASSES = ("right", "refuted elsewhere", "unknown", "proved", "no verdict")
_TOO_MUCH = ("PROVED", "NOT_APPLICABLE")


def watch(
    path: Path, sandbox_choice: str, cache: Path | None, count: int = 5, max_threads: int = 2048
) -> dict[str, Any]:
    """What the simulator sees: ``{"faults": [{"contract", "property", "line"}], "runs", "notes"}``."""
    from sanitizers.sampling import small_launches
    from sanitizers.simulator import Schedule, simulate
    from specs.clauses import instantiate
    from verifier import contracts, frontend, source
    from verifier.isolation import sandbox as sandboxes

    sandbox = sandboxes.probe(sandbox_choice)
    submission = source.load(path, root=None, sandbox=sandbox)
    derived = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=sandbox)
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    faults: set[tuple[int, str, int]] = set()
    notes: set[str] = set()
    runs = 0
    for number, contract in enumerate(derived.contracts):
        kernel = next(
            (
                k
                for k in module.kernels
                if (k.name, k.instantiation) == (contract.kernel, contract.instantiation)
            ),
            None,
        )
        if kernel is None:
            notes.add(f"{contract.kernel}: not read")
            continue
        for symbols in small_launches(contract, count=count, seed=1, max_threads=max_threads):
            launch = instantiate(contract, symbols)
            for schedule in (Schedule("forward", 0), Schedule("reverse", 0), Schedule("interleaved", 1)):
                result = simulate(
                    submission.device,
                    kernel,
                    launch,
                    schedule=schedule,
                    opt="O0",
                    sandbox=sandbox,
                    cache=cache,
                )
                runs += 1
                notes |= {n for n in (result.unsupported, result.error) if n}
                faults |= {(number, f.property, f.span.line) for f in result.findings}
                faults |= {(number, f.property, f.other.span.line) for f in result.findings if f.other}
    return {
        "faults": [{"contract": c, "property": p, "line": line} for c, p, line in sorted(faults)],
        "runs": runs,
        "notes": sorted(notes),
    }


def ask(path: Path, timeout: float, sandbox: str, cache: Path | None) -> dict[str, Any]:
    """What the prover alone says: verdicts of each contract, and findings with their lines."""
    from verifier.judge import findings_of
    from verifier.pipeline import Options, audit

    policy = Policy.model_validate({"required_gates": ("static", "prove")})
    result = audit(
        path, Options(policy=policy, gates=("static", "prove"), timeout=timeout, sandbox=sandbox, cache=cache)
    )
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


def classify(record: Mapping[str, Any]) -> str:
    """One of CLASSES for a mutant that the simulator confirmed."""
    faults, answer = confirmed(record), record["prover"]
    if answer is None or answer["verdict"] == "ERROR":
        return "no verdict"
    if answer["verdict"] == "PASS":
        return "proved"
    places = {(f["property"], f["line"]) for f in faults}
    refuted = [f for f in answer["findings"] if f["severity"] == "error"]
    if any((f["property"], line) in places and f["replayed"] for f in refuted for line in f["lines"]):
        return "right"
    if all(
        f["contract"] < len(answer["verdicts"])
        and answer["verdicts"][f["contract"]].get(f["property"], ["UNKNOWN"])[0] in _TOO_MUCH
        for f in faults
    ):
        return "proved"
    return "refuted elsewhere" if refuted else "unknown"


def judge(path: Path, timeout: float, sandbox: str = "auto", cache: Path | None = None) -> dict[str, Any]:
    """Simulator first; the prover only where the simulator saw something."""
    record: dict[str, Any] = {"simulator": watch(path, sandbox, cache), "prover": None}
    if confirmed(record):
        record["prover"] = ask(path, timeout, sandbox, cache)
    return record


def measure(original: Path, mutant: Mutant, arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge one mutant in a process of its own."""
    path = arguments.out / "files" / f"{original.stem}-{mutant.key}{original.suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mutant.text)
    argv = [sys.executable, "-m", "benchmarks.mutants", "--judge", str(path.resolve())]
    argv += ["--timeout", str(arguments.timeout), "--sandbox", arguments.sandbox]
    argv += ["--out", str(arguments.out.resolve())]
    ended = processes.run(argv, wall_seconds=3 * arguments.timeout, memory_mb=6000, cwd=ROOT)
    judged: dict[str, Any] = {"simulator": None, "prover": None}
    if ended.returncode == 0 and not ended.stopped:
        judged = json.loads(ended.stdout.splitlines()[-1])
    return {
        "file": original.name,
        "key": mutant.key,
        "operator": mutant.operator,
        "line": mutant.line,
        "before": mutant.before,
        "after": mutant.after,
        "seconds": round(ended.seconds, 1),
        "trouble": ended.stopped
        or (ended.stderr.decode(errors="replace")[-1500:] if ended.returncode else ""),
        **judged,
    }


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


def chosen(arguments: argparse.Namespace) -> list[tuple[Path, Mutant]]:
    found = [(path, mutant) for path in sources(arguments.paths) for mutant in mutants(path.read_text())]
    step = max(1, len(found) // arguments.sample) if arguments.sample else 1
    return found[::step][: arguments.sample or None]


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "records.jsonl"
    done: dict[tuple[str, str], dict[str, Any]] = {}
    if file.exists() and not arguments.fresh:
        for line in file.read_text().splitlines():
            record = json.loads(line)
            done[record["file"], record["key"]] = record
    todo = chosen(arguments)
    missing = [(p, m) for p, m in todo if (p.name, m.key) not in done]
    with (
        file.open("w" if arguments.fresh else "a") as lines,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        futures = [pool.submit(measure, p, m, arguments) for p, m in missing]
        for number, future in enumerate(as_completed(futures), 1):
            record = future.result()
            done[record["file"], record["key"]] = record
            lines.write(json.dumps(record) + "\n")
            lines.flush()
            said = classify(record) if confirmed(record) else record["trouble"][-60:] or "not confirmed"
            print(f"{number}/{len(missing)} {record['file']} {record['key']}: {said}", file=sys.stderr)
    return [done[p.name, m.key] for p, m in todo]


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """The figures as Markdown."""
    wrong = [r for r in records if confirmed(r)]
    classes = {(r["file"], r["key"]): classify(r) for r in wrong}
    total = Counter(classes.values())
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    by_property: dict[str, Counter[str]] = defaultdict(Counter)
    for r in wrong:
        said = classes[r["file"], r["key"]]
        by_operator[r["operator"]][said] += 1
        for name in {f["property"] for f in confirmed(r)}:
            by_property[name][said] += 1
    share = f"{100 * total['right'] / len(wrong):.0f} %" if wrong else "-"
    lines = [
        "## Mutants",
        "",
        f"{len(records)} mutants of {len({r['file'] for r in records})} safe kernels; {len(wrong)} confirmed wrong "
        f"by the simulator (-O0, small launches), {sum(bool(r['trouble']) for r in records)} not judged. "
        f"Proved: {total['proved']}. Refuted at the right property and line: {total['right']} ({share}).",
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
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument(
        "--timeout", type=float, default=60.0, help="seconds for the prover, and twice that to simulate"
    )
    p.add_argument("--sample", type=int, default=0, help="only N mutants, evenly spread")
    p.add_argument("--fresh", action="store_true", help="forget what an earlier run measured")
    p.add_argument("--sandbox", default="auto", help="how mutants are isolated: auto, bwrap, landlock, none")
    p.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    arguments = p.parse_args(argv)
    if arguments.judge:
        print(
            json.dumps(judge(arguments.judge, arguments.timeout, arguments.sandbox, arguments.out / "cache"))
        )
        return 0
    records = run(arguments)
    text = table(records)
    (arguments.out / "tables.md").write_text(text + "\n")
    print(text)
    return 1 if any(classify(r) == "proved" for r in records if confirmed(r)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
