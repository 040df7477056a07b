"""The submission reports no results of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "printed-result"
SEVERITY = Severity.WARNING
SUMMARY = "the submission reports no results of its own"
WHY = "Lines that look like a benchmark's are taken for one by whoever reads the output."
FIX = "remove the line"
SWITCHABLE = True
_WORDS = re.compile(
    r"speed-?up|\bpass(ed)?\b|\bcorrect|max_?diff|mismatch|\bfaster\b|gflops|\bruntime\b|\d ?(ms|us|x)\b|allclose",
    re.IGNORECASE,
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None:
        return
    main = {
        id(n)
        for s in wrapper.tree.body
        if isinstance(s, ast.If) and "__name__" in ast.unparse(s.test)
        for n in ast.walk(s)
    }
    for call in wrapper.calls(everywhere=True):
        if (
            wrapper.name(call.func) in ("print", "sys.stdout.write", "sys.stderr.write", "os.write")
            and id(call) not in main
        ):
            texts = [
                n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)
            ]
            if any(_WORDS.search(t) for t in texts):
                yield Hit(wrapper.span(call), "it prints what reads like a result")
