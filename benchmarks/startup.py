"""How long a user waits: wall time of fresh processes, median of N.

Measures ``verify-kernel --no-cache --gates static,prove`` on a 30-line elementwise kernel, and ``--help``.

Example::

    python -m benchmarks.startup --runs 20 --out .benchmarks/startup.md
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = """\
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void leaky_relu_kernel(const float* __restrict__ x, float* __restrict__ y, float slope, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        y[i] = v > 0.0f ? v : slope * v;
    }
}

torch::Tensor leaky_relu(torch::Tensor x, double slope) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    auto y = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) {
        return y;
    }
    const int64_t blocks = (n + 255) / 256;
    TORCH_CHECK(blocks <= 2147483647, "x is too large for one launch");
    leaky_relu_kernel<<<static_cast<unsigned int>(blocks), 256>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), static_cast<float>(slope), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("leaky_relu", &leaky_relu, "Leaky ReLU");
}
"""


def measure(arguments: Sequence[str], runs: int, expect: int) -> list[float]:
    """Seconds of each fresh process; an unexpected exit status is an error, so that no failure counts as fast."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        ended = subprocess.run([sys.executable, "-m", "verifier", *arguments], cwd=ROOT, capture_output=True)
        seconds.append(time.perf_counter() - start)
        if ended.returncode != expect:
            raise SystemExit(
                f"{arguments}: exit {ended.returncode}, wanted {expect}\n{ended.stdout.decode()}{ended.stderr.decode()}"
            )
    return seconds


def table(rows: Sequence[tuple[str, list[float], float]]) -> str:
    lines = ["| command | median | longest | target |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{name}` | {statistics.median(s):.2f} s | {max(s):.2f} s | {target} s |"
        for name, s, target in rows
    ]
    return "\n".join(lines)


def main() -> int:
    p = argparse.ArgumentParser("startup", description=(__doc__ or "").splitlines()[0])
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--out", type=Path)
    arguments = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "leaky_relu.cu")
        file.write_text(KERNEL)
        audit = ["--no-cache", "--gates", "static,prove"]
        rows = [
            (
                f"verify-kernel {' '.join(audit)} leaky_relu.cu",
                measure(
                    [*audit, str(file)], arguments.runs, 3
                ),  # 3: the default policy also wants the simulator
                1.5,
            ),
            ("verify-kernel --help", measure(["--help"], arguments.runs, 0), 0.3),
        ]
    text = f"## Start-up\n\nFresh processes, {arguments.runs} runs each; a kernel of {KERNEL.count(chr(10))} lines.\n\n"
    text += table(rows) + "\n"
    print(text)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
