"""One Finding -> its block of text: rule, message, excerpt with a caret, the witness in words, why, fix.

A witness of two threads is drawn as two columns, A and B, in front of each other.

Example::

    error[race-shared] threads 0 and 1 of one block meet at tile[1] without a barrier
      --> reduce.cu:14:21  kernel reduce
        A 13 |     tile[threadIdx.x] = x[i];
        B 14 |     float v = tile[threadIdx.x + 1];
             |                    ^
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specs.location import Span
from specs.results import Finding, Severity, ThreadAccess, Witness
from verifier.report.clean import line
from verifier.report.style import Paint

_COLOURS = {Severity.ERROR: "bad", Severity.WARNING: "open", Severity.NOTE: "strong"}
_WIDTH = 110


def block(finding: Finding, texts: Mapping[str, str], paint: Paint) -> Iterator[str]:
    """``texts``: what was submitted, by path; spans in other files are shown without an excerpt."""
    rule = paint(line(f"{finding.severity}[{finding.id}]"), _COLOURS[finding.severity])
    yield f"{rule} {paint(line(finding.message), 'strong')}"
    kernel = f"  kernel {finding.kernel}" if finding.kernel else ""
    yield f"  {paint('-->', 'mark')} {line(str(finding.span))}{line(kernel)}"
    threads = finding.witness.threads if finding.witness else ()
    marks: dict[int, str] = {}
    if len(threads) == 2:
        for letter, access in zip("AB", threads, strict=True):
            if access.span.path == finding.span.path:
                marks[access.span.line] = marks.get(access.span.line, "") + letter
    yield from excerpt(_lines(texts, finding.span), finding.span, paint, marks)
    for span, what in finding.related:
        yield f"  {paint('also', 'mark')} {line(str(span))}  {line(what)}"
        yield from excerpt(_lines(texts, span), span, paint, before=0)
    if finding.witness is not None:
        yield from witness_lines(finding.witness, finding.kernel, paint)
    for title, words in (("why", finding.why), ("fix", finding.fix)):
        rows = words.strip().splitlines()
        for i, row in enumerate(rows):
            yield f"  {paint((title if i == 0 else '').ljust(7), 'mark')} {line(row)}"


def _lines(texts: Mapping[str, str], span: Span) -> list[str]:
    return texts.get(span.path, "").split("\n")


def excerpt(
    source: list[str],
    span: Span,
    paint: Paint,
    marks: Mapping[int, str] = MappingProxyType({}),
    before: int = 1,
) -> Iterator[str]:
    """The line of the span with a caret, ``before`` lines above it, and the lines that ``marks`` names."""
    if not 1 <= span.line <= len(source):
        return
    shown = {*range(span.line - before, span.line + 1), *marks}
    gutter, margin = len(str(max(shown))), max((len(m) for m in marks.values()), default=0)
    margin += 1 if margin else 0
    previous = 0
    for number in sorted(n for n in shown if 1 <= n <= len(source)):
        if previous and number > previous + 1:
            yield f"    {' ' * margin}{paint('.' * gutter, 'mark')}"
        previous = number
        row = line(source[number - 1].expandtabs(4).rstrip())
        cut = row if len(row) <= _WIDTH else row[: _WIDTH - 1] + "…"
        mark = paint(marks.get(number, "").ljust(margin), "bad")
        yield f"    {mark}{paint(f'{number:{gutter}} |', 'mark')} {cut}".rstrip()
        if number == span.line and span.column:
            caret = len(line(source[number - 1][: span.column - 1].expandtabs(4)))
            if caret < _WIDTH:
                blank = " " * (margin + gutter)
                yield f"    {blank} {paint('|', 'mark')} {' ' * caret}{paint('^', 'bad')}"


def witness_lines(witness: Witness, kernel: str, paint: Paint) -> Iterator[str]:
    """The launch with its numbers, then the thread or the two threads."""
    sizes = ", ".join(f"{name} = {value}" for name, value in witness.symbols.items())
    shared = f", {witness.shared_bytes}" if witness.shared_bytes else ""
    launch = f"{kernel or 'kernel'}<<<{_dims(witness.grid)}, {_dims(witness.block)}{shared}>>>"
    replayed = f"replayed by {witness.replayed_by}" if witness.replayed else "not replayed"
    yield f"  {paint('launch ', 'mark')} {line(launch)}  {line(sizes)}  ({replayed}; {line(witness.domain)} domain)".rstrip()
    arguments = [f"{name}[{count:,}]" for name, count in witness.buffers.items()]
    arguments += [
        f"{n} = {'any' if v is None else v}" for n, v in witness.scalars.items() if n not in witness.symbols
    ]
    if arguments:
        yield f"  {paint('with   ', 'mark')} {line(', '.join(arguments))}"
    yield from (f"  {paint('       ', 'mark')} {line(text)}" for text in _contents(witness.data))
    match witness.threads:
        case (one,):
            yield f"  {paint('thread ', 'mark')} {line(_who(one, witness))} {line(_what(one))}"
        case (a, b):
            yield from _columns(a, b, witness, paint)
        case _:
            return


def _columns(a: ThreadAccess, b: ThreadAccess, witness: Witness, paint: Paint) -> Iterator[str]:
    """The two threads side by side, with nothing between them: that is the fault."""
    left = ["thread A", _who(a, witness), _what(a)]
    right = ["thread B", _who(b, witness), _what(b)]
    width = max(len(line(t)) for t in left)
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        cells = line(x).ljust(width), line(y)
        style = "strong" if i == 0 else "bad" if i == 2 else "mark"
        yield f"    {paint(cells[0], style)}  {paint('│', 'dim')}  {paint(cells[1], style)}"


def _what(access: ThreadAccess) -> str:
    return access.action + (f"  (line {access.span.line})" if access.span.line else "")


def _who(access: ThreadAccess, witness: Witness) -> str:
    return f"block {_index(access.block, witness.grid)}, thread {_index(access.thread, witness.block)}"


def _index(index: tuple[int, int, int], extent: tuple[int, int, int]) -> str:
    """Only the axes that the launch uses: ``3`` or ``(3, 1)``."""
    axes = 3 if extent[2] > 1 else 2 if extent[1] > 1 else 1
    return str(index[0]) if axes == 1 else f"({', '.join(str(i) for i in index[:axes])})"


def _dims(dims: tuple[int, int, int]) -> str:
    axes = 3 if dims[2] > 1 else 2 if dims[1] > 1 else 1
    return str(dims[0]) if axes == 1 else f"({', '.join(str(d) for d in dims[:axes])})"


def _contents(data: Mapping[str, Mapping[int, int]], limit: int = 6) -> Iterator[str]:
    for name, elements in data.items():
        shown = [f"{name}[{i}] = {v}" for i, v in list(elements.items())[:limit]]
        yield ", ".join(shown) + (f", and {len(elements) - limit} more" if len(elements) > limit else "")
