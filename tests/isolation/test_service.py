"""A persistent child answers requests and is gone after stop."""

from __future__ import annotations

import os

import pytest

from verifier.isolation import Limits, Sandbox, SandboxMissing, probe
from verifier.isolation.service import start, stop


@pytest.mark.parametrize("kind", ["bwrap", "none"])
def test_requests_are_answered_until_stop(kind: str) -> None:
    try:
        sandbox = probe(kind)
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    child = start(["cat"], sandbox=sandbox, limits=Limits(cpu_seconds=0))
    assert child.stdin is not None and child.stdout is not None
    for request in (b"one\n", b"two\n"):
        child.stdin.write(request)
        child.stdin.flush()
        assert child.stdout.readline() == request
    stop(child)
    stop(child)
    assert child.returncode == -9
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    child = start(["env"], sandbox=Sandbox("none"))
    assert child.stdout is not None
    assert b"SECRET" not in child.stdout.read()
    stop(child)
