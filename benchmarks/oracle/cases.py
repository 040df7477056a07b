"""Arguments for a launcher: random shapes, and shapes that reach a given contract. Seed -> cases.

A case is what the driver reads: one word a parameter. Sizes come from small pools, so equal ones are frequent; tensors
are sometimes transposed, sliced, expanded, misaligned, empty, huge, of another dtype, on the CPU, or passed twice.

Example::

    drawn = random_case(params, random.Random(1))
    drawn.text(0)   # 'C 0 4711\\nT 6 2 32 7 7 1 0 0\\nI 7\\nR\\n'
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from specs.clauses import INT_TYPES, int_range
from specs.contract import Contract, Symbol
from verifier.contracts.values import dtype_of

DTYPES = {
    "u8": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "f32": 6, "f64": 7, "bool": 11, "bf16": 15, "u16": 27,
    "u32": 28, "u64": 29,
}  # fmt: skip
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 63, 64, 100, 127, 128, 129, 255, 256, 257, 512, 1000, 1023, 1024,
         1025, 2048, 4096, 5000)  # fmt: skip
_RANKS = (0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5)
_HUGE = (65535, 65536, 70_000, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) + 3)


@dataclass(frozen=True, slots=True)
class Param:
    """``kind``: tensor, int, float, optional-tensor, optional-int, optional-float or other; ``type``: a dtype for numbers."""

    name: str
    kind: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """``alias``: the index of the earlier argument that this one is, or -1."""

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    misalign: int = 0
    cpu: bool = False
    alias: int = -1

    @property
    def numel(self) -> int:
        out = 1
        for size in self.sizes:
            out *= size
        return out


Value = Tensor | int | float | None


@dataclass(frozen=True, slots=True)
class Case:
    params: tuple[Param, ...]
    values: tuple[Value, ...]
    seed: int

    def text(self, number: int) -> str:
        out = [f"C {number} {self.seed}"]
        for value in self.values:
            match value:
                case None:
                    out.append("N")
                case Tensor(alias=alias) if alias >= 0:
                    out.append(f"A {alias}")
                case Tensor():
                    words = (DTYPES[value.dtype], len(value.sizes), *value.sizes, *value.strides)
                    out.append("T " + " ".join(map(str, (*words, value.misalign, int(value.cpu)))))
                case float():
                    out.append(f"F {value}")
                case _:
                    out.append(f"I {value}")
        return "\n".join([*out, "R", ""])

    def value(self, name: str) -> Value:
        return next((v for p, v in zip(self.params, self.values, strict=True) if p.name == name), None)


def param_of(name: str, c_type: str) -> Param:
    """What is drawn for a parameter of a host function."""
    plain = c_type.removeprefix("const ").strip()
    inner = re.fullmatch(r"std::optional<(?:const )?(.+)>", plain)
    if inner:
        found = param_of(name, inner[1])
        return replace(found, kind=f"optional-{found.kind}" if found.kind != "other" else "other")
    if plain == "at::Tensor":
        return Param(name, "tensor")
    dtype = dtype_of(plain)
    if dtype in ("f32", "f64", "f16", "bf16"):
        return Param(name, "float", dtype)
    return Param(name, "int", dtype) if dtype is not None else Param(name, "other")


def packed(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor."""
    out, step = [], 1
    for size in reversed(sizes):
        out.append(step)
        step *= max(size, 1)
    return tuple(reversed(out))


def random_case(params: Sequence[Param], dice: random.Random) -> Case:
    """Nothing is known of what the launcher wants."""
    pool = dice.sample(SIZES, 3)
    common = "f32" if dice.random() < 0.7 else dice.choice(list(DTYPES))
    style = dice.random()
    base = [dice.choice(pool) for _ in range(dice.choice(_RANKS))]
    values: list[Value] = []
    for index, param in enumerate(params):
        if param.kind.startswith("optional-") and dice.random() < 0.4:
            values.append(None)
        elif param.kind.endswith("tensor"):
            earlier = [i for i in range(index) if isinstance(values[i], Tensor)]
            if earlier and dice.random() < 0.06:
                first = dice.choice(earlier)
                values.append(_same(values, first))
                continue
            if style < 0.35 and dice.random() < 0.9:
                sizes = list(base)
            elif style < 0.5 and base:
                sizes = base[dice.randrange(len(base)) :] if dice.random() < 0.5 else [dice.choice(base)]
            else:
                sizes = [dice.choice(pool) for _ in range(dice.choice(_RANKS))]
            if sizes and dice.random() < 0.04:
                sizes[dice.randrange(len(sizes))] = 0
            elif sizes and dice.random() < 0.03:
                sizes[dice.randrange(len(sizes))] = dice.choice(_HUGE)
            dtype = common if dice.random() < 0.95 else dice.choice(list(DTYPES))
            values.append(laid_out(dtype, sizes, dice))
        else:
            values.append(_number(param, pool, dice))
    return Case(tuple(params), tuple(values), dice.randrange(1 << 30))


def _same(values: Sequence[Value], index: int) -> Tensor:
    found = values[index]
    assert isinstance(found, Tensor)
    return replace(found, alias=index if found.alias < 0 else found.alias)


def laid_out(dtype: str, sizes: Sequence[int], dice: random.Random) -> Tensor:
    """A tensor of these sizes, mostly contiguous and on the GPU."""
    sizes = list(sizes)
    while _product(sizes) * 3 >= 1 << 62:  # no such tensor can be
        sizes[sizes.index(max(sizes))] = 2
    strides = list(packed(sizes))
    way = dice.random()
    if way < 0.07 and len(sizes) >= 2:  # a permutation of a contiguous tensor
        order = dice.sample(range(len(sizes)), len(sizes))
        below = packed([sizes[i] for i in order])
        for place, dim in enumerate(order):
            strides[dim] = below[place]
    elif way < 0.12 and sizes:  # every second row, or a slice of longer rows
        gap = dice.choice((2, 3))
        strides = [s * gap for s in strides]
        if dice.random() < 0.5:
            strides[-1] = 1
    elif way < 0.15 and sizes:  # expanded
        dim = dice.randrange(len(sizes))
        strides = list(packed([1 if i == dim else s for i, s in enumerate(sizes)]))
        strides[dim] = 0
    misalign = dice.choice((1, 2, 3, 4)) if dice.random() < 0.2 else 0
    bytes_ = {"u8": 1, "i8": 1, "bool": 1, "f64": 8, "i64": 8, "u64": 8, "f32": 4, "i32": 4, "u32": 4}
    return Tensor(dtype, tuple(sizes), tuple(strides), misalign * bytes_.get(dtype, 2), dice.random() < 0.01)


def _number(param: Param, pool: Sequence[int], dice: random.Random) -> Value:
    if param.kind.endswith("float"):
        return dice.choice((0.0, 1.0, -1.0, 0.5, 1e-5, 3.25))
    if param.type == "bool":
        return dice.randrange(2)
    low, high = int_range(*INT_TYPES[param.type]) if param.type in INT_TYPES else (0, 1)
    choices = (
        *pool,
        *pool,
        0,
        1,
        1,
        2,
        3,
        5,
        -1,
        7,
        32,
        256,
        1000,
        dice.randrange(64),
        high,
        -dice.randrange(9),
    )
    return max(low, min(high, dice.choice(choices)))


# --- towards a contract ---------------------------------------------------------------------------------------------

_SIZE = re.compile(r"(\w+)\.size\((-?\d+)\)")
_AFTER = re.compile(r"product of the dims of (\w+) after size\((\d+)\)")
_BEFORE = re.compile(r"product of the dims of (\w+) before size\((-\d+)\)")
_NUMEL = re.compile(r"(\w+)\.numel\(\)")
_RANK = re.compile(r"(?:rank of (\w+)|(\w+)\.dim\(\))")
_CONSTANT = re.compile(r"constant (\w+) of the program")
_ARGUMENT = re.compile(r"argument (\w+)")


def case_of(
    params: Sequence[Param], contract: Contract, symbols: Mapping[str, int], dice: random.Random
) -> Case:
    """Arguments that have these values of the contract's symbols; what it does not mention is drawn."""
    front: dict[str, dict[int, int]] = {}
    rest: dict[str, int] = {}
    numbers: dict[str, int] = {}
    for symbol in contract.symbols:
        value = symbols[symbol.name]
        if found := _SIZE.fullmatch(symbol.meaning):
            front.setdefault(found[1], {})[int(found[2])] = value
        elif found := next(
            (m for p in (_AFTER, _BEFORE, _NUMEL) if (m := p.fullmatch(symbol.meaning))), None
        ):
            rest[found[1]] = value
        elif found := _ARGUMENT.fullmatch(symbol.meaning):
            numbers[found[1]] = value
    types = {b.storage: b.dtype for b in contract.buffers if b.storage}
    seen = [b.dtype for b in contract.buffers] or ["f32"]
    drawn = random_case(params, dice)
    values: list[Value] = []
    pool = [s.value or 4 for s in contract.symbols] + [1, 3, 8]
    for param, old in zip(params, drawn.values, strict=True):
        if param.kind.endswith("tensor") and (
            param.name in front or param.name in rest or param.name in types
        ):
            known = front.get(param.name, {})
            size = max([i + 1 for i in known if i >= 0] + [-i for i in known] + [0])
            dims = [dice.choice(pool) for _ in range(size)]
            for index, one in known.items():
                dims[index] = one
            if param.name in rest:
                dims = [rest[param.name], *dims] if known and min(known) < 0 else [*dims, rest[param.name]]
            if dims and dice.random() < 0.1:
                dims[dice.randrange(len(dims))] = dice.choice(SIZES)
            values.append(laid_out(types.get(param.name) or dice.choice(seen), dims, dice))
        elif param.name in numbers and not param.kind.endswith("tensor"):
            values.append(numbers[param.name])
        elif isinstance(old, Tensor):
            values.append(replace(old, alias=-1, dtype=types.get(param.name) or dice.choice(seen)))
        else:
            values.append(old)
    return Case(tuple(params), tuple(values), drawn.seed)


def symbol_value(symbol: Symbol, case: Case) -> int | str | None:
    """What a symbol is for these arguments; None if they have no such size, ``"?"`` if the meaning is another."""
    meaning = symbol.meaning
    if _CONSTANT.fullmatch(meaning) and symbol.value is not None:
        return symbol.value
    owner = re.match(r"(?:product of the dims of |rank of )?(\w+)", meaning)
    if owner and any(p.name == owner[1] and v is None for p, v in zip(case.params, case.values, strict=True)):
        return 1  # of a tensor that is not there: any size will do
    if found := _SIZE.fullmatch(meaning):
        tensor, index = case.value(found[1]), int(found[2])
        if isinstance(tensor, Tensor):
            return tensor.sizes[index] if -len(tensor.sizes) <= index < len(tensor.sizes) else None
    elif found := _AFTER.fullmatch(meaning):
        tensor, index = case.value(found[1]), int(found[2])
        if isinstance(tensor, Tensor):
            return _product(tensor.sizes[index + 1 :]) if index < len(tensor.sizes) else None
    elif found := _BEFORE.fullmatch(meaning):
        tensor, index = case.value(found[1]), int(found[2])
        if isinstance(tensor, Tensor):
            return _product(tensor.sizes[:index]) if -index <= len(tensor.sizes) else None
    elif found := _NUMEL.fullmatch(meaning):
        tensor = case.value(found[1])
        if isinstance(tensor, Tensor):
            return tensor.numel
    elif found := _RANK.fullmatch(meaning):
        tensor = case.value((found[1] or found[2]).removesuffix("_contiguous"))
        if isinstance(tensor, Tensor):
            return len(tensor.sizes)
    elif found := _ARGUMENT.fullmatch(meaning):
        value = case.value(found[1])
        if isinstance(value, int):
            return value
    return "?"


def _product(sizes: Sequence[int]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out
