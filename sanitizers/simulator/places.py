"""Return addresses and site constants of the child -> places in the user's files.

Example::

    Places(program, prepared, sandbox).resolve([0x401a2c])   # {0x401a2c: Span("saxpy.cu", 4)}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from specs.location import NOWHERE, Span
from verifier.isolation import Limits, Sandbox, run

_ROOT = "/device-text/"
_FUNCTION = re.compile(r"[0-9a-f]+ <([^>]+)>:")
_TARGET = re.compile(r"\b(?:call|j[a-z]+)\s+[0-9a-f]+ <([^>+]+)(?:\+0x[0-9a-f]+)?>")
_MARKER = re.compile(r'^#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"', re.MULTILINE)


class Lines:
    """The text's lines by user file and line."""

    def __init__(self, text: str) -> None:
        self.paths: set[str] = set()
        self._lines: dict[tuple[str, int], str] = {}
        path, number = "", 1
        for line in text.split("\n"):
            if marker := _MARKER.match(line):
                number, path = int(marker[1]), re.sub(r"\\(.)", r"\1", marker[2])
                self.paths.add(path)
                continue
            self._lines.setdefault((path, number), line)
            number += 1

    def at(self, span: Span) -> str:
        return self._lines.get((span.path, span.line), "")


def user_path(path: str, paths: set[str]) -> str | None:
    """The user's name of a file as the compiler names it."""
    for candidate in (path, path.removeprefix(_ROOT), path.removeprefix(_ROOT) + ""):
        if candidate in paths:
            return candidate
    return None


def resolve(program: Path, addresses: Iterable[int], paths: set[str], sandbox: Sandbox) -> dict[int, Span]:
    """The innermost line of the user's own text for each address (inlined calls are seen through)."""
    wanted = sorted({a for a in addresses if a > 0})
    if not wanted:
        return {}
    argv = ["addr2line", "-a", "-i", "-e", str(program), *(hex(a - 1) for a in wanted)]
    done = run(argv, sandbox=sandbox, readable=[program], limits=Limits(cpu_seconds=10, wall_seconds=15.0))
    found: dict[int, Span] = {}
    current = 0
    for line in done.stdout.decode(errors="replace").splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            current = int(line, 16) + 1
            continue
        place = re.match(r"(.*):(\d+)(?: \(discriminator \d+\))?$", line)
        if place and current not in found and (path := user_path(place[1], paths)) is not None:
            found[current] = Span(path, int(place[2]))
    return found


def all_blocks(program: Path, paths: set[str], sandbox: Sandbox) -> dict[int, Span]:
    """Where each basic block of the kernel begins: the address after the call that tells of it, and its line.

    Only functions that the launch can come to: not the file's other kernels.
    """
    done = run(
        ["objdump", "-d", "--no-show-raw-insn", str(program)],
        sandbox=sandbox,
        readable=[program],
        limits=Limits(cpu_seconds=10, wall_seconds=15.0),
    )
    blocks: dict[str, list[int]] = {}
    leads_to: dict[str, set[str]] = {}
    function, called = "", False
    for line in done.stdout.decode(errors="replace").splitlines():
        if header := _FUNCTION.fullmatch(line):
            function, called = header[1], False
            continue
        address, _, words = line.strip().partition(":")
        if called and re.fullmatch(r"[0-9a-f]+", address):
            blocks.setdefault(function, []).append(int(address, 16))
        target = _TARGET.search(words)
        if target is not None:
            leads_to.setdefault(function, set()).add(target[1])
        called = target is not None and target[1] == "__sanitizer_cov_trace_pc"
    reached, open_ = {"simt_entry"}, ["simt_entry"]
    while open_:
        new = leads_to.get(open_.pop(), set()) - reached
        reached |= new
        open_ += new
    return resolve(program, [a for f in reached for a in blocks.get(f, ())], paths, sandbox)


def first_place(
    frames: Sequence[int], site: Sequence[object] | None, known: Mapping[int, Span], paths: set[str]
) -> Span:
    """A site constant says line and column; else the first frame that lies in the user's text."""
    if site is not None:
        path = user_path(str(site[0]), paths)
        if path is not None and isinstance(site[1], int) and isinstance(site[2], int):
            return Span(path, site[1], site[2])
    return next((known[f] for f in frames if f in known), NOWHERE)
