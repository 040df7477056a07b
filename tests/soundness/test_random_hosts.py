"""Random launchers: no launch that really happens may differ from all contracts lifted for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.contract_oracle import check, observe_file
from tests.soundness.random_hosts import program
from verifier.isolation.sandbox import Sandbox

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def differing(folder: Path, seed: int, count: int, shapes: int) -> tuple[list[str], int]:
    """(launches that no contract explains, launches that one does)."""
    path = folder / f"launchers_{seed}.cu"
    path.write_text(program(seed, count))
    found = observe_file(path, Sandbox("none"), shapes=shapes, seed=seed)
    assert len(found) == count and not [o.problem for o in found if o.problem]
    results = [(o.entry, check(o)) for o in found]
    wrong = [f"seed {seed}, {entry}: {r.differs[0]}" for entry, r in results if r.differs]
    return wrong, sum(r.outcomes["fits"] for _, r in results)


def test_a_few_random_launchers(tmp_path: Path) -> None:
    wrong, fits = differing(tmp_path, 110, 8, 8)
    assert not wrong and fits > 8


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(20))
def test_many_random_launchers(tmp_path: Path, seed: int) -> None:
    wrong, _ = differing(tmp_path, 1000 + seed, 25, 40)
    assert not wrong
