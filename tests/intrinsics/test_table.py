"""The intrinsic table and the shim are one: what is declared has an entry, what has an entry is declared."""

from __future__ import annotations

import pytest

from verifier.frontend.device_clang import Node, Unit
from verifier.frontend.device_intrinsics import REFUSED_FUNCTIONS, SPECIAL_FUNCTIONS
from verifier.frontend.device_shim import shim_text
from verifier.intrinsics import INT_MEANINGS, TABLE, declarations
from verifier.intrinsics.model import declare, name_of


@pytest.fixture(scope="module")
def unit() -> Unit:
    return Unit("", shim_text(), "sm_80")


def _functions(node: Node, path: str = "") -> list[tuple[str, Node]]:
    found = []
    for child in node.children:
        if child.kind == "NAMESPACE":
            found += _functions(child, f"{path}{child.spelling}::")
        elif child.kind == "LINKAGE_SPEC":
            found += _functions(child, path)
        elif child.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE"):
            found.append((path + child.spelling, child))
    return found


def test_the_shim_parses_without_a_complaint(unit: Unit) -> None:
    assert unit.complaints == []


def test_every_declared_function_has_an_entry(unit: Unit) -> None:
    missing = [
        name
        for name, node in _functions(unit.root)
        if name.rpartition("::")[2] not in TABLE
        and node.spelling not in SPECIAL_FUNCTIONS
        and node.spelling not in REFUSED_FUNCTIONS
        and not node.spelling.startswith("operator")
    ]
    assert missing == []


def test_every_entry_is_declared(unit: Unit) -> None:
    declared = {name for name, _ in _functions(unit.root)}
    assert [name for name in TABLE if name not in declared and not name.startswith("__builtin_")] == []


def test_no_function_of_the_shim_has_a_made_up_body(unit: Unit) -> None:
    with_body = [name for name, node in _functions(unit.root) if node.has("COMPOUND_STMT")]
    assert with_body == []


def test_int_meanings_are_out_of_the_closed_set() -> None:
    assert {entry.int_meaning for entry in TABLE.values()} - {None} == INT_MEANINGS
    assert TABLE["__popc"].int_meaning == "popc" and TABLE["max"].int_meaning == "max"
    assert TABLE["expf"].int_meaning is None


def test_min_and_max_convert_to_the_common_type() -> None:
    assert TABLE["min"].common and TABLE["max"].common and not TABLE["abs"].common


def test_atomics_have_scopes() -> None:
    assert [TABLE[f"atomicAdd{suffix}"].scope for suffix in ("", "_block", "_system")] == [
        "device",
        "block",
        "system",
    ]


def test_declarations_are_well_formed() -> None:
    assert all(line.endswith(";") and "VK_HD" in line for line in declarations().splitlines())
    assert name_of("unsigned long long __umul64hi(unsigned long long, unsigned long long)") == "__umul64hi"


def test_one_entry_for_all_overloads_of_a_name() -> None:
    (entry,) = declare("f", "pure-int", "abs", "int abs(int); long abs(long)")
    assert entry.name == "abs" and len(entry.declarations) == 2
