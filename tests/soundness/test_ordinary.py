"""Kernels of every usual kind, written as they are written: safe, and proved so without a word from their author."""

from pathlib import Path

import pytest

from specs.policy import default_policy
from specs.results import FileResult, Outcome, Verdict
from verifier.pipeline import Options, audit

FOLDER = Path(__file__).parent / "ordinary"
OPEN = {
    "conv2d_direct": "that the output's height fits into int, whose check is made after the conversion",
    "game_of_life": "a sum of bytes that a branch reads: how far it can grow in nine rounds",
    "sum_last_block": "the last block to finish is ordered by a counter",
}
"""What is not proved yet, and why: such a kernel must not be called faulty."""
SAMPLE = {"matmul_tiled", "row_softmax_warp", "transpose_padded", "top_k_rows"}
FILES = sorted(FOLDER.glob("*.cu"))


def judge(path: Path) -> FileResult:
    return audit(path, Options(policy=default_policy(), gates=("static", "prove"), timeout=300))


def check(path: Path) -> None:
    result = judge(path)
    verdicts = {
        p.id: p.verdict for g in result.gates if g.gate == "prove" for k in g.kernels for p in k.properties
    }
    assert Verdict.REFUTED not in verdicts.values(), result.headline
    assert result.verdict not in (Outcome.FAIL, Outcome.ERROR), result.headline
    if path.stem not in OPEN:
        required = {verdicts[p] for p in default_policy().required_properties if p in verdicts}
        assert required and required <= {Verdict.PROVED, Verdict.NOT_APPLICABLE}, result.headline


def test_names() -> None:
    assert {p.stem for p in FILES} >= SAMPLE | set(OPEN)


@pytest.mark.parametrize("name", sorted(SAMPLE))
def test_sample(name: str) -> None:
    check(FOLDER / f"{name}.cu")


@pytest.mark.sweep
@pytest.mark.parametrize("path", [p for p in FILES if p.stem not in SAMPLE], ids=lambda p: p.stem)
def test_all(path: Path) -> None:
    check(path)
