"""A user's own reference in the oracle's process: ``module:function``, or the ``Model`` of a problem file.

``{"kind": "function", "path": "refs.py", "function": "fused"}`` ·
``{"kind": "model", "path", "text", "values", "sizes", "arguments", "operands"}``: the problem's text is run with its
top-level integers replaced by ``sizes``; ``Model`` is built with a fixed seed, in float64; the inputs become forward
arguments (``argument 0``) or parameters (``parameter weight``); parameters that no input stands for are moved off their
initial values.

A whole model (``"whole": true``) may change its buffers, which are set before every run.

Invariant: the model is traced like every reference, so what has no derived bound is refused by name.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=8)
def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("user_reference", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def user_function(reference: dict[str, Any]) -> Callable[..., Any]:
    """The function that the user named."""
    module = (
        _load(reference["path"]) if reference.get("path") else importlib.import_module(reference["module"])
    )
    function = getattr(module, reference["function"], None)
    if not callable(function):
        where = reference.get("path") or reference["module"]
        raise AttributeError(f"{reference['function']} is not a function of {where}")
    return function  # type: ignore[no-any-return]


class _Sized(ast.NodeTransformer):
    """``NAME = 2048`` at the top level becomes the drawn size of that name."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes

    def visit_Module(self, node: ast.Module) -> ast.Module:
        body: list[ast.stmt] = []
        for statement in node.body:
            body.append(statement)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
            for name in [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]:
                again = ast.parse(f"{name} = __size__({name!r}, {name})").body[0]
                body.append(ast.copy_location(again, statement))
        node.body = body
        return node

    def size(self, name: str, value: Any) -> Any:
        if type(value) is int:
            return self.sizes.get(name, value)
        if isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
            return type(value)(self.sizes.get(f"{name}_{i}", v) for i, v in enumerate(value))
        return value


def scope_of(text: str, path: str, sizes: dict[str, int]) -> dict[str, Any]:
    """The names of a file that was run at these sizes."""
    change = _Sized(sizes)
    tree = ast.fix_missing_locations(change.visit(ast.parse(text, path)))
    scope: dict[str, Any] = {"__size__": change.size, "__name__": "problem", "__file__": path}
    exec(compile(tree, path, "exec"), scope)
    return scope


def _scope(reference: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    return scope_of(reference["text"], reference["path"], sizes)


def _model(reference: dict[str, Any], sizes: dict[str, int]) -> Any:
    import torch

    scope = _scope(reference, sizes)
    torch.manual_seed(0)
    init = scope["get_init_inputs"]() if "get_init_inputs" in scope else []
    return scope["Model"](**init) if isinstance(init, dict) else scope["Model"](*init)


def _trained(model: Any) -> Any:
    """Parameters as after some training: a kernel that leaves out a weight of 1 or a bias of 0 must not pass."""
    import torch

    for parameter in model.parameters():
        parameter.data += 0.5 * torch.randn_like(parameter)
    return model


_models: dict[str, Any] = {}


def describe(reference: dict[str, Any]) -> dict[str, Any]:
    """Names, shapes and types of the model's parameters and buffers at each of ``reference["pool"]``; types of outputs."""
    import torch

    answers: list[list[list[Any]]] = []
    outputs: list[str] | None = None
    for sizes in reference["pool"]:
        with torch.device("meta"):
            model = _model(reference, sizes)
            if not answers:
                outputs = _outputs(model, _scope(reference, sizes)["get_inputs"])
        tensors = [*model.named_parameters(), *model.named_buffers()]
        answers.append([[name, list(t.shape), _dtype(t)] for name, t in tensors])
    return {"parameters": answers, "outputs": outputs}


def _outputs(model: Any, inputs: Callable[[], Any]) -> list[str] | None:
    """The types of what the model gives, as it is; None where it does not run so."""
    try:
        result = model(*inputs())
        return [_dtype(t) for t in (result if isinstance(result, (tuple, list)) else (result,))]
    except Exception:  # not every operation runs without data, or in every type
        return None


def draw(reference: dict[str, Any], seed: int) -> list[Any]:
    """The tensors of ``get_inputs()`` at the drawn sizes, as float64 arrays."""
    import torch

    scope = _scope(reference, reference["sizes"])
    torch.manual_seed(seed)
    tensors = [t for t in scope["get_inputs"]() if isinstance(t, torch.Tensor)]
    return [t.detach().double().contiguous().numpy() for t in tensors]


def sample(reference: dict[str, Any], seed: int) -> tuple[dict[str, Any], list[bytes]]:
    """The model at these sizes: init arguments, parameters and buffers (at first, and moved off), inputs.

    Blobs: each tensor of the state as it is at first, each as it is later, each input tensor; all as raw bytes.
    """
    import torch

    scope = _scope(reference, reference["sizes"])
    torch.manual_seed(seed)
    init = scope["get_init_inputs"]() if "get_init_inputs" in scope else []
    _plain(init)
    torch.manual_seed(seed)
    model = scope["Model"](**init) if isinstance(init, dict) else scope["Model"](*init)
    learned = dict(model.named_parameters())
    state = {**learned, **dict(model.named_buffers())}
    blobs = [_raw(t) for t in state.values()]
    _trained(model)
    blobs += [_raw(t) for t in state.values()]
    torch.manual_seed(seed)
    inputs: list[dict[str, Any]] = []
    for value in scope["get_inputs"]():
        if isinstance(value, torch.Tensor):
            inputs.append({"tensor": [_dtype(value), list(value.shape)]})
            blobs.append(_raw(value))
        else:
            _plain(value)
            inputs.append({"value": value})
    facts = [[n, _dtype(t), list(t.shape), n in learned] for n, t in state.items()]
    outputs = _outputs(model, scope["get_inputs"])
    return {"init": init, "state": facts, "inputs": inputs, "outputs": outputs}, blobs


def _plain(value: Any) -> None:
    """Refuses what cannot be told to another process."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            _plain(item)
    elif not (value is None or isinstance(value, (bool, int, float, str))):
        raise Unsaid(f"an argument of the model is a {type(value).__name__}")


class Unsaid(ValueError):
    """An argument that has no JSON."""


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _raw(tensor: Any) -> bytes:
    import torch

    flat = tensor.detach().contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else b""


def evaluate(
    reference: dict[str, Any], inputs: list[Any], got: list[Any], fmt: Any
) -> list[tuple[Any, Any, Any]]:
    """(value, bounds, None) of each output of ``Model.forward``."""
    import torch

    from fuzz.tracing import trace
    from specs import clauses

    sizes = reference["sizes"]
    key = repr((reference["path"], sorted(sizes.items())))
    if key not in _models:
        if len(_models) > 16:
            _models.clear()
        _models[key] = _trained(_model(reference, sizes).double())
    model = _models[key]
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    arguments: list[Any] = []
    for entry in reference["arguments"]:
        if "text" in entry:
            arguments.append(clauses.evaluate(entry["text"], {**reference["values"], **sizes}))
        else:
            arguments.append(entry.get("value"))
    for where, tensor in zip(reference["operands"], inputs, strict=True):
        kind, _, name = where.partition(" ")
        if kind == "argument":
            arguments[int(name)] = tensor
        else:
            named[name].data.copy_(tensor.reshape(named[name].shape).to(torch.float64))
    learned = dict(model.named_parameters()) if reference.get("whole") else named
    wanted = [w.partition(" ")[2] for w in reference["operands"] if w.startswith("parameter")]
    parameters = [learned[name] for name in wanted if name in learned]
    return trace(lambda: model(*arguments), [*inputs, *parameters], got, fmt)
