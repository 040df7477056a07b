"""Why a file cannot be read at all: one clear line, the place and what to do (exit status 2).

Example::

    raise SourceError("not UTF-8 text", Span("foo.cu", 3), "save the file as UTF-8")
"""

from __future__ import annotations

from specs.location import Span


class SourceError(Exception):
    """Bad input. ``message`` and ``fix`` are one line each; ``str()`` is ``place: message; fix``."""

    def __init__(self, message: str, span: Span, fix: str = "") -> None:
        self.message, self.span, self.fix = message, span, fix
        super().__init__(f"{span if span.line else span.path}: {message}" + (f"; {fix}" if fix else ""))


class NoKernel(SourceError):
    """The file is readable and holds no ``__global__`` function."""
