"""The dims of a launch's tensors as clause text: free shapes become symbols, equal dims one symbol.

Invariant: what is written instead of a symbol equals it on every path that reaches the launch.

Example: after ``TORCH_CHECK(x.dim() == 2)`` the placeholder ``x_numel`` is written ``x_0 * x_1``.
"""

from __future__ import annotations

import ast

from verifier.contracts.clause_text import Simplify, Substitute, equalities
from verifier.contracts.objects import Shape
from verifier.contracts.run import FreeShape, Run, Seen, SymbolInfo
from verifier.contracts.values import Int


class Shapes:
    """``made``: symbols that the launch's code did not ask for. ``plain``: the replacements without those that
    ``_equate`` adds; the clauses that equate two dims are written with these."""

    def __init__(self, run: Run, seen: Seen) -> None:
        self.run, self.seen = run, seen
        self.replacements: dict[str, str] = {}
        self.made: dict[str, SymbolInfo] = {}
        self._unify()
        for name, shape in run.shapes.items():
            self._resolve(name, shape)
        self.plain = dict(self.replacements)
        self._equate()
        self.cache = run.texts.setdefault(tuple(self.replacements.items()), {})

    # --- free shapes -------------------------------------------------------------------------------------------------

    def _unify(self) -> None:
        """Shapes that a check found equal are asked for the same dims."""
        for _ in range(2):
            for fact in self.seen.path:
                if fact.prefix is not None and isinstance(fact.prefix[1], Shape):
                    first, second = (self.run.shapes[s.name] for s in fact.prefix if isinstance(s, Shape))
                    second.positive |= first.positive
                if fact.same is None:
                    continue
                a, b = fact.same
                if isinstance(a, Shape) and isinstance(b, Shape):
                    left, right = self.run.shapes[a.name], self.run.shapes[b.name]
                    left.positive |= right.positive
                    right.positive |= left.positive

    def rank(self, name: str) -> int | None:
        return self.seen.ranks.get(name)

    def _dim(self, name: str, index: int) -> str:
        text = self.run.part(name, index)
        if text not in self.run.symbols:
            self.made[text] = SymbolInfo("dim", f"{name}.size({index})", low=1)
        return text

    def dims(self, name: str) -> list[str]:
        """The dims of a free shape, outermost first, with a rest that stands for the dims nobody asked for."""
        shape, rank = self.run.shapes[name], self.rank(name)
        if shape.row_of:
            return self.dims(shape.row_of)[1:] or [self.run.part(name, "numel")]
        if rank is not None:
            return [self._dim(name, i) for i in range(rank)]
        if shape.positive and not shape.negative:
            known = [self._dim(name, i) for i in range(max(shape.positive) + 1)]
            rest = self.run.part(name, "rest")
            self.made[rest] = SymbolInfo(
                "dim", f"product of the dims of {name} after size({max(shape.positive)})", low=1
            )
            return [*known, rest]
        if shape.negative and not shape.positive:
            known = [self._dim(name, i) for i in range(min(shape.negative), 0)]
            outer = self.run.part(name, "outer")
            self.made[outer] = SymbolInfo(
                "dim", f"product of the dims of {name} before size({min(shape.negative)})", low=1
            )
            return [outer, *known]
        numel = self.run.part(name, "numel")
        prefer = self.run.numel_prefer.get(numel, "")
        self.made[numel] = SymbolInfo("dim", f"{name}.numel()", low=1, prefer=prefer)
        if shape.positive:
            self.made[
                numel
            ].gap = (
                f"the rank of {name} is not known, but dims are counted from both ends: check {name}.dim()"
            )
        return [numel]

    def _resolve(self, name: str, shape: FreeShape) -> None:
        rank = self.rank(name)
        if rank is not None:
            for index in shape.negative:
                if index + rank >= 0:
                    self.replacements[self.run.part(name, index)] = self._dim(name, index + rank)
            self.replacements[self.run.part(name, "rank")] = str(rank)
        dims = self.dims(name)
        numel = self.run.part(name, "numel")
        if dims != [numel]:
            self.replacements[numel] = f"({' * '.join(dims)})" if dims else "1"

    def _equate(self) -> None:
        """A dim that a check makes equal to another dim or to a number is written as that: fewer symbols, same launches."""
        for fact in self.seen.path:
            pairs: list[tuple[str, str]] = []
            if fact.same is not None:
                a, b = (
                    [d.text for d in s] if not isinstance(s, Shape) else self.dims(s.name) for s in fact.same
                )
                pairs = list(zip(a, b, strict=True)) if len(a) == len(b) else []
            elif fact.prefix is not None:
                pairs = [p for text in self.prefix(*fact.prefix) for p in equalities(text)]
            else:
                pairs = list(equalities(fact.text))
            for one, other in pairs:
                one, other = self._final(one), self._final(other)
                if not self._may_go(one) or (self._may_go(other) and self._earlier(one, other)):
                    one, other = other, one
                if one != other and self._may_go(one) and (other.isdigit() or self._is_dim(other)):
                    self.replacements[one] = other

    def _final(self, name: str) -> str:
        while name in self.replacements and self.replacements[name].isalnum():
            name = self.replacements[name]
        return self.replacements.get(name, name) if name.isidentifier() else name

    def _is_dim(self, name: str) -> bool:
        info = self.info(name)
        return info is not None and info.kind == "dim" and info.low in (0, 1)

    def _may_go(self, name: str) -> bool:
        """A dim of a tensor of the caller of which nothing else is known."""
        info = self.info(name)
        return (
            self._is_dim(name)
            and info is not None
            and info.value is None
            and not info.gap
            and info.high is None
        )

    def _earlier(self, one: str, other: str) -> bool:
        order = [*self.run.symbols, *self.made]
        return order.index(one) < order.index(other)

    # --- text --------------------------------------------------------------------------------------------------------

    def text(self, text: str) -> str:
        """A clause with placeholders resolved, in normal form."""
        found = self.cache.get(text)
        if found is None:
            found = self.cache[text] = self.normal(text)
        return found

    def normal(self, text: str, replacements: dict[str, str] | None = None) -> str:
        table = self.replacements if replacements is None else replacements
        node = ast.parse(text, mode="eval").body
        for _ in range(5):
            if not any(isinstance(n, ast.Name) and n.id in table for n in ast.walk(node)):
                break
            node = Substitute(table).visit(node)
        return ast.unparse(Simplify().visit(node))

    def prefix(self, first: Shape, second: Shape | tuple[Int, ...]) -> list[str]:
        """Of a shape without a rank, the dims that the host code asked for before the launch exist, no others."""
        rank = self.rank(first.name)
        indices = range(rank) if rank is not None else sorted(self.seen.asked.get(first.name, ()))
        out: list[str] = []
        for index in indices:
            if isinstance(second, Shape):
                other = self.rank(second.name)
                if other is None or index < other:
                    out.append(f"({self._dim(first.name, index)} == {self._dim(second.name, index)})")
            elif index < len(second):
                out.append(f"({self._dim(first.name, index)} == {second[index].text})")
        return [self.normal(t, self.plain) for t in out]

    def info(self, name: str) -> SymbolInfo | None:
        return self.made.get(name) or self.run.symbols.get(name)
