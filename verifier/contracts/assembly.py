"""From a submission to its contracts: stated, lifted and drafted, combined per launch. See the package's docstring."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specs.contract import Contract
from verifier.contracts import combine, device_choice, entries, kernel_uses
from verifier.contracts import lock as lock_file
from verifier.contracts.caller import Caller, input_sizes, parameter_sizes
from verifier.contracts.draft import draft
from verifier.contracts.entries import Lifted
from verifier.contracts.paths import explore
from verifier.contracts.problem import Problem
from verifier.contracts.python_state import changes_elsewhere, kept
from verifier.contracts.run import Run
from verifier.contracts.stated import read_toml
from verifier.frontend.host import HostCode, HostUnreadable, read_host
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import Submission


@dataclass(frozen=True, slots=True)
class ContractSet:
    """``instantiations``: (kernel, template arguments) that launches or contracts name, for the device front end.

    ``unlaunched``: kernels without any contract. ``problems``: what could not be read or lifted, one line each.
    ``reference``: the reference op that a person stated. ``draft``: contract text to review for what is missing.
    ``notes``: how the contracts were found, where that is worth a line (a caller that could not be followed …).
    """

    contracts: tuple[Contract, ...]
    instantiations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unlaunched: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    reference: str | None = None
    draft: str = ""
    notes: tuple[str, ...] = ()


def derive(
    submission: Submission,
    *,
    contract_file: Path | None,
    problem: Problem | None,
    lock: Path | None,
    sandbox: Sandbox,
    cap: int = 1 << 30,
    cache: Path | None = None,
) -> ContractSet:
    """The contracts of every launch of ``submission``. Raises ContractError for a broken stated contract."""
    cap = max(cap, problem.largest() if problem is not None else 0)
    own = combine.submitted(submission)
    given = read_toml(contract_file, "file") if contract_file is not None else []
    combine.check_names([*own, *given], submission)
    accepted = lock_file.read(lock)
    code, unread = _host(submission, sandbox, cache)
    lifted = (
        lift(submission, code, problem=problem, cap=cap) if code is not None else Lifted(problems=[unread])
    )
    contracts, notes = list(lifted.contracts), list(lifted.notes)
    nodes = {k["name"]: k for k in code.kernels} if code is not None else {}
    typed = {s.kernel for s in given}
    for stated in [*given, *(s for s in own if s.kernel not in typed)]:
        if stated.empty and stated.reference is None:
            continue
        trusted = (
            stated.source == "file" or stated.empty or lock_file.is_accepted(stated, submission, accepted)
        )
        before = [c for c in contracts if c.kernel == stated.kernel]
        if stated.empty and not before:
            continue
        joined, more = combine.join(stated, before, nodes.get(stated.kernel), accepted=trusted, cap=cap)
        touched = [c for c in before if combine.applies(stated, c)]
        contracts = [c for c in contracts if c not in touched] + joined
        notes += more
    kernels = [name for name, _ in submission.device.kernels]
    launched = {c.kernel for c in contracts}
    missing = tuple(k for k in kernels if k not in launched)
    reference = next((s.reference for s in (*given, *own) if s.reference is not None), None)
    return ContractSet(
        contracts=tuple(contracts),
        instantiations=tuple(dict.fromkeys((c.kernel, c.instantiation) for c in contracts)),
        unlaunched=missing,
        problems=tuple(lifted.problems),
        reference=reference,
        draft=draft([nodes[k] for k in kernels if k in nodes], contracts),
        notes=tuple(dict.fromkeys(notes)),
    )


def _host(submission: Submission, sandbox: Sandbox, cache: Path | None) -> tuple[HostCode | None, str]:
    try:
        return read_host(submission.host, sandbox=sandbox, cache=cache), ""
    except HostUnreadable as error:
        return None, str(error)


def lift(submission: Submission, code: HostCode, *, problem: Problem | None, cap: int) -> Lifted:
    """Everything that the host code says."""
    if submission.kind == "python":
        return lift_python(submission, code, problem, cap)
    out = Lifted()
    paired = (
        paired_function(code, problem) if submission.kind == "extension" and problem is not None else None
    )
    for usr in entries.entry_points(code):
        if usr == paired and problem is not None:
            _extend(out, lift_paired(submission, code, usr, problem, cap))
        else:
            _extend(out, entries.lift_entry(code, usr, cap, submission.device.text))
    return _finished(out, code)


def paired_function(code: HostCode, problem: Problem) -> str | None:
    """The one function that an extension binds, where its parameters are the problem's inputs by number and kind."""
    bound = set(entries.bindings(code).values()) or entries.exported(code)
    if len(bound) != 1:
        return None
    usr = next(iter(bound))
    params = code.functions[usr]["params"]
    if len(params) != len(problem.inputs):
        return None
    kinds = ["tensor" if "Tensor" in p["type"] else "number" for p in params]
    given = ["tensor" if a.kind == "tensor" else "number" for a in problem.inputs]
    return usr if kinds == given else None


def lift_paired(submission: Submission, code: HostCode, usr: str, problem: Problem, cap: int) -> Lifted:
    """The bound function on the problem's inputs, by position."""
    name = code.functions[usr]["name"]

    def execute(run: Run) -> None:
        Caller(run, "", submission.path, code, problem).pass_inputs(usr)

    out = entries.collect(explore(execute), cap, name)
    out.notes.append(f"{submission.path}: {name} is paired with the problem's inputs by position")
    return out


def lift_python(submission: Submission, code: HostCode, problem: Problem | None, cap: int) -> Lifted:
    """Through the caller where it can be followed; each launcher on its own where it cannot."""
    out = Lifted()
    called: set[str] = set()
    evaluated: set[tuple[int, int]] = set()
    complete = False
    if "ModelNew" in submission.python:

        def execute(run: Run, sizes: frozenset[str]) -> None:
            caller = Caller(run, submission.python, submission.path, code, problem, sizes)
            try:
                caller.start()
            finally:
                called.update(caller.called)
                evaluated.update(caller.evaluated)

        try:
            sizes: frozenset[str] = frozenset()
            if problem is not None:  # one path tells which names are sizes of parameters
                (first,) = explore(lambda run: execute(run, frozenset()), max_paths=1).runs
                sizes = parameter_sizes(first, problem) - input_sizes(problem)
            called.clear()
            evaluated.clear()
            found = explore(lambda run: execute(run, sizes))
            complete = found.complete
            _extend(out, entries.collect(found, cap, "ModelNew", alone=False))
            left = changes_elsewhere(kept(ast.parse(submission.python)), evaluated) if complete else None
            if left is not None:
                complete = False
                out.notes.append(
                    f"{submission.path}:{left.lineno}: what this may change for later calls is not followed"
                )
        except SyntaxError as error:
            out.notes.append(f"{submission.path}: the Python code does not parse: {error.msg}")
    elsewhere = called_elsewhere(submission.python, evaluated) if complete else set()
    for usr in entries.entry_points(code):
        name = code.functions[usr]["name"].split("::")[-1]
        if not complete or usr not in called or name in elsewhere:
            _extend(out, entries.lift_entry(code, usr, cap))
    return _finished(out, code)


def called_elsewhere(source: str, evaluated: set[tuple[int, int]]) -> set[str]:
    """Names of functions that are called at a place which was not followed (``backward``, other methods, the module)."""
    tree = ast.parse(source)
    main = [n for n in tree.body if isinstance(n, ast.If) and "__main__" in ast.unparse(n.test)]
    skipped = {id(n) for block in main for n in ast.walk(block)}
    out: set[str] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and id(node) not in skipped
            and (node.lineno, node.col_offset) not in evaluated
        ):
            match node.func:
                case ast.Attribute(attr=name) | ast.Name(id=name):
                    out.add(name)
    return out


def _extend(out: Lifted, more: Lifted) -> None:
    out.contracts += more.contracts
    out.problems += more.problems
    out.notes += more.notes
    out.sites |= more.sites


def _finished(out: Lifted, code: HostCode) -> Lifted:
    """A launch that stands in the host code but was reached on no path is a problem of its own."""
    missed: dict[str, list[str]] = {}
    for kernel, places in entries.launch_sites(code).items():
        for place in places:
            if place not in out.sites:
                missed.setdefault(kernel, []).append(str(place))
    for kernel, places_ in missed.items():
        line = f"{places_[0]}: the launch of {kernel} was not reached by any path that is followed"
        out.problems.append(line)
        out.contracts = [replace(c, gaps=(*c.gaps, line)) if c.kernel == kernel else c for c in out.contracts]
    seen = {(s.path, s.line) for places in entries.launch_sites(code).values() for s in places}
    lines = _continued(code, seen)
    for place in code.launches:
        if (place.path, place.line) not in lines:
            said = next(
                (m for m, span, _ in code.errors if (span.path, span.line) == (place.path, place.line)), ""
            )
            out.problems.append(
                f"{place}: {said or 'a launch in code that is never instantiated or not understood'}"
            )
    choices = (("", line) for line in device_choice.chosen(code))
    for kernel, line in (*kernel_uses.unseen(code), *choices):
        out.problems.append(line)
        out.contracts = [
            replace(c, gaps=(*c.gaps, line)) if kernel in ("", c.kernel) else c for c in out.contracts
        ]
    out.problems = list(dict.fromkeys(out.problems))
    out.contracts = _unique(out.contracts)
    return out


def _continued(code: HostCode, seen: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The lines of launches, and a few after each: the ``<<<`` may stand below the kernel's name."""
    return {(path, line + more) for path, line in seen for more in range(6)}


def _unique(contracts: Sequence[Contract]) -> list[Contract]:
    seen: set[str] = set()
    out: list[Contract] = []
    for contract in contracts:
        key = entries.digest(contract)
        if key not in seen:
            seen.add(key)
            out.append(contract)
    return out
