"""16-bit floats: ``__half``, ``__nv_bfloat16`` and their pairs. Their values are opaque floats, their sizes are not.

Example: ``__half2float(h)`` -> Convert(f32, h); ``__hadd(a, b)`` -> Binary("add", a, b, f16).
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

_TYPES = {"__half": "__half2", "__nv_bfloat16": "__nv_bfloat162"}
_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}
_COMPARES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def _both(pattern: str) -> list[str]:
    """The declaration for half and bfloat16: ``T`` is the scalar, ``V`` its pair."""
    return [pattern.replace("T", scalar).replace("V", pair) for scalar, pair in _TYPES.items()]


def entries() -> Iterator[Intrinsic]:
    for name, op in _OPERATORS.items():
        yield from declare("half", "binary", op, *(f"{t} __h{name}({t}, {t})" for t in _TYPES))
        pair = f"__h{name}2" if name != "div" else "__h2div"
        yield from declare("half", "binary", op, *(f"{t} {pair}({t}, {t})" for t in _TYPES.values()))
        if name != "div":
            yield from declare("half", "binary", op, *(f"{t} __h{name}_rn({t}, {t})" for t in _TYPES))
            yield from declare("half", "pure-float", "", *(f"{t} __h{name}_sat({t}, {t})" for t in _TYPES))
    # CUDA's integer average of the same name: declared, so that it does not resolve to half; the front end
    # refuses it.
    yield from declare("half", "binary", "add", "int __hadd(int, int)")
    for name, op in _COMPARES.items():
        yield from declare("half", "compare", op, *(f"bool __h{name}({t}, {t})" for t in _TYPES))
        yield from declare("half", "pure-float", "", *(f"{t} __h{name}2({t}, {t})" for t in _TYPES.values()))
        yield from declare(
            "half", "pure-float", "", *(f"bool __hb{name}2({t}, {t})" for t in _TYPES.values())
        )
    for name in ("max", "min", "max_nan", "min_nan"):
        yield from declare("half", "pure-float", "", *_both(f"T __h{name}(T, T)"))
        pair = name.replace("_", "2_") if "_" in name else f"{name}2"
        yield from declare("half", "pure-float", "", *_both(f"V __h{pair}(V, V)"))
    yield from declare("half", "pure-float", "", *_both("T __hfma(T, T, T)"), *_both("V __hfma2(V, V, V)"))
    yield from declare("half", "pure-float", "", *_both("T __hfma_relu(T, T, T)"))
    yield from declare("half", "pure-float", "", *_both("T __hneg(T)"), *_both("V __hneg2(V)"))
    yield from declare("half", "pure-float", "", *_both("T __habs(T)"), *_both("V __habs2(V)"))
    yield from declare("half", "pure-float", "", *_both("bool __hisnan(T)"), "int __hisinf(__half)")
    for name in ("exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "rsqrt", "rcp", "sin", "cos", "tanh", "floor",
                 "ceil", "rint", "trunc"):  # fmt: skip
        yield from declare("half", "pure-float", "", *_both(f"T h{name}(T)"), *_both(f"V h2{name}(V)"))
    yield from _conversions()
    yield from _pairs()


def _conversions() -> Iterator[Intrinsic]:
    yield from declare("half", "convert", "", "float __half2float(__half); __half __float2half(float)")
    yield from declare(
        "half", "convert", "", "float __bfloat162float(__nv_bfloat16); __nv_bfloat16 __float2bfloat16(float)"
    )
    yield from declare(
        "half", "convert", "", "__half __float2half_rn(float); __nv_bfloat16 __float2bfloat16_rn(float)"
    )
    yield from declare(
        "half", "convert", "", "__half __double2half(double); __nv_bfloat16 __double2bfloat16(double)"
    )
    for rounding in ("rz", "ru", "rd"):
        yield from declare("half", "pure-float", "", f"__half __float2half_{rounding}(float)")
        yield from declare("half", "pure-float", "", f"__nv_bfloat16 __float2bfloat16_{rounding}(float)")
    for rounding in ("rn", "rz", "ru", "rd"):
        for short, type_ in (("int", "int"), ("uint", "unsigned"), ("short", "short"), ("ushort", "unsigned short"),
                             ("ll", "long long"), ("ull", "unsigned long long")):  # fmt: skip
            yield from declare(
                "half", "pure-float", "",
                f"{type_} __half2{short}_{rounding}(__half); __half __{short}2half_{rounding}({type_})",
                f"{type_} __bfloat162{short}_{rounding}(__nv_bfloat16)",
                f"__nv_bfloat16 __{short}2bfloat16_{rounding}({type_})",
            )  # fmt: skip
    yield from declare(
        "half", "pure-float", "", "unsigned short __half_as_ushort(__half); short __half_as_short(__half)"
    )
    yield from declare(
        "half", "pure-float", "", "__half __ushort_as_half(unsigned short); __half __short_as_half(short)"
    )
    yield from declare("half", "pure-float", "", "unsigned short __bfloat16_as_ushort(__nv_bfloat16)")
    yield from declare("half", "pure-float", "", "__nv_bfloat16 __ushort_as_bfloat16(unsigned short)")


def _pairs() -> Iterator[Intrinsic]:
    yield from declare(
        "half", "pure-float", "",
        "__half2 __float2half2_rn(float); __half2 __floats2half2_rn(float, float); float2 __half22float2(__half2)",
        "__half2 __float22half2_rn(float2); float __low2float(__half2); float __high2float(__half2)",
        "__nv_bfloat162 __float2bfloat162_rn(float); __nv_bfloat162 __floats2bfloat162_rn(float, float)",
        "float2 __bfloat1622float2(__nv_bfloat162); __nv_bfloat162 __float22bfloat162_rn(float2)",
        "float __low2float(__nv_bfloat162); float __high2float(__nv_bfloat162)",
        "__half __low2half(__half2); __half __high2half(__half2); __half2 __half2half2(__half)",
        "__half2 __lowhigh2highlow(__half2); __half2 __low2half2(__half2); __half2 __high2half2(__half2)",
        "__nv_bfloat16 __low2bfloat16(__nv_bfloat162); __nv_bfloat16 __high2bfloat16(__nv_bfloat162)",
        "__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16)",
        "__half2 __lows2half2(__half2, __half2); __half2 __highs2half2(__half2, __half2)",
    )  # fmt: skip
    yield from declare(
        "half", "vector", "", "__half2 __halves2half2(__half, __half); __half2 make_half2(__half, __half)"
    )
    yield from declare(
        "half", "vector", "",
        "__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16)",
        "__nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16)",
    )  # fmt: skip
