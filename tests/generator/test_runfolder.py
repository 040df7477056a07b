"""The append-only record."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.runfolder import RunFolder, RunFolderError


def made(path: Path) -> RunFolder:
    return RunFolder.create(path / "run", {"model": "m"}, "problem text")


def test_what_was_recorded_is_read_back(tmp_path: Path) -> None:
    with made(tmp_path) as folder:
        entry = folder.store(1, "answer.json", "täxt")
        folder.append("answered", attempt=1, answer=entry)
    again = RunFolder.open(tmp_path / "run", write=False)
    assert again.load(again.events[-1]["answer"]) == "täxt"
    assert (again.settings, again.problem) == ({"model": "m"}, "problem text")


def test_a_changed_or_missing_file_is_refused(tmp_path: Path) -> None:
    with made(tmp_path) as folder:
        entry = folder.store(1, "answer.json", "text")
        (folder.path / entry["file"]).write_text("other")
        with pytest.raises(RunFolderError, match="changed since"):
            folder.load(entry)
        (folder.path / entry["file"]).unlink()
        with pytest.raises(RunFolderError, match="not readable"):
            folder.load(entry)


def test_a_record_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    with made(tmp_path) as folder, pytest.raises(RunFolderError, match="outside"):
        folder.load({"file": "../secret", "sha256": ""})


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with made(tmp_path), pytest.raises(RunFolderError, match="another process"):
        RunFolder.open(tmp_path / "run", write=True)
    RunFolder.open(tmp_path / "run", write=True).close()


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    made(tmp_path).close()
    with pytest.raises(RunFolderError, match="exists already"):
        made(tmp_path)


@pytest.mark.parametrize(
    "log", ["", "not json\n", '{"event": "x"}\n', '{"event": "started", "schema": "other/9"}\n', "[]\n"]
)
def test_what_is_no_run_is_refused(log: str, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(log)
    with pytest.raises(RunFolderError, match=r"events\.jsonl"):
        RunFolder.open(tmp_path, write=False)


def test_a_torn_last_line_is_cut_off_only_for_writing(tmp_path: Path) -> None:
    made(tmp_path).close()
    log = tmp_path / "run/events.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"event"')
    assert len(RunFolder.open(tmp_path / "run", write=False).events) == 1
    assert log.read_bytes() != whole
    with RunFolder.open(tmp_path / "run", write=True) as folder:
        folder.append("resumed")
    assert log.read_bytes().startswith(whole) and log.read_bytes().count(b"\n") == 2
