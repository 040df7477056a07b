"""``--compile-commands``: include folders and macros of one entry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verifier.isolation.sandbox import probe
from verifier.source import SourceError, load
from verifier.source.compile_commands import Settings, settings
from verifier.source.macros import UNDEFINED


def database(folder: Path, *entries: dict[str, object]) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([{"directory": str(folder), **e} for e in entries]))
    return path


def test_folders_macros_and_flags(tmp_path: Path) -> None:
    command = (
        "nvcc -I inc -Iother -isystem /opt/x -DN=4 -D FLAG -UOLD -Xcompiler -DHOST_TOO,-fPIC --use_fast_math "
        "'-DNAME=\"a b\"' -O3 -c a.cu -o a.o"
    )
    found = settings(database(tmp_path, {"file": "a.cu", "command": command}), tmp_path / "a.cu")
    assert found == Settings(
        (tmp_path / "inc", tmp_path / "other", Path("/opt/x")),
        {"N": "4", "FLAG": "1", "OLD": UNDEFINED, "HOST_TOO": "1", "NAME": '"a b"'},
        ("--use_fast_math",),
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nvcc", "-include", "x.h", "-c", "a.cu"], "not read"),
        (["nvcc", "@flags.txt", "-c", "a.cu"], "not read"),
        (["nvcc", "-Xcompiler=-include,x.h", "-c", "a.cu"], "not read"),
        (["nvcc", "-Xcompiler", "-funsigned-char", "-c", "a.cu"], "not read"),
        (["nvcc", "--default-stream", "per-thread", "-c", "a.cu"], "not read"),
        (["nvcc", "-DA=1,B", "-c", "a.cu"], "with a comma"),
    ],
)
def test_other_text_is_an_error(tmp_path: Path, arguments: list[str], what: str) -> None:
    with pytest.raises(SourceError, match=what):
        settings(database(tmp_path, {"file": "a.cu", "arguments": arguments}), tmp_path / "a.cu")


def test_entries_must_be_there_and_agree(tmp_path: Path) -> None:
    one = {"file": "a.cu", "arguments": ["nvcc", "-DN=1", "-c", "a.cu"]}
    two = {"file": "a.cu", "arguments": ["nvcc", "-DN=2", "-c", "a.cu"]}
    with pytest.raises(SourceError, match="no entry"):
        settings(database(tmp_path, one), tmp_path / "b.cu")
    with pytest.raises(SourceError, match="several ways"):
        settings(database(tmp_path, one, two), tmp_path / "a.cu")
    assert settings(database(tmp_path, one, one), tmp_path / "a.cu").defines == {"N": "1"}
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SourceError, match="database"):
        settings(tmp_path / "bad.json", tmp_path / "a.cu")


def test_a_file_is_read_with_them(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define SIZE WIDTH\n")
    file = tmp_path / "a.cu"
    file.write_text('#include "size.h"\n__global__ void k(float *x) { x[threadIdx.x % SIZE] = 1; }\n')
    found = settings(database(tmp_path, {"file": "a.cu", "command": "nvcc -Iinc -DWIDTH=32 -c a.cu"}), file)
    read = load(
        file, include_dirs=found.include_dirs, defines=found.defines, sandbox=probe(), flags=found.flags
    )
    assert "% 32" in read.device.text
