"""A missing clause turns the fault it removes into a missing contract, and nothing into a proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from specs.contract import Clause
from specs.location import Span
from specs.results import Finding, PropertyResult, Reason, Severity, Verdict, Witness
from verifier.prover.missing import Missing
from verifier.prover.proposals import settle

FOREVER = float("inf")


@dataclass(frozen=True)
class Made:
    properties: tuple[PropertyResult, ...]
    findings: tuple[Finding, ...] = ()


def fault(symbols: dict[str, int], domain: str = "general") -> Finding:
    witness = Witness((1, 1, 1), (1, 1, 1), 0, symbols, {}, {}, (), replayed=True, domain=domain)
    return Finding("bounds-global", Severity.ERROR, Span("k.cu", 3), "outside", "k", witness)


def result(verdict: Verdict, id_: str = "bounds-global") -> PropertyResult:
    return PropertyResult(id_, verdict)


def settled(
    bare: Made, under: Made, *more: Missing
) -> tuple[tuple[PropertyResult, ...], tuple[Finding, ...], dict[str, Missing]]:
    proposed = {"a == b": Missing("a == b", "needs a == b")}

    def again(clauses: Iterable[Clause]) -> tuple[Made, Sequence[Missing]]:
        assert all(c.origin == "assumed" for c in clauses)
        return under, more

    properties, findings = settle(bare, proposed, again, FOREVER)
    return properties, findings, proposed


def test_a_fault_that_the_clause_removes_is_a_missing_contract() -> None:
    bare = Made((result(Verdict.REFUTED),), (fault({"a": 1, "b": 2}),))
    (made,), findings, _ = settled(bare, Made((result(Verdict.PROVED),)))
    assert (made.verdict, made.reason) == (Verdict.UNKNOWN, Reason.MISSING_CONTRACT)
    assert "a == b" in made.detail and not findings


def test_a_fault_that_meets_the_clause_or_is_the_problems_stands() -> None:
    for finding in (fault({"a": 2, "b": 2}), fault({"a": 1, "b": 2}, "problem")):
        bare = Made((result(Verdict.REFUTED),), (finding,))
        (made,), findings, _ = settled(bare, Made((result(Verdict.PROVED),)))
        assert made.verdict is Verdict.REFUTED and findings == (finding,)


def test_a_fault_under_the_clause_is_the_one_that_is_told() -> None:
    worse = fault({"a": 5, "b": 5})
    bare = Made((result(Verdict.UNKNOWN),))
    (made,), findings, _ = settled(bare, Made((result(Verdict.REFUTED),), (worse,)))
    assert made.verdict is Verdict.REFUTED and findings == (worse,)


def test_nothing_is_proved_by_a_proposal_and_proofs_stay() -> None:
    bare = Made((result(Verdict.PROVED), result(Verdict.UNKNOWN, "overflow")))
    under = Made((result(Verdict.UNKNOWN), result(Verdict.PROVED, "overflow")))
    (first, second), _, _ = settled(bare, under)
    assert first.verdict is Verdict.PROVED
    assert (second.verdict, second.reason) == (Verdict.UNKNOWN, Reason.MISSING_CONTRACT)


def test_more_clauses_are_collected() -> None:
    bare = Made((result(Verdict.UNKNOWN),))
    _, _, proposed = settled(
        bare, Made((result(Verdict.PROVED),)), Missing("c >= 1", "needs c"), Missing("", "indices")
    )
    assert list(proposed) == ["a == b", "c >= 1"]


def test_a_clause_that_no_launch_meets_excuses_no_fault() -> None:
    finding = fault({"a": 1, "b": 2})
    bare = Made((result(Verdict.REFUTED),), (finding,))
    (made,), findings, _ = settled(
        bare, Made((PropertyResult("bounds-global", Verdict.UNKNOWN, Reason.VACUOUS),))
    )
    assert made.verdict is Verdict.REFUTED and findings == (finding,)


def test_clauses_on_memory_let_a_fault_of_other_sizes_stand() -> None:
    def judged(index: int) -> Verdict:
        known = {x: Missing(x, x) for x in ("disjoint(x, y)", "aligned(x, 16)", "content(idx, 0, n - 1)")}
        found = fault({"n": 4})
        assert found.witness is not None
        found = replace(found, witness=replace(found.witness, data={"idx": {0: index}}))
        bare = Made((result(Verdict.REFUTED),), (found,))
        (made,), _ = settle(bare, known, lambda clauses: (Made((result(Verdict.PROVED),)), ()), FOREVER)
        return made.verdict

    assert judged(3) is Verdict.REFUTED
    assert judged(4) is Verdict.UNKNOWN
