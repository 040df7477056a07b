"""Code that ran without isolation is said to have done so, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from specs.policy import default_policy
from verifier.cli import Format
from verifier.pipeline import Options
from verifier.run import Request, run


@pytest.mark.parametrize("sandbox", ["none", "auto"])
def test_no_sandbox_is_visible(sandbox: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void fill(float* y) { y[threadIdx.x] = 0.0f; }\n")
    options = Options(policy=default_policy(), gates=("static",), sandbox=sandbox)
    for format_ in Format:
        output = tmp_path / f"report.{format_.value}"
        run(Request((path,), options, format_.value, output, jobs=1))
        told = "--sandbox none: submitted code ran without isolation" in output.read_text()
        assert told is (sandbox == "none"), format_
