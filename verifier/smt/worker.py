"""A solver process: reads one JSON query a line, answers one JSON line. Started by ``solver``; killable at any time.

The only module that imports z3. Each query gets a fresh context, a fixed seed and an rlimit, so the answer does not
depend on what was asked before.
"""

from __future__ import annotations

import json
import sys

import z3


def answer(query: dict[str, object]) -> dict[str, object]:
    """Query ``smt2, rlimit, wants, tactic`` -> ``r`` (unsat sat unknown error) and ``values``; wants: i or b each."""
    context = z3.Context()
    try:
        tactic = str(query.get("tactic", ""))
        if tactic:
            solver = z3.Tactic(tactic, ctx=context).solver()
        else:
            solver = z3.Solver(ctx=context)
        solver.set("rlimit", int(str(query["rlimit"])))
        solver.set("random_seed", 0)
        solver.from_string(str(query["smt2"]))
        result = str(solver.check())
        values: list[int] = []
        if result == "sat":
            model = solver.model()
            for i, sort in enumerate(str(query.get("wants", ""))):
                if sort == "b":
                    truth = model.eval(z3.Bool(f"%want{i}", context), model_completion=True)
                    values.append(int(z3.is_true(truth)))
                else:
                    value = model.eval(z3.Int(f"%want{i}", context), model_completion=True)
                    values.append(value.as_long())
        why = solver.reason_unknown() if result == "unknown" else ""
        return {"r": result, "values": values, "why": why}
    except z3.Z3Exception as error:
        return {"r": "error", "values": [], "why": str(error)[:500]}


def main() -> None:
    """Serve until the input ends."""
    z3.set_param("smt.random_seed", 0)
    z3.set_param("sat.random_seed", 0)
    z3.set_param("memory_max_size", 3000)
    sys.stdout.write(json.dumps({"ready": z3.get_version_string()}) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
