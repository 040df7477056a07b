"""The static rules, one file a rule, found by folder: ``rules()``.

A rule module ``some_id.py`` has ``ID``, ``SEVERITY``, ``SUMMARY`` (the claim, as on its page ``docs/rules/<id>.md``),
``WHY`` and ``FIX`` (a sentence each) and ``check(reading) -> Iterator[Hit]``; ``SWITCHABLE`` where a policy may say another
severity: rules about how a submission behaves, never those without which a text cannot be audited by reading it.

Example::

    for rule in rules():
        for hit in rule.check(reading): print(rule.id, hit.span, hit.message)
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

__all__ = ["Hit", "Rule", "rules"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule module, as data."""

    id: str
    severity: Severity
    summary: str
    why: str
    fix: str
    check: Callable[[Reading], Iterator[Hit]]
    switchable: bool = False


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, sorted by id."""
    found = []
    for entry in pkgutil.iter_modules(__path__, f"{__name__}."):
        module = importlib.import_module(entry.name)
        if hasattr(module, "ID"):
            found.append(
                Rule(
                    module.ID,
                    module.SEVERITY,
                    module.SUMMARY,
                    module.WHY,
                    module.FIX,
                    module.check,
                    getattr(module, "SWITCHABLE", False),
                )
            )
    return tuple(sorted(found, key=lambda rule: rule.id))
