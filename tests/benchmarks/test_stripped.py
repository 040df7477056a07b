"""Stripped kernels: a right file is found, the table counts what was proved with its host code."""

from __future__ import annotations

from pathlib import Path

from benchmarks import corpus, stripped

ROOT = Path(__file__).resolve().parents[2]


def test_an_example_is_found() -> None:
    path = ROOT / "examples" / "vector_add.py"
    arguments = stripped.parser().parse_args([str(path), "--sandbox", "none"])
    (line,) = stripped.one(corpus.Item(path.name, path), arguments)
    assert (line["with_host"], line["outcome"]) == ("PROVED", "found")
    assert "len_out >= n" in line["clauses"]


def test_a_kernel_that_is_not_proved_does_not_count() -> None:
    path = ROOT / "examples" / "faulty" / "vector_add_offbyone.py"
    arguments = stripped.parser().parse_args([str(path), "--sandbox", "none"])
    (line,) = stripped.one(corpus.Item(path.name, path), arguments)
    assert line["outcome"] == "" and line["with_host"].startswith("bounds-global")


def test_the_table() -> None:
    proved = {"path": "a.cu", "kernel": "k", "with_host": "PROVED", "seconds": 1.0}
    lines = [
        proved | {"outcome": "found", "clauses": ["len_x >= n"], "why": ""},
        proved | {"outcome": "not implied", "clauses": [], "why": "n <= 4"},
        {"path": "b.cu", "kernel": "k", "with_host": "launch: …", "outcome": ""},
    ]
    text = stripped.table(lines)
    assert text.startswith("3 kernels, 2 PROVED with their host code; for 1 of these (50.0 %)")
    assert "| `a.cu` | `k` | not implied | 1.0 | n <= 4 |" in text
