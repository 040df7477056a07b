"""Any program as the model: ``--model-command CMD`` gets the request as JSON on stdin and prints the answer as JSON.

Invariant: what the program prints is as untrusted as a model's answer; its output is bounded and it is killed at the
time limit. The protocol is described in docs/generator.md.

Example::

    CommandClient("python my_model.py").ask(request)
    # stdin:  {"schema": "generate-kernel/1", "model": "...", "system": "...", "problem": "...", "message": "...", ...}
    # stdout: {"submission": {"language": "cuda", "source": "..."}, "usage": {"input_tokens": 1, "output_tokens": 2}}
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from typing import Any

from generator.answers import TOOL
from generator.model import ModelError, Reply, Request, Usage

MAX_OUTPUT = 4 << 20
SCHEMA = "generate-kernel/1"


class CommandClient:
    """``command`` is split like a shell would, but no shell runs. Raises ModelError when it names no program."""

    def __init__(self, command: str, *, timeout: float = 1800.0) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise ModelError(f"--model-command: {error}", fault="usage") from error
        if not self._argv:
            raise ModelError("--model-command is empty", fault="usage")
        self._timeout = timeout

    @property
    def destination(self) -> str:
        return f"the program {self._argv[0]}"

    def ask(self, request: Request) -> Reply:
        sent = {
            "schema": SCHEMA,
            "model": request.model,
            "system": request.system,
            "problem": request.problem,
            "message": request.message,
            "max_tokens": request.max_tokens,
            "tool": TOOL,
        }
        begun = time.monotonic()
        output, status = self._run(json.dumps(sent).encode())
        seconds = time.monotonic() - begun
        if status != 0:
            raise ModelError(f"{self.destination} ended with status {status}", fault="unavailable")
        return _reply(output, request.model, seconds)

    def _run(self, sent: bytes) -> tuple[bytes, int]:
        """Its standard error goes to ours; standard output is read to the end, but kept only up to a limit."""
        try:
            process = subprocess.Popen(
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise ModelError(f"--model-command {self._argv[0]}: {error.strerror}", fault="usage") from error
        try:
            output, _ = process.communicate(sent, timeout=self._timeout)
        except subprocess.TimeoutExpired as error:
            late = f"{self.destination} gave no answer in {self._timeout:g} s"
            raise ModelError(late, fault="unavailable") from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if len(output) > MAX_OUTPUT:
            raise ModelError(
                f"{self.destination} printed more than {MAX_OUTPUT >> 20} MiB", fault="unavailable"
            )
        return output, process.returncode


def _reply(output: bytes, model: str, seconds: float) -> Reply:
    """An answer that is no JSON object is a malformed answer, not an error of ours."""
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        return Reply(stop="bad_json", model=model, seconds=seconds)
    if not isinstance(answer, dict):
        return Reply(stop="bad_json", model=model, seconds=seconds)
    stop = answer.get("stop")
    return Reply(
        submission=answer.get("submission"),
        text=str(answer.get("text", ""))[:10_000],
        stop=stop if isinstance(stop, str) else "tool_use",
        usage=_usage(answer.get("usage")),
        model=str(answer.get("model", model))[:100],
        seconds=seconds,
    )


def _usage(value: Any) -> Usage:
    used = value if isinstance(value, dict) else {}

    def number(name: str) -> int:
        found = used.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else 0

    usd = used.get("usd")
    if not isinstance(usd, (int, float)) or isinstance(usd, bool) or not 0 <= usd < 1e9:
        usd = None
    return Usage(input_tokens=number("input_tokens"), output_tokens=number("output_tokens"), usd=usd)
