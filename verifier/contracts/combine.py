"""Stated contracts joined with lifted ones: what a person wrote fills what the host code does not say.

The host code wins where both speak of one thing: a stated size of a buffer that the launcher allocates is ignored and
reported. Names in stated clauses are kernel parameters first, then symbols of the lifted contract, then new symbols.

Acceptance: everything stated in the submission itself is ``accepted=False`` until the lock file holds its digest; for
what has no flag of its own (a buffer, a launch) the contract gets a clause ``True`` that is not accepted.

Example: a launcher with a raw pointer plus ``//@ buffer x: in f32[n]`` gives a contract without a gap.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specs.clauses import INT_TYPES, int_range, names
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import Span
from verifier.contracts.clause_text import Substitute, without_duplicates
from verifier.contracts.errors import ContractError
from verifier.contracts.stated import Stated, StatedBuffer, StatedSymbol, read_comments, read_toml
from verifier.contracts.values import dtype_of, element_of
from verifier.frontend.host import Node
from verifier.source.device_text import SourceText, Submission


def submitted(submission: Submission) -> list[Stated]:
    """What the submission says of itself: comments, and the file beside it."""
    kernels = [name for name, _ in submission.device.kernels]
    texts: Sequence[SourceText] = submission.texts or [SourceText(submission.path, submission.raw)]
    out = read_comments(texts, kernels)
    beside = sidecar(submission)
    if beside is not None:
        out += read_toml(beside, "sidecar")
    return out


def sidecar(submission: Submission) -> Path | None:
    path = Path(submission.path).with_suffix(".contract.toml")
    return path if path.is_file() and not path.is_symlink() else None


def check_names(stated: Iterable[Stated], submission: Submission) -> None:
    """A contract for a kernel that is not there is a mistake somebody wants to hear of."""
    kernels = [name for name, _ in submission.device.kernels]
    for item in stated:
        if item.kernel not in kernels:
            known = ", ".join(kernels) or "none"
            raise ContractError(
                f"no kernel {item.kernel!r} in {submission.path}", item.span, f"kernels there: {known}"
            )


@dataclass(slots=True)
class _Joint:
    """A contract in the making."""

    stated: Stated
    accepted: bool
    params: dict[str, str]
    contract: Contract
    cap: int
    symbols: dict[str, Symbol] = field(default_factory=dict)
    requires: list[Clause] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def join(
    stated: Stated, lifted: Sequence[Contract], kernel: Node | None, *, accepted: bool, cap: int
) -> tuple[list[Contract], list[str]]:
    """The stated contract applied to each lifted one of its kernel; on its own where there is none."""
    params = {p["name"]: p["type"] for p in kernel["params"]} if kernel is not None else {}
    for param in (*stated.buffers, *stated.content):
        if (
            kernel is not None and param.partition(".")[0] not in params
        ):  # ``p.data``: a pointer in a class passed by value
            raise ContractError(
                f"{stated.kernel} has no parameter {param!r}",
                stated.span,
                f"its parameters: {', '.join(params) or 'none'}",
            )
    mine = [c for c in lifted if applies(stated, c)]
    if not mine:
        contract, notes = _alone(stated, params, accepted, cap)
        if kernel is None:
            gap = f"the parameters of {stated.kernel} could not be read"
            contract = replace(contract, gaps=(*contract.gaps, gap))
        return [contract], notes
    out, all_notes = [], []
    for contract in mine:
        joined, notes = _fill(stated, contract, params, accepted, cap)
        out.append(joined)
        all_notes += notes
    return out, all_notes


def applies(stated: Stated, contract: Contract) -> bool:
    return (
        contract.kernel == stated.kernel
        and (stated.instantiation is None or stated.instantiation == contract.instantiation)
        and (not stated.launcher or stated.launcher == contract.launch.launcher)
    )


def _fill(
    stated: Stated, contract: Contract, params: dict[str, str], accepted: bool, cap: int
) -> tuple[Contract, list[str]]:
    joint = _Joint(stated, accepted, params, contract, cap, {s.name: s for s in contract.symbols})
    scalars = {s.param: s for s in contract.scalars}
    values: dict[str, str] = {}
    for name, scalar in scalars.items():
        if scalar.value is not None:
            values[name] = f"({scalar.value})"
        elif name in _used(stated) and dtype_of(params.get(name, "")) in INT_TYPES:
            symbol = _parameter_symbol(joint, name)
            values[name] = symbol
            scalars[name] = Scalar(name, symbol, "stated")
    gaps = list(contract.gaps)
    buffers = {b.param: b for b in contract.buffers}
    for name, item in stated.buffers.items():
        if name in buffers:
            joint.notes.append(f"{item.span}: the stated size of {name} is not used: the host code tells it")
            continue
        buffers[name] = _buffer(joint, item, values)
        gaps = [g for g in gaps if not g.startswith(f"parameter {name}:")]
        _mark(joint, f"buffer {name}", item.span)
    _common(joint, buffers, values)
    if stated.launch is not None:
        joint.notes.append(f"{stated.launch.span}: the stated launch is not used: the host code tells it")
    order = list(params)
    merged = replace(
        contract,
        symbols=tuple(joint.symbols.values()),
        buffers=tuple(
            sorted(buffers.values(), key=lambda b: order.index(b.param) if b.param in order else 99)
        ),
        scalars=tuple(scalars.values()),
        requires=tuple(without_duplicates([*contract.requires, *joint.requires])),
        no_alias=(*contract.no_alias, *_disjoint(joint)),
        gaps=tuple(gaps),
        reference=stated.reference or contract.reference,
    )
    return merged, joint.notes


def _alone(stated: Stated, params: dict[str, str], accepted: bool, cap: int) -> tuple[Contract, list[str]]:
    launch = stated.launch
    span = launch.span if launch is not None else stated.span
    empty = Contract(
        stated.kernel,
        stated.instantiation or (),
        Launch(
            stated.kernel,
            stated.instantiation or (),
            ("1", "1", "1"),
            ("1", "1", "1"),
            "0",
            span,
            launcher="",
        ),
        (),
        (),
        (),
        (),
        "stated",
    )
    joint = _Joint(stated, accepted, params, empty, cap)
    values: dict[str, str] = {}
    scalars: list[Scalar] = []
    gaps: list[str] = []
    used = _used(stated)
    for name, type_ in params.items():
        dtype = dtype_of(type_)
        if name in stated.scalars:
            text = stated.scalars[name]
            scalars.append(Scalar(name, text, "stated"))
            if text is not None:
                values[name] = f"({text})"
        elif dtype in INT_TYPES:
            if name in used:
                values[name] = _parameter_symbol(joint, name)
                scalars.append(Scalar(name, values[name], "stated"))
            else:
                scalars.append(Scalar(name, None, "stated"))
        elif dtype is not None:
            scalars.append(Scalar(name, None, "stated"))
        elif name not in stated.buffers and type_.endswith(("*", "&")):
            gaps.append(f"parameter {name}: no buffer is stated for it ({stated.span})")
    buffers = {name: _buffer(joint, item, values) for name, item in stated.buffers.items()}
    for name, item in stated.buffers.items():
        _mark(joint, f"buffer {name}", item.span)
    _common(joint, buffers, values)
    if launch is None:
        gaps.append(
            f"the launch of {stated.kernel} is not stated and no host code launches it ({stated.span})"
        )
        lifted = empty.launch
    else:
        _mark(joint, "launch", launch.span)
        for text in (*launch.grid, *launch.block, launch.shared_bytes):
            _declare(joint, text, values)
        grid, block = (tuple(_text(t, values) for t in part) for part in (launch.grid, launch.block))
        lifted = replace(
            empty.launch,
            grid=(grid[0], grid[1], grid[2]),
            block=(block[0], block[1], block[2]),
            shared_bytes=_text(launch.shared_bytes, values),
            cooperative=launch.cooperative,
        )
    contract = replace(
        empty,
        launch=lifted,
        symbols=tuple(joint.symbols.values()),
        buffers=tuple(buffers.values()),
        scalars=tuple(scalars),
        requires=tuple(without_duplicates(joint.requires)),
        no_alias=tuple(_disjoint(joint)),
        gaps=tuple(gaps),
        reference=stated.reference,
    )
    return contract, joint.notes


def _used(stated: Stated) -> set[str]:
    texts = [t for t, _ in stated.requires]
    texts += [d for b in stated.buffers.values() for d in b.dims]
    texts += [t for low, high, _ in stated.content.values() for t in (low, high)]
    texts += [t for t in stated.scalars.values() if t is not None]
    if stated.launch is not None:
        texts += [*stated.launch.grid, *stated.launch.block, stated.launch.shared_bytes]
    return {n for t in texts for n in names(t)}


def _text(text: str, values: dict[str, str]) -> str:
    """A stated clause with kernel parameters replaced by what they are in this contract."""
    return ast.unparse(Substitute(values).visit(ast.parse(text.strip(), mode="eval").body))


def _parameter_symbol(joint: _Joint, name: str) -> str:
    """A symbol for an int parameter: any value of its type that the clauses allow."""
    type_ = dtype_of(joint.params[name]) or "i64"
    low, high = int_range(*INT_TYPES[type_])
    known = joint.stated.symbols.get(name)
    symbol = name
    while symbol in joint.symbols:
        symbol += "_"
    kind = known.kind if known is not None else "scalar"
    low = max(low, known.low) if known is not None and known.low is not None else low
    high = min(high, known.high) if known is not None and known.high is not None else high
    joint.symbols[symbol] = Symbol(
        symbol,
        "dim" if kind == "dim" else "scalar",
        f"parameter {name}",
        low,
        high,
        known.value if known else None,
        "stated",
    )
    if known is not None and (known.low is not None or known.high is not None) and kind == "scalar":
        _mark(joint, f"symbol {name}", joint.stated.span)
    return symbol


def _declare(joint: _Joint, text: str, values: dict[str, str]) -> None:
    """Names that are neither parameters nor known become symbols: sizes of at least 1 unless declared otherwise."""
    for name in sorted(names(text)):
        if name in values or name in joint.symbols:
            continue
        known = joint.stated.symbols.get(name, StatedSymbol(name, "dim", 1))
        joint.symbols[name] = Symbol(
            name,
            "dim" if known.kind == "dim" else "scalar",
            "stated",
            known.low,
            known.high,
            known.value,
            "stated",
        )


def _buffer(joint: _Joint, item: StatedBuffer, values: dict[str, str]) -> Buffer:
    type_ = joint.params.get(item.param)
    if type_ is not None:
        found = element_of(type_)
        if found is None and "*" not in type_:
            raise ContractError(
                f"{item.param} is a {type_}, not a pointer", item.span, "state it as scalar instead"
            )
        if found is not None and found[0] != item.dtype and "type-parameter" not in type_:
            raise ContractError(
                f"{item.param} points to {found[0]}, not {item.dtype}", item.span, f"write {found[0]}[…]"
            )
    for dim in item.dims:
        _declare(joint, dim, values)
    dims = tuple(_text(d, values) for d in item.dims)
    extent = " * ".join(f"({d})" for d in dims)
    joint.requires.append(Clause(_text(f"{extent} <= {joint.cap}", {}), "derived", item.span, "size cap"))
    return Buffer(
        item.param,
        item.dtype,
        ast.unparse(ast.parse(extent, mode="eval").body),
        dims,
        fresh=item.fresh,
        storage=item.param,
        align=item.align,
        initialized=item.mode != "out",
        origin="stated",
    )


def _common(joint: _Joint, buffers: dict[str, Buffer], values: dict[str, str]) -> None:
    """Preconditions and contents, which both kinds of contract take."""
    for text, span in joint.stated.requires:
        _declare(joint, text, values)
        joint.requires.append(Clause(_text(text, values), "stated", span, accepted=joint.accepted))
    for name, (low, high, span) in joint.stated.content.items():
        if name not in buffers:
            raise ContractError(f"content of {name}, which is no buffer", span, "state the buffer first")
        if buffers[name].content is not None:
            joint.notes.append(f"{span}: the stated content of {name} is not used: the caller tells it")
            continue
        for text in (low, high):
            _declare(joint, text, values)
        buffers[name] = replace(
            buffers[name], content=(_text(low, values), _text(high, values)), content_origin="stated"
        )
        _mark(joint, f"content of {name}", span)


def _mark(joint: _Joint, what: str, span: Span) -> None:
    """What has no flag of its own waits for acceptance through a clause that says nothing."""
    if not joint.accepted:
        joint.requires.append(
            Clause("True", "stated", span, note=f"{what} is stated in the submission", accepted=False)
        )


def _disjoint(joint: _Joint) -> list[Clause]:
    return [
        Clause(f"disjoint({a}, {b})", "stated", span, accepted=joint.accepted)
        for a, b, span in joint.stated.no_alias
    ]
