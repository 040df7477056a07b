"""Random loops with every integer type, comparison, step and conversion, and what they really do, from g++.

A kernel of one thread writes to a buffer of 64 elements; the same text is run by a C++ program for small arguments, with
wrapping arithmetic and each index checked.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPES = (
    "int",
    "unsigned",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "long long",
    "size_t",
    "int",
    "unsigned",
)
NUMBERS = (0, 0, 1, 2, 3, 5, 8, 16, 31, 32, 63, 64, 65, 100, 127, 128, 200, 255, 256, 300, -1, -2)
EXTENT = 64
ARGUMENTS = ((0, 1, 2, 7, 33, 63, 64), (0, 1, 3, 40), (1, 2, 3))
"""Values of n, m and p that are run; the contract allows 0..64, 0..40 and 1..3."""


@dataclass(frozen=True, slots=True)
class Loops:
    """One kernel: its parameters and its body, in which ``W(e)`` writes element e."""

    parameters: str
    body: str

    def device(self, name: str) -> str:
        return f"__global__ void {name}(float* out, {self.parameters}) {{ {self.body} }}\n"

    def host(self, name: str) -> str:
        counted = self.body.replace("{ ", "{ count(); ")
        return f"static void {name}({self.parameters}) {{ {counted} }}\n"


class Maker:
    """Kernels from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.made = 0

    def one(self) -> Loops:
        r = self.rng
        self.made = 0
        parameters = r.choice(("int n, unsigned m, int p", "unsigned n, int m, int p"))
        body = f"int c = {r.choice((0, 0, 1, 5))}; {self.loop(1)}"
        if r.random() < 0.2:
            body += " W(c);"
        if r.random() < 0.1:
            body += f" W({r.choice(('n', 'm - 1', 'c + 1'))});"
        return Loops(parameters, body + (f" {self.loop(0)}" if r.random() < 0.2 else ""))

    def loop(self, depth: int, around: Sequence[str] = ()) -> str:
        r = self.rng
        self.made += 1
        v = f"v{self.made}"
        init = r.choice((str(r.choice(NUMBERS)), "n", "m", "n - 1", "m - 1", *around))
        start, body = f"{r.choice(TYPES)} {v} = {init}", self.block((*around, v), depth)
        kind = r.random()
        if kind < 0.75:
            return f"for ({start}; {self.test(v)}; {self.step(v)}) {{ {body} }}"
        if kind < 0.9:
            return f"{{ {start}; while ({self.test(v)}) {{ {body} {self.step(v)}; }} }}"
        return f"{{ {start}; do {{ {body} {self.step(v)}; }} while ({self.test(v)}); }}"

    def block(self, names: Sequence[str], depth: int) -> str:
        r, v, out = self.rng, names[-1], list[str]()
        if r.random() < 0.2:
            out.append(f"if ({self.read(v)} == {self.literal()}) {r.choice(('break', 'continue'))};")
        if r.random() < 0.3:
            out.append(
                r.choice(("c++;", "c += 2;", "c--;", "c = c * 2;", "c ^= 1;", f"c = {v};", f"c += {v};"))
            )
        if depth and r.random() < 0.4:
            out.append(self.loop(depth - 1, names))
        guard = f"if ({self.read(v)} {r.choice(('<', '>=', '>', '<=', '=='))} {self.literal()}) "
        out.append(f"{guard if r.random() < 0.3 else ''}W({self.index(names)});")
        return " ".join(out)

    def test(self, v: str) -> str:
        r = self.rng
        bound = r.choice((self.literal(), "n", "m", "n", "(int)m"))
        text = f"{self.read(v)} {r.choice(('<', '<', '<=', '>', '>=', '!='))} {bound}"
        if r.random() < 0.15:
            text += f" {r.choice(('&&', '&&', '||'))} {self.read(v)} {r.choice(('<', '>', '!='))} {self.literal()}"
        return text

    def step(self, v: str) -> str:
        r = self.rng
        up, down = r.choice((1, 2, 3, 5, 7, 16, 64, 100, 257)), r.choice((1, 2, 3, 5, 64))
        return r.choice(
            (f"++{v}", f"--{v}", f"{v} += {up}", f"{v} -= {down}", f"{v} *= 2", f"{v} <<= 1", f"{v} >>= 1", f"{v} /= 2",
             f"{v}++", f"{v}--", f"{v} += p", f"{v} -= p")
        )  # fmt: skip

    def index(self, names: Sequence[str]) -> str:
        r = self.rng
        v = r.choice(list(names))
        return r.choice(
            (v, v, v, f"{v} + 1", f"{v} * 2", f"63 - {v}", f"{v} % 64", f"{v} & 63", f"(unsigned char){v}", f"{v} / 2",
             f"{v} - 1", " + ".join(names), f"{v} + c", "c", "c & 127", f"{v} >> 1", f"{v} ^ 1", f"min((int){v}, 63)",
             f"max((int){v}, 0)")
        )  # fmt: skip

    def read(self, v: str) -> str:
        r = self.rng
        kind = r.random()
        if kind < 0.2:
            return f"({r.choice(TYPES)}){v}"
        return f"{v} + {r.choice((1, 2, -1))}" if kind < 0.25 else v

    def literal(self) -> str:
        r = self.rng
        number = r.choice(NUMBERS)
        if number < 0 or r.random() < 0.3:
            return f"({r.choice(TYPES)}){number}"
        return f"{number}u" if r.random() < 0.25 else str(number)


_PRELUDE = """#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <type_traits>
using std::max; using std::min;
static jmp_buf done; static long steps; static bool outside;
static void count() { if (++steps > 300000) longjmp(done, 1); }
template <class T> static void checked(T e) {
  count();
  if (std::is_signed<T>::value ? ((long long)e < 0 || (long long)e >= %d) : ((unsigned long long)e >= %d)) {
    outside = true; longjmp(done, 1);
  }
}
#define W(e) checked(e)
"""


def leaves_the_buffer(kernels: Sequence[Loops], folder: Path) -> list[bool]:
    """Whether each kernel writes outside of the buffer for some arguments (loops end after 300,000 steps)."""
    text = _PRELUDE % (EXTENT, EXTENT) + "".join(k.host(f"k{i}") for i, k in enumerate(kernels))
    n, m, p = (", ".join(map(str, values)) for values in ARGUMENTS)
    text += "int main() {\n"
    for i in range(len(kernels)):
        text += (
            f"  {{ bool any = false; for (int n : {{{n}}}) for (int m : {{{m}}}) for (int p : {{{p}}}) {{\n"
        )
        text += f"    steps = 0; outside = false; if (!setjmp(done)) k{i}(n, m, p); any |= outside; }}\n"
        text += '    puts(any ? "1" : "0"); }\n'
    source, program = folder / "oracle.cpp", folder / "oracle"
    source.write_text(text + "}\n")
    command = ["g++", "-w", "-O0", "-fwrapv", "-std=c++17", str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=300)
    told = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=300).stdout
    return [line == "1" for line in told.split()]
