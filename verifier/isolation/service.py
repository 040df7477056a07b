"""A child that answers requests over its pipes for as long as it is wanted: argv -> Popen, in the sandbox of ``run``.

Invariant: the child has its own process group, an empty environment, no terminal; ``stop`` leaves nothing of it
behind. ``Limits.cpu_seconds`` counts over its whole life (0: none); the wall time of one request is the caller's to
watch. Under bwrap the child ends with the *thread* that started it, so start it in the thread that uses it.

Example::

    child = start(python_argv("fuzz.oracle_child"), sandbox=probe(), limits=Limits(cpu_seconds=0, memory_mb=0))
    child.stdin.write(b"..."); child.stdin.flush(); stop(child)
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from verifier.isolation.child import ENVIRONMENT, Limits, wrapped
from verifier.isolation.sandbox import Sandbox

_NO_LIMIT = 10_000_000


def start(
    argv: Sequence[str],
    *,
    sandbox: Sandbox,
    limits: Limits = Limits(),  # noqa: B008
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    devices: Sequence[Path] = (),
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start it; stdin and stdout are pipes, stderr is dropped."""
    limits = replace(limits, cpu_seconds=limits.cpu_seconds or _NO_LIMIT)
    return subprocess.Popen(
        wrapped(argv, sandbox, limits, readable, writable, cwd, devices),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd=cwd if sandbox.kind == "none" else None,
        start_new_session=True,
    )


def stop(child: subprocess.Popen[bytes]) -> None:
    """Kill it and its group, close the pipes. Safe to call twice."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
