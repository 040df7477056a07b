"""A user's own reference in the oracle's process: ``module:function``, or the ``Model`` of a problem file.

Example reference: ``{"kind": "function", "path": "refs.py", "function": "fused"}``.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("user_reference", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def user_function(reference: dict[str, Any]) -> Callable[..., Any]:
    """The function that the user named."""
    module = (
        _load(reference["path"]) if reference.get("path") else importlib.import_module(reference["module"])
    )
    function = getattr(module, reference["function"], None)
    if not callable(function):
        raise AttributeError(
            f"{reference['function']} is not a function of {reference.get('path') or reference['module']}"
        )
    return function  # type: ignore[no-any-return]


def describe(reference: dict[str, Any]) -> dict[str, Any]:
    raise NotImplementedError


def evaluate(reference: dict[str, Any], inputs: list[Any], fmt: Any) -> list[tuple[Any, Any, Any]]:
    raise NotImplementedError
