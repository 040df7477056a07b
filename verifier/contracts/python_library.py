"""Calls of PyTorch, the builtins and other libraries by a Python caller.

Invariant: a library function that is not known to leave the caller's objects and tensors as they are is refused.

Example: ``torch.empty_like(x)`` allocates; ``math.ceil(n / 4)`` holds for the problem's ``n`` only, and says so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from verifier.contracts import layers, tensors, torch_ops, views
from verifier.contracts.layers import Layer
from verifier.contracts.objects import (
    Float,
    Items,
    Null,
    Shape,
    Sizes,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.python_decisions import PLAIN_BASES
from verifier.contracts.python_objects import Objects
from verifier.contracts.python_values import (
    EXCEPTIONS,
    OTHER_DEVICE,
    BoundMethod,
    Dotted,
    Extension,
    Hidden,
    PyClass,
    PyDict,
    PyIterator,
    PyList,
    PyObject,
    Scope,
    Super,
    holds_code,
    key_of,
    math_call,
    plain,
    product,
    reaches,
)
from verifier.contracts.values import (
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    as_bool,
    as_int,
    const,
    convert,
    truth,
)

_MAX_LOOP = 64
_LOADS = ("torch.utils.cpp_extension.load_inline", "torch.utils.cpp_extension.load")
_HOST = (
    "os.",
    "time.",
    "logging.",
    "warnings.",
    "pathlib.",
    "hashlib.",
    "tempfile.",
    "textwrap.",
    "datetime.",
    "platform.",
    "shutil.",
)
"""Libraries whose functions never change a tensor."""
_INERT = (
    "random.", "typing.", "torch.backends.", "torch.version.", "numpy.random.", "torch.utils.cpp_extension.", "itertools.count",
    "collections.namedtuple", "torch.random.", "torch.profiler.", "torch.autograd.profiler.",
)  # fmt: skip
"""Libraries whose functions change nothing of the caller, given only numbers and texts."""
_CUDA_SETTERS = frozenset(
    "synchronize empty_cache manual_seed manual_seed_all init reset_peak_memory_stats".split()
)
_CUDA_QUERIES = frozenset(
    "is_available device_count current_device get_device_name get_device_capability get_device_properties current_stream "
    "default_stream memory_allocated memory_reserved max_memory_allocated Event is_bf16_supported".split()
)
_SETTINGS = frozenset(
    "manual_seed seed set_grad_enabled set_num_threads set_printoptions set_float32_matmul_precision get_num_threads "
    "use_deterministic_algorithms initial_seed get_default_dtype is_grad_enabled".split()
)
_PAIRS = (
    "max",
    "min",
    "topk",
    "sort",
    "split",
    "chunk",
    "unbind",
    "cummax",
    "cummin",
    "median",
    "mode",
)
_ON_DEVICE = frozenset(
    (*torch_ops.CREATE, "tensor", "arange", "eye", "linspace", "logspace", "scalar_tensor", "randperm")
)
"""Functions that make a tensor where ``device`` says, on the CPU without it."""
_WINDOWS = frozenset(
    "range hann_window hamming_window blackman_window bartlett_window kaiser_window tril_indices triu_indices "
    "empty_permuted".split()
)
"""More of them, of whose results no more is followed."""
_FROM_DATA = frozenset("Tensor FloatTensor from_numpy as_tensor asarray frombuffer".split())
"""Functions that make a tensor of numbers on the CPU."""
_QUERIES = frozenset(
    "is_tensor is_floating_point is_complex is_autocast_enabled numel allclose equal finfo iinfo Generator result_type "
    "promote_types can_cast broadcast_shapes".split()
)
_KINDS = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm "
    "GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d ReLU GELU SiLU Sigmoid Tanh Softmax MaxPool1d MaxPool2d MaxPool3d "
    "AvgPool1d AvgPool2d AvgPool3d Embedding Sequential ModuleList Identity Flatten Dropout".split()
)
"""Layers none of which is another."""
_PURE = frozenset(
    "abs round pow divmod str repr type id hash callable any all sum set frozenset slice bytes chr ord hex sorted int float bool "
    "min max len range tuple list zip enumerate reversed map".split()
)
_CONTAINERS = frozenset(f"{m}.{k}" for m in ("collections.abc", "typing") for k in ("Iterable", "Sequence"))
_MODULE_NAMES = frozenset(
    "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval "
    "extra_repr float forward half ipu load_state_dict modules mtia parameters requires_grad_ share_memory state_dict "
    "to to_empty train training type xpu zero_grad".split()
)
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (Int, Bool), "bool": (Bool,), "str": (Text,), "tuple": (Items, Sizes), "list": (PyList,), "dict": (PyDict,),
    "float": (),
}  # fmt: skip


def _absent(owner: PyObject, name: str) -> bool:
    """Whether an attribute that the caller has not set is surely not there."""
    plain_module = owner.cls.libraries() <= PLAIN_BASES - {
        "torch.autograd.Function",
        "torch.autograd.function.Function",
    }
    return (
        plain_module
        and not name.startswith(("_", "register", "get_", "set_", "named_"))
        and name not in _MODULE_NAMES
    )


def _sources(values: Sequence[Any]) -> tuple[Any, ...]:
    """What an iterator over these goes through."""
    return tuple(
        v for value in values for v in (value, *(value.sources if isinstance(value, PyIterator) else ()))
    )


class Library(Objects):
    """Methods are left to the subclass."""

    def call_library(
        self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope, hint: str
    ) -> Any:
        last = name.split(".")[-1]
        if name in _LOADS and "is_python_module" not in kwargs:
            return Extension()
        if name.startswith("builtins."):
            return self._builtin(last, args, kwargs, node, scope)
        if name == "itertools.repeat" and len(args) == 2 and isinstance(args[1], Int) and not kwargs:
            if args[1].value is not None and 0 <= args[1].value <= _MAX_LOOP:
                return PyIterator([args[0]] * args[1].value)
        if last.startswith("_") and not name.startswith("torch.nn.init."):
            self.refuse(node, f"{name}()")
        if name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
            return self._container(last, args, kwargs, node)
        self.refuse_code(args, kwargs, node)
        lists = any(isinstance(v, PyList) for v in (*args, *kwargs.values()))
        args = [plain(a) for a in args]
        kwargs = {k: plain(v) for k, v in kwargs.items()}
        if any(isinstance(v, PyDict | PyIterator) for v in (*args, *kwargs.values())):
            self.refuse(node, f"what is passed to {name}()")
        if name in ("math.prod", "numpy.prod") and len(args) == 1 and not kwargs:
            found = product(self.sequence(args[0]) or [Unknown("")])
            fits = isinstance(found, Int) and found.value is not None and abs(found.value) < 1 << 63
            return found if fits or name == "math.prod" else Unknown(name)
        if name.startswith("math."):
            return Unknown(name) if kwargs else self._math(last, args, node)
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return self._parameter(args, kwargs, node, hint)
        if name.startswith("torch.nn.functional.") or (name.startswith("torch.") and name.count(".") == 1):
            return self._torch(name, last, args, kwargs, node, hint)
        if name.startswith(("torch.fft.", "torch.linalg.", "torch.special.")) and "out" not in kwargs:
            return torch_ops.call_function(self.run, name, args, kwargs, self.span(node), hint)
        if name.startswith("torch.nn.init."):
            if args and isinstance(args[0], Tensor):
                self.run.write(args[0].storage)
            else:
                self.forget_contents()
            return Unknown(f"{name}()")
        if name.startswith("torch.nn.") and name.count(".") == 2 and last[0].isupper():
            return layers.build(self.run, last, args, kwargs, hint or last.lower())
        if name.startswith("torch.cuda.") and last in _CUDA_SETTERS:
            return Null()
        if any(reaches(v) for v in (*args, *kwargs.values())):
            self.refuse(node, f"{name}() of objects")
        numbers = not any(isinstance(v, Tensor | Unknown) for v in (*args, *kwargs.values()))
        if name == "torch.cuda.is_available":  # where it is not, nothing is launched
            return TRUE
        if name.startswith("torch.cuda.") and last in _CUDA_QUERIES:
            return Unknown(f"{name}()")
        if not lists and (name.startswith(_HOST) or (numbers and name.startswith(_INERT))):
            return Unknown(f"{name}()")
        self.refuse(node, f"{name}()")

    def refuse_code(self, args: Sequence[Any], kwargs: dict[str, Any], node: ast.AST) -> None:
        """A function that is handed to a library may be called there with anything; an object may be changed."""
        if any(holds_code(v) for v in (*args, *kwargs.values())):
            self.refuse(node, "a function or an object that is passed on")

    def _container(self, kind: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Layer:
        parts = list(args)
        if (
            len(parts) == 1
            and (inner := self.sequence(parts[0])) is not None
            and not isinstance(parts[0], Layer)
        ):
            parts = inner
        if kind == "ModuleList" and len(args) > 1:
            self.refuse(node, "nn.ModuleList of several arguments")
        if kwargs or not all(isinstance(p, Layer | PyObject) for p in parts):
            self.refuse(node, f"what is passed to nn.{kind}")
        return Layer(kind, {f"_{i}": p for i, p in enumerate(parts)})

    def _parameter(self, args: list[Any], kwargs: dict[str, Any], node: ast.AST, hint: str) -> Any:
        source = args[0] if args else kwargs.get("data")
        if isinstance(source, Tensor):
            storage = self.run.storages[source.storage]
            self.registered.add(source.storage)
            storage.host_name = hint or storage.host_name
            if not self.running:  # the model's parameters are loaded or filled before it is used
                storage.initialized = True
                self.run.uninitialised.discard(source.storage)
            if not isinstance(source.dims, Shape):
                self.run.caller_dims.append(source.dims)
            return tensors.replace(source, host_name=hint or source.host_name)
        if source is None:
            self.refuse(node, "a parameter without data")
        return tensors.opaque(
            self.run, hint or "parameter", "a parameter made of something that is not followed"
        )

    def _math(self, last: str, args: list[Any], node: ast.AST) -> Any:
        pins = frozenset[str]().union(*(a.pins for a in args if isinstance(a, Float)))
        result = math_call(last, args)
        if isinstance(result, Float):
            return Float(result.value, pins=pins)
        if isinstance(result, Int):
            self.pin(pins, node)
        return result

    def _torch(
        self, name: str, last: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST, hint: str
    ) -> Any:
        if last in _SETTINGS or last in _QUERIES:
            return Unknown(f"{name}()")
        if last == "device":
            match args:
                case [Text(value=kind), Int(value=int(number))]:
                    return Text(f"{kind}:{number}")
                case [Text() as device] if tensors.elsewhere(device):
                    return device
            return OTHER_DEVICE
        if last in (
            "broadcast_tensors",
            "meshgrid",
        ):  # several views with fewer elements in memory than their sizes say
            self.refuse(node, f"{name}()")
        made = self._torch_value(name, last, args, kwargs, node, hint)
        device = kwargs.get("device", Null())
        if last in _WINDOWS and isinstance(made, Unknown) and isinstance(device, Null):
            made = tensors.allocate_unknown(self.run, hint or last, None)
        if isinstance(made, Tensor):
            away = tensors.elsewhere(device)
            copies = last in _FROM_DATA and not (args and isinstance(args[0], Tensor | Unknown))
            if (last in _ON_DEVICE or last in _WINDOWS or copies) and isinstance(device, Null):
                away = tensors.ON_CPU
            self.run.storages[made.storage].gap = away or self.run.storages[made.storage].gap
        return made

    def _torch_value(
        self, name: str, last: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST, hint: str
    ) -> Any:
        span = self.span(node)
        if last == "Size" and len(args) == 1 and isinstance(args[0], Items | Sizes):
            return args[0]
        if last in ("no_grad", "inference_mode", "enable_grad"):
            return Unknown(f"{name}()")
        if last == "empty_strided":
            strided = tensors.opaque(self.run, hint or last, name)
            self.run.storages[strided.storage].gap = tensors.overlapping(strided)
            return strided
        if torch_ops.changes_handle(last) or "out" in kwargs or last.startswith("set_"):
            self.refuse(node, f"{name}(), which may change a tensor in place,")
        if last in ("Tensor", "FloatTensor") and args and all(isinstance(a, Int) for a in args):
            return torch_ops.call_function(self.run, "empty", args, {}, span, hint)
        if last in ("Tensor", "FloatTensor", "tensor", "linspace", "eye", "arange") and not any(
            isinstance(a, Tensor) for a in args
        ):
            return tensors.allocate_unknown(self.run, hint or last, None)
        if last in (
            "Tensor",
            "FloatTensor",
            "from_numpy",
            "as_tensor",
            "asarray",
            "frombuffer",
            "from_dlpack",
        ):
            return tensors.opaque(self.run, hint or last, f"{name}(), which may share memory", None, args)
        if last in _PAIRS:
            self.dissolve(args)
            return Unknown(f"{last}()")
        if last in ("batch_norm", "instance_norm"):
            for value in args[1:3]:
                if isinstance(value, Tensor):
                    self.run.write(value.storage)
            if any(k.startswith("running") for k in kwargs) or any(isinstance(v, Unknown) for v in args[1:3]):
                self.forget_contents()
        if "dropout" in last and args and isinstance(args[0], Tensor):
            self.run.write(args[0].storage)
            return views.maybe_self(self.run, args[0], "to", [], {}, hint or last)
        made = torch_ops.call_function(self.run, last, args, kwargs, span, hint)
        if last in torch_ops.CREATE and isinstance(made, Tensor):
            self.run.storages[made.storage].how = "argument"  # the caller's, and on whatever device it is
        return made

    # --- builtins -------------------------------------------------------------------------------------------------------

    def _builtin(
        self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope
    ) -> Any:
        if name not in (
            "getattr",
            "setattr",
            "delattr",
            "super",
            "isinstance",
            "hasattr",
            "type",
            "dict",
            "print",
        ):
            for value in (*args, *kwargs.values()):
                if isinstance(value, Hidden):
                    self.refuse(node, value.why)
        if kwargs and name not in ("dict", "print"):
            if name in _PURE and not any(reaches(v) for v in (*args, *kwargs.values())):
                return Unknown(f"{name}()")
            self.refuse(node, f"{name}() with named arguments")
        match name, args:
            case "super", _:
                return self._super(args, node, scope)
            case (("int" | "float" | "bool"), [value]):
                return self._scalar(name, value, node)
            case "len", [value]:
                return self._length(value)
            case "range", _ if 1 <= len(args) <= 3 and all(isinstance(a, Int) for a in args):
                values = [a.value for a in args]
                if (
                    None not in values
                    and (len(values) < 3 or values[2] != 0)
                    and len(range(*values)) <= _MAX_LOOP
                ):
                    return Items(tuple(const(i, PY) for i in range(*values)))
                return Unknown("range()")
            case (("min" | "max"), [value]) if (inner := self.sequence(value)) is not None:
                if not any(reaches(v) for v in inner):
                    return self._extreme(name, inner)
            case (("min" | "max"), [_, _, *_]) if not any(reaches(v) for v in args):
                return self._extreme(name, args)
            case "tuple", []:
                return Items(())
            case (("tuple" | "list"), [value]):
                items = self.sequence(value)
                if items is not None:
                    return Items(tuple(items)) if name == "tuple" else PyList(items)
                if isinstance(value, Sizes) and name == "tuple":
                    return value
            case "list", []:
                return PyList([])
            case "dict", [] | [PyDict()]:
                return PyDict({**(args[0].items if args else {}), **kwargs})
            case "enumerate", [value] if not kwargs and (items := self.sequence(value)) is not None:
                return PyIterator([Items((const(i, PY), v)) for i, v in enumerate(items)], _sources([value]))
            case "reversed", [value] if (items := self.sequence(value)) is not None:
                return PyIterator(items[::-1], _sources([value]))
            case "zip", _ if not kwargs:
                columns = [c for c in map(self.sequence, args) if c is not None]
                if len(columns) == len(args):
                    return PyIterator(
                        [Items(tuple(row)) for row in zip(*columns, strict=False)], _sources(args)
                    )
            case "isinstance", [value, kinds]:
                return self._is_instance(value, kinds)
            case "print", _:
                if not any(
                    isinstance(v, PyObject | Hidden) or holds_code(v) for v in (*args, *kwargs.values())
                ):
                    return Null()
            case "abs", [Int() as value] if value.lo is not None and value.lo >= 0:
                return value
            case "setattr", [owner, Text(value=text), value]:
                self.set_attribute(owner, text, value, node)
                return Null()
            case "delattr", [PyObject() as owner, Text(value=text)]:
                self.set_attribute(owner, text, None, node)
                return Null()
            case "getattr", [owner, Text(value=text), *rest]:
                return self._get(owner, text, rest, node)
            case "hasattr", [owner, Text(value=text)]:
                found = self._get(owner, text, [Null()], node, probe=True)
                if isinstance(found, Hidden):
                    return FALSE
                return TRUE if found is TRUE else Unknown("hasattr()")
            case "type", [PyObject(cls=cls)]:
                return cls
            case "sum", [Items(items=items) | PyList(items=items)] if all(isinstance(i, Int) for i in items):
                total = const(0, PY)
                for item in items:
                    total = arith("+", total, convert(item, PY), PY) or total
                return total
            case "object", []:
                return Unknown("an object")
            case "str", [value] if (known := key_of(value)) is not None:
                return Text(str(known))
        given = (*args, *kwargs.values())
        lists = not any(reaches(e) for v in given if isinstance(v, PyList | Items) for e in v.items)
        others = any(reaches(v) for v in given if not isinstance(v, PyList | Items))
        if name in ("min", "max") and len(args) > 1:  # one of them
            lists = not any(reaches(v) for v in args)
        if (name in _PURE or name in EXCEPTIONS) and lists and not others:
            return Unknown(f"{name}()")
        self.refuse(node, f"{name}() of this")

    def _super(self, args: list[Any], node: ast.AST, scope: Scope) -> Super:
        cls, instance = args if len(args) == 2 else (scope.find("__class__"), scope.find("__first__"))
        if len(args) not in (0, 2) or not isinstance(cls, PyClass) or not isinstance(instance, PyObject):
            self.refuse(node, "super() here")
        if cls not in instance.cls.line():
            self.refuse(node, "super() of another class")
        return Super(instance, cls)

    def _length(self, value: Any) -> Any:
        items = self.sequence(value)
        if items is not None:
            return const(len(items), PY)
        if isinstance(value, Text):
            return const(len(value.value), PY)
        return tensors.size(self.run, value, const(0)) if isinstance(value, Tensor) else Unknown("len()")

    def _extreme(self, name: str, args: list[Any]) -> Any:
        if args and all(isinstance(a, Int) for a in args):
            out = convert(args[0], PY)
            for item in args[1:]:
                found = arith(name, out, convert(item, PY), PY)
                if found is None:
                    return Unknown(name)
                out = found
            return out
        return Unknown(name)

    def _get(self, owner: Any, name: str, rest: list[Any], node: ast.AST, probe: bool = False) -> Any:
        """``getattr``; with ``probe`` TRUE where the attribute is surely there."""
        if isinstance(owner, PyObject):
            value = self.recall(owner, name, self.kept.attributes, owner.attributes.get(name), node)
            if value is None and owner.cls.find(name) is None and rest and name != "training":
                if _absent(owner, name):
                    return Hidden("no attribute") if probe else rest[0]
                return FALSE if probe else self._perhaps(name, rest)
        found = self.attribute(owner, name, node)
        there = not isinstance(found, BoundMethod)
        if probe:
            return truth(there)
        if not there and rest:
            if reaches(owner):
                self.refuse(node, f"getattr() of {name}, which may not be there,")
            return self._perhaps(name, rest)
        return found

    def _perhaps(self, name: str, default: list[Any]) -> Unknown | Hidden:
        """An attribute that may not be there, or the value for that."""
        kind = Hidden if any(reaches(v) for v in default) else Unknown
        return kind(f"{name}, which may not be there,")

    def _is_instance(self, value: Any, kinds: Any) -> Any:
        """Where both sides are certain."""
        candidates = kinds.items if isinstance(kinds, Items) else (kinds,)
        answers = [self._is_one(value, k) for k in candidates]
        if TRUE in answers:
            return TRUE
        return FALSE if all(a == FALSE for a in answers) else Unknown("isinstance()")

    def _is_one(self, value: Any, kind: Any) -> Bool | None:
        match value, kind:
            case PyObject(cls=cls), PyClass():
                return truth(kind in cls.line())
            case PyObject(cls=cls), Dotted(name="torch.nn.Module"):
                return TRUE if any(n.startswith("torch.nn.") for n in cls.libraries()) else None
            case Layer(), PyClass():
                return FALSE
            case Layer(), Dotted(name="torch.nn.Module"):
                return TRUE
            case Layer(kind=mine), Dotted(name=name) if name.startswith("torch.nn.") and name.count(".") == 2:
                other = name.split(".")[-1]
                if mine == other:
                    return TRUE
                return FALSE if {mine, other} <= _KINDS else None
            case Tensor(), Dotted(name="torch.Tensor"):
                return TRUE
            case Int() | Bool() | Float(), Dotted(name=name) if name in _CONTAINERS:
                return FALSE
            case Text() | Items() | Sizes() | PyList(), Dotted(name=name) if name in _CONTAINERS:
                return TRUE
            case ((Int() | Bool() | Text() | Items() | Sizes() | PyList() | PyDict()), Dotted(name=name)) if (
                name.startswith("builtins.") and name[9:] in _TYPES
            ):
                return truth(isinstance(value, _TYPES[name[9:]]))
            case Float(value=number), Dotted(name="builtins.float") if number is not None:
                return TRUE
            case Tensor(), Dotted(name=name) if name.startswith("builtins."):
                return FALSE
        return None

    def _scalar(self, name: str, value: Any, node: ast.AST) -> Any:
        if isinstance(value, Bool):
            value = as_int(value, PY) if value.plain else Unknown("a condition")
        match name, value:
            case "int", Int():
                return value
            case "int", Float(value=number, pins=pins) if number is not None:
                self.pin(pins, node)
                return const(int(number), PY)
            case "float", Int():
                number, pins = self.number(value)
                return Float(None if number is None else float(number), pins=pins)
            case "float", Float():
                return value
            case "bool", Int():
                return as_bool(value)
        if reaches(value):
            self.refuse(node, f"{name}() of an object")
        return Unknown(f"{name}()")
