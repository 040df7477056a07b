"""Replaying a recorded run without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.budget import Limits
from generator.loop import Judge, Plan, run
from generator.replay import replay
from generator.runfolder import RunFolder, RunFolderError
from specs.results import FileResult, Outcome


@pytest.fixture
def recorded(tmp_path: Path, plan: Plan, shared: Any) -> Path:
    sources = [shared.RACY, "not ( python", shared.OUT_OF_BOUNDS, shared.RIGHT]
    with RunFolder.create(tmp_path / "run", {}, shared.PROBLEM) as folder:
        run(folder, shared.Scripted(sources), shared.fake_result, plan)
    return tmp_path / "run"


def always(judge: Judge) -> Callable[[Path], Judge]:
    return lambda _: judge


def test_a_replay_arrives_at_the_same_end(recorded: Path, plan: Plan, shared: Any) -> None:
    before = {p: p.read_bytes() for p in recorded.rglob("*") if p.is_file()}
    replayed = replay(recorded, plan, always(shared.fake_result))
    assert replayed.differences == ()
    assert (replayed.ending.status, replayed.ending.exit, replayed.ending.attempts) == ("verified", 0, 4)
    assert {p: p.read_bytes() for p in recorded.rglob("*") if p.is_file()} == before


def test_the_gates_are_run_again_and_decide(recorded: Path, plan: Plan, shared: Any) -> None:
    def stricter(path: Path) -> FileResult:
        found: FileResult = shared.fake_result(path)
        return replace(found, verdict=Outcome.INCONCLUSIVE) if found.verdict is Outcome.PASS else found

    replayed = replay(recorded, plan, always(stricter))
    assert replayed.ending.exit == 3
    assert replayed.differences == (
        "attempt 4: feedback: other text than the recorded attempts/004/feedback.json",
        "attempt 4: verdict: recorded PASS, now INCONCLUSIVE",
    )


def test_a_run_whose_budget_ended_replays_to_refuted(tmp_path: Path, plan: Plan, shared: Any) -> None:
    with RunFolder.create(tmp_path / "run", {}, shared.PROBLEM) as folder:
        run(
            folder,
            shared.Scripted([shared.RACY]),
            shared.fake_result,
            replace(plan, limits=Limits(attempts=1)),
        )
    replayed = replay(tmp_path / "run", plan, always(shared.fake_result))
    assert (replayed.ending.exit, replayed.differences) == (1, ())


def test_a_killed_run_replays_as_far_as_it_came_and_is_not_over(
    tmp_path: Path, plan: Plan, shared: Any
) -> None:
    with RunFolder.create(tmp_path / "run", {}, shared.PROBLEM) as folder, pytest.raises(IndexError):
        run(folder, shared.Scripted([shared.RACY]), shared.fake_result, plan)
    replayed = replay(tmp_path / "run", plan, always(shared.fake_result))
    assert (replayed.ending.attempts, replayed.ending.status, replayed.differences) == (1, "inconclusive", ())


def test_a_changed_record_is_refused(recorded: Path, plan: Plan, shared: Any) -> None:
    answer = recorded / "attempts/001/answer.json"
    answer.write_text(answer.read_text().replace("half = 128", "half = 64"))
    with pytest.raises(RunFolderError, match="changed since"):
        replay(recorded, plan, always(shared.fake_result))
