"""Each rule's page is its test: the rule fires on the wrong example and not on the right one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specs.results import Severity
from verifier.isolation import Sandbox, SandboxMissing, probe
from verifier.source import load
from verifier.source.reading import Reading
from verifier.static_rules import Rule, rules

PAGES = Path(__file__).parents[2] / "docs" / "rules"
_BLOCK = re.compile(r"## (Wrong|Right)\n\n```(?:cuda|python)\n(.*?)\n```", re.DOTALL)
_NEEDS_IR = frozenset(
    (
        "arch-static-shared",
        "arch-dynamic-shared",
        "arch-block-size",
        "missing-restrict",
        "missing-launch-bounds",
    )
)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return probe()
    except SandboxMissing:
        return probe("none")


def read(text: str, folder: Path, sandbox: Sandbox, ir: bool) -> Reading:
    path = folder / ("example.py" if "load_inline" in text else "example.cu")
    path.write_text(text)
    submission = load(path, sandbox=sandbox)
    if not ir:
        return Reading.of(submission, ("sm_80", "sm_90"))
    from verifier import contracts, frontend

    derived = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=sandbox)
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    return Reading.of(submission, ("sm_80", "sm_90"), module, derived.contracts)


def examples(rule: Rule) -> dict[str, str]:
    return dict(_BLOCK.findall((PAGES / f"{rule.id}.md").read_text()))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_wrong_and_right(rule: Rule, tmp_path: Path, sandbox: Sandbox) -> None:
    code = examples(rule)
    ir = rule.id in _NEEDS_IR
    hits = list(rule.check(read(code["Wrong"], tmp_path, sandbox, ir)))
    assert hits, f"{rule.id} does not fire on its wrong example"
    lines = code["Wrong"].split("\n")
    assert all(1 <= h.span.line <= len(lines) and Path(h.span.path).stem == "example" for h in hits)
    assert not list(rule.check(read(code["Right"], tmp_path, sandbox, ir)))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_right_examples_have_no_error_at_all(rule: Rule, tmp_path: Path, sandbox: Sandbox) -> None:
    reading = read(examples(rule)["Right"], tmp_path, sandbox, False)
    assert not [r.id for r in rules() if r.severity is Severity.ERROR and list(r.check(reading))]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_page_and_module_agree(rule: Rule) -> None:
    first, _, severity = (PAGES / f"{rule.id}.md").read_text().split("\n")[:3]
    assert first == f"# {rule.id}: {rule.summary}"
    assert severity == f"Severity: {rule.severity.value}"
    assert rule.check.__module__ == f"verifier.static_rules.{rule.id.replace('-', '_')}"


def test_no_page_without_a_rule() -> None:
    assert {p.stem for p in PAGES.glob("*.md")} - {"index"} == {r.id for r in rules()}
