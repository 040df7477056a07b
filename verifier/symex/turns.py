"""Variables that a loop passes around: ``t = p; p = q; q = t;`` in each round (two buffers that change places).

Loop -> who holds in the next round what another held in this one. Invariant: none of its own; what is read off the text here
is checked on the executed round (``loops``).

Example: for the loop above ``{"p": "q", "q": "p"}``; so p is the first p in every even round, and the first q in every odd one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.expressions import Evaluator
from verifier.symex.syntax import assigned, leaves, strip_conversions
from verifier.symex.values import Value

LONGEST = 4


def turns_of(loop: ir.Loop, candidates: Collection[str]) -> dict[str, str]:
    """The closed cycles among the candidates."""
    held: dict[str, str | None] = {}

    def walk(stmts: tuple[ir.Stmt, ...]) -> None:
        for s in stmts:
            match s:
                case ir.Assign(var=var, value=value):
                    source = strip_conversions(value)
                    held[var] = held.get(source.name, source.name) if isinstance(source, ir.Read) else None
                case ir.Scope(label=label, body=body) if label not in leaves(body):
                    walk(body)
                case _:
                    held.update(dict.fromkeys(assigned((s,))))

    walk((*loop.head, *loop.body, *loop.step))
    out: dict[str, str] = {}
    for v in candidates:
        cycle = [v]
        while (
            len(cycle) <= LONGEST
            and (following := held.get(cycle[-1])) in candidates
            and following is not None
        ):
            if following == v:
                if len(cycle) > 1:
                    out[v] = cycle[1]
                break
            cycle.append(following)
    return out


def without(turns: Mapping[str, str], v: str) -> dict[str, str]:
    """The cycles that do not hold ``v``."""
    gone = set(cycle(turns, v))
    return {a: b for a, b in turns.items() if a not in gone}


def cycle(turns: Mapping[str, str], v: str) -> list[str]:
    """``v`` and what takes its place, round by round."""
    found = [v]
    while turns[found[-1]] != v:
        found.append(turns[found[-1]])
    return found


def turned(x: Evaluator, first: Mapping[str, Value], turns: Mapping[str, str], v: str, count: Term) -> Value:
    """What ``v`` holds at the head of round ``count``, from what all held at the loop's entry."""
    values = [first[w] for w in cycle(turns, v)]
    number = x.t.rem(count, x.t.const(len(values)))
    out = values[-1]
    for i in range(len(values) - 2, -1, -1):
        out = x.choose(x.t.eq(number, x.t.const(i)), 0, values[i], out)
    return out
