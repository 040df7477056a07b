"""CUDA kernels of our own in the simulator: the right one passes, its mutants fail. One mutant is one changed place."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fuzz_kernels import EXAMPLES, job_of
from fuzz.counterexample import check, save
from fuzz.executor import SimulatorExecutor
from fuzz.oracle import Oracle
from fuzz.runner import Budget, Found, explore
from verifier.isolation import probe

pytest.importorskip("torch", reason="the reference needs PyTorch")
if shutil.which("g++") is None:
    pytest.skip("the simulator needs g++", allow_module_level=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def torch_oracle() -> Iterator[Oracle]:
    with Oracle(probe()) as running:
        yield running


def fuzz(name: str, text: str, oracle: Oracle, folder: Path, cache: Path, count: int) -> Found:
    (folder / f"{name}.cu").write_text(text)
    job, device = job_of(name, folder)
    with SimulatorExecutor(device, job.kernel, probe(), cache=cache) as executor:
        return explore(job, executor, oracle, Budget(count))


@pytest.mark.parametrize("name", EXAMPLES)
def test_right_kernel_passes(name: str, torch_oracle: Oracle, tmp_path: Path, cache: Path) -> None:
    found = fuzz(name, EXAMPLES[name].text, torch_oracle, tmp_path, cache, 40)
    assert found.fault is None and found.seen is None and not found.refusal, found
    assert found.examples > 10


MUTANTS = [(name, *change) for name, example in EXAMPLES.items() for change in example.mutants]


def check_mutant(name: str, old: str, new: str, oracle: Oracle, folder: Path, cache: Path) -> None:
    text = EXAMPLES[name].text
    assert old in text
    found = fuzz(name, text.replace(old, new), oracle, folder, cache, 60)
    assert found.fault is not None or found.seen is not None, found


@pytest.mark.parametrize(("name", "old", "new"), [m for m in MUTANTS if m[1] == EXAMPLES[m[0]].mutants[0][0]])
def test_first_mutant_fails(
    name: str, old: str, new: str, torch_oracle: Oracle, tmp_path: Path, cache: Path
) -> None:
    check_mutant(name, old, new, torch_oracle, tmp_path, cache)


def test_saved_counterexample_fails_until_the_kernel_is_right(
    torch_oracle: Oracle, tmp_path: Path, cache: Path
) -> None:
    right = EXAMPLES["gelu"].text
    found = fuzz("gelu", right.replace("0.70710678f", "0.7071f"), torch_oracle, tmp_path, cache, 40)
    assert found.fault is not None
    job = job_of("gelu", tmp_path)[0]
    saved = save(tmp_path / "kept", tmp_path / "gelu.cu", job, found.fault)
    case = runpy.run_path(str(saved))["CASE"]
    with pytest.raises(AssertionError, match="gelu"):
        check(tmp_path / "gelu.cu", case, cache=cache)
    (tmp_path / "gelu.cu").write_text(right)
    check(tmp_path / "gelu.cu", case, cache=cache)


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "old", "new"), MUTANTS)
def test_every_mutant_fails(
    name: str, old: str, new: str, torch_oracle: Oracle, tmp_path: Path, cache: Path
) -> None:
    check_mutant(name, old, new, torch_oracle, tmp_path, cache)
