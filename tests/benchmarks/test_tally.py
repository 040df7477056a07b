"""The definition of *decided*, and the tables made of it."""

from typing import Any

import pytest

from benchmarks import tally
from specs.policy import REQUIRED_PROPERTIES


def report(
    changes: dict[str, Any] | None = None, findings: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    verdicts = dict.fromkeys(REQUIRED_PROPERTIES, "PROVED") | (changes or {})
    return {
        "verdict": "PASS",
        "bad_input": False,
        "message": "",
        "gates": {"prove": {"result": "PASS", "detail": ""}},
        "kernels": [
            {
                "name": "k",
                "properties": {
                    p: {
                        "verdict": v,
                        "reason": "budget" if v == "UNKNOWN" else None,
                        "detail": f"line 7: {p}",
                    }
                    for p, v in verdicts.items()
                    if v
                },
            }
        ],
        "findings": findings or [],
    }


def record(file: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    base = {
        "path": "a.cu",
        "seconds": 1.0,
        "peak_mb": 10,
        "exit": 0,
        "stopped": "",
        "crash": False,
        "stderr": "",
    }
    return base | {"report": file, "label": ""} | changes


def finding(property_id: str, replayed: bool = True, domain: str = "general") -> dict[str, Any]:
    witness = {"replayed": replayed, "domain": domain}
    return {"id": property_id, "kernel": "k", "severity": "error", "witness": witness}


def test_all_proved_is_decided() -> None:
    assert tally.decided(record(report()))


def test_not_applicable_counts() -> None:
    assert tally.decided(record(report({"race-shared": "NOT_APPLICABLE"})))


@pytest.mark.parametrize("verdict", ["UNKNOWN", "ERROR", ""])
def test_one_open_property_is_not_decided(verdict: str) -> None:
    assert not tally.decided(record(report({"overflow": verdict})))


def test_refuted_needs_a_replayed_witness_outside_the_edge_domain() -> None:
    refuted = {"race-shared": "REFUTED"}
    assert not tally.decided(record(report(refuted)))
    assert not tally.decided(record(report(refuted, [finding("race-shared", replayed=False)])))
    assert not tally.decided(record(report(refuted, [finding("race-shared", domain="edge")])))
    assert not tally.decided(record(report(refuted, [finding("bounds-global")])))
    assert tally.decided(record(report(refuted, [finding("race-shared")])))
    assert tally.decided(record(report(refuted, [finding("race-shared", domain="problem")])))


def test_a_launch_that_could_not_be_read_leaves_the_file_open() -> None:
    file = report()
    file["gates"]["prove"]["result"] = "INCONCLUSIVE"
    assert not tally.decided(record(file))


def test_no_kernel_result_is_not_decided() -> None:
    assert not tally.decided(record(report() | {"kernels": []}))


def test_outcomes() -> None:
    assert tally.outcome(record(report())) == "PASS"
    assert tally.outcome(record(report(), stopped="time")) == "cut off"
    assert tally.outcome(record(None)) == "tool error"
    assert tally.outcome(record(report(), crash=True)) == "tool error"
    assert tally.outcome(record(report() | {"verdict": "ERROR", "bad_input": True})) == "unreadable"
    assert tally.outcome(record(report() | {"verdict": "ERROR"})) == "tool error"


def test_figures_and_tables() -> None:
    records = [
        record(report(), label="pass"),
        record(report({"overflow": "UNKNOWN"}) | {"verdict": "INCONCLUSIVE"}, path="b.cu", label="xfail:X"),
        record(None, path="c.cu", seconds=9.0, stopped="time"),
    ]
    figures = tally.summarize(records)
    assert (figures["files"], figures["decided_files"], figures["launches"]) == (3, 1, 2)
    assert figures["properties"]["overflow"] == {"PROVED": 1, "UNKNOWN": 1}
    assert figures["undecided_alone"] == {"overflow": 1}
    assert figures["reasons"] == [{"text": "budget", "count": 1, "files": 1, "example": "b.cu"}]
    assert figures["details"][0]["text"] == "budget: line N: overflow"
    assert figures["seconds"] == {"median": 1.0, "p95": 9.0, "max": 9.0}
    assert figures["labels"] == {"pass": {"proved": 1}, "xfail:X": {"proved": 1}}
    text = tally.markdown(figures, "Kernels", "command")
    assert (
        "| 3 | 1 (33.3 %) | 0 (0.0 %) | 1 (33.3 %) | 0 (0.0 %) | 1 (33.3 %) | 0 (0.0 %) | 1 (33.3 %) |"
        in text
    )
    assert "| `overflow` | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 1 |" in text
