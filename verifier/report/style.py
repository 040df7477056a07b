"""Colour and small words for the text report. ``Paint(False)`` leaves text alone.

Example::

    Paint(True)("PASS", "good")      # "\\x1b[1;32mPASS\\x1b[0m"
    plural(2, "file")                # "2 files"
"""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"good": "1;32", "bad": "1;31", "open": "1;33", "strong": "1", "dim": "2", "mark": "36"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Callable: text and a style name -> text, coloured when ``on``."""

    on: bool

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and text else str(text)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
