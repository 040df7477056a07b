"""Lifted contracts against the real wrappers, on a machine with a GPU, nvcc and PyTorch: FILE… -> disagreements.

Each file's preprocessed text is rewritten so that every launch is first written down (benchmarks/oracle/recorder.h), built
with PyTorch's extension builder, and its launchers are called with real tensors of random shapes. Every recorded grid,
block, shared size, scalar, buffer size, alignment and overlap is compared with the contracts that were lifted from the same
text. So the stand-in tensors of benchmarks/contract_oracle.py are compared with what the library really does.

Three steps, of which only the second needs the GPU (and nothing of this project but benchmarks/oracle). It builds and runs
the files' host code without a sandbox: only for files that you trust. Kernels themselves are launched only if ``prepare``
was told ``--launch``; without it every shape is harmless.

Example::

    python -m benchmarks.launch_recorder prepare gelu.cu softmax.py --folder .benchmarks/recorder --shapes 100
    python benchmarks/oracle/record.py .benchmarks/recorder
    python -m benchmarks.launch_recorder check --folder .benchmarks/recorder
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.contract_oracle import Observed, cases_for, check
from benchmarks.oracle.cases import Case, Param, Tensor, param_of
from benchmarks.oracle.compare import expanded
from fuzz.whole.rewrite import recorded
from specs.contract import Contract, from_json, to_json
from verifier.contracts import entries
from verifier.frontend.host import HostUnreadable, read_host
from verifier.isolation.sandbox import probe
from verifier.source import load
from verifier.source.errors import SourceError


def prepare(path: Path, folder: Path, arguments: argparse.Namespace) -> int:
    """The program and the cases of one file; the number of launchers."""
    sandbox = probe(arguments.sandbox)
    submission = load(path, root=arguments.root, include_dirs=arguments.include, sandbox=sandbox)
    code = read_host(submission.host, sandbox=sandbox)
    cases: dict[str, list[list[Any]]] = {}
    contracts: dict[str, Any] = {}
    for usr in entries.entry_points(code):
        function = code.functions[usr]
        params = [param_of(p["name"], p["type"]) for p in function["params"]]
        if function["name"] == "main" or function["name"] in cases or any(p.kind == "other" for p in params):
            continue
        lifted = entries.lift_entry(code, usr, 1 << 30, submission.device.text)
        drawn = cases_for(params, lifted.contracts, arguments.shapes, arguments.seed)
        cases[function["name"]] = [
            [asdict(v) if isinstance(v, Tensor) else v for v in c.values] for c in drawn
        ]
        contracts[function["name"]] = {
            "params": [asdict(p) for p in params],
            "contracts": [to_json(c) for c in lifted.contracts],
            "incomplete": bool(lifted.problems),
        }
    if cases:
        includes = [i for i in submission.device.system_includes if i != "torch/extension.h"]
        text = recorded(
            submission.host, code, list(cases), ["torch/extension.h", *includes], arguments.launch
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recorded.cu").write_text(text)
        (folder / "task.json").write_text(json.dumps({"path": str(path), "entries": cases}))
        (folder / "contracts.json").write_text(json.dumps(contracts))
    return len(cases)


def observed(folder: Path, records: list[dict[str, Any]]) -> list[Observed]:
    """The recorded launches of one program with their contracts."""
    task = json.loads((folder / "task.json").read_text())
    lifted = json.loads((folder / "contracts.json").read_text())
    found = []
    for entry, cases in task["entries"].items():
        contracts: tuple[Contract, ...] = tuple(from_json(c) for c in lifted[entry]["contracts"])
        params = tuple(Param(**p) for p in lifted[entry]["params"])
        seen = Observed(entry, contracts, incomplete=lifted[entry]["incomplete"])
        for record in (r for r in records if (r["task"], r["entry"]) == (folder.name, entry)):
            seen.ends[record["end"]] += 1
            values = [
                Tensor(**{**v, "sizes": tuple(v["sizes"]), "strides": tuple(v["strides"])})
                if isinstance(v, dict)
                else v
                for v in cases[record["case"]]
            ]
            case = Case(params, tuple(values), 0)
            for launch in record["launches"]:
                owners = {int(k): v for k, v in launch["memories"].items()}
                seen.launches.append((expanded(launch) | {"memories": owners}, case))
        found.append(seen)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("launch_recorder", description=(__doc__ or "").splitlines()[0])
    p.add_argument("step", choices=("prepare", "check"))
    p.add_argument("paths", nargs="*", type=Path)
    p.add_argument("--folder", type=Path, default=Path(".benchmarks/recorder"))
    p.add_argument("--records", type=Path, help="[FOLDER/records.jsonl]")
    p.add_argument("--shapes", type=int, default=100)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--root", type=Path)
    p.add_argument("-I", dest="include", action="append", default=[], type=Path)
    p.add_argument("--launch", action="store_true", help="launch the kernels too")
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    if arguments.step == "prepare":
        files = list(corpus.find(arguments.paths))
        step = max(1, len(files) // arguments.sample) if arguments.sample else 1
        for name, path in files[::step][: arguments.sample or None]:
            try:
                count = prepare(path, arguments.folder / path.stem, arguments)
                print(f"{name}: {count} launchers")
            except (SourceError, HostUnreadable) as error:
                print(f"{name}: {error}")
        return 0
    lines = (arguments.records or arguments.folder / "records.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    total: Counter[str] = Counter()
    for folder in sorted(p.parent for p in arguments.folder.glob("*/task.json")):
        for seen in observed(folder, records):
            result = check(seen)
            total += result.outcomes
            ends = ", ".join(f"{k} {v}" for k, v in seen.ends.most_common())
            outcomes = ", ".join(f"{k} {v}" for k, v in sorted(result.outcomes.items())) or "no launch"
            print(f"{folder.name} {seen.entry}: {outcomes} ({ends})")
            for why, case in result.differs[:4]:
                print(f"    {why}\n      arguments: {case}")
    print("\n" + "\n".join(f"launches: {what}: {count}" for what, count in sorted(total.items())))
    return 1 if total["differs"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
