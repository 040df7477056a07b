"""Budgets, worker processes and the cache: SMT-LIB text -> unsat | sat with values | unknown.

Only ``rlimit`` decides (same answer on a slow machine); the wall limit merely kills a worker that hangs, and such an
answer is marked ``killed``, reported as UNKNOWN(resources) and never cached.

Example::

    with SolverPool(jobs=2) as pool:
        pool.check("(declare-const x Int)(assert (> x 0))(check-sat)").status  # "sat"
"""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

RLIMIT = {"low": 150_000, "default": 600_000, "high": 20_000_000}
WALL_SECONDS = {"low": 3.0, "default": 6.0, "high": 90.0}
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` in the order of the query's wants. ``killed``: cut off by wall time, so machine-dependent."""

    status: str
    values: tuple[int, ...] = ()
    killed: bool = False
    why: str = ""


class Worker:
    """A Python module that answers one JSON line with one JSON line; see ``worker`` for what it says at first."""

    def __init__(self, module: str = "verifier.smt.worker") -> None:
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": str(_ROOT),
            "PYTHONHASHSEED": "0",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )
        self.ready = False
        self.buffer = b""

    def _line(self, deadline: float) -> dict[str, object] | None:
        stream = self.process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                chunk = os.read(stream.fileno(), 1 << 16)
                if not chunk:
                    return None
                self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        loaded: dict[str, object] = json.loads(line)
        return loaded

    def ask(self, query: dict[str, object], wall: float) -> dict[str, object] | None:
        """The answer, or None when the worker died or the wall limit passed (the worker is then gone)."""
        try:
            if not self.ready:
                if self._line(time.monotonic() + 60) is None:
                    self.kill()
                    return None
                self.ready = True
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(query).encode() + b"\n")
            self.process.stdin.flush()
            reply = self._line(time.monotonic() + wall)
        except (OSError, ValueError):
            reply = None
        if reply is None:
            self.kill()
        return reply

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class SolverPool:
    """A pool of one worker for each caller thread at most; use as a context manager."""

    def __init__(
        self, effort: str = "default", cache: Path | None = None, deadline: float = float("inf")
    ) -> None:
        self.rlimit, self.wall = RLIMIT[effort], WALL_SECONDS[effort]
        self.deadline = deadline
        self._worker: Worker | None = None
        self._db: sqlite3.Connection | None = None
        self.asked = 0
        self.cached = 0
        if cache is not None:
            try:
                cache.mkdir(parents=True, exist_ok=True)
                self._db = sqlite3.connect(cache / "smt.sqlite", timeout=2.0)
                self._db.execute("create table if not exists answers (key text primary key, value text)")
            except (OSError, sqlite3.Error):
                self._db = None

    def __enter__(self) -> SolverPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start a worker in the background, so that importing the solver overlaps with other work."""
        if self._worker is None:
            self._worker = Worker()

    def close(self) -> None:
        """End the worker and the cache."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        if self._db is not None:
            self._db.close()
            self._db = None

    def check(self, smt2: str, wants: str = "", scale: float = 1.0, tactic: str = "") -> Answer:
        """Satisfiability within ``scale`` times the effort's rlimit; ``wants``: one letter (i, b) for each want."""
        rlimit = int(self.rlimit * scale)
        key = hashlib.sha256(f"{_solver_version()}\0{rlimit}\0{tactic}\0{wants}\0{smt2}".encode()).hexdigest()
        hit = self._lookup(key)
        if hit is not None:
            self.cached += 1
            return hit
        wall = min(self.wall * max(scale, 0.3), self.deadline - time.monotonic())
        if wall <= 0.05:
            return Answer("unknown", killed=True, why="the file's time is up")
        self.warm()
        assert self._worker is not None
        self.asked += 1
        reply = self._worker.ask({"smt2": smt2, "rlimit": rlimit, "wants": wants, "tactic": tactic}, wall)
        if reply is None:
            self._worker = None
            return Answer("unknown", killed=True, why="the solver was stopped by the wall limit")
        values = reply["values"]
        assert isinstance(values, list)
        answer = Answer(str(reply["r"]), tuple(int(v) for v in values), False, str(reply.get("why", "")))
        self._store(key, answer)
        return answer

    def _lookup(self, key: str) -> Answer | None:
        if self._db is None:
            return None
        try:
            row = self._db.execute("select value from answers where key = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None:
            return None
        data = json.loads(row[0])
        return Answer(data["s"], tuple(data["v"]), False, data["w"])

    def _store(self, key: str, answer: Answer) -> None:
        if self._db is None or answer.status == "error":
            return
        value = json.dumps({"s": answer.status, "v": list(answer.values), "w": answer.why})
        try:
            with self._db:
                self._db.execute("insert or replace into answers values (?, ?)", (key, value))
        except sqlite3.Error:
            return


def _solver_version() -> str:
    from importlib.metadata import version

    return version("z3-solver")
