"""Mutation operators make what they say; a fixed sample of mutants is confirmed by the simulator and never proved."""

from pathlib import Path

import pytest

from benchmarks.mutants import classify, confirmed, judge
from benchmarks.mutation import OPERATORS, Mutant, device_lines, mutants

ROOT = Path(__file__).resolve().parents[2]
SAXPY = (ROOT / "examples" / "saxpy.cu").read_text()
TREE = """\
__device__ int helper(int a);
__global__ void k(float* x, int n) {
    __shared__ float cell[BLOCK + 1];
    cell[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i >= n) return;
    for (int j = t; j < n; j += stride) {
        if (j > 0 && j < n) atomicAdd(&x[j % n], __shfl_xor_sync(0xffffffff, 1.0f, 1));
    }
}
void host(int n) { if (n < 3) return; }
"""


def made(operator: str, text: str = TREE) -> list[str]:
    return [m.after for m in mutants(text) if m.operator == operator]


def test_only_device_bodies_change() -> None:
    assert device_lines(TREE) == set(range(3, 11))
    assert {m.line for m in mutants(TREE)} <= set(range(3, 11))


def test_each_operator_has_an_effect() -> None:
    assert made("guard-dropped") == [
        "cell[t] = true ? x[i] : 0.0f;",
        "if (false) return;",
        "if (true) atomicAdd(&x[j % n], __shfl_xor_sync(0xffffffff, 1.0f, 1));",
        "if (j < n) atomicAdd(&x[j % n], __shfl_xor_sync(0xffffffff, 1.0f, 1));",
        "if (j > 0) atomicAdd(&x[j % n], __shfl_xor_sync(0xffffffff, 1.0f, 1));",
    ]
    assert "for (int j = t; j <= n; j += stride) {" in made("less-to-less-equal")
    assert made("greater-equal-to-greater") == ["if (i > n) return;"]
    assert made("index-plus-one")[:2] == [
        "cell[t + 1] = i < n ? x[i] : 0.0f;",
        "cell[t] = i < n ? x[i + 1] : 0.0f;",
    ]
    assert made("barrier-removed") == [";"]
    assert made("barrier-in-branch") == ["if (threadIdx.x != 0) __syncthreads();"]
    assert made("stride-changed") == ["for (int j = t; j < n; j += stride - 1) {"]
    assert made("narrowed") == ["for (signed char j = t; j < n; j += stride) {"]
    assert made("array-shrunk") == ["__shared__ float cell[BLOCK + 1 - 1];"]
    assert "x[(j - 1) % n]" in made("remainder-of-negative")[0]
    assert "*(&x[j % n]) += __shfl_xor_sync(0xffffffff, 1.0f, 1);" in made("atomic-made-plain")[0]
    assert "0x0000ffffu" in made("mask-shrunk")[0]
    assert made("fill-dropped") == ["if (i < n) cell[t] = x[i];"]
    assert all(made(o) for o in OPERATORS), "an operator without effect"


def test_texts_differ_and_keys_are_unique() -> None:
    found = list(mutants(TREE))
    assert len({m.text for m in found} | {TREE}) == len(found) + 1
    assert len({m.key for m in found}) == len(found)


def chosen() -> list[tuple[str, Mutant]]:
    """Six of saxpy's mutants: every one is wrong at some size."""
    return [("saxpy.cu", m) for m in mutants(SAXPY) if m.operator != "narrowed"][:6]


@pytest.mark.parametrize(("name", "mutant"), chosen(), ids=lambda v: v.key if isinstance(v, Mutant) else "")
def test_sample_is_refuted(name: str, mutant: Mutant, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(mutant.text)
    record = judge(path, timeout=60)
    assert confirmed(record), record["simulator"]
    assert classify(record) == "right", record


def test_a_wrong_mutant_that_passes_counts_as_proved() -> None:
    fault = {"contract": 0, "property": "bounds-global", "line": 3}
    record = {"simulator": {"faults": [fault]}, "prover": {"verdict": "PASS", "verdicts": [], "findings": []}}
    assert classify(record) == "proved"
    record["prover"] = {
        "verdict": "INCONCLUSIVE",
        "verdicts": [{"bounds-global": ["PROVED", "", ""], "overflow": ["UNKNOWN", "budget", ""]}],
        "findings": [],
    }
    assert classify(record) == "proved"
    record["prover"] = {
        "verdict": "FAIL",
        "verdicts": [{"bounds-global": ["UNKNOWN", "", ""]}],
        "findings": [],
    }
    assert classify(record) == "unknown"
    finding = {"property": "bounds-global", "lines": [3], "replayed": True, "severity": "error"}
    record["prover"] = {"verdict": "FAIL", "verdicts": [{}], "findings": [finding]}
    assert classify(record) == "right"
    record["prover"] = {"verdict": "FAIL", "verdicts": [{}], "findings": [{**finding, "lines": [4]}]}
    assert classify(record) == "refuted elsewhere"
