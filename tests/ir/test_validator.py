"""The validator: the sample passes, each broken invariant is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.samples import F4, INDEX, INT, KERNEL, MODULE, ZERO, C, J, P
from verifier.ir import nodes as n
from verifier.ir.validator import IrInvalid, validate


def checked(*body: n.Stmt, **changes: object) -> None:
    fixed = (n.Assign("i", ZERO), n.Assign("j", n.IntConst(0, n.U32)), n.Assign("c", n.BoolConst(True)))
    kernel = replace(KERNEL, body=(*fixed, *body), **changes)  # type: ignore[arg-type]
    validate(n.Module((kernel,)))


def test_the_sample_is_valid() -> None:
    validate(MODULE)


BROKEN: dict[str, tuple[n.Stmt, ...]] = {
    "different operand types": (n.Assign("i", n.Binary("add", INT, J, n.I32)),),
    "result type differs": (n.Assign("j", n.Binary("add", INT, INT, n.U32)),),
    "shift of a float": (n.Assign("f", n.Binary("shl", n.FloatConst(1, n.F32), n.FloatConst(1, n.F32), n.F32)),),
    "comparison of different types": (n.Assign("c", n.Compare("lt", INT, J)),),
    "condition that is no bool": (n.If(INT, ()),),
    "not of an int": (n.Assign("c", n.Not(INT)),),
    "and of ints": (n.Assign("c", n.And(C, INT)),),
    "select of different types": (n.Assign("i", n.Select(C, INT, J, n.I32)),),
    "constant that does not fit": (n.Assign("j", n.IntConst(-1, n.U32)),),
    "read of an unknown local": (n.Assign("i", n.Read("nobody", n.I32)),),
    "read at another type": (n.Assign("i", n.Read("j", n.I32)),),
    "read of what is never written": (n.Assign("f", n.Read("g", n.F32)),),
    "assignment of another type": (n.Assign("i", J),),
    "assignment to an unknown local": (n.Assign("nobody", INT),),
    "unknown builtin": (n.Assign("j", n.Builtin("threadIdx.w")),),
    "pointer index that is no i64": (n.Load("f", n.Deref(n.PtrAdd(P, INT, P.type), n.F32)),),  # type: ignore[arg-type]
    "dereference at another type": (n.Load("i", n.Deref(P, n.I32)),),
    "dereference of an int": (n.Load("i", n.Deref(INT, n.I32)),),
    "element of no array": (n.Load("i", n.Elem(n.Object("n", n.I32), INDEX, n.I32)),),
    "unknown object": (n.Load("i", n.Object("nobody", n.I32)),),
    "member of no struct": (n.Load("f", n.Member(n.Object("n", n.I32), F4.fields[0], n.F32)),),
    "member of another struct": (n.Load("f", n.Member(n.Object("v", F4), n.Field("q", n.F32, 0), n.F32)),),
    "float to pointer": (n.Assign("x", n.Convert(P.type, n.FloatConst(1, n.F32))),),
    "struct loaded into a local": (n.Load("f", n.Object("v", F4)),),
    "load into nothing": (n.Load("", n.Object("v", F4)),),
    "part outside of its struct": (n.Load("", n.Object("v", F4), parts=(("f", n.Field("x", n.F32, 16)),)),),
    "store of another type": (n.Store(n.Object("n", n.I32), J),),
    "store of nothing": (n.Store(n.Object("n", n.I32), None),),
    "leave of an unknown label": (n.Leave("nobody"),),
    "leave of a loop from outside": (n.Loop("l", (), C, (), ()), n.Leave("l")),
    "leave of the body from the step": (n.Loop("l", (), C, (), (n.Leave("l.body"),)),),
    "label used twice": (n.Scope("l", ()), n.Scope("l", ())),
    "label of the kernel": (n.Scope("kernel", ()),),
    "label of a loop's body": (n.Loop("l", (), C, (n.Scope("l.body", ()),), ()),),
    "atomic with too few arguments": (n.Atomic("cas", "i", n.Object("n", n.I32), (INT,)),),
    "unknown atomic": (n.Atomic("nand", "i", n.Object("n", n.I32), (INT,)),),
    "atomic of another type": (n.Atomic("add", "i", n.Object("n", n.I32), (J,)),),
    "barrier without a site": (n.Barrier("block", ""),),
    "mask that is no u32": (n.Barrier("warp", "1:1", INT),),
    "predicate that is no bool": (n.BarrierReduce("and", "i", INT, "1:1"),),
    "collective into another type": (n.WarpOp("shfl", "j", None, (INT, INT, INT), n.I32, "1:1"),),
    "declaration of a shared object": (n.Declare("s"),),
    "assert of an int": (n.Assert(INT, "i"),),
    "difference of ints": (n.Assign("k", n.PtrDiff(INT, INT)),),
    "address at another type": (n.Assign("x", n.AddressOf(n.Object("n", n.I32), n.Pointer(n.F32))),),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_statements_are_refused(name: str) -> None:
    with pytest.raises(IrInvalid):
        checked(*BROKEN[name])


@pytest.mark.parametrize(
    "changes",
    [
        {"params": (n.Param("y", n.I32),)},
        {"params": KERNEL.params * 2},
        {"locals": {**KERNEL.locals, "v4": F4}},
        {"locals": {**KERNEL.locals, "w": n.Int(24, True)}},
        {"locals": {**KERNEL.locals, "a": n.I32}},
        {"objects": (*KERNEL.objects, KERNEL.objects[0])},
        {"objects": (*KERNEL.objects, n.ObjectDecl("z", n.Array(n.F32, 0), "shared"))},
        {"objects": (*KERNEL.objects, n.ObjectDecl("z", n.Array(n.F32, 0), "local", dynamic=True))},
        {"objects": (*KERNEL.objects, n.ObjectDecl("z", n.I32, "device", init=(1,)))},
        {"objects": (n.ObjectDecl("z", n.Struct("s", (n.Field("a", n.I32, 2),), 8, 4), "local"),)},
        {"objects": (n.ObjectDecl("z", n.Struct("s", (n.Field("a", n.I32, 8),), 8, 4), "local"),)},
    ],
)
def test_broken_declarations_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(IrInvalid):
        checked(**changes)
