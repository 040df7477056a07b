"""Which values may a right floating-point kernel compute? Interval arithmetic over float64 tensors, rounding included.

An :class:`Interval` holds, for each element, bounds of everything that an evaluation of the same formula in the
format ``fmt`` may give: each operation widens by the error that IEEE 754 and the CUDA programming guide's table of
functions allow, sums of k terms by ``k·u·Σ|terms|`` for any order (Higham, Accuracy and Stability, §4.2), with
overflow and flush-to-zero. ``nan`` marks elements where such an evaluation may give NaN.
Runs in the oracle's process only (imports torch).

Invariant: if a and b contain what a kernel holds, ``op(a, b)`` contains what it holds after one rounded operation.

Example::

    x = Interval.exact(torch.tensor([1e-3], dtype=torch.float64), F32)
    y = x * 0.5 * (1 + (x * 0.70710678).erf())
    y.lo, y.hi        # 5.0039885e-04 ± a few 2**-24
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

INF = math.inf


@dataclass(frozen=True, slots=True)
class Format:
    """``unit`` is the unit roundoff (half an ulp of 1), ``tiny`` the largest magnitude that may be flushed to zero."""

    name: str
    unit: float
    largest: float
    tiny: float


F32 = Format("f32", 2.0**-24, (2 - 2.0**-23) * 2.0**127, 2.0**-126)
F16 = Format("f16", 2.0**-11, 65504.0, 2.0**-24)
BF16 = Format("bf16", 2.0**-8, (2 - 2.0**-7) * 2.0**127, 2.0**-126)
F64 = Format("f64", 2.0**-53, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022)
EXACT = Format("int", 0.0, INF, 0.0)
FORMATS = {f.name: f for f in (F32, F16, BF16, F64)}


@dataclass(frozen=True, slots=True)
class Interval:
    """``lo <= value <= hi`` element by element; ``nan``: may also be NaN."""

    lo: Tensor
    hi: Tensor
    nan: Tensor
    fmt: Format

    # --- making ---------------------------------------------------------------------------------------------------

    @staticmethod
    def exact(value: Tensor, fmt: Format) -> Interval:
        value = value.to(torch.float64)
        return Interval(value, value, torch.isnan(value), fmt)

    def const(self, value: float) -> Interval:
        """A literal of the kernel's source: rounded once if the format does not hold it."""
        one = torch.full((), float(value), dtype=torch.float64)
        exact = Interval.exact(one, self.fmt)
        held = math.frexp(value)[0] / self.fmt.unit if self.fmt.unit and math.isfinite(value) else 0.0
        return exact if held == round(held) else exact.rounded()

    def other(self, value: Interval | float) -> Interval:
        return value if isinstance(value, Interval) else self.const(float(value))

    # --- rounding -------------------------------------------------------------------------------------------------

    def rounded(self, ulps: float = 0.5, absolute: float = 0.0) -> Interval:
        """Widened by an error of ``ulps`` (of the result) and ``absolute`` units, by overflow and flush to zero."""
        f = self.fmt
        if f.unit == 0.0:
            return self
        relative = 2 * ulps * f.unit
        slack = absolute * 2 * f.unit + f.tiny
        lo = torch.where(torch.isinf(self.lo), self.lo, self.lo - relative * self.lo.abs() - slack)
        hi = torch.where(torch.isinf(self.hi), self.hi, self.hi + relative * self.hi.abs() + slack)
        return _make(lo, hi, self.nan, f)

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.nan, self.fmt)

    def __add__(self, value: Interval | float) -> Interval:
        b = self.other(value)
        lo, hi = self.lo + b.lo, self.hi + b.hi
        clash = ((self.hi == INF) & (b.lo == -INF)) | ((self.lo == -INF) & (b.hi == INF))
        return _make(lo, hi, self.nan | b.nan | clash, self.fmt).rounded()

    __radd__ = __add__

    def __sub__(self, value: Interval | float) -> Interval:
        return self + -self.other(value)

    def __rsub__(self, value: Interval | float) -> Interval:
        return self.other(value) + -self

    def __mul__(self, value: Interval | float) -> Interval:
        b = self.other(value)
        products = [x * y for x in (self.lo, self.hi) for y in (b.lo, b.hi)]
        clash = (_zero(self) & _infinite(b)) | (_infinite(self) & _zero(b))
        lo, hi = _hull(products)
        return _make(lo, hi, self.nan | b.nan | clash, self.fmt).rounded()

    __rmul__ = __mul__

    def reciprocal(self) -> Interval:
        """1/x, unrounded; contains 0 where a fast division may give it (divisor above 2**126)."""
        lo, hi = 1.0 / self.hi, 1.0 / self.lo
        crosses = (self.lo <= 0) & (self.hi >= 0)
        lo = torch.where(crosses, torch.where((self.lo == 0) & (self.hi > 0), 1.0 / self.hi, -INF), lo)
        hi = torch.where(crosses, torch.where((self.hi == 0) & (self.lo < 0), 1.0 / self.lo, INF), hi)
        if self.fmt.name == "f32":
            lo = torch.where(self.hi > 2.0**126, lo.clamp(max=0.0), lo)
            hi = torch.where(self.lo < -(2.0**126), hi.clamp(min=0.0), hi)
        return _make(lo, hi, self.nan, self.fmt)

    def __truediv__(self, value: Interval | float) -> Interval:
        """At most 2 ulp (``__fdividef``), or a multiplication by a rounded reciprocal."""
        b = self.other(value)
        r = b.reciprocal()
        products = [x * y for x in (self.lo, self.hi) for y in (r.lo, r.hi)]
        clash = (_zero(self) & _zero(b)) | (_infinite(self) & _infinite(b))
        lo, hi = _hull(products)
        return _make(lo, hi, self.nan | b.nan | clash, self.fmt).rounded(2)

    def __rtruediv__(self, value: Interval | float) -> Interval:
        return self.other(value) / self

    def square(self) -> Interval:
        hi = torch.maximum(self.lo.square(), self.hi.square())
        lo = torch.where(_zero(self), torch.zeros_like(hi), torch.minimum(self.lo.square(), self.hi.square()))
        return _make(lo, hi, self.nan, self.fmt).rounded().at_least(0.0)

    def abs(self) -> Interval:
        hi = torch.maximum(self.lo.abs(), self.hi.abs())
        lo = torch.where(_zero(self), torch.zeros_like(hi), torch.minimum(self.lo.abs(), self.hi.abs()))
        return Interval(lo, hi, self.nan, self.fmt)

    # --- exact selections -----------------------------------------------------------------------------------------

    def maximum(self, value: Interval | float) -> Interval:
        b = self.other(value)
        return Interval(
            torch.maximum(self.lo, b.lo), torch.maximum(self.hi, b.hi), self.nan | b.nan, self.fmt
        )

    def minimum(self, value: Interval | float) -> Interval:
        b = self.other(value)
        return Interval(
            torch.minimum(self.lo, b.lo), torch.minimum(self.hi, b.hi), self.nan | b.nan, self.fmt
        )

    def at_least(self, value: float) -> Interval:
        """Clamped because the value is known to be there (no operation of the kernel)."""
        return Interval(self.lo.clamp(min=value), self.hi.clamp(min=value), self.nan, self.fmt)

    def hull(self, other: Interval) -> Interval:
        """Either of two formulas."""
        lo, hi = torch.minimum(self.lo, other.lo), torch.maximum(self.hi, other.hi)
        return Interval(lo, hi, self.nan | other.nan, self.fmt)

    def where_below(self, point: float, below: Interval, above: Interval, *, width: float = 0.0) -> Interval:
        """``below`` if this < point else ``above``; both where this (± ``width`` units) may be on either side."""
        edge = abs(point) * width * 2 * self.fmt.unit
        return _pick(self.hi < point - edge, self.lo >= point + edge, below, above)

    def structural(self, change: Callable[[Tensor], Tensor]) -> Interval:
        """A view, permutation, gather: the same on both bounds."""
        return Interval(change(self.lo), change(self.hi), change(self.nan), self.fmt)

    # --- functions ------------------------------------------------------------------------------------------------

    def exp(self) -> Interval:
        """expf: 2 ulp; __expf: 2 + 1.16·|x| ulp; exp2f(x·log2 e) lies between."""
        farthest = 1.2 * math.log(self.fmt.largest)  # beyond it the result is 0 or infinite anyway

        def end(x: Tensor, sign: float) -> Tensor:
            error = (2 + 1.2 * x.abs().clamp(max=farthest)) * 2 * self.fmt.unit
            return torch.exp(x) * (1 + sign * error).clamp(min=0.0)

        slack = self.fmt.tiny
        return _make(end(self.lo, -1.0) - slack, end(self.hi, 1.0) + slack, self.nan, self.fmt).at_least(0.0)

    def log(self) -> Interval:
        """logf: 1 ulp; __logf: 3 ulp, or 2**-21.41 near 1."""
        bad = self.lo < 0
        lo, hi = torch.log(self.lo.clamp(min=0.0)), torch.log(self.hi.clamp(min=0.0))
        return _make(lo, hi, self.nan | bad, self.fmt).rounded(3, 3.1)

    def sqrt(self) -> Interval:
        bad = self.lo < 0
        lo, hi = torch.sqrt(self.lo.clamp(min=0.0)), torch.sqrt(self.hi.clamp(min=0.0))
        return _make(lo, hi, self.nan | bad, self.fmt).rounded(2).at_least(0.0)

    def rsqrt(self) -> Interval:
        """rsqrtf: 2 ulp; also 1/sqrtf(x)."""
        bad = self.lo < 0
        lo, hi = torch.rsqrt(self.hi.clamp(min=0.0)), torch.rsqrt(self.lo.clamp(min=0.0))
        return _make(lo, hi, self.nan | bad, self.fmt).rounded(3).at_least(0.0)

    def tanh(self) -> Interval:
        """tanhf: 2 ulp; by exponentials (terms of size 1): a few units absolute."""
        return (
            _make(torch.tanh(self.lo), torch.tanh(self.hi), self.nan, self.fmt).rounded(2, 4).clip(-1.0, 1.0)
        )

    def erf(self) -> Interval:
        """erff: 2 ulp; the usual rational approximations, whose terms are of size 1: a few units absolute."""
        return _make(torch.erf(self.lo), torch.erf(self.hi), self.nan, self.fmt).rounded(2, 4).clip(-1.0, 1.0)

    def wave(self, function: Callable[[Tensor], Tensor]) -> Interval:
        """sinf and cosf: 2 ulp; __sinf and __cosf: 2**-21.41 within a period. No steeper than 1."""
        middle, radius = function((self.lo + self.hi) / 2), (self.hi - self.lo) / 2
        bad = self.nan | _infinite(self)
        return _make(middle - radius, middle + radius, bad, self.fmt).rounded(2, 3.1).clip(-1.0, 1.0)

    def clip(self, low: float, high: float) -> Interval:
        """Known range, up to one rounding of its ends."""
        low, high = low - 2 * abs(low) * self.fmt.unit, high + 2 * abs(high) * self.fmt.unit
        return Interval(self.lo.clamp(low, high), self.hi.clamp(low, high), self.nan, self.fmt)

    def sigmoid(self) -> Interval:
        """1/(1 + exp(-x)), or (1 + tanh(x/2))/2."""
        by_exp = 1.0 / (1.0 + (-self).exp())
        by_tanh = 0.5 * (1.0 + (0.5 * self).tanh())
        return by_exp.hull(by_tanh)

    # --- reductions -----------------------------------------------------------------------------------------------

    def sum(self, dim: Sequence[int], keepdim: bool = False, extra: int = 2) -> Interval:
        """Any order, any tree: (k - 1 + extra)·u·Σ|terms| around the sum."""
        k = math.prod(self.lo.shape[d] for d in dim)
        magnitude = _sum(torch.maximum(self.lo.abs(), self.hi.abs()), dim, keepdim)
        error = magnitude * _gamma(k + extra, self.fmt) + k * self.fmt.tiny
        lo, hi = _sum(self.lo, dim, keepdim) - error, _sum(self.hi, dim, keepdim) + error
        nan = _any(self.nan, dim, keepdim)
        if self.fmt.unit:  # partial sums of one sign may overflow although the sum does not
            positive = _sum(self.hi.clamp(min=0.0), dim, keepdim) > self.fmt.largest * (1 - 1e-3)
            negative = _sum(self.lo.clamp(max=0.0), dim, keepdim) < -self.fmt.largest * (1 - 1e-3)
            hi, lo = torch.where(positive, INF, hi), torch.where(negative, -INF, lo)
            nan = nan | (positive & negative)
        return _make(lo, hi, nan, self.fmt)

    def amax(self, dim: Sequence[int], keepdim: bool = False) -> Interval:
        if not dim:
            return self
        ends = [end.amax(tuple(dim), keepdim) for end in (self.lo, self.hi)]
        return Interval(ends[0], ends[1], _any(self.nan, dim, keepdim), self.fmt)

    def amin(self, dim: Sequence[int], keepdim: bool = False) -> Interval:
        return -((-self).amax(dim, keepdim))

    def contract(self, value: Interval, product: Callable[[Tensor, Tensor], Tensor], k: int) -> Interval:
        """A bilinear sum of k products (matmul, convolution): (k + 2)·u·Σ|a·b|, plus the operands' own widths."""
        a, b = self, value
        a_mid, b_mid = (a.lo + a.hi) / 2, (b.lo + b.hi) / 2
        a_rad, b_rad = (a.hi - a.lo) / 2, (b.hi - b.lo) / 2
        reach = product(a_mid.abs() + a_rad, b_mid.abs() + b_rad)
        width = (
            reach - product(a_mid.abs(), b_mid.abs())
            if bool((a_rad != 0).any() or (b_rad != 0).any())
            else 0.0
        )
        error = width + reach * _gamma(k + 2, self.fmt) + (k + 1) * self.fmt.tiny
        middle = product(a_mid, b_mid)
        lo, hi = middle - error, middle + error
        nan = torch.zeros_like(lo, dtype=torch.bool)
        if self.fmt.unit:
            over = reach > self.fmt.largest * (1 - 1e-3)
            lo, hi, nan = torch.where(over, -INF, lo), torch.where(over, INF, hi), nan | over
        if bool(a.nan.any()) or bool(b.nan.any()):
            touched = product(a.nan.double(), torch.ones_like(b_mid)) + product(
                torch.ones_like(a_mid), b.nan.double()
            )
            nan = nan | (touched > 0)
        return _make(lo, hi, nan, self.fmt)


def _gamma(k: int, fmt: Format) -> float:
    ku = k * fmt.unit
    return INF if ku >= 0.5 else ku / (1 - ku)


def _make(lo: Tensor, hi: Tensor, nan: Tensor, fmt: Format) -> Interval:
    """Cleans up: NaN bounds become the whole line, and what exceeds the format may be infinite."""
    lo = torch.where(torch.isnan(lo), -INF, lo)
    hi = torch.where(torch.isnan(hi), INF, hi)
    if fmt.unit:
        hi = torch.where(hi > fmt.largest, INF, hi)
        lo = torch.where(lo < -fmt.largest, -INF, lo)
        lo = torch.where((lo > fmt.largest) & torch.isfinite(lo), fmt.largest, lo)
        hi = torch.where((hi < -fmt.largest) & torch.isfinite(hi), -fmt.largest, hi)
    lo, hi, nan = torch.broadcast_tensors(lo, hi, nan)
    return Interval(lo, hi, nan, fmt)


def _hull(candidates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Smallest and largest; 0·inf counts as 0 (its NaN is recorded apart)."""
    clean = [torch.nan_to_num(c, nan=0.0, posinf=INF, neginf=-INF) for c in candidates]
    stacked = torch.stack(torch.broadcast_tensors(*clean))
    return stacked.amin(0), stacked.amax(0)


def _zero(a: Interval) -> Tensor:
    return (a.lo <= 0) & (a.hi >= 0)


def _infinite(a: Interval) -> Tensor:
    return torch.isinf(a.lo) | torch.isinf(a.hi)


def _sum(value: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    return value.sum(tuple(dim), keepdim=keepdim) if dim else value


def _any(value: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    return _sum(value.double(), dim, keepdim) > 0


def _pick(surely_a: Tensor, surely_b: Tensor, a: Interval, b: Interval) -> Interval:
    both = a.hull(b)
    lo = torch.where(surely_a, a.lo, torch.where(surely_b, b.lo, both.lo))
    hi = torch.where(surely_a, a.hi, torch.where(surely_b, b.hi, both.hi))
    nan = torch.where(surely_a, a.nan, torch.where(surely_b, b.nan, both.nan))
    return Interval(lo, hi, nan, a.fmt)


def axes(value: Interval, dim: object) -> tuple[int, ...]:
    """A ``dim`` option as a tuple of axes; None is all of them."""
    rank = value.lo.dim()
    if dim is None:
        return tuple(range(rank))
    chosen = dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(int(d) % max(rank, 1) for d in chosen)


# --- formulas that several ops share --------------------------------------------------------------------------------


def mean(value: Interval, dim: object, keepdim: bool = False) -> Interval:
    """Sum and division by k, or the sum of terms divided first."""
    axis = axes(value, dim)
    k = math.prod(value.lo.shape[d] for d in axis)
    return value.sum(axis, keepdim, extra=4) / float(max(k, 1))


def averaged(value: Interval, pooled: Callable[[Tensor], Tensor], k: int) -> Interval:
    """Means over windows of k elements; ``pooled`` is linear and monotone."""
    reach = pooled(torch.maximum(value.lo.abs(), value.hi.abs()))
    error = reach * _gamma(k + 3, value.fmt) + (k + 1) * value.fmt.tiny
    over = reach * k > value.fmt.largest * (1 - 1e-3)
    lo = torch.where(over, -INF, pooled(value.lo) - error)
    hi = torch.where(over, INF, pooled(value.hi) + error)
    return _make(lo, hi, (pooled(value.nan.double()) > 0) | over, value.fmt)


def scanned(value: Interval, dim: int) -> Interval:
    """Prefix sums by any tree: k·u·Σ|terms| of the longest prefix's k, but each prefix's own magnitude."""
    reach = torch.maximum(value.lo.abs(), value.hi.abs()).cumsum(dim)
    k = value.lo.shape[dim]
    error = reach * _gamma(k + 1, value.fmt) + k * value.fmt.tiny
    over = reach > value.fmt.largest * (1 - 1e-3)
    lo = torch.where(over, -INF, value.lo.cumsum(dim) - error)
    hi = torch.where(over, INF, value.hi.cumsum(dim) + error)
    return _make(lo, hi, (value.nan.double().cumsum(dim) > 0) | over, value.fmt)


def multiplied(value: Interval, dim: int) -> Interval:
    """Prefix products by any tree: (1 ± u)**k, unless some partial product may leave the format's range."""
    ends = [e.abs().clamp(min=1e-320).log2().abs() for e in (value.lo, value.hi)]
    travel = torch.maximum(*ends).cumsum(dim)
    k = value.lo.shape[dim]
    product = ((value.lo + value.hi) / 2).cumprod(dim)
    middle = torch.maximum(value.lo.abs(), value.hi.abs()).clamp(min=1e-320)
    own = ((value.hi - value.lo) / middle).cumsum(dim)
    error = product.abs() * (_gamma(k + 1, value.fmt) + own * 2) + k * value.fmt.tiny
    zero = ((value.lo == 0) & (value.hi == 0)).double().cumsum(dim) > 0
    lost = (travel > -math.log2(value.fmt.tiny or 2.0**-1000)) & ~zero
    infinite = torch.where(lost, INF, 0.0)
    return _make(product - error - infinite, product + error + infinite, value.nan | lost, value.fmt)


def reduced_loss(each: Interval, reduction: str) -> Interval:
    """The ``reduction`` of a loss: none, sum, mean."""
    if reduction == "none":
        return each
    axis = tuple(range(each.lo.dim()))
    return each.sum(axis) if reduction == "sum" else mean(each, axis)


def exponentials(x: Interval, axis: Sequence[int]) -> tuple[Interval, Interval, Interval]:
    """(max, exp(x - max), their sum). The online form rescales its sum up to k times: 5k roundings instead of k.

    ``exp2(x·log2 e - max·log2 e)``, as attention kernels write it, rounds both products: |x|·u and |max|·u more.
    """
    m = x.amax(axis, keepdim=True)
    d, slack = x - m, scaled_apart(x, m)
    e = _make(d.lo - slack, d.hi + slack, d.nan, x.fmt).exp()
    k = math.prod(x.lo.shape[d] for d in axis)
    return m, e, e.sum(axis, keepdim=True, extra=4 * k + 2).at_least(0.0)


def softmax(x: Interval, dim: object) -> Interval:
    m, e, total = exponentials(x, axes(x, dim))
    least = (1.0 - 0.5 * min(1.0, 1e3 * x.fmt.unit)) * torch.exp(-scaled_apart(m, m))
    total = Interval(total.lo.maximum(least), total.hi.maximum(least), total.nan, x.fmt)
    return (e / total).at_least(0.0)


def scaled_apart(x: Interval, m: Interval) -> Tensor:
    """What the difference of two rounded products is off by, in units of x."""
    ends = [torch.maximum(v.lo.abs(), v.hi.abs()) for v in (x, m)]
    return torch.nan_to_num(2.0 * x.fmt.unit * (ends[0] + ends[1]), nan=0.0, posinf=0.0)


def normalized(
    x: Interval, dim: object, eps: float, weight: Interval | None, bias: Interval | None
) -> Interval:
    """(x - mean) / sqrt(var + eps) · weight + bias along dim, by two passes, one pass, or folded."""
    axis = axes(x, tuple(dim) if isinstance(dim, range) else dim)
    m = mean(x, axis, keepdim=True)
    two_pass = mean((x - m).square(), axis, keepdim=True)
    one_pass = mean(x.square(), axis, keepdim=True) - m.square()
    return affine(x, m, (two_pass.hull(one_pass) + eps).rsqrt(), weight, bias)


def index_of_extreme(got: Tensor, x: Interval, dim: object) -> Tensor:
    """Whether each index names an element that may be the largest along dim (None: of the flattened tensor)."""
    lo, hi = (x.lo.reshape(-1), x.hi.reshape(-1)) if dim is None else (x.lo, x.hi)
    axis = 0 if dim is None else int(dim)  # type: ignore[call-overload]
    flat = got.to(torch.int64).reshape(lo.amax(axis, keepdim=True).shape)
    inside = (flat >= 0) & (flat < lo.shape[axis])
    chosen = hi.gather(axis, flat.clamp(0, lo.shape[axis] - 1))
    return (inside & (chosen >= lo.amax(axis, keepdim=True))).reshape(got.shape)


def channelwise(value: Interval | None, lead: tuple[int, ...], rank: int) -> Interval | None:
    """A vector of per-channel values, shaped ``lead`` and padded with ones to ``rank``."""
    if value is None:
        return None
    return value.structural(lambda t: t.reshape(*lead, *(1,) * (rank - len(lead))))


def affine(
    x: Interval, m: Interval, root: Interval, weight: Interval | None, bias: Interval | None
) -> Interval:
    """(x - m)·root·weight + bias, written out or folded into x·s + t."""
    scale = root if weight is None else root * weight
    direct = (x - m) * root
    if weight is not None:
        direct = (direct * weight).hull((x - m) * scale)
    shift = -(m * scale) if bias is None else bias - m * scale
    folded = x * scale + shift
    return (direct if bias is None else direct + bias).hull(folded)


def powered(x: Interval, p: float) -> Interval:
    """xᵖ: 8 ulp, or a product of p factors."""
    ends = [x.lo.pow(p), x.hi.pow(p)]
    lo, hi = torch.minimum(*ends), torch.maximum(*ends)
    whole = p == int(p)
    bad = torch.zeros_like(x.nan) if whole else x.lo < 0
    if whole and int(p) % 2 == 0:
        crosses = (x.lo < 0) & (x.hi > 0)
        lo = torch.where(crosses, torch.zeros_like(lo) if p > 0 else lo, lo)
    if p < 0:
        crosses = (x.lo <= 0) & (x.hi >= 0) & (x.lo != x.hi)
        lo, hi = torch.where(crosses, -INF, lo), torch.where(crosses, INF, hi)
    return _make(lo, hi, x.nan | bad, x.fmt).rounded(max(8.0, abs(p)))


def attention(query: Interval, key: Interval, value: Interval, causal: bool, scale: float | None) -> Interval:
    """softmax(q·kᵀ·scale)·v; the scale on q, on the scores, or as a division."""
    d = query.lo.shape[-1]
    factor = d**-0.5 if scale is None else scale
    scores = factor * query.contract(key, lambda a, b: a @ b.mT, d + 2)
    if causal:
        hidden = torch.ones(scores.lo.shape[-2:], dtype=torch.bool).triu(1)
        lo, hi = (torch.where(hidden, -INF, end) for end in (scores.lo, scores.hi))
        scores = Interval(lo, hi, scores.nan & ~hidden, scores.fmt)
    weights = softmax(scores, -1)
    return weights.contract(value, lambda a, b: a @ b, 5 * value.lo.shape[-2])
