"""The verdict rules and the exit status, as tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.contract import Clause, Contract, Launch
from specs.location import Span
from specs.policy import GATES, PROPERTIES, REQUIRED_PROPERTIES, Policy, default_policy
from specs.results import (
    FileResult,
    Finding,
    GateResult,
    KernelResult,
    Outcome,
    PropertyResult,
    Reason,
    Severity,
    ThreadAccess,
    Verdict,
    Witness,
)
from verifier.judge import Case, Judgement, exit_status, file_status, findings_of, headline, judge

SPAN = Span("k.cu", 3)
LAUNCH = Launch("k", (), ("1", "1", "1"), ("1", "1", "1"), "0", SPAN)
CONTRACT = Contract("k", (), LAUNCH, (), (), (), (), "lifted")
CASE = Case(default_policy(), ("k",), (CONTRACT,), ("static", "prove", "sanitize"))


def kernel(**verdicts: Verdict) -> KernelResult:
    given = {k.replace("_", "-"): v for k, v in verdicts.items()}
    properties = tuple(PropertyResult(p, given.get(p, Verdict.PROVED), span=SPAN) for p in PROPERTIES)
    return KernelResult("k", (), CONTRACT, properties)


def gates(prove: GateResult | None = None, **outcomes: Outcome) -> tuple[GateResult, ...]:
    results = {g: GateResult(g, Outcome.PASS) for g in ("static", "sanitize")}
    results["prove"] = prove or GateResult("prove", Outcome.PASS, kernels=(kernel(),))
    results |= {g: GateResult(g, o) for g, o in outcomes.items()}
    return tuple(results[g] for g in GATES if g in results)


def proved(**verdicts: Verdict) -> tuple[GateResult, ...]:
    open_ = any(v not in (Verdict.PROVED, Verdict.NOT_APPLICABLE) for v in verdicts.values())
    outcome = Outcome.INCONCLUSIVE if open_ else Outcome.PASS
    return gates(GateResult("prove", outcome, kernels=(kernel(**verdicts),)))


def test_pass_needs_everything() -> None:
    judgement = judge(gates(), CASE)
    assert judgement.outcome is Outcome.PASS and judgement.reasons == ()
    assert "numerics not checked (no --reference)" in judgement.not_checked


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("id_", REQUIRED_PROPERTIES)
def test_only_proved_and_not_applicable_are_green(id_: str, verdict: Verdict) -> None:
    judgement = judge(proved(**{id_.replace("-", "_"): verdict}), CASE)
    green = verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    assert (judgement.outcome is Outcome.PASS) is green
    assert green or any(id_ in reason for reason in judgement.reasons)


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("gate", ["static", "prove", "sanitize"])
def test_a_required_gate_that_is_not_pass_is_never_green(gate: str, outcome: Outcome) -> None:
    changed = tuple(replace(g, outcome=outcome) if g.gate == gate else g for g in gates())
    expected = {
        Outcome.PASS: Outcome.PASS,
        Outcome.FAIL: Outcome.FAIL,
        Outcome.ERROR: Outcome.ERROR,
    }.get(outcome, Outcome.INCONCLUSIVE)
    assert judge(changed, CASE).outcome is expected


@pytest.mark.parametrize("missing", ["static", "prove", "sanitize"])
def test_a_required_gate_that_is_absent_is_never_green(missing: str) -> None:
    judgement = judge(tuple(g for g in gates() if g.gate != missing), CASE)
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert any(f"required gate {missing} was not asked for (--gates)" in r for r in judgement.reasons)


def test_no_gate_at_all_is_never_green() -> None:
    assert judge((), CASE).outcome is Outcome.INCONCLUSIVE


def test_fuzz_is_required_once_there_is_a_reference() -> None:
    case = replace(CASE, required=GATES)
    assert judge(gates(), case).outcome is Outcome.INCONCLUSIVE
    assert judge(gates(fuzz=Outcome.PASS), case).outcome is Outcome.PASS
    assert judge(gates(fuzz=Outcome.FAIL), case).outcome is Outcome.FAIL


def test_an_optional_gate_that_refutes_fails_the_file() -> None:
    assert judge(gates(fuzz=Outcome.FAIL), CASE).outcome is Outcome.FAIL


def test_an_error_finding_of_a_gate_that_claims_pass_fails() -> None:
    finding = Finding("bounds-global", Severity.ERROR, SPAN, "reads x[1]")
    judgement = judge(
        gates(GateResult("prove", Outcome.PASS, findings=(finding,), kernels=(kernel(),))), CASE
    )
    assert judgement.outcome is Outcome.FAIL and judgement.reasons == ("bounds-global at line 3",)


def test_refuted_goes_before_an_internal_error() -> None:
    changed = gates(static=Outcome.ERROR, sanitize=Outcome.FAIL)
    assert judge(changed, CASE).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"kernels": ()}, "vacuous"),
        ({"kernels": ("k", "other")}, "kernel other is never launched"),
        ({"contracts": ()}, "kernel k is never launched"),
        ({"contracts": (CONTRACT, CONTRACT)}, "no verdict on 1 of its launches"),
        ({"contracts": (replace(CONTRACT, origin="drafted"),)}, "review the drafted contract"),
        (
            {"contracts": (replace(CONTRACT, requires=(Clause("n <= 1", "stated", SPAN, accepted=False),)),)},
            "contract not accepted: k comes with its own claims (n <= 1, line 3)",
        ),
        (
            {
                "contracts": (
                    replace(CONTRACT, no_alias=(Clause("disjoint(x, y)", "stated", accepted=False),)),
                )
            },
            "contract not accepted: k comes with its own claims (disjoint(x, y)",
        ),
        (
            {
                "contracts": (
                    replace(CONTRACT, requires=(Clause("n == m", "assumed", fix="TORCH_CHECK(n == m);"),)),
                )
            },
            "nothing checks n == m; add TORCH_CHECK(n == m);",
        ),
        ({"doubts": ("k.cu:1: cannot find my.h",)}, "cannot find my.h"),
    ],
)
def test_incomplete_input_is_inconclusive(change: dict[str, object], reason: str) -> None:
    judgement = judge(gates(), replace(CASE, **change))  # type: ignore[arg-type]
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert any(reason in r for r in judgement.reasons), judgement.reasons


def test_a_property_without_a_verdict_is_unknown() -> None:
    empty = KernelResult("k", (), CONTRACT, ())
    judgement = judge(gates(GateResult("prove", Outcome.PASS, kernels=(empty,))), CASE)
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert judgement.reasons == ("k: every property unknown, not checked",)


def test_one_cause_is_one_reason() -> None:
    open_ = ("overflow", "bounds-global", "launch")
    properties = tuple(
        PropertyResult(p, Verdict.UNKNOWN, Reason.BUDGET, "why")
        if p in open_
        else PropertyResult(p, Verdict.PROVED)
        for p in REQUIRED_PROPERTIES
    )
    prove = GateResult("prove", Outcome.INCONCLUSIVE, kernels=(KernelResult("k", (), CONTRACT, properties),))
    said = [r for r in judge(gates(prove), CASE).reasons if r.startswith("k: ")]
    assert said == [f"k: {', '.join(p for p in REQUIRED_PROPERTIES if p in open_)} unknown, budget: why"]


def test_strict_fails_what_the_host_does_not_check() -> None:
    assumption = Clause("contiguous(x)", "assumed")
    prove = GateResult("prove", Outcome.PASS, kernels=(kernel(),), assumptions=(assumption,))
    strict = replace(CASE, policy=Policy(name="strict", strict=True))
    assert judge(gates(prove), CASE).outcome is Outcome.PASS
    assert judge(gates(prove), strict).outcome is Outcome.FAIL
    warning = Finding("host-check", Severity.WARNING, SPAN, "empty tensor")
    edge = gates(GateResult("prove", Outcome.PASS, findings=(warning,), kernels=(kernel(),)))
    assert judge(edge, CASE).outcome is Outcome.PASS
    assert judge(edge, strict).outcome is Outcome.FAIL


def test_what_is_not_required_and_not_proved_is_named() -> None:
    judgement = judge(proved(termination=Verdict.UNKNOWN), CASE)
    assert "not required and not proved: termination" in judgement.not_checked


def test_reason_of_an_unknown_stands_in_the_headline() -> None:
    unknown = PropertyResult("overflow", Verdict.UNKNOWN, Reason.BUDGET, "row * K", span=SPAN)
    prove = replace(kernel(), properties=(unknown, *[p for p in kernel().properties if p.id != "overflow"]))
    results = gates(GateResult("prove", Outcome.INCONCLUSIVE, kernels=(prove,)))
    judgement = judge(results, CASE)
    assert (
        headline(judgement, results, CASE.policy)
        == "not decided: k: overflow unknown (line 3), budget: row * K"
    )


def test_headline_names_the_safe_size() -> None:
    frontier = KernelResult("k", (), CONTRACT, (PropertyResult("overflow", Verdict.PROVED, frontier=46340),))
    results = (GateResult("prove", Outcome.PASS, kernels=(frontier,)),)
    text = headline(Judgement(Outcome.PASS, (), ()), results, CASE.policy)
    assert text == "safe for every allowed launch up to 46,340 elements a buffer"


@pytest.mark.parametrize("reason", list(Reason))
def test_no_reason_makes_an_unknown_green(reason: Reason) -> None:
    unknown = PropertyResult("overflow", Verdict.UNKNOWN, reason, span=SPAN)
    open_ = replace(kernel(), properties=(unknown, *[p for p in kernel().properties if p.id != "overflow"]))
    for outcome in (Outcome.PASS, Outcome.INCONCLUSIVE):
        judgement = judge(gates(GateResult("prove", outcome, kernels=(open_,))), CASE)
        assert judgement.outcome is Outcome.INCONCLUSIVE and judgement.reasons


def race(first: int, second: int, **changes: object) -> Finding:
    accesses = tuple(
        ThreadAccess((0, 0, 0), (i, 0, 0), "x", Span("k.cu", n)) for i, n in enumerate((first, second))
    )
    witness = Witness((1, 1, 1), (2, 1, 1), 0, {}, {}, {}, accesses, replayed=True)
    finding = Finding("race-shared", Severity.ERROR, Span("k.cu", first), "race", "k", witness)
    return replace(finding, **changes)  # type: ignore[arg-type]


def test_a_race_seen_from_both_sides_is_one_fault() -> None:
    proved_, seen = race(3, 9), race(9, 3, kernel="k<float>")
    results = [
        GateResult("prove", Outcome.FAIL, findings=(proved_,)),
        GateResult("sanitize", Outcome.FAIL, findings=(seen,)),
    ]
    assert findings_of(results) == (proved_,)
    assert judge(results, CASE).reasons == ("race-shared at line 3",)
    assert len(findings_of([GateResult("prove", findings=(proved_, race(3, 11)))])) == 2


def test_an_open_property_that_is_not_required_does_not_block() -> None:
    judgement = judge(proved(coverage=Verdict.UNKNOWN), CASE)
    assert judgement.outcome is Outcome.PASS
    assert any(n.startswith("not required and not proved: coverage") for n in judgement.not_checked)


def test_headline_says_what_the_numbers_agree_with() -> None:
    fuzz = GateResult("fuzz", Outcome.PASS, facts={"reference": "torch.sin"})
    results = (*gates(), fuzz)
    assert "; numbers agree with torch.sin" in headline(judge(results, CASE), results, CASE.policy)


def file(verdict: Outcome, bad_input: bool = False) -> FileResult:
    return FileResult("k.cu", "", verdict, 0.0, (), bad_input=bad_input)


STATUS = {
    0: file(Outcome.PASS),
    1: file(Outcome.FAIL),
    2: file(Outcome.ERROR, bad_input=True),
    3: file(Outcome.INCONCLUSIVE),
    4: file(Outcome.ERROR),
}


@pytest.mark.parametrize("status", STATUS)
def test_status_of_one_file(status: int) -> None:
    assert exit_status([STATUS[status]]) == file_status(STATUS[status]) == status


@pytest.mark.parametrize(
    "statuses, expected",
    [
        ((), 2),
        ((0, 0), 0),
        ((0, 3), 3),
        ((3, 2), 2),
        ((2, 4), 4),
        ((4, 1), 1),
        ((0, 3, 2, 4, 1), 1),
        ((0, 3, 2, 4), 4),
        ((0, 3, 2), 2),
    ],
)
def test_status_of_several_files(statuses: tuple[int, ...], expected: int) -> None:
    assert exit_status(STATUS[s] for s in statuses) == expected
    assert exit_status(STATUS[s] for s in reversed(statuses)) == expected


def test_what_did_not_run_is_not_green() -> None:
    assert file_status(file(Outcome.NOT_RUN)) == 3
    assert file_status(file(Outcome.NOT_RUN, bad_input=True)) == 2


def test_one_finding_a_fault_worst_first() -> None:
    note = Finding("lint", Severity.NOTE, SPAN, "note")
    again = Finding("overflow", Severity.WARNING, SPAN, "seen by the simulator")
    error = Finding("overflow", Severity.ERROR, SPAN, "proved")
    found = findings_of(
        [GateResult("prove", findings=(note, error)), GateResult("sanitize", findings=(again,))]
    )
    assert found == (error, note)


def test_the_prove_gate_fails_closed() -> None:
    from verifier.gates.prove import _judge

    whole = kernel()
    assert _judge([whole], REQUIRED_PROPERTIES)[0] is Outcome.PASS
    for properties in ((), whole.properties[:-1], whole.properties[1:]):
        outcome, detail = _judge([whole, replace(whole, properties=properties)], PROPERTIES)
        assert outcome is Outcome.INCONCLUSIVE, detail
    assert _judge([replace(whole, properties=())], ())[0] is Outcome.INCONCLUSIVE
