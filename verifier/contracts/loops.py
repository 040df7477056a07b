"""Loops of host code: unrolled where the trip count is known, one representative iteration where it is not.

In the representative iteration the loop variable is a symbol with its range; every other variable that the loop assigns
is unknown. After the loop all of them are unknown, and checks made inside count only inside.

Example: ``for (int b = 0; b < batch; ++b) kernel<<<…>>>(x + b * n, …)`` records one launch with ``0 <= b < batch``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from verifier.contracts import closed_forms
from verifier.contracts.closed_forms import counter_of
from verifier.contracts.effects import assigned_variables
from verifier.contracts.inert import ways_out
from verifier.contracts.lvalues import plain, pure
from verifier.contracts.objects import Address, Float, Items, Unknown, Unlisted, Value
from verifier.contracts.paths import beside
from verifier.contracts.run import Dead, Fact, Forked, NotSimple, Refused
from verifier.contracts.values import TRUE, Bool, Int, compare, const, limits
from verifier.frontend.host import HostCode, Node

if TYPE_CHECKING:
    from verifier.contracts.lift import Host


class Break(Exception):
    pass


class Continue(Exception):
    pass


_UNROLL, _FORK_UNROLL, _LAUNCH_UNROLL = 64, 8, 8


def execute_loop(host: Host, node: Node) -> None:
    """for, while, do."""
    if node["k"] == "for" and node["init"] is not None:
        host.exec(node["init"])
    if node["k"] != "do" and (closed_forms.over_dims(host, node) or closed_forms.doubling(host, node)):
        return
    if host.run.skippable or host.run.speculative or not host.skips(node):
        _follow(host, node)
        return
    try:
        with host.skippable():
            _follow(host, node)
        return
    except Forked:
        pass
    _representative(host, node)


def _follow(host: Host, node: Node) -> None:
    try:
        if node["k"] == "do":
            _iteration(host, node)
        rounds = 0
        body = node["body"]
        launches = host.code.remember("launches", body, lambda: _contains(body, ("launch",)) or _calls(body))
        while True:
            condition = host.condition(node["c"]) if node.get("c") else TRUE
            known = host.run.evaluate(condition)
            if known is False:
                return
            most = _LAUNCH_UNROLL if launches else _UNROLL
            if (
                known is True
                and launches
                and rounds == 0
                and host.run.one_round
                and _one_round(host, node, most)
            ):
                return
            if known is True and rounds < most and not (rounds == 0 and _long(host, node, most)):
                _iteration(host, node)
                rounds += 1
                continue
            if known is None and rounds < _FORK_UNROLL and condition.plain and _sizes_loop(host.code, node):
                if not host.run.decide(condition, host.span(node)):
                    return
                _iteration(host, node)
                rounds += 1
                continue
            _representative(host, node)
            return
    except Break:
        return


def _long(host: Host, node: Node, most: int) -> bool:
    """Whether a counted loop certainly runs more often than it would be unrolled."""
    counter, step = counter_of(node) if node["k"] == "for" else (None, 0)
    first = host.cells.get(counter) if counter else None
    if counter is None or not isinstance(first, Int) or first.value is None:
        return False
    host.cells[counter] = const(first.value + step * most, first.type)
    try:
        return host.run.evaluate(host.condition(node["c"])) is True
    finally:
        host.cells[counter] = first


def _one_round(host: Host, node: Node, most: int) -> bool:
    """A counted loop of few rounds: each path follows one of them and ends there, the last goes on behind the loop.

    What earlier rounds may have changed is unknown in a round, so nothing is lost by leaving them out.
    """
    counter, step = counter_of(node) if node["k"] == "for" else (None, 0)
    first = host.cells.get(counter) if counter else None
    if counter is None or not isinstance(first, Int) or first.value is None or _long(host, node, most):
        return False
    leaves = host.code.remember("ways out", node["body"], lambda: ways_out(node["body"], True))
    if leaves or counter in assigned_variables(host, [node["body"]]):
        return False
    values: list[Int] = []
    while len(values) <= most:
        host.cells[counter] = const(first.value + step * len(values), first.type)
        if host.run.evaluate(host.condition(node["c"])) is not True:
            break
        values.append(const(first.value + step * len(values), first.type))
    host.cells[counter] = first
    if len(values) < 2:
        return False
    why = f"{host.span(node)}: a variable that a loop changes"
    assigned = assigned_variables(host, [node["body"], node["c"]], through={})

    def round_of(path: Host, value: Int, first: bool) -> None:
        if not first:
            havoc_cells(path, assigned, why)
        path.cells[counter] = value
        run = path.run
        run.loop_count += 1
        run.loops.append(run.loop_count)
        try:
            with _foreseen(path, node, {**assigned, counter: None}):
                _iteration(path, node)
        finally:
            run.loops.pop()

    for number, value in enumerate(values[:-1]):
        beside(host.run, lambda run, n=number, v=value: round_of(host.copied(run), v, n == 0))  # type: ignore[misc]
    round_of(host, values[-1], False)
    return True


def _iteration(host: Host, node: Node) -> None:
    host.run.step()
    with contextlib.suppress(Continue):
        host.exec(node["body"])
    if node["k"] == "for" and node["step"] is not None:
        host.whole(node["step"])


def _representative(host: Host, node: Node) -> None:
    run = host.run
    if run.speculative:
        raise NotSimple
    parts = [node["body"], node.get("step"), node.get("c")]
    why = f"{host.span(node)}: a variable that a loop changes"
    if host.skip([p for p in parts if p], why, loop=True):
        return
    assigned = assigned_variables(host, [p for p in parts if p], through={})
    counter, step = counter_of(node) if node["k"] == "for" else (None, 0)
    if counter is not None and counter in assigned_variables(host, [node["body"]]):
        counter = None
    before = run.learned()
    first = host.cells.get(counter) if counter else None
    ranged = counter is not None and isinstance(first, Int)
    havoc_cells(host, [c for c in assigned if not (ranged and c == counter)], why)
    if counter is not None and isinstance(first, Int):
        _range(host, node, counter, step, first)
    enter = True
    if host.code.remember("returns", node["body"], lambda: _contains(node["body"], ("return",))):
        enter = run.decide(run.unknown_condition(f"{host.span(node)}: the loop is entered"))
    if enter:
        if node.get("c"):
            condition = host.condition(node["c"])
            enter = run.evaluate(condition) is not False
            if run.evaluate(condition) is None:
                run.assume(condition, host.span(node))
    if enter:
        run.loop_count += 1
        run.loops.append(run.loop_count)
        try:
            with _foreseen(host, node, assigned):
                host.exec(node["body"])
        except (
            Continue,
            Break,
            Dead,
        ):  # an iteration that ends the program says nothing of those that do not
            pass
        finally:
            run.loops.pop()
    run.forget(before)
    havoc_cells(host, assigned, why)


@contextlib.contextmanager
def _foreseen(host: Host, node: Node, assigned: dict[str, None]) -> Iterator[None]:
    """A round, which may only change variables that were unknown at its beginning or are declared in it."""
    held, outside, host.declared = dict(host.cells), host.declared, set()
    unknown = {*assigned, *(host.named(cell).cell for cell in assigned)}
    unknown |= host.escaped
    taken_back = False
    try:
        yield
    except (Forked, NotSimple):
        taken_back = True
        raise
    finally:
        foreseen = unknown | host.declared
        host.declared |= outside
        for cell, old in held.items():
            new = host.cells.get(cell, old)
            lost = cell in host.escaped and not isinstance(old, Unknown)
            if cell not in foreseen and (lost or (new is not old and new != old)) and not taken_back:
                raise Refused(
                    f"{host.span(node)}: what the loop does to {cell.split('@')[0]} is not followed"
                )


def _range(host: Host, node: Node, counter: str, step: int, first: Int) -> None:
    """The loop variable as a symbol, with what its initial value and step say."""
    run, name = host.run, counter.split("@")[0]
    lo, hi = limits(first.type)
    value = run.fresh(
        name, "scalar", first.type, meaning=f"{host.span(node)}: loop variable {name}", lo=lo, hi=hi
    )
    info = run.symbols[value.text]
    info.low, info.high = lo, hi
    host.cells[counter] = value
    direction = "<=" if step > 0 else ">="
    run.assume(compare(direction, first, value), host.span(node))
    distance = value.text if first.value == 0 else f"({value.text} - {first.text})"
    if abs(step) != 1:
        run.path.append(
            Fact(
                f"({distance} % {abs(step)} == 0)",
                "enforced",
                host.span(node),
                "step of a loop variable",
            )
        )


def havoc_cells(host: Host, cells: Iterable[str], why: str) -> None:
    for cell in cells:
        place = host.named(cell)
        value = host.cells.get(place.cell)
        if value is None:
            continue
        host.lost(value)
        if place.cell not in host.escaped:
            host.cells[place.cell] = _havoced(host, value, why, cell.split("@")[0])


def _havoced(host: Host, value: Value, why: str, name: str) -> Value:
    match value:
        case Int(type=type_) if type_ != "py":
            return host.free_int(type_, why, name)
        case Float(type=type_):
            return Float(type=type_)
        case Bool():
            return host.run.unknown_condition(why)
        case Items(items=items):
            return Items(
                tuple(
                    _havoced(host, i, why, name) if isinstance(i, Int | Float) else Unknown(why)
                    for i in items
                )
            )
        case _:
            return Unknown(why)


def execute_range(host: Host, node: Node) -> None:
    """``for (auto v : items)``: over a known list by unrolling, else once with an unknown element."""
    value: Value = host.whole(node["a"]) if node.get("a") else Unknown("a range")
    if isinstance(value, Address):
        value = host.load(value)
    variable: dict[str, Any] | None = node.get("var")
    place = host.place(node["a"]) if node.get("a") and pure(node["a"]) else None
    changes = variable is not None and variable["ref"] and not variable["const_ref"]
    if variable is None:
        raise Refused(f"{host.span(node)}: a range loop is not followed")
    if isinstance(value, Items) and len(value.items) <= _LAUNCH_UNROLL:
        if place is None and plain(node["a"]).get("lvalue"):
            raise Refused(f"{host.span(node)}: a range that a call returns a reference to is not followed")
        for index, item in enumerate(value.items):
            if place is not None:
                now = host.load(place)
                if not isinstance(now, Items) or len(now.items) != len(value.items):
                    raise Refused(f"{host.span(node)}: a range that its loop changes is not followed")
                item = now.items[index]
            host.born(variable["id"])
            if isinstance(item, Items) and variable["type"].endswith("*"):  # a row of an array
                if place is None:
                    raise Refused(f"{host.span(node)}: a range of arrays is not followed")
                host.cells[variable["id"]] = Address(place.cell, (*place.path, index, 0))
            elif variable["ref"] and place is not None:
                host.references[variable["id"]] = Address(place.cell, (*place.path, index))
            else:
                host.cells[variable["id"]] = host.coerce(item, variable["type"])
            try:
                host.exec(node["body"])
            except Continue:
                continue
            except Break:
                break
        return
    if changes and not isinstance(value, Unlisted):
        host.overwrite_roots(node["a"])
    host.born(variable["id"])
    element: Value = Unknown(f"{host.span(node)}: an element of a range")
    if isinstance(value, Unlisted) and value.type == "at::Tensor" and not host.run.speculative:
        element = host.run.free_tensor(f"{value.name}_any")
    host.cells[variable["id"]] = element
    _representative(host, {"k": "while", "body": node["body"], "c": None, "s": node.get("s")})


# --- what a loop changes --------------------------------------------------------------------------------------------


def _contains(node: Any, kinds: tuple[str, ...]) -> bool:
    if isinstance(node, list):
        return any(_contains(n, kinds) for n in node)
    if isinstance(node, dict):
        return node.get("k") in kinds or any(_contains(v, kinds) for k, v in node.items() if k != "s")
    return False


def _calls(node: Any) -> bool:
    """Whether user functions are called (they may launch)."""
    if isinstance(node, list):
        return any(_calls(n) for n in node)
    if isinstance(node, dict):
        name = str(node.get("name"))
        if node.get("k") in ("call", "operator") and (
            "fn" in node or not name or name.endswith("operator()")
        ):
            return True
        return any(_calls(v) for k, v in node.items() if k != "s")
    return False


def _sizes_loop(code: HostCode, node: Node) -> bool:
    """Small loops over a tensor's dims, such as ``outer *= x.size(i)``."""
    return bool(code.remember("sizes", node, lambda: _sizes(node["body"])))


def _sizes(body: Node) -> bool:

    def walk(part: Any) -> bool:
        if isinstance(part, list):
            return any(walk(p) for p in part)
        if isinstance(part, dict):
            if part.get("k") == "method" and part["name"] in (
                "at::Tensor::size",
                "c10::ArrayRef::operator[]",
            ):
                return True
            return any(walk(v) for k, v in part.items() if k != "s")
        return False

    return walk(body) and not _contains(body, ("launch",))
