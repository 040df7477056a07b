"""Speed of the simulator: compile time, run time, checked accesses and switches a second, growth with the launch.

``python -m benchmarks.simulator [--json FILE]``. Rates are in processor time, the best of several runs in
one session; compiling, process start and small launches are in wall time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from sanitizers.simulator import Schedule, Session, SimResult
from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox, probe
from verifier.source.device_text import DeviceText

SAXPY = """__global__ void kernel(const float* x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] + y[i];
}
"""
MATMUL = """__global__ void kernel(const float* x, float* y, int n, int k) {
  __shared__ float a[16][17], b[16][17];
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int s = 0; s < k; s += 16) {
    a[threadIdx.y][threadIdx.x] = x[r * k + s + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = x[(s + threadIdx.y) * k + c];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
    __syncthreads();
  }
  y[r * k + c] = sum;
}
"""
READS = """__global__ void kernel(const float* x, float* y, int n, int k) {
  float sum = 0.0f;
  for (int j = 0; j < k; j++) sum += x[(j * 32 + threadIdx.x) & (n - 1)];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
BARRIERS = """__global__ void kernel(const float* x, float* y, int n, int k) {
  for (int j = 0; j < k; j++) __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = 0.0f;
}
"""
SHUFFLES = """__global__ void kernel(const float* x, float* y, int n, int k) {
  float v = x[threadIdx.x];
  for (int j = 0; j < k; j++) v += __shfl_xor_sync(0xffffffffu, v, 1 << (j & 3));
  y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
"""
KERNEL = ir.Kernel(
    "kernel",
    (),
    (
        ir.Param("x", ir.Pointer(ir.F32)),
        ir.Param("y", ir.Pointer(ir.F32)),
        ir.Param("n", ir.I32),
        ir.Param("k", ir.I32),
    ),
    (),
    {},
    (),
)


def device(text: str) -> DeviceText:
    """The text as a reader would give it."""
    return DeviceText(f'# 1 "kernel.cu"\n{text}', hashlib.sha256(text.encode()).hexdigest(), ())


def launch(grid: tuple[int, int], block: tuple[int, int], x: int, y: int, n: int, k: int) -> ConcreteLaunch:
    """A launch of the common signature."""
    buffers = (ConcreteBuffer("x", "f32", x), ConcreteBuffer("y", "f32", y))
    return ConcreteLaunch("kernel", (), (*grid, 1), (*block, 1), 0, buffers, {"n": n, "k": k})


def best(session: Session, item: ConcreteLaunch, runs: int = 3) -> SimResult:
    """The fastest of some runs. A fault would make the figure meaningless."""
    results = [session.run(item, {}, Schedule(), outputs=False) for _ in range(runs)]
    for result in results:
        if not result.complete or result.findings:
            raise RuntimeError(f"the benchmark's own kernel is faulty: {result}")
    return min(results, key=lambda r: r.cpu_seconds)


def measure(sandbox: Sandbox, cache: Path) -> dict[str, object]:
    """All figures."""
    start = time.monotonic()
    Session(device(SAXPY), KERNEL, sandbox=sandbox, cache=cache)
    first = time.monotonic() - start
    figures: dict[str, object] = {"first use of a machine, s": first, "compile, s": _compile(sandbox, cache)}
    small = launch((4, 1), (256, 1), 1000, 1000, 1000, 0)
    with Session(device(SAXPY), KERNEL, sandbox=sandbox, cache=cache) as session:
        start = time.monotonic()
        session.run(small)
        figures["process start and a small launch, ms"] = 1e3 * (time.monotonic() - start)
        start = time.monotonic()
        for _ in range(300):
            session.run(small)
        figures["small launches in a session, 1/s"] = 300 / (time.monotonic() - start)
    figures["rates"] = {
        "saxpy, 1M elements": _rate(
            sandbox, cache, SAXPY, launch((4096, 1), (256, 1), 1 << 20, 1 << 20, 1 << 20, 0)
        ),
        "tiled matmul, 256 x 256": _rate(
            sandbox, cache, MATMUL, launch((16, 16), (16, 16), 1 << 16, 1 << 16, 256, 256)
        ),
        "reads of one buffer": _rate(
            sandbox, cache, READS, launch((8, 1), (256, 1), 1 << 12, 2048, 1 << 12, 10000)
        ),
        "reads of a large buffer": _rate(
            sandbox, cache, READS, launch((8, 1), (256, 1), 1 << 20, 2048, 1 << 20, 4000)
        ),
        "barriers": _rate(sandbox, cache, BARRIERS, launch((4, 1), (256, 1), 1, 1024, 0, 5000)),
        "shuffles": _rate(sandbox, cache, SHUFFLES, launch((4, 1), (256, 1), 256, 1024, 0, 5000)),
    }
    figures["growth"] = _growth(sandbox, cache)
    return figures


def _compile(sandbox: Sandbox, cache: Path) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for opt in ("O1", "O0"):
        Session(device(READS), KERNEL, opt=opt, sandbox=sandbox, cache=cache)
        session = Session(device(MATMUL.replace("17", "18")), KERNEL, opt=opt, sandbox=sandbox, cache=cache)
        seconds[opt] = session.program.seconds if session.program is not None else 0.0
    return seconds


def _rate(sandbox: Sandbox, cache: Path, text: str, item: ConcreteLaunch) -> Mapping[str, float]:
    with Session(device(text), KERNEL, sandbox=sandbox, cache=cache) as session:
        result = best(session, item)
    return {
        "ms": 1e3 * result.cpu_seconds,
        "million accesses a second": result.accesses / result.cpu_seconds / 1e6,
        "million switches a second": result.switches / result.cpu_seconds / 1e6,
    }


def _growth(sandbox: Sandbox, cache: Path) -> dict[str, list[tuple[int, float]]]:
    """Milliseconds against blocks, threads a block, and elements."""
    with Session(device(SAXPY), KERNEL, sandbox=sandbox, cache=cache) as session:
        blocks = [
            (g, best(session, launch((g, 1), (64, 1), g * 64, g * 64, g * 64, 0)))
            for g in (16, 256, 4096, 65536)
        ]
        threads = [
            (t, best(session, launch((64, 1), (t, 1), 65536, 65536, 64 * t, 0))) for t in (32, 128, 512, 1024)
        ]
        elements = [
            (n, best(session, launch((16, 1), (64, 1), n, n, 1024, 0)))
            for n in (1024, 65536, 1 << 20, 1 << 23)
        ]
    return {
        "blocks of 64 threads": [(g, 1e3 * r.cpu_seconds) for g, r in blocks],
        "threads a block, 64 blocks": [(t, 1e3 * r.cpu_seconds) for t, r in threads],
        "elements of two buffers, 1024 threads": [(n, 1e3 * r.cpu_seconds) for n, r in elements],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="benchmark-") as folder:
        figures = measure(probe(), Path(folder))
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
