"""Every op's tolerance against float32 formulas written by hand: right ones pass everywhere, wrong ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzz import dtypes, values
from fuzz.compare import Comparison, compare
from fuzz.oracle import Expected
from fuzz.values import Recipe
from specs.reference_ops import load, numel

torch = pytest.importorskip("torch", reason="the reference needs PyTorch")
torch.set_num_threads(1)

from fuzz.oracle_child import evaluate  # noqa: E402
from specs.reference_ops import _interval as iv  # noqa: E402
from tests.reference_ops.formulas import RIGHT, WRONG, Entry, F, Formula, Shapes  # noqa: E402


def judge(
    op_name: str, options: dict[str, Any], shapes: Shapes, formula: Formula, kind: str, seed: int
) -> Comparison:
    """What the gate would say of this formula on this data."""
    op = load()[op_name]
    low, high = (0, 32) if op_name == "cross_entropy" else (None, None)
    full = {o.name: o.default for o in op.options} | options
    arrays = [
        values.fill(
            Recipe(kind, seed + i),
            numel(s),
            "i64" if operand.values == "index" else "f32",
            operand,
            low,
            high,
        ).reshape(s)
        for i, (s, operand) in enumerate(zip(shapes, op.inputs, strict=False))
    ]
    with np.errstate(all="ignore"):
        got = np.asarray(formula(*[a.astype(F) for a in arrays])).reshape(-1)
    dtype = "i64" if op.output == "index" else "f32"
    raw = dtypes.encode(got, dtype)
    tensors = [torch.from_numpy(a.copy()) for a in arrays]
    reference = {
        "kind": "op",
        "op": op_name,
        "operands": [o.name for o, _ in zip(op.inputs, shapes, strict=False)],
        "options": full,
    }
    ((value, bounds, judged),) = evaluate(reference, tensors, [], [torch.from_numpy(got.copy())], iv.F32)
    assert bool(((value >= bounds.lo) & (value <= bounds.hi) | bounds.nan | ~torch.isfinite(value)).all())
    flat = [
        t.broadcast_to(value.shape).reshape(-1).numpy() for t in (value, bounds.lo, bounds.hi, bounds.nan)
    ]
    accepted = None if judged is None else judged.reshape(-1).numpy()
    return compare(dtypes.decode(raw, dtype), Expected(tuple(value.shape), *flat, accepted), dtype)


def named(entry: Entry) -> str:
    return f"{entry[0]}-{'-'.join(map(str, entry[1].values()))}-{len(entry[2])}"


@pytest.mark.parametrize("entry", RIGHT, ids=named)
def test_right_formula_passes_on_every_kind_of_values(entry: Entry) -> None:
    for kind in values.ORDINARY:
        for seed in range(2):
            found = judge(*entry, kind, seed)
            assert found.mismatch is None, f"false alarm on {kind}/{seed}: {found.mismatch}"


@pytest.mark.parametrize("entry", WRONG, ids=named)
def test_wrong_formula_is_caught(entry: Entry) -> None:
    caught = (judge(*entry, k, seed).mismatch is not None for k in values.ORDINARY for seed in range(3))
    assert any(caught), "no kind of values tells this mistake from the right formula"


@pytest.mark.parametrize("entry", RIGHT, ids=named)
def test_ordinary_values_are_really_checked(entry: Entry) -> None:
    found = judge(*entry, "uniform", 1)
    assert found.checked > 0


def test_every_op_has_a_right_and_a_wrong_formula() -> None:
    assert {e[0] for e in RIGHT} == set(load())
    assert {e[0] for e in WRONG} == set(load())
