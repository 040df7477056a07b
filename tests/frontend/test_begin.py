"""Children that are begun early answer what fresh ones would, and none is left."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specs.policy import default_policy
from verifier import contracts, pipeline, source
from verifier.contracts import problem as problems
from verifier.frontend import parse_device
from verifier.isolation import ahead, child
from verifier.isolation.sandbox import probe

SANDBOX = probe()
PLAIN = """
#include <torch/extension.h>
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  twice<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""
TEMPLATE = (
    PLAIN.replace("__global__", "template <int F> __global__").replace("2.0f", "F").replace("<<<", "<3><<<")
)
PROBLEM = "import torch\nN = 64\ndef get_inputs():\n    return [torch.rand(N)]\ndef get_init_inputs():\n    return []\n"


@pytest.fixture(autouse=True)
def none_is_left() -> Iterator[None]:
    ahead.drop()
    yield
    assert not ahead._begun


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules of the children that ``run`` started itself."""
    found: list[str] = []
    popen = ahead.popen

    def watched(command: list[str], **options: object) -> object:
        found.append(" ".join(command))
        return popen(command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ahead, "popen", watched)
    return found


@pytest.mark.parametrize("text", [PLAIN, TEMPLATE])
def test_the_same_is_read(text: str, tmp_path: Path, started: list[str]) -> None:
    path, asked = tmp_path / "k.cu", tmp_path / "p.py"
    path.write_text(text)
    asked.write_text(PROBLEM)

    def read(early: bool) -> object:
        if early:
            pipeline.begin_reading(asked, SANDBOX, None)
        submission = source.load(path, sandbox=SANDBOX)
        if early:
            pipeline.begin_parsing(submission, "sm_80", SANDBOX, None)
        problem = problems.load(asked, sandbox=SANDBOX)
        found = contracts.derive(submission, contract_file=None, problem=problem, lock=None, sandbox=SANDBOX)
        module = parse_device(submission.device, found.instantiations, sandbox=SANDBOX)
        assert module.kernels and not ahead._begun
        return submission, problem, found, module

    early = read(True)
    children = len([c for c in started if "runpy" in c])
    assert children == 3  # each was used
    assert early == read(False)


def test_a_wrong_guess_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(PLAIN)
    submission = source.load(path, sandbox=SANDBOX)
    pipeline.begin_parsing(submission, "sm_80", SANDBOX, None)
    module = parse_device(submission.device, (("twice", ("int",)),), sandbox=SANDBOX)
    assert any("twice<int>" in note for note in module.notes)
    ahead.drop()


@pytest.mark.parametrize("text", ["", "int x;\n", "__global__ void k( {\n", PLAIN])
def test_an_audit_leaves_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    pipeline.audit(path, pipeline.Options(default_policy(), gates=("static",), timeout=30.0))
    assert not ahead._begun
    assert child.run(["true"], sandbox=SANDBOX).returncode == 0
