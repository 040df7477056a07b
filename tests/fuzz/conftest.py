"""A kernel without a simulator: small IR, a contract, and an executor that computes with numpy in float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fuzz import dtypes
from fuzz.executor import Ran, Seen
from fuzz.oracle import Oracle
from specs.contract import Buffer, ConcreteLaunch, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE, Span
from verifier.ir import nodes as ir
from verifier.isolation import probe

PLACE = Span("k.cu", 3, 1)
TYPES: dict[str, ir.Type] = {
    "f32": ir.F32,
    "f16": ir.Float("f16"),
    "f64": ir.F64,
    "bf16": ir.Float("bf16"),
    "i32": ir.I32,
    "i64": ir.I64,
}


def kernel_of(name: str, pointers: Mapping[str, str], scalars: Mapping[str, str] | None = None) -> ir.Kernel:
    """``pointers``: name -> "in f32", "out f32" or "inout f32"; ``scalars``: name -> dtype."""
    params: list[ir.Param] = []
    body: list[ir.Stmt] = []
    for param, text in pointers.items():
        role, dtype = text.split()
        pointer = ir.Pointer(TYPES[dtype], role == "in")
        params.append(ir.Param(param, pointer))
        place = ir.Deref(ir.PtrAdd(ir.Read(param, pointer), ir.IntConst(0, ir.I64), pointer), TYPES[dtype])
        if role != "out":
            body.append(ir.Load(f"v.{param}", place))
        if role != "in":
            body.append(ir.Store(place, ir.Undef(TYPES[dtype])))
    params += [ir.Param(p, TYPES[t]) for p, t in (scalars or {}).items()]
    return ir.Kernel(name, (), tuple(params), (), {p.name: p.type for p in params}, tuple(body), PLACE)


def contract_of(
    kernel: ir.Kernel,
    shapes: Mapping[str, Sequence[str]],
    symbols: Sequence[str],
    scalars: Mapping[str, str] | None = None,
) -> Contract:
    """One block; outputs are fresh and uninitialised."""
    buffers = []
    for param in kernel.params:
        if isinstance(param.type, ir.Pointer):
            dims = tuple(shapes[param.name])
            elem = param.type.elem
            dtype = (
                elem.name
                if isinstance(elem, ir.Float)
                else f"i{elem.bits}"
                if isinstance(elem, ir.Int)
                else "?"
            )
            only_out = not any(
                isinstance(s, ir.Load)
                and isinstance(s.place, ir.Deref)
                and f"name='{param.name}'" in repr(s.place)
                for s in kernel.body
            )
            extent = " * ".join(f"({d})" for d in dims) or "1"
            buffers.append(Buffer(param.name, dtype, extent, dims, fresh=only_out, initialized=not only_out))
    values = tuple(
        Scalar(p.name, (scalars or {}).get(p.name))
        for p in kernel.params
        if not isinstance(p.type, ir.Pointer)
    )
    launch = Launch(kernel.name, (), ("1", "1", "1"), ("32", "1", "1"), "0", NOWHERE)
    dims_ = tuple(Symbol(s, "dim", low=1) for s in symbols)
    return Contract(kernel.name, (), launch, dims_, tuple(buffers), values, (), "stated")


@dataclass
class NumpyExecutor:
    """``compute(**arrays, **scalars)`` gives the outputs by name; arrays are float32 (or what the dtype decodes to)."""

    compute: Callable[..., Mapping[str, Any]]
    runs: int = 0
    seen: tuple[Seen, ...] = ()
    refusal: str = ""
    before: list[Callable[[dict[str, bytes]], None]] = field(default_factory=list)

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: tuple[str, int], keep: bool = False
    ) -> Ran:
        self.runs += 1
        if self.seen or self.refusal:
            return Ran({}, self.seen, self.refusal)
        shapes = {b.param: b.shape or (b.numel,) for b in launch.buffers}
        types = {b.param: b.dtype for b in launch.buffers}
        arrays = {p: dtypes.decode(raw, types[p]).reshape(shapes[p]) for p, raw in inputs.items()}
        arrays = {p: a.astype(np.float32) if types[p] == "f32" else a for p, a in arrays.items()}
        with np.errstate(all="ignore"):
            scalars = {k: v for k, v in launch.scalars.items() if k in self.wanted()}
            results = self.compute(**{k: v for k, v in arrays.items() if k in self.wanted()}, **scalars)
        outputs = dict(inputs)
        for param, value in results.items():
            outputs[param] = dtypes.encode(np.asarray(value).reshape(-1), types[param])
        return Ran(outputs)

    def wanted(self) -> tuple[str, ...]:
        code = self.compute.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    pytest.importorskip("torch", reason="the reference needs PyTorch")
    with Oracle(probe()) as running:
        yield running


@pytest.fixture
def make_kernel() -> Callable[..., ir.Kernel]:
    return kernel_of


@pytest.fixture
def make_contract() -> Callable[..., Contract]:
    return contract_of


@pytest.fixture
def numpy_executor() -> type[NumpyExecutor]:
    return NumpyExecutor
