"""Forward returns plain tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "lazy-tensor"
SEVERITY = Severity.ERROR
SUMMARY = "forward returns plain tensors"
WHY = (
    "A tensor of a class of its own can put off the work until it is looked at, outside of what is measured."
)
FIX = "return what torch.empty and the kernel made"
SWITCHABLE = True
_NAMES = frozenset(
    ("__torch_function__", "__torch_dispatch__", "_make_subclass", "_make_wrapper_subclass", "as_subclass")
)
_BASES = frozenset(("torch.Tensor", "torch.nn.Parameter", "torch.autograd.Variable", "torch._C.TensorBase"))


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for node in ast.walk(wrapper.tree) if wrapper is not None else ():
        assert wrapper is not None
        match node:
            case ast.ClassDef(bases=bases, name=name) if any(wrapper.name(b) in _BASES for b in bases):
                yield Hit(wrapper.span(node), f"{name} is a tensor of a class of its own")
            case ast.FunctionDef(name=name) | ast.Attribute(attr=name) if name in _NAMES:
                yield Hit(wrapper.span(node), f"{name} makes or changes tensor classes")
            case ast.Assign(targets=[ast.Attribute(attr="__class__"), *_]):
                yield Hit(wrapper.span(node), "the class of an object is changed")
            case _:
                pass
