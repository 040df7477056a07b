"""Contracts that a person wrote: a TOML file, or ``//@`` comments above the kernel. Text -> Stated.

Both forms say the same things (docs/reference/contracts.md): buffers, scalars, the launch, preconditions, contents,
what does not overlap, the reference. Clauses are checked here, so that an error names its own line.

Invariant: nothing of it is believed here; who vouches for it is decided in ``assembly`` (acceptance).

Example::

    //@ buffer x: in f32[n]
    //@ buffer y: inout f32[n]
    //@ requires n >= 1
    //@ launch grid=(ceil_div(n, 256)) block=(256)
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specs.clauses import ClauseError, parse
from specs.location import NOWHERE, Span
from verifier.contracts.errors import ContractError
from verifier.source.device_text import SourceText

DTYPES = ("f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool")
_BUFFER = re.compile(
    r"(?:(?P<mode>in|out|inout)\s+)?(?P<dtype>\w+)\s*\[(?P<dims>.*)\]\s*(?P<rest>(?:fresh|align\s+\d+|\s)*)$"
)
_CONTENT = re.compile(r"(?P<low>.+?)\s*\.\.\s*(?P<high>.+)$")
_CALLABLE = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_ATTRIBUTES = ("__launch_bounds__", "__cluster_dims__", "__attribute__", "__align__", "alignas")
_KEYS = {"kernel", "instantiation", "launcher", "symbols", "requires", "buffers", "scalars", "launch", "content", "no_alias",
         "reference"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatedBuffer:
    param: str
    dtype: str
    dims: tuple[str, ...]
    mode: str = "inout"
    fresh: bool = False
    align: int = 0
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class StatedSymbol:
    name: str
    kind: str = "dim"
    low: int | None = None
    high: int | None = None
    value: int | None = None


@dataclass(frozen=True, slots=True)
class StatedLaunch:
    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared_bytes: str
    span: Span
    cooperative: bool = False


@dataclass(slots=True)
class Stated:
    """What was stated of one kernel. ``source``: file (a person typed it), sidecar or comment (came with the code)."""

    kernel: str
    source: str
    span: Span
    instantiation: tuple[str, ...] | None = None
    launcher: str = ""
    buffers: dict[str, StatedBuffer] = field(default_factory=dict)
    scalars: dict[str, str | None] = field(default_factory=dict)
    symbols: dict[str, StatedSymbol] = field(default_factory=dict)
    requires: list[tuple[str, Span]] = field(default_factory=list)
    content: dict[str, tuple[str, str, Span]] = field(default_factory=dict)
    no_alias: list[tuple[str, str, Span]] = field(default_factory=list)
    launch: StatedLaunch | None = None
    reference: str | None = None

    def canonical(self) -> str:
        """The contract as text without places, for digests."""
        data = {
            "kernel": self.kernel,
            "instantiation": self.instantiation,
            "launcher": self.launcher,
            "buffers": {
                k: [b.dtype, list(b.dims), b.mode, b.fresh, b.align] for k, b in self.buffers.items()
            },
            "scalars": self.scalars,
            "symbols": {k: [s.kind, s.low, s.high, s.value] for k, s in self.symbols.items()},
            "requires": [t for t, _ in self.requires],
            "content": {k: [a, b] for k, (a, b, _) in self.content.items()},
            "no_alias": [[a, b] for a, b, _ in self.no_alias],
            "launch": None
            if self.launch is None
            else [self.launch.grid, self.launch.block, self.launch.shared_bytes],
        }
        return json.dumps(data, sort_keys=True)

    @property
    def empty(self) -> bool:
        """Whether it says nothing that shrinks the domain."""
        return not (
            self.buffers or self.scalars or self.requires or self.content or self.no_alias or self.launch
        )


# --- pieces ---------------------------------------------------------------------------------------------------------


def _clause(text: str, span: Span) -> str:
    try:
        parse(text)
    except ClauseError as error:
        raise ContractError(
            str(error), span, "use the clause language of docs/reference/contracts.md"
        ) from error
    return text.strip()


def _split(text: str) -> list[str]:
    """At the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def buffer(param: str, text: str, span: Span) -> StatedBuffer:
    """``in f32[n, m] align 16``."""
    found = _BUFFER.match(text.strip())
    if found is None:
        raise ContractError(
            f"buffer {param}: {text!r} is not 'in|out|inout DTYPE[DIM, …] [fresh] [align N]'",
            span,
            "write e.g. in f32[n]",
        )
    dtype = found["dtype"]
    if dtype not in DTYPES:
        raise ContractError(
            f"buffer {param}: unknown dtype {dtype!r}", span, f"use one of {' '.join(DTYPES)}"
        )
    dims = _split(found["dims"])
    if not dims:
        raise ContractError(f"buffer {param}: no extent", span, "write the number of elements, e.g. f32[n]")
    rest = found["rest"]
    align = re.search(r"align\s+(\d+)", rest)
    return StatedBuffer(
        param,
        dtype,
        tuple(_clause(d, span) for d in dims),
        found["mode"] or "inout",
        "fresh" in rest,
        int(align.group(1)) if align else 0,
        span,
    )


def content(param: str, text: str, span: Span) -> tuple[str, str, Span]:
    """``0..V-1``, both ends included."""
    found = _CONTENT.match(text.strip())
    if found is None:
        raise ContractError(f"content of {param}: {text!r} is not 'LOW..HIGH'", span, "write e.g. 0..n-1")
    return _clause(found["low"], span), _clause(found["high"], span), span


def _plain(value: Any) -> bool:
    """A clause as text, or a number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _three(value: Any, what: str, span: Span) -> tuple[str, str, str]:
    if isinstance(value, str):
        value = _split(
            value.strip().removeprefix("(").removesuffix(")") if value.strip().startswith("(") else value
        )
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= 3 or not all(map(_plain, value)):
        raise ContractError(
            f"launch: {what} needs one to three sizes", span, f'write {what} = ["ceil_div(n, 256)"]'
        )
    parts = [_clause(str(v), span) for v in value] + ["1", "1"]
    return parts[0], parts[1], parts[2]


# --- TOML -----------------------------------------------------------------------------------------------------------


def read_toml(path: Path, source: str, text: str | None = None) -> list[Stated]:
    """All contracts of a file. Raises ContractError with the line of what is wrong."""
    if text is None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ContractError(
                f"cannot read the contract: {error}", Span(str(path), 0), "give a readable file"
            ) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ContractError(
            f"not TOML: {error}",
            Span(str(path), int(line.group(1)) if line else len(text.rstrip().split("\n"))),
            "see docs/reference/contracts.md",
        ) from error
    tables = data.get("contract")
    unknown = set(data) - {"contract"}
    places = _Places(str(path), text)
    if unknown:
        key = sorted(unknown)[0]
        raise ContractError(
            f"unknown table or key {key!r}", places.of(key), "a contract file holds [[contract]] tables only"
        )
    if not isinstance(tables, list) or not tables:
        raise ContractError(
            "no [[contract]] table", Span(str(path), 1), 'start with [[contract]] and kernel = "name"'
        )
    return [_table(table, index, source, places) for index, table in enumerate(tables)]


class _Places:
    """Finds the line of a key or value: the first after the table's own header that holds the text."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.lines = path, text.split("\n")
        self.headers = [i for i, line in enumerate(self.lines) if line.strip().startswith("[[contract]]")]

    def of(self, needle: str, table: int = 0) -> Span:
        start = self.headers[table] if table < len(self.headers) else 0
        order = [*range(start, len(self.lines)), *range(start)]
        for index in order:
            if re.match(rf"\s*\"?{re.escape(needle)}\"?\s*=", self.lines[index]):
                return Span(
                    self.path, index + 1, len(self.lines[index]) - len(self.lines[index].lstrip()) + 1
                )
        for index in order:
            if needle in self.lines[index]:
                return Span(self.path, index + 1, self.lines[index].index(needle) + 1)
        return Span(self.path, start + 1)


def _table(table: Any, index: int, source: str, places: _Places) -> Stated:
    here = places.of("[[contract]]", index)
    if not isinstance(table, dict) or not isinstance(table.get("kernel"), str):
        raise ContractError("a contract without kernel", here, 'add kernel = "name"')
    for key in table:
        if key not in _KEYS:
            raise ContractError(
                f"unknown key {key!r}", places.of(key, index), f"known keys: {', '.join(sorted(_KEYS))}"
            )

    def typed(key: str, kind: type, what: str) -> Any:
        value = table.get(key, kind())
        if not isinstance(value, kind):
            raise ContractError(
                f"{key} must be {what}", places.of(key, index), "see docs/reference/contracts.md"
            )
        return value

    def text(value: Any, key: str, *, number: bool = False) -> str:
        """What may stand as a clause. ``key``: where it stands."""
        if not (isinstance(value, str) or (number and _plain(value))):
            kind = "text or a number" if number else "text"
            raise ContractError(
                f"{key} must hold {kind}", places.of(key, index), "see docs/reference/contracts.md"
            )
        return str(value)

    out = Stated(table["kernel"], source, here)
    if "instantiation" in table:
        arguments = typed("instantiation", list, "a list of template arguments")
        if not all(isinstance(a, str | int) for a in arguments):
            raise ContractError(
                "instantiation must hold text or numbers",
                places.of("instantiation", index),
                'write ["float", 4]',
            )
        out.instantiation = tuple(str(a).lower() if isinstance(a, bool) else str(a) for a in arguments)
    out.launcher = typed("launcher", str, "a host function's name")
    for name, value in typed("symbols", dict, "a table of symbols").items():
        out.symbols[name] = _symbol(name, value, places.of(name, index))
    for item in typed("requires", list, "a list of clauses"):
        place = places.of(str(item), index)
        out.requires.append((_clause(text(item, "requires"), place), place))
    for name, value in typed("buffers", dict, "a table of buffers").items():
        out.buffers[name] = buffer(name, text(value, name), places.of(str(value), index))
    for name, value in typed("content", dict, "a table of contents").items():
        out.content[name] = content(name, text(value, name), places.of(str(value), index))
    for name, value in typed("scalars", dict, "a table of scalars").items():
        spoken = text(value, name, number=True)
        out.scalars[name] = None if spoken == "any" else _clause(spoken, places.of(name, index))
    for item in typed("no_alias", list, "a list of pairs"):
        place = places.of("no_alias", index)
        if not (isinstance(item, list) and len(item) == 2 and all(isinstance(i, str) for i in item)):
            raise ContractError("no_alias holds pairs of parameters", place, 'write no_alias = [["x", "y"]]')
        out.no_alias.append((item[0], item[1], place))
    if "launch" in table:
        launch, place = typed("launch", dict, "a table with grid and block"), places.of("launch", index)
        if not {"grid", "block"} <= set(launch) <= {"grid", "block", "shared_bytes", "cooperative"}:
            known = "launch needs grid and block, and may have shared_bytes and cooperative"
            raise ContractError(known, place, "add both")
        together = launch.get("cooperative", False)
        if not isinstance(together, bool):
            raise ContractError("cooperative is true or false", place, "write cooperative = true")
        out.launch = StatedLaunch(
            _three(launch["grid"], "grid", place),
            _three(launch["block"], "block", place),
            _clause(text(launch.get("shared_bytes", "0"), "shared_bytes", number=True), place),
            place,
            together,
        )
    if "reference" in table:
        out.reference = typed("reference", str, "a dotted name or an expression")
    return out


def _symbol(name: str, value: Any, span: Span) -> StatedSymbol:
    if not name.isidentifier():
        raise ContractError(f"symbol {name!r} is not an identifier", span, "use letters, digits and _")
    if isinstance(value, int) and not isinstance(value, bool):
        return StatedSymbol(name, value=value, low=1)
    if not isinstance(value, dict) or not set(value) <= {"kind", "low", "high", "value"}:
        raise ContractError(
            f"symbol {name}: use kind, low, high, value", span, "write n = { low = 1, value = 1024 }"
        )
    kind = value.get("kind", "dim")
    if kind not in ("dim", "scalar"):
        raise ContractError(f"symbol {name}: kind is dim or scalar", span, 'write kind = "dim"')
    for key in ("low", "high", "value"):
        if key in value and (not isinstance(value[key], int) or isinstance(value[key], bool)):
            raise ContractError(f"symbol {name}: {key} must be an integer", span, f"write {key} = 1")
    return StatedSymbol(
        name, kind, value.get("low", 1 if kind == "dim" else None), value.get("high"), value.get("value")
    )


# --- comments -------------------------------------------------------------------------------------------------------


def read_comments(texts: Iterable[SourceText], kernels: Sequence[str]) -> list[Stated]:
    """``//@`` lines above kernels."""
    out: list[Stated] = []
    for source in texts:
        if "//@" not in source.text:
            continue
        pending: list[tuple[str, Span]] = []
        rows = source.text.split("\n")
        for index, row in enumerate(rows):
            stripped = row.strip()
            if stripped.startswith("//@"):
                pending.append(
                    (
                        stripped.removeprefix("//@").strip(),
                        Span(source.path, source.line(index + 1), row.index("//@") + 1),
                    )
                )
            elif pending and "__global__" in row:
                head = "\n".join(rows[index : index + 12])
                names = _CALLABLE.findall(head[head.index("__global__") :])
                name = next((n for n in names if n not in _ATTRIBUTES), None)
                if name is not None and (not kernels or name in kernels):
                    out.append(_comments(name, pending))
                    pending = []
        if pending:
            raise ContractError(
                "contract comments without a kernel after them",
                pending[0][1],
                "put them right above the __global__ function",
            )
    return out


def _comments(kernel: str, lines: list[tuple[str, Span]]) -> Stated:
    out = Stated(kernel, "comment", lines[0][1])
    for text, span in lines:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        match word:
            case "requires":
                out.requires.append((_clause(rest, span), span))
            case "buffer":
                name, colon, spec = rest.partition(":")
                if not colon:
                    raise ContractError("buffer needs 'NAME: in f32[n]'", span, "add the colon")
                out.buffers[name.strip()] = buffer(name.strip(), spec, span)
            case "content":
                name, sign, spec = rest.partition(" in ")
                if not sign:
                    raise ContractError(
                        "content needs 'NAME in LOW..HIGH'", span, "write e.g. content idx in 0..n-1"
                    )
                out.content[name.strip()] = content(name.strip(), spec, span)
            case "launch":
                out.launch = _launch_comment(rest, span)
            case "scalar":
                name, sign, spec = rest.partition("=")
                if not sign:
                    raise ContractError(
                        "scalar needs 'NAME = CLAUSE'", span, "write e.g. scalar n = i32(len)"
                    )
                out.scalars[name.strip()] = _clause(spec, span)
            case "alias":
                names = [n for n in re.split(r"[,\s]+", rest.removesuffix("disjoint").rstrip(": ")) if n]
                if not rest.endswith("disjoint") or len(names) != 2:
                    raise ContractError(
                        "alias needs 'A, B: disjoint'", span, "write e.g. alias x, y: disjoint"
                    )
                out.no_alias.append((names[0], names[1], span))
            case "symbol":
                name, _, spec = rest.partition("=")
                value = spec.strip()
                if value and not value.lstrip("-").isdigit():
                    raise ContractError("symbol needs 'NAME = INTEGER'", span, "write e.g. symbol n = 1024")
                out.symbols[name.strip()] = _symbol(name.strip(), int(value) if value else {}, span)
            case "instantiation":
                out.instantiation = tuple(_split(rest))
            case "reference":
                out.reference = rest
            case _:
                raise ContractError(
                    f"unknown contract comment {word!r}",
                    span,
                    "use requires, buffer, content, launch, scalar, symbol, alias, instantiation or reference",
                )
    return out


def _launch_comment(text: str, span: Span) -> StatedLaunch:
    found = re.fullmatch(
        r"grid\s*=\s*(?P<grid>\(.*?\)|[^\s(]+(?:\(.*?\))?)\s+block\s*=\s*(?P<block>\(.*?\)|\S+?)(?:\s+shared\s*=\s*(?P<shared>.+))?",
        text,
    )
    if found is None:
        raise ContractError(
            f"launch {text!r} is not 'grid=(…) block=(…) [shared=…]'",
            span,
            "write e.g. grid=(ceil_div(n, 256)) block=(256)",
        )
    return StatedLaunch(
        _three(_outer(found["grid"]), "grid", span),
        _three(_outer(found["block"]), "block", span),
        _clause(found["shared"] or "0", span),
        span,
    )


def _outer(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
