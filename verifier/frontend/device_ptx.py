"""The text of an ``asm`` statement as instructions and operands; no meaning yet.

Input -> output: an ASM_STMT node -> ``Assembly`` with its instructions, outputs and inputs; Refused for what is no list
of instructions.

Invariant: an operand's number is that of the assembler text (``%0`` is the first output); nothing of the text is lost.

Example: ``asm volatile("@p ld.global.b32 %0, [%1+4];" : "=r"(v) : "l"(x))`` -> one Instruction("ld.global.b32", …).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from verifier.frontend.device_clang import Node
from verifier.frontend.device_types import Refused

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\n", "r": "\n", '"': '"', "\\": "\\"}
_OPERAND = re.compile(r'(?:\[\s*(\w+)\s*\]\s*)?("(?:[^"\\]|\\.)*"\s*)+\(')


@dataclass(frozen=True, slots=True)
class Instruction:
    """``name`` with its dotted modifiers; ``operands`` as written; ``guard``: ``p``, ``!p`` or empty."""

    name: str
    operands: tuple[str, ...]
    guard: str
    text: str

    @property
    def words(self) -> list[str]:
        return self.name.replace("::", ":").split(".")


@dataclass(frozen=True, slots=True)
class Operand:
    """``constraint`` as written: ``=r``, ``+f``, ``l``, ``n``."""

    constraint: str
    node: Node
    name: str = ""


@dataclass(frozen=True, slots=True)
class Ptx:
    instructions: tuple[Instruction, ...]
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    registers: frozenset[str]
    """What ``.reg`` declares."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.outputs, *self.inputs)

    def number(self, text: str) -> int | None:
        """The operand that ``%2`` or ``%[name]`` means."""
        if re.fullmatch(r"%\d+", text):
            return int(text[1:]) if int(text[1:]) < len(self.operands) else None
        named = re.fullmatch(r"%\[(\w+)\]", text)
        names = [operand.name for operand in self.operands]
        return names.index(named[1]) if named and named[1] in names else None


def parse(node: Node) -> Ptx:
    start, end = node.extent
    text = node.unit.text[start:end].decode("utf-8", "replace")
    colons = _sections(text)
    template = text[: colons[0]] if colons else text
    code = "".join(_unescaped(part) for part in _STRING.findall(template))
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.S)
    instructions, registers = _instructions(code)
    bounds = [*colons, len(text), len(text), len(text)][:3]
    children = [
        (len(node.unit.text[start : child.start].decode("utf-8", "replace")), child)
        for child in node.children
    ]
    sections = [
        _operands(text[low + 1 : high], [child for at, child in children if low < at < high])
        for low, high in pairwise(bounds)
    ]
    return Ptx(instructions, sections[0], sections[1], registers)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], " "), text)


def _operands(text: str, nodes: list[Node]) -> tuple[Operand, ...]:
    found = list(_OPERAND.finditer(text))
    if len(found) != len(nodes):
        raise Refused("inline assembly", "whose operands could not be read")
    return tuple(
        Operand("".join(_STRING.findall(match[0])), node, match[1] or "")
        for match, node in zip(found, nodes, strict=True)
    )


def _instructions(code: str) -> tuple[tuple[Instruction, ...], frozenset[str]]:
    found: list[Instruction] = []
    registers: set[str] = set()
    *statements, rest = re.sub(r"%%", "%", _unbraced(code)).split(";")
    if rest.strip():
        raise Refused("inline assembly", rest.strip()[:80])
    for statement in statements:
        text = " ".join(statement.split())
        if not text:
            continue
        declared = re.fullmatch(r"\.reg \.\w+ (.*)", text)
        if declared:
            registers.update(name.strip() for name in declared[1].split(","))
            continue
        parts = re.fullmatch(r"(?:@(!?\s*[%\w]+) )?([a-z]\w*(?:[.:]+\w+)*)(?: (.*))?", text)
        if parts is None:
            raise Refused("inline assembly", text[:80])
        found.append(
            Instruction(parts[2], tuple(_split(parts[3] or "")), (parts[1] or "").replace(" ", ""), text)
        )
    return tuple(found), frozenset(registers)


def _unbraced(code: str) -> str:
    """Without the braces that make a scope (those of a vector stand after the first word of an instruction)."""
    out: list[str] = []
    inside = False
    for char in code:
        fresh = not "".join(out).rpartition(";")[2].strip()
        if char == "{" and fresh:
            continue
        if char == "}" and not inside:
            continue
        if char in "{}":
            inside = char == "{"
        out.append(char)
    return "".join(out)


def _split(text: str) -> list[str]:
    """Operands at the commas that stand outside of brackets and braces."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _sections(text: str) -> list[int]:
    """The places of the colons between template, outputs, inputs and clobbers."""
    found: list[int] = []
    depth = position = 0
    while position < len(text):
        string = _STRING.match(text, position)
        if string:
            position = string.end()
            continue
        char = text[position]
        depth += (char in "([{") - (char in ")]}")
        if char == ":" and depth == 1 and text[position : position + 2] != "::":
            found.append(position)
        elif char == ":" and depth == 1:  # ``::`` ends two sections at once
            found += [position, position + 1]
            position += 1
        position += 1
    return found
