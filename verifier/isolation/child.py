"""Run one program under limits: argv -> Completed. Nothing of it outlives the call.

Invariant: the child sees an empty environment and, in a sandbox, no network, no other process and no
file but the system's ``/usr``, this installation and what ``readable``/``writable`` name. The parent never
blocks on a full pipe, keeps at most ``output_bytes``, and kills the whole group at the wall limit. The
result is data, never a verdict.

Example::

    done = run(["g++", "-E", "-"], sandbox=probe(), stdin=b"int x;", limits=Limits(wall_seconds=5.0))
    done.returncode, done.stdout, done.timed_out
    run(python_argv("verifier.frontend.worker"), sandbox=probe(), stdin=b"...")
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from verifier.isolation import ahead
from verifier.isolation.sandbox import SYSTEM, Sandbox, base_arguments, confined

PACKAGES = ("specs", "verifier", "sanitizers", "fuzz", "generator")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}
_PROJECT = Path(__file__).resolve().parents[2]
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """``memory_mb``: address space of each process; 0: no limit (GPU drivers reserve terabytes).

    ``processes`` holds under bwrap only, and not for root (the kernel exempts it).
    """

    cpu_seconds: int = 20
    memory_mb: int = 4096
    wall_seconds: float = 30.0
    output_bytes: int = 64 << 20
    processes: int = 64


@dataclass(frozen=True, slots=True)
class Completed:
    """``returncode`` is negative for a signal. ``truncated``: killed for too much output."""

    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool
    truncated: bool


def run(
    argv: Sequence[str],
    *,
    sandbox: Sandbox,
    stdin: bytes = b"",
    limits: Limits = Limits(),
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    devices: Sequence[Path] = (),
    cwd: Path | None = None,
) -> Completed:
    """Run ``argv`` to its end or to a limit. A program that cannot be started ends with returncode 127.

    ``devices``: device files that it may use (a GPU's); none by default.
    """
    command = wrapped(argv, sandbox, limits, readable, writable, cwd, devices)
    start = time.monotonic()
    folder = str(cwd) if cwd and sandbox.kind == "none" else None
    begun = ahead.take(command, stdin) if cwd is None else None
    process, stdin = begun or (
        ahead.popen(command, stdin=bool(stdin), env=ENVIRONMENT, cwd=folder),
        stdin,
    )
    try:
        streams, timed_out, truncated = _converse(
            process, stdin, start + limits.wall_seconds, limits.output_bytes
        )
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
    code = process.returncode
    if code > 128 and sandbox.kind != "none":
        code = 128 - code  # bwrap reports a signal of its child the shell's way
    return Completed(code, streams[0], streams[1], time.monotonic() - start, timed_out, truncated)


def begin(
    argv: Sequence[str],
    *,
    sandbox: Sandbox,
    stdin: bytes = b"",
    limits: Limits = Limits(),
    readable: Sequence[Path] = (),
) -> None:
    """Start now what this thread will ``run`` soon with the same arguments; ``stdin`` empty: not known yet.

    The wall limit counts from ``run``. Whoever begins calls ``ahead.drop`` in the end.
    """
    ahead.begin(wrapped(argv, sandbox, limits, readable), ENVIRONMENT, stdin)


def wrapped(
    argv: Sequence[str],
    sandbox: Sandbox,
    limits: Limits,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    cwd: Path | None = None,
    devices: Sequence[Path] = (),
) -> list[str]:
    """``argv`` behind the sandbox and the resource limits (the wall limit is the caller's to keep)."""
    return [*_wrapper(sandbox, readable, writable, devices, cwd), *_prlimit(sandbox, limits), *argv]


def python_argv(module: str, *args: str) -> list[str]:
    """``python -m module args`` of this installation: isolated, no .pth files, no bytecode written."""
    paths = [str(_PROJECT), *_library_paths()]
    start = (
        f"import sys, runpy; sys.path[:0] = {paths!r}; sys.argv[0] = {module!r}; "
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    return [sys.executable, "-I", "-S", "-B", "-c", start, *args]


def _prlimit(sandbox: Sandbox, limits: Limits) -> list[str]:
    options = ["--core=0", f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 1}", f"--fsize={1 << 32}"]
    if limits.memory_mb:
        options.append(f"--as={limits.memory_mb << 20}")
    if sandbox.kind == "bwrap" and _counts_per_namespace():
        options.append(f"--nproc={limits.processes}")
    return ["prlimit", *options, "--"]


@cache
def _counts_per_namespace() -> bool:
    """Before Linux 5.14, and outside a user namespace, RLIMIT_NPROC counts all processes of the user."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(c for c in minor if c.isdigit()) or 0)) >= (5, 14)


def _wrapper(
    sandbox: Sandbox,
    readable: Sequence[Path],
    writable: Sequence[Path],
    devices: Sequence[Path],
    cwd: Path | None,
) -> list[str]:
    match sandbox.kind:
        case "none":
            return []
        case "bwrap":
            argv = [*base_arguments(sandbox), *_installation_binds()]
            argv += _binds("--ro-bind", readable)
            argv += _binds("--bind", writable)
            argv += _binds("--dev-bind", devices)
            return [*argv, "--chdir", str(cwd.absolute() if cwd else Path("/tmp")), "--"]
        case "landlock":
            spec = {
                "read": [*SYSTEM, *_installation_binds()[1::3], *_both(readable)],
                "list": [str(_PROJECT)],  # for imports: a path is listed before a package in it is opened
                "write": _both(writable),
                "devices": _both(devices),
                "tmp": str(_private_tmp()),
                "cwd": str(cwd.absolute()) if cwd else None,
            }
            return confined(spec)


def _both(paths: Iterable[Path]) -> list[str]:
    return [word for path in paths for word in dict.fromkeys((str(path.resolve()), str(path.absolute())))]


@cache
def _private_tmp() -> Path:
    """Where confined programs get their folders for temporary files; gone when this process ends."""
    folder = tempfile.mkdtemp(prefix="confined-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _binds(option: str, paths: Iterable[Path]) -> list[str]:
    return [word for path in paths for word in (option, str(path.resolve()), str(path.absolute()))]


@cache
def _library_paths() -> tuple[str, ...]:
    """The folders that this process imports libraries from."""
    kept = ("site-packages", "dist-packages")
    return tuple(p for p in sys.path if p and Path(p).is_dir() and any(k in Path(p).parts for k in kept))


@cache
def _installation_binds() -> tuple[str, ...]:
    """Read-only binds of the interpreter (every hop of its symlinks), the libraries, the project."""
    prefixes = {Path(sys.base_prefix), Path(sys.prefix), *map(Path, _library_paths())}
    hop = Path(sys.executable)
    while True:
        prefixes.add(hop.parent.parent)
        if not hop.is_symlink():
            break
        hop = hop.parent / hop.readlink()
    prefixes.add(Path(os.path.realpath(sys.executable)).parent.parent)
    prefixes |= {_PROJECT / package for package in PACKAGES}
    wanted = sorted({Path(os.path.normpath(p)) for p in prefixes if p.is_dir() and p != Path("/")})
    outer = [p for p in wanted if p != Path("/usr") and not any(q != p and q in p.parents for q in wanted)]
    return tuple(word for path in outer for word in ("--ro-bind", str(path), str(path)))


def _converse(
    process: subprocess.Popen[bytes], stdin: bytes, deadline: float, cap: int
) -> tuple[tuple[bytes, bytes], bool, bool]:
    """Feed stdin, read both pipes. Returns (stdout, stderr), timed_out, truncated."""
    assert process.stdout is not None and process.stderr is not None
    out, err = bytearray(), bytearray()
    sinks = {process.stdout.fileno(): out, process.stderr.fileno(): err}
    pending = memoryview(stdin)
    exited = os.pidfd_open(process.pid)
    with selectors.DefaultSelector() as selector:
        selector.register(exited, selectors.EVENT_READ)
        for descriptor in sinks:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin.fileno(), selectors.EVENT_WRITE)
        try:
            while True:
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    return (bytes(out), bytes(err)), True, False
                ready = {key.fd for key, _ in events}
                if process.stdin is not None and process.stdin.fileno() in ready:
                    pending = _feed(process.stdin.fileno(), pending)
                    if not pending:
                        selector.unregister(process.stdin.fileno())
                        process.stdin.close()
                        process.stdin = None
                for descriptor in ready & sinks.keys():
                    if not _drain(descriptor, sinks[descriptor], cap, once=True):
                        selector.unregister(descriptor)
                if len(out) > cap or len(err) > cap:
                    return (bytes(out[:cap]), bytes(err[:cap])), False, True
                if exited in ready:
                    for descriptor, sink in sinks.items():
                        _drain(descriptor, sink, cap, once=False)
                    full = len(out) > cap or len(err) > cap
                    return (bytes(out[:cap]), bytes(err[:cap])), False, full
                if time.monotonic() > deadline:
                    return (bytes(out), bytes(err)), True, False
        finally:
            os.close(exited)


def _feed(descriptor: int, pending: memoryview) -> memoryview:
    try:
        return pending[os.write(descriptor, pending[:_CHUNK]) :]
    except BlockingIOError:
        return pending
    except BrokenPipeError:
        return pending[len(pending) :]


def _drain(descriptor: int, sink: bytearray, cap: int, *, once: bool) -> bool:
    """Read what is there into ``sink``, up to one chunk past the cap. False at the end of the stream."""
    while len(sink) <= cap:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        sink += data
        if once:
            return True
    return True
