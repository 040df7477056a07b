"""Twenty kernels written without sight of the checks' code: the safe ones PASS, the faulty ones FAIL where marked."""

from pathlib import Path

import pytest

from benchmarks.expectations import expectations, found
from specs.policy import default_policy
from specs.results import Outcome
from verifier.judge import findings_of
from verifier.pipeline import Options, audit

FOLDER = Path(__file__).parent / "unseen"
SAFE = sorted(FOLDER.glob("safe_*"))
FAULTY = sorted(FOLDER.glob("faulty_*"))


def test_there_are_ten_of_each() -> None:
    assert (len(SAFE), len(FAULTY)) == (10, 10)


@pytest.mark.sweep
@pytest.mark.parametrize("path", SAFE, ids=lambda p: p.stem)
def test_safe(path: Path) -> None:
    result = audit(path, Options(policy=default_policy(), timeout=120))
    assert result.verdict is Outcome.PASS, (result.headline, result.message, result.reasons)


@pytest.mark.sweep
@pytest.mark.parametrize("path", FAULTY, ids=lambda p: p.stem)
def test_faulty(path: Path) -> None:
    (expected,) = expectations(path.read_text())
    result = audit(path, Options(policy=default_policy(), timeout=120))
    findings = findings_of(result.gates)
    assert result.verdict is Outcome.FAIL, (result.headline, result.message, result.reasons)
    assert found(expected, findings), [(f.id, str(f.span), f.message) for f in findings]
