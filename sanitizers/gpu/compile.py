"""Device text -> the cubin of one kernel instantiation, by nvcc in the sandbox, with line numbers.

``whole`` makes the device text a program of its own: the vendor's headers before it, a use of the instantiation behind it.
Invariant: the text itself is not changed; the name of the compiled kernel is found in the cubin and must be the only one
that fits.

Example::

    compiled = compile_kernel(toolkit, device, kernel, arch="sm_90", sandbox=sandbox, cache=None)
    compiled.cubin, compiled.entry      # b"\\x7fELF…", "_Z5saxpyfPKfPfi"
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sanitizers.gpu.toolkit import version
from verifier.ir import nodes as ir
from verifier.isolation import Limits, Sandbox, run
from verifier.source import headers
from verifier.source.declarations import Wrapper, parse
from verifier.source.device_text import DeviceText

CONTROLS = Path(__file__).with_name("controls.cu")
LIMITS = Limits(cpu_seconds=120, memory_mb=0, wall_seconds=120.0, output_bytes=64 << 20)
_ALWAYS = (
    "cuda_runtime.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cassert",
    "cmath",
    "cfloat",
    "climits",
    "cstdint",
    "cstdio",
    "algorithm",
    "limits",
)
_HOST_ONLY = tuple(
    "cublas cudnn cufft cusparse cusolver nccl mpi omp npp nvml nvjpeg cutlass GL/ nvToolsExt nvtx3".split()
)
"""Libraries of the host, which may not be installed and which device code does not need."""
_TORCH = """
#include <c10/util/Half.h>
#include <c10/util/BFloat16.h>
#include <ATen/core/TensorAccessor.h>
namespace torch { using namespace at; }
"""
_FLAGS = ("-std=c++17", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-lineinfo")


class NotCompiled(Exception):
    """Why there is no cubin, in words."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """``entry``: the kernel's name in the cubin. ``folder``: what the compiler put before relative paths."""

    cubin: bytes
    entry: str
    cooperative: bool = False


def torch_folder() -> Path | None:
    """The headers of an installed PyTorch."""
    spec = find_spec("torch")
    folder = Path(spec.origin).parent / "include" if spec and spec.origin else None
    return folder if folder is not None and folder.is_dir() else None


def whole(device: DeviceText, instantiations: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """The device text as a program for nvcc, with the template instantiations that are named."""
    system = [i for i in device.system_includes if not headers.is_torch(i) and not i.startswith(_HOST_ONLY)]
    lines = [f"#include <{name}>" for name in dict.fromkeys((*_ALWAYS, *system))]
    lines.append(_TORCH if any(headers.is_torch(i) for i in device.system_includes) else "")
    lines.append(device.text)
    lines.append('# 1 "instantiations"')
    names = {n for w in _wrappers(parse(device.text).items) for n in w.names}
    lines += [f"using namespace {n};" for n in sorted(names - {"std", "C"}) if n.isidentifier()]
    for number, (kernel, arguments) in enumerate(instantiations):
        if arguments:
            lines.append(f"void *vk_use_{number}() {{ return (void *)&{kernel}<{', '.join(arguments)}>; }}")
    return "\n".join([*lines, ""])


def _wrappers(items: Sequence[object]) -> list[Wrapper]:
    found = []
    for item in items:
        if isinstance(item, Wrapper):
            found += [item, *_wrappers(item.items)]
    return found


def compile_kernel(
    nvcc: Path, device: DeviceText, kernel: ir.Kernel, *, arch: str, sandbox: Sandbox, cache: Path | None
) -> Compiled:
    """Raises NotCompiled."""
    if "vk_control_" in device.text:
        raise NotCompiled("the text uses a name of the controls (vk_control_…)")
    text = whole(device, [(kernel.name, kernel.instantiation)])
    cubin, symbols = compile_text(nvcc, text, arch=arch, sandbox=sandbox, cache=cache)
    base = kernel.name.rpartition("::")[2]
    fitting = [mangled for mangled, name in symbols.items() if name == base]
    if len(fitting) != 1:
        raise NotCompiled(f"{len(fitting)} compiled kernels are called {base}")
    return Compiled(cubin, fitting[0], re.search(r"\bthis_grid\s*\(|\bgrid_group\b", text) is not None)


def compile_controls(nvcc: Path, *, arch: str, sandbox: Sandbox, cache: Path | None) -> bytes:
    """The seeded faults of ours. Raises NotCompiled."""
    return compile_text(nvcc, CONTROLS.read_text(), arch=arch, sandbox=sandbox, cache=cache)[0]


def compile_text(
    nvcc: Path, text: str, *, arch: str, sandbox: Sandbox, cache: Path | None
) -> tuple[bytes, dict[str, str]]:
    """The cubin and its kernels: name in the cubin -> plain name."""
    key = hashlib.sha256(json.dumps([text, arch, _FLAGS, version(nvcc)]).encode()).hexdigest()[:32]
    kept = cache / "cubins" / key if cache is not None else None
    if kept is not None and kept.with_suffix(".json").is_file():
        return kept.with_suffix(".cubin").read_bytes(), json.loads(kept.with_suffix(".json").read_text())
    with tempfile.TemporaryDirectory(prefix="cubin-") as name:
        folder = Path(name)
        (folder / "program.cu").write_text(text)
        torch = torch_folder()
        argv = [str(nvcc), *_FLAGS, f"-arch={arch}", "-cubin", "-o", "program.cubin", "program.cu"]
        readable = [nvcc.resolve().parents[1]]
        if torch is not None:
            argv += [f"-I{torch}"]
            readable.append(torch)
        script = 'cd "$1" && shift && export TMPDIR=. && "$@" 1>&2 && nm program.cubin | sed -n "s/.* T //p"'
        done = run(
            ["/bin/sh", "-c", script, "sh", str(folder), *argv],
            sandbox=sandbox,
            limits=LIMITS,
            readable=readable,
            writable=[folder],
        )
        if done.timed_out:
            raise NotCompiled(f"nvcc takes more than {LIMITS.wall_seconds:g} s")
        if done.returncode != 0 or not (folder / "program.cubin").is_file():
            raise NotCompiled(f"nvcc: {_first_error(done.stderr.decode(errors='replace'))}")
        cubin = (folder / "program.cubin").read_bytes()
        mangled = done.stdout.decode(errors="replace").split()
    plain = run(["c++filt"], sandbox=sandbox, stdin="\n".join([*mangled, ""]).encode()).stdout.decode()
    symbols = dict(zip(mangled, map(_plain, plain.splitlines()), strict=True))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".cubin").write_bytes(cubin)
        kept.with_suffix(".json").write_text(json.dumps(symbols))
    return cubin, symbols


def _plain(demangled: str) -> str:
    """``void a::scale<float, 4>(float*)`` -> ``scale``."""
    text = demangled.replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text.partition("(")[0].split(" ")[-1].rpartition("::")[2]


def _first_error(errors: str) -> str:
    lines = [r.strip() for r in errors.splitlines() if r.strip()]
    return next((r for r in lines if "error" in r), lines[0] if lines else "failed")[:300]
