"""No macro redefines a keyword, a CUDA builtin or a macro of the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.macros import TOOL_MACROS, is_predefined
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "redefined-macro"
SEVERITY = Severity.ERROR
SUMMARY = "no macro redefines a keyword, a CUDA builtin or a macro of the compiler"
WHY = "The headers of the real build see the macro too, so the program that is built differs from the one audited."
FIX = "give the macro a name of its own"
_KEYWORDS = frozenset(
    (
        *(
            "if",
            "else",
            "for",
            "while",
            "do",
            "switch",
            "case",
            "default",
            "break",
            "continue",
            "return",
            "goto",
        ),
        *(
            "int",
            "float",
            "double",
            "char",
            "short",
            "long",
            "unsigned",
            "signed",
            "bool",
            "void",
            "auto",
            "const",
        ),
        *(
            "static",
            "inline",
            "extern",
            "volatile",
            "struct",
            "class",
            "union",
            "enum",
            "template",
            "typename",
            "namespace",
        ),
        *(
            "using",
            "typedef",
            "sizeof",
            "private",
            "public",
            "protected",
            "true",
            "false",
            "nullptr",
            "operator",
            "this",
        ),
        *("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads", "__syncwarp"),
    )
)
_CUSTOMARY = re.compile(r"__STDC_\w+_MACROS|__STDC_WANT_\w+|__CUDA_NO_\w+")


def check(reading: Reading) -> Iterator[Hit]:
    for directive in reading.directives:
        if directive.name not in ("define", "undef"):
            continue
        found = re.match(r"\w+", directive.rest)
        name = found.group() if found else ""
        owned = is_predefined(name) and name not in TOOL_MACROS and not _CUSTOMARY.fullmatch(name)
        if owned or name in _KEYWORDS:
            yield Hit(
                directive.span, f"#{directive.name} {name} changes a name of the language or the compiler"
            )
