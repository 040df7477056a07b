"""A module that holds every node of the IR once, for the codec, the printer and the validator."""

from __future__ import annotations

from dataclasses import is_dataclass

from specs.location import Span
from verifier.ir import nodes as n

HERE = Span("k.cu", 3, 7)
F4 = n.Struct("float4", tuple(n.Field(name, n.F32, 4 * i) for i, name in enumerate("xyzw")), 16, 16)
PX, PF4 = n.Pointer(n.F32), n.Pointer(F4, True)
INT, J, P, C = n.Read("i", n.I32), n.Read("j", n.U32), n.Read("x", PX), n.Read("c", n.BOOL)
ZERO = n.IntConst(0, n.I32)
INDEX = n.Convert(n.I64, INT, HERE, False)
ARRAY = n.Object("a", n.Array(n.F32, 4))
CELL = n.Elem(ARRAY, INDEX, n.F32, HERE)
FULL = n.IntConst(0xFFFFFFFF, n.U32)

BODY: tuple[n.Stmt, ...] = (
    n.Assign("i", n.Convert(n.I32, n.Builtin("threadIdx.x")), HERE),
    n.Assign("j", n.Undef(n.U32, "", HERE)),
    n.Assign("f", n.FloatConst(0.5, n.F32)),
    n.Assign(
        "c",
        n.Or(n.And(n.Compare("lt", INT, n.IntConst(4, n.I32)), n.Not(n.BoolConst(False))), n.BoolConst(True)),
    ),
    n.Declare("a", HERE),
    n.If(C, (n.Assign("i", n.Unary("neg", INT, n.I32)),), (n.Trap("trap"),), HERE),
    n.Loop(
        "loop.3",
        (n.Assign("c", n.Compare("lt", INT, ZERO)),),
        C,
        (n.If(C, (n.Leave("loop.3.body"),)), n.Leave("loop.3", HERE)),
        (n.Assign("i", n.Binary("add", INT, n.IntConst(1, n.I32), n.I32, HERE)),),
        HERE,
    ),
    n.Scope("f.1", (n.Leave("f.1"),)),
    n.Load("f", n.Deref(n.PtrAdd(P, INDEX, PX, HERE), n.F32, HERE), HERE),
    n.Load("", n.Deref(n.Convert(PF4, P), F4), HERE, (("f", F4.fields[1]), ("g", F4.fields[2])), True, True),
    n.Store(CELL, n.Call("expf", (n.Read("f", n.F32),), n.F32, HERE), HERE),
    n.Store(
        n.Deref(n.Convert(n.Pointer(F4), P), F4), None, HERE, ((F4.fields[0], n.Read("f", n.F32)),), True
    ),
    n.Store(n.Member(n.Object("v", F4), F4.fields[3], n.F32), n.Read("g", n.F32)),
    n.Atomic("cas", "i", n.Object("n", n.I32), (ZERO, INT), "block", HERE),
    n.Barrier("warp", "3:1", FULL, HERE),
    n.BarrierReduce("count", "i", C, "3:2", HERE),
    n.WarpOp("shfl_down", "f", FULL, (n.Read("f", n.F32), J, n.IntConst(32, n.I32)), n.F32, "3:3", HERE),
    n.Fence("device", HERE),
    n.CopyGroup("wait", 1, HERE),
    n.Assert(C, "c", HERE),
    n.Assign("i", n.Select(C, INT, ZERO, n.I32)),
    n.Assign("k", n.PtrDiff(n.AddressOf(CELL, PX), P)),
    n.Unsupported("goto", "goto end", HERE),
    n.Leave("kernel"),
)
LOCALS: dict[str, n.Type] = {
    "x": PX, "i": n.I32, "j": n.U32, "c": n.BOOL, "f": n.F32, "g": n.F32, "k": n.I64,
}  # fmt: skip
OBJECTS = (
    n.ObjectDecl("a", n.Array(n.F32, 4), "local", align=16, span=HERE),
    n.ObjectDecl("v", F4, "local"),
    n.ObjectDecl("s", n.Array(n.F32, 0), "shared", dynamic=True),
    n.ObjectDecl("t", n.Array(n.I32, 2), "constant", init=(1, -2)),
    n.ObjectDecl("n", n.I32, "device"),
)
KERNEL = n.Kernel(
    "k", ("float", "16"), (n.Param("x", PX, True, HERE),), OBJECTS, LOCALS, BODY, HERE, (256, 2)
)  # fmt: skip
VOID_POINTER = n.Kernel("v", (), (n.Param("p", n.Pointer(n.VOID)),), (), {"p": n.Pointer(n.VOID)}, ())
MODULE = n.Module(
    (KERNEL, VOID_POINTER), (n.Diagnostic("error", "no", HERE),), (("generic", HERE),), ("a note",)
)  # fmt: skip


def every_node_class() -> set[str]:
    return {name for name, value in vars(n).items() if isinstance(value, type) and is_dataclass(value)} | {
        "Span"
    }
