"""No code asks who calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "caller-inspection"
SEVERITY = Severity.ERROR
SUMMARY = "no code asks who calls it"
WHY = "A submission that sees its caller can behave differently while it is checked."
FIX = "remove it"
SWITCHABLE = True
_CALLS = frozenset(
    (
        *(
            "inspect.stack",
            "inspect.currentframe",
            "inspect.getouterframes",
            "inspect.getframeinfo",
            "inspect.trace",
        ),
        *(
            "sys._getframe",
            "sys._current_frames",
            "sys.settrace",
            "sys.setprofile",
            "sys.gettrace",
            "sys.getprofile",
        ),
        *(
            "traceback.extract_stack",
            "traceback.format_stack",
            "traceback.print_stack",
            "traceback.walk_stack",
        ),
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "globals", "locals", "vars"),
    )
)
_ATTRIBUTES = frozenset(
    ("f_back", "f_locals", "f_globals", "f_code", "tb_frame", "gi_frame", "__subclasses__")
)
_HOST = frozenset(
    ("backtrace", "backtrace_symbols", "PyEval_GetFrame", "PyThreadState_Get", "PyFrame_GetBack")
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for node in ast.walk(wrapper.tree) if wrapper is not None else ():
        assert wrapper is not None
        if isinstance(node, ast.Call) and (name := wrapper.name(node.func)) in _CALLS:
            yield Hit(wrapper.span(node), f"{name}() looks at the program around it")
        elif isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
            yield Hit(wrapper.span(node), f".{node.attr} looks at the program around it")
        elif isinstance(node, ast.Attribute | ast.Name) and wrapper.name(node) in (
            "sys.argv",
            "sys.modules",
            "__main__",
        ):
            yield Hit(wrapper.span(node), f"{wrapper.name(node)} tells which program runs it")
    for word in reading.host:
        if word.text in _HOST:
            yield Hit(word.span, f"host code calls {word.text}")
