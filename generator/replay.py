"""Goes through a recorded run again without the network: run folder -> what differs, and the status it arrives at.

The recorded answers are read again; candidates, gate results, feedback and prompts are made anew in a temporary folder
and compared with the record. Invariant: the status comes from the new gate results, never from the record.

Example::

    replayed = replay(Path("runs/a"), judge_with)
    replayed.differences        # ("attempt 2: verdict: recorded FAIL, now INCONCLUSIVE",)
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generator.budget import Limits
from generator.loop import Ending, Judge, Plan, run
from generator.model import ModelError, Reply, Request
from generator.runfolder import Event, RunFolder

_COMPARED = (
    ("asked", "prompt"),
    ("candidate", "candidate"),
    ("malformed", "code"),
    ("judged", "verdict"),
    ("judged", "gates"),
    ("judged", "findings"),
    ("judged", "feedback"),
)


@dataclass(frozen=True, slots=True)
class Replayed:
    ending: Ending
    differences: tuple[str, ...]


@dataclass(slots=True)
class _Recorded:
    """Answers with what the log holds, attempt by attempt, and refuses to go on after it."""

    replies: list[Reply]
    destination: str = "the log"
    asked: int = 0

    def ask(self, request: Request) -> Reply:
        if self.asked >= len(self.replies):
            raise ModelError("the log ends here", fault="unavailable")
        self.asked += 1
        return self.replies[self.asked - 1]


def replay(
    path: Path, plan: Plan, judge: Callable[[Path], Judge], *, say: Callable[[str], None] = lambda _: None
) -> Replayed:
    """Run again from the record. ``judge`` makes the gate chain for a given problem file."""
    recorded = RunFolder.open(path, write=False)
    over = [e for e in recorded.events if e["event"] in ("judged", "malformed")]
    finished = {e["attempt"] for e in over}
    answers = [e for e in recorded.events if e["event"] == "answered" and e["attempt"] in finished]
    replies = [_reply(recorded, e) for e in answers]
    limits = Limits(attempts=len(replies), tokens=None, usd=None, minutes=None)
    with (
        tempfile.TemporaryDirectory(prefix="generate-kernel-") as scratch,
        RunFolder.create(Path(scratch) / "run", recorded.settings, recorded.problem) as again,
    ):
        gates = judge(again.path / "problem.py")
        ending = run(again, _Recorded(replies), gates, replace(plan, limits=limits), say=say)
        differences = tuple(_compare(recorded.events, again.events))
    ended = next((e for e in reversed(recorded.events) if e["event"] == "ended"), None)
    if ending.status == "refuted" and (ended is None or ended["status"] != "refuted"):
        # The log stops where it does for another reason than a budget: nothing says that the run was over.
        ending = replace(ending, status="inconclusive", exit=3)
    return Replayed(ending, differences)


def _reply(folder: RunFolder, event: Event) -> Reply:
    data = json.loads(folder.load(event["answer"]))
    return Reply(
        submission=data["submission"],
        text=data["text"],
        stop=data["stop"],
        model=data["model"],
        request_id=data["request_id"],
        seconds=data["seconds"],
    )


def _compare(recorded: Sequence[Event], again: Sequence[Event]) -> list[str]:
    differences = []
    for name, key in _COMPARED:
        old, new = _by_attempt(recorded, name, key), _by_attempt(again, name, key)
        for attempt in sorted(old | new):
            before, now = old.get(attempt), new.get(attempt)
            if before != now and not (name == "asked" and attempt not in new):
                differences.append((attempt, f"attempt {attempt}: {key}: {_change(before, now)}"))
    return [text for _, text in sorted(differences)]


def _by_attempt(events: Sequence[Event], name: str, key: str) -> dict[int, Any]:
    """The last record of each attempt."""
    return {e["attempt"]: e[key] for e in events if e["event"] == name}


def _change(before: Any, now: Any) -> str:
    if isinstance(before, dict) and "sha256" in before and now is not None:
        return f"other text than the recorded {before['file']}"
    return f"recorded {_short(before)}, now {_short(now)}"


def _short(value: Any) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 120 else text[:119] + "…"
