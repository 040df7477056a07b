"""Nothing is declared half: each name has a meaning, a body in the simulator and a comparison with it, or is refused.

These tests fail when a name is added to the table or to the shim without all of that.
"""

from __future__ import annotations

import ctypes
import random
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from sanitizers.simulator.build import RUNTIME
from specs.contract import Buffer, Contract, Launch
from tests.frontend.reading import read, statements
from tests.intrinsics.calls import Call, calls
from tests.smt.test_terms import value
from verifier.frontend.device_intrinsics import REFUSED_FUNCTIONS, SPECIAL_FUNCTIONS
from verifier.intrinsics import TABLE
from verifier.ir import nodes as n
from verifier.smt.terms import Term, atoms
from verifier.symex.execute import summarize

REFUSED_KINDS = ("unknown", "asm")
NOT_SIMULATED = {
    "__hadd": "of two ints: refused by the front end",
    "__prof_trigger": "a profiler's counter",
    "__fns": "",
    **{
        f"__float2{kind}_{way}": "a rounding mode"
        for kind in ("half", "bfloat16")
        for way in ("rz", "ru", "rd")
    },
}
"""Names with a meaning here that the simulator does not have: it refuses to compile them, by name."""
PURE = ("pure-int", "pure-float")
ALL = list(calls())
MEANT = [c for c in ALL if c.entry.kind not in REFUSED_KINDS]


def _variable(type_: str, name: str) -> str:
    return f"{type_} {name}" if not type_.startswith("const ") else f"{type_.removeprefix('const ')} {name}"


def _locals(call: Call) -> str:
    """Arguments with unknown values: loaded from memory; pointers are addresses of memory."""
    made = []
    for k, type_ in enumerate(call.parameters):
        plain = type_.removeprefix("const ")
        if plain == "char*":
            continue
        if plain.endswith("*"):
            cell = "int" if plain == "void*" else plain.rstrip("*").strip()
            made.append(f"__shared__ {cell} m{k}[4]; {cell} *a{k} = m{k};")
        elif call.entry.kind in ("async-copy", "copy-group"):
            made.append(f"const {plain} a{k} = {8 if k == 2 else 0};")
        else:
            made.append(f"__shared__ {plain} m{k}; {plain} a{k} = m{k};")
    return " ".join(made)


def _text(call: Call) -> str:
    """The call, with literals for strings."""
    text = call.text
    for k, type_ in enumerate(call.parameters):
        if type_ == "const char*":
            text = re.sub(rf"\ba{k}\b", '"x"', text)
    return text


def test_every_name_has_a_meaning_or_is_refused_by_name() -> None:
    text = "\n".join(f"__global__ void k{k}() {{ {_locals(c)} {_text(c)}; }}" for k, c in enumerate(ALL))
    module = read(text)
    assert module.diagnostics == ()
    kernels = {kernel.name: kernel for kernel in module.kernels}
    half_read: list[str] = []
    for number, call in enumerate(ALL):
        found = [s for s in statements(kernels[f"k{number}"].body) if isinstance(s, n.Unsupported)]
        refused = call.entry.kind in REFUSED_KINDS or (
            call.entry.name == "__hadd" and call.types == ("int", "int")
        )
        named = any(
            call.entry.name in f"{s.construct} {s.detail}" or "of integers by an intrinsic" in s.detail
            for s in found
        )
        constant = call.entry.name in ("memcpy", "memset")  # of any size: loops of bytes
        if (refused and not named and not constant) or (found and not refused):
            half_read.append(f"{call.text} of {call.types}: {[s.construct for s in found]}")
    assert half_read == []


def test_special_and_refused_functions_are_disjoint() -> None:
    assert not SPECIAL_FUNCTIONS & set(REFUSED_FUNCTIONS)
    assert not set(TABLE) & (SPECIAL_FUNCTIONS | set(REFUSED_FUNCTIONS))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_every_name_with_a_meaning_has_a_body_in_the_simulator(tmp_path: Path) -> None:
    names: dict[int, str] = {}
    lines = []
    for number, call in enumerate(MEANT):
        if call.entry.name.startswith("__builtin_"):
            continue
        parameters = ", ".join(f"{_variable(t, f'a{k}')}" for k, t in enumerate(call.parameters))
        lines.append(f"void f{number}({parameters}) {{ {_text(call)}; }}")
        names[len(lines)] = call.entry.name
    source = tmp_path / "all.cpp"
    source.write_text("\n".join(lines) + "\n")
    command = [
        "g++",
        "-std=gnu++17",
        "-w",
        "-fsyntax-only",
        "-fmax-errors=0",
        "-include",
        str(RUNTIME / "simt.h"),
    ]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    bad = {names[int(line)] for line in re.findall(r"all\.cpp:(\d+):\d+: error", done.stderr)}
    assert bad - set(NOT_SIMULATED) == set(), done.stderr[:3000]
    assert set(NOT_SIMULATED) - bad - {"__hadd", "__brkpt"} == set(), "these are simulated now"


# --- integer meanings against the simulator's bodies ------------------------------------------------------------------

_C = {
    "int": ctypes.c_int, "unsigned": ctypes.c_uint, "long": ctypes.c_long, "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong,
}  # fmt: skip
INTEGER = [
    c
    for c in MEANT
    if c.entry.kind == "pure-int"
    and c.entry.name not in NOT_SIMULATED
    and c.result in _C
    and all(t in _C for t in c.types)
]
_EDGES = (
    0,
    1,
    2,
    3,
    5,
    31,
    32,
    33,
    100,
    255,
    65535,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


def summary_of(kernel: n.Kernel) -> tuple[Term, list[Term]]:
    """The value that the kernel's only store writes, and the obligations that it rests on."""
    pointers = [p for p in kernel.params if isinstance(p.type, n.Pointer)]
    buffers = tuple(Buffer(p.name, "i64", "1", ("1",), fresh=True, storage=p.name) for p in pointers)
    launch = Launch(kernel.name, (), ("1", "1", "1"), ("1", "1", "1"))
    contract = Contract(kernel.name, (), launch, (), buffers, (), (), "stated")
    made = summarize(kernel, contract, cap=1 << 30)
    (store,) = [a for a in made.accesses if a.kind == "write"]
    assert store.value is not None
    return store.value, [operation.holds for operation in made.operations]


def test_there_are_integer_functions_to_compare() -> None:
    assert {c.entry.name for c in INTEGER} == {
        name for name, e in TABLE.items() if e.kind == "pure-int"
    } - set(NOT_SIMULATED)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_integer_meanings_agree_with_the_simulator(tmp_path: Path) -> None:
    """What the prover takes an integer function to be holds of what the simulator computes, for edges and random values."""
    kernels = "\n".join(
        f"__global__ void k{k}({''.join(f'{t} a{i}, ' for i, t in enumerate(c.types))}{c.result} *o) {{ o[0] = {c.text}; }}"
        for k, c in enumerate(INTEGER)
    )
    module = read(kernels)
    bodies = "\n".join(
        f'extern "C" {c.result} f{k}({", ".join(f"{t} a{i}" for i, t in enumerate(c.types))}) {{ return {c.text}; }}'
        for k, c in enumerate(INTEGER)
    )
    (tmp_path / "f.cpp").write_text(bodies + "\n")
    command = ["g++", "-std=gnu++17", "-w", "-O1", "-shared", "-fPIC", "-include", str(RUNTIME / "simt.h")]
    subprocess.run([*command, "-o", str(tmp_path / "f.so"), str(tmp_path / "f.cpp")], check=True)
    library = ctypes.CDLL(str(tmp_path / "f.so"), mode=1)
    values = random.Random(7)
    exact: set[str] = set()
    for number, call in enumerate(INTEGER):
        term, holds = summary_of(module.kernels[number])
        native = getattr(library, f"f{number}")
        native.restype = _C[call.result]
        for _ in range(60):
            picked = [
                _C[t](values.choice(_EDGES) if values.random() < 0.6 else values.getrandbits(64)).value
                for t in call.types
            ]
            got = native(*(_C[t](v) for t, v in zip(call.types, picked, strict=True)))
            env = {f"a{i}": v for i, v in enumerate(picked)}
            if not all(value(h, env) for h in holds if _known(h, env)):
                continue  # the kernel is at fault, or the value is taken modulo its type in the next round
            if _agrees(term, env, got, call):
                exact.add(call.entry.name)
    assert exact >= {"min", "max", "umin", "__umulhi", "__uhadd", "__urhadd"}


def _known(term: Term, env: Mapping[str, int]) -> bool:
    return all(a.name in env for a in atoms([term]) if a.op in ("app", "bapp"))


def _agrees(term: Term, env: Mapping[str, int], got: int, call: Call) -> bool:
    """Whether the meaning is exact here; fails if it is wrong. An opaque term must leave room for the value."""
    opaque = [a for a in atoms([term]) if a.op in ("app", "bapp") and a.name not in env]
    if not opaque:
        expected = value(term, env)
        if call.entry.int_meaning in ("abs", "sad") and expected != got:
            assert not -(2**31) <= expected < 2**31 or expected > 2**32 - 1, (
                call,
                env,
            )  # an overflow obligation fails
            return True
        assert expected == got, (call, env)
        return True
    if len(opaque) == 1 and opaque[0] is term:
        assert term.lo is not None and term.hi is not None and term.lo <= got <= term.hi, (call, env, got)
    return False
