"""The chain on one screen: path and options -> source -> contracts -> IR -> gates in order -> verdict -> FileResult.

Invariant: ``audit`` always returns; an exception of ours becomes ERROR, bad input becomes ERROR with ``bad_input`` and
one clear line, a passed deadline INCONCLUSIVE. The heavy parts are imported where they are used, so that ``--help`` and
``explain`` stay fast.

Example::

    audit(Path("saxpy.cu"), Options(policy=default_policy())).verdict   # Outcome.PASS
"""

from __future__ import annotations

import contextlib
import importlib
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specs.contract import Contract
from specs.policy import GATES, PROPERTIES, Backend, Policy
from specs.results import FileResult, GateResult, Outcome
from verifier.agreement import agree
from verifier.deadline import DeadlinePassed
from verifier.judge import Case, headline, judge

if TYPE_CHECKING:
    from specs.location import Span
    from verifier.contracts import ContractSet
    from verifier.gates.context import GateContext
    from verifier.ir.nodes import Module
    from verifier.isolation.sandbox import Sandbox
    from verifier.source.device_text import Submission

GRACE = 5.0
"""Seconds before the end of the time that gates are told to stop; a stage that does not is cut off at the end."""


@dataclass(frozen=True, slots=True)
class Options:
    """Everything the command line can say about one run. Data only, so that it travels to child processes.

    ``gates``/``properties`` empty: what the policy needs. ``cache`` None: nothing is cached.
    """

    policy: Policy
    kernel: str | None = None
    contract: Path | None = None
    problem: Path | None = None
    reference: str | None = None
    include_dirs: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None
    host_files: tuple[Path, ...] = ()
    compile_commands: Path | None = None
    lock: Path | None = None
    gates: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    effort: str = "default"
    timeout: float = 60.0
    seed: int = 0
    jobs: int = 1
    cache: Path | None = None
    keep: Path | None = None
    keep_obligations: Path | None = None
    sandbox: str = "auto"
    run_wrapper: bool = False
    backend: Backend | None = None
    """None: what the policy asks for."""
    verbose: bool = False


class BadInput(Exception):
    """The user's file or request cannot be used; the message is one line ``path:line: what; what to do``."""


def audit(path: Path, options: Options, progress: Callable[[str], None] = lambda _: None) -> FileResult:
    """The verdict on one file. Never raises but for KeyboardInterrupt and the like."""
    from verifier.isolation import ahead

    start = time.monotonic()
    try:
        with _backstop(options.timeout):
            result = _audit(path, options, start, progress)
    except Exception as error:
        result = _failed(error, path, options)
    finally:
        ahead.drop()
    return replace(result, seconds=time.monotonic() - start)


def _audit(path: Path, options: Options, start: float, progress: Callable[[str], None]) -> FileResult:
    from verifier.isolation import sandbox as sandboxes

    policy, sandbox = options.policy, sandboxes.probe(options.sandbox)
    arch = policy.archs[0]
    progress("reading")
    begin_reading(options.problem, sandbox, options.cache)
    from verifier import contracts, frontend
    from verifier.contracts import problem as problems
    from verifier.gates.context import GateContext

    submission = _load(path, options, arch, sandbox)
    begin_parsing(submission, arch, sandbox, options.cache)
    doubts = _other_archs(path, options, submission, sandbox)
    problem = problems.load(options.problem, sandbox=sandbox) if options.problem else None
    derived = contracts.derive(
        submission,
        contract_file=options.contract,
        problem=problem,
        lock=options.lock,
        sandbox=sandbox,
        cap=policy.size_cap,
        cache=options.cache,
    )
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox, arch=arch)
    _refuse_broken(module)
    chosen = _select(derived, submission, options)
    reference = options.reference or derived.reference
    wanted = Policy.model_validate(
        policy.model_dump() | {"required_properties": options.properties or _worth_checking(policy)}
    )
    context = GateContext(
        submission=submission,
        module=_only(module, options),
        contracts=chosen.contracts,
        policy=wanted,
        required=options.properties or policy.required_properties,
        sandbox=sandbox,
        problem=problem,
        reference=reference,
        seed=options.seed,
        effort=options.effort,
        jobs=options.jobs,
        keep=_kept(submission, module, options),
        obligations=_folder(options.keep_obligations, submission) if options.keep_obligations else None,
        deadline=start + options.timeout - min(GRACE, options.timeout / 10),
        cache=options.cache,
        run_wrapper=options.run_wrapper,
        backend=options.backend or policy.sanitize,
        progress=progress,
    )
    required = _required(policy, reference is not None or problem is not None)
    run: list[GateResult] = []
    for name in GATES:
        if name in (options.gates or required):
            run.append(_run_gate(name, context, options.verbose))
            settled = _settled(context.contracts, run[-1])
            context = replace(context, contracts=settled, earlier=tuple(run))
    gates = agree(run)
    case = Case(
        policy=policy,
        kernels=_kernel_names(submission, options),
        contracts=chosen.contracts,
        required=required,
        doubts=(*doubts, *_doubts(submission, module, derived)),
        numerics_hint="fuzz not selected" if reference or problem else _suggestion(submission),
        selected_only=options.kernel is not None,
    )
    judgement = judge(gates, case)
    return FileResult(
        path=submission.path,
        sha256=submission.sha256,
        verdict=judgement.outcome,
        seconds=0.0,
        gates=gates,
        headline=headline(judgement, gates, policy),
        reasons=judgement.reasons,
        not_checked=judgement.not_checked,
        draft=_reviewable(derived.draft, gates),
        texts={t.path: t.text for t in submission.texts if not t.lines} | {submission.path: submission.raw},
    )


def begin_reading(problem: Path | None, sandbox: Sandbox, cache: Path | None) -> None:
    """Start the children that every file needs; ``ahead.drop`` ends those that were not needed."""
    from verifier.frontend.host import begin_host

    begin_host(sandbox=sandbox, cache=cache)
    from verifier.contracts.problem import begin_load
    from verifier.frontend.device import begin_device

    if problem is not None:
        begin_load(problem, sandbox=sandbox)
    begin_device(sandbox=sandbox)


def begin_parsing(submission: Submission, arch: str, sandbox: Sandbox, cache: Path | None) -> None:
    """Give them what is known of their requests."""
    from verifier.frontend.device import begin_device
    from verifier.frontend.host import begin_host

    begin_host(submission.host, sandbox=sandbox, cache=cache)
    begin_device(submission.device, sandbox=sandbox, arch=arch)


def _load(path: Path, options: Options, arch: str, sandbox: Sandbox) -> Submission:
    from verifier import source
    from verifier.source.compile_commands import Settings, settings

    build = settings(options.compile_commands, path) if options.compile_commands else Settings()
    return source.load(
        path,
        root=options.root,
        include_dirs=(*options.include_dirs, *build.include_dirs),
        defines={**build.defines, **options.defines},
        arch=arch,
        sandbox=sandbox,
        host_files=options.host_files,
        flags=build.flags,
    )


def _other_archs(path: Path, options: Options, first: Submission, sandbox: Sandbox) -> tuple[str, ...]:
    """A text that differs between the target architectures is several programs; only the first was looked at."""
    if "__CUDA_ARCH__" not in first.raw and not first.device.user_headers:
        return ()
    archs = options.policy.archs
    others = (a for a in archs[1:] if _load(path, options, a, sandbox).device.sha256 != first.device.sha256)
    return tuple(
        f"{path}: its device code for {other} differs from that for {archs[0]}, which was checked;"
        f" check it with --arch {other}"
        for other in others
    )


def _failed(error: Exception, path: Path, options: Options) -> FileResult:
    """The result of a file whose audit ended with an exception: bad input, no resources, or a bug of ours."""
    blank = FileResult(str(path), "", Outcome.ERROR, 0.0, ())
    try:
        from verifier.contracts import ContractError
        from verifier.frontend import FrontEndFailed
        from verifier.isolation.sandbox import SandboxMissing
        from verifier.source import NoKernel, SourceError
    except ImportError:
        return replace(blank, message=_internal(error, path, options.verbose))
    match error:
        case NoKernel():
            return replace(blank, verdict=Outcome.NOT_RUN, bad_input=True, message=located(error, path))
        case SourceError() | ContractError():
            return replace(blank, bad_input=True, message=located(error, path))
        case BadInput():
            return replace(blank, bad_input=True, message=str(error))
        case SandboxMissing() | DeadlinePassed() | FrontEndFailed(limit=True):
            match error:
                case SandboxMissing():
                    reason = f"no sandbox: {error}"
                case DeadlinePassed():
                    reason = f"resources: not done after {options.timeout:.0f} s (--timeout)"
                case _:
                    reason = f"resources: {error}"
            blank = replace(blank, verdict=Outcome.INCONCLUSIVE, headline=f"not decided: {reason}")
            return replace(blank, reasons=(reason,), not_checked=("the file as a whole not checked",))
        case _:
            return replace(blank, message=_internal(error, path, options.verbose))


def _required(policy: Policy, has_reference: bool) -> tuple[str, ...]:
    """``fuzz`` is required as soon as there is something to compare with."""
    return tuple(g for g in GATES if g in policy.required_gates or (g == "fuzz" and has_reference))


def _settled(contracts: tuple[Contract, ...], done: GateResult) -> tuple[Contract, ...]:
    """After the proofs: the contracts with the size relations that a proof needs; later gates stay inside them."""
    if done.gate != "prove" or len(done.kernels) != len(contracts):
        return contracts
    return tuple(k.contract or c for k, c in zip(done.kernels, contracts, strict=True))


def _run_gate(name: str, context: GateContext, verbose: bool) -> GateResult:
    """One gate; what it throws is an ERROR of this gate, not the end of the others."""
    start = time.monotonic()
    if start > context.deadline:
        return GateResult(name, detail="resources: the time for this file was used up (--timeout)")
    context.progress(name)
    try:
        gate = importlib.import_module(f"verifier.gates.{name}")
        result: GateResult = gate.run(context)
    except DeadlinePassed:
        result = GateResult(name, detail="resources: cut off at the deadline (--timeout)")
    except Exception as error:
        facts = {"traceback": traceback.format_exc()} if verbose else {}
        result = GateResult(name, Outcome.ERROR, detail=_one_line(error), facts=facts)
    return result if result.seconds else replace(result, seconds=time.monotonic() - start)


def _select(derived: ContractSet, submission: Submission, options: Options) -> ContractSet:
    """The contracts of ``--kernel`` alone, or all."""
    if options.kernel is None:
        return derived
    names = [name for name, _ in submission.device.kernels]
    if options.kernel not in names:
        raise BadInput(f"{submission.path}: no kernel {options.kernel!r}; it has {', '.join(names)}")
    return replace(derived, contracts=tuple(c for c in derived.contracts if c.kernel == options.kernel))


def _only(module: Module, options: Options) -> Module:
    """The kernel of ``--kernel`` alone, or all."""
    return replace(module, kernels=tuple(k for k in module.kernels if options.kernel in (None, k.name)))


def _worth_checking(policy: Policy) -> tuple[str, ...]:
    """What the policy requires, and what there is a check for: a fault counts even where a proof is not required."""
    from verifier import checks

    there = {p.stem.rstrip("_").replace("_", "-") for p in Path(checks.__path__[0]).glob("*.py")}
    return tuple(p for p in PROPERTIES if p in policy.required_properties or p in there)


def _suggestion(submission: Submission) -> str:
    """Why numbers are not compared; a reference is suggested by the kernel's name, never assumed."""
    from fuzz.reference import suggest

    found = next((dotted for name, _ in submission.device.kernels if (dotted := suggest(name))), None)
    return f"no --reference; {found}?" if found else "no --reference"


def _reviewable(draft: str, gates: Sequence[GateResult]) -> str:
    """The draft with what the prover found in the place of guesses."""
    found: dict[str, str] = next((g.facts.get("preconditions", {}) for g in gates if g.gate == "prove"), {})
    tables = re.split(r"(?m)^(?=\[\[contract\]\])", draft)
    kept = (t for t in tables if not any(f'kernel = "{name}"' in t.splitlines()[1:2] for name in found))
    return "\n".join([*found.values(), "".join(kept)]).strip("\n") + "\n" if found else draft


def _kernel_names(submission: Submission, options: Options) -> tuple[str, ...]:
    names = dict.fromkeys(name for name, _ in submission.device.kernels)
    return tuple(n for n in names if options.kernel in (None, n))


def _doubts(submission: Submission, module: Module, derived: ContractSet) -> tuple[str, ...]:
    """What makes the input incomplete: no verdict on it can be green."""
    templates = (f"{span}: kernel template {name} is never instantiated" for name, span in module.templates)
    return (*submission.problems, *derived.problems, *templates)


def _refuse_broken(module: Module) -> None:
    """Errors inside the device text are bad input; nothing about such a text can be trusted."""
    errors = [d for d in module.diagnostics if d.severity in ("error", "fatal")]
    if errors:
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise BadInput(f"{errors[0].span}: {errors[0].message}{more}; make the device code compile first")


def _kept(submission: Submission, module: Module, options: Options) -> Path | None:
    """The folder for ``--keep`` with the device text and the IR in it."""
    if options.keep is None:
        return None
    from verifier.ir import printer

    folder = _folder(options.keep, submission)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "device.cu").write_text(submission.device.text, encoding="utf-8")
    (folder / "module.ir").write_text("\n\n".join(map(printer.show_kernel, module.kernels)), encoding="utf-8")
    return folder


def _folder(base: Path, submission: Submission) -> Path:
    return base / f"{Path(submission.path).name}-{submission.sha256[:8]}"


@contextlib.contextmanager
def _backstop(seconds: float) -> Iterator[None]:
    """Raise DeadlinePassed in the main thread after ``seconds``; elsewhere the caller's own kill has to do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def cut(*_: Any) -> None:
        raise DeadlinePassed

    before = signal.signal(signal.SIGALRM, cut)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def located(error: Exception, path: Path) -> str:
    """``path:line: what is wrong; what to do`` of a SourceError or ContractError."""
    span: Span | None = getattr(error, "span", None)
    where = str(path) if span is None or not span.path else str(span) if span.line else span.path
    message = getattr(error, "message", str(error))
    fix = getattr(error, "fix", "")
    return f"{where}: {message}" + (f"; {fix}" if fix else "")


def _internal(error: Exception, path: Path, verbose: bool) -> str:
    if verbose:
        return traceback.format_exc()
    return f"{path}: internal error: {_one_line(error)}; run again with -v for the traceback and report it"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]
