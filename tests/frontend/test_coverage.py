"""Every IR node, conversion and operation occurs in a kernel that is compared with g++, or says here why it cannot.

A node class, an operator, a scalar type or a warp operation that is added without such a kernel fails these tests.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from sanitizers.simulator.build import RUNTIME
from tests.frontend.interpreter import Ptr, run
from tests.frontend.lanes import run_block, words
from tests.frontend.programs import program
from tests.frontend.test_semantics import lowered
from tests.sanitizers.conftest import make_case, run_case, sandbox, simulator_cache  # noqa: F401  (fixtures)
from verifier.frontend.device_types import _SCALARS, SMALL_FLOATS
from verifier.intrinsics import TABLE
from verifier.ir import nodes as n
from verifier.ir.validator import ATOMICS

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

HERE = Path(__file__).parent
ANY_VALUE = {
    n.Undef: "any value",
    n.Unsupported: "has no meaning",
}
"""Nodes without a value to compare."""
ANY_LANES = {"activemask": "depends on the schedule"}
"""Warp operations of the intrinsic table whose result is not a function of what the lanes bring."""

C_NAMES: dict[n.Type, str] = {
    n.BOOL: "bool", n.Int(8, True): "signed char", n.Int(8, False): "unsigned char", n.Int(16, True): "short",
    n.Int(16, False): "unsigned short", n.I32: "int", n.U32: "unsigned", n.I64: "long long", n.U64: "unsigned long long",
    n.Int(128, True): "__int128", n.Int(128, False): "unsigned __int128", n.F32: "float", n.F64: "double",
    n.Float("f16"): "__half", n.Float("bf16"): "__nv_bfloat16",
}  # fmt: skip
PAIRS = [(a, b) for a in C_NAMES for b in C_NAMES]


def conversions() -> str:
    """One kernel for each pair of scalar types: a small number through both."""
    return "\n".join(
        f"__global__ void conversion{k}(long long *out, int a) {{ {C_NAMES[a]} t = ({C_NAMES[a]})a; "
        f"{C_NAMES[b]} u = ({C_NAMES[b]}){'(float)' if _through_float(a, b) else ''}t; "
        f"out[0] = {_as_number(b)}; }}"
        for k, (a, b) in enumerate(PAIRS)
    )


def _as_number(type_: n.Type) -> str:
    if not isinstance(type_, n.Float):
        return "(long long)u"
    return f"(long long)((double){'(float)' if _small(type_) else ''}u * 8.0)"


def _through_float(a: n.Type, b: n.Type) -> bool:
    """The class of a 16-bit float has no constructor from these."""
    return _small(b) and (_small(a) or isinstance(a, n.Bool) or (isinstance(a, n.Int) and a.bits in (8, 128)))


def _small(type_: n.Type) -> bool:
    return isinstance(type_, n.Float) and type_.name in ("f16", "bf16")


def walk(node: Any) -> Iterator[Any]:
    if is_dataclass(node) and not isinstance(node, type):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from walk(item)


@pytest.fixture(scope="module")
def compared() -> list[Any]:
    """All nodes of all kernels that some test compares with g++."""
    texts = [(HERE / "handwritten.cu").read_text(), (HERE / "block.cu").read_text(), conversions()]
    texts += [program(14, seed) for seed in range(6)]
    return [node for text in texts for kernel in lowered(text).kernels for node in walk(kernel.body)]


def test_every_node_class_is_compared(compared: list[Any]) -> None:
    every = set(get_args(n.Expr)) | set(get_args(n.Place)) | set(get_args(n.Stmt))
    assert every - {type(node) for node in compared} - set(ANY_VALUE) == set()


def test_every_operator_is_compared(compared: list[Any]) -> None:
    for node_class in (n.Unary, n.Binary, n.Compare):
        literal = get_type_hints(node_class)["op"]
        assert {node.op for node in compared if isinstance(node, node_class)} == set(get_args(literal))
    assert {node.op for node in compared if isinstance(node, n.Atomic)} == set(ATOMICS)
    assert {node.op for node in compared if isinstance(node, n.BarrierReduce)} == {"count", "and", "or"}
    warp = {entry.meaning for entry in TABLE.values() if entry.kind == "warp"}
    assert warp - {node.op for node in compared if isinstance(node, n.WarpOp)} - set(ANY_LANES) == set()


def test_every_scalar_type_has_a_name_here() -> None:
    known = {t for t in _SCALARS.values() if t != n.VOID} | {n.Float(name) for name in SMALL_FLOATS.values()}
    assert set(C_NAMES) == known


def test_every_conversion_is_compared(compared: list[Any]) -> None:
    """16-bit floats convert to and from numbers through float, as their classes say."""
    made = {(c.operand.type, c.type) for c in compared if isinstance(c, n.Convert)}
    direct = {
        (a, b)
        for a, b in PAIRS
        if a != b
        and not isinstance(b, n.Bool)
        and not (_small(a) and b != n.F32)
        and not _through_float(a, b)
    }
    assert direct - made == set()


def test_conversions_agree_with_gcc(tmp_path: Path) -> None:
    text = conversions()
    source, library = tmp_path / "c.cpp", tmp_path / "c.so"
    source.write_text(text.replace("__global__", 'extern "C"'))
    command = [
        "g++",
        "-std=gnu++17",
        "-w",
        "-O0",
        "-fwrapv",
        "-shared",
        "-fPIC",
        "-include",
        str(RUNTIME / "simt.h"),
    ]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    native = ctypes.CDLL(str(library), mode=1)
    module = lowered(text)
    for kernel, (a, b) in zip(module.kernels, PAIRS, strict=True):
        floating = isinstance(a, n.Float) or isinstance(b, n.Float)
        narrow = any(isinstance(t, n.Int) and (not t.signed or t.bits < 16) for t in (a, b))
        for value in (0, 1, 3, 100, *(() if floating and narrow else (-1, -100, 255, 300, 12345, -20000))):
            expected = ctypes.c_longlong(0)
            getattr(native, kernel.name)(ctypes.byref(expected), value)
            out = bytearray(8)
            run(kernel, {"a": value, "out": Ptr(out, 0)})
            assert struct.unpack("<q", out)[0] == expected.value, (C_NAMES[a], C_NAMES[b], value)


@pytest.mark.parametrize("name", ["shuffles", "votes", "reductions", "barriers", "atomics", "copies"])
def test_blocks_agree_with_the_simulator(
    name: str,
    make_case: Callable[..., Any],  # noqa: F811
    run_case: Callable[..., Any],  # noqa: F811
) -> None:
    """All threads of a block, in the evaluator and in the program that g++ makes."""
    text = (HERE / "block.cu").read_text()
    kernel = next(k for k in lowered(text).kernels if k.name == name)
    values = random.Random(11)
    given = np.array([values.choice((0, 1, 2, 3, 7, 9, 4000, -5, 77)) for _ in range(64)], np.int32)
    own = next(
        part
        for part in text.replace("__device__ int", "__global__ void").split("__global__ void ")
        if part.startswith(name)
    )
    source = f"__global__ void {own}"
    case = make_case(
        "", source, ["x i32 64", "y i32 64 empty"], (1, 1, 1), (64, 1, 1), inputs={"x": given.tobytes()}
    )
    result = run_case(case)
    assert not result.findings and result.unsupported is None, result
    out = bytearray(256)
    run_block(kernel, {"x": Ptr(bytearray(given.tobytes()), 0), "y": Ptr(out, 0)}, 64)
    assert words(out) == np.frombuffer(result.outputs["y"], np.int32).tolist()
