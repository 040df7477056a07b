"""Layers of torch.nn as the caller builds them: parameters with shapes, and what calling one does to a shape.

Example: ``nn.Linear(in_features, out_features)`` has ``weight`` of dims ``(out_features, in_features)``; called on
``(batch, in_features)`` it gives ``(batch, out_features)``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specs.location import Span
from verifier.contracts import tensors, torch_ops, views
from verifier.contracts.objects import Float, Items, Null, Tensor, Text, Unknown, Value
from verifier.contracts.run import Run, Storage
from verifier.contracts.values import DIM_MAX, FALSE, PY, TRUE, Bool, Int, arith, compare, const, convert

_CONV = {"Conv1d": (1, False), "Conv2d": (2, False), "Conv3d": (3, False), "ConvTranspose1d": (1, True),
         "ConvTranspose2d": (2, True), "ConvTranspose3d": (3, True)}  # fmt: skip
_CONV_NAMES = (
    "in_channels",
    "out_channels",
    "kernel_size",
    "stride",
    "padding",
    "dilation",
    "groups",
    "bias",
)
_TRANSPOSED = (
    "in_channels",
    "out_channels",
    "kernel_size",
    "stride",
    "padding",
    "output_padding",
    "groups",
    "bias",
    "dilation",
)
_POOL = {"MaxPool1d": 1, "MaxPool2d": 2, "MaxPool3d": 3, "AvgPool1d": 1, "AvgPool2d": 2, "AvgPool3d": 3}
_IN_PLACE = {
    "ReLU": 0, "ReLU6": 0, "SELU": 0, "SiLU": 0, "Mish": 0, "Hardsigmoid": 0, "Hardswish": 0, "ELU": 1, "CELU": 1, "LeakyReLU": 1,
    "Hardtanh": 2, "RReLU": 2, "Threshold": 2,
}  # fmt: skip
"""Where ``inplace`` stands among the arguments."""
_NORM = frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm".split()
)
_SAME = frozenset(
    "ReLU ReLU6 GELU SiLU Sigmoid Tanh Softmax LogSoftmax Softplus Softsign LeakyReLU ELU SELU Hardtanh Hardswish Hardsigmoid "
    "Mish Dropout Dropout2d Dropout3d CELU Threshold LogSigmoid Softmin PReLU".split()
)


births = itertools.count(1).__next__
"""Numbers the objects of a Python caller, so that what was there before a moment is known."""

_ALLOCATING = (
    "Adaptive",
    "Embedding",
    "Bilinear",
    "LPPool",
    "MaxUnpool",
    "FractionalMaxPool",
    "LSTM",
    "GRU",
    "RNN",
)


@dataclass(slots=True, eq=False)
class Layer:
    """``kind`` is the class name in torch.nn. ``attributes``: weight, bias and the constructor's values.

    ``changed``: the caller has set some of them, so what it does is not known. ``born`` as that of the caller's objects.
    """

    kind: str
    attributes: dict[str, Value] = field(default_factory=dict)
    changed: bool = False
    born: int = field(default_factory=births)


def parameter(run: Run, name: str, dims: tuple[Int, ...] | None, dtype: str | None = "f32") -> Tensor:
    """A tensor that the module owns: memory of its own, contiguous."""
    if dims is None:
        out = tensors.allocate_unknown(run, name, dtype)
        return tensors.replace(out, layout="contiguous")
    dims = tuple(sized(d) for d in dims)
    key = run.unique(name)
    storage = Storage(
        dtype,
        None,
        dims,
        how="argument",
        align=tensors.DEVICE_ALIGN,
        host_name=name,
        caller=True,
        contiguous=True,
    )
    run.add_storage(key, storage)
    run.caller_dims.append(dims)
    return Tensor(key, dims, dtype, key, "contiguous", host_name=name)


def sized(dim: Int) -> Int:
    """A dim as torch holds it: an int64, whatever the caller computed it with."""
    return Int(
        dim.text, max(dim.lo or 0, 0), DIM_MAX if dim.hi is None else min(dim.hi, DIM_MAX), "i64", dim.taint
    )


def _bound(names: Sequence[str], args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    return dict(zip(names, args, strict=False)) | {k: v for k, v in kwargs.items() if k in names}


def _tuple(value: Value | None, count: int, default: int) -> tuple[Int, ...] | None:
    if value is None:
        return tuple(const(default, PY) for _ in range(count))
    if isinstance(value, Int):
        return tuple(value for _ in range(count))
    if (
        isinstance(value, Items)
        and len(value.items) == count
        and all(isinstance(i, Int) for i in value.items)
    ):
        return tuple(i for i in value.items if isinstance(i, Int))
    return None


def build(run: Run, kind: str, args: Sequence[Value], kwargs: Mapping[str, Value], name: str) -> Layer:
    """``nn.kind(*args, **kwargs)`` assigned to an attribute called ``name``."""
    layer = Layer(kind)
    if kind == "Linear":
        given = _bound(("in_features", "out_features", "bias"), args, kwargs)
        layer.attributes |= given
        dims = (given.get("out_features"), given.get("in_features"))
        known = tuple(d for d in dims if isinstance(d, Int))
        layer.attributes["weight"] = parameter(run, f"{name}_weight", known if len(known) == 2 else None)
        has_bias = given.get("bias")
        _bias(run, layer, f"{name}_bias", dims[0] if isinstance(dims[0], Int) else None, has_bias)
    elif kind in _CONV:
        _build_conv(run, layer, args, kwargs, name)
    elif kind in _POOL:
        names = ("kernel_size", "stride", "padding", *(("dilation",) if kind.startswith("Max") else ()))
        layer.attributes |= _bound(names, args, kwargs)
        if len(args) > len(names) or set(kwargs) - {*names, "count_include_pad"}:
            layer.attributes["not followed"] = Null()  # ceil_mode, return_indices
        layer.attributes.setdefault("stride", layer.attributes.get("kernel_size", Null()))
    elif kind in _NORM:
        _build_norm(run, layer, args, kwargs, name)
    elif kind == "Embedding":
        given = _bound(("num_embeddings", "embedding_dim"), args, kwargs)
        sizes = (given.get("num_embeddings"), given.get("embedding_dim"))
        both = tuple(v for v in sizes if isinstance(v, Int))
        if "_weight" in kwargs or len(args) > 7:
            layer.attributes["weight"] = kwargs.get("_weight", Unknown("the weight that is given"))
        else:
            layer.attributes["weight"] = parameter(run, f"{name}_weight", both if len(both) == 2 else None)
    elif kind == "Flatten":
        layer.attributes |= _bound(("start_dim", "end_dim"), args, kwargs)
    else:
        layer.attributes |= dict(kwargs)
        layer.attributes |= {f"_{i}": a for i, a in enumerate(args)}
    followed = all(isinstance(a, Int | Float | Bool | Items | Null | Tensor | Text) for a in args)
    if not followed or not isinstance(kwargs.get("dtype", Null()), Null):
        for key, value in layer.attributes.items():
            if isinstance(value, Tensor):
                run.storages[value.storage].dtype = None
                layer.attributes[key] = tensors.replace(value, dtype=None)
    return layer


def _bias(run: Run, layer: Layer, name: str, count: Int | None, wanted: Value | None) -> None:
    _optional(run, layer, "bias", name, None if count is None else (count,), wanted)


def _optional(
    run: Run, layer: Layer, key: str, name: str, dims: tuple[Int, ...] | None, wanted: Value | None
) -> None:
    """A parameter that is there if ``wanted`` says so (by default); else the attribute is None."""
    if wanted == FALSE:
        layer.attributes[key] = Null()
    elif wanted is None or wanted == TRUE:
        layer.attributes[key] = parameter(run, name, dims)
    else:
        layer.attributes[key] = Unknown(f"an optional {key}")


def _build_conv(
    run: Run, layer: Layer, args: Sequence[Value], kwargs: Mapping[str, Value], name: str
) -> None:
    rank, transposed = _CONV[layer.kind]
    given = _bound(_TRANSPOSED if transposed else _CONV_NAMES, args, kwargs)
    layer.attributes |= given
    kernel, groups = _tuple(given.get("kernel_size"), rank, 1), given.get("groups", const(1, PY))
    first, second = given.get("in_channels"), given.get("out_channels")
    dims: tuple[Int, ...] | None = None
    if kernel and isinstance(first, Int) and isinstance(second, Int) and isinstance(groups, Int):
        ins, outs = (second, first) if transposed else (first, second)
        per_group = arith("/", ins, groups, PY)
        dims = (outs, per_group, *kernel) if per_group is not None else None
    layer.attributes["weight"] = parameter(run, f"{name}_weight", dims)
    _bias(run, layer, f"{name}_bias", second if isinstance(second, Int) else None, given.get("bias"))
    for key, default in (
        ("stride", 1),
        ("padding", 0),
        ("dilation", 1),
        ("kernel_size", 1),
        ("output_padding", 0),
    ):
        both = _tuple(given.get(key), rank, default)
        layer.attributes[key] = Items(both) if both is not None else Unknown(key)
    layer.attributes["groups"] = groups


def _build_norm(
    run: Run, layer: Layer, args: Sequence[Value], kwargs: Mapping[str, Value], name: str
) -> None:
    tracking = ("num_features", "eps", "momentum", "affine", "track_running_stats")
    names, position = {
        "GroupNorm": (("num_groups", "num_channels", "eps", "affine"), 1),
        "LayerNorm": (("normalized_shape", "eps", "elementwise_affine", "bias"), 0),
    }.get(layer.kind, (tracking, 0))
    given = _bound(names, args, kwargs)
    layer.attributes |= given
    count = given.get(names[position])
    dims = tensors.int_list([count]) if count is not None else None
    shape = tuple(dims) if dims else None
    default = FALSE if layer.kind.startswith("InstanceNorm") else TRUE
    affine = given.get("elementwise_affine", given.get("affine", default))
    bias = affine if affine != TRUE else given.get("bias", TRUE)
    _optional(run, layer, "weight", f"{name}_weight", shape, affine)
    _optional(run, layer, "bias", f"{name}_bias", shape, bias)
    if names is tracking:
        kept = given.get("track_running_stats", default)
        _optional(run, layer, "running_mean", f"{name}_running_mean", shape, kept)
        _optional(run, layer, "running_var", f"{name}_running_var", shape, kept)


def apply(
    run: Run, layer: Layer, args: Sequence[Value], kwargs: Mapping[str, Value], span: Span, hint: str
) -> Value:
    """``layer(x)``; a call with more than that is not followed."""
    x = args[0] if args else Unknown("no argument")
    if not isinstance(x, Tensor):
        return Unknown(f"the result of {layer.kind}")
    if layer.kind == "Identity":
        return x
    if layer.kind in ("LSTM", "GRU", "RNN", "LSTMCell", "MultiheadAttention"):
        return Unknown(f"the results of {layer.kind}")
    if layer.changed or len(args) > 1 or kwargs:
        of = [*args, *kwargs.values()]
        return tensors.opaque(run, hint, f"{layer.kind} that the caller has changed", None, of)
    if layer.kind in _SAME or layer.kind in _NORM:
        others = [v for k, v in layer.attributes.items() if k.startswith("_")]
        given = layer.attributes.get(f"_{_IN_PLACE.get(layer.kind, -1)}", FALSE)
        if (
            layer.kind.startswith("Dropout")
            or given != FALSE
            or layer.attributes.get("inplace", FALSE) != FALSE
            or any(not isinstance(v, Int | Float | Text) and v != FALSE for v in others)
        ):
            # in place, or in evaluation mode, the very memory comes back
            run.write(x.storage)
            return views.maybe_self(run, x, "to", [], {}, hint)
        return torch_ops.call_function(run, "relu", [x], {}, span, hint)
    if layer.kind == "Flatten":
        start = layer.attributes.get("start_dim", const(1, PY))
        return torch_ops.call_method(
            run, x, "flatten", [start, layer.attributes.get("end_dim", const(-1, PY))], {}, span, hint
        )
    if layer.kind == "Linear":
        weight = layer.attributes["weight"]
        dims_in, features = tensors.dims_of(run, x), layer.attributes.get("in_features")
        if dims_in and isinstance(features, Int):
            run.assume(compare("==", dims_in[-1], convert(features, PY)), span)
        return torch_ops.call_function(run, "linear", [x, weight], {}, span, hint)
    dims = tensors.dims_of(run, x)
    _same_channels(run, layer, dims, span)
    out = None
    if dims is not None and layer.kind in _CONV:
        out = _conv_dims(run, layer, dims, span)
    elif dims is not None and layer.kind in _POOL:
        out = _pool_dims(run, layer, dims, span)
    dtype = tensors.dtype_name(run, x)
    if dtype not in ("f16", "bf16", "f32", "f64"):
        dtype = None  # an embedding takes indices
    if out is not None:
        return tensors.allocate(run, hint, out, dtype, initialized=True, layout="free")
    if layer.kind in _CONV or layer.kind in _POOL or layer.kind.startswith(_ALLOCATING):
        return tensors.allocate_unknown(run, hint, dtype)
    return tensors.opaque(run, hint, f"the result of {layer.kind}", dtype, [x])


def _same_channels(run: Run, layer: Layer, dims: tuple[Int, ...] | None, span: Span) -> None:
    """A convolution throws unless the input has its channels."""
    channels = layer.attributes.get("in_channels")
    if (
        layer.kind in _CONV
        and dims is not None
        and len(dims) == _CONV[layer.kind][0] + 2
        and isinstance(channels, Int)
    ):
        run.assume(compare("==", dims[1], convert(channels, PY)), span)


def _extent(
    run: Run, size: Int, kernel: Int, stride: Int, padding: Int, dilation: Int, span: Span
) -> Int | None:
    """``(n + 2p - d(k - 1) - 1) // s + 1``; torch throws where the padded input is smaller than the kernel."""

    def op(sign: str, a: Int | None, b: Int | None) -> Int | None:
        return None if a is None or b is None else arith(sign, a, b, PY)

    reach = op("*", dilation, op("-", kernel, const(1, PY)))
    free = op("-", op("-", op("+", size, op("*", const(2, PY), padding)), reach), const(1, PY))
    if free is None:
        return None
    run.assume(compare(">=", free, const(0, PY)), span)
    free = Int(free.text, 0, free.hi, PY, free.taint)
    run.assume(compare(">=", stride, const(1, PY)), span)
    step = Int(stride.text, max(stride.lo or 1, 1), stride.hi, PY, stride.taint)
    return op("+", op("/", free, step), const(1, PY))


def _transposed_extent(
    size: Int, kernel: Int, stride: Int, padding: Int, dilation: Int, output: Int
) -> Int | None:
    """``(n - 1)s - 2p + d(k - 1) + o + 1``."""

    def op(sign: str, a: Int | None, b: Int | None) -> Int | None:
        return None if a is None or b is None else arith(sign, a, b, PY)

    one = const(1, PY)
    grown = op("*", op("-", size, one), stride)
    cut = op("-", grown, op("*", const(2, PY), padding))
    return op("+", op("+", op("+", cut, op("*", dilation, op("-", kernel, one))), output), one)


def _conv_dims(run: Run, layer: Layer, dims: tuple[Int, ...], span: Span) -> tuple[Int, ...] | None:
    rank, transposed = _CONV[layer.kind]
    channels = layer.attributes.get("out_channels")
    parts = [layer.attributes[k] for k in ("kernel_size", "stride", "padding", "dilation", "output_padding")]
    if len(dims) != rank + 2 or not isinstance(channels, Int) or any(not isinstance(p, Items) for p in parts):
        return None
    columns = [p.items for p in parts if isinstance(p, Items)]
    out: list[Int] = [dims[0], channels]
    for axis in range(rank):
        k, s, p, d, o = (c[axis] for c in columns)
        size = dims[axis + 2]
        found = (
            _transposed_extent(size, k, s, p, d, o) if transposed else _extent(run, size, k, s, p, d, span)
        )
        if found is None:
            return None
        if transposed:
            run.assume(compare(">=", found, const(0, PY)), span)
            found = Int(found.text, 0, found.hi, PY, found.taint)
        out.append(found)
    return tuple(out)


def _pool_dims(run: Run, layer: Layer, dims: tuple[Int, ...], span: Span) -> tuple[Int, ...] | None:
    rank = _POOL[layer.kind]
    if len(dims) != rank + 2 or "not followed" in layer.attributes:
        return None
    columns = [
        _tuple(layer.attributes.get(key), rank, default)
        for key, default in (("kernel_size", 1), ("stride", 1), ("padding", 0), ("dilation", 1))
    ]
    if any(c is None for c in columns):
        return None
    out: list[Int] = [dims[0], dims[1]]
    for axis in range(rank):
        k, s, p, d = (c[axis] for c in columns if c is not None)
        found = _extent(run, dims[axis + 2], k, s, p, d, span)
        if found is None:
            return None
        out.append(found)
    return tuple(out)
