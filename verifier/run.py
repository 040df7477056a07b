"""One run of the tool: paths and options -> Report, written and printed; the exit status comes back.

Files are named or found in folders (those without a kernel are skipped and counted). With ``--output`` an incomplete
report stands there from the start, so that even a killed run leaves a valid one; SIGTERM and Ctrl-C write what is
known with ``"complete": false``.

Example::

    run(Request((Path("saxpy.cu"),), Options(policy), format="text"))   # prints the report, returns 0
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from specs.results import FileResult, Outcome, Report
from specs.version import VERSION
from verifier import batch, pipeline
from verifier.judge import exit_status
from verifier.pipeline import Options
from verifier.report import render
from verifier.report.clean import line
from verifier.report.style import plural

SOURCES = (".cu", ".py", ".cuh")
_SKIPPED_FOLDERS = frozenset({"node_modules", "build", "dist", "site-packages", "__pycache__"})
_MAX_SCANNED = 4 << 20


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for, besides what one file's audit needs."""

    paths: tuple[Path, ...]
    options: Options
    format: str = "text"
    output: Path | None = None
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """``named``: which of ``files`` stand on the command line. ``skipped``: files of folders without a kernel."""

    files: tuple[Path, ...]
    named: frozenset[Path]
    skipped: int


class UsageError(Exception):
    """A request that cannot be carried out (exit 2)."""


class Stopped(BaseException):
    """SIGTERM or Ctrl-C: stop, but leave a valid report."""


def run(request: Request) -> int:
    """Audit everything, write the report, return the exit status."""
    selection = select(request.paths)
    _refuse_filled(request.options.keep_obligations)
    if request.output is not None:
        _refuse_overwrite(request.output, selection.files)
        _write(request, _report(request, selection, {}, complete=False))
    results: dict[int, FileResult] = {}
    complete = True
    try:
        with _stoppable():
            _audit_all(request, selection, results)
    except (Stopped, KeyboardInterrupt):
        complete = False
    report = _report(request, selection, results, complete)
    _write(request, report)
    _keep_witnesses(request.options, report)
    return report.exit


def _keep_witnesses(options: Options, report: Report) -> None:
    """With ``--keep``: each counterexample as a witness file and a test."""
    if options.keep is None:
        return
    from verifier import replays

    reading = replays.Reading(
        root=options.root,
        include_dirs=options.include_dirs,
        defines=tuple(options.defines.items()),
        host_files=options.host_files,
        arch=options.policy.archs[0],
    )
    for file in report.files:
        for case in replays.cases_of(file, reading):
            replays.save(options.keep / "witnesses", case)


def select(paths: Sequence[Path]) -> Selection:
    """The files to audit, in a stable order. Raises UsageError where nothing is selected."""
    files: dict[Path, None] = {}
    named: set[Path] = set()
    skipped = 0
    for path in paths:
        if path.is_dir():
            for found in _walk(path):
                if _has_kernel(found):
                    files.setdefault(found)
                else:
                    skipped += 1
        else:
            files.setdefault(path)
            named.add(path)
    if not files:
        raise UsageError(f"no kernel in {', '.join(map(str, paths))} ({plural(skipped, 'file')} looked at)")
    return Selection(tuple(files), frozenset(named), skipped)


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS)
        yield from (Path(root, n) for n in sorted(names) if n.endswith(SOURCES))


def _has_kernel(path: Path) -> bool:
    """A cheap look; what only seems to have a kernel is dropped later."""
    try:
        with path.open("rb") as file:
            return b"__global__" in file.read(_MAX_SCANNED)
    except OSError:
        return True  # unreadable: let the audit say so


def _audit_all(request: Request, selection: Selection, results: dict[int, FileResult]) -> None:
    jobs = request.jobs or default_jobs()
    with _progress(len(selection.files)) as (stage, done):
        if len(selection.files) == 1:
            options = replace(request.options, jobs=jobs)
            results[0] = pipeline.audit(selection.files[0], options, stage)
            return
        with contextlib.closing(batch.run(selection.files, request.options, jobs)) as finished:
            for place, result in finished:
                results[place] = result
                done(result)


def default_jobs() -> int:
    """How many files at once: processors that this process may use, cgroup quota, and 2 GiB of memory each."""
    count = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            count = min(count, -(-int(quota) // int(period)))
    with contextlib.suppress(OSError, ValueError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit = Path("/sys/fs/cgroup/memory.max")
        if limit.exists() and (text := limit.read_text().strip()) != "max":
            memory = min(memory, int(text))
        count = min(count, memory >> 31)
    return max(1, count)


def _report(request: Request, selection: Selection, results: dict[int, FileResult], complete: bool) -> Report:
    files: list[FileResult] = []
    skipped = selection.skipped
    for place, path in enumerate(selection.files):
        result = results.get(place)
        if result is None:
            reason = "the run was stopped before this file was done"
            result = FileResult(
                str(path), "", Outcome.INCONCLUSIVE, 0.0, (), headline=reason, reasons=(reason,)
            )
        if result.verdict is Outcome.NOT_RUN and result.bad_input and path not in selection.named:
            skipped += 1
            continue
        files.append(result)
    notes = [f"{plural(skipped, 'file')} without a kernel skipped"] if skipped else []
    if request.options.policy.origin != "default":
        notes.append(f"policy {request.options.policy.name} from {request.options.policy.origin}")
    if request.options.sandbox == "none":
        notes.append("--sandbox none: submitted code ran without isolation")
    return Report(tuple(files), complete, exit_status(files), versions(request.options), tuple(notes))


def versions(options: Options) -> dict[str, str]:
    """What decided the verdicts: the report's ``tool``."""
    found = {"name": "verify-kernel", "version": VERSION, "python": platform.python_version()}
    for package in ("z3-solver", "libclang", "hypothesis"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    policy = options.policy
    return found | {
        "policy": policy.name,
        "policy_origin": policy.origin,
        "policy_sha256": policy.digest,
        "effort": options.effort,
        "seed": str(options.seed),
        "sandbox": options.sandbox,
    }


def _write(request: Request, report: Report) -> None:
    colour = request.output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = render(report, request.format, colour=colour, verbose=request.options.verbose)
    if request.output is None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader went away; the verdict stays what it is
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    write_file(request.output, text)


def write_file(path: Path, text: str) -> None:
    """Replace ``path`` at once: a reader sees the old or the new report, never half of one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _refuse_overwrite(output: Path, files: Sequence[Path]) -> None:
    if output.is_dir():
        raise UsageError(f"--output {output} is a folder; name a file")
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: no folder {output.parent}")
    if output.suffix in (*SOURCES, ".cpp", ".h", ".hpp", ".toml"):
        raise UsageError(f"--output {output} looks like a source file; name a report file")
    for source in files:
        if output.exists() and source.exists() and output.samefile(source):
            raise UsageError(f"--output {output} would overwrite a submitted file")


def _refuse_filled(folder: Path | None) -> None:
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--keep-obligations {folder} is no empty folder; name a new or an empty one")


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for many small things, on a terminal only and on stderr: (done, total)."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[tuple[Callable[[str], None], Callable[[FileResult], None]]]:
    """What runs now (one file) or a bar (several), on a terminal only and on stderr."""
    if not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    bar = (*columns, BarColumn(), MofNCompleteColumn()) if total > 1 else columns
    with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=total)

        def stage(text: str) -> None:
            progress.update(task, description=escape(line(text)))

        def done(result: FileResult) -> None:
            shown = f"{result.verdict}  {result.path}"
            progress.update(task, advance=1, description=escape(line(shown))[-60:])

        yield stage, done
