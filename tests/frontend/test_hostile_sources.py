"""Broken and hostile sources: one clear line, the right exit status, never a traceback.

Our own kernels and host codes are cut, shuffled, doubled and filled with garbage; 500 of them with ``-m sweep``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from specs.policy import default_policy
from specs.results import FileResult, Outcome
from verifier.isolation.sandbox import SandboxMissing, probe
from verifier.judge import exit_status
from verifier.pipeline import Options, audit

ROOT = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(r"\w+|<<<|>>>|[^\w\s]")
_OURS = re.compile(
    r"internal error|Traceback|parser failed|parser ended|no valid IR|\b[A-Z]\w*(Error|Exception): "
)
"""What a fault of the tool's own looks like, wherever it is reported."""
Mutator = Callable[[str, random.Random], str]


@lru_cache
def sources() -> tuple[Path, ...]:
    found = [*(ROOT / "examples").glob("*.cu"), *(ROOT / "examples").glob("*.py")]
    found += [*(ROOT / "tests/soundness").rglob("*.cu"), *(ROOT / "tests/soundness").rglob("*.py")]
    found += [ROOT / "tests/contracts/launchers.cu", ROOT / "tests/prover/kernels.cu"]
    return tuple(sorted(p for p in found if "__global__" in p.read_text() and not p.name.startswith("test_")))


def _inside(text: str, dice: random.Random) -> tuple[int, int]:
    a = dice.randrange(len(text))
    return a, min(len(text), a + dice.choice((1, 3, 10, 60, 400)))


def deletion(text: str, dice: random.Random) -> str:
    a, b = _inside(text, dice)
    return text[:a] + text[b:]


def truncation(text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text))]


def head_cut(text: str, dice: random.Random) -> str:
    return text[dice.randrange(len(text)) :]


def line_loss(text: str, dice: random.Random) -> str:
    return "\n".join(row for row in text.split("\n") if dice.random() > 0.06)


def line_shuffle(text: str, dice: random.Random) -> str:
    rows = text.split("\n")
    a, b = dice.randrange(len(rows)), dice.randrange(len(rows))
    rows[a], rows[b] = rows[b], rows[a]
    return "\n".join(rows)


def token_swap(text: str, dice: random.Random) -> str:
    found = list(_TOKEN.finditer(text))
    a, b = sorted(dice.sample(range(len(found)), 2))
    one, two = found[a], found[b]
    return text[: one.start()] + two.group() + text[one.end() : two.start()] + one.group() + text[two.end() :]


def token_change(text: str, dice: random.Random) -> str:
    words = "int float auto template typename 0 -1 99999999999999999999 1e400 0x ( ) { } [ ] < > ; :: . -> & * / % ' \" # ... "
    words += "__global__ __shared__ __device__ threadIdx blockIdx.w operator sizeof decltype goto asm throw new delete co_await"
    found = dice.choice(list(_TOKEN.finditer(text)))
    return text[: found.start()] + dice.choice(words.split()) + text[found.end() :]


def token_loss(text: str, dice: random.Random) -> str:
    for found in sorted(dice.sample(list(_TOKEN.finditer(text)), 3), key=lambda m: -m.start()):
        text = text[: found.start()] + text[found.end() :]
    return text


def token_doubling(text: str, dice: random.Random) -> str:
    found = dice.choice(list(_TOKEN.finditer(text)))
    return text[: found.end()] + (" " + found.group()) * dice.choice((1, 2, 50)) + text[found.end() :]


def bracket_loss(text: str, dice: random.Random) -> str:
    at = dice.choice([i for i, c in enumerate(text) if c in "(){}[]<>"])
    return text[:at] + text[at + 1 :]


def bracket_doubling(text: str, dice: random.Random) -> str:
    at = dice.choice([i for i, c in enumerate(text) if c in "(){}[]<>"])
    return text[:at] + text[at] * dice.choice((2, 3, 40)) + text[at + 1 :]


def garbage(text: str, dice: random.Random) -> str:
    a, _ = _inside(text, dice)
    junk = "".join(
        dice.choice("\x00\x01\x07\x1b\x7f\u202e\u200b\ufeffé中\\'\"`$@?\r\n")
        for _ in range(dice.choice((1, 8, 80)))
    )
    return text[:a] + junk + text[a:]


def nesting(text: str, dice: random.Random) -> str:
    depth = dice.choice((150, 2_000, 30_000))
    deep = dice.choice(
        (
            "(" * depth + "1" + ")" * depth,
            "{" * depth + "}" * depth,
            "1+" * depth + "1",
            "!" * depth + "1",
            "a[" * depth + "0" + "]" * depth,
            "1?2:" * depth + "3",
            "if(1)" * depth + ";",
            "vector<" * depth + "int" + ">" * depth,
            "-" * depth + "1",
        )
    )
    at = dice.choice([m.end() for m in re.finditer(r"[;={(]", text)] or [0])
    return text[:at] + deep + text[at:]


def doubling(text: str, dice: random.Random) -> str:
    a, b = _inside(text, dice)
    return text[:b] + text[a:b] * dice.choice((1, 2, 30)) + text[b:]


def whole_twice(text: str, dice: random.Random) -> str:
    return text + text


def other_lines(text: str, dice: random.Random) -> str:
    return text.replace("\n", dice.choice(("\r\n", "\r", "\\\n", " ")))


def directive(text: str, dice: random.Random) -> str:
    words = (
        "#include \"nothing.h\"", "#if 1", "#endif", "#else", "#define int int int", "#define f(x) f(f(x))", "#error no",
        "#include __FILE__", "#line 99999999999", "#pragma once", "#define __global__", "#undef __shared__", "#",
        "#include </etc/passwd>", "#if 1/0", "#define A A##A", "_Pragma(\"x\")", "#warning w", "%:define q",
    )  # fmt: skip
    rows = text.split("\n")
    rows.insert(dice.randrange(len(rows)), dice.choice(words))
    return "\n".join(rows)


def comment(text: str, dice: random.Random) -> str:
    a, _ = _inside(text, dice)
    return text[:a] + dice.choice(("/*", "*/", "//", '"', "'", 'R"(', '"""', "\\")) + text[a:]


def annotation(text: str, dice: random.Random) -> str:
    words = ("requires n >=", "buffer", "launch grid=() block=", "content x in ..", "requires __import__('os')", "requires " + "(" * 500,
             "buffer x: in f32[n", "scalar n = 1 +", "symbol n = 99999999999999999999999", "requires " + "n+" * 5000 + "n", "what")  # fmt: skip
    at = text.find("__global__")
    row = text.rfind("\n", 0, at) + 1
    return text[:row] + f"//@ {dice.choice(words)}\n" + text[row:]


MUTATORS: tuple[Mutator, ...] = (
    deletion, truncation, head_cut, line_loss, line_shuffle, token_swap, token_change, token_loss, token_doubling,
    bracket_loss, bracket_doubling, garbage, nesting, doubling, whole_twice, other_lines, directive, comment, annotation,
)  # fmt: skip


def mutated(number: int) -> tuple[str, str, str]:
    """(mutator, suffix, text) of one source; the same every time."""
    dice = random.Random(number)
    path = sources()[dice.randrange(len(sources()))]
    mutator = MUTATORS[number % len(MUTATORS)]
    text = mutator(path.read_text(), dice)
    if dice.random() < 0.25:
        text = dice.choice(MUTATORS)(text or "x", dice) if _TOKEN.search(text) and "(" in text else text
    return f"{mutator.__name__} of {path.name}", path.suffix, text


def answer(path: Path, gates: tuple[str, ...]) -> FileResult:
    return audit(path, Options(policy=default_policy(), gates=gates, timeout=30.0, effort="low"))


def complaints(result: FileResult, path: Path) -> list[str]:
    """What is wrong with the answer itself."""
    said = [result.message, result.headline, *result.reasons, *result.not_checked]
    said += [g.detail for g in result.gates]
    out = [f"a fault of the tool: {s[:300]}" for s in said if _OURS.search(s)]
    out += [f"gate {g.gate}: {g.detail[:300]}" for g in result.gates if g.outcome is Outcome.ERROR]
    if result.bad_input:
        if (
            "\n" in result.message.strip()
            or not result.message.startswith(str(path))
            or "; " not in result.message
        ):
            out.append(f"not one line 'path:line: what; what to do': {result.message[:300]!r}")
    elif result.verdict in (Outcome.ERROR, Outcome.NOT_RUN):
        out.append(f"{result.verdict} without bad input: {result.message[:300]}")
    if result.verdict is Outcome.PASS and not result.gates:
        out.append("passed unseen")
    status = exit_status([result])
    wanted = {2} if result.bad_input else {0, 1, 3}
    if status not in wanted:
        out.append(f"exit status {status}")
    return out


def check(number: int, folder: Path, gates: tuple[str, ...]) -> None:
    try:
        probe("auto")
    except SandboxMissing as error:
        pytest.skip(str(error))
    what, suffix, text = mutated(number)
    path = folder / f"m{number}{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found = complaints(answer(path, gates), path)
    assert not found, (number, what, found)


@pytest.mark.parametrize("number", range(19))
def test_a_broken_source_gets_one_clear_line(tmp_path: Path, number: int) -> None:
    check(number, tmp_path, ("static",))


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(19, 519))
def test_five_hundred_broken_sources(tmp_path: Path, number: int) -> None:
    check(number, tmp_path, ("static", "prove") if number % 5 == 0 else ("static",))


@pytest.mark.parametrize(
    "data", [b"", b"\x00" * 500, b"\xff\xfe\x00x", b"\x80abc __global__ void k() {}", b"\n" * 10_000]
)
@pytest.mark.parametrize("suffix", [".cu", ".py"])
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, suffix: str) -> None:
    path = tmp_path / f"bytes{suffix}"
    path.write_bytes(data)
    result = answer(path, ("static",))
    assert result.bad_input or result.verdict in (Outcome.NOT_RUN, Outcome.INCONCLUSIVE)
    assert not complaints(result, path)


@pytest.mark.parametrize(
    "text",
    [
        "st.global.f32 [%0asm, %1;",
        "ld.global.f32 %0;",
        "mov.u32;",
        "cp.async.ca.shared.global [%0];",
        "mad.lo %0",
        ";;",
        "%",
    ],
)
def test_malformed_assembly_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.cu"
    code = f'asm volatile("{text}" :: "l"(x), "f"(1.0f) : "memory");'
    path.write_text(f"__global__ void k(float* x) {{ {code} }}\nvoid f(float* x) {{ k<<<1, 32>>>(x); }}\n")
    assert not complaints(answer(path, ("static",)), path)
