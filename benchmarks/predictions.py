"""Predicted against counted: the simulator's figures for kernels beside a profiler's counters on a GPU.

``write FOLDER``: the kernels of this file as programs that run them once each, and their predictions as JSON. ``compare
FOLDER COUNTERS``: those beside the counters, from a CSV of Nsight Compute or a table ``kernel,metric,value``.

Example, the second line on a machine with a GPU::

    python -m benchmarks.predictions write .benchmarks/predictions
    cd .benchmarks/predictions && nvcc -O3 -o all all.cu && ncu --csv --page raw --metrics $(cat metrics) ./all > counters.csv
    python -m benchmarks.predictions compare .benchmarks/predictions .benchmarks/predictions/counters.csv
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from sanitizers.performance import Prediction, predict
from sanitizers.simulator import Session
from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox, probe
from verifier.source.device_text import DeviceText

ELEMENTS = 1 << 16
_TILE = "__shared__ float s[32][{width}];\n  int c = threadIdx.x % 32, r = threadIdx.x / 32, b = blockIdx.x * 1024;\n"
_STAGE = "  for (int k = r; k < 32; k += 8) s[k][c] = x[b + k * 32 + c];\n  __syncthreads();\n"
_SUMS = (
    "if (i >= 256) return;\n  float sum = 0.0f;\n  for (int k = 0; k < 256; k++) sum += x[@];\n  y[i] = sum;"
)
KERNELS: dict[str, str] = {
    "copy": "y[i] = x[i];",
    "shifted": "y[i] = x[(i + 1) % n];",
    "strided_2": "y[i] = x[2 * i % n];",
    "strided_32": "y[i] = x[(i * 32 + i / 2048) % n];",
    "broadcast": "y[i] = x[blockIdx.x];",
    "reversed": "y[i] = x[n - 1 - i];",
    "vectors": "if (i < n / 4) ((float4*)y)[i] = ((const float4*)x)[i];",
    "every_fourth_lane": "if (i % 4 == 0) y[i] = x[i];",
    "scattered": "y[(i * 977) % n] = x[i];",
    "rows_of_three": "if (3 * i + 2 < n) y[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];",
    "transpose_conflicts": _TILE.format(width=32)
    + _STAGE
    + "  for (int k = r; k < 32; k += 8) y[b + k * 32 + c] = s[c][k];",
    "transpose_padded": _TILE.format(width=33)
    + _STAGE
    + "  for (int k = r; k < 32; k += 8) y[b + k * 32 + c] = s[c][k];",
    "shared_stride_2": _TILE.format(width=64)
    + _STAGE.replace("s[k][c]", "s[k][2 * c]")
    + "  for (int k = r; k < 32; k += 8) y[b + k * 32 + c] = s[k][2 * c];",
    "row_sums": _SUMS.replace("@", "i * 256 + k"),
    "column_sums": _SUMS.replace("@", "k * 256 + i"),
}
_TRANSPOSES = ("transpose_conflicts", "transpose_padded", "shared_stride_2")
# Figure -> the counters that it should be, added up.
COUNTERS = {
    "global requests": (
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ),
    "global sectors": (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ),
    "shared rounds": (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ),
}


def source(name: str) -> str:
    """The kernel of that name."""
    head = "" if name in _TRANSPOSES else "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  "
    return f"__global__ void {name}(const float* x, float* y, int n) {{\n  {head}{KERNELS[name]}\n}}\n"


def grid(name: str) -> int:
    return ELEMENTS // (1024 if name in _TRANSPOSES else 256)


def predictions(sandbox: Sandbox) -> Iterator[tuple[str, Prediction]]:
    """Each kernel's prediction for its launch."""
    params = (
        ir.Param("x", ir.Pointer(ir.F32)),
        ir.Param("y", ir.Pointer(ir.F32)),
        ir.Param("n", ir.I32),
    )
    for name in KERNELS:
        text = source(name)
        device = DeviceText(f'# 1 "k.cu"\n{text}', hashlib.sha256(text.encode()).hexdigest(), ())
        buffers = tuple(ConcreteBuffer(b, "f32", ELEMENTS) for b in "xy")
        launch = ConcreteLaunch(name, (), (grid(name), 1, 1), (256, 1, 1), 0, buffers, {"n": ELEMENTS})
        with Session(device, ir.Kernel(name, (), params, (), {}, ()), sandbox=sandbox) as session:
            found = predict(session, launch, ("sm_90",))
        if found is None:
            raise RuntimeError(f"{name} has no prediction")
        yield name, found


def figures(found: Prediction) -> dict[str, int]:
    """In the profiler's terms."""
    return {
        "global requests": sum(p.requests for p in found.places if not p.shared),
        "global sectors": sum(p.sectors for p in found.places if not p.shared),
        "shared rounds": sum(p.wavefronts for p in found.places if p.shared),
    }


def program() -> str:
    """All kernels and a main that launches each once."""
    launches = "".join(f"  {name}<<<{grid(name)}, 256>>>(x, y, {ELEMENTS});\n" for name in KERNELS)
    return (
        "#include <cuda_runtime.h>\n"
        + "".join(source(name) for name in KERNELS)
        + f"int main() {{\n  float *x, *y;\n  cudaMalloc(&x, {4 * ELEMENTS});\n  cudaMalloc(&y, {4 * ELEMENTS});\n"
        + f"  cudaMemset(x, 0, {4 * ELEMENTS});\n{launches}  return cudaDeviceSynchronize();\n}}\n"
    )


def counters(path: Path) -> dict[tuple[str, str], float]:
    """(kernel, metric) -> value, from ncu's raw page (a column a metric) or its details page (a row a metric)."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("==")]
    rows = list(csv.DictReader(lines))
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        kernel = (row.get("Kernel Name") or row.get("kernel") or "").split("(")[0]
        pairs = [
            (
                row.get("Metric Name") or row.get("metric") or "",
                row.get("Metric Value") or row.get("value") or "",
            )
        ]
        pairs += [(name, value) for name, value in row.items() if name and "__" in name]
        for metric, value in pairs:
            try:
                found[kernel, metric] = float((value or "").replace(",", ""))
            except ValueError:
                continue  # the row of units
    return found


def compare(folder: Path, path: Path) -> int:
    """Print predicted and counted; exit status 1 where they differ by more than a twentieth."""
    predicted, counted = json.loads((folder / "predicted.json").read_text()), counters(path)
    apart = 0
    print("| kernel | figure | predicted | counted |\n| --- | --- | --- | --- |")
    for kernel, values in predicted.items():
        for figure, metrics in COUNTERS.items():
            known = [counted[kernel, metric] for metric in metrics if (kernel, metric) in counted]
            if not known:
                continue
            differs = abs(sum(known) - values[figure]) > 0.05 * max(1.0, sum(known))
            apart += differs
            print(f"| {kernel} | {figure} | {values[figure]} | {sum(known):.0f}{' **' if differs else ''} |")
    return int(apart > 0)


def main() -> int:
    """``write`` or ``compare``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("counters", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options.folder, options.counters)
    options.folder.mkdir(parents=True, exist_ok=True)
    found = {name: figures(prediction) for name, prediction in predictions(probe())}
    (options.folder / "predicted.json").write_text(json.dumps(found, indent=2) + "\n")
    (options.folder / "all.cu").write_text(program())
    (options.folder / "metrics").write_text(",".join(m for names in COUNTERS.values() for m in names) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
