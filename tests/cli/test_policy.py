from __future__ import annotations

from pathlib import Path

import pytest

from specs.policy import (
    GATES,
    PROPERTIES,
    REQUIRED_PROPERTIES,
    Policy,
    PolicyError,
    default_policy,
    find,
    load,
)


def written(folder: Path, text: str, name: str = "verify-kernel.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_default_is_safety() -> None:
    policy = default_policy()
    assert (policy.name, policy.strict) == ("safety", False)
    assert policy.required_gates == ("static", "prove", "sanitize")
    assert set(policy.required_properties) < set(PROPERTIES)


def test_strict_brings_its_defaults(tmp_path: Path) -> None:
    policy = load(written(tmp_path, 'name = "strict"'))
    assert policy.strict and policy.required_gates == GATES


def test_keys_and_order(tmp_path: Path) -> None:
    policy = load(
        written(tmp_path, 'archs = ["sm_90", "sm_80"]\nsize-cap = 4096\nrequired-gates = ["prove", "static"]')
    )
    assert policy.archs == ("sm_80", "sm_90")
    assert policy.size_cap == 4096
    assert policy.required_gates == ("static", "prove")
    assert policy.required_properties == REQUIRED_PROPERTIES


def test_table_of_a_project_file(tmp_path: Path) -> None:
    path = written(tmp_path, '[tool.verify-kernel]\nnan = "forbidden"', "pyproject.toml")
    assert load(path).nan == "forbidden"


@pytest.mark.parametrize(
    "text, said",
    [
        ("size_kap = 1", "known keys"),
        ("required-gates = ['prove', 'prof']", "unknown gate 'prof'; known: static"),
        ("required-properties = ['bounds']", "unknown property 'bounds'"),
        ("required-properties = []", "at least 1"),
        ("required-gates = []", "at least 1"),
        ("required-gates = ['static']", "'prove' cannot be left out"),
        ("archs = ['sm_12']", "unknown architecture"),
        ("size-cap = 0", "size-cap"),
        ("name = 'lax'", "name"),
        ("origin = 'x'", "unknown key"),
        ("= 1", "not TOML"),
    ],
)
def test_what_is_wrong_is_an_error_with_a_hint(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PolicyError) as error:
        load(path)
    assert said in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot read"):
        load(tmp_path / "none.toml")


def test_nearest_file_above(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outer = written(tmp_path, "[tool.verify-kernel]", "pyproject.toml")
    assert find(inner) == outer
    written(tmp_path / "a", "[tool.other]", "pyproject.toml")
    assert find(inner) == outer
    own = written(tmp_path / "a", "")
    assert find(inner) == own


def test_digest_names_content_not_place(tmp_path: Path) -> None:
    policy = load(written(tmp_path, "nan = 'equal'"))
    assert policy.origin != default_policy().origin
    assert policy.digest == default_policy().digest
    assert Policy(size_cap=7).digest != default_policy().digest
