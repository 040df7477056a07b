"""More right kernels with mutants, for the comparison of the fuzz gate's executors: other ops, every element type, two launches.

``MORE`` beside ``benchmarks.fuzz_kernels.EXAMPLES``; ``case_of`` makes the job of any of them and of ``CHAIN``, whose sum
takes two launches.

Example::

    case = case_of("silu", text, folder, sandbox)
    with case.open(lambda kernel, opt: …) as executor: explore(case.job, executor, oracle, Budget(100))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from benchmarks.fuzz_kernels import (
    ADD,
    EXAMPLES,
    FLAT,
    INDEX,
    LINE,
    MATRIX,
    ROWS,
    Example,
    contract_of,
    job_of,
)
from fuzz.binding import bind
from fuzz.case import Job
from fuzz.chain import ChainExecutor, link
from fuzz.executor import Executor
from fuzz.reference import parse
from verifier import frontend, source
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import DeviceText

GRID = "ceil_div(n, 64)"
N = {"n": "i32(n)"}
COLS = {"cols": "i32(cols)"}
PAIR = {"a": (("n",), "in"), "b": (("n",), "in"), "y": (("n",), "out")}
PLUS = "__device__ float plus(float a, float b) { return a + b; }\n"


def pointwise(
    name: str,
    value: str,
    reference: str,
    mutants: tuple[tuple[str, str], ...],
    scalars: str = "",
    type_: str = "float",
) -> Example:
    """``value`` is an expression in ``v``."""
    short = {"float": "f32", "double": "f64"}[type_]
    text = f"""__global__ void {name}(const {type_}* x, {type_}* y, int n{scalars}) {{
    {INDEX}
    if (i < n) {{ {type_} v = x[i]; y[i] = {value}; }}
}}"""
    return Example(text, reference, FLAT, N, GRID, LINE, mutants, {"x": short, "y": short})


def pair(
    name: str,
    type_: str,
    short: str,
    value: str,
    reference: str,
    mutants: tuple[tuple[str, str], ...],
    before: str = "",
) -> Example:
    """``value`` is an expression in ``p`` and ``q``."""
    text = f"""{before}__global__ void {name}(const {type_}* a, const {type_}* b, {type_}* y, int n) {{
    {INDEX}
    if (i < n) {{ {type_} p = a[i], q = b[i]; y[i] = {value}; }}
}}"""
    return Example(text, reference, PAIR, N, GRID, LINE, mutants, dict.fromkeys("aby", short))


def half(name: str, short: str, value: str, reference: str, mutants: tuple[tuple[str, str], ...]) -> Example:
    """In a 16-bit format, computed in float; ``value`` is an expression in ``v``."""
    type_, header = {"f16": ("__half", "cuda_fp16.h"), "bf16": ("__nv_bfloat16", "cuda_bf16.h")}[short]
    to, back = {"f16": ("__half2float", "__float2half"), "bf16": ("__bfloat162float", "__float2bfloat16")}[
        short
    ]
    text = f"""#include <{header}>
__global__ void {name}(const {type_}* x, {type_}* y, int n) {{
    {INDEX}
    if (i < n) {{ float v = {to}(x[i]); y[i] = {back}({value}); }}
}}"""
    return Example(text, reference, FLAT, N, GRID, LINE, mutants, {"x": short, "y": short})


def row(
    name: str, body: str, reference: str, mutants: tuple[tuple[str, str], ...], more: dict[str, Any]
) -> Example:
    """One thread a row; ``in`` and ``out`` are its row."""
    text = f"""__global__ void {name}({more.get("params", "const float* x, float* y, int cols")}) {{
    if (threadIdx.x != 0) return;
    const float* in = x + blockIdx.x * cols;
{body}
}}"""
    buffers = MATRIX | more.get("buffers", {})
    return Example(text, reference, buffers, COLS, "rows", ROWS, mutants, more.get("dtypes", {}))


MORE: dict[str, Example] = {
    "sigmoid": pointwise(
        "sigmoid", "1.0f / (1.0f + expf(-v))", "torch.sigmoid", (("1.0f + expf", "1.001f + expf"), ("(-v)", "(v)"))
    ),
    "tanh_approximate": pointwise(
        "tanh_approximate", "1.0f - 2.0f / (expf(2.0f * v) + 1.0f)", "torch.tanh", (("2.0f * v", "1.99f * v"),)
    ),
    "leaky": pointwise(
        "leaky",
        "v > 0.0f ? v : slope * v",
        "torch.nn.functional.leaky_relu",
        (("slope * v", "-slope * v"), ("v > 0.0f", "v > 1.0f")),
        ", float slope",
    ),
    "elu_alpha": pointwise(
        "elu_alpha",
        "v > 0.0f ? v : alpha * (expf(v) - 1.0f)",
        "torch.nn.functional.elu",
        (("alpha * (expf(v) - 1.0f)", "expf(v) - 1.0f"),),
        ", float alpha",
    ),
    "clip": pointwise(
        "clip",
        "fminf(fmaxf(v, lo), hi)",
        "torch.nn.functional.hardtanh",
        (("fminf(fmaxf(v, lo), hi)", "fmaxf(v, lo)"),),
        ", float lo, float hi",
    ),
    "soft": pointwise(
        "soft",
        "v > 20.0f ? v : log1pf(expf(v))",
        "torch.nn.functional.softplus",
        (("v > 20.0f", "v > 2.0f"), ("log1pf(expf(v))", "logf(expf(v) + 1.01f)")),
    ),
    "root": pointwise(
        "root", "v < 0.0 ? nan(\"\") : sqrt(v)", "torch.sqrt", (("sqrt(v)", "(double)sqrtf((float)v)"),), "", "double"
    ),
    "silu_half": half(
        "silu_half", "f16", "v / (1.0f + expf(-v))", "torch.nn.functional.silu", (("1.0f + expf", "1.02f + expf"),)
    ),
    "square_bf16": half("square_bf16", "bf16", "v * v", "torch.square", (("v * v", "v * v * 1.02f"),)),
    "add_ints": pair(
        "add_ints",
        "int",
        "i32",
        "(int)((unsigned)p + (unsigned)q)",
        "torch.add",
        (("+ (unsigned)q", "- (unsigned)q"),),
    ),
    "multiply": pair("multiply", "double", "f64", "p * q", "torch.mul", (("p * q", "(float)p * (float)q"),)),
    "larger_half": pair(
        "larger_half",
        "__half",
        "f16",
        "__hgt(p, q) ? p : q",
        "torch.maximum",
        (("__hgt", "__hlt"),),
        "#include <cuda_fp16.h>\n",
    ),
    "rms_norm_rows": row(
        "rms_norm_rows",
        """    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += in[c] * in[c];
    float scale = rsqrtf(sum / cols + eps);
    for (int c = 0; c < cols; ++c) y[blockIdx.x * cols + c] = in[c] * scale * gamma[c];""",
        "rms_norm",
        (("* gamma[c]", ""), ("sum / cols", "sum / (cols + 1)")),
        {
            "params": "const float* x, const float* gamma, float* y, int cols, float eps",
            "buffers": {"gamma": (("cols",), "in")},
        },
    ),
    "prefix_sum": row(
        "prefix_sum",
        """    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) { sum += in[c]; y[blockIdx.x * cols + c] = sum; }""",
        "torch.cumsum(x, dim=1)",
        (("sum += in[c]; y[blockIdx.x * cols + c] = sum;", "y[blockIdx.x * cols + c] = sum; sum += in[c];"),),
        {},
    ),
    "log_softmax_rows": row(
        "log_softmax_rows",
        """    float best = in[0], sum = 0.0f;
    for (int c = 1; c < cols; ++c) best = fmaxf(best, in[c]);
    for (int c = 0; c < cols; ++c) sum += expf(in[c] - best);
    for (int c = 0; c < cols; ++c) y[blockIdx.x * cols + c] = in[c] - best - logf(sum);""",
        "torch.log_softmax",
        (("sum = 0.0f", "sum = 1.0f"), ("in[c] - best - logf", "in[c] - logf")),
        {},
    ),
    "mean_rows": row(
        "mean_rows",
        """    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += in[c];
    y[blockIdx.x] = sum / cols;""",
        "torch.mean(x, dim=1)",
        (("c = 0", "c = 1"),),
        {"buffers": {"y": (("rows",), "out")}},
    ),
    "smallest": row(
        "smallest",
        """    float best = INFINITY;
    for (int c = 0; c < cols; ++c) best = in[c] < best ? in[c] : best;
    y[blockIdx.x] = best;""",
        "torch.amin(x, dim=1)",
        (("in[c] < best ?", "in[c] <= -best ?"), ("INFINITY", "0.0f")),
        {"buffers": {"y": (("rows",), "out")}},
    ),
    "squared_error": Example(
        f"""{PLUS}__global__ void squared_error(const float* pred, const float* target, float* loss, int n) {{
    __shared__ float box[64];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += (pred[i] - target[i]) * (pred[i] - target[i]);
    box[threadIdx.x] = sum;
    __syncthreads();{ADD}
    if (threadIdx.x == 0) *loss = box[0] / n;
}}""",
        "torch.nn.functional.mse_loss",
        {"pred": (("n",), "in"), "target": (("n",), "in"), "loss": ((), "out")},
        N,
        "1",
        LINE,
        (("box[0] / n", "box[0]"), ("(pred[i] - target[i]) * (pred[i] - target[i])", "fabsf(pred[i] - target[i])")),
    ),
    "dense": Example(
        """__global__ void dense(const float* x, const float* weight, const float* bias, float* y, int m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m * n) {
        int r = i / n, c = i % n;
        float sum = bias[c];
        for (int j = 0; j < k; ++j) sum += x[r * k + j] * weight[c * k + j];
        y[i] = sum;
    }
}""",
        "torch.nn.functional.linear",
        {
            "x": (("m", "k"), "in"),
            "weight": (("n", "k"), "in"),
            "bias": (("n",), "in"),
            "y": (("m", "n"), "out"),
        },
        {"m": "i32(m)", "n": "i32(n)", "k": "i32(k)"},
        "ceil_div(m * n, 64)",
        tuple({"m": m, "n": n, "k": k} for m, n, k in ((1, 1, 1), (3, 5, 7), (8, 16, 9), (5, 33, 12))),
        (("= bias[c]", "= 0.0f"), ("weight[c * k + j]", "weight[c * k + k - 1 - j]")),
    ),
    "shared_left_over": Example(
        """__global__ void shared_left_over(const float* x, float* y, int n) {
    __shared__ float box[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    box[threadIdx.x] = 0.0f;
    __syncthreads();
    if (i < n) box[threadIdx.x] += x[i];
    __syncthreads();
    if (i < n) y[i] = -box[threadIdx.x];
}""",
        "torch.neg",
        FLAT,
        N,
        GRID,
        LINE,
        (("-box[threadIdx.x]", "-box[63 - threadIdx.x]"),),
    ),
}  # fmt: skip

CHAIN = "total_by_two"
CHAIN_TEXT = f"""{PLUS}__global__ void fold(const float* x, float* part, int n) {{
    __shared__ float box[64];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    box[threadIdx.x] = sum;
    __syncthreads();{ADD}
    if (threadIdx.x == 0) part[blockIdx.x] = box[0];
}}
__global__ void finish(const float* part, float* total) {{
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) sum += part[i];
    if (threadIdx.x == 0) *total = sum;
}}"""
CHAIN_MUTANTS = (("i < 4", "i < 3"),)
_FOLD = Example("", "", {"x": (("n",), "in"), "part": (("4",), "out")}, N, "4", LINE, ())
_FINISH = Example("", "", {"part": (("4",), "in"), "total": ((), "out")}, {}, "1", LINE, ())

TEXTS = {name: e.text for name, e in (EXAMPLES | MORE).items()} | {CHAIN: CHAIN_TEXT}
MUTANTS = {name: e.mutants for name, e in (EXAMPLES | MORE).items()} | {CHAIN: CHAIN_MUTANTS}


class Opened(Executor, Protocol):
    """An executor that is closed at the end of its block."""

    def __enter__(self) -> Executor: ...

    def __exit__(self, *_: object) -> None: ...


Make = Callable[[Kernel, str], Opened]


@dataclass(frozen=True, slots=True)
class Case:
    """``open`` makes the executor of the job out of what makes one of a kernel."""

    job: Job
    device: DeviceText
    open: Callable[[Make], Opened]


def case_of(name: str, text: str, folder: Path, sandbox: Sandbox) -> Case:
    """``text`` is the kernel's own or a mutant's."""
    (folder / f"{name}.cu").write_text(text)
    if name != CHAIN:
        job, device = job_of(name, folder, sandbox=sandbox, examples=EXAMPLES | MORE)
        return Case(job, device, lambda make: make(job.kernel, "O1"))
    device = source.load(folder / f"{name}.cu", root=None, sandbox=sandbox).device
    known = {k.name: k for k in frontend.parse_device(device, (), sandbox=sandbox).kernels}
    kernels = [known["fold"], known["finish"]]
    contracts = []
    storages = {"x": "x", "part": "part", "total": "total"}
    for order, (kernel, example) in enumerate(zip(kernels, (_FOLD, _FINISH), strict=True)):
        contract = contract_of(kernel.name, example, kernel)
        buffers = tuple(replace(b, storage=storages[b.param], fresh=b.param != "x") for b in contract.buffers)
        launch = replace(contract.launch, launcher="total", order=order)
        contracts.append(replace(contract, buffers=buffers, launch=launch))
    chain = link(contracts, kernels)
    assert chain is not None
    bound = bind(
        chain.kernel, chain.contract, parse("torch.sum", [p.name for p in chain.kernel.params]), LINE
    )
    job = Job(chain.kernel, chain.contract, bound.bindings[0], LINE, stages=tuple(contracts))
    return Case(job, device, lambda make: ChainExecutor(chain, make, "O1"))
