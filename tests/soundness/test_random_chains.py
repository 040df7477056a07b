"""Bounds are PROVED for no random chain of integer operations that g++ sees leave the buffer."""

import time
from pathlib import Path

import pytest

from specs.contract import Buffer, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.results import Verdict
from tests.soundness.random_chains import EXTENT, Chain, Maker, leaves_the_buffer
from verifier import frontend, source
from verifier.isolation.sandbox import probe
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool

HEAD = """#include <cuda_runtime.h>
#define W(e) out[e] = 1.0f
#define F2I(x) ((int)(x))
#define F2U(x) ((unsigned)(x))
"""


def contract(name: str) -> Contract:
    limits = (("n", 0, 64), ("m", 0, 40), ("p", 1, 3))
    buffers = (("out", "f32", EXTENT), ("a", "i32", 16), ("u", "u8", 16), ("f", "f32", 16), ("w", "i64", 16))
    return Contract(
        name,
        (),
        Launch(name, (), ("1", "1", "1"), ("1", "1", "1"), "0", NOWHERE),
        tuple(Symbol(x, "scalar", "", low, high, None, "stated") for x, low, high in limits),
        tuple(
            Buffer(x, dtype, str(n), (str(n),), x != "out", x, 256, True, None, "stated", "stated")
            for x, dtype, n in buffers
        ),
        tuple(Scalar(x, x, "stated") for x, _, _ in limits),
        (),
        "stated",
    )


def wrongly_proved(seed: int, count: int, folder: Path) -> list[Chain]:
    maker = Maker(seed)
    kernels = [maker.one() for _ in range(count)]
    outside = leaves_the_buffer(kernels, folder)
    file = folder / "chains.cu"
    file.write_text(HEAD + "".join(k.device(f"k{i}") for i, k in enumerate(kernels)))
    sandbox = probe("auto")
    module = frontend.parse_device(source.load(file, root=None, sandbox=sandbox).device, (), sandbox=sandbox)
    read = {k.name: k for k in module.kernels}
    assert len(read) == count
    wrong = []
    with SolverPool() as pool:
        for i, kernel in enumerate(kernels):
            if outside[i]:
                settings = Settings(pool, ("bounds-global",), 1 << 30, deadline=time.monotonic() + 6)
                (bounds,) = verify(read[f"k{i}"], contract(f"k{i}"), settings).properties
                if bounds.verdict is Verdict.PROVED:
                    wrong.append(kernel)
    return wrong


def test_no_chain_that_leaves_the_buffer_is_proved(tmp_path: Path) -> None:
    assert wrongly_proved(1, 40, tmp_path) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(2, 8))
def test_no_chain_that_leaves_the_buffer_is_proved_sweep(seed: int, tmp_path: Path) -> None:
    assert wrongly_proved(seed, 150, tmp_path) == []
