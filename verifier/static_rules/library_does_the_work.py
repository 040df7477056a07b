"""The operations of the reference are not left to a library."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.compute import LIGHT, operation
from verifier.source.reading import Reading
from verifier.source.wrapper import Wrapper
from verifier.static_rules.flow import host_uses, uses
from verifier.static_rules.hit import Hit

ID = "library-does-the-work"
SEVERITY = Severity.ERROR
SUMMARY = "the operations of the reference are not left to a library"
WHY = "The submission calls what it was to replace; its own kernels are a fig leaf."
FIX = "compute it in the kernel, or submit no kernel for it"
SWITCHABLE = True


def check(reading: Reading) -> Iterator[Hit]:
    if reading.wrapper is None or reading.wrapper.forward is None:
        return
    own = reading.wrapper
    model = Wrapper.of(reading.reference or reading.submission.python, own.path, "Model")
    if model is None or model.forward is None or model.forward is own.forward:
        return
    wanted = Counter(u.operation for u in uses(model) if u.kind == "main")
    assert model.model is not None
    parts = [n for root in (model.model, *model.reached) for n in ast.walk(root) if isinstance(n, ast.Call)]
    named = {operation(model.name(p.func)) for p in parts} - {""}  # layers that are kept in lists
    if not named:
        return
    used = [u for u in uses(own) if u.kind == "main" and not (u.from_kernel and u.operation in LIGHT)]
    used += [u for u in host_uses(reading) if not (u.from_kernel and u.operation in LIGHT)]
    have = Counter(u.operation for u in used)
    if not wanted - have and named <= set(have):
        first = next(u for u in used if u.operation in named)
        words = ", ".join(sorted(named))
        yield Hit(
            first.span,
            f"{first.name} and what else the reference calls ({words}) is left to PyTorch or a library",
        )
