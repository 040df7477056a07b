"""The precision of the process stays as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "numeric-flags"
SEVERITY = Severity.ERROR
SUMMARY = "the precision of the process stays as it is"
WHY = "TF32, reduced precision and other modes change what every other computation of the process gives, the reference too."
FIX = "remove it; a kernel that needs another precision casts its own data"
SWITCHABLE = True
_CALLS = frozenset(
    (
        *("torch.set_float32_matmul_precision", "torch.set_default_dtype", "torch.set_default_tensor_type"),
        *("torch.set_flush_denormal", "torch.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast"),
        *("torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"),
    )
)
_HOST = frozenset(
    (
        *("setAllowTF32CuBLAS", "setAllowTF32CuDNN", "setFloat32MatmulPrecision"),
        *("setAllowFP16ReductionCuBLAS", "setBenchmarkCuDNN", "setDeterministicCuDNN", "set_default_dtype"),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for node in ast.walk(wrapper.tree) if wrapper is not None else ():
        assert wrapper is not None
        if isinstance(node, ast.Call) and (name := wrapper.name(node.func)) in _CALLS:
            yield Hit(wrapper.span(node), f"{name} changes the precision")
        for target in node.targets if isinstance(node, ast.Assign) else ():
            name = wrapper.name(target) if isinstance(target, ast.Attribute) else ""
            if name.startswith(("torch.backends.", "torch._C.")) and not name.endswith(".benchmark"):
                yield Hit(wrapper.span(node), f"{name} is set")
    for word in reading.host:
        if word.text in _HOST:
            yield Hit(word.span, f"host code calls {word.text}")
