"""What library calls of host code mean: constructors, std, and the way to ``cuda_calls`` and ``torch_calls``.

What is not named here is unknown, and what it could change through a reference or a pointer is unknown afterwards.

Example: ``std::min(a, b)`` of two ``int`` is ``min(a, b)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.contracts import device_choice, elements, tensors
from verifier.contracts.lvalues import gives_away, plain
from verifier.contracts.objects import (
    Address,
    Dim3,
    Dtype,
    Float,
    Function,
    Items,
    Iterator,
    Null,
    Options,
    Pointer,
    Record,
    Sizes,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Dead, Refused
from verifier.contracts.values import (
    PY,
    SIZES,
    Bool,
    Int,
    arith,
    common,
    const,
    convert,
    dtype_of,
    limits,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator

from verifier.contracts.cuda_calls import _HARMLESS, cuda_call
from verifier.contracts.torch_calls import device_kind, numbered, torch_call

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
    "fmod exp2 exp2f __builtin_inf __builtin_inff __builtin_huge_val __builtin_huge_valf __builtin_nan __builtin_nanf".split()
)


_PURE = frozenset(
    "min max ceil floor ceilf floorf round roundf move forward make_tuple make_pair abs labs clamp ceil_div accumulate atoi stoi "
    "isnan isinf isfinite signbit log1p cbrt lround atol stol atof stof rand time clock malloc calloc strcmp strlen to_string "
    "getenv warp_size check asserted told fail dispatch no_dispatch "
    "exit abort getCurrentCUDAStream getDefaultCUDAStream getStreamFromPool getCurrentDeviceProperties "
    "getDeviceProperties".split()
)


_C_LIBRARIES = ("cuda", "cuMem", "cuCtx", "cuDevice", "cuStream", "cuEvent", "cublas", "cudnn", "curand", "cufft", "cusparse",
                "cusolver", "nccl", "nvtx", "MPI_")  # fmt: skip


def by_value(callee: Node) -> bool:
    """Whether this is a function of a C library, which takes its arguments by value: no text that we have declares it."""
    return "shim" in callee and str(callee.get("name", "")).startswith(_C_LIBRARIES)


def changes_nothing(full: str) -> bool:
    """Whether a library function leaves its arguments alone, but for what it is given the address of."""
    name = full.split("::")[-1]
    return (
        name in _PURE
        or name in _HARMLESS
        or name in _FLOAT_FUNCTIONS
        or name.startswith("cuda")
        or (full.startswith(("at::", "torch::")) and not name.endswith(("_", "_out", "_outf")))
    )


def reads_only(full: str) -> bool:
    """Whether a library function changes nothing at all, also not what it is given the address of."""
    name = full.split("::")[-1]
    quiet = name in _HARMLESS or name.startswith("cudaGetError")
    return changes_nothing(full) and (quiet or not name.startswith("cuda"))


def construct(host: Evaluator, type_: str, values: list[Value], node: Node) -> Value:
    given = [v for v, a in zip(values, node["args"], strict=True) if a["k"] != "default"]
    if device_choice.GUARD.fullmatch(type_):
        device_choice.chosen_by(host, given, node)
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
        if type_ == "vk::any":  # {}: no dims
            return Items(())
        return Record(type_, {})
    if type_.startswith("std::vector") and not isinstance(given[0], Items):
        if len(given) == 2 and isinstance(given[0], Iterator) and isinstance(given[1], Iterator):
            first, last = given[0], given[1]
            return (
                Items(first.items[first.index : last.index])
                if first.items == last.items
                else Unknown("a range")
            )
        return _vector(given, type_)
    if type_ == "c10::Device" and len(given) > 1:
        return Options(device=numbered(given))
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
        if type_.startswith("at::TensorOptions") and not isinstance(given[0], Options):
            return Options(device=device_kind(given[0]))
        return given[0]
    if len(given) == 1 and isinstance(given[0], Record | Items | Dim3 | Pointer | Function | Sizes):
        return given[0]
    return Unknown(f"{host.span(node)}: an object of type {type_}")


def _vector(given: list[Value], type_: str) -> Value:
    """``vector(n)`` and ``vector(n, v)`` with a small known n; else a host array that is not followed."""
    if isinstance(given[0], Sizes):
        return given[0]
    count = given[0].value if isinstance(given[0], Int) else None
    if count is None or not 0 <= count <= 16 or len(given) > 2:
        return Unknown("a host array")
    element = elements.default(elements.element_type(type_) or "") if len(given) == 1 else given[1]
    return Items(tuple(element for _ in range(count)))


_HANDING_ON = ("move", "forward", "make_tuple", "make_pair", "swap")


def call(host: Evaluator, node: Node, hint: str) -> Value:
    """A call of a library function, which may call what it is given."""
    found = _call(host, node, hint)
    host.lost_code(node.get("runs", []))
    if node["name"].split("::")[-1] not in _HANDING_ON:
        for argument in map(plain, node["args"]):
            if argument["k"] == "lambda":
                host.lost_code([argument["body"]])
            elif argument["k"] == "function":
                host.lost_code([argument["fn"]] if argument.get("fn") else [])
            elif argument["k"] == "var":
                held = host.load(host.named(argument["id"]))
                if isinstance(held, Function):
                    host.lost(held)
            elif calls_something(argument["t"]):
                raise Refused(f"{host.span(argument)}: a function object that a call is given")
    return found


def is_code(node: Node) -> bool:
    """Whether an argument is a function of the host code, a lambda or an object that calls one."""
    return (
        node["k"] == "lambda"
        or bool(node.get("fn") and node["k"] == "function")
        or calls_something(node["t"])
    )


def calls_something(type_: str) -> bool:
    """Whether it is the type of a lambda, a pointer to a function or a function object of the library."""
    return "lambda" in type_ or "(*)(" in type_ or type_.startswith("std::function<")


def _call(host: Evaluator, node: Node, hint: str) -> Value:
    run = host.run
    full = node["name"]
    name = full.split("::")[-1]
    span = host.span(node)
    scope = full.rsplit("::", 1)[0] if "::" in full else ""
    match full:
        case "vk::check":
            run.assume(host.condition(node["args"][0]), span)
            return Unknown("void")
        case "vk::asserted":  # not evaluated with NDEBUG
            if not host.idle(node["args"][0]):
                raise Refused(f"{span}: an assertion that does more than to look is not followed")
            return Unknown("void")
        case "vk::told":
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
        value = host.eval(args_nodes[0])
        if gives_away(node):
            host.given_away(args_nodes[0], value)
        return value
    if name in ("ceil", "floor", "ceilf", "floorf", "round", "roundf"):
        return _rounded(
            host, host.eval(args_nodes[0]), name.removesuffix("f") if name != "ceilf" else "ceil", node
        )
    if name == "tie":
        raise Refused(f"{span}: std::tie() is not followed")
    if name in ("make_tuple", "make_pair"):
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
        return cuda_call(host, name, args_nodes, node)
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
    if name in ("memcpy", "memset", "fill", "sort", "fread", "copy", "iota", "strcpy", "sprintf", "snprintf"):
        for argument in args_nodes:
            value = host.eval(argument)
            host.overwrite(value, f"{span}: {name}()")
            if name == "memcpy":  # it may copy pointers
                host.lost(host.load(value) if isinstance(value, Address) else value)
        return Unknown("host memory")
    if name in ("abs", "labs") and isinstance(value := host.eval(args_nodes[0]), Int):
        return value if value.lo is not None and value.lo >= 0 else host.free_int(value.type, f"{span}: abs")
    if name == "clamp" and len(args_nodes) == 3:
        return _clamp(host, args_nodes)
    if name == "ceil_div" and scope == "at":
        return _ceil_div(host, args_nodes, node)
    if name == "accumulate":
        return _accumulate(host, args_nodes, node)
    if device_choice.SETTER.fullmatch(full):
        device_choice.chosen_by(host, [host.eval(a) for a in args_nodes], node)
        return Unknown("void")
    if name in ("strcmp", "strlen", "to_string", "getenv", "cudaGetErrorString"):
        return Unknown(f"{name}()")
    if scope in ("at", "torch") or scope.startswith(("torch::nn::functional", "at::native")):
        return torch_call(host, name, args_nodes, node, hint)
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
    handles = not full.startswith(("at::", "torch::")) or name.endswith(("_", "_out", "_outf"))
    for argument in args_nodes:
        host.havoc_node(argument, handles)
    if node["t"] == "at::Tensor":
        return tensors.opaque(run, hint or name, f"{full}()")
    return Unknown(f"{span}: {full}()")


def _dispatch(host: Evaluator, node: Node) -> Value:
    subject, wanted = host.eval(node["args"][0]), host.eval(node["args"][1])
    if not isinstance(wanted, Dtype):
        raise Refused(f"{host.span(node)}: dispatch over something that is not a dtype")
    if not isinstance(subject, Dtype):
        raise Refused(f"{host.span(node)}: dispatch on a dtype that is not followed")
    return tensors.same_dtype(host.run, subject, wanted)


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
            for given in values:  # perhaps what compares them
                host.lost(given)
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
    type_ = common(a.type, b.type)
    a, b = convert(a, type_), convert(b, type_)
    total = arith("+", a, b, type_)
    less = arith("-", total, const(1, type_), type_) if total else None
    return (arith("/", less, b, type_) if less else None) or Unknown("ceil_div")


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
        whole = arith("/", top, bottom, PY) if top.lo is not None and top.lo >= 0 else None
    else:
        more = arith("-", arith("+", top, bottom, PY) or top, const(1, PY), PY)
        whole = arith("/", more, bottom, PY) if more else None
    if whole is None:
        return Float()
    if name == "ceil":
        text = f"ceil_div({top.text}, {bottom.text})"
        if top.lo is None or top.lo < 0:  # towards zero is up
            text = f"({text} if {top.text} >= 0 else {top.text} // {bottom.text})"
        whole = Int(text, whole.lo, whole.hi, PY, whole.taint)
    return Float(None, (whole, const(1)), "f64")


def fits_double(value: Int) -> bool:
    return value.lo is not None and value.hi is not None and value.lo >= -(1 << 53) and value.hi <= 1 << 53


def _accumulate(host: Evaluator, nodes: list[Node], node: Node) -> Value:
    """The product over a list with ``std::multiplies`` from 1, computed at the type of the initial value."""
    values = [host.eval(item) for item in nodes]
    if len(values) == 4 and isinstance(values[0], Iterator) and isinstance(values[1], Iterator):
        first, last, start = values[0], values[1], values[2]
        whole = first.items == last.items and nodes[3]["t"].startswith("std::multiplies<")
        given = (elements.template_arguments(nodes[3]["t"]) or ("void",))[0] if whole else ""
        own = dtype_of(given)  # std::multiplies<int> computes in int, which is not followed
        if whole and isinstance(start, Int) and (given == "void" or own in ("i64", "u64")):
            total: Int | None = start
            for item in first.items[first.index : last.index]:
                if not isinstance(item, Int) or total is None:
                    return Unknown("std::accumulate")
                if own is not None:
                    total, item = convert(total, own), convert(item, own)
                type_ = common(total.type, item.type)
                product = arith("*", convert(total, type_), convert(item, type_), type_)
                if product is not None and own is not None:
                    product = convert(product, own)
                total = convert(product, start.type) if product is not None else None
            if total is not None:
                return total
    for function in values[3:]:  # what it calls
        host.lost(function)
    return Unknown(f"{host.span(node)}: std::accumulate")
