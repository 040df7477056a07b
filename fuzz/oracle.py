"""What the outputs must be, asked of another process: the reference in float64 on the CPU, and bounds of every element.

``Oracle.expect(request)`` -> Expected for each output. torch is imported in the child only; the child serves requests
over pipes until it is closed. Invariant: the parent never unpickles or executes anything of the child; a child that
ends, is slow or answers nonsense is an :class:`OracleError`, never a match.

Example::

    with Oracle(sandbox) as oracle:
        out, = oracle.expect(Question({"kind": "op", "op": "relu", "options": {}}, "f32", (Tensor("f32", (4,), raw),)))
        out.value, out.low, out.high, out.may_be_nan
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.isolation import pipes
from verifier.isolation.child import Limits, python_argv
from verifier.isolation.sandbox import Sandbox
from verifier.isolation.service import start, stop

HELLO_SECONDS = 120.0
"""Until the child has imported torch."""
TORCH_MISSING = (
    "the reference needs PyTorch: pip install torch --index-url https://download.pytorch.org/whl/cpu"
)


class OracleError(RuntimeError):
    """The oracle cannot answer; one line that says why. ``missing``: because torch is not installed.

    ``raised``: the reference itself raised, for these inputs.
    """

    def __init__(self, message: str, *, missing: bool = False, raised: bool = False) -> None:
        super().__init__(message)
        self.missing = missing
        self.raised = raised


@dataclass(frozen=True, slots=True)
class Tensor:
    """Elements as raw bytes of a kernel dtype."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """``reference`` is one of the kinds of ``fuzz.oracle_child``; ``format`` the format a kernel computes in."""

    reference: dict[str, Any]
    format: str
    inputs: tuple[Tensor, ...]
    names: tuple[str, ...] = ()
    """For expressions: the name of each input in it."""
    got: tuple[Tensor, ...] = ()
    """For references that judge by themselves (arg-reductions): what the kernel gave."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One output, flat. ``accepted``: the reference's own judgement of ``got``, where it has one."""

    shape: tuple[int, ...]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    may_be_nan: NDArray[np.bool_]
    accepted: NDArray[np.bool_] | None = None


class Oracle:
    """A running oracle. ``readable``: files that a user's reference or problem needs; ``deadline`` in time.monotonic()."""

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        readable: Sequence[Path] = (),
        seconds: float = 60.0,
        deadline: float = float("inf"),
    ) -> None:
        self._seconds, self._deadline = seconds, deadline
        self._child = start(
            python_argv("fuzz.oracle_child"),
            sandbox=sandbox,
            limits=Limits(cpu_seconds=100_000, memory_mb=0),
            readable=readable,
        )
        self._ready = False
        self._begun: Question | None = None
        self.torch = ""
        """Version of torch, once the first answer is there."""

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        stop(self._child)

    def describe(self, reference: dict[str, Any]) -> dict[str, Any]:
        """What the child knows of a user's function or model without inputs (parameter shapes)."""
        return self._ask({"do": "describe", "reference": reference}, [])[0]

    def draw(self, reference: dict[str, Any], seed: int) -> list[NDArray[np.float64]]:
        """The problem's own inputs at these sizes, flat."""
        answer, blobs = self._ask({"do": "draw", "reference": reference, "seed": seed}, [])
        return [np.frombuffer(b, dtype="<f8") for b in blobs[: len(answer["shapes"])]]

    def sample(self, reference: dict[str, Any], seed: int) -> tuple[dict[str, Any], list[bytes]]:
        """The model at these sizes: see ``fuzz.models.sample``."""
        return self._ask({"do": "sample", "reference": reference, "seed": seed}, [])

    def begin(self, question: Question) -> None:
        """Ask, so that the answer is worked out while the kernel runs. ``expect`` with the same question reads it."""
        self._drain()
        self._write(*_frame(question))
        self._begun = question

    def expect(self, question: Question) -> tuple[Expected, ...]:
        if self._begun is None or self._begun != question:
            self.begin(question)
        self._begun = None
        return _answers(*self._read())

    def _ask(self, header: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        self._drain()
        self._write(header, blobs)
        return self._read()

    def _drain(self) -> None:
        """An answer that nobody came for."""
        if self._begun is not None:
            self._begun = None
            with contextlib.suppress(OracleError):
                self._read()

    def _write(self, header: dict[str, Any], blobs: Sequence[bytes]) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            if not self._ready:
                hello, _ = pipes.read(self._child.stdout.fileno(), max(self._seconds, HELLO_SECONDS))
                if "error" in hello:
                    raise OracleError(TORCH_MISSING, missing=True)
                self._ready, self.torch = True, str(hello["torch"])
            pipes.write(self._child.stdin, header, blobs)
        except pipes.PipeError as error:
            self.close()
            raise OracleError(f"the reference could not be evaluated: {error}") from error

    def _read(self) -> tuple[dict[str, Any], list[bytes]]:
        assert self._child.stdout is not None
        left = max(1.0, self._deadline - time.monotonic())
        try:
            answer, data = pipes.read(self._child.stdout.fileno(), min(self._seconds, left))
        except pipes.PipeError as error:
            self.close()
            raise OracleError(f"the reference could not be evaluated: {error}") from error
        if "error" in answer:
            raise OracleError(str(answer["error"]), raised=bool(answer.get("raised")))
        return answer, data


def _frame(question: Question) -> tuple[dict[str, Any], list[bytes]]:
    tensors = [*question.inputs, *question.got]
    return {
        "do": "expect",
        "reference": question.reference,
        "format": question.format,
        "inputs": [[t.dtype, list(t.shape)] for t in question.inputs],
        "got": [[t.dtype, list(t.shape)] for t in question.got],
        "names": list(question.names),
    }, [t.data for t in tensors]


def _answers(header: dict[str, Any], blobs: list[bytes]) -> tuple[Expected, ...]:
    answers = []
    parts = iter(blobs)
    try:
        for output in header["outputs"]:
            shape = tuple(int(n) for n in output["shape"])
            value, low, high = (np.frombuffer(next(parts), dtype=np.float64) for _ in range(3))
            nan = np.frombuffer(next(parts), dtype=np.bool_)
            accepted = np.frombuffer(next(parts), dtype=np.bool_) if output["judged"] else None
            answers.append(Expected(shape, value, low, high, nan, accepted))
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise OracleError("the reference's process sent something that is no answer") from error
    return tuple(answers)
