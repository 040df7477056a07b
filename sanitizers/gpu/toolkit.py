"""What of the GPU's tools this machine has: driver, nvcc, compute-sanitizer; each with its version or the line that installs it.

Looked for on the PATH, in ``/usr/local/cuda`` and in the wheels ``nvidia-cuda-nvcc`` and ``nvidia-cuda-sanitizer-api``.

Example::

    toolkit = look()          # Toolkit(driver=PosixPath("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), …)
    missing(toolkit)          # ("compute-sanitizer is missing: pip install nvidia-cuda-sanitizer-api",)
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INSTALL = {
    "driver": "install the NVIDIA driver (https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/)",
    "GPU": "pass the GPU to this machine (docker run --gpus all), see nvidia-smi",
    "nvcc": "pip install 'verify-kernel[gpu]', or the CUDA toolkit",
    "compute-sanitizer": "pip install 'verify-kernel[gpu]', or the CUDA toolkit",
}


@dataclass(frozen=True, slots=True)
class Toolkit:
    """None: not found. ``devices``: the device files that a process on the GPU needs."""

    driver: Path | None
    nvcc: Path | None
    sanitizer: Path | None
    devices: tuple[Path, ...]


def look() -> Toolkit:
    """What is here now."""
    return Toolkit(_driver(), _program("nvcc"), _program("compute-sanitizer"), _devices())


def missing(toolkit: Toolkit) -> tuple[str, ...]:
    """One line for each thing that a GPU run lacks."""
    found = {
        "driver": toolkit.driver,
        "nvcc": toolkit.nvcc,
        "compute-sanitizer": toolkit.sanitizer,
    }
    return tuple(f"{name} is missing: {INSTALL[name]}" for name, there in found.items() if not there)


@cache
def version(program: Path) -> str:
    """The dotted number that the program prints for ``--version``; empty if there is none."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False, env={}
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"(?:release|[Vv]ersion) (\d+(?:\.\d+)+)", done.stdout)
    return found[1] if found else ""


@cache
def options(program: Path) -> str:
    """What it prints for ``--help``."""
    try:
        done = subprocess.run(
            [program, "--help"], capture_output=True, text=True, timeout=30, check=False, env={}
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def device(toolkit: Toolkit) -> str:
    """The name of the first GPU that the driver has, or ""; asked in a process of its own."""
    ask = (
        "import ctypes, sys; d = ctypes.CDLL(sys.argv[1]); n = ctypes.create_string_buffer(200); "
        "sys.exit(d.cuInit(0) or d.cuDeviceGetName(n, 200, 0) or print(n.value.decode()))"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", ask, str(toolkit.driver)],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def _driver() -> Path | None:
    """The file of libcuda that this process would load (an empty environment may not find it by name)."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    maps = Path("/proc/self/maps").read_text()
    found = re.search(r"(/\S*/libcuda\.so\S*)", maps)
    return Path(found[1]) if found else None


def _program(name: str) -> Path | None:
    return next((p for p in _places(name) if p.is_file()), None)


def _places(name: str) -> Iterator[Path]:
    on_path = shutil.which(name)
    if on_path is not None:
        yield Path(on_path)
    yield Path("/usr/local/cuda/bin") / name
    for folder in sys.path:
        for release in ("cu13", "cu12"):
            yield Path(folder, "nvidia", release, "bin", name)


def _devices() -> tuple[Path, ...]:
    return tuple(p for pattern in ("nvidia*", "dxg") for p in sorted(Path("/dev").glob(pattern)))
