"""The one lowering of terms to a solver: terms -> SMT-LIB 2 text.

Integers are unbounded Int; C's truncating quotient and remainder are two fresh constants tied by their definition (see
``definitions``), bit operations go through bit-vectors. An opaque boolean over floats is one constant for each distinct
term, which is congruence because terms are hash-consed. Names of our own begin with ``%``, so that no name of a submission
is taken for one.

Example::

    script([guard, not_goal], wants=[x])  # "(set-logic ALL) … (declare-const %want0 Int) (assert (= %want0 x)) …"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from verifier.smt.definitions import closure, interval, quotient_bounds
from verifier.smt.terms import Const, PolyTerm, Term, Terms, atoms


class Lowering:
    """Builds one script."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Term, str] = {}
        self.declared: set[str] = set()

    def _declare(self, name: str, args: int, sort: str) -> str:
        quoted = f"|{name.replace('|', '!').replace(chr(92), '!')}|"
        if quoted not in self.declared:
            self.declared.add(quoted)
            self.lines.append(f"(declare-fun {quoted} ({' '.join(['Int'] * args)}) {sort})")
        return quoted

    def add(self, root: Term) -> str:
        """The SMT-LIB name of a term, defining it and what it needs."""
        for term in atoms([root]):
            if term not in self.names:
                self.names[term] = self._lower(term)
        return self.names[root]

    def _define(self, term: Term, sort: str, body: str) -> str:
        name = f"%n{term.id}"
        self.lines.append(f"(define-fun {name} () {sort} {body})")
        return name

    def _lower(self, term: Term) -> str:
        if isinstance(term, Const):
            return integer(term.value)
        if isinstance(term, PolyTerm):
            parts = []
            for mono, coef in term.monos:
                factors = [self.names[a] for a in mono]
                if coef != 1 or not factors:
                    factors.insert(0, integer(coef))
                parts.append(factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})")
            return self._define(term, "Int", parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})")
        a = [self.names[x] for x in term.args]
        match term.op:
            case "true" | "false":
                return term.op
            case "app":
                if not a:
                    return self._declare(term.name, 0, "Int")
                return self._define(term, "Int", f"({self._declare(term.name, len(a), 'Int')} {' '.join(a)})")
            case "bapp":
                if not a:
                    return self._declare(term.name, 0, "Bool")
                if any(x.op == "float" for x in term.args):
                    return self._declare(f"%f{term.id}", 0, "Bool")
                return self._define(
                    term, "Bool", f"({self._declare(term.name, len(a), 'Bool')} {' '.join(a)})"
                )
            case "float":
                return ""
            case "quot" | "rem":
                return self._declare(
                    f"%{'q' if term.op == 'quot' else 'r'}{term.args[0].id}_{term.args[1].id}", 0, "Int"
                )
            case "ite":
                return self._define(term, "Int", f"(ite {a[0]} {a[1]} {a[2]})")
            case "min":
                return self._define(term, "Int", f"(ite (<= {a[0]} {a[1]}) {a[0]} {a[1]})")
            case "max":
                return self._define(term, "Int", f"(ite (<= {a[0]} {a[1]}) {a[1]} {a[0]})")
            case "wrap":
                bits = int(term.name[1:])
                if term.name[0] == "u":
                    return self._define(term, "Int", f"(mod {a[0]} {1 << bits})")
                half = 1 << (bits - 1)
                return self._define(term, "Int", f"(- (mod (+ {a[0]} {half}) {1 << bits}) {half})")
            case "bv":
                op, bits = term.name.rstrip("0123456789"), int(term.name.lstrip("abcdefghijklmnopqrstuvwxyz"))
                args = " ".join(f"((_ int2bv {bits}) {x})" for x in a)
                return self._define(term, "Int", f"(bv2nat (bv{op} {args}))")
            case "le0":
                return self._define(term, "Bool", f"(<= {a[0]} 0)")
            case "eq0":
                return self._define(term, "Bool", f"(= {a[0]} 0)")
            case "not":
                return self._define(term, "Bool", f"(not {a[0]})")
            case "and" | "or":
                return self._define(term, "Bool", f"({term.op} {' '.join(a)})")
        raise AssertionError(term.op)


def integer(value: int) -> str:
    """An integer literal."""
    return str(value) if value >= 0 else f"(- {-value})"


def gather(t: Terms, roots: Iterable[Term], registered: Mapping[Term, Iterable[Term]]) -> list[Term]:
    """The facts a query over the roots may use: definitions, registered facts, quotient lemmas."""
    roots = list(roots)
    facts = closure(t, roots, registered)
    return [*facts, *quotient_bounds(t, [*roots, *facts])]


def script(t: Terms, assertions: Iterable[Term], wants: Iterable[Term] = (), comment: str = "") -> str:
    """The query: satisfiable iff the assertions are. ``wants`` become constants %want0, %want1, … for the model."""
    assertions, wants = list(assertions), list(wants)
    low = Lowering()
    if comment:
        low.lines.extend(f"; {line}" for line in comment.splitlines())
    everything = atoms([*assertions, *wants])
    for term in everything:
        if term not in low.names:
            low.names[term] = low._lower(term)
    for term in everything:
        if term.op in ("app", "quot", "rem"):
            for fact in interval(t, term):
                low.lines.append(f"(assert {low.add(fact)})")
    low.lines.extend(f"(assert {low.add(a)})" for a in assertions)
    for i, w in enumerate(wants):
        low.lines.append(
            f"(declare-const %want{i} {'Bool' if w.is_bool else 'Int'})\n(assert (= %want{i} {low.add(w)}))"
        )
    return "\n".join(["(set-logic ALL)", *low.lines, "(check-sat)", ""])
