"""The declarations that host code is parsed against, parsed once: cache folder -> a precompiled header, or None.

A sandboxed child that sees nothing but this installation makes it; this process writes it. The child that parses a
submission only reads it. Its name holds the digest of all that it was made of and that of its own bytes.

Invariant: without it, or with one that the parser refuses, the same tree comes out later: it only saves time.

Example::

    path = precompiled(Path("~/.cache/verify-kernel").expanduser(), probe())   # …/parser/host-3f…-a1….pch
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from functools import cache as once
from importlib import metadata
from pathlib import Path

from specs.version import VERSION
from verifier.isolation.child import Limits, python_argv, run
from verifier.isolation.sandbox import Sandbox

SHIM = Path(__file__).resolve().parent / "host_shim.h"
FLAG = "--precompile"
_LIMITS = Limits(cpu_seconds=20, memory_mb=3072, wall_seconds=30.0, output_bytes=32 << 20)
_MAGIC = b"CPCH"
_NAME = re.compile(r"host-[0-9a-f]{32}-([0-9a-f]{32})\.pch")


@once
def precompiled(cache: Path | None, sandbox: Sandbox) -> Path | None:
    """The file in ``cache``, made now if it is not there. None: there is no cache, or it cannot be used."""
    if cache is None:
        return None
    try:
        folder = cache.absolute() / "parser"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in sorted(folder.glob(f"host-{_key()}-*.pch")):
            if _intact(path):
                return path
        return _made(folder, sandbox)
    except OSError:
        return None


def _key() -> str:
    """Everything that the file depends on; the parser refuses it when the header's time of change is another."""
    about = SHIM.stat()
    parts = (VERSION, metadata.version("libclang"), str(SHIM), str(about.st_mtime_ns))
    worker = SHIM.with_name("host_worker.py").read_bytes()  # it holds the parser's arguments
    digest = hashlib.sha256("\n".join(parts).encode() + b"\0" + worker + b"\0" + SHIM.read_bytes())
    return digest.hexdigest()[:32]


def _intact(path: Path) -> bool:
    """A regular file that nobody else may write and whose bytes are those that were written."""
    name = _NAME.fullmatch(path.name)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        ours = about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return bool(ours and name and hashlib.sha256(file.read()).hexdigest()[:32] == name[1])


def _made(folder: Path, sandbox: Sandbox) -> Path | None:
    done = run(python_argv("verifier.frontend.host_worker", FLAG), sandbox=sandbox, limits=_LIMITS)
    if done.returncode != 0 or done.truncated or not done.stdout.startswith(_MAGIC):
        return None
    target = folder / f"host-{_key()}-{hashlib.sha256(done.stdout).hexdigest()[:32]}.pch"
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".host-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(done.stdout)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return target
