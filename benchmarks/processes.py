"""One command in a process tree of its own, with limits on wall time and memory: argv -> Ended.

Invariant: when ``run`` returns, nothing of the tree is left. Memory is what the whole tree holds (resident), looked at
twice a second: an address space limit would forbid the large reservations that the simulator never touches.

Example::

    ended = run([sys.executable, "-c", "print(1)"], wall_seconds=5.0, memory_mb=500)
    assert ended.stdout == b"1\\n" and ended.stopped == ""
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_GRACE = 3.0


@dataclass(frozen=True, slots=True)
class Ended:
    """``stopped``: "" when the command ended by itself, else ``time`` or ``memory``."""

    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float
    peak_mb: int
    stopped: str


def run(
    argv: Sequence[str],
    *,
    wall_seconds: float,
    memory_mb: int,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    pause: float = 0.05,
) -> Ended:
    """Run to the end or to a limit."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=True
        )
        stopped, peak, looked = "", 0, 0.0
        try:
            while process.poll() is None and not stopped:
                time.sleep(pause)
                now = time.monotonic()
                if now - looked >= 0.5:
                    looked = now
                    peak = max(peak, _resident(_tree(process.pid)))
                    stopped = "memory" if peak > memory_mb << 20 else ""
                if now - start > wall_seconds:
                    stopped = "time"
        finally:
            _end(process)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return Ended(process.returncode, out.read(), err.read(), seconds, peak >> 20, stopped)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask, wait a moment, then kill everything that is left."""
    tree = _tree(process.pid)
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    for pid in (
        {*tree, *_tree(process.pid)} - {process.pid} if process.poll() is None else tree - {process.pid}
    ):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tree(root: int) -> set[int]:
    """``root`` and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = Path(entry.path, "stat").read_text()
                children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, todo = {root}, [root]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def _resident(pids: set[int]) -> int:
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return total
