"""What torch's tensor operations do to shape, dtype, memory and layout. One table for C++ and Python callers.

Only what is certain is said: an operation without an entry gives a tensor of which nothing is known, in memory that may
overlap anything. A view shares its storage; a new allocation is ``fresh`` only where torch always allocates.

Example::

    y = call_method(run, x, "contiguous", [], {}, span)     # same dims, layout known, storage maybe that of x
    z = call_function(run, "zeros", [Items((n, m))], {}, span)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate
from specs.location import NOWHERE, Span
from verifier.contracts.objects import Dtype, Float, Items, Options, Shape, Sizes, Tensor, Unknown, Value
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
_LONG = 100
_FLOATS = ("f16", "bf16", "f32", "f64")
_SAME_SHAPE = frozenset(
    "abs sqrt rsqrt exp log tanh sigmoid relu softmax log_softmax neg clamp square sin cos floor ceil round gelu silu elu selu "
    "leaky_relu relu6 hardtanh hardsigmoid hardswish softplus softsign mish logsigmoid normalize erf exp2 log2 log1p expm1 "
    "reciprocal sign cumsum cumprod flip tril triu clone rand_like randn_like zeros_like ones_like empty_like full_like "
    "masked_fill layer_norm batch_norm instance_norm group_norm logical_not isnan isinf softmin tan celu threshold".split()
)
_INPLACE_SAME = frozenset(
    "mul_ add_ sub_ div_ clamp_ relu_ zero_ fill_ copy_ exp_ sqrt_ masked_fill_ uniform_ normal_ bernoulli_ detach_ "
    "requires_grad_ scatter_ scatter_add_ index_put_ tanh_ sigmoid_ abs_ neg_ pow_ clamp_min_ clamp_max_".split()
)
_BROADCAST = frozenset(
    "add sub mul div pow maximum minimum where eq ne lt gt le ge fmod remainder true_divide atan2".split()
)
_COMPARISONS = frozenset("eq ne lt gt le ge logical_not isnan isinf".split())
_MAYBE_SELF = frozenset(
    "to cuda cpu type_as detach data alias float half double long int bool bfloat16 type requires_grad_".split()
)
_CREATE = {"empty": (False, False), "zeros": (True, True), "ones": (True, False), "full": (True, False), "rand": (True, False),
           "randn": (True, False), "randint": (True, False)}  # fmt: skip
_NEW = {"new_empty": "empty", "new_zeros": "zeros", "new_ones": "ones", "new_full": "full"}


# --- dims -----------------------------------------------------------------------------------------------------------


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


def shape_argument(run: Run, values: Sequence[Value]) -> tuple[Int, ...] | Shape | None:
    """The shape that creation functions get: ints, a list, or ``x.sizes()``."""
    if len(values) >= 1 and isinstance(values[0], Sizes):
        source = values[0].tensor
        return source.dims
    dims = int_list(values)
    return None if dims is None else tuple(convert(d, "i64") if d.type != PY else d for d in dims)


def _require_sizes(run: Run, dims: Sequence[Int], span: Span) -> None:
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


def _top(dim: Int) -> int:
    return DIM_MAX if dim.hi is None else min(dim.hi, DIM_MAX)


# --- new tensors ----------------------------------------------------------------------------------------------------


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
        dims = tuple(Int(d.text, max(d.lo or 0, 0), _top(d), "i64", d.taint) for d in dims)
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


def opaque(run: Run, hint: str, why: str, dtype: str | None = None) -> Tensor:
    """A tensor of which nothing is known, not even that it is separate memory."""
    tensor = run.free_tensor(hint, dtype)
    storage = run.storages[tensor.storage]
    storage.how = "view"
    run.shapes[tensor.key].why = why
    return tensor


def replace(tensor: Tensor, **changes: Any) -> Tensor:
    from dataclasses import replace as replace_

    return replace_(tensor, **changes)


def is_contiguous(run: Run, tensor: Tensor) -> bool | None:
    if tensor.layout == "contiguous" or ("contiguous", tensor.key) in run.checked:
        return True
    return None


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
    )
    return Tensor(key, tensor.dims, tensor.dtype, key, "contiguous", host_name=tensor.host_name or tensor.key)


def defined(run: Run, value: Value) -> Bool:
    from verifier.contracts.objects import Null, Optional

    match value:
        case Null():
            return FALSE
        case Optional(key=key):
            return Bool(fact=("defined", key, None))
        case _:
            return TRUE


def row(run: Run, tensor: Tensor, index: Value, span: Span, hint: str) -> Value:
    """``x[i]``: the dims from the second on, a part of the memory; torch throws for an index out of range."""
    if not isinstance(index, Int) or (not is_contiguous(run, tensor) and tensor.layout != "free"):
        return opaque(run, hint, "an indexed tensor", tensor.dtype)
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
        contiguous=source.contiguous or is_contiguous(run, tensor) is True,
    )  # fmt: skip
    for fact in ("cuda", "contiguous"):
        if (fact, tensor.key) in run.checked:
            run.checked.add((fact, key))
    if tensor.key in run.dtypes:
        run.dtypes[key] = run.dtypes[tensor.key]
    return Tensor(key, dims, tensor.dtype, key, tensor.layout, host_name=tensor.host_name)


def part(run: Run, tensor: Tensor, dims: tuple[Int, ...], hint: str) -> Tensor:
    """A slice: it shares memory, and its elements do not lie side by side."""
    key = run.unique(hint)
    source = run.storages[tensor.storage]
    dims = tuple(Int(d.text, max(d.lo or 0, 0), _top(d), "i64", d.taint) for d in dims)
    run.storages[key] = Storage(
        tensor.dtype, None, dims, how="part", initialized=source.initialized, zero=source.zero,
        host_name=tensor.host_name, content=source.content, content_origin=source.content_origin,
        from_view_of=tensor.storage, gap=f"a slice of {tensor.host_name} is passed on without contiguous()",
    )  # fmt: skip
    return Tensor(key, dims, tensor.dtype, key, "other", host_name=tensor.host_name)


def unfold(run: Run, tensor: Tensor, args: Sequence[Value], span: Span, hint: str) -> Value:
    """``x.unfold(dim, size, step)``: windows along a dim become a last dim."""
    dims = dims_of(run, tensor)
    numbers = [a for a in args if isinstance(a, Int)]
    if dims is None or len(numbers) != 3 or numbers[0].value is None:
        return opaque(run, hint, "unfold", tensor.dtype)
    at = numbers[0].value % len(dims)
    count, step = convert(numbers[1], PY), convert(numbers[2], PY)
    run.assume(compare(">=", step, const(1, PY)), span)
    run.assume(compare("<=", count, convert(dims[at], PY)), span)
    left = arith("-", convert(dims[at], PY), count, PY)
    if left is None:
        return opaque(run, hint, "unfold", tensor.dtype)
    left = Int(left.text, 0, left.hi, PY, left.taint)
    step = Int(step.text, max(step.lo or 1, 1), step.hi, PY, step.taint)
    whole = arith("/", left, step, PY)
    windows = arith("+", whole, const(1, PY), PY) if whole is not None else None
    if windows is None:
        return opaque(run, hint, "unfold", tensor.dtype)
    return part(run, tensor, (*dims[:at], windows, *dims[at + 1 :], count), hint)


# --- methods --------------------------------------------------------------------------------------------------------


def call_method(
    run: Run,
    tensor: Tensor,
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    span: Span,
    hint: str = "",
) -> Value:
    """``tensor.name(*args, **kwargs)``."""
    hint = hint or f"{tensor.host_name or tensor.key}_{name.strip('_')}"
    match name:
        case "size" if args or "dim" in kwargs:
            return size(run, tensor, args[0] if args else kwargs["dim"])
        case "sizes" | "size" | "shape":
            return Sizes(tensor)
        case "numel" | "nelement":
            return numel(run, tensor)
        case "dim" | "ndimension" | "ndim":
            rank = rank_of(run, tensor)
            return const(rank) if rank is not None else _free_rank(run, tensor)
        case "element_size" | "itemsize":
            dtype = dtype_name(run, tensor)
            from verifier.contracts.values import SIZES

            return const(SIZES[dtype]) if dtype else Unknown("element size")
        case "stride":
            return _stride(run, tensor, args)
        case "contiguous":
            return (
                opaque(run, hint, "a memory format", tensor.dtype)
                if args or kwargs
                else contiguous(run, tensor)
            )
        case "view" | "reshape":
            return _view(run, tensor, name, args, span, hint)
        case "flatten":
            return _flatten(run, tensor, args, kwargs, hint)
        case "squeeze" | "unsqueeze":
            return _squeeze(run, tensor, name, args, hint)
        case "view_as" | "reshape_as" | "expand_as" if args and isinstance(args[0], Tensor):
            other = args[0]
            if name == "expand_as":
                return _other_view(run, tensor, other.dims, hint)
            return _reinterpret(run, tensor, other.dims, name == "reshape_as", hint)
        case "expand" | "broadcast_to":
            return _expand(run, tensor, args, hint)
        case "transpose" | "permute" | "t" | "T" | "mT" | "movedim" | "swapaxes":
            return _permute(run, tensor, name, args, hint)
        case "select" if len(args) == 2 and isinstance(args[0], Int) and args[0].value == 0:
            return row(run, tensor, args[1], span, hint)
        case "unfold":
            return unfold(run, tensor, args, span, hint)
        case "options":
            return Options(Dtype(tensor.dtype, tensor))
        case "dtype" | "scalar_type" | "type" if not args:
            return Dtype(dtype_name(run, tensor), tensor)
        case "clone":
            return allocate(
                run, hint, tensor.dims, dtype_name(run, tensor), initialized=True, layout=_kept(run, tensor)
            )
        case _ if name in _NEW:
            shape = shape_argument(run, args[:1] if name == "new_full" else args)
            return _create(run, _NEW[name], shape, _dtype_argument(run, kwargs) or tensor.dtype, span, hint)
        case _ if name in _MAYBE_SELF:
            return _maybe_self(run, tensor, name, args, kwargs, hint)
        case _ if name in _INPLACE_SAME:
            run.write(tensor.storage)
            if name in ("zero_", "fill_", "uniform_", "normal_", "bernoulli_"):
                run.storages[tensor.storage].initialized = True
            return tensor
        case _:
            return call_function(run, name, [tensor, *args], kwargs, span, hint)


def _free_rank(run: Run, tensor: Tensor) -> Value:
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


def _dtype_argument(run: Run, kwargs: Mapping[str, Value]) -> str | None:
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


def _stride(run: Run, tensor: Tensor, args: Sequence[Value]) -> Value:
    dims = dims_of(run, tensor)
    if not (args and isinstance(args[0], Int) and args[0].value is not None):
        return Unknown("strides")
    index = args[0].value
    if dims is not None and is_contiguous(run, tensor):
        index = index + len(dims) if index < 0 else index
        return product(dims[index + 1 :])
    label = f"{tensor.key}_stride_{index}" if index >= 0 else f"{tensor.key}_stride_m{-index}"
    if label not in run.symbols:
        return run.fresh(
            label, "scalar", "i64", meaning=f"{tensor.key}.stride({index})", lo=0, hi=DIM_MAX, low=0,
            gap=f"stride of {tensor.host_name}, which may be non-contiguous, is not followed",
        )  # fmt: skip
    return symbol(label, 0, DIM_MAX)


def _kept(run: Run, tensor: Tensor) -> Any:
    return "contiguous" if is_contiguous(run, tensor) else "free"


def _reinterpret(
    run: Run, tensor: Tensor, dims: tuple[Int, ...] | Shape, may_copy: bool, hint: str
) -> Tensor:
    """A view with other dims. ``reshape`` may copy; then the memory is another."""
    if may_copy and not is_contiguous(run, tensor):
        key = run.unique(hint)
        source = run.storages[tensor.storage]
        run.storages[key] = Storage(
            tensor.dtype, None, dims, how="view", initialized=source.initialized, host_name=tensor.host_name,
            content=source.content, content_origin=source.content_origin, from_view_of=tensor.storage,
        )  # fmt: skip
        return Tensor(key, dims, tensor.dtype, key, "free", host_name=tensor.host_name)
    key = run.unique(hint)
    if is_contiguous(run, tensor):
        return Tensor(
            key, dims, tensor.dtype, tensor.storage, "contiguous", tensor.offset, host_name=tensor.host_name
        )
    return Tensor(key, dims, tensor.dtype, tensor.storage, "free", tensor.offset, host_name=tensor.host_name)


def _view(run: Run, tensor: Tensor, name: str, args: Sequence[Value], span: Span, hint: str) -> Value:
    if args and isinstance(args[0], Sizes):
        return _reinterpret(run, tensor, args[0].tensor.dims, name == "reshape", hint)
    wanted = int_list(args)
    if wanted is None or any(d.lo is not None and d.lo < 0 and d.value != -1 for d in wanted if d.type == PY):
        return opaque(run, hint, f"{name} with dims that are not followed", tensor.dtype)
    free = [i for i, d in enumerate(wanted) if d.value == -1]
    total = numel(run, tensor)
    if len(free) > 1:
        raise Dead
    if free:
        others = [d for i, d in enumerate(wanted) if i != free[0]]
        wanted[free[0]] = _divide_out(run, tensor, total, others, span)
    else:
        run.assume(compare("==", product(wanted), total), span)
    return _reinterpret(run, tensor, tuple(convert(d, "i64") for d in wanted), name == "reshape", hint)


def _divide_out(run: Run, tensor: Tensor, total: Int, others: list[Int], span: Span) -> Int:
    """The dim written -1. Factors that stand in both products cancel; the rest is a checked division."""
    dims = dims_of(run, tensor)
    left = [d for d in others if d.value != 1]
    if dims is not None:
        remaining = list(dims)
        for other in list(left):
            same = next((d for d in remaining if d.text == other.text), None)
            if same is not None:
                remaining.remove(same)
                left.remove(other)
        if not left:
            return product(remaining)
        total = product(remaining)
    divisor = product(left)
    run.assume(Bool(f"({total.text} % {divisor.text} == 0)") if divisor.text != "1" else TRUE, span)
    found = arith("/", total, divisor, "i64")
    assert found is not None
    return Int(found.text, 0, total.hi, "i64", found.taint)


def _flatten(
    run: Run, tensor: Tensor, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str
) -> Value:
    dims = dims_of(run, tensor)
    start = args[0] if args else kwargs.get("start_dim", const(0))
    end = args[1] if len(args) > 1 else kwargs.get("end_dim", const(-1))
    if not isinstance(start, Int) or not isinstance(end, Int) or start.value is None or end.value is None:
        return opaque(run, hint, "flatten with dims that are not followed", tensor.dtype)
    if dims is None:
        if start.value == 0 and end.value == -1:
            return _reinterpret(run, tensor, (numel(run, tensor),), True, hint)
        return opaque(run, hint, "flatten of a tensor of unknown rank", tensor.dtype)
    first, last = start.value % len(dims), end.value % len(dims)
    return _reinterpret(
        run, tensor, (*dims[:first], product(dims[first : last + 1]), *dims[last + 1 :]), True, hint
    )


def _squeeze(run: Run, tensor: Tensor, name: str, args: Sequence[Value], hint: str) -> Value:
    dims = dims_of(run, tensor)
    at = args[0].value if args and isinstance(args[0], Int) else None
    if dims is None or at is None:
        return opaque(run, hint, f"{name} of a tensor of unknown rank", tensor.dtype)
    if name == "unsqueeze":
        at = at + len(dims) + 1 if at < 0 else at
        return _reinterpret(run, tensor, (*dims[:at], const(1), *dims[at:]), False, hint)
    at = at + len(dims) if at < 0 else at
    if at >= len(dims):
        raise Dead
    if dims[at].value == 1:
        return _reinterpret(run, tensor, (*dims[:at], *dims[at + 1 :]), False, hint)
    return opaque(run, hint, "squeeze of a dim that may not be 1", tensor.dtype)


def _other_view(run: Run, tensor: Tensor, dims: tuple[Int, ...] | Shape, hint: str) -> Tensor:
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


def _expand(run: Run, tensor: Tensor, args: Sequence[Value], hint: str) -> Value:
    wanted, dims = int_list(args), dims_of(run, tensor)
    if wanted is None or dims is None or len(wanted) < len(dims):
        return opaque(run, hint, "expand that is not followed", tensor.dtype)
    padded = [None] * (len(wanted) - len(dims)) + list(dims)
    out = tuple(d if w.value == -1 and d is not None else w for w, d in zip(wanted, padded, strict=True))
    return _other_view(run, tensor, out, hint)


def _permute(run: Run, tensor: Tensor, name: str, args: Sequence[Value], hint: str) -> Value:
    dims = dims_of(run, tensor)
    if dims is None:
        return opaque(run, hint, f"{name} of a tensor of unknown rank", tensor.dtype)
    order = list(range(len(dims)))
    if name in ("t", "T", "mT"):
        if len(dims) >= 2:
            order[-1], order[-2] = order[-2], order[-1]
    else:
        given = int_list(args)
        if given is None or any(g.value is None for g in given):
            return opaque(run, hint, f"{name} with dims that are not followed", tensor.dtype)
        values = [g.value % len(dims) for g in given if g.value is not None]
        if name == "permute":
            if sorted(values) != order:
                raise Dead
            order = values
        elif name in ("transpose", "swapaxes") and len(values) == 2:
            a, b = values
            order[a], order[b] = order[b], order[a]
        else:
            return opaque(run, hint, name, tensor.dtype)
    if order == sorted(order):
        return tensor
    layout: Any = "dense" if is_contiguous(run, tensor) or tensor.layout == "dense" else "free"
    return Tensor(
        run.unique(hint), tuple(dims[i] for i in order), tensor.dtype, tensor.storage, layout, tensor.offset,
        host_name=tensor.host_name,
    )  # fmt: skip


def _maybe_self(
    run: Run, tensor: Tensor, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str
) -> Value:
    """Conversions that may return self or a copy; either way the dims stay."""
    from verifier.contracts.objects import Text

    dtype = tensor.dtype
    wanted = DTYPES.get(name) or _dtype_argument(run, kwargs)
    for value in args:
        found = dtype_value(run, value) if isinstance(value, Dtype | Options | Tensor) else None
        wanted = wanted or found
    if wanted:
        dtype = wanted
    cuda = name == "cuda" or any(
        isinstance(v, Text) and v.value.startswith("cuda") for v in (*args, *kwargs.values())
    )
    if dtype == tensor.dtype and not cuda and name in ("detach", "data", "alias"):
        return replace(tensor, key=tensor.key)
    key = run.unique(hint)
    source = run.storages[tensor.storage]
    run.storages[key] = Storage(
        dtype, None, tensor.dims, how="view", initialized=source.initialized, host_name=tensor.host_name,
        content=source.content if dtype in (tensor.dtype, "i32", "i64") else None, content_origin=source.content_origin,
        from_view_of=tensor.storage,
    )  # fmt: skip
    out = Tensor(key, tensor.dims, dtype, key, tensor.layout, host_name=tensor.host_name)
    if is_contiguous(run, tensor):
        out = replace(out, layout="contiguous")
        run.storages[key].contiguous = True
    if cuda:
        run.checked.add(("cuda", key))
    return out


# --- functions ------------------------------------------------------------------------------------------------------


def _create(
    run: Run, name: str, dims: tuple[Int, ...] | Shape | None, dtype: str | None, span: Span, hint: str
) -> Value:
    initialized, zero = _CREATE[name]
    if dims is None:
        tensor = opaque(run, hint, f"{name} with dims that are not followed", dtype)
        run.storages[tensor.storage].how = "fresh"
        run.storages[tensor.storage].gap = f"the size of {hint} is not followed ({span})"
        run.storages[tensor.storage].initialized = initialized
        run.storages[tensor.storage].caller = True
        if not initialized:
            run.uninitialised.add(tensor.storage)
        return replace(tensor, layout="contiguous")
    if not isinstance(dims, Shape):
        _require_sizes(run, dims, span)
        dims = tuple(d if d.type == PY else convert(d, "i64") for d in dims)
        dims = tuple(Int(d.text, max(d.lo or 0, 0), d.hi, d.type, d.taint) for d in dims)
    return allocate(run, hint, dims, dtype, initialized=initialized, zero=zero)


def call_function(
    run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], span: Span, hint: str = ""
) -> Value:
    """``torch.name(*args, **kwargs)``, ``at::name(…)``, ``F.name(…)``."""
    hint = hint or name
    first = args[0] if args else None
    if name in _CREATE:
        rest = list(args)
        dtype = _dtype_argument(run, kwargs)
        options = [v for v in rest if isinstance(v, Options | Dtype)]
        for option in options:
            dtype = dtype or dtype_value(run, option)
        shape_values: list[Value] = [v for v in rest if isinstance(v, Int | Items | Sizes)]
        if name in ("full", "randint"):
            shape_values = [v for v in rest if isinstance(v, Items | Sizes)]
        if "size" in kwargs:
            shape_values = [kwargs["size"]]
        if not options and dtype is None and name != "randint":
            dtype = "f32"
        followed = all(isinstance(v, Int | Items | Sizes | Options | Dtype | Float) for v in rest)
        return _create(
            run,
            name,
            shape_argument(run, shape_values) if followed and shape_values else None,
            dtype,
            span,
            hint,
        )
    if name in ("cat", "stack", "concat"):
        return _joined(run, name, args, kwargs, hint)
    if not isinstance(first, Tensor):
        return _combination(run, name, args, kwargs, hint)
    if name.endswith("_like") and name in _SAME_SHAPE:
        dtype = _dtype_argument(run, kwargs)
        for value in args[1:]:
            dtype = dtype or dtype_value(run, value if isinstance(value, Options | Dtype) else None)
        kind = name.removesuffix("_like")
        initialized, zero = _CREATE[kind]
        # preserve_format: contiguous only if the argument is; dense in any case
        return allocate(
            run, hint, first.dims, dtype or dtype_name(run, first), initialized=initialized, zero=zero,
            layout="contiguous" if is_contiguous(run, first) else "dense",
        )  # fmt: skip
    if name in _SAME_SHAPE:
        dtype = "bool" if name in _COMPARISONS else dtype_name(run, first)
        if (
            dtype not in _FLOATS
            and dtype != "bool"
            and name not in ("clone", "neg", "abs", "flip", "tril", "triu")
        ):
            dtype = None  # torch promotes ints here
        if isinstance(kwargs.get("inplace"), Bool) and kwargs["inplace"] != FALSE:
            run.write(first.storage)
            return first
        return allocate(run, hint, first.dims, dtype, initialized=True, layout=_kept(run, first))
    if name in _MAYBE_SELF or name in (
        "view",
        "reshape",
        "flatten",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "t",
    ):
        return call_method(run, first, name, args[1:], kwargs, span, hint)
    return _combination(run, name, args, kwargs, hint)


def allocate_unknown(run: Run, hint: str, dtype: str | None) -> Tensor:
    """Memory of its own, dims not known."""
    tensor = run.free_tensor(hint, dtype)
    storage = run.storages[tensor.storage]
    storage.caller, storage.align = True, DEVICE_ALIGN
    run.shapes[tensor.key].why = f"{hint} is computed in a way that is not followed"
    return tensor


def _combination(run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str) -> Value:
    """Operations of several tensors and reductions."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    if not tensors:
        return Unknown(f"{name}()")
    first = tensors[0]
    dtype = dtype_name(run, first)
    if dtype not in _FLOATS or "dtype" in kwargs or any(isinstance(a, Dtype) for a in args):
        dtype = None  # sums of ints are int64, indices too
    if name in _BROADCAST:
        out = broadcast(run, tensors)
        result = "bool" if name in _COMPARISONS else _promoted(run, name, args)
        if out is None:
            return allocate_unknown(run, hint, result)
        return allocate(run, hint, out, result, initialized=True, layout="free")
    handler = _SHAPES.get(name)
    dims = handler(run, args, kwargs) if handler else None
    if dims is None:
        if name in _ALLOCATING:
            return allocate_unknown(run, hint, dtype)
        return opaque(run, hint, f"{name}()", dtype)
    return allocate(run, hint, dims, dtype, initialized=True, layout="free")


def broadcast(run: Run, tensors: Sequence[Tensor]) -> tuple[Int, ...] | Shape | None:
    """The common shape, only where it is certain: equal texts, or ones."""
    if all(t.dims == tensors[0].dims for t in tensors):
        return tensors[0].dims
    all_dims = [dims_of(run, t) for t in tensors]
    if any(d is None for d in all_dims):
        return None
    known = [d for d in all_dims if d is not None]
    rank = max(len(d) for d in known)
    out: list[Int] = []
    for index in range(-rank, 0):
        column = [d[index] for d in known if len(d) >= -index]
        big = [c for c in column if c.value != 1]
        if not big:
            out.append(const(1))
        elif all(c.text == big[0].text for c in big):
            out.append(big[0])
        else:
            return None
    return tuple(out)


def _promoted(run: Run, name: str, args: Sequence[Value]) -> str | None:
    """The dtype of a binary operation, only where torch's promotion cannot change it."""
    found = {dtype_name(run, a) for a in args if isinstance(a, Tensor)}
    dtype = next(iter(found)) if len(found) == 1 else None
    if dtype in _FLOATS:
        return dtype
    floating = any(isinstance(a, Float | Unknown) for a in args) or name in (
        "div",
        "true_divide",
        "pow",
        "where",
        "atan2",
    )
    return None if floating else dtype


def _joined(run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str) -> Tensor:
    """``cat`` adds up one dim; torch throws where the others differ. ``stack`` puts a new dim first."""
    items = args[0].items if args and isinstance(args[0], Items) else ()
    along = args[1] if len(args) > 1 else kwargs.get("dim", const(0))
    known = [dims_of(run, t) for t in items if isinstance(t, Tensor)]
    found = {dtype_name(run, t) for t in items if isinstance(t, Tensor)}
    dtype = next(iter(found)) if len(found) == 1 else None
    at = along.value if isinstance(along, Int) else None
    all_dims = [d for d in known if d is not None]
    if not items or len(all_dims) != len(items) or at is None or len({len(d) for d in all_dims}) != 1:
        return allocate_unknown(run, hint, dtype)
    rank = len(all_dims[0])
    if name == "stack":
        at %= rank + 1
        return allocate(
            run,
            hint,
            (*all_dims[0][:at], const(len(items)), *all_dims[0][at:]),
            dtype,
            initialized=True,
            layout="contiguous",
        )
    at %= rank
    total = convert(all_dims[0][at], PY)
    for other in all_dims[1:]:
        more = arith("+", total, convert(other[at], PY), PY)
        if more is None:
            return allocate_unknown(run, hint, dtype)
        total = more
    dims = (*all_dims[0][:at], total, *all_dims[0][at + 1 :])
    return allocate(run, hint, dims, dtype, initialized=True, layout="dense")


Handler = Callable[[Run, Sequence[Value], Mapping[str, Value]], "tuple[Int, ...] | None"]


def _matmul(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    a, b = (dims_of(run, t) if isinstance(t, Tensor) else None for t in args[:2])
    if a is None or b is None or len(a) < 2 or len(b) < 2 or len(a) != len(b):
        if a is not None and b is not None and len(b) == 2 and len(a) >= 2:
            return (*a[:-1], b[-1])
        return None
    if any(x.text != y.text for x, y in zip(a[:-2], b[:-2], strict=True)):
        return None
    return (*a[:-1], b[-1])


def _linear(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    a, b = (dims_of(run, t) if isinstance(t, Tensor) else None for t in args[:2])
    return None if a is None or b is None or len(b) != 2 else (*a[:-1], b[0])


def _reduction(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    """sum, mean, amax …: all dims, one dim or several; ``keepdim``."""
    tensor = args[0]
    dims = dims_of(run, tensor) if isinstance(tensor, Tensor) else None
    which = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if which is None:
        return ()
    keep = kwargs.get("keepdim", args[2] if len(args) > 2 else FALSE)
    at = int_list([which])
    if (
        dims is None
        or at is None
        or any(i.value is None for i in at)
        or not isinstance(keep, Bool)
        or keep.value is None
    ):
        return None
    if len(args) > 2 and not isinstance(args[2], Bool):
        return None
    gone = {i.value % len(dims) for i in at if i.value is not None}
    return tuple(const(1) if i in gone else d for i, d in enumerate(dims) if i not in gone or keep.value)


_SHAPES: dict[str, Handler] = {
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "linear": _linear,
    "sum": _reduction,
    "mean": _reduction,
    "prod": _reduction,
    "amax": _reduction,
    "amin": _reduction,
    "logsumexp": _reduction,
}
_ALLOCATING = frozenset(
    "matmul mm bmm linear sum mean prod amax amin var std logsumexp argmax argmin conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d einsum addmm baddbmm "
    "norm cat stack repeat index_select gather dot outer bitwise_and adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d cross_entropy mse_loss".split()
)


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
