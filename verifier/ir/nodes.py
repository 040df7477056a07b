"""The IR of device code: typed, structured, explicit. Every later stage reads this and nothing of libclang.

Grammar (the whole of it)::

    type   := Int(bits, signed) | Bool | Float(name) | Pointer(elem, const) | Array(elem, count) | Struct(name, …)
            | Void
    expr   := IntConst | FloatConst | BoolConst | Read(local) | Builtin | Unary | Binary | Compare | Not | And | Or
            | Select | Convert | Call | AddressOf(place) | PtrAdd | PtrDiff | Undef       -- no side effects, no loads
    place  := Deref(pointer) | Object(name) | Elem(place, index) | Member(place, field)
    stmt   := Assign | Load | Store | Atomic | If | Loop | Scope | Leave | Barrier | BarrierReduce | WarpOp | Fence | CopyGroup
            | Declare | Assert | Trap | Unsupported

Invariants (held by ``validator.py``, which always runs):

* Both operands of Binary/Compare have the same type; every C conversion (promotion, usual arithmetic conversion,
  narrowing, argument, return, compound assignment, ``++``) is a Convert node. ``j += blockDim.x`` with int j is
  ``j = Convert(i32, Convert(u32, j) + blockDim.x)``. The shift count has the type of the shifted operand.
* ``bool`` values are Bool; a C condition on an int is ``Compare(ne, e, 0)``; an int made of a bool is Convert.
* And/Or/Select evaluate their right/branch operand only where C would; operands hold no loads and no calls with
  effects: ``i < n && x[i] > 0`` becomes ``t = false; if (i < n) { v = load x[i]; t = v > 0 }``. Likewise ``c ? x[i] : 0``.
* Locals are unique names over the whole kernel (inlined calls and shadowed scopes are renamed: ``v``, ``v.1``, …).
  Parameters are locals that hold the argument on entry. A local is scalar (Int, Bool, Float, Pointer).
  Arrays, structs whose address is taken or that are indexed, and address-taken scalars are Objects of space ``local``.
  A struct by value that is only used field by field is one local a field (``v.x``).
* Calls to device functions are inlined, ``return`` in them is Assign + Leave of a Scope. Recursion is Unsupported.
* ``break`` is Leave(loop.label); ``continue`` is Leave(loop.label + ".body"); ``return`` of a kernel is
  Leave("kernel").
* Loop: ``while (true) { head; if (!cond) break; Scope(label + ".body"){ body }; step }``. do-while has cond true and
  its test as the last statements of ``step``: ``…; if (!c) Leave(label)``.
* Order of evaluation is the order of statements.

Example: ``if (i < n) y[i] = a * x[i];`` ::

    If(Compare("lt", Read("i"), Read("n")),
       (Load("t", Deref(PtrAdd(Read("x"), Convert(i64, Read("i"))))),
        Store(Deref(PtrAdd(Read("y"), Convert(i64, Read("i")))), Binary("mul", Read("a"), Read("t")))), ())
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specs.location import NOWHERE, Span

# --- types ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Int:
    bits: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Bool:
    pass


@dataclass(frozen=True, slots=True)
class Float:
    """``name`` is f16, bf16, f32 or f64."""

    name: str


@dataclass(frozen=True, slots=True)
class Pointer:
    elem: Type
    const: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    elem: Type
    count: int
    """0 for the unsized ``extern __shared__ T s[]``."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    offset: int


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    fields: tuple[Field, ...]
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Void:
    pass


Type = Int | Bool | Float | Pointer | Array | Struct | Void

BOOL = Bool()
I32, U32, I64, U64 = Int(32, True), Int(32, False), Int(64, True), Int(64, False)
F32, F64 = Float("f32"), Float("f64")
VOID = Void()
_FLOAT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def size_of(type_: Type) -> int:
    """Size in bytes (pointers 8). Void counts as 1, as in GNU pointer arithmetic."""
    match type_:
        case Int(bits=bits):
            return bits // 8
        case Bool() | Void():
            return 1
        case Float(name=name):
            return _FLOAT_BYTES[name]
        case Pointer():
            return 8
        case Array(elem=elem, count=count):
            return size_of(elem) * count
        case Struct(size=size):
            return size


def align_of(type_: Type) -> int:
    """Alignment in bytes."""
    match type_:
        case Array(elem=elem):
            return align_of(elem)
        case Struct(align=align):
            return align
        case _:
            return size_of(type_)


# --- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntConst:
    value: int
    type: Int


@dataclass(frozen=True, slots=True)
class FloatConst:
    value: float
    type: Float


@dataclass(frozen=True, slots=True)
class BoolConst:
    value: bool
    type: Bool = BOOL


@dataclass(frozen=True, slots=True)
class Read:
    """The current value of a local."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Builtin:
    """threadIdx.x … blockIdx.z, blockDim.x …, gridDim.x … (u32), warpSize (i32), laneId is not one."""

    name: str
    type: Int = U32


@dataclass(frozen=True, slots=True)
class Unary:
    """neg (ints, floats), bitnot (ints)."""

    op: Literal["neg", "bitnot"]
    operand: Expr
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Binary:
    """add sub mul div rem (ints: C's truncation; floats), shl shr and or xor (ints)."""

    op: Literal["add", "sub", "mul", "div", "rem", "shl", "shr", "and", "or", "xor"]
    left: Expr
    right: Expr
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Compare:
    op: Literal["lt", "le", "gt", "ge", "eq", "ne"]
    left: Expr
    right: Expr
    type: Bool = BOOL


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expr
    type: Bool = BOOL


@dataclass(frozen=True, slots=True)
class And:
    left: Expr
    right: Expr
    type: Bool = BOOL


@dataclass(frozen=True, slots=True)
class Or:
    left: Expr
    right: Expr
    type: Bool = BOOL


@dataclass(frozen=True, slots=True)
class Select:
    cond: Expr
    then: Expr
    other: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Convert:
    """A C conversion. Int->Int may change the value (an overflow obligation); ``implicit`` is for the message only.

    Pointer->Pointer reinterprets; Float->Int truncates (undefined out of range); Bool->Int is 0/1;
    Int->Bool is ``!= 0``; Int->Pointer and Pointer->Int are Unsupported by the symbolic executor.
    """

    type: Type
    operand: Expr
    span: Span = NOWHERE
    implicit: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """A pure intrinsic of ``verifier.intrinsics`` (expf, min, __popc, __float_as_int …)."""

    name: str
    args: tuple[Expr, ...]
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class AddressOf:
    place: Place
    type: Pointer


@dataclass(frozen=True, slots=True)
class PtrAdd:
    """``pointer + index`` elements of ``type.elem``; index is i64 (subtraction adds the negated index)."""

    pointer: Expr
    index: Expr
    type: Pointer
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class PtrDiff:
    left: Expr
    right: Expr
    type: Int = I64


@dataclass(frozen=True, slots=True)
class Undef:
    """An arbitrary value of the type, the same wherever this very value flows (an uninitialised local, a result).

    ``why`` is empty for an uninitialised variable; else it names the construct that is approximated.
    """

    type: Type
    why: str = ""
    span: Span = NOWHERE


Expr = (
    IntConst
    | FloatConst
    | BoolConst
    | Read
    | Builtin
    | Unary
    | Binary
    | Compare
    | Not
    | And
    | Or
    | Select
    | Convert
    | Call
    | AddressOf
    | PtrAdd
    | PtrDiff
    | Undef
)

# --- places ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deref:
    """``*pointer``; its type is the pointer's elem."""

    pointer: Expr
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Object:
    """A declared object (shared, local, constant, device) as a whole."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Elem:
    """``array[index]`` of an Array-typed place; index is i64. Bounds are checked against this array's own count."""

    array: Place
    index: Expr
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Member:
    struct: Place
    field: Field
    type: Type


Place = Deref | Object | Elem | Member

# --- statements -----------------------------------------------------------------------------------------------------

Agent = Literal["thread", "warp", "async"]
"""Who performs an access. ``warp``: some lane of the thread's warp (ldmatrix, stmatrix, wmma stores), at the address that
this thread gives. ``async``: the copy engine, at any time from here until this thread has waited for it (cp.async)."""


@dataclass(frozen=True, slots=True)
class Assign:
    var: str
    value: Expr
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Load:
    """``var = place``. A struct-typed load (float4) is a Load into each field local with ``width`` = the whole access:
    the front end emits one Load with ``var`` "" and ``parts`` (field local names), so that it stays one access."""

    var: str
    place: Place
    span: Span = NOWHERE
    parts: tuple[tuple[str, Field], ...] = ()
    volatile: bool = False
    readonly: bool = False
    """True for __ldg and the like: the object must not be written by the kernel."""
    agent: Agent = "thread"


@dataclass(frozen=True, slots=True)
class Store:
    """``place = value``; a struct store has ``parts`` (field, value) and value None."""

    place: Place
    value: Expr | None
    span: Span = NOWHERE
    parts: tuple[tuple[Field, Expr], ...] = ()
    volatile: bool = False
    agent: Agent = "thread"


@dataclass(frozen=True, slots=True)
class Atomic:
    """``var = atomicOp(place, args…)``; op: add sub min max exch cas and or xor inc dec."""

    op: str
    var: str
    place: Place
    args: tuple[Expr, ...]
    scope: Literal["block", "device", "system"] = "device"
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class If:
    cond: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Loop:
    label: str
    head: tuple[Stmt, ...]
    cond: Expr
    body: tuple[Stmt, ...]
    step: tuple[Stmt, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Scope:
    """A block that ``Leave(label)`` jumps to the end of."""

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    label: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Barrier:
    """kind: block (__syncthreads), warp (__syncwarp; mask u32), grid, tile. ``site`` = declaration plus call path."""

    kind: Literal["block", "warp", "grid"]
    site: str
    mask: Expr | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class BarrierReduce:
    """__syncthreads_count / _and / _or: a block barrier whose (block-uniform) i32 result goes to var."""

    op: Literal["count", "and", "or"]
    var: str
    pred: Expr
    site: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class WarpOp:
    """A collective of the warp's lanes named by mask: shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all,
    match_any, reduce_add …, activemask. ``args`` without the mask. It does not order memory."""

    op: str
    var: str
    mask: Expr | None
    args: tuple[Expr, ...]
    type: Type
    site: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Fence:
    scope: Literal["block", "device", "system"]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class CopyGroup:
    """Groups of asynchronous copies: ``commit`` ends the thread's current group; ``wait`` returns when all groups but the
    ``left`` latest are done, ``wait_all`` when every copy of the thread is, also of a group that is not ended."""

    op: Literal["commit", "wait", "wait_all"]
    left: int = 0
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Declare:
    """Control reaches the declaration of a local object: its contents are indeterminate from here."""

    name: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Assert:
    cond: Expr
    text: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Trap:
    """__trap(), or a path the language calls unreachable."""

    kind: str
    span: Span = NOWHERE


BODILESS = "function without a body"
"""``Unsupported.construct`` of a call whose arguments are evaluated before it; its result is assigned after it."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A construct without a meaning here. What it could change (locals, memory, control) is unknown afterwards:
    every verdict on the kernel that is reached after it is UNKNOWN(unsupported construct) with this line."""

    construct: str
    detail: str
    span: Span = NOWHERE


Stmt = (
    Assign | Load | Store | Atomic | If | Loop | Scope | Leave | Barrier | BarrierReduce | WarpOp | Fence | CopyGroup | Declare
    | Assert | Trap | Unsupported
)  # fmt: skip

# --- declarations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ObjectDecl:
    """space: shared (``dynamic`` for extern), local, constant (__constant__ or const __device__), device.

    ``init`` holds the values of a const object of ints with a full initialiser, flattened; else None.
    """

    name: str
    type: Type
    space: Literal["shared", "local", "constant", "device"]
    dynamic: bool = False
    align: int = 0
    init: tuple[int, ...] | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: Type
    restrict: bool = False
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``__global__`` function, one instantiation. ``locals`` maps every local (params included) to its type."""

    name: str
    instantiation: tuple[str, ...]
    params: tuple[Param, ...]
    objects: tuple[ObjectDecl, ...]
    locals: dict[str, Type]
    body: tuple[Stmt, ...]
    span: Span = NOWHERE
    launch_bounds: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.name}<{', '.join(self.instantiation)}>" if self.instantiation else self.name


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What a parser said. severity: error, warning, note."""

    severity: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Module:
    """All kernels of a device text. ``templates``: kernel templates that nothing instantiates (name, span)."""

    kernels: tuple[Kernel, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    templates: tuple[tuple[str, Span], ...] = ()
    notes: tuple[str, ...] = field(default=())
