"""Indices that a buffer holds: a promise that is missing where the kernel takes them as they are, its fault where not."""

from pathlib import Path

import pytest

from specs.policy import Policy
from specs.results import Outcome, Reason, Verdict
from verifier.pipeline import Options, audit

BAD = Path(__file__).resolve().parents[1] / "soundness" / "holes" / "content_guard_bad.cu"
GUARD = "p < 0 || p > entries"


@pytest.mark.parametrize(
    ("guard", "verdict"),
    [
        ("p < 0 || p > entries", Outcome.FAIL),
        ("p < 0 || p >= entries", Outcome.PASS),
        ("p < 0", Outcome.INCONCLUSIVE),
        ("p >= entries", Outcome.INCONCLUSIVE),
        ("p > entries", Outcome.INCONCLUSIVE),
    ],
)
def test_who_answers_for_an_index(guard: str, verdict: Outcome, tmp_path: Path) -> None:
    """A side that the kernel does not look at is for the caller to promise, whatever it does on the other one."""
    assert GUARD in BAD.read_text()
    path = tmp_path / "put.cu"
    path.write_text(BAD.read_text().replace(GUARD, guard))
    policy = Policy.model_validate({"required_gates": ("static", "prove")})
    result = audit(path, Options(policy=policy, gates=("static", "prove"), timeout=200))
    assert result.verdict is verdict, result.headline
    (bounds,) = (
        p
        for g in result.gates
        if g.gate == "prove"
        for k in g.kernels
        for p in k.properties
        if p.id == "bounds-global"
    )
    wanted = {Outcome.FAIL: Verdict.REFUTED, Outcome.PASS: Verdict.PROVED}.get(verdict, Verdict.UNKNOWN)
    assert bounds.verdict is wanted
    assert verdict is not Outcome.INCONCLUSIVE or bounds.reason is Reason.MISSING_CONTRACT
