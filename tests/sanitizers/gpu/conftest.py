"""A GPU made of two fakes: a driver whose launches do what they are told, and a compute-sanitizer that writes given reports."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sanitizers.gpu.job import Work
from sanitizers.gpu.toolkit import Toolkit
from sanitizers.gpu.watch import GpuMissing, Machine, find
from specs.contract import ConcreteLaunch
from verifier.isolation import Sandbox, SandboxMissing, probe

HERE = Path(__file__).parent
_TOOL = """#!/bin/sh
[ "$1" = --version ] && echo "Version 2025.3.1.0" && exit 0
[ -e pyproject.toml ] && exit 3  # not in a run's own folder
tool=$2
while [ "${{1##*python*}}" ]; do shift; done
{run}
sed "s/TOOL/$tool/" > report.xml <<'REPORT'
{report}
REPORT
exit {status}
"""
_ROOT = '<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput>{}</ComputeSanitizerOutput>'
CONTROL = """<record><kind>Precise</kind><what><text>Invalid __global__ write of size 4 bytes is out of bounds</text></what>
<where><func>vk_control_TOOL</func><path>/a/program.cu</path><line>6</line></where></record>"""
FAULT = """<record><kind>Precise</kind><who><threadIdx><x>3</x><y>0</y><z>0</z></threadIdx>
<blockIdx><x>1</x><y>0</y><z>0</z></blockIdx></who>
<what><text>Invalid __global__ write of size 4 bytes is out of bounds</text><space>__global__</space></what>
<where><func>f</func><path>/a/k.cu</path><line>3</line></where></record>"""


@pytest.fixture(scope="session")
def real_gpu() -> Machine:
    why = ""
    for choice in ("auto", "none"):  # a GPU is not reached under every sandbox
        try:
            return find(sandbox=probe(choice), cache=None)
        except (SandboxMissing, GpuMissing) as error:
            why = str(error)
    pytest.skip(why)


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def make(behaviour: str) -> Path:
        if behaviour not in made:
            made[behaviour] = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
            argv = ["g++", "-shared", "-fPIC", f'-DBEHAVIOUR="{behaviour}"', "-o", str(made[behaviour])]
            subprocess.run([*argv, str(HERE / "fake_cuda.cpp")], check=True)
        return made[behaviour]

    return make


def fake_tool(
    path: Path, *records: str, report: str | None = None, run: str = '"$@"', status: int = 9
) -> Path:
    """A compute-sanitizer that runs its program and then reports exactly this."""
    path.write_text(_TOOL.format(run=run, report=report or _ROOT.format("".join(records)), status=status))
    path.chmod(0o755)
    return path


@pytest.fixture
def fake_gpu(fake_driver: Callable[[str], Path], tmp_path: Path, sandbox: Sandbox) -> Callable[..., Machine]:
    """A machine by hand, without nvcc."""

    def make(tool: Path | None = None, behaviour: str = "clean") -> Machine:
        program = tool or fake_tool(tmp_path / "compute-sanitizer", CONTROL)
        nvcc = Path(shutil.which("nvcc") or "/bin/false")
        toolkit = Toolkit(fake_driver(behaviour), nvcc, program, ())
        return Machine(toolkit, sandbox, None, "fake", "sm_90", 13000, controls=b"cubin")

    return make


@pytest.fixture
def one_work() -> Work:
    """64 ints at x, and n."""
    launch = ConcreteLaunch("f", (), (1, 1, 1), (64, 1, 1), 0, (), {})
    params = ((bytes(8), ((0, 0),)), ((64).to_bytes(4, "little"), ()))
    return Work(b"cubin", "f", False, launch, (256,), ("x",), (None,), (True,), params)
