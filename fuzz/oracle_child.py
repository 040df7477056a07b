"""The oracle's process: ``python -m fuzz.oracle_child`` serves requests over stdin/stdout. Only here torch runs.

References: ``{"kind": "op", "op", "options"}`` · ``{"kind": "expression", "text"}`` over the inputs' names ·
``{"kind": "function", "path" | "module", "function"}`` · ``{"kind": "model", "path", …}`` (see ``fuzz.models``).
Each is evaluated in float64, its bounds by interval arithmetic (ops directly, the rest through ``fuzz.tracing``).
Invariant: the float64 value lies within the bounds, or the answer is an error (the tool's own fault, never a match).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any, cast

from verifier.isolation import pipes


class Inconsistent(ArithmeticError):
    """The reference lies outside its own bounds: a fault of an op file, never of the kernel."""


def main() -> None:
    """Serve until the parent closes the pipe."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a reference that prints must not write into the frames
    try:
        import torch
    except (ImportError, OSError) as error:
        pipes.write(out, {"error": f"torch: {error}"})
        return
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    pipes.write(out, {"torch": torch.__version__})
    while True:
        try:
            header, blobs = pipes.read(0)
        except pipes.PipeError:
            return
        try:
            answer, data = serve(header, blobs)
        except Exception as error:  # whatever the reference raises is an answer too
            answer, data = {"error": _line(error), "raised": not _ours(error)}, []
        pipes.write(out, answer, data)


def _line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else "") if _ours(error) else f"{type(error).__name__}: {text[0] if text else ''}"


def _ours(error: Exception) -> bool:
    """Refusals of this tool; anything else was raised by the reference, for these sizes."""
    return type(error).__name__ in ("DoesNotFit", "Untraceable", "Inconsistent", "Unsaid")


def serve(header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Answer one request."""
    if header["do"] == "describe":
        from fuzz import models

        return models.describe(header["reference"]), []
    if header["do"] == "draw":
        from fuzz import models

        arrays = models.draw(header["reference"], header["seed"])
        return {"shapes": [list(a.shape) for a in arrays]}, [a.astype("<f8").tobytes() for a in arrays]
    if header["do"] == "sample":
        from fuzz import models

        return models.sample(header["reference"], header["seed"])
    import numpy as np

    from specs.reference_ops import _interval as iv

    inputs = [_tensor(d, s, b) for (d, s), b in zip(header["inputs"], blobs, strict=False)]
    got = [_tensor(d, s, b) for (d, s), b in zip(header["got"], blobs[len(inputs) :], strict=True)]
    fmt = iv.FORMATS.get(header["format"], iv.EXACT)
    outputs, parts = [], []
    for value, bounds, judged in evaluate(header["reference"], inputs, header["names"], got, fmt):
        _consistent(value, bounds, judged is not None)
        outputs.append({"shape": list(value.shape), "judged": judged is not None})
        arrays = [value, bounds.lo, bounds.hi]
        parts += [
            t.broadcast_to(value.shape).contiguous().numpy().astype(np.float64).tobytes() for t in arrays
        ]
        parts.append(bounds.nan.broadcast_to(value.shape).contiguous().numpy().tobytes())
        if judged is not None:
            parts.append(judged.contiguous().numpy().tobytes())
    return {"outputs": outputs}, parts


def _tensor(dtype: str, shape: Sequence[int], raw: bytes) -> Any:
    """Integers stay int64, floats become float64, both exactly."""
    import torch

    from fuzz.dtypes import decode

    return torch.from_numpy(decode(raw, dtype).copy()).reshape(tuple(shape))


def evaluate(
    reference: dict[str, Any], inputs: list[Any], names: list[str], got: list[Any], fmt: Any
) -> list[tuple[Any, Any, Any]]:
    """(value, bounds, judgement of got or None) of each output."""
    import torch

    from fuzz import models, tracing
    from specs.reference_ops import _interval as iv

    match reference["kind"]:
        case "op":
            from specs.reference_ops import load

            op = load()[reference["op"]]
            options = {k: tuple(v) if isinstance(v, list) else v for k, v in reference["options"].items()}
            operands = dict(zip(reference["operands"], inputs, strict=True))
            exact = {name: iv.Interval.exact(t, fmt) for name, t in operands.items()}
            value = call(op, operands, options)
            if op.accepts is not None:
                judged = op.accepts(got[0].reshape(value.shape), **exact, **options)
                return [(value.double(), iv.Interval.exact(value, fmt), judged)]
            return [(value.double(), op.bounds(**exact, **options), None)]
        case "expression":
            scope = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, inputs, strict=True))}
            code = compile(reference["text"], "<reference>", "eval")
            return tracing.trace(lambda: eval(code, {"__builtins__": {}}, scope), inputs, got, fmt)
        case "function":
            function = models.user_function(reference)
            return tracing.trace(lambda: function(*inputs), inputs, got, fmt)
        case "model":
            return models.evaluate(reference, inputs, got, fmt)
        case kind:
            raise ValueError(f"unknown kind of reference {kind!r}")


def call(op: Any, operands: dict[str, Any], options: dict[str, Any]) -> Any:
    """The PyTorch callable on float64 (or, for integer data, int64) tensors."""
    if op.reference is not None:
        return op.reference(**operands, **options)
    path, _, name = op.callables[0].rpartition(".")
    function = getattr(importlib.import_module(path), name)
    return cast(Any, function(**operands, **options))


def _consistent(value: Any, bounds: Any, judged: bool) -> None:
    """The reference must lie inside its own bounds."""
    import torch

    if judged:
        return
    finite = torch.isfinite(value) & ~bounds.nan
    outside = finite & ((value < bounds.lo) | (value > bounds.hi))
    # float64 itself rounds: only what exceeds its own error counts
    slack = 2.0**-40 * value.abs()
    outside &= (value < bounds.lo - slack) | (value > bounds.hi + slack)
    if bool(outside.any()):
        where = int(outside.reshape(-1).nonzero()[0])
        raise Inconsistent(f"the bounds of the reference do not contain its own value at element {where}")


if __name__ == "__main__":
    main()
