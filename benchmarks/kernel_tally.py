"""Corpus records -> how many kernels are decided: the finer measure beside files. Pure: dicts in, counts out.

A kernel is one name of a file; all its launches and instantiations count together, and a kernel that nothing launches or
that could not be read counts as open. Classes (``CLASSES``):

- *decided*: every required property of every launch is PROVED, or REFUTED with a replayed witness (see ``tally``);
- *under clauses*: else, if each of these is PROVED or was PROVED under clauses that the tool found and prints
  (``safe_for``), or, without a launch, if a precondition was found under which all are PROVED (``preconditions``);
- *refuted, rest under clauses*: the same with a confirmed refutation among them;
- *open*.

Example::

    count = classify(records)          # {"decided": 12, "under clauses": 9, "refuted, rest …": 1, "open": 8}
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks import tally
from specs.policy import REQUIRED_PROPERTIES

CLASSES = ("decided", "under clauses", "refuted, rest under clauses", "open")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_BOUNDS = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)")
_KERNEL = re.compile(r"__global__\b[^;{}()]*?\b(\w+)\s*\(")


def names(text: str) -> list[str]:
    """The kernels that a text defines or declares."""
    bare = _BOUNDS.sub(" ", _COMMENT.sub(" ", text))
    return list(dict.fromkeys(_KERNEL.findall(bare)))


def of_file(record: tally.Record) -> dict[str, str]:
    """Kernel -> its class."""
    found = dict.fromkeys(record.get("kernels", ()), "open")
    report = record["report"]
    if report is None or tally.outcome(record) not in ("PASS", "FAIL", "INCONCLUSIVE"):
        return found
    launches: dict[str, set[str]] = defaultdict(set)
    for kernel in report["kernels"]:
        launches[kernel["name"]] |= {_state(report, kernel, p) for p in REQUIRED_PROPERTIES}
    preconditions = report["gates"]["prove"].get("facts", {}).get("preconditions", {})
    found |= dict.fromkeys(preconditions, "under clauses")
    return found | {name: _class(states) for name, states in launches.items()}


def classify(records: Iterable[tally.Record]) -> dict[str, int]:
    """Kernels of each class."""
    count = Counter(c for r in records for c in of_file(r).values())
    return {name: count[name] for name in CLASSES}


def sentence(count: Mapping[str, int]) -> str:
    """The shares in words."""
    total = sum(count.values())
    if not total:
        return "No kernels."
    share = {name: f"{n} ({100 * n / total:.1f} %)" for name, n in count.items()}
    either = total - count["open"]
    return (
        f"Kernels: {total}; decided {share['decided']}, PROVED under clauses that the tool found "
        f"{share['under clauses']}, refuted with the rest under such clauses {share['refuted, rest under clauses']}; "
        f"together {either} ({100 * either / total:.1f} %), open {share['open']}."
    )


def _state(report: Mapping[str, Any], kernel: Mapping[str, Any], property_: str) -> str:
    found = tally.state(report, kernel, property_)
    conditional = found == "UNKNOWN" and kernel["properties"][property_].get("safe_for")
    return "conditional" if conditional else found


def _class(states: set[str]) -> str:
    if states <= {"PROVED", "REFUTED", "NOT_APPLICABLE"}:
        return "decided"
    if states <= {"PROVED", "NOT_APPLICABLE", "conditional"}:
        return "under clauses"
    if states <= {"PROVED", "REFUTED", "NOT_APPLICABLE", "conditional"}:
        return "refuted, rest under clauses"
    return "open"
