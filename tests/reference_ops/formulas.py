"""The ops as people write them, in numpy on float32 arrays, each operation rounded as a kernel's would be.

``RIGHT`` holds the usual ways to write each op, ``WRONG`` the same with one usual mistake:
(op, options, shapes of the inputs, formula).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

F = np.float32
Formula = Callable[..., Any]
Shapes = list[tuple[int, ...]]


def erf(x: Any) -> Any:
    return torch.erf(torch.from_numpy(np.asarray(x, np.float64))).numpy()


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


def erf_by_polynomial(x: Any) -> Any:
    a = np.abs(x)
    q = F(1) / (F(1) + F(0.3275911) * a)
    total = F(1.061405429)
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        total = F(c) + q * total
    return np.copysign(F(1) - q * total * e32(-a * a), x)


def softmax_by_exp2(x: Any) -> Any:
    scaled = x * F(1.44269504)
    e = np.exp2(scaled - x.max(-1, keepdims=True) * F(1.44269504), dtype=F)
    return e * (F(1) / sequential(e)[..., None])


def rope(x: Any, c: Any, s: Any) -> Any:
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def half_turned(x: Any) -> Any:
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([-b, a], axis=-1)


def rope_pairs(x: Any, c: Any, s: Any) -> Any:
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, b * c + a * s], axis=-1).reshape(x.shape)


def mlp(x: Any, g: Any, u: Any, d: Any) -> Any:
    opened = product(x, g)
    return product(opened * sigmoid(opened) * product(x, u), d)


def gelu_exact(x: Any) -> Any:
    return F(0.5) * x * (F(1) + erf(x * F(0.70710678)).astype(F))


FLAT: Shapes = [(257,)]
ROWS: Shapes = [(5, 33)]
Entry = tuple[str, dict[str, Any], Shapes, Formula]
ROPE = "rotary_embedding"
SDPA, T2, T3 = "scaled_dot_product_attention", "conv_transpose2d", "conv_transpose3d"
RIGHT: list[Entry] = [
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
    ("softmax", {"dim": -1}, ROWS, lambda x: softmax_by_exp2(x)),
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
    ("einsum", {"equation": "bij,jk->bik"}, [(2, 7, 33), (33, 5)], product),
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
    (
        "conv2d",
        {"padding": 0},
        [(2, 3, 6, 7), (4, 3, 3, 2), (4,)],
        lambda x, w, b: conv_nd(x, w) + b[:, None, None],
    ),
    (
        "conv2d",
        {"padding": 1, "stride": 2},
        [(1, 2, 7, 7), (3, 2, 3, 3)],
        lambda x, w: conv_nd(x, w, 1)[:, :, ::2, ::2],
    ),
    ("conv3d", {"padding": 0}, [(1, 2, 4, 5, 3), (3, 2, 2, 2, 2)], lambda x, w: conv_nd(x, w)),
    ("conv1d", {"padding": 0}, [(2, 3, 9), (4, 3, 3)], lambda x, w: conv_nd(x, w)),
    ("conv_transpose1d", {"stride": 2}, [(2, 3, 5), (3, 4, 3)], lambda x, w: conv_transposed(x, w, 2)),
    (
        "conv_transpose2d",
        {},
        [(2, 3, 4, 5), (3, 2, 3, 2), (2,)],
        lambda x, w, b: conv_transposed(x, w) + b[:, None, None],
    ),
    (
        "conv_transpose3d",
        {"stride": 2},
        [(1, 2, 3, 2, 3), (2, 2, 2, 2, 2)],
        lambda x, w: conv_transposed(x, w, 2),
    ),
    ("max_pool1d", {"kernel_size": 3}, [(2, 10)], lambda x: x[:, :9].reshape(2, 3, 3).max(-1)),
    ("max_pool3d", {"kernel_size": 2}, [(2, 4, 4, 5)], lambda x: windows(x, 2).max(-1)),
    ("avg_pool1d", {"kernel_size": 3}, [(2, 10)], lambda x: sequential(x[:, :9].reshape(2, 3, 3)) / F(3)),
    ("avg_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: sequential(windows(x, 2, 2) * F(0.25))),
    ("avg_pool3d", {"kernel_size": 2}, [(2, 4, 4, 5)], lambda x: sequential(windows(x, 2)) / F(8)),
    ("cumsum", {"dim": -1}, ROWS, lambda x: np.cumsum(x, axis=-1, dtype=F)),
    ("cumsum", {"dim": -1}, ROWS, lambda x: tree_scan(x)),
    ("cumsum", {"dim": 0}, ROWS, lambda x: np.cumsum(x, axis=0, dtype=F)),
    ("cumprod", {"dim": -1}, ROWS, lambda x: np.cumprod(x, axis=-1, dtype=F)),
    ("mse_loss", {}, [(5, 33), (5, 33)], lambda x, t: sequential(((x - t) ** 2).reshape(-1)) / F(165)),
    ("mse_loss", {"reduction": "none"}, [(65,), (65,)], lambda x, t: (x - t) ** 2),
    ("l1_loss", {"reduction": "sum"}, [(65,), (65,)], lambda x, t: sequential(np.abs(x - t))),
    (
        "smooth_l1_loss",
        {"beta": 0.5},
        [(65,), (65,)],
        lambda x, t: sequential(smooth(x - t, F(0.5)) / F(0.5)) / F(65),
    ),
    ("huber_loss", {"delta": 0.5}, [(65,), (65,)], lambda x, t: sequential(smooth(x - t, F(0.5))) / F(65)),
    (
        "kl_div",
        {"reduction": "batchmean"},
        [(5, 33), (5, 33)],
        lambda x, t: kl(x, t) / F(5),
    ),
    ("cosine_similarity", {"dim": 1}, [(5, 33), (5, 33)], lambda a, b: cosine(a, b)),
    ("norm", {"dim": 1}, ROWS, lambda x: np.sqrt(sequential(x * x))),
    ("norm", {"p": 1}, ROWS, lambda x: sequential(np.abs(x).reshape(-1))),
    ("pow", {"exponent": 3.0}, FLAT, lambda x: x * x * x),
    ("pow", {"exponent": 0.5}, FLAT, lambda x: np.power(x, F(0.5))),
    (
        "group_norm",
        {"num_groups": 2},
        [(2, 4, 9), (4,), (4,)],
        lambda x, w, b: grouped(x, 2) * w[:, None] + b[:, None],
    ),
    ("instance_norm", {}, [(2, 3, 4, 5)], lambda x: layer_norm(x.reshape(2, 3, 20)).reshape(x.shape)),
    ("batch_norm", {"training": True}, [(4, 3, 5)], lambda x: batch(x)),
    (
        "batch_norm",
        {},
        [(4, 3, 5), (3,), (3,)],
        lambda x, m, v: (x - m[:, None]) / np.sqrt(v[:, None] + F(1e-5)),
    ),
    (
        "cross_entropy",
        {},
        [(5, 33), (5,)],
        lambda x, t: -sequential(log_softmax(x)[range(5), t.astype(int)]) / F(5),
    ),
    (SDPA, {}, [(2, 5, 8), (2, 7, 8), (2, 7, 3)], lambda q, k, v: attend(q, k, v)),
    (
        "scaled_dot_product_attention",
        {"is_causal": True},
        [(7, 8), (7, 8), (7, 3)],
        lambda q, k, v: attend(q, k, v, True),
    ),
    ("triplet_margin_loss", {}, [(5, 33)] * 3, lambda a, p, n: sequential(triplet(a, p, n)) / F(5)),
    ("prod", {"dim": 1}, ROWS, lambda x: np.prod(x, axis=1, dtype=F)),
    ("prod", {"dim": None}, [(7,)], lambda x: np.prod(x[::-1], dtype=F)),
    ("logsumexp", {"dim": 1}, ROWS, lambda x: x.max(1) + np.log(sequential(e32(shifted(x))))),
    ("relu6", {}, FLAT, lambda x: np.minimum(np.maximum(x, F(0)), F(6))),
    ("erf", {}, FLAT, lambda x: erf(x).astype(F)),
    ("erf", {}, FLAT, lambda x: erf_by_polynomial(x)),
    ("sin", {}, FLAT, lambda x: np.sin(x.astype(float)).astype(F)),
    ("cos", {}, FLAT, lambda x: np.cos(x.astype(float)).astype(F)),
    (ROPE, {}, [(2, 7, 8), (7, 4), (7, 4)], lambda x, c, s: rope(x, c, s)),
    (ROPE, {}, [(2, 7, 8), (7, 8), (7, 8)], lambda x, c, s: x * c + half_turned(x) * s),
    (ROPE, {"interleaved": True}, [(7, 8), (7, 4), (7, 4)], lambda x, c, s: rope_pairs(x, c, s)),
    (ROPE, {"dim": -3}, [(7, 2, 8), (7, 4), (7, 4)], lambda x, c, s: rope(x, c[:, None], s[:, None])),
    ("fused_mlp", {}, [(5, 9), (7, 9), (7, 9), (3, 7)], lambda x, g, u, d: mlp(x, g.T, u.T, d.T)),
    (
        "fused_mlp",
        {"transposed": True, "activation": "gelu"},
        [(5, 9), (9, 7), (9, 7), (7, 3)],
        lambda x, g, u, d: product(gelu_exact(product(x, g)) * product(x, u), d),
    ),
]
WRONG: list[Entry] = [
    ("sin", {}, FLAT, lambda x: x - x**3 / F(6)),
    ("cos", {}, FLAT, lambda x: np.sin(x.astype(float)).astype(F)),
    (ROPE, {}, [(2, 7, 8), (7, 4), (7, 4)], lambda x, c, s: rope(x, c, -s)),
    (ROPE, {}, [(7, 8), (7, 4), (7, 4)], lambda x, c, s: rope_pairs(x, c, s)),
    (ROPE, {"dim": -3}, [(7, 7, 8), (7, 4), (7, 4)], lambda x, c, s: rope(x, c, s)),
    ("fused_mlp", {}, [(5, 9), (7, 9), (7, 9), (3, 7)], lambda x, g, u, d: mlp(x, u.T, g.T, d.T)),
    (
        "fused_mlp",
        {},
        [(5, 9), (7, 9), (7, 9), (3, 7)],
        lambda x, g, u, d: product(product(x, g.T) * product(x, u.T), d.T),
    ),
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
    ("einsum", {"equation": "ij,kj->ik"}, [(7, 7), (7, 7)], product),
    ("matmul_tn", {}, [(7, 7), (7, 7)], product),
    ("matmul_nt", {}, [(7, 7), (7, 7)], product),
    ("matmul_tt", {}, [(7, 7), (7, 7)], product),
    ("linear", {}, [(7, 33), (5, 33), (5,)], lambda x, w, b: product(x, w.T)),
    ("transpose", {}, [(5, 5)], lambda x: x),
    ("conv1d", {"padding": 0}, [(33,), (5,)], lambda x, w: conv(x, w[::-1], 0, 0)),
    ("conv1d", {"padding": "same"}, [(33,), (4,)], lambda x, w: conv(x, w, 2, 1)),
    ("max_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: np.maximum(pool(x, 2), F(0))),
    ("max_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: pool(x, 2, np.mean)),
    ("conv2d", {"padding": 0}, [(1, 2, 6, 6), (3, 2, 3, 3)], lambda x, w: conv_nd(x, w[:, :, ::-1, ::-1])),
    ("conv3d", {"padding": 0}, [(1, 2, 4, 4, 4), (3, 2, 2, 2, 2)], lambda x, w: conv_nd(x[:, :1], w[:, :1])),
    (
        "conv_transpose1d",
        {"stride": 2},
        [(2, 3, 5), (3, 4, 3)],
        lambda x, w: conv_transposed(x, w[:, :, ::-1], 2),
    ),
    (
        "conv_transpose2d",
        {},
        [(1, 3, 4, 4), (3, 2, 3, 3)],
        lambda x, w: conv_transposed(x, w.transpose(0, 1, 3, 2)),
    ),
    (
        "conv_transpose3d",
        {},
        [(1, 2, 3, 3, 3), (2, 2, 2, 2, 2)],
        lambda x, w: conv_transposed(x, w * F(1.00001)),
    ),
    ("max_pool1d", {"kernel_size": 3}, [(2, 10)], lambda x: x[:, :9].reshape(2, 3, 3)[..., :2].max(-1)),
    ("max_pool3d", {"kernel_size": 2}, [(2, 4, 4, 5)], lambda x: windows(x, 2)[..., 1:].max(-1)),
    ("avg_pool1d", {"kernel_size": 3}, [(2, 10)], lambda x: sequential(x[:, :9].reshape(2, 3, 3)) / F(2)),
    ("avg_pool2d", {"kernel_size": 2}, [(3, 8, 7)], lambda x: windows(x, 2, 2).max(-1)),
    ("avg_pool3d", {"kernel_size": 2}, [(2, 4, 4, 5)], lambda x: sequential(windows(x, 2)) / F(4)),
    ("cumsum", {"dim": -1}, ROWS, lambda x: np.cumsum(x, axis=-1, dtype=F) - x),
    ("cumprod", {"dim": -1}, ROWS, lambda x: np.cumprod(x[:, ::-1], axis=-1, dtype=F)[:, ::-1]),
    ("mse_loss", {}, [(5, 33), (5, 33)], lambda x, t: sequential(((x - t) ** 2).reshape(-1)) / F(33)),
    ("l1_loss", {"reduction": "sum"}, [(65,), (65,)], lambda x, t: sequential(x - t)),
    ("smooth_l1_loss", {"beta": 0.5}, [(65,), (65,)], lambda x, t: sequential(smooth(x - t, F(0.5))) / F(65)),
    ("huber_loss", {"delta": 0.5}, [(65,), (65,)], lambda x, t: sequential(smooth(x - t, F(1))) / F(65)),
    (
        "kl_div",
        {"reduction": "mean"},
        [(5, 33), (5, 33)],
        lambda x, t: kl(x, t) / F(5),
    ),
    ("cosine_similarity", {"dim": 1}, [(5, 33), (5, 33)], lambda a, b: sequential(a * b)),
    ("norm", {"dim": 1}, ROWS, lambda x: sequential(x * x)),
    ("pow", {"exponent": 3.0}, FLAT, lambda x: np.abs(x) * x * x),
    ("group_norm", {"num_groups": 2}, [(2, 4, 9)], lambda x: grouped(x, 4)),
    ("instance_norm", {}, [(2, 3, 4, 5)], lambda x: layer_norm(x)),
    ("batch_norm", {"training": True}, [(4, 3, 5)], lambda x: layer_norm(x)),
    ("cross_entropy", {}, [(5, 33), (5,)], lambda x, t: -sequential(x[range(5), t.astype(int)]) / F(5)),
    (
        "scaled_dot_product_attention",
        {},
        [(2, 5, 8), (2, 7, 8), (2, 7, 3)],
        lambda q, k, v: attend(q * F(2), k, v),
    ),
    (
        "scaled_dot_product_attention",
        {"is_causal": True},
        [(7, 8), (7, 8), (7, 3)],
        lambda q, k, v: attend(q, k, v),
    ),
    ("triplet_margin_loss", {}, [(5, 33)] * 3, lambda a, p, n: sequential(triplet(a, n, p)) / F(5)),
    ("prod", {"dim": 1}, ROWS, lambda x: np.prod(x[:, 1:], axis=1, dtype=F)),
    ("logsumexp", {"dim": 1}, ROWS, lambda x: np.log(sequential(e32(x)))),
    ("relu6", {}, FLAT, lambda x: np.maximum(x, F(0))),
    ("erf", {}, FLAT, np.tanh),
]


def conv_nd(x: Any, w: Any, pad: int = 0) -> Any:
    """Cross-correlation, terms summed left to right."""
    n = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(pad, pad)] * n]).astype(F)
    out = [x.shape[2 + i] - w.shape[2 + i] + 1 for i in range(n)]
    total = np.zeros((x.shape[0], w.shape[0], *out), F)
    for at in np.ndindex(*w.shape[1:]):
        part = x[(slice(None), at[0], *[slice(a, a + o) for a, o in zip(at[1:], out, strict=True)])]
        total = total + part[:, None] * w[(slice(None), *at)].reshape(1, -1, *[1] * n)
    return total


def conv_transposed(x: Any, w: Any, stride: int = 1) -> Any:
    n = w.ndim - 2
    out = [(x.shape[2 + i] - 1) * stride + w.shape[2 + i] for i in range(n)]
    total = np.zeros((x.shape[0], w.shape[1], *out), F)
    for c in range(w.shape[0]):
        for at in np.ndindex(*w.shape[2:]):
            place = [slice(a, a + (x.shape[2 + i] - 1) * stride + 1, stride) for i, a in enumerate(at)]
            total[(slice(None), slice(None), *place)] += x[:, c][:, None] * w[(c, slice(None), *at)].reshape(
                1, -1, *[1] * n
            )
    return total


def windows(x: Any, k: int, n: int = 3) -> Any:
    """Windows of the last n dims, flattened into a new last one."""
    lead, dims = x.shape[:-n], [d // k for d in x.shape[-n:]]
    cut = x[(..., *[slice(0, d * k) for d in dims])].reshape(*lead, *[v for d in dims for v in (d, k)])
    outer = [len(lead) + 2 * i for i in range(n)]
    return cut.transpose(*range(len(lead)), *outer, *[o + 1 for o in outer]).reshape(*lead, *dims, -1)


def tree_scan(x: Any) -> Any:
    step = 1
    while step < x.shape[-1]:
        x = np.concatenate([x[..., :step], x[..., step:] + x[..., :-step]], axis=-1)
        step *= 2
    return x


def smooth(d: Any, delta: Any) -> Any:
    d = np.abs(d)
    return np.where(d < delta, F(0.5) * d * d, delta * (d - F(0.5) * delta))


def kl(x: Any, t: Any) -> Any:
    return sequential((t * (np.log(t) - x)).reshape(-1))


def cosine(a: Any, b: Any) -> Any:
    return sequential(a * b) / (
        np.sqrt(sequential(a * a)).clip(F(1e-8)) * np.sqrt(sequential(b * b)).clip(F(1e-8))
    )


def grouped(x: Any, groups: int) -> Any:
    return layer_norm(x.reshape(x.shape[0], groups, -1)).reshape(x.shape)


def batch(x: Any) -> Any:
    return layer_norm(x.transpose(1, 0, 2).reshape(3, -1)).reshape(3, 4, 5).transpose(1, 0, 2)


def log_softmax(x: Any) -> Any:
    return shifted(x) - np.log(sequential(e32(shifted(x))))[:, None]


def attend(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    scores = product(q, np.swapaxes(k, -1, -2)) * F(q.shape[-1] ** -0.5)
    if causal:
        scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -F(np.inf))
    e = e32(scores - scores.max(-1, keepdims=True))
    return product(e, v) / sequential(e)[..., None]


def triplet(a: Any, p: Any, n: Any) -> Any:
    near, far = (np.sqrt(sequential((a - o + F(1e-6)) ** 2)) for o in (p, n))
    return np.maximum(near - far + F(1), F(0))


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
