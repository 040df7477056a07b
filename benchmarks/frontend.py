"""What the front end reads and lifts of folders of kernels: PATH… -> one Markdown table and one line a kernel.

*read*: every instantiation of the kernel became IR without an ``unsupported`` statement. *clean*: and its symbolic
execution under its contract has no gap and no approximated value (what the contract does not say is counted by
*lifted*). *lifted*: every contract of a launched kernel comes from
the host code and says every extent, integer argument, grid, block and shared size. A kernel of a file that cannot be read
counts as none of them. With ``--nvcc`` only files that nvcc accepts count. Times are from the text to IR and contracts, with
the bytecode of an installed wheel; what the first file of a process imports counts to it.

Example::

    python -m benchmarks.frontend kernels/ --out .benchmarks/frontend-kernels --jobs 2
    python -m benchmarks.frontend testsuite/CUDA --labels gpuverify --nvcc --out .benchmarks/frontend-suite
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from benchmarks import corpus

_KERNEL = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?\b(\w+)\s*\(")


class _Late(Exception):
    """The file's time is over."""


def unsupported(node: Any) -> Iterable[tuple[str, str]]:
    """(construct, place) of every unsupported statement below an IR node."""
    if type(node).__name__ == "Unsupported":
        yield f"{node.construct}: {node.detail}"[:90], str(node.span)
    elif is_dataclass(node) and not isinstance(node, type):
        for name in node.__dataclass_fields__:
            yield from unsupported(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from unsupported(item)


def launched(name: str, host: str) -> bool:
    """Whether the host text has a launch of the kernel."""
    return bool(
        re.search(rf"\b{name}\s*(<[^;{{}}]*?>)?\s*<<<", host)
        or re.search(rf"cudaLaunch(Cooperative)?Kernel(ExC)?\s*\([^;]*\b{name}\b", host)
    )


def nvcc_accepts(path: Path, defines: Mapping[str, str], include: Sequence[str]) -> bool:
    """Whether nvcc makes a program for the device of the file as it is: every function that it calls is there."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    with tempfile.TemporaryDirectory() as folder:
        words = [f"-D{k}={v}" for k, v in defines.items()] + [f"-I{i}" for i in include]
        argv = [nvcc, "-std=c++17", "-arch=sm_80", "-w", *words, "-cubin", "-o", f"{folder}/o", str(path)]
        done = subprocess.run(argv, capture_output=True, check=False, timeout=120)
    return done.returncode == 0


def measure(item: corpus.Item, arguments: argparse.Namespace) -> dict[str, Any]:
    """The record of one file."""
    text = item.path.read_text(errors="replace")
    record: dict[str, Any] = {"path": item.name, "error": "", "kernels": {}, "seconds": 0.0, "accepted": True}
    words = list(item.extra)
    defines = dict(words[i + 1].split("=", 1) for i, w in enumerate(words) if w == "-D")
    contract = next((Path(words[i + 1]) for i, w in enumerate(words) if w == "--contract"), None)
    if arguments.nvcc:
        record["accepted"] = nvcc_accepts(item.path, defines, arguments.include)
        if not record["accepted"]:
            return record
    start = time.monotonic()

    def late(*_: Any) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, late)
    signal.alarm(int(arguments.timeout))
    try:
        _read(item, defines, contract, arguments, record, start)
    except _Late:
        record["error"] = "out of time"
    except Exception as error:
        record["error"] = f"{type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)
    if not record["kernels"]:
        blank = {"read": False, "clean": False, "launched": False, "lifted": False}
        names = dict.fromkeys(_KERNEL.findall(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)))
        why = [record["error"] or "no kernel found"]
        record["kernels"] = {
            n: {**blank, "launched": launched(n, text), "why": why, "unlifted": why} for n in names
        }
    record["seconds"] = record["seconds"] or round(time.monotonic() - start, 3)
    return record


def _read(
    item: corpus.Item,
    defines: Mapping[str, str],
    contract: Path | None,
    arguments: argparse.Namespace,
    record: dict[str, Any],
    start: float,
) -> None:
    from verifier import contracts, frontend, source
    from verifier.contracts import problem as problems
    from verifier.isolation.sandbox import probe
    from verifier.pipeline import begin_parsing, begin_reading
    from verifier.symex.execute import summarize

    sandbox = probe(arguments.sandbox)
    cache = arguments.out / "cache"
    begin_reading(item.problem, sandbox, cache)
    include = tuple(Path(i) for i in arguments.include)
    submission = source.load(
        item.path, root=arguments.root, include_dirs=include, defines=dict(defines), arch="sm_80", sandbox=sandbox,
        host_files=(),
    )  # fmt: skip
    begin_parsing(submission, "sm_80", sandbox, cache)
    problem = problems.load(item.problem, sandbox=sandbox) if item.problem else None
    derived = contracts.derive(
        submission, contract_file=contract, problem=problem, lock=None, sandbox=sandbox, cache=cache
    )
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    record["seconds"] = round(time.monotonic() - start, 3)
    record["problems"] = [*submission.problems, *derived.problems]
    errors = [f"{d.span}: {d.message}" for d in module.diagnostics if d.severity in ("error", "fatal")]
    record["error"] = errors[0] if errors else ""
    for name in dict.fromkeys(n for n, _ in submission.device.kernels):
        versions = [k for k in module.kernels if k.name == name]
        own = [c for c in derived.contracts if c.kernel == name]
        why = [f"{what} ({where})" for k in versions for what, where in unsupported(k.body)]
        if not versions:
            why.append("never instantiated" if any(n == name for n, _ in module.templates) else "not read")
        why += errors[:1]
        vague: list[str] = []
        for c in own:
            for k in versions:
                if k.instantiation == c.instantiation and not why:
                    s = summarize(k, c, cap=1 << 30)
                    vague += [
                        f"{g.construct}: {g.detail}"[:90]
                        for g in s.gaps
                        if not g.construct.startswith("contract:")
                    ]
                    vague += [text for text, _ in s.approximations]
        unlifted = [g for c in own for g in c.gaps]
        unlifted += [
            f"{x.param} is not known"
            for c in own
            for x in c.scalars
            if x.value is None and _integer(x, c, versions)
        ]
        unlifted += [f"a {c.origin} contract" for c in own if c.origin != "lifted"]
        is_launched = bool(own and contract is None) or launched(name, submission.host)
        if is_launched and not own:
            unlifted.append(next((p for p in derived.problems if name in p), "no contract"))
        record["kernels"][name] = {
            "read": not why,
            "clean": not why and not vague,
            "launched": is_launched,
            "lifted": is_launched and not unlifted,
            "why": list(dict.fromkeys(why + vague)),
            "unlifted": list(dict.fromkeys(unlifted)),
        }


def _integer(scalar: Any, contract: Any, versions: Sequence[Any]) -> bool:
    """Whether the scalar parameter without a value is an integer (a float's value is never needed)."""
    for kernel in versions:
        for p in kernel.params:
            if p.name == scalar.param:
                return type(p.type).__name__ == "Int"
    return True


def table(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The figures and the reasons, as Markdown."""
    counted = [r for r in records if r["accepted"]]
    kernels = [k for r in counted for k in r["kernels"].values()]
    times = sorted(r["seconds"] for r in counted) or [0.0]
    shares = [("read", "all"), ("clean", "all"), ("lifted", "launched")]
    lines = [
        "| files | refused by nvcc | unreadable | kernels | read | clean | launched | lifted | front end median | p95 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    on = [k for k in kernels if k["launched"]]
    share = {
        what: f"{sum(k[what] for k in of)} ({100 * sum(k[what] for k in of) / max(1, len(of)):.1f} %)"
        for what, of in ((w, kernels if base == "all" else on) for w, base in shares)
    }
    lines.append(
        f"| {len(counted)} | {len(records) - len(counted)} | {sum(bool(r['error']) for r in counted)} | {len(kernels)} "
        f"| {share['read']} | {share['clean']} | {len(on)} | {share['lifted']} "
        f"| {statistics.median(times):.2f} s | {times[int(0.95 * (len(times) - 1))]:.2f} s |"
    )
    for title, chosen in (
        ("not clean", [(r, k["why"]) for r in counted for k in r["kernels"].values() if not k["clean"]]),
        (
            "not lifted",
            [
                (r, k["unlifted"])
                for r in counted
                for k in r["kernels"].values()
                if k["launched"] and not k["lifted"]
            ],
        ),
    ):
        reasons: Counter[str] = Counter()
        example: dict[str, str] = {}
        for r, whys in chosen:
            for why in dict.fromkeys(
                re.sub(r"\S+:\d+(:\d+)?:?\s*|\(\S*:\d+(:\d+)?\)", "", w).strip() for w in whys[:1]
            ):
                reasons[why] += 1
                example.setdefault(why, r["path"])
        lines += ["", f"| {title}: first reason | kernels | for example |", "| --- | --- | --- |"]
        lines += [
            f"| {why.replace('|', chr(92) + '|')} | {n} | `{example[why]}` |"
            for why, n in reasons.most_common(60)
        ]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("frontend", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--out", type=Path, default=Path(".benchmarks/frontend"))
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--timeout", type=float, default=60.0)
    p.add_argument("--problems", type=Path)
    p.add_argument("--pairs", type=Path)
    p.add_argument("--unpaired", action="store_true")
    p.add_argument("--labels", choices=("gpuverify",))
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--nvcc", action="store_true", help="count only files that nvcc accepts")
    p.add_argument("--root", type=Path, help="folder in which quote includes are looked for")
    p.add_argument("-I", dest="include", action="append", default=[])
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for package in ("specs", "verifier"):  # what an installed wheel has
        compileall.compile_dir(corpus.ROOT / package, quiet=2)
    todo = corpus.items(arguments)
    records = []
    with (
        ProcessPoolExecutor(arguments.jobs) as pool,
        (arguments.out / "records.jsonl").open("w") as file,
    ):
        futures = [pool.submit(measure, item, arguments) for item in todo]
        for number, future in enumerate(as_completed(futures), 1):
            records.append(future.result())
            file.write(json.dumps(records[-1]) + "\n")
            if sys.stderr.isatty():
                print(f"\r{number} of {len(todo)}", end="", file=sys.stderr)
    records.sort(key=lambda r: r["path"])
    text = "\n".join(table(records)) + "\n"
    (arguments.out / "tables.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
