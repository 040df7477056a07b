"""Expected results from the header comments of labelled test suites: file -> Labelled.

The header of a GPUVerify test: line 1 ``//pass`` or ``//xfail:CODE``, line 2 the launch, as options
(``--blockDim=64 --gridDim=[4,4] -DWIDTH=256``). The launch becomes a contract file, because these files have no host
code; nothing is said about sizes, as the suite does not check bounds.

Example::

    labelled = read(Path("kernel.cu"), Path(".benchmarks/contracts"))
    labelled.label, labelled.arguments    # "xfail", ("-D", "WIDTH=256", "--contract", "…")
"""

from __future__ import annotations

import hashlib
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


_TYPES = {
    "float": "f32", "double": "f64", "int": "i32", "unsigned": "u32", "unsigned int": "u32", "char": "i8",
    "unsigned char": "u8", "uchar": "u8", "short": "i16", "unsigned short": "u16", "long long": "i64", "long": "i64",
    "unsigned long long": "u64", "bool": "bool", "uint": "u32", "size_t": "u64",
}  # fmt: skip
_KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{")
EXTENT = 1 << 26
"""Elements of every array: the suites do not check bounds, so the arrays only have to be large."""


def contract(text: str, block: tuple[int, ...], grid: tuple[int, ...]) -> str:
    """A contract file for each kernel of a text: the header's launch, and arrays that do not overlap."""
    parts = []
    for kernel, parameters in _KERNEL.findall(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)):
        lines = [
            "[[contract]]",
            f'kernel = "{kernel}"',
            f"launch = {{ grid = {_texts(grid)}, block = {_texts(block)} }}",
            "[contract.buffers]",
        ]
        for parameter in parameters.split(","):
            if match := re.match(
                r"\s*(?:const\s+|volatile\s+)*([\w ]+?)\s*(?:const\s*)?\*[\s\w]*?(\w+)\s*$", parameter
            ):
                if element := _TYPES.get(match[1].strip()):
                    lines.append(f'{match[2]} = "inout {element}[{EXTENT}] fresh"')
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _texts(numbers: tuple[int, ...]) -> str:
    return "[" + ", ".join(f'"{n}"' for n in numbers) + "]"


def read(path: Path, folder: Path) -> Labelled | None:
    """The header of a file and the options for the tool; None where the file has no header."""
    text = path.read_text(errors="replace")
    found = header(text)
    if found is None:
        return None
    label, options, defines = found
    block = _numbers(options.get("blockDim", options.get("local_size", "1"))) or (1,)
    grid = _numbers(options.get("gridDim", options.get("num_groups", "1"))) or (1,)
    arguments = [word for define in defines for word in ("-D", define if "=" in define else f"{define}=1")]
    file = (
        folder.resolve()
        / f"{path.parent.name}-{path.stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.toml"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(contract(text, block, grid))
    return Labelled(label, block, grid, (*arguments, "--contract", str(file)))
