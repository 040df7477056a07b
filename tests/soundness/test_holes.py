"""Every known way to prove too much, as a faulty kernel: never PASS, the property at fault never PROVED.

The good twin differs in the one thing that matters; it may be UNKNOWN, but it must not FAIL.
"""

from pathlib import Path

import pytest

from benchmarks.expectations import expectations
from specs.policy import Policy, default_policy
from specs.results import FileResult, Outcome, Verdict
from verifier.pipeline import Options, audit

HOLES = Path(__file__).parent / "holes"
BAD = sorted(p for p in HOLES.iterdir() if p.stem.endswith("_bad"))
GOOD = sorted(p for p in HOLES.iterdir() if p.stem.endswith("_good"))
SAMPLE = {
    "block_reduce_twice",
    "contract_shrinks",
    "cross_block_neighbour",
    "never_launched",
    "wrapped_guard",
}


def name(path: Path) -> str:
    return path.stem.rpartition("_")[0]


def judge(path: Path, *properties: str) -> FileResult:
    """By proofs alone; the properties at fault are required whatever the default policy says."""
    required = {*default_policy().required_properties, *properties}
    policy = Policy.model_validate(
        {"required_gates": ("static", "prove"), "required_properties": tuple(sorted(required))}
    )
    return audit(path, Options(policy=policy, gates=("static", "prove"), timeout=60))


def check_bad(path: Path) -> None:
    expected = expectations(path.read_text())
    assert expected, "a faulty kernel without an expectation"
    result = judge(path, *(e.property for e in expected))
    assert result.verdict is not Outcome.PASS, result.headline
    assert result.verdict is not Outcome.ERROR, result.message
    for want in expected:
        verdicts = [
            p.verdict
            for g in result.gates
            if g.gate == "prove"
            for k in g.kernels
            for p in k.properties
            if p.id == want.property
        ]
        too_much = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
        assert not verdicts or any(v not in too_much for v in verdicts), f"{want.property} is {verdicts}"


def check_good(path: Path) -> None:
    result = judge(path)
    assert result.verdict not in (Outcome.FAIL, Outcome.ERROR), (result.message, result.reasons)


@pytest.mark.parametrize("path", [p for p in BAD if name(p) in SAMPLE], ids=name)
def test_sample_of_faults_is_not_proved(path: Path) -> None:
    check_bad(path)


@pytest.mark.parametrize("path", [p for p in GOOD if name(p) in SAMPLE], ids=name)
def test_sample_of_good_twins_does_not_fail(path: Path) -> None:
    check_good(path)


@pytest.mark.sweep
@pytest.mark.parametrize("path", BAD, ids=name)
def test_fault_is_not_proved(path: Path) -> None:
    check_bad(path)


@pytest.mark.sweep
@pytest.mark.parametrize("path", GOOD, ids=name)
def test_good_twin_does_not_fail(path: Path) -> None:
    check_good(path)


def test_each_fault_has_a_twin_or_says_why_not() -> None:
    alone = {name(p) for p in BAD} - {name(p) for p in GOOD}
    assert alone == {
        "async_pipeline_buffer",
        "async_pipeline_late",
        "contract_contradiction",
        "contract_shrinks",
        "contract_shrinks_to_zero",
        "reader_dependent_guard",
        "recursion",
        "spin_wait",
        "ticket_of_two_counters",
        "ticket_reset",
        "wmma_half_a_warp",
        "wmma_leading_dimension",
    }, "these are faults by what they are, not by one wrong line"
