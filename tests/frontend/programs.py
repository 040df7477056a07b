"""Random integer functions in the common subset of CUDA and C++, without undefined behaviour under -fwrapv."""

from __future__ import annotations

import random

PARAMETERS = (
    ("int", "a"),
    ("unsigned", "b"),
    ("long long", "c"),
    ("short", "d"),
    ("unsigned char", "e"),
    ("bool", "g"),
    ("signed char", "h"),
    ("unsigned long", "u"),
)
_TYPES = (
    "int",
    "unsigned",
    "long long",
    "short",
    "unsigned char",
    "signed char",
    "unsigned long",
    "bool",
    "unsigned short",
)
_BINARY = ("+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", ",")


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = [name for _, name in PARAMETERS]
        self.bools = {"g"}
        self.fresh = 0
        self.loops = 0

    def expr(self, depth: int = 3) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.12:
            return self.leaf()
        if pick < 0.55:
            return f"({self.expr(depth - 1)} {self.random.choice(_BINARY)} {self.expr(depth - 1)})"
        if pick < 0.62:
            divisor = self.expr(depth - 1)
            operator = self.random.choice("/%")
            return f"safe_{'div' if operator == '/' else 'rem'}({self.expr(depth - 1)}, {divisor})"
        if pick < 0.69:
            operator = self.random.choice(("<<", ">>"))
            return f"({self.expr(depth - 1)} {operator} ({self.expr(depth - 1)} & {self.random.choice((7, 15, 31))}))"
        if pick < 0.77:
            return f"({self.expr(depth - 1)} ? {self.expr(depth - 1)} : {self.expr(depth - 1)})"
        if pick < 0.86:
            return f"({self.random.choice(_TYPES)})({self.expr(depth - 1)})"
        if pick < 0.93:
            return f"{self.random.choice('-~!+')}({self.expr(depth - 1)})"
        if pick < 0.96:
            return f"helper({self.expr(depth - 1)}, {self.expr(depth - 1)})"
        return f"t[({self.expr(depth - 1)}) & 3]"

    def leaf(self) -> str:
        if self.random.random() < 0.65:
            return self.random.choice(self.names)
        return self.random.choice(("0", "1", "-1", "7", "255", "65535", "0x7fffffff", "0x80000000u", "3u", "1ll", "'x'",
                                   "100000", "-128", "2ul", "true"))  # fmt: skip

    def block(self, depth: int, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        pick = self.random.random()
        name = self.random.choice(self.names)
        if pick < 0.2:
            self.fresh += 1
            new = f"v{self.fresh}"
            type_ = self.random.choice(_TYPES)
            line = f"{type_} {new} = {self.expr()};"
            if type_ == "bool":
                self.bools.add(new)
            self.names.append(new)
            return [line]
        if pick < 0.32:
            return [f"{name} = {self.expr()};"]
        if pick < 0.47:
            operator = self.random.choice(("+=", "-=", "*=", "&=", "|=", "^="))
            return [f"{name} {operator} {self.expr(2)};"]
        if pick < 0.52:
            return [f"{name} {self.random.choice(('<<=', '>>='))} ({self.expr(1)} & 7);"]
        if pick < 0.6:
            name = self.random.choice([n for n in self.names if n not in self.bools])
            other = self.random.choice([n for n in self.names if n != name])
            step = self.random.choice((f"{name}++", f"++{name}", f"{name}--", f"--{name}"))
            return [f"{step};" if self.random.random() < 0.5 else f"{other} = {step};"]
        if pick < 0.66:
            return [f"t[({self.expr(1)}) & 3] {self.random.choice(('=', '+=', '^='))} {self.expr(2)};"]
        if depth == 0:
            return [f"{name} = {self.expr(1)};"]
        if pick < 0.78:
            return self.scoped(f"if ({self.expr(2)})", depth) + (
                self.scoped("else", depth) if self.random.random() < 0.5 else []
            )
        if pick < 0.88:
            self.loops += 1
            counter = f"i{self.loops}"
            head = f"for (int {counter} = 0; {counter} < {self.random.randint(1, 4)}; ++{counter})"
            if self.random.random() < 0.3:
                return [f"{{ int {counter} = {self.random.randint(1, 3)};", *self.scoped("do", depth, jumps=True),
                        f"while (--{counter} > 0); }}"]  # fmt: skip
            return self.scoped(head, depth, jumps=True)
        if pick < 0.95:
            return self.switch(depth)
        return [f"if ({self.expr(1)}) return (long long)({self.expr(2)});"]

    def scoped(self, head: str, depth: int, jumps: bool = False) -> list[str]:
        known = list(self.names)
        inner = self.block(depth - 1, self.random.randint(1, 3))
        if jumps and self.random.random() < 0.5:
            inner.append(f"if ({self.expr(1)}) {self.random.choice(('break', 'continue'))};")
            inner += self.block(depth - 1, 1)
        self.names = known
        return [f"{head} {{", *inner, "}"]

    def switch(self, depth: int) -> list[str]:
        lines = [f"switch (({self.expr(2)}) & 3) {{"]
        values = self.random.sample((0, 1, 2, 3), self.random.randint(1, 4))
        default = self.random.randint(0, len(values)) if self.random.random() < 0.6 else -1
        for position, value in enumerate([*values, None]):
            if position == default:
                lines.append("default:")
            elif value is None:
                break
            if value is not None:
                lines.append(f"case {value}:")
            known = list(self.names)
            lines += ["{", *self.block(depth - 1, 1), "}"]
            self.names = known
            if self.random.random() < 0.6:
                lines.append("break;")
        return [*lines, "}"]

    def function(self, name: str) -> str:
        body: list[str] = []
        for _ in range(self.random.randint(4, 8)):
            body += self.statement(2)
        parameters = ", ".join(f"{type_} {p}" for type_, p in PARAMETERS)
        mix = " ^ ".join(f"((long long)({n}) * {2 * i + 1}LL)" for i, n in enumerate(self.names))
        text = "\n  ".join(
            ["int t[4] = {1, -2, 300, -40000};", *body, f"return {mix} ^ t[0] ^ t[1] ^ t[2] ^ t[3];"]
        )
        return f"__device__ long long {name}({parameters}) {{\n  {text}\n}}\n"


HELPERS = """
template <class T> __device__ long long widen(T value) { return (long long)value; }
__device__ long long safe_div(long long a, long long b) {
  if (b == 0 || b == -1) return a;
  return a / b;
}
__device__ int safe_rem(long long a, int b) {
  if (b == 0 || b == -1) return 5;
  return (int)(a % b);
}
__device__ unsigned helper(short x, unsigned char y) {
  int r = 0;
  while (y) { if (y & 1) { r += x; } if (r > 1000) return r; y >>= 1; }
  return widen(r) + x;
}
"""


def program(count: int, seed: int) -> str:
    parts = [HELPERS]
    parameters = ", ".join(f"{type_} {p}" for type_, p in PARAMETERS)
    names = ", ".join(p for _, p in PARAMETERS)
    for number in range(count):
        parts.append(Generator(seed * 1000 + number).function(f"f{number}"))
        parts.append(
            f"__global__ void k{number}(long long *out, {parameters}) {{ out[0] = f{number}({names}); }}\n"
        )
    return "\n".join(parts)
