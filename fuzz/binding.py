"""How a kernel's parameters are the reference's arguments: kernel, contract, reference -> Binding, or Unbound with why.

Inputs are the pointers that the kernel does not write, in order (by name where the names say so), then those that it
reads and writes; outputs are the pointers it writes. Shapes are the contract's, or the factors of an extent that is a
product. A binding is used only if it is the only one that fits every size in ``pool``.

Invariant: every pointer has a role, every floating-point scalar is an option, and every output's shape is what the
reference gives; anything else is :class:`Unbound`, never a guess.

Example::

    bind(kernel, contract, parse("torch.softmax", ...), [{"rows": 2, "cols": 33}, ...])
    # Binding(inputs=(("input", "x"),), outputs=("y",), options={"dim": -1}, …)
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fuzz import dtypes
from fuzz.reference import Reference
from specs import clauses
from specs.contract import Buffer, Contract
from specs.reference_ops import DoesNotFit, Op, Operand, Option, Options, Shape, Value, numel
from verifier.ir import nodes as ir

Symbols = Mapping[str, int]


class Unbound(ValueError):
    """The parameters cannot be told apart; the message says which and what would decide it."""


@dataclass(frozen=True, slots=True)
class Binding:
    """``inputs``: (operand, pointer parameter). ``drawn``: option -> float scalar parameter, values are drawn.

    ``given``: option -> integer scalar parameter, the launch says its value. ``chosen``: option -> index into its
    candidates. ``fixed``: option -> value (the user's, or the default). ``stated``: float scalar -> its one value.
    """

    reference: Reference
    inputs: tuple[tuple[Operand, str], ...]
    outputs: tuple[str, ...]
    fixed: dict[str, Value] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    stated: dict[str, float] = field(default_factory=dict)

    def options(self, shapes: Sequence[Shape], scalars: Mapping[str, int | float | None]) -> dict[str, Value]:
        """Every option of the op for one launch."""
        op = self.reference.op
        assert op is not None
        values: dict[str, Value] = dict(self.fixed)
        values.update({name: scalars[param] for name, param in (self.drawn | self.given).items()})
        for name, index in self.chosen.items():
            option = op.option(name)
            assert option is not None and option.candidates is not None
            candidates = option.candidates(shapes)
            values[name] = candidates[index] if index < len(candidates) else option.default
        return values

    def text(self) -> str:
        """The comparison in words: ``y = softmax(input=x, dim=-1)``."""
        if self.reference.op is None:
            return f"{', '.join(self.outputs)} = {self.reference.text}"
        words = [f"{operand.name}={param}" for operand, param in self.inputs]
        words += [f"{k}={v!r}" for k, v in self.fixed.items() if v is not None]
        words += [f"{k}={p}" for k, p in (self.drawn | self.given).items()]
        return f"{', '.join(self.outputs)} = {self.reference.op.name}({', '.join(words)})"


def bind(kernel: ir.Kernel, contract: Contract, reference: Reference, pool: Sequence[Symbols]) -> Binding:
    """The one binding that fits, or Unbound."""
    if not pool:
        raise Unbound("no launch sizes satisfy the contract")
    pointers = [p for p in kernel.params if isinstance(p.type, ir.Pointer)]
    for pointer in pointers:
        buffer = contract.buffer(pointer.name)
        if buffer is None:
            raise Unbound(f"the contract does not say what {pointer.name} points to")
        if not dtypes.known(buffer.dtype):
            raise Unbound(f"{pointer.name} holds {buffer.dtype}, which the fuzzer does not know")
    outputs = [p.name for p in pointers if p.name in written(kernel)]
    if not outputs:
        raise Unbound("the kernel writes none of its buffers")
    used = loaded(kernel)
    both = [name for name in outputs if name in used and not filled(contract, name)]
    defined = [name for name in outputs if name not in both and _brought(contract, name)]
    reads = [p.name for p in pointers if p.name not in outputs]
    if reference.op is None:
        return _free(kernel, contract, reference, outputs, reads, both)
    return _op(kernel, contract, reference, reference.op, pool, outputs, reads, both, defined)


def filled(contract: Contract, param: str) -> bool:
    """Whether the launcher fills the buffer with one known value before the launch (``torch::zeros``)."""
    buffer = contract.buffer(param)
    return (
        buffer is not None
        and buffer.initialized
        and buffer.content is not None
        and len(set(buffer.content)) == 1
    )


def _brought(contract: Contract, param: str) -> bool:
    """Whether the caller gives the buffer with contents."""
    buffer = contract.buffer(param)
    return buffer is not None and buffer.initialized and not buffer.fresh and buffer.content is None


def _free(
    kernel: ir.Kernel,
    contract: Contract,
    reference: Reference,
    outputs: list[str],
    reads: list[str],
    both: list[str],
) -> Binding:
    """An expression (inputs by name) or a function (inputs in order)."""
    scalars = [p.name for p in kernel.params if isinstance(p.type, ir.Float)]
    if reference.names:
        inputs = [n for n in reference.names if n not in scalars]
        loose = [s for s in scalars if s not in reference.names]
        strange = [n for n in inputs if n not in reads and n not in both]
    else:
        inputs, loose, strange = [*reads, *both], scalars, []
    if strange:
        raise Unbound(f"{strange[0]} is not an input of the kernel")
    if loose:
        raise Unbound(f"the reference does not say what the scalar {loose[0]} means")
    for name in [*inputs, *outputs]:
        if shape_texts(contract, name) is None:
            raise Unbound(f"the shape of {name} is not known; state it in the contract")
    drawn = {n: n for n in reference.names if n in scalars}
    return Binding(reference, tuple((Operand(n), n) for n in inputs), tuple(outputs), drawn=drawn)


def _op(
    kernel: ir.Kernel,
    contract: Contract,
    reference: Reference,
    op: Op,
    pool: Sequence[Symbols],
    outputs: list[str],
    reads: list[str],
    both: list[str],
    defined: list[str],
) -> Binding:
    if len(outputs) != 1:
        raise Unbound(f"the kernel writes {', '.join(outputs)}, but {op.name} has one output")
    drawn, given = _scalars(kernel, contract, op, reference.options)
    reasons: list[str] = []
    fits: list[Binding] = []
    for inputs in _orders(op, reads, both, defined):
        settled = {**reference.options}
        names = [
            o for o in op.options if o.name not in settled and o.name not in drawn and o.name not in given
        ]
        open_ = [o for o in names if o.candidates is not None]
        settled.update({o.name: o.default for o in names if o.candidates is None})
        for chosen in _choices(open_, contract, op, inputs, pool[-1]):
            binding = Binding(reference, inputs, tuple(outputs), settled, drawn, given, chosen)
            try:
                for symbols in pool:
                    check(binding, contract, op, symbols)
                _no_stray(binding, both)
            except (DoesNotFit, Unbound) as error:
                reasons.append(str(error))
                continue
            fits.append(binding)
    if not fits and both and not reasons:
        reasons.append(f"the kernel also reads {both[0]}; state its contents in the contract")
    if not fits:
        raise Unbound(
            reasons[0] if reasons else f"{op.name} needs {_wanted(op)}, the kernel reads {_list(reads, both)}"
        )
    if len(fits) > 1:
        first, second = fits[0].chosen, fits[1].chosen
        unlike = next((name for name in first if first[name] != second.get(name)), None)
        if unlike is None:
            raise Unbound(
                f"more than one way to pass {_list(reads, both)} to {op.name}; write it as an expression"
            )
        raise Unbound(
            f"several values of {unlike} fit; say which, for example --reference '{op.name}(x, {unlike}=…)'"
        )
    return fits[0]


def _wanted(op: Op) -> str:
    return ", ".join(o.name + (" (optional)" if o.optional else "") for o in op.inputs)


def _list(reads: list[str], both: list[str]) -> str:
    return ", ".join([*reads, *both]) or "nothing"


def _orders(
    op: Op, reads: list[str], both: list[str], defined: list[str]
) -> Iterator[tuple[tuple[Operand, str], ...]]:
    """Ways to give the kernel's inputs to the operands: by name where names tell, else in order.

    The inputs are what it reads; if that is too little, a buffer that the caller fills and the kernel only overwrites
    is one as well (``y = a·x`` where ``y = a·x + y`` is meant).
    """
    needed = sum(not o.optional for o in op.inputs)
    for available in ([*reads], [*reads, *both], [*reads, *both, *defined]):
        if not needed <= len(available) <= len(op.inputs):
            continue
        by_name = _by_name(op, available)
        if by_name is not None:
            yield by_name
            return
        if len(available) == len(op.inputs) or len(available) == needed:
            kept = (
                op.inputs
                if len(available) == len(op.inputs)
                else tuple(o for o in op.inputs if not o.optional)
            )
            yield tuple(zip(kept, available, strict=True))
            return
        yield tuple(zip(op.inputs, available, strict=False))
        return


def _by_name(op: Op, available: list[str]) -> tuple[tuple[Operand, str], ...] | None:
    chosen: dict[str, str] = {}
    for param in available:
        owners = [o for o in op.inputs if param == o.name or param.strip("_") in o.names or param in o.names]
        if len(owners) != 1 or owners[0].name in chosen:
            return None
        chosen[owners[0].name] = param
    if any(not o.optional and o.name not in chosen for o in op.inputs):
        return None
    return tuple((o, chosen[o.name]) for o in op.inputs if o.name in chosen)


def _scalars(
    kernel: ir.Kernel, contract: Contract, op: Op, stated: Options
) -> tuple[dict[str, str], dict[str, str]]:
    """Options that scalar parameters carry: floats are drawn, integers come from the launch."""
    drawn: dict[str, str] = {}
    given: dict[str, str] = {}
    floats = [p.name for p in kernel.params if isinstance(p.type, ir.Float)]
    ints = [p.name for p in kernel.params if isinstance(p.type, ir.Int)]
    carries = [o for o in op.options if o.draws and o.name not in stated]
    for option in carries:
        match = [p for p in floats if (p == option.name or p in option.names) and p not in drawn.values()]
        if len(match) == 1:
            drawn[option.name] = match[0]
    loose = [p for p in floats if p not in drawn.values()]
    free = [o for o in carries if o.name not in drawn]
    if len(loose) == 1 and len(free) == 1:
        drawn[free[0].name] = loose.pop()
    if loose:
        raise Unbound(
            f"{op.name} does not say what the scalar {loose[0]} means; write the reference as an expression"
        )
    for option in op.options:
        if option.name in stated or option.name in drawn or not isinstance(option.default, (int, type(None))):
            continue
        match = [p for p in ints if p == option.name or p in option.names]
        if len(match) == 1 and not isinstance(option.default, bool):
            given[option.name] = match[0]
    return drawn, given


def _choices(
    options: Sequence[Option],
    contract: Contract,
    op: Op,
    inputs: tuple[tuple[Operand, str], ...],
    symbols: Symbols,
) -> Iterator[dict[str, int]]:
    shapes = [shape_of(contract, param, symbols, op.flat) for _, param in inputs]
    if any(s is None for s in shapes):
        shapes = [(1,) if s is None else s for s in shapes]
    counts = [range(len(o.candidates([s for s in shapes if s is not None]))) for o in options if o.candidates]
    for combination in itertools.product(*counts):
        yield {o.name: i for o, i in zip(options, combination, strict=True)}


def check(binding: Binding, contract: Contract, op: Op, symbols: Symbols) -> None:
    """Raises DoesNotFit or Unbound unless the shapes of this launch are the op's."""
    shapes = input_shapes(binding, contract, symbols)
    launch = clauses.instantiate(contract, symbols)
    for param in binding.given.values():
        if launch.scalars.get(param) is None:
            raise Unbound(f"the value of {param} is not known; state it in the contract")
    scalars = {**launch.scalars, **dict.fromkeys(binding.drawn.values(), 1.0)}
    wanted = op.shape(shapes, binding.options(shapes, scalars))
    output = binding.outputs[0]
    have = shape_of(contract, output, symbols, op.flat)
    buffer = next(b for b in launch.buffers if b.param == output)
    if numel(wanted[0]) != buffer.numel or (
        have is not None and not op.flat and _core(wanted[0]) != _core(have)
    ):
        given = ", ".join(map(str, shapes))
        raise DoesNotFit(
            f"{output} has shape {have or (buffer.numel,)}, but {op.name} of {given} has {wanted[0]}"
        )


def _no_stray(binding: Binding, both: list[str]) -> None:
    taken = {param for _, param in binding.inputs}
    for param in both:
        if param not in taken:
            raise Unbound(
                f"the kernel also reads {param}, the reference does not; state its contents in the contract"
            )


def _core(shape: Shape) -> Shape:
    return tuple(n for n in shape if n != 1)


def input_shapes(binding: Binding, contract: Contract, symbols: Symbols) -> list[Shape]:
    """Shapes of the reference's inputs at one launch."""
    op = binding.reference.op
    flat = op is not None and op.flat
    shapes = []
    for _, param in binding.inputs:
        shape = shape_of(contract, param, symbols, flat)
        if shape is None and op is not None and op.whole and _single(contract, binding.outputs[0]):
            shape = shape_of(contract, param, symbols, True)
        if shape is None:
            raise Unbound(f"the shape of {param} is not known; state it in the contract")
        shapes.append(shape)
    return shapes


def _single(contract: Contract, param: str) -> bool:
    buffer = contract.buffer(param)
    return buffer is not None and buffer.extent.strip() == "1"


def shape_of(contract: Contract, param: str, symbols: Symbols, flat: bool) -> Shape | None:
    """The shape at one launch; flat: just the number of elements."""
    buffer = contract.buffer(param)
    assert buffer is not None
    if flat:
        return (clauses.evaluate(buffer.extent, symbols),)
    texts = shape_texts(contract, param)
    return None if texts is None else tuple(clauses.evaluate(t, symbols) for t in texts)


def shape_texts(contract: Contract, param: str) -> tuple[str, ...] | None:
    """The contract's shape, or the factors of the extent; None for a bare extent of an unknown rank."""
    buffer = contract.buffer(param)
    assert buffer is not None
    if buffer.shape:
        return buffer.shape
    factors = _factors(clauses.parse(buffer.extent))
    if len(factors) > 1:
        return tuple(ast.unparse(f) for f in factors)
    if isinstance(factors[0], ast.Constant):
        return (buffer.extent,)
    equal = _equal_product(contract, buffer)
    return equal if equal is not None else ((buffer.extent,) if contract.origin == "stated" else None)


def _factors(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return [*_factors(a), *_factors(b)]
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in clauses.INT_TYPES:
            return _factors(inner)
    return [node]


def _equal_product(contract: Contract, buffer: Buffer) -> tuple[str, ...] | None:
    """``n == rows * cols`` among the preconditions makes (rows, cols) of an extent n."""
    for clause in contract.requires:
        match clauses.parse(clause.text):
            case ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]):
                for side, other in ((a, b), (b, a)):
                    if ast.unparse(side) == buffer.extent.strip() and len(_factors(other)) > 1:
                        return tuple(ast.unparse(f) for f in _factors(other))
    return None


def written(kernel: ir.Kernel) -> set[str]:
    """Pointer parameters that a store or an atomic may write, through any copies of the pointer."""
    places = [s.place for s in _statements(kernel.body) if isinstance(s, (ir.Store, ir.Atomic))]
    return _through_copies(kernel, {root for place in places for root in _place_roots(place)})


def loaded(kernel: ir.Kernel) -> set[str]:
    """Pointer parameters that a load or an atomic may read."""
    places = [s.place for s in _statements(kernel.body) if isinstance(s, (ir.Load, ir.Atomic))]
    return _through_copies(kernel, {root for place in places for root in _place_roots(place)})


def _through_copies(kernel: ir.Kernel, targets: set[str]) -> set[str]:
    sources: dict[str, set[str]] = {}
    for statement in _statements(kernel.body):
        match statement:
            case ir.Assign(var=var, value=value) if isinstance(kernel.locals.get(var), ir.Pointer):
                sources.setdefault(var, set()).update(_roots(value))
            case ir.Unsupported():
                targets = targets | {
                    p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and not p.type.const
                }
            case _:
                pass
    reached, todo = set(targets), list(targets)
    while todo:
        for source in sources.get(todo.pop(), ()):
            if source not in reached:
                reached.add(source)
                todo.append(source)
    return {p.name for p in kernel.params if p.name in reached}


def _statements(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        match statement:
            case ir.If(then=then, other=other):
                yield from _statements(then)
                yield from _statements(other)
            case ir.Loop(head=head, body=inner, step=step):
                for part in (head, inner, step):
                    yield from _statements(part)
            case ir.Scope(body=inner):
                yield from _statements(inner)
            case _:
                pass


def _place_roots(place: ir.Place) -> set[str]:
    match place:
        case ir.Deref(pointer=pointer):
            return _roots(pointer)
        case ir.Elem(array=inner) | ir.Member(struct=inner):
            return _place_roots(inner)
        case ir.Object():
            return set()


def _roots(pointer: ir.Expr) -> set[str]:
    match pointer:
        case ir.Read(name=name):
            return {name}
        case ir.PtrAdd(pointer=inner) | ir.Convert(operand=inner):
            return _roots(inner)
        case ir.Select(then=a, other=b):
            return _roots(a) | _roots(b)
        case ir.AddressOf(place=place):
            return _place_roots(place)
        case _:
            return set()
