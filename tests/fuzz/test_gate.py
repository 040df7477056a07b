"""The gate's outcome, findings, facts and refusals, with an executor that computes in numpy."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import oracle as oracles
from specs.policy import Policy
from specs.results import GateResult, Outcome, Severity
from verifier.contracts import problem as problems
from verifier.gates import fuzz as gate
from verifier.gates.context import GateContext
from verifier.ir.nodes import Module
from verifier.isolation import Sandbox, probe
from verifier.source.device_text import DeviceText, Submission

F = np.float32
RIGHT = lambda x: {"y": np.where(x < 0, F(0), x)}  # noqa: E731


@pytest.fixture
def audit(
    make_kernel: Any, make_contract: Any, numpy_executor: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., GateResult]:
    kernel = make_kernel("relu_kernel", {"x": "in f32", "y": "out f32"}, {"n": "i32"})
    contract = make_contract(kernel, {"x": ["n"], "y": ["n"]}, ["n"], {"n": "i32(n)"})
    device = DeviceText("", "0" * 64, (("relu_kernel", kernel.span),))
    pool = tuple({"n": n} for n in (1, 3, 33, 100))
    monkeypatch.setattr(gate.sizes, "pool", lambda *_, **__: pool)

    def run(compute: Any, reference: str | None = "torch.relu", **more: Any) -> GateResult:
        change = more.pop("contract", {})
        context = GateContext(
            submission=Submission("relu.cu", "cu", "0" * 64, "", device),
            module=Module((kernel,)),
            contracts=(replace(contract, **change),),
            policy=more.pop("policy", Policy()),
            sandbox=more.pop("sandbox", probe()),
            reference=reference,
            keep=tmp_path,
            effort=more.pop("effort", "low"),
            **more,
        )
        return gate.judge(context, lambda *_: numpy_executor(compute), 0.0)

    return run


@pytest.fixture(autouse=True)
def shared_oracle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One oracle for all tests but those about a missing torch."""
    if "without_torch" not in request.node.name:
        running = request.getfixturevalue("oracle")
        monkeypatch.setattr(gate, "Oracle", lambda *_, **__: contextlib.nullcontext(running))


def test_right_kernel_passes_and_says_what_was_done(audit: Any) -> None:
    result = audit(RIGHT)
    assert result.outcome is Outcome.PASS and not result.findings and not result.detail
    (facts,) = result.facts["kernels"]
    assert (
        facts["examples"] >= 15 and facts["compared"] == "y = relu(input=x)" and {"n": 33} in facts["sizes"]
    )
    assert result.facts["seed"] == 0 and result.facts["torch"]
    json.dumps(result.facts)


def test_wrong_kernel_fails_with_a_replayed_witness_and_a_saved_test(audit: Any, tmp_path: Path) -> None:
    result = audit(lambda x: {"y": np.abs(x)})
    assert result.outcome is Outcome.FAIL
    (finding,) = result.findings
    assert (finding.id, finding.severity, finding.kernel) == ("numerics", Severity.ERROR, "relu_kernel")
    assert (
        finding.witness is not None
        and finding.witness.replayed
        and set(finding.witness.buffers) == {"x", "y"}
    )
    assert finding.message == result.detail and "relu" in finding.message
    (saved,) = tmp_path.glob("test_cex_*.py")
    assert str(saved) in finding.fix
    compile(saved.read_text(), str(saved), "exec")
    assert "check(Path(" in saved.read_text()


def test_without_torch_nothing_is_known_and_one_line_says_how_to_get_it(
    audit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        f"import sys, runpy; sys.path[:0] = {[p for p in sys.path if p]!r}; sys.modules['torch'] = None; "
        "runpy.run_module('fuzz.oracle_child', run_name='__main__')"
    )
    monkeypatch.setattr(oracles, "python_argv", lambda name: [sys.executable, "-I", "-B", "-c", code])
    result = audit(RIGHT, sandbox=probe("none"))
    assert result.outcome is Outcome.INCONCLUSIVE
    assert "pip install torch" in result.detail and "\n" not in result.detail and not result.findings


def test_without_a_reference_it_did_not_run_and_suggests_one(audit: Any) -> None:
    result = audit(RIGHT, reference=None)
    assert result.outcome is Outcome.NOT_RUN and result.not_checked == ("numerics (no --reference)",)
    assert result.detail == "no reference given; relu_kernel looks like --reference torch.relu"


@pytest.mark.parametrize(
    ("change", "reference", "words"),
    [
        ({}, "torch.fft.fft", "no reference op"),
        ({}, "torch.add", "needs input, other"),
        ({}, "torch.sum", "has shape"),
        ({"origin": "drafted"}, "torch.relu", "only a draft"),
        ({"kernel": "other"}, "torch.relu", "could not be read"),
        ({"buffers": ()}, "torch.relu", "does not say what x points to"),
        ({}, "torch.fft.fft(x)", "has no reference op"),
    ],
)
def test_what_is_not_known_is_inconclusive(audit: Any, change: Any, reference: str, words: str) -> None:
    result = audit(RIGHT, reference, contract=change)
    assert result.outcome is Outcome.INCONCLUSIVE and words in result.detail and not result.findings


def test_time_that_is_over_is_inconclusive(audit: Any) -> None:
    result = audit(RIGHT, deadline=0.0)
    assert result.outcome is Outcome.INCONCLUSIVE and "time was over" in result.detail


def test_special_inputs_warn_and_fail_under_strict(audit: Any) -> None:
    compute = lambda x: {"y": np.where(x > 0, x, F(0))}  # noqa: E731
    result = audit(compute)
    assert result.outcome is Outcome.PASS
    assert [(f.id, f.severity) for f in result.findings] == [("numerics-special", Severity.WARNING)]
    assert result.not_checked
    strict = audit(compute, policy=Policy(name="strict"))
    assert strict.outcome is Outcome.FAIL and strict.findings[0].severity is Severity.ERROR


def test_nan_can_be_forbidden(audit: Any) -> None:
    compute = lambda x: {"y": np.log(x)}  # noqa: E731
    assert audit(compute, "torch.relu(x) * 0 + torch.log(x)", effort="default").outcome is not Outcome.FAIL
    forbidden = audit(compute, "torch.relu(x) * 0 + torch.log(x)", policy=Policy(nan="forbidden"))
    assert forbidden.outcome is Outcome.FAIL and "policy forbids" in forbidden.detail


def test_other_bits_under_another_schedule_are_a_note(audit: Any, numpy_executor: Any) -> None:
    calls = [0]

    def wobbles(x: Any) -> dict[str, Any]:
        calls[0] += 1
        y = np.tanh(x)
        return {"y": np.nextafter(y, F(0)) if calls[0] % 2 else y}

    result = audit(wobbles, "torch.tanh")
    assert result.outcome is Outcome.PASS
    assert "nondeterministic" in [f.id for f in result.findings if f.severity is Severity.NOTE]


def test_nothing_is_left_in_the_users_folder(
    audit: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cwd")
    monkeypatch.chdir(folder)
    assert audit(RIGHT).outcome is Outcome.PASS
    assert not list(folder.iterdir())


def test_gate_imports_without_torch_without_torch() -> None:
    code = "import sys; import verifier.gates.fuzz; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_host_code_is_never_run_without_a_sandbox(audit: Any, tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(
        "import torch\nn = 64\nclass Model(torch.nn.Module):\n    def forward(self, x, y):\n        return x + y\n"
        "def get_inputs():\n    return [torch.randn(n), torch.randn(n)]\ndef get_init_inputs():\n    return []\n"
    )
    problem = problems.load(path, sandbox=probe())
    result = audit(RIGHT, None, problem=problem, run_wrapper=True, sandbox=Sandbox("none"))
    assert result.outcome is Outcome.INCONCLUSIVE and "needs a sandbox" in result.detail
