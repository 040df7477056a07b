"""The one canonical text of a submission's device code; every reader (libclang, g++, nvcc) gets exactly this.

Line markers (``# 12 "foo.cu"``) are kept in the text, so each reader reports places in the user's own files.

Example: ``submission.device.text`` starts with ``# 3 "saxpy.cu"`` and holds the kernels, the device
functions and the types, constants and templates that these use, preprocessed once;
``submission.device.sha256`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass

from specs.location import Span


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text of the user's before preprocessing: the file, a header, or a source string of a Python file.

    ``lines``: file line of each line of ``text``; empty when they are the same.
    """

    path: str
    text: str
    lines: tuple[int, ...] = ()

    def line(self, number: int) -> int:
        """The file line of line ``number`` (from 1) of ``text``."""
        return self.lines[min(number, len(self.lines)) - 1] if self.lines else number


@dataclass(frozen=True, slots=True)
class Conditional:
    """A macro that an ``#if`` names although the text does not define it. ``tool``: compilers or tools own it."""

    name: str
    span: Span
    tool: bool


@dataclass(frozen=True, slots=True)
class DeviceText:
    """``kernels``: name and place of each ``__global__`` function or template of the text, in order."""

    text: str
    sha256: str
    kernels: tuple[tuple[str, Span], ...]
    system_includes: tuple[str, ...] = ()
    user_headers: tuple[tuple[str, str], ...] = ()
    """(path, sha256) of each header that was expanded."""
    defines: tuple[tuple[str, str], ...] = ()
    """Macros given to the one preprocessing by the policy or the submission's own literal flags."""
    flags: tuple[str, ...] = ()
    """Semantic compiler flags seen in the submission (recorded, not obeyed), e.g. --use_fast_math."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One file as it was read. ``kind``: cu (plain), extension (torch .cu), python (load_inline).

    ``host``: the preprocessed text of everything (device and host), with line markers, for contract
    lifting; it is read by libclang only; ``--run-wrapper`` alone compiles it. ``python``: the Python source for kind python,
    else "". ``raw``: the original bytes, decoded; ``units``: (variable or argument name, first line, text)
    of each CUDA or C++ source string of a Python file.
    """

    path: str
    kind: str
    sha256: str
    raw: str
    device: DeviceText
    host: str = ""
    python: str = ""
    units: tuple[tuple[str, int, str], ...] = ()
    problems: tuple[str, ...] = ()
    """What extraction could not do (f-string source, missing include …), one line each with file and line."""
    texts: tuple[SourceText, ...] = ()
    """Every CUDA and C++ text of the user's that was read, headers too: what the static rules look at."""
    conditionals: tuple[Conditional, ...] = ()
    """Macros in conditions that neither the text nor the command line decides."""
