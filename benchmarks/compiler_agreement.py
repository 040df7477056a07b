"""What the front end accepts against what nvcc accepts: DIR|FILE… -> disagreements in both directions.

Every device text is compiled with nvcc and the real headers before it, with every template instantiation that the host
code launches. A text that we read in full and nvcc refuses is a hole (exit status 1): what would be proved is no program.
A text that nvcc accepts and we refuse is listed, and so is one that nvcc refuses and that we read *in part*, with
unsupported statements (it has no PASS, but the compiler's error would have been the better answer). Needs nvcc; PyTorch's
own headers are used where it is installed.

Example::

    python -m benchmarks.compiler_agreement kernels/ --sample 40
    python -m benchmarks.compiler_agreement dev/cuda --root . -I dev/cuda
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpus, labels
from benchmarks.frontend import unsupported
from sanitizers.gpu.compile import torch_folder, whole
from verifier import contracts, frontend
from verifier.contracts import ContractError
from verifier.isolation.sandbox import Sandbox, probe
from verifier.source import load
from verifier.source.errors import SourceError

_NVCC = (
    "-std=c++17",
    "-w",
    "--expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "-x",
    "cu",
    "-ptx",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """``ours``/``theirs``: the first error of each, empty where it accepts. ``skipped``: why neither was asked."""

    name: str
    ours: str = ""
    theirs: str = ""
    skipped: str = ""
    in_part: bool = False


def nvcc_error(text: str, arch: str, folder: Path) -> str:
    """The first error of nvcc, or nothing."""
    source = folder / "program.cu"
    source.write_text(text)
    include = torch_folder()
    words = [f"-I{include}"] if include is not None else []
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    argv = [nvcc, *_NVCC, f"-arch={arch}", *words, "-o", str(folder / "program.ptx"), str(source)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300, cwd=folder)
    if done.returncode == 0:
        return ""
    lines = (done.stderr + done.stdout).splitlines()
    return next((r.strip() for r in lines if "error" in r), lines[0] if lines else "failed")[:300]


def ask(
    name: str, path: Path, extra: Sequence[str], sandbox: Sandbox, arguments: argparse.Namespace
) -> Answer:
    """Both readers on one file."""
    words = [*extra, *(w for d in arguments.define for w in ("-D", d))]
    defines = dict(words[i + 1].split("=", 1) for i, w in enumerate(words) if w == "-D")
    contract = next((Path(words[i + 1]) for i, w in enumerate(words) if w == "--contract"), None)
    try:
        submission = load(
            path, root=arguments.root, include_dirs=arguments.include, defines=defines, arch=arguments.arch, sandbox=sandbox
        )  # fmt: skip
        derived = contracts.derive(
            submission, contract_file=contract, problem=None, lock=None, sandbox=sandbox
        )
    except (SourceError, ContractError) as error:
        return Answer(name, skipped=f"not read: {error}")
    if submission.problems:
        return Answer(name, skipped=submission.problems[0])
    try:
        module = frontend.parse_device(
            submission.device, derived.instantiations, sandbox=sandbox, arch=arguments.arch
        )
        errors = [f"{d.span}: {d.message}" for d in module.diagnostics if d.severity in ("error", "fatal")]
    except frontend.FrontEndFailed as error:
        return Answer(name, skipped=str(error))
    with tempfile.TemporaryDirectory() as folder:
        theirs = nvcc_error(whole(submission.device, derived.instantiations), arguments.arch, Path(folder))
    if "No such file or directory" in theirs:
        return Answer(name, skipped=f"a header is not installed: {theirs}")
    in_part = any(True for kernel in module.kernels for _ in unsupported(kernel.body))
    return Answer(name, errors[0] if errors else "", theirs, in_part=in_part)


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("compiler_agreement", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--arch", default="sm_80")
    p.add_argument("--sample", type=int, default=0, help="only about this many files")
    p.add_argument("--labels", choices=("gpuverify",))
    p.add_argument("--root", type=Path, help="folder in which quote includes are looked for")
    p.add_argument("-I", dest="include", action="append", default=[], type=Path)
    p.add_argument("-D", dest="define", action="append", default=[], help="NAME=VALUE")
    p.add_argument("--sandbox", default="auto")
    p.add_argument("-v", "--verbose", action="store_true", help="name what was skipped, too")
    arguments = p.parse_args(argv)
    if shutil.which("nvcc") is None and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        print("nvcc is missing")
        return 2
    sandbox = probe(arguments.sandbox)
    files = list(corpus.find(arguments.paths))
    step = max(1, len(files) // arguments.sample) if arguments.sample else 1
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for name, path in files[::step][: arguments.sample or None]:
            labelled = labels.read(path, Path(scratch)) if arguments.labels else None
            answer = ask(name, path, labelled.arguments if labelled else (), sandbox, arguments)
            if answer.skipped:
                counts["skipped"] += 1
                if arguments.verbose:
                    print(f"{name}: skipped: {answer.skipped}", flush=True)
                continue
            mine = "refuse" if answer.ours else "read in part" if answer.in_part else "accept"
            counts[f"we {mine}, nvcc {'refuses' if answer.theirs else 'accepts'}"] += 1
            if answer.theirs and not answer.ours:
                word = "in part" if answer.in_part else "HOLE"
                print(f"{name}: {word}: nvcc refuses: {answer.theirs}", flush=True)
            elif answer.ours and not answer.theirs:
                print(f"{name}: we refuse, nvcc accepts: {answer.ours}", flush=True)
    print("\n" + "\n".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    return 1 if counts["we accept, nvcc refuses"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
