"""The shim resolves calls as nvcc does with CUDA's own headers: the types of 1,800 calls, where nvcc is installed."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from verifier.frontend.device_clang import Unit
from verifier.frontend.device_shim import shim_text

pytestmark = [pytest.mark.sweep, pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")]

VALUES = {
    "i": "int", "u": "unsigned", "l": "long", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long",
    "f": "float", "d": "double", "s": "short", "uc": "unsigned char", "b": "bool", "h": "__half",
    "bf": "__nv_bfloat16", "h2": "__half2", "b2": "__nv_bfloat162",
}  # fmt: skip
NUMBERS = ("i", "u", "l", "ll", "ull", "f", "d", "s", "uc", "b")
TWO = "max min pow fmax fmin fmod atan2 std::pow hypot".split()
ONE = (
    "abs exp sqrt fabs floor tanh std::abs std::exp std::sqrt round erf log2 cbrt __popc __popcll __clz __ffs __brev "
    "isnan isinf isfinite signbit lrintf lround rint ceil logf expf __expf __float2int_rn __int2float_rn "
    "__float_as_int __half2float __float2half hexp __hneg"
).split()
PAIRS = "__hadd __hmul __hgt __hmax __mulhi __umulhi __mul24".split()
CELLS = ("i", "u", "ull", "f", "d", "h", "bf", "ll", "s", "l")
PER_CELL = (
    "__shfl_sync(~0u, {}, 1)", "__shfl_xor_sync(~0u, {}, 1, 16)", "__shfl_up_sync(~0u, {}, 1)", "__ldg(&{})",
    "__reduce_add_sync(~0u, {})", "atomicCAS(&{0}, {0}, {0})", "atomicAdd(&{}, 1)",
    *(f"atomic{op}(&{{0}}, {{0}})" for op in "Add Sub Min Max Exch And Or Xor Inc".split()),
)  # fmt: skip
SINGLE = (
    "h + h;h * f;h + 1;h == h;-h;h < h;h * 1.0f;h * 2.0;bf * f;bf + bf;fmaf(f, f, f);fma(f, f, f);fma(d, d, d);"
    "ldexpf(f, i);ldexp(d, i);__byte_perm(u, u, u);__dp4a(i, i, i);make_float4(f, f, f, f);__ballot_sync(~0u, i);"
    "__any_sync(~0u, b);__activemask();clock64();clock();__saturatef(f);__fdividef(f, f);h2 + h2;__hadd2(h2, h2);"
    "__hfma2(h2, h2, h2);__half22float2(h2);__floats2half2_rn(f, f);__low2float(h2);__halves2half2(h, h);"
    "__bfloat1622float2(b2);__hfma(h, h, h);threadIdx.x;blockDim;warpSize;h += h;h *= h;nanf(\"\");__sad(i, i, u);"
    "std::numeric_limits<float>::max();__funnelshift_l(u, u, u);__hisnan(h);hrsqrt(h);__hmax2(h2, h2);__hge(h, h);"
    "__hbge2(h2, h2);__ll2float_rn(ll);__hiloint2double(i, i);__syncthreads_count(i);atomicAdd_block(&i, 1)"
).split(";")  # fmt: skip
HEADERS = "cuda_fp16.h cuda_bf16.h cmath limits algorithm type_traits".split()


def _calls() -> list[str]:
    calls = [f"{name}({a}, {b})" for name in TWO for a, b in itertools.product(NUMBERS, NUMBERS)]
    calls += [f"{name}({a})" for name in ONE for a in NUMBERS]
    calls += [f"{name}({a}, {a})" for name in PAIRS for a in ("h", "bf", "i", "u", "f")]
    calls += [pattern.format(cell) for pattern in PER_CELL for cell in CELLS]
    return [*calls, *SINGLE]


def _variables() -> str:
    return "\n".join(f"__device__ {type_} {name};" for name, type_ in VALUES.items()) + "\n"


def _shim_types(calls: list[str]) -> dict[str, str]:
    """Call -> type, for the calls that the shim accepts."""
    head = _variables() + "__device__ void probe() {\n"
    text = (
        head
        + "\n".join(f"using T{number} = decltype({call});" for number, call in enumerate(calls))
        + "\n}\n"
    )
    unit = Unit(text, shim_text(), "sm_90")
    first = head.count("\n")
    bad = {text.encode()[: c.offset].count(b"\n") - first for c in unit.complaints if c.severity == "error"}
    (probe,) = [child for child in unit.root.children if child.spelling == "probe"]
    body = next(child for child in probe.children if child.kind == "COMPOUND_STMT")
    aliases = {alias.spelling: alias.type.spelling for stmt in body.children for alias in stmt.children}
    return {call: aliases[f"T{n}"] for n, call in enumerate(calls) if n not in bad}


def _nvcc_refuses(lines: dict[str, str], folder: Path) -> set[str]:
    head = (
        "".join(f"#include <{header}>\n" for header in HEADERS) + _variables() + "__device__ void probe() {\n"
    )
    source = folder / "probe.cu"
    source.write_text(head + "\n".join(lines.values()) + "\n}\n")
    command = [
        "nvcc",
        "-std=c++17",
        "-arch=sm_90",
        "-w",
        "--expt-relaxed-constexpr",
        "-Xcudafe",
        "--error_limit=99999",
    ]
    done = subprocess.run(
        [*command, "-c", "-o", "/dev/null", str(source)], capture_output=True, text=True, check=False
    )
    first, names = head.count("\n") + 1, list(lines)
    found = {names[int(line) - first] for line in re.findall(r"probe\.cu\((\d+)\): error", done.stderr)}
    assert found or done.returncode == 0, done.stderr[:1000]
    return found


def test_the_shim_resolves_calls_as_nvcc_does(tmp_path: Path) -> None:
    calls = _calls()
    types = _shim_types(calls)
    refused = _nvcc_refuses(
        {call: f"using T{n} = decltype({call});" for n, call in enumerate(calls)}, tmp_path
    )
    assert [call for call in calls if call not in refused and call not in types] == []
    both = {call: type_ for call, type_ in types.items() if call not in refused}
    asserts = {
        call: f'static_assert(std::is_same<decltype({call}), {t}>::value, "");' for call, t in both.items()
    }
    assert {call: both[call] for call in _nvcc_refuses(asserts, tmp_path)} == {}
    assert len(both) > 1000
