"""What a kernel may assume of its launch: the contract.

A contract belongs to one launch of one kernel instantiation. All quantities are text in the *clause language*
(see :mod:`specs.clauses`): Python expression syntax over mathematical integers and the contract's symbols, e.g.
``ceil_div(n, 256)``, ``x.0 * x.1`` is not allowed (symbols are identifiers), ``i32(n) + 255``. Every conversion of
the host code is written out (``i32(...)``), so that a narrowing on the host is an obligation like one on the device.

Invariant: data only, JSON-able, no behaviour that decides anything. ``to_json`` / ``from_json`` round-trip.

Example::

    n = Symbol("n", "dim", meaning="x.numel()", low=1)
    launch = Launch("saxpy", (), ("ceil_div(n, 256)", "1", "1"), ("256", "1", "1"), "0", span)
    Contract("saxpy", (), launch, (n,), (Buffer("x", "f32", "n"), ...), (Scalar("n", "i32(n)"),), (), "lifted")
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from specs.location import NOWHERE, Span

Origin = Literal["stated", "enforced", "derived", "assumed", "drafted"]
"""Who vouches for a clause: a person (stated), the host code's own check (enforced), the caller or the problem file
(derived), nobody (assumed; printed), the tool's own guess for an unknown launch (drafted; never counts)."""


NULL_STORAGE = "(null)"
"""The storage of a null pointer; no name of a buffer."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A boolean clause over the symbols, e.g. ``n == m`` from ``TORCH_CHECK(a.numel() == b.numel())``.

    ``accepted`` is False for a clause that came with the submission and that nobody accepted yet.
    ``fix`` is the missing host check as a ready line, for an assumed clause.
    """

    text: str
    origin: Origin
    span: Span = NOWHERE
    note: str = ""
    accepted: bool = True
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An integer unknown of the contract.

    ``kind`` is ``dim`` (an extent of a tensor or allocation) or ``scalar`` (an integer argument of the launcher).
    ``value`` is the problem file's value, if there is one. ``low``/``high`` are inclusive bounds known of the general
    domain (a dim has low=1: the empty tensor belongs to the edge domain); None means the C type's limits.
    A scalar with a value is fixed at it in every domain (derived from the problem).
    """

    name: str
    kind: Literal["dim", "scalar"]
    meaning: str = ""
    low: int | None = None
    high: int | None = None
    value: int | None = None
    origin: Origin = "derived"


@dataclass(frozen=True, slots=True)
class Buffer:
    """What a pointer parameter points to.

    ``extent``: number of elements, clause text. ``dtype``: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool.
    ``shape``: the dims as clause texts, outermost first, when known (extent is their product).
    ``fresh``: allocated by the launcher for this call, so it overlaps no other buffer.
    ``storage``: buffers of one non-empty storage id are the same memory at the same start (``kernel(x, x)``); two
    buffers of different storage may overlap unless one is fresh or a clause of ``Contract.no_alias`` separates them.
    ``align``: known alignment in bytes of the base address; 0 means the element's own size.
    ``initialized``: contents are defined at launch (inputs, zeros); False for torch::empty / cudaMalloc.
    ``content``: inclusive bounds (low, high) as clause texts on every integer element at launch, with origin.
    """

    param: str
    dtype: str
    extent: str
    shape: tuple[str, ...] = ()
    fresh: bool = False
    storage: str = ""
    align: int = 0
    initialized: bool = True
    content: tuple[str, str] | None = None
    content_origin: Origin = "assumed"
    origin: Origin = "derived"
    source: str = ""
    """What the caller passed, as it is or viewed: ``argument 0`` of forward, ``parameter weight`` of the model; else empty."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value of a scalar parameter as clause text; None when it is not known (then it is any value of its type)."""

    param: str
    value: str | None
    origin: Origin = "derived"
    real: float | None = None
    """The value of a float parameter, where the host code, the caller or the problem fixes it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One ``<<<grid, block, shared>>>`` of the host code. ``order`` is its place among the launches of its launcher."""

    kernel: str
    instantiation: tuple[str, ...]
    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared_bytes: str = "0"
    span: Span = NOWHERE
    order: int = 0
    stream: str = ""
    launcher: str = ""
    cooperative: bool = False
    """Launched so that all blocks are on the device together, which ``grid.sync()`` needs."""


@dataclass(frozen=True, slots=True)
class Contract:
    """Everything that a proof, a simulator run and a fuzz run may assume of one launch."""

    kernel: str
    instantiation: tuple[str, ...]
    launch: Launch
    symbols: tuple[Symbol, ...]
    buffers: tuple[Buffer, ...]
    scalars: tuple[Scalar, ...]
    requires: tuple[Clause, ...]
    origin: Literal["stated", "lifted", "drafted"]
    no_alias: tuple[Clause, ...] = ()
    """Clauses ``disjoint(a, b)`` that a host check, the caller or a person vouches for."""
    assumptions: tuple[Clause, ...] = ()
    """What nobody checks and PASS may rest on: contiguous(x), dtype(x, f32), device(x), nonempty(x)."""
    gaps: tuple[str, ...] = ()
    """What could not be lifted, one line each; any gap makes the verdicts that need it UNKNOWN(missing contract)."""
    reference: str | None = None
    """The dotted name or expression of the reference op, only if a person stated it."""
    result: str = ""
    """The parameter whose buffer the launcher or the model's forward returns, as it is or viewed; empty if not known."""
    result_shape: tuple[str, ...] | None = None
    """The dims of what is returned, as clause texts; None if not known."""

    def buffer(self, param: str) -> Buffer | None:
        return next((b for b in self.buffers if b.param == param), None)

    def scalar(self, param: str) -> Scalar | None:
        return next((s for s in self.scalars if s.param == param), None)


def to_json(contract: Contract) -> dict[str, Any]:
    """A JSON-able dict; inverse of :func:`from_json`."""
    return asdict(contract)


def _span(data: dict[str, Any]) -> Span:
    return Span(data["path"], data["line"], data["column"])


def _clauses(items: list[dict[str, Any]]) -> tuple[Clause, ...]:
    return tuple(Clause(**{**c, "span": _span(c["span"])}) for c in items)


def from_json(data: dict[str, Any]) -> Contract:
    """Inverse of :func:`to_json`. Raises KeyError or TypeError on a malformed dict."""
    launch = data["launch"]
    return Contract(
        kernel=data["kernel"],
        instantiation=tuple(data["instantiation"]),
        launch=Launch(
            **{
                **launch,
                "instantiation": tuple(launch["instantiation"]),
                "grid": tuple(launch["grid"]),
                "block": tuple(launch["block"]),
                "span": _span(launch["span"]),
            }
        ),
        symbols=tuple(Symbol(**s) for s in data["symbols"]),
        buffers=tuple(
            Buffer(
                **{**b, "shape": tuple(b["shape"]), "content": tuple(b["content"]) if b["content"] else None}
            )
            for b in data["buffers"]
        ),
        scalars=tuple(Scalar(**s) for s in data["scalars"]),
        requires=_clauses(data["requires"]),
        origin=data["origin"],
        no_alias=_clauses(data["no_alias"]),
        assumptions=_clauses(data["assumptions"]),
        gaps=tuple(data["gaps"]),
        reference=data["reference"],
        result=data.get("result", ""),
        result_shape=None if data.get("result_shape") is None else tuple(data["result_shape"]),
    )


@dataclass(frozen=True, slots=True)
class ConcreteBuffer:
    """A buffer with numbers: ``numel`` elements; ``data`` overrides chosen elements (index -> value) in a witness."""

    param: str
    dtype: str
    numel: int
    shape: tuple[int, ...] = ()
    initialized: bool = True
    storage: str = ""
    data: dict[int, int] = field(default_factory=dict)
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class ConcreteLaunch:
    """A launch with numbers, made by :func:`specs.clauses.instantiate` or from a witness."""

    kernel: str
    instantiation: tuple[str, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    buffers: tuple[ConcreteBuffer, ...]
    scalars: dict[str, int | float | None]
    """Parameter -> value; None means any value of its type (the runner picks)."""
    symbols: dict[str, int] = field(default_factory=dict)
