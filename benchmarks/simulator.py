"""Speed of the simulator: compile time, run time, checked accesses and switches a second, growth with the launch.

Beside the checked runs: the same kernels on unchecked fibers (the same build without its instrumentation), the same work as
plain loops at -O2, and how much memory the shadow of a touched byte takes.

``python -m benchmarks.simulator [--json FILE]``. Rates are in processor time, the best of several runs in
one session; compiling, process start and small launches are in wall time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sanitizers.simulator import Schedule, Session, SimResult
from sanitizers.simulator import build as compiler
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
# Nothing of x is read twice and nothing of it is known: each element gets its own shadow.
TOUCHES = """__global__ void kernel(TYPE* x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (TYPE)i;
}
"""
PLAIN = """#include <cstdio>
#include <ctime>
float x[1 << 20], y[1 << 20];
static void saxpy() { for (int i = 0; i < 1 << 20; i++) y[i] = 2.0f * x[i] + y[i]; }
static void matmul() {
  for (int r = 0; r < 256; r++)
    for (int c = 0; c < 256; c++) {
      float sum = 0.0f;
      for (int j = 0; j < 256; j++) sum += x[r * 256 + j] * x[j * 256 + c];
      y[r * 256 + c] = sum;
    }
}
template <class F> double best(F f) {
  double least = 1e9;
  for (int i = 0; i < 9; i++) {
    timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    f();
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ms = 1e3 * (b.tv_sec - a.tv_sec) + 1e-6 * (b.tv_nsec - a.tv_nsec);
    least = ms < least ? ms : least;
  }
  return least;
}
int main() { std::printf("%f %f\\n", best(saxpy), best(matmul)); }
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
    work = {
        "saxpy, 1M elements": (SAXPY, launch((4096, 1), (256, 1), 1 << 20, 1 << 20, 1 << 20, 0)),
        "tiled matmul, 256 x 256": (MATMUL, launch((16, 16), (16, 16), 1 << 16, 1 << 16, 256, 256)),
        "reads of one buffer": (READS, launch((8, 1), (256, 1), 1 << 12, 2048, 1 << 12, 10000)),
        "reads of a large buffer": (READS, launch((8, 1), (256, 1), 1 << 20, 2048, 1 << 20, 4000)),
        "barriers": (BARRIERS, launch((4, 1), (256, 1), 1, 1024, 0, 5000)),
        "shuffles": (SHUFFLES, launch((4, 1), (256, 1), 256, 1024, 0, 5000)),
    }
    rates = {name: _rate(sandbox, cache, text, item) for name, (text, item) in work.items()}
    with unwatched():
        for name, (text, item) in work.items():
            bare = _rate(sandbox, cache / "unwatched", text, item)["ms"]
            rates[name] |= {"unchecked, ms": bare, "times the unchecked": rates[name]["ms"] / bare}
    for name, milliseconds in zip(work, _plain(cache), strict=False):
        rates[name] |= {"plain loops at -O2, ms": milliseconds}
    figures["rates"] = rates
    figures["bytes of shadow a touched byte"] = {
        f"{width} bytes an element": _shadow(sandbox, cache, type_, dtype, width)
        for type_, dtype, width in (
            ("float", "f32", 4),
            ("double", "f64", 8),
            ("short", "i16", 2),
            ("unsigned char", "u8", 1),
        )
    }
    figures["growth"] = _growth(sandbox, cache)
    return figures


@contextmanager
def unwatched() -> Iterator[None]:
    """Within it the simulator compiles without its instrumentation. For comparison alone: such a run sees nothing."""
    flags = list(compiler._WATCH)
    compiler._WATCH[:] = [f for f in flags if not f.startswith("-fsanitize=")]
    compiler.runtime_key.cache_clear()
    try:
        yield
    finally:
        compiler._WATCH[:] = flags
        compiler.runtime_key.cache_clear()


def _plain(folder: Path) -> list[float]:
    source, program = folder / "plain.cpp", folder / "plain"
    source.write_text(PLAIN)
    subprocess.run(["g++", "-O2", str(source), "-o", str(program)], check=True)
    return [float(word) for word in subprocess.run([program], capture_output=True, check=True).stdout.split()]


def _shadow(sandbox: Sandbox, cache: Path, type_: str, dtype: str, width: int) -> float:
    """Growth of the child's memory with a buffer that is written once, less the buffer itself."""
    types: dict[str, ir.Type] = {
        "f32": ir.F32,
        "f64": ir.Float("f64"),
        "i16": ir.Int(16, True),
        "u8": ir.Int(8, False),
    }
    params = (ir.Param("x", ir.Pointer(types[dtype])), *KERNEL.params[1:])
    kernel = ir.Kernel("kernel", (), params, (), {}, ())
    sizes: list[int] = []
    for n in (1 << 12, 1 << 22):
        buffers = (ConcreteBuffer("x", dtype, n), ConcreteBuffer("y", "f32", 1))
        item = ConcreteLaunch("kernel", (), (n // 256, 1, 1), (256, 1, 1), 0, buffers, {"n": n, "k": 0})
        with Session(device(TOUCHES.replace("TYPE", type_)), kernel, sandbox=sandbox, cache=cache) as session:
            best(session, item, 1)
            assert session._child is not None
            sizes.append(_resident(session._child.pid))
    bytes_ = ((1 << 22) - (1 << 12)) * width
    return round((sizes[1] - sizes[0]) / bytes_ - 1.0, 2)


def _resident(pid: int) -> int:
    """Bytes of the innermost child of a process."""
    while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        pid = int(children[0])
    found = re.search(r"RssAnon:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) << 10 if found else 0


def _compile(sandbox: Sandbox, cache: Path) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for opt in ("O1", "O0"):
        Session(device(READS), KERNEL, opt=opt, sandbox=sandbox, cache=cache)
        session = Session(device(MATMUL.replace("17", "18")), KERNEL, opt=opt, sandbox=sandbox, cache=cache)
        seconds[opt] = session.program.seconds if session.program is not None else 0.0
    return seconds


def _rate(sandbox: Sandbox, cache: Path, text: str, item: ConcreteLaunch) -> dict[str, float]:
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
