"""How many kernels are decided, and how many are proved under clauses that the tool found."""

from typing import Any

import pytest

from benchmarks import kernel_tally
from specs.policy import REQUIRED_PROPERTIES

TEXT = """
// __global__ void not_this(int* x)
template <typename T> __global__ void __launch_bounds__(256, (2)) scaled(T* x) {}
__global__ static void
shifted(int* x) {}
/* __global__ void nor_this() */
extern "C" __global__ void plain() {}
"""


def launch(name: str, **changes: tuple[str, str]) -> dict[str, Any]:
    verdicts = dict.fromkeys(REQUIRED_PROPERTIES, ("PROVED", ""))
    verdicts |= {p.replace("_", "-"): v for p, v in changes.items()}
    return {
        "name": name,
        "properties": {p: {"verdict": v, "safe_for": s} for p, (v, s) in verdicts.items()},
    }


def record(*launches: dict[str, Any], names: tuple[str, ...] = (), **facts: Any) -> dict[str, Any]:
    witness = {"replayed": True, "domain": "general"}
    finding = {"id": "overflow", "kernel": "", "severity": "error", "witness": witness}
    report = {
        "verdict": "INCONCLUSIVE",
        "gates": {"prove": {"result": "INCONCLUSIVE", "facts": facts}},
        "kernels": list(launches),
        "findings": [finding],
    }
    return {"stopped": "", "crash": False, "report": report, "kernels": list(names), "path": "a.cu"}


def test_names_are_read_off_the_text() -> None:
    assert kernel_tally.names(TEXT) == ["scaled", "shifted", "plain"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "decided"),
        ({"overflow": ("REFUTED", "")}, "decided"),
        ({"race_global": ("UNKNOWN", "m == n")}, "under clauses"),
        ({"race_global": ("UNKNOWN", "")}, "open"),
        ({"race_global": ("UNKNOWN", "m == n"), "overflow": ("REFUTED", "")}, "refuted, rest under clauses"),
        ({"race_global": ("REFUTED", "n <= 9")}, "open"),  # no witness of its own
    ],
)
def test_classes(changes: dict[str, tuple[str, str]], expected: str) -> None:
    assert kernel_tally.of_file(record(launch("k", **changes))) == {"k": expected}


def test_all_launches_of_a_kernel_count_together() -> None:
    made = record(launch("k"), launch("k", overflow=("UNKNOWN", "n <= 9")), launch("m"))
    assert kernel_tally.of_file(made) == {"k": "under clauses", "m": "decided"}


def test_what_nothing_launches_is_open_without_a_precondition() -> None:
    made = record(launch("k"), names=("k", "idle", "found"), preconditions={"found": "[[contract]]"})
    assert kernel_tally.of_file(made) == {"k": "decided", "idle": "open", "found": "under clauses"}
    assert kernel_tally.classify([made]) == {
        "decided": 1, "under clauses": 1, "refuted, rest under clauses": 0, "open": 1,
    }  # fmt: skip


def test_files_that_are_cut_off_count_as_open() -> None:
    assert kernel_tally.of_file(record(launch("k"), names=("k",)) | {"stopped": "time"}) == {"k": "open"}


def test_the_sentence_has_the_shares() -> None:
    told = kernel_tally.sentence(
        {"decided": 2, "under clauses": 1, "refuted, rest under clauses": 0, "open": 1}
    )
    assert "decided 2 (50.0 %)" in told
    assert "together 3 (75.0 %)" in told
