"""Locks, flags, queues and graph walks with one seeded fault each: every fault is seen, no right kernel is flagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.seeded import FAMILIES, Program, programs
from benchmarks.seeded.__main__ import proved, seen
from verifier.isolation import Sandbox

# Of each family one fault, another one of the next family; of every second family the good twin.
SAMPLE = [
    *(family.programs()[-1 - i % len(family.bad)] for i, family in enumerate(FAMILIES)),
    *(family.programs()[i // 2 % (1 + len(family.good))] for i, family in enumerate(FAMILIES) if i % 2 == 0),
]


def check(program: Program, sandbox: Sandbox, cache: Path, opt: str = "O1") -> None:
    found = set().union(*seen(program, sandbox=sandbox, cache=cache, opt=opt))
    assert program.fault in found if program.fault else not found, (program.kernel, found)


@pytest.mark.parametrize("program", SAMPLE, ids=lambda p: p.name)
def test_seeded(program: Program, sandbox: Sandbox, simulator_cache: Path) -> None:
    check(program, sandbox, simulator_cache)


@pytest.mark.sweep
@pytest.mark.parametrize("program", programs(), ids=lambda p: p.name)
def test_every_seeded_kernel(program: Program, sandbox: Sandbox, simulator_cache: Path) -> None:
    check(program, sandbox, simulator_cache)


@pytest.mark.sweep
@pytest.mark.parametrize("program", [p for p in programs() if p.fault], ids=lambda p: p.name)
def test_no_seeded_fault_is_proved_away(program: Program, tmp_path: Path) -> None:
    assert program.fault not in proved(program, tmp_path)


def test_there_are_enough_and_no_two_are_alike() -> None:
    everything = programs()
    assert sum(bool(p.fault) for p in everything) >= 60
    assert sum(not p.fault for p in everything) >= 40
    assert len({p.kernel for p in everything}) == len(everything)
