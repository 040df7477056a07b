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
    lifting; it is read by libclang only, never compiled. ``python``: the Python source for kind python,
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
