"""The IR means what g++ makes of the same text: random integer functions and hand-written cases, value by value."""

from __future__ import annotations

import ctypes
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tests.frontend.interpreter import Ptr, run
from tests.frontend.programs import PARAMETERS, program
from verifier.frontend.device_kernels import lower_text
from verifier.ir.nodes import Module
from verifier.ir.validator import validate

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

PRELUDE = """
#define __device__
#define __global__ extern "C"
#define __forceinline__ inline
#define __shared__ static
template <class T> static T min(T a, T b) { return b < a ? b : a; }
template <class T> static T max(T a, T b) { return a < b ? b : a; }
"""
_C_TYPES = {
    "int": ctypes.c_int, "unsigned": ctypes.c_uint, "long long": ctypes.c_longlong, "short": ctypes.c_short,
    "unsigned char": ctypes.c_ubyte, "bool": ctypes.c_bool, "signed char": ctypes.c_byte,
    "unsigned long": ctypes.c_ulong,
}  # fmt: skip
_EDGES = {
    "int": (0, 1, -1, 2**31 - 1, -(2**31), 12345), "unsigned": (0, 1, 2**32 - 1, 2**31, 77),
    "long long": (0, 1, -1, 2**63 - 1, -(2**63), 2**32, -(2**31) - 1), "short": (0, -1, 32767, -32768, 300),
    "unsigned char": (0, 1, 127, 128, 255), "bool": (0, 1), "signed char": (0, -1, 127, -128, 5),
    "unsigned long": (0, 1, 2**64 - 1, 2**63, 2**32),
}  # fmt: skip


def compiled(text: str, folder: Path) -> ctypes.CDLL:
    source = folder / "program.cpp"
    source.write_text(PRELUDE + text)
    library = folder / "program.so"
    command = [
        "g++",
        "-O0",
        "-fwrapv",
        "-std=c++17",
        "-w",
        "-shared",
        "-fPIC",
        "-o",
        str(library),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))


def lowered(text: str) -> Module:
    module = lower_text(text, (), "sm_80")
    assert not module.diagnostics
    validate(module)
    return module


@pytest.mark.parametrize("seed", range(6))
def test_random_functions_agree_with_gcc(seed: int, tmp_path: Path) -> None:
    text = program(14, seed)
    library = compiled(text, tmp_path)
    module = lowered(text)
    assert len(module.kernels) == 14
    values = random.Random(seed)
    for kernel in module.kernels:
        for _ in range(12):
            arguments = {name: values.choice(_EDGES[type_]) for type_, name in PARAMETERS}
            expected = ctypes.c_longlong(0)
            getattr(library, kernel.name)(
                ctypes.byref(expected), *(_C_TYPES[type_](arguments[name]) for type_, name in PARAMETERS)
            )
            out = bytearray(8)
            arguments["g"] = bool(arguments["g"])
            run(kernel, {**arguments, "out": Ptr(out, 0)})
            assert struct.unpack("<q", out)[0] == expected.value, (kernel.name, arguments)


_HAND_EDGES = (0, 1, -1, 2, 3, 7, 12, 100, -77, 40000, -40000, 2**31 - 1, -(2**31))


def test_handwritten_functions_agree_with_gcc(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "handwritten.cu").read_text()
    library = compiled("#include <cstring>\n" + text, tmp_path)
    module = lowered(text)
    assert len(module.kernels) == text.count("__global__") == 37
    values = random.Random(1)
    for kernel in module.kernels:
        for _ in range(25):
            a, b = values.choice(_HAND_EDGES), values.choice(_HAND_EDGES)
            expected = ctypes.c_longlong(0)
            getattr(library, kernel.name)(ctypes.byref(expected), ctypes.c_int(a), ctypes.c_int(b))
            out = bytearray(8)
            run(kernel, {"a": a, "b": b, "out": Ptr(out, 0)})
            assert struct.unpack("<q", out)[0] == expected.value, (kernel.name, a, b)
