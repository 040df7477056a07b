"""A second solver's process: one JSON query a line, one JSON answer a line. Started by ``second``; killable at any time.

Query ``solver, smt2, seconds, core`` -> ``r`` (an answer for each check of the script), ``core`` (names of the assumptions
that were used, of a script with one check) and ``why``. cvc5 is imported here alone.

Example: ``{"solver": "cvc5", "smt2": "(set-logic ALL)(check-sat)", "seconds": 5, "core": false}``
"""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import Any

_MEMORY = 4 << 30


def answer(query: dict[str, Any]) -> dict[str, Any]:
    """The answer to one script."""
    try:
        outputs = (_cvc5 if query["solver"] == "cvc5" else _z3)(
            str(query["smt2"]), float(query["seconds"]), bool(query["core"])
        )
    except Exception as error:
        return {"r": [], "core": [], "why": " ".join(str(error).split())[:300]}
    return {**read(outputs), "why": ""}


def read(output: str) -> dict[str, Any]:
    """What a solver printed: answers, and the names of the last core."""
    results = re.findall(r"^(unsat|sat|unknown|timeout)\b", output, re.MULTILINE)
    core = re.search(r"^\((?!error)(.*)\)\s*$", output, re.MULTILINE | re.DOTALL)
    names = re.findall(r"\|([^|]*)\||([^\s()]+)", core[1]) if core and results == ["unsat"] else []
    return {"r": results, "core": [quoted or plain for quoted, plain in names]}


def script(smt2: str, core: bool) -> str:
    """The script with the question for its core."""
    return f"(set-option :produce-unsat-cores true)\n{smt2}(get-unsat-core)\n" if core else smt2


def _cvc5(smt2: str, seconds: float, core: bool) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    if "(push 1)" in smt2:
        solver.setOption("incremental", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script(smt2, core), "obligation")
    symbols = parser.getSymbolManager()
    printed: list[str] = []
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return "\n".join(printed)
        printed.append(str(command.invoke(solver, symbols)).strip())


def _z3(smt2: str, seconds: float, core: bool) -> str:
    import z3

    context = z3.Context()
    z3.set_param("timeout", int(seconds * 1000))
    said = str(z3.Z3_eval_smtlib2_string(context.ref(), smt2))
    if core and said.split() == ["unsat"]:  # it takes the question for a core as an error elsewhere
        context = z3.Context()
        return str(z3.Z3_eval_smtlib2_string(context.ref(), script(smt2, core)))
    return said


def main() -> None:
    """Serve until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.stdout.write(json.dumps({"ready": True}) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
