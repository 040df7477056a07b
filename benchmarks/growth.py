"""How the time of a proof grows: generated safe kernels of rising size -> table, slopes, plot.

Five families, each rising in one thing alone: *accesses* (reads and writes of one array in one thread), *unlike accesses*
(no two pairs of which are equally far apart, so that every pair is a claim of its own), *loops* (nested
loops over as many axes), *barriers* (phases over one shared array), *dims* (a flat index taken apart into as many axes).
The time is processor time, solver included, from the text to the verdicts, at the default effort. The slope is that of a
straight line through the logarithms of size and time, over the larger half of the sizes.

Example::

    python -m benchmarks.growth --out .benchmarks/growth             # table.md, records.json
    python -m benchmarks.growth --plot docs/growth.svg               # and a plot (pip install 'verify-kernel[bench]')
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.policy import REQUIRED_PROPERTIES
from specs.results import Verdict


@dataclass(frozen=True, slots=True)
class Made:
    """A kernel ``k`` with its launch."""

    text: str
    contract: Contract


def _launched(
    text: str, block: str, dims: Sequence[str], buffers: Mapping[str, tuple[str, ...]], total: str
) -> Made:
    symbols = tuple(Symbol(d, "dim") for d in dims)
    made = tuple(
        Buffer(name, "f32", " * ".join(shape), shape, fresh=name == "y") for name, shape in buffers.items()
    )
    caps = tuple(Clause(f"{b.extent} <= {1 << 30}", "derived", note="size cap") for b in made)
    launch = Launch("k", (), (f"ceil_div({total}, {block})", "1", "1"), (block, "1", "1"))
    scalars = tuple(Scalar(d, f"i32({d})") for d in dims)
    return Made(text, Contract("k", (), launch, symbols, made, scalars, caps, "lifted"))


def accesses(size: int) -> Made:
    """``size`` reads and writes, two in each plane of an array."""
    return _planes(range(max(size // 2, 1)))


def unlike(size: int) -> Made:
    """``size`` reads and writes in planes whose distances differ (mostly): the numbers are squares."""
    return _planes([j * j for j in range(max(size // 2, 1))])


def _planes(numbers: Sequence[int]) -> Made:
    half = numbers[-1] + 1
    body = "\n".join(f"    y[(size_t)n * {j} + i] = x[(size_t)n * {j} + i] + {j}.0f;" for j in numbers)
    text = (
        "__global__ void k(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i < n) {{\n{body}\n  }}\n}}\n"
    )
    return _launched(text, "256", ["n"], {"x": (str(half), "n"), "y": (str(half), "n")}, "n")


def loops(size: int) -> Made:
    """A sum over ``size`` nested loops."""
    axes = [f"d{j}" for j in range(size)]
    index = "i"
    for j in range(size):
        index = f"({index}) * d{j} + j{j}"
    head = "".join(f"{'  ' * (j + 2)}for (int j{j} = 0; j{j} < d{j}; ++j{j})\n" for j in range(size))
    text = (
        f"__global__ void k(const float* x, float* y, int n, {', '.join(f'int {a}' for a in axes)}) {{\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) {\n    float sum = 0.0f;\n"
        f"{head}{'  ' * (size + 2)}sum += x[{index}];\n    y[i] = sum;\n  }}\n}}\n"
    )
    return _launched(text, "256", ["n", *axes], {"x": ("n", *axes), "y": ("n",)}, "n")


def barriers(size: int) -> Made:
    """``size`` phases, in each of which a thread reads what its neighbour wrote."""
    phase = (
        "  __syncthreads();\n  v += s[(threadIdx.x + 1) % 256];\n  __syncthreads();\n  s[threadIdx.x] = v;\n"
    )
    text = (
        "__global__ void k(const float* x, float* y, int n) {\n  __shared__ float s[256];\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float v = i < n ? x[i] : 0.0f;\n"
        f"  s[threadIdx.x] = v;\n{phase * max(size // 2, 1)}  if (i < n) y[i] = v;\n}}\n"
    )
    return _launched(text, "256", ["n"], {"x": ("n",), "y": ("n",)}, "n")


def dims(size: int) -> Made:
    """A transposition of ``size`` axes: the flat index is taken apart and put together the other way round."""
    axes = [f"d{j}" for j in range(size)]
    parts = (
        "".join(f"  int j{j} = r % d{j}; r /= d{j};\n" for j in reversed(range(1, size))) + "  int j0 = r;\n"
    )
    turned = f"j{size - 1}"
    for j in reversed(range(size - 1)):
        turned = f"({turned}) * d{j} + j{j}"
    text = (
        f"__global__ void k(const float* x, float* y, {', '.join(f'int {a}' for a in axes)}) {{\n"
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= {' * '.join(axes)}) return;\n  int r = i;\n"
        f"{parts}  y[{turned}] = x[i];\n}}\n"
    )
    return _launched(text, "256", axes, {"x": tuple(axes), "y": tuple(reversed(axes))}, " * ".join(axes))


FAMILIES: dict[str, tuple[Callable[[int], Made], tuple[int, ...]]] = {
    "accesses": (accesses, (10, 25, 50, 100, 200, 400)),
    "unlike accesses": (unlike, (10, 25, 50, 100, 200, 400)),
    "loops": (loops, (1, 2, 3, 4, 5, 6)),
    "barriers": (barriers, (2, 4, 8, 16, 32, 64)),
    "dims": (dims, (1, 2, 3, 4, 5, 6)),
}


def measure(made: Made, sandbox: str = "none") -> dict[str, Any]:
    """Processor and wall seconds to the verdicts, and what is not proved."""
    from verifier.frontend import parse_device
    from verifier.isolation.sandbox import probe
    from verifier.prover.verify import Settings, verify
    from verifier.smt.solver import SolverPool
    from verifier.source.device_text import DeviceText

    digest = hashlib.sha256(made.text.encode()).hexdigest()
    box = probe(sandbox)
    begun, used = time.monotonic(), _used()
    module = parse_device(DeviceText(made.text, digest, (("k", NOWHERE),)), [], sandbox=box)
    with SolverPool() as pool:
        result = verify(module.kernels[0], made.contract, Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    fine = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    return {
        "cpu": round(_used() - used, 3),
        "wall": round(time.monotonic() - begun, 3),
        "obligations": sum(p.obligations for p in result.properties),
        "open": [p.id for p in result.properties if p.verdict not in fine],
    }


def _used() -> float:
    """Seconds of the processor, of this process and of its children that have ended."""
    usage = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the line through log(size), log(time), least squares, over the larger half of the sizes (three at least)."""
    kept = sorted(points)[-max(3, (len(points) + 1) // 2) :]
    xs, ys = [math.log(x) for x, _ in kept], [math.log(max(y, 1e-3)) for _, y in kept]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    below = sum((x - mx) ** 2 for x in xs)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / below if below else 0.0


def table(found: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> str:
    rows = ["| family | size: seconds of the processor | slope | open |", "| --- | --- | --- | --- |"]
    for name, sizes in found.items():
        times = ", ".join(f"{n}: {r['cpu']:.1f}" for n, r in sizes.items())
        left = sorted({p for r in sizes.values() for p in r["open"]})
        rate = slope([(n, r["cpu"]) for n, r in sizes.items()])
        rows.append(f"| {name} | {times} | {rate:.2f} | {', '.join(left) or '–'} |")
    return "\n".join(rows) + "\n"


def plot(found: Mapping[str, Mapping[int, Mapping[str, Any]]], file: Path) -> None:
    """One panel a family, both axes logarithmic."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    pyplot = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(1, len(found), figsize=(3.2 * len(found), 3.0), squeeze=False)
    for axis, (name, sizes) in zip(axes[0], found.items(), strict=True):
        axis.loglog(list(sizes), [r["cpu"] for r in sizes.values()], "o-")
        axis.set_xlabel(name)
        axis.set_title(f"slope {slope([(n, r['cpu']) for n, r in sizes.items()]):.2f}", fontsize=9)
        axis.grid(True, which="both", alpha=0.3)
    axes[0][0].set_ylabel("seconds of the processor")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("growth", description=(__doc__ or "").splitlines()[0])
    p.add_argument("--out", type=Path, default=Path(".benchmarks/growth"))
    p.add_argument("--family", action="append", choices=list(FAMILIES), help="only these families")
    p.add_argument("--most", type=int, default=400, help="leave out larger sizes")
    p.add_argument("--plot", type=Path, help="SVG file to write")
    p.add_argument("--sandbox", default="none")
    p.add_argument("--tables-only", action="store_true", help="from the records of an earlier run")
    arguments = p.parse_args(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    records = arguments.out / "records.json"
    found: dict[str, dict[int, dict[str, Any]]] = {}
    if arguments.tables_only:
        found = {
            f: {int(n): r for n, r in sizes.items()} for f, sizes in json.loads(records.read_text()).items()
        }
    else:
        for name in arguments.family or FAMILIES:
            make, sizes = FAMILIES[name]
            found[name] = {}
            for n in (n for n in sizes if n <= arguments.most):
                found[name][n] = measure(make(n), arguments.sandbox)
                print(name, n, found[name][n], file=sys.stderr, flush=True)
        records.write_text(json.dumps(found, indent=1) + "\n")
    (arguments.out / "table.md").write_text(table(found))
    print(table(found), end="")
    if arguments.plot:
        plot(found, arguments.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
