"""Stored counterexamples: a finding -> witness file and test; a witness file or a report -> the launch, run again.

A witness file is whole: source, contract, launch, claim, and how the source was read. A report's findings need the options of
the audit again. Invariant: "gone" is said only of a changed source whose launch ran to its end without the fault.

Example::

    save(folder, case)                      # folder/witness_3f2a91c07b.json and folder/test_cex_3f2a91c07b.py
    for case in load(Path("report.json")):
        again(case, Reading(), "sim").status  # 1: the fault is there · 0: gone · 3: cannot be said
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate, instantiate
from specs.contract import ConcreteLaunch, Contract, from_json, to_json
from specs.location import NOWHERE, Span
from specs.policy import Backend
from specs.results import FileResult, Finding, Severity, ThreadAccess, Witness
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox, probe
from verifier.judge import findings_of
from verifier.source.device_text import DeviceText

SCHEMA = "verify-kernel-witness/1"
_TEST = '''"""{title}

Written by verify-kernel. Run it with pytest; it passes once the kernel, or its host code, is right.
"""

from pathlib import Path

from verifier.replays import check


def test_{name}() -> None:
    check(Path(__file__).with_name({witness!r}))
'''


class BadWitness(Exception):
    """A file that holds no counterexample that can be run; the message is one line."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the source is read, as for an audit."""

    contract: Path | None = None
    problem: Path | None = None
    root: Path | None = None
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    host_files: tuple[Path, ...] = ()
    arch: str = "sm_80"
    sandbox: str = "auto"
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``contract``: None in a report, which does not hold it whole. ``kernel``: with its template arguments.

    ``shown``: the source's path as the finding's places name it.
    """

    path: Path
    shown: str
    sha256: str
    kernel: str
    property: str
    span: Span
    message: str
    witness: Witness
    contract: Contract | None = None
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """``status`` is the exit status: 1 seen again, 0 gone, 3 neither can be said."""

    status: int
    message: str


def cases_of(file: FileResult, reading: Reading) -> list[Case]:
    """The counterexamples of an audited file that were run and count."""
    contracts = [k.contract for g in file.gates for k in g.kernels if k.contract is not None]
    found = []
    for finding in findings_of(file.gates):
        if finding.severity is Severity.ERROR and finding.witness is not None and finding.witness.replayed:
            contract = _fitting(contracts, finding.kernel, finding.witness)
            if contract is not None:
                found.append(_case(file, finding, contract, reading))
    return found


def _case(file: FileResult, finding: Finding, contract: Contract, reading: Reading) -> Case:
    assert finding.witness is not None
    return Case(
        Path(file.path).resolve(), file.path, file.sha256, finding.kernel, finding.id, finding.span, finding.message,
        finding.witness, contract, reading,
    )  # fmt: skip


def save(folder: Path, case: Case) -> Path:
    """Write the witness and its test; the name is a digest of what they show. Returns the test."""
    reading = asdict(case.reading or Reading())
    for key in ("sandbox", "cache", "contract", "problem"):
        del reading[key]
    data = {
        "schema": SCHEMA,
        "path": str(case.path),
        "shown": case.shown,
        "sha256": case.sha256,
        "kernel": case.kernel,
        "property": case.property,
        "span": asdict(case.span),
        "message": case.message,
        "witness": asdict(case.witness),
        "contract": to_json(case.contract) if case.contract is not None else None,
        "reading": reading,
    }
    text = json.dumps(data, indent=1, default=str, sort_keys=True) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    folder.mkdir(parents=True, exist_ok=True)
    witness = folder / f"witness_{digest}.json"
    witness.write_text(text, encoding="utf-8")
    title = f"{case.kernel}: {case.property} at {case.span}: {case.message}"
    title = title.replace("\\", "/").replace('"""', "'''")
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in case.kernel.partition("<")[0])
    test = folder / f"test_cex_{digest}.py"
    test.write_text(_TEST.format(title=title, name=name, witness=witness.name), encoding="utf-8")
    return test


def load(path: Path) -> list[Case]:
    """The counterexamples of a witness file or of a report. Raises BadWitness."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("schema") == SCHEMA:
            return [_witness_file(data)]
        if data.get("schema") == "verify-kernel/1":
            return [c for file in data["files"] for c in _of_report(file)]
    except OSError as error:
        raise BadWitness(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadWitness(
            f"{path}: neither a witness nor a report ({type(error).__name__}: {error})"
        ) from error
    raise BadWitness(f"{path}: neither a witness (schema {SCHEMA}) nor a JSON report")


def _witness_file(data: dict[str, Any]) -> Case:
    reading = data["reading"]
    return Case(
        path=Path(data["path"]),
        shown=data["shown"],
        sha256=data["sha256"],
        kernel=data["kernel"],
        property=data["property"],
        span=Span(**data["span"]),
        message=data["message"],
        witness=_witness(data["witness"]),
        contract=from_json(data["contract"]) if data["contract"] is not None else None,
        reading=Reading(
            root=Path(reading["root"]) if reading["root"] else None,
            include_dirs=tuple(map(Path, reading["include_dirs"])),
            defines=tuple((n, v) for n, v in reading["defines"]),
            host_files=tuple(map(Path, reading["host_files"])),
            arch=reading["arch"],
        ),
    )


def _of_report(file: dict[str, Any]) -> Iterable[Case]:
    for found in file["findings"]:
        if found["witness"] is not None and found["severity"] == "error":
            yield Case(
                path=Path(file["path"]),
                shown=file["path"],
                sha256=file["sha256"],
                kernel=found["kernel"],
                property=found["id"],
                span=Span(found["path"], found["line"], found["column"]),
                message=found["message"],
                witness=_witness(found["witness"]),
            )


def _witness(data: dict[str, Any]) -> Witness:
    gx, gy, gz = data["grid"]
    bx, by, bz = data["block"]
    threads = []
    for thread in data["threads"]:
        span = Span(**thread["span"]) if "span" in thread else Span(thread["path"], thread["line"])
        threads.append(ThreadAccess(tuple(thread["block"]), tuple(thread["thread"]), thread["action"], span))
    return Witness(
        grid=(gx, gy, gz),
        block=(bx, by, bz),
        shared_bytes=data["shared_bytes"],
        symbols=data["symbols"],
        scalars={n: float(v) if isinstance(v, str) else v for n, v in data["scalars"].items()},
        buffers=data["buffers"],
        threads=tuple(threads),
        data={p: {int(i): v for i, v in items.items()} for p, items in data["data"].items()},
        domain=data["domain"],
    )


def again(case: Case, reading: Reading, backend: Backend) -> Again:
    """Run the case on the source as it is now. Raises what reading a source raises."""
    from sanitizers.replay import launch_of
    from verifier import contracts, frontend, source
    from verifier.contracts import problem as problems

    sandbox = probe(reading.sandbox)
    submission = source.load(
        case.path, root=reading.root, include_dirs=reading.include_dirs, defines=dict(reading.defines),
        arch=reading.arch, sandbox=sandbox, host_files=reading.host_files,
    )  # fmt: skip
    problem = problems.load(reading.problem, sandbox=sandbox) if reading.problem else None
    derived = contracts.derive(
        submission, contract_file=reading.contract, problem=problem, lock=None, sandbox=sandbox
    )
    changed = submission.sha256 != case.sha256
    contract = case.contract or _fitting(derived.contracts, case.kernel, case.witness)
    if contract is None:
        return Again(3, f"{case.path}: no launch of {case.kernel} fits; pass the options of the audit")
    wanted = {*derived.instantiations, (contract.kernel, contract.instantiation)}
    module = frontend.parse_device(
        submission.device, sorted(w for w in wanted if w[1]), sandbox=sandbox, arch=reading.arch
    )
    key = (contract.kernel, contract.instantiation)
    kernel = next((k for k in module.kernels if (k.name, k.instantiation) == key), None)
    if kernel is None:
        return Again(3, f"{case.path}: there is no kernel {case.kernel} any more")
    refused = _refused(derived.contracts, contract, case.witness) if changed else ""
    if refused:
        return Again(0, f"gone: {case.path}: the host code refuses this launch now ({refused})")
    span = replace(case.span, path=submission.path) if case.span.path == case.shown else case.span
    span = NOWHERE if changed else span
    launch = launch_of(contract, kernel, case.witness)
    if backend == "sim":
        seen, doubt = _simulated(submission.device, kernel, contract, case, span, sandbox, reading.cache)
    else:
        seen, doubt = _on_gpu(submission.device, kernel, launch, case, sandbox, reading.cache)
    place = f"{case.path}: {case.kernel}: {case.property}"
    if seen:
        return Again(1, f"seen again: {place}: {seen}")
    if doubt:
        return Again(3, f"cannot be said: {place}: {doubt}")
    if changed:
        return Again(0, f"gone: {place}: the source has changed, and this launch runs without the fault")
    return Again(3, f"not seen again: {place}, although the source is the same")


def check(path: Path) -> None:
    """What a saved test calls: raises AssertionError while the fault is there, or if nothing can be said."""
    base = os.environ.get("XDG_CACHE_HOME")
    cache = (Path(base) if base else Path.home() / ".cache") / "verify-kernel"
    for case in load(path):
        result = again(case, replace(case.reading or Reading(), cache=cache), "sim")
        assert result.status == 0, result.message


def _fitting(contracts: Iterable[Contract], label: str, witness: Witness) -> Contract | None:
    """The launch that the witness is an instance of."""
    same = [
        c
        for c in contracts
        if label in (c.kernel, f"{c.kernel}<{', '.join(c.instantiation)}>")
        and {s.name for s in c.symbols} <= witness.symbols.keys()
    ]
    for contract in same:
        try:
            launch = instantiate(contract, witness.symbols)
        except (ClauseError, ClauseUndefined):
            continue
        if (launch.grid, launch.block) == (witness.grid, witness.block):
            return contract
    return same[0] if len(same) == 1 else None


def _refused(now: Iterable[Contract], then: Contract, witness: Witness) -> str:
    """The clause of the source's contract of today that this launch breaks, if every launch of the kernel has one."""
    broken = []
    for contract in now:
        if (contract.kernel, contract.instantiation) == (then.kernel, then.instantiation):
            broken.append(
                next(
                    (c.text for c in contract.requires if c.origin != "assumed" and _broken(c.text, witness)),
                    "",
                )
            )
    return broken[0] if broken and all(broken) else ""


def _broken(text: str, witness: Witness) -> bool:
    try:
        return not evaluate(text, witness.symbols)
    except (ClauseError, ClauseUndefined):
        return False


def _simulated(
    device: DeviceText,
    kernel: Kernel,
    contract: Contract,
    case: Case,
    span: Span,
    sandbox: Sandbox,
    cache: Path | None,
) -> tuple[str, str]:
    """What was seen, or why its absence says nothing."""
    from sanitizers.replay import replay, trial

    seen = replay(device, kernel, contract, case.witness, case.property, span, sandbox=sandbox, cache=cache)
    if seen is not None:
        return "; ".join(_words(t) for t in seen.threads) or case.message, ""
    result = trial(device, kernel, contract, case.witness, sandbox=sandbox, cache=cache)
    return "", "" if result.complete else result.unsupported or result.error or "no block ran"


def _words(access: ThreadAccess) -> str:
    block, thread = (", ".join(map(str, t)) for t in (access.block, access.thread))
    return f"block ({block}) thread ({thread}) {access.action} at {access.span}"


def _on_gpu(
    device: DeviceText,
    kernel: Kernel,
    launch: ConcreteLaunch,
    case: Case,
    sandbox: Sandbox,
    cache: Path | None,
) -> tuple[str, str]:
    from sanitizers.campaign import Plan
    from sanitizers.gpu.campaign import run
    from sanitizers.gpu.records import SEES, TOOLS
    from sanitizers.gpu.watch import GpuMissing, find

    tools = [t for t in TOOLS if case.property in SEES[t]]
    if not tools:
        return "", f"no tool of compute-sanitizer looks for {case.property}"
    try:
        machine = find(sandbox=sandbox, cache=cache)
    except GpuMissing as error:
        return "", str(error)
    campaign = run(machine, device, kernel, [launch], Plan(), tools=list(dict.fromkeys(["memcheck", *tools])))
    seen = next((f for f in campaign.faults if f.finding.property == case.property), None)
    if seen is not None:
        return f"{seen.finding.message} at {seen.finding.span}", ""
    other = next((f.finding.property for f in campaign.faults), "")
    return "", campaign.trouble or (f"{other} was seen instead" if other else "")


def with_options(reading: Reading, case: Case) -> Reading:
    """The options that were typed, else those that the witness was stored with."""
    stored = case.reading
    if stored is None:
        return reading
    return replace(
        reading,
        root=reading.root or stored.root,
        include_dirs=reading.include_dirs or stored.include_dirs,
        defines=reading.defines or stored.defines,
        host_files=reading.host_files or stored.host_files,
        arch=stored.arch,
    )
