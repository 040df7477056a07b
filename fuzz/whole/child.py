"""The submission's own process: ``python -m fuzz.whole.child`` runs ModelNew with its launchers on CPU tensors.

Everything here is at the mercy of what it loads, so nothing that it says is believed: it sends raw bytes, and the parent
runs the kernels and forms the verdict. Tensors are on the CPU and claim to be on CUDA. A launch stops here until the
parent has sent back the memory that the kernel changed.

Requests: ``load`` (library, Python text), ``build`` (sizes, init arguments, seed), ``run`` (parameters, inputs).
Answers: ``launch`` any number of times, then ``done`` or ``error``.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from verifier.isolation import pipes

DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 11: "bool",
    15: "bfloat16",
}  # fmt: skip
_Hook = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_char_p)


class Stopped(RuntimeError):
    """The parent ended the run, or something here is not supported; named."""


class Host:
    """The library of launchers. Tensors are known to it by number, for the time of one run."""

    def __init__(self, path: str, launch: Callable[[dict[str, Any], dict[int, Any]], None]) -> None:
        self.launch = launch
        self.tensors: dict[int, Any] = {}
        self.regions: dict[int, Any] = {}
        self.next = 0
        self.stopped = ""
        self.shared_object = ctypes.CDLL(path)
        self.shared_object.vk_names.restype = ctypes.c_char_p
        self.shared_object.vk_run.restype = ctypes.c_char_p
        self.hook = _Hook(self.answer)
        self.kept = b""
        self.shared_object.vk_setup(self.hook)
        self.names = set(self.shared_object.vk_names().decode().split())

    def forget(self) -> None:
        self.tensors.clear()
        self.regions.clear()

    def told(self, value: Any) -> str:
        """A value in the words that live.h reads."""
        import torch

        if isinstance(value, torch.Tensor):
            codes = {name: code for code, name in DTYPES.items()}
            code = codes.get(str(value.dtype).removeprefix("torch."))
            if code is None:
                raise Stopped(f"a tensor of {value.dtype}")
            self.next += 1
            self.tensors[self.next] = value
            storage = value.untyped_storage()
            self.regions[storage.data_ptr()] = storage
            address = value.data_ptr() if value.numel() else 0
            return " ".join(
                map(str, ("T", self.next, code, value.dim(), *value.shape, *value.stride(), address))
            )
        if value is None:
            return "N"
        if isinstance(value, bool):
            return f"B {int(value)}"
        if isinstance(value, int):
            return f"I {value}"
        if isinstance(value, float):
            return f"F {value!r}"
        if isinstance(value, str):
            return f"S {len(value.encode())} {value}"
        if isinstance(value, (list, tuple)):
            return " ".join([f"L {len(value)}", *map(self.told, value)])
        raise Stopped(f"an argument of type {type(value).__name__}")

    def read(self, value: Any) -> Any:
        """A value out of the JSON that live.h writes."""
        import torch

        if isinstance(value, list):
            return [self.read(v) for v in value]
        if isinstance(value, dict):
            if "tensor" in value:
                if value["tensor"] not in self.tensors:
                    raise Stopped("the host code keeps a tensor of an earlier call")
                return self.tensors[value["tensor"]]
            if "dtype" in value:
                return getattr(torch, DTYPES[value["dtype"]])
            if "tuple" in value:
                return tuple(self.read(v) for v in value["tuple"])
            if "format" in value:
                return (
                    torch.contiguous_format,
                    torch.preserve_format,
                    torch.channels_last,
                    torch.channels_last_3d,
                )[value["format"]]
        return value

    def answer(self, request: bytes) -> bytes:
        try:
            asked = json.loads(request)
            if "launch" in asked:
                self.launch(asked, self.regions)
                text = "N"
            else:
                text = self.call(asked)
        except Stopped as error:
            self.stopped = self.stopped or str(error)
            text = f"E{error}"
        except Exception as error:
            text = f"E{type(error).__name__}: {error}"
        self.kept = text.encode()
        return self.kept

    def call(self, asked: dict[str, Any]) -> str:
        """One ATen call by name."""
        import torch

        (what, name), given = next(iter(asked.items())), asked["args"]
        options = {}
        for entry in [a for a in given if isinstance(a, dict) and "options" in a]:
            if entry["options"] is not None:
                options["dtype"] = getattr(torch, DTYPES[entry["options"]])
        args = [
            self.read(a) for a in given if not (isinstance(a, dict) and ("options" in a or "unsaid" in a))
        ]
        formats = [a for a in args if isinstance(a, torch.memory_format)]
        if formats:
            options["memory_format"] = formats[0]
            args = [a for a in args if not isinstance(a, torch.memory_format)]
        if what == "memory":
            return self.told(poisoned(torch.empty(max(1, args[0]), dtype=torch.uint8)))
        if what == "item":
            return repr(float(args[0].item()))
        if what == "integer":
            return str(int(getattr(args[0], name)()))
        if what == "truth":
            return f"B {int(bool(getattr(args[0], name)(*args[1:], **options)))}"
        if what == "slice":
            tensor, dim, start, stop, step = args
            return self.told(tensor[(slice(None),) * (dim % tensor.dim()) + (slice(start, stop, step),)])
        if what == "operator":
            symbol = {"add": "__add__", "sub": "__rsub__", "mul": "__mul__", "div": "__rtruediv__"}.get(name)
            if symbol is None:
                raise Stopped(f"a number {name} a tensor")
            return self.told(getattr(args[1], symbol)(args[0]))
        if what == "method":
            if name == "to" and len(args) == 1 and not options:
                return self.told(args[0])
            result = getattr(args[0], name)(*args[1:], **options)
        else:
            functions: Any = torch.nn.functional
            function = getattr(torch, name, None) or getattr(functions, name)
            result = function(*args, **options)
        if name.endswith("empty") or name == "empty_like":
            poisoned(result)
        return self.told(list(result) if isinstance(result, tuple) else result)

    def run(self, name: str, args: Sequence[Any]) -> Any:
        words = self.told(list(args))
        said = self.shared_object.vk_run(name.encode(), words.encode()).decode("utf-8", "replace")
        if said[0] == "V":
            return self.read(json.loads(said[1:]))
        if said[0] == "U":
            self.stopped = self.stopped or f"{name} uses {said[1:]}"
        raise RuntimeError(said[1:])


def poisoned(tensor: Any) -> Any:
    """Fresh memory holds a NaN pattern (integers: a pattern), never zeros by chance."""
    import torch

    if tensor.numel():
        if tensor.dtype == torch.bool:
            tensor.fill_(True)
        elif tensor.is_floating_point():
            tensor.fill_(float("nan"))
        else:
            tensor.view(torch.uint8).fill_(0xA5)
    return tensor


class _Function:
    def __init__(self, host: Host, name: str) -> None:
        self._host, self.__name__ = host, name

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._host.run(self.__name__, [*args, *named.values()])


def extension(host: Host) -> Callable[..., Any]:
    """What stands for ``load_inline`` and ``load``."""

    def load(*_: Any, **__: Any) -> Any:
        module = types.ModuleType("extension")
        for name in host.names:
            setattr(module, name, _Function(host, name))
        return module

    return load


def pretend() -> Any:
    """A mode under which CPU tensors say that they are on CUDA and every device is this one."""
    import torch
    from torch.overrides import TorchFunctionMode

    getters: dict[Any, Callable[[], Any]] = {
        torch.Tensor.is_cuda.__get__: lambda: True,
        torch.Tensor.device.__get__: lambda: torch.device("cuda", 0),
    }
    fresh = ("empty", "empty_like", "new_empty", "empty_strided")

    def device(value: Any) -> bool:
        return isinstance(value, torch.device) or (
            isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu")
        )

    class Pretend(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = {
                k: v for k, v in (kwargs or {}).items() if k not in ("device", "pin_memory", "non_blocking")
            }
            name = getattr(func, "__name__", "")
            if name == "__get__" and func in getters:
                return getters[func]()
            if name in ("cuda", "cpu", "pin_memory"):
                return args[0]
            if name == "get_device":
                return 0
            if name in ("to", "_to"):
                rest = [a for a in args[1:] if not device(a) and type(a) is not bool and a is not None]
                kinds_ = [a.dtype if isinstance(a, torch.Tensor) else a for a in rest if type(a) is not int]
                dtype = kwargs.pop("dtype", None)
                kinds_ += [dtype] if dtype is not None else []
                return func(args[0], *kinds_, **kwargs) if kinds_ or kwargs else args[0]
            args = tuple(a for a in args if not isinstance(a, torch.device))
            result = func(*args, **kwargs)
            return poisoned(result) if name in fresh else result

    mode: Any = Pretend
    return mode()


def disguise(host: Host) -> None:
    """torch.cuda is there, and extensions are the library."""
    import torch

    class Nothing:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.cuda_stream = 0

        def __enter__(self) -> Nothing:
            return self

        def __exit__(self, *_: Any) -> None:
            return None

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda *_, **__: None

    cuda: Any = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_name = lambda *_: "stand-in"
    cuda.get_device_capability = lambda *_: (8, 0)
    for name in ("synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all", "init"):
        setattr(cuda, name, lambda *_, **__: None)
    for name in ("Stream", "Event", "device", "stream", "current_stream", "default_stream"):
        setattr(cuda, name, Nothing)
    stub: Any = types.ModuleType("torch.utils.cpp_extension")
    stub.load_inline = stub.load = extension(host)
    stub.CUDA_HOME = "/usr/local/cuda"
    stub.CUDAExtension = stub.CppExtension = stub.BuildExtension = Nothing
    sys.modules["torch.utils.cpp_extension"] = stub
    utils: Any = torch.utils
    utils.cpp_extension = stub


class Child:
    def __init__(self, out: Any) -> None:
        self.out = out
        self.host: Host
        self.model: Any = None
        self.inputs: list[Any] = []
        self.text = ""
        self.path = ""
        self.mode: Any = None

    def launch(self, asked: dict[str, Any], regions: dict[int, Any]) -> None:
        """Send the memories that the arguments may point into; take back what changed."""
        words = []
        for text in asked["args"].values():
            raw = bytes.fromhex(text)
            words += [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw) - 7, 8)]
        used = {base: s for base, s in regions.items() if any(base <= w <= base + s.nbytes() for w in words)}
        blobs = [ctypes.string_at(base, s.nbytes()) for base, s in used.items()]
        pipes.write(self.out, {"launch": asked, "bases": list(used)}, blobs)
        header, changed = pipes.read(0)
        if "stop" in header:
            raise Stopped(str(header["stop"]))
        for index, data in zip(header["changed"], changed, strict=True):
            base = list(used)[index]
            ctypes.memmove(base, data, min(len(data), used[base].nbytes()))

    def load(self, header: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        self.host = Host(header["library"], self.launch)
        disguise(self.host)
        self.mode = pretend()
        self.text, self.path = header["text"], header["path"]
        return {"done": sorted(self.host.names)}, []

    def build(self, header: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """A fresh ModelNew; its parameters and buffers as they are."""
        import torch

        from fuzz.models import scope_of

        self.host.forget()
        self.inputs = []
        with self.mode, torch.no_grad():
            scope = scope_of(self.text, self.path, header["sizes"])
            if "ModelNew" not in scope:
                raise Stopped("the submission has no ModelNew")
            torch.manual_seed(header["seed"])
            init = header["init"]
            self.model = scope["ModelNew"](**init) if isinstance(init, dict) else scope["ModelNew"](*init)
        named = self.state()
        facts = [[n, list(t.shape), str(t.dtype).removeprefix("torch.")] for n, t in named.items()]
        return {"done": facts}, [raw(t) for t in named.values()]

    def state(self) -> dict[str, Any]:
        """Parameters, buffers and plain tensors by name; a tensor with two names under the first."""
        import torch

        named = {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}
        seen = {id(t) for t in named.values()}
        for prefix, module in self.model.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, torch.Tensor) and id(value) not in seen:
                    seen.add(id(value))
                    named[f"{prefix}.{name}" if prefix else name] = value
        return named

    def run(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        import torch

        self.host.forget()
        self.host.stopped = ""
        tensors = [tensor(d, s, b) for (d, s), b in zip(header["tensors"], blobs, strict=True)]
        named = self.state()
        for name, index in header["state"].items():
            named[name].data.copy_(tensors[index].reshape(named[name].shape))
        places = [a["tensor"] for a in header["arguments"] if "tensor" in a]
        if header["keep"] and [_kind(tensors[i]) for i in places] == list(map(_kind, self.inputs)):
            for index, old in zip(places, self.inputs, strict=True):
                tensors[index] = old.copy_(tensors[index])
        self.inputs = [tensors[i] for i in places]
        args = [tensors[a["tensor"]] if "tensor" in a else a["value"] for a in header["arguments"]]
        torch.manual_seed(header["seed"])
        with self.mode, torch.no_grad():
            result = self.model(*args)
        if self.host.stopped:
            raise Stopped(self.host.stopped)
        outputs = flat(result)
        kept = [tensors[a["tensor"]] for a in header["arguments"] if "tensor" in a]
        shown = [[str(t.dtype).removeprefix("torch."), list(t.shape)] for t in outputs]
        return {"done": shown, "kept": len(kept)}, [raw(t) for t in [*outputs, *kept]]


def flat(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flat(v)]
    raise Stopped(f"ModelNew.forward gives a {type(value).__name__}")


def _kind(tensor: Any) -> tuple[Any, ...]:
    return tensor.dtype, tuple(tensor.shape)


def raw(value: Any) -> bytes:
    import torch

    return bytes(value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


def tensor(dtype: str, shape: Sequence[int], data: bytes) -> Any:
    import torch

    kind = getattr(torch, dtype)
    if not data:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).clone().view(kind).reshape(shape)


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        import torch
    except (ImportError, OSError) as error:
        pipes.write(out, {"error": f"torch: {error}"})
        return
    torch.set_num_threads(1)
    pipes.write(out, {"torch": torch.__version__})
    child = Child(out)
    while True:
        try:
            header, blobs = pipes.read(0)
        except pipes.PipeError:
            return
        try:
            match header["do"]:
                case "load":
                    answer, data = child.load(header)
                case "build":
                    answer, data = child.build(header)
                case _:
                    answer, data = child.run(header, blobs)
        except Exception as error:
            answer, data = {"error": _line(error), "stopped": isinstance(error, Stopped)}, []
        pipes.write(out, answer, data)


def _line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    first = text[0] if text else ""
    return first if isinstance(error, Stopped) else f"{type(error).__name__}: {first}"


if __name__ == "__main__":
    main()
