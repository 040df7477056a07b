"""Children begun early are used once, by the thread and for the request that they were begun for."""

import threading
import time
from collections.abc import Iterator

import pytest

from verifier.isolation import ahead
from verifier.isolation.child import Limits, begin, run
from verifier.isolation.sandbox import Sandbox

NONE = Sandbox("none")
ECHO = ["sh", "-c", "echo $$; cat"]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    ahead.drop()
    assert not ahead._begun


def waiting() -> list[int]:
    return [b.process.pid for b in ahead._begun.values()]


@pytest.mark.parametrize("request_", [b"", b"hello", b"x" * (3 << 20)])
def test_is_used_once(request_: bytes) -> None:
    begin(ECHO, sandbox=NONE, stdin=request_)
    (pid,) = waiting()
    begin(ECHO, sandbox=NONE)
    assert waiting() == [pid]
    given = request_ or b"hello"
    first = run(ECHO, sandbox=NONE, stdin=given)
    assert first.stdout == b"%d\n" % pid + given
    assert not waiting()
    assert run(ECHO, sandbox=NONE, stdin=given).stdout.split(b"\n")[0] != b"%d" % pid


def test_gets_its_request_later() -> None:
    begin(ECHO, sandbox=NONE)
    (pid,) = waiting()
    begin(ECHO, sandbox=NONE, stdin=b"now")
    assert waiting() == [pid]
    assert run(ECHO, sandbox=NONE, stdin=b"now").stdout == b"%d\nnow" % pid


def test_another_request_gets_another_child() -> None:
    begin(ECHO, sandbox=NONE, stdin=b"guess")
    (pid,) = waiting()
    done = run(ECHO, sandbox=NONE, stdin=b"truth")
    assert done.stdout.endswith(b"truth") and not done.stdout.startswith(b"%d\n" % pid)
    assert not waiting()


def test_other_limits_are_another_child() -> None:
    begin(ECHO, sandbox=NONE, stdin=b"x")
    (pid,) = waiting()
    done = run(ECHO, sandbox=NONE, stdin=b"x", limits=Limits(cpu_seconds=1))
    assert not done.stdout.startswith(b"%d\n" % pid)
    assert waiting() == [pid]


def test_other_threads_do_not_take_it() -> None:
    begin(ECHO, sandbox=NONE, stdin=b"x")
    (pid,) = waiting()
    out: list[bytes] = []
    thread = threading.Thread(target=lambda: out.append(run(ECHO, sandbox=NONE, stdin=b"x").stdout))
    thread.start()
    thread.join()
    assert not out[0].startswith(b"%d\n" % pid)
    assert waiting() == [pid]


def test_limits_hold() -> None:
    slow = ["sh", "-c", "sleep 9; cat"]
    start = time.monotonic()
    begin(slow, sandbox=NONE, stdin=b"x", limits=Limits(wall_seconds=0.2))
    assert run(slow, sandbox=NONE, stdin=b"x", limits=Limits(wall_seconds=0.2)).timed_out
    assert time.monotonic() - start < 5


def test_loud_child_does_not_block_and_is_cut() -> None:
    loud = ["sh", "-c", "yes & cat"]
    begin(loud, sandbox=NONE, stdin=b"x", limits=Limits(output_bytes=1000))
    time.sleep(0.1)
    assert run(loud, sandbox=NONE, stdin=b"x", limits=Limits(output_bytes=1000)).truncated


def test_what_cannot_start_is_reported_by_run() -> None:
    begin(["/no/such/program"], sandbox=NONE, stdin=b"x")
    assert run(["/no/such/program"], sandbox=NONE, stdin=b"x").returncode == 127
