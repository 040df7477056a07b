"""Cooperative groups: blocks, grids, tiles of a warp, and the lanes that happen to run together.

Input -> output: a method or function of ``cooperative_groups`` -> barriers, collectives and arithmetic on indices.

Invariant: a group whose lanes are not known here is refused by name. A tile is the lanes of its size that the thread is
in; a coalesced group is a mask that nobody knows, held by the group itself.

A ``thread_group`` is the group that it was made of, which the value's own class says.

Example: ``tile.any(p)`` of a tile of 8 -> WarpOp("any", mask=0xff << first lane of the tile).
"""

from __future__ import annotations

from collections.abc import Sequence

from specs.location import Span
from verifier.frontend.device_builder import flatten
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_expressions import Expressions
from verifier.frontend.device_groups import (
    block_rank,
    lane_index,
    thread_count,
    thread_rank,
    tile_mask,
    tile_size,
    wide_product,
    wide_sum,
)
from verifier.frontend.device_types import Refused, is_lambda
from verifier.frontend.device_values import Aggregate, Value
from verifier.intrinsics import TABLE
from verifier.ir.nodes import (
    BOOL,
    I32,
    U32,
    U64,
    Assign,
    Barrier,
    Binary,
    Bool,
    Builtin,
    Call,
    Expr,
    Int,
    IntConst,
    Read,
    Struct,
    Type,
    Undef,
    WarpOp,
)

_REDUCTIONS = {"plus": "reduce_add", "less": "reduce_min", "greater": "reduce_max", "bit_and": "reduce_and",
               "bit_or": "reduce_or", "bit_xor": "reduce_xor"}  # fmt: skip
_VALUES = ("pure-float", "pure-int", "convert", "binary", "compare", "constant", "vector")
GROUP_FUNCTIONS = frozenset(
    "this_thread_block this_grid tiled_partition coalesced_threads labeled_partition binary_partition sync reduce "
    "inclusive_scan exclusive_scan".split()
)
REFUSED_GROUP_FUNCTIONS = frozenset("memcpy_async wait wait_prior".split())


_PREFIX = "cooperative_groups::"
_PART = "thread_block_tile<{}, part>"
"""A tile of ``tiled_partition(block, n)``: the last one of a block may be smaller."""


def is_any_group(type_: CType) -> bool:
    """The class that any group converts to."""
    return type_.kind == "RECORD" and type_.spelling.removeprefix("const ") == f"{_PREFIX}thread_group"


class GroupCalls(Expressions):
    """Lowering of cooperative groups."""

    def object_node(self, node: Node) -> Node:
        first = node.operands[0]
        return first.operands[0] if first.kind == "MEMBER_REF_EXPR" and first.operands else first

    def collective(
        self, op: str, mask: Expr | None, values: Sequence[Value], type_: Type, span: Span
    ) -> Value:
        if isinstance(type_, Struct):
            first, *others = values
            if not isinstance(first, Aggregate):
                raise Refused("shuffle", "of a class", span)
            return Aggregate(
                type_,
                {
                    f.name: self.collective(op, mask, (first.fields[f.name], *others), f.type, span)
                    for f in type_.fields
                },
            )
        result = self.temporary(type_)
        self.emit(WarpOp(op, result.name, mask, tuple(flatten(values)), type_, self.site(span), span))
        return Read(result.name, type_)

    # --- methods ---

    def group_method(self, node: Node, owner: str, name: str) -> Value | None:
        span = node.span
        match owner, name:
            case "thread_block", "sync":
                self.emit(Barrier("block", self.site(span), None, span))
                return None
            case "grid_group", "sync":
                self.emit(Barrier("grid", self.site(span), None, span))
                return None
            case "thread_block", "thread_rank":
                return thread_rank()
            case "thread_block", "size" | "num_threads":
                return thread_count()
            case "thread_block", "group_index" | "thread_index" | "group_dim" | "dim_threads":
                builtin = {"group_index": "blockIdx", "thread_index": "threadIdx"}.get(name, "blockDim")
                return self._index(node, builtin)
            case "grid_group", "group_dim" | "dim_blocks":
                return self._index(node, "gridDim")
            case "grid_group", "block_index":
                return self._index(node, "blockIdx")
            case "grid_group", "block_rank":
                return block_rank()
            case "grid_group", "thread_rank":
                whole = wide_product(block_rank(), self.convert(thread_count(), U64, span))
                return wide_sum(whole, self.convert(thread_rank(), U64, span))
            case "grid_group", "num_blocks" | "size" | "num_threads":
                blocks = wide_product(*(self.convert(Builtin(f"gridDim.{a}"), U64, span) for a in "xyz"))
                return (
                    blocks
                    if name == "num_blocks"
                    else wide_product(blocks, self.convert(thread_count(), U64, span))
                )
            case "grid_group", "is_valid":
                holder = self.temporary(BOOL)
                self.emit(Assign(holder.name, Undef(BOOL, "grid_group::is_valid", span), span))
                return Read(holder.name, BOOL)
            case "thread_block_tile", _:
                return self._tile_method(node, name, tile_size(self.object_node(node).type.spelling))
            case "coalesced_group", _:
                return self._lanes_method(node, name, self.rvalue(self.object_node(node)))
            case "thread_group", _:
                return self._any_method(node, name)
        raise Refused("cooperative group", f"{owner}::{name}", span)

    def _labeled(self, node: Node, group: str) -> Value:
        """The lanes of the group that bring the same label."""
        span = node.span
        parent, label = self.ordered(node.arguments)
        if "thread_block_tile" in group and tile_size(group):
            mask: Expr = tile_mask(tile_size(group))
        elif group.endswith("coalesced_group"):
            (mask,) = flatten([parent])
        else:
            raise Refused("cooperative group", f"partition of {group}", span)
        (value,) = flatten([label])
        if not isinstance(value.type, Int | Bool):
            raise Refused(
                "cooperative group", f"partition by a label of {node.arguments[1].type.spelling}", span
            )
        wide = U64 if isinstance(value.type, Int) and value.type.bits > 32 else U32
        same = self.collective("match_any", mask, (self.convert(value, wide, span),), U32, span)
        type_ = self.types.of(node.type)
        assert isinstance(type_, Struct)
        return Aggregate(type_, {type_.fields[0].name: same})

    def _any_method(self, node: Node, name: str) -> Value | None:
        """A ``thread_group``: ranks and sizes are 64 bits wide."""
        span = node.span
        group = self.rvalue(self.object_node(node))
        kind = _class_of(group)
        if name == "sync":
            self._sync(node, kind, group)
            return None
        if name in ("size", "num_threads", "thread_rank"):
            if kind == "thread_block":
                value: Value | None = thread_rank() if name == "thread_rank" else thread_count()
            elif kind.startswith("thread_block_tile") and name != "thread_rank" and kind.endswith("part>"):
                value = self._part_size(tile_size(kind), span)
            elif kind.startswith("thread_block_tile"):
                value = self._tile_method(node, name, tile_size(kind))
            elif kind == "coalesced_group":
                value = self._lanes_method(node, name, group)
            else:
                raise Refused("cooperative group", f"{name} of {kind}", span)
            assert value is not None
            (number,) = flatten([value])
            return self.convert(number, U64, span)
        raise Refused("cooperative group", f"{kind}::{name}", span)

    def _part_size(self, size: int, span: Span) -> Expr:
        """How many threads of the block the thread's tile has."""
        rank, width = thread_rank(), IntConst(size, U32)
        first = Binary("sub", rank, Binary("rem", rank, width, U32, span), U32, span)
        return Call("min", (Binary("sub", thread_count(), first, U32, span), width), U32, span)

    def _partition(self, node: Node) -> Value:
        """``tiled_partition(group, n)`` of a block or of a larger tile."""
        kind = _class_of(self.rvalue(node.arguments[0]))
        size, known = node.arguments[1].evaluate(), tile_size(kind)
        if size not in (1, 2, 4, 8, 16, 32) or not (kind == "thread_block" or known >= size):
            raise Refused("cooperative group", f"tiled_partition of {kind}", node.span)
        return Aggregate(Struct(_PREFIX + _PART.format(size), (), 1, 1), {})

    def _index(self, node: Node, builtin: str) -> Value:
        type_ = self.types.of(node.type)
        assert isinstance(type_, Struct)
        return Aggregate(type_, {axis: Builtin(f"{builtin}.{axis}") for axis in "xyz"})

    def _tile_method(self, node: Node, name: str, size: int) -> Value | None:
        span = node.span
        if size not in (1, 2, 4, 8, 16, 32):
            raise Refused("cooperative group", f"tile of {size} threads", span)
        width = IntConst(size, U32)
        mask = tile_mask(size)
        type_ = self.types.of(node.type)
        match name:
            case "sync":
                self.emit(Barrier("warp", self.site(span), mask, span))
                return None
            case "thread_rank":
                return Binary("rem", thread_rank(), width, U32, span)
            case "size" | "num_threads":
                return width
            case "meta_group_rank":
                return Binary("div", thread_rank(), width, U32, span)
            case "meta_group_size":
                padded = Binary("add", thread_count(), IntConst(size - 1, U32), U32, span)
                return Binary("div", padded, width, U32, span)
            case "shfl" | "shfl_up" | "shfl_down" | "shfl_xor":
                value, lane = self.ordered(node.arguments)
                (number,) = flatten([lane])
                number = self.convert(number, I32 if name in ("shfl", "shfl_xor") else U32, span)
                return self.collective(name, mask, (value, number, IntConst(size, I32)), type_, span)
            case "any" | "all":
                return self.collective(name, mask, (self.condition(node.arguments[0]),), type_, span)
            case "ballot":
                votes = self.collective(name, mask, (self.condition(node.arguments[0]),), U32, span)
                (bits,) = flatten([votes])
                if size == 32:
                    return bits
                lane = lane_index()
                first = Binary("sub", lane, Binary("rem", lane, width, U32, span), U32, span)
                own = Binary("and", bits, mask, U32, span)
                return Binary("shr", own, first, U32, span)
            case "match_any":
                return self.collective("group_match", mask, self.ordered(node.arguments[:1]), type_, span)
        raise Refused("cooperative group", f"thread_block_tile<{size}>::{name}", span)

    def _lanes_method(self, node: Node, name: str, group: Value) -> Value | None:
        """A coalesced group: ranks are counted in its mask; what comes from other lanes is any value."""
        span = node.span
        assert isinstance(group, Aggregate)
        (mask,) = flatten([group])
        type_ = self.types.of(node.type)
        match name:
            case "sync":
                self.emit(Barrier("warp", self.site(span), mask, span))
                return None
            case "size" | "num_threads":
                return self.convert(Call("__popc", (mask,), I32, span), U32, span)
            case "thread_rank":
                below = Binary(
                    "sub", Binary("shl", IntConst(1, U32), lane_index(), U32, span), IntConst(1, U32), U32
                )
                return self.convert(
                    Call("__popc", (Binary("and", mask, below, U32, span),), I32, span), U32, span
                )
            case "shfl" | "shfl_up" | "shfl_down" | "ballot" | "any" | "all" | "match_any":
                return self.collective(f"group_{name}", mask, self.ordered(node.arguments), type_, span)
        raise Refused("cooperative group", f"coalesced_group::{name}", span)

    # --- functions ---

    def group_function(self, node: Node, name: str) -> Value | None:
        span = node.span
        group = node.arguments[0].type.spelling.removeprefix("const ") if node.arguments else ""
        match name:
            case "this_thread_block" | "this_grid":
                return self._empty(node)
            case "tiled_partition" if len(node.arguments) == 1 and "coalesced" not in group:
                return self._empty(node)
            case "tiled_partition" if len(node.arguments) == 2:
                return self._partition(node)
            case "coalesced_threads":
                type_ = self.types.of(node.type)
                assert isinstance(type_, Struct)
                mask = self.collective("activemask", None, (), U32, span)
                return Aggregate(type_, {type_.fields[0].name: mask})
            case "labeled_partition" | "binary_partition":
                return self._labeled(node, group)
            case "sync" if is_any_group(node.arguments[0].type):
                value = self.rvalue(node.arguments[0])
                self._sync(node, _class_of(value), value)
                return None
            case "sync":
                self._sync(node, group)
                return None
            case "reduce" | "inclusive_scan" | "exclusive_scan":
                return self._reduce(node, name, group)
        raise Refused("cooperative group", f"{name} of {group or 'nothing'}", span)

    def _empty(self, node: Node) -> Value:
        type_ = self.types.of(node.type)
        assert isinstance(type_, Struct)
        return Aggregate(type_, {})

    def _sync(self, node: Node, group: str, value: Value | None = None) -> None:
        site, span = self.site(node.span), node.span
        if "thread_block_tile" in group:
            self.emit(Barrier("warp", site, tile_mask(tile_size(group)), span))
        elif group.endswith("thread_block"):
            self.emit(Barrier("block", site, None, span))
        elif group.endswith("grid_group"):
            self.emit(Barrier("grid", site, None, span))
        elif group.endswith("coalesced_group"):
            (mask,) = flatten([self.rvalue(node.arguments[0]) if value is None else value])
            self.emit(Barrier("warp", site, mask, span))
        else:
            raise Refused("cooperative group", f"sync of {group}", span)

    def _reduce(self, node: Node, name: str, group: str) -> Value:
        """Any value; what combines the values must be a function of them."""
        span = node.span
        functor = node.arguments[2] if len(node.arguments) > 2 else None
        known = (
            functor.type.spelling.removeprefix("const ").partition("<")[0].rpartition("::")[2]
            if functor
            else "plus"
        )
        function = _function_of(functor) if functor is not None else None
        ours = function is None and (functor is None or functor.type.declaration.start < 0)
        if function is not None and function.kind == "LAMBDA_EXPR":
            combines = _computes(function, function.extent, 8)
        elif function is not None:
            combines = _harmless(function, 8)
        else:
            combines = known in _REDUCTIONS if ours else functor is not None and _combines(functor)
        if not combines:
            raise Refused("cooperative group", f"{name} over {group} with {known}", span)
        if "thread_block_tile" in group and tile_size(group) in (1, 2, 4, 8, 16, 32):
            mask: Expr = tile_mask(tile_size(group))
            exact = ours and name == "reduce"
        elif group.endswith("coalesced_group"):
            (mask,) = flatten([self.rvalue(node.arguments[0])])
            exact = False
        else:
            raise Refused("cooperative group", f"{name} over {group}", span)
        if ours and node.type.kind == "RECORD" and node.type.declaration.start >= 0:
            raise Refused("cooperative group", f"{name} of {node.type.spelling} with {known}", span)
        type_ = self.types.of(node.type)
        value = self.rvalue(node.arguments[1])
        op = _REDUCTIONS[known] if exact else f"group_{name}"
        return self.collective(op, mask, (value,), type_, span)


def _class_of(group: Value) -> str:
    """The class of a group, without its namespace."""
    return group.type.name.removeprefix(_PREFIX) if isinstance(group, Aggregate) else "group"


def _function_of(functor: Node) -> Node | None:
    """The function of the text that is passed by its name or address, or the lambda."""
    while functor.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR", "UNARY_OPERATOR") and functor.operands:
        functor = functor.operands[-1]
    if functor.kind == "LAMBDA_EXPR":
        return functor
    target = functor.referenced if functor.kind == "DECL_REF_EXPR" else None
    if target is None or target.start < 0:
        return None
    if target.kind == "VAR_DECL" and is_lambda(target.type):
        return _function_of(target.initializer) if target.initializer is not None else None
    return target if target.kind == "FUNCTION_DECL" else None


def _combines(functor: Node) -> bool:
    """Whether a class without members has one call operator, which only computes."""
    record = functor.type
    calls = [m for m in record.members if m.kind == "CXX_METHOD" and m.spelling == "operator()"]
    bodies = [call.body for call in calls]
    return (
        not record.fields
        and len(bodies) == 1
        and bodies[0] is not None
        and _computes(bodies[0], calls[0].extent, 8)
    )


def _computes(node: Node, extent: tuple[int, int], depth: int) -> bool:
    """Without memory, control of other threads, or names from outside but functions that compute as well."""
    for child in node.children:
        if child.kind in ("ARRAY_SUBSCRIPT_EXPR", "ASM_STMT", "CXX_NEW_EXPR", "LAMBDA_EXPR", "CXX_THIS_EXPR"):
            return False
        if child.kind == "UNARY_OPERATOR" and child.unary_operator in ("deref", "addrof"):
            return False
        if child.kind == "DECL_REF_EXPR" and child.referenced.kind in ("VAR_DECL", "PARM_DECL"):
            if not extent[0] <= child.referenced.start < extent[1]:
                return False
        if child.kind == "CALL_EXPR" and not _harmless(child.referenced, depth):
            return False
        if not _computes(child, extent, depth):
            return False
    return True


def _harmless(callee: Node, depth: int) -> bool:
    """A call of it only computes."""
    if callee.start < 0:
        entry = TABLE.get(callee.spelling)
        return callee.kind != "FUNCTION_DECL" or entry is None or entry.kind in _VALUES
    target = callee.definition if callee.definition.exists else callee
    if callee.kind == "CONSTRUCTOR" and target.body is None:
        return True
    return depth > 0 and target.body is not None and _computes(target, target.extent, depth - 1)
