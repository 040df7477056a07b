"""Conversions by name: ``__float2int_rn``, ``__int_as_float``, ``__half2float`` …

Invariant: only what is exactly the C conversion (``__half2float``, widening) is kind ``convert``; a rounding mode or a
reinterpretation is an opaque value of its type.

Example: ``__float2int_rd(x)`` -> Call("__float2int_rd", (x,), i32), any i32.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

_INTS = {"int": "int", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long"}
_REINTERPRETATIONS = (
    "int __float_as_int(float); unsigned __float_as_uint(float); float __int_as_float(int)",
    "float __uint_as_float(unsigned); long long __double_as_longlong(double)",
    "double __longlong_as_double(long long); int __double2hiint(double); int __double2loint(double)",
    "double __hiloint2double(int, int)",
)


def entries() -> Iterator[Intrinsic]:
    for rounding in ("rn", "rz", "ru", "rd"):
        for short, type_ in _INTS.items():
            yield from declare(
                "conversion", "pure-float", "",
                f"{type_} __float2{short}_{rounding}(float); {type_} __double2{short}_{rounding}(double)",
                f"float __{short}2float_{rounding}({type_})",
            )  # fmt: skip
            if rounding == "rn" or type_ in ("long long", "unsigned long long"):
                yield from declare(
                    "conversion", "pure-float", "", f"double __{short}2double_{rounding}({type_})"
                )
        yield from declare("conversion", "pure-float", "", f"float __double2float_{rounding}(double)")
    yield from declare("conversion", "pure-float", "", *_REINTERPRETATIONS)
