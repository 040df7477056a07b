"""The append-only record of a run: a folder with the settings, one folder an attempt, and ``events.jsonl``.

``events.jsonl`` is the truth; each event names its files with their sha256. A file is complete before the event that
names it is written, so a run that was killed anywhere goes on from its last event. Invariant: nothing recorded is ever
changed, and one process at a time writes.

Example::

    with RunFolder.create(Path("runs/a"), {"model": "..."}, problem) as folder:
        entry = folder.store(1, "prompt.json", text)      # {"file": "attempts/001/prompt.json", "sha256": "..."}
        folder.append("asked", attempt=1, prompt=entry)
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

SCHEMA = "generate-kernel/1"
Event = dict[str, Any]


class RunFolderError(Exception):
    """A run folder that cannot be used; one line."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(slots=True)
class RunFolder:
    """``events``: what is recorded so far. Use as a context manager; ``create`` and ``open`` take the lock."""

    path: Path
    events: list[Event] = field(default_factory=list)
    clock: Callable[[], str] = _now
    _log: IO[bytes] | None = None

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, Any], problem: str) -> Self:
        try:
            path.mkdir(parents=True)
        except FileExistsError as error:
            raise RunFolderError(
                f"{path} exists already; continue it with: generate-kernel resume {path}"
            ) from error
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be created ({error.strerror})") from error
        folder = cls(path)
        folder._open_log()
        entry = folder._write("problem.py", problem)
        folder.append("started", schema=SCHEMA, settings=dict(settings), problem=entry)
        return folder

    @classmethod
    def open(cls, path: Path, *, write: bool) -> Self:
        """An existing run. A last line without its end (a kill during a write) counts as not written."""
        folder = cls(path)
        try:
            data = (path / "events.jsonl").read_bytes()
        except OSError as error:
            raise RunFolderError(
                f"{path}: no run folder ({error.strerror or error}: events.jsonl)"
            ) from error
        whole = data[: data.rfind(b"\n") + 1]
        try:
            folder.events = [json.loads(line) for line in whole.decode().splitlines()]
            known = folder.events[0]["event"] == "started" and folder.events[0]["schema"] == SCHEMA
        except (ValueError, LookupError, TypeError) as error:
            raise RunFolderError(f"{path}/events.jsonl: not readable as a run ({error})") from error
        if not known:
            raise RunFolderError(
                f"{path}/events.jsonl: written by another version (expected schema {SCHEMA})"
            )
        if write:
            folder._open_log()
            os.truncate(path / "events.jsonl", len(whole))
        return folder

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.events[0]["settings"]
        return settings

    @property
    def problem(self) -> str:
        return self.load(self.events[0]["problem"])

    def append(self, event: str, **details: Any) -> Event:
        """Record an event, on the disk before this returns."""
        entry: Event = {"event": event, "time": self.clock(), **details}
        if self._log is None:
            raise RunFolderError(f"{self.path}: opened for reading only")
        self._log.write(json.dumps(entry, ensure_ascii=True, allow_nan=False).encode() + b"\n")
        self._log.flush()
        os.fsync(self._log.fileno())
        self.events.append(entry)
        return entry

    def store(self, attempt: int, name: str, text: str) -> dict[str, str]:
        """Write a file of an attempt; what an event needs to name it. A left-over of a killed step is replaced."""
        return self._write(f"attempts/{attempt:03d}/{name}", text)

    def load(self, entry: Mapping[str, str]) -> str:
        """The text of a recorded file. Raises RunFolderError if it is not what was recorded."""
        path = self.path / entry["file"]
        if ".." in Path(entry["file"]).parts or Path(entry["file"]).is_absolute():
            raise RunFolderError(f"{path}: outside the run folder")
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RunFolderError(f"{path}: recorded, but not readable ({error.strerror})") from error
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise RunFolderError(f"{path}: changed since it was recorded")
        return data.decode()

    def file(self, entry: Mapping[str, str]) -> Path:
        """The path of a recorded, unchanged file."""
        self.load(entry)
        return self.path / entry["file"]

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_log(self) -> None:
        self._log = (self.path / "events.jsonl").open("ab")
        try:
            fcntl.flock(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise RunFolderError(f"{self.path}: another process is working on this run") from error

    def _write(self, name: str, text: str) -> dict[str, str]:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        partial = path.with_name(path.name + ".partial")
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        return {"file": name, "sha256": hashlib.sha256(data).hexdigest()}
