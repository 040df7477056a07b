"""``generate-kernel`` as a user starts it."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from generator import cli, gates


@pytest.fixture
def problem(tmp_path: Path, shared: Any) -> Path:
    path = tmp_path / "row_sum.py"
    path.write_text(shared.PROBLEM)
    return path


@pytest.fixture(autouse=True)
def fake_gates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shared: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gates, "judge_with", lambda _: shared.fake_result)
    monkeypatch.setattr(gates, "lacking", lambda _: None)
    monkeypatch.setattr(gates, "refused", lambda *_: None)


def start(monkeypatch: pytest.MonkeyPatch, *argv: str) -> int:
    monkeypatch.setattr(sys, "argv", ["generate-kernel", *argv])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_run_ends_verified_and_says_everything_first(
    api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared: Any
) -> None:
    api.script = [shared.submit(s) for s in (shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT)]
    status = start(
        monkeypatch,
        "run",
        str(problem),
        "--base-url",
        api.url,
        "--run-id",
        "a",
        "--yes",
        "--output",
        "best.py",
    )
    out, err = capsys.readouterr()
    assert status == 0 and out.startswith("verified after 3 attempts")
    assert Path("best.py").read_text() == shared.RIGHT
    announced = err.split("attempt 1")[0]
    for words in (
        "claude-opus-5-5",
        api.url,
        "at most $0.",
        "8 attempts",
        "$5",
        "60 minutes",
        "the problem file",
    ):
        assert words in announced
    attempts = Path("runs/a/attempts")
    assert sorted(p.name for p in attempts.iterdir()) == ["001", "002", "003"]
    assert {p.name for p in (attempts / "001").iterdir()} == {
        "prompt.json",
        "answer.json",
        "candidate",
        "report.json",
        "feedback.json",
    }
    report = json.loads((attempts / "001/report.json").read_text())
    assert (
        report["schema"] == "verify-kernel/1"
        and report["files"][0]["verdict"] == "FAIL"
        and report["exit"] == 1
    )
    assert start(monkeypatch, "replay", "runs/a") == 0


def test_exit_1_then_resume_with_more_attempts(
    api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared: Any
) -> None:
    api.script = [shared.submit(shared.RACY)]
    base = ("--base-url", api.url, "--yes")
    assert start(monkeypatch, "run", str(problem), "--run-id", "a", "--max-attempts", "1", *base) == 1
    assert "refuted (budget: attempts) after 1 attempts" in capsys.readouterr().out
    assert start(monkeypatch, "resume", "runs/a", *base) == 1
    api.script = [shared.submit(shared.RIGHT)]
    assert start(monkeypatch, "resume", "runs/a", "--max-attempts", "2", *base) == 0
    assert "race-shared" in api.said[1]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "missing.py", "--yes"], "cannot be read"),
        (["run", "no_model.py", "--yes"], "class Model and def get_inputs() missing"),
        (["run", "broken.py", "--yes"], "broken.py:1: not a Python file"),
        (["run", "row_sum.py"], "pass --yes"),
        (["run", "row_sum.py", "--model", "other", "--yes"], "no price is known for other"),
        (["run", "row_sum.py", "--price", "x", "--yes"], "INPUT/OUTPUT"),
        (["run", "row_sum.py", "--max-usd", "much", "--yes"], "--max-usd much"),
        (["run", "row_sum.py", "--arch", "sm_1", "--yes"], "sm_1"),
        (["run", "row_sum.py", "--effort", "most", "--yes"], "--effort most"),
        (["run", "row_sum.py", "--policy", "none.toml", "--yes"], "none.toml"),
        (["resume", "nowhere", "--yes"], "no run folder"),
        (["replay", "nowhere"], "no run folder"),
    ],
)
def test_usage_is_one_line_and_exit_2(
    argv: list[str],
    words: str,
    api: Any,
    problem: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("no_model.py").write_text("x = 1\n")
    Path("broken.py").write_text("def (\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert start(monkeypatch, *argv) == 2
    err = capsys.readouterr().err
    assert words in err.strip().splitlines()[-1] and "Traceback" not in err
    assert api.requests == [] and not Path("runs").exists()


@pytest.mark.parametrize("lost", ["key", "package"])
def test_without_key_or_package_one_line_says_how(
    lost: str,
    problem: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in [n for n in os.environ if n.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    if lost == "package":
        monkeypatch.setitem(sys.modules, "anthropic", None)
    assert start(monkeypatch, "run", str(problem), "--yes") == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert ("ANTHROPIC_API_KEY" if lost == "key" else "pip install") in line


def test_what_the_machine_lacks_is_said_before_anything_is_sent(
    api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "lacking", lambda _: "g++ is missing: apt-get install g++")
    assert start(monkeypatch, "run", str(problem), "--base-url", api.url, "--yes") == 3
    assert "apt-get install g++" in capsys.readouterr().err and api.requests == []


def test_a_problem_that_the_gates_cannot_use_is_exit_2(
    api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "refused", lambda path, _: f"{path}: get_inputs gives no tensor")
    assert start(monkeypatch, "run", str(problem), "--base-url", api.url, "--yes") == 2
    assert "gives no tensor" in capsys.readouterr().err and api.requests == []


def test_a_bad_key_is_exit_2(
    api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared: Any
) -> None:
    api.script = [shared.Failure(401, "authentication_error")]
    assert start(monkeypatch, "run", str(problem), "--base-url", api.url, "--yes") == 2
    assert "answered 401" in capsys.readouterr().err.splitlines()[-1]


def test_a_program_can_answer_instead(
    problem: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shared: Any,
) -> None:
    for name in [n for n in os.environ if n.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    script = tmp_path / "model.py"
    script.write_text(
        "import json, pathlib, sys\n"
        "message = json.load(sys.stdin)['message']\n"
        f"name = {str(shared.ANSWERS)!r} + ('/3_right.py' if 'race-shared' in message else '/1_racy.py')\n"
        "print(json.dumps({'submission': {'language': 'python', 'source': pathlib.Path(name).read_text()}}))\n"
    )
    command = shlex.join([sys.executable, str(script)])
    assert start(monkeypatch, "run", str(problem), "--model-command", command, "--yes", "--run-id", "a") == 0
    assert capsys.readouterr().out.startswith("verified after 2 attempts")


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, generator.cli\n"
        "assert not {'anthropic', 'torch', 'z3', 'clang', 'hypothesis', 'pydantic'} & set(sys.modules)\n"
        "sys.argv = ['generate-kernel', '--help']\n"
        "generator.cli.main()"
    )
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0 and "replay" in done.stdout, done.stderr
    assert time.monotonic() - begun < 5


def test_one_module_knows_the_sdk() -> None:
    knowing = {p.name for p in Path(cli.__file__).parent.glob("*.py") if "import anthropic" in p.read_text()}
    assert knowing == {"anthropic_client.py"}


@pytest.mark.parametrize(("typed", "status"), [("n\n", 2), ("", 2), ("y\n", 0)])
def test_a_terminal_is_asked(
    typed: str, status: int, api: Any, problem: Path, monkeypatch: pytest.MonkeyPatch, shared: Any
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    api.script = [shared.submit(shared.RIGHT)]
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert start(monkeypatch, "run", str(problem), "--base-url", api.url) == status
    assert len(api.requests) == (status == 0)
