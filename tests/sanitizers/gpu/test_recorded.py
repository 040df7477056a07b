"""What compute-sanitizer wrote on a GPU for each kind of fault (recorded; repeated records are cut) is read as what it is.

Recorded with ``python -m benchmarks.gpu_record`` from faults.cu, whose comments say what must be found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sanitizers.gpu.records import SEES, parse

from .test_device import expectations

PATHS = {"faults.cu"}
RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.xml"))
WITHOUT_LINE = {"asserts", "warp_wrong_mask"}
"""In the report alone: the place is a header's, or has no line; the cubin's line table tells the first two kinds."""


def test_every_kind_of_finding_is_recorded() -> None:
    found = {
        (f.name.split(".")[1], finding.property)
        for f in RECORDED
        for finding in parse(f.read_bytes(), f.name.split(".")[1], PATHS).findings
    }
    wanted = {(tool, p) for tool, properties in SEES.items() for p in properties} - {
        ("memcheck", "bounds-local")
    }
    assert wanted <= found and ("memcheck", "assert") in found


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_a_recorded_report_says_what_the_kernel_is_about(path: Path) -> None:
    kernel, tool = path.stem.split(".")
    records = parse(path.read_bytes(), tool, PATHS)
    wanted = {(p, line) for k, t, p, line in expectations() if (k, t) == (kernel, tool)}
    spans = [(f, s) for f in records.findings for s in (f.span, f.other.span if f.other else f.span)]
    found = {(f.property, s.line) for f, s in spans}
    if kernel in WITHOUT_LINE:
        assert {p for p, _ in found} <= {"assert", "bounds-global", "barrier-divergence"} and found
    elif wanted:
        assert wanted & found
    else:
        assert not found and records.controls
    for finding in records.findings:
        assert finding.message.isprintable() and finding.count >= 1
        assert tool == "racecheck" or max(finding.thread) < 64
