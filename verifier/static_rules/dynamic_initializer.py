"""Namespace-level variables of the host are initialised without calls."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "dynamic-initializer"
SEVERITY = Severity.WARNING
SUMMARY = "namespace-level variables of the host are initialised without calls"
WHY = "An initialiser that calls a function runs when the library is loaded, before anything can check what it does."
FIX = "make it constexpr, or a static inside the function that uses it"
_CASTS = frozenset(
    ("sizeof", "alignof", "static_cast", "float", "double", "int", "unsigned", "long", "decltype")
)


def check(reading: Reading) -> Iterator[Hit]:
    for declaration, words in reading.globals:
        if declaration.kind != "variable" or declaration.device or "constexpr" in declaration.specifiers:
            continue
        texts = [w.text for w in words]
        if "=" not in texts:
            continue
        start = texts.index("=")
        for index in range(start + 1, len(words) - 1):
            callee = words[index]
            lambda_ = texts[start + 1] == "[" and "}" in texts and texts[texts.index("}") + 1 :][:1] == ["("]
            if (callee.kind == "ident" and texts[index + 1] == "(" and callee.text not in _CASTS) or lambda_:
                yield Hit(callee.span, f"{declaration.names[0][0]} is initialised by a call", "")
                break
