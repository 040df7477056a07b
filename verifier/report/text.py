"""Report -> text for people: the verdict and what was not checked first, then findings with witness, then the proofs.

Input: a Report; colour only when asked for. Output: clean text (no character of a submission can act on the terminal).

Example::

    PASS  saxpy.cu  safe for every allowed launch up to 2^30 elements a buffer; numerics not checked (no --reference)

      saxpy<<<ceil_div(n, 256), 256>>>  line 9, contract lifted from the host code
        proved          bounds-global, overflow, race-global, launch
        not applicable  bounds-shared, race-shared
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from specs.contract import Clause, Contract
from specs.results import FileResult, KernelResult, Outcome, PropertyResult, Report, Severity, Verdict
from verifier.judge import findings_of
from verifier.report.clean import clean, defuse, line
from verifier.report.finding import block
from verifier.report.style import Paint, plural

_COLOURS = {
    Outcome.PASS: "good",
    Outcome.FAIL: "bad",
    Outcome.INCONCLUSIVE: "open",
    Outcome.ERROR: "bad",
    Outcome.NOT_RUN: "open",
}
_ORIGINS = {"stated": "stated", "lifted": "lifted from the host code", "drafted": "drafted, to be reviewed"}


def render(report: Report, *, colour: bool = False, verbose: bool = False) -> str:
    """The whole report. With several files, those that pass take one line each unless ``verbose``."""
    paint = Paint(colour)
    several = len(report.files) > 1
    rows: list[str] = []
    for file in report.files:
        found = list(_file(file, paint, verbose, brief=several and not verbose))
        rows += ["", *found, ""] if len(found) > 1 else found
    if several or not report.complete:
        rows += ["", *_summary(report, paint)]
    rows += [paint(line(note), "dim") for note in report.notes]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(rows)).strip("\n")
    return defuse(text + "\n")


def _file(file: FileResult, paint: Paint, verbose: bool, brief: bool) -> Iterator[str]:
    yield first_line(file, paint)
    if file.verdict is Outcome.ERROR and not file.gates:
        yield from (f"  {clean(text)}" for text in file.message.splitlines()[1:])
        return
    if brief and file.verdict is Outcome.PASS:
        return
    shown = [f for f in findings_of(file.gates) if verbose or f.severity is not Severity.NOTE]
    for finding in shown:
        yield ""
        yield from block(finding, file.texts, paint)
    if file.verdict is not Outcome.FAIL:
        yield from _reasons(file, paint, verbose)
    detailed = verbose or file.verdict is Outcome.FAIL
    for kernels in _alike(k for g in file.gates if g.gate == "prove" for k in g.kernels):
        yield ""
        for kernel in kernels:
            label = (
                f"{kernel.name}<{', '.join(kernel.instantiation)}>" if kernel.instantiation else kernel.name
            )
            yield f"  {paint(line(label), 'strong')}{_launch(kernel.contract, file.path)}"
        yield from _properties(kernels[0], paint, verbose, detailed)
    yield from _assumptions(file, paint)
    if verbose:
        yield from _gates(file, paint)
    hidden = len(findings_of(file.gates)) - len(shown)
    if hidden:
        yield ""
        yield paint(f"  {plural(hidden, 'note')} not shown (-v shows them)", "dim")
    if file.draft and file.verdict is Outcome.INCONCLUSIVE:
        yield ""
        found = any(g.facts.get("preconditions") for g in file.gates)
        where = (
            "; save it beside the kernel" if found else f" (verify-kernel init {line(file.path)} writes it)"
        )
        yield f"  contract to review{where}:"
        yield ""
        yield from (f"    {line(text)}" for text in clean(file.draft).splitlines())


def first_line(file: FileResult, paint: Paint) -> str:
    """``VERDICT  path  what holds or fails; what was not checked``."""
    verdict = Outcome.ERROR if file.verdict is Outcome.NOT_RUN and file.bad_input else file.verdict
    said = [file.headline] if file.headline else []
    if file.verdict in (Outcome.ERROR, Outcome.NOT_RUN) and file.message:
        return f"{paint(verdict, _COLOURS[verdict])}  {line(file.message.splitlines()[0])}"
    text = "; ".join([*said, *file.not_checked])
    path, seconds = paint(line(file.path), "strong"), paint(f"[{file.seconds:.1f} s]", "dim")
    return f"{paint(verdict, _COLOURS[verdict])}  {path}  {line(text)}  {seconds}"


def _reasons(file: FileResult, paint: Paint, verbose: bool) -> Iterator[str]:
    reasons = file.reasons if verbose else file.reasons[:12]
    if not reasons or file.headline.endswith(reasons[-1]):
        return  # nothing that the first line does not say
    yield ""
    yield "  why it is not a PASS" if file.verdict is Outcome.INCONCLUSIVE else "  what went wrong"
    for reason in reasons:
        yield f"    {paint('-', 'open')} {line(reason)}"
    if len(reasons) < len(file.reasons):
        yield paint(f"    and {len(file.reasons) - len(reasons)} more (-v shows them)", "dim")


def _alike(kernels: Iterable[KernelResult]) -> list[list[KernelResult]]:
    """Launches with the same verdicts (a template's instantiations, mostly) share one table."""
    groups: dict[object, list[KernelResult]] = {}
    for kernel in kernels:
        key = tuple((p.id, p.verdict, p.reason, p.detail, p.span.line) for p in kernel.properties)
        groups.setdefault(key, []).append(kernel)
    return list(groups.values())


def _properties(kernel: KernelResult, paint: Paint, verbose: bool, detailed: bool) -> Iterator[str]:
    """``detailed``: why something is unknown; not needed where the reasons above said it."""
    groups = (
        (Verdict.REFUTED, "refuted", "bad"),
        (Verdict.ERROR, "error", "bad"),
        (Verdict.UNKNOWN, "unknown", "open"),
    )
    for verdict, title, colour in groups:
        for same in _one_cause(p for p in kernel.properties if p.verdict is verdict):
            if len(same) < 3:
                yield from (f"    {paint(title.ljust(14), colour)}  {_detail(p, detailed)}" for p in same)
                continue
            yield from _list(title, colour, (p.id for p in same), paint)
            yield f"    {' ' * 14}  {_detail(replace(same[0], id=''), detailed).strip()}"
    proved = [p for p in kernel.properties if p.verdict is Verdict.PROVED]
    if verbose:
        for found in proved:
            yield f"    {paint('proved'.ljust(14), 'good')}  {_detail(found, detailed)}"
    elif proved:
        yield from _list("proved", "good", (p.id for p in proved), paint)
    absent = [p.id for p in kernel.properties if p.verdict is Verdict.NOT_APPLICABLE]
    if absent:
        yield from _list("not applicable", "dim", absent, paint)


def _one_cause(properties: Iterable[PropertyResult]) -> list[list[PropertyResult]]:
    """Properties that are open for the same reason, which is said once."""
    groups: dict[object, list[PropertyResult]] = {}
    for p in properties:
        key = (
            p.id
            if p.obligations or p.frontier is not None
            else (p.reason, p.detail, p.span, p.safe_for, p.depends)
        )
        groups.setdefault(key, []).append(p)
    return list(groups.values())


def _list(title: str, colour: str, items: Iterable[str], paint: Paint, width: int = 84) -> Iterator[str]:
    """``title  a, b, c`` folded under itself."""
    rows, row = [], ""
    for item in items:
        if row and len(row) + len(item) + 2 > width:
            rows.append(row + ",")
            row = item
        else:
            row = f"{row}, {item}" if row else item
    rows.append(row)
    for i, text in enumerate(rows):
        yield f"    {paint(title.ljust(14), colour) if i == 0 else ' ' * 14}  {text}"


def _launch(contract: Contract | None, path: str) -> str:
    """Where the launch stands: its line, or file and line where that is another file."""
    if contract is None:
        return "  no contract"
    launch = contract.launch
    dims = [_dim3(launch.grid), _dim3(launch.block)]
    dims += [launch.shared_bytes] if launch.shared_bytes != "0" else []
    span = launch.span
    where = f"line {span.line}, " if span.line and span.path == path else f"{span}, " if span.line else ""
    return line(f"<<<{', '.join(dims)}>>>  {where}contract {_ORIGINS[contract.origin]}")


def _dim3(dims: tuple[str, str, str]) -> str:
    used = list(dims)
    while len(used) > 1 and used[-1] == "1":
        used.pop()
    return used[0] if len(used) == 1 else f"({', '.join(used)})"


def _detail(found: PropertyResult, detailed: bool) -> str:
    parts = [found.id.ljust(18)]
    if found.obligations:
        parts.append(f"{found.proved}/{found.obligations}")
    if found.span.line:
        parts.append(f"line {found.span.line}")
    words = (str(found.reason) if found.reason else "", found.detail if detailed else "")
    parts += [": ".join(w for w in words if w)] if any(words) else []
    if found.safe_for:
        parts.append(f"safe for {found.safe_for}")
    elif found.frontier is not None:
        parts.append(f"holds up to {found.frontier:,} elements")
    if found.depends:
        parts.append(f"rests on {', '.join(found.depends)}")
    return line("  ".join(parts))


def _assumptions(file: FileResult, paint: Paint) -> Iterator[str]:
    assumed = {a.text: a for g in file.gates for a in g.assumptions if a.origin in ("assumed", "drafted")}
    if not assumed:
        return
    yield ""
    yield f"  assumed, because no host code checks it ({len(assumed)})"
    width = min(44, max(len(t) for t in assumed))
    for text, clause in assumed.items():
        yield f"    {paint('·', 'open')} {line(text).ljust(width)}  {paint(_advice(clause), 'dim')}".rstrip()


def _advice(clause: Clause) -> str:
    return line(f"add  {clause.fix}" if clause.fix else clause.note)


def _gates(file: FileResult, paint: Paint) -> Iterator[str]:
    yield ""
    for gate in file.gates:
        text = (
            f"    {gate.gate.ljust(10)} {gate.outcome.ljust(12)} {gate.seconds:7.2f} s  {line(gate.detail)}"
        )
        yield text.rstrip()
        for key, value in gate.facts.items():
            if key == "traceback":
                yield from (paint(f"      {clean(t)}", "dim") for t in str(value).splitlines())
            else:
                yield paint(line(f"      {key}: {value}")[:160], "dim")


def _summary(report: Report, paint: Paint) -> Iterator[str]:
    counts = Counter(f.verdict for f in report.files)
    shown = [f"{counts[o]} {o}" for o in Outcome if counts[o]]
    seconds = sum(f.seconds for f in report.files)
    yield paint(
        f"{plural(len(report.files), 'file')}: {', '.join(shown)}; {seconds:.1f} s of checking", "strong"
    )
    if not report.complete:
        yield paint("this run was stopped before its end; the report is not complete", "bad")
