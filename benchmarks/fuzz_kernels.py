"""Fourteen right kernels of usual shapes, each with its reference, its sizes and some mutants: they measure and test the gate.

``EXAMPLES`` by kernel name; ``job_of`` makes the job that ``fuzz.runner.explore`` takes.

Example::

    (folder / "gelu.cu").write_text(EXAMPLES["gelu"].text)
    job, device = job_of("gelu", folder)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.binding import bind
from fuzz.case import Job
from fuzz.landmarks import landmarks
from fuzz.reference import parse
from specs.contract import Buffer, Contract, Launch, Scalar, Symbol
from verifier import frontend, source
from verifier.isolation import Sandbox, probe
from verifier.source.device_text import DeviceText

BLOCK = 64
REDUCE = """
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) { box[threadIdx.x] = OP(box[threadIdx.x], box[threadIdx.x + s]); }
        __syncthreads();
    }"""
ADD, MAX = REDUCE.replace("OP(", "plus("), REDUCE.replace("OP(", "fmaxf(")


@dataclass(frozen=True)
class Example:
    """``buffers``: parameter -> (dims, role); ``scalars``: integer parameter -> clause; ``mutants``: (old, new)."""

    text: str
    reference: str
    buffers: Mapping[str, tuple[tuple[str, ...], str]]
    scalars: dict[str, str]
    grid: str
    pool: tuple[dict[str, int], ...]
    mutants: tuple[tuple[str, str], ...]
    dtypes: dict[str, str] = field(default_factory=dict)


LINE = tuple({"n": n} for n in (1, 31, 32, 33, 63, 64, 65, 200))
ROWS = tuple({"rows": r, "cols": c} for r, c in ((1, 1), (2, 3), (3, 64), (2, 65), (1, 130), (5, 31)))
FLAT = {"x": (("n",), "in"), "y": (("n",), "out")}
MATRIX = {"x": (("rows", "cols"), "in"), "y": (("rows", "cols"), "out")}
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"

EXAMPLES: dict[str, Example] = {
    "saxpy": Example(
        f"""__global__ void saxpy(int n, float a, const float* x, float* y) {{
    {INDEX}
    if (i < n) y[i] = a * x[i] + y[i];
}}""",
        "axpy",
        {"x": (("n",), "in"), "y": (("n",), "inout")},
        {"n": "i32(n)"},
        f"ceil_div(n, {BLOCK})",
        LINE,
        (("a * x[i] + y[i]", "a * x[i]"), ("a * x[i]", "x[i]"), ("+ y[i]", "- y[i]")),
    ),
    "gelu": Example(
        f"""__global__ void gelu(const float* x, float* y, int n) {{
    {INDEX}
    if (i < n) {{ float v = x[i]; y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f)); }}
}}""",
        "torch.nn.functional.gelu",
        FLAT,
        {"n": "i32(n)"},
        f"ceil_div(n, {BLOCK})",
        LINE,
        (("0.70710678f", "0.7071f"), ("0.5f * v", "0.5f"), ("i < n", "i < n - 1")),
    ),
    "relu_strided": Example(
        """__global__ void relu_strided(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = x[i] < 0.0f ? 0.0f : x[i];
    }
}""",
        "torch.relu",
        FLAT,
        {"n": "i32(n)"},
        "2",
        LINE,
        (("i += gridDim.x * blockDim.x", "i += 2 * gridDim.x * blockDim.x"), ("? 0.0f", "? -x[i]")),
    ),
    "total": Example(
        f"""__device__ float plus(float a, float b) {{ return a + b; }}
__global__ void total(const float* x, float* out, int n) {{
    __shared__ float box[{BLOCK}];
    {INDEX}
    box[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();{ADD}
    if (threadIdx.x == 0) atomicAdd(out, box[0]);
}}""",
        "torch.sum",
        {"x": (("n",), "in"), "out": ((), "zero")},
        {"n": "i32(n)"},
        f"ceil_div(n, {BLOCK})",
        LINE,
        (("s >>= 1", "s >>= 2"), (": 0.0f", ": 1.0f"), ("atomicAdd(out, box[0])", "*out = box[0]")),
    ),
    "row_max": Example(
        f"""__global__ void row_max(const float* x, float* y, int cols) {{
    __shared__ float box[{BLOCK}];
    float best = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, x[blockIdx.x * cols + c]);
    box[threadIdx.x] = best;
    __syncthreads();{MAX}
    if (threadIdx.x == 0) y[blockIdx.x] = box[0];
}}""",
        "torch.max(x, dim=1)",
        {"x": (("rows", "cols"), "in"), "y": (("rows",), "out")},
        {"cols": "i32(cols)"},
        "rows",
        ROWS,
        (("-INFINITY", "0.0f"), ("c < cols", "c < cols - 1")),
    ),
    "row_argmax": Example(
        """__global__ void row_argmax(const float* x, long long* y, int cols) {
    if (threadIdx.x == 0) {
        int best = 0;
        for (int c = 1; c < cols; ++c) if (x[blockIdx.x * cols + c] >= x[blockIdx.x * cols + best]) best = c;
        y[blockIdx.x] = best;
    }
}""",
        "torch.argmax(x, dim=1)",
        {"x": (("rows", "cols"), "in"), "y": (("rows",), "out")},
        {"cols": "i32(cols)"},
        "rows",
        ROWS,
        ((">=", "<="), ("int c = 1", "int c = 2")),
        {"y": "i64"},
    ),
    "softmax_rows": Example(
        f"""__device__ float plus(float a, float b) {{ return a + b; }}
__global__ void softmax_rows(const float* x, float* y, int cols) {{
    __shared__ float box[{BLOCK}];
    const float* in = x + blockIdx.x * cols;
    float best = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, in[c]);
    box[threadIdx.x] = best;
    __syncthreads();{MAX}
    best = box[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(in[c] - best);
    box[threadIdx.x] = sum;
    __syncthreads();{ADD}
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(in[c] - best) / box[0];
}}""",
        "torch.softmax",
        MATRIX,
        {"cols": "i32(cols)"},
        "rows",
        ROWS,
        (
            ("best = box[0];", "best = 0.0f;"),
            ("/ box[0]", "/ (box[0] + 1e-5f)"),
            ("float sum = 0.0f", "float sum = 1e-5f"),
        ),
    ),
    "layer_norm_rows": Example(
        f"""__device__ float plus(float a, float b) {{ return a + b; }}
__global__ void layer_norm_rows(const float* x, const float* gamma, const float* beta, float* y, int cols, float eps) {{
    __shared__ float box[{BLOCK}];
    const float* in = x + blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += in[c];
    box[threadIdx.x] = sum;
    __syncthreads();{ADD}
    float mean = box[0] / cols;
    __syncthreads();
    float square = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) square += (in[c] - mean) * (in[c] - mean);
    box[threadIdx.x] = square;
    __syncthreads();{ADD}
    float scale = rsqrtf(box[0] / cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[blockIdx.x * cols + c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}}""",
        "layer_norm",
        MATRIX | {"gamma": (("cols",), "in"), "beta": (("cols",), "in")},
        {"cols": "i32(cols)"},
        "rows",
        ROWS,
        ((" + beta[c]", ""), ("+ eps", "+ 1e-4f"), ("box[0] / cols + eps", "box[0] / (cols + 1) + eps")),
    ),
    "matmul": Example(
        """__global__ void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
    __shared__ float a[8][8], b[8][9];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + 7) / 8; ++t) {
        a[ty][tx] = row < m && t * 8 + tx < k ? A[row * k + t * 8 + tx] : 0.0f;
        b[ty][tx] = col < n && t * 8 + ty < k ? B[(t * 8 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}""",
        "torch.matmul",
        {"A": (("m", "k"), "in"), "B": (("k", "n"), "in"), "C": (("m", "n"), "out")},
        {"m": "i32(m)", "n": "i32(n)", "k": "i32(k)"},
        "ceil_div(n, 8); ceil_div(m, 8)",
        tuple(
            {"m": m, "n": n, "k": k} for m, n, k in ((1, 1, 1), (7, 9, 8), (8, 8, 9), (3, 17, 20), (9, 2, 7))
        ),
        (("j < 8", "j < 7"), ("(k + 7) / 8", "k / 8"), ("a[ty][j] * b[j][tx]", "a[ty][j] * b[tx][j]")),
    ),
    "flip": Example(
        """__global__ void flip(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[8][9];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    int r = blockIdx.y * 8 + ty, c = blockIdx.x * 8 + tx;
    if (r < rows && c < cols) tile[ty][tx] = x[r * cols + c];
    __syncthreads();
    int r2 = blockIdx.x * 8 + ty, c2 = blockIdx.y * 8 + tx;
    if (r2 < cols && c2 < rows) y[r2 * rows + c2] = tile[tx][ty];
}""",
        "torch.transpose",
        {"x": (("rows", "cols"), "in"), "y": (("cols", "rows"), "out")},
        {"rows": "i32(rows)", "cols": "i32(cols)"},
        "ceil_div(cols, 8); ceil_div(rows, 8)",
        tuple({"rows": r, "cols": c} for r, c in ((1, 1), (3, 5), (8, 8), (9, 17))),
        (("y[r2 * rows + c2]", "y[c2 * cols + r2]"),),
    ),
    "smooth": Example(
        f"""__global__ void smooth(const float* x, const float* w, float* y, int n) {{
    {INDEX}
    if (i < n) {{
        float sum = 0.0f;
        for (int k = 0; k < 5; ++k) {{
            int j = i + k - 2;
            if (j >= 0 && j < n) sum += x[j] * w[k];
        }}
        y[i] = sum;
    }}
}}""",
        "torch.nn.functional.conv1d",
        {"x": (("n",), "in"), "w": (("5",), "in"), "y": (("n",), "out")},
        {"n": "i32(n)"},
        f"ceil_div(n, {BLOCK})",
        tuple({"n": n} for n in (5, 31, 64, 65, 200)),
        (("w[k]", "w[4 - k]"), ("i + k - 2", "i + k - 1"), ("j >= 0", "j > 0")),
    ),
    "pool": Example(
        f"""__global__ void pool(const float* x, float* y, int planes, int h, int w) {{
    {INDEX}
    int oh = h / 2, ow = w / 2;
    if (i < planes * oh * ow) {{
        int p = i / (oh * ow), r = i / ow % oh, c = i % ow;
        float best = -INFINITY;
        for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) best = fmaxf(best, x[(p * h + 2 * r + a) * w + 2 * c + b]);
        y[i] = best;
    }}
}}""",
        "torch.nn.functional.max_pool2d(x, kernel_size=2)",
        {"x": (("planes", "h", "w"), "in"), "y": (("planes", "h // 2", "w // 2"), "out")},
        {"planes": "i32(planes)", "h": "i32(h)", "w": "i32(w)"},
        f"ceil_div(planes * (h // 2) * (w // 2), {BLOCK})",
        tuple({"planes": p, "h": h, "w": w} for p, h, w in ((1, 2, 2), (3, 4, 5), (2, 7, 6), (5, 8, 8))),
        (("b < 2", "b < 1"), ("-INFINITY", "0.0f"), ("2 * c + b", "c + b")),
    ),
}


def contract_of(name: str, example: Example, kernel: Any) -> Contract:
    grid = (*example.grid.split("; "), "1", "1")[:3]
    symbols = tuple(Symbol(s, "dim", low=1) for s in example.pool[0])
    buffers = []
    for param, (dims, role) in example.buffers.items():
        extent = " * ".join(f"({d})" for d in dims) or "1"
        fresh, defined = role in ("out", "zero"), role != "out"
        content = ("0", "0") if role == "zero" else None
        dtype = example.dtypes.get(param, "f32")
        buffers.append(Buffer(param, dtype, extent, dims, fresh=fresh, initialized=defined, content=content))
    scalars = [p.name for p in kernel.params if p.name not in example.buffers]
    return Contract(
        name,
        (),
        Launch(name, (), (grid[0], grid[1], grid[2]), (str(BLOCK), "1", "1")),
        symbols,
        tuple(buffers),
        tuple(Scalar(s, example.scalars.get(s)) for s in scalars),
        (),
        "stated",
    )


def job_of(
    name: str, folder: Path, *, sandbox: Sandbox | None = None, examples: Mapping[str, Example] = EXAMPLES
) -> tuple[Job, DeviceText]:
    """The kernel of ``folder/name.cu`` against its reference."""
    sandbox = sandbox or probe()
    device = source.load(folder / f"{name}.cu", root=None, sandbox=sandbox).device
    kernel = next(k for k in frontend.parse_device(device, (), sandbox=sandbox).kernels if k.name == name)
    example = examples[name]
    contract = contract_of(name, example, kernel)
    bound = bind(
        kernel, contract, parse(example.reference, [p.name for p in kernel.params]), example.pool
    ).bindings[0]
    return Job(kernel, contract, bound, example.pool, landmarks=landmarks(kernel)), device
