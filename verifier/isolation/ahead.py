"""Children that are started before they are needed: command -> a process that ``child.run`` finds and uses, once.

Starting an interpreter and its libraries takes longer than most requests. A child that is begun early does that beside
other work: it waits for its request on stdin, or already works on it.

Invariant: a begun child is one that ``run`` would start itself, in its own sandbox and under the same limits. It gets
one request, is used by the thread that began it, and ``drop`` leaves nothing of it behind. Until ``run`` takes it nothing
of what it says is read.

Example::

    begin(command, b"request"); process, rest = take(command, b"request"); drop()
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PIPE_BYTES = 1 << 20
"""So much of a request or an answer is kept by the system while nobody reads."""

_Key = tuple[int, int, tuple[str, ...]]


@dataclass(slots=True)
class _Begun:
    """``request`` is empty until there is one; its first ``sent`` bytes are in the pipe."""

    process: subprocess.Popen[bytes]
    request: bytes = b""
    sent: int = 0


_begun: dict[_Key, _Begun] = {}


def popen(
    command: Sequence[str], *, stdin: bool, env: Mapping[str, str], cwd: str | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )


def begin(command: Sequence[str], env: Mapping[str, str], request: bytes = b"") -> None:
    """Start ``command`` unless it waits already; give it ``request``. Never blocks, and no failure of it shows here."""
    key = _key(command)
    begun = _begun.get(key)
    if begun is not None and begun.request and request not in (b"", begun.request):
        _end(_begun.pop(key).process)
        begun = None
    if begun is None:
        try:
            begun = _Begun(popen(command, stdin=True, env=env))
        except OSError:
            return  # ``run`` will meet the same error and report it
        _begun[key] = begun
        for pipe in (begun.process.stdin, begun.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    stdin = begun.process.stdin
    if request and not begun.request and stdin is not None:
        begun.request = request
        os.set_blocking(stdin.fileno(), False)
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            begun.sent = os.write(stdin.fileno(), request)
        if begun.sent == len(request):
            stdin.close()
            begun.process.stdin = None


def take(command: Sequence[str], request: bytes) -> tuple[subprocess.Popen[bytes], bytes] | None:
    """The begun child that has no request yet or this one, and what is left to send. One with another is ended."""
    begun = _begun.pop(_key(command), None)
    if begun is None:
        return None
    if begun.request not in (b"", request) or not request:
        _end(begun.process)
        return None
    return begun.process, request[begun.sent :]


def drop() -> None:
    """End what this thread began and nobody took."""
    for key in [k for k in _begun if k[:2] == _key(())[:2]]:
        _end(_begun.pop(key).process)


def _key(command: Sequence[str]) -> _Key:
    """A child belongs to its process and thread: bwrap ends with the thread that started it."""
    return os.getpid(), threading.get_ident(), tuple(command)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
