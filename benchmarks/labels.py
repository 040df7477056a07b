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
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier import frontend, source
from verifier.ir.nodes import Bool, Float, Int, Kernel, Pointer, Struct, Type
from verifier.isolation.sandbox import probe


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


ANNOTATIONS = {
    f"{name}({parameters})": "((void)0)"
    for name, parameters in (
        ("__requires", "..."), ("__requires_fresh_array", "..."),
        ("__ensures", "..."), ("__invariant", "..."), ("__global_invariant", "..."),
        ("__global_assert", "..."), ("__assume", "..."), ("__function_wide_invariant", "..."),
        ("__candidate_invariant", "..."), ("__candidate_global_invariant", "..."),
    )
}  # fmt: skip
"""What the suites tell their own tool inside of the code; it means nothing to a compiler."""
PRECONDITION = "do { if (!(__VA_ARGS__)) __trap(); } while (0)"
"""``__requires`` of an expression of the language: no thread goes on where it does not hold."""
OWN_NAMES = {"synchronize(g)": "(g).sync()"}
"""What the suites' own headers declare."""
EXTENT = 1 << 26
"""Elements of every array: the suites do not check bounds, so the arrays only have to be large."""


def macros(text: str) -> dict[str, str]:
    """Macros for what a file of a suite uses. Preconditions count if a compiler understands all of them."""
    known = {**ANNOTATIONS, **(OWN_NAMES if "cooperative_groups" in text else {})}
    if not any("__" in claim for claim in re.findall(r"__requires\s*\((.*)\)", text)):
        known["__requires(...)"] = PRECONDITION
    return known


def kernels(
    path: Path, defines: Mapping[str, str], root: Path | None, isolation: str = "auto"
) -> tuple[Kernel, ...]:
    """The kernels of a file as the front end reads them; none of a file that it cannot read."""
    sandbox = probe(isolation)
    try:
        text = source.load(
            path, root=root, include_dirs=(), defines=dict(defines), arch="sm_80", sandbox=sandbox, host_files=()
        )  # fmt: skip
        return frontend.parse_device(text.device, (), sandbox=sandbox).kernels
    except (source.SourceError, frontend.FrontEndFailed):
        return ()


def contract(found: Iterable[Kernel], block: tuple[int, ...], grid: tuple[int, ...]) -> str:
    """A contract file for each kernel: the header's launch, and arrays that do not overlap."""
    parts = []
    for kernel in found:
        lines = [
            "[[contract]]",
            f'kernel = "{kernel.name}"',
            *(
                [f"instantiation = {list(kernel.instantiation)}".replace("'", '"')]
                if kernel.instantiation
                else []
            ),
            f"launch = {{ grid = {_texts(grid)}, block = {_texts(block)}, cooperative = true }}",
            "[contract.buffers]",
        ]
        for parameter in kernel.params:
            if isinstance(parameter.type, Pointer):
                lines.append(f'"{parameter.name}" = "inout {_elements(parameter.type.elem)} fresh align 16"')
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _elements(type_: Type) -> str:
    """An array of the type; of a class of one kind of number, an array of that, else one of bytes."""
    match type_:
        case Int(bits=bits, signed=signed) if bits <= 64:
            return f"{'i' if signed else 'u'}{bits}[{EXTENT}]"
        case Float(name=name):
            return f"{name}[{EXTENT}]"
        case Bool():
            return f"bool[{EXTENT}]"
        case Struct(fields=(first, *rest)) if all(field.type == first.type for field in rest):
            return _elements(first.type)
    return f"u8[{EXTENT}]"


def _allowed(block: tuple[int, ...]) -> tuple[int, ...]:
    """A block of more threads than any device takes has as many as it takes."""
    return (min(block[0], 1024 // max(1, math.prod(block[1:]))), *block[1:])


def _texts(numbers: tuple[int, ...]) -> str:
    return "[" + ", ".join(f'"{n}"' for n in numbers) + "]"


def read(path: Path, folder: Path, root: Path | None = None, isolation: str = "auto") -> Labelled | None:
    """The header of a file and the options for the tool; None where the file has no header.

    ``folder`` keeps the contracts; ``root`` is where quote includes may lead.
    """
    text = path.read_text(errors="replace")
    found = header(text)
    if found is None:
        return None
    label, options, defines = found
    block = _allowed(_numbers(options.get("blockDim", options.get("local_size", "1"))) or (1,))
    grid = _numbers(options.get("gridDim", options.get("num_groups", "1"))) or (1,)
    known = {**macros(text), **dict((d if "=" in d else f"{d}=1").split("=", 1) for d in defines)}
    arguments = [word for name, value in known.items() for word in ("-D", f"{name}={value}")]
    file = (
        folder.resolve()
        / f"{path.parent.name}-{path.stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.toml"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(contract(kernels(path, known, root, isolation), block, grid))
    return Labelled(label, block, grid, (*arguments, "--contract", str(file)))
