"""Contract files for people: the schema says what the parser takes, drafts can be read, the reference page is true."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specs.clauses import FUNCTIONS, ClauseError, evaluate
from tests.contracts.lifting import read
from verifier import commands
from verifier.contracts import ContractError, draft, stated
from verifier.contracts.stated import read_comments, read_toml
from verifier.isolation.sandbox import SandboxMissing, probe
from verifier.source.device_text import SourceText

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads(commands.schema())
PAGE = (ROOT / "docs/reference/contracts.md").read_text()
VALID: dict[str, Any] = {
    "contract": [
        {
            "kernel": "k",
            "instantiation": ["float", 4],
            "launcher": "run",
            "requires": ["n >= 1", "n % 4 == 0 or m < 3"],
            "no_alias": [["x", "y"]],
            "reference": "torch.relu(x)",
            "launch": {
                "grid": ["ceil_div(n, 256)", 1],
                "block": 256,
                "shared_bytes": "4 * n",
                "cooperative": True,
            },
            "buffers": {"x": "in f32[n]", "y": "out bf16[n, m] fresh align 16", "z": "i64[1]"},
            "content": {"z": "0..n - 1"},
            "scalars": {"n": "n", "a": "any", "m": "i32(n) + 1"},
            "symbols": {"n": {"kind": "scalar", "low": 0, "high": 9, "value": 3}, "m": 7},
        }
    ]
}


def toml(value: Any) -> str:
    """A document as TOML; enough for these tests."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return json.dumps(value)


def parser_takes(document: dict[str, Any], folder: Path) -> bool:
    path = folder / "c.toml"
    path.write_text("\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in document.items()) + "\n")
    try:
        read_toml(path, "file")
    except ContractError:
        return False
    return True


def schema_takes(document: dict[str, Any]) -> bool:
    return jsonschema.Draft7Validator(SCHEMA).is_valid(document)


def test_the_schema_is_one_and_has_every_key_of_the_parser() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    table = SCHEMA["definitions"]["contract"]["properties"]
    assert set(table) == stated._KEYS
    assert set(table["launch"]["properties"]) == {"grid", "block", "shared_bytes", "cooperative"}
    dtypes = re.search(r"\(f16[^)]*\)", SCHEMA["definitions"]["buffer"]["pattern"])
    assert dtypes is not None and tuple(dtypes.group()[1:-1].split("|")) == stated.DTYPES
    everything = [table, *(v for v in SCHEMA["definitions"].values())]
    assert all("description" in p or "$ref" in p for p in table.values()) and everything


def test_both_take_what_uses_every_key(tmp_path: Path) -> None:
    assert schema_takes(VALID) and parser_takes(VALID, tmp_path)


@pytest.mark.parametrize("key", sorted(stated._KEYS))
def test_both_refuse_a_wrong_value_of_every_key(tmp_path: Path, key: str) -> None:
    for wrong in (7.5, [[7.5]], {"what": [1]}, True, [{}]):
        document = copy.deepcopy(VALID)
        document["contract"][0][key] = wrong
        assert not schema_takes(document) and not parser_takes(document, tmp_path), (key, wrong)


@pytest.mark.parametrize(
    "where, value",
    [
        ([], {"extra": 1}),
        (["contract", 0], {"extra": 1}),
        (["contract", 0, "launch"], {"extra": "1"}),
        (["contract", 0, "symbols", "n"], {"extra": 1}),
        (["contract", 0, "symbols", "n"], {"kind": "size"}),
        (["contract", 0, "symbols", "n"], {"low": "1"}),
        (["contract", 0, "symbols", "n"], {"value": 1.5}),
        (["contract", 0, "buffers"], {"x": "in f31[n]"}),
        (["contract", 0, "buffers"], {"x": "f32"}),
        (["contract", 0, "buffers"], {"x": "f32[]"}),
        (["contract", 0, "buffers"], {"x": "inn f32[n]"}),
        (["contract", 0, "buffers"], {"x": "f32[n] align"}),
        (["contract", 0, "buffers"], {"x": "f32[n] nullable"}),
        (["contract", 0, "content"], {"z": "0"}),
        (["contract", 0, "content"], {"z": "0.."}),
        (["contract", 0, "launch"], {"cooperative": 1}),
        (["contract", 0, "launch"], {"grid": []}),
        (["contract", 0, "launch"], {"grid": ["1", "1", "1", "1"]}),
        (["contract", 0, "launch"], {"block": 1.5}),
        (["contract", 0], {"no_alias": [["x"]]}),
        (["contract", 0], {"no_alias": [["x", 1]]}),
        (["contract", 0], {"requires": [""]}),
    ],
)
def test_both_refuse(tmp_path: Path, where: list[Any], value: dict[str, Any]) -> None:
    document = copy.deepcopy(VALID)
    at: Any = document
    for step in where:
        at = at[step]
    at.update(value)
    assert not schema_takes(document) and not parser_takes(document, tmp_path)


def test_without_a_kernel_there_is_no_contract(tmp_path: Path) -> None:
    for document in ({}, {"contract": []}, {"contract": [{}]}, {"contract": {"kernel": "k"}}):
        assert not schema_takes(document) and not parser_takes(document, tmp_path)


def test_the_parser_never_fails_on_a_broken_file(tmp_path: Path) -> None:
    """A ContractError with a line, or a contract; nothing else."""
    text = "\n".join(f"{k} = {toml(v)}" for k, v in VALID.items())
    path = tmp_path / "c.toml"
    for seed in range(300):
        dice = random.Random(seed)
        a = dice.randrange(len(text))
        broken = (
            text[:a]
            + dice.choice(("", "\x00", "\u202e", "[[", "'", "(" * 900, "n", "=", "\n"))
            + text[a + dice.randrange(9) :]
        )
        path.write_text(broken)
        try:
            read_toml(path, "file")
        except ContractError as error:
            assert error.message and error.fix and "\n" not in error.message


# --- drafts ----------------------------------------------------------------------------------------------------------

UNLAUNCHED = """template <typename T, int N> __global__ void a(const T* x, float4* y, const int* idx, long count, float s) { }
__global__ void b() { }
__global__ void c(float* in_out, int rows, int cols, unsigned char* mask, bool flip) { }
__global__ void d(const float* x, float* y, int n) { }
__global__ void e(const float* x, float* y, int n) { }
void go(const float* x, float* y, int n) { d<<<(n + 255) / 256, 256>>>(x, y, n); }
torch::Tensor run(torch::Tensor x) { auto y = torch::empty_like(x); e<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 7); return y; }
"""


def _drafted(tmp_path: Path, text: str = UNLAUNCHED) -> tuple[tuple[int, str], Path]:
    try:
        probe("auto")
    except SandboxMissing as error:
        pytest.skip(str(error))
    path = tmp_path / "foo.cu"
    path.write_text(text)
    return commands.init(path, None, False, "auto"), tmp_path / "foo.contract.toml"


def test_a_draft_is_valid_and_says_of_every_line_what_is_a_guess(tmp_path: Path) -> None:
    (status, said), target = _drafted(tmp_path)
    text = target.read_text()
    assert status == 0 and "review it" in said and str(target) in said
    assert text.startswith("#:schema ./verify-kernel-contract.schema.json\n")
    assert schema_takes(tomllib.loads(text))
    found = {s.kernel: s for s in read_toml(target, "file")}
    assert set(found) == {"a", "b", "c", "d"} and "Nothing is needed for e" in text
    assert found["a"].buffers["y"].dims == ("count", "4") and found["a"].instantiation == ("float",)
    assert found["d"].launch is None and "its launch is known from the host code" in text
    assert found["c"].launch is not None and "rows * cols" in found["c"].launch.grid[0]
    for row in text.splitlines():
        structural = not row or row.startswith(("#", "[", "kernel = "))
        assert structural or "# GUESS" in row, row


def test_a_draft_never_writes_over_a_contract_unasked(tmp_path: Path) -> None:
    _, target = _drafted(tmp_path)
    target.write_text(mine := '[[contract]]\nkernel = "a"\n')
    (status, said), _ = _drafted(tmp_path)
    assert status == 2 and "exists already" in said and target.read_text() == mine
    status, said = commands.init(tmp_path / "foo.cu", None, True, "auto")
    assert status == 0 and "over the one that was there" in said and target.read_text() != mine
    status, said = commands.init(tmp_path / "foo.cu", tmp_path, True, "auto")
    assert status == 2 and "is no file" in said


def test_nothing_is_drafted_where_the_host_code_tells_everything(tmp_path: Path) -> None:
    text = UNLAUNCHED.split("\n")[4] + UNLAUNCHED.split("\n")[6]
    (status, said), target = _drafted(tmp_path, text)
    assert status == 0 and "no contract is needed" in said and not target.exists()


def test_every_kernel_of_a_draft_alone_can_be_read(tmp_path: Path) -> None:
    text = draft.draft(read(UNLAUNCHED).kernels)
    (tmp_path / "c.toml").write_text(text)
    assert len(read_toml(tmp_path / "c.toml", "file")) == 5 and schema_takes(tomllib.loads(text))


# --- the reference page ----------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_names_every_key_function_and_dtype() -> None:
    keys = {*stated._KEYS, "grid", "block", "shared_bytes", "kind", "low", "high", "value"}
    assert not [k for k in keys if f"`{k}`" not in PAGE]
    assert not [f for f in FUNCTIONS if not re.search(rf"`{f}\(|`{f}`", PAGE)]
    assert not [d for d in stated.DTYPES if f"`{d}`" not in PAGE]


def test_examples_of_files_are_valid(tmp_path: Path) -> None:
    found = blocks("toml")
    assert len(found) >= 2
    for text in found:
        (tmp_path / "c.toml").write_text(text)
        assert schema_takes(tomllib.loads(text)) and read_toml(tmp_path / "c.toml", "file")


def test_examples_of_comments_are_valid() -> None:
    found = [b for b in blocks("cuda") if "//@" in b]
    words = {w for b in found for w in re.findall(r"//@ (\w+)", b)}
    assert words == {
        "buffer",
        "content",
        "requires",
        "alias",
        "launch",
        "scalar",
        "symbol",
        "instantiation",
        "reference",
    }
    for text in found:
        assert read_comments([SourceText("t.cu", text)], ["k"])


def test_examples_of_clauses_have_the_values_that_the_page_says() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \| (-?\d+|refused) \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 20
    for clause, names, value in rows:
        symbols = {n: int(v) for n, v in re.findall(r"`(\w+)` = (-?\d+)", names)}
        if value == "refused":
            with pytest.raises(ClauseError):
                evaluate(clause, symbols)
        else:
            assert evaluate(clause, symbols) == int(value), clause


def test_the_two_forms_of_one_contract_on_the_page_are_the_same(tmp_path: Path) -> None:
    comments = next(b for b in blocks("cuda") if "//@ scalar" in b)
    (tmp_path / "c.toml").write_text(blocks("toml")[0])
    (from_comments,) = read_comments([SourceText("t.cu", comments)], ["k"])
    (from_file,) = read_toml(tmp_path / "c.toml", "file")
    assert json.loads(from_comments.canonical()) == json.loads(from_file.canonical())


def test_the_schema_is_printed_by_the_command() -> None:
    argv = [sys.executable, "-m", "verifier", "init", "--schema"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == SCHEMA
    missing = subprocess.run(argv[:-1], cwd=ROOT, capture_output=True, text=True, check=False)
    assert missing.returncode == 2 and "--schema" in missing.stderr
