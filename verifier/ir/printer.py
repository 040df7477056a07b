"""IR as text for people, tests and debugging: deterministic, one statement a line.

Input -> output: a Module, Kernel, statement tuple, expression, place or type -> str. Conversions are written as calls
of the type (``i64(i)``), so what C hides is visible. It is not parsed back.

Invariant: equal IR prints equally; every node kind has a form (exhaustive match).

Example::

    print(show_kernel(kernel))
    # kernel saxpy(i32 n, f32 a, const f32* x, f32* y)
    #   if (i < n)
    #     t.1 = load x[i64(i)]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from verifier.ir.nodes import (
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
)

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "shl": "<<", "shr": ">>",
    "and": "&", "or": "|", "xor": "^",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_UNARY = {"neg": "-", "bitnot": "~"}


def show_type(type_: Type) -> str:
    match type_:
        case Int(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case Bool():
            return "bool"
        case Float(name=name):
            return name
        case Pointer(elem=elem, const=const):
            return f"{'const ' if const else ''}{show_type(elem)}*"
        case Array():
            counts = ""
            inner: Type = type_
            while isinstance(inner, Array):
                counts += f"[{inner.count or ''}]"
                inner = inner.elem
            return show_type(inner) + counts
        case Struct(name=name):
            return name
        case Void():
            return "void"
    assert_never(type_)


def _list(items: tuple[Expr, ...]) -> str:
    return ", ".join(show_expr(item) for item in items)


def show_expr(expr: Expr) -> str:
    match expr:
        case IntConst(value=value, type=type_):
            return str(value) if type_ == Int(32, True) else f"{value}:{show_type(type_)}"
        case FloatConst(value=value, type=type_):
            return f"{value!r}:{type_.name}"
        case BoolConst(value=value):
            return "true" if value else "false"
        case Read(name=name) | Builtin(name=name):
            return name
        case Unary(op=op, operand=operand):
            return f"{_UNARY[op]}{show_expr(operand)}"
        case Binary(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return f"({show_expr(left)} {_BINARY[op]} {show_expr(right)})"
        case Not(operand=operand):
            return f"!{show_expr(operand)}"
        case And(left=left, right=right):
            return f"({show_expr(left)} && {show_expr(right)})"
        case Or(left=left, right=right):
            return f"({show_expr(left)} || {show_expr(right)})"
        case Select(cond=cond, then=then, other=other):
            return f"({show_expr(cond)} ? {show_expr(then)} : {show_expr(other)})"
        case Convert(type=type_, operand=operand):
            return f"{show_type(type_)}({show_expr(operand)})"
        case Call(name=name, args=args):
            return f"{name}({_list(args)})"
        case AddressOf(place=place):
            return f"&{show_place(place)}"
        case PtrAdd(pointer=pointer, index=index):
            return f"({show_expr(pointer)} +> {show_expr(index)})"
        case PtrDiff(left=left, right=right):
            return f"({show_expr(left)} -< {show_expr(right)})"
        case Undef(type=type_, why=why):
            return f"undef:{show_type(type_)}" + (f" <{why}>" if why else "")
    assert_never(expr)


def show_place(place: Place) -> str:
    match place:
        case Deref(pointer=PtrAdd(pointer=pointer, index=index)):
            return f"{show_expr(pointer)}[{show_expr(index)}]"
        case Deref(pointer=pointer):
            return f"*{show_expr(pointer)}"
        case Object(name=name):
            return name
        case Elem(array=array, index=index):
            return f"{show_place(array)}[{show_expr(index)}]"
        case Member(struct=struct, field=field):
            return f"{show_place(struct)}.{field.name}"
    assert_never(place)


def _lines(body: tuple[Stmt, ...], indent: str) -> Iterator[str]:
    for stmt in body:
        yield from _stmt(stmt, indent)


def _block(title: str, body: tuple[Stmt, ...], indent: str) -> Iterator[str]:
    yield indent + title
    yield from _lines(body, indent + "  ")


def _stmt(stmt: Stmt, indent: str) -> Iterator[str]:
    match stmt:
        case If(cond=cond, then=then, other=other):
            yield from _block(f"if ({show_expr(cond)})", then, indent)
            if other:
                yield from _block("else", other, indent)
        case Loop(label=label, head=head, cond=cond, body=body, step=step):
            yield f"{indent}loop {label}"
            if head:
                yield from _block("head", head, indent + "  ")
            yield f"{indent}  while {show_expr(cond)}"
            yield from _lines(body, indent + "    ")
            if step:
                yield from _block("step", step, indent + "  ")
        case Scope(label=label, body=body):
            yield from _block(f"scope {label}", body, indent)
        case _:
            yield indent + _simple(stmt)


def _by(agent: str) -> str:
    return "" if agent == "thread" else f" by {agent}"


def _flags(**flags: bool) -> str:
    return "".join(f" {name}" for name, on in flags.items() if on)


def _simple(
    stmt: Assign | Load | Store | Atomic | Leave | Barrier | BarrierReduce | WarpOp | Fence | CopyGroup | Declare | Assert | Trap
    | Unsupported,
) -> str:  # fmt: skip
    match stmt:
        case Assign(var=var, value=value):
            return f"{var} = {show_expr(value)}"
        case Load(var=var, place=place, parts=parts, volatile=volatile, readonly=readonly, agent=agent):
            target = "{" + ", ".join(f"{name}:.{field.name}" for name, field in parts) + "}" if parts else var
            return f"{target} = load{_flags(volatile=volatile, readonly=readonly)}{_by(agent)} {show_place(place)}"
        case Store(place=place, value=value, parts=parts, volatile=volatile, agent=agent):
            flags = _flags(volatile=volatile) + _by(agent)
            if value is not None:
                return f"store{flags} {show_place(place)} = {show_expr(value)}"
            inner = ", ".join(f".{field.name}={show_expr(part)}" for field, part in parts)
            return f"store{flags} {show_place(place)} = {{{inner}}}"
        case Atomic(op=op, var=var, place=place, args=args, scope=scope):
            return f"{var} = atomic {op}.{scope} {show_place(place)} ({_list(args)})"
        case Leave(label=label):
            return f"leave {label}"
        case Barrier(kind=kind, site=site, mask=mask):
            return f"barrier {kind} @{site}" + (f" mask {show_expr(mask)}" if mask is not None else "")
        case BarrierReduce(op=op, var=var, pred=pred, site=site):
            return f"{var} = barrier {op} @{site} ({show_expr(pred)})"
        case WarpOp(op=op, var=var, mask=mask, args=args, site=site):
            return f"{var} = warp {op} @{site} mask {show_expr(mask) if mask is not None else 'none'} ({_list(args)})"
        case CopyGroup(op=op, left=left):
            return f"copies {op}" + (f" but {left}" if left else "")
        case Fence(scope=scope):
            return f"fence {scope}"
        case Declare(name=name):
            return f"declare {name}"
        case Assert(cond=cond, text=text):
            return f"assert {show_expr(cond)} {text!r}"
        case Trap(kind=kind):
            return f"trap {kind}"
        case Unsupported(construct=construct, detail=detail, span=span):
            return f"unsupported {construct!r} {detail!r} at {span}"
    assert_never(stmt)


def show_body(body: tuple[Stmt, ...]) -> str:
    return "\n".join(_lines(body, ""))


def _object(decl: ObjectDecl) -> str:
    flags = _flags(dynamic=decl.dynamic)
    init = f" = {list(decl.init)}" if decl.init is not None else ""
    align = f" align {decl.align}" if decl.align else ""
    return f"  object {decl.space}{flags} {show_type(decl.type)} {decl.name}{align}{init}"


def show_kernel(kernel: Kernel) -> str:
    params = ", ".join(
        f"{show_type(p.type)}{' restrict' if p.restrict else ''} {p.name}" for p in kernel.params
    )
    lines = [f"kernel {kernel.label}({params})"]
    if kernel.launch_bounds:
        lines.append(f"  launch_bounds {', '.join(map(str, kernel.launch_bounds))}")
    lines += [_object(decl) for decl in kernel.objects]
    lines += _lines(kernel.body, "  ")
    return "\n".join(lines) + "\n"


def show_module(module: Module) -> str:
    parts = [show_kernel(kernel) for kernel in module.kernels]
    parts += [f"{d.severity} {d.span}: {d.message}\n" for d in module.diagnostics]
    parts += [f"template {name} at {span}\n" for name, span in module.templates]
    parts += [f"note {note}\n" for note in module.notes]
    return "\n".join(parts)
