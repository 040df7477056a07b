"""Calls of every function of the intrinsic table, one an overload: what the tests of completeness compile and lower."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifier.intrinsics import TABLE, Intrinsic

_ARGUMENTS = re.compile(r"\((.*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Call:
    """One overload. ``types`` of its arguments, with int for a template's parameters."""

    entry: Intrinsic
    types: tuple[str, ...]
    result: str

    @property
    def text(self) -> str:
        variadic = self.types and self.types[-1] == "..."
        names = [f"a{n}" for n in range(len(self.types) - bool(variadic))]
        return f"{self.entry.name}({', '.join(names)})"

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(t for t in self.types if t != "...")


def calls() -> Iterator[Call]:
    for entry in TABLE.values():
        for declaration in entry.declarations:
            text = re.sub(r"^template<[^(]*?>\\s(?=\\w)", "", _without_template(declaration))
            arguments = _ARGUMENTS.search(text)
            assert arguments, declaration
            types = [_plain(part) for part in _split(arguments[1])]
            result = _plain(text[: text.index(f"{entry.name}(")].strip())
            yield Call(entry, tuple(filter(None, types)), result)


def _without_template(declaration: str) -> str:
    if not declaration.startswith("template<"):
        return declaration
    depth = 0
    for at, char in enumerate(declaration):
        depth += (char == "<") - (char == ">")
        if char == ">" and depth == 0:
            return declaration[at + 1 :].strip()
    raise AssertionError(declaration)


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for char in text:
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.partition("=")[0].strip() for part in parts]


def _plain(type_: str) -> str:
    type_ = re.sub(
        r"typename vk::(if_integral<\w+, ([\w ]+)>|promoted<\w+, \w+>|same<\w+>)::type", _resolved, type_
    )
    return re.sub(r"\b[TU]\b", "int", type_)


def _resolved(found: re.Match[str]) -> str:
    if found[1].startswith("same"):
        return "int"
    return found[2] or "double"
