"""The child that takes many launches: what it gives back, and what counts as no answer. The driver and the tool are fakes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sanitizers.gpu import service as services
from sanitizers.gpu import watch
from sanitizers.gpu.job import Work
from sanitizers.gpu.service import Answer, Service
from sanitizers.gpu.watch import Machine
from specs.contract import ConcreteLaunch

from .conftest import CONTROL, FAULT, fake_tool

N = 5
X = np.array([-1.0, 2.0, -3.0, 4.0, 0.5], dtype=np.float32)
POISON = np.full(N, np.nan, dtype=np.float32).tobytes()


def work_of(data: bytes = X.tobytes()) -> Work:
    """``f(x, y, n)`` with five floats each."""
    launch = ConcreteLaunch("f", (), (1, 1, 1), (64, 1, 1), 0, (), {})
    params = ((bytes(8), ((0, 0),)), (bytes(8), ((0, 1),)), (N.to_bytes(4, "little"), ()))
    size = 4 * N
    return Work(b"cubin", "f", False, launch, (size, size), ("x", "y"), (data, POISON), (True, True), params)


def two_parameters() -> Work:
    """``f(x, n)``."""
    return replace(work_of(), params=work_of().params[::2])


@pytest.fixture
def serve(fake_gpu: Callable[..., Machine]) -> Iterator[Callable[..., Service]]:
    with ExitStack() as stack:

        def make(behaviour: str, tool: Path | None = None, seconds: float = 5.0) -> Service:
            machine = fake_gpu(tool, behaviour)
            made = Service(machine, watched=tool is not None, paths={"k.cu"}, seconds=seconds)
            return stack.enter_context(made)

        yield make


def floats(answer: Answer, buffer: int = 1) -> list[float]:
    assert not answer.trouble and not answer.findings
    return [float(v) for v in np.frombuffer(answer.contents[buffer], dtype=np.float32)]


def test_many_launches_in_one_process(serve: Callable[..., Service]) -> None:
    service = serve("relu")
    assert floats(service.run(work_of())) == [0, 2, 0, 4, 0.5]
    process = service._process
    assert floats(service.run(work_of((-X).tobytes()))) == [1, 0, 3, 0, 0]
    assert floats(service.run(work_of()), buffer=0) == X.tolist()
    assert service._process is process and service.launches == 3


def test_device_variables_are_new_unless_they_are_kept(serve: Callable[..., Service]) -> None:
    service = serve("count")
    runs = [service.run(work_of(), keep=keep) for keep in (False, False, True, True, False)]
    assert [floats(r)[0] for r in runs] == [1, 1, 2, 3, 1]
    other = replace(work_of(), entry="g")
    assert floats(service.run(other, keep=True))[0] == 1  # another kernel has its own


@pytest.mark.parametrize("at", [0, 4000])
def test_a_write_behind_a_buffer_is_a_finding(serve: Callable[..., Service], at: int) -> None:
    service = serve(f"spill {at}")
    answer = service.run(work_of())
    assert [f.property for f in answer.findings] == ["bounds-global"] and not answer.contents
    assert f"outside buffer y, at byte {4 * N + at}" in answer.findings[0].message


def test_a_failed_launch_ends_the_process_and_the_next_one_gets_another(
    serve: Callable[..., Service],
) -> None:
    service = serve("status 700")
    (finding,) = service.run(two_parameters()).findings
    assert finding.property == "bounds-global" and service._process is None
    other = serve("status 701").run(two_parameters())
    assert "does not run this launch" in other.trouble and not other.broken and not other.contents


def test_arguments_of_another_size_are_refused(serve: Callable[..., Service]) -> None:
    wrong = replace(work_of(), params=(*work_of().params[:2], (bytes(32), ())))
    answer = serve("relu").run(wrong)
    assert "parameter 2 has 4 bytes as compiled" in answer.trouble and not answer.broken


def test_a_launch_that_does_not_end_is_killed_and_the_device_looked_at(
    serve: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "health", functools.partial(watch.health, seconds=1.0))
    two = two_parameters()
    hung = serve("hang", seconds=1.0)
    answer = hung.run(two)
    assert "does not end in 1 s" in answer.trouble and not answer.broken and hung._process is None
    sick = serve("sick", seconds=1.0)
    answer = sick.run(two)
    assert answer.broken and "does not run a right kernel any more (it hangs)" in answer.trouble
    assert sick.run(two).trouble == answer.trouble and sick._process is None  # quarantined


def test_what_a_kernel_prints_is_no_answer(serve: Callable[..., Service]) -> None:
    assert floats(serve("prints").run(work_of())) == [0, 2, 0, 4, 0.5]


def test_a_driver_that_cannot_be_loaded_is_the_devices_trouble(
    fake_gpu: Callable[..., Machine], tmp_path: Path
) -> None:
    machine = fake_gpu()
    (tmp_path / "libcuda.so.1").write_bytes(b"")
    machine.toolkit = replace(machine.toolkit, driver=tmp_path / "libcuda.so.1")
    answer = Service(machine).run(work_of())
    assert answer.broken and answer.trouble and not answer.contents


LIAR = """
import json, struct, sys
def said(header, blobs=()):
    text = json.dumps({**header, "blobs": [len(b) for b in blobs]}).encode()
    out.write(struct.pack("<Q", len(text)) + text + b"".join(blobs)); out.flush()
with open("requests", "rb") as asked, open("answers", "wb") as out:
    said({"device": "liar"})
    while head := asked.read(8):
        header = json.loads(asked.read(struct.unpack("<Q", head)[0]))
        [asked.read(n) for n in header["blobs"]]
        ANSWER
"""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('said({"nonce": 1, "status": 0, "guards": []}, [b"0" * 20] * 2)', "answered something else"),
        ('said({"nonce": header["nonce"], "status": 0, "guards": []}, [b"0" * 20])', "other sizes"),
        ('said({"nonce": header["nonce"], "status": "fine"}, [b"0" * 20] * 2)', "no answer"),
        ('said({"nonce": header["nonce"], "status": 0, "guards": [[7, 1]]}, [])', "no answer"),
        ('out.write(b"PASS" * 100); out.flush()', "no frame"),
        ("sys.exit(0)", "has ended"),
    ],
)
def test_an_answer_without_sense_is_no_answer(
    serve: Callable[..., Service], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, words: str
) -> None:
    liar = tmp_path / "liar.py"
    liar.write_text(LIAR.replace("ANSWER", answer))
    monkeypatch.setattr(watch, "HOST", liar)
    monkeypatch.setattr(services, "health", lambda _: "")
    told = serve("relu").run(work_of())
    assert words in told.trouble and not told.contents and not told.findings


def test_under_memcheck_silence_counts_only_with_the_seeded_fault(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    watched = serve("relu", fake_tool(tmp_path / "good", CONTROL))
    assert floats(watched.run(work_of())) == [0, 2, 0, 4, 0.5]
    seen = watched.finish()
    assert seen.control and not seen.trouble and not seen.findings and watched._process is None
    faulty = serve("relu", fake_tool(tmp_path / "faulty", FAULT, CONTROL))
    assert floats(faulty.run(work_of())) == [0, 2, 0, 4, 0.5]
    assert [(f.property, f.span.line) for f in faulty.finish().findings] == [("bounds-global", 3)]
    blind = serve("relu", fake_tool(tmp_path / "blind"))
    assert floats(blind.run(work_of())) == [0, 2, 0, 4, 0.5]
    seen = blind.finish()
    assert seen.broken and "does not report its seeded fault" in seen.trouble
    assert serve("relu", Path("/bin/true")).run(work_of()).broken
    idle = serve("relu", fake_tool(tmp_path / "idle", CONTROL))
    assert "watched no launch" in idle.finish().trouble


def test_under_memcheck_a_failed_launch_is_told_by_its_report(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    two = two_parameters()
    answer = serve("status 719", fake_tool(tmp_path / "tool", FAULT)).run(two)
    assert [(f.property, f.span.line) for f in answer.findings] == [("bounds-global", 3)]
