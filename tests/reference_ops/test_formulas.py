"""Every op's tolerance against float32 formulas written by hand: right ones must pass everywhere, wrong ones must not.

A formula is numpy on float32 arrays, each operation rounded as a kernel's would be. ``RIGHT`` holds the ways in which
people write the op; ``WRONG`` the same with one usual mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzz import dtypes, values
from fuzz.compare import Comparison, compare
from fuzz.values import Recipe
from specs.reference_ops import load, numel

pytest.importorskip("torch", reason="the reference needs PyTorch")

F = np.float32
Formula = Callable[..., Any]
Shapes = list[tuple[int, ...]]
erf = np.vectorize(math.erf, otypes=[np.float64])


def e32(x: Any) -> Any:
    return np.exp(x, dtype=F)


def sigmoid(x: Any) -> Any:
    return F(1) / (F(1) + e32(-x))


def sequential(terms: Any) -> Any:
    """The last axis summed left to right, in float32."""
    return np.cumsum(terms, axis=-1, dtype=F)[..., -1] if terms.shape[-1] else np.zeros(terms.shape[:-1], F)


def online_softmax(x: Any) -> Any:
    m = np.full(x.shape[:-1], -np.inf, F)
    s = np.zeros(x.shape[:-1], F)
    for i in range(x.shape[-1]):
        new = np.maximum(m, x[..., i])
        s = s * e32(m - new) + e32(x[..., i] - new)
        m = new
    return e32(x - m[..., None]) / s[..., None]


def layer_norm(x: Any, w: Any = None, b: Any = None, *, eps: float = 1e-5, one_pass: bool = False) -> Any:
    n = F(x.shape[-1])
    mean = (sequential(x) / n)[..., None]
    var = (
        (sequential(x * x) / n)[..., None] - mean * mean
        if one_pass
        else (sequential((x - mean) ** 2) / n)[..., None]
    )
    y = (x - mean) * (F(1) / np.sqrt(var + F(eps)))
    y = y if w is None else y * w
    return y if b is None else y + b


def conv(x: Any, w: Any, left: int, right: int) -> Any:
    padded = np.concatenate([np.zeros(left, F), x, np.zeros(right, F)])
    out = np.zeros(padded.size - w.size + 1, F)
    for j in range(w.size):
        out = out + padded[j : j + out.size] * w[j]
    return out


def pool(x: Any, k: int, reduce: Formula = np.max) -> Any:
    h, w = x.shape[-2] // k, x.shape[-1] // k
    windows = x[..., : h * k, : w * k].reshape(*x.shape[:-2], h, k, w, k)
    return reduce(windows, axis=(-3, -1))


def product(a: Any, b: Any) -> Any:
    return sequential(np.swapaxes(a[..., :, :, None] * b[..., None, :, :], -1, -2))


FLAT: Shapes = [(257,)]
ROWS: Shapes = [(5, 33)]
RIGHT: list[tuple[str, dict[str, Any], Shapes, Formula]] = [
    ("relu", {}, FLAT, lambda x: np.maximum(x, F(0))),
    ("gelu", {"approximate": "none"}, FLAT, lambda x: F(0.5) * x * (F(1) + erf(x * F(0.70710678)).astype(F))),
    (
        "gelu",
        {"approximate": "none"},
        FLAT,
        lambda x: x * (F(0.5) * (F(1) + erf(x / np.sqrt(F(2))).astype(F))),
    ),
    ("gelu", {"approximate": "tanh"}, FLAT, lambda x: gelu_tanh(x)),
    (
        "gelu",
        {"approximate": "tanh"},
        FLAT,
        lambda x: x * sigmoid(F(1.5957691216) * (x + F(0.044715) * x * x * x)),
    ),
    ("sigmoid", {}, FLAT, sigmoid),
    ("sigmoid", {}, FLAT, lambda x: F(0.5) * np.tanh(F(0.5) * x) + F(0.5)),
    ("tanh", {}, FLAT, np.tanh),
    ("tanh", {}, FLAT, lambda x: F(1) - F(2) / (e32(F(2) * x) + F(1))),
    ("silu", {}, FLAT, lambda x: x * sigmoid(x)),
    ("silu", {}, FLAT, lambda x: x / (F(1) + e32(-x))),
    ("elu", {"alpha": 1.0}, FLAT, lambda x: np.where(x > 0, x, F(1) * (e32(x) - F(1)))),
    ("elu", {"alpha": 0.5}, FLAT, lambda x: np.where(x > 0, x, F(0.5) * np.expm1(x))),
    (
        "selu",
        {},
        FLAT,
        lambda x: F(1.0507009873554805) * np.where(x > 0, x, F(1.6732632423543772) * (e32(x) - F(1))),
    ),
    ("selu", {}, FLAT, lambda x: np.where(x > 0, F(1.05070098) * x, F(1.7580993408473766) * np.expm1(x))),
    (
        "softplus",
        {"beta": 1.0, "threshold": 20.0},
        FLAT,
        lambda x: np.where(x > 20, x, np.log(F(1) + e32(x))),
    ),
    ("softplus", {"beta": 1.0, "threshold": 20.0}, FLAT, lambda x: np.where(x > 20, x, np.log1p(e32(x)))),
    (
        "softplus",
        {"beta": 2.0, "threshold": 20.0},
        FLAT,
        lambda x: np.where(x * 2 > 20, x, np.log1p(e32(x * F(2))) / 2),
    ),
    (
        "softplus",
        {"beta": 1.0, "threshold": 20.0},
        FLAT,
        lambda x: np.maximum(x, F(0)) + np.log1p(e32(-np.abs(x))),
    ),
    ("hardtanh", {"min_val": -1.0, "max_val": 1.0}, FLAT, lambda x: np.minimum(np.maximum(x, F(-1)), F(1))),
    ("hardsigmoid", {}, FLAT, lambda x: np.minimum(np.maximum(x + F(3), F(0)), F(6)) / F(6)),
    ("hardsigmoid", {}, FLAT, lambda x: np.minimum(np.maximum(x * F(1 / 6) + F(0.5), F(0)), F(1))),
    ("hardswish", {}, FLAT, lambda x: x * np.minimum(np.maximum(x + F(3), F(0)), F(6)) / F(6)),
    ("leaky_relu", {"negative_slope": 0.01}, FLAT, lambda x: np.where(x > 0, x, x * F(0.01))),
    ("softsign", {}, FLAT, lambda x: x / (F(1) + np.abs(x))),
    ("mish", {}, FLAT, lambda x: x * np.tanh(np.where(x > 20, x, np.log1p(e32(x))))),
    ("mish", {}, FLAT, lambda x: x * np.tanh(np.log(F(1) + e32(x)))),
    ("clamp", {"min": -1.0, "max": None}, FLAT, lambda x: np.maximum(x, F(-1))),
    ("exp", {}, FLAT, e32),
    ("log", {}, FLAT, np.log),
    ("sqrt", {}, FLAT, np.sqrt),
    ("rsqrt", {}, FLAT, lambda x: F(1) / np.sqrt(x)),
    ("abs", {}, FLAT, np.abs),
    ("neg", {}, FLAT, lambda x: -x),
    ("square", {}, FLAT, lambda x: x * x),
    ("add", {"alpha": 1}, [(65,), (65,)], lambda a, b: a + b),
    ("add", {"alpha": 1}, [(5, 13), (13,)], lambda a, b: a + b),
    ("sub", {"alpha": 1}, [(65,), (65,)], lambda a, b: a - b),
    ("mul", {}, [(65,), (65,)], lambda a, b: a * b),
    ("div", {}, [(65,), (65,)], lambda a, b: a / b),
    ("div", {}, [(65,), (65,)], lambda a, b: a * (F(1) / b)),
    ("maximum", {}, [(65,), (65,)], np.maximum),
    ("minimum", {}, [(65,), (65,)], np.minimum),
    ("axpy", {"alpha": 0.5}, [(65,), (65,)], lambda x, y: F(0.5) * x + y),
    ("axpy", {"alpha": -2.0}, [(65,), (65,)], lambda x, y: (-2.0 * x.astype(float) + y).astype(F)),
    ("sum", {"dim": None, "keepdim": False}, FLAT, lambda x: sequential(x)),
    ("sum", {"dim": None, "keepdim": False}, FLAT, lambda x: np.sum(x, dtype=F)),
    ("sum", {"dim": 1, "keepdim": False}, ROWS, lambda x: sequential(x[:, ::-1])),
    ("sum", {"dim": 0, "keepdim": False}, ROWS, lambda x: sequential(x.T)),
    ("mean", {"dim": 1, "keepdim": False}, ROWS, lambda x: sequential(x) / F(33)),
    ("mean", {"dim": None, "keepdim": False}, FLAT, lambda x: sequential(x * F(1 / 257))),
    ("max", {"dim": 1, "keepdim": False}, ROWS, lambda x: x.max(1)),
    ("min", {"dim": None, "keepdim": False}, FLAT, lambda x: x.min()),
    ("argmax", {"dim": 1, "keepdim": False}, ROWS, lambda x: x.argmax(1)),
    ("argmax", {"dim": 1, "keepdim": False}, ROWS, lambda x: 32 - x[:, ::-1].argmax(1)),
    ("argmin", {"dim": None, "keepdim": False}, FLAT, lambda x: x.argmin()),
    ("softmax", {"dim": -1}, ROWS, lambda x: softmax(x)),
    ("softmax", {"dim": -1}, ROWS, online_softmax),
    ("log_softmax", {"dim": -1}, ROWS, lambda x: shifted(x) - np.log(sequential(e32(shifted(x))))[:, None]),
    (
        "log_softmax",
        {"dim": -1},
        ROWS,
        lambda x: x - (x.max(1) + np.log(sequential(e32(shifted(x)))))[:, None],
    ),
    ("layer_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, layer_norm),
    ("layer_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, lambda x: layer_norm(x, one_pass=True)),
    ("layer_norm", {"normalized_shape": (33,), "eps": 1e-5}, [(5, 33), (33,), (33,)], layer_norm),
    ("rms_norm", {"normalized_shape": (33,), "eps": 1e-5}, [(5, 33), (33,)], lambda x, w: rms(x) * w),
    ("rms_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, lambda x: rms(x)),
    ("matmul", {}, [(7, 33), (33, 5)], product),
    ("matmul", {}, [(7, 33), (33, 5)], lambda a, b: a @ b),
    ("matmul", {}, [(3, 7, 9), (3, 9, 5)], product),
    ("matmul_tn", {}, [(33, 7), (33, 5)], lambda a, b: product(a.T, b)),
    ("matmul_nt", {}, [(7, 33), (5, 33)], lambda a, b: product(a, b.T)),
    ("matmul_tt", {}, [(33, 7), (5, 33)], lambda a, b: product(a.T, b.T)),
    ("linear", {}, [(7, 33), (5, 33), (5,)], lambda x, w, b: product(x, w.T) + b),
    ("linear", {}, [(7, 33), (5, 33), (5,)], lambda x, w, b: bias_first(x, w, b)),
    ("transpose", {}, [(5, 7)], lambda x: x.T),
    ("conv1d", {"padding": 0}, [(33,), (5,)], lambda x, w: conv(x, w, 0, 0)),
    ("conv1d", {"padding": "same"}, [(33,), (5,)], lambda x, w: conv(x, w, 2, 2)),
    ("conv1d", {"padding": "same"}, [(33,), (4,)], lambda x, w: conv(x, w, 1, 2)),
    ("max_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: pool(x, 2)),
]
WRONG: list[tuple[str, dict[str, Any], Shapes, Formula]] = [
    ("relu", {}, FLAT, lambda x: np.maximum(x, F(1e-6))),
    ("relu", {}, FLAT, np.abs),
    ("gelu", {"approximate": "none"}, FLAT, lambda x: gelu_tanh(x)),
    (
        "gelu",
        {"approximate": "tanh"},
        FLAT,
        lambda x: F(0.5) * x * (F(1) + np.tanh(F(0.797884) * (x + F(0.0447) * x**3))),
    ),
    ("gelu", {"approximate": "none"}, FLAT, lambda x: x * (F(1) + erf(x * F(0.70710678)).astype(F))),
    ("sigmoid", {}, FLAT, lambda x: F(1) / (F(1) + e32(x))),
    ("tanh", {}, FLAT, lambda x: x - x**3 / F(3)),
    ("silu", {}, FLAT, sigmoid),
    ("elu", {"alpha": 0.5}, FLAT, lambda x: np.where(x > 0, x, e32(x) - F(1))),
    ("selu", {}, FLAT, lambda x: F(1.0507) * np.where(x > 0, x, F(1.67326) * (e32(x) - F(1)))),
    ("softplus", {"beta": 1.0, "threshold": 20.0}, FLAT, lambda x: np.log(F(1) + e32(x))),
    (
        "softplus",
        {"beta": 2.0, "threshold": 20.0},
        FLAT,
        lambda x: np.where(x * 2 > 20, x, np.log1p(e32(x * F(2)))),
    ),
    ("hardtanh", {"min_val": -1.0, "max_val": 1.0}, FLAT, lambda x: np.minimum(np.maximum(x, F(0)), F(1))),
    ("hardsigmoid", {}, FLAT, lambda x: np.minimum(np.maximum(x * F(0.2) + F(0.5), F(0)), F(1))),
    ("hardswish", {}, FLAT, lambda x: x * np.minimum(np.maximum(x + F(3), F(0)), F(6))),
    ("leaky_relu", {"negative_slope": 0.01}, FLAT, lambda x: np.where(x > 0, x, x * F(0.1))),
    ("softsign", {}, FLAT, lambda x: x / (F(1) + x)),
    ("mish", {}, FLAT, lambda x: np.tanh(np.log1p(e32(x)))),
    ("clamp", {"min": -1.0, "max": None}, FLAT, lambda x: np.minimum(x, F(-1))),
    ("exp", {}, FLAT, lambda x: F(2) ** x),
    ("log", {}, FLAT, np.log2),
    ("sqrt", {}, FLAT, lambda x: np.sqrt(x + F(1e-5))),
    ("rsqrt", {}, FLAT, np.sqrt),
    ("abs", {}, FLAT, lambda x: x),
    ("neg", {}, FLAT, lambda x: np.where(x > 0, -x, x)),
    ("square", {}, FLAT, lambda x: x),
    ("add", {"alpha": 1}, [(65,), (65,)], lambda a, b: a - b),
    ("sub", {"alpha": 1}, [(65,), (65,)], lambda a, b: b - a),
    ("mul", {}, [(65,), (65,)], lambda a, b: a * b + F(1e-5)),
    ("div", {}, [(65,), (65,)], lambda a, b: a / (b + F(1e-6))),
    ("maximum", {}, [(65,), (65,)], lambda a, b: a),
    ("minimum", {}, [(65,), (65,)], np.maximum),
    ("axpy", {"alpha": 0.5}, [(65,), (65,)], lambda x, y: F(0.5) * y + x),
    ("axpy", {"alpha": 0.5}, [(65,), (65,)], lambda x, y: F(0.5) * x),
    ("sum", {"dim": None, "keepdim": False}, FLAT, lambda x: sequential(x[1:])),
    ("sum", {"dim": 1, "keepdim": False}, ROWS, lambda x: sequential(x[:, :32])),
    ("sum", {"dim": None, "keepdim": False}, FLAT, lambda x: sequential(x.astype(np.float16).astype(F))),
    ("mean", {"dim": 1, "keepdim": False}, ROWS, lambda x: sequential(x) / F(32)),
    ("max", {"dim": 1, "keepdim": False}, ROWS, lambda x: np.maximum(x.max(1), F(0))),
    ("max", {"dim": 1, "keepdim": False}, ROWS, lambda x: x[:, :32].max(1)),
    ("min", {"dim": None, "keepdim": False}, FLAT, lambda x: x.max()),
    ("argmax", {"dim": 1, "keepdim": False}, ROWS, lambda x: np.minimum(x.argmax(1), 31)),
    ("argmin", {"dim": None, "keepdim": False}, FLAT, lambda x: x.argmax()),
    ("softmax", {"dim": -1}, ROWS, lambda x: e32(x) / sequential(e32(x))[:, None]),
    ("softmax", {"dim": -1}, ROWS, lambda x: e32(shifted(x)) / sequential(e32(shifted(x))[:, :32])[:, None]),
    ("log_softmax", {"dim": -1}, ROWS, lambda x: np.log(softmax(x))),
    ("layer_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, lambda x: layer_norm(x, eps=1e-3)),
    (
        "layer_norm",
        {"normalized_shape": (33,), "eps": 1e-5},
        ROWS,
        lambda x: layer_norm(x) * F(np.sqrt(32 / 33)),
    ),
    ("layer_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, lambda x: x),
    (
        "layer_norm",
        {"normalized_shape": (33,), "eps": 1e-5},
        [(5, 33), (33,), (33,)],
        lambda x, w, b: layer_norm(x),
    ),
    ("rms_norm", {"normalized_shape": (33,), "eps": 1e-5}, ROWS, lambda x: layer_norm(x)),
    ("matmul", {}, [(7, 33), (33, 5)], lambda a, b: product(a[:, :32], b[:32])),
    ("matmul", {}, [(7, 8), (8, 5)], lambda a, b: product(tf32(a), tf32(b))),
    ("matmul", {}, [(7, 7), (7, 7)], lambda a, b: product(a.T, b)),
    ("matmul_tn", {}, [(7, 7), (7, 7)], product),
    ("matmul_nt", {}, [(7, 7), (7, 7)], product),
    ("matmul_tt", {}, [(7, 7), (7, 7)], product),
    ("linear", {}, [(7, 33), (5, 33), (5,)], lambda x, w, b: product(x, w.T)),
    ("transpose", {}, [(5, 5)], lambda x: x),
    ("conv1d", {"padding": 0}, [(33,), (5,)], lambda x, w: conv(x, w[::-1], 0, 0)),
    ("conv1d", {"padding": "same"}, [(33,), (4,)], lambda x, w: conv(x, w, 2, 1)),
    ("max_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: np.maximum(pool(x, 2), F(0))),
    ("max_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: pool(x, 2, np.mean)),
]


def gelu_tanh(x: Any) -> Any:
    return F(0.5) * x * (F(1) + np.tanh(F(0.7978845608) * (x + F(0.044715) * x * x * x)))


def shifted(x: Any) -> Any:
    return x - x.max(-1)[:, None]


def softmax(x: Any) -> Any:
    return e32(shifted(x)) / sequential(e32(shifted(x)))[:, None]


def rms(x: Any) -> Any:
    return x / np.sqrt(sequential(x * x) / F(x.shape[-1]) + F(1e-5))[..., None]


def bias_first(x: Any, w: Any, b: Any) -> Any:
    terms = x[:, None, :] * w[None, :, :]
    start = np.broadcast_to(b[None, :, None], (x.shape[0], b.size, 1))
    return sequential(np.concatenate([start, terms], axis=2))


def tf32(x: Any) -> Any:
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(F)


def judge(
    op_name: str, options: dict[str, Any], shapes: Shapes, formula: Formula, kind: str, seed: int
) -> Comparison:
    """What the gate would say of this formula on this data."""
    import torch

    from fuzz.oracle import Expected
    from fuzz.oracle_child import evaluate
    from specs.reference_ops import _interval as iv

    op = load()[op_name]
    full = {o.name: o.default for o in op.options} | options
    arrays = [
        values.fill(Recipe(kind, seed + i), numel(s), "f32", operand).reshape(s)
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


def named(entry: tuple[str, dict[str, Any], Shapes, Formula]) -> str:
    return f"{entry[0]}-{'-'.join(map(str, entry[1].values()))}-{len(entry[2])}"


@pytest.mark.parametrize("entry", RIGHT, ids=named)
def test_right_formula_passes_on_every_kind_of_values(
    entry: tuple[str, dict[str, Any], Shapes, Formula],
) -> None:
    for kind in values.ORDINARY:
        for seed in range(3):
            found = judge(*entry, kind, seed)
            assert found.mismatch is None, f"false alarm on {kind}/{seed}: {found.mismatch}"


@pytest.mark.parametrize("entry", WRONG, ids=named)
def test_wrong_formula_is_caught(entry: tuple[str, dict[str, Any], Shapes, Formula]) -> None:
    caught = [k for k in values.ORDINARY for seed in range(3) if judge(*entry, k, seed).mismatch is not None]
    assert caught, "no kind of values tells this mistake from the right formula"


@pytest.mark.parametrize("entry", RIGHT, ids=named)
def test_ordinary_values_are_really_checked(entry: tuple[str, dict[str, Any], Shapes, Formula]) -> None:
    found = judge(*entry, "uniform", 1)
    assert found.checked > 0


def test_every_op_has_a_right_and_a_wrong_formula() -> None:
    assert {e[0] for e in RIGHT} == set(load())
    assert {e[0] for e in WRONG} == set(load())
