"""Many files, one process each: paths and options -> FileResults, in the order in which they end.

Invariant: a file that crashes, hangs or eats its process never stops the rest and never becomes green; a child that
overstays its deadline is killed with its whole process group.

Example::

    for place, result in run(paths, options, jobs=2): ...
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from specs.results import FileResult, Outcome
from verifier.pipeline import GRACE, Options, audit


@dataclass(frozen=True, slots=True)
class _Running:
    place: int
    path: Path
    process: SpawnProcess
    start: float


def run(paths: Sequence[Path], options: Options, jobs: int) -> Generator[tuple[int, FileResult]]:
    """Yield ``(index into paths, result)``. Closing the generator kills what still runs."""
    context = multiprocessing.get_context("spawn")
    waiting = deque(enumerate(paths))
    running: dict[Connection, _Running] = {}
    limit = options.timeout + GRACE
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                place, path = waiting.popleft()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(sender, path, options))
                process.start()
                sender.close()
                running[receiver] = _Running(place, path, process, time.monotonic())
            for ready in wait(list(running), timeout=0.2):
                assert isinstance(ready, Connection)
                yield _collect(ready, running.pop(ready))
            now = time.monotonic()
            for late in [c for c, r in running.items() if now - r.start > limit]:
                job = running.pop(late)
                _kill(job.process)
                late.close()
                reason = f"resources: killed {limit:.0f} s after its start (--timeout)"
                yield job.place, _lost(job, Outcome.INCONCLUSIVE, reasons=(reason,))
    finally:
        for job in running.values():
            _kill(job.process)


def _collect(ready: Connection, job: _Running) -> tuple[int, FileResult]:
    try:
        result = ready.recv()
    except (EOFError, OSError):
        job.process.join(1.0)
        message = f"{job.path}: internal error: its process ended with status {job.process.exitcode}"
        return job.place, _lost(job, Outcome.ERROR, message=message)
    finally:
        ready.close()
    _kill(job.process)
    return job.place, result


def _lost(job: _Running, verdict: Outcome, reasons: tuple[str, ...] = (), message: str = "") -> FileResult:
    blank = FileResult(str(job.path), "", verdict, time.monotonic() - job.start, ())
    return replace(blank, reasons=reasons, message=message, not_checked=("the file as a whole",))


def _child(sender: Connection, path: Path, options: Options) -> None:
    """In the child: its own process group, and nothing it prints can mix with the report."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if not options.verbose:
        os.dup2(nowhere, 2)
    sender.send(audit(path, options))
    sender.close()


def _kill(process: SpawnProcess) -> None:
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.join(1.0)
