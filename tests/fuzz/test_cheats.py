"""Each cheat's page is its test: the gate that the page names finds the wrong example and passes the right one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from specs.policy import default_policy
from specs.results import GateResult, Outcome, Verdict
from verifier.pipeline import Options, audit
from verifier.static_rules import rules

PAGES = Path(__file__).parents[2] / "docs" / "cheats"
HEAD = re.compile(
    r"# (?P<id>[\w-]+): .+\n\nCaught by: (?P<gate>\w+) \(`?(?P<what>[\w-]+)`?\)\n(?:Options: `(?P<options>.+)`\n)?"
)
BLOCK = re.compile(r"## (Wrong|Right)\n\n```cuda\n(.*?)\n```", re.DOTALL)
CHEATS = sorted(p.stem for p in PAGES.glob("*.md") if p.stem != "index")
QUICK = {"stale-output", "narrow-index"}


def page(cheat: str) -> tuple[dict[str, str], dict[str, str]]:
    text = (PAGES / f"{cheat}.md").read_text()
    head = HEAD.match(text)
    assert head is not None and head["id"] == cheat
    return head.groupdict(), dict(BLOCK.findall(text))


def judged(head: dict[str, str], code: str, folder: Path, cache: Path) -> GateResult:
    path = folder / "op.cu"
    path.write_text(code)
    given = shlex.split(head["options"] or "")
    reference = given[given.index("--reference") + 1] if given else None
    options = Options(
        policy=default_policy(), gates=(head["gate"],), reference=reference, cache=cache, timeout=120,
        keep=folder / "kept",
    )  # fmt: skip
    result = audit(path, options)
    return next(g for g in result.gates if g.gate == head["gate"])


def holds(head: dict[str, str], result: GateResult, right: bool) -> bool:
    what = head["what"]
    if head["gate"] == "fuzz":
        if right:
            return result.outcome is Outcome.PASS
        return result.outcome.value == what if what.isupper() else what in {f.id for f in result.findings}
    verdicts = {p.verdict for k in result.kernels for p in k.properties if p.id == what}
    return verdicts == {Verdict.PROVED if right else Verdict.REFUTED}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def check(cheat: str, folder: Path, cache: Path) -> None:
    pytest.importorskip("torch", reason="the reference needs PyTorch")
    head, code = page(cheat)
    wrong = judged(head, code["Wrong"], folder, cache)
    assert wrong.outcome is not Outcome.PASS and holds(head, wrong, False), wrong
    right = judged(head, code["Right"], folder, cache)
    assert holds(head, right, True), right


@pytest.mark.parametrize("cheat", sorted(QUICK))
def test_quick_cheats(cheat: str, tmp_path: Path, cache: Path) -> None:
    check(cheat, tmp_path, cache)


@pytest.mark.sweep
@pytest.mark.parametrize("cheat", sorted(set(CHEATS) - QUICK))
def test_cheats(cheat: str, tmp_path: Path, cache: Path) -> None:
    check(cheat, tmp_path, cache)


def test_the_index_has_every_cheat_and_no_page_that_is_not_there() -> None:
    index = (PAGES / "index.md").read_text()
    linked = set(re.findall(r"\]\(([\w./-]+\.md)", index))
    assert {f"{c}.md" for c in CHEATS} <= linked
    assert all((PAGES / link).resolve().is_file() for link in linked)
    behaviour = {r.id for r in rules() if r.switchable}
    assert {f"../rules/{r}.md" for r in behaviour} <= linked
