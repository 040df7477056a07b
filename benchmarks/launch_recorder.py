"""Lifted contracts against the real wrappers: on a machine with a GPU, nvcc and PyTorch. FILE… -> disagreements.

Every file is built with PyTorch's extension builder from its own preprocessed text, in which each launch is first written
down (benchmarks/oracle/recorder.h). Its launchers are called with real tensors of random shapes, and every recorded grid,
block, shared size, scalar, buffer size, alignment and overlap is compared with the contracts that were lifted from the same
text. What the fake tensors of benchmarks/contract_oracle.py are taken to do is so compared with what the library does.

Builds and runs the files' host code without a sandbox: only for files that you trust. Kernels are launched only with
``--launch``; without it any shape is harmless.

Example::

    python -m benchmarks.launch_recorder gelu.cu softmax.py --shapes 100
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.contract_oracle import HEADERS, Observed, cases_for, check
from benchmarks.oracle.cases import Case, Tensor, param_of
from benchmarks.oracle.rewrite import recorded
from verifier.contracts import entries
from verifier.frontend.host import read_host
from verifier.isolation.sandbox import probe
from verifier.source import load

_TORCH = {
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32",
    "f64": "float64", "bool": "bool", "bf16": "bfloat16",
}  # fmt: skip
_MOST = 1 << 26
"""Elements of the largest tensor."""


def arguments_of(case: Case) -> list[Any] | None:
    """Real tensors for a case; None where it asks for what cannot be made here."""
    import torch

    out: list[Any] = []
    for value in case.values:
        if isinstance(value, Tensor) and value.alias >= 0:
            out.append(out[value.alias])
        elif isinstance(value, Tensor):
            span = 1 + sum((s - 1) * st for s, st in zip(value.sizes, value.strides, strict=True) if s)
            if value.dtype not in _TORCH or span > _MOST or value.numel > _MOST:
                return None
            dtype = getattr(torch, _TORCH[value.dtype])
            step = torch.empty((), dtype=dtype).element_size()
            shift = value.misalign // step
            where = "cpu" if value.cpu else "cuda"
            memory = torch.zeros(span + shift, dtype=dtype, device=where)
            out.append(memory.as_strided(value.sizes, value.strides, shift))
        else:
            out.append(value)
    return out


def completed(record: dict[str, Any], case: Case, tensors: list[Any]) -> dict[str, Any]:
    """The record with what the host knows: which memory is an argument, and how much of it belongs to the tensor.

    Whether memory is initialised or zero is not looked at here.
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
            if argument["address"] == tensor.data_ptr():
                pairs = zip(tensor.shape, tensor.stride(), strict=True)
                span = 1 + sum((s - 1) * st for s, st in pairs) if tensor.numel() else 0
                argument["extent"] = span * tensor.element_size()
    return record | {"memories": owners}


def observe(path: Path, shapes: int, seed: int, launch: bool, root: Path | None) -> list[Observed]:
    """All launchers of a file, called with real tensors."""
    import torch
    from torch.utils import cpp_extension

    sandbox = probe("none")
    submission = load(path, root=root, sandbox=sandbox)
    code = read_host(submission.host, sandbox=sandbox)
    wanted: dict[str, str] = {}
    found: list[Observed] = []
    for usr in entries.entry_points(code):
        name = code.functions[usr]["name"]
        kinds = [param_of(p["name"], p["type"]).kind for p in code.functions[usr]["params"]]
        if name == "main" or "other" in kinds or name in wanted:
            found.append(Observed(name, problem="not called"))
        else:
            wanted[name] = usr
    includes = [i for i in submission.device.system_includes if i != "torch/extension.h"]
    text = recorded(submission.host, code, list(wanted), ["torch/extension.h", *includes], launch)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "recorded.cu"
        source.write_text(text)
        module: Any = cpp_extension.load(
            name=f"recorded_{os.getpid()}", sources=[str(source)], build_directory=folder, extra_ldflags=["-lcuda"],
            extra_include_paths=[str(HEADERS)], extra_cuda_cflags=["-std=c++17", "-w"],
        )  # fmt: skip
    for name, usr in wanted.items():
        lifted = entries.lift_entry(code, usr, 1 << 30, submission.device.text)
        seen = Observed(name, tuple(lifted.contracts), incomplete=bool(lifted.problems))
        params = [param_of(p["name"], p["type"]) for p in code.functions[usr]["params"]]
        for case in cases_for(params, seen.contracts, shapes, seed):
            tensors = arguments_of(case)
            if tensors is None:
                seen.ends["too large"] += 1
                continue
            random.seed(case.seed)
            try:
                getattr(module, name)(*tensors)
                torch.cuda.synchronize()
                seen.ends["done"] += 1
            except (RuntimeError, TypeError, ValueError, IndexError) as error:
                seen.ends["kernel fault" if "CUDA error" in str(error) else "refused"] += 1
            for words in module.vk_take():
                seen.launches.append((completed(json.loads(words), case, tensors), case))
            if seen.ends["kernel fault"]:
                break  # nothing works on this context any more
        found.append(seen)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("launch_recorder", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--shapes", type=int, default=100)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--root", type=Path)
    p.add_argument("--launch", action="store_true", help="launch the kernels too")
    p.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = p.parse_args(argv)
    files = [path for _, path in corpus.find(arguments.paths)]
    if not arguments.here:  # a process for each file: a kernel's fault ends its process' use of the GPU
        environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        words = ["--shapes", str(arguments.shapes), "--seed", str(arguments.seed), "--here"]
        words += ["--root", str(arguments.root)] if arguments.root else []
        words += ["--launch"] if arguments.launch else []
        command = [sys.executable, "-m", "benchmarks.launch_recorder"]
        statuses = [
            subprocess.run([*command, str(f), *words], env=environment, check=False).returncode for f in files
        ]
        print(
            f"files: {len(files)}, with disagreements: {statuses.count(1)}, not run: {sum(s > 1 for s in statuses)}"
        )
        return 1 if any(statuses) else 0
    total: Counter[str] = Counter()
    for path in files:
        try:
            found = observe(path, arguments.shapes, arguments.seed, arguments.launch, arguments.root)
        except Exception as error:
            print(
                f"{path.name}: not run: {type(error).__name__}: {str(error).strip().splitlines()[-1][:200]}"
            )
            return 2
        for seen in found:
            result = check(seen)
            total += result.outcomes
            ends = ", ".join(f"{k} {v}" for k, v in seen.ends.most_common())
            outcomes = ", ".join(f"{k} {v}" for k, v in sorted(result.outcomes.items())) or "no launch"
            print(f"{path.name} {seen.entry}: {seen.problem or f'{outcomes} ({ends})'}", flush=True)
            for why, case in result.differs[:4]:
                print(f"    {why}\n      arguments: {case}")
    return 1 if total["differs"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
