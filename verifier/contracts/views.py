"""Views of tensors: other dims over the same memory, and the operations that may return their argument.

Invariant: a view shares its storage (``Storage.from_view_of``); ``contiguous()`` and the like may or may not, and so are
never separate memory.

Example: ``view(run, x, "view", [const(-1)], span, "flat")`` has the dim ``numel(x)``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.location import NOWHERE, Span
from verifier.contracts.objects import Dtype, Items, Options, Shape, Sizes, Tensor, Unknown, Value
from verifier.contracts.run import Dead, Fact, FreeShape, NotSimple, Run, Storage
from verifier.contracts.tensors import (
    DTYPES,
    ELSEWHERE,
    ON_CPU,
    SLICE,
    dims_of,
    dtype_argument,
    dtype_value,
    elsewhere,
    int_list,
    is_contiguous,
    numel,
    opaque,
    overlapping,
    overlaps,
    product,
    replace,
    size,
    top,
)
from verifier.contracts.values import (
    DIM_MAX,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    compare,
    const,
    convert,
    symbol,
)


def unfollowed(run: Run, tensor: Tensor, hint: str, why: str, dtype: str | None, same: bool = True) -> Tensor:
    """A view of which nothing is known; where the elements of its source may overlap (``expand``), those of it may too.

    ``same``: its dtype is that of its source.
    """
    out = opaque(run, hint, why, dtype, [tensor])
    run.storages[out.storage].like = same and dtype is None
    if tensor.layout == "other":
        run.storages[out.storage].gap = overlapping(tensor)
    return out


def contiguous(run: Run, tensor: Tensor) -> Tensor:
    """May return self: the memory is not separate from that of the argument unless it is a copy for sure."""
    if is_contiguous(run, tensor):
        return tensor
    key = run.unique(f"{tensor.host_name or tensor.key}_contiguous")
    source = run.storages[tensor.storage]
    run.storages[key] = Storage(
        tensor.dtype,
        None,
        tensor.dims,
        how="view",
        initialized=source.initialized,
        host_name=tensor.host_name or tensor.key,
        content=source.content,
        content_origin=source.content_origin,
        from_view_of=tensor.storage,
        contiguous=True,
        reordered=tensor.layout in ("dense", "other"),
        gap=source.gap if source.gap in (ON_CPU, ELSEWHERE) else "",
    )
    return Tensor(key, tensor.dims, tensor.dtype, key, "contiguous", host_name=tensor.host_name or tensor.key)


def row(run: Run, tensor: Tensor, index: Value, span: Span, hint: str) -> Value:
    """``x[i]``: the dims from the second on, a part of the memory; torch throws for an index out of range."""
    if not isinstance(index, Int) or (not is_contiguous(run, tensor) and tensor.layout != "free"):
        return unfollowed(run, tensor, hint, "an indexed tensor", tensor.dtype)
    count = size(run, tensor, const(0))
    assert isinstance(count, Int)
    if index.value is not None and index.value < 0:
        run.assume(compare(">=", count, const(-index.value)), span)
    else:
        run.assume(compare(">=", convert(index, "i64"), const(0)), span)
        run.assume(compare("<", convert(index, "i64"), count), span)
    dims: tuple[Int, ...] | Shape
    if isinstance(tensor.dims, Shape):
        name = run.unique(f"{tensor.dims.name}_row")
        rank = run.shapes[tensor.dims.name].rank
        run.shapes[name] = FreeShape(rank=None if rank is None else rank - 1, row_of=tensor.dims.name)
        dims = Shape(name)
    else:
        dims = tensor.dims[1:]
    key = run.unique(hint)
    source = run.storages[tensor.storage]
    run.storages[key] = Storage(
        source.dtype or tensor.dtype, None, dims, how="part", initialized=source.initialized, zero=source.zero,
        host_name=tensor.host_name, content=source.content, content_origin=source.content_origin, from_view_of=tensor.storage,
        contiguous=source.contiguous or is_contiguous(run, tensor) is True, gap=source.gap,
    )  # fmt: skip
    for fact in ("cuda", "contiguous"):
        if (fact, tensor.key) in run.checked:
            run.checked.add((fact, key))
    if tensor.key in run.dtypes:
        run.dtypes[key] = run.dtypes[tensor.key]
    return Tensor(key, dims, tensor.dtype, key, tensor.layout, host_name=tensor.host_name)


def part(run: Run, tensor: Tensor, dims: tuple[Int, ...], hint: str, repeated: bool = False) -> Tensor:
    """A slice: it shares memory, and its elements do not lie side by side. ``repeated``: some may lie in one place."""
    key = run.unique(hint)
    source = run.storages[tensor.storage]
    dims = tuple(Int(d.text, max(d.lo or 0, 0), top(d), "i64", d.taint) for d in dims)
    run.storages[key] = Storage(
        tensor.dtype, None, dims, how="part", initialized=source.initialized, zero=source.zero,
        host_name=tensor.host_name, content=source.content, content_origin=source.content_origin,
        from_view_of=tensor.storage, gap=overlapping(tensor) if repeated or overlaps(run, tensor) else
        f"{SLICE}{tensor.host_name} is passed on without contiguous()",
    )  # fmt: skip
    return Tensor(key, dims, tensor.dtype, key, "other", host_name=tensor.host_name)


def unfold(run: Run, tensor: Tensor, args: Sequence[Value], span: Span, hint: str) -> Value:
    """``x.unfold(dim, size, step)``: windows along a dim become a last dim."""
    dims = dims_of(run, tensor)
    numbers = [a for a in args if isinstance(a, Int)]
    if not dims or len(numbers) != 3 or numbers[0].value is None:
        return opaque(run, hint, "unfold", tensor.dtype, [tensor])
    at = numbers[0].value % len(dims)
    count, step = convert(numbers[1], PY), convert(numbers[2], PY)
    run.assume(compare(">=", step, const(1, PY)), span)
    run.assume(compare("<=", count, convert(dims[at], PY)), span)
    if step.text == count.text:  # floor((d - s) / s) + 1 is floor(d / s)
        s = Int(step.text, max(step.lo or 1, 1), step.hi, PY, step.taint)
        whole = arith("/", Int(dims[at].text, 0, dims[at].hi, PY, dims[at].taint), s, PY)
        if whole is not None:
            return part(run, tensor, (*dims[:at], whole, *dims[at + 1 :], count), hint)
    left = arith("-", convert(dims[at], PY), count, PY)
    if left is None:
        return opaque(run, hint, "unfold", tensor.dtype, [tensor])
    left = Int(left.text, 0, left.hi, PY, left.taint)
    step = Int(step.text, max(step.lo or 1, 1), step.hi, PY, step.taint)
    whole = arith("/", left, step, PY)
    windows = arith("+", whole, const(1, PY), PY) if whole is not None else None
    if windows is None:
        return opaque(run, hint, "unfold", tensor.dtype, [tensor])
    return part(run, tensor, (*dims[:at], windows, *dims[at + 1 :], count), hint, repeated=True)


def stride(run: Run, tensor: Tensor, args: Sequence[Value]) -> Value:
    dims = dims_of(run, tensor)
    if not (args and isinstance(args[0], Int) and args[0].value is not None):
        return Unknown("strides")
    index = args[0].value
    if dims is not None and is_contiguous(run, tensor) and -len(dims) <= index < len(dims):
        return contiguous_stride(run, tensor, dims, index % len(dims))
    label = f"{tensor.key}_stride_{index}" if index >= 0 else f"{tensor.key}_stride_m{-index}"
    if label not in run.symbols:
        return run.fresh(
            label, "scalar", "i64", meaning=f"{tensor.key}.stride({index})", lo=0, hi=DIM_MAX, low=0,
            gap=f"stride of {tensor.host_name}, which may be non-contiguous, is not followed",
        )  # fmt: skip
    return symbol(label, 0, DIM_MAX)


def contiguous_stride(run: Run, tensor: Tensor, dims: Sequence[Int], at: int) -> Int:
    """The stride of a tensor that is contiguous.

    torch calls a tensor contiguous whatever the stride of a dim of size 1; that it is as in a new tensor is assumed, and
    printed, unless the tensor was allocated from sizes.
    """
    storage = run.storages[tensor.storage]
    size = dims[at]
    own = tensor.key == tensor.storage and storage.sized
    if not own and (size.value is None or size.value == 1) and (size.lo is None or size.lo <= 1):
        if run.speculative:
            raise NotSimple
        run.plain_strides.setdefault(tensor.storage, tensor.host_name or tensor.key)
    return product(dims[at + 1 :])


def reinterpret(run: Run, tensor: Tensor, dims: tuple[Int, ...] | Shape, may_copy: bool, hint: str) -> Tensor:
    """A view with other dims. ``reshape`` may copy; then the memory is another."""
    if may_copy and not is_contiguous(run, tensor):
        key = run.unique(hint)
        source = run.storages[tensor.storage]
        run.storages[key] = Storage(
            tensor.dtype, None, dims, how="view", initialized=source.initialized, host_name=tensor.host_name,
            content=source.content, content_origin=source.content_origin, from_view_of=tensor.storage,
            reordered=tensor.layout in ("dense", "other"), gap=overlapping(tensor) if tensor.layout == "other" else source.gap,
        )  # fmt: skip
        return Tensor(key, dims, tensor.dtype, key, "free", host_name=tensor.host_name)
    key = run.unique(hint)
    if is_contiguous(run, tensor):
        return Tensor(
            key, dims, tensor.dtype, tensor.storage, "contiguous", tensor.offset, host_name=tensor.host_name
        )
    layout: Any = "other" if tensor.layout == "other" else "free"
    return Tensor(key, dims, tensor.dtype, tensor.storage, layout, tensor.offset, host_name=tensor.host_name)


def view(run: Run, tensor: Tensor, name: str, args: Sequence[Value], span: Span, hint: str) -> Value:
    if args and isinstance(args[0], Sizes):
        return reinterpret(run, tensor, args[0].tensor.dims, name == "reshape", hint)
    wanted = int_list(args)
    if wanted is None or any(d.lo is not None and d.lo < 0 and d.value != -1 for d in wanted if d.type == PY):
        same = all(isinstance(a, Int | Items | Sizes) for a in args)
        why = f"{name} with dims that are not followed"
        return unfollowed(run, tensor, hint, why, tensor.dtype if same else None, same)
    free = [i for i, d in enumerate(wanted) if d.value == -1]
    total = numel(run, tensor)
    if len(free) > 1:
        raise Dead
    if free:
        others = [d for i, d in enumerate(wanted) if i != free[0]]
        wanted[free[0]] = _divide_out(run, tensor, total, others, span)
    else:
        run.assume(compare("==", product(wanted), total), span)
    return reinterpret(run, tensor, tuple(convert(d, "i64") for d in wanted), name == "reshape", hint)


def _divide_out(run: Run, tensor: Tensor, total: Int, others: list[Int], span: Span) -> Int:
    """The dim written -1. Factors that stand in both products cancel; the rest is a checked division."""
    dims = dims_of(run, tensor)
    divisor = product([d for d in others if d.value != 1])
    if dims is not None:
        rest, number = _factors(dims)
        below, unit = _factors(others)
        for factor in list(below):
            if factor in rest:
                rest.remove(factor)
                below.remove(factor)
        if not below and unit > 0 and number % unit == 0:
            text = " * ".join([*rest, *([str(number // unit)] if number != unit or not rest else [])])
            return Int(f"({text})" if " " in text else text, 0, total.hi, "i64", total.taint)
    run.assume(Bool(f"({total.text} % {divisor.text} == 0)") if divisor.text != "1" else TRUE, span)
    found = arith("/", total, divisor, "i64")
    assert found is not None
    return Int(found.text, 0, total.hi, "i64", found.taint)


def _factors(dims: Sequence[Int]) -> tuple[list[str], int]:
    """The factors of a product that are no numbers, and the product of those that are."""
    found: list[str] = []
    number = 1

    def take(node: ast.expr) -> None:
        nonlocal number
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                take(left)
                take(right)
            case ast.Constant(value=int(v)):
                number *= v
            case _:
                found.append(f"({ast.unparse(node)})" if not isinstance(node, ast.Name) else node.id)

    for dim in dims:
        take(ast.parse(dim.text, mode="eval").body)
    return found, number


def flatten(run: Run, tensor: Tensor, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str) -> Value:
    dims = dims_of(run, tensor)
    start = args[0] if args else kwargs.get("start_dim", const(0))
    end = args[1] if len(args) > 1 else kwargs.get("end_dim", const(-1))
    if not isinstance(start, Int) or not isinstance(end, Int) or start.value is None or end.value is None:
        return unfollowed(run, tensor, hint, "flatten with dims that are not followed", tensor.dtype)
    if dims is None:
        if start.value == 0 and end.value == -1:
            return reinterpret(run, tensor, (numel(run, tensor),), True, hint)
        return unfollowed(run, tensor, hint, "flatten of a tensor of unknown rank", tensor.dtype)
    if not dims:
        return reinterpret(run, tensor, (const(1),), True, hint)
    first, last = start.value % len(dims), end.value % len(dims)
    return reinterpret(
        run, tensor, (*dims[:first], product(dims[first : last + 1]), *dims[last + 1 :]), True, hint
    )


def squeeze(run: Run, tensor: Tensor, name: str, args: Sequence[Value], hint: str) -> Value:
    dims = dims_of(run, tensor)
    at = args[0].value if args and isinstance(args[0], Int) else None
    if dims is None or at is None:
        return unfollowed(run, tensor, hint, f"{name} of a tensor of unknown rank", tensor.dtype)
    if name == "squeeze" and not dims:  # torch takes 0 and -1 for a dim of it
        return tensor
    if name == "unsqueeze":
        at = at + len(dims) + 1 if at < 0 else at
        return reinterpret(run, tensor, (*dims[:at], const(1), *dims[at:]), False, hint)
    at = at + len(dims) if at < 0 else at
    if at >= len(dims):
        raise Dead
    if dims[at].value == 1:
        return reinterpret(run, tensor, (*dims[:at], *dims[at + 1 :]), False, hint)
    return unfollowed(run, tensor, hint, "squeeze of a dim that may not be 1", tensor.dtype)


def other_view(run: Run, tensor: Tensor, dims: tuple[Int, ...] | Shape, hint: str) -> Tensor:
    """A view whose storage is smaller than its numel, or strided."""
    return Tensor(
        run.unique(hint),
        dims,
        tensor.dtype,
        tensor.storage,
        "other",
        tensor.offset,
        host_name=tensor.host_name,
    )


def expand(run: Run, tensor: Tensor, args: Sequence[Value], hint: str) -> Value:
    wanted, dims = int_list(args), dims_of(run, tensor)
    if wanted is None or dims is None or len(wanted) < len(dims):
        return unfollowed(
            run, replace(tensor, layout="other"), hint, "expand that is not followed", tensor.dtype
        )
    padded = [None] * (len(wanted) - len(dims)) + list(dims)
    out = tuple(d if w.value == -1 and d is not None else w for w, d in zip(wanted, padded, strict=True))
    return other_view(run, tensor, out, hint)


def permute(run: Run, tensor: Tensor, name: str, args: Sequence[Value], hint: str) -> Value:
    dims = dims_of(run, tensor)
    if dims is None:
        return unfollowed(run, tensor, hint, f"{name} of a tensor of unknown rank", tensor.dtype)
    if not dims:
        return tensor
    order = list(range(len(dims)))
    if name == "T":
        order.reverse()
    elif name in ("t", "mT"):
        if len(dims) >= 2:
            order[-1], order[-2] = order[-2], order[-1]
    else:
        given = int_list(args)
        if given is None or any(g.value is None for g in given):
            return unfollowed(run, tensor, hint, f"{name} with dims that are not followed", tensor.dtype)
        values = [g.value % len(dims) for g in given if g.value is not None]
        if name == "permute":
            if sorted(values) != order:
                raise Dead
            order = values
        elif name in ("transpose", "swapaxes") and len(values) == 2:
            a, b = values
            order[a], order[b] = order[b], order[a]
        else:
            return unfollowed(run, tensor, hint, name, tensor.dtype)
    if order == sorted(order):
        return tensor
    layout: Any = "other" if tensor.layout == "other" else "dense"
    return Tensor(
        run.unique(hint), tuple(dims[i] for i in order), tensor.dtype, tensor.storage, layout, tensor.offset,
        host_name=tensor.host_name,
    )  # fmt: skip


def _is_device(value: Value) -> bool:
    return isinstance(value, Unknown) and value.why in ("device", "a device")


def _may_name_dtype(value: Value) -> bool:
    match value:
        case Dtype() | Tensor():
            return True
        case Options(dtype=inner):
            return inner is not None
    return isinstance(value, Unknown) and not _is_device(value)


def _keeps_range(run: Run, content: tuple[str, str] | None, old: str | None, new: str | None) -> bool:
    """Whether elements in a range are the same ints in another dtype; for the problem's sizes, as a clause of the contract."""
    if content is None or old == new or new == "i64" or (new == "i32" and old in ("u8", "i8", "i16")):
        return old == new or old is not None
    values = {n: i.value for n, i in run.symbols.items() if i.value is not None}
    try:
        low, high = (evaluate(text, values) for text in content)
    except (ClauseUndefined, ClauseError):
        return False
    if new != "i32" or run.speculative or not (low >= -(1 << 31) and high < 1 << 31):
        return False
    for text in (f"({content[0]} >= {-(1 << 31)})", f"({content[1]} <= {(1 << 31) - 1})"):
        if names(text):
            run.path.append(Fact(text, "derived", NOWHERE, "the range of what becomes an int32"))
    return True


def maybe_self(
    run: Run, tensor: Tensor, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str
) -> Value:
    """Conversions that may return self or a copy; either way the dims stay."""
    from verifier.contracts.objects import Text

    dtype = tensor.dtype
    wanted = DTYPES.get(name) or dtype_argument(run, kwargs)
    values = (*args, *(v for k, v in kwargs.items() if k == "other"))
    for value in values:
        found = dtype_value(run, value) if isinstance(value, Dtype | Options | Tensor) else None
        wanted = wanted or found
    if wanted:
        dtype = wanted
    elif "dtype" in kwargs or any(_may_name_dtype(v) for v in values):
        dtype = None  # another one, which is not known
    named = [v.value for v in (*args, *kwargs.values()) if isinstance(v, Text)]
    cuda = name == "cuda" or any(t.startswith("cuda") for t in named)
    moved = cuda or any(isinstance(v, Tensor) or _is_device(v) for v in (*args, *kwargs.values()))
    if dtype == tensor.dtype and not cuda and name in ("detach", "data", "alias"):
        return replace(tensor, key=tensor.key)
    key = run.unique(hint)
    source = run.storages[tensor.storage]
    run.storages[key] = Storage(
        dtype, None, tensor.dims, how="view", initialized=source.initialized, host_name=tensor.host_name,
        content=source.content if _keeps_range(run, source.content, tensor.dtype, dtype) else None,
        content_origin=source.content_origin, from_view_of=tensor.storage,
    )  # fmt: skip
    places = (v for v in (*args, *kwargs.values()) if isinstance(v, Text | Int) and name in ("to", "cuda"))
    away = next(filter(None, map(elsewhere, places)), "")
    if name == "cpu" or any(t.startswith("cpu") for t in named):
        run.storages[key].gap = ON_CPU
    elif away or (source.gap in (ON_CPU, ELSEWHERE) and not moved):
        run.storages[key].gap = away or source.gap
    elif source.gap not in (ON_CPU, ELSEWHERE) and (
        dtype is None or tensor.dtype is None or dtype == tensor.dtype
    ):  # self, perhaps
        run.storages[key].gap = overlapping(tensor) if tensor.layout == "other" else source.gap
    out = Tensor(key, tensor.dims, dtype, key, tensor.layout, host_name=tensor.host_name)
    if "memory_format" in kwargs or any(isinstance(v, Unknown) and not _is_device(v) for v in values):
        return replace(out, layout="free")
    if is_contiguous(run, tensor):
        out = replace(out, layout="contiguous")
        run.storages[key].contiguous = True
    if cuda:
        run.checked.add(("cuda", key))
    return out
