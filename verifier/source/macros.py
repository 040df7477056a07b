"""Every macro that the one preprocessing knows besides those of the text itself.

Invariant: nothing here depends on the machine. Values of header macros are compared with the real headers in
``tests/source/test_macros.py`` where these are installed.

Example::

    prelude("sm_80", device=True, defines={"TILE": "16"})     # '#define INFINITY …\\n#define __CUDA_ARCH__ 800\\n…'
"""

from __future__ import annotations

import re
from collections.abc import Mapping

UNDEFINED = "undefined"
"""``-D NAME=undefined`` states that the build does not define NAME."""

HEADER_MACROS: Mapping[str, str] = {
    # <cmath>, <math.h>
    "INFINITY": "(__builtin_inff())",
    "NAN": '(__builtin_nanf(""))',
    "HUGE_VALF": "(__builtin_inff())",
    "HUGE_VAL": "(__builtin_inf())",
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    # <cfloat>, <float.h>
    "FLT_RADIX": "2",
    "FLT_MANT_DIG": "24",
    "FLT_DIG": "6",
    "FLT_MAX_EXP": "128",
    "FLT_MIN_EXP": "(-125)",
    "FLT_MAX": "3.40282346638528859811704183484516925e+38F",
    "FLT_MIN": "1.17549435082228750796873653722224568e-38F",
    "FLT_TRUE_MIN": "1.40129846432481707092372958328991613e-45F",
    "FLT_EPSILON": "1.19209289550781250000000000000000000e-7F",
    "DBL_MANT_DIG": "53",
    "DBL_DIG": "15",
    "DBL_MAX_EXP": "1024",
    "DBL_MIN_EXP": "(-1021)",
    "DBL_MAX": "1.79769313486231570814527423731704357e+308",
    "DBL_MIN": "2.22507385850720138309023271733240406e-308",
    "DBL_TRUE_MIN": "4.94065645841246544176568792868221372e-324",
    "DBL_EPSILON": "2.22044604925031308084726333618164062e-16",
    # <climits>, <limits.h>
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "CHAR_MIN": "(-128)",
    "CHAR_MAX": "127",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1L)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807LL - 1LL)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
    # <cstdint>, <stdint.h>
    "INT8_MIN": "(-128)",
    "INT8_MAX": "(127)",
    "UINT8_MAX": "(255)",
    "INT16_MIN": "(-32767-1)",
    "INT16_MAX": "(32767)",
    "UINT16_MAX": "(65535)",
    "INT32_MIN": "(-2147483647-1)",
    "INT32_MAX": "(2147483647)",
    "UINT32_MAX": "(4294967295U)",
    "INT64_MIN": "(-9223372036854775807L-1)",
    "INT64_MAX": "(9223372036854775807L)",
    "UINT64_MAX": "(18446744073709551615UL)",
    "SIZE_MAX": "(18446744073709551615UL)",
    # <cstddef>, <cstdlib>
    "NULL": "__null",
    "EXIT_SUCCESS": "0",
    "EXIT_FAILURE": "1",
    "RAND_MAX": "2147483647",
    # <math_constants.h> of the CUDA toolkit; written as values, not as bit casts
    "CUDART_INF_F": "(__builtin_inff())",
    "CUDART_NAN_F": '(__builtin_nanf(""))',
    "CUDART_MIN_DENORM_F": "1.40129846432481707e-45F",
    "CUDART_MAX_NORMAL_F": "3.40282346638528859811704183484516925e+38F",
    "CUDART_NEG_ZERO_F": "(-0.0F)",
    "CUDART_ZERO_F": "0.0F",
    "CUDART_ONE_F": "1.0F",
    "CUDART_SQRT_HALF_F": "0.707106781F",
    "CUDART_SQRT_TWO_F": "1.414213562F",
    "CUDART_THIRD_F": "0.333333333F",
    "CUDART_PIO4_F": "0.785398163F",
    "CUDART_PIO2_F": "1.570796327F",
    "CUDART_3PIO4_F": "2.356194490F",
    "CUDART_2_OVER_PI_F": "0.636619772F",
    "CUDART_PI_F": "3.141592654F",
    "CUDART_L2E_F": "1.442695041F",
    "CUDART_L2T_F": "3.321928094F",
    "CUDART_LG2_F": "0.301029996F",
    "CUDART_LGE_F": "0.434294482F",
    "CUDART_LN2_F": "0.693147181F",
    "CUDART_LNT_F": "2.302585093F",
    "CUDART_LNPI_F": "1.144729886F",
    "CUDART_INF": "(__builtin_inf())",
    "CUDART_NAN": '(__builtin_nan(""))',
    "CUDART_PI": "3.1415926535897931e+0",
    "CUDART_PIO2": "1.5707963267948966e+0",
    "CUDART_LN2": "6.9314718055994529e-1",
    "CUDART_L2E": "1.4426950408889634e+0",
    "CUDART_SQRT_TWO": "1.4142135623730951e+0",
}
TORCH_MACROS: Mapping[str, str] = {
    "C10_HOST_DEVICE": "__host__ __device__",
    "C10_DEVICE": "__device__",
    "C10_HOST": "__host__",
    "C10_RESTRICT": "__restrict__",
    "C10_LAUNCH_BOUNDS_1(threads)": "__launch_bounds__(((threads) <= 1024 ? (threads) : 256))",
    "C10_LAUNCH_BOUNDS_2(threads, blocks)": "__launch_bounds__(((threads) <= 1024 ? (threads) : 256), (blocks))",
    "CUDA_KERNEL_ASSERT(condition)": "assert(condition)",
    "CUDA_KERNEL_LOOP_TYPE(i, n, type)": "int64_t _i_n_d_e_x = ((int64_t)blockIdx.x) * blockDim.x + threadIdx.x; "
    "for (type i = _i_n_d_e_x; _i_n_d_e_x < (n); _i_n_d_e_x += blockDim.x * gridDim.x, i = _i_n_d_e_x)",
    "CUDA_KERNEL_LOOP(i, n)": "CUDA_KERNEL_LOOP_TYPE(i, n, int)",
}
"""Macros of PyTorch's headers that device code uses. Those of its host side stay calls (``TORCH_CHECK``)."""
UNSTABLE_MACROS: Mapping[str, str] = {
    "__FILE__": '""',
    "__BASE_FILE__": '""',
    "__COUNTER__": "-1",
    "__INCLUDE_LEVEL__": "-1",
    "__DATE__": '""',
    "__TIME__": '""',
    "__TIMESTAMP__": '""',
    "__LINE__": "-1",
}
"""Their values are the build's: other values must give the same device code. ``__LINE__`` only in Python files."""
_COMPILER_MACROS = {"__CUDACC__": "1", "__NVCC__": "1", "__linux__": "1"}
_NEVER_DEFINED = frozenset(
    (
        "_WIN32",
        "_WIN64",
        "_MSC_VER",
        "__APPLE__",
        "__HIPCC__",
        "__HIP_PLATFORM_AMD__",
        "__HIP_PLATFORM_HCC__",
        "__HIP_DEVICE_COMPILE__",
        "USE_ROCM",
        "__CUDA_ARCH__",
        "__CUDA_ARCH_FEAT_SM90_ALL",
        "__CUDA_ARCH_FEAT_SM100_ALL",
        "__CUDA_ARCH_FEAT_SM120_ALL",
    )
)
SAFE_IN_CONDITIONS = (
    frozenset(HEADER_MACROS)
    | _NEVER_DEFINED
    | frozenset(_COMPILER_MACROS)
    | {"__cplusplus", "__STDC_HOSTED__"}
)
"""Macros that mean the same to all three readers on every machine."""
TOOL_MACROS = frozenset(
    ["NDEBUG", "TORCH_EXTENSION_NAME", "linux", "unix", "i386", "_GNU_SOURCE", "_LP64", "_STDC_PREDEF_H"]
)
TOOLKIT_MACROS = frozenset(
    ["__CUDACC_VER_MAJOR__", "__CUDACC_VER_MINOR__", "__CUDACC_VER_BUILD__", "__CUDA_API_VERSION"]
)
"""The build's choice, not a difference between readers: ``-D`` decides them."""
_PREDEFINED = re.compile(
    r"__(GNU|GXX|GCC|clang|llvm|SANITIZE|CUDA|NV|x86|amd64|i\d86|aarch64|arm|ARM|FLT|DBL|LDBL|DEC\d|U?INT|SIZE|PTRDIFF"
    r"|W?CHAR|WINT|SIG_|SCHAR|SHRT|LONG|BYTE_ORDER|ORDER|FLOAT|ELF|linux|unix|gnu|_?LP64|STDC|cpp|cplusplus|has_|is_"
    r"|EXCEPTIONS|DEPRECATED|OPTIMIZE|NO_|VERSION__|USER_|REGISTER_|PIC|pic|PIE|pie|SSE|MMX|AVX|FMA|k8|code_model|SEG_"
    r"|PRAGMA_|STRICT_ANSI|FINITE|FAST_MATH|BIGGEST|COUNTER__|FILE|LINE__|DATE__|TIME|BASE_FILE|INCLUDE_LEVEL|HIP"
    r"|INTEL|EDG|PGI|RTTI|OBJC|BLOCKS|CHAR_BIT|CET|ATOMIC_|DEC|HAVE_|GLIBC|FXSR)"
)
_ENUMERATORS = frozenset(
    "__NV_E4M3 __NV_E5M2 __NV_E8M0 __NV_E2M1 __NV_E2M3 __NV_E3M2 __NV_SATFINITE __NV_NOSAT".split()
)
"""Of the fp8, fp6 and fp4 headers: no macros, though they look like it."""

PYTORCH_DEFINES = {
    "__CUDA_NO_HALF_OPERATORS__": "1",
    "__CUDA_NO_HALF_CONVERSIONS__": "1",
    "__CUDA_NO_BFLOAT16_CONVERSIONS__": "1",
    "__CUDA_NO_HALF2_OPERATORS__": "1",
}
"""What PyTorch's extension builder passes to nvcc by default."""


def is_tool_macro(name: str) -> bool:
    """Whether compilers, sanitizers or build tools own the name, so that two readers may disagree on it."""
    reserved = name.startswith("__") or bool(re.match(r"_[A-Z]", name))
    return name in TOOL_MACROS or (reserved and name not in TOOLKIT_MACROS)


def is_read_differently(name: str) -> bool:
    """Whether the name, left in the device text, would mean something else to each reader."""
    return name == "__PRETTY_FUNCTION__" or (
        is_predefined(name)
        and not name.startswith(("__is_", "__has_"))
        and name not in ("NDEBUG", "_GNU_SOURCE")
        and name not in _ENUMERATORS
    )


def is_predefined(name: str) -> bool:
    """Whether some compiler or build is known to define the name by itself, so that ``#define`` here proves nothing."""
    return name in TOOL_MACROS or bool(_PREDEFINED.match(name))


def arch_number(arch: str) -> int:
    """``sm_80`` -> 800, ``sm_90a`` -> 900: the value of ``__CUDA_ARCH__``. Raises ValueError."""
    found = re.fullmatch(r"sm_(\d{2,3})([af]?)", arch)
    if found is None:
        raise ValueError(f"not an architecture: {arch!r}")
    return int(found[1]) * 10


def prelude(arch: str, *, device: bool, defines: Mapping[str, str]) -> str:
    """The lines of ``#define`` that stand before the text; ``device``: as in nvcc's device pass for ``arch``."""
    macros = {**HEADER_MACROS, **TORCH_MACROS, **_COMPILER_MACROS}
    if device:
        macros["__CUDA_ARCH__"] = str(arch_number(arch))
        if arch.endswith("a"):
            macros[f"__CUDA_ARCH_FEAT_SM{arch[3:-1]}_ALL"] = "1"
    macros |= defines
    lines = (f"#undef {n}" if v == UNDEFINED else f"#define {n} {v}" for n, v in macros.items())
    return "\n".join(lines) + "\n"
