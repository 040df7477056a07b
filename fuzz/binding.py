"""How a kernel's parameters are the reference's arguments: kernel, contract, reference -> Readings, or Unbound.

Inputs are the pointers that the kernel does not write, in order (by name where the names say so), then those that it
reads and writes; outputs are the pointers it writes. Shapes are those of ``fuzz.shapes``. A binding fits every size in
``pool``; there is more than one only where the contract leaves the order of dims open.

Invariant: every pointer has a role, every floating-point scalar is an option, and every output's shape is what the
reference gives; anything else is :class:`Unbound`, never a guess.

Example::

    bind(kernel, contract, parse("torch.softmax", ...), [{"rows": 2, "cols": 33}, ...])
    # Readings((Binding(inputs=(("input", "x"),), outputs=("y",), options={"dim": -1}, …),))
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fuzz import dtypes, shapes
from fuzz.pointers import loaded, written
from fuzz.reference import Reference
from fuzz.shapes import Texts
from specs import clauses
from specs.contract import Contract
from specs.reference_ops import DoesNotFit, Op, Operand, Option, Options, Shape, Value, numel
from verifier.ir import nodes as ir

Symbols = Mapping[str, int]
MOST_READINGS = 8


class Unbound(ValueError):
    """The parameters cannot be told apart; the message says which and what would decide it."""


@dataclass(frozen=True, slots=True)
class Binding:
    """``inputs``: (operand, pointer parameter). ``drawn``: option -> float scalar parameter, values are drawn.

    ``given``: option -> integer scalar parameter, the launch says its value. ``chosen``: option -> index into its
    candidates. ``fixed``: option -> value (the user's, or the default). ``stated``: float scalar -> its one value.
    ``shapes``: clause texts of each input's shape, and of an output's where it is known. ``side``: what the kernel
    writes besides and the reference does not have (the mean of a normalisation). ``structured``: the arguments must be
    those that the problem makes (a triangular matrix), not drawn ones.
    """

    reference: Reference
    inputs: tuple[tuple[Operand, str], ...]
    outputs: tuple[str, ...]
    fixed: dict[str, Value] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    stated: dict[str, float] = field(default_factory=dict)
    shapes: dict[str, Texts] = field(default_factory=dict)
    side: tuple[str, ...] = ()
    structured: bool = False

    def shape(self, param: str, symbols: Symbols) -> Shape | None:
        """Of one buffer at one launch; None for an output whose shape is not known beyond its size."""
        texts = self.shapes.get(param)
        return None if texts is None else shapes.sizes_of(texts, symbols)

    def input_shapes(self, symbols: Symbols) -> list[Shape]:
        """Of the reference's inputs at one launch."""
        found = [self.shape(param, symbols) for _, param in self.inputs]
        return [s for s in found if s is not None]

    def options(self, inputs: Sequence[Shape], scalars: Mapping[str, int | float | None]) -> dict[str, Value]:
        """Every option of the op for one launch."""
        op = self.reference.op
        assert op is not None
        values: dict[str, Value] = dict(self.fixed)
        values.update({name: scalars[param] for name, param in (self.drawn | self.given).items()})
        for name, index in self.chosen.items():
            option = op.option(name)
            assert option is not None and option.candidates is not None
            candidates = option.candidates(inputs)
            values[name] = candidates[index] if index < len(candidates) else option.default
        return values

    def text(self, options: Options | None = None) -> str:
        """The comparison in words: ``y = softmax(input=x, dim=-1)``; with all ``options`` of a launch if given."""
        if self.reference.op is None:
            return f"{', '.join(self.outputs)} = {self.reference.text}"
        words = [f"{operand.name}={param}" for operand, param in self.inputs]
        if options is not None:
            words += [f"{k}={v!r}" for k, v in options.items() if v is not None]
        else:
            words += [f"{k}={v!r}" for k, v in self.fixed.items() if v is not None]
            words += [f"{k}={p}" for k, p in (self.drawn | self.given).items()]
        return f"{', '.join(self.outputs)} = {self.reference.op.name}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Readings:
    """All bindings that fit: more than one only where the contract leaves the order of dims open.

    ``complete``: there is no other reading, so a kernel that is wrong in each of them is wrong.
    """

    bindings: tuple[Binding, ...]
    complete: bool = True


def bind(kernel: ir.Kernel, contract: Contract, reference: Reference, pool: Sequence[Symbols]) -> Readings:
    """The readings that fit, or Unbound."""
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
    both = [name for name in outputs if name in used and brought(contract, name)]
    defined = [name for name in outputs if name not in both and brought(contract, name)]
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


def brought(contract: Contract, param: str) -> bool:
    """Whether the buffer has contents at launch, and not one known value: then what it holds is an input."""
    buffer = contract.buffer(param)
    return buffer is not None and buffer.initialized and not filled(contract, param)


def _free(
    kernel: ir.Kernel,
    contract: Contract,
    reference: Reference,
    outputs: list[str],
    reads: list[str],
    both: list[str],
) -> Readings:
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
    each = [shapes.readings(contract, name) for name in inputs]
    there = all(shapes.complete(contract, name) for name in inputs)
    own = {o: shapes.readings(contract, o)[0] for o in outputs if shapes.known(contract, o)}
    combinations = list(itertools.islice(itertools.product(*each), MOST_READINGS + 1))
    first = Binding(
        reference,
        tuple((Operand(n), n) for n in inputs),
        tuple(outputs),
        drawn={n: n for n in reference.names if n in scalars},
    )
    bindings = (
        replace(first, shapes=dict(zip(inputs, c, strict=True)) | own) for c in combinations[:MOST_READINGS]
    )
    return Readings(tuple(bindings), there and len(combinations) <= MOST_READINGS)


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
) -> Readings:
    drawn, given = _scalars(kernel, contract, op, reference.options)
    said = {*reference.options, *drawn, *given}
    open_ = [o for o in op.options if o.name not in said and o.candidates is not None]
    settled = {o.name: o.default for o in op.options if o.name not in said and o.candidates is None}
    base = Binding(reference, (), (), {**reference.options, **settled}, drawn, given)
    reasons: list[str] = []
    fits: list[Binding] = []
    complete = True
    for inputs in _orders(op, reads, both, defined):
        for output in outputs:
            side = tuple(o for o in outputs if o != output)
            all_shapes, all_there = _shape_readings(contract, op, inputs, output)
            complete = complete and all_there
            for texts in all_shapes:
                reading = replace(base, inputs=inputs, outputs=(output,), shapes=texts, side=side)
                found = list(_fitting(reading, contract, op, pool, open_, both, reasons))
                if len(found) > 1:
                    raise Unbound(_ambiguous(op, found))
                fits += found
        if fits:
            break
    if any(b.outputs == (contract.result,) for b in fits):  # the launcher returns it
        fits = [b for b in fits if b.outputs == (contract.result,)]
    if len({b.outputs for b in fits}) > 1:
        raise Unbound(f"the kernel writes {', '.join(outputs)}: which of them is {op.name} is not known")
    if not fits:
        counted = f"{op.name} needs {_wanted(op)}, the kernel reads {_list(reads, both)}"
        raise Unbound(reasons[0] if reasons else counted)
    return Readings(tuple(fits[:MOST_READINGS]), complete and len(fits) <= MOST_READINGS)


def _fitting(
    reading: Binding,
    contract: Contract,
    op: Op,
    pool: Sequence[Symbols],
    options: Sequence[Option],
    both: list[str],
    reasons: list[str],
) -> Iterator[Binding]:
    """The reading with each choice of the open options that fits every size."""
    for chosen in _choices(options, reading.input_shapes(pool[-1])):
        binding = replace(reading, chosen=chosen)
        try:
            for symbols in pool:
                check(binding, contract, op, symbols)
            _no_stray(binding, both)
        except (DoesNotFit, Unbound) as error:
            reasons.append(str(error))
            continue
        yield binding


def _ambiguous(op: Op, found: Sequence[Binding]) -> str:
    first, second = found[0].chosen, found[1].chosen
    unlike = next(name for name in first if first[name] != second[name])
    return f"several values of {unlike} fit; say which, for example --reference '{op.name}(x, {unlike}=…)'"


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


def _choices(options: Sequence[Option], shapes: Sequence[Shape]) -> Iterator[dict[str, int]]:
    counts = [range(len(o.candidates(shapes))) for o in options if o.candidates]
    for combination in itertools.product(*counts):
        yield {o.name: i for o, i in zip(options, combination, strict=True)}


def _shape_readings(
    contract: Contract, op: Op, inputs: tuple[tuple[Operand, str], ...], output: str
) -> tuple[list[dict[str, Texts]], bool]:
    """Shapes of the inputs (and of the output where it is known); whether these are all there may be."""
    extents = {b.param: (b.extent,) for b in contract.buffers}
    if op.flat:
        return [{param: extents[param] for param in (*(p for _, p in inputs), output)}], True
    if op.whole and extents[output][0].strip() == "1":
        return [{param: extents[param] for _, param in inputs}], True
    each = [shapes.readings(contract, param) for _, param in inputs]
    there = all(shapes.complete(contract, param) for _, param in inputs)
    own = {output: shapes.readings(contract, output)[0]} if shapes.known(contract, output) else {}
    names = [param for _, param in inputs]
    combinations = list(itertools.islice(itertools.product(*each), 513))
    return [dict(zip(names, c, strict=True)) | own for c in combinations[:512]], there and len(
        combinations
    ) <= 512


def check(binding: Binding, contract: Contract, op: Op, symbols: Symbols) -> None:
    """Raises DoesNotFit or Unbound unless the shapes of this launch are the op's."""
    inputs = binding.input_shapes(symbols)
    launch = clauses.instantiate(contract, symbols)
    for param in binding.given.values():
        if launch.scalars.get(param) is None:
            raise Unbound(f"the value of {param} is not known; state it in the contract")
    scalars = {**launch.scalars, **dict.fromkeys(binding.drawn.values(), 1.0)}
    wanted = op.shape(inputs, binding.options(inputs, scalars))
    output = binding.outputs[0]
    have = binding.shape(output, symbols)
    buffer = next(b for b in launch.buffers if b.param == output)
    if numel(wanted[0]) != buffer.numel or (
        have is not None and not op.flat and core(wanted[0]) != core(have)
    ):
        given = ", ".join(map(str, inputs))
        raise DoesNotFit(
            f"{output} has shape {have or (buffer.numel,)}, but {op.name} of {given} has {wanted[0]}"
        )


def core(shape: Shape) -> Shape:
    """Without dims of one element."""
    return tuple(n for n in shape if n != 1)


def _no_stray(binding: Binding, both: list[str]) -> None:
    taken = {param for _, param in binding.inputs}
    for param in both:
        if param not in taken:
            raise Unbound(
                f"the kernel also reads {param}, the reference does not; state its contents in the contract"
            )
