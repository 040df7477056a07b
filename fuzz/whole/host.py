"""A submission's host code as a library that runs on real memory: Submission -> Library, or Unrunnable.

This is the only place where submitted host code is compiled. It happens in the sandbox, and what comes out is loaded by
``fuzz.whole.child`` alone, in the sandbox too. Invariant: nothing of it ever runs in this process.

Example::

    with tempfile.TemporaryDirectory() as folder:
        build(submission, Path(folder), sandbox)   # folder/host.so
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from fuzz.whole.rewrite import library
from verifier.frontend.host import HostUnreadable, read_host
from verifier.isolation.child import Limits, run
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import Submission
from verifier.source.errors import SourceError

INCLUDE = Path(__file__).resolve().parent / "include"
_COMPILE = Limits(cpu_seconds=60, memory_mb=4096, wall_seconds=90.0)
_FLAGS = (
    "-std=c++17",
    "-O0",
    "-w",
    "-fpermissive",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    f"-I{INCLUDE}",
)


class Unrunnable(RuntimeError):
    """The host code cannot be run; the message says why."""


def build(submission: Submission, folder: Path, sandbox: Sandbox) -> Path:
    """Compile the launchers. Raises Unrunnable."""
    try:
        code = read_host(submission.host, sandbox=sandbox)
        names = Counter(code.functions[u]["name"] for u in code.roots)
        words = set(re.findall(r"\w+", submission.python))
        wanted = [n for n, count in names.items() if count == 1 and n in words and not n.startswith("vk_")]
        text = library(submission.host, code, wanted)
    except (HostUnreadable, SourceError) as error:
        raise Unrunnable(f"the host code cannot be read: {error}") from error
    source, made = folder / "host.cpp", folder / "host.so"
    source.write_text(text, encoding="utf-8")
    argv = ["g++", *_FLAGS, "-o", str(made), str(source)]
    done = run(argv, sandbox=sandbox, limits=_COMPILE, readable=(INCLUDE,), writable=(folder,), cwd=folder)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        wrong = next((line for line in lines if "error" in line), "g++ failed")
        raise Unrunnable(
            f"the host code does not compile here: {wrong.partition('error: ')[2] or wrong}"[:240]
        )
    return made
