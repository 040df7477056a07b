"""Host code as a neutral tree: preprocessed text -> HostCode (dicts of statements and expressions with C types).

libclang runs in a child process (``host_worker``), so hostile text costs this process nothing. The tree is JSON; its
nodes are described by ``host_worker``'s reader, one method for each.

Invariant: what could not be parsed is in ``errors`` with the line it stands on; nothing is left out silently.

Example::

    code = read_host(submission.host, sandbox=probe())
    [f["name"] for f in code.functions.values()]
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specs.location import NOWHERE, Span
from verifier.frontend.host_precompiled import precompiled
from verifier.ir.collector import without_collector
from verifier.isolation.child import Limits, begin, python_argv, run
from verifier.isolation.sandbox import Sandbox

Node = dict[str, Any]
_LIMITS = Limits(cpu_seconds=15, memory_mb=3072, wall_seconds=20.0, output_bytes=32 << 20, processes=64)


class HostUnreadable(Exception):
    """The host code could not be read at all (limits, or a crash of the parser); the message says why."""


@dataclass(frozen=True, slots=True)
class HostCode:
    """``functions``: by USR, templates instantiated as called. ``roots``: USRs of the plain functions, in order.

    ``kernels``: name, parameters (name, type) and place of each ``__global__`` function or template.
    ``errors``: (message, span, physical line) of each diagnostic outside device code.
    """

    paths: tuple[str, ...]
    functions: dict[str, Node]
    roots: tuple[str, ...]
    globals: tuple[Node, ...]
    kernels: tuple[Node, ...]
    errors: tuple[tuple[str, Span, int], ...]
    unknown_names: tuple[str, ...] = field(default=())
    launches: tuple[Span, ...] = ()
    """Where the text launches a kernel, by its tokens: also in functions that nothing calls."""
    memo: dict[tuple[str, int], Any] = field(default_factory=dict, compare=False, repr=False)
    """What was found out about a node, by the question and the node's ``id()``: the tree lives as long as this does."""

    def remember(self, question: str, node: object, answer: Callable[[], Any]) -> Any:
        key = (question, id(node))
        if key not in self.memo:
            self.memo[key] = answer()
        return self.memo[key]

    def span(self, place: list[int] | None) -> Span:
        if not place or not place[1]:
            return NOWHERE
        return Span(self.paths[place[0]], place[1], place[2])


def begin_host(text: str | None = None, *, sandbox: Sandbox, cache: Path | None = None) -> None:
    """Start the child of ``read_host`` early; ``text`` if it is known already."""
    request = b"" if text is None else _request(text)
    argv, readable = _command(cache, sandbox)
    begin(argv, sandbox=sandbox, stdin=request, limits=_LIMITS, readable=readable)


def _command(cache: Path | None, sandbox: Sandbox) -> tuple[list[str], list[Path]]:
    """What is run, and the file that it may read besides."""
    header = precompiled(cache, sandbox)
    arguments = [] if header is None else [str(header)]
    return python_argv("verifier.frontend.host_worker", *arguments), [] if header is None else [header]


def _request(text: str) -> bytes:
    return text.encode() or b"\n"


def read_host(text: str, *, sandbox: Sandbox, cache: Path | None = None) -> HostCode:
    """Parse host code in a child. Raises HostUnreadable. ``cache``: a folder to keep our own parsed declarations in."""
    argv, readable = _command(cache, sandbox)
    done = run(argv, sandbox=sandbox, stdin=_request(text), limits=_LIMITS, readable=readable)
    if done.timed_out or done.truncated or done.returncode < 0:
        raise HostUnreadable("host code: the parser ran into its limits")
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise HostUnreadable(f"host code: the parser failed ({last[-1][:200] if last else done.returncode})")
    with without_collector():
        return host_code(json.loads(done.stdout))


def host_code(tree: Node) -> HostCode:
    """The worker's tree as HostCode."""
    paths = tuple(tree["paths"])
    place = HostCode(paths, {}, (), (), (), ())
    return HostCode(
        paths=paths,
        functions=tree["functions"],
        roots=tuple(tree["roots"]),
        globals=tuple(tree["globals"]),
        kernels=tuple(tree["kernels"]),
        errors=tuple((e["message"], place.span(e["s"]), e["line"]) for e in tree["errors"]),
        unknown_names=tuple(tree["unknown_names"]),
        launches=tuple(place.span(s) for s in tree["launches"]),
    )
