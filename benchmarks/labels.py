"""Expected results from the header comments of labelled test suites: file -> Labelled.

The header of a GPUVerify test: line 1 ``//pass`` or ``//xfail:CODE``, line 2 the launch, as options
(``--blockDim=64 --gridDim=[4,4] -DWIDTH=256``). The launch becomes a contract file, because these files have no host
code; nothing is said about sizes, as the suite does not check bounds.

Example::

    labelled = read(Path("kernel.cu"), Path(".benchmarks/contracts"))
    labelled.label, labelled.arguments    # "xfail", ("-D", "WIDTH=256", "--contract", "…")
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Labelled:
    """``label``: ``pass`` or ``xfail:CODE``; ``arguments``: what the tool needs to know of the launch."""

    label: str
    block: tuple[int, ...]
    grid: tuple[int, ...]
    arguments: tuple[str, ...]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def header(text: str) -> tuple[str, dict[str, str], tuple[str, ...]] | None:
    """(label, options, defines) of a header, or None where there is none."""
    lines = text.splitlines()
    if not lines or not (match := re.match(r"//\s*(pass|xfail:\w+)", lines[0])):
        return None
    options: dict[str, str] = {}
    defines: list[str] = []
    if len(lines) > 1 and lines[1].startswith("//"):
        for word in lines[1][2:].split():
            if word.startswith("-D"):
                defines.append(word[2:])
            elif "=" in word:
                key, value = word.lstrip("-").split("=", 1)
                options[key] = value
    return match[1], options, tuple(defines)


def read(path: Path, folder: Path) -> Labelled | None:
    """The header of a file and the options for the tool; None where the file has no header."""
    found = header(path.read_text(errors="replace"))
    if found is None:
        return None
    label, options, defines = found
    block = _numbers(options.get("blockDim", options.get("local_size", "1")))
    grid = _numbers(options.get("gridDim", options.get("num_groups", "1")))
    arguments = [word for define in defines for word in ("-D", define)]
    return Labelled(label, block, grid, tuple(arguments))
