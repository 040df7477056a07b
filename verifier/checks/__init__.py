"""One file a property; the file's name is the property's id with dashes as underscores. Found by folder.

Each module has ``ID``, ``SUMMARY`` (one sentence) and ``claims(c: Claims) -> Iterator[Obligation]``; and
``applies(s: Summary) -> bool``: whether the kernel has a construct of the kind at all (else NOT_APPLICABLE).
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType


def find() -> dict[str, ModuleType]:
    """Property id -> check module."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{n}") for n in names if not n.startswith("_")]
    return {m.ID: m for m in modules}
