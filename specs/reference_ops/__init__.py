"""The shipped reference ops: one file an op, found by folder. ``load()`` -> all of them, ``find("torch.relu")`` -> one.

Adding an op is adding a file ``specs/reference_ops/<op>.py`` that defines ``OP`` (see ``_spec.py``); files whose name
starts with ``_`` are helpers. Invariant: an op's name is its file's name, and no two ops claim one callable.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value, numel

__all__ = ["DoesNotFit", "Op", "Operand", "Option", "Options", "Shape", "Value", "find", "load", "numel"]


@cache
def load() -> dict[str, Op]:
    """Name -> op. Raises ValueError when a file breaks the invariant above."""
    ops: dict[str, Op] = {}
    owners: dict[str, str] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue
        op = importlib.import_module(f"{__name__}.{info.name}").OP
        if not isinstance(op, Op) or op.name != info.name:
            raise ValueError(f"specs/reference_ops/{info.name}.py does not define an Op named {info.name!r}")
        for dotted in op.callables:
            if owners.setdefault(dotted, op.name) != op.name:
                raise ValueError(f"{dotted} is claimed by both {owners[dotted]} and {op.name}")
        ops[op.name] = op
    return ops


@cache
def by_callable() -> dict[str, Op]:
    """Dotted callable -> op."""
    return {dotted: op for op in load().values() for dotted in op.callables}


def find(name: str) -> Op | None:
    """The op of a dotted PyTorch callable, or of an op's own name."""
    return by_callable().get(name) or load().get(name)
