"""Hand-made results of the three kinds, for every format."""

from __future__ import annotations

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import Span
from specs.policy import PROPERTIES
from specs.results import (
    FileResult,
    Finding,
    GateResult,
    KernelResult,
    Outcome,
    PropertyResult,
    Reason,
    Report,
    Severity,
    ThreadAccess,
    Verdict,
    Witness,
)

RACY = """\
__global__ void row_sum(const float* x, float* y, int n) {
\t__shared__ float scratch[256];
\tscratch[threadIdx.x] = blockIdx.x * 256 + threadIdx.x < n ? x[threadIdx.x] : 0.0f;
\tfloat next = scratch[threadIdx.x + 1];
\ty[blockIdx.x * 256 + threadIdx.x] = next;
}
"""


def contract(name: str = "saxpy", **changes: object) -> Contract:
    span = Span("saxpy.cu", 24)
    launch = Launch(name, (), ("ceil_div(n, 256)", "1", "1"), ("256", "1", "1"), "0", span)
    values: dict[str, object] = {
        "kernel": name,
        "instantiation": (),
        "launch": launch,
        "symbols": (Symbol("n", "dim", low=1),),
        "buffers": (Buffer("x", "f32", "n"),),
        "scalars": (Scalar("n", "i32(n)"),),
        "requires": (Clause("n <= 2147483647", "enforced", Span("saxpy.cu", 20)),),
        "origin": "lifted",
    }
    return Contract(**(values | changes))  # type: ignore[arg-type]


def kernel(name: str = "saxpy", **verdicts: Verdict) -> KernelResult:
    """All properties PROVED unless said otherwise (underscores stand for dashes)."""
    given = {k.replace("_", "-"): v for k, v in verdicts.items()}
    results = []
    for id_ in PROPERTIES:
        verdict = given.get(id_, Verdict.PROVED)
        reason = Reason.BUDGET if verdict is Verdict.UNKNOWN else None
        detail = "the product row * K; a smaller --effort never helps" if reason else ""
        proved = 3 if verdict is Verdict.PROVED else 1
        results.append(PropertyResult(id_, verdict, reason, detail, 3, proved, 0.1, span=Span("saxpy.cu", 9)))
    return KernelResult(name, (), contract(name), tuple(results), Span("saxpy.cu", 7))


def gates(prove: GateResult, sanitize: Outcome = Outcome.PASS) -> tuple[GateResult, ...]:
    return (GateResult("static", Outcome.PASS, 0.1), prove, GateResult("sanitize", sanitize, 1.2))


RACE = Finding(
    id="race-shared",
    severity=Severity.ERROR,
    span=Span("rows.cu", 4, 15),
    message="two threads of a block meet at scratch[1] and no barrier orders them",
    kernel="row_sum",
    witness=Witness(
        grid=(1, 1, 1),
        block=(256, 1, 1),
        shared_bytes=0,
        symbols={"n": 256},
        scalars={"n": 256},
        buffers={"x": 256, "y": 256},
        threads=(
            ThreadAccess((0, 0, 0), (1, 0, 0), "writes scratch[1]", Span("rows.cu", 3)),
            ThreadAccess((0, 0, 0), (0, 0, 0), "reads scratch[1]", Span("rows.cu", 4)),
        ),
        replayed=True,
    ),
    why="whether thread 0 reads the old or the new value is left to chance",
    fix="put __syncthreads(); between line 3 and line 4",
    gate="prove",
)


@pytest.fixture
def passing() -> FileResult:
    absent = dict.fromkeys(("bounds_shared", "race_shared", "barrier_divergence"), Verdict.NOT_APPLICABLE)
    assumption = Clause("contiguous(x)", "assumed", fix="TORCH_CHECK(x.is_contiguous());")
    prove = GateResult("prove", Outcome.PASS, 0.6, kernels=(kernel(**absent),), assumptions=(assumption,))
    return FileResult(
        path="saxpy.cu",
        sha256="0" * 64,
        verdict=Outcome.PASS,
        seconds=1.9,
        gates=gates(prove),
        headline="safe for every allowed launch up to 2^30 elements a buffer; 1 host check missing",
        not_checked=("numerics not checked (no --reference)", "GPU sanitizer not run"),
    )


@pytest.fixture
def failing() -> FileResult:
    note = Finding("lint-bank-conflict", Severity.NOTE, Span("rows.cu", 3), "32-way bank conflict")
    bad = GateResult(
        "prove",
        Outcome.FAIL,
        0.4,
        findings=(note, RACE),
        kernels=(kernel("row_sum", race_shared=Verdict.REFUTED),),
    )
    return FileResult(
        path="rows.cu",
        sha256="1" * 64,
        verdict=Outcome.FAIL,
        seconds=0.8,
        gates=gates(bad, Outcome.FAIL),
        headline="refuted: race-shared (rows.cu:4:15)",
        not_checked=("GPU sanitizer not run",),
        texts={"rows.cu": RACY},
    )


@pytest.fixture
def open_() -> FileResult:
    prove = GateResult("prove", Outcome.INCONCLUSIVE, 9.0, kernels=(kernel(overflow=Verdict.UNKNOWN),))
    return FileResult(
        path="matmul.cu",
        sha256="2" * 64,
        verdict=Outcome.INCONCLUSIVE,
        seconds=9.4,
        gates=gates(prove),
        headline="not decided: saxpy: overflow unknown (line 9), budget",
        reasons=("saxpy: overflow unknown (line 9), budget",),
        not_checked=("GPU sanitizer not run",),
        draft='[kernel.saxpy]\nlaunch = { grid = ["ceil_div(n, 256)"], block = ["256"] }\n',
    )


@pytest.fixture
def broken() -> FileResult:
    return FileResult(
        "bad.cu",
        "",
        Outcome.ERROR,
        0.1,
        (),
        message="bad.cu:3: expected ';'; compile it first",
        bad_input=True,
    )


@pytest.fixture
def report(passing: FileResult, failing: FileResult, open_: FileResult, broken: FileResult) -> Report:
    files = (passing, failing, open_, broken)
    return Report(
        files, True, 1, {"name": "verify-kernel", "version": "0.1.0"}, ("3 files without a kernel skipped",)
    )
