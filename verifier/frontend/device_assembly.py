"""Inline assembly, instruction by instruction: register arithmetic, loads and stores, matrix and asynchronous copies.

Input -> output: an ``asm`` statement -> statements with the addresses, sizes and participation of its instructions;
Refused by name for any other instruction that touches memory, control or other threads.

Invariant: an instruction that only computes in registers is accepted by its name being in a closed list, and what it
writes is any value. The lanes of a warp must all take part in what has ``.sync.aligned``. A copy of the copy engine
(``cp.async``) is an access of agent ``async`` that belongs to the group ended next.

Example: ``ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];`` -> all lanes meet, 16 lanes read 16 bytes each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from specs.location import Span
from verifier.frontend.device_clang import Node
from verifier.frontend.device_expressions import negate
from verifier.frontend.device_groups import lane_index, special_register
from verifier.frontend.device_initialisers import Initialisers
from verifier.frontend.device_places import place_type
from verifier.frontend.device_ptx import Instruction, Ptx, parse
from verifier.frontend.device_types import SCALAR_TYPES, Refused
from verifier.frontend.device_values import LValue, Memory
from verifier.ir.nodes import (
    I64,
    U32,
    U64,
    Agent,
    Assign,
    Barrier,
    Bool,
    BoolConst,
    Call,
    Compare,
    Convert,
    CopyGroup,
    Deref,
    Expr,
    Field,
    Float,
    If,
    Int,
    IntConst,
    Load,
    Place,
    Pointer,
    PtrAdd,
    Read,
    Store,
    Struct,
    Type,
    Undef,
    size_of,
)

_REGISTER_ONLY = frozenset(
    "mov add sub mul mad mad24 mul24 fma neg abs min max div rem sqrt rsqrt rcp ex2 lg2 sin cos tanh cvt and or xor not "
    "shl shr shf prmt lop3 bfe bfi bfind brev clz popc selp set setp slct sad copysign testp cnot dp4a dp2a addc subc "
    "madc createpolicy cvta pack unpack".split()
)
_ASYNC = re.compile(r"cp\.async\.c[ag]\.shared(::cta)?\.global(\.L2::(cache_hint|\d+B))*")
_MATRIX = re.compile(
    r"(ld|st)matrix\.sync\.aligned\.(?:m8n8\.x([124])|x([124])\.m8n8|x([124])\.trans\.m8n8|m8n8\.x([124])\.trans)"
    r"\.shared(?:::cta)?\.b16"
)
_MEMORY = re.compile(
    r"(ld|st)(\.volatile)?\.(global|shared)(::cta)?(\.nc)?(\.(ca|cg|cs|lu|cv|wb|wt))?(\.L[12]::\w+)*(\.v[24])?\.([busf])(8|16|32|64)"
)
_ADDRESS = re.compile(r"\[\s*(%\w+|%\[\w+\])\s*(?:\+\s*(\d+|0x[0-9a-f]+))?\s*\]")
_FULL = IntConst(0xFFFFFFFF, U32)
_BYTE = Int(8, False)


@dataclass(slots=True)
class _Run:
    """What is known while the instructions of one statement are lowered."""

    ptx: Ptx
    values: list[Expr | None]
    """The value of each operand on entry; None for one that is only written."""
    places: list[LValue]
    span: Span
    predicates: dict[str, Expr] = field(default_factory=dict)
    addresses: dict[str, Expr] = field(default_factory=dict)
    """Shared addresses in registers of the text."""
    written: set[int] = field(default_factory=set)


class Assembly(Initialisers):
    """Lowering of ``asm`` statements."""

    def assembly(self, node: Node) -> None:
        ptx = parse(node)
        for line in ptx.instructions:
            if self._meaning(line) is None:
                raise Refused("inline assembly", line.text[:80], node.span)
        places = [self.lvalue(operand.node) for operand in ptx.outputs]
        kept = [self.freeze(place) for place in places]
        values: list[Expr | None] = []
        for place, operand in zip(kept, ptx.outputs, strict=True):
            if not isinstance(place_type(place), SCALAR_TYPES):
                raise Refused("inline assembly", "with an output that is no scalar", node.span)
            old = self.read(place, node.span) if operand.constraint.startswith("+") else None
            values.append(self.snapshot_expr(old) if old is not None else None)  # type: ignore[arg-type]
        values += [self._kept(self.scalar(operand.node)) for operand in ptx.inputs]
        run = _Run(ptx, values, kept, node.span)
        if self._function(run):
            return
        if any(line.guard for line in ptx.instructions):
            for number, operand in enumerate(ptx.outputs):
                if not operand.constraint.startswith("+"):
                    self._unknown(run, number, "")
            run.written.clear()
        for line in ptx.instructions:
            with self.nested() as effects:
                meaning = self._meaning(line)
                assert meaning is not None
                try:
                    meaning(run, line)
                except (ValueError, IndexError):  # another number of operands than the instruction has
                    raise Refused("inline assembly", line.text[:80], node.span) from None
            if line.guard:
                self.emit(If(self._guard(run, line), tuple(effects), (), run.span))
            else:
                self.out.extend(effects)
        for number, operand in enumerate(ptx.outputs):
            if number not in run.written and not operand.constraint.startswith("+"):
                self._unknown(run, number)

    def _kept(self, value: Expr) -> Expr:
        """The value as it is now; of a truth value as a number, the truth value is kept."""
        if isinstance(value, Convert) and isinstance(value.operand.type, Bool):
            return Convert(value.type, self.snapshot_expr(value.operand), value.span, value.implicit)
        return self.snapshot_expr(value)

    def _meaning(self, line: Instruction) -> Callable[[_Run, Instruction], None] | None:
        name = line.name
        if _ASYNC.fullmatch(name):
            return self._async_copy
        if name in ("cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all"):
            return self._copy_group
        if _MATRIX.fullmatch(name):
            return self._matrix
        if name.startswith("mma.sync.aligned."):
            return self._multiply
        if _MEMORY.fullmatch(name):
            return self._memory
        if name in ("bar.sync", "barrier.sync", "barrier.sync.aligned") and line.operands == ("0",):
            return self._barrier_zero
        if name.split(".")[0] in _REGISTER_ONLY and not any("[" in o for o in line.operands):
            return self._registers
        return None

    # --- operands ---

    def _guard(self, run: _Run, line: Instruction) -> Expr:
        condition = run.predicates.get(line.guard.lstrip("!"))
        if condition is None:
            raise Refused("inline assembly", f"{line.text[:60]}: a predicate that is not followed", run.span)
        return negate(condition) if line.guard.startswith("!") else condition

    def _value(self, run: _Run, text: str) -> Expr | None:
        """An input, or a number; None for anything else."""
        number = run.ptx.number(text)
        if number is not None:
            return run.values[number] if number not in run.written else None
        if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", text):
            return IntConst(int(text, 0), I64)
        return None

    def _constant(self, run: _Run, text: str) -> int | None:
        number = run.ptx.number(text)
        if number is not None:
            value = run.ptx.operands[number].node.evaluate()
            return value if isinstance(value, int) else None
        return int(text, 0) if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text) else None

    def _place(self, run: _Run, text: str, space: str, type_: Type) -> Place:
        """The memory of the type at ``[%1+16]``."""
        parts = _ADDRESS.fullmatch(text)
        base = None
        if parts is not None:
            base = run.addresses.get(parts[1].lstrip("%")) or self._value(run, parts[1])
        if parts is None or base is None:
            raise Refused("inline assembly", f"the address {text}", run.span)
        bytes_ = Pointer(_BYTE)
        if isinstance(base.type, Pointer) and space == "global":
            given: Expr = base
        elif isinstance(base.type, Int):
            given = self.convert(base, U64, run.span)
        else:
            raise Refused("inline assembly", f"the address {text}", run.span)
        pointer: Expr = Call(f"{space} pointer", (given,), bytes_, run.span)
        if parts[2]:
            pointer = PtrAdd(pointer, IntConst(int(parts[2], 0), I64), bytes_, run.span)
        return Deref(Convert(Pointer(type_), pointer, run.span, False), type_, run.span)

    def _assign(self, run: _Run, number: int, value: Expr) -> None:
        run.written.add(number)
        self.write(run.places[number], value, run.span)

    def _unknown(self, run: _Run, number: int, why: str = "inline assembly") -> None:
        type_ = place_type(run.places[number])
        assert isinstance(type_, SCALAR_TYPES)
        holder = self.temporary(type_)
        self.emit(Assign(holder.name, Undef(type_, why, run.span), run.span))
        self._assign(run, number, Read(holder.name, type_))

    def _load_bytes(self, place: Place, agent: Agent, span: Span, **flags: bool) -> list[Expr]:
        """One access; the scalars that it reads."""
        type_ = place.type
        fields = type_.fields if isinstance(type_, Struct) else (Field("", type_, 0),)
        names = [self.temporary(f.type).name for f in fields]
        if isinstance(type_, Struct):
            parts = tuple(zip(names, fields, strict=True))
            self.emit(Load("", place, span, parts, agent=agent, **flags))
        else:
            self.emit(Load(names[0], place, span, (), agent=agent, **flags))
        return [Read(name, f.type) for name, f in zip(names, fields, strict=True)]

    def _store_bytes(self, place: Place, values: list[Expr], agent: Agent, span: Span, **flags: bool) -> None:
        type_ = place.type
        if isinstance(type_, Struct):
            parts = tuple(zip(type_.fields, values, strict=True))
            self.emit(Store(place, None, span, parts, agent=agent, **flags))
        else:
            self.emit(Store(place, values[0], span, (), agent=agent, **flags))

    # --- instructions ---

    def _copy_group(self, run: _Run, line: Instruction) -> None:
        match line.name.rpartition(".")[2], line.operands:
            case "commit_group", ():
                self.emit(CopyGroup("commit", 0, run.span))
            case "wait_all", ():
                self.emit(CopyGroup("wait_all", 0, run.span))
            case "wait_group", (text,):
                left = self._constant(run, text)
                if left is None or left < 0:
                    raise Refused(
                        "inline assembly", f"{line.text[:60]}: a number that is no constant", run.span
                    )
                self.emit(CopyGroup("wait", left, run.span))
            case _:
                raise Refused("inline assembly", line.text[:80], run.span)

    def _barrier_zero(self, run: _Run, line: Instruction) -> None:
        self.emit(Barrier("block", self.site(run.span), None, run.span))

    def _async_copy(self, run: _Run, line: Instruction) -> None:
        operands = list(line.operands)
        if ".L2::cache_hint" in line.name:
            operands.pop()
        size = self._constant(run, operands[2]) if len(operands) in (3, 4) else None
        if size not in (4, 8, 16):
            raise Refused("inline assembly", line.text[:80], run.span)
        present = self._value(run, operands[3]) if len(operands) == 4 else None
        if len(operands) == 4 and (present is None or not isinstance(present.type, Int)):
            raise Refused("inline assembly", f"{line.text[:60]}: its source size", run.span)
        self.async_copy(
            self._place(run, operands[0], "shared", bytes_of(size)),
            self._place(run, operands[1], "global", bytes_of(size)),
            present,
            run.span,
        )

    def _matrix(self, run: _Run, line: Instruction) -> None:
        matched = _MATRIX.fullmatch(line.name)
        assert matched is not None
        count = int(next(filter(None, matched.groups()[1:])))
        loads = matched[1] == "ld"
        registers, address = line.operands if loads else line.operands[::-1]
        numbers = [run.ptx.number(r.strip()) for r in registers.strip("{} ").split(",")]
        if len(numbers) != count or None in numbers:
            raise Refused("inline assembly", line.text[:80], run.span)
        self.collective(f"{matched[1]}matrix", _FULL, (), U32, run.span)
        place = self._place(run, address, "shared", bytes_of(16))
        with self.nested() as access:
            if loads:
                self._load_bytes(place, "warp", run.span)
            else:
                self._store_bytes(place, [Undef(U32, "", run.span)] * 4, "warp", run.span)
        if count == 4:
            self.out.extend(access)
        else:
            here = Compare("lt", lane_index(), IntConst(8 * count, U32))
            self.emit(If(here, tuple(access), (), run.span))
        if loads:
            for number in numbers:
                assert number is not None
                self._unknown(run, number, "")

    def _multiply(self, run: _Run, line: Instruction) -> None:
        self.collective("mma", _FULL, (), U32, run.span)
        for text in line.operands[0].strip("{} ").split(","):
            number = run.ptx.number(text.strip())
            if number is not None and number < len(run.places):
                self._unknown(run, number, "")

    def _memory(self, run: _Run, line: Instruction) -> None:
        matched = _MEMORY.fullmatch(line.name)
        assert matched is not None
        loads, space, bits = matched[1] == "ld", matched[3], int(matched[11])
        data, address = line.operands if loads else line.operands[::-1]
        texts = [text.strip() for text in data.strip("{} ").split(",")]
        if len(texts) != int((matched[9] or ".v1")[2:]):
            raise Refused("inline assembly", line.text[:80], run.span)
        numbers = [run.ptx.number(text) for text in texts]
        cells = [self._memory_cell(run, number, bits, matched[10]) for number in numbers]
        type_ = cells[0] if len(cells) == 1 else _struct(cells)
        place = self._place(run, address, space, type_)
        volatile = bool(matched[2])
        if loads:
            values = self._load_bytes(place, "thread", run.span, volatile=volatile, readonly=bool(matched[5]))
            for number, value in zip(numbers, values, strict=True):
                if number is None:
                    continue
                target = place_type(run.places[number])
                assert target is not None
                if value.type != target and not (isinstance(value.type, Int) and isinstance(target, Int)):
                    raise Refused("inline assembly", f"{line.text[:60]}: its type", run.span)
                self._assign(run, number, self.convert(value, target, run.span, implicit=False))
        else:
            given = [run.values[n] if n is not None else None for n in numbers]
            self._store_bytes(
                place,
                [
                    v if v is not None and v.type == cell else Undef(cell, "", run.span)
                    for v, cell in zip(given, cells, strict=True)
                ],
                "thread",
                run.span,
                volatile=volatile,
            )

    def _memory_cell(self, run: _Run, number: int | None, bits: int, kind: str) -> Type:
        """The type at which an operand of so many bits is kept in memory."""
        if number is not None:
            known = run.values[number]
            type_ = place_type(run.places[number]) if number < len(run.places) else known and known.type
            if isinstance(type_, Int | Float) and size_of(type_) * 8 == bits:
                return type_
        return Int(bits, kind == "s")

    def _registers(self, run: _Run, line: Instruction) -> None:
        target = line.operands[0] if line.operands else ""
        name = target.lstrip("%")
        if line.name.startswith("setp.") and len(line.operands) == 3:
            self._predicate(run, line, name)
            return
        run.predicates.pop(name, None)
        run.addresses.pop(name, None)
        source = self._value(run, line.operands[1]) if len(line.operands) == 2 else None
        if line.name == "cvta.to.shared.u64" and source is not None and isinstance(source.type, Pointer):
            made: Expr | None = Call("__cvta_generic_to_shared", (source,), U64, run.span)
        elif (
            line.name in ("cvt.u32.u64", "mov.u64", "mov.u32", "mov.b32", "mov.b64")
            and len(line.operands) == 2
        ):
            made = run.addresses.get(line.operands[1].lstrip("%"))
        else:
            made = None
        if made is None and line.name == "mov.u32" and len(line.operands) == 2:
            made = special_register(line.operands[1].lstrip("%"))
        number = run.ptx.number(target)
        if number is None:
            if made is not None:
                run.addresses[name] = self.snapshot_expr(made)
            return
        if made is not None and isinstance(place_type(run.places[number]), Int):
            self._assign(run, number, self.convert(made, place_type(run.places[number]) or U32, run.span))
            return
        for text in dict.fromkeys([target, *re.findall(r"%\w+", target)]):
            other = run.ptx.number(text)
            if other is not None and other < len(run.places):
                self._unknown(run, other)

    def _predicate(self, run: _Run, line: Instruction, name: str) -> None:
        run.predicates.pop(name, None)
        operator = line.name.split(".")[1]
        left, right = self._value(run, line.operands[1]), self._value(run, line.operands[2])
        if operator in ("eq", "ne") and left is not None and right is not None and not line.guard:
            if isinstance(left.type, Int) and isinstance(right, IntConst) and right.value == 0:
                truth = self.truth(left)
                run.predicates[name] = self.snapshot_expr(truth if operator == "ne" else negate(truth))

    def _function(self, run: _Run) -> bool:
        """Register arithmetic of floats: a function of the inputs, one for each output."""
        ptx = run.ptx
        text = "; ".join(line.text for line in ptx.instructions)
        mentioned = set(re.findall(r"%(?:\w+|\[\w+\])", text))
        values = [value for value in run.values if value is not None]
        fine = (
            bool(ptx.outputs)
            and all(line.name.split(".")[0] in _REGISTER_ONLY and not line.guard for line in ptx.instructions)
            and all(ptx.number(word) is not None for word in mentioned)
            and not any(isinstance(value.type, Pointer) for value in values)
            and all(isinstance(place_type(place), Float) for place in run.places)
        )
        if not fine:
            return False
        for number, place in enumerate(run.places):
            type_ = place_type(place)
            assert type_ is not None
            self._assign(run, number, Call(f"asm {number}: {text}", tuple(values), type_, run.span))
        return True

    # --- shared with the functions that do the same ---

    def async_copy_call(self, node: Node, arguments: Sequence[Node]) -> None:
        """``__pipeline_memcpy_async(to, from, bytes, zeros)``."""
        to, source = self.scalars(arguments[:2])
        size, zeros = (argument.evaluate() for argument in arguments[2:4])
        if size not in (4, 8, 16) or not isinstance(zeros, int) or not isinstance(size, int):
            raise Refused("asynchronous copy", "of a size that is no constant", node.span)
        type_ = bytes_of(size)
        places = [Deref(Convert(Pointer(type_), p, node.span, False), type_, node.span) for p in (to, source)]
        present = IntConst(size - zeros, U32) if zeros else None
        self.async_copy(places[0], places[1], present, node.span)

    def async_copy(self, target: Place, source: Place, present: Expr | None, span: Span) -> None:
        """``present``: how many bytes of the source are read (the rest is zero); None for all of them."""
        if present is None:
            self._store_bytes(target, self._load_bytes(source, "async", span), "async", span)
            return
        count = self.snapshot_expr(present)
        with self.nested() as access:
            values = self._load_bytes(source, "async", span)
        for value in values:
            assert isinstance(value, Read)
            self.emit(Assign(value.name, Undef(value.type, "", span), span))
        assert isinstance(count.type, Int)
        some = count.value != 0 if isinstance(count, IntConst) else None
        condition = Compare("ne", count, IntConst(0, count.type)) if some is None else BoolConst(some)
        self.emit(If(condition, tuple(access), (), span))
        self._store_bytes(target, values, "async", span)


def bytes_of(size: int) -> Type:
    """A type of so many bytes that is accessed at once."""
    return U32 if size == 4 else _struct([U32] * (size // 4))


def _struct(cells: list[Type]) -> Struct:
    size = size_of(cells[0])
    fields = tuple(Field("xyzw"[n], cell, n * size) for n, cell in enumerate(cells))
    return Struct(f"bytes{size * len(cells)}", fields, size * len(cells), size * len(cells))


__all__ = ["Assembly", "Memory", "bytes_of"]
