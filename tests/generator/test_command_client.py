"""Any program as the model."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from generator.command_client import CommandClient
from generator.model import ModelError, Reply, Request, Usage

REQUEST = Request("m", "system text", "problem text", "message text", 1234)


def ask(code: str, timeout: float = 30.0) -> Reply:
    return CommandClient(shlex.join([sys.executable, "-c", code]), timeout=timeout).ask(REQUEST)


def test_the_request_goes_in_and_the_answer_comes_out(tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    answer = {
        "submission": {"language": "cuda", "source": "x"},
        "usage": {"input_tokens": 5, "output_tokens": 7, "usd": 0.5},
        "model": "mine",
    }
    reply = ask(
        f"import sys; open({str(seen)!r}, 'w').write(sys.stdin.read()); print({json.dumps(answer)!r})"
    )
    sent = json.loads(seen.read_text())
    assert sent["schema"] == "generate-kernel/1" and sent["max_tokens"] == 1234
    assert (sent["system"], sent["problem"], sent["message"]) == (
        "system text",
        "problem text",
        "message text",
    )
    assert sent["tool"]["input_schema"]["required"] == ["language", "source"]
    assert (reply.submission, reply.stop, reply.model) == (answer["submission"], "tool_use", "mine")
    assert reply.usage == Usage(input_tokens=5, output_tokens=7, usd=0.5)


@pytest.mark.parametrize("printed", ["", "no json", "[1]", '"x"', "[" * 100_000])
def test_what_is_no_object_is_a_malformed_answer(printed: str) -> None:
    assert (
        ask(f"print({printed[:1]!r} * {len(printed)})" if len(printed) > 99 else f"print({printed!r})").stop
        == "bad_json"
    )


def test_nonsense_in_usage_is_ignored() -> None:
    answer = {"usage": {"input_tokens": -5, "output_tokens": "many", "usd": True}}
    assert ask(f"print({json.dumps(answer)!r})").usage == Usage()


@pytest.mark.parametrize(
    ("code", "words"), [("raise SystemExit(3)", "status 3"), ("print('x' * (5 << 20))", "more than 4 MiB")]
)
def test_a_failing_program_is_unavailable(code: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        ask(code)
    assert caught.value.fault == "unavailable"


def test_a_program_that_hangs_is_killed() -> None:
    with pytest.raises(ModelError, match="gave no answer"):
        ask("import time; time.sleep(60)", timeout=0.5)


@pytest.mark.parametrize("command", ["", "'", "/no/such/program"])
def test_a_command_that_cannot_run_is_usage(command: str) -> None:
    with pytest.raises(ModelError) as caught:
        CommandClient(command).ask(REQUEST)
    assert caught.value.fault == "usage"
