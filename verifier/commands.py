"""The small subcommands ``init``, ``accept``, ``replay`` and ``doctor``: arguments -> (exit status, text).

Example::

    doctor()       # (0, "ok       g++         12.2  …")
    missing("auto")   # ("no sandbox on this machine: apt-get install bubblewrap …",)
"""

from __future__ import annotations

import datetime
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING

from verifier.pipeline import located
from verifier.report.clean import clean

if TYPE_CHECKING:
    from specs.policy import Backend
    from verifier.replays import Reading

COMPILER = "g++ is missing, so nothing can be read or run: apt-get install g++"


@dataclass(frozen=True, slots=True)
class Tool:
    """One line of ``doctor``: what it is for, its version, and the line that installs it."""

    name: str
    found: str
    use: str
    install: str
    needed: bool = False


def missing(sandbox: str) -> tuple[str, ...]:
    """What this machine lacks for a run, one line each with the install command."""
    from verifier.isolation.sandbox import SandboxMissing, probe

    lines = [] if shutil.which("g++") else [COMPILER]
    try:
        probe(sandbox)
    except SandboxMissing as error:
        lines.append(str(error))
    return tuple(lines)


def init(path: Path, output: Path | None, force: bool, sandbox: str) -> tuple[int, str]:
    """Write the drafted contract beside the file; over an existing one only with ``force``, and then it is said."""
    from verifier import contracts, source
    from verifier.contracts import ContractError, draft
    from verifier.frontend.host import HostUnreadable, read_host
    from verifier.isolation.sandbox import SandboxMissing, probe

    target = output or path.with_name(f"{path.stem}.contract.toml")
    there = target.exists()
    if there and not force:
        return 2, f"{target}: exists already; name another file with --output, or write over it with --force"
    if there and not target.is_file():
        return 2, f"{target}: is no file; name another one with --output"
    try:
        box = probe(sandbox)
        submission = source.load(path, root=None, sandbox=box)
        found = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=box)
        names = [name for name, _ in submission.device.kernels]
        kernels = [k for k in read_host(submission.host, sandbox=box).kernels if k["name"] in names]
    except (source.SourceError, ContractError) as error:
        return 2, located(error, path)
    except HostUnreadable as error:
        return 3, f"{path}: {error}"
    except SandboxMissing as error:
        return 3, str(error)
    text = draft.file(str(path), str(target), kernels, found.contracts)
    if not text:
        return 0, f"{path}: every launch is known from the host code; no contract is needed"
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        return 2, f"{target}: cannot be written: {error.strerror}; name another file with --output"
    over = " (over the one that was there)" if there else ""
    return 0, f"{target} written{over}; review it, then: verify-kernel --contract {target} {path}"


def schema() -> str:
    """The JSON schema of contract files."""
    from verifier import contracts

    return (Path(contracts.__file__).parent / "contract.schema.json").read_text(encoding="utf-8")


def accept(path: Path, lock: Path, reviewer: str, sandbox: str) -> tuple[int, str]:
    """Record the contracts that came with ``path`` in the lock file, with reviewer and date."""
    from verifier import source
    from verifier.contracts import ContractError
    from verifier.contracts import lock as locks
    from verifier.isolation.sandbox import SandboxMissing, probe

    today = datetime.date.today().isoformat()
    try:
        submission = source.load(path, root=None, sandbox=probe(sandbox))
        new = locks.accept(submission, lock=lock, reviewer=reviewer, date=today)
    except (source.SourceError, ContractError) as error:
        return 2, located(error, path)
    except SandboxMissing as error:
        return 3, str(error)
    if not new:
        return 2, f"{path}: no contract came with it, nothing to accept"
    return 0, "\n".join(
        f"{path}: contract of {e.kernel} accepted by {e.reviewer}; recorded in {lock}" for e in new
    )


def replay(path: Path, reading: Reading, backend: Backend, tests: Path | None) -> tuple[int, str]:
    """Run the counterexamples of a file again. Exit 1 if one is seen again, 3 if one cannot be judged, else 0."""
    from verifier import replays, source
    from verifier.contracts import ContractError
    from verifier.frontend import FrontEndFailed
    from verifier.isolation.sandbox import SandboxMissing

    try:
        cases = replays.load(path)
    except replays.BadWitness as error:
        return 2, str(error)
    if not cases:
        return 2, f"{path}: no counterexample in it"
    rows, statuses = [], set()
    for case in cases:
        try:
            result = replays.again(case, replays.with_options(reading, case), backend)
        except (source.SourceError, ContractError) as error:
            result = replays.Again(2, located(error, case.path))
        except (SandboxMissing, FrontEndFailed) as error:
            result = replays.Again(3, f"{case.path}: {error}")
        rows.append(result.message)
        statuses.add(result.status)
        if tests is not None and case.contract is not None:
            rows.append(f"  test: {replays.save(tests, case)}")
    return next(s for s in (1, 2, 3, 0) if s in statuses), "\n".join(map(clean, rows))


def recheck(
    folder: Path, solver: str, seconds: float, cores: bool, json: bool, verbose: bool
) -> tuple[int, str]:
    """Ask another solver what an audit proved."""
    from verifier import recheck as again
    from verifier.run import counting
    from verifier.smt.second import SolverMissing

    try:
        with counting("rechecking") as progress:
            result = again.recheck(folder, solver, seconds, cores, progress)
    except SolverMissing as error:
        return 3, str(error)
    except again.BadFolder as error:
        return 2, clean(str(error))
    return result.status, again.as_json(result) if json else again.as_text(result, verbose)


def doctor() -> tuple[int, str]:
    """Everything that a run may use, found or missing. Exit 3 when something needed is missing."""
    tools = _tools()
    width = max(len(t.name) for t in tools)
    version = max(len(t.found) for t in tools)
    rows = []
    for tool in tools:
        state = "ok     " if tool.found else ("MISSING" if tool.needed else "absent ")
        advice = "" if tool.found else f"  ->  {tool.install}"
        rows.append(f"{state}  {tool.name.ljust(width)}  {tool.found.ljust(version)}  {tool.use}{advice}")
    lacking = [t.name for t in tools if t.needed and not t.found]
    end = f"missing: {', '.join(lacking)}" if lacking else "everything that a PASS needs is here"
    return (3 if lacking else 0), "\n".join([*rows, "", end])


def _tools() -> list[Tool]:
    from verifier.isolation.sandbox import SandboxMissing, probe

    try:
        box: str = probe("auto").kind
    except SandboxMissing:
        box = ""
    return [
        Tool("g++", _program("g++"), "preprocesses, builds the simulator", "apt-get install g++", True),
        Tool("sandbox", box, "isolates submitted code", "apt-get install bubblewrap", True),
        Tool("z3-solver", _package("z3-solver"), "proves", "pip install z3-solver==5.4.1.0", True),
        Tool("libclang", _package("libclang"), "reads device code", "pip install libclang==18.1.1", True),
        Tool("hypothesis", _package("hypothesis"), "fuzzes", "pip install hypothesis", True),
        Tool(
            "torch",
            _package("torch"),
            "reference ops of the fuzz gate",
            "pip install torch --index-url https://download.pytorch.org/whl/cpu",
        ),
        Tool("cvc5", _package("cvc5"), "recheck", "pip install 'verify-kernel[second-opinion]'"),
        Tool("anthropic", _package("anthropic"), "generate-kernel", "pip install 'verify-kernel[generator]'"),
        *_gpu(),
    ]


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        return ""
    done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    words = [w.strip("(),V") for w in done.stdout.split() if w.strip("(),V")[:1].isdigit()]
    return next((w for w in words if "." in w), "found")


def _package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "found" if util.find_spec(name.replace("-", "_")) else ""


def _gpu() -> list[Tool]:
    """What --backend gpu needs; the device itself is asked in a process of its own."""
    from sanitizers.gpu import toolkit

    found = toolkit.look()
    programs = {"nvcc": found.nvcc, "compute-sanitizer": found.sanitizer}
    uses = {"nvcc": "compiles kernels for --backend gpu", "compute-sanitizer": "watches kernels on a GPU"}
    tools = [
        Tool(name, (toolkit.version(path) or "found") if path else "", uses[name], toolkit.INSTALL[name])
        for name, path in programs.items()
    ]
    driver = found.driver.name.removeprefix("libcuda.so.") if found.driver else ""
    device = toolkit.device(found) if found.driver else ""
    return [
        *tools,
        Tool("NVIDIA driver", driver, "runs kernels for --backend gpu", toolkit.INSTALL["driver"]),
        Tool("GPU", device, "runs kernels for --backend gpu", toolkit.INSTALL["GPU"]),
    ]
