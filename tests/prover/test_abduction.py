"""What bare kernels need: found, enough, not too much, and never a verdict."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.policy import REQUIRED_PROPERTIES, default_policy
from specs.results import Outcome, Verdict
from verifier.frontend import parse_device
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.pipeline import Options, audit
from verifier.prover.abduction import Precondition, precondition, two_blocks
from verifier.prover.bare import bare
from verifier.prover.found_contract import toml
from verifier.prover.implied import not_implied
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool
from verifier.source.device_text import DeviceText

FILE = Path(__file__).with_name("bare.cu")


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    text = FILE.read_text()
    names = re.findall(r"__global__ void (\w+)", text)
    device = DeviceText(text, hashlib.sha256(text.encode()).hexdigest(), tuple((n, NOWHERE) for n in names))
    return {k.name: k for k in parse_device(device, [], sandbox=Sandbox("none")).kernels}


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with SolverPool("low") as pool:
        yield Settings(pool, REQUIRED_PROPERTIES, 1 << 30)


@pytest.fixture(scope="module")
def add(kernels: dict[str, Kernel], settings: Settings) -> Precondition:
    return precondition(kernels["add"], settings)


def texts(found: Precondition) -> set[str]:
    return {c.text for c in found.clauses}


def launched(extent: str = "n", fresh: bool = True) -> Contract:
    buffers = (
        Buffer("x", "f32", "n"),
        Buffer("y", "f32", "n"),
        Buffer("z", "f32", extent, fresh=fresh, initialized=False),
    )
    return Contract(
        "add", (), Launch("add", (), ("ceil_div(n, 256)", "1", "1"), ("256", "1", "1")), (Symbol("n", "dim"),),
        buffers, (Scalar("n", "i32(n)"),), (Clause("n <= 1073741824", "derived"),), "lifted",
    )  # fmt: skip


def test_an_elementwise_kernel(add: Precondition, kernels: dict[str, Kernel], settings: Settings) -> None:
    assert add.complete
    assert texts(add) == {
        "written(x)", "written(y)", "len_x >= n", "len_y >= n", "len_z >= n", "disjoint(x, z)", "disjoint(y, z)",
        "gridDim_x * blockDim_x <= 2147483648", "gridDim_y == 1", "gridDim_z == 1", "blockDim_y == 1", "blockDim_z == 1",
    }  # fmt: skip
    assert two_blocks(add, kernels["add"], settings)


def test_a_real_launch_keeps_it(add: Precondition, kernels: dict[str, Kernel], settings: Settings) -> None:
    assert not_implied(add, kernels["add"], launched(), settings) == ()


def test_a_launch_that_does_not_is_told_apart(
    add: Precondition, kernels: dict[str, Kernel], settings: Settings
) -> None:
    assert not_implied(add, kernels["add"], launched("n - 1"), settings) == ("len_z >= n",)
    assert set(not_implied(add, kernels["add"], launched(fresh=False), settings)) == {
        "disjoint(x, z)",
        "disjoint(y, z)",
    }


@pytest.mark.parametrize("left_out", ["len_z >= n", "disjoint(x, z)", "gridDim_y == 1"])
def test_each_clause_is_needed(
    add: Precondition, kernels: dict[str, Kernel], settings: Settings, left_out: str
) -> None:
    c = add.contract
    less = replace(
        c,
        requires=tuple(x for x in c.requires if x.text != left_out),
        no_alias=tuple(x for x in c.no_alias if x.text != left_out),
    )
    result = verify(kernels["add"], less, settings)
    assert any(p.verdict not in (Verdict.PROVED, Verdict.NOT_APPLICABLE) for p in result.properties)


def test_divisors_planes_and_warps(kernels: dict[str, Kernel], settings: Settings) -> None:
    planes = precondition(kernels["scale_planes"], settings)
    assert planes.complete and {"area >= 1", "channels >= 1", "len_weights >= channels"} <= texts(planes)
    rows = precondition(kernels["row_sums"], settings)
    assert rows.complete and {"len_x >= rows * cols", "len_sums >= rows", "blockDim_x % 32 == 0"} <= texts(
        rows
    )
    assert "(blockDim_x // 32) <= 4" in texts(rows)


def test_a_range_of_indices(kernels: dict[str, Kernel], settings: Settings) -> None:
    found = precondition(kernels["look_up"], settings)
    assert found.complete and {"content(index, 0, cols - 1)", "len_table >= rows * cols"} <= texts(found)
    assert "0..cols - 1" in toml(found, kernels["look_up"])

    def real(content: tuple[str, str] | None, origin: Literal["derived", "assumed"] = "derived") -> Contract:
        buffers = (
            Buffer("table", "f32", "rows * cols"),
            Buffer("index", "i64", "rows", content=content, content_origin=origin),
            Buffer("out", "f32", "rows", fresh=True),
        )
        return Contract(
            "look_up", (), Launch("look_up", (), ("ceil_div(rows, 256)", "1", "1"), ("256", "1", "1")),
            (Symbol("rows", "dim"), Symbol("cols", "dim")), buffers,
            (Scalar("rows", "i32(rows)"), Scalar("cols", "i32(cols)")),
            (Clause("rows * cols <= 1073741824", "derived"),), "lifted",
        )  # fmt: skip

    def missed(contract: Contract) -> tuple[str, ...]:
        return not_implied(found, kernels["look_up"], contract, settings)

    assert missed(real(("0", "cols - 1"))) == ()
    for other in (None, ("0", "cols"), ("-1", "cols - 1")):
        assert missed(real(other)) == ("content(index, 0, cols - 1)",)
    assert missed(real(("0", "cols - 1"), "assumed")) == ("content(index, 0, cols - 1)",)


@pytest.mark.parametrize("name", ["last_one_wins", "one_for_the_grid", "scattered"])
def test_a_race_has_no_launch_of_two_blocks(
    kernels: dict[str, Kernel], settings: Settings, name: str
) -> None:
    found = precondition(kernels[name], settings)
    assert not found.complete or not two_blocks(found, kernels[name], settings)


def test_without_clauses_nothing_is_proved_of_the_memory(
    kernels: dict[str, Kernel], settings: Settings
) -> None:
    result = verify(kernels["add"], bare(kernels["add"]).contract, settings)
    by_id = {p.id: p.verdict for p in result.properties}
    assert by_id["bounds-global"] is by_id["race-global"] is by_id["overflow"] is Verdict.UNKNOWN


def test_it_is_printed_as_a_contract_and_decides_nothing(tmp_path: Path) -> None:
    file = tmp_path / "add.cu"
    file.write_text(FILE.read_text().split("\n\n")[0] + "\n")
    options = Options(
        policy=default_policy(), gates=("prove",), properties=REQUIRED_PROPERTIES, sandbox="none"
    )
    result = audit(file, options)
    assert result.verdict is Outcome.INCONCLUSIVE and "FOUND" in result.draft
    contract = tmp_path / "found.toml"
    contract.write_text(result.draft)
    (gate,) = audit(file, replace(options, contract=contract)).gates
    assert gate.outcome is Outcome.PASS


def test_clauses_on_memory_among_several_options(settings: Settings) -> None:
    """Who wrote an element before it is read is one of several claims, with clauses on memory beside sizes."""
    text = """struct View { int n; float *y; __device__ float &at(int i) { return y[i]; } };
    __global__ void twice(float *y, int n) {
      View v{n, y};
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= v.n) return;
      float &r = v.at(i);
      r = 1.0f;
      r += 2.0f, r *= 3.0f;
    }"""
    device = DeviceText(text, hashlib.sha256(text.encode()).hexdigest(), (("twice", NOWHERE),))
    (kernel,) = parse_device(device, [], sandbox=Sandbox("none")).kernels
    assert precondition(kernel, settings).complete


def test_only_the_kernel_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text(
        "__global__ void a(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }\n"
        "__global__ void b(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2; }\n"
    )
    options = Options(default_policy(), sandbox="none", gates=("prove",), kernel="a")
    gate = audit(path, options).gates[0]
    assert list(gate.facts["preconditions"]) == ["a"]
