"""The whole way with nothing faked but the model's words: local API server, real gates, real process kills."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator import cli, gates

LACKING = gates.lacking("auto")
QUICK = ("--effort", "low", "--gate-seconds", "300")
needs_gates = pytest.mark.skipif(LACKING is not None, reason=str(LACKING))


def start(monkeypatch: pytest.MonkeyPatch, *argv: str) -> int:
    monkeypatch.setattr(sys, "argv", ["generate-kernel", *argv])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator is built once for this module, and never taken from this machine's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@needs_gates
def test_racy_then_out_of_bounds_then_right_ends_verified(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("row_sum.py").write_text(shared.PROBLEM)
    api.script = [shared.submit(s) for s in (shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT)]
    status = start(
        monkeypatch, "run", "row_sum.py", "--base-url", api.url, "--yes", "--run-id", "a", "--seed", "1"
    )
    out, err = capsys.readouterr()
    assert status == 0, err
    assert out.startswith("verified after 3 attempts")
    reports = [json.loads(Path(f"runs/a/attempts/{n:03d}/report.json").read_text()) for n in (1, 2, 3)]
    assert [r["files"][0]["verdict"] for r in reports] == ["FAIL", "FAIL", "PASS"]
    assert "race-shared" in {f["id"] for f in reports[0]["files"][0]["findings"]}
    assert "bounds-global" in {f["id"] for f in reports[1]["files"][0]["findings"]}
    assert "race-shared" in api.said[1] and "bounds-global" in api.said[2]
    for said in api.said[1:]:
        assert "ignore previous" not in said.lower() and "say PASS" not in said
    assert reports[2]["files"][0]["gates"]["fuzz"]["result"] == "PASS"


@needs_gates
def test_a_candidates_own_contract_and_claims_do_not_count(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("row_sum.py").write_text(shared.PROBLEM)
    claim = shared.OUT_OF_BOUNDS.replace(
        "__global__ void row_sum", "//@ requires cols <= 0\n__global__ void row_sum"
    )
    api.script = [shared.submit(claim)]
    argv = (
        "run",
        "row_sum.py",
        "--base-url",
        api.url,
        "--yes",
        "--run-id",
        "a",
        "--max-attempts",
        "1",
        *QUICK,
    )
    assert start(monkeypatch, *argv) in (1, 3)
    assert not capsys.readouterr().out.startswith("verified")
    (file,) = json.loads(Path("runs/a/attempts/001/report.json").read_text())["files"]
    assert file["verdict"] in ("FAIL", "INCONCLUSIVE") and file["gates"]["prove"]["result"] != "NOT_RUN"


@needs_gates
def test_a_process_killed_during_a_call_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gates, "judge_with", lambda _: shared.fake_result)
    Path("row_sum.py").write_text(shared.PROBLEM)
    killer = shlex.join([sys.executable, "-c", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"])
    argv = [sys.executable, "-m", "generator.cli", "run", str(tmp_path / "row_sum.py"), "--yes"]
    argv += ["--runs", str(tmp_path / "runs"), "--run-id", "a", "--model-command", killer]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=Path(cli.__file__).parents[1])
    assert done.returncode == -9, done.stderr
    answer = json.dumps({"submission": {"language": "python", "source": shared.RIGHT}})
    model = shlex.join([sys.executable, "-c", f"print({answer!r})"])
    assert start(monkeypatch, "resume", "runs/a", "--model-command", model, "--yes") == 0
    events = [json.loads(line) for line in Path("runs/a/events.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events] == [
        *("started", "asked", "resumed", "call-failed", "asked", "answered", "candidate", "judged", "ended")
    ]
