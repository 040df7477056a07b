"""The compiler flags of an extension: macros, what is recorded, and what is known to leave the text's meaning alone.

Invariant: a flag that is not known is a problem, since it may bring in other text (``-include``), macros
(``-Xcompiler=-DN=5``), or another meaning (``-funsigned-char``, ``--default-stream per-thread``).

Example: ``read_flags(["-DN=5", "--use_fast_math"])`` gives ``{"N": "5"}`` and records the second.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from verifier.source.macros import UNDEFINED

_WITH_VALUE = re.compile(
    r"-D|-U|--define-macro|--undefine-macro|-Xcompiler|--compiler-options|-Xptxas|--ptxas-options|-Xnvlink|--nvlink-options"
    r"|-std|--std|-arch|--gpu-architecture|-code|--gpu-code|-gencode|--generate-code|-maxrregcount|--maxrregcount"
    r"|-Xfatbin|-Xcudafe|-Xlinker|--linker-options|-t|--threads|-O|--optimize|-L|-l|-ccbin|--compiler-bindir|--default-stream|-default-stream|-diag-suppress|--diag-suppress"
)
"""Those that may have their value in the next word."""
_MACRO = re.compile(r"(-D|--define-macro=|-U|--undefine-macro=)\s*([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
_PASSED_ON = re.compile(r"(?:-Xcompiler|--compiler-options)=(.*)")
_HARMLESS = re.compile(
    r"-O[0-4s]?|--?optimize=.*|-g\d?|-ggdb\d?|-G|-w|-W(?![pal],).*|-lineinfo|--generate-line-info|-Xptxas=.*|--ptxas-options=.*"
    r"|-Xnvlink=.*|--nvlink-options=.*|-Xfatbin=.*|-Xcudafe=.*|-Xlinker=.*|--linker-options=.*|--?std=c\+\+(14|17|20)|--?expt-relaxed-constexpr|--?expt-extended-lambda|--?extended-lambda"
    r"|-v|--verbose|-t=?\d+|--threads=?\d+|-pthread|-l.*|-L.*|-pipe|-m64|-march=.*|-mtune=.*|-mavx.*|-mfma|-msse.*|-mf16c"
    r"|-f(?:PIC|pic|PIE|openmp|permissive|no-strict-aliasing|visibility=.*|unroll-loops|inline-functions|omit-frame-pointer"
    r"|stack-protector.*|diagnostics-.*|lto.*|tree-vectorize|no-gnu-unique)|--?arch=.*|--?gpu-architecture=.*|--?code=.*"
    r"|--?gpu-code=.*|--?gencode=.*|--?generate-code=.*|--?maxrregcount=.*|--?extra-device-vectorization"
    r"|--?restrict|--?resource-usage|-res-usage|--?keep|--?source-in-ptx|--?display-error-number|-lto|--?dlink-time-opt"
    r"|--?ccbin=.*|--?compiler-bindir=.*|--?default-stream=(?:legacy|null)|--?diag-suppress=?.*|--?disable-warnings"
    r"|--?allow-unsupported-compiler|/O[0-2dx]|/W\d|/MP|/bigobj|/EHsc|/std:c\+\+(14|17|20)"
)
ARITHMETIC = re.compile(
    r"-{1,2}(?:use_fast_math|ftz|prec-div|prec-sqrt|fmad)(?:=.*)?|-ffast-math|-Ofast|-fp-model.*|-ffp-contract=.*|-fno-math-errno"
    r"|-funsafe-math-optimizations|-fassociative-math|-fno-signed-zeros|-ffinite-math-only"
)
"""Flags that change how floats are computed: recorded."""


@dataclass(slots=True)
class Flags:
    defines: dict[str, str] = field(default_factory=dict)
    recorded: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def read_flags(flags: Iterable[str]) -> Flags:
    """As PyTorch hands them over: joined, and taken apart by a shell."""
    out = Flags()
    try:
        words = [w for flag in flags for w in shlex.split(flag)]
    except ValueError:
        out.unknown = list(flags)
        return out
    _read(words, out)
    return out


def _read(words: list[str], out: Flags) -> None:
    todo = list(reversed(words))
    while todo:
        word = todo.pop()
        if _WITH_VALUE.fullmatch(word) and todo:
            word = f"{word}{'' if word in ('-D', '-U', '-l', '-L', '-O') else '='}{todo.pop()}"
        found = _MACRO.fullmatch(word)
        if found is not None and "," not in (found[3] or ""):  # nvcc takes a comma for the next macro
            undefined = found[1] in ("-U", "--undefine-macro=")
            out.defines[found[2]] = UNDEFINED if undefined else found[3] if found[3] is not None else "1"
        elif passed := _PASSED_ON.fullmatch(word):  # nvcc hands macros on to its own preprocessing too
            _read([w.strip("'\"") for w in passed[1].split(",")], out)
        elif ARITHMETIC.fullmatch(word):
            out.recorded.append(word)
        elif not _HARMLESS.fullmatch(word):
            out.unknown.append(word)
