"""Clause texts as syntax: substitution, normal form, which clauses matter for which symbols.

Example: ``rename(contract, {"x_0": "rows"})`` is the same contract with another name.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from specs.clauses import FUNCTIONS, INT_TYPES, ClauseError, ClauseUndefined, evaluate
from specs.contract import Clause, Contract

_LONGEST, _DEEPEST = 4000, 80


def too_long(text: str) -> bool:
    """Whether a term is longer, or nested deeper, than one that is worth following (Python reads 200 levels)."""
    if len(text) < 4 * _DEEPEST:
        return False
    if len(text) > _LONGEST:
        return True
    depth = deepest = 0
    for char in text:
        if char == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif char == ")":
            depth -= 1
    return deepest > _DEEPEST


class Substitute(ast.NodeTransformer):
    def __init__(self, replacements: dict[str, str]) -> None:
        self.replacements = replacements

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.replacements.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


class Simplify(ast.NodeTransformer):
    """``x * 1``, ``1 * x``, ``x // 1``, ``x * n // n`` and ``x == x`` of what substitution left; nothing else."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left, right = node.left, node.right
        if isinstance(node.op, ast.Mult):
            if isinstance(left, ast.Constant) and left.value == 1:
                return right
            if isinstance(right, ast.Constant) and right.value == 1:
                return left
        if isinstance(node.op, ast.FloorDiv) and isinstance(right, ast.Constant) and right.value == 1:
            return left
        if isinstance(node.op, ast.FloorDiv) and isinstance(right, ast.Name) and isinstance(left, ast.BinOp):
            if (
                isinstance(left.op, ast.Mult)
                and isinstance(left.right, ast.Name)
                and left.right.id == right.id
            ):
                return left.left  # a division by zero ends the program
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            if ast.dump(node.left) == ast.dump(node.comparators[0]):
                return ast.Constant(True)
        return node


class Unconverted(ast.NodeTransformer):
    """Without conversions: the value as mathematics has it."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id in INT_TYPES else node


@lru_cache(maxsize=4096)
def unconverted(text: str) -> str:
    return ast.unparse(Unconverted().visit(ast.parse(text, mode="eval").body))


@lru_cache(maxsize=4096)
def equalities(text: str) -> tuple[tuple[str, str], ...]:
    """What a clause equates: pairs of names, or a name and a number from 1 on."""
    out: list[tuple[str, str]] = []
    todo = [ast.parse(text, mode="eval").body]
    while todo:
        match todo.pop():
            case ast.BoolOp(op=ast.And(), values=values):
                todo += values
            case ast.Compare(left=ast.Name(id=a), ops=[ast.Eq()], comparators=[ast.Name(id=b)]):
                out.append((a, b))
            case ast.Compare(left=ast.Name(id=a), ops=[ast.Eq()], comparators=[ast.Constant(value=int(v))]):
                if v >= 1 and not isinstance(v, bool):
                    out.append((a, str(v)))
    return tuple(out)


def rename(contract: Contract, names: dict[str, str]) -> Contract:
    """The same contract with other symbol names."""
    if not names:
        return contract

    def new(text: str) -> str:
        return ast.unparse(Substitute(names).visit(ast.parse(text, mode="eval").body))

    def clause(c: Clause) -> Clause:
        return replace(c, text=new(c.text))

    launch = contract.launch
    return replace(
        contract,
        launch=replace(
            launch,
            grid=(new(launch.grid[0]), new(launch.grid[1]), new(launch.grid[2])),
            block=(new(launch.block[0]), new(launch.block[1]), new(launch.block[2])),
            shared_bytes=new(launch.shared_bytes),
        ),
        symbols=tuple(replace(s, name=names.get(s.name, s.name)) for s in contract.symbols),
        buffers=tuple(
            replace(
                b,
                extent=new(b.extent),
                shape=tuple(new(t) for t in b.shape),
                content=(new(b.content[0]), new(b.content[1])) if b.content else None,
            )
            for b in contract.buffers
        ),
        scalars=tuple(replace(s, value=None if s.value is None else new(s.value)) for s in contract.scalars),
        requires=tuple(clause(c) for c in contract.requires),
        result_shape=None if contract.result_shape is None else tuple(new(t) for t in contract.result_shape),
    )


def mentioned(*texts: str) -> set[str]:
    out: set[str] = set()
    for text in texts:
        out |= _names_in(text)
    return out


@lru_cache(maxsize=20_000)
def _names_in(text: str) -> frozenset[str]:
    found = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    return frozenset(found - set(FUNCTIONS))


def relevant(clauses: list[Clause], used: set[str]) -> list[Clause]:
    """Clauses that share symbols, directly or through others, with what the launch uses. A clause without symbols stays."""
    reached = set(used)
    pending = [(c, mentioned(c.text)) for c in clauses]
    kept: set[int] = set()
    changed = True
    while changed:
        changed = False
        for index, (_, names) in enumerate(pending):
            if index not in kept and (not names or names & reached):
                kept.add(index)
                if not names <= reached:
                    reached |= names
                    changed = True
    return [c for i, (c, names) in enumerate(pending) if i in kept and (names or not _holds(c.text))]


def _holds(text: str) -> bool:
    """Whether a clause without symbols is true, and so says nothing."""
    try:
        return bool(evaluate(text, {}))
    except (ClauseError, ClauseUndefined):
        return False


def without_duplicates(clauses: list[Clause]) -> list[Clause]:
    out: dict[tuple[str, str], Clause] = {}
    for clause in clauses:
        out.setdefault((clause.text, clause.note if clause.text == "True" else ""), clause)
    return list(out.values())
