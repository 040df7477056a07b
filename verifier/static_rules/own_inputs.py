"""Inputs that the submission brings are not used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "own-inputs"
SEVERITY = Severity.NOTE
SUMMARY = "inputs that the submission brings are not used"
WHY = "A submission that chooses its own inputs chooses what it is tested on; the problem's are used."
FIX = "none needed"
SWITCHABLE = True


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for node in wrapper.tree.body if wrapper is not None else ():
        assert wrapper is not None
        if isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs"):
            yield Hit(wrapper.span(node), f"{node.name} of the submission is not used")
