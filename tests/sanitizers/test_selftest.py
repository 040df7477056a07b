"""The self-test passes with this machine's compiler, and notices a watch that does not fire."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanitizers import selftest as module
from sanitizers.selftest import expectations, selftest
from verifier.isolation import Sandbox


@pytest.mark.parametrize("opt", ["O1", "O0"])
def test_every_watch_fires(opt: str, sandbox: Sandbox, simulator_cache: Path) -> None:
    assert module._run(sandbox, simulator_cache, opt) is None


def test_every_property_that_is_watched_has_a_branch() -> None:
    from sanitizers.simulator.findings import PROPERTIES

    covered = set().union(*(properties for properties, _ in expectations().values()))
    assert covered >= set(PROPERTIES) - {"bounds-array"}


def test_a_silent_watch_is_named(
    sandbox: Sandbox, simulator_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = module._TEXT.replace("y[t] = x[t + 64 + zero];", "y[t] = x[t];")
    monkeypatch.setattr(module, "_TEXT", silent)
    message = module._run(sandbox, simulator_cache, "O1")
    assert message == "the simulator's check of a load of 4 bytes does not fire (O1; found: nothing)"


def test_it_runs_once_for_a_runtime(
    sandbox: Sandbox, simulator_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert selftest(sandbox=sandbox, cache=simulator_cache) is None
    monkeypatch.setattr(module, "_run", lambda *_: pytest.fail("run again"))
    assert selftest(sandbox=sandbox, cache=simulator_cache) is None
