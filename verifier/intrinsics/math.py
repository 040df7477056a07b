"""Math functions: floats are opaque, integer functions have a meaning.

Invariant: overloads are those of CUDA's own headers (global ``exp(float)``, ``max(int, unsigned)`` …), so the parser
resolves a call, and converts its arguments, as nvcc does.

Example: ``max(a, 0u)`` with int a -> Call("max", (Convert(u32, a), 0u), u32).
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

_ONE = (
    "exp log sqrt tanh sin cos tan erf log2 log10 log1p expm1 exp2 rsqrt floor ceil round rint trunc fabs sinh cosh "
    "atan acos asin acosh asinh atanh cbrt rcbrt erfc erfinv erfcinv erfcx nearbyint lgamma tgamma exp10 sinpi cospi "
    "normcdf normcdfinv j0 j1 y0 y1 logb"
).split()
_TWO = "pow fmax fmin fmod atan2 copysign fdim hypot remainder nextafter".split()
_FAST_ONE = "__expf __logf __sinf __cosf __tanf __log2f __log10f __exp10f __saturatef __frsqrt_rn".split()
_CLASSIFIERS = {
    "bool": "isnan isinf isfinite isnormal signbit", "long": "lround lrint", "long long": "llround llrint",
    "int": "ilogb",
}  # fmt: skip
_ROUNDINGS = "rn rz ru rd".split()


def _float_functions() -> Iterator[Intrinsic]:
    integral = "template<class T> typename vk::if_integral<T, double>::type"
    for name in _ONE:
        yield from declare(
            "math", "pure-float", "",
            f"float {name}f(float)", f"float {name}(float)", f"double {name}(double)", f"{integral} {name}(T)",
        )  # fmt: skip
    for name in _TWO:
        yield from declare(
            "math", "pure-float", "",
            f"float {name}f(float, float)", f"float {name}(float, float)", f"double {name}(double, double)",
            f"template<class T, class U> typename vk::promoted<T, U>::type {name}(T, U)",
        )  # fmt: skip
    for name in _FAST_ONE:
        yield from declare("math", "pure-float", "", f"float {name}(float)")
    yield from declare(
        "math", "pure-float", "", "float __fdividef(float, float); float fdividef(float, float)"
    )
    yield from declare("math", "pure-float", "", "float __powf(float, float)")
    yield from declare("math", "pure-float", "", "float fmaf(float, float, float)")
    yield from declare(
        "math", "pure-float", "",
        "float fma(float, float, float); double fma(double, double, double)",
        "float norm3df(float, float, float); double norm3d(double, double, double)",
        "float rnorm3df(float, float, float); double rnorm3d(double, double, double)",
        "float rhypotf(float, float); double rhypot(double, double)",
        "float ldexpf(float, int); float ldexp(float, int); double ldexp(double, int)",
        "float scalbnf(float, int); float scalbn(float, int); double scalbn(double, int)",
        "float __builtin_inff(); float __builtin_nanf(const char*); float nanf(const char*); double nan(const char*)",
        "bool __isnanf(float); bool __isinff(float); long lroundf(float); long lrintf(float)",
        "long long llroundf(float); long long llrintf(float); int ilogbf(float)",
    )  # fmt: skip
    for result, names in _CLASSIFIERS.items():
        for name in names.split():
            yield from declare(
                "math", "pure-float", "",
                f"{result} {name}(float); {result} {name}(double)",
                f"template<class T> typename vk::if_integral<T, {result}>::type {name}(T)",
            )  # fmt: skip
    for rounding in _ROUNDINGS:
        yield from declare(
            "math", "pure-float", "",
            *(f"float __f{op}_{rounding}(float, float)" for op in ("add", "sub", "mul", "div")),
            *(f"double __d{op}_{rounding}(double, double)" for op in ("add", "sub", "mul", "div")),
            f"float __fmaf_{rounding}(float, float, float); double __fma_{rounding}(double, double, double)",
            f"float __fsqrt_{rounding}(float); double __dsqrt_{rounding}(double)",
            f"float __frcp_{rounding}(float); double __drcp_{rounding}(double)",
        )  # fmt: skip
    yield from declare(
        "math", "results", "sin,cos",
        "void sincosf(float, float*, float*); void sincos(float, float*, float*)",
        "void sincos(double, double*, double*); void __sincosf(float, float*, float*)",
        "void sincospif(float, float*, float*); void sincospi(double, double*, double*)",
    )  # fmt: skip


def _pairs() -> str:
    types = [("int", "unsigned"), ("long", "unsigned long"), ("long long", "unsigned long long")]
    lines = []
    for name in ("min", "max"):
        for signed, unsigned in types:
            lines.append(f"{signed} {name}({signed}, {signed})")
            lines += [
                f"{unsigned} {name}({a}, {b})"
                for a, b in ((unsigned, unsigned), (signed, unsigned), (unsigned, signed))
            ]
        lines.append(f"float {name}(float, float)")
        lines += [
            f"double {name}({a}, {b})"
            for a, b in (("double", "double"), ("float", "double"), ("double", "float"))
        ]
    return ";".join(lines)


def _named(meaning: str, *declarations: str, common: bool = False) -> Iterator[Intrinsic]:
    yield from declare("math", "pure-int", meaning, *declarations, common=common)


def entries() -> Iterator[Intrinsic]:
    yield from _float_functions()
    pairs = _pairs().split(";")
    yield from _named("min", *(p for p in pairs if " min(" in p), common=True)
    yield from _named("max", *(p for p in pairs if " max(" in p), common=True)
    yield from _named("min", "unsigned umin(unsigned, unsigned)", common=True)
    yield from _named("max", "unsigned umax(unsigned, unsigned)", common=True)
    yield from _named("min", "long long llmin(long long, long long)", common=True)
    yield from _named("max", "long long llmax(long long, long long)", common=True)
    yield from _named(
        "abs", "int abs(int); long abs(long); long long abs(long long); float abs(float); double abs(double)"
    )
    yield from _named("abs", "long labs(long); long long llabs(long long)")
    yield from _named("popc", "int __popc(unsigned); int __popcll(unsigned long long)")
    yield from _named("clz", "int __clz(int); int __clzll(long long)")
    yield from _named("ffs", "int __ffs(int); int __ffsll(long long)")
    yield from _named("brev", "unsigned __brev(unsigned); unsigned long long __brevll(unsigned long long)")
    yield from _named("mul24", "int __mul24(int, int); unsigned __umul24(unsigned, unsigned)")
    yield from _named("mulhi", "int __mulhi(int, int); unsigned __umulhi(unsigned, unsigned)")
    yield from _named(
        "mulhi",
        "long long __mul64hi(long long, long long)",
        "unsigned long long __umul64hi(unsigned long long, unsigned long long)",
    )
    yield from _named(
        "sad", "unsigned __sad(int, int, unsigned); unsigned __usad(unsigned, unsigned, unsigned)"
    )
    yield from _named("hadd", "unsigned __uhadd(unsigned, unsigned)")
    yield from _named("rhadd", "int __rhadd(int, int); unsigned __urhadd(unsigned, unsigned)")
    yield from _named("funnel_l", "unsigned __funnelshift_l(unsigned, unsigned, unsigned)")
    yield from _named("funnel_r", "unsigned __funnelshift_r(unsigned, unsigned, unsigned)")
    yield from _named(
        "",
        "unsigned __funnelshift_lc(unsigned, unsigned, unsigned);",
        "unsigned __funnelshift_rc(unsigned, unsigned, unsigned)",
        "unsigned __byte_perm(unsigned, unsigned, unsigned)",
        "int __dp4a(int, int, int); unsigned __dp4a(unsigned, unsigned, unsigned)",
        "int __dp2a_lo(int, int, int); int __dp2a_hi(int, int, int)",
        "unsigned __fns(unsigned, unsigned, int)",
        *(
            f"unsigned __v{op}{n}(unsigned, unsigned)"
            for op in ("add", "sub", "addss", "addus", "subss", "subus", "mins", "minu", "maxs", "maxu", "cmpeq",
                       "cmpne", "absdiffs", "absdiffu", "avgs", "avgu", "sads", "sadu")
            for n in (2, 4)
        ),
    )  # fmt: skip
