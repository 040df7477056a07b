"""A second solver, asked again what the first one answered: SMT-LIB text -> answers, within a time limit.

``cvc5`` and ``z3`` are the Python packages, each in a process that can be killed; anything else is a program that reads
an SMT-LIB file. Scripts come from a folder that anyone may have written, so that only what an obligation needs gets
through: no option and no command that reads or writes a file.

Example::

    with Second("cvc5", seconds=10) as solver:
        solver.ask("(set-logic ALL)(declare-const x Int)(assert (< x x))(check-sat)").results   # ("unsat",)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from types import TracebackType

from verifier.smt.second_worker import read, script
from verifier.smt.solver import Worker

PACKAGES = ("cvc5", "z3")
INSTALL = {"cvc5": "pip install 'verify-kernel[second-opinion]'", "z3": "pip install z3-solver"}
_COMMANDS = frozenset(
    ("set-logic", "declare-fun", "declare-const", "define-fun", "assert", "check-sat", "push", "pop")
)
_TOKEN = re.compile(r";[^\n]*|\|[^|]*\||[()]|[^\s()|;]+|\|")
_GRACE = 2.0
_OUTPUT = 1 << 20


class SolverMissing(Exception):
    """The solver that was asked for is not there; the message is one line."""


class BadScript(Exception):
    """A script with something that no obligation has."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``results``: unsat, sat or unknown for each check. ``core``: names of the assumptions that were used."""

    results: tuple[str, ...]
    core: tuple[str, ...] = ()
    why: str = ""


class Second:
    """A solver by name: ``cvc5``, ``z3``, or a program. Use as a context manager."""

    def __init__(self, name: str, seconds: float, core: bool = True) -> None:
        self.name, self.seconds, self.core = name, seconds, core
        self._worker: Worker | None = None
        if name in PACKAGES:
            self.program = ""
            if util.find_spec(name) is None:
                raise SolverMissing(f"{name} is not installed: {INSTALL[name]}")
        else:
            self.program = shutil.which(name) or ""
            if not self.program:
                raise SolverMissing(f"--solver {name}: neither {' nor '.join(PACKAGES)} nor a program")

    def __enter__(self) -> Second:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.kill()

    def ask(self, smt2: str, seconds: float | None = None) -> Reply:
        """The answers to a script. Raises BadScript."""
        check(smt2)
        limit = self.seconds if seconds is None else min(seconds, self.seconds)
        checks = smt2.count("(check-sat)")
        core = self.core and checks == 1
        wall = limit * checks + _GRACE
        data = self._run(smt2, core, wall) if self.program else self._served(smt2, core, wall, limit)
        results = tuple(str(r) if r in ("unsat", "sat") else "unknown" for r in data["r"])  # type: ignore[attr-defined]
        return Reply(
            (*results, *("unknown",) * (checks - len(results)))[:checks],
            tuple(map(str, data.get("core", ()))),  # type: ignore[call-overload]
            str(data.get("why", "")),
        )

    def _served(self, smt2: str, core: bool, wall: float, limit: float) -> dict[str, object]:
        if self._worker is None:
            self._worker = Worker("verifier.smt.second_worker")
        query = {"solver": self.name, "smt2": smt2, "seconds": limit, "core": core}
        reply = self._worker.ask(query, wall)
        if reply is None:
            self._worker = None
            return {"r": [], "why": f"stopped after {wall:.0f} s"}
        return reply

    def _run(self, smt2: str, core: bool, wall: float) -> dict[str, object]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "obligation.smt2")
            file.write_text(script(smt2, core), encoding="utf-8")
            said = Path(folder, "said")
            try:
                with said.open("wb") as out:
                    subprocess.run(
                        ["prlimit", f"--fsize={_OUTPUT}", "--", self.program, str(file)], stdin=subprocess.DEVNULL,
                        stdout=out, stderr=out, timeout=wall, check=False,
                    )  # fmt: skip
            except subprocess.TimeoutExpired:
                return {"r": [], "why": f"stopped after {wall:.0f} s"}
            except OSError as error:
                return {"r": [], "why": str(error)}
            text = said.read_text("utf-8", "replace")
        found = read(text)
        return {**found, "why": "" if found["r"] else " ".join(text[:400].split())[:200]}


def check(smt2: str) -> None:
    """Raise BadScript unless the text is assertions and questions alone."""
    if "\\" in smt2 or '"' in smt2:
        raise BadScript("not a script of an obligation: it has a quotation mark or a backslash")
    depth, opened = 0, False
    for token in _TOKEN.findall(smt2):
        if token.startswith(";"):
            continue
        if (opened and token not in _COMMANDS) or token == "|" or (depth == 0 and token != "("):
            raise BadScript(f"not a script of an obligation: {token[:40]!r}")
        opened = token == "(" and depth == 0
        depth += (token == "(") - (token == ")")
    if depth:
        raise BadScript("not a script of an obligation: it ends too early")
