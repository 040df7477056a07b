"""The comparison of the fuzz gate's executors, with the simulator in the GPU's place, and without a GPU."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace

import pytest

from benchmarks import fuzz_gpu
from benchmarks.gpu_kernels import CHAIN, MUTANTS, TEXTS
from sanitizers.gpu.watch import GpuMissing
from verifier.isolation import probe

pytest.importorskip("torch", reason="the reference needs PyTorch")
if shutil.which("g++") is None:
    pytest.skip("the simulator needs g++", allow_module_level=True)


def test_a_right_kernel_of_two_launches_its_mutant_and_one_that_is_kept_away() -> None:
    worker = fuzz_gpu.Worker(None, probe())
    right = worker.row(CHAIN, None, 20)
    wrong = worker.row(CHAIN, MUTANTS[CHAIN][0], 20)
    racy = worker.row("flip", ("__syncthreads();", ""), 20)
    assert (right.simulator, right.gpu, right.agree) == ("PASS", "PASS", True)
    assert (wrong.simulator, wrong.gpu, wrong.agree) == ("FAIL", "FAIL", True)
    assert racy.simulator.startswith("FAULT") and racy.gpu == "kept away" and racy.agree
    lines = fuzz_gpu.table([right, replace(wrong, gpu="PASS", agree=False)])
    assert lines[2].endswith("| yes |") and lines[3].endswith("| NO |") and len(lines) == 4


def test_every_mutant_is_another_text() -> None:
    for name, changes in MUTANTS.items():
        assert changes and all(old in TEXTS[name] and old != new for old, new in changes), name
    assert len(TEXTS) >= 20


def test_without_a_gpu_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(**_: object) -> None:
        raise GpuMissing("driver is missing: install it")

    monkeypatch.setattr(fuzz_gpu, "find", none)
    assert fuzz_gpu.run(argparse.Namespace(sandbox="auto")) == 3
    assert capsys.readouterr().out == "GPU: driver is missing: install it\n"
