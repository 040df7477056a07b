"""Kernels written without sight of the checks' code: the safe ones PASS, the faulty ones FAIL where marked."""

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


OPEN = {
    "safe_box_blur": "that a count of rounds is positive, and indices after their clamps",
    "safe_checkerboard": "that cells of one colour are no neighbours, on rows that wrap around",
    "safe_suffix_sums": "loops that run downwards and end early, in time",
    "safe_tridiagonal": "sizes that five arrays share, in time",
    "safe_warp_broadcast": "that the lanes of a warp have written what one of them reads after __syncwarp",
    "safe_warp_scan": "that the last lanes of the warps fill the array that the first warp reads",
    "safe_weighted_histogram": "a number with a point that becomes an index after it was compared",
}
"""What is not proved yet, and why: such a kernel must not be called faulty."""


def test_names() -> None:
    assert len(SAFE) >= 60 and len(FAULTY) >= 10
    assert set(OPEN) <= {p.stem for p in SAFE}


@pytest.mark.sweep
@pytest.mark.parametrize("path", SAFE, ids=lambda p: p.stem)
def test_safe(path: Path) -> None:
    result = audit(path, Options(policy=default_policy(), timeout=120))
    allowed = {Outcome.PASS, Outcome.INCONCLUSIVE} if path.stem in OPEN else {Outcome.PASS}
    assert result.verdict in allowed, (result.headline, result.message, result.reasons)


@pytest.mark.sweep
@pytest.mark.parametrize("path", FAULTY, ids=lambda p: p.stem)
def test_faulty(path: Path) -> None:
    (expected,) = expectations(path.read_text())
    result = audit(path, Options(policy=default_policy(), timeout=120))
    findings = findings_of(result.gates)
    assert result.verdict is Outcome.FAIL, (result.headline, result.message, result.reasons)
    assert found(expected, findings), [(f.id, str(f.span), f.message) for f in findings]
