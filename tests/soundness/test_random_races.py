"""Races are PROVED absent of no random kernel in which running it shows one."""

import time
from pathlib import Path

import pytest

from specs.contract import Buffer, Contract, Launch
from specs.location import NOWHERE
from specs.results import Verdict
from tests.soundness.random_races import BLOCK, GRID, Maker, printed, races
from verifier import frontend, source
from verifier.isolation.sandbox import probe
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool

PROPERTIES = ("race-shared", "race-global", "barrier-divergence")


def contract(name: str) -> Contract:
    buffers = tuple(
        Buffer(p, "i32", "4096", ("4096",), True, p, 256, True, None, "stated", "stated")
        for p in ("out", "in", "cnt")
    )
    launch = Launch(name, (), (str(GRID), "1", "1"), (str(BLOCK), "1", "1"), "0", NOWHERE)
    return Contract(name, (), launch, (), buffers, (), (), "stated")


def judged(seed: int, count: int, folder: Path) -> tuple[list[str], int, int]:
    """(kernels that race although proved, how many are proved, how many do not race)."""
    maker = Maker(seed)
    kernels = [maker.kernel() for _ in range(count)]
    file = folder / "races.cu"
    head = "(int* out, const int* in, int* cnt, int n) { __shared__ int s[4096]; int t = threadIdx.x, b = blockIdx.x;"
    texts = [
        f"__global__ void k{i}{head} int i = b * {BLOCK} + t; {printed(body)} }}\n"
        for i, body in enumerate(kernels)
    ]
    file.write_text("#include <cuda_runtime.h>\n" + "".join(texts))
    sandbox = probe("auto")
    module = frontend.parse_device(source.load(file, root=None, sandbox=sandbox).device, (), sandbox=sandbox)
    read = {k.name: k for k in module.kernels}
    assert len(read) == count
    wrong, proved, quiet = [], 0, 0
    with SolverPool() as pool:
        for i, body in enumerate(kernels):
            settings = Settings(pool, PROPERTIES, 1 << 30, deadline=time.monotonic() + 60)
            found = verify(read[f"k{i}"], contract(f"k{i}"), settings).properties
            clean = all(p.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE) for p in found)
            race = races(body, i)
            proved += clean
            quiet += not race
            if clean and race:
                wrong.append(texts[i])
    return wrong, proved, quiet


def test_no_kernel_that_races_is_proved(tmp_path: Path) -> None:
    wrong, proved, quiet = judged(1, 40, tmp_path)
    assert wrong == []
    assert proved >= 0.6 * quiet


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(2, 8))
def test_no_kernel_that_races_is_proved_sweep(seed: int, tmp_path: Path) -> None:
    wrong, _, _ = judged(seed, 150, tmp_path)
    assert wrong == []
