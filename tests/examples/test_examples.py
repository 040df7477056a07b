"""The examples hold what their README and their own comments promise: safe ones PASS, faulty ones FAIL where marked."""

import re
from pathlib import Path

import pytest

from benchmarks.expectations import expectations, found
from specs.policy import default_policy
from specs.results import Outcome
from verifier.judge import findings_of
from verifier.pipeline import Options, audit

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAFE = sorted(p for p in EXAMPLES.iterdir() if p.suffix in (".cu", ".py"))
FAULTY = sorted(p for p in (EXAMPLES / "faulty").iterdir() if p.suffix in (".cu", ".py"))
QUICK = {"saxpy", "saxpy_oob", "saxpy_race"}


def check_safe(path: Path) -> None:
    result = audit(path, Options(policy=default_policy(), timeout=120))
    assert result.verdict is Outcome.PASS, (result.headline, result.message, result.reasons)


def check_faulty(path: Path) -> None:
    (expected,) = expectations(path.read_text())
    result = audit(path, Options(policy=default_policy(), timeout=120))
    findings = findings_of(result.gates)
    assert result.verdict is Outcome.FAIL, (result.headline, result.message, result.reasons)
    assert found(expected, findings), [(f.id, str(f.span), f.message) for f in findings]


@pytest.mark.parametrize("path", [p for p in SAFE if p.stem in QUICK], ids=lambda p: p.stem)
def test_quick_safe(path: Path) -> None:
    check_safe(path)


@pytest.mark.parametrize("path", [p for p in FAULTY if p.stem in QUICK], ids=lambda p: p.stem)
def test_quick_faulty(path: Path) -> None:
    check_faulty(path)


@pytest.mark.sweep
@pytest.mark.parametrize("path", SAFE, ids=lambda p: p.stem)
def test_safe(path: Path) -> None:
    check_safe(path)


@pytest.mark.sweep
@pytest.mark.parametrize("path", FAULTY, ids=lambda p: p.stem)
def test_faulty(path: Path) -> None:
    check_faulty(path)


def test_readme_lists_every_example_with_its_fault() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    assert set(re.findall(r"\]\((faulty/[\w.]+)\)", readme)) == {f"faulty/{p.name}" for p in FAULTY}
    assert set(re.findall(r"\]\(([\w.]+)\)", readme)) == {p.name for p in SAFE}
    for path in FAULTY:
        (expected,) = expectations(path.read_text())
        (row,) = [line for line in readme.splitlines() if f"faulty/{path.name}" in line and line[0] == "|"]
        assert f"`{expected.property}`" in row


def test_safe_examples_carry_no_expectation() -> None:
    assert not any(expectations(p.read_text()) for p in SAFE)
