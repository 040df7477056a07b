"""Warp intrinsics name their lanes."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, calls

ID = "legacy-warp-intrinsic"
SEVERITY = Severity.ERROR
SUMMARY = "warp intrinsics name their lanes"
WHY = "Since sm_70 lanes run independently; the forms without _sync do not exist there any more."
FIX = "use the _sync form with the mask of the lanes that take part"
_LEGACY = frozenset(("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__ballot", "__any", "__all"))


def check(reading: Reading) -> Iterator[Hit]:
    for word in calls(reading.device, _LEGACY):
        yield Hit(word.span, f"{word.text} has no lane mask", "", f"use {word.text}_sync(mask, …)")
