"""The chain's wiring, with its stages replaced: what each of their answers and failures becomes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import verifier.contracts
import verifier.frontend
import verifier.source
from specs.contract import Contract, Launch
from specs.location import Span
from specs.policy import GATES, PROPERTIES, default_policy
from specs.results import FileResult, GateResult, KernelResult, Outcome, PropertyResult, Verdict
from verifier.contracts import ContractError, ContractSet
from verifier.frontend import FrontEndFailed
from verifier.gates.context import GateContext
from verifier.ir.nodes import Diagnostic, Module
from verifier.isolation import sandbox
from verifier.isolation.sandbox import Sandbox, SandboxMissing
from verifier.pipeline import Options, audit
from verifier.source import NoKernel, SourceError
from verifier.source.device_text import DeviceText, Submission

PATH = Path("k.cu")
SPAN = Span("k.cu", 2)
LAUNCH = Launch("k", (), ("1", "1", "1"), ("1", "1", "1"))
CONTRACT = Contract("k", (), LAUNCH, (), (), (), (), "lifted")
OPTIONS = Options(policy=default_policy())
SUBMISSION = Submission("k.cu", "cu", "0" * 64, "text", DeviceText("device", "1" * 64, (("k", SPAN),)))


class Chain:
    """Stages that answer what a test tells them to; ``seen`` holds what the gates were given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.seen: dict[str, GateContext] = {}
        self.answers(verifier.source, "load", lambda *a, **k: SUBMISSION)
        self.answers(verifier.contracts, "derive", lambda *a, **k: ContractSet((CONTRACT,)))
        self.answers(verifier.frontend, "parse_device", lambda *a, **k: Module(()))
        self.answers(sandbox, "probe", lambda choice: Sandbox("none"))
        proved = tuple(PropertyResult(p, Verdict.PROVED) for p in PROPERTIES)
        for gate in GATES:
            kernels = (KernelResult("k", (), CONTRACT, proved),) if gate == "prove" else ()
            self.gate(gate, lambda _, g=gate, k=kernels: GateResult(g, Outcome.PASS, 0.1, kernels=k))

    def answers(self, module: ModuleType, name: str, function: Callable[..., Any]) -> None:
        self.patch.setattr(module, name, function, raising=False)

    def raises(self, module: ModuleType, name: str, error: BaseException) -> None:
        def function(*_: Any, **__: Any) -> None:
            raise error

        self.answers(module, name, function)

    def gate(self, name: str, function: Callable[[GateContext], GateResult]) -> None:
        def run(context: GateContext) -> GateResult:
            self.seen[name] = context
            return function(context)

        fake = ModuleType(f"verifier.gates.{name}")
        fake.run = run  # type: ignore[attr-defined]
        self.patch.setitem(sys.modules, fake.__name__, fake)


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Chain:
    return Chain(monkeypatch)


def gate_names(result: FileResult) -> list[str]:
    return [g.gate for g in result.gates]


def test_pass_runs_the_required_gates_in_order(chain: Chain) -> None:
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.PASS and gate_names(result) == ["static", "prove", "sanitize"]
    assert result.headline.startswith("safe for every allowed launch up to 2^30")
    assert result.seconds > 0


@pytest.mark.parametrize(
    "stage, error, said",
    [
        (
            "load",
            SourceError("not UTF-8 text", SPAN, "save it as UTF-8"),
            "k.cu:2: not UTF-8 text; save it as UTF-8",
        ),
        (
            "derive",
            ContractError("bad extent", Span("k.contract.toml", 7), "write n"),
            "k.contract.toml:7: bad extent; write n",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_2(chain: Chain, stage: str, error: Exception, said: str) -> None:
    chain.raises(verifier.source if stage == "load" else verifier.contracts, stage, error)
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.ERROR and result.bad_input and result.message == said


def test_no_kernel_can_be_told_from_other_bad_input(chain: Chain) -> None:
    chain.raises(verifier.source, "load", NoKernel("no kernel", SPAN, "add one"))
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.NOT_RUN and result.bad_input


def test_errors_of_the_device_text_are_bad_input(chain: Chain) -> None:
    module = Module((), (Diagnostic("warning", "odd", SPAN), Diagnostic("error", "expected ';'", SPAN)))
    chain.answers(verifier.frontend, "parse_device", lambda *a, **k: module)
    result = audit(PATH, OPTIONS)
    assert result.bad_input and result.message.startswith("k.cu:2: expected ';'; ")


def test_no_sandbox_is_inconclusive(chain: Chain) -> None:
    chain.raises(sandbox, "probe", SandboxMissing("apt-get install bubblewrap"))
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.INCONCLUSIVE and "apt-get install bubblewrap" in result.reasons[0]


def test_our_own_failure_is_one_line(chain: Chain) -> None:
    chain.raises(verifier.contracts, "derive", KeyError("a\nb"))
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.ERROR and not result.bad_input
    assert result.message.startswith("k.cu: internal error: KeyError") and "\n" not in result.message
    assert "Traceback" in audit(PATH, replace(OPTIONS, verbose=True)).message


def test_a_gate_that_throws_does_not_stop_the_others(chain: Chain) -> None:
    def broken(_: GateContext) -> GateResult:
        raise ZeroDivisionError("by zero")

    chain.gate("static", broken)
    result = audit(PATH, OPTIONS)
    assert [g.outcome for g in result.gates] == [Outcome.ERROR, Outcome.PASS, Outcome.PASS]
    assert result.verdict is Outcome.ERROR and "ZeroDivisionError: by zero" in result.reasons[0]


def test_a_gate_beyond_the_deadline_does_not_run(chain: Chain) -> None:
    def slow(context: GateContext) -> GateResult:
        time.sleep(max(0.0, context.deadline - time.monotonic()) + 0.01)
        return GateResult("static", Outcome.PASS)

    chain.gate("static", slow)
    result = audit(PATH, replace(OPTIONS, timeout=3.0))
    assert [g.outcome for g in result.gates] == [Outcome.PASS, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert result.verdict is Outcome.INCONCLUSIVE and "--timeout" in result.reasons[0]
    assert result.seconds < 3.0


def test_a_stage_that_ignores_the_deadline_is_cut_off(chain: Chain) -> None:
    chain.answers(verifier.contracts, "derive", lambda *a, **k: time.sleep(30))
    start = time.monotonic()
    result = audit(PATH, replace(OPTIONS, timeout=0.1))
    assert time.monotonic() - start < 5
    assert result.verdict is Outcome.INCONCLUSIVE and "not done after" in result.reasons[0]


def test_a_gate_that_ignores_the_deadline_is_cut_off(chain: Chain) -> None:
    def hangs(_: GateContext) -> GateResult:
        time.sleep(30)
        return GateResult("prove", Outcome.PASS)

    chain.gate("prove", hangs)
    result = audit(PATH, replace(OPTIONS, timeout=1.0))
    assert result.verdict is Outcome.INCONCLUSIVE
    assert [g.outcome for g in result.gates] == [Outcome.PASS, Outcome.NOT_RUN, Outcome.NOT_RUN]


def test_a_reference_makes_fuzz_required(chain: Chain) -> None:
    result = audit(PATH, replace(OPTIONS, reference="torch.sin"))
    assert gate_names(result)[-1] == "fuzz" and chain.seen["fuzz"].reference == "torch.sin"
    chain.answers(
        verifier.contracts, "derive", lambda *a, **k: ContractSet((CONTRACT,), reference="torch.cos")
    )
    audit(PATH, OPTIONS)
    assert chain.seen["fuzz"].reference == "torch.cos"


def test_leaving_out_a_required_gate_or_property_is_inconclusive(chain: Chain) -> None:
    result = audit(PATH, replace(OPTIONS, gates=("static", "prove")))
    assert gate_names(result) == ["static", "prove"]
    assert result.reasons == ("required gate sanitize was not asked for (--gates)",)
    audit(PATH, replace(OPTIONS, properties=("overflow",)))
    assert chain.seen["prove"].policy.required_properties == ("overflow",)


def test_properties_with_a_check_are_looked_at_even_if_not_required(chain: Chain) -> None:
    fewer = tuple(p for p in default_policy().required_properties if p != "alignment")
    policy = default_policy().model_validate(default_policy().model_dump() | {"required_properties": fewer})
    audit(PATH, replace(OPTIONS, policy=policy))
    given = chain.seen["prove"].policy.required_properties
    assert set(fewer) < set(given) and "alignment" in given


@pytest.mark.parametrize("limit", [True, False])
def test_a_parser_that_dies_is_out_of_resources_or_our_fault(chain: Chain, limit: bool) -> None:
    chain.raises(verifier.frontend, "parse_device", FrontEndFailed("took 20 s", limit))
    result = audit(PATH, OPTIONS)
    assert result.verdict is (Outcome.INCONCLUSIVE if limit else Outcome.ERROR)
    assert "took 20 s" in (result.reasons[0] if limit else result.message)


def test_kernel_selection(chain: Chain) -> None:
    two = replace(SUBMISSION, device=replace(SUBMISSION.device, kernels=(("k", SPAN), ("other", SPAN))))
    chain.answers(verifier.source, "load", lambda *a, **k: two)
    assert "other is never launched" in audit(PATH, OPTIONS).reasons[0]
    selected = audit(PATH, replace(OPTIONS, kernel="k"))
    assert selected.verdict is Outcome.PASS
    assert "other kernels of the file not selected" in selected.not_checked
    missing = audit(PATH, replace(OPTIONS, kernel="z"))
    assert missing.bad_input and missing.message == "k.cu: no kernel 'z'; it has k, other"


@pytest.mark.parametrize("where", ["submission", "contracts", "templates"])
def test_what_could_not_be_read_is_never_green(chain: Chain, where: str) -> None:
    doubt = "k.cu:1: cannot find my.h"
    match where:
        case "submission":
            chain.answers(verifier.source, "load", lambda *a, **k: replace(SUBMISSION, problems=(doubt,)))
        case "contracts":
            chain.answers(
                verifier.contracts, "derive", lambda *a, **k: ContractSet((CONTRACT,), problems=(doubt,))
            )
        case _:
            module = Module((), templates=(("t", SPAN),))
            chain.answers(verifier.frontend, "parse_device", lambda *a, **k: module)
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.INCONCLUSIVE
    assert result.reasons[0] in (doubt, "k.cu:2: kernel template t is never instantiated")


def test_texts_that_differ_between_architectures_are_not_one_program(chain: Chain) -> None:
    def load(*_: Any, arch: str, **__: Any) -> Submission:
        device = replace(SUBMISSION.device, sha256=arch.ljust(64, "0"))
        return replace(SUBMISSION, raw="#if __CUDA_ARCH__ >= 900", device=device)

    chain.answers(verifier.source, "load", load)
    result = audit(PATH, OPTIONS)
    assert result.verdict is Outcome.INCONCLUSIVE and "check it with --arch sm_90" in result.reasons[0]
    one = default_policy().model_copy(update={"archs": ("sm_90",)})
    assert audit(PATH, replace(OPTIONS, policy=one)).verdict is Outcome.PASS


def test_keep_writes_what_was_read(chain: Chain, tmp_path: Path) -> None:
    audit(PATH, replace(OPTIONS, keep=tmp_path))
    folder = tmp_path / "k.cu-00000000"
    assert (folder / "device.cu").read_text() == "device"
    assert (folder / "module.ir").exists()
    assert chain.seen["prove"].keep == folder


def test_a_reference_is_suggested_by_name_never_assumed(chain: Chain) -> None:
    named = replace(SUBMISSION, device=replace(SUBMISSION.device, kernels=(("gelu_kernel", SPAN),)))
    chain.answers(verifier.source, "load", lambda *a, **k: named)
    result = audit(PATH, OPTIONS)
    assert "numerics not checked (no --reference; torch.nn.functional.gelu?)" in result.not_checked
    assert "fuzz" not in chain.seen
