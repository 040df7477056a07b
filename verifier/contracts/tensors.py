"""Tensors of host code: their dims, dtypes and memory, and how new ones come to be.

Only what is certain is said: what is not followed is a tensor of any shape in memory that may overlap anything.

Example::

    numel(run, x)                                   # the product of the dims, or a placeholder
    allocate(run, "y", (n, m), "f32", initialized=False)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate
from specs.location import NOWHERE, Span
from verifier.contracts.objects import (
    Chosen,
    Dtype,
    Items,
    Options,
    Shape,
    Sizes,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Dead, Fact, FreeShape, NotSimple, Run, Storage, SymbolInfo
from verifier.contracts.values import (
    DIM_MAX,
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    compare,
    const,
    convert,
    symbol,
    truth,
)

DTYPES = {
    "Byte": "u8", "Char": "i8", "Short": "i16", "Int": "i32", "Long": "i64", "Half": "f16", "Float": "f32", "Double": "f64",
    "Bool": "bool", "BFloat16": "bf16", "UInt16": "u16", "UInt32": "u32", "UInt64": "u64", "kByte": "u8", "kChar": "i8",
    "kShort": "i16", "kInt": "i32", "kLong": "i64", "kHalf": "f16", "kFloat": "f32", "kDouble": "f64", "kBool": "bool",
    "kBFloat16": "bf16", "kUInt8": "u8", "kInt8": "i8", "kInt16": "i16", "kInt32": "i32", "kInt64": "i64", "kFloat16": "f16",
    "kFloat32": "f32", "kFloat64": "f64", "kUInt32": "u32", "kUInt16": "u16", "kUInt64": "u64", "float32": "f32", "float": "f32",
    "float64": "f64", "double": "f64", "float16": "f16", "half": "f16", "bfloat16": "bf16", "int32": "i32", "int": "i32",
    "int64": "i64", "long": "i64", "int16": "i16", "short": "i16", "int8": "i8", "uint8": "u8", "bool": "bool",
}  # fmt: skip

DEVICE_ALIGN = 256
ON_CPU = "it is a CPU tensor, whose memory the device cannot reach"
ELSEWHERE = "it is on another device than the current one"
SLICE = "a slice of "
"""The gap of memory that kernels cannot use."""

_LONG = 100


def elsewhere(device: Value | None) -> str:
    """Why the device may not reach memory on ``device``, as PyTorch names it; empty where it is the current one, or not known."""
    match device:
        case Text(value=text) if text not in ("cuda", "cuda:0"):
            return ON_CPU if text.startswith("cpu") else ELSEWHERE
        case Int(value=number) if number != 0:
            return ELSEWHERE
    return ""


def numel(run: Run, tensor: Tensor) -> Int:
    if isinstance(tensor.dims, Shape):
        rank = run.shapes[tensor.dims.name].rank
        if rank is None:
            return run.numel(tensor.dims)
        return product([run.dim(tensor.dims, i) for i in range(rank)])
    return product(tensor.dims)


def product(dims: Sequence[Int]) -> Int:
    """The number of elements; exact, since a tensor's numel always fits an int64."""
    total = const(1)
    for dim in dims:
        found = arith("*", convert(total, PY), convert(dim, PY), PY)
        assert found is not None
        total = found
    hi = DIM_MAX if total.hi is None or total.hi > DIM_MAX else total.hi
    return Int(total.text, 0 if total.lo is None else max(total.lo, 0), hi, "i64", total.taint)


def rank_of(run: Run, tensor: Tensor) -> int | None:
    return run.shapes[tensor.dims.name].rank if isinstance(tensor.dims, Shape) else len(tensor.dims)


def dims_of(run: Run, tensor: Tensor) -> tuple[Int, ...] | None:
    """All dims, where the rank is known."""
    if not isinstance(tensor.dims, Shape):
        return tensor.dims
    rank = run.shapes[tensor.dims.name].rank
    return None if rank is None else tuple(run.dim(tensor.dims, i) for i in range(rank))


def size(run: Run, tensor: Tensor, index: Value) -> Value:
    """``x.size(i)``; torch throws for an index out of range."""
    if not isinstance(index, Int):
        return Unknown("size() of an index that is not followed")
    at = run.narrow(index).value
    if at is None:
        known = dims_of(run, tensor)
        if known is not None and len(known) <= 8:
            for candidate in range(len(known)):
                both = Bool(f"({index.text} == {candidate} or {index.text} == {candidate - len(known)})")
                if run.decide(both):
                    return known[candidate]
            raise Dead
        name = f"{tensor.key}_size_{index.text}"
        name = "".join(c if c.isalnum() else "_" for c in name)
        if name not in run.symbols:
            return run.fresh(
                name, "dim", "i64", meaning=f"{tensor.key}.size({index.text})", lo=0, hi=DIM_MAX, low=1
            )
        return symbol(name, 0, DIM_MAX)
    if isinstance(tensor.dims, Shape):
        return run.dim(tensor.dims, at)
    if not -len(tensor.dims) <= at < len(tensor.dims):
        raise Dead
    return tensor.dims[at]


def int_list(values: Sequence[Value]) -> list[Int] | None:
    """Dims given as one list or as separate ints."""
    flat: list[Value] = []
    for value in values:
        if isinstance(value, Items):
            flat += value.items
        else:
            flat.append(value)
    return [v for v in flat if isinstance(v, Int)] if all(isinstance(v, Int) for v in flat) else None


def chosen_int(run: Run, value: Chosen) -> Int:
    """The argument where only an int can be."""
    if value.name not in run.chosen:
        if run.speculative:
            raise NotSimple
        made = run.fresh(value.name, "scalar", PY, meaning=value.why)
        run.symbols[made.text].prefer, run.symbols[made.text].taken = value.name, True
        run.chosen[value.name] = made
    return run.chosen[value.name]


def _chosen_shape(run: Run, values: Sequence[Value]) -> Sequence[Value] | Shape:
    """Sizes with arguments of the model among them: each is an int, but one alone may be a whole shape."""
    flat = [v for value in values for v in (value.items if isinstance(value, Items) else (value,))]
    alone = len(values) == 1 and isinstance(values[0], Chosen) and values[0].name not in run.chosen
    if alone or any(isinstance(v, Chosen) and v.many for v in flat):
        if run.speculative:
            raise NotSimple
        key = run.unique(next(v.name for v in flat if isinstance(v, Chosen)))
        run.shapes[key] = FreeShape()
        return Shape(key)
    return [chosen_int(run, v) if isinstance(v, Chosen) else v for v in flat]


def shape_argument(run: Run, values: Sequence[Value]) -> tuple[Int, ...] | Shape | None:
    """The shape that creation functions get: ints, a list, or ``x.sizes()``."""
    if len(values) >= 1 and isinstance(values[0], Sizes):
        source = values[0].tensor
        return source.dims
    chosen = _chosen_shape(run, values)
    if isinstance(chosen, Shape):
        return chosen
    dims = int_list(chosen)
    return None if dims is None else tuple(convert(d, "i64") if d.type != PY else d for d in dims)


def require_sizes(run: Run, dims: Sequence[Int], span: Span) -> None:
    for dim in dims:
        run.assume(compare(">=", dim, const(0, dim.type)), span)


def short(run: Run, dim: Int, name: str) -> Int:
    """The dim itself, or a symbol that equals it where its text is long."""
    if len(dim.text) <= _LONG:
        return dim
    if run.speculative:
        raise NotSimple
    made = run.fresh(name, "dim", dim.type, meaning="a size that is computed", lo=0, hi=DIM_MAX, low=0)
    values = {n: i.value for n, i in run.symbols.items() if i.value is not None}
    try:
        run.symbols[made.text].value = evaluate(dim.text, values)
    except (ClauseUndefined, ClauseError):
        run.symbols[made.text].value = None
    run.path.append(Fact(f"({made.text} == {dim.text})", "derived", NOWHERE, "definition"))
    return Int(made.text, max(dim.lo or 0, 0), DIM_MAX if dim.hi is None else dim.hi, dim.type, dim.taint)


def top(dim: Int) -> int:
    return DIM_MAX if dim.hi is None else min(dim.hi, DIM_MAX)


def allocate(
    run: Run,
    hint: str,
    dims: tuple[Int, ...] | Shape,
    dtype: str | None,
    *,
    initialized: bool,
    zero: bool = False,
    layout: Any = "contiguous",
) -> Tensor:
    """A tensor in memory of its own. Long dims get a name, with an equation, so that terms stay short."""
    if not isinstance(dims, Shape):
        dims = tuple(short(run, d, f"{hint}_{i}") for i, d in enumerate(dims))
        dims = tuple(Int(d.text, max(d.lo or 0, 0), top(d), "i64", d.taint) for d in dims)
    key = run.unique(hint)
    run.add_storage(
        key,
        Storage(
            dtype,
            None,
            dims,
            how="fresh",
            initialized=initialized,
            zero=zero,
            align=DEVICE_ALIGN,
            host_name=hint,
            caller=True,
        ),
    )
    return Tensor(key, dims, dtype, key, layout, host_name=hint)


def overlapping(tensor: Tensor) -> str:
    return f"{tensor.host_name or tensor.key} has fewer elements in memory than its sizes say, or gaps, without contiguous()"


def overlaps(run: Run, tensor: Tensor) -> bool:
    """Whether several elements of a tensor may lie in one place, so that its memory is smaller than its sizes say.

    Those of a slice do not: its last element lies at least as far from its first as if they stood side by side.
    """
    sliced = tensor.key == tensor.storage and run.storages[tensor.storage].gap.startswith(SLICE)
    return tensor.layout == "other" and not sliced


def out_of_reach(run: Run, values: Iterable[Value]) -> str:
    """Why the device does not reach what is made of these: all that are tensors are elsewhere."""
    found = [v for value in values for v in (value.items if isinstance(value, Items) else (value,))]
    gaps = [run.storages[v.storage].gap for v in found if isinstance(v, Tensor) and v.storage in run.storages]
    if not gaps or not all(g in (ON_CPU, ELSEWHERE) for g in gaps):
        return ""
    others = any(
        isinstance(v, Unknown) for v in found
    )  # a number on the CPU goes with them wherever they are
    scalar = all(isinstance(v.dims, Shape) or not v.dims for v in found if isinstance(v, Tensor))
    return "" if others and scalar else gaps[0]


def opaque(
    run: Run, hint: str, why: str, dtype: str | None = None, of: Iterable[Value] = (), copied: bool = False
) -> Tensor:
    """A tensor of which nothing is known, not even that it is separate memory.

    ``of``: what it was made of; where that has no contents it may have none. Unless it is ``copied`` its elements may overlap
    where those of its sources do.
    """
    of = tuple(of)
    tensor = run.free_tensor(hint, dtype)
    storage = run.storages[tensor.storage]
    storage.how = "view"
    run.shapes[tensor.key].why = why
    repeated = [v for v in of if isinstance(v, Tensor) and v.storage in run.storages and overlaps(run, v)]
    storage.gap = overlapping(repeated[0]) if repeated and not copied else out_of_reach(run, of)
    keys = dict.fromkeys(v.storage for v in of if isinstance(v, Tensor) and v.storage in run.storages)
    storage.made_of = tuple(key for key in keys if not run.storages[key].initialized)
    if storage.made_of:
        storage.initialized = False
        run.uninitialised.add(tensor.storage)
    return tensor


def written(run: Run, key: str) -> None:
    """A launch gets the memory to write: from here on it has contents, and so have tensors made of it."""
    run.storages[key].initialized = True
    for name, other in run.storages.items():
        whole = all(run.storages[k].initialized for k in other.made_of)
        if key in other.made_of and whole and not other.initialized:
            written(run, name)


def replace(tensor: Tensor, **changes: Any) -> Tensor:
    from dataclasses import replace as replace_

    return replace_(tensor, **changes)


def is_contiguous(run: Run, tensor: Tensor) -> bool | None:
    if tensor.layout == "contiguous" or ("contiguous", tensor.key) in run.checked:
        return True
    return None


def defined(run: Run, value: Value) -> Bool:
    from verifier.contracts.objects import Null, Optional

    match value:
        case Null():
            return FALSE
        case Optional(key=key):
            return Bool(fact=("defined", key, None))
        case _:
            return TRUE


def free_rank(run: Run, tensor: Tensor) -> Value:
    assert isinstance(tensor.dims, Shape)
    name = run.part(tensor.dims.name, "rank")
    if name not in run.symbols:
        run.symbols[name] = SymbolInfo("scalar", f"{tensor.key}.dim()", low=0, high=64)
    return symbol(name, 0, 64)


def rank_symbol(value: Value, run: Run) -> str | None:
    """The free shape whose rank this value is."""
    if not isinstance(value, Int):
        return None
    return next((n for n, shape in run.shapes.items() if shape.names.get("rank") == value.text), None)


def dtype_name(run: Run, tensor: Tensor) -> str | None:
    return tensor.dtype or run.dtypes.get(tensor.key)


def dtype_argument(run: Run, kwargs: Mapping[str, Value]) -> str | None:
    value = kwargs.get("dtype")
    return dtype_value(run, value) if value is not None else None


def dtype_value(run: Run, value: Value | None) -> str | None:
    match value:
        case Dtype(name=name, of=of):
            return name or (dtype_name(run, of) if of else None)
        case Options(dtype=inner):
            return dtype_value(run, inner) if inner else None
        case Tensor():
            return dtype_name(run, value)
    return None


def allocate_unknown(run: Run, hint: str, dtype: str | None) -> Tensor:
    """Memory of its own, dims not known."""
    tensor = run.free_tensor(hint, dtype)
    storage = run.storages[tensor.storage]
    storage.caller, storage.align = True, DEVICE_ALIGN
    run.shapes[tensor.key].why = f"{hint} is computed in a way that is not followed"
    return tensor


def equal_shapes(run: Run, a: Tensor, b: Tensor) -> Bool:
    """``a.sizes() == b.sizes()``."""
    if a.dims == b.dims:
        return TRUE
    left, right = dims_of(run, a), dims_of(run, b)
    if left is not None and right is not None:
        if len(left) != len(right):
            return FALSE
        texts = [compare("==", x, y) for x, y in zip(left, right, strict=True)]
        if any(t.value is False for t in texts):
            return FALSE
        open_ = [t.text for t in texts if t.value is None]
        return Bool("(" + " and ".join(open_) + ")") if open_ else TRUE
    return Bool(fact=("same", a.dims, b.dims))


def same_dtype(run: Run, a: Dtype, b: Dtype) -> Bool:
    left, right = dtype_value(run, a), dtype_value(run, b)
    if left is not None and right is not None:
        return truth(left == right)
    for one, other in ((a, right), (b, left)):
        if one.of is not None and other is not None:
            return Bool(fact=("dtype", one.of.key, other))
    return Bool(fact=("same dtype", str(a.of and a.of.key), str(b.of and b.of.key)))
