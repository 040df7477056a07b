"""Problem files (``class Model``, ``get_inputs``, ``get_init_inputs``): path -> Problem.

The file runs in a sandboxed child against a stub of torch (``problem_worker``), so torch need not be installed. Sizes
become symbols named after the module's constants; a literal size becomes a symbol of its own, except 1.

Invariant: two sizes are the same symbol only if the file uses the same name for both.

Example::

    problem = load(Path("matmul.py"), sandbox=probe())
    problem.inputs[0].shape      # ('M', 'K')
    problem.values               # {'M': 1024, 'K': 4096, 'N': 2048}
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from specs.location import Span
from verifier.contracts.errors import ContractError
from verifier.isolation.child import Limits, begin, python_argv, run
from verifier.isolation.sandbox import Sandbox

_LIMITS = Limits(cpu_seconds=10, memory_mb=2048, wall_seconds=15.0, output_bytes=8 << 20, processes=16)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of ``forward`` or ``__init__``.

    ``shape``: dims as clause texts over the problem's symbols, ``sizes`` their numbers; None if not known.
    ``memory``: which memory a tensor may share, by number; ``whole``: it is not a view.
    ``text``: an int as clause text. ``content``: inclusive bounds of an integer tensor's elements as clause texts.
    ``value`` of kind "other": why it is not followed, where that is known.
    """

    kind: Literal["tensor", "int", "float", "bool", "none", "text", "list", "dict", "other"]
    shape: tuple[str, ...] | None = None
    sizes: tuple[int, ...] | None = None
    dtype: str = ""
    content: tuple[str, str] | None = None
    layout: str = "contiguous"
    memory: int = -1
    whole: bool = True
    text: str = ""
    value: int | float | bool | str | None = None
    items: tuple[Argument, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """``values``: each symbol's number. ``dims``: the symbols that are part of an input's shape.

    ``init``: arguments of the model's constructor, by position (``init_keys`` empty) or by name.
    ``path``: the file that holds the reference ``Model``.
    """

    path: str
    sha256: str
    values: dict[str, int]
    dims: frozenset[str]
    inputs: tuple[Argument, ...]
    init: tuple[Argument, ...]
    init_keys: tuple[str, ...] = ()
    has_model: bool = True
    text: str = field(default="", repr=False)

    def largest(self) -> int:
        """Elements of the largest input."""
        best = 1
        for argument in self.inputs:
            if argument.sizes is not None:
                count = 1
                for size in argument.sizes:
                    count *= size
                best = max(best, count)
        return best


def begin_load(path: Path, *, sandbox: Sandbox) -> None:
    """Start the child of ``load`` early, with the file; one that cannot be read is reported by ``load``."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        request = _request(path, path.read_text(encoding="utf-8"))
        begin(
            python_argv("verifier.contracts.problem_worker"), sandbox=sandbox, stdin=request, limits=_LIMITS
        )


def _request(path: Path, text: str) -> bytes:
    return json.dumps({"path": str(path), "text": text}).encode()


def load(path: Path, *, sandbox: Sandbox) -> Problem:
    """Read a problem file. Raises ContractError for a file that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(
            f"cannot read the problem file: {error}", Span(str(path), 0), "give a readable file"
        ) from error
    done = run(
        python_argv("verifier.contracts.problem_worker"),
        sandbox=sandbox,
        stdin=_request(path, text),
        limits=_LIMITS,
    )
    if done.timed_out or done.truncated or done.returncode < 0:
        raise ContractError(
            "the problem file ran into its limits", Span(str(path), 0), "make get_inputs cheap"
        )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ContractError(
            f"the problem file does not run: {lines[-1][:200] if lines else 'no message'}",
            Span(str(path), 0),
            "it needs get_inputs() and get_init_inputs() that only build tensors",
        )
    return _problem(path, text, json.loads(done.stdout))


def _problem(path: Path, text: str, found: dict[str, Any]) -> Problem:
    if found["inputs"] is None:
        raise ContractError("the problem file has no get_inputs()", Span(str(path), 0), "add get_inputs()")
    values: dict[str, int] = dict(found["symbols"])
    inputs = [_argument(a) for a in found["inputs"]]
    inputs = [_named(a, f"input{i}", values) for i, a in enumerate(inputs)]
    init = _argument(found["init"])
    dims = {n for a in inputs for t in a.shape or () for n in _names(t)}
    return Problem(
        path=str(path),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        values=values,
        dims=frozenset(dims),
        inputs=tuple(inputs),
        init=init.items,
        init_keys=init.keys,
        has_model=bool(found["model"]),
        text=text,
    )


def _names(text: str) -> set[str]:
    from specs.clauses import names

    return names(text)


def _argument(data: dict[str, Any]) -> Argument:
    return Argument(
        kind=data["kind"],
        shape=None if data.get("shape") is None else tuple(data["shape"]),
        sizes=None if data.get("sizes") is None else tuple(data["sizes"]),
        dtype=data.get("dtype", ""),
        content=None if data.get("content") is None else (data["content"][0], data["content"][1]),
        layout=data.get("layout", "contiguous"),
        memory=data.get("memory", -1),
        whole=data.get("whole", True),
        text=data.get("text", ""),
        value=data.get("value"),
        items=tuple(_argument(i) for i in data.get("items", ())),
        keys=tuple(data.get("keys", ())),
    )


def _named(argument: Argument, name: str, values: dict[str, int]) -> Argument:
    """A literal size above 1 becomes a symbol of its own."""
    from dataclasses import replace

    if argument.kind == "list":
        return replace(
            argument, items=tuple(_named(a, f"{name}_{i}", values) for i, a in enumerate(argument.items))
        )
    if argument.shape is None:
        return argument
    shape: list[str] = []
    for index, text in enumerate(argument.shape):
        if text.isdigit() and int(text) > 1:
            fresh = f"{name}_{index}"
            while fresh in values:
                fresh += "_"
            values[fresh] = int(text)
            text = fresh
        shape.append(text)
    return replace(argument, shape=tuple(shape))
