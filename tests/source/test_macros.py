"""The macro table against the real headers, where these are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from verifier.source.macros import HEADER_MACROS, TOOL_MACROS, arch_number, is_predefined, is_tool_macro

_HEADERS = "<cmath> <cfloat> <climits> <cstdint> <cstddef> <cstdlib>".split()


def _dump(text: str, *options: str) -> dict[str, str]:
    argv = ["g++", "-E", "-dM", "-x", "c++", "-std=gnu++17", *options, "-"]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    return dict(re.findall(r"^#define (\w+) (.*)$", done.stdout, re.MULTILINE))


def _same(pairs: dict[str, tuple[str, str]], tmp_path: Path, *options: str) -> list[str]:
    """The names whose two texts differ in value or type, as a compiled program says."""
    lines = [
        "#include <cstdio>",
        "#include <cstring>",
        "#include <cmath>",
        "#include <type_traits>",
        *options,
    ]
    lines.append("static float __int_as_float(unsigned v) { float f; memcpy(&f, &v, 4); return f; }")
    lines.append(
        "static double __longlong_as_double(unsigned long long v) { double f; memcpy(&f, &v, 8); return f; }"
    )
    lines.append("template <class T> bool eq(T a, T b) { return a == b || (a != a && b != b); }")
    lines.append("int main() {")
    for name, (ours, real) in pairs.items():
        lines.append(f"{{ auto a = {ours}; auto b = {real}; using A = decltype(a); using B = decltype(b);")
        lines.append(f'if (!std::is_same<A, B>::value || !eq<A>(a, A(b))) puts("{name}"); }}')
    source, program = tmp_path / "m.cpp", tmp_path / "m"
    source.write_text("\n".join([*lines, "}"]))
    subprocess.run(["g++", "-std=gnu++17", "-w", str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()


def test_values_are_those_of_the_c_headers(tmp_path: Path) -> None:
    real = _dump("\n".join(f"#include {h}" for h in _HEADERS))
    names = [n for n in HEADER_MACROS if not n.startswith("CUDART_")]
    expanded = _expand(names, _HEADERS)
    assert set(names) <= set(real)
    assert not _same({n: (HEADER_MACROS[n], expanded[n]) for n in names}, tmp_path)


def _expand(names: list[str], headers: list[str], *options: str) -> dict[str, str]:
    text = "\n".join([*(f"#include {h}" for h in headers), *(f'"@{n}" {n}' for n in names)])
    argv = ["g++", "-E", "-P", "-x", "c++", "-std=gnu++17", *options, "-"]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    return dict(re.findall(r'^"@(\w+)" (.*)$', done.stdout, re.MULTILINE))


def _toolkit() -> Path:
    nvcc = shutil.which("nvcc")
    candidates = [Path(os.path.realpath(nvcc)).parents[1]] if nvcc else []
    candidates += [Path("/usr/local/cuda"), Path(os.environ.get("CUDA_HOME", "/nonexistent"))]
    for root in candidates:
        for folder in (root / "include", root / "targets" / "x86_64-linux" / "include"):
            if (folder / "math_constants.h").is_file():
                return folder
    pytest.skip("no CUDA toolkit headers on this machine")


def test_values_are_those_of_the_cuda_headers(tmp_path: Path) -> None:
    text = (_toolkit() / "math_constants.h").read_text()
    real = dict(re.findall(r"^#define\s+(CUDART_\w+)\s+(\S+)\s*$", text, re.MULTILINE))
    names = [n for n in HEADER_MACROS if n.startswith("CUDART_")]
    assert set(names) <= set(real)
    assert not _same({n: (HEADER_MACROS[n], real[n]) for n in names}, tmp_path)


def test_what_compilers_predefine_is_known() -> None:
    predefined = _dump("")
    exempt = {"_GNU_SOURCE", "__linux__"}
    assert not [n for n in predefined if n not in exempt and not (is_tool_macro(n) and is_predefined(n))]
    assert all(is_tool_macro(n) for n in TOOL_MACROS)


@pytest.mark.parametrize(("arch", "number"), [("sm_80", 800), ("sm_90a", 900), ("sm_120", 1200)])
def test_arch_number(arch: str, number: int) -> None:
    assert arch_number(arch) == number


@pytest.mark.parametrize("arch", ["80", "sm_8", "sm_80x", "compute_80", "", "sm_80\n"])
def test_wrong_arch(arch: str) -> None:
    with pytest.raises(ValueError, match="not an architecture"):
        arch_number(arch)
