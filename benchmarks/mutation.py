"""Small realistic faults, put into a kernel's own text: source text -> Mutant…

Works on lines of device functions (``__global__``/``__device__`` bodies) of a ``.cu`` or Python file. A mutant is a
change of one line; whether it is really wrong is for the simulator to say (``benchmarks.mutants``).

Example::

    for mutant in mutants(Path("examples/saxpy.cu").read_text()):
        print(mutant.operator, mutant.line, mutant.after)   # guard-dropped 9  if (true) {
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[str], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """``key`` names it among the mutants of its file."""

    operator: str
    line: int
    before: str
    after: str
    text: str
    key: str


def device_lines(text: str) -> set[int]:
    """Numbers of the lines inside bodies of device functions, the line of the opening brace excluded."""
    inside: set[int] = set()
    for head in re.finditer(r"\b__(?:global|device)__\b", text):
        start = text.find("{", head.end())
        semicolon = text.find(";", head.end())
        if start < 0 or 0 <= semicolon < start:
            continue
        depth, at = 0, start
        while at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                break
            at += 1
        inside |= set(range(text.count("\n", 0, start) + 2, text.count("\n", 0, at) + 2))
    return inside


def _closing(line: str, start: int, pair: str) -> int:
    """Place of the bracket that closes the one at ``start``, or -1."""
    depth = 0
    for at in range(start, len(line)):
        depth += (line[at] == pair[0]) - (line[at] == pair[1])
        if depth == 0:
            return at
    return -1


def _drop_guard(line: str) -> Iterator[str]:
    if (at := line.find("if (")) >= 0 and (end := _closing(line, at + 3, "()")) > 0:
        returns = "return" in line[end:] or "break" in line[end:] or "continue" in line[end:]
        yield f"{line[: at + 4]}{'false' if returns else 'true'}{line[end:]}"
        yield from _drop_conjuncts(line, at + 4, end)
    elif " ? " in line and (match := re.search(r"(?<![<>=!])= (.+?) \? ", line)):
        yield line[: match.start(1)] + "true" + line[match.end(1) :]


def _drop_conjuncts(line: str, start: int, end: int) -> Iterator[str]:
    parts = line[start:end].split(" && ")
    if len(parts) > 1 and all(p.count("(") == p.count(")") for p in parts):
        for skip in range(len(parts)):
            yield line[:start] + " && ".join(p for i, p in enumerate(parts) if i != skip) + line[end:]


def _replace(pattern: str, new: str) -> Change:
    def change(line: str) -> Iterator[str]:
        for match in re.finditer(pattern, line):
            yield line[: match.start()] + match.expand(new) + line[match.end() :]

    return change


def _shift_index(by: str) -> Change:
    def change(line: str) -> Iterator[str]:
        if re.match(r"\s*(extern )?__shared__|\s*(const )?\w+ \w+\[[^\]]*\]( = .*)?;", line):
            return  # a declaration's extent is not an index
        for match in re.finditer(r"\w\[|\]\[", line):
            at = match.end() - 1
            if (end := _closing(line, at, "[]")) > 0:
                yield f"{line[:end]}{by}{line[end:]}"

    return change


def _unsplit_fill(line: str) -> Iterator[str]:
    """``tile[i] = c ? a : b;`` -> ``if (c) tile[i] = a;``: the cell keeps old contents."""
    if match := re.match(r"(\s*)([\w\[\]. ]+) = (.+) \? (.+) : (.+);", line):
        indent, target, condition, value, _ = match.groups()
        yield f"{indent}if ({condition}) {target} = {value};"


OPERATORS: dict[str, Change] = {
    "guard-dropped": _drop_guard,
    "less-to-less-equal": _replace(r"(?<=[\w)\]] )<(?= [\w(])", "<="),
    "greater-equal-to-greater": _replace(r"(?<=[\w)\]] )>=(?= [\w(])", ">"),
    "greater-to-greater-equal": _replace(r"(?<=[\w)\]] )>(?= [\w(])", ">="),
    "index-plus-one": _shift_index(" + 1"),
    "index-minus-one": _shift_index(" - 1"),
    "barrier-removed": _replace(r"__sync(?:threads|warp)\(\);", ";"),
    "barrier-in-branch": _replace(r"__syncthreads\(\);", "if (threadIdx.x != 0) __syncthreads();"),
    "stride-changed": _replace(r"\+= ([A-Za-z_][\w.]*(?: \* [\w.]+)?)(?=\))", r"+= \1 - 1"),
    "narrowed": _replace(r"\b(?:const )?(?:int64_t|long long|int|unsigned) (\w+)(?= = )", r"signed char \1"),
    "remainder-of-negative": _replace(r"([\w.]+) % (?=\w)", r"(\1 - 1) % "),
    "array-shrunk": _replace(r"(?<=\w)\[([A-Za-z_0-9 +*()]+)\](?=;|\[\w[^\]]*\];)", r"[\1 - 1]"),
    "atomic-made-plain": _replace(r"atomicAdd\(([^,;]+), ([^;]+)\)(?=;)", r"*(\1) += \2"),
    "mask-shrunk": _replace(r"0xffffffffu?", "0x0000ffffu"),
    "fill-dropped": _unsplit_fill,
}


def mutants(text: str) -> Iterator[Mutant]:
    """All mutants of a file, in the order of operators and lines; equal texts once."""
    lines = text.split("\n")
    inside = device_lines(text)
    seen = {text}
    for operator, change in OPERATORS.items():
        for number in sorted(inside):
            line = lines[number - 1]
            if line.lstrip().startswith(("//", "#")):
                continue
            if operator == "array-shrunk" and not re.match(r"\s*(?:__shared__ )?[\w]+ \w+\[.*\];", line):
                continue
            for count, new in enumerate(change(line)):
                mutated = "\n".join([*lines[: number - 1], new, *lines[number:]])
                if mutated not in seen:
                    seen.add(mutated)
                    yield Mutant(
                        operator, number, line.strip(), new.strip(), mutated, f"{operator}-{number}-{count}"
                    )
