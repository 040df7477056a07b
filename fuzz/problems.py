"""Which buffer of the kernel is which argument or parameter of a problem's ``Model``: only where one reading fits.

kernel, contract, problem, submission, sizes -> Binding, or Unbound with the reason. The model's forward arguments and
then its parameters are matched to the kernel's inputs as the contract says (``Buffer.source``), else in order by shape
at every size of the pool; the output is ``Contract.result``, else the one fresh buffer. Then ``ModelNew.forward`` must
be one call of the extension, and the launcher one launch, with nothing but views and allocations around them: else the
kernel's output is not the model's, and a difference a false alarm.

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
from fuzz.binding import Binding, Readings, Symbols, Unbound, brought, filled
from fuzz.dtypes import FLOATS, NAMES, rounded
from fuzz.pointers import loaded, written
from fuzz.reference import Reference
from specs import clauses
from specs.contract import Contract
from specs.reference_ops import Operand, Shape
from verifier.contracts.problem import Argument, Problem
from verifier.ir import nodes as ir
from verifier.source.device_text import Submission

Describe = Callable[[dict[str, Any]], dict[str, Any]]
_VIEWS = frozenset("contiguous cuda detach size numel dim".split())
_PLAIN = frozenset(
    "rand randn randint cuda to contiguous float bool int long half tuple list range Size".split()
)
_CPP_METHODS = frozenset(
    """
    size sizes numel dim data_ptr const_data_ptr mutable_data_ptr contiguous options device
    dtype scalar_type is_cuda is_contiguous defined type get data packed_accessor32
    packed_accessor64 stream itemsize layout requires_grad get_device has_value value element_size
    ndimension sym_sizes def doc x y z begin end size_bytes push_back c_str
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
    outputs = [p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and p.name in written(kernel)]
    reads = [p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and p.name not in outputs]
    reads += [name for name in outputs if name in loaded(kernel) and brought(contract, name)]
    output = _output(kernel, contract, submission, outputs)
    passed = [b is not None and bool(b.source) for b in map(contract.buffer, reads)]
    if contract.origin == "lifted" and not all(passed):
        loose = reads[passed.index(False)]
        raise Unbound(f"{loose} may be something else than what forward() got; see --run-wrapper")
    origins = _origins(contract, problem, reads, pool)
    numbers = [{k: clauses.evaluate(t, sizes) for k, t in origins.items()} for sizes in pool]
    wire: dict[str, Any] = {
        "kind": "model",
        "path": problem.path,
        "text": problem.text,
        "values": problem.values,
        "arguments": [_constant(a) for a in problem.inputs],
        "sizes_from": origins,
    }
    told = describe({**wire, "pool": numbers})
    parameters = told["parameters"]
    where = _places(contract, problem, reads, parameters, pool, numbers)
    _same_types(contract, problem, where, reads, parameters[0], output, told["outputs"])
    wire["operands"] = list(where)
    operands = tuple(
        (Operand(place, values="positive" if place.endswith("running_var") else "real"), param)
        for place, param in zip(where, reads, strict=True)
    )
    texts = {
        param: _texts(contract, problem, place, param, origins)
        for place, param in zip(where, reads, strict=True)
    }
    texts[output] = _returned(contract, output, pool)
    reference = Reference(f"Model of {problem.path}", wire=wire)
    side = tuple(o for o in outputs if o != output)
    stated = _floats(kernel, contract, problem)
    bound = Binding(
        reference,
        operands,
        (output,),
        stated=stated,
        shapes=texts,
        side=side,
        structured=structured(problem.text),
    )
    return Readings((bound,))


def _output(kernel: ir.Kernel, contract: Contract, submission: Submission, outputs: list[str]) -> str:
    """The buffer that is the model's output: what forward() is known to return, or the one fresh buffer."""
    if contract.result in outputs:
        return contract.result
    if contract.origin == "lifted":
        raise Unbound("what forward() returns may be something else than what the kernel writes")
    if len(outputs) != 1:
        written_ = ", ".join(outputs) or "nothing"
        raise Unbound(f"the kernel writes {written_}: which one is the model's output is not known")
    _only_a_launch(submission)
    buffer = contract.buffer(outputs[0])
    if buffer is None or not buffer.fresh or (outputs[0] in loaded(kernel) and buffer.initialized):
        if not filled(contract, outputs[0]):
            raise Unbound(f"{outputs[0]} is not a fresh buffer, so it is not the model's output for sure")
    return outputs[0]


def _origins(
    contract: Contract, problem: Problem, reads: list[str], pool: Sequence[Symbols]
) -> dict[str, str]:
    """Problem symbol -> clause text over the contract's symbols: of the same name, or the dim at the same place."""
    names = {s.name for s in contract.symbols}
    if problem.dims <= names:
        return {name: name for name in problem.values if name in names}
    found: dict[str, str] = {}
    tensors = [a for a in problem.inputs if a.kind == "tensor"]
    for argument, param in zip(tensors, reads, strict=False):
        buffer = contract.buffer(param)
        if buffer is None or argument.shape is None or len(argument.shape) != len(buffer.shape):
            raise Unbound(f"the shape of {param} is not known to be that of an argument of forward()")
        for text, own in zip(argument.shape, buffer.shape, strict=True):
            if text.isidentifier():
                first = found.setdefault(text, own)
                if any(clauses.evaluate(first, s) != clauses.evaluate(own, s) for s in pool):
                    raise Unbound(f"{text} of the problem is both {first} and {own} of the launch")
    return found


def _places(
    contract: Contract,
    problem: Problem,
    reads: list[str],
    parameters: list[list[list[Any]]],
    pool: Sequence[Symbols],
    numbers: Sequence[Symbols],
) -> tuple[str, ...]:
    """Where each input of the kernel comes from: as the contract says, or the one way that order and shape leave."""
    sources = [f"argument {i}" for i, a in enumerate(problem.inputs) if a.kind == "tensor"]
    needed = set(sources)
    sources += [f"parameter {name}" for name, *_ in parameters[0]]
    fits = {
        (param, source): all(
            _same(contract, param, _shape(problem, source, known, own), sizes)
            for sizes, known, own in zip(pool, numbers, parameters, strict=True)
        )
        for param in reads
        for source in sources
    }
    said = tuple(b.source if (b := contract.buffer(param)) is not None else "" for param in reads)
    if all(said) and all(s in sources for s in said):
        unlike = [p for p, s in zip(reads, said, strict=True) if not fits[p, s]]
        if unlike:
            raise Unbound(f"{unlike[0]} has not the shape of {said[reads.index(unlike[0])]} of Model")
        return said
    chosen = [c for c in _matchings(reads, sources, fits) if needed <= set(c)]
    if not chosen:
        raise Unbound(
            f"{', '.join(reads)} do not match the arguments and parameters of Model by order and shape"
        )
    if len(chosen) > 1:
        raise Unbound(f"{', '.join(reads)} match the arguments and parameters of Model in more than one way")
    return chosen[0]


def _same_types(
    contract: Contract,
    problem: Problem,
    where: Sequence[str],
    reads: Sequence[str],
    parameters: list[list[Any]],
    output: str,
    outputs: list[str] | None,
) -> None:
    """The kernel works on the numbers of the model, in their own type, and gives its type."""
    types = {f"parameter {name}": dtype for name, _, dtype in parameters}
    types |= {f"argument {i}": a.dtype for i, a in enumerate(problem.inputs)}
    pairs = [(param, types[place]) for param, place in zip(reads, where, strict=True)]
    floats = [NAMES.get(types[w], types[w]) for w in where]
    widest = next((t for t in floats if t in FLOATS), "f32")
    pairs.append((output, outputs[0] if outputs else widest))
    for param, dtype in pairs:
        buffer, wanted = contract.buffer(param), NAMES.get(dtype, dtype)
        if (
            buffer is not None
            and buffer.dtype != wanted
            and (param != output or outputs or buffer.dtype in FLOATS)
        ):
            raise Unbound(f"{param} holds {buffer.dtype}, Model has {wanted or 'another type'} there")


def _returned(contract: Contract, output: str, pool: Sequence[Symbols]) -> shapes.Texts:
    """The dims of what comes back to the caller."""
    buffer = contract.buffer(output)
    texts = (
        contract.result_shape if contract.result == output else buffer.shape if buffer is not None else None
    )
    if texts is None or buffer is None:
        raise Unbound(f"the shape in which {output} is returned is not known")
    for sizes in pool:
        shape = shapes.sizes_of(texts, sizes)
        if math.prod(shape) != clauses.evaluate(buffer.extent, sizes):
            raise Unbound(f"a part of {output} is returned, or more than it")
    return texts


def _texts(
    contract: Contract, problem: Problem, source: str, param: str, origins: dict[str, str]
) -> shapes.Texts:
    """An argument has the problem's shape, in the contract's symbols; a parameter is flat (the model knows its own)."""
    kind, _, name = source.partition(" ")
    own = problem.inputs[int(name)].shape if kind == "argument" else None
    buffer = contract.buffer(param)
    assert buffer is not None
    if own is None:
        return (buffer.extent,)

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in origins:
                return clauses.parse(origins[node.id])
            return ast.Constant(problem.values[node.id]) if node.id in problem.values else node

    return tuple(ast.unparse(Renamed().visit(ast.parse(t, mode="eval").body)) for t in own)


def _constant(argument: Argument) -> dict[str, Any]:
    match argument.kind:
        case "int":
            return {"text": argument.text}
        case "tensor":
            return {"tensor": True, "value": None}
        case "none":
            return {"value": None}
        case "float" | "bool" | "text":
            return {"value": argument.value}
        case _:
            raise Unbound(f"an argument of forward() is a {argument.kind}")


def _matchings(
    reads: list[str], sources: list[str], fits: dict[tuple[str, str], bool]
) -> Iterator[tuple[str, ...]]:
    """Every way to give the kernel's inputs to the sources that keeps the order and fits all sizes."""

    def extend(at: int, after: int) -> Iterator[tuple[str, ...]]:
        if at == len(reads):
            yield ()
            return
        for place in range(after, len(sources)):
            if fits[reads[at], sources[place]]:
                for rest in extend(at + 1, place + 1):
                    yield (sources[place], *rest)

    yield from extend(0, 0)


def _shape(problem: Problem, source: str, known: Symbols, parameters: list[list[Any]]) -> Shape | None:
    kind, _, name = source.partition(" ")
    if kind == "parameter":
        return next(tuple(shape) for n, shape, _ in parameters if n == name)
    texts = problem.inputs[int(name)].shape
    return None if texts is None else tuple(clauses.evaluate(t, {**problem.values, **known}) for t in texts)


def _same(contract: Contract, param: str, shape: Shape | None, sizes: Symbols) -> bool:
    buffer = contract.buffer(param)
    if shape is None or buffer is None or math.prod(shape) != clauses.evaluate(buffer.extent, sizes):
        return False
    if not buffer.shape:
        return True
    have = shapes.sizes_of(buffer.shape, sizes)
    return len(have) == 1 or [n for n in have if n != 1] == [n for n in shape if n != 1]


def structured(text: str) -> bool:
    """Whether ``get_inputs`` makes its tensors by more than a plain random call."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
            made = [n for n in calls if ast.unparse(n.func).startswith("torch.")]
            sums = [
                n for n in ast.walk(node) if isinstance(n, ast.BinOp) and any(m in ast.walk(n) for m in made)
            ]
            named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            sums += [
                n
                for n in ast.walk(node)
                if isinstance(n, ast.BinOp) and named & {ast.unparse(m) for m in ast.walk(n)}
            ]
            return bool(sums) or any(ast.unparse(n.func).rpartition(".")[2] not in _PLAIN for n in calls)
    return True


def _floats(kernel: ir.Kernel, contract: Contract, problem: Problem) -> dict[str, float]:
    """A float scalar has the value that the caller is known to pass, or is the one float among the problem's arguments."""
    found: dict[str, float] = {}
    loose: list[str] = []
    for param in kernel.params:
        if isinstance(param.type, ir.Float):
            scalar = contract.scalar(param.name)
            if scalar is not None and scalar.real is not None:
                found[param.name] = rounded(scalar.real, param.type.name)
            else:
                loose.append(param.name)
    if loose:
        known = [
            float(a.value)
            for a in (*problem.init, *problem.inputs)
            if a.kind == "float" and a.value is not None
        ]
        if found or len(loose) > 1 or len(known) != 1:
            raise Unbound(f"which value of the problem the scalar {loose[0]} has is not known")
        found[loose[0]] = known[0]
    return found


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
                | ast.Subscript()
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
