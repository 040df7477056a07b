"""Which buffer of the kernel is which argument or parameter of a problem's ``Model``: only where one reading fits.

kernel, contract, problem, submission, sizes -> Binding, or Unbound with the reason. The model's forward arguments and
then its parameters are matched to the kernel's inputs in order, by shape, at every size of the pool; the output is the
one fresh buffer. ``ModelNew.forward`` must be one call of the extension, and the launcher one launch, with nothing but
views and allocations around them: else the kernel's output is not the model's, and a difference a false alarm.

Example::

    bind(kernel, contract, problem, submission, pool, oracle.describe)   # inputs: argument 0 -> A, argument 1 -> B
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fuzz import shapes
from fuzz.binding import Binding, Readings, Symbols, Unbound, filled
from fuzz.pointers import loaded, written
from fuzz.reference import Reference
from specs import clauses
from specs.contract import Contract
from specs.reference_ops import Operand, Shape
from verifier.contracts.problem import Argument, Problem
from verifier.ir import nodes as ir
from verifier.source.device_text import Submission

Describe = Callable[[dict[str, Any]], dict[str, Any]]
_VIEWS = frozenset(
    "contiguous view reshape cuda detach size numel dim flatten unsqueeze squeeze to float".split()
)
_CPP_METHODS = frozenset(
    """
    size sizes numel dim data_ptr const_data_ptr mutable_data_ptr contiguous view reshape options device
    dtype scalar_type is_cuda is_contiguous defined type get index data packed_accessor32
    packed_accessor64 stream itemsize layout requires_grad get_device has_value value element_size
    ndimension sym_sizes unsqueeze squeeze flatten def doc x y z begin end size_bytes push_back c_str
    str
    """.split()
)
_CPP_NAMES = frozenset(
    """
    Tensor empty empty_like TensorOptions kFloat kFloat32 kHalf kBFloat16 kDouble kInt kInt32 kLong
    kInt64 kBool kCUDA device dtype Device DeviceType optional cuda getCurrentCUDAStream IntArrayRef
    ScalarType Half BFloat16 zeros zeros_like PackedTensorAccessor32 RestrictPtrTraits CUDAGuard
    OptionalCUDAGuard autograd memory_format MemoryFormat Contiguous nullopt detail check_positive
    """.split()
)


def bind(
    kernel: ir.Kernel,
    contract: Contract,
    problem: Problem,
    submission: Submission,
    pool: Sequence[Symbols],
    describe: Describe,
) -> Readings:
    """The one binding that fits, or Unbound."""
    if not problem.has_model:
        raise Unbound(f"{problem.path} has no class Model")
    if not pool:
        raise Unbound("no launch sizes satisfy the contract")
    _only_a_launch(submission)
    outputs = [p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and p.name in written(kernel)]
    reads = [p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and p.name not in outputs]
    if len(outputs) != 1:
        raise Unbound(
            f"the kernel writes {', '.join(outputs) or 'nothing'}: which one is the model's output is not known"
        )
    buffer = contract.buffer(outputs[0])
    if (
        buffer is None
        or not buffer.fresh
        or (outputs[0] in loaded(kernel) and not filled(contract, outputs[0]))
    ):
        raise Unbound(f"{outputs[0]} is not a fresh buffer, so it is not the model's output for sure")
    numbers = [{k: v for k, v in sizes.items() if k in problem.values} for sizes in pool]
    wire: dict[str, Any] = {
        "kind": "model",
        "path": problem.path,
        "text": problem.text,
        "values": problem.values,
        "arguments": [_constant(a) for a in problem.inputs],
    }
    parameters = describe({**wire, "pool": numbers})["parameters"]
    sources = _sources(problem, parameters)
    chosen = list(_matchings(contract, problem, reads, sources, parameters, pool))
    needed = {f"argument {i}" for i, a in enumerate(problem.inputs) if a.kind == "tensor"}
    chosen = [c for c in chosen if needed <= set(c)]
    if not chosen:
        raise Unbound(
            f"{', '.join(reads)} do not match the arguments and parameters of Model by order and shape"
        )
    if len(chosen) > 1:
        raise Unbound(f"{', '.join(reads)} match the arguments and parameters of Model in more than one way")
    wire["operands"] = list(chosen[0])
    operands = tuple(
        (Operand(where, values="positive" if where.endswith("running_var") else "real"), param)
        for where, param in zip(chosen[0], reads, strict=True)
    )
    reference = Reference(f"Model of {problem.path}", wire=wire)
    texts = {
        param: _texts(contract, problem, where, param) for where, param in zip(chosen[0], reads, strict=True)
    }
    return Readings(
        (Binding(reference, operands, (outputs[0],), stated=_floats(kernel, problem), shapes=texts),)
    )


def _texts(contract: Contract, problem: Problem, source: str, param: str) -> shapes.Texts:
    """An argument has the problem's shape; a parameter is given flat (the model knows its own)."""
    kind, _, name = source.partition(" ")
    own = problem.inputs[int(name)].shape if kind == "argument" else None
    buffer = contract.buffer(param)
    assert buffer is not None
    return own if own is not None else (buffer.extent,)


def _constant(argument: Argument) -> dict[str, Any]:
    match argument.kind:
        case "int":
            return {"text": argument.text}
        case "tensor" | "none":
            return {"value": None}
        case "float" | "bool" | "text":
            return {"value": argument.value}
        case _:
            raise Unbound(f"an argument of forward() is a {argument.kind}")


def _sources(problem: Problem, parameters: list[list[list[Any]]]) -> list[str]:
    names = [f"argument {i}" for i, a in enumerate(problem.inputs) if a.kind == "tensor"]
    return names + [f"parameter {name}" for name, _ in parameters[0]]


def _matchings(
    contract: Contract,
    problem: Problem,
    reads: list[str],
    sources: list[str],
    parameters: list[list[list[Any]]],
    pool: Sequence[Symbols],
) -> Iterator[tuple[str, ...]]:
    """Every way to give the kernel's inputs to the sources that keeps the order and fits all sizes."""
    fits = {
        (param, source): all(
            _same(contract, param, _shape(problem, source, sizes, own), sizes)
            for sizes, own in zip(pool, parameters, strict=True)
        )
        for param in reads
        for source in sources
    }

    def extend(at: int, after: int) -> Iterator[tuple[str, ...]]:
        if at == len(reads):
            yield ()
            return
        for place in range(after, len(sources)):
            if fits[reads[at], sources[place]]:
                for rest in extend(at + 1, place + 1):
                    yield (sources[place], *rest)

    yield from extend(0, 0)


def _shape(problem: Problem, source: str, sizes: Symbols, parameters: list[list[Any]]) -> Shape | None:
    kind, _, name = source.partition(" ")
    if kind == "parameter":
        return next(tuple(shape) for n, shape in parameters if n == name)
    texts = problem.inputs[int(name)].shape
    return None if texts is None else tuple(clauses.evaluate(t, {**problem.values, **sizes}) for t in texts)


def _same(contract: Contract, param: str, shape: Shape | None, sizes: Symbols) -> bool:
    buffer = contract.buffer(param)
    if shape is None or buffer is None or math.prod(shape) != clauses.evaluate(buffer.extent, sizes):
        return False
    if not buffer.shape:
        return True
    have = shapes.sizes_of(buffer.shape, sizes)
    return len(have) == 1 or [n for n in have if n != 1] == [n for n in shape if n != 1]


def _floats(kernel: ir.Kernel, problem: Problem) -> dict[str, float]:
    """A float scalar is the one float among the problem's arguments, or it is not known."""
    scalars = [p.name for p in kernel.params if isinstance(p.type, ir.Float)]
    if not scalars:
        return {}
    known = [
        float(a.value) for a in (*problem.init, *problem.inputs) if a.kind == "float" and a.value is not None
    ]
    if len(scalars) > 1 or len(known) != 1:
        raise Unbound(f"which value of the problem the scalar {scalars[0]} has is not known")
    return {scalars[0]: known[0]}


def _only_a_launch(submission: Submission) -> None:
    """Refuses Python and C++ around the launch that may compute something."""
    if submission.python:
        _forward(submission.python)
    text = "\n".join(t for _, _, t in submission.units) if submission.units else submission.raw
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", " ", text, flags=re.S)
    for name in re.findall(r"\b(?:torch|at|c10)::(?:cuda::)?(\w+)", text):
        if name not in _CPP_NAMES:
            raise Unbound(f"the host code uses {name}, so the kernel's output may not be the model's")
    for name in re.findall(r"(?:\.|->)\s*([A-Za-z_]\w*)\s*(?:<[^<>()]*>)?\(", text):
        if name not in _CPP_METHODS:
            raise Unbound(f"the host code calls .{name}(), so the kernel's output may not be the model's")


def _forward(python: str) -> None:
    try:
        tree = ast.parse(python)
    except SyntaxError as error:
        raise Unbound("the Python text cannot be read") from error
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "ModelNew"]
    forwards = [f for c in classes for f in c.body if isinstance(f, ast.FunctionDef) and f.name == "forward"]
    if len(forwards) != 1:
        raise Unbound("the Python text has no single ModelNew.forward")
    calls = 0
    for node in ast.walk(forwards[0]):
        match node:
            case (
                ast.BinOp()
                | ast.AugAssign()
                | ast.For()
                | ast.While()
                | ast.Lambda()
                | ast.Try()
                | ast.ListComp()
            ):
                raise Unbound(f"ModelNew.forward computes something itself (line {node.lineno})")
            case ast.Call(func=ast.Attribute(attr=name)) if name in _VIEWS:
                pass
            case ast.Call(func=ast.Name(id=name)) if name in ("float", "int", "bool"):
                pass
            case ast.Call(func=function):
                if ast.unparse(function).startswith(("torch.", "F.", "nn.")):
                    raise Unbound(f"ModelNew.forward calls {ast.unparse(function)} (line {node.lineno})")
                calls += 1
            case _:
                pass
    if calls != 1:
        raise Unbound(f"ModelNew.forward makes {calls} calls; one call of the extension can be compared")
