"""A replayed finding settles UNKNOWN, and contradicts PROVED loudly."""

from __future__ import annotations

import pytest

from specs.location import Span
from specs.results import (
    Finding,
    GateResult,
    KernelResult,
    Outcome,
    PropertyResult,
    Reason,
    Severity,
    Verdict,
    Witness,
)
from verifier.agreement import agree

WITNESS = Witness((1, 1, 1), (32, 1, 1), 0, {}, {}, {}, (), replayed=True)


def gates(verdict: Verdict, property_: str, witness: Witness | None = WITNESS) -> tuple[GateResult, ...]:
    result = PropertyResult(property_, verdict, Reason.BUDGET if verdict is Verdict.UNKNOWN else None)
    prove = GateResult(
        "prove", Outcome.INCONCLUSIVE, kernels=(KernelResult("k", ("float",), None, (result,)),)
    )
    finding = Finding(property_, Severity.ERROR, Span("a.cu", 7), "thread reads x[9]", "k<float>", witness)
    return agree((prove, GateResult("sanitize", Outcome.FAIL, findings=(finding,))))


def test_unknown_becomes_refuted() -> None:
    prove = gates(Verdict.UNKNOWN, "bounds-global")[0]
    assert prove.outcome is Outcome.FAIL
    assert prove.kernels[0].properties[0].verdict is Verdict.REFUTED
    assert prove.kernels[0].properties[0].span.line == 7


@pytest.mark.parametrize("verdict", [Verdict.PROVED, Verdict.NOT_APPLICABLE])
def test_a_proof_that_the_simulator_contradicts_is_an_error(verdict: Verdict) -> None:
    prove = gates(verdict, "race-shared")[0]
    assert prove.outcome is Outcome.ERROR
    assert "wrong" in prove.kernels[0].properties[0].detail


def test_the_simulator_sees_more_overflows_than_the_proof_is_about() -> None:
    assert gates(Verdict.PROVED, "overflow")[0].kernels[0].properties[0].verdict is Verdict.REFUTED


def test_a_witness_that_was_not_replayed_settles_nothing() -> None:
    assert (
        gates(Verdict.UNKNOWN, "bounds-global", None)[0].kernels[0].properties[0].verdict is Verdict.UNKNOWN
    )
