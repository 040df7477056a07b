"""--keep-obligations and recheck: from a kernel to the second solver's word, and what may not be taken for one."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from specs.policy import default_policy
from verifier import run
from verifier.cli import app
from verifier.pipeline import Options, audit
from verifier.recheck import CONFIRMED, CONTRADICTED, UNKNOWN, BadFolder, as_json, as_text, recheck
from verifier.smt import terms

KERNEL = """
#include <torch/extension.h>
__global__ void rows(const float* x, float* y, int h, int w) {
    int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < w) y[r * w + c] = 2.0f * x[r * w + c];
}
torch::Tensor twice(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2 && x.scalar_type() == torch::kFloat32);
    auto y = torch::empty_like(x);
    int h = x.size(0), w = x.size(1);
    TORCH_CHECK(h <= 65535);
    rows<<<dim3((w + 127) / 128, h), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), h, w);
    return y;
}
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    return keep(folder, KERNEL)


def keep(folder: Path, text: str) -> Path:
    (folder / "rows.cu").write_text(text)
    options = Options(policy=default_policy(), gates=("prove",), keep_obligations=folder / "kept")
    audit(folder / "rows.cu", options)
    return folder / "kept"


def manifest(kept: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = kept.glob("*/manifest.json")
    return path, json.loads(path.read_text())


def test_everything_proved_is_kept(kept: Path) -> None:
    path, data = manifest(kept)
    (launch,) = data["launches"]
    proved = {p for p, v in launch["properties"].items() if v == "PROVED"}
    assert proved >= {"bounds-global", "race-global", "overflow", "launch"}
    claims = [(e["kind"], c["property"]) for e in data["obligations"] for c in e["claims"]]
    assert proved - {"arithmetic"} <= {p for kind, p in claims if kind == "claim"}
    assert "simplification" in {kind for kind, _ in claims}
    for e in data["obligations"]:
        for file in (e, e.get("steps", e)):
            text = (path.parent / file["file"]).read_bytes()
            assert (
                hashlib.sha256(text).hexdigest() == file["sha256"]
                and text.count(b"(check-sat)") == file["checks"]
            )
        assert e["verdict"] == "PROVED" and e["by"] in ("syntax", "bounds", "z3") and e["launches"] == [0]
    assert len(list(path.parent.glob("*.smt2"))) == sum(1 + ("steps" in e) for e in data["obligations"])
    assert ":named |" in next(path.parent.glob("*bounds*.smt2")).read_text()


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_confirmed(kept: Path, solver: str) -> None:
    if solver == "cvc5":
        pytest.importorskip("cvc5")
    result = recheck(kept, solver, 10.0)
    assert {r.status for r in result.rows} == {CONFIRMED} and result.status == 0
    used = {name for r in result.rows for name in r.core}
    assert any(" contract: " in name for name in used) and any(" path: " in name for name in used)
    assert "preconditions that proofs used" in as_text(result, verbose=True)
    assert json.loads(as_json(result))["exit"] == 0


def weaken(kept: Path, pattern: str, tmp_path: Path, hash_: bool = True) -> Path:
    """The folder with one assumption left out of one obligation."""
    path, data = manifest(kept)
    target = tmp_path / "weak"
    target.mkdir()
    for file in path.parent.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    entry = next(e for e in data["obligations"] if e["claims"][0]["property"] == "bounds-global")
    text = (target / entry["file"]).read_text()
    weaker = re.sub(pattern, "", text)
    assert weaker != text
    (target / entry["file"]).write_text(weaker)
    if hash_:
        entry["sha256"] = hashlib.sha256(weaker.encode()).hexdigest()
        entry.pop("steps", None)
    (target / "manifest.json").write_text(json.dumps(data))
    return target


def test_contradicted(kept: Path, tmp_path: Path) -> None:
    weak = weaken(kept, r"\(assert \(! \S+ :named \|\d+ path: .*\n", tmp_path)
    result = recheck(weak, "z3", 10.0)
    assert [r.status for r in result.rows].count(CONTRADICTED) == 1 and result.status == 1
    assert as_text(result).startswith("CONTRADICTED") and "trust none" in as_text(result)
    told = CliRunner().invoke(app, ["recheck", str(weak), "--solver", "z3"])
    assert told.exit_code == 1 and "CONTRADICTED" in told.stdout


def test_changed_text_is_not_judged(kept: Path, tmp_path: Path) -> None:
    weak = weaken(kept, r"; unsat: it holds\n", tmp_path, hash_=False)
    with pytest.raises(BadFolder, match="sha256"):
        recheck(weak, "z3", 10.0)
    assert CliRunner().invoke(app, ["recheck", str(weak), "--solver", "z3"]).exit_code == 2


def test_nothing_said_is_unknown(kept: Path) -> None:
    result = recheck(kept, "true", 1.0)
    assert {r.status for r in result.rows} == {UNKNOWN} and result.status == 3


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "verify-kernel-obligations/1"}', '{"schema": "x"}'])
def test_no_manifest(tmp_path: Path, text: str) -> None:
    if text:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadFolder):
        recheck(tmp_path, "z3", 1.0)
    (tmp_path / "manifest.json").write_text(
        '{"schema": "verify-kernel-obligations/1", "launches": [], "obligations": []}'
    )
    assert recheck(tmp_path, "z3", 1.0).status == 3


def test_a_file_outside_is_not_read(kept: Path, tmp_path: Path) -> None:
    weak = weaken(kept, r"; unsat: it holds\n", tmp_path)
    data = json.loads((weak / "manifest.json").read_text())
    data["obligations"][0]["file"] = "../rows.cu"
    (weak / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(BadFolder, match="not a manifest"):
        recheck(weak, "z3", 1.0)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "rows.cu"
    source.write_text(KERNEL)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    for folder in (mine, source):
        options = Options(policy=default_policy(), gates=("prove",), keep_obligations=folder)
        with pytest.raises(run.UsageError, match="empty folder"):
            run.run(run.Request((source,), options))
    assert [p.name for p in mine.iterdir()] == ["notes.txt"] and source.read_text() == KERNEL


def test_a_wrong_interval_in_the_fast_path_is_contradicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were ``p <= 1`` taken for ``p <= 0``, one element too many would be inside; the statements say otherwise."""
    honest = terms.Terms.le0

    def wrong(self: terms.Terms, p: terms.Term) -> terms.Term:
        if p.op == "poly" and p.hi in (1, 4):
            self.record("within", p, None, 0)
            return self.true
        return honest(self, p)

    monkeypatch.setattr(terms.Terms, "le0", wrong)
    kernel = KERNEL.replace("if (c", "__shared__ float s[128]; s[threadIdx.x + 1] = 1.0f; if (c")
    kept = keep(tmp_path, kernel)
    _, data = manifest(kept)
    assert data["launches"][0]["properties"]["bounds-shared"] == "PROVED"
    (row,) = (r for r in recheck(kept, "z3", 5.0).rows if r.status == CONTRADICTED)
    assert row.entry["kind"] == "simplification"
