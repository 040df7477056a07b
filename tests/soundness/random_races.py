"""Random kernels with shared and global memory, barriers, counters that wrap and tickets, and whether they race.

A kernel is made of statements that are printed as CUDA and run in Python. Within a barrier interval threads run one after
the other: if that shows no conflict for an input, no schedule does, since each thread then sees what it would see alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

BLOCK, GRID = 8, 2
ROUNDS = 300
"""Of a loop: more than the values of a byte; one that has not ended by then is cut off."""
TYPES = {"unsigned char": (8, False), "signed char": (8, True), "int": (32, True), "unsigned": (32, False)}
Env = dict[str, int]


@dataclass(frozen=True)
class Statement:
    """kind: load, store, if, barrier, repeat (a constant number of times), stride, ticket."""

    kind: str
    text: tuple[str, ...] = ()
    body: tuple[Statement, ...] = ()


def printed(body: tuple[Statement, ...]) -> str:
    out = []
    for s in body:
        inner = printed(s.body)
        match s.kind, *s.text:
            case "load", name, array, index:
                out.append(f"int {name} = {array}[{index}];")
            case "store", array, index, value:
                out.append(f"{array}[{index}] = {value};")
            case "if", test:
                out.append(f"if ({test}) {{ {inner} }}")
            case ("barrier",):
                out.append("__syncthreads();")
            case "repeat", name, count:
                out.append(f"for (int {name} = 0; {name} < {count}; ++{name}) {{ {inner} }}")
            case "stride", type_, name, first, test, step:
                out.append(f"for ({type_} {name} = {first}; {name} {test}; {name} += {step}) {{ {inner} }}")
            case "ticket", name, amount:
                out.append(f"int {name} = atomicAdd(&cnt[0], {amount});")
    return " ".join(out)


@dataclass
class Run:
    """One launch: memory, and who touched what (thread None: any thread of other blocks as well)."""

    memory: dict[tuple[str, int, int], int]
    conflict: bool = False
    interval: dict[tuple[str, int, int], list[tuple[int, str]]] = field(default_factory=dict)
    grid: dict[tuple[str, int, int], list[tuple[int, str]]] = field(default_factory=dict)

    def touch(self, array: str, index: int, env: Env, kind: str) -> tuple[str, int, int]:
        at = (array, env["b"] if array == "s" else -1, index)
        for seen, who in ((self.interval, env["t"]), (self.grid, env["b"])):
            if seen is self.grid and array == "s":
                continue
            mine = seen.setdefault(at, [])
            for other, was in mine:
                if other != who and not kind == was == "read" and not kind == was == "atomic":
                    self.conflict = True
            mine.append((who, kind))
        return at


def thread(body: tuple[Statement, ...], env: Env, run: Run) -> Iterator[None]:
    def value(text: str) -> int:
        return int(eval(text.replace("&&", " and "), {}, env))

    for s in body:
        match s.kind, *s.text:
            case "load", name, array, index:
                at = run.touch(array, value(index), env, "read")
                env[name] = run.memory.get(at, 0)
            case "store", array, index, what:
                new = value(what)
                run.memory[run.touch(array, value(index), env, "write")] = new
            case "if", test:
                if value(test):
                    yield from thread(s.body, env, run)
            case ("barrier",):
                yield
            case "repeat", name, count:
                for env[name] in range(int(count)):
                    yield from thread(s.body, env, run)
            case "stride", type_, name, first, test, step:
                bits, signed = TYPES[type_]
                env[name] = value(first)
                for _ in range(ROUNDS):
                    if not value(f"{name} {test}"):
                        break
                    yield from thread(s.body, env, run)
                    env[name] = (env[name] + value(step)) % (1 << bits)
                    if signed and env[name] >> (bits - 1):
                        env[name] -= 1 << bits
            case "ticket", name, amount:
                at = run.touch("cnt", 0, env, "atomic")
                env[name] = run.memory.get(at, 0)
                run.memory[at] = env[name] + value(amount)


def races(body: tuple[Statement, ...], seed: int) -> bool:
    """Whether some of a few inputs shows two conflicting accesses that nothing orders."""
    rng = random.Random(seed)
    for n in (0, 3, 8, 100, 250):
        values = [rng.randrange(3) for _ in range(64)]
        start = {("in", -1, i): v for i, v in enumerate(values)}
        run = Run(start | {("cnt", -1, 0): rng.choice((0, 7))})
        for b in range(GRID):
            live = [
                thread(body, {"t": t, "b": b, "i": b * BLOCK + t, "n": n}, run)
                for t in (range(BLOCK) if n % 2 else reversed(range(BLOCK)))
            ]
            while live:
                run.interval = {}
                live = [x for x in live if next(x, True) is None]
        if run.conflict:
            return True
    return False


class Maker:
    """Kernels from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.made = 0

    def name(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def kernel(self) -> tuple[Statement, ...]:
        return self.block([], self.rng.randint(2, 4), 2, True)

    def block(self, known: list[str], length: int, depth: int, uniform: bool) -> tuple[Statement, ...]:
        known = [*known]
        return tuple(s for _ in range(length) for s in self.statements(known, depth, uniform))

    def index(self, known: list[str]) -> str:
        r = self.rng
        base = r.choice(("t", "t", "t", "i", "i", f"(t + {r.randint(1, 3)}) % {BLOCK}", "0", *known[-2:]))
        return r.choice(
            (base, base, f"{base} + {r.choice((1, BLOCK, 2 * BLOCK))}", f"2 * {base} + {r.choice('01')}")
        )

    def statements(self, known: list[str], depth: int, uniform: bool) -> list[Statement]:
        r = self.rng
        array = r.choice(("s", "s", "out"))
        kind = r.random()
        if kind < 0.22:
            name = self.name("x")
            made = [Statement("load", (name, r.choice((array, "in")), self.index(known)))]
            known.append(name)
            return made
        if kind < 0.45:
            return [Statement("store", (array, self.index(known), r.choice(("1", "t", "i", "n", *known))))]
        if kind < 0.6 and uniform:
            return [Statement("barrier")]
        if not depth:
            return []
        if kind < 0.68:
            left = r.choice(("t", "i", *known))
            test = f"{left} {r.choice(('<', '==', '!='))} {r.choice(('n', '0', '3', *known))}"
            return [Statement("if", (test,), self.block(known, 2, depth - 1, False))]
        if kind < 0.76:
            return self.guarded(known, array)
        if kind < 0.84 and uniform:
            name = self.name("u")
            inside = self.block([*known, name], 2, depth - 1, True)
            return [Statement("repeat", (name, str(r.randint(1, 3))), inside)]
        if kind < 0.94:
            name, type_ = self.name("p"), r.choice(list(TYPES))
            first, step = r.choice(("t", "i", "t")), r.choice(("8", "16", "32", "7", "24"))
            test = r.choice(("< n", "< 64", "!= 250", "< 200"))
            at = r.choice((name, name, f"{name} + 300", f"2 * {name}"))
            return [
                Statement("stride", (type_, name, first, test, step), (Statement("store", (array, at, "t")),))
            ]
        name, amount = self.name("q"), r.choice(("1", "1", "2", "1 + t", "t"))
        at = r.choice((name, name, f"{name} + 1", f"2 * {name}", f"{name} + t"))
        return [Statement("ticket", (name, amount)), Statement("store", ("out", at, "t"))]

    def guarded(self, known: list[str], array: str) -> list[Statement]:
        """Read two places; write one of them where the two differ."""
        r = self.rng
        a, b = self.name("y"), self.name("y")
        mine, other = r.choice(("t", "i")), self.index(known)
        test = r.choice((f"{a} == 0 && {b} != 0", f"{a} != {b}", f"{a} == 0 && {b} == 0"))
        store = Statement("store", (array, r.choice((mine, mine, other)), r.choice(("1", "t"))))
        return [
            Statement("load", (a, array, mine)),
            Statement("load", (b, array, other)),
            Statement("if", (test,), (store,)),
        ]
