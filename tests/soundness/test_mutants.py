"""Mutation operators make what they say; a fixed sample of mutants is confirmed by the simulator and never proved."""

from pathlib import Path

import pytest

from benchmarks.mutant_oracle import Watch
from benchmarks.mutants import classify, clean, confirmed, judge, queues, wrapping
from benchmarks.mutation import OPERATORS, WIDENED, Mutant, device_lines, mutants

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
    const size_t at = (size_t)t * stride;
    int old = atomicAdd(&count[at], 1), left = (t + n - 1) % n;
    cell[t + 1] = 0.0f;
}
void host(int n) { if (n < 3) return; }
"""


def made(operator: str, text: str = TREE) -> list[str]:
    return [m.after for m in mutants(text) if m.operator == operator]


def test_only_device_bodies_change() -> None:
    assert device_lines(TREE) == set(range(3, 14))
    assert {m.line for m in mutants(TREE)} <= set(range(3, 14))


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
    assert made("greater-to-greater-equal")[0].startswith("if (j >= 0 && j < n)")
    assert made("index-plus-one")[:2] == [
        "cell[t + 1] = i < n ? x[i] : 0.0f;",
        "cell[t] = i < n ? x[i + 1] : 0.0f;",
    ]
    assert made("barrier-removed") == [";"]
    assert made("barrier-in-branch") == [
        "if (threadIdx.x != 0) __syncthreads();",
        "if (threadIdx.x < 32) __syncthreads();",
    ]
    assert made("stride-changed") == [
        "for (int j = t; j < n; j += stride - 1) {",
        "for (int j = t; j < n; j += 1) {",
    ]
    assert made("narrowed")[:2] == [
        "for (signed char j = t; j < n; j += stride) {",
        "for (short j = t; j < n; j += stride) {",
    ]
    assert made("wide-to-int") == ["const int at = (size_t)t * stride;", "const size_t at = t * stride;"]
    assert made("array-shrunk") == ["__shared__ float cell[BLOCK + 1 - 1];"]
    assert "x[(j - 1) % n]" in made("remainder-of-negative")[0]
    assert made("remainder-of-negative")[-1].endswith("left = (t - 1) % n;")
    assert "*(&x[j % n]) += (__shfl_xor_sync(0xffffffff, 1.0f, 1));" in made("atomic-made-plain")[0]
    assert "old = ((*(&count[at]) += (1)) - (1))" in made("atomic-made-plain")[1]
    assert [
        m for m in ("0x0000ffffu", "0xfffffffeu", "0x7fffffffu") if m not in " ".join(made("mask-shrunk"))
    ] == []
    assert made("fill-dropped") == ["if (i < n) cell[t] = x[i];", ";"]
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
    record = judge(path, 60, Watch("auto", None, mutant.line))
    assert confirmed(record), record["simulator"]
    assert classify(record) == "right", record


def test_lost_values_are_seen_at_full_size(tmp_path: Path) -> None:
    """A row's start in 32 bits: right up to 2^31 elements."""
    text = (ROOT / "tests" / "soundness" / "unseen" / "safe_wide_rows.cu").read_text()
    mutant = next(m for m in mutants(text) if m.after == "const int at = row * columns + column;")
    assert mutant.operator in WIDENED
    path = tmp_path / "rows.cu"
    path.write_text(mutant.text)
    record = judge(path, 60, Watch("auto", None, mutant.line, wrapping(mutant)))
    assert {"overflow", "bounds-global"} <= {f["property"] for f in confirmed(record)}
    assert classify(record) == "right", record


def test_steps_that_are_too_short_meet_in_a_second_round(tmp_path: Path) -> None:
    """Threads of a block write one element when the row is longer than the block: sizes to try must reach there."""
    text = (ROOT / "tests" / "soundness" / "holes" / "host_short_good.cu").read_text()
    mutant = next(m for m in mutants(text) if m.operator == "stride-changed")
    assert mutant.after.startswith("for (int c = threadIdx.x; c < cols; c += blockDim.x - 1)")
    path = tmp_path / "rows.cu"
    path.write_text(mutant.text)
    record = judge(path, 60, Watch("auto", None, mutant.line))
    assert classify(record) == "right", record


def test_draws_are_spread_over_files() -> None:
    """Each file gives one mutant of an operator before any gives a second one; a seed draws the same again."""
    paths = [ROOT / "examples" / n for n in ("saxpy.cu", "layernorm.cu", "matmul.cu")]
    drawn = queues(paths, ["index-plus-one"], seed=3)["index-plus-one"]
    assert {p for p, _ in list(drawn)[:3]} == set(paths)
    assert [m.key for _, m in drawn] == [
        m.key for _, m in queues(paths, ["index-plus-one"], seed=3)["index-plus-one"]
    ]


def test_originals_with_findings_are_left_out() -> None:
    seen = {"faults": [], "runs": 3, "notes": []}
    passed = {"verdict": "INCONCLUSIVE", "message": "", "verdicts": [], "findings": []}
    assert clean({"simulator": seen, "prover": passed}) == ""
    assert clean({"simulator": None, "prover": None})
    assert clean({"simulator": seen | {"runs": 0}, "prover": passed})
    assert clean({"simulator": seen, "prover": passed | {"verdict": "FAIL"}})
    fault = {"contract": 0, "property": "race-shared", "line": 3}
    assert "race-shared at line 3" in clean({"simulator": seen | {"faults": [fault]}, "prover": passed})


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
