"""Kernels by hand: source text and launch in a few words, without the readers that the real chain has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sanitizers.simulator import SCHEDULES, Schedule, SimResult, simulate
from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox, SandboxMissing, probe
from verifier.source.device_text import DeviceText

_TYPES: dict[str, ir.Type] = {
    "f16": ir.Float("f16"), "bf16": ir.Float("bf16"), "f32": ir.F32, "f64": ir.F64, "bool": ir.BOOL,
    **{f"{s}{b}": ir.Int(b, s == "i") for s in "iu" for b in (8, 16, 32, 64)},
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """``buffers``: "x f32 100", "y f32 4 empty", "i i32 8 0..3"; ``scalars``: "n i32 5". In the order of the parameters.

    A line of the source that ends in ``//! id`` must be found faulty with that id, and no other line.
    """

    name: str
    source: str
    params: Sequence[str]
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (32, 1, 1)
    shared: int = 0
    instantiation: tuple[str, ...] = ()
    inputs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def device(self) -> DeviceText:
        return DeviceText(f'# 1 "k.cu"\n{self.source}', hashlib.sha256(self.source.encode()).hexdigest(), ())

    @property
    def expected(self) -> set[tuple[str, int]]:
        marks = [(i, line.partition("//!")[2].split()) for i, line in enumerate(self.source.splitlines(), 1)]
        return {(word, i) for i, words in marks for word in words}

    @property
    def kernel(self) -> ir.Kernel:
        name = re.search(r"__global__ void\s+(?:__launch_bounds__\(\d+\)\s+)?(\w+)", self.source)
        assert name is not None
        params = tuple(ir.Param(p.split()[0], self._type(p.split())) for p in self.params)
        return ir.Kernel(name[1], self.instantiation, params, (), {}, ())

    @staticmethod
    def _type(words: Sequence[str]) -> ir.Type:
        element = _TYPES[words[1].rstrip("=")]
        return element if words[1].endswith("=") else ir.Pointer(element)

    @property
    def launch(self) -> ConcreteLaunch:
        buffers = []
        for name, dtype, size, *rest in (p.split() for p in self.params if "=" not in p):
            low, high = map(int, rest[0].split("..")) if rest and ".." in rest[0] else (None, None)
            storage = next((r[1:] for r in rest if r.startswith("@")), "")
            buffers.append(
                ConcreteBuffer(name, dtype, int(size), (), "empty" not in rest, storage, {}, low, high)
            )
        scalars = {
            w[0]: (float(w[2]) if w[1].startswith("f") else int(w[2]))
            for w in (p.split() for p in self.params if "=" in p)
        }
        return ConcreteLaunch(
            self.kernel.name, self.instantiation, self.grid, self.block, self.shared, tuple(buffers), scalars
        )


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return probe()
    except SandboxMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def simulator_cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs are kept by content, so a second run of the tests compiles nothing."""
    cache = request.config.cache
    return Path(cache.mkdir("simulator")) if cache is not None else tmp_path_factory.mktemp("simulator")


@pytest.fixture
def run_case(sandbox: Sandbox, simulator_cache: Path) -> Callable[..., SimResult]:
    def run(case: Case, schedule: Schedule = Schedule(), opt: str = "O1", **options: object) -> SimResult:  # noqa: B008
        return simulate(
            case.device, case.kernel, case.launch, inputs=case.inputs, schedule=schedule, opt=opt, sandbox=sandbox,
            cache=simulator_cache, **options,
        )  # fmt: skip

    return run


@pytest.fixture
def check(run_case: Callable[..., SimResult]) -> Callable[..., None]:
    """A good case is clean under every schedule; of a bad one the schedules together find just the marked lines."""

    def run(case: Case, opt: str = "O1") -> None:
        found: set[tuple[str, int]] = set()
        for kind in SCHEDULES:
            result = run_case(case, Schedule(kind, 7), opt)
            assert result.unsupported is None and result.error is None, kind
            assert result.blocks_launched == case.grid[0] * case.grid[1] * case.grid[2]
            lines = {(f.property, f.span.line) for f in result.findings}
            lines |= {
                (f.property, f.other.span.line) for f in result.findings if f.other and f.other.span.line
            }
            found |= lines
            assert case.expected or not lines, (kind, result.findings)
        assert found == case.expected

    return run


@pytest.fixture(scope="session")
def make_case() -> type[Case]:
    return Case
