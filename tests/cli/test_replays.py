"""A stored counterexample is seen again until the kernel, or its host code, is right; what cannot be judged is never "gone"."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specs.policy import default_policy
from verifier import commands, replays, run
from verifier.pipeline import Options

Again = Callable[..., tuple[int, str]]
ROOT = Path(__file__).parents[2]
SOURCE = """#include <torch/extension.h>
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 2.0f * x[i];
}
torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  auto y = torch::empty_like(x);
  int n = x.numel();
  twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""


@pytest.fixture(scope="module")
def cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulator's runtime is built once, also between runs of the tests."""
    kept = request.config.cache
    return Path(kept.mkdir("verify-kernel")) if kept is not None else tmp_path_factory.mktemp("verify-kernel")


@pytest.fixture(scope="module")
def stored(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source, its report and its witnesses."""
    folder = tmp_path_factory.mktemp("replay")
    source = folder / "twice.cu"
    source.write_text(SOURCE)
    options = Options(default_policy(), gates=("static", "prove"), keep=folder / "kept", cache=cache)
    assert run.run(run.Request((source,), options, "json", folder / "report.json")) == 1
    return folder


def witness(stored: Path) -> Path:
    return next((stored / "kept" / "witnesses").glob("witness_*.json"))


@pytest.fixture
def again(stored: Path, cache: Path) -> Callable[..., tuple[int, str]]:
    def run_again(path: Path, source: str = SOURCE) -> tuple[int, str]:
        (stored / "twice.cu").write_text(source)
        return commands.replay(path, replays.Reading(cache=cache), "sim", None)

    return run_again


def test_a_witness_is_seen_again_with_its_thread(stored: Path, again: Again) -> None:
    status, text = again(witness(stored))
    assert (
        status == 1
        and "seen again" in text
        and "twice: bounds-global: block (" in text
        and "twice.cu:4" in text
    )


def test_a_report_holds_its_witnesses_too(stored: Path, again: Again) -> None:
    status, text = again(stored / "report.json")
    assert status == 1 and "twice: bounds-global" in text
    report = json.loads((stored / "report.json").read_text())
    assert report["files"][0]["findings"][0]["witness"]["replayed_by"] == "the simulator"


@pytest.mark.parametrize(
    ("old", "new", "status", "said"),
    [
        ("i <= n", "i < n", 0, "gone"),
        ("  int n = x.numel();", "\n  int n = x.numel();", 1, "seen again"),  # changed elsewhere
        ("int n) {", "int n, float* z) {", 3, "no buffer is known for the pointer z"),
        ("void twice(", "void thrice(", 3, "no kernel twice any more"),
    ],
)
def test_what_a_changed_source_says(
    stored: Path, again: Again, old: str, new: str, status: int, said: str
) -> None:
    changed = SOURCE.replace(old, new)
    changed = changed.replace("  twice<<<", "  thrice<<<") if "thrice" in new else changed
    changed = changed.replace(", n);\n  return", ", n, nullptr);\n  return") if "float* z" in new else changed
    found, text = again(witness(stored), changed)
    assert (found, said in text) == (status, True), text


def test_host_code_that_refuses_the_launch_is_a_repair(stored: Path, again: Again) -> None:
    size = json.loads(witness(stored).read_text())["witness"]["buffers"]["x"]
    check = f"TORCH_CHECK(x.numel() != {size});\n  auto y"
    status, text = again(witness(stored), SOURCE.replace("auto y", check))
    assert status == 0 and "the host code refuses this launch" in text


def test_the_saved_test_fails_until_the_kernel_is_right(
    stored: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (test,) = (stored / "kept" / "witnesses").glob("test_cex_*.py")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    (stored / "twice.cu").write_text(SOURCE)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache.parent)}
    wrong = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=stored, env=env)
    assert wrong.returncode == 1 and "seen again" in wrong.stdout, wrong.stdout
    (stored / "twice.cu").write_text(SOURCE.replace("i <= n", "i < n"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    replays.check(witness(stored))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "verify-kernel/2"}', '{"schema": "verify-kernel-witness/1"}']
)
def test_what_is_no_witness_is_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "w.json").write_text(text)
    status, said = commands.replay(tmp_path / "w.json", replays.Reading(), "sim", None)
    assert status == 2 and "neither a witness" in said


def test_without_a_gpu_nothing_is_said_of_it(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sanitizers.gpu import toolkit

    monkeypatch.setattr(toolkit, "look", lambda: toolkit.Toolkit(None, None, None, ()))
    (stored / "twice.cu").write_text(SOURCE)
    status, text = commands.replay(witness(stored), replays.Reading(), "gpu", None)
    assert status == 3 and "driver is missing" in text
