"""What torch's operations do to shape, dtype, memory and layout. One table for C++ and Python callers.

An operation without an entry gives a tensor of which nothing is known, in memory that may overlap anything; a new
allocation is separate memory only where torch always allocates.

Example::

    y = call_method(run, x, "contiguous", [], {}, span)     # same dims, layout known, storage maybe that of x
    z = call_function(run, "zeros", [Items((n, m))], {}, span)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specs.location import Span
from verifier.contracts.objects import (
    Chosen,
    Dtype,
    Float,
    Items,
    Null,
    Options,
    Shape,
    Sizes,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Run
from verifier.contracts.tensors import (
    allocate,
    allocate_unknown,
    dims_of,
    dtype_argument,
    dtype_name,
    dtype_value,
    free_rank,
    is_contiguous,
    numel,
    opaque,
    out_of_reach,
    overlapping,
    rank_of,
    replace,
    require_sizes,
    shape_argument,
    size,
)
from verifier.contracts.torch_shapes import NAMED, REDUCED_BY, SHAPES
from verifier.contracts.values import (
    FALSE,
    PY,
    Bool,
    Int,
    arith,
    const,
    convert,
)
from verifier.contracts.views import (
    contiguous,
    expand,
    flatten,
    maybe_self,
    other_view,
    permute,
    reinterpret,
    row,
    squeeze,
    stride,
    unfold,
    unfollowed,
    view,
)

IN_PLACE = {
    "relu": 1, "relu6": 1, "hardtanh": 3, "elu": 2, "selu": 1, "celu": 2, "leaky_relu": 2, "rrelu": 4, "silu": 1, "mish": 1,
    "hardsigmoid": 1, "hardswish": 1, "threshold": 3,
}  # fmt: skip
"""Functions of torch.nn.functional with a parameter ``inplace``, and where it stands."""
_PLAIN = Int | Float | Text | Null

_FLOATS = ("f16", "bf16", "f32", "f64")

_SAME_SHAPE = frozenset(
    "abs sqrt rsqrt exp log tanh sigmoid relu softmax log_softmax neg clamp square sin cos floor ceil round gelu silu elu selu "
    "leaky_relu relu6 hardtanh hardsigmoid hardswish softplus softsign mish logsigmoid normalize erf exp2 log2 log1p expm1 "
    "reciprocal sign cumsum cumprod flip tril triu clone rand_like randn_like zeros_like ones_like empty_like full_like "
    "masked_fill layer_norm batch_norm instance_norm group_norm logical_not isnan isinf softmin tan celu threshold".split()
)

_INPLACE_SAME = frozenset(
    "mul_ add_ sub_ div_ clamp_ relu_ zero_ fill_ copy_ exp_ sqrt_ masked_fill_ uniform_ normal_ bernoulli_ detach_ "
    "requires_grad_ scatter_ scatter_add_ index_put_ tanh_ sigmoid_ abs_ neg_ pow_ clamp_min_ clamp_max_ random_ "
    "exponential_ log_normal_ cauchy_ geometric_ rsqrt_ sin_ cos_ tan_ floor_ ceil_ round_ trunc_ log_ log2_ log10_ log1p_ "
    "exp2_ expm1_ square_ reciprocal_ sign_ erf_ addmm_ addcmul_ addcdiv_ addmv_ baddbmm_ lerp_ masked_scatter_ index_fill_ "
    "index_copy_ index_add_ fmod_ remainder_ floor_divide_ true_divide_ multiply_ subtract_ divide_ negative_ "
    "fill_diagonal_ nan_to_num_".split()
)

_REBINDING = frozenset(
    "swap reset set_data unsafeGetTensorImpl unsafeReleaseTensorImpl getIntrusivePtr mutable_grad storage unsafe_storage "
    "resize_as set_ operator=".split()
)


def changes_handle(name: str) -> bool:
    """Whether a function or method of PyTorch may make a tensor that it is given another one, or give it other sizes.

    PyTorch's own naming: what changes its argument ends in ``_``, ``_out`` or ``_outf``; of the first kind those known
    to keep the sizes are told apart.
    """
    return (
        name in _REBINDING
        or name.endswith(("_out", "_outf"))
        or (name.endswith("_") and name not in _INPLACE_SAME)
    )


_BROADCAST = frozenset(
    "add sub mul div pow maximum minimum where eq ne lt gt le ge fmod remainder true_divide atan2".split()
)

_COMPARISONS = frozenset("eq ne lt gt le ge logical_not isnan isinf".split())

_MAYBE_SELF = frozenset(
    "to cuda cpu type_as detach data alias float half double long int bool bfloat16 type requires_grad_".split()
)


def may_convert(name: str) -> bool:
    """Whether a method may give the same tensor, with another dtype or on another device."""
    return name in _MAYBE_SELF


CREATE = {"empty": (False, False), "zeros": (True, True), "ones": (True, False), "full": (True, False), "rand": (True, False),
           "randn": (True, False), "randint": (True, False)}  # fmt: skip

_CREATED_BY = frozenset("size dtype device requires_grad pin_memory fill_value generator low high".split())
"""Keyword arguments of creation functions that leave layout and shape as the others say."""

_NEW = {"new_empty": "empty", "new_zeros": "zeros", "new_ones": "ones", "new_full": "full"}


def _within_reach(run: Run, made: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """What is computed of CPU tensors alone is one, unless it is told where to be."""
    told = not isinstance(kwargs.get("device", Null()), Null) or any(isinstance(v, Options) for v in args)
    if isinstance(made, Tensor) and not told and not run.storages[made.storage].gap:
        run.storages[made.storage].gap = out_of_reach(run, [*args, *kwargs.values()])
    return made


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
    made = _method(run, tensor, name, args, kwargs, span, hint)
    own = name not in _MAYBE_SELF and name != "pin_memory"
    return _within_reach(run, made, [tensor, *args], kwargs) if own else made


def _method(
    run: Run,
    tensor: Tensor,
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    span: Span,
    hint: str,
) -> Value:
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
            return const(rank) if rank is not None else free_rank(run, tensor)
        case "element_size" | "itemsize":
            dtype = dtype_name(run, tensor)
            from verifier.contracts.values import SIZES

            return const(SIZES[dtype]) if dtype else Unknown("element size")
        case "stride":
            return stride(run, tensor, args)
        case "contiguous":
            return (
                _alike(run, opaque(run, hint, "a memory format", tensor.dtype, [tensor]))
                if args or kwargs
                else contiguous(run, tensor)
            )
        case "new_empty_strided" | "as_strided" | "broadcast_to" | "expand" | "unfold" if (
            kwargs or name.endswith("_strided")
        ):
            return unfollowed(
                run, replace(tensor, layout="other"), hint, f"{name}() that is not followed", None
            )
        case "unsqueeze" | "squeeze" | "view" | "reshape" | "transpose" | "permute" | "swapaxes" if (
            kwargs or (name in ("view", "reshape") and not args)
        ):
            return unfollowed(run, tensor, hint, f"{name}() by names", None, False)
        case "view" | "reshape":
            return view(run, tensor, name, args, span, hint)
        case "flatten":
            return flatten(run, tensor, args, kwargs, hint)
        case "squeeze" | "unsqueeze":
            return squeeze(run, tensor, name, args, hint)
        case "view_as" | "reshape_as" | "expand_as" if args and isinstance(args[0], Tensor):
            other = args[0]
            if name == "expand_as":
                return other_view(run, tensor, other.dims, hint)
            return reinterpret(run, tensor, other.dims, name == "reshape_as", hint)
        case "expand" | "broadcast_to":
            return expand(run, tensor, args, hint)
        case "transpose" | "permute" | "t" | "T" | "mT" | "movedim" | "swapaxes":
            return permute(run, tensor, name, args, hint)
        case "select" if len(args) == 2 and isinstance(args[0], Int) and args[0].value == 0:
            return row(run, tensor, args[1], span, hint)
        case "unfold":
            return unfold(run, tensor, args, span, hint)
        case "options":
            return Options(Dtype(tensor.dtype, tensor), "like")
        case "dtype" | "scalar_type" | "type" if not args:
            return Dtype(dtype_name(run, tensor), tensor)
        case "clone":
            layout = "dense" if args or kwargs else _kept(run, tensor)
            held = run.storages.get(tensor.storage)  # a copy of what nobody wrote is as undefined
            written = held is None or held.initialized
            return _alike(
                run,
                allocate(run, hint, tensor.dims, dtype_name(run, tensor), initialized=written, layout=layout),
            )
        case _ if name in _NEW:
            shape = shape_argument(run, args[:1] if name == "new_full" else args) if args else None
            if not set(kwargs) <= _CREATED_BY or "size" in kwargs:
                shape = None
            dtype = dtype_argument(run, kwargs) if "dtype" in kwargs else dtype_name(run, tensor)
            made = _create(run, _NEW[name], shape, dtype, span, hint)
            own = isinstance(made, Tensor) and ("dtype" not in kwargs or _of_a_tensor(kwargs["dtype"]))
            return _alike(run, made) if own and isinstance(made, Tensor) else made
        case _ if name in _MAYBE_SELF:
            return maybe_self(run, tensor, name, args, kwargs, hint)
        case _ if name in _INPLACE_SAME:
            run.write(tensor.storage)
            if name in ("zero_", "fill_", "uniform_", "normal_", "bernoulli_"):
                run.storages[tensor.storage].initialized = True
            return tensor
        case _:
            made = call_function(run, name, [tensor, *args], kwargs, span, hint)
            if isinstance(made, Tensor) and name in _PARTS and tensor.layout == "other":
                run.storages[made.storage].gap = overlapping(tensor)
            return made


def _alike(run: Run, made: Tensor) -> Tensor:
    """Where its dtype is not known, it is that of the tensor it was made like."""
    run.storages[made.storage].like = made.dtype is None
    return made


def _of_a_tensor(value: Value) -> bool:
    """A dtype, or options, that are those of a tensor."""
    match value:
        case Dtype(of=of):
            return of is not None
        case Options(dtype=inner):
            return inner is None or inner.of is not None
    return False


def _kept(run: Run, tensor: Tensor) -> Any:
    return "contiguous" if is_contiguous(run, tensor) else "free"


_PARTS = frozenset(
    "narrow chunk select diagonal squeeze unsqueeze flatten movedim swapaxes moveaxis ravel unflatten view_as T mT".split()
)
"""Views that are not followed further: they lie where their source does."""


def _create(
    run: Run, name: str, dims: tuple[Int, ...] | Shape | None, dtype: str | None, span: Span, hint: str
) -> Value:
    initialized, zero = CREATE[name]
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
        require_sizes(run, dims, span)
        dims = tuple(d if d.type == PY else convert(d, "i64") for d in dims)
        dims = tuple(Int(d.text, max(d.lo or 0, 0), d.hi, d.type, d.taint) for d in dims)
    made = allocate(run, hint, dims, dtype, initialized=initialized, zero=zero)
    run.storages[made.storage].sized = not isinstance(dims, Shape)
    return made


def call_function(
    run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], span: Span, hint: str = ""
) -> Value:
    """``torch.name(*args, **kwargs)``, ``at::name(…)``, ``F.name(…)``."""
    if name == "where" and len(args) + len(kwargs) < 3:
        return Unknown("where() of a condition alone")  # lists of indices
    made = _function(run, name, args, kwargs, span, hint)
    return made if name in _MAYBE_SELF else _within_reach(run, made, args, kwargs)


def _function(
    run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], span: Span, hint: str
) -> Value:
    hint = hint or name
    first = args[0] if args else None
    if name in CREATE:
        rest = list(args)
        dtype = dtype_argument(run, kwargs)
        options = [v for v in rest if isinstance(v, Options | Dtype)]
        for option in options:
            dtype = dtype or dtype_value(run, option)
        shape_values: list[Value] = [v for v in rest if isinstance(v, Int | Items | Sizes | Chosen)]
        if name in ("full", "randint"):
            shape_values = [v for v in rest if isinstance(v, Items | Sizes)]
        if "size" in kwargs:
            shape_values = [kwargs["size"]]
        filled = kwargs.get("fill_value", rest[1] if len(rest) > 1 else None)
        if (
            not options
            and "dtype" not in kwargs
            and (name != "full" or isinstance(filled, Float))
            and name != "randint"
        ):
            dtype = "f32"
        sizes = Int | Items | Sizes | Chosen if name not in ("full", "randint") else Int | Items | Sizes
        followed = all(isinstance(v, sizes | Options | Dtype | Float | Bool) for v in rest)
        followed = followed and set(kwargs) <= _CREATED_BY
        shape = shape_argument(run, shape_values) if followed and shape_values else None
        made_new = _create(run, name, shape, dtype, span, hint)
        sources = [*options, *([kwargs["dtype"]] if "dtype" in kwargs else [])]
        if isinstance(made_new, Tensor) and sources and all(_of_a_tensor(v) for v in sources):
            _alike(run, made_new)
        return made_new
    if name in ("cat", "stack", "concat"):
        return _joined(run, name, args, kwargs, hint)
    if not isinstance(first, Tensor):
        return _combination(run, name, args, kwargs, hint)
    if name.endswith("_like") and name in _SAME_SHAPE:
        dtype = dtype_argument(run, kwargs)
        for value in args[1:]:
            dtype = dtype or dtype_value(run, value if isinstance(value, Options | Dtype) else None)
        if "dtype" not in kwargs:
            dtype = dtype or dtype_name(run, first)
        kind = name.removesuffix("_like")
        initialized, zero = CREATE[kind]
        # preserve_format: contiguous only if the argument is; dense in any case
        given = any(not isinstance(v, Int | Float | Bool) and not _of_a_tensor(v) for v in args[1:])
        if any(not isinstance(v, Options | Dtype | Int | Float | Bool) for v in args[1:]):
            dtype = None
        plain = is_contiguous(run, first) and set(kwargs) <= _CREATED_BY
        made = allocate(
            run, hint, first.dims, dtype, initialized=initialized, zero=zero, layout="contiguous" if plain else "dense"
        )  # fmt: skip
        return made if given or "dtype" in kwargs else _alike(run, made)
    others = [v for v in (*args[1:], *kwargs.values()) if isinstance(v, Tensor | Unknown)]
    if name in ("clamp", "masked_fill") and others:  # the result is as large as both
        return _combination(run, name, [*args, *(v for v in kwargs.values() if v in others)], {}, hint)
    if name in _SAME_SHAPE:
        dtype = "bool" if name in _COMPARISONS else dtype_name(run, first)
        if "dtype" in kwargs:
            dtype = dtype_argument(run, kwargs)
        elif any(isinstance(a, Dtype | Unknown) for a in args[1:]):
            dtype = None
        moved = ("clone", "flip", "tril", "triu")
        keeps = name in (*moved, "neg", "abs") if dtype != "bool" else name in (*moved, *_COMPARISONS)
        if dtype not in _FLOATS and not keeps:
            dtype = None  # torch promotes ints and bools here
        if name in IN_PLACE and (
            kwargs.get("inplace", FALSE) != FALSE
            or any(not isinstance(v, _PLAIN) and v != FALSE for v in args[1:])
            or any(v != FALSE for v in args[IN_PLACE[name] :])
        ):
            run.write(first.storage)
            return maybe_self(run, first, "to", [], {}, hint)
        made = allocate(run, hint, first.dims, dtype, initialized=True, layout=_kept(run, first))
        kept = (
            dtype_name(run, first) is None
            and "dtype" not in kwargs
            and all(isinstance(v, _OPERANDS) for v in args)
        )
        return _alike(run, made) if kept else made
    if name in _MAYBE_SELF or name in (
        "view",
        "reshape",
        "flatten",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "t",
        "as_strided",
        "broadcast_to",
        "unfold",
    ):
        return call_method(run, first, name, args[1:], kwargs, span, hint)
    return _combination(run, name, args, kwargs, hint)


def _combination(run: Run, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], hint: str) -> Value:
    """Operations of several tensors and reductions."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    if not tensors:
        return Unknown(f"{name}()")
    first = tensors[0]
    dtype = dtype_name(run, first)
    if dtype not in _FLOATS or "dtype" in kwargs or any(not isinstance(a, _OPERANDS) for a in args):
        dtype = None  # sums of ints are int64, indices too
    if name in _BROADCAST or name in ("clamp", "masked_fill"):
        given = (*args, *(v for k, v in kwargs.items() if k not in ("alpha", "rounding_mode")))
        known = all(isinstance(v, Tensor | Int | Float | Bool) for v in given)
        tensors = [v for v in given if isinstance(v, Tensor)]
        out = broadcast(run, tensors) if known else None
        result = "bool" if name in _COMPARISONS else _promoted(run, name, given)
        if out is None:
            return allocate_unknown(run, hint, result)
        return allocate(run, hint, out, result, initialized=True, layout="free")
    handler = SHAPES.get(name)
    dims = handler(run, args, kwargs) if handler and set(kwargs) <= NAMED.get(name, REDUCED_BY) else None
    if dims is None:
        if name in _ALLOCATING:
            return allocate_unknown(run, hint, dtype)
        same = name in _SAME_DTYPE
        made = opaque(
            run, hint, f"{name}()", dtype if same else None, [*args, *kwargs.values()], name in _COPIES
        )
        return _alike(run, made) if same else made
    return allocate(run, hint, dims, dtype, initialized=True, layout="free")


_OPERANDS = Tensor | Int | Float | Bool | Items | Sizes | Text | Null


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
    if dtype == "bool" and not all(isinstance(a, Tensor) for a in args):
        return None  # True + 1 is an int64
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
    if (
        set(kwargs) - {"dim"}
        or not items
        or len(all_dims) != len(items)
        or at is None
        or len({len(d) for d in all_dims}) != 1
    ):
        return allocate_unknown(run, hint, dtype)
    rank = len(all_dims[0])
    if not rank:
        return allocate_unknown(run, hint, dtype)
    if name == "stack":
        at %= rank + 1
        return allocate(
            run,
            hint,
            (*all_dims[0][:at], const(len(items)), *all_dims[0][at:]),
            dtype,
            initialized=True,
            layout="contiguous"
            if all(is_contiguous(run, t) for t in items if isinstance(t, Tensor))
            else "dense",
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


_ALLOCATING = frozenset(
    "matmul mm bmm linear sum mean prod amax amin var std logsumexp conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d addmm baddbmm "
    "norm cat stack repeat index_select gather dot outer adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d cross_entropy mse_loss".split()
)

_SAME_DTYPE = frozenset(
    "einsum pad roll interpolate upsample narrow chunk select unfold diagonal rot90 pixel_shuffle pixel_unshuffle scatter "
    "scatter_add masked_select take tile repeat_interleave squeeze unsqueeze flatten movedim swapaxes moveaxis index".split()
)
"""Operations of which no more is known than that they keep the dtype."""

_COPIES = frozenset(
    "pad roll interpolate upsample rot90 pixel_shuffle pixel_unshuffle scatter scatter_add masked_select take tile "
    "repeat_interleave argmax argmin argsort floor_divide embedding one_hot bincount nonzero".split()
)
"""Those that always give memory without overlap."""
