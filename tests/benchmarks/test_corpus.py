"""Pairing, resuming and label headers of the corpus runner; the tool itself is replaced by a recorded answer."""

import json
import tomllib
from pathlib import Path

import pytest

from benchmarks import corpus, labels, processes
from benchmarks.expectations import Expectation, expectations

KERNEL = "__global__ void k(float* x) {}\n"
ANSWER = {
    "files": [
        {
            "verdict": "INCONCLUSIVE",
            "bad_input": False,
            "message": "",
            "gates": {"prove": {"result": "INCONCLUSIVE", "detail": "", "seconds": 0.0}},
            "kernels": [],
            "findings": [],
        }
    ]
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    seen: list[list[str]] = []

    def answer(argv: list[str], **_: object) -> processes.Ended:
        seen.append(list(argv))
        return processes.Ended(3, json.dumps(ANSWER).encode(), b"", 0.5, 20, "")

    monkeypatch.setattr(processes, "run", answer)
    return seen


def test_finds_kernels_and_resumes(tmp_path: Path, calls: list[list[str]]) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.cu").write_text(KERNEL)
    (folder / "sub" / "b.py").write_text(KERNEL)
    (folder / "c.cpp").write_text(KERNEL)
    (folder / "d.py").write_text("x = 1\n")
    assert corpus.main([str(folder), "--out", str(out), "--jobs", "1"]) == 0
    assert [c[-1].rpartition("/")[2] for c in calls] == ["a.cu", "b.py"]
    (folder / "e.cu").write_text(KERNEL)
    with (out / "records.jsonl").open("a") as file:
        file.write('{"path": "half-writ')
    assert corpus.main([str(folder), "--out", str(out), "--jobs", "1"]) == 0
    assert [c[-1].rpartition("/")[2] for c in calls] == ["a.cu", "b.py", "e.cu"]
    assert json.loads((out / "tables.json").read_text())["outcomes"]["INCONCLUSIVE"] == 3
    assert str(tmp_path) not in (out / "tables.md").read_text()


def test_pairs_solutions_with_problems(tmp_path: Path, calls: list[list[str]]) -> None:
    for name in ("s1.py", "s2.py", "l1_p7.py"):
        (tmp_path / name).write_text(KERNEL)
    table = {"Level 1: 7_Relu_": [{"file": "s1"}], "Level 9: 1_None_": [{"file": "s2"}]}
    (tmp_path / "pairs.json").write_text(json.dumps(table))
    argv = [str(tmp_path), "--out", str(tmp_path / "o"), "--problems", str(tmp_path)]
    assert corpus.main([*argv, "--pairs", str(tmp_path / "pairs.json"), "--", "--effort", "low"]) == 0
    (call,) = calls
    assert call[-1].endswith("s1.py")
    assert call[call.index("--problem") + 1].endswith("l1_p7.py")
    assert call[call.index("--effort") + 1] == "low"


def test_nothing_found_is_an_error(tmp_path: Path) -> None:
    assert corpus.main([str(tmp_path), "--out", str(tmp_path / "o")]) == 2


def test_label_header() -> None:
    text = "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=[4,2] -DWIDTH=256 --no-inline\n"
    assert labels.header(text) == (
        "xfail:NOT_ALL_VERIFIED",
        {"blockDim": "64", "gridDim": "[4,2]"},
        ("WIDTH=256",),
    )
    assert labels.header("#include <cuda.h>\n") is None


def test_labelled_contract(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text(
        "//pass\n//--blockDim=[8,4] --gridDim=2 -DN\n"
        "struct S { int a; char b; };\n__global__ void k(const float* x, unsigned int *y, struct S* z, int n) { __requires(n > 0); }\n"
    )
    labelled = labels.read(file, tmp_path / "contracts")
    assert labelled is not None and labelled.label == "pass"
    assert labelled.arguments[-4:-1] == ("-D", "N=1", "--contract")
    assert f"__requires(...)={labels.PRECONDITION}" in labelled.arguments
    (made,) = tomllib.loads(Path(labelled.arguments[-1]).read_text())["contract"]
    assert made["launch"] == {"grid": ["2"], "block": ["8", "4"], "cooperative": True}
    assert made["buffers"] == {
        name: f"inout {type_}[67108864] fresh align 16"
        for name, type_ in (("x", "f32"), ("y", "u32"), ("z", "u8"))
    }


def test_preconditions_of_labelled_files() -> None:
    assert labels.macros("__requires(n == 4);")["__requires(...)"] == labels.PRECONDITION
    assert labels.macros("__requires(__no_read(p));")["__requires(...)"] == "((void)0)"
    assert "synchronize(g)" in labels.macros("using namespace cooperative_groups;")


def test_impossible_blocks_are_cut(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text("//pass\n//--blockDim=[1024,4] --gridDim=2\n__global__ void k(int* x) {}\n")
    labelled = labels.read(file, tmp_path / "contracts")
    assert labelled is not None and labelled.block == (256, 4)


def test_expectation_comments() -> None:
    text = "a\nx[i] = 1;  //! refuted: bounds-global\n//! not proved: termination\n"
    assert expectations(text) == [
        Expectation(2, "refuted", "bounds-global"),
        Expectation(3, "not proved", "termination"),
    ]
