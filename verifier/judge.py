"""From evidence to a verdict: gate results x policy -> verdict, reasons and what was not checked; then the exit status.

Invariant: PASS only where every required gate passed, every kernel of the text was launched by an accepted contract and
every required property of it is PROVED or NOT_APPLICABLE. Whatever is missing, empty or unknown is INCONCLUSIVE.

Example::

    judgement = judge(gates, case)        # Judgement(Outcome.PASS, reasons=(), not_checked=("GPU sanitizer not run",))
    exit_status([file.verdict …])         # 0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from specs.contract import Contract
from specs.location import Span
from specs.policy import GATES, PROPERTIES, Policy
from specs.results import (
    FileResult,
    Finding,
    GateResult,
    Outcome,
    PropertyResult,
    Reason,
    Severity,
    Verdict,
)

GREEN = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
OPEN = Outcome.INCONCLUSIVE
EXIT_ORDER = (1, 4, 2, 3, 0)
"""Which status wins over several files."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the verdict is about, besides the gates' results.

    ``kernels``: names of all kernels of the text (or those selected). ``required``: the gates that must pass.
    ``doubts``: what made the input incomplete (unknown include, launch that was not lifted), one line each.
    """

    policy: Policy
    kernels: tuple[str, ...]
    contracts: tuple[Contract, ...]
    required: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    numerics_hint: str = "no --reference"
    selected_only: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    outcome: Outcome
    reasons: tuple[str, ...]
    not_checked: tuple[str, ...]


def judge(gates: Sequence[GateResult], case: Case) -> Judgement:
    """The verdict on one file."""
    not_checked = _not_checked(gates, case)
    refuted = _refuted(gates, case.policy)
    if refuted:
        return Judgement(Outcome.FAIL, refuted, not_checked)
    failures = tuple(f"{g.gate}: {g.detail or 'internal error'}" for g in gates if g.outcome is Outcome.ERROR)
    if failures:
        return Judgement(Outcome.ERROR, failures, not_checked)
    reasons = tuple(dict.fromkeys([*case.doubts, *_missing_evidence(gates, case)]))
    if not reasons and not _all_green(gates, case):
        reasons = ("a required verdict is not green, for no reason given",)
    return Judgement(Outcome.INCONCLUSIVE if reasons else Outcome.PASS, reasons, not_checked)


def exit_status(files: Iterable[FileResult]) -> int:
    """0 passed, 1 refuted, 2 bad input or nothing selected, 3 inconclusive, 4 internal error; 1 > 4 > 2 > 3 > 0."""
    statuses = {file_status(f) for f in files} or {2}
    return next(s for s in EXIT_ORDER if s in statuses)


def file_status(file: FileResult) -> int:
    """The exit status of one file."""
    match file.verdict:
        case Outcome.PASS:
            return 0
        case Outcome.FAIL:
            return 1
        case Outcome.ERROR:
            return 2 if file.bad_input else 4
        case Outcome.NOT_RUN if file.bad_input:  # a file without a kernel that was named explicitly
            return 2
        case Outcome.INCONCLUSIVE | Outcome.NOT_RUN:
            return 3
        case _:
            assert_never(file.verdict)


def findings_of(gates: Iterable[GateResult]) -> tuple[Finding, ...]:
    """All findings, worst first. Of those that tell of one fault only the best is kept: replayed before not replayed,
    then the earlier gate's."""
    rank = {s: i for i, s in enumerate((Severity.ERROR, Severity.WARNING, Severity.NOTE))}
    best: dict[tuple[str, str, str, frozenset[int]], Finding] = {}
    for finding in (f for gate in gates for f in gate.findings):
        key = (finding.id, finding.kernel.partition("<")[0], finding.span.path, _lines(finding))
        if key not in best or _weight(finding, rank) < _weight(best[key], rank):
            best[key] = finding
    return tuple(
        sorted(best.values(), key=lambda f: (rank[f.severity], f.span.path, f.span.line, f.span.column))
    )


def _lines(finding: Finding) -> frozenset[int]:
    """Where a fault is: the lines of both threads for a race, in whatever order they were seen."""
    threads = finding.witness.threads if finding.witness else ()
    lines = {t.span.line for t in threads} if len(threads) == 2 else set()
    return frozenset(lines - {0} or {finding.span.line})


def _weight(finding: Finding, rank: dict[Severity, int]) -> tuple[int, int]:
    witness = finding.witness
    return rank[finding.severity], 2 if witness is None else 0 if witness.replayed else 1


def _refuted(gates: Sequence[GateResult], policy: Policy) -> tuple[str, ...]:
    """Why the file fails, one line each; empty where nothing is refuted."""
    failing = [
        gate
        for gate in gates
        if gate.outcome is Outcome.FAIL
        or (gate.outcome is Outcome.PASS and any(f.severity is Severity.ERROR for f in gate.findings))
    ]
    errors = [f for f in findings_of(failing) if f.severity is Severity.ERROR]
    found = dict.fromkeys(f"{f.id}{_at(f.span)}" for f in errors)
    for gate in gates:
        said = any(f.severity is Severity.ERROR for f in gate.findings)
        if gate.outcome is Outcome.FAIL and not said:
            found[f"{gate.gate} failed: {gate.detail or 'no detail'}"] = None
        if gate.outcome is Outcome.PASS:
            refuted = (p for k in gate.kernels for p in k.properties if p.verdict is Verdict.REFUTED)
            found |= dict.fromkeys(
                f"{p.id}{_at(p.span)}" for p in refuted if p.id in policy.required_properties
            )
    if policy.strict:
        warnings = (f for g in gates for f in g.findings if f.severity is Severity.WARNING)
        found |= dict.fromkeys(f"{f.id}{_at(f.span)} (strict)" for f in warnings)
        allowed = "same_value(" if policy.benign_same_value else "\0"
        assumed = (
            a
            for g in gates
            for a in g.assumptions
            if a.origin == "assumed" and not a.text.startswith(allowed)
        )
        found |= dict.fromkeys(f"assumed and not checked by the host: {a.text} (strict)" for a in assumed)
    return tuple(found)


def _at(span: Span) -> str:
    return f" at line {span.line}" if span.line else ""


def _missing_evidence(gates: Sequence[GateResult], case: Case) -> Iterable[str]:
    """Why a file that nothing refutes does not pass."""
    results = {g.gate: g for g in gates}
    if not case.kernels:
        yield f"{Reason.VACUOUS}: the file has no kernel to check"
    launched = {c.kernel for c in case.contracts}
    for name in case.kernels:
        if name not in launched:
            yield f"{Reason.MISSING_CONTRACT}: kernel {name} is never launched here"
    for contract in case.contracts:
        yield from _contract_doubts(contract)
    prove = results.get("prove") if case.contracts else None
    if "prove" in case.required and prove is not None and prove.outcome is not Outcome.NOT_RUN:
        yield from _unproved(prove, case)
    for name in case.required if case.contracts else ():
        gate = results.get(name)
        if gate is None:
            yield f"required gate {name} was not asked for (--gates)"
        elif gate.outcome is Outcome.NOT_RUN:
            yield f"required gate {name} did not run" + (f": {gate.detail}" if gate.detail else "")
        elif gate.outcome is not Outcome.PASS and name != "prove":
            yield f"{name}: {gate.detail or gate.outcome.lower()}"


def _all_green(gates: Sequence[GateResult], case: Case) -> bool:
    """The rule itself, apart from the reasons that explain it: nothing unknown is green."""
    outcomes = {g.gate: g.outcome for g in gates}
    kernels = [k for g in gates if g.gate == "prove" for k in g.kernels]
    proved = all(
        any(p.id == wanted and p.verdict in GREEN for p in kernel.properties)
        for kernel in kernels
        for wanted in case.policy.required_properties
    )
    return (
        all(outcomes.get(g) is Outcome.PASS for g in case.required if g != "prove")
        and (
            "prove" not in case.required
            or (outcomes.get("prove") in (Outcome.PASS, OPEN) and bool(kernels) and proved)
        )
        and len(kernels) >= len(case.contracts) > 0
    )


def _contract_doubts(contract: Contract) -> Iterable[str]:
    name = contract.kernel
    if contract.origin == "drafted":
        yield f"{Reason.MISSING_CONTRACT}: nothing says how {name} is launched; review the drafted contract"
    stated = (*contract.requires, *contract.no_alias)
    open_ = [c for c in stated if not c.accepted]
    if open_:
        said = ", ".join(dict.fromkeys(c.text for c in open_ if c.text != "True")) or "its launch"
        where = min(c.span.line for c in open_)
        advice = "read it, then verify-kernel accept, or pass it with --contract"
        yield f"{Reason.NOT_ACCEPTED}: {name} comes with its own claims ({said}, line {where}); {advice}"
    for clause in (c for c in stated if c.origin in ("assumed", "drafted")):
        fix = f"; add {clause.fix}" if clause.fix else ""
        yield f"{Reason.MISSING_CONTRACT}: nothing checks {clause.text}{fix}"


def _unproved(prove: GateResult, case: Case) -> Iterable[str]:
    """Each contract needs a result, and in it each required property; what is not there is unknown."""
    said = False
    open_clauses = any(not c.accepted for k in case.contracts for c in (*k.requires, *k.no_alias))
    wanted = Counter((c.kernel, c.instantiation) for c in case.contracts)
    given = Counter((k.name, k.instantiation) for k in prove.kernels)
    for (name, _), count in (wanted - given).items():
        said = True
        yield f"{name}: the prover gave no verdict on {count} of its launches"
    for kernel in prove.kernels:
        by_id = {p.id: p for p in kernel.properties}
        causes: dict[str, list[str]] = {}
        for id_ in case.policy.required_properties:
            found = by_id.get(id_, PropertyResult(id_, detail="not checked"))
            if found.verdict in GREEN:
                continue
            said = True
            if found.reason is not Reason.NOT_ACCEPTED or not open_clauses:  # else its contract said so
                causes.setdefault(_why(found), []).append(id_)
        for why, ids in causes.items():
            every = len(ids) == len(case.policy.required_properties) > 2
            yield f"{kernel.name}: {'every property' if every else ', '.join(ids)} {why}"
    optional_open = any(p.verdict not in GREEN for k in prove.kernels for p in k.properties)
    if prove.outcome is not Outcome.PASS and not said and not (optional_open and prove.outcome is OPEN):
        yield f"prove: {prove.detail or prove.outcome.lower()}"


def _why(found: PropertyResult) -> str:
    where = f" (line {found.span.line})" if found.span.line else ""
    because = ": ".join(t for t in (str(found.reason) if found.reason else "", found.detail) if t)
    safe = f"; safe for {found.safe_for}" if found.safe_for else ""
    return f"{found.verdict.lower()}{where}" + (f", {because}" if because else "") + safe


def _not_checked(gates: Sequence[GateResult], case: Case) -> tuple[str, ...]:
    """What nothing looked at, one phrase each, in the words of the report's first line."""
    ran = {g.gate for g in gates if g.outcome is not Outcome.NOT_RUN}
    kept = any(g.gate == "fuzz" and g.outcome is Outcome.NOT_RUN and "device" in g.facts for g in gates)
    phrases = {
        "static": "static rules not run",
        "prove": "nothing proved (prove not run)",
        "sanitize": "not run in the simulator",
        "fuzz": f"numerics not checked ({'not run on the GPU' if kept else case.numerics_hint})",
    }
    said = [phrases[g] for g in GATES if g not in ran]
    if case.selected_only:
        said.append("other kernels of the file not selected")
    if "prove" in ran:
        kernels = [k for g in gates if g.gate == "prove" for k in g.kernels]
        green = [{p.id for p in k.properties if p.verdict in GREEN} for k in kernels]
        optional = [p for p in PROPERTIES if p not in case.policy.required_properties]
        open_ = [p for p in optional if not all(p in ids for ids in green)]
        if open_:
            said.append(f"not required and not proved: {', '.join(open_)}")
    said += [phrase for gate in gates if gate.gate in ran for phrase in gate.not_checked]
    on_gpu = any(g.facts.get("gpu", {}).get("ran") for g in gates)
    return tuple(dict.fromkeys(said if on_gpu else [*said, "GPU sanitizer not run"]))


def headline(judgement: Judgement, gates: Sequence[GateResult], policy: Policy) -> str:
    """What the first line says besides what was not checked."""
    match judgement.outcome:
        case Outcome.PASS:
            proofs = [p for g in gates for k in g.kernels for p in k.properties]
            cap = min([policy.size_cap, *(p.frontier for p in proofs if p.frontier is not None)])
            fixes = {a.text for g in gates for a in g.assumptions if a.origin == "assumed"}
            missing = f"; {len(fixes)} host check{'' if len(fixes) == 1 else 's'} missing" if fixes else ""
            numbers: dict[str, Any] = next((g.facts for g in gates if g.gate == "fuzz"), {})
            reference, device = numbers.get("reference", ""), numbers.get("device", {})
            where = f" on {device['device']}" if device.get("ran") else ""
            agrees = f"; numbers agree with {reference}{where}" if reference else ""
            watched = next((_watched(g.facts["gpu"]) for g in gates if g.facts.get("gpu", {}).get("ran")), "")
            return f"safe for every allowed launch up to {_size(cap)} elements a buffer{agrees}{watched}{missing}"
        case Outcome.FAIL:
            shown = judgement.reasons[:3]
            more = f" and {len(judgement.reasons) - 3} more" if len(judgement.reasons) > 3 else ""
            return f"refuted: {', '.join(shown)}{more}"
        case Outcome.INCONCLUSIVE:
            more = f" (and {len(judgement.reasons) - 1} more)" if len(judgement.reasons) > 1 else ""
            return f"not decided: {judgement.reasons[0]}{more}"
        case Outcome.ERROR:
            return f"the tool failed: {judgement.reasons[0]}"
        case Outcome.NOT_RUN:
            return ""
        case _:
            assert_never(judgement.outcome)


def _watched(gpu: dict[str, Any]) -> str:
    return f"; clean under compute-sanitizer {gpu['compute-sanitizer']} on {gpu['device']}"


def _size(count: int) -> str:
    """``2^30`` for a power of two from 2^10 on, else ``1,234``."""
    return f"2^{count.bit_length() - 1}" if count >= 1024 and count & (count - 1) == 0 else f"{count:,}"
