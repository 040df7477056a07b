"""A tool that does not watch never makes a kernel clean; a device that hangs is not used again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sanitizers.gpu.job import Work
from sanitizers.gpu.records import TOOLS, BadXml, parse
from sanitizers.gpu.toolkit import Toolkit, missing
from sanitizers.gpu.watch import GpuMissing, Machine, find, health, watch
from verifier.isolation import Sandbox

from .conftest import CONTROL, FAULT, fake_tool

Gpu = Callable[..., Machine]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_reports_its_seeded_fault_and_nothing_else_is_clean(
    fake_gpu: Gpu, one_work: Work, tool: str
) -> None:
    seen = watch(fake_gpu(), tool, [one_work, one_work], paths={"k.cu"})
    assert (seen.findings, seen.trouble, seen.control) == ((), "", True)
    assert [f.status for f in seen.said.launches] == [0, 0] and seen.said.control == 719


def test_a_record_is_a_finding_on_the_users_line(fake_gpu: Gpu, one_work: Work, tmp_path: Path) -> None:
    tool = fake_tool(tmp_path / "tool", FAULT, FAULT)
    (finding,) = watch(fake_gpu(tool), "memcheck", [one_work], paths={"k.cu"}).findings
    assert (finding.property, finding.span.path, finding.span.line) == ("bounds-global", "k.cu", 3)
    assert (finding.thread, finding.block, finding.count) == ((3, 0, 0), (1, 0, 0), 2)


SILENT: dict[str, dict[str, Any]] = {
    "writes nothing": {"run": "exit 0"},
    "runs the program and writes nothing": {"run": '"$@"; exit 9'},
    "reports nothing": {"records": ()},
    "reports the fault of another tool": {"records": (CONTROL.replace("TOOL", "synccheck"),)},
    "does not run the program": {"run": "true", "records": (CONTROL,)},
    "ends as if nothing were found": {"records": (CONTROL,), "status": 0},
    "writes something else": {"report": "<html/>"},
    "writes half a report": {"report": "<ComputeSanitizerOutput><record>"},
}


@pytest.mark.parametrize("how", SILENT)
def test_a_tool_that_does_not_watch_is_trouble(
    fake_gpu: Gpu, one_work: Work, tmp_path: Path, how: str
) -> None:
    options = dict(SILENT[how])
    tool = fake_tool(tmp_path / "tool", *options.pop("records", ()), **options)
    seen = watch(fake_gpu(tool), "memcheck", [one_work], paths={"k.cu"})
    assert seen.trouble and seen.broken and not seen.findings


@pytest.mark.parametrize("program", ["/bin/true", "/bin/false"])
def test_another_program_in_its_place_is_trouble(fake_gpu: Gpu, one_work: Work, program: str) -> None:
    seen = watch(fake_gpu(Path(program)), "racecheck", [one_work], paths={"k.cu"})
    assert seen.broken and "did not watch" in seen.trouble


def test_a_write_outside_a_buffer_damages_its_guard(fake_gpu: Gpu, one_work: Work) -> None:
    seen = watch(fake_gpu(behaviour="past"), "racecheck", [one_work], paths={"k.cu"})
    assert [f.property for f in seen.findings] == ["bounds-global"] and "byte 256" in seen.findings[0].message
    assert not watch(
        fake_gpu(behaviour="past"), "memcheck", [one_work], paths={"k.cu"}
    ).findings  # its own to see


@pytest.mark.parametrize(
    ("status", "property_"), [(700, "bounds-global"), (716, "alignment"), (710, "assert")]
)
def test_a_deadly_launch_is_a_finding_even_if_the_tool_says_nothing(
    fake_gpu: Gpu, one_work: Work, status: int, property_: str
) -> None:
    seen = watch(fake_gpu(behaviour=f"status {status}"), "memcheck", [one_work, one_work], paths={"k.cu"})
    assert [f.property for f in seen.findings] == [property_] and seen.launch == 0


def test_a_launch_that_fails_otherwise_is_no_finding_and_not_clean(fake_gpu: Gpu, one_work: Work) -> None:
    seen = watch(fake_gpu(behaviour="status 2"), "memcheck", [one_work], paths={"k.cu"})
    assert "launch 0 fails" in seen.trouble and not seen.findings and not seen.broken


def test_a_hang_is_cut_off_and_the_device_looked_at(fake_gpu: Gpu, one_work: Work) -> None:
    gpu = fake_gpu(behaviour="hang")
    seen = watch(gpu, "memcheck", [one_work], paths={"k.cu"}, seconds=2)
    assert "launch 0 does not end" in seen.trouble and not seen.broken and not gpu.quarantined


def test_a_device_that_does_not_recover_is_not_used_again(
    fake_gpu: Gpu, one_work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = fake_gpu(behaviour="sick")
    assert "it hangs" in health(gpu, seconds=1)
    seen = watch(gpu, "memcheck", [one_work], paths={"k.cu"})
    assert seen.broken and "restart it" in seen.trouble and seen.seconds == 0


def test_parameters_that_are_compiled_differently_are_refused(fake_gpu: Gpu, one_work: Work) -> None:
    seen = watch(fake_gpu(behaviour="params"), "memcheck", [one_work], paths={"k.cu"})
    assert "parameter 1 has 24 bytes as compiled, 4 by the contract" in seen.trouble


def test_what_is_missing_is_said_with_its_install_line(sandbox: Sandbox) -> None:
    bare = Toolkit(None, None, None, ())
    assert len(missing(bare)) == 3
    with pytest.raises(GpuMissing, match=r"nvcc is missing: pip install 'verify-kernel\[gpu\]'"):
        find(sandbox=sandbox, cache=None, toolkit=bare)


@pytest.mark.parametrize(
    "text", [b"", b"<x/>", b"<ComputeSanitizerOutput>", b"<!DOCTYPE x><ComputeSanitizerOutput/>"]
)
def test_what_is_no_report_is_refused(text: bytes) -> None:
    with pytest.raises(BadXml):
        parse(text, "memcheck", set())


def test_a_record_of_an_unknown_kind_is_a_finding() -> None:
    text = b"<ComputeSanitizerOutput><record><kind>New</kind></record></ComputeSanitizerOutput>"
    for tool, property_ in zip(
        TOOLS, ("bounds-global", "race-shared", "uninitialized", "barrier-divergence"), strict=True
    ):
        assert [f.property for f in parse(text, tool, set()).findings] == [property_]
