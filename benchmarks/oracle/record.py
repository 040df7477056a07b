"""The part of benchmarks/launch_recorder.py that needs a GPU: FOLDER (made by ``prepare``) -> FOLDER/records.jsonl.

Needs Python, PyTorch, nvcc and a GPU, nothing else of this project. Builds each program, calls its launchers with real
tensors, and writes down every launch. A process for each program, because a kernel's fault ends its process' use of the
GPU. Runs what it is given without a sandbox.

Example::

    PYTORCH_NO_CUDA_MEMORY_CACHING=1 python benchmarks/oracle/record.py .benchmarks/recorder --out records
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HEADERS = Path(__file__).resolve().parent
TORCH = {
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32",
    "f64": "float64", "bool": "bool", "bf16": "bfloat16",
}  # fmt: skip
OPERATORS = [
    f"-U__CUDA_NO_{name}__"
    for name in ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS")
]
"""PyTorch's builder takes the operators of 16-bit floats away; a file's own build may give them back."""
MOST = 1 << 26
"""Elements of the largest tensor."""


def extent(sizes: list[int], strides: list[int]) -> int:
    """Elements from the first to the last one of a tensor."""
    return 0 if 0 in sizes else 1 + sum((s - 1) * st for s, st in zip(sizes, strides, strict=True))


def tensors_of(values: list[Any]) -> list[Any] | None:
    """Real arguments; None where a case asks for what cannot be made here."""
    import torch

    out: list[Any] = []
    for value in values:
        if not isinstance(value, dict):
            out.append(value)
        elif value["alias"] >= 0:
            out.append(out[value["alias"]])
        else:
            span = extent(value["sizes"], value["strides"])
            if value["dtype"] not in TORCH or span > MOST:
                return None
            dtype = getattr(torch, TORCH[value["dtype"]])
            shift = value["misalign"] // torch.empty((), dtype=dtype).element_size()
            memory = torch.zeros(span + shift, dtype=dtype, device="cpu" if value["cpu"] else "cuda")
            out.append(memory.as_strided(value["sizes"], value["strides"], shift))
    return out


def completed(record: dict[str, Any], tensors: list[Any]) -> dict[str, Any]:
    """The record with what the host knows: which memory is an argument, and how much of it belongs to the tensor.

    Whether memory is initialised or zero is not looked at.
    """
    owners: dict[int, int] = {}
    for index, tensor in enumerate(tensors):
        if hasattr(tensor, "untyped_storage") and tensor.is_cuda:
            owners.setdefault(tensor.untyped_storage().data_ptr(), index)
    for argument in record["args"].values():
        if argument["kind"] != "pointer" or argument["memory"] is None:
            continue
        owner = owners.get(argument["memory"])
        argument |= {"fresh": owner is None, "initialised": True, "zero": True, "written": True, "extent": -1}
        if owner is not None:
            tensor = tensors[owner]
            whole = tensor.untyped_storage().nbytes()
            argument["bytes"] = min(argument["bytes"], whole)
            if argument["address"] == tensor.data_ptr():
                argument["extent"] = extent(list(tensor.shape), list(tensor.stride())) * tensor.element_size()
    return record | {"memories": {str(k): v for k, v in owners.items()}}


def one(folder: Path, out: Path) -> None:
    """Build and run one program; a line of JSON for each case."""
    import torch
    from torch.utils import cpp_extension

    task = json.loads((folder / "task.json").read_text())
    with tempfile.TemporaryDirectory() as build:
        module: Any = cpp_extension.load(
            name=f"recorded_{os.getpid()}", sources=[str(folder / "recorded.cu")], build_directory=build,
            extra_include_paths=[str(HEADERS)], extra_cuda_cflags=["-std=c++17", "-w", *OPERATORS],
            extra_ldflags=["-l:libstdc++.so.6"],  # a static one beside it: two locales, and streams crash
        )  # fmt: skip
    with out.open("a", buffering=1) as file:
        for entry, cases in task["entries"].items():
            for number, values in enumerate(cases):
                tensors = tensors_of(values)
                end, launches = "too large", []
                if tensors is not None:
                    try:
                        getattr(module, entry)(*tensors)
                        torch.cuda.synchronize()
                        end = "done"
                    except (RuntimeError, TypeError, ValueError, IndexError) as error:
                        end = "kernel fault" if "CUDA error" in str(error) else "refused"
                    launches = [completed(json.loads(words), tensors) for words in module.vk_take()]
                line = {"task": folder.name, "entry": entry, "case": number, "end": end, "launches": launches}
                file.write(json.dumps(line) + "\n")
                if end == "kernel fault":
                    return  # nothing works in this process any more


def main() -> int:
    p = argparse.ArgumentParser("record", description=(__doc__ or "").splitlines()[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--out", type=Path, help="[FOLDER]")
    p.add_argument("--jobs", type=int, default=1, help="programs at a time (default: 1)")
    p.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = p.parse_args()
    records = (arguments.out or arguments.folder) / "records.jsonl"
    if arguments.one:
        one(arguments.one, records)
        return 0
    records.parent.mkdir(parents=True, exist_ok=True)
    records.write_text("")
    environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}

    def build_and_run(folder: Path) -> bool:
        command = [sys.executable, "-X", "faulthandler", __file__, str(arguments.folder)]
        command += ["--out", str(records.parent), "--one", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        last = " | ".join((done.stderr.strip().splitlines() or ["nothing said"])[-3:])
        end = (
            "recorded"
            if done.returncode == 0
            else f"not recorded: exit status {done.returncode}: {last[:300]}"
        )
        print(f"{folder.name}: {end}", flush=True)
        return done.returncode == 0

    folders = sorted(p.parent for p in arguments.folder.glob("*/task.json"))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = [ok for ok in pool.map(build_and_run, folders) if not ok]
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
