"""Bounds for a reference that is more than one op: every torch call of it is matched to a reference op.

``trace(thunk, inputs, format)`` runs the thunk in float64 and carries an Interval along with each tensor: a call whose
callable belongs to an op file uses that op's bounds, views and permutations move both ends, and anything else is
refused by name (:class:`Untraceable`), since a tolerance that is not derived would be a guess.

Invariant: a tensor without an interval is an input, a parameter or a constant, hence exact, or is refused.
Runs in the oracle's process only.

Example::

    trace(lambda: torch.relu(x @ w + b), [x, w, b], [], F32)   # [(value, bounds, None)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from specs.reference_ops import Op
from specs.reference_ops import by_callable as ops_by_callable
from specs.reference_ops._interval import Format, Interval, mean

STRUCTURAL = frozenset((
    "view", "reshape", "transpose", "permute", "contiguous", "unsqueeze", "squeeze", "flatten",
    "expand", "clone", "narrow", "select", "movedim", "swapaxes", "__getitem__", "t", "flip", "roll",
    "unfold", "expand_as", "view_as", "diagonal", "diag", "diagflat", "diag_embed", "tril", "triu", "double", "detach", "repeat",
))  # fmt: skip
STRUCTURAL_GETTERS = frozenset((
    "T", "mT", "H", "mH",
))  # fmt: skip
QUERIES = frozenset((
    "size", "dim", "numel", "stride", "is_contiguous", "__len__", "ndimension", "element_size",
    "is_floating_point", "type", "__hash__",
))  # fmt: skip
QUERY_GETTERS = frozenset((
    "shape", "dtype", "device", "ndim", "requires_grad", "is_cuda", "layout", "is_sparse", "is_nested",
    "is_quantized", "names", "grad",
))  # fmt: skip
FACTORIES = frozenset((
    "tensor", "zeros", "ones", "full", "arange", "zeros_like", "ones_like", "full_like", "empty",
    "empty_like", "eye", "linspace",
))  # fmt: skip

IN_PLACE = {f"{n}_": n for n in ("add", "sub", "mul", "div", "relu", "clamp", "sigmoid", "tanh")} | {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div",
}  # fmt: skip

HARMLESS: dict[str, tuple[Any, ...]] = {
    "_stacklevel": (),
    "dtype": (None, torch.float64),
    "ignore_index": (-100,),
    "label_smoothing": (0.0,),
    "dropout_p": (0.0,),
    "momentum": (0.1,),
    "use_input_stats": (True,),
    "return_indices": (False,),
    "out": (None,),
    "inplace": (False,),
    "rounding_mode": (None,),
    "weight": (None,),
    "size_average": (None,),
    "reduce": (None,),
    "log_target": (False,),
    "enable_gqa": (False,),
    "memory_format": (torch.contiguous_format,),
}
"""Arguments that no op file has, and the values with which they change nothing."""


def _normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None) -> Tensor:
    return input / input.norm(p, dim, True).clamp(min=eps).expand_as(input)


DECOMPOSED: dict[str, Callable[..., Any]] = {"normalize": _normalize}
"""Calls that are followed into other ones."""


class Untraceable(ValueError):
    """The reference uses something that has no derived tolerance; the message names it and what to write."""


class _Tracer(TorchFunctionMode):  # type: ignore[misc]
    def __init__(self, fmt: Format) -> None:
        super().__init__()
        self.fmt = fmt
        self.known: dict[int, tuple[Tensor, Interval | None]] = {}
        self.judges: dict[int, Callable[[Tensor], Tensor]] = {}

    def interval(self, value: Any, name: str) -> Any:
        """The interval of a tensor argument; other arguments as they are."""
        if not isinstance(value, Tensor):
            return value
        kept = self.known.get(id(value))
        if kept is None:
            return Interval.exact(value, self.fmt)
        if kept[1] is None:
            raise Untraceable(f"{name} of the indices or side results of another op has no derived tolerance")
        return kept[1]

    def keep(self, value: Tensor, interval: Interval | None) -> None:
        self.known[id(value)] = (value, interval)  # the tensor is held so that its id stays its own

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        dotted = resolve_name(func) or getattr(func, "__name__", "?")
        if dotted.endswith(".__get__"):
            short = dotted.split(".")[-2]
            if short in QUERY_GETTERS:
                return func(*args, **kwargs)
            if short in STRUCTURAL_GETTERS:
                return self._structural(func, dotted, args, kwargs)
            raise Untraceable(f"{dotted} is not known to the tracer")
        short = dotted.rpartition(".")[2]
        if short == "add_" and not args[0].is_floating_point():
            return func(*args, **kwargs)  # a counter of the module's, no part of any result
        if short in IN_PLACE:
            return self._in_place(getattr(Tensor, IN_PLACE[short]), args, kwargs)
        if kwargs.get("inplace") is True:
            return self._in_place(func, args, {**kwargs, "inplace": False})
        if short == "to" and func(*args, **kwargs).dtype == args[0].dtype:
            return self._structural(torch.clone, dotted, args[:1], {})
        if short in DECOMPOSED:
            with self:
                return DECOMPOSED[short](*args, **kwargs)
        if short == "dropout":
            return self._dropout(func, args, kwargs)
        if short == "pad" and (args[2:3] or (kwargs.get("mode", "constant"),)) == ("constant",):
            return self._padded(func, args, kwargs)
        if (
            short in ("max_pool1d", "max_pool2d", "max_pool3d")
            and kwargs.get("ceil_mode")
            and not kwargs.get("return_indices")
        ):
            return self._monotone(func, args, kwargs)
        if short in ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"):
            return self._adaptive(func, int(short[-2]), args, kwargs)
        if dotted in ("torch.min", "torch.max") and len(args) == 2 and isinstance(args[1], Tensor):
            return self.__torch_function__(
                torch.minimum if short == "min" else torch.maximum, types, args, kwargs
            )
        if short in STRUCTURAL:
            return self._structural(func, dotted, args, kwargs)
        op = ops_by_callable().get(dotted)
        if op is not None:
            return self._op(op, func, dotted, args, kwargs)
        if short in QUERIES or (short in FACTORIES and dotted.startswith("torch.")):
            return func(*args, **kwargs)
        if short in ("pow", "__pow__") and args[1:2] in ((2,), (2.0,)):
            return self._apply(func, args, kwargs, self.interval(args[0], dotted).square())
        if short in ("__rsub__", "__rtruediv__", "reciprocal"):
            x = self.interval(args[0], dotted)
            left = 1.0 if short == "reciprocal" else self.interval(args[1], dotted)
            return self._apply(func, args, kwargs, left - x if short == "__rsub__" else left / x)
        if short in ("cat", "concat", "stack"):
            return self._joined(func, dotted, args, kwargs)
        file = f"specs/reference_ops/{short.strip('_')}.py"
        raise Untraceable(f"{dotted} has no reference op, so its tolerance is not known; add {file}")

    def _apply(self, func: Callable[..., Any], args: Any, kwargs: Any, interval: Interval) -> Any:
        value = func(*args, **kwargs)
        self.keep(value, interval)
        return value

    def _op(
        self, op: Op, func: Callable[..., Any], dotted: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        named = bind(op, dotted, args, kwargs)
        intervals = {k: self.interval(v, dotted) for k, v in named.items()}
        first = op.inputs[0].name
        if not isinstance(intervals.get(first), Interval):
            raise Untraceable(f"{dotted} of {type(named.get(first)).__name__} is not known to the tracer")
        operands = {o.name: intervals[o.name] for o in op.inputs if intervals.get(o.name) is not None}
        options = {o.name: intervals.get(o.name, o.default) for o in op.options}
        for option in op.options:
            unsaid = options[option.name] is None and option.name not in intervals
            if unsaid and option.candidates is not None:
                shapes = [tuple(t.lo.shape) for t in operands.values() if isinstance(t, Interval)]
                options[option.name] = option.candidates(shapes)[0]
        value = func(*args, **kwargs)
        if op.accepts is not None:
            accepts = op.accepts
            self.keep(value, None)
            self.judges[id(value)] = lambda got: accepts(got, **operands, **options)
            return value
        bounds = op.bounds(**operands, **options)
        if isinstance(value, tuple):  # torch.max(x, dim=…) gives values and indices
            self.keep(value[0], bounds)
            for extra in value[1:]:
                self.keep(extra, None)
        else:
            self.keep(value, bounds)
        return value

    def _structural(
        self, func: Callable[..., Any], dotted: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        interval = self.interval(args[0], dotted)
        value = func(*args, **kwargs)
        shape_only = dotted.endswith(("expand_as", "view_as"))
        if not shape_only and any(isinstance(a, Tensor) and id(a) in self.known for a in args[1:]):
            raise Untraceable(f"{dotted} with a computed index has no derived tolerance")
        self.keep(value, interval.structural(lambda t: func(t, *args[1:], **kwargs)))
        return value

    def _in_place(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """``func`` is the same operation with a result of its own, which is then copied over the first argument."""
        target = args[0]
        memory = target.untyped_storage().data_ptr()
        others = [t for t, _ in self.known.values() if t is not target]
        if any(t.untyped_storage().data_ptr() == memory for t in others):
            raise Untraceable("the reference changes a tensor in place that it has two views of")
        value = self.__torch_function__(func, (), args, kwargs)
        kept = self.interval(value, "the result")
        target.copy_(value)
        self.keep(target, kept)
        return target

    def _dropout(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        named = dict(zip(("input", "p", "training", "inplace"), args, strict=False)) | kwargs
        if named.get("training", True) and named.get("p", 0.5) != 0.0:
            raise Untraceable("dropout is random, so no two runs can be compared")
        return self._structural(torch.clone, "dropout", [named["input"]], {})

    def _padded(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Padding with a constant, which is exact."""
        x = self.interval(args[0], "pad")
        rest = {k: v for k, v in kwargs.items() if k != "value"}
        fill = kwargs.get("value", args[3] if len(args) > 3 else None)
        lo, hi = (func(t, *args[1:], **kwargs) for t in (x.lo, x.hi))
        nan = func(x.nan.to(torch.float64), *args[1:3], **rest) != 0
        if fill not in (None, 0, 0.0) and Interval.exact(lo, self.fmt).const(float(fill)).lo != float(fill):
            raise Untraceable("padding with a number that the format does not hold has no derived tolerance")
        value = func(*args, **kwargs)
        self.keep(value, Interval(lo, hi, nan, self.fmt))
        return value

    def _monotone(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """An operation that chooses among its input's elements and grows with each."""
        x = self.interval(args[0], "the input")
        lo, hi, nan = (func(t, *args[1:], **kwargs) for t in (x.lo, x.hi, x.nan.to(torch.float64)))
        value = func(*args, **kwargs)
        self.keep(value, Interval(lo, hi, nan > 0, self.fmt))
        return value

    def _adaptive(
        self, func: Callable[..., Any], rank: int, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Means of equal parts of the last ``rank`` dims."""
        x = self.interval(args[0], "the input")
        wanted = args[1] if len(args) > 1 else kwargs["output_size"]
        sizes = list(x.lo.shape[-rank:])
        parts = [wanted] * rank if isinstance(wanted, int) else list(wanted)
        parts = [n if p is None else p for n, p in zip(sizes, parts, strict=True)]
        if any(p < 1 or n % p for n, p in zip(sizes, parts, strict=True)):
            raise Untraceable("adaptive pooling to parts of unequal size has no derived tolerance")
        lead = list(x.lo.shape[:-rank])
        split = [m for n, p in zip(sizes, parts, strict=True) for m in (p, n // p)]
        dims = [len(lead) + 2 * i + 1 for i in range(rank)]
        value = func(*args, **kwargs)
        self.keep(value, mean(x.structural(lambda t: t.reshape(lead + split)), dims))
        return value

    def _joined(
        self, func: Callable[..., Any], dotted: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        parts = [self.interval(t, dotted) for t in args[0]]
        value = func(*args, **kwargs)
        lo, hi, nan = (
            func([getattr(p, end) for p in parts], *args[1:], **kwargs) for end in ("lo", "hi", "nan")
        )
        self.keep(value, Interval(lo, hi, nan, self.fmt))
        return value


def bind(op: Op, dotted: str, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name. Positional ones follow ``op.signature`` (by default: inputs, then options)."""
    signature = op.signature or (*(o.name for o in op.inputs), *(o.name for o in op.options))
    if len(args) > len(signature):
        raise Untraceable(f"{dotted} with {len(args)} positional arguments is not known to the tracer")
    named = dict(zip(signature, args, strict=False))
    named |= {{"axis": "dim"}.get(word, word): value for word, value in kwargs.items()}
    own = {o.name for o in op.inputs} | {o.name for o in op.options}
    for key in [k for k in named if k not in own]:
        value = named.pop(key)
        usual = HARMLESS.get(key, (None, False)) if key in signature or key in HARMLESS else ()
        if key != "_stacklevel" and not any(value is u or (u is not None and value == u) for u in usual):
            raise Untraceable(f"{dotted} with {key}={value!r} is not known to the tracer")
    return {k: tuple(v) if isinstance(v, (list, torch.Size)) else v for k, v in named.items()}


def trace(
    thunk: Callable[[], Any], inputs: Sequence[Tensor], got: Sequence[Tensor], fmt: Format
) -> list[tuple[Any, Any, Any]]:
    """(value, bounds, judgement of got or None) of each output of the thunk."""
    before = [t.clone() for t in inputs]
    with _Tracer(fmt) as tracer:
        result = thunk()
    if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(before, inputs, strict=True)):
        raise Untraceable("the reference changes its inputs in place")
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    answers: list[tuple[Any, Any, Any]] = []
    for place, value in enumerate(outputs):
        if not isinstance(value, Tensor):
            raise Untraceable(f"the reference gives a {type(value).__name__}, not a tensor")
        judge = tracer.judges.get(id(value))
        if judge is not None and place < len(got):
            exact = Interval.exact(value, fmt)
            answers.append((value.double(), exact, judge(got[place].reshape(value.shape))))
            continue
        answers.append((value.double(), tracer.interval(value, "the result"), None))
    return answers
