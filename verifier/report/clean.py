"""Text that a submission had a hand in -> text that is safe to print.

Removed: C0 and C1 control characters (terminal escapes), bidirectional and zero-width characters (text that reads
differently from what it is), lone surrogates. No line can start a workflow command (``::error::``, ``##[group]``).

Example::

    clean("a\\x1b[31mb\\u202e")       # "a[31mb"
    defuse("::error::x")             # ": :error::x"
"""

from __future__ import annotations

import re

_REMOVED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


def clean(text: str) -> str:
    """``text`` without characters that could act on a terminal or deceive a reader; keeps newline and tab."""
    return _REMOVED.sub("", text)


def line(text: str) -> str:
    """One clean line: newlines and tabs become spaces."""
    return " ".join(clean(text.replace("\t", " ").replace("\n", " ").replace("\r", " ")).split(" "))


def defuse(text: str) -> str:
    """Whole output, no line of which a CI system can read as a command."""
    return _COMMAND.sub(r"\1: ", text).replace("##[", "## [")
