"""The kernel that is launched is the one that was meant; the text that is compiled is the one that was proved."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from sanitizers.gpu import compile as compiling
from sanitizers.gpu import toolkit
from sanitizers.gpu.compile import NotCompiled, compile_kernel, whole
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText

NVCC = shutil.which("nvcc")
SOURCE = """namespace a { template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; } }
static __global__ void plain(int* x) { x[threadIdx.x] = 1; }
"""


def device(source: str = SOURCE) -> DeviceText:
    text = f'# 1 "k.cu"\n{source}'
    return DeviceText(text, hashlib.sha256(text.encode()).hexdigest(), ())


def kernel(name: str, *arguments: str) -> ir.Kernel:
    return ir.Kernel(name, arguments, (), (), {}, ())


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("saxpy(int, float, float const*, float*)", "saxpy"),
        ("void a::scale<float, 4>(float*)", "scale"),
        ("void scale<a::Pair<int, 2>, &(anonymous namespace)::f>(int*)", "scale"),
        ("(anonymous namespace)::plain(int*)", "plain"),
        ("vk_control_clean", "vk_control_clean"),
    ],
)
def test_plain_names(demangled: str, name: str) -> None:
    assert compiling._plain(demangled) == name


def test_the_device_text_stands_in_the_program_as_it_is() -> None:
    text = whole(device(), [("a::scale", ("float", "4"))])
    assert device().text in text and "&a::scale<float, 4>" in text


@pytest.mark.parametrize(("names", "said"), [({}, "0 compiled"), ({"_Z1": "f", "_Z2": "f"}, "2 compiled")])
def test_a_kernel_that_is_not_the_only_one_of_its_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, names: dict[str, str], said: str
) -> None:
    monkeypatch.setattr(compiling, "compile_text", lambda *_, **__: (b"", names))
    with pytest.raises(NotCompiled, match=said):
        compile_kernel(Path("nvcc"), device(), kernel("f"), arch="sm_90", sandbox=sandbox, cache=None)


def test_a_text_may_not_use_the_names_of_the_controls(sandbox: Sandbox) -> None:
    text = device("__global__ void vk_control_memcheck(int* x) { x[-1] = 0; }")
    with pytest.raises(NotCompiled, match="controls"):
        compile_kernel(
            Path("nvcc"), text, kernel("vk_control_memcheck"), arch="sm_90", sandbox=sandbox, cache=None
        )


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_nvcc_compiles_the_instantiation_that_was_asked_for(sandbox: Sandbox, tmp_path: Path) -> None:
    assert NVCC is not None
    made = compile_kernel(
        Path(NVCC), device(), kernel("a::scale", "float", "4"), arch="sm_90", sandbox=sandbox, cache=tmp_path
    )
    assert made.cubin.startswith(b"\x7fELF") and "scaleIfLi4E" in made.entry and not made.cooperative
    with pytest.raises(NotCompiled, match="nvcc: k"):
        compile_kernel(
            Path(NVCC),
            device("__global__ void f() { oops; }"),
            kernel("f"),
            arch="sm_90",
            sandbox=sandbox,
            cache=tmp_path,
        )


def test_programs_are_found_in_wheels_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia" / "cu13" / "bin" / "compute-sanitizer"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho Version 2026.4.0.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = toolkit.look()
    assert found.sanitizer == program or found.sanitizer == Path("/usr/local/cuda/bin/compute-sanitizer")
    assert toolkit.version(program) == "2026.4.0.0"
    assert not any("compute-sanitizer" in line for line in toolkit.missing(found))
