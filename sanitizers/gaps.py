"""Is it the kernel's fault, or does the contract lack a clause? A fault -> the clause that it goes away with, or "".

Tried, each on launches of its own: other contents of integer buffers that nothing bounds; a relation ``a == b`` or
``a <= b`` of two sizes (only for an access outside a launch buffer of such a size); ``s > 0`` for a scalar that
nothing bounds. One such fault among the trials and the clause explains nothing.

Example::

    explain(runner, fault)      # "n <= m": the same kernel is clean wherever it holds
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from sanitizers.contents import Contents, open_buffers
from sanitizers.simulator import SCHEDULES, Schedule, SimResult
from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.contract import Clause, ConcreteLaunch, Contract, Symbol

if TYPE_CHECKING:
    from sanitizers.campaign import Fault, Runner


def explain(runner: Runner, fault: Fault) -> str:
    """The clause that the contract lacks, in the words of the clause language where it has them."""
    return _contents(runner, fault) or _sign(runner, fault) or _sizes(runner, fault)


def _contents(runner: Runner, fault: Fault) -> str:
    """Zeros are valid as any index, count or flag (ones as a divisor): a fault that they show too is the kernel's."""
    buffers = open_buffers(fault.launch)
    valid: Contents = "ones" if fault.finding.property == "arithmetic" else "zeros"
    if not buffers or fault.contents == valid:
        return ""
    results = [
        runner.run(fault.launch, Schedule(kind, fault.schedule.seed), valid)
        for kind in dict.fromkeys((fault.schedule.kind, *SCHEDULES))
    ]
    if all(_clean_of(r, fault) for r in results):
        return f"bounds on the contents of {' or '.join(b.param for b in buffers)}"
    return ""


def _sizes(runner: Runner, fault: Fault) -> str:
    contract, symbols = runner.contract, fault.launch.symbols
    extent = _extent_symbols(contract, fault)
    bounded = {n for c in contract.requires for n in _names(c.text)}
    sizes = [s.name for s in contract.symbols if s.kind == "dim" or (_open(s) and s.name not in bounded)]
    for a, b in combinations(sizes, 2):
        if not {a, b} & extent:
            continue
        for text in (f"{a} == {b}", f"{a} <= {b}", f"{b} <= {a}"):
            if not _holds(text, symbols) and _clean_where(runner, fault, text):
                return text
    return ""


def _sign(runner: Runner, fault: Fault) -> str:
    mentioned = {n for c in runner.contract.requires for n in _names(c.text)}
    for symbol in runner.contract.symbols:
        if symbol.kind == "scalar" and symbol.low is None and _open(symbol) and symbol.name not in mentioned:
            text = f"{symbol.name} > 0"
            if not _holds(text, fault.launch.symbols) and _clean_where(runner, fault, text):
                return text
    return ""


def _open(symbol: Symbol) -> bool:
    return symbol.kind != "scalar" or symbol.value is None


def _extent_symbols(contract: Contract, fault: Fault) -> set[str]:
    """The sizes that the buffer of an access outside it is made of; none for any other fault."""
    if fault.finding.property != "bounds-global":
        return set()
    buffers = [contract.buffer(param) for param in fault.finding.buffer.split("/")]
    return {n for b in buffers if b is not None for n in _names(b.extent)}


def _names(text: str) -> set[str]:
    try:
        return names(text)
    except ClauseError:
        return set()


def _holds(text: str, symbols: dict[str, int]) -> bool:
    try:
        return bool(evaluate(text, symbols))
    except ClauseUndefined:
        return False


def _clean_where(runner: Runner, fault: Fault, text: str) -> bool:
    narrowed = replace(runner.contract, requires=(*runner.contract.requires, Clause(text, "assumed")))
    launches: list[ConcreteLaunch] = runner.launches(narrowed, 6, runner.plan.seed + 1)
    if len(launches) < 2 or runner.late:
        return False
    kinds = dict.fromkeys((fault.schedule.kind, *SCHEDULES[:2]))
    return all(
        _clean_of(runner.run(launch, Schedule(kind, runner.plan.seed), fault.contents), fault)
        for launch in launches
        for kind in kinds
    )


def _clean_of(result: SimResult, fault: Fault) -> bool:
    wanted = (fault.finding.property, fault.finding.span.path, fault.finding.span.line)
    seen = {(f.property, f.span.path, f.span.line) for f in result.findings}
    return result.complete and wanted not in seen
