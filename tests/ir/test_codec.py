"""The codec: round trip of every node, and refusal of what is no IR."""

from __future__ import annotations

import json
import math

import pytest

from tests.ir.samples import MODULE, every_node_class
from verifier.ir import nodes as n
from verifier.ir.codec import CodecError, dumps, from_data, loads, to_data


def test_round_trip_of_a_module_with_every_node() -> None:
    assert loads(dumps(MODULE)) == MODULE


def test_the_sample_has_every_node() -> None:
    seen = set()

    def visit(value: object) -> None:
        if isinstance(value, tuple):
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            visit(tuple(value.values()))
        elif hasattr(value, "__dataclass_fields__"):
            seen.add(type(value).__name__)
            for name in value.__dataclass_fields__:
                visit(getattr(value, name))

    visit(MODULE)
    assert every_node_class() - seen == set()


@pytest.mark.parametrize("value", [0.1, -0.0, math.inf, -math.inf, 1e-45, 3.4028234663852886e38])
def test_floats_are_exact(value: float) -> None:
    node = n.FloatConst(value, n.F32)
    back = from_data(to_data(node), n.Expr)
    assert back == node and math.copysign(1, back.value) == math.copysign(1, value)


def test_nan_survives() -> None:
    assert math.isnan(from_data(to_data(n.FloatConst(math.nan, n.F32)), n.Expr).value)


def test_large_integers_survive() -> None:
    node = n.IntConst(2**64 - 1, n.U64)
    assert from_data(json.loads(json.dumps(to_data(node))), n.Expr) == node


@pytest.mark.parametrize(
    "data",
    [
        "not json",
        "[]",
        '["Kernel"]',
        '["Module",[],[],[]]',
        '["Module",[],[],[],[],[]]',
        '["Module",[["Int",32,true]],[],[],[]]',
        '["Module",[],[],[],[3]]',
        '["Module",[],[["Diagnostic","error","m",["Span","f",true,0]]],[],[]]',
        '{"Module": 1}',
        "[" * 100_000,
    ],
)
def test_what_is_no_module_is_refused(data: str) -> None:
    with pytest.raises(CodecError):
        loads(data)


def test_a_field_outside_of_its_literal_is_refused() -> None:
    data = to_data(n.Compare("lt", n.Read("a", n.I32), n.Read("b", n.I32)))
    data[1] = "spaceship"
    with pytest.raises(CodecError):
        from_data(data, n.Expr)


def test_a_statement_is_no_expression() -> None:
    with pytest.raises(CodecError):
        from_data(to_data(n.Leave("kernel")), n.Expr)


def test_a_repeated_local_is_refused() -> None:
    text = dumps(MODULE).replace('["i",["Int",32,true]]', '["i",["Int",32,true]],["i",["Int",32,true]]', 1)
    with pytest.raises(CodecError):
        loads(text)
