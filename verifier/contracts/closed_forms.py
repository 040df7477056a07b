"""Loops of host code whose outcome can be written down without running them.

The product of a tensor's dims, a comparison of two tensors' dims, and a value that is doubled or halved until it fits.

Example: ``int b = 32; while (b < n && b < 1024) b *= 2;`` leaves a power of two between 32 and 1024 that the loop stops at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.contracts import tensors
from verifier.contracts.inert import dies
from verifier.contracts.lvalues import plain, pure
from verifier.contracts.objects import Shape, Tensor
from verifier.contracts.run import Fact, NotSimple
from verifier.contracts.values import (
    Bool,
    Int,
    arith,
    base_and_offset,
    compare,
    const,
    convert,
    limits,
    lnot,
    lor,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.lift import Host

_MOST = 64


def over_dims(host: Host, node: Node) -> bool:
    """Loops over the dims of a tensor whose rank is not known: the product of all, or a comparison with another's."""
    counter, step = counter_of(node) if node["k"] == "for" else (None, 0)
    first = host.cells.get(counter) if counter else None
    test, body = node["c"], node["body"]
    if counter is None or step != 1 or not isinstance(first, Int) or first.value != 0 or test is None:
        return False
    if (
        test["k"] != "bin"
        or test["op"] != "<"
        or plain(test["a"]).get("id") != counter
        or not pure(test["b"])
    ):
        return False
    while body["k"] == "block" and len(body["body"]) == 1:
        body = body["body"][0]
    rank = host.eval(test["b"])
    if not isinstance(rank, Int):
        return False
    text, offset = base_and_offset(rank.text)
    shape = tensors.rank_symbol(Int(text, rank.lo, rank.hi, rank.type), host.run)
    if shape is None or offset not in (0, -1):
        return False
    if offset == -1:
        return _product_of_outer_dims(host, body, counter, shape, first, rank)
    if not (_product_of_dims(host, body, counter, shape) or _same_dims(host, body, counter, shape)):
        return False
    host.cells[counter] = convert(rank, first.type)
    return True


def _dim_of(host: Host, node: Node, counter: str) -> Tensor | None:
    """The tensor of ``x.size(i)``."""
    node = plain(node)
    if node["k"] != "method" or node["name"] != "at::Tensor::size" or node["base"] is None:
        return None
    if plain(node["args"][0]).get("id") != counter or not pure(node["base"]):
        return None
    tensor = host.eval(node["base"])
    return tensor if isinstance(tensor, Tensor) else None


def _product_of_dims(host: Host, body: Node, counter: str, shape: str) -> bool:
    """``for (int i = 0; i < x.dim(); ++i) n *= x.size(i);`` is n times the numel.

    The product is converted to the type of n at each step, which gives what converting it once gives.
    """
    statement = body["a"] if body["k"] == "expr" else body
    if statement["k"] != "bin" or statement["op"] != "*=" or statement["a"]["k"] != "var":
        return False
    tensor, old = _dim_of(host, statement["b"], counter), host.eval(statement["a"])
    if tensor is None or not isinstance(tensor.dims, Shape) or not isinstance(old, Int):
        return False
    if tensor.dims.name != shape:
        return False
    product = arith("*", convert(old, "py"), convert(tensors.numel(host.run, tensor), "py"), "py")
    if product is None:
        return False
    host.assign(statement["a"], convert(product, old.type))
    return True


def _product_of_outer_dims(host: Host, body: Node, counter: str, shape: str, first: Int, rank: Int) -> bool:
    """``for (int i = 0; i < x.dim() - 1; ++i) n *= x.size(i);`` is n times the numel by the last dim (not 0)."""
    statement = body["a"] if body["k"] == "expr" else body
    if statement["k"] != "bin" or statement["op"] != "*=" or statement["a"]["k"] != "var":
        return False
    tensor, old = _dim_of(host, statement["b"], counter), host.eval(statement["a"])
    if tensor is None or not isinstance(tensor.dims, Shape) or not isinstance(old, Int):
        return False
    if tensor.dims.name != shape or host.run.speculative:
        return False
    last = host.run.dim(tensor.dims, -1)
    count = tensors.numel(host.run, tensor)
    outer = Int(f"({count.text} // {last.text})", 0, count.hi, "py", count.taint)
    product = arith("*", convert(old, "py"), outer, "py")
    if product is None:
        return False
    host.assign(statement["a"], convert(product, old.type))
    host.cells[counter] = convert(rank, first.type)
    return True


def _same_dims(host: Host, body: Node, counter: str, shape: str) -> bool:
    """``for (int i = 0; i < x.dim(); ++i) if (y.size(i) != x.size(i)) throw …;``: y begins with the dims of x."""
    if body["k"] == "if" and body["else"] is None and dies(body["then"]):
        test, sign = plain(body["c"]), "!="
    elif body["k"] == "expr" and body["a"]["k"] == "call" and body["a"]["name"] == "vk::check":
        test, sign = plain(body["a"]["args"][0]), "=="
    else:
        return False
    if test["k"] != "bin" or test["op"] != sign:
        return False
    both = [_dim_of(host, test[side], counter) for side in ("a", "b")]
    for one, other in (both, both[::-1]):
        if one is not None and other is not None and isinstance(one.dims, Shape) and one.dims.name == shape:
            host.run.path.append(Fact("", "enforced", host.span(body), prefix=(one.dims, other.dims)))
            return True
    return False


def doubling(host: Host, node: Node) -> bool:
    """``while (c) b *= 2;`` (or ``/= 2``, ``<<= 1``, ``>>= 1``) from a known b.

    The result is one of the values that b takes; the loop ends there, and did not end one step before, if there was one.
    """
    condition, changes = node.get("c"), [node.get("step"), node["body"]]
    while changes[1] is not None and changes[1]["k"] == "block" and len(changes[1]["body"]) <= 1:
        changes[1] = changes[1]["body"][0] if changes[1]["body"] else None
    statements = [n["a"] if n["k"] == "expr" else n for n in changes if n is not None]
    if condition is None or len(statements) != 1 or not pure(condition):
        return False
    cell, double = _scaled(statements[0])
    if cell is None or cell in host.references or cell in host.escaped:
        return False
    first = host.cells.get(cell)
    if not isinstance(first, Int) or first.value is None or first.value < 1 or first.type == "py":
        return False
    if host.run.speculative:
        raise NotSimple
    top = limits(first.type)[1]
    values, known = [first.value], True
    while len(values) < _MOST and values[-1] > 0:
        following = values[-1] * 2 if double else values[-1] // 2
        if top is not None and following > top:
            break
        host.cells[cell] = const(values[-1], first.type)
        goes = host.run.evaluate(host.condition(condition))
        known = known and goes is not None
        if goes is False:
            break
        values.append(following)
    host.cells[cell] = first
    if known or len(values) == 1:  # then the loop is run as it is
        return False
    name = cell.split("@")[0]
    low, high = min(values), max(values)
    found = host.run.fresh(
        name, "scalar", first.type, meaning=f"{host.span(node)}: {name} after the loop", lo=low, hi=high
    )
    info = host.run.symbols[found.text]
    info.low, info.high = low, high
    host.cells[cell] = found
    stops = lnot(host.condition(condition))
    step = arith("/" if double else "*", found, const(2, first.type), first.type)
    goes_on: Bool | None = None
    if step is not None:
        host.cells[cell] = step
        goes_on = host.condition(condition)
    host.cells[cell] = found
    one_of = Bool("(" + " or ".join(f"{found.text} == {v}" for v in values) + ")")
    host.run.path.append(Fact(one_of.text, "enforced", host.span(node), "values of a loop"))
    if stops.plain:
        host.run.assume(stops, host.span(node))
    if goes_on is not None and goes_on.plain and double:
        started = compare("==", found, const(first.value, first.type))
        host.run.assume(lor(started, goes_on), host.span(node))
    return True


def _scaled(statement: Node) -> tuple[str | None, bool]:
    """(cell, whether it is doubled) of ``b *= 2`` and the like."""
    if statement["k"] != "bin" or statement["a"]["k"] != "var":
        return None, False
    cell, op, by = statement["a"]["id"], statement["op"], plain(statement["b"])
    if op == "=" and by["k"] == "bin" and plain(by["a"]).get("id") == cell:
        op, by = f"{by['op']}=", plain(by["b"])
    amount = by.get("v") if by["k"] == "int" else None
    if (op, amount) in (("*=", 2), ("<<=", 1)):
        return cell, True
    if (op, amount) in (("/=", 2), (">>=", 1)):
        return cell, False
    return None, False


def counter_of(node: Node) -> tuple[str | None, int]:
    """(cell, step) of a ``for`` whose step adds a constant to one variable."""
    step = node["step"]
    if step is None:
        return None, 0
    if step["k"] == "un" and step["op"] in ("++", "--", "p++", "p--") and step["a"]["k"] == "var":
        return step["a"]["id"], 1 if "++" in step["op"] else -1
    if step["k"] == "bin" and step["op"] in ("+=", "-=") and step["a"]["k"] == "var":
        amount = _literal(step["b"])
        if amount:
            return step["a"]["id"], amount if step["op"] == "+=" else -amount
    return None, 0


def _literal(node: Node) -> int | None:
    while node["k"] == "cast":
        node = node["a"]
    value = node.get("v") if node["k"] in ("int", "var") else None
    return value if isinstance(value, int) and value > 0 else None
