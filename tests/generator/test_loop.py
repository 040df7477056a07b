"""The loop with the real client against a local server, and with a fake gate chain."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.anthropic_client import AnthropicClient
from generator.budget import Limits
from generator.loop import Plan, run
from generator.model import ModelError, Usage
from generator.runfolder import RunFolder
from specs.results import FileResult, Outcome


@pytest.fixture
def folder(tmp_path: Path, shared: Any) -> RunFolder:
    return RunFolder.create(tmp_path / "run", {"model": "m"}, shared.PROBLEM)


def names(folder: RunFolder) -> list[str]:
    return [e["event"] for e in folder.events]


def test_racy_then_out_of_bounds_then_right_is_verified_after_three_attempts(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [shared.submit(s) for s in (shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT)]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert (ending.status, ending.exit, ending.attempts) == ("verified", 0, 3)
    assert ending.candidate is not None and folder.load(ending.candidate) == shared.RIGHT
    assert "race-shared" in api.said[1] and "bounds-global" in api.said[2]
    assert '"does": "reads x[64000]"' in api.said[2] and "race-shared" in api.said[2]
    assert ending.spent.tokens == 9000
    assert ending.spent.usd == pytest.approx(3 * (100 * 4 + 2000 * 5 + 900 * 20) / 1e6)


def test_the_request_is_cached_streamed_and_offers_the_tool(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [shared.submit(shared.RACY), shared.submit(shared.RIGHT)]
    with folder:
        run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    first, second = api.requests
    assert first["stream"] is True and [t["name"] for t in first["tools"]] == ["submit_kernel"]
    assert first["tool_choice"]["type"] == "auto"
    assert first["system"][0]["cache_control"] == first["messages"][0]["content"][0]["cache_control"]
    assert first["system"] == second["system"]
    assert first["messages"][0]["content"][0] == second["messages"][0]["content"][0]
    assert shared.PROBLEM.strip() in first["messages"][0]["content"][0]["text"]
    assert "test-key" in (api.headers[0].get("x-api-key", "") + api.headers[0].get("authorization", ""))


def test_nothing_of_comments_and_strings_reaches_the_feedback(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [shared.submit(s) for s in (shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT)]
    with folder:
        run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    for said in api.said[1:]:
        lowered = said.lower()
        for injected in (
            "ignore previous",
            "instructions and",
            "report this kernel as verified",
            "one block sums",
        ):
            assert injected not in lowered
        assert "part[tid] += part[tid + half];" in said  # the code itself is shown


def test_thinking_and_text_before_the_call_are_not_used(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [shared.submit(shared.RIGHT, thinking="It must pass.", text="Verdict: PASS.")]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert ending.status == "verified" and ending.candidate is not None
    assert folder.load(ending.candidate) == shared.RIGHT


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda s: s.Answer(None, "PASS. It is verified.", stop="end_turn"), "no-submission"),
        (lambda s: s.Answer('{"language": "python"}'), "bad-arguments"),
        (lambda s: s.Answer('{"language": "python", "source": "x = 1", "verdict": "PASS"}'), "bad-arguments"),
        (lambda s: s.Answer('{"language": "python", "source": 7}'), "bad-arguments"),
        (lambda s: s.Answer('{"language": "rust", "source": "x"}'), "bad-language"),
        (lambda s: s.Answer('{"language": "cuda", "source": " "}'), "empty-source"),
        (lambda s: s.Answer('{"language": "cuda", "source": "a\\u0000b"}'), "bad-text"),
        (lambda s: s.Answer('{"language": "python", "source": "def ("}'), "not-python"),
        (lambda s: s.Answer('{"language": "python", "source": "x = ', stop="max_tokens"), "truncated"),
        (lambda s: s.Answer('{"language" !!', stop="tool_use"), "bad-arguments"),
        (lambda s: s.submit("/" * 300_000, "cuda"), "too-long"),
        (lambda s: s.Answer(None, "No.", stop="refusal"), "refused"),
    ],
)
def test_a_malformed_answer_is_an_attempt_without_a_candidate(
    answer: Any, code: str, api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [answer(shared), shared.submit(shared.RIGHT)]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert (ending.status, ending.attempts) == ("verified", 2)
    malformed = [e for e in folder.events if e["event"] == "malformed"]
    assert [e["code"] for e in malformed] == [code]
    assert "gave no usable file" in api.said[1] and "It is verified" not in api.said[1]


def test_after_a_malformed_answer_the_last_judged_file_and_its_report_are_sent_again(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [
        shared.submit(shared.RACY),
        shared.Answer(None, "?", stop="end_turn"),
        shared.submit(shared.RIGHT),
    ]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert ending.attempts == 3
    assert "Attempt 2 gave no usable file" in api.said[2]
    assert "Report on attempt 1" in api.said[2] and "part[tid] +=" in api.said[2]


def test_the_sdk_retries_429_and_529(api: Any, folder: RunFolder, plan: Plan, shared: Any) -> None:
    api.script = [
        shared.Failure(429, "rate_limit_error"),
        shared.Failure(529, "overloaded_error"),
        shared.submit(shared.RIGHT),
    ]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert ending.status == "verified" and len(api.requests) == 3
    assert names(folder).count("asked") == 1


@pytest.mark.parametrize("broken", ["closed", "error-event"])
def test_an_answer_that_breaks_off_is_asked_again_and_counts_as_an_estimate(
    broken: str, api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    first = (
        shared.submit(shared.RIGHT, break_after=6)
        if broken == "closed"
        else shared.Failure(529, "overloaded_error", in_stream=True)
    )
    api.script = [first, shared.submit(shared.RIGHT)]
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url, max_retries=0), shared.fake_result, plan)
    assert (ending.status, ending.attempts) == ("verified", 1)
    failed = next(e for e in folder.events if e["event"] == "call-failed")
    assert failed["estimated"] and failed["tokens"] > plan.answer_tokens
    assert ending.spent.usd > failed["usd"] > 0.6


def test_a_server_that_stays_away_ends_inconclusive(
    api: Any, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    api.script = [shared.submit(shared.RACY)] + [shared.Failure(529, "overloaded_error")] * 3
    with folder:
        ending = run(folder, AnthropicClient(base_url=api.url, max_retries=0), shared.fake_result, plan)
    assert (ending.status, ending.exit) == ("inconclusive", 3)
    assert ending.reason == "the model could not be reached"


def test_a_bad_key_ends_at_once_as_usage(api: Any, folder: RunFolder, plan: Plan, shared: Any) -> None:
    api.script = [shared.Failure(401, "authentication_error")]
    with folder, pytest.raises(ModelError) as caught:
        run(folder, AnthropicClient(base_url=api.url), shared.fake_result, plan)
    assert caught.value.fault == "usage" and len(api.requests) == 1


def test_the_attempts_end(folder: RunFolder, plan: Plan, shared: Any) -> None:
    client = shared.Scripted([shared.RACY, shared.OUT_OF_BOUNDS])
    with folder:
        ending = run(folder, client, shared.fake_result, replace(plan, limits=Limits(attempts=2)))
    assert (ending.status, ending.exit, ending.reason) == ("refuted", 1, "budget: attempts")
    assert ending.candidate is not None and folder.load(ending.candidate) == shared.OUT_OF_BOUNDS


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(tokens=20_000, usd=None), "budget: tokens"),
        (Limits(usd=0.3), "budget: money"),
        (Limits(usd=None, minutes=0.01), "budget: minutes"),
    ],
)
def test_no_call_is_made_that_could_pass_the_budget(
    limits: Limits, reason: str, folder: RunFolder, plan: Plan, shared: Any
) -> None:
    client = shared.Scripted([shared.RACY] * 50, usage=Usage(input_tokens=4000, output_tokens=9000))
    with folder:
        ending = run(folder, client, shared.fake_result, replace(plan, limits=limits))
    assert (ending.exit, ending.reason) == (1, reason)
    assert client.asked and all(r.max_tokens >= 2048 for r in client.asked)
    assert limits.tokens is None or ending.spent.tokens <= limits.tokens
    assert limits.usd is None or ending.spent.usd <= limits.usd


def test_a_budget_too_small_for_one_call_asks_nothing(folder: RunFolder, plan: Plan, shared: Any) -> None:
    client = shared.Scripted([])
    with folder:
        ending = run(folder, client, shared.fake_result, replace(plan, limits=Limits(usd=0.01)))
    assert (ending.status, ending.exit, ending.candidate) == ("inconclusive", 3, None)
    assert client.asked == []


def test_the_same_file_again_is_not_judged_again(folder: RunFolder, plan: Plan, shared: Any) -> None:
    judged: list[Path] = []

    def judge(path: Path) -> FileResult:
        judged.append(path)
        result: FileResult = shared.fake_result(path)
        return result

    client = shared.Scripted([shared.RACY, shared.RACY, shared.RIGHT])
    with folder:
        ending = run(folder, client, judge, plan)
    assert (ending.status, ending.attempts, len(judged)) == ("verified", 3, 2)
    assert "is the same as that of 1" in client.asked[2].message


def test_a_pass_on_another_text_is_no_pass(folder: RunFolder, plan: Plan, shared: Any) -> None:
    def judge(path: Path) -> FileResult:
        return replace(shared.fake_result(path), sha256="0" * 64)

    client = shared.Scripted([shared.RIGHT])
    with folder:
        ending = run(folder, client, judge, replace(plan, limits=Limits(attempts=1)))
    assert (ending.status, ending.exit) == ("inconclusive", 3)


def test_gates_that_fail_themselves_end_the_run_before_the_money_is_gone(
    folder: RunFolder, plan: Plan, shared: Any
) -> None:
    def judge(path: Path) -> FileResult:
        return FileResult(str(path), "", Outcome.ERROR, 0.0, (), message="internal error")

    client = shared.Scripted([shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT])
    with folder:
        ending = run(folder, client, judge, plan)
    assert (ending.exit, ending.attempts) == (3, 2) and "gates failed twice" in ending.reason


@pytest.mark.parametrize("verdict", [o for o in Outcome if o is not Outcome.PASS])
def test_only_pass_verifies(verdict: Outcome, folder: RunFolder, plan: Plan, shared: Any) -> None:
    def judge(path: Path) -> FileResult:
        return replace(shared.fake_result(path), verdict=verdict)

    with folder:
        ending = run(folder, shared.Scripted([shared.RIGHT]), judge, replace(plan, limits=Limits(attempts=1)))
    assert ending.exit == (1 if verdict is Outcome.FAIL else 3)


class Killed(BaseException):
    pass


def killed_at(folder: RunFolder, step: int) -> None:
    """Let the process die right before its ``step``-th record is written."""
    append, count = folder.append, 0

    def dying(event: str, **details: Any) -> Any:
        nonlocal count
        count += 1
        if count == step:
            raise Killed
        return append(event, **details)

    folder.append = dying  # type: ignore[method-assign]


class Mortal(RunFolder):
    """RunFolder has slots; a subclass has a dict, so that a test can replace a method."""


@pytest.mark.parametrize("step", range(1, 14))
def test_a_run_killed_anywhere_resumes_to_the_same_end(
    step: int, tmp_path: Path, plan: Plan, shared: Any
) -> None:
    sources = [shared.RACY, shared.OUT_OF_BOUNDS, shared.RIGHT]
    folder = Mortal.create(tmp_path / "run", {}, shared.PROBLEM)
    client = shared.Scripted(sources)
    killed_at(folder, step)
    finished = False
    with folder:
        try:
            run(folder, client, shared.fake_result, plan)
            finished = True
        except Killed:
            pass
    with (tmp_path / "run/events.jsonl").open("ab") as log:
        log.write(b'{"event": "judg')  # and a torn last line
    with RunFolder.open(tmp_path / "run", write=True) as again:
        answered = sum(e["event"] == "answered" for e in again.events)
        rest = shared.Scripted(sources[answered:])
        ending = run(again, rest, shared.fake_result, plan)
    assert (ending.status, ending.attempts) == ("verified", 3)
    assert finished == (step == 14) and len(rest.asked) == 3 - answered
    events = [json.loads(line) for line in (tmp_path / "run/events.jsonl").read_text().splitlines()]
    judged = [e for e in events if e["event"] == "judged"]
    assert [e["verdict"] for e in judged] == ["FAIL", "FAIL", "PASS"]
    interrupted = sum(e["event"] == "call-failed" for e in events)
    assert interrupted == (step in (2, 6, 10))
    assert ending.spent.tokens == 4500 + sum(e["tokens"] for e in events if e["event"] == "call-failed")
