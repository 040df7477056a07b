"""Where something stands in the user's files. Imports nothing of the project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file. Lines and columns count from 1; 0 means not known."""

    path: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"


NOWHERE = Span("", 0)
