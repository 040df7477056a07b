"""Expected and found: when a file of our own counts as judged well."""

from typing import Any

import pytest

from benchmarks.expectations import Expectation
from benchmarks.suites import WELL, compare

OOB = Expectation(9, "refuted", "bounds-global")
OPEN = Expectation(4, "not proved", "termination")


def record(verdict: str, *findings: dict[str, Any]) -> dict[str, Any]:
    report = {"verdict": verdict, "bad_input": False, "findings": list(findings)}
    return {"stopped": "", "crash": False, "report": report}


def finding(
    line: int = 9, property_id: str = "bounds-global", replayed: bool = True, other: int = 0
) -> dict[str, Any]:
    threads = [{"line": line}, {"line": other}]
    return {
        "id": property_id,
        "severity": "error",
        "line": line,
        "related": [],
        "witness": {"replayed": replayed, "threads": threads},
    }


def test_safe_files() -> None:
    assert compare([], record("PASS"), may_be_open=False) == WELL
    assert compare([], record("INCONCLUSIVE"), may_be_open=False) != WELL
    assert compare([], record("INCONCLUSIVE"), may_be_open=True) == WELL
    assert compare([], record("FAIL"), may_be_open=True) != WELL


def test_faulty_files() -> None:
    assert compare([OOB], record("FAIL", finding()), may_be_open=False) == WELL
    assert compare([OOB], record("FAIL", finding(3, other=9)), may_be_open=False) == WELL
    for wrong in (finding(8), finding(property_id="overflow"), finding(replayed=False)):
        assert "not refuted" in compare([OOB], record("FAIL", wrong), may_be_open=False)


@pytest.mark.parametrize("verdict", ["PASS", "ERROR"])
def test_a_faulty_file_needs_a_verdict(verdict: str) -> None:
    assert compare([OOB], record(verdict), may_be_open=False) != WELL
    assert compare([OPEN], record(verdict), may_be_open=False) != WELL


def test_open_is_enough_where_only_proof_is_forbidden() -> None:
    assert compare([OPEN], record("INCONCLUSIVE"), may_be_open=False) == WELL
