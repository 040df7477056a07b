"""Selecting files, writing reports, stopping; with the audit itself replaced where it does not matter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from specs.policy import default_policy
from specs.results import FileResult, Outcome
from verifier import batch, pipeline, run
from verifier.pipeline import Options
from verifier.run import Request, UsageError, select

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "__global__ void k(float* x) { x[threadIdx.x] = 0.0f; }\n"
OPTIONS = Options(policy=default_policy(), sandbox="auto")


def file(path: Path, text: str = KERNEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def answering(verdict: Outcome, bad_input: bool = False) -> Callable[..., FileResult]:
    def audit(path: Path, options: Options, progress: object = None) -> FileResult:
        return FileResult(str(path), "", verdict, 0.1, (), message=f"{path}: said", bad_input=bad_input)

    return audit


def test_folder_scan_is_sorted_and_skips(tmp_path: Path) -> None:
    b, a = file(tmp_path / "b.cu"), file(tmp_path / "a" / "k.py", f"src = '''{KERNEL}'''")
    file(tmp_path / "host.py", "print()")
    file(tmp_path / ".venv" / "x.cu")
    file(tmp_path / "build" / "x.cu")
    file(tmp_path / "notes.txt")
    selection = select([tmp_path])
    assert selection.files == (b, a) and selection.skipped == 1 and not selection.named


def test_a_file_counts_once(tmp_path: Path) -> None:
    path = file(tmp_path / "k.cu")
    assert select([path, path, tmp_path]).files == (path,)


@pytest.mark.parametrize("names", [[], ["readme.md"], ["host.py"]])
def test_nothing_selected_is_an_error(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        file(tmp_path / name, "x")
    with pytest.raises(UsageError, match="no kernel in"):
        select([tmp_path])


def test_scanned_file_whose_kernel_is_only_a_comment_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path / "k.cu", "// __global__\n")
    monkeypatch.setattr(pipeline, "audit", answering(Outcome.NOT_RUN, bad_input=True))
    assert run.run(Request((tmp_path,), OPTIONS)) == 2
    assert "1 file without a kernel skipped" in capsys.readouterr().out
    assert run.run(Request((path,), OPTIONS)) == 2
    assert "said" in capsys.readouterr().out


@pytest.mark.parametrize(
    "verdict, status",
    [(Outcome.PASS, 0), (Outcome.FAIL, 1), (Outcome.INCONCLUSIVE, 3), (Outcome.ERROR, 4)],
)
def test_status_and_report_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Outcome, status: int
) -> None:
    path, output = file(tmp_path / "k.cu"), tmp_path / "report.json"
    monkeypatch.setattr(pipeline, "audit", answering(verdict))
    assert run.run(Request((path,), OPTIONS, "json", output)) == status
    data = json.loads(output.read_text())
    assert (data["exit"], data["complete"], data["files"][0]["verdict"]) == (status, True, str(verdict))
    assert list(tmp_path.iterdir()) in ([path, output], [output, path])


@pytest.mark.parametrize("name", ["k.cu", "other.cu", "k.contract.toml", "folder", "none/report.json"])
def test_output_never_overwrites_a_source(tmp_path: Path, name: str) -> None:
    path = file(tmp_path / "k.cu")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="--output"):
        run.run(Request((path,), OPTIONS, "json", tmp_path / name))
    assert path.read_text() == KERNEL


def test_output_through_a_link_to_the_source(tmp_path: Path) -> None:
    path, link = file(tmp_path / "k.cu"), tmp_path / "report.json"
    link.hardlink_to(path)
    with pytest.raises(UsageError, match="would overwrite"):
        run.run(Request((path,), OPTIONS, "json", link))


def test_jobs_are_at_least_one() -> None:
    assert 1 <= run.default_jobs() <= (os.cpu_count() or 1)


STOPPED = """
import sys, time
from pathlib import Path
from specs.policy import default_policy
from verifier import pipeline, run
pipeline.audit = lambda path, options, progress: (print("started", file=sys.stderr, flush=True), time.sleep(60))
sys.exit(run.run(run.Request((Path(sys.argv[1]),), pipeline.Options(default_policy()), "json", Path(sys.argv[2]))))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_leaves_a_valid_report(tmp_path: Path, number: int) -> None:
    path, output = file(tmp_path / "k.cu"), tmp_path / "report.json"
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(path), str(output)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None and process.stderr.readline() == "started\n"
    before = json.loads(output.read_text())
    assert before["complete"] is False and before["exit"] == 3
    process.send_signal(number)
    assert process.wait(20) == 3
    data = json.loads(output.read_text())
    assert data["complete"] is False and data["files"][0]["verdict"] == "INCONCLUSIVE"
    assert "stopped" in data["files"][0]["reasons"][0]


def test_one_broken_file_never_stops_the_rest(tmp_path: Path) -> None:
    """Real child processes: unreadable, not UTF-8 and missing files all end with one line each."""
    files = [tmp_path / "missing.cu", file(tmp_path / "binary.cu"), tmp_path / "folder.cu"]
    files[1].write_bytes(b"\xff\xfe__global__\x00")
    files[2].mkdir()
    results = dict(batch.run(files, OPTIONS, jobs=2))
    assert sorted(results) == [0, 1, 2]
    for place, result in results.items():
        assert result.verdict in (Outcome.ERROR, Outcome.NOT_RUN) and result.bad_input, result
        assert result.path == str(files[place]) and result.message.startswith(str(files[place]))
        assert "\n" not in result.message


def test_a_child_that_dies_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_child", _dies)
    ((_, result),) = batch.run([file(tmp_path / "k.cu")], OPTIONS, jobs=1)
    assert result.verdict is Outcome.ERROR and not result.bad_input and "status 7" in result.message


def test_a_child_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_child", _hangs)
    monkeypatch.setattr(batch, "GRACE", 0.2)
    start = time.monotonic()
    options = Options(policy=default_policy(), timeout=0.5)
    ((_, result),) = batch.run([file(tmp_path / "k.cu")], options, jobs=1)
    assert result.verdict is Outcome.INCONCLUSIVE and "killed" in result.reasons[0]
    assert time.monotonic() - start < 15


def _dies(*_: object) -> None:
    os._exit(7)


def _hangs(*_: object) -> None:
    os.setsid()
    time.sleep(60)
