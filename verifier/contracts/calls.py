"""What the library calls of host code mean: std, the CUDA runtime, torch's C++ API, and the launch itself.

Tables of names; everything that is not named here is unknown, and what it could change through a reference or a
pointer is unknown afterwards.

Example: ``cudaMalloc(&p, n * sizeof(float))`` makes ``p`` a pointer to fresh, uninitialised storage of that many bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verifier.contracts import tensors, torch_ops, views
from verifier.contracts.objects import (
    Address,
    Device,
    Dim3,
    Dtype,
    Float,
    Function,
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
    Value,
)
from verifier.contracts.run import Dead, Refused, Run, Storage
from verifier.contracts.values import (
    FALSE,
    PY,
    SIZES,
    TRUE,
    Bool,
    Int,
    arith,
    common,
    compare,
    const,
    convert,
    dtype_of,
    element_of,
    known_int_range,
    limits,
    lnot,
    truth,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator

_PASS_ONE = (
    "at::Tensor",
    "vk::any",
    "c10::Scalar",
    "c10::Device",
    "at::TensorOptions",
    "caffe2::TypeMeta",
    "vk::unknown",
)
_FLOAT_FUNCTIONS = frozenset(
    "sqrt sqrtf exp expf log logf log2 log2f tanh tanhf sin sinf cos cosf pow powf fabs fabsf rsqrt rsqrtf fmax fmin fmaxf fminf "
    "fmod exp2 exp2f".split()
)
_HARMLESS = frozenset(
    "cudaGetLastError cudaPeekAtLastError cudaDeviceSynchronize cudaDeviceReset cudaStreamSynchronize cudaStreamDestroy "
    "cudaEventRecord cudaEventSynchronize cudaEventDestroy cudaFree cudaFreeHost cudaFreeAsync cudaSetDevice "
    "cudaFuncSetAttribute cudaFuncSetCacheConfig cudaStreamWaitEvent printf fprintf puts fflush free srand device_synchronize "
    "checkAllSameGPU fclose".split()
)
_HANDLES = frozenset(
    "cudaEventCreate cudaEventCreateWithFlags cudaStreamCreate cudaStreamCreateWithFlags".split()
)
_DEVICE = {
    "multiProcessorCount": (1, 1024), "maxThreadsPerBlock": (1024, 1024), "warpSize": (32, 32),
    "maxThreadsPerMultiProcessor": (1024, 2048), "sharedMemPerBlock": (49152, 49152),
    "sharedMemPerBlockOptin": (49152, 1 << 20), "sharedMemPerMultiprocessor": (49152, 1 << 20),
}  # fmt: skip
_ATTRIBUTES = {16: "multiProcessorCount", 1: "maxThreadsPerBlock", 8: "sharedMemPerBlock", 97: "sharedMemPerBlockOptin",
               39: "maxThreadsPerMultiProcessor", 10: "warpSize"}  # fmt: skip


def device_property(run: Run, type_: str, name: str) -> Value:
    """A device property: the same value wherever it is asked for, within what GPUs have."""
    if type_ != "cudaDeviceProp" or name not in _DEVICE:
        return Unknown(f"member {name}")
    low, high = _DEVICE[name]
    if low == high:
        return const(low, "i32")
    return known_int_range(run.symbols, name, low, high, "the device's " + name)


def same_dtype(run: Run, a: Dtype, b: Dtype) -> Bool:
    left, right = tensors.dtype_value(run, a), tensors.dtype_value(run, b)
    if left is not None and right is not None:
        return truth(left == right)
    for one, other in ((a, right), (b, left)):
        if one.of is not None and other is not None:
            return Bool(fact=("dtype", one.of.key, other))
    return Bool(fact=("same dtype", str(a.of and a.of.key), str(b.of and b.of.key)))


# --- constructors ---------------------------------------------------------------------------------------------------


def construct(host: Evaluator, type_: str, values: list[Value], node: Node) -> Value:
    given = [v for v, a in zip(values, node["args"], strict=True) if a["k"] != "default"]
    if type_ == "std::string" or type_.startswith("std::basic_string"):
        return given[0] if len(given) == 1 and isinstance(given[0], Text) else Text()
    if type_.startswith(("std::tuple", "std::pair")):
        if len(given) == 1 and isinstance(given[0], Items):
            return given[0]
        return Items(tuple(given))
    if not given:
        if type_ == "at::Tensor" or type_.startswith("std::optional"):
            return Null()
        if type_.startswith(("std::vector", "std::initializer_list")):
            return Items(())
        if type_ == "at::TensorOptions":
            return Options()
        return Record(type_, {})
    if type_.startswith("std::vector") and not isinstance(given[0], Items):
        if len(given) == 2 and isinstance(given[0], Iterator) and isinstance(given[1], Iterator):
            first, last = given[0], given[1]
            return (
                Items(first.items[first.index : last.index])
                if first.items == last.items
                else Unknown("a range")
            )
        return _vector(given)
    if type_.startswith(_PASS_ONE) or type_.startswith(
        (
            "std::optional",
            "c10::ArrayRef",
            "std::vector",
            "std::initializer_list",
            "std::array",
            "std::function",
        )
    ):
        if type_.startswith("at::TensorOptions") and isinstance(given[0], Dtype):
            return Options(given[0])
        return given[0]
    if len(given) == 1 and isinstance(given[0], Record | Items | Dim3 | Pointer | Function | Sizes):
        return given[0]
    return Unknown(f"{host.span(node)}: an object of type {type_}")


def _vector(given: list[Value]) -> Value:
    """``vector(n)`` and ``vector(n, v)`` with a small known n; else a host array that is not followed."""
    if isinstance(given[0], Sizes):
        return given[0]
    count = given[0].value if isinstance(given[0], Int) else None
    if count is None or not 0 <= count <= 16 or len(given) > 2:
        return Unknown("a host array")
    return Items(tuple((given[1] if len(given) == 2 else const(0)) for _ in range(count)))


# --- free functions -------------------------------------------------------------------------------------------------


def call(host: Evaluator, node: Node, hint: str) -> Value:
    run = host.run
    full = node["name"]
    name = full.split("::")[-1]
    span = host.span(node)
    scope = full.rsplit("::", 1)[0] if "::" in full else ""
    match full:
        case "vk::check":
            run.assume(host.condition(node["args"][0]), span)
            return Unknown("void")
        case "vk::fail" | "vk::no_dispatch" | "exit" | "abort" | "std::exit" | "std::abort":
            raise Dead
        case "vk::dispatch":
            return _dispatch(host, node)
    if name in ("min", "max") and scope in ("", "std"):
        return _extreme(host, node, name)
    args_nodes = [a for a in node["args"] if a["k"] != "default"]
    if name == "swap" and len(args_nodes) == 2:
        a, b = host.place(args_nodes[0]), host.place(args_nodes[1])
        if a is None or b is None:
            raise Refused(f"{span}: swap of what is not a variable")
        left, right = host.load(a), host.load(b)
        host.store(a, right)
        host.store(b, left)
        return Unknown("void")
    if name in ("move", "forward") and args_nodes:
        return host.eval(args_nodes[0])
    if name in ("ceil", "floor", "ceilf", "floorf", "round", "roundf"):
        return _rounded(
            host, host.eval(args_nodes[0]), name.removesuffix("f") if name != "ceilf" else "ceil", node
        )
    if name in ("make_tuple", "make_pair", "tie"):
        return Items(tuple(host.eval(a) for a in args_nodes))
    if name == "get" and scope == "std":
        base = host.eval(args_nodes[0])
        index = int(node["targs"][0]) if node.get("targs") and node["targs"][0].isdigit() else None
        if isinstance(base, Items) and index is not None and index < len(base.items):
            found: Value = base.items[index]
            return found
        return (
            tensors.opaque(run, hint or "part", "std::get of a torch result")
            if "Tensor" in node["t"]
            else Unknown("get")
        )
    if name.startswith("cuda") and scope == "":
        return _cuda(host, name, args_nodes, node)
    if name in _HARMLESS:
        for argument in args_nodes:
            host.eval(argument)
        return const(0, "i32")
    if name in _FLOAT_FUNCTIONS:
        for argument in args_nodes:
            host.eval(argument)
        return Float(type=dtype_of(node["t"]) or "f64")
    if name in ("atoi", "stoi", "atol", "stol", "rand", "time", "clock"):
        lo, hi = limits(dtype_of(node["t"]) or "i32")
        out = run.fresh(
            hint or name, "scalar", dtype_of(node["t"]) or "i32", meaning=f"{span}: {name}()", lo=lo, hi=hi
        )
        run.symbols[out.text].low, run.symbols[out.text].high = lo, hi
        return out
    if name in ("atof", "stof"):
        return Float()
    if name in ("malloc", "calloc"):
        for argument in args_nodes:
            host.eval(argument)
        return Unknown("host memory")
    if name in ("memcpy", "memset", "fill", "sort", "fread"):
        return Unknown("host memory")
    if name in ("abs", "labs") and isinstance(value := host.eval(args_nodes[0]), Int):
        return value if value.lo is not None and value.lo >= 0 else host.free_int(value.type, f"{span}: abs")
    if name == "clamp" and len(args_nodes) == 3:
        return _clamp(host, args_nodes)
    if name == "ceil_div" and scope == "at":
        return _ceil_div(host, args_nodes, node)
    if name == "accumulate":
        return _accumulate(host, args_nodes, node)
    if name in ("strcmp", "strlen", "to_string", "getenv", "cudaGetErrorString"):
        return Unknown(f"{name}()")
    if scope in ("at", "torch") or scope.startswith(("torch::nn::functional", "at::native")):
        return _torch(host, name, args_nodes, node, hint)
    if name in ("getCurrentCUDAStream", "getDefaultCUDAStream", "getStreamFromPool"):
        return Text(
            "default"
            if name == "getDefaultCUDAStream"
            else "current"
            if "Current" in name
            else f"pool {span}"
        )
    if name in ("getCurrentDeviceProperties", "getDeviceProperties"):
        cell = "device properties"
        host.cells[cell] = Record("cudaDeviceProp", {})
        return Address(cell)
    if name == "warp_size":
        return const(32, "i32")
    if name == "max" and scope.startswith("std::numeric_limits"):
        dtype = dtype_of(node["t"])
        hi = (
            limits(dtype)[1]
            if dtype in SIZES and dtype not in ("f32", "f64", "f16", "bf16") and dtype
            else None
        )
        return const(hi, dtype) if hi is not None and dtype else Float()
    for argument in args_nodes:
        host.havoc_node(argument)
    if node["t"] == "at::Tensor":
        return tensors.opaque(run, hint or name, f"{full}()")
    return Unknown(f"{span}: {full}()")


def _dispatch(host: Evaluator, node: Node) -> Value:
    subject, wanted = host.eval(node["args"][0]), host.eval(node["args"][1])
    if not isinstance(wanted, Dtype):
        raise Refused(f"{host.span(node)}: dispatch over something that is not a dtype")
    if not isinstance(subject, Dtype):
        raise Refused(f"{host.span(node)}: dispatch on a dtype that is not followed")
    return same_dtype(host.run, subject, wanted)


def _extreme(host: Evaluator, node: Node, name: str) -> Value:
    values = [host.eval(a) for a in node["args"]]
    if len(values) == 1 and isinstance(values[0], Items):
        values = list(values[0].items)
    if any(isinstance(v, Float) for v in values):
        return Float(type=dtype_of(node["t"]) or "f64")
    type_ = dtype_of(node["t"])
    out: Int | None = None
    for value in values:
        if isinstance(value, Bool):
            value = host.bool_value(value)
        if not isinstance(value, Int):
            return host.free_int(type_ or "i64", f"{host.span(node)}: {name}")
        value = convert(value, type_ or value.type)
        out = value if out is None else arith(name, out, value, type_ or value.type)
        if out is None:
            return Unknown(name)
    return out if out is not None else Unknown(name)


def _clamp(host: Evaluator, nodes: list[Node]) -> Value:
    value, low, high = (host.eval(n) for n in nodes)
    if isinstance(value, Int) and isinstance(low, Int) and isinstance(high, Int):
        inner = arith("max", value, convert(low, value.type), value.type)
        return (arith("min", inner, convert(high, value.type), value.type) if inner else None) or Unknown(
            "clamp"
        )
    return Float() if isinstance(value, Float) else Unknown("clamp")


def _ceil_div(host: Evaluator, nodes: list[Node], node: Node) -> Value:
    a, b = (host.eval(n) for n in nodes[:2])
    if not isinstance(a, Int) or not isinstance(b, Int):
        return Unknown("ceil_div")
    total = arith("+", a, b, a.type)
    less = arith("-", total, const(1, a.type), a.type) if total else None
    return (arith("/", less, b, a.type) if less else None) or Unknown("ceil_div")


def _rounded(host: Evaluator, value: Value, name: str, node: Node) -> Value:
    """``ceil``/``floor`` of an exact quotient of non-negative ints below 2**53 is exact (see docs/reference/contracts)."""
    if isinstance(value, Int):
        return Float(None, (value, const(1)), "f64") if fits_double(value) else Float()
    if not isinstance(value, Float):
        return Float()
    if value.ratio is None:
        return Float(type=value.type)
    top, bottom = value.ratio
    if bottom.value == 1:
        return value
    if name == "round" or value.type != "f64":
        return Float(type=value.type)
    if name == "floor":
        whole = arith("/", top, bottom, PY)
    else:
        more = arith("-", arith("+", top, bottom, PY) or top, const(1, PY), PY)
        whole = arith("/", more, bottom, PY) if more else None
    if whole is None:
        return Float()
    if name == "ceil":
        whole = Int(f"ceil_div({top.text}, {bottom.text})", whole.lo, whole.hi, PY, whole.taint)
    return Float(None, (whole, const(1)), "f64")


def fits_double(value: Int) -> bool:
    return value.lo is not None and value.hi is not None and value.lo >= -(1 << 53) and value.hi <= 1 << 53


def _accumulate(host: Evaluator, nodes: list[Node], node: Node) -> Value:
    """The product over a list with ``std::multiplies`` from 1, computed at the type of the initial value."""
    values = [host.eval(item) for item in nodes]
    if len(values) == 4 and isinstance(values[0], Iterator) and isinstance(values[1], Iterator):
        first, last, start = values[0], values[1], values[2]
        whole = first.items == last.items and "multiplies" in nodes[3]["t"]
        if whole and isinstance(start, Int):
            total: Int | None = start
            for item in first.items[first.index : last.index]:
                if not isinstance(item, Int) or total is None:
                    return Unknown("std::accumulate")
                type_ = common(total.type, item.type)
                product = arith("*", convert(total, type_), convert(item, type_), type_)
                total = convert(product, start.type) if product is not None else None
            if total is not None:
                return total
    return Unknown(f"{host.span(node)}: std::accumulate")


# --- CUDA runtime ---------------------------------------------------------------------------------------------------


def _cuda(host: Evaluator, name: str, nodes: list[Node], node: Node) -> Value:
    """Runtime calls return cudaSuccess: what happens after a failed call is outside every domain."""
    run, success = host.run, const(0, "i32")
    if name in ("cudaMalloc", "cudaMallocManaged", "cudaMallocAsync"):
        _malloc(host, nodes, node, name)
        return success
    if name in ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync"):
        target, amount = host.eval(nodes[0]), host.eval(nodes[2])
        if isinstance(target, Pointer):
            storage = run.storages.get(target.storage)
            if storage is not None:
                whole = (
                    isinstance(amount, Int)
                    and storage.bytes is not None
                    and amount.text == storage.bytes.text
                )
                if whole and target.offset is not None and target.offset.value == 0:
                    storage.initialized = True
                run.write(target.storage)
        host.eval(nodes[1])
        return success
    if name in ("cudaMallocHost", "cudaHostAlloc"):
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            host.store(place, Unknown("host memory"))
        return success
    if name == "cudaGetDevice" or name in _HANDLES:
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            label = f"{place.cell.split('@')[0]}"
            host.store(place, const(0, "i32") if name == "cudaGetDevice" else Text(label))
        return success
    if name == "cudaGetDeviceProperties":
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            host.store(place, Record("cudaDeviceProp", {}))
        return success
    if name == "cudaDeviceGetAttribute":
        place, which = host.eval(nodes[0]), host.eval(nodes[1])
        label_ = _ATTRIBUTES.get(which.value or -1) if isinstance(which, Int) else None
        if isinstance(place, Address):
            host.store(
                place,
                device_property(run, "cudaDeviceProp", label_) if label_ else Unknown("a device attribute"),
            )
        return success
    if name.startswith("cudaOccupancy"):
        for argument in nodes[:2] if name.endswith("BlockSize") else nodes[:1]:
            place = host.eval(argument)
            if isinstance(place, Address):
                host.store(
                    place,
                    known_int_range(run.symbols, run.unique("occupancy"), 1, 1 << 16, "an occupancy query"),
                )
        return success
    if name in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC"):
        raise Refused(f"{host.span(node)}: {name} is not followed")
    if name in ("cudaMemcpyToSymbol", "cudaMemcpyFromSymbol"):
        return success
    for argument in nodes:
        if name in _HARMLESS or name.startswith(("cudaGetError", "cudaEvent")):
            host.eval(argument)
        else:
            host.havoc(host.eval(argument), name)
    return success


def _malloc(host: Evaluator, nodes: list[Node], node: Node, name: str) -> None:
    run = host.run
    place, amount = host.eval(nodes[0]), host.eval(nodes[1])
    if not isinstance(place, Address):
        return
    label = (
        str(place.path[-1]) if place.path and isinstance(place.path[-1], str) else place.cell.split("@")[0]
    )
    key = run.unique(label)
    pointee = (node.get("params") or [""])[0].removesuffix("*").strip()
    found = element_of(pointee) if pointee.endswith("*") else None
    dtype, lanes = found or (None, 1)
    storage = Storage(
        dtype, None, (), how="cuda", initialized=False, align=tensors.DEVICE_ALIGN, host_name=label
    )
    if isinstance(amount, Int):
        storage.bytes = amount
        if dtype is not None:
            storage.extent = arith("/", amount, const(SIZES[dtype], amount.type), PY)
    else:
        storage.gap = f"{host.span(node)}: the size of {label} is not followed"
    run.add_storage(key, storage)
    size = SIZES[dtype] * lanes if dtype else (1 if "void" in pointee else 0)
    host.store(place, Pointer(key, const(0, PY), dtype, lanes, size))


# --- torch ----------------------------------------------------------------------------------------------------------


def _torch(host: Evaluator, name: str, nodes: list[Node], node: Node, hint: str) -> Value:
    values = [host.eval(a) for a in nodes]
    if name in ("device", "dtype", "requires_grad", "layout"):
        dtype = next((v for v in values if isinstance(v, Dtype)), None)
        return Options(dtype)
    if name == "from_blob":
        return tensors.opaque(host.run, hint or name, "torch::from_blob")
    if name == "item":
        return Unknown("item()")
    values = [
        v for v in values if not isinstance(v, Device) and not (isinstance(v, Unknown) and v.why == "layout")
    ]
    if node["t"] != "at::Tensor":
        return Unknown(f"{host.span(node)}: {name}()")
    return torch_ops.call_function(host.run, name, values, {}, host.span(node), hint)


def method(host: Evaluator, node: Node, hint: str) -> Value:
    run, name = host.run, node["name"].split("::")[-1]
    if node["base"] is None:
        return Unknown(f"{name}()")
    nodes = [a for a in node["args"] if a["k"] != "default"]
    base = host.eval(node["base"])
    if isinstance(base, Address):
        base = host.load(base)
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
            raise Dead
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
            return Options(dtype) if isinstance(dtype, Dtype) else Options(Dtype(None))
        return Unknown("device") if name == "device" and not nodes else base
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
    if isinstance(base, Items):
        return _items_method(host, base, name, nodes, node)
    if name == "stream" or name.startswith("operator CUstream"):
        return base
    if name in ("is_cuda", "is_cpu", "device", "type", "index"):
        return base if name in ("type",) and isinstance(base, Dtype) else Unknown(name)
    for argument in nodes:
        host.havoc_node(argument)
    place = host.place(node["base"])
    if place is not None and isinstance(base, Record | Items):
        host.store(place, Unknown(f"{name}()"))
    if node["t"] == "at::Tensor":
        return tensors.opaque(run, hint or name, f"{name}()")
    return Unknown(f"{host.span(node)}: {name}()")


def _tensor_method(host: Evaluator, base: Tensor, name: str, nodes: list[Node], node: Node, hint: str) -> Value:
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
        case (
            "accessor"
            | "packed_accessor32"
            | "packed_accessor64"
            | "packed_accessor"
            | "generic_packed_accessor"
        ):
            return Unknown(f"{host.span(node)}: {name}(): accessors are not followed")
        case "resize_" | "set_" | "unsqueeze_" | "squeeze_" | "transpose_" | "t_":
            raise Refused(f"{host.span(node)}: {name}() changes a tensor in place")
        case "split" | "chunk" | "unbind":
            return Unknown(f"{host.span(node)}: {name}()")
    values = [host.eval(a) for a in nodes]
    if name in ("item", "print", "backward"):
        return Unknown(name)
    if node["t"] not in ("at::Tensor", "long", "c10::ArrayRef<long>") and name not in (
        "options",
        "dtype",
        "scalar_type",
        "type",
    ):
        return Unknown(f"{host.span(node)}: {name}()")
    return torch_ops.call_method(run, base, name, values, {}, host.span(node), hint)


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
            return Items(dims) if dims is not None else base
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
    place = host.place(node["base"])
    match name:
        case "size":
            return const(len(base.items), "u64")
        case "empty":
            return truth(not base.items)
        case "push_back" | "emplace_back" if place is not None and nodes:
            host.store(place, Items((*base.items, host.eval(nodes[0]))))
            return Unknown("void")
        case "back" | "front" if base.items:
            found: Value = base.items[-1 if name == "back" else 0]
            return found
        case "operator[]" | "at":
            return host.element(base, host.eval(nodes[0]), node)
        case "begin" | "cbegin":
            return Iterator(base.items, 0)
        case "end" | "cend":
            return Iterator(base.items, len(base.items))
        case "data" | "reserve":
            return Unknown(name)
        case "erase" | "insert" if place is not None:
            changed = _edited(base, name, [host.eval(a) for a in nodes])
            host.store(place, changed if changed is not None else Unknown(f"a container after {name}()"))
            return Unknown(name)
        case "pop_back" if place is not None and base.items:
            host.store(place, Items(base.items[:-1]))
            return Unknown("void")
    for argument in nodes:
        host.havoc_node(argument)
    if place is not None:
        host.store(place, Unknown(f"a container after {name}()"))
    return Unknown(f"{host.span(node)}: {name}()")


def _edited(base: Items, name: str, values: list[Value]) -> Items | None:
    """``erase(position)`` and ``insert(position, value)`` of a list of known length."""
    at = values[0].index if values and isinstance(values[0], Iterator) else None
    if at is None or not 0 <= at <= len(base.items):
        return None
    if name == "erase" and len(values) == 1 and at < len(base.items):
        return Items((*base.items[:at], *base.items[at + 1 :]))
    if name == "insert" and len(values) == 2 and not isinstance(values[1], Iterator):
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
            return same_dtype(host.run, a, b)
        case Device(of=x), Int(value=1) | Text(value="cuda"):
            return Bool(fact=("cuda", x.key, None))
        case Options(dtype=Dtype() as x), Dtype():
            return same_dtype(host.run, x, b)
    return Unknown("a comparison")


# --- the launch -----------------------------------------------------------------------------------------------------


def launch(host: Evaluator, node: Node) -> None:
    """Record a ``<<<>>>``; the kernel may write through each pointer to non-const from here on."""
    run, span = host.run, host.span(node)
    config = node["config"]
    grid = host.eval(config[0]) if config else Unknown("")
    block = host.eval(config[1]) if len(config) > 1 else Unknown("")
    shared: Value = const(0, "u64")
    if len(config) > 2 and config[2]["k"] != "default":
        shared = host.coerce(host.eval(config[2]), "unsigned long")
    stream = ""
    if len(config) > 3 and config[3]["k"] != "default":
        stream = _stream(host, config[3])
    gaps: list[str] = []
    sizes = [_as_dim3(host, v, f"{span}: the {w} size", gaps) for v, w in ((grid, "grid"), (block, "block"))]
    if not isinstance(shared, Int):
        gaps.append(f"{span}: the dynamic shared memory size is not followed")
        shared = const(0, "u64")
    args = tuple(host.eval(a) for a in node["args"])
    if not node["known"]:
        gaps.append(f"{span}: the kernel that is launched is not known")
    if node["targs"] is None:
        gaps.append(f"{span}: the template arguments of {node['kernel']} are not followed")
    saved = list(run.gaps)
    run.gaps += gaps
    run.launch(
        kernel=node["kernel"],
        targs=None if node["targs"] is None else tuple(node["targs"]),
        grid=sizes[0],
        block=sizes[1],
        shared=shared,
        stream=stream,
        args=args,
        params=tuple((p["name"], p["type"]) for p in node["params"]),
        span=span,
        launcher=host.launcher,
    )
    run.gaps = saved
    for value, param in zip(args, node["params"], strict=False):
        if isinstance(value, Pointer) and not param["type"].startswith("const "):
            storage = run.storages.get(value.storage)
            if storage is not None:
                run.write(value.storage)
                storage.initialized = True


def _as_dim3(host: Evaluator, value: Value, what: str, gaps: list[str]) -> Dim3:
    if isinstance(value, Int):
        value = host.coerce(value, "dim3")
    if isinstance(value, Dim3):
        return value
    gaps.append(f"{what} is not followed")
    one = const(1, "u32")
    return Dim3(one, one, one)


def _stream(host: Evaluator, node: Node) -> str:
    while node["k"] == "cast":
        node = node["a"]
    value = host.eval(node)
    if isinstance(value, Text):
        return value.value
    if isinstance(value, Null) or (isinstance(value, Int) and value.value == 0):
        return ""
    return f"{node.get('name') or node['k']}"


def result_items(value: Value | None) -> list[Any]:
    return list(value.items) if isinstance(value, Items) else [] if value is None else [value]
