"""Only pragmas that change no meaning are used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, string_value

ID = "unknown-pragma"
SEVERITY = Severity.ERROR
SUMMARY = "only pragmas that change no meaning are used"
WHY = "A pragma can change code generation, symbol names or macros for one compiler and not for another."
FIX = "remove the pragma, or use unroll, once, nv_diag_suppress, GCC diagnostic"
_ALLOWED = re.compile(
    r"(no)?unroll\b|once$|message\b|(end)?region\b|nv_diag|nv_exec_check_disable|hd_warning_disable|diag_(suppress|default"
    r"|warning|error|remark)|omp\b|GCC (diagnostic|unroll|ivdep)\b|clang (diagnostic|loop unroll)\b|ivdep\b|mark\b"
    r"|warning\b|pack\b"
)


def check(reading: Reading) -> Iterator[Hit]:
    for directive in reading.directives:
        if directive.name == "pragma" and not _ALLOWED.match(directive.rest):
            yield Hit(directive.span, f"#pragma {directive.rest} is not known to be harmless")
    words = reading.user
    for index, word in enumerate(words[:-2]):
        if word.text == "_Pragma" and words[index + 2].kind == "string":
            content = string_value(words[index + 2].text)
            if not _ALLOWED.match(content):
                yield Hit(word.span, f"_Pragma({content}) is not known to be harmless")
