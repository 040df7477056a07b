"""No code runs when the library is loaded."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "host-constructor"
SEVERITY = Severity.ERROR
SUMMARY = "no code runs when the library is loaded"
WHY = "A constructor runs as soon as the library is loaded, before anything can check what it does."
FIX = "do the work in the function that is called"
_NAMES = frozenset(
    ("constructor", "destructor", "init_priority", "ifunc", "__constructor__", "__destructor__")
)


def check(reading: Reading) -> Iterator[Hit]:
    words = reading.host
    for index, word in enumerate(words):
        opened = words[index - 1].text if index else ""
        if word.text in _NAMES and opened in ("(", ",", "::") and _attribute(reading, index):
            yield Hit(word.span, f"attribute {word.text} runs code at load or unload")
        elif word.kind == "string" and word.text.strip('"') in (
            ".init_array",
            ".ctors",
            ".preinit_array",
            ".init",
        ):
            yield Hit(word.span, f"section {word.text} holds code that runs at load")


def _attribute(reading: Reading, index: int) -> bool:
    before = [w.text for w in reading.host[max(0, index - 8) : index]]
    return "__attribute__" in before or "__attribute" in before or ("[" in before and "gnu" in before)
