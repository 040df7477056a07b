"""Stated contracts: both forms, precise errors, the acceptance rule, and how they fill lifted ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specs.clauses import evaluate
from specs.contract import Contract
from tests.contracts.lifting import cu_submission
from verifier.contracts import ContractError, ContractSet, derive
from verifier.contracts import lock as lock_file
from verifier.contracts.stated import read_comments, read_toml
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import SourceText, Submission

K = "__global__ void k(const float* x, float* y, int n, float a) { }\n"
COMMENTS = """//@ buffer x: in f32[n]
//@ buffer y: out f32[n, 2] align 16
//@ requires n >= 1
//@ alias x, y: disjoint
//@ launch grid=(ceil_div(n, 256)) block=256 shared=4 * n
//@ reference torch.nn.functional.relu(x)
"""
TOML = """[[contract]]
kernel = "k"
requires = ["n >= 1"]
no_alias = [["x", "y"]]
reference = "torch.nn.functional.relu(x)"
launch = { grid = ["ceil_div(n, 256)"], block = [256], shared_bytes = "4 * n" }
[contract.buffers]
x = "in f32[n]"
y = "out f32[n, 2] align 16"
"""


def made(submission: Submission, **options: object) -> ContractSet:
    settings = {"contract_file": None, "problem": None, "lock": None, **options}
    return derive(submission, sandbox=Sandbox("none"), **settings)  # type: ignore[arg-type]


def unaccepted(contract: Contract) -> bool:
    return any(not c.accepted for c in (*contract.requires, *contract.no_alias))


def check(c: Contract) -> None:
    assert c.origin == "stated" and not c.gaps
    assert c.launch.grid == ("ceil_div(n, 256)", "1", "1") and c.launch.shared_bytes == "4 * n"
    x, y = c.buffer("x"), c.buffer("y")
    assert x is not None and y is not None
    assert (x.extent, x.initialized) == ("n", True)
    assert (y.extent, y.shape, y.initialized, y.align) == ("n * 2", ("n", "2"), False, 16)
    assert c.scalar("n").value == "n" and c.scalar("a").value is None  # type: ignore[union-attr]
    (n,) = c.symbols
    assert (n.low, n.high) == (-(1 << 31), (1 << 31) - 1)
    assert c.reference == "torch.nn.functional.relu(x)"
    assert [d.text for d in c.no_alias] == ["disjoint(x, y)"]
    assert any(r.note == "size cap" for r in c.requires)


def test_comments() -> None:
    found = made(cu_submission(COMMENTS + K))
    (c,) = found.contracts
    check(c)
    assert found.reference == "torch.nn.functional.relu(x)" and not found.unlaunched


def test_a_file_that_a_person_gives_counts(tmp_path: Path) -> None:
    path = tmp_path / "given.toml"
    path.write_text(TOML)
    (c,) = made(cu_submission(K), contract_file=path).contracts
    check(c)
    assert not unaccepted(c)


def test_a_sidecar_comes_with_the_submission(tmp_path: Path) -> None:
    (tmp_path / "t.contract.toml").write_text(TOML)
    (c,) = made(cu_submission(K, path=str(tmp_path / "t.cu"))).contracts
    check(c)
    assert unaccepted(c)


def test_own_preconditions_never_count_by_themselves() -> None:
    for line in (
        "//@ requires n <= 1\n//@ buffer x: in f32[n]\n//@ buffer y: out f32[n]\n//@ launch grid=1 block=1\n",
        "//@ buffer x: in f32[1000000]\n",
        "//@ launch grid=1 block=1\n",
        "//@ alias x, y: disjoint\n",
    ):
        found = made(cu_submission(line + K))
        assert all(unaccepted(c) for c in found.contracts) and found.contracts, line


def test_a_reference_alone_needs_no_acceptance() -> None:
    launch = (
        "void run() { float *a, *b; cudaMalloc(&a, 4); cudaMalloc(&b, 4); k<<<1, 1>>>(a, b, 1, 2.0f); }\n"
    )
    found = made(cu_submission("//@ reference torch.relu(x)\n" + K + launch))
    assert found.reference == "torch.relu(x)"
    assert found.contracts and not any(unaccepted(c) for c in found.contracts)


def test_acceptance_is_recorded_for_text_and_contract(tmp_path: Path) -> None:
    submission = cu_submission(COMMENTS + K)
    lock = tmp_path / "verify-kernel.lock.json"
    (entry,) = lock_file.accept(submission, lock=lock, reviewer="ada", date="2026-01-31")
    assert (entry.kernel, entry.reviewer, entry.date) == ("k", "ada", "2026-01-31")
    (c,) = made(submission, lock=lock).contracts
    assert not unaccepted(c)
    changed = cu_submission(COMMENTS.replace("n >= 1", "n >= 2") + K)
    assert all(unaccepted(c) for c in made(changed, lock=lock).contracts)
    from dataclasses import replace

    other = replace(submission, device=replace(submission.device, sha256="1" * 64))
    assert all(unaccepted(c) for c in made(other, lock=lock).contracts)
    called = cu_submission(COMMENTS + K + "void caller(int n) { if (n > 4096) throw 1; }\n")
    assert called.device.sha256 == submission.device.sha256
    assert all(unaccepted(c) for c in made(called, lock=lock).contracts)
    again = lock_file.accept(changed, lock=lock, reviewer="bob", date="2026-02-01")
    assert len(json.loads(lock.read_text())["accepted"]) == len(again) == 1


def test_acceptance_needs_a_reviewer_and_a_sound_lock(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="reviewer"):
        lock_file.accept(cu_submission(COMMENTS + K), lock=tmp_path / "l", reviewer=" ", date="2026-01-01")
    for text in (
        "{",
        '{"schema": "other", "accepted": []}',
        '{"schema": "verify-kernel-lock/1"}',
        '{"schema": "verify-kernel-lock/1", "accepted": [{"x": 1}]}',
    ):
        (tmp_path / "l").write_text(text)
        with pytest.raises(ContractError, match="lock file is broken"):
            made(cu_submission(COMMENTS + K), lock=tmp_path / "l")


def test_stated_buffers_fill_what_the_host_does_not_say() -> None:
    text = (
        "//@ buffer x: in f32[n]\n//@ buffer y: out f32[n]\n"
        + K
        + "void run(const float* p, float* q, int m) { k<<<(m + 31) / 32, 32>>>(p, q, m * 2, 1.0f); }\n"
    )
    (c,) = made(cu_submission(text)).contracts
    assert c.origin == "lifted" and not c.gaps
    assert c.buffer("x").extent == "i32(m * 2)"  # type: ignore[union-attr]
    assert c.launch.grid[0] == "u32(i32(m + 31) // 32)"


def test_the_host_code_wins() -> None:
    text = (
        "//@ buffer x: in f32[1000000]\n//@ launch grid=1 block=1\n"
        + K
        + "void run(torch::Tensor t) { int m = t.numel(); k<<<m, 32>>>(t.data_ptr<float>(), t.data_ptr<float>(), m, 1.0f); }\n"
    )
    found = made(cu_submission(text))
    (c,) = found.contracts
    assert c.buffer("x").extent == "m" and c.launch.grid[0] == "u32(i32(m))"  # type: ignore[union-attr]
    assert any("not used" in p for p in found.notes)


def test_a_contract_for_one_launcher_or_instance(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[[contract]]\nkernel = "k"\nlauncher = "one"\nrequires = ["n >= 8"]\n')
    text = K + "".join(
        f"void {name}(torch::Tensor t) {{ int m = t.numel(); k<<<m, 32>>>(t.data_ptr<float>(), t.data_ptr<float>(), m, 1.0f); }}\n"
        for name in ("one", "two")
    )
    found = {c.launch.launcher: c for c in made(cu_submission(text), contract_file=path).contracts}
    assert any(r.text == "i32(m) >= 8" for r in found["one"].requires)
    assert not any(r.origin == "stated" for r in found["two"].requires)


def test_contents() -> None:
    kernel = "__global__ void k(const int* idx, float* y, int V) { }\n"
    text = "//@ buffer idx: in i32[m]\n//@ buffer y: inout f32[V]\n//@ content idx in 0..V-1\n//@ launch grid=1 block=32\n"
    (c,) = made(cu_submission(text + kernel)).contracts
    assert c.buffer("idx").content == ("0", "V - 1")  # type: ignore[union-attr]
    assert c.buffer("idx").content_origin == "stated"  # type: ignore[union-attr]
    sizes = {s.name: (s.kind, s.low) for s in c.symbols}
    assert sizes["m"] == ("dim", 1) and sizes["V"] == ("scalar", -(1 << 31))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("buffer x in f32[n]", "NAME: in"),
        ("buffer x: in f33[n]", "unknown dtype"),
        ("buffer x: in f32[]", "no extent"),
        ("buffer x: in f32[n +]", "not an expression"),
        ("buffer z: in f32[n]", "no parameter 'z'"),
        ("buffer x: in i32[n]", "points to f32"),
        ("buffer n: in i32[n]", "not a pointer"),
        ("requires n >", "not an expression"),
        ("requires f(n)", "not part of the clause language"),
        ("requires n.x > 1", "not part of the clause language"),
        ("launch grid=3", "is not 'grid="),
        ("launch grid=(1,2,3,4) block=1", "one to three"),
        ("content x 3", "LOW..HIGH"),
        ("content x in 3", "LOW..HIGH"),
        ("alias x y", "disjoint"),
        ("symbol n = many", "INTEGER"),
        ("frobnicate", "unknown contract comment"),
    ],
)
def test_errors_name_the_line(line: str, message: str) -> None:
    with pytest.raises(ContractError) as error:
        made(cu_submission(f"\n\n//@ {line}\n{K}"))
    assert message in error.value.message
    assert error.value.span.line == 3 and error.value.span.path == "t.cu" and error.value.fix


def test_comments_need_a_kernel_after_them() -> None:
    with pytest.raises(ContractError, match="without a kernel"):
        read_comments([SourceText("t.cu", K + "//@ requires n > 1\n")], ["k"])


def test_comments_find_the_kernel_behind_attributes() -> None:
    text = "//@ requires n > 1\ntemplate <typename T>\n__global__ void __launch_bounds__(256, 2)\nkernel_2(T* x, int n) {}\n"
    (found,) = read_comments([SourceText("t.cu", text)], ["kernel_2"])
    assert found.kernel == "kernel_2"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[contract]]\nkernel = ", 2, "not TOML"),
        ("x = 1\n", 1, "unknown table"),
        ("", 1, "no [[contract]]"),
        ("[[contract]]\n", 1, "without kernel"),
        ('[[contract]]\nkernel = "k"\ngrid = 3\n', 3, "unknown key 'grid'"),
        ('[[contract]]\nkernel = "k"\nrequires = ["n >"]\n', 3, "not an expression"),
        ('[[contract]]\nkernel = "k"\nrequires = "n > 1"\n', 3, "must be a list"),
        ('[[contract]]\nkernel = "k"\nlaunch = { grid = 1 }\n', 3, "needs grid and block"),
        ('[[contract]]\nkernel = "k"\n[contract.buffers]\nx = "f32"\n', 4, "is not 'in|out|inout"),
        ('[[contract]]\nkernel = "k"\n[contract.symbols]\nn = { low = "a" }\n', 4, "low must be an integer"),
        ('[[contract]]\nkernel = "k"\nno_alias = [["x"]]\n', 3, "pairs"),
        ('[[contract]]\nkernel = "nope"\n', 1, "no kernel 'nope'"),
    ],
)
def test_file_errors_name_the_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ContractError) as error:
        made(cu_submission(K), contract_file=path)
    assert message in error.value.message and error.value.span.line == line and error.value.fix


def test_an_unreadable_contract_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="cannot read"):
        read_toml(tmp_path / "none.toml", "file")


def test_a_symlinked_sidecar_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text(TOML)
    (tmp_path / "t.contract.toml").symlink_to(tmp_path / "real.toml")
    assert not made(cu_submission(K, path=str(tmp_path / "t.cu"))).contracts


def test_kernels_without_anything_are_drafted_and_the_draft_can_be_read(tmp_path: Path) -> None:
    found = made(cu_submission(K))
    assert found.unlaunched == ("k",) and not found.contracts
    assert "GUESS" in found.draft
    path = tmp_path / "draft.toml"
    path.write_text(found.draft)
    (c,) = made(cu_submission(K), contract_file=path).contracts
    assert not c.gaps and evaluate(c.launch.grid[0], {"n": 1000}) == 4


def test_a_kernel_without_parameters(tmp_path: Path) -> None:
    text = "__device__ int table[256];\n__global__ void fill() { table[threadIdx.x] = 1; }\n"
    file = tmp_path / "c.toml"
    file.write_text('[[contract]]\nkernel = "fill"\nlaunch = { grid = ["1"], block = ["256"] }\n')
    (c,) = made(cu_submission(text, ("fill",)), contract_file=file).contracts
    assert not c.gaps and c.launch.block[0] == "256"


def test_a_class_passed_by_value_needs_no_buffer(tmp_path: Path) -> None:
    text = "struct Q { int n; };\n__global__ void k(Q p, float* y) { if (threadIdx.x < p.n && p.n < 64) y[threadIdx.x] = p.n; }\n"
    file = tmp_path / "c.toml"
    head = '[[contract]]\nkernel = "k"\nlaunch = { grid = ["1"], block = ["64"] }\n'
    file.write_text(f'{head}[contract.buffers]\ny = "out f32[64]"\n')
    (c,) = made(cu_submission(text, ("k",)), contract_file=file).contracts
    assert not c.gaps
    file.write_text(head)
    (c,) = made(cu_submission(text, ("k",)), contract_file=file).contracts
    assert ["parameter y" in g for g in c.gaps] == [True]
