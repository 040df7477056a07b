"""The tool over any folder of kernels, one limited process a file: PATH… -> Markdown and JSON tables.

Every file is audited as a user would do it (``python -m verifier --format json FILE``). Each finished file is a line of
``OUT/records.jsonl``; a second run with the same ``--out`` goes on where the first stopped. Tables are in ``OUT``:
``tables.md`` and ``tables.json``.

Example::

    python -m benchmarks.corpus kernels/ --out .benchmarks/kernels --jobs 2
    python -m benchmarks.corpus solutions/ --problems problems/ --pairs data.json --out .benchmarks/paired
    python -m benchmarks.corpus testsuite/CUDA --labels gpuverify --out .benchmarks/labelled
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import kernel_tally, labels, processes, tally

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".cu", ".py")
_START_UP = 15.0
"""Seconds over --timeout after which the process is stopped from outside: the tool should have ended by itself."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file to measure. ``name`` is its path below the folder that was given, and its key on resume."""

    name: str
    path: Path
    problem: Path | None = None
    label: str = ""
    extra: tuple[str, ...] = ()


def find(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """(name, path) of every source file that seems to hold a kernel, in a stable order."""
    for path in paths:
        if path.is_file():
            yield path.name, path
        for found in sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file()):
            if b"__global__" in found.read_bytes():
                yield str(found.relative_to(path)), found


def pairs(file: Path, problems: Path) -> dict[str, Path]:
    """Solution stem -> problem file, from a table ``"Level 1: 7_Some_name": [{"file": stem}, …]``."""
    found: dict[str, Path] = {}
    for title, entries in json.loads(file.read_text()).items():
        if match := re.match(r"Level (\d+): (\d+)_", title):
            problem = problems / f"l{match[1]}_p{match[2]}.py"
            if problem.is_file():
                found.update({e["file"]: problem for e in entries})
    return found


def items(arguments: argparse.Namespace) -> list[Item]:
    problem_of = pairs(arguments.pairs, arguments.problems) if arguments.pairs else {}
    found = []
    for name, path in find(arguments.paths):
        problem = problem_of.get(path.stem)
        if arguments.pairs and problem is None and not arguments.unpaired:
            continue
        if arguments.labels:
            labelled = labels.read(
                path,
                arguments.out / "contracts",
                arguments.root,
                getattr(arguments, "sandbox", "auto"),
            )
            if labelled is None:
                continue
            found.append(Item(name, path, None, labelled.label, labelled.arguments))
        else:
            found.append(Item(name, path, problem))
    step = max(1, len(found) // arguments.sample) if arguments.sample else 1
    return found[::step][: arguments.sample or None]


def measure(item: Item, arguments: argparse.Namespace) -> dict[str, Any]:
    """Audit one file; the record for it."""
    argv = [sys.executable, "-m", "verifier", "--format", "json", "--jobs", "1"]
    argv += ["--timeout", str(arguments.timeout)]
    if arguments.root:
        argv += ["--root", str(arguments.root.resolve())]
    if item.problem:
        argv += ["--problem", str(item.problem.resolve())]
    argv += [*item.extra, *arguments.tool_options, str(item.path.resolve())]
    ended = processes.run(
        argv,
        wall_seconds=arguments.timeout + _START_UP,
        memory_mb=arguments.memory,
        cwd=ROOT,
        env=_environment(arguments),
    )
    report = _report(ended.stdout)
    stderr = ended.stderr.decode(errors="replace")[-4000:]
    return {
        "path": item.name,
        "problem": item.problem.name if item.problem else "",
        "label": item.label,
        "kernels": kernel_tally.names(item.path.read_text(encoding="utf-8", errors="replace")),
        "seconds": round(ended.seconds, 2),
        "peak_mb": ended.peak_mb,
        "exit": ended.returncode,
        "stopped": ended.stopped,
        "crash": "Traceback" in stderr or (ended.returncode not in (0, 1, 2, 3, 4) and not ended.stopped),
        "stderr": stderr if report is None or "Traceback" in stderr else "",
        "report": report,
    }


def _environment(arguments: argparse.Namespace) -> dict[str, str]:
    """A cache of this run's own: the simulator's runtime is built once, as at any user's; no verdict is from before."""
    return {**os.environ, "XDG_CACHE_HOME": str((arguments.out / "cache").resolve())}


def _report(stdout: bytes) -> dict[str, Any] | None:
    """The file's part of the report, without what no table needs."""
    try:
        file: dict[str, Any] = json.loads(stdout)["files"][0]
    except (ValueError, LookupError, TypeError):
        return None
    for kernel in file["kernels"]:
        if kernel["contract"]:
            kernel["contract"] = {k: kernel["contract"][k] for k in ("origin", "gaps")}
    return file


def _resume(file: Path) -> dict[str, dict[str, Any]]:
    """Finished records by name; a half-written last line is dropped."""
    done: dict[str, dict[str, Any]] = {}
    if file.exists():
        for line in file.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            done[record["path"]] = record
    return done


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure everything that has no record yet; all records, in the order of the files."""
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    todo = items(arguments)
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "records.jsonl"
    if arguments.fresh:
        file.unlink(missing_ok=True)
        shutil.rmtree(arguments.out / "cache", ignore_errors=True)
    done = _resume(file)
    missing = [i for i in todo if i.name not in done]
    columns = (
        *Progress.get_default_columns()[:2],
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        file.open("a") as lines,
        Progress(
            *columns, TextColumn("{task.fields[counts]}"), transient=not sys.stderr.isatty()
        ) as progress,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        bar = progress.add_task("corpus", total=len(todo), completed=len(todo) - len(missing), counts="")
        futures = [pool.submit(measure, item, arguments) for item in missing]
        try:
            for future in as_completed(futures):
                record = future.result()
                done[record["path"]] = record
                lines.write(json.dumps(record) + "\n")
                lines.flush()
                kinds = [tally.outcome(r) for r in done.values()]
                progress.update(
                    bar, advance=1, counts=" ".join(f"{o}:{kinds.count(o)}" for o in tally.OUTCOMES)
                )
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [done[i.name] for i in todo]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("corpus", description="Measure verify-kernel on a folder of kernels.")
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument(
        "--out", type=Path, default=Path(".benchmarks/corpus"), help="folder for records and tables"
    )
    p.add_argument("--title", default="", help="heading of the tables (default: the name of --out)")
    p.add_argument("--timeout", type=float, default=60.0, help="seconds a file")
    p.add_argument("--memory", type=int, default=6000, help="MB that one file's processes may hold together")
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--problems", type=Path, help="folder of problem files l<level>_p<number>.py")
    p.add_argument("--pairs", type=Path, help="JSON table of solutions for each problem")
    p.add_argument(
        "--unpaired", action="store_true", help="with --pairs: also files that the table does not name"
    )
    p.add_argument("--labels", choices=("gpuverify",), help="read expected results from the files' headers")
    p.add_argument("--root", type=Path, help="folder that includes may not leave (default: each file's own)")
    p.add_argument("--sample", type=int, default=0, help="only N files, evenly spread")
    p.add_argument("--fresh", action="store_true", help="forget what an earlier run measured")
    p.add_argument("--tables-only", action="store_true", help="only write the tables again")
    p.add_argument("tool_options", nargs="*", help="after --: options for verify-kernel itself")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    cut = argv.index("--") if "--" in argv else len(argv)
    arguments = parser().parse_args(argv[:cut])
    arguments.tool_options = argv[cut + 1 :]
    if bool(arguments.pairs) != bool(arguments.problems):
        parser().error("--pairs and --problems go together")
    if arguments.tables_only:
        records = list(_resume(arguments.out / "records.jsonl").values())
    else:
        records = run(arguments)
    if not records:
        print("no kernels found", file=sys.stderr)
        return 2
    figures = tally.summarize(records)
    title = arguments.title or arguments.out.name
    command = f"python -m benchmarks.corpus {shlex.join(_shown(argv))}"
    by_kernel = kernel_tally.classify(records)
    (arguments.out / "tables.json").write_text(json.dumps(figures | {"kernels": by_kernel}, indent=2) + "\n")
    told = kernel_tally.sentence(by_kernel)
    (arguments.out / "tables.md").write_text(f"{tally.markdown(figures, title, command, told)}\n")
    print(
        f"{arguments.out}/tables.md: {figures['decided_files']} of {figures['files']} files decided. {told}"
    )
    return 0


def _shown(argv: Sequence[str]) -> list[str]:
    """The command line without this machine's folders."""
    return [Path(a).name if a.startswith("/") else a for a in argv]


if __name__ == "__main__":
    raise SystemExit(main())
