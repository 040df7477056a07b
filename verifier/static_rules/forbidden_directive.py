"""No directive reads foreign files, asks the file system or moves line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "forbidden-directive"
SEVERITY = Severity.ERROR
SUMMARY = "no directive reads foreign files, asks the file system or moves line numbers"
WHY = "Such a directive makes the audited text depend on the machine, or its findings point elsewhere."
FIX = "use #include with a literal name inside the project"
_FORBIDDEN = {
    "include_next": "#include_next depends on the search path",
    "import": "#import is not standard",
    "embed": "#embed puts a file of the build machine into the program",
    "line": "#line moves the places of findings",
    "": "a line marker moves the places of findings",
    "assert": "#assert is not standard",
    "unassert": "#unassert is not standard",
}


def check(reading: Reading) -> Iterator[Hit]:
    for directive in reading.directives:
        name, rest = directive.name, directive.rest
        if name in _FORBIDDEN and (name or rest):
            yield Hit(directive.span, _FORBIDDEN[name])
        elif name == "include" and re.match(r'["<]\s*/', rest):
            yield Hit(directive.span, f"#include {rest} names an absolute path")
        elif name == "include" and not re.match(r'["<]', rest):
            yield Hit(directive.span, f"#include {rest} is computed by a macro")
        elif name in ("if", "elif") and (asked := re.search(r"\b__has_\w+", rest)):
            yield Hit(directive.span, f"{asked.group()} asks what the build machine has")
