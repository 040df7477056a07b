"""Which parameters become which arguments, and what is refused instead of guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fuzz.binding import Binding, Unbound, bind
from fuzz.pointers import written
from fuzz.reference import parse
from fuzz.shapes import complete, readings
from specs.contract import Clause, Contract
from verifier.ir import nodes as ir

MATRIX = ({"m": 2, "n": 3, "k": 5}, {"m": 33, "n": 1, "k": 2}, {"m": 4, "n": 7, "k": 4})


@pytest.fixture
def bound(make_kernel: Any, make_contract: Any) -> Any:
    def make(
        reference: str,
        pointers: Mapping[str, str],
        shapes: Mapping[str, Sequence[str]],
        scalars: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
    ) -> Binding:
        kernel = make_kernel("k", pointers, scalars)
        contract = make_contract(kernel, shapes, ["m", "n", "k"], values)
        (only,) = bind(kernel, contract, parse(reference, [p.name for p in kernel.params]), MATRIX).bindings
        return only

    return make


def test_inputs_in_order_outputs_by_what_is_written(bound: Any) -> None:
    b = bound(
        "torch.sub", {"p": "in f32", "out": "out f32", "q": "in f32"}, {"p": ["n"], "q": ["n"], "out": ["n"]}
    )
    assert [(o.name, p) for o, p in b.inputs] == [("input", "p"), ("other", "q")]
    assert b.outputs == ("out",)


def test_names_win_over_order(bound: Any) -> None:
    shapes = {"beta": ["n"], "gamma": ["n"], "x": ["m", "n"], "y": ["m", "n"]}
    pointers = {"beta": "in f32", "gamma": "in f32", "x": "in f32", "y": "out f32"}
    b = bound("layer_norm", pointers, shapes)
    assert {o.name: p for o, p in b.inputs} == {"input": "x", "weight": "gamma", "bias": "beta"}


@pytest.mark.parametrize(("out", "dim"), [(["m"], 1), (["n"], 0), ([], None), (["m", "1"], 1)])
def test_shapes_decide_the_dim_of_a_reduction(bound: Any, out: list[str], dim: int | None) -> None:
    b = bound("torch.sum", {"x": "in f32", "y": "out f32"}, {"x": ["m", "n"], "y": out})
    assert b.options([(2, 3)], {})["dim"] == dim


def test_stated_dim_that_the_shapes_contradict_is_refused(bound: Any) -> None:
    with pytest.raises(Unbound, match="has shape"):
        bound("torch.sum(x, dim=0)", {"x": "in f32", "y": "out f32"}, {"x": ["m", "n"], "y": ["m"]})


def test_dim_that_shapes_leave_open_is_refused(bound: Any) -> None:
    with pytest.raises(Unbound, match="several values of dim fit"):
        bound("torch.sum", {"x": "in f32", "y": "out f32"}, {"x": ["n", "n"], "y": ["n"]})


def test_matmul_needs_fitting_shapes(bound: Any) -> None:
    pointers = {"A": "in f32", "B": "in f32", "C": "out f32"}
    shapes = {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}
    assert bound("torch.matmul", pointers, shapes).text() == "C = matmul(input=A, other=B)"
    with pytest.raises(Unbound, match="matmul of"):
        bound("torch.matmul", pointers, shapes | {"B": ["n", "k"]})
    assert bound("matmul_nt", pointers, shapes | {"B": ["n", "k"]}).outputs == ("C",)


def test_float_scalars_must_mean_something(bound: Any) -> None:
    pointers, shapes = {"x": "in f32", "y": "out f32"}, {"x": ["n"], "y": ["n"]}
    assert bound("leaky_relu", pointers, shapes, {"slope": "f32"}).drawn == {"negative_slope": "slope"}
    assert bound("leaky_relu", pointers, shapes, {"q": "f32"}).drawn == {"negative_slope": "q"}
    with pytest.raises(Unbound, match="does not say what the scalar q means"):
        bound("torch.relu", pointers, shapes, {"q": "f32"})
    with pytest.raises(Unbound, match="does not say what the scalar"):
        bound("leaky_relu", pointers, shapes, {"slope": "f32", "q": "f32"})


def test_integer_scalars_are_options_by_name(bound: Any) -> None:
    pointers, shapes = {"x": "in f32", "y": "out f32"}, {"x": ["m * 4", "n * 4"], "y": ["m", "n"]}
    b = bound(
        "max_pool2d", pointers, shapes, {"kernel_size": "i32", "h": "i32"}, {"kernel_size": "4", "h": "m * 4"}
    )
    assert b.given == {"kernel_size": "kernel_size"}
    with pytest.raises(Unbound, match="value of kernel_size is not known"):
        bound("max_pool2d", pointers, shapes, {"kernel_size": "i32"})


def test_hard_coded_window_is_found_by_shape(bound: Any) -> None:
    b = bound("max_pool2d", {"x": "in f32", "y": "out f32"}, {"x": ["m * 3", "n * 3"], "y": ["m", "n"]})
    assert b.options([(6, 9)], {})["kernel_size"] == 3


@pytest.mark.parametrize(("length", "padding"), [("n + 4", 0), ("n + 8", "same")])
def test_convolution_padding_is_found_by_length(bound: Any, length: str, padding: Any) -> None:
    shapes = {"x": ["n + 8"], "w": ["5"], "y": [length]}
    b = bound("torch.nn.functional.conv1d", {"x": "in f32", "w": "in f32", "y": "out f32"}, shapes)
    assert b.options([(11,), (5,)], {})["padding"] == padding


def test_in_place(bound: Any) -> None:
    b = bound("axpy", {"x": "in f32", "y": "inout f32"}, {"x": ["n"], "y": ["n"]}, {"a": "f32"})
    assert [p for _, p in b.inputs] == ["x", "y"] and b.outputs == ("y",)


def test_buffer_that_the_kernel_also_reads_is_refused(bound: Any) -> None:
    with pytest.raises(Unbound, match="also reads y"):
        bound("torch.relu", {"x": "in f32", "y": "inout f32"}, {"x": ["n"], "y": ["n"]})


def test_expression_over_parameters(bound: Any) -> None:
    pointers = {"a": "in f32", "b": "in f32", "c": "out f32"}
    shapes = {"a": ["m", "k"], "b": ["n", "k"], "c": ["m", "n"]}
    b = bound("torch.matmul(a, b.T)", pointers, shapes)
    assert [p for _, p in b.inputs] == ["a", "b"] and b.reference.wire["kind"] == "expression"
    with pytest.raises(Unbound, match="not an input"):
        bound("torch.relu(c) + a", pointers, shapes)


def test_two_outputs_or_none(bound: Any) -> None:
    two = {"x": "in f32", "y": "out f32", "z": "out f32"}
    with pytest.raises(Unbound, match="which of them is relu is not known"):
        bound("torch.relu", two, {p: ["n"] for p in "xyz"})
    b = bound("torch.softmax", two, {"x": ["m", "n"], "y": ["m", "n"], "z": ["m"]})
    assert b.outputs == ("y",) and b.side == ("z",)
    with pytest.raises(Unbound, match="writes none"):
        bound("torch.relu", {"x": "in f32"}, {"x": ["n"]})


def with_extent(
    contract: Contract, extent: str, requires: tuple[str, ...] = (), origin: Any = "lifted"
) -> Contract:
    x = replace(contract.buffers[0], extent=extent, shape=())
    clauses = tuple(Clause(r, "enforced") for r in requires)
    return replace(contract, buffers=(x,), requires=clauses, origin=origin)


def test_shape_of_a_bare_extent(make_kernel: Any, make_contract: Any) -> None:
    kernel = make_kernel("k", {"x": "in f32"})
    contract = make_contract(kernel, {"x": ["n"]}, ["n"])
    both = (("rows", "cols"), ("cols", "rows"))
    assert readings(with_extent(contract, "rows * cols"), "x") == both
    assert readings(with_extent(contract, "u64(i64(rows * cols) * 4) // 4"), "x") == both
    assert readings(with_extent(contract, "i64(b * t) * c"), "x")[0] == ("b", "t", "c")
    assert len(readings(with_extent(contract, "i64(b * t) * c"), "x")) == 6
    assert readings(with_extent(contract, "n"), "x") == (("n",),)
    assert not complete(with_extent(contract, "n"), "x") and complete(with_extent(contract, "a * b"), "x")
    assert readings(with_extent(contract, "n", ("n == rows * cols",)), "x") == both
    assert readings(with_extent(contract, "n", origin="stated"), "x") == (("n",),)
    assert readings(with_extent(contract, "4"), "x") == (("4",),)


def test_unknown_rank_is_one_reading_of_many_where_it_matters(make_kernel: Any, make_contract: Any) -> None:
    kernel = make_kernel("k", {"x": "in f32", "y": "out f32"})
    contract = make_contract(kernel, {"x": ["n"], "y": ["n"]}, ["n"])
    flat = tuple(replace(b, shape=(), extent="n") for b in contract.buffers)
    lifted = replace(contract, origin="lifted", buffers=flat)
    pool = [{"n": 3}, {"n": 7}]
    assert not bind(kernel, lifted, parse("torch.softmax", ["x", "y"]), pool).complete
    assert bind(kernel, lifted, parse("torch.relu", ["x", "y"]), pool).complete
    total = replace(lifted, buffers=(lifted.buffers[0], replace(lifted.buffers[1], extent="1")))
    assert bind(kernel, total, parse("torch.sum", ["x", "y"]), pool).complete


def test_vector_of_another_buffers_dim_is_a_vector(make_kernel: Any, make_contract: Any) -> None:
    kernel = make_kernel("k", {"x": "in f32", "w": "in f32", "y": "out f32"})
    contract = make_contract(kernel, {"x": ["n"], "w": ["n"], "y": ["n"]}, ["n"])
    extents = {"x": "i64(rows * c)", "w": "c", "y": "i64(rows * c)"}
    flat = tuple(replace(b, shape=(), extent=extents[b.param]) for b in contract.buffers)
    lifted = replace(contract, origin="lifted", buffers=flat)
    found = bind(
        kernel, lifted, parse("layer_norm", ["x", "w", "y"]), [{"rows": 2, "c": 3}, {"rows": 5, "c": 4}]
    )
    assert found.complete and [b.shapes["x"] for b in found.bindings] == [("rows", "c")]


def test_order_of_dims_that_the_contract_leaves_open_gives_readings(
    make_kernel: Any, make_contract: Any
) -> None:
    kernel = make_kernel("k", {"x": "in f32", "y": "out f32"})
    contract = make_contract(kernel, {"x": ["n"], "y": ["n"]}, ["rows", "cols"])
    flat = tuple(replace(b, shape=(), extent="rows * cols") for b in contract.buffers)
    lifted = replace(contract, origin="lifted", buffers=flat)
    pool = [{"rows": 3, "cols": 2}, {"rows": 2, "cols": 7}]
    found = bind(kernel, lifted, parse("torch.transpose", ["x", "y"]), pool)
    assert [b.shapes["x"] for b in found.bindings] == [("rows", "cols"), ("cols", "rows")] and found.complete
    total = replace(lifted, buffers=(flat[0], replace(flat[1], extent="rows")))
    sums = bind(kernel, total, parse("torch.sum", ["x", "y"]), pool).bindings
    assert [(b.shapes["x"], b.options(b.input_shapes(pool[0]), {})["dim"]) for b in sums] == [
        (("rows", "cols"), 1),
        (("cols", "rows"), 0),
    ]


def test_written_follows_copies_of_the_pointer(make_kernel: Any) -> None:
    kernel = make_kernel("k", {"x": "in f32", "y": "in f32"})
    pointer = ir.Pointer(ir.F32)
    moved = ir.PtrAdd(ir.Read("y", pointer), ir.IntConst(1, ir.I64), pointer)
    body: tuple[ir.Stmt, ...] = (
        ir.Assign("p", moved),
        ir.If(ir.BoolConst(True), (ir.Store(ir.Deref(ir.Read("p", pointer), ir.F32), ir.Undef(ir.F32)),)),
    )
    kernel = replace(kernel, body=body, locals={**kernel.locals, "p": pointer})
    assert written(kernel) == {"y"}
