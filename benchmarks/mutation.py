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
    """``tile[i] = c ? a : b;`` -> ``if (c) tile[i] = a;`` (or no fill with a constant): the cell keeps old contents."""
    if match := re.match(r"(\s*(?:if \(.+\) |else )?)([\w\[\]. +*/%()-]+\]) = (.+?) \? (.+) : (.+);", line):
        indent, target, condition, value, _ = match.groups()
        if _balanced(condition) and _balanced(value) and " ? " not in match[5]:
            yield f"{indent}if ({condition}) {target} = {value};"
    if match := re.match(rf"(\s*(?:(?:if|for) \(.+\) )?)[\w\[\]. +*/%()-]+ = {_CONSTANT};(?=$| )", line):
        if not re.match(r"\s*(?:(?:const |return )?[a-z]\w* \w+ = |(?:for|while|if) \([^)]*$)", line) and (
            _balanced(match[0])
        ):
            yield f"{match[1]};{line[match.end() :]}"


_CONSTANT = r"-?(?:0|[01]\.0f?|0u|INFINITY|(?:FLT|INT|UINT)_M(?:AX|IN))"
_PLAIN = {
    "Add": "*({0}) += ({1})",
    "Sub": "*({0}) -= ({1})",
    "Or": "*({0}) |= ({1})",
    "And": "*({0}) &= ({1})",
    "Xor": "*({0}) ^= ({1})",
    "Max": "if (*({0}) < ({1})) *({0}) = ({1})",
    "Min": "if (*({0}) > ({1})) *({0}) = ({1})",
    "Exch": "*({0}) = ({1})",
}
_OLD = {"Add": "((*({0}) += ({1})) - ({1}))", "Sub": "((*({0}) -= ({1})) + ({1}))"}


def _plain_atomic(line: str) -> Iterator[str]:
    """``atomicAdd(p, v)`` as a plain read and write; where its value is used only if that is known from the new one."""
    for match in re.finditer(r"\batomic(Add|Sub|Or|And|Xor|Max|Min|Exch)\(", line):
        if (end := _closing(line, match.end() - 1, "()")) < 0:
            continue
        inner = line[match.end() : end]
        comma = next((i for i, c in enumerate(inner) if c == "," and _balanced(inner[:i])), -1)
        alone = line[end + 1 :].startswith(";") and re.fullmatch(r"\s*|.*[)};:] ?", line[: match.start()])
        form = (_PLAIN if alone else _OLD).get(match[1])
        if comma >= 0 and form is not None:
            new = form.format(inner[:comma].strip(), inner[comma + 1 :].strip())
            yield f"{line[: match.start()]}{new}{line[end + 1 :]}"


def _balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def _each(*changes: Change) -> Change:
    def change(line: str) -> Iterator[str]:
        for one in changes:
            yield from one(line)

    return change


_WIDE = r"(?:std::)?(?:u?int64_t|size_t|ptrdiff_t|(?:unsigned )?long long(?: int)?)"
_INDEX = rf"\b(?:const )?(?:{_WIDE}|int|unsigned|unsigned int|u?int32_t) (\w+)(?= = )"

OPERATORS: dict[str, Change] = {
    "guard-dropped": _drop_guard,
    "less-to-less-equal": _replace(r"(?<=[\w)\]] )<(?= [\w(])", "<="),
    "greater-equal-to-greater": _replace(r"(?<=[\w)\]] )>=(?= [\w(])", ">"),
    "greater-to-greater-equal": _replace(
        # a loop that halves down to 0 would not end, and numbers with a point are no indices
        r"(?<=[\w)\]] )>(?= [\w(])(?! -?\d+\.)(?! 0; \w+ (?:>>=|/=))",
        ">=",
    ),
    "index-plus-one": _shift_index(" + 1"),
    "index-minus-one": _shift_index(" - 1"),
    "barrier-removed": _replace(r"(?:__sync(?:threads|warp)|\w+\.sync)\(\);", ";"),
    "barrier-in-branch": _each(
        _replace(r"__syncthreads\(\);", "if (threadIdx.x != 0) __syncthreads();"),
        _replace(r"__syncthreads\(\);", "if (threadIdx.x < 32) __syncthreads();"),
    ),
    "stride-changed": _each(
        _replace(r"\+= ([A-Za-z_][\w.]*(?: \* [\w.]+)?)(?=\))", r"+= \1 - 1"),
        _replace(r"\+= (?:[A-Za-z_][\w.]*(?: \* [\w.]+)?)(?=\))", r"+= 1"),
        _replace(r"(?<=\+= )([A-Za-z_][\w.]*) \* [A-Za-z_][\w.]*(?=\))", r"\1"),
        _replace(r"(?<=tride = )(.+) \* .+(?=;)", r"\1"),
    ),
    "narrowed": _each(_replace(_INDEX, r"signed char \1"), _replace(_INDEX, r"short \1")),
    "wide-to-int": _each(
        _replace(rf"\b{_WIDE} (\w+)(?= = )", r"int \1"),
        _replace(rf"\({_WIDE}\) ?(?=[\w(])", ""),
        _replace(rf"\bstatic_cast<{_WIDE}>(?=\()", ""),
    ),
    "remainder-of-negative": _each(
        _replace(r"((?:[\w.]+ [/*] )*[\w.]+) % (?=\w)", r"(\1 - 1) % "),
        _replace(r"\(([^()]+)\) % (?=\w)", r"(\1 - 1) % "),
        _replace(r"\(([^()]+)\) % (?=\w)", r"-(\1) % "),
        _replace(r"\(([^()]+) \+ (\w+)\) % \2\b", r"(\1) % \2"),
        _replace(r"\((\w+) \+ (\w+) - 1\) % \2\b", r"(\1 - 1) % \2"),
    ),
    "array-shrunk": _replace(r"(?<=\w)\[([A-Za-z_0-9 +*()]+)\](?=;|\[\w[^\]]*\];)", r"[\1 - 1]"),
    "atomic-made-plain": _plain_atomic,
    "mask-shrunk": _each(
        *(
            _replace(r"\b0x[fF]{8}u?\b|(?<=\()(?:FULL\w*|ALL\w*|\w*MASK\w*|full\w*)(?=[,)])", mask)
            for mask in ("0x0000ffffu", "0xfffffffeu", "0x7fffffffu")
        )
    ),
    "fill-dropped": _unsplit_fill,
}
WIDENED = frozenset({"wide-to-int"})
"""Operators whose mutants go wrong only beyond 2^31."""
NARROWING = frozenset({"narrowed", "wide-to-int"})
"""Operators whose mutants lose values on the changed line."""


def _indexes(text: str, line: str) -> bool:
    """Whether the variable that this line declares (if it does) is used in an index, a comparison or another's value."""
    name = re.search(_INDEX, line)
    if name is None:
        return True
    uses = rf"\[[^\]]*\b{name[1]}\b|\b{name[1]} [<>!=]=? |[<>!=]=? {name[1]}\b|= [^;]*\b{name[1]}\b.* [*+] |[*+] {name[1]}\b"
    return re.search(uses, text.replace(line, "")) is not None or line.lstrip().startswith("for ")


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
                if operator in NARROWING and not _indexes(text, line):
                    continue
                mutated = "\n".join([*lines[: number - 1], new, *lines[number:]])
                if mutated not in seen:
                    seen.add(mutated)
                    yield Mutant(
                        operator, number, line.strip(), new.strip(), mutated, f"{operator}-{number}-{count}"
                    )
