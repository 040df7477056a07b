"""The measured firing rates on the rules' page: complete, and no rule that fires on many right kernels is more than a note."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from benchmarks.rule_rates import MOST, PAGE, fired, table, too_loud
from specs.results import Severity
from verifier.isolation import SandboxMissing, probe
from verifier.static_rules import rules

ROW = re.compile(r"^\| \[([\w-]+)\]\(([\w-]+)\.md\) \| (\w+) \| (.*) \|$", re.MULTILINE)


def test_the_table_has_every_rule_with_its_severity() -> None:
    rows = {m[1]: m[3] for m in ROW.finditer(PAGE.read_text())}
    assert rows == {r.id: r.severity.value for r in rules()}


def test_what_fires_on_many_right_kernels_is_a_note() -> None:
    loud = [
        m[1]
        for m in ROW.finditer(PAGE.read_text())
        if any(float(c.rstrip(" %")) > 100 * MOST for c in m[4].split(" | "))
    ]
    assert not [r.id for r in rules() if r.id in loud and r.severity is not Severity.NOTE]


def test_rates_are_counted_by_file(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float* x) { float y = x[0] * 2.0; x[0] = y; }\nvoid f(float* x) { k<<<1, 1>>>(x); }\n"
    )
    try:
        kind = probe().kind
    except SandboxMissing:
        kind = "none"
    found = fired(path, None, (), kind)
    assert found is not None and "double-literal" in found
    (tmp_path / "empty.cu").write_text("int x;\n")
    assert fired(tmp_path / "empty.cu", None, (), kind) is None
    rates = {"a": (4, Counter({"double-literal": 2, "host-assembly": 1}))}
    assert any("| 50.0 % |" in row for row in table(rates) if "double-literal" in row)
    assert [text.split()[0] for text in too_loud(rates)] == ["host-assembly"]


def test_enumerators_that_look_like_tool_macros_are_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cuda_fp8.h>\n__global__ void k(__nv_fp8_storage_t* p, float x) {"
        " p[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }\n"
    )
    try:
        kind = probe().kind
    except SandboxMissing:
        kind = "none"
    found = fired(path, None, (), kind)
    assert found is not None and "tool-macro-in-code" not in found
