"""Whether a launch that really happened is one that a lifted contract allows. Record x contract -> Match.

*fits*: for some values of the symbols, those that the arguments have and any for the others, every text of the contract
has the recorded value, every ``requires`` holds, and nothing said of memory is false. *outside*: the launch lies outside
of the contract's domain (an empty tensor, the size cap, an assumption that does not hold), so the contract says nothing.
*silent*: the contract has gaps, so no verdict rests on it. *differs*: a claim is false.

Example: a recorded grid of 4 blocks against ``ceil_div(n, 256)`` with ``n`` = 1000 fits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from benchmarks.oracle.cases import Case, Tensor, symbol_value
from specs.clauses import ClauseError, ClauseUndefined, evaluate, names, parse
from specs.contract import Clause, Contract
from verifier.contracts.values import SIZES

Outcome = Literal["fits", "outside", "silent", "elsewhere", "differs"]
_ORDER: tuple[Outcome, ...] = ("fits", "outside", "silent", "differs", "elsewhere")
_TRIES = 20_000
_LIKELY = (2048, 1024, 1536, 512, 256, 128, 101376, 49152, *range(257), *range(258, 2049, 2))
"""Sizes of devices, block sizes, small numbers."""


@dataclass(frozen=True, slots=True)
class Match:
    """``elsewhere``: a contract of another launch, instantiation or path."""

    outcome: Outcome
    why: str = ""
    contract: int = -1


@lru_cache(maxsize=8192)
def _names(text: str) -> frozenset[str]:
    return frozenset(names(text))


def expanded(record: dict[str, Any]) -> dict[str, Any]:
    """With the fields of accessors as arguments of their own: ``x.data``, ``x.size0``, ``x.stride0``."""
    for name, argument in list(record["args"].items()):
        for kind in ("size", "stride"):
            for index, value in enumerate(argument.get(f"{kind}s", ())):
                record["args"][f"{name}.{kind}{index}"] = {"kind": "int", "value": value}
                record["args"][f"{name}.data"] = argument
    return record


def judge(record: Mapping[str, Any], contracts: tuple[Contract, ...], case: Case) -> Match:
    """The best that any contract has to say of the launch."""
    best = Match("differs", "no contract is for this launch")
    for number, contract in enumerate(contracts):
        found = compare(record, contract, case)
        if found.outcome != "elsewhere" and (
            best.contract < 0 or _ORDER.index(found.outcome) < _ORDER.index(best.outcome)
        ):
            best = Match(found.outcome, found.why, number)
            if best.outcome == "fits":
                break
        elif found.outcome == "elsewhere" and found.why and best.contract < 0:
            best = Match("differs", f"no contract is for this path ({found.why})")
    return best


def compare(record: Mapping[str, Any], contract: Contract, case: Case) -> Match:
    launch = contract.launch
    if (record["kernel"], record["line"]) != (launch.kernel, launch.span.line):
        return Match("elsewhere")
    if not _same_instantiation(record["targs"], contract.instantiation):
        return Match("elsewhere", f"instantiation {record['targs']} is not {list(contract.instantiation)}")
    known: dict[str, int] = {}
    open_: list[str] = []
    for symbol in contract.symbols:
        value = symbol_value(symbol, case)
        if value is None:
            return Match("elsewhere", f"there is no {symbol.meaning}")
        if isinstance(value, int):
            known[symbol.name] = value
        else:
            open_.append(symbol.name)
    outside = next(_assumption_fails(contract, record, case), "")
    for symbol in contract.symbols:
        value = known.get(symbol.name, symbol.low or 0)
        if (symbol.low is not None and value < symbol.low) or (
            symbol.high is not None and value > symbol.high
        ):
            outside = outside or f"{symbol.name} = {value}"
    for clause in contract.requires:
        if _names(clause.text) <= known.keys() and not _true(clause.text, known):
            if clause.note != "size cap":
                return Match("elsewhere", f"{clause.text} does not hold")
            outside = outside or clause.text
    if contract.gaps:
        return Match("silent", contract.gaps[0])
    if outside:
        return Match("outside", outside)
    wrong = next(_false_of_memory(contract, record), "")
    if wrong:
        return Match("differs", wrong)
    return _solve(contract, record, known, open_, case)


def _same_instantiation(recorded: list[str], lifted: tuple[str, ...]) -> bool:
    def plain(text: str) -> str:
        text = re.sub(r"\s+|[uUlL]+$", "", text)
        text = {"true": "1", "false": "0"}.get(text, text)
        text = re.sub(r"^\((?:[\w:]+)\)(?=-?\d)", "", text)
        return {"unsignedlong": "size_t"}.get(text, text)

    return all(r in ("?", t) or plain(r) == plain(t) for r, t in zip(recorded, lifted, strict=False)) and len(
        recorded
    ) >= len(lifted)


def _true(text: str, values: Mapping[str, int]) -> bool:
    try:
        return bool(evaluate(text, values))
    except (ClauseUndefined, ClauseError):
        return False


# --- what is said of memory ------------------------------------------------------------------------------------------


def _assumption_fails(contract: Contract, record: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Assumptions that do not hold of the arguments: the contract says so aloud, and means nothing then."""
    storages = {b.param: b.storage for b in contract.buffers}
    for clause in contract.assumptions:
        found = re.fullmatch(r"(\w+)\(([\w.]+)(?:, (\w+))?\)", clause.text)
        if found is None:
            continue
        what, param, more = found.groups()
        argument = record["args"].get(param, {})
        owner = record["memories"].get(argument.get("memory"))
        tensor = case.values[owner] if owner is not None else case.value(storages.get(param, ""))
        if not isinstance(tensor, Tensor):
            continue
        contiguous = tensor.numel == 0 or all(
            size == 1 or stride == want for size, stride, want in _layout(tensor)
        )
        false = {
            "contiguous": not contiguous or argument.get("contiguous") is False,
            "strides": any(stride != want for _, stride, want in _layout(tensor)),
            "dtype": tensor.dtype != more,
            "same_device": tensor.cpu,
            "nonempty": tensor.numel == 0,
        }
        if false.get(what, False):
            yield clause.text


def _layout(tensor: Tensor) -> Iterator[tuple[int, int, int]]:
    step = 1
    for size, stride in zip(reversed(tensor.sizes), reversed(tensor.strides), strict=True):
        yield size, stride, step
        step *= size


def _false_of_memory(contract: Contract, record: Mapping[str, Any]) -> Iterator[str]:
    args = record["args"]
    owners: dict[str, list[Any]] = {}
    for buffer in contract.buffers:
        argument = args.get(buffer.param)
        if argument is None:
            yield f"{buffer.param} is no parameter"
            continue
        if argument["kind"] != "pointer" or argument.get("memory") is None:
            continue
        if buffer.storage:
            owners.setdefault(buffer.storage, []).append(argument)
        if buffer.fresh and not argument["fresh"]:
            yield f"{buffer.param} is not fresh"
        if buffer.fresh:
            twins = [
                n for n, a in args.items() if a.get("memory") == argument["memory"] and a is not argument
            ]
            if twins and all((contract.buffer(t) or buffer).storage != buffer.storage for t in twins):
                yield f"{buffer.param} is fresh, but {twins[0]} is in the same memory"
        if buffer.align and argument["address"] % buffer.align:
            yield f"{buffer.param} is not aligned to {buffer.align}"
        if buffer.initialized and not (argument["initialised"] or argument["written"]):
            yield f"{buffer.param} is not initialised"
        if buffer.content == ("0", "0") and buffer.content_origin == "enforced" and not argument["zero"]:
            yield f"{buffer.param} is not all zero"
    for storage, items in owners.items():
        if len({(a["memory"], a["offset"]) for a in items}) > 1:
            yield f"{storage} is not one memory"
    for clause in contract.no_alias:
        yield from _overlap(clause, args)


def _overlap(clause: Clause, args: Mapping[str, Any]) -> Iterator[str]:
    found = re.fullmatch(r"disjoint\(([\w.]+), ([\w.]+)\)", clause.text)
    if found and all(args.get(n, {}).get("memory") is not None for n in found.groups()):
        if args[found[1]]["memory"] == args[found[2]]["memory"]:
            yield f"{clause.text} is false"


# --- texts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Claim:
    """``text`` must be one of ``allowed`` (low, high), both inclusive."""

    what: str
    text: str
    low: int
    high: int


def _claims(contract: Contract, record: Mapping[str, Any]) -> Iterator[_Claim]:
    launch = contract.launch
    for what, texts in (("grid", launch.grid), ("block", launch.block)):
        for axis, text, value in zip("xyz", texts, record[what], strict=True):
            yield _Claim(f"{what}.{axis}", text, value, value)
    yield _Claim("shared", launch.shared_bytes, record["shared"], record["shared"])
    for scalar in contract.scalars:
        argument = record["args"].get(scalar.param)
        if argument is not None and scalar.value is not None and argument["kind"] == "int":
            yield _Claim(scalar.param, scalar.value, argument["value"], argument["value"])
    for buffer in contract.buffers:
        argument = record["args"].get(buffer.param)
        if argument is None or argument["kind"] != "pointer":
            continue
        size = SIZES[buffer.dtype]
        if argument.get("memory") is None:
            if argument["address"] == 0:
                yield _Claim(f"extent of the null pointer {buffer.param}", buffer.extent, 0, 0)
            continue
        most = (argument["bytes"] - argument["offset"]) // size
        least = min(most, argument["extent"] // size) if argument["extent"] >= 0 else 0
        yield _Claim(f"extent of {buffer.param}", buffer.extent, least, most)


def _solve(
    contract: Contract, record: Mapping[str, Any], known: dict[str, int], open_: list[str], case: Case
) -> Match:
    """Values for the symbols of which the arguments say nothing, by search among the numbers that were seen."""
    claims = list(_claims(contract, record))
    for scalar in contract.scalars:
        argument = record["args"].get(scalar.param)
        if scalar.real is not None and argument is not None and argument["kind"] == "float":
            if argument["value"] is None or abs(argument["value"] - scalar.real) > 1e-5 * max(
                1, abs(scalar.real)
            ):
                return Match("differs", f"{scalar.param} is {argument['value']}, not {scalar.real}")
    clauses = [_Claim(c.note, c.text, 1, 1) for c in contract.requires]
    todo = [*claims, *clauses]
    wrong = _first_wrong(todo, known)
    if wrong is not None:
        return Match("outside" if wrong.what == "size cap" else "differs", _told(wrong, known))
    numbers = {0, 1, *known.values()}
    for claim in claims:
        numbers |= {claim.low, claim.high}
    numbers |= {a // b for a in numbers for b in numbers if b > 1 and a % b == 0}
    symbols = {s.name: s for s in contract.symbols}
    budget = [_TRIES]
    deepest: list[tuple[_Claim, dict[str, int]]] = []

    def search(values: dict[str, int], rest: list[str]) -> bool:
        if not rest:
            return True
        name = min(
            rest,
            key=lambda n: min(
                (len(_names(c.text) - values.keys()) for c in todo if n in _names(c.text)), default=9
            ),
        )
        symbol = symbols[name]
        low = symbol.low if symbol.low is not None else -(1 << 63)
        high = symbol.high if symbol.high is not None else 1 << 63
        mine = [c for c in todo if name in _names(c.text)]
        forced = _defined(mine, name, values)
        for value in forced or dict.fromkeys([*sorted(numbers), *_LIKELY]):
            if not low <= value <= high:
                continue
            budget[0] -= 1
            if budget[0] < 0:
                return False
            trial = {**values, name: value}
            bad = _first_wrong(mine, trial)
            if bad is None:
                if search(trial, [n for n in rest if n != name]):
                    return True
            else:
                deepest[:] = [(bad, trial)]
        return False

    if search(known, open_):
        return Match("fits")
    told, budget[0] = _told(*deepest[0]) if deepest else "nothing can be tried", _TRIES
    todo = [c for c in todo if c.what != "size cap"]
    symbols = {n: replace(s, low=0) if s.kind == "dim" else s for n, s in symbols.items()}
    if search(known, open_):
        return Match("outside", "size cap, or an empty tensor that the launcher makes")
    if any(isinstance(v, Tensor) and v.numel == 0 for v in case.values):
        return Match("outside", "an empty tensor")  # what is computed from it has sizes of 0
    return Match("differs", f"no values of {', '.join(open_)} explain it: {told}")


def _defined(claims: list[_Claim], name: str, values: Mapping[str, int]) -> list[int]:
    """The value that an equation of known terms gives the symbol."""
    for claim in claims:
        node = parse(claim.text)
        sides = (node.left, *node.comparators) if isinstance(node, ast.Compare) else (node,)
        alone = [isinstance(s, ast.Name) and s.id == name for s in sides]
        if not any(alone):
            continue
        if len(sides) == 1 and claim.low == claim.high:
            return [claim.low]
        if (
            len(sides) == 2
            and isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.Eq)
            and claim.low == 1
        ):
            other = ast.unparse(sides[alone.index(False)]) if False in alone else name
            if _names(other) <= values.keys():
                try:
                    return [evaluate(other, values)]
                except ClauseUndefined:
                    return []
    return []


def _first_wrong(claims: list[_Claim], values: Mapping[str, int]) -> _Claim | None:
    for claim in claims:
        if _names(claim.text) <= values.keys():
            try:
                if not claim.low <= evaluate(claim.text, values) <= claim.high:
                    return claim
            except (ClauseUndefined, ClauseError):
                return claim
    return None


def _told(claim: _Claim, values: Mapping[str, int]) -> str:
    used = {n: values[n] for n in sorted(_names(claim.text)) if n in values}
    try:
        value = str(evaluate(claim.text, values))
    except (ClauseUndefined, ClauseError):
        value = "not defined"
    seen = f"{claim.low}" if claim.low == claim.high else f"{claim.low}..{claim.high}"
    return f"{claim.what} is {seen}, the contract says {claim.text} = {value} for {used}"
