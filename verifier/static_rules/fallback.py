"""No other code takes over when the kernel does not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.flow import leaves, uses
from verifier.static_rules.hit import Hit, between

ID = "fallback"
SEVERITY = Severity.ERROR
SUMMARY = "no other code takes over when the kernel does not run"
WHY = "A kernel that fails, or that is only for some sizes, is hidden by code that gives right numbers."
FIX = "let the error through; check sizes with TORCH_CHECK"
SWITCHABLE = True


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is not None and wrapper.forward is not None:
        for node in ast.walk(wrapper.tree):
            if isinstance(node, ast.Try) and node.handlers and wrapper.touches(node.body):
                quiet = [h for h in node.handlers if not leaves(h.body)]
                if quiet:
                    yield Hit(
                        wrapper.span(quiet[0]),
                        "an exception of the extension is caught and something else goes on",
                    )
        for use in uses(wrapper):
            if use.kind == "fallback" and use.operation != "arithmetic":
                yield Hit(use.span, f"{use.name} does the work where the kernel is not called")
    for function in reading.host_functions:
        texts = [w.text for w in function.body]
        for i, text in enumerate(texts):
            if not function.device and text == "catch" and "{" in texts[i:]:
                opening = texts.index("{", i)
                inside = texts[opening : between(function.body, opening)]
                if not {
                    "throw",
                    "rethrow_exception",
                    "abort",
                    "exit",
                    "AT_ERROR",
                    "TORCH_CHECK",
                }.intersection(inside):
                    yield Hit(function.body[i].span, f"{function.name} catches an exception and goes on")
