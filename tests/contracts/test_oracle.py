"""Lifted contracts against launchers that really run, with tensors of random shapes (benchmarks/contract_oracle.py)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.contract_oracle import Observed, check, observe_file
from specs.contract import NULL_STORAGE, Contract
from verifier.isolation.sandbox import SandboxMissing, probe

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
LAUNCHERS = Path(__file__).parent / "launchers.cu"


def _observed(shapes: int, seed: int, path: Path = LAUNCHERS) -> dict[str, Observed]:
    try:
        sandbox = probe("auto")
    except SandboxMissing as error:
        pytest.skip(str(error))
    return {o.entry: o for o in observe_file(path, sandbox, shapes=shapes, seed=seed)}


@pytest.fixture(scope="module")
def observed() -> dict[str, Observed]:
    return _observed(120, 1)


def test_every_launch_is_one_that_its_contract_allows(observed: dict[str, Observed]) -> None:
    assert len(observed) > 15 and not [o.problem for o in observed.values() if o.problem]
    for entry, seen in observed.items():
        result = check(seen)
        assert result.differs == [], entry
        assert result.outcomes["fits"] >= 10, (entry, result.outcomes, seen.ends)
        assert not result.silent, (entry, result.silent)


@pytest.mark.parametrize(
    "name, followed", [("launchers_more.cu", 15), ("launchers_odd.cu", 15), ("launchers_effects.cu", 7)]
)
def test_odd_host_code_is_followed_rightly_or_not_at_all(name: str, followed: int) -> None:
    found = _observed(90, 4, LAUNCHERS.with_name(name))
    assert not [o.problem for o in found.values() if o.problem]
    results = {entry: check(seen) for entry, seen in found.items()}
    assert {entry: r.differs[:1] for entry, r in results.items() if r.differs} == {}
    assert sum(r.outcomes["fits"] >= 5 for r in results.values()) >= followed


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", ["launchers.cu", "launchers_more.cu", "launchers_odd.cu", "launchers_effects.cu"]
)
def test_a_thousand_shapes(name: str) -> None:
    found = _observed(1000, 2, LAUNCHERS.with_name(name))
    assert [r for o in found.values() for r in check(o).differs] == []


def _wrong(contract: Contract) -> Iterator[tuple[str, Contract]]:
    """The contract with one claim made false."""
    launch = contract.launch
    yield "grid", replace(contract, launch=replace(launch, grid=(f"{launch.grid[0]} + 1", *launch.grid[1:])))
    yield (
        "block",
        replace(contract, launch=replace(launch, block=(f"{launch.block[0]} - 1", *launch.block[1:]))),
    )
    yield "shared", replace(contract, launch=replace(launch, shared_bytes=f"{launch.shared_bytes} + 4"))
    for index, scalar in enumerate(contract.scalars):
        if scalar.value is not None:
            changed = replace(scalar, value=f"({scalar.value}) - 1")
            scalars = (*contract.scalars[:index], changed, *contract.scalars[index + 1 :])
            yield f"scalar {scalar.param}", replace(contract, scalars=scalars)
    for index, buffer in enumerate(contract.buffers):
        changes = {
            "larger": replace(buffer, extent=f"({buffer.extent}) + 1"),
            "smaller": replace(buffer, extent=f"({buffer.extent}) - 1"),
        }
        if not buffer.fresh and buffer.storage != NULL_STORAGE:
            changes["fresh"] = replace(buffer, fresh=True)
        if not buffer.initialized:
            changes["initialized"] = replace(buffer, initialized=True)
        if buffer.content is None and buffer.storage != NULL_STORAGE and buffer.initialized:
            changes["zero"] = replace(buffer, content=("0", "0"), content_origin="enforced")
        for what, other in changes.items():
            buffers = (*contract.buffers[:index], other, *contract.buffers[index + 1 :])
            yield f"{what} {buffer.param}", replace(contract, buffers=buffers)


def test_a_false_claim_is_seen(observed: dict[str, Observed]) -> None:
    """Else the test above would say nothing."""
    tried = 0
    for entry, everything in observed.items():
        seen = replace(everything, launches=everything.launches[:50])
        used = [c for c in seen.contracts if not c.gaps and check(seen, (c,)).outcomes["fits"]]
        for contract in used[:1]:
            others = tuple(c for c in seen.contracts if c is not contract)
            for what, wrong in _wrong(contract):
                tried += 1
                found = check(seen, (*others, wrong)).outcomes
                alone = check(seen, (wrong,)).outcomes
                assert found["differs"] or not alone["fits"], (entry, contract.kernel, what)
    assert tried > 120


def test_what_the_launcher_checks_is_in_the_contract(observed: dict[str, Observed]) -> None:
    """A contract that forgets a check is too generous only in the domain; one that adds a check loses launches."""
    seen = observed["pooled"]
    strict = tuple(
        replace(c, requires=(*c.requires, replace(c.requires[0], text="stride == 1", note="")))
        for c in seen.contracts
    )
    assert check(seen, strict).differs
