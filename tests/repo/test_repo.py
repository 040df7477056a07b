"""The repository's own rules, as tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from specs.policy import GATES, PROPERTIES
from specs.version import VERSION
from verifier.report import pages
from verifier.static_rules import rules

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("specs", "verifier", "sanitizers", "fuzz", "generator")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DATA_SUFFIXES = (".h", ".hpp", ".cpp", ".cu", ".json", ".toml", ".j2", ".txt", ".md", ".py")


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def written() -> Iterator[Path]:
    """Every text file that people wrote here."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = done.stdout.splitlines()
    if not names:
        pytest.skip("not a git checkout")
    yield from (ROOT / name for name in names if (ROOT / name).is_file())


@pytest.mark.parametrize("id_", PROPERTIES)
def test_every_property_has_a_page_with_a_wrong_and_a_right_example(id_: str) -> None:
    text = (ROOT / "docs" / "checks" / f"{id_}.md").read_text()
    assert re.match(rf"# {id_}: \S.*[^.]\n\n", text)
    wrong, right = text.index("## Wrong"), text.index("## Right")
    assert "```cuda" in text[wrong:right] and "```cuda" in text[right:]


def test_every_check_is_a_property_and_every_gate_a_gate() -> None:
    def stems(folder: str) -> set[str]:
        found = (p.stem for p in (ROOT / "verifier" / folder).glob("*.py") if not p.stem.startswith("_"))
        return {s.rstrip("_").replace("_", "-") for s in found}

    documented = {e.id for e in pages.index()["checks"]}
    assert documented == set(PROPERTIES)
    assert stems("checks") <= set(PROPERTIES)
    assert stems("gates") - {"context", "backends", "gpu", "fuzz-gpu"} <= set(GATES)


def test_every_static_rule_has_a_page_with_its_claim() -> None:
    claims = {e.id: e.claim for e in pages.index()["rules"]}
    assert {r.id for r in rules()} == set(claims)
    assert not [r.id for r in rules() if r.summary != claims[r.id]]


def test_pages_say_their_own_id_first() -> None:
    for kind, entries in pages.index().items():
        for entry in entries:
            first = (pages.folder(kind) / f"{entry.id}.md").read_text().splitlines()[0]
            assert first.startswith(f"# {entry.id}: ") and entry.claim, f"{kind}/{entry.id}.md: {first}"


def test_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(program)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_heavy_libraries_are_imported_only_where_they_are_used() -> None:
    """torch alone costs seconds; a run without a reference must not pay them."""
    gates = sorted(p.stem for p in (ROOT / "verifier" / "gates").glob("*.py") if p.stem != "__init__")
    code = "import sys, verifier.cli, verifier.run, verifier.commands, generator.cli\n"
    code += "".join(f"import verifier.gates.{gate}\n" for gate in gates)
    code += "print(sorted({'torch', 'pycuda', 'anthropic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_imports_little() -> None:
    code = "import sys, verifier.cli\nprint(sorted({'pydantic', 'z3', 'rich', 'numpy', 'clang'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_say_what_they_are_for_and_import_absolutely() -> None:
    wrong = []
    for path in modules():
        tree = ast.parse(path.read_text())
        if not ast.get_docstring(tree):
            wrong.append(f"{path}: no docstring")
        relative = (n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level)
        wrong += [f"{path}:{n.lineno}: relative import" for n in relative]
    assert not wrong


def test_data_are_frozen_and_slotted() -> None:
    wrong = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ClassDef):
                continue
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if not (isinstance(called, ast.Name) and called.id == "dataclass"):
                    continue
                given = {k.arg for k in decorator.keywords} if isinstance(decorator, ast.Call) else set()
                if "slots" not in given:
                    wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong


def test_files_stay_short() -> None:
    long = {str(p.relative_to(ROOT)): n for p in modules() if (n := p.read_text().count("\n")) > 600}
    assert not long


def test_tests_are_no_package() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_the_project_speaks_of_itself_alone() -> None:
    forbidden = re.compile("|".join(["/wo" + "rk/", "/ro" + "ot/", "/tmp/" + "corpora", "/tmp/" + "iface"]))
    found = []
    for path in written():
        if (
            path.suffix in (".md", ".py", ".toml", ".yml", ".cu", ".h", ".cpp", ".json", "")
            and path.name != "LICENSE"
        ):
            for number, row in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found += [f"{path}:{number}: {row.strip()[:80]}"] if forbidden.search(row) else []
    assert not found


def test_changelog_has_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    entry = re.search(rf"^## {re.escape(VERSION)}$(.*?)(^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert entry and "- " in entry.group(1)


def test_pinned_are_the_two_that_decide_verdicts() -> None:
    pinned = {d for d in PROJECT["project"]["dependencies"] if "==" in d}
    assert pinned == {"z3-solver==5.4.1.0", "libclang==18.1.1"}


def test_readme_commands_exist() -> None:
    text = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^make (\w+)", text, re.MULTILINE))
    assert {"audit", "test"} <= targets
    assert targets <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    for path in re.findall(r"\b(?:examples|docs|benchmarks)/[\w./-]+\w", text):
        assert (ROOT / path).exists(), path


def test_readme_and_reference_name_only_options_that_exist() -> None:
    shown = [
        subprocess.run(
            [sys.executable, "-m", "verifier", command, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for command in ("audit", "init", "accept", "replay", "recheck")
    ]
    real = set(re.findall(r"--[a-z][a-z-]+", "".join(shown))) | {"--version"}
    reference = (ROOT / "docs/reference/cli.md").read_text()
    assert set(re.findall(r"--[a-z][a-z-]+", reference)) <= real
    assert real - {"--version", "--help"} <= set(re.findall(r"--[a-z][a-z-]+", reference))
    lines = [r for r in (ROOT / "README.md").read_text().splitlines() if r.startswith("verify-kernel ")]
    assert {o for r in lines for o in re.findall(r" (--[a-z][a-z-]+)", r)} <= real


def test_package_list_is_complete() -> None:
    listed = {p for p in PROJECT["tool"]["setuptools"]["packages"] if not p.startswith("verifier.pages")}
    there = {
        ".".join(p.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for p in (ROOT / package).rglob("*.py")
        if any(p.parent.glob("*.py"))
    }
    assert listed == there


def test_wheel_holds_everything(tmp_path: Path) -> None:
    """Built offline from a copy, so that nothing is left behind here."""
    source = tmp_path / "source"
    for path in written():
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            str(tmp_path),
            ".",
        ],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("verify_kernel-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        entry_points = next(archive.read(n).decode() for n in inside if n.endswith("entry_points.txt"))
    expected = {
        str(p.relative_to(ROOT))
        for p in written()
        if p.relative_to(ROOT).parts[0] in PACKAGES and p.suffix in DATA_SUFFIXES
    }
    assert expected <= inside, sorted(expected - inside)[:20]
    assert {f"verifier/pages/checks/{id_}.md" for id_ in PROPERTIES} <= inside
    assert "verify-kernel = verifier.cli:main" in entry_points
    assert not [n for n in inside if n.startswith(("tests", "examples", "benchmarks"))]
