"""The whole chain on small real files, in this process: verdict, exit status and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specs.policy import default_policy
from specs.results import FileResult, Outcome, Report, Severity
from verifier.commands import accept, init
from verifier.judge import file_status, findings_of
from verifier.pipeline import Options, audit
from verifier.report import render

KERNEL = """\
__global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
"""
HOST = """
#include <cuda_runtime.h>
int main() {
    const int n = 1000;
    float* x = nullptr;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return 1;
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n);
    return 0;
}
"""
OPTIONS = Options(policy=default_policy())


@pytest.fixture(scope="module", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled simulators are shared by the tests of this file."""
    global OPTIONS
    before, OPTIONS = OPTIONS, replace(OPTIONS, cache=tmp_path_factory.mktemp("cache"))
    yield
    OPTIONS = before


def written(folder: Path, text: str, name: str = "k.cu") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def text_of(result: FileResult) -> str:
    return render(Report((result,), True, file_status(result)), "text")


def test_a_safe_kernel_passes_and_says_what_was_not_checked(tmp_path: Path) -> None:
    result = audit(written(tmp_path, KERNEL + HOST), OPTIONS)
    assert file_status(result) == 0, text_of(result)
    assert "numerics not checked" in text_of(result).splitlines()[0]


def test_a_fault_is_shown_with_its_line_and_a_replayed_witness(tmp_path: Path) -> None:
    result = audit(written(tmp_path, KERNEL.replace("i < n", "i <= n") + HOST), OPTIONS)
    assert file_status(result) == 1, text_of(result)
    text = text_of(result)
    assert (
        "error[bounds-global]" in text
        and "k.cu:3:" in text
        and "(replayed by the simulator; general domain)" in text
    )
    assert "    3 |     if (i <= n) x[i] *= a;" in text


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("none.cu", b"int main() { return 0; }\n", "kernel"),
        ("bytes.cu", b"\xff\xfe\x00__global__", "UTF-8"),
        ("broken.cu", KERNEL.replace("a;", "a").encode(), ":3:"),
        ("broken.py", b"x = '''__global__ void k() {}'''\ndef f(:\n", ":2"),
    ],
)
def test_input_that_cannot_be_used_is_status_2_in_one_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    result = audit(path, OPTIONS)
    assert file_status(result) == 2, text_of(result)
    assert str(path) in result.message and said in result.message and "\n" not in result.message


def test_missing_and_broken_contract_files(tmp_path: Path) -> None:
    path = written(tmp_path, KERNEL)
    for text in ("= 1", "[[contract]]\nkernel = 'scale'\nsurprise = 1\n", "[[contract]]\nkernel = 'other'\n"):
        contract = written(tmp_path, text, "k.contract.toml.txt")
        result = audit(path, replace(OPTIONS, contract=contract))
        assert file_status(result) == 2, text_of(result)
        assert "k.contract.toml.txt" in result.message and "\n" not in result.message


@pytest.mark.parametrize("prefix", ["", "#include <mystery/lib.h>\n"])
def test_without_host_code_the_contract_is_drafted(tmp_path: Path, prefix: str) -> None:
    result = audit(written(tmp_path, prefix + KERNEL), OPTIONS)
    assert file_status(result) == 3
    assert 'kernel = "scale"' in result.draft and "contract to review" in text_of(result)
    assert not prefix or "mystery/lib.h" in result.reasons[0]


def test_a_launcher_over_plain_pointers_gets_a_contract_to_review(tmp_path: Path) -> None:
    host = 'extern "C" void solve(float* x, int n) { scale<<<(n + 255) / 256, 256>>>(x, 2.f, n); }\n'
    path = written(tmp_path, KERNEL + host)
    result = audit(path, OPTIONS)
    assert file_status(result) == 3 and not any(
        f.severity is Severity.ERROR for f in findings_of(result.gates)
    )
    assert [r for r in result.reasons if "how many elements x has" in r] == list(result.reasons[:1])
    assert 'x = "inout f32[n]"  # GUESS' in result.draft and "its launch is known" in result.draft
    contract = tmp_path / "reviewed.toml"
    contract.write_text(result.draft)
    assert file_status(audit(path, replace(OPTIONS, contract=contract))) == 0


def test_a_drafted_contract_counts_once_it_is_typed(tmp_path: Path) -> None:
    path = written(tmp_path, KERNEL)
    status, said = init(path, None, False, "auto")
    contract = tmp_path / "k.contract.toml"
    assert status == 0 and str(contract) in said and contract.exists()
    assert init(path, None, False, "auto")[0] == 2
    assert file_status(audit(path, OPTIONS)) == 3
    assert file_status(audit(path, replace(OPTIONS, contract=contract))) == 0


OWN = "//@ buffer x: inout f32[n]\n//@ requires n <= 1\n//@ launch grid=(1) block=(2)\n"


def test_a_contract_that_comes_along_counts_once_a_person_accepts_it(tmp_path: Path) -> None:
    path, lock = written(tmp_path, OWN + KERNEL), tmp_path / "lock"
    result = audit(path, OPTIONS)
    assert result.verdict is Outcome.INCONCLUSIVE
    assert any("contract not accepted" in r and "n <= 1" in r for r in result.reasons)
    status, said = accept(path, lock, "ada", "auto")
    assert status == 0 and "accepted by ada" in said
    assert file_status(audit(path, replace(OPTIONS, lock=lock))) == 0
    path.write_text(path.read_text().replace("*= a", "*= a + 1"))
    assert file_status(audit(path, replace(OPTIONS, lock=lock))) == 3


def test_a_submission_cannot_buy_a_pass_with_its_own_contract(tmp_path: Path) -> None:
    """Out of bounds for every n but 1."""
    result = audit(written(tmp_path, OWN + KERNEL.replace("i < n", "i <= 0")), OPTIONS)
    assert file_status(result) in (1, 3)


def test_nothing_to_accept(tmp_path: Path) -> None:
    status, said = accept(written(tmp_path, KERNEL + HOST), tmp_path / "lock", "ada", "auto")
    assert status == 2 and "nothing to accept" in said and not (tmp_path / "lock").exists()


def test_keep_holds_text_ir_and_queries(tmp_path: Path) -> None:
    audit(
        written(tmp_path, KERNEL + HOST), replace(OPTIONS, keep=tmp_path / "kept", gates=("static", "prove"))
    )
    (folder,) = (tmp_path / "kept").glob("k.cu-*")
    assert "__global__ void scale" in (folder / "device.cu").read_text()
    assert "kernel scale(" in (folder / "module.ir").read_text()


def test_without_a_sandbox_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.isolation.sandbox.shutil.which", lambda _: None)
    result = audit(written(tmp_path, KERNEL + HOST), replace(OPTIONS, sandbox="auto"))
    assert file_status(result) == 3 and "sandbox" in result.reasons[0]
