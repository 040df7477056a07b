"""Checks every invariant of the docstring of :mod:`verifier.ir.nodes`. Always runs after parsing.

Input -> output: ``validate(module)`` returns nothing, or raises IrInvalid with the kernel's name and what is wrong.

Invariant: what passes is typed and closed: operand types agree, every name is declared, every label is entered before
it is left, and only scalars are locals. Later stages rely on it and check nothing again.

Example::

    validate(codec.loads(text))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from verifier.ir.nodes import (
    BOOL,
    I32,
    I64,
    U32,
    AddressOf,
    And,
    Array,
    Assert,
    Assign,
    Atomic,
    Barrier,
    BarrierReduce,
    Binary,
    Bool,
    BoolConst,
    Builtin,
    Call,
    Compare,
    Convert,
    CopyGroup,
    Declare,
    Deref,
    Elem,
    Expr,
    Fence,
    Float,
    FloatConst,
    If,
    Int,
    IntConst,
    Kernel,
    Leave,
    Load,
    Loop,
    Member,
    Module,
    Not,
    Object,
    ObjectDecl,
    Or,
    Place,
    Pointer,
    PtrAdd,
    PtrDiff,
    Read,
    Scope,
    Select,
    Stmt,
    Store,
    Struct,
    Trap,
    Type,
    Unary,
    Undef,
    Unsupported,
    Void,
    WarpOp,
    align_of,
    size_of,
)

BUILTINS: dict[str, Int] = {
    **{f"{name}.{axis}": U32 for name in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in "xyz"},
    "warpSize": I32,
}
ATOMICS = {
    "add": 1,
    "sub": 1,
    "min": 1,
    "max": 1,
    "exch": 1,
    "cas": 2,
    "and": 1,
    "or": 1,
    "xor": 1,
    "inc": 1,
    "dec": 1,
}
INT_BITS = (8, 16, 32, 64, 128)
FLOATS = ("f16", "bf16", "f32", "f64")
KERNEL_LABEL = "kernel"
_INT_ONLY = ("rem", "shl", "shr", "and", "or", "xor")


class IrInvalid(Exception):
    """The IR breaks an invariant: a bug of the front end, never of the user."""


def validate(module: Module) -> None:
    """Raise IrInvalid unless every kernel of the module holds every invariant."""
    for kernel in module.kernels:
        _Checker(kernel).check()


@dataclass(slots=True)
class _Checker:
    kernel: Kernel
    objects: dict[str, ObjectDecl] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    entered: list[str] = field(default_factory=lambda: [KERNEL_LABEL])

    def fail(self, what: str) -> IrInvalid:
        return IrInvalid(f"kernel {self.kernel.label}: {what}")

    def require(self, condition: bool, what: str) -> None:
        if not condition:
            raise self.fail(what)

    def check(self) -> None:
        kernel = self.kernel
        for param in kernel.params:
            self.require(
                kernel.locals.get(param.name) == param.type, f"parameter {param.name} is no local of its type"
            )
            self.require(param.name not in self.written, f"two parameters named {param.name}")
            self.written.add(param.name)
        for name, type_ in kernel.locals.items():
            self.type(type_)
            self.require(isinstance(type_, Int | Bool | Float | Pointer), f"local {name} is not a scalar")
        for decl in kernel.objects:
            self.object_decl(decl)
        self.body(kernel.body)
        lost = sorted(self.read - self.written)
        self.require(not lost, f"locals read but never written: {', '.join(lost)}")

    def object_decl(self, decl: ObjectDecl) -> None:
        self.type(decl.type)
        self.require(decl.name not in self.objects, f"two objects named {decl.name}")
        self.require(decl.name not in self.kernel.locals, f"{decl.name} is both local and object")
        unsized = isinstance(decl.type, Array) and decl.type.count == 0
        self.require(decl.dynamic == unsized, f"object {decl.name}: dynamic and unsized go together")
        self.require(
            not decl.dynamic or decl.space == "shared", f"object {decl.name}: dynamic but not shared"
        )
        self.require(
            decl.init is None or decl.space == "constant", f"object {decl.name}: init of a non-constant"
        )
        self.objects[decl.name] = decl

    def type(self, type_: Type) -> None:
        match type_:
            case Int(bits=bits):
                self.require(bits in INT_BITS, f"integer of {bits} bits")
            case Float(name=name):
                self.require(name in FLOATS, f"float type {name}")
            case Pointer(elem=elem):
                self.type(elem)
            case Array(elem=elem, count=count):
                self.require(count >= 0, "array of negative count")
                self.type(elem)
            case Struct(name=name, fields=members, size=size, align=align):
                self.require(align > 0, f"struct {name}: alignment {align}")
                for member in members:
                    self.type(member.type)
                    inside = member.offset >= 0 and member.offset + size_of(member.type) <= size
                    self.require(inside, f"struct {name}: field {member.name} lies outside")
                    self.require(
                        member.offset % max(1, align_of(member.type)) == 0,
                        f"struct {name}: field {member.name} misplaced",
                    )
            case Bool() | Void():
                pass
            case _:
                assert_never(type_)

    # --- expressions ---

    def expr(self, expr: Expr) -> Type:
        match expr:
            case IntConst(value=value, type=type_):
                self.type(type_)
                low, high = (
                    (-(1 << type_.bits - 1), (1 << type_.bits - 1) - 1)
                    if type_.signed
                    else (0, (1 << type_.bits) - 1)
                )
                if not low <= value <= high:
                    raise self.fail(f"constant {value} does not fit {type_}")
            case FloatConst(type=type_):
                self.type(type_)
            case BoolConst() | Undef():
                self.type(expr.type)
            case Read(name=name, type=type_):
                self.require(
                    self.kernel.locals.get(name) == type_, f"read of {name} with a type it does not have"
                )
                self.read.add(name)
            case Builtin(name=name, type=type_):
                self.require(BUILTINS.get(name) == type_, f"builtin {name}")
            case Unary(op=op, operand=operand, type=type_):
                self.same(type_, self.expr(operand), op)
                self.require(
                    isinstance(type_, Int) or (op == "neg" and isinstance(type_, Float)), f"{op} on {type_}"
                )
            case Binary(op=op, left=left, right=right, type=type_):
                self.same(type_, self.expr(left), op)
                self.same(type_, self.expr(right), op)
                allowed = isinstance(type_, Int) or (isinstance(type_, Float) and op not in _INT_ONLY)
                if not allowed:
                    raise self.fail(f"{op} on {type_}")
            case Compare(op=op, left=left, right=right):
                type_left = self.expr(left)
                self.same(type_left, self.expr(right), op)
                if not isinstance(type_left, Int | Float | Bool | Pointer):
                    raise self.fail(f"{op} on {type_left}")
            case Not(operand=operand):
                self.same(BOOL, self.expr(operand), "not")
            case And(left=left, right=right) | Or(left=left, right=right):
                self.same(BOOL, self.expr(left), "and/or")
                self.same(BOOL, self.expr(right), "and/or")
            case Select(cond=cond, then=then, other=other, type=type_):
                self.same(BOOL, self.expr(cond), "select")
                self.same(type_, self.expr(then), "select")
                self.same(type_, self.expr(other), "select")
            case Convert(type=type_, operand=operand):
                self.type(type_)
                self.convertible(self.expr(operand), type_)
            case Call(name=name, args=args, type=type_):
                self.require(bool(name), "call without a name")
                self.type(type_)
                for arg in args:
                    self.expr(arg)
            case AddressOf(place=place, type=type_):
                self.same(type_.elem, self.place(place), "address")
            case PtrAdd(pointer=pointer, index=index, type=type_):
                self.same(type_, self.expr(pointer), "pointer addition")
                self.same(I64, self.expr(index), "pointer index")
            case PtrDiff(left=left, right=right, type=type_):
                type_left = self.expr(left)
                self.require(isinstance(type_left, Pointer), "difference of non-pointers")
                self.same(type_left, self.expr(right), "pointer difference")
                self.same(I64, type_, "pointer difference")
            case _:
                assert_never(expr)
        return expr.type

    def same(self, expected: Type, found: Type, where: str) -> None:
        if expected is not found and expected != found:  # spelling out types takes longer than all the rest
            raise self.fail(f"{where}: {expected} expected, {found} found")

    def convertible(self, source: Type, target: Type) -> None:
        scalars = (Int, Bool, Float, Pointer)
        fine = isinstance(source, scalars) and isinstance(target, scalars)
        if isinstance(source, Pointer) != isinstance(target, Pointer):
            fine = isinstance(source, Int | Pointer) and isinstance(target, Int | Bool | Pointer)
        if not fine:
            raise self.fail(f"conversion from {source} to {target}")

    def place(self, place: Place) -> Type:
        match place:
            case Deref(pointer=pointer, type=type_):
                pointer_type = self.expr(pointer)
                self.require(isinstance(pointer_type, Pointer), "dereference of a non-pointer")
                assert isinstance(pointer_type, Pointer)
                self.same(pointer_type.elem, type_, "dereference")
                self.require(not isinstance(type_, Void), "dereference of a void pointer")
            case Object(name=name, type=type_):
                decl = self.objects.get(name)
                self.require(
                    decl is not None and decl.type == type_, f"object {name} is not declared with this type"
                )
            case Elem(array=array, index=index, type=type_):
                array_type = self.place(array)
                self.require(isinstance(array_type, Array), "element of a non-array")
                assert isinstance(array_type, Array)
                self.same(array_type.elem, type_, "element")
                self.same(I64, self.expr(index), "element index")
            case Member(struct=struct, field=member, type=type_):
                struct_type = self.place(struct)
                self.require(isinstance(struct_type, Struct), "member of a non-struct")
                assert isinstance(struct_type, Struct)
                self.require(member in struct_type.fields, f"no field {member.name} in {struct_type.name}")
                self.same(member.type, type_, "member")
            case _:
                assert_never(place)
        return place.type

    # --- statements ---

    def body(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self.stmt(stmt)

    def assigned(self, name: str, type_: Type) -> None:
        self.require(name in self.kernel.locals, f"assignment to the unknown local {name}")
        self.same(self.kernel.locals[name], type_, f"assignment to {name}")
        self.written.add(name)

    def label(self, label: str) -> None:
        self.require(bool(label) and label != KERNEL_LABEL, f"label {label!r} is reserved")
        self.require(label not in self.labels, f"two blocks labelled {label}")
        self.labels.add(label)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(var=var, value=value):
                self.assigned(var, self.expr(value))
            case Load():
                self.load(stmt)
            case Store():
                self.store(stmt)
            case Atomic(op=op, var=var, place=place, args=args):
                type_ = self.place(place)
                self.require(len(args) == ATOMICS.get(op, -1), f"atomic {op} with {len(args)} arguments")
                for arg in args:
                    self.same(type_, self.expr(arg), f"atomic {op}")
                self.assigned(var, type_)
            case If(cond=cond, then=then, other=other):
                self.same(BOOL, self.expr(cond), "if")
                self.body(then)
                self.body(other)
            case Loop():
                self.loop(stmt)
            case Scope(label=label, body=body):
                self.label(label)
                self.inside(label, body)
            case Leave(label=label):
                self.require(label in self.entered, f"leave of {label} outside of it")
            case Barrier(site=site, mask=mask):
                self.require(bool(site), "barrier without a site")
                self.mask(mask)
            case BarrierReduce(var=var, pred=pred, site=site):
                self.require(bool(site), "barrier without a site")
                self.same(BOOL, self.expr(pred), "barrier predicate")
                self.assigned(var, I32)
            case WarpOp(var=var, mask=mask, args=args, type=type_, site=site):
                self.require(bool(site), "warp operation without a site")
                self.mask(mask)
                for arg in args:
                    self.expr(arg)
                self.assigned(var, type_)
            case Declare(name=name):
                decl = self.objects.get(name)
                self.require(
                    decl is not None and decl.space == "local", f"declaration of {name}: no local object"
                )
            case Assert(cond=cond):
                self.same(BOOL, self.expr(cond), "assert")
            case CopyGroup(op=op, left=left):
                self.require(left == 0 or (op == "wait" and left > 0), f"{op} that leaves {left} groups")
            case Trap() | Fence() | Unsupported():
                pass
            case _:
                assert_never(stmt)

    def inside(self, label: str, body: tuple[Stmt, ...]) -> None:
        self.entered.append(label)
        self.body(body)
        self.entered.pop()

    def loop(self, loop: Loop) -> None:
        self.label(loop.label)
        self.label(f"{loop.label}.body")
        self.entered.append(loop.label)
        self.body(loop.head)
        self.same(BOOL, self.expr(loop.cond), "loop condition")
        self.inside(f"{loop.label}.body", loop.body)
        self.body(loop.step)
        self.entered.pop()

    def mask(self, mask: Expr | None) -> None:
        if mask is not None:
            self.same(U32, self.expr(mask), "mask")

    def load(self, load: Load) -> None:
        type_ = self.place(load.place)
        if load.var:
            self.require(not load.parts, "load into a local and into parts")
            self.assigned(load.var, type_)
            return
        self.require(bool(load.parts), "load into nothing")
        for name, member in load.parts:
            self.part(type_, member.offset, member.type)
            self.assigned(name, member.type)

    def store(self, store: Store) -> None:
        type_ = self.place(store.place)
        if store.value is not None:
            self.require(not store.parts, "store of a value and of parts")
            self.require(not isinstance(type_, Struct | Array), "aggregate stored as one value")
            self.same(type_, self.expr(store.value), "store")
            return
        self.require(bool(store.parts), "store of nothing")
        for member, value in store.parts:
            self.part(type_, member.offset, member.type)
            self.same(member.type, self.expr(value), "store of a part")

    def part(self, whole: Type, offset: int, type_: Type) -> None:
        self.require(isinstance(whole, Struct), "parts of a non-struct")
        self.require(offset >= 0 and offset + size_of(type_) <= size_of(whole), "part outside of its struct")
        self.require(isinstance(type_, Int | Bool | Float | Pointer), "part that is not a scalar")
