"""What torch's C++ API means: methods of tensors, optionals, lists and options, and overloaded operators.

Tensors themselves are in ``torch_ops``; here are the types around them, and ``data_ptr``.

Example: ``x.data_ptr<float>()`` is a pointer to the storage of ``x``, and throws unless ``x`` has that dtype.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from verifier.contracts import elements, tensors, torch_ops, views
from verifier.contracts.objects import (
    Address,
    Device,
    Dtype,
    Float,
    Items,
    Iterator,
    Null,
    Optional,
    Options,
    Pointer,
    Record,
    Shape,
    Sizes,
    Strides,
    Tensor,
    Text,
    Unknown,
    Unlisted,
    Value,
)
from verifier.contracts.run import Dead, Refused
from verifier.contracts.values import (
    FALSE,
    PY,
    SIZES,
    TRUE,
    Bool,
    Int,
    arith,
    compare,
    const,
    convert,
    dtype_of,
    element_of,
    limits,
    lnot,
    symbol,
    truth,
)
from verifier.frontend.host import HostCode, Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator


def torch_call(host: Evaluator, name: str, nodes: list[Node], node: Node, hint: str) -> Value:
    if torch_ops.changes_handle(name):
        raise Refused(f"{host.span(node)}: {name}() changes a tensor in place")
    values = [host.eval(a) for a in nodes]
    if name in ("device", "dtype", "requires_grad", "layout"):
        dtype = next((v for v in values if isinstance(v, Dtype)), None)
        return Options(dtype, device_kind(values[0]) if name == "device" and values else "cpu")
    device = _device_given(nodes, values)
    if name == "from_blob":
        blob = tensors.opaque(host.run, hint or name, "torch::from_blob")
        return _elsewhere(host, blob, "torch::from_blob() does not look at how much memory there is")
    if name == "item":
        return Unknown("item()")
    if node["t"] != "at::Tensor":
        return Unknown(f"{host.span(node)}: {name}()")
    values = [
        v
        for v, a in zip(values, nodes, strict=True)
        if not (isinstance(v, Device) or _is_device(a) or (isinstance(v, Unknown) and v.why == "layout"))
    ]
    if name.endswith("_"):
        host.run.write_anywhere()
    made = torch_ops.call_function(host.run, name, values, {}, host.span(node), hint)
    if name in _MAKES and device == FIRST:
        if host.code.remember("devices", host.code.paths, lambda: _chooses_device(host.code)):
            device = "unknown"
        elif isinstance(made, Tensor) and made.storage in host.run.storages:
            host.run.storages[made.storage].on_first = True
    if name in _MAKES and device in ("", "cpu", "unknown"):
        return _elsewhere(
            host, made, "it is on a device that is not followed" if device == "unknown" else tensors.ON_CPU
        )
    return made


_MAKES = frozenset(
    (*torch_ops.CREATE, "tensor", "arange", "eye", "linspace", "logspace", "scalar_tensor", "from_blob")
)
"""What makes a tensor where the options say, on the CPU without them."""


FIRST = "cuda:0"


def numbered(given: list[Value]) -> str:
    """The kind of ``(torch::kCUDA, 0)``: device 0 is the current one of a program that chooses none."""
    number = given[1].value if len(given) == 2 and isinstance(given[1], Int) else None
    return FIRST if device_kind(given[0]) == "cuda" and number == 0 else "unknown"


def _chooses_device(code: HostCode) -> bool:
    """Whether anything in the host code may make another device the current one."""

    def walk(node: object) -> bool:
        if isinstance(node, list):
            return any(map(walk, node))
        if not isinstance(node, dict):
            return isinstance(node, str) and bool(_CHOICE.search(node))
        return any(walk(v) for k, v in node.items() if k != "s")

    return walk([*code.functions.values(), *code.globals]) or any(map(walk, code.unknown_names))


_CHOICE = re.compile(r"set_?(current_?)?device|Guard|CtxSet|CtxCreate|CtxPush|exchange_?device", re.I)


def device_kind(value: Value) -> str:
    """``cpu``, ``cuda``, ``cuda:0``, ``like`` for the device of a tensor, ``unknown``."""
    match value:
        case Device():
            return "like"
        case Options(device=device):
            return device
        case Int(value=0) | Int(value=1):
            return ("cpu", "cuda")[value.value or 0]
        case Text(value="cpu" | "cuda" | "cuda:0" as kind):
            return kind
    return "unknown"


def _is_device(node: Node) -> bool:
    return node["t"].removeprefix("const ").split(" ")[0] in ("c10::DeviceType", "c10::Device")


def _device_given(nodes: list[Node], values: list[Value]) -> str:
    """The device that the arguments name, "" where none does."""
    for argument, value in zip(nodes, values, strict=True):
        if isinstance(value, Options | Device) or _is_device(argument):
            return device_kind(value)
    return ""


def _elsewhere(host: Evaluator, made: Value, gap: str) -> Value:
    """A tensor that kernels cannot use: a launch that gets it has a gap."""
    if isinstance(made, Tensor) and made.storage in host.run.storages:
        host.run.storages[made.storage] = replace(host.run.storages[made.storage], gap=gap)
    return made


def method(host: Evaluator, node: Node, hint: str) -> Value:
    run, name = host.run, node["name"].split("::")[-1]
    if node["base"] is None:
        return Unknown(f"{name}()")
    nodes = [a for a in node["args"] if a["k"] != "default"]
    base = host.eval(node["base"])
    if isinstance(base, Address):
        base = host.load(base)
    if host.copies(node) and len(nodes) == 1:
        value = host.eval(nodes[0])
        host.assign(node["base"], value)
        return value
    if "fn" in node:
        for argument in nodes:
            host.havoc_node(argument)
        raise Refused(f"{host.span(node)}: a method of a class of the host code is not followed")
    match base:
        case Optional(value=inner):
            if name in ("has_value", "defined", "operator bool"):
                return tensors.defined(run, base)
            if name == "value_or":
                return (
                    inner if run.decide(tensors.defined(run, base), host.span(node)) else host.eval(nodes[0])
                )
            run.assume(tensors.defined(run, base), host.span(node))
            if name in ("value", "operator*", "operator->"):
                found: Value = inner
                return found
            base = inner
        case Null():
            if name in ("has_value", "defined", "operator bool"):
                return FALSE
            if name in ("value", "operator*", "operator->", "data_ptr"):
                raise Dead
            raise Refused(f"{host.span(node)}: {name}() of an undefined tensor or an empty optional")
    if isinstance(base, Tensor):
        return _tensor_method(host, base, name, nodes, node, hint)
    if name in ("has_value", "defined", "operator bool"):
        return TRUE if not isinstance(base, Unknown) else base
    if name in (
        "value",
        "get",
        "operator*",
        "operator->",
        "to",
        "toScalarType",
        "scalarType",
        "operator c10::ScalarType",
    ):
        if isinstance(base, Options):
            return base.dtype or Unknown("dtype")
        return base
    if isinstance(base, Options):
        if name == "dtype":
            if not nodes:
                return base.dtype or Unknown("dtype")
            dtype = host.eval(nodes[0])
            return replace(base, dtype=dtype if isinstance(dtype, Dtype) else Dtype(None))
        if name == "device":
            if not nodes:
                return Unknown("device")
            given = [host.eval(n) for n in nodes]
            return replace(base, device=numbered(given) if len(given) > 1 else device_kind(given[0]))
        return base
    if isinstance(base, Device):
        cuda = Bool(fact=("cuda", base.of.key, None))
        match name:
            case "is_cuda":
                return cuda
            case "is_cpu":
                return lnot(cuda)
            case "type":
                return base
        return Unknown(name)
    if isinstance(base, Sizes):
        return _sizes_method(host, base, name, nodes)
    if isinstance(base, Unlisted) and name == "size":
        label = f"{base.name}_count"
        if label not in run.symbols:
            run.fresh(label, "scalar", "u64", meaning=f"{base.name}.size()", lo=0, hi=1 << 40, low=0)
        return symbol(label, 0, 1 << 40, "u64")
    if isinstance(base, Items):
        return _items_method(host, base, name, nodes, node)
    if name == "stream" or name.startswith("operator CUstream"):
        return base
    if name in ("is_cuda", "is_cpu", "device", "type", "index"):
        return base if name in ("type",) and isinstance(base, Dtype) else Unknown(name)
    for argument in nodes:
        host.havoc_node(argument, False)
    if name.endswith("_"):
        run.write_anywhere()
    host.havoc_node(node["base"], name.endswith("_"))
    if node["t"] == "at::Tensor":
        return tensors.opaque(run, hint or name, f"{name}()")
    return Unknown(f"{host.span(node)}: {name}()")


def _tensor_method(
    host: Evaluator, base: Tensor, name: str, nodes: list[Node], node: Node, hint: str
) -> Value:
    run = host.run
    match name:
        case "data_ptr" | "data" | "const_data_ptr" | "mutable_data_ptr" if not nodes and node["t"].endswith(
            "*"
        ):
            return _data_pointer(host, base, node)
        case "is_cuda":
            return Bool(fact=("cuda", base.key, None))
        case "is_cpu":
            return lnot(Bool(fact=("cuda", base.key, None)))
        case "is_contiguous":
            if nodes:
                return Unknown("is_contiguous(format)")
            if tensors.is_contiguous(run, base):
                return TRUE
            return Bool(fact=("contiguous", base.key, None))
        case "defined":
            return TRUE
        case "device":
            return Device(base)
        case (
            "layout"
            | "suggest_memory_format"
            | "get_device"
            | "storage_offset"
            | "requires_grad"
            | "is_sparse"
        ):
            return Unknown(name)
        case "is_floating_point":
            dtype = tensors.dtype_name(run, base)
            return truth(dtype in ("f16", "bf16", "f32", "f64")) if dtype else Unknown(name)
        case "nbytes":
            dtype = tensors.dtype_name(run, base)
            count = tensors.numel(run, base)
            return (arith("*", count, const(SIZES[dtype]), "u64") if dtype else None) or Unknown(name)
        case "strides":
            return Strides(base)
        case "item" | "equal" | "is_same":
            lo_hi = dtype_of(node["t"])
            if lo_hi in ("f32", "f64"):
                return Float(type=lo_hi)
            if lo_hi and lo_hi != "bool":
                lo, hi = limits(lo_hi)
                out = run.fresh(
                    hint or "item", "scalar", lo_hi, meaning=f"{host.span(node)}: {name}()", lo=lo, hi=hi
                )
                run.symbols[out.text].low, run.symbols[out.text].high = lo, hi
                return out
            return Unknown(f"{name}()")
        case "packed_accessor32" | "packed_accessor64" | "packed_accessor" | "generic_packed_accessor":
            return _packed(host, base, node, name)
        case "accessor":
            run.write(base.storage)
            return Unknown(f"{host.span(node)}: {name}(): accessors are not followed")
        case _ if torch_ops.changes_handle(name):
            raise Refused(f"{host.span(node)}: {name}() changes a tensor in place")
        case "split" | "chunk" | "unbind":
            return Unknown(f"{host.span(node)}: {name}()")
    values = [host.eval(a) for a in nodes]
    named = _device_given(nodes, values)
    held = run.storages.get(base.storage)
    if name == "cpu" or (name == "to" and named in ("cpu", "unknown")):
        copied = torch_ops.call_method(run, base, "clone", [], {}, host.span(node), hint)
        return _elsewhere(host, copied, tensors.ON_CPU)
    if name in ("cuda", "to") and held is not None and held.gap == tensors.ON_CPU:
        return torch_ops.call_method(run, base, "clone", [], {}, host.span(node), hint)
    if name in ("item", "print", "backward"):
        return Unknown(name)
    if node["t"] not in ("at::Tensor", "long", "c10::ArrayRef<long>") and name not in (
        "options",
        "dtype",
        "scalar_type",
        "type",
    ):
        return Unknown(f"{host.span(node)}: {name}()")
    values = [Unknown("device") if _is_device(a) else v for v, a in zip(values, nodes, strict=True)]
    return torch_ops.call_method(run, base, name, values, {}, host.span(node), hint)


def _packed(host: Evaluator, base: Tensor, node: Node, name: str) -> Value:
    """What a kernel gets of a packed accessor: data, sizes and strides. torch checks dtype, rank, and the 32 bits."""
    found = re.match(
        r"at::GenericPackedTensorAccessor<(.+?), (\d+)(?:, at::\w+(?:, (\w+(?: \w+)*))?)?>$", node["t"]
    )
    index = dtype_of(found[3] or "long") if found else None
    own = host.run.storages[base.storage]
    like = base.layout == "dense" and base.key == base.storage and own.how == "fresh"
    if found is None or index is None or not (like or base.layout in ("contiguous", "free")):
        return Unknown(f"{host.span(node)}: {name}() that is not followed")
    run, rank = host.run, int(found[2])
    data = _data_pointer(host, base, {**node, "t": f"{found[1]} *", "name": "data_ptr"})
    if isinstance(base.dims, Shape):
        run.assume(Bool(fact=("rank", base.dims.name, rank)), host.span(node))
    dims = tensors.dims_of(run, base)
    if dims is None or len(dims) != rank:
        raise Dead
    if index == "i32":
        run.assume(compare("<=", tensors.numel(run, base), const((1 << 31) - 1)), host.span(node))
    own.strided = own.strided or like
    fields: dict[str, Value] = {"data": data}
    for at, dim in enumerate(dims):
        fields[f"size{at}"] = convert(dim, index)
    for at in range(rank):  # as if it were contiguous: the contract assumes that where nothing has checked it
        fields[f"stride{at}"] = convert(views.contiguous_stride(run, base, dims, at), index)
    return Record(node["t"], fields)


def _data_pointer(host: Evaluator, base: Tensor, node: Node) -> Value:
    """``data_ptr<T>()`` throws unless the dtype is T; ``data_ptr()`` does not look."""
    run = host.run
    found = element_of(node["t"])
    zero = const(0, PY)
    offset = None if base.offset else zero
    if node["t"].removeprefix("const ") == "void *":
        return Pointer(base.storage, offset, None, 1, 1)
    if found is None:
        return Pointer(base.storage, offset, None, 1, 0)
    dtype, lanes = found
    have = tensors.dtype_name(run, base)
    if have is not None and have != dtype and not (node["name"].endswith("::data")):
        raise Dead
    if have is None:
        if run.speculative:
            pass
        elif (f"dtype {dtype}", base.key) in run.denied:
            raise Dead
        else:
            run.dtypes[base.key] = dtype
    if not run.speculative:
        run.checked.add(("dtype", base.key))
        run.tensor_of_storage.setdefault(base.storage, set()).add(base.key)
    storage = run.storages[base.storage]
    if storage.dtype is None:
        storage.dtype = dtype
    return Pointer(base.storage, offset, dtype, lanes, SIZES[dtype] * lanes)


def _sizes_method(host: Evaluator, base: Sizes, name: str, nodes: list[Node]) -> Value:
    match name:
        case "size":
            return torch_ops.call_method(host.run, base.tensor, "dim", [], {}, host.span({}))
        case "vec" | "slice" if name == "vec":
            dims = tensors.dims_of(host.run, base.tensor)
            if dims is None:  # a container of its own, which may be changed
                return Unknown("sizes().vec() of a tensor whose rank is not known")
            return Items(dims)
        case "equals" if nodes:
            other = host.eval(nodes[0])
            if isinstance(other, Sizes):
                return tensors.equal_shapes(host.run, base.tensor, other.tensor)
            return Unknown("equals")
        case "back" | "front":
            return tensors.size(host.run, base.tensor, const(-1 if name == "back" else 0))
        case "operator[]" | "at":
            return tensors.size(host.run, base.tensor, host.eval(nodes[0]))
    return Unknown(f"sizes().{name}()")


def _items_method(host: Evaluator, base: Items, name: str, nodes: list[Node], node: Node) -> Value:
    place = host.object_place(node["base"])
    type_ = node["base"].get("t", "").removesuffix("*").strip()
    match name:
        case "size":
            return const(len(base.items), "u64")
        case "empty":
            return truth(not base.items)
        case "push_back" | "emplace_back" if place is not None and nodes:
            value = host.eval(nodes[0])
            if name == "emplace_back" and (  # arguments of a constructor
                len(nodes) > 1
                or (dtype_of(nodes[0]["t"]) is None and nodes[0]["t"] != elements.element_type(type_))
            ):
                host.lost(value)
                for argument in nodes[1:]:
                    host.havoc_node(argument)
                value = Unknown("an element made in place")
            host.store(place, host.coerce(Items((*base.items, value)), type_))
            return Unknown("void")
        case "back" | "front" if base.items:
            found: Value = base.items[-1 if name == "back" else 0]
            return found
        case "operator[]" | "at":
            return host.element(base, host.eval(nodes[0]), node)
        case "begin" | "cbegin":
            return Iterator(base.items, 0, place)
        case "end" | "cend":
            return Iterator(base.items, len(base.items), place)
        case "data" if place is not None:
            return Address(place.cell, (*place.path, 0))
        case "reserve":
            return Unknown(name)
        case "erase" | "insert" if place is not None:
            changed = _edited(base, name, [host.eval(a) for a in nodes])
            if changed is None:
                host.lost(base)
            after: Value = changed if changed is not None else Unknown(f"a container after {name}()")
            host.store(place, host.coerce(after, type_))
            return Unknown(name)
        case "pop_back" if place is not None and base.items:
            host.store(place, Items(base.items[:-1]))
            return Unknown("void")
    for argument in nodes:
        host.havoc_node(argument)
    host.havoc_node(node["base"])
    return Unknown(f"{host.span(node)}: {name}()")


def _edited(base: Items, name: str, values: list[Value]) -> Items | None:
    """``erase(position)`` and ``insert(position, value)`` of a list of known length."""
    at = values[0].index if values and isinstance(values[0], Iterator) else None
    if at is None or not 0 <= at <= len(base.items):
        return None
    if name == "erase" and len(values) == 1 and at < len(base.items):
        return Items((*base.items[:at], *base.items[at + 1 :]))
    if name == "insert" and len(values) == 2 and isinstance(values[1], Int | Bool | Float | Tensor):
        return Items((*base.items[:at], values[1], *base.items[at:]))
    return None


def operator(host: Evaluator, node: Node, hint: str) -> Value:
    """Overloaded operators of library types."""
    name = node["name"].split("operator")[-1]
    nodes = node["args"]
    if name in ("=", "+=", "-=", "*=", "/="):
        value = host.eval(nodes[1], nodes[0].get("name", ""))
        if name != "=":
            left = host.eval(nodes[0])
            if isinstance(left, Tensor):
                host.run.write(left.storage)
            else:
                host.havoc(left)
            return left
        host.assign(nodes[0], value)
        return value
    if name == "<<":
        for item in nodes:
            if item["k"] not in ("str", "var"):
                host.eval(item)
        return Unknown("stream")
    values = [host.eval(a) for a in nodes]
    if name == "[]" and len(values) == 2:
        base, index = values
        if isinstance(base, Tensor):
            return views.row(host.run, base, index, host.span(node), hint or f"{base.host_name}_row")
        return host.element(base, index, node)
    if name in ("*", "->") and len(values) == 1:
        match values[0]:
            case Optional(value=inner):
                host.run.assume(tensors.defined(host.run, values[0]), host.span(node))
                found: Value = inner
                return found
            case Null():
                raise Dead
            case other:
                return other
    if name in ("==", "!=") and len(values) == 2:
        result = _equality(host, values[0], values[1])
        if isinstance(result, Bool):
            return result if name == "==" else lnot(result)
        return result
    if name == "-" and len(values) == 1 and isinstance(values[0], Tensor):
        return torch_ops.call_function(host.run, "neg", values, {}, host.span(node), hint)
    table = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
    if name in table and any(isinstance(v, Tensor) for v in values):
        return torch_ops.call_function(host.run, table[name], values, {}, host.span(node), hint)
    if name in table and any(isinstance(v, Text) for v in values):
        return Text()
    return Unknown(f"{host.span(node)}: operator{name}")


def _equality(host: Evaluator, a: Value, b: Value) -> Value:
    match a, b:
        case Sizes(tensor=x), Sizes(tensor=y):
            return tensors.equal_shapes(host.run, x, y)
        case Sizes(tensor=x), Items(items=items) if all(isinstance(i, Int) for i in items):
            dims = tensors.dims_of(host.run, x)
            if dims is None:
                assert isinstance(x.dims, Shape)
                host_rank = Bool(fact=("rank", x.dims.name, len(items)))
                if not host.run.decide(host_rank):
                    return FALSE
                dims = tensors.dims_of(host.run, x) or ()
            if len(dims) != len(items):
                return FALSE
            texts = [compare("==", d, i) for d, i in zip(dims, items, strict=True)]
            open_ = [t.text for t in texts if t.value is None]
            if any(t.value is False for t in texts):
                return FALSE
            return Bool("(" + " and ".join(open_) + ")") if open_ else TRUE
        case Dtype(), Dtype():
            return tensors.same_dtype(host.run, a, b)
        case Device(of=x), Int(value=1) | Text(value="cuda"):
            return Bool(fact=("cuda", x.key, None))
        case Options(dtype=Dtype() as x), Dtype():
            return tensors.same_dtype(host.run, x, b)
    return Unknown("a comparison")
