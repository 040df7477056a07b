"""Host code -> a C++ program that really runs it, with every launch written down instead of made.

Kernels become host functions that record their arguments, ``k<<<g, b>>>(x)`` becomes "remember the configuration, call
k", device functions go away. Line markers stay, so a recorded launch has the place that the contract has.

The headers decide what a tensor and a launch are: ``live.h`` (fuzz/whole/include) makes them real, ``driver.h``
(benchmarks/oracle) writes launches down.

Example::

    library(submission.host, code, ["run"])   # compiles with g++ -shared -I fuzz/whole/include
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.frontend.host import HostCode
from verifier.source.declarations import Declaration, Unit, Wrapper, parse

MAIN = "vk_user_main"


def program(host: str, code: HostCode, entries: Sequence[str]) -> str:
    """The whole text. Raises SourceError for text that cannot be split into declarations."""
    unit = parse(host)
    partner = _partners(unit)
    kernels = {k["name"]: [p["name"] for p in k["params"]] for k in code.kernels}
    lines = ['#include "driver.h"']
    for item in unit.items:
        _emit(unit, partner, item, kernels, lines)
    lines.append("int main(int argc, char **argv) {")
    for entry in entries:
        call = f"vk::program(&{MAIN})" if entry == "main" else f"vk::cases(&{entry})"
        lines.append(f'  if (std::string(argv[1]) == "{entry}") {call};')
    return "\n".join([*lines, "  return 0;", "}", ""])


def library(host: str, code: HostCode, functions: Sequence[str]) -> str:
    """The text of a shared library whose ``vk_run`` calls these functions and what the text itself binds."""
    unit = parse(host)
    partner = _partners(unit)
    kernels = {k["name"]: [p["name"] for p in k["params"]] for k in code.kernels}
    lines = ['#include "live.h"']
    for item in unit.items:
        _emit(unit, partner, item, kernels, lines)
    lines.append("void vk_bind_all() { pybind11::module_ m;")
    if any(t.text == "PYBIND11_MODULE" for t in unit.tokens):
        lines.append("  vk_bindings(m);")
    lines += [f'  m.def("{name}", &{name});' for name in functions]
    return "\n".join([*lines, "}", ""])


def recorded(host: str, code: HostCode, entries: Sequence[str], includes: Sequence[str], launch: bool) -> str:
    """The text for nvcc and the real libraries: kernels stay, and each launch is first told to a twin of its kernel.

    ``launch`` False: the kernels are not launched at all.
    """
    unit = parse(host)
    partner = _partners(unit)
    kernels = {k["name"]: [p["name"] for p in k["params"]] for k in code.kernels}
    lines = [*(f"#include <{name}>" for name in includes), '#include "recorder.h"']
    for item in unit.items:
        _emit_recorded(unit, partner, item, kernels, lines, launch)
    lines.append("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
    lines += [f'  m.def("{e}", &{e});' for e in entries]
    return "\n".join([*lines, '  m.def("vk_take", &vk::take);', "}", ""])


def _emit_recorded(
    unit: Unit,
    partner: dict[int, int],
    item: Declaration | Wrapper,
    kernels: dict[str, list[str]],
    lines: list[str],
    launch: bool,
) -> None:
    if isinstance(item, Wrapper):
        lines += [_marker(unit, item.first), _plain(unit, item.first, item.brace)]
        for inner in item.items:
            _emit_recorded(unit, partner, inner, kernels, lines, launch)
        lines.append(_plain(unit, item.last, item.last))
        return
    name = item.names[0][0] if item.names else ""
    if name.startswith(("PYBIND11_MODULE", "TORCH_LIBRARY")):
        return
    lines.append(_marker(unit, item.first))
    if item.kind == "function" and "__global__" in item.specifiers:
        lines.append(_plain(unit, item.first, item.last))
        if item.defines:
            lines.append(_twin(unit, partner, item, kernels))
        return
    out, position = [], unit.tokens[item.first].start
    for at, (end, words) in sorted(_launches(unit, partner, item, twins=True, launch=launch)):
        out.append(unit.text[position:at] + words)
        position = end
    lines.append("".join(out) + unit.text[position : unit.tokens[item.last].end])


def _twin(unit: Unit, partner: dict[int, int], item: Declaration, kernels: dict[str, list[str]]) -> str:
    """A host function with the kernel's template head and parameters that writes them down."""
    words, index = [], item.first
    name = item.names[0][0]
    while unit.tokens[index].text != "{":
        text = unit.tokens[index].text
        if text in ("__launch_bounds__", "__attribute__", "__cluster_dims__"):
            index = partner[index + 1]
        elif text not in ("__global__", "static", "inline", "extern", "__forceinline__"):
            words.append(f"vk_{text}" if text == name else text)
        index += 1
    targs = ", ".join(_template_arguments(unit, item))
    records = "".join(f'.arg("{p}", {p})' for p in kernels.get(name, []) if p)
    body = f'vk::Record r("{name}", {{{targs}}}); r{records}.done();'
    return f"{' '.join(words)} {{ {body} }}"


def _partners(unit: Unit) -> dict[int, int]:
    stack: list[int] = []
    out: dict[int, int] = {}
    for index, token in enumerate(unit.tokens):
        if token.kind == "punct" and token.text in "([{":
            stack.append(index)
        elif token.kind == "punct" and token.text in ")]}" and stack:
            out[stack.pop()] = index
    return out


def _emit(
    unit: Unit,
    partner: dict[int, int],
    item: Declaration | Wrapper,
    kernels: dict[str, list[str]],
    lines: list[str],
) -> None:
    if isinstance(item, Wrapper):
        lines += [_marker(unit, item.first), _plain(unit, item.first, item.brace)]
        for inner in item.items:
            _emit(unit, partner, inner, kernels, lines)
        lines.append(_plain(unit, item.last, item.last))
        return
    text = "".join(_pieces(unit, partner, item, kernels))
    if text:
        lines += [_marker(unit, item.first), text]


def _marker(unit: Unit, index: int) -> str:
    span = unit.places.span(unit.tokens[index].start)
    path = span.path.replace("\\", "\\\\").replace('"', '\\"')
    return f'# {span.line} "{path}"'


def _plain(unit: Unit, first: int, last: int) -> str:
    return unit.text[unit.tokens[first].start : unit.tokens[last].end]


def _pieces(
    unit: Unit, partner: dict[int, int], item: Declaration, kernels: dict[str, list[str]]
) -> Iterator[str]:
    if item.kind == "function" and "__global__" in item.specifiers:
        yield _kernel(unit, partner, item, kernels)
        return
    if item.kind == "function" and "__device__" in item.specifiers and "__host__" not in item.specifiers:
        return
    if item.kind in ("template", "assembly"):
        return
    if item.kind == "type" and "__device__" in item.uses:
        yield _without_device_bodies(unit, partner, item)
        return
    inserts = dict(_launches(unit, partner, item))
    if item.kind == "function" and item.names and item.names[0][0] == "main":
        name = next(t for t in unit.tokens[item.first : item.last] if t.text == "main")
        inserts[name.start] = (name.end, MAIN)
    position = unit.tokens[item.first].start
    for at, (end, words) in sorted(inserts.items()):
        yield unit.text[position:at] + words
        position = end
    yield unit.text[position : unit.tokens[item.last].end]


def _kernel(unit: Unit, partner: dict[int, int], item: Declaration, kernels: dict[str, list[str]]) -> str:
    body = next((i for i in range(item.first, item.last) if partner.get(i) == item.last), None)
    if body is None or not item.names or unit.tokens[body].text != "{":
        return _plain(unit, item.first, item.last)
    name = item.names[0][0]
    targs = ", ".join(_template_arguments(unit, item))
    records = "".join(f'.arg("{p}", {p})' for p in kernels.get(name, []) if p)
    words = f'{{ vk::Record r("{name}", {{{targs}}}); r{records}.done(); }}' if records else (
        f'{{ vk::Record r("{name}", {{{targs}}}); r.done(); }}'
    )  # fmt: skip
    return unit.text[unit.tokens[item.first].start : unit.tokens[body].start] + words


def _template_arguments(unit: Unit, item: Declaration) -> Iterator[str]:
    """An expression for the text of each template parameter, in order."""
    texts = [t.text for t in unit.tokens[item.first : item.last + 1]]
    if texts[:2] != ["template", "<"]:
        return
    depth = 0
    part: list[str] = []
    parts: list[list[str]] = []
    for text in texts[1:]:
        depth += {"<": 1, "(": 1, "[": 1, "{": 1, ">": -1, ")": -1, "]": -1, "}": -1}.get(text, 0)
        if depth == 0:
            parts.append(part)
            break
        if text == "," and depth == 1:
            parts.append(part)
            part = []
        elif not (text == "<" and depth == 1):
            part.append(text)
    for words in parts:
        head = words[: words.index("=")] if "=" in words else words
        if not head or "." in head:
            yield '"?"'
        elif head[0] in ("typename", "class"):
            yield f"vk::type_text<{head[-1]}>()"
        elif head[0] == "template":
            yield '"?"'
        else:
            yield f"vk::value_text({head[-1]})"


def _without_device_bodies(unit: Unit, partner: dict[int, int], item: Declaration) -> str:
    """Methods for the device alone keep their declarations."""
    out, position = [], unit.tokens[item.first].start
    index = item.first
    while index <= item.last:
        if unit.tokens[index].text == "__device__":
            at, host = index, False
            while at <= item.last and unit.tokens[at].text not in ("{", ";"):
                host = host or unit.tokens[at].text == "__host__"
                at = partner.get(at, at) + 1
            host = host or (index > 0 and unit.tokens[index - 1].text == "__host__")
            if at <= item.last and unit.tokens[at].text == "{" and not host and at in partner:
                out.append(unit.text[position : unit.tokens[at].start] + ";")
                position = unit.tokens[partner[at]].end
            index = partner.get(at, at)
        index += 1
    return "".join(out) + unit.text[position : unit.tokens[item.last].end]


def _launches(
    unit: Unit, partner: dict[int, int], item: Declaration, twins: bool = False, launch: bool = False
) -> Iterator[tuple[int, tuple[int, str]]]:
    """(start, (end, new text)) of each ``name<…><<<…>>>`` head and of the end of its arguments."""
    tokens = unit.tokens
    index = item.first
    while index + 2 <= item.last:
        if [t.text for t in tokens[index : index + 3]] != ["<", "<", "<"]:
            index += 1
            continue
        close = _closing(unit, partner, index + 3, item.last)
        if close is None or tokens[close + 3].text != "(" or close + 3 not in partner:
            index += 3
            continue
        start = _callee(unit, index - 1)
        place = unit.places.span(tokens[_expanded(unit, partner, item, start)].start)
        callee = unit.text[tokens[start].start : tokens[index].start]
        config = unit.text[tokens[index + 3].start : tokens[close].start]
        end = tokens[partner[close + 3]]
        if twins:
            name = tokens[_name(unit, index - 1)]
            twin = f"{unit.text[tokens[start].start : name.start]}vk_{unit.text[name.start : tokens[index].start]}"
            given = unit.text[tokens[close + 3].start : end.end]
            real = f", {callee}<<<{config}>>>{given}" if launch else ""
            words = f"(vk::configure({place.line}, {config}), {twin}{given}{real})"
            yield tokens[start].start, (end.end, words)
        else:
            words = f'(vk::configure({place.line}, "", {config}), {callee}'
            yield tokens[start].start, (tokens[close + 2].end, words)
            yield end.start, (end.end, "))")
        index = close + 3


def _expanded(unit: Unit, partner: dict[int, int], item: Declaration, index: int) -> int:
    """The token whose line the lifter sees: that of the outermost macro around ``index``, else ``index``."""
    for at in range(item.first, index):
        inside = unit.tokens[at].text.startswith("AT_DISPATCH") and partner.get(at + 1, 0) > index
        if inside:
            return at
    return index


def _closing(unit: Unit, partner: dict[int, int], start: int, last: int) -> int | None:
    index = start
    while index + 3 <= last:
        if [t.text for t in unit.tokens[index : index + 3]] == [">", ">", ">"]:
            return index
        index = partner.get(index, index) + 1
    return None


def _name(unit: Unit, index: int) -> int:
    """The token ``kernel`` of ``ns::kernel<float, 4>``, whose last token is ``index``."""
    tokens = unit.tokens
    if tokens[index].text == ">":
        depth = 0
        while index >= 0:
            depth += {">": 1, ")": 1, "<": -1, "(": -1}.get(tokens[index].text, 0)
            index -= 1
            if depth == 0:
                break
    return index


def _callee(unit: Unit, index: int) -> int:
    """The first token of ``ns::kernel<float, 4>``, whose last token is ``index``."""
    tokens = unit.tokens
    index = _name(unit, index)
    while index >= 2 and tokens[index - 1].text == "::" and tokens[index - 2].kind == "ident":
        index -= 2
    if tokens[index - 1].text == "::":
        index -= 1
    if tokens[index].text == ")":
        depth = 0
        while index >= 0:
            depth += {")": 1, "(": -1}.get(tokens[index].text, 0)
            if depth == 0:
                break
            index -= 1
    return index
