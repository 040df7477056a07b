"""Loading: kinds, includes, conditions, errors with one clear line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from verifier.isolation import Sandbox
from verifier.source import NoKernel, SourceError, Submission, load

Read = Callable[..., Submission]
KERNEL = "__global__ void k(int* p) { *p = 1; }\n"


def test_kinds(read: Read) -> None:
    assert read(KERNEL).kind == "cu"
    assert read(KERNEL + "int main() { return 0; }").kind == "cu"
    assert read("#include <torch/extension.h>\n" + KERNEL).kind == "extension"


def test_system_includes_are_recorded_in_order_and_not_expanded(read: Read) -> None:
    text = '#include <cuda_runtime.h>\n#include "math.h"\n#  include <cub/cub.cuh> // x\n'
    text += "#if 0\n#include <a.h>\n#endif\n"
    submission = read(text + KERNEL)
    assert submission.device.system_includes == ("cuda_runtime.h", "math.h", "cub/cub.cuh")
    assert not submission.problems and "#" not in submission.host.replace("# ", "")


def test_own_headers_are_expanded_and_hashed(read: Read, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "a.cuh").write_text(
        '#pragma once\n#include "b.cuh"\n__device__ int f() { return N; }\n'
    )
    (tmp_path / "inc" / "b.cuh").write_text("#ifndef B\n#define B\n#define N 7\n#endif\n")
    (tmp_path / "inc" / "unused.cuh").write_text("int x;\n")
    text = '#include "inc/a.cuh"\n#include "inc/a.cuh"\n#ifdef NO_SUCH\n#include "inc/unused.cuh"\n#endif\n'
    submission = read(text + "__global__ void k(int* p) { *p = f(); }", defines={"NO_SUCH": "undefined"})
    assert "return 7" in submission.device.text
    assert [Path(p).name for p, _ in submission.device.user_headers] == ["a.cuh", "b.cuh"]
    assert f'"{tmp_path}/inc/a.cuh"' in submission.device.text and not submission.problems


def test_include_dirs(read: Read, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tile.h").write_text("#define T 3\n")
    text = "#include <tile.h>\n__global__ void k(int* p) { *p = T; }"
    assert any("tile.h is not found" in p for p in read(text, "src/k.cu").problems)
    assert not read(text, "src/k.cu", include_dirs=[other]).problems


@pytest.mark.parametrize("name", ["missing.h", "sub/missing.cuh"])
def test_unknown_headers_keep_it_inconclusive(name: str, read: Read) -> None:
    [problem] = read(f'\n#include "{name}"\n' + KERNEL).problems
    assert f"k.cu:2:1: header {name} is not found; pass -I DIR" in problem
    [problem] = read(f"#include <{name}>\n" + KERNEL).problems
    assert "is not found" in problem


def test_includes_may_not_leave_the_root(read: Read, tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("#define S 1\n")
    with pytest.raises(SourceError, match=r"leaves the root.*--root"):
        read('#include "../secret.h"\n' + KERNEL, "src/k.cu")
    with pytest.raises(SourceError, match="leaves the root"):
        read('#include "/etc/passwd"\n' + KERNEL, "src/k.cu")
    with pytest.raises(SourceError, match="leaves the root"):
        read('#include "../no-such-file"\n' + KERNEL, "src/k.cu")
    os.symlink(tmp_path / "secret.h", tmp_path / "src" / "link.h")
    with pytest.raises(SourceError, match="leaves the root"):
        read('#include "link.h"\n' + KERNEL, "src/k.cu")
    assert not read('#include "../secret.h"\n' + KERNEL, "src/k.cu", root=tmp_path).problems


def test_includes_that_are_not_reached_do_not_matter(read: Read) -> None:
    assert not read('#if 0\n#include "../x.h"\n#include "y.h"\n#endif\n' + KERNEL, "src/k.cu").problems


@pytest.mark.parametrize(
    "directive", ["#include_next <math.h>", "#define H <math.h>\n#include H", "#import <math.h>"]
)
def test_odd_includes_are_not_followed(directive: str, read: Read) -> None:
    [problem] = read(directive + "\n" + KERNEL).problems
    assert "cannot be resolved" in problem


def test_header_macros_have_values(read: Read) -> None:
    text = "#include <cmath>\n__global__ void k(float* p) { *p = INFINITY + FLT_MAX + INT_MAX + M_PI; }"
    assert "__builtin_inff" in read(text).device.text and "M_PI" not in read(text).device.text


def test_conditions_on_tools_are_found(read: Read) -> None:
    text = "#ifdef __clang__\n#endif\n#if !defined(NDEBUG)\n#endif\n"
    found = read(text + KERNEL).conditionals
    assert [(c.name, c.span.line, c.tool) for c in found] == [("__clang__", 1, True), ("NDEBUG", 3, True)]
    assert not read(text + KERNEL, defines={"NDEBUG": "1", "__clang__": "undefined"}).conditionals


@pytest.mark.parametrize(
    "name", ["__GNUC__", "__clang__", "__SANITIZE_ADDRESS__", "NDEBUG", "__CUDACC_RTC__"]
)
def test_a_definition_in_the_text_does_not_hide_a_tool_macro(name: str, read: Read) -> None:
    text = f"#ifndef {name}\n#define {name}\n#endif\n#ifdef {name}\n#endif\n"
    assert [c.name for c in read(text + KERNEL).conditionals] == [name]


def test_tool_macros_behind_own_macros_are_found(read: Read) -> None:
    text = (
        "#define C __clang__\n#define HAS(x) (x + D)\n#define D NDEBUG\n#if C\n#endif\n#if HAS(1)\n#endif\n"
    )
    assert [c.name for c in read(text + KERNEL).conditionals] == ["__clang__", "NDEBUG"]
    assert not read("#define real float\n#ifdef real\n#endif\n#if defined(real)\n#endif\n" + KERNEL).problems


def test_values_of_the_build_keep_it_inconclusive(read: Read) -> None:
    [problem] = read("__global__ void k(int* p) { *p = __FILE__[0] + __COUNTER__; }").problems
    assert "device code depends on __FILE__ or __COUNTER__" in problem
    host = "#define CHECK(x) check(x, __FILE__, __LINE__)\nvoid f() { CHECK(g()); }\n"
    assert not read("__global__ void k(int* p) { *p = __LINE__; }\n" + host).problems
    python = 'from torch.utils.cpp_extension import load_inline\nm = load_inline("m", "", "%s")\n'
    assert not read(python % KERNEL.strip(), "op.py").problems
    [problem] = read(python % "__global__ void k(int* p) { *p = __LINE__; }", "op.py").problems
    assert "__LINE__" in problem


def test_guards_and_own_switches_are_fine(read: Read) -> None:
    text = "#ifndef __K_H__\n#define __K_H__\n#endif\n#ifndef TILE\n#define TILE 16\n#endif\n"
    text += "#if TILE > 8 && __cplusplus\n#endif\n"
    assert not read(text + "#ifdef __CUDA_ARCH__\n#endif\n#ifndef M_PI\n#endif\n" + KERNEL).conditionals


def test_what_the_build_decides_keeps_it_inconclusive(read: Read) -> None:
    text = "#ifdef FAST\n#endif\n" + KERNEL
    [problem] = read(text).problems
    assert "k.cu:1:1: the build decides FAST; pass -D FAST=VALUE, or -D FAST=undefined" in problem
    assert not read(text, defines={"FAST": "1"}).problems
    assert not read(text, defines={"FAST": "undefined"}).problems


def test_defines_reach_the_text(read: Read) -> None:
    assert "*p = 42" in read("__global__ void k(int* p) { *p = N; }", defines={"N": "42"}).device.text


def test_arch_is_seen_by_device_code_only(read: Read) -> None:
    text = "#ifdef __CUDA_ARCH__\n#define V __CUDA_ARCH__\n#else\n#define V 1\n#endif\n"
    text += "__global__ void k(int* p) { *p = V; }\nint host() { return V; }\n"
    submission = read(text, arch="sm_90")
    assert "*p = 900" in submission.device.text
    assert "return 1" in submission.host and "*p = 1" in submission.host


def test_torch_macros_stay_calls_and_own_macros_are_expanded(read: Read) -> None:
    text = "#include <torch/extension.h>\n#define CHECK(x) TORCH_CHECK(x.is_cuda(), #x)\n" + KERNEL
    text += 'void f(torch::Tensor a) { CHECK(a); AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "f", [&] {}); }'
    host = read(text).host
    assert 'TORCH_CHECK(a.is_cuda(), "a")' in host and "AT_DISPATCH_FLOATING_TYPES(" in host


def test_host_files(read: Read, tmp_path: Path) -> None:
    (tmp_path / "bind.cpp").write_text("#include <torch/extension.h>\nvoid bound() {}\n")
    assert "void bound()" in read(KERNEL, host_files=[tmp_path / "bind.cpp"]).host


def test_annotations_stay_reachable(read: Read) -> None:
    assert "//@ requires n >= 0" in read("//@ requires n >= 0\n" + KERNEL).raw


def test_windows_line_ends(read: Read, tmp_path: Path, sandbox: Sandbox) -> None:
    path = tmp_path / "w.cu"
    path.write_bytes(b"#define A \\\r\n 1\r\n\r\n__global__ void k(int* p)\r\n{ *p = A; }\r\n")
    submission = load(path, sandbox=sandbox)
    assert submission.device.kernels[0][1].line == 4 and "\r" not in submission.device.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("int x;\n", "has no __global__ function"),
        ("// __global__ void k() {}\n", "has no __global__ function"),
        ("#error stop here\n" + KERNEL, r"k.cu:1:2: preprocessing error: #error stop here"),
        ("int a;\n#if (\n#endif\n" + KERNEL, r"k.cu:2:\d+: preprocessing error"),
        ("#define F(x) x\n" + "int y = F(1;\n" + KERNEL, r"k.cu:\d+:\d+: preprocessing error: unterminated"),
        ("__global__ void k() { if (1) { }\n", r"k.cu:1:21: '{' is never closed"),
        ("}\n" + KERNEL, r"k.cu:1:1: '}' closes nothing"),
        ("\0" + KERNEL, "holds a NUL byte"),
        (KERNEL + "(" * 5000 + ")" * 5000, "nested too deeply"),
    ],
)
def test_errors_are_one_clear_line(text: str, message: str, read: Read) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, NoKernel) == ("__global__ function" in message)


def test_unreadable_files(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "real.cu").write_text(KERNEL)
    (tmp_path / "link.cu").symlink_to(tmp_path / "real.cu")
    (tmp_path / "latin.cu").write_bytes(b'int a;\n#define A "caf\xe9" // caf\xe9\n')
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "big.cu").write_text("int x;" * (1 << 20))
    wrong = {
        "link.cu": "symbolic link",
        "latin.cu": "latin.cu:2: is not UTF-8",
        "latin.py": "latin.py:1: is not UTF-8",
        "folder.cu": "is a folder",
        "pipe.cu": "not a regular file",
        "none.cu": "No such file",
        "big.cu": "larger than",
    }
    for name, message in wrong.items():
        with pytest.raises(SourceError, match=message):
            load(tmp_path / name, sandbox=sandbox)


def test_comments_may_have_any_encoding(tmp_path: Path, sandbox: Sandbox) -> None:
    """The text between them stays where it is, and a byte that ends a line in a comment still does."""
    text = KERNEL.replace("{", "/* caf\xe9 */ {", 1) + "#define A 1 // \xe9\n// \x83\\\nint hidden;\n"
    file = tmp_path / "latin.cu"
    file.write_bytes(text.encode("latin-1"))
    read = load(file, sandbox=sandbox)
    assert read.raw == text.replace("\xe9", "_").replace("\x83", "_")
    assert "hidden" not in read.device.text and "hidden" not in read.host
    for wrong in (
        b"int caf\xe9;\n",
        b"#define B \xe9\n",
        b'char a[] = "\xe9";\n',
        b'// \xe9\nR"(//\xe9)";\n',
    ):
        file.write_bytes(KERNEL.encode() + wrong)
        with pytest.raises(SourceError, match="is not UTF-8"):
            load(file, sandbox=sandbox)


@pytest.mark.parametrize(
    "options", [{"defines": {"A B": "1"}}, {"defines": {"A": "1\n#x"}}, {"arch": "hopper"}]
)
def test_options_are_checked(options: dict[str, object], read: Read) -> None:
    with pytest.raises(SourceError, match="command line"):
        read(KERNEL, **options)


def test_macro_bomb_is_named(read: Read) -> None:
    lines = ["#define A0 x x x x x x x x x x"] + [f"#define A{i} " + f"A{i - 1} " * 10 for i in range(1, 12)]
    [problem] = read("\n".join(lines) + "\nint y = A11;\n" + KERNEL).problems
    assert "exceeds its limits" in problem


def test_include_bomb_is_refused(read: Read, tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "a.h"\n')
    with pytest.raises(SourceError, match="preprocessing error: #include nested depth"):
        read('#include "a.h"\n' + KERNEL)
    (tmp_path / "a.h").write_text('#include "a.h"\n#include "a.h"\n')
    [problem] = read('#include "a.h"\n' + KERNEL).problems
    assert "exceeds its limits" in problem


def test_user_line_markers_do_not_move_places(read: Read) -> None:
    submission = read('#line 100 "other.cu"\n# 7 "third.cu" 1\n' + KERNEL)
    assert str(submission.device.kernels[0][1]).endswith("k.cu:3:17")


def test_odd_file_names(read: Read) -> None:
    submission = read(KERNEL, 'a "quoted" \\ name.cu')
    assert submission.device.kernels[0][1].path == submission.path


def test_deterministic(read: Read) -> None:
    assert read(KERNEL).device == read(KERNEL).device


def test_a_header_that_several_host_files_include_stands_once(read: Read, tmp_path: Path) -> None:
    (tmp_path / "shape.h").write_text("struct Shape { int n; };\n")
    kernel = f'#pragma once\n#include "shape.h"\n{KERNEL}'
    (tmp_path / "bind.cpp").write_text(
        '#include "shape.h"\nvoid launch(Shape s);\nvoid bound() { launch({3}); }\n'
    )
    (tmp_path / "use.cu").write_text('#include "k.cuh"\nvoid launch(Shape s) { k<<<s.n, 1>>>(0); }\n')
    host = read(kernel, "k.cuh", host_files=[tmp_path / "bind.cpp", tmp_path / "use.cu"]).host
    assert [host.count(x) for x in ("struct Shape", "void k(", "void launch(Shape s) {")] == [1, 1, 1]


def test_what_stands_inside_of_a_function_stays(read: Read, tmp_path: Path) -> None:
    (tmp_path / "step.inc").write_text("n = n + 1;\n")
    (tmp_path / "a.cpp").write_text('int f(int n) {\n#include "step.inc"\nreturn n; }\n')
    (tmp_path / "b.cpp").write_text('int g(int n) {\n#include "step.inc"\nreturn n; }\n')
    (tmp_path / "c.cpp").write_text('int n = 1\n#include "more.inc"\n;\n')
    (tmp_path / "d.cpp").write_text('int m = 1\n#include "more.inc"\n;\n')
    (tmp_path / "more.inc").write_text("+ 1\n")
    files = [tmp_path / name for name in ("a.cpp", "b.cpp", "c.cpp", "d.cpp")]
    host = read(KERNEL, host_files=files).host
    assert host.count("n = n + 1;") == 2 and host.count("+ 1\n") == 2
